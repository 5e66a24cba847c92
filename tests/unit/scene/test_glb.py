"""GLB files read back by a strict reader of our own and by trimesh: places, surfaces, materials and motion."""

from __future__ import annotations

import json
import struct
from io import BytesIO
from math import pi
from typing import Any

import numpy as np
import pytest
import trimesh
from PIL import Image

from botz.scene.glb import linear, write_animated_glb, write_glb
from botz.scene.lab_layers import described_layers
from botz.scene.tessellation import creased, lathe, tessellated
from botz.scene.world_scene import (
    Actor,
    Follows,
    Material,
    Node,
    Scene,
    Shape,
    Slides,
    TriangleMesh,
    Turns,
    node_poses,
)
from botz.transforms import posed, rotation_from_quaternion

SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
KINDS = {5126: np.dtype("<f4"), 5123: np.dtype("<u2"), 5125: np.dtype("<u4")}
Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])


class Reader:
    """What the glTF specification asks of a file, asked of this one."""

    def __init__(self, data: bytes):
        magic, version, size = struct.unpack_from("<4sII", data)
        assert (magic, version, size) == (b"glTF", 2, len(data))
        chunks, at = [], 12
        while at < len(data):
            length, kind = struct.unpack_from("<I4s", data, at)
            assert length % 4 == 0
            chunks.append((kind, data[at + 8 : at + 8 + length]))
            at += 8 + length
        assert [kind for kind, _ in chunks] == [b"JSON", b"BIN\0"]
        self.json: dict[str, Any] = json.loads(chunks[0][1], parse_constant=pytest.fail)
        self.bin = chunks[1][1]
        assert 0 <= len(self.bin) - self.json["buffers"][0]["byteLength"] < 4
        assert all(value != [] for value in self.json.values())
        self.names = [node["name"] for node in self.json["nodes"]]
        children = [child for node in self.json["nodes"] for child in node.get("children", [])]
        assert sorted([*children, *self.json["scenes"][0]["nodes"]]) == list(range(len(self.names)))
        for accessor in self.json["accessors"]:
            self.check(accessor)

    def check(self, accessor: dict[str, Any]) -> None:
        view = self.json["bufferViews"][accessor["bufferView"]]
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] + view["byteLength"] <= len(self.bin)
        kind = KINDS[accessor["componentType"]]
        assert view["byteLength"] == accessor["count"] * SIZES[accessor["type"]] * kind.itemsize

    def array(self, number: int) -> np.ndarray:
        accessor = self.json["accessors"][number]
        view = self.json["bufferViews"][accessor["bufferView"]]
        raw = self.bin[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        return np.frombuffer(raw, KINDS[accessor["componentType"]]).reshape(accessor["count"], -1)

    def local(self, node: dict[str, Any]) -> np.ndarray:
        x, y, z, w = node.get("rotation", [0, 0, 0, 1])
        assert x * x + y * y + z * z + w * w == pytest.approx(1.0, abs=1e-6)
        found = posed(rotation_from_quaternion(w, x, y, z), np.array(node.get("translation", [0, 0, 0])))
        found[:3, :3] *= np.array(node.get("scale", [1.0, 1.0, 1.0]))
        return found

    def world(self, changed: dict[int, dict[str, Any]] | None = None) -> dict[str, np.ndarray]:
        """4x4 of all nodes, in the scene's own axes, z up."""
        found: dict[str, np.ndarray] = {}
        waiting = [(number, np.linalg.inv(Y_UP)) for number in self.json["scenes"][0]["nodes"]]
        while waiting:
            number, above = waiting.pop()
            node = {**self.json["nodes"][number], **(changed or {}).get(number, {})}
            found[node["name"]] = above @ self.local(node)
            waiting += [(child, found[node["name"]]) for child in node.get("children", [])]
        return found

    def sampled(self, time: float) -> dict[int, dict[str, Any]]:
        """What the animation puts in place of nodes' entries at a time, as a player would."""
        found: dict[int, dict[str, Any]] = {}
        animation = self.json["animations"][0]
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times, keys = self.array(sampler["input"])[:, 0].astype(float), self.array(sampler["output"]).astype(float)
            assert (np.diff(times) > 0).all() and len(times) == len(keys)
            k = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 1))
            value = keys[k]
            if sampler["interpolation"] == "LINEAR" and k + 1 < len(times):
                share = np.clip((time - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0)
                value = (1 - share) * keys[k] + share * keys[k + 1]
                if channel["target"]["path"] == "rotation":
                    assert keys[k] @ keys[k + 1] >= 0.0
                    value = value / np.linalg.norm(value)
            found.setdefault(channel["target"]["node"], {})[channel["target"]["path"]] = value.tolist()
        return found


def matrix(pose: np.ndarray) -> np.ndarray:
    return posed(rotation_from_quaternion(*pose[3:]), pose[:3])


TILTED = (0.1, -0.2, 0.3, 0.8, 0.0, 0.6, 0.0)
IMAGE = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3) * 3


