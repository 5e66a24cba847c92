"""Times the steps of shipped scenarios: the part of tools/compare_speed.py that runs in either version.

Of Botz it uses `botz.load`, `botz.simulate`, `botz.Simulation`, and of its engine `inputs`, `robot_inputs`, `advance`,
`snapshot`, `restore` and `state_arrays`. A scenario runs once with its controllers, whose commands are kept; then the
engine alone is timed with these commands, over and over from the same state.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from versions import serve

# The time of this thread alone, so that others on the machine count little; where it is counted in ticks, all time.
CLOCK = time.perf_counter if time.get_clock_info("thread_time").resolution > 1e-5 else time.thread_time


@dataclass(frozen=True)
class Case:
    """What is timed: the steps of a scenario, or its whole run into a file."""

    name: str
    scenario: str
    seconds: float
    """Simulated in one pass [s]."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    row_every: int = 0
    """Steps from one row of channels to the next; 0 for none."""
    whole: bool = False

    @property
    def family(self) -> str:
        return self.name.split(":")[0]


def cases() -> list[Case]:
    """Each engine with each method, and what costs its own time beside them, as `botz bench` measures them."""
    found: list[Case] = []
    its: dict[str, Any]
    for method in ("arc", "rk4"):
        its = {"time.method": method}
        found += [
            Case(f"kinematics: differential drive, {method}", "differential-circle", 100.0, its),
            Case(f"kinematics: a row every 100th step, {method}", "differential-circle", 100.0, its, row_every=100),
            Case(f"kinematics: castor, {method}", "castor-tractrix", 16.0, its, row_every=100),
            Case(f"kinematics: five kinds of robot, {method}", "wheeled-parade", 2.0, {**its, "time.step": 1e-4}),
        ]
    crowd = {f"robots.other{k}": {"extends": "differential", "pose": [0.0, float(k), 0.0]} for k in range(99)}
    found.append(Case("kinematics: 100 robots", "differential-circle", 1.0, crowd, row_every=100))
    found.append(Case("kinematics: slip and noise", "differential-odometry", 10.0, row_every=100))

    driving = {"robots.vivi.velocity": [0.9, 0.0, 0.0]}
    for step in (1e-4, 1e-5, 1e-6, 1e-7):
        its = {**driving, "time.step": step}
        found.append(Case(f"vehicle: rough ground, step of {step:g} s", "vivi-rough", 1e5 * step, its))
    found += [
        Case("vehicle: plain search", "vivi-rough", 2.0, {**driving, "world.contact": {"search": "plain"}}),
        Case("vehicle: Runge-Kutta", "vivi-rough", 2.0, {**driving, "time.method": "rk4"}),
        Case("vehicle: a row every 100th step", "vivi-rough", 5.0, driving, row_every=100),
        Case("vehicle: four and six wheels on level ground", "skid-circle", 3.0),
        Case("vehicle: wheels with two rims", "drop-test", 2.0),
    ]

    for method in ("euler", "rk4"):
        its = {"time.method": method}
        found.append(Case(f"soccer: three a side, {method}", "soccer-match", 20.0, its))
    found.append(Case("soccer: 100 robots", "soccer-crowd", 2.0))

    for method in ("semi-implicit", "rk4"):
        its = {"time.method": method}
        found += [
            Case(f"arm: Titan IV in air, {method}", "titan4-line", 10.0, its, row_every=10),
            Case(f"arm: Titan IV under water with a block, {method}", "titan4-pick", 15.0, its, row_every=10),
            Case(f"arm: PUMA 560, {method}", "puma-wave", 9.0, its),
        ]

    for step, method in ((60e-6, "euler"), (60e-6, "rk4"), (400e-6, "rk4"), (1e-3, "implicit-fast")):
        rates = {
            key: 1.0 / (round(1.0 / rate / step) * step)
            for key, rate in (("controllers.pilot.rate", 50.0), ("record.rate", 100.0))
        }
        its = {"time.step": step, "time.method": method, **rates}
        name = f"multibody: Lophorina, step of {step:g} s, {method}"
        found.append(Case(name, "lophorina-hover", 8000 * step, its, row_every=20))
    found += [
        Case("multibody: fixed wing", "fixed-wing-cruise", 3.0, row_every=20),
        Case("multibody: sensors", "hexarotor-wind", 2.0, row_every=1),
        Case("multibody: wheels of a vehicle", "vivi-multibody", 0.6),
    ]

    whole = {
        "kinematics": ("differential-circle", 100.0),
        "vehicle": ("vivi-rough", 10.0),
        "soccer": ("soccer-match", 20.0),
        "arm": ("titan4-line", 16.0),
        "multibody": ("lophorina-hover", 8.0),
    }
    return found + [Case(f"{family}: whole run, recorded", *its, whole=True) for family, its in whole.items()]


