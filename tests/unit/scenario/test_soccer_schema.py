"""Robot soccer as a user writes it: what stands where nothing is written, and what is told of the broken."""

# ruff: noqa: E501 (messages are shown whole, as the user sees them)

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from pathlib import Path
from typing import Any

import pytest

from botz.engines.registry import make_engine
from botz.errors import InputError
from botz.scenario.links import host_and_port
from botz.scenario.load import load
from botz.scenario.soccer.schema import SoccerScenario

Write = Callable[..., Path]

CUBE = """\
engine: soccer
side: 8 cm
mass: 200 g
track: 70 mm
wheel: {radius: 25 mm, motor: {voltage: 6 V, no_load_speed: 600 rpm, stall_torque: 50 mN*m}}
wheels:
  left: {}
  right: {}
"""
GOOD = """\
engine: soccer
time: {step: 1 ms, duration: 10}
robot: {extends: cube.yaml}
robots:
  ann: {team: blue, pose: [-0.4, 0, 0], kick_off_pose: [-0.1, 0, 0]}
  bob: {team: blue, pose: [-0.4, 0.3, 0]}
  cid: {team: yellow, pose: [0.4, 0, 180 deg]}
"""
"""Its robots are in lines 5 to 7 and go on at the end of the text."""


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


def common(text: str) -> str:
    """For what the robots have in common, in line 3."""
    return changed("{extends: cube.yaml}", f"{{extends: cube.yaml, {text}}}")


def ann(text: str) -> str:
    """In line 5."""
    return changed("ann: {team: blue,", f"ann: {{team: blue, {text},")


def world(text: str) -> str:
    """In line 8."""
    return GOOD + f"world: {{{text}}}\n"


def links(text: str) -> str:
    """In line 8."""
    return GOOD + f"links: {{{text}}}\n"


def bad(name: str, text: str, *says: str, overrides: Sequence[str] = (), cube: str = CUBE):
    return pytest.param(text, overrides, cube, list(says), id=name.replace(" ", "-"))


