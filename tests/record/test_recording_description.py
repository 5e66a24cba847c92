"""Robots in recordings, seen by a reader that knows URDF and tf2 and nothing of Botz."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import botz
from botz.models.robot_model import ModelShape
from botz.scenario.load import load
from botz.scene.build import descriptions_of
from botz.scene.primitives import common_solids, enclosing
from botz.scene.world_scene import TriangleMesh

SCENARIOS = ["vivi-rough", "wheeled-parade", "soccer", "titan4-pick", "lophorina-tilt", "vivi-multibody"]


def messages_of(folder: Path) -> dict[str, list]:
    reader = pytest.importorskip("mcap.reader")
    decoder = pytest.importorskip("mcap_ros2.decoder")
    found: dict[str, list] = {}
    with (folder / "recording.mcap").open("rb") as file:
        decoded = reader.make_reader(file, decoder_factories=[decoder.DecoderFactory()])
        for _, channel, _, message in decoded.iter_decoded_messages():
            found.setdefault(channel.topic, []).append(message)
    return found


# --- URDF and tf2 by the book ----------------------------------------------------------------------------------


def about(axis, angle: float) -> np.ndarray:
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def matrix(rotation: np.ndarray, position) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def numbers(text: str) -> np.ndarray:
    return np.array([float(word) for word in text.split()])


def forward(urdf: str, positions: dict[str, float]) -> dict[str, np.ndarray]:
    """Pose of every link in the root's frame."""
    robot = ET.fromstring(urdf.encode())
    links = [link.get("name") for link in robot.findall("link")]
    joints = robot.findall("joint")
    assert len(set(links)) == len(links)
    assert len({joint.get("name") for joint in joints}) == len(joints) == len(links) - 1
    children = {joint.find("child").get("link") for joint in joints}
    [root] = [link for link in links if link not in children]
    poses = {root: np.eye(4)}
    waiting = list(joints)
    while waiting:
        joint = next(one for one in waiting if one.find("parent").get("link") in poses)
        waiting.remove(joint)
        origin = joint.find("origin")
        pose = np.eye(4)
        if origin is not None:
            roll, pitch, yaw = numbers(origin.get("rpy", "0 0 0"))
            turn = about((0, 0, 1), yaw) @ about((0, 1, 0), pitch) @ about((1, 0, 0), roll)
            pose = matrix(turn, numbers(origin.get("xyz", "0 0 0")))
        if joint.get("type") not in ("fixed", "floating"):
            axis, value = numbers(joint.find("axis").get("xyz")), positions[joint.get("name")]
            slides = joint.get("type") == "prismatic"
            pose = pose @ (matrix(np.eye(3), value * axis) if slides else matrix(about(axis, value), np.zeros(3)))
        poses[joint.find("child").get("link")] = poses[joint.find("parent").get("link")] @ pose
    return poses


def matrix_of(transform) -> np.ndarray:
    r, t = transform.rotation, transform.translation
    size = np.linalg.norm([r.x, r.y, r.z])
    axis = np.array([r.x, r.y, r.z]) / size if size else np.array([0.0, 0.0, 1.0])
    return matrix(about(axis, 2 * np.arctan2(size, r.w)), [t.x, t.y, t.z])


def frames_of(*messages) -> dict[str, np.ndarray]:
    """World pose of every frame; each has one parent."""
    transforms = [one for message in messages for one in message.transforms]
    above = {one.child_frame_id: (one.header.frame_id, matrix_of(one.transform)) for one in transforms}
    assert len(above) == len(transforms)

    def pose(frame: str) -> np.ndarray:
        if frame == "world":
            return np.eye(4)
        parent, local = above[frame]
        return pose(parent) @ local

    return {frame: pose(frame) for frame in above}


# --- the checks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_forward_kinematics_of_the_urdf_gives_the_transforms(scenario, tmp_path):
    rec = botz.simulate(scenario, overrides={"time.duration": 0.1, "record.snapshots": 0.0}, out=tmp_path)
    topics = messages_of(tmp_path)
    robots = [topic.split("/")[1] for topic in topics if topic.count("/") == 2 and topic.endswith("/robot_description")]
    assert robots
    assert len(topics["/tf"]) == len(rec.steps())
    fixed = topics.get("/tf_static", [])
    all_links = set(forward(topics["/robot_description"][0].data, dict_of_any()))
    for k in (0, len(topics["/tf"]) - 1):
        frames = frames_of(*fixed, topics["/tf"][k])
        assert all_links - {"world"} <= set(frames)
        for robot in robots:
            states = topics.get(f"/{robot}/joint_states")
            positions = dict(zip(states[k].name, states[k].position, strict=True)) if states else {}
            links = forward(topics[f"/{robot}/robot_description"][0].data, positions)
            assert set(links) <= all_links
            for link, pose in links.items():
                np.testing.assert_allclose(
                    np.linalg.inv(frames[robot]) @ frames[link], pose, rtol=0, atol=1e-9, err_msg=f"{link} at {k}"
                )
    for robot in robots:
        # An arm's own kinematics know nothing of its drawing.
        if f"{robot}/tool/pose" in rec.channels.slices:
            x, y, z, qw, qx, qy, qz = rec[f"{robot}/tool/pose"][-1]
            size = np.linalg.norm([qx, qy, qz])
            turn = about(np.array([qx, qy, qz]) / size, 2 * np.arctan2(size, qw))
            np.testing.assert_allclose(frames[f"{robot}/tool"], matrix(turn, (x, y, z)), rtol=0, atol=1e-9)


