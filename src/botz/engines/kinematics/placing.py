"""Reading and setting the state of one wheeled robot."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np

from botz.engines.kinematics.model import Model
from botz.engines.kinematics.rows import SECOND
from botz.engines.kinematics.state import State
from botz.errors import InputError, Problem
from botz.physics.wheels.constraints import CASTOR, SPHERICAL, SUPPORT, SWEDISH
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.units import in_both_units


@dataclass(frozen=True)
class Axis:
    """An angle of a robot that is part of its state."""

    quantity: str
    """Its field of the state."""
    index: int
    rate: str
    """The channel of its rate; empty for steering, whose rate is part of the state as well."""


def axes_of(name: str, robot: WheeledRobotModel, own: Any) -> dict[str, Axis]:
    """The angles of one robot: `left` is a wheel's rotation, `castor/steering` a pivot, `front/steering` a group's."""
    axes: dict[str, Axis] = {}
    for i, (wheel, kind) in enumerate(zip(robot.wheel_names, robot.kind, strict=True), int(own.wheel_start)):
        if kind == SUPPORT:
            continue
        axes[wheel] = Axis("angle", i, f"{name}/{wheel}/speed")
        if kind in (CASTOR, SWEDISH, SPHERICAL):
            angle, rate = (channel.name for channel in SECOND[int(kind)].channels)
            axes[f"{wheel}/{angle}"] = Axis("second", i, f"{name}/{wheel}/{rate}")
    for g, group in enumerate(robot.steering_names, int(own.group_start)):
        axes[f"{group}/steering"] = Axis("steering", g, "")
    return axes


def set_angle(model: Model, state: State, axis: Axis, value: float, key: str) -> None:
    """Put one angle elsewhere. Its encoder sees no motion: what it remembers of its last reading moves along."""
    if axis.quantity == "steering":
        limit, group = float(model.groups["limit"][axis.index]), state.groups[axis.index : axis.index + 1]
        if abs(value) > limit:
            shown = in_both_units(value, "rad"), in_both_units(limit, "rad")
            raise InputError(Problem(f"{shown[0]} is outside its range, {shown[1]} to either side", key=key))
        group["odometry_steering"] += value - group["steering"]
        group["steering"] = value
        return
    wheel, tick = state.wheels[axis.index : axis.index + 1], float(model.wheels["tick_angle"][axis.index])
    before = float(wheel[axis.quantity][0])
    wheel["ticks"][:, 0 if axis.quantity == "angle" else 1] += floor(value / tick) - floor(before / tick)
    if axis.quantity == "second":
        wheel["odometry_second"] += value - before
    wheel[axis.quantity] = value


def set_steering_rate(model: Model, state: State, axis: Axis, rate: float, key: str) -> None:
    most = float(model.groups["rate"][axis.index])
    if abs(rate) > (most if np.isfinite(most) else 0.0):
        reason = f"it steers at {most:g} rad/s at most" if np.isfinite(most) else "it steers at once, without a rate"
        raise InputError(Problem(f"{rate:g} rad/s is not possible: {reason}", key=key))
    state.groups["steering_rate"][axis.index] = rate
