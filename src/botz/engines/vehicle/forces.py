"""What acts on a vehicle at one moment: the stages that both integrators of the engine `vehicle` go through.

All functions take the model, the state and the work of model.py and state.py, and the number r of a robot.
"""

from __future__ import annotations

from math import atan, cos, sqrt

from botz.kernels import compiled, inlined
from botz.physics.contact.ground import way_out
from botz.physics.contact.penalty import penalty_rates
from botz.physics.contact.terrain import Ground, folded, height, height_and_slope
from botz.physics.wheels.axle_block import axle_speeds, axle_torques, battery_sums, set_voltages, spin_momentum
from botz.physics.wheels.sprung_wheels import wheel_forces
from botz.physics.wheels.wheel_block import LANES, add_force
from botz.rotations import cross, rotation_of

MOST_LOOKS = 16
"""For the battery's voltage: each look but the last brings a motor to its current limit or from it."""


@inlined
def forces(model, state, work, r, inputs, dt, step):  # -> power of the motors at the wheels
    """All stages in their order. dt is the step over which treads, bristles, walls and corners go (0: they stay, and
    their rates are found), `step` that of the method, whichever it is."""
    robot, own, body, world = model.robots[r], state.robots[r], work.robot[0], model.world[0]
    ground = Ground(model.heights, world.grid)
    set_motion(model, state, work, r)
    plain = look_around(model, state, work, r) or world.plain != 0
    clear_sums(robot, body, world)
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = work.wheels[w - robot.wheel_start]
        wheel_forces(
            model.wheels[w], state.wheels[w], block, body, ground, model.slices, world.cos_blocked, plain, dt, step
        )
    working = motors_and_friction(model, state, work, r, inputs, dt)
    corners_on_ground(robot, own, work, ground, dt, step)
    for k in range(3):
        own.acceleration[k] = body.force[k] * robot.inverse_mass
    return working


