"""The contacts of a block of wheels: where each touches the ground, and the walls that it runs into."""

from __future__ import annotations

from math import sqrt

from botz.kernels import compiled, inlined, of_lane, on_lanes
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
            for rim in range(2):
                if work.rim_fresh[rim, i] == 0.0 and (rim == 0 or model.half_width[i] > 0.0):
                    search_rim_near(model, state, work, body, ground, slices, i, rim)
    merge_rims(model, state, work, body)


@on_lanes
def clear_slopes(work):
    """Of rims that are not searched."""
    for i in range(LANES):
        for rim in range(2):
            work.rim_slope_x[rim, i], work.rim_slope_y[rim, i] = 0.0, 0.0


@inlined
def newton_in_cell(cell, cells_x, cells_y, u, v, z, h, b):  # -> change of h, slopes
    """One step of Newton's method for z + h b_z = f, at (u, v) in a cell of the ground (`cell_of`)."""
    corner, rise_x, rise_y, twist = cell
    fx = (rise_x + twist * v) * cells_x
    fy = (rise_y + twist * u) * cells_y
    ground = corner + rise_x * u + (rise_y + twist * u) * v
    return (ground - z - h * b[2]) / (b[2] - fx * b[0] - fy * b[1]), fx, fy


@on_lanes
def follow_contacts(model, state, work, body, grid):
    for rim in range(2):
        for i in range(LANES):
            follow_contact(model, state, work, body, grid, rim, i)


@of_lane
def follow_contact(model, state, work, body, grid, rim, i):
    """One step of Newton's method at a rim's last slice, from where the deflection was going; `fresh` where that
    settles it, in the cell of the ground that was looked up last, and no other slice can have become the contact."""
    nx, ny, nz = vector(body.n)
    tx, ty, tz = vector(body.t)
    bx, by, bz = vector(body.b)
    ox, oy, oz = vector(body.position)
    x_min, y_min, cells_x, cells_y = grid.x_min, grid.y_min, grid.cells_x, grid.cells_y
    growth, travelled = 1.0 + body.steepest, body.travelled
    forward, down = model.radius[i] * state.rim_sine[rim, i], model.radius[i] * state.rim_cosine[rim, i]
    side, last = (1.0 - 2.0 * rim) * model.half_width[i], state.rim_h[rim, i]
    start = last + state.rim_step[rim, i]
    px = ox + work.arm_x[i] + side * tx + forward * nx - down * bx
    py = oy + work.arm_y[i] + side * ty + forward * ny - down * by
    pz = oz + work.arm_z[i] + side * tz + forward * nz - down * bz
    u = (px + start * bx - x_min) * cells_x - state.rim_cell_x[rim, i]
    v = (py + start * by - y_min) * cells_y - state.rim_cell_y[rim, i]
    cell = (
        state.rim_corner[rim, i], state.rim_rise_x[rim, i], state.rim_rise_y[rim, i], state.rim_twist[rim, i]
    )  # fmt: skip
    change, fx, fy = newton_in_cell(cell, cells_x, cells_y, u, v, pz, start, (bx, by, bz))
    h = start + change
    settled = 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0 and abs(change) < model.tolerance[i]
    settled = settled and model.h_min[i] < h <= model.h_max[i]
    hanging, margin = state.rim_slice[rim, i] < 0.0, state.rim_margin[rim, i]
    way = travelled - state.rim_seen[rim, i]
    fresh = growth * way < margin if hanging else (settled and growth * (way + abs(h - last)) < margin)
    follow = fresh and not hanging
    work.rim_fresh[rim, i] = 1.0 if fresh else 0.0
    state.rim_margin[rim, i] = margin - growth * abs(h - last) if follow else margin
    state.rim_step[rim, i] = h - last if follow else 0.0
    state.rim_h[rim, i] = h if follow else last
    work.rim_slope_x[rim, i], work.rim_slope_y[rim, i] = fx, fy


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
    state.rim_cell_x[rim, i], state.rim_cell_y[rim, i], state.rim_corner[rim, i] = column, row, corner
    state.rim_rise_x[rim, i], state.rim_rise_y[rim, i], state.rim_twist[rim, i] = rise_x, rise_y, twist
    state.rim_slice[rim, i], state.rim_h[rim, i] = best, h
    state.rim_margin[rim, i], state.rim_seen[rim, i] = margin, body.travelled
    state.rim_sine[rim, i], state.rim_cosine[rim, i], state.rim_step[rim, i] = sine, cosine, 0.0
    work.rim_slope_x[rim, i], work.rim_slope_y[rim, i] = fx, fy


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
    last, last_h = int(state.rim_slice[rim, i]), state.rim_h[rim, i]
    best, h, margin = search_near(
        ground, slices, measures, body.steepest, last, last_h, centre, vector(body.n), vector(body.b)
    )
    going = h - last_h if best == last and best >= 0 else 0.0
    keep_contact(model, state, work, body, ground, slices, i, rim, best, h, margin)
    state.rim_step[rim, i] = going


