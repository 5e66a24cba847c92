"""PI control of wheel speeds: no steady error, no wind-up, complete state, and mistakes in motor names."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from vehicle_plant import PERIOD, Drive, Plant, controller_of, setup_for, vehicle

from botz.control.wheeled.wheel_speed import SpeedLoop, motor_drives
from botz.errors import InputError
from botz.scenario.vehicle.schema import WheelSpeeds

MOTORS = ("front_left", "front_right", "rear_left", "rear_right")


def test_the_speed_is_reached_without_steady_error_under_load():
    wanted = dict(zip(MOTORS, (3.0, -2.0, 5.0, 0.0), strict=True))
    drive = Drive(controller_of(type="wheel-speed", speeds=wanted), Plant(vehicle(), load=1.5)).run(5.0)
    assert drive.plant.speeds == pytest.approx(wanted, abs=1e-6)
    # Only the integral is left, and it holds the load.
    assert drive.commands[-1]["rear_right/voltage"] == pytest.approx(24.0 * 1.5 / drive.plant.top_speed("rear_right"))


def test_without_integral_gain_an_error_stays_as_the_loop_gain_says():
    plant = Plant(vehicle())
    gains = {"proportional": 0.5, "integral": 0}
    Drive(controller_of(type="wheel-speed", speeds={"front_left": 4.0}, gains=gains), plant).run(3.0)
    loop_gain = 0.5 * plant.top_speed("front_left") / 24.0
    assert plant.speeds["front_left"] == pytest.approx(4.0 * loop_gain / (1.0 + loop_gain))


def test_one_update_is_the_formula():
    drive = motor_drives(vehicle(), ["front_left"])
    loop = SpeedLoop(drive, WheelSpeeds(proportional=0.5, integral=2.0), PERIOD)
    assert loop.voltages([4.0], {"front_left/speed": 1.0}) == {"front_left/voltage": pytest.approx(1.5 + 2.0 * 0.03)}
    assert loop.voltages([4.0], {"front_left/speed": 5.0})["front_left/voltage"] == pytest.approx(-0.5 + 2.0 * 0.02)
    assert loop.integrals == {"front_left": pytest.approx(0.02)}


def test_forward_and_yaw_rate_become_rolling_speeds():
    drive = Drive(controller_of(type="wheel-speed", forward=0.5, yaw_rate=1.0), Plant(vehicle(), grip=1.0)).run(5.0)
    assert drive.plant.speeds["front_left"] == pytest.approx((0.5 - 0.22) / 0.11)
    assert drive.plant.speeds["rear_right"] == pytest.approx((0.5 + 0.22) / 0.11)
    assert (drive.plant.forward, drive.plant.yaw_rate) == pytest.approx((0.5, 1.0))


def test_a_motor_with_several_wheels_takes_their_means():
    wheels = {"front_left": {"radius": 0.1}, "rear_left": {"radius": 0.2}, "front_right": {}, "rear_right": {}}
    places = {"front_left": [0.3, 0.2, 0], "rear_left": [-0.3, 0.4, 0], "front_right": [0.3, -0.3, 0]}
    spec = vehicle(
        wheels={name: {"position": places.get(name, [-0.3, -0.3, 0]), **own} for name, own in wheels.items()},
        motors={"left": {"wheels": ["front_left", "rear_left"]}, "right": {"wheels": ["front_right", "rear_right"]}},
    )
    left, _ = motor_drives(spec)
    assert (left.lateral, left.radius) == pytest.approx((0.3, 0.15))
    assert left.speed_for(0.6, 1.0) == pytest.approx((0.6 - 0.3) / 0.15)


def test_the_integral_does_not_wind_up_at_the_voltage_limit():
    # Far more than the motor can do for a long time, then an order to stop.
    plant = Plant(vehicle())
    controller = controller_of(type="wheel-speed", speeds={"front_left": 100.0})
    drive = Drive(controller, plant).run(20.0)
    assert max(command["front_left/voltage"] for command in drive.commands) == 24.0
    assert controller.spec.gains.integral * controller.loop.integrals["front_left"] <= 24.0
    controller.wanted = [0.0]
    drive.run(1.0)
    assert abs(plant.speeds["front_left"]) < 0.5
    assert min(command["front_left/voltage"] for command in drive.commands) >= -24.0


def test_an_integral_that_leads_back_from_the_limit_goes_on():
    loop = SpeedLoop(motor_drives(vehicle(), ["front_left"]), WheelSpeeds(proportional=0.0, integral=2.0), PERIOD)
    loop.restore({"front_left": 15.0})
    assert loop.voltages([0.0], {"front_left/speed": 10.0})["front_left/voltage"] == 24.0
    assert loop.integrals["front_left"] == pytest.approx(14.9)
    loop.voltages([10.0], {"front_left/speed": 0.0})
    assert loop.integrals["front_left"] == pytest.approx(14.9)


def test_the_battery_limits_the_voltage_too():
    spec = vehicle(battery={"voltage": 12.0, "resistance": 0.0})
    loop = SpeedLoop(motor_drives(spec, ["front_left"]), WheelSpeeds(), PERIOD)
    assert loop.voltages([1000.0], {"front_left/speed": 0.0}) == {"front_left/voltage": 12.0}


def test_motors_that_are_not_named_are_left_alone():
    drive = Drive(controller_of(type="wheel-speed", speeds={"rear_left": 2.0}), Plant(vehicle())).run(0.1)
    assert set(drive.commands[-1]) == {"rear_left/voltage"}


def test_a_snapshot_continues_bit_for_bit():
    spec = {"type": "wheel-speed", "speeds": {"front_left": 3.0, "rear_right": -4.0}}
    drive = Drive(controller_of(**spec), Plant(vehicle(), load=1.0)).run(0.3)
    saved, speeds, voltages = drive.controller.snapshot(), dict(drive.plant.speeds), dict(drive.plant.voltages)
    drive.run(0.5)
    again = Drive(controller_of(**spec), Plant(vehicle(), load=1.0))
    again.plant.speeds, again.plant.voltages = speeds, voltages
    again.controller.restore(saved)
    again.run(0.5)
    assert again.commands == drive.commands[-len(again.commands) :]
    assert again.plant.speeds == drive.plant.speeds


def test_reset_forgets_the_integral():
    drive = Drive(controller_of(type="wheel-speed", forward=0.5), Plant(vehicle())).run(0.3)
    drive.controller.reset(setup_for(drive.plant.spec))
    assert set(drive.controller.snapshot()["integrals"].values()) == {0.0}


@pytest.mark.parametrize(
    ("speeds", "message"),
    [
        ({"frnt_left": 1.0, "rear_left": 1.0}, r"speeds\.frnt_left: no motor 'frnt_left'; did you mean 'front_left'"),
        ({"a": 1.0, "b": 1.0}, r"speeds\.a: no motor 'a'[^\n]*\nspeeds\.b: no motor 'b'"),
        ({}, "speeds: names no motor; choose from: front_left"),
    ],
)
def test_unknown_motors(speeds, message):
    with pytest.raises(InputError, match=message):
        controller_of(type="wheel-speed", speeds=speeds).reset(setup_for(vehicle()))


def test_other_robots_and_vehicles_without_motors_are_refused():
    controller = controller_of(type="wheel-speed", forward=1.0)
    with pytest.raises(InputError, match="drives robots of engine 'vehicle'"):
        controller.reset(setup_for(SimpleNamespace()))
    with pytest.raises(InputError, match="needs a vehicle with motors"):
        controller.reset(setup_for(vehicle(motors={})))
