"""Rotors as controllers see them: curves and their inverses, where they are, and what cannot fly."""

from __future__ import annotations

from math import cos, radians, sin, sqrt
from typing import Any

import numpy as np
import pytest
from flying import aircraft, engine_of, library_engine, rotor_of

from botz.control.flight.rotors import airframe_of
from botz.engines.registry import build_engine
from botz.errors import InputError
from botz.scenario.load import load

LIBRARY = {"lophorina": 4, "quadrotor": 4, "hexarotor": 6, "fixed-wing": 1}


# --- thrust and speed ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "curve",
    [
        (0.0, 0.0, 2e-5),
        (0.0, 1e-2, 0.0),
        (-0.5, 1e-2, 0.0),
        (0.3, 1e-3, 1e-5),
        (-0.4, -2e-3, 2e-5),
        (0.0, 2e-2, -1e-5),
        (0.2, 1e-2, 1e-18),
    ],
    ids=["square", "line", "line-from-below", "full", "falls-first", "has-a-peak", "hardly-square"],
)
def test_speed_is_the_inverse_of_thrust_on_the_rising_branch(curve):
    rotor = rotor_of(curve, speed=900.0)
    assert rotor.largest > 1.0
    least = rotor.thrust(1.0) if curve[0] > 0.0 else 0.0
    wanted = np.linspace(least, rotor.largest, 50)
    speeds = np.array([rotor.speed(float(one)) for one in wanted])
    assert [rotor.thrust(float(one)) for one in speeds] == pytest.approx(wanted, abs=1e-9)
    assert (np.diff(speeds) > 0.0).all() and speeds[-1] <= rotor.fastest <= 900.0


def test_a_curve_with_a_peak_is_used_up_to_it():
    rotor = rotor_of((0.0, 2e-2, -1e-5), speed=5000.0)
    assert rotor.fastest == pytest.approx(1000.0) and rotor.largest == pytest.approx(10.0)
    assert rotor_of((0.0, 2e-2, -1e-5), speed=400.0).largest == pytest.approx(8.0 - 1.6)


@pytest.mark.parametrize("curve", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (1.0, -0.01, 0.0)])
def test_curves_that_speed_does_not_raise_ask_for_no_speed(curve):
    rotor = rotor_of(curve)
    assert rotor.speed(0.5) == 0.0 and rotor.speed(100.0) == 0.0 and rotor.largest >= 0.0


def test_thrust_and_speed_stay_within_the_limits():
    rotor = rotor_of((0.0, 0.0, 1e-5), speed=1000.0, max_force=4.0)
    assert rotor.largest == 4.0 and rotor.thrust(1000.0) == 4.0
    assert rotor.speed(50.0) == pytest.approx(sqrt(4.0 / 1e-5)) and rotor.speed(-3.0) == 0.0
    free = rotor_of((0.0, 0.0, 1e-5), speed=1000.0)
    assert free.largest == pytest.approx(10.0) and free.speed(50.0) == pytest.approx(1000.0)


@pytest.mark.parametrize("curve", [(0.0, 0.0, 2e-5), (0.3, 1e-3, 1e-5), (-0.4, -2e-3, 2e-5)])
def test_thrust_is_that_of_the_force_element(curve):
    from botz.physics.aero.propeller import propeller_thrust

    rotor = rotor_of(curve, speed=900.0, max_force=9.0)
    for speed in (0.0, 0.4, 1.0, 30.0, 400.0, 899.0):
        element = propeller_thrust.py_func(*curve, 9.0, speed)
        assert rotor.thrust(speed) == pytest.approx(element, abs=1e-12), speed


# --- the airframe ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", LIBRARY)
def test_mass_and_inertia_are_those_of_the_whole_robot(robot: str):
    engine = library_engine(robot)
    airframe = airframe_of(engine, "bot")
    assert len(airframe.rotors) == LIBRARY[robot]
    assert airframe.mass == pytest.approx(float(engine.model.body_mass.sum()), rel=1e-12)
    # MuJoCo's mass matrix says the same, by the turning of the whole about the root's origin.
    import mujoco

    mass = np.zeros((engine.model.nv, engine.model.nv))
    mujoco.mj_fullM(engine.model, engine.data, mass)
    c = airframe.centre
    about_origin = airframe.inertia + airframe.mass * (c @ c * np.eye(3) - np.outer(c, c))
    assert about_origin == pytest.approx(mass[3:6, 3:6], rel=1e-9, abs=1e-12)


def test_the_airframe_is_seen_from_the_root_however_the_robot_stands():
    level, turned = (
        airframe_of(library_engine("lophorina", pose=pose), "bot")
        for pose in ([0, 0, 1, 0, 0, 0], [3, -2, 5, 0.3, -0.2, 1.9])
    )
    for one, other in zip(level.rotors, turned.rotors, strict=True):
        assert other.position == pytest.approx(one.position, abs=1e-12)
        assert other.axis == pytest.approx([0, 0, 1], abs=1e-12)
        assert other.tilt_axis == pytest.approx([0, 1, 0], abs=1e-12)
        assert other.tilt_rate == 0.5
    assert turned.inertia == pytest.approx(level.inertia, abs=1e-12)
    assert turned.centre == pytest.approx(level.centre, abs=1e-12)
    sides = {rotor.name: (rotor.position[0], rotor.position[1]) for rotor in level.rotors}
    assert sides["rotor_front_left"] == pytest.approx((0.1825, 0.264))
    assert sides["rotor_rear_right"] == pytest.approx((-0.1825, -0.264))


def test_a_rotor_that_starts_tilted_is_told_so():
    angle = radians(20.0)
    rotor = airframe_of(library_engine("lophorina", start={"tilt_front_left": angle}), "bot").rotors[0]
    assert rotor.tilt == "tilt_front_left" and rotor.tilt_start == pytest.approx(angle)
    assert rotor.axis == pytest.approx([sin(angle), 0.0, cos(angle)], abs=1e-12)


def test_a_tilt_is_found_through_a_fixed_joint():
    frame = aircraft(mount=True)
    rotors = airframe_of(engine_of(frame), "bot").rotors
    assert [rotor.tilt for rotor in rotors] == ["tilt_1", "tilt_2", "tilt_3", "tilt_4"]
    fixed = airframe_of(library_engine("quadrotor"), "bot").rotors
    assert [rotor.tilt for rotor in fixed] == ["", "", "", ""]


# --- what cannot fly -------------------------------------------------------------------------------------------------


def refused(engine: Any, needed: int = 1) -> str:
    with pytest.raises(InputError) as caught:
        airframe_of(engine, "bot", needed=needed)
    (problem,) = caught.value.problems
    assert problem.key == "robot"
    return problem.message


def test_robots_that_are_not_aircraft_are_refused():
    assert "has 1 propellers, this needs 4" in refused(library_engine("fixed-wing"), needed=4)
    by_effort = aircraft()
    by_effort["actuators"]["spin_2"] = {"kind": "effort"}
    message = refused(engine_of(by_effort))
    assert "joint 'spin_2' of propeller 'rotor_2' has no velocity actuator" in message


def test_another_engine_is_refused():
    assert "engine 'multibody' only" in refused(build_engine(load("differential-circle").spec))


@pytest.mark.parametrize("gravity", [[0, 0, 0], [0, 0, 9.81], [1, 0, -9.81]])
def test_gravity_must_point_down(gravity: list[float]):
    assert "along -z only" in refused(library_engine("quadrotor", world={"gravity": gravity}))
