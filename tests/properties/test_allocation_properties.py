"""Whatever is wanted: rotors give it as far as they can, and references keep to their limits."""

from __future__ import annotations

from functools import lru_cache
from math import pi
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botz import Simulation
from botz.control.flight.multicopter import attitude_error
from botz.control.flight.rotors import Rotor
from botz.control.flight.setpoints import SmoothAxis, SoftAxis
from botz.scenario.load import load
from botz.transforms import rotation_from_rpy

share = st.floats(-1.0, 1.0)
PILOTED = {"quadrotor": "quadrotor-square", "hexarotor": "hexarotor-wind", "lophorina": "lophorina-tilt-control"}


@lru_cache(maxsize=3)
def pilot_of(robot: str) -> Any:
    return Simulation(load(PILOTED[robot]))._controllers["pilot"][0]


def wrench(rotors: tuple[Rotor, ...], thrusts: np.ndarray, tilts: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Force and moment about the centre of mass, by putting each thrust where its propeller is when tilted."""
    force, moment = np.zeros(3), np.zeros(3)
    for rotor, thrust, tilt in zip(rotors, thrusts, tilts, strict=True):
        turn = np.array([[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]])
        pivot = rotor.position if rotor.tilt_point is None else rotor.tilt_point
        axis = turn @ rotor.axis
        arm = pivot + turn @ (rotor.position - pivot) - centre
        force += thrust * axis
        moment += np.cross(arm, thrust * axis) - rotor.sense * rotor.drag_torque * thrust * axis
    return np.concatenate([force, moment])


@pytest.mark.parametrize("robot", ["quadrotor", "hexarotor"])
@given(lift=st.floats(0.6, 1.4), moments=st.tuples(share, share, share))
@settings(max_examples=60, deadline=None)
def test_fixed_rotors_give_lift_and_moments_as_wanted(robot: str, lift: float, moments: tuple[float, float, float]):
    pilot = pilot_of(robot)
    frame = pilot._airframe
    # Moments that the rotors can add to that lift without one of them turning backwards.
    wanted = np.array([lift * frame.mass * frame.gravity, *np.multiply(moments, [0.2, 0.2, 0.015])])
    thrusts = pilot._inverse @ wanted
    given_out = np.array([rotor.thrust(rotor.speed(float(f))) for rotor, f in zip(frame.rotors, thrusts, strict=True)])
    found = wrench(frame.rotors, given_out, np.zeros(len(thrusts)), frame.centre)
    assert found[2:] == pytest.approx(wanted, abs=1e-9)


@given(forces=st.tuples(st.floats(-4.0, 4.0), st.floats(15.0, 30.0)), moments=st.tuples(share, share, share))
@settings(max_examples=100, deadline=None)
def test_tilts_and_thrusts_give_all_five_as_wanted_once_the_tilts_are_there(forces, moments):
    pilot = pilot_of("lophorina")
    frame, n = pilot._airframe, 4
    wanted = np.array([*forces, *np.multiply(moments, [0.8, 0.5, 0.5])])
    shares = pilot._inverse @ wanted
    tilts, ideal = np.arctan2(shares[:n], shares[n:]), np.hypot(shares[:n], shares[n:])
    thrusts = pilot._thrusts(wanted, tilts, ideal)
    assert thrusts == pytest.approx(ideal, abs=1e-9), "nothing to correct"
    found = wrench(frame.rotors, thrusts, tilts, frame.centre)
    assert found[[0, 2, 3, 4, 5]] == pytest.approx(wanted, abs=1e-9)
    assert found[1] == pytest.approx(0.0, abs=1e-12), "nothing gives a force aside"


@given(
    tilts=st.tuples(*[st.floats(-0.15, 0.15)] * 4),
    forces=st.tuples(st.floats(-1.0, 1.0), st.floats(18.0, 26.0)),
    moments=st.tuples(share, share, share),
)
@settings(max_examples=100, deadline=None)
def test_at_any_tilts_lift_roll_and_pitch_come_before_the_rest(tilts, forces, moments):
    """Weights of 1, 10 and 10 against 0.1 of staying: what is left of the three is small beside what was wanted."""
    pilot = pilot_of("lophorina")
    frame, n = pilot._airframe, 4
    wanted = np.array([*forces, *np.multiply(moments, [0.4, 0.3, 0.1])])
    shares = pilot._inverse @ wanted
    thrusts = pilot._thrusts(wanted, np.array(tilts), np.hypot(shares[:n], shares[n:]))
    missing = wrench(frame.rotors, thrusts, np.array(tilts), frame.centre)[2:5] - wanted[1:4]
    assert abs(missing[0]) < 0.02 * forces[1] and np.abs(missing[1:]).max() < 0.03
    assert (thrusts > 0.0).all()


# --- attitudes -------------------------------------------------------------------------------------------------------

angles = st.tuples(st.floats(-pi, pi), st.floats(-1.4, 1.4), st.floats(-pi, pi))


@given(
    start=angles, axis=st.tuples(share, share, share).filter(lambda v: np.linalg.norm(v) > 0.1), angle=st.floats(0, 3)
)
@settings(max_examples=150, deadline=None)
def test_the_attitudes_error_is_the_turn_that_is_missing(start, axis, angle: float):
    present = rotation_from_rpy(*start)
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    error = attitude_error(present @ turn, present)
    size = np.sin(angle) if angle < pi / 2 else 1.0
    if abs(angle - pi / 2) > 1e-6:
        assert error == pytest.approx(size * np.array([x, y, z]), abs=1e-9)


# --- references ------------------------------------------------------------------------------------------------------


@given(
    goals=st.lists(st.floats(-3, 3), min_size=1, max_size=4),
    speed=st.floats(0.5, 10),
    acceleration=st.floats(0.5, 20),
    dt=st.floats(0.01, 0.05),
    pause=st.integers(1, 100),
)
@settings(max_examples=60, deadline=None)
def test_references_keep_their_limits_and_stop_exactly_at_the_goal(goals, speed, acceleration, dt, pause):
    axis, soft = SmoothAxis(0.0, speed, acceleration), SoftAxis(0.0, speed, acceleration, 5.0)
    last = goals[-1]

    def go_on(goal: float) -> None:
        before = axis.rate
        for one in (axis, soft):
            one.go_on(goal, dt)
            assert abs(one.rate) <= speed * (1 + 1e-9) and abs(one.change) <= acceleration * (1 + 1e-9)
        assert axis.rate == pytest.approx(before + axis.change * dt, abs=1e-9)

    for goal in goals[:-1]:
        for _ in range(pause):
            go_on(goal)
    # There at last after turning round, the trapezium and some steps.
    turning = abs(axis.rate) / acceleration
    left = abs(last - axis.value) + 0.5 * speed * turning
    needed = turning + left / speed + speed / acceleration + 2.0 * np.sqrt(left / acceleration)
    side = np.sign(last - axis.value)
    from_rest = axis.rate == 0.0
    for _ in range(int(needed / dt) + 10):
        go_on(last)
        assert not from_rest or side * (last - axis.value) >= -1e-12, "it passed the goal"
    assert axis.value == last and abs(axis.rate) <= 1e-12
