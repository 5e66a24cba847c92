"""The free joint of an arm whose wrist's centre lies on the axis of joint 1 or 2: set where the cost is least."""

from __future__ import annotations

from math import atan2, hypot, pi, sqrt

from botz.frames import compiled
from botz.physics.ik_choice import FLIPPED, cost_of, inside, turned
from botz.physics.pieper import wrist_frame
from botz.physics.wrist_angles import OUTSIDE, STRAIGHT, add_wrists, relative_axes

SCANNED = 90
"""Angles all around at which the cost is looked at, before it is narrowed down."""
SECTIONS = 45
"""Golden sections of what lies between two of them: down to rounding."""
GOLDEN = 0.6180339887498949

# A case is (links, flange, axis 6 of the target, wanted, weights, limits, number of the free joint, q1, q2, q3).


@compiled
def freed_axes(case, angle):  # -> axis 6 and x of the target in frame 3
    """With the free joint at this angle."""
    links, flange, axis, _, _, _, free, q1, q2, q3 = case
    q1, q2 = (angle, q2) if free == 0 else (q1, angle)
    xx, xy, xz, yx, yy, yz, zx, zy, zz, _, _, _ = wrist_frame(links, q1, q2, q3)
    return relative_axes(flange, axis, xx, xy, xz, yx, yy, yz, zx, zy, zz)


@compiled
def cost_at(case, angle, side, at, joints, branch):
    """Of the solution with the free joint at this angle and this side of the wrist, which is put in row `at`."""
    links, _, _, wanted, weights, limits, free, q1, q2, q3 = case
    mx, my, mz, nx, ny, nz = freed_axes(case, angle)
    q, code = joints[at], branch[at]
    q[0], q[1], q[2] = (angle, q2, q3) if free == 0 else (q1, angle, q3)
    count, _ = add_wrists(links, wanted, weights, limits, mx, my, mz, nx, ny, nz, side, side, code, at, joints, branch)
    branch[at] = code
    if count == at:
        return 2.0 * OUTSIDE
    for i in range(6):
        q[i] = turned(links[i], q[i], wanted[i], limits)
    cost = cost_of(wanted, weights, q)
    return cost + OUTSIDE if limits and not inside(links, q) else cost


@compiled
def straightening(case):
    """The angle of the free joint at which axes 4 and 6 are closest to parallel; half a turn on, to antiparallel. Their
    cosine is m_z = A + B cos(angle − this), known from three angles."""
    third = 2.0 * pi / 3.0
    at_0, at_third, before = freed_axes(case, 0.0)[2], freed_axes(case, third)[2], freed_axes(case, -third)[2]
    return atan2((at_third - before) / sqrt(3.0), (2.0 * at_0 - at_third - before) / 3.0)


@compiled
def cheapest_angle(case, side, at, joints, branch):  # -> angle, cost
    """The cost is looked at all around and narrowed down about its least value. Where the free joint can straighten the
    wrist, that is one more place to look at: there joints 4 and 6 are free in its stead."""
    links, _, _, wanted, _, limits, free, _, _, _ = case
    middle, low, high = wanted[free], wanted[free] - pi, wanted[free] + pi
    if limits:
        middle = min(max(middle, links[free].lower), links[free].upper)
        low, high = max(middle - pi, links[free].lower), min(middle + pi, links[free].upper)
    angle, step = middle, (high - low) / SCANNED
    best = cost_at(case, middle, side, at, joints, branch)
    for k in range(SCANNED + 1):
        cost = cost_at(case, low + k * step, side, at, joints, branch)
        if cost < best:
            best, angle = cost, low + k * step
    left, right = max(angle - step, low), min(angle + step, high)
    for _ in range(SECTIONS):
        one, two = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
        cost_one = cost_at(case, one, side, at, joints, branch)
        cost_two = cost_at(case, two, side, at, joints, branch)
        if min(cost_one, cost_two) < best:
            best, angle = (cost_one, one) if cost_one < cost_two else (cost_two, two)
        left, right = (left, two) if cost_one < cost_two else (one, right)
    for half in range(2):
        straight = turned(links[free], straightening(case) + half * pi, middle, limits)
        axes = freed_axes(case, straight)
        if side == 0 and hypot(axes[0], axes[1]) < STRAIGHT:
            cost = cost_at(case, straight, side, at, joints, branch)
            if cost < best:
                best, angle = cost, straight
    return angle, best


@compiled
def add_freed(case, code, count, joints, branch):  # -> count
    """The cheapest solution of each side of the wrist."""
    for side in range(2):
        branch[count] = code + side * FLIPPED
        angle, best = cheapest_angle(case, side, count, joints, branch)
        if best < 2.0 * OUTSIDE:
            cost_at(case, angle, side, count, joints, branch)
            count += 1
    return count