@pytest.fixture
def scene() -> Scene:
    plate = TriangleMesh(
        np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]),
        np.array([[0, 1, 2], [0, 2, 3]]),
        np.array([[0.0, 0], [3, 0], [3, 2], [0, 2]]),
    )
    return Scene(
        nodes=[
            Node("ground", shapes=(Shape("mesh", mesh=plate, material="floor", casts_shadow=False),)),
            Node("car", motion=Follows("car/pose"), shapes=(Shape("box", (0.4, 0.2, 0.1), TILTED, "paint"),)),
            Node(
                "car/wheel", "car", (0.2, 0.1, 0.0, *TILTED[3:]),
                (Shape("cylinder", (0.1, 0.05), material="paint"), Shape("sphere", (0.03,)), Shape("capsule", (1, 2))),
                Turns("car/wheel", (0.0, 1.0, 0.0), 1, -2.0, 0.25),
            ),
            Node("car/rail", "car", TILTED, (Shape("sphere", (0.03,)),), Slides("lift", (0.0, 0.0, 1.0), scale=0.5)),
            Node("plane", place=TILTED, motion=Follows("plane/pose"), shown_by="plane/there"),
            Node("plane/nose", "plane", TILTED, (Shape("sphere", (0.1,), material="glass"),)),
        ],
        materials={
            "floor": Material((1.0, 0.5, 1.0, 1.0), texture=IMAGE),
            "paint": Material((0.9, 0.2, 0.04, 1.0), roughness=0.3, metallic=0.5),
            "glass": Material((0.5, 0.5, 0.5, 0.25), two_sided=True),
        },
        actors=[Actor("car", "car", 0.5, "tank")],
    )  # fmt: skip


def motion(n: int = 9) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    times = 4.0 + np.linspace(0.0, 2.0, n)
    s = times - 4.0
    half = 0.4 * s
    pose = np.stack([s, -s, 0.1 * s, np.cos(half), 0 * s, np.sin(half), 0 * s], axis=1)
    values = {
        "car/pose": np.stack([s, 0.5 * s, 3.0 * s], axis=1),
        "car/wheel": np.stack([0 * s, 9.0 * s], axis=1),
        "lift": 0.2 * s,
        "plane/pose": pose,
        "plane/there": (s >= 0.5).astype(float),
    }
    return times, values


# --- places ------------------------------------------------------------------------------------------------------


def test_nodes_stand_where_the_scene_says(scene: Scene):
    reader = Reader(write_glb(scene))
    world = reader.world()
    assert reader.json["nodes"][0]["name"] == "world"
    np.testing.assert_allclose(Y_UP @ world["world"], Y_UP, atol=1e-15)
    poses = node_poses(scene, {})
    assert len(poses) == len(scene.nodes)
    for name, pose in poses.items():
        np.testing.assert_allclose(world[name], matrix(pose), atol=1e-12)
    np.testing.assert_allclose(world["car#0"], matrix(np.array(TILTED)), atol=1e-12)


def test_z_becomes_y(scene: Scene):
    """The tip of z, looked at by a viewer of glTF, is the tip of y."""
    np.testing.assert_array_equal(Y_UP @ [0.0, 0, 1, 1], [0.0, 1, 0, 1])
    x, y, z, w = Reader(write_glb(scene)).json["nodes"][0]["rotation"]
    np.testing.assert_allclose(rotation_from_quaternion(w, x, y, z) @ [0.0, 0, 1], [0.0, 1, 0], atol=1e-12)


def test_the_hierarchy_is_kept_and_described(scene: Scene):
    reader = Reader(write_glb(scene))
    parent = {child: node["name"] for node in reader.json["nodes"] for child in node.get("children", [])}
    for node in scene.nodes:
        assert parent[reader.names.index(node.name)] == (node.parent or "world")
    described = reader.json["scenes"][0]["extras"]["botz"]
    assert described == json.loads(json.dumps(scene.description() | {"layers": described_layers(scene)}))
    ground = reader.json["nodes"][reader.names.index("ground#0")]
    assert ground["extras"] == {"casts_shadow": False}


def test_trimesh_finds_the_same_bodies(scene: Scene):
    loaded = trimesh.load(BytesIO(write_glb(scene)), file_type="glb")
    there = {name.split("#")[0] for name in loaded.graph.nodes_geometry}
    assert there == {"ground", "car", "car/wheel", "car/rail", "plane/nose"}
    transform, geometry = loaded.graph["car#0"]
    np.testing.assert_allclose(transform, Y_UP @ matrix(np.array(TILTED)), atol=1e-6)
    box = loaded.geometry[geometry]
    np.testing.assert_allclose(box.extents, [0.4, 0.2, 0.1], atol=1e-6)
    assert box.is_volume or trimesh.Trimesh(box.vertices, box.faces, process=True).volume == pytest.approx(0.008)


