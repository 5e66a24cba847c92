"""A vehicle in a few lines for its controllers' tests: first-order motors under a body that rolls and loses yaw."""

from __future__ import annotations

from math import cos, exp, hypot, sin
from types import SimpleNamespace
from typing import Any

import numpy as np
from driving import robot_data
from pydantic import TypeAdapter

from botz.control.base import Controller, ControllerSetup
from botz.control.registry import build
from botz.scenario.vehicle.schema import PlacedVehicle, VehicleController

SPEC = TypeAdapter(VehicleController)
PERIOD = 0.01


def vehicle(**changes: Any) -> PlacedVehicle:
    return PlacedVehicle.model_validate({**robot_data("vivi"), **changes})


def controller_of(**spec: Any) -> Controller:
    return build(SPEC.validate_python({"robot": "bot", **spec}), allow_user_code=False)


def setup_for(spec: Any) -> ControllerSetup:
    engine = SimpleNamespace(name="vehicle", scenario=SimpleNamespace(robots={"bot": spec}))
    return ControllerSetup("bot", PERIOD, np.random.default_rng(0), (), engine)  # type: ignore[arg-type]


class Plant:
    """Each motor goes to the speed of its voltage, less a load, within `lag`; `grip` is what skidding leaves of the
    yaw rate of rolling wheels."""

    def __init__(self, spec: PlacedVehicle, *, lag: float = 0.02, load: float = 0.0, grip: float = 0.6):
        self.spec, self.load, self.grip = spec, load, grip
        self.decay = exp(-PERIOD / lag)
        self.speeds = dict.fromkeys(spec.motors, 0.0)
        self.voltages = dict.fromkeys(spec.motors, 0.0)
        self.x, self.y, self.heading = 0.0, 0.0, 0.0
        self.forward = self.yaw_rate = 0.0

    def top_speed(self, name: str) -> float:
        motor = self.spec.motors[name]
        return motor.voltage * motor.speed_constant / motor.gear_ratio

    def measured(self) -> dict[str, Any]:
        half = 0.5 * self.heading
        pose = np.array([self.x, self.y, 0.2, cos(half), 0.0, 0.0, sin(half)])
        twist = np.array([self.forward, 0.0, 0.0, 0.0, 0.0, self.yaw_rate])
        return {"pose": pose, "twist": twist, **{f"{name}/speed": speed for name, speed in self.speeds.items()}}

    def advance(self, command: dict[str, float]) -> None:
        self.voltages.update({name.removesuffix("/voltage"): value for name, value in command.items()})
        rims: dict[str, list[float]] = {"left": [], "right": []}
        for name, motor in self.spec.motors.items():
            voltage = min(max(self.voltages[name], -motor.voltage), motor.voltage)
            free = self.top_speed(name) * voltage / motor.voltage - self.load
            self.speeds[name] = free + self.decay * (self.speeds[name] - free)
            side = "left" if name in self.spec.motors_of_side("left") else "right"
            rims[side].append(self.speeds[name] * self.spec.wheels[motor.wheels[0]].radius)
        left, right = (sum(rims[side]) / len(rims[side]) for side in ("left", "right"))
        self.forward, self.yaw_rate = 0.5 * (left + right), self.grip * (right - left) / 0.44
        middle = self.heading + 0.5 * self.yaw_rate * PERIOD
        self.x += self.forward * PERIOD * cos(middle)
        self.y += self.forward * PERIOD * sin(middle)
        self.heading += self.yaw_rate * PERIOD


class Drive:
    """Runs a controller on a plant and keeps what happened."""

    def __init__(self, controller: Any, plant: Plant):
        self.controller, self.plant, self.t = controller, plant, 0.0
        self.commands: list[dict[str, float]] = []
        self.track: list[tuple[float, float, float, float]] = []
        """x, y, forward speed, yaw rate after every period."""
        controller.reset(setup_for(plant.spec))

    def run(self, duration: float) -> Drive:
        for _ in range(round(duration / PERIOD)):
            command = self.controller.update(self.t, self.plant.measured())
            self.commands.append(command)
            self.plant.advance(command)
            self.t += PERIOD
            self.track.append((self.plant.x, self.plant.y, self.plant.forward, self.plant.yaw_rate))
        return self

    def nearest(self, x: float, y: float) -> float:
        """How near it came to a point."""
        return min(hypot(px - x, py - y) for px, py, _, _ in self.track)
