"""Poses of everything that moves, over TCP."""