# --- surfaces ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [
        Shape("box", (0.4, 0.2, 0.1)),
        Shape("cylinder", (0.3, 0.7)),
        Shape("sphere", (0.3,)),
        Shape("capsule", (0.1, 0.5)),
        Shape("mesh", mesh=lathe([(0, -1), (0.5, -1), (0.5, 0.8), (0.4, 1), (0, 1)])),
    ],
    ids=lambda shape: shape.kind,
)
def test_surfaces_are_closed_with_normals_outwards(shape: Shape):
    """Volumes come near those of the round shapes, and each normal leans to its faces' side."""
    surface = tessellated(shape)
    body = trimesh.Trimesh(surface.positions, surface.faces, process=True, merge_norm=True, merge_tex=True)
    assert body.is_watertight and body.is_winding_consistent
    expected = {
        "box": 0.008,
        "cylinder": pi * 0.3**2 * 0.7,
        "sphere": 4 / 3 * pi * 0.3**3,
        "capsule": pi * 0.1**2 * 0.5 + 4 / 3 * pi * 0.1**3,
        "mesh": pi * (0.25 * 1.8 + (0.25 + 0.2 + 0.16) / 3 * 0.2),
    }[shape.kind]
    assert 0.97 * expected < body.volume <= expected * (1 + 1e-9)
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1.0, atol=1e-12)
    a, b, c = (surface.positions[surface.faces[:, k]] for k in range(3))
    flat = np.cross(b - a, c - a)
    for corner in range(3):
        assert (np.einsum("ij,ij->i", flat, surface.normals[surface.faces[:, corner]]) > 0).all()


def test_a_ball_has_the_normals_of_a_ball():
    surface = tessellated(Shape("sphere", (0.3,)))
    np.testing.assert_allclose(surface.positions, 0.3 * surface.normals, atol=1e-12)


def test_soft_edges_share_normals_and_sharp_ones_do_not():
    box = trimesh.creation.box()
    assert len(creased(box.vertices, box.faces).vertices) == 24
    assert len(creased(box.vertices, box.faces, crease=pi).vertices) == 8
    tube = lathe([(0.0, 0.0), (1.0, 0.0), (1.0, 2.0), (0.0, 2.0)])
    normals = tessellated(Shape("mesh", mesh=tube)).normals
    assert (np.isclose(np.abs(normals[:, 2]), 1.0) | np.isclose(normals[:, 2], 0.0)).all()


def test_bounds_and_indices_are_those_of_the_numbers(scene: Scene):
    reader = Reader(write_glb(scene))
    for mesh in reader.json["meshes"]:
        for part in mesh["primitives"]:
            accessor = reader.json["accessors"][part["attributes"]["POSITION"]]
            points = reader.array(part["attributes"]["POSITION"])
            assert accessor["min"] == points.min(axis=0).tolist() and accessor["max"] == points.max(axis=0).tolist()
            assert reader.array(part["indices"]).max() == len(points) - 1
            assert reader.json["accessors"][part["attributes"]["NORMAL"]]["count"] == len(points)


def test_many_vertices_need_long_indices():
    side = np.linspace(0.0, 1.0, 300)
    x, y = np.meshgrid(side, side)
    corner = (np.arange(299)[:, None] * 300 + np.arange(299)).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + 1, corner + 301], 1), np.stack([corner, corner + 301, corner + 300], 1)]
    )
    mesh = TriangleMesh(np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1), faces, smooth=True)
    reader = Reader(write_glb(Scene([Node("hill", shapes=(Shape("mesh", mesh=mesh),))])))
    part = reader.json["meshes"][0]["primitives"][0]
    assert reader.json["accessors"][part["indices"]]["componentType"] == 5125
    np.testing.assert_array_equal(reader.array(part["indices"]).ravel(), faces.ravel())


def test_what_looks_the_same_is_stored_once():
    wheels = [Node(f"wheel_{k}", shapes=(Shape("cylinder", (0.1, 0.05), material="m"),)) for k in range(50)]
    one, many = (write_glb(Scene(wheels[:k], {"m": Material()})) for k in (1, 50))
    assert len(Reader(many).json["meshes"]) == 1
    assert len(Reader(many).bin) == len(Reader(one).bin)


# --- materials ---------------------------------------------------------------------------------------------------


