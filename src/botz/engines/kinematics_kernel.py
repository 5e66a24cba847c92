"""The compiled loop of the engine `kinematics`.

All robots of a scenario lie side by side in flat arrays; robot r owns the wheels wheel_start[r]:wheel_start[r+1] and
so on. What depends on steering angles only, the matrix K(β) with ξ = K u, is kept until an angle changes: a robot with
fixed wheels, or one that holds its steering, then costs a small product and one arc a step.
"""

from __future__ import annotations

from math import cos, floor, sin
from typing import NamedTuple

import numpy as np
from numba import njit

from botz.engines.wheeled_robot import ACKERMANN
from botz.physics.wheel_constraints import (
    CASTOR,
    FIXED,
    SPHERICAL,
    STEERED,
    SUPPORT,
    SWEDISH,
    ackermann_angle,
    arc_displacement,
    constraint_rows,
    dot3,
    lateral_row,
    pseudo_inverse3,
    rolling_row,
    wheel_rates,
)

ARC, RK4 = 0, 1


class Model(NamedTuple):
    """Parameters; nothing in here changes during a run."""

    wheel_start: np.ndarray
    group_start: np.ndarray
    input_start: np.ndarray
    row_start: np.ndarray
    rate_count: np.ndarray
    select: np.ndarray
    select_start: np.ndarray
    factors: np.ndarray
    factors_start: np.ndarray
    length: np.ndarray
    axle: np.ndarray
    has_castor: np.ndarray
    has_slip: np.ndarray
    has_noise: np.ndarray
    odometry_every: np.ndarray
    kind: np.ndarray
    x: np.ndarray
    y: np.ndarray
    heading: np.ndarray
    radius: np.ndarray
    roller_angle: np.ndarray
    roller_radius: np.ndarray
    offset: np.ndarray
    group: np.ndarray
    motor: np.ndarray
    second_motor: np.ndarray
    tick_angle: np.ndarray
    encoder_noise: np.ndarray
    slip_mean: np.ndarray
    slip_noise: np.ndarray
    coupling: np.ndarray
    limit: np.ndarray
    rate: np.ndarray
    mid: np.ndarray


class State(NamedTuple):
    """Everything that a continuation needs."""

    pose: np.ndarray
    steering: np.ndarray
    angle: np.ndarray
    second: np.ndarray
    slip: np.ndarray
    ticks: np.ndarray
    odometry_pose: np.ndarray
    odometry_twist: np.ndarray
    odometry_steering: np.ndarray
    odometry_second: np.ndarray


class Work(NamedTuple):
    """Derived from state and parameters at any time; kept to save time and allocations."""

    valid: np.ndarray
    cached_steering: np.ndarray
    cached_second: np.ndarray
    psi: np.ndarray
    rows: np.ndarray
    system: np.ndarray
    scratch: np.ndarray
    inverse: np.ndarray
    gain: np.ndarray
    nominal_gain: np.ndarray
    steering_rate: np.ndarray
    stage_steering: np.ndarray
    stage_second: np.ndarray
    rate: np.ndarray
    second_rate: np.ndarray
    sum_rate: np.ndarray
    sum_second: np.ndarray
    measured: np.ndarray


