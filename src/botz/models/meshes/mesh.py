"""Meshes: reading files, what they weigh and how they turn, and fewer faces.

Volume and inertia are integrals over the inside, so only a closed mesh has them; `models/meshes/repair.py` closes one.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from botz.errors import ArgumentProblem, InputError, Problem
from botz.models.meshes import solids
from botz.models.meshes.solids import MassProperties
from botz.models.robot_model import Inertial, ModelShape

if TYPE_CHECKING:
    import trimesh

UNITS = {"mm": 0.001, "cm": 0.01, "m": 1.0, "in": 0.0254}
"""Metres of one unit of a drawing."""
READABLE = (".stl", ".obj", ".ply", ".dae", ".glb", ".gltf", ".off", ".msh")
"""The last is MuJoCo's own, of older MJCF files."""
WRITABLE = (".stl", ".obj", ".ply", ".glb", ".off")
STL_HEAD, STL_FACE = 84, 50
"""Bytes of a binary STL before its faces, and of a face."""
LARGEST_FILE = 2 * 10**9
"""Bytes; some 40 million faces of a binary STL."""
FLAT = 1e-9
"""Volume, by that of the box around a mesh, at which there is no inside."""
SINGLE = 1e-7
"""A rounding of single precision, in which MuJoCo and STL hold coordinates."""
_NO_LOG = logging.NullHandler()
LEFT_OUT = "left_out"
"""In a mesh's metadata: how many faces of its file were left out."""


def load_mesh(path: Path | str, scale: float | Sequence[float] = 1.0) -> trimesh.Trimesh:
    """The mesh of a file as one piece, its coordinates times `scale`, equal vertices merged; raises InputError."""
    import trimesh

    path = Path(path)
    ending = path.suffix.lower()
    if ending not in READABLE:
        raise _wrong(path, f"has the ending {ending!r}, which is not one of a mesh; choose from: {', '.join(READABLE)}")
    promised = _check_file(path, ending)
    try:
        # Odd files make NumPy warn of overflow; what matters is looked for below.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Its log has tracebacks of what it gets over; what it does not, it raises.
            logging.getLogger("trimesh").addHandler(_NO_LOG)
            found = _read_msh(path) if ending == ".msh" else trimesh.load_mesh(str(path), process=True)
    except ImportError:
        if ending != ".dae":
            raise _wrong(path, "cannot be read as a mesh; export it again, best as binary STL") from None
        raise _wrong(path, "is COLLADA, for which the package pycollada is missing: pip install pycollada") from None
    except Exception as error:  # every format fails in its own way, and any of them means the same
        words = " ".join(str(error).split())[:200] or type(error).__name__
        raise _wrong(path, f"cannot be read as a mesh: {words}; export it again, best as binary STL") from None
    if not isinstance(found, trimesh.Trimesh) or len(found.faces) == 0:
        raise _wrong(path, "has no faces, or is cut off; export the part again, as a mesh of triangles")
    # Those with a corner that is no number are gone by now.
    found.metadata[LEFT_OUT] = 0 if promised is None else max(0, promised - len(found.faces))
    if not np.isfinite(found.vertices).all():
        raise _wrong(path, "has coordinates that are not finite numbers; export it again")
    if ending == ".dae" and (named := re.fullmatch(r"(\S+) \* meters", str(found.units))):
        # COLLADA alone says what its numbers mean, and every simulator takes it at its word.
        found.vertices = found.vertices * float(named[1])
    return _scaled(found, scale)


