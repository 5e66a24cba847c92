"""SDF files: shapes, sensors and plugins of their links, and every mistake with its line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sdf_texts import AXIS, read_inside, two_links

from botz.errors import InputError
from botz.models.robot_model import RobotModel
from botz.models.sdf.reader import read_sdf
from botz.scenario.multibody.elements import LiftDrag, Propeller
from botz.scenario.multibody.sensors import Altimeter, Barometer, ContactSensor, Gps, Imu, Magnetometer, RangeFinder
from botz.transforms import rotation_from_rpy


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., RobotModel]:
    return partial(read_inside, tmp_path)


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
        ('<link name="a"><M/><visual name="v"><geometry><sphere><radius>-1</radius></sphere></geometry></visual>'
         "</link>", 3, "sizes are positive"),
        ('<link name="a"><M/><collision name="c">\n<geometry><mesh><uri>no.stl</uri></mesh></geometry></collision>'
         "</link>", 4, "no.stl"),
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
