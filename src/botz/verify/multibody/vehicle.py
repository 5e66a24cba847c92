"""VIVI as a body of MuJoCo with the vehicle's wheels as a force element, against the engine `vehicle` itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from botz.engines.multibody.engine import MultibodyEngine
from botz.scenario.load import load_robot
from botz.scenario.multibody.schema import MultibodyScenario
from botz.scenario.vehicle.schema import Vehicle
from botz.verify.checks import EPS, FAST, FULL, Check, Result, close, make
from botz.verify.rig import SoloRig
from botz.verify.vehicle.rig import GRAVITY, Data, plane, rig, vivi

STEPS = (2e-4, 1e-4, 5e-5)
"""Of the runs that are compared: h, h/2, h/4 [s]."""
STEP = STEPS[1]
"""The one that the bound is stated at."""
SAMPLE = 0.05
"""Time between two poses that are compared [s]."""
SEED = 8608
GROUNDS: dict[str, Data] = {
    "level ground": plane(0.0),
    "rough ground (ISO 8608 D)": {
        "type": "rough", "iso_class": "D", "x": [-3, 3], "y": [-3, 3], "resolution": 0.05, "seed": SEED,
    },
}  # fmt: skip
PLAN = ((1.0, (12.0, 12.0, 12.0, 12.0)), (1.0, (4.0, 18.0, 4.0, 18.0)), (1.0, (15.0, 3.0, 15.0, 3.0)))
"""Seconds, and voltages of front left, front right, rear left, rear right: straight on, a left turn, a right turn."""


def multibody_rig(
    *,
    robot: Mapping[str, Any] | None = None,
    step: float = STEP,
    method: str = "euler",
    world: Mapping[str, Any] = {},
    **placed: Any,
) -> SoloRig[MultibodyEngine]:
    """A robot (the shipped one of this check if none is given) in engine `multibody`, called `r`."""
    data = load_robot("vivi-multibody").data if robot is None else robot
    scenario = MultibodyScenario.model_validate(
        {
            "engine": "multibody",
            "time": {"step": step, "method": method},
            "world": {"gravity": [0.0, 0.0, -GRAVITY], **world},
            "robots": {"r": {**data, **placed}},
        }
    )
    return SoloRig(MultibodyEngine(scenario))


@dataclass(frozen=True)
class Way:
    """Poses of a run, one each SAMPLE seconds."""

    places: np.ndarray
    """(samples, 3) [m]."""
    turns: np.ndarray
    """Quaternions w, x, y, z, w ≥ 0: (samples, 4). Twice the distance of two is the angle between them, near 0."""

    def of(self, part: str) -> np.ndarray:
        return self.places if part == "place" else 2.0 * self.turns


def largest(difference: np.ndarray) -> float:
    return float(np.max(np.linalg.norm(difference, axis=1)))


def driven(made: SoloRig[Any]) -> Way:
    every = round(SAMPLE / made.engine.dt)
    poses = []
    for seconds, voltages in PLAN:
        made.engine.inputs[:] = voltages
        poses.append(made.engine.channels.value(made.record(seconds, every), "r/pose"))
    found = np.concatenate(poses)
    return Way(found[:, :3], found[:, 3:] * np.where(found[:, 3:4] < 0.0, -1.0, 1.0))


@lru_cache(maxsize=64)
def way_of_vehicle(ground: str, step: float) -> Way:
    return driven(rig(vivi(), terrain=GROUNDS[ground], step=step))


@lru_cache(maxsize=64)
def way_of_body(ground: str, step: float, method: str) -> Way:
    """From where the vehicle stands at its start."""
    start = rig(vivi(), terrain=GROUNDS[ground], step=step).value("pose")
    world = {"terrain": GROUNDS[ground]}
    return driven(multibody_rig(step=step, method=method, world=world, pose=[*start[:3].tolist(), 0.0, 0.0, 0.0]))


def vivi_in_both_engines(samples: int) -> Iterator[Check]:
    """x(h) = x* + c h + m h² of a method of first order, as both engines' are: x(h) − x(h/2) = c h/2 shows how far each
    is from its limit x*, 2 |x(h) − x(h/2)|, and no more than both of these together they differ."""
    methods = ("euler", "rk4") if samples > FAST else ("euler",)
    for ground in GROUNDS:
        for method in methods:
            for part, unit in (("place", "m"), ("attitude", "rad")):
                name = f"VIVI's wheels on a MuJoCo body, {ground}, {method}: {part} [{unit}]"
                ways = [way_of_vehicle(ground, step).of(part) for step in STEPS]
                bodies = [way_of_body(ground, step, method).of(part) for step in STEPS]
                bound = 2.0 * (largest(ways[1] - ways[2]) + largest(bodies[1] - bodies[2]))
                why = f"Bound 2 (d_V + d_M) at h = {STEP:g} s, d how far each engine's own run moves with h/2."
                yield close(name, 0.0, largest(ways[1] - bodies[1]), bound, why)
                # X = 2 x(h/2) − x(h) = x* − m h²/2, and x(h) − 3 x(h/2) + 2 x(h/4) = 3/8 m h².
                limits = [2.0 * found[1] - found[0] for found in (ways, bodies)]
                rest = sum(largest(found[0] - 3.0 * found[1] + 2.0 * found[2]) for found in (ways, bodies))
                why = "Limits 2 x(h/2) − x(h), each known to m h²/2 = 4/3 |x(h) − 3 x(h/2) + 2 x(h/4)|."
                yield close(f"{name}, limit of short steps", 0.0, largest(limits[0] - limits[1]), 4 / 3 * rest, why)


SPIN = (0.6, -0.4, 1.1)
"""Angular velocity of the free flight at its start, in the body's axes [rad/s]."""
VOLTAGES = (24.0, -12.0, 18.0, 6.0)


