"""What can be observed of a vehicle: its channels, and the compiled function that writes them in the same order.

Forces, slips and currents are those of the step that led to the present state.
"""

from __future__ import annotations

from math import atan2, sqrt

from botz.channels import Channel, ImuView, JointView, PoseView, RosView
from botz.engines.vehicle.forces import speeds_of_axles
from botz.engines.vehicle.model import Axle, axles_of
from botz.kernels import inlined
from botz.physics.wheels.suspension import suspension_energy
from botz.physics.wheels.tyre_block import tread_energy
from botz.physics.wheels.wheel_block import LANES
from botz.rotations import rotation_of
from botz.scenario.vehicle.schema import PlacedVehicle

XYZ = ("x", "y", "z")


def channels_of(name: str, robot: PlacedVehicle) -> list[Channel]:
    """The channel table of one vehicle, in the order in which `observe_row` writes it."""
    quat, twist = ("qw", "qx", "qy", "qz"), ("vx", "vy", "vz", "wx", "wy", "wz")
    found = [
        Channel(f"{name}/pose", "m, m, m, 1, 1, 1, 1", "centre of mass and attitude in the world", (*XYZ, *quat)),
        Channel(f"{name}/twist", "m/s, m/s, m/s, rad/s, rad/s, rad/s", "velocity in the body's axes", twist),
        Channel(f"{name}/attitude", "rad", "the same attitude as angles", ("roll", "pitch", "yaw")),
        Channel(f"{name}/acceleration", "m/s²", "of the centre of mass, in the body's axes", XYZ),
        Channel(f"{name}/angular_velocity", "rad/s", "in the body's axes, as a gyroscope feels it", XYZ),
        Channel(f"{name}/specific_force", "m/s²", "what an accelerometer there feels, in the body's axes", XYZ),
        Channel(f"{name}/chassis_force", "N", "of the ground on the chassis' corners, in the world", XYZ),
        Channel(f"{name}/energy/kinetic", "J", "of body, wheels and rotors"),
        Channel(f"{name}/energy/potential", "J", "of the body's height above z = 0"),
        Channel(f"{name}/energy/springs", "J", "of the suspension"),
        Channel(f"{name}/energy/treads", "J", "of the stretched treads"),
        Channel(f"{name}/energy/walls", "J", "of wheels pressed against walls"),
        Channel(f"{name}/energy/corners", "J", "of the chassis' corners pressed into the ground"),
        Channel(f"{name}/energy/bristles", "J", "of the axles' friction, ½ σ₀ z²"),
        Channel(f"{name}/energy/work", "J", "done by the motors at the wheels since the start; not held by anything"),
        Channel(f"{name}/battery/voltage", "V", "under load; 0 without a battery"),
        Channel(f"{name}/battery/power", "W", "drawn by all motors"),
        Channel(f"{name}/battery/energy", "J", "drawn by all motors since the start"),
    ]
    for wheel in robot.wheels:
        part = f"{name}/{wheel}"
        found += [
            Channel(f"{part}/angle", "rad", "rotation against the chassis"),
            Channel(f"{part}/speed", "rad/s", "rotation speed against the chassis"),
            Channel(f"{part}/deflection", "m", "of the suspension, h"),
            Channel(f"{part}/deflection_rate", "m/s", "dh/dt"),
            Channel(f"{part}/contact_angle", "rad", "γ, from the lowest point of the rim forwards to the contact"),
            Channel(f"{part}/contact", "m", "contact point in the world; the last one while it is in the air", XYZ),
            Channel(f"{part}/normal", "1", "of the ground at the contact", XYZ),
            Channel(f"{part}/suspension_force", "N", "F_susp"),
            Channel(f"{part}/load", "N", "normal force N"),
            Channel(f"{part}/force", "N", "of the ground: F_x along the wheel, F_y to its left", ("along", "across")),
            Channel(f"{part}/aligning_moment", "N·m", "M_z about the contact normal"),
            Channel(f"{part}/slip", "1", "longitudinal slip κ of the tread"),
            Channel(f"{part}/slip_angle", "rad", "slip angle of the tread, positive for a force to the left"),
            Channel(f"{part}/slip_speed", "m/s", "contact over the ground, along and across", ("along", "across")),
            Channel(f"{part}/wall_force", "N", "of ground too steep to roll on, in the world", XYZ),
        ]
    for motor in robot.motors:
        part = f"{name}/{motor}"
        found += [
            Channel(f"{part}/voltage", "V", "at the motor"),
            Channel(f"{part}/current", "A", "through the motor"),
            Channel(f"{part}/torque", "N·m", "of the motor at the wheel"),
            Channel(
                f"{part}/friction",
                "N·m",
                "of the axle at the wheel, against the turning: positive for a positive speed",
            ),
        ]
        if motor not in robot.wheels:
            found.append(Channel(f"{part}/speed", "rad/s", "of its wheels against the chassis"))
    return found


