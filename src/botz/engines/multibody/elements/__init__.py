"""Force elements: compiled functions that act on bodies and joints in every stage of a step."""
