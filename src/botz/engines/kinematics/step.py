"""The compiled loop of the engine `kinematics`: steps of wheeled robots, on the records of model.py."""

from __future__ import annotations

from math import cos, sin

from numba import njit

from botz.engines.kinematics.rates import inner, robot_rates, stage_after, stage_now
from botz.engines.kinematics.sensing import observe_row, read_encoders
from botz.physics.wheels.constraints import arc_displacement

ARC, RK4 = 0, 1


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
