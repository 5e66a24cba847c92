"""The compiled loop of engine `arm`: servo once a step, then all arms and objects by Runge-Kutta or Euler."""

from __future__ import annotations

from math import isfinite, nan, sqrt

from numba import njit

from botz.engines.arm.boxes import face_between
from botz.engines.arm.contacts import press_objects, turn_boxes
from botz.engines.arm.model import POSE
from botz.engines.arm.rows import observe_row
from botz.engines.arm.servo import actuate, carry_reference, move_jaws, servo_torques, take_reference
from botz.engines.arm.touch import press_tool
from botz.kernels import UNCOUNTED, compiled, inlined
from botz.physics.arm.chain_block import LANES, bias_and_inertia, fill_block
from botz.physics.arm.composite_body import inertia_by_columns, inertia_matrix, solve_symmetric
from botz.physics.arm.dh import add_water, chain_frames, friction_torque, set_joints, tool_frame
from botz.physics.arm.newton_euler import newton_euler
from botz.robots.arm_calls import COMPOSITE
from botz.rotations import cross, dot, quaternion_rate

RK4, SEMI_IMPLICIT = 0, 1
START, START_SPEED, ACCELERATION, WAY, GAIN, TORQUE, ZERO, LOAD = range(8)
"""Rows of `stages`."""
STOP_EDGE = 1e-9
"""A stop is felt from here on before the end of the range, so that a joint pressed on it rests there and does not fall
back and forth by rounding [rad, m]."""
STOP_TURNS = 8
"""How often joints that are at their stops together look at each other's pushes."""


@compiled
def hold_at_stops(links, joints, q, qd, scratch, room, column, acceleration):
    """A joint beyond its range is brought back to it as δ̈ = −ω² δ − 2 ω δ̇, whatever pushes it and however much hangs on
    it: its stop gives the torque that this takes, and never pulls. Joints that are at their stops together take turns.

    H⁻¹ e_i is what a torque at joint i does to all of them.
    """
    n = len(links)
    pushes = room[n]
    active = 0
    for i in range(n):
        pushes[i] = 0.0
        active += 1 if q[i] > links[i].upper - STOP_EDGE or q[i] < links[i].lower + STOP_EDGE else 0
    if active == 0:
        return
    for _ in range(1 if active == 1 else STOP_TURNS):
        for i in range(n):
            above, below = q[i] - links[i].upper, links[i].lower - q[i]
            if not (above > -STOP_EDGE or below > -STOP_EDGE):
                continue
            side, beyond = (1.0, above) if above > -STOP_EDGE else (-1.0, below)
            inertia_matrix(links, scratch, room)
            for k in range(n):
                column[k] = 1.0 if k == i else 0.0
            solve_symmetric(room, column[:n])
            rate = joints[i].stop
            missing = side * acceleration[i] + rate * (rate * beyond + 2.0 * side * qd[i])
            push = max(pushes[i] + missing / column[i], 0.0)
            for k in range(n):
                acceleration[k] -= side * (push - pushes[i]) * column[k]
            pushes[i] = push


@inlined
def arm_accelerations(
    # parameters
    arm, unit, links, chain, joints, points, planes, boxes, world, dynamics,
    # state in
    q, qd, held, poses, axes, dt,
    # room
    scratch, frames, room, zero, load,
    # out; -> next place among the bristles
    bristles, slot, loads, acceleration,
):  # fmt: skip
    """q̈ of one arm under the torques held in this step, friction, water, contact and its stops; it stands where
    `place_all` has put it."""
    side_by_side = dynamics == COMPOSITE and len(links) <= LANES
    if side_by_side:
        bias_and_inertia(links, arm.gx, arm.gy, arm.gz, frames, qd, chain, load, room)
    else:
        newton_euler(links, arm.gx, arm.gy, arm.gz, qd, zero, scratch, load)
    for i in range(len(links)):
        resisting = load[i] + friction_torque(links[i], qd[i])
        acceleration[i] = held[i] - resisting
    if arm.density != 0.0:
        add_water(arm, links, frames, qd, scratch, acceleration)
    if unit.touches:
        slot = press_tool(
            arm, unit, links, points[unit.first_block :], planes, boxes, world, frames, qd, poses, axes, dt, bristles,
            slot, loads, acceleration,
        )  # fmt: skip
    if dynamics == COMPOSITE and not side_by_side:
        inertia_matrix(links, scratch, room)
    elif dynamics != COMPOSITE:
        inertia_by_columns(links, load, zero, scratch, room)
    if not solve_symmetric(room, acceleration):
        acceleration[0] = nan  # joints that move nothing: the run ends here, and says so
        return slot
    hold_at_stops(links, joints, q, qd, scratch, room, load, acceleration)
    return slot


