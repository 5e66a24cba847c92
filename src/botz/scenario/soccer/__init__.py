"""What a scenario of engine `soccer` holds."""
