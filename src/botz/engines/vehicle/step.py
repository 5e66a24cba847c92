"""The compiled loop of the engine `vehicle`: steps of all vehicles, by one method or the other."""

from __future__ import annotations

from numba import njit

from botz.engines.vehicle.forces import (
    clear_sums,
    corners_on_ground,
    count_way,
    forces,
    look_around,
    motors_and_friction,
    set_motion,
    set_speeds,
)
from botz.engines.vehicle.model import Model
from botz.engines.vehicle.rows import observe_row
from botz.engines.vehicle.runge_kutta import rk4_step
from botz.engines.vehicle.state import State, Work
from botz.kernels import UNCOUNTED, compensated_sum, inlined
from botz.physics.contact.terrain import Ground, is_inside
from botz.physics.wheels.contact_search import find_contacts
from botz.physics.wheels.tyre_block import tyre_forces
from botz.physics.wheels.wheel_block import LANES, contact_motion, place_wheels, sum_wheels
from botz.rotations import quaternion_rate

SEMI_IMPLICIT, RK4 = 0, 1


@inlined
def semi_implicit_step(model, state, work, r, inputs, dt):
    """Velocities by the forces of the present state, then positions by the new velocities."""
    working = forces(model, state, work, r, inputs, dt, dt)
    integrate_velocities(model, state, work, r, dt)
    working += integrate_axles(model, state, work, r, dt)
    integrate_chassis(model, state, r, working, dt)


@inlined
def integrate_velocities(model, state, work, r, dt):
    robot, own, moment = model.robots[r], state.robots[r], work.robot[0].moment
    v, lost = own.v, own.v_lost
    for k in range(3):
        v[k], lost[k] = compensated_sum(v[k], lost[k], dt * own.acceleration[k])
    spin, lost = own.spin, own.spin_lost
    for k in range(3):
        spin[k], lost[k] = compensated_sum(spin[k], lost[k], dt * moment[k])
    for a in range(robot.axle_start, robot.axle_stop):
        block, scratch = state.axles[a], work.axles[a - robot.axle_start]
        for i in range(LANES):
            block.p[i], block.p_lost[i] = compensated_sum(block.p[i], block.p_lost[i], dt * scratch.total[i])
    set_speeds(model, state, work, r, 0.5 * dt)


@inlined
def integrate_axles(model, state, work, r, dt):  # -> power of the motors at the wheels with the new speeds
    robot = model.robots[r]
    working = 0.0
    for a in range(robot.axle_start, robot.axle_stop):
        block, scratch = state.axles[a], work.axles[a - robot.axle_start]
        for i in range(LANES):
            turned = dt * scratch.relative[i]
            block.angle[i], block.angle_lost[i] = compensated_sum(block.angle[i], block.angle_lost[i], turned)
            working += block.torque[i] * scratch.relative[i]
    return working


@inlined
def integrate_chassis(model, state, r, working, dt):
    """`working` is the sum of the motors' powers at the wheels before and after."""
    own = state.robots[r]
    # A torque moves the energy of what it turns by its product with the mean of the speeds before and after.
    own.work, own.work_lost = compensated_sum(own.work, own.work_lost, 0.5 * dt * working)
    v = own.v
    x, lost = own.x, own.x_lost
    for k in range(3):
        x[k], lost[k] = compensated_sum(x[k], lost[k], dt * v[k])
    q, lost, w = own.quat, own.quat_lost, own.angular
    rate = quaternion_rate(q[0], q[1], q[2], q[3], w[0], w[1], w[2])
    # What is over or short of length 1 is taken back as part of the step, so that the sums stay compensated.
    excess = 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0)
    for k in range(4):
        q[k], lost[k] = compensated_sum(q[k], lost[k], dt * rate[k] - excess * q[k])
    count_way(model.robots[r], own, dt)
    own.energy, own.energy_lost = compensated_sum(own.energy, own.energy_lost, dt * own.power)


@inlined
def is_on_ground(model, state, work, r):
    """Whether all wheels are over the grid, where the step's forces found them on the body."""
    robot, x = model.robots[r], state.robots[r].x
    for w in range(robot.wheel_start, robot.wheel_stop):
        wheels, block = model.wheels[w], work.wheels[w - robot.wheel_start]
        for i in range(LANES):
            inside = is_inside(model.world[0].grid, x[0] + block.arm_x[i], x[1] + block.arm_y[i])
            if wheels.present[i] != 0.0 and not inside:
                return False
    return True


