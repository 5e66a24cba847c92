"""Verification of multibody robots."""
