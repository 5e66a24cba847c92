"""The soccer leagues' messages and Botz's own voltages, over UDP."""
