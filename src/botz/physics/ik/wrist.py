"""Inverse kinematics of arms of six revolute joints whose last three axes meet in a point: all solutions, up to eight.

The point, the wrist's centre, depends on the first three joints alone: up to four positions (pieper.py). For
each of them the last three joints turn the tool in two ways (wrist_angles.py). Where the centre lies on the
axis of joint 1 or 2, that joint is free and set where the cost is least (redundant_joint.py); where it lies on
both, joint 2 is, with joint 1 as near to the angle wanted as its range allows; where the arm can move with the centre
at rest, joint 3 is. Where axes 4 and 6 coincide, their joints share the turn they make together. The usual arms, far
from all that, take a shorter way (`regular`).
"""

from __future__ import annotations

from math import hypot, pi, sqrt

import numpy as np

from botz.kernels import compiled, inlined
from botz.physics.arm.dh import REVOLUTE
from botz.physics.ik.choice import BACKWARD, ELBOW_DOWN, FLIPPED, FREE_SHOULDER, MOST, OUT_OF_REACH, SAME, SOLVED, same
from botz.physics.ik.pieper import (
    AXIAL,
    FIRST_ROW,
    FREE_1,
    FREE_3,
    SMALL,
    arm_positions,
    off_second_axis,
    on_second_axis,
)
from botz.physics.ik.redundant_joint import add_freed
from botz.physics.ik.wrist_angles import add_wrists, axes_of, has_right_angles, led_to_edge
from botz.physics.ik.wrist_centre import beside_first_axis, polished
from botz.physics.polynomials import HALF_PI, atan_of

NEWTON_FROM = 1e-13
"""Distance of the wrist's centre from its target, as a share of the reach, above which a position is polished."""
LEFT_OVER = 1e-10
"""The same, above which a position is none."""
NEAR_AXIS = 1e-6
"""Distance of the wrist's centre from the axis of joint 1 or 2, as a share of the reach, below which positions are
sought on both sides of the axis: half of the digits of a root place the centre to 1e-8."""
AROUND = 36
"""Angles of joint 1 that are tried where the wrist's centre lies on axes 1 and 2."""
NEARLY = 1e-3
"""A sine, or a length as a share of the arm's, below which a pose is nearly singular and takes the way of all arms."""


def fits(links: np.ndarray) -> bool:
    """Whether axes 4, 5 and 6 meet in one point, with different directions, and the first three joints move this point
    anywhere: not where they are all parallel, or all meet. Plain NumPy: no arm waits for a compiler to learn this."""
    if len(links) != 6 or (links["kind"] != REVOLUTE).any():
        return False
    reach = float(np.abs(links["a"]).sum() + np.abs(links["d"]).sum())
    offsets = max(abs(links["a"][3]), abs(links["a"][4]), abs(links["d"][4]))
    if reach == 0.0 or offsets > 1e-13 * reach or min(abs(links["sa"][3]), abs(links["sa"][4])) < 1e-6:
        return False
    volumes = [abs(volume_of_moves(links, (0.0, 2.0 - 0.7 * k, 0.4 + 1.1 * k))) for k in range(5)]
    return max(volumes) > 1e-7 * reach**3


def volume_of_moves(links: np.ndarray, angles: tuple[float, ...]) -> float:
    """Determinant of the wrist centre's derivatives by the first three joints."""
    turn, place = np.eye(3), np.zeros(3)
    axes, points = [], []
    for link, angle in zip(links[:3], angles, strict=True):
        axes.append(turn[:, 2])
        points.append(place)
        c, s = np.cos(angle), np.sin(angle)
        place = place + turn @ [link.a * c, link.a * s, link.d]
        turn = turn @ [[c, -s * link.ca, s * link.sa], [s, c * link.ca, -c * link.sa], [0.0, link.sa, link.ca]]
    centre = place + turn[:, 2] * links[3].d
    return float(np.linalg.det([np.cross(axis, centre - point) for axis, point in zip(axes, points, strict=True)]))


