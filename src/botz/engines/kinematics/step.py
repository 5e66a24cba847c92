"""Steps of the engine `kinematics`: `advance_robots` takes n of them with the model, state and work of all robots."""

from __future__ import annotations

from math import cos, sin

from numba import njit

from botz.engines.kinematics.model import Model
from botz.engines.kinematics.odometry import read_encoders
from botz.engines.kinematics.rates import forget_geometry, robot_rates, stage_after, stage_now
from botz.engines.kinematics.rows import write_row
from botz.engines.kinematics.state import State
from botz.engines.kinematics.work import Work
from botz.kernels import UNCOUNTED, inlined
from botz.physics.wheels.constraints import arc_displacement

ARC, RK4 = 0, 1


# --- steps of one robot --------------------------------------------------------------------------------------


@inlined
def plan_steering(group, now, target, dt):  # -> whether the angle will move during the step
    """Rate of a steering group: towards its commanded angle, no faster than its limit; without one, at once."""
    target = min(max(target, -group.limit), group.limit)
    gap = target - now.steering
    if abs(gap) <= group.rate * dt:
        # The last part of the way, or a group without a limit: the step is taken at the target.
        now.steering = target
        now.steering_rate = 0.0
        return False
    now.steering_rate = group.rate if gap > 0.0 else -group.rate
    return True


@inlined
def move_steering(robot, state, dt):
    for g in range(robot.group_start, robot.group_stop):
        state.groups[g].steering += state.groups[g].steering_rate * dt


@inlined
def arc_step(r, model, state, work, inputs, dt):
    """One exact arc with the twist of the middle of the step; turning angles by the midpoint rule."""
    robot = model.robots[r]
    vx, vy, turn = 0.0, 0.0, 0.0
    stage_now(robot, state, work)
    for middle in range(2):
        if middle == 1:
            stage_after(robot, state, work, 0.5 * dt)
        vx, vy, turn = robot_rates(r, model, state, work, inputs)
    pose = state.robots[r].pose
    dx, dy = arc_displacement(pose[2], vx, vy, turn, dt)
    pose[0] += dx
    pose[1] += dy
    pose[2] += turn * dt
    for i in range(robot.wheel_start, robot.wheel_stop):
        state.wheels[i].angle += work.wheels[i].rate * dt
        state.wheels[i].second += work.wheels[i].second_rate * dt
    move_steering(robot, state, dt)


@inlined
def rk4_step(r, model, state, work, inputs, dt):
    """Classical Runge-Kutta step of pose, wheel angles and castor pivots; steering moves linearly within it."""
    robot, pose = model.robots[r], state.robots[r].pose
    x, y, theta = pose[0], pose[1], pose[2]
    sum_x, sum_y, sum_turn = 0.0, 0.0, 0.0
    turn = 0.0
    for i in range(robot.wheel_start, robot.wheel_stop):
        scratch = work.wheels[i]
        scratch.sum_rate, scratch.sum_second, scratch.second_rate = 0.0, 0.0, 0.0
    for stage in range(4):
        fraction = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        stage_after(robot, state, work, fraction * dt)
        heading = theta + fraction * dt * turn
        vx, vy, turn = robot_rates(r, model, state, work, inputs)
        c, s = cos(heading), sin(heading)
        sum_x += weight * (c * vx - s * vy)
        sum_y += weight * (s * vx + c * vy)
        sum_turn += weight * turn
        for i in range(robot.wheel_start, robot.wheel_stop):
            scratch = work.wheels[i]
            scratch.sum_rate += weight * scratch.rate
            scratch.sum_second += weight * scratch.second_rate
    pose[0] = x + dt * sum_x
    pose[1] = y + dt * sum_y
    pose[2] = theta + dt * sum_turn
    for i in range(robot.wheel_start, robot.wheel_stop):
        state.wheels[i].angle += dt * work.wheels[i].sum_rate
        state.wheels[i].second += dt * work.wheels[i].sum_second
    move_steering(robot, state, dt)


