"""The contacts of a block of wheels: where each touches the ground, and the walls that it runs into."""

from __future__ import annotations

from math import sqrt

from botz.kernels import compiled, inlined
from botz.physics.contact.ground import search_all, search_near
from botz.physics.contact.penalty import penalty_rates
from botz.physics.contact.terrain import cell_of, height_and_slope
from botz.physics.wheels.wheel_block import LANES, add_force
from botz.rotations import cross


@compiled
def find_contacts(block, body, heights, grid, sines, cosines, cos_blocked, plain):
    """Contact point, normal, deflection and angle γ of each wheel, and the walls that it runs into.

    `plain` looks at all slices; otherwise the last contact is followed as long as no other slice can have come down
    to the ground: a point moves by no more than the body's travelled way, the ground under it rises by no more than
    its steepness times that.
    """
    if not plain:
        follow_contacts(block, body, grid)
    for i in range(LANES):
        if block.present[i] == 0.0:
            continue
        if plain:
            block.wall_depth[i] = 0.0
            search_rim(block, body, heights, grid, sines, cosines, cos_blocked, i, 0)
            if block.half_width[i] > 0.0:
                search_rim(block, body, heights, grid, sines, cosines, cos_blocked, i, 1)
        else:
            if block.wall_depth[i] > 0.0:
                leave_wall(block, i)
            if block.fresh_a[i] == 0.0:
                search_rim_near(block, body, heights, grid, sines, cosines, i, 0)
            if block.half_width[i] > 0.0 and block.fresh_b[i] == 0.0:
                search_rim_near(block, body, heights, grid, sines, cosines, i, 1)
    merge_rims(block, body)


@inlined
def newton_in_cell(corner, rise_x, rise_y, twist, cells_x, cells_y, u, v, z, h, bx, by, bz):  # -> change of h, slopes
    """One step of Newton's method for z + h b_z = f, at (u, v) in a cell of the ground (`cell_of`)."""
    fx = (rise_x + twist * v) * cells_x
    fy = (rise_y + twist * u) * cells_y
    ground = corner + rise_x * u + (rise_y + twist * u) * v
    return (ground - z - h * bz) / (bz - fx * bx - fy * by), fx, fy


@compiled
def follow_contacts(block, body, grid):
    """One step of Newton's method at both rims' last slices, from where the deflection was going; `fresh` where that
    settles it, in the cell of the ground that was looked up last, and no other slice can have become the contact."""
    n, t, b, x = body.n, body.t, body.b, body.position
    nx, ny, nz = n[0], n[1], n[2]
    tx, ty, tz = t[0], t[1], t[2]
    bx, by, bz = b[0], b[1], b[2]
    ox, oy, oz = x[0], x[1], x[2]
    x_min, y_min, cells_x, cells_y = grid.x_min, grid.y_min, grid.cells_x, grid.cells_y
    growth, travelled = 1.0 + body.steepest, body.travelled
    for i in range(LANES):
        forward, down = block.radius[i] * block.sine_a[i], block.radius[i] * block.cosine_a[i]
        side, last, start = block.half_width[i], block.h_a[i], block.h_a[i] + block.step_a[i]
        px = ox + block.arm_x[i] + side * tx + forward * nx - down * bx
        py = oy + block.arm_y[i] + side * ty + forward * ny - down * by
        pz = oz + block.arm_z[i] + side * tz + forward * nz - down * bz
        u = (px + start * bx - x_min) * cells_x - block.cell_xa[i]
        v = (py + start * by - y_min) * cells_y - block.cell_ya[i]
        change, fx, fy = newton_in_cell(
            block.corner_a[i], block.rise_xa[i], block.rise_ya[i], block.twist_a[i], cells_x, cells_y,
            u, v, pz, start, bx, by, bz,
        )  # fmt: skip
        h = start + change
        settled = 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0 and abs(change) < block.tolerance[i]
        settled = settled and block.h_min[i] < h <= block.h_max[i]
        hanging, margin = block.slice_a[i] < 0.0, block.margin_a[i]
        way = travelled - block.seen_a[i]
        fresh = growth * way < margin if hanging else (settled and growth * (way + abs(h - last)) < margin)
        follow = fresh and not hanging
        block.fresh_a[i] = 1.0 if fresh else 0.0
        block.margin_a[i] = margin - growth * abs(h - last) if follow else margin
        block.step_a[i] = h - last if follow else 0.0
        block.h_a[i] = h if follow else last
        block.slope_xa[i], block.slope_ya[i] = fx, fy
    for i in range(LANES):
        forward, down = block.radius[i] * block.sine_b[i], block.radius[i] * block.cosine_b[i]
        side, last, start = -block.half_width[i], block.h_b[i], block.h_b[i] + block.step_b[i]
        px = ox + block.arm_x[i] + side * tx + forward * nx - down * bx
        py = oy + block.arm_y[i] + side * ty + forward * ny - down * by
        pz = oz + block.arm_z[i] + side * tz + forward * nz - down * bz
        u = (px + start * bx - x_min) * cells_x - block.cell_xb[i]
        v = (py + start * by - y_min) * cells_y - block.cell_yb[i]
        change, fx, fy = newton_in_cell(
            block.corner_b[i], block.rise_xb[i], block.rise_yb[i], block.twist_b[i], cells_x, cells_y,
            u, v, pz, start, bx, by, bz,
        )  # fmt: skip
        h = start + change
        settled = 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0 and abs(change) < block.tolerance[i]
        settled = settled and block.h_min[i] < h <= block.h_max[i]
        hanging, margin = block.slice_b[i] < 0.0, block.margin_b[i]
        way = travelled - block.seen_b[i]
        fresh = growth * way < margin if hanging else (settled and growth * (way + abs(h - last)) < margin)
        follow = fresh and not hanging
        block.fresh_b[i] = 1.0 if fresh else 0.0
        block.margin_b[i] = margin - growth * abs(h - last) if follow else margin
        block.step_b[i] = h - last if follow else 0.0
        block.h_b[i] = h if follow else last
        block.slope_xb[i], block.slope_yb[i] = fx, fy