@compiled
def box_rates(boxes, first, world, poses, axes, loads, rates):
    """Rates of the objects' states: Newton's and Euler's equations of each."""
    for b in range(first, len(boxes)):
        box, pose, rate, load, a = boxes[b], poses[b], rates[b], loads[b], axes[b]
        rate[0], rate[1], rate[2] = pose[7], pose[8], pose[9]
        p, q, r = pose[10], pose[11], pose[12]
        rate[3], rate[4], rate[5], rate[6] = quaternion_rate(pose[3], pose[4], pose[5], pose[6], p, q, r)
        weight = 1.0 - box.lift
        rate[7] = world[0] * weight + load[0] * box.per_mass
        rate[8] = world[1] * weight + load[1] * box.per_mass
        rate[9] = world[2] * weight + load[2] * box.per_mass
        tx, ty, tz = cross(p, q, r, box.ixx * p, box.iyy * q, box.izz * r)
        rate[10] = (dot(a[0], a[1], a[2], load[3], load[4], load[5]) - tx) / box.ixx
        rate[11] = (dot(a[3], a[4], a[5], load[3], load[4], load[5]) - ty) / box.iyy
        rate[12] = (dot(a[6], a[7], a[8], load[3], load[4], load[5]) - tz) / box.izz


@inlined
def place_all(arms, units, links, q, poses, scratch, frames, world, axes):
    """Where everything is: sines and cosines of the joints, frames of the arms, axes of the objects."""
    turn_boxes(poses, int(world[4]), axes)
    for u in range(len(units)):
        s, e = units[u].start, units[u].start + units[u].n
        set_joints(links[s:e], q[s:e], scratch[s:e])
        own = frames[s + u : e + u + 1]
        chain_frames(links[s:e], scratch[s:e], own)
        tool_frame(arms[u], own[units[u].n - 1], own[units[u].n])


@inlined
def rates_of_all(
    arms, units, links, chains, joints, points, planes, boxes, bristles, q, qd, poses, scratch, frames, room, world,
    stages, box_stages, loads, patch, axes, dynamics, dt,
):  # fmt: skip
    """Accelerations of all joints and rates of all objects in their present state. With dt > 0 friction moves on: then
    it is the state that the servos have seen, for which `place_all` has been done."""
    first = int(world[4])
    if dt == 0.0:
        place_all(arms, units, links, q, poses, scratch, frames, world, axes)
    if first < len(boxes):
        for b in range(first, len(boxes)):
            for k in range(6):
                loads[b, k] = 0.0
    slot = 0
    for u in range(len(units)):
        s, e = units[u].start, units[u].start + units[u].n
        slot = arm_accelerations(
            arms[u], units[u], links[s:e], chains[u], joints[s:e], points, planes, boxes, world, dynamics, q[s:e],
            qd[s:e], stages[TORQUE, s:e], poses, axes, dt, scratch[s:e], frames[s + u : e + u + 1], room, stages[ZERO],
            stages[LOAD], bristles, slot, loads, stages[ACCELERATION, s:e],
        )  # fmt: skip
    if first < len(boxes):
        press_objects(planes, boxes, first, world, poses, axes, dt, bristles, slot, patch, loads)
        box_rates(boxes, first, world, poses, axes, loads, box_stages[1])


@compiled
def normalise(poses, first):
    for b in range(first, len(poses)):
        p = poses[b]
        size = sqrt(p[3] * p[3] + p[4] * p[4] + p[5] * p[5] + p[6] * p[6])
        p[3], p[4], p[5], p[6] = p[3] / size, p[4] / size, p[5] / size, p[6] / size


@inlined
def integrate(
    arms, units, links, chains, joints, points, planes, boxes, bristles, q, qd, poses, scratch, frames, room, world,
    stages, box_stages, loads, patch, axes, method, dynamics, dt,
):  # fmt: skip
    """One step. Euler's method is the first stage of Runge and Kutta's, with the new speeds for the positions."""
    n, first = len(q), int(world[4])
    for i in range(n):
        stages[START, i], stages[START_SPEED, i] = q[i], qd[i]
        stages[WAY, i], stages[GAIN, i] = 0.0, 0.0
    for b in range(first, len(boxes)):
        for k in range(13):
            box_stages[0, b, k], box_stages[2, b, k] = poses[b, k], 0.0
    for stage in range(4 if method == RK4 else 1):
        rates_of_all(
            arms, units, links, chains, joints, points, planes, boxes, bristles, q, qd, poses, scratch, frames, room,
            world, stages, box_stages, loads, patch, axes, dynamics, dt if stage == 0 else 0.0,
        )  # fmt: skip
        if method == SEMI_IMPLICIT:
            break
        weight = dt / 6.0 if stage == 0 or stage == 3 else dt / 3.0
        ahead = dt if stage == 2 else 0.5 * dt
        for i in range(n):
            stages[WAY, i] += weight * qd[i]
            stages[GAIN, i] += weight * stages[ACCELERATION, i]
            if stage < 3:
                q[i] = stages[START, i] + ahead * qd[i]
                qd[i] = stages[START_SPEED, i] + ahead * stages[ACCELERATION, i]
        for b in range(first, len(boxes)):
            for k in range(13):
                box_stages[2, b, k] += weight * box_stages[1, b, k]
                if stage < 3:
                    poses[b, k] = box_stages[0, b, k] + ahead * box_stages[1, b, k]
        if stage < 3:
            normalise(poses, first)
    if method == SEMI_IMPLICIT:
        step_ahead(q, qd, poses, first, stages[ACCELERATION], box_stages[1], dt)
        return
    for i in range(n):
        q[i], qd[i] = stages[START, i] + stages[WAY, i], stages[START_SPEED, i] + stages[GAIN, i]
    for b in range(first, len(boxes)):
        for k in range(13):
            poses[b, k] = box_stages[0, b, k] + box_stages[2, b, k]
    normalise(poses, first)


