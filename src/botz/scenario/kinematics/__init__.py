"""What a scenario of engine `kinematics` holds."""
