"""Sprung wheels on a body, four side by side: one record holds the same quantity of four wheels in one vector.

The functions here take a block of wheels and the motion of the body that carries them, whoever moves that body: the
vehicle engine's own loop, or a body of another engine. Each is one loop over the four lanes without branches, so that
the compiler makes vector code of it; the contact search alone goes wheel by wheel. A lane without a wheel has
`present` 0 and takes no part.

Sums of a wheel's power show why each velocity is what it is: the force R on the body acts at X_cp with the body's
velocity v_P there; with ḣ from (v_P + ḣ b)·n̂ = 0 and slip from v_P + ḣ b, all that R does is in the spring, in the
damper and in the slip, and none is made of nothing.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from botz.frames import compiled, cross, dot, record
from botz.physics import tyre
from botz.physics.contact import NONE, search_all, search_near
from botz.physics.penalty import penalty_force
from botz.physics.polynomials import sin_of
from botz.physics.suspension import suspension_force
from botz.physics.terrain import height_and_slope

LANES = 4
FOUR, VECTOR = (np.float64, LANES), (np.float64, 3)
DEGREES = 57.29577951308232
GRAVITY = 9.80665
"""For the mass that a load stands for, in damping ratios; not the world's gravity."""
COULOMB, MAGIC = 1.0, 2.0

BODY = record(
    # motion: centre of mass, axes n, t, b, velocity, angular velocity, all in the world
    position=VECTOR, n=VECTOR, t=VECTOR, b=VECTOR, velocity=VECTOR, angular=VECTOR,
    # sums of what acts on it: force, moment about the centre of mass
    force=VECTOR, moment=VECTOR,
    # how far any of its points may have moved since the start, at most; steepest ground near it
    travelled=np.float64, steepest=np.float64,
)  # fmt: skip

_PARAMETERS = """
    present kind axle x y z radius half_width blend stiffness damping travel progression h_min h_max tolerance
    wall_stiffness wall_damping wall_friction
    mu_static mu_dynamic tread_stiffness tread_damping
    xa1 xa2 xa3 xa4 xa5 xa6 xa7 xa8 ya1 ya2 ya3 ya4 ya5 ya6 ya7 ya8 ma1 ma2 ma3 ma4 ma5 ma6 ma7 ma8
    c_x c_y c_m b1_x b2_x cc_x e_x shift_x b1_y b2_y cc_y shift_y
    friction_scale stiffness_scale sigma_x sigma_y largest_load peak_x peak_y v_park
""".split()
_STATE = "u_x u_y sliding wall_x wall_y wall_z slice_a slice_b h_a h_b margin_a margin_b seen_a seen_b".split()
"""Deflections of the tread, of the wall contact, and the memory of the contact search for both rims."""
_WORK = """
    omega arm_x arm_y arm_z h dh b_n b_t b_l n_x n_y n_z t_x t_y t_z l_x l_y l_z p_x p_y p_z w_x w_y w_z
    v_x v_y spin_n spring load force_x force_y moment_z kappa alpha rate_x rate_y sine cosine wall_depth wall_slice
    wall_force_x wall_force_y wall_force_z weight_x weight_y change
    x_base y_base x_sum y_sum
""".split()

WHEELS = record(
    **{name: FOUR for name in _PARAMETERS + _STATE + _WORK},
    # whether any of the four has this tyre; whether the combined slip has shifts; whether there are aligning moments
    any_coulomb=np.int64, any_magic=np.int64, any_shift=np.int64, any_aligning=np.int64,
)  # fmt: skip
STATE_FIELDS, WORK_FIELDS = tuple(_STATE), tuple(_WORK)


@compiled
def place_wheels(block, body):
    """Eq. 3.6: X_teo − X_c = x n + y t + z b (corrected: from the chassis' centre of mass)."""
    n, t, b = body.n, body.t, body.b
    nx, ny, nz = n[0], n[1], n[2]
    tx, ty, tz = t[0], t[1], t[2]
    bx, by, bz = b[0], b[1], b[2]
    for i in range(LANES):
        x, y, z = block.x[i], block.y[i], block.z[i]
        block.arm_x[i] = x * nx + y * tx + z * bx
        block.arm_y[i] = x * ny + y * ty + z * by
        block.arm_z[i] = x * nz + y * tz + z * bz


