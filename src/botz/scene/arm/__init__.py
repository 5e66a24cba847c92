"""How serial arms look."""
