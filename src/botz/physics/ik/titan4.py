"""Inverse kinematics of the Titan IV ([titan4] eqs. 3-4 to 3-18, table 3.1): all solutions, up to eight.

Joint 1 turns the arm's plane about z; joints 2, 3 and 4 move in that plane; axes 5 and 6 meet the plane in the wrist
centre. With x₁ and y₁ the plane's axes (forward and up), z₁ its normal, φ = θ₂ + θ₃ + θ₄ and b the tool's axis:

    wrist centre  c = p − L₆ b = (L₂ + L₃ C₂ + L₄ C₂₃ + L₅ C_φ) x₁ + (L₁ + L₃ S₂ + L₄ S₂₃ + L₅ S_φ) z₀     (3-6, 3-7)
    tool's axis   b = C₅ (C_φ x₁ + S_φ y₁) − S₅ z₁                                                        (3-9, 3-10)

c lies in the plane, so its direction gives θ₁ or, with the arm bent backward, θ₁ + π. b gives S₅ and W = C₅ with
either sign, and with it φ. What is left is an arm of two links that ends in joint 4, with its elbow on either side.

The arm is singular where one of these directions does not exist. Wrist: W = 0, b is the plane's normal, φ is free.
Shoulder: c is on the axis of joint 1, θ₁ is free. Both: solutions with θ₁ free and others with φ free; they meet
but never make a surface, because W = 0 holds at two angles θ₁ only. So every singular pose is a search along curves
(titan4_free.py).

The equations are those of any arm with this structure; right angles may have either sign, and joint angles any offset.
"""

from __future__ import annotations

from math import atan2, floor, inf, pi, sin, sqrt

import numpy as np

from botz.kernels import compiled, inlined
from botz.physics.arm.dh import REVOLUTE
from botz.physics.ik.choice import (
    BACKWARD,
    ELBOW_DOWN,
    FLIPPED,
    FREE_SHOULDER,
    FREE_WRIST,
    OUT_OF_REACH,
    SOLVED,
    STRAIGHT_ELBOW,
    cost_of,
    inside,
)
from botz.physics.ik.titan4_free import FREE, NEARLY, TURN_PLANE, TURN_PLANE_FLIPPED, TURN_WRIST, WINDOW, best_of_curve
from botz.physics.ik.two_links import REACH, STRAIGHT, reach_of, two_links

EXACT = 1e-12
"""How exactly a table must have this structure: cosines and sines, and lengths as parts of the arm's."""

STRAIGHTENED = sqrt(STRAIGHT)
"""The sine below which an elbow is straight."""

FEW = 100.0
"""W over its own uncertainty: from here on φ turns by little as θ₁ goes through what it may be."""

LEVEL = 0.1
"""The tool axis's rise below which φ turns fast with θ₁, in less than a few samples of that curve."""


def fits(links: np.ndarray) -> bool:
    """Whether these are six revolute joints with α = ±90°, 0, 0, ±90°, ±90°, 0 and only the lengths of table 3.1."""
    if len(links) != 6 or (links["kind"] != REVOLUTE).any():
        return False
    scale = float(np.abs(links["a"][1:3]).sum())
    upright = np.abs(links["ca"][[0, 3, 4]])
    parallel = np.abs(links["ca"][[1, 2, 5]] - 1.0)
    absent = np.abs(np.concatenate([links["a"][[4, 5]], links["d"][[1, 2, 3, 4]]]))
    two = np.abs(links["a"][1:3]).min() > 1e-6 * scale
    return bool(two and upright.max() < EXACT and parallel.max() < EXACT and absent.max() <= EXACT * scale)


@compiled
def titan4_solutions(links, flange, wanted, weights, limits, joints, branch):  # -> count, status
    """`flange`: axes n, t, b and position p of the last frame in the base's axes. Angles come in any turn. Free joints
    are set where Σ w (q − wanted)² is least, inside the ranges where `limits`."""
    bx, by, bz = flange[6], flange[7], flange[8]
    cx, cy = flange[9] - links[5].d * bx, flange[10] - links[5].d * by
    _, _, scale = reach_of(links[1].a, links[2].a)
    radius = sqrt(cx * cx + cy * cy)
    if not radius > FREE * scale:
        return free_shoulder(links, flange, wanted, weights, limits, joints, branch)
    c1, s1 = cx / radius, cy / radius  # eq. 3-8
    along, up = bx * c1 + by * s1, links[0].sa * bz
    w = sqrt(along * along + up * up)  # eq. 3-10
    if w > NEARLY and radius * w > NEARLY * scale:
        return regular(links, flange, radius, c1, s1, along / w, up / w, w, joints, branch)
    return nearly_singular(
        links, flange, wanted, weights, limits, radius / scale, atan2(cy, cx), w, atan2(up, along), joints, branch
    )


