"""The compiled loop of the engine `kinematics`, on the records of kinematics_records.py.

What depends on steering angles only, the matrix K(β) with ξ = K u, is kept until an angle changes: a robot with
fixed wheels, or one that holds its steering, then costs a small product and one arc a step.
"""

from __future__ import annotations

from math import cos, floor, hypot, sin

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
    dot3,
    lateral_row,
    pseudo_inverse3,
    rolling_row,
    wheel_rates,
)

ARC, RK4 = 0, 1
FARTHEST_CENTRE = 1e6
"""A centre of rotation farther away than this [m] is none: the robot goes straight, to all that can be told."""

inner = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For functions that only other compiled ones call: the cache keeps them as parts of their callers, and they do
without the code that would unpack Python's objects for them."""


# --- geometry: from angles to K ------------------------------------------------------------------------------


@inner
def point_wheel(wheel, psi):
    """Both rows of a wheel that heads along `psi`; a Swedish wheel's rows are those of its rollers."""
    wheel.psi = psi
    rolling, lateral = wheel.rolling, wheel.lateral
    heading = psi + wheel.roller_angle
    rolling[0], rolling[1], rolling[2] = rolling_row(wheel.x, wheel.y, heading)
    lateral[0], lateral[1], lateral[2] = lateral_row(wheel.x, wheel.y, heading, wheel.offset)


@inner
def wheel_heading(robot, wheel, groups):
    """Heading of a wheel in the body's frame, at the angles of the present stage."""
    if wheel.group >= 0:
        group = groups[wheel.group]
        if group.coupling == ACKERMANN:
            axle, mid = robot.axle, group.mid
            return wheel.heading + ackermann_angle(
                axle[0], axle[1], axle[2], mid[0], mid[1], mid[2],
                wheel.x, wheel.y, wheel.heading, group.stage_steering,
            )  # fmt: skip
        return wheel.heading + group.stage_steering
    if wheel.kind == CASTOR:
        return wheel.heading + wheel.stage_second
    return wheel.heading


@inner
def gain_matrix(robot, wheels, motors, equations, room, with_slip):
    """K = A⁺ B from the wheels' rows; slip makes a wheel's equation (rolling row) / (1 − s) ξ = r ω, and for a ball,
    which rolls both ways, its lateral one too."""
    first = robot.equation_start
    count = robot.equation_stop - first
    # `room` is made for the largest robot: this one uses a corner of each of its matrices.
    system, scratch, inverse = room[0, :count], room[1], room[2]
    for m in range(count):
        for axis in range(3):
            system[m, axis] = 0.0
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel = wheels[i]
        m = wheel.rolling_equation
        if m >= 0:
            weight = wheel.rolling_weight
            if with_slip:
                weight /= 1.0 - wheel.slip
            for axis in range(3):
                system[m, axis] += weight * wheel.rolling[axis]
        m = wheel.lateral_equation
        if m >= 0:
            weight = wheel.lateral_weight
            if with_slip and wheel.kind == SPHERICAL:
                weight /= 1.0 - wheel.slip
            for axis in range(3):
                system[m, axis] += weight * wheel.lateral[axis]
    pseudo_inverse3(system, robot.length, scratch, inverse)
    for j in range(robot.motor_start, robot.motor_stop):
        gain = motors[j].gain if with_slip else motors[j].nominal_gain
        gain[0], gain[1], gain[2] = 0.0, 0.0, 0.0
    for m in range(count):
        equation = equations[first + m]
        if equation.motor >= 0:
            gain = motors[equation.motor].gain if with_slip else motors[equation.motor].nominal_gain
            for axis in range(3):
                gain[axis] += inverse[axis, m] * equation.factor


