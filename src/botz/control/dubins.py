"""Shortest paths of bounded curvature between two poses, driven forwards (Dubins 1957), in closed form.

Such a path has at most three pieces: arcs of the smallest radius to the left (L) or right (R) and straight lines
(S), in one of the words LSL, RSR, LSR, RSL, RLR, LRL.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import acos, atan2, cos, hypot, pi, sin, sqrt

from botz.control.planar import Pose, on_arc, relative

TURN = {"L": 1.0, "S": 0.0, "R": -1.0}
ONE_CIRCLE = 1e-9
"""Distance of two centres, in radii, at which they are one: the line between them has no direction then."""
ROUNDING = 1e-14
"""Circles that touch may come out this much nearer or farther apart, in radii."""
NO_TURN = 2e-7
"""A turn this little short of a full one is none [rad]: what ROUNDING makes of the direction of a tangent."""


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

    Everything follows from the line between the centres of the first and the last circle: a mirrored goal swaps
    left and right, so only words that begin with L are worked out.
    """
    if word[0] == "R":
        return _pieces(word.translate(str.maketrans("LR", "RL")), x, -y, -heading)
    side = TURN[word[2]]
    # Centre of the last circle as seen from that of the first one, which lies at (0, 1).
    dx, dy = x - side * sin(heading), y + side * cos(heading) - 1.0
    distance, bearing = hypot(dx, dy), atan2(dy, dx)
    if word == "LSL":
        if distance < ONE_CIRCLE:
            return _turn(heading), 0.0, 0.0
        return _turn(bearing), distance, _turn(heading - bearing)
    if word == "LSR":
        # The line crosses between the circles; its length is that of the inner tangent.
        if distance < 2.0 - ROUNDING:
            return None
        straight = sqrt(max(0.0, distance * distance - 4.0))
        direction = bearing + atan2(2.0, straight)
        return _turn(direction), straight, _turn(direction - heading)
    if distance > 4.0 + ROUNDING:
        return None
    # LRL: the three centres are the corners of a triangle with sides 2, 2 and the distance.
    corner = acos(min(1.0, 0.25 * distance))
    first = bearing + corner + 0.5 * pi
    middle = pi + 2.0 * corner
    return _turn(first), middle, _turn(heading - first + middle)


def _turn(angle: float) -> float:
    """Angle in [0, 2π); what rounding left just below a full turn is none at all."""
    angle %= 2.0 * pi
    return 0.0 if 2.0 * pi - angle < NO_TURN else angle
