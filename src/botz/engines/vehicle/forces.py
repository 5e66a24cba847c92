"""What acts on a vehicle at one moment: the stages that both integrators of the engine `vehicle` go through."""

from __future__ import annotations

from math import atan, cos, sqrt

from botz.kernels import compiled
from botz.physics.contact.ground import way_out
from botz.physics.contact.penalty import penalty_rates
from botz.physics.contact.terrain import folded, height, height_and_slope
from botz.physics.wheels.axle_block import axle_speeds, axle_torques, battery_sums, set_voltages, spin_momentum
from botz.physics.wheels.sprung_wheels import wheel_forces
from botz.physics.wheels.wheel_block import LANES, add_force
from botz.rotations import cross, rotation_of

MOST_LOOKS = 16
"""For the battery's voltage: each look but the last brings a motor to its current limit or from it."""


@compiled
def set_motion(robot, body, wheels, axles):
    """Axes of the body from its attitude; its angular velocity and the axles' speeds from their momenta.

    With J Ω + Σ (I ω + J_r s) t = Rᵀ L and the axles' own momenta, all speeds are the solution of a linear system
    whose matrix never changes: J is that of the body with the axles' shares taken out, inverted once.
    """
    q = robot.quat
    nx, ny, nz, tx, ty, tz, bx, by, bz = rotation_of(q[0], q[1], q[2], q[3])
    body.n[0], body.n[1], body.n[2] = nx, ny, nz
    body.t[0], body.t[1], body.t[2] = tx, ty, tz
    body.b[0], body.b[1], body.b[2] = bx, by, bz
    for k in range(3):
        body.position[k] = robot.x[k]
        body.velocity[k] = robot.v[k]
    set_speeds(robot, body, axles, 0.0)
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = wheels[w]
        for i in range(LANES):
            axle = int(block.axle[i])
            block.omega[i] = axles[robot.axle_start + axle // LANES].omega[axle % LANES]


@compiled
def set_speeds(robot, body, axles, ahead):
    """Speeds at the present attitude, or as the body will have turned `ahead` in time: its momentum stays in the world
    and turns in the body by −Ω × L. Half a step ahead, a body that spins freely keeps its energy to second order."""
    n, t, b, spin, inverse = body.n, body.t, body.b, robot.spin, robot.inverse_inertia
    lx = spin[0] * n[0] + spin[1] * n[1] + spin[2] * n[2]
    ly = spin[0] * t[0] + spin[1] * t[1] + spin[2] * t[2]
    lz = spin[0] * b[0] + spin[1] * b[1] + spin[2] * b[2]
    spinning = 0.0
    for a in range(robot.axle_start, robot.axle_stop):
        spinning += spin_momentum(axles[a])
    p, q, r = 0.0, 0.0, 0.0
    for _ in range(2 if ahead > 0.0 else 1):
        cx, cy, cz = cross(p, q, r, lx, ly, lz)
        mx, my, mz = lx - ahead * cx, ly - ahead * cy - spinning, lz - ahead * cz
        p = inverse[0, 0] * mx + inverse[0, 1] * my + inverse[0, 2] * mz
        q = inverse[1, 0] * mx + inverse[1, 1] * my + inverse[1, 2] * mz
        r = inverse[2, 0] * mx + inverse[2, 1] * my + inverse[2, 2] * mz
    robot.angular[0], robot.angular[1], robot.angular[2] = p, q, r
    for k in range(3):
        body.angular[k] = p * n[k] + q * t[k] + r * b[k]
    for a in range(robot.axle_start, robot.axle_stop):
        axle_speeds(axles[a], q)


@compiled
def look_around(robot, body, wheels, steepness, grid, world):  # -> whether a wall may be near
    """The steepest ground that any point of the vehicle can meet until the next look, a fifth of its reach ahead.

    What the contact search remembers of other ground is void then.
    """
    if robot.travelled >= robot.tile_seen:
        u, _ = folded((robot.x[0] - grid.x_min) * grid.cells_x, float(grid.last_x), grid.mirrored)
        v, _ = folded((robot.x[1] - grid.y_min) * grid.cells_y, float(grid.last_y), grid.mirrored)
        i = int(u / (grid.cells_x * world.tile))
        j = int(v / (grid.cells_y * world.tile))
        i = min(max(i, 0), steepness.shape[0] - 1)
        j = min(max(j, 0), steepness.shape[1] - 1)
        robot.steepest = steepness[i, j]
        allowed = world.blocked_angle - atan(robot.steepest)
        robot.cos_needed = cos(allowed) if allowed > 0.0 else 2.0
        robot.tile_seen = robot.travelled + 0.2 * robot.reach
        robot.corner_margin = 0.0
        for w in range(robot.wheel_start, robot.wheel_stop):
            for i in range(LANES):
                wheels[w].margin_a[i] = 0.0
                wheels[w].margin_b[i] = 0.0
    body.travelled = robot.travelled
    body.steepest = robot.steepest
    return body.b[2] <= robot.cos_needed


@compiled
def motors_and_friction(robot, wheels, axles, inputs, dt):
    for a in range(robot.axle_start, robot.axle_stop):
        block = axles[a]
        for i in range(LANES):
            block.load[i] = 0.0
    for w in range(robot.wheel_start, robot.wheel_stop):
        block = wheels[w]
        for i in range(LANES):
            if block.present[i] != 0.0:
                axle = int(block.axle[i])
                axles[robot.axle_start + axle // LANES].load[axle % LANES] -= block.radius[i] * block.force_x[i]
    sag = 1.0
    if robot.battery > 0.0:
        # PWM drivers: motor k gets the share d of the bus and draws d i from it; those at their current limit draw the
        # power P. So V = E − R [Σ d (d V − K ω)/R_k + P/V]. Which ones these are depends on V: again until V stands.
        resistance = robot.battery_resistance
        for _ in range(MOST_LOOKS):
            drive, conductance, limited, room = 0.0, 0.0, 0.0, 1e300
            for a in range(robot.axle_start, robot.axle_stop):
                more, further, power, edge = battery_sums(axles[a], inputs, robot.battery, robot.bus)
                drive += more
                conductance += further
                limited += power
                room = min(room, edge)
            factor = 1.0 + resistance * conductance
            source = robot.battery + resistance * drive
            bus = (source + sqrt(max(source * source - 4.0 * factor * resistance * limited, 0.0))) / (2.0 * factor)
            settled = abs(bus - robot.bus) < room
            robot.bus = bus
            if settled:
                break
        sag = robot.bus / robot.battery
    power, working = 0.0, 0.0
    for a in range(robot.axle_start, robot.axle_stop):
        block = axles[a]
        set_voltages(block, inputs, sag)
        axle_torques(block, dt)
        for i in range(LANES):
            power += block.voltage[i] * block.current[i]
            working += block.torque[i] * block.relative[i]
    robot.power, robot.working = power, working


@compiled
def clear_sums(robot, body, world):
    """Gravity is all that acts so far."""
    body.force[0], body.force[1], body.force[2] = 0.0, 0.0, -robot.mass * world.gravity
    body.moment[0], body.moment[1], body.moment[2] = 0.0, 0.0, 0.0


@compiled
def corners_on_ground(robot, body, heights, grid, dt, step):
    """Corners of the chassis in the ground. While all are higher above it than they can have moved, none is seen to."""
    if (1.0 + robot.steepest) * (robot.travelled - robot.corner_seen) < robot.corner_margin:
        return
    n, t, b, v, w = body.n, body.t, body.b, body.velocity, body.angular
    lowest = 1.0e9
    robot.corner_force[0], robot.corner_force[1], robot.corner_force[2] = 0.0, 0.0, 0.0
    for c in range(8):
        x, y, z = robot.corners[c, 0], robot.corners[c, 1], robot.corners[c, 2]
        px = x * n[0] + y * t[0] + z * b[0]
        py = x * n[1] + y * t[1] + z * b[1]
        pz = x * n[2] + y * t[2] + z * b[2]
        gap = body.position[2] + pz - height(heights, grid, body.position[0] + px, body.position[1] + py)
        lowest = min(lowest, gap)
        if gap >= 0.0:
            robot.corner_depth[c] = 0.0
            for k in range(3):
                robot.corner_u[c, k], robot.corner_rate[c, k] = 0.0, 0.0
            continue
        _, fx, fy = height_and_slope(heights, grid, body.position[0] + px, body.position[1] + py)
        scale = 1.0 / sqrt(1.0 + fx * fx + fy * fy)
        depth = -gap * scale
        if 2.0 * depth * max(grid.cells_x, grid.cells_y) > 1.0:
            # Deeper than half a cell, the ground above may be another than the one it came through.
            length = sqrt(px * px + py * py + pz * pz)
            way, gx, gy = way_out(
                heights,
                grid,
                body.position[0] + px,
                body.position[1] + py,
                body.position[2] + pz,
                -px,
                -py,
                -pz,
                length,
            )
            if way < length:
                fx, fy, scale = gx, gy, 1.0 / sqrt(1.0 + gx * gx + gy * gy)
                depth = way / length * (fx * px + fy * py - pz) * scale
        vx, vy, vz = cross(w[0], w[1], w[2], px, py, pz)
        robot.corner_depth[c] = max(depth, 0.0)
        rx, ry, rz, ux, uy, uz, gx, gy, gz = penalty_rates(
            robot.corner_stiffness, robot.corner_damping, robot.corner_friction,
            robot.corner_depth[c], -fx * scale, -fy * scale, scale, vx + v[0], vy + v[1], vz + v[2],
            robot.corner_u[c, 0], robot.corner_u[c, 1], robot.corner_u[c, 2], dt, step,
        )  # fmt: skip
        robot.corner_rate[c, 0], robot.corner_rate[c, 1], robot.corner_rate[c, 2] = gx, gy, gz
        robot.corner_u[c, 0], robot.corner_u[c, 1], robot.corner_u[c, 2] = ux + dt * gx, uy + dt * gy, uz + dt * gz
        robot.corner_force[0] += rx
        robot.corner_force[1] += ry
        robot.corner_force[2] += rz
        add_force(body, px, py, pz, rx, ry, rz)
    robot.corner_margin = max(lowest, 0.0)
    robot.corner_seen = robot.travelled


@compiled
def keep_sums(robot, body):
    for k in range(3):
        robot.acceleration[k] = body.force[k] * robot.inverse_mass
        robot.moment[k] = body.moment[k]


@compiled
def forces(robot, body, wheels, axles, heights, grid, steepness, world, sines, cosines, inputs, dt, step):
    """All stages in their order. dt is the step over which treads, bristles, walls and corners go (0: they stay, and
    their rates are found), `step` that of the method, whichever it is."""
    set_motion(robot, body, wheels, axles)
    steep = look_around(robot, body, wheels, steepness, grid, world)
    clear_sums(robot, body, world)
    for w in range(robot.wheel_start, robot.wheel_stop):
        wheel_forces(
            wheels[w], body, heights, grid, sines, cosines, world.cos_blocked, steep or world.plain != 0, dt, step
        )
    motors_and_friction(robot, wheels, axles, inputs, dt)
    corners_on_ground(robot, body, heights, grid, dt, step)
    keep_sums(robot, body)
