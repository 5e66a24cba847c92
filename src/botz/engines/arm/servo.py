"""What an arm's own computer and valves do once a step in engine `arm`: references, servo, actuators, jaws."""

from __future__ import annotations

from math import isnan

from botz.engines.arm.contacts import world_to_base
from botz.engines.arm.model import COMPUTED, PAD_FRACTION, PAD_POINTS, PID, TORQUE
from botz.kernels import compiled, inlined
from botz.physics.arm.dh import add_force, add_water, friction_torque
from botz.physics.arm.newton_euler import newton_euler
from botz.rotations import dot

DEEPEST = 0.008
"""How far pads sink into what they hold at most, so that they do not close through it [m]."""


@compiled
def bound_reference(joint, own, link):
    """No faster than the joint and within its range. What is cut off is not fed forward either: a reference that stands
    at its end has neither speed nor acceleration into it. `own`: the joint's state."""
    if abs(own.reference_speed) >= joint.speed:
        fast = joint.speed if own.reference_speed > 0.0 else -joint.speed
        own.reference_speed = fast
        if own.reference_acceleration * fast > 0.0:
            own.reference_acceleration = 0.0
    if own.reference >= link.upper:
        own.reference = link.upper
        own.reference_speed = min(own.reference_speed, 0.0)
        own.reference_acceleration = min(own.reference_acceleration, 0.0)
    elif own.reference <= link.lower:
        own.reference = link.lower
        own.reference_speed = max(own.reference_speed, 0.0)
        own.reference_acceleration = max(own.reference_acceleration, 0.0)


@inlined
def take_reference(model, state, u, inputs):
    """A new reference, known by its number: a position that moves on by its speed and acceleration, a speed alone (its
    position is NaN: rate control), or a halt where the arm is."""
    unit, tool = model.units[u], state.tools[u]
    n, at = unit.n, unit.inputs
    number = inputs[at + 4 * n + 1]
    if number == tool.number:
        return
    tool.number = number
    halt = inputs[at + 4 * n] != 0.0
    for i in range(n):
        k = unit.start + i
        own, position = state.joints[k], inputs[at + i]
        own.reference_speed, own.reference_acceleration = inputs[at + n + i], inputs[at + 2 * n + i]
        own.rate = 1.0 if isnan(position) else 0.0
        if halt:
            own.reference, own.reference_speed, own.reference_acceleration = state.q[k], 0.0, 0.0
        elif not isnan(position):
            own.reference = position
        bound_reference(model.joints[k], own, model.links[k])


@compiled
def carry_reference(joint, own, link, q, dt):
    """The reference at the next step, q + v t + a t²/2; under rate control no further ahead than what the actuator can
    pull."""
    speed, acceleration = own.reference_speed, own.reference_acceleration
    own.reference += dt * (speed + 0.5 * dt * acceleration)
    own.reference_speed = speed + dt * acceleration
    if own.rate != 0.0:
        own.reference = min(max(own.reference, q - joint.lead), q + joint.lead)
    bound_reference(joint, own, link)


@compiled
def copy_mass(link, other):
    """All that Newton and Euler's equations ask of a link."""
    other.kind, other.ca, other.sa, other.a, other.rotor = link.kind, link.ca, link.sa, link.a, link.rotor
    other.mass, other.cx, other.cy, other.cz = link.mass, link.cx, link.cy, link.cz
    other.ixx, other.iyy, other.izz = link.ixx, link.iyy, link.izz
    other.ixy, other.ixz, other.iyz = link.ixy, link.ixz, link.iyz


@compiled
def hold_payload(arm, last, f, box, pose, turn, link):
    """The servo's last link (`last`, at frame f) with a box that the gripper holds as a part of it: into `link`."""
    x, y, z = world_to_base(arm, pose[0] - arm.base_x, pose[1] - arm.base_y, pose[2] - arm.base_z)
    x, y, z = x - f[9], y - f[10], z - f[11]
    x, y, z = dot(f[0], f[1], f[2], x, y, z), dot(f[3], f[4], f[5], x, y, z), dot(f[6], f[7], f[8], x, y, z)
    mass = last.mass + box.mass
    fraction = box.mass / mass
    dx, dy, dz = x - last.cx, y - last.cy, z - last.cz
    link.mass = mass
    link.cx, link.cy, link.cz = last.cx + fraction * dx, last.cy + fraction * dy, last.cz + fraction * dz
    # Steiner's theorem for both: the reduced mass at the distance of the two centres.
    reduced = last.mass * fraction
    link.ixx = last.ixx + reduced * (dy * dy + dz * dz)
    link.iyy = last.iyy + reduced * (dx * dx + dz * dz)
    link.izz = last.izz + reduced * (dx * dx + dy * dy)
    link.ixy = last.ixy - reduced * dx * dy
    link.ixz = last.ixz - reduced * dx * dz
    link.iyz = last.iyz - reduced * dy * dz
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
    force = (up * arm.gx, up * arm.gy, up * arm.gz)
    add_force(links, frames, len(links) - 1, (x, y, z), force, (0.0, 0.0, 0.0), torque)


