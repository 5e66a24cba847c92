"""Lift, drag and pitching moment of a surface ([costa2022] section 2.3.1.1, Gazebo's LiftDrag plugin).

A surface has axes of its own: forward, span = forward × up, and up, each of length 1 and across the others. Velocities
are those of the centre of pressure through the air. As forces go with v², nothing here divides by a speed that may
be 0, and the plugin's dead band of 1 cm/s is not needed.
"""

from __future__ import annotations

from math import atan2, floor, sqrt
from typing import NamedTuple

from botz.kernels import inlined
from botz.physics.polynomials import HALF_PI, PI


class Surface(NamedTuple):
    """Parameters of a surface; any record with these fields will do."""

    area: float
    a0: float
    cla: float
    cda: float
    cma: float
    alpha_stall: float
    cla_stall: float
    cda_stall: float
    cma_stall: float
    cd0: float
    radial: float
    """1 for a body of revolution about `forward`."""


@inlined
def angle_of_attack(a0, v_forward, v_up):
    """a0 plus the angle from the velocity up to `forward`, within ±90°: moving backwards the surface meets the air with
    its other edge. Air from below counts positive."""
    alpha = a0 + atan2(-v_up, v_forward)
    return alpha - PI * floor(alpha / PI + 0.5) if abs(alpha) > HALF_PI else alpha


@inlined
def two_lines(slope, slope_after, stall, alpha):
    """A straight line through 0 up to the stall, and another from there; odd in α."""
    beyond = max(abs(alpha) - stall, 0.0)
    value = slope * min(abs(alpha), stall) + slope_after * beyond
    return value if alpha >= 0.0 else -value


@inlined
def not_through_zero(slope, value, alpha):
    """After the stall a coefficient falls to 0 at most; its sign stays that of slope · α.

    Corrected: the plugin cuts at 0 by the sign of α alone, so that a negative slope would jump to 0 at the stall.
    """
    return 0.0 if value * slope * alpha < 0.0 else value


@inlined
def coefficients(surface, alpha):  # -> c_lift, c_drag, c_moment
    """The plugin's, with its |c_drag|: drag is never negative, whatever the slopes; c_d0 is added to it."""
    stall = surface.alpha_stall
    lift = not_through_zero(surface.cla, two_lines(surface.cla, surface.cla_stall, stall, alpha), alpha)
    drag = abs(two_lines(surface.cda, surface.cda_stall, stall, alpha)) + surface.cd0
    moment = not_through_zero(surface.cma, two_lines(surface.cma, surface.cma_stall, stall, alpha), alpha)
    return lift, drag, moment


@inlined
def lift_drag(surface, v_forward, v_span, v_up, density, flap):
    # -> force and moment along forward, span, up (6 numbers), lift [N], drag [N], α [rad]
    """By the velocity through the air in the surface's axes, and what a flap adds to c_lift.

    Lift across the velocity in the plane of forward and up, drag against it, moment about the span: positive lifts
    the nose. q = ½ ρ v² of the velocity in that plane, and a lever of 1 m, as in the plugin.

    Coefficients are scaled by cos² of the sweep angle between the velocity and that plane. The plugin calls this the
    cosine; it is kept, so that a model's file flies here as there.
    """
    # The direction of lift, as parts along span and up.
    up_span, up_up = 0.0, 1.0
    if surface.radial > 0.5:
        # Lift points away from where the air comes from, in the plane of the velocity: there is no sweep.
        sideways = sqrt(v_span * v_span + v_up * v_up)
        up_span = -v_span / sideways if sideways > 0.0 else 0.0
        up_up = -v_up / sideways if sideways > 0.0 else 0.0
        v_span, v_up = 0.0, -sideways
    alpha = angle_of_attack(surface.a0, v_forward, v_up)
    c_lift, c_drag, c_moment = coefficients(surface, alpha)
    square = v_forward * v_forward + v_up * v_up
    whole = square + v_span * v_span
    sweep = square / whole if whole > 0.0 else 1.0
    c_lift = c_lift * sweep + flap
    speed = sqrt(square)
    pressed = 0.5 * density * surface.area * speed
    lift, drag = c_lift * pressed, c_drag * sweep * pressed
    forward = -lift * v_up - drag * v_forward
    upward = lift * v_forward - drag * v_up
    moment = c_moment * sweep * pressed * speed
    return (
        forward, upward * up_span, upward * up_up,
        0.0, moment * up_up, -moment * up_span,
        lift * speed, drag * speed, alpha,
    )  # fmt: skip
