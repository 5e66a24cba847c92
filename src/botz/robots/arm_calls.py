"""The equations of a serial arm as calls from Python: one position or many, in one compiled call each.

`q`, `qd`, … are (N, n) and contiguous; what comes out is written into the arrays given last. The functions of one
position take (n) and no more arrays than they need, since handing an array over costs as much as ten multiplications.
"""

from __future__ import annotations

from math import sqrt

from numba import njit

from botz.kernels import UNCOUNTED, compiled
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
)
from botz.physics.arm.newton_euler import newton_euler
from botz.rotations import dot

entry = njit(cache=True, error_model="numpy", **UNCOUNTED)
COMPOSITE, BY_COLUMNS = 0, 1


@entry
def all_frames(arm, links, q, scratch, frames, poses):
    """Poses of all links and, last, of the tool, in the world: (N, n + 1, 4, 4), whose last rows are left alone."""
    n = len(links)
    for k in range(len(q)):
        set_joints(links, q[k], scratch)
        chain_frames(links, scratch, frames)
        tool_frame(arm[0], frames[n - 1], frames[n])
        for i in range(n + 1):
            to_world(arm[0], frames[i], poses[k, i])


@compiled
def place_tool(arm, links, q, scratch, frames):
    """Frames 0 … n − 1 of the links and n of the tool, in the base's axes."""
    n = len(links)
    set_joints(links, q, scratch)
    chain_frames(links, scratch, frames)
    tool_frame(arm, frames[n - 1], frames[n])


@entry
def tool_pose(arm, links, q, scratch, frames, pose):
    """The tool's pose of one position: (4, 4)."""
    place_tool(arm[0], links, q, scratch, frames)
    to_world(arm[0], frames[len(links)], pose)


@entry
def tool_poses(arm, links, q, scratch, frames, poses):
    for k in range(len(q)):
        place_tool(arm[0], links, q[k], scratch, frames)
        to_world(arm[0], frames[len(links)], poses[k])


@compiled
def world_jacobian(arm, links, q, scratch, frames, jacobian):
    n = len(links)
    place_tool(arm, links, q, scratch, frames)
    chain_jacobian(links, frames, frames[n, 9], frames[n, 10], frames[n, 11], jacobian)
    for i in range(n):
        for half in range(2):
            r = 3 * half
            x, y, z = jacobian[r, i], jacobian[r + 1, i], jacobian[r + 2, i]
            jacobian[r, i] = dot(arm.base_xx, arm.base_xy, arm.base_xz, x, y, z)
            jacobian[r + 1, i] = dot(arm.base_yx, arm.base_yy, arm.base_yz, x, y, z)
            jacobian[r + 2, i] = dot(arm.base_zx, arm.base_zy, arm.base_zz, x, y, z)


@entry
def tool_jacobian(arm, links, q, scratch, frames, jacobian):
    """J of one position: velocity of the tool's point and angular velocity in the world's axes, by joint speeds."""
    world_jacobian(arm[0], links, q, scratch, frames, jacobian)


@entry
def tool_jacobians(arm, links, q, scratch, frames, jacobians):
    for k in range(len(q)):
        world_jacobian(arm[0], links, q[k], scratch, frames, jacobians[k])


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
def one_inverse(arm, links, q, qd, qdd, wrench, use_wrench, scratch, frames, torque):
    set_joints(links, q, scratch)
    newton_euler(links, arm.gx, arm.gy, arm.gz, qd, qdd, scratch, torque)
    for i in range(len(links)):
        torque[i] += friction_torque(links[i], qd[i])
    # What acts on the arm from outside need not be done by the joints.
    add_outside(arm, links, q, qd, wrench, use_wrench, scratch, frames, torque, -1.0)


@entry
def inverse_dynamics(arm, links, q, qd, qdd, wrench, scratch, frames, torque):
    """Torques that give one position and its speeds these accelerations; `wrench` is empty where none acts."""
    one_inverse(arm[0], links, q, qd, qdd, wrench, len(wrench) > 0, scratch, frames, torque)


@entry
def inverse_dynamics_many(arm, links, q, qd, qdd, wrench, scratch, frames, torque):
    for k in range(len(q)):
        w = wrench[k] if len(wrench) > 0 else qd[k]
        one_inverse(arm[0], links, q[k], qd[k], qdd[k], w, len(wrench) > 0, scratch, frames, torque[k])


