"""Where the first three joints of an arm put its wrist's centre, and all positions that put it at a given point.

Pieper's method [pieper1968], after [craig2005] section 4.6, for the frames of physics/dh.py. The wrist's centre is
(0, 0, d₄) of frame 3. In frame 2 it is f = (r cos ψ, r sin ψ, h) with ψ = θ₃ + φ, r e^{iφ} = a₃ − i d₄ sin α₃ and
h = d₃ + d₄ cos α₃. In frame 1 it is g = (Rot(θ₂) u, w) with u = (a₂ + f_x, f_y cos α₂ − h sin α₂) and
w = d₂ + f_y sin α₂ + h cos α₂. From the base, with Z counted from d₁ and R² = X² + Y² + Z²:

    2 a₁ g_x = R² − a₁² − |g|²        sin α₁ g_y = Z − w cos α₁        g_x² + g_y² = |u|²

|g|² and w are linear in cos ψ and sin ψ, |u|² = |g|² − w² is quadratic: in general a quartic in tan(ψ/2), up to four
positions. Where axes 2 and 3 are parallel, where axes 1 and 2 meet and where they are parallel, two quadratic equations
one after the other give the same with all digits.
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin, sqrt

from botz.frames import compiled, inlined
from botz.physics.ik_choice import BACKWARD, ELBOW_DOWN, FREE_SHOULDER, STRAIGHT_ELBOW
from botz.physics.quartic import trigonometric_roots

SMALL = 1e-7
"""A sine, or a length as a share of the reach, that counts as zero for the choice of the method. What this neglects is
made good by Newton's steps."""
AXIAL = 1e-10
"""Distance from an axis, as a share of the reach, below which the angle about the axis is free."""
SLACK = 1e-10
"""How far out of reach a point may be, as a share of the reach."""
MEETING = 5e-7
"""Half the angle between two branches below which they count as one [rad]."""
FREE_1, FREE_2 = 8, 16
"""Marks of a position beside its branch: the angle of joint 1 is free; that of joint 2 is or nearly is."""
FIRST_ROW = 4
"""Positions stand in these rows of the solutions, so that they can be unfolded by the wrist from row 0 on."""


@compiled
def next_frame(link, angle, xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz):  # -> the same twelve of the next link
    c, s = cos(angle), sin(angle)
    ux, uy, uz = c * xx + s * yx, c * xy + s * yy, c * xz + s * yz
    wx, wy, wz = c * yx - s * xx, c * yy - s * xy, c * yz - s * xz
    ca, sa, a, d = link.ca, link.sa, link.a, link.d
    return (
        ux, uy, uz, ca * wx + sa * zx, ca * wy + sa * zy, ca * wz + sa * zz, ca * zx - sa * wx, ca * zy - sa * wy,
        ca * zz - sa * wz, px + d * zx + a * ux, py + d * zy + a * uy, pz + d * zz + a * uz,
    )  # fmt: skip


@compiled
def wrist_frame(links, q1, q2, q3):  # -> axes x, y, z of frame 3 and the wrist's centre
    xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = next_frame(
        links[0], links[0].theta + q1, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    )
    xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = next_frame(
        links[1], links[1].theta + q2, xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz
    )
    xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = next_frame(
        links[2], links[2].theta + q3, xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz
    )
    d = links[3].d
    return xx, xy, xz, yx, yy, yz, zx, zy, zz, px + d * zx, py + d * zy, pz + d * zz


@compiled
def polished(links, x, y, z, q1, q2, q3):  # -> q1, q2, q3, distance left
    """Newton's steps on the wrist's centre itself, hardly damped: what roots close to each other left over."""
    best, b1, b2, b3 = -1.0, q1, q2, q3
    for _ in range(12):
        xx, xy, xz, yx, yy, yz, z1x, z1y, z1z, p1x, p1y, p1z = next_frame(
            links[0], links[0].theta + q1, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
        )
        xx, xy, xz, yx, yy, yz, z2x, z2y, z2z, p2x, p2y, p2z = next_frame(
            links[1], links[1].theta + q2, xx, xy, xz, yx, yy, yz, z1x, z1y, z1z, p1x, p1y, p1z
        )
        xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = next_frame(
            links[2], links[2].theta + q3, xx, xy, xz, yx, yy, yz, z2x, z2y, z2z, p2x, p2y, p2z
        )
        d = links[3].d
        px, py, pz = px + d * zx, py + d * zy, pz + d * zz
        ex, ey, ez = x - px, y - py, z - pz
        left = sqrt(ex * ex + ey * ey + ez * ez)
        if 0.0 <= best <= left:
            break
        best, b1, b2, b3 = left, q1, q2, q3
        # Columns z × (p − o) of the three joints.
        j1x, j1y, j1z = -py, px, 0.0
        rx, ry, rz = px - p1x, py - p1y, pz - p1z
        j2x, j2y, j2z = z1y * rz - z1z * ry, z1z * rx - z1x * rz, z1x * ry - z1y * rx
        rx, ry, rz = px - p2x, py - p2y, pz - p2z
        j3x, j3y, j3z = z2y * rz - z2z * ry, z2z * rx - z2x * rz, z2x * ry - z2y * rx
        h11, h22 = j1x * j1x + j1y * j1y + j1z * j1z, j2x * j2x + j2y * j2y + j2z * j2z
        h33 = j3x * j3x + j3y * j3y + j3z * j3z
        damping = 1e-14 * (h11 + h22 + h33) + 1e-300
        h11, h22, h33 = h11 + damping, h22 + damping, h33 + damping
        h12, h13 = j1x * j2x + j1y * j2y + j1z * j2z, j1x * j3x + j1y * j3y + j1z * j3z
        h23 = j2x * j3x + j2y * j3y + j2z * j3z
        r1, r2, r3 = j1x * ex + j1y * ey + j1z * ez, j2x * ex + j2y * ey + j2z * ez, j3x * ex + j3y * ey + j3z * ez
        l21, l31 = h12 / h11, h13 / h11
        d2 = max(h22 - l21 * h12, damping)
        l32 = (h23 - l31 * h12) / d2
        d3 = max(h33 - l31 * h13 - l32 * l32 * d2, damping)
        r2 -= l21 * r1
        r3 -= l31 * r1 + l32 * r2
        s3 = r3 / d3
        s2 = r2 / d2 - l32 * s3
        s1 = r1 / h11 - l21 * s2 - l31 * s3
        largest = max(max(abs(s1), abs(s2)), abs(s3))
        share = 0.1 / largest if largest > 0.1 else 1.0
        q1, q2, q3 = q1 + share * s1, q2 + share * s2, q3 + share * s3
    return b1, b2, b3, best


