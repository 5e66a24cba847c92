"""Vehicles to verify with: VIVI, and a plain four-wheeler written in place; a rig runs one and reads its channels."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from botz.engines.vehicle.engine import VehicleEngine
from botz.scenario.load import load_robot
from botz.scenario.vehicle.schema import VehicleScenario
from botz.verify.rig import SoloRig

GRAVITY = 9.80665
NAMES = ("front_left", "front_right", "rear_left", "rear_right")

Data = dict[str, Any]


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> Data:
    """`below` with the keys of `above` on top, mapping by mapping; a mapping of another `type` replaces the whole."""
    merged = copy.deepcopy(dict(below))
    for key, value in above.items():
        old = merged.get(key)
        alike = isinstance(old, dict) and isinstance(value, Mapping) and value.get("type") in (None, old.get("type"))
        merged[key] = laid_over(dict(old), value) if alike and old is not None else copy.deepcopy(value)
    return merged


def four_wheeler(
    *,
    chassis: Mapping[str, Any] = {},
    wheel: Mapping[str, Any] = {},
    wheels: Mapping[str, Mapping[str, Any]] = {},
    motor: Mapping[str, Any] | None = None,
    battery: Mapping[str, Any] | None = None,
) -> Data:
    """40 kg on four wheels, each under a corner of a square of 0.44 m, on springs of 6000 N/m with Coulomb tyres.

    One rim a wheel, so that the deflection has no smooth maximum of two in it. `wheel` changes all wheels, `wheels`
    those that it names, and `motor` gives every wheel one of its own.
    """
    common = laid_over(
        {
            "radius": 0.1,
            "width": 0.05,
            "rims": 1,
            "inertia": 0.01,
            "suspension": {"stiffness": 6000.0, "damping": 200.0, "travel": 0.05},
            "tyre": {"type": "coulomb", "static": 0.8, "dynamic": 0.7},
        },
        wheel,
    )
    places = {
        "front_left": [0.22, 0.22, -0.05],
        "front_right": [0.22, -0.22, -0.05],
        "rear_left": [-0.22, 0.22, -0.05],
        "rear_right": [-0.22, -0.22, -0.05],
    }
    box = {"mass": 40.0, "front": 0.3, "rear": 0.3, "left": 0.16, "right": 0.16, "top": 0.1, "bottom": 0.08}
    made: Data = {
        "engine": "vehicle",
        "chassis": laid_over(box, chassis),
        "wheels": {
            name: laid_over({**common, "position": place}, wheels.get(name, {})) for name, place in places.items()
        },
    }
    if motor is not None:
        made["motors"] = {name: {**motor, "wheels": [name]} for name in NAMES}
    if battery is not None:
        made["battery"] = dict(battery)
    return made


def vivi(
    *, wheel: Mapping[str, Any] = {}, motor: Mapping[str, Any] = {}, without_motors: bool = False, **changes: Any
) -> Data:
    """The shipped vehicle; `wheel` changes all of its wheels, `motor` all of its motors, `changes` the rest."""
    data = copy.deepcopy(load_robot("vivi").data)
    data.pop("wheel")
    data.pop("motor")
    data["wheels"] = {name: laid_over(one, wheel) for name, one in data["wheels"].items()}
    data["motors"] = {} if without_motors else {name: laid_over(one, motor) for name, one in data["motors"].items()}
    return laid_over(data, changes)


def plane(slope: float, direction: float = 0.0, half_size: float = 50.0) -> Data:
    """Ground that rises by the angle `slope` along `direction`. One cell is enough: the grid is exact on a plane."""
    extent = [-half_size, half_size]
    size = {"x": extent, "y": extent, "resolution": 2.0 * half_size}
    return {"type": "plane", "slope": slope, "direction": direction, **size}


def change_world(engine: VehicleEngine, **values: float) -> None:
    """Change what a step never does, as gravity or the search for contacts."""
    world = engine.model.world
    world.flags.writeable = True
    for field, value in values.items():
        world[field] = value
    world.flags.writeable = False


class Rig(SoloRig[VehicleEngine]):
    def value(self, name: str, rows: np.ndarray | None = None) -> Any:
        """A channel by its name inside the robot, as `front_left/load`: now, or of recorded rows."""
        return super().value(f"r/{name}", rows)

    def each(self, name: str) -> np.ndarray:
        """The same channel of all wheels, now."""
        row = self.row()
        return np.array([self.value(f"{wheel}/{name}", row) for wheel in self.engine.scenario.robots["r"].wheels])

    def command(self, **command: Any) -> Self:
        """`tank=[1, 1]`, `drive=[1, 0]`, or `voltages=…`: one voltage for all motors, or one for each."""
        if "voltages" in command:
            self.engine.inputs[:] = command.pop("voltages")
        if command:
            self.engine.inputs[:] = self.engine.resolve_command("r", command)
        return self


def rig(
    robot: Mapping[str, Any] | None = None,
    *,
    terrain: Mapping[str, Any] | None = None,
    step: float = 1e-4,
    method: str = "semi-implicit",
    gravity: float = GRAVITY,
    contact: Mapping[str, Any] = {},
    seed: int = 0,
    **placed: Any,
) -> Rig:
    """A vehicle (the plain four-wheeler if none is given) on the ground (level if none is given) at its start.

    `placed` is where and how it starts: position, attitude, velocity, angular_velocity.
    """
    scenario = VehicleScenario.model_validate(
        {
            "engine": "vehicle",
            "seed": seed,
            "time": {"step": step, "method": method},
            "world": {
                "terrain": plane(0.0) if terrain is None else dict(terrain),
                "gravity": gravity,
                "contact": dict(contact),
            },
            "robots": {"r": {**(four_wheeler() if robot is None else robot), **placed}},
        }
    )
    engine = VehicleEngine(scenario)
    engine.reset(np.random.default_rng(seed))
    return Rig(engine)
