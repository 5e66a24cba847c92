"""The tyres of a block of wheels: forces on the ground, in balance with the suspension."""

from __future__ import annotations

from math import sqrt

from botz.kernels import inlined, of_lane, on_lanes
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


@on_lanes
def tyre_forces(model, state, work, dt, step):
    """Forces at the present deflections u (dt = 0) or at those after dt, which they then have; and the rates of u.

    `bent` are the deflections at which the forces act. u belongs to the load of the step's beginning, `load_before`:
    tread that comes in with a growing load is not stretched yet, so that bent = u N_before/N while the load grows
    (the tread that stays keeps its stretch, and so does all of it while the load falls). Without that, pressing a
    stretched tread would make energy. A load that only goes to and fro between two places of the contact takes nothing
    (`remember_place`). `rate` is that of `bent` at a constant load, and u̇ is rate N/N_before: `grown`.
    """
    if model.any_magic:
        magic_tyres(model, state, work, dt)
    if model.any_coulomb:
        coulomb_tyres(model, state, work, dt, step)
    if dt > 0.0:
        begin_from_here(state, work)


@on_lanes
def begin_from_here(state, work):
    for i in range(LANES):
        begin_wheel_from_here(state, work, i)


@of_lane
def begin_wheel_from_here(state, work, i):
    """The deflections and loads just found are those from which a step goes on."""
    state.u_x[i], state.u_y[i] = state.bent_x[i], state.bent_y[i]
    remember_place(state, i)
    state.load_before[i], state.sliding[i], work.grown[i] = work.load_bent[i], work.loose[i], 1.0


@inlined
def place_of(state, rim, i):
    """Another number for another slice or another cell of the ground."""
    return state.rim_slice[rim, i] + 1024.0 * (state.rim_cell_x[rim, i] + 8388608.0 * state.rim_cell_y[rim, i])


@inlined
def remember_place(state, i):
    """Where each rim stands and stood before, and the largest load at these places when one was left for the other.

    A wheel in a groove, or with a rim on the edge of two cells, goes from flank to flank as often as steps are made,
    and its load jumps each time. This is no growth: the tread that comes in is the one that has just left. Counted as
    growth it takes the more stretch the shorter the step is, and a parked vehicle creeps.
    """
    moved, elsewhere = False, False
    for rim in range(2):
        place = place_of(state, rim, i)
        if place != state.rim_place[rim, i]:
            moved = True
            elsewhere = elsewhere or place != state.rim_left[rim, i]
            state.rim_place[rim, i], state.rim_left[rim, i] = place, state.rim_place[rim, i]
    if elsewhere:
        state.load_known[i] = state.load_before[i]
    elif moved:
        state.load_known[i] = max(state.load_known[i], state.load_before[i])


@inlined
def load_that_is_in(state, i):  # -> load whose tread is not new
    """That of the step's beginning, or the largest of two places between which the contact goes to and fro."""
    stays, to_and_fro = True, True
    for rim in range(2):
        place = place_of(state, rim, i)
        stays_here = place == state.rim_place[rim, i]
        stays = stays and stays_here
        to_and_fro = to_and_fro and (stays_here or place == state.rim_left[rim, i])
    before = state.load_before[i]
    return max(before, state.load_known[i]) if to_and_fro and not stays and before > 0.0 else before


@inlined
def leave_alone(state, work, i):
    """A lane without a wheel holds nothing."""
    state.bent_x[i], state.bent_y[i], work.rate_x[i], work.rate_y[i] = 0.0, 0.0, 0.0, 0.0
    work.load_bent[i], work.loose[i], work.grown[i] = 0.0, 0.0, 1.0


@on_lanes
def coulomb_tyres(model, state, work, dt, step):
    for i in range(LANES):
        coulomb_tyre(model, state, work, dt, step, i)


