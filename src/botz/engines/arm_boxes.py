"""Where two boxes meet in engine `arm`: one direction for the pair, and the points of the patch between two faces."""

from __future__ import annotations

from math import inf, sqrt

from botz.engines.arm_units import CORNERS, CROSSINGS, PATCH
from botz.frames import compiled, cross, dot
from botz.physics.dh import combined
from botz.physics.penalty import penalty_force

SKIN = 1e-6
"""How far beside a face a corner may be and still stand on it, as a part of the boxes' size: edges that line up."""
FLATTER = 0.95
"""A direction of the second box is taken only where the boxes overlap less along it by this factor, so that two that
are the same to rounding do not take turns."""


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
def face_between(one, other, axes_one, axes_other, dx, dy, dz):  # -> overlap, whose face (0, 1), its axis, its sign
    """The face along which the boxes overlap least; overlap ≤ 0: they are apart. d is from the middle of `one` to that
    of `other`. Faces only: where edges cross each other in the air, the boxes touch a little early."""
    least, best, whose, axis, sign = inf, inf, 0, 0, 1.0
    for body in range(2):
        for k in range(3):
            nx, ny, nz = part_of(axes_one if body == 0 else axes_other, k)
            along = dot(nx, ny, nz, dx, dy, dz)
            reach = stretch(one, axes_one, nx, ny, nz) + stretch(other, axes_other, nx, ny, nz)
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


@compiled
def corner(box, pose, axes, k):  # -> corner k in the world
    x = box.hx if k & 1 else -box.hx
    y = box.hy if k & 2 else -box.hy
    z = box.hz if k & 4 else -box.hz
    rx, ry, rz = combined(axes[0], axes[1], axes[2], axes[3], axes[4], axes[5], axes[6], axes[7], axes[8], x, y, z)
    return pose[0] + rx, pose[1] + ry, pose[2] + rz


@compiled
def under_face(box, pose, axes, axis, sign, skin, x, y, z):  # -> depth below this face, ≤ 0 beside or above it
    lx, ly, lz = local_of(axes, pose, x, y, z)
    for k in range(3):
        if k != axis and abs(chosen_of(k, lx, ly, lz)) > half_of(box, k) + skin:
            return -1.0
    return half_of(box, axis) - sign * chosen_of(axis, lx, ly, lz)


