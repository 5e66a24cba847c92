"""Multibody robots to verify with: shipped ones, and small ones written in place; runs of both, and whole flights."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, sin
from pathlib import Path
from typing import Any, Self

import mujoco
import numpy as np

from botz.control.base import ControllerSetup, Measured
from botz.control.registry import build
from botz.engines.multibody.engine import MultibodyEngine
from botz.scenario.load import load, load_robot
from botz.scenario.multibody.schema import MultibodyScenario
from botz.verify.rig import SoloRig

Data = dict[str, Any]

GRAVITY, DENSITY = 9.81, 1.225
"""Of the world where nothing else is said [m/s², kg/m³]."""
CORNERS = ("front_left", "front_right", "rear_left", "rear_right")
SENSES = {"front_left": -1.0, "front_right": 1.0, "rear_left": 1.0, "rear_right": -1.0}
"""Of Lophorina's propellers about their axes."""
WEIGHTLESS: Data = {"gravity": [0.0, 0.0, 0.0], "ground": False}
FREE: Data = {"ground": False}


class Run(SoloRig[MultibodyEngine]):
    def command(self, commands: Mapping[str, float]) -> Self:
        """By local name: {"turn/position": 1.0}."""
        self.engine.inputs[self.engine.robot_inputs("r")] = self.engine.resolve_command("r", commands)
        return self

    def of(self, name: str, rows: np.ndarray | None = None) -> Any:
        """A channel of the robot, now or of recorded rows."""
        return self.value(f"r/{name}", rows)

    def momentum(self) -> np.ndarray:
        """Angular momentum of the whole robot about its centre of mass, by MuJoCo (3) [kg·m²/s]."""
        self.row()
        mujoco.mj_subtreeVel(self.engine.model, self.engine.data)
        return self.engine.data.subtree_angmom[self._root].copy()

    def centre(self) -> np.ndarray:
        """Centre of mass of the whole robot (3) [m]."""
        self.row()
        return self.engine.data.subtree_com[self._root].copy()

    def energy(self) -> float:
        """Kinetic and potential, by MuJoCo [J]."""
        self.row()
        mujoco.mj_energyPos(self.engine.model, self.engine.data)
        mujoco.mj_energyVel(self.engine.model, self.engine.data)
        return float(self.engine.data.energy.sum())

    @property
    def _root(self) -> int:
        return int(self.engine.tables.robots["body"][0])


@cache
def _library(name: str) -> Data:
    robot = load_robot(name)
    data = copy.deepcopy(dict(robot.data))
    if data["file"] is not None:
        data["file"] = str(Path(robot.file).parent / data["file"])
    return data


def shipped(name: str, **changes: Any) -> Data:
    """A robot of the library, as a scenario has it."""
    return {**copy.deepcopy(_library(name)), **changes}


def lophorina(*, thrust: bool = True, **changes: Any) -> Data:
    """As it is shipped; or with propellers that spin and push nothing, so that nothing acts from outside."""
    data = shipped("lophorina", **changes)
    if not thrust:
        data["elements"] = {
            f"rotor_{corner}": {"type": "propeller", "joint": f"spin_{corner}", "coefficient": 0.0}
            for corner in CORNERS
        }
    return data


def spins(speed: float, *, alike: bool = False) -> dict[str, float]:
    """Speeds of Lophorina's propellers, each in its own sense or all about +z."""
    return {f"spin_{corner}": speed * (1.0 if alike else SENSES[corner]) for corner in CORNERS}


def run_of(
    robot: Mapping[str, Any],
    *,
    step: float = 2.5e-4,
    method: str = "rk4",
    world: Mapping[str, Any] = FREE,
    seed: int = 0,
    **placed: Any,
) -> Run:
    """A robot `r` in a world without ground, unless the world says otherwise; `placed`: pose, velocity, start …"""
    scenario = MultibodyScenario.model_validate(
        {
            "engine": "multibody",
            "time": {"step": step, "method": method},
            "world": dict(world),
            "robots": {"r": {**robot, **placed}},
        }
    )
    engine = MultibodyEngine(scenario)
    engine.reset(np.random.default_rng(seed))
    return Run(engine)


