"""Speed of multibody robots: Lophorina in the compiled loop next to `mj_step` alone and to a Python loop over it, every
force element by itself, and whole recorded runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

from botz.bench.arm.functions import CLOCK
from botz.bench.results import Result, duration, rate
from botz.bench.timing import best, recorded_factor
from botz.engines.multibody.engine import MultibodyEngine
from botz.engines.multibody.native_calls import call_often
from botz.engines.registry import build_engine
from botz.errors import BotzError
from botz.scenario.library import names
from botz.scenario.load import load, load_data, load_robot

ROBOT = "bot"
REPEATS = 7
STEPS = 4000
"""Of one timed pass."""
CALLS = 20_000
"""Of an element in one timed pass."""
WANTED = 10.0
"""Target: times real time."""
HIGH = 1000.0
"""Where the timed robots fly: the floor is there, and out of reach of one that falls [m]."""
HOVER_SPEED = 510.9
"""Of Lophorina's propellers [rad/s]."""
RECORDED = ("lophorina-hover", "lophorina-waypoints")
"""Runs of the library that are timed as a whole."""


class Case(NamedTuple):
    """A step and the method that it is taken with."""

    step: float
    method: str
    target: float | None = None

    def __str__(self) -> str:
        length = f"{1e3 * self.step:g} ms" if self.step >= 1e-3 else f"{1e6 * self.step:g} µs"
        return f"lophorina at {length}, {self.method}"


CASES = (Case(60e-6, "euler"), Case(60e-6, "rk4"), Case(400e-6, "rk4", WANTED), Case(1e-3, "implicit-fast", WANTED))
"""The source's step; that of the shipped scenarios; and a long one."""


def engine_of(
    robot: dict[str, Any], step: float = 400e-6, method: str = "rk4", height: float = HIGH
) -> MultibodyEngine:
    spec = load_data(
        {
            "engine": "multibody",
            "name": "bench",
            "time": {"step": step, "duration": 1000 * step, "method": method},
            "record": {"rate": 1.0 / (100 * step), "snapshots": 0},
            "robots": {ROBOT: {"pose": {"z": height}, **robot}},
        }
    ).spec
    engine = build_engine(spec)
    assert isinstance(engine, MultibodyEngine)
    return engine


def library_robot(name: str, **changes: Any) -> dict[str, Any]:
    loaded = load_robot(name)
    found = {**loaded.data, **changes}
    if found["file"] is not None:
        found["file"] = str(loaded.file.parent / found["file"])
    return found


class Rotor(NamedTuple):
    """What a Python loop needs of a propeller: its coefficient, its body and its joint's speed."""

    coefficient: float
    body: int
    dof: int


class Hovering:
    """Lophorina with its propellers at hover speed, in three loops."""

    def __init__(self, case: Case):
        self.case = case
        self.engine = engine_of(library_robot("lophorina"), case.step, case.method)
        self.rotors = [
            Rotor(float(element.parameters["c"][0]), int(row["body"]), int(row["dof"]))
            for element, row in zip(
                self.engine.robots[ROBOT].elements.values(), self.engine.tables.elements, strict=True
            )
        ]
        speeds = {
            f"{element.joint}/speed": HOVER_SPEED * float(element.parameters["sense"][0])
            for element in self.engine.robots[ROBOT].elements.values()
        }
        self.engine.inputs[self.engine.robot_inputs(ROBOT)] = self.engine.resolve_command(ROBOT, speeds)
        self._rows = np.empty((1, self.engine.channels.width))
        self.advance(round(0.5 / case.step))  # until the propellers are at speed
        self._start = self.engine.snapshot()
        self._data = mujoco.MjData(self.engine.model)
        mujoco.mj_copyData(self._data, self.engine.model, self.engine.data)

    @property
    def model(self) -> mujoco.MjModel:
        return self.engine.model

    def advance(self, steps: int) -> None:
        if not self.engine.advance(0, steps, 0, self._rows):
            raise BotzError(f"the benchmark's robot diverged: {self.engine.stability_hint()}")

    def compiled_loop(self) -> None:
        self.engine.restore(self._start)
        self.advance(STEPS)

    def fresh_data(self) -> mujoco.MjData:
        """MuJoCo's data as they are where the compiled loop begins."""
        data = mujoco.MjData(self.model)
        mujoco.mj_copyData(data, self.model, self._data)
        return data

    def python_loop(self, data: mujoco.MjData) -> None:
        """The same thrusts, put by Python where `mj_step` takes them: at the propellers' centres of mass, which are on
        their axles."""
        model, step, forces, speeds, axes = self.model, mujoco.mj_step, data.xfrc_applied, data.qvel, data.xmat
        for _ in range(STEPS):
            for coefficient, body, dof in self.rotors:
                speed = speeds[dof]
                forces[body, :3] = coefficient * speed * speed * axes[body, 2::3]
            step(model, data)

    def mujoco_alone(self, data: mujoco.MjData) -> None:
        """No thrusts: it falls."""
        data.xfrc_applied[:] = 0.0
        mujoco.mj_step(self.model, data, STEPS)

    def times(self) -> tuple[float, float, float]:
        """Seconds a step of the compiled loop, the Python loop and of MuJoCo alone. They take turns, so that whatever
        else the machine does meets all of them."""
        works = (
            self.compiled_loop,
            lambda: self.python_loop(self.fresh_data()),
            lambda: self.mujoco_alone(self.fresh_data()),
        )
        passes = [[seconds_of(work) for work in works] for _ in range(REPEATS + 1)]
        ours, python, alone = np.min(passes[1:], axis=0) / STEPS  # the first one compiles
        return float(ours), float(python), float(alone)


