"""The fast search for contacts and the exhaustive one (`search: plain`) find the same: on every shipped terrain, on
random ones, put anywhere and in the middle of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from botz.engines.vehicle.engine import VehicleEngine
from botz.scenario import library
from botz.scenario.load import load
from botz.scenario.vehicle.schema import VehicleScenario
from botz.transforms import quaternion_from_attitude
from botz.verify.checks import EPS, FAST, Check, worst
from botz.verify.rig import EngineRig
from botz.verify.vehicle.rig import Data, change_world, rig, vivi

TILT = np.radians(35.0)
SECONDS, BETWEEN = 0.3, 50
"""How long the runs are, and steps between two comparisons."""
VOLTAGES = {"left": 7.0, "right": 9.0}
WHY = "Each is right to its tolerance, 1e-6 of the travel"


def shipped() -> Iterator[tuple[str, VehicleEngine]]:
    """Every shipped scenario of vehicles, without its controllers."""
    for name in library.names("scenario"):
        spec = load(name).spec
        if isinstance(spec, VehicleScenario):
            scenario = spec.model_copy(update={"controllers": {}})
            engine = VehicleEngine(scenario)
            engine.reset(np.random.default_rng(scenario.seed))
            yield name, engine


def random_terrain(rng: np.random.Generator) -> Data:
    """Rough or with bumps, of any coarseness."""
    size: Data = {"x": [-4.0, 4.0], "y": [-4.0, 4.0], "resolution": float(rng.uniform(0.03, 0.2))}
    if rng.random() < 0.6:
        return {"type": "rough", "iso_class": str(rng.choice(list("ABCDEF"))), **size}
    height, radius = float(rng.uniform(0.02, 0.2)), float(rng.uniform(0.1, 0.5))
    size["resolution"] = min(size["resolution"], 0.2 * radius)  # two cells per radius at least
    shape = {"count": int(rng.integers(20, 200)), "height": [0.5 * height, height], "radius": [0.5 * radius, radius]}
    return {"type": "bumps", "clear": 0.0, **shape, **size}


def deflections(engine: VehicleEngine, exhaustive: bool) -> np.ndarray:
    """Of all wheels in the present state, by one search or the other."""
    change_world(engine, plain=exhaustive)
    engine.look()
    row = np.empty(engine.channels.width)
    engine.observe(row)
    names = [f"{robot}/{wheel}" for robot, spec in engine.scenario.robots.items() for wheel in spec.wheels]
    return np.array([engine.channels.value(row, f"{name}/deflection") for name in names])


def tolerance_of(engine: VehicleEngine) -> float:
    travel = max(w.suspension.travel for spec in engine.scenario.robots.values() for w in spec.wheels.values())
    return 2.0 * engine.scenario.world.contact.tolerance * travel + 100.0 * EPS


def put_anywhere(rng: np.random.Generator, engine: VehicleEngine) -> None:
    """Every vehicle somewhere on the ground, tilted, low enough that wheels touch."""
    ground = engine.ground
    for own, spec in zip(engine.state.robots, engine.scenario.robots.values(), strict=True):
        wheel = next(iter(spec.wheels.values()))
        # Anywhere but at the edges, in the middle third of the ground's shorter side at least.
        reach = 1.0 + max(abs(value) for one in spec.wheels.values() for value in one.position)
        reach = min(reach, (ground.x_max - ground.x_min) / 3.0, (ground.y_max - ground.y_min) / 3.0)
        x = rng.uniform(ground.x_min + reach, ground.x_max - reach)
        y = rng.uniform(ground.y_min + reach, ground.y_max - reach)
        clear = wheel.radius - wheel.position[2]
        own.x = [x, y, float(ground.height(x, y)) + clear * rng.uniform(0.6, 1.05)]
        roll, pitch = rng.uniform(-TILT, TILT, 2)
        own.quat = quaternion_from_attitude(roll, pitch, rng.uniform(-np.pi, np.pi))
        own.travelled += 10.0  # what the search remembers of other places is void


def compared(name: str, engine: VehicleEngine, rng: np.random.Generator, count: int) -> Iterator[Check]:
    """Of random poses, and along a run from the start with constant voltages."""
    start = engine.snapshot()
    gaps: list[float] = []
    touching = 0
    for _ in range(count):
        put_anywhere(rng, engine)
        fast, exhaustive = deflections(engine, False), deflections(engine, True)
        touching += int(np.sum(exhaustive > 0.0))
        gaps.append(float(np.max(np.abs(fast - exhaustive))))
    why = f"{WHY}; {touching} wheels touched."
    tolerance = tolerance_of(engine)
    case = f"both searches, {name}, {count} random poses"
    yield worst(f"{case}: deflection [m]", gaps if touching else [], tolerance, why)
    change_world(engine, plain=False)
    engine.restore(start)
    for robot, spec in engine.scenario.robots.items():
        volts: dict[str, Any] = {
            f"{one}/voltage": VOLTAGES["right" if "right" in one else "left"] for one in spec.motors
        }
        engine.inputs[engine.robot_inputs(robot)] = engine.resolve_command(robot, volts)
    run, gaps, touching = EngineRig(engine), [], 0
    for _ in range(round(SECONDS / engine.dt) // BETWEEN):
        run.steps(BETWEEN)
        now = engine.snapshot()
        fast, exhaustive = deflections(engine, False), deflections(engine, True)
        touching += int(np.sum(exhaustive > 0.0))
        gaps.append(float(np.max(np.abs(fast - exhaustive))))
        change_world(engine, plain=False)
        engine.restore(now)
    why = f"{WHY}; {touching} wheels touched, each followed from its last contact."
    yield worst(f"both searches, {name}, {SECONDS:g} s: deflection [m]", gaps if touching else [], tolerance, why)


def both_searches_on_shipped_terrains(samples: int) -> Iterator[Check]:
    """The fast search finds the deflection that the exhaustive one finds, on the ground of every shipped scenario."""
    rng = np.random.default_rng(21)
    for name, engine in shipped():
        yield from compared(name, engine, rng, min(samples, 3000))


def both_searches_on_random_terrains(samples: int) -> Iterator[Check]:
    """The fast search finds the deflection that the exhaustive one finds, on ground that is drawn at random."""
    rng = np.random.default_rng(22)
    for k in range(30 if samples > FAST else 6):
        terrain = random_terrain(rng)
        made = rig(vivi(), terrain=terrain, position=[0.0, 0.0], seed=k)
        what = f"random ground {k}, {terrain['type']} at {terrain['resolution']:.2g} m"
        yield from compared(what, made.engine, rng, min(samples, 1000))


FUNCTIONS = (both_searches_on_shipped_terrains, both_searches_on_random_terrains)
