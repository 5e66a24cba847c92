"""Forward dynamics of a serial chain with its links side by side: one record holds the same quantity of eight links in
one vector.

What newton_euler.py and composite_body.py find link by link in the links' own axes, here in the base's axes. There the
links depend on each other only by sums along the chain; all else are loops over the lanes without branches, of which
the compiler makes vector code. That takes one record: of two it cannot know that they do not overlap.
"""

from __future__ import annotations

import numpy as np

from botz.kernels import compiled, record, words
from botz.physics.arm.dh import PRISMATIC
from botz.rotations import cross, dot

LANES = 8
"""The longest chain that fits."""

BLOCK = record(
    **dict.fromkeys(words(
        "mass lx ly lz ixx iyy izz ixy ixz iyz "
        "jx jy jz xx xy xz yx yy yz zx zy zz rx ry rz wx wy wz ax ay az vx vy vz "
        "cx cy cz hxx hyy hzz hxy hxz hyz fx fy fz nx ny nz"
    ), (np.float64, LANES)),
)  # fmt: skip
"""Of each link mass, centre and inertia about it, in its own axes. Then in the base's axes: the joint's axis, the
link's axes, the displacement from the frame before, angular velocity and acceleration, acceleration of its frame; from
its origin the centre, about its origin the inertia; the force that moves it, and that force's moment about its
origin."""


@compiled
def fill_block(links, block):
    """Put the links of a chain (LINK of dh.py) into their lanes; what the others hold is never looked at."""
    for i in range(len(links)):
        link = links[i]
        block.mass[i], block.lx[i], block.ly[i], block.lz[i] = link.mass, link.cx, link.cy, link.cz
        block.ixx[i], block.iyy[i], block.izz[i] = link.ixx, link.iyy, link.izz
        block.ixy[i], block.ixz[i], block.iyz[i] = link.ixy, link.ixz, link.iyz


@compiled
def turn_links(links, frames, qd, block):
    """Outwards: axes and ways, ω and ω̇ of each link at q̈ = 0, and what sliding adds to its acceleration."""
    wx = wy = wz = ax = ay = az = 0.0
    zx, zy, zz, ox, oy, oz = 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    for i in range(len(links)):
        sx, sy, sz = qd[i] * zx, qd[i] * zy, qd[i] * zz
        tx, ty, tz = cross(wx, wy, wz, sx, sy, sz)
        block.vx[i] = block.vy[i] = block.vz[i] = 0.0
        if links[i].kind == PRISMATIC:
            block.vx[i], block.vy[i], block.vz[i] = 2.0 * tx, 2.0 * ty, 2.0 * tz
        else:
            ax, ay, az = ax + tx, ay + ty, az + tz
            wx, wy, wz = wx + sx, wy + sy, wz + sz
        f = frames[i]
        block.jx[i], block.jy[i], block.jz[i] = zx, zy, zz
        block.wx[i], block.wy[i], block.wz[i], block.ax[i], block.ay[i], block.az[i] = wx, wy, wz, ax, ay, az
        block.xx[i], block.xy[i], block.xz[i] = f[0], f[1], f[2]
        block.yx[i], block.yy[i], block.yz[i] = f[3], f[4], f[5]
        block.zx[i], block.zy[i], block.zz[i] = f[6], f[7], f[8]
        block.rx[i], block.ry[i], block.rz[i] = f[9] - ox, f[10] - oy, f[11] - oz
        zx, zy, zz, ox, oy, oz = f[6], f[7], f[8], f[9], f[10], f[11]