@compiled
def reach_of(links):
    total = 0.0
    for i in range(len(links)):
        total += abs(links[i].a) + abs(links[i].d)
    return total


@inlined
def angle_of(y, x):
    """Of the direction (x, y), in any turn: by the smaller of the two ratios, without a branch."""
    steep = abs(y) > abs(x)
    top, below = (-x, y) if steep else (y, x)
    quarters = HALF_PI if y > 0.0 else -HALF_PI
    halves = pi if x < 0.0 else 0.0
    return (quarters if steep else halves) + atan_of(top / below)


@inlined
def in_first_frame(link, c1, s1, x, y, z):  # -> a direction of the base in frame 1
    across = c1 * y - s1 * x
    return c1 * x + s1 * y, link.ca * across + link.sa * z, link.ca * z - link.sa * across


@compiled
def regular(links, flange, axis, x, y, z, joints, branch):  # -> count, −1 where this way is not open
    """All solutions of the usual arm, axes 2 and 3 parallel and axes 4, 5 and 6 at right angles, at a pose that is not
    nearly singular.

    The same triangles as in `parallel_elbow` and the same wrist as in `right_angles`, but cosines and sines come from
    lengths, as products and quotients, and serve for the frames; each angle is one arctangent at the end. Where no sine
    is small nothing is lost by that, and no two solutions can meet.
    """
    a1, ca1, sa1, a2, side = links[0].a, links[0].ca, links[0].sa, links[1].a, links[1].ca
    ca3, sa3, sa4, sa5 = links[2].ca, links[2].sa, links[3].sa, links[4].sa
    if links[1].sa != 0.0 or links[3].ca != 0.0 or links[4].ca != 0.0 or abs(sa1) < NEARLY:
        return -1
    fx, fy = links[2].a, -sa3 * links[3].d
    r = sqrt(fx * fx + fy * fy)
    w = links[1].d + side * (links[2].d + ca3 * links[3].d)
    gy = (z - links[0].d - ca1 * w) / sa1
    across, away2 = ca1 * gy - sa1 * w, x * x + y * y
    difference, total = abs(abs(a2) - r), abs(a2) + r
    least, square = NEARLY * NEARLY * total * total, away2 - across * across
    if not (square > NEARLY * NEARLY * away2 and square > least and min(abs(a2), r) > NEARLY * total):
        return -1
    along, per = sqrt(square), 1.0 / away2
    # The forearm's own angle in frame 3, and the sign of the upper arm.
    cphi, sphi, sign = fx / r, side * fy / r, 1.0 if a2 > 0.0 else -1.0
    phi = angle_of(fy, fx)
    count = 0
    for shoulder in range(2):
        signed = along if shoulder == 0 else -along
        gx = signed - a1
        c1, s1 = (x * signed + y * across) * per, (y * signed - x * across) * per
        size = sqrt(gx * gx + gy * gy)
        short, long = (size - difference) * (size + difference), (total - size) * (total + size)
        if not min(short, long) > least:
            if min(short, long) < -least:
                continue
            return -1
        both = sign / (short + long)
        cb, sb = (short - long) * both, 2.0 * sqrt(short * long) * both
        u1, u2 = a2 + r * cb, r * sb
        one = 1.0 / (size * sqrt(u1 * u1 + u2 * u2))
        q1 = angle_of(s1, c1) - links[0].theta
        beta = angle_of(sb, cb)
        ax, ay, az = in_first_frame(links[0], c1, s1, axis[0], axis[1], axis[2])
        nx, ny, nz = in_first_frame(links[0], c1, s1, flange[0], flange[1], flange[2])
        az, nz = side * az, side * nz
        for elbow in range(2):
            if elbow == 1:
                u2, sb, beta = -u2, -sb, -beta
            c2, s2 = (gx * u1 + gy * u2) * one, (gy * u1 - gx * u2) * one
            c3, s3 = cb * cphi + sb * sphi, sb * cphi - cb * sphi
            c, s = c2 * c3 - s2 * s3, s2 * c3 + c2 * s3
            # Axis 6 and x of the target in frame 3.
            mx, m = c * ax + s * ay, side * (c * ay - s * ax)
            kx, k = c * nx + s * ny, side * (c * ny - s * nx)
            my, mz, ky, kz = ca3 * m + sa3 * az, ca3 * az - sa3 * m, ca3 * k + sa3 * nz, ca3 * nz - sa3 * k
            off2 = mx * mx + my * my
            if not off2 > NEARLY * NEARLY:
                return -1
            q2, q3 = angle_of(s2, c2) - links[1].theta, side * beta - phi - links[2].theta
            q4 = angle_of(sa5 * my, sa5 * mx) - links[3].theta
            q5 = angle_of(sqrt(off2), -sa4 * sa5 * mz)
            q6 = angle_of(sa4 * (my * kx - mx * ky), sa4 * (off2 * kz - mz * (mx * kx + my * ky))) - links[5].theta
            below = (elbow == 0) == ((sa1 > 0.0) == (shoulder == 0))
            code = (BACKWARD if shoulder == 1 else 0) + (ELBOW_DOWN if below else 0)
            plain, flipped = joints[count], joints[count + 1]
            plain[0], plain[1], plain[2], plain[3] = q1, q2, q3, q4
            flipped[0], flipped[1], flipped[2], flipped[3] = q1, q2, q3, q4 + pi
            plain[4], flipped[4] = q5 - links[4].theta, -q5 - links[4].theta
            plain[5], flipped[5] = q6, q6 + pi
            branch[count], branch[count + 1] = code, code + FLIPPED
            count += 2
    return count


