"""Broken multibody scenarios: what a user writes, and what Botz says about it."""

# ruff: noqa: E501 (messages are shown whole, as the user sees them)

from __future__ import annotations

import os
from pathlib import Path

import pytest

from botz.engines.multibody.engine import MultibodyEngine
from botz.errors import InputError
from botz.scenario.load import load
from botz.scenario.multibody.schema import MultibodyScenario

HEAD = "engine: multibody\n"
LINKS = "{body: {mass: 1, inertia: [1, 1, 1]}, arm: {mass: 1, inertia: [1, 1, 1]}}"
JOINTS = "{turn: {type: revolute, parent: body, child: arm, range: [-1, 1]}}"


def robot(more: str = "", links: str = LINKS, joints: str = JOINTS, after: str = "") -> str:
    return f"{HEAD}{after}robots:\n  bot:\n    links: {links}\n    joints: {joints}\n" + "".join(
        f"    {line}\n" for line in more.splitlines()
    )


def world(text: str) -> str:
    return robot(after=f"world: {{{text}}}\n")


def bad(name: str, text: str, *says: str):
    return pytest.param(text, list(says), id=name.replace(" ", "-"))


MOTOR = "resistance: 1, torque_constant: 0.1, max_voltage: 12"
# fmt: off
TABLE = [
    bad("terrain without end", world("terrain: {type: rough, iso_class: D, outside: mirror}"),
        "s.yaml:2: world.terrain.outside: mirror is for engine vehicle; here the run ends where a robot leaves the terrain, choose edge or end"),
    bad("no links", HEAD + "robots:\n  bot: {description: empty}\n",
        "s.yaml:3: robots.bot.links: needs links, or a model file by 'file'"),
    bad("file and links", robot("file: a.urdf"),
        "s.yaml:4: robots.bot.links: are those of the model file; give 'file' or these",
        "s.yaml:5: robots.bot.joints: are those of the model file; give 'file' or these",
        "s.yaml:6: robots.bot.file: no such file: a.urdf"),
    bad("wrong key", robot("actuator: {}"),
        "s.yaml:6: robots.bot.actuator: unknown key; did you mean 'actuators'?"),
    bad("wrong parent", robot(joints="{turn: {type: continuous, parent: bdy, child: arm}}"),
        "robots.bot.joints.turn.parent: no link 'bdy'; did you mean 'body'?"),
    bad("two carriers", robot(joints="{a: {type: continuous, parent: body, child: arm}, b: {type: continuous, parent: body, child: arm}}"),
        "robots.bot.joints.b.child: link 'arm' already hangs on joint 'a'; a link hangs on one"),
    bad("two roots", robot(joints="{}"),
        "robots.bot.links: body, arm hang on no joint; only one root may, the others need a joint that carries them"),
    bad("circle", robot(joints="{a: {type: continuous, parent: body, child: arm}, b: {type: continuous, parent: arm, child: body}}"),
        "robots.bot.joints.a: goes round in a circle: following the parents never leads to a root"),
    bad("axis of no length", robot(joints="{turn: {type: continuous, parent: body, child: arm, axis: [0, 0, 0]}}"),
        "robots.bot.joints.turn.axis: needs a direction, as [0, 0, 1]; this is 0 long"),
    bad("revolute without a range", robot(joints="{turn: {type: revolute, parent: body, child: arm}}"),
        "robots.bot.joints.turn.range: a revolute joint has a range; without one it is 'continuous'"),
    bad("range turned round", robot(joints="{turn: {type: revolute, parent: body, child: arm, range: [1, -1]}}"),
        "robots.bot.joints.turn.range: begins at 1, after its end -1"),
    bad("kind of joint", robot(joints="{turn: {type: ball, parent: body, child: arm}}"),
        "robots.bot.joints.turn.type: unknown 'ball'; choose from: continuous, fixed, prismatic, revolute"),
    bad("impossible inertia", robot(links="{body: {mass: 1, inertia: [1, 1, 3]}, arm: {mass: 1, inertia: [1, 1, 1]}}"),
        "robots.bot.links.body.inertia: principal moments 1, 1, 3 kg·m²; no body has one above the sum of the other two"),
    bad("negative inertia", robot(links="{body: {mass: 1, inertia: [1, 1, -1]}, arm: {mass: 1, inertia: [1, 1, 1]}}"),
        "robots.bot.links.body.inertia: has the principal moment -1 kg·m²; none can be negative"),
    bad("mass without inertia", robot(links="{body: {mass: 1}, arm: {mass: 1, inertia: [1, 1, 1]}}"),
        "robots.bot.links.body.inertia: a mass of 1 kg needs an inertia, or a shape to take it from"),
    bad("actuator of no joint", robot("actuators: {trun: {kind: effort}}"),
        "robots.bot.actuators.trun: no joint 'trun' that moves; did you mean 'turn'?"),
    bad("kind of actuator", robot("actuators: {turn: {kind: torque}}"),
        "robots.bot.actuators.turn.kind: unknown 'torque'; choose from: effort, position, velocity"),
    bad("kind of element", robot("elements: {e: {type: propellor, joint: turn}}"),
        "robots.bot.elements.e.type: unknown 'propellor'; did you mean 'propeller'?"),
    bad("propeller without thrust", robot("elements: {e: {type: propeller, joint: turn}}"),
        "s.yaml:6: robots.bot.elements.e: give either 'coefficient' (f = K ω²) or 'curve' (f = a + b ω + c ω²)"),
    bad("element on no joint", robot(f"elements: {{e: {{type: dc-motor, joint: tun, {MOTOR}}}}}"),
        "robots.bot.elements.e.joint: no joint 'tun' that turns; did you mean 'turn'?"),
    bad("element on no link", robot("elements: {e: {type: lift-drag, link: wing, area: 1, cla: 1}}"),
        "robots.bot.elements.e.link: no link 'wing'; choose from: arm, body"),
    bad("user element without a file", robot("elements: {e: {type: 'no.py:f', link: body}}"),
        "s.yaml:6: robots.bot.elements.e.type: no such file: no.py"),
    bad("user element on nothing", robot("elements: {e: {type: 'no.py:f'}}"),
        "robots.bot.elements.e.type: no such file: no.py",
        "robots.bot.elements.e: needs 'link' or 'joint': what it acts on"),
    bad("sensor on no link", robot("sensors: {s: {type: imu, link: nose}}"),
        "robots.bot.sensors.s.link: no link 'nose'; choose from: arm, body"),
    bad("kind of sensor", robot("sensors: {s: {type: lidar, link: body}}"),
        "robots.bot.sensors.s.type: unknown 'lidar'; choose from: "),
    bad("rate of a sensor", robot("sensors: {s: {type: imu, link: body, rate: 333}}"),
        "robots.bot.sensors.s.rate: 333 Hz has a period of"),
    bad("start outside", robot("start: {turn: 2}"),
        "robots.bot.start.turn: 2 rad (114.592 deg) is outside the range, -1 rad (-57.2958 deg) to 1 rad"),
    bad("start of no joint", robot("start: {tilt: 0}"),
        "robots.bot.start.tilt: no joint 'tilt' that moves; choose from: turn"),
    bad("wind of two numbers", world("wind: {steady: [1, 2]}"),
        "s.yaml:2: world.wind.steady: needs at least 3 entries, not 2"),
    bad("gravity as a number", world("gravity: -9.81"),
        "s.yaml:2: world.gravity: needs a list"),
    bad("kind of obstacle", world("obstacles: {wall: {type: cube, size: [1, 1, 1]}}"),
        "s.yaml:2: world.obstacles.wall.type: unknown 'cube'; "),
    bad("memory of nothing", world("memory: 0"),
        "s.yaml:2: world.memory: must be at least 1"),
    bad("memory of a byte", world("memory: 1"),
        "world.memory: MuJoCo refuses the model: Error: engine error: mj_stackAlloc: out of memory"),
    bad("moves without mass", robot(links="{body: {mass: 1, inertia: [1, 1, 1]}, arm: {}}"),
        "robots.bot.links.arm.mass: moves, but has no mass; give it one, or fix its joint"),
    bad("root without mass", robot(links="{body: {}, arm: {mass: 1, inertia: [1, 1, 1]}}"),
        "robots.bot.links.body.mass: moves, but has no mass; give it one, or say 'base: fixed'"),
    bad("mesh of no size", robot(links="{body: {mass: 1, shapes: [{type: mesh, file: s.yaml, scale: [1, 0, 1]}]}, arm: {mass: 1, inertia: [1, 1, 1]}}"),
        "robots.bot.links.body.shapes.0.scale: a scale of 0 leaves nothing of the mesh"),
    bad("mesh that is none", robot(links="{body: {mass: 1, shapes: [{type: mesh, file: s.yaml}]}, arm: {mass: 1, inertia: [1, 1, 1]}}"),
        "robots.bot.links.body.shapes: has the ending '.yaml', which is not one of a mesh"),
    bad("time constant of contacts", world("contact: {time_constant: 0.1 ms}"),
        "world.contact.time_constant: must be at least twice the step, 0.0005 s, or contacts bounce without end"),
    bad("method", robot(after="time: {method: runge-kutta}\n"),
        "s.yaml:2: time.method: unknown 'runge-kutta'; choose from: auto, euler, implicit, implicit-fast, rk4"),
    bad("manoeuvre that does nothing", robot(after="controllers: {pilot: {type: hover, robot: bot, manoeuvres: [{at: 3}]}}\n"),
        "s.yaml:2: controllers.pilot.manoeuvres.0: does nothing; give 'height', 'land', 'add' or 'set'"),
    bad("missing model file", HEAD + "robots:\n  bot: {file: nowhere.urdf}\n",
        "s.yaml:3: robots.bot.file: no such file: nowhere.urdf"),
    bad("unknown ending of a model", HEAD + "robots:\n  bot: {file: s.yaml}\n",
        "s.yaml: has the ending '.yaml'; a model file ends in .urdf, .xacro, .sdf, .world or .xml (MJCF)"),
]
# fmt: on


