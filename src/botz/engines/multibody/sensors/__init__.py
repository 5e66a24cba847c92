"""Sensors of multibody robots that are built in: what reads each kind."""
