"""What a scenario of engine `vehicle` holds."""
