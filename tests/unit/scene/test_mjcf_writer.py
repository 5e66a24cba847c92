"""Robots written as MJCF: what MuJoCo makes of the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from botz.models.files import load_model
from botz.models.mjcf.reader import read_mjcf
from botz.models.mjcf.writer import moved_inertia, write_mjcf
from botz.models.robot_model import (
    Inertial,
    ModelActuator,
    ModelJoint,
    ModelLink,
    ModelShape,
    RobotModel,
)
from botz.scenario.multibody.elements import LiftDrag, Propeller, UserElement
from botz.scenario.multibody.sensors import Imu
from botz.transforms import transform

MASS = Inertial(1.0, np.array([0.1, 0.2, 0.3]), np.array([[1.0, 0.1, 0.2], [0.1, 1.1, 0.3], [0.2, 0.3, 1.2]]))
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]


def model_with(**parts) -> RobotModel:
    links = {"base": ModelLink("base", MASS), "arm": ModelLink("arm", MASS)}
    joint = ModelJoint("spin", "continuous", "base", "arm", transform(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    return RobotModel(**({"name": "robot", "links": links, "joints": {"spin": joint}} | parts))


def compiled(model: RobotModel, tmp_path: Path) -> mujoco.MjModel:
    write_mjcf(model, tmp_path / "deep" / "robot.xml")
    return mujoco.MjModel.from_xml_path(str(tmp_path / "deep" / "robot.xml"))


def test_masses_and_joints(tmp_path: Path):
    joint = ModelJoint(
        "spin", "revolute", "base", "arm", transform(0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (0.6, 0.0, 0.8), -1.0, 2.0, 5.0,
        7.0, 0.1, 0.2, 0.3, 0.4, 0.5,
    )  # fmt: skip
    m = compiled(model_with(joints={"spin": joint}), tmp_path)
    assert m.body("arm").mass[0] == 1
    assert m.body("arm").pos == pytest.approx([0.1, 0.2, 0.3])
    one = m.joint("spin")
    assert one.range == pytest.approx([-1, 2])
    assert (one.damping[0], one.frictionloss[0], one.armature[0], one.stiffness[0]) == (0.1, 0.2, 0.3, 0.4)
    assert one.qpos_spring[0] == 0.5
    assert one.axis == pytest.approx([0.6, 0, 0.8])
    assert m.jnt_actfrcrange[one.id] == pytest.approx([-7, 7])
    again = read_mjcf(tmp_path / "deep" / "robot.xml").joints["spin"]
    assert again.speed == 5, "which MJCF has no word for"


def test_geoms_add_no_mass(tmp_path: Path):
    links = {"base": ModelLink("base", MASS, (ModelShape("box", (1.0, 1.0, 1.0)),))}
    links["skin"] = ModelLink("skin", None, (ModelShape("sphere", (1.0,)),))
    joints = {"weld": ModelJoint("weld", "fixed", "base", "skin")}
    m = compiled(model_with(links=links, joints=joints), tmp_path)
    assert m.body_mass.sum() == 1
    assert m.ngeom == 2


@pytest.mark.parametrize(("kind", "type_"), [("position", "position"), ("velocity", "velocity"), ("effort", "motor")])
def test_actuators(tmp_path: Path, kind: str, type_: str):
    joint = ModelJoint("spin", "revolute", "base", "arm", lower=-1.0, upper=2.0, speed=3.0, effort=4.0)
    model = model_with(joints={"spin": joint}, actuators={"spin": ModelActuator("spin", kind)}, fixed_base=True)
    m = compiled(model, tmp_path)
    one = m.actuator("spin")
    inertia = 1.2 + 0.1**2 + 0.2**2  # about z through the joint, by Steiner
    assert moved_inertia(model, joint) == pytest.approx(inertia)
    if kind == "position":
        assert (one.gainprm[0], one.biasprm[2]) == pytest.approx((inertia * 2500, -inertia * 100))
        assert one.ctrlrange == pytest.approx([-1, 2])
        assert one.forcerange == pytest.approx([-4, 4])
    elif kind == "velocity":
        assert one.gainprm[0] == pytest.approx(inertia * 50)
        assert one.ctrlrange == pytest.approx([-3, 3])
    else:
        assert one.ctrlrange == pytest.approx([-4, 4])


def test_what_a_slide_moves_is_mass(tmp_path: Path):
    joint = ModelJoint("spin", "prismatic", "base", "arm", armature=0.5)
    assert moved_inertia(model_with(joints={"spin": joint}), joint) == 1.5


def test_links_without_anything_become_joints_of_one_body(tmp_path: Path):
    links = {"base": ModelLink("base", MASS), "cross": ModelLink("cross"), "arm": ModelLink("arm", MASS)}
    joints = {
        "roll": ModelJoint("roll", "continuous", "base", "cross", transform(0.1, 0, 0, 0.3, 0, 0), (1, 0, 0)),
        "pitch": ModelJoint("pitch", "continuous", "cross", "arm", transform(0, 0.2, 0, 0, 0.4, 0.1), (0, 1, 0)),
    }
    model = model_with(links=links, joints=joints)
    m = compiled(model, tmp_path)
    assert m.nbody == 3
    assert m.body("arm").jntnum[0] == 2
    again = read_mjcf(tmp_path / "deep" / "robot.xml")
    assert again.joints["pitch"].child == "arm"
    # The same place of the arm, by our own sum and by MuJoCo.
    d = mujoco.MjData(m)
    d.qpos[m.joint("roll").qposadr[0]], d.qpos[m.joint("pitch").qposadr[0]] = 0.5, -0.7
    mujoco.mj_forward(m, d)
    turned = transform(0, 0, 0, 0.5, 0, 0), transform(0, 0, 0, 0, -0.7, 0)
    pose = joints["roll"].pose @ turned[0] @ joints["pitch"].pose @ turned[1]
    assert d.body("arm").xpos == pytest.approx(pose[:3, 3])
    assert d.body("arm").xmat.reshape(3, 3) == pytest.approx(pose[:3, :3])


def test_a_world_link_is_mujocos_own(tmp_path: Path):
    tie = ModelJoint("pivot", "continuous", "world", "base", transform(0, 0, 2, 0, 0, 0))
    floor = ModelShape("plane", ())
    links = {"world": ModelLink("world", None, (floor,)), "base": ModelLink("base", MASS)}
    m = compiled(model_with(links=links, joints={"pivot": tie}, fixed_base=True), tmp_path)
    assert (m.nbody, m.nv, m.ngeom) == (2, 1, 1)
    assert m.geom_bodyid[0] == 0


def test_one_sided_limits_come_back(tmp_path: Path):
    joint = ModelJoint("spin", "prismatic", "base", "arm", lower=0.0)
    write_mjcf(model_with(joints={"spin": joint}), tmp_path / "a.xml")
    again = read_mjcf(tmp_path / "a.xml").joints["spin"]
    assert (again.lower, again.upper) == (0.0, None)


def mesh_files(folder: Path) -> dict[str, Path]:
    corners = "\n".join(f"v {x} {y} {z}" for x, y, z in TETRAHEDRON)
    (folder / "part.obj").write_text(corners + "\n" + "\n".join(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES))
    facets = ""
    for face in FACES:
        points = "".join(f"vertex {x} {y} {z}\n" for x, y, z in TETRAHEDRON[list(face)])
        facets += f"facet normal 0 0 0\nouter loop\n{points}endloop\nendfacet\n"
    (folder / "part.stl").write_text(f"solid part\n{facets}endsolid part\n")
    rows = (
        "\n".join(f"{x} {y} {z}" for x, y, z in TETRAHEDRON) + "\n" + "\n".join(f"3 {a} {b} {c}" for a, b, c in FACES)
    )
    head = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    (folder / "part.ply").write_text(
        f"{head}element face 4\nproperty list uchar int vertex_indices\nend_header\n{rows}\n"
    )
    return {ending: folder / f"part.{ending}" for ending in ("obj", "stl", "ply")}


@pytest.mark.parametrize("ending", ["obj", "stl", "ply"])
def test_meshes_lie_beside_in_a_form_that_mujoco_reads(tmp_path: Path, ending: str):
    file = mesh_files(tmp_path)[ending]
    pose = transform(1, 2, 3, 0.1, 0.2, 0.3)
    shapes = (ModelShape("mesh", (), pose, file, (0.1, 0.2, 0.3)), ModelShape("mesh", (), pose, file))
    m = compiled(model_with(links={"base": ModelLink("base", MASS, shapes)}, joints={}), tmp_path)
    assert m.nmesh == 2, "one for each scale"
    found = read_mjcf(tmp_path / "deep" / "robot.xml").links["base"].shapes
    assert [one.scale for one in found] == [pytest.approx((0.1, 0.2, 0.3)), (1, 1, 1)]
    for one in found:
        assert one.pose == pytest.approx(pose, abs=1e-6)
        assert one.file.parent.name == "meshes"
        assert one.file.is_file()


def test_a_flat_mesh_is_no_obstacle(tmp_path: Path):
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    shape = ModelShape("mesh", (), np.eye(4), tmp_path / "flat.obj", collision=False)
    m = compiled(model_with(links={"base": ModelLink("base", MASS, (shape,))}, joints={}), tmp_path)
    assert m.nmesh == 1


def test_elements_and_sensors_come_back(tmp_path: Path):
    elements = {
        "rotor": Propeller(type="propeller", joint="spin", coefficient=2e-5, sense="cw", max_force=9.0),
        "wing": LiftDrag(type="lift-drag", link="arm", area=0.5, cp=[0.1, 0.0, 0.2]),
    }
    sensors = {"imu": Imu(type="imu", link="arm", pose=(0.1, 0, 0, 0, 0, 0.2), gyro_noise=0.01)}
    model = model_with(elements=elements, sensors=sensors)
    assert write_mjcf(model, tmp_path / "a.xml") == []
    again = read_mjcf(tmp_path / "a.xml")
    assert again.elements == elements
    assert again.sensors == sensors


def test_what_is_lost_is_said(tmp_path: Path):
    elements = {"mine": UserElement(type="file.py:Mine", link="arm")}
    actuators = {"spin": ModelActuator("spin", "velocity", lag=0.1)}
    lost = write_mjcf(model_with(elements=elements, actuators=actuators), tmp_path / "a.xml")
    told = "\n".join(one.message for one in lost)
    assert "'mine' is a function of yours" in told
    again = load_model(tmp_path / "a.xml")
    assert (again.actuators["spin"].kind, again.actuators["spin"].lag) == ("velocity", 0.1)


def test_the_integrator_is_written(tmp_path: Path):
    write_mjcf(replace(model_with(), method="implicit-fast"), tmp_path / "a.xml")
    assert load_model(tmp_path / "a.xml").method == "implicit-fast"
