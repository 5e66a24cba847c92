"""What is seen of wheeled robots: encoders, odometry, and the row of channels. Compiled."""

from __future__ import annotations

from math import cos, floor, hypot, sin

import numpy as np
from numba import njit

from botz.engines.kinematics.rates import inner, refresh_geometry, robot_rates, stage_now
from botz.physics.wheels.constraints import (
    CASTOR,
    FIXED,
    SPHERICAL,
    STEERED,
    SUPPORT,
    SWEDISH,
    ackermann_ratio,
    arc_displacement,
    dot3,
)
from botz.robots.wheeled_robot import ACKERMANN

FARTHEST_CENTRE = 1e6
"""A centre of rotation farther away than this [m] is none: the robot goes straight, to all that can be told."""


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
def steering_rate_of(robot, wheel, groups):
    """Rate of a steered wheel's own angle; in an Ackermann group each wheel turns at its own."""
    group = groups[wheel.group]
    if group.coupling != ACKERMANN:
        return group.steering_rate
    axle, mid = robot.axle, group.mid
    ratio = ackermann_ratio(
        axle[0], axle[1], axle[2], mid[0], mid[1], mid[2], wheel.x, wheel.y, group.steering,
    )  # fmt: skip
    return group.steering_rate * ratio


@inner
def observe_wheel(robot, wheel, groups, vx, vy, turn, row, at):  # -> column behind the wheel's channels
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
        row[at + 1] = steering_rate_of(robot, wheel, groups)
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
                at = observe_wheel(robot, wheels[i], groups, vx, vy, turn, row, at)
