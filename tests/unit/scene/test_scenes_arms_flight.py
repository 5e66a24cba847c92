"""Scenes of arms and multibody robots against their engines: every channel there is, every part where it is."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from botz.engines.base import Engine
from botz.engines.registry import make_engine
from botz.scenario import library
from botz.scenario.load import LoadedScenario, load
from botz.scene.build import scene_of
from botz.scene.lab_layers import described_layers
from botz.scene.multibody.link_shapes import blade_mesh
from botz.scene.tessellation import tessellated
from botz.scene.world_scene import (
    ArmPosture,
    PointForce,
    Scene,
    Shape,
    Slides,
    Turns,
    Velocity,
    compose,
    node_poses,
)
from botz.transforms import rotation_from_quaternion

ENGINES = {name: load(name).engine for name in library.names("scenario")}
ARMS = [name for name, engine in ENGINES.items() if engine == "arm"]
BODIES = [name for name, engine in ENGINES.items() if engine == "multibody"]


@lru_cache
def built(name: str) -> tuple[LoadedScenario, Scene, Engine]:
    """Engines take long to make; no test minds in what state it finds one."""
    loaded = load(name)
    return loaded, scene_of(loaded.spec), make_engine(loaded.spec)


def scenario(folder: Path, text: str) -> tuple[Scene, Engine]:
    file = folder / "own.yaml"
    file.write_text(text, encoding="utf-8")
    spec = load(file).spec
    return scene_of(spec), make_engine(spec)


def observed(engine: Engine) -> dict[str, np.ndarray]:
    row = np.empty(engine.channels.width)
    engine.observe(row)
    return {channel.name: row[engine.channels.slice_of(channel.name)] for channel in engine.channels}


def same_pose(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(found[:3], expected[:3], atol=tolerance)
    np.testing.assert_allclose(
        rotation_from_quaternion(*found[3:]), rotation_from_quaternion(*expected[3:]), atol=tolerance
    )


def named_channels(scene: Scene) -> set[str]:
    found = set(scene.channels())
    for one in scene.indicators:
        match one:
            case ArmPosture():
                found.add(one.joints)
            case PointForce():
                found.add(one.force)
            case Velocity():
                found.add(one.twist)
    return found


def check_consistent(scene: Scene, engine: Engine) -> None:
    names = [node.name for node in scene.nodes]
    assert len(set(names)) == len(names)
    for k, node in enumerate(scene.nodes):
        assert node.parent is None or node.parent in names[:k]
        for shape in node.shapes:
            assert shape.material in scene.materials
            assert np.isfinite(tessellated(shape).positions).all()
    channels = {channel.name for channel in engine.channels}
    assert named_channels(scene) <= channels
    assert all(set(layer["channels"]) <= channels for layer in described_layers(scene))
    for node in scene.nodes:
        if isinstance(node.motion, Turns | Slides):
            assert node.motion.component < engine.channels[node.motion.channel].size
    for one in [*scene.actors, *(camera for camera in scene.cameras if camera.node)]:
        assert one.node in names
    for indicator in scene.indicators:
        assert getattr(indicator, "node", names[0]) in names


@pytest.mark.parametrize("name", [*ARMS, *BODIES])
def test_every_channel_named_is_one_of_the_engine(name: str):
    loaded, scene, engine = built(name)
    check_consistent(scene, engine)
    assert {actor.name for actor in scene.actors} == set(loaded.spec.robots)


# --- arms --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARMS)
def test_tools_are_where_the_engine_has_them(name: str):
    _, scene, engine = built(name)
    rng = np.random.default_rng(7)
    for _ in range(5):
        engine.state.q[:] = rng.uniform(-2.0, 2.0, len(engine.state.q))
        values = observed(engine)
        poses = node_poses(scene, values)
        for one in scene.indicators:
            if isinstance(one, ArmPosture):
                same_pose(poses[one.tool], values[f"{one.robot}/tool/pose"])
        for block in engine.scenario.world.objects:
            same_pose(poses[block], values[f"{block}/pose"])


SCARA = """
engine: arm
time: {step: 1 ms, duration: 1}
world:
  planes: {wall: {point: [2, 0, 0], normal: [-1, 0, 0]}, floor: {point: [0, 0, -0.1]}}
  boxes: {table: {size: [0.3, 0.3, 0.1], pose: [0.5, 0, 0.05, 0, 0, 0.3]}}
robots:
  scara:
    pose: [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]
    joint: {mass: 1, inertia: [0.01, 0.01, 0.01]}
    joints:
      first: {a: 0.4, d: 0.3, theta: 0.4}
      second: {a: 0.3, alpha: 180 deg}
      tool: {type: prismatic, d: 0.05, theta: -0.3, range: [0, 0.2]}
      roll: {}
    tool: {position: [0.01, 0.02, 0.1], attitude: [0.1, 0.2, 0.3]}
    gripper: {opening: 0.05, force: 10, speed: 0.1, pads: [0.02, 0.03]}
