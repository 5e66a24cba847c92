"""Full control of a quadrotor with tilting rotors: each of x, z, roll, pitch and yaw on its own."""

from __future__ import annotations

from math import radians
from typing import Any

import numpy as np
import pytest
from flying import Flight, aircraft

from botz.errors import InputError

START: dict[str, Any] = {"at": 0, "z": 1.0}
SPUN = {f"spin_{end}_{side}": 510.9 * sense for end, side, sense in
        (("front", "left", -1), ("front", "right", 1), ("rear", "left", 1), ("rear", "right", -1))}  # fmt: skip


def flight(*setpoints: dict[str, Any], robot: Any = None, world: Any = None, **keys: Any) -> Flight:
    """Lophorina in the air with its propellers turning."""
    robot = robot or {"extends": "lophorina", "start_speed": SPUN}
    pilot = {"type": "tilt-quadrotor", "setpoints": list(setpoints), **keys}
    return Flight({"pose": {"z": 1.0}, **robot}, pilot, world)


def problems(*setpoints: dict[str, Any], **keys: Any) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        flight(*setpoints, **keys)
    return {problem.key or "": problem.message for problem in caught.value.problems}


# --- each on its own -------------------------------------------------------------------------------------------------

STAYS = {"x": 2e-3, "y": 2e-3, "z": 2e-3, "roll": 2e-3, "pitch": 2e-3, "yaw": 2e-3}
"""How far the others may go [m, rad]."""
# Roll swings the tilting axes, which are above the root's origin; pitch does so for x.
LOOSER = {"roll": {"x": 5e-3, "z": 5e-3, "yaw": 5e-3}, "pitch": {"x": 1e-2, "z": 5e-3}, "x": {"pitch": 3e-3}}


@pytest.mark.parametrize(
    ("axis", "value"), [("x", 1.0), ("z", 1.8), ("roll", 0.03), ("pitch", 0.2), ("yaw", 1.2), ("yaw", -1.2)]
)
def test_one_is_commanded_and_the_others_stay(axis: str, value: float):
    seen = flight(START, {"at": 0.5, axis: value}).run(6.5)
    places = np.column_stack([seen.of("pose")[:, :3], seen.of("attitude")])
    for k, name in enumerate(("x", "y", "z", "roll", "pitch", "yaw")):
        if name == axis:
            assert places[-1, k] == pytest.approx(value, abs=0.01 * abs(value) + 1e-3)
        elif not (axis == "roll" and name == "y"):
            still = 1.0 if name == "z" else 0.0
            allowed = LOOSER.get(axis, {}).get(name, STAYS[name])
            assert np.abs(places[:, k] - still).max() < allowed, name
    if axis == "roll":
        # It slides to the right with g tan(roll), by the second difference over 3 s.
        first, middle, last = (places[round(time / 0.004) - 1, 1] for time in (3.5, 5.0, 6.5))
        assert (last - 2.0 * middle + first) / 1.5**2 == pytest.approx(-9.81 * np.tan(value), rel=0.01)


def test_it_goes_aside_by_roll_and_stays_level_otherwise():
    seen = flight(START, {"at": 0.5, "y": 1.0}).run(11.0)
    assert seen.now("pose")[:3] == pytest.approx([0.0, 1.0, 1.0], abs=0.02)
    assert 0.05 < np.abs(seen.of("attitude")[:, 0]).max() < 0.3
    assert np.abs(seen.of("attitude")[:, 1:]).max() < 0.01
    assert np.abs(seen.of("pose")[:, 0]).max() < 0.01


def test_the_tilt_that_overturns_it_under_plain_pid_stays_level():
    level = flight(START, {"at": 0.5, "x": 3.0}).run(6.0)
    assert np.abs(level.of("attitude")[:, :2]).max() < 2e-3
    tilts = level.of("tilt_front_left/position")
    assert tilts.max() > 0.06 and tilts.min() < -0.06, "it goes by its tilts"
    assert level.of("pose")[:, 0].max() < 3.0 + 0.01
    fixed = {
        f"tilt_{corner}/position": radians(5.0) for corner in ("front_left", "front_right", "rear_left", "rear_right")
    }
    plain = Flight(
        {"extends": "lophorina", "start_speed": SPUN, "pose": {"z": 5.0}},
        {"type": "hover", "height": 5.0, "manoeuvres": [{"at": 0.5, "set": fixed}]},
    ).run(2.6)
    assert plain.now("attitude")[1] > radians(45.0)


