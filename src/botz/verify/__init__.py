"""Checks of the physics that a user can run: closed forms, symmetries, independent computations."""
