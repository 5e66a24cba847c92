"""Where two boxes meet in engine `arm`: one direction for the pair, and the points of the patch between two faces."""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from botz.kernels import UNCOUNTED, compiled
from botz.physics.arm.dh import combined
from botz.physics.contact.penalty import penalty_force
from botz.rotations import cross, dot, rotation_of

PATCH = 64
"""Points at which two boxes can touch: pairs of the four edges of one face and the four sides of the other."""

FLATTER = 0.95
"""A direction of the second box is taken only where the boxes overlap less along it by this factor, so that two that
are the same to rounding do not take turns."""


class Body(NamedTuple):
    """One box: its parameters, where it is, and the force and moment on it."""

    box: np.record
    pose: np.ndarray
    axes: np.ndarray
    load: np.ndarray


@compiled
def turn_boxes(poses, axes):
    """Axes of boxes from their quaternions."""
    for b in range(len(poses)):
        p, a = poses[b], axes[b]
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8] = rotation_of(p[3], p[4], p[5], p[6])


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def box_axes(poses, axes):
    turn_boxes(poses, axes)


@compiled
def part_of(axes, k):  # -> axis k of a box
    return axes[3 * k], axes[3 * k + 1], axes[3 * k + 2]


@compiled
def half_of(box, k):
    return box.hx if k == 0 else (box.hy if k == 1 else box.hz)


@compiled
def stretch(box, axes, nx, ny, nz):
    """How far a box reaches from its middle along a direction."""
    total = 0.0
    for k in range(3):
        x, y, z = part_of(axes, k)
        total += half_of(box, k) * abs(dot(x, y, z, nx, ny, nz))
    return total


@compiled
def face_between(one, other, dx, dy, dz):  # -> overlap, whose face (0, 1), its axis, its sign
    """The face along which the boxes overlap least; overlap ≤ 0: they are apart. d is from the middle of `one` to that
    of `other`. Faces only: where edges cross each other in the air, the boxes touch a little early."""
    least, best, whose, axis, sign = inf, inf, 0, 0, 1.0
    for body in range(2):
        for k in range(3):
            nx, ny, nz = part_of(one.axes if body == 0 else other.axes, k)
            along = dot(nx, ny, nz, dx, dy, dz)
            reach = stretch(one.box, one.axes, nx, ny, nz) + stretch(other.box, other.axes, nx, ny, nz)
            overlap = reach - abs(along)
            if overlap <= 0.0:
                return overlap, 0, 0, 1.0
            if overlap < (best if body == 0 else FLATTER * best):
                least = best = overlap
                whose, axis = body, k
                sign = 1.0 if (along > 0.0) == (body == 0) else -1.0
    return least, whose, axis, sign


@compiled
def local_of(axes, pose, x, y, z):
    """A point of the world in a box's axes."""
    dx, dy, dz = x - pose[0], y - pose[1], z - pose[2]
    return (
        dot(axes[0], axes[1], axes[2], dx, dy, dz),
        dot(axes[3], axes[4], axes[5], dx, dy, dz),
        dot(axes[6], axes[7], axes[8], dx, dy, dz),
    )


@compiled
def chosen_of(k, x, y, z):
    return x if k == 0 else (y if k == 1 else z)


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def overlap_of(boxes, poses, axes, one, other):
    """How far two boxes are inside each other [m]; 0 or less: apart."""
    dx, dy, dz = poses[other, 0] - poses[one, 0], poses[other, 1] - poses[one, 1], poses[other, 2] - poses[one, 2]
    first = Body(boxes[one], poses[one], axes[one], poses[one])
    second = Body(boxes[other], poses[other], axes[other], poses[other])
    overlap, _, _, _ = face_between(first, second, dx, dy, dz)
    return overlap


@compiled
def corner(body, k):  # -> corner k in the world
    box, pose, axes = body.box, body.pose, body.axes
    x = box.hx if k & 1 else -box.hx
    y = box.hy if k & 2 else -box.hy
    z = box.hz if k & 4 else -box.hz
    rx, ry, rz = combined(axes[0], axes[1], axes[2], axes[3], axes[4], axes[5], axes[6], axes[7], axes[8], x, y, z)
    return pose[0] + rx, pose[1] + ry, pose[2] + rz


