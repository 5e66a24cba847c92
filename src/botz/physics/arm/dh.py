"""Serial chains by Denavit and Hartenberg's parameters: the records of an arm, its frames and its Jacobian.

Frame i sits at the far end of link i; joint i turns (or slides) about z of frame i − 1. [titan4] eqs. 3-1 and 3-2, with
θ_i as the variable of a revolute joint (the text under eq. 3-1 names a_i). Arrays of frames are (n, 12): the axes x, y,
z and the origin of each, three numbers each, in the base's axes.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from botz.kernels import compiled, inlined, record, words
from botz.physics.polynomials import cos_sin
from botz.rotations import cross

REVOLUTE, PRISMATIC = 0, 1

LINK = record(
    **dict.fromkeys(words(
        "ca sa a d theta lower upper mass cx cy cz ixx iyy izz ixy ixz iyz rotor viscous coulomb smoothing "
        "volume bx by bz drag_x drag_y drag_z"
    ), np.float64),
    kind=np.int64,
)  # fmt: skip
"""A joint and its link: cos α, sin α, a, d and θ of its row; its range; mass, centre and inertia about it in frame i;
rotor and friction; displaced volume, its centre and drag areas."""

ARM = record(
    **dict.fromkeys(words(
        "gx gy gz density ux uy uz "
        "base_xx base_yx base_zx base_xy base_yy base_zy base_xz base_yz base_zz base_x base_y base_z "
        "tool_xx tool_yx tool_zx tool_xy tool_yy tool_zy tool_xz tool_yz tool_zz tool_x tool_y tool_z"
    ), np.float64),
)  # fmt: skip
"""Gravity and the water's velocity in the base's axes, its density; the base in the world and the tool in the last
frame: axes x, y, z (`base_yx` is the y of the x axis) and origin."""

SCRATCH = record(**dict.fromkeys(words("c s d fx fy fz nx ny nz"), np.float64))
"""Work on one link: cosine and sine of its joint angle, its offset d, and a force and moment on the way."""


@compiled
def set_joints(links, q, scratch):
    """Cosine and sine of each joint's angle, and its offset: what a position costs, once."""
    for i in range(len(links)):
        if links[i].kind == REVOLUTE:
            angle = links[i].theta + q[i]
            scratch[i].d = links[i].d
        else:
            angle = links[i].theta
            scratch[i].d = links[i].d + q[i]
        scratch[i].c, scratch[i].s = cos_sin(angle)


@compiled
def chain_frames(links, scratch, frames):
    """Eq. 3-2: T = A_1 A_2 … A_n, every frame on the way."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    px, py, pz = 0.0, 0.0, 0.0
    for i in range(len(links)):
        c, s, ca, sa, a, d = scratch[i].c, scratch[i].s, links[i].ca, links[i].sa, links[i].a, scratch[i].d
        ux, uy, uz = c * xx + s * yx, c * xy + s * yy, c * xz + s * yz
        wx, wy, wz = c * yx - s * xx, c * yy - s * xy, c * yz - s * xz
        px, py, pz = px + d * zx + a * ux, py + d * zy + a * uy, pz + d * zz + a * uz
        xx, xy, xz = ux, uy, uz
        yx, yy, yz = ca * wx + sa * zx, ca * wy + sa * zy, ca * wz + sa * zz
        zx, zy, zz = ca * zx - sa * wx, ca * zy - sa * wy, ca * zz - sa * wz
        f = frames[i]
        f[0], f[1], f[2], f[3], f[4], f[5] = xx, xy, xz, yx, yy, yz
        f[6], f[7], f[8], f[9], f[10], f[11] = zx, zy, zz, px, py, pz


@inlined
def joint_axis(frames, i):  # -> axis and a point of it: z and origin of the frame before
    if i == 0:
        return 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    f = frames[i - 1]
    return f[6], f[7], f[8], f[9], f[10], f[11]


@compiled
def chain_jacobian(links, frames, px, py, pz, jacobian):
    """Eq. 3-20: (v, ω) of the point p of the last link is J q̇; columns z × (p − o) and z, or z and 0."""
    for i in range(len(links)):
        zx, zy, zz, ox, oy, oz = joint_axis(frames, i)
        if links[i].kind == REVOLUTE:
            vx, vy, vz = cross(zx, zy, zz, px - ox, py - oy, pz - oz)
            jacobian[0, i], jacobian[1, i], jacobian[2, i] = vx, vy, vz
            jacobian[3, i], jacobian[4, i], jacobian[5, i] = zx, zy, zz
        else:
            jacobian[0, i], jacobian[1, i], jacobian[2, i] = zx, zy, zz
            jacobian[3, i], jacobian[4, i], jacobian[5, i] = 0.0, 0.0, 0.0


@compiled
def tool_point(arm, last):
    """The tool's point in the base's axes."""
    x, y, z = combined(
        last[0], last[1], last[2], last[3], last[4], last[5], last[6], last[7], last[8],
        arm.tool_x, arm.tool_y, arm.tool_z,
    )  # fmt: skip
    return last[9] + x, last[10] + y, last[11] + z


@compiled
def tool_frame(arm, last, tool):
    """The tool's axes and point in the base's axes, from those of the last frame; twelve numbers each."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = last[0], last[1], last[2], last[3], last[4], last[5], last[6], last[7], last[8]
    tool[0], tool[1], tool[2] = combined(xx, xy, xz, yx, yy, yz, zx, zy, zz, arm.tool_xx, arm.tool_yx, arm.tool_zx)
    tool[3], tool[4], tool[5] = combined(xx, xy, xz, yx, yy, yz, zx, zy, zz, arm.tool_xy, arm.tool_yy, arm.tool_zy)
    tool[6], tool[7], tool[8] = combined(xx, xy, xz, yx, yy, yz, zx, zy, zz, arm.tool_xz, arm.tool_yz, arm.tool_zz)
    tool[9], tool[10], tool[11] = tool_point(arm, last)


