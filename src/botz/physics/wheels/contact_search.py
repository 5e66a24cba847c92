"""The contacts of a block of wheels: where each touches the ground, and the walls that it runs into."""

from __future__ import annotations

from math import sqrt

from botz.kernels import compiled, inlined, on_lanes
from botz.physics.contact.ground import search_all, search_near
from botz.physics.contact.penalty import penalty_rates
from botz.physics.contact.terrain import cell_of, height_and_slope
from botz.physics.wheels.wheel_block import LANES, add_force
from botz.rotations import cross, vector


@compiled
def find_contacts(model, state, work, body, ground, slices, cos_blocked, plain):
    """Contact point, normal, deflection and angle γ of each wheel, and the walls that it runs into.

    `plain` looks at all slices; otherwise the last contact is followed as long as no other slice can have come down
    to the ground: a point moves by no more than the body's travelled way, the ground under it rises by no more than
    its steepness times that.
    """
    if plain:
        clear_slopes(work)
    else:
        follow_contacts(model, state, work, body, ground.grid)
    for i in range(LANES):
        if model.present[i] == 0.0:
            continue
        if plain:
            state.wall_depth[i] = 0.0
            search_rim(model, state, work, body, ground, slices, cos_blocked, i, 0)
            if model.half_width[i] > 0.0:
                search_rim(model, state, work, body, ground, slices, cos_blocked, i, 1)
        else:
            if state.wall_depth[i] > 0.0:
                leave_wall(state, work, i)
            if work.fresh_a[i] == 0.0:
                search_rim_near(model, state, work, body, ground, slices, i, 0)
            if model.half_width[i] > 0.0 and work.fresh_b[i] == 0.0:
                search_rim_near(model, state, work, body, ground, slices, i, 1)
    merge_rims(model, state, work, body)


@on_lanes
def clear_slopes(work):
    """Of rims that are not searched."""
    for i in range(LANES):
        work.slope_xa[i], work.slope_ya[i], work.slope_xb[i], work.slope_yb[i] = 0.0, 0.0, 0.0, 0.0


@inlined
def newton_in_cell(corner, rise_x, rise_y, twist, cells_x, cells_y, u, v, z, h, b):  # -> change of h, slopes
    """One step of Newton's method for z + h b_z = f, at (u, v) in a cell of the ground (`cell_of`)."""
    fx = (rise_x + twist * v) * cells_x
    fy = (rise_y + twist * u) * cells_y
    ground = corner + rise_x * u + (rise_y + twist * u) * v
    return (ground - z - h * b[2]) / (b[2] - fx * b[0] - fy * b[1]), fx, fy


@on_lanes
def follow_contacts(model, state, work, body, grid):
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
        forward, down = model.radius[i] * state.sine_a[i], model.radius[i] * state.cosine_a[i]
        side, last, start = model.half_width[i], state.h_a[i], state.h_a[i] + state.step_a[i]
        px = ox + work.arm_x[i] + side * tx + forward * nx - down * bx
        py = oy + work.arm_y[i] + side * ty + forward * ny - down * by
        pz = oz + work.arm_z[i] + side * tz + forward * nz - down * bz
        u = (px + start * bx - x_min) * cells_x - state.cell_xa[i]
        v = (py + start * by - y_min) * cells_y - state.cell_ya[i]
        change, fx, fy = newton_in_cell(
            state.corner_a[i], state.rise_xa[i], state.rise_ya[i], state.twist_a[i], cells_x, cells_y,
            u, v, pz, start, (bx, by, bz),
        )  # fmt: skip
        h = start + change
        settled = 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0 and abs(change) < model.tolerance[i]
        settled = settled and model.h_min[i] < h <= model.h_max[i]
        hanging, margin = state.slice_a[i] < 0.0, state.margin_a[i]
        way = travelled - state.seen_a[i]
        fresh = growth * way < margin if hanging else (settled and growth * (way + abs(h - last)) < margin)
        follow = fresh and not hanging
        work.fresh_a[i] = 1.0 if fresh else 0.0
        state.margin_a[i] = margin - growth * abs(h - last) if follow else margin
        state.step_a[i] = h - last if follow else 0.0
        state.h_a[i] = h if follow else last
        work.slope_xa[i], work.slope_ya[i] = fx, fy
    for i in range(LANES):
        forward, down = model.radius[i] * state.sine_b[i], model.radius[i] * state.cosine_b[i]
        side, last, start = -model.half_width[i], state.h_b[i], state.h_b[i] + state.step_b[i]
        px = ox + work.arm_x[i] + side * tx + forward * nx - down * bx
        py = oy + work.arm_y[i] + side * ty + forward * ny - down * by
        pz = oz + work.arm_z[i] + side * tz + forward * nz - down * bz
        u = (px + start * bx - x_min) * cells_x - state.cell_xb[i]
        v = (py + start * by - y_min) * cells_y - state.cell_yb[i]
        change, fx, fy = newton_in_cell(
            state.corner_b[i], state.rise_xb[i], state.rise_yb[i], state.twist_b[i], cells_x, cells_y,
            u, v, pz, start, (bx, by, bz),
        )  # fmt: skip
        h = start + change
        settled = 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0 and abs(change) < model.tolerance[i]
        settled = settled and model.h_min[i] < h <= model.h_max[i]
        hanging, margin = state.slice_b[i] < 0.0, state.margin_b[i]
        way = travelled - state.seen_b[i]
        fresh = growth * way < margin if hanging else (settled and growth * (way + abs(h - last)) < margin)
        follow = fresh and not hanging
        work.fresh_b[i] = 1.0 if fresh else 0.0
        state.margin_b[i] = margin - growth * abs(h - last) if follow else margin
        state.step_b[i] = h - last if follow else 0.0
        state.h_b[i] = h if follow else last
        work.slope_xb[i], work.slope_yb[i] = fx, fy


