"""Multibody robots in pictures and in the lab."""