@njit(cache=True, error_model="numpy")
def gain_matrix(model, work, r, slip, with_slip, gain):
    """K = A⁺ B of robot r from the rows in `work`; slip makes a wheel's equation (rolling row) / (1 − s) ξ = r ω."""
    w0, w1 = model.wheel_start[r], model.wheel_start[r + 1]
    m0, m1 = model.row_start[r], model.row_start[r + 1]
    columns = 2 * (w1 - w0)
    at = model.select_start[r]
    for m in range(m0, m1):
        a0, a1, a2 = 0.0, 0.0, 0.0
        for c in range(columns):
            weight = model.select[at + (m - m0) * columns + c]
            if weight != 0.0:
                if with_slip and c % 2 == 0:
                    weight /= 1.0 - slip[w0 + c // 2]
                row = 2 * w0 + c
                a0 += weight * work.rows[row, 0]
                a1 += weight * work.rows[row, 1]
                a2 += weight * work.rows[row, 2]
        work.system[m, 0] = a0
        work.system[m, 1] = a1
        work.system[m, 2] = a2
    pseudo_inverse3(work.system[m0:m1], model.length[r], work.scratch[m0:m1], work.inverse[:, m0:m1])
    u0 = model.input_start[r]
    rates = model.rate_count[r]
    for axis in range(3):
        for j in range(rates):
            total = 0.0
            for m in range(m0, m1):
                total += work.inverse[axis, m] * model.factors[model.factors_start[r] + (m - m0) * rates + j]
            gain[axis, u0 + j] = total


@njit(cache=True, error_model="numpy")
def turn_castor(model, work, i, pivot):
    work.cached_second[i] = pivot
    psi = model.heading[i] + pivot
    work.psi[i] = psi
    work.rows[2 * i, 0], work.rows[2 * i, 1], work.rows[2 * i, 2] = rolling_row(model.x[i], model.y[i], psi)
    a0, a1, a2 = lateral_row(model.x[i], model.y[i], psi, model.offset[i])
    work.rows[2 * i + 1, 0], work.rows[2 * i + 1, 1], work.rows[2 * i + 1, 2] = a0, a1, a2


@njit(cache=True, error_model="numpy")
def refresh_geometry(model, work, r, steering, second, slip):
    """Rows and K of robot r, if an angle that they depend on has changed."""
    changed = not work.valid[r]
    for g in range(model.group_start[r], model.group_start[r + 1]):
        if steering[g] != work.cached_steering[g]:
            changed = True
    if model.has_castor[r]:
        for i in range(model.wheel_start[r], model.wheel_start[r + 1]):
            if model.kind[i] == CASTOR and second[i] != work.cached_second[i]:
                if model.motor[i] >= 0:
                    changed = True
                else:
                    # A passive castor constrains nothing: its own rows turn with it, the gains stay.
                    turn_castor(model, work, i, second[i])
    if not changed:
        return
    w0, w1 = model.wheel_start[r], model.wheel_start[r + 1]
    for g in range(model.group_start[r], model.group_start[r + 1]):
        work.cached_steering[g] = steering[g]
    for i in range(w0, w1):
        work.cached_second[i] = second[i]
        work.psi[i] = model.heading[i]
        g = model.group[i]
        if g >= 0:
            if model.coupling[g] == ACKERMANN:
                axle, mid = model.axle[r], model.mid[g]
                work.psi[i] += ackermann_angle(
                    axle[0], axle[1], axle[2], mid[0], mid[1], mid[2],
                    model.x[i], model.y[i], model.heading[i], steering[g],
                )  # fmt: skip
            else:
                work.psi[i] += steering[g]
        elif model.kind[i] == CASTOR:
            work.psi[i] += second[i]
    constraint_rows(
        model.x[w0:w1], model.y[w0:w1], model.roller_angle[w0:w1], model.offset[w0:w1],
        work.psi[w0:w1], work.rows[2 * w0 : 2 * w1],
    )  # fmt: skip
    gain_matrix(model, work, r, slip, False, work.nominal_gain)
    if model.has_slip[r]:
        gain_matrix(model, work, r, slip, True, work.gain)
    else:
        for axis in range(3):
            for j in range(model.input_start[r], model.input_start[r] + model.rate_count[r]):
                work.gain[axis, j] = work.nominal_gain[axis, j]
    work.valid[r] = True


@njit(cache=True, error_model="numpy")
def twist_from(gain, inputs, u0, rates):
    vx, vy, turn = 0.0, 0.0, 0.0
    for j in range(u0, u0 + rates):
        vx += gain[0, j] * inputs[j]
        vy += gain[1, j] * inputs[j]
        turn += gain[2, j] * inputs[j]
    return vx, vy, turn


@njit(cache=True, error_model="numpy")
def robot_rates(model, work, r, steering, second, slip, inputs):  # -> twist
    """Twist of robot r and the rates of its wheels, at the given angles and inputs."""
    refresh_geometry(model, work, r, steering, second, slip)
    u0 = model.input_start[r]
    vx, vy, turn = twist_from(work.gain, inputs, u0, model.rate_count[r])
    for i in range(model.wheel_start[r], model.wheel_start[r + 1]):
        speed = np.nan
        if model.motor[i] >= 0:
            speed = inputs[u0 + model.motor[i]]
        effective_radius = model.radius[i] * (1.0 - slip[i])
        work.rate[i], work.second_rate[i] = wheel_rates(
            model.kind[i], effective_radius, model.roller_angle[i], model.roller_radius[i], model.offset[i],
            work.rows[2 * i], work.rows[2 * i + 1], vx, vy, turn, speed,
        )  # fmt: skip
        if model.second_motor[i] >= 0:
            work.second_rate[i] = inputs[u0 + model.second_motor[i]]
    return vx, vy, turn


@njit(cache=True, error_model="numpy")
def plan_steering(model, state, work, r, inputs, dt):  # -> whether an angle will move during the step
    """Rate of each steering group: towards its commanded angle, no faster than its limit; at once without a limit."""
    moving = False
    first = model.input_start[r] + model.rate_count[r] - model.group_start[r]
    for g in range(model.group_start[r], model.group_start[r + 1]):
        target = min(max(inputs[first + g], -model.limit[g]), model.limit[g])
        gap = target - state.steering[g]
        if abs(gap) <= model.rate[g] * dt:
            # The last part of the way, or a group without a limit: the step is taken at the target.
            state.steering[g] = target
            work.steering_rate[g] = 0.0
        else:
            work.steering_rate[g] = model.rate[g] if gap > 0.0 else -model.rate[g]
            moving = True
    return moving


@njit(cache=True, error_model="numpy")
def arc_step(model, state, work, r, moving, inputs, dt):
    """One exact arc with the twist of the middle of the step; turning angles by the midpoint rule."""
    w0, w1 = model.wheel_start[r], model.wheel_start[r + 1]
    steering, second = state.steering, state.second
    vx, vy, turn = robot_rates(model, work, r, steering, second, state.slip, inputs)
    if moving or model.has_castor[r]:
        for g in range(model.group_start[r], model.group_start[r + 1]):
            work.stage_steering[g] = steering[g] + 0.5 * dt * work.steering_rate[g]
        for i in range(w0, w1):
            work.stage_second[i] = second[i] + 0.5 * dt * work.second_rate[i]
        vx, vy, turn = robot_rates(model, work, r, work.stage_steering, work.stage_second, state.slip, inputs)
    dx, dy = arc_displacement(state.pose[r, 2], vx, vy, turn, dt)
    state.pose[r, 0] += dx
    state.pose[r, 1] += dy
    state.pose[r, 2] += turn * dt
    for i in range(w0, w1):
        state.angle[i] += work.rate[i] * dt
        second[i] += work.second_rate[i] * dt
    for g in range(model.group_start[r], model.group_start[r + 1]):
        steering[g] += work.steering_rate[g] * dt


@njit(cache=True, error_model="numpy")
def rk4_step(model, state, work, r, inputs, dt):
    """Classical Runge-Kutta step of pose, wheel angles and castor pivots; steering moves linearly within the step."""
    w0, w1 = model.wheel_start[r], model.wheel_start[r + 1]
    x, y, theta = state.pose[r, 0], state.pose[r, 1], state.pose[r, 2]
    sum_x, sum_y, sum_turn = 0.0, 0.0, 0.0
    turn = 0.0
    for i in range(w0, w1):
        work.sum_rate[i] = 0.0
        work.sum_second[i] = 0.0
        work.second_rate[i] = 0.0
    for stage in range(4):
        fraction = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        for g in range(model.group_start[r], model.group_start[r + 1]):
            work.stage_steering[g] = state.steering[g] + fraction * dt * work.steering_rate[g]
        for i in range(w0, w1):
            work.stage_second[i] = state.second[i] + fraction * dt * work.second_rate[i]
        heading = theta + fraction * dt * turn
        vx, vy, turn = robot_rates(model, work, r, work.stage_steering, work.stage_second, state.slip, inputs)
        c, s = cos(heading), sin(heading)
        sum_x += weight * (c * vx - s * vy)
        sum_y += weight * (s * vx + c * vy)
        sum_turn += weight * turn
        for i in range(w0, w1):
            work.sum_rate[i] += weight * work.rate[i]
            work.sum_second[i] += weight * work.second_rate[i]
    state.pose[r, 0] = x + dt * sum_x
    state.pose[r, 1] = y + dt * sum_y
    state.pose[r, 2] = theta + dt * sum_turn
    for i in range(w0, w1):
        state.angle[i] += dt * work.sum_rate[i]
        state.second[i] += dt * work.sum_second[i]
    for g in range(model.group_start[r], model.group_start[r + 1]):
        state.steering[g] += work.steering_rate[g] * dt


@njit(cache=True, error_model="numpy")
def read_encoders(model, state, work, r, dt, noise, cursor):  # -> cursor behind the numbers used
    """Ticks of robot r, the odometry they give, and the next slip of its wheels.

    Odometry sees whole ticks and the steering angles, halfway between two readings; it knows the nominal robot, not
    its slip.
    """
    w0, w1 = model.wheel_start[r], model.wheel_start[r + 1]
    u0, rates = model.input_start[r], model.rate_count[r]
    interval = dt * model.odometry_every[r]
    for j in range(rates):
        work.measured[u0 + j] = 0.0
    for i in range(w0, w1):
        angle, side = state.angle[i], state.second[i]
        if model.has_noise[r]:
            angle += model.encoder_noise[i] * noise[cursor]
            side += model.encoder_noise[i] * noise[cursor + 1]
            state.slip[i] = min(max(model.slip_mean[i] + model.slip_noise[i] * noise[cursor + 2], -0.99), 0.99)
            cursor += 3
        ticks = floor(angle / model.tick_angle[i])
        side_ticks = floor(side / model.tick_angle[i])
        work.rate[i] = (ticks - state.ticks[i, 0]) * model.tick_angle[i] / interval
        work.second_rate[i] = (side_ticks - state.ticks[i, 1]) * model.tick_angle[i] / interval
        state.ticks[i, 0] = ticks
        state.ticks[i, 1] = side_ticks
        if model.kind[i] == CASTOR:
            work.second_rate[i] = (state.second[i] - state.odometry_second[i]) / interval
        work.stage_second[i] = 0.5 * (state.second[i] + state.odometry_second[i])
        state.odometry_second[i] = state.second[i]
    for g in range(model.group_start[r], model.group_start[r + 1]):
        work.stage_steering[g] = 0.5 * (state.steering[g] + state.odometry_steering[g])
        state.odometry_steering[g] = state.steering[g]
    measured_inputs(model, work, r)
    if model.has_noise[r]:
        work.valid[r] = False
    refresh_geometry(model, work, r, work.stage_steering, work.stage_second, state.slip)
    vx, vy, turn = twist_from(work.nominal_gain, work.measured, u0, rates)
    dx, dy = arc_displacement(state.odometry_pose[r, 2], vx, vy, turn, interval)
    state.odometry_pose[r, 0] += dx
    state.odometry_pose[r, 1] += dy
    state.odometry_pose[r, 2] += turn * interval
    state.odometry_twist[r, 0] = vx
    state.odometry_twist[r, 1] = vy
    state.odometry_twist[r, 2] = turn
    return cursor


@njit(cache=True, error_model="numpy")
def measured_inputs(model, work, r):
    """What the encoders say of each input of robot r: its wheels' mean speed, weighted as its equations are."""
    w0, w1 = model.wheel_start[r], model.wheel_start[r + 1]
    m0, m1 = model.row_start[r], model.row_start[r + 1]
    u0, rates = model.input_start[r], model.rate_count[r]
    columns = 2 * (w1 - w0)
    for j in range(rates):
        total, norm = 0.0, 0.0
        for m in range(m0, m1):
            factor = model.factors[model.factors_start[r] + (m - m0) * rates + j]
            if factor == 0.0:
                continue
            value = 0.0
            for c in range(columns):
                weight = model.select[model.select_start[r] + (m - m0) * columns + c]
                if weight == 0.0:
                    continue
                i = w0 + c // 2
                if c % 2 == 0:
                    value += weight * model.radius[i] * cos(model.roller_angle[i]) * work.rate[i]
                elif model.kind[i] == CASTOR:
                    value -= weight * model.offset[i] * work.second_rate[i]
                else:
                    value += weight * model.radius[i] * work.second_rate[i]
            total += factor * value
            norm += factor * factor
        work.measured[u0 + j] = total / norm


@njit(cache=True, error_model="numpy")
def observe_row(model, state, work, inputs, row):
    """All channels in the order of the channel table (see KinematicsEngine)."""
    at = 0
    for r in range(model.length.size):
        vx, vy, turn = robot_rates(model, work, r, state.steering, state.second, state.slip, inputs)
        x, y, theta = state.pose[r, 0], state.pose[r, 1], state.pose[r, 2]
        row[at], row[at + 1], row[at + 2] = x, y, theta
        row[at + 3], row[at + 4], row[at + 5] = vx, vy, turn
        if turn != 0.0:
            c, s = cos(theta), sin(theta)
            row[at + 6] = x + (-c * vy - s * vx) / turn
            row[at + 7] = y + (-s * vy + c * vx) / turn
        else:
            row[at + 6], row[at + 7] = np.nan, np.nan
        for axis in range(3):
            row[at + 8 + axis] = state.odometry_pose[r, axis]
            row[at + 11 + axis] = state.odometry_twist[r, axis]
        at += 14
        for j in range(model.input_start[r], model.input_start[r + 1]):
            row[at] = inputs[j]
            at += 1
        for i in range(model.wheel_start[r], model.wheel_start[r + 1]):
            kind = model.kind[i]
            if kind == SUPPORT:
                continue
            along = dot3(work.rows[2 * i], vx, vy, turn)
            across = dot3(work.rows[2 * i + 1], vx, vy, turn)
            row[at] = state.angle[i]
            row[at + 1] = work.rate[i]
            row[at + 2] = state.ticks[i, 0]
            # Slip is the velocity of the material point that touches the ground.
            row[at + 3] = along - model.radius[i] * cos(model.roller_angle[i]) * work.rate[i]
            row[at + 4] = 0.0
            if kind == FIXED or kind == STEERED:
                row[at + 4] = across
            elif kind == CASTOR:
                row[at + 4] = across + model.offset[i] * work.second_rate[i]
            elif kind == SPHERICAL:
                row[at + 4] = across - model.radius[i] * work.second_rate[i]
            at += 5
            if kind == STEERED:
                row[at] = work.psi[i] - model.heading[i]
                row[at + 1] = work.steering_rate[model.group[i]]
                at += 2
            elif kind == CASTOR or kind == SPHERICAL or kind == SWEDISH:
                row[at] = state.second[i]
                row[at + 1] = work.second_rate[i]
                at += 2


@njit(cache=True, error_model="numpy")
def steady_steps(model, state, work, r, inputs, dt, n):
    """`n` arcs of a robot whose steering rests and that has no castors: its twist and all rates are constant.

    The same numbers as n calls of `arc_step`, bit for bit; only what does not change is taken out of the loop. The
    wheels' angles are sums of equal terms, added one at a time for that reason.
    """
    vx, vy, turn = robot_rates(model, work, r, state.steering, state.second, state.slip, inputs)
    pose = state.pose[r]
    x, y, theta = pose[0], pose[1], pose[2]
    for _ in range(n):
        dx, dy = arc_displacement(theta, vx, vy, turn, dt)
        x += dx
        y += dy
        theta += turn * dt
    pose[0], pose[1], pose[2] = x, y, theta
    for i in range(model.wheel_start[r], model.wheel_start[r + 1]):
        angle, angle_step = state.angle[i], work.rate[i] * dt
        second, second_step = state.second[i], work.second_rate[i] * dt
        for _ in range(n):
            angle += angle_step
            second += second_step
        state.angle[i] = angle
        state.second[i] = second


@njit(cache=True, error_model="numpy")
def robot_steps(model, state, work, r, inputs, dt, method, n):
    """`n` steps of robot r."""
    for k in range(n):
        moving = plan_steering(model, state, work, r, inputs, dt)
        if method == RK4:
            rk4_step(model, state, work, r, inputs, dt)
        elif moving or model.has_castor[r]:
            arc_step(model, state, work, r, moving, inputs, dt)
        else:
            steady_steps(model, state, work, r, inputs, dt, n - k)
            return


@njit(cache=True, error_model="numpy", nogil=True)
def advance_robots(
    # parameters
    model, dt, method,
    # state, changed in place
    state, work,
    # in: inputs of all robots, standard normal numbers for the encoder readings of these steps
    inputs, noise,
    # in: number of the first step, how many, and how often a row is kept
    step, n, record_every,
    # out
    rows,
):  # fmt: skip
    """Steps from one reading of an encoder or recorded row to the next; between them no robot sees another one."""
    cursor = 0
    kept = 0
    last = step + n
    while step < last:
        stop = last
        if record_every > 0:
            stop = min(stop, (step // record_every + 1) * record_every)
        for r in range(model.length.size):
            stop = min(stop, (step // model.odometry_every[r] + 1) * model.odometry_every[r])
        for r in range(model.length.size):
            robot_steps(model, state, work, r, inputs, dt, method, stop - step)
        for r in range(model.length.size):
            if stop % model.odometry_every[r] == 0:
                cursor = read_encoders(model, state, work, r, dt, noise, cursor)
        if record_every > 0 and stop % record_every == 0:
            observe_row(model, state, work, inputs, rows[kept])
            kept += 1
        step = stop
