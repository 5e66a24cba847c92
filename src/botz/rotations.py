"""Rotations, quaternions and vectors, as plain numbers for compiled code; transforms.py has them as matrices.

World: right-handed, z up. Body: x forward, y left, z up. `quat_wxyz` turns vectors of the body into those of the world.
"""

from __future__ import annotations

from math import sqrt

from botz.kernels import compiled, inlined


@inlined
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inlined
def vector(v):  # -> its three numbers
    return v[0], v[1], v[2]


@inlined
def dot(ax, ay, az, bx, by, bz):
    return ax * bx + ay * by + az * bz


@compiled
def rotation_of(w, x, y, z):  # -> the body's axes n, t, b in the world, nine numbers
    """Columns of the rotation matrix of a unit quaternion."""
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y),
        2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x),
        2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@compiled
def quaternion_of_axes(xx, xy, xz, yx, yy, yz, zx, zy, zz):  # -> quat_wxyz, w ≥ 0
    """The unit quaternion of a body whose axes are x, y, z: the inverse of `rotation_of`. The largest of its four
    numbers comes from a square root, the others by division by it, so that nothing is lost near half turns."""
    trace = xx + yy + zz
    if trace >= max(xx, max(yy, zz)):
        w = 0.5 * sqrt(max(0.0, 1.0 + trace))
        k = 0.25 / w
        return w, k * (yz - zy), k * (zx - xz), k * (xy - yx)
    if xx >= yy and xx >= zz:
        x = 0.5 * sqrt(max(0.0, 1.0 + xx - yy - zz))
        k = 0.25 / x
        w, y, z = k * (yz - zy), k * (xy + yx), k * (zx + xz)
    elif yy >= zz:
        y = 0.5 * sqrt(max(0.0, 1.0 - xx + yy - zz))
        k = 0.25 / y
        w, x, z = k * (zx - xz), k * (xy + yx), k * (yz + zy)
    else:
        z = 0.5 * sqrt(max(0.0, 1.0 - xx - yy + zz))
        k = 0.25 / z
        w, x, y = k * (xy - yx), k * (zx + xz), k * (yz + zy)
    if w < 0.0:
        return -w, -x, -y, -z
    return w, x, y, z


@compiled
def quaternion_rate(w, x, y, z, p, q, r):  # -> derivative, four numbers
    """q̇ = ½ q ⊗ (0, Ω), with the angular velocity (p, q, r) in the body's axes."""
    return (
        -0.5 * (x * p + y * q + z * r),
        0.5 * (w * p + y * r - z * q),
        0.5 * (w * q + z * p - x * r),
        0.5 * (w * r + x * q - y * p),
    )
