"""The wheels of a vehicle as a force element: a link of the engine `multibody` in the place of the chassis.

Contacts, springs, tyres, motors and friction are the compiled stages of the engine `vehicle`, on its records; only the
motion of the body comes from MuJoCo, and what acts on it goes back there. With the axles' momenta p = A ω + a Ω·t
(axle_block.py), wheels and rotors hold the angular momentum h t, h = Σ s p + e Ω·t, s = (I + G J_r)/A
and e = Σ I J_r (1 − G)²/A. For chassis and axles together d/dt[J Ω + h t] = M, the moments of the ground. So the
chassis alone takes M − d/dt(h t), and e t tᵀ, which goes with its own speed, belongs to its inertia:

    d/dt[(J + e t tᵀ) Ω] = M − Σ s ṗ t − Σ s p Ω×t.

States move on once a step, as in the vehicle's semi-implicit method. In the stages inside a step, and when somebody
looks, forces are found on a copy of the records: looking leaves no trace. There an axle's momentum goes on linearly
through the step, at the rate with which it was moved, so that what the axles get the chassis gives, in every stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import mujoco
import numpy as np
from numba import carray, njit, types
from numba.extending import intrinsic

from botz.engines.multibody.elements.base import (
    MOST_INPUTS,
    MOST_REPORTS,
    BuiltElement,
    ElementKind,
    Report,
    Surroundings,
    packed,
)
from botz.engines.vehicle import model as layout
from botz.engines.vehicle.forces import look_around, motors_and_friction
from botz.errors import InputError, Problem
from botz.kernels import compensated_sum, compiled
from botz.physics.contact.terrain import GRID
from botz.physics.wheels import axle_block, wheel_block
from botz.physics.wheels.axle_block import AXLES, axle_speeds, spin_momentum
from botz.physics.wheels.sprung_wheels import wheel_forces
from botz.physics.wheels.wheel_block import BODY, LANES, WHEELS
from botz.rotations import cross, dot
from botz.scenario.load import load_robot
from botz.scenario.multibody.elements import VehicleWheels
from botz.scenario.vehicle.schema import Vehicle, VehicleScenario
from botz.terrain.height_grid import HeightGrid

ROBOT, WORLD = layout.ROBOT, layout.WORLD
BEGAN, LASTS = 0, 1
"""In the element's clock: when the step began, and how long it is."""
NO_GROUND = -1e6
"""Height of the ground where there is none [m]."""


@dataclass(frozen=True)
class WheelAddresses:
    """Where the element's records lie in memory, and how many there are; all whole numbers."""

    robot: int = 0
    body: int = 0
    wheels: int = 0
    axles: int = 0
    robot_seen: int = 0
    """Copies, for whoever looks."""
    body_seen: int = 0
    wheels_seen: int = 0
    axles_seen: int = 0
    clock: int = 0
    heights: int = 0
    grid: int = 0
    steepness: int = 0
    world: int = 0
    sines: int = 0
    cosines: int = 0
    wheel_blocks: int = 0
    axle_blocks: int = 0
    height_rows: int = 0
    height_columns: int = 0
    tile_rows: int = 0
    tile_columns: int = 0
    slices: int = 0
    shown: int = 0
    """How many quantities of each wheel are reported."""
    count: int = 0
    """Of wheels."""


SHOWN = (
    ("speed", "rad/s", "of the wheel against its link"),
    ("load", "N", "of the wheel on the ground"),
    ("angle", "rad", "by which the wheel has turned"),
    ("deflection", "m", "of the suspension"),
)
"""Of a vehicle with many wheels, as many of the first ones as there is room for."""


@intrinsic
def memory_at(typing_context, address):
    """A pointer to whatever lies at an address."""

    def code(context, builder, signature, values):
        return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

    return types.voidptr(types.int64), code


# --- compiled ------------------------------------------------------------------------------------------------