@of_lane
def coulomb_tyre(model, state, work, dt, step, i):
    """Eqs. 3.16-3.22 in three dimensions: a spring while it sticks, μ* N against the slip once it has broken loose.

    Corrected: the limits hold whenever F_susp > 0 (the source's case 1 lifts wheels that friction would hold), and
    bound the whole force, √(F_x² + F_y²) ≤ μ N. Sticking, the spring finds F_x = (τ − I V̇_x/r)/r by itself. Loose,
    the limit stretches the spring against its damper, c u̇ + k u = F: at once, its energy would come of nothing. A
    damper too weak for the step, c < k h, follows within one step.
    """
    if model.kind[i] != COULOMB:
        if model.kind[i] != MAGIC:
            leave_alone(state, work, i)
        return
    spring = state.spring[i]
    k = model.tread_stiffness[i]
    c = 2.0 * model.tread_damping[i] * sqrt(k * spring / GRAVITY)
    rate_x = -(state.v_x[i] - state.omega[i] * model.radius[i])
    rate_y = -state.v_y[i]
    bend_x, bend_y = rate_x, rate_y
    x, y = state.u_x[i] + dt * rate_x, state.u_y[i] + dt * rate_y
    fx, fy = k * x + c * rate_x, k * y + c * rate_y
    b_n, b_t, b_l = work.b_n[i], work.b_t[i], work.b_l[i]
    load = (spring - fx * b_t - fy * b_l) / b_n
    size = sqrt(fx * fx + fy * fy)
    sliding = 0.0
    limit = model.mu_static[i] if state.sliding[i] == 0.0 else model.mu_dynamic[i]
    if size > limit * max(load, 0.0):
        sliding = 1.0
        ex, ey = fx / max(size, 1e-300), fy / max(size, 1e-300)
        mu = model.mu_dynamic[i]
        mu *= tyre.wedge_share(b_n, mu * (ex * b_t + ey * b_l))
        load = tyre.load_of_balance(spring, b_n, mu * (ex * b_t + ey * b_l))
        fx, fy = mu * load * ex, mu * load * ey
        drag = max(c + k * dt, k * step)
        ease = 1.0 / drag if drag > 0.0 else 0.0
        bend_x, bend_y = ease * (fx - k * state.u_x[i]), ease * (fy - k * state.u_y[i])
        x, y = state.u_x[i] + dt * bend_x, state.u_y[i] + dt * bend_y
    if spring == 0.0:
        x, y, bend_x, bend_y, fx, fy, load, sliding = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    state.bent_x[i], state.bent_y[i], work.loose[i], work.grown[i] = x, y, sliding, 1.0
    work.rate_x[i], work.rate_y[i], work.load_bent[i] = bend_x, bend_y, 0.0
    state.force_x[i], state.force_y[i], state.load[i], state.moment_z[i] = fx, fy, load, 0.0
    speed = max(abs(state.omega[i] * model.radius[i]), abs(state.v_x[i]), 1e-9)
    state.kappa[i] = rate_x / speed
    state.alpha[i] = tyre.angle_of_sine(-state.v_y[i] / max(sqrt(state.v_x[i] ** 2 + state.v_y[i] ** 2), 1e-9))


@on_lanes
def magic_tyres(model, state, work, dt):
    """Eqs. 3.25-3.38 with deflections of the tread for the slips; load and forces in balance along the suspension.

    The balance starts from the last step's friction per load and repeats until it changes no load by more than 1e-5, or
    dt per second where that is less: what is left of it is smaller again and goes with the step, as the method's own
    error does. Without a step (Runge-Kutta's stages) it repeats to the end. The deflections belong to the load
    (`tyre_forces`), so they are found again with it: a load too large at first would cost a stretch that does not come
    back.
    """
    for i in range(LANES):
        ratio = state.ratio_x[i] * work.b_t[i] + state.ratio_y[i] * work.b_l[i]
        guess = tyre.load_of_balance(state.spring[i], work.b_n[i], ratio)
        state.load[i] = guess if model.kind[i] == MAGIC else state.load[i]
        work.load_in[i] = load_that_is_in(state, i)
        work.loose[i] = 0.0
    refresh_coefficients(model, state, dt)
    tolerance = max(min(1e-5, dt), 1e-13)
    for _ in range(20):
        bend_treads(model, state, work, dt)
        if model.any_shift:
            shifted_weights(model, state, work)
        magic_forces(model, state, work)
        if all_balanced(state, work, tolerance):
            break
        refresh_coefficients(model, state, dt)
    limit_moments(state, work)


