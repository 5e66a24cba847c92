"""SDF files: frames, joints, includes and worlds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sdf_texts import AXIS, MASS, read_inside, two_links

from botz.errors import InputError
from botz.models.robot_model import RobotModel
from botz.models.sdf.reader import read_sdf
from botz.transforms import transform


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., RobotModel]:
    return partial(read_inside, tmp_path)


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
    with pytest.raises(InputError, match=r"several models \(other, robot\); name one by 'model: other' of the robot"):
        read_sdf(path)
    assert list(read_sdf(path, model="other").links) == ["x"]
    with pytest.raises(InputError, match="no model 'robo'; did you mean 'robot'"):
        read_sdf(path, model="robo")


def test_of_two_models_of_one_name_none_can_be_chosen(tmp_path: Path):
    path = tmp_path / "a.world"
    path.write_text(WORLD.format(more=f'<model name="robot"><link name="x">{MASS}</link></model>', mass=MASS))
    with pytest.raises(InputError, match="holds 2 models called 'robot'; give each a name of its own"):
        read_sdf(path, model="robot")


WITH_WORLD = f"""<sdf version="{{}}"><model name="m"><link name="world"/><link name="body">{MASS}</link>
<joint name="lift" type="prismatic"><parent>world</parent><child>body</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>"""


def test_before_1_7_a_link_called_world_is_the_world(tmp_path: Path):
    path = tmp_path / "a.sdf"
    path.write_text(WITH_WORLD.format("1.6"))
    model = read_sdf(path)
    assert (model.fixed_base, model.joints["lift"].parent, model.joints["lift"].child) == (True, "world", "body")
    assert "is the world itself" in str(model.notes[0])
    path.write_text(WITH_WORLD.format("1.7"))
    with pytest.raises(InputError, match="the name 'world' is SDF's own"):
        read_sdf(path)


MESHED = f"""<sdf version="1.7"><model name="m"><link name="a">{MASS}
<{{0}} name="s"><geometry><mesh><uri>meshes/no.stl</uri></mesh></geometry></{{0}}></link></model></sdf>"""


def test_a_missing_mesh_that_is_only_seen_is_left_out(tmp_path: Path):
    path = tmp_path / "a.sdf"
    path.write_text(MESHED.format("visual"))
    model = read_sdf(path)
    assert model.links["a"].shapes == ()
    assert [(note.line, note.key) for note in model.notes] == [(2, "mesh")]
    assert "mesh 'meshes/no.stl' is missing" in model.notes[0].message
    with pytest.raises(InputError, match=r"no\.stl' is missing"):
        read_sdf(path, missing_meshes="refuse")
    path.write_text(MESHED.format("collision"))
    with pytest.raises(InputError, match="leave it out by 'missing_meshes: ignore'"):
        read_sdf(path)
    assert read_sdf(path, missing_meshes="ignore").links["a"].shapes == ()


def test_a_link_of_mass_0_may_be_the_fixed_root(tmp_path: Path):
    path = tmp_path / "a.sdf"
    nothing = "<inertial><mass>0</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    path.write_text(
        f"""<sdf version="1.7"><model name="m"><link name="a">{nothing}</link><link name="b">{MASS}</link>
<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
    )
    with pytest.raises(InputError, match=r"link a: moves, but has no mass.* or give the robot 'base: fixed'"):
        read_sdf(path)
    model = read_sdf(path, fixed=True)
    assert model.links["a"].inertial is None
    assert "its inertia is not read" in model.notes[0].message
