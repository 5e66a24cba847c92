"""Models to compute with, without simulating: serial arms and wheeled robots."""