@compiled
def one_forward(arm, links, q, qd, torque, wrench, use_wrench, method, scratch, frames, room, qdd):
    """`room` is (n + 3, n): the inertia matrix, then a unit vector, zeros and a torque."""
    n = len(links)
    unit, zero, load = room[n], room[n + 1], room[n + 2]
    for i in range(n):
        zero[i] = 0.0
    set_joints(links, q, scratch)
    newton_euler(links, arm.gx, arm.gy, arm.gz, qd, zero, scratch, load)
    if method == COMPOSITE:
        inertia_matrix(links, scratch, room)
    else:
        inertia_by_columns(links, unit, zero, scratch, room)
    for i in range(n):
        qdd[i] = torque[i] - load[i] - friction_torque(links[i], qd[i])
    add_outside(arm, links, q, qd, wrench, use_wrench, scratch, frames, qdd, 1.0)
    return solve_symmetric(room, qdd)


@entry
def forward_dynamics(arm, links, q, qd, torque, wrench, method, scratch, frames, room, qdd):
    """Accelerations of one position under these torques; False where the inertia matrix is not positive."""
    return one_forward(arm[0], links, q, qd, torque, wrench, len(wrench) > 0, method, scratch, frames, room, qdd)


@entry
def forward_dynamics_many(arm, links, q, qd, torque, wrench, method, scratch, frames, room, qdd):
    good = True
    for k in range(len(q)):
        w = wrench[k] if len(wrench) > 0 else qd[k]
        good &= one_forward(
            arm[0], links, q[k], qd[k], torque[k], w, len(wrench) > 0, method, scratch, frames, room, qdd[k]
        )
    return good


@entry
def dynamics_parts(arm, links, q, qd, qdd, scratch, frames, room, parts):
    """[titan4] eq. 3-21 for many: inertial, Coriolis and centrifugal, gravity (with buoyancy), friction, and drag:
    (N, 5, n). `room` is (n + 3, n)."""
    n = len(links)
    zero = room[n + 1]
    for i in range(n):
        zero[i] = 0.0
    for k in range(len(q)):
        inertial, coriolis, gravity, friction, drag = parts[k, 0], parts[k, 1], parts[k, 2], parts[k, 3], parts[k, 4]
        set_joints(links, q[k], scratch)
        newton_euler(links, 0.0, 0.0, 0.0, zero, qdd[k], scratch, inertial)
        newton_euler(links, 0.0, 0.0, 0.0, qd[k], zero, scratch, coriolis)
        newton_euler(links, arm[0].gx, arm[0].gy, arm[0].gz, zero, zero, scratch, gravity)
        for i in range(n):
            friction[i] = friction_torque(links[i], qd[k, i])
            drag[i] = 0.0
        if arm[0].density != 0.0:
            chain_frames(links, scratch, frames)
            lift = room[n]
            for i in range(n):
                lift[i] = 0.0
            # Buoyancy alone, then everything: what is more is drag. In a current a link at rest has drag, too.
            ux, uy, uz = arm[0].ux, arm[0].uy, arm[0].uz
            arm[0].ux = arm[0].uy = arm[0].uz = 0.0
            add_water(arm[0], links, frames, zero, scratch, lift)
            arm[0].ux, arm[0].uy, arm[0].uz = ux, uy, uz
            add_water(arm[0], links, frames, qd[k], scratch, drag)
            for i in range(n):
                gravity[i] -= lift[i]
                drag[i] = lift[i] - drag[i]


@entry
def inertia_matrices(links, q, scratch, h):
    for k in range(len(q)):
        set_joints(links, q[k], scratch)
        inertia_matrix(links, scratch, h[k])


@entry
def coriolis_matrices(links, q, qd, scratch, room, c):
    n = len(links)
    zero = room[n + 1]
    for i in range(n):
        zero[i] = 0.0
    for k in range(len(q)):
        set_joints(links, q[k], scratch)
        coriolis_matrix(links, qd[k], zero, room[n], scratch, room[n + 2], c[k])


@entry
def energies(arm, links, q, qd, scratch, frames, room, energy):
    """Kinetic (with the rotors) and potential energy (with buoyancy) of many: (N, 2)."""
    n = len(links)
    for k in range(len(q)):
        set_joints(links, q[k], scratch)
        chain_frames(links, scratch, frames)
        inertia_matrix(links, scratch, room)
        kinetic, potential = 0.0, 0.0
        for i in range(n):
            for j in range(n):
                kinetic += 0.5 * qd[k, i] * room[i, j] * qd[k, j]
            potential += potential_energy(arm[0], links[i], frames[i])
        energy[k, 0], energy[k, 1] = kinetic, potential


@entry
def manipulabilities(arm, links, q, scratch, frames, jacobian, square, out):
    """Yoshikawa's √det(J Jᵀ) of many: how far the joints are from losing a direction of the tool. `square` is (6, 6).

    With fewer than six joints, √det(Jᵀ J): the volume of the motions that there are.
    """
    n = len(links)
    for k in range(len(q)):
        world_jacobian(arm[0], links, q[k], scratch, frames, jacobian)
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
        out[k] = product
