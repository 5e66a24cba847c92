"""MJCF files: what MuJoCo makes of them, told as links and joints."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from botz.errors import InputError
from botz.models.files import save_model
from botz.models.mj_world import PlacedModel, build_spec, compile_spec
from botz.models.mjcf.parts import SCENARIO_OPTIONS
from botz.models.mjcf.reader import convertible, read_mjcf, unsayable
from botz.models.robot_model import RobotModel
from botz.scenario.multibody.schema import MultibodyScenario
from botz.scenario.multibody.world import Contacts, MultibodyWorld
from botz.transforms import rotation_from_rpy

MASS = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


@pytest.fixture
def read(tmp_path: Path):
    def reading(world: str, before: str = "", after: str = "") -> RobotModel:
        path = tmp_path / "robot.xml"
        compiler = '<compiler angle="radian"/>'
        text = f'<mujoco model="robot">{compiler}{before}\n<worldbody>\n{world}\n</worldbody>\n{after}</mujoco>'
        path.write_text(text.replace("<M/>", MASS))
        return read_mjcf(path)

    return reading


def placed(model: RobotModel, at: dict[str, float]) -> dict[str, np.ndarray]:
    """Centres of mass of all links that have one, in the root's frame."""
    found = {}
    waiting = [(model.root, np.eye(4))]
    while waiting:
        link, pose = waiting.pop()
        inertial = model.links[link].inertial
        if inertial is not None:
            found[link] = pose[:3, :3] @ inertial.centre + pose[:3, 3]
        for joint in model.children(link):
            move = np.eye(4)
            axis, value = np.array(joint.axis), at.get(joint.name, 0.0)
            if joint.kind == "prismatic":
                move[:3, 3] = value * axis
            elif joint.kind != "fixed":
                turn = np.zeros(9)
                half = np.array([np.cos(value / 2), *(np.sin(value / 2) * axis)])
                mujoco.mju_quat2Mat(turn, half)
                move[:3, :3] = turn.reshape(3, 3)
            waiting.append((joint.child, pose @ joint.pose @ move))
    return found


ARM = """<body name="base" pos="0 0 2"><freejoint name="free"/>
  <inertial pos="0.1 0 0" mass="3" fullinertia="0.3 0.4 0.5 0.01 0.02 0.03"/>
  <body name="arm" pos="1 0 0" euler="0.3 0.2 0.1">
    <joint name="elbow" axis="0 1 1" pos="0.1 0.2 0.3" range="-1 2" ref="0.4" damping="0.5" armature="0.06"
      frictionloss="0.7" stiffness="8" springref="0.9" actuatorfrcrange="-4 4"/>
    <inertial pos="0 0 0.5" quat="0.9 0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
    <body name="gimbal" pos="0 0 1">
      <joint name="roll" axis="1 0 0" pos="0 0 -0.1"/>
      <joint name="reach" type="slide" axis="0 1 0" ref="0.05"/>
      <joint name="yaw" axis="0 0 1" pos="0.2 0 0" ref="-0.3"/>
      <inertial pos="0.3 0.1 0" mass="0.5" diaginertia="0.01 0.02 0.025"/>
      <body name="tip" pos="0.1 0.1 0.1"><inertial pos="0 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/></body>
    </body>
  </body>
</body>"""


def test_bodies_stand_where_mujoco_puts_them(read):
    model = read(ARM)
    m = model.native.copy().compile()
    d = mujoco.MjData(m)
    random = np.random.default_rng(3)
    for _ in range(5):
        at = {name: random.uniform(-1, 1) for name in ("elbow", "roll", "reach", "yaw")}
        for name, value in at.items():
            d.qpos[m.joint(name).qposadr[0]] = value
        mujoco.mj_forward(m, d)
        ours = placed(convertible(model), at)
        assert set(ours) == {"base", "arm", "gimbal", "tip"}
        for name, centre in ours.items():
            assert np.add(centre, [0, 0, 2]) == pytest.approx(d.body(name).xipos, abs=1e-12)


