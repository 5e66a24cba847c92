"""Engine `soccer`: differential-drive robots and a ball in a field."""