# fmt: off
LOADING = [
    bad("no team", changed("bob: {team: blue, ", "bob: {"),
        's.yaml:6: robots.bob.team: missing (the team that it plays for: blue defends −x, yellow defends +x)'),
    bad("unknown team", changed("cid: {team: yellow", "cid: {team: red"),
        "s.yaml:7: robots.cid.team: unknown 'red'; choose from: blue, yellow"),
    bad("no pose", changed("bob: {team: blue, pose: [-0.4, 0.3, 0]}", "bob: {team: blue}"),
        's.yaml:6: robots.bob.pose: missing (x, y [m] and heading [rad] at the start and at kick-offs)'),
    bad("pose of two", changed("pose: [-0.4, 0.3, 0]", "pose: [-0.4, 0.3]"),
        's.yaml:6: robots.bob.pose: needs a pose [x, y, heading], not 2 entries'),
    bad("kick-off pose in kilograms", changed("kick_off_pose: [-0.1, 0, 0]", "kick_off_pose: [-0.1, 2 kg, 0]"),
        's.yaml:5: robots.ann.kick_off_pose.1: "2 kg" is a mass, needs a length such as "0.12 m"'),
    bad("number twice", GOOD.replace("team: blue,", "team: blue, id: 3,"),
        "s.yaml:6: robots.bob.id: robot 'ann' is number 3 of blue already"),
    bad("number of a team twice", GOOD.replace("team: blue,", "team: blue, id: 0,"),
        "s.yaml:6: robots.bob.id: robot 'ann' is number 0 of blue already"),
    bad("number negative", ann("id: -1"),
        's.yaml:5: robots.ann.id: must be at least 0, not -1'),
    bad("number too large", ann("id: 1000"),
        's.yaml:5: robots.ann.id: must be at most 999, not 1000'),
    bad("number is text", ann("id: seven"),
        "s.yaml:5: robots.ann.id: needs a whole number, not 'seven'"),
    bad("number is a fraction", ann("id: 1.5"),
        's.yaml:5: robots.ann.id: needs a whole number, not 1.5'),
    bad("robot called ball", changed("  bob:", "  ball:"),
        "s.yaml:6: robots.ball: 'ball' is not a robot's name in a match; choose another"),
    bad("robot called match", changed("  bob:", "  match:"),
        "s.yaml:6: robots.match: 'match' is not a robot's name in a match; choose another"),
    bad("robot called world", changed("  bob:", "  world:"),
        "s.yaml:6: robots.world: the recording itself uses the name 'world'; choose another"),
    bad("robot is text", changed("{team: blue, pose: [-0.4, 0.3, 0]}", "blue"),
        "s.yaml:6: robots.bob: needs a mapping (key: value), not 'blue'"),
    bad("common robot extends nothing known", changed("extends: cube.yaml", "extends: cub"),
        "s.yaml:3: robots.ann.extends: no robot 'cub' in the library; choose from: duo, swimmer, trike",
        "s.yaml:3: robots.bob.extends: no robot 'cub' in the library; choose from: duo, swimmer, trike",
        "s.yaml:3: robots.cid.extends: no robot 'cub' in the library; choose from: duo, swimmer, trike"),
    bad("common robot of another engine", changed("extends: cube.yaml", "extends: duo"),
        "s.yaml:3: robots.ann.extends: robot 'duo' is for engine 'kinematics', this scenario for 'soccer'",
        "s.yaml:3: robots.bob.extends: robot 'duo' is for engine 'kinematics', this scenario for 'soccer'",
        "s.yaml:3: robots.cid.extends: robot 'duo' is for engine 'kinematics', this scenario for 'soccer'"),
    bad("one robot of another engine", ann("extends: duo"),
        "s.yaml:5: robots.ann.extends: robot 'duo' is for engine 'kinematics', this scenario for 'soccer'"),
    bad("unknown key of all robots", common("sied: 7 cm"),
        "s.yaml:3: robots.ann.sied: unknown key; did you mean 'side'? (description, engine, extends, grip, id, inertia, kick_off_pose, linear_friction, mass, pose, side, source, …)",
        "s.yaml:3: robots.bob.sied: unknown key; did you mean 'side'? (description, engine, extends, grip, id, inertia, kick_off_pose, linear_friction, mass, pose, side, source, …)",
        "s.yaml:3: robots.cid.sied: unknown key; did you mean 'side'? (description, engine, extends, grip, id, inertia, kick_off_pose, linear_friction, mass, pose, side, source, …)"),
    bad("wrong value of all robots", common("side: -7 cm"),
        "s.yaml:3: robots.ann.side: must be greater than 0.005 m, not '-7 cm'",
        "s.yaml:3: robots.bob.side: must be greater than 0.005 m, not '-7 cm'",
        "s.yaml:3: robots.cid.side: must be greater than 0.005 m, not '-7 cm'"),
    bad("wrong value of all robots that one has right", changed("{extends: cube.yaml}", "{extends: cube.yaml, side: -7 cm}").replace("team: blue,", "team: blue, side: 9 cm,"),
        "s.yaml:3: robots.cid.side: must be greater than 0.005 m, not '-7 cm'"),
    bad("wrong value of one robot", ann("side: 7 kg"),
        's.yaml:5: robots.ann.side: "7 kg" is a mass, needs a length such as "0.12 m"'),
    bad("wrong value in the robot file", GOOD,
        'cube.yaml:3: robots.ann.mass: must be greater than 0, not 0',
        'cube.yaml:3: robots.bob.mass: must be greater than 0, not 0',
        'cube.yaml:3: robots.cid.mass: must be greater than 0, not 0', cube=CUBE.replace("mass: 200 g", "mass: 0")),
    bad("wrong wheel of the robot file", GOOD,
        'cube.yaml:5: robots.ann.wheel.radius: "25 g" is a mass, needs a length such as "0.12 m"',
        'cube.yaml:5: robots.bob.wheel.radius: "25 g" is a mass, needs a length such as "0.12 m"',
        'cube.yaml:5: robots.cid.wheel.radius: "25 g" is a mass, needs a length such as "0.12 m"', cube=CUBE.replace("radius: 25 mm", "radius: 25 g")),
    bad("wrong motor of one wheel", ann("wheels: {left: {motor: {stall_torque: 0}}}"),
        's.yaml:5: robots.ann.wheels.left.motor.stall_torque: must be greater than 0, not 0'),
    bad("wheel that is none", ann("wheels: {middle: {radius: 0.1}}"),
        's.yaml:5: robots.ann.wheels.middle: unknown key; choose from: left, right'),
    bad("no motor", GOOD,
        'cube.yaml:7: robots.ann.wheels.left.motor: missing (the motor that turns it)',
        'cube.yaml:7: robots.bob.wheels.left.motor: missing (the motor that turns it)',
        'cube.yaml:7: robots.cid.wheels.left.motor: missing (the motor that turns it)',
        'cube.yaml:8: robots.ann.wheels.right.motor: missing (the motor that turns it)',
        'cube.yaml:8: robots.bob.wheels.right.motor: missing (the motor that turns it)',
        'cube.yaml:8: robots.cid.wheels.right.motor: missing (the motor that turns it)', cube=CUBE.replace(", motor: {voltage: 6 V, no_load_speed: 600 rpm, stall_torque: 50 mN*m}", "")),
    bad("no-load speed in hertz", common("wheel: {motor: {no_load_speed: 10 Hz}}"),
        's.yaml:3: robots.ann.wheel.motor.no_load_speed: "10 Hz" is a rate, needs an angular speed such as "60 rpm" (Hz could mean turns or radians: write rpm or rad/s)',
        's.yaml:3: robots.bob.wheel.motor.no_load_speed: "10 Hz" is a rate, needs an angular speed such as "60 rpm" (Hz could mean turns or radians: write rpm or rad/s)',
        's.yaml:3: robots.cid.wheel.motor.no_load_speed: "10 Hz" is a rate, needs an angular speed such as "60 rpm" (Hz could mean turns or radians: write rpm or rad/s)'),
    bad("goal wider than the field", world("field: {goal_width: 1.5}"),
        's.yaml:8: world.field.goal_width: 1.5 m is wider than the 1.16 m between the corners'),
    bad("goal wider than the room between the corners", world("field: {goal_width: 1.2}"),
        's.yaml:8: world.field.goal_width: 1.2 m is wider than the 1.16 m between the corners'),
    bad("corner of more than half the length", world("field: {length: 1, width: 3, corner: 0.6}"),
        's.yaml:8: world.field.corner: 0.6 m is more than half the length'),
    bad("field of nothing", world("field: {length: 0}"),
        's.yaml:8: world.field.length: must be greater than 0, not 0'),
    bad("goal without width", world("field: {goal_width: 0 cm}"),
        "s.yaml:8: world.field.goal_width: must be greater than 0, not '0 cm'"),
    bad("field in kilograms", world("field: {width: 3 kg}"),
        's.yaml:8: world.field.width: "3 kg" is a mass, needs a length such as "0.12 m"'),
    bad("unknown key of the field", world("field: {lenght: 2}"),
        "s.yaml:8: world.field.lenght: unknown key; did you mean 'length'? (center_radius, corner, goal_depth, goal_width, length, penalty_depth, penalty_point, penalty_width, width)"),
    bad("ball of nothing", world("ball: {radius: 0, mass: 0}"),
        's.yaml:8: world.ball.radius: must be greater than 0.002 m, not 0',
        's.yaml:8: world.ball.mass: must be greater than 0, not 0'),
    bad("ball with a force for a friction", world("ball: {friction: 3 N}"),
        's.yaml:8: world.ball.friction: "3 N" is a force, needs a damping or mass flow such as "20 N*s/m"'),
    bad("ball too fast", world("ball: {velocity: [0, -101]}"),
        's.yaml:8: world.ball.velocity: 101 m/s is beyond 100 m/s'),
    bad("ball with three coordinates", world("ball: {position: [0, 0, 0]}"),
        's.yaml:8: world.ball.position: needs at most 2 entries, not 3'),
    bad("ball not finite", world("ball: {position: [0, .nan]}"),
        's.yaml:8: world.ball.position.1: needs a finite number, not nan'),
    bad("restitution above 1", world("impacts: {ball_wall: {restitution: 110 %}}"),
        "s.yaml:8: world.impacts.ball_wall.restitution: must be at most 1, not '110 %'"),
    bad("friction below 0", world("impacts: {robot_ball: {restitution: 0.5, friction: -0.1}}"),
        's.yaml:8: world.impacts.robot_ball.friction: must be at least 0, not -0.1'),
    bad("unknown model of impacts", world("impacts: {model: rigid-body}"),
        "s.yaml:8: world.impacts.model: unknown 'rigid-body'; did you mean 'rigid'? (equivalent-sphere, rigid)"),
    bad("unknown pair", world("impacts: {wall_ball: {restitution: 0.5}}"),
        's.yaml:8: world.impacts.wall_ball: unknown key; choose from: ball_wall, model, robot_ball, robot_robot, robot_wall'),
    bad("after a goal", GOOD + "match: {after_goal: stop}\n",
        "s.yaml:8: match.after_goal: unknown 'stop'; choose from: continue, end, kick-off"),
    bad("first kick-off", GOOD + "match: {first_kick_off: ann}\n",
        "s.yaml:8: match.first_kick_off: unknown 'ann'; choose from: blue, yellow"),
    bad("method", changed("step: 1 ms", "step: 1 ms, method: semi-implicit"),
        "s.yaml:2: time.method: unknown 'semi-implicit'; choose from: euler, rk4"),
    bad("address without a port", links("league: {listen: 127.0.0.1}"),
        's.yaml:8: links.league.listen: needs an IPv4 address and a port, as "127.0.0.1:20011", not \'127.0.0.1\''),
    bad("address by name", links("league: {vision: 'localhost:10002'}"),
        's.yaml:8: links.league.vision: needs an IPv4 address and a port, as "127.0.0.1:20011", not \'localhost:10002\''),
    bad("address of the other internet", links("voltage: {listen: '[::1]:20012'}"),
        's.yaml:8: links.voltage.listen: needs an IPv4 address and a port, as "127.0.0.1:20011", not \'[::1]:20012\''),
    bad("port too large", links("camera: {listen: '127.0.0.1:65536'}"),
        's.yaml:8: links.camera.listen: needs an IPv4 address and a port, as "127.0.0.1:20011", not \'127.0.0.1:65536\'; a port is a number from 0 (any free one) to 65535'),
    bad("port below 0", links("camera: {listen: '127.0.0.1:-1'}"),
        's.yaml:8: links.camera.listen: needs an IPv4 address and a port, as "127.0.0.1:20011", not \'127.0.0.1:-1\'; a port is a number from 0 (any free one) to 65535'),
    bad("port in other digits", links("poses: {listen: '127.0.0.1:１２'}"),
        's.yaml:8: links.poses.listen: needs an IPv4 address and a port, as "127.0.0.1:20011", not \'127.0.0.1:１２\'; a port is a number from 0 (any free one) to 65535'),
    bad("port alone", links("poses: {listen: 20014}"),
        's.yaml:8: links.poses.listen: needs an IPv4 address and a port, as "127.0.0.1:20011", not 20014'),
    bad("interface by name", links("league: {interface: eth0}"),
        "s.yaml:8: links.league.interface: needs the IPv4 address of a network interface, not 'eth0'"),
    bad("interface with a port", links("league: {interface: '127.0.0.1:80'}"),
        "s.yaml:8: links.league.interface: needs the IPv4 address of a network interface, not '127.0.0.1:80'"),
    bad("interface is a number", links("league: {interface: 5}"),
        's.yaml:8: links.league.interface: needs the IPv4 address of a network interface, not 5'),
    bad("rate of vision", links("league: {rate: 0}, poses: {rate: 2 kHz}"),
        "s.yaml:8: links.poses.rate: must be at most 1000 Hz, not '2 kHz'",
        's.yaml:8: links.league.rate: must be greater than 0, not 0'),
    bad("image too small and too large", links("camera: {size: [15, 4097]}"),
        's.yaml:8: links.camera.size.0: 15 pixels; from 16 to 4096',
        's.yaml:8: links.camera.size.1: 4097 pixels; from 16 to 4096'),
    bad("image of half pixels", links("camera: {size: [640.5, 480]}"),
        's.yaml:8: links.camera.size.0: needs a whole number, not 640.5'),
    bad("image of one number", links("camera: {size: [640]}"),
        's.yaml:8: links.camera.size: needs at least 2 entries, not 1'),
    bad("lens under the ground", links("camera: {position: [0, 0, -2]}"),
        's.yaml:8: links.camera.position.2: a lens -2 m high sees no field; give its height'),
    bad("lens without a height", links("camera: {position: [0, 0]}"),
        's.yaml:8: links.camera.position: needs at least 3 entries, not 2'),
    bad("camera that drops too much", links("camera: {drop: 101 %, latency: 1 min, noise: -1}"),
        's.yaml:8: links.camera.noise: must be at least 0, not -1',
        "s.yaml:8: links.camera.latency: must be at most 5 s, not '1 min'",
        "s.yaml:8: links.camera.drop: must be at most 1, not '101 %'"),
    bad("unknown link", links("ros: {}"),
        's.yaml:8: links.ros: unknown key; choose from: camera, league, poses, referee, voltage'),
    bad("controller of another engine", GOOD + "controllers:\n  a: {type: waypoints, robot: ann, points: [[0, 0]]}\n",
        "s.yaml:9: controllers.a.type: 'waypoints' is of engine kinematics and vehicle; choose from: constant, file.py:Class, goalkeeper, striker, table"),
    bad("controller of the match", GOOD + "controllers:\n  a: {type: constant, robot: match, command: {kick_off: 1}}\n",
        "s.yaml:9: controllers.a.robot: no robot 'match'; choose from: ann, bob, cid"),
    bad("set on all robots", GOOD,
        'overrides: robots.ann.mass: must be greater than 0, not -1',
        'overrides: robots.bob.mass: must be greater than 0, not -1',
        'overrides: robots.cid.mass: must be greater than 0, not -1', overrides=["robot.mass=-1"]),
]

