"""The tyres of a block of wheels: forces on the ground, in balance with the suspension."""

from __future__ import annotations

from math import sqrt

from botz.kernels import compiled, inlined
from botz.physics.polynomials import sin_of
from botz.physics.wheels import tyre
from botz.physics.wheels.wheel_block import COULOMB, GRAVITY, LANES, MAGIC

DEGREES = 57.29577951308232

GAUSS_NODES = (
    0.019855071751231912, 0.10166676129318664, 0.23723379504183550, 0.40828267875217510,
    0.59171732124782490, 0.76276620495816450, 0.89833323870681340, 0.98014492824876810,
)  # fmt: skip
GAUSS_WEIGHTS = (
    0.05061426814518813, 0.11119051722668724, 0.15685332293894363, 0.18134189168918100,
    0.18134189168918100, 0.15685332293894363, 0.11119051722668724, 0.05061426814518813,
)  # fmt: skip
"""Gauss and Legendre's rule of eight points from 0 to 1."""


@compiled
def tyre_forces(block, dt, step):
    """Forces at the present deflections u (dt = 0) or at those after dt, which they then have; and the rates of u.

    `bent` are the deflections at which the forces act. u belongs to the load of the step's beginning, `load_before`:
    tread that comes in with a growing load is not stretched yet, so that bent = u N_before/N while the load grows
    (the tread that stays keeps its stretch, and so does all of it while the load falls). Without that, pressing a
    stretched tread would make energy. A load that only goes to and fro between two places of the contact takes nothing
    (`remember_place`). `rate` is that of `bent` at a constant load, and u̇ is rate N/N_before: `grown`.
    """
    if block.any_magic:
        magic_tyres(block, dt)
    if block.any_coulomb:
        coulomb_tyres(block, dt, step)
    if dt > 0.0:
        begin_from_here(block)


@compiled
def begin_from_here(block):
    """The deflections and loads just found are those from which a step goes on."""
    for i in range(LANES):
        block.u_x[i], block.u_y[i] = block.bent_x[i], block.bent_y[i]
        remember_place(block, i)
        block.load_before[i], block.sliding[i], block.grown[i] = block.load_bent[i], block.loose[i], 1.0


@inlined
def place_of(number, column, row):
    """Another number for another slice or another cell of the ground."""
    return number + 1024.0 * (column + 8388608.0 * row)


@inlined
def remember_place(block, i):
    """Where each rim stands and stood before, and the largest load at these places when one was left for the other.

    A wheel in a groove, or with a rim on the edge of two cells, goes from flank to flank as often as steps are made,
    and its load jumps each time. This is no growth: the tread that comes in is the one that has just left. Counted as
    growth it takes the more stretch the shorter the step is, and a parked vehicle creeps.
    """
    a = place_of(block.slice_a[i], block.cell_xa[i], block.cell_ya[i])
    b = place_of(block.slice_b[i], block.cell_xb[i], block.cell_yb[i])
    moved_a, moved_b = a != block.place_a[i], b != block.place_b[i]
    back_a, back_b = moved_a and a == block.left_a[i], moved_b and b == block.left_b[i]
    if (moved_a and not back_a) or (moved_b and not back_b):
        block.load_known[i] = block.load_before[i]
    elif moved_a or moved_b:
        block.load_known[i] = max(block.load_known[i], block.load_before[i])
    if moved_a:
        block.place_a[i], block.left_a[i] = a, block.place_a[i]
    if moved_b:
        block.place_b[i], block.left_b[i] = b, block.place_b[i]


@inlined
def load_that_is_in(block, i):  # -> load whose tread is not new
    """That of the step's beginning, or the largest of two places between which the contact goes to and fro."""
    a = place_of(block.slice_a[i], block.cell_xa[i], block.cell_ya[i])
    b = place_of(block.slice_b[i], block.cell_xb[i], block.cell_yb[i])
    stays_a, stays_b = a == block.place_a[i], b == block.place_b[i]
    to_and_fro = (stays_a or a == block.left_a[i]) and (stays_b or b == block.left_b[i])
    before = block.load_before[i]
    return max(before, block.load_known[i]) if to_and_fro and not (stays_a and stays_b) and before > 0.0 else before


