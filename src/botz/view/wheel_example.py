"""A telling motion of a wheeled robot, for its report and its drawing."""

from __future__ import annotations

from collections.abc import Sequence
from math import asin, atan2, cos, hypot, pi, remainder, sin

import numpy as np

from botz.errors import InputError, Problem
from botz.physics.wheels import constraints as wc
from botz.robots.wheel_inverse import inverse_kinematics
from botz.robots.wheeled_robot import WheeledRobotModel

TURN = 2.0
"""Radius of the example's turn, in lengths of the robot."""


def example_inputs(model: WheeledRobotModel) -> np.ndarray:
    """Inputs of a motion that shows what the robot can do.

    The first that it can execute of: a turn that also moves sideways; a turn about a point on the fixed axle,
    wider and wider until the steering reaches it; a turn with slip, for robots that cannot turn without; straight
    on askew; straight ahead.
    """
    speed = float(f"{model.length:.0e}")
    turns = [np.array([centre[1], -centre[0], 1.0]) * speed / np.hypot(*centre) for centre in _example_centres(model)]
    askew = speed * np.array([cos(0.35), sin(0.35), 0.0])
    rest = np.zeros(len(model.inputs))
    found = [inverse_kinematics(model, twist, rest) for twist in turns]
    slipping = [one for one in found[1:2] if not model.n_steering and abs(one.twist[2]) * model.length > 0.1 * speed]
    straight = [inverse_kinematics(model, twist, rest) for twist in (askew, np.array([speed, 0.0, 0.0]))]
    for one in [one for one in found if not one.reason] + slipping + [one for one in straight if not one.reason]:
        return one.inputs
    rest[: model.n_rates] = 1.0
    return rest


def _example_centres(model: WheeledRobotModel) -> list[np.ndarray]:
    """Points to turn about: one askew, then some on the axle of the fixed wheels (else on the y axis)."""
    radius = TURN * model.length
    fixed = np.flatnonzero(model.kind == wc.FIXED)
    foot, heading = np.zeros(2), 0.0
    if fixed.size:
        foot, heading = np.array([model.x[fixed].mean(), model.y[fixed].mean()]), float(model.heading[fixed[0]])
    axle = np.array([-sin(heading), cos(heading)])
    foot = foot - axle * (axle @ foot)
    on_axle = [foot + axle * radius * wider for wider in (1.0, 1.6, 2.5, 4.0, 8.0)]
    return [radius * np.array([-sin(0.35), cos(0.35)]), *on_axle]


def checked_inputs(model: WheeledRobotModel, inputs: Sequence[float] | np.ndarray | None) -> np.ndarray:
    """The given inputs, or the example's."""
    if inputs is None:
        return example_inputs(model)
    values = np.asarray(inputs, dtype=float).ravel()
    if values.size != len(model.inputs) or not np.isfinite(values).all():
        names = ", ".join(f"{one.name} [{one.unit}]" for one in model.inputs)
        raise InputError(
            Problem(f"needs {len(model.inputs)} finite numbers ({names}), got {values.tolist()}", key="inputs")
        )
    return values


def settled_pivots(model: WheeledRobotModel, twist: np.ndarray) -> np.ndarray:
    """Pivot angle of every passive castor once it has swung in behind this motion; zero for all other wheels.

    It stands still in the body's frame where its lateral velocity vanishes: |v_p| sin(χ − ψ) + θ' d = 0, χ the
    direction of the pivot's velocity v_p. Of the solutions the one that trails is stable.
    """
    pivots = np.zeros(model.kind.size)
    for i in np.flatnonzero((model.kind == wc.CASTOR) & ~model.driven):
        vx, vy = twist[0] - twist[2] * model.y[i], twist[1] + twist[2] * model.x[i]
        speed, offset = hypot(vx, vy), float(model.offset[i])
        if speed < 1e-12 or abs(twist[2] * offset) > speed:
            continue
        lag = asin(twist[2] * offset / speed)
        heading = atan2(vy, vx) + (lag if offset < 0 else pi - lag)
        pivots[i] = remainder(heading - model.heading[i], 2 * pi)
    return pivots
