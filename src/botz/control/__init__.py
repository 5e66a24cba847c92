"""Controllers: the built-in ones, and how a user's own are found."""
