"""Paths of a tool along lines and arcs, turned into paths of the joints on one branch of inverse kinematics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import acos, atan2, pi, sqrt

import numpy as np

from botz.control.joint_path import SLACK, JointPath, Limits, rounded_up, too_much
from botz.engines.serial_arm import SerialArm
from botz.errors import InputError, Problem

STRAY = 1e-6
"""How far the tool may be from its course between two points that were solved [m, rad]."""
PIECES = 32
"""Into which a course is cut at first."""
INNER = np.array([0.25, 0.5, 0.75])
"""Where each piece is checked."""
FINEST = 2.0**-22
"""Pieces of a course are not cut below this share: what still does not fit is no path."""
MOST_PIECES = 20_000
SINGULAR = 1e-6
"""Smallest singular value of the Jacobian by the largest, with turns counted by the arm's reach, below which an arm is
taken as singular."""
RAMPS = np.linspace(0.1, 0.5, 9)
"""Shares of the time for speeding up, and the same for slowing down, that are tried."""
SLOWEST = 50.0
"""How many times slower than asked for a tool may go because of its joints, where no duration is given."""


# --- courses ---------------------------------------------------------------------------------------------------------


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
        found[:, :3, :3] = turns(self.axis, self.angle * s) @ self.start[:3, :3]
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
    # The centre seen from the start: as far from all three.
    to_centre = np.cross(b @ b * a - a @ a * b, normal) / (2.0 * normal @ normal) * -1.0
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


def turns(axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Rodrigues' formula: rotation matrices (N, 3, 3)."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angles)[:, None, None] * k + (1.0 - np.cos(angles))[:, None, None] * (k @ k)


# --- joints along a course -------------------------------------------------------------------------------------------


def follow(arm: SerialArm, course: Course, start: np.ndarray) -> JointPath:
    """The joints by the share of the course, from `start` on the branch that it is on, the tool on its course within
    STRAY; InputError where there is no such path, with the place and the reason."""
    grid = np.linspace(0.0, 1.0, PIECES + 1)
    _refuse_singular(arm, course, start, 0.0)

    def sample(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q = _tracked(arm, course, s, start)
        return q, *joint_rates(arm, q, *course.rates(s))

    path = _refined(grid, sample, lambda s: course.poses(s), arm, 0.3 * STRAY)
    if isinstance(path, float):
        raise _no_path(arm, course, start, path)
    return _within_range(arm, course, path)


def joint_rates(arm: SerialArm, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of the joints (N, n) from those of the tool, (N, 6) each:
    J q' = V and J q'' = A − J' q'.

    With the columns (J_v, J_ω) of a chain, w_i = J_ω,i q'_i, v_i = J_v,i q'_i and Ω_i = Σ_{j<i} w_j the last term is
    Σ (2 Ω_i + w_i) × v_i in its linear part and Σ Ω_i × w_i in its angular one.
    """
    jacobians = arm.jacobian(q)
    first = _solved(jacobians, v)
    parts = np.swapaxes(jacobians * first[:, None, :], 1, 2)
    linear, angular = parts[:, :, :3], parts[:, :, 3:]
    before = np.cumsum(angular, axis=1) - angular
    bias = np.hstack([
        np.cross(2.0 * before + angular, linear).sum(axis=1), np.cross(before, angular).sum(axis=1)
    ])  # fmt: skip
    return first, _solved(jacobians, a - bias)


def _solved(jacobians: np.ndarray, right: np.ndarray) -> np.ndarray:
    if jacobians.shape[1] == jacobians.shape[2]:
        try:
            return np.linalg.solve(jacobians, right[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            pass  # singular somewhere: the least solution there, and the piece will not fit
    return (np.linalg.pinv(jacobians) @ right[:, :, None])[:, :, 0]


def _tracked(arm: SerialArm, course: Course, s: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Joints at the shares `s`, each the solution nearest to the one before that lies on the same side of the
    singularities; angles go on past ±180°. Ranges are left out of it: a path that leaves them is to be found."""
    poses = course.poses(s)
    q = np.empty((len(s), arm.n))
    q[0] = start
    if arm.solver.kind == "numeric":
        for k in range(1, len(s)):
            found = arm.inverse(poses[k], present=q[k - 1], limits=False)
            if not found:
                raise _out_of_reach(arm, course, s[k - 1], s[k])
            candidates = _near(arm, found.joints, q[k - 1])
            q[k] = candidates[np.abs(candidates - q[k - 1]).max(axis=1).argmin()]
        return q
    found = arm.inverse_many(poses, present=start, limits=False)
    if not found.counts[1:].all():
        k = 1 + int((found.counts[1:] == 0).argmax())
        raise _out_of_reach(arm, course, s[k - 1], s[k])
    side = np.sign(_determinants(arm, found.joints.reshape(-1, arm.n))).reshape(found.codes.shape)
    own = np.sign(_determinants(arm, start[None]))[0]
    for k in range(1, len(s)):
        count = int(found.counts[k])
        candidates = _near(arm, found.joints[k, :count], q[k - 1])
        far = np.abs(candidates - q[k - 1]).max(axis=1)
        far[side[k, :count] != own] += 1e3
        q[k] = candidates[far.argmin()]
    return q


def _near(arm: SerialArm, candidates: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The same directions of revolute joints, whole turns away, nearest to `q`."""
    turn = np.where(arm.links["kind"] == 0, 2.0 * pi, np.inf)
    return candidates - np.where(np.isfinite(turn), 2.0 * pi, 0.0) * np.round((candidates - q) / turn)


def _determinants(arm: SerialArm, q: np.ndarray) -> np.ndarray:
    """Of the Jacobian: its sign changes where a path passes a singularity; 1 of arms for which it has none."""
    return np.linalg.det(arm.jacobian(q)) if arm.n == 6 else np.ones(len(q))


def _refined(
    nodes: np.ndarray,
    sample: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]],
    poses: Callable[[np.ndarray], np.ndarray],
    arm: SerialArm,
    stray: float,
) -> JointPath | float:
    """Quintic pieces between nodes, halved until the tool is at `poses` within `stray` at three places of each; where
    that does not come to an end, the place."""
    shortest = FINEST * (nodes[-1] - nodes[0])
    while True:
        path = JointPath.hermite(nodes, *sample(nodes))
        inner = (nodes[:-1, None] + path.lengths[:, None] * INNER).ravel()
        off = apart(arm.forward(path.sampled(inner)[0]), poses(inner)).reshape(-1, len(INNER)).max(axis=1)
        bad = np.flatnonzero(~(off <= stray))
        if not len(bad):
            return path
        if path.lengths[bad].min() < shortest or len(nodes) > MOST_PIECES:
            return float(nodes[bad[path.lengths[bad].argmin()]])
        nodes = np.sort(np.concatenate([nodes, 0.5 * (nodes[bad] + nodes[bad + 1])]))


def apart(poses: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How far poses are apart: the distance [m] or the angle [rad], whichever is more. Of small angles ‖R − S‖ is √2
    times the angle."""
    difference = poses - others
    distance = np.linalg.norm(difference[:, :3, 3], axis=1)
    return np.maximum(distance, np.linalg.norm(difference[:, :3, :3], axis=(1, 2)) / sqrt(2.0))
