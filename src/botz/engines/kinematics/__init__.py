"""Engine `kinematics`: wheeled robots that roll without slipping."""
