"""Players of robot soccer."""