@inlined
def combined(xx, xy, xz, yx, yy, yz, zx, zy, zz, a, b, c):
    """a x + b y + c z of three axes."""
    return a * xx + b * yx + c * zx, a * xy + b * yy + c * zy, a * xz + b * yz + c * zz


@compiled
def flange_target(arm, pose, flange):
    """The last frame in the base's axes (12 numbers) that brings the tool to `pose` in the world (3, 4) or (4, 4).

    T_0n = T_WB⁻¹ T_WT T_nT⁻¹.
    """
    for k in range(4):
        x, y, z = pose[0, k], pose[1, k], pose[2, k]
        if k == 3:
            x, y, z = x - arm.base_x, y - arm.base_y, z - arm.base_z
        flange[3 * k] = arm.base_xx * x + arm.base_yx * y + arm.base_zx * z
        flange[3 * k + 1] = arm.base_xy * x + arm.base_yy * y + arm.base_zy * z
        flange[3 * k + 2] = arm.base_xz * x + arm.base_yz * y + arm.base_zz * z
    for r in range(3):
        # Rows of R Tᵀ, then p − R Tᵀ t.
        x, y, z = flange[r], flange[3 + r], flange[6 + r]
        flange[r] = x * arm.tool_xx + y * arm.tool_xy + z * arm.tool_xz
        flange[3 + r] = x * arm.tool_yx + y * arm.tool_yy + z * arm.tool_yz
        flange[6 + r] = x * arm.tool_zx + y * arm.tool_zy + z * arm.tool_zz
        flange[9 + r] -= flange[r] * arm.tool_x + flange[3 + r] * arm.tool_y + flange[6 + r] * arm.tool_z


@compiled
def to_world(arm, frame, pose):
    """A frame in the base's axes (12 numbers) as a pose in the world: the upper three rows of a (3, 4) or (4, 4)."""
    for k in range(4):
        x, y, z = frame[3 * k], frame[3 * k + 1], frame[3 * k + 2]
        pose[0, k] = arm.base_xx * x + arm.base_xy * y + arm.base_xz * z
        pose[1, k] = arm.base_yx * x + arm.base_yy * y + arm.base_yz * z
        pose[2, k] = arm.base_zx * x + arm.base_zy * y + arm.base_zz * z
    pose[0, 3] += arm.base_x
    pose[1, 3] += arm.base_y
    pose[2, 3] += arm.base_z