@compiled
def coulomb_tyres(block, dt, step):
    """Eqs. 3.16-3.22 in three dimensions: a spring while it sticks, μ* N against the slip once it has broken loose.

    Corrected: the limits hold whenever F_susp > 0 (the source's case 1 lifts wheels that friction would hold), and
    bound the whole force, √(F_x² + F_y²) ≤ μ N. Sticking, the spring finds F_x = (τ − I V̇_x/r)/r by itself. Loose,
    the limit stretches the spring against its damper, c u̇ + k u = F: at once, its energy would come of nothing. A
    damper too weak for the step, c < k h, follows within one step.
    """
    for i in range(LANES):
        if block.kind[i] != COULOMB:
            continue
        spring = block.spring[i]
        k = block.tread_stiffness[i]
        c = 2.0 * block.tread_damping[i] * sqrt(k * spring / GRAVITY)
        rate_x = -(block.v_x[i] - block.omega[i] * block.radius[i])
        rate_y = -block.v_y[i]
        bend_x, bend_y = rate_x, rate_y
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
            mu *= tyre.wedge_share(b_n, mu * (ex * b_t + ey * b_l))
            load = tyre.load_of_balance(spring, b_n, mu * (ex * b_t + ey * b_l))
            fx, fy = mu * load * ex, mu * load * ey
            drag = max(c + k * dt, k * step)
            ease = 1.0 / drag if drag > 0.0 else 0.0
            bend_x, bend_y = ease * (fx - k * block.u_x[i]), ease * (fy - k * block.u_y[i])
            x, y = block.u_x[i] + dt * bend_x, block.u_y[i] + dt * bend_y
        if spring == 0.0:
            x, y, bend_x, bend_y, fx, fy, load, sliding = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        block.bent_x[i], block.bent_y[i], block.loose[i], block.grown[i] = x, y, sliding, 1.0
        block.rate_x[i], block.rate_y[i] = bend_x, bend_y
        block.force_x[i], block.force_y[i], block.load[i], block.moment_z[i] = fx, fy, load, 0.0
        speed = max(abs(block.omega[i] * block.radius[i]), abs(block.v_x[i]), 1e-9)
        block.kappa[i] = rate_x / speed
        block.alpha[i] = tyre.angle_of_sine(-block.v_y[i] / max(sqrt(block.v_x[i] ** 2 + block.v_y[i] ** 2), 1e-9))


@compiled
def magic_tyres(block, dt):
    """Eqs. 3.25-3.38 with deflections of the tread for the slips; load and forces in balance along the suspension.

    The balance starts from the last step's friction per load and repeats until it changes no load by more than 1e-5, or
    dt per second where that is less: what is left of it is smaller again and goes with the step, as the method's own
    error does. Without a step (Runge-Kutta's stages) it repeats to the end. The deflections belong to the load
    (`tyre_forces`), so they are found again with it: a load too large at first would cost a stretch that does not come
    back.
    """
    for i in range(LANES):
        ratio = block.ratio_x[i] * block.b_t[i] + block.ratio_y[i] * block.b_l[i]
        guess = tyre.load_of_balance(block.spring[i], block.b_n[i], ratio)
        block.load[i] = guess if block.kind[i] == MAGIC else block.load[i]
        block.load_in[i] = load_that_is_in(block, i)
    refresh_coefficients(block, dt)
    tolerance = max(min(1e-5, dt), 1e-13)
    for _ in range(20):
        bend_treads(block, dt)
        if block.any_shift:
            shifted_weights(block)
        magic_forces(block)
        balanced = True
        for i in range(LANES):
            if abs(block.change[i]) > tolerance * (block.load[i] + 1.0):
                balanced = False
        if balanced:
            break
        refresh_coefficients(block, dt)
    limit_moments(block)


@compiled
def refresh_coefficients(block, dt):
    """The coefficients of the present loads, where one has left the load of the last look by a part in ten thousand.

    In between friction and stiffness per load stay as they are: an error of at most 1e-4 (1 − s) for a coefficient that
    grows with the s-th power of the load, under 1e-6 of the force below 1 kN. Runge-Kutta's stages (dt = 0) look every
    time.
    """
    stale = dt == 0.0
    for i in range(LANES):
        seen = block.load_seen[i]
        if block.kind[i] == MAGIC and not abs(max(block.load[i], 1e-3) - seen) <= 1e-4 * seen:
            stale = True
    if stale:
        tyre_coefficients(block)


