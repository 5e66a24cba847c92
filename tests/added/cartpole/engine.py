"""Engine `cartpole`: model, state and step of carts with pendulums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from botz.channels import Channel, ChannelTable, JointView, command_numbers
from botz.engines.base import Engine, Joints, Numbers, RobotState
from botz.engines.placing import given_joints
from botz.errors import InputError, Problem
from botz.kernels import record
from botz.scenario.names import closest
from cartpole import step
from cartpole.schema import CartPoleScenario

ROBOT = record(cart=np.float64, bob=np.float64, length=np.float64, gravity=np.float64)
STATE = record(position=np.float64, velocity=np.float64, angle=np.float64, rate=np.float64)
CHANNELS = {
    "cart/position": ("m", "position along x"),
    "cart/velocity": ("m/s", "velocity along x"),
    "pole/angle": ("rad", "angle from hanging, positive ahead"),
    "pole/rate": ("rad/s", "angular velocity"),
    "force": ("N", "command: force on the cart along x"),
}


class CartPoleEngine(Engine):
    name = "cartpole"

    def __init__(self, scenario: CartPoleScenario):
        self.robots = scenario.robots
        self.dt = scenario.time.step_ns * 1e-9
        self.model, self.state = np.zeros(len(self.robots), ROBOT), np.zeros(len(self.robots), STATE)
        for own, robot in zip(self.model, self.robots.values(), strict=True):
            own.cart, own.bob, own.length = robot.cart, robot.bob, robot.length
        self.model["gravity"] = scenario.world.gravity
        every = ((robot, name) for robot in self.robots for name in CHANNELS)
        self.channels = ChannelTable([Channel(f"{robot}/{name}", *CHANNELS[name]) for robot, name in every])
        self.inputs_table = ChannelTable([Channel(f"{r}/force", *CHANNELS["force"]) for r in self.robots])
        self.inputs = np.zeros(self.inputs_table.width)
        joints = ("cart", "pole")
        self.views = tuple(
            JointView(
                robot, joints, (f"{robot}/cart/position", f"{robot}/pole/angle"),
                (f"{robot}/cart/velocity", f"{robot}/pole/rate"),
            )
            for robot in self.robots
        )  # fmt: skip
        self.reset(np.random.default_rng(0))

    def reset(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.inputs[:] = 0.0
        self.state[...] = np.zeros((), STATE)
        self.state["position"] = [robot.position for robot in self.robots.values()]
        self.state["angle"] = [robot.angle for robot in self.robots.values()]

    def advance(self, first: int, n: int, record_every: int, rows: np.ndarray) -> bool:
        return step.advance(self.model, self.state, self.inputs, self.dt, first, n, record_every, rows)

    def observe(self, row: np.ndarray) -> None:
        step.observe(self.model, self.state, self.inputs, row)

    def state_arrays(self) -> dict[str, np.ndarray]:
        return {**{name: self.state[name] for name in STATE.names or ()}, "inputs": self.inputs}

    def resolve_command(self, robot: str, command: Mapping[str, Any]) -> np.ndarray:
        values = self.inputs[self.robot_inputs(robot)].copy()
        for name, value in command.items():
            if name != "force":
                raise InputError(Problem(f"unknown command {name!r}{closest(name, ['force'])}", key=robot))
            values[:] = command_numbers(value, 1, f"{robot}/force")
        return values

    def rest_inputs(self, robot: str) -> np.ndarray:
        return np.zeros(1)

    def get_state(self, robot: str) -> RobotState:
        x, v, angle, rate = self.state[list(self.robots).index(robot)].tolist()
        return RobotState(np.array([x, 0.0, 0.0]), np.array([v, 0.0, 0.0]), {"pole": (angle, rate)})

    def set_state(self, robot: str, *, pose: Numbers = None, twist: Numbers = None, joints: Joints = None) -> None:
        present = self.get_state(robot)
        x = command_numbers(present.pose if pose is None else pose, 3, f"{robot}/pose (x, y, heading)")
        v = command_numbers(present.twist if twist is None else twist, 3, f"{robot}/twist (vx, vy, yaw rate)")
        if np.any(x[1:]) or np.any(v[1:]):
            raise InputError(Problem("a cart stays on its rail: y, heading and their rates are 0", key=robot))
        angle, rate = given_joints(robot, joints, {"pole": 0}).get("pole", present.joints["pole"])
        rate = present.joints["pole"][1] if rate is None else rate
        self.state[list(self.robots).index(robot)] = (x[0], v[0], angle, rate)
