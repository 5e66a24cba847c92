"""Spring and damper of a wheel ([virtualbotz] sections 3.3.4 and 3.4)."""

from __future__ import annotations

from botz.kernels import inlined


@inlined
def suspension_force(
    # parameters
    stiffness, damping, travel, progression,
    # state in: deflection and its rate
    h, dh,
):  # -> force ≥ 0  # fmt: skip
    """F = k h + c ḣ up to h_sat, with k₂ (h − h_sat)² beyond it; it never pulls.

    Corrected: the source stops its search at h_sat, so that its non-linear branch has no argument; here h goes on.
    """
    beyond = max(h - travel, 0.0)
    return max(stiffness * h + progression * beyond * beyond + damping * dh, 0.0) if h > 0.0 else 0.0


@inlined
def suspension_energy(stiffness, travel, progression, h):
    """What the spring holds: the integral of its force."""
    pressed = max(h, 0.0)
    beyond = max(h - travel, 0.0)
    return 0.5 * stiffness * pressed * pressed + progression * beyond * beyond * beyond / 3.0
