"""Serial arms as a user writes them: what stands where nothing is written, and what is told of the broken."""

# ruff: noqa: E501 (messages are shown whole, as the user sees them)

from __future__ import annotations

from collections.abc import Callable
from math import pi
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from botz.engines.registry import make_engine
from botz.errors import InputError
from botz.scenario.arm.schema import ArmScenario
from botz.scenario.json_schema import robot_schema, scenario_schema
from botz.scenario.load import load, load_data, load_robot

Write = Callable[..., Path]

DUO = """\
engine: arm
joint: {a: 50 cm, mass: 2, centre: [-0.25, 0, 0], inertia: [0.002, 0.042, 0.042]}
joints:
  low: {range: [-90 deg, 90 deg], speed: 60 deg/s}
  high: {}
"""
GOOD = """\
engine: arm
time: {step: 1 ms, duration: 10}
robots:
  one: {extends: bars.yaml, start: [10 deg, -0.2]}
  two: {extends: bars.yaml, pose: {x: 2, yaw: 90 deg}}
world:
  planes: {floor: {point: [0, 0, -1]}}
  boxes: {table: {size: [0.5, 0.5, 0.1], pose: [3, 0, 0, 0, 0, 0]}}
  objects: {nut: {size: [0.1, 0.1, 0.1], mass: 20, pose: [5, 0, 0, 0, 0, 0]}}
  contact: {stiffness: 20 N/mm}
controllers:
  hold: {type: constant, robot: one, command: {position: [0, 0]}}
"""
"""Arms in lines 4 and 5, surfaces in 7 to 10."""


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


def one(text: str) -> str:
    """In line 4."""
    return changed("one: {extends: bars.yaml,", f"one: {{extends: bars.yaml, {text},")


def low(text: str) -> str:
    """Of the first joint, in line 4."""
    return one(f"joints: {{low: {{{text}}}}}")


def world(text: str) -> str:
    """In line 6."""
    return GOOD.replace("world:\n", f"world:\n  {text}\n")


def steps(text: str) -> str:
    """A program in line 12."""
    return changed(
        "{type: constant, robot: one, command: {position: [0, 0]}}", f"{{type: program, robot: one, steps: [{text}]}}"
    )


def bad(name: str, text: str, *says: str, duo: str = DUO):
    return pytest.param(text, duo, list(says), id=name.replace(" ", "-"))


