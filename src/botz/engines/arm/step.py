"""One step of engine `arm`: servo once, then all arms and objects by Runge-Kutta or Euler."""

from __future__ import annotations

from math import isfinite, nan, sqrt

from numba import njit

from botz.engines.arm.boxes import turn_boxes
from botz.engines.arm.contacts import press_objects
from botz.engines.arm.model import POSE, RK4, Model
from botz.engines.arm.rows import observe_row
from botz.engines.arm.servo import control_arm, take_reference
from botz.engines.arm.state import State
from botz.engines.arm.touch import press_tool
from botz.engines.arm.work import Work
from botz.kernels import UNCOUNTED, compiled, inlined
from botz.physics.arm.chain_block import LANES, bias_and_inertia, fill_block
from botz.physics.arm.composite_body import inertia_by_columns, inertia_matrix, solve_symmetric
from botz.physics.arm.dh import add_water, chain_frames, friction_torque, set_joints, tool_frame
from botz.physics.arm.newton_euler import newton_euler
from botz.robots.arm_calls import COMPOSITE
from botz.rotations import cross, dot, quaternion_rate

START, RATES, SUM = range(3)
"""Of `work.stages`."""
STOP_EDGE = 1e-9
"""A stop is felt from here on before the end of the range, so that a joint pressed on it rests there and does not fall
back and forth by rounding [rad, m]."""
STOP_TURNS = 8
"""How often joints that are at their stops together look at each other's pushes."""


@inlined
def step(model, state, work, inputs, dt):
    prepare(model, work)
    place_all(model, state, work)
    for u in range(len(model.units)):
        take_reference(model, state, u, inputs)
        control_arm(model, state, work, u, inputs, dt)
    integrate(model, state, work, dt)


@inlined
def integrate(model, state, work, dt):
    """Runge and Kutta's method of fourth order. Euler's is its first stage, with the new speeds for the positions."""
    method = model.world[0].method
    begin(state, work)
    for stage in range(4 if method == RK4 else 1):
        if stage > 0:
            place_all(model, state, work)
        accelerate_all(model, state, work, dt if stage == 0 else 0.0)
        if method == RK4:
            weight = dt / 6.0 if stage == 0 or stage == 3 else dt / 3.0
            ahead = dt if stage == 2 else 0.5 * dt
            sum_stage(state, work, weight, ahead, stage < 3)
    if method == RK4:
        finish(state, work)
    else:
        step_ahead(state, work, dt)


@inlined
def accelerate_all(model, state, work, dt):
    """Accelerations of all joints and rates of all objects where `place_all` has put them. With dt > 0 friction moves
    on: then it is the state that the servos have seen."""
    clear_loads(work)
    for u in range(len(model.units)):
        accelerate_arm(model, state, work, u, dt)
    press_objects(model, state, work, dt)
    for b in range(len(state.poses)):
        k = len(model.fixed_poses) + b
        box_rates(model.boxes[k], model.world[0], state.poses[b], work.axes[b], work.loads[k], work.stages[RATES, b])


@inlined
def accelerate_arm(model, state, work, u, dt):
    """q̈ of one arm under the torques held in this step, friction, water, contact and its stops."""
    arm, unit = model.arms[u], model.units[u]
    s, e = unit.start, unit.start + unit.n
    links, joints, q, qd = model.links[s:e], model.joints[s:e], state.q[s:e], state.qd[s:e]
    scratch, frames, inertia = work.scratch[s:e], work.frames[s + u : e + u + 1], work.inertia
    load, zero, acceleration = work.load, work.zero, work.acceleration[s:e]
    composite = model.world[0].dynamics == COMPOSITE
    side_by_side = composite and unit.n <= LANES
    if side_by_side:
        bias_and_inertia(links, arm.gx, arm.gy, arm.gz, frames, qd, work.blocks[u], load, inertia)
    else:
        newton_euler(links, arm.gx, arm.gy, arm.gz, qd, zero, scratch, load)
    for i in range(unit.n):
        resisting = load[i] + friction_torque(links[i], qd[i])
        acceleration[i] = work.torque[s + i] - resisting
    if arm.density != 0.0:
        add_water(arm, links, frames, qd, scratch, acceleration)
    if unit.touches:
        press_tool(model, state, work, u, dt, acceleration)
    if composite and not side_by_side:
        inertia_matrix(links, scratch, inertia)
    elif not composite:
        inertia_by_columns(links, load, zero, scratch, inertia)
    if not solve_symmetric(inertia, acceleration):
        acceleration[0] = nan  # joints that move nothing: the run ends here, and says so
        return
    hold_at_stops(links, joints, q, qd, scratch, inertia, load, acceleration)