def test_materials_and_their_texture(scene: Scene):
    reader = Reader(write_glb(scene))
    found = {one["name"]: one for one in reader.json["materials"]}
    paint = found["paint"]["pbrMetallicRoughness"]
    # IEC 61966-2-1: half of the screen's brightness is 0.2140 of the light.
    assert paint["baseColorFactor"] == pytest.approx([linear(0.9), linear(0.2), 0.04 / 12.92, 1.0])
    assert linear(0.5) == pytest.approx(0.21404, abs=1e-5)
    assert (paint["roughnessFactor"], paint["metallicFactor"]) == (0.3, 0.5)
    assert "alphaMode" not in found["paint"] and "doubleSided" not in found["paint"]
    assert found["glass"]["alphaMode"] == "BLEND" and found["glass"]["doubleSided"]
    texture = reader.json["textures"][found["floor"]["pbrMetallicRoughness"]["baseColorTexture"]["index"]]
    image = reader.json["images"][texture["source"]]
    view = reader.json["bufferViews"][image["bufferView"]]
    decoded = Image.open(BytesIO(reader.bin[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]))
    np.testing.assert_array_equal(np.asarray(decoded), IMAGE)


def test_textures_lie_the_right_way_up(scene: Scene):
    """(0, 0) of ours is the lower left of the picture, of glTF the upper left."""
    reader = Reader(write_glb(scene))
    number = reader.json["nodes"][reader.names.index("ground#0")]["mesh"]
    attributes = reader.json["meshes"][number]["primitives"][0]["attributes"]
    points, uv = reader.array(attributes["POSITION"]), reader.array(attributes["TEXCOORD_0"])
    lower_left = np.flatnonzero((points[:, :2] == [-1, -1]).all(axis=1))
    np.testing.assert_allclose(uv[lower_left], [[0.0, 1.0]] * len(lower_left))
    upper_right = np.flatnonzero((points[:, :2] == [1, 1]).all(axis=1))
    np.testing.assert_allclose(uv[upper_right], [[3.0, -1.0]] * len(upper_right))


# --- motion ------------------------------------------------------------------------------------------------------


def test_keys_are_the_poses_of_the_run(scene: Scene):
    times, values = motion()
    reader = Reader(write_animated_glb(scene, times, values))
    for k, time in enumerate(times):
        poses = node_poses(scene, {name: rows[k] for name, rows in values.items()})
        world = reader.world(reader.sampled(time - times[0]))
        for node in scene.nodes:
            if node.name in poses:
                np.testing.assert_allclose(world[node.name], matrix(poses[node.name]), atol=1e-6)
            else:
                np.testing.assert_array_equal(world[node.name][:3, :3], 0.0)


def test_a_fast_wheel_goes_round_as_often_as_it_did(scene: Scene):
    """Between two times it turns by 4.5 rad: without keys between them a player would turn it the other way."""
    times, values = motion()
    reader = Reader(write_animated_glb(scene, times, values))
    number = reader.names.index("car/wheel")
    turned = 0.0
    previous = None
    for time in np.linspace(0.0, 2.0, 401):
        x, y, z, w = reader.sampled(time)[number]["rotation"]
        now = rotation_from_quaternion(w, x, y, z)
        if previous is not None:
            step = previous.T @ now
            turned += np.arctan2((step[0, 2] - step[2, 0]) / 2, (np.trace(step) - 1) / 2)
        previous = now
    assert turned == pytest.approx(-2.0 * 9.0 * 2.0, abs=1e-3)


def test_what_does_not_move_has_no_keys(scene: Scene):
    times, values = motion()
    values["lift"] = np.full(len(times), 0.4)
    reader = Reader(write_animated_glb(scene, times, values))
    moving = {reader.names[one["target"]["node"]] for one in reader.json["animations"][0]["channels"]}
    assert moving == {"car", "car/wheel", "plane"}
    rest = node_poses(scene, {"lift": values["lift"][0]})["car/rail"]
    np.testing.assert_allclose(reader.world()["car/rail"], matrix(rest), atol=1e-12)


def test_a_channel_that_was_not_recorded_leaves_its_node_at_rest(scene: Scene):
    times, values = motion()
    del values["car/wheel"], values["plane/there"]
    reader = Reader(write_animated_glb(scene, times, values))
    moving = {reader.names[one["target"]["node"]] for one in reader.json["animations"][0]["channels"]}
    assert moving == {"car", "car/rail", "plane"}


def test_trimesh_reads_what_moves(scene: Scene):
    loaded = trimesh.load(BytesIO(write_animated_glb(scene, *motion())), file_type="glb")
    assert "car#0" in loaded.graph.nodes_geometry


@pytest.mark.parametrize("times", [[], [0.0, 0.0], [1.0, 0.5], [1e9, 1e9 + 0.1]])
def test_times_must_rise(scene: Scene, times: list[float]):
    with pytest.raises(ValueError, match="times"):
        write_animated_glb(scene, times, {})


def test_one_time_is_a_picture(scene: Scene):
    _, values = motion()
    reader = Reader(write_animated_glb(scene, [3.0], {name: rows[:1] for name, rows in values.items()}))
    assert "animations" not in reader.json