def _read_msh(path: Path) -> trimesh.Trimesh:
    """MuJoCo's binary meshes: counts of vertices, normals, texture coordinates and faces, then each of them."""
    import trimesh

    data = path.read_bytes()
    words = np.frombuffer(data[: len(data) // 4 * 4], dtype="<i4")
    vertices, normals, textures, faces = (int(one) for one in words[:4])
    corners, end = 4 + 3 * vertices, 4 + 3 * vertices + 3 * normals + 2 * textures
    if min(vertices, normals, textures, faces) < 0 or len(data) != 4 * (end + 3 * faces):
        raise ValueError("its length is not what its first numbers say")
    numbers = words[end:].reshape(-1, 3)
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < vertices:
        raise ValueError("a face has a corner that there is not")
    return trimesh.Trimesh(words[4:corners].view("<f4").reshape(-1, 3).astype(float), numbers, process=True)


def _wrong(path: Path, message: str) -> InputError:
    return InputError(Problem(message, file=path))


def _check_file(path: Path, ending: str) -> int | None:
    """Raises InputError; gives how many faces the file says it has, where it is an STL."""
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise _wrong(path, "is not a file")
        if size == 0:
            raise _wrong(path, "is empty")
        if size > LARGEST_FILE:
            raise _wrong(path, f"is larger than {LARGEST_FILE // 10**9} GB; simplify it where it was drawn")
        if ending == ".dae":
            _refuse_declarations(path)
        return _promised_faces(path, size) if ending == ".stl" else None
    except FileNotFoundError:
        raise _wrong(path, "there is no such file; look for a typing error in its path") from None
    except OSError as error:
        raise _wrong(path, f"cannot be read: {error.strerror or error}") from None


def _promised_faces(path: Path, size: int) -> int | None:
    with path.open("rb") as stream:
        head = stream.read(STL_HEAD)
    said = int.from_bytes(head[80:], "little") if len(head) == STL_HEAD else 0
    if len(head) == STL_HEAD and size == STL_HEAD + STL_FACE * said:
        return said
    if head.lstrip().lower().startswith(b"solid") and b"\0" not in head:
        return path.read_bytes().lower().count(b"endfacet")
    if len(head) < STL_HEAD or b"\0" not in head[80:]:
        # No mesh has as many faces as four letters make.
        raise _wrong(path, "cannot be read as a mesh: it is no STL, neither binary nor one that begins with 'solid'")
    if size < STL_HEAD + STL_FACE * said:
        there = (size - STL_HEAD) // STL_FACE
        raise _wrong(path, f"is cut off: it says that it has {said} faces and holds {there}; copy or export it again")
    return None


def _refuse_declarations(path: Path) -> None:
    """A document type or entities could draw in other files or grow without end."""
    from xml.parsers import expat

    def refuse(*_: object) -> int:
        raise InputError(Problem("has a document type, which is refused", file=path, line=parser.CurrentLineNumber))

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        with path.open("rb") as stream:
            parser.ParseFile(stream)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise _wrong(path, f"is not well-formed XML: {error}") from None


def _scaled(mesh: trimesh.Trimesh, scale: float | Sequence[float]) -> trimesh.Trimesh:
    factors = np.broadcast_to(np.asarray(scale, dtype=float), 3)
    if not np.isfinite(factors).all() or (factors == 0.0).any():
        raise InputError(Problem(f"a mesh cannot be scaled by {factors.tolist()}; needs numbers other than 0"))
    if (factors != 1.0).any():
        mesh.vertices = mesh.vertices * factors
        if np.prod(factors) < 0:  # a mirrored face runs the other way round
            mesh.faces = mesh.faces[:, ::-1]
    return mesh


# --- what a mesh is --------------------------------------------------------------------------------------------------


def open_edges(mesh: trimesh.Trimesh) -> np.ndarray:
    """Edges of one face alone, as that face runs along them (n, 2)."""
    _, first, count = np.unique(mesh.edges_sorted, axis=0, return_index=True, return_counts=True)
    return mesh.edges[np.sort(first[count == 1])]


def crowded_edges(mesh: trimesh.Trimesh) -> int:
    """How many edges more than two faces share."""
    _, count = np.unique(mesh.edges_sorted, axis=0, return_counts=True)
    return int((count > 2).sum())


def hole_count(mesh: trimesh.Trimesh) -> int:
    """Groups of open edges that hang together."""
    edges = open_edges(mesh)
    if len(edges) == 0:
        return 0
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    _, where = np.unique(edges, return_inverse=True)
    where = where.reshape(-1, 2)
    n = int(where.max()) + 1
    graph = coo_matrix((np.ones(len(where)), (where[:, 0], where[:, 1])), shape=(n, n))
    return int(connected_components(graph, directed=False)[0])


def is_closed(mesh: trimesh.Trimesh) -> bool:
    """Whether it has an inside: every edge belongs to two faces, which run along it in opposite directions."""
    return bool(mesh.is_watertight and mesh.is_winding_consistent)


def why_open(mesh: trimesh.Trimesh) -> str | None:
    """Why a mesh has no inside, and what to do; None where it has one."""
    if is_closed(mesh):
        return None
    found = []
    if holes := hole_count(mesh):
        found.append(f"{holes} hole{'s' if holes > 1 else ''} ({len(open_edges(mesh))} open edges)")
    if crowded := crowded_edges(mesh):
        found.append(f"{crowded} edges that more than two faces share")
    if not found:
        found.append("faces that do not agree on which side is outside")
    return f"is not watertight: {' and '.join(found)}"


def why_flat(mesh: trimesh.Trimesh) -> str | None:
    """Why nothing can touch a mesh, as all of it lies in a plane; None where something can."""
    corners = np.asarray(mesh.vertices) - mesh.bounds.mean(axis=0)
    # Squares of the spreads along the principal axes, the smallest first.
    spreads = np.linalg.eigvalsh(corners.T @ corners)
    if len(corners) >= 4 and spreads[0] > (SINGLE * SINGLE) * spreads[2]:
        return None
    return "is flat: all its corners lie in a plane, so nothing can touch it; give it a thickness, or take a thin box"


def signed_volume(mesh: trimesh.Trimesh) -> float:
    """Of what its faces enclose, below 0 where the normals point inwards; of an open mesh it means little [m³]."""
    a, b, c = np.moveaxis(np.asarray(mesh.vertices)[mesh.faces] - mesh.bounds.mean(axis=0), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6


# --- what it weighs --------------------------------------------------------------------------------------------------


def mass_properties(mesh: trimesh.Trimesh, mass: float = 1.0) -> MassProperties:
    """Of a closed mesh that is filled evenly with a mass; raises InputError where it has no inside."""
    if not mass > 0.0 or not np.isfinite(mass):
        raise InputError(Problem(f"a mass of {mass:g} kg; needs a positive number"))
    if complaint := why_open(mesh):
        raise InputError(
            Problem(f"{complaint}; volume and inertia are not defined. Close it with `botz mesh --repair --out`")
        )
    # About the middle of the box around it, so that a part that was drawn far from the origin loses no digits.
    middle = mesh.bounds.mean(axis=0)
    corners = np.asarray(mesh.vertices)[mesh.faces] - middle
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    # Each face spans a tetrahedron with the origin, counted by its sign: volume d/6, ∫x = d/24 s and
    # ∫x xᵀ = d/120 (a aᵀ + b bᵀ + c cᵀ + s sᵀ) with s = a + b + c.
    d = np.einsum("ij,ij->i", a, np.cross(b, c))
    s = a + b + c
    volume = d.sum() / 6
    if abs(volume) <= FLAT * max(float(np.prod(mesh.extents)), float(mesh.extents.max()) ** 3 * 1e-6):
        raise InputError(Problem("encloses no volume; a surface alone has no mass properties, give it a thickness"))
    first = d @ s / 24
    second = sum(np.einsum("i,ij,ik->jk", d, v, v) for v in (a, b, c, s)) / 120
    # Where all normals point inwards every sign is turned, which the division takes out again.
    centre = first / volume
    spread = mass * (second / volume - np.outer(centre, centre))
    inertia = np.trace(spread) * np.eye(3) - spread
    return MassProperties(abs(float(volume)), float(mesh.area), centre + middle, (inertia + inertia.T) / 2, mass)


def shape_properties(shape: ModelShape, mass: float = 1.0) -> MassProperties:
    """Of a shape that is filled evenly with a mass, in its link's frame; raises InputError at the shape's place."""
    match shape.kind:
        case "box":
            found = solids.box(shape.size, mass)
        case "sphere":
            found = solids.sphere(shape.size[0], mass)
        case "cylinder":
            found = solids.cylinder(shape.size[0], shape.size[1], mass)
        case "capsule":
            found = solids.capsule(shape.size[0], shape.size[1], mass)
        case "ellipsoid":
            found = solids.ellipsoid(shape.size, mass)
        case "mesh":
            found = _of_mesh(shape, mass)
        case _:
            raise InputError(shape.place.problem(f"a {shape.kind} has no volume to take an inertia from; give one"))
    return found.placed(shape.pose)


def _of_mesh(shape: ModelShape, mass: float) -> MassProperties:
    assert shape.file is not None
    mesh = load_mesh(shape.file, shape.scale)
    try:
        return mass_properties(mesh, mass)
    except InputError as error:
        raise InputError(shape.place.problem(f"mesh {shape.file.name} {error}, or give the inertia")) from None


def shapes_properties(shapes: Sequence[ModelShape], mass: float) -> Inertial:
    """A mass that fills all shapes of a link evenly; where some are for touching and others for looks, those for
    touching, so that nothing is counted twice."""
    touched = [shape for shape in shapes if shape.collision and shape.kind != "plane"]
    parts = [shape_properties(shape) for shape in touched or shapes]
    volume = sum(part.volume for part in parts)
    whole = solids.together([part.with_mass(mass * part.volume / volume) for part in parts])
    return Inertial(mass, whole.centre, whole.inertia)


# --- fewer faces -----------------------------------------------------------------------------------------------------


def simplified(mesh: trimesh.Trimesh, share: float) -> trimesh.Trimesh:
    """A mesh with about this share of the faces, those left out that change its form least; raises InputError."""
    import trimesh

    if not 0.0 < share <= 1.0:
        message = f"a fraction of {share:g}; needs a number above 0 and at most 1, as 0.1"
        raise InputError(ArgumentProblem(message, key="simplify"))
    if round(share * len(mesh.faces)) < 4:
        least = 4 / len(mesh.faces)
        message = f"leaves fewer than 4 of {len(mesh.faces)} faces, no body; take at least {min(least, 1.0):.2g}"
        raise InputError(ArgumentProblem(message, key="simplify"))
    if share == 1.0:
        return mesh.copy()
    import fast_simplification

    # Its numbers are single precision: about the middle and by the size, no digits are lost to where the part stands.
    middle, size = mesh.bounds.mean(axis=0), float(mesh.extents.max())
    points, faces = fast_simplification.simplify(
        np.ascontiguousarray((mesh.vertices - middle) / size, dtype=np.float64),
        np.ascontiguousarray(mesh.faces, dtype=np.int32),
        target_reduction=1.0 - share,
    )
    return trimesh.Trimesh(np.asarray(points, dtype=np.float64) * size + middle, faces, process=True)