def test_links_have_the_frames_of_bodies_until_they_are_converted(read):
    """Sensors and forces are said in a link's frame, and MuJoCo knows that of the body only."""
    texts = (
        ("botz_sensor_s", '{"type": "altimeter", "link": "arm", "pose": [0, 0, 1, 0, 0, 0.5]}'),
        ("botz_element_w", '{"type": "lift-drag", "link": "arm", "area": 1, "cp": [0.5, 0.5, 0.5]}'),
    )
    custom = "".join(f"<text name='{name}' data='{data}'/>" for name, data in texts)
    model = read(ARM, after=f"<custom>{custom}</custom>")
    assert model.links["arm"].inertial.centre == pytest.approx([0, 0, 0.5])
    m = model.native.copy().compile()
    d = mujoco.MjData(m)
    for name in ("elbow", "roll", "reach", "yaw"):
        d.qpos[m.joint(name).qposadr[0]] = 0.0
    mujoco.mj_forward(m, d)
    for name, centre in placed(model, {}).items():
        assert np.add(centre, [0, 0, 2]) == pytest.approx(d.body(name).xipos, abs=1e-12)
    moved = convertible(model)
    assert moved.native is None
    assert moved.links["arm"].inertial.centre == pytest.approx([-0.1, -0.2, 0.2])
    assert moved.sensors["s"].pose == pytest.approx((-0.1, -0.2, 0.7, 0, 0, 0.5))
    assert moved.elements["w"].cp == pytest.approx([0.4, 0.3, 0.2])


def test_what_a_joint_says(read):
    model = read(ARM)
    elbow = model.joints["elbow"]
    assert (elbow.kind, elbow.lower, elbow.upper, elbow.effort) == ("revolute", -1, 2, 4)
    assert (elbow.damping, elbow.armature, elbow.friction, elbow.stiffness, elbow.rest) == (0.5, 0.06, 0.7, 8, 0.9)
    assert elbow.axis == pytest.approx([0, 0.5**0.5, 0.5**0.5])
    assert model.joints["yaw"].kind == "continuous"
    assert model.joints["reach"].kind == "prismatic"
    assert elbow.place.line == 6
    assert not model.fixed_base
    assert model.root == "base"


def test_several_joints_of_a_body_have_links_without_mass_between(read):
    model = read(ARM)
    chain = [model.joints[name] for name in ("roll", "reach", "yaw")]
    assert chain[0].parent == "arm"
    assert chain[2].child == "gimbal"
    assert (chain[0].child, chain[1].child) == (chain[1].parent, chain[2].parent)
    for joint in chain[:2]:
        assert model.links[joint.child].inertial is None


def test_inertia_is_told_in_the_links_axes(read):
    found = read(ARM).links["base"].inertial
    assert found.mass == 3
    assert found.inertia == pytest.approx(np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]]))


def test_a_base_that_is_welded_to_the_world(read):
    model = read('<body name="base"><M/><body name="arm"><joint name="j"/><M/></body></body>')
    assert model.fixed_base
    assert model.root == "base"
    assert model.joints["j"].parent == "base"


@pytest.mark.parametrize(
    "body", ['<body name="a" pos="0 0 1"><M/></body>', '<body name="a"><joint name="j"/><M/></body>']
)
def test_a_body_that_stands_or_turns_elsewhere_hangs_on_the_world(read, body: str):
    model = read(body)
    assert model.fixed_base
    assert [joint.child for joint in model.children(model.root)] == ["a"]
    assert model.native.body(model.root) is not None, "the engine asks where the root is"
    assert convertible(model).root == "world", "as other formats call it"
    assert len(convertible(model).links) == 2


def test_of_several_bodies_the_first_free_one_is_the_robot(read):
    model = read('<body name="table"><M/></body><body name="robot"><freejoint/><M/></body>'
                 '<body name="ball"><freejoint/><M/></body>')  # fmt: skip
    assert list(model.links) == ["robot"]
    assert any("table" in note.message and "ball" in note.message for note in model.notes)
    assert "several bodies that move freely" in unsayable(model)[0].message