@compiled
def find_contacts(block, body, heights, grid, sines, cosines, cos_blocked, plain):
    """Contact point, normal, deflection and angle γ of each wheel, and the walls that it runs into.

    `plain` looks at all slices; otherwise the last contact is followed as long as no other slice can have come down
    to the ground: a point moves by no more than the body's travelled way, the ground under it rises by no more than
    its steepness times that.
    """
    for i in range(LANES):
        if block.present[i] == 0.0:
            continue
        half = block.half_width[i]
        slice_a, h_a = find_on_rim(block, body, heights, grid, sines, cosines, cos_blocked, plain, i, half, 0)
        slice_b, h_b = -1, NONE
        if half > 0.0:
            slice_b, h_b = find_on_rim(block, body, heights, grid, sines, cosines, cos_blocked, plain, i, -half, 1)
        set_contact(block, body, heights, grid, sines, cosines, i, slice_a, h_a, slice_b, h_b)


@compiled
def find_on_rim(block, body, heights, grid, sines, cosines, cos_blocked, plain, i, offset, rim):  # -> slice, h
    n, t, b = body.n, body.t, body.b
    x = body.position[0] + block.arm_x[i] + offset * t[0]
    y = body.position[1] + block.arm_y[i] + offset * t[1]
    z = body.position[2] + block.arm_z[i] + offset * t[2]
    h_min, h_max, tolerance, radius = block.h_min[i], block.h_max[i], block.tolerance[i], block.radius[i]
    if plain:
        best, h, wall, depth = search_all(
            heights, grid, sines, cosines, radius, h_min, h_max, tolerance, cos_blocked,
            x, y, z, n[0], n[1], n[2], b[0], b[1], b[2],
        )  # fmt: skip
        if rim == 0 or depth > block.wall_depth[i]:
            block.wall_depth[i] = depth
            block.wall_slice[i] = wall + (0.5 if rim == 1 else 0.0)
        if rim == 0:
            block.slice_a[i], block.h_a[i], block.margin_a[i], block.seen_a[i] = best, h, 0.0, body.travelled
        else:
            block.slice_b[i], block.h_b[i], block.margin_b[i], block.seen_b[i] = best, h, 0.0, body.travelled
        return best, h
    block.wall_depth[i] = 0.0
    if rim == 0:
        last, last_h, margin, seen = int(block.slice_a[i]), block.h_a[i], block.margin_a[i], block.seen_a[i]
    else:
        last, last_h, margin, seen = int(block.slice_b[i]), block.h_b[i], block.margin_b[i], block.seen_b[i]
    reach = (1.0 + body.steepest) * (body.travelled - seen)
    if reach < margin:
        if last < 0:
            return -1, NONE
        forward, down = radius * sines[last], radius * cosines[last]
        px = x + forward * n[0] - down * b[0]
        py = y + forward * n[1] - down * b[1]
        pz = z + forward * n[2] - down * b[2]
        h = last_h
        for _ in range(8):
            ground, fx, fy = height_and_slope(heights, grid, px + h * b[0], py + h * b[1])
            change = (ground - pz - h * b[2]) / (b[2] - fx * b[0] - fy * b[1])
            h += change
            if abs(change) < tolerance:
                # Others rise against this one when it sinks: that counts as their way too.
                if h_min < h <= h_max and reach + (1.0 + body.steepest) * abs(h - last_h) < margin:
                    if rim == 0:
                        block.h_a[i] = h
                        block.margin_a[i] = margin - (1.0 + body.steepest) * abs(h - last_h)
                    else:
                        block.h_b[i] = h
                        block.margin_b[i] = margin - (1.0 + body.steepest) * abs(h - last_h)
                    return last, h
                break
    best, h, margin = search_near(
        heights, grid, sines, cosines, radius, h_min, h_max, tolerance,
        last, last_h, x, y, z, n[0], n[1], n[2], b[0], b[1], b[2],
    )  # fmt: skip
    if rim == 0:
        block.slice_a[i], block.h_a[i], block.margin_a[i], block.seen_a[i] = best, h, margin, body.travelled
    else:
        block.slice_b[i], block.h_b[i], block.margin_b[i], block.seen_b[i] = best, h, margin, body.travelled
    return best, h if best >= 0 else NONE


