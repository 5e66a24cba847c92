"""Where the first three joints put the wrist's centre, and steps that bring it to a point to the last digits.

The roots of Pieper's equations lose digits where positions meet and where the centre is close to an axis. What they
lose is made good here, on the distance to the point itself. Plain Newton's steps in all three joints would not do: at a
distance ε from an axis the centre is turned about it by errors of ε only, a joint's column of the Jacobian is ε long,
and its angle may be wrong by any amount. So the joint whose axis is nearest is not stepped but turned exactly, and the
other two take Newton's steps in the plane of this axis and the point.
"""

from __future__ import annotations

from math import atan2, cos, hypot, sin, sqrt

from botz.kernels import compiled, inlined
from botz.rotations import cross, dot

STEPS = 80
"""Steps at most: where two positions meet each of them brings only one digit in two."""
LEAST_DAMPING, MOST_DAMPING = 1e-24, 1e-2
"""Of steps that lead away, as a share of the squares of the columns: where positions meet rounding would lead far along
the direction that hardly moves the centre, and damping leaves it out."""
LONGEST = 0.1
"""Longest step of a joint [rad]."""


BASE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""Frame 0: axes x, y and z, and origin."""


@compiled
def next_frame(link, angle, frame):  # -> that of the next link
    xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = frame
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
    frame = next_frame(links[0], links[0].theta + q1, BASE)
    frame = next_frame(links[1], links[1].theta + q2, frame)
    xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = next_frame(links[2], links[2].theta + q3, frame)
    d = links[3].d
    return xx, xy, xz, yx, yy, yz, zx, zy, zz, px + d * zx, py + d * zy, pz + d * zz


@compiled
def moves(links, q1, q2, q3):  # -> the centre; axes 2, 3 and 4; the centre from axes 2 and 3's origins
    """Axis 1 is z through the base's origin."""
    first = next_frame(links[0], links[0].theta + q1, BASE)
    second = next_frame(links[1], links[1].theta + q2, first)
    _, _, _, _, _, _, zx, zy, zz, px, py, pz = next_frame(links[2], links[2].theta + q3, second)
    d = links[3].d
    px, py, pz = px + d * zx, py + d * zy, pz + d * zz
    return (
        (px, py, pz), first[6:9], second[6:9], (zx, zy, zz), (px - first[9], py - first[10], pz - first[11]),
        (px - second[9], py - second[10], pz - second[11]),
    )  # fmt: skip


@inlined
def across(axis, v):  # -> the part of v at right angles to a unit vector
    along = dot(axis[0], axis[1], axis[2], v[0], v[1], v[2])
    return v[0] - along * axis[0], v[1] - along * axis[1], v[2] - along * axis[2]


@inlined
def turn_between(axis, one, other):
    """The angle about a unit vector from one direction to another; 0 where there is none."""
    ax, ay, az = across(axis, one)
    bx, by, bz = across(axis, other)
    cx, cy, cz = cross(ax, ay, az, bx, by, bz)
    return atan2(dot(axis[0], axis[1], axis[2], cx, cy, cz), dot(ax, ay, az, bx, by, bz))


@inlined
def two_steps(a, b, e, damping):  # -> steps along columns a and b that take the most of e
    """Levenberg and Marquardt's, by columns turned until they are at right angles: a short one, where two positions
    meet, keeps all its digits, which normal equations would square away."""
    aa, bb, ab = dot(*a, *a), dot(*b, *b), dot(*a, *b)
    angle = 0.5 * atan2(2.0 * ab, aa - bb)
    c, s = cos(angle), sin(angle)
    ux, uy, uz = c * a[0] + s * b[0], c * a[1] + s * b[1], c * a[2] + s * b[2]
    vx, vy, vz = c * b[0] - s * a[0], c * b[1] - s * a[1], c * b[2] - s * a[2]
    least = (1e-32 + damping) * (aa + bb) + 1e-300
    one = dot(ux, uy, uz, *e) / (dot(ux, uy, uz, ux, uy, uz) + least)
    two = dot(vx, vy, vz, *e) / (dot(vx, vy, vz, vx, vy, vz) + least)
    one, two = min(max(one, -LONGEST), LONGEST), min(max(two, -LONGEST), LONGEST)
    return c * one - s * two, s * one + c * two