def test_geoms_become_shapes(read, tmp_path: Path):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], dtype=float)
    faces = [(1, 3, 2), (1, 2, 4), (2, 3, 4), (3, 1, 4)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a} {b} {c}" for a, b, c in faces]
    (tmp_path / "part.obj").write_text("\n".join(lines))
    geoms = """<body name="a"><M/>
      <geom type="box" size="1 2 3" pos="0 0 1" euler="0.1 0.2 0.3" rgba="1 0 0 0.5" friction="0.3 0 0"/>
      <geom type="sphere" size="0.5" contype="0" conaffinity="0"/>
      <geom type="cylinder" size="0.5 2" group="3"/><geom type="capsule" size="0.5 2"/>
      <geom type="ellipsoid" size="1 2 3" material="green"/>
      <geom type="sphere" size="1" material="green" rgba="0 0 1 1"/>
      <geom type="mesh" mesh="part" pos="0 0 1" euler="0 0 1"/></body>"""
    assets = """<asset><mesh name="part" file="part.obj" scale="0.1 0.1 0.1"/>
      <material name="green" rgba="0 1 0 1"/></asset>"""
    model = read(geoms, assets)
    box, sphere, cylinder, capsule, ellipsoid, blue, mesh = model.links["a"].shapes
    assert (box.kind, box.size, box.colour, box.friction) == ("box", (2, 4, 6), (1, 0, 0, 0.5), 0.3)
    assert box.pose[:3, 3] == pytest.approx([0, 0, 1])
    assert (sphere.visual, sphere.collision, sphere.size) == (True, False, (0.5,))
    assert (cylinder.visual, cylinder.collision, cylinder.size) == (False, True, (0.5, 4))
    assert (capsule.kind, capsule.size) == ("capsule", (0.5, 4))
    assert (ellipsoid.size, ellipsoid.colour) == ((1, 2, 3), (0, 1, 0, 1))
    assert blue.colour == (0, 0, 1, 1), "a geom's own colour goes before its material's"
    assert mesh.file == tmp_path / "part.obj"
    assert mesh.scale == pytest.approx((0.1, 0.1, 0.1))
    # MuJoCo moves the mesh to its own centre; what is told is the place of the file's frame.
    assert mesh.pose[:3, 3] == pytest.approx([0, 0, 1], abs=1e-6)
    assert mesh.pose[:3, :3] == pytest.approx(rotation_from_rpy(0, 0, 1), abs=1e-6)


def test_ball_joints_are_kept_natively_and_not_converted(read, tmp_path: Path):
    model = read('<body name="a"><freejoint/><M/><body name="b"><joint name="hip" type="ball"/><M/></body></body>')
    assert any("'hip' is a ball joint: kept natively, cannot be converted" in note.message for note in model.notes)
    assert model.native.copy().compile().nv == 9
    with pytest.raises(InputError, match="'hip' is a ball joint; replace it"):
        save_model(model, tmp_path / "a.sdf")
    assert not (tmp_path / "a.sdf").exists()


def test_actuators_by_kind(read):
    bodies = '<body name="a"><M/>' + "".join(
        f'<body name="{name}"><joint name="{name}"/><M/></body>' for name in ("p", "v", "m", "s")
    )
    after = """<actuator><position joint="p" kp="5"/><velocity joint="v" kv="2"/>
      <motor joint="m" gear="50" ctrlrange="-0.5 0.4"/>
      <damper joint="s" kv="1" ctrlrange="0 1"/></actuator>"""
    model = read(bodies + "</body>", after=after)
    found = convertible(model)
    assert {joint: one.kind for joint, one in found.actuators.items()} == {
        "p": "position",
        "v": "velocity",
        "m": "effort",
    }
    assert found.joints["m"].effort == 25
    assert found.joints["p"].effort is None
    assert model.actuators == {}