@compiled
def set_contact(block, body, heights, grid, sines, cosines, i, slice_a, h_a, slice_b, h_b):
    """One contact of both rims.

    On level ground both rims touch. Where their deflections differ by less than `blend`, the wheel stands on both, in
    the shares λ, 1 − λ of the smooth maximum h = (h_a + h_b)/2 + d²/4ε + ε/4, d = h_a − h_b; beyond, on the deeper
    one. The smooth maximum's own derivative gives the shares, so that no energy comes of the change; and what left
    does, right does mirrored.
    """
    difference, blend = h_a - h_b, block.blend[i]
    share = 1.0
    if slice_a < 0 and slice_b < 0:
        block.h[i] = 0.0
        block.b_n[i] = 1.0
        return
    if slice_a < 0 or difference <= -blend:
        share = 0.0
    elif slice_b >= 0 and difference < blend:
        share = 0.5 + 0.5 * difference / blend
    n, t, b = body.n, body.t, body.b
    mx, my, mz = 0.0, 0.0, 0.0
    px, py, pz = 0.0, 0.0, 0.0
    # Lines from b to both contacts, and their scaled normals: for the moment of two forces that are not one.
    dx, dy, dz, ex, ey, ez = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    sine, cosine = 0.0, 0.0
    for rim in range(2):
        weight = share if rim == 0 else 1.0 - share
        if weight == 0.0:
            continue
        k = slice_a if rim == 0 else slice_b
        h = h_a if rim == 0 else h_b
        offset = block.half_width[i] if rim == 0 else -block.half_width[i]
        forward, up = block.radius[i] * sines[k], h - block.radius[i] * cosines[k]
        ax = block.arm_x[i] + offset * t[0] + forward * n[0] + up * b[0]
        ay = block.arm_y[i] + offset * t[1] + forward * n[1] + up * b[1]
        az = block.arm_z[i] + offset * t[2] + forward * n[2] + up * b[2]
        _, fx, fy = height_and_slope(heights, grid, body.position[0] + ax, body.position[1] + ay)
        # n̂/(b·n̂), n̂ = (−f_x, −f_y, 1)/|·|. Corrected: the ground's normal, not the rim's radius, which feeds energy in.
        scale = 1.0 / (b[2] - fx * b[0] - fy * b[1])
        side = 1.0 if rim == 0 else -1.0
        dx += side * ax
        dy += side * ay
        dz += side * az
        ex -= side * fx * scale
        ey -= side * fy * scale
        ez += side * scale
        px += weight * ax
        py += weight * ay
        pz += weight * az
        mx -= weight * fx * scale
        my -= weight * fy * scale
        mz += weight * scale
        sine += weight * sines[k]
        cosine += weight * cosines[k]
    both = share * (1.0 - share)
    if both > 0.0:
        block.h[i] = 0.5 * (h_a + h_b) + difference * difference / (4.0 * blend) + 0.25 * blend
        wx, wy, wz = cross(dx, dy, dz, ex, ey, ez)
        block.w_x[i], block.w_y[i], block.w_z[i] = both * wx, both * wy, both * wz
    else:
        block.h[i] = h_a if share == 1.0 else h_b
        block.w_x[i], block.w_y[i], block.w_z[i] = 0.0, 0.0, 0.0
    b_n = 1.0 / sqrt(mx * mx + my * my + mz * mz)
    block.p_x[i], block.p_y[i], block.p_z[i] = px, py, pz
    block.n_x[i], block.n_y[i], block.n_z[i] = mx * b_n, my * b_n, mz * b_n
    block.b_n[i] = b_n
    block.sine[i], block.cosine[i] = sine, cosine