def views_of(name: str, robot: PlacedVehicle) -> list[RosView]:
    wheels = tuple(robot.wheels)
    axle_of = {wheel: axle for axle in axles_of(robot) for wheel in axle.wheels}
    return [
        PoseView(name, name, "odom", f"{name}/pose", f"{name}/twist"),
        JointView(
            name,
            wheels,
            tuple(f"{name}/{wheel}/angle" for wheel in wheels),
            tuple(f"{name}/{wheel}/speed" for wheel in wheels),
            tuple(torque_channel(name, axle_of[wheel]) for wheel in wheels),
        ),
        ImuView(name, "imu", None, f"{name}/angular_velocity", f"{name}/specific_force"),
    ]


def torque_channel(name: str, axle: Axle) -> str:
    return f"{name}/{axle.motor}/torque" if axle.motor is not None else ""


@inlined
def observe_row(model, state, work, row):
    at = 0
    for r in range(model.robots.size):
        robot = model.robots[r]
        speeds_of_axles(model, state, work, r)
        at = observe_chassis(model, state, work, r, row, at)
        for w in range(robot.wheel_start, robot.wheel_stop):
            for i in range(LANES):
                if model.wheels[w].present[i] != 0.0:
                    at = observe_wheel(model, state, work, r, w, i, row, at)
        for a in range(robot.axle_start, robot.axle_stop):
            axles, block = model.axles[a], state.axles[a]
            for i in range(LANES):
                if axles.present[i] != 0.0 and axles.input[i] >= 0.0:
                    row[at] = block.voltage[i]
                    row[at + 1] = block.current[i]
                    row[at + 2] = block.torque[i]
                    row[at + 3] = block.friction[i]
                    at += 4
                    if axles.named[i] != 0.0:
                        row[at] = work.axles[a - robot.axle_start].relative[i]
                        at += 1