# fmt: off
LOADING = [
    bad("range reversed", low("range: [90 deg, -90 deg]"),
        "s.yaml:4: robots.one.joints.low.range: '90 deg' is not below '-90 deg'"),
    bad("range of nothing", low("range: [1, 1]"),
        's.yaml:4: robots.one.joints.low.range: 1 is not below 1'),
    bad("range of one", low("range: [1]"),
        's.yaml:4: robots.one.joints.low.range: needs at least 2 entries, not 1'),
    bad("start outside the range", changed("start: [10 deg, -0.2]", "start: [100 deg, -0.2]"),
        "s.yaml:4: robots.one.start.0: '100 deg' is outside the range of low, -90 deg to 90 deg"),
    bad("start of three", changed("start: [10 deg, -0.2]", "start: [0, 0, 0]"),
        's.yaml:4: robots.one.start: 3 numbers for 2 joints'),
    bad("start and speed of one", changed("start: [10 deg, -0.2]", "start: [0], start_speed: [1]"),
        's.yaml:4: robots.one.start: 1 numbers for 2 joints',
        's.yaml:4: robots.one.start_speed: 1 numbers for 2 joints'),
    bad("start is text", changed("start: [10 deg, -0.2]", "start: home"),
        "s.yaml:4: robots.one.start: needs a list, not 'home'"),
    bad("start is infinite", changed("start: [10 deg, -0.2]", "start: [0, .inf]"),
        's.yaml:4: robots.one.start.1: needs a finite number, not inf'),
    bad("inertia above the sum of two", low("inertia: [1, 1, 2.1]"),
        's.yaml:4: robots.one.joints.low.inertia: principal moments 1, 1, 2.1 kg·m²; no body has one above the sum of the other two'),
    bad("inertia negative", low("inertia: [1, 1, -1]"),
        's.yaml:4: robots.one.joints.low.inertia: has the principal moment -1 kg·m²; none can be negative'),
    bad("inertia with products too large", low("inertia: [1, 1, 1, 2, 0, 0]"),
        's.yaml:4: robots.one.joints.low.inertia: has the principal moment -1 kg·m²; none can be negative'),
    bad("inertia of four", low("inertia: [1, 1, 1, 0]"),
        's.yaml:4: robots.one.joints.low.inertia: needs Ixx, Iyy, Izz, or six numbers, not 4'),
    bad("inertia of two", low("inertia: [1, 1]"),
        's.yaml:4: robots.one.joints.low.inertia: needs at least 3 entries, not 2'),
    bad("inertia without mass", low("mass: 0"),
        'bars.yaml:2: robots.one.joint.inertia: a body without mass has none'),
    bad("mass negative", low("mass: -1 kg"),
        "s.yaml:4: robots.one.joints.low.mass: must be at least 0, not '-1 kg'"),
    bad("centre of two", low("centre: [0, 0]"),
        's.yaml:4: robots.one.joints.low.centre: needs at least 3 entries, not 2'),
    bad("unknown kind of joint", low("type: sliding"),
        "s.yaml:4: robots.one.joints.low.type: unknown 'sliding'; choose from: prismatic, revolute"),
    bad("unknown key of a joint", low("alfa: 90 deg"),
        "s.yaml:4: robots.one.joints.low.alfa: unknown key; did you mean 'alpha'? (a, acceleration, actuator, alpha, centre, d, friction, inertia, mass, range, rotor_inertia, speed, …)"),
    bad("speed 0", low("speed: 0"),
        's.yaml:4: robots.one.joints.low.speed: must be greater than 0, not 0'),
    bad("angle in metres", low("alpha: 3 m"),
        's.yaml:4: robots.one.joints.low.alpha: "3 m" is a length, needs an angle such as "45 deg"'),
    bad("length in degrees", low("a: 90 deg"),
        's.yaml:4: robots.one.joints.low.a: "90 deg" is an angle, needs a length such as "0.12 m"'),
    bad("friction smoothing 0", low("friction: {smoothing: 0}"),
        's.yaml:4: robots.one.joints.low.friction.smoothing: must be greater than 0, not 0'),
    bad("lag negative", low("actuator: {lag: -1 ms}"),
        "s.yaml:4: robots.one.joints.low.actuator.lag: must be at least 0, not '-1 ms'"),
    bad("joint called as a master's column", one("joints: {stop: {mass: 1}}"),
        "s.yaml:4: robots.one.joints.stop: 'stop' is a column of a master's script; choose another name"),
    bad("joint called as nothing can be", one("joints: {High: {mass: 1}}"),
        "s.yaml:4: robots.one.joints.High: 'High' is not a name: lower-case letters, digits and _, beginning with a letter"),
    bad("range of a slide in degrees", low("type: prismatic, range: [10 deg, 20 deg], speed: 1 m/s").replace("start: [10 deg,", "start: [12 cm,"),
        's.yaml:4: robots.one.joints.low.range.0: "10 deg" is an angle, needs a length such as "0.12 m"',
        's.yaml:4: robots.one.joints.low.range.1: "20 deg" is an angle, needs a length such as "0.12 m"'),
    bad("range in metres", low("range: [-1 m, 2]"),
        's.yaml:4: robots.one.joints.low.range.0: "-1 m" is a length, needs an angle such as "45 deg"'),
    bad("speed in kilograms", low("speed: 3 kg"),
        's.yaml:4: robots.one.joints.low.speed: "3 kg" is a mass, needs an angular speed such as "60 rpm"'),
    bad("flow without torque", low("actuator: {flow_speed: 1}"),
        "s.yaml:4: robots.one.joints.low.actuator.flow_speed: is where the torque is gone; it needs 'torque', the one at rest"),
    bad("start in metres a second", changed("start: [10 deg, -0.2]", "start: [10 deg, 3 m/s]"),
        's.yaml:4: robots.one.start.1: "3 m/s" is a speed, needs an angle such as "45 deg"'),
    bad("start speed in metres", changed("start: [10 deg, -0.2]", "start_speed: [1 m, 1]"),
        's.yaml:4: robots.one.start_speed.0: "1 m" is a length, needs an angular speed such as "60 rpm"'),
    bad("no joints", changed("one: {extends: bars.yaml, start: [10 deg, -0.2]}", "one: {joints: {}}"),
        's.yaml:4: robots.one.joints: needs at least 1 entry, not 0'),
    bad("joints missing", changed("one: {extends: bars.yaml, start: [10 deg, -0.2]}", "one: {pose: [0, 0, 0, 0, 0, 0]}"),
        's.yaml:4: robots.one.joints: missing (the joints from the base to the tool, by name, each with its link)'),
    bad("too many joints", changed("one: {extends: bars.yaml, start: [10 deg, -0.2]}", "one: {joints: {" + ", ".join(f"j{k}: {{mass: 1}}" for k in range(33)) + "}}"),
        's.yaml:4: robots.one.joints: needs at most 32 entries, not 33'),
    bad("gains of one", one("servo: {gains: {proportional: [1], derivative: [1, 2], integral: [1, 2, 3]}}"),
        's.yaml:4: robots.one.servo.gains.proportional: 1 numbers for 2 joints',
        's.yaml:4: robots.one.servo.gains.integral: 3 numbers for 2 joints'),
    bad("gains negative", one("servo: {gains: {proportional: [1, -1], derivative: [-2, 2], integral: [-3, 3]}}"),
        's.yaml:4: robots.one.servo.gains.proportional.1: must be at least 0, not -1',
        's.yaml:4: robots.one.servo.gains.derivative.0: must be at least 0, not -2',
        's.yaml:4: robots.one.servo.gains.integral.0: must be at least 0, not -3'),
    bad("unknown servo", one("servo: {type: pdi}"),
        "s.yaml:4: robots.one.servo.type: unknown 'pdi'; did you mean 'pid'? (computed-torque, pid, torque)"),
    bad("gripper without force", one("gripper: {opening: 0.1, speed: 0.1, pads: [0.1, 0.1]}"),
        's.yaml:4: robots.one.gripper.force: missing (greatest force of a jaw [N])'),
    bad("gripper starts too wide", one("gripper: {opening: 0.1, speed: 0.1, force: 10, pads: [0.1, 0.1], start: 0.2}"),
        's.yaml:4: robots.one.gripper.start: 0.2 m is more than the opening of 0.1 m'),
    bad("pads of no size", one("gripper: {opening: 0.1, speed: 0.1, force: 10, pads: [0, -1]}"),
        's.yaml:4: robots.one.gripper.pads.0: 0 m; needs more than 0',
        's.yaml:4: robots.one.gripper.pads.1: -1 m; needs more than 0'),
    bad("tool point of two", one("tool: {points: [[0, 0]]}"),
        's.yaml:4: robots.one.tool.points.0: needs at least 3 entries, not 2'),
    bad("pose of three", changed("pose: {x: 2, yaw: 90 deg}", "pose: [0, 0, 0]"),
        's.yaml:5: robots.two.pose: needs a pose [x, y, z, roll, pitch, yaw], not 3 entries'),
    bad("pose with an unknown key", changed("pose: {x: 2, yaw: 90 deg}", "pose: {x: 2, heading: 90 deg}"),
        's.yaml:5: robots.two.pose.heading: unknown key; a pose is [x, y, z, roll, pitch, yaw] or has the keys x, y, z, roll, pitch, yaw'),
    bad("pose of a mass", changed("pose: {x: 2, yaw: 90 deg}", "pose: {z: 2 kg, yaw: 3 m}"),
        's.yaml:5: robots.two.pose.z: "2 kg" is a mass, needs a length such as "0.12 m"',
        's.yaml:5: robots.two.pose.yaw: "3 m" is a length, needs an angle such as "45 deg"'),
    bad("pose of a mass in x", changed("pose: {x: 2, yaw: 90 deg}", "pose: {x: 2 kg}"),
        's.yaml:5: robots.two.pose.x: "2 kg" is a mass, needs a length such as "0.12 m"'),
    bad("pose of a mass in a list", changed("pose: {x: 2, yaw: 90 deg}", "pose: [0, 0, 2 kg, 0, 0, 0]"),
        's.yaml:5: robots.two.pose.2: "2 kg" is a mass, needs a length such as "0.12 m"'),
    bad("payload impossible", one("payload: {mass: 1, inertia: [1, 1, 3]}"),
        's.yaml:4: robots.one.payload.inertia: principal moments 1, 1, 3 kg·m²; no body has one above the sum of the other two'),
    bad("robot named as an object", changed("  two:", "  nut:"),
        "s.yaml:5: robots.nut: one of the objects is called 'nut' too; choose another name"),
    bad("object named as a box", changed("objects: {nut:", "objects: {table:"),
        's.yaml:9: world.objects.table: one of the boxes has this name already'),
    bad("object without mass", changed("mass: 20, ", ""),
        's.yaml:9: world.objects.nut.mass: missing (mass, spread evenly [kg])'),
    bad("object of no size", changed("size: [0.1, 0.1, 0.1]", "size: [0.1, 0.1, 0]"),
        's.yaml:9: world.objects.nut.size.2: must be greater than 0, not 0'),
    bad("box without a pose", changed(", pose: [3, 0, 0, 0, 0, 0]", ""),
        's.yaml:8: world.boxes.table.pose: missing (of its middle: x, y, z [m], roll, pitch, yaw [rad])'),
    bad("plane without a direction", changed("{point: [0, 0, -1]}", "{normal: [0, 0, 0]}"),
        's.yaml:7: world.planes.floor.normal: needs a direction of ordinary length, as [0, 0, 1]; this is 0 long'),
    bad("plane with a tiny direction", changed("{point: [0, 0, -1]}", "{normal: [1e-200, 0, 1e-200]}"),
        's.yaml:7: world.planes.floor.normal: needs a direction of ordinary length, as [0, 0, 1]; this is 1.41421e-200 long'),
    bad("plane with a huge direction", changed("{point: [0, 0, -1]}", "{normal: [1e300, 0, 1e300]}"),
        's.yaml:7: world.planes.floor.normal: needs a direction of ordinary length, as [0, 0, 1]; this is 1.41421e+300 long'),
    bad("gravity of one", world("gravity: -9.8"),
        's.yaml:7: world.gravity: needs a list, not -9.8'),
    bad("gravity in metres", world("gravity: [0, 0, -9.8 m]"),
        's.yaml:7: world.gravity.2: "-9.8 m" is a length, needs an acceleration such as "9.81 m/s^2"'),
    bad("water denser than anything", world("water: {density: 1e5}"),
        's.yaml:7: world.water.density: must be at most 20000 kg/m^3, not 100000'),
    bad("stiffness 0", changed("stiffness: 20 N/mm", "stiffness: 0"),
        's.yaml:10: world.contact.stiffness: must be greater than 0, not 0'),
    bad("unknown part of the world", world("walls: {}"),
        's.yaml:7: world.walls: unknown key; choose from: boxes, contact, gravity, objects, planes, water'),
    bad("unknown method", changed("step: 1 ms,", "step: 1 ms, method: euler,"),
        "s.yaml:2: time.method: unknown 'euler'; choose from: rk4, semi-implicit"),
    bad("unknown controller", changed("type: constant", "type: go-to-pose"),
        "s.yaml:12: controllers.hold.type: 'go-to-pose' is of engine kinematics; choose from: constant, file.py:Class, program, table, teleoperation"),
    bad("step of a program that is none", steps("{type: jump}"),
        "s.yaml:12: controllers.hold.steps.0.type: unknown 'jump'; choose from: arc, gripper, joints, line, wait"),
    bad("two ends of a move", steps("{type: joints, to: [0, 0], pose: [0, 0, 0, 0, 0, 0]}"),
        "s.yaml:12: controllers.hold.steps.0: give either 'to' or 'pose'"),
    bad("no end of a move", steps("{type: joints}"),
        "s.yaml:12: controllers.hold.steps.0: give either 'to' or 'pose'"),
    bad("points and trapezoids", steps("{type: joints, to: [0, 0], through: [[1, 1]], profile: trapezoidal}"),
        's.yaml:12: controllers.hold.steps.0.through: points are passed by quintic paths only; leave `profile` out'),
    bad("grip of nothing", steps("{type: gripper}"),
        's.yaml:12: controllers.hold.steps.0.opening: missing (distance between the pads that is wanted [m]; an object in between is held with `force`)'),
    bad("wait for ever", steps("{type: wait, duration: .inf}"),
        's.yaml:12: controllers.hold.steps.0.duration: needs a finite number, not inf'),
    bad("empty program", steps(""),
        's.yaml:12: controllers.hold.steps: needs at least 1 entry, not 0'),
    bad("link to an arm that is none", GOOD + "links: {teleoperation: {robot: three}}\n",
        "s.yaml:13: links.teleoperation.robot: no robot 'three'; choose from: one, two"),
    bad("link to an arm misspelt", GOOD + "links: {teleoperation: {robot: tow}}\n",
        "s.yaml:13: links.teleoperation.robot: no robot 'tow'; did you mean 'two'? (one, two)"),
    bad("robot of another engine", changed("two: {extends: bars.yaml", "two: {extends: duo"),
        "s.yaml:5: robots.two.extends: robot 'duo' is for engine 'kinematics', this scenario for 'arm'"),
    bad("wrong value in the robot file", GOOD,
        'bars.yaml:2: robots.one.joint.mass: must be at least 0, not -2',
        'bars.yaml:2: robots.two.joint.mass: must be at least 0, not -2', duo=DUO.replace("mass: 2", "mass: -2")),
]
BUILDING = [
    bad("servo too fast", one("servo: {frequency: 1000}"),
        's.yaml:4: robots.one.servo.frequency: 1000 rad/s with a damping of 1 is too fast for steps of 0.001 s; at most 61.9 rad/s, or a shorter time.step, or computed-torque'),
    bad("stop too fast", low("stop_frequency: 1000"),
        's.yaml:4: robots.one.joints.low.stop_frequency: 1000 rad/s is too fast for steps of 0.001 s; at most 500 rad/s'),
    bad("servo damped too hard", one("servo: {damping: 100}"),
        's.yaml:4: robots.one.servo.frequency: 20 rad/s with a damping of 100 is too fast for steps of 0.001 s; at most 0.619 rad/s, or a shorter time.step, or computed-torque'),
    bad("integral too fast", one("servo: {integral_time: 20 ms}"),
        's.yaml:4: robots.one.servo.integral_time: 0.02 s lets the error grow; it needs more than 0.0469 s'),
    bad("valve too slow", low("actuator: {lag: 0.2}"),
        's.yaml:4: robots.one.servo.frequency: 20 rad/s is too fast for the lag of 0.2 s of low; below 10 rad/s'),
    bad("contact too soft", changed("stiffness: 20 N/mm", "stiffness: 1 N/mm"),
        's.yaml:10: world.contact.stiffness: 1e+03 N/m is too soft for nut: its 20 kg would sink in by 0.049 m; at least 4.9e+03 N/m'),
    bad("object in the floor", changed("mass: 20, pose: [5, 0, 0, 0, 0, 0]", "mass: 20, pose: [5, 0, -1, 0, 0, 0]"),
        's.yaml:9: world.objects.nut.pose: begins 0.05 m inside floor; move it out'),
    bad("object in the table", changed("mass: 20, pose: [5, 0, 0, 0, 0, 0]", "mass: 20, pose: [3, 0, 0, 0, 0, 0]"),
        's.yaml:9: world.objects.nut.pose: begins 0.1 m inside table; move it out'),
    bad("contact too stiff", changed("stiffness: 20 N/mm", "stiffness: 1e9"),
        's.yaml:10: world.contact.stiffness: 1e+09 N/m is too stiff for nut of 20 kg in steps of 0.001 s; at most 2.7e+06 N/m, or a shorter time.step'),
    bad("link without inertia", one("joints: {high: {mass: 0, inertia: [0, 0, 0]}}"),
        's.yaml:4: robots.one.joints.high: high can move without moving any inertia; give the links masses, or the joint a rotor_inertia'),
]
# fmt: on


