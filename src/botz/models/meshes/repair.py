"""Closing meshes: what a drawing program left open or turned inside out, mended, with a word on each thing done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.spatial import cKDTree

from botz.errors import InputError, Problem
from botz.models.meshes.mesh import open_edges, signed_volume

if TYPE_CHECKING:
    import trimesh

NEAR = 1e-5
"""Vertices nearer than this part of the mesh's size are meant to be one: some single-precision roundings."""
MOST_BODIES = 200
"""Bodies that are looked at for lying inside one another."""
SAMPLES = 32
"""Corners of a body that are looked at for it."""


def repair(mesh: trimesh.Trimesh) -> list[str]:
    """Mend a mesh in place: near vertices become one, faces that are none or double go, all run the same way round,
    holes are closed, and the outside is out. Returns what was done, in words; raises InputError where nothing
    is left."""
    done = []
    for step in (_merge_vertices, _drop_faces, _agree_on_sides, _fill_holes, _turn_outwards):
        if words := step(mesh):
            done.append(words)
        if len(mesh.faces) == 0:
            raise InputError(Problem("has no faces left after the repair: all were without area; export it again"))
    return done


def _several(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _merge_vertices(mesh: trimesh.Trimesh) -> str:
    vertices = np.asarray(mesh.vertices)
    pairs = cKDTree(vertices).query_pairs(NEAR * float(np.linalg.norm(mesh.extents)), output_type="ndarray")
    if len(pairs) == 0:
        return ""
    n = len(vertices)
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    count, label = connected_components(graph, directed=False)
    first = np.full(count, n)
    np.minimum.at(first, label, np.arange(n))
    mesh.update_vertices(mask=np.isin(np.arange(n), first), inverse=np.searchsorted(np.sort(first), first[label]))
    return f"merged {_several(n - count, 'vertex', 'vertices')} with near ones"


def _drop_faces(mesh: trimesh.Trimesh) -> str:
    faces = np.sort(mesh.faces, axis=1)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2])
    single = np.zeros(len(faces), dtype=bool)
    single[np.unique(faces, axis=0, return_index=True)[1]] = True
    keep = whole & single
    if keep.all():
        return ""
    mesh.update_faces(keep)
    mesh.remove_unreferenced_vertices()
    return f"removed {_several(int((~keep).sum()), 'face')} without area or there twice"


# --- sides -----------------------------------------------------------------------------------------------------------


