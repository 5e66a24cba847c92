"""Equations of robot soccer: drive, impacts, images."""