BUILDING = [
    bad("robots in the same place", changed("pose: [-0.4, 0.3, 0]", "pose: [-0.4, 0.05, 0]"),
        's.yaml:6: robots.bob.pose: bob at (-0.4, 0.05) overlaps ann at (-0.4, 0) (kick-off of yellow)'),
    bad("robots in the same place at one kick-off", changed("pose: [-0.4, 0.3, 0]", "pose: [-0.12, 0.05, 0]"),
        's.yaml:6: robots.bob.pose: bob at (-0.12, 0.05) overlaps ann at (-0.1, 0) (kick-off of blue)'),
    bad("robot in the wall", changed("pose: [-0.4, 0.3, 0]", "pose: [-0.4, 0.62, 0]"),
        's.yaml:6: robots.bob.pose: bob at (-0.4, 0.62) is not inside the field (kick-off of blue)'),
    bad("robot in the goal post", changed("pose: [-0.4, 0.3, 0]", "pose: [-0.75, 0.2, 0]"),
        's.yaml:6: robots.bob.pose: bob at (-0.75, 0.2) is not inside the field (kick-off of blue)'),
    bad("robot in the corner", changed("pose: [-0.4, 0.3, 0]", "pose: [-0.70, 0.60, 0]"),
        's.yaml:6: robots.bob.pose: bob at (-0.7, 0.6) is not inside the field (kick-off of blue)'),
    bad("ball in a robot", world("ball: {position: [0.37, 0]}"),
        's.yaml:8: world.ball.position: the ball at (0.37, 0) overlaps cid at (0.4, 0) (kick-off of blue)'),
    bad("ball outside", world("ball: {position: [0, 0.64]}"),
        's.yaml:8: world.ball.position: the ball at (0, 0.64) is not inside the field (kick-off of blue)'),
    bad("step too long for a motor", changed("step: 1 ms", "step: 50 ms") + "record: {rate: 20}\n",
        's.yaml:2: time.step: 0.05 s is too long for the motors of ann; at most 0.027 s, better a tenth of it'),
    bad("step too long for the ball", world("ball: {friction: 100}"),
        "s.yaml:2: time.step: 0.001 s is too long for the ball's friction; at most 0.00092 s, better a tenth of it"),
]
# fmt: on


