"""Equations only: compiled functions of numbers and arrays that allocate nothing and keep no state."""
