"""Engine `arm`: serial arms by Denavit and Hartenberg's parameters, what they touch and what they carry. Equations in
physics/arm/dh.py, newton_euler.py and composite_body.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from botz.channels import Channel, ChannelTable, command_numbers
from botz.engines.arm import step as kernel
from botz.engines.arm.checks import check_masses, check_step
from botz.engines.arm.model import build_model
from botz.engines.arm.placing import Placing
from botz.engines.arm.rows import channels_of, views_of
from botz.engines.arm.state import State, start_state
from botz.engines.arm.work import make_work
from botz.engines.base import Engine, EngineState, Joints, Numbers, RobotState
from botz.errors import InputError, Problem
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
        world = scenario.world
        self.arms = {
            name: SerialArm(robot, gravity=world.gravity, water=world.water) for name, robot in scenario.robots.items()
        }
        check_masses(scenario, self.arms)
        self.model = build_model(scenario, self.arms, self.dt)
        self._start = start_state(scenario, self.arms, self.model)
        self.state = State(*(array.copy() for array in self._start))
        self.work = make_work(self.model)
        self._world = (tuple(self.model), tuple(self.state), tuple(self.work))
        check_step(scenario, self.arms, self.model, self._start, self.dt)
        self.channels = ChannelTable(channels_of(scenario))
        self.inputs_table = ChannelTable(self._input_channels())
        self.inputs = np.zeros(self.inputs_table.width)
        self._commands = {name: dict(self.command_layout(name)) for name in self.arms}
        self.views = views_of(scenario)
        self._bytes = tuple(array.reshape(-1).view(np.uint8) for array in self.state)
        self._kept_bytes = tuple(array.copy() for array in self._bytes)
        self.reset(np.random.default_rng(0))

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

    def about(self) -> dict[str, Any]:
        """What `SerialArm` needs, of each arm."""
        return {
            "arms": {
                name: {"robot": robot.model_dump(mode="json", exclude={"description", "source"})}
                for name, robot in self.scenario.robots.items()
            }
        }

    def reset(self, rng: np.random.Generator) -> None:
        self.rng = rng
        for array, start in zip(self.state, self._start, strict=True):
            array[...] = start
        self.inputs[:] = 0.0
        for tool, (name, robot) in zip(self.state.tools, self.scenario.robots.items(), strict=True):
            own = self.inputs[self.robot_inputs(name)]
            own[: len(robot.joints)] = np.nan
            if robot.gripper is not None:
                own[-2:] = tool.opening, robot.gripper.force
        self._held = self.state.tools["held"].copy()

    def advance(self, step: int, n: int, record_every: int, rows: np.ndarray) -> bool:
        good = kernel.advance_arms(*self._world, self.inputs, self.dt, step, n, record_every, rows)
        self.news = ()
        held = self.state.tools["held"]
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
        kernel.observe_arms(*self._world, row)

    def state_arrays(self) -> dict[str, np.ndarray]:
        return {"inputs": self.inputs, **self.state.arrays()}

    def restore(self, state: EngineState) -> None:
        super().restore(state)
        self._held = self.state.tools["held"].copy()

    def get_state(self, robot: str) -> RobotState:
        """Of an arm, or of an object of the world."""
        return Placing(self.scenario, self.arms, self.model, self.state).get(robot)

    def set_state(self, robot: str, *, pose: Numbers = None, twist: Numbers = None, joints: Joints = None) -> None:
        Placing(self.scenario, self.arms, self.model, self.state).set(robot, pose, twist, joints)

    def keep(self) -> None:
        for kept, array in zip(self._kept_bytes, self._bytes, strict=True):
            kept[...] = array

    def go_back(self) -> None:
        for kept, array in zip(self._kept_bytes, self._bytes, strict=True):
            array[...] = kept
        self._held = self.state.tools["held"].copy()

    def stability_hint(self) -> str:
        fastest = max(robot.servo.frequency for robot in self.scenario.robots.values())
        stiff = float(self.model.world[0].stiffness)
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
        unit = self.model.units[list(self.arms).index(robot)]
        q = self.state.q[int(unit.start) : int(unit.start + unit.n)]
        return joint_speeds(arm, q, np.clip(twist, -WILDEST, WILDEST), arm.speed)[0]
