"""Two links in a plane: the angles that bring their end to a point ([titan4] eqs. 3-14 to 3-16)."""

from __future__ import annotations

from math import atan2, pi, sqrt

from botz.kernels import compiled, inlined

REACH = 1e-10
"""How far beyond its reach, as a part of the links' length, a point counts as reached with a straight elbow. Poses of a
stretched arm come with rounding, of a few 1e-16 from a computation and of 1e-10 from a file with ten digits; what this
moves the end by stays below the 1e-9 to which solutions keep a pose."""
STRAIGHT = 2.6e-13
"""sin² of an elbow that is straight. Rounding of the point is worth up to 1e-7 rad of a straight elbow, whose two sides
are then told apart by chance; below 5e-7 rad they are one, and the end moves by 1e-13 of the links' length."""


@inlined
def reach_of(one, other):  # -> least and greatest squared distance, length of both
    """Of the ends of two links, with the tolerance."""
    scale = abs(one) + abs(other)
    low = max(0.0, abs(abs(one) - abs(other)) - REACH * scale)
    high = (1.0 + REACH) * scale
    return low * low, high * high, scale


@compiled
def two_links(one, other, low, high, scale, x, z):  # -> number of solutions, first angle, second angle, other first
    """Angles of the first link against x and of the second against the first. Of two solutions the one with the second
    angle positive; the other has it negative and the first angle given last."""
    square = x * x + z * z
    if not low <= square <= high:
        return 0, 0.0, 0.0, 0.0
    product = one * other
    # 1 − cos² as a product: the difference would lose the sine of a nearly straight elbow.
    longest, shortest = (one + other) ** 2, (one - other) ** 2
    sine2 = (longest - square) * (square - shortest) / (4.0 * product * product)
    line = atan2(z, x)
    cosine = (square - one * one - other * other) / (2.0 * product)
    if sine2 <= STRAIGHT and at_end_of_reach(one, other, scale, square):
        if cosine > 0.0:
            return 1, line if one + other > 0.0 else line + pi, 0.0, 0.0
        return 1, line if one - other > 0.0 else line + pi, pi, 0.0
    sine = sqrt(max(0.0, sine2))
    turn = atan2(other * sine, one + other * cosine)
    return 2, line - turn, atan2(sine, cosine), line + turn


@inlined
def at_end_of_reach(one, other, scale, square):
    """Whether a straight elbow brings the end there: links of equal length, folded, turn by much over nothing."""
    distance = sqrt(square)
    far, near = abs(one + other), abs(one - other)
    return min(abs(distance - far), abs(distance - near)) <= REACH * scale