@compiled
def regular(links, flange, radius, c1, s1, c, s, w, joints, branch):  # -> count, status
    """The four planes and wrists of a pose that is not singular there, with two elbows each.

    C_φ and S_φ are `c` and `s` for the forward shoulder and W > 0. Turning the shoulder by π turns x₁ and z₁ over,
    changing the sign of W turns C_φ and S_φ over: all angles but those of the two links follow from one arctangent
    each.
    """
    e1, e4, e5 = links[0].sa, links[3].sa, links[4].sa
    bx, by = flange[6], flange[7]
    a1, a4 = links[0].a, links[3].a
    height = e1 * (flange[11] - links[5].d * flange[8] - links[0].d)
    theta1 = atan2(s1, c1)
    phi = atan2(s, c)  # eq. 3-17
    # Eq. 3-11 for the fifth row's own angle: the table counts θ₅ from 90° less.
    theta5 = atan2(e5 * w, e1 * e4 * e5 * (by * c1 - bx * s1))
    # Eq. 3-18 divides two numbers that are both W times something: at a small W nothing is left of them. y₅ is the
    # plane's direction across the forearm, (−S_φ, C_φ), and of length 1 in n and t however small W is.
    x, y, z = -s * c1, -s * s1, c * e1
    across_n = flange[0] * x + flange[1] * y + flange[2] * z
    across_t = flange[3] * x + flange[4] * y + flange[5] * z
    theta6 = atan2(-e4 * e5 * across_n, -e4 * e5 * across_t)
    low, high, scale = reach_of(links[1].a, links[2].a)
    count, status = 0, 0
    for k in range(4):
        backward, flipped = k >= 2, k % 2 == 1
        shoulder = -1.0 if backward else 1.0
        wrist = -1.0 if flipped else 1.0
        x3 = shoulder * radius - a1 - a4 * shoulder * wrist * c  # eq. 3-12
        z3 = height - a4 * wrist * s  # eq. 3-13
        number, t2, t3, other2 = two_links(links[1].a, links[2].a, low, high, scale, x3, z3)
        if number == 0:
            continue
        if number == 1:
            status = STRAIGHT_ELBOW
        if backward:
            q1, q5, total = theta1 + pi, pi - theta5, pi - phi
        else:
            q1, q5, total = theta1, theta5, phi
        if flipped:
            q5, total = -q5, total + pi
        q6 = theta6 + pi if backward != flipped else theta6
        code = (BACKWARD if backward else 0) + (FLIPPED if flipped else 0)
        for side in range(number):
            t2, t3 = (other2, -t3) if side else (t2, t3)
            q = joints[count]
            q[0] = q1 - links[0].theta
            q[1] = t2 - links[1].theta
            q[2] = t3 - links[2].theta
            q[3] = total - t2 - t3 - links[3].theta  # eq. 3-17
            q[4] = q5 - links[4].theta
            q[5] = q6 - links[5].theta
            branch[count] = code + elbow_code(links, backward, t3)
            count += 1
    return count, summed_up(count, status)


@inlined
def elbow_code(links, backward, theta3):
    """Up: the elbow is above the line from joint 2 to joint 4, seen with that line going forward (backward where the
    shoulder is). In the plane's axes the elbow is left of that line where L₃ L₄ S₃ < 0."""
    left = links[0].sa * links[1].a * links[2].a * theta3 <= 0.0
    return 0 if left != backward or theta3 == 0.0 else ELBOW_DOWN


@inlined
def summed_up(count, status):
    return status + (SOLVED if count > 0 else OUT_OF_REACH)