"""


def test_an_arm_of_any_kind(tmp_path: Path):
    """Offsets, fixed angles, a slide, a base and a tool that are turned, and a joint that is called `tool`."""
    scene, engine = scenario(tmp_path, SCARA)
    check_consistent(scene, engine)
    engine.state.q[:] = 0.3, -0.8, 0.15, 1.1
    values = observed(engine)
    (arm,) = (one for one in scene.indicators if isinstance(one, ArmPosture))
    same_pose(node_poses(scene, values)[arm.tool], values["scara/tool/pose"])
    assert arm.nodes == ("scara/first", "scara/second", "scara/tool", "scara/roll")
    assert arm.tool == "scara/tool_"


def test_fingers_leave_the_opening_between_them():
    loaded, scene, engine = built("titan4-pick")
    values = {**observed(engine), "titan/gripper/opening": np.array([0.07])}
    poses = node_poses(scene, values)
    faces = []
    for side in ("left", "right"):
        node = next(one for one in scene.nodes if one.name == f"titan/{side}_finger")
        pad = node.shapes[1]
        across = compose(poses[node.name], np.array([0.0, pad.place[1] - pad.size[1] / 2, 0.0, 1.0, 0.0, 0.0, 0.0]))
        faces.append(across[:3])
    assert np.linalg.norm(faces[0] - faces[1]) == pytest.approx(0.07, abs=1e-12)
    np.testing.assert_allclose(0.5 * (faces[0] + faces[1]), poses["titan/tool"][:3], atol=1e-12)
    assert loaded.spec.robots["titan"].gripper.pads[0] == pytest.approx(0.04)


def test_water_colours_the_scene():
    wet, dry = (built(name)[1] for name in ("titan4-pick", "titan4-line"))
    for one in ("arm-yellow", "steel"):
        assert wet.materials[one].colour[0] < dry.materials[one].colour[0]
        assert wet.materials[one].colour[3] == dry.materials[one].colour[3]
    assert [actor.hands for actor in wet.actors] == ["arm"]


# --- multibody ---------------------------------------------------------------------------------------------------


def moved(engine: Engine) -> dict[str, np.ndarray]:
    """Some other state: free bodies turned and joints away from 0; channels as the engine shows them then."""
    model, data = engine.model, engine.data
    rng = np.random.default_rng(3)
    for joint in range(model.njnt):
        at = model.jnt_qposadr[joint]
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            data.qpos[at : at + 3] += rng.uniform(0.0, 1.0, 3)
            turn = rng.normal(size=4)
            data.qpos[at + 3 : at + 7] = turn / np.linalg.norm(turn)
        else:
            data.qpos[at] = rng.uniform(-0.6, 0.6)
    mujoco.mj_kinematics(model, data)
    return observed(engine)


@pytest.mark.parametrize("name", BODIES)
def test_links_are_where_mujoco_has_them(name: str):
    loaded, scene, engine = built(name)
    poses = node_poses(scene, moved(engine))
    for robot in loaded.spec.robots:
        root = engine.robots[robot].model.root
        for link in engine.robots[robot].model.links:
            body = engine.data.body(f"{robot}/{link}")
            node = robot if link == root else f"{robot}/{link}"
            same_pose(poses[node], np.concatenate([body.xpos, body.xquat]))


def test_each_propeller_has_its_thrust_and_its_disc():
    _, scene, engine = built("lophorina-waypoints")
    thrusts = [one for one in scene.indicators if isinstance(one, PointForce)]
    assert {one.force for one in thrusts} == {
        f"lophorina/rotor_{end}_{side}/force" for end in ("front", "rear") for side in ("left", "right")
    }
    assert {one.node for one in thrusts} == {one.force.replace("rotor", "propeller")[:-6] for one in thrusts}
    values = observed(engine)
    disc = "lophorina/rotor_front_left/disc"
    values["lophorina/rotor_front_left/thrust"] = np.array([3.0])
    assert disc in node_poses(scene, values)
    values["lophorina/rotor_front_left/thrust"] = np.array([0.0])
    assert disc not in node_poses(scene, values)


@pytest.mark.parametrize(
    ("name", "hands"),
    [
        ("lophorina-waypoints", "flight"),
        ("quadrotor-square", "flight"),
        ("fixed-wing-cruise", "plane"),
        ("vivi-multibody", "tank"),
        ("lophorina-tilt", "none"),
    ],
)
def test_how_robots_are_driven(name: str, hands: str):
    (actor,) = scene_of(load(name).spec).actors
    assert actor.hands == hands


def test_the_camera_on_board_looks_ahead():
    """−z of the camera is x of the robot, its y is z."""
    _, scene, _ = built("quadrotor-square")
    (camera,) = scene.cameras
    turn = rotation_from_quaternion(*camera.place[3:])
    np.testing.assert_allclose(turn @ [0.0, 0, -1], [1.0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(turn @ [0.0, 1, 0], [0.0, 0, 1], atol=1e-12)
    assert camera.node == "quad"


def test_wheels_of_a_vehicle_stand_under_its_link():
    _, scene, _ = built("vivi-multibody")
    wheels = {node.name: node for node in scene.nodes if node.name.startswith("vivi/wheels/")}
    assert wheels["vivi/wheels/front_left/carrier"].place[:3] == (0.22, 0.22, -0.05)
    assert wheels["vivi/wheels/front_left"].parent == "vivi/wheels/front_left/carrier"
    assert len(wheels) == 8, "each has a carrier that the springs lift, and turns on it"
    # Cylinders that the robot's file draws in their place are gone.
    body = next(node for node in scene.nodes if node.name == "vivi")
    assert not [shape for shape in body.shapes if shape.kind == "cylinder"]
    points = tessellated(wheels["vivi/wheels/front_left"].shapes[0]).positions
    assert np.hypot(points[:, 0], points[:, 2]).max() <= 0.11 + 1e-9


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_blades_push_the_air_down(sense: float):
    """A point of a face that looks ahead, in the sense of rotation, looks down too; the body is closed."""
    mesh = blade_mesh(0.1, 0.02, sense)
    surface = tessellated(Shape("mesh", mesh=mesh))
    body = trimesh.Trimesh(surface.positions, surface.faces, process=True, merge_norm=True)
    assert body.is_watertight and body.volume > 0.0
    speed = sense * np.cross([0.0, 0.0, 1.0], body.triangles_center)
    ahead = np.einsum("ij,ij->i", body.face_normals, speed)
    lift = -(body.area_faces * np.maximum(ahead, 0.0) * body.face_normals[:, 2]).sum()
    assert lift > 0.0


MJCF = """
<mujoco>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom name="base" type="box" size="0.1 0.1 0.05" rgba="0.2 0.4 0.6 1"/>
      <body name="lever" pos="0.1 0 0" euler="0 30 0">
        <joint name="hinge" axis="0 1 0" pos="0.05 0 0.02" ref="0.2"/>
        <geom name="lever" type="ellipsoid" size="0.02 0.03 0.1" pos="0 0 0.1" mass="0.1"/>
        <body name="slider" pos="0 0 0.2">
          <joint name="slide" type="slide" axis="0 0 1"/>
          <geom name="slider" type="sphere" size="0.03" mass="0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_an_mjcf_robot_that_turns_about_points_beside_its_links(tmp_path: Path):
    """Frames may lie elsewhere than MuJoCo's, but shapes do not."""
    (tmp_path / "robot.xml").write_text(MJCF, encoding="utf-8")
    text = "engine: multibody\nrobots: {r: {file: robot.xml, pose: [0.3, 0.1, 0.5, 0.1, 0, 0.4]}}"
    scene, engine = scenario(tmp_path, text)
    check_consistent(scene, engine)
    poses = node_poses(scene, moved(engine))
    for node, geom in (("r", "base"), ("r/lever", "lever"), ("r/slider", "slider")):
        (shape,) = next(one for one in scene.nodes if one.name == node).shapes
        found = compose(poses[node], np.array(shape.place))
        np.testing.assert_allclose(found[:3], engine.data.geom(f"r/{geom}").xpos, atol=1e-7)


