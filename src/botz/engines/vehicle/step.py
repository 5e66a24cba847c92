"""The compiled loop of the engine `vehicle`: steps of vehicles, on the records of model.py."""

from __future__ import annotations

from math import sqrt

from numba import njit

from botz.engines.vehicle.forces import (
    clear_sums,
    corners_on_ground,
    forces,
    keep_sums,
    look_around,
    motors_and_friction,
    set_motion,
    set_speeds,
)
from botz.engines.vehicle.rows import observe_row
from botz.kernels import compensated_sum, compiled
from botz.physics.contact.terrain import is_inside
from botz.physics.wheels.contact_search import find_contacts, leave_wall
from botz.physics.wheels.tyre_block import begin_from_here, tyre_forces
from botz.physics.wheels.wheel_block import LANES, contact_motion, place_wheels, sum_wheels
from botz.rotations import quaternion_rate

SEMI_IMPLICIT, RK4 = 0, 1


@compiled
def semi_implicit_step(
    robot, body, wheels, axles, heights, grid, steepness, world, sines, cosines, inputs, dt
):  # fmt: skip
    """Velocities by the forces of the present state, then positions by the new velocities."""
    forces(robot, body, wheels, axles, heights, grid, steepness, world, sines, cosines, inputs, dt, dt)
    integrate_chassis(robot, body, axles, dt)


@compiled
def integrate_chassis(robot, body, axles, dt):
    v, lost = robot.v, robot.v_lost
    for k in range(3):
        v[k], lost[k] = compensated_sum(v[k], lost[k], dt * robot.acceleration[k])
    spin, lost = robot.spin, robot.spin_lost
    for k in range(3):
        spin[k], lost[k] = compensated_sum(spin[k], lost[k], dt * robot.moment[k])
    for a in range(robot.axle_start, robot.axle_stop):
        block = axles[a]
        for i in range(LANES):
            block.p[i], block.p_lost[i] = compensated_sum(block.p[i], block.p_lost[i], dt * block.total[i])
    set_speeds(robot, body, axles, 0.5 * dt)
    working = 0.0
    for a in range(robot.axle_start, robot.axle_stop):
        block = axles[a]
        for i in range(LANES):
            turned = dt * block.relative[i]
            block.angle[i], block.angle_lost[i] = compensated_sum(block.angle[i], block.angle_lost[i], turned)
            working += block.torque[i] * block.relative[i]
    # A torque moves the energy of what it turns by its product with the mean of the speeds before and after.
    work = 0.5 * dt * (robot.working + working)
    robot.work, robot.work_lost = compensated_sum(robot.work, robot.work_lost, work)
    x, lost = robot.x, robot.x_lost
    for k in range(3):
        x[k], lost[k] = compensated_sum(x[k], lost[k], dt * v[k])
    q, lost, w = robot.quat, robot.quat_lost, robot.angular
    rate = quaternion_rate(q[0], q[1], q[2], q[3], w[0], w[1], w[2])
    # What is over or short of length 1 is taken back as part of the step, so that the sums stay compensated.
    excess = 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0)
    for k in range(4):
        q[k], lost[k] = compensated_sum(q[k], lost[k], dt * rate[k] - excess * q[k])
    count_way(robot, dt)
    robot.energy, robot.energy_lost = compensated_sum(robot.energy, robot.energy_lost, dt * robot.power)


@compiled
def count_way(robot, dt):
    """How far any point of the vehicle can have moved: |v| + |Ω| reach, with a thousandth for the step's curvature."""
    v, w = robot.v, robot.angular
    speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    speed += robot.reach * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    robot.travelled += 1.001 * dt * speed + 1e-15


