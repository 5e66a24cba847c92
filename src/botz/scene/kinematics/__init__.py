"""How wheeled robots look."""
