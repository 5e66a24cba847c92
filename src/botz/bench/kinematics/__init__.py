"""Benchmark of wheeled kinematics."""
