"""From a driver's hands to commands: shares of full deflection, −1 to 1, to speeds that suit the robot.

Ahead, left, up and counter-clockwise are positive; a plane's pitch is positive with its nose up, its roll to the right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf
from typing import Any

from botz.scenario.names import closest
from botz.view.lab.sentences import LabError, Sentence

Axes = Mapping[str, float]
Buttons = Mapping[str, bool]
Command = dict[str, Any]
Layout = Sequence[Sequence[Any]]
"""Names and sizes of the commands that a robot takes."""

LENGTHS_PER_SECOND = 2.0
"""Full speed of a wheeled robot, in its own lengths."""
TURN_RATE = 1.5
"""Full turn [rad/s] of robots that say no limit of their own."""
SOCCER_SHARE = 0.5
"""Of the speed that a soccer robot's motors could give: a human eye must follow."""
SOCCER_TURN = 6.0
ARM_SHARE = 0.12
"""Speed of an arm's tool, in reaches a second."""
ARM_TURN = 0.6
FLIGHT_SPEED, FLIGHT_CLIMB, FLIGHT_TURN = 1.5, 0.7, 0.8


@dataclass(frozen=True)
class Hands:
    """How one robot is driven."""

    name: str
    hands: str
    modes: tuple[str, ...]
    axes: tuple[str, ...]
    notes: tuple[Sentence, ...]
    command: Callable[[str, Axes, Buttons], Command] | None
    rest: Command
    """What stops it."""

    def described(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "hands": self.hands,
            "modes": list(self.modes),
            "axes": list(self.axes),
            "note": self.note,
            "note_said": [one.told() for one in self.notes],
        }

    @property
    def note(self) -> str:
        return " ".join(str(one) for one in self.notes)

    def of(self, mode: str | None, axes: Axes, buttons: Buttons) -> Command:
        """The command for what the hands do."""
        if self.command is None:
            raise LabError(Sentence("hands.refused", robot=self.name, why=self.notes[0]))
        mode = mode or self.modes[0]
        if mode not in self.modes:
            raise LabError(Sentence("hands.mode", closest(mode, self.modes), robot=self.name, name=mode))
        return self.command(mode, axes, buttons)


def hands_of(spec: Any, robot: str, layout: Layout, kind: str | None = None) -> Hands:
    """How `robot` of a scenario is driven, by the commands that it takes; `kind` is what its scene says of it."""
    names = {str(name): int(size) for name, size in layout}
    if kind is None:
        kind = kind_of(spec.engine, names)
    made = MAKERS[kind](spec, robot, names) if kind in MAKERS else None
    return made or Hands(robot, "none", (), (), (Sentence("hands.none"),), None, {})


def kind_of(engine: str, names: Mapping[str, int]) -> str:
    if "velocity" in names:
        return "flight"
    if "steer" in names:
        return "plane"
    if "drive" in names or "tank" in names:
        return "tank"
    return {"kinematics": "planar", "soccer": "soccer", "arm": "arm"}.get(engine, "none")


def short(value: float) -> float:
    """For reading: two digits."""
    return float(f"{value:.2g}")


# --- wheels ------------------------------------------------------------------------------------------------------


def limits_of(spec: Any, robot: str) -> tuple[float | None, float | None]:
    """Speed and turn rate that the robot's controller keeps to, where it says so."""
    for controller in spec.controllers.values():
        limits = getattr(controller, "limits", None)
        if controller.robot == robot and limits is not None:
            return getattr(limits, "speed", None), getattr(limits, "turn_rate", None)
    return None, None


def wheeled(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    """On the plane: what it can do is tried out on its own wheels, so that a car steers and a carriage strafes."""
    if names.get("twist") != 3 or spec.engine != "kinematics":
        return None
    from botz.control.wheeled.capability import Motion, capability_of
    from botz.robots.wheeled_robot import WheeledRobotModel

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


def tank(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
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


def soccer(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    if names.get("twist") != 2:
        return None
    wheel = spec.robots[robot].wheels.left
    speed = SOCCER_SHARE * wheel.motor.no_load_speed * wheel.radius

    def command(_: str, axes: Axes, __: Buttons) -> Command:
        return {"twist": (speed * axes.get("forward", 0.0), SOCCER_TURN * axes.get("turn", 0.0))}

    note = Sentence("hands.speeds", speed=short(speed), turn=SOCCER_TURN)
    return Hands(robot, "soccer", ("drive",), ("forward", "turn"), (note,), command, {"twist": (0.0, 0.0)})


# --- arms and aircraft -------------------------------------------------------------------------------------------


def arm(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    if names.get("twist") != 6:
        return None
    own = spec.robots[robot]
    reach = sum(abs(joint.a) + abs(joint.d) for joint in own.joints.values())
    speed = ARM_SHARE * max(reach, 1e-3)
    gripper = getattr(own, "gripper", None)
    scales = (("x", speed), ("y", speed), ("z", speed), ("roll", ARM_TURN), ("pitch", ARM_TURN), ("yaw", ARM_TURN))

    def command(_: str, axes: Axes, buttons: Buttons) -> Command:
        held = bool(buttons.get("clutch", False))
        found: Command = {"twist": tuple(scale * axes.get(axis, 0.0) if held else 0.0 for axis, scale in scales)}
        if gripper is not None and "gripper/opening" in names:
            if buttons.get("open"):
                found["gripper/opening"] = gripper.opening
            elif buttons.get("close"):
                found["gripper/opening"] = 0.0
        return found

    notes: tuple[Sentence, ...] = (Sentence("hands.arm", speed=short(speed), turn=ARM_TURN),)
    if gripper is not None:
        notes += (Sentence("hands.gripper"),)
    return Hands(robot, "arm", ("tool",), tuple(axis for axis, _ in scales), notes, command, {"twist": (0.0,) * 6})


def flight(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    if names.get("velocity") != 4:
        return None
    limit, turn_limit = limits_of(spec, robot)
    speed, turn = min(limit or FLIGHT_SPEED, FLIGHT_SPEED), min(turn_limit or FLIGHT_TURN, FLIGHT_TURN)
    climb = min(speed, FLIGHT_CLIMB)

    def command(_: str, axes: Axes, __: Buttons) -> Command:
        x, y = axes.get("forward", 0.0), axes.get("side", 0.0)
        scale = speed / max(1.0, hypot(x, y))
        return {"velocity": (scale * x, scale * y, climb * axes.get("up", 0.0), turn * axes.get("turn", 0.0))}

    note = Sentence("hands.flight", speed=short(speed), climb=short(climb), turn=short(turn))
    axes = ("forward", "side", "up", "turn")
    return Hands(robot, "flight", ("fly",), axes, (note,), command, {"velocity": (0.0, 0.0, 0.0, 0.0)})


def plane(spec: Any, robot: str, names: Mapping[str, int]) -> Hands | None:
    if names.get("steer") != 3:
        return None

    def command(_: str, axes: Axes, __: Buttons) -> Command:
        return {"steer": (axes.get("pitch", 0.0), axes.get("roll", 0.0), axes.get("throttle", 0.0))}

    note = Sentence("hands.plane")
    return Hands(robot, "plane", ("fly",), ("pitch", "roll", "throttle"), (note,), command, {"steer": (0.0, 0.0, 0.0)})


MAKERS: dict[str, Callable[[Any, str, Mapping[str, int]], Hands | None]] = {
    "planar": wheeled,
    "omni": wheeled,
    "tank": tank,
    "soccer": soccer,
    "arm": arm,
    "flight": flight,
    "plane": plane,
}