def write_both(write: Write, text: str, duo: str = DUO) -> None:
    write(text)
    write(duo, "bars.yaml")


@pytest.mark.parametrize(("text", "duo", "says"), LOADING)
def test_a_broken_arm_is_told_exactly(write: Write, text: str, duo: str, says: list[str]) -> None:
    write_both(write, text, duo)
    with pytest.raises(InputError) as caught:
        load("s.yaml")
    assert [str(problem) for problem in caught.value.problems] == says
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("text", "duo", "says"), BUILDING)
def test_what_only_the_engine_knows_is_told_with_its_place(write: Write, text: str, duo: str, says: list[str]) -> None:
    write_both(write, text, duo)
    loaded = load("s.yaml")
    with pytest.raises(InputError) as caught:
        make_engine(loaded.spec)
    assert [str(problem) for problem in loaded.with_places(caught.value).problems] == says


GOOD_ONES = [
    GOOD,
    low("range: null"),
    low("inertia: [1, 1, 2]"),
    low("inertia: [1, 1, 1, 0.2, 0.2, 0.2]"),
    low("mass: 0, inertia: [0, 0, 0]"),
    low("actuator: {torque: 100, torque_rate: 1e4, lag: 20 ms, flow_speed: 2 rad/s}"),
    one("gripper: {opening: 10 cm, speed: 0.1, force: 1 kN, pads: [4 cm, 4 cm], start: 0}"),
    one("servo: {type: torque}"),
    one("servo: {gains: {proportional: [1, 2], derivative: [1, 2]}}"),
    one("tool: {points: [[0, 0, 0], [0, 0, 5 cm]], radius: 1 cm}"),
    changed("start: [10 deg, -0.2]", "start: [90 deg, 50], start_speed: [1, -1]"),
    world("gravity: [0, 3.7, 0]"),
    world("water: {current: [1, 0, 0]}"),
    changed("step: 1 ms,", "step: 1 ms, method: semi-implicit, forward_dynamics: newton-euler,"),
    low(
        "type: prismatic, range: [10 cm, 20 cm], speed: 1 m/s, actuator: {torque: 1 kN, flow_speed: 1 m/s}, rotor_inertia: 3 kg"
    ).replace("start: [10 deg, -0.2]", "start: [12 cm, 5 deg]"),
    low("friction: {coulomb: 3 Nm, smoothing: 1 deg/s}, rotor_inertia: 3 kg*m^2, acceleration: 1 rad/s^2"),
    one("servo: {gains: {proportional: [0, 2], derivative: [1, 0]}}"),
    changed("contact: {stiffness: 20 N/mm}", "contact: {stiffness: null}"),
    changed("{point: [0, 0, -1]}", "{point: [0, 0, -1], normal: [0, 0, 1000]}"),
    steps("{type: joints, to: [0, 0.5]}, {type: wait, duration: 1}"),
    steps("{type: joints, to: [0, 0.5], through: [[0.1, 0.1], [0.2, 0.2]]}"),
]


