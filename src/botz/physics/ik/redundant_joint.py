"""The free joint of an arm with its wrist's centre at rest, set where the cost is least: joint 1 or 2, where the centre
lies on its axis, or joint 3, where the first three can move together (pieper.py)."""

from __future__ import annotations

from math import atan2, hypot, pi, sqrt

import numpy as np

from botz.kernels import compiled, inlined
from botz.physics.ik.choice import FLIPPED, SLACK, cost_of, turned
from botz.physics.ik.pieper import following
from botz.physics.ik.wrist_angles import (
    NEAR_EDGE,
    OUTSIDE,
    STRAIGHT,
    add_wrists,
    axes_of,
    bend_of,
    led_to_edge,
    relative_axes,
)
from botz.physics.ik.wrist_centre import wrist_frame

SCANNED = 90
"""Angles all around at which the cost is looked at, before it is narrowed down."""
SECTIONS = 45
"""Golden sections of what lies between two of them: down to rounding."""
GOLDEN = 0.6180339887498949

EDGES = 48
"""Angles all around from which the arm is led to where the wrist is straight or folded."""
NEVER = 2.0 * OUTSIDE
"""Cost from which on a position is no solution. It grows with what is missing, so that the way to one, where it is
narrower than what lies between two angles, is found as the least cost is."""

# A case is (links, flange, axis 6 of the target, wrist's centre, distance from it that is none, reach, wanted, weights,
# limits, number of the free joint, q1, q2, q3).


@inlined
def graded(excess):
    """From 0 to ½."""
    return 0.5 * excess / (1.0 + excess)


@compiled
def freed_arm(case, angle):  # -> q1, q2, q3
    """With the free joint at this angle."""
    links, _, _, centre, _, _, _, _, _, free, q1, q2, q3 = case
    if free == 2:
        q1, q2 = following(links, centre[0], centre[1], centre[2], angle)
        return q1, q2, angle
    return (angle, q2, q3) if free == 0 else (q1, angle, q3)


@compiled
def freed_axes(case, angle):  # -> axis 6 and x of the target in frame 3, distance from the centre's place
    links, flange, axis, centre, _, _, _, _, _, _, _, _, _ = case
    q1, q2, q3 = freed_arm(case, angle)
    xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = wrist_frame(links, q1, q2, q3)
    axes = relative_axes(flange, axis, xx, xy, xz, yx, yy, yz, zx, zy, zz)
    return axes, hypot(hypot(px - centre[0], py - centre[1]), pz - centre[2])


@inlined
def outside_by(links, q):
    """Sum over the joints."""
    total = 0.0
    for i in range(len(links)):
        total += max(max(links[i].lower - SLACK - q[i], q[i] - links[i].upper - SLACK), 0.0)
    return total


@compiled
def cost_at(case, angle, side, at, joints, branch):
    """Of the solution with the free joint at this angle and this side of the wrist, which is put in row `at`."""
    links, _, _, _, near, _, wanted, weights, limits, free, _, _, _ = case
    axes, left = freed_axes(case, angle)
    if free == 2 and not left <= near:
        return NEVER * (1.5 + graded(left / near))
    q, code = joints[at], branch[at]
    q[0], q[1], q[2] = freed_arm(case, angle)
    count, _ = add_wrists(links, wanted, weights, limits, axes, side, side, code, at, joints, branch)
    branch[at] = code
    if count == at:
        return NEVER * (1.0 + graded(bend_of(links, axes[0], axes[1], axes[2])[1]))
    for i in range(6):
        q[i] = turned(links[i], q[i], wanted[i], limits)
    cost = cost_of(wanted, weights, q)
    excess = outside_by(links, q) if limits else 0.0
    return cost + OUTSIDE * (1.0 + graded(excess)) if excess > 0.0 else cost


