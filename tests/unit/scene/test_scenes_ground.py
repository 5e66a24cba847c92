"""Scenes of wheeled robots, vehicles and soccer: they name channels that exist, and what they draw is where the
engines say that it is."""

from __future__ import annotations

from functools import cache
from math import cos, pi, tan
from typing import Any

import numpy as np
import pytest

import botz
from botz.control.wheeled.capability import Motion, capability_of
from botz.engines.vehicle.model import RIM_BLEND
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics.schema import (
    CastorWheel,
    FixedWheel,
    KinematicsScenario,
    SteeredWheel,
    Support,
    SwedishWheel,
)
from botz.scenario.library import names
from botz.scenario.soccer.schema import SoccerScenario
from botz.scenario.vehicle.schema import VehicleScenario
from botz.scene.build import scene_of
from botz.scene.ground import kept_lines
from botz.scene.kinematics.scene import hands_of
from botz.scene.lab_layers import described_layers
from botz.scene.lens import Lens
from botz.scene.shapes import SIDES, prism, turned
from botz.scene.world_scene import Follows, Scene, Shape, node_poses, rotated
from botz.transforms import rotation_from_quaternion

FAMILIES = (KinematicsScenario, VehicleScenario, SoccerScenario)
SETTLED = {"drop-test": 4.0}
"""How long a scenario runs before its wheels are looked at [s]; most stand on the ground from the start."""


@cache
def spec_of(name: str) -> Any:
    return botz.load(name).spec


def of(*families: type) -> list[str]:
    return [name for name in names("scenario") if isinstance(spec_of(name), families)]


@cache
def scene_named(name: str) -> Scene:
    return scene_of(spec_of(name))