def seconds_of(work: Callable[[], None]) -> float:
    began = CLOCK()
    work()
    return CLOCK() - began


def rows_of(case: Case) -> list[Result]:
    ours, python, alone = Hovering(case).times()
    factor = "times real time"
    return [
        duration(f"{case}: step", 1e6 * ours, "µs", peer="Python loop over mj_step", peer_value=1e6 * python),
        duration(f"{case}: mj_step alone", 1e6 * alone, "µs"),
        duration(f"{case}: elements and loop beside mj_step", 1e6 * (ours - alone), "µs"),
        rate(
            f"{case}: speed", case.step / ours, factor, target=case.target,
            peer="Python loop over mj_step", peer_value=case.step / python,
        ),
    ]  # fmt: skip


# --- elements ------------------------------------------------------------------------------------------------


AXLE: dict[str, Any] = {
    "links": {
        "frame": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]},
        "drum": {"mass": 0.2, "inertia": [0.01, 0.01, 0.01]},
    },
    "joints": {"turn": {"type": "continuous", "parent": "frame", "child": "drum"}},
    "start_speed": {"turn": 3.0},
    "elements": {
        "motor": {"type": "dc-motor", "joint": "turn", "resistance": 0.5, "torque_constant": 0.05, "max_voltage": 12,
                  "no_load_current": 0.1, "gear_ratio": 5.0},
        "friction": {"type": "lugre", "joint": "turn", "stiffness": 100.0, "damping": 0.1, "coulomb": 0.1,
                     "static": 0.15},
    },
}  # fmt: skip


def elements_timed() -> dict[str, tuple[dict[str, Any], str, float]]:
    """By kind: a robot that has one, the element's name, and where the robot is [m]."""
    found: dict[str, tuple[dict[str, Any], str, float]] = {
        "propeller": (
            library_robot("lophorina", start_speed={"spin_front_left": -HOVER_SPEED}),
            "rotor_front_left",
            HIGH,
        ),
        "dc-motor": (AXLE, "motor", HIGH),
        "lugre": (AXLE, "friction", HIGH),
    }
    library = names("robot")
    if "fixed-wing" in library:
        wing = library_robot("fixed-wing", velocity=[15.0, 0.0, 0.0])
        found["lift-drag"] = (wing, _first_of(wing, "lift-drag"), HIGH)
    if "vivi-multibody" in library:
        vivi = library_robot("vivi-multibody")
        found["vehicle-wheels, four of them"] = (vivi, _first_of(vivi, "vehicle-wheels"), 0.3)
    return found


def _first_of(robot: dict[str, Any], kind: str) -> str:
    return next(name for name, element in robot["elements"].items() if element["type"] == kind)


def seconds_per_call(robot: dict[str, Any], element: str, height: float) -> float:
    """Of one element by itself, called by its address with a frame as the loop has filled it; its states move on."""
    engine = engine_of(robot, height=height)
    rows = np.empty((1, engine.channels.width))
    engine.advance(0, 1, 0, rows)
    number = list(engine.robots[ROBOT].elements).index(element)
    row, frames = engine.tables.elements[number], engine.tables.frames
    frames["step"] = engine.dt
    address, parameters, frame = int(row.call), int(row.parameters), frames.ctypes.data + number * frames.itemsize

    def work() -> None:
        call_often(address, parameters, frame, CALLS)

    work()  # once to compile
    return best(lambda: seconds_of(work), REPEATS) / CALLS


def run() -> list[Result]:
    found = [row for case in CASES for row in rows_of(case)]
    for kind, timed in elements_timed().items():
        found.append(duration(f"element {kind}: a call", 1e9 * seconds_per_call(*timed), "ns"))
    runs = [name for name in RECORDED if name in names("scenario")]
    return found + [
        rate(f"{name}, whole run recorded", recorded_factor(load(name)), "times real time", target=WANTED)
        for name in runs
    ]
