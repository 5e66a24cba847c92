"""A robot family in one folder: carts that slide along x, each with a pendulum. Nothing else names it."""
