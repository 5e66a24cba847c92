"""A small match to try the soccer engine on: four robots of plain numbers, driven step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from botz.engines.soccer import step as kernel
from botz.engines.soccer.engine import SoccerEngine
from botz.errors import InputError
from botz.scenario.soccer.schema import SoccerScenario

RADIUS, VOLTS, NO_LOAD = 0.025, 6.0, 50.0
HALF = 0.04
BALL_RADIUS = 0.02
POSES: dict[str, Any] = {
    "ann": {"team": "blue", "pose": [-0.5, 0.0, 0.0], "kick_off_pose": [-0.1, 0.0, 0.0]},
    "bob": {"team": "blue", "pose": [-0.5, 0.3, 0.5]},
    "cid": {"team": "yellow", "pose": [0.5, 0.0, 3.0], "kick_off_pose": [0.1, 0.0, 3.0]},
    "dan": {"team": "yellow", "pose": [0.5, -0.3, 2.0]},
}
NAMES = list(POSES)


def robot(motor: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    motor = {"voltage": VOLTS, "no_load_speed": NO_LOAD, "stall_torque": 0.06, **(motor or {})}
    wheel = {"radius": RADIUS, "mass": 0.01, "motor": motor}
    return {"side": 2 * HALF, "mass": 0.2, "track": 0.06, "wheels": {"left": wheel, "right": wheel}, **changes}


class Game:
    """An engine and the count of its steps."""

    def __init__(self, robots: Mapping[str, Any] = POSES, world: Mapping[str, Any] | None = None, **rest: Any):
        world = {"ball": {"radius": BALL_RADIUS, "mass": 0.05}, **(world or {})}
        data = {
            "engine": "soccer",
            "time": {"method": rest.pop("method", "euler"), "step": rest.pop("step", 1e-3)},
            "world": world,
            "match": rest.pop("match", {}),
            "robots": {name: {**robot(), **own} for name, own in robots.items()},
        }
        assert not rest
        self.engine = SoccerEngine(SoccerScenario.model_validate(data))
        self.step = 0

    def __getitem__(self, name: str) -> Any:
        return self.engine.channels.value(self.row(), name)

    def row(self) -> np.ndarray:
        row = np.empty(self.engine.channels.width)
        self.engine.observe(row)
        return row

    def steps(self, n: int) -> Game:
        assert self.engine.advance(self.step, n, 0, np.empty((0, 0)))
        self.step += n
        return self

    def command(self, actor: str, **command: Any) -> Game:
        """Names with / as in the scenario; here written with two underscores."""
        named = {name.replace("__", "/"): value for name, value in command.items()}
        self.engine.inputs[self.engine.robot_inputs(actor)] = self.engine.resolve_command(actor, named)
        return self

    def match(self, command: Mapping[str, Any]) -> Game:
        self.engine.inputs[self.engine.robot_inputs("match")] = self.engine.resolve_command("match", command)
        return self

    def drive(self, rng: np.random.Generator) -> Game:
        """All robots by random voltages."""
        for name in self.engine.names:
            left, right = rng.uniform(-VOLTS, VOLTS, 2)
            self.command(name, left__voltage=left, right__voltage=right)
        return self

    def state(self) -> dict[str, bytes]:
        return {name: array.tobytes() for name, array in self.engine.state_arrays().items()}

    def overlapping(self) -> int:
        return int(kernel.overlaps(self.engine.model, self.engine.state, np.empty((64, 2), dtype=np.int64)))

    def balance(self) -> float:
        """Kinetic energy less all that came and went since the start [J]."""
        kinetic, motors, friction, impacts, placed = self["match/energy"]
        return float(kinetic - (motors - friction - impacts + placed))

    def refusal(self, actor: str, command: Mapping[str, Any]) -> list[str]:
        before = self.state()
        with pytest.raises(InputError) as caught:
            self.engine.resolve_command(actor, command)
        assert self.state() == before, "what is refused changes nothing"
        return [str(problem) for problem in caught.value.problems]
