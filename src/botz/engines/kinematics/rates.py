"""Geometry and rates of wheeled robots at one instant, compiled, on the records of model.py.

What depends on steering angles only, the matrix K(β) with ξ = K u, is kept until an angle changes: a robot with
fixed wheels, or one that holds its steering, then costs a small product and one arc a step.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from botz.physics.wheels.constraints import (
    CASTOR,
    SPHERICAL,
    ackermann_angle,
    lateral_row,
    pseudo_inverse3,
    rolling_row,
    wheel_rates,
)
from botz.robots.wheeled_robot import ACKERMANN

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
def add_row(system, equations, first, m, row, weight, grip):
    """A wheel's row, as part of equation m of its robot."""
    equations[first + m].weight += weight
    equations[first + m].slipping_weight += weight / grip
    for axis in range(3):
        system[m, axis] += weight / grip * row[axis]


@inner
def gain_matrix(robot, wheels, motors, equations, room, with_slip):
    """K = A⁺ B from the wheels' rows; slip makes a wheel's equation (rolling row) ξ = (1 − s) r ω, and for a ball,
    which rolls both ways, its lateral one too.

    The speeds that a gear averages are (rolling row) ξ / ((1 − s) r). Each equation is then scaled back to the size
    that it has without slip: least squares would else heed the wheel most that slips most.
    """
    first = robot.equation_start
    count = robot.equation_stop - first
    # `room` is made for the largest robot: this one uses a corner of each of its matrices.
    system, scratch, inverse = room[0, :count], room[1], room[2]
    for m in range(count):
        equations[first + m].weight, equations[first + m].slipping_weight = 0.0, 0.0
        for axis in range(3):
            system[m, axis] = 0.0
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel = wheels[i]
        grip = 1.0 - wheel.slip if with_slip else 1.0
        if wheel.rolling_equation >= 0:
            add_row(system, equations, first, wheel.rolling_equation, wheel.rolling, wheel.rolling_weight, grip)
        if wheel.lateral_equation >= 0:
            side_grip = grip if wheel.kind == SPHERICAL else 1.0
            add_row(system, equations, first, wheel.lateral_equation, wheel.lateral, wheel.lateral_weight, side_grip)
    for m in range(count):
        equation = equations[first + m]
        for axis in range(3):
            system[m, axis] *= equation.weight / equation.slipping_weight
    pseudo_inverse3(system, robot.length, scratch, inverse)
    for j in range(robot.motor_start, robot.motor_stop):
        gain = motors[j].gain if with_slip else motors[j].nominal_gain
        gain[0], gain[1], gain[2] = 0.0, 0.0, 0.0
    for m in range(count):
        equation = equations[first + m]
        if equation.motor >= 0:
            gain = motors[equation.motor].gain if with_slip else motors[equation.motor].nominal_gain
            for axis in range(3):
                gain[axis] += inverse[axis, m] * (equation.factor * (equation.weight / equation.slipping_weight))


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
        # Slip is lost drive: a wheel that only follows rolls freely.
        grip = 1.0 - wheel.slip if wheel.rolling_equation >= 0 else 1.0
        wheel.rate, wheel.second_rate = wheel_rates(
            wheel.kind, wheel.radius, wheel.roller_angle, wheel.roller_radius, wheel.offset, grip,
            wheel.rolling, wheel.lateral, vx, vy, turn, speed,
        )  # fmt: skip
        if wheel.second_input >= 0:
            wheel.second_rate = inputs[wheel.second_input]
    return vx, vy, turn