@compiled
def hold_at_stops(links, joints, q, qd, scratch, inertia, column, acceleration):
    """A joint beyond its range is brought back to it as δ̈ = −ω² δ − 2 ω δ̇, whatever pushes it and however much hangs on
    it: its stop gives the torque that this takes, and never pulls. Joints that are at their stops together take turns.

    H⁻¹ e_i is what a torque at joint i does to all of them. Row n of `inertia` notes the pushes.
    """
    n = len(links)
    pushes = inertia[n]
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
            inertia_matrix(links, scratch, inertia)
            for k in range(n):
                column[k] = 1.0 if k == i else 0.0
            solve_symmetric(inertia, column[:n])
            rate = joints[i].stop
            missing = side * acceleration[i] + rate * (rate * beyond + 2.0 * side * qd[i])
            push = max(pushes[i] + missing / column[i], 0.0)
            for k in range(n):
                acceleration[k] -= side * (push - pushes[i]) * column[k]
            pushes[i] = push


@compiled
def box_rates(box, world, pose, axes, load, rate):
    """Rates of an object's state: Newton's and Euler's equations."""
    rate[0], rate[1], rate[2] = pose[7], pose[8], pose[9]
    p, q, r = pose[10], pose[11], pose[12]
    rate[3], rate[4], rate[5], rate[6] = quaternion_rate(pose[3], pose[4], pose[5], pose[6], p, q, r)
    weight = 1.0 - box.lift
    rate[7] = world.gx * weight + load[0] * box.per_mass
    rate[8] = world.gy * weight + load[1] * box.per_mass
    rate[9] = world.gz * weight + load[2] * box.per_mass
    tx, ty, tz = cross(p, q, r, box.ixx * p, box.iyy * q, box.izz * r)
    rate[10] = (dot(axes[0], axes[1], axes[2], load[3], load[4], load[5]) - tx) / box.ixx
    rate[11] = (dot(axes[3], axes[4], axes[5], load[3], load[4], load[5]) - ty) / box.iyy
    rate[12] = (dot(axes[6], axes[7], axes[8], load[3], load[4], load[5]) - tz) / box.izz


@inlined
def place_all(model, state, work):
    """Where everything is: sines and cosines of the joints, frames of the arms, axes of the objects."""
    turn_boxes(state.poses, work.axes)
    for u in range(len(model.units)):
        unit = model.units[u]
        s, e = unit.start, unit.start + unit.n
        frames = work.frames[s + u : e + u + 1]
        set_joints(model.links[s:e], state.q[s:e], work.scratch[s:e])
        chain_frames(model.links[s:e], work.scratch[s:e], frames)
        tool_frame(model.arms[u], frames[unit.n - 1], frames[unit.n])


@inlined
def prepare(model, work):
    """What stays the same in all stages."""
    for i in range(len(work.zero)):
        work.zero[i] = 0.0
    for u in range(len(model.units)):
        unit = model.units[u]
        if unit.n <= LANES:
            fill_block(model.links[unit.start : unit.start + unit.n], work.blocks[u])