@on_lanes
def refresh_coefficients(model, state, dt):
    """The coefficients of the present loads, where one has left the load of the last look by a part in ten thousand.

    In between friction and stiffness per load stay as they are: an error of at most 1e-4 (1 − s) for a coefficient that
    grows with the s-th power of the load, under 1e-6 of the force below 1 kN. Runge-Kutta's stages (dt = 0) look every
    time.
    """
    if dt == 0.0 or any_stale(model, state):
        tyre_coefficients(model, state)


@on_lanes
def any_stale(model, state):  # -> whether the load of any of the four has left that of its coefficients
    stale = False
    for i in range(LANES):
        seen = state.load_seen[i]
        if model.kind[i] == MAGIC and not abs(max(state.load[i], 1e-3) - seen) <= 1e-4 * seen:
            stale = True
    return stale


@on_lanes
def all_balanced(state, work, tolerance):  # -> whether no load of the four has changed by more
    balanced = True
    for i in range(LANES):
        if abs(work.change[i]) > tolerance * (state.load[i] + 1.0):
            balanced = False
    return balanced


@on_lanes
def tyre_coefficients(model, state):
    for i in range(LANES):
        coefficients_of_tyre(model, state, i)


@of_lane
def coefficients_of_tyre(model, state, i):
    """D, BCD and E of eqs. 3.31-3.34 at the present loads, and what follows from them alone: friction per load μ = D/N,
    B per unit of slip and per radian, the slips of the peaks, and the damping of the tread at rest, per load."""
    seen = max(state.load[i], 1e-3)
    state.load_seen[i] = seen
    per_load = 1.0 / seen
    load = min(seen, model.largest_load[i]) * 1e-3
    scale, stiffer = model.friction_scale[i], model.stiffness_scale[i]
    d = tyre.peak_of_load(model.xa1[i], model.xa2[i], load) * scale
    k = 100.0 * tyre.longitudinal_stiffness(model.xa3[i], model.xa4[i], model.xa5[i], load) * stiffer
    state.mu_x[i] = d * per_load
    state.b_x[i] = k / (model.c_x[i] * d)
    state.bend_x[i] = tyre.curvature_of_load(model.xa6[i], model.xa7[i], model.xa8[i], load)
    state.top_slip[i] = model.peak_x[i] / state.b_x[i]
    damping = 2.0 * model.tread_damping[i] * per_load
    state.damp_x[i] = damping * sqrt(k / model.sigma_x[i] * seen / GRAVITY)
    d = tyre.peak_of_load(model.ya1[i], model.ya2[i], load) * scale
    k = DEGREES * tyre.lateral_stiffness(model.ya3[i], model.ya4[i], model.ya5[i], load) * stiffer
    state.mu_y[i] = d * per_load
    state.b_y[i] = k / (model.c_y[i] * d)
    state.bend_y[i] = tyre.curvature_of_load(model.ya6[i], model.ya7[i], model.ya8[i], load)
    state.top_sine[i] = sin_of(min(model.peak_y[i] / state.b_y[i], 1.5))
    state.damp_y[i] = damping * sqrt(k / model.sigma_y[i] * seen / GRAVITY)
    d = min(tyre.peak_of_load(model.ma1[i], model.ma2[i], load) * scale, -1e-12)
    k = DEGREES * tyre.longitudinal_stiffness(model.ma3[i], model.ma4[i], model.ma5[i], load)
    state.arm_m[i] = d * per_load
    state.b_m[i] = k / (model.c_m[i] * d)
    state.bend_m[i] = tyre.curvature_of_load(model.ma6[i], model.ma7[i], model.ma8[i], load)


@on_lanes
def bend_treads(model, state, work, dt):
    for i in range(LANES):
        bend_tread(model, state, work, dt, i)


