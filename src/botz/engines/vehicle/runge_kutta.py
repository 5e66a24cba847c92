"""Classical Runge-Kutta steps of the engine `vehicle`: where the step began and the sums of its stages are work."""

from __future__ import annotations

from botz.engines.vehicle.forces import count_way, forces, set_motion
from botz.kernels import compensated_sum, inlined
from botz.physics.wheels.contact_search import leave_wall
from botz.physics.wheels.tyre_block import begin_from_here
from botz.physics.wheels.wheel_block import LANES
from botz.rotations import quaternion_rate


@inlined
def rk4_step(model, state, work, r, inputs, dt):
    """Classical Runge-Kutta step of all states. Which treads are loose is that of the step's beginning."""
    robot, own = model.robots[r], state.robots[r]
    keep_base(model, state, work, r)
    for stage in range(4):
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        ahead = 0.5 * dt if stage < 2 else dt
        working = forces(model, state, work, r, inputs, 0.0, dt)
        if stage == 0:
            keep_deflections(model, state, work, r)
        add_stage(model, state, work, r, working, weight)
        # Between two stages, and from the last one to the end, no point goes farther than a whole step at this speed.
        count_way(robot, own, dt)
        if stage < 3:
            go_to_stage(model, state, work, r, ahead)
            count_way(robot, own, dt)
    finish_step(model, state, work, r, dt)
    set_motion(model, state, work, r)
    leave_ground(model, state, work, r)


@inlined
def keep_base(model, state, work, r):
    robot, own, body = model.robots[r], state.robots[r], work.robot[0]
    body.power_sum, body.working_sum = 0.0, 0.0
    for k in range(3):
        body.x_base[k], body.v_base[k], body.spin_base[k] = own.x[k], own.v[k], own.spin[k]
        body.x_sum[k], body.v_sum[k], body.spin_sum[k] = 0.0, 0.0, 0.0
    for k in range(4):
        body.quat_base[k] = own.quat[k]
        body.quat_sum[k] = 0.0
    for c in range(8):
        for k in range(3):
            body.corner_rate[c, k] = 0.0
    for a in range(robot.axle_start, robot.axle_stop):
        block, scratch = state.axles[a], work.axles[a - robot.axle_start]
        for i in range(LANES):
            scratch.p_base[i], scratch.z_base[i], scratch.angle_base[i] = block.p[i], block.z[i], block.angle[i]
            scratch.p_sum[i], scratch.z_sum[i], scratch.angle_sum[i] = 0.0, 0.0, 0.0
    for w in range(robot.wheel_stop - robot.wheel_start):
        scratch = work.wheels[w]
        for i in range(LANES):
            # Without a wall near, nothing writes these.
            scratch.wall_rate_x[i], scratch.wall_rate_y[i], scratch.wall_rate_z[i] = 0.0, 0.0, 0.0


@inlined
def keep_deflections(model, state, work, r):
    """Deflections from which the step goes on, as the forces at its beginning found them: at the present loads, within
    their caps, in the plane of their contacts."""
    robot, own, body = model.robots[r], state.robots[r], work.robot[0]
    for w in range(robot.wheel_start, robot.wheel_stop):
        block, scratch = state.wheels[w], work.wheels[w - robot.wheel_start]
        begin_from_here(block, scratch)
        for i in range(LANES):
            scratch.x_base[i], scratch.y_base[i] = block.u_x[i], block.u_y[i]
            scratch.wall_base_x[i], scratch.wall_base_y[i] = block.wall_x[i], block.wall_y[i]
            scratch.wall_base_z[i] = block.wall_z[i]
            scratch.x_sum[i], scratch.y_sum[i] = 0.0, 0.0
            scratch.wall_sum_x[i], scratch.wall_sum_y[i], scratch.wall_sum_z[i] = 0.0, 0.0, 0.0
    for c in range(8):
        for k in range(3):
            body.corner_base[c, k], body.corner_sum[c, k] = own.corner_u[c, k], 0.0


@inlined
def add_stage(model, state, work, r, working, weight):
    robot, own, body = model.robots[r], state.robots[r], work.robot[0]
    q, w = own.quat, own.angular
    rate = quaternion_rate(q[0], q[1], q[2], q[3], w[0], w[1], w[2])
    body.power_sum += weight * own.power
    body.working_sum += weight * working
    for k in range(3):
        body.x_sum[k] += weight * own.v[k]
        body.v_sum[k] += weight * own.acceleration[k]
        body.spin_sum[k] += weight * body.moment[k]
    for k in range(4):
        body.quat_rate[k] = rate[k]
        body.quat_sum[k] += weight * rate[k]
    for a in range(robot.axle_stop - robot.axle_start):
        scratch = work.axles[a]
        for i in range(LANES):
            scratch.p_sum[i] += weight * scratch.total[i]
            scratch.z_sum[i] += weight * scratch.z_rate[i]
            scratch.angle_sum[i] += weight * scratch.relative[i]
    for number in range(robot.wheel_stop - robot.wheel_start):
        scratch = work.wheels[number]
        for i in range(LANES):
            scratch.x_sum[i] += weight * scratch.rate_x[i] * scratch.grown[i]
            scratch.y_sum[i] += weight * scratch.rate_y[i] * scratch.grown[i]
            scratch.wall_sum_x[i] += weight * scratch.wall_rate_x[i]
            scratch.wall_sum_y[i] += weight * scratch.wall_rate_y[i]
            scratch.wall_sum_z[i] += weight * scratch.wall_rate_z[i]
    for c in range(8):
        for k in range(3):
            body.corner_sum[c, k] += weight * body.corner_rate[c, k]


