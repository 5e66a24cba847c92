"""The compiled loop of the engine `multibody`: steps of MuJoCo's model with our force elements in them.

MuJoCo's stages are called one by one through their addresses, and the elements between velocity and actuation, so that
in Runge-Kutta's method forces belong to every stage and not only to the step. Nothing in here is Python.
"""

from __future__ import annotations

from math import exp, isfinite
from typing import NamedTuple

import numpy as np
from numba import njit

from botz.engines.multibody.native_calls import call_integrate, call_with_two
from botz.engines.multibody.rows import observe_row
from botz.engines.multibody.sensing import read_sensors
from botz.kernels import compiled, record
from botz.physics.aero.wind import turbulence_step, wind_at
from botz.physics.contact.terrain import height
from botz.rotations import cross

RK4, EULER, IMPLICIT = 0, 1, 2
POSITION, VELOCITY, EFFORT, DIRECT = 0, 1, 2, 3
LARGEST = 1e10
"""Accelerations beyond this are no motion any more, as for MuJoCo itself."""

CALLS = (
    "mj_fwdPosition", "mj_fwdVelocity", "mj_fwdActuation", "mj_fwdAcceleration", "mj_fwdConstraint",
    "mj_Euler", "mj_implicit", "mj_integratePos", "mj_sensorPos", "mj_sensorVel", "mj_sensorAcc",
    "mj_rnePostConstraint",
)  # fmt: skip
"""MuJoCo's functions in the order of `Physics.calls`."""
(FWD_POSITION, FWD_VELOCITY, FWD_ACTUATION, FWD_ACCELERATION, FWD_CONSTRAINT,
 EULER_STEP, IMPLICIT_STEP, INTEGRATE, SENSOR_POS, SENSOR_VEL, SENSOR_ACC,
 OUTER_FORCES) = range(len(CALLS))  # fmt: skip

ACTUATOR = record(
    # what it is; its input and MuJoCo's control; the joint
    kind="i8", input="i8", control="i8", position="i8", dof="i8",
    # limits of the reference and its rate, time constants, gains
    lower="f8", upper="f8", rate="f8", lag_up="f8", lag_down="f8", proportional="f8", derivative="f8", integral="f8",
    effort="f8",
    # state: the reference and the integral's share of the effort
    reference="f8", summed="f8",
)  # fmt: skip

ELEMENT = record(
    # addresses of its function and parameters; its link, joint and root body
    call="i8", parameters="i8", body="i8", root="i8", joint="i8", position="i8", dof="i8",
    # where its inputs lie, how many they are, how many components of its force are shown (3 or 0), and its reports
    input="i8", inputs="i8", shown_forces="i8", reports="i8",
)  # fmt: skip

WORLD = record(
    air_density="f8", has_ground="i8", method="i8", dt="f8", turbulent="i8",
    # whether the ground ends somewhere and where, and which robot has left it (from 1; 0: none)
    bounded="i8", x_min="f8", x_max="f8", y_min="f8", y_max="f8", left="i8",
)  # fmt: skip


class Physics(NamedTuple):
    """MuJoCo's model and data: addresses for its functions, and views of its arrays for ours."""

    model: int
    data: int
    calls: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    qacc: np.ndarray
    warm: np.ndarray
    act: np.ndarray
    act_dot: np.ndarray
    ctrl: np.ndarray
    joint_force: np.ndarray
    body_force: np.ndarray
    xpos: np.ndarray
    xquat: np.ndarray
    xmat: np.ndarray
    xipos: np.ndarray
    cvel: np.ndarray
    subtree_com: np.ndarray
    xaxis: np.ndarray
    xanchor: np.ndarray
    actuated: np.ndarray
    outer_force: np.ndarray
    sensordata: np.ndarray
    turning: np.ndarray
    """Where the three rates of joints that turn freely begin among the velocities."""


class Tables(NamedTuple):
    """What the world is made of beside MuJoCo's model: records of ours, side by side."""

    robots: np.ndarray
    joints: np.ndarray
    actuators: np.ndarray
    elements: np.ndarray
    frames: np.ndarray
    frames_at: int
    """Address of the first frame."""
    sensors: np.ndarray
    readings: np.ndarray
    readings_at: int
    """Address of the first reading."""


class Outside(NamedTuple):
    """What is around the robots: the world and its air, one record each, gusts and the ground."""

    world: np.ndarray
    air: np.ndarray
    gusts: np.ndarray
    heights: np.ndarray
    grid: np.ndarray


class Store(NamedTuple):
    """Room for the stages of Runge-Kutta's method, made once."""

    qpos: np.ndarray
    qvel: np.ndarray
    act: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    activation: np.ndarray
    warm: np.ndarray
    way: np.ndarray


