"""How robot soccer looks."""
