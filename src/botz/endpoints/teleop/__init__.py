"""Teleoperation of an arm over UDP."""
