"""The source's hover: one speed for all propellers by the height alone, manoeuvres, landings on any ground."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
from flying import Flight, G, aircraft

from botz.errors import InputError
from botz.sim.snapshots import encode

HOVER: dict[str, Any] = {"type": "hover"}
BOX = {"type": "box", "size": [0.4, 0.4, 0.1]}
TILTS = ("front_left", "front_right", "rear_left", "rear_right")


def hover(robot: Any = None, world: Any = None, *, z: float = 0.05, **keys: Any) -> Flight:
    robot = aircraft(tilting=False) if robot is None else robot
    if isinstance(robot, str):
        robot = {"extends": robot}
    else:
        robot["links"]["body"]["shapes"] = [BOX]
    return Flight({**robot, "pose": {"z": z}}, {**HOVER, **keys}, world)


def problems(**keys: Any) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        hover(**keys)
    return {problem.key or "": problem.message for problem in caught.value.problems}


# --- speeds and gains ------------------------------------------------------------------------------------------------


def test_hover_speed_is_that_of_the_closed_form():
    flight = hover("lophorina", z=1.0)
    assert flight.pilot._hover_speed == pytest.approx(sqrt(2.132 * 9.81 / 4.0 / 2.0032092e-5), rel=1e-6)
    flight.run(8.0)
    for corner in TILTS:
        assert abs(flight.now(f"spin_{corner}/speed")) == pytest.approx(510.9, abs=0.05)
        assert flight.now(f"rotor_{corner}/thrust") == pytest.approx(5.229, abs=1e-3)


@pytest.mark.parametrize(
    ("curve", "speed"),
    [([0.0, 1e-2, 0.0], 1.04 * G / 4e-2), ([0.3, 1e-3, 1e-5], None), ([0.0, 2e-2, -1e-5], None)],
    ids=["line", "full", "has-a-peak"],
)
def test_hover_speed_by_a_curve(curve: list[float], speed: float | None):
    pilot = hover(aircraft(tilting=False, curve=curve)).pilot
    a, b, c = curve
    found = pilot._hover_speed
    assert 4.0 * (a + b * found + c * found**2) == pytest.approx(1.04 * G, rel=1e-9)
    assert speed is None or found == pytest.approx(speed, rel=1e-9)
    assert 2.0 * c * found + b > 0.0, "on the rising branch"


@pytest.mark.parametrize("curve", [[0.0, 0.0, 1e-5], [0.0, 2e-2, -1e-5]])
@pytest.mark.parametrize("frequency", [2.0, 5.0])
def test_gains_put_three_poles_at_the_frequency(frequency: float, curve: list[float]):
    """z'' = Σf(ω₀ + δω)/m − g with δω = p e + i ∫e + d e': the characteristic polynomial of e, e' and ∫e."""
    pilot = hover(aircraft(tilting=False, curve=curve), frequency=frequency).pilot
    p, i, d = pilot._gains
    h = 1e-3
    slope = (pilot._lift(pilot._hover_speed + h) - pilot._lift(pilot._hover_speed - h)) / (2.0 * h)
    plant = slope / pilot._airframe.mass
    assert [1.0, plant * d, plant * p, plant * i] == pytest.approx(np.poly([-frequency] * 3), rel=1e-6)


def test_own_gains_are_taken_as_they_are():
    gains = {"proportional": 40.0, "derivative": 30.0}
    assert hover(gains=gains).pilot._gains == (40.0, 0.0, 30.0)


def test_it_climbs_no_faster_than_it_may_and_stays():
    flight = hover(height=0.6, climb_rate=0.25).run(8.0)
    assert flight.of("pose")[:, 2].max() < 0.63
    assert flight.of("twist")[:, 2].max() < 0.25 * 1.2
    assert flight.of("pose", since=7.5)[:, 2] == pytest.approx(0.6, abs=1e-3)
    assert np.ptp([abs(flight.now(f"spin_{k}/speed")) for k in range(1, 5)]) < 1e-6


# --- manoeuvres ------------------------------------------------------------------------------------------------------


def test_manoeuvres_overlap_and_end():
    flight = hover(
        "lophorina",
        z=1.0,
        manoeuvres=[
            {"at": 0.4, "until": 0.8, "add": {"rotor_front_left": 20.0}},
            {"at": 0.6, "until": 1.0, "add": {"rotor_front_left": 5.0}, "set": {"tilt_rear_left/position": 0.1}},
            {"at": 0.7, "until": 0.9, "set": {"tilt_rear_left/position": 0.2, "tilt_rear_right/position": -0.1}},
        ],
    )

    def more(until: float) -> tuple[float, float, float]:
        now = flight.run(until).commands
        extra = abs(now["spin_front_left/speed"]) - abs(now["spin_front_right/speed"])
        return extra, now["tilt_rear_left/position"], now["tilt_rear_right/position"]

    for until, wanted in ((0.4, (0, 0, 0)), (0.5, (20, 0, 0)), (0.65, (25, 0.1, 0)), (0.75, (25, 0.2, -0.1)),
                          (0.85, (5, 0.2, -0.1)), (0.95, (5, 0.1, 0)), (1.1, (0, 0, 0))):  # fmt: skip
        assert more(until) == pytest.approx(wanted, abs=1e-9), until


def test_a_propeller_that_was_set_is_the_controllers_again():
    flight = hover(z=1.0, manoeuvres=[{"at": 0.1, "until": 0.15, "set": {"spin_1/speed": -200.0}}])
    assert flight.run(0.13).commands["spin_1/speed"] == -200.0
    now = flight.run(0.3).commands
    assert now["spin_1/speed"] == pytest.approx(-now["spin_2/speed"]) and now["spin_2/speed"] > 400.0


def test_heights_one_after_another_stay_when_their_manoeuvre_ends():
    steps = [{"at": 2.0, "height": 0.5}, {"at": 0.0, "until": 0.1, "height": 1.0}]
    flight = hover(z=0.8, height=0.8, climb_rate=1.0, manoeuvres=steps).run(2.0)
    assert flight.now("pose")[2] == pytest.approx(1.0, abs=0.02)
    assert flight.run(4.5).now("pose")[2] == pytest.approx(0.5, abs=0.02)


# --- landings --------------------------------------------------------------------------------------------------------


def stands(flight: Flight, height: float) -> None:
    assert flight.now("pose")[2] == pytest.approx(height, abs=2e-3)
    assert all(value == 0.0 for name, value in flight.commands.items() if name.endswith("/speed"))
    assert flight.of("twist")[:, 2].min() > -0.6, "it did not fall"


def test_it_lands_far_below_where_it_began():
    flight = hover(z=2.0, height=2.0, sink_rate=0.5, manoeuvres=[{"at": 0.2, "land": True}]).run(1.5)
    assert flight.now("pose")[2] > 1.3 and flight.commands["spin_2/speed"] > 400.0
    stands(flight.run(6.0), 0.05)


def test_it_lands_on_ground_that_is_higher_than_where_it_began():
    """Begun in front of a step of 0.4 m, and put over it in flight."""
    robot = aircraft(tilting=False)
    robot["links"]["body"]["shapes"] = [BOX]
    box = {"type": "box", "size": [2, 2, 0.4], "pose": {"x": 3.0, "z": 0.2}}
    flight = Flight(
        {**robot, "pose": {"z": 0.05}},
        {**HOVER, "height": 1.0, "climb_rate": 1.0, "manoeuvres": [{"at": 3.0, "land": True}]},
        {"obstacles": {"step": box}},
    )
    flight.run(2.0)
    engine: Any = flight.sim.engine
    engine.data.qpos[0] = 3.0
    stands(flight.run(7.0), 0.45)


@pytest.mark.parametrize(("frequency", "sink_rate"), [(0.7, 0.3), (2.0, 2.0), (4.0, 0.05)])
def test_no_landing_ends_in_the_air(frequency: float, sink_rate: float):
    flight = hover(
        z=6.0, height=6.5, climb_rate=2.0, frequency=frequency, sink_rate=sink_rate,
        manoeuvres=[{"at": 0.3, "land": True}],
    ).run(3.0)  # fmt: skip
    assert flight.commands["spin_2/speed"] > 300.0 and flight.now("pose")[2] > 0.5
    assert flight.now("twist")[2] == pytest.approx(-sink_rate, abs=0.5 * sink_rate + 0.1)


def test_it_starts_again_after_a_landing():
    steps = [{"at": 1.0, "land": True}, {"at": 4.0, "height": 0.5}]
    flight = hover(z=0.3, height=0.3, manoeuvres=steps).run(4.0)
    stands(flight, 0.05)
    assert flight.run(7.5).now("pose")[2] == pytest.approx(0.5, abs=0.02)
    assert flight.of("pose")[:, 2].max() < 0.6


# --- what is refused -------------------------------------------------------------------------------------------------


def test_a_robot_that_cannot_lift_itself():
    found = problems(robot=aircraft(tilting=False, max_force=2.0))
    assert "cannot carry its weight of 10.2 N" in found["controllers.pilot.robot"]
    assert "cannot carry its weight" in problems(robot="fixed-wing", z=1.0)["controllers.pilot.robot"]


def test_wrong_names_at_their_keys_with_the_closest():
    found = problems(manoeuvres=[{"at": 1, "add": {"rotr_1": 5.0}}, {"at": 2, "set": {"spin_1/sped": 5.0}}])
    assert "no propeller 'rotr_1'" in found["controllers.pilot.manoeuvres.0.add.rotr_1"]
    assert "did you mean 'rotor_1'?" in found["controllers.pilot.manoeuvres.0.add.rotr_1"]
    (key,) = [key for key in found if ".1.set" in key]
    assert "spin_1/sped" in key and "did you mean 'spin_1/speed'?" in found[key]


def test_what_is_set_has_the_unit_of_its_command():
    wrong = {"spin_1/speed": "20 deg", "tilt_1/position": "5 cm"}
    found = problems(robot=aircraft(), manoeuvres=[{"at": 1, "set": wrong}])
    at = "controllers.pilot.manoeuvres.0.set"
    assert found[f"{at}.tilt_1/position"] == '"5 cm" is a length, needs an angle such as "45 deg"'
    assert "needs an angular speed" in found[f"{at}.spin_1/speed"] and len(found) == 2
    right = {"spin_1/speed": "60 rpm", "tilt_1/position": "5 deg"}
    assert hover(aircraft(), manoeuvres=[{"at": 1, "set": right}]).sim.engine.notes == ()


def test_what_is_set_beyond_an_actuator_is_noted_once():
    flight = hover(aircraft(), manoeuvres=[{"at": 1, "set": {"tilt_1/position": 2.0}}])
    flight.sim.reset()
    said = "2 rad, set by the manoeuvre at 1 s, is beyond its greatest, 0.8 rad; it is held there"
    assert flight.sim.engine.notes == (f"bot/tilt_1/position: {said}",)


@pytest.mark.parametrize(
    ("manoeuvre", "key", "text"),
    [
        ({"at": 2, "until": 1, "land": True}, "until", "not after its begin"),
        ({"at": 2}, "", "does nothing"),
        ({"at": 2, "land": True, "height": 1.0}, "height", "give 'height' or 'land'"),
    ],
)
def test_manoeuvres_that_make_no_sense(manoeuvre: dict[str, Any], key: str, text: str):
    found = problems(manoeuvres=[manoeuvre])
    assert text in found["controllers.pilot.manoeuvres.0" + (f".{key}" if key else "")]


# --- snapshots -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0.02, 0.31, 0.75, 2.75, 3.3])
def test_a_snapshot_as_bytes_continues_bit_for_bit(at: float):
    keys: dict[str, Any] = {
        "z": 0.3,
        "height": 0.4,
        "manoeuvres": [
            {"at": 0.2, "until": 0.5, "add": {"rotor_1": 1.0, "rotor_3": 1.0}},
            {"at": 0.3, "until": 0.7, "set": {"spin_2/speed": 505.0, "spin_4/speed": 505.0}},
            {"at": 1.0, "land": True},
            {"at": 3.2, "height": 0.3},
        ],
    }
    flight = hover(**keys).run(at)
    data = encode(flight.sim.snapshot())
    other = hover(**keys)
    other.sim.restore(data)
    for one in (flight, other):
        one.sim.step(n=700)
    for name, value in flight.sim.values().items():
        assert np.asarray(other.sim.values()[name]).tobytes() == np.asarray(value).tobytes(), name
    assert other.pilot.snapshot() == flight.pilot.snapshot()
