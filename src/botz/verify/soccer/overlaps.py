"""Overlaps of squares, a ball and the walls of a field by their vertices, in plain NumPy: a judge of its own.

Nothing of the engine's search for contacts is used; many places are judged at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from botz.verify.soccer.rig import Rig


def vertices(poses: np.ndarray, side: Any) -> np.ndarray:
    """(…, 4, 2) of squares at poses (…, 3): the source's section 3.1.2."""
    angles = poses[..., 2, None] + np.pi / 4.0 + np.pi / 2.0 * np.arange(4)
    reach = np.asarray(side)[..., None] / np.sqrt(2.0)
    return np.stack([poses[..., 0, None] + reach * np.cos(angles), poses[..., 1, None] + reach * np.sin(angles)], -1)


def square_overlap(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How far two convex polygons (k, 4, 2) overlap [m], negative where some edge's normal separates them."""
    best = np.full(len(one), -np.inf)
    for a, b in ((one, other), (other, one)):
        for edge in range(2):  # opposite edges of a square share their normal
            along = a[:, edge + 1] - a[:, edge]
            normal = np.stack([along[:, 1], -along[:, 0]], -1) / np.linalg.norm(along, axis=1)[:, None]
            pa, pb = np.einsum("kvi,ki->kv", a, normal), np.einsum("kvi,ki->kv", b, normal)
            apart = np.maximum(pb.min(1) - pa.max(1), pa.min(1) - pb.max(1))
            best = np.maximum(best, apart)
    return -best


def ball_overlap(square: np.ndarray, ball: np.ndarray, radius: float) -> np.ndarray:
    """How far a ball (k, 2) reaches into squares (k, 4, 2) [m]: its distance from the four edges, eqs. 10 and 11."""
    nearest = np.full(len(ball), np.inf)
    inside = np.ones(len(ball), dtype=bool)
    for edge in range(4):
        p, q = square[:, edge], square[:, (edge + 1) % 4]
        along = q - p
        share = np.clip(np.einsum("ki,ki->k", ball - p, along) / np.einsum("ki,ki->k", along, along), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(ball - p - share[:, None] * along, axis=1))
        inside &= along[:, 0] * (ball - p)[:, 1] - along[:, 1] * (ball - p)[:, 0] > 0.0
    return np.where(inside, radius + nearest, radius - nearest)


@dataclass(frozen=True)
class Walls:
    """Of a field, as half sizes."""

    end: float
    side: float
    post: float
    back: float
    corner: float

    @classmethod
    def of(cls, rig: Rig) -> Walls:
        size = rig.engine.scenario.world.field
        corner = 0.5 * (size.length + size.width) - size.corner if size.corner > 0.0 else np.inf
        return cls(
            0.5 * size.length, 0.5 * size.width, 0.5 * size.goal_width, 0.5 * size.length + size.goal_depth, corner
        )

    def square_overlap(self, square: np.ndarray) -> np.ndarray:
        """How far squares (k, 4, 2) reach into walls; the walls beside the goals as polygons."""
        size = np.abs(square)
        found = np.maximum((size[..., 1] - self.side).max(1), (size[..., 0] - self.back).max(1))
        if np.isfinite(self.corner):
            found = np.maximum(found, ((size.sum(-1) - self.corner) / np.sqrt(2.0)).max(1))
        near = np.flatnonzero(size[..., 0].max(1) > self.end - 1e-3)
        if near.size:
            far = self.back + self.side + 1.0
            for mx, my in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
                wall = np.array([[self.end, self.post], [far, self.post], [far, far], [self.end, far]]) * [mx, my]
                wall = wall if mx * my > 0.0 else wall[::-1]
                found[near] = np.maximum(found[near], square_overlap(square[near], np.tile(wall, (near.size, 1, 1))))
        return np.asarray(found)

    def ball_overlap(self, ball: np.ndarray, radius: float) -> np.ndarray:
        x, y = np.abs(ball).T
        found = np.maximum(y + radius - self.side, x + radius - self.back)
        if np.isfinite(self.corner):
            found = np.maximum(found, (x + y - self.corner) / np.sqrt(2.0) + radius)
        # The wall beside the goal fills x > end, y > post: distance to that quarter, or depth within it.
        dx, dy = self.end - x, self.post - y
        outside = np.hypot(np.maximum(dx, 0.0), np.maximum(dy, 0.0))
        return np.asarray(np.maximum(found, radius - np.where(outside > 0.0, outside, np.maximum(dx, dy))))


def deepest_overlap(rig: Rig, rows: np.ndarray) -> float:
    """The largest overlap of any two bodies, or of a body and a wall, in any of the recorded rows [m].

    NaN in the rows gives NaN. Bodies whose circles are apart are not looked at closer.
    """
    walls, names = Walls.of(rig), rig.names
    sides = [rig.engine.scenario.robots[name].side for name in names]
    radius = rig.engine.scenario.world.ball.radius
    poses = [np.ascontiguousarray(rig.value(f"{name}/pose", rows)) for name in names]
    playing = [rig.value(f"{name}/playing", rows) > 0.0 for name in names]
    ball = np.ascontiguousarray(rig.value("ball/pose", rows)[:, :2])
    if not (np.isfinite(ball).all() and all(np.isfinite(pose).all() for pose in poses)):
        return float("nan")
    deepest = float(walls.ball_overlap(ball, radius).max())
    for i, (pose, side) in enumerate(zip(poses, sides, strict=True)):
        reach = side / np.sqrt(2.0)
        size = np.abs(pose[:, :2]) + reach
        near = (size[:, 0] > walls.end) | (size[:, 1] > walls.side) | (size.sum(1) > walls.corner)
        near &= playing[i]
        if near.any():
            deepest = max(deepest, float(walls.square_overlap(vertices(pose[near], side)).max()))
        near = np.hypot(*(pose[:, :2] - ball).T) < reach + radius
        near &= playing[i]
        if near.any():
            deepest = max(deepest, float(ball_overlap(vertices(pose[near], side), ball[near], radius).max()))
        for j in range(i):
            gap = pose[:, :2] - poses[j][:, :2]
            near = np.einsum("ki,ki->k", gap, gap) < (reach + sides[j] / np.sqrt(2.0)) ** 2
            near &= playing[i] & playing[j]
            if near.any():
                pair = square_overlap(vertices(pose[near], side), vertices(poses[j][near], sides[j]))
                deepest = max(deepest, float(pair.max()))
    return deepest
