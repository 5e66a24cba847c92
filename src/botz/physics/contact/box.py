"""Where a ball meets a box or a plane: depth and normal. A ball of radius 0 is a point."""

from __future__ import annotations

from math import sqrt

from botz.kernels import inlined


@inlined
def ball_in_box(hx, hy, hz, x, y, z, radius):  # -> depth (<= 0: apart), normal out of the box
    """A ball at (x, y, z) of the box's axes, whose half edges are h.

    Outside, the nearest point of the box counts; with its middle inside, the nearest face, so that what is pressed into
    a face is pressed back out of it.
    """
    dx, dy, dz = abs(x) - hx, abs(y) - hy, abs(z) - hz
    sx, sy, sz = 1.0 if x >= 0.0 else -1.0, 1.0 if y >= 0.0 else -1.0, 1.0 if z >= 0.0 else -1.0
    top = max(dx, max(dy, dz))
    ex, ey, ez = max(dx, 0.0), max(dy, 0.0), max(dz, 0.0)
    distance = sqrt(ex * ex + ey * ey + ez * ez)
    # Inside, the normal of the face with the least depth; both ways are computed and one is chosen: no branch.
    inside = top <= 0.0
    divisor = 1.0 if inside else distance
    fx = 1.0 if dx == top else 0.0
    fy = 1.0 - fx if dy == top else 0.0
    fz = 1.0 - fx - fy
    nx, ny, nz = fx if inside else ex / divisor, fy if inside else ey / divisor, fz if inside else ez / divisor
    return radius - (top if inside else distance), sx * nx, sy * ny, sz * nz
