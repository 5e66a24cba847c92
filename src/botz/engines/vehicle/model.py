"""The model of the engine `vehicle`: parameters of robots, wheels and axles, and the ground. A step never writes it."""

from __future__ import annotations

from math import atan, ceil, cos, pi, sqrt, tan
from typing import Any, NamedTuple

import numpy as np

from botz.kernels import record
from botz.physics.contact.terrain import GRID
from botz.physics.wheels.axle_block import AXLE_MODEL
from botz.physics.wheels.wheel_block import COULOMB, GRAVITY, LANES, MAGIC, WHEEL_MODEL
from botz.scenario.vehicle.schema import AxleFriction, PlacedVehicle, VehicleScenario, VehicleWheel
from botz.scenario.vehicle.tyre import CoulombTyre, MagicFormulaTyre
from botz.terrain.height_grid import HeightGrid

INDEX, REAL, CORNERS = np.int64, np.float64, (np.float64, (8, 3))

RIM_BLEND = 0.002
"""Difference of two rims' deflections below which a wheel stands on both, as a part of its width."""

ROBOT_MODEL = record(
    # its blocks of wheels and axles, [start, stop)
    wheel_start=INDEX, wheel_stop=INDEX, axle_start=INDEX, axle_stop=INDEX,
    mass=REAL, inverse_mass=REAL, inertia=(REAL, (3, 3)), inverse_inertia=(REAL, (3, 3)),
    corners=CORNERS, corner_stiffness=REAL, corner_damping=REAL, corner_friction=REAL,
    battery=REAL, battery_resistance=REAL, reach=REAL, gravity=REAL,
)  # fmt: skip

WORLD = record(
    gravity=REAL, cos_blocked=REAL, blocked_angle=REAL, plain=INDEX, ends_outside=INDEX, tile=REAL, grid=GRID
)


class Model(NamedTuple):
    """All vehicles of a scenario and their world; arrays that cannot be written."""

    robots: np.ndarray
    wheels: np.ndarray
    """Blocks of four, those of one robot after those of another; so are the axles."""
    axles: np.ndarray
    world: np.ndarray
    heights: np.ndarray
    steepness: np.ndarray
    """Steepest slope in and around each tile of the ground."""
    slices: np.ndarray
    """Sine and cosine of the rims' slices, from the lowest point outwards."""


