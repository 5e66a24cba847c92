"""Verification of serial arms."""
