"""Small arms of plain numbers to try engine `arm` on, driven step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from botz.engines.arm.engine import ArmEngine
from botz.errors import InputError
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import ArmScenario

G = 9.80665


def link(**changes: Any) -> dict[str, Any]:
    """A bar of half a metre, turned about its near end."""
    return {"a": 0.5, "mass": 2.0, "centre": [-0.25, 0.0, 0.0], "inertia": [0.002, 0.042, 0.042], **changes}


def arm(n: int = 2, joint: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """n bars; the first axis is turned so that they move in a vertical plane. More than two are too lively together for
    a servo that looks at each joint alone."""
    joints = {f"j{k + 1}": link(**(joint or {})) for k in range(n)}
    servo = {"type": "computed-torque"} if n > 2 else {}
    return {"joints": joints, "pose": [0.0, 0.0, 1.0, np.pi / 2, 0.0, 0.0], "servo": servo, **changes}


def slider(axis: str = "z", **changes: Any) -> dict[str, Any]:
    """One prismatic joint of 2 kg along the world's x or z."""
    pitch = np.pi / 2 if axis == "x" else 0.0
    joint = {"type": "prismatic", "mass": 2.0, **changes.pop("joint", {})}
    return {"joints": {"slide": joint}, "pose": [0.0, 0.0, 0.0, 0.0, pitch, 0.0], **changes}


class Rig:
    """An engine and the count of its steps."""

    def __init__(self, robots: Mapping[str, Any] | None = None, world: Mapping[str, Any] | None = None, **time: Any):
        data = {
            "engine": "arm",
            "time": {"step": 1e-3, **time},
            "world": dict(world or {}),
            "robots": dict(robots or {"one": arm()}),
        }
        self.spec = ArmScenario.model_validate(data)
        self.engine = ArmEngine(self.spec)
        self.step = 0

    def __getitem__(self, name: str) -> Any:
        return self.engine.channels.value(self.row(), name)

    def arm(self, name: str = "one") -> SerialArm:
        return self.engine.arms[name]

    def row(self) -> np.ndarray:
        row = np.empty(self.engine.channels.width)
        self.engine.observe(row)
        return row

    def advances(self, n: int) -> bool:
        good = self.engine.advance(self.step, n, 0, np.empty((0, self.engine.channels.width)))
        self.step += n
        return good

    def steps(self, n: int) -> Rig:
        assert self.advances(n)
        return self

    def seconds(self, seconds: float) -> Rig:
        return self.steps(round(seconds / self.engine.dt))

    def rows(self, n: int, every: int = 1) -> np.ndarray:
        """`n` steps, and what each `every`-th showed."""
        rows = np.full((n // every, self.engine.channels.width), np.nan)
        assert self.engine.advance(self.step, n, every, rows)
        self.step += n
        return rows

    def history(self, name: str, n: int) -> np.ndarray:
        return np.asarray(self.engine.channels.value(self.rows(n), name))

    def command(self, robot: str = "one", **command: Any) -> Rig:
        """Names with / as in the scenario; here written with two underscores."""
        named = {name.replace("__", "/"): value for name, value in command.items()}
        self.engine.inputs[self.engine.robot_inputs(robot)] = self.engine.resolve_command(robot, named)
        return self

    def rest(self, robot: str = "one") -> Rig:
        self.engine.inputs[self.engine.robot_inputs(robot)] = self.engine.rest_inputs(robot)
        return self

    def state(self) -> dict[str, bytes]:
        return {name: array.tobytes() for name, array in self.engine.state_arrays().items()}

    def refusal(self, command: Mapping[str, Any], robot: str = "one") -> list[str]:
        before = self.state()
        with pytest.raises(InputError) as caught:
            self.engine.resolve_command(robot, command)
        assert self.state() == before, "what is refused changes nothing"
        return [str(problem) for problem in caught.value.problems]