@compiled
def shape_commands(actuators, inputs, physics, dt):
    """From commands to MuJoCo's controls, once a step: limits, lag and rate of the reference, the integral part."""
    for k in range(actuators.shape[0]):
        one = actuators[k]
        wanted = min(max(inputs[one.input], one.lower), one.upper)
        lag = one.lag_up if abs(wanted) >= abs(one.reference) else one.lag_down
        change = wanted - one.reference
        if lag > 0.0:
            change *= 1.0 - exp(-dt / lag)
        if one.kind == POSITION:
            change = min(max(change, -one.rate * dt), one.rate * dt)
        one.reference += change
        control = one.reference
        if one.kind == POSITION or one.kind == VELOCITY:
            if one.kind == POSITION:
                error = one.reference - physics.qpos[one.position]
                # The reference moves at change/dt: damping against that speed, not against rest, leaves no lag behind.
                if one.rate < LARGEST and one.proportional > 0.0:
                    control += one.derivative / one.proportional * change / dt
            else:
                error = one.reference - physics.qvel[one.dof]
            if one.integral > 0.0:
                one.summed = min(max(one.summed + one.integral * error * dt, -one.effort), one.effort)
                if one.proportional > 0.0:
                    control += one.summed / one.proportional
        physics.ctrl[one.control] = control


@compiled
def look_at(frame, element, physics):
    """Where the element's link and joint are, and how they move."""
    body = element.body
    for i in range(3):
        frame.position[i] = physics.xpos[body, i]
        for j in range(3):
            frame.rotation[i, j] = physics.xmat[body, 3 * i + j]
        frame.angular[i] = physics.cvel[body, i]
    # MuJoCo's velocities are those of a point at the tree's centre of mass, as if it were part of the body.
    dx = physics.xpos[body, 0] - physics.subtree_com[element.root, 0]
    dy = physics.xpos[body, 1] - physics.subtree_com[element.root, 1]
    dz = physics.xpos[body, 2] - physics.subtree_com[element.root, 2]
    cx, cy, cz = cross(frame.angular[0], frame.angular[1], frame.angular[2], dx, dy, dz)
    frame.velocity[0] = physics.cvel[body, 3] + cx
    frame.velocity[1] = physics.cvel[body, 4] + cy
    frame.velocity[2] = physics.cvel[body, 5] + cz
    if element.joint >= 0:
        frame.joint_position = physics.qpos[element.position]
        frame.joint_speed = physics.qvel[element.dof]
        for i in range(3):
            frame.joint_axis[i] = physics.xaxis[element.joint, i]
            frame.joint_anchor[i] = physics.xanchor[element.joint, i]


@compiled
def element_forces(tables, physics, outside, inputs, time, step):  # -> the element that failed
    """Every element's force on its link and its effort at its joint, put where MuJoCo takes them.

    Ends at the first element that fails, and returns its number; −1 where all went well."""
    elements, frames, world = tables.elements, tables.frames, outside.world[0]
    for b in range(physics.body_force.shape[0]):
        for i in range(6):
            physics.body_force[b, i] = 0.0
    for k in range(physics.joint_force.shape[0]):
        physics.joint_force[k] = 0.0
    wx, wy, wz = wind_at(outside.air[0], outside.gusts, time)
    for e in range(elements.shape[0]):
        element, frame = elements[e], frames[e]
        look_at(frame, element, physics)
        frame.time, frame.step, frame.air_density = time, step, world.air_density
        frame.wind[0], frame.wind[1], frame.wind[2] = wx, wy, wz
        frame.ground = -np.inf
        if world.has_ground != 0:
            frame.ground = height(outside.heights, outside.grid[0], frame.position[0], frame.position[1])
        for i in range(element.inputs):
            frame.inputs[i] = inputs[element.input + i]
        for i in range(3):
            frame.force[i], frame.torque[i] = 0.0, 0.0
        frame.joint_effort = 0.0
        for i in range(element.reports):
            frame.reports[i] = 0.0
        frame.failed = 0
        call_with_two(element.call, element.parameters, tables.frames_at + e * frames.itemsize)
        if frame.failed != 0:
            frame.time = time  # which a user's element may have overwritten
            return e
        add_to_body(frame, element, physics)
        if element.joint >= 0:
            physics.joint_force[element.dof] += frame.joint_effort
    return -1


@compiled
def add_to_body(frame, element, physics):
    """MuJoCo takes forces at the body's centre of mass; the element's act at its link's origin. That is MuJoCo's own,
    since an element may write over what its frame tells."""
    body = element.body
    fx, fy, fz = frame.force[0], frame.force[1], frame.force[2]
    dx = physics.xpos[body, 0] - physics.xipos[body, 0]
    dy = physics.xpos[body, 1] - physics.xipos[body, 1]
    dz = physics.xpos[body, 2] - physics.xipos[body, 2]
    tx, ty, tz = cross(dx, dy, dz, fx, fy, fz)
    physics.body_force[body, 0] += fx
    physics.body_force[body, 1] += fy
    physics.body_force[body, 2] += fz
    physics.body_force[body, 3] += frame.torque[0] + tx
    physics.body_force[body, 4] += frame.torque[1] + ty
    physics.body_force[body, 5] += frame.torque[2] + tz


