"""Teleoperation of an arm: master, slave and the line between them."""