def test_files_may_include_others_in_folders(read, tmp_path: Path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(f'<mujocoinclude><body name="arm">{MASS}</body></mujocoinclude>')
    assert "arm" in read('<include file="parts/arm.xml"/>').links


def test_names_that_are_missing_are_made(read):
    model = read("<body><M/><body><joint/><M/></body><body><M/></body></body>")
    assert len(model.links) == 3
    assert len(model.joints) == 2
    m = model.native.copy().compile()
    for name in model.links:
        assert m.body(name).id > 0, "MuJoCo knows them by the same names"


def test_constraints_are_told_as_native(read):
    after = '<equality><joint joint1="x" joint2="y"/></equality>'
    bodies = '<body name="a"><joint name="x"/><M/><body name="b"><joint name="y"/><M/></body></body>'
    assert any("equalities are kept natively" in note.message for note in read(bodies, after=after).notes)


@pytest.mark.parametrize(
    ("world", "line", "words"),
    [
        ('<body name="a"><geom foo="1"/></body>', 3, "unrecognized attribute: 'foo'"),
        ('<body name="a"/>\n<body name="b"><joint/></body>', 4, "mass and inertia of moving bodies"),
        ('<body name="a"><geom type="box" size="a b c"/></body>', 3, "bad format in attribute 'size'"),
        ('<body name="a"/>\n<body name="b" pos="0 nan 0"/>', 4, "'0 nan 0' holds what is no number"),
        ('<body name="a"/><body name="a"/>', None, "repeated name"),
        ("", None, "has no <body>"),
        ('<include file="none.xml"/>', 3, "there is no file 'none.xml' beside robot.xml"),
        ('<body name="a"><geom type="mesh" mesh="b"/></body>', None, "'b'"),
    ],
)
def test_mistakes(read, tmp_path: Path, world: str, line: int | None, words: str):
    with pytest.raises(InputError, match=words) as found:
        read(world)
    problem = found.value.problems[0]
    assert problem.file == tmp_path / "robot.xml"
    if line is not None:
        assert problem.line == line


def test_a_missing_mesh_is_said(read):
    with pytest.raises(InputError, match=r"no\.stl"):
        read('<body name="a"><M/><geom type="mesh" mesh="m"/></body>', '<asset><mesh name="m" file="no.stl"/></asset>')


@pytest.mark.parametrize("where", ["robot.xml", "part.xml", "deeper.xml", "model.xml"])
def test_declarations_are_refused_in_every_file_before_mujoco_sees_one(tmp_path: Path, where: str, monkeypatch):
    files = {
        "robot.xml": '<mujoco><asset><model name="m" file="model.xml"/></asset>\n'
        '<worldbody><include file="part.xml"/></worldbody></mujoco>',
        "part.xml": '<mujocoinclude><include file="deeper.xml"/></mujocoinclude>',
        "deeper.xml": f'<mujocoinclude><body name="a">{MASS}</body></mujocoinclude>',
        "model.xml": f'<mujoco><worldbody><body name="m">{MASS}</body></worldbody></mujoco>',
    }
    for name, text in files.items():
        bad = '<!DOCTYPE x [<!ENTITY e SYSTEM "secret.txt">]>\n' if name == where else ""
        (tmp_path / name).write_text(bad + text)

    def never(*_, **__):
        raise AssertionError("MuJoCo was given the file")

    monkeypatch.setattr(mujoco.MjSpec, "from_file", never)
    with pytest.raises(InputError, match="document type") as found:
        read_mjcf(tmp_path / "robot.xml")
    assert found.value.problems[0].file == tmp_path / where
    assert found.value.problems[0].line == 1


def test_files_that_include_each_other_end(tmp_path: Path):
    (tmp_path / "robot.xml").write_text('<mujoco><include file="b.xml"/></mujoco>')
    (tmp_path / "b.xml").write_text('<mujocoinclude><include file="robot.xml"/></mujocoinclude>')
    with pytest.raises(InputError):
        read_mjcf(tmp_path / "robot.xml")


@pytest.mark.parametrize("data", ["{", '{"type": "propeller"}', '{"type": "nothing"}'])
def test_an_element_that_is_none_is_said(read, data: str):
    text = data.replace('"', "&quot;")
    with pytest.raises(InputError, match="botz_element_rotor"):
        read('<body name="a"><M/></body>', after=f'<custom><text name="botz_element_rotor" data="{text}"/></custom>')


def test_a_file_cannot_have_a_function_run(read):
    data = '{"type": "evil.py:Run", "link": "a"}'.replace('"', "&quot;")
    model = read('<body name="a"><M/></body>', after=f'<custom><text name="botz_element_e" data="{data}"/></custom>')
    assert model.elements == {}


FLYER = (
    '<body name="base" pos="1 2 3" euler="0 0 0.5"><freejoint/><M/><body name="arm"><joint name="b"/><M/></body></body>'
)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ('<actuator><motor name="m" joint="zz"/></actuator>', "unknown transmission target 'zz'"),
        ('<actuator><motor joint="zz"/></actuator>', "unknown transmission target 'zz'"),
        ('<sensor><jointpos joint="zz"/></sensor>', "'zz'"),
        ('<equality><weld body1="base" body2="zz"/></equality>', "'zz'"),
        ('<contact><exclude body1="base" body2="zz"/></contact>', "'zz'"),
    ],
)
def test_what_refers_to_nothing_is_refused_with_its_line(read, after: str, words: str):
    with pytest.raises(InputError, match=words) as found:
        read(FLYER, after=after)
    assert found.value.problems[0].line == 5


