"""The wheels of a vehicle as a force element: a link of the engine `multibody` in the place of the chassis.

Contacts, springs, tyres, motors and friction are the compiled stages of the engine `vehicle`, on its records; only the
motion of the body comes from MuJoCo, and what acts on it goes back there. With the axles' momenta p = A ω + a Ω·t
(axle_block.py), wheels and rotors hold the angular momentum h t, h = Σ s p + e Ω·t, s = (I + G J_r)/A
and e = Σ I J_r (1 − G)²/A. For chassis and axles together d/dt[J Ω + h t] = M, the moments of the ground. So the
chassis alone takes M − d/dt(h t), and e t tᵀ, which goes with its own speed, belongs to its inertia:

    d/dt[(J + e t tᵀ) Ω] = M − Σ s ṗ t − Σ s p Ω×t.

States move on once a step, as in the vehicle's semi-implicit method. In the stages inside a step, and when somebody
looks, forces are found on a copy of the state: looking leaves no trace. There an axle's momentum goes on linearly
through the step, at the rate with which it was moved, so that what the axles get the chassis gives, in every stage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import sqrt

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
    force_element,
    packed,
)
from botz.engines.vehicle.forces import look_around, motors_and_friction
from botz.engines.vehicle.model import ROBOT_MODEL, WORLD, Model, build_model
from botz.engines.vehicle.state import (
    AXLE_STEP,
    ROBOT_STATE,
    ROBOT_WORK,
    WHEEL_STEP,
    State,
    Work,
    build_state,
    build_work,
    start_state,
)
from botz.errors import InputError, Problem
from botz.kernels import compensated_sum, compiled, fields_of, record
from botz.physics.contact.terrain import Ground
from botz.physics.wheels.axle_block import AXLE_MODEL, AXLE_STATE, axle_speeds, spin_momentum
from botz.physics.wheels.sprung_wheels import wheel_forces
from botz.physics.wheels.wheel_block import FOUR, LANES, VECTOR, WHEEL_MODEL, WHEEL_STATE
from botz.rotations import cross, dot
from botz.scenario.load import load_robot
from botz.scenario.multibody.elements import VehicleWheels
from botz.scenario.vehicle.schema import Vehicle, VehicleScenario
from botz.terrain.height_grid import HeightGrid

LINK_STATE = record(
    # the link's place and axes when it was last seen; when the step began, and how long it is
    position=VECTOR, n=VECTOR, t=VECTOR, b=VECTOR, began=np.float64, lasts=np.float64,
)  # fmt: skip
AXLE_MOVING = record(
    # momenta as the step began, and the rates at which they move in it; first, for to Numba a record that begins like
    # another is a kind of it
    p_base=FOUR, p_rate=FOUR, **fields_of(AXLE_STATE),
)  # fmt: skip
NO_GROUND = -1e6
"""Height of the ground where there is none [m]."""


@dataclass(frozen=True)
class WheelAddresses:
    """Where the element's records lie in memory, and how many there are; all whole numbers."""

    robot_model: int = 0
    wheel_model: int = 0
    axle_model: int = 0
    world: int = 0
    heights: int = 0
    steepness: int = 0
    slices: int = 0
    robot: int = 0
    """The state."""
    wheels: int = 0
    axles: int = 0
    link: int = 0
    robot_seen: int = 0
    """Copies of it, for whoever looks."""
    wheels_seen: int = 0
    axles_seen: int = 0
    link_seen: int = 0
    robot_work: int = 0
    wheel_work: int = 0
    axle_work: int = 0
    wheel_blocks: int = 0
    axle_blocks: int = 0
    height_rows: int = 0
    height_columns: int = 0
    tile_rows: int = 0
    tile_columns: int = 0
    slice_count: int = 0
    shown: int = 0
    """How many quantities of each wheel are reported."""
    count: int = 0
    """Of wheels."""

    @classmethod
    def of(cls, spec: VehicleWheels) -> WheelAddresses:
        """None before the world is there; see `bind`."""
        del spec
        return cls()


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
def take_motion(model, state, work, link, frame):  # -> Ω·t
    """The link's pose and velocity become the body's; the way of its points since it was last seen is added up.

    Between two poses no point within `reach` moves farther than |Δx| + reach ‖ΔR‖/√2, for a turn by θ has
    ‖ΔR‖ = 2√2 sin(θ/2) and moves a point at distance r by 2 r sin(θ/2).
    """
    robot, own, body = model.robots[0], state.robots[0], work.robot[0]
    x, R = frame.position, frame.rotation
    moved, turned = 0.0, 0.0
    for k in range(3):
        moved += (x[k] - link.position[k]) ** 2
        turned += (R[k, 0] - link.n[k]) ** 2 + (R[k, 1] - link.t[k]) ** 2 + (R[k, 2] - link.b[k]) ** 2
        link.position[k], link.n[k], link.t[k], link.b[k] = x[k], R[k, 0], R[k, 1], R[k, 2]
        body.n[k], body.t[k], body.b[k] = R[k, 0], R[k, 1], R[k, 2]
        body.position[k], own.x[k] = x[k], x[k]
        body.velocity[k], body.angular[k] = frame.velocity[k], frame.angular[k]
        body.force[k], body.moment[k] = 0.0, 0.0
    own.travelled += 1.000001 * (sqrt(moved) + robot.reach * sqrt(0.5 * turned)) + 1e-15
    t, w = body.t, body.angular
    pitching = dot(w[0], w[1], w[2], t[0], t[1], t[2])
    for a in range(model.axles.size):
        axle_speeds(model.axles[a], state.axles[a], work.axles[a], pitching)
    for k in range(model.wheels.size):
        for i in range(LANES):
            axle = int(model.wheels[k].axle[i])
            state.wheels[k].omega[i] = work.axles[axle // LANES].omega[axle % LANES]
    return pitching


@compiled
def act_on_body(model, state, work, inputs, dt):
    """The stages of the engine `vehicle` without gravity and the chassis' corners: these are MuJoCo's."""
    world = model.world[0]
    ground = Ground(model.heights, world.grid)
    plain = look_around(model, state, work, 0) or world.plain != 0
    for k in range(model.wheels.size):
        wheel_forces(
            model.wheels[k], state.wheels[k], work.wheels[k], work.robot[0], ground, model.slices, world.cos_blocked,
            plain, dt, dt,
        )  # fmt: skip
    motors_and_friction(model, state, work, 0, inputs, dt)


@compiled
def give_back(model, state, work, frame):
    """Force and torque on the link, less what its axles take as their momenta move in this step."""
    body = work.robot[0]
    t, w = body.t, body.angular
    held, changing = 0.0, 0.0
    for a in range(model.axles.size):
        held += spin_momentum(model.axles[a], state.axles[a])
        for i in range(LANES):
            changing += state.axles[a].p_rate[i] * model.axles[a].spin_share[i]
    gx, gy, gz = cross(w[0], w[1], w[2], t[0], t[1], t[2])
    frame.torque[0] += body.moment[0] - changing * t[0] - held * gx
    frame.torque[1] += body.moment[1] - changing * t[1] - held * gy
    frame.torque[2] += body.moment[2] - changing * t[2] - held * gz
    for k in range(3):
        frame.force[k] += body.force[k]


@compiled
def move_axles(model, state, work, pitching, dt):
    """Momenta by the torques of the step's beginning, then angles by the new speeds."""
    for a in range(model.axles.size):
        block, scratch = state.axles[a], work.axles[a]
        for i in range(LANES):
            block.p_base[i] = block.p[i]
            block.p[i], block.p_lost[i] = compensated_sum(block.p[i], block.p_lost[i], dt * scratch.total[i])
        axle_speeds(model.axles[a], block, scratch, pitching)
        for i in range(LANES):
            turned = dt * scratch.relative[i]
            block.angle[i], block.angle_lost[i] = compensated_sum(block.angle[i], block.angle_lost[i], turned)


@compiled
def go_into_step(axles, elapsed, length):
    """Momenta at a moment inside the step, or at its end, where they are already."""
    if elapsed < (1.0 - 1e-9) * length:
        for a in range(axles.size):
            block = axles[a]
            for i in range(LANES):
                block.p[i] = block.p_base[i] + elapsed * block.p_rate[i]


@compiled
def report(model, state, work, p, frame):
    """Speeds, then loads and the rest of what is shown, of all wheels."""
    for k in range(p.count):
        block, i = state.wheels[k // LANES], k % LANES
        axle = int(model.wheels[k // LANES].axle[i])
        if p.shown > 0:
            frame.reports[k] = work.axles[axle // LANES].relative[axle % LANES]
        if p.shown > 1:
            frame.reports[p.count + k] = block.load[i]
        if p.shown > 2:
            frame.reports[2 * p.count + k] = state.axles[axle // LANES].angle[axle % LANES]
        if p.shown > 3:
            frame.reports[3 * p.count + k] = block.h[i]


@force_element(WheelAddresses, inputs_of="robot", cached=True)
@njit(cache=True, error_model="numpy", nogil=True)
def wheels_on_link(p, frame):
    """The element: parameters are addresses, for the records hold more than a parameter or `frame.states` can."""
    model = Model(
        carray(memory_at(p.robot_model), 1, ROBOT_MODEL),
        carray(memory_at(p.wheel_model), p.wheel_blocks, WHEEL_MODEL),
        carray(memory_at(p.axle_model), p.axle_blocks, AXLE_MODEL),
        carray(memory_at(p.world), 1, WORLD),
        carray(memory_at(p.heights), (p.height_rows, p.height_columns), np.float64),
        carray(memory_at(p.steepness), (p.tile_rows, p.tile_columns), np.float64),
        carray(memory_at(p.slices), (p.slice_count, 2), np.float64),
    )
    state = State(
        carray(memory_at(p.robot), 1, ROBOT_STATE),
        carray(memory_at(p.wheels), p.wheel_blocks, WHEEL_STATE),
        carray(memory_at(p.axles), p.axle_blocks, AXLE_MOVING),
    )
    work = Work(
        carray(memory_at(p.robot_work), 1, ROBOT_WORK),
        carray(memory_at(p.wheel_work), p.wheel_blocks, WHEEL_STEP),
        carray(memory_at(p.axle_work), p.axle_blocks, AXLE_STEP),
    )
    link = carray(memory_at(p.link), 1, LINK_STATE)[0]
    dt = frame.step
    if dt > 0.0:
        link.began, link.lasts = frame.time, dt
        pitching = take_motion(model, state, work, link, frame)
        act_on_body(model, state, work, frame.inputs, dt)
        for a in range(state.axles.size):
            for i in range(LANES):
                state.axles[a].p_rate[i] = work.axles[a].total[i]
        give_back(model, state, work, frame)
        report(model, state, work, p, frame)
        move_axles(model, state, work, pitching, dt)
    else:
        seen = State(
            carray(memory_at(p.robot_seen), 1, ROBOT_STATE),
            carray(memory_at(p.wheels_seen), p.wheel_blocks, WHEEL_STATE),
            carray(memory_at(p.axles_seen), p.axle_blocks, AXLE_MOVING),
        )
        links_seen = carray(memory_at(p.link_seen), 1, LINK_STATE)
        seen.robots[0], links_seen[0] = state.robots[0], link
        for k in range(seen.wheels.size):
            seen.wheels[k] = state.wheels[k]
        for a in range(seen.axles.size):
            seen.axles[a] = state.axles[a]
        go_into_step(seen.axles, frame.time - link.began, link.lasts)
        take_motion(model, seen, work, links_seen[0], frame)
        act_on_body(model, seen, work, frame.inputs, 0.0)
        give_back(model, seen, work, frame)
        report(model, seen, work, p, frame)


# --- building ------------------------------------------------------------------------------------------------


def kind_for(spec: VehicleWheels, key: str) -> ElementKind:
    """The element with the commands and reports of a vehicle's file; `key` is its place in its document. The compiled
    function is the same for all vehicles."""
    vehicle = vehicle_of(spec, key)
    return replace(
        wheels_on_link,
        inputs=tuple(Report(f"{motor}/voltage", "V", "voltage commanded") for motor in vehicle.motors),
        reports=tuple(
            Report(f"{wheel}/{name}", unit, text)
            for name, unit, text in SHOWN[: shown_of(vehicle)]
            for wheel in vehicle.wheels
        ),
        bind=partial(bind, vehicle),
    )


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


def bind(vehicle: Vehicle, element: BuiltElement, around: Surroundings) -> None:
    """Make the element's records on this ground, its wheels rolling along with the link as it starts, and give the link
    the inertia that wheels and rotors add to it."""
    model, state = records_of(vehicle, around)
    link = np.zeros(1, LINK_STATE)
    own = dict(zip(("robot", "wheels", "axles"), state, strict=True)) | {"link": link}
    names = ("robot_model", "wheel_model", "axle_model", "world", "heights", "steepness", "slices")
    arrays = dict(zip(names, model, strict=True)) | own
    arrays |= {f"{name}_seen": array.copy() for name, array in own.items()}
    arrays |= dict(zip(("robot_work", "wheel_work", "axle_work"), build_work(model), strict=True))
    addresses = {name: array.ctypes.data for name, array in arrays.items()}
    counts = {
        "wheel_blocks": model.wheels.size, "axle_blocks": model.axles.size,
        "height_rows": model.heights.shape[0], "height_columns": model.heights.shape[1],
        "tile_rows": model.steepness.shape[0], "tile_columns": model.steepness.shape[1],
        "slice_count": len(model.slices), "shown": shown_of(vehicle), "count": len(vehicle.wheels),
    }  # fmt: skip
    element.parameters[...] = packed(WheelAddresses(**addresses, **counts), "")
    element.kept = (arrays,)
    element.arrays = {
        f"{part}/{field}": array[field] for part, array in own.items() for field in array.dtype.names or ()
    }
    add_inertia(around.model, around.body, added_inertia(vehicle, model.axles))


def records_of(vehicle: Vehicle, around: Surroundings) -> tuple[Model, State]:
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
    wheels = build_model(scenario, around.ground or level_ground(around.has_floor))
    state = build_state(wheels)._replace(axles=np.zeros(wheels.axles.size, AXLE_MOVING))
    start_state(wheels, state, scenario, [float(data.xpos[body, 2])])
    state.axles["p_base"] = state.axles["p"]
    return wheels, state


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
