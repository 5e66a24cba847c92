"""What the world looks like: height grids of terrains."""
