"""SDF files: frames, includes, joints, parts, and every mistake with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from botz.errors import InputError
from botz.scenario.elements import LiftDrag, Propeller
from botz.scenario.sensors import Altimeter, Barometer, ContactSensor, Gps, Imu, Magnetometer, RangeFinder
from botz.scene.robot_model import RobotModel, rotation_from_rpy, transform
from botz.scene.sdf_reader import read_sdf

MASS = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"


@pytest.fixture
def read(tmp_path: Path):
    def reading(inside: str, version: str = "1.9", **others: str) -> RobotModel:
        """The model with this inside; `M` stands for a mass."""
        path = tmp_path / "robot.sdf"
        text = f'<sdf version="{version}">\n<model name="robot">\n{inside}\n</model>\n</sdf>'
        path.write_text(text.replace("<M/>", MASS))
        return read_sdf(path)

    return reading


def two_links(joint: str, child: str = "", kind: str = "revolute") -> str:
    """A base and an arm, with what the joint and the arm say."""
    return (
        f'<link name="base"><M/></link>\n<link name="arm">{child}<M/></link>\n'
        f'<joint name="elbow" type="{kind}"><parent>base</parent><child>arm</child>{joint}</joint>'
    )


AXIS = "<axis><xyz>0 0 1</xyz></axis>"


# --- frames ----------------------------------------------------------------------------------------------------


def test_a_link_is_placed_in_the_model(read):
    model = read(two_links(AXIS, "<pose>1 2 3 0.1 0.2 0.3</pose>"))
    assert model.root == "base"
    assert model.joints["elbow"].pose == pytest.approx(transform(1, 2, 3, 0.1, 0.2, 0.3))
    assert model.links["arm"].inertial.centre == pytest.approx([0, 0, 0])
    assert not model.fixed_base


def test_a_joint_beside_the_links_origin_takes_the_links_frame_along(read):
    arm = "<pose>1 0 0 0 0 1.5707963267948966</pose>"
    arm += '<collision name="c"><pose>0 0 0.5 0 0 0</pose><geometry><sphere><radius>1</radius></sphere></geometry>'
    model = read(two_links("<pose>0.2 0 0 0.3 0 0</pose>" + AXIS, arm + "</collision>"))
    joint = model.joints["elbow"]
    # The link is turned by 90° about z, so that 0.2 along its x is 0.2 along y of the base.
    assert joint.pose == pytest.approx(transform(1, 0.2, 0, 0, 0, np.pi / 2))
    assert joint.axis == pytest.approx([0, -np.sin(0.3), np.cos(0.3)])
    assert model.links["arm"].inertial.centre == pytest.approx([-0.2, 0, 0])
    assert model.links["arm"].shapes[0].pose[:3, 3] == pytest.approx([-0.2, 0, 0.5])


def test_a_slide_leaves_the_links_frame(read):
    model = read(two_links("<pose>0.2 0 0 0 0 0</pose>" + AXIS, "<pose>1 0 0 0 0 0</pose>", "prismatic"))
    assert model.joints["elbow"].pose == pytest.approx(transform(1, 0, 0, 0, 0, 0))


def test_children_of_a_moved_link_stay_where_they_are(read):
    inside = two_links("<pose>0.2 0 0 0 0 0</pose>" + AXIS, "<pose>1 0 0 0 0 0</pose>")
    inside += '<link name="hand"><pose>3 0 0 0 0 0</pose><M/></link>'
    inside += '<joint name="wrist" type="fixed"><parent>arm</parent><child>hand</child></joint>'
    model = read(inside)
    assert (model.joints["elbow"].pose @ model.joints["wrist"].pose)[:3, 3] == pytest.approx([3, 0, 0])


def test_poses_relative_to_links_frames_and_joints(read):
    inside = """
    <link name="base"><pose>0 0 1 0 0 1.5707963267948966</pose><M/></link>
    <frame name="mount" attached_to="base"><pose>1 0 0 0 0 0</pose></frame>
    <frame name="further" attached_to="mount"><pose relative_to="__model__">0 0 0 0 0 0</pose></frame>
    <link name="arm"><pose relative_to="mount">1 0 0 0 0 0</pose><M/></link>
    <joint name="elbow" type="revolute"><pose relative_to="mount">0 0 0.5 0 0 0</pose>
      <parent>further</parent><child>arm</child><axis><xyz expressed_in="__model__">1 0 0</xyz></axis></joint>
    <link name="hand"><pose relative_to="elbow">0 0 2 0 0 0</pose>
      <inertial><pose relative_to="__model__">0 0 0 0 0 0</pose><mass>2</mass></inertial></link>
    <joint name="wrist" type="fixed"><parent>arm</parent><child>hand</child></joint>"""
    model = read(inside)
    assert model.joints["elbow"].parent == "base", "the frame `further` moves with the base"
    assert model.joints["elbow"].pose == pytest.approx(transform(1, 0, 0.5, 0, 0, 0))
    assert model.joints["elbow"].axis == pytest.approx([0, -1, 0])
    assert model.joints["wrist"].pose == pytest.approx(transform(0, 0, 2, 0, 0, 0))
    # The hand is at (0, 1, 3.5) of the model and turned by 90° about z.
    assert model.links["hand"].inertial.centre == pytest.approx([-1, 0, -3.5])


@pytest.mark.parametrize(
    ("pose", "expected"),
    [
        ("<pose>1 2 3 0.1 0.2 0.3</pose>", transform(1, 2, 3, 0.1, 0.2, 0.3)),
        ('<pose degrees="true">1 2 3 90 0 0</pose>', transform(1, 2, 3, np.pi / 2, 0, 0)),
        ('<pose rotation_format="euler_rpy" degrees="1">0 0 0 0 0 180</pose>', transform(0, 0, 0, 0, 0, np.pi)),
        ('<pose rotation_format="quat_xyzw">1 2 3  0 0 1 1</pose>', transform(1, 2, 3, 0, 0, np.pi / 2)),
        ("<pose/>", np.eye(4)),
    ],
)
def test_notations_of_poses(read, pose: str, expected: np.ndarray):
    assert read(two_links(AXIS, pose)).joints["elbow"].pose == pytest.approx(expected)


@pytest.mark.parametrize(
    ("version", "flag", "expected"),
    [
        ("1.4", "", [1, 0, 0]),
        ("1.5", "", [0, 1, 0]),
        ("1.6", "<use_parent_model_frame>true</use_parent_model_frame>", [1, 0, 0]),
        ("1.9", "", [0, 1, 0]),
    ],
)
def test_what_an_axis_is_said_in_depends_on_the_version(read, version: str, flag: str, expected: list[float]):
    axis = f"<axis><xyz>0 1 0</xyz>{flag}</axis>"
    # The arm is turned by 90° about z: y of the model is its x.
    model = read(two_links(axis, "<pose>0 0 0 0 0 1.5707963267948966</pose>"), version)
    assert model.joints["elbow"].axis == pytest.approx(expected)


# --- joints ----------------------------------------------------------------------------------------------------


def test_limits_and_dynamics(read):
    axis = (
        "<axis><xyz>0 0 2</xyz><limit><lower>-1</lower><upper>2</upper><effort>3</effort><velocity>4</velocity></limit>"
        "<dynamics><damping>0.1</damping><friction>0.2</friction><spring_stiffness>5</spring_stiffness>"
        "<spring_reference>0.5</spring_reference></dynamics></axis>"
    )
    joint = read(two_links(axis)).joints["elbow"]
    assert joint.axis == (0, 0, 1)
    assert (joint.kind, joint.lower, joint.upper, joint.effort, joint.speed) == ("revolute", -1, 2, 3, 4)
    assert (joint.damping, joint.friction, joint.stiffness, joint.rest) == (0.1, 0.2, 5, 0.5)


@pytest.mark.parametrize(
    ("limit", "kind", "lower", "upper"),
    [
        ("", "continuous", None, None),
        ("<lower>-1e16</lower><upper>1e16</upper>", "continuous", None, None),
        ("<lower>-inf</lower><upper>inf</upper>", "continuous", None, None),
        ("<lower>-1</lower><upper>1e16</upper>", "revolute", -1.0, None),
    ],
)
def test_a_turn_without_limits_is_continuous(read, limit: str, kind: str, lower: float | None, upper: float | None):
    joint = read(two_links(f"<axis><xyz>0 0 1</xyz><limit>{limit}<effort>-1</effort></limit></axis>")).joints["elbow"]
    assert (joint.kind, joint.lower, joint.upper, joint.effort, joint.speed) == (kind, lower, upper, None, None)


def test_a_joint_to_the_world_fixes_the_base(read):
    model = read('<link name="base"><M/></link><joint name="tie" type="fixed"><parent>world</parent>'
                 "<child>base</child></joint>")  # fmt: skip
    assert model.fixed_base
    assert list(model.links) == ["base"]
    assert not model.joints


def test_a_pendulum_hangs_on_the_world(read):
    inside = '<link name="rod"><pose>0 0 2 0 0 0</pose><M/></link>'
    inside += f'<joint name="pivot" type="revolute"><parent>world</parent><child>rod</child>{AXIS}</joint>'
    model = read(inside)
    assert model.fixed_base
    assert model.root == "world"
    assert model.links["world"].inertial is None
    assert model.joints["pivot"].pose[:3, 3] == pytest.approx([0, 0, 2])


def test_a_static_model_is_one_piece(read):
    inside = f'<static>true</static>{two_links(AXIS)}<link name="loose"><pose>0 0 5 0 0 0</pose></link>'
    model = read(inside)
    assert model.fixed_base
    assert {joint.kind for joint in model.joints.values()} == {"fixed"}
    assert model.joints["loose_held"].pose[:3, 3] == pytest.approx([0, 0, 5])


# --- nested and included models --------------------------------------------------------------------------------

NESTED = """
<link name="base"><M/></link>
<frame name="flange" attached_to="base"><pose>0 0 1 0 0 0</pose></frame>
<model name="arm" placement_frame="{placement}">
  <pose relative_to="flange">1 0 0 0 0 0</pose>
  <link name="upper"><pose>0 0 0.5 0 0 0</pose><M/></link>
  <link name="lower"><pose relative_to="upper">0 0 0.5 0 0 0</pose><M/></link>
  <joint name="elbow" type="revolute"><parent>upper</parent><child>lower</child><axis><xyz>0 1 0</xyz></axis></joint>