@compiled
def contact_motion(block, body):
    """Directions along and across the wheel on the ground, ḣ, slip velocities, and the suspension's force.

    ḣ = −v_P·n̂/(b·n̂) with v_P the velocity of the chassis-fixed point at X_cp, never a difference of h. T̂ = t×n̂/|t×n̂|,
    L̂ = n̂×T̂. The slip uses v_P + ḣ b, which lies in the ground; r Ω·t turns the chassis' pitching back out of it.
    """
    t, b, v, w = body.t, body.b, body.velocity, body.angular
    tx, ty, tz = t[0], t[1], t[2]
    bx, by, bz = b[0], b[1], b[2]
    vx, vy, vz = v[0], v[1], v[2]
    ox, oy, oz = w[0], w[1], w[2]
    pitching = dot(ox, oy, oz, tx, ty, tz)
    for i in range(LANES):
        px, py, pz = block.p_x[i], block.p_y[i], block.p_z[i]
        nx, ny, nz = block.n_x[i], block.n_y[i], block.n_z[i]
        cx, cy, cz = cross(ox, oy, oz, px, py, pz)
        cx += vx
        cy += vy
        cz += vz
        twist = dot(ox, oy, oz, block.w_x[i], block.w_y[i], block.w_z[i])
        dh = -dot(cx, cy, cz, nx, ny, nz) / block.b_n[i] - twist
        cx += dh * bx
        cy += dh * by
        cz += dh * bz
        ax, ay, az = cross(tx, ty, tz, nx, ny, nz)
        length = 1.0 / sqrt(ax * ax + ay * ay + az * az)
        ax *= length
        ay *= length
        az *= length
        lx, ly, lz = cross(nx, ny, nz, ax, ay, az)
        touching = 1.0 if block.h[i] > 0.0 else 0.0
        block.dh[i] = dh * touching
        block.t_x[i], block.t_y[i], block.t_z[i] = ax, ay, az
        block.l_x[i], block.l_y[i], block.l_z[i] = lx, ly, lz
        block.b_t[i] = dot(bx, by, bz, ax, ay, az)
        block.b_l[i] = dot(bx, by, bz, lx, ly, lz)
        block.v_x[i] = (dot(cx, cy, cz, ax, ay, az) + block.radius[i] * pitching) * touching
        block.v_y[i] = dot(cx, cy, cz, lx, ly, lz) * touching
        block.spin_n[i] = dot(ox, oy, oz, nx, ny, nz)
        block.spring[i] = suspension_force(
            block.stiffness[i], block.damping[i], block.travel[i], block.progression[i], block.h[i], dh
        )


@compiled
def coulomb_tyres(block, dt):
    """Eqs. 3.16-3.22 in three dimensions: a spring while it sticks, μ* N against the slip once it has broken loose.

    Corrected: the limits hold whenever F_susp > 0 (the source's case 1 lifts wheels that friction would hold), and
    bound the whole force, √(F_x² + F_y²) ≤ μ N. Sticking, the spring finds F_x = (τ − I V̇_x/r)/r by itself.
    """
    for i in range(LANES):
        if block.kind[i] != COULOMB:
            continue
        spring = block.spring[i]
        k = block.tread_stiffness[i]
        c = 2.0 * block.tread_damping[i] * sqrt(k * spring / GRAVITY)
        rate_x = -(block.v_x[i] - block.omega[i] * block.radius[i])
        rate_y = -block.v_y[i]
        x, y = block.u_x[i] + dt * rate_x, block.u_y[i] + dt * rate_y
        fx, fy = k * x + c * rate_x, k * y + c * rate_y
        b_n, b_t, b_l = block.b_n[i], block.b_t[i], block.b_l[i]
        load = (spring - fx * b_t - fy * b_l) / b_n
        size = sqrt(fx * fx + fy * fy)
        sliding = 0.0
        limit = block.mu_static[i] if block.sliding[i] == 0.0 else block.mu_dynamic[i]
        if size > limit * max(load, 0.0):
            sliding = 1.0
            ex, ey = fx / max(size, 1e-300), fy / max(size, 1e-300)
            mu = block.mu_dynamic[i]
            load = tyre.load_of_balance(spring, b_n, mu * (ex * b_t + ey * b_l))
            fx, fy = mu * load * ex, mu * load * ey
            x, y = fx / k, fy / k
        if spring == 0.0:
            x, y, fx, fy, load, sliding = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if dt > 0.0:
            block.u_x[i], block.u_y[i], block.sliding[i] = x, y, sliding
        # Loose, the spring stays where the limit holds it: its rate is that of the limit, which a step settles.
        block.rate_x[i] = rate_x if sliding == 0.0 else 0.0
        block.rate_y[i] = rate_y if sliding == 0.0 else 0.0
        block.force_x[i], block.force_y[i], block.load[i], block.moment_z[i] = fx, fy, load, 0.0
        speed = max(abs(block.omega[i] * block.radius[i]), abs(block.v_x[i]), 1e-9)
        block.kappa[i] = rate_x / speed
        block.alpha[i] = tyre.angle_of_sine(block.v_y[i] / max(sqrt(block.v_x[i] ** 2 + block.v_y[i] ** 2), 1e-9))


