"""LuGre friction: bristles that bend, hold and break away ([virtualbotz] eqs. 3.39-3.44)."""

from __future__ import annotations

from botz.kernels import inlined
from botz.physics.polynomials import PI, atan_of, exp_of


@inlined
def stribeck(coulomb, static, v_stribeck, v):
    """σ₀ f_s of eq. 3.41: the friction of slow steady motion, static at rest and Coulomb beyond v_stribeck."""
    ratio = v / v_stribeck
    return coulomb + (static - coulomb) * exp_of(-ratio * ratio)


@inlined
def lugre(
    # parameters; `continuous` is 1 for the source's form and 0 for the plain one
    sigma0, sigma1, sigma2, coulomb, static, v_stribeck, k_v, continuous,
    # state in, and the step of an implicit update (0: none, the rate at the present state)
    z, v, dt,
):  # -> friction (against v), dz/dt  # fmt: skip
    """Eqs. 3.39-3.40: F = σ₀ z + σ₁ ż + σ₂ v, ż = S₁(v) v − S₂(v) z / f_s(v).

    The source's S₁ = S₀², S₂ = v S₀ with S₀ = (2/π) arctan(k_v v) is smooth but takes stiction away: a constant load
    F₀ creeps at about tan(π F₀ / 2F_s)/k_v. The plain form has S₁ = 1, S₂ = |v| and break-away.
    With dt > 0 the decay of z is taken at the end of the step, which no speed makes unstable, and so is F.
    """
    s0 = 2.0 / PI * atan_of(k_v * v)
    s1 = s0 * s0 if continuous > 0.5 else 1.0
    s2 = v * s0 if continuous > 0.5 else abs(v)
    decay = sigma0 * s2 / stribeck(coulomb, static, v_stribeck, v)
    # Without stiffness there are no bristles to bend.
    rate = (s1 * v - decay * z) / (1.0 + dt * decay) if sigma0 > 0.0 else 0.0
    return sigma0 * (z + dt * rate) + sigma1 * rate + sigma2 * v, rate