</model>
<joint name="mount" type="fixed"><parent>base</parent><child>{child}</child></joint>"""


@pytest.mark.parametrize(
    ("placement", "expected"), [("__model__", [1, 0, 1.5]), ("upper", [1, 0, 1]), ("lower", [1, 0, 0.5])]
)
@pytest.mark.parametrize("child", ["arm::upper", "arm"])
def test_nested_models(read, placement: str, expected: list[float], child: str):
    model = read(NESTED.format(placement=placement, child=child))
    assert list(model.links) == ["base", "arm::upper", "arm::lower"]
    assert model.joints["mount"].child == "arm::upper", "the first link is the model's own where none is said"
    assert model.joints["mount"].pose[:3, 3] == pytest.approx(expected)
    assert model.joints["arm::elbow"].parent == "arm::upper"
    assert model.joints["arm::elbow"].pose[:3, 3] == pytest.approx([0, 0, 0.5])


def part_files(folder: Path, name: str = "gripper") -> Path:
    """A model's folder with its model.config, in which the newer file counts."""
    home = folder / name
    home.mkdir(parents=True)
    (home / "model.config").write_text(
        '<model><name>G</name><sdf version="1.5">old.sdf</sdf><sdf version="1.9">new.sdf</sdf></model>'
    )
    text = f"""<sdf version="1.9"><model name="grip"><pose>9 9 9 0 0 0</pose><link name="palm">{MASS}</link>
      <link name="finger"><pose>0 0 0.1 0 0 0</pose>{MASS}</link>
      <joint name="close" type="prismatic"><parent>palm</parent><child>finger</child>{AXIS}</joint>
      <plugin filename="gz-sim-joint-position-controller-system" name="gz::sim::systems::JointPositionController">
        <joint_name>close</joint_name></plugin></model></sdf>"""
    (home / "new.sdf").write_text(text)
    return home