OBJ = """mtllib m.mtl
v 0 0 0
v 100 0 0
v 0 100 0
v 0 0 100
usemtl red
f 1 3 2
f 1 2 4
usemtl blue
f 1 4 3
f 2 3 4
"""
MTL = "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n"
LINKS = """
engine: multibody
world:
  ground: false
  obstacles: {post: {type: cylinder, radius: 0.1, length: 1, pose: [2, 0, 0.5, 0, 0, 0]}}
robots:
  r:
    links:
      a: {mass: 1, inertia: [1, 1, 1], shapes: [{type: mesh, file: m.obj, scale: [0.001, 0.001, 0.001], role: visual}]}
      b: {mass: 1, inertia: [1, 1, 1], shapes: [{type: box, size: [0.1, 0.1, 0.1]}]}
      c: {mass: 1, inertia: [1, 1, 1], shapes: [{type: capsule, radius: 0.1, length: 0.3}]}
    joints:
      ab: {type: continuous, parent: a, child: b}
      bc: {type: fixed, parent: b, child: c, pose: {x: 0.2}}
"""


def test_mesh_files_keep_their_colours_and_others_get_one(tmp_path: Path):
    (tmp_path / "m.obj").write_text(OBJ)
    (tmp_path / "m.mtl").write_text(MTL)
    scene, engine = scenario(tmp_path, LINKS)
    check_consistent(scene, engine)
    shapes = {node.name: node.shapes for node in scene.nodes}
    colours = {scene.materials[shape.material].colour for shape in shapes["r"]}
    assert colours == {(1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)}
    assert max(tessellated(shape).positions.max() for shape in shapes["r"]) == pytest.approx(0.1)
    looks = [scene.materials[shapes[name][0].material].colour for name in ("r/b", "r/c")]
    assert looks[0] != looks[1]
    assert "ground" not in shapes and shapes["obstacle/post"][0].size == (0.1, 1.0)