@compiled
def opposite_face(axes, nx, ny, nz):  # -> axis and sign of the face that looks most against n
    axis, sign, least = 0, 1.0, inf
    for k in range(3):
        x, y, z = part_of(axes, k)
        along = dot(x, y, z, nx, ny, nz)
        if -abs(along) < least:
            least, axis, sign = -abs(along), k, (-1.0 if along > 0.0 else 1.0)
    return axis, sign


@compiled
def face_corner(body, axis, sign, number):  # -> corner of a face in the world
    box, pose, axes = body.box, body.pose, body.axes
    u, v = (axis + 1) % 3, (axis + 2) % 3
    along_u = half_of(box, u) if number == 1 or number == 2 else -half_of(box, u)
    along_v = half_of(box, v) if number >= 2 else -half_of(box, v)
    along = sign * half_of(box, axis)
    px, py, pz = part_of(axes, axis)
    ux, uy, uz = part_of(axes, u)
    vx, vy, vz = part_of(axes, v)
    rx, ry, rz = combined(px, py, pz, ux, uy, uz, vx, vy, vz, along, along_u, along_v)
    return pose[0] + rx, pose[1] + ry, pose[2] + rz


@compiled
def velocity_at(body, x, y, z):
    if body.box.mass == 0.0:
        return 0.0, 0.0, 0.0
    pose, axes = body.pose, body.axes
    wx, wy, wz = combined(
        axes[0], axes[1], axes[2], axes[3], axes[4], axes[5], axes[6], axes[7], axes[8], pose[10], pose[11], pose[12]
    )
    tx, ty, tz = cross(wx, wy, wz, x - pose[0], y - pose[1], z - pose[2])
    return pose[7] + tx, pose[8] + ty, pose[9] + tz


@compiled
def load_at(body, x, y, z, fx, fy, fz):
    load, pose = body.load, body.pose
    tx, ty, tz = cross(x - pose[0], y - pose[1], z - pose[2], fx, fy, fz)
    load[0], load[1], load[2] = load[0] + fx, load[1] + fy, load[2] + fz
    load[3], load[4], load[5] = load[3] + tx, load[4] + ty, load[5] + tz


@compiled
def forget(bristles, slot, count):
    """Friction of points that do not touch: they stick anew when they touch again."""
    for k in range(slot, slot + count):
        bristles[k, 0] = bristles[k, 1] = bristles[k, 2] = 0.0


@compiled
def cut(points, count, rows, axis, limit, sign, label):  # -> count
    """A polygon cut at one side of a face (Sutherland and Hodgman): what is beyond sign·x = limit goes. Rows are u, v,
    w and the label of the edge that begins there; a new edge along the side has the side's label."""
    kept = 0
    for k in range(count):
        here, there = points[k], points[(k + 1) % count]
        before, after = sign * here[axis] - limit, sign * there[axis] - limit
        if before <= 0.0:
            for m in range(4):
                rows[kept, m] = here[m]
            kept += 1
        if (before <= 0.0) != (after <= 0.0):
            fraction = before / (before - after)
            for m in range(3):
                rows[kept, m] = here[m] + fraction * (there[m] - here[m])
            rows[kept, 3] = label if before <= 0.0 else here[3]
            kept += 1
    for k in range(kept):
        for m in range(4):
            points[k, m] = rows[k, m]
    return kept