@pytest.mark.parametrize("uri", ["gripper", "gripper/new.sdf", "model://gripper", "package://gripper/new.sdf"])
def test_includes_beside_the_file(read, tmp_path: Path, uri: str):
    part_files(tmp_path)
    inside = f"""<link name="base"><M/></link><include><uri>{uri}</uri><name>right</name>
      <pose>1 0 0 0 0 0</pose></include>
      <joint name="mount" type="fixed"><parent>base</parent><child>right::palm</child></joint>"""
    model = read(inside)
    assert list(model.links) == ["base", "right::palm", "right::finger"]
    assert model.joints["mount"].pose[:3, 3] == pytest.approx([1, 0, 0]), "the include's pose replaces the model's"
    assert model.actuators["right::close"].kind == "position", "names in a nested plugin are the nested model's"


def test_the_same_model_twice_under_two_names(read, tmp_path: Path):
    part_files(tmp_path / "models")
    inside = '<link name="base"><M/></link>'
    for side in ("left", "right"):
        inside += f"<include><uri>model://gripper</uri><name>{side}</name></include>"
        inside += f'<joint name="{side}" type="fixed"><parent>base</parent><child>{side}::palm</child></joint>'
    with pytest.raises(InputError, match="the name 'left' is taken"):
        read(inside)
    model = read(inside.replace('joint name="', 'joint name="mount_'))
    assert {"left::finger", "right::finger"} <= set(model.links)