@compiled
def rim_centre(model, work, body, i, rim):  # -> x, y, z
    """Centre of a rim in the world, with the suspension at rest."""
    offset = model.half_width[i] if rim == 0 else -model.half_width[i]
    return (
        body.position[0] + work.arm_x[i] + offset * body.t[0],
        body.position[1] + work.arm_y[i] + offset * body.t[1],
        body.position[2] + work.arm_z[i] + offset * body.t[2],
    )


@compiled
def keep_contact(model, state, work, body, ground, slices, i, rim, best, h, margin):
    """Remember a rim's contact, the slope of the ground there, and the cell that it lies in."""
    heights, grid = ground
    k = max(best, 0)
    sine, cosine = slices[k, 0], slices[k, 1]
    x, y, _ = rim_centre(model, work, body, i, rim)
    n, b, r = body.n, body.b, model.radius[i]
    up = h - r * cosine
    px, py = x + r * sine * n[0] + up * b[0], y + r * sine * n[1] + up * b[1]
    _, fx, fy = height_and_slope(heights, grid, px, py)
    column, row, corner, rise_x, rise_y, twist = cell_of(heights, grid, px, py)
    if rim == 0:
        state.cell_xa[i], state.cell_ya[i], state.corner_a[i] = column, row, corner
        state.rise_xa[i], state.rise_ya[i], state.twist_a[i] = rise_x, rise_y, twist
        state.slice_a[i], state.h_a[i], state.margin_a[i], state.seen_a[i] = best, h, margin, body.travelled
        state.sine_a[i], state.cosine_a[i], state.step_a[i] = sine, cosine, 0.0
        work.slope_xa[i], work.slope_ya[i] = fx, fy
    else:
        state.cell_xb[i], state.cell_yb[i], state.corner_b[i] = column, row, corner
        state.rise_xb[i], state.rise_yb[i], state.twist_b[i] = rise_x, rise_y, twist
        state.slice_b[i], state.h_b[i], state.margin_b[i], state.seen_b[i] = best, h, margin, body.travelled
        state.sine_b[i], state.cosine_b[i], state.step_b[i] = sine, cosine, 0.0
        work.slope_xb[i], work.slope_yb[i] = fx, fy


@compiled
def search_rim(model, state, work, body, ground, slices, cos_blocked, i, rim):
    measures = (model.radius[i], model.h_min[i], model.h_max[i], model.tolerance[i])
    centre = rim_centre(model, work, body, i, rim)
    best, h, wall, depth, wx, wy, wz = search_all(
        ground, slices, measures, cos_blocked, centre, vector(body.n), vector(body.b)
    )
    # Both rims at a wall: between them, in the shares of their depths, so that neither side is the first.
    before = state.wall_depth[i] if rim == 1 else 0.0
    difference, blend = before - depth, model.blend[i]
    if rim == 0 or difference < blend:
        side = 1.0 if rim == 0 else -1.0
        work.wall_side[i] = side if before == 0.0 else min(max(difference / blend, -1.0), 1.0)
        if depth > before:
            state.wall_depth[i] = depth
            work.wall_slice[i] = wall
            work.wall_nx[i], work.wall_ny[i], work.wall_nz[i] = wx, wy, wz
    keep_contact(model, state, work, body, ground, slices, i, rim, best, max(h, model.h_min[i]), 0.0)


@compiled
def search_rim_near(model, state, work, body, ground, slices, i, rim):
    measures = (model.radius[i], model.h_min[i], model.h_max[i], model.tolerance[i])
    centre = rim_centre(model, work, body, i, rim)
    last = int(state.slice_a[i]) if rim == 0 else int(state.slice_b[i])
    last_h = state.h_a[i] if rim == 0 else state.h_b[i]
    best, h, margin = search_near(
        ground, slices, measures, body.steepest, last, last_h, centre, vector(body.n), vector(body.b)
    )
    going = h - last_h if best == last and best >= 0 else 0.0
    keep_contact(model, state, work, body, ground, slices, i, rim, best, h, margin)
    if rim == 0:
        state.step_a[i] = going
    else:
        state.step_b[i] = going


