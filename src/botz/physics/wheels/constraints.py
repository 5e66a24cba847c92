"""Wheels that roll without slipping: what each one says about the motion of the body [alsina-rodas].

A wheel stands at p = (x, y) in the body's frame and rolls forward along e = (cos ψ, sin ψ), ψ its heading. In the
source's polar parameters, p = l (cos φ, sin φ) and ψ = φ + α − 90°, which turns its rows
[sin(φ+α)  −cos(φ+α)  −l cos α] and [cos(φ+α)  sin(φ+α)  l sin α] into the ones below.

The body moves with the twist ξ = (v_x, v_y, θ'), expressed in its own axes: ξ = R(θ)ᵀ q'.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

from numba import njit

FIXED, STEERED, CASTOR, SWEDISH, SPHERICAL, SUPPORT = range(6)
"""Kinds of wheel, as integers that compiled code can compare."""


@njit(cache=True, error_model="numpy")
def rolling_row(x, y, psi):  # -> three factors of ξ [1, 1, m]
    """Velocity of the wheel's centre along its rolling direction: e·(v + θ' k×p)."""
    ex, ey = cos(psi), sin(psi)
    return ex, ey, x * ey - y * ex


@njit(cache=True, error_model="numpy")
def lateral_row(x, y, psi, offset):  # -> three factors of ξ [1, 1, m]
    """Velocity of the contact point along the axle a = k×e, for a contact `offset` ahead of the pivot.

    [alsina-rodas] for offset 0. A castor's contact lies at p + d e, so its lateral velocity is this row's value plus
    d β': the pivot turns it as well.
    """
    ax, ay = -sin(psi), cos(psi)
    return ax, ay, x * ay - y * ax + offset


@njit(cache=True, error_model="numpy")
def constraint_rows(
    # parameters, one entry per wheel
    x, y, roller_angle, offset,
    # state in: heading of each wheel in the body's frame
    psi,
    # out: rows 2i (rolling) and 2i+1 (lateral) of wheel i, (2n, 3)
    rows,
):  # fmt: skip
    """Both rows of every wheel.

    A Swedish wheel's rollers give way across their axis u, which stands at the roller angle γ to the wheel's plane:
    only u·(v_c − r ω e) = 0 is left, the rolling row at heading ψ + γ with r ω cos γ on its right side. Its second
    row is the velocity across u, which the roller's own rotation takes up.
    """
    for i in range(x.size):
        heading = psi[i] + roller_angle[i]
        rows[2 * i, 0], rows[2 * i, 1], rows[2 * i, 2] = rolling_row(x[i], y[i], heading)
        rows[2 * i + 1, 0], rows[2 * i + 1, 1], rows[2 * i + 1, 2] = lateral_row(x[i], y[i], heading, offset[i])


@njit(cache=True, error_model="numpy")
def dot3(row, vx, vy, turn):
    return row[0] * vx + row[1] * vy + row[2] * turn


@njit(cache=True, error_model="numpy")
def wheel_rates(
    # parameters of one wheel; `grip` is the fraction of its rolling that reaches the ground, 1 − slip
    kind, radius, roller_angle, roller_radius, offset, grip,
    # state in: its two rows and the twist
    rolling, lateral, vx, vy, turn,
    # speed of the wheel where a motor sets it, else NaN
    motor_speed,
):  # -> rotation rate, second rate [rad/s]  # fmt: skip
    """Rotation rate of a wheel, and its second rate: pivot (castor), roller (Swedish), side (sphere).

    A passive wheel turns as the ground makes it. The roller's rate follows from the contact's velocity across the
    roller axis, w·(v_c − r ω e) with w·e = −sin γ: r_s ω_s = w·v_c + r ω sin γ. Slip is along the roller's axis, so it
    does not enter there.
    """
    along = dot3(rolling, vx, vy, turn)
    across = dot3(lateral, vx, vy, turn)
    speed = motor_speed
    if speed != speed:
        speed = along / (grip * radius * cos(roller_angle))
    if kind == CASTOR:
        return speed, -across / offset
    if kind == SWEDISH:
        return speed, (across + radius * speed * sin(roller_angle)) / roller_radius
    if kind == SPHERICAL:
        return speed, across / (grip * radius)
    if kind == SUPPORT:
        return 0.0, 0.0
    return speed, 0.0


@njit(cache=True, error_model="numpy")
def ackermann_angle(
    # parameters: lateral row of the fixed axle; virtual wheel in the middle of the group; this wheel
    axle0, axle1, axle2, mid_x, mid_y, mid_heading, x, y, heading,
    # state in: steering angle of the virtual wheel
    delta,
):  # -> steering angle of the wheel [rad]  # fmt: skip
    """Steering angle with which a wheel's axle meets the others on the axle of the fixed wheels.

    The twist that both the fixed axle and the virtual wheel allow is the cross product of their lateral rows; the
    wheel points along the velocity that this twist gives it. No centre of rotation is divided by, so going
    straight is no special case.
    """
    b0, b1, b2 = lateral_row(mid_x, mid_y, mid_heading + delta, 0.0)
    vx = axle1 * b2 - axle2 * b1
    vy = axle2 * b0 - axle0 * b2
    turn = axle0 * b1 - axle1 * b0
    wheel_vx = vx - turn * y
    wheel_vy = vy + turn * x
    if wheel_vx * wheel_vx + wheel_vy * wheel_vy < 1e-24:
        return delta
    # Turned by 180° it is the same wheel; the branch near the virtual wheel's angle has no jump when the centre of
    # rotation passes between the wheels.
    return delta + half_turn(atan2(wheel_vy, wheel_vx) - heading - delta)


@njit(cache=True, error_model="numpy")
def ackermann_ratio(
    # parameters as of ackermann_angle
    axle0, axle1, axle2, mid_x, mid_y, mid_heading, x, y,
    # state in
    delta,
):  # -> rate of the wheel's steering angle over that of the virtual wheel  # fmt: skip
    """dβ/dδ. The virtual wheel's lateral row changes by minus its rolling row, db/dδ = −e-row, and with it the twist
    axle × b and the wheel's velocity (u, w): β = atan2(w, u), so dβ/dδ = (u w' − w u') / (u² + w²)."""
    b0, b1, b2 = lateral_row(mid_x, mid_y, mid_heading + delta, 0.0)
    e0, e1, e2 = rolling_row(mid_x, mid_y, mid_heading + delta)
    turn = axle0 * b1 - axle1 * b0
    u = axle1 * b2 - axle2 * b1 - turn * y
    w = axle2 * b0 - axle0 * b2 + turn * x
    turn_change = axle1 * e0 - axle0 * e1
    u_change = axle2 * e1 - axle1 * e2 - turn_change * y
    w_change = axle0 * e2 - axle2 * e0 + turn_change * x
    size = u * u + w * w
    if size < 1e-24:
        return 1.0
    return (u * w_change - w * u_change) / size


