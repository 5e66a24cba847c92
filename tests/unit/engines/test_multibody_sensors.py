"""Sensors of multibody robots: what they show is what is there, at their rate and with their noise."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from multibody_rig import FREE, G, Rig, body, box, limb

PLACE = [0.1, -0.05, 0.2, 0.3, -0.4, 0.5]
"""Of a sensor on its link."""


def sensed(rig: Rig, name: str) -> np.ndarray:
    """MuJoCo's own value of one of its sensors, computed by itself from the present state."""
    mujoco.mj_forward(rig.engine.model, rig.engine.data)
    return rig.engine.data.sensor(f"one/{name}").data.copy()


def flying(**sensor: Any) -> Rig:
    """A robot that tumbles while its rotor starts up, with one sensor on its arm that reads in every step."""
    robot = limb(
        sensors={"s": {"link": "arm", "rate": 1000, "pose": PLACE, **sensor}},
        pose=[1, 2, 5, 0.3, 0.2, 0.1], velocity=[1, -2, 3], angular_velocity=[1, 2, -1],
    )  # fmt: skip
    rig = Rig({"one": robot})
    rig.command("one", {"spin/speed": 100.0, "tilt/position": 0.4, "slide/effort": 1.0}).steps(83)
    return rig


def test_a_link_sensor_shows_pose_and_twist_of_its_own_frame():
    rig = flying(type="pose")
    pose, twist = rig["one/s/pose"], rig["one/s/twist"]
    assert pose == pytest.approx(np.r_[sensed(rig, "s/framepos"), sensed(rig, "s/framequat")], abs=1e-14)
    assert twist == pytest.approx(np.r_[sensed(rig, "s/velocimeter"), sensed(rig, "s/gyro")], abs=1e-12)
    arm = rig.engine.data.body("one/arm")
    assert pose[:3] == pytest.approx(arm.xpos + arm.xmat.reshape(3, 3) @ PLACE[:3])


def test_an_imu_without_noise_shows_the_acceleration_of_this_very_moment():
    rig = flying(type="imu")
    assert rig["one/s/angular_velocity"] == pytest.approx(sensed(rig, "s/gyro"), abs=1e-12)
    assert rig["one/s/linear_acceleration"] == pytest.approx(sensed(rig, "s/accelerometer"), rel=1e-9)


def test_an_imu_at_rest_shows_g_upwards_and_in_free_fall_nothing():
    sensor = {"s": {"type": "imu", "link": "box", "pose": [0, 0, 0, np.pi / 2, 0, 0]}}
    rest = Rig({"one": box(sensors=sensor, pose=[0, 0, 0.1, 0, 0, 0])}).seconds(1.0)
    assert rest["one/s/linear_acceleration"] == pytest.approx([0, G, 0], abs=0.01), "its y points up"
    fall = Rig({"one": box(sensors=sensor, pose=[0, 0, 9, 0, 0, 0])}).seconds(0.5)
    assert fall["one/s/linear_acceleration"] == pytest.approx([0, 0, 0], abs=1e-9)


def test_noise_of_an_imu_has_the_density_that_is_asked_for():
    """White noise of density n read at a rate f has the deviation n √f; a bias that walks by w gathers w √t."""
    quiet = {"type": "imu", "link": "box", "rate": 1000}
    sensors = {
        "white": {**quiet, "gyro_noise": 0.01, "accel_noise": 0.02},
        "walk": {**quiet, "gyro_bias_walk": 0.5, "accel_bias_walk": 2.0},
    }
    rig = Rig({"one": box(sensors=sensors, pose=[0, 0, 0, 0, 0, 0])}, FREE)
    rows = rig.steps(20_000, every=1)
    value = rig.engine.channels.value
    # Of 60000 numbers the deviation is known to 1/√(2·60000) = 0.3 %.
    assert value(rows, "one/white/angular_velocity").std() == pytest.approx(0.01 * np.sqrt(1000), rel=0.015)
    assert value(rows, "one/white/linear_acceleration").std() == pytest.approx(0.02 * np.sqrt(1000), rel=0.015)
    for channel, walk in (("angular_velocity", 0.5), ("linear_acceleration", 2.0)):
        drift = np.diff(value(rows, f"one/walk/{channel}"), axis=0)
        assert drift.std() == pytest.approx(walk * np.sqrt(1e-3), rel=0.015)
        assert abs(np.corrcoef(drift[:, 0], drift[:, 1])[0, 1]) < 0.03, "each axis by itself"


def test_a_magnetometer_turns_with_its_link():
    field = [1e-5, 2e-5, -4e-5]
    world = {**FREE, "earth": {"magnetic_field": field}}
    robot = box(sensors={"s": {"type": "magnetometer", "link": "box"}}, pose=[0, 0, 0, 0, 0, np.pi / 2])
    assert Rig({"one": robot}, world)["one/s/field"] == pytest.approx([2e-5, -1e-5, -4e-5], abs=1e-15)


