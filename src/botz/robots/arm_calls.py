"""The equations of a serial arm as calls from Python: one position or many, in one compiled call each.

`memory` is the arm (arm_memory.py). `q`, `qd`, … are contiguous, (n) or all (N, n), and what comes out is written into
the last one, which has as many dimensions in front. Each call says whether it could: GOOD, or what was wrong.
"""

from __future__ import annotations

from math import sqrt

from numba import njit

from botz.kernels import UNCOUNTED, compiled, inlined
from botz.physics.arm.composite_body import coriolis_matrix, inertia_by_columns, inertia_matrix, solve_symmetric
from botz.physics.arm.dh import (
    add_force,
    add_water,
    chain_frames,
    chain_jacobian,
    friction_torque,
    potential_energy,
    set_joints,
    to_world,
    tool_frame,
    tool_point,
)
from botz.physics.arm.newton_euler import newton_euler
from botz.robots.arm_memory import parts_of
from botz.rotations import dot

entry = njit(cache=True, error_model="numpy", **UNCOUNTED)
GOOD, REFUSED, NOT_POSITIVE = 0, 1, 2
"""What a call says: it is done; there are too few or too many numbers, or some are NaN or infinite, and nothing was
computed; the inertia matrix is not positive."""
COMPOSITE, BY_COLUMNS = 0, 1


@inlined
def finite(values):
    """Whether all numbers of a vector are finite: x − x of any other is NaN."""
    nothing = 0.0
    for x in values:
        nothing += x - x
    return nothing == 0.0


@inlined
def usable(links, values):
    """Whether these are as many finite numbers as the arm has joints, one right after the other."""
    n = len(links)
    return len(values) == n and (n == 1 or values.strides[0] == 8) and finite(values)


# --- kinematics --------------------------------------------------------------------------------------


@compiled
def place_tool(arm, links, q, scratch, frames):
    """Frames 0 … n − 1 of the links and n of the tool, in the base's axes."""
    n = len(links)
    set_joints(links, q, scratch)
    chain_frames(links, scratch, frames)
    tool_frame(arm, frames[n - 1], frames[n])


@compiled
def world_pose(arm, frame, pose):
    """A frame in the base's axes (12 numbers) as a pose in the world, (4, 4)."""
    to_world(arm, frame, pose)
    pose[3, 0] = pose[3, 1] = pose[3, 2] = 0.0
    pose[3, 3] = 1.0


@compiled
def one_tool_pose(parts, q, pose):
    arm, links, scratch, frames, _ = parts
    if not usable(links, q):
        return REFUSED
    place_tool(arm[0], links, q, scratch, frames)
    world_pose(arm[0], frames[len(links)], pose)
    return GOOD


@entry
def tool_poses(memory, q, poses):
    """The tool's pose in the world: (4, 4)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_tool_pose(parts, q, poses)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_tool_pose(parts, q[k], poses[k]))
    return worst


@compiled
def one_chain(parts, q, poses):
    arm, links, scratch, frames, _ = parts
    if not usable(links, q):
        return REFUSED
    place_tool(arm[0], links, q, scratch, frames)
    for i in range(len(links) + 1):
        world_pose(arm[0], frames[i], poses[i])
    return GOOD


@entry
def all_frames(memory, q, poses):
    """Poses of all links and, last, of the tool, in the world: (n + 1, 4, 4)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_chain(parts, q, poses)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_chain(parts, q[k], poses[k]))
    return worst


@compiled
def world_jacobian(arm, links, q, scratch, frames, jacobian):
    n = len(links)
    set_joints(links, q, scratch)
    chain_frames(links, scratch, frames)
    x, y, z = tool_point(arm, frames[n - 1])
    chain_jacobian(links, frames, x, y, z, jacobian)
    for i in range(n):
        for half in range(2):
            r = 3 * half
            x, y, z = jacobian[r, i], jacobian[r + 1, i], jacobian[r + 2, i]
            jacobian[r, i] = dot(arm.base_xx, arm.base_xy, arm.base_xz, x, y, z)
            jacobian[r + 1, i] = dot(arm.base_yx, arm.base_yy, arm.base_yz, x, y, z)
            jacobian[r + 2, i] = dot(arm.base_zx, arm.base_zy, arm.base_zz, x, y, z)


