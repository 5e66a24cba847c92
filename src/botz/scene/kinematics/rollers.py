"""Wheels that give way to the side: rims with rollers, and balls."""

from __future__ import annotations

from functools import lru_cache
from math import atan2, cos, pi, sin, sqrt

import numpy as np

from botz.scene.parts import facing, placed
from botz.scene.shapes import joined, moved, turned
from botz.scene.world_scene import Shape, TriangleMesh
from botz.transforms import rotation_about

ALONG_Y = np.array([0.0, 1.0, 0.0])
SLENDER = 0.5
"""Radius of a roller at its ends, by that in its middle."""


@lru_cache(maxsize=64)
def roller_wheel_shapes(
    radius: float, width: float, angle: float, roller: float, *, mark: str = "mark"
) -> tuple[Shape, ...]:
    """An omnidirectional or mecanum wheel that turns about y. Its rollers are barrels whose envelope is the wheel's
    circle; `angle` is between the wheel's plane and their axes at the ground, `roller` their radius.

    Rollers along the rim stand in two rows, each in the gaps of the other; slanted ones reach across the whole width.
    """
    slanted = abs(sin(angle)) > 0.25
    rows = 1 if slanted else 2
    roller = min(roller, 0.45 * radius, 0.48 * width / rows if not slanted else 0.45 * radius)
    core = radius - roller
    # Along its axis, s from its middle, the axis is sqrt(core² + (s cos γ)²) from the axle: the rest is its radius.
    reach = sqrt(max((radius - SLENDER * roller) ** 2 - core**2, 1e-12)) / cos(angle)
    if slanted:
        reach = min(reach, 0.5 * width / abs(sin(angle)))
        count = max(6, int(2.0 * pi * core / (2.25 * roller / cos(angle))))
    else:
        count = max(4, int(2.0 * pi / (2.0 * atan2(reach + 0.2 * roller, core))))
    barrel = _barrel(radius, core, reach, angle)
    found, pins = [], []
    for row in range(rows):
        y = 0.0 if rows == 1 else (row - 0.5) * 0.5 * width
        for k in range(count):
            turn = rotation_about(ALONG_Y, (k + 0.5 * row) * 2.0 * pi / count)
            slant = rotation_about(np.array([0.0, 0.0, 1.0]), angle - 0.5 * pi)  # the barrel's own axis is y
            place = turn @ np.array([0.0, 0.0, -core]) + np.array([0.0, y, 0.0])
            found.append(moved(barrel, turn @ slant, place))
            pins.append(place)
    hub = core - 0.75 * roller if slanted else core
    thick = 0.3 * width if slanted else 0.16 * width
    shapes = [Shape("mesh", material="roller", mesh=joined(found))]
    for y in (0.0,) if slanted else (-0.25 * width, 0.25 * width):
        shapes.append(Shape("cylinder", (hub, thick), facing((0.0, y, 0.0), (0, 1, 0)), "rim"))
    if slanted:
        shapes += [
            Shape(
                "mesh", material="rim", mesh=_flange(hub + 0.35 * roller, 0.55 * hub, side * 0.5 * width, 0.08 * width)
            )
            for side in (-0.86, 0.86)
        ]
    shapes.append(Shape("cylinder", (0.3 * hub, width), facing((0, 0, 0), (0, 1, 0)), "spoke"))
    stripe = (0.16 * radius, (0.92 if slanted else 0.68) * width, 0.5 * hub)
    shapes.append(Shape("box", stripe, placed(0.0, 0.0, 0.62 * hub), mark, casts_shadow=False))
    return tuple(shapes)


def _barrel(radius: float, core: float, reach: float, angle: float) -> TriangleMesh:
    line = [(radius - sqrt(core**2 + (s * cos(angle)) ** 2), s) for s in np.linspace(-reach, reach, 11)]
    ends = [[(0.0, -reach), line[0]], [line[-1], (0.0, reach)]]
    return turned([ends[0], line, ends[1]], sides=16)


def _flange(outer: float, inner: float, y: float, thick: float) -> TriangleMesh:
    a, b = y - 0.5 * thick, y + 0.5 * thick
    return turned(
        [[(outer, a), (outer, b)], [(outer, b), (inner, b)], [(inner, b), (inner, a)], [(inner, a), (outer, a)]]
    )


@lru_cache(maxsize=64)
def ball_shapes(radius: float, *, material: str = "steel", other: str = "trim") -> tuple[Shape, ...]:
    """A ball whose eight sectors have two colours by turns, so that its rolling is seen in every direction."""
    sectors: dict[str, list[TriangleMesh]] = {material: [], other: []}
    for upper in (0, 1):
        for k in range(4):
            colour = material if (k + upper) % 2 == 0 else other
            sectors[colour].append(_sector(radius, 0.5 * pi * k, 0.5 * pi * upper))
    return tuple(Shape("mesh", material=colour, mesh=joined(parts)) for colour, parts in sectors.items())


def _sector(radius: float, azimuth: float, polar: float, *, steps: int = 12) -> TriangleMesh:
    """An eighth of a ball: a quarter turn about z from `azimuth`, and one from z down from `polar`."""
    a = azimuth + np.linspace(0.0, 0.5 * pi, steps + 1)[:, None]
    b = polar + np.linspace(0.0, 0.5 * pi, steps + 1)[None, :]
    level = np.ones_like(a)
    x, y, z = np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), level * np.cos(b)
    vertices = radius * np.stack([x, y, z], axis=-1).reshape(-1, 3)
    n = steps + 1
    corner = (np.arange(steps)[:, None] * n + np.arange(steps)[None, :]).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + 1, corner + n + 1], axis=1), np.stack([corner, corner + n + 1, corner + n], axis=1)]
    )
    area = np.linalg.norm(np.cross(*(vertices[faces[:, k]] - vertices[faces[:, 0]] for k in (1, 2))), axis=1)
    return TriangleMesh(vertices, faces[area > 1e-9 * radius**2], smooth=True)