@inlined
def observe_chassis(model, state, work, r, row, at):  # -> next place in the row
    robot, own = model.robots[r], state.robots[r]
    q, v, w, a = own.quat, own.v, own.angular, own.acceleration
    nx, ny, nz, tx, ty, tz, bx, by, bz = rotation_of(q[0], q[1], q[2], q[3])
    for k in range(3):
        row[at + k] = own.x[k]
    for k in range(4):
        row[at + 3 + k] = q[k]
    row[at + 7] = v[0] * nx + v[1] * ny + v[2] * nz
    row[at + 8] = v[0] * tx + v[1] * ty + v[2] * tz
    row[at + 9] = v[0] * bx + v[1] * by + v[2] * bz
    for k in range(3):
        row[at + 10 + k] = w[k]
    row[at + 13] = atan2(2.0 * (q[0] * q[1] + q[2] * q[3]), 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]))
    sine = min(max(-nz, -1.0), 1.0)
    row[at + 14] = atan2(sine, sqrt(max(1.0 - sine * sine, 0.0)))
    row[at + 15] = atan2(ny, nx)
    row[at + 16] = a[0] * nx + a[1] * ny + a[2] * nz
    row[at + 17] = a[0] * tx + a[1] * ty + a[2] * tz
    row[at + 18] = a[0] * bx + a[1] * by + a[2] * bz
    for k in range(3):
        row[at + 19 + k] = w[k]
    row[at + 22] = row[at + 16] + robot.gravity * nz
    row[at + 23] = row[at + 17] + robot.gravity * tz
    row[at + 24] = row[at + 18] + robot.gravity * bz
    for k in range(3):
        row[at + 25 + k] = own.corner_force[k]
    j = robot.inertia
    kinetic = robot.mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    for k in range(3):
        kinetic += w[k] * (j[k, 0] * w[0] + j[k, 1] * w[1] + j[k, 2] * w[2])
    bristles = 0.0
    for number in range(robot.axle_start, robot.axle_stop):
        axles, block, scratch = model.axles[number], state.axles[number], work.axles[number - robot.axle_start]
        for i in range(LANES):
            omega, ratio = scratch.omega[i], axles.ratio[i]
            rotor = ratio * omega + (1.0 - ratio) * w[1]
            kinetic += axles.free[i] * (axles.inertia[i] * omega * omega + axles.rotor[i] * rotor * rotor)
            bristles += 0.5 * axles.free[i] * axles.sigma0[i] * block.z[i] * block.z[i]
    springs, treads, walls = 0.0, 0.0, 0.0
    for number in range(robot.wheel_start, robot.wheel_stop):
        wheels, block = model.wheels[number], state.wheels[number]
        for i in range(LANES):
            springs += wheels.present[i] * suspension_energy(
                wheels.stiffness[i], wheels.travel[i], wheels.progression[i], block.h[i]
            )
            treads += wheels.present[i] * tread_energy(wheels, block, i)
            deep, x, y, z = block.wall_depth[i], block.wall_x[i], block.wall_y[i], block.wall_z[i]
            walls += 0.5 * wheels.wall_stiffness[i] * (deep * deep + x * x + y * y + z * z)
    corners = 0.0
    for c in range(8):
        corners += own.corner_depth[c] * own.corner_depth[c]
        for k in range(3):
            corners += own.corner_u[c, k] * own.corner_u[c, k]
    row[at + 28] = 0.5 * kinetic
    row[at + 29] = robot.mass * robot.gravity * own.x[2]
    row[at + 30] = springs
    row[at + 31] = treads
    row[at + 32] = walls
    row[at + 33] = 0.5 * robot.corner_stiffness * corners
    row[at + 34] = bristles
    row[at + 35] = own.work
    row[at + 36] = own.bus
    row[at + 37] = own.power
    row[at + 38] = own.energy
    return at + 39


@inlined
def observe_wheel(model, state, work, r, w, i, row, at):  # -> next place in the row
    robot, own, block = model.robots[r], state.robots[r], state.wheels[w]
    axle = int(model.wheels[w].axle[i])
    row[at] = state.axles[robot.axle_start + axle // LANES].angle[axle % LANES]
    row[at + 1] = work.axles[axle // LANES].relative[axle % LANES]
    row[at + 2] = block.h[i]
    row[at + 3] = block.dh[i]
    row[at + 4] = atan2(block.sine[i], block.cosine[i])
    row[at + 5] = own.x[0] + block.p_x[i]
    row[at + 6] = own.x[1] + block.p_y[i]
    row[at + 7] = own.x[2] + block.p_z[i]
    row[at + 8] = block.n_x[i]
    row[at + 9] = block.n_y[i]
    row[at + 10] = block.n_z[i]
    row[at + 11] = block.spring[i]
    row[at + 12] = block.load[i]
    row[at + 13] = block.force_x[i]
    row[at + 14] = block.force_y[i]
    row[at + 15] = block.moment_z[i]
    row[at + 16] = block.kappa[i]
    row[at + 17] = block.alpha[i]
    row[at + 18] = (block.v_x[i] - block.omega[i] * model.wheels[w].radius[i]) if block.h[i] > 0.0 else 0.0
    row[at + 19] = block.v_y[i]
    row[at + 20] = block.wall_force_x[i]
    row[at + 21] = block.wall_force_y[i]
    row[at + 22] = block.wall_force_z[i]
    return at + 23
