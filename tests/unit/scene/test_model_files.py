"""Models from one format to another and back: whatever way they go, the mass matrix stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from botz.engines.multibody.engine import MultibodyEngine
from botz.engines.multibody.parts import robots_of
from botz.errors import InputError
from botz.models.files import load_model, save_model
from botz.models.mj_world import compile_model
from botz.models.mjcf.reader import convertible
from botz.models.robot_model import ModelActuator, RobotModel
from botz.scenario.load import load
from botz.scenario.multibody.schema import ActuatorSpec, MultibodyScenario

URDF = """<?xml version="1.0"?>
<robot name="hand_made">
  <link name="body">
    <inertial><origin xyz="0.01 -0.02 0.03" rpy="0.3 -0.2 0.5"/><mass value="1.5"/>
      <inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.0015" izz="0.04"/></inertial>
    <visual><geometry><box size="0.5 0.4 0.1"/></geometry></visual>
    <collision><origin xyz="0 0 0.01" rpy="0 0.1 0"/>
      <geometry><cylinder radius="0.1" length="0.3"/></geometry></collision>
  </link>
  <link name="bracket">
    <inertial><origin xyz="0 0.05 0" rpy="0 1.2 0"/><mass value="0.2"/>
      <inertia ixx="0.001" ixy="0.0001" ixz="0" iyy="0.0012" iyz="0" izz="0.0015"/></inertial>
  </link>
  <link name="empty"/>
  <link name="arm">
    <inertial><origin xyz="0.1 0 0.02" rpy="0.1 0.2 0.3"/><mass value="0.15"/>
      <inertia ixx="0.0002" ixy="0.00003" ixz="-0.00002" iyy="0.0004" iyz="0.00001" izz="0.0005"/></inertial>
    <visual><geometry><sphere radius="0.05"/></geometry><material name="r"><color rgba="1 0 0 0.5"/></material></visual>
  </link>
  <link name="slider">
    <inertial><mass value="0.3"/>
      <inertia ixx="0.0005" ixy="0" ixz="0" iyy="0.0006" iyz="0" izz="0.0007"/></inertial>
  </link>
  <link name="propeller">
    <inertial><origin xyz="0.001 0 0" rpy="0 0 0.4"/><mass value="0.008"/>
      <inertia ixx="2e-6" ixy="1.1e-6" ixz="0.2e-6" iyy="3.1e-5" iyz="0.3e-6" izz="3.2e-5"/></inertial>
  </link>
  <joint name="weld" type="fixed"><parent link="body"/><child link="bracket"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/></joint>
  <joint name="weld_empty" type="fixed"><parent link="bracket"/><child link="empty"/>
    <origin xyz="0 0 0.1" rpy="0 1.5707963267948966 0"/></joint>
  <joint name="swing" type="revolute"><parent link="empty"/><child link="arm"/>
    <origin xyz="0.02 0 0.01" rpy="1 0.1 -0.2"/><axis xyz="1 2 0.5"/>
    <limit lower="-1" upper="1.5" effort="12" velocity="3"/><dynamics damping="0.02" friction="0.1"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="slider"/>
    <origin xyz="0.2 0 0" rpy="0 0.7 0"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.3" effort="5" velocity="1"/></joint>
  <joint name="spin" type="continuous"><parent link="arm"/><child link="propeller"/>
    <origin xyz="0 0.138 0.05" rpy="0.2 0 0"/><axis xyz="0 0 1"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type>
    <joint name="swing"><hardwareInterface>hardware_interface/PositionJointInterface</hardwareInterface></joint>
    <actuator name="m"><mechanicalReduction>1</mechanicalReduction></actuator></transmission>
  <gazebo><plugin name="rotor" filename="libhelice_push.so">
    <link_name>propeller</link_name><force>9.5</force><dir>cw</dir></plugin></gazebo>