def test_merged_includes_have_no_names_of_their_own(read, tmp_path: Path):
    part_files(tmp_path)
    inside = """<link name="base"><M/></link><include merge="true"><uri>gripper</uri><pose>0 0 2 0 0 0</pose></include>
      <joint name="mount" type="fixed"><parent>base</parent><child>palm</child></joint>"""
    model = read(inside)
    assert list(model.links) == ["base", "palm", "finger"]
    assert model.joints["mount"].pose[:3, 3] == pytest.approx([0, 0, 2])
    assert "close" in model.joints


@pytest.mark.parametrize("variable", ["GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH"])
def test_includes_in_folders_that_the_environment_names(read, tmp_path: Path, monkeypatch, variable: str):
    part_files(tmp_path / "far" / "away")
    inside = "<include><uri>model://gripper</uri></include>"
    with pytest.raises(InputError, match=r"cannot find 'model://gripper'.*GZ_SIM_RESOURCE_PATH"):
        read(inside)
    monkeypatch.setenv(variable, str(tmp_path / "far" / "away"))
    assert "grip::palm" in read(inside).links


def test_packages_are_folders_relative_to_the_file(tmp_path: Path):
    part_files(tmp_path / "far")
    path = tmp_path / "a.sdf"
    path.write_text(
        '<sdf version="1.9"><model name="m"><include><uri>package://g/new.sdf</uri></include></model></sdf>'
    )
    assert "grip::palm" in read_sdf(path, {"g": "far/gripper"}).links


# --- worlds ----------------------------------------------------------------------------------------------------

WORLD = """<sdf version="1.7"><world name="w"><include><uri>https://fuel.gazebosim.org/x/models/Sun</uri></include>
<model name="ground"><static>true</static><link name="l"/></model>{more}
<model name="robot"><pose>0 0 1 0 0 0</pose><link name="body">{mass}</link></model></world></sdf>"""


def test_the_one_model_of_a_world_that_is_not_static(tmp_path: Path):
    path = tmp_path / "a.world"
    path.write_text(WORLD.format(more="", mass=MASS))
    model = read_sdf(path)
    assert (model.name, list(model.links)) == ("robot", ["body"])
    told = "\n".join(str(note) for note in model.notes)
    assert "left out: ground" in told
    assert "on the network, which is never asked" in told
    assert "the scenario places the robot" in told


def test_of_several_models_one_must_be_named(tmp_path: Path):
    path = tmp_path / "a.world"
    path.write_text(WORLD.format(more=f'<model name="other"><link name="x">{MASS}</link></model>', mass=MASS))
    with pytest.raises(InputError, match=r"several models \(other, robot\); put the one"):
        read_sdf(path)
    assert list(read_sdf(path, model="other").links) == ["x"]
    with pytest.raises(InputError, match="no model 'robo'; did you mean 'robot'"):
        read_sdf(path, model="robo")


# --- parts of links --------------------------------------------------------------------------------------------


