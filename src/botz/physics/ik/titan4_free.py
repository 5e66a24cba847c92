"""Singular poses of the Titan IV: a joint is free, and the solutions are curves. The cheapest point of each is found.

A curve is sampled all along, and every local minimum is refined by dividing its interval. Points are compared by how
far they are from being a solution (out of reach, or a joint out of its range), then by cost; so a stretch inside the
ranges is found where it falls between two samples too. The same pose gives the same answer, always: no chance is
involved.

Near a singular pose a direction is known, but not to all digits: those angles that keep the pose to its rounding are a
short piece of the same curves. A rounding ε of the wrist centre, at the distance r from the axis of joint 1, turns θ₁
by ε/r, and W with it; φ = atan2(b_y, b_x) in the plane's axes is then known to ε/(rW). Where r and W are both small
that is any angle at all, while the target fixes θ₁ and φ together: the tool's axis is in the plane's direction φ,

    (b · x₁) S_φ = (b · y₁) C_φ

So φ is what runs along the curve there, and θ₁ follows it as far as the wrist centre allows (`plane_at`).
"""

from __future__ import annotations

from math import asin, atan2, ceil, cos, floor, pi, sin, sqrt

from botz.kernels import compiled, inlined
from botz.physics.ik.choice import SLACK, turned
from botz.physics.ik.two_links import reach_of, two_links

FREE = 2e-10
"""Where a direction counts as none: W, and the wrist centre's distance from the axis of joint 1 as a part of the two
links' length. The joint it would give is then known to 1e-6 rad at best, and leaving the rest of W out turns the tool
by less than 1e-9."""
NEARLY, WINDOW = 1e-5, 1e-14
"""Below this the same numbers, or their product, are nearly nothing: the joint they give is known to `WINDOW` over
them, and all angles that near are as good. Among them too the cheapest is taken, which keeps an arm where it is, and
keeps poses at the end of the reach or of a range from being lost to rounding."""
TURN_WRIST, TURN_PLANE, TURN_PLANE_FLIPPED = 0, 1, 2
"""Curves: φ free at a θ₁ that is given, or follows it; θ₁ free, and φ follows the tool's axis with W > 0 or W < 0."""
STEP = 2.0 * pi / 240
REFINEMENTS = 64
"""1.5° · 0.618⁶⁴ is below 1e-14 rad. An elbow bends with the root of the way into reach, so that its own angle is then
known to 1e-7 rad."""
NARROWEST = 4e-16
GOLDEN = 0.3819660112501051
ROUNDING = 1e-14
"""What a reached point may be beyond the two links' reach, as a part of their length, without counting as off it: else
the cheapest point would use up the whole tolerance of `two_links`."""
TINY = 1e-300
BEYOND = 100.0
"""What a point out of reach counts as being off: more than all joints out of range together."""


@compiled
def best_of_curve(links, flange, wanted, weights, limits, curve, plane, elbow, middle, window, q):  # -> reached
    """Joints of the cheapest point of a curve with the elbow on one side (±1): of the piece `window` to both sides of
    `middle`, or of all of it where `window` is π. `plane`: θ₁, by how much it may follow φ, and how far the tool's axis
    may then be off."""
    if curve == TURN_WRIST:
        start = wanted[1] + links[1].theta + wanted[2] + links[2].theta + wanted[3] + links[3].theta
    else:
        start = wanted[0] + links[0].theta
    away = 0.0
    if window < pi:
        # What the arm is at now is a sample, or the end of the piece that is nearest to it.
        away = start - middle
        away = min(max(away - 2.0 * pi * floor(away / (2.0 * pi) + 0.5), -window), window)
        start = middle + away
    first, last = start - (window + away), start + (window - away)
    before, after = ceil((window + away) / STEP), ceil((window - away) / STEP)
    common = (links, flange, wanted, weights, limits, curve, plane, elbow)
    at = max(first, start - before * STEP)
    off1, cost1 = point(*common, at, q)
    left, off0, cost0 = at, 2.0 * BEYOND, 0.0
    best, best_off, best_cost = at, off1, cost1
    for k in range(-before, after + 1):
        right, off2, cost2 = at, 2.0 * BEYOND, 0.0
        if k < after:
            right = min(last, start + (k + 1) * STEP)
            off2, cost2 = point(*common, right, q)
        # What the arm is at now is always looked into.
        if (k == 0 or less(off1, cost1, off0, cost0)) and not less(off2, cost2, off1, cost1):
            where, off, cost = refined(common, left, at, right, off1, cost1, q)
            if less(off, cost, best_off, best_cost):
                best, best_off, best_cost = where, off, cost
        elif less(off1, cost1, best_off, best_cost):
            best, best_off, best_cost = at, off1, cost1
        left, at, off0, cost0, off1, cost1 = at, right, off1, cost1, off2, cost2
    point(*common, best, q)
    return best_off < BEYOND


@compiled
def refined(common, left, middle, right, off, cost, q):  # -> where, off, cost
    """The least of a stretch around a point that is no worse than its ends, by golden sections. `common`: what `point`
    needs besides the place on the curve."""
    for _ in range(REFINEMENTS):
        if right - left <= NARROWEST:
            break
        to_right = right - middle > middle - left
        at = middle + GOLDEN * (right - middle) if to_right else middle - GOLDEN * (middle - left)
        new_off, new_cost = point(*common, at, q)
        if less(new_off, new_cost, off, cost):
            if to_right:
                left = middle
            else:
                right = middle
            middle, off, cost = at, new_off, new_cost
        elif to_right:
            right = at
        else:
            left = at
    return middle, off, cost