@inlined
def first_angle(links, azimuth, w, gx, gy):
    """θ₁, from the direction in which the centre lies seen from frame 1."""
    return azimuth - atan2(links[0].ca * gy - links[0].sa * w, gx + links[0].a)


@inlined
def put(links, reach, away, theta1, psi, phi, u1, u2, gx, gy, code, row, joints, branch):  # -> the next row
    """One position from ψ and g; its branch with the marks of free joints."""
    marks = FREE_2 if abs(u1) + abs(u2) <= SMALL * reach else 0
    marks += FREE_1 if away <= AXIAL * reach else 0
    joints[row, 0] = theta1 - links[0].theta
    joints[row, 1] = atan2(gy, gx) - atan2(u2, u1) - links[1].theta
    joints[row, 2] = psi - phi - links[2].theta
    branch[row] = code + marks
    return row + 1


@inlined
def half_apart(size, value, slack):
    """Half the angle between the two x of size · cos x = value; −1 where there are none."""
    if abs(value) > size + slack:
        return -1.0
    return atan2(sqrt(max((size - value) * (size + value), 0.0)), value)


@compiled
def on_second_axis(links, reach, q3):
    """Whether the wrist's centre lies on axis 2: then joint 2 does not move it."""
    angle = links[2].theta + q3
    fx, fy, fz = links[2].a, -links[2].sa * links[3].d, links[2].d + links[2].ca * links[3].d
    fx, fy = cos(angle) * fx - sin(angle) * fy, sin(angle) * fx + cos(angle) * fy
    return hypot(links[1].a + fx, links[1].ca * fy - links[1].sa * fz) <= AXIAL * reach


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
    if along <= MEETING * away or away <= AXIAL * reach:
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
            row = put(links, reach, away, theta1, psi, phi, u1, u2, gx, gy, code, row, joints, branch)
    return row, flags


@inlined
def second_frame(links, r, h, psi):  # -> u, w
    fx, fy = r * cos(psi), r * sin(psi)
    ca, sa = links[1].ca, links[1].sa
    return links[1].a + fx, ca * fy - sa * h, links[1].d + sa * fy + ca * h


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
    if away <= AXIAL * reach:
        flags |= FREE_SHOULDER
    for elbow in range(2):
        psi = middle + (half if elbow == 0 else -half)
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
            row = put(links, reach, away, theta1, psi, phi, u1, u2, gx, gy, code, row, joints, branch)
    return row, flags


@compiled
def general_positions(links, x, y, z, reach, wanted, r, phi, h, joints, branch):  # -> row after the last, flags
    """sin²α₁ A² + 4 a₁² B² = 4 a₁² sin²α₁ |u|² with A = 2 a₁ g_x and B = sin α₁ g_y, both linear in cos ψ, sin ψ."""
    a1, ca1, sa1, a2, d2 = links[0].a, links[0].ca, links[0].sa, links[1].a, links[1].d
    ca2, sa2 = links[1].ca, links[1].sa
    rest = d2 + ca2 * h
    a_0 = x * x + y * y + z * z - a1 * a1 - r * r - h * h - a2 * a2 - d2 * d2 - 2.0 * d2 * ca2 * h
    a_c, a_s = -2.0 * a2 * r, -2.0 * d2 * sa2 * r
    b_0, b_s = z - ca1 * rest, -ca1 * sa2 * r
    m, n = sa1 * sa1, 4.0 * a1 * a1
    mn = m * n
    # |u|² = (a₂ + r c)² + (cos α₂ r s − h sin α₂)²
    q0 = m * a_0 * a_0 + n * b_0 * b_0 - mn * (a2 * a2 + sa2 * sa2 * h * h)
    qc = 2.0 * m * a_0 * a_c - mn * 2.0 * a2 * r
    qs = 2.0 * m * a_0 * a_s + 2.0 * n * b_0 * b_s + mn * 2.0 * ca2 * sa2 * r * h
    qcc, qcs = m * a_c * a_c - mn * r * r, 2.0 * m * a_c * a_s
    qss = m * a_s * a_s + n * b_s * b_s - mn * ca2 * ca2 * r * r
    count, p0, p1, p2, p3 = trigonometric_roots(q0, qc, qs, qcc, qcs, qss, SLACK)
    flat = MEETING * (abs(q0) + abs(qc) + abs(qs) + abs(qcc) + abs(qcs) + abs(qss))
    row, flags = FIRST_ROW, 0
    if count < 0:  # every ψ: a motion of the arm that leaves the wrist's centre where it is
        count, flags = 1, STRAIGHT_ELBOW
        p0 = wanted[2] + links[2].theta + phi
    azimuth, away = atan2(y, x), hypot(x, y)
    if away <= AXIAL * reach:
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
        row = put(links, reach, away, theta1, psi, phi, u1, u2, gx, gy, code, row, joints, branch)
    return row, flags


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
