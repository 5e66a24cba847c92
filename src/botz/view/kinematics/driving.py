"""Wheeled robots driven by hand: ahead, aside and turning, as far as their wheels let them."""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot, inf
from typing import Any

from botz.control.wheeled.capability import Motion, capability_of
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.view.lab.driving import Axes, Buttons, Command, Hands, limits_of, short
from botz.view.lab.sentences import Sentence

LENGTHS_PER_SECOND = 2.0
"""Full speed of a robot, in its own lengths."""
TURN_RATE = 1.5
"""Full turn [rad/s] of robots that say no limit of their own."""


def driving(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    """On the plane: what it can do is tried out on its own wheels, so that a car steers and a carriage strafes."""
    if names.get("twist") != 3:
        return None
    own = spec.robots[robot]
    capability = capability_of(WheeledRobotModel(own))
    rest = {"twist": (0.0, 0.0, 0.0)}
    if capability is None:
        return Hands(robot, "none", (), (), (Sentence("hands.wheels"),), None, rest)
    limit, turn_limit = limits_of(spec, robot)
    speed = limit or LENGTHS_PER_SECOND * own.body.length
    turn = turn_limit or TURN_RATE
    note = Sentence("hands.speeds", speed=short(speed), turn=short(turn))

    def planar(_: str, axes: Axes, __: Buttons) -> Command:
        v, w = speed * axes.get("forward", 0.0), turn * axes.get("turn", 0.0)
        if capability.curvature < inf:  # it turns only while it rolls
            w = max(-1.0, min(1.0, axes.get("turn", 0.0))) * 0.98 * capability.curvature * abs(v)
            w = max(-turn, min(turn, w))
        return {"twist": capability.twist(v, w)}

    def omni(_: str, axes: Axes, __: Buttons) -> Command:
        x, y = axes.get("forward", 0.0), axes.get("side", 0.0)
        scale = speed / max(1.0, hypot(x, y))
        w = turn * axes.get("turn", 0.0) if capability.motion is Motion.HOLONOMIC else 0.0
        return {"twist": (scale * x, scale * y, w)}

    if capability.motion is Motion.HOLONOMIC:
        return Hands(robot, "omni", ("drive",), ("forward", "side", "turn"), (note,), omni, rest)
    if capability.motion is Motion.TRANSLATE:
        note = Sentence("hands.heading", speed=short(speed))
        return Hands(robot, "omni", ("drive",), ("forward", "side"), (note,), omni, rest)
    if capability.curvature < inf:
        note = Sentence("hands.car", speed=short(speed), radius=short(1.0 / capability.curvature))
    return Hands(robot, "planar", ("drive",), ("forward", "turn"), (note,), planar, rest)