@inner
def angles_changed(robot, wheels, groups):  # -> whether K must be found again
    """Compares the angles of the present stage to those that rows and gains belong to."""
    changed = not robot.valid
    for g in range(robot.group_start, robot.group_stop):
        if groups[g].stage_steering != groups[g].cached_steering:
            changed = True
    if robot.has_castor:
        for i in range(robot.wheel_start, robot.wheel_stop):
            wheel = wheels[i]
            if wheel.kind == CASTOR and wheel.stage_second != wheel.cached_second:
                if wheel.motor_input >= 0:
                    changed = True
                else:
                    # A passive castor constrains nothing: its own rows turn with it, the gains stay.
                    wheel.cached_second = wheel.stage_second
                    point_wheel(wheel, wheel.heading + wheel.stage_second)
    return changed


@inner
def refresh_geometry(robot, wheels, groups, motors, equations, room):
    """Rows and K at the angles of the present stage, if one that they depend on has changed."""
    if not angles_changed(robot, wheels, groups):
        return
    for g in range(robot.group_start, robot.group_stop):
        groups[g].cached_steering = groups[g].stage_steering
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel = wheels[i]
        wheel.cached_second = wheel.stage_second
        point_wheel(wheel, wheel_heading(robot, wheel, groups))
    for with_slip in range(2 if robot.has_slip else 1):
        gain_matrix(robot, wheels, motors, equations, room, with_slip == 1)
    if not robot.has_slip:
        for j in range(robot.motor_start, robot.motor_stop):
            for axis in range(3):
                motors[j].gain[axis] = motors[j].nominal_gain[axis]
    robot.valid = True


# --- rates at one instant ------------------------------------------------------------------------------------


@inner
def stage_now(robot, wheels, groups):
    """The present angles are the ones to compute rates at."""
    for g in range(robot.group_start, robot.group_stop):
        groups[g].stage_steering = groups[g].steering
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheels[i].stage_second = wheels[i].second


@inner
def stage_after(robot, wheels, groups, time):
    """The angles after `time` at the present rates are the ones to compute rates at."""
    for g in range(robot.group_start, robot.group_stop):
        groups[g].stage_steering = groups[g].steering + time * groups[g].steering_rate
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheels[i].stage_second = wheels[i].second + time * wheels[i].second_rate


@inner
def robot_rates(robot, wheels, groups, motors, equations, room, inputs):  # -> twist
    """Twist of a robot and the rates of its wheels, at the angles of the present stage."""
    refresh_geometry(robot, wheels, groups, motors, equations, room)
    vx, vy, turn = 0.0, 0.0, 0.0
    for j in range(robot.motor_start, robot.motor_stop):
        gain, speed = motors[j].gain, inputs[motors[j].input]
        vx += gain[0] * speed
        vy += gain[1] * speed
        turn += gain[2] * speed
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel = wheels[i]
        speed = np.nan
        if wheel.motor_input >= 0:
            speed = inputs[wheel.motor_input]
        wheel.rate, wheel.second_rate = wheel_rates(
            wheel.kind, wheel.radius, wheel.roller_angle, wheel.roller_radius, wheel.offset, 1.0 - wheel.slip,
            wheel.rolling, wheel.lateral, vx, vy, turn, speed,
        )  # fmt: skip
        if wheel.second_input >= 0:
            wheel.second_rate = inputs[wheel.second_input]
    return vx, vy, turn


# --- steps ---------------------------------------------------------------------------------------------------


@inner
def plan_steering(robot, groups, inputs, dt):  # -> whether an angle will move during the step
    """Rate of each steering group: towards its commanded angle, no faster than its limit; without one, at once."""
    moving = False
    for g in range(robot.group_start, robot.group_stop):
        group = groups[g]
        target = min(max(inputs[group.input], -group.limit), group.limit)
        gap = target - group.steering
        if abs(gap) <= group.rate * dt:
            # The last part of the way, or a group without a limit: the step is taken at the target.
            group.steering = target
            group.steering_rate = 0.0
        else:
            group.steering_rate = group.rate if gap > 0.0 else -group.rate
            moving = True
    return moving