def write_both(write: Write, text: str, cube: str = CUBE) -> None:
    write(text)
    write(cube, "cube.yaml")


@pytest.mark.parametrize(("text", "overrides", "cube", "says"), LOADING)
def test_a_broken_match_is_told_exactly(
    write: Write, text: str, overrides: Sequence[str], cube: str, says: list[str]
) -> None:
    write_both(write, text, cube)
    with pytest.raises(InputError) as caught:
        load("s.yaml", overrides=overrides)
    assert [str(problem) for problem in caught.value.problems] == says
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("text", "overrides", "cube", "says"), BUILDING)
def test_what_only_the_engine_knows_is_told_with_its_place(
    write: Write, text: str, overrides: Sequence[str], cube: str, says: list[str]
) -> None:
    write_both(write, text, cube)
    loaded = load("s.yaml", overrides=overrides)
    with pytest.raises(InputError) as caught:
        make_engine(loaded.spec)
    assert [str(problem) for problem in loaded.with_places(caught.value).problems] == says


def test_a_kick_off_pose_that_is_not_free_is_named_and_not_the_pose(write: Write) -> None:
    write_both(write, changed("kick_off_pose: [-0.1, 0, 0]", "kick_off_pose: [-3, 0, 0]"))
    loaded = load("s.yaml")
    with pytest.raises(InputError) as caught:
        make_engine(loaded.spec)
    (problem,) = loaded.with_places(caught.value).problems
    assert str(problem).startswith("s.yaml:5: robots.ann.kick_off_pose: ann at (-3, 0) is not inside the field")


