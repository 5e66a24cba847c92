"""Geometry and rates of one wheeled robot at one instant: twist ξ = K(β) u, and what it makes its wheels do.

Functions of one robot take its number `r` with the model, state and work of all.
"""

from __future__ import annotations

from math import nan

from botz.kernels import compiled, inlined
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

# --- geometry: from angles to K ------------------------------------------------------------------------------


@inlined
def point_wheel(wheel, scratch, psi):
    """Both rows of a wheel that heads along `psi`; a Swedish wheel's rows are those of its rollers."""
    scratch.psi = psi
    rolling, lateral = scratch.rolling, scratch.lateral
    heading = psi + wheel.roller_angle
    rolling[0], rolling[1], rolling[2] = rolling_row(wheel.x, wheel.y, heading)
    lateral[0], lateral[1], lateral[2] = lateral_row(wheel.x, wheel.y, heading, wheel.offset)


@inlined
def wheel_heading(robot, i, model, work):
    """Heading of wheel i in the body's frame, at the angles of the present stage."""
    wheel = model.wheels[i]
    if wheel.group >= 0:
        group, steering = model.groups[wheel.group], work.groups[wheel.group].stage_steering
        if group.coupling == ACKERMANN:
            axle, mid = robot.axle, group.mid
            return wheel.heading + ackermann_angle(
                axle[0], axle[1], axle[2], mid[0], mid[1], mid[2], wheel.x, wheel.y, wheel.heading, steering
            )
        return wheel.heading + steering
    if wheel.kind == CASTOR:
        return wheel.heading + work.wheels[i].stage_second
    return wheel.heading


@inlined
def add_row(system, m, sums, row, weight, grip):
    """A wheel's row, as part of equation m of its robot, whose weights are summed."""
    sums.weight += weight
    sums.slipping_weight += weight / grip
    for axis in range(3):
        system[m, axis] += weight / grip * row[axis]


@inlined
def gain_matrix(robot, model, state, work, with_slip):
    """K = A⁺ B from the wheels' rows; slip makes a wheel's equation (rolling row) ξ = (1 − s) r ω, and for a ball,
    which rolls both ways, its lateral one too.

    The speeds that a gear averages are (rolling row) ξ / ((1 − s) r). Each equation is then scaled back to the size
    that it has without slip: least squares would else heed the wheel most that slips most.
    """
    first = robot.equation_start
    count = robot.equation_stop - first
    # The matrices are made for the largest robot: this one uses a corner of each.
    system, scratch, inverse = work.matrices[0, :count], work.matrices[1], work.matrices[2]
    for m in range(count):
        sums = work.equations[first + m]
        sums.weight, sums.slipping_weight = 0.0, 0.0
        for axis in range(3):
            system[m, axis] = 0.0
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel, rows = model.wheels[i], work.wheels[i]
        grip = 1.0 - state.wheels[i].slip if with_slip else 1.0
        m = wheel.rolling_equation
        if m >= 0:
            add_row(system, m, work.equations[first + m], rows.rolling, wheel.rolling_weight, grip)
        m = wheel.lateral_equation
        if m >= 0:
            side_grip = grip if wheel.kind == SPHERICAL else 1.0
            add_row(system, m, work.equations[first + m], rows.lateral, wheel.lateral_weight, side_grip)
    for m in range(count):
        sums = work.equations[first + m]
        for axis in range(3):
            system[m, axis] *= sums.weight / sums.slipping_weight
    pseudo_inverse3(system, robot.length, scratch, inverse)
    for j in range(robot.motor_start, robot.motor_stop):
        gain = work.motors[j].gain if with_slip else work.motors[j].nominal_gain
        gain[0], gain[1], gain[2] = 0.0, 0.0, 0.0
    for m in range(count):
        equation, sums = model.equations[first + m], work.equations[first + m]
        if equation.motor >= 0:
            motor = work.motors[equation.motor]
            gain = motor.gain if with_slip else motor.nominal_gain
            for axis in range(3):
                gain[axis] += inverse[axis, m] * (equation.factor * (sums.weight / sums.slipping_weight))


