"""Putting one vehicle into another state: what is admissible, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from botz.engines.base import Joints, RobotState
from botz.engines.vehicle.model import Axle, Model
from botz.engines.vehicle.start import all_wheels_inside, least_height
from botz.engines.vehicle.state import State, set_momenta
from botz.errors import InputError, Problem
from botz.physics.wheels.wheel_block import LANES, start_wheels
from botz.scenario.names import closest
from botz.scenario.vehicle.schema import PlacedVehicle
from botz.terrain.height_grid import HeightGrid
from botz.transforms import rotation_of_unit


class Wanted(NamedTuple):
    """An admissible state; None stays as it is."""

    pose: np.ndarray | None
    twist: np.ndarray | None
    angles: dict[int, float]
    """Of axles, by number."""
    speeds: dict[int, float]
    """Of axles against the body."""

    def changes_nothing(self) -> bool:
        return self.pose is None and self.twist is None and not self.angles and not self.speeds


def numbers(values: Any, count: int, what: str, key: str) -> np.ndarray:
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise InputError(Problem(f"needs {count} finite numbers ({what}), not {values!r}", key=key))
    return found


def wanted_pose(pose: Sequence[float], now: RobotState, robot: PlacedVehicle, ground: HeightGrid, key: str) -> Any:
    """The pose with a quaternion of length 1; None where it is the present one."""
    found = numbers(pose, 7, "x, y, z, qw, qx, qy, qz", key)
    if np.array_equal(found, now.pose):
        return None
    length = float(np.linalg.norm(found[3:]))
    if not 0.0 < length < np.inf:
        raise InputError(Problem("its quaternion has no direction; no rotation is 1, 0, 0, 0", key=key))
    found[3:] /= length
    x, y, z = found[:3]
    rotation = rotation_of_unit(*found[3:])
    if ground.outside == "end" and not all_wheels_inside(robot, ground, x, y, rotation):
        message = "has a wheel outside the terrain, whose 'outside: end' ends the run there"
        raise InputError(Problem(message, key=key))
    least = least_height(robot, ground, x, y, rotation)
    if z < least:
        message = f"z = {z:g} m puts it inside the ground; there, with this attitude, z is {least:.4g} m at least"
        raise InputError(Problem(message, key=key))
    return found


def wanted_joints(
    joints: Joints, now: RobotState, robot: PlacedVehicle, axles: list[Axle], key: str
) -> tuple[dict[int, float], dict[int, float]]:
    """Angles and speeds that are new, by the axle's number; wheels on one axle turn together."""
    axle_of = {wheel: number for number, axle in enumerate(axles) for wheel in axle.wheels}
    given: dict[int, tuple[str, float, float]] = {}
    for name, value in (joints or {}).items():
        if name not in axle_of:
            raise InputError(Problem(f"no wheel {name!r}{closest(name, axle_of)}", key=key))
        angle_now, speed_now = now.joints[name]
        own_key, both = f"{key}.{name}", np.ndim(value) > 0
        found = numbers(value if both else [value], 2 if both else 1, "angle, speed" if both else "angle", own_key)
        angle, speed = float(found[0]), float(found[1]) if both else speed_now
        number = axle_of[name]
        if axles[number].motor is None and robot.wheels[name].locked and (angle, speed) != (angle_now, speed_now):
            message = f"the wheel is locked: it stays at {angle_now:g} rad and {speed_now:g} rad/s"
            raise InputError(Problem(message, key=own_key))
        other, *values = given.setdefault(number, (name, angle, speed))
        if values != [angle, speed]:
            message = f"turns with {other!r} on one motor, so both need the same angle and speed"
            raise InputError(Problem(message, key=own_key))
    present = {number: now.joints[axles[number].wheels[0]] for number in given}
    angles = {number: angle for number, (_, angle, _) in given.items() if angle != present[number][0]}
    speeds = {number: speed for number, (_, _, speed) in given.items() if speed != present[number][1]}
    return angles, speeds


def put(model: Model, state: State, r: int, wanted: Wanted, now: RobotState, axles: list[Axle]) -> None:
    """Change the state of robot r. Elsewhere no tread is stretched, and what was remembered of the ground is void."""
    fixed, own = model.robots[r], state.robots[r]
    if wanted.pose is not None:
        own.x, own.x_lost = wanted.pose[:3], 0.0
        own.quat, own.quat_lost = wanted.pose[3:], 0.0
        own.corner_u, own.tile_seen = 0.0, own.travelled
        start_wheels(state.wheels[fixed.wheel_start : fixed.wheel_stop])
    for number, angle in wanted.angles.items():
        block, i = state.axles[fixed.axle_start + number // LANES], number % LANES
        block["angle"][i], block["angle_lost"][i] = angle, 0.0
    if wanted.pose is None and wanted.twist is None and not wanted.speeds:
        return
    twist = now.twist if wanted.twist is None else wanted.twist
    if wanted.pose is not None or wanted.twist is not None:
        own.v, own.v_lost = rotation_of_unit(*own.quat) @ twist[:3], 0.0
    speeds = [wanted.speeds.get(number, now.joints[axle.wheels[0]][1]) for number, axle in enumerate(axles)]
    own.spin_lost = 0.0
    state.axles["p_lost"][fixed.axle_start : fixed.axle_stop] = 0.0
    set_momenta(model, state, r, twist[3:], [speed + twist[4] for speed in speeds])
