"""How many times faster than the clock arms are simulated at steps of 1 ms: the compiled loop, and whole runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from botz.bench.arm.functions import CLOCK
from botz.bench.results import Result, duration, rate
from botz.bench.timing import best, recorded_factor
from botz.engines.arm.engine import ArmEngine
from botz.engines.registry import build_engine
from botz.errors import BotzError
from botz.robots.arm_records import transform
from botz.scenario.library import names
from botz.scenario.load import load, load_data, load_robot

ARM, THING = "titan", "block"
STEP = 0.001
PERIOD = 10
"""Steps from one reference to the next, as of a controller at 100 Hz."""
SECONDS = 4.0
"""Simulated in one timed pass."""
REPEATS = 7
SWING = np.array([0.4, 0.25, 0.3, 0.4, 0.3, 0.8])
"""How far the joints swing [rad], and …"""
RATES = np.array([1.1, 1.3, 1.7, 1.9, 2.3, 2.0])
"""… how fast [rad/s]."""
START = np.radians([0.0, 50.0, -80.0, -10.0, 0.0, 0.0])
GRIP = [1.1, 0.0, -0.24, np.pi, 0.0, 0.0]
"""Where the tool grips: straight down on the thing."""
GRIPPING = 1.5
"""Time until the jaws hold [s]."""
FORCE = 800.0
STIFFNESS = 8e4
"""Of a point of contact: what a step of 1 ms takes with this thing between the jaws [N/m]."""
RECORDED = ("titan4-line", "titan4-pick", "puma-wave")
"""Runs of the library that are timed as a whole."""
WANTED = 300.0
"""Target: times real time."""


def scenario(robot: str = "titan4", *, method: str, world: dict[str, Any] | None = None, start: Any = START) -> Any:
    return load_data(
        {
            "engine": "arm",
            "name": "bench",
            "time": {"step": STEP, "duration": SECONDS, "method": method},
            "world": world or {},
            "robots": {ARM: {**load_robot(robot).data, "start": list(map(float, start))}},
        }
    ).spec


def bench_world() -> dict[str, Any]:
    """A thing on a bench above the floor, as in titan4-pick."""
    return {
        "planes": {"floor": {"point": [0, 0, -0.6]}},
        "boxes": {"bench": {"size": [0.4, 0.6, 0.3], "pose": [1.1, 0, -0.45, 0, 0, 0]}},
        "objects": {THING: {"size": [0.06, 0.06, 0.12], "mass": 12, "pose": [1.1, 0, -0.24, 0, 0, 0]}},
        "contact": {"stiffness": STIFFNESS},
    }


class Moving:
    """An arm that follows a swinging reference, over and over the same."""

    def __init__(self, spec: Any):
        engine = build_engine(spec)
        assert isinstance(engine, ArmEngine)
        self.engine = engine
        self.step = 0
        self._rows = np.empty((1, engine.channels.width))

    def command(self, **values: Any) -> None:
        given = {name.replace("_", "/"): value for name, value in values.items()}
        self.engine.inputs[self.engine.robot_inputs(ARM)] = self.engine.resolve_command(ARM, given)

    def advance(self, steps: int) -> None:
        if not self.engine.advance(self.step, steps, 0, self._rows):
            raise BotzError(f"the benchmark's arm diverged: {self.engine.stability_hint()}")
        self.step += steps

    def grip(self) -> None:
        """Close the jaws on the thing and lift it off the bench."""
        self.command(gripper_opening=0.0, gripper_force=FORCE)
        self.advance(round(GRIPPING / STEP))
        if not self.engine.state.tools["held"][0]:
            raise BotzError("the benchmark's arm did not grip")
        up = self.engine.arms[ARM].inverse(transform([*GRIP[:2], GRIP[2] + 0.2, *GRIP[3:]]), present=self.joints).best
        self.command(speed=(up - self.joints) / GRIPPING)
        self.advance(round(GRIPPING / STEP))

    @property
    def joints(self) -> np.ndarray:
        return self.engine.state.q.copy()

    def table(self, swing: np.ndarray) -> np.ndarray:
        """Inputs of every command: position, speed and acceleration of the reference, made before the clock runs."""
        n, own = len(self.joints), self.engine.inputs[self.engine.robot_inputs(ARM)]
        t = np.arange(0.0, SECONDS, PERIOD * STEP)[:, None]
        found = np.tile(own, (len(t), 1))
        # 1 − cos starts at rest.
        found[:, :n] = self.joints + swing * (1.0 - np.cos(RATES * t))
        found[:, n : 2 * n] = swing * RATES * np.sin(RATES * t)
        found[:, 2 * n : 3 * n] = swing * RATES**2 * np.cos(RATES * t)
        found[:, 4 * n] = 0.0
        found[:, 4 * n + 1] += 1.0 + np.arange(len(t))
        return found

    def seconds_per_step(self, swing: np.ndarray = SWING) -> float:
        """Of the loop with its commands; every repeat moves the same way."""
        engine, table = self.engine, self.table(swing)
        inputs = engine.inputs[engine.robot_inputs(ARM)]
        start, first = engine.snapshot(), self.step

        def measure() -> float:
            engine.restore(start)
            self.step = first
            began = CLOCK()
            for row in table:
                inputs[:] = row
                self.advance(PERIOD)
            return CLOCK() - began

        measure()  # once to compile
        return best(measure, REPEATS) / (len(table) * PERIOD)


def holding(method: str) -> Moving:
    probe = scenario(method=method)
    arm = ArmEngine(probe).arms[ARM]
    start = arm.inverse(transform(GRIP), present=START).best
    moving = Moving(scenario(method=method, world=bench_world(), start=start))
    moving.grip()
    return moving


def loop_rows(name: str, seconds: float) -> list[Result]:
    return [
        duration(f"{name}: step", 1e6 * seconds, "µs"),
        rate(f"{name}: speed", STEP / seconds, "times real time", target=WANTED),
    ]


def rows() -> list[Result]:
    found: list[Result] = []
    for method in ("rk4", "semi-implicit"):
        found += loop_rows(f"titan4 in air, {method}", Moving(scenario(method=method)).seconds_per_step())
    for method in ("rk4", "semi-implicit"):
        wet = scenario(method=method, world={"water": {"density": 1025}})
        found += loop_rows(f"titan4 under water, {method}", Moving(wet).seconds_per_step())
    for method in ("rk4", "semi-implicit"):
        # Little swing: the thing must stay between the jaws.
        found += loop_rows(f"titan4 that carries a block, {method}", holding(method).seconds_per_step(0.2 * SWING))
    runs = [name for name in RECORDED if name in names("scenario")]
    return found + [
        rate(f"{name}, whole run recorded", recorded_factor(load(name)), "times real time", target=WANTED)
        for name in runs
    ]
