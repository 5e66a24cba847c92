"""Engine `vehicle`: rigid vehicles on sprung wheels, on any ground."""
