"""Engine `arm`: serial arms by Denavit and Hartenberg's parameters, what they touch and what they carry. Equations in
physics/arm/dh.py, newton_euler.py and composite_body.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from botz.channels import Channel, ChannelTable, command_numbers
from botz.engines.arm import model as layout
from botz.engines.arm import step as kernel
from botz.engines.arm.checks import check_masses, check_step
from botz.engines.arm.rows import channels_of, views_of
from botz.engines.base import Engine, EngineState
from botz.errors import InputError, Problem
from botz.robots.arm_calls import BY_COLUMNS, COMPOSITE
from botz.robots.serial_arm import SerialArm
from botz.robots.tool_rates import joint_speeds
from botz.scenario.arm.schema import ArmScenario
from botz.scenario.names import closest

WILDEST = 1e9
"""Commands are cut off here, so that nothing computed from them overflows."""


class ArmEngine(Engine):
    name = "arm"

    def __init__(self, scenario: ArmScenario):
        self.scenario = scenario
        self.dt = scenario.time.step_ns * 1e-9
        self.method = kernel.RK4 if scenario.time.method == "rk4" else kernel.SEMI_IMPLICIT
        self.dynamics = COMPOSITE if scenario.time.forward_dynamics == "composite-body" else BY_COLUMNS
        world = scenario.world
        self.arms = {
            name: SerialArm(robot, gravity=world.gravity, water=world.water) for name, robot in scenario.robots.items()
        }
        check_masses(scenario, self.arms)
        self.records = layout.build_records(scenario, self.arms, self.dt)
        self._axes = np.zeros((len(self.records.boxes), 9))
        self._start_poses = self.records.poses.copy()
        kernel.box_axes(self.records.poses, self._axes)
        self.channels = ChannelTable(channels_of(scenario))
        self.inputs_table = ChannelTable(self._input_channels())
        self.inputs = np.zeros(self.inputs_table.width)
        self._commands = {name: dict(self.command_layout(name)) for name in self.arms}
        self.views = views_of(scenario)
        self._rng = np.random.default_rng(0)
        records = self.records
        stateful = (records.units, records.joints, records.q, records.qd, records.poses, records.bristles)
        self._stateful = tuple(array.reshape(-1).view(np.uint8) for array in stateful)
        self._kept_arrays = tuple(array.copy() for array in self._stateful)
        check_step(scenario, self.arms, self.records, self._axes, self.dt)
        self.reset(self._rng)

    # --- building --------------------------------------------------------------------------------------------

    def _input_channels(self) -> list[Channel]:
        found = []
        for name, robot in self.scenario.robots.items():
            joints = tuple(robot.joints)
            found += [
                Channel(f"{name}/position", "rad, m", "reference; NaN: goes on from where it is", joints),
                Channel(f"{name}/speed", "rad/s, m/s", "speed of the reference", joints),
                Channel(f"{name}/acceleration", "rad/s², m/s²", "acceleration of the reference", joints),
                Channel(f"{name}/torque", "N·m, N", "torque added to the servo's", joints),
                Channel(f"{name}/halt", "1", "1: the reference becomes the present position, at rest"),
                Channel(f"{name}/number", "1", "number of the last reference"),
            ]
            if robot.gripper is not None:
                found.append(Channel(f"{name}/gripper/opening", "m", "distance between the pads that is wanted"))
                found.append(Channel(f"{name}/gripper/force", "N", "greatest force of a jaw"))
        return found

    # --- the protocol ----------------------------------------------------------------------------------------

    @property
    def rng(self) -> np.random.Generator:
        return self._rng

    def about(self) -> dict[str, Any]:
        """What `SerialArm` needs, of each arm."""
        return {
            "arms": {
                name: {"robot": robot.model_dump(mode="json", exclude={"description", "source"})}
                for name, robot in self.scenario.robots.items()
            }
        }

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng
        records = self.records
        self.inputs[:] = 0.0
        self._held = np.zeros(len(records.units))
        for unit, (name, robot) in zip(records.units, self.scenario.robots.items(), strict=True):
            span = slice(int(unit.start), int(unit.start + unit.n))
            records.q[span] = robot.start_joints
            records.qd[span] = robot.start_speed if robot.start_speed is not None else 0.0
            joints = records.joints[span]
            for field in layout.JOINT_STATE:
                joints[field] = 0.0
            joints["reference"] = records.q[span]
            for field in layout.UNIT_STATE:
                unit[field] = 0.0
            own = self.inputs[self.robot_inputs(name)]
            own[: unit.n] = np.nan
            if robot.gripper is not None:
                unit.opening = robot.gripper.opening if robot.gripper.start is None else robot.gripper.start
                own[-2:] = unit.opening, robot.gripper.force
        records.poses[...] = self._start_poses
        records.bristles[...] = 0.0
        kernel.box_axes(records.poses, self._axes)
        self._start_torques()

    def _start_torques(self) -> None:
        """Valves start at what holds the arm where it is: no arm falls when a run begins."""
        for unit, (name, robot) in zip(self.records.units, self.scenario.robots.items(), strict=True):
            if robot.servo.type != "torque":
                span = slice(int(unit.start), int(unit.start + unit.n))
                joints = self.records.joints[span]
                gravity = self.arms[name].gravity(self.records.q[span])
                joints["torque"] = np.clip(gravity, -joints["strongest"], joints["strongest"])

    def advance(self, step: int, n: int, record_every: int, rows: np.ndarray) -> bool:
        good = kernel.advance_arms(
            *self.records, self._axes, self.method, self.dynamics, self.dt, self.inputs, step, n, record_every, rows
        )
        self.news = ()
        held = self.records.units["held"]
        if held.tobytes() != self._held.tobytes():  # np.array_equal takes as long as half a step
            self.news = tuple(self._news(held))
            self._held = held.copy()
        return bool(good)

    def _news(self, held: np.ndarray) -> list[str]:
        objects = list(self.scenario.world.objects)
        first = len(self.scenario.world.boxes)
        found = []
        for name, now, before in zip(self.scenario.robots, held.astype(int), self._held.astype(int), strict=True):
            if now and now != before:
                found.append(f"{name} holds {objects[now - 1 - first]}")
            elif before and not now:
                found.append(f"{name} has let {objects[before - 1 - first]} go")
        return found

    def observe(self, row: np.ndarray) -> None:
        r = self.records
        kernel.observe_arms(
            r.arms, r.units, r.links, r.joints, r.boxes, r.poses, r.q, r.qd, r.scratch, r.frames, r.room, r.world, row
        )

    def state_arrays(self) -> dict[str, np.ndarray]:
        records = self.records
        found = {"inputs": self.inputs, "q": records.q, "qd": records.qd, "boxes": records.poses}
        found["bristles"] = records.bristles
        found |= {f"joint/{name}": records.joints[name] for name in layout.JOINT_STATE}
        return found | {f"arm/{name}": records.units[name] for name in layout.UNIT_STATE}

    def restore(self, state: EngineState) -> None:
        super().restore(state)
        self._look_again()

    def keep(self) -> None:
        for kept, array in zip(self._kept_arrays, self._stateful, strict=True):
            kept[...] = array

    def go_back(self) -> None:
        for kept, array in zip(self._kept_arrays, self._stateful, strict=True):
            array[...] = kept
        self._look_again()

    def _look_again(self) -> None:
        kernel.box_axes(self.records.poses, self._axes)
        self._held = self.records.units["held"].copy()

    def stability_hint(self) -> str:
        fastest = max(robot.servo.frequency for robot in self.scenario.robots.values())
        stiff = float(self.records.world[3])
        return (
            f"a step of {self.dt:g} s must be short against the servos ({1.0 / fastest:.2g} s), explicit gains, "
            f"friction of light joints, and contacts of {stiff:.3g} N/m on the lightest object; every joint must move "
            "inertia"
        )

    # --- commands --------------------------------------------------------------------------------------------

    def command_layout(self, robot: str) -> list[tuple[str, int]]:
        n = self.arms[robot].n
        found = [("position", n), ("speed", n), ("acceleration", n), ("torque", n), ("twist", 6), ("halt", 1)]
        if self.scenario.robots[robot].gripper is not None:
            found += [("gripper/opening", 1), ("gripper/force", 1)]
        return found

    def rest_inputs(self, robot: str) -> np.ndarray:
        """Stay where the reference is; the gripper keeps what it holds."""
        n = self.arms[robot].n
        values = self.inputs[self.robot_inputs(robot)].copy()
        values[:n], values[n : 4 * n], values[4 * n] = np.nan, 0.0, 0.0
        values[4 * n + 1] += 1.0
        return values

    def resolve_command(self, robot: str, command: Mapping[str, Any]) -> np.ndarray:
        known = self._commands[robot]
        given = {}
        for name, value in command.items():
            if name not in known:
                raise InputError(Problem(f"unknown command {name!r}{closest(name, known)}", key=robot))
            given[name] = command_numbers(value, known[name], f"{robot}/{name}")
        n = self.arms[robot].n
        values = self.inputs[self.robot_inputs(robot)].copy()
        number = values[4 * n + 1]
        if "twist" in given:
            if "position" in given or "speed" in given:
                raise InputError(Problem("'twist' and joints together: an arm follows one or the other", key=robot))
            given["speed"] = self.joint_speeds(robot, given["twist"])
        if "acceleration" in given and "speed" not in given:
            raise InputError(Problem("'acceleration' needs the 'speed' that it changes", key=robot))
        if "halt" in given and given["halt"][0] not in (0.0, 1.0):
            raise InputError(Problem(f"1 to halt, not {given['halt'][0]:g}", key=f"{robot}/halt"))
        halts = "halt" in given and given["halt"][0] == 1.0
        if halts or "position" in given or "speed" in given:
            values[:n] = given.get("position", np.nan)
            values[n : 2 * n] = given.get("speed", 0.0)
            values[2 * n : 3 * n] = given.get("acceleration", 0.0)
            values[4 * n] = 1.0 if halts else 0.0
            number = values[4 * n + 1] + 1.0
        if "torque" in given or halts:
            values[3 * n : 4 * n] = given.get("torque", 0.0)
        for k, name in enumerate(("gripper/opening", "gripper/force")):
            if name in given:
                values[4 * n + 2 + k] = given[name][0]
        values = np.clip(values, -WILDEST, WILDEST)
        values[4 * n + 1] = number
        return values

    def joint_speeds(self, robot: str, twist: np.ndarray) -> np.ndarray:
        """Joint speeds for a velocity of the tool and its angular velocity (world axes) at the present position."""
        arm = self.arms[robot]
        unit = self.records.units[list(self.arms).index(robot)]
        q = self.records.q[int(unit.start) : int(unit.start + unit.n)]
        return joint_speeds(arm, q, np.clip(twist, -WILDEST, WILDEST), arm.speed)[0]
