"""Forward dynamics of a serial chain by Walker and Orin's methods 1 and 3, and the matrices of [titan4] eq. 3-22."""

from __future__ import annotations

from botz.kernels import compiled
from botz.physics.arm.dh import REVOLUTE
from botz.physics.arm.newton_euler import newton_euler


@compiled
def inertia_matrix(links, scratch, h):
    """H by composite rigid bodies (method 3): the links outside a joint, taken as one body that the joint accelerates
    by 1, load each joint inside it. `scratch` holds the joints' cosines and sines.

    The composite body is carried inwards as mass m, first moment (x, y, z) and inertia about the frame's origin.
    """
    n = len(links)
    m = x = y = z = xx = yy = zz = xy = xz = yz = 0.0
    for k in range(n):
        j = n - 1 - k
        link, room = links[j], scratch[j]
        c, s, ca, sa = room.c, room.s, link.ca, link.sa
        # The link itself, moved from its centre to the origin of its frame: − m [c]×².
        mx, my, mz = link.mass * link.cx, link.mass * link.cy, link.mass * link.cz
        xx += link.ixx + my * link.cy + mz * link.cz
        yy += link.iyy + mx * link.cx + mz * link.cz
        zz += link.izz + mx * link.cx + my * link.cy
        xy += link.ixy - mx * link.cy
        xz += link.ixz - mx * link.cz
        yz += link.iyz - my * link.cz
        m, x, y, z = m + link.mass, x + mx, y + my, z + mz
        # To the origin of the frame before, at −p of this one.
        px, py, pz = link.a, room.d * sa, room.d * ca
        hx, hy, hz = x + m * px, y + m * py, z + m * pz
        xx += py * (y + hy) + pz * (z + hz)
        yy += px * (x + hx) + pz * (z + hz)
        zz += px * (x + hx) + py * (y + hy)
        xy -= px * y + hx * py
        xz -= px * z + hx * pz
        yz -= py * z + hy * pz
        # Into its axes: about x by α, then about z by θ.
        hy, hz = ca * hy - sa * hz, sa * hy + ca * hz
        c2, s2, cs = ca * ca, sa * sa, ca * sa
        yy, zz, yz = (
            c2 * yy - 2.0 * cs * yz + s2 * zz,
            s2 * yy + 2.0 * cs * yz + c2 * zz,
            cs * (yy - zz) + (c2 - s2) * yz,
        )
        xy, xz = ca * xy - sa * xz, sa * xy + ca * xz
        x, y, z = c * hx - s * hy, s * hx + c * hy, hz
        c2, s2, cs = c * c, s * s, c * s
        xx, yy, xy = (
            c2 * xx - 2.0 * cs * xy + s2 * yy,
            s2 * xx + 2.0 * cs * xy + c2 * yy,
            cs * (xx - yy) + (c2 - s2) * xy,
        )
        xz, yz = c * xz - s * yz, s * xz + c * yz
        # Accelerated by 1 about (or along) z, it needs this force and moment about the origin.
        if link.kind == REVOLUTE:
            fx, fy, fz, nx, ny, nz = -y, x, 0.0, xz, yz, zz
            h[j, j] = zz + link.rotor
        else:
            fx, fy, fz, nx, ny, nz = 0.0, 0.0, m, y, -x, 0.0
            h[j, j] = m + link.rotor
        for back in range(j):
            i = j - 1 - back
            inner, its = links[i], scratch[i]
            c, s, ca, sa = its.c, its.s, inner.ca, inner.sa
            px, py, pz = inner.a, its.d * sa, its.d * ca
            nx, ny, nz = nx + py * fz - pz * fy, ny + pz * fx - px * fz, nz + px * fy - py * fx
            side = ca * fy - sa * fz
            fx, fy, fz = c * fx - s * side, s * fx + c * side, sa * fy + ca * fz
            side = ca * ny - sa * nz
            nx, ny, nz = c * nx - s * side, s * nx + c * side, sa * ny + ca * nz
            load = nz if inner.kind == REVOLUTE else fz
            h[i, j], h[j, i] = load, load


@compiled
def inertia_by_columns(links, unit, zero, scratch, h):
    """H by Newton and Euler (method 1): column j is the torque of a unit acceleration of joint j, at rest without
    gravity. `unit` and `zero` are n numbers of room each; `zero` holds zeros."""
    n = len(links)
    for j in range(n):
        for i in range(n):
            unit[i] = 1.0 if i == j else 0.0
        newton_euler(links, 0.0, 0.0, 0.0, zero, unit, scratch, h[j])


@compiled
def solve_symmetric(h, b):
    """b becomes H⁻¹ b by H = Lᵀ D L, from the last joint inwards; h is used up. False where H is not positive.

    One division a joint and no square root, which are most of Cholesky's time at this size.
    """
    n = len(b)
    for back in range(n):
        k = n - 1 - back
        d = h[k, k]
        if not d > 0.0:
            return False
        per_d = 1.0 / d
        h[k, k] = per_d
        for i in range(k):
            share = h[k, i] * per_d
            for j in range(i + 1):
                h[i, j] -= share * h[k, j]
            b[i] -= share * b[k]
            h[i, k] = share
    for k in range(n):
        value = b[k] * h[k, k]
        for j in range(k):
            value -= h[j, k] * b[j]
        b[k] = value
    return True


@compiled
def coriolis_matrix(links, qd, zero, mixed, scratch, load, c):
    """C of eq. 3-22 with Christoffel's symbols, for which Ḣ − 2C is skew-symmetric.

    The torque c(q̇) of the speeds is a quadratic form, c_i = Σ Γ_ijk q̇_j q̇_k with Γ symmetric in j and k. Its polar form
    is unique: column j is ½ [c(q̇ + e_j) − c(q̇) − c(e_j)], each by Newton and Euler without gravity.
    """
    n = len(links)
    newton_euler(links, 0.0, 0.0, 0.0, qd, zero, scratch, load)
    for j in range(n):
        for i in range(n):
            c[i, j] = -0.5 * load[i]
    for j in range(n):
        for i in range(n):
            mixed[i] = qd[i] + (1.0 if i == j else 0.0)
        newton_euler(links, 0.0, 0.0, 0.0, mixed, zero, scratch, load)
        for i in range(n):
            c[i, j] += 0.5 * load[i]
            mixed[i] = 1.0 if i == j else 0.0
        newton_euler(links, 0.0, 0.0, 0.0, mixed, zero, scratch, load)
        for i in range(n):
            c[i, j] -= 0.5 * load[i]
