"""Inverse kinematics of arms of six revolute joints whose last three axes meet in a point: all solutions, up to eight.

The point, the wrist's centre, depends on the first three joints alone (physics/pieper.py). For each of their positions
the last three have to turn frame 3 to the target's orientation: with M = R₃₀ R₀₆ Rot_x(−α₆),

    M = Rot_z(θ₄) Rot_x(α₄) Rot_z(θ₅) Rot_x(α₅) Rot_z(θ₆)

whose last column fixes θ₅ up to its sign, and θ₄; the rest is θ₆.
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin, sqrt

import numpy as np

from botz.frames import compiled, inlined
from botz.physics.dh import REVOLUTE
from botz.physics.ik_choice import FLIPPED, FREE_SHOULDER, FREE_WRIST, OUT_OF_REACH, SOLVED, continued, cost_of, inside
from botz.physics.pieper import FIRST_ROW, FREE_1, FREE_2, arm_positions, on_second_axis, polished, wrist_frame

STRAIGHT = 5e-10
"""Angle between axes 4 and 6 below which only the sum of their joints' angles counts [rad]."""
NEWTON_FROM = 1e-13
"""Distance of the wrist's centre from its target, as a share of the reach, above which a position is polished."""
LEFT_OVER = 1e-10
"""The same, above which a position is none."""
TOGETHER = 1e-6
"""Solutions whose joints all differ by less are one [rad]: branches that meet at a singularity."""
SCANNED = 90
"""Angles at which the cost of a free joint is looked at, before it is narrowed down."""
GOLDEN = 0.6180339887498949
OUTSIDE = 1e9
"""Cost of leaving the joints' ranges, while a free joint is sought."""


def fits(links: np.ndarray) -> bool:
    """Whether axes 4, 5 and 6 meet in one point, with different directions, and the first three joints move this point
    anywhere: not where they are all parallel, or all meet."""
    if len(links) != 6 or (links["kind"] != REVOLUTE).any():
        return False
    reach = float(reach_of(links))
    offsets = max(abs(links["a"][3]), abs(links["a"][4]), abs(links["d"][4]))
    if reach == 0.0 or offsets > 1e-13 * reach or min(abs(links["sa"][3]), abs(links["sa"][4])) < 1e-6:
        return False
    volumes = [abs(volume_of_moves(links, 1.0 + k, 2.0 - 0.7 * k, 0.4 + 1.1 * k)) for k in range(5)]
    return max(volumes) > 1e-7 * reach**3


def volume_of_moves(links: np.ndarray, *q: float, step: float = 1e-4) -> float:
    """Determinant of the wrist centre's derivatives by the first three joints."""
    columns = []
    for k in range(3):
        ahead, behind = list(q), list(q)
        ahead[k], behind[k] = q[k] + step, q[k] - step
        columns.append(np.subtract(wrist_frame(links, *ahead)[9:], wrist_frame(links, *behind)[9:]) / (2.0 * step))
    return float(np.linalg.det(np.array(columns)))


@compiled
def reach_of(links):
    total = 0.0
    for i in range(len(links)):
        total += abs(links[i].a) + abs(links[i].d)
    return total