@compiled
def one_jacobian(parts, q, jacobian):
    arm, links, scratch, frames, _ = parts
    if not usable(links, q):
        return REFUSED
    world_jacobian(arm[0], links, q, scratch, frames, jacobian)
    return GOOD


@entry
def jacobians(memory, q, jacobian):
    """Velocity of the tool's point and angular velocity in the world's axes, by joint speeds: (6, n)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_jacobian(parts, q, jacobian)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_jacobian(parts, q[k], jacobian[k]))
    return worst


@compiled
def one_manipulability(parts, q, out):
    arm, links, scratch, frames, room = parts
    if not usable(links, q):
        return REFUSED
    n = len(links)
    jacobian, square = room[: 6 * n].reshape((6, n)), room[6 * n : 6 * n + 36].reshape((6, 6))
    world_jacobian(arm[0], links, q, scratch, frames, jacobian)
    size = 6 if n >= 6 else n
    for i in range(size):
        for j in range(size):
            total = 0.0
            for m in range(n if n >= 6 else 6):
                total += jacobian[i, m] * jacobian[j, m] if n >= 6 else jacobian[m, i] * jacobian[m, j]
            square[i, j] = total
    product = 1.0
    for j in range(size):
        d = square[j, j]
        for m in range(j):
            d -= square[j, m] * square[j, m]
        d = sqrt(d) if d > 0.0 else 0.0
        product *= d
        square[j, j] = d
        for i in range(j + 1, size):
            v = square[i, j]
            for m in range(j):
                v -= square[i, m] * square[j, m]
            square[i, j] = v / d if d > 0.0 else 0.0
    out[0] = product
    return GOOD


@entry
def manipulabilities(memory, q, out):
    """Yoshikawa's √det(J Jᵀ): how far the joints are from losing a direction of the tool; one number.

    With fewer than six joints, √det(Jᵀ J): the volume of the motions that there are.
    """
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_manipulability(parts, q, out)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_manipulability(parts, q[k], out[k]))
    return worst


# --- dynamics ----------------------------------------------------------------------------------------


@compiled
def base_axes(arm, x, y, z):
    """A vector of the world in the base's axes."""
    return (
        dot(arm.base_xx, arm.base_yx, arm.base_zx, x, y, z),
        dot(arm.base_xy, arm.base_yy, arm.base_zy, x, y, z),
        dot(arm.base_xz, arm.base_yz, arm.base_zz, x, y, z),
    )


@compiled
def add_outside(arm, links, q, qd, wrench, use_wrench, scratch, frames, torque, sign):
    """Torques of water and of the wrench on the tool (force and moment in the world's axes), times `sign`."""
    if not use_wrench and arm.density == 0.0:
        return
    n = len(links)
    place_tool(arm, links, q, scratch, frames)
    for i in range(n):
        torque[i] *= sign
    if arm.density != 0.0:
        add_water(arm, links, frames, qd, scratch, torque)
    if use_wrench:
        tip = frames[n]
        force = base_axes(arm, wrench[0], wrench[1], wrench[2])
        moment = base_axes(arm, wrench[3], wrench[4], wrench[5])
        add_force(links, frames, n - 1, (tip[9], tip[10], tip[11]), force, moment, torque)
    for i in range(n):
        torque[i] *= sign


