"""Model files: URDF, SDF, MJCF, meshes; reading, checking, converting, writing."""