@inlined
def less(off, cost, other_off, other_cost):
    return off < other_off or (off == other_off and cost < other_cost)


@compiled
def point(links, flange, wanted, weights, limits, curve, plane, elbow, t, q):  # -> off, cost
    """A point of a curve: its joints, how far it is from being a solution (0: it is one), and its cost.

    θ₅ and θ₆ are those that bring the tool nearest to its axes, so that what is left of W is not lost.
    """
    bx, by, bz = flange[6], flange[7], flange[8]
    theta1 = plane_at(links, flange, wanted[0], plane, t) if curve == TURN_WRIST else t
    e1, e4, e5 = links[0].sa, links[3].sa, links[4].sa
    c1, s1 = cos(theta1), sin(theta1)
    along, up = bx * c1 + by * s1, e1 * bz
    phi = t
    if curve == TURN_PLANE:
        phi = atan2(up, along)
    elif curve == TURN_PLANE_FLIPPED:
        phi = atan2(-up, -along)
    c, s = cos(phi), sin(phi)
    radius = (flange[9] - links[5].d * bx) * c1 + (flange[10] - links[5].d * by) * s1
    height = e1 * (flange[11] - links[5].d * bz - links[0].d)
    x, z = radius - links[0].a - links[3].a * c, height - links[3].a * s
    low, high, scale = reach_of(links[1].a, links[2].a)
    number, theta2, theta3, other = two_links(links[1].a, links[2].a, low, high, scale, x, z)
    missed = missed_by(links, x, z) / scale
    astray = abs(along * s - up * c)
    if number == 0 or astray > FREE:
        return BEYOND + missed + astray, 0.0
    if number == 2 and elbow < 0:
        theta2, theta3 = other, -theta3
    q[0], q[1], q[2], q[3] = theta1, theta2, theta3, phi - theta2 - theta3
    q[4] = atan2(e5 * (along * c + up * s), e1 * e4 * e5 * (by * c1 - bx * s1))
    x, y, z = -s * c1, -s * s1, c * e1
    across_n = flange[0] * x + flange[1] * y + flange[2] * z
    across_t = flange[3] * x + flange[4] * y + flange[5] * z
    q[5] = atan2(-e4 * e5 * across_n, -e4 * e5 * across_t)
    off, cost = 0.0, 0.0
    for i in range(6):
        q[i] = turned(links[i], q[i] - links[i].theta, wanted[i], limits)
        if limits:
            off += outside_by(links[i], q[i])
        cost += weights[i] * (q[i] - wanted[i]) ** 2
    off += astray if astray > 2.0 * plane[2] else 0.0
    return off + (missed if missed > ROUNDING else 0.0), cost


@compiled
def plane_at(links, flange, wanted, plane, phi):
    """θ₁ at this φ: of those that put the tool's axis into the plane's direction φ, to its rounding, and leave the
    wrist centre in the plane, the nearest to `wanted`."""
    theta1, most, _ = plane
    c1, s1, c, s = cos(theta1), sin(theta1), cos(phi), sin(phi)
    # With θ₁ turned by δ: b · x₁ = size sin(δ + δ₀), or its negative.
    along, rate = flange[6] * c1 + flange[7] * s1, flange[7] * c1 - flange[6] * s1
    sign = 1.0 if rate >= 0.0 else -1.0
    size, first = sqrt(along * along + rate * rate) + TINY, atan2(sign * along, sign * rate)
    there = sign * links[0].sa * flange[8] * c * s / (s * s + TINY)
    around = WINDOW / (abs(s) + TINY)
    low = asin(min(max((there - around) / size, -1.0), 1.0)) - first
    high = asin(min(max((there + around) / size, -1.0), 1.0)) - first
    if low > most:
        return theta1 + most
    if high < -most:
        return theta1 - most
    turn = wanted + links[0].theta - theta1
    turn -= 2.0 * pi * floor(turn / (2.0 * pi) + 0.5)
    return theta1 + min(max(turn, low, -most), high, most)


@inlined
def missed_by(links, x, z):
    """How far a point is beyond the reach of the two links, without any tolerance."""
    one, other, distance = abs(links[1].a), abs(links[2].a), sqrt(x * x + z * z)
    return max(0.0, distance - (one + other), abs(one - other) - distance)


@inlined
def outside_by(link, value):
    """How far an angle is from its range, in the turn where it is nearest: that leads a search into the range. It is 0
    well within the slack only, so that whoever continues the angle finds it inside too."""
    half = 0.5 * (link.upper - link.lower)
    # A range of a turn and more, or without end, has every direction.
    if not half < pi or link.lower - 0.5 * SLACK <= value <= link.upper + 0.5 * SLACK:
        return 0.0
    away = value - 0.5 * (link.lower + link.upper)
    away = abs(away - 2.0 * pi * floor(away / (2.0 * pi) + 0.5))
    return max(0.5 * SLACK, away - half)
