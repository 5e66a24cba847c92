"""Engine `vehicle`: rigid vehicles on sprung wheels, on any ground. Equations in physics/wheels/wheel_block.py."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import exp, sqrt, tan
from typing import Any, assert_never

import numpy as np

from botz.channels import Channel, ChannelTable, command_numbers
from botz.engines.base import Engine, EngineState, Joints, Numbers, RobotState
from botz.engines.vehicle import step as kernel
from botz.engines.vehicle.model import axles_of, build_model
from botz.engines.vehicle.placing import Wanted, numbers, put, wanted_joints, wanted_pose
from botz.engines.vehicle.rows import channels_of, views_of
from botz.engines.vehicle.start import all_wheels_inside, standing_height, start_rotation
from botz.engines.vehicle.state import build_state, build_work, start_state
from botz.errors import InputError, Problem
from botz.physics.wheels.wheel_block import GRAVITY, LANES
from botz.scenario.names import closest
from botz.scenario.vehicle.schema import PlacedVehicle, VehicleScenario, VehicleWheel
from botz.scenario.vehicle.tyre import CoulombTyre, MagicFormulaTyre
from botz.terrain.height_grid import build_grid

BY_SHARES = {"tank": ("left", "right"), "drive": ("forward", "turn")}
"""Commands in shares of the full voltage, from −1 to 1."""


class VehicleEngine(Engine):
    name = "vehicle"

    def __init__(self, scenario: VehicleScenario):
        self.scenario = scenario
        self.dt = scenario.time.step_ns * 1e-9
        self.method = kernel.RK4 if scenario.time.method == "rk4" else kernel.SEMI_IMPLICIT
        self.ground = build_grid(scenario.world.terrain, scenario.seed)
        self.model = build_model(scenario, self.ground)
        self.state, self.work = build_state(self.model), build_work(self.model)
        self._parts = tuple(self.model), tuple(self.state), tuple(self.work)
        self._start_heights = self._heights()
        self._check_step()
        robots = scenario.robots.items()
        self.channels = ChannelTable([c for name, robot in robots for c in channels_of(name, robot)])
        self.inputs_table = ChannelTable(
            [
                Channel(f"{name}/{motor}/voltage", "V", "voltage commanded")
                for name, robot in robots
                for motor in robot.motors
            ]
        )
        self.inputs = np.zeros(self.inputs_table.width)
        self.views = tuple(view for name, robot in robots for view in views_of(name, robot))
        self._state_bytes = tuple(array.view(np.uint8) for array in self.state)
        self._kept_bytes = tuple(array.copy() for array in self._state_bytes)
        self.reset(np.random.default_rng(0))

    # --- building ------------------------------------------------------------------------------------------

    def _heights(self) -> list[float]:
        """Of the centres of mass at the start; a vehicle may not begin inside the ground."""
        heights, problems = [], []
        for name, robot in self.scenario.robots.items():
            standing, touching = standing_height(robot, self.ground, self.scenario.world.gravity)
            if len(robot.position) == 2:
                heights.append(standing)
                continue
            height = robot.position[2]
            if height < touching:
                message = (
                    f"{height:g} m puts it inside the ground; it stands at {standing:.4g} m: leave z out, or give more"
                )
                problems.append(Problem(message, key=f"robots.{name}.position.2"))
            heights.append(height)
        if self.ground.outside == "end":
            for name, robot in self.scenario.robots.items():
                x, y = robot.position[:2]
                if not all_wheels_inside(robot, self.ground, x, y, start_rotation(robot)):
                    message = "has a wheel outside the terrain, whose 'outside: end' ends the run there"
                    problems.append(Problem(message, key=f"robots.{name}.position"))
        if problems:
            raise InputError(problems)
        return heights

    def shortest_period(self) -> tuple[float, str]:
        """Shortest time constant of any part, divided so that a step may be no longer, and which part it is of."""
        found = []
        has_walls = self.model.steepness.max() > tan(self.scenario.world.contact.blocked_angle) - 1.0
        for name, robot in self.scenario.robots.items():
            chassis = robot.chassis
            lightest = effective_mass(robot)
            for wheel_name, wheel in robot.wheels.items():
                spring, mass = wheel.suspension, lightest[wheel_name]
                found.append((2.0 / sqrt(spring.stiffness / mass), f"spring of wheel {wheel_name!r} of {name}"))
                if has_walls:
                    wall = spring.stiffness / self.model.world[0].cos_blocked ** 2
                    found.append((2.0 / sqrt(wall / mass), f"wheel {wheel_name!r} of {name} at a wall"))
                if spring.damping > 0.0:
                    found.append((2.0 * mass / spring.damping, f"damper of wheel {wheel_name!r} of {name}"))
                tread, sticking = tread_stiffness(wheel, chassis.mass * GRAVITY / len(robot.wheels)), wheel.radius**2
                lightest_tread = 1.0 / (1.0 / mass + sticking / wheel.inertia)
                found.append((2.0 / sqrt(tread / lightest_tread), f"tread of wheel {wheel_name!r} of {name}"))
            corner = chassis.corners.stiffness
            found.append((2.0 / sqrt(corner / (chassis.mass / 8.0)), f"chassis corners of {name}"))
        for own, name in zip(self.model.robots, self.scenario.robots, strict=True):
            for block in self.model.axles[own.axle_start : own.axle_stop]:
                for i in range(LANES):
                    # Back-EMF brakes an axle like a viscous friction of η K_t K_e G²/R (one G is in back_emf).
                    braking = block.efficiency[i] * block.torque_constant[i] * block.ratio[i] * block.back_emf[i]
                    braking *= block.resistance_inverse[i]
                    for damping, part in ((block.sigma1[i] + block.sigma2[i], "friction"), (braking, "motor")):
                        if block.free[i] and damping > 0.0:
                            time_constant = 1.0 / (damping * block.inverse_inertia[i])
                            found.append((2.0 * time_constant, f"{part} of an axle of {name}"))
        return min(found)

    def _check_step(self) -> None:
        limit, part = self.shortest_period()
        if self.dt > limit:
            raise InputError(
                Problem(
                    f"{self.dt:g} s is too long for the {part}, which oscillates or settles faster; "
                    f"at most {limit:.2g} s, better a tenth of it",
                    key="time.step",
                )
            )

    # --- the protocol --------------------------------------------------------------------------------------

    def reset(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.inputs[:] = 0.0
        self.ended = ""
        start_state(self.model, self.state, self.scenario, self._start_heights)
        self.look()

    def look(self) -> None:
        """Find the forces of the present state; nothing moves on."""
        kernel.advance_vehicles(*self._parts, self.dt, self.method, self.inputs, 0, 0, 0, np.empty((0, 0)))

    def advance(self, step: int, n: int, record_every: int, rows: np.ndarray) -> bool:
        taken, finite, outside = kernel.advance_vehicles(
            *self._parts, self.dt, self.method, self.inputs, step, n, record_every, rows
        )
        if finite and outside >= 0:
            self.ended = f"{list(self.scenario.robots)[outside]} left the terrain"
            self.steps_taken = taken
        return bool(finite)

    def observe(self, row: np.ndarray) -> None:
        kernel.observe_vehicles(*self._parts, row)

    def state_arrays(self) -> dict[str, np.ndarray]:
        parts = zip(("robot", "wheels", "axles"), self.state, strict=True)
        found = {f"{part}/{field}": array[field] for part, array in parts for field in array.dtype.names or ()}
        return {"inputs": self.inputs} | found

    def restore(self, state: EngineState) -> None:
        super().restore(state)
        self.ended = ""

    def keep(self) -> None:
        for kept, array in zip(self._kept_bytes, self._state_bytes, strict=True):
            kept[...] = array

    def go_back(self) -> None:
        for kept, array in zip(self._kept_bytes, self._state_bytes, strict=True):
            array[...] = kept
        self.ended = ""

    def get_state(self, robot: str) -> RobotState:
        row, spec = np.empty(self.channels.width), self._spec_of(robot)
        self.observe(row)

        def value(name: str) -> Any:
            return self.channels.value(row, f"{robot}/{name}")

        joints = {wheel: (float(value(f"{wheel}/angle")), float(value(f"{wheel}/speed"))) for wheel in spec.wheels}
        return RobotState(np.array(value("pose")), np.array(value("twist")), joints)

    def set_state(self, robot: str, *, pose: Numbers = None, twist: Numbers = None, joints: Joints = None) -> None:
        spec, now = self._spec_of(robot), self.get_state(robot)
        axles, r = axles_of(spec), list(self.scenario.robots).index(robot)
        new_pose = None if pose is None else wanted_pose(pose, now, spec, self.ground, f"{robot}.pose")
        new_twist = None if twist is None else numbers(twist, 6, "vx, vy, vz, wx, wy, wz", f"{robot}.twist")
        if new_twist is not None and np.array_equal(new_twist, now.twist):
            new_twist = None
        wanted = Wanted(new_pose, new_twist, *wanted_joints(joints, now, spec, axles, f"{robot}.joints"))
        if wanted.changes_nothing():
            return
        put(self.model, self.state, r, wanted, now, axles)
        # What can be observed of this robot is found anew; that of the others stays.
        own = self.model.robots[r]
        spans = slice(r, r + 1), slice(own.wheel_start, own.wheel_stop), slice(own.axle_start, own.axle_stop)
        before = [array.copy() for array in self.state]
        self.look()
        for array, old, span in zip(self.state, before, spans, strict=True):
            old[span] = array[span]
            array[...] = old
        self.ended = ""

    def _spec_of(self, robot: str) -> PlacedVehicle:
        if robot not in self.scenario.robots:
            raise InputError(Problem(f"no robot {robot!r}{closest(robot, self.scenario.robots)}"))
        return self.scenario.robots[robot]

    def rest_inputs(self, robot: str) -> np.ndarray:
        return np.zeros(len(self.scenario.robots[robot].motors))

    def command_layout(self, robot: str) -> list[tuple[str, int]]:
        return [*super().command_layout(robot), *((name, len(parts)) for name, parts in BY_SHARES.items())]

    def resolve_command(self, robot: str, command: Mapping[str, Any]) -> np.ndarray:
        spec = self.scenario.robots[robot]
        motors = list(spec.motors)
        values = self.inputs[self.robot_inputs(robot)].copy()
        # First both sides, then single motors on top of them, however the mapping is ordered.
        for name in BY_SHARES:
            if name in command:
                shares = command_numbers(command[name], 2, f"{robot}/{name} ({', '.join(BY_SHARES[name])})")
                self._apply_shares(robot, name, shares, values)
        for name, value in command.items():
            if name in BY_SHARES:
                continue
            motor = name.removesuffix("/voltage")
            if motor not in spec.motors or motor == name:
                known = [f"{one}/voltage" for one in motors]
                raise InputError(Problem(f"unknown command {name!r}{closest(name, [*known, *BY_SHARES])}", key=robot))
            values[motors.index(motor)] = command_numbers(value, 1, f"{robot}/{name}")[0]
        return values

    def _apply_shares(self, robot: str, name: str, shares: np.ndarray, values: np.ndarray) -> None:
        spec = self.scenario.robots[robot]
        left, right = shares
        if name == "drive":
            forward, turn = shares
            scale = max(1.0, abs(forward) + abs(turn))
            left, right = (forward - turn) / scale, (forward + turn) / scale
        for side, share in (("left", left), ("right", right)):
            names = spec.motors_of_side(side)  # type: ignore[arg-type]
            if not names:
                message = f"no motor turns wheels on the {side} alone; name them under 'sides', or command voltages"
                raise InputError(Problem(message, key=f"{robot}/{name}"))
            for motor in names:
                largest = spec.motors[motor].voltage
                values[list(spec.motors).index(motor)] = min(max(share, -1.0), 1.0) * largest

    def stability_hint(self) -> str:
        limit, part = self.shortest_period()
        if self.dt < 0.2 * limit:
            return "its parts are slow enough for this step; look for a speed, a force or a command without bound"
        return f"the fastest part is the {part}: a step of {limit:.2g} s is its limit, this one is {self.dt:g} s"

    def stage_times(self, n: int) -> dict[str, float]:
        """Seconds per step of each stage, by doing each `n` times over from the present state."""
        self.keep()
        found = {}
        names = ("contacts", "slips and springs", "tyres", "motors and friction", "chassis")
        for stage, name in enumerate(names):
            kernel.repeat_stage(*self._parts, self.inputs, self.dt, stage, 1)
            began = time.perf_counter()
            kernel.repeat_stage(*self._parts, self.inputs, self.dt, stage, n)
            found[name] = (time.perf_counter() - began) / n
            self.go_back()
        return found


def tread_stiffness(wheel: VehicleWheel, load: float) -> float:
    """Of a tyre along the ground while it sticks, under a load [N/m]."""
    match wheel.tyre:
        case CoulombTyre() as tyre:
            return tyre.stiffness
        case MagicFormulaTyre() as tyre:
            _, _, a3, a4, a5, *_ = tyre.longitudinal
            thousands = min(load, tyre.largest_load) / 1000.0
            slip = (a3 * thousands + a4) * thousands * exp(-a5 * thousands) * tyre.stiffness_scale  # eq. 3.32
            return 100.0 * slip / tyre.relaxation[0]
        case _:
            assert_never(wheel.tyre)


def effective_mass(robot: Any) -> dict[str, float]:
    """Mass that each wheel's spring sees, from 1/m + x²/I_yy + y²/I_xx: the less, the farther out it stands."""
    chassis = robot.chassis
    xx, yy = chassis.inertia_tensor[:2]
    return {
        name: 1.0 / (1.0 / chassis.mass + wheel.position[0] ** 2 / yy + wheel.position[1] ** 2 / xx)
        for name, wheel in robot.wheels.items()
    }