@compiled
def straightening(case):
    """The angle of the free joint at which axes 4 and 6 are closest to parallel; half a turn on, to antiparallel. Their
    cosine is m_z = A + B cos(angle − this), known from three angles."""
    third = 2.0 * pi / 3.0
    at_0, at_third = freed_axes(case, 0.0)[0][2], freed_axes(case, third)[0][2]
    before = freed_axes(case, -third)[0][2]
    return atan2((at_third - before) / sqrt(3.0), (2.0 * at_0 - at_third - before) / 3.0)


@compiled
def narrowed(case, side, at, joints, branch, left, right, angle, best):  # -> angle, cost
    """The least cost between two angles, or the one known."""
    for _ in range(SECTIONS):
        one, two = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
        cost_one = cost_at(case, one, side, at, joints, branch)
        cost_two = cost_at(case, two, side, at, joints, branch)
        if min(cost_one, cost_two) < best:
            best, angle = (cost_one, one) if cost_one < cost_two else (cost_two, two)
        left, right = (left, two) if cost_one < cost_two else (one, right)
    return angle, best


@compiled
def cheapest_angle(case, side, at, joints, branch):  # -> angle, cost
    """The cost is looked at all around and narrowed down about its least value; where that is no solution, or none
    inside the ranges, about every value that is less than those beside it. Where the free joint can straighten the
    wrist, that is one more place to look at: there joints 4 and 6 are free in its stead."""
    links, _, _, _, _, _, wanted, _, limits, free, _, _, _ = case
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
    least = angle
    angle, best = narrowed(case, side, at, joints, branch, max(angle - step, low), min(angle + step, high), angle, best)
    if best >= OUTSIDE:
        before, here = OUTSIDE * 1e9, cost_at(case, low, side, at, joints, branch)
        for k in range(SCANNED + 1):
            after = cost_at(case, low + (k + 1) * step, side, at, joints, branch) if k < SCANNED else OUTSIDE * 1e9
            place = low + k * step
            if here <= before and here <= after and abs(place - least) > 0.5 * step:
                left, right = max(place - step, low), min(place + step, high)
                angle, best = narrowed(case, side, at, joints, branch, left, right, angle, best)
            before, here = here, after
    for half in range(2 if side == 0 and free < 2 else 0):
        straight = turned(links[free], straightening(case) + half * pi, middle, limits)
        axes, _ = freed_axes(case, straight)
        if hypot(axes[0], axes[1]) < STRAIGHT:
            cost = cost_at(case, straight, side, at, joints, branch)
            if cost < best:
                best, angle = cost, straight
    return angle, best


@compiled
def add_freed(pose, free, q1, q2, q3, code, count, joints, branch):  # -> count
    """The cheapest solution of each side of the wrist; where there is none, one nearby that has the wrist straight or
    folded, if there is."""
    links, flange, axis, centre, near, reach, wanted, weights, limits = pose
    case = (links, flange, axis, centre, near, reach, wanted, weights, limits, free, q1, q2, q3)
    before, least = count, 0.0
    for side in range(2):
        if count < len(joints):
            branch[count] = code + side * FLIPPED
            angle, least = cheapest_angle(case, side, count, joints, branch)
            if least < NEVER:
                cost_at(case, angle, side, count, joints, branch)
                count += 1
    if count > before or not least < NEVER * (1.0 + graded(NEAR_EDGE)):
        return count
    for k in range(EDGES):
        p1, p2, p3 = freed_arm(case, wanted[free] + 2.0 * pi * k / EDGES)
        m = axes_of(links, flange, axis, p1, p2, p3)[:3]
        possible, p1, p2, p3 = led_to_edge(links, axis, centre, near, reach, m, p1, p2, p3)
        if possible:
            axes = axes_of(links, flange, axis, p1, p2, p3)
            joints[count, 0], joints[count, 1], joints[count, 2] = p1, p2, p3
            plain = np.int64(0)
            count, _ = add_wrists(links, wanted, weights, limits, axes, plain, plain, code, count, joints, branch)
            break
    return count