@compiled
def magic_tyres(block, dt):
    """Eqs. 3.25-3.38 with deflections of the tread for the slips; load and forces in balance along the suspension."""
    for i in range(LANES):
        block.load[i] = block.spring[i] / block.b_n[i] if block.kind[i] == MAGIC else block.load[i]
    advance_treads(block, dt)
    combined_weights(block)
    for _ in range(4):
        magic_forces(block)
        worst = 0.0
        for i in range(LANES):
            worst = max(worst, abs(block.change[i]))
        # The coefficients change slowly with the load: a part in a thousand of it moves them by less than 1e-4.
        if not worst > 1e-3:
            break
    if block.any_aligning:
        aligning_moments(block)


@compiled
def advance_treads(block, dt):
    """Deflections of the tread after dt (0: as they are), their rates, and the slips κ', α' that they stand for."""
    for i in range(LANES):
        v_x, v_y = block.v_x[i], block.v_y[i]
        rolling = block.omega[i] * block.radius[i]
        magic = block.kind[i] == MAGIC
        touching = block.spring[i] > 0.0
        load = min(max(block.load[i], 1e-3), block.largest_load[i]) * 1e-3
        scale, stiffer = block.friction_scale[i], block.stiffness_scale[i]
        peak = tyre.peak_of_load(block.xa1[i], block.xa2[i], load) * scale * block.c_x[i]
        stiffness = tyre.longitudinal_stiffness(block.xa3[i], block.xa4[i], block.xa5[i], load) * stiffer
        peak_slip = 0.01 * block.peak_x[i] * peak / stiffness
        v_roll = max(abs(rolling), abs(v_x))
        v_slip = v_x - rolling
        u, sigma, park = block.u_x[i], block.sigma_x[i], block.v_park[i]
        rate = tyre.deflection_rate(sigma, u, v_slip, v_roll, dt)
        cap = tyre.slip_cap(peak_slip, abs(v_slip) / max(v_roll, 1e-9), v_roll, park) * sigma
        new = min(max(u + dt * rate, -cap), cap)
        free = 1.0 if abs(new) < cap or new * rate < 0.0 else 0.0
        block.u_x[i] = (new if touching else 0.0) if magic else u
        block.rate_x[i] = rate * free if magic else block.rate_x[i]
        block.kappa[i] = new / sigma if magic else block.kappa[i]

        peak = tyre.peak_of_load(block.ya1[i], block.ya2[i], load) * scale * block.c_y[i]
        stiffness = tyre.lateral_stiffness(block.ya3[i], block.ya4[i], block.ya5[i], load) * stiffer
        peak_sine = sin_of(min(block.peak_y[i] * peak / stiffness / DEGREES, 1.5))
        v_whole = sqrt(v_x * v_x + v_y * v_y)
        u, sigma = block.u_y[i], block.sigma_y[i]
        # Against the whole speed the deflection follows the sine of the slip angle, which has no pole sideways.
        rate = tyre.deflection_rate(sigma, u, v_y, v_whole, dt)
        cap = tyre.slip_cap(peak_sine, min(abs(v_y) / max(v_whole, 1e-9), 0.9999), v_whole, park) * sigma
        new = min(max(u + dt * rate, -cap), cap)
        free = 1.0 if abs(new) < cap or new * rate < 0.0 else 0.0
        block.u_y[i] = (new if touching else 0.0) if magic else u
        block.rate_y[i] = rate * free if magic else block.rate_y[i]
        block.alpha[i] = tyre.angle_of_sine(new / sigma) if magic else block.alpha[i]


@compiled
def combined_weights(block):
    """G_xα and G_yκ of eqs. 3.37-3.38; the shifts cost as much again and are zero by default."""
    if block.any_shift:
        for i in range(LANES):
            kappa, alpha = block.kappa[i], block.alpha[i]
            b_x = tyre.weight_slope(block.b1_x[i], block.b2_x[i], kappa)
            b_y = tyre.weight_slope(block.b1_y[i], block.b2_y[i], alpha)
            block.weight_x[i] = tyre.combined_weight(b_x, block.cc_x[i], block.e_x[i], block.shift_x[i], alpha)
            block.weight_y[i] = tyre.combined_weight(b_y, block.cc_y[i], 0.0, block.shift_y[i], kappa)
    else:
        for i in range(LANES):
            kappa, alpha = block.kappa[i], block.alpha[i]
            b_x = tyre.weight_slope(block.b1_x[i], block.b2_x[i], kappa)
            b_y = tyre.weight_slope(block.b1_y[i], block.b2_y[i], alpha)
            block.weight_x[i] = tyre.simple_weight(b_x, block.cc_x[i], alpha)
            block.weight_y[i] = tyre.simple_weight(b_y, block.cc_y[i], kappa)