@inlined
def all_finite(state):
    """A number that is not finite stays so in every sum that it enters; one sum tells of all."""
    total = 0.0
    for r in range(state.robots.size):
        own = state.robots[r]
        for k in range(3):
            total += own.x[k] * 0.0 + own.v[k] * 0.0 + own.spin[k] * 0.0
        for k in range(4):
            total += own.quat[k] * 0.0
    for a in range(state.axles.size):
        for i in range(LANES):
            total += state.axles[a].p[i] * 0.0 + state.axles[a].z[i] * 0.0
    for w in range(state.wheels.size):
        for i in range(LANES):
            total += state.wheels[w].u_x[i] * 0.0 + state.wheels[w].u_y[i] * 0.0
    return total == 0.0


# --- what the engine calls -----------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True, **UNCOUNTED)
def advance_vehicles(
    # Model, State and Work as plain tuples, which cost less to hand over
    model, state, work,
    # parameters
    dt, method,
    # in: voltages of all motors; number of the first step, how many, and how often a row is kept
    inputs, step, n, record_every,
    # out
    rows,
):  # -> steps taken, whether the state is finite, number of a robot that left the grid (-1: none)  # fmt: skip
    """`n` steps; with none, the forces of the present state."""
    model, state, work = Model(*model), State(*state), Work(*work)
    kept, left = 0, -1
    if n == 0:
        for r in range(model.robots.size):
            forces(model, state, work, r, inputs, 0.0, 0.0)
    for k in range(n):
        for r in range(model.robots.size):
            if method == RK4:
                rk4_step(model, state, work, r, inputs, dt)
            else:
                semi_implicit_step(model, state, work, r, inputs, dt)
            if model.world[0].ends_outside != 0 and left < 0 and not is_on_ground(model, state, work, r):
                left = r
        if record_every > 0 and (step + k + 1) % record_every == 0:
            observe_row(model, state, work, rows[kept])
            kept += 1
        if left >= 0:
            return k + 1, all_finite(state), left
    return n, all_finite(state), -1


@njit(cache=True, error_model="numpy", nogil=True, **UNCOUNTED)
def observe_vehicles(model, state, work, row):
    observe_row(Model(*model), State(*state), Work(*work), row)


CONTACTS, SLIPS, TYRES, MOTORS, CHASSIS = range(5)


@njit(cache=True, error_model="numpy", nogil=True, **UNCOUNTED)
def repeat_stage(model, state, work, inputs, dt, stage, n):
    """One stage again and again, with a little of the way that a step goes in between: for measuring its cost."""
    model, state, work = Model(*model), State(*state), Work(*work)
    world = model.world[0]
    ground = Ground(model.heights, world.grid)
    body = work.robot[0]
    for r in range(model.robots.size):
        robot, own = model.robots[r], state.robots[r]
        forces(model, state, work, r, inputs, 0.0, 0.0)
        for _ in range(n):
            for w in range(robot.wheel_start, robot.wheel_stop):
                fixed, block, scratch = model.wheels[w], state.wheels[w], work.wheels[w - robot.wheel_start]
                if stage == CONTACTS:
                    place_wheels(fixed, scratch, body)
                    find_contacts(
                        fixed, block, scratch, body, ground, model.slices, world.cos_blocked, world.plain != 0
                    )
                elif stage == SLIPS:
                    contact_motion(fixed, block, scratch, body)
                elif stage == TYRES:
                    tyre_forces(fixed, block, scratch, dt, dt)
                elif stage == CHASSIS:
                    sum_wheels(block, scratch, body)
            if stage == CONTACTS:
                body.position[0] += dt * body.velocity[0]
                body.position[1] += dt * body.velocity[1]
                count_way(robot, own, dt)
                look_around(model, state, work, r)
            elif stage == MOTORS:
                motors_and_friction(model, state, work, r, inputs, dt)
            elif stage == CHASSIS:
                corners_on_ground(robot, own, work, ground, dt, dt)
                integrate_velocities(model, state, work, r, dt)
                integrate_chassis(model, state, r, integrate_axles(model, state, work, r, dt), dt)
                set_motion(model, state, work, r)
                clear_sums(robot, body, world)
