"""Inverse kinematics of arms of six revolute joints whose axes 2, 3 and 4 are parallel and whose axes 5 and 6 meet:
all solutions, up to eight. Universal Robots' arms and many others are made so.

Joint 1 turns the common direction z₁ of the three parallel axes. The point c where axes 5 and 6 meet stays at one
distance from frame 1 along z₁, whatever joints 2, 3 and 4 do:

    z₁ · (c − p₁) = d₂ ± d₃ ± d₄ ± cos α₄ d₅

which is sin α₁ (s₁ c_x − c₁ c_y) = const and has two solutions θ₁. For each of them joints 2, 3 and 4 together turn by
some T about z₁, and then

    R₁ᵀ R₆ Rot_x(−α₆) = Rot_z(T) Rot_x(α₄) Rot_z(θ₅) Rot_x(α₅) Rot_z(θ₆)

is the equation of a wrist (wrist_angles.py) with two solutions. What is left are the two links a₂ and a₃, which
bring joint 4 to its place in the plane across z₁ with the elbow on either side, and θ₄ = T − θ₂ − θ₃.

Where axis 6 is parallel to axes 2 to 4, T is free; where c lies on axis 1 and the distance is 0, θ₁ is. A free angle is
set where the cost is least: the curve of solutions is sampled and each minimum narrowed down.
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin, sqrt

import numpy as np

from botz.kernels import compiled, inlined
from botz.physics.arm.dh import REVOLUTE
from botz.physics.ik.choice import (
    BACKWARD,
    FLIPPED,
    FREE_SHOULDER,
    FREE_WRIST,
    OUT_OF_REACH,
    SHOULDER_EDGE,
    SOLVED,
    STRAIGHT_ELBOW,
    cost_of,
    turned,
)
from botz.physics.ik.redundant_joint import GOLDEN, NEVER, SECTIONS, graded, outside_by
from botz.physics.ik.titan4 import elbow_code
from botz.physics.ik.two_links import REACH, reach_of, two_links
from botz.physics.ik.wrist_angles import BEYOND, OUTSIDE, STRAIGHT, bend_of, last_angle, wrist_angles

EXACT = 1e-13
"""How exactly axes are parallel and meet: sines, and lengths as parts of the arm's."""
FREE = 2e-10
"""Distance of c from axis 1, as a part of the arm's length, below which it has no direction."""
MEETING = 1e-7
"""The same of c from the nearest place that joint 1 can bring it to, from which on its two angles are apart."""
WINDOW = 1e-14
"""Rounding of the tool's axes. T is known to this over the sine of the angle between axis 6 and z₁."""
SCANNED = 240
"""Angles all around at which the cost of a free angle is looked at."""
TURN, SHOULDER = 0, 1
"""What is free: T, or θ₁."""

# A case is (links, flange, axis 6 of the target, c, wanted, weights, limits, what is free, its fixed other angle, side
# of the wrist, side of the elbow).


def fits(links: np.ndarray) -> bool:
    """Whether axes 2, 3 and 4 are parallel, axes 5 and 6 meet, and the other axes have directions of their own."""
    if len(links) != 6 or (links["kind"] != REVOLUTE).any():
        return False
    reach = float(np.abs(links["a"]).sum() + np.abs(links["d"]).sum())
    two = np.abs(links["a"][1:3])
    parallel = np.abs(links["sa"][[1, 2]]).max() <= EXACT
    meets = abs(links["a"][4]) <= EXACT * reach
    apart = np.abs(links["sa"][[0, 3, 4]]).min() > 1e-6
    return bool(parallel and meets and apart and two.min() > 1e-6 * two.sum())


@inlined
def sides(links):  # -> whether z₃ points along z₁ (1) or against it (−1), the same of z₃ and z₂
    second, third = 1.0 if links[1].ca > 0.0 else -1.0, 1.0 if links[2].ca > 0.0 else -1.0
    return second * third, third


@inlined
def in_plane_frame(links, theta1, x, y, z):  # -> a direction of the base along x₁, ± y₁, ± z₁, the last as z₃ points
    along, _ = sides(links)
    c1, s1 = cos(theta1), sin(theta1)
    across = c1 * y - s1 * x
    ca, sa = links[0].ca, links[0].sa
    return c1 * x + s1 * y, along * (ca * across + sa * z), along * (ca * z - sa * across)


