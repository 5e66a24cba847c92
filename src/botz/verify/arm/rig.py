"""Arms to verify with: the shipped ones and random ones, put anywhere, in gravity of any direction, with tool, payload
and water of all kinds."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import PlacedArm
from botz.scenario.arm.world import Water
from botz.scenario.load import load_robot
from botz.verify.arm.reference import Chain
from botz.verify.checks import EPS

Data = dict[str, Any]

GRAVITY = 9.80665
SHIPPED = ("titan4", "puma560")
CHAINS = ("RPRRPR", "PRR", "RRPRRRR", "P", "PPPRRR")
"""Turning and sliding joints of random chains."""
PLACES = 5
"""Bases, tools, payloads and directions of gravity of a shipped arm."""
MOST = 10_000
"""Random states beyond which nothing new shows."""
SUMS = 1000 * EPS
"""What sums over six links, some hundred products each, lose by rounding, relative to the largest of their results."""
NO_FRICTION: Data = {"viscous": 0.0, "coulomb": 0.0}


@cache
def _library(name: str) -> Data:
    data = copy.deepcopy(load_robot(name).data)
    data.pop("joint")
    return data


def shipped(name: str, *, friction: bool = True) -> Data:
    """An arm of the library, as a scenario has it."""
    data = copy.deepcopy(_library(name))
    if not friction:
        without_friction(data)
    return data


def without_friction(data: Data) -> Data:
    for joint in data["joints"].values():
        joint["friction"] = {**joint.get("friction", {}), **NO_FRICTION}
    return data


def floats(values: Any) -> list[float]:
    return [float(value) for value in values]


def random_turn(rng: np.random.Generator) -> np.ndarray:
    """Any rotation, all alike."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return np.asarray(q * np.linalg.det(q))


def random_body(rng: np.random.Generator, mass: float, size: float) -> Data:
    """A box of random edges up to `size`, turned anyhow and off its frame's origin."""
    edges = rng.uniform(0.3, 1.0, 3) * size
    turn = random_turn(rng)
    inertia = turn @ np.diag(mass / 12.0 * (edges @ edges - edges**2)) @ turn.T
    entries = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return {"mass": mass, "centre": floats(rng.uniform(-size, size, 3)), "inertia": floats(entries)}


def random_arm(rng: np.random.Generator, kinds: str) -> Data:
    """A chain of random rows and bodies: R turns, P slides."""
    joints: Data = {}
    for k, kind in enumerate(kinds):
        joints[f"j{k}"] = {
            "type": "revolute" if kind == "R" else "prismatic",
            "alpha": float(rng.uniform(-np.pi, np.pi)),
            "a": float(rng.uniform(-0.5, 0.5)),
            "d": float(rng.uniform(-0.5, 0.5)),
            "theta": float(rng.uniform(-np.pi, np.pi)),
            "rotor_inertia": float(rng.uniform(0.0, 0.5)),
            **random_body(rng, float(rng.uniform(0.5, 10.0)), 0.3),
        }
    return {"engine": "arm", "joints": joints}


def put_anywhere(rng: np.random.Generator, data: Data) -> Data:
    """A random base, tool and payload."""
    data["pose"] = floats([*rng.uniform(-2.0, 2.0, 3), *rng.uniform(-np.pi, np.pi, 3)])
    data["tool"] = {
        **data.get("tool", {}),
        "position": floats(rng.uniform(-0.3, 0.3, 3)),
        "attitude": floats(rng.uniform(-np.pi, np.pi, 3)),
    }
    data["payload"] = random_body(rng, float(rng.uniform(0.5, 20.0)), 0.2)
    return data


def in_water(rng: np.random.Generator, data: Data) -> Data:
    """Random volumes and drag areas."""
    for joint in data["joints"].values():
        joint["water"] = {
            "volume": float(rng.uniform(0.0, 0.01)),
            "centre": floats(rng.uniform(-0.3, 0.3, 3)),
            "drag_area": floats(rng.uniform(0.0, 0.2, 3)),
        }
    return data


@dataclass
class Case:
    """An arm as the package computes with it, and by the equations in plain NumPy."""

    arm: SerialArm
    chain: Chain

    @property
    def n(self) -> int:
        return self.arm.n


def case(data: Data, gravity: Sequence[float], water: Water | None = None) -> Case:
    robot = PlacedArm.model_validate(data)
    return Case(SerialArm(robot, gravity=gravity, water=water), Chain.of(robot, gravity, water))


def still(data: Data, gravity: Sequence[float] = (0.0, 0.0, -GRAVITY), water: Water | None = None) -> Case:
    """An arm on its feet at the origin."""
    return case(data, gravity, water)


def random_gravity(rng: np.random.Generator) -> list[float]:
    direction = rng.normal(size=3)
    return floats(rng.uniform(1.0, 20.0) * direction / np.linalg.norm(direction))


@dataclass(frozen=True)
class States:
    """Random joint positions anywhere, speeds, accelerations, and wrenches at the tool."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    wrench: np.ndarray

    @classmethod
    def random(cls, rng: np.random.Generator, count: int, n: int) -> States:
        return cls(
            q=rng.uniform(-np.pi, np.pi, (count, n)),
            qd=2.0 * rng.normal(size=(count, n)),
            qdd=5.0 * rng.normal(size=(count, n)),
            wrench=rng.normal(size=(count, 6)) * [100.0, 100.0, 100.0, 20.0, 20.0, 20.0],
        )


def cases(
    rng: np.random.Generator, *, friction: bool = False, water: bool = False, chains: Sequence[str] = CHAINS
) -> Iterator[tuple[str, list[Case]]]:
    """Both arms and random chains, each several times over: with other bases, tools, payloads and gravity."""

    def placed(data: Data) -> Case:
        put_anywhere(rng, data)
        if water:
            in_water(rng, data)
        current = floats(rng.normal(size=3)) if water else [0.0, 0.0, 0.0]
        return case(data, random_gravity(rng), Water(density=1025.0, current=current) if water else None)

    for name in SHIPPED:
        yield name, [placed(shipped(name, friction=friction)) for _ in range(PLACES)]
    if chains:
        yield "sliding joints", [placed(random_arm(rng, kinds)) for kinds in chains]


Errors = dict[str, np.ndarray]


def largest(
    samples: int, rng: np.random.Generator, several: Sequence[Case], compare: Callable[[Case, States], Errors]
) -> dict[str, float]:
    """The largest error of each kind over random states, shared out among the cases; NaN where there is one."""
    count = max(min(samples, MOST) // len(several), 3)
    found: dict[str, float] = {}
    for one in several:
        for name, errors in compare(one, States.random(rng, count, one.n)).items():
            found[name] = float(np.maximum(found.get(name, 0.0), np.max(errors)))
    return found


def by_state(found: np.ndarray, expected: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """Largest error of each state's numbers, relative to the largest of them, or to a given scale."""
    axes = tuple(range(1, np.ndim(expected)))
    size = np.abs(expected).max(axis=axes) if scale is None else scale
    return np.asarray(np.abs(found - expected).max(axis=axes) / size)
