"""Small aircraft to fly: robots of the library and one of round numbers, each named `bot`, under one controller."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import yaml

from botz import Simulation
from botz.control.flight.rotors import Rotor, airframe_of
from botz.engines.multibody.engine import MultibodyEngine
from botz.scenario.load import LoadedScenario, load

G = 9.81


def scenario(
    robot: Mapping[str, Any], controller: Mapping[str, Any] | None = None, world: Mapping[str, Any] | None = None
) -> LoadedScenario:
    """Euler at 1 ms: controllers do not ask for more, and it is quick."""
    data: dict[str, Any] = {
        "engine": "multibody",
        "time": {"step": 1e-3, "method": "euler", "duration": 60.0},
        "world": dict(world or {}),
        "robots": {"bot": dict(robot)},
    }
    if controller is not None:
        data["controllers"] = {"pilot": {"robot": "bot", **controller}}
    with TemporaryDirectory() as folder:  # robots of the library are laid under files only
        path = Path(folder) / "flight.yaml"
        path.write_text(yaml.safe_dump(data), encoding="utf-8")
        return load(path)


def engine_of(robot: Mapping[str, Any], world: Mapping[str, Any] | None = None) -> MultibodyEngine:
    spec: Any = scenario(robot, world=world).spec
    return MultibodyEngine(spec)


def library_engine(name: str, world: Mapping[str, Any] | None = None, **changes: Any) -> MultibodyEngine:
    """In the air: at 0 its shapes would be inside the ground."""
    return engine_of({"extends": name, "pose": {"z": 1.0}, **changes}, world)


def aircraft(
    *, size: float = 0.2, drag_torque: float = 0.0, tilting: bool = True, mount: bool = False, **propeller: Any
) -> dict[str, Any]:
    """A body of 1 kg and four rotors of 10 g, numbered from the front left one on against the clock.

    Tilting, each hangs by an arm of 1 g on a joint about y; `mount` puts a fixed joint between arm and rotor.
    """
    law = {"coefficient": 1e-5, **propeller} if "curve" not in propeller else propeller
    found: dict[str, Any] = {
        "links": {"body": {"mass": 1.0, "inertia": [0.02, 0.02, 0.03]}},
        "joints": {},
        "actuators": {},
        "elements": {},
    }
    for k, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)), start=1):
        place = {"x": size * x, "y": size * y}
        found["links"][f"propeller_{k}"] = {"mass": 0.01, "inertia": [1e-5, 1e-5, 2e-5]}
        parent = "body"
        if tilting:
            parent = f"arm_{k}"
            found["links"][parent] = {"mass": 0.001, "inertia": [1e-5, 1e-5, 1e-5]}
            found["joints"][f"tilt_{k}"] = {
                "type": "revolute", "parent": "body", "child": parent, "pose": place, "axis": [0, 1, 0],
                "range": [-0.8, 0.8], "speed": 2.0,
            }  # fmt: skip
            found["actuators"][f"tilt_{k}"] = {"kind": "position", "frequency": 200}
            place = {"z": 0.03}
        if mount:
            found["links"][f"mount_{k}"] = {"mass": 0.001, "inertia": [1e-6, 1e-6, 1e-6]}
            found["joints"][f"mount_{k}"] = {"type": "fixed", "parent": parent, "child": f"mount_{k}"}
            parent = f"mount_{k}"
        found["joints"][f"spin_{k}"] = {
            "type": "continuous", "parent": parent, "child": f"propeller_{k}", "pose": place, "speed": 1000,
        }  # fmt: skip
        found["actuators"][f"spin_{k}"] = {"kind": "velocity", "frequency": 100}
        found["elements"][f"rotor_{k}"] = {
            "type": "propeller", "joint": f"spin_{k}", "sense": "cw" if k % 2 else "ccw", "drag_torque": drag_torque,
            **law,
        }  # fmt: skip
    return found


def rotor_of(curve: tuple[float, float, float], *, speed: float = 1000.0, **propeller: Any) -> Rotor:
    """A rotor of a curve, as its robot's controller sees it."""
    robot = aircraft(tilting=False, curve=list(curve), **propeller)
    for joint in robot["joints"].values():
        joint["speed"] = speed
    return airframe_of(engine_of(robot), "bot").rotors[0]


class Flight:
    """A flight and what was seen of it at every update of its controller."""

    def __init__(
        self, robot: Mapping[str, Any] | str, controller: Mapping[str, Any], world: Mapping[str, Any] | None = None
    ):
        robot = {"extends": robot} if isinstance(robot, str) else robot
        self.sim = Simulation(scenario(robot, controller, world))
        self.every = self.sim.spec.time.steps_between(self.sim.spec.controllers["pilot"].rate)
        self.times: list[float] = []
        self.rows: list[dict[str, Any]] = []

    def run(self, until: float) -> Flight:
        """On to a time, keeping all channels at every update."""
        while self.sim.time < until - 1e-9:
            values = self.sim.step(n=self.every)
            self.times.append(self.sim.time)
            self.rows.append(values)
        return self

    def of(self, channel: str, since: float = 0.0) -> np.ndarray:
        return np.array(
            [row[f"bot/{channel}"] for time, row in zip(self.times, self.rows, strict=True) if time >= since - 1e-9]
        )

    def now(self, channel: str) -> Any:
        return self.sim.measured("bot")[channel]

    @property
    def commands(self) -> dict[str, float]:
        """What is commanded now, by local name."""
        engine = self.sim.engine
        names = [channel.local_name for channel in engine.inputs_table.of_robot("bot")]
        return dict(zip(names, engine.inputs[engine.robot_inputs("bot")].tolist(), strict=True))

    @property
    def pilot(self) -> Any:
        return self.sim._controllers["pilot"][0]