@compiled
def take_motion(robot, body, wheels, axles, frame):  # -> Ω·t
    """The link's pose and velocity become the body's; the way of its points since it was last seen is added up.

    Between two poses no point within `reach` moves farther than |Δx| + reach ‖ΔR‖/√2, for a turn by θ has
    ‖ΔR‖ = 2√2 sin(θ/2) and moves a point at distance r by 2 r sin(θ/2).
    """
    x, R = frame.position, frame.rotation
    moved, turned = 0.0, 0.0
    for k in range(3):
        moved += (x[k] - body.position[k]) ** 2
        turned += (R[k, 0] - body.n[k]) ** 2 + (R[k, 1] - body.t[k]) ** 2 + (R[k, 2] - body.b[k]) ** 2
        body.n[k], body.t[k], body.b[k] = R[k, 0], R[k, 1], R[k, 2]
        body.position[k], robot.x[k] = x[k], x[k]
        body.velocity[k], body.angular[k] = frame.velocity[k], frame.angular[k]
        body.force[k], body.moment[k] = 0.0, 0.0
    robot.travelled += 1.000001 * (sqrt(moved) + robot.reach * sqrt(0.5 * turned)) + 1e-15
    t, w = body.t, body.angular
    pitching = dot(w[0], w[1], w[2], t[0], t[1], t[2])
    for a in range(axles.size):
        axle_speeds(axles[a], pitching)
    for k in range(wheels.size):
        block = wheels[k]
        for i in range(LANES):
            axle = int(block.axle[i])
            block.omega[i] = axles[axle // LANES].omega[axle % LANES]
    return pitching


@compiled
def act_on_body(robot, body, wheels, axles, ground, inputs, dt):
    """The stages of the engine `vehicle` without gravity and the chassis' corners: these are MuJoCo's."""
    heights, grid, steepness, world, sines, cosines = ground
    steep = look_around(robot, body, wheels, steepness, grid, world)
    for k in range(wheels.size):
        wheel_forces(
            wheels[k], body, heights, grid, sines, cosines, world.cos_blocked, steep or world.plain != 0, dt, dt
        )
    motors_and_friction(robot, wheels, axles, inputs, dt)


@compiled
def give_back(body, axles, frame):
    """Force and torque on the link; `p_sum` of the axles are the rates at which their momenta move in this step."""
    t, w = body.t, body.angular
    held, changing = 0.0, 0.0
    for a in range(axles.size):
        block = axles[a]
        held += spin_momentum(block)
        for i in range(LANES):
            changing += block.p_sum[i] * block.spin_share[i]
    gx, gy, gz = cross(w[0], w[1], w[2], t[0], t[1], t[2])
    frame.torque[0] += body.moment[0] - changing * t[0] - held * gx
    frame.torque[1] += body.moment[1] - changing * t[1] - held * gy
    frame.torque[2] += body.moment[2] - changing * t[2] - held * gz
    for k in range(3):
        frame.force[k] += body.force[k]


@compiled
def move_axles(axles, pitching, dt):
    """Momenta by the torques of the step's beginning, then angles by the new speeds."""
    for a in range(axles.size):
        block = axles[a]
        for i in range(LANES):
            block.p_base[i] = block.p[i]
            block.p[i], block.p_lost[i] = compensated_sum(block.p[i], block.p_lost[i], dt * block.total[i])
        axle_speeds(block, pitching)
        for i in range(LANES):
            turned = dt * block.relative[i]
            block.angle[i], block.angle_lost[i] = compensated_sum(block.angle[i], block.angle_lost[i], turned)


@compiled
def go_into_step(axles, elapsed, length):
    """Momenta at a moment inside the step, or at its end, where they are already."""
    if elapsed < (1.0 - 1e-9) * length:
        for a in range(axles.size):
            block = axles[a]
            for i in range(LANES):
                block.p[i] = block.p_base[i] + elapsed * block.p_sum[i]


@compiled
def report(wheels, axles, p, frame):
    """Speeds, then loads and the rest of what is shown, of all wheels."""
    for k in range(p.count):
        block, i = wheels[k // LANES], k % LANES
        axle = int(block.axle[i])
        if p.shown > 0:
            frame.reports[k] = axles[axle // LANES].relative[axle % LANES]
        if p.shown > 1:
            frame.reports[p.count + k] = block.load[i]
        if p.shown > 2:
            frame.reports[2 * p.count + k] = axles[axle // LANES].angle[axle % LANES]
        if p.shown > 3:
            frame.reports[3 * p.count + k] = block.h[i]


@njit(cache=True, error_model="numpy", nogil=True)
def wheels_on_link(p, frame):
    """The element: parameters are addresses, for the records hold more than a parameter or `frame.states` can."""
    robots, bodies = carray(memory_at(p.robot), 1, ROBOT), carray(memory_at(p.body), 1, BODY)
    wheels = carray(memory_at(p.wheels), p.wheel_blocks, WHEELS)
    axles = carray(memory_at(p.axles), p.axle_blocks, AXLES)
    clock = carray(memory_at(p.clock), 2, np.float64)
    ground = (
        carray(memory_at(p.heights), (p.height_rows, p.height_columns), np.float64),
        carray(memory_at(p.grid), 1, GRID)[0],
        carray(memory_at(p.steepness), (p.tile_rows, p.tile_columns), np.float64),
        carray(memory_at(p.world), 1, WORLD)[0],
        carray(memory_at(p.sines), p.slices, np.float64),
        carray(memory_at(p.cosines), p.slices, np.float64),
    )
    dt = frame.step
    if dt > 0.0:
        clock[BEGAN], clock[LASTS] = frame.time, dt
        robot, body = robots[0], bodies[0]
        pitching = take_motion(robot, body, wheels, axles, frame)
        act_on_body(robot, body, wheels, axles, ground, frame.inputs, dt)
        for a in range(axles.size):
            for i in range(LANES):
                axles[a].p_sum[i] = axles[a].total[i]
        give_back(body, axles, frame)
        report(wheels, axles, p, frame)
        move_axles(axles, pitching, dt)
    else:
        robots_seen, bodies_seen = carray(memory_at(p.robot_seen), 1, ROBOT), carray(memory_at(p.body_seen), 1, BODY)
        wheels_seen = carray(memory_at(p.wheels_seen), p.wheel_blocks, WHEELS)
        axles_seen = carray(memory_at(p.axles_seen), p.axle_blocks, AXLES)
        robots_seen[0], bodies_seen[0] = robots[0], bodies[0]
        for k in range(wheels.size):
            wheels_seen[k] = wheels[k]
        for a in range(axles.size):
            axles_seen[a] = axles[a]
        robot, body = robots_seen[0], bodies_seen[0]
        go_into_step(axles_seen, frame.time - clock[BEGAN], clock[LASTS])
        take_motion(robot, body, wheels_seen, axles_seen, frame)
        act_on_body(robot, body, wheels_seen, axles_seen, ground, frame.inputs, 0.0)
        give_back(body, axles_seen, frame)
        report(wheels_seen, axles_seen, p, frame)


# --- building ------------------------------------------------------------------------------------------------

_CALLS: dict[Any, Any] = {}
"""The compiled function is the same for all vehicles."""


def built_wheels(name: str, spec: VehicleWheels, key: str) -> BuiltElement:
    """The wheels of a vehicle's file under a link; `key` is the element's place in its document."""
    vehicle = vehicle_of(spec, key)
    element = BuiltElement(name, kind_of(vehicle), packed(WheelAddresses(), key), spec.link)
    element.bind = partial(bind, element, vehicle)
    return element


def vehicle_of(spec: VehicleWheels, key: str) -> Vehicle:
    try:
        vehicle = load_robot(spec.vehicle).spec
    except InputError as error:
        if any(problem.file is not None for problem in error.problems):
            raise
        raise InputError([Problem(problem.message, key=f"{key}.vehicle") for problem in error.problems]) from None
    if not isinstance(vehicle, Vehicle):
        message = f"{spec.vehicle!r} is not a robot of engine 'vehicle'; its wheels have no springs and tyres"
        raise InputError(Problem(message, key=f"{key}.vehicle"))
    if len(vehicle.motors) > MOST_INPUTS:
        message = f"{spec.vehicle!r} has {len(vehicle.motors)} motors; an element takes at most {MOST_INPUTS} commands"
        raise InputError(Problem(message, key=f"{key}.vehicle"))
    return vehicle


def shown_of(vehicle: Vehicle) -> int:
    """How many quantities of every wheel there is room to report."""
    return min(len(SHOWN), MOST_REPORTS // len(vehicle.wheels))


def kind_of(vehicle: Vehicle) -> ElementKind:
    return ElementKind(
        function=wheels_on_link,
        parameters=WheelAddresses,
        inputs=tuple(Report(f"{motor}/voltage", "V", "voltage commanded") for motor in vehicle.motors),
        reports=tuple(
            Report(f"{wheel}/{name}", unit, text)
            for name, unit, text in SHOWN[: shown_of(vehicle)]
            for wheel in vehicle.wheels
        ),
        cached=True,
        calls=_CALLS,
    )


def bind(element: BuiltElement, vehicle: Vehicle, around: Surroundings) -> None:
    """Make the element's records on this ground, its wheels rolling along with the link as it starts, and give the link
    the inertia that wheels and rotors add to it."""
    records = records_of(vehicle, around)
    copies = [one.copy().view(one.dtype) for one in records[:4]]
    clock = np.zeros(2)
    ground = records[4:]
    numbers = dict(zip(("robot", "body", "wheels", "axles"), records[:4], strict=True))
    numbers |= dict(zip(("robot_seen", "body_seen", "wheels_seen", "axles_seen"), copies, strict=True))
    numbers |= dict(zip(("heights", "grid", "steepness", "world", "sines", "cosines"), ground, strict=True))
    addresses = {name: array.ctypes.data for name, array in {**numbers, "clock": clock}.items()}
    counts = {
        "wheel_blocks": records.wheels.size, "axle_blocks": records.axles.size,
        "height_rows": records.heights.shape[0], "height_columns": records.heights.shape[1],
        "tile_rows": records.steepness.shape[0], "tile_columns": records.steepness.shape[1],
        "slices": records.sines.size, "shown": shown_of(vehicle), "count": len(vehicle.wheels),
    }  # fmt: skip
    element.parameters[...] = packed(WheelAddresses(**addresses, **counts), "")
    element.kept = (records, copies, clock)
    element.arrays = {"clock": clock} | {
        f"{part}/{field}": array[field]
        for part, array, names in (
            ("robot", records.robots, (*layout.STATE_FIELDS, *layout.WORK_FIELDS)),
            ("body", records.bodies, BODY.names),
            ("wheels", records.wheels, (*wheel_block.STATE_FIELDS, *wheel_block.WORK_FIELDS)),
            ("axles", records.axles, (*axle_block.STATE_FIELDS, *axle_block.WORK_FIELDS)),
        )
        for field in names or ()
    }
    add_inertia(around.model, around.body, added_inertia(vehicle, records.axles))


def records_of(vehicle: Vehicle, around: Surroundings) -> layout.Records:
    model, data, body = around.model, around.data, around.body
    velocity = np.zeros(6)
    mujoco.mj_forward(model, data)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 1)
    place = {
        "position": data.xpos[body].tolist(),
        "velocity": velocity[3:].tolist(),
        "angular_velocity": velocity[:3].tolist(),
    }
    scenario = VehicleScenario.model_validate(
        {"engine": "vehicle", "robots": {"r": {**vehicle.model_dump(mode="json"), **place}}}
    )
    records = layout.build_records(scenario, around.ground or level_ground(around.has_floor))
    layout.start_state(records, scenario, [float(data.xpos[body, 2])])
    records.axles["p_base"] = records.axles["p"]
    return records


def level_ground(floor: bool) -> HeightGrid:
    """The floor at z = 0, or one that nothing reaches; heights go on beyond the edges."""
    return HeightGrid(np.full((2, 2), 0.0 if floor else NO_GROUND), -1.0, 1.0, -1.0, 1.0)


def added_inertia(vehicle: Vehicle, axles: np.ndarray) -> float:
    """About t, for the link: of locked wheels, and e = Σ I J_r (1 − G)²/A of rotors behind their gears."""
    rotors = axles["inertia"] * axles["rotor"] * (1.0 - axles["ratio"]) ** 2 * axles["inverse_inertia"] * axles["free"]
    return float(rotors.sum()) + sum(wheel.inertia for wheel in vehicle.wheels.values() if wheel.locked)


def add_inertia(model: mujoco.MjModel, body: int, moment: float) -> None:
    """A moment of inertia about the link's y axis, added to its own."""
    if moment == 0.0:
        return
    axes = np.empty(9)
    mujoco.mju_quat2Mat(axes, model.body_iquat[body])
    own = axes.reshape(3, 3)
    tensor = np.diag(model.body_inertia[body]) + moment * np.outer(own[1], own[1])
    if np.count_nonzero(tensor - np.diag(np.diagonal(tensor))):
        moments, turn = np.linalg.eigh(tensor)
        turn[:, 0] *= np.linalg.det(turn)
        mujoco.mju_mat2Quat(model.body_iquat[body], np.ascontiguousarray(own @ turn).ravel())
    else:
        moments = np.diagonal(tensor)
    model.body_inertia[body] = moments
    mujoco.mj_setConst(model, mujoco.MjData(model))
