"""Benchmark of robot soccer."""
