"""Where the first three joints of an arm put its wrist's centre, and all positions that put it at a given point.

Pieper's method [pieper1968], after [craig2005] section 4.6, for the frames of physics/arm/dh.py. The wrist's centre is
(0, 0, d₄) of frame 3. In frame 2 it is f = (r cos ψ, r sin ψ, h) with ψ = θ₃ + φ, r e^{iφ} = a₃ − i d₄ sin α₃ and
h = d₃ + d₄ cos α₃. In frame 1 it is g = (Rot(θ₂) u, w) with u = (a₂ + f_x, f_y cos α₂ − h sin α₂) and
w = d₂ + f_y sin α₂ + h cos α₂. From the base, with Z counted from d₁ and R² = X² + Y² + Z²:

    2 a₁ g_x = R² − a₁² − |g|²        sin α₁ g_y = Z − w cos α₁        g_x² + g_y² = |u|²

|g|² and w are linear in cos ψ and sin ψ, |u|² = |g|² − w² is quadratic: in general a quartic in tan(ψ/2), up to four
positions. Where axes 2 and 3 are parallel, where axes 1 and 2 meet and where they are parallel, two quadratic equations
one after the other give the same with all digits.

The quartic vanishes where the arm can move with the wrist's centre at rest: with a₁² = a₂², d₂ = 0 and right angles,
for instance, it is linear in cos ψ, and at a certain distance nothing is left of it. Its terms are as large as ever, so
it is by them, not by what they leave, that its value counts as zero. Then θ₃ is free (redundant_joint.py).
"""

from __future__ import annotations

from math import atan2, cos, hypot, inf, pi, sin, sqrt

from botz.kernels import compiled, inlined
from botz.physics.ik.choice import BACKWARD, ELBOW_DOWN, FREE_SHOULDER, STRAIGHT_ELBOW
from botz.physics.ik.quartic import trigonometric_roots

SMALL = 1e-7
"""A sine, or a length as a share of the reach, that counts as zero for the choice of the method. What this neglects is
made good by Newton's steps."""
AXIAL = 4e-11
"""Distance from an axis, as a share of the reach, below which the angle about the axis is free: half a turn about it
then leaves the centre within `LEFT_OVER` (wrist.py)."""
SLACK = 1e-10
"""How far out of reach a point may be, as a share of the reach."""
MEETING = 5e-7
"""Half the angle between two branches below which they count as one [rad]."""
VANISHED = 1e-13
"""The quartic's greatest value, by its terms, below which every angle is a root: rounding of some ten terms."""
FREE_1, FREE_3 = 8, 16
"""Marks of a position beside its branch: the angle of joint 1 is free; that of joint 3 is, the first two following."""
FIRST_ROW = 4
"""Positions stand in these rows of the solutions, so that they can be unfolded by the wrist from row 0 on."""


@inlined
def first_angle(links, azimuth, w, gx, gy):
    """θ₁, from the direction in which the centre lies seen from frame 1."""
    return azimuth - atan2(links[0].ca * gy - links[0].sa * w, gx + links[0].a)


@inlined
def add_position(links, theta1, u, g, theta3, free, code, row, joints, branch):  # -> the next row
    """One position from u and g, of which theta3 is ψ − φ; its branch with the mark of a free joint 1."""
    joints[row, 0] = theta1 - links[0].theta
    joints[row, 1] = atan2(g[1], g[0]) - atan2(u[1], u[0]) - links[1].theta
    joints[row, 2] = theta3 - links[2].theta
    branch[row] = code + (FREE_1 if free else 0)
    return row + 1


@inlined
def half_apart(size, value, slack):
    """Half the angle between the two x of size · cos x = value; −1 where there are none."""
    if abs(value) > size + slack:
        return -1.0
    return atan2(sqrt(max((size - value) * (size + value), 0.0)), value)


