"""Where a tool goes: lines and arcs in space, with one turn meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, pi

import numpy as np

from botz.errors import InputError, Problem
from botz.transforms import rotation_about


@dataclass(frozen=True)
class Course:
    """Where the tool goes, by the share s of its way: a straight line, and one turn about a fixed axis."""

    start: np.ndarray
    """The tool's pose (4, 4)."""
    end: np.ndarray
    axis: np.ndarray
    """About which it turns, in the world."""
    angle: float
    """By which it turns [rad]."""
    length: float
    """Of its way [m]."""

    def points(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places and their first and second derivatives by s: (N, 3) each."""
        way = self.end[:3, 3] - self.start[:3, 3]
        still = np.zeros((len(s), 3))
        return self.start[:3, 3] + s[:, None] * way, still + way, still

    def poses(self, s: np.ndarray) -> np.ndarray:
        found = np.zeros((len(s), 4, 4))
        found[:, :3, :3] = rotation_about(self.axis, self.angle * s) @ self.start[:3, :3]
        found[:, :3, 3] = self.points(s)[0]
        found[:, 3, 3] = 1.0
        return found

    def rates(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocity and angular velocity by s, and their derivatives: (N, 6) each."""
        _, first, second = self.points(s)
        turn = np.broadcast_to(self.angle * self.axis, first.shape)
        return np.hstack([first, turn]), np.hstack([second, np.zeros_like(second)])


@dataclass(frozen=True)
class Arc(Course):
    """A circle's arc, and one turn about a fixed axis."""

    centre: np.ndarray
    first: np.ndarray
    """From the centre to the start [m]."""
    second: np.ndarray
    """As long, a right angle further on."""
    sweep: float
    """Angle of the arc [rad]."""

    def points(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        phase = (self.sweep * s)[:, None]
        out = np.cos(phase) * self.first + np.sin(phase) * self.second
        along = np.cos(phase) * self.second - np.sin(phase) * self.first
        return self.centre + out, self.sweep * along, -(self.sweep**2) * out


def line(start: np.ndarray, end: np.ndarray) -> Course:
    axis, angle = turn_between(start[:3, :3], end[:3, :3])
    return Course(start, end, axis, angle, float(np.linalg.norm(end[:3, 3] - start[:3, 3])))


def arc(start: np.ndarray, through: np.ndarray, end: np.ndarray) -> Arc:
    """Along the circle through three points, from the first by the second to the third."""
    a, b = np.asarray(through, dtype=float) - start[:3, 3], end[:3, 3] - start[:3, 3]
    normal = np.cross(a, b)
    if np.linalg.norm(b) < 1e-9:
        raise InputError(Problem("start and end are one point: go round a circle by two arcs", key="pose"))
    if np.linalg.norm(normal) < 1e-6 * np.linalg.norm(a) * np.linalg.norm(b) or np.linalg.norm(a) < 1e-9:
        message = "start, this point and end lie on a straight line: no circle goes through them; use a line"
        raise InputError(Problem(message, key="through"))
    # The centre seen from the start: as far from all three points.
    to_centre = np.cross(a @ a * b - b @ b * a, normal) / (2.0 * normal @ normal)
    first = -to_centre
    second = np.cross(normal / np.linalg.norm(normal), first)
    last = b - to_centre
    sweep = atan2(float(last @ second), float(last @ first)) % (2.0 * pi)
    axis, angle = turn_between(start[:3, :3], end[:3, :3])
    centre = start[:3, 3] + to_centre
    return Arc(start, end, axis, angle, float(np.linalg.norm(first)) * sweep, centre, first, second, sweep)


def turn_between(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, float]:
    """Axis in the world and angle, at most π, of the shortest turn from one rotation matrix to another."""
    r = other @ one.T
    # Of the quaternion's four parts the largest is divided by: no cancellation near 0 and near π.
    squares = np.array([1.0 + r.trace(), *(1.0 + 2.0 * r[k, k] - r.trace() for k in range(3))])
    skew = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    k = int(squares.argmax())
    quat_wxyz = np.empty(4)
    if k == 0:
        quat_wxyz[0], quat_wxyz[1:] = squares[0], skew
    else:
        i = k - 1
        quat_wxyz[0], quat_wxyz[1:] = skew[i], r[i] + r[:, i]
        quat_wxyz[k] = squares[k]
    w, v = quat_wxyz[0], quat_wxyz[1:]
    if w < 0.0:
        w, v = -w, -v
    size = float(np.linalg.norm(v))
    angle = 2.0 * atan2(size, float(w))
    return (v / size, angle) if angle > 1e-12 else (np.array([0.0, 0.0, 1.0]), 0.0)
