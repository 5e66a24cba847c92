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
        i = min(max(bisect_right(self.at_vertex, distance) - 1, 0), len(self.vertices) - 2)
        (ax, ay), (bx, by) = self.vertices[i], self.vertices[i + 1]
        length = self.at_vertex[i + 1] - self.at_vertex[i]
        fraction = (distance - self.at_vertex[i]) / length if length > 0.0 else 0.0
        return ax + fraction * (bx - ax), ay + fraction * (by - ay)

    def nearest(self, x: float, y: float, since: float, window: float) -> float:
        """Distance along the path of the point nearest to (x, y), no further on than `window` from `since`.

        The window lets a path cross itself; of several points equally near the first one counts.
        """
        best, least = since, float("inf")
        at, last = since, since + window
        while True:
            place = self.on_loop(at)
            i = min(max(bisect_right(self.at_vertex, place) - 1, 0), len(self.vertices) - 2)
            stop = min(last, at + self.at_vertex[i + 1] - place)
            along, distance = _nearest_between(x, y, self.point(at), self._before(stop, i), stop - at)
            if distance < least - 1e-12:
                best, least = at + along, distance
            if stop >= last - 1e-12 or (not self.loop and stop >= self.length):
                return best
            at = stop

    def _before(self, distance: float, segment: int) -> Point:
        """End of a stretch that lies within `segment`; at a vertex, the vertex itself."""
        place = self.on_loop(distance)
        if abs(place - self.at_vertex[segment + 1]) < 1e-12 or place < self.at_vertex[segment]:
            return self.vertices[segment + 1]
        return self.point(distance)


def _nearest_between(x: float, y: float, a: Point, b: Point, length: float) -> tuple[float, float]:
    """Distance from a along the line to b of the point nearest to (x, y), and how far it is."""
    if length <= 0.0:
        return 0.0, hypot(x - a[0], y - a[1])
    dx, dy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    along = min(length, max(0.0, (x - a[0]) * dx + (y - a[1]) * dy))
    return along, hypot(x - a[0] - along * dx, y - a[1] - along * dy)
