"""Equations of serial chains."""