@compiled
def move_links(block):
    """Of each link: centre and inertia in the base's axes, the steps of the acceleration from frame to frame and to the
    centre (in f), and the moment that turns it."""
    for i in range(LANES):
        xx, xy, xz = block.xx[i], block.xy[i], block.xz[i]
        yx, yy, yz = block.yx[i], block.yy[i], block.yz[i]
        zx, zy, zz = block.zx[i], block.zy[i], block.zz[i]
        wx, wy, wz, ax, ay, az = block.wx[i], block.wy[i], block.wz[i], block.ax[i], block.ay[i], block.az[i]
        # ω̇ × r + ω × (ω × r) as a matrix.
        wxx, wyy, wzz, wxy, wxz, wyz = wx * wx, wy * wy, wz * wz, wx * wy, wx * wz, wy * wz
        bxx, byy, bzz = -(wyy + wzz), -(wxx + wzz), -(wxx + wyy)
        bxy, bxz, byz, byx, bzx, bzy = wxy - az, wxz + ay, wyz - ax, wxy + az, wxz - ay, wyz + ax
        rx, ry, rz = block.rx[i], block.ry[i], block.rz[i]
        block.vx[i] += bxx * rx + bxy * ry + bxz * rz
        block.vy[i] += byx * rx + byy * ry + byz * rz
        block.vz[i] += bzx * rx + bzy * ry + bzz * rz
        lx, ly, lz = block.lx[i], block.ly[i], block.lz[i]
        cx, cy, cz = lx * xx + ly * yx + lz * zx, lx * xy + ly * yy + lz * zy, lx * xz + ly * yz + lz * zz
        block.cx[i], block.cy[i], block.cz[i] = cx, cy, cz
        block.fx[i] = bxx * cx + bxy * cy + bxz * cz
        block.fy[i] = byx * cx + byy * cy + byz * cz
        block.fz[i] = bzx * cx + bzy * cy + bzz * cz
        # R I Rᵀ.
        ixx, iyy, izz, ixy, ixz, iyz = (
            block.ixx[i], block.iyy[i], block.izz[i], block.ixy[i], block.ixz[i], block.iyz[i]
        )  # fmt: skip
        px, py, pz = xx * ixx + yx * ixy + zx * ixz, xx * ixy + yx * iyy + zx * iyz, xx * ixz + yx * iyz + zx * izz
        qx, qy, qz = xy * ixx + yy * ixy + zy * ixz, xy * ixy + yy * iyy + zy * iyz, xy * ixz + yy * iyz + zy * izz
        sx, sy, sz = xz * ixx + yz * ixy + zz * ixz, xz * ixy + yz * iyy + zz * iyz, xz * ixz + yz * iyz + zz * izz
        hxx, hyy, hzz = px * xx + py * yx + pz * zx, qx * xy + qy * yy + qz * zy, sx * xz + sy * yz + sz * zz
        hxy, hxz, hyz = px * xy + py * yy + pz * zy, px * xz + py * yz + pz * zz, qx * xz + qy * yz + qz * zz
        gx, gy, gz = hxx * wx + hxy * wy + hxz * wz, hxy * wx + hyy * wy + hyz * wz, hxz * wx + hyz * wy + hzz * wz
        tx, ty, tz = cross(wx, wy, wz, gx, gy, gz)
        block.nx[i] = tx + hxx * ax + hxy * ay + hxz * az
        block.ny[i] = ty + hxy * ax + hyy * ay + hyz * az
        block.nz[i] = tz + hxz * ax + hyz * ay + hzz * az
        mx, my, mz = block.mass[i] * cx, block.mass[i] * cy, block.mass[i] * cz
        # About the frame's origin: − m [c]×².
        block.hxx[i] = hxx + my * cy + mz * cz
        block.hyy[i] = hyy + mx * cx + mz * cz
        block.hzz[i] = hzz + mx * cx + my * cy
        block.hxy[i], block.hxz[i], block.hyz[i] = hxy - mx * cy, hxz - mx * cz, hyz - my * cz