@compiled
def one_inverse(parts, q, qd, qdd, wrench, torque):
    arm, links, scratch, frames, _ = parts
    if not (usable(links, q) and usable(links, qd) and usable(links, qdd) and finite(wrench)):
        return REFUSED
    set_joints(links, q, scratch)
    newton_euler(links, arm[0].gx, arm[0].gy, arm[0].gz, qd, qdd, scratch, torque)
    for i in range(len(links)):
        torque[i] += friction_torque(links[i], qd[i])
    # What acts on the arm from outside need not be done by the joints.
    add_outside(arm[0], links, q, qd, wrench, len(wrench) > 0, scratch, frames, torque, -1.0)
    return GOOD


@entry
def inverse_dynamics(memory, q, qd, qdd, wrench, torque):
    """Torques that these accelerations need; `wrench` is a force and moment on the tool, or nothing: (n)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_inverse(parts, q, qd, qdd, wrench, torque)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_inverse(parts, q[k], qd[k], qdd[k], wrench[k], torque[k]))
    return worst


@compiled
def one_forward(parts, q, qd, torque, wrench, method, qdd):
    """In the workspace: the inertia matrix, then a unit vector, zeros and a torque, (n + 3, n)."""
    arm, links, scratch, frames, room = parts
    if not (usable(links, q) and usable(links, qd) and usable(links, torque) and finite(wrench)):
        return REFUSED
    n = len(links)
    h = room[: (n + 3) * n].reshape((n + 3, n))
    unit, zero, load = h[n], h[n + 1], h[n + 2]
    for i in range(n):
        zero[i] = 0.0
    set_joints(links, q, scratch)
    newton_euler(links, arm[0].gx, arm[0].gy, arm[0].gz, qd, zero, scratch, load)
    if method == COMPOSITE:
        inertia_matrix(links, scratch, h)
    else:
        inertia_by_columns(links, unit, zero, scratch, h)
    for i in range(n):
        qdd[i] = torque[i] - load[i] - friction_torque(links[i], qd[i])
    add_outside(arm[0], links, q, qd, wrench, len(wrench) > 0, scratch, frames, qdd, 1.0)
    return GOOD if solve_symmetric(h, qdd) else NOT_POSITIVE


@entry
def forward_dynamics(memory, q, qd, torque, wrench, qdd):
    """Accelerations under these torques, by composite bodies: (n)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_forward(parts, q, qd, torque, wrench, COMPOSITE, qdd)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_forward(parts, q[k], qd[k], torque[k], wrench[k], COMPOSITE, qdd[k]))
    return worst


@entry
def forward_dynamics_by_columns(memory, q, qd, torque, wrench, qdd):
    """The same by Newton and Euler alone."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_forward(parts, q, qd, torque, wrench, BY_COLUMNS, qdd)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_forward(parts, q[k], qd[k], torque[k], wrench[k], BY_COLUMNS, qdd[k]))
    return worst


@compiled
def split_gravity(arm, links, scratch, frames, zero, lift, gravity):
    """Torque that holds the arm at rest, with buoyancy: `gravity`. `scratch` has the joints; what the water does at
    rest in a current counts as drag."""
    newton_euler(links, arm.gx, arm.gy, arm.gz, zero, zero, scratch, gravity)
    if arm.density != 0.0:
        chain_frames(links, scratch, frames)
        for i in range(len(links)):
            lift[i] = 0.0
        # Buoyancy alone: in a current a link at rest has drag, too.
        ux, uy, uz = arm.ux, arm.uy, arm.uz
        arm.ux = arm.uy = arm.uz = 0.0
        add_water(arm, links, frames, zero, scratch, lift)
        arm.ux, arm.uy, arm.uz = ux, uy, uz
        for i in range(len(links)):
            gravity[i] -= lift[i]


@compiled
def one_gravity(parts, q, gravity):
    arm, links, scratch, frames, room = parts
    if not usable(links, q):
        return REFUSED
    n = len(links)
    zero, lift = room[:n], room[n : 2 * n]
    for i in range(n):
        zero[i] = 0.0
    set_joints(links, q, scratch)
    split_gravity(arm[0], links, scratch, frames, zero, lift, gravity)
    return GOOD


@entry
def gravity_torques(memory, q, gravity):
    """Torques that hold the arm at rest, buoyancy included: (n)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_gravity(parts, q, gravity)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_gravity(parts, q[k], gravity[k]))
    return worst