@compiled
def patch_points(one, other, patch):  # -> count, normal from one to other
    """The patch between two faces: the other's face cut at the sides of this one, seen along its normal. Each corner of
    it counts by the fraction of its two sides in the circumference, so that corners which meet count as one: nothing
    jumps."""
    dx, dy, dz = other.pose[0] - one.pose[0], other.pose[1] - one.pose[1], other.pose[2] - one.pose[2]
    overlap, whose, axis, sign = face_between(one, other, dx, dy, dz)
    if overlap <= 0.0:
        return 0, 0.0, 0.0, 1.0
    first, second = (one, other) if whose == 0 else (other, one)
    box, pose, axes = first.box, first.pose, first.axes
    nx, ny, nz = part_of(axes, axis)
    nx, ny, nz = sign * nx, sign * ny, sign * nz  # out of the face, towards the other box
    face, face_sign = opposite_face(second.axes, nx, ny, nz)
    u, v = (axis + 1) % 3, (axis + 2) % 3
    points, rows = patch[:12], patch[12:24]
    for k in range(4):
        x, y, z = local_of(axes, pose, *face_corner(second, face, face_sign, k))
        points[k, 0], points[k, 1], points[k, 2] = (
            chosen_of(u, x, y, z),
            chosen_of(v, x, y, z),
            chosen_of(axis, x, y, z),
        )
        points[k, 3] = k
    count = cut(points, 4, rows, 0, half_of(box, u), 1.0, 4)
    count = cut(points, count, rows, 0, half_of(box, u), -1.0, 5)
    count = cut(points, count, rows, 1, half_of(box, v), 1.0, 6)
    count = cut(points, count, rows, 1, half_of(box, v), -1.0, 7)
    around = 0.0
    for k in range(count):
        here, there = points[k], points[(k + 1) % count]
        rows[k, 0] = sqrt((there[0] - here[0]) ** 2 + (there[1] - here[1]) ** 2)
        around += rows[k, 0]
    ux, uy, uz = part_of(axes, u)
    vx, vy, vz = part_of(axes, v)
    ax, ay, az = part_of(axes, axis)
    for k in range(count):
        last = (k - 1) % count
        rows[k, 1] = 2.0 * (rows[last, 0] + rows[k, 0]) / around if around > 0.0 else 4.0 / count
        before, after = int(points[last, 3]), int(points[k, 3])
        rows[k, 2] = 8 * min(before, after) + max(before, after)
    for k in range(count):
        a, b, w = points[k, 0], points[k, 1], points[k, 2]
        rx, ry, rz = combined(ux, uy, uz, vx, vy, vz, ax, ay, az, a, b, w)
        points[k, 0], points[k, 1], points[k, 2] = pose[0] + rx, pose[1] + ry, pose[2] + rz
        points[k, 3] = half_of(box, axis) - sign * w
        points[k, 4] = rows[k, 2]
        points[k, 5] = rows[k, 1]
    if whose == 1:
        nx, ny, nz = -nx, -ny, -nz
    return count, nx, ny, nz


@compiled
def press_boxes(one, other, stiffness, damping, dt, patch, bristles):
    """Forces between two boxes. However many points a patch has, it is as stiff as four."""
    count, nx, ny, nz = patch_points(one, other, patch)
    friction = sqrt(one.box.friction * other.box.friction)
    if dt > 0.0:
        for k in range(PATCH):
            patch[PATCH + k, 0] = 0.0
    for p in range(count):
        x, y, z, depth, own = patch[p, 0], patch[p, 1], patch[p, 2], patch[p, 3], int(patch[p, 4])
        fraction = patch[p, 5]
        if depth <= 0.0:
            continue
        vx, vy, vz = velocity_at(other, x, y, z)
        ux, uy, uz = velocity_at(one, x, y, z)
        bristle = bristles[own]
        fx, fy, fz, bx, by, bz = penalty_force(
            (fraction * stiffness, fraction * damping, friction), depth, (nx, ny, nz), (vx - ux, vy - uy, vz - uz),
            (bristle[0], bristle[1], bristle[2]), dt,
        )  # fmt: skip
        if dt > 0.0:
            bristle[0], bristle[1], bristle[2] = bx, by, bz
            patch[PATCH + own, 0] = 1.0
        load_at(other, x, y, z, fx, fy, fz)
        load_at(one, x, y, z, -fx, -fy, -fz)
    if dt > 0.0:
        for k in range(PATCH):
            if patch[PATCH + k, 0] == 0.0:
                forget(bristles, k, 1)