@compiled
def bend_of(links, mx, my, mz):
    """θ₅ ≥ 0 of the wrist whose axis 6 is m in frame 3; −1 where its axes cannot be at that angle.

    cos γ = m_z = cos α₄ cos α₅ − sin α₄ sin α₅ cos θ₅, solved for tan²(θ₅/2) in sines of γ ± (α₄ ± α₅), which keep their
    digits where the wrist is straight.
    """
    same = links[3].sa * links[4].sa
    gamma = atan2(hypot(mx, my), mz)
    alpha4, alpha5 = atan2(links[3].sa, links[3].ca), atan2(links[4].sa, links[4].ca)
    added, taken = alpha4 + alpha5, alpha4 - alpha5
    top = sin(0.5 * (added + gamma)) * sin(0.5 * (added - gamma))
    below = sin(0.5 * (gamma + taken)) * sin(0.5 * (gamma - taken))
    if same < 0.0:
        top, below = -top, -below
    if top < -1e-15 or below < -1e-15:
        return -1.0
    return 2.0 * atan2(sqrt(max(top, 0.0)), sqrt(max(below, 0.0)))


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
def relative_axes(flange, z5x, z5y, z5z, xx, xy, xz, yx, yy, yz, zx, zy, zz):
    """Axis 6 and x of the target, in frame 3."""
    nx, ny, nz = flange[0], flange[1], flange[2]
    return (
        xx * z5x + xy * z5y + xz * z5z, yx * z5x + yy * z5y + yz * z5z, zx * z5x + zy * z5y + zz * z5z,
        xx * nx + xy * ny + xz * nz, yx * nx + yy * ny + yz * nz, zx * nx + zy * ny + zz * nz,
    )  # fmt: skip


@compiled
def add_wrists(
    links, wanted, weights, limits, mx, my, mz, nx, ny, nz, first, last, code, count, joints, branch
):  # -> count, flags
    """The wrists of sides `first` to `last` (0 plain, 1 flipped) for the arm that stands in row `count`."""
    off = hypot(mx, my)
    right = links[3].ca == 0.0 and links[4].ca == 0.0
    q1, q2, q3 = joints[count, 0], joints[count, 1], joints[count, 2]
    if right and off >= STRAIGHT:
        theta4, bend, theta6 = right_angles(links, off, mx, my, mz, nx, ny, nz)
    else:
        bend = bend_of(links, mx, my, mz)
        if bend < 0.0:
            return count, 0
        if off < STRAIGHT:
            q = joints[count]
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
    meets = abs(bend) < TOGETHER or pi - abs(bend) < TOGETHER
    return count, FREE_WRIST if meets else 0


@compiled
def cost_at(
    links, flange, z5x, z5y, z5z, wanted, weights, limits, free, angle, q1, q2, q3, side, at, joints, branch
):  # -> cost
    """Of the solution with the free joint at this angle and this side of the wrist, which is put in row `at`."""
    q1, q2 = (angle, q2) if free == 0 else (q1, angle)
    xx, xy, xz, yx, yy, yz, zx, zy, zz, _, _, _ = wrist_frame(links, q1, q2, q3)
    mx, my, mz, nx, ny, nz = relative_axes(flange, z5x, z5y, z5z, xx, xy, xz, yx, yy, yz, zx, zy, zz)
    q = joints[at]
    q[0], q[1], q[2] = q1, q2, q3
    code = branch[at]
    count, _ = add_wrists(
        links, wanted, weights, limits, mx, my, mz, nx, ny, nz, side, side, code, at, joints, branch
    )
    branch[at] = code
    if count == at:
        return 2.0 * OUTSIDE
    for i in range(6):
        q[i] = continued(links[i], q[i], wanted[i])
    cost = cost_of(wanted, weights, q)
    return cost + OUTSIDE if limits and not inside(links, q) else cost