@compiled
def rk4_step(robot, body, wheels, axles, heights, grid, steepness, world, sines, cosines, inputs, dt):
    """Classical Runge-Kutta step of all states. Which treads are loose is that of the step's beginning."""
    keep_base(robot, wheels, axles)
    for stage in range(4):
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        ahead = 0.5 * dt if stage < 2 else dt
        forces(robot, body, wheels, axles, heights, grid, steepness, world, sines, cosines, inputs, 0.0, dt)
        if stage == 0:
            keep_deflections(robot, wheels)
        q, w = robot.quat, robot.angular
        rate = quaternion_rate(q[0], q[1], q[2], q[3], w[0], w[1], w[2])
        for k in range(4):
            robot.quat_rate[k] = rate[k]
        add_stage(robot, wheels, axles, weight)
        # Between two stages, and from the last one to the end, no point goes farther than a whole step at this speed.
        count_way(robot, dt)
        if stage < 3:
            go_to_stage(robot, wheels, axles, ahead)
            count_way(robot, dt)
    finish_step(robot, wheels, axles, dt)
    set_motion(robot, body, wheels, axles)
    leave_ground(robot, wheels)
    robot.energy, robot.energy_lost = compensated_sum(robot.energy, robot.energy_lost, dt * robot.power_sum)
    robot.work, robot.work_lost = compensated_sum(robot.work, robot.work_lost, dt * robot.working_sum)


@compiled
def keep_base(robot, wheels, axles):
    robot.power_sum, robot.working_sum = 0.0, 0.0
    for k in range(3):
        robot.x_base[k], robot.v_base[k], robot.spin_base[k] = robot.x[k], robot.v[k], robot.spin[k]
        robot.x_sum[k], robot.v_sum[k], robot.spin_sum[k] = 0.0, 0.0, 0.0
    for k in range(4):
        robot.quat_base[k] = robot.quat[k]
        robot.quat_sum[k] = 0.0
    for a in range(robot.axle_start, robot.axle_stop):
        block = axles[a]
        for i in range(LANES):
            block.p_base[i], block.z_base[i], block.angle_base[i] = block.p[i], block.z[i], block.angle[i]
            block.p_sum[i], block.z_sum[i], block.angle_sum[i] = 0.0, 0.0, 0.0


@compiled
def keep_deflections(robot, wheels):
    """Deflections from which the step goes on, as the forces at its beginning found them: at the present loads, within
    their caps, in the plane of their contacts."""
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = wheels[w]
        begin_from_here(block)
        for i in range(LANES):
            block.x_base[i], block.y_base[i] = block.u_x[i], block.u_y[i]
            block.wall_base_x[i], block.wall_base_y[i] = block.wall_x[i], block.wall_y[i]
            block.wall_base_z[i] = block.wall_z[i]
            block.x_sum[i], block.y_sum[i] = 0.0, 0.0
            block.wall_sum_x[i], block.wall_sum_y[i], block.wall_sum_z[i] = 0.0, 0.0, 0.0
    for c in range(8):
        for k in range(3):
            robot.corner_base[c, k], robot.corner_sum[c, k] = robot.corner_u[c, k], 0.0


@compiled
def add_stage(robot, wheels, axles, weight):
    robot.power_sum += weight * robot.power
    robot.working_sum += weight * robot.working
    for k in range(3):
        robot.x_sum[k] += weight * robot.v[k]
        robot.v_sum[k] += weight * robot.acceleration[k]
        robot.spin_sum[k] += weight * robot.moment[k]
    for k in range(4):
        robot.quat_sum[k] += weight * robot.quat_rate[k]
    for a in range(robot.axle_start, robot.axle_stop):
        block = axles[a]
        for i in range(LANES):
            block.p_sum[i] += weight * block.total[i]
            block.z_sum[i] += weight * block.z_rate[i]
            block.angle_sum[i] += weight * block.relative[i]
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = wheels[w]
        for i in range(LANES):
            block.x_sum[i] += weight * block.rate_x[i] * block.grown[i]
            block.y_sum[i] += weight * block.rate_y[i] * block.grown[i]
            block.wall_sum_x[i] += weight * block.wall_rate_x[i]
            block.wall_sum_y[i] += weight * block.wall_rate_y[i]
            block.wall_sum_z[i] += weight * block.wall_rate_z[i]
    for c in range(8):
        for k in range(3):
            robot.corner_sum[c, k] += weight * robot.corner_rate[c, k]