@compiled
def parallel_elbow(links, x, y, z, reach, r, phi, h, joints, branch):  # -> row after the last, flags
    """Axes 2 and 3 parallel: w is constant, so g_y follows from the height, g_x from the distance to axis 1, and ψ from
    the triangle a₂, r, |g|."""
    a1, ca1, sa1, a2, side = links[0].a, links[0].ca, links[0].sa, links[1].a, 1.0 if links[1].ca > 0.0 else -1.0
    row, flags = FIRST_ROW, 0
    w = links[1].d + side * h
    gy = (z - ca1 * w) / sa1
    across = ca1 * gy - sa1 * w
    away = hypot(x, y)
    square = (away - across) * (away + across)
    if square < -SLACK * reach * reach:
        return row, flags
    # What rounding leaves of a vanishing root is set to 0: its square is known to 1e-16, itself to 1e-8 only.
    along = sqrt(square) if square > 1e-14 * away * away else 0.0
    free = away <= AXIAL * reach
    if along <= MEETING * away or free:
        flags |= FREE_SHOULDER
    azimuth = atan2(y, x)
    difference, total = abs(abs(a2) - r), abs(a2) + r
    for shoulder in range(2):
        gx = (along if shoulder == 0 else -along) - a1
        theta1 = first_angle(links, azimuth, w, gx, gy)
        # tan² of half the bend, by sides: the cosine would lose the digits of a straight and of a folded arm.
        size = hypot(gx, gy)
        short, long = (size - difference) * (size + difference), (total - size) * (total + size)
        if min(short, long) < -SLACK * reach * reach:
            continue
        short = short if short > 2e-15 * difference * reach else 0.0
        long = long if long > 2e-15 * total * reach else 0.0
        half = 2.0 * atan2(sqrt(long), sqrt(short))
        if half < MEETING or pi - half < MEETING:
            flags |= STRAIGHT_ELBOW
        c, s = (short - long) / (short + long), 2.0 * sqrt(short * long) / (short + long)
        for elbow in range(2):
            # At the positive root the wrist lies counter-clockwise of the elbow about axis 2.
            bend = half if elbow == 0 else -half
            u1, u2 = a2 + (r * c if a2 >= 0.0 else -r * c), (r * s if (elbow == 0) == (a2 >= 0.0) else -r * s)
            below = (elbow == 0) == ((sa1 > 0.0) == (shoulder == 0))
            code = (BACKWARD if shoulder == 1 else 0) + (ELBOW_DOWN if below else 0)
            psi = side * (bend if a2 >= 0.0 else pi + bend)
            row = add_position(links, theta1, (u1, u2), (gx, gy), psi - phi, free, code, row, joints, branch)
    return row, flags


@inlined
def second_frame(links, r, h, psi):  # -> u, w
    fx, fy = r * cos(psi), r * sin(psi)
    ca, sa = links[1].ca, links[1].sa
    return links[1].a + fx, ca * fy - sa * h, links[1].d + sa * fy + ca * h


@inlined
def at_distance(links, r, h, psi, distance):
    """ψ at which |g| is this distance, from one nearby: near 0 its square, which gave ψ, has half of the digits."""
    best, kept, before = -1.0, psi, psi
    for _ in range(6):
        u1, u2, w = second_frame(links, r, h, psi)
        size = sqrt(u1 * u1 + u2 * u2 + w * w)
        off = distance - size
        if 0.0 <= best <= abs(off):
            break
        best, kept = abs(off), psi
        c, s = r * cos(psi), r * sin(psi)
        slope = links[1].ca * c * u2 + links[1].sa * c * w - s * u1
        if slope == 0.0:
            break
        psi += off * size / slope
    # Where two of them meet the slope is rounding and may lead anywhere.
    return kept if abs(kept - before) < 1e-4 else before


@compiled
def two_by_two(links, x, y, z, reach, r, phi, h, meeting, joints, branch):  # -> row after the last, flags
    """Axes 1 and 2 meet (a₁ = 0): |g| = R gives ψ, then g_y from the height. Or they are parallel (sin α₁ = 0): the
    height gives ψ, then g_x from the distance."""
    a1, ca1, sa1, a2, d2 = links[0].a, links[0].ca, links[0].sa, links[1].a, links[1].d
    ca2, sa2 = links[1].ca, links[1].sa
    square = x * x + y * y + z * z
    row, flags = FIRST_ROW, 0
    if meeting:
        along, across = 2.0 * a2 * r, 2.0 * d2 * sa2 * r
        value, slack = square - r * r - h * h - a2 * a2 - d2 * d2 - 2.0 * d2 * ca2 * h, SLACK * reach * reach
    else:
        along, across, value, slack = 0.0, sa2 * r, z / ca1 - ca2 * h - d2, SLACK * reach
    half, middle = half_apart(hypot(along, across), value, slack), atan2(across, along)
    if half < 0.0:
        return row, flags
    if half < MEETING or pi - half < MEETING:
        flags |= STRAIGHT_ELBOW
    azimuth, away = atan2(y, x), hypot(x, y)
    free = away <= AXIAL * reach
    if free:
        flags |= FREE_SHOULDER
    for elbow in range(2):
        psi = middle + (half if elbow == 0 else -half)
        if meeting:
            psi = at_distance(links, r, h, psi, sqrt(square))
        u1, u2, w = second_frame(links, r, h, psi)
        size = hypot(u1, u2)
        given = (z - ca1 * w) / sa1 if meeting else (square - a1 * a1 - size * size - w * w) / (2.0 * a1)
        if abs(given) > size + SMALL * reach:  # generous: ψ may have half its digits only; what is left over decides
            continue
        other = sqrt(max((size - given) * (size + given), 0.0))
        if other <= MEETING * size:
            flags |= FREE_SHOULDER if meeting else STRAIGHT_ELBOW
        for second in range(2):
            signed = other if second == 0 else -other
            if meeting:
                below = (elbow == 0) == ((sa1 > 0.0) == (second == 0))
                code = (BACKWARD if second == 1 else 0) + (ELBOW_DOWN if below else 0)
                gx, gy = signed, given
            else:
                code = (BACKWARD if elbow == 1 else 0) + (ELBOW_DOWN if second == 1 else 0)
                gx, gy = given, signed
            theta1 = first_angle(links, azimuth, w, gx, gy)
            row = add_position(links, theta1, (u1, u2), (gx, gy), psi - phi, free, code, row, joints, branch)
    return row, flags


