"""From the shapes of robot models to those of scenes: solids, mesh files with their own colours, and propellers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from botz.errors import InputError
from botz.models.meshes.mesh import load_mesh, simplified
from botz.models.robot_model import ModelShape
from botz.scene.parts import chassis_box
from botz.scene.tessellation import creased, tessellated
from botz.scene.world_scene import HERE, Material, Place, Shape, TriangleMesh
from botz.transforms import posed, quaternion_of, rotation_from_quaternion

COLOURED = (".obj", ".dae", ".glb", ".gltf")
"""Mesh files that can say how they look."""
MOST_FACES = 40000
"""Of a mesh that is shown; larger ones are simplified."""
ENDLESS = 20.0
"""Side of what is drawn of a plane [m]."""
SLIM = 0.2
"""A box whose thickness is less than this part of its length can be a propeller's blade."""


def place_of(pose: np.ndarray) -> Place:
    """The place of a 4x4 pose."""
    x, y, z = (float(value) for value in pose[:3, 3])
    w, a, b, c = (float(value) for value in quaternion_of(pose[:3, :3]))
    return (x, y, z, w, a, b, c)


def colour_material(materials: dict[str, Material], colour: Sequence[float]) -> str:
    """The name of a material of a colour (red, green, blue, opacity); it is added where there is none yet."""
    red, green, blue, opacity = (float(np.clip(value, 0.0, 1.0)) for value in colour)
    name = "colour-" + "".join(f"{round(255 * value):02x}" for value in (red, green, blue, opacity))
    materials.setdefault(name, Material((red, green, blue, opacity), 0.5))
    return name


def box(size: Sequence[float], material: str, *, chamfer: float = 0.08, place: Place = HERE) -> Shape:
    """A box about its middle, its edges cut off by a share of its shortest side."""
    half = [0.5 * float(edge) for edge in size]
    return chassis_box([-edge for edge in half], half, material, chamfer=chamfer, place=place)


def shapes_of(shape: ModelShape, materials: dict[str, Material], otherwise: str) -> list[Shape]:
    """What is drawn of a model's shape; without a colour of its own, or its file's, it has the material `otherwise`.

    A mesh that cannot be read is left out: what is seen only must not keep a robot from being shown.
    """
    place = place_of(shape.pose)
    material = otherwise if shape.colour is None else colour_material(materials, shape.colour)
    match shape.kind:
        case "box" if min(shape.size) > 0.01:
            return [box(shape.size, material, chamfer=0.06, place=place)]
        case "box" | "cylinder" | "capsule" | "sphere":
            return [Shape(shape.kind, tuple(shape.size), place, material)]
        case "ellipsoid":
            ball = tessellated(Shape("sphere", (1.0,)))
            mesh = TriangleMesh(ball.positions * np.array(shape.size), ball.faces, smooth=True)
            return [Shape("mesh", place=place, material=material, mesh=mesh)]
        case "plane":
            return [Shape("box", (ENDLESS, ENDLESS, 0.01), place, material, casts_shadow=False)]
        case "mesh" if shape.file is not None:
            try:
                return _mesh_shapes(shape, place, material, materials)
            except InputError:
                return []
        case _:
            return []


def extent(shapes: Sequence[Shape]) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest corner of shapes in their node's frame."""
    points = [
        tessellated(shape).positions @ rotation_from_quaternion(*shape.place[3:]).T + shape.place[:3]
        for shape in shapes
    ]
    if not points:
        return np.zeros(3), np.zeros(3)
    everything = np.concatenate(points)
    return everything.min(axis=0), everything.max(axis=0)


# --- mesh files ----------------------------------------------------------------------------------------------


def _mesh_shapes(shape: ModelShape, place: Place, material: str, materials: dict[str, Material]) -> list[Shape]:
    assert shape.file is not None
    if shape.colour is None and shape.file.suffix.lower() in COLOURED and (parts := _coloured(shape.file, shape.scale)):
        found = []
        for number, (mesh, look) in enumerate(parts):
            own = material
            if look is not None:
                own = f"{shape.file.name}#{number}"
                materials.setdefault(own, look)
            found.append(Shape("mesh", place=place, material=own, mesh=mesh))
        return found
    return [Shape("mesh", place=place, material=material, mesh=_plain(shape.file, shape.scale))]


@lru_cache(maxsize=64)
def _plain(file: Path, scale: tuple[float, float, float]) -> TriangleMesh:
    mesh = load_mesh(file, scale)
    if len(mesh.faces) > MOST_FACES:
        mesh = simplified(mesh, MOST_FACES / len(mesh.faces))
    return creased(np.asarray(mesh.vertices), np.asarray(mesh.faces))