@inlined
def set_motion(model, state, work, r):
    """Axes of the body from its attitude; its angular velocity and the axles' speeds from their momenta.

    With J Ω + Σ (I ω + J_r s) t = Rᵀ L and the axles' own momenta, all speeds are the solution of a linear system
    whose matrix never changes: J is that of the body with the axles' shares taken out, inverted once.
    """
    robot, own, body = model.robots[r], state.robots[r], work.robot[0]
    q = own.quat
    nx, ny, nz, tx, ty, tz, bx, by, bz = rotation_of(q[0], q[1], q[2], q[3])
    body.n[0], body.n[1], body.n[2] = nx, ny, nz
    body.t[0], body.t[1], body.t[2] = tx, ty, tz
    body.b[0], body.b[1], body.b[2] = bx, by, bz
    for k in range(3):
        body.position[k] = own.x[k]
        body.velocity[k] = own.v[k]
    set_speeds(model, state, work, r, 0.0)
    for w in range(robot.wheel_start, robot.wheel_stop):
        wheels, block = model.wheels[w], state.wheels[w]
        for i in range(LANES):
            axle = int(wheels.axle[i])
            block.omega[i] = work.axles[axle // LANES].omega[axle % LANES]


@inlined
def set_speeds(model, state, work, r, ahead):
    """Speeds at the present attitude, or as the body will have turned `ahead` in time: its momentum stays in the world
    and turns in the body by −Ω × L. Half a step ahead, a body that spins freely keeps its energy to second order."""
    robot, own, body = model.robots[r], state.robots[r], work.robot[0]
    n, t, b, spin, inverse = body.n, body.t, body.b, own.spin, robot.inverse_inertia
    lx = spin[0] * n[0] + spin[1] * n[1] + spin[2] * n[2]
    ly = spin[0] * t[0] + spin[1] * t[1] + spin[2] * t[2]
    lz = spin[0] * b[0] + spin[1] * b[1] + spin[2] * b[2]
    spinning = 0.0
    for a in range(robot.axle_start, robot.axle_stop):
        spinning += spin_momentum(model.axles[a], state.axles[a])
    p, q, r_ = 0.0, 0.0, 0.0
    for _ in range(2 if ahead > 0.0 else 1):
        cx, cy, cz = cross(p, q, r_, lx, ly, lz)
        mx, my, mz = lx - ahead * cx, ly - ahead * cy - spinning, lz - ahead * cz
        p = inverse[0, 0] * mx + inverse[0, 1] * my + inverse[0, 2] * mz
        q = inverse[1, 0] * mx + inverse[1, 1] * my + inverse[1, 2] * mz
        r_ = inverse[2, 0] * mx + inverse[2, 1] * my + inverse[2, 2] * mz
    own.angular[0], own.angular[1], own.angular[2] = p, q, r_
    for k in range(3):
        body.angular[k] = p * n[k] + q * t[k] + r_ * b[k]
    speeds_of_axles(model, state, work, r)


@inlined
def speeds_of_axles(model, state, work, r):
    robot, pitching = model.robots[r], state.robots[r].angular[1]
    for a in range(robot.axle_start, robot.axle_stop):
        axle_speeds(model.axles[a], state.axles[a], work.axles[a - robot.axle_start], pitching)


@inlined
def look_around(model, state, work, r):  # -> whether a wall may be near
    """The steepest ground that any point of the vehicle can meet until the next look, a fifth of its reach ahead.

    What the contact search remembers of other ground is void then.
    """
    robot, own, body, world, grid = model.robots[r], state.robots[r], work.robot[0], model.world[0], model.world[0].grid
    if own.travelled >= own.tile_seen:
        u, _ = folded((own.x[0] - grid.x_min) * grid.cells_x, float(grid.last_x), grid.mirrored)
        v, _ = folded((own.x[1] - grid.y_min) * grid.cells_y, float(grid.last_y), grid.mirrored)
        i = int(u / (grid.cells_x * world.tile))
        j = int(v / (grid.cells_y * world.tile))
        i = min(max(i, 0), model.steepness.shape[0] - 1)
        j = min(max(j, 0), model.steepness.shape[1] - 1)
        own.steepest = model.steepness[i, j]
        allowed = world.blocked_angle - atan(own.steepest)
        own.cos_needed = cos(allowed) if allowed > 0.0 else 2.0
        own.tile_seen = own.travelled + 0.2 * robot.reach
        own.corner_margin = 0.0
        for w in range(robot.wheel_start, robot.wheel_stop):
            for i in range(LANES):
                state.wheels[w].rim_margin[0, i], state.wheels[w].rim_margin[1, i] = 0.0, 0.0
    body.travelled = own.travelled
    body.steepest = own.steepest
    return body.b[2] <= own.cos_needed


@inlined
def motors_and_friction(model, state, work, r, inputs, dt):  # -> power of the motors at the wheels
    robot, own = model.robots[r], state.robots[r]
    first, count = robot.axle_start, robot.axle_stop - robot.axle_start
    for a in range(count):
        block = work.axles[a]
        for i in range(LANES):
            block.load[i] = 0.0
    for w in range(robot.wheel_start, robot.wheel_stop):
        wheels, block = model.wheels[w], state.wheels[w]
        for i in range(LANES):
            if wheels.present[i] != 0.0:
                axle = int(wheels.axle[i])
                work.axles[axle // LANES].load[axle % LANES] -= wheels.radius[i] * block.force_x[i]
    sag = 1.0
    if robot.battery > 0.0:
        # PWM drivers: motor k gets the share d of the bus and draws d i from it; those at their current limit draw the
        # power P. So V = E − R [Σ d (d V − K ω)/R_k + P/V]. Which ones these are depends on V: again until V stands.
        resistance = robot.battery_resistance
        for _ in range(MOST_LOOKS):
            drive, conductance, limited, room = 0.0, 0.0, 0.0, 1e300
            for a in range(count):
                more, further, power, edge = battery_sums(
                    model.axles[first + a], work.axles[a], inputs, robot.battery, own.bus
                )
                drive += more
                conductance += further
                limited += power
                room = min(room, edge)
            factor = 1.0 + resistance * conductance
            source = robot.battery + resistance * drive
            bus = (source + sqrt(max(source * source - 4.0 * factor * resistance * limited, 0.0))) / (2.0 * factor)
            settled = abs(bus - own.bus) < room
            own.bus = bus
            if settled:
                break
        sag = own.bus / robot.battery
    power, working = 0.0, 0.0
    for a in range(count):
        block, scratch = state.axles[first + a], work.axles[a]
        set_voltages(model.axles[first + a], block, inputs, sag)
        axle_torques(model.axles[first + a], block, scratch, dt)
        for i in range(LANES):
            power += block.voltage[i] * block.current[i]
            working += block.torque[i] * scratch.relative[i]
    own.power = power
    return working


@inlined
def clear_sums(robot, body, world):
    """Gravity is all that acts so far."""
    body.force[0], body.force[1], body.force[2] = 0.0, 0.0, -robot.mass * world.gravity
    body.moment[0], body.moment[1], body.moment[2] = 0.0, 0.0, 0.0


@inlined
def corners_on_ground(robot, own, work, ground, dt, step):
    """Corners of the chassis in the ground. While all are higher above it than they can have moved, none is seen to."""
    if (1.0 + own.steepest) * (own.travelled - own.corner_seen) < own.corner_margin:
        return
    body, rates = work.robot[0], work.robot[0].corner_rate
    lowest = 1.0e9
    own.corner_force[0], own.corner_force[1], own.corner_force[2] = 0.0, 0.0, 0.0
    for c in range(8):
        gap = corner_on_ground(robot, own, body, rates, ground, c, dt, step)
        lowest = min(lowest, gap)
    own.corner_margin = max(lowest, 0.0)
    own.corner_seen = own.travelled


@compiled
def corner_on_ground(robot, own, body, rates, ground, c, dt, step):  # -> height above the ground
    grid, n, t, b, v, w = ground.grid, body.n, body.t, body.b, body.velocity, body.angular
    x, y, z = robot.corners[c, 0], robot.corners[c, 1], robot.corners[c, 2]
    px = x * n[0] + y * t[0] + z * b[0]
    py = x * n[1] + y * t[1] + z * b[1]
    pz = x * n[2] + y * t[2] + z * b[2]
    gap = body.position[2] + pz - height(ground.heights, grid, body.position[0] + px, body.position[1] + py)
    if gap >= 0.0:
        own.corner_depth[c] = 0.0
        for k in range(3):
            own.corner_u[c, k], rates[c, k] = 0.0, 0.0
        return gap
    _, fx, fy = height_and_slope(ground.heights, grid, body.position[0] + px, body.position[1] + py)
    scale = 1.0 / sqrt(1.0 + fx * fx + fy * fy)
    depth = -gap * scale
    if 2.0 * depth * max(grid.cells_x, grid.cells_y) > 1.0:
        # Deeper than half a cell, the ground above may be another than the one it came through.
        length = sqrt(px * px + py * py + pz * pz)
        way, gx, gy = way_out(
            ground, body.position[0] + px, body.position[1] + py, body.position[2] + pz, -px, -py, -pz, length
        )
        if way < length:
            fx, fy, scale = gx, gy, 1.0 / sqrt(1.0 + gx * gx + gy * gy)
            depth = way / length * (fx * px + fy * py - pz) * scale
    vx, vy, vz = cross(w[0], w[1], w[2], px, py, pz)
    own.corner_depth[c] = max(depth, 0.0)
    rx, ry, rz, ux, uy, uz, gx, gy, gz = penalty_rates(
        (robot.corner_stiffness, robot.corner_damping, robot.corner_friction),
        own.corner_depth[c], (-fx * scale, -fy * scale, scale), (vx + v[0], vy + v[1], vz + v[2]),
        (own.corner_u[c, 0], own.corner_u[c, 1], own.corner_u[c, 2]), dt, step,
    )  # fmt: skip
    rates[c, 0], rates[c, 1], rates[c, 2] = gx, gy, gz
    own.corner_u[c, 0], own.corner_u[c, 1], own.corner_u[c, 2] = ux + dt * gx, uy + dt * gy, uz + dt * gz
    own.corner_force[0] += rx
    own.corner_force[1] += ry
    own.corner_force[2] += rz
    add_force(body, px, py, pz, rx, ry, rz)
    return gap


@inlined
def count_way(robot, own, dt):
    """How far any point of the vehicle can have moved: |v| + |Ω| reach, with a thousandth for the step's curvature."""
    v, w = own.v, own.angular
    speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    speed += robot.reach * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    own.travelled += 1.001 * dt * speed + 1e-15