@of_lane
def bend_tread(model, state, work, dt, i):
    """Deflections of the tread at the present load, after dt (0: as they are), their rates, the slips κ', α' that
    they stand for, and the weights of combined slip (eqs. 3.37-3.38) without shifts."""
    v_x, v_y = state.v_x[i], state.v_y[i]
    rolling = state.omega[i] * model.radius[i]
    magic = model.kind[i] == MAGIC
    touching = state.spring[i] > 0.0
    v_roll = max(abs(rolling), abs(v_x))
    v_slip = v_x - rolling
    # What is left of each deflection now that the load has grown; a wheel that has just landed had none.
    before, load = work.load_in[i], state.load[i]
    stays = min(max(before / max(load, 1e-300), 1e-12), 1.0) if before > 0.0 else 1.0
    on_ground = 1.0 if touching else 0.0
    work.grown[i] = 1.0 / stays if magic else 1.0
    work.load_bent[i] = load if magic else 0.0
    u, sigma, park = state.u_x[i] * stays, model.sigma_x[i], model.v_park[i]
    rate = tyre.deflection_rate(sigma, u, v_slip, v_roll, dt)
    # At its cap the deflection follows it, for u goes on within the step; only the damping of the tread ends there.
    cap = tyre.slip_cap(state.top_slip[i], abs(v_slip) / max(v_roll, 1e-9), v_roll, park) * sigma
    new = min(max(u + dt * rate, -cap), cap)
    free = 1.0 if abs(new) < cap or new * rate < 0.0 else 0.0
    resist_x = free * rate * state.damp_x[i]
    state.bent_x[i] = (new if touching else 0.0) if magic else 0.0
    work.rate_x[i] = rate * on_ground if magic else 0.0
    kappa = new / sigma

    v_whole = sqrt(v_x * v_x + v_y * v_y)
    u, sigma = state.u_y[i] * stays, model.sigma_y[i]
    # Against the whole speed the deflection follows the sine of the slip angle, which has no pole sideways.
    rate = tyre.deflection_rate(sigma, u, v_y, v_whole, dt)
    cap = tyre.slip_cap(state.top_sine[i], min(abs(v_y) / max(v_whole, 1e-9), 0.9999), v_whole, park) * sigma
    new = min(max(u + dt * rate, -cap), cap)
    free = 1.0 if abs(new) < cap or new * rate < 0.0 else 0.0
    resist_y = free * rate * state.damp_y[i]
    state.bent_y[i] = (new if touching else 0.0) if magic else 0.0
    work.rate_y[i] = rate * on_ground if magic else 0.0
    alpha = tyre.angle_of_sine(new / sigma)
    state.kappa[i] = kappa if magic else state.kappa[i]
    state.alpha[i] = alpha if magic else state.alpha[i]
    b_x = tyre.weight_slope(model.b1_x[i], model.b2_x[i], kappa)
    b_y = tyre.weight_slope(model.b1_y[i], model.b2_y[i], alpha)
    work.weight_x[i] = tyre.simple_weight(b_x, model.cc_x[i], alpha)
    work.weight_y[i] = tyre.simple_weight(b_y, model.cc_y[i], kappa)
    # The damping of the tread at rest is gone at the parking speed.
    still = max(1.0 - max(v_roll, abs(v_y)) / park, 0.0)
    work.resist_x[i] = still * resist_x
    work.resist_y[i] = still * resist_y


@on_lanes
def shifted_weights(model, state, work):
    for i in range(LANES):
        shifted_weight(model, state, work, i)


@of_lane
def shifted_weight(model, state, work, i):
    """G_xα and G_yκ of eqs. 3.37-3.38 with their shifts and E, which cost as much again and are zero by default."""
    kappa, alpha = state.kappa[i], state.alpha[i]
    b_x = tyre.weight_slope(model.b1_x[i], model.b2_x[i], kappa)
    b_y = tyre.weight_slope(model.b1_y[i], model.b2_y[i], alpha)
    work.weight_x[i] = tyre.combined_weight(b_x, model.cc_x[i], model.e_x[i], model.shift_x[i], alpha)
    work.weight_y[i] = tyre.combined_weight(b_y, model.cc_y[i], 0.0, model.shift_y[i], kappa)


@on_lanes
def magic_forces(model, state, work):
    for i in range(LANES):
        magic_force(model, state, work, i)


