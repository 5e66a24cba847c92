"""Robots written as SDF: what Gazebo would read, and what comes back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from botz.models.robot_model import (
    Inertial,
    ModelActuator,
    ModelJoint,
    ModelLink,
    ModelShape,
    RobotModel,
)
from botz.models.sdf.reader import read_sdf
from botz.models.sdf.writer import write_sdf
from botz.models.xml_tree import read_xml
from botz.scenario.multibody.elements import DcMotorElement, LiftDrag, Propeller, UserElement
from botz.scenario.multibody.sensors import (
    Altimeter,
    Barometer,
    ContactSensor,
    Gps,
    Imu,
    LinkSensor,
    Magnetometer,
    RangeFinder,
)
from botz.transforms import transform

MASS = Inertial(1.0, np.array([0.1, 0.2, 0.3]), np.array([[1.0, 0.1, 0.2], [0.1, 1.1, 0.3], [0.2, 0.3, 1.2]]))


def model_with(**parts) -> RobotModel:
    links = {"base": ModelLink("base", MASS), "arm": ModelLink("arm", MASS)}
    joint = ModelJoint("spin", "continuous", "base", "arm", transform(0.1, 0.2, 0.3, 0.4, 1.5707963267948966, 0.6))
    return RobotModel(**({"name": "robot", "links": links, "joints": {"spin": joint}} | parts))


def again(model: RobotModel, tmp_path: Path) -> RobotModel:
    write_sdf(model, tmp_path / "deep" / "robot.sdf")
    return read_sdf(tmp_path / "deep" / "robot.sdf")


def test_the_file_is_plain_sdf(tmp_path: Path):
    assert write_sdf(model_with(), tmp_path / "robot.sdf") == []
    root = read_xml(tmp_path / "robot.sdf")
    assert (root.tag, root.attributes) == ("sdf", {"version": "1.9"})
    (model,) = root.children
    assert [(one.tag, one.get("name")) for one in model.children] == [
        ("link", "base"),
        ("link", "arm"),
        ("joint", "spin"),
    ]


def test_poses_keep_their_digits_where_pitch_is_a_right_angle(tmp_path: Path):
    model = model_with()
    assert again(model, tmp_path).joints["spin"].pose == pytest.approx(model.joints["spin"].pose, abs=1e-15)


def test_masses_come_back_bit_by_bit(tmp_path: Path):
    found = again(model_with(), tmp_path).links["arm"].inertial
    assert found.mass == MASS.mass
    assert np.array_equal(found.centre, MASS.centre)
    assert np.array_equal(found.inertia, MASS.inertia)


def test_a_link_without_mass_stays_without(tmp_path: Path):
    model = model_with()
    links = {**model.links, "frame": ModelLink("frame")}
    joints = {**model.joints, "weld": ModelJoint("weld", "fixed", "arm", "frame")}
    found = again(model_with(links=links, joints=joints), tmp_path)
    assert found.links["frame"].inertial is None, "SDF gives a link that says nothing 1 kg"


def test_armature_has_a_word_of_its_own(tmp_path: Path):
    joint = ModelJoint("spin", "prismatic", "base", "arm", lower=-1.0, upper=None, armature=0.25, stiffness=3, rest=-1)
    found = again(model_with(joints={"spin": joint}), tmp_path).joints["spin"]
    assert (found.armature, found.lower, found.upper, found.stiffness, found.rest) == (0.25, -1, None, 3, -1)


@pytest.mark.parametrize("fixed", ["flag", "world"])
def test_a_fixed_base(tmp_path: Path, fixed: str):
    model = model_with(fixed_base=True)
    if fixed == "world":
        tie = ModelJoint("tie", "fixed", "world", "base", transform(0, 0, 1, 0, 0, 0))
        links = {"world": ModelLink("world"), **model.links}
        model = model_with(links=links, joints={"tie": tie, **model.joints}, fixed_base=True)
    found = again(model, tmp_path)
    assert found.fixed_base
    assert found.root == model.root
    if fixed == "world":
        assert found.joints["tie"].pose[:3, 3] == pytest.approx([0, 0, 1])


def shapes(folder: Path) -> tuple[ModelShape, ...]:
    (folder / "part.stl").write_bytes(b"solid")
    (folder / "other").mkdir()
    (folder / "other" / "part.stl").write_bytes(b"another")
    pose = transform(1, 2, 3, 0.4, 0.5, 0.6)
    return (
        ModelShape("box", (1.0, 2.0, 3.0), pose, colour=(0.1, 0.2, 0.3, 0.4), friction=0.5),
        ModelShape("sphere", (0.5,), visual=False, friction=0.1),
        ModelShape("cylinder", (0.5, 2.0), collision=False),
        ModelShape("capsule", (0.5, 2.0), pose),
        ModelShape("ellipsoid", (0.5, 2.0, 1.0)),
        ModelShape("plane", ()),
        ModelShape("mesh", (), pose, folder / "part.stl", (0.001, 0.001, 0.001)),
        ModelShape("mesh", (), np.eye(4), folder / "other" / "part.stl"),
    )


def test_shapes_and_meshes_beside_the_file(tmp_path: Path):
    given = shapes(tmp_path)
    model = model_with(links={"base": ModelLink("base", MASS, given)}, joints={})
    found = again(model, tmp_path).links["base"].shapes
    assert len(found) == len(given)
    for one, other in zip(given, found, strict=True):
        assert (one.kind, one.size, one.scale, one.visual, one.collision, one.colour) == (
            other.kind, other.size, other.scale, other.visual, other.collision, other.colour,
        )  # fmt: skip
        assert other.pose == pytest.approx(one.pose, abs=1e-15)
        if one.collision:
            assert other.friction == one.friction
        if one.file is not None:
            assert other.file.parent.resolve() == (tmp_path / "deep" / "meshes").resolve()
            assert other.file.read_bytes() == one.file.read_bytes()


SENSORS = {
    "imu": Imu(type="imu", link="arm", pose=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6), rate=400.0, gyro_noise=0.01,
               accel_noise=0.02, gyro_bias_walk=0.003, accel_bias_walk=0.004),
    "gps": Gps(type="gps", link="base", rate=5.0, noise=[1.0, 1.0, 2.0], velocity_noise=[0.1, 0.1, 0.2]),
    "odd_gps": Gps(type="gps", link="base", noise=[1.0, 1.5, 2.0]),
    "mag": Magnetometer(type="magnetometer", link="base", noise=1e-7),
    "alt": Altimeter(type="altimeter", link="base", noise=0.5),
    "baro": Barometer(type="barometer", link="base", noise=3.0),
    "drifting": Barometer(type="barometer", link="base", noise=3.0, drift=0.5),
    "touch": ContactSensor(type="contact", link="base"),
    "push": ContactSensor(type="contact", link="base", threshold=2.0),
    "range": RangeFinder(type="range", link="base", reach=5.0),
    "pose": LinkSensor(type="pose", link="arm"),
}  # fmt: skip


def test_sensors_come_back(tmp_path: Path):
    found = again(model_with(sensors=SENSORS), tmp_path).sensors
    assert set(found) == set(SENSORS)
    for name, sensor in SENSORS.items():
        ours, theirs = sensor.model_dump(), found[name].model_dump()
        for key, value in ours.items():
            assert theirs[key] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-14)), (name, key)
    kinds = {one.get("type") for one in read_xml(tmp_path / "deep" / "robot.sdf").children[0].children[0].all("sensor")}
    assert kinds == {"navsat", "magnetometer", "altimeter", "air_pressure", "contact"}, "as SDF itself says it"


def test_elements_and_actuators_come_back(tmp_path: Path):
    elements = {
        "rotor": Propeller(type="propeller", joint="spin", coefficient=2e-5, sense="cw", max_force=9.0, lag_up=0.1),
        "wing": LiftDrag(type="lift-drag", link="arm", area=0.5, cla=4.0, cp=[0.1, 0.0, 0.2], cd0=0.02),
        "motor": DcMotorElement(type="dc-motor", joint="spin", resistance=1.0, torque_constant=0.01),
    }
    actuators = {"spin": ModelActuator("spin", "velocity", speed=900.0, lag=0.0125, lag_down=0.025)}
    found = again(model_with(elements=elements, actuators=actuators), tmp_path)
    assert found.elements == elements
    asked = found.actuators["spin"]
    assert (asked.kind, asked.speed, asked.lag, asked.lag_down) == ("velocity", 900, 0.0125, 0.025)


def test_a_users_function_is_left_to_the_scenario(tmp_path: Path):
    lost = write_sdf(model_with(elements={"mine": UserElement(type="file.py:Mine", link="arm")}), tmp_path / "a.sdf")
    assert "'mine' is a function of yours" in lost[0].message
    assert read_sdf(tmp_path / "a.sdf").elements == {}


def test_names_of_nested_models_become_plain_ones(tmp_path: Path):
    links = {"base": ModelLink("base", MASS), "arm::hand": ModelLink("arm::hand", MASS)}
    joints = {"arm::wrist": ModelJoint("arm::wrist", "continuous", "base", "arm::hand")}
    actuators = {"arm::wrist": ModelActuator("arm::wrist", "effort")}
    sensors = {"s": LinkSensor(type="pose", link="arm::hand")}
    model = model_with(links=links, joints=joints, actuators=actuators, sensors=sensors)
    lost = write_sdf(model, tmp_path / "a.sdf")
    assert "arm::hand as arm__hand" in lost[0].message
    found = read_sdf(tmp_path / "a.sdf")
    assert list(found.links) == ["base", "arm__hand"]
    assert found.joints["arm__wrist"].child == "arm__hand"
    assert found.actuators["arm__wrist"].kind == "effort"
    assert found.sensors["s"].link == "arm__hand"


def test_a_joint_of_a_links_name_gets_another(tmp_path: Path):
    joint = ModelJoint("arm", "continuous", "base", "arm")
    elements = {"motor": DcMotorElement(type="dc-motor", joint="arm", resistance=1.0, torque_constant=0.01)}
    sensors = {"s": LinkSensor(type="pose", link="arm")}
    actuators = {"arm": ModelActuator("arm", "effort")}
    model = model_with(joints={"arm": joint}, elements=elements, sensors=sensors, actuators=actuators)
    assert "arm as arm_joint" in write_sdf(model, tmp_path / "a.sdf")[0].message
    found = read_sdf(tmp_path / "a.sdf")
    assert (list(found.joints), found.joints["arm_joint"].child) == (["arm_joint"], "arm")
    assert found.elements["motor"].joint == "arm_joint"
    assert found.actuators["arm_joint"].kind == "effort"
    assert found.sensors["s"].link == "arm"


@pytest.mark.parametrize("name", ["a & b", 'say "it"', "<x>", "größe"])
def test_names_with_signs_of_xml(tmp_path: Path, name: str):
    found = again(model_with(name=name, links={name: ModelLink(name, MASS)}, joints={}), tmp_path)
    assert (found.name, list(found.links)) == (name, [name])