@on_lanes
def merge_rims(model, state, work, body):
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
        h_a, h_b, blend, radius, half = state.h_a[i], state.h_b[i], model.blend[i], model.radius[i], model.half_width[i]
        on_a, on_b = state.slice_a[i] >= 0.0, state.slice_b[i] >= 0.0 and half > 0.0
        difference = h_a - h_b
        mixed = min(max(0.5 + 0.5 * difference / blend, 0.0), 1.0)
        share = (mixed if on_b else 1.0) if on_a else 0.0
        rest = 1.0 - share
        both = share * rest
        level = 0.5 * (h_a + h_b) + difference * difference / (4.0 * blend) + 0.25 * blend
        h = level if both > 0.0 else (h_a if share > 0.5 else h_b)
        scale_a = 1.0 / (bz - work.slope_xa[i] * bx - work.slope_ya[i] * by)
        scale_b = 1.0 / (bz - work.slope_xb[i] * bx - work.slope_yb[i] * by)
        ax, ay, az = -work.slope_xa[i] * scale_a, -work.slope_ya[i] * scale_a, scale_a
        cx, cy, cz = -work.slope_xb[i] * scale_b, -work.slope_yb[i] * scale_b, scale_b
        mx, my, mz = share * ax + rest * cx, share * ay + rest * cy, share * az + rest * cz
        b_n = 1.0 / sqrt(mx * mx + my * my + mz * mz)
        forward = radius * (share * state.sine_a[i] + rest * state.sine_b[i])
        up = share * (h_a - radius * state.cosine_a[i]) + rest * (h_b - radius * state.cosine_b[i])
        side = half * (share - rest)
        ahead = radius * (state.sine_a[i] - state.sine_b[i])
        above = h_a - h_b - radius * (state.cosine_a[i] - state.cosine_b[i])
        dx = 2.0 * half * tx + ahead * nx + above * bx
        dy = 2.0 * half * ty + ahead * ny + above * by
        dz = 2.0 * half * tz + ahead * nz + above * bz
        wx, wy, wz = cross(dx, dy, dz, ax - cx, ay - cy, az - cz)
        touching = (on_a or on_b) and h > 0.0
        state.h[i] = h if touching else 0.0
        work.w_x[i], work.w_y[i], work.w_z[i] = both * wx, both * wy, both * wz
        state.p_x[i] = work.arm_x[i] + side * tx + forward * nx + up * bx
        state.p_y[i] = work.arm_y[i] + side * ty + forward * ny + up * by
        state.p_z[i] = work.arm_z[i] + side * tz + forward * nz + up * bz
        state.n_x[i], state.n_y[i], state.n_z[i] = mx * b_n, my * b_n, mz * b_n
        work.b_n[i] = b_n
        state.sine[i] = share * state.sine_a[i] + rest * state.sine_b[i]
        state.cosine[i] = share * state.cosine_a[i] + rest * state.cosine_b[i]


@compiled
def leave_wall(state, work, i):
    state.wall_depth[i] = 0.0
    state.wall_x[i], state.wall_y[i], state.wall_z[i] = 0.0, 0.0, 0.0
    work.wall_rate_x[i], work.wall_rate_y[i], work.wall_rate_z[i] = 0.0, 0.0, 0.0
    state.wall_force_x[i], state.wall_force_y[i], state.wall_force_z[i] = 0.0, 0.0, 0.0


@compiled
def add_walls(model, state, work, body, slices, dt, step):
    """Beyond the blocked angle the wheel is rigid with the chassis: a penalty along n̂ with Coulomb friction.

    Corrected: the source's friction without load stops nothing. The stiffness is the spring's over cos² of the blocked
    angle, so that the force is the same on both sides of that angle.
    """
    n, t, b, v, w = body.n, body.t, body.b, body.velocity, body.angular
    for i in range(LANES):
        if model.present[i] == 0.0 or state.wall_depth[i] <= 0.0:
            leave_wall(state, work, i)
            continue
        k = int(work.wall_slice[i])
        offset = work.wall_side[i] * model.half_width[i]
        forward, up = model.radius[i] * slices[k, 0], -model.radius[i] * slices[k, 1]
        px = work.arm_x[i] + offset * t[0] + forward * n[0] + up * b[0]
        py = work.arm_y[i] + offset * t[1] + forward * n[1] + up * b[1]
        pz = work.arm_z[i] + offset * t[2] + forward * n[2] + up * b[2]
        vx, vy, vz = cross(w[0], w[1], w[2], px, py, pz)
        material = (model.wall_stiffness[i], model.wall_damping[i], model.wall_friction[i])
        normal = (work.wall_nx[i], work.wall_ny[i], work.wall_nz[i])
        deflection = (state.wall_x[i], state.wall_y[i], state.wall_z[i])
        rx, ry, rz, ux, uy, uz, gx, gy, gz = penalty_rates(
            material, state.wall_depth[i], normal, (vx + v[0], vy + v[1], vz + v[2]), deflection, dt, step
        )
        state.wall_x[i], state.wall_y[i], state.wall_z[i] = ux + dt * gx, uy + dt * gy, uz + dt * gz
        work.wall_rate_x[i], work.wall_rate_y[i], work.wall_rate_z[i] = gx, gy, gz
        state.wall_force_x[i], state.wall_force_y[i], state.wall_force_z[i] = rx, ry, rz
        add_force(body, px, py, pz, rx, ry, rz)
