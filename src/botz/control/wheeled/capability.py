"""What a wheeled robot can do, found out from its inverse kinematics and not from its name.

Controllers do not ask which wheels a robot has. They ask in which of four ways it moves; whoever answers tries
motions out on the robot's model, so that limits of the steering and motors that are missing count by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import atan2, cos, inf, pi, sin

import numpy as np

from botz.control.planar import Pose, compose
from botz.errors import InputError, Problem
from botz.physics.wheels.constraints import FIXED
from botz.robots.wheel_inverse import inverse_kinematics
from botz.robots.wheeled_robot import WheeledRobotModel, rank_of

Twist = tuple[float, float, float]

TIGHTEST = 4.0
"""Largest curvature times the robot's length that is asked of a car: one that could steer to nearly 90° would
hardly move any more, whatever its motor does."""


class Motion(Enum):
    """The four ways of moving that the controllers know."""

    HOLONOMIC = "moves and turns in every direction at once"
    TRANSLATE = "moves in every direction, its heading is not controlled"
    UNICYCLE = "moves along its heading and turns on the spot"
    CAR = "moves along its heading and turns while it moves"


@dataclass(frozen=True)
class Capability:
    motion: Motion
    frame: Pose
    """Pose in the body of the frame D that is steered: on the fixed axle, its x axis along the rolling direction.
    The body's own frame for robots that move in every direction."""
    curvature: float
    """Largest curvature of D's path [1/m]; infinite where the robot can turn on the spot."""

    def twist(self, speed: float, turn: float) -> Twist:
        """Twist of the body when D moves with `speed` along its x axis and the body turns."""
        x, y, heading = self.frame
        return speed * cos(heading) + turn * y, speed * sin(heading) - turn * x, turn

    def frame_pose(self, body: Pose) -> Pose:
        """Pose of D for a pose of the body."""
        return compose(body, self.frame)


def capability_of(model: WheeledRobotModel) -> Capability | None:
    """How the robot moves; None where it can neither move in every direction nor drive and turn."""
    if all(_can(model, twist) for twist in _sphere(model.length)):
        return Capability(Motion.HOLONOMIC, (0.0, 0.0, 0.0), inf)
    if all(_can(model, (cos(a), sin(a), 0.0)) for a in _DIRECTIONS):
        return Capability(Motion.TRANSLATE, (0.0, 0.0, 0.0), inf)
    frame = axle_frame(model)
    if frame is None:
        return None
    limit = _largest_curvature(model, Capability(Motion.CAR, frame, inf))
    if limit == 0.0:
        return None
    return Capability(Motion.UNICYCLE if limit == inf else Motion.CAR, frame, limit)


def required_capability(model: WheeledRobotModel, controller: str, robot: str) -> Capability:
    """The robot's capability, or an InputError that says why no controller of poses can drive it."""
    found = capability_of(model)
    if found is not None:
        return found
    frame = axle_frame(model)
    if frame is None:
        why = "its fixed wheels stand on axles of which no two agree, so it can at most turn about one point"
    else:
        try_out = Capability(Motion.CAR, frame, inf)
        twists = (try_out.twist(1.0, 0.0), try_out.twist(1.0, 1e-3 / model.length), (0.0, 0.0, 1.0 / model.length))
        why = next((reason for twist in twists if (reason := _reason(model, twist))), "nothing turns it")
    message = (
        f"{controller!r} cannot drive robot {robot!r}: it can neither move in every direction nor turn while it "
        f"moves forward ({why}); command its wheels with 'constant' or 'table'"
    )
    raise InputError(Problem(message, key=f"robots.{robot}"))


def axle_frame(model: WheeledRobotModel) -> Pose | None:
    """The point of the fixed wheels' axle nearest to the origin, with their rolling direction.

    The body's frame for a robot without fixed wheels; None where the fixed wheels have no common direction.
    """
    wheels = np.flatnonzero(model.kind == FIXED)
    if wheels.size == 0:
        return 0.0, 0.0, 0.0
    rows = model.lateral_rows(wheels, model.heading)
    ax, ay, ahead = rows[0]
    if rank_of(rows, model.length) > 1 and np.abs(rows[:, 0] * ay - rows[:, 1] * ax).max() > 1e-9:
        return None
    # The row is the axle's direction a and, third, how far ahead of the origin it lies; e = (a_y, −a_x) rolls.
    forward = 1.0 if (ay > 1e-12 or (abs(ay) <= 1e-12 and ax < 0.0)) else -1.0
    return float(ahead * ay), float(-ahead * ax), atan2(-forward * ax, forward * ay)


_DIRECTIONS = [k * pi / 8 for k in range(16)]


def _sphere(length: float) -> list[Twist]:
    """Twists in all directions, corners and odd ones, turning scaled by the robot's size."""
    steps = (-1.0, 0.0, 1.0)
    grid = [(a, b, c) for a in steps for b in steps for c in steps if (a, b, c) != (0.0, 0.0, 0.0)]
    odd = [(cos(k) * (1 + k % 3), sin(k), (k % 5 - 2) * 0.37) for k in range(1, 12)]
    return [(vx, vy, turn / length) for vx, vy, turn in grid + odd]


def _reason(model: WheeledRobotModel, twist: Twist) -> str:
    present = np.zeros(len(model.inputs))
    return inverse_kinematics(model, np.array(twist), present).reason


def _can(model: WheeledRobotModel, twist: Twist) -> bool:
    return not _reason(model, twist)


def _largest_curvature(model: WheeledRobotModel, frame: Capability) -> float:
    """Largest curvature that D can follow to both sides; infinite where it can turn on the spot as well."""

    def possible(curvature: float) -> bool:
        return _can(model, frame.twist(1.0, curvature)) and _can(model, frame.twist(1.0, -curvature))

    unit = 1.0 / model.length
    if not possible(0.0) or not possible(1e-3 * unit):
        return 0.0
    pivot = _can(model, frame.twist(0.0, unit)) and _can(model, frame.twist(0.0, -unit))
    if pivot and all(possible(k * unit) for k in (0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0)):
        return inf
    low, high = 1e-3 * unit, TIGHTEST * unit
    if possible(high):
        return high
    while high - low > 1e-10 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if possible(middle) else (low, middle)
    return low