@pytest.mark.parametrize(
    ("text", "overrides", "place"),
    [
        (GOOD[: GOOD.index("robots:")], [], "robots: missing"),
        (changed("{extends: cube.yaml}", "5"), [], "s.yaml:3: robot: needs a mapping"),
        (GOOD, ["robots.dan.mass=1"], "overrides: robots.dan: no 'dan' to change"),
    ],
    ids=["no-robots", "common-robot-is-a-number", "set-on-a-robot-that-is-none"],
)
def test_robots_that_are_none_are_told_whatever_they_have_in_common(
    write: Write, text: str, overrides: list[str], place: str
) -> None:
    write_both(write, text)
    with pytest.raises(InputError) as caught:
        load("s.yaml", overrides=overrides)
    assert any(place in str(problem) for problem in caught.value.problems), str(caught.value)


GOOD_ONES = [
    GOOD,
    common("side: 6 cm"),
    ann("id: 999"),
    GOOD.replace("team: blue,", "team: blue, id: 4,", 1).replace("team: yellow,", "team: yellow, id: 4,"),
    world("field: {goal_width: 1.16}"),
    world("field: {goal_width: 1.3, corner: 0}"),
    world("field: {length: 1.3, corner: 0.4}"),
    world("ball: {position: [0, 20 cm], velocity: [-100, 0], rolling: true}"),
    world("impacts: {model: equivalent-sphere, robot_wall: {restitution: 0, friction: 10}}"),
    GOOD + "match: {after_goal: end, first_kick_off: yellow}\n",
    changed("step: 1 ms", "step: 1 ms, method: rk4"),
    links("league: null, referee: null, voltage: null, camera: null, poses: null"),
    links("league: {vision: '127.0.0.1:0', listen: '0.0.0.0:65535', interface: 192.168.0.7}"),
    links("camera: {size: [16, 4096], turn: 90 deg, period: 30 ms, drop: 5 %}"),
]


