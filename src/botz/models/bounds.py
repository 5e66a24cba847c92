"""Boxes around the shapes of a link, in its own axes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from botz.models.robot_model import ModelShape


@dataclass(frozen=True, eq=False)
class Bounds:
    low: np.ndarray
    """(3) [m]"""
    high: np.ndarray
    """(3) [m]"""

    @property
    def size(self) -> np.ndarray:
        return self.high - self.low

    @property
    def edges(self) -> str:
        return " x ".join(f"{value:.3g}" for value in self.size) + " m"

    def __str__(self) -> str:
        low, high = (" ".join(f"{value:.4g}" for value in corner) for corner in (self.low, self.high))
        return f"({low}) to ({high})"

    def holds(self, point: np.ndarray, margin: float) -> bool:
        """Whether a point is inside, or outside by less than a share of the largest edge."""
        slack = margin * float(self.size.max())
        return bool(np.all(point >= self.low - slack) and np.all(point <= self.high + slack))


def shape_bounds(shape: ModelShape) -> Bounds | None:
    """The box around one shape; None of a plane, which has no end. Raises InputError for a mesh that cannot be read."""
    turn, middle = shape.pose[:3, :3], shape.pose[:3, 3]
    match shape.kind:
        case "box":
            half = np.abs(turn) @ (np.asarray(shape.size) / 2)
        case "sphere":
            half = np.full(3, shape.size[0])
        case "cylinder":
            along = np.abs(turn[:, 2])
            half = shape.size[0] * np.sqrt(np.maximum(0.0, 1.0 - along**2)) + shape.size[1] / 2 * along
        case "capsule":
            half = shape.size[0] + shape.size[1] / 2 * np.abs(turn[:, 2])
        case "ellipsoid":
            half = np.sqrt((turn * np.asarray(shape.size)) ** 2 @ np.ones(3))
        case "mesh" if shape.file is not None:
            from botz.models.meshes.mesh import load_mesh

            corners = np.asarray(load_mesh(shape.file, shape.scale).vertices) @ turn.T + middle
            return Bounds(corners.min(axis=0), corners.max(axis=0))
        case _:
            return None
    return Bounds(middle - half, middle + half)


def around(boxes: Iterable[Bounds | None]) -> Bounds | None:
    """The box around boxes; None where there are none."""
    there = [box for box in boxes if box is not None]
    if not there:
        return None
    return Bounds(np.min([box.low for box in there], axis=0), np.max([box.high for box in there], axis=0))