@pytest.mark.parametrize("text", GOOD_ONES)
def test_what_the_tables_vary_is_good(write: Write, text: str) -> None:
    write_both(write, text)
    make_engine(load("s.yaml").spec)


def spec_of(write: Write, text: str) -> ArmScenario:
    write_both(write, text)
    spec = load("s.yaml").spec
    assert isinstance(spec, ArmScenario)
    return spec


# --- what stands where nothing is written --------------------------------------------------------------------------


def test_what_stands_where_nothing_is_written() -> None:
    spec = load_data({"engine": "arm", "robots": {"one": {"joints": {"j": {"mass": 1, "inertia": [1, 1, 1]}}}}}).spec
    assert isinstance(spec, ArmScenario)
    assert (spec.time.step_ns, spec.time.method, spec.time.forward_dynamics) == (1_000_000, "rk4", "composite-body")
    assert spec.world.gravity == [0.0, 0.0, -9.80665] and spec.world.water is None
    own = spec.robots["one"]
    assert own.joints["j"].type == "revolute" and own.joints["j"].range is None and own.gripper is None
    assert own.servo.type == "pid" and own.start_joints == [0.0] and own.pose == (0.0,) * 6


def test_units_and_what_joints_have_in_common(write: Write) -> None:
    spec = spec_of(write, low("a: 40 cm"))
    joints = spec.robots["one"].joints
    assert (joints["low"].a, joints["high"].a) == pytest.approx((0.4, 0.5))
    assert joints["low"].range == pytest.approx([-pi / 2, pi / 2]) and joints["low"].speed == pytest.approx(pi / 3)
    assert joints["high"].range is None and joints["high"].mass == 2.0
    assert spec.robots["one"].start_joints == pytest.approx([pi / 18, -0.2])
    assert spec.robots["two"].pose == pytest.approx((2.0, 0.0, 0.0, 0.0, 0.0, pi / 2))
    assert spec.world.contact.stiffness == pytest.approx(2e4)


