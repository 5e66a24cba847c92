"""The separate bodies of a mesh, and what each of them weighs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from botz.errors import ArgumentProblem, InputError, Problem
from botz.models.meshes.mesh import mass_properties, signed_volume
from botz.models.meshes.repair import MOST_BODIES, body_labels, is_inside

if TYPE_CHECKING:
    import trimesh

    from botz.models.meshes.solids import MassProperties


def separate_bodies(mesh: trimesh.Trimesh) -> list[trimesh.Trimesh]:
    """Pieces that hang together by edges, the largest first; a cavity stays with the body around it. Raises InputError
    where there are too many."""
    count, label = body_labels(mesh)
    if count > MOST_BODIES:
        message = f"has {count} bodies, more than {MOST_BODIES}; repair merges near vertices that hold faces together"
        raise InputError(Problem(message))
    faces = [np.flatnonzero(label == k) for k in range(count)]
    pieces = [_part(mesh, own) for own in faces]
    volumes = [signed_volume(piece) for piece in pieces]
    triangles = [np.asarray(piece.triangles) for piece in pieces]
    owner = [_owner(k, triangles, volumes) for k in range(count)]
    groups: dict[int, list[np.ndarray]] = {}
    for k in range(count):
        groups.setdefault(owner[k], []).append(faces[k])
    found = [_part(mesh, np.concatenate(own)) for own in groups.values()]
    # Largest first; where two are alike, as the file has them.
    return sorted(found, key=lambda body: -abs(signed_volume(body)))


def _part(mesh: trimesh.Trimesh, faces: np.ndarray) -> trimesh.Trimesh:
    """Some faces of a mesh as a mesh of their own."""
    return cast("trimesh.Trimesh", mesh.submesh([faces], append=True, repair=False))


def _owner(k: int, pieces: Sequence[np.ndarray], volumes: Sequence[float]) -> int:
    """The number of the body that a piece belongs to: its own, or that of the smallest body around it where its normals
    point the other way, which makes it a cavity."""
    around = [
        other
        for other in range(len(pieces))
        if other != k and abs(volumes[other]) > abs(volumes[k]) and is_inside(pieces[k], pieces[other])
    ]
    if not around:
        return k
    nearest = min(around, key=lambda other: abs(volumes[other]))
    return nearest if volumes[nearest] * volumes[k] < 0.0 else k


def body_properties(
    bodies: Sequence[trimesh.Trimesh], mass: float | None, densities: Sequence[float] | None
) -> list[MassProperties | InputError]:
    """Of each body, or why it has none. One mass is spread evenly over the volume of all; densities [kg/m³] are one for
    all or one per body; with neither each body has 1 kg."""
    found: list[MassProperties | InputError] = []
    for body in bodies:
        try:
            found.append(mass_properties(body))
        except InputError as error:
            found.append(error)
    if densities is not None and len(densities) not in (1, len(bodies)):
        message = f"{len(densities)} densities for {len(bodies)} bodies; give one for all, or one per body"
        raise InputError(ArgumentProblem(message, key="density"))
    total = sum(part.volume for part in found if not isinstance(part, InputError))
    result: list[MassProperties | InputError] = []
    for k, part in enumerate(found):
        if isinstance(part, InputError):
            result.append(part)
        elif densities is not None:
            result.append(part.with_mass(part.volume * densities[k if len(densities) > 1 else 0]))
        else:
            result.append(part if mass is None else part.with_mass(mass * part.volume / total))
    return result