@inlined
def position_in(row, joints, branch):  # -> q1, q2, q3, branch with marks
    return joints[row, 0], joints[row, 1], joints[row, 2], branch[row]


@compiled
def arm_is_there(links, count, joints):
    """Whether a solution has the arm in row `count`."""
    there = False
    for k in range(count):
        there = there or same(links[:3], joints[k], joints[count], SAME)
    return there


@compiled
def add_arm(case, free, q1, q2, q3, code, count, joints, branch):  # -> count, flags
    """The solutions of one position of the arm, known roughly; whether joint 1 is free."""
    links, flange, axis, centre, near, reach, wanted, weights, limits = case
    q1, q2, q3, left = polished(links, centre[0], centre[1], centre[2], q1, q2, q3, NEWTON_FROM * reach)
    if not left <= near or count > MOST - 2:
        return count, 0
    joints[count, 0], joints[count, 1], joints[count, 2] = q1, q2, q3
    if arm_is_there(links, count, joints):
        return count, 0
    if free:
        asked = min(max(wanted[0], links[0].lower), links[0].upper) if limits else wanted[0]
        return add_freed(case, np.int64(0), asked, q2, q3, code, count, joints, branch), FREE_SHOULDER
    axes = axes_of(links, flange, axis, q1, q2, q3)
    if not has_right_angles(links):
        possible, q1, q2, q3 = led_to_edge(links, axis, centre, near, reach, axes[:3], q1, q2, q3)
        if not possible:
            return count, 0
        axes = axes_of(links, flange, axis, q1, q2, q3)
        joints[count, 0], joints[count, 1], joints[count, 2] = q1, q2, q3
    plain, flipped = np.int64(0), np.int64(1)
    return add_wrists(links, wanted, weights, limits, axes, plain, flipped, code, count, joints, branch)


