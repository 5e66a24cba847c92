"""Wheels as rigid bodies in space: where the material point that touches the ground goes.

An oracle for the constraint rows. It knows rotation matrices and points on rims, rollers and balls, and nothing of
the rows: the body is moved a little, the wheel, pivot and roller are turned, and the velocity of the contact point is
a difference quotient of its positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

UP = np.array([0.0, 0.0, 1.0])

STEP = 2.0e-4
"""Step of the difference quotient, for rates of about 1."""

TOLERANCE = 1e-10
"""The five-point quotient errs by h⁴/30 of the fifth derivative, at most about 5 (3 rad/s)⁵ m, thus below 1e-13, and
by rounding: positions of about 4 m after some ten operations, 1.5 · 10 · 4 m · eps / h = 7e-11."""


@dataclass(frozen=True)
class Wheel:
    """One wheel of any kind; what a kind does not have stays at its default."""

    kind: str
    x: float
    y: float
    heading: float
    radius: float
    offset: float = 0.0
    roller_angle: float = 0.0
    roller_radius: float = 0.01


@dataclass(frozen=True)
class Rates:
    """Velocities at one instant: of the body, in its own axes, and of the wheel's parts."""

    twist: np.ndarray
    spin: float = 0.0
    """Rotation of the wheel about its axle, positive when it rolls forward."""
    second: float = 0.0
    """Pivot of a castor about the vertical; roller; ball to its left."""


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation matrix about a unit axis (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def contact_position(wheel: Wheel, pose: np.ndarray, spin: float, second: float) -> np.ndarray:
    """Position in the world of the point that touches the ground at pose 0, spin 0, second 0.

    `pose` is the small motion of the body from there. The body's frame lies on the ground.
    """
    pivot = second if wheel.kind == "castor" else 0.0
    heading = wheel.heading + pivot
    forward = np.array([np.cos(heading), np.sin(heading), 0.0])
    left = np.array([-np.sin(heading), np.cos(heading), 0.0])
    hub = np.array([wheel.x, wheel.y, wheel.radius]) + wheel.offset * forward
    # Rolling forward turns the top of the wheel forward: a right-handed rotation about the axle to the left.
    rolled = turned(left, spin)
    if wheel.kind == "swedish":
        # The roller's axis is carried round with the rim; the roller turns about it, positive when it rolls left.
        axis = np.array([np.cos(heading + wheel.roller_angle), np.sin(heading + wheel.roller_angle), 0.0])
        roller_hub = -(wheel.radius - wheel.roller_radius) * UP
        touching = turned(-axis, second) @ (-wheel.roller_radius * UP)
        point = hub + rolled @ (roller_hub + touching)
    elif wheel.kind == "spherical":
        # Rolling to the left is a rotation about the backward direction.
        point = hub + rolled @ turned(-forward, second) @ (-wheel.radius * UP)
    else:
        point = hub + rolled @ (-wheel.radius * UP)
    return np.array([pose[0], pose[1], 0.0]) + turned(UP, pose[2]) @ point


def contact_velocity(wheel: Wheel, rates: Rates) -> np.ndarray:
    """Velocity in the world (the body's axes at this instant) of the material point that touches the ground."""

    def at(time: float) -> np.ndarray:
        return contact_position(wheel, rates.twist * time, rates.spin * time, rates.second * time)

    return difference(at, STEP)


def difference(function: Callable[[float], np.ndarray], h: float) -> np.ndarray:
    """Derivative at 0 by five points."""
    return (8.0 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12.0 * h)