@compiled
def rim_centre(block, body, i, rim):  # -> x, y, z
    """Centre of a rim in the world, with the suspension at rest."""
    offset = block.half_width[i] if rim == 0 else -block.half_width[i]
    return (
        body.position[0] + block.arm_x[i] + offset * body.t[0],
        body.position[1] + block.arm_y[i] + offset * body.t[1],
        body.position[2] + block.arm_z[i] + offset * body.t[2],
    )


@compiled
def keep_contact(block, body, heights, grid, sines, cosines, i, rim, best, h, margin):
    """Remember a rim's contact, the slope of the ground there, and the cell that it lies in."""
    k = max(best, 0)
    x, y, _ = rim_centre(block, body, i, rim)
    n, b, r = body.n, body.b, block.radius[i]
    up = h - r * cosines[k]
    px, py = x + r * sines[k] * n[0] + up * b[0], y + r * sines[k] * n[1] + up * b[1]
    _, fx, fy = height_and_slope(heights, grid, px, py)
    column, row, corner, rise_x, rise_y, twist = cell_of(heights, grid, px, py)
    if rim == 0:
        block.cell_xa[i], block.cell_ya[i], block.corner_a[i] = column, row, corner
        block.rise_xa[i], block.rise_ya[i], block.twist_a[i] = rise_x, rise_y, twist
        block.slice_a[i], block.h_a[i], block.margin_a[i], block.seen_a[i] = best, h, margin, body.travelled
        block.sine_a[i], block.cosine_a[i], block.step_a[i] = sines[k], cosines[k], 0.0
        block.slope_xa[i], block.slope_ya[i] = fx, fy
    else:
        block.cell_xb[i], block.cell_yb[i], block.corner_b[i] = column, row, corner
        block.rise_xb[i], block.rise_yb[i], block.twist_b[i] = rise_x, rise_y, twist
        block.slice_b[i], block.h_b[i], block.margin_b[i], block.seen_b[i] = best, h, margin, body.travelled
        block.sine_b[i], block.cosine_b[i], block.step_b[i] = sines[k], cosines[k], 0.0
        block.slope_xb[i], block.slope_yb[i] = fx, fy


