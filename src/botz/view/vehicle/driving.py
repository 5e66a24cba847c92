"""Vehicles driven by hand: ahead and turning, or each side by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botz.view.lab.driving import Axes, Buttons, Command, Hands
from botz.view.lab.sentences import Sentence


def driving(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    own = spec.robots[robot]
    return tank(robot, names) if own.motors_of_side("left") and own.motors_of_side("right") else None


def tank(robot: str, names: Mapping[str, int]) -> Hands | None:
    """By the commands `drive` and `tank`."""
    modes = tuple(mode for mode in ("drive", "tank") if names.get(mode) == 2)
    if not modes:
        return None

    def command(mode: str, axes: Axes, _: Buttons) -> Command:
        if mode == "tank":
            return {"tank": (axes.get("left", 0.0), axes.get("right", 0.0))}
        return {"drive": (axes.get("forward", 0.0), axes.get("turn", 0.0))}

    axes = {"drive": ("forward", "turn"), "tank": ("left", "right")}
    both = tuple(axis for mode in modes for axis in axes[mode])
    return Hands(robot, "tank", modes, both, (Sentence("hands.voltage"),), command, {modes[0]: (0.0, 0.0)})