def test_inertia_is_turned_into_the_links_axes(read):
    inertial = """<inertial><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose><mass>2</mass><inertia><ixx>1</ixx><iyy>2</iyy>
      <izz>2.5</izz><ixy>0.1</ixy><ixz>0.2</ixz><iyz>0.3</iyz></inertia></inertial>"""
    found = read(f'<link name="a">{inertial}</link>').links["a"].inertial
    turn = rotation_from_rpy(0.4, 0.5, 0.6)
    assert found.mass == 2
    assert found.centre == pytest.approx([0.1, 0.2, 0.3])
    assert found.inertia == pytest.approx(turn @ [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]] @ turn.T)


@pytest.mark.parametrize(
    ("geometry", "kind", "size"),
    [
        ("<box><size>1 2 3</size></box>", "box", (1, 2, 3)),
        ("<sphere><radius>2</radius></sphere>", "sphere", (2,)),
        ("<cylinder><radius>1</radius><length>3</length></cylinder>", "cylinder", (1, 3)),
        ("<capsule><radius>1</radius><length>3</length></capsule>", "capsule", (1, 3)),
        ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", "ellipsoid", (1, 2, 3)),
        ("<plane><normal>1 0 0</normal><size>900 900</size></plane>", "plane", ()),
        ("<mesh><uri>part.stl</uri><scale>0.001 0.001 0.001</scale></mesh>", "mesh", ()),
    ],
)
def test_shapes(read, tmp_path: Path, geometry: str, kind: str, size: tuple[float, ...]):
    (tmp_path / "part.stl").write_bytes(b"")
    visual = f'<visual name="v"><geometry>{geometry}</geometry><material><diffuse>0.1 0.2 0.3 1</diffuse></material>'
    surface = "<surface><friction><ode><mu>0.4</mu></ode></friction></surface>"
    collision = f'<collision name="c"><geometry>{geometry}</geometry>{surface}</collision>'
    (shape,) = read(f'<link name="a"><M/>{visual}</visual>{collision}</link>').links["a"].shapes
    assert (shape.kind, shape.size, shape.visual, shape.collision) == (kind, size, True, True)
    assert shape.colour == (0.1, 0.2, 0.3, 1)
    assert shape.friction == 0.4
    if kind == "plane":
        assert shape.pose[:3, 2] == pytest.approx([1, 0, 0])
        assert np.linalg.det(shape.pose) == pytest.approx(1)
    if kind == "mesh":
        assert shape.file == tmp_path / "part.stl"
        assert shape.scale == (0.001, 0.001, 0.001)


def test_shapes_that_differ_stay_apart_and_unknown_ones_are_told(read):
    inside = """<link name="a"><M/>
      <visual name="v"><transparency>0.25</transparency><geometry><sphere><radius>1</radius></sphere></geometry>
        <material><script><name>Gazebo/Red</name></script></material></visual>
      <collision name="c"><geometry><sphere><radius>2</radius></sphere></geometry></collision>
      <visual name="h"><geometry><heightmap/></geometry></visual></link>"""
    model = read(inside)
    seen, touched = model.links["a"].shapes
    assert (seen.visual, seen.collision, touched.visual, touched.collision) == (True, False, False, True)
    assert seen.colour == (1, 0, 0, 0.75)
    assert touched.friction == 0.8
    assert any("<heightmap> is not read" in note.message and note.line == 7 for note in model.notes)


def test_a_small_plane_that_is_seen_is_a_sticker(read):
    plane = "<geometry><plane><normal>0 1 0</normal><size>0.3 0.2</size></plane></geometry>"
    inside = f'<link name="a"><M/><visual name="v">{plane}</visual><collision name="c">{plane}</collision></link>'
    seen, touched = read(inside).links["a"].shapes
    assert (seen.kind, seen.size[:2], touched.kind) == ("box", (0.3, 0.2), "plane")
    assert seen.pose[:3, 2] == pytest.approx([0, 1, 0])


def noise(spread: float, more: str = "") -> str:
    return f'<noise type="gaussian"><mean>0</mean><stddev>{spread}</stddev>{more}</noise>'


