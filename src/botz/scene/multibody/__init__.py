"""How multibody robots look."""
