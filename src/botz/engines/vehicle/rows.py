"""What can be observed of a vehicle: its channels, and the compiled function that writes them in the same order.

Forces, slips and currents are those of the step that led to the present state.
"""

from __future__ import annotations

from math import atan2, sqrt

from botz.channels import Channel, Columns, ImuView, JointView, PoseView, RosView
from botz.engines.vehicle.forces import speeds_of_axles
from botz.engines.vehicle.model import Axle, axles_of
from botz.kernels import inlined
from botz.physics.wheels.suspension import suspension_energy
from botz.physics.wheels.tyre_block import tread_energy
from botz.physics.wheels.wheel_block import LANES
from botz.rotations import rotation_of
from botz.scenario.vehicle.schema import PlacedVehicle

XYZ = ("x", "y", "z")
POSE, TWIST = (*XYZ, "qw", "qx", "qy", "qz"), ("vx", "vy", "vz", "wx", "wy", "wz")

CHASSIS = Columns(
    Channel("pose", "m, m, m, 1, 1, 1, 1", "centre of mass and attitude in the world", POSE),
    Channel("twist", "m/s, m/s, m/s, rad/s, rad/s, rad/s", "velocity in the body's axes", TWIST),
    Channel("attitude", "rad", "the same attitude as angles", ("roll", "pitch", "yaw")),
    Channel("acceleration", "m/s²", "of the centre of mass, in the body's axes", XYZ),
    Channel("angular_velocity", "rad/s", "in the body's axes, as a gyroscope feels it", XYZ),
    Channel("specific_force", "m/s²", "what an accelerometer there feels, in the body's axes", XYZ),
    Channel("chassis_force", "N", "of the ground on the chassis' corners, in the world", XYZ),
    Channel("energy/kinetic", "J", "of body, wheels and rotors"),
    Channel("energy/potential", "J", "of the body's height above z = 0"),
    Channel("energy/springs", "J", "of the suspension"),
    Channel("energy/treads", "J", "of the stretched treads"),
    Channel("energy/walls", "J", "of wheels pressed against walls"),
    Channel("energy/corners", "J", "of the chassis' corners pressed into the ground"),
    Channel("energy/bristles", "J", "of the axles' friction, ½ σ₀ z²"),
    Channel("energy/work", "J", "done by the motors at the wheels since the start; not held by anything"),
    Channel("battery/voltage", "V", "under load; 0 without a battery"),
    Channel("battery/power", "W", "drawn by all motors"),
    Channel("battery/energy", "J", "drawn by all motors since the start"),
)
WHEEL = Columns(
    Channel("angle", "rad", "rotation against the chassis"),
    Channel("speed", "rad/s", "rotation speed against the chassis"),
    Channel("deflection", "m", "of the suspension, h"),
    Channel("deflection_rate", "m/s", "dh/dt"),
    Channel("contact_angle", "rad", "γ, from the lowest point of the rim forwards to the contact"),
    Channel("contact", "m", "contact point in the world; the last one while it is in the air", XYZ),
    Channel("normal", "1", "of the ground at the contact", XYZ),
    Channel("suspension_force", "N", "F_susp"),
    Channel("load", "N", "normal force N"),
    Channel("force", "N", "of the ground: F_x along the wheel, F_y to its left", ("along", "across")),
    Channel("aligning_moment", "N·m", "M_z about the contact normal"),
    Channel("slip", "1", "longitudinal slip κ of the tread"),
    Channel("slip_angle", "rad", "slip angle of the tread, positive for a force to the left"),
    Channel("slip_speed", "m/s", "contact over the ground, along and across", ("along", "across")),
    Channel("wall_force", "N", "of ground too steep to roll on, in the world", XYZ),
)
MOTOR = Columns(
    Channel("voltage", "V", "at the motor"),
    Channel("current", "A", "through the motor"),
    Channel("torque", "N·m", "of the motor at the wheel"),
    Channel("friction", "N·m", "of the axle at the wheel, against the turning: positive for a positive speed"),
)
NAMED_MOTOR = Columns(*MOTOR.channels, Channel("speed", "rad/s", "of its wheels against the chassis"))
"""One that is not called as its wheel."""
C, W, M, NAMED = CHASSIS.at, WHEEL.at, MOTOR.at, NAMED_MOTOR.at


def channels_of(name: str, robot: PlacedVehicle) -> list[Channel]:
    """The channel table of one vehicle, in the order in which `observe_row` writes it."""
    found = CHASSIS.of(name)
    for wheel in robot.wheels:
        found += WHEEL.of(f"{name}/{wheel}")
    for motor in robot.motors:
        found += (MOTOR if motor in robot.wheels else NAMED_MOTOR).of(f"{name}/{motor}")
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
                    row[at + M.voltage] = block.voltage[i]
                    row[at + M.current] = block.current[i]
                    row[at + M.torque] = block.torque[i]
                    row[at + M.friction] = block.friction[i]
                    if axles.named[i] != 0.0:
                        row[at + NAMED.speed] = work.axles[a - robot.axle_start].relative[i]
                    at += NAMED.end if axles.named[i] != 0.0 else M.end


