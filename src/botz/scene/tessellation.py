"""Shapes as triangles with normals: what writers for viewers draw. Faces are counter-clockwise seen from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, pi

import numpy as np

from botz.scene.world_scene import Shape, TriangleMesh

SIDES = 32
"""Of whatever is round, about its axis."""
CREASE = 0.6
"""Edges that turn the surface by more than this stay sharp [rad]."""


@dataclass(frozen=True, eq=False)
class Triangles:
    """A surface as graphics cards want it: all vertices with a normal each."""

    positions: np.ndarray
    """(n, 3) float64 [m]."""
    normals: np.ndarray
    """(n, 3), of length 1."""
    faces: np.ndarray
    """(m, 3) indices."""
    uv: np.ndarray
    """(n, 2), (0, 0) at the lower left of a texture; of a mesh that has none, 0."""


def tessellated(shape: Shape) -> Triangles:
    """The shape's surface in its own frame; `place` is not applied."""
    match shape.kind:
        case "box":
            return _box(shape.size)
        case "cylinder":
            radius, length = shape.size
            return _revolved([(0.0, -length / 2), (radius, -length / 2), (radius, length / 2), (0.0, length / 2)])
        case "sphere":
            return _rounded(shape.size[0], 0.0)
        case "capsule":
            return _rounded(shape.size[0], shape.size[1])
        case "mesh":
            assert shape.mesh is not None
            return _of_mesh(shape.mesh)


def _box(size: Sequence[float]) -> Triangles:
    """Six sides of four vertices each; a texture covers each side once."""
    half = np.asarray(size, dtype=float) / 2
    positions, normals = [], []
    for axis in range(3):
        for sign in (1.0, -1.0):
            normal = np.zeros(3)
            normal[axis] = sign
            along = np.roll([1.0, 0.0, 0.0], axis + 1) * sign
            across = np.cross(normal, along)
            for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                positions.append((normal + u * along + v * across) * half)
                normals.append(normal)
    first = 4 * np.arange(6)[:, None]
    faces = np.concatenate([first + np.array(half) for half in ((0, 1, 2), (0, 2, 3))])
    uv = np.tile([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], (6, 1))
    return Triangles(np.array(positions), np.array(normals), faces, uv)


def _rounded(radius: float, length: float) -> Triangles:
    """A ball, or a capsule along z; its normals are those of the ball, exactly."""
    quarter = np.linspace(0.0, pi / 2, SIDES // 4 + 1)
    lower = np.stack([np.sin(quarter), -np.cos(quarter)], axis=1)
    upper = np.stack([np.cos(quarter), np.sin(quarter)], axis=1)
    ball = np.concatenate([lower, upper if length > 0.0 else upper[1:]])
    lift = np.concatenate([np.full(len(lower), -length / 2), np.full(len(ball) - len(lower), length / 2)])
    rings = np.stack([radius * ball[:, 0], radius * ball[:, 1] + lift], axis=1)
    rings[[0, -1], 0] = 0.0
    return _spun(rings, ball)


def _revolved(profile: Sequence[tuple[float, float]]) -> Triangles:
    """Every edge of a profile (radius, z) as a band with its own normals: all its corners are sharp."""
    parts = []
    for (r, z), (s, w) in pairwise(profile):
        size = float(np.hypot(s - r, w - z))
        out = ((w - z) / size, (r - s) / size)
        parts.append(_spun(np.array([[r, z], [s, w]]), np.array([out, out])))
    return joined(parts)


def _spun(profile: np.ndarray, outwards: np.ndarray) -> Triangles:
    """A profile (radius, z) about z, upwards on its outside, with normals (radial, z) of each of its points."""
    angle = np.linspace(0.0, 2.0 * pi, SIDES + 1)
    way = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    way[-1] = way[0]
    rings, columns = len(profile), SIDES + 1

    def turned(points: np.ndarray) -> np.ndarray:
        found = np.empty((rings, columns, 3))
        found[..., :2] = points[:, None, :1] * way
        found[..., 2] = points[:, 1:]
        return found.reshape(-1, 3)

    faces = []
    for k in range(rings - 1):
        low = k * columns + np.arange(SIDES)
        high = low + columns
        if profile[k, 0] > 0.0:
            faces.append(np.stack([low, low + 1, high + 1], axis=1))
        if profile[k + 1, 0] > 0.0:
            faces.append(np.stack([low, high + 1, high], axis=1))
    u, v = np.meshgrid(angle / (2.0 * pi), np.linspace(0.0, 1.0, rings))
    uv = np.stack([u.ravel(), v.ravel()], axis=1)
    return Triangles(turned(profile), turned(outwards), np.concatenate(faces), uv)


def joined(parts: Sequence[Triangles]) -> Triangles:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(part.positions) for part in parts[:-1])])
    return Triangles(
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate([part.uv for part in parts]),
    )


