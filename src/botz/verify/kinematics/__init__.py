"""Verification of wheeled kinematics."""
