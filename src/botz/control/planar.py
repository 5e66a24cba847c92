"""Poses in the plane as tuples (x, y, heading): the little algebra that the controllers share."""

from __future__ import annotations

from math import cos, pi, sin

Pose = tuple[float, float, float]


def wrap(angle: float) -> float:
    """The same direction in [−π, π)."""
    return (angle + pi) % (2.0 * pi) - pi


def compose(p_WA: Pose, p_AB: Pose) -> Pose:
    """Pose of B in W from the pose of A in W and of B in A."""
    x, y, heading = p_WA
    c, s = cos(heading), sin(heading)
    return x + c * p_AB[0] - s * p_AB[1], y + s * p_AB[0] + c * p_AB[1], heading + p_AB[2]


def relative(p_WA: Pose, p_WB: Pose) -> Pose:
    """Pose of B in A, its heading in [−π, π)."""
    dx, dy = p_WB[0] - p_WA[0], p_WB[1] - p_WA[1]
    c, s = cos(p_WA[2]), sin(p_WA[2])
    return c * dx + s * dy, -s * dx + c * dy, wrap(p_WB[2] - p_WA[2])


def rotate(x: float, y: float, angle: float) -> tuple[float, float]:
    c, s = cos(angle), sin(angle)
    return c * x - s * y, s * x + c * y


def reversed_pose(pose: Pose) -> Pose:
    """The same place, looking backwards: driving backwards is driving forwards from there."""
    return pose[0], pose[1], wrap(pose[2] + pi)


def on_arc(start: Pose, curvature: float, length: float) -> Pose:
    """Where a path of constant curvature [1/m] has led after `length` [m]."""
    half = 0.5 * curvature * length
    # Chord of the arc; the series keeps full accuracy where the arc is nearly straight.
    chord = length * (sin(half) / half if abs(half) > 1e-4 else 1.0 - half * half / 6.0)
    x, y, heading = start
    return x + chord * cos(heading + half), y + chord * sin(heading + half), heading + 2.0 * half
