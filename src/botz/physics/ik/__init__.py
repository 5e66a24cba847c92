"""Inverse kinematics of serial arms."""
