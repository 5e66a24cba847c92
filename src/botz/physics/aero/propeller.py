"""Propellers: what the air does to a spinning one, as numbers along and across its axle ([costa2022] section 3.8).

ω counts positive in the propeller's own sense of rotation, thrust along the axle. Forces across the axle are those of
[martin2010], in the form that Gazebo's MulticopterMotorModel has.
"""

from __future__ import annotations

from math import expm1

from botz.kernels import inlined
from botz.rotations import dot

SLOW = 1.0
"""Speed below which a curve's constant a grows with the speed, so that the thrust does not jump at rest [rad/s]."""
NEAREST = 0.5
"""Least height over the ground, in radii, that the ground effect is reckoned with: there it is 4/3."""
MOST_INFLOW_GAIN = 2.0
"""Largest factor by which air that comes from ahead of the thrust raises it."""


@inlined
def propeller_thrust(
    # parameters: a, b, c of f = a + b ω + c ω², and the largest force
    a, b, c, largest,
    # state in
    omega,
):  # -> thrust along the axle, of the speed alone  # fmt: skip
    """sign(ω) f(|ω|), odd in ω: turning the other way it pushes backwards by the same law.

    A curve that a fit took below 0 at low speeds stays at 0 there: it would push backwards while it turns forwards.
    """
    speed = abs(omega)
    force = min(max(a * min(speed / SLOW, 1.0) + (b + c * speed) * speed, 0.0), largest)
    return force if omega >= 0.0 else -force


@inlined
def lag_step(lag_up, lag_down, force, target, dt):  # -> force after dt
    """The exact step of τ ḟ = target − f; τ by whether the force grows in size or falls. Without a lag, the target."""
    grows = abs(target) > abs(force) and target * force >= 0.0
    lag = lag_up if grows else lag_down
    return force - (target - force) * expm1(-dt / lag) if lag > 0.0 else target


@inlined
def drag_torque(coefficient, thrust):  # -> torque about the axle, in the propeller's own sense of rotation
    """τ = −c f, of the thrust of the speed alone, so that it always brakes. The ground effect is a gain of thrust at
    the same power, which leaves the torque as it is."""
    return -coefficient * thrust


@inlined
def inflow_factor(loss, along):
    """1 − c v∥ within 0 … 2; v∥ is the axle's speed through the air in the thrust's direction."""
    return min(max(1.0 - loss * along, 0.0), MOST_INFLOW_GAIN)


@inlined
def ground_factor(radius, height, upright):
    """1 / (1 − (R / 4z)²) of [cheeseman1955], z the way along the thrust to the ground.

    `upright` is the cosine between the thrust and up: a tilted propeller's wake has the longer way z / upright, and one
    that blows level or upwards meets no ground. The formula has a pole at R/4; nearer than R/2 it stays at 4/3.
    """
    if not (radius > 0.0 and upright > 0.0):
        return 1.0
    ratio = radius * upright / (4.0 * max(height, NEAREST * radius))
    return 1.0 / (1.0 - ratio * ratio)


@inlined
def across(nx, ny, nz, vx, vy, vz):  # -> v without its part along the unit vector n
    along = dot(nx, ny, nz, vx, vy, vz)
    return vx - along * nx, vy - along * ny, vz - along * nz


@inlined
def across_drag(coefficient, omega, vx, vy, vz):  # -> force [N], or moment [N·m], by the coefficient's kind
    """−c |ω| v⊥, v⊥ the axle's velocity through the air across its axis: the rotor's drag and its rolling moment."""
    factor = -coefficient * abs(omega)
    return factor * vx, factor * vy, factor * vz