@compiled
def tyre_coefficients(block):
    """D, BCD and E of eqs. 3.31-3.34 at the present loads, and what follows from them alone: friction per load μ = D/N,
    B per unit of slip and per radian, the slips of the peaks, and the damping of the tread at rest, per load."""
    for i in range(LANES):
        seen = max(block.load[i], 1e-3)
        block.load_seen[i] = seen
        per_load = 1.0 / seen
        load = min(seen, block.largest_load[i]) * 1e-3
        scale, stiffer = block.friction_scale[i], block.stiffness_scale[i]
        d = tyre.peak_of_load(block.xa1[i], block.xa2[i], load) * scale
        k = 100.0 * tyre.longitudinal_stiffness(block.xa3[i], block.xa4[i], block.xa5[i], load) * stiffer
        block.mu_x[i] = d * per_load
        block.b_x[i] = k / (block.c_x[i] * d)
        block.bend_x[i] = tyre.curvature_of_load(block.xa6[i], block.xa7[i], block.xa8[i], load)
        block.top_slip[i] = block.peak_x[i] / block.b_x[i]
        damping = 2.0 * block.tread_damping[i] * per_load
        block.damp_x[i] = damping * sqrt(k / block.sigma_x[i] * seen / GRAVITY)
        d = tyre.peak_of_load(block.ya1[i], block.ya2[i], load) * scale
        k = DEGREES * tyre.lateral_stiffness(block.ya3[i], block.ya4[i], block.ya5[i], load) * stiffer
        block.mu_y[i] = d * per_load
        block.b_y[i] = k / (block.c_y[i] * d)
        block.bend_y[i] = tyre.curvature_of_load(block.ya6[i], block.ya7[i], block.ya8[i], load)
        block.top_sine[i] = sin_of(min(block.peak_y[i] / block.b_y[i], 1.5))
        block.damp_y[i] = damping * sqrt(k / block.sigma_y[i] * seen / GRAVITY)
        d = min(tyre.peak_of_load(block.ma1[i], block.ma2[i], load) * scale, -1e-12)
        k = DEGREES * tyre.longitudinal_stiffness(block.ma3[i], block.ma4[i], block.ma5[i], load)
        block.arm_m[i] = d * per_load
        block.b_m[i] = k / (block.c_m[i] * d)
        block.bend_m[i] = tyre.curvature_of_load(block.ma6[i], block.ma7[i], block.ma8[i], load)


@compiled
def bend_treads(block, dt):
    """Deflections of the tread at the present load, after dt (0: as they are), their rates, the slips κ', α' that
    they stand for, and the weights of combined slip (eqs. 3.37-3.38) without shifts."""
    for i in range(LANES):
        v_x, v_y = block.v_x[i], block.v_y[i]
        rolling = block.omega[i] * block.radius[i]
        magic = block.kind[i] == MAGIC
        touching = block.spring[i] > 0.0
        v_roll = max(abs(rolling), abs(v_x))
        v_slip = v_x - rolling
        # What is left of each deflection now that the load has grown; a wheel that has just landed had none.
        before, load = block.load_in[i], block.load[i]
        stays = min(max(before / max(load, 1e-300), 1e-12), 1.0) if before > 0.0 else 1.0
        on_ground = 1.0 if touching else 0.0
        block.grown[i] = 1.0 / stays if magic else block.grown[i]
        block.load_bent[i] = load if magic else block.load_bent[i]
        u, sigma, park = block.u_x[i] * stays, block.sigma_x[i], block.v_park[i]
        rate = tyre.deflection_rate(sigma, u, v_slip, v_roll, dt)
        # At its cap the deflection follows it, for u goes on within the step; only the damping of the tread ends there.
        cap = tyre.slip_cap(block.top_slip[i], abs(v_slip) / max(v_roll, 1e-9), v_roll, park) * sigma
        new = min(max(u + dt * rate, -cap), cap)
        free = 1.0 if abs(new) < cap or new * rate < 0.0 else 0.0
        resist_x = free * rate * block.damp_x[i]
        block.bent_x[i] = (new if touching else 0.0) if magic else block.bent_x[i]
        block.rate_x[i] = rate * on_ground if magic else block.rate_x[i]
        kappa = new / sigma

        v_whole = sqrt(v_x * v_x + v_y * v_y)
        u, sigma = block.u_y[i] * stays, block.sigma_y[i]
        # Against the whole speed the deflection follows the sine of the slip angle, which has no pole sideways.
        rate = tyre.deflection_rate(sigma, u, v_y, v_whole, dt)
        cap = tyre.slip_cap(block.top_sine[i], min(abs(v_y) / max(v_whole, 1e-9), 0.9999), v_whole, park) * sigma
        new = min(max(u + dt * rate, -cap), cap)
        free = 1.0 if abs(new) < cap or new * rate < 0.0 else 0.0
        resist_y = free * rate * block.damp_y[i]
        block.bent_y[i] = (new if touching else 0.0) if magic else block.bent_y[i]
        block.rate_y[i] = rate * on_ground if magic else block.rate_y[i]
        alpha = tyre.angle_of_sine(new / sigma)
        block.kappa[i] = kappa if magic else block.kappa[i]
        block.alpha[i] = alpha if magic else block.alpha[i]
        b_x = tyre.weight_slope(block.b1_x[i], block.b2_x[i], kappa)
        b_y = tyre.weight_slope(block.b1_y[i], block.b2_y[i], alpha)
        block.weight_x[i] = tyre.simple_weight(b_x, block.cc_x[i], alpha)
        block.weight_y[i] = tyre.simple_weight(b_y, block.cc_y[i], kappa)
        # The damping of the tread at rest is gone at the parking speed.
        still = max(1.0 - max(v_roll, abs(v_y)) / park, 0.0)
        block.resist_x[i] = still * resist_x
        block.resist_y[i] = still * resist_y


