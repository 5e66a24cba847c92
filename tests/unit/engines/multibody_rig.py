"""Small multibody robots to try engine `multibody` on, driven step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from botz.engines.multibody.engine import MultibodyEngine
from botz.scenario.multibody.schema import MultibodyScenario

G = 9.81
FREE: dict[str, Any] = {"gravity": [0.0, 0.0, 0.0], "ground": False}
BALL: dict[str, Any] = {
    "links": {"ball": {"mass": 1.0, "inertia": [0.01, 0.01, 0.01], "shapes": [{"type": "sphere", "radius": 0.1}]}}
}


def body(mass: float = 1.0, **changes: Any) -> dict[str, Any]:
    return {"mass": mass, "inertia": [0.02 * mass, 0.03 * mass, 0.04 * mass], **changes}


def box(size: float = 0.2, **changes: Any) -> dict[str, Any]:
    return {"links": {"box": {"mass": 1.0, "shapes": [{"type": "box", "size": [size] * 3}]}}, **changes}


def limb(**changes: Any) -> dict[str, Any]:
    """A body with an arm that tilts, a rotor at its end that spins, and a weight that slides."""
    return {
        "links": {"body": body(2.0), "arm": body(0.3), "rotor": body(0.05), "weight": body(0.1)},
        "joints": {
            "tilt": {"type": "revolute", "parent": "body", "child": "arm", "axis": [0, 1, 0], "range": [-0.8, 0.8],
                     "pose": [0.2, 0.1, 0.05, 0.1, 0.2, 0.3]},
            "spin": {"type": "continuous", "parent": "arm", "child": "rotor", "pose": [0, 0.15, 0.1, 0, 0, 0]},
            "slide": {"type": "prismatic", "parent": "body", "child": "weight", "axis": [1, 0, 0],
                      "range": [-0.5, 0.5]},
        },
        "actuators": {
            "tilt": {"kind": "position", "speed": 2.0},
            "spin": {"kind": "velocity"},
            "slide": {"kind": "effort", "effort": 5.0},
        },
        "elements": {"prop": {"type": "propeller", "joint": "spin", "coefficient": 2e-4, "lag_up": 0.05}},
        **changes,
    }  # fmt: skip


class Rig:
    """An engine and the count of its steps."""

    def __init__(
        self, robots: Mapping[str, Any], world: Mapping[str, Any] | None = None, *, seed: int = 3, **time: Any
    ):
        data = {
            "engine": "multibody",
            "seed": seed,
            "time": {"step": 1e-3, **time},
            "world": dict(world or {}),
            "robots": dict(robots),
        }
        self.spec = MultibodyScenario.model_validate(data)
        self.engine = MultibodyEngine(self.spec)
        self.engine.reset(np.random.default_rng(seed))
        self.step = 0

    def __getitem__(self, name: str) -> Any:
        return self.engine.channels.value(self.row(), name)

    def row(self) -> np.ndarray:
        row = np.full(self.engine.channels.width, np.nan)
        self.engine.observe(row)
        return row

    def command(self, robot: str, command: Mapping[str, Any]) -> Rig:
        inputs = self.engine.inputs[self.engine.robot_inputs(robot)]
        inputs[:] = self.engine.resolve_command(robot, command)
        return self

    def steps(self, n: int, every: int = 0) -> np.ndarray:
        """Takes `n` steps and returns the rows recorded at multiples of `every`."""
        count = (self.step + n) // every - self.step // every if every else 0
        rows = np.full((max(count, 1), self.engine.channels.width), np.nan)
        assert self.engine.advance(self.step, n, every, rows)
        self.step += n
        return rows[:count]

    def seconds(self, duration: float) -> Rig:
        self.steps(round(duration / self.engine.dt))
        return self