</robot>
"""


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    w = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * w + (1 - np.cos(angle)) * w @ w


def mass_matrix(model: RobotModel, at: dict[str, float]) -> np.ndarray:
    """Σ Jᵀ M J over the links, in the order: base's v and ω in the root's axes (where it is free), joints by name."""
    names = sorted(name for name, joint in model.joints.items() if joint.kind != "fixed")
    base = 0 if model.fixed_base else 6
    total = np.zeros((base + len(names), base + len(names)))
    waiting = [(model.root, np.eye(4), [])]
    while waiting:
        link, pose, above = waiting.pop()
        inertial = model.links[link].inertial
        if inertial is not None:
            centre = pose[:3, :3] @ inertial.centre + pose[:3, 3]
            speed, spin = np.zeros((3, len(total))), np.zeros((3, len(total)))
            if base:
                speed[:, :3] = np.eye(3)
                spin[:, 3:6] = np.eye(3)
                speed[:, 3:6] = np.cross(np.eye(3), centre).T
            for name, kind, place, axis in above:
                column = base + names.index(name)
                if kind == "prismatic":
                    speed[:, column] = axis
                else:
                    speed[:, column] = np.cross(axis, centre - place)
                    spin[:, column] = axis
            tensor = pose[:3, :3] @ inertial.inertia @ pose[:3, :3].T
            total += inertial.mass * speed.T @ speed + spin.T @ tensor @ spin
        for joint in model.children(link):
            here = pose @ joint.pose
            further = above
            if joint.kind != "fixed":
                axis = np.array(joint.axis)
                further = [*above, (joint.name, joint.kind, here[:3, 3].copy(), here[:3, :3] @ axis)]
                move = np.eye(4)
                if joint.kind == "prismatic":
                    move[:3, 3] = at[joint.name] * axis
                else:
                    move[:3, :3] = turned(axis, at[joint.name])
                here = here @ move
            waiting.append((joint.child, here, further))
    for name in names:
        total[base + names.index(name), base + names.index(name)] += model.joints[name].armature
    return total


def mujoco_mass_matrix(m: mujoco.MjModel, at: dict[str, float], prefix: str = "") -> np.ndarray:
    """The same of MuJoCo, in the same order."""
    d = mujoco.MjData(m)
    for name, value in at.items():
        d.qpos[m.joint(prefix + name).qposadr[0]] = value
    mujoco.mj_forward(m, d)
    full = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, full)
    order = list(range(6 if m.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE else 0))
    order += [int(m.joint(prefix + name).dofadr[0]) for name in sorted(at)]
    return full[np.ix_(order, order)]


def configurations(model: RobotModel, count: int = 5) -> list[dict[str, float]]:
    random = np.random.default_rng(7)
    names = [name for name, joint in model.joints.items() if joint.kind != "fixed"]
    return [dict(zip(names, random.uniform(-1.0, 1.0, len(names)), strict=True)) for _ in range(count)]


def assert_same(one: RobotModel, other: RobotModel) -> None:
    assert one.fixed_base == other.fixed_base
    one, other = convertible(one), convertible(other)
    for at in configurations(one):
        first, second = mass_matrix(one, at), mass_matrix(other, at)
        assert np.abs(first - second).max() < 1e-10 * np.abs(first).max()
        # Small joints must not hide behind the mass of the whole: compare in units of each one's own inertia.
        scale = np.sqrt(np.outer(np.diag(first), np.diag(first)))
        assert np.abs((first - second) / scale).max() < 1e-10


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / "hand_made.urdf"
    path.write_text(URDF)
    return path


@pytest.mark.parametrize(
    "way", [["sdf"], ["xml"], ["urdf"], ["sdf", "xml"], ["xml", "sdf"], ["xml", "xml"], ["sdf", "urdf", "xml", "sdf"]]
)
@pytest.mark.parametrize("fixed", [False, True])
def test_the_mass_matrix_survives_every_way(urdf: Path, tmp_path: Path, way: list[str], fixed: bool):
    if fixed:
        text = URDF.replace('<link name="empty"/>', '<link name="empty"/><link name="world"/>')
        tie = '<joint name="tie" type="fixed"><parent link="world"/><child link="body"/><origin xyz="1 2 3"/></joint>'
        urdf.write_text(text.replace("</robot>", f"{tie}</robot>"))
    first = load_model(urdf)
    assert first.fixed_base == fixed
    here = first
    for k, ending in enumerate(way):
        path = tmp_path / f"{k}" / f"hand_made.{ending}"
        save_model(here, path)
        here = load_model(path)
        assert {"urdf": "urdf", "sdf": "sdf", "xml": "mjcf"}[ending] == here.format
    assert_same(first, here)


@pytest.mark.parametrize("ending", ["sdf", "xml"])
def test_what_joints_say_survives(urdf: Path, tmp_path: Path, ending: str):
    first = load_model(urdf)
    path = tmp_path / f"written.{ending}"
    assert save_model(first, path) == []
    again = load_model(path)
    for name, joint in first.joints.items():
        if joint.kind == "fixed" and ending == "xml":  # MJCF has no fixed joints: their names go
            continue
        other = again.joints[name]
        assert (joint.kind, joint.parent, joint.child) == (other.kind, other.parent, other.child)
        for key in ("lower", "upper", "speed", "effort", "damping", "friction", "stiffness", "rest"):
            assert getattr(joint, key) == getattr(other, key), (name, key)
        assert np.allclose(joint.axis, other.axis, rtol=0, atol=1e-15)
        assert np.allclose(joint.pose, other.pose, rtol=0, atol=1e-14)
    assert again.elements == first.elements
    assert list(again.elements) == ["rotor"]


def test_the_actuator_survives_sdf_and_mjcf(urdf: Path, tmp_path: Path):
    first = load_model(urdf)
    assert first.actuators["swing"].kind == "position"
    save_model(first, tmp_path / "a.sdf")
    assert load_model(tmp_path / "a.sdf").actuators["swing"].kind == "position"
    save_model(first, tmp_path / "a.xml")
    native = load_model(tmp_path / "a.xml")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml")).nu == 1, "for MuJoCo itself"
    assert native.actuators["swing"].kind == "position"
    assert not native.native.actuators, "ours takes the place of it"
    save_model(native, tmp_path / "b.sdf")
    assert load_model(tmp_path / "b.sdf").actuators["swing"].kind == "position"


GAINS = {
    "velocity": {"frequency": 200.0, "integral_time": 0.1, "effort": 0.4},
    "position": {"damping_ratio": 0.7, "proportional": 3.0, "integral": 2.0, "derivative": 0.25},
    "effort": {"effort": 1.5},
}


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml"])
@pytest.mark.parametrize("kind", GAINS)
@pytest.mark.parametrize("joint", ["swing", "spin"])
def test_gains_of_servos_survive(urdf: Path, tmp_path: Path, ending: str, kind: str, joint: str):
    first = load_model(urdf)
    asked = ModelActuator(joint, kind, speed=None if kind == "effort" else 90.0, lag=0.02, gains=GAINS[kind])
    path = tmp_path / f"written.{ending}"
    save_model(replace(first, actuators={joint: asked}), path)
    found = load_model(path).actuators[joint]
    assert (found.kind, found.speed, found.lag, found.gains) == (kind, asked.speed, 0.02, GAINS[kind])


def test_gains_of_a_file_are_the_engines_unless_the_robot_asks_for_another_kind(urdf: Path, tmp_path: Path):
    asked = ModelActuator("swing", "position", gains=GAINS["position"])
    save_model(replace(load_model(urdf), actuators={"swing": asked}), tmp_path / "servo.urdf")

    def spec(**actuator: Any) -> ActuatorSpec:
        robot = {
            "file": str(tmp_path / "servo.urdf"),
            "base": "fixed",
            "actuators": {"swing": actuator} if actuator else {},
        }
        scenario = {"engine": "multibody", "world": {"ground": False}, "robots": {"r": robot}}
        return MultibodyEngine(MultibodyScenario.model_validate(scenario)).robots["r"].actuators["swing"]

    assert spec().model_dump(include=set(GAINS["position"])) == GAINS["position"]
    assert spec(kind="position", derivative=0.5).proportional == 3.0
    other = spec(kind="velocity")
    assert (other.kind, other.proportional, other.frequency) == ("velocity", None, 50.0)


def test_mujoco_finds_the_mass_matrix_of_the_plain_sum(urdf: Path, tmp_path: Path):
    model = load_model(urdf)
    save_model(model, tmp_path / "a.xml")
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
    for at in configurations(model):
        ours, theirs = mass_matrix(model, at), mujoco_mass_matrix(m, at)
        scale = np.sqrt(np.outer(np.diag(ours), np.diag(ours)))
        assert np.abs((ours - theirs) / scale).max() < 1e-10


def test_the_engine_builds_the_same_mass_matrix(urdf: Path):
    model = load_model(urdf)
    m = compile_model(model)
    for at in configurations(model):
        ours, theirs = mass_matrix(model, at), mujoco_mass_matrix(m, at, "robot/")
        scale = np.sqrt(np.outer(np.diag(ours), np.diag(ours)))
        assert np.abs((ours - theirs) / scale).max() < 1e-10


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.xml", "<robot name='r'><link name='l'/></robot>", "urdf"),
        ("a.xml", "<mujoco><worldbody><body name='b'/></worldbody></mujoco>", "mjcf"),
        ("a.XML", "<sdf version='1.9'><model name='m'><link name='l'/><static>1</static></model></sdf>", "sdf"),
        ("a.world", "<sdf version='1.9'><world><model name='m'><link name='l'/></model></world></sdf>", "sdf"),
    ],
)
def test_the_format_is_told_by_ending_and_first_element(tmp_path: Path, name: str, text: str, expected: str):
    (tmp_path / name).write_text(text)
    assert load_model(tmp_path / name, check_inertia=False).format == expected


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.stl", "", "a model file ends in .urdf"),
        ("a", "", "no ending"),
        ("a.xml", "<html/>", "begins with <html>"),
        ("a.xml", '<!DOCTYPE a SYSTEM "x"><robot/>', "document type"),
        ("a.sdf", '<!DOCTYPE a [<!ENTITY b "c">]><sdf/>', "document type"),
        ("none.urdf", None, "no such file"),
        ("none.sdf", None, "no such file"),
        ("none.xml", None, "no such file"),
        ("a.mjcf", "<mujoco/>", "a model file ends in"),
    ],
)
def test_what_is_no_model_file_is_refused_with_its_name(tmp_path: Path, name: str, text: str | None, words: str):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=words) as found:
        load_model(tmp_path / name)
    assert found.value.problems[0].file == tmp_path / name


def test_models_are_not_written_in_unknown_formats(urdf: Path, tmp_path: Path):
    with pytest.raises(InputError, match=r"models are written as \.urdf, \.sdf or \.xml"):
        save_model(load_model(urdf), tmp_path / "a.dae")


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml"])
def test_a_file_that_cannot_be_written_is_said(urdf: Path, tmp_path: Path, ending: str):
    (tmp_path / "taken").write_text("a file, no folder")
    with pytest.raises(InputError, match="cannot be written"):
        save_model(load_model(urdf), tmp_path / "taken" / f"a.{ending}")


TWO_ARMS = """<sdf version="1.7"><world name="w">
<model name="ground"><static>true</static><link name="l"/></model>
<model name="arm"><link name="foot"><inertial><mass>0</mass></inertial>
<visual name="v"><geometry><mesh><uri>meshes/gone.dae</uri></mesh></geometry></visual></link>
<link name="rod"><inertial><mass>1</mass></inertial></link>
<joint name="turn" type="revolute"><parent>foot</parent><child>rod</child><axis><xyz>0 1 0</xyz></axis></joint></model>
<model name="box"><link name="body"><inertial><mass>2</mass></inertial></link></model></world></sdf>"""
SCENARIO = """engine: multibody
time: {duration: 10 ms}
robots:
  one: {file: two.world, model: arm, base: fixed, pose: {z: 3}}
  two: {file: two.world, model: box, pose: {x: 2, z: 1}}