@compiled
def add_force(links, frames, last, point, force, moment, torque):
    """Joint torques of a force at a point of link `last` and a moment on it, base axes: τ += Jᵀ (F, M)."""
    (px, py, pz), (fx, fy, fz), (mx, my, mz) = point, force, moment
    for i in range(last + 1):
        zx, zy, zz, ox, oy, oz = joint_axis(frames, i)
        if links[i].kind == REVOLUTE:
            nx, ny, nz = cross(px - ox, py - oy, pz - oz, fx, fy, fz)
            torque[i] += zx * (nx + mx) + zy * (ny + my) + zz * (nz + mz)
        else:
            torque[i] += zx * fx + zy * fy + zz * fz


@compiled
def add_water(arm, links, frames, qd, scratch, torque):
    """Buoyancy −ρ V g and, component by component in the link's axes, drag −½ ρ C_d A |v| v of every link, as joint
    torques; v is the velocity of the link's middle against the water. Outwards each link's force and its moment about
    the base, inwards what each joint has to bear of them."""
    vx = vy = vz = wx = wy = wz = 0.0  # of the link before, at its frame's origin
    ox = oy = oz = 0.0
    half = -0.5 * arm.density
    for i in range(len(links)):
        link, f, room = links[i], frames[i], scratch[i]
        zx, zy, zz, _, _, _ = joint_axis(frames, i)
        if link.kind == REVOLUTE:
            wx, wy, wz = wx + qd[i] * zx, wy + qd[i] * zy, wz + qd[i] * zz
        else:
            vx, vy, vz = vx + qd[i] * zx, vy + qd[i] * zy, vz + qd[i] * zz
        rx, ry, rz = cross(wx, wy, wz, f[9] - ox, f[10] - oy, f[11] - oz)
        vx, vy, vz, ox, oy, oz = vx + rx, vy + ry, vz + rz, f[9], f[10], f[11]
        bx, by, bz = combined(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], link.bx, link.by, link.bz)
        rx, ry, rz = cross(wx, wy, wz, bx, by, bz)
        rx, ry, rz = vx + rx - arm.ux, vy + ry - arm.uy, vz + rz - arm.uz
        along_x = rx * f[0] + ry * f[1] + rz * f[2]
        along_y = rx * f[3] + ry * f[4] + rz * f[5]
        along_z = rx * f[6] + ry * f[7] + rz * f[8]
        fx, fy, fz = combined(
            f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], half * link.drag_x * abs(along_x) * along_x,
            half * link.drag_y * abs(along_y) * along_y, half * link.drag_z * abs(along_z) * along_z,
        )  # fmt: skip
        lift = -arm.density * link.volume
        fx, fy, fz = fx + lift * arm.gx, fy + lift * arm.gy, fz + lift * arm.gz
        room.fx, room.fy, room.fz = fx, fy, fz
        room.nx, room.ny, room.nz = cross(ox + bx, oy + by, oz + bz, fx, fy, fz)
    fx = fy = fz = nx = ny = nz = 0.0
    for k in range(len(links)):
        i = len(links) - 1 - k
        room = scratch[i]
        fx, fy, fz = fx + room.fx, fy + room.fy, fz + room.fz
        nx, ny, nz = nx + room.nx, ny + room.ny, nz + room.nz
        zx, zy, zz, ox, oy, oz = joint_axis(frames, i)
        if links[i].kind == REVOLUTE:
            tx, ty, tz = cross(ox, oy, oz, fx, fy, fz)
            torque[i] += zx * (nx - tx) + zy * (ny - ty) + zz * (nz - tz)
        else:
            torque[i] += zx * fx + zy * fy + zz * fz


@inlined
def friction_torque(link, speed):
    """Viscous and Coulomb friction, the sign smoothed as q̇/√(q̇² + w²)."""
    return link.viscous * speed + link.coulomb * speed / sqrt(speed * speed + link.smoothing * link.smoothing)


@compiled
def potential_energy(arm, link, f):
    """Of a link at frame f, with the water that it displaces: −(m c − ρ V b)·g [J]."""
    x = link.mass * link.cx - arm.density * link.volume * link.bx
    y = link.mass * link.cy - arm.density * link.volume * link.by
    z = link.mass * link.cz - arm.density * link.volume * link.bz
    mass = link.mass - arm.density * link.volume
    rx, ry, rz = combined(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], x, y, z)
    return -(arm.gx * (mass * f[9] + rx) + arm.gy * (mass * f[10] + ry) + arm.gz * (mass * f[11] + rz))
