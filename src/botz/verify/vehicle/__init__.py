"""Verification of rough-terrain vehicles."""