@pytest.mark.parametrize("text", GOOD_ONES)
def test_what_the_tables_vary_is_good(write: Write, text: str) -> None:
    write_both(write, text)
    make_engine(load("s.yaml").spec)


def spec_of(write: Write, text: str, overrides: Sequence[str] = ()) -> SoccerScenario:
    write_both(write, text)
    spec = load("s.yaml", overrides=overrides).spec
    assert isinstance(spec, SoccerScenario)
    return spec


# --- what stands where nothing is written --------------------------------------------------------------------------


def test_the_league_sizes_stand_where_nothing_is_written(write: Write) -> None:
    spec = spec_of(write, changed("time: {step: 1 ms, duration: 10}\n", ""))
    field, ball, impacts = spec.world.field, spec.world.ball, spec.world.impacts
    assert (field.length, field.width, field.goal_width, field.goal_depth, field.corner) == (1.5, 1.3, 0.4, 0.1, 0.07)
    assert (ball.radius, ball.mass, ball.position, ball.velocity) == (0.0215, 0.046, [0.0, 0.0], [0.0, 0.0])
    assert ball.inertial_mass == ball.mass
    assert impacts.model == "rigid" and 0.0 < impacts.ball_wall.restitution < 1.0
    assert (spec.time.step_ns, spec.time.method) == (1_000_000, "euler")
    assert (spec.match.after_goal, spec.match.first_kick_off) == ("kick-off", "blue")
    camera = spec.links.camera
    assert camera is not None and (camera.size, camera.period) == ([640, 480], 0.03)
    assert (camera.noise, camera.blur, camera.drift, camera.latency, camera.drop) == (0.0,) * 5
    league = spec.links.league
    assert league is not None and league.rate == 60.0
    assert (league.vision, league.interface) == ("224.0.0.1:10002", "127.0.0.1"), "multicast that stays on this machine"