@inlined
def clear_loads(work):
    for b in range(len(work.loads)):
        for k in range(6):
            work.loads[b, k] = 0.0


# --- methods of integration ----------------------------------------------------------------------------------------


@inlined
def begin(state, work):
    for i in range(len(state.q)):
        work.q_start[i], work.qd_start[i] = state.q[i], state.qd[i]
        work.q_sum[i], work.qd_sum[i] = 0.0, 0.0
    for b in range(len(state.poses)):
        for k in range(POSE):
            work.stages[START, b, k], work.stages[SUM, b, k] = state.poses[b, k], 0.0


@inlined
def sum_stage(state, work, weight, ahead, goes_on):
    """The rates of this stage into the sums, and the state of the next one."""
    for i in range(len(state.q)):
        work.q_sum[i] += weight * state.qd[i]
        work.qd_sum[i] += weight * work.acceleration[i]
        if goes_on:
            state.q[i] = work.q_start[i] + ahead * state.qd[i]
            state.qd[i] = work.qd_start[i] + ahead * work.acceleration[i]
    for b in range(len(state.poses)):
        for k in range(POSE):
            work.stages[SUM, b, k] += weight * work.stages[RATES, b, k]
            if goes_on:
                state.poses[b, k] = work.stages[START, b, k] + ahead * work.stages[RATES, b, k]
        if goes_on:
            normalise(state.poses[b])


@inlined
def finish(state, work):
    for i in range(len(state.q)):
        state.q[i], state.qd[i] = work.q_start[i] + work.q_sum[i], work.qd_start[i] + work.qd_sum[i]
    for b in range(len(state.poses)):
        for k in range(POSE):
            state.poses[b, k] = work.stages[START, b, k] + work.stages[SUM, b, k]
        normalise(state.poses[b])


@compiled
def normalise(p):
    size = sqrt(p[3] * p[3] + p[4] * p[4] + p[5] * p[5] + p[6] * p[6])
    p[3], p[4], p[5], p[6] = p[3] / size, p[4] / size, p[5] / size, p[6] / size


@inlined
def step_ahead(state, work, dt):
    """Euler's step: speeds first, then positions by the new ones."""
    q, qd = state.q, state.qd
    for i in range(len(q)):
        qd[i] += dt * work.acceleration[i]
        q[i] += dt * qd[i]
    for b in range(len(state.poses)):
        p, rate = state.poses[b], work.stages[RATES, b]
        for k in range(7, POSE):
            p[k] += dt * rate[k]
        p[0], p[1], p[2] = p[0] + dt * p[7], p[1] + dt * p[8], p[2] + dt * p[9]
        rw, rx, ry, rz = quaternion_rate(p[3], p[4], p[5], p[6], p[10], p[11], p[12])
        p[3], p[4], p[5], p[6] = p[3] + dt * rw, p[4] + dt * rx, p[5] + dt * ry, p[6] + dt * rz
        normalise(p)


# --- what Python calls ---------------------------------------------------------------------------------------------


@inlined
def is_finite(state):
    total = 0.0
    for i in range(len(state.q)):
        total += state.q[i] + state.qd[i]
    for b in range(len(state.poses)):
        for k in range(POSE):
            total += state.poses[b, k]
    return isfinite(total)


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def advance_arms(model, state, work, inputs, dt, first, n, record_every, rows):
    """`n` steps; returns whether the state is still finite. Model, state and work are plain tuples here, whose types
    Numba recognises ten times as fast."""
    model, state, work = Model(*model), State(*state), Work(*work)
    row = 0
    for k in range(n):
        step(model, state, work, inputs, dt)
        if not is_finite(state):
            return False
        if record_every > 0 and (first + k + 1) % record_every == 0:
            observe_row(model, state, work, rows[row])
            row += 1
    return True


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def observe_arms(model, state, work, row):
    observe_row(Model(*model), State(*state), Work(*work), row)