class Steps:
    """The steps of a scenario with the commands that its controllers gave."""

    def __init__(self, botz: Any, case: Case):
        loaded = botz.load(case.scenario, overrides=dict(case.settings))
        driven = botz.Simulation(loaded)
        commands: dict[int, list[tuple[str, Any]]] = {}
        driven.on_command = lambda step, robot, values, source: commands.setdefault(step, []).append(
            (robot, values.copy())
        )
        self.count = max(1, round(case.seconds * 1e9 / driven.step_ns))
        driven.step(n=self.count)
        self.end = driven.engine.snapshot()
        self.engine = botz.Simulation(loaded, with_controllers=False).engine
        self.commands = {
            step: [(self.engine.robot_inputs(robot), values) for robot, values in given]
            for step, given in commands.items()
            if step < self.count
        }
        self.row_every = case.row_every
        self.start, self.rest = self.engine.snapshot(), self.engine.inputs.copy()
        self.rows = np.empty((self.count // case.row_every + 1 if case.row_every else 1, driven.channels.width))

    def seconds(self) -> float:
        """Of one pass."""
        engine, inputs, commands = self.engine, self.engine.inputs, self.commands
        engine.restore(self.start)
        inputs[:] = self.rest
        ends = [*sorted(commands.keys() - {0}), self.count]
        step = 0
        began = CLOCK()
        for end in ends:
            for span, values in commands.get(step, ()):
                inputs[span] = values
            if not engine.advance(step, end - step, self.row_every, self.rows) or engine.ended:
                raise RuntimeError(f"the world came to an end before {self.count} steps: {engine.ended}")
            step = end
        seconds = CLOCK() - began
        if any(array.tobytes() != self.end.arrays[name].tobytes() for name, array in engine.state_arrays().items()):
            raise RuntimeError("the same commands led to another state")
        return seconds


class WholeRun:
    """A scenario from its start into a recording."""

    count = 1

    def __init__(self, botz: Any, case: Case):
        self.botz = botz
        self.loaded = botz.load(case.scenario, overrides={**case.settings, "time.duration": case.seconds})

    def seconds(self) -> float:
        with tempfile.TemporaryDirectory(prefix="botz-speed-") as folder:
            began = time.perf_counter()
            self.botz.simulate(self.loaded, out=folder)
            return time.perf_counter() - began


def work(source: Path) -> None:
    """A process that times the case that it is asked for: `passes` of it, the best of which counts."""
    prepared: dict[str, Steps | WholeRun] = {}

    def answer(botz: Any, question: dict[str, Any]) -> dict[str, Any]:
        case = Case(**question["case"])
        try:
            if case.name not in prepared:
                prepared.clear()
                prepared[case.name] = (WholeRun if case.whole else Steps)(botz, case)
                prepared[case.name].seconds()  # what is compiled or read once
            timed = prepared[case.name]
            return {"seconds": [timed.seconds() / timed.count for _ in range(question["passes"])], "count": timed.count}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}

    serve(source, answer)


if __name__ == "__main__":
    work(Path(sys.argv[1]))
