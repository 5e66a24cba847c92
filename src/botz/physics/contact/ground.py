"""Where a wheel meets the ground ([virtualbotz] section 3.3.4).

The lower half of a rim is cut into slices; each slice's point moves up with the wheel, along the suspension's line b,
until it lies on the ground. The slice that has to move farthest is the contact. `search_all` looks at every slice in
every step and is the reference; `search_near` starts from the last contact and finds the same one.
"""

from __future__ import annotations

from math import sqrt

from botz.kernels import compiled
from botz.physics.contact.terrain import height, height_and_slope

NONE = -1.0e9
"""Deflection of a slice that does not reach the ground, and slice number where there is none."""


@compiled
def deflection_of_point(ground, x, y, z, bx, by, bz, h_min, h_max, tolerance):
    """The h at which the point (x, y, z) + h b lies on the ground, in [h_min, h_max]; NONE where it hangs above it.

    Regula falsi of eqs. 3.8-3.11 with Illinois' halving, without which one end may stay for ever. Corrected: b_z
    moves z, b_x and b_y move the place where the ground is sampled; and h goes on past h_sat.
    """
    low, high = h_min, h_max
    gap_low = z + low * bz - height(ground.heights, ground.grid, x + low * bx, y + low * by)
    if gap_low >= 0.0:
        return NONE
    gap_high = z + high * bz - height(ground.heights, ground.grid, x + high * bx, y + high * by)
    if gap_high <= 0.0:
        return high
    middle = low
    side = 0
    for _ in range(100):
        before = middle
        middle = low + (high - low) * gap_low / (gap_low - gap_high)
        gap = z + middle * bz - height(ground.heights, ground.grid, x + middle * bx, y + middle * by)
        if gap == 0.0 or abs(middle - before) < tolerance:
            break
        if gap < 0.0:
            low, gap_low = middle, gap
            if side == -1:
                gap_high *= 0.5
            side = -1
        else:
            high, gap_high = middle, gap
            if side == 1:
                gap_low *= 0.5
            side = 1
    return middle


@compiled
def deflection_near(ground, x, y, z, bx, by, bz, start, h_min, h_max, tolerance):
    """`deflection_of_point` by Newton's method from a deflection near by: the ground of one cell is nearly a plane."""
    h = start
    for _ in range(12):
        level, fx, fy = height_and_slope(ground.heights, ground.grid, x + h * bx, y + h * by)
        change = (level - z - h * bz) / (bz - fx * bx - fy * by)
        h += change
        if abs(change) < tolerance:
            return h if h_min < h <= h_max else (NONE if h <= h_min else h_max)
        h = min(max(h, h_min - 0.01), h_max)
    return deflection_of_point(ground, x, y, z, bx, by, bz, h_min, h_max, tolerance)


@compiled
def search_all(
    # parameters: the ground; sine and cosine of the slices' angles γ, from the lowest point outwards; of the rim its
    # radius, range and tolerance of h; cosine of the angle from which on the ground is a wall
    ground, slices, rim, cos_blocked,
    # state in: centre of the rim with the suspension at rest, forward and up axis of the chassis (three numbers each)
    centre, n, b,
):  # -> contact slice, its h; wall slice, its depth and normal  # fmt: skip
    """Every slice. Ground whose normal stands more than the blocked angle from b is a wall: not a place to roll on,
    but one that pushes back; its depth is measured along its normal."""
    radius, h_min, h_max, tolerance = rim
    x, y, z = centre
    nx, ny, nz = n
    bx, by, bz = b
    best, best_h = -1, NONE
    wall, depth = -1, 0.0
    wx, wy, wz = 0.0, 0.0, 1.0
    for k in range(slices.shape[0]):
        forward, down = radius * slices[k, 0], radius * slices[k, 1]
        ax, ay, az = forward * nx - down * bx, forward * ny - down * by, forward * nz - down * bz
        px, py, pz = x + ax, y + ay, z + az
        if bz < cos_blocked:
            # Lying on its side or worse, b leads nowhere: all ground that the rim touches blocks the wheel.
            level, fx, fy = height_and_slope(ground.heights, ground.grid, px, py)
            scale = 1.0 / sqrt(1.0 + fx * fx + fy * fy)
            deep = (level - pz) * scale
            if deep > depth:
                wall, depth = k, deep
                wx, wy, wz = -fx * scale, -fy * scale, scale
            continue
        h = deflection_of_point(ground, px, py, pz, bx, by, bz, h_min, h_max, tolerance)
        if h > best_h or h > 0.0:
            _, fx, fy = height_and_slope(ground.heights, ground.grid, px + h * bx, py + h * by)
            scale = 1.0 / sqrt(1.0 + fx * fx + fy * fy)
            b_n = (bz - fx * bx - fy * by) * scale
            # The way along b is long before a steep wall, the way along its normal is short.
            deep = h * b_n
            blocked = b_n < cos_blocked
            if h >= h_max:
                # So far inside that no deflection leads out: the wall is where the radius comes out of the ground.
                way, gx, gy = way_out(ground, px, py, pz, -ax, -ay, -az, radius)
                steep = 1.0 / sqrt(1.0 + gx * gx + gy * gy)
                if way < radius and (bz - gx * bx - gy * by) * steep < cos_blocked:
                    blocked = True
                    fx, fy, scale = gx, gy, steep
                    deep = way / radius * (fx * ax + fy * ay - az) * scale
            if not blocked:
                if h > best_h:
                    best, best_h = k, h
            elif deep > depth:
                wall, depth = k, deep
                wx, wy, wz = -fx * scale, -fy * scale, scale
    return best, best_h, wall, depth, wx, wy, wz