@compiled
def nearly_singular(links, flange, wanted, weights, limits, radius, theta1, w, phi, joints, branch):
    # -> count, status
    """The same poses and branches where W or the wrist centre's distance is nearly, or quite, nothing. A pose that is
    out of reach as it is may have come with fewer digits: it is looked at again with the tolerance of the reach."""
    count, free = nearby(links, flange, wanted, weights, limits, WINDOW / radius, theta1, w, phi, joints, branch)
    if count == 0:
        count, free = nearby(links, flange, wanted, weights, limits, REACH / radius, theta1, w, phi, joints, branch)
    status = straight_flag(links, wanted, weights, limits, count, joints)
    return count, summed_up(count, status | FREE_WRIST if free else status)


@compiled
def nearby(links, flange, wanted, weights, limits, unsure, theta1, w, phi, joints, branch):  # -> count, φ is free
    """θ₁ is off by as much as `unsure`, which is the wrist centre's rounding, and W with it."""
    count, free = 0, not w > FREE
    curves = (links, flange, wanted, weights, limits)
    # Where W is so uncertain that φ turns by much with θ₁, φ is what runs along the curve.
    wrist = w <= max(NEARLY, FEW * unsure)
    for backward in (False, True):
        own1, own = (theta1 + pi, pi - phi) if backward else (theta1, phi)
        code = BACKWARD if backward else 0
        if not w > FREE:
            plane = (own1, unsure, FREE)
            count = along_curve(*curves, TURN_WRIST, plane, (0.0, pi), code, count, joints, branch)
            continue
        plane = (own1, unsure, WINDOW)
        for flip in (0, FLIPPED):
            if wrist:
                # No more than that half of all angles which has this sign of W.
                window = min((WINDOW + unsure) / w, 0.5 * pi)
                free |= window == 0.5 * pi
                curve, middle = TURN_WRIST, own + pi if flip else own
            else:
                curve, middle, window = TURN_PLANE_FLIPPED if flip else TURN_PLANE, own1, unsure
            count = along_curve(*curves, curve, plane, (middle, window), code + flip, count, joints, branch)
    return count, free


@compiled
def along_curve(links, flange, wanted, weights, limits, curve, plane, piece, code, count, joints, branch):  # -> count
    """The cheapest point for each elbow, of a whole curve or of a piece of it: middle, and how far to both sides."""
    middle, window = piece
    for elbow in (1, -1):
        q = joints[count]
        if best_of_curve(links, flange, wanted, weights, limits, curve, plane, elbow, middle, window, q):
            theta3 = q[2] + links[2].theta
            theta3 -= 2.0 * pi * floor(theta3 / (2.0 * pi) + 0.5)
            bent = 0.0 if abs(sin(theta3)) < STRAIGHTENED else theta3
            branch[count] = code + elbow_code(links, code & BACKWARD > 0, bent)
            count += 1
    return count


@compiled
def straight_flag(links, wanted, weights, limits, count, joints):
    """On curves the elbow is often straight where one side of it ends; it counts where that is the best solution."""
    flag, least = 0, inf
    for k in range(count):
        cost = cost_of(wanted, weights, joints[k])
        if cost < least and (inside(links, joints[k]) or not limits):
            least = cost
            flag = STRAIGHT_ELBOW if abs(sin(joints[k, 2] + links[2].theta)) < STRAIGHTENED else 0
    return flag


@compiled
def free_shoulder(links, flange, wanted, weights, limits, joints, branch):  # -> count, status
    """The wrist centre is on the axis of joint 1: forward and backward are the same curve."""
    bx, by, bz = flange[6], flange[7], flange[8]
    count, status = 0, FREE_SHOULDER
    curves = (links, flange, wanted, weights, limits)
    for code in (0, FLIPPED):
        curve = TURN_PLANE_FLIPPED if code else TURN_PLANE
        count = along_curve(*curves, curve, (0.0, 0.0, WINDOW), (0.0, pi), code, count, joints, branch)
    if abs(bz) <= LEVEL:
        # The tool's axis is level: where the plane is at right angles to it, φ is free instead. Nearly so, and φ turns
        # by half a turn while θ₁ turns by little: the same curve once more, with φ running along it.
        status |= FREE_WRIST if abs(bz) <= FREE else 0
        level = atan2(by, bx)
        for code in (0, BACKWARD):
            theta1 = level - 0.5 * pi if code else level + 0.5 * pi
            plane = (theta1, 0.5 * pi, FREE if abs(bz) <= FREE else WINDOW)
            count = along_curve(*curves, TURN_WRIST, plane, (0.0, pi), code, count, joints, branch)
    return count, summed_up(count, status | straight_flag(links, wanted, weights, limits, count, joints))