def test_everything_listens_on_this_machine_only_where_nothing_is_written(write: Write) -> None:
    links = spec_of(write, GOOD).links
    assert links.league and links.voltage and links.camera and links.poses
    places = [host_and_port(link.listen) for link in (links.league, links.voltage, links.camera, links.poses)]
    assert {host for host, _ in places} == {"127.0.0.1"} and len({port for _, port in places}) == 4


def test_a_rolling_ball_is_heavier_to_set_in_motion(write: Write) -> None:
    """m + I/r² with I = 2/5 m r²."""
    ball = spec_of(write, world("ball: {mass: 50 g, rolling: true}")).world.ball
    assert (ball.mass, ball.inertial_mass) == (0.05, pytest.approx(0.07))


def test_units_of_a_robot_and_its_motor(write: Write) -> None:
    robot = spec_of(write, GOOD).robots["cid"]
    left = robot.wheels.left
    assert (robot.side, robot.mass, robot.track, left.radius) == pytest.approx((0.08, 0.2, 0.07, 0.025))
    assert left.motor.no_load_speed == pytest.approx(20.0 * pi) and left.motor.stall_torque == pytest.approx(0.05)
    assert robot.pose[2] == pytest.approx(pi)
    assert robot.turning_inertia == pytest.approx(0.2 * 0.08**2 / 6.0), "a cube with wheels of no mass"


def test_wheels_add_to_mass_and_inertia(write: Write) -> None:
    robot = spec_of(
        write, ann("wheels: {left: {mass: 30 g, motor: {rotor_inertia: 2e-6}}, right: {mass: 10 g}}")
    ).robots["ann"]
    assert robot.total_mass == pytest.approx(0.24)
    assert robot.turning_inertia == pytest.approx(0.2 * 0.08**2 / 6.0 + 0.04 * 0.035**2)
    assert robot.wheels.left.inertia == pytest.approx(0.5 * 0.03 * 0.025**2 + 2e-6)
    given = spec_of(write, ann("inertia: 3e-4")).robots["ann"]
    assert given.turning_inertia == 3e-4


# --- numbers of the players ----------------------------------------------------------------------------------------


def team(*players: str) -> str:
    return GOOD[: GOOD.index("  ann:")] + "".join(
        f"  p{index}: {{{player}, pose: [{-0.6 + 0.12 * index:g}, 0.3, 0]}}\n" for index, player in enumerate(players)
    )


@pytest.mark.parametrize(
    ("players", "numbers"),
    [
        (("team: blue", "team: blue", "team: yellow"), (0, 1, 0)),
        (("team: yellow", "team: blue", "team: yellow", "team: blue"), (0, 0, 1, 1)),
        (("team: blue, id: 1", "team: blue", "team: blue", "team: blue, id: 0", "team: blue"), (1, 2, 3, 0, 4)),
        (("team: blue", "team: blue, id: 0", "team: yellow, id: 7", "team: yellow"), (1, 0, 7, 0)),
        (("team: blue, id: null", "team: blue, id: 5"), (0, 5)),
    ],
)
def test_players_without_a_number_get_the_lowest_free_ones(
    write: Write, players: tuple[str, ...], numbers: tuple[int, ...]
) -> None:
    spec = spec_of(write, team(*players))
    assert tuple(number for _, number in spec.players.values()) == numbers
    assert [side for side, _ in spec.players.values()] == [robot.team for robot in spec.robots.values()]


