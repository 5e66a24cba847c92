"""URDF files: what is read, what is noted, and what is refused with its line and remedy."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import mujoco
import numpy as np
import pytest

from botz.errors import InputError
from botz.models.meshes.files import resolve_mesh
from botz.models.mj_world import compile_model
from botz.models.urdf.reader import read_urdf
from botz.transforms import rotation_from_rpy

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "continuous") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def written(folder: Path, *parts: str, name: str = "robot.urdf") -> Path:
    file = folder / name
    file.write_text("\n".join(["<robot name='bot'>", *parts, "</robot>"]), encoding="utf-8")
    return file


def test_links_with_full_inertia_in_turned_axes(tmp_path: Path):
    inertial = """<inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.4 1.2"/><mass value="2"/>
      <inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial>"""
    model = read_urdf(written(tmp_path, link("base", inertial)))
    body = model.links["base"].inertial
    tensor = np.array([[0.3, 0.01, -0.02], [0.01, 0.4, 0.03], [-0.02, 0.03, 0.5]])
    turn = rotation_from_rpy(0.3, -0.4, 1.2)
    assert body is not None
    assert (body.mass, body.centre.tolist(), body.place.line) == (2.0, [0.1, 0.2, 0.3], 3)
    np.testing.assert_allclose(body.inertia, turn @ tensor @ turn.T, atol=1e-15)
    assert (model.name, model.root, model.format, model.fixed_base, model.notes) == ("bot", "base", "urdf", False, ())


def test_shapes_with_sizes_places_colours_and_scale(tmp_path: Path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.stl").write_bytes(b"")
    visuals = """
      <visual><origin xyz="1 2 3" rpy="0 0 1.5"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
      <visual><geometry><sphere radius="0.5"/></geometry>
        <material name="x"><color rgba="0 1 0 0.5"/></material></visual>
      <collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision>
      <collision><geometry><capsule radius="0.1" length="2"/></geometry></collision>
      <visual><geometry><mesh filename="meshes/a.stl" scale="0.001 0.001 -0.001"/></geometry></visual>"""
    material = '<material name="red"><color rgba="1 0 0 1"/></material>'
    mu = '<gazebo reference="base"><mu1>0.3</mu1><mu2>0.3</mu2><material>Gazebo/Red</material></gazebo>'
    model = read_urdf(written(tmp_path, link("base", BODY + visuals), material, mu))
    box, ball, tin, pill, mesh = model.links["base"].shapes
    assert (box.kind, box.size, box.colour, box.visual, box.collision) == ("box", (1, 2, 3), (1, 0, 0, 1), True, False)
    np.testing.assert_allclose(box.pose[:3, 3], [1, 2, 3])
    np.testing.assert_allclose(box.pose[:3, :3], rotation_from_rpy(0, 0, 1.5))
    assert (ball.kind, ball.size, ball.colour) == ("sphere", (0.5,), (0, 1, 0, 0.5))
    assert (tin.kind, tin.size, tin.visual, tin.collision) == ("cylinder", (0.1, 2.0), False, True)
    assert (pill.kind, tin.friction, pill.friction, box.friction) == ("capsule", 0.3, 0.3, 0.8)
    assert (mesh.file, mesh.scale) == (tmp_path / "meshes" / "a.stl", (0.001, 0.001, -0.001))
    assert model.notes == ()


def test_joints(tmp_path: Path):
    inside = """<origin xyz="0 0 1" rpy="0.1 0 0"/><axis xyz="0 3 4"/>
      <limit lower="-1" upper="2" velocity="3" effort="4"/>
      <dynamics damping="0.5" friction="0.25"/><safety_controller k_velocity="1"/><calibration rising="0"/>"""
    spring = (
        "<gazebo reference='turn'><springStiffness>7</springStiffness><springReference>0.2</springReference></gazebo>"
    )
    file = written(
        tmp_path,
        *(link(name) for name in "abcd"),
        joint("turn", "a", "b", inside, "revolute"),
        joint("spin", "b", "c", '<limit velocity="0" effort="0"/>'),
        joint("slide", "a", "d", '<limit lower="0" upper="1"/>', "prismatic"),
        spring,
    )
    model = read_urdf(file)
    turn, spin, slide = model.joints.values()
    assert (turn.kind, turn.parent, turn.child, turn.axis) == ("revolute", "a", "b", (0.0, 0.6, 0.8))
    assert (turn.lower, turn.upper, turn.speed, turn.effort) == (-1.0, 2.0, 3.0, 4.0)
    assert (turn.damping, turn.friction, turn.stiffness, turn.rest) == (0.5, 0.25, 7.0, 0.2)
    np.testing.assert_allclose(turn.pose[:3, :3], rotation_from_rpy(0.1, 0, 0))
    assert (spin.axis, spin.lower, spin.upper, spin.speed, spin.effort) == ((1.0, 0.0, 0.0), None, None, None, None)
    assert (slide.kind, slide.lower, slide.upper) == ("prismatic", 0.0, 1.0)
    assert (model.root, model.notes) == ("a", ())


def test_transmissions_of_both_generations_are_actuators(tmp_path: Path):
    def transmission(name: str, interface: str) -> str:
        told = f"<hardwareInterface>{interface}</hardwareInterface>"
        return f'<transmission name="t_{name}"><joint name="{name}">{told}</joint><actuator name="m"/></transmission>'

    ros2 = """<ros2_control name="x" type="system"><joint name="ad"><command_interface name="velocity"/>
      <state_interface name="position"/></joint><joint name="ae"><state_interface name="position"/></joint>
      </ros2_control>"""
    file = written(
        tmp_path,
        transmission("ab", "hardware_interface/PositionJointInterface"),  # before its joint
        *(link(name) for name in "abcde"),
        *(joint(f"a{name}", "a", name) for name in "bcde"),
        transmission("ac", "EffortJointInterface"),
        transmission("ae", "hardware_interface/MagicInterface"),
        ros2,
    )
    model = read_urdf(file)
    assert {name: one.kind for name, one in model.actuators.items()} == {
        "ab": "position",
        "ac": "effort",
        "ad": "velocity",
    }
    (note,) = model.notes
    assert "MagicInterface' is not known" in note.message


def test_plugins_in_gazebo_blocks_become_elements(tmp_path: Path):
    push = "<plugin name='push' filename='libhelice_push.so'><link_name>b</link_name><force>20</force></plugin>"
    motor = """<plugin name="motor" filename="libgazebo_motor_model.so"><jointName>ac</jointName>
      <turningDirection>cw</turningDirection><maxRotVelocity>700</maxRotVelocity></plugin>"""
    told = "<hardwareInterface>EffortJointInterface</hardwareInterface>"
    effort = f"<transmission name='t'><joint name='ac'>{told}</joint></transmission>"
    file = written(
        tmp_path,
        *(link(name) for name in "abc"),
        *(joint(f"a{name}", "a", name, '<axis xyz="0 0 1"/>') for name in "bc"),
        f"<gazebo>{push}</gazebo>",
        f"<gazebo reference='c'>{motor}</gazebo>",
        effort,
    )
    model = read_urdf(file)
    assert {name: one.joint for name, one in model.elements.items()} == {"push": "ab", "motor": "ac"}
    assert (model.actuators["ac"].kind, model.actuators["ac"].speed) == ("velocity", 700.0)
    (note,) = model.notes
    assert "a transmission asks for effort, a plugin for velocity" in note.message


def test_what_is_not_read_is_noted_with_its_line(tmp_path: Path):
    pose = BODY.replace("<inertial>", "<inertial><pose>1 2 3 0 0 0</pose>")
    file = written(
        tmp_path,
        link("a", pose),
        link("b"),
        joint("ab", "a", "b", '<mimic joint="other"/>'),
        "<plugin name='lost' filename='libLiftDragPlugin.so'/>",
        "<gazebo reference='ghost'><mu1>1</mu1></gazebo>",
        "<gazebo reference='a'><sensor name='cam' type='camera'/><turnGravityOff>true</turnGravityOff></gazebo>",
        "<gazebo><plugin name='ctl' filename='libgazebo_ros_control.so'/></gazebo>",
        "<gripper/>",
    )
    notes = read_urdf(file).notes
    assert all(note.file == file for note in notes)
    found = sorted((note.line, note.message.split(";")[0]) for note in notes)
    assert [line for line, _ in found] == [2, 4, 5, 6, 7, 7, 8, 9]
    words = ["<pose> in <inertial>", "follows joint 'other'", "outside of <gazebo>", "'ghost'", "<turnGravityOff>",
             "'cam'", "not needed here", "<gripper>"]  # fmt: skip
    assert all(word in message for word, (_, message) in zip(words, found, strict=True)), found


def test_a_robot_can_be_tied_to_the_world_or_float_below_it(tmp_path: Path):
    tied = read_urdf(written(tmp_path, link("world", ""), link("base"), joint("j", "world", "base", kind="fixed")))
    assert (tied.fixed_base, tied.root) == (True, "world")
    free = read_urdf(written(tmp_path, link("world", ""), link("base"), joint("j", "world", "base", kind="floating")))
    assert (free.fixed_base, free.root, list(free.links), free.joints) == (False, "base", ["base"], {})


def test_a_massless_frame_on_a_fixed_joint_is_fine(tmp_path: Path):
    model = read_urdf(written(tmp_path, link("root", ""), link("base"), joint("j", "root", "base", kind="fixed")))
    assert model.links["root"].inertial is None


def test_the_mass_matrix_is_that_of_mujocos_own_reader(tmp_path: Path):
    rng = np.random.default_rng(7)

    def numbers(*values: float) -> str:
        return " ".join(repr(float(value)) for value in values)

    def place() -> str:
        return f'<origin xyz="{numbers(*rng.normal(size=3))}" rpy="{numbers(*rng.uniform(-1.5, 1.5, 3))}"/>'

    def heavy() -> str:
        tensor = 'ixx="0.30" iyy="0.25" izz="0.40" ixy="0.02" ixz="-0.03" iyz="0.01"'
        return f'<inertial>{place()}<mass value="{1 + rng.random()}"/><inertia {tensor}/></inertial>'

    def axis() -> str:
        return f'<axis xyz="{numbers(*rng.normal(size=3))}"/>'

    limit = '<limit lower="-2" upper="2" velocity="1" effort="1"/>'
    file = written(
        tmp_path,
        link("world", ""),
        *(link(name, heavy()) for name in "abcd"),
        joint("tie", "world", "a", place(), "fixed"),
        joint("ab", "a", "b", place() + axis()),
        joint("bc", "b", "c", place() + axis() + limit, "prismatic"),
        joint("bd", "b", "d", place() + axis() + limit, "revolute"),
    )
    theirs = mujoco.MjModel.from_xml_path(str(file))
    ours = compile_model(read_urdf(file))
    found = []
    for model, prefix in ((theirs, ""), (ours, "robot/")):
        data = mujoco.MjData(model)
        for name, value in (("ab", 0.7), ("bc", -0.4), ("bd", 1.1)):
            data.joint(prefix + name).qpos[0] = value
        mujoco.mj_forward(model, data)
        inverse = np.eye(model.nv)
        mujoco.mj_solveM(model, data, inverse, np.eye(model.nv))
        order = [int(model.joint(prefix + name).dofadr[0]) for name in ("ab", "bc", "bd")]
        found.append(np.linalg.inv(inverse)[np.ix_(order, order)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12, atol=1e-12)


def with_inertia(values: str, mass: str = "1") -> str:
    return link("a", f'<inertial><mass value="{mass}"/><inertia {values}/></inertial>')


def seen(geometry: str) -> str:
    return link("a", f"{BODY}<visual><geometry>{geometry}</geometry></visual>")


def touched(geometry: str) -> str:
    return link("a", f"{BODY}<collision><geometry>{geometry}</geometry></collision>")


A, B = link("a"), link("b")
WRONG = [
    (["<link name='a'>"], 3, "not well-formed XML: mismatched tag"),
    ([], 1, "has no link"),
    ([A, A], 3, "link a: the name is used twice (line 2)"),
    ([A, B, joint("j", "a", "b"), joint("j", "a", "b")], 5, "joint j: the name is used twice"),
    (["<link/>"], 2, "needs the attribute 'name'"),
    ([A, B], 3, "link b: hangs on no joint, as 'a' does"),
    ([A, joint("j", "a", "bb"), link("b")], 3, "joint j: its child 'bb' is not a link of the model; did you mean 'b'"),
    ([A, B, link("c"), joint("j", "a", "c"), joint("k", "b", "c")], 6, "two parents: it already hangs on joint 'j'"),
    ([A, B, joint("j", "a", "b"), joint("k", "b", "a")], 4, "go round in a circle: "),
    ([A, joint("j", "a", "a")], 3, "go round in a circle: j → j"),
    ([A, B, joint("j", "a", "b", kind="planar")], 4, "planar joints are not known; write two prismatic"),
    ([A, B, joint("j", "a", "b", kind="revolut")], 4, "unknown type 'revolut'; did you mean 'revolute'"),
    ([A, B, joint("j", "a", "b", kind="floating")], 4, "floating joint can only tie the whole robot"),
    ([A, B, joint("j", "a", "b", "\n<axis xyz='0 0 0'/>")], 5, "the axis '0 0 0' has no direction"),
    ([A, B, joint("j", "a", "b", "\n<axis xyz='0 1'/>")], 5, "axis.xyz: needs 3 numbers, not 2 in '0 1'"),
    ([A, B, joint("j", "a", "b", "\n<origin xyz='0 nan 1'/>")], 5, "origin.xyz: needs 3 numbers that are finite"),
    ([A, B, joint("j", "a", "b", kind="revolute")], 4, "a revolute joint needs <limit lower upper> or is 'continuous'"),
    ([A, B, joint("j", "a", "b", "\n<limit lower='1' upper='-1'/>", "prismatic")], 5, "range from lower 1 to upper -1"),
    ([A, B, joint("j", "a", "b", "\n<limit effort='-1'/>")], 5, "effort must not be negative"),
    ([A, B, joint("j", "a", "b", "\n<dynamics damping='-1'/>")], 5, "damping must not be negative"),
    ([A, B, "<joint name='j' type='fixed'><parent link='a'/></joint>"], 4, "needs <child link>"),
    ([link("a", "")], 2, "link a: moves, but has no mass"),
    ([A, link("b", ""), joint("j", "a", "b")], 3, "link b: moves, but has no mass"),
    ([with_inertia('ixx="0" iyy="0" izz="0"')], 2, "a zero inertia tensor"),
    ([link("a", "<inertial><mass value='1'/></inertial>")], 2, "a zero inertia tensor"),
    ([with_inertia('ixx="-1" iyy="1" izz="1"')], 2, "principal moment -1 kg·m²; none can be negative"),
    ([with_inertia('ixx="1" iyy="1" izz="3"')], 2, "no body has one above the sum of the other two"),
    ([with_inertia('ixx="1" iyy="1" izz="1"', "-2")], 2, "has the mass -2 kg; it must be positive"),
    ([with_inertia('ixx="1" iyy="1" izz="1"', "nan")], 2, "mass.value: needs a number that is finite, not 'nan'"),
    ([with_inertia('ixx="1" iyy="one" izz="1"')], 2, "inertia.iyy: needs a number, not 'one'"),
    ([with_inertia('ixx="1" izz="1"')], 2, "<inertia> needs the attribute 'iyy'"),
    ([touched("<mesh filename='no.stl'/>")], 2, "mesh 'no.stl' is missing: there is no file"),
    ([touched("<mesh filename='package://p/no.stl'/>")], 2, "package 'p', which is not found; give its folder"),
    ([touched("<mesh filename='http://127.0.0.1/a.stl'/>")], 2, "is not on this computer"),
    ([seen("<cone/>")], 2, "capsule or mesh, not <cone>"),
    ([link("a", BODY + "<visual/>")], 2, "<visual> needs <geometry>"),
    ([touched("<box size='1 1'/>")], 2, "box.size: needs 3 numbers"),
    ([touched("<sphere radius='-1'/>")], 2, "sizes must be positive, not -1"),
    ([touched("<sphere radius='0'/>")], 2, "sizes must be positive, not 0"),
    ([A, "<gazebo reference='a'><mu1 value='much'/></gazebo>"], 3, "mu1.value: needs a number, not 'much'"),
    ([A, "<xacro:part/>"], 3, "is xacro; name the file .urdf.xacro"),
    ([A, "<gazebo reference='a'><mu1>-1</mu1></gazebo>"], 3, "friction must not be negative"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "line", "words"), WRONG, ids=[words for _, _, words in WRONG])
def test_wrong_files_are_refused_with_file_line_value_and_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: list[str], line: int, words: str
):
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH"):
        monkeypatch.delenv(variable, raising=False)
    file = written(tmp_path, *parts)
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        read_urdf(file)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == (file, line)


def test_all_problems_are_told_at_once(tmp_path: Path):
    file = written(tmp_path, A, A, link("b", BODY + "<visual/>"), joint("j", "a", "b", "<axis xyz='0 0 0'/>"))
    with pytest.raises(InputError) as caught:
        read_urdf(file)
    assert [problem.line for problem in caught.value.problems] == [3, 4, 5]


def test_tools_may_read_links_that_cannot_move(tmp_path: Path):
    file = written(tmp_path, with_inertia('ixx="-1" iyy="1" izz="1"'))
    assert read_urdf(file, check_inertia=False).links["a"].inertial.inertia[0, 0] == -1.0


@pytest.mark.parametrize("root", ["sdf", "mujoco", "html"])
def test_other_documents_are_refused(tmp_path: Path, root: str):
    file = tmp_path / "a.urdf"
    file.write_text(f"<{root}/>")
    with pytest.raises(InputError, match=f"holds <robot>, not <{root}>"):
        read_urdf(file)


# --- meshes ----------------------------------------------------------------------------------------------------------


def test_meshes_are_found_by_package_path_and_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    mesh = tmp_path / "ws" / "my_bot" / "meshes" / "a b.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b"")
    urdf = tmp_path / "ws" / "my_bot" / "urdf" / "robot.urdf"
    other = tmp_path / "elsewhere" / "robot.urdf"
    assert resolve_mesh("package://my_bot/meshes/a%20b.stl", urdf).samefile(mesh)  # a folder above is the package
    assert resolve_mesh("../meshes/a b.stl", urdf.parent.parent / "meshes" / "x.urdf").samefile(mesh)
    assert resolve_mesh(mesh.as_uri(), other).samefile(mesh)
    assert resolve_mesh(str(mesh), other).samefile(mesh)
    assert resolve_mesh("file://a b.stl", mesh.parent / "x.urdf").samefile(mesh)
    assert resolve_mesh("package://mine/meshes/a b.stl", other, {"mine": str(mesh.parent.parent)}).samefile(mesh)
    assert resolve_mesh("package://my_bot/meshes/a b.stl", tmp_path / "ws" / "x.urdf").samefile(mesh)
    with pytest.raises(InputError, match="which is not found"):
        resolve_mesh("package://my_bot/meshes/a b.stl", other)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws"))
    assert resolve_mesh("package://my_bot/meshes/a b.stl", other).samefile(mesh)
    with pytest.raises(InputError, match=r"without 'meshes/b\.stl'"):
        resolve_mesh("package://my_bot/meshes/b.stl", other)


def test_a_package_is_known_by_its_manifest(tmp_path: Path):
    mesh = tmp_path / "checkout" / "a.stl"
    mesh.parent.mkdir()
    mesh.write_bytes(b"")
    (tmp_path / "checkout" / "package.xml").write_text("<package>\n<name>true_name</name></package>")
    assert resolve_mesh("package://true_name/a.stl", tmp_path / "checkout" / "x.urdf").samefile(mesh)


# --- xacro -----------------------------------------------------------------------------------------------------------


def test_xacro_asks_for_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(InputError, match=r"pip install botz\[xacro\]"):
        read_urdf(written(tmp_path, A, name="robot.urdf.xacro"))


def test_xacro_expands_and_its_complaints_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Expanded:
        def __init__(self, name: str):
            self.name = name

        def toxml(self) -> str:
            return f"<robot name='{Path(self.name).stem}'>\n{A}{link('b', '')}\n{joint('j', 'a', 'b')}</robot>"

    monkeypatch.setitem(sys.modules, "xacro", types.SimpleNamespace(process_file=Expanded))
    file = written(tmp_path, A, name="robot.xacro")
    with pytest.raises(InputError, match="link b: moves, but has no mass") as caught:
        read_urdf(file)
    assert (caught.value.problems[0].file, caught.value.problems[0].line) == (file, None)

    def refuse(name: str) -> None:
        raise RuntimeError("undefined\n  macro")

    monkeypatch.setitem(sys.modules, "xacro", types.SimpleNamespace(process_file=refuse))
    with pytest.raises(InputError, match="xacro refuses it: undefined macro"):
        read_urdf(file)
    file.write_text("<!DOCTYPE robot><robot/>")
    with pytest.raises(InputError, match="document type"):
        read_urdf(file)


TRANSMISSION = """<transmission name="t">
<joint name="j"><hardwareInterface>VelocityJointInterface</hardwareInterface>{}</joint>
</transmission>"""


@pytest.mark.parametrize(
    ("kind", "inside", "line", "words"),
    [
        ("continuous", "<botz>\n<lag>-1</lag></botz>", 4, "lag: must be greater than or equal to 0, not -1.0"),
        ("continuous", "<botz>\n<speed>-3</speed></botz>", 4, "speed: must be greater than 0, not -3.0"),
    ],
)
def test_transmissions_that_no_actuator_can_be(tmp_path: Path, kind: str, inside: str, line: int, words: str):
    parts = [TRANSMISSION.format(inside), link("a"), link("b"), joint("j", "a", "b", kind=kind)]
    with pytest.raises(InputError, match=re.escape(words)) as found:
        read_urdf(written(tmp_path, *parts))
    assert [problem.line for problem in found.value.problems] == [line]


def test_a_speed_of_an_effort_is_let_be(tmp_path: Path):
    said = TRANSMISSION.format("<botz><speed>3</speed></botz>").replace("Velocity", "Effort")
    model = read_urdf(written(tmp_path, said, link("a"), link("b"), joint("j", "a", "b")))
    assert (model.actuators["j"].kind, model.actuators["j"].speed) == ("effort", 3.0)


def test_too_many_links(tmp_path: Path):
    names = [f"l{k}" for k in range(1001)]
    joints = [joint(f"j{k}", "l0", name) for k, name in enumerate(names[1:])]
    with pytest.raises(InputError, match="has 1001 links; a robot has 1000 at most"):
        read_urdf(written(tmp_path, *map(link, names), *joints))


def test_transmissions_of_joints_that_are_fixed_or_not_there_are_notes(tmp_path: Path):
    parts = [TRANSMISSION.format(""), link("a"), link("b"), joint("j", "a", "b", kind="fixed")]
    model = read_urdf(written(tmp_path, *parts))
    assert model.actuators == {}
    assert [(note.line, note.message) for note in model.notes] == [(3, "is fixed, so it gets no actuator")]
    model = read_urdf(written(tmp_path, TRANSMISSION.format(""), link("a")))
    assert (model.actuators, model.notes[0].line, model.notes[0].key) == ({}, 3, "transmission")
    assert "there is no joint 'j'" in model.notes[0].message


# --- what public files hold ------------------------------------------------------------------------------------------


def test_gazebos_numbers_are_texts_or_attributes(tmp_path: Path):
    box = link("a", BODY + "<collision><geometry><box size='1 1 1'/></geometry></collision>")
    parts = [box, B, joint("j", "a", "b"), "<gazebo reference='j'><springStiffness value='7'/>"]
    parts += ["<springReference value='0.5'/></gazebo>", "<gazebo reference='a'><mu1 value='0.3'/><mu2 value='1'/>"]
    model = read_urdf(written(tmp_path, *parts, "<kp value='1e6'/></gazebo>"))
    assert (model.links["a"].shapes[0].friction, model.notes) == (0.3, ())
    assert (model.joints["j"].stiffness, model.joints["j"].rest) == (7.0, 0.5)
    model = read_urdf(written(tmp_path, box, "<gazebo reference='a'>", "<mu1/></gazebo>"))
    assert model.links["a"].shapes[0].friction == 0.8
    assert [(note.line, note.message) for note in model.notes] == [
        (4, "<mu1> in <gazebo> has no value; write <mu1>NUMBER</mu1>")
    ]


def test_links_of_mass_0_in_a_fixed_base(tmp_path: Path):
    nothing = '<inertial><mass value="0"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    parts = [link("a", nothing), link("foot", nothing), B, joint("f", "a", "foot", kind="fixed"), joint("j", "a", "b")]
    file = written(tmp_path, *parts)
    with pytest.raises(InputError, match=r"link a: moves, but has no mass.* or give the robot 'base: fixed'"):
        read_urdf(file)
    model = read_urdf(file, fixed=True)
    assert [note.message for note in model.notes] == ["has the mass 0, so that its inertia is not read"] * 2
    assert compile_model(model, fixed=True).nv == 1
    file = written(tmp_path, link("world", nothing), B, joint("j", "world", "b"))
    assert read_urdf(file).fixed_base


@pytest.mark.parametrize("name", ["no.stl", "package://p/no.stl", "http://127.0.0.1/a.stl", "a.mesh"])
def test_a_missing_mesh_that_is_only_seen_is_left_out(tmp_path: Path, name: str):
    (tmp_path / "a.mesh").write_bytes(b"no format that is read")
    file = written(tmp_path, seen(f"<mesh filename='{name}'/>"))
    model = read_urdf(file)
    assert (model.links["a"].shapes, [note.line for note in model.notes]) == ((), [2])
    assert name in model.notes[0].message
    assert model.notes[0].message.endswith("; it is left out")
    with pytest.raises(InputError, match=re.escape(name)):
        read_urdf(file, missing_meshes="refuse")
    file = written(tmp_path, touched(f"<mesh filename='{name}'/>"))
    with pytest.raises(InputError, match="leave it out by 'missing_meshes: ignore' of the robot"):
        read_urdf(file)
    assert read_urdf(file, missing_meshes="ignore").links["a"].shapes == ()


@pytest.mark.parametrize("limit", ["<limit effort='3' velocity='2'/>", "<limit lower='0.5' upper='0.5' effort='3'/>"])
def test_ends_that_are_equal_are_no_limits(tmp_path: Path, limit: str):
    model = read_urdf(written(tmp_path, A, B, joint("j", "a", "b", limit, "revolute")))
    found = model.joints["j"]
    assert (found.lower, found.upper, found.effort) == (None, None, 3.0)
    assert "read as a joint without limits" in model.notes[0].message


def test_planes_and_things_without_size(tmp_path: Path):
    model = read_urdf(written(tmp_path, touched("<plane normal='1 0 0'/>")))
    (plane,) = model.links["a"].shapes
    assert plane.kind == "plane"
    np.testing.assert_allclose(plane.pose[:3, 2], [1, 0, 0], atol=1e-15)
    model = read_urdf(written(tmp_path, seen("<sphere radius='0'/>")))
    assert (model.links["a"].shapes, len(model.notes)) == ((), 1)


def test_a_declaration_may_stand_after_a_comment(tmp_path: Path):
    file = tmp_path / "late.urdf"
    file.write_text(f"<!-- made by hand -->\n<?xml version='1.0'\n?>\n<robot name='late'>\n{A}<odd/></robot>")
    model = read_urdf(file)
    assert (model.name, [note.line for note in model.notes]) == ("late", [5])


def test_xacro_finds_packages_without_ros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("xacro")
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    monkeypatch.setitem(sys.modules, "ament_index_python", None)  # as it is without ROS
    name = "xmlns:xacro='http://www.ros.org/wiki/xacro'"
    parts = tmp_path / "elsewhere" / "urdf"
    parts.mkdir(parents=True)
    (parts / "arm.xacro").write_text(f"<robot {name}><xacro:macro name='arm'>{A}</xacro:macro></robot>")
    (tmp_path / "robot").mkdir()
    file = tmp_path / "robot" / "robot.urdf.xacro"
    include = "<xacro:include filename='$(find arm_description)/urdf/arm.xacro'/><xacro:arm/>"
    file.write_text(f"<robot name='bot' {name}>{include}</robot>")
    with pytest.raises(InputError, match=r"\$\(find arm_description\): no package .*--package arm_description=FOLDER"):
        read_urdf(file)
    assert list(read_urdf(file, {"arm_description": "../elsewhere"}).links) == ["a"]
    assert sys.modules["ament_index_python"] is None
    (tmp_path / "elsewhere").rename(tmp_path / "arm_description")
    assert list(read_urdf(file).links) == ["a"]
