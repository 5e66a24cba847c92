"""Meshes of plain solids: turned ones (wheels, tyres, rollers) and prisms with chamfered edges (bodies, lugs)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from botz.scene.world_scene import TriangleMesh

SIDES = 48
"""Of a turned solid."""
LEVEL = 1e-9


def turned(strips: Sequence[Sequence[tuple[float, float]]], *, sides: int = SIDES) -> TriangleMesh:
    """A solid turned about y. Each strip is a line of points (radius, y); light rounds the edges within a strip and not
    those between two. Seen with y to the right and the radius up, the outside is on the left of the way along them."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    across, up = np.sin(angle), np.cos(angle)
    vertices, faces, count = [], [], 0
    for strip in strips:
        for radius, y in strip:
            vertices.append(np.stack([radius * across, np.full(sides, y), radius * up], axis=1))
        for k in range(len(strip) - 1):
            here = count + k * sides + np.arange(sides)
            ahead = count + k * sides + (np.arange(sides) + 1) % sides
            if strip[k][0] > LEVEL:
                faces.append(np.stack([here, ahead, ahead + sides], axis=1))
            if strip[k + 1][0] > LEVEL:
                faces.append(np.stack([here, ahead + sides, here + sides], axis=1))
        count += len(strip) * sides
    return TriangleMesh(np.concatenate(vertices), np.concatenate(faces), smooth=True)


def prism(outline: np.ndarray, low: float, high: float, *, chamfer: float = 0.0) -> TriangleMesh:
    """A polygon (k, 2), counter-clockwise, from one height to another. A convex one can have chamfered edges above and
    below, which catch the light."""
    outline = np.asarray(outline, dtype=float)
    inner = inset(outline, chamfer) if chamfer > 0.0 else None
    if inner is None:
        rings = [(outline, low), (outline, high)]
    else:
        rings = [(inner, low), (outline, low + chamfer), (outline, high - chamfer), (inner, high)]
    k = len(outline)
    vertices = np.concatenate([np.column_stack([ring, np.full(k, z)]) for ring, z in rings])
    here, ahead = np.arange(k), (np.arange(k) + 1) % k
    faces = []
    for level in range(len(rings) - 1):
        a, b = level * k + here, level * k + ahead
        faces += [np.stack([a, b, b + k], axis=1), np.stack([a, b + k, a + k], axis=1)]
    cap = triangles_of(outline)
    faces += [cap[:, ::-1], cap + (len(rings) - 1) * k]
    return TriangleMesh(vertices, np.concatenate(faces))


def inset(outline: np.ndarray, by: float) -> np.ndarray | None:
    """The polygon with its sides moved inwards; None where it is not convex or nothing would be left."""
    along = np.roll(outline, -1, axis=0) - outline
    length = np.linalg.norm(along, axis=1)
    turn = _cross(np.roll(along, 1, axis=0), along)
    if np.any(length < LEVEL) or np.any(turn <= 0.0):
        return None
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / length[:, None]
    before = np.roll(normal, 1, axis=0)
    moved = outline + by * (before + normal) / (1.0 + np.sum(before * normal, axis=1))[:, None]
    kept = np.sum((np.roll(moved, -1, axis=0) - moved) * along, axis=1) > 0.0
    return moved if bool(np.all(kept)) else None


def triangles_of(outline: np.ndarray) -> np.ndarray:
    """A polygon without crossings, counter-clockwise, as triangles (k − 2, 3), by cutting off ears."""
    left = list(range(len(outline)))
    found = []
    while len(left) > 3:
        for at in range(len(left)):
            corner = [left[at - 1], left[at], left[(at + 1) % len(left)]]
            a, b, c = outline[corner]
            others = outline[[index for index in left if index not in corner]]
            if _cross(b - a, c - b) > 0.0 and not _holds(a, b, c, others):
                break
        else:  # crossed or degenerate: something is drawn nevertheless
            at, corner = 1, left[:3]
        found.append(corner)
        del left[at]
    return np.array([*found, left])


def _holds(a: np.ndarray, b: np.ndarray, c: np.ndarray, points: np.ndarray) -> bool:
    inside = (_cross(b - a, points - a) >= 0) & (_cross(c - b, points - b) >= 0) & (_cross(a - c, points - c) >= 0)
    return bool(np.any(inside))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def rectangle(x0: float, x1: float, y0: float, y1: float, *, cut: float = 0.0) -> np.ndarray:
    """Counter-clockwise (4 or, with its corners cut off, 8 points, 2)."""
    if cut <= 0.0:
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    return np.array(
        [
            [x0 + cut, y0], [x1 - cut, y0], [x1, y0 + cut], [x1, y1 - cut],
            [x1 - cut, y1], [x0 + cut, y1], [x0, y1 - cut], [x0, y0 + cut],
        ]
    )  # fmt: skip


def disc(radius: float, *, sides: int = 24, centre: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """A circle's outline, counter-clockwise."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    return np.stack([centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)], axis=1)


def joined(meshes: Sequence[TriangleMesh]) -> TriangleMesh:
    """Several meshes of one material as one: fewer things to draw."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])[:-1]
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]
    smooth = all(mesh.smooth for mesh in meshes)
    return TriangleMesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces), smooth=smooth)


def moved(mesh: TriangleMesh, rotation: np.ndarray, place: Sequence[float]) -> TriangleMesh:
    vertices = mesh.vertices @ np.asarray(rotation).T + np.asarray(place, dtype=float)
    return TriangleMesh(vertices, mesh.faces, mesh.uv, mesh.smooth)