"""


def test_two_robots_of_one_world_one_of_them_on_a_foot_without_mass(tmp_path: Path):
    (tmp_path / "two.world").write_text(TWO_ARMS)
    path = tmp_path / "two.yaml"
    path.write_text(SCENARIO)
    parts = robots_of(load(path).spec, "skip")
    assert (list(parts["one"].joints), list(parts["two"].model.links)) == (["turn"], ["body"])
    told = [note.message for note in parts["one"].model.notes]
    assert any("gone.dae' is missing" in one and one.endswith("it is left out") for one in told)
    for change, words in (
        ("model: arm, base: floating", "link foot: moves, but has no mass"),
        ("model: arms, base: fixed", "there is no model 'arms'; did you mean 'arm'"),
        ("base: fixed", r"several models \(arm, box\); name one by 'model: arm' of the robot"),
        ("model: arm, base: fixed, missing_meshes: refuse", "gone.dae' is missing"),
    ):
        path.write_text(SCENARIO.replace("model: arm, base: fixed", change))
        with pytest.raises(InputError, match=words):
            robots_of(load(path).spec, "skip")


def test_a_model_is_named_only_in_sdf(urdf: Path):
    with pytest.raises(InputError, match="one of several in an SDF file; this is URDF"):
        load_model(urdf, model="arm")
