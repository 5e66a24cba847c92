"""How vehicles look."""