@of_lane
def magic_force(model, state, work, i):
    """Forces per load at the present coefficients, then the loads that balance them, and how much these changed."""
    mu_x, mu_y = state.mu_x[i], state.mu_y[i]
    kappa, alpha, v_x = state.kappa[i], state.alpha[i], state.v_x[i]
    fx = mu_x * work.weight_x[i] * tyre.magic_shape(state.b_x[i], model.c_x[i], state.bend_x[i], kappa)
    fy = mu_y * work.weight_y[i] * tyre.magic_shape(state.b_y[i], model.c_y[i], state.bend_y[i], alpha)
    fx, fy = tyre.onto_ellipse(mu_x, mu_y, fx + work.resist_x[i], fy + work.resist_y[i])
    share = tyre.wedge_share(work.b_n[i], fx * work.b_t[i] + fy * work.b_l[i])
    fx *= share
    fy *= share
    turn = state.arm_m[i] * work.weight_y[i] * v_x / (abs(v_x) + model.v_park[i])
    turn *= tyre.magic_shape(state.b_m[i], model.c_m[i], state.bend_m[i], alpha)
    load = tyre.load_of_balance(state.spring[i], work.b_n[i], fx * work.b_t[i] + fy * work.b_l[i])
    magic = model.kind[i] == MAGIC
    touching = 1.0 if state.spring[i] > 0.0 else 0.0
    work.change[i] = load - state.load[i] if magic else 0.0
    state.force_x[i] = fx * load if magic else state.force_x[i]
    state.force_y[i] = fy * load if magic else state.force_y[i]
    state.moment_z[i] = turn * load if magic else 0.0
    state.ratio_x[i] = fx * touching
    state.ratio_y[i] = fy * touching
    state.load[i] = load if magic else state.load[i]


@on_lanes
def tread_energy(model, state, i):
    """What a wheel's tread holds: ½ k u², or ∫ F·du from no deflection straight to u at the present load."""
    u_x, u_y = state.bent_x[i], state.bent_y[i]
    if model.kind[i] == COULOMB:
        return 0.5 * model.tread_stiffness[i] * (u_x * u_x + u_y * u_y)
    if model.kind[i] != MAGIC or state.spring[i] == 0.0:
        return 0.0
    total = 0.0
    for k in range(len(GAUSS_NODES)):
        kappa = GAUSS_NODES[k] * u_x / model.sigma_x[i]
        alpha = tyre.angle_of_sine(GAUSS_NODES[k] * u_y / model.sigma_y[i])
        b_x = tyre.weight_slope(model.b1_x[i], model.b2_x[i], kappa)
        b_y = tyre.weight_slope(model.b1_y[i], model.b2_y[i], alpha)
        weight_x = tyre.combined_weight(b_x, model.cc_x[i], model.e_x[i], model.shift_x[i], alpha)
        weight_y = tyre.combined_weight(b_y, model.cc_y[i], 0.0, model.shift_y[i], kappa)
        mu_x, mu_y = state.mu_x[i], state.mu_y[i]
        fx = mu_x * weight_x * tyre.magic_shape(state.b_x[i], model.c_x[i], state.bend_x[i], kappa)
        fy = mu_y * weight_y * tyre.magic_shape(state.b_y[i], model.c_y[i], state.bend_y[i], alpha)
        fx, fy = tyre.onto_ellipse(mu_x, mu_y, fx, fy)
        total += GAUSS_WEIGHTS[k] * (fx * u_x + fy * u_y)
    return total * state.load[i]


@on_lanes
def limit_moments(state, work):
    for i in range(LANES):
        limit_moment(state, work, i)


@of_lane
def limit_moment(state, work, i):
    """M_z acts about the contact normal, for the lateral force acts behind the contact (last rows of tables 4 and 5).

    The formula knows nothing of the yaw rate. Where it would drive the yawing with more power than the lateral slip
    takes, it gives that much and no more.
    """
    power = state.moment_z[i] * work.spin_n[i]
    allowed = max(-state.force_y[i] * state.v_y[i], 0.0)
    if power > allowed:
        state.moment_z[i] *= allowed / power