@inlined
def angles_changed(robot, valid, model, work):  # -> whether K must be found again
    """Compares the angles of the present stage to those that rows and gains belong to."""
    changed = not valid
    for g in range(robot.group_start, robot.group_stop):
        if work.groups[g].stage_steering != work.groups[g].cached_steering:
            changed = True
    if robot.has_castor:
        for i in range(robot.wheel_start, robot.wheel_stop):
            wheel, scratch = model.wheels[i], work.wheels[i]
            if wheel.kind == CASTOR and scratch.stage_second != scratch.cached_second:
                if wheel.motor_input >= 0:
                    changed = True
                else:
                    # A passive castor constrains nothing: its own rows turn with it, the gains stay.
                    scratch.cached_second = scratch.stage_second
                    point_wheel(wheel, scratch, wheel.heading + scratch.stage_second)
    return changed


@compiled
def find_geometry(robot, model, state, work):
    """Rows and K at the angles of the present stage."""
    for g in range(robot.group_start, robot.group_stop):
        work.groups[g].cached_steering = work.groups[g].stage_steering
    for i in range(robot.wheel_start, robot.wheel_stop):
        scratch = work.wheels[i]
        scratch.cached_second = scratch.stage_second
        point_wheel(model.wheels[i], scratch, wheel_heading(robot, i, model, work))
    for with_slip in range(2 if robot.has_slip else 1):
        gain_matrix(robot, model, state, work, with_slip == 1)
    if not robot.has_slip:
        for j in range(robot.motor_start, robot.motor_stop):
            for axis in range(3):
                work.motors[j].gain[axis] = work.motors[j].nominal_gain[axis]


@inlined
def refresh_geometry(r, model, state, work):
    """Rows and K at the angles of the present stage, if one that they depend on has changed."""
    robot, scratch = model.robots[r], work.robots[r]
    if angles_changed(robot, scratch.valid, model, work):
        find_geometry(robot, model, state, work)
        scratch.valid = True


@inlined
def forget_geometry(work):
    """As every call begins: what another one has left is not read."""
    for r in range(work.robots.size):
        work.robots[r].valid = False


# --- rates at one instant ------------------------------------------------------------------------------------


@inlined
def stage_now(robot, state, work):
    """The present angles are the ones to compute rates at."""
    for g in range(robot.group_start, robot.group_stop):
        work.groups[g].stage_steering = state.groups[g].steering
    for i in range(robot.wheel_start, robot.wheel_stop):
        work.wheels[i].stage_second = state.wheels[i].second


@inlined
def stage_after(robot, state, work, time):
    """The angles after `time` at the present rates are the ones to compute rates at."""
    for g in range(robot.group_start, robot.group_stop):
        group = state.groups[g]
        work.groups[g].stage_steering = group.steering + time * group.steering_rate
    for i in range(robot.wheel_start, robot.wheel_stop):
        scratch = work.wheels[i]
        scratch.stage_second = state.wheels[i].second + time * scratch.second_rate


@inlined
def twist_of(robot, model, work, inputs):  # -> ξ = K u
    vx, vy, turn = 0.0, 0.0, 0.0
    for j in range(robot.motor_start, robot.motor_stop):
        gain, speed = work.motors[j].gain, inputs[model.motors[j].input]
        vx += gain[0] * speed
        vy += gain[1] * speed
        turn += gain[2] * speed
    return vx, vy, turn


@inlined
def rates_of_wheel(wheel, slip, scratch, vx, vy, turn, inputs):
    """Rotation and second rate of one wheel of a body with this twist."""
    speed = nan
    if wheel.motor_input >= 0:
        speed = inputs[wheel.motor_input]
    # Slip is lost drive: a wheel that only follows rolls freely.
    grip = 1.0 - slip if wheel.rolling_equation >= 0 else 1.0
    scratch.rate, scratch.second_rate = wheel_rates(
        wheel.kind, wheel.radius, wheel.roller_angle, wheel.roller_radius, wheel.offset, grip,
        scratch.rolling, scratch.lateral, vx, vy, turn, speed,
    )  # fmt: skip
    if wheel.second_input >= 0:
        scratch.second_rate = inputs[wheel.second_input]


@inlined
def robot_rates(r, model, state, work, inputs):  # -> twist
    """Twist of a robot and the rates of its wheels, at the angles of the present stage."""
    robot = model.robots[r]
    refresh_geometry(r, model, state, work)
    vx, vy, turn = twist_of(robot, model, work, inputs)
    for i in range(robot.wheel_start, robot.wheel_stop):
        rates_of_wheel(model.wheels[i], state.wheels[i].slip, work.wheels[i], vx, vy, turn, inputs)
    return vx, vy, turn
