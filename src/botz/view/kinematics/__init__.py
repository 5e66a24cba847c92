"""Wheeled robots in the lab."""
