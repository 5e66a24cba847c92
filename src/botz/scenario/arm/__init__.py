"""What a scenario of engine `arm` holds."""
