"""Inverse dynamics of a serial chain: Luh, Walker and Paul's recursive Newton-Euler equations in the links' own axes.

[titan4] section 3.5. Friction, water and forces at the tool are joint torques of their own and are added outside.
"""

from __future__ import annotations

from botz.kernels import compiled
from botz.physics.arm.dh import REVOLUTE
from botz.rotations import cross


@compiled
def newton_euler(
    # parameters
    links, gx, gy, gz,
    # state in; `scratch` holds the joints' cosines and sines (dh.set_joints)
    qd, qdd, scratch,
    # out
    torque,
):  # fmt: skip
    """τ = H q̈ + C q̇ + G, with the rotors' inertia, of a base at rest in gravity g (base axes).

    Outwards: speeds and accelerations of each frame; the base accelerates against gravity. Inwards: what each joint
    has to carry. p is the way from the frame before to this one, in the axes of this one: (a, d sin α, d cos α).
    """
    wx = wy = wz = ax = ay = az = 0.0
    vx, vy, vz = -gx, -gy, -gz
    for i in range(len(links)):
        link, room = links[i], scratch[i]
        c, s, ca, sa = room.c, room.s, link.ca, link.sa
        px, py, pz = link.a, room.d * sa, room.d * ca
        speed, acceleration = qd[i], qdd[i]
        turning = link.kind == REVOLUTE
        if turning:
            ax, ay, az = ax + wy * speed, ay - wx * speed, az + acceleration
            wz = wz + speed
        # Into this frame's axes: Rᵀ, with R = R_z(θ) R_x(α).
        side = c * wy - s * wx
        wx, wy, wz = c * wx + s * wy, ca * side + sa * wz, ca * wz - sa * side
        side = c * ay - s * ax
        ax, ay, az = c * ax + s * ay, ca * side + sa * az, ca * az - sa * side
        side = c * vy - s * vx
        vx, vy, vz = c * vx + s * vy, ca * side + sa * vz, ca * vz - sa * side
        if not turning:
            # Along the joint's axis (0, sin α, cos α): Coriolis' acceleration and its own.
            twice = 2.0 * speed
            vx, vy, vz = vx + twice * (wy * ca - wz * sa), vy - twice * wx * ca, vz + twice * wx * sa
            vy, vz = vy + acceleration * sa, vz + acceleration * ca
        # v̇ of a point r of the link: v̇ + ω̇ × r + ω × (ω × r).
        tx, ty, tz = cross(wx, wy, wz, px, py, pz)
        bx, by, bz = cross(wx, wy, wz, tx, ty, tz)
        tx, ty, tz = cross(ax, ay, az, px, py, pz)
        vx, vy, vz = vx + tx + bx, vy + ty + by, vz + tz + bz
        tx, ty, tz = cross(wx, wy, wz, link.cx, link.cy, link.cz)
        bx, by, bz = cross(wx, wy, wz, tx, ty, tz)
        tx, ty, tz = cross(ax, ay, az, link.cx, link.cy, link.cz)
        fx, fy, fz = link.mass * (vx + tx + bx), link.mass * (vy + ty + by), link.mass * (vz + tz + bz)
        lx = link.ixx * wx + link.ixy * wy + link.ixz * wz
        ly = link.ixy * wx + link.iyy * wy + link.iyz * wz
        lz = link.ixz * wx + link.iyz * wy + link.izz * wz
        gyro_x, gyro_y, gyro_z = cross(wx, wy, wz, lx, ly, lz)
        mx, my, mz = cross(link.cx, link.cy, link.cz, fx, fy, fz)
        room.fx, room.fy, room.fz = fx, fy, fz
        room.nx = mx + gyro_x + link.ixx * ax + link.ixy * ay + link.ixz * az
        room.ny = my + gyro_y + link.ixy * ax + link.iyy * ay + link.iyz * az
        room.nz = mz + gyro_z + link.ixz * ax + link.iyz * ay + link.izz * az
    fx = fy = fz = nx = ny = nz = 0.0
    for k in range(len(links)):
        i = len(links) - 1 - k
        link, room = links[i], scratch[i]
        c, s, ca, sa = room.c, room.s, link.ca, link.sa
        fx, fy, fz = fx + room.fx, fy + room.fy, fz + room.fz
        tx, ty, tz = cross(link.a, room.d * sa, room.d * ca, fx, fy, fz)
        nx, ny, nz = nx + room.nx + tx, ny + room.ny + ty, nz + room.nz + tz
        # Into the axes of the frame before, whose z is the joint's axis.
        side = ca * fy - sa * fz
        fx, fy, fz = c * fx - s * side, s * fx + c * side, sa * fy + ca * fz
        side = ca * ny - sa * nz
        nx, ny, nz = c * nx - s * side, s * nx + c * side, sa * ny + ca * nz
        torque[i] = (nz if link.kind == REVOLUTE else fz) + link.rotor * qdd[i]