@compiled
def one_split(parts, q, qd, qdd, split):
    arm, links, scratch, frames, room = parts
    if not (usable(links, q) and usable(links, qd) and usable(links, qdd)):
        return REFUSED
    n = len(links)
    zero, lift = room[:n], room[n : 2 * n]
    for i in range(n):
        zero[i] = 0.0
    inertial, coriolis, gravity, friction, drag = split[0], split[1], split[2], split[3], split[4]
    set_joints(links, q, scratch)
    newton_euler(links, 0.0, 0.0, 0.0, zero, qdd, scratch, inertial)
    newton_euler(links, 0.0, 0.0, 0.0, qd, zero, scratch, coriolis)
    split_gravity(arm[0], links, scratch, frames, zero, lift, gravity)
    for i in range(n):
        friction[i] = friction_torque(links[i], qd[i])
        drag[i] = 0.0
    if arm[0].density != 0.0:
        # All that the water does; what is more than buoyancy is drag.
        add_water(arm[0], links, frames, qd, scratch, drag)
        for i in range(n):
            drag[i] = lift[i] - drag[i]
    return GOOD


@entry
def dynamics_parts(memory, q, qd, qdd, split):
    """[titan4] eq. 3-21: inertial, Coriolis and centrifugal, gravity (with buoyancy), friction, and drag: (5, n)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_split(parts, q, qd, qdd, split)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_split(parts, q[k], qd[k], qdd[k], split[k]))
    return worst


@compiled
def one_inertia(parts, q, h):
    _, links, scratch, _, _ = parts
    if not usable(links, q):
        return REFUSED
    set_joints(links, q, scratch)
    inertia_matrix(links, scratch, h)
    return GOOD


@entry
def inertia_matrices(memory, q, h):
    """H of eq. 3-22: (n, n)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_inertia(parts, q, h)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_inertia(parts, q[k], h[k]))
    return worst


@compiled
def one_coriolis(parts, q, qd, c):
    _, links, scratch, _, room = parts
    if not (usable(links, q) and usable(links, qd)):
        return REFUSED
    n = len(links)
    mixed, zero, load = room[:n], room[n : 2 * n], room[2 * n : 3 * n]
    for i in range(n):
        zero[i] = 0.0
    set_joints(links, q, scratch)
    coriolis_matrix(links, qd, zero, mixed, scratch, load, c)
    return GOOD


@entry
def coriolis_matrices(memory, q, qd, c):
    """C of eq. 3-22: (n, n)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_coriolis(parts, q, qd, c)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_coriolis(parts, q[k], qd[k], c[k]))
    return worst


@compiled
def one_energy(parts, q, qd, energy):
    arm, links, scratch, frames, room = parts
    if not (usable(links, q) and usable(links, qd)):
        return REFUSED
    n = len(links)
    h = room[: n * n].reshape((n, n))
    set_joints(links, q, scratch)
    chain_frames(links, scratch, frames)
    inertia_matrix(links, scratch, h)
    kinetic, potential = 0.0, 0.0
    for i in range(n):
        for j in range(n):
            kinetic += 0.5 * qd[i] * h[i, j] * qd[j]
        potential += potential_energy(arm[0], links[i], frames[i])
    energy[0], energy[1] = kinetic, potential
    return GOOD


@entry
def energies(memory, q, qd, energy):
    """Kinetic (with the rotors) and potential energy (with buoyancy): (2)."""
    parts = parts_of(memory)
    if q.ndim == 1:
        return one_energy(parts, q, qd, energy)
    worst = GOOD
    for k in range(len(q)):
        worst = max(worst, one_energy(parts, q[k], qd[k], energy[k]))
    return worst