def test_forward_is_forward_of_the_heading():
    seen = flight(START, {"at": 0.5, "yaw": radians(90)}, {"at": 4, "y": 1.5}).run(9.0)
    assert seen.now("pose")[:3] == pytest.approx([0.0, 1.5, 1.0], abs=0.02)
    assert np.abs(seen.of("attitude", since=4.0)[:, :2]).max() < 5e-3, "level: ahead is +y now"


def test_after_roll_it_takes_y_on_from_where_it_is():
    """Roll lets it slide; the y that then counts again is gone to from there, without a jump and without what an
    integral gathered meanwhile."""
    seen = flight(START, {"at": 0.2, "roll": 0.1}, {"at": 2.0, "roll": -0.1}, {"at": 3.6, "y": -2.0}).run(3.5)
    pilot = seen.pilot
    there = seen.now("pose")[1]
    assert there < -0.9
    assert pilot._integral[1] == pytest.approx(0.0, abs=1e-2)
    assert pilot._course["y"].value == pytest.approx(there, abs=0.02)
    seen.run(11.0)
    assert seen.now("pose")[:3] == pytest.approx([0.0, -2.0, 1.0], abs=0.04)
    assert np.abs(seen.of("attitude", since=4.5)[:, 0]).max() < 0.25


def test_drag_torque_of_the_propellers_is_reckoned_with():
    """With rotors that all turn one way nothing else balances it: opposed tilts do, and heading stays."""
    frame = aircraft(drag_torque=0.02)
    for k, element in enumerate(frame["elements"].values(), start=1):
        element["sense"] = "ccw"
        frame.setdefault("start_speed", {})[f"spin_{k}"] = 505.0
    seen = flight(START, robot=frame).run(4.0)
    assert np.abs(seen.of("attitude")).max() < 0.05
    assert np.abs(seen.now("attitude")).max() < 5e-3
    # f c = 4 · f y sin τ/4: τ = c/y to first order, forwards on the right, which turns to the left.
    assert seen.now("tilt_4/position") == pytest.approx(0.02 / 0.2, rel=0.05)
    assert seen.now("tilt_1/position") == pytest.approx(-0.02 / 0.2, rel=0.05)


def test_a_tilting_axis_may_point_the_other_way():
    frame = aircraft(drag_torque=0.0)
    for k in (1, 3):
        frame["joints"][f"tilt_{k}"]["axis"] = [0, -1, 0]
    seen = flight(START, {"at": 0.5, "x": 0.5}, robot=frame).run(6.0)
    assert seen.now("pose")[:3] == pytest.approx([0.5, 0.0, 1.0], abs=0.02)
    one, two = seen.of("tilt_1/position"), seen.of("tilt_2/position")
    assert one.min() < -0.03 and two.max() > 0.03


def test_a_robot_may_start_tilted():
    tilted = {f"tilt_{k}": 0.2 for k in range(1, 5)}
    seen = flight(START, robot={**aircraft(), "start": tilted}).run(5.0)
    assert np.abs(seen.now("attitude")).max() < 5e-3 and np.abs(seen.now("tilt_1/position")) < 5e-3


# --- what is refused -------------------------------------------------------------------------------------------------


def test_robots_without_tilts_about_y():
    at = "controllers.pilot.robot"
    assert (
        "propeller 'rotor_1' does not hang on a joint that tilts it"
        in problems(START, robot={"extends": "quadrotor"})[at]
    )
    crooked = aircraft()
    crooked["joints"]["tilt_2"]["axis"] = [1, 0, 0]
    assert "'rotor_2' does not hang on a joint that tilts it about y" in problems(START, robot=crooked)[at]
    by_speed = aircraft()
    by_speed["actuators"]["tilt_3"] = {"kind": "velocity"}
    assert "'rotor_3' does not hang" in problems(START, robot=by_speed)[at]


@pytest.mark.parametrize("pose", [{"z": 0.03, "x": 0.05}, [0, 0, 0.03, 0, 0.5, 0], [0, 0, 0.03, 3.14159265, 0, 0]])
def test_rotors_that_do_not_push_up_through_their_tilting_axis(pose: Any):
    frame = aircraft()
    frame["joints"]["spin_4"]["pose"] = pose
    assert "'rotor_4' does not push up through" in problems(START, robot=frame)["controllers.pilot.robot"]


def test_rotors_on_one_line():
    frame = aircraft()
    for k in range(1, 5):
        frame["joints"][f"tilt_{k}"]["pose"] = {"x": 0.1 * k}
    assert "they lie on one line" in problems(START, robot=frame)["controllers.pilot.robot"]


def test_y_and_roll_in_one_setpoint():
    found = problems(START, {"at": 2, "y": 1.0, "roll": 0.1})
    assert "cannot both be held" in found["controllers.pilot.setpoints.1.roll"]
