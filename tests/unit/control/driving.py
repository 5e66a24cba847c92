"""A small loop for the controllers' tests: a kinematic world, one robot, one controller."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import TypeAdapter

from botz.control.base import Controller, ControllerSetup, Measured
from botz.control.registry import build
from botz.engines.kinematics.engine import KinematicsEngine
from botz.scenario import library
from botz.scenario.kinematics.schema import KinematicsController, KinematicsScenario
from botz.scenario.layers import document

SPEC = TypeAdapter(KinematicsController)


def robot_data(name: str) -> dict[str, Any]:
    """A shipped robot, with what it extends."""
    data: dict[str, Any] = document(library.find("robot", name), "robot").plain()
    return data


WHEELED = [name for name in library.names("robot") if robot_data(name).get("engine", "kinematics") == "kinematics"]
"""The shipped robots of the engine `kinematics`."""
DRIVABLE = [name for name in WHEELED if name != "skid-steer"]
"""Those that controllers can steer: all but the one whose wheels cannot roll round a curve."""


def world(robot: str | dict[str, Any], pose=(0.0, 0.0, 0.0), *, step: float = 0.01, **more: Any) -> KinematicsEngine:
    data = robot_data(robot) if isinstance(robot, str) else dict(robot)
    scenario = {
        "engine": "kinematics",
        "time": {"step": step},
        "robots": {"bot": {**data, "pose": list(pose), **more}},
    }
    return KinematicsEngine(KinematicsScenario.model_validate(scenario))


def controller_of(**spec: Any) -> Controller:
    return build(SPEC.validate_python({"robot": "bot", **spec}), allow_user_code=False)


def setup_for(engine: KinematicsEngine, period: float) -> ControllerSetup:
    inputs = tuple(engine.inputs_table.of_robot("bot"))
    return ControllerSetup("bot", period, np.random.default_rng(0), inputs, engine)


class Drive:
    """Runs a controller on an engine and keeps the poses it came through."""

    def __init__(self, engine: KinematicsEngine, controller: Controller, *, every: int = 2):
        self.engine, self.controller, self.every = engine, controller, every
        self.step = 0
        self.row = np.empty(engine.channels.width)
        self.period = every * engine.dt
        controller.reset(setup_for(engine, self.period))
        self.times: list[float] = []
        self.poses: list[np.ndarray] = []
        self.commands: list[np.ndarray] = []

    @property
    def measured(self) -> Measured:
        self.engine.observe(self.row)
        return Measured(self.engine.channels, self.row, "bot")

    def run(self, duration: float) -> Drive:
        inputs = self.engine.inputs[self.engine.robot_inputs("bot")]
        for _ in range(round(duration / self.period)):
            t = self.step * self.engine.dt
            measured = self.measured
            self.times.append(t)
            self.poses.append(measured["pose"])
            command = self.controller.update(t, measured)
            if command is not None:
                inputs[:] = self.engine.resolve_command("bot", command)
            self.commands.append(inputs.copy())
            self.engine.advance(self.step, self.every, 0, np.empty((0, self.row.size)))
            self.step += self.every
        return self

    @property
    def pose(self) -> np.ndarray:
        pose: np.ndarray = self.measured["pose"]
        return pose

    @property
    def twist(self) -> np.ndarray:
        twist: np.ndarray = self.measured["twist"]
        return twist


def pose_error(pose, goal) -> tuple[float, float]:
    """Distance [m] and angle [rad]."""
    turn = (pose[2] - goal[2] + np.pi) % (2 * np.pi) - np.pi
    return float(np.hypot(pose[0] - goal[0], pose[1] - goal[1])), abs(float(turn))