@compiled
def magic_forces(block):
    """F_x, F_y at the present loads, then the loads that balance them, and by how much these changed."""
    for i in range(LANES):
        load = min(max(block.load[i], 1e-3), block.largest_load[i]) * 1e-3
        scale, stiffer = block.friction_scale[i], block.stiffness_scale[i]
        peak_x = tyre.peak_of_load(block.xa1[i], block.xa2[i], load) * scale
        stiffness_x = tyre.longitudinal_stiffness(block.xa3[i], block.xa4[i], block.xa5[i], load) * stiffer
        e = tyre.curvature_of_load(block.xa6[i], block.xa7[i], block.xa8[i], load)
        c = block.c_x[i]
        fx = peak_x * tyre.magic_shape(stiffness_x / (c * peak_x), c, e, 100.0 * block.kappa[i]) * block.weight_x[i]
        peak_y = tyre.peak_of_load(block.ya1[i], block.ya2[i], load) * scale
        stiffness_y = tyre.lateral_stiffness(block.ya3[i], block.ya4[i], block.ya5[i], load) * stiffer
        e = tyre.curvature_of_load(block.ya6[i], block.ya7[i], block.ya8[i], load)
        c = block.c_y[i]
        fy = peak_y * tyre.magic_shape(stiffness_y / (c * peak_y), c, e, DEGREES * block.alpha[i]) * block.weight_y[i]
        # At rest the tread is a damped spring; its damping is gone at the parking speed.
        speed = max(abs(block.v_x[i]), abs(block.omega[i] * block.radius[i]), abs(block.v_y[i]))
        still = max(1.0 - speed / block.v_park[i], 0.0) * block.tread_damping[i]
        carried = block.load[i] / GRAVITY
        fx += still * 2.0 * sqrt(100.0 * stiffness_x / block.sigma_x[i] * carried) * block.rate_x[i]
        fy += still * 2.0 * sqrt(DEGREES * stiffness_y / block.sigma_y[i] * carried) * block.rate_y[i]
        fx, fy = tyre.onto_ellipse(peak_x, peak_y, fx, fy)
        per_load = 1.0 / max(block.load[i], 1e-3)
        new = tyre.load_of_balance(block.spring[i], block.b_n[i], (fx * block.b_t[i] + fy * block.b_l[i]) * per_load)
        magic = block.kind[i] == MAGIC
        grown = new * per_load
        block.change[i] = (new - block.load[i]) / (block.load[i] + 1.0) if magic else 0.0
        block.force_x[i] = fx * grown if magic else block.force_x[i]
        block.force_y[i] = fy * grown if magic else block.force_y[i]
        block.load[i] = new if magic else block.load[i]


@compiled
def aligning_moments(block):
    """M_z about the contact normal, by the last rows of tables 4 and 5: the lateral force acts behind the contact.

    The formula knows nothing of the yaw rate. Where it would drive the yawing with more power than the lateral slip
    takes, it gives that much and no more.
    """
    for i in range(LANES):
        load = min(max(block.load[i], 1e-3), block.largest_load[i]) * 1e-3
        scale = block.friction_scale[i]
        peak = min(tyre.peak_of_load(block.ma1[i], block.ma2[i], load), -1e-12)
        stiffness = tyre.longitudinal_stiffness(block.ma3[i], block.ma4[i], block.ma5[i], load)
        e = tyre.curvature_of_load(block.ma6[i], block.ma7[i], block.ma8[i], load)
        c = block.c_m[i]
        moment = peak * scale * tyre.magic_shape(stiffness / (c * peak), c, e, DEGREES * block.alpha[i])
        v_x = block.v_x[i]
        moment *= block.weight_y[i] * v_x / (abs(v_x) + block.v_park[i])
        power = moment * block.spin_n[i]
        allowed = max(-block.force_y[i] * block.v_y[i], 0.0)
        share = min(1.0, allowed / max(power, 1e-300)) if power > 0.0 else 1.0
        turning = block.kind[i] == MAGIC and block.spring[i] > 0.0
        block.moment_z[i] = moment * share if turning else 0.0