@pytest.mark.parametrize(("given", "start"), [([-1.0, 2.0], 0.0), ([0.5, 2.0], 0.5), ([-2.0, -0.3], -0.3)])
def test_an_arm_starts_at_0_or_at_the_end_of_the_range_next_to_it(given: list[float], start: float) -> None:
    robot = {"joints": {"j": {"mass": 1, "inertia": [1, 1, 1], "range": given}}}
    spec = load_data({"engine": "arm", "robots": {"one": robot}}).spec
    assert isinstance(spec, ArmScenario)
    assert spec.robots["one"].start_joints == [start]


def test_a_scenario_comes_back_from_its_data(write: Write) -> None:
    write_both(write, GOOD)
    loaded = load("s.yaml")
    assert load_data(loaded.data).spec == loaded.spec


# --- for editors ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scenarios() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(scenario_schema())


def test_the_json_schema_knows_arms(scenarios: jsonschema.Draft202012Validator) -> None:
    joint = {"a": "50 cm", "mass": 2, "inertia": [0.1, 0.1, 0.1], "range": ["-90 deg", 1.5]}
    robot = {"joints": {"low": joint}}
    good: dict[str, Any] = {"engine": "arm", "robots": {"one": {**robot, "pose": {"x": 1}, "start": [0.1]}}}
    scenarios.validate(good)
    scenarios.validate({**good, "world": {"objects": {"nut": {"size": [1, 1, 1], "mass": "3 kg", "pose": [0] * 6}}}})
    scenarios.validate({"engine": "arm", "robots": {"one": {"extends": "titan4", "joints": {"elbow": {"mass": 3}}}}})
    for wrong in (
        {**good, "robots": {"one": {**robot, "pose": [0, 0, 0]}}},
        {**good, "robots": {"one": {"joints": {"low": {**joint, "alfa": 1}}}}},
        {**good, "robots": {"one": {"joints": {"low": {**joint, "mass": -1}}}}},
        {**good, "robots": {"one": {"joints": {}}}},
        {**good, "world": {"objects": {"nut": {"size": [1, 1, 1], "pose": [0] * 6}}}},
        {**good, "world": {"walls": {}}},
    ):
        assert not scenarios.is_valid(wrong), wrong


def test_the_json_schema_knows_arms_by_themselves() -> None:
    robots = jsonschema.Draft202012Validator(robot_schema())
    good = {"engine": "arm", "joint": {"mass": 2}, "joints": {"low": {"a": 0.5}, "high": {}}}
    robots.validate(good)
    robots.validate({"extends": "titan4", "engine": "arm", "servo": {"type": "pid"}})
    for wrong in ({**good, "pose": [0] * 6}, {**good, "joints": {"low": {"b": 1}}}, {**good, "servo": {"type": "pdi"}}):
        assert not robots.is_valid(wrong), wrong


@pytest.mark.parametrize("name", ["titan4", "puma560"])
def test_shipped_arms_are_complete(name: str) -> None:
    robot = load_robot(name).spec
    assert robot.description and robot.source
    assert len(robot.joints) == 6
    for joint in robot.joints.values():
        assert joint.mass > 0 and joint.speed is not None and joint.actuator.torque is not None
