"""Position, height and heading of multicopters: poles, step responses, steady wind, and what is refused."""

from __future__ import annotations

from math import pi, radians
from typing import Any

import numpy as np
import pytest
from flying import Flight, aircraft

from botz.errors import InputError
from botz.sim.snapshots import encode

AT_ONE: dict[str, Any] = {"at": 0, "z": 1.0}


def flight(*setpoints: dict[str, Any], robot: Any = "quadrotor", world: Any = None, **keys: Any) -> Flight:
    robot = {"extends": robot} if isinstance(robot, str) else robot
    pilot = {"type": "multicopter", "setpoints": list(setpoints), **keys}
    return Flight({"pose": {"z": 1.0}, **robot}, pilot, world)


def problems(*setpoints: dict[str, Any], **keys: Any) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        flight(*setpoints, **keys)
    return {problem.key or "": problem.message for problem in caught.value.problems}


# --- gains -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("axis", "w"), [(0, 1.5), (1, 1.5), (2, 2.5)])
def test_the_outer_loop_has_the_poles_that_are_said(axis: int, w: float):
    """a = ω² e + 2 ζ ω e' + 0.2 ω³ ∫e, by small differences of each."""
    seen = flight(AT_ONE)
    seen.run(0.004)
    pilot = seen.pilot
    course, here = pilot._course, np.array([0.0, 0.0, pilot._course["z"].value])
    for one in "xyz":
        course[one].rate = course[one].change = 0.0
    h = 1e-6

    def acceleration(position: np.ndarray, velocity: np.ndarray, integral: float = 0.0) -> float:
        pilot._integral = np.zeros(3)
        pilot._integral[axis] = integral
        return float(pilot._wanted_acceleration(course, position, velocity)[axis])

    step = np.zeros(3)
    step[axis] = h
    p = (acceleration(here - step, 0 * here) - acceleration(here, 0 * here)) / h
    d = (acceleration(here, -step) - acceleration(here, 0 * here)) / h
    # The error that is being added to the integral at this call counts already.
    gained = 0.2 * w**3 * pilot._period
    assert p - gained == pytest.approx(w * w, rel=1e-6) and d == pytest.approx(2.0 * w, rel=1e-6)
    slow = np.roots([1.0, 2.0 * w, w * w, 0.2 * w**3])
    assert slow.real.max() == pytest.approx(-0.31 * w, abs=0.005 * w), "the integral's poles"


def test_moments_turn_the_body_with_the_frequencies_that_are_said():
    pilot = flight(AT_ONE).pilot
    inverse = np.linalg.inv(pilot._airframe.inertia)
    h, level = 1e-5, np.eye(3)
    for axis, w in enumerate((8.0, 8.0, 3.0)):
        vector = np.zeros(3)
        vector[axis] = h
        skew = np.array([[0, -vector[2], vector[1]], [vector[2], 0, -vector[0]], [-vector[1], vector[0], 0]])
        stiff = inverse @ pilot._moment(level + skew, level, np.zeros(3), 0.0) / h
        damped = inverse @ pilot._moment(level, level, -vector, 0.0) / h
        assert stiff[axis] == pytest.approx(w * w, rel=1e-6) and damped[axis] == pytest.approx(2.0 * w, rel=1e-6)
        assert np.abs(np.delete(stiff, axis)).max() < 1e-9


# --- flights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["quadrotor", "hexarotor", "own"])
def test_each_setpoint_is_reached_and_the_rest_stays(robot: str):
    frame = aircraft(tilting=False, drag_torque=0.02) if robot == "own" else robot
    seen = flight(AT_ONE, {"at": 2, "x": 1.0}, {"at": 9, "y": -1.0, "yaw": 1.0}, robot=frame).run(16.0)
    pose, attitude = seen.of("pose"), seen.of("attitude")
    x, y, z = (pose[:, k] for k in range(3))
    times = np.array(seen.times)
    assert np.abs(y[times < 9.0]).max() < 1e-3 and np.abs(attitude[times < 9.0, 2]).max() < 1e-3
    assert x[times < 9.0][-1] == pytest.approx(1.0, abs=0.03) and x.max() < 1.15
    assert (x[-1], y[-1]) == (pytest.approx(1.0, abs=0.03), pytest.approx(-1.0, abs=0.03))
    assert z[times > 7.0] == pytest.approx(1.0, abs=0.02)
    assert attitude[-1, 2] == pytest.approx(1.0, abs=1e-3)
    assert np.abs(attitude[:, :2]).max() < 0.25


def test_it_goes_no_faster_and_leans_no_further_than_it_may():
    limits = {"speed": 1.0, "acceleration": 0.6, "lean": 0.1}
    seen = flight(AT_ONE, {"at": 1, "x": 4.0}, limits=limits).run(9.0)
    # A tenth more of both while it catches up.
    assert np.abs(seen.of("twist")[:, 0]).max() < 1.15 and np.abs(seen.of("attitude")[:, 1]).max() < 0.12
    assert seen.now("pose")[0] == pytest.approx(4.0, abs=0.25)


