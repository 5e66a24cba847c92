"""Benchmarks: what `botz bench` measures, next to peers in the same run."""