@compiled
def go_to_stage(robot, wheels, axles, ahead):
    for k in range(3):
        robot.x[k] = robot.x_base[k] + ahead * robot.v[k]
    for k in range(3):
        robot.v[k] = robot.v_base[k] + ahead * robot.acceleration[k]
        robot.spin[k] = robot.spin_base[k] + ahead * robot.moment[k]
    for k in range(4):
        robot.quat[k] = robot.quat_base[k] + ahead * robot.quat_rate[k]
    for a in range(robot.axle_start, robot.axle_stop):
        block = axles[a]
        for i in range(LANES):
            block.p[i] = block.p_base[i] + ahead * block.total[i]
            block.z[i] = block.z_base[i] + ahead * block.z_rate[i]
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = wheels[w]
        for i in range(LANES):
            block.u_x[i] = block.x_base[i] + ahead * block.rate_x[i] * block.grown[i]
            block.u_y[i] = block.y_base[i] + ahead * block.rate_y[i] * block.grown[i]
            block.wall_x[i] = block.wall_base_x[i] + ahead * block.wall_rate_x[i]
            block.wall_y[i] = block.wall_base_y[i] + ahead * block.wall_rate_y[i]
            block.wall_z[i] = block.wall_base_z[i] + ahead * block.wall_rate_z[i]
    for c in range(8):
        for k in range(3):
            robot.corner_u[c, k] = robot.corner_base[c, k] + ahead * robot.corner_rate[c, k]


@compiled
def finish_step(robot, wheels, axles, dt):
    for k in range(3):
        robot.x[k], robot.x_lost[k] = compensated_sum(robot.x_base[k], robot.x_lost[k], dt * robot.x_sum[k])
        robot.v[k], robot.v_lost[k] = compensated_sum(robot.v_base[k], robot.v_lost[k], dt * robot.v_sum[k])
        robot.spin[k], robot.spin_lost[k] = compensated_sum(
            robot.spin_base[k], robot.spin_lost[k], dt * robot.spin_sum[k]
        )
    q, base = robot.quat, robot.quat_base
    excess = 0.5 * (base[0] * base[0] + base[1] * base[1] + base[2] * base[2] + base[3] * base[3] - 1.0)
    for k in range(4):
        change = dt * robot.quat_sum[k] - excess * base[k]
        q[k], robot.quat_lost[k] = compensated_sum(base[k], robot.quat_lost[k], change)
    for a in range(robot.axle_start, robot.axle_stop):
        block = axles[a]
        for i in range(LANES):
            block.p[i], block.p_lost[i] = compensated_sum(block.p_base[i], block.p_lost[i], dt * block.p_sum[i])
            block.z[i] = block.z_base[i] + dt * block.z_sum[i]
            block.angle[i], block.angle_lost[i] = compensated_sum(
                block.angle_base[i], block.angle_lost[i], dt * block.angle_sum[i]
            )
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = wheels[w]
        for i in range(LANES):
            block.u_x[i] = block.x_base[i] + dt * block.x_sum[i]
            block.u_y[i] = block.y_base[i] + dt * block.y_sum[i]
            block.wall_x[i] = block.wall_base_x[i] + dt * block.wall_sum_x[i]
            block.wall_y[i] = block.wall_base_y[i] + dt * block.wall_sum_y[i]
            block.wall_z[i] = block.wall_base_z[i] + dt * block.wall_sum_z[i]
    for c in range(8):
        for k in range(3):
            robot.corner_u[c, k] = robot.corner_base[c, k] + dt * robot.corner_sum[c, k]


@compiled
def leave_ground(robot, wheels):
    """What touched nothing in the step's last stage holds nothing."""
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = wheels[w]
        for i in range(LANES):
            if block.spring[i] == 0.0:
                block.u_x[i], block.u_y[i], block.sliding[i] = 0.0, 0.0, 0.0
                block.load_before[i] = 0.0
            if block.wall_depth[i] <= 0.0:
                leave_wall(block, i)
    if robot.corner_margin > 0.0:
        for c in range(8):
            for k in range(3):
                robot.corner_u[c, k] = 0.0


@compiled
def is_on_ground(robot, wheels, grid):
    """Whether all wheels are over the grid."""
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = wheels[w]
        for i in range(LANES):
            x, y = robot.x[0] + block.arm_x[i], robot.x[1] + block.arm_y[i]
            if block.present[i] != 0.0 and not is_inside(grid, x, y):
                return False
    return True


