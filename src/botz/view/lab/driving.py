"""From a driver's hands to commands: fractions of full deflection, −1 to 1, to speeds that suit the robot.

Ahead, left, up and counter-clockwise are positive; a plane's pitch is positive with its nose up, its roll to the right.
A family's record names its `driving`: a function of scenario, robot, and names and sizes of its commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botz.registry import imported
from botz.scenario.families import FAMILIES
from botz.scenario.names import closest
from botz.view.lab.sentences import LabError, Sentence

Axes = Mapping[str, float]
Buttons = Mapping[str, bool]
Command = dict[str, Any]
Layout = Sequence[Sequence[Any]]
"""Names and sizes of the commands that a robot takes."""


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


def hands_of(spec: Any, robot: str, layout: Layout) -> Hands:
    """How `robot` of a scenario is driven, by the commands that it takes: as its family says, or by each of them."""
    names = {str(name): int(size) for name, size in layout}
    driving = FAMILIES[spec.engine].driving
    own: Hands | None = imported(driving)(spec, robot, names) if driving else by_commands(robot, names)
    return own or Hands(robot, "none", (), (), (Sentence("hands.none"),), None, {})


def by_commands(robot: str, names: Mapping[str, int]) -> Hands | None:
    """An axis for each number of each command: full deflection is 1 of its unit."""
    parts = {name: [name] if size == 1 else [f"{name}.{k}" for k in range(size)] for name, size in names.items()}
    axes = tuple(axis for own in parts.values() for axis in own)

    def command(_: str, deflections: Axes, __: Buttons) -> Command:
        return {name: tuple(deflections.get(axis, 0.0) for axis in own) for name, own in parts.items()}

    rest = command("", {}, {})
    return Hands(robot, "commands", ("drive",), axes, (Sentence("hands.commands"),), command, rest) if axes else None


def short(value: float) -> float:
    """For reading: two digits."""
    return float(f"{value:.2g}")


def limits_of(spec: Any, robot: str) -> tuple[float | None, float | None]:
    """Speed and turn rate that the robot's controller keeps to, where it says so."""
    for controller in spec.controllers.values():
        limits = getattr(controller, "limits", None)
        if controller.robot == robot and limits is not None:
            return getattr(limits, "speed", None), getattr(limits, "turn_rate", None)
    return None, None