def build_model(scenario: VehicleScenario, ground: HeightGrid) -> Model:
    """These vehicles on this ground."""
    placed = list(scenario.robots.values())
    wheel_blocks = [ceil(len(robot.wheels) / LANES) for robot in placed]
    axle_lists = [axles_of(robot) for robot in placed]
    axle_blocks = [ceil(len(axles) / LANES) for axles in axle_lists]
    contact = scenario.world.contact
    world = np.zeros(1, WORLD)
    world[0].gravity = scenario.world.gravity
    world[0].blocked_angle, world[0].cos_blocked = contact.blocked_angle, cos(contact.blocked_angle)
    world[0].plain = contact.search == "plain"
    world[0].ends_outside = ground.outside == "end"
    world[0].tile = 1.5 * max(reach_of(robot) for robot in placed)
    world["grid"] = grid_of(ground)
    step = pi / contact.slices
    order = [0, *(sign * k for k in range(1, contact.slices // 2 + 1) for sign in (1, -1))]
    gammas = np.array(order) * step
    model = Model(
        robots=np.zeros(len(placed), ROBOT_MODEL),
        wheels=np.zeros(sum(wheel_blocks), WHEEL_MODEL),
        axles=np.zeros(sum(axle_blocks), AXLE_MODEL),
        world=world,
        heights=ground.heights.view(),
        steepness=steepness_of_tiles(ground, world[0].tile),
        slices=np.column_stack([np.sin(gammas), np.cos(gammas)]),
    )
    wheel_start = axle_start = input_start = 0
    for own, robot, axles in zip(model.robots, placed, axle_lists, strict=True):
        own.wheel_start, own.wheel_stop = wheel_start, wheel_start + ceil(len(robot.wheels) / LANES)
        own.axle_start, own.axle_stop = axle_start, axle_start + ceil(len(axles) / LANES)
        wheel_start, axle_start = own.wheel_stop, own.axle_stop
        fill_wheels(model.wheels[own.wheel_start : own.wheel_stop], robot, axles, contact)
        fill_axles(model.axles[own.axle_start : own.axle_stop], robot, axles, input_start)
        fill_chassis(own, robot, axles)
        own.gravity = scenario.world.gravity
        input_start += len(robot.motors)
    for array in model:
        array.flags.writeable = False
    return model


def grid_of(ground: HeightGrid) -> np.ndarray:
    """One GRID."""
    n_x, n_y = ground.heights.shape
    grid = np.zeros(1, GRID)
    grid[0].x_min, grid[0].y_min, grid[0].last_x, grid[0].last_y = ground.x_min, ground.y_min, n_x - 1, n_y - 1
    grid[0].cells_x, grid[0].cells_y = 1.0 / ground.dx, 1.0 / ground.dy
    grid[0].mirrored = ground.outside == "mirror"
    return grid


class Axle(NamedTuple):
    """What turns together: the wheels of one motor, or one wheel by itself."""

    wheels: tuple[str, ...]
    motor: str | None


def axles_of(robot: PlacedVehicle) -> list[Axle]:
    """Motors first, in their order, then the wheels that have none."""
    driven = {wheel for motor in robot.motors.values() for wheel in motor.wheels}
    axles = [Axle(tuple(motor.wheels), name) for name, motor in robot.motors.items()]
    return axles + [Axle((name,), None) for name in robot.wheels if name not in driven]


def reach_of(robot: PlacedVehicle) -> float:
    """Farthest that any point of the vehicle can be from its centre of mass."""
    chassis = robot.chassis
    corner = sqrt(
        max(chassis.front, chassis.rear) ** 2
        + max(chassis.left, chassis.right) ** 2
        + max(chassis.top, chassis.bottom) ** 2
    )
    wheels = [
        sqrt(sum(p * p for p in wheel.position)) + wheel.radius + wheel.width + largest_deflection(wheel)
        for wheel in robot.wheels.values()
    ]
    return max(corner, *wheels)


def largest_deflection(wheel: VehicleWheel) -> float:
    return wheel.suspension.travel + wheel.radius


def steepness_of_tiles(ground: HeightGrid, tile: float) -> np.ndarray:
    """Steepest slope of the ground in each square tile and in its eight neighbours.

    Within a cell both slopes are largest at its edges, so that the steepest of the four edges bounds |∇f|.
    """
    heights = ground.heights
    along_x = np.abs(np.diff(heights, axis=0)) / ground.dx
    along_y = np.abs(np.diff(heights, axis=1)) / ground.dy
    cells = np.hypot(np.maximum(along_x[:, 1:], along_x[:, :-1]), np.maximum(along_y[1:, :], along_y[:-1, :]))
    n_x = max(1, ceil((ground.x_max - ground.x_min) / tile))
    n_y = max(1, ceil((ground.y_max - ground.y_min) / tile))
    by_row = largest_in_tiles(cells, ground.dx / tile, n_x)
    tiles = largest_in_tiles(by_row.T, ground.dy / tile, n_y).T
    padded = np.pad(tiles, 1, mode="edge")
    neighbours = [padded[i : i + n_x, j : j + n_y] for i in range(3) for j in range(3)]
    return np.ascontiguousarray(np.max(neighbours, axis=0))


def largest_in_tiles(cells: np.ndarray, cell: float, count: int) -> np.ndarray:
    """Along the first axis: the largest of all cells that reach into each tile. `cell` is their length in tiles."""
    edges = np.arange(count + 1) / cell
    first = np.clip(np.floor(edges[:-1] - 1e-9).astype(int), 0, len(cells) - 1)
    last = np.clip(np.ceil(edges[1:] + 1e-9).astype(int), first + 1, len(cells))
    return np.stack([cells[i:j].max(axis=0) for i, j in zip(first, last, strict=True)])


def fill_wheels(blocks: np.ndarray, robot: PlacedVehicle, axles: list[Axle], contact: Any) -> None:
    names = list(robot.wheels)
    axle_of = {wheel: index for index, axle in enumerate(axles) for wheel in axle.wheels}
    load = robot.chassis.mass * GRAVITY / len(names)
    for lane in range(len(blocks) * LANES):
        # Lanes beyond the last wheel repeat it, absent: their numbers stay ordinary ones.
        name = names[min(lane, len(names) - 1)]
        wheel, block, i = robot.wheels[name], blocks[lane // LANES], lane % LANES

        def put(block: Any = block, i: int = i, **values: float) -> None:
            for field, value in values.items():
                block[field][i] = value

        present = lane < len(names)
        spring = wheel.suspension
        put(present=present, axle=axle_of[name], x=wheel.position[0], y=wheel.position[1], z=wheel.position[2])
        put(radius=wheel.radius, half_width=0.5 * wheel.width if wheel.rims == 2 else 0.0)
        put(blend=RIM_BLEND * wheel.width)
        put(stiffness=spring.stiffness, damping=spring.damping, travel=spring.travel, progression=spring.progression)
        put(h_max=largest_deflection(wheel), tolerance=contact.tolerance * spring.travel)
        put(h_min=-RIM_BLEND * wheel.width if wheel.rims == 2 else 0.0)
        cosine = cos(contact.blocked_angle)
        put(wall_stiffness=spring.stiffness / cosine**2, wall_damping=spring.damping / cosine)
        # Every lane needs coefficients that make ordinary numbers, whatever its own tyre is.
        magic = wheel.tyre if isinstance(wheel.tyre, MagicFormulaTyre) else MagicFormulaTyre(type="magic-formula")
        put_magic(put, magic, load)
        match wheel.tyre:
            case CoulombTyre() as tyre:
                put(kind=COULOMB if present else 0.0, mu_static=tyre.static, mu_dynamic=tyre.dynamic)
                put(tread_stiffness=tyre.stiffness, tread_damping=tyre.damping_ratio, wall_friction=tyre.dynamic)
                block.any_coulomb |= present
            case MagicFormulaTyre() as tyre:
                put(kind=MAGIC if present else 0.0, tread_stiffness=1.0, wall_friction=peak_friction(tyre, load))
                put(tread_damping=tyre.parking_damping)
                block.any_magic |= present
                combined = tyre.combined
                block.any_shift |= present and (combined.shift_x, combined.shift_y, combined.e_x) != (0.0, 0.0, 0.0)


def put_magic(put: Any, tyre: MagicFormulaTyre, load: float) -> None:
    aligning = tyre.aligning or [0.0, -1e-9, 0.0, -1e-9, 0.0, 0.0, 0.0, 0.0]
    for letter, values in (("x", tyre.longitudinal), ("y", tyre.lateral), ("m", aligning)):
        put(**{f"{letter}a{number}": value for number, value in enumerate(values, 1)})
    combined = tyre.combined
    put(c_x=tyre.shapes[0], c_y=tyre.shapes[1], c_m=tyre.shapes[2])
    put(b1_x=combined.b_x[0], b2_x=combined.b_x[1], cc_x=combined.c_x, e_x=combined.e_x, shift_x=combined.shift_x)
    put(b1_y=combined.b_y[0], b2_y=combined.b_y[1], cc_y=combined.c_y, shift_y=combined.shift_y)
    put(friction_scale=tyre.friction_scale, stiffness_scale=tyre.stiffness_scale)
    put(sigma_x=tyre.relaxation[0], sigma_y=tyre.relaxation[1], largest_load=tyre.largest_load)
    put(v_park=tyre.parking_speed)
    thousands = min(load, tyre.largest_load) / 1000.0
    for field, values, shape in (
        ("peak_x", tyre.longitudinal, tyre.shapes[0]),
        ("peak_y", tyre.lateral, tyre.shapes[1]),
    ):
        curvature = (values[5] * thousands + values[6]) * thousands + values[7]  # eq. 3.34
        put(**{field: argument_of_peak(shape, curvature)})


def peak_friction(tyre: MagicFormulaTyre, load: float) -> float:
    """Largest longitudinal friction per load, at a load [N]."""
    thousands = min(load, tyre.largest_load) / 1000.0
    a1, a2, *_ = tyre.longitudinal
    return (a1 * thousands + a2) * thousands * tyre.friction_scale / load  # eq. 3.31


def argument_of_peak(shape: float, curvature: float) -> float:
    """B x at which the Magic Formula has its peak: C arctan{w − E(w − arctan w)} = π/2."""
    target = tan(pi / (2.0 * shape))

    def missing(w: float) -> float:
        return w - curvature * (w - atan(w)) - target

    low, high = 0.0, target + 1.0
    while missing(high) < 0.0 and high < 1e6:
        high *= 2.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if missing(middle) < 0.0 else (low, middle)
    return high


def fill_axles(blocks: np.ndarray, robot: PlacedVehicle, axles: list[Axle], input_start: int) -> None:
    for lane in range(len(blocks) * LANES):
        block, i = blocks[lane // LANES], lane % LANES
        values = axle_numbers(robot, axles[lane], input_start + lane) if lane < len(axles) else absent_axle()
        for field, value in values.items():
            block[field][i] = value


def absent_axle() -> dict[str, float]:
    return {
        "present": 0.0, "free": 0.0, "inverse_inertia": 0.0, "coupling": -1.0, "spin_share": 0.0, "inertia": 1.0,
        "ratio": 1.0, "efficiency": 1.0, "input": -1.0, "static": 1.0, "coulomb": 1.0, "v_stribeck": 1.0, "k_v": 1.0,
    }  # fmt: skip


def axle_numbers(robot: PlacedVehicle, axle: Axle, input_index: int) -> dict[str, float]:
    wheels = [robot.wheels[name] for name in axle.wheels]
    inertia = sum(wheel.inertia for wheel in wheels)
    numbers = absent_axle() | {"present": 1.0, "inertia": inertia}
    if axle.motor is None:
        if wheels[0].locked:
            # It turns with the chassis, whose inertia holds its own.
            return numbers | {"inertia": 0.0}
        friction = wheels[0].friction
        numbers |= {"free": 1.0, "inverse_inertia": 1.0 / inertia, "coupling": 0.0, "spin_share": 1.0}
        return numbers | (friction_numbers(friction) if friction is not None else {})
    motor = robot.motors[axle.motor]
    ratio, rotor = motor.gear_ratio, motor.rotor_inertia
    whole, cross_term = inertia + ratio**2 * rotor, ratio * (1.0 - ratio) * rotor
    largest = motor.voltage if robot.battery is None else min(motor.voltage, robot.battery.voltage)
    # Behind the gear, so that the motor turning freely draws its no-load current and not that over the efficiency.
    no_load = motor.torque_constant * motor.no_load_current * ratio * motor.efficiency
    friction = motor.friction or no_load_friction(no_load, whole)
    return numbers | {
        "free": 1.0, "inverse_inertia": 1.0 / whole, "coupling": cross_term / whole,
        "spin_share": (inertia + ratio * rotor) / whole, "rotor": rotor, "ratio": ratio,
        "efficiency": motor.efficiency, "torque_constant": motor.torque_constant,
        "back_emf": ratio / motor.speed_constant,
        "resistance": motor.resistance, "resistance_inverse": 1.0 / motor.resistance,
        "current_limit": np.inf if motor.current_limit is None else motor.current_limit,
        "largest_voltage": largest, "input": float(input_index), "named": float(axle.motor not in robot.wheels),
        **(friction_numbers(friction) if friction is not None else {}),
    }  # fmt: skip


def no_load_friction(torque: float, inertia: float) -> AxleFriction | None:
    """K_t I_0 as plain LuGre friction at the wheel, counted here and nowhere else.

    Bristles that hold it at 0.01 rad, and damped against the axle's inertia; they are no data sheet's.
    """
    if torque <= 0.0:
        return None
    stiffness = torque / 0.01
    return AxleFriction.model_construct(
        form="plain",
        viscous=0.0,
        steepness=1.0,
        coulomb=torque,
        static=torque,
        stiffness=stiffness,
        damping=sqrt(stiffness * inertia),
        stribeck_speed=0.1,
    )


def friction_numbers(friction: AxleFriction) -> dict[str, float]:
    return {
        "sigma0": friction.stiffness, "sigma1": friction.damping, "sigma2": friction.viscous,
        "coulomb": friction.coulomb, "static": friction.static, "v_stribeck": friction.stribeck_speed,
        "k_v": friction.steepness, "continuous": float(friction.form == "continuous"),
    }  # fmt: skip


def fill_chassis(own: Any, robot: PlacedVehicle, axles: list[Axle]) -> None:
    chassis = robot.chassis
    xx, yy, zz, xy, xz, yz = chassis.inertia_tensor
    own.mass, own.inverse_mass = chassis.mass, 1.0 / chassis.mass
    own.inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    effective = own.inertia.copy()
    locked = sum(wheel.inertia for wheel in robot.wheels.values() if wheel.locked)
    own.inertia[1, 1] += locked
    effective[1, 1] += locked
    for axle in axles:
        if axle.motor is not None:
            numbers = axle_numbers(robot, axle, 0)
            rotor, ratio = numbers["rotor"], numbers["ratio"]
            # Rotors turn with the chassis as (1 − G) Ω·t beside the wheels: J_r(1 − G) − (I + G J_r) a/A.
            spin = numbers["inertia"] + ratio * rotor
            effective[1, 1] += rotor * (1.0 - ratio) - spin * numbers["coupling"]
    own.inverse_inertia = np.linalg.inv(effective)
    own.corners = [
        [x, y, z]
        for x in (chassis.front, -chassis.rear)
        for y in (chassis.left, -chassis.right)
        for z in (chassis.top, -chassis.bottom)
    ]
    contact = chassis.corners
    own.corner_stiffness, own.corner_friction = contact.stiffness, contact.friction
    own.corner_damping = 2.0 * contact.damping_ratio * sqrt(contact.stiffness * chassis.mass / 4.0)
    if robot.battery is not None:
        own.battery, own.battery_resistance = robot.battery.voltage, robot.battery.resistance
    own.reach = reach_of(robot)