@compiled
def add_freed(
    links, flange, z5x, z5y, z5z, wanted, weights, limits, free, q1, q2, q3, code, count, joints, branch
):  # -> count
    """The cheapest solution of each side of the wrist with joint `free` (0 or 1) anywhere: the cost is looked at all
    around and narrowed down by golden sections about its least value."""
    for side in range(2):
        middle, low, high = wanted[free], wanted[free] - pi, wanted[free] + pi
        if limits:
            middle = min(max(middle, links[free].lower), links[free].upper)
            low, high = max(middle - pi, links[free].lower), min(middle + pi, links[free].upper)
        branch[count] = code + side * FLIPPED
        best = cost_at(
            links, flange, z5x, z5y, z5z, wanted, weights, limits, free, middle, q1, q2, q3, side, count, joints, branch
        )
        angle, step = middle, (high - low) / SCANNED
        for k in range(SCANNED + 1):
            tried = low + k * step
            cost = cost_at(
                links, flange, z5x, z5y, z5z, wanted, weights, limits, free, tried, q1, q2, q3, side, count, joints,
                branch,
            )  # fmt: skip
            if cost < best:
                best, angle = cost, tried
        if best >= 2.0 * OUTSIDE:
            continue
        left, right = max(angle - step, low), min(angle + step, high)
        for _ in range(45):
            one, two = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
            cost_one = cost_at(
                links, flange, z5x, z5y, z5z, wanted, weights, limits, free, one, q1, q2, q3, side, count, joints, branch
            )
            cost_two = cost_at(
                links, flange, z5x, z5y, z5z, wanted, weights, limits, free, two, q1, q2, q3, side, count, joints, branch
            )
            if cost_one < best:
                best, angle = cost_one, one
            if cost_two < best:
                best, angle = cost_two, two
            left, right = (left, two) if cost_one < cost_two else (one, right)
        cost_at(
            links, flange, z5x, z5y, z5z, wanted, weights, limits, free, angle, q1, q2, q3, side, count, joints, branch
        )
        count += 1
    return count


@compiled
def without_twins(count, joints, branch):
    """Leave out what is there already, but for whole turns."""
    kept = 0
    for k in range(count):
        twin = False
        for other in range(kept):
            widest = 0.0
            for i in range(joints.shape[1]):
                apart = joints[k, i] - joints[other, i]
                widest = max(widest, abs(apart - 2.0 * pi * round(apart / (2.0 * pi))))
            twin |= widest < TOGETHER
        if not twin:
            for i in range(joints.shape[1]):
                joints[kept, i] = joints[k, i]
            branch[kept] = branch[k]
            kept += 1
    return kept


@compiled
def wrist_solutions(links, flange, wanted, weights, limits, joints, branch):  # -> count, status
    """All joints that bring frame 6 to `flange` (axes x, y, z and origin, base axes); `joints` (8, 6), `branch` (8)."""
    reach = reach_of(links)
    last = links[5]
    z5x, z5y, z5z = (
        last.sa * flange[3] + last.ca * flange[6],
        last.sa * flange[4] + last.ca * flange[7],
        last.sa * flange[5] + last.ca * flange[8],
    )
    x = flange[9] - last.a * flange[0] - last.d * z5x
    y = flange[10] - last.a * flange[1] - last.d * z5y
    z = flange[11] - last.a * flange[2] - last.d * z5z
    end, flags = arm_positions(links, x, y, z, reach, wanted, joints, branch)
    count = 0
    for row in range(FIRST_ROW, end):
        q1, q2, q3, marks = joints[row, 0], joints[row, 1], joints[row, 2], branch[row]
        if marks & FREE_1:
            q1 = wanted[0]
        xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = wrist_frame(links, q1, q2, q3)
        left = abs(px - x) + abs(py - y) + abs(pz - z)
        if not left <= NEWTON_FROM * reach:
            q1, q2, q3, left = polished(links, x, y, z, q1, q2, q3)
            if not left <= LEFT_OVER * reach:
                continue
            xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = wrist_frame(links, q1, q2, q3)
        code = marks & 3
        second = marks & FREE_2 and on_second_axis(links, reach, q3)
        if second or marks & FREE_1:
            free = 1 if second else 0
            flags |= FREE_SHOULDER
            count = add_freed(
                links, flange, z5x, z5y, z5z, wanted, weights, limits, free, q1, q2, q3, code, count, joints, branch
            )
            continue
        mx, my, mz, nx, ny, nz = relative_axes(flange, z5x, z5y, z5z, xx, xy, xz, yx, yy, yz, zx, zy, zz)
        joints[count, 0], joints[count, 1], joints[count, 2] = q1, q2, q3
        count, flag = add_wrists(
            links, wanted, weights, limits, mx, my, mz, nx, ny, nz, 0, 1, code, count, joints, branch
        )
        flags |= flag
    if flags:
        count = without_twins(count, joints, branch)
    return (count, SOLVED + flags) if count > 0 else (0, OUT_OF_REACH)
