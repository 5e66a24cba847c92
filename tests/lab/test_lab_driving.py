"""What hands do to each kind of robot: the commands are those that its engine takes, and go the right way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import botz
from botz.engines.registry import make_engine
from botz.errors import InputError
from botz.view.lab.driving import Hands, hands_of


def hands(scenario: str, robot: str | None = None) -> tuple[Hands, Any]:
    spec: Any = botz.load(scenario).spec
    engine = make_engine(spec)
    robot = robot or next(iter(spec.robots))
    return hands_of(spec, robot, engine.command_layout(robot)), engine


ROBOTS = [
    ("differential-circle", "planar"),
    ("ackermann-park", "planar"),
    ("omni-eight", "omni"),
    ("synchro-waypoints", "omni"),
    ("skid-circle", "tank"),
    ("soccer", "soccer"),
    ("puma-wave", "arm"),
]


@pytest.mark.parametrize(("scenario", "kind"), ROBOTS)
def test_full_deflection_of_every_axis_is_a_command_that_the_engine_takes(scenario: str, kind: str):
    found, engine = hands(scenario)
    assert found.hands == kind
    assert found.modes and found.axes and found.note
    buttons = {"clutch": True, "open": True}
    for mode in found.modes:
        for axis in found.axes:
            for share in (-1.0, 0.3, 1.0):
                engine.resolve_command(found.name, found.of(mode, {axis: share}, buttons))
        together = dict.fromkeys(found.axes, 1.0)
        engine.resolve_command(found.name, found.of(mode, together, buttons))
    engine.resolve_command(found.name, found.rest)


def test_every_wheeled_robot_of_the_parade_can_be_driven():
    spec: Any = botz.load("wheeled-parade").spec
    engine = make_engine(spec)
    for robot in spec.robots:
        found = hands_of(spec, robot, engine.command_layout(robot))
        if found.command is None:
            assert found.hands == "none" and found.note
            continue
        for axes in ({"forward": 1.0}, {"forward": 1.0, "turn": 1.0}, {"turn": -1.0}, {"forward": -1.0, "turn": 0.5}):
            engine.resolve_command(robot, found.of(None, axes, {}))


def test_ahead_and_left_are_positive():
    found, _ = hands("differential-circle")
    vx, _, turn = found.of("drive", {"forward": 1.0, "turn": 1.0}, {})["twist"]
    assert vx > 0 and turn > 0
    found, _ = hands("omni-eight")
    assert found.of("drive", {"side": 1.0}, {})["twist"][1] > 0
    diagonal = found.of("drive", {"side": 1.0, "forward": 1.0}, {})["twist"]
    assert np.hypot(*diagonal[:2]) == pytest.approx(found.of("drive", {"forward": 1.0}, {})["twist"][0])


def test_a_car_turns_only_while_it_rolls():
    found, _ = hands("ackermann-park")
    assert found.of("drive", {"turn": 1.0}, {})["twist"][2] == 0.0
    forward, back = (found.of("drive", {"forward": v, "turn": 1.0}, {})["twist"] for v in (0.5, -0.5))
    assert forward[2] > 0 and forward[2] == pytest.approx(back[2])


def test_a_vehicle_is_driven_in_two_ways():
    found, engine = hands("skid-circle")
    assert found.of("tank", {"left": 1.0, "right": -0.5}, {}) == {"tank": (1.0, -0.5)}
    left_turn = engine.resolve_command(found.name, found.of("drive", {"turn": 1.0}, {}))
    motors = list(engine.scenario.robots[found.name].motors)
    left = engine.scenario.robots[found.name].motors_of_side("left")
    assert all((left_turn[motors.index(name)] < 0) == (name in left) for name in motors)


def test_an_arm_moves_only_while_the_clutch_is_held():
    found, _ = hands("titan4-pick")
    assert not any(found.of("tool", {"x": 1.0}, {"clutch": False})["twist"])
    twist = found.of("tool", {"x": 1.0, "yaw": -1.0}, {"clutch": True})["twist"]
    assert twist[0] > 0 > twist[5] and not any(twist[1:5])
    assert found.of("tool", {}, {"open": True})["gripper/opening"] > 0.0
    assert found.of("tool", {}, {"close": True})["gripper/opening"] == 0.0
    assert "gripper/opening" not in found.of("tool", {}, {})


def test_aircraft_by_the_commands_that_they_take():
    spec: Any = botz.load("quadrotor-square").spec
    (robot,) = spec.robots
    found = hands_of(spec, robot, [("velocity", 4)])
    assert found.hands == "flight" and found.rest == {"velocity": (0.0, 0.0, 0.0, 0.0)}
    assert found.of("fly", {"up": 1.0}, {})["velocity"][2] > 0
    found = hands_of(spec, robot, [("steer", 3)])
    assert found.hands == "plane" and found.of("fly", {"roll": 0.5}, {}) == {"steer": (0.0, 0.5, 0.0)}


def test_what_hands_cannot_drive_says_so():
    spec: Any = botz.load("quadrotor-square").spec
    (robot,) = spec.robots
    found = hands_of(spec, robot, [("spin/speed", 1)])
    assert found.hands == "none"
    with pytest.raises(InputError, match="no commands"):
        found.of(None, {}, {})
