"""Controllers of aircraft."""
