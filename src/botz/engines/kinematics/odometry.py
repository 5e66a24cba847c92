"""What the encoders of one robot say, and the pose that dead reckoning makes of it."""

from __future__ import annotations

from math import cos, floor

from botz.engines.kinematics.rates import refresh_geometry
from botz.kernels import inlined
from botz.physics.wheels.constraints import CASTOR, arc_displacement


@inlined
def add_speed(wheel, scratch, sums):
    """A wheel's measured rates, as part of the left sides of its equations."""
    if wheel.rolling_equation >= 0:
        sums[wheel.rolling_equation].measured += (
            wheel.rolling_weight * wheel.radius * cos(wheel.roller_angle) * scratch.rate
        )
    if wheel.lateral_equation >= 0:
        equation = sums[wheel.lateral_equation]
        if wheel.kind == CASTOR:
            equation.measured -= wheel.lateral_weight * wheel.offset * scratch.second_rate
        else:
            equation.measured += wheel.lateral_weight * wheel.radius * scratch.second_rate


@inlined
def measured_speeds(robot, model, work):
    """What the encoders say of each motor: its wheels' mean speed, weighted as its equations are."""
    first = robot.equation_start
    for m in range(first, robot.equation_stop):
        work.equations[m].measured = 0.0
    for i in range(robot.wheel_start, robot.wheel_stop):
        add_speed(model.wheels[i], work.wheels[i], work.equations[first:])
    for j in range(robot.motor_start, robot.motor_stop):
        work.motors[j].measured = 0.0
        work.motors[j].measured_norm = 0.0
    for m in range(first, robot.equation_stop):
        equation = model.equations[m]
        if equation.motor >= 0:
            motor = work.motors[equation.motor]
            motor.measured += equation.factor * work.equations[m].measured
            motor.measured_norm += equation.factor * equation.factor
    for j in range(robot.motor_start, robot.motor_stop):
        work.motors[j].measured /= work.motors[j].measured_norm


@inlined
def read_wheel(wheel, now, scratch, angle, side, interval):
    """Rates of a wheel between two readings, from whole ticks; its second angle halfway."""
    ticks, side_ticks = floor(angle / wheel.tick_angle), floor(side / wheel.tick_angle)
    before = now.ticks
    scratch.rate = (ticks - before[0]) * wheel.tick_angle / interval
    scratch.second_rate = (side_ticks - before[1]) * wheel.tick_angle / interval
    before[0] = ticks
    before[1] = side_ticks
    if wheel.kind == CASTOR:
        scratch.second_rate = (now.second - now.odometry_second) / interval
    scratch.stage_second = 0.5 * (now.second + now.odometry_second)
    now.odometry_second = now.second


@inlined
def advance_odometry(robot, now, work, interval):
    """One arc with the twist that the measured speeds give the nominal robot."""
    vx, vy, turn = 0.0, 0.0, 0.0
    for j in range(robot.motor_start, robot.motor_stop):
        gain, speed = work.motors[j].nominal_gain, work.motors[j].measured
        vx += gain[0] * speed
        vy += gain[1] * speed
        turn += gain[2] * speed
    pose, twist = now.odometry_pose, now.odometry_twist
    dx, dy = arc_displacement(pose[2], vx, vy, turn, interval)
    pose[0] += dx
    pose[1] += dy
    pose[2] += turn * interval
    twist[0], twist[1], twist[2] = vx, vy, turn


@inlined
def read_encoders(r, model, state, work, dt, noise, cursor):  # -> cursor behind those used
    """Ticks of a robot, the odometry they give, and the next slip of its wheels.

    Odometry sees whole ticks and the steering angles, halfway between two readings; it knows the nominal robot,
    not its slip.
    """
    robot = model.robots[r]
    interval = dt * robot.odometry_every
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel, now = model.wheels[i], state.wheels[i]
        angle, side = now.angle, now.second
        if robot.has_noise:
            angle += wheel.encoder_noise * noise[cursor]
            side += wheel.encoder_noise * noise[cursor + 1]
            now.slip = min(max(wheel.slip_mean + wheel.slip_noise * noise[cursor + 2], -0.99), 0.99)
            cursor += 3
        read_wheel(wheel, now, work.wheels[i], angle, side, interval)
    for g in range(robot.group_start, robot.group_stop):
        group = state.groups[g]
        work.groups[g].stage_steering = 0.5 * (group.steering + group.odometry_steering)
        group.odometry_steering = group.steering
    measured_speeds(robot, model, work)
    if robot.has_noise:
        work.robots[r].valid = False
    refresh_geometry(r, model, state, work)
    advance_odometry(robot, state.robots[r], work, interval)
    return cursor