@inlined
def go_to_stage(model, state, work, r, ahead):
    robot, own, body = model.robots[r], state.robots[r], work.robot[0]
    for k in range(3):
        own.x[k] = body.x_base[k] + ahead * own.v[k]
    for k in range(3):
        own.v[k] = body.v_base[k] + ahead * own.acceleration[k]
        own.spin[k] = body.spin_base[k] + ahead * body.moment[k]
    for k in range(4):
        own.quat[k] = body.quat_base[k] + ahead * body.quat_rate[k]
    for a in range(robot.axle_start, robot.axle_stop):
        block, scratch = state.axles[a], work.axles[a - robot.axle_start]
        for i in range(LANES):
            block.p[i] = scratch.p_base[i] + ahead * scratch.total[i]
            block.z[i] = scratch.z_base[i] + ahead * scratch.z_rate[i]
    for w in range(robot.wheel_start, robot.wheel_stop):
        block, scratch = state.wheels[w], work.wheels[w - robot.wheel_start]
        for i in range(LANES):
            block.u_x[i] = scratch.x_base[i] + ahead * scratch.rate_x[i] * scratch.grown[i]
            block.u_y[i] = scratch.y_base[i] + ahead * scratch.rate_y[i] * scratch.grown[i]
            block.wall_x[i] = scratch.wall_base_x[i] + ahead * scratch.wall_rate_x[i]
            block.wall_y[i] = scratch.wall_base_y[i] + ahead * scratch.wall_rate_y[i]
            block.wall_z[i] = scratch.wall_base_z[i] + ahead * scratch.wall_rate_z[i]
    for c in range(8):
        for k in range(3):
            own.corner_u[c, k] = body.corner_base[c, k] + ahead * body.corner_rate[c, k]


@inlined
def finish_step(model, state, work, r, dt):
    robot, own, body = model.robots[r], state.robots[r], work.robot[0]
    for k in range(3):
        own.x[k], own.x_lost[k] = compensated_sum(body.x_base[k], own.x_lost[k], dt * body.x_sum[k])
        own.v[k], own.v_lost[k] = compensated_sum(body.v_base[k], own.v_lost[k], dt * body.v_sum[k])
        own.spin[k], own.spin_lost[k] = compensated_sum(body.spin_base[k], own.spin_lost[k], dt * body.spin_sum[k])
    q, base = own.quat, body.quat_base
    excess = 0.5 * (base[0] * base[0] + base[1] * base[1] + base[2] * base[2] + base[3] * base[3] - 1.0)
    for k in range(4):
        change = dt * body.quat_sum[k] - excess * base[k]
        q[k], own.quat_lost[k] = compensated_sum(base[k], own.quat_lost[k], change)
    own.energy, own.energy_lost = compensated_sum(own.energy, own.energy_lost, dt * body.power_sum)
    own.work, own.work_lost = compensated_sum(own.work, own.work_lost, dt * body.working_sum)
    for a in range(robot.axle_start, robot.axle_stop):
        block, scratch = state.axles[a], work.axles[a - robot.axle_start]
        for i in range(LANES):
            block.p[i], block.p_lost[i] = compensated_sum(scratch.p_base[i], block.p_lost[i], dt * scratch.p_sum[i])
            block.z[i] = scratch.z_base[i] + dt * scratch.z_sum[i]
            block.angle[i], block.angle_lost[i] = compensated_sum(
                scratch.angle_base[i], block.angle_lost[i], dt * scratch.angle_sum[i]
            )
    for w in range(robot.wheel_start, robot.wheel_stop):
        block, scratch = state.wheels[w], work.wheels[w - robot.wheel_start]
        for i in range(LANES):
            block.u_x[i] = scratch.x_base[i] + dt * scratch.x_sum[i]
            block.u_y[i] = scratch.y_base[i] + dt * scratch.y_sum[i]
            block.wall_x[i] = scratch.wall_base_x[i] + dt * scratch.wall_sum_x[i]
            block.wall_y[i] = scratch.wall_base_y[i] + dt * scratch.wall_sum_y[i]
            block.wall_z[i] = scratch.wall_base_z[i] + dt * scratch.wall_sum_z[i]
    for c in range(8):
        for k in range(3):
            own.corner_u[c, k] = body.corner_base[c, k] + dt * body.corner_sum[c, k]


@inlined
def leave_ground(model, state, work, r):
    """What touched nothing in the step's last stage holds nothing."""
    robot, own = model.robots[r], state.robots[r]
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = state.wheels[w]
        for i in range(LANES):
            if block.spring[i] == 0.0:
                block.u_x[i], block.u_y[i], block.sliding[i] = 0.0, 0.0, 0.0
                block.load_before[i] = 0.0
            if block.wall_depth[i] <= 0.0:
                leave_wall(block, work.wheels[w - robot.wheel_start], i)
    if own.corner_margin > 0.0:
        for c in range(8):
            for k in range(3):
                own.corner_u[c, k] = 0.0
