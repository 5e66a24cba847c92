"""What all solvers of inverse kinematics share: words for what they found, and the choice among solutions."""

from __future__ import annotations

from math import pi

import numpy as np

from botz.kernels import compiled, inlined
from botz.physics.arm.dh import REVOLUTE

MOST = 8
"""Solutions of an arm of six joints whose pose is solved in closed form."""
SOLVED, OUT_OF_REACH, OUTSIDE_LIMITS, NOT_CONVERGED = 0, 1, 2, 3
"""What came of a pose."""
FREE_SHOULDER, FREE_WRIST, STRAIGHT_ELBOW, SHOULDER_EDGE = 16, 32, 64, 128
"""Flags added to it: the pose is singular there. A free joint was set where the cost is least; at a straight elbow and
at the edge of what joint 1 can bring into reach two solutions are one."""
BACKWARD, ELBOW_DOWN, FLIPPED = 1, 2, 4
"""Branch of a solution: the shoulder turned away from the target, the elbow below, the wrist turned over."""
SAME = 1e-6
"""Solutions whose joints all differ by less are one [rad, m]: two branches that meet at a singularity."""
SLACK = 1e-9
"""How far beyond its range a joint may be, against rounding [rad, m]."""

TURN = 2.0 * pi
TURNS = 1.0 / TURN
# Turns are counted by np.floor, which stays a float; math.floor would go to an integer and back each time.


@inlined
def nearest_turn(link, value, wanted):
    """The angle of this direction that is nearest to `wanted`."""
    return value + TURN * np.floor((wanted - value) * TURNS + 0.5) if link.kind == REVOLUTE else value


@inlined
def continued(link, value, wanted):
    """The angle of this direction that is nearest to `wanted` within the joint's range, turns of 2π apart; where none
    is inside, the one nearest to `wanted`."""
    if link.kind != REVOLUTE:
        return value
    best, low, high = nearest_turn(link, value, wanted), link.lower - SLACK, link.upper + SLACK
    if best > high:
        lower = value + TURN * np.floor((high - value) * TURNS)
        best = lower if lower >= low else best
    elif best < low:
        higher = value + TURN * np.ceil((low - value) * TURNS)
        best = higher if higher <= high else best
    return best


@inlined
def turned(link, value, wanted, limits):
    """The angle of this direction that is nearest to `wanted`, within the range where `limits`."""
    return continued(link, value, wanted) if limits else nearest_turn(link, value, wanted)


@compiled
def same(links, one, other, within):
    """Whether two joint vectors differ by less in every joint, but for whole turns."""
    for i in range(len(links)):
        apart = abs(one[i] - other[i])
        if apart > TURN - within and links[i].kind == REVOLUTE:
            apart = abs(apart - TURN * np.floor(apart * TURNS + 0.5))
        if apart >= within:
            return False
    return True


@compiled
def inside(links, q):
    good = True
    for i in range(len(links)):
        good &= links[i].lower - SLACK <= q[i] <= links[i].upper + SLACK
    return good


@compiled
def cost_of(wanted, weights, q):
    """Mean square of the joints' weighted differences ([titan4] section 3.3.3)."""
    total = 0.0
    for i in range(len(q)):
        total += weights[i] * (q[i] - wanted[i]) ** 2
    return total / len(q)


@compiled
def swap_rows(joints, branch, cost, i, j):
    for m in range(joints.shape[1]):
        joints[i, m], joints[j, m] = joints[j, m], joints[i, m]
    branch[i], branch[j] = branch[j], branch[i]
    cost[i], cost[j] = cost[j], cost[i]


@compiled
def copy_row(joints, branch, cost, i, j):
    for m in range(joints.shape[1]):
        joints[j, m] = joints[i, m]
    branch[j], cost[j] = branch[i], cost[i]


@compiled
def chosen(links, wanted, weights, limits, count, status, joints, branch, cost):  # -> count, status
    """Continue the angles; leave out, where `limits`, what is outside the ranges; cheapest first; leave out what is
    there already but for rounding. What lies beyond the returned count is 0."""
    legal = 0
    for k in range(count):
        q = joints[k]
        for i in range(len(links)):
            q[i] = turned(links[i], q[i], wanted[i], limits)
        if limits and not inside(links, q):
            continue
        cost[k] = cost_of(wanted, weights, q)
        if k != legal:
            copy_row(joints, branch, cost, k, legal)
        legal += 1
    for k in range(legal - 1):
        least = k
        for other in range(k + 1, legal):
            if cost[other] < cost[least]:
                least = other
        if least != k:
            swap_rows(joints, branch, cost, k, least)
    kept = 0
    for k in range(legal):
        twice = False
        for other in range(kept):
            if same(links, joints[k], joints[other], SAME):
                twice = True
                break
        if not twice:
            if k != kept:
                copy_row(joints, branch, cost, k, kept)
            kept += 1
    for k in range(kept, len(joints)):
        for i in range(len(links)):
            joints[k, i] = 0.0
        branch[k], cost[k] = 0, 0.0
    if kept == 0 and count > 0:
        status += OUTSIDE_LIMITS
    return kept, status
