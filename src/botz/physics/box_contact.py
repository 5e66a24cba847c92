"""Where a ball meets a box or a plane: depth and normal. A ball of radius 0 is a point."""

from __future__ import annotations

from math import sqrt

from botz.frames import compiled


@compiled
def ball_in_box(hx, hy, hz, x, y, z, radius):  # -> depth (<= 0: apart), normal out of the box
    """A ball at (x, y, z) of the box's axes, whose half edges are h.

    Outside, the nearest point of the box counts; with its middle inside, the nearest face, so that what is pressed into
    a face is pressed back out of it.
    """
    dx, dy, dz = abs(x) - hx, abs(y) - hy, abs(z) - hz
    if dx > radius or dy > radius or dz > radius:
        return -1.0, 0.0, 0.0, 1.0
    sx, sy, sz = 1.0 if x >= 0.0 else -1.0, 1.0 if y >= 0.0 else -1.0, 1.0 if z >= 0.0 else -1.0
    if dx <= 0.0 and dy <= 0.0 and dz <= 0.0:
        if dx >= dy and dx >= dz:
            return radius - dx, sx, 0.0, 0.0
        if dy >= dz:
            return radius - dy, 0.0, sy, 0.0
        return radius - dz, 0.0, 0.0, sz
    dx, dy, dz = max(dx, 0.0), max(dy, 0.0), max(dz, 0.0)
    distance = sqrt(dx * dx + dy * dy + dz * dz)
    return radius - distance, sx * dx / distance, sy * dy / distance, sz * dz / distance
