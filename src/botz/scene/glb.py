"""Scenes as GLB 2.0 files: for the lab, and for everything else that opens glTF.

The root node `world` turns z up into glTF's y up; below it every node of the scene has its name and place, and its
shapes are nodes of their own. Beside the scene, `extras.botz` holds what a viewer needs to move it by channels.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from io import BytesIO
from math import ceil, log2, sqrt
from typing import Any

import numpy as np

from botz.scene.lab_layers import described_layers
from botz.scene.node_tracks import Track, tracks_of
from botz.scene.tessellation import tessellated
from botz.scene.world_scene import HERE, Material, Node, Scene, Shape

MAGIC, VERSION, JSON_CHUNK, BIN_CHUNK = 0x46546C67, 2, 0x4E4F534A, 0x004E4942
FLOAT, SHORT, INT = 5126, 5123, 5125
"""Kinds of numbers: float32, unsigned of 16 and of 32 bits."""
VERTICES, INDICES = 34962, 34963
"""What a part of the buffer is for."""
PLACE_BITS, NORMAL_BITS = 16, 9
"""Of the numbers of a small file, counted from the largest number of its array: 40 m of ground are kept to 1 mm."""
JPEG_QUALITY = 88
UPRIGHT = [-sqrt(0.5), 0.0, 0.0, sqrt(0.5)]
"""From z up to y up: a quarter turn about x (quat_xyzw)."""
SAMPLER = {"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497}
"""Linear, with smaller images for what is far, and repeated."""


def write_glb(scene: Scene, *, small: bool = False) -> bytes:
    """The scene with all its nodes at rest; `small`: with numbers and images no finer than the eye can tell."""
    return _Document(scene, {}, np.zeros(1), small=small).packed()


def write_animated_glb(scene: Scene, times: Sequence[float] | np.ndarray, values: Mapping[str, np.ndarray]) -> bytes:
    """The scene as it moved: `values` holds a row of each channel for each of the increasing `times` [s].

    The animation begins at 0. What turns fast has more keys than there are times, so that it goes round as often as it
    did; hidden nodes have the scale 0.
    """
    clock = np.asarray(times, dtype=float)
    if clock.ndim != 1 or len(clock) == 0 or not (np.diff(clock.astype(np.float32)) > 0.0).all():
        raise ValueError("an animation needs times that increase by more than single precision loses")
    return _Document(scene, values, clock - clock[0]).packed()


class _Document:
    """A file in the making: its JSON, and the bytes that this points to."""

    def __init__(self, scene: Scene, values: Mapping[str, np.ndarray], times: np.ndarray, *, small: bool = False):
        self.scene = scene
        self.small = small
        self.bytes = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.nodes: list[dict[str, Any]] = [{"name": "world", "rotation": UPRIGHT}]
        self.meshes: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.images: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self._geometry: dict[Any, dict[str, int]] = {}
        """Attributes and indices by shape: what looks the same is stored once."""
        self._mesh_numbers: dict[Any, int] = {}
        self._material_numbers: dict[str, int] = {}
        self._clocks: dict[bytes, int] = {}
        numbers: dict[str, int] = {}
        for node in scene.nodes:
            track = tracks_of(node, times, values)
            numbers[node.name] = self._add_node(node, track, 0 if node.parent is None else numbers[node.parent])
            self._animate(numbers[node.name], track)

    # --- nodes and what they look like ---------------------------------------------------------------------

    def _add_node(self, node: Node, track: Track, parent: int) -> int:
        number = self._hang({"name": node.name, **_placed(track.poses[0])}, parent)
        if track.shown is not None and not track.shown[0]:
            self.nodes[number]["scale"] = [0.0, 0.0, 0.0]
        for k, shape in enumerate(node.shapes):
            part = {"name": f"{node.name}#{k}", "mesh": self._mesh(shape), **_placed(np.array(shape.place))}
            if not shape.casts_shadow:
                part["extras"] = {"casts_shadow": False}
            self._hang(part, number)
        return number

    def _hang(self, entry: dict[str, Any], parent: int) -> int:
        self.nodes.append(entry)
        self.nodes[parent].setdefault("children", []).append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def _mesh(self, shape: Shape) -> int:
        form = (shape.kind, tuple(shape.size)) if shape.mesh is None else ("mesh", id(shape.mesh))
        key = (form, shape.material)
        if key not in self._mesh_numbers:
            textured = shape.material != "" and self.scene.materials[shape.material].texture is not None
            found = self._surface(form, shape)
            attributes = {name: found[name] for name in ("POSITION", "NORMAL")}
            if textured:
                if "TEXCOORD_0" not in found:
                    # glTF counts a texture's rows from above.
                    uv = tessellated(shape).uv * [1.0, -1.0] + [0.0, 1.0]
                    found["TEXCOORD_0"] = self._accessor(uv, "VEC2", VERTICES)
                attributes["TEXCOORD_0"] = found["TEXCOORD_0"]
            primitive: dict[str, Any] = {"attributes": attributes, "indices": found["indices"]}
            if shape.material:
                primitive["material"] = self._material(shape.material)
            self.meshes.append({"primitives": [primitive]})
            self._mesh_numbers[key] = len(self.meshes) - 1
        return self._mesh_numbers[key]

    def _surface(self, form: Any, shape: Shape) -> dict[str, int]:
        if form not in self._geometry:
            surface = tessellated(shape)
            self._geometry[form] = {
                "POSITION": self._accessor(surface.positions, "VEC3", VERTICES, bounds=True),
                "NORMAL": self._accessor(surface.normals, "VEC3", VERTICES, bits=NORMAL_BITS),
                "indices": self._indices(surface.faces),
            }
        return self._geometry[form]

    def _material(self, name: str) -> int:
        if name not in self._material_numbers:
            self.materials.append(self._described(name, self.scene.materials[name]))
            self._material_numbers[name] = len(self.materials) - 1
        return self._material_numbers[name]

    def _described(self, name: str, material: Material) -> dict[str, Any]:
        red, green, blue, opacity = material.colour
        surface: dict[str, Any] = {
            "baseColorFactor": [linear(red), linear(green), linear(blue), opacity],
            "metallicFactor": material.metallic,
            "roughnessFactor": material.roughness,
        }
        if material.texture is not None:
            kind, data = _image(material.texture, small=self.small)
            self.images.append({"bufferView": self._view(data), "mimeType": kind})
            surface["baseColorTexture"] = {"index": len(self.images) - 1}
        found: dict[str, Any] = {"name": name, "pbrMetallicRoughness": surface}
        if opacity < 1.0:
            found["alphaMode"] = "BLEND"
        if material.two_sided:
            found["doubleSided"] = True
        return found

    # --- motion --------------------------------------------------------------------------------------------

    def _animate(self, node: int, track: Track) -> None:
        """Keys of what moves; what stays has its place in the node already."""
        if (track.poses[:, :3] != track.poses[0, :3]).any():
            self._channel(node, "translation", track.times, track.poses[:, :3], "LINEAR")
        if (track.poses[:, 3:] != track.poses[0, 3:]).any():
            self._channel(node, "rotation", track.times, track.poses[:, [4, 5, 6, 3]], "LINEAR")
        if track.shown is not None and (track.shown != track.shown[0]).any():
            scale = np.repeat(track.shown.astype(float)[:, None], 3, axis=1)
            self._channel(node, "scale", track.shown_times, scale, "STEP")

    def _channel(self, node: int, path: str, times: np.ndarray, keys: np.ndarray, way: str) -> None:
        clock = times.astype(np.float32).tobytes()
        if clock not in self._clocks:
            self._clocks[clock] = self._accessor(times, "SCALAR", None, bounds=True)
        output = self._accessor(keys, "VEC4" if path == "rotation" else "VEC3", None)
        self.samplers.append({"input": self._clocks[clock], "output": output, "interpolation": way})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    # --- bytes ---------------------------------------------------------------------------------------------

    def _view(self, data: bytes, target: int | None = None) -> int:
        self.bytes += bytes(-len(self.bytes) % 4)
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)}
        if target is not None:
            view["target"] = target
        self.bytes += data
        self.views.append(view)
        return len(self.views) - 1

    def _accessor(
        self, array: np.ndarray, kind: str, target: int | None, *, bounds: bool = False, bits: int = PLACE_BITS
    ) -> int:
        data = np.ascontiguousarray(rounded(array, bits) if self.small else array, dtype="<f4")
        entry: dict[str, Any] = {
            "bufferView": self._view(data.tobytes(), target),
            "componentType": FLOAT,
            "count": len(data),
            "type": kind,
        }
        if bounds:
            rows = data.reshape(len(data), -1)
            entry["min"], entry["max"] = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def _indices(self, faces: np.ndarray) -> int:
        # The greatest number of 16 bits is no index: it means a break.
        short = int(faces.max()) < 0xFFFF
        data = np.ascontiguousarray(faces.ravel(), dtype="<u2" if short else "<u4")
        view = self._view(data.tobytes(), INDICES)
        kind = SHORT if short else INT
        self.accessors.append({"bufferView": view, "componentType": kind, "count": len(data), "type": "SCALAR"})
        return len(self.accessors) - 1

    def packed(self) -> bytes:
        extras = {**self.scene.description(), "layers": described_layers(self.scene)}
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "Botz"},
            "scene": 0,
            "scenes": [{"nodes": [0], "extras": {"botz": extras}}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": self.materials,
            "images": self.images,
            "textures": [{"source": k, "sampler": 0} for k in range(len(self.images))],
            "samplers": [SAMPLER] if self.images else [],
            "animations": [{"name": "run", "channels": self.channels, "samplers": self.samplers}]
            if self.channels
            else [],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.bytes)}] if self.bytes else [],
        }
        # glTF knows no empty lists.
        document = {key: value for key, value in document.items() if value != []}
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        chunks = _chunk(JSON_CHUNK, text, b" ")
        if self.bytes:
            chunks += _chunk(BIN_CHUNK, bytes(self.bytes), b"\0")
        return struct.pack("<III", MAGIC, VERSION, 12 + len(chunks)) + chunks


def _chunk(kind: int, data: bytes, filler: bytes) -> bytes:
    data += filler * (-len(data) % 4)
    return struct.pack("<II", len(data), kind) + data


def _placed(pose: np.ndarray) -> dict[str, Any]:
    """Translation and rotation of a node; those that do nothing are left out."""
    found: dict[str, Any] = {}
    if tuple(pose) == HERE:
        return found
    if pose[:3].any():
        found["translation"] = [float(value) for value in pose[:3]]
    w, x, y, z = (float(value) for value in pose[3:] / np.linalg.norm(pose[3:]))
    if (w, x, y, z) != HERE[3:]:
        found["rotation"] = [x, y, z, w]
    return found


def _image(texture: np.ndarray, *, small: bool) -> tuple[str, bytes]:
    """Kind and bytes: a PNG, or in a small file a JPEG where that is worth its loss."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(texture, dtype=np.uint8))
    png, jpeg = BytesIO(), BytesIO()
    image.save(png, "PNG", compress_level=6)
    if small:
        image.save(jpeg, "JPEG", quality=JPEG_QUALITY, subsampling=0)
        if 2 * len(jpeg.getvalue()) < len(png.getvalue()):
            return "image/jpeg", jpeg.getvalue()
    return "image/png", png.getvalue()


def rounded(array: np.ndarray, bits: int) -> np.ndarray:
    """Multiples of a power of two, `bits` binary digits below the largest number: such arrays pack well."""
    largest = float(np.abs(array).max(initial=0.0))
    if largest == 0.0:
        return array
    step = 2.0 ** (ceil(log2(largest)) - bits)
    return np.round(array / step) * step


def linear(value: float) -> float:
    """A colour of the screen (sRGB) as light, IEC 61966-2-1."""
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
