"""The channel table of vehicles against what is written into a row, for any number of wheels and any motors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from botz.engines.vehicle.engine import VehicleEngine
from botz.scenario.vehicle.schema import VehicleScenario
from botz.verify.vehicle.rig import Rig, rig, vivi

COUNTS = [1, 3, 4, 5, 8]
"""Wheels: blocks of four are partly filled, full, and more than one."""
MOTOR = {"voltage": 100.0, "torque_constant": 0.03, "speed_constant": 30.0, "gear_ratio": 20.0}


def many_wheels(count: int, *, inertia: float = 10.0) -> dict[str, Any]:
    """Wheels `w0`, `w1`, …, no two alike.

    Motors come in the opposite order: the first turns the last two wheels, `w0` has none, and the motor of `w1` has
    its wheel's name. All have a name of their own otherwise.
    """
    wheels = {
        f"w{k}": {
            "position": [0.1 * k - 0.3, 0.2 if k % 2 else -0.25, -0.05 - 0.001 * k],
            "radius": 0.1 + 0.002 * k,
            "rims": 1,
            "inertia": 0.01 * (1 + k),
            "suspension": {"stiffness": 5000.0 + 500.0 * k, "damping": 100.0, "travel": 0.2},
            "tyre": {"type": "coulomb", "static": 0.8, "dynamic": 0.7},
        }
        for k in range(count)
    }
    driven = list(wheels)[:0:-1]
    groups = [driven[:2], *([name] for name in driven[2:])] if len(driven) > 2 else [[name] for name in driven]
    motors = {
        group[0] if group == ["w1"] else f"m{k}": {**MOTOR, "wheels": group, "resistance": 1.0 + 0.1 * k}
        for k, group in enumerate(groups)
    }
    box = {"mass": 10.0 * count, "front": 0.3, "rear": 0.3, "left": 0.2, "right": 0.2, "top": 0.1, "bottom": 0.01}
    return {"chassis": {**box, "inertia": [inertia] * 3}, "wheels": wheels, "motors": motors}


def at_rest(count: int) -> Rig:
    """Pressed by 1 cm where a wheel reaches least far down, at a height of its own."""
    return rig(many_wheels(count), position=[0.5, -0.7, 0.14])


@pytest.mark.parametrize("count", COUNTS)
def test_every_place_of_a_row_is_written_and_none_beyond(count: int):
    one = rig(many_wheels(count))
    width = one.engine.channels.width
    row = np.full(width + 8, 7.25)
    one.engine.observe(row[:width])
    assert (row[width:] == 7.25).all()
    other = np.full(width, -3.5)
    one.engine.observe(other)
    assert other.tobytes() == row[:width].tobytes()
    kept = np.full((3, width), np.nan)
    one.engine.advance(0, 6, 2, kept)
    assert np.isfinite(kept).all()
    one.engine.observe(other)
    assert other.tobytes() == kept[2].tobytes()


@pytest.mark.parametrize("count", COUNTS)
def test_each_wheel_is_in_its_own_channels(count: int):
    """On level ground: h = r − z_wheel − z, N = F_susp = k h, the contact right below the centre."""
    one = at_rest(count)
    for k in range(count):
        h = (0.1 + 0.002 * k) + (0.05 + 0.001 * k) - 0.14
        assert one.value(f"w{k}/deflection") == pytest.approx(h, abs=1e-6)
        for force in ("load", "suspension_force"):
            assert one.value(f"w{k}/{force}") == pytest.approx((5000.0 + 500.0 * k) * h, abs=0.02)
        below = [0.5 + 0.1 * k - 0.3, -0.7 + (0.2 if k % 2 else -0.25), 0.0]
        assert one.value(f"w{k}/contact") == pytest.approx(below, abs=1e-5)
        assert one.value(f"w{k}/normal").tolist() == [0.0, 0.0, 1.0]
        assert one.value(f"w{k}/wall_force").tolist() == [0.0, 0.0, 0.0]
    springs = sum(0.5 * (5000.0 + 500.0 * k) * (0.01 + 0.003 * k) ** 2 for k in range(count))
    assert one.value("energy/springs") == pytest.approx(springs, rel=1e-4)
    assert one.value("energy/potential") == pytest.approx(10.0 * count * 9.80665 * 0.14)


@pytest.mark.parametrize("count", COUNTS[1:])
def test_each_motor_is_in_its_own_channels_and_turns_its_own_wheels(count: int):
    """In the air and at rest: I = V/R, τ = G K_t I, and after one step ω = τ dt / Σ I_wheel, on a chassis too heavy to
    turn back. Everything else of the row keeps to its place, which the next channels show."""
    one = rig(many_wheels(count, inertia=1e9), position=[0.0, 0.0, 5.0], gravity=0.0)
    motors = one.engine.scenario.robots["r"].motors
    assert list(motors)[-1] == "w1" and len(motors) == (count - 2 if count > 3 else 2)
    voltages = 10.0 + 3.0 * np.arange(len(motors))
    one.command(voltages=voltages).steps(1)
    for k, (name, motor) in enumerate(motors.items()):
        current = voltages[k] / (1.0 + 0.1 * k)
        assert one.value(f"{name}/voltage") == voltages[k]
        assert one.value(f"{name}/current") == pytest.approx(current)
        assert one.value(f"{name}/torque") == pytest.approx(20.0 * 0.03 * current)
        assert one.value(f"{name}/friction") == 0.0
        inertia = sum(one.engine.scenario.robots["r"].wheels[wheel].inertia for wheel in motor.wheels)
        speed = 20.0 * 0.03 * current * 1e-4 / inertia
        for part in {name, *motor.wheels}:
            assert one.value(f"{part}/speed") == pytest.approx(speed, rel=1e-6)
        for wheel in motor.wheels:
            assert one.value(f"{wheel}/angle") == pytest.approx(speed * 1e-4, rel=1e-6)
    assert one.value("w0/speed") == pytest.approx(0.0, abs=1e-9), "it has no motor"


@pytest.mark.parametrize("count", COUNTS)
def test_motors_with_a_name_of_their_own_have_a_speed(count: int):
    one = rig(many_wheels(count))
    names = [channel.local_name for channel in one.engine.channels]
    assert len(set(names)) == len(names)
    for motor in one.engine.scenario.robots["r"].motors:
        wanted = {f"{motor}/{quantity}" for quantity in ("voltage", "current", "torque", "friction", "speed")}
        assert wanted <= set(names)
    assert [name for name in names if name.endswith("/angle")] == [f"w{k}/angle" for k in range(count)]


def test_the_channels_of_several_robots_lie_one_after_the_other():
    """Vehicles do not meet: each moves as if it were alone, in channels of its own."""
    places = {"five": (5, [0.0, 0.0]), "one": (1, [3.0, 0.0]), "three": (3, [0.0, 3.0]), "eight": (8, [-3.0, 1.0])}
    time = {"step": 1e-4}
    robots = {name: {**many_wheels(count), "position": place} for name, (count, place) in places.items()}

    def last_row(names: list[str]) -> np.ndarray:
        data = {"engine": "vehicle", "time": time, "robots": {name: robots[name] for name in names}}
        engine = VehicleEngine(VehicleScenario.model_validate(data))
        for name in names:
            motors = len(robots[name]["motors"])
            engine.inputs[engine.robot_inputs(name)] = len(name) + np.arange(motors)
        assert engine.advance(0, 300, 0, np.empty((0, 0)))
        row = np.full(engine.channels.width, np.nan)
        engine.observe(row)
        return row

    together = last_row(list(places))
    alone = np.concatenate([last_row([name]) for name in places])
    assert together == pytest.approx(alone, rel=1e-5, abs=1e-5)


def test_energies_of_treads_bristles_and_corners():
    """½ k u², ½ σ₀ z² and ½ k (d² + u²), from the records."""
    tyre = {"type": "coulomb", "static": 0.8, "dynamic": 0.7}
    one = rig(vivi(wheel={"tyre": tyre}), velocity=[0.5, 0.2, 0.0]).command(voltages=6.0).steps(200)
    wheels, axles = one.engine.state.wheels, one.engine.state.axles
    treads = 0.5 * 5e4 * np.sum(wheels["bent_x"] ** 2 + wheels["bent_y"] ** 2)
    bristles = 0.5 * np.sum(one.engine.model.axles["sigma0"] * axles["z"] ** 2)
    assert treads > 0.0 and bristles > 0.0
    assert one.value("energy/treads") == pytest.approx(treads, rel=1e-12)
    assert one.value("energy/bristles") == pytest.approx(bristles, rel=1e-12)
    assert one.value("energy/corners") == 0.0
    fallen = rig(vivi(without_motors=True), position=[0.0, 0.0, 0.2], attitude=[3.0, 0.1, 0.0]).run(0.4)
    own = fallen.engine.state.robots[0]
    held = (
        0.5 * fallen.engine.model.robots[0].corner_stiffness * (np.sum(own.corner_depth**2) + np.sum(own.corner_u**2))
    )
    assert held > 0.0
    assert fallen.value("energy/corners") == pytest.approx(held, rel=1e-12)


@pytest.mark.parametrize("volts", [2.0, 2.57, 2.6, 24.0])
def test_the_battery_feeds_the_currents_of_the_same_moment(volts: float):
    """V = E − R P/V. At 24 V without load, 2.57 V drive more than the limit of 40 A; at the voltage under load less."""
    one = rig(vivi()).command(voltages=volts).steps(1)
    bus, power = one.value("battery/voltage"), one.value("battery/power")
    assert bus == pytest.approx(24.0 - 0.02 * power / bus, rel=1e-12)