def test_barometer_altimeter_and_gps_tell_the_height():
    kinds = {"baro": "barometer", "alti": "altimeter", "gps": "gps"}
    sensors = {name: {"type": kind, "link": "box", "rate": 100} for name, kind in kinds.items()}
    world = {**FREE, "earth": {"latitude": 45.0, "longitude": 7.0, "height": 500.0}}
    robot = box(sensors=sensors, pose=[300.0, 400.0, 100.0, 0, 0, 1.0], velocity=[1.0, 2.0, 3.0])
    rig = Rig({"one": robot}, world)
    # Standard atmosphere at 600 m.
    assert rig["one/baro/pressure"] == pytest.approx(101325.0 * (1 - 2.25577e-5 * 600.0) ** 5.25588, rel=1e-4)
    assert (rig["one/alti/height"], rig["one/alti/rate"]) == pytest.approx((100.0, 3.0))
    latitude, longitude, height = rig["one/gps/position"]
    assert height == pytest.approx(600.0, abs=0.1)
    # A degree of latitude is 111.13 km at 45°, of longitude 78.85 km.
    assert (latitude - 45.0) * 111_132 == pytest.approx(400.0, rel=2e-3)
    assert (longitude - 7.0) * 78_847 == pytest.approx(300.0, rel=2e-3)
    assert rig["one/gps/velocity"] == pytest.approx([1.0, 2.0, 3.0])


def test_a_range_finder_looks_along_its_x():
    wall = {"type": "box", "size": [1, 9, 9], "pose": [3.5, 0, 0, 0, 0, 0]}
    look = {"type": "range", "link": "box", "reach": 5.0}
    sensors = {
        "ahead": look,
        "back": {**look, "pose": [0, 0, 0, 0, 0, np.pi]},
        "down": {**look, "pose": [0, 0, 0, 0, np.pi / 2, 0]},
        "short": {**look, "reach": 2.0},
    }
    rig = Rig({"one": box(sensors=sensors, pose=[0, 0, 1.25, 0, 0, 0])}, {"obstacles": {"wall": wall}})
    shown = [float(rig[f"one/{name}/range"]) for name in sensors]
    assert shown == pytest.approx([3.0, 5.0, 1.25, 2.0])


def test_a_range_finder_never_shows_less_than_nothing_nor_more_than_its_reach():
    look = {
        "type": "range",
        "link": "box",
        "reach": 1.3,
        "noise": 2.0,
        "rate": 1000,
        "pose": [0, 0, 0, 0, np.pi / 2, 0],
    }
    rig = Rig({"one": box(sensors={"s": look}, base="fixed", pose=[0, 0, 1.0, 0, 0, 0])})
    shown = rig.engine.channels.value(rig.steps(500, every=1), "one/s/range")
    assert shown.min() == 0.0 and shown.max() == 1.3 and np.unique(shown).size > 100


def test_contact_shows_the_weight_and_nothing_in_the_air():
    sensor = {"s": {"type": "contact", "link": "box", "threshold": 1.0}}
    rest = Rig({"one": box(sensors=sensor, pose=[0, 0, 0.1, 0, 0, 0])}).seconds(2.0)
    assert rest["one/s/force"] == pytest.approx([0, 0, G], abs=0.02) and rest["one/s/touching"] == 1.0
    fall = Rig({"one": box(sensors=sensor, pose=[0, 0, 9, 0, 0, 0])}).seconds(0.5)
    assert not fall["one/s/force"].any() and fall["one/s/touching"] == 0.0


def test_contact_does_not_count_what_elements_do():
    sensors = {"s": {"type": "contact", "link": "rotor"}}
    rig = Rig({"one": limb(sensors=sensors, start_speed={"spin": 80.0})}, FREE).seconds(0.1)
    assert rig["one/prop/thrust"] > 0.5
    assert rig["one/s/force"] == pytest.approx([0, 0, 0], abs=1e-9) and rig["one/s/touching"] == 0.0


def test_between_two_readings_a_sensor_shows_the_last_one():
    sensors = {
        "slow": {"type": "altimeter", "link": "box", "rate": 20},
        "fast": {"type": "altimeter", "link": "box", "rate": 1000},
    }
    rig = Rig({"one": box(sensors=sensors, pose=[0, 0, 9, 0, 0, 0])})
    rows = rig.steps(200, every=1)
    slow, fast = (rig.engine.channels.value(rows, f"one/{name}/height") for name in sensors)
    assert np.flatnonzero(np.diff(slow)).tolist() == [48, 98, 148, 198], "steps 50, 100, 150 and 200"
    assert slow[49:99].tolist() == [fast[49]] * 50
    assert np.unique(fast).size == 200


def test_a_sensor_on_a_link_that_a_joint_moves():
    robot = {
        "links": {"frame": body(), "bob": body(0.5)},
        "joints": {
            "swing": {"type": "revolute", "parent": "frame", "child": "bob", "axis": [0, 1, 0], "range": [-2, 2]}
        },
        "actuators": {"swing": {"kind": "position"}},
        "sensors": {"tip": {"type": "pose", "link": "bob", "pose": [0, 0, -0.5, 0, 0, 0], "rate": 1000}},
        "base": "fixed",
    }
    rig = Rig({"one": robot}, FREE).command("one", {"swing/position": 0.7})
    rig.seconds(1.0)
    q = float(rig["one/swing/position"])
    assert q == pytest.approx(0.7, abs=1e-3)
    assert rig["one/tip/pose"][:3] == pytest.approx([-0.5 * np.sin(q), 0, -0.5 * np.cos(q)], abs=1e-12)
