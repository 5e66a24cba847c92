"""Benchmark of multibody robots."""