@inner
def arc_step(robot, wheels, groups, motors, equations, room, inputs, dt):
    """One exact arc with the twist of the middle of the step; turning angles by the midpoint rule."""
    vx, vy, turn = 0.0, 0.0, 0.0
    stage_now(robot, wheels, groups)
    for middle in range(2):
        if middle == 1:
            stage_after(robot, wheels, groups, 0.5 * dt)
        vx, vy, turn = robot_rates(robot, wheels, groups, motors, equations, room, inputs)
    pose = robot.pose
    dx, dy = arc_displacement(pose[2], vx, vy, turn, dt)
    pose[0] += dx
    pose[1] += dy
    pose[2] += turn * dt
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheels[i].angle += wheels[i].rate * dt
        wheels[i].second += wheels[i].second_rate * dt
    for g in range(robot.group_start, robot.group_stop):
        groups[g].steering += groups[g].steering_rate * dt


@inner
def rk4_step(robot, wheels, groups, motors, equations, room, inputs, dt):
    """Classical Runge-Kutta step of pose, wheel angles and castor pivots; steering moves linearly within it."""
    pose = robot.pose
    x, y, theta = pose[0], pose[1], pose[2]
    sum_x, sum_y, sum_turn = 0.0, 0.0, 0.0
    turn = 0.0
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheels[i].sum_rate = 0.0
        wheels[i].sum_second = 0.0
        wheels[i].second_rate = 0.0
    for stage in range(4):
        fraction = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        stage_after(robot, wheels, groups, fraction * dt)
        heading = theta + fraction * dt * turn
        vx, vy, turn = robot_rates(robot, wheels, groups, motors, equations, room, inputs)
        c, s = cos(heading), sin(heading)
        sum_x += weight * (c * vx - s * vy)
        sum_y += weight * (s * vx + c * vy)
        sum_turn += weight * turn
        for i in range(robot.wheel_start, robot.wheel_stop):
            wheels[i].sum_rate += weight * wheels[i].rate
            wheels[i].sum_second += weight * wheels[i].second_rate
    pose[0] = x + dt * sum_x
    pose[1] = y + dt * sum_y
    pose[2] = theta + dt * sum_turn
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheels[i].angle += dt * wheels[i].sum_rate
        wheels[i].second += dt * wheels[i].sum_second
    for g in range(robot.group_start, robot.group_stop):
        groups[g].steering += groups[g].steering_rate * dt


@inner
def steady_steps(robot, wheels, groups, motors, equations, room, inputs, dt, n):
    """`n` arcs of a robot whose steering rests and that has no castors: its twist and all rates are constant.

    The same numbers as n calls of `arc_step`, bit for bit; only what does not change is taken out of the loop. The
    wheels' angles are sums of equal terms, added one at a time for that reason.
    """
    stage_now(robot, wheels, groups)
    vx, vy, turn = robot_rates(robot, wheels, groups, motors, equations, room, inputs)
    pose = robot.pose
    x, y, theta = pose[0], pose[1], pose[2]
    for _ in range(n):
        dx, dy = arc_displacement(theta, vx, vy, turn, dt)
        x += dx
        y += dy
        theta += turn * dt
    pose[0], pose[1], pose[2] = x, y, theta
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel = wheels[i]
        angle, angle_step = wheel.angle, wheel.rate * dt
        second, second_step = wheel.second, wheel.second_rate * dt
        for _ in range(n):
            angle += angle_step
            second += second_step
        wheel.angle = angle
        wheel.second = second


@inner
def robot_steps(robot, wheels, groups, motors, equations, room, inputs, dt, method, n):
    """`n` steps of one robot."""
    for k in range(n):
        moving = plan_steering(robot, groups, inputs, dt)
        if method == RK4:
            rk4_step(robot, wheels, groups, motors, equations, room, inputs, dt)
        elif moving or robot.has_castor:
            arc_step(robot, wheels, groups, motors, equations, room, inputs, dt)
        else:
            steady_steps(robot, wheels, groups, motors, equations, room, inputs, dt, n - k)
            return


# --- encoders and odometry -----------------------------------------------------------------------------------


