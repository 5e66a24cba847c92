"""The last three joints of an arm whose last three axes meet: the angles that turn frame 3 to the target's orientation.

With M = R₃₀ R₀₆ Rot_x(−α₆) they solve

    M = Rot_z(θ₄) Rot_x(α₄) Rot_z(θ₅) Rot_x(α₅) Rot_z(θ₆)

Its last column m is axis 6 in frame 3 and fixes θ₅, up to its sign, and θ₄; its first column n then fixes θ₆.
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin, sqrt

from botz.kernels import compiled, inlined
from botz.physics.ik.choice import FLIPPED, FREE_WRIST, SAME
from botz.physics.ik.wrist_centre import at_angle, wrist_frame

STRAIGHT = 5e-10
"""Angle between axes 4 and 6 below which only the sum of their joints' angles counts [rad]."""
BEYOND = 0.1 * STRAIGHT
"""Angle beyond the straight or the folded wrist that is taken for rounding [rad]."""
NEAR_EDGE = 1e-2
"""The same, below which the arm is moved to where the wrist is straight or folded: four positions that meet are known
to a quarter of their digits, and an arm close to an axis magnifies that [rad]."""
OUTSIDE = 1e9
"""Cost of leaving the joints' ranges, while free joints are sought."""


@compiled
def bend_of(links, mx, my, mz):  # -> θ₅ ≥ 0, angle beyond the straight or the folded wrist, angle of axes 4 and 6 there
    """Of the wrist whose axis 6 is m in frame 3; where its axes cannot be at that angle, the nearest and by how much.

    cos γ = m_z = cos α₄ cos α₅ − sin α₄ sin α₅ cos θ₅, solved for tan²(θ₅/2) in sines of γ ± (α₄ ± α₅), which keep
    their digits where the wrist is straight.
    """
    same = links[3].sa * links[4].sa
    gamma = atan2(hypot(mx, my), mz)
    alpha4, alpha5 = atan2(links[3].sa, links[3].ca), atan2(links[4].sa, links[4].ca)
    added, taken = alpha4 + alpha5, alpha4 - alpha5
    top = sin(0.5 * (added + gamma)) * sin(0.5 * (added - gamma))
    below = sin(0.5 * (gamma + taken)) * sin(0.5 * (gamma - taken))
    if same < 0.0:
        top, below = -top, -below
    bend = 2.0 * atan2(sqrt(max(top, 0.0)), sqrt(max(below, 0.0)))
    if top >= 0.0 and below >= 0.0:
        return bend, 0.0, gamma
    edge = abs(added if top < 0.0 else taken)
    edge = min(edge, 2.0 * pi - edge)
    return bend, abs(edge - gamma), edge


@inlined
def last_angle(links, theta4, theta5, nx, ny, nz):
    """θ₆ that turns x of frame 5, at these angles, to n, both in frame 3."""
    c4, s4, c5, s5 = cos(theta4), sin(theta4), cos(theta5), sin(theta5)
    ca4, sa4, ca5, sa5 = links[3].ca, links[3].sa, links[4].ca, links[4].sa
    # n by the axes of frame 4, then of frame 5 with θ₆ still 0.
    a, b = c4 * nx + s4 * ny, ca4 * (c4 * ny - s4 * nx) + sa4 * nz
    c = ca4 * nz - sa4 * (c4 * ny - s4 * nx)
    return atan2(ca5 * (c5 * b - s5 * a) + sa5 * c, c5 * a + s5 * b)


@compiled
def wrist_angles(links, mx, my, mz, nx, ny, nz, bend):  # -> θ₄, θ₆ with θ₅ = bend
    sa5, ca5, c5 = links[4].sa, links[4].ca, cos(bend)
    vx, vy = sa5 * sin(bend), -links[3].ca * sa5 * c5 - links[3].sa * ca5
    theta4 = atan2(my, mx) - atan2(vy, vx)
    return theta4, last_angle(links, theta4, bend, nx, ny, nz)


@inlined
def right_angles(links, off, mx, my, mz, nx, ny, nz):  # -> θ₄, θ₅ ≥ 0, θ₆
    """The same where axes 4, 5 and 6 are at right angles, with no sine or cosine computed: v = (± sin θ₅, 0)."""
    sa4, sa5 = links[3].sa, links[4].sa
    c4, s4, c5 = sa5 * mx / off, sa5 * my / off, -sa4 * sa5 * mz
    a = c4 * nx + s4 * ny
    return atan2(s4, c4), atan2(off, c5), atan2(sa4 * sa5 * (s4 * nx - c4 * ny), c5 * a + off * sa4 * nz)


