"""Equations of air: propellers, wings, wind."""