@compiled
def search_rim(block, body, heights, grid, sines, cosines, cos_blocked, i, rim):
    x, y, z = rim_centre(block, body, i, rim)
    n, b = body.n, body.b
    best, h, wall, depth, wx, wy, wz = search_all(
        heights, grid, sines, cosines, block.radius[i], block.h_min[i], block.h_max[i], block.tolerance[i], cos_blocked,
        x, y, z, n[0], n[1], n[2], b[0], b[1], b[2],
    )  # fmt: skip
    # Both rims at a wall: between them, in the shares of their depths, so that neither side is the first.
    before = block.wall_depth[i] if rim == 1 else 0.0
    difference, blend = before - depth, block.blend[i]
    if rim == 0 or difference < blend:
        side = 1.0 if rim == 0 else -1.0
        block.wall_side[i] = side if before == 0.0 else min(max(difference / blend, -1.0), 1.0)
        if depth > before:
            block.wall_depth[i] = depth
            block.wall_slice[i] = wall
            block.wall_nx[i], block.wall_ny[i], block.wall_nz[i] = wx, wy, wz
    keep_contact(block, body, heights, grid, sines, cosines, i, rim, best, max(h, block.h_min[i]), 0.0)


@compiled
def search_rim_near(block, body, heights, grid, sines, cosines, i, rim):
    x, y, z = rim_centre(block, body, i, rim)
    n, b = body.n, body.b
    last = int(block.slice_a[i]) if rim == 0 else int(block.slice_b[i])
    last_h = block.h_a[i] if rim == 0 else block.h_b[i]
    best, h, margin = search_near(
        heights, grid, sines, cosines, block.radius[i], block.h_min[i], block.h_max[i], block.tolerance[i],
        body.steepest, last, last_h, x, y, z, n[0], n[1], n[2], b[0], b[1], b[2],
    )  # fmt: skip
    going = h - last_h if best == last and best >= 0 else 0.0
    keep_contact(block, body, heights, grid, sines, cosines, i, rim, best, h, margin)
    if rim == 0:
        block.step_a[i] = going
    else:
        block.step_b[i] = going


@compiled
def merge_rims(block, body):
    """One contact of both rims.

    On level ground both rims touch. Where their deflections differ by less than `blend`, the wheel stands on both, in
    the shares λ, 1 − λ of the smooth maximum h = (h_a + h_b)/2 + d²/4ε + ε/4, d = h_a − h_b; beyond, on the deeper
    one. The smooth maximum's own derivative gives the shares, so that no energy comes of the change; and what left
    does, right does mirrored. Two forces that are not one have a moment besides: λ(1 − λ)(X_a − X_b)×(m_a − m_b).

    The normal is the ground's, n̂ = (−f_x, −f_y, 1)/|·|. Corrected: the source takes the rim's radius, which is not
    normal to the ground and feeds energy in. m = n̂/(b·n̂) moves h by one when the body moves by one along it.
    """
    n, t, b = body.n, body.t, body.b
    nx, ny, nz = n[0], n[1], n[2]
    tx, ty, tz = t[0], t[1], t[2]
    bx, by, bz = b[0], b[1], b[2]
    for i in range(LANES):
        h_a, h_b, blend, radius, half = block.h_a[i], block.h_b[i], block.blend[i], block.radius[i], block.half_width[i]
        on_a, on_b = block.slice_a[i] >= 0.0, block.slice_b[i] >= 0.0 and half > 0.0
        difference = h_a - h_b
        mixed = min(max(0.5 + 0.5 * difference / blend, 0.0), 1.0)
        share = (mixed if on_b else 1.0) if on_a else 0.0
        rest = 1.0 - share
        both = share * rest
        level = 0.5 * (h_a + h_b) + difference * difference / (4.0 * blend) + 0.25 * blend
        h = level if both > 0.0 else (h_a if share > 0.5 else h_b)
        scale_a = 1.0 / (bz - block.slope_xa[i] * bx - block.slope_ya[i] * by)
        scale_b = 1.0 / (bz - block.slope_xb[i] * bx - block.slope_yb[i] * by)
        ax, ay, az = -block.slope_xa[i] * scale_a, -block.slope_ya[i] * scale_a, scale_a
        cx, cy, cz = -block.slope_xb[i] * scale_b, -block.slope_yb[i] * scale_b, scale_b
        mx, my, mz = share * ax + rest * cx, share * ay + rest * cy, share * az + rest * cz
        b_n = 1.0 / sqrt(mx * mx + my * my + mz * mz)
        forward = radius * (share * block.sine_a[i] + rest * block.sine_b[i])
        up = share * (h_a - radius * block.cosine_a[i]) + rest * (h_b - radius * block.cosine_b[i])
        side = half * (share - rest)
        ahead = radius * (block.sine_a[i] - block.sine_b[i])
        above = h_a - h_b - radius * (block.cosine_a[i] - block.cosine_b[i])
        dx = 2.0 * half * tx + ahead * nx + above * bx
        dy = 2.0 * half * ty + ahead * ny + above * by
        dz = 2.0 * half * tz + ahead * nz + above * bz
        wx, wy, wz = cross(dx, dy, dz, ax - cx, ay - cy, az - cz)
        touching = (on_a or on_b) and h > 0.0
        block.h[i] = h if touching else 0.0
        block.w_x[i], block.w_y[i], block.w_z[i] = both * wx, both * wy, both * wz
        block.p_x[i] = block.arm_x[i] + side * tx + forward * nx + up * bx
        block.p_y[i] = block.arm_y[i] + side * ty + forward * ny + up * by
        block.p_z[i] = block.arm_z[i] + side * tz + forward * nz + up * bz
        block.n_x[i], block.n_y[i], block.n_z[i] = mx * b_n, my * b_n, mz * b_n
        block.b_n[i] = b_n
        block.sine[i] = share * block.sine_a[i] + rest * block.sine_b[i]
        block.cosine[i] = share * block.cosine_a[i] + rest * block.cosine_b[i]