@compiled
def shifted_weights(block):
    """G_xα and G_yκ of eqs. 3.37-3.38 with their shifts and E, which cost as much again and are zero by default."""
    for i in range(LANES):
        kappa, alpha = block.kappa[i], block.alpha[i]
        b_x = tyre.weight_slope(block.b1_x[i], block.b2_x[i], kappa)
        b_y = tyre.weight_slope(block.b1_y[i], block.b2_y[i], alpha)
        block.weight_x[i] = tyre.combined_weight(b_x, block.cc_x[i], block.e_x[i], block.shift_x[i], alpha)
        block.weight_y[i] = tyre.combined_weight(b_y, block.cc_y[i], 0.0, block.shift_y[i], kappa)


@compiled
def magic_forces(block):
    """Forces per load at the present coefficients, then the loads that balance them, and how much these changed."""
    for i in range(LANES):
        mu_x, mu_y = block.mu_x[i], block.mu_y[i]
        kappa, alpha, v_x = block.kappa[i], block.alpha[i], block.v_x[i]
        fx = mu_x * block.weight_x[i] * tyre.magic_shape(block.b_x[i], block.c_x[i], block.bend_x[i], kappa)
        fy = mu_y * block.weight_y[i] * tyre.magic_shape(block.b_y[i], block.c_y[i], block.bend_y[i], alpha)
        fx, fy = tyre.onto_ellipse(mu_x, mu_y, fx + block.resist_x[i], fy + block.resist_y[i])
        share = tyre.wedge_share(block.b_n[i], fx * block.b_t[i] + fy * block.b_l[i])
        fx *= share
        fy *= share
        turn = block.arm_m[i] * block.weight_y[i] * v_x / (abs(v_x) + block.v_park[i])
        turn *= tyre.magic_shape(block.b_m[i], block.c_m[i], block.bend_m[i], alpha)
        load = tyre.load_of_balance(block.spring[i], block.b_n[i], fx * block.b_t[i] + fy * block.b_l[i])
        magic = block.kind[i] == MAGIC
        touching = 1.0 if block.spring[i] > 0.0 else 0.0
        block.change[i] = load - block.load[i] if magic else 0.0
        block.force_x[i] = fx * load if magic else block.force_x[i]
        block.force_y[i] = fy * load if magic else block.force_y[i]
        block.moment_z[i] = turn * load if magic else 0.0
        block.ratio_x[i] = fx * touching
        block.ratio_y[i] = fy * touching
        block.load[i] = load if magic else block.load[i]


@compiled
def tread_energy(block, i):
    """What a wheel's tread holds: ½ k u², or ∫ F·du from no deflection straight to u at the present load."""
    u_x, u_y = block.bent_x[i], block.bent_y[i]
    if block.kind[i] == COULOMB:
        return 0.5 * block.tread_stiffness[i] * (u_x * u_x + u_y * u_y)
    if block.kind[i] != MAGIC or block.spring[i] == 0.0:
        return 0.0
    total = 0.0
    for k in range(len(GAUSS_NODES)):
        kappa = GAUSS_NODES[k] * u_x / block.sigma_x[i]
        alpha = tyre.angle_of_sine(GAUSS_NODES[k] * u_y / block.sigma_y[i])
        b_x = tyre.weight_slope(block.b1_x[i], block.b2_x[i], kappa)
        b_y = tyre.weight_slope(block.b1_y[i], block.b2_y[i], alpha)
        weight_x = tyre.combined_weight(b_x, block.cc_x[i], block.e_x[i], block.shift_x[i], alpha)
        weight_y = tyre.combined_weight(b_y, block.cc_y[i], 0.0, block.shift_y[i], kappa)
        mu_x, mu_y = block.mu_x[i], block.mu_y[i]
        fx = mu_x * weight_x * tyre.magic_shape(block.b_x[i], block.c_x[i], block.bend_x[i], kappa)
        fy = mu_y * weight_y * tyre.magic_shape(block.b_y[i], block.c_y[i], block.bend_y[i], alpha)
        fx, fy = tyre.onto_ellipse(mu_x, mu_y, fx, fy)
        total += GAUSS_WEIGHTS[k] * (fx * u_x + fy * u_y)
    return total * block.load[i]


@compiled
def limit_moments(block):
    """M_z acts about the contact normal, for the lateral force acts behind the contact (last rows of tables 4 and 5).

    The formula knows nothing of the yaw rate. Where it would drive the yawing with more power than the lateral slip
    takes, it gives that much and no more.
    """
    for i in range(LANES):
        power = block.moment_z[i] * block.spin_n[i]
        allowed = max(-block.force_y[i] * block.v_y[i], 0.0)
        if power > allowed:
            block.moment_z[i] *= allowed / power
