"""Soccer robots driven by hand: ahead and turning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botz.view.lab.driving import Axes, Buttons, Command, Hands, short
from botz.view.lab.sentences import Sentence

FRACTION = 0.5
"""Of the speed that a robot's motors could give: a human eye must follow."""
TURN_RATE = 6.0
"""Full turn [rad/s]."""


def driving(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    if names.get("twist") != 2:
        return None
    wheel = spec.robots[robot].wheels.left
    speed = FRACTION * wheel.motor.no_load_speed * wheel.radius

    def command(_: str, axes: Axes, __: Buttons) -> Command:
        return {"twist": (speed * axes.get("forward", 0.0), TURN_RATE * axes.get("turn", 0.0))}

    note = Sentence("hands.speeds", speed=short(speed), turn=TURN_RATE)
    return Hands(robot, "soccer", ("drive",), ("forward", "turn"), (note,), command, {"twist": (0.0, 0.0)})