@njit(cache=True, error_model="numpy")
def half_turn(angle):  # -> the same line's angle in [−π/2, π/2]
    return angle - pi * round(angle / pi)


@njit(cache=True, error_model="numpy")
def pseudo_inverse3(
    # in: matrix (m, 3), length that makes its third column comparable to the others
    matrix, length,
    # work: (m, 3); out: (3, m)
    work, inverse,
):  # -> rank  # fmt: skip
    """Moore-Penrose inverse of a matrix with three columns, by one-sided Jacobi rotations.

    The columns are turned against each other until they are orthogonal; their norms are then the singular values.
    This keeps full accuracy where forming AᵀA would lose half the digits. The third column is scaled by `length`
    [m] first, so that rank and least motion do not depend on the unit of length.
    """
    m = matrix.shape[0]
    v00, v01, v02 = 1.0, 0.0, 0.0
    v10, v11, v12 = 0.0, 1.0, 0.0
    v20, v21, v22 = 0.0, 0.0, 1.0
    for i in range(m):
        work[i, 0] = matrix[i, 0]
        work[i, 1] = matrix[i, 1]
        work[i, 2] = matrix[i, 2] / length
    for _ in range(30):
        largest = 0.0
        for pair in range(3):
            p = 0 if pair < 2 else 1
            q = pair + 1 if pair < 2 else 2
            a, b, c = 0.0, 0.0, 0.0
            for i in range(m):
                a += work[i, p] * work[i, p]
                b += work[i, q] * work[i, q]
                c += work[i, p] * work[i, q]
            # Each root by itself: the product of two small squares would underflow.
            norms = sqrt(a) * sqrt(b)
            if abs(c) <= 1e-16 * norms or c == 0.0:
                continue
            largest = max(largest, abs(c) / norms)
            zeta = (b - a) / (2.0 * c)
            t = 1.0 / (abs(zeta) + sqrt(1.0 + zeta * zeta))
            if zeta < 0.0:
                t = -t
            cs = 1.0 / sqrt(1.0 + t * t)
            sn = cs * t
            for i in range(m):
                wp, wq = work[i, p], work[i, q]
                work[i, p] = cs * wp - sn * wq
                work[i, q] = sn * wp + cs * wq
            if pair == 0:
                v00, v01 = cs * v00 - sn * v01, sn * v00 + cs * v01
                v10, v11 = cs * v10 - sn * v11, sn * v10 + cs * v11
                v20, v21 = cs * v20 - sn * v21, sn * v20 + cs * v21
            elif pair == 1:
                v00, v02 = cs * v00 - sn * v02, sn * v00 + cs * v02
                v10, v12 = cs * v10 - sn * v12, sn * v10 + cs * v12
                v20, v22 = cs * v20 - sn * v22, sn * v20 + cs * v22
            else:
                v01, v02 = cs * v01 - sn * v02, sn * v01 + cs * v02
                v11, v12 = cs * v11 - sn * v12, sn * v11 + cs * v12
                v21, v22 = cs * v21 - sn * v22, sn * v21 + cs * v22
        if largest < 1e-15:
            break
    s0, s1, s2 = 0.0, 0.0, 0.0
    for i in range(m):
        s0 += work[i, 0] * work[i, 0]
        s1 += work[i, 1] * work[i, 1]
        s2 += work[i, 2] * work[i, 2]
    # A singular value below 1e-9 of the largest is rounding or a geometry that cannot hold the motion.
    floor = max(s0, s1, s2) * 1e-18
    rank = 0
    f0, f1, f2 = 0.0, 0.0, 0.0
    if s0 > floor:
        f0 = 1.0 / s0
        rank += 1
    if s1 > floor:
        f1 = 1.0 / s1
        rank += 1
    if s2 > floor:
        f2 = 1.0 / s2
        rank += 1
    for i in range(m):
        w0, w1, w2 = work[i, 0] * f0, work[i, 1] * f1, work[i, 2] * f2
        inverse[0, i] = v00 * w0 + v01 * w1 + v02 * w2
        inverse[1, i] = v10 * w0 + v11 * w1 + v12 * w2
        inverse[2, i] = (v20 * w0 + v21 * w1 + v22 * w2) / length
    return rank


@njit(cache=True, error_model="numpy")
def arc_displacement(theta, vx, vy, turn, dt):  # -> Δx, Δy in the world
    """Displacement over `dt` with a constant twist, exact.

    ∫ R(θ + θ's) v ds = dt · sinc(θ'dt/2) · R(θ + θ'dt/2) v: the chord of the arc, in the direction of its middle.
    """
    half = 0.5 * turn * dt
    chord = dt
    if abs(half) > 1e-4:
        chord = dt * sin(half) / half
    else:
        # Series of sin(h)/h; the next term, h⁶/5040, is below 2e-28 here.
        chord = dt * (1.0 - half * half * (1.0 / 6.0 - half * half / 120.0))
    c, s = cos(theta + half), sin(theta + half)
    return chord * (c * vx - s * vy), chord * (s * vx + c * vy)