@compiled
def leave_wall(block, i):
    block.wall_depth[i] = 0.0
    block.wall_x[i], block.wall_y[i], block.wall_z[i] = 0.0, 0.0, 0.0
    block.wall_rate_x[i], block.wall_rate_y[i], block.wall_rate_z[i] = 0.0, 0.0, 0.0
    block.wall_force_x[i], block.wall_force_y[i], block.wall_force_z[i] = 0.0, 0.0, 0.0


@compiled
def add_walls(block, body, sines, cosines, dt, step):
    """Beyond the blocked angle the wheel is rigid with the chassis: a penalty along n̂ with Coulomb friction.

    Corrected: the source's friction without load stops nothing. The stiffness is the spring's over cos² of the blocked
    angle, so that the force is the same on both sides of that angle.
    """
    n, t, b, v, w = body.n, body.t, body.b, body.velocity, body.angular
    for i in range(LANES):
        if block.present[i] == 0.0 or block.wall_depth[i] <= 0.0:
            leave_wall(block, i)
            continue
        k = int(block.wall_slice[i])
        offset = block.wall_side[i] * block.half_width[i]
        forward, up = block.radius[i] * sines[k], -block.radius[i] * cosines[k]
        px = block.arm_x[i] + offset * t[0] + forward * n[0] + up * b[0]
        py = block.arm_y[i] + offset * t[1] + forward * n[1] + up * b[1]
        pz = block.arm_z[i] + offset * t[2] + forward * n[2] + up * b[2]
        vx, vy, vz = cross(w[0], w[1], w[2], px, py, pz)
        rx, ry, rz, ux, uy, uz, gx, gy, gz = penalty_rates(
            block.wall_stiffness[i], block.wall_damping[i], block.wall_friction[i],
            block.wall_depth[i], block.wall_nx[i], block.wall_ny[i], block.wall_nz[i], vx + v[0], vy + v[1], vz + v[2],
            block.wall_x[i], block.wall_y[i], block.wall_z[i], dt, step,
        )  # fmt: skip
        block.wall_x[i], block.wall_y[i], block.wall_z[i] = ux + dt * gx, uy + dt * gy, uz + dt * gz
        block.wall_rate_x[i], block.wall_rate_y[i], block.wall_rate_z[i] = gx, gy, gz
        block.wall_force_x[i], block.wall_force_y[i], block.wall_force_z[i] = rx, ry, rz
        add_force(body, px, py, pz, rx, ry, rz)