@compiled
def polished(links, x, y, z, q1, q2, q3, enough):  # -> q1, q2, q3, distance left
    """Until the distance is `enough`, or as near as it gets."""
    goal = (x, y, z)
    _, _, _, _, _, _, _, _, _, px, py, pz = wrist_frame(links, q1, q2, q3)
    left = sqrt((x - px) ** 2 + (y - py) ** 2 + (z - pz) ** 2)
    if left <= enough:
        return q1, q2, q3, left
    best, b1, b2, b3, damping, plane, first = -1.0, q1, q2, q3, 0.0, True, True
    one, two, rest, side = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for _ in range(STEPS):
        p, z1, z2, _, r1, r2 = moves(links, q1, q2, q3)
        nearest = p[0] * p[0] + p[1] * p[1] <= dot(*across(z1, r1), *across(z1, r1))
        if nearest:
            q1 += turn_between((0.0, 0.0, 1.0), p, goal)
        else:
            q2 += turn_between(z1, r1, (r1[0] + x - p[0], r1[1] + y - p[1], r1[2] + z - p[2]))
        p, z1, z2, _, r1, r2 = moves(links, q1, q2, q3)
        e = (x - p[0], y - p[1], z - p[2])
        left = sqrt(dot(*e, *e))
        if best < 0.0 or left < best:
            best, b1, b2, b3, first, rest = left, q1, q2, q3, nearest, e
            damping, plane = (1e-2 * damping if damping > LEAST_DAMPING else 0.0), True
            if best <= 0.01 * enough:
                break
            one, two = cross(*z1, *r1) if first else (-p[1], p[0], 0.0), cross(*z2, *r2)
            side = (-p[1], p[0], 0.0) if first else cross(*z1, *r1)
            size = sqrt(dot(*side, *side))
            side = (side[0] / size, side[1] / size, side[2] / size) if size > 0.0 else side
        elif plane:
            # Of a point on the axis itself, far nearer to it than the centre is, the plane means nothing.
            plane = False
        else:
            damping, plane = max(100.0 * damping, LEAST_DAMPING), True
            if damping > MOST_DAMPING or best <= enough:
                break
        if plane:
            # What is left lies in the plane of the axis and the point; what leads out of it the turn takes back.
            step, last = two_steps(across(side, one), across(side, two), across(side, rest), damping)
        else:
            step, last = two_steps(one, two, rest, damping)
        q1, q2, q3 = (b1, b2 + step, b3 + last) if first else (b1 + step, b2, b3 + last)
    return b1, b2, b3, best


@compiled
def at_angle(links, x, y, z, axis, angle, reach, q1, q2, q3):  # -> q1, q2, q3
    """Where positions meet, the arm can move a little and the centre hardly: this brings axis 4 to an angle from
    `axis`. Newton's steps on the centre and on the angle, four equations of three joints."""
    for _ in range(25):
        p, z1, z2, z3, r1, r2 = moves(links, q1, q2, q3)
        turning = cross(*z3, *axis)
        sine = sqrt(dot(*turning, *turning))
        if sine == 0.0:
            break
        # By how much each joint's turn opens the angle, times the reach.
        share = -reach / sine
        ex, ey, ez, ew = x - p[0], y - p[1], z - p[2], reach * (angle - atan2(sine, dot(*z3, *axis)))
        j1x, j1y, j1z, j1w = -p[1], p[0], 0.0, share * turning[2]
        j2x, j2y, j2z = cross(*z1, *r1)
        j3x, j3y, j3z = cross(*z2, *r2)
        j2w, j3w = share * dot(*z1, *turning), share * dot(*z2, *turning)
        h11 = j1x * j1x + j1y * j1y + j1z * j1z + j1w * j1w
        h22 = j2x * j2x + j2y * j2y + j2z * j2z + j2w * j2w
        h33 = j3x * j3x + j3y * j3y + j3z * j3z + j3w * j3w
        damping = 1e-15 * (h11 + h22 + h33) + 1e-300
        h11, h22, h33 = h11 + damping, h22 + damping, h33 + damping
        h12 = j1x * j2x + j1y * j2y + j1z * j2z + j1w * j2w
        h13 = j1x * j3x + j1y * j3y + j1z * j3z + j1w * j3w
        h23 = j2x * j3x + j2y * j3y + j2z * j3z + j2w * j3w
        e1 = j1x * ex + j1y * ey + j1z * ez + j1w * ew
        e2 = j2x * ex + j2y * ey + j2z * ez + j2w * ew
        e3 = j3x * ex + j3y * ey + j3z * ez + j3w * ew
        l21, l31 = h12 / h11, h13 / h11
        d2 = max(h22 - l21 * h12, damping)
        l32 = (h23 - l31 * h12) / d2
        d3 = max(h33 - l31 * h13 - l32 * l32 * d2, damping)
        e2 -= l21 * e1
        e3 -= l31 * e1 + l32 * e2
        s3 = e3 / d3
        s2 = e2 / d2 - l32 * s3
        s1 = e1 / h11 - l21 * s2 - l31 * s3
        largest = max(max(abs(s1), abs(s2)), abs(s3))
        share = LONGEST / largest if largest > LONGEST else 1.0
        q1, q2, q3 = q1 + share * s1, q2 + share * s2, q3 + share * s3
        if largest < 1e-15:
            break
    return q1, q2, q3


@compiled
def beside_first_axis(links, x, y, z, q1, q2, q3, side):  # -> q2, q3
    """To one side of a position whose centre is close to axis 1, at the same height and further away than the point:
    about a point close to an axis lie two positions, and Newton's steps lead to that of the side they come from."""
    p, z1, z2, _, r1, r2 = moves(links, q1, q2, q3)
    j2, j3 = cross(*z1, *r1), cross(*z2, *r2)
    size = hypot(j2[2], j3[2])
    s2, s3 = (j3[2] / size, -j2[2] / size) if size > 0.0 else (1.0, 0.0)
    speed = hypot(s2 * j2[0] + s3 * j3[0], s2 * j2[1] + s3 * j3[1])
    step = min(5.0 * max(hypot(x, y), hypot(p[0], p[1])), 1e-3 * speed) / speed if speed > 0.0 else 0.0
    return q2 + side * step * s2, q3 + side * step * s3