def test_every_number_that_is_taken_is_told(write: Write) -> None:
    write_both(write, team(*["team: blue, id: 2"] * 3, "team: yellow, id: 2"))
    with pytest.raises(InputError) as caught:
        load("s.yaml")
    assert [str(problem) for problem in caught.value.problems] == [
        "s.yaml:6: robots.p1.id: robot 'p0' is number 2 of blue already",
        "s.yaml:7: robots.p2.id: robot 'p0' is number 2 of blue already",
    ]


# --- what robots have in common ------------------------------------------------------------------------------------


def test_each_robot_lies_over_what_they_have_in_common_and_that_over_the_file(write: Write) -> None:
    text = common("side: 6 cm, wheel: {radius: 20 mm}").replace("ann: {", "ann: {side: 5 cm, wheel: {radius: 15 mm}, ")
    robots = spec_of(write, text).robots
    assert {name: robot.side for name, robot in robots.items()} == {"ann": 0.05, "bob": 0.06, "cid": 0.06}
    assert [robot.wheels.right.radius for robot in robots.values()] == pytest.approx([0.015, 0.02, 0.02])
    assert {robot.mass for robot in robots.values()} == {0.2}, "the file stands below"
    assert robots["ann"].wheels.left.motor == robots["cid"].wheels.left.motor


def test_a_robot_may_extend_another_file_than_the_rest(write: Write) -> None:
    write(CUBE.replace("mass: 200 g", "mass: 300 g").replace("side: 8 cm", "side: 4 cm"), "small.yaml")
    robots = spec_of(write, common("track: 60 mm").replace("bob: {", "bob: {extends: small.yaml, ")).robots
    assert [(robot.mass, robot.side) for robot in robots.values()] == [(0.2, 0.08), (0.3, 0.04), (0.2, 0.08)]
    assert {robot.track for robot in robots.values()} == {0.06}, "what all have in common still goes before a file"


def test_robots_may_have_their_team_in_common_or_no_file_at_all(write: Write) -> None:
    text = common("team: yellow").replace("bob: {team: blue, ", "bob: {")
    assert [robot.team for robot in spec_of(write, text).robots.values()] == ["blue", "yellow", "yellow"]
    inline = ", ".join(f"{key}: {value}" for key, value in {"side": 0.08, "mass": 0.2, "track": 0.07}.items())
    motor = "{voltage: 6, no_load_speed: 60, stall_torque: 0.05}"
    whole = f"{{{inline}, wheel: {{radius: 0.02, motor: {motor}}}, wheels: {{left: {{}}, right: {{}}}}}}"
    assert spec_of(write, changed("{extends: cube.yaml}", whole)).robots["cid"].wheels.left.radius == 0.02


def test_setting_the_common_robot_changes_all_that_do_not_say_otherwise(write: Write) -> None:
    robots = spec_of(write, ann("mass: 1"), ["robot.mass=0.5", "robots.cid.track=50 mm"]).robots
    assert {name: (robot.mass, robot.track) for name, robot in robots.items()} == {
        "ann": (1.0, 0.07),
        "bob": (0.5, 0.07),
        "cid": (0.5, 0.05),
    }


def test_a_pair_of_bodies_keeps_what_is_not_written_of_it(write: Write) -> None:
    before = spec_of(write, GOOD).world.impacts.robot_wall
    only: dict[str, Any] = {
        "friction: 0.7": (before.restitution, 0.7),
        "restitution: 0.9": (0.9, before.friction),
    }
    for text, wanted in only.items():
        pair = spec_of(write, world(f"impacts: {{robot_wall: {{{text}}}}}")).world.impacts.robot_wall
        assert (pair.restitution, pair.friction) == wanted