@compiled
def add_on_second_axis(case, count, joints, branch):  # -> count
    """Solutions with the wrist's centre on axis 2, where joint 2 is free. Where joint 1 is, too, it is as near to the
    angle wanted as its range and the wrist allow."""
    links, _, _, centre, near, reach, wanted, _, limits = case
    x, y, z = centre
    for number in range(2):
        q1, q3, distance, code = on_second_axis(links, x, y, z, reach, number)
        if distance > near:
            continue
        before, both = count, hypot(x, y) <= AXIAL * reach
        for k in range(AROUND if both else 1):
            if both:
                q1 = wanted[0] + 2.0 * pi * ((k + 1) // 2) / AROUND * (1.0 if k % 2 == 0 else -1.0)
                q1 = min(max(q1, links[0].lower), links[0].upper) if limits else q1
            if count == before:
                count = add_freed(case, np.int64(1), q1, wanted[1], q3, code, count, joints, branch)
    return count


@compiled
def add_beside_first_axis(case, position, count, joints, branch):  # -> count
    """Solutions with the wrist's centre very close to axis 1: two positions on different sides of it that are one to
    the roots. Newton's steps come from both sides."""
    links, _, _, centre, _, _, _, _, _ = case
    q1, q2, q3, marks = position
    for side in (1.0, -1.0):
        s2, s3 = beside_first_axis(links, centre[0], centre[1], centre[2], q1, q2, q3, side)
        count, _ = add_arm(case, False, q1, s2, s3, marks & 3, count, joints, branch)
    return count


@compiled
def add_beside_second_axis(case, count, joints, branch):  # -> count
    """The same of axis 2, which is known without the roots."""
    links, _, _, centre, _, reach, wanted, _, _ = case
    for number in range(2):
        q1, q3, distance, code = on_second_axis(links, centre[0], centre[1], centre[2], reach, number)
        if distance <= NEAR_AXIS * reach:
            step = 5.0 * distance / hypot(links[2].a, links[2].sa * links[3].d)
            for side in (1.0, -1.0):
                count, _ = add_arm(case, False, q1, wanted[1], q3 + side * step, code, count, joints, branch)
    return count


@compiled
def wrist_solutions(links, flange, wanted, weights, limits, joints, branch):  # -> count, status
    """All joints that bring frame 6 to `flange` (axes x, y, z and origin, base axes); `joints` (8, 6), `branch` (8)."""
    last = links[5]
    axis = (
        last.sa * flange[3] + last.ca * flange[6],
        last.sa * flange[4] + last.ca * flange[7],
        last.sa * flange[5] + last.ca * flange[8],
    )
    x = flange[9] - last.a * flange[0] - last.d * axis[0]
    y = flange[10] - last.a * flange[1] - last.d * axis[1]
    z = flange[11] - last.a * flange[2] - last.d * axis[2]
    count = regular(links, flange, axis, x, y, z, joints, branch)
    if count >= 0:
        return (count, SOLVED) if count > 0 else (0, OUT_OF_REACH)
    reach = reach_of(links)
    end, flags = arm_positions(links, x, y, z, reach, wanted, joints, branch)
    # Solutions are put where the positions stand.
    positions = (
        position_in(FIRST_ROW, joints, branch), position_in(FIRST_ROW + 1, joints, branch),
        position_in(FIRST_ROW + 2, joints, branch), position_in(FIRST_ROW + 3, joints, branch),
    )  # fmt: skip
    case = (links, flange, axis, (x, y, z), LEFT_OVER * reach, reach, wanted, weights, limits)
    # Numba takes a plain 0 for a type of its own and would compile all that it is handed to once more.
    count = add_on_second_axis(case, np.int64(0), joints, branch)
    freed = count > 0
    if freed:
        flags |= FREE_SHOULDER
    for number in range(end - FIRST_ROW):
        q1, q2, q3, marks = positions[number]
        if marks & FREE_3:
            count = add_freed(case, np.int64(2), q1, q2, q3, marks & 3, count, joints, branch)
        elif not (freed and off_second_axis(links, q3) <= SMALL * reach):
            free = marks & FREE_1 != 0
            count, flag = add_arm(case, free, q1, q2, q3, marks & 3, count, joints, branch)
            flags |= flag
    if AXIAL * reach < hypot(x, y) <= NEAR_AXIS * reach:
        for number in range(end - FIRST_ROW):
            count = add_beside_first_axis(case, positions[number], count, joints, branch)
    if not freed:
        count = add_beside_second_axis(case, count, joints, branch)
    return (count, SOLVED + flags) if count > 0 else (0, OUT_OF_REACH)