@compiled
def accelerations(tables, physics, outside, inputs, time, step):  # -> the element that failed
    """From positions and velocities to accelerations: MuJoCo's stages with our elements between."""
    calls, model, data = physics.calls, physics.model, physics.data
    call_with_two(calls[FWD_POSITION], model, data)
    call_with_two(calls[FWD_VELOCITY], model, data)
    failed = element_forces(tables, physics, outside, inputs, time, step)
    if failed >= 0:
        return failed
    call_with_two(calls[FWD_ACTUATION], model, data)
    call_with_two(calls[FWD_ACCELERATION], model, data)
    call_with_two(calls[FWD_CONSTRAINT], model, data)
    return -1


@compiled
def integrate_positions(physics, store, velocities, dt):
    """Positions of the step's begin moved by these velocities; quaternions turn."""
    for k in range(store.qpos.shape[0]):
        physics.qpos[k] = store.qpos[k]
    call_integrate(physics.calls[INTEGRATE], physics.model, physics.qpos.ctypes.data, velocities.ctypes.data, dt)


@compiled
def turned_way(physics, store, first, second, share):
    """`second` with what rotations need beyond it: those of the body's axes do not add up, and the classical sums leave
    out the commutator of the rates, share · Ω₁ × Ω₂ ([munthekaas1998]); without it free rotation is of second order."""
    for k in range(second.shape[0]):
        store.way[k] = second[k]
    for k in range(physics.turning.shape[0]):
        at = physics.turning[k]
        x, y, z = cross(first[at], first[at + 1], first[at + 2], second[at], second[at + 1], second[at + 2])
        store.way[at] += share * x
        store.way[at + 1] += share * y
        store.way[at + 2] += share * z


@compiled
def back_to_begin(physics, store):
    for k in range(physics.qpos.shape[0]):
        physics.qpos[k] = store.qpos[k]
    for k in range(physics.qvel.shape[0]):
        physics.qvel[k] = store.qvel[k]
    for k in range(physics.act.shape[0]):
        physics.act[k] = store.act[k]


@compiled
def rk4_step(tables, physics, store, outside, inputs, time):  # -> the element that failed
    """Classical Runge-Kutta step; each stage's velocities and accelerations are kept in a row of the store.

    Where an element fails, positions and velocities are again those of the step's begin."""
    dt = outside.world[0].dt
    n, n_act = physics.qvel.shape[0], physics.act.shape[0]
    for k in range(physics.qpos.shape[0]):
        store.qpos[k] = physics.qpos[k]
    for k in range(n):
        store.qvel[k] = physics.qvel[k]
    for k in range(n_act):
        store.act[k] = physics.act[k]
    for stage in range(4):
        if stage > 0:
            ahead = dt if stage == 3 else 0.5 * dt
            turned_way(physics, store, store.velocity[0], store.velocity[stage - 1], 0.25 * dt if stage == 2 else 0.0)
            integrate_positions(physics, store, store.way, ahead)
            for k in range(n):
                physics.qvel[k] = store.qvel[k] + ahead * store.acceleration[stage - 1, k]
            for k in range(n_act):
                physics.act[k] = store.act[k] + ahead * store.activation[stage - 1, k]
        else:
            ahead = 0.0
        failed = accelerations(tables, physics, outside, inputs, time + ahead, dt if stage == 0 else 0.0)
        if failed >= 0:
            back_to_begin(physics, store)
            return failed
        for k in range(n):
            store.velocity[stage, k] = physics.qvel[k]
            store.acceleration[stage, k] = physics.qacc[k]
        for k in range(n_act):
            store.activation[stage, k] = physics.act_dot[k]
    v, a = store.velocity, store.acceleration
    turned_way(physics, store, v[0], v[3], dt / 12.0)
    for k in range(n):
        # The commutator's part alone, and the classical mean.
        store.way[k] += (v[0, k] + 2.0 * v[1, k] + 2.0 * v[2, k] + v[3, k]) / 6.0 - v[3, k]
        physics.qvel[k] = store.qvel[k] + dt * (a[0, k] + 2.0 * a[1, k] + 2.0 * a[2, k] + a[3, k]) / 6.0
        physics.warm[k] = physics.qacc[k]
    for k in range(n_act):
        b = store.activation
        physics.act[k] = store.act[k] + dt * (b[0, k] + 2.0 * b[1, k] + 2.0 * b[2, k] + b[3, k]) / 6.0
    integrate_positions(physics, store, store.way, dt)
    return -1


