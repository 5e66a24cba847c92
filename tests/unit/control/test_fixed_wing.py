"""Height, airspeed and heading of an aircraft, in still air and in wind."""

from __future__ import annotations

from math import radians
from typing import Any

import numpy as np
import pytest
from flying import Flight, library_engine

from botz.control.base import ControllerSetup
from botz.control.flight.fixed_wing import FixedWing
from botz.engines.registry import build_engine
from botz.errors import InputError
from botz.scenario.load import load
from botz.scenario.multibody.flight import FixedWingController
from botz.sim.snapshots import encode

PLANE: dict[str, Any] = {
    "extends": "fixed-wing", "pose": {"z": 40.0}, "velocity": [15, 0, 0], "start_speed": {"spin": 572.7},
}  # fmt: skip


def flight(robot: dict[str, Any] | None = None, world: Any = None, **keys: Any) -> Flight:
    pilot = {"type": "fixed-wing", "height": 40.0, **keys}
    return Flight(PLANE | (robot or {}), pilot, {"ground": False, **(world or {})})


def test_it_flies_on_level_where_it_is_trimmed():
    """At 15 m/s the robot file's trim is elevator 0 and 572.7 rad/s: hardly anything is to be done."""
    seen = flight().run(6.0)
    assert seen.of("pose")[:, 2] == pytest.approx(40.0, abs=0.1)
    assert np.abs(seen.of("attitude")).max() < 0.02
    assert np.linalg.norm(seen.now("twist")[:3]) == pytest.approx(15.0, abs=0.05)
    assert seen.now("spin/speed") == pytest.approx(572.7, rel=0.02)


@pytest.mark.parametrize("height", [44.0, 36.0])
def test_it_climbs_and_sinks_to_its_height(height: float):
    seen = flight(height=height).run(16.0)
    climb = np.diff(seen.of("pose")[:, 2]) / 0.01
    assert np.abs(climb).max() < 2.0 * 1.3
    assert seen.now("pose")[2] == pytest.approx(height, abs=0.3)
    assert np.linalg.norm(seen.now("twist")[:3]) == pytest.approx(15.0, abs=0.5)


@pytest.mark.parametrize(("heading", "bank"), [(60, -1), (-60, 1)])
def test_it_turns_the_way_it_banks(heading: float, bank: int):
    seen = flight(heading=radians(heading), bank=0.5).run(15.0)
    roll = seen.of("attitude")[:, 0]
    assert np.abs(roll).max() < 0.6 and (bank * roll).max() > 0.3, "left is a negative roll"
    velocity = (seen.of("pose")[-1, :2] - seen.of("pose")[-50, :2]) / 0.49
    assert np.degrees(np.arctan2(velocity[1], velocity[0])) == pytest.approx(heading, abs=3.0)
    assert seen.now("pose")[2] == pytest.approx(40.0, abs=1.5)


def test_heading_goes_the_short_way():
    start = {
        "pose": [0, 0, 40, 0, 0, radians(170)],
        "velocity": [15 * np.cos(radians(170)), 15 * np.sin(radians(170)), 0],
    }
    start["velocity"] = [float(one) for one in start["velocity"]]
    seen = flight(start, heading=radians(-170)).run(10.0)
    yaw = np.unwrap(seen.of("attitude")[:, 2])
    assert yaw.min() > radians(165) and yaw[-1] == pytest.approx(radians(190), abs=0.1)


def test_in_wind_from_the_side_it_flies_where_it_should_at_its_airspeed():
    seen = flight(world={"wind": {"steady": [0, 3, 0]}}).run(20.0)
    pose = seen.of("pose")
    velocity = (pose[-1, :3] - pose[-100, :3]) / 0.99
    assert np.arctan2(velocity[1], velocity[0]) == pytest.approx(0.0, abs=0.03)
    assert np.linalg.norm(velocity - [0, 3, 0]) == pytest.approx(15.0, abs=0.3)


def test_a_propeller_that_turns_against_its_axis_is_driven_that_way():
    other = {"start_speed": {"spin": -572.7}, "elements": {"propeller": {"sense": "cw"}}}
    seen = flight(other).run(4.0)
    assert seen.now("spin/speed") == pytest.approx(-572.7, rel=0.1)
    assert np.linalg.norm(seen.now("twist")[:3]) == pytest.approx(15.0, abs=0.3)


def test_an_airspeed_that_cannot_be_reached_winds_nothing_up():
    seen = flight(airspeed=60.0).run(5.0)
    assert seen.pilot._propeller <= 1200.0
    assert seen.now("spin/speed") == pytest.approx(1200.0, rel=0.02)


@pytest.mark.parametrize("at", [0.0, 1.3])
def test_a_snapshot_as_bytes_continues_bit_for_bit(at: float):
    wind = {"wind": {"steady": [0, 2, 0], "turbulence": {"intensity": [1, 1, 1]}}}
    one, other = (flight(world=wind, heading=1.0) for _ in range(2))
    one.run(at)
    other.sim.restore(encode(one.sim.snapshot()))
    for each in (one, other):
        each.sim.step(n=1000)
    for name, value in one.sim.values().items():
        assert np.asarray(other.sim.values()[name]).tobytes() == np.asarray(value).tobytes(), name
    assert other.pilot._propeller == one.pilot._propeller


# --- what is refused -------------------------------------------------------------------------------------------------


def test_wrong_joints_at_their_keys_with_the_closest():
    with pytest.raises(InputError) as caught:
        flight(elevator="elevtor", throttle="rudder")
    found = {problem.key: problem.message for problem in caught.value.problems}
    assert "did you mean 'elevator/position'?" in found["controllers.pilot.elevator"]
    assert "no command 'rudder/speed'" in found["controllers.pilot.throttle"] and len(found) == 2


def test_another_engine_and_a_world_without_gravity():
    pilot = FixedWing(FixedWingController(type="fixed-wing", robot="bot"))
    nothing = np.random.default_rng(0)
    for engine, text in (
        (build_engine(load("differential-circle").spec), "engine 'multibody' only"),
        (library_engine("fixed-wing", world={"gravity": [0, 0, 0]}), "along -z only"),
    ):
        with pytest.raises(InputError, match=text):
            pilot.reset(ControllerSetup("bot", 0.01, nothing, (), engine))