@compiled
def way_out(ground, x, y, z, dx, dy, dz, length):  # -> way to the surface, slope of the ground there
    """From a point inside the ground along (dx, dy, dz), of the given length, to where it comes out; `length` where it
    does not. In steps of half a cell, then halved."""
    steps = 2 * int(length * max(ground.grid.cells_x, ground.grid.cells_y)) + 2
    low, high = 0.0, -1.0
    for k in range(1, steps + 1):
        s = k / steps
        if z + s * dz > height(ground.heights, ground.grid, x + s * dx, y + s * dy):
            high = s
            break
        low = s
    if high < 0.0:
        return length, 0.0, 0.0
    for _ in range(20):
        s = 0.5 * (low + high)
        if z + s * dz > height(ground.heights, ground.grid, x + s * dx, y + s * dy):
            high = s
        else:
            low = s
    _, fx, fy = height_and_slope(ground.heights, ground.grid, x + low * dx, y + low * dy)
    return low * length, fx, fy


@compiled
def search_near(
    # parameters as for search_all, and the steepest slope of the ground near by
    ground, slices, rim, steepest,
    # state in: last contact slice (-1: none) and its h, centre of the rim, axes
    last, last_h, centre, n, b,
):  # -> contact slice (-1: none), its h, smallest height of the other slices above the ground  # fmt: skip
    """The same contact where no ground is a wall: one look at each slice at the last contact's deflection.

    A slice that hangs above the ground there needs less deflection and cannot be the contact; one below it is solved
    and becomes the measure for the rest. As long as no slice can have moved by the height that is returned, the
    contact stays with its slice, and no search is needed. Slices that hang higher than another already does, however
    the ground between them and the contact may rise, are not looked at.
    """
    radius, h_min, h_max, tolerance = rim
    x, y, z = centre
    nx, ny, nz = n
    bx, by, bz = b
    best, best_h = -1, h_min
    cx, cy, cz = 0.0, 0.0, 0.0
    if last >= 0:
        forward, down = radius * slices[last, 0], radius * slices[last, 1]
        cx = x + forward * nx - down * bx
        cy = y + forward * ny - down * by
        cz = z + forward * nz - down * bz
        h = deflection_near(ground, cx, cy, cz, bx, by, bz, last_h, h_min, h_max, tolerance)
        if h > h_min:
            best, best_h = last, h
    margin = 1.0e9
    for k in range(slices.shape[0]):
        if k == best:
            continue
        forward, down = radius * slices[k, 0], radius * slices[k, 1]
        px = x + forward * nx - down * bx
        py = y + forward * ny - down * by
        pz = z + forward * nz - down * bz
        on_ground = best >= 0 and best_h < h_max
        if on_ground and pz - cz - steepest * (abs(px - cx) + abs(py - cy)) - tolerance > margin:
            continue
        gap = pz + best_h * bz - height(ground.heights, ground.grid, px + best_h * bx, py + best_h * by)
        if gap < 0.0:
            h = deflection_near(ground, px, py, pz, bx, by, bz, best_h, h_min, h_max, tolerance)
            if h > best_h:
                if best >= 0:
                    # The contact so far becomes one of the others.
                    margin = min(margin, cz + h * bz - height(ground.heights, ground.grid, cx + h * bx, cy + h * by))
                best, best_h = k, h
                cx, cy, cz = px, py, pz
                continue
        margin = min(margin, gap)
    return best, best_h, max(margin, 0.0)
