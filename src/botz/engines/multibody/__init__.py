"""Engine `multibody`: rigid bodies and joints by MuJoCo, with force elements of our own."""
