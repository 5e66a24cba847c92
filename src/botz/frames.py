"""Rotations, quaternions and vectors, as plain numbers for compiled code.

World: right-handed, z up. Body: x forward, y left, z up. `quat_wxyz` turns vectors of the body into those of the world.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt
from typing import Any

import numpy as np
from numba import njit
from numba.core.options import DefaultOptions

UNCOUNTED = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
"""Kernels allocate nothing, so Numba need not count who refers to their arrays: the counting, with atomic operations,
was a fifth of a step. The option is Numba's own affair and may go away; results are the same without it."""

compiled = njit(error_model="numpy", no_cfunc_wrapper=True, **UNCOUNTED)
"""For equations: called by compiled loops, which keep them as parts of themselves, and by tests.

No fast-math flag is set, not even `contract`. A function lives in several compiled copies, its own and those of its
callers, and which one runs depends on whether the code comes from the cache. Only strict arithmetic gives them the same
bits.
"""
inlined = njit(error_model="numpy", no_cfunc_wrapper=True, forceinline=True, **UNCOUNTED)
"""The same for small functions inside loops over lanes: a call that stays a call keeps a loop out of vector code."""


def record(**fields: Any) -> np.dtype:
    """A record type whose elements give their fields as attributes, in compiled code and in Python alike."""
    return np.dtype((np.record, np.dtype(list(fields.items()), align=True)))


def words(text: str) -> tuple[str, ...]:
    """Names of fields, written as text."""
    return tuple(text.split())


@inlined
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


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


@inlined
def compensated_sum(total, lost, term):  # -> total, lost
    """`total + term` with what rounding takes kept in `lost` for the next time (Kahan).

    A step of 100 ns moves a vehicle by 1e-7 m at 100 m from the origin: without this, every step would lose up to
    1e-7 of its own length, always to the same side.
    """
    term = term + lost
    new = total + term
    return new, term - (new - total)


def quaternion_from_attitude(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """quat_wxyz of a body turned by yaw about z, then by pitch about its y, then by roll about its x."""
    cr, sr = cos(0.5 * roll), sin(0.5 * roll)
    cp, sp = cos(0.5 * pitch), sin(0.5 * pitch)
    cy, sy = cos(0.5 * yaw), sin(0.5 * yaw)
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def attitude_from_quaternion(w: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Roll, pitch and yaw of `quaternion_from_attitude`."""
    sine = max(-1.0, min(1.0, 2.0 * (w * y - z * x)))
    pitch = atan2(sine, sqrt(max(0.0, 1.0 - sine * sine)))
    return (
        atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
        pitch,
        atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    )