@compiled
def all_finite(robots, wheels, axles):
    """A number that is not finite stays so in every sum that it enters; one sum tells of all."""
    total = 0.0
    for r in range(robots.size):
        robot = robots[r]
        for k in range(3):
            total += robot.x[k] * 0.0 + robot.v[k] * 0.0 + robot.spin[k] * 0.0
        for k in range(4):
            total += robot.quat[k] * 0.0
    for a in range(axles.size):
        for i in range(LANES):
            total += axles[a].p[i] * 0.0 + axles[a].z[i] * 0.0
    for w in range(wheels.size):
        for i in range(LANES):
            total += wheels[w].u_x[i] * 0.0 + wheels[w].u_y[i] * 0.0
    return total == 0.0


# --- what the engine calls -----------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def advance_vehicles(
    # records: parameters; state and work, changed in place; the ground
    robots, bodies, wheels, axles, heights, grids, steepness, worlds, sines, cosines,
    # parameters
    dt, method,
    # in: voltages of all motors; number of the first step, how many, and how often a row is kept
    inputs, step, n, record_every,
    # out
    rows,
):  # -> steps taken, whether the state is finite, number of a robot that left the grid (-1: none)  # fmt: skip
    """`n` steps; with none, the forces of the present state."""
    grid, world = grids[0], worlds[0]
    kept = 0
    if n == 0:
        for r in range(robots.size):
            forces(
                robots[r], bodies[r], wheels, axles, heights, grid, steepness, world, sines, cosines, inputs, 0.0, 0.0
            )
    for k in range(n):
        for r in range(robots.size):
            if method == RK4:
                rk4_step(
                    robots[r], bodies[r], wheels, axles, heights, grid, steepness, world, sines, cosines, inputs, dt
                )
            else:
                semi_implicit_step(
                    robots[r], bodies[r], wheels, axles, heights, grid, steepness, world, sines, cosines, inputs, dt
                )
        if record_every > 0 and (step + k + 1) % record_every == 0:
            observe_row(robots, wheels, axles, rows[kept])
            kept += 1
        if world.ends_outside != 0:
            for r in range(robots.size):
                if not is_on_ground(robots[r], wheels, grid):
                    return k + 1, all_finite(robots, wheels, axles), r
    return n, all_finite(robots, wheels, axles), -1


@njit(cache=True, error_model="numpy", nogil=True)
def observe_vehicles(robots, wheels, axles, row):
    observe_row(robots, wheels, axles, row)


CONTACTS, SLIPS, TYRES, MOTORS, CHASSIS = range(5)


@njit(cache=True, error_model="numpy", nogil=True)
def repeat_stage(
    robots, bodies, wheels, axles, heights, grids, steepness, worlds, sines, cosines, inputs, dt, stage, n
):  # fmt: skip
    """One stage again and again, with a little of the way that a step goes in between: for measuring its cost."""
    grid, world = grids[0], worlds[0]
    for _ in range(n):
        for r in range(robots.size):
            robot, body = robots[r], bodies[r]
            for w in range(robot.wheel_start, robot.wheel_stop):
                block = wheels[w]
                if stage == CONTACTS:
                    place_wheels(block, body)
                    find_contacts(block, body, heights, grid, sines, cosines, world.cos_blocked, world.plain != 0)
                elif stage == SLIPS:
                    contact_motion(block, body)
                elif stage == TYRES:
                    tyre_forces(block, dt, dt)
                elif stage == CHASSIS:
                    sum_wheels(block, body)
            if stage == CONTACTS:
                body.position[0] += dt * body.velocity[0]
                body.position[1] += dt * body.velocity[1]
                count_way(robot, dt)
                look_around(robot, body, wheels, steepness, grid, world)
            elif stage == MOTORS:
                motors_and_friction(robot, wheels, axles, inputs, dt)
            elif stage == CHASSIS:
                corners_on_ground(robot, body, heights, grid, dt, dt)
                keep_sums(robot, body)
                integrate_chassis(robot, body, axles, dt)
                set_motion(robot, body, wheels, axles)
                clear_sums(robot, body, world)