class dict_of_any(dict):
    """Every joint at 0."""

    def __missing__(self, key):
        return 0.0


def test_a_sensor_of_a_tilted_rotor_stands_where_mujoco_has_it(tmp_path):
    name = "lophorina"
    [described] = descriptions_of(load("lophorina-tilt").spec)
    parents = {joint.parent for joint in described.model.joints.values()}
    moving = [described.model.joints[key] for key in described.motions]
    link = next(joint.child for joint in moving if joint.child not in parents and joint.parent != name)
    pose = [0.03, -0.02, 0.01, 0.2, -0.4, 1.1]
    sensors = {
        "truth": {"type": "pose", "link": link.removeprefix(f"{name}/"), "pose": pose, "rate": 100.0},
        "imu": {"type": "imu", "link": link.removeprefix(f"{name}/"), "pose": pose, "rate": 100.0},
    }
    settings = {"time.duration": 0.5, "record.rate": 100.0, f"robots.{name}.sensors": sensors}
    rec = botz.simulate("lophorina-tilt", overrides=settings, out=tmp_path)
    topics = messages_of(tmp_path)
    assert topics[f"/{name}/imu"][0].header.frame_id == f"{name}/imu/sensor"
    moved = set()
    for k in (0, 20, len(topics["/tf"]) - 1):
        frame = frames_of(*topics["/tf_static"], topics["/tf"][k])[f"{name}/imu/sensor"]
        x, y, z, qw, qx, qy, qz = rec[f"{name}/truth/pose"][k]
        size = np.linalg.norm([qx, qy, qz])
        turn = about(np.array([qx, qy, qz]) / size, 2 * np.arctan2(size, qw))
        np.testing.assert_allclose(frame, matrix(turn, (x, y, z)), rtol=0, atol=1e-9)
        moved.add(round(float(frame[0, 0]), 6))
    assert len(moved) > 1


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_another_parser_takes_the_descriptions(scenario):
    pinocchio = pytest.importorskip("pinocchio")
    from botz.scene.robot_description import urdf_of_all

    descriptions = descriptions_of(load(scenario).spec)
    together = pinocchio.buildModelFromXML(urdf_of_all(descriptions))
    for one in descriptions:
        model = pinocchio.buildModelFromXML(one.urdf())
        assert model.njoints == len(one.motions) + 1
        assert all(together.existBodyName(link) for link in one.model.links)
        assert any(link.shapes for link in one.model.links.values())
        assert all(shape.kind != "capsule" for link in one.model.links.values() for shape in link.shapes)


def test_links_whose_robot_is_not_recorded_are_left_out(tmp_path):
    settings = {"time.duration": 0.02, "record.channels": ["ball/*", "blue0/*"], "record.rate": 100.0}
    botz.simulate("soccer-five", overrides=settings, out=tmp_path)
    topics = messages_of(tmp_path)
    assert [topic for topic in topics if topic.endswith("robot_description")] == [
        "/blue0/robot_description",
        "/robot_description",
    ]
    links = set(forward(topics["/robot_description"][0].data, dict_of_any()))
    assert links == {"world", "ball", "blue0", "blue0/left", "blue0/right"}


def test_the_smallest_solid_around_a_mesh():
    rng = np.random.default_rng(4)
    turn = about(np.array([0.6, 0.0, 0.8]), 0.7)
    faces = np.array([[0, 1, 2]])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-0.5, 0.5)], dtype=float)
    box = enclosing(TriangleMesh(corners @ turn.T + [1.0, 2.0, 3.0], faces))
    assert box.kind == "box"
    np.testing.assert_allclose(sorted(box.size), [1.0, 2.0, 4.0], atol=1e-9)
    np.testing.assert_allclose(box.pose[:3, 3], [1.0, 2.0, 3.0], atol=1e-9)
    angle = np.linspace(0.0, 2 * np.pi, 60, endpoint=False)
    rings = [np.stack([0.3 * np.cos(angle), np.full(60, y), 0.3 * np.sin(angle)], axis=1) for y in (-0.1, 0.1)]
    wheel = enclosing(TriangleMesh(np.concatenate(rings), faces))
    assert (wheel.kind, wheel.size) == ("cylinder", pytest.approx((0.3, 0.2)))
    np.testing.assert_allclose(np.abs(wheel.pose[:3, 2]), [0, 1, 0], atol=1e-12)
    for points in (rng.normal(size=(40, 3)), corners * [1.0, 1.0, 0.0]):
        solid = enclosing(TriangleMesh(points, faces))
        own = (points - solid.pose[:3, 3]) @ solid.pose[:3, :3]
        assert np.linalg.det(solid.pose[:3, :3]) == pytest.approx(1.0)
        if solid.kind == "box":
            assert np.all(np.abs(own) <= 0.5 * np.array(solid.size) + 1e-9)
        else:
            assert np.all(np.hypot(own[:, 0], own[:, 1]) <= solid.size[0] + 1e-9)
            assert np.all(np.abs(own[:, 2]) <= 0.5 * solid.size[1] + 1e-9)


def test_what_urdf_has_no_word_for():
    capsule = list(common_solids(ModelShape("capsule", (0.1, 0.4))))
    assert [one.kind for one in capsule] == ["cylinder", "sphere", "sphere"]
    assert [one.pose[2, 3] for one in capsule] == [0.0, -0.2, 0.2]
    [ball] = common_solids(ModelShape("ellipsoid", (1.0, 2.0, 4.0)))
    assert (ball.kind, ball.size) == ("sphere", pytest.approx((2.0,)))
    assert not list(common_solids(ModelShape("plane")))
