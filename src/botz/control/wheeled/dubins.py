"""Shortest paths of bounded curvature between two poses, driven forwards (Dubins 1957), in closed form.

Such a path has at most three pieces: arcs of the smallest radius to the left (L) or right (R) and straight lines
(S), in one of the words LSL, RSR, LSR, RSL, RLR, LRL.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import acos, atan2, cos, hypot, pi, sin, sqrt

from botz.control.planar import Pose, on_arc, relative, wrap

TURN = {"L": 1.0, "S": 0.0, "R": -1.0}
ROUNDING = 1e-14
"""Circles that touch may come out this much nearer or farther apart, in radii."""
AT_GOAL = 1e-10
"""A path that ends this near the goal, in radii and in radians, ends at it: coarser than what rounding does to poses
a thousand radii from the origin, and far finer than anything drives."""


@dataclass(frozen=True)
class DubinsPath:
    start: Pose
    word: str
    lengths: tuple[float, float, float]
    """Of the three pieces [m]."""
    radius: float

    @property
    def length(self) -> float:
        return sum(self.lengths)

    @property
    def segments(self) -> list[tuple[float, float]]:
        """Curvature [1/m] and length [m] of each piece that has any length."""
        pieces = zip(self.word, self.lengths, strict=True)
        return [(TURN[letter] / self.radius, length) for letter, length in pieces if length > 0.0]

    def at(self, distance: float) -> Pose:
        """Pose after `distance` along the path [m]; beyond its end, its end."""
        pose = self.start
        for curvature, length in self.segments:
            pose = on_arc(pose, curvature, min(distance, length))
            distance -= length
            if distance <= 0.0:
                break
        return pose


def shortest_path(start: Pose, goal: Pose, radius: float) -> DubinsPath:
    return min(all_paths(start, goal, radius), key=lambda path: path.length)


def all_paths(start: Pose, goal: Pose, radius: float) -> list[DubinsPath]:
    """The path of every word that exists between the poses, at most six; LSL and RSR always do."""
    x, y, heading = relative(start, goal)
    found = []
    for word in ("LSL", "RSR", "LSR", "RSL", "RLR", "LRL"):
        pieces = _pieces(word, x / radius, y / radius, heading)
        if pieces is not None:
            found.append(DubinsPath(start, word, (pieces[0] * radius, pieces[1] * radius, pieces[2] * radius), radius))
    return found


def _pieces(word: str, x: float, y: float, heading: float) -> tuple[float, float, float] | None:
    """Lengths of the pieces for radius 1 from the origin, heading along x; None where the word cannot do it.

    A mirrored goal swaps left and right, so only words that begin with L are worked out.
    """
    if word[0] == "R":
        return _pieces(word.translate(str.maketrans("LR", "RL")), x, -y, -heading)
    tangents = _first_and_middle(word, x, y, heading)
    if tangents is None:
        return None
    first, middle = tangents
    turned = TURN[word[1]] * middle
    side = TURN[word[2]]
    exact = (first, middle, _turn(side * (heading - first - turned)))
    # Rounding makes a full turn of one that is none, where the goal lies on the first or the last piece, and any
    # angle at all where two circles are one. So the first turn, the last one or both are left out wherever the path
    # ends at the goal all the same; the turn that is left keeps the heading right.
    shorter = [
        (0.0, middle, _turn(side * (heading - turned))),
        (_turn(heading - turned), middle, 0.0),
        (0.0, middle, 0.0),
    ]
    nearness = AT_GOAL + ROUNDING * hypot(x, y)
    good = [pieces for pieces in shorter if _miss(word, pieces, (x, y, heading)) <= nearness]
    return min([exact, *good], key=sum)


def _first_and_middle(word: str, x: float, y: float, heading: float) -> tuple[float, float] | None:
    """The first turn and the middle piece, from the line between the centres of the first and the last circle."""
    side = TURN[word[2]]
    # Centre of the last circle as seen from that of the first one, which lies at (0, 1).
    dx, dy = x - side * sin(heading), y + side * cos(heading) - 1.0
    distance, bearing = hypot(dx, dy), atan2(dy, dx)
    if word == "LSL":
        return _turn(bearing), distance
    if word == "LSR":
        # The line crosses between the circles; its length is that of the inner tangent.
        if distance < 2.0 - ROUNDING:
            return None
        straight = sqrt(max(0.0, (distance - 2.0) * (distance + 2.0)))
        return _turn(bearing + atan2(2.0, straight)), straight
    if distance > 4.0 + ROUNDING:
        return None
    # LRL: the three centres are the corners of a triangle with sides 2, 2 and the distance.
    corner = acos(min(1.0, 0.25 * distance))
    return _turn(bearing + corner + 0.5 * pi), pi + 2.0 * corner


def _miss(word: str, pieces: tuple[float, float, float], goal: Pose) -> float:
    """How far from the goal the pieces end, for radius 1 from the origin: in place or in heading, the larger."""
    end: Pose = (0.0, 0.0, 0.0)
    for letter, length in zip(word, pieces, strict=True):
        end = on_arc(end, TURN[letter], length)
    return max(hypot(goal[0] - end[0], goal[1] - end[1]), abs(wrap(goal[2] - end[2])))


def _turn(angle: float) -> float:
    """Angle in [0, 2π)."""
    return angle % (2.0 * pi)
