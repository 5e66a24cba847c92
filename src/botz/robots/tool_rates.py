"""Cartesian rates: joint speeds that move an arm's tool at a given velocity, bounded where the arm is singular."""

from __future__ import annotations

import numpy as np

from botz.robots.serial_arm import SerialArm

SINGULAR = 0.04
"""Share of the arm's reach below which a singular value counts as near a singularity: no direction asks for joint
speeds of more than 1/0.04 times the tool's, in units of the reach."""


def joint_speeds(arm: SerialArm, q: np.ndarray, twist: np.ndarray, fastest: np.ndarray) -> tuple[np.ndarray, float]:
    """Joint speeds for a velocity of the tool and its angular velocity (world axes), slowed down as a whole to
    `fastest`; and how many times as fast they would have been.

    By the damped inverse of the Jacobian, turns weighed by the arm's reach: 1/σ, and σ/ε² below ε. Only directions that
    are nearly lost become slower.
    """
    weights = np.array([1.0, 1.0, 1.0, arm.reach, arm.reach, arm.reach])
    left, sizes, right = np.linalg.svd(weights[:, None] * arm.jacobian(q), full_matrices=False)
    floor = SINGULAR * arm.reach
    speeds = right.T @ (sizes / np.maximum(sizes, floor) ** 2 * (left.T @ (weights * twist)))
    excess = float(np.max(np.abs(speeds) / fastest))
    return np.asarray(speeds / max(1.0, excess)), excess