@compiled
def share_turn(links, wanted, weights, limits, same, total, q):
    """Joints 4 and 6 turn about one axis: the cheapest pair with q₄ + q₆ = total (q₄ − q₆ = −total where their axes
    point apart), whole turns besides, inside the ranges where there is one."""
    sign = 1.0 if same else -1.0
    weight4, weight6 = weights[3], weights[5]
    if weight4 + weight6 <= 0.0:
        weight4 = weight6 = 1.0
    low4, high4, low6, high6 = links[3].lower, links[3].upper, links[5].lower, links[5].upper
    best = -1.0
    nearest = round((total - wanted[5] - sign * wanted[3]) / (2.0 * pi))
    for k in range(-3, 4):
        # q₆ = whole − sign q₄
        whole = total - 2.0 * pi * (nearest + k)
        first = (weight4 * wanted[3] + weight6 * sign * (whole - wanted[5])) / (weight4 + weight6)
        outside = 0.0
        if limits:
            low, high = (whole - high6, whole - low6) if same else (low6 - whole, high6 - whole)
            low, high = max(low, low4), min(high, high4)
            first = min(max(first, low), high)
            outside = OUTSIDE if low > high else 0.0
        last = whole - sign * first
        cost = weight4 * (first - wanted[3]) ** 2 + weight6 * (last - wanted[5]) ** 2 + outside
        if best < 0.0 or cost < best:
            best, q[3], q[5] = cost, first, last


@inlined
def relative_axes(flange, axis, xx, xy, xz, yx, yy, yz, zx, zy, zz):  # -> m, n
    """Axis 6 and x of the target, in frame 3."""
    ax, ay, az = axis
    nx, ny, nz = flange[0], flange[1], flange[2]
    return (
        xx * ax + xy * ay + xz * az, yx * ax + yy * ay + yz * az, zx * ax + zy * ay + zz * az,
        xx * nx + xy * ny + xz * nz, yx * nx + yy * ny + yz * nz, zx * nx + zy * ny + zz * nz,
    )  # fmt: skip


@compiled
def led_to_edge(links, axis, centre, near, reach, m, q1, q2, q3):  # -> whether it was possible, q1, q2, q3
    """An arm whose wrist would have to be bent beyond straight or folded by a little, moved until it is straight or
    folded: where positions meet they are known to half of their digits, and so is the angle that the wrist has to make.
    The centre stays within `near`."""
    _, beyond, edge = bend_of(links, m[0], m[1], m[2])
    if not BEYOND < beyond < NEAR_EDGE:
        return beyond <= BEYOND, q1, q2, q3
    q1, q2, q3 = at_angle(links, centre[0], centre[1], centre[2], axis, edge, reach, q1, q2, q3)
    _, _, _, _, _, _, _, _, _, px, py, pz = wrist_frame(links, q1, q2, q3)
    return sqrt((px - centre[0]) ** 2 + (py - centre[1]) ** 2 + (pz - centre[2]) ** 2) <= near, q1, q2, q3


@compiled
def axes_of(links, flange, axis, q1, q2, q3):  # -> axis 6 and x of the target in frame 3 of this arm
    xx, xy, xz, yx, yy, yz, zx, zy, zz, _, _, _ = wrist_frame(links, q1, q2, q3)
    return relative_axes(flange, axis, xx, xy, xz, yx, yy, yz, zx, zy, zz)


@inlined
def has_right_angles(links):
    """Whether axes 4, 5 and 6 are at right angles: such a wrist makes every orientation."""
    return links[3].ca == 0.0 and links[4].ca == 0.0


@compiled
def add_wrists(links, wanted, weights, limits, axes, first, last, code, count, joints, branch):  # -> count, flags
    """The wrists of sides `first` to `last` (0 plain, 1 flipped) for the arm that stands in row `count`; `axes`: m and
    n."""
    mx, my, mz, nx, ny, nz = axes
    off = hypot(mx, my)
    right = has_right_angles(links)
    q1, q2, q3 = joints[count, 0], joints[count, 1], joints[count, 2]
    if right and off >= STRAIGHT:
        theta4, bend, theta6 = right_angles(links, off, mx, my, mz, nx, ny, nz)
    else:
        bend, beyond, _ = bend_of(links, mx, my, mz)
        if beyond > BEYOND:
            return count, 0
        if off < STRAIGHT:
            q = joints[count]
            # Exactly straight: bent by a little towards another side, the wrist would miss by that once more.
            bend = 0.0 if bend < 0.5 * pi else pi
            q[4] = bend - links[4].theta
            same = mz > 0.0
            total = last_angle(links, 0.0, bend, nx, ny, nz) - links[5].theta
            total -= links[3].theta if same else -links[3].theta
            share_turn(links, wanted, weights, limits, same, total, q)
            branch[count] = code
            return count + 1, FREE_WRIST
        theta4, theta6 = wrist_angles(links, mx, my, mz, nx, ny, nz, bend)
    for side in range(first, last + 1):
        if side == 1:
            if right:
                theta4, theta6 = theta4 + pi, theta6 + pi
            else:
                theta4, theta6 = wrist_angles(links, mx, my, mz, nx, ny, nz, -bend)
            bend = -bend
        q = joints[count]
        q[0], q[1], q[2] = q1, q2, q3
        q[3], q[4], q[5] = theta4 - links[3].theta, bend - links[4].theta, theta6 - links[5].theta
        branch[count] = code + side * FLIPPED
        count += 1
    meets = abs(bend) < SAME or pi - abs(bend) < SAME
    return count, FREE_WRIST if meets else 0