def _of_mesh(mesh: TriangleMesh) -> Triangles:
    vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int64)
    uv = np.zeros((len(vertices), 2)) if mesh.uv is None else np.asarray(mesh.uv, dtype=float)
    areas = _areas(vertices, faces)
    if not mesh.smooth:
        corners = faces.ravel()
        flat = np.arange(len(corners)).reshape(-1, 3)
        return Triangles(vertices[corners], _unit(np.repeat(areas, 3, axis=0)), flat, uv[corners])
    # Larger faces count more; each lends its own normal to its three corners.
    corners, lent = faces.ravel(), np.repeat(areas, 3, axis=0)
    normals = np.stack([np.bincount(corners, lent[:, k], len(vertices)) for k in range(3)], axis=1)
    return Triangles(vertices, _unit(normals), faces, uv)


def _areas(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Normals of faces, as long as twice their areas."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Of length 1; where there is no direction, up."""
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(sizes > 0.0, vectors / np.where(sizes > 0.0, sizes, 1.0), [0.0, 0.0, 1.0])


# --- meshes that are made ------------------------------------------------------------------------------------


def creased(
    vertices: np.ndarray, faces: np.ndarray, uv: np.ndarray | None = None, crease: float = CREASE
) -> TriangleMesh:
    """A mesh that is smooth but for its sharp edges: there its vertices are told apart, so that each side has its own
    normals. Vertices are taken to be merged where the surface goes on."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    vertices, faces = np.asarray(vertices, dtype=float), np.asarray(faces, dtype=np.int64)
    normals = _unit(_areas(vertices, faces))
    corners = np.arange(faces.size).reshape(-1, 3)
    # Each edge with the corners at its ends; where two faces meet softly, they share these corners.
    edges = np.concatenate([faces[:, [k, (k + 1) % 3]] for k in range(3)])
    ends = np.concatenate([corners[:, [k, (k + 1) % 3]] for k in range(3)])
    owner = np.tile(np.arange(len(faces)), 3)
    turned = edges[:, 0] > edges[:, 1]
    edges[turned], ends[turned] = edges[turned, ::-1], ends[turned, ::-1]
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    edges, ends, owner = edges[order], ends[order], owner[order]
    same = (edges[1:] == edges[:-1]).all(axis=1)
    soft = same & (np.einsum("ij,ij->i", normals[owner[1:]], normals[owner[:-1]]) > cos(crease))
    pairs = np.concatenate([np.stack([ends[:-1][soft, k], ends[1:][soft, k]], axis=1) for k in range(2)])
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(faces.size, faces.size))
    count, group = connected_components(graph, directed=False)
    source = np.empty(count, dtype=np.int64)
    source[group] = faces.ravel()
    return TriangleMesh(vertices[source], group.reshape(-1, 3), None if uv is None else uv[source], smooth=True)


def lathe(profile: Sequence[tuple[float, float]], *, sides: int = SIDES, crease: float = CREASE) -> TriangleMesh:
    """What a lathe makes: a profile (radius, z), upwards on its outside, about z; soft where it bends a little."""
    points = np.asarray(profile, dtype=float)
    angle = 2.0 * pi * np.arange(sides) / sides
    rings = []
    places = []
    start = 0
    for radius, z in points:
        if radius <= 0.0:
            places.append(np.array([[0.0, 0.0, z]]))
            rings.append(np.full(sides, start))
        else:
            places.append(np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(sides, z)], axis=1))
            rings.append(start + np.arange(sides))
        start += len(places[-1])
    faces = []
    for low, high in pairwise(rings):
        if low[0] != low[1]:
            faces.append(np.stack([low, np.roll(low, -1), np.roll(high, -1)], axis=1))
        if high[0] != high[1]:
            faces.append(np.stack([low, np.roll(high, -1), high], axis=1))
    return creased(np.concatenate(places), np.concatenate(faces), crease=crease)
