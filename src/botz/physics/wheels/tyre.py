"""Tyre forces: the Magic Formula with combined slip ([virtualbotz] section 3.5) and friction limits.

Corrected against the source (evidence in docs/vehicles.md): slip κ is signed, κ = (ωr − V_x)/max(|ωr|, |V_x|); the slip
angle is arctan(V_y/|V_x|); the tables take the load in kN, the slip in percent and the slip angle in degrees; F_x is
the longitudinal force. Both slips come from deflections of the tread, which at rest are springs: the formulas alone
are singular there.
"""

from __future__ import annotations

from math import sqrt

from botz.kernels import inlined, of_lane
from botz.physics.polynomials import atan_of, cos_of, exp_of, sin_of


@inlined
def magic_shape(b, c, e, x):
    """Eq. 3.28 over D: sin[C arctan{Bx − E(Bx − arctan Bx)}]; x in percent or degrees."""
    bx = b * x
    return sin_of(c * atan_of(bx - e * (bx - atan_of(bx))))


@inlined
def peak_of_load(a1, a2, load):
    """D of eq. 3.31 [N] at a load in kN."""
    return (a1 * load + a2) * load


@inlined
def curvature_of_load(a6, a7, a8, load):
    """E of eq. 3.34."""
    return (a6 * load + a7) * load + a8


@inlined
def longitudinal_stiffness(a3, a4, a5, load):
    """BCD of eq. 3.32, of F_x and of M_z [N per percent, N·m per degree]."""
    return (a3 * load + a4) * load * exp_of(-a5 * load)


@inlined
def lateral_stiffness(a3, a4, a5, load):
    """BCD of eq. 3.33, of F_y [N per degree]."""
    return a3 * sin_of(a4 * atan_of(a5 * load))


@inlined
def shape_at(b, c, e, x):
    """cos[C arctan{Bx − E(Bx − arctan Bx)}], the part of eqs. 3.37-3.38 above and below the line."""
    bx = b * x
    return cos_of(c * abs(atan_of(bx - e * (bx - atan_of(bx)))))


@of_lane
def combined_weight(b, c, e, shift, x):
    """G of eqs. 3.37-3.38, from 1 without the other slip towards 0. Corrected: the formula reaches −0.09, which would
    drive the slip; it stops at 0."""
    return max(shape_at(b, c, e, x + shift) / shape_at(b, c, e, shift), 0.0)


@inlined
def simple_weight(b, c, x):
    """`combined_weight` with E = 0 and no shift, as the default coefficients have it."""
    return max(cos_of(c * atan_of(abs(b * x))), 0.0)


@inlined
def weight_slope(b1, b2, x):
    """B_xα and B_yκ: b₁ cos(arctan(b₂ x)), without the two functions."""
    return b1 / sqrt(1.0 + b2 * b2 * x * x)


@inlined
def angle_of_sine(s):
    """arcsin s for |s| < 1."""
    return atan_of(s / sqrt(max(1.0 - s * s, 1e-12)))


@inlined
def deflection_rate(
    # parameter: the relaxation length
    sigma,
    # state in: deflection, slip speed, speed of rolling, step of an implicit update (0: none)
    u, v_slip, v_roll, dt,
):  # fmt: skip
    """u̇ = −V_s − |V| u/σ: a spring at rest; rolling, u/σ follows the slip −V_s/|V| over the length σ.

    With dt > 0 the decay is that of the end of the step, which no speed makes unstable.
    """
    decay = v_roll / sigma
    return (-v_slip - decay * u) / (1.0 + dt * decay)


@inlined
def slip_cap(peak, steady, v_roll, v_park):
    """Largest slip that the tread may hold: that of the peak at rest, so that a vehicle that slid and turns back finds
    its grip at once; from twice the parking speed on the steady slip, as the Magic Formula has it."""
    moving = min(max(v_roll / v_park - 1.0, 0.0), 1.0)
    return peak + max(steady - peak, 0.0) * moving


@inlined
def onto_ellipse(peak_x, peak_y, fx, fy):  # -> fx, fy
    """Forces scaled back onto the friction ellipse where they left it (combined slip exceeds it by up to 14 %)."""
    x, y = fx / peak_x, fy / peak_y
    share = 1.0 / sqrt(max(x * x + y * y, 1.0))
    return fx * share, fy * share


@inlined
def wedge_share(b_n, b_friction):
    """How much of the friction per load f a wheel can stand: all of it, or what leaves n̂·b + f·b at half of n̂·b.

    Where friction wedges the wheel (eqs. 3.18 and 3.21 have no solution) the load would grow without bound. Holding the
    load back instead would leave the suspension's force out of balance, which makes energy; less friction does not.
    """
    return min(1.0, 0.5 * b_n / max(-b_friction, 1e-300))


@inlined
def load_of_balance(force, b_n, b_friction):
    """Normal force of a massless wheel from its suspension's force: N (n̂·b + f·b) = F_susp, with the friction per load
    f ([virtualbotz] eqs. 3.14-3.15 in three dimensions), at most twice that without friction."""
    return force / max(b_n + b_friction, 0.5 * b_n)
