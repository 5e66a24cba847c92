"""The ground: height grids, generators, images, matrices."""