def world_with(model: RobotModel, pose: tuple[float, ...] = (0, 0, 0, 0, 0, 0), *, fixed: bool = False, **said):
    placed = PlacedModel(model, pose, fixed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = build_spec(MultibodyWorld(ground=False, **said), None, {"r": placed}, step=0.001, method="euler")
        return compile_spec(spec)


def test_a_pose_is_that_of_the_root_link(read):
    m = world_with(read(FLYER), (4.0, 5.0, 6.0, 0.0, 0.0, 1.2))
    np.testing.assert_allclose(m.qpos0[:7], [4, 5, 6, np.cos(0.6), 0, 0, np.sin(0.6)], atol=1e-12)


def test_a_free_base_can_be_fixed(read):
    keys = '<keyframe><key qpos="0 0 0 1 0 0 0 0.5"/></keyframe>'
    model = read(FLYER, after=keys)
    assert world_with(model).nv == 7
    m = world_with(model, (0.0, 0.0, 2.0, 0.0, 0.0, 0.0), fixed=True)
    assert m.nv == 1 and m.nkey == 0
    np.testing.assert_allclose(m.body("r/base").pos, [0, 0, 2], atol=1e-12)


def test_sizes_of_a_file_do_not_clash_with_the_worlds(read):
    model = read(FLYER, before='<size njmax="500" nconmax="100"/>')
    assert world_with(model).njmax == world_with(read(FLYER)).njmax
    model = read(FLYER, before='<size memory="10M"/>')
    assert world_with(model).narena == 10 * 2**20
    assert world_with(model, memory=2**22).narena == 2**22


def test_what_viewers_and_users_keep_in_a_file_is_no_conflict(read):
    before = (
        '<size nkey="5" nuser_geom="1"/><visual><map znear="0.02"/><global offwidth="2000"/></visual>'
        '<statistic extent="3" center="0 0 1"/>'
    )
    model = read(FLYER, before=before)
    assert world_with(model).nuser_geom == 1, "and MuJoCo does not warn"


def test_what_is_the_scenarios_is_noted(read):
    before = '<option timestep="0.01" gravity="0 0 -1" cone="elliptic" impratio="10"/>'
    model = read('<geom type="plane" size="1 1 1"/>' + FLYER, before, "<keyframe><key/></keyframe>")
    notes = " ".join(note.message for note in model.notes)
    assert "<option> timestep: without effect; the scenario says it by 'time.step'" in notes
    assert "<option> gravity: without effect; the scenario says it by 'world.gravity'" in notes
    assert "<option> cone, impratio: taken, for the whole world" in notes
    assert "<keyframe>: without effect" in notes and "'pose' moves them" in notes
    assert not read(FLYER).notes


def test_keys_that_notes_name_are_there():
    for key in SCENARIO_OPTIONS.values():
        part: Any = MultibodyScenario
        for word in key.split("."):
            assert word in part.model_fields, key
            part = part.model_fields[word].annotation


def test_options_of_a_file_hold_for_the_world_unless_the_scenario_says_otherwise(read):
    option = '<option cone="elliptic" impratio="10" viscosity="0.1" iterations="7" timestep="0.01" gravity="0 0 -1">'
    model = read(FLYER, before=f'{option}<flag contact="disable" sensor="disable"/></option>')
    m = world_with(model)
    assert (m.opt.cone, m.opt.impratio, m.opt.viscosity, m.opt.iterations) == (1, 10.0, 0.1, 7)
    assert m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT
    assert not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_SENSOR, "sensors of the scenario need it"
    assert (m.opt.timestep, m.opt.gravity[2]) == (0.001, -9.81)
    m = world_with(model, contact=Contacts(cone="pyramidal", impratio=2.0))
    assert (m.opt.cone, m.opt.impratio) == (0, 2.0)


@pytest.mark.parametrize(
    ("option", "method"),
    [("", None), ('<option cone="elliptic"/>', None), ('<option integrator="Euler"/>', "euler"),
     ('<option integrator="RK4"/>', "rk4"), ('<option integrator="implicit"/>', "implicit"),
     ('<option integrator="implicitfast"/>', "implicit-fast")],
)  # fmt: skip
def test_the_integrator_that_a_file_names(read, option: str, method: str | None):
    assert read(FLYER, before=option).method == method


def test_too_many_bodies(read):
    with pytest.raises(InputError, match="has 1001 links; a robot has 1000 at most"):
        read("".join(f'<body name="b{k}"><M/></body>' for k in range(1001)))


def test_an_obstacle_that_is_only_seen_is_not_touched():
    box = {"type": "box", "size": [1, 1, 1]}
    world = MultibodyWorld.model_validate({"ground": False, "obstacles": {"a": box, "b": {**box, "role": "visual"}}})
    m = build_spec(world, None, {}, step=0.001, method="euler").compile()
    assert m.ngeom == 1 and m.geom(0).name == "obstacle/a"
