"""What an arm's own computer and valves do once a step in engine `arm`: references, servo, actuators, jaws."""

from __future__ import annotations

from math import isnan

from botz.engines.arm.contacts import world_to_base
from botz.engines.arm.model import COMPUTED, PAD_POINTS, PAD_SHARE, PID, TORQUE
from botz.kernels import compiled
from botz.physics.arm.dh import add_force, add_water, friction_torque
from botz.physics.arm.newton_euler import newton_euler
from botz.rotations import dot

DEEPEST = 0.008
"""How far pads sink into what they hold at most, so that they do not close through it [m]."""


@compiled
def bound_reference(joint, link):
    """No faster than the joint and within its range. What is cut off is not fed forward either: a reference that stands
    at its end has neither speed nor acceleration into it."""
    if abs(joint.reference_speed) >= joint.speed:
        fast = joint.speed if joint.reference_speed > 0.0 else -joint.speed
        joint.reference_speed = fast
        if joint.reference_acceleration * fast > 0.0:
            joint.reference_acceleration = 0.0
    if joint.reference >= link.upper:
        joint.reference = link.upper
        joint.reference_speed = min(joint.reference_speed, 0.0)
        joint.reference_acceleration = min(joint.reference_acceleration, 0.0)
    elif joint.reference <= link.lower:
        joint.reference = link.lower
        joint.reference_speed = max(joint.reference_speed, 0.0)
        joint.reference_acceleration = max(joint.reference_acceleration, 0.0)


@compiled
def take_reference(unit, joints, links, q, inputs):
    """A new reference, told by its number: a position that moves on by its speed and acceleration, a speed alone (its
    position is NaN: rate control), or a halt where the arm is."""
    n, at = unit.n, unit.inputs
    number = inputs[at + 4 * n + 1]
    if number == unit.number:
        return
    unit.number = number
    halt = inputs[at + 4 * n] != 0.0
    for i in range(n):
        joint = joints[i]
        position = inputs[at + i]
        joint.reference_speed, joint.reference_acceleration = inputs[at + n + i], inputs[at + 2 * n + i]
        joint.rate = 1.0 if isnan(position) else 0.0
        if halt:
            joint.reference, joint.reference_speed, joint.reference_acceleration = q[i], 0.0, 0.0
        elif not isnan(position):
            joint.reference = position
        bound_reference(joint, links[i])


@compiled
def carry_reference(joints, links, q, dt):
    """The reference at the next step, q + v t + a t²/2; under rate control no further ahead than what the actuator can
    pull."""
    for i in range(len(links)):
        joint = joints[i]
        speed, acceleration = joint.reference_speed, joint.reference_acceleration
        joint.reference += dt * (speed + 0.5 * dt * acceleration)
        joint.reference_speed = speed + dt * acceleration
        if joint.rate != 0.0:
            joint.reference = min(max(joint.reference, q[i] - joint.lead), q[i] + joint.lead)
        bound_reference(joint, links[i])


@compiled
def hold_payload(arm, unit, last, boxes, poses, axes, frames, link):
    """The servo's last link, with what the gripper holds as a part of it."""
    link.mass, link.cx, link.cy, link.cz = last.mass, last.cx, last.cy, last.cz
    link.ixx, link.iyy, link.izz = last.ixx, last.iyy, last.izz
    link.ixy, link.ixz, link.iyz = last.ixy, last.ixz, last.iyz
    if unit.held == 0.0 or unit.knows == 0:
        return
    b = int(unit.held) - 1
    box, pose, turn, f = boxes[b], poses[b], axes[b], frames[unit.n - 1]
    x, y, z = world_to_base(arm, pose[0] - arm.base_x, pose[1] - arm.base_y, pose[2] - arm.base_z)
    x, y, z = x - f[9], y - f[10], z - f[11]
    x, y, z = dot(f[0], f[1], f[2], x, y, z), dot(f[3], f[4], f[5], x, y, z), dot(f[6], f[7], f[8], x, y, z)
    mass = last.mass + box.mass
    share = box.mass / mass
    dx, dy, dz = x - last.cx, y - last.cy, z - last.cz
    link.mass = mass
    link.cx, link.cy, link.cz = last.cx + share * dx, last.cy + share * dy, last.cz + share * dz
    # Steiner's theorem for both: the reduced mass at the distance of the two centres.
    reduced = last.mass * share
    link.ixx += reduced * (dy * dy + dz * dz)
    link.iyy += reduced * (dx * dx + dz * dz)
    link.izz += reduced * (dx * dx + dy * dy)
    link.ixy -= reduced * dx * dy
    link.ixz -= reduced * dx * dz
    link.iyz -= reduced * dy * dz
    for k in range(3):
        own = box.ixx if k == 0 else (box.iyy if k == 1 else box.izz)
        ux, uy, uz = world_to_base(arm, turn[3 * k], turn[3 * k + 1], turn[3 * k + 2])
        ux, uy, uz = (
            dot(f[0], f[1], f[2], ux, uy, uz), dot(f[3], f[4], f[5], ux, uy, uz), dot(f[6], f[7], f[8], ux, uy, uz)
        )  # fmt: skip
        link.ixx, link.iyy, link.izz = link.ixx + own * ux * ux, link.iyy + own * uy * uy, link.izz + own * uz * uz
        link.ixy, link.ixz, link.iyz = link.ixy + own * ux * uy, link.ixz + own * ux * uz, link.iyz + own * uy * uz


