"""Channels of a planar robot and rows to record."""

from __future__ import annotations

import numpy as np

from botz.channels import Channel

PLANAR = [
    Channel("vivi/pose", "m, m, rad", "Pose in the world", ("x", "y", "heading")),
    Channel("vivi/twist", "m/s, m/s, rad/s", "Velocity, own axes", ("vx", "vy", "yaw_rate")),
    Channel("vivi/left/speed", "rad/s", "Speed of the left wheel"),
    Channel("vivi/left/ticks", "1", "Encoder"),
]


def circle(count: int, radius: float = 1.0) -> np.ndarray:
    """Rows of PLANAR: one turn on a circle."""
    angle = np.linspace(0.0, 2 * np.pi, count)
    speed = np.full(count, 0.5)
    columns = [
        radius * np.sin(angle),
        radius * (1 - np.cos(angle)),
        angle,
        speed,
        0 * angle,
        speed / radius,
        angle,
        angle,
    ]
    return np.column_stack(columns)
