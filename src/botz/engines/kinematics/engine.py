"""Engine `kinematics`: wheeled robots that roll without dynamics. Equations in physics/wheels/constraints.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from botz.channels import Channel, ChannelTable, JointView, PoseView, RosView, command_numbers
from botz.engines.base import Engine
from botz.engines.kinematics.model import build_records, state_of
from botz.engines.kinematics.sensing import observe_row
from botz.engines.kinematics.step import ARC, RK4, advance_robots
from botz.errors import InputError, Problem
from botz.physics.wheels import constraints as wc
from botz.robots.wheel_inverse import inverse_kinematics
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics.schema import KinematicsScenario
from botz.scenario.names import closest

POSE = ("x", "y", "heading")
TWIST = ("vx", "vy", "yaw_rate")


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
        models, placed = list(self.robots.values()), list(scenario.robots.values())
        self.records = build_records(models, placed, scenario.time)
        self.state = state_of(self.records)
        self.channels = ChannelTable([c for name in self.robots for c in self._channels(name)])
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
            for name, own in zip(self.robots, self.records.robots, strict=True)
        }
        self.views = tuple(view for name in self.robots for view in self._views(name))
        self._rng = np.random.default_rng(0)
        self._noisy = self.records.robots[self.records.robots["has_noise"]]
        self._no_noise = np.zeros(0)
        stateful = (self.records.robots, self.records.wheels, self.records.groups)
        self._stateful = tuple(records.view(np.uint8) for records in stateful)
        self._kept_records = tuple(records.copy() for records in self._stateful)
        self.reset(self._rng)

    # --- building ------------------------------------------------------------------------------------------

    def _channels(self, name: str) -> list[Channel]:
        """The channel table of one robot, in the order in which `observe_row` writes it."""
        robot = self.robots[name]
        found = [
            Channel(f"{name}/pose", "m, m, rad", "true pose in the world", POSE),
            Channel(f"{name}/twist", "m/s, m/s, rad/s", "velocity in the body's axes", TWIST),
            Channel(
                f"{name}/icr",
                "m",
                "instantaneous centre of rotation in the world; NaN when not turning",
                ("x", "y"),
            ),
            Channel(f"{name}/odometry/pose", "m, m, rad", "pose by dead reckoning from the encoders", POSE),
            Channel(f"{name}/odometry/twist", "m/s, m/s, rad/s", "velocity from the encoders", TWIST),
        ]
        found += [
            Channel(f"{name}/{one.name}_command", one.unit, f"command: {one.description}") for one in robot.inputs
        ]
        for wheel, kind in zip(robot.wheel_names, robot.kind, strict=True):
            if kind == wc.SUPPORT:
                continue
            part = f"{name}/{wheel}"
            found += [
                Channel(f"{part}/angle", "rad", "rotation of the wheel"),
                Channel(f"{part}/speed", "rad/s", "rotation speed of the wheel"),
                Channel(f"{part}/ticks", "1", "encoder count at the last reading"),
                Channel(f"{part}/slip", "m/s", "velocity of the contact over the ground", ("along", "across")),
            ]
            if kind in (wc.STEERED, wc.CASTOR):
                found.append(Channel(f"{part}/steering", "rad", "angle about the vertical axis"))
                found.append(Channel(f"{part}/steering_rate", "rad/s", "rate of that angle"))
            elif kind == wc.SWEDISH:
                found.append(Channel(f"{part}/roller_angle", "rad", "rotation of the rollers"))
                found.append(Channel(f"{part}/roller_speed", "rad/s", "rotation speed of the rollers"))
            elif kind == wc.SPHERICAL:
                found.append(Channel(f"{part}/side_angle", "rad", "rotation of the ball to its left"))
                found.append(Channel(f"{part}/side_speed", "rad/s", "rotation speed of the ball to its left"))
        return found

    def _views(self, name: str) -> list[RosView]:
        robot = self.robots[name]
        views: list[RosView] = [
            PoseView(name, name, "odom", f"{name}/pose", f"{name}/twist"),
            PoseView(name, f"{name}/odometry", "odometry", f"{name}/odometry/pose", f"{name}/odometry/twist"),
        ]
        joints: list[tuple[str, str, str]] = []
        for wheel, kind in zip(robot.wheel_names, robot.kind, strict=True):
            if kind == wc.SUPPORT:
                continue
            joints.append((wheel, f"{name}/{wheel}/angle", f"{name}/{wheel}/speed"))
            if kind in (wc.STEERED, wc.CASTOR):
                joints.append((f"{wheel}_steering", f"{name}/{wheel}/steering", f"{name}/{wheel}/steering_rate"))
        if joints:
            names, positions, velocities = zip(*joints, strict=True)
            views.append(JointView(name, names, positions, velocities))
        return views

    # --- the protocol --------------------------------------------------------------------------------------

    @property
    def rng(self) -> np.random.Generator:
        return self._rng

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng
        for array in self.state:
            array[...] = 0.0
        self.inputs[:] = 0.0
        self.state.pose[:] = [robot.pose for robot in self.scenario.robots.values()]
        self.state.odometry_pose[:] = self.state.pose
        self.state.slip[:] = self.records.wheels["slip_mean"]
        self.records.robots["valid"] = False

    def advance(self, step: int, n: int, record_every: int, rows: np.ndarray) -> bool:
        return advance_robots(
            *self.records, self.dt, self.method, self.inputs, self._noise(step, n), step, n, record_every, rows,
        )  # fmt: skip

    def _noise(self, step: int, n: int) -> np.ndarray:
        """Random numbers for the encoder readings in these steps. They are used in the order of steps and robots,
        so that cutting a run into other pieces does not change it."""
        if not self._noisy.size:
            return self._no_noise
        every = self._noisy["odometry_every"]
        readings = (step + n) // every - step // every
        wheels = self._noisy["wheel_stop"] - self._noisy["wheel_start"]
        return self._rng.standard_normal(int((readings * wheels).sum()) * 3)

    def observe(self, row: np.ndarray) -> None:
        observe_row(*self.records, self.inputs, row)

    def state_arrays(self) -> dict[str, np.ndarray]:
        return {**self.state._asdict(), "inputs": self.inputs}

    def restore(self, state) -> None:
        super().restore(state)
        self.records.robots["valid"] = False

    def keep(self) -> None:
        # Whole records as bytes: parameters and work come along, which costs less than picking the state out.
        for kept, records in zip(self._kept_records, self._stateful, strict=True):
            kept[...] = records
        if self._noisy.size:
            self._kept_rng = self._rng.bit_generator.state

    def go_back(self) -> None:
        for kept, records in zip(self._kept_records, self._stateful, strict=True):
            records[...] = kept
        if self._noisy.size:
            self._rng.bit_generator.state = self._kept_rng
        self.records.robots["valid"] = False

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
        pivots = self.state.second[self._wheels_of[robot]]
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
        wheels = self.records.wheels
        castors = wheels[(wheels["kind"] == wc.CASTOR) & (wheels["motor_input"] < 0)]
        if castors.size:
            shortest = float(np.abs(castors["offset"]).min())
            return (
                f"the shortest castor has an offset of {shortest:g} m: its pivot settles within {shortest:g} m of "
                f"travel, which must take longer than the step of {self.dt:g} s"
            )
        return "kinematic robots have no stiffness; look for a command that grows without bound"