@on_lanes
def merge_rims(model, state, work, body):
    for i in range(LANES):
        merge_rims_of_wheel(model, state, work, body, i)


@of_lane
def merge_rims_of_wheel(model, state, work, body, i):
    """One contact of both rims.

    On level ground both rims touch. Where their deflections differ by less than `blend`, the wheel stands on both, in
    the shares λ, 1 − λ of the smooth maximum h = (h_a + h_b)/2 + d²/4ε + ε/4, d = h_a − h_b; beyond, on the deeper
    one. The smooth maximum's own derivative gives the shares, so that no energy comes of the change; and what left
    does, right does mirrored. Two forces that are not one have a moment besides: λ(1 − λ)(X_a − X_b)×(m_a − m_b).

    The normal is the ground's, n̂ = (−f_x, −f_y, 1)/|·|. Corrected: the source takes the rim's radius, which is not
    normal to the ground and feeds energy in. m = n̂/(b·n̂) moves h by one when the body moves by one along it.
    """
    nx, ny, nz = vector(body.n)
    tx, ty, tz = vector(body.t)
    bx, by, bz = vector(body.b)
    h_a, h_b, blend, radius, half = (
        state.rim_h[0, i],
        state.rim_h[1, i],
        model.blend[i],
        model.radius[i],
        model.half_width[i],
    )
    on_a, on_b = state.rim_slice[0, i] >= 0.0, state.rim_slice[1, i] >= 0.0 and half > 0.0
    difference = h_a - h_b
    mixed = min(max(0.5 + 0.5 * difference / blend, 0.0), 1.0)
    share = (mixed if on_b else 1.0) if on_a else 0.0
    rest = 1.0 - share
    both = share * rest
    level = 0.5 * (h_a + h_b) + difference * difference / (4.0 * blend) + 0.25 * blend
    h = level if both > 0.0 else (h_a if share > 0.5 else h_b)
    scale_a = 1.0 / (bz - work.rim_slope_x[0, i] * bx - work.rim_slope_y[0, i] * by)
    scale_b = 1.0 / (bz - work.rim_slope_x[1, i] * bx - work.rim_slope_y[1, i] * by)
    ax, ay, az = -work.rim_slope_x[0, i] * scale_a, -work.rim_slope_y[0, i] * scale_a, scale_a
    cx, cy, cz = -work.rim_slope_x[1, i] * scale_b, -work.rim_slope_y[1, i] * scale_b, scale_b
    mx, my, mz = share * ax + rest * cx, share * ay + rest * cy, share * az + rest * cz
    b_n = 1.0 / sqrt(mx * mx + my * my + mz * mz)
    forward = radius * (share * state.rim_sine[0, i] + rest * state.rim_sine[1, i])
    up = share * (h_a - radius * state.rim_cosine[0, i]) + rest * (h_b - radius * state.rim_cosine[1, i])
    side = half * (share - rest)
    ahead = radius * (state.rim_sine[0, i] - state.rim_sine[1, i])
    above = h_a - h_b - radius * (state.rim_cosine[0, i] - state.rim_cosine[1, i])
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
    state.sine[i] = share * state.rim_sine[0, i] + rest * state.rim_sine[1, i]
    state.cosine[i] = share * state.rim_cosine[0, i] + rest * state.rim_cosine[1, i]


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