def test_sensors(read):
    walk = "<dynamic_bias_stddev>0.001</dynamic_bias_stddev>"
    rates = "".join(f"<{axis}>{noise(0.2, walk)}</{axis}>" for axis in "xyz")
    forces = "".join(f"<{axis}>{noise(0.5)}</{axis}>" for axis in "xyz")
    inside = f"""<link name="a"><M/>
    <sensor name="imu" type="imu"><pose>0.1 0 0 0 0 0.5</pose><update_rate>400</update_rate>
      <imu><angular_velocity>{rates}</angular_velocity>
      <linear_acceleration>{forces}</linear_acceleration></imu></sensor>
    <sensor name="gps" type="navsat"><navsat><position_sensing><horizontal>{noise(1)}</horizontal>
      <vertical>{noise(2)}</vertical></position_sensing><velocity_sensing><vertical>{noise(0.1)}</vertical>
      </velocity_sensing></navsat></sensor>
    <sensor name="mag" type="magnetometer"><magnetometer><x>{noise(1e-7)}</x>
      <y>{noise(2e-7)}</y></magnetometer></sensor>
    <sensor name="alt" type="altimeter"><altimeter>
      <vertical_position>{noise(0.3)}</vertical_position></altimeter></sensor>
    <sensor name="baro" type="air_pressure"><air_pressure><pressure>{noise(5)}</pressure></air_pressure></sensor>
    <sensor name="touch" type="contact"><contact><collision>c</collision></contact></sensor>
    <sensor name="sonar" type="ray"><ray><scan><horizontal><samples>1</samples></horizontal></scan>
      <range><min>0.1</min><max>7</max></range>{noise(0.01)}</ray></sensor>
    <sensor name="eye" type="camera"/></link>"""
    model = read(inside)
    imu = model.sensors["imu"]
    assert isinstance(imu, Imu)
    assert imu.link == "a"
    assert imu.pose == pytest.approx((0.1, 0, 0, 0, 0, 0.5))
    assert imu.rate == 400
    # A reading's standard deviation is the density times the root of the rate.
    assert (imu.gyro_noise, imu.accel_noise) == pytest.approx((0.2 / 20, 0.5 / 20))
    assert (imu.gyro_bias_walk, imu.accel_bias_walk) == (0.001, 0)
    gps = model.sensors["gps"]
    assert isinstance(gps, Gps)
    assert (gps.noise, gps.velocity_noise, gps.rate) == ([1, 1, 2], [0, 0, 0.1], 10)
    mag, alt, baro = (model.sensors[name] for name in ("mag", "alt", "baro"))
    assert isinstance(mag, Magnetometer) and mag.noise == 2e-7
    assert isinstance(alt, Altimeter) and alt.noise == 0.3
    assert isinstance(baro, Barometer) and baro.noise == 5
    assert isinstance(model.sensors["touch"], ContactSensor)
    sonar = model.sensors["sonar"]
    assert isinstance(sonar, RangeFinder) and (sonar.reach, sonar.noise) == (7, 0.01)
    assert any("'eye' of type 'camera' is not read" in note.message for note in model.notes)


def test_a_sensor_moves_with_its_links_frame(read):
    arm = '<sensor name="s" type="altimeter"><pose>0 0 1 0 0 0</pose></sensor>'
    model = read(two_links("<pose>0.2 0 0 0 0 0</pose>" + AXIS, arm))
    assert model.sensors["s"].pose == pytest.approx((-0.2, 0, 1, 0, 0, 0))


# --- plugins ---------------------------------------------------------------------------------------------------


def test_plugins_become_elements(read):
    plugins = """<plugin filename="gz-sim-multicopter-motor-model-system"
      name="gz::sim::systems::MulticopterMotorModel">
      <jointName>elbow</jointName><linkName>arm</linkName><turningDirection>cw</turningDirection>
      <motorConstant>2e-5</motorConstant></plugin>
    <plugin filename="gz-sim-lift-drag-system" name="gz::sim::systems::LiftDrag"><link_name>arm</link_name>
      <area>0.5</area><cp>0.3 0 0.1</cp></plugin>
    <plugin filename="libunknown.so" name="strange"/>"""
    model = read(two_links("<pose>0.2 0 0 0 0 0</pose>" + AXIS) + plugins)
    rotor = next(one for one in model.elements.values() if isinstance(one, Propeller))
    wing = next(one for one in model.elements.values() if isinstance(one, LiftDrag))
    assert (rotor.joint, rotor.sense, rotor.coefficient) == ("elbow", "cw", 2e-5)
    assert model.actuators["elbow"].kind == "velocity"
    assert wing.cp == pytest.approx([0.1, 0, 0.1]), "said in the link's frame, which was moved to the joint"
    assert any("'strange'" in note.message and note.line is not None for note in model.notes)


