"""Multibody robots driven by hand, by the commands that they take: multicopters, aircraft with wings, vehicles."""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot
from typing import Any

from botz.view.lab.driving import Axes, Buttons, Command, Hands, limits_of, short
from botz.view.lab.sentences import Sentence
from botz.view.vehicle.driving import tank

SPEED, CLIMB, TURN_RATE = 1.5, 0.7, 0.8
"""Full deflection of a multicopter, at most [m/s, m/s, rad/s]."""


def driving(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    if names.get("velocity") == 4:
        return flight(spec, robot)
    return plane(robot) if names.get("steer") == 3 else tank(robot, names)


def flight(spec: Any, robot: str) -> Hands:
    limit, turn_limit = limits_of(spec, robot)
    speed, turn = min(limit or SPEED, SPEED), min(turn_limit or TURN_RATE, TURN_RATE)
    climb = min(speed, CLIMB)

    def command(_: str, axes: Axes, __: Buttons) -> Command:
        x, y = axes.get("forward", 0.0), axes.get("side", 0.0)
        scale = speed / max(1.0, hypot(x, y))
        return {"velocity": (scale * x, scale * y, climb * axes.get("up", 0.0), turn * axes.get("turn", 0.0))}

    note = Sentence("hands.flight", speed=short(speed), climb=short(climb), turn=short(turn))
    axes = ("forward", "side", "up", "turn")
    return Hands(robot, "flight", ("fly",), axes, (note,), command, {"velocity": (0.0, 0.0, 0.0, 0.0)})


def plane(robot: str) -> Hands:
    def command(_: str, axes: Axes, __: Buttons) -> Command:
        return {"steer": (axes.get("pitch", 0.0), axes.get("roll", 0.0), axes.get("throttle", 0.0))}

    note = Sentence("hands.plane")
    return Hands(robot, "plane", ("fly",), ("pitch", "roll", "throttle"), (note,), command, {"steer": (0.0, 0.0, 0.0)})