@inlined
def observe_chassis(model, state, work, r, row, at):  # -> next place in the row
    robot, own = model.robots[r], state.robots[r]
    q, v, w, a = own.quat, own.v, own.angular, own.acceleration
    nx, ny, nz, tx, ty, tz, bx, by, bz = rotation_of(q[0], q[1], q[2], q[3])
    for k in range(3):
        row[at + C.pose + k] = own.x[k]
    for k in range(4):
        row[at + C.pose + 3 + k] = q[k]
    row[at + C.twist] = v[0] * nx + v[1] * ny + v[2] * nz
    row[at + C.twist + 1] = v[0] * tx + v[1] * ty + v[2] * tz
    row[at + C.twist + 2] = v[0] * bx + v[1] * by + v[2] * bz
    for k in range(3):
        row[at + C.twist + 3 + k] = w[k]
    row[at + C.attitude] = atan2(2.0 * (q[0] * q[1] + q[2] * q[3]), 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]))
    sine = min(max(-nz, -1.0), 1.0)
    row[at + C.attitude + 1] = atan2(sine, sqrt(max(1.0 - sine * sine, 0.0)))
    row[at + C.attitude + 2] = atan2(ny, nx)
    row[at + C.acceleration] = a[0] * nx + a[1] * ny + a[2] * nz
    row[at + C.acceleration + 1] = a[0] * tx + a[1] * ty + a[2] * tz
    row[at + C.acceleration + 2] = a[0] * bx + a[1] * by + a[2] * bz
    for k in range(3):
        row[at + C.angular_velocity + k] = w[k]
    row[at + C.specific_force] = row[at + C.acceleration] + robot.gravity * nz
    row[at + C.specific_force + 1] = row[at + C.acceleration + 1] + robot.gravity * tz
    row[at + C.specific_force + 2] = row[at + C.acceleration + 2] + robot.gravity * bz
    for k in range(3):
        row[at + C.chassis_force + k] = own.corner_force[k]
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
    row[at + C.energy_kinetic] = 0.5 * kinetic
    row[at + C.energy_potential] = robot.mass * robot.gravity * own.x[2]
    row[at + C.energy_springs] = springs
    row[at + C.energy_treads] = treads
    row[at + C.energy_walls] = walls
    row[at + C.energy_corners] = 0.5 * robot.corner_stiffness * corners
    row[at + C.energy_bristles] = bristles
    row[at + C.energy_work] = own.work
    row[at + C.battery_voltage] = own.bus
    row[at + C.battery_power] = own.power
    row[at + C.battery_energy] = own.energy
    return at + C.end


@inlined
def observe_wheel(model, state, work, r, w, i, row, at):  # -> next place in the row
    robot, own, block = model.robots[r], state.robots[r], state.wheels[w]
    axle = int(model.wheels[w].axle[i])
    row[at + W.angle] = state.axles[robot.axle_start + axle // LANES].angle[axle % LANES]
    row[at + W.speed] = work.axles[axle // LANES].relative[axle % LANES]
    row[at + W.deflection] = block.h[i]
    row[at + W.deflection_rate] = block.dh[i]
    row[at + W.contact_angle] = atan2(block.sine[i], block.cosine[i])
    row[at + W.contact] = own.x[0] + block.p_x[i]
    row[at + W.contact + 1] = own.x[1] + block.p_y[i]
    row[at + W.contact + 2] = own.x[2] + block.p_z[i]
    row[at + W.normal] = block.n_x[i]
    row[at + W.normal + 1] = block.n_y[i]
    row[at + W.normal + 2] = block.n_z[i]
    row[at + W.suspension_force] = block.spring[i]
    row[at + W.load] = block.load[i]
    row[at + W.force] = block.force_x[i]
    row[at + W.force + 1] = block.force_y[i]
    row[at + W.aligning_moment] = block.moment_z[i]
    row[at + W.slip] = block.kappa[i]
    row[at + W.slip_angle] = block.alpha[i]
    row[at + W.slip_speed] = (block.v_x[i] - block.omega[i] * model.wheels[w].radius[i]) if block.h[i] > 0.0 else 0.0
    row[at + W.slip_speed + 1] = block.v_y[i]
    row[at + W.wall_force] = block.wall_force_x[i]
    row[at + W.wall_force + 1] = block.wall_force_y[i]
    row[at + W.wall_force + 2] = block.wall_force_z[i]
    return at + W.end
