"""Robots from above: the outlines of what films and the lab show of them, for drawings in the plane."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.path import Path

from botz.errors import InputError
from botz.scenario.load import load_data
from botz.scene.build import descriptions_of
from botz.scene.robot_description import RobotDescription, matrix_of
from botz.scene.tessellation import tessellated

LEVEL = 1e-6
"""Corners that are nearer to each other are one [m]."""
HIDDEN = 0.97
"""A part that lies inside another one when it is drawn at this scale is not drawn."""


@dataclass(frozen=True, eq=False)
class Silhouette:
    """A robot at rest from above, in its own frame."""

    body: np.ndarray
    """Corners of its body (k, 2), counter-clockwise [m]."""
    parts: tuple[np.ndarray, ...] = ()
    """Of wheels and whatever else the body does not hide."""


def recorded_silhouettes(scenario: Mapping[str, Any]) -> dict[str, Silhouette]:
    """Of the robots of a recorded scenario, by name; none where it can no longer be read."""
    return _silhouettes(json.dumps(scenario))


@lru_cache(maxsize=4)
def _silhouettes(scenario: str) -> dict[str, Silhouette]:
    try:
        return silhouettes_of(load_data(json.loads(scenario)).spec)
    except InputError:
        return {}


def silhouettes_of(spec: Any) -> dict[str, Silhouette]:
    """Of the robots of a checked scenario."""
    found = {one.name: list(_outlines(one)) for one in descriptions_of(spec) if one.is_robot}
    return {name: Silhouette(parts[0], tuple(_beside(parts))) for name, parts in found.items() if parts}


def _outlines(robot: RobotDescription) -> Iterator[np.ndarray]:
    """Of the largest shape of each node, the robot's body first."""
    poses: dict[str, np.ndarray] = {}
    for node in robot.nodes:
        above = poses.get(node.parent or "", np.eye(4))
        poses[node.name] = pose = above @ matrix_of(node.place)
        outlines = []
        for shape in node.shapes:
            surface, place = tessellated(shape), pose @ matrix_of(shape.place)
            flat = (surface.positions @ place[:3, :3].T + place[:3, 3])[:, :2]
            outlines.append(outline_of(flat, surface.faces))
        largest = max(outlines, key=_area, default=None)
        if largest is not None and len(largest) > 2:
            yield largest


def _area(outline: np.ndarray) -> float:
    (x, y), (x1, y1) = outline.T, np.roll(outline, -1, axis=0).T
    return float(0.5 * np.sum(x * y1 - x1 * y))


def _beside(parts: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Parts after the first that are not inside one before."""
    for number, part in enumerate(parts):
        middle = part.mean(axis=0)
        inner = middle + HIDDEN * (part - middle)
        if number and not any(Path(other).contains_points(inner).all() for other in parts[:number]):
            yield part


def outline_of(flat: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The border of a surface seen from above (k, 2): of the triangles that look up, or their hull where those lie one
    over the other."""
    points, names = np.unique(np.round(flat / LEVEL).astype(np.int64), axis=0, return_inverse=True)
    a, b, c = (flat[faces[:, k]] for k in range(3))
    (abx, aby), (acx, acy) = (b - a).T, (c - a).T
    up = names.reshape(-1)[faces[abx * acy - aby * acx > LEVEL * LEVEL]]
    sides = {(int(one[k]), int(one[k - 2])) for one in up for k in range(3)}
    border = {p: q for p, q in sides if (q, p) not in sides and p != q}
    loop = list(border)[:1]
    while loop and len(loop) <= len(border) and border.get(loop[-1], loop[0]) != loop[0]:
        loop.append(border[loop[-1]])
    whole = len(loop) == len(border) == sum((q, p) not in sides for p, q in sides)
    return LEVEL * points[loop] if whole and loop else convex_hull(flat)


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Counter-clockwise, by Andrew's monotone chain."""
    order = points[np.lexsort((points[:, 1], points[:, 0]))]

    def chain(row: np.ndarray) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        for p in row:
            while len(found) > 1:
                (ax, ay), (bx, by) = found[-1] - found[-2], p - found[-2]
                if ax * by - ay * bx > 1e-12:
                    break
                found.pop()
            found.append(p)
        return found[:-1]

    return np.array(chain(order) + chain(order[::-1]))