@inlined
def servo_torques(model, state, work, u, inputs, dt):
    """What the servo of one arm asks of the actuators, into work.torque.

    pid: τ = G(q) + k_p e + k_d ė + k_i ∫e. computed-torque: τ of Newton and Euler for q̈_r + k_d ė + k_p e + k_i ∫e.
    """
    arm, unit, tool = model.arms[u], model.units[u], state.tools[u]
    n, s, e = unit.n, unit.start, unit.start + unit.n
    fed, torque = unit.inputs + 3 * n, work.torque[s:e]
    if unit.servo == TORQUE:
        for i in range(n):
            torque[i] = inputs[fed + i]
        return
    q, qd, joints, own = state.q[s:e], state.qd[s:e], model.joints[s:e], state.joints[s:e]
    links, known, scratch, frames = (
        model.links[s:e],
        model.known[s:e],
        work.scratch[s:e],
        work.frames[s + u : e + u + 1],
    )
    wanted, zero = work.load[:n], work.zero[:n]
    for i in range(n):
        error, slower = own[i].reference - q[i], own[i].reference_speed - qd[i]
        pull = joints[i].kp * error + joints[i].kd * slower + joints[i].ki * own[i].integral
        wanted[i] = pull + own[i].reference_acceleration if unit.servo == COMPUTED else pull
        if joints[i].ki != 0.0:
            own[i].integral = min(max(own[i].integral + dt * error, -joints[i].most), joints[i].most)
    b = int(tool.held) - 1 if unit.knows else -1
    k = b - len(model.fixed_poses)
    if b >= 0:
        for i in range(n):
            copy_mass(known[i], work.known[i])
        hold_payload(arm, known[n - 1], frames[n - 1], model.boxes[b], state.poses[k], work.axes[k], work.known[n - 1])
        known = work.known[:n]
    if unit.servo == COMPUTED:
        newton_euler(known, arm.gx, arm.gy, arm.gz, qd, wanted, scratch, torque)
    else:
        newton_euler(known, arm.gx, arm.gy, arm.gz, zero, zero, scratch, torque)
    if arm.density != 0.0:
        for i in range(n):
            torque[i] = -torque[i]
        add_water(arm, links, frames, qd if unit.servo == COMPUTED else zero, scratch, torque)
        if b >= 0:
            add_lift(arm, links, frames, model.boxes[b], state.poses[k], torque)
        for i in range(n):
            torque[i] = -torque[i]
    for i in range(n):
        if unit.servo == PID:
            torque[i] += wanted[i]
        if unit.compensates:
            torque[i] += friction_torque(links[i], own[i].reference_speed)
        torque[i] += inputs[fed + i]


@compiled
def actuate(joint, own, speed, asked):  # -> torque
    """Limit, valve lag, pressure rate, and the flow that is left: the torque that a joint really gets in this step."""
    asked = min(max(asked, -joint.strongest), joint.strongest)
    asked = own.torque + joint.follow * (asked - own.torque)
    asked = min(max(asked, own.torque - joint.torque_step), own.torque + joint.torque_step)
    if joint.per_flow > 0.0 and asked * speed > 0.0:
        used = speed * joint.per_flow
        most = joint.strongest * max(0.0, 1.0 - used * used)
        asked = min(max(asked, -most), most)
    own.torque = asked
    return asked


@compiled
def move_jaws(unit, tool, stiffness, inputs, dt):
    """The pads towards the opening that is wanted.

    A cylinder behind a throttle closes them at the speed r with the force F (1 − r/v): v when nothing is in the way, F
    at rest. What they press on answers with N + (c/2 + k dt/2) r by the end of the step, N without their own motion,
    k and c of the points that touch; both are equal at r = (F − N)/(F/v + c/2 + k dt/2), however stiff the pads are.
    """
    at = unit.inputs + 4 * unit.n + 2
    goal = min(max(inputs[at], 0.0), unit.widest)
    limit = min(max(inputs[at + 1], 0.0), unit.strongest)
    distance = goal - tool.opening
    if distance >= 0.0:
        rate = min(distance / dt, unit.jaw_speed)
    else:
        k, c = PAD_FRACTION * tool.grip * stiffness, PAD_FRACTION * tool.grip * tool.damper
        # Pads that are soft for the sake of a light object press no harder than what they can bear.
        limit = min(limit, PAD_FRACTION * PAD_POINTS * stiffness * DEEPEST)
        still = tool.pressed + 0.5 * c * tool.jaw_rate
        closing = unit.jaw_speed
        if tool.grip > 0.0:
            closing = (limit - still) / (limit / unit.jaw_speed + 0.5 * (c + k * dt))
        elif limit == 0.0:
            closing = 0.0
        rate = -min(closing, -distance / dt)
        rate = min(rate, (unit.widest - tool.opening) / dt)
    tool.jaw_rate = rate
    tool.opening += rate * dt


@inlined
def control_arm(model, state, work, u, inputs, dt):
    """The computer and the valves of one arm: reference, servo, actuators, jaws. The arm stands where `place_arm` has
    put it."""
    unit = model.units[u]
    servo_torques(model, state, work, u, inputs, dt)
    for k in range(unit.start, unit.start + unit.n):
        joint, own = model.joints[k], state.joints[k]
        work.torque[k] = actuate(joint, own, state.qd[k], work.torque[k])
        carry_reference(joint, own, model.links[k], state.q[k], dt)
    if unit.gripper:
        move_jaws(unit, state.tools[u], model.world[0].stiffness, inputs, dt)
