"""What another package can add to Botz: one file for each kind of addition, named in pyproject.toml."""