def test_it_stays_where_it_is_before_the_first_setpoint():
    seen = flight({"at": 50, "x": 9.0}, robot={"extends": "quadrotor", "pose": [2.0, 3.0, 1.0, 0.0, 0.0, 2.0]}).run(4.0)
    # It falls a little until its propellers turn.
    assert seen.now("pose")[:3] == pytest.approx([2.0, 3.0, 1.0], abs=0.05)
    assert seen.now("attitude")[2] == pytest.approx(2.0, abs=0.01)


def test_steady_wind_is_taken_out_by_the_integral():
    """Rotor drag by 4 m/s: it leans against it and stands where it should, which no stiffness alone would do."""
    wind = {"wind": {"steady": [4, -3, 0]}}
    seen = flight(AT_ONE, world=wind).run(22.0)
    assert np.abs(seen.of("pose")[:, :2]).max() > 0.05, "it is blown away at first"
    assert seen.now("pose")[:3] == pytest.approx([0.0, 0.0, 1.0], abs=3e-3)
    assert np.abs(seen.now("twist")).max() < 5e-3
    roll, pitch, _ = seen.now("attitude")
    # Level forces: m g tan(lean) = Σ c ω v⊥ with c = 8e-5 and 681 rad/s a rotor.
    assert -np.tan(pitch) == pytest.approx(4 * 8e-5 * 681 * 4.0 / 9.81, rel=0.05)
    assert -np.tan(roll) == pytest.approx(4 * 8e-5 * 681 * 3.0 / 9.81, rel=0.05)


def test_yaw_goes_the_short_way_across_half_a_turn():
    start = {"extends": "quadrotor", "pose": [0, 0, 1, 0, 0, radians(170)]}
    seen = flight(AT_ONE, {"at": 1, "yaw": radians(-170)}, robot=start).run(5.0)
    yaw = np.unwrap(seen.of("attitude")[:, 2])
    assert yaw[-1] == pytest.approx(radians(190), abs=2e-3)
    assert yaw.min() > radians(169) and yaw.max() < radians(192)


def test_it_rights_itself_from_a_steep_attitude():
    start = {"extends": "quadrotor", "pose": [0, 0, 10, 1.9, -0.5, 0.4]}
    seen = flight({"at": 0, "z": 10.0}, robot=start, world={"ground": False}).run(6.0)
    assert np.abs(seen.now("attitude")[:2]).max() < 0.1
    assert np.abs(seen.now("twist")[3:]).max() < 0.1


# --- what is refused -------------------------------------------------------------------------------------------------


def test_robots_that_cannot_be_turned_about_all_axes():
    without_drag = problems(AT_ONE, robot=aircraft(tilting=False, drag_torque=0.0))
    assert "yaw needs 'drag_torque'" in without_drag["controllers.pilot.robot"]
    alike = aircraft(tilting=False, drag_torque=0.02)
    for element in alike["elements"].values():
        element["sense"] = "cw"
    assert "both senses" in problems(AT_ONE, robot=alike)["controllers.pilot.robot"]
    assert "has 1 propellers, this needs 4" in problems(AT_ONE, robot="fixed-wing")["controllers.pilot.robot"]


def test_roll_and_pitch_are_not_for_setpoints():
    found = problems(AT_ONE, {"at": 2, "roll": 0.1, "pitch": 0.2})
    for key in ("roll", "pitch"):
        assert "it leans to accelerate" in found[f"controllers.pilot.setpoints.1.{key}"]


# --- snapshots -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["multicopter", "tilt-quadrotor"])
@pytest.mark.parametrize("at", [0.0, 0.6, 1.3])
def test_a_snapshot_as_bytes_continues_bit_for_bit(kind: str, at: float):
    robot = {"multicopter": "quadrotor", "tilt-quadrotor": "lophorina"}[kind]
    points = [{"at": 0.2, "x": 1.0, "yaw": pi}, {"at": 1.0, "z": 1.5, "y": 0.5}]
    if kind == "tilt-quadrotor":
        points.append({"at": 1.2, "roll": 0.05})
    wind = {"wind": {"steady": [1, 0, 0], "turbulence": {"intensity": [0.5, 0.5, 0.5]}}}
    one, other = (flight(*points, robot=robot, world=wind, type=kind) for _ in range(2))
    one.run(at)
    other.sim.restore(encode(one.sim.snapshot()))
    for each in (one, other):
        each.sim.step(n=500)
    for name, value in one.sim.values().items():
        assert np.asarray(other.sim.values()[name]).tobytes() == np.asarray(value).tobytes(), name
    assert other.pilot.snapshot() == one.pilot.snapshot()
