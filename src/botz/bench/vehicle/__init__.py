"""Benchmark of rough-terrain vehicles."""
