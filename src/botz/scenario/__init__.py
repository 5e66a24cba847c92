"""Scenario files: what a user writes, checked and frozen. Imports nothing of the other rooms."""
