"""A path through points, measured by its length."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import hypot

Point = tuple[float, float]


class Polyline:
    """Straight lines from a start through points; as a loop, it comes back to the first of the points for ever."""

    def __init__(self, start: Point, points: Sequence[Point], *, loop: bool):
        vertices = [start]
        for point in points:
            if point != vertices[-1]:
                vertices.append(point)
        if loop and len(points) > 1 and vertices[-1] != points[0]:
            vertices.append(points[0])
        if len(vertices) == 1:
            vertices.append(vertices[0])
        self.vertices = vertices
        self.at_vertex = [0.0]
        for a, b in pairwise(vertices):
            self.at_vertex.append(self.at_vertex[-1] + hypot(b[0] - a[0], b[1] - a[1]))
        self.length = self.at_vertex[-1]
        self.loop_from = self.at_vertex[1] if start != points[0] else 0.0
        self.loop = loop and self.length > self.loop_from

    def on_loop(self, distance: float) -> float:
        """The same place with the smallest distance from the start."""
        if not self.loop or distance < self.length:
            return distance
        return self.loop_from + (distance - self.loop_from) % (self.length - self.loop_from)

    def point(self, distance: float) -> Point:
        """Where the path is after `distance`; beyond its end it goes on straight."""
        distance = self.on_loop(distance)
        i = self._segment(distance)
        (ax, ay), (bx, by) = self.vertices[i], self.vertices[i + 1]
        length = self.at_vertex[i + 1] - self.at_vertex[i]
        fraction = (distance - self.at_vertex[i]) / length if length > 0.0 else 0.0
        return ax + fraction * (bx - ax), ay + fraction * (by - ay)

    def nearest(self, x: float, y: float, since: float, window: float) -> float:
        """Distance along the path of the point nearest to (x, y), no further on than `window` from `since`.

        The window lets a path cross itself; of several points equally near the first one counts.
        """
        best, least = since, float("inf")
        place = self.on_loop(since)
        left = window
        i = self._segment(place)
        while True:
            a, b = self.vertices[i], self.vertices[i + 1]
            begin = max(0.0, place - self.at_vertex[i])
            end = min(self.at_vertex[i + 1] - self.at_vertex[i], begin + left)
            along, distance = _nearest_between(x, y, a, b, begin, end)
            if distance < least - 1e-12:
                best, least = since + (window - left) + along - begin, distance
            left -= end - begin
            i += 1
            if i == len(self.vertices) - 1:
                if not self.loop:
                    return best
                i = self._segment(self.loop_from)
            if left <= 1e-12:
                return best
            place = self.at_vertex[i]

    def _segment(self, distance: float) -> int:
        """Number of the line on which the path is after `distance`."""
        return min(max(bisect_right(self.at_vertex, distance) - 1, 0), len(self.vertices) - 2)


def _nearest_between(x: float, y: float, a: Point, b: Point, begin: float, end: float) -> tuple[float, float]:
    """On the line from a towards b, between two distances from a: the distance of the point nearest to (x, y), and
    how far away that is."""
    length = hypot(b[0] - a[0], b[1] - a[1])
    if length == 0.0:
        return 0.0, hypot(x - a[0], y - a[1])
    dx, dy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    along = min(end, max(begin, (x - a[0]) * dx + (y - a[1]) * dy))
    return along, hypot(x - a[0] - along * dx, y - a[1] - along * dy)