@inlined
def turn_wheel(now, scratch, dt, n):
    """`n` steps of a wheel at constant rates: sums of equal terms, added one at a time as single steps do."""
    angle, angle_step = now.angle, scratch.rate * dt
    second, second_step = now.second, scratch.second_rate * dt
    for _ in range(n):
        angle += angle_step
        second += second_step
    now.angle, now.second = angle, second


@inlined
def steady_steps(r, model, state, work, inputs, dt, n):
    """`n` arcs of a robot whose steering rests and that has no castors: its twist and all rates are constant.

    The same numbers as n calls of `arc_step`, bit for bit; only what does not change is taken out of the loop.
    """
    robot, pose = model.robots[r], state.robots[r].pose
    stage_now(robot, state, work)
    vx, vy, turn = robot_rates(r, model, state, work, inputs)
    x, y, theta = pose[0], pose[1], pose[2]
    for _ in range(n):
        dx, dy = arc_displacement(theta, vx, vy, turn, dt)
        x += dx
        y += dy
        theta += turn * dt
    pose[0], pose[1], pose[2] = x, y, theta
    for i in range(robot.wheel_start, robot.wheel_stop):
        turn_wheel(state.wheels[i], work.wheels[i], dt, n)


@inlined
def robot_steps(r, model, state, work, inputs, dt, method, n):
    """`n` steps of one robot."""
    robot = model.robots[r]
    for k in range(n):
        moving = False
        for g in range(robot.group_start, robot.group_stop):
            group = model.groups[g]
            moving |= plan_steering(group, state.groups[g], inputs[group.input], dt)
        if method == RK4:
            rk4_step(r, model, state, work, inputs, dt)
        elif moving or robot.has_castor:
            arc_step(r, model, state, work, inputs, dt)
        else:
            steady_steps(r, model, state, work, inputs, dt, n - k)
            return


@inlined
def all_finite(state):
    """A number that is not finite stays so in every sum that it enters; one sum tells of all."""
    total = 0.0
    for r in range(state.robots.size):
        for axis in range(3):
            total += state.robots[r].pose[axis] * 0.0 + state.robots[r].odometry_pose[axis] * 0.0
    for i in range(state.wheels.size):
        total += state.wheels[i].angle * 0.0 + state.wheels[i].second * 0.0
    for g in range(state.groups.size):
        total += state.groups[g].steering * 0.0
    return total == 0.0


# --- what the engine calls -----------------------------------------------------------------------------------
# Model, state and work come as plain tuples: Numba recognises these faster than named ones, by 1 µs per call.


@inlined
def next_stop(robots, step, last, record_every):
    """The next step at which an encoder is read or a row recorded; between them no robot sees another one."""
    stop = last
    if record_every > 0:
        stop = min(stop, (step // record_every + 1) * record_every)
    for r in range(robots.size):
        every = robots[r].odometry_every
        stop = min(stop, (step // every + 1) * every)
    return stop


@njit(cache=True, error_model="numpy", nogil=True, **UNCOUNTED)
def advance_robots(model, state, work, inputs, noise, dt, method, step, n, record_every, rows):
    """`n` steps from step `step`, with a row at every multiple of `record_every`; whether the state is finite then.

    `noise` holds standard normal numbers for the encoder readings of these steps.
    """
    model, state, work = Model(*model), State(*state), Work(*work)
    cursor, kept, last = 0, 0, step + n
    forget_geometry(work)
    while step < last:
        stop = next_stop(model.robots, step, last, record_every)
        for r in range(model.robots.size):
            robot_steps(r, model, state, work, inputs, dt, method, stop - step)
        for r in range(model.robots.size):
            if stop % model.robots[r].odometry_every == 0:
                cursor = read_encoders(r, model, state, work, dt, noise, cursor)
        if record_every > 0 and stop % record_every == 0:
            write_row(model, state, work, inputs, rows[kept])
            kept += 1
        step = stop
    return all_finite(state)


@njit(cache=True, error_model="numpy", nogil=True, **UNCOUNTED)
def observe_robots(model, state, work, inputs, row):
    """All channels of the present state."""
    model, state, work = Model(*model), State(*state), Work(*work)
    forget_geometry(work)
    write_row(model, state, work, inputs, row)
