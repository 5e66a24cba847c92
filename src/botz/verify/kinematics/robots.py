"""Robots to verify with: the shipped ones, and small ones written in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from botz.engines.kinematics.engine import KinematicsEngine
from botz.physics.wheels import constraints as wc
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario import library
from botz.scenario.kinematics.schema import KinematicsScenario, WheeledRobot
from botz.scenario.layers import document


def shipped_robots() -> dict[str, WheeledRobot]:
    """Every robot file of this family, by its name as a robot of a scenario: `four_steer` for four-steer.yaml."""
    names = [entry.name for entry in library.list_robots() if entry.engine == "kinematics"]
    return {
        name.replace("-", "_"): WheeledRobot.model_validate(document(library.find("robot", name), "robot").plain())
        for name in names
    }


def robot(wheels: Mapping[str, Mapping[str, Any]], **groups: Any) -> WheeledRobot:
    return WheeledRobot.model_validate({"wheels": {name: dict(wheel) for name, wheel in wheels.items()}, **groups})


def model_of(wheels: Mapping[str, Mapping[str, Any]], **groups: Any) -> WheeledRobotModel:
    return WheeledRobotModel(robot(wheels, **groups))


def differential(
    *,
    track: float = 0.4,
    radius: tuple[float, float] = (0.05, 0.05),
    castor: Mapping[str, Any] | None = None,
    **wheel: Any,
) -> WheeledRobot:
    """Two driven wheels, right and left of the origin; `radius` is (right, left)."""
    wheels: dict[str, dict[str, Any]] = {
        "right": {"type": "fixed", "position": [0.0, -track / 2], "radius": radius[0], "driven": True, **wheel},
        "left": {"type": "fixed", "position": [0.0, track / 2], "radius": radius[1], "driven": True, **wheel},
    }
    if castor is not None:
        wheels["castor"] = {"type": "castor", **castor}
    return robot(wheels)


def bicycle(*, base: float = 1.0, rate: float | None = None, radius: float = 0.3) -> WheeledRobot:
    """Driven rear wheel at the origin, steered front wheel."""
    return robot(
        {
            "rear": {"type": "fixed", "position": [0.0, 0.0], "radius": radius, "driven": True},
            "front": {"type": "steered", "position": [base, 0.0], "radius": radius, "rate": rate},
        }
    )


def ackermann(*, base: float = 1.0, track: float = 0.6, radius: float = 0.2, limit: float = 1.4) -> WheeledRobot:
    """Rear axle through the origin, driven through a differential gear; steered front wheels."""
    driven = {"type": "fixed", "radius": radius, "driven": True}
    steered = {"type": "steered", "radius": radius}
    return robot(
        {
            "rear_left": {**driven, "position": [0.0, track / 2]},
            "rear_right": {**driven, "position": [0.0, -track / 2]},
            "front_left": {**steered, "position": [base, track / 2]},
            "front_right": {**steered, "position": [base, -track / 2]},
        },
        drives={"engine": {"wheels": ["rear_left", "rear_right"], "coupling": "differential"}},
        steering={"front": {"wheels": ["front_left", "front_right"], "coupling": "ackermann", "limit": limit}},
    )


def skid_steer(*, half_base: float, half_track: float, radius: float = 0.1) -> WheeledRobot:
    """Four driven wheels, none of them steered."""
    return robot(
        {
            name: {
                "type": "fixed", "radius": radius, "driven": True, "position": [sx * half_base, sy * half_track],
            }
            for name, sx, sy in (("fl", 1, 1), ("fr", 1, -1), ("rl", -1, 1), ("rr", -1, -1))
        }
    )  # fmt: skip


def engine_of(
    robots: Mapping[str, WheeledRobot] | WheeledRobot,
    *,
    step: float = 0.001,
    method: str = "arc",
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0),
    odometry_rate: float = 100.0,
    seed: int = 0,
) -> KinematicsEngine:
    """An engine with these robots (a single one is called `r`), all at the same start."""
    many = {"r": robots} if isinstance(robots, WheeledRobot) else robots
    placed = {
        name: {**one.model_dump(exclude_unset=True), "pose": pose, "odometry_rate": odometry_rate}
        for name, one in many.items()
    }
    scenario = KinematicsScenario.model_validate(
        {"engine": "kinematics", "time": {"step": step, "method": method}, "robots": placed}
    )
    engine = KinematicsEngine(scenario)
    engine.reset(np.random.default_rng(seed))
    return engine


def rollout(engine: KinematicsEngine, steps: int, *, every: int = 0, start: int = 0) -> np.ndarray:
    """Takes steps with the present inputs; the recorded rows, or the last one alone when `every` is 0."""
    kept = (start + steps) // every - start // every if every else 1
    rows = np.full((kept, engine.channels.width), np.nan)
    engine.advance(start, steps, every, rows)
    if not every:
        engine.observe(rows[0])
    return rows


def value(engine: KinematicsEngine, rows: np.ndarray, name: str) -> np.ndarray:
    return np.asarray(engine.channels.value(rows, name))


def random_inputs(rng: np.random.Generator, model: WheeledRobotModel, *, speed: float = 4.0) -> np.ndarray:
    """Motor speeds up to `speed` [rad/s] either way, steering angles within 80 % of their limits."""
    inputs = rng.uniform(-speed, speed, len(model.inputs))
    inputs[model.n_rates :] = 0.8 * np.minimum(model.group_limit, np.pi) * rng.uniform(-1.0, 1.0, model.n_steering)
    return inputs


def random_pivots(rng: np.random.Generator, model: WheeledRobotModel) -> np.ndarray:
    """A pivot angle for every castor, zero for other wheels."""
    return np.where(model.kind == wc.CASTOR, rng.uniform(-np.pi, np.pi, model.kind.size), 0.0)


def random_admissible_twist(rng: np.random.Generator, model: WheeledRobotModel) -> np.ndarray:
    """A velocity that the robot can do, chosen without asking its inverse kinematics.

    The fixed wheels' axles allow a subspace; wheels that steer in parallel, and a ball with two motors, leave the
    rotation at zero; a twist that would steer past a limit is drawn again.
    """
    fixed = np.flatnonzero(model.kind == wc.FIXED)
    conditions = [
        (-np.sin(h), np.cos(h), x * np.cos(h) + y * np.sin(h))
        for x, y, h in zip(model.x[fixed], model.y[fixed], model.heading[fixed], strict=True)
    ]
    parallel = any(group.coupling == "parallel" and len(group.wheels) > 1 for group in model.spec.steering.values())
    lone_ball = model.n_rates == 2 and bool((model.kind == wc.SPHERICAL).any()) and not fixed.size
    if parallel or lone_ball:
        conditions.append((0.0, 0.0, 1.0))
    padded = np.vstack([np.array(conditions).reshape(-1, 3), np.zeros((3, 3))])
    _, sizes, directions = np.linalg.svd(padded)
    basis = directions[sizes < 1e-9]
    for _ in range(1000):
        twist = rng.uniform(-1.0, 1.0, len(basis)) @ basis
        if all(_within_limit(model, group, twist) for group in range(model.n_steering)):
            return twist
    raise AssertionError("no admissible velocity found within the steering limits")


def _within_limit(model: WheeledRobotModel, group: int, twist: np.ndarray) -> bool:
    x, y, heading = model.group_mid[group]
    angle = np.arctan2(twist[1] + twist[2] * x, twist[0] - twist[2] * y) - heading
    return abs((angle + np.pi / 2) % np.pi - np.pi / 2) <= 0.999 * model.group_limit[group]