@compiled
def wrist_at(links, flange, axis, theta1, side):  # -> T, θ₅, θ₆, angle beyond what the wrist can, sine, sign
    """On one side of the wrist (0 plain, 1 flipped). The sine is that of the angle between axis 6 and z₁, the sign that
    of its cosine. Where the sine is 0, T is 0 and θ₆ what is left for both: θ₆ + sign T."""
    mx, my, mz = in_plane_frame(links, theta1, axis[0], axis[1], axis[2])
    nx, ny, nz = in_plane_frame(links, theta1, flange[0], flange[1], flange[2])
    bend, beyond, _ = bend_of(links, mx, my, mz)
    off, sign = hypot(mx, my), 1.0 if mz > 0.0 else -1.0
    if off < STRAIGHT:
        bend = 0.0 if bend < 0.5 * pi else pi
        return 0.0, bend, last_angle(links, 0.0, bend, nx, ny, nz), beyond, 0.0, sign
    bend = -bend if side == 1 else bend
    turn, theta6 = wrist_angles(links, mx, my, mz, nx, ny, nz, bend)
    return turn, bend, theta6, beyond, off, sign


@inlined
def fourth_axis(links, c, theta1, turn):  # -> place of axis 4 in the plane, from axis 2
    x, y, _ = in_plane_frame(links, theta1, c[0], c[1], c[2] - links[0].d)
    link, ct, st = links[3], cos(turn), sin(turn)
    across = link.sa * links[4].d
    return x - links[0].a - link.a * ct - across * st, y - link.a * st + across * ct


@inlined
def beyond_reach(links, c, theta1, turn):
    """Distance from axis 4 to what the two links reach, as a part of their length; negative within."""
    x, y = fourth_axis(links, c, theta1, turn)
    one, two, distance = abs(links[1].a), abs(links[2].a), hypot(x, y)
    return max(distance - (one + two), abs(one - two) - distance) / (one + two)


@compiled
def led_into_reach(links, c, theta1, turn, window):
    """By how much T has to turn, at most by `window`, which is its rounding, to bring axis 4 into reach. Where axis 6
    is nearly along z₁ this rounding is large, and a stretched arm would be lost to it."""
    if beyond_reach(links, c, theta1, turn) <= REACH:
        return 0.0
    low, high = -window, window
    for _ in range(SECTIONS):
        one, two = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if beyond_reach(links, c, theta1, turn + one) < beyond_reach(links, c, theta1, turn + two):
            high = two
        else:
            low = one
    return 0.5 * (low + high)


@compiled
def elbows(links, c, theta1, turn, theta5, theta6, elbow, q):  # -> number of elbows, distance beyond reach
    """Joints with the elbow on one side (0, 1), where there is one; the distance is a part of both links' length."""
    along, third = sides(links)
    x, y = fourth_axis(links, c, theta1, turn)
    low, high, scale = reach_of(links[1].a, links[2].a)
    number, t2, t3, other = two_links(links[1].a, links[2].a, low, high, scale, x, y)
    if number == 0:
        return 0, beyond_reach(links, c, theta1, turn)
    if elbow == 1 and number == 2:
        t2, t3 = other, -t3
    q[0], q[1], q[2] = theta1 - links[0].theta, along * t2 - links[1].theta, third * t3 - links[2].theta
    q[3] = turn - t2 - t3 - links[3].theta
    q[4], q[5] = theta5 - links[4].theta, theta6 - links[5].theta
    return number, 0.0


@compiled
def cost_at(case, angle, q):
    """Of the solution with the free angle here, whose joints go to `q`; from `NEVER` on there is none."""
    links, flange, axis, c, wanted, weights, limits, free, fixed, side, elbow = case
    theta1 = angle if free == SHOULDER else fixed
    turn, theta5, theta6, beyond, off, sign = wrist_at(links, flange, axis, theta1, side)
    if beyond > BEYOND:
        return NEVER * (1.5 + graded(beyond))
    if off == 0.0:
        turn = angle if free == TURN else wanted_turn(links, wanted)
        theta6 -= sign * turn
    number, missed = elbows(links, c, theta1, turn, theta5, theta6, elbow, q)
    if number == 0:
        return NEVER * (1.0 + graded(missed))
    for i in range(6):
        q[i] = turned(links[i], q[i], wanted[i], limits)
    excess = outside_by(links, q) if limits else 0.0
    cost = cost_of(wanted, weights, q)
    return cost + OUTSIDE * (1.0 + graded(excess)) if excess > 0.0 else cost


@inlined
def wanted_turn(links, wanted):
    """T of the joints wanted."""
    along, third = sides(links)
    two, three, four = wanted[1] + links[1].theta, wanted[2] + links[2].theta, wanted[3] + links[3].theta
    return along * two + third * three + four


@compiled
def narrowed(case, low, high, angle, best, q):  # -> angle, cost
    """The least cost between two angles, or the one known, by golden sections."""
    one, two = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    cost_one, cost_two = cost_at(case, one, q), cost_at(case, two, q)
    for _ in range(SECTIONS):
        if cost_one < cost_two:
            high, two, cost_two = two, one, cost_one
            one = high - GOLDEN * (high - low)
            cost_one = cost_at(case, one, q)
        else:
            low, one, cost_one = one, two, cost_two
            two = low + GOLDEN * (high - low)
            cost_two = cost_at(case, two, q)
        if min(cost_one, cost_two) < best:
            best, angle = (cost_one, one) if cost_one < cost_two else (cost_two, two)
    return angle, best


