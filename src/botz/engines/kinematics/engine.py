"""Engine `kinematics`: wheeled robots that roll without dynamics. Equations in physics/wheels/constraints.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from botz.channels import Channel, ChannelTable, command_numbers
from botz.engines.base import Engine, Joints, Numbers, RobotState
from botz.engines.kinematics.model import build_model
from botz.engines.kinematics.placing import axes_of, set_angle, set_steering_rate
from botz.engines.kinematics.rows import channels_of, views_of
from botz.engines.kinematics.state import new_state, start
from botz.engines.kinematics.step import ARC, RK4, advance_robots, observe_robots
from botz.engines.kinematics.work import new_work
from botz.engines.placing import all_or_nothing, given_joints
from botz.errors import InputError, Problem
from botz.physics.wheels import constraints as wc
from botz.robots.wheel_inverse import inverse_kinematics
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics.schema import KinematicsScenario
from botz.scenario.names import closest


class KinematicsEngine(Engine):
    name = "kinematics"

    def __init__(self, scenario: KinematicsScenario):
        self.scenario = scenario
        self.dt = scenario.time.step_ns * 1e-9
        self.method = ARC if scenario.time.method == "arc" else RK4
        self.robots: dict[str, WheeledRobotModel] = {}
        problems = []
        for name, robot in scenario.robots.items():
            try:
                self.robots[name] = WheeledRobotModel(robot)
            except ValueError as error:
                problems.append(Problem(str(error), key=f"robots.{name}"))
        if problems:
            raise InputError(problems)
        self.model = build_model(list(self.robots.values()), list(scenario.robots.values()), scenario.time)
        self.state, self._state_bytes = new_state(self.model)
        self.work = new_work(self.model)
        self._arrays = tuple(self.model), tuple(self.state), tuple(self.work)
        self._kept_bytes = self._state_bytes.copy()
        self._state_arrays = self.state.fields()
        self.channels = ChannelTable([c for name, robot in self.robots.items() for c in channels_of(name, robot)])
        self.inputs_table = ChannelTable(
            [
                Channel(f"{name}/{one.name}", one.unit, one.description)
                for name, robot in self.robots.items()
                for one in robot.inputs
            ]
        )
        self.inputs = np.zeros(self.inputs_table.width)
        self._input_names = {name: [one.name for one in robot.inputs] for name, robot in self.robots.items()}
        self._wheels_of = {
            name: slice(int(own["wheel_start"]), int(own["wheel_stop"]))
            for name, own in zip(self.robots, self.model.robots, strict=True)
        }
        own_records = zip(self.robots.items(), self.model.robots, strict=True)
        self._axes = {name: axes_of(name, robot, own) for (name, robot), own in own_records}
        self.views = tuple(view for name, robot in self.robots.items() for view in views_of(name, robot))
        self._noisy = self.model.robots[self.model.robots["has_noise"]]
        self._no_noise = np.zeros(0)
        self.reset(np.random.default_rng(0))

    # --- the protocol --------------------------------------------------------------------------------------

    def reset(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.inputs[:] = 0.0
        start(self.state, self.model, [robot.pose for robot in self.scenario.robots.values()])

    def advance(self, step: int, n: int, record_every: int, rows: np.ndarray) -> bool:
        return advance_robots(
            *self._arrays, self.inputs, self._noise(step, n), self.dt, self.method,
            step, n, record_every, rows,
        )  # fmt: skip

    def _noise(self, step: int, n: int) -> np.ndarray:
        """Random numbers for the encoder readings in these steps. They are used in the order of steps and robots,
        so that cutting a run into other pieces does not change it."""
        if not self._noisy.size:
            return self._no_noise
        every = self._noisy["odometry_every"]
        readings = (step + n) // every - step // every
        wheels = self._noisy["wheel_stop"] - self._noisy["wheel_start"]
        return self.rng.standard_normal(int((readings * wheels).sum()) * 3)

    def observe(self, row: np.ndarray) -> None:
        observe_robots(*self._arrays, self.inputs, row)

    def state_arrays(self) -> dict[str, np.ndarray]:
        return {**self._state_arrays, "inputs": self.inputs}

    def keep(self) -> None:
        self._kept_bytes[...] = self._state_bytes
        if self._noisy.size:
            self._kept_rng = self.rng.bit_generator.state

    def go_back(self) -> None:
        self._state_bytes[...] = self._kept_bytes
        if self._noisy.size:
            self.rng.bit_generator.state = self._kept_rng

    def get_state(self, robot: str) -> RobotState:
        row = np.empty(self.channels.width)
        self.observe(row)
        joints: dict[str, tuple[float, float]] = {}
        for name, axis in self._axes[robot].items():
            rate = self.channels.value(row, axis.rate) if axis.rate else self._state_arrays["steering_rate"][axis.index]
            joints[name] = float(self._state_arrays[axis.quantity][axis.index]), float(rate)
        pose, twist = (self.channels.value(row, f"{robot}/{name}").copy() for name in ("pose", "twist"))
        return RobotState(pose, twist, joints)

    def set_state(self, robot: str, *, pose: Numbers = None, twist: Numbers = None, joints: Joints = None) -> None:
        """Motors and steering follow their commands at once, so a twist is set by these and by the steering angles;
        slip then takes from it as from any command. Odometry and encoders see nothing of what is set."""
        axes = self._axes[robot]
        settings = given_joints(robot, joints, axes)
        with all_or_nothing(self):
            if pose is not None:
                number = list(self.robots).index(robot)
                self._state_arrays["pose"][number] = command_numbers(pose, 3, f"{robot}/pose (x, y, heading)")
            present = self.get_state(robot)
            for name, (angle, _) in settings.items():
                if angle != present.joints[name][0]:
                    set_angle(self.model, self.state, axes[name], angle, f"{robot}/{name}")
            if twist is not None:
                self._set_twist(robot, twist, settings)
            present = self.get_state(robot)
            for name, (_, rate) in settings.items():
                if rate is None or rate == present.joints[name][1]:
                    continue
                if not axes[name].rate:
                    set_steering_rate(self.model, self.state, axes[name], rate, f"{robot}/{name}")
                elif abs(rate - (turns := present.joints[name][1])) > 1e-9 * max(1.0, abs(rate)):
                    message = (
                        f"turns at {turns:.6g} rad/s as it is commanded and rolls, not at {rate:.6g}; set the twist"
                    )
                    raise InputError(Problem(message, key=f"{robot}/{name}"))

    def _set_twist(
        self, robot: str, twist: Sequence[float], settings: Mapping[str, tuple[float, float | None]]
    ) -> None:
        wanted = command_numbers(twist, 3, f"{robot}/twist (vx, vy, yaw rate)")
        if np.array_equal(wanted, self.get_state(robot).twist):
            return
        inputs = self.inputs[self.robot_inputs(robot)]
        groups = [f"{group}/steering" for group in self.robots[robot].steering_names]
        axes, first = self._axes[robot], self.robots[robot].n_rates
        inputs[first:] = [self._state_arrays["steering"][axes[name].index] for name in groups]
        inputs[:] = self.inputs_for_twist(robot, wanted)
        for name, angle in zip(groups, inputs[first:].tolist(), strict=True):
            given = settings.get(name, (angle, None))[0]
            if abs(given - angle) > 1e-9:
                message = f"the twist needs an angle of {angle:.6g} rad, not {given:.6g}"
                raise InputError(Problem(message, key=f"{robot}/{name}"))
            set_angle(self.model, self.state, axes[name], angle, f"{robot}/{name}")

    def rest_inputs(self, robot: str) -> np.ndarray:
        """Motors at rest; steering stays where it is commanded."""
        values = self.inputs[self.robot_inputs(robot)].copy()
        values[: self.robots[robot].n_rates] = 0.0
        return values

    def command_layout(self, robot: str) -> list[tuple[str, int]]:
        return [*super().command_layout(robot), ("twist", 3)]

    def resolve_command(self, robot: str, command: Mapping[str, Any]) -> np.ndarray:
        names = self._input_names[robot]
        # First the motion, then single inputs on top of it, however the mapping is ordered.
        if "twist" in command:
            values = self.inputs_for_twist(robot, command["twist"])
        else:
            values = self.inputs[self.robot_inputs(robot)].copy()
        for name, value in command.items():
            if name == "twist":
                continue
            if name in names:
                values[names.index(name)] = command_numbers(value, 1, f"{robot}/{name}")[0]
            else:
                raise InputError(Problem(f"unknown command {name!r}{closest(name, [*names, 'twist'])}", key=robot))
        return values

    def inputs_for_twist(self, robot: str, twist: Any) -> np.ndarray:
        wanted = command_numbers(twist, 3, f"{robot}/twist (vx, vy, yaw rate)")
        pivots = self._state_arrays["second"][self._wheels_of[robot]]
        found = inverse_kinematics(self.robots[robot], wanted, self.inputs[self.robot_inputs(robot)], pivots)
        if found.reason:
            near = ", ".join(f"{value:.4g}" for value in found.twist)
            raise InputError(
                Problem(
                    f"this robot cannot move with ({', '.join(f'{v:.4g}' for v in wanted)}): {found.reason}; "
                    f"nearest possible: ({near})",
                    key=f"{robot}/twist",
                )
            )
        return found.inputs

    def stability_hint(self) -> str:
        """Castors are the only part with a time constant of its own: |d| / v."""
        wheels = self.model.wheels
        castors = wheels[(wheels["kind"] == wc.CASTOR) & (wheels["motor_input"] < 0)]
        if castors.size:
            shortest = float(np.abs(castors["offset"]).min())
            return (
                f"the shortest castor has an offset of {shortest:g} m: its pivot settles within {shortest:g} m of "
                f"travel, which must take longer than the step of {self.dt:g} s"
            )
        return "kinematic robots have no stiffness; look for a command that grows without bound"
