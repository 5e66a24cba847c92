"""Benchmark of serial arms."""