@inner
def measured_speeds(robot, wheels, motors, equations):
    """What the encoders say of each motor: its wheels' mean speed, weighted as its equations are."""
    first = robot.equation_start
    for m in range(first, robot.equation_stop):
        equations[m].measured = 0.0
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel = wheels[i]
        if wheel.rolling_equation >= 0:
            equation = equations[first + wheel.rolling_equation]
            equation.measured += wheel.rolling_weight * wheel.radius * cos(wheel.roller_angle) * wheel.rate
        if wheel.lateral_equation >= 0:
            equation = equations[first + wheel.lateral_equation]
            if wheel.kind == CASTOR:
                equation.measured -= wheel.lateral_weight * wheel.offset * wheel.second_rate
            else:
                equation.measured += wheel.lateral_weight * wheel.radius * wheel.second_rate
    for j in range(robot.motor_start, robot.motor_stop):
        motors[j].measured = 0.0
        motors[j].measured_norm = 0.0
    for m in range(first, robot.equation_stop):
        equation = equations[m]
        if equation.motor >= 0:
            motor = motors[equation.motor]
            motor.measured += equation.factor * equation.measured
            motor.measured_norm += equation.factor * equation.factor
    for j in range(robot.motor_start, robot.motor_stop):
        motors[j].measured /= motors[j].measured_norm


@inner
def read_encoders(robot, wheels, groups, motors, equations, room, dt, noise, cursor):  # -> cursor behind those used
    """Ticks of a robot, the odometry they give, and the next slip of its wheels.

    Odometry sees whole ticks and the steering angles, halfway between two readings; it knows the nominal robot,
    not its slip.
    """
    interval = dt * robot.odometry_every
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel = wheels[i]
        angle, side = wheel.angle, wheel.second
        if robot.has_noise:
            angle += wheel.encoder_noise * noise[cursor]
            side += wheel.encoder_noise * noise[cursor + 1]
            wheel.slip = min(max(wheel.slip_mean + wheel.slip_noise * noise[cursor + 2], -0.99), 0.99)
            cursor += 3
        ticks = floor(angle / wheel.tick_angle)
        side_ticks = floor(side / wheel.tick_angle)
        before = wheel.ticks
        wheel.rate = (ticks - before[0]) * wheel.tick_angle / interval
        wheel.second_rate = (side_ticks - before[1]) * wheel.tick_angle / interval
        before[0] = ticks
        before[1] = side_ticks
        if wheel.kind == CASTOR:
            wheel.second_rate = (wheel.second - wheel.odometry_second) / interval
        wheel.stage_second = 0.5 * (wheel.second + wheel.odometry_second)
        wheel.odometry_second = wheel.second
    for g in range(robot.group_start, robot.group_stop):
        group = groups[g]
        group.stage_steering = 0.5 * (group.steering + group.odometry_steering)
        group.odometry_steering = group.steering
    measured_speeds(robot, wheels, motors, equations)
    if robot.has_noise:
        robot.valid = False
    refresh_geometry(robot, wheels, groups, motors, equations, room)
    vx, vy, turn = 0.0, 0.0, 0.0
    for j in range(robot.motor_start, robot.motor_stop):
        gain, speed = motors[j].nominal_gain, motors[j].measured
        vx += gain[0] * speed
        vy += gain[1] * speed
        turn += gain[2] * speed
    pose, twist = robot.odometry_pose, robot.odometry_twist
    dx, dy = arc_displacement(pose[2], vx, vy, turn, interval)
    pose[0] += dx
    pose[1] += dy
    pose[2] += turn * interval
    twist[0], twist[1], twist[2] = vx, vy, turn
    return cursor


# --- channels ------------------------------------------------------------------------------------------------


