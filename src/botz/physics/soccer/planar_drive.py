"""Differential-drive robots with two DC motors ([yamamoto2003] section 2): K e = M v̇ + B v, v = (v, ω).

The source prints eq. 7 with a minus; with its own eqs. 4 to 6 the sign is plus, and friction slows the robot down.
Eq. 8 is then v̇ = −M⁻¹B v + M⁻¹K e, q̇ = T(θ) v. A robot moves along its heading only: its wheels do not slip.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np

from botz.kernels import compiled, inlined, record, words

ROBOT = record(
    **dict.fromkeys(words(
        "half reach track per_track radius_left radius_right per_radius_left per_radius_right "
        "mass_11 mass_12 mass_22 inverse_11 inverse_12 inverse_22 drag_11 drag_12 drag_22 push_left push_right "
        "constant_left constant_right conductance_left conductance_right "
        "limit_left limit_right grip hold_left hold_right follow_left follow_right"
    ), np.float64)
)  # fmt: skip
"""Parameters: M, M⁻¹ and B of the robot (symmetric); `push` = K_m/(R r), the force at a wheel's rim per volt; of speed
control `hold` = 1/(2 push), the volts per force, and `follow`, the volts per error of speed. Divisions cost more than
all else in a step, so their results stand here. `grip`: the sideways acceleration that the wheels withstand."""


@inlined
def wheel_speeds(robot, v, w):  # -> ω_left, ω_right
    """Inverse of eq. 1: ω_d = (v + ω b/2)/r_d, ω_e = (v − ω b/2)/r_e."""
    side = 0.5 * robot.track * w
    return (v - side) * robot.per_radius_left, (v + side) * robot.per_radius_right


@compiled
def applied_voltages(
    robot,
    # inputs
    volt_left,
    volt_right,
    speed_left,
    speed_right,
    by_speed,
    # state in
    v,
    w,
):  # fmt: skip  -> e_left, e_right
    """The commanded voltages within the driver's limits, or those that make the wheels follow the commanded speeds.

    Speed control gives the voltages that hold the speeds in steady motion, e = K⁻¹B v, and a gain on what is missing.
    """
    if by_speed != 0.0:
        rim_left, rim_right = robot.radius_left * speed_left, robot.radius_right * speed_right
        v_wanted, w_wanted = 0.5 * (rim_left + rim_right), (rim_right - rim_left) * robot.per_track
        force = robot.drag_11 * v_wanted + robot.drag_12 * w_wanted
        couple = (robot.drag_12 * v_wanted + robot.drag_22 * w_wanted) * 2.0 * robot.per_track
        now_left, now_right = wheel_speeds(robot, v, w)
        volt_left = robot.hold_left * (force - couple) + robot.follow_left * (speed_left - now_left)
        volt_right = robot.hold_right * (force + couple) + robot.follow_right * (speed_right - now_right)
    return (
        min(max(volt_left, -robot.limit_left), robot.limit_left),
        min(max(volt_right, -robot.limit_right), robot.limit_right),
    )


@inlined
def motor_force(robot, e_left, e_right):  # -> K e: force along the heading [N], torque [N·m]
    left, right = robot.push_left * e_left, robot.push_right * e_right
    return left + right, 0.5 * robot.track * (right - left)


@inlined
def drag_force(robot, v, w):  # -> B v
    """Friction of robot and motors, and the braking by the motors' back-EMF."""
    return robot.drag_11 * v + robot.drag_12 * w, robot.drag_12 * v + robot.drag_22 * w


@inlined
def acceleration(robot, force, torque):  # -> M⁻¹ f
    return (robot.inverse_11 * force + robot.inverse_12 * torque, robot.inverse_12 * force + robot.inverse_22 * torque)


@inlined
def kinetic_energy(robot, v, w):
    """½ vᵀ M v: body, wheels and rotors [J]."""
    return 0.5 * (robot.mass_11 * v * v + robot.mass_22 * w * w) + robot.mass_12 * v * w


@compiled
def turned(cosine, sine, heading, angle):  # -> cos and sin of heading + angle
    """By the addition theorem for the small angles of a step, where a polynomial is exact to rounding and several times
    faster than the two functions; length 1 is kept by one step of Newton's method."""
    if abs(angle) > 0.1:
        return cos(heading + angle), sin(heading + angle)
    square = angle * angle
    s = angle * (1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0))))
    c = 1.0 - 0.5 * square * (1.0 - square / 12.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)))
    new_c, new_s = cosine * c - sine * s, sine * c + cosine * s
    scale = 1.5 - 0.5 * (new_c * new_c + new_s * new_s)
    return scale * new_c, scale * new_s


@inlined
def place(pose, x, y, heading, cosine, sine):
    pose.x, pose.y, pose.heading, pose.cosine, pose.sine = x, y, heading, cosine, sine