@compiled
def add_lift(arm, links, frames, box, pose, torque):
    """Joint torques of the buoyancy of what the gripper holds."""
    x, y, z = world_to_base(arm, pose[0] - arm.base_x, pose[1] - arm.base_y, pose[2] - arm.base_z)
    up = -box.lift * box.mass
    add_force(links, frames, len(links) - 1, x, y, z, up * arm.gx, up * arm.gy, up * arm.gz, 0.0, 0.0, 0.0, torque)


@compiled
def servo_torques(
    # parameters
    arm, unit, links, model, last, joints, boxes,
    # state in
    q, qd, poses, axes, inputs, dt,
    # room
    scratch, frames, wanted, zero,
    # out
    torque,
):  # fmt: skip
    """What the servo asks of the actuators.

    pid: τ = G(q) + k_p e + k_d ė + k_i ∫e. computed-torque: τ of Newton and Euler for q̈_r + k_d ė + k_p e + k_i ∫e.
    """
    n, fed = unit.n, unit.inputs + 3 * unit.n
    if unit.servo == TORQUE:
        for i in range(n):
            torque[i] = inputs[fed + i]
        return
    for i in range(n):
        joint = joints[i]
        error, slower = joint.reference - q[i], joint.reference_speed - qd[i]
        pull = joint.kp * error + joint.kd * slower + joint.ki * joint.integral
        wanted[i] = pull + joint.reference_acceleration if unit.servo == COMPUTED else pull
        if joint.ki != 0.0:
            joint.integral = min(max(joint.integral + dt * error, -joint.most), joint.most)
    if unit.gripper:
        hold_payload(arm, unit, last, boxes, poses, axes, frames, model[n - 1])
    if unit.servo == COMPUTED:
        newton_euler(model, arm.gx, arm.gy, arm.gz, qd, wanted, scratch, torque)
    else:
        newton_euler(model, arm.gx, arm.gy, arm.gz, zero, zero, scratch, torque)
    if arm.density != 0.0:
        for i in range(n):
            torque[i] = -torque[i]
        add_water(arm, model, frames, qd if unit.servo == COMPUTED else zero, scratch, torque)
        if unit.held != 0.0 and unit.knows:
            add_lift(arm, links, frames, boxes[int(unit.held) - 1], poses[int(unit.held) - 1], torque)
        for i in range(n):
            torque[i] = -torque[i]
    for i in range(n):
        if unit.servo == PID:
            torque[i] += wanted[i]
        if unit.compensates:
            torque[i] += friction_torque(links[i], joints[i].reference_speed)
        torque[i] += inputs[fed + i]


@compiled
def actuate(joints, qd, torque):
    """Limit, valve lag, pressure rate, and the flow that is left: the torque that a joint really gets in this step."""
    for i in range(len(joints)):
        joint = joints[i]
        asked = min(max(torque[i], -joint.strongest), joint.strongest)
        asked = joint.torque + joint.follow * (asked - joint.torque)
        asked = min(max(asked, joint.torque - joint.torque_step), joint.torque + joint.torque_step)
        if joint.per_flow > 0.0 and asked * qd[i] > 0.0:
            used = qd[i] * joint.per_flow
            most = joint.strongest * max(0.0, 1.0 - used * used)
            asked = min(max(asked, -most), most)
        joint.torque = asked
        torque[i] = asked


@compiled
def move_jaws(unit, stiffness, inputs, dt):
    """The pads towards the opening that is wanted.

    A cylinder behind a throttle closes them at the speed r with the force F (1 − r/v): v when nothing is in the way, F
    at rest. What they press on answers with N + (c/2 + k dt/2) r by the end of the step, N without their own motion,
    k and c of the points that touch; both are equal at r = (F − N)/(F/v + c/2 + k dt/2), however stiff the pads are.
    """
    at = unit.inputs + 4 * unit.n + 2
    goal = min(max(inputs[at], 0.0), unit.widest)
    limit = min(max(inputs[at + 1], 0.0), unit.strongest)
    way = goal - unit.opening
    if way >= 0.0:
        rate = min(way / dt, unit.jaw_speed)
    else:
        k, c = PAD_SHARE * unit.grip * stiffness, PAD_SHARE * unit.grip * unit.damper
        # Pads that are soft for the sake of a light object press no harder than what they can bear.
        limit = min(limit, PAD_SHARE * PAD_POINTS * stiffness * DEEPEST)
        still = unit.pressed + 0.5 * c * unit.jaw_rate
        closing = unit.jaw_speed
        if unit.grip > 0.0:
            closing = (limit - still) / (limit / unit.jaw_speed + 0.5 * (c + k * dt))
        elif limit == 0.0:
            closing = 0.0
        rate = -min(closing, -way / dt)
        rate = min(rate, (unit.widest - unit.opening) / dt)
    unit.jaw_rate = rate
    unit.opening += rate * dt