@inner
def observe_wheel(wheel, groups, vx, vy, turn, row, at):  # -> column behind the wheel's channels
    kind = wheel.kind
    along = dot3(wheel.rolling, vx, vy, turn)
    across = dot3(wheel.lateral, vx, vy, turn)
    row[at] = wheel.angle
    row[at + 1] = wheel.rate
    row[at + 2] = wheel.ticks[0]
    # Slip is the velocity of the material point that touches the ground.
    row[at + 3] = along - wheel.radius * cos(wheel.roller_angle) * wheel.rate
    row[at + 4] = 0.0
    if kind in (FIXED, STEERED):
        row[at + 4] = across
    elif kind == CASTOR:
        row[at + 4] = across + wheel.offset * wheel.second_rate
    elif kind == SPHERICAL:
        row[at + 4] = across - wheel.radius * wheel.second_rate
    at += 5
    if kind == STEERED:
        row[at] = wheel.psi - wheel.heading
        row[at + 1] = groups[wheel.group].steering_rate
        at += 2
    elif kind in (CASTOR, SPHERICAL, SWEDISH):
        row[at] = wheel.second
        row[at + 1] = wheel.second_rate
        at += 2
    return at


@njit(cache=True, error_model="numpy", nogil=True)
def observe_row(robots, wheels, groups, motors, equations, room, inputs, row):
    """All channels in the order of the channel table (see KinematicsEngine)."""
    at = 0
    for r in range(robots.size):
        robot = robots[r]
        stage_now(robot, wheels, groups)
        vx, vy, turn = robot_rates(robot, wheels, groups, motors, equations, room, inputs)
        x, y, theta = robot.pose[0], robot.pose[1], robot.pose[2]
        row[at], row[at + 1], row[at + 2] = x, y, theta
        row[at + 3], row[at + 4], row[at + 5] = vx, vy, turn
        if abs(turn) * FARTHEST_CENTRE > hypot(vx, vy):
            c, s = cos(theta), sin(theta)
            row[at + 6] = x + (-c * vy - s * vx) / turn
            row[at + 7] = y + (-s * vy + c * vx) / turn
        else:
            row[at + 6], row[at + 7] = np.nan, np.nan
        for axis in range(3):
            row[at + 8 + axis] = robot.odometry_pose[axis]
            row[at + 11 + axis] = robot.odometry_twist[axis]
        at += 14
        for j in range(robot.input_start, robot.input_stop):
            row[at] = inputs[j]
            at += 1
        for i in range(robot.wheel_start, robot.wheel_stop):
            if wheels[i].kind != SUPPORT:
                at = observe_wheel(wheels[i], groups, vx, vy, turn, row, at)


@inner
def all_finite(robots, wheels, groups):
    """A number that is not finite stays so in every sum that it enters; one sum tells of all."""
    total = 0.0
    for r in range(robots.size):
        for axis in range(3):
            total += robots[r].pose[axis] * 0.0 + robots[r].odometry_pose[axis] * 0.0
    for i in range(wheels.size):
        total += wheels[i].angle * 0.0 + wheels[i].second * 0.0
    for g in range(groups.size):
        total += groups[g].steering * 0.0
    return total == 0.0


# --- what the engine calls -----------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def advance_robots(
    # records: parameters; state and work, changed in place
    robots, wheels, groups, motors, equations, room,
    # parameters
    dt, method,
    # in: inputs of all robots, standard normal numbers for the encoder readings of these steps
    inputs, noise,
    # in: number of the first step, how many, and how often a row is kept
    step, n, record_every,
    # out
    rows,
):  # -> whether the state is finite  # fmt: skip
    """Steps from one reading of an encoder or recorded row to the next; between them no robot sees another one."""
    cursor = 0
    kept = 0
    last = step + n
    while step < last:
        stop = last
        if record_every > 0:
            stop = min(stop, (step // record_every + 1) * record_every)
        for r in range(robots.size):
            every = robots[r].odometry_every
            stop = min(stop, (step // every + 1) * every)
        for r in range(robots.size):
            robot_steps(robots[r], wheels, groups, motors, equations, room, inputs, dt, method, stop - step)
        for r in range(robots.size):
            if stop % robots[r].odometry_every == 0:
                cursor = read_encoders(robots[r], wheels, groups, motors, equations, room, dt, noise, cursor)
        if record_every > 0 and stop % record_every == 0:
            observe_row(robots, wheels, groups, motors, equations, room, inputs, rows[kept])
            kept += 1
        step = stop
    return all_finite(robots, wheels, groups)