def _neighbours(mesh: trimesh.Trimesh) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of faces with a common edge (n, 2), where just two have it, and whether both run along it the same way."""
    edges = mesh.edges
    _, inverse, count = np.unique(mesh.edges_sorted, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    order = order[count[inverse.ravel()[order]] == 2].reshape(-1, 2)
    pairs = mesh.edges_face[order]
    same = edges[order[:, 0], 0] == edges[order[:, 1], 0]
    return pairs, same


def body_labels(mesh: trimesh.Trimesh) -> tuple[int, np.ndarray]:
    """How many pieces hang together by edges, and the piece of each face."""
    pairs, _ = _neighbours(mesh)
    n = len(mesh.faces)
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)


def body_count(mesh: trimesh.Trimesh) -> int:
    """How many pieces hang together by edges."""
    return int(body_labels(mesh)[0])


def _agree_on_sides(mesh: trimesh.Trimesh) -> str:
    pairs, same = _neighbours(mesh)
    if not same.any():
        return ""
    n = len(mesh.faces)
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
    turns = {}
    for (one, other), turn in zip(pairs.tolist(), same.tolist(), strict=True):
        turns[one, other] = turns[other, one] = turn
    count, label = connected_components(graph, directed=False)
    starts = np.full(count, n)
    np.minimum.at(starts, label, np.arange(n))
    flipped = np.zeros(n, dtype=bool)
    for start in np.unique(label[pairs[same][:, 0]]):
        order, before = breadth_first_order(graph, starts[start], directed=False)
        for face in order[1:].tolist():
            flipped[face] = flipped[before[face]] ^ turns[face, int(before[face])]
        if flipped[order].mean() > 0.5:  # the fewer faces are the wrong ones
            flipped[order] = ~flipped[order]
    mesh.faces = np.where(flipped[:, None], mesh.faces[:, ::-1], mesh.faces)
    return f"turned {_several(int(flipped.sum()), 'face')} over to agree with the faces around"


def _turn_outwards(mesh: trimesh.Trimesh) -> str:
    """No body points inwards, unless it lies inside another one, which it hollows out then."""
    if signed_volume(mesh) < 0.0:
        mesh.faces = mesh.faces[:, ::-1]
        return " and ".join(filter(None, ["turned the whole mesh inside out", _turn_bodies(mesh)]))
    return _turn_bodies(mesh)


def _turn_bodies(mesh: trimesh.Trimesh) -> str:
    count, label = body_labels(mesh)
    if count > MOST_BODIES:
        return ""
    corners = np.asarray(mesh.vertices)[mesh.faces]
    pieces = [corners[label == k] for k in range(count)]
    wrong = [
        k
        for k, piece in enumerate(pieces)
        if _signed_volume(piece) < 0.0 and not any(is_inside(piece, other) for other in pieces if other is not piece)
    ]
    if not wrong:
        return ""
    mesh.faces = np.where(np.isin(label, wrong)[:, None], mesh.faces[:, ::-1], mesh.faces)
    return f"turned {_several(len(wrong), 'body', 'bodies')} inside out"


def _signed_volume(triangles: np.ndarray) -> float:
    """Below 0 where the normals point inwards."""
    a, b, c = np.moveaxis(triangles - triangles.reshape(-1, 3).mean(axis=0), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6


def is_inside(piece: np.ndarray, other: np.ndarray) -> bool:
    """Whether a body lies within another one, by some of its corners; overlapping alone does not count."""
    low, high = other.min(axis=(0, 1)), other.max(axis=(0, 1))
    if (piece.min(axis=(0, 1)) < low).any() or (piece.max(axis=(0, 1)) > high).any():
        return False
    some = piece[:: max(1, len(piece) // SAMPLES), 0]
    return all(abs(_turns_around(point, other)) > 0.5 for point in some)


def _turns_around(point: np.ndarray, triangles: np.ndarray) -> float:
    """How often a surface goes round a point: ±1 inside, 0 outside; by the solid angles of its faces, as van Oosterom
    and Strackee give them."""
    a, b, c = (triangles[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    above = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = la * lb * lc
    for (u, v), length in (((a, b), lc), ((b, c), la), ((c, a), lb)):
        below = below + np.einsum("ij,ij->i", u, v) * length
    return float(2 * np.arctan2(above, below).sum() / (4 * np.pi))


# --- holes -----------------------------------------------------------------------------------------------------------


def _fill_holes(mesh: trimesh.Trimesh) -> str:
    # The lid runs along an open edge against the face that is there.
    after: dict[int, list[int]] = {}
    for start, end in open_edges(mesh).tolist():
        after.setdefault(end, []).append(start)
    rims = list(_rims(after))
    if not rims:
        return ""
    vertices = np.asarray(mesh.vertices)
    faces: list[list[int]] = []
    middles: list[np.ndarray] = []
    for rim in rims:
        lid = _ears(vertices[rim])
        if lid is not None:
            faces += [[rim[i] for i in face] for face in lid]
        else:
            middle = len(vertices) + len(middles)
            middles.append(vertices[rim].mean(axis=0))
            faces += [[one, other, middle] for one, other in zip(rim, rim[1:] + rim[:1], strict=True)]
    largest = max(float(np.linalg.norm(np.ptp(vertices[rim], axis=0))) for rim in rims)
    everything = np.vstack([np.asarray(mesh.faces), np.array(faces)])
    if middles:
        mesh.vertices = np.vstack([vertices, *middles])
    mesh.faces = everything
    across = largest / float(np.linalg.norm(mesh.extents))
    words = f"closed {_several(len(rims), 'hole')} with {_several(len(faces), 'face')}"
    return f"{words}; the largest measures {across:.2g} of the mesh: look whether its lid is right"


def _rims(after: dict[int, list[int]]) -> Iterator[list[int]]:
    """Closed walks along open edges; where several meet in a vertex, each walk ends as soon as it closes."""
    while after:
        walk = [next(iter(after))]
        while after.get(walk[-1]):
            step = after[walk[-1]].pop()
            if not after[walk[-1]]:
                del after[walk[-1]]
            if step in walk:
                start = walk.index(step)
                if len(walk) - start >= 3:
                    yield walk[start:]
                walk = walk[: start + 1]
                if start == 0:
                    break
            else:
                walk.append(step)


def _ears(rim: np.ndarray) -> list[tuple[int, int, int]] | None:
    """Triangles of a polygon in space, cut off one by one in the plane that fits it best; None where it cannot be."""
    shifted = rim - rim.mean(axis=0)
    normal = 0.5 * np.cross(shifted, np.roll(shifted, -1, axis=0)).sum(axis=0)
    size = float(np.linalg.norm(normal))
    if size <= 1e-12 * float((shifted**2).sum()) or len(rim) > 3000:
        return None
    _, _, axes = np.linalg.svd(np.vstack([np.zeros(3), normal / size]))
    x, y = axes[1], axes[2]
    if np.dot(np.cross(x, y), normal) < 0:
        x, y = y, x
    flat = np.column_stack([shifted @ x, shifted @ y])
    left = list(range(len(flat)))
    found = []
    while len(left) > 3:
        best, sharpest = -1, 0.0
        for k in range(len(left)):
            i, j, l = left[k - 1], left[k], left[(k + 1) % len(left)]
            quality = _ear_quality(flat, i, j, l, left)
            if quality > sharpest:
                best, sharpest = k, quality
                if quality > 0.6:
                    break
        if best < 0:
            return None
        found.append((left[best - 1], left[best], left[(best + 1) % len(left)]))
        del left[best]
    found.append((left[0], left[1], left[2]))
    return found


def _ear_quality(flat: np.ndarray, i: int, j: int, l: int, left: list[int]) -> float:
    """How round the triangle at a corner is; 0 where the corner points inwards or something lies inside."""
    a, b, c = flat[i], flat[j], flat[l]
    double = _cross(b - a, c - a)
    sides = float(((b - a) ** 2).sum() + ((c - b) ** 2).sum() + ((a - c) ** 2).sum())
    if double <= 1e-12 * sides:
        return 0.0
    others = flat[[k for k in left if k not in (i, j, l)]]
    inside = (_cross(b - a, others - a) >= 0) & (_cross(c - b, others - b) >= 0) & (_cross(a - c, others - c) >= 0)
    return 0.0 if inside.any() else 2 * np.sqrt(3) * double / sides


def _cross(u: np.ndarray, v: np.ndarray):
    return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
