"""Matches to verify with: robots of random parameters, placed and pushed at will; and their equations in plain NumPy.

Nothing here asks the engine for M or B: the matrices come from the source's eqs. 4 to 7.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from botz.engines.soccer.engine import SoccerEngine
from botz.engines.soccer.state import put
from botz.scenario.load import load_robot
from botz.scenario.soccer.schema import SoccerScenario
from botz.verify.rig import EngineRig

Data = dict[str, Any]
Pair = tuple[float, float]
"""Restitution and friction."""

KINDS = ("ball_wall", "robot_wall", "robot_ball", "robot_robot")
SLOW = 1e-20
"""Stall torque of motors that neither drive nor brake [N·m]: what they take in a step is far below rounding."""
HUGE: Data = {"length": 900.0, "width": 900.0, "goal_width": 0.4}
"""A field whose walls nobody reaches."""
ELASTIC: Mapping[str, Pair] = dict.fromkeys(KINDS, (1.0, 0.0))


# --- robots ----------------------------------------------------------------------------------------------------------


def shipped() -> Data:
    data = copy.deepcopy(load_robot("soccer-robot").data)
    data.pop("wheel", None)
    return data


def free_robot(**changes: Any) -> Data:
    """The shipped robot on motors that do nothing: it rolls on for ever."""
    data = {**shipped(), **changes}
    for wheel in data["wheels"].values():
        wheel["motor"]["stall_torque"] = SLOW
    return data


def random_robot(rng: np.random.Generator, *, free: bool = False, gain: float = 0.0) -> Data:
    """Two wheels and two motors that have nothing in common; `free`: motors that do nothing."""
    side = float(rng.uniform(0.05, 0.12))

    def wheel() -> Data:
        motor = {
            "voltage": float(rng.uniform(3.0, 24.0)),
            "no_load_speed": float(rng.uniform(20.0, 120.0)),
            "stall_torque": SLOW if free else float(10.0 ** rng.uniform(-1.7, -0.7)),
            "rotor_inertia": float(10.0 ** rng.uniform(-7.0, -5.0)),
            "friction": 0.0 if free else float(10.0 ** rng.uniform(-6.0, -4.0)),
        }
        return {"radius": float(rng.uniform(0.01, 0.04)), "mass": float(rng.uniform(0.0, 0.05)), "motor": motor}

    return {
        "engine": "soccer",
        "side": side,
        "mass": float(rng.uniform(0.05, 1.0)),
        "inertia": None if rng.random() < 0.5 else float(10.0 ** rng.uniform(-4.0, -2.5)),
        "track": side * float(rng.uniform(0.5, 1.0)),
        "wheels": {"left": wheel(), "right": wheel()},
        "linear_friction": 0.0 if free else float(rng.uniform(0.0, 0.3)),
        "turning_friction": 0.0 if free else float(rng.uniform(0.0, 3e-4)),
        "speed_control": {"gain": gain},
    }


@dataclass(frozen=True)
class Model:
    """K e = M v̇ + B v of a robot, v = (v, ω), e = (left, right), by the source's matrices."""

    mass: np.ndarray
    drag: np.ndarray
    push: np.ndarray
    to_wheels: np.ndarray
    """From (v, ω) to the wheels' speeds (left, right): the inverse of eq. 1."""

    @property
    def inverse(self) -> np.ndarray:
        return np.linalg.inv(self.mass)

    def steady(self, voltages: Sequence[float] | np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.solve(self.drag, self.push @ np.asarray(voltages)))

    def rates(self, gain: float = 0.0) -> np.ndarray:
        """Eigenvalues of M⁻¹B, with speed control as further damping."""
        drag = self.drag + gain * self.push @ np.diag(self.constants) @ self.to_wheels
        return np.asarray(np.linalg.eigvals(np.linalg.solve(self.mass, drag)).real)

    constants: np.ndarray
    """K of the motors, left and right [V·s/rad]."""

    def after(self, start: np.ndarray, voltages: Sequence[float], time: float) -> np.ndarray:
        """v(t) = v_∞ + exp(−M⁻¹B t)(v₀ − v_∞), by eigenvalues."""
        settled = self.steady(voltages)
        values, vectors = np.linalg.eig(np.linalg.solve(self.mass, self.drag))
        share = np.linalg.solve(vectors, start - settled)
        return np.asarray((settled + vectors @ (np.exp(-values * time) * share)).real)

    def energy(self, u: np.ndarray) -> float:
        return float(0.5 * u @ self.mass @ u)


