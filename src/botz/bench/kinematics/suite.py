"""Speed of wheeled kinematics: the compiled loop alone, with recording, and what a user waits for."""

from __future__ import annotations

import time
from math import cos, sin
from typing import Any

import numpy as np

from botz.bench import peers
from botz.bench.results import Result, duration, rate
from botz.bench.timing import best, recorded_factor
from botz.engines.registry import build_engine
from botz.scenario.load import load_data

STEPS = 1_000_000


def differential(robots: int = 1, *, castor: bool = False, method: str = "arc") -> dict[str, Any]:
    wheel = {"type": "fixed", "radius": 0.05, "driven": True}
    wheels: dict[str, Any] = {"left": {**wheel, "position": [0.0, 0.15]}, "right": {**wheel, "position": [0.0, -0.15]}}
    if castor:
        wheels["front"] = {"type": "castor", "position": [0.2, 0.0], "offset": -0.03}
    return {
        "engine": "kinematics",
        "name": "bench",
        "time": {"step": 0.001, "duration": 10.0, "method": method},
        "record": {"rate": 10.0, "snapshots": 10.0},
        "robots": {f"robot_{k}": {"wheels": wheels} for k in range(robots)},
    }


def steps_per_second(data: dict[str, Any], *, record_every: int, steps: int = STEPS) -> float:
    engine = build_engine(load_data(data).spec)
    engine.inputs[:] = 3.0
    engine.inputs[::2] = 2.0
    rows = np.empty((steps // record_every + 1 if record_every else 1, engine.channels.width))

    def measure() -> float:
        began = time.perf_counter()
        engine.advance(0, steps, record_every, rows)
        return time.perf_counter() - began

    return steps / best(measure)


def recorded_steps_per_second(rate_hz: float, seconds: float) -> float:
    """A whole run into a file: loop, rows, messages, compression, disk."""
    data = differential()
    data["time"]["duration"] = seconds
    data["record"] = {"rate": rate_hz, "snapshots": 100.0}
    data["controllers"] = {
        "drive": {
            "robot": "robot_0",
            "type": "constant",
            "rate": 10.0,
            "command": {"left/speed": 2.0, "right/speed": 3.0},
        }
    }
    return 1000 * recorded_factor(load_data(data))


def plain_python_steps_per_second(steps: int = 100_000) -> float:
    """The peer: the source's differential drive in a Python loop, pose only, no wheels, no odometry, no recording."""
    radius, track, dt = 0.05, 0.3, 0.001

    def measure() -> float:
        x = y = theta = 0.0
        left, right = 2.0, 3.0
        began = time.perf_counter()
        for _ in range(steps):
            v = radius * (right + left) / 2
            turn = radius * (right - left) / track
            half = 0.5 * turn * dt
            chord = dt * v * (sin(half) / half if half else 1.0)
            x += chord * cos(theta + half)
            y += chord * sin(theta + half)
            theta += turn * dt
        assert x == x
        return time.perf_counter() - began

    return steps / best(measure)


def run() -> list[Result]:
    bare = steps_per_second(differential(), record_every=0)
    rows = steps_per_second(differential(), record_every=100)
    recorded = recorded_steps_per_second(10.0, 2000.0)
    python = plain_python_steps_per_second()
    ir_sim, missing = peers.measure("ir_sim_differential.py")
    loop = "plain Python loop, pose only"
    simulator = f"ir-sim (skipped: {missing})" if missing else "ir-sim, nothing drawn or recorded"
    return [
        rate("compiled loop, one differential robot", bare, "steps/s", peer=loop, peer_value=python),
        rate("with a row every 100th step", rows, "steps/s", peer=loop, peer_value=python),
        rate(
            "whole run, recorded every 100th step", recorded, "steps/s", target=2e6, peer=simulator, peer_value=ir_sim
        ),
        duration("cost of recording every 100th step", 1e9 / recorded - 1e9 / bare, "ns/step"),
        rate(
            "differential with passive castor", steps_per_second(differential(castor=True), record_every=100), "steps/s"
        ),
        rate("Runge-Kutta", steps_per_second(differential(method="rk4"), record_every=100), "steps/s"),
        rate(
            "100 robots",
            100 * steps_per_second(differential(100), record_every=100, steps=STEPS // 100),
            "robot steps/s",
        ),
        rate("recorded every step", recorded_steps_per_second(1000.0, 200.0), "steps/s"),
    ]