@pytest.mark.parametrize(("text", "says"), TABLE)
def test_what_is_said(text: str, says: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        spec = load("s.yaml").spec
        assert isinstance(spec, MultibodyScenario)
        MultibodyEngine(spec)
    found = [str(problem).replace(f"{tmp_path}{os.sep}", "") for problem in caught.value.problems]
    assert len(found) == len(says), found
    for message, wanted in zip(found, says, strict=True):
        assert wanted in message
        assert "Traceback" not in message and "pydantic" not in message


def test_the_scenario_that_they_are_made_of_is_good(tmp_path: Path):
    (tmp_path / "s.yaml").write_text(robot(), encoding="utf-8")
    spec = load(tmp_path / "s.yaml").spec
    assert isinstance(spec, MultibodyScenario)
    assert MultibodyEngine(spec).channels.width == 19


MJCF = """<mujoco><worldbody><body name="t"><freejoint/><geom size="0.1"/><site name="imu"/>
<body name="v"><joint name="b"/><geom size="0.1" pos="0.3 0 0"/></body></body></worldbody>
<actuator><motor name="b" joint="b"/></actuator></mujoco>"""


def test_names_of_an_mjcf_file_and_of_the_scenario_do_not_clash(tmp_path: Path):
    (tmp_path / "r.xml").write_text(MJCF, encoding="utf-8")
    (tmp_path / "s.yaml").write_text(
        HEAD + "robots:\n  r: {file: r.xml, pose: {z: 1}, sensors: {imu: {type: imu, link: t}}}\n", encoding="utf-8"
    )
    spec = load(tmp_path / "s.yaml").spec
    assert isinstance(spec, MultibodyScenario)
    engine = MultibodyEngine(spec)
    assert engine.model.nsite == 2 and "r/b/control" in [one.name for one in engine.tables.inputs]


def test_an_actuator_takes_the_place_of_the_files_own(tmp_path: Path):
    (tmp_path / "r.xml").write_text(MJCF, encoding="utf-8")
    (tmp_path / "s.yaml").write_text(
        HEAD + "robots:\n  r: {file: r.xml, pose: {z: 1}, actuators: {b: {kind: velocity}}}\n", encoding="utf-8"
    )
    spec = load(tmp_path / "s.yaml").spec
    assert isinstance(spec, MultibodyScenario)
    engine = MultibodyEngine(spec)
    assert [one.name for one in engine.tables.inputs] == ["r/b/speed"] and engine.model.nu == 1
    assert any("actuator 'b' of joint 'b': replaced by 'actuators.b' of the robot" in note for note in engine.notes)


@pytest.mark.parametrize(("interface", "more"), [("Effort", ""), ("Velocity", ", actuators: {j: {kind: effort}}")])
def test_a_files_speed_is_no_mistake_of_an_effort(interface: str, more: str, tmp_path: Path):
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r"><link name="a">{mass}</link><link name="b">{mass}</link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        f'<transmission name="t"><joint name="j"><hardwareInterface>{interface}JointInterface</hardwareInterface>'
        "<botz><speed>3</speed></botz></joint></transmission></robot>",
        encoding="utf-8",
    )
    (tmp_path / "s.yaml").write_text(f"{HEAD}robots:\n  r: {{file: r.urdf{more}}}\n", encoding="utf-8")
    spec = load(tmp_path / "s.yaml").spec
    assert isinstance(spec, MultibodyScenario)
    assert [one.name for one in MultibodyEngine(spec).tables.inputs] == ["r/j/effort"]
