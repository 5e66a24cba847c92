"""Solids in the place of meshes, for formats and viewers that know boxes, cylinders and spheres alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import pi

import numpy as np

from botz.models.robot_model import ModelShape
from botz.scene.world_scene import TriangleMesh
from botz.transforms import posed, shifted

THINNEST = 1e-4
"""Least edge of a solid, by its longest: what is flat needs some thickness to be seen."""
GAIN = 0.98
"""A later candidate must be smaller by this factor: rounding must not choose between equal ones."""


@lru_cache(maxsize=256)  # equal parts share their meshes
def enclosing(mesh: TriangleMesh) -> ModelShape:
    """The smallest box or cylinder around a mesh, along the mesh's axes or its principal axes."""
    points = np.asarray(mesh.vertices, dtype=float)
    smallest, chosen = np.inf, ModelShape("box", (THINNEST,) * 3)
    for axes in (np.eye(3), _principal_axes(points)):
        own = points @ axes
        low, high = own.min(axis=0), own.max(axis=0)
        middle = 0.5 * (low + high)
        edges = np.maximum(high - low, THINNEST * max(float(np.max(high - low)), 1e-9))
        if (volume := float(np.prod(edges))) < GAIN * smallest:
            smallest = volume
            size = (float(edges[0]), float(edges[1]), float(edges[2]))
            chosen = ModelShape("box", size, posed(axes, axes @ middle))
        for k in range(3):
            across = [(k + 1) % 3, (k + 2) % 3]
            radius = float(np.max(np.hypot(*(own - middle)[:, across].T)))
            if (volume := pi * radius**2 * float(edges[k])) < GAIN * smallest:
                smallest = volume
                turn = axes[:, [*across, k]]
                chosen = ModelShape("cylinder", (radius, float(edges[k])), posed(turn, axes @ middle))
    return chosen


def _principal_axes(points: np.ndarray) -> np.ndarray:
    """Columns of a rotation, along which the points spread most and least."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1]
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    return axes


def common_solids(shape: ModelShape) -> Iterator[ModelShape]:
    """A shape as what every viewer of URDF draws: a capsule is a cylinder with two balls, an ellipsoid a ball of the
    same volume; planes, which have no end, are left out."""
    match shape.kind:
        case "capsule":
            radius, length = shape.size
            yield replace(shape, kind="cylinder")
            for end in (-0.5 * length, 0.5 * length):
                pose = shape.pose @ shifted(np.array([0.0, 0.0, end]))
                yield replace(shape, kind="sphere", size=(radius,), pose=pose)
        case "ellipsoid":
            yield replace(shape, kind="sphere", size=(float(np.prod(shape.size)) ** (1.0 / 3.0),))
        case "plane":
            return
        case _:
            yield shape
