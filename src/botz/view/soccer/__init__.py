"""Robot soccer in pictures and in the lab."""