def link(mass: float, inertia: Sequence[float] | None = None, **more: Any) -> Data:
    return {"mass": mass, "inertia": [float(one) for one in inertia or (0.01, 0.01, 0.01)], **more}


def joint(kind: str, parent: str, child: str, **more: Any) -> Data:
    return {"type": kind, "parent": parent, "child": child, **more}


def one_body(mass: float = 1.0, inertia: Sequence[float] | None = None, **robot: Any) -> Data:
    """A single rigid body, called `body`."""
    return {"links": {"body": link(mass, inertia)}, **robot}


def turntable(inertia: float, actuator: Mapping[str, Any], **jointed: Any) -> Data:
    """A balanced body that turns about z on a base that stands fast."""
    kind = "revolute" if "range" in jointed else "continuous"
    return {
        "base": "fixed",
        "links": {"base": link(1.0), "table": link(1.0, [inertia, inertia, inertia])},
        "joints": {"turn": joint(kind, "base", "table", **jointed)},
        "actuators": {"turn": dict(actuator)},
    }


# --- turns -----------------------------------------------------------------------------------------------------------


def about(axis: int, angle: float) -> np.ndarray:
    """A turn about x, y or z."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    found = np.eye(3)
    found[i, i] = found[j, j] = cos(angle)
    found[i, j], found[j, i] = -sin(angle), sin(angle)
    return found


def attitude(roll: float, pitch: float, yaw: float) -> np.ndarray:
    return about(2, yaw) @ about(1, pitch) @ about(0, roll)


# --- whole flights, with their controllers ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Flight:
    """A shipped scenario from its beginning, a row at every update of its controller."""

    engine: MultibodyEngine
    robot: str
    times: np.ndarray
    rows: np.ndarray
    commands: np.ndarray
    """Raw inputs that hold until the row's time, a row each."""

    def of(self, name: str) -> Any:
        return self.engine.channels.value(self.rows, f"{self.robot}/{name}")

    def at(self, time: float) -> int:
        """The row nearest to a time."""
        return int(np.argmin(np.abs(self.times - time)))

    def commanded(self, name: str) -> np.ndarray:
        return np.asarray(self.engine.inputs_table.value(self.commands, f"{self.robot}/{name}"))


@cache
def flight(name: str, *overrides: str, every_step: bool = False) -> Flight:
    """A scenario of the library, flown to its end; once, whoever looks at it."""
    spec = load(name, overrides=overrides).spec
    assert isinstance(spec, MultibodyScenario)
    return fly(spec, every_step=every_step)


def fly(spec: MultibodyScenario, *, every_step: bool = False) -> Flight:
    """A row whenever its controller looks, or each step."""
    engine = MultibodyEngine(spec)
    engine.reset(np.random.default_rng(spec.seed))
    [robot], [controller] = list(spec.robots), list(spec.controllers.values())
    pilot = build(controller, allow_user_code=False)
    inputs = tuple(engine.inputs_table.of_robot(robot))
    pilot.reset(ControllerSetup(robot, 1.0 / controller.rate, np.random.default_rng(0), inputs, engine))
    between = round(1.0 / controller.rate / engine.dt)
    updates = round(spec.time.duration * controller.rate)
    apart = 1 if every_step else between
    each = between // apart
    rows = np.zeros((updates * each + 1, engine.channels.width))
    commands = np.zeros((updates * each + 1, engine.inputs_table.width))
    engine.observe(rows[0])
    for k in range(updates):
        command = pilot.update(k * between * engine.dt, Measured(engine.channels, rows[k * each], robot))
        if command is not None:
            engine.inputs[engine.robot_inputs(robot)] = engine.resolve_command(robot, command)
        here = slice(k * each + 1, (k + 1) * each + 1)
        commands[here] = engine.inputs
        if not engine.advance(k * between, between, apart, rows[here]):
            raise ArithmeticError(f"the flight diverges at {k * between * engine.dt:g} s")
    return Flight(engine, robot, np.arange(len(rows)) * apart * engine.dt, rows, commands)