@compiled
def is_moving_soundly(physics):
    for k in range(physics.qvel.shape[0]):
        if not (abs(physics.qacc[k]) < LARGEST and abs(physics.qvel[k]) < LARGEST):
            return False
    sound = True
    for k in range(physics.qpos.shape[0]):
        sound = sound and isfinite(physics.qpos[k])
    return sound


@compiled
def look_around(tables, physics, store, outside, inputs, time):  # -> the element that failed
    """Everything that follows from the present state, for sensors and rows. What the solver remembers for its next step
    is put back, so that looking changes nothing."""
    for k in range(physics.warm.shape[0]):
        store.warm[k] = physics.warm[k]
    calls, model, data = physics.calls, physics.model, physics.data
    failed = accelerations(tables, physics, outside, inputs, time, 0.0)
    call_with_two(calls[SENSOR_POS], model, data)
    call_with_two(calls[SENSOR_VEL], model, data)
    # Before the sensors of acceleration, which would take those of the last look for the present ones.
    call_with_two(calls[OUTER_FORCES], model, data)
    call_with_two(calls[SENSOR_ACC], model, data)
    for k in range(physics.warm.shape[0]):
        physics.warm[k] = store.warm[k]
    return failed


@compiled
def has_left(robots, physics, world):
    """Whether a robot's root has left the terrain, beyond which there is nothing to stand on; `world.left` says which
    one, counted from 1."""
    for r in range(robots.shape[0]):
        x, y = physics.xpos[robots[r].body, 0], physics.xpos[robots[r].body, 1]
        if x < world.x_min or x > world.x_max or y < world.y_min or y > world.y_max:
            world.left = r + 1
    return world.left != 0


# Groups of arrays come as plain tuples: Numba recognises these faster than named ones.


@njit(cache=True, error_model="numpy", nogil=True)
def advance_world(
    tables, physics, store, outside,
    # what is commanded, random numbers
    inputs, noise,
    # how far; rows filled so far, and whether MuJoCo has warned
    step, n, record_every, rows, filled, warned,
):  # -> steps taken, whether the state is sound, the element or sensor that failed in the next step or −1  # fmt: skip
    """`n` steps from step `step`; sensors are read when they are due, rows written when they are asked for."""
    tables, physics = Tables(*tables), Physics(*physics)
    store, outside = Store(*store), Outside(*outside)
    used = 0
    filled[0] = 0
    own, sensors = outside.world[0], tables.sensors
    for k in range(n):
        time = (step + k) * own.dt
        shape_commands(tables.actuators, inputs, physics, own.dt)
        if own.turbulent != 0:
            turbulence_step(outside.air[0], own.dt, noise[used], noise[used + 1], noise[used + 2])
            used += 3
        if own.method == RK4:
            failed = rk4_step(tables, physics, store, outside, inputs, time)
        else:
            failed = accelerations(tables, physics, outside, inputs, time, own.dt)
            if failed < 0:
                which = EULER_STEP if own.method == EULER else IMPLICIT_STEP
                call_with_two(physics.calls[which], physics.model, physics.data)
        if failed >= 0 or warned[0] != 0:
            return k, True, failed
        if not is_moving_soundly(physics):
            return k + 1, False, -1
        now = step + k + 1
        recorded = record_every > 0 and now % record_every == 0
        due = False
        for s in range(sensors.shape[0]):
            due = due or now % sensors[s].every == 0
        if recorded or due:
            failed = look_around(tables, physics, store, outside, inputs, now * own.dt)
            if failed < 0:
                used, failed = read_sensors(tables, physics, now, noise, used)
            if failed >= 0:  # before this step's row is written: it counts as failed
                return k, True, failed
        if recorded:
            observe_row(tables, physics, rows[filled[0]])
            filled[0] += 1
        if own.bounded != 0 and has_left(tables.robots, physics, own):
            return k + 1, True, -1
    return n, True, -1


@njit(cache=True, error_model="numpy", nogil=True)
def observe_world(tables, physics, store, outside, inputs, step, row):
    """All channels of the present state; sensors keep their last reading. An element that fails here does so again in
    the next step, which ends the run."""
    tables, physics = Tables(*tables), Physics(*physics)
    store, outside = Store(*store), Outside(*outside)
    look_around(tables, physics, store, outside, inputs, step * outside.world[0].dt)
    observe_row(tables, physics, row)


@njit(cache=True, error_model="numpy", nogil=True)
def read_first(tables, physics, store, outside, inputs, noise):  # -> the element or sensor that failed
    """The readings that sensors show at the start."""
    tables, physics = Tables(*tables), Physics(*physics)
    store, outside = Store(*store), Outside(*outside)
    failed = look_around(tables, physics, store, outside, inputs, 0.0)
    return failed if failed >= 0 else read_sensors(tables, physics, 0, noise, 0)[1]