@lru_cache(maxsize=64)
def _coloured(file: Path, scale: tuple[float, float, float]) -> tuple[tuple[TriangleMesh, Material | None], ...]:
    """The parts of a file with a material each; none where it says nothing of materials."""
    import trimesh

    load_mesh(file)  # it knows all that can be wrong with a file
    try:
        scene = trimesh.load_scene(str(file), process=False)
        bodies = [one for one in scene.dump() if isinstance(one, trimesh.Trimesh) and len(one.faces)]
    except Exception:  # readers of materials fail in their own ways; the plain mesh was read
        return ()
    unit = 1.0
    if file.suffix.lower() == ".dae" and (named := re.fullmatch(r"(\S+) \* meters", str(scene.units))):
        unit = float(named[1])
    found = []
    for body in bodies:
        look, uv = _look_of(body.visual)
        vertices = np.asarray(body.vertices) * unit * np.array(scale)
        faces = np.asarray(body.faces)
        if np.prod(scale) < 0:  # a mirrored face runs the other way round
            faces = faces[:, ::-1]
        found.append((creased(vertices, faces, uv), look))
    return tuple(found) if any(look is not None for _, look in found) else ()


def _look_of(visual: Any) -> tuple[Material | None, np.ndarray | None]:
    """Material and places in its texture of one part, as trimesh holds them."""
    if getattr(visual, "kind", None) in ("vertex", "face"):
        colour = np.asarray(visual.main_color, dtype=float) / 255.0
        return Material((float(colour[0]), float(colour[1]), float(colour[2]), float(colour[3])), 0.55), None
    own = getattr(visual, "material", None)
    if own is None:
        return None, None
    colour = np.asarray(own.main_color, dtype=float) / 255.0
    image = getattr(own, "baseColorTexture", None) or getattr(own, "image", None)
    uv = getattr(visual, "uv", None)
    if image is None or uv is None:
        return Material((float(colour[0]), float(colour[1]), float(colour[2]), float(colour[3])), 0.55), None
    image = image.convert("RGB")
    image.thumbnail((1024, 1024))
    return Material((1.0, 1.0, 1.0, 1.0), 0.6, texture=np.asarray(image)), np.asarray(uv)


# --- propellers ----------------------------------------------------------------------------------------------


def is_bar(shape: ModelShape) -> bool:
    """Whether a shape is a slim box, as simple models draw a propeller."""
    return shape.kind == "box" and sorted(shape.size)[1] < SLIM * max(shape.size)


def blades(bar: ModelShape, axis: Sequence[float], sense: float, material: str) -> list[Shape]:
    """Two twisted blades and a hub in the place of a bar; `sense` is +1 where it turns about +axis, else −1."""
    lengths = np.array(bar.size)
    along = bar.pose[:3, int(np.argmax(lengths))]
    z = np.asarray(axis, dtype=float)
    x = along - z * float(along @ z)
    x /= np.linalg.norm(x)
    place = place_of(posed(np.stack([x, np.cross(z, x), z], axis=1), bar.pose[:3, 3]))
    radius, chord = float(lengths.max()) / 2, 1.35 * float(np.sort(lengths)[1])
    return [
        Shape("mesh", place=place, material=material, mesh=blade_mesh(radius, chord, sense)),
        Shape("cylinder", (0.09 * radius, 0.1 * radius), place, "trim"),
    ]


def blade_mesh(radius: float, chord: float, sense: float) -> TriangleMesh:
    """Two blades about z: broad at a third of the radius and round at the tip, steep inside and flat outside."""
    share = np.array([0.07, 0.14, 0.22, 0.32, 0.45, 0.58, 0.7, 0.82, 0.91, 0.97, 1.0])
    broad = np.array([0.42, 0.55, 0.85, 1.0, 0.97, 0.88, 0.78, 0.67, 0.55, 0.38, 0.1]) * chord
    pitch = np.arctan(0.24 / np.maximum(share, 0.25))
    section = np.array([[0.5, 0.0], [0.2, 0.045], [-0.15, 0.05], [-0.5, 0.0], [-0.15, -0.015], [0.2, -0.02]])
    rings = []
    for s, c, turn in zip(share, broad, pitch, strict=True):
        # Leading edge first: it is ahead in the sense of rotation, and up, so that air is pushed down.
        ahead, up = section[:, 0] * c, section[:, 1] * chord
        y = ahead * np.cos(turn) - up * np.sin(turn)
        z = ahead * np.sin(turn) + up * np.cos(turn)
        rings.append(np.stack([np.full(len(section), s * radius), sense * y, z], axis=1))
    k = len(section)
    vertices = np.concatenate(rings)
    here, ahead_of = np.arange(k), (np.arange(k) + 1) % k
    faces = []
    for level in range(len(rings) - 1):
        a, b = level * k + here, level * k + ahead_of
        faces += [np.stack([a, b, b + k], axis=1), np.stack([a, b + k, a + k], axis=1)]
    fan = np.array([[0, j + 1, j] for j in range(1, k - 1)])
    faces += [fan, fan[:, ::-1] + (len(rings) - 1) * k]
    one = np.concatenate(faces)
    if sense < 0.0:
        one = one[:, ::-1]
    both = np.concatenate([vertices, vertices * [-1.0, -1.0, 1.0]])
    return creased(both, np.concatenate([one, one + len(vertices)]), crease=0.9)