@compiled
def keep_point(patch, count, slot, x, y, z, depth):
    patch[count, 0], patch[count, 1], patch[count, 2], patch[count, 3], patch[count, 4] = x, y, z, depth, slot
    return count + 1


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
def crossings(box, pose, axes, axis, sign, other, pose_other, axes_other, face, face_sign, patch, count):
    """Where the edges of the other's face cross the sides of this one: the corners of the patch that are nobody's."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    hu, hv = half_of(box, u), half_of(box, v)
    for edge in range(4):
        # The face's corners in a circle: (−, −), (+, −), (+, +), (−, +) of its two other directions.
        x0, y0, z0 = local_of(axes, pose, *face_corner(other, pose_other, axes_other, face, face_sign, edge))
        x1, y1, z1 = local_of(axes, pose, *face_corner(other, pose_other, axes_other, face, face_sign, (edge + 1) % 4))
        u0, v0, w0 = chosen_of(u, x0, y0, z0), chosen_of(v, x0, y0, z0), chosen_of(axis, x0, y0, z0)
        u1, v1, w1 = chosen_of(u, x1, y1, z1), chosen_of(v, x1, y1, z1), chosen_of(axis, x1, y1, z1)
        for side in range(4):
            if side < 2:
                limit, start, end, across0, across1, wide = (hu if side else -hu), u0, u1, v0, v1, hv
            else:
                limit, start, end, across0, across1, wide = (hv if side == 3 else -hv), v0, v1, u0, u1, hu
            if (start - limit) * (end - limit) >= 0.0:
                continue
            share = (limit - start) / (end - start)
            if abs(across0 + share * (across1 - across0)) > wide:
                continue
            depth = half_of(box, axis) - sign * (w0 + share * (w1 - w0))
            if depth > 0.0:
                lx, ly, lz = x0 + share * (x1 - x0), y0 + share * (y1 - y0), z0 + share * (z1 - z0)
                rx, ry, rz = combined(
                    axes[0], axes[1], axes[2], axes[3], axes[4], axes[5], axes[6], axes[7], axes[8], lx, ly, lz
                )
                slot = 2 * CORNERS + 4 * edge + side
                count = keep_point(patch, count, slot, pose[0] + rx, pose[1] + ry, pose[2] + rz, depth)
    return count


@compiled
def face_corner(box, pose, axes, axis, sign, number):  # -> corner of a face in the world
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
def velocity_at(box, pose, axes, x, y, z):
    if box.mass == 0.0:
        return 0.0, 0.0, 0.0
    wx, wy, wz = combined(
        axes[0], axes[1], axes[2], axes[3], axes[4], axes[5], axes[6], axes[7], axes[8], pose[10], pose[11], pose[12]
    )
    tx, ty, tz = cross(wx, wy, wz, x - pose[0], y - pose[1], z - pose[2])
    return pose[7] + tx, pose[8] + ty, pose[9] + tz


@compiled
def load_at(load, pose, x, y, z, fx, fy, fz):
    tx, ty, tz = cross(x - pose[0], y - pose[1], z - pose[2], fx, fy, fz)
    load[0], load[1], load[2] = load[0] + fx, load[1] + fy, load[2] + fz
    load[3], load[4], load[5] = load[3] + tx, load[4] + ty, load[5] + tz


@compiled
def forget(bristles, slot, count):
    """Friction of points that do not touch: they stick anew when they touch again."""
    for k in range(slot, slot + count):
        bristles[k, 0] = bristles[k, 1] = bristles[k, 2] = 0.0


@compiled
def patch_points(one, other, pose_one, pose_other, axes_one, axes_other, patch):  # -> count, normal from one to other
    """The points at which two boxes press on each other: corners of each under the other's face and, where these are
    too few to stand on, crossings of the faces' edges."""
    dx, dy, dz = pose_other[0] - pose_one[0], pose_other[1] - pose_one[1], pose_other[2] - pose_one[2]
    overlap, whose, axis, sign = face_between(one, other, axes_one, axes_other, dx, dy, dz)
    if overlap <= 0.0:
        return 0, 0.0, 0.0, 1.0
    nx, ny, nz = part_of(axes_one if whose == 0 else axes_other, axis)
    nx, ny, nz = sign * nx, sign * ny, sign * nz  # out of the face, towards the other box
    skin = SKIN * (one.radius + other.radius)
    count = 0
    if whose == 0:
        face, face_sign = opposite_face(axes_other, nx, ny, nz)
        axis_one, sign_one, axis_other, sign_other = axis, sign, face, face_sign
    else:
        face, face_sign = opposite_face(axes_one, nx, ny, nz)
        axis_one, sign_one, axis_other, sign_other = face, face_sign, axis, sign
    for k in range(CORNERS):
        x, y, z = corner(other, pose_other, axes_other, k)
        depth = under_face(one, pose_one, axes_one, axis_one, sign_one, skin, x, y, z)
        if depth > 0.0:
            count = keep_point(patch, count, k, x, y, z, depth)
    for k in range(CORNERS):
        x, y, z = corner(one, pose_one, axes_one, k)
        depth = under_face(other, pose_other, axes_other, axis_other, sign_other, skin, x, y, z)
        if depth > 0.0:
            count = keep_point(patch, count, CORNERS + k, x, y, z, depth)
    if count < 3:
        if whose == 0:
            count = crossings(
                one, pose_one, axes_one, axis, sign, other, pose_other, axes_other, face, face_sign, patch, count
            )
        else:
            count = crossings(
                other, pose_other, axes_other, axis, sign, one, pose_one, axes_one, face, face_sign, patch, count
            )
    if whose == 1:
        nx, ny, nz = -nx, -ny, -nz
    return count, nx, ny, nz


@compiled
def press_boxes(one, other, pose_one, pose_other, axes_one, axes_other, stiffness, damping, dt, patch, bristles, slot,
                load_one, load_other):  # fmt: skip
    """Forces between two boxes. However many points a patch has, it is no stiffer than four."""
    count, nx, ny, nz = patch_points(one, other, pose_one, pose_other, axes_one, axes_other, patch)
    share = 4.0 / count if count > 4 else 1.0
    friction = sqrt(one.friction * other.friction)
    if dt > 0.0:
        for k in range(2 * CORNERS + CROSSINGS):
            patch[PATCH + k, 0] = 0.0
    for p in range(count):
        x, y, z, depth, own = patch[p, 0], patch[p, 1], patch[p, 2], patch[p, 3], int(patch[p, 4])
        vx, vy, vz = velocity_at(other, pose_other, axes_other, x, y, z)
        ux, uy, uz = velocity_at(one, pose_one, axes_one, x, y, z)
        bristle = bristles[slot + own]
        fx, fy, fz, bx, by, bz = penalty_force(
            share * stiffness, share * damping, friction, depth, nx, ny, nz, vx - ux, vy - uy, vz - uz,
            bristle[0], bristle[1], bristle[2], dt,
        )  # fmt: skip
        if dt > 0.0:
            bristle[0], bristle[1], bristle[2] = bx, by, bz
            patch[PATCH + own, 0] = 1.0
        load_at(load_other, pose_other, x, y, z, fx, fy, fz)
        load_at(load_one, pose_one, x, y, z, -fx, -fy, -fz)
    if dt > 0.0:
        for k in range(2 * CORNERS + CROSSINGS):
            if patch[PATCH + k, 0] == 0.0:
                forget(bristles, slot + k, 1)
