"""Verification of robot soccer."""