@compiled
def cheapest(case, start, q):  # -> whether there is a solution; its joints in `q`
    """All around from `start`, which is looked at itself."""
    step = 2.0 * pi / SCANNED
    before, here = cost_at(case, start - step, q), cost_at(case, start, q)
    angle, best = start, here
    for k in range(SCANNED):
        at = start + k * step
        after = cost_at(case, at + step, q)
        # What the arm is at now is always looked into.
        if k == 0 or (here <= before and here <= after):
            if here < best:
                best, angle = here, at
            angle, best = narrowed(case, at - step, at + step, angle, best, q)
        before, here = here, after
    return cost_at(case, angle, q) < NEVER


@compiled
def add_free(case, start, code, count, joints, branch):  # -> count
    """The cheapest solution with each elbow along one curve; those on which the two are one are found twice."""
    links = case[0]
    for elbow in range(2):
        own = (*case, elbow)
        if count < len(joints) and cheapest(own, start, joints[count]):
            q = joints[count]
            branch[count] = code + elbow_of(links, code, q)
            count += 1
    return count


@inlined
def elbow_of(links, code, q):
    """Of a branch, by the sine of joint 3: its angle may be in any turn."""
    return elbow_code(links, code & BACKWARD != 0, (1.0 if links[1].ca > 0.0 else -1.0) * sin(q[2] + links[2].theta))


@compiled
def at_shoulder(case, theta1, code, count, joints, branch):  # -> count, flags
    """The solutions with this θ₁."""
    links, flange, axis, c, wanted, _, _ = case
    flags = 0
    for side in range(2):
        turn, theta5, theta6, beyond, off, sign = wrist_at(links, flange, axis, theta1, side)
        if beyond > BEYOND:
            continue
        if off == 0.0:
            if side == 0:
                flags |= FREE_WRIST
                curve = (*case, np.int64(TURN), theta1, np.int64(0))
                count = add_free(curve, wanted_turn(links, wanted), code, count, joints, branch)
            continue
        shift = led_into_reach(links, c, theta1, turn, WINDOW / off)
        turn, theta6 = turn + shift, theta6 - sign * shift
        for elbow in range(2):
            number, _ = elbows(links, c, theta1, turn, theta5, theta6, elbow, joints[count])
            if number == 1:
                flags |= STRAIGHT_ELBOW
            if elbow < number:
                own = code + side * FLIPPED
                branch[count] = own + elbow_of(links, own, joints[count])
                count += 1
    return count, flags


@compiled
def parallel_solutions(links, flange, wanted, weights, limits, joints, branch):  # -> count, status
    """All joints that bring frame 6 to `flange` (axes x, y, z and origin, base axes); `joints` (8, 6), `branch` (8)."""
    last, along = links[5], sides(links)[0]
    axis = (
        last.sa * flange[3] + last.ca * flange[6],
        last.sa * flange[4] + last.ca * flange[7],
        last.sa * flange[5] + last.ca * flange[8],
    )
    x = flange[9] - last.a * flange[0] - last.d * axis[0]
    y = flange[10] - last.a * flange[1] - last.d * axis[1]
    z = flange[11] - last.a * flange[2] - last.d * axis[2]
    reach = 0.0
    for i in range(6):
        reach += abs(links[i].a) + abs(links[i].d)
    case = (links, flange, axis, (x, y, z), wanted, weights, limits)
    # s₁ x − c₁ y of the point c, from its distance along z₁.
    second = 1.0 if links[1].ca > 0.0 else -1.0
    offset = links[1].d + second * links[2].d + along * (links[3].d + links[3].ca * links[4].d)
    across = (offset - links[0].ca * (z - links[0].d)) / links[0].sa
    away = hypot(x, y)
    count, flags = np.int64(0), 0
    if abs(across) - away > REACH * reach:
        return count, OUT_OF_REACH
    if away <= FREE * reach:
        flags = FREE_SHOULDER
        for side in range(2):
            curve = (*case, np.int64(SHOULDER), 0.0, np.int64(side))
            count = add_free(curve, wanted[0] + links[0].theta, side * FLIPPED, count, joints, branch)
        return (count, SOLVED + flags) if count > 0 else (count, OUT_OF_REACH)
    root = sqrt(max((away - abs(across)) * (away + abs(across)), 0.0))
    if root <= MEETING * reach:
        flags |= SHOULDER_EDGE
    middle = atan2(y, x)
    for shoulder in range(2):
        theta1 = middle + atan2(across, -root if shoulder == 1 else root)
        count, flag = at_shoulder(case, theta1, BACKWARD if shoulder == 1 else 0, count, joints, branch)
        flags |= flag
    return (count, SOLVED + flags) if count > 0 else (count, OUT_OF_REACH)
