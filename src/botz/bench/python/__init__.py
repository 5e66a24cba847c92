"""What a script pays for calling from Python."""