# --- mistakes --------------------------------------------------------------------------------------------------

LINK = '<link name="a"><M/></link>'


@pytest.mark.parametrize(
    ("inside", "line", "words"),
    [
        ("", 2, "has no links"),
        (two_links(AXIS, kind="ball"), 5, "of type 'ball', which cannot be read; replace it by three revolute"),
        (two_links(AXIS, kind="screw"), 5, "of type 'screw'"),
        (two_links(AXIS, kind="universal"), 5, "of type 'universal'"),
        (two_links(AXIS, kind="revolut"), 5, "unknown type 'revolut'; did you mean 'revolute'"),
        (two_links(""), 5, "needs <axis>"),
        (two_links("<axis><xyz>0 0 0</xyz></axis>"), 5, "needs a direction"),
        (two_links("<axis><xyz>0 1</xyz></axis>"), 5, "needs 3 numbers"),
        (two_links('<axis><xyz expressed_in="nobody">0 0 1</xyz></axis>'), 5, "no frame 'nobody'"),
        (two_links(AXIS, "<pose>1 2 3</pose>"), 4, "needs 6 numbers, not 3"),
        (two_links(AXIS, "<pose>1 2 3 a 0 0</pose>"), 4, "not 'a'"),
        (two_links(AXIS, '<pose rotation_format="euler">1 2 3 0 0 0</pose>'), 4, "euler_rpy or quat_xyzw"),
        (two_links(AXIS, '<pose rotation_format="quat_xyzw">1 2 3 0 0 0 0</pose>'), 4, "quaternion"),
        (two_links(AXIS, '<pose relative_to="bas">0 0 0 0 0 0</pose>'), 4, "no frame 'bas'; did you mean 'base'"),
        (two_links(AXIS, '<pose relative_to="elbow">0 0 0 0 0 0</pose>'), 4, "in a circle: arm -> elbow -> arm"),
        (two_links("<axis><limit><lower>2</lower><upper>1</upper></limit></axis>"), 5, "begins at 2, after its end 1"),
        (two_links("<axis><dynamics><damping>-1</damping></dynamics></axis>"), 5, "not negative"),
        (LINK + LINK, 3, "the name 'a' is taken by <link> in line 3"),
        ('<link name="world"><M/></link>', 3, "SDF's own"),
        ("<link><M/></link>", 3, "needs the attribute 'name'"),
        (LINK + '\n<joint name="j" type="fixed"><parent>a</parent><child>b</child></joint>', 4, "no link 'b'"),
        (LINK + '\n<joint name="j" type="fixed"><parent>b</parent><child>a</child></joint>', 4, "no link 'b'"),
        (LINK + '\n<joint name="j" type="fixed"><parent>a</parent></joint>', 4, "needs <child>"),
        (LINK + '\n<joint name="j" type="fixed"><parent>a</parent><child>world</child></joint>', 4, "moves the world"),
        (LINK + '\n<link name="b"><M/></link>', 4, "hangs on no joint"),
        (two_links(AXIS) + '\n<joint name="k" type="fixed"><parent>base</parent><child>arm</child></joint>', 6,
         "two parents"),
        (two_links(AXIS) + '<joint name="k" type="fixed"><parent>arm</parent><child>base</child></joint>', 5,
         "in a circle"),
        ('<frame name="f" attached_to="g"/>\n<frame name="g" attached_to="f"/>' + LINK, 3, "in a circle: f -> g -> f"),
        ('<link name="a"/>', 3, "no mass"),
        ('<link name="a"><inertial><mass>-1</mass></inertial></link>', 3, "not negative"),
        ('<link name="a"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>5</izz></inertia></inertial>'
         "</link>", 3, "inertia"),
        ('<link name="a"><M/><visual name="v"/></link>', 3, "needs <geometry>"),
        ('<link name="a"><M/><visual name="v"><geometry><box/></geometry></visual></link>', 3, "needs <size>"),
        ('<link name="a"><M/><visual name="v"><geometry><sphere><radius>0</radius></sphere></geometry></visual></link>',
         3, "sizes are positive"),
        ('<link name="a"><M/><visual name="v">\n<geometry><mesh><uri>no.stl</uri></mesh></geometry></visual></link>', 4,
         "no.stl"),
        ('<link name="a"><M/>\n<sensor name="s" type="altimeter"><altimeter><vertical_position><noise type="gaussian">'
         "<stddev>-1</stddev></noise></vertical_position></altimeter></sensor></link>", 4, "sensor 's'"),
        (LINK + "\n<include/>", 4, "needs <uri>"),
        (LINK + "\n<include><uri>nowhere.sdf</uri></include>", 4, "no 'nowhere.sdf'"),
        (LINK + "\n<include><uri>ftp://x/y</uri></include>", 4, "cannot follow ftp://"),
        (LINK + "\n<include><uri>robot.sdf</uri></include>", 4, "in a circle: robot.sdf -> robot.sdf"),
    ],
)  # fmt: skip
def test_mistakes_have_line_and_remedy(read, tmp_path: Path, inside: str, line: int, words: str):
    with pytest.raises(InputError) as found:
        read(inside)
    told = [one for one in found.value.problems if words in one.message]
    assert told, [str(one) for one in found.value.problems]
    assert told[0].line == line
    assert told[0].file == tmp_path / "robot.sdf"


