"""The same command all the time."""

from __future__ import annotations

from typing import Any

from botz.control.base import ControllerSetup, Measured
from botz.scenario.schema import ConstantController


class Constant:
    def __init__(self, spec: ConstantController):
        self._command = {name: list(v) if isinstance(v, list) else v for name, v in spec.command.items()}

    def reset(self, setup: ControllerSetup) -> None:
        # Unknown names and impossible motions show now, before the first step.
        setup.engine.resolve_command(setup.robot, self._command)
        numbers = {name: (value,) for name, value in self._command.items() if isinstance(value, float)}
        setup.engine.note_commands(setup.robot, "commanded all the time", numbers)

    def update(self, t: float, measured: Measured) -> dict[str, Any]:
        return self._command

    def snapshot(self) -> dict[str, Any]:
        return {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Nothing changes during a run."""