@inlined
def linear_parts(links, x, y, z, r, h):  # -> A = a_0 + a_c c + a_s s, B = b_0 + b_s s, and the sizes of their terms
    """A = 2 a₁ g_x and B = sin α₁ g_y by c = cos ψ and s = sin ψ."""
    a1, ca1, a2, d2, ca2, sa2 = links[0].a, links[0].ca, links[1].a, links[1].d, links[1].ca, links[1].sa
    squares, product = r * r + h * h + a1 * a1 + a2 * a2 + d2 * d2, 2.0 * d2 * ca2 * h
    distance = x * x + y * y + z * z
    a_0 = distance - squares - product
    a_c, a_s = -2.0 * a2 * r, -2.0 * d2 * sa2 * r
    b_0, b_s = z - ca1 * (d2 + ca2 * h), -ca1 * sa2 * r
    a_size = distance + squares + abs(product) + abs(a_c) + abs(a_s)
    return a_0, a_c, a_s, b_0, b_s, a_size, abs(z) + abs(ca1) * (abs(d2) + abs(h)) + abs(b_s)


@compiled
def general_positions(links, x, y, z, reach, wanted, r, phi, h, joints, branch):  # -> row after the last, flags
    """sin²α₁ A² + 4 a₁² B² = 4 a₁² sin²α₁ |u|² with A = 2 a₁ g_x and B = sin α₁ g_y, both linear in cos ψ, sin ψ."""
    a1, ca1, sa1, a2 = links[0].a, links[0].ca, links[0].sa, links[1].a
    ca2, sa2 = links[1].ca, links[1].sa
    a_0, a_c, a_s, b_0, b_s, a_size, b_size = linear_parts(links, x, y, z, r, h)
    m, n = sa1 * sa1, 4.0 * a1 * a1
    mn = m * n
    # |u|² = (a₂ + r c)² + (cos α₂ r s − h sin α₂)²
    q0 = m * a_0 * a_0 + n * b_0 * b_0 - mn * (a2 * a2 + sa2 * sa2 * h * h)
    qc = 2.0 * m * a_0 * a_c - mn * 2.0 * a2 * r
    qs = 2.0 * m * a_0 * a_s + 2.0 * n * b_0 * b_s + mn * 2.0 * ca2 * sa2 * r * h
    qcc, qcs = m * a_c * a_c - mn * r * r, 2.0 * m * a_c * a_s
    qss = m * a_s * a_s + n * b_s * b_s - mn * ca2 * ca2 * r * r
    u_size = abs(a2) + r + abs(h)
    terms = m * a_size * a_size + n * b_size * b_size + mn * u_size * u_size
    count, p0, p1, p2, p3 = trigonometric_roots(q0, qc, qs, qcc, qcs, qss, SLACK, VANISHED * terms)
    flat = MEETING * (abs(q0) + abs(qc) + abs(qs) + abs(qcc) + abs(qcs) + abs(qss))
    row, flags = FIRST_ROW, 0
    if count < 0:  # every ψ: a motion of the arm that leaves the wrist's centre where it is
        joints[row, 2] = wanted[2]
        branch[row] = FREE_3
        return row + 1, STRAIGHT_ELBOW
    azimuth, away = atan2(y, x), hypot(x, y)
    free = away <= AXIAL * reach
    if free:
        flags |= FREE_SHOULDER
    taken = 0
    for k in range(count):
        psi = p0 if k == 0 else (p1 if k == 1 else (p2 if k == 2 else p3))
        c, s = cos(psi), sin(psi)
        if abs(c * (qs + 2.0 * qss * s + qcs * c) - s * (qc + 2.0 * qcc * c + qcs * s)) < flat:  # a double root
            flags |= STRAIGHT_ELBOW
        u1, u2, w = second_frame(links, r, h, psi)
        gx, gy = (a_0 + a_c * c + a_s * s) / (2.0 * a1), (z - ca1 * w) / sa1
        # The elbow, at u = (a₂, 0) of frame 2, against the line to the wrist.
        backward = gx + a1 < 0.0
        below = (a2 * u2 > 0.0) == ((sa1 > 0.0) != backward)
        code = (BACKWARD if backward else 0) + (ELBOW_DOWN if below else 0)
        while taken & (1 << code):  # roots of a general arm need not differ by shoulder and elbow
            code = (code + 1) % 4
        taken |= 1 << code
        theta1 = first_angle(links, azimuth, w, gx, gy)
        row = add_position(links, theta1, (u1, u2), (gx, gy), psi - phi, free, code, row, joints, branch)
    return row, flags