def test_many_mistakes_are_told_at_once(read):
    inside = two_links("<axis><xyz>0 0 0</xyz></axis>", '<pose relative_to="x">0 0 0 0 0 0</pose>')
    inside += '<link name="b"><inertial><mass>-2</mass></inertial></link>'
    inside += '<joint name="j" type="screw"><parent>arm</parent><child>b</child></joint>'
    with pytest.raises(InputError) as found:
        read(inside)
    told = "\n".join(str(one) for one in found.value.problems)
    for words in ("needs a direction", "no frame 'x'", "not negative", "'screw'"):
        assert words in told


def test_files_that_include_each_other(tmp_path: Path):
    for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{one}.sdf").write_text(
            f'<sdf version="1.9"><model name="{one}">\n<include><uri>{other}.sdf</uri></include></model></sdf>'
        )
    with pytest.raises(InputError, match=r"a\.sdf -> b\.sdf -> c\.sdf -> a\.sdf") as found:
        read_sdf(tmp_path / "a.sdf")
    assert found.value.problems[0].file == tmp_path / "c.sdf"
    assert found.value.problems[0].line == 2


def test_includes_that_double_are_stopped(tmp_path: Path):
    for k in range(20):
        twice = "".join(f"<include><uri>{k + 1}.sdf</uri><name>{side}</name></include>" for side in "ab")
        (tmp_path / f"{k}.sdf").write_text(f'<sdf version="1.9"><model name="m">{twice}</model></sdf>')
    (tmp_path / "20.sdf").write_text('<sdf version="1.9"><model name="m"><link name="l"/></model></sdf>')
    with pytest.raises(InputError, match="more than 1000 models are included"):
        read_sdf(tmp_path / "0.sdf")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<sdf version="1.3"><model name="m"/></sdf>', "versions 1.4 to 1.12 are read, not '1.3'"),
        ('<sdf version="2.0"><model name="m"/></sdf>', "not '2.0'"),
        ("<sdf><model name='m'/></sdf>", "not None"),
        ("<robot/>", "this is a URDF file"),
        ("<gazebo/>", "begins with <gazebo>"),
        ('<sdf version="1.9"/>', "holds no <model>"),
        ('<sdf version="1.9"><world name="w"/></sdf>', "holds no <model>"),
        ("<sdf", "not well-formed"),
        ('<!DOCTYPE sdf [<!ENTITY x "y">]><sdf version="1.9"/>', "document type"),
    ],
)
def test_what_is_no_sdf_is_refused(tmp_path: Path, text: str, words: str):
    path = tmp_path / "robot.sdf"
    path.write_text(text)
    with pytest.raises(InputError, match=words.replace("(", r"\(")) as found:
        read_sdf(path)
    assert found.value.problems[0].file == path


def test_an_included_file_with_a_dtd_is_refused(read, tmp_path: Path):
    (tmp_path / "bad.sdf").write_text('<!DOCTYPE sdf [<!ENTITY x "y">]>\n<sdf version="1.9"/>')
    with pytest.raises(InputError, match="document type") as found:
        read(LINK + "<include><uri>bad.sdf</uri></include>")
    assert found.value.problems[0].file == tmp_path / "bad.sdf"
