"""Serial arms in pictures and in the lab."""