@compiled
def load_links(block):
    """Forces from the accelerations of the frames, and their moments about the frames' origins."""
    for i in range(LANES):
        m, cx, cy, cz = block.mass[i], block.cx[i], block.cy[i], block.cz[i]
        fx, fy, fz = m * (block.vx[i] + block.fx[i]), m * (block.vy[i] + block.fy[i]), m * (block.vz[i] + block.fz[i])
        tx, ty, tz = cross(cx, cy, cz, fx, fy, fz)
        block.fx[i], block.fy[i], block.fz[i] = fx, fy, fz
        block.nx[i], block.ny[i], block.nz[i] = block.nx[i] + tx, block.ny[i] + ty, block.nz[i] + tz


@compiled
def bias_and_inertia(
    # parameters
    links, gx, gy, gz,
    # state in
    frames, qd,
    # work; `fill_block` has put the links into it
    block,
    # out: C q̇ + G, and the lower half of H
    torque, h,
):  # fmt: skip
    """Newton and Euler's torques at q̈ = 0 and the matrix of composite bodies, for at most eight links."""
    n = len(links)
    turn_links(links, frames, qd, block)
    move_links(block)
    vx, vy, vz = -gx, -gy, -gz
    for i in range(n):
        vx, vy, vz = vx + block.vx[i], vy + block.vy[i], vz + block.vz[i]
        block.vx[i], block.vy[i], block.vz[i] = vx, vy, vz
    load_links(block)
    # Inwards: all that is outside a joint, its force and moment and itself as one body, about the frame before.
    fx = fy = fz = nx = ny = nz = 0.0
    m = x = y = z = xx = yy = zz = xy = xz = yz = 0.0
    for k in range(n):
        j = n - 1 - k
        rx, ry, rz = block.rx[j], block.ry[j], block.rz[j]
        ax, ay, az = block.jx[j], block.jy[j], block.jz[j]
        fx, fy, fz = fx + block.fx[j], fy + block.fy[j], fz + block.fz[j]
        tx, ty, tz = cross(rx, ry, rz, fx, fy, fz)
        nx, ny, nz = nx + block.nx[j] + tx, ny + block.ny[j] + ty, nz + block.nz[j] + tz
        own = block.mass[j]
        m, x, y, z = m + own, x + own * block.cx[j], y + own * block.cy[j], z + own * block.cz[j]
        hx, hy, hz = x + m * rx, y + m * ry, z + m * rz
        xx += block.hxx[j] + ry * (y + hy) + rz * (z + hz)
        yy += block.hyy[j] + rx * (x + hx) + rz * (z + hz)
        zz += block.hzz[j] + rx * (x + hx) + ry * (y + hy)
        xy += block.hxy[j] - rx * y - hx * ry
        xz += block.hxz[j] - rx * z - hx * rz
        yz += block.hyz[j] - ry * z - hy * rz
        x, y, z = hx, hy, hz
        # Accelerated by 1 about (or along) the joint's axis, it needs this force, and this moment about the joint.
        if links[j].kind == PRISMATIC:
            torque[j] = dot(ax, ay, az, fx, fy, fz)
            h[j, j] = m + links[j].rotor
            px, py, pz = m * ax, m * ay, m * az
            qx, qy, qz = cross(x, y, z, ax, ay, az)
        else:
            torque[j] = dot(ax, ay, az, nx, ny, nz)
            px, py, pz = cross(ax, ay, az, x, y, z)
            qx, qy, qz = xx * ax + xy * ay + xz * az, xy * ax + yy * ay + yz * az, xz * ax + yz * ay + zz * az
            h[j, j] = dot(ax, ay, az, qx, qy, qz) + links[j].rotor
        for back in range(j):
            i = j - 1 - back
            tx, ty, tz = cross(block.rx[i], block.ry[i], block.rz[i], px, py, pz)
            qx, qy, qz = qx + tx, qy + ty, qz + tz
            ax, ay, az = block.jx[i], block.jy[i], block.jz[i]
            if links[i].kind == PRISMATIC:
                h[j, i] = dot(ax, ay, az, px, py, pz)
            else:
                h[j, i] = dot(ax, ay, az, qx, qy, qz)
