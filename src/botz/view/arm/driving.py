"""Arms driven by hand: the tool in the axes of the world, while a clutch is held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botz.view.lab.driving import Axes, Buttons, Command, Hands, short
from botz.view.lab.sentences import Sentence

REACHES_PER_SECOND = 0.12
"""Full speed of the tool, in reaches of the arm."""
TURN_RATE = 0.6
"""Full turn of the tool [rad/s]."""


def driving(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    if names.get("twist") != 6:
        return None
    own = spec.robots[robot]
    reach = sum(abs(joint.a) + abs(joint.d) for joint in own.joints.values())
    speed = REACHES_PER_SECOND * max(reach, 1e-3)
    gripper = getattr(own, "gripper", None)
    scales = (("x", speed), ("y", speed), ("z", speed), ("roll", TURN_RATE), ("pitch", TURN_RATE), ("yaw", TURN_RATE))

    def command(_: str, axes: Axes, buttons: Buttons) -> Command:
        held = bool(buttons.get("clutch", False))
        found: Command = {"twist": tuple(scale * axes.get(axis, 0.0) if held else 0.0 for axis, scale in scales)}
        if gripper is not None and "gripper/opening" in names:
            if buttons.get("open"):
                found["gripper/opening"] = gripper.opening
            elif buttons.get("close"):
                found["gripper/opening"] = 0.0
        return found

    notes: tuple[Sentence, ...] = (Sentence("hands.arm", speed=short(speed), turn=TURN_RATE),)
    if gripper is not None:
        notes += (Sentence("hands.gripper"),)
    return Hands(robot, "arm", ("tool",), tuple(axis for axis, _ in scales), notes, command, {"twist": (0.0,) * 6})
