"""Benchmark of the lab."""
