"""Meshes: files, repair, bodies, mass properties."""