@dataclass(frozen=True)
class Flight:
    drift: float
    """Change of the angular momentum of chassis and wheels, at most [N·m·s]."""
    size: float
    """Of both parts' momenta, added up, at most [N·m·s]."""
    passed: float
    """All that went over from the chassis to its wheels, either way [N·m·s]."""
    rate: float
    """Of the chassis, at most [rad/s]."""
    change: float
    """All changes of its angular velocity, added up [rad/s]."""


def free_flight(step: float, method: str, seconds: float) -> Flight:
    """The motors start up where nothing is touched and no weight pulls."""
    made = multibody_rig(
        step=step, method=method, world={"ground": False, "gravity": [0.0, 0.0, 0.0]}, angular_velocity=list(SPIN)
    )
    made.engine.inputs[:] = VOLTAGES
    rows = np.vstack([made.row(), made.record(seconds, round(1e-3 / step))])
    wheels = cast(Vehicle, load_robot("vivi").spec).wheels
    spin = made.value("r/twist", rows)[:, 3:]
    chassis = spin * np.asarray(load_robot("vivi-multibody").data["links"]["chassis"]["inertia"])
    each = [one.inertia * (made.value(f"r/wheels/{name}/speed", rows) + spin[:, 1]) for name, one in wheels.items()]
    held = np.sum(each, axis=0)
    chassis[:, 1] += held
    turned = in_world(made.value("r/pose", rows)[:, 3:], chassis)
    return Flight(
        drift=largest(turned - turned[0]),
        size=float(np.max(np.linalg.norm(chassis, axis=1) + np.abs(held))),
        passed=float(np.sum(np.abs(np.diff(held)))),
        rate=float(np.max(np.linalg.norm(spin, axis=1))),
        change=float(np.sum(np.linalg.norm(np.diff(spin, axis=0), axis=1))),
    )


def in_world(quat: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """v + 2 w (u×v) + 2 u×(u×v) of quaternions (w, u)."""
    w, u = quat[:, :1], quat[:, 1:]
    once = np.cross(u, vectors)
    return np.asarray(vectors + 2.0 * w * once + 2.0 * np.cross(u, once))


def motors_in_free_flight(samples: int) -> Iterator[Check]:
    """d/dt[J Ω + Σ I ω t] = 0 where no wheel touches: what motors give their wheels they take from the chassis, and
    what spins along with it is turned by it."""
    seconds = 1.0
    found = free_flight(STEP, "euler", seconds)
    bound = STEP * found.rate * (found.rate * found.size * seconds + found.passed)
    why = "Euler's method errs by h² Ω (Ω L + τ) a step at most."
    yield close("motors in free flight, euler: angular momentum [N·m·s]", 0.0, found.drift, bound, why)
    found = free_flight(STEP, "rk4", seconds)
    bound = STEP**2 / 12.0 * found.rate * found.change * found.size + seconds / STEP * EPS * found.size
    why = "MuJoCo turns by the mean of four rates, which leaves out h³/12 Ω×Ω̇ a step; rounding, eps L a step."
    yield close("motors in free flight, rk4: angular momentum [N·m·s]", 0.0, found.drift, bound, why)


def weight_on_the_wheels(samples: int) -> Check:
    """Σ N = m g at rest, after the springs have settled from a drop of 2 cm."""
    seconds, weight = 3.0, 40.0 * GRAVITY
    made = multibody_rig(pose=[0.0, 0.0, 0.165, 0.0, 0.0, 0.0]).run(seconds)
    loads = [made.value(f"r/wheels/{name}/load") for name in cast(Vehicle, load_robot("vivi").spec).wheels]
    tolerance = weight * (2.0 * np.exp(-10.0 * (seconds - 0.1)) + seconds / STEP * EPS)
    why = "800 N·s/m under 40 kg: from 0.1 s on twice the weight decays with e^{−10 t}; a rounding each step."
    return close("VIVI at rest on a MuJoCo body: loads [N]", weight, sum(loads), tolerance, why)


FUNCTIONS: tuple[Callable[[int], Result], ...] = (vivi_in_both_engines, motors_in_free_flight, weight_on_the_wheels)
"""Each takes the number of random samples, of which there are none here: more of them mean more methods."""


def checks(full: bool) -> list[Check]:
    return [check for function in FUNCTIONS for check in make(function, FULL if full else FAST)]