@compiled
def step_ahead(q, qd, poses, first, acceleration, rates, dt):
    """Euler's step: speeds first, then positions by the new ones."""
    for i in range(len(q)):
        qd[i] += dt * acceleration[i]
        q[i] += dt * qd[i]
    for b in range(first, len(poses)):
        p, rate = poses[b], rates[b]
        for k in range(7, 13):
            p[k] += dt * rate[k]
        p[0], p[1], p[2] = p[0] + dt * p[7], p[1] + dt * p[8], p[2] + dt * p[9]
        rw, rx, ry, rz = quaternion_rate(p[3], p[4], p[5], p[6], p[10], p[11], p[12])
        p[3], p[4], p[5], p[6] = p[3] + dt * rw, p[4] + dt * rx, p[5] + dt * ry, p[6] + dt * rz
    normalise(poses, first)


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def advance_arms(
    arms, units, links, chains, model, model_last, joints, points, planes, boxes, poses, bristles, q, qd, scratch,
    frames, room, world, stages, box_stages, loads, patch, axes, method, dynamics, dt, inputs, step, n, record_every,
    rows,
):  # fmt: skip
    """`n` steps; returns whether the state is still finite."""
    row = 0
    for u in range(len(units)):
        s, e = units[u].start, units[u].start + units[u].n
        take_reference(units[u], joints[s:e], links[s:e], q[s:e], inputs)
        if units[u].n <= LANES:
            fill_block(links[s:e], chains[u])
    for k in range(n):
        place_all(arms, units, links, q, poses, scratch, frames, world, axes)
        for u in range(len(units)):
            unit = units[u]
            s, e = unit.start, unit.start + unit.n
            torque = stages[TORQUE, s:e]
            servo_torques(
                arms[u], unit, links[s:e], model[s:e], model_last[u], joints[s:e], boxes, q[s:e], qd[s:e], poses, axes,
                inputs, dt, scratch[s:e], frames[s + u : e + u + 1], stages[LOAD], stages[ZERO], torque,
            )  # fmt: skip
            actuate(joints[s:e], qd[s:e], torque)
            carry_reference(joints[s:e], links[s:e], q[s:e], dt)
            if unit.gripper:
                move_jaws(unit, world[3], inputs, dt)
        integrate(
            arms, units, links, chains, joints, points, planes, boxes, bristles, q, qd, poses, scratch, frames, room,
            world, stages, box_stages, loads, patch, axes, method, dynamics, dt,
        )  # fmt: skip
        total = 0.0
        for i in range(len(q)):
            total += q[i] + qd[i]
        for b in range(len(poses)):
            for m in range(POSE):
                total += poses[b, m]
        if not isfinite(total):
            return False
        if record_every > 0 and (step + k + 1) % record_every == 0:
            observe_row(arms, units, links, joints, boxes, poses, q, qd, scratch, frames, room, world, rows[row])
            row += 1
    return True


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def observe_arms(arms, units, links, joints, boxes, poses, q, qd, scratch, frames, room, world, row):
    observe_row(arms, units, links, joints, boxes, poses, q, qd, scratch, frames, room, world, row)


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def box_axes(poses, axes):
    """Axes of all boxes, those that do not move as well."""
    turn_boxes(poses, 0, axes)


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def overlap_of(boxes, poses, axes, one, other):
    """How far two boxes are inside each other [m]; 0 or less: apart."""
    dx, dy, dz = poses[other, 0] - poses[one, 0], poses[other, 1] - poses[one, 1], poses[other, 2] - poses[one, 2]
    overlap, _, _, _ = face_between(boxes[one], boxes[other], axes[one], axes[other], dx, dy, dz)
    return overlap