@compiled
def sum_wheels(block, body):
    """R = N n̂ + F_x T̂ + F_y L̂ at X_cp on the body, and M_z about n̂.

    The moments of spin need nothing here: with the angular momentum of body and wheels together as the state, all
    that changes it are the moments of R (physics page: d/dt[J Ω + Σ I ω t] = Σ (X_cp − X_c)×R).
    """
    sx, sy, sz, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(LANES):
        load, fx, fy, turn = block.load[i], block.force_x[i], block.force_y[i], block.moment_z[i]
        nx, ny, nz = block.n_x[i], block.n_y[i], block.n_z[i]
        rx = load * nx + fx * block.t_x[i] + fy * block.l_x[i]
        ry = load * ny + fx * block.t_y[i] + fy * block.l_y[i]
        rz = load * nz + fx * block.t_z[i] + fy * block.l_z[i]
        ax, ay, az = cross(block.p_x[i], block.p_y[i], block.p_z[i], rx, ry, rz)
        twisted = load * block.b_n[i]
        sx += rx
        sy += ry
        sz += rz
        mx += ax + turn * nx + twisted * block.w_x[i]
        my += ay + turn * ny + twisted * block.w_y[i]
        mz += az + turn * nz + twisted * block.w_z[i]
    body.force[0] += sx
    body.force[1] += sy
    body.force[2] += sz
    body.moment[0] += mx
    body.moment[1] += my
    body.moment[2] += mz


@compiled
def add_walls(block, body, heights, grid, sines, cosines, dt):
    """Beyond the blocked angle the wheel is rigid with the chassis: a penalty along n̂ with Coulomb friction.

    Corrected: the source's friction without load stops nothing. The stiffness is the spring's over cos² of the blocked
    angle, so that the force is the same on both sides of that angle.
    """
    n, t, b, v, w = body.n, body.t, body.b, body.velocity, body.angular
    for i in range(LANES):
        block.wall_force_x[i], block.wall_force_y[i], block.wall_force_z[i] = 0.0, 0.0, 0.0
        if block.present[i] == 0.0 or block.wall_depth[i] <= 0.0:
            block.wall_x[i], block.wall_y[i], block.wall_z[i] = 0.0, 0.0, 0.0
            continue
        k = int(block.wall_slice[i])
        offset = block.half_width[i] if block.wall_slice[i] == k else -block.half_width[i]
        forward, up = block.radius[i] * sines[k], -block.radius[i] * cosines[k]
        px = block.arm_x[i] + offset * t[0] + forward * n[0] + up * b[0]
        py = block.arm_y[i] + offset * t[1] + forward * n[1] + up * b[1]
        pz = block.arm_z[i] + offset * t[2] + forward * n[2] + up * b[2]
        _, fx, fy = height_and_slope(heights, grid, body.position[0] + px, body.position[1] + py)
        scale = 1.0 / sqrt(1.0 + fx * fx + fy * fy)
        vx, vy, vz = cross(w[0], w[1], w[2], px, py, pz)
        rx, ry, rz, ux, uy, uz = penalty_force(
            block.wall_stiffness[i], block.wall_damping[i], block.wall_friction[i],
            block.wall_depth[i], -fx * scale, -fy * scale, scale, vx + v[0], vy + v[1], vz + v[2],
            block.wall_x[i], block.wall_y[i], block.wall_z[i], dt,
        )  # fmt: skip
        block.wall_x[i], block.wall_y[i], block.wall_z[i] = ux, uy, uz
        block.wall_force_x[i], block.wall_force_y[i], block.wall_force_z[i] = rx, ry, rz
        mx, my, mz = cross(px, py, pz, rx, ry, rz)
        body.force[0] += rx
        body.force[1] += ry
        body.force[2] += rz
        body.moment[0] += mx
        body.moment[1] += my
        body.moment[2] += mz


@compiled
def wheel_forces(block, body, heights, grid, sines, cosines, cos_blocked, plain, dt):
    """All that four wheels do to the body that carries them; `omega` of the block are their absolute speeds.

    dt is the step over which the treads' deflections go (0: they stay, and only their rates are found).
    """
    place_wheels(block, body)
    find_contacts(block, body, heights, grid, sines, cosines, cos_blocked, plain)
    contact_motion(block, body)
    tyre_forces(block, dt)
    sum_wheels(block, body)
    if plain:
        add_walls(block, body, heights, grid, sines, cosines, dt)


@compiled
def tyre_forces(block, dt):
    if block.any_magic:
        magic_tyres(block, dt)
    if block.any_coulomb:
        coulomb_tyres(block, dt)
