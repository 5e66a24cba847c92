"""URDF files."""