def model_of(robot: Mapping[str, Any]) -> Model:
    """Eqs. 4 to 7 as matrix products."""
    wheels = [robot["wheels"][side] for side in ("left", "right")]
    radius = np.array([wheel["radius"] for wheel in wheels])
    masses = np.array([wheel["mass"] for wheel in wheels])
    constants = np.array([wheel["motor"]["voltage"] / wheel["motor"]["no_load_speed"] for wheel in wheels])
    stall = np.array([wheel["motor"]["stall_torque"] for wheel in wheels])
    volts = np.array([wheel["motor"]["voltage"] for wheel in wheels])
    resistance = constants * volts / stall
    rotor = np.array([wheel["motor"].get("rotor_inertia", 0.0) for wheel in wheels])
    friction = np.array([wheel["motor"].get("friction", 0.0) for wheel in wheels])
    half = 0.5 * robot["track"]
    to_wheels = np.array([[1.0, -half], [1.0, half]]) / radius[:, None]
    inertia = robot.get("inertia")
    if inertia is None:
        inertia = robot["mass"] * robot["side"] ** 2 / 6.0 + masses.sum() * half**2
    body = np.diag([robot["mass"] + masses.sum(), inertia])
    own_drag = np.diag([robot.get("linear_friction", 0.0), robot.get("turning_friction", 0.0)])
    spinning = np.diag(0.5 * masses * radius**2 + rotor)
    braking = np.diag(constants**2 / resistance + friction)
    return Model(
        mass=body + to_wheels.T @ spinning @ to_wheels,
        drag=own_drag + to_wheels.T @ braking @ to_wheels,
        push=to_wheels.T @ np.diag(constants / resistance),
        to_wheels=to_wheels,
        constants=constants,
    )


# --- matches ---------------------------------------------------------------------------------------------------------


class Rig(EngineRig[SoccerEngine]):
    """A match whose bodies are put wherever a check wants them."""

    @property
    def names(self) -> list[str]:
        return self.engine.names

    def reset(self) -> Self:
        """Robots out of play and without voltage, the ball at rest where it starts, nothing counted."""
        self.engine.reset(np.random.default_rng(0))
        self.engine.state.robots["playing"] = 0.0
        self.done = 0
        return self

    def robot(self, index: int, pose: Sequence[float] | np.ndarray, v: float = 0.0, w: float = 0.0) -> Self:
        state = self.engine.state
        put(state.robots[index], *pose)
        state.robots[index].playing = 1.0
        state.speeds[index].u0, state.speeds[index].u1 = v, w
        state.match[0].drift = np.inf  # whoever was its neighbour is not any more
        return self

    def ball(self, x: float, y: float, vx: float = 0.0, vy: float = 0.0) -> Self:
        state = self.engine.state
        state.match[0].ball_x, state.match[0].ball_y = x, y
        state.speeds[-1].u0, state.speeds[-1].u1 = vx, vy
        return self

    def voltages(self, index: int, left: float, right: float) -> Self:
        self.engine.inputs[5 * index : 5 * index + 5] = [left, right, 0.0, 0.0, 0.0]
        return self

    def wheel_speeds(self, index: int, left: float, right: float) -> Self:
        self.engine.inputs[5 * index : 5 * index + 5] = [0.0, 0.0, left, right, 1.0]
        return self

    def command(self, actor: str, **command: Any) -> Self:
        """Names with `_at_` for a slash, as `ball_at_place`."""
        given = {name.replace("_at_", "/"): value for name, value in command.items()}
        self.engine.inputs[self.engine.robot_inputs(actor)] = self.engine.resolve_command(actor, given)
        return self

    def record(self, n: int, rows: np.ndarray | None = None) -> np.ndarray:
        """`n` steps, and a row of all channels after each; rows that were not reached stay NaN."""
        if rows is None:
            rows = np.empty((n, self.engine.channels.width))
        rows[:] = np.nan
        self.engine.advance(self.done, n, 1, rows)
        self.done += n
        return rows

    def speeds(self, index: int) -> np.ndarray:
        """(v, ω) of a robot, now."""
        return np.asarray(self.value(f"{self.names[index]}/twist")[[0, 2]])


def match(
    robots: Sequence[Mapping[str, Any]],
    *,
    step: float = 1e-3,
    method: str = "euler",
    field: Mapping[str, Any] = {},
    ball: Mapping[str, Any] = {},
    pairs: Mapping[str, Pair] = {},
    model: str = "rigid",
    after_goal: str = "continue",
    spacing: float = 1.6,
) -> Rig:
    """A match between these robots, out of play until a check puts them somewhere; `spacing` in sides, at first."""
    size = SoccerScenario.model_fields["world"].default.field.model_copy(update=dict(field))
    placed: Data = {}
    gap = spacing * max(robot["side"] for robot in robots)
    room = size.length - 2.0 * size.corner
    per_row = max(int(room / gap) - 1, 1)
    for index, robot in enumerate(robots):
        # In rows from the lower side on: only to begin with, since checks put them elsewhere.
        place = [-0.5 * room + gap * (1 + index % per_row), -0.5 * size.width + gap * (1 + index // per_row), 0.0]
        placed[f"r{index}"] = {**robot, "team": "blue" if index % 2 == 0 else "yellow", "pose": place}
    impacts: Data = {kind: {"restitution": one[0], "friction": one[1]} for kind, one in pairs.items()}
    scenario = SoccerScenario.model_validate(
        {
            "engine": "soccer",
            "time": {"step": step, "method": method},
            "world": {"field": dict(field), "ball": dict(ball), "impacts": {"model": model, **impacts}},
            "match": {"after_goal": after_goal},
            "robots": placed,
        }
    )
    return Rig(SoccerEngine(scenario)).reset()