@compiled
def following(links, x, y, z, q3):  # -> q1, q2
    """Of an arm whose quartic vanishes: g follows from ψ."""
    fx, fy = links[2].a, -links[2].sa * links[3].d
    r, h = hypot(fx, fy), links[2].d + links[2].ca * links[3].d
    psi, z = q3 + links[2].theta + atan2(fy, fx), z - links[0].d
    a_0, a_c, a_s, _, _, _, _ = linear_parts(links, x, y, z, r, h)
    u1, u2, w = second_frame(links, r, h, psi)
    gx, gy = (a_0 + a_c * cos(psi) + a_s * sin(psi)) / (2.0 * links[0].a), (z - links[0].ca * w) / links[0].sa
    return (first_angle(links, atan2(y, x), w, gx, gy) - links[0].theta, atan2(gy, gx) - atan2(u2, u1) - links[1].theta)


@compiled
def off_second_axis(links, q3):
    """The distance of the wrist's centre from axis 2."""
    fx, fy = links[2].a, -links[2].sa * links[3].d
    psi = q3 + links[2].theta + atan2(fy, fx)
    u1, u2, _ = second_frame(links, hypot(fx, fy), links[2].d + links[2].ca * links[3].d, psi)
    return hypot(u1, u2)


@compiled
def on_second_axis(links, x, y, z, reach, number):  # -> q1, q3, distance of the point, code
    """The arm with the wrist's centre on axis 2, where joint 2 does not move it, turned towards the point: of two such
    arms that with this number. Where there is none the distance is infinite."""
    fx, fy = links[2].a, -links[2].sa * links[3].d
    r, h = hypot(fx, fy), links[2].d + links[2].ca * links[3].d
    a1, ca1, sa1, ca2, sa2 = links[0].a, links[0].ca, links[0].sa, links[1].ca, links[1].sa
    c = min(max(-links[1].a / r, -1.0), 1.0)
    s = sqrt((1.0 - c) * (1.0 + c))
    psi, z, away = atan2(s if number == 0 else -s, c), z - links[0].d, hypot(x, y)
    best, kept = inf, psi
    if hypot(*second_frame(links, r, h, psi)[:2]) > SMALL * reach or (number == 1 and s < SMALL):
        return 0.0, 0.0, best, 0
    # Where the centre passes along the axis, ψ follows from the point: Newton's steps on what is left of both.
    for _ in range(30):
        u1, u2, w = second_frame(links, r, h, psi)
        radius = hypot(a1, sa1 * w)
        e1, e2 = away - radius, z - ca1 * w
        distance = sqrt(e1 * e1 + e2 * e2 + u1 * u1 + u2 * u2)
        if not distance < best:
            break
        best, kept = distance, psi
        d1, d2, dw = -r * sin(psi), ca2 * r * cos(psi), sa2 * r * cos(psi)
        d3, d4 = (sa1 * sa1 * w * dw / radius if radius > 0.0 else 0.0), ca1 * dw
        psi += (e1 * d3 + e2 * d4 - u1 * d1 - u2 * d2) / (d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4 + 1e-300)
    _, _, w = second_frame(links, r, h, kept)
    q1 = first_angle(links, atan2(y, x), w, 0.0, 0.0) - links[0].theta
    code = (BACKWARD if a1 < 0.0 else 0) + (ELBOW_DOWN if number == 1 else 0)
    return q1, kept - atan2(fy, fx) - links[2].theta, best, code


@compiled
def arm_positions(links, x, y, z, reach, wanted, joints, branch):  # -> row after the last, flags
    """All θ₁, θ₂, θ₃ that put the wrist's centre at (x, y, z), in rows from `FIRST_ROW` on."""
    z = z - links[0].d
    fx, fy = links[2].a, -links[2].sa * links[3].d
    r, phi = hypot(fx, fy), atan2(fy, fx)
    h = links[2].d + links[2].ca * links[3].d
    if abs(links[0].sa) > SMALL:
        if abs(links[1].sa) <= SMALL:
            return parallel_elbow(links, x, y, z, reach, r, phi, h, joints, branch)
        if abs(links[0].a) > SMALL * reach:
            return general_positions(links, x, y, z, reach, wanted, r, phi, h, joints, branch)
    return two_by_two(links, x, y, z, reach, r, phi, h, abs(links[0].sa) > SMALL, joints, branch)
