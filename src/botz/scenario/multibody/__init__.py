"""What a scenario of engine `multibody` holds."""