@cache
def moments(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of all channels in the middle of things, and 2 ms later."""
    simulation, step = botz.Simulation(name), spec_of(name).time.step
    first = simulation.step(n=max(1, round(SETTLED.get(name, 0.5) / step)))
    return first, simulation.step(n=max(1, round(0.002 / step)))


@cache
def engine_channels(name: str) -> dict[str, int]:
    return {channel.name: max(1, len(channel.components)) for channel in botz.Simulation(name).channels}


def vertices_of(shape: Shape) -> np.ndarray:
    """Points of a shape in its node: corners, of round ones enough of them."""
    angle = np.linspace(0.0, 2.0 * pi, 64, endpoint=False)
    match shape.kind:
        case "mesh":
            assert shape.mesh is not None
            points = shape.mesh.vertices
        case "box":
            points = 0.5 * np.array(shape.size) * np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
        case "cylinder":
            r, length = shape.size
            points = np.concatenate(
                [np.stack([r * np.cos(angle), r * np.sin(angle), np.full(64, z)], 1) for z in (-length / 2, length / 2)]
            )
        case "sphere":
            points = shape.size[0] * np.concatenate([np.eye(3), -np.eye(3)])
        case _:
            raise AssertionError(shape.kind)
    return points @ rotation_from_quaternion(*shape.place[3:]).T + np.array(shape.place[:3])


def lowest(scene: Scene, poses: dict[str, np.ndarray], name: str) -> float:
    node = next(node for node in scene.nodes if node.name == name)
    pose = poses[name]
    points = np.concatenate([vertices_of(shape) for shape in node.shapes])
    return float((points @ rotation_from_quaternion(*pose[3:]).T)[:, 2].min() + pose[2])


def shift_of_touching_point(before: np.ndarray, after: np.ndarray, down: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far the wheel's material point at `down` from its centre moves, and its centre."""
    own = rotation_from_quaternion(*before[3:]).T @ down
    moved = after[:3] + rotation_from_quaternion(*after[3:]) @ own
    return moved - (before[:3] + down), after[:3] - before[:3]


# --- every scene -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", of(*FAMILIES))
def test_scene_is_whole(name: str) -> None:
    scene = scene_named(name)
    known: set[str] = set()
    for node in scene.nodes:
        assert node.name not in known
        assert node.parent is None or node.parent in known
        known.add(node.name)
        for shape in node.shapes:
            assert shape.material in scene.materials
            assert all(size > 0 for size in shape.size)
            if shape.mesh is not None:
                assert np.isfinite(shape.mesh.vertices).all()
                assert shape.mesh.faces.min() >= 0 and shape.mesh.faces.max() < len(shape.mesh.vertices)
                textured = scene.materials[shape.material].texture is not None
                assert not textured or shape.mesh.uv is not None
    assert {actor.name for actor in scene.actors} == set(spec_of(name).robots)
    assert {actor.node for actor in scene.actors} <= known
    assert scene.radius > 2.0 * max(actor.size for actor in scene.actors)


@pytest.mark.parametrize("name", of(*FAMILIES))
def test_channels_are_the_engines(name: str) -> None:
    scene, channels = scene_named(name), engine_channels(name)
    for node in scene.nodes:
        if isinstance(node.motion, Follows):
            assert channels[node.motion.channel] in (3, 7)
        elif node.motion is not None:
            assert node.motion.component < channels[node.motion.channel]
        assert node.shown_by is None or channels[node.shown_by] == 1
    widths = {"contact": 3, "normal": 3, "load": 1, "force": 2, "channel": 2}
    for indicator in scene.indicators:
        for key, value in vars(indicator).items():
            if key in widths:
                assert channels[value] == widths[key]
            elif key == "twist":
                assert channels[value] in (3, 6)
            elif key == "node":
                assert any(node.name == value for node in scene.nodes)
    assert all(set(layer["channels"]) <= channels.keys() for layer in described_layers(scene))


@pytest.mark.parametrize("name", of(*FAMILIES))
def test_start_view_shows_the_robots(name: str) -> None:
    scene = scene_named(name)
    poses = node_poses(scene, botz.Simulation(name).values())
    for actor in scene.actors:
        away = np.linalg.norm(poses[actor.node][:2] - np.array(scene.centre[:2]))
        assert away < 1.5 * scene.radius


# --- wheeled robots ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", of(KinematicsScenario))
def test_wheels_of_wheeled_robots_stand_on_the_plane(name: str) -> None:
    scene, spec = scene_named(name), spec_of(name)
    poses = node_poses(scene, moments(name)[0])
    for robot, placed in spec.robots.items():
        for wheel_name, wheel in placed.wheels.items():
            height = lowest(scene, poses, f"{robot}/{wheel_name}")
            # A circle of SIDES corners lacks at most r (1 − cos(π/SIDES)) below; rollers have 16 sides.
            lack = wheel.radius * (1.0 - cos(pi / SIDES))
            if isinstance(wheel, SwedishWheel):
                lack += 0.06 * wheel.roller_radius
            assert -1e-9 <= height <= lack + 1e-9


@pytest.mark.parametrize("name", of(KinematicsScenario))
def test_wheels_of_wheeled_robots_roll(name: str) -> None:
    """Without slip, the point of a wheel that touches the ground stands still; were it to turn the other way, it would
    move twice as far as the wheel."""
    scene, spec = scene_named(name), spec_of(name)
    before, after = (node_poses(scene, values) for values in moments(name))
    checked = 0
    for robot, placed in spec.robots.items():
        for wheel_name, wheel in placed.wheels.items():
            if not isinstance(wheel, FixedWheel | SteeredWheel | CastorWheel | SwedishWheel):
                continue
            part = f"{robot}/{wheel_name}"
            down = np.array([0.0, 0.0, -wheel.radius])
            slid, went = shift_of_touching_point(before[part], after[part], down)
            if np.linalg.norm(went) < 1e-5:
                continue
            along = went
            if isinstance(wheel, SwedishWheel):  # its rollers give way across their axes
                heading = wheel.heading + wheel.roller_angle
                along = np.array(rotated(before[robot], np.cos(heading), np.sin(heading), 0.0))
                slid = np.array([slid @ along, 0.0, 0.0])
            slip = 0.002 * float(np.linalg.norm(np.ravel(moments(name)[0][f"{part}/slip"])))
            assert np.linalg.norm(slid) < 0.15 * np.linalg.norm(went) + 1.5 * slip
            checked += 1
    assert checked > 0


@pytest.mark.parametrize("name", of(KinematicsScenario))
def test_wheels_stand_where_the_robot_has_them(name: str) -> None:
    scene, spec = scene_named(name), spec_of(name)
    values = moments(name)[0]
    poses = node_poses(scene, values)
    for robot, placed in spec.robots.items():
        x, y, heading = values[f"{robot}/pose"]
        turn = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
        for wheel_name, wheel in placed.wheels.items():
            place = np.array(wheel.position)
            if isinstance(wheel, CastorWheel):
                psi = wheel.heading + float(values[f"{robot}/{wheel_name}/steering"])
                place = place + wheel.offset * np.array([np.cos(psi), np.sin(psi)])
            at = poses[f"{robot}/{wheel_name}"]
            assert at[:2] == pytest.approx(turn @ place + [x, y], abs=1e-12)
            assert at[2] == pytest.approx(0.0 if isinstance(wheel, Support) else wheel.radius)


def wheeled_robots() -> list[str]:
    from botz.scenario.library import library_folder

    texts = {
        name: (library_folder() / "robots" / f"{name}.yaml").read_text(encoding="utf-8") for name in names("robot")
    }
    return [name for name, text in texts.items() if "engine: kinematics" in text or "extends: differential" in text]


@pytest.mark.parametrize("robot", wheeled_robots())
def test_hands_follow_what_a_robot_can_do(robot: str, tmp_path: Any) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(f"engine: kinematics\nrobots: {{one: {{extends: {robot}}}}}\n", encoding="utf-8")
    placed = botz.load(file).spec.robots["one"]
    capability = capability_of(WheeledRobotModel(placed))
    omni = capability is not None and capability.motion in (Motion.HOLONOMIC, Motion.TRANSLATE)
    assert hands_of(placed) == ("omni" if omni else "planar")


# --- vehicles ----------------------------------------------------------------------------------------------


def drawn_height(scene: Scene, x: float, y: float) -> float:
    """Of the terrain's mesh, between its points."""
    mesh = next(node for node in scene.nodes if node.name == "ground").shapes[0].mesh
    assert mesh is not None
    vertices = mesh.vertices
    xs, ys = np.unique(vertices[:, 0]), np.unique(vertices[:, 1])
    if len(vertices) != len(xs) * len(ys) or len(vertices) == 4:
        return float(vertices[0, 2])
    heights = vertices[:, 2].reshape(len(xs), len(ys))
    along = [np.interp(y, ys, row) for row in heights]
    return float(np.interp(x, xs, along))


@pytest.mark.parametrize("name", of(VehicleScenario))
def test_wheels_of_vehicles_stand_on_their_contacts(name: str) -> None:
    """A wheel's contact is on its circle, seen from where the wheel is drawn, and on the ground that is drawn."""
    scene, spec = scene_named(name), spec_of(name)
    values = moments(name)[0]
    poses = node_poses(scene, values)
    slice_angle = pi / spec.world.contact.slices
    checked = 0
    for robot, placed in spec.robots.items():
        for wheel_name, wheel in placed.wheels.items():
            part = f"{robot}/{wheel_name}"
            if values[f"{part}/load"] <= 0.0:
                continue
            checked += 1
            centre = poses[f"{part}/carrier"]
            contact = np.array(values[f"{part}/contact"])
            forward, side, up = rotation_from_quaternion(*centre[3:]).T @ (contact - centre[:3])
            # Contacts are those of the step before: the body has moved on by at most this.
            stale = spec.time.step * float(np.linalg.norm(values[f"{robot}/twist"]))
            blend = RIM_BLEND * wheel.width + stale
            assert abs(side) <= 0.5 * wheel.width + stale
            # Between two rims whose slices are neighbours the contact lies on the chord.
            assert wheel.radius * cos(slice_angle) - blend <= np.hypot(forward, up) <= wheel.radius + blend
            assert contact[2] == pytest.approx(drawn_height(scene, contact[0], contact[1]), abs=0.003)
    assert checked > 0


@pytest.mark.parametrize("name", ["skid-circle", "drop-test"])
def test_wheels_of_vehicles_touch_level_ground(name: str) -> None:
    scene, spec = scene_named(name), spec_of(name)
    values = moments(name)[0]
    poses = node_poses(scene, values)
    for robot, placed in spec.robots.items():
        for wheel_name, wheel in placed.wheels.items():
            part = f"{robot}/{wheel_name}"
            assert values[f"{part}/load"] > 0.0
            # Below: a tilted wheel of one rim comes down beside it, and slices and rims stand for a circle. Above: the
            # flat tops of lugs, 18 in each of two rows, lack r (1 − cos 0.28·2π/18) in their middle.
            tilt = abs(float(rotated(poses[robot], 0.0, 1.0, 0.0)[2]))
            below = wheel.radius * (1.0 - cos(pi / spec.world.contact.slices)) + RIM_BLEND * wheel.width
            below += 0.5 * wheel.width * tan(tilt)
            lack = wheel.radius * (1.0 - cos(0.28 * 2.0 * pi / 18)) + RIM_BLEND * wheel.width
            lack += 0.5 * wheel.width * tan(tilt)
            assert -below <= lowest(scene, poses, part) <= lack


@pytest.mark.parametrize("name", [name for name in of(VehicleScenario) if name not in ("drop-test",)])
def test_wheels_of_vehicles_turn_forwards(name: str) -> None:
    """With little slip, the point that touches the ground moves much less than the wheel."""
    scene, spec = scene_named(name), spec_of(name)
    before, after = (node_poses(scene, values) for values in moments(name))
    values = moments(name)[0]
    for robot, placed in spec.robots.items():
        for wheel_name in placed.wheels:
            part = f"{robot}/{wheel_name}"
            contact = np.array(values[f"{part}/contact"])
            slid, went = shift_of_touching_point(before[part], after[part], contact - before[part][:3])
            ahead = np.array(rotated(before[robot], 1.0, 0.0, 0.0))
            slip = 0.002 * abs(float(values[f"{part}/slip_speed"][0]))
            assert went @ ahead > 2e-5  # it drives forwards
            assert abs(slid @ ahead) < 0.4 * (went @ ahead) + 1.5 * slip


@pytest.mark.parametrize("name", of(VehicleScenario))
def test_deflection_lifts_the_wheel_along_the_chassis(name: str) -> None:
    scene, spec = scene_named(name), spec_of(name)
    values = moments(name)[0]
    poses = node_poses(scene, values)
    for robot, placed in spec.robots.items():
        for wheel_name, wheel in placed.wheels.items():
            part = f"{robot}/{wheel_name}"
            deflection = float(values[f"{part}/deflection"])
            x, y, z = wheel.position
            at = poses[robot][:3] + np.array(rotated(poses[robot], x, y, z + deflection))
            assert poses[part][:3] == pytest.approx(at, abs=1e-12)


def test_lines_of_an_edge_are_kept() -> None:
    """1001 lines thinned to 50: the two between which a step rises are among them."""
    place = np.linspace(0.0, 10.0, 1001)
    heights = np.where(place > 4.005, 0.5, 0.0)[:, None] * np.ones((1, 3))
    kept = kept_lines(heights, place, 50, None)
    assert len(kept) <= 50 and kept[0] == 0 and kept[-1] == 1000
    assert {400, 401} <= set(kept.tolist())
    assert np.diff(kept).max() <= 60


# --- soccer ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", of(SoccerScenario))
def test_soccer_robots_roll_on_the_field(name: str) -> None:
    scene, spec = scene_named(name), spec_of(name)
    values, later = moments(name)
    before, after = node_poses(scene, values), node_poses(scene, later)
    for robot, placed in spec.robots.items():
        if values[f"{robot}/playing"] < 0.5:
            continue
        for part in ("left", "right"):
            wheel = getattr(placed.wheels, part)
            node = f"{robot}/{part}"
            assert 0.0 <= lowest(scene, before, node) + 1e-9 <= wheel.radius * (1.0 - cos(pi / SIDES)) + 2e-9
            slid, went = shift_of_touching_point(before[node], after[node], np.array([0.0, 0.0, -wheel.radius]))
            jumped = np.linalg.norm(went) > 0.02
            ahead = np.array(rotated(before[robot], 1.0, 0.0, 0.0))
            if not jumped and abs(went @ ahead) > 2e-4:
                assert abs(slid @ ahead) < 0.4 * abs(went @ ahead)
    assert before["ball"][:2] == pytest.approx(values["ball/pose"][:2])
    assert lowest(scene, before, "ball") == pytest.approx(0.0, abs=1e-12)


def test_robots_out_of_play_are_hidden() -> None:
    scene = scene_named("soccer")
    values = dict(botz.Simulation("soccer").values())
    assert "blue1/left" in node_poses(scene, values)
    values["blue1/playing"] = np.array(0.0)
    poses = node_poses(scene, values)
    assert "blue1" not in poses and "blue1/left" not in poses and "blue0" in poses


@pytest.mark.parametrize("name", of(SoccerScenario))
def test_field_camera_sees_what_the_scenarios_camera_sees(name: str) -> None:
    """A point of the field is at the same place of the image, by the page's rules (−z ahead, y up) and the lens'."""
    settings = spec_of(name).links.camera
    camera = next(camera for camera in scene_named(name).cameras if camera.name == "field")
    lens = Lens.of(settings.model_copy(update={"distortion": 0.0}))
    width, rows = settings.size
    for point in ((0.0, 0.0, 0.0), (0.4, 0.2, 0.0), (-0.5, 0.3, 0.07)):
        x, y, z = rotation_from_quaternion(*camera.place[3:]).T @ (np.array(point) - np.array(camera.place[:3]))
        half = 0.5 * rows / tan(0.5 * camera.vertical_view)  # pixels for a slope of 1
        u, v = 0.5 * (width - 1) + half * x / -z, 0.5 * (rows - 1) - half * y / -z
        assert (u, v) == pytest.approx(lens.pixel(*point[:2], height=point[2]), abs=1e-6)


# --- solids ------------------------------------------------------------------------------------------------


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    """By the divergence theorem: positive where triangles are counter-clockwise seen from outside."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.sum(np.cross(a, b) * c) / 6.0)


def test_solids_have_their_outside_outside() -> None:
    ring = turned(
        [[(2.0, -1.0), (2.0, 1.0)], [(2.0, 1.0), (1.0, 1.0)], [(1.0, 1.0), (1.0, -1.0)], [(1.0, -1.0), (2.0, -1.0)]]
    )
    # A polygon of n corners has n/2 sin(2π/n) of its circle's r².
    share = SIDES / 2.0 * np.sin(2.0 * pi / SIDES)
    assert volume(ring.vertices, ring.faces) == pytest.approx(share * (4.0 - 1.0) * 2.0)
    # A letter L, which is not convex.
    letter = np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
    solid = prism(letter, -1.0, 2.0, chamfer=0.1)
    assert volume(solid.vertices, solid.faces) == pytest.approx(4.0 * 3.0)
    # A chamfered cube lacks less than its edges' prisms.
    cube = prism(np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=float), 0.0, 1.0, chamfer=0.1)
    assert 1.0 - 8 * 0.5 * 0.1**2 < volume(cube.vertices, cube.faces) < 1.0


@pytest.mark.parametrize("name", ["wheeled-parade", "go-to-pose-all", "vivi-rough", "soccer"])
def test_parts_of_robots_are_solid(name: str) -> None:
    for node in scene_named(name).nodes:
        if node.name in ("ground", "field"):
            continue
        for shape in node.shapes:
            if shape.mesh is not None:
                middle = shape.mesh.vertices.mean(axis=0)
                assert volume(shape.mesh.vertices - middle, shape.mesh.faces) > 0.0
