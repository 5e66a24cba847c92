"""Sensors against what they should show: closed forms without noise, and statistics with it."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, radians, sin, sqrt

import numpy as np

from botz.verify.checks import EPS, Check, close, same, worst
from botz.verify.multibody.rig import GRAVITY, WEIGHTLESS, Data, attitude, lophorina, one_body, run_of

FIELD = [0.5e-5, 2.1e-5, -3.9e-5]


def held(sensor: Data) -> Data:
    """A body that is part of the world, with one sensor `s`."""
    return {**one_body(sensors={"s": {"link": "body", **sensor}}), "base": "fixed"}


def placed(rng: np.random.Generator) -> list[float]:
    return [float(one) for one in (*rng.uniform(-2.0, 2.0, 2), rng.uniform(3.0, 5.0), *rng.uniform(-1.2, 1.2, 3))]


def inertial_sensor(samples: int) -> Iterator[Check]:
    """At rest an accelerometer shows −g in its own axes, so +g upwards; a turning body shows its rates, and R ω² at a
    lever; in free fall nothing."""
    rng = np.random.default_rng(63)
    wrong = []
    for _ in range(max(min(samples, 1000) // 30, 3)):
        pose, own = placed(rng), [float(one) for one in rng.uniform(-1.0, 1.0, 3)]
        run = run_of(held({"type": "imu", "pose": [0.1, 0.2, 0.3, *own]}), pose=pose)
        turned = attitude(*pose[3:]) @ attitude(*own)
        wrong += list(run.of("s/linear_acceleration") - turned.T @ [0.0, 0.0, GRAVITY])
        wrong += list(run.of("s/angular_velocity"))
    why = "Products of two rotations on 9.81."
    yield worst("IMU at rest: +g, in its axes [m/s², rad/s]", wrong, 100 * EPS * GRAVITY, why)
    ball = one_body(1.0, [0.01, 0.01, 0.01], sensors={"s": {"type": "imu", "link": "body", "pose": {"x": 0.5}}})
    run = run_of(ball, angular_velocity=[0.0, 0.0, 4.0], velocity=[1.0, 2.0, 3.0])
    found = run.of("s/linear_acceleration")
    why = "Falling it feels nothing but −ω² r at its lever."
    yield worst("IMU in free fall: −ω² r at its lever [m/s²]", found - [-8.0, 0.0, 0.0], 1e-12, why)
    yield worst("IMU in free fall: rates [rad/s]", run.of("s/angular_velocity") - [0.0, 0.0, 4.0], 4 * EPS, why)


def other_sensors(samples: int) -> Iterator[Check]:
    """A magnetometer shows Rᵀ B; a barometer p₀ (1 − L h/T₀)^(g/RL); GPS metres by the radii of the ellipsoid; an
    altimeter z; the pose sensor what is true."""
    del samples
    rng = np.random.default_rng(64)
    earth = {"latitude": -23.5, "longitude": -46.6, "height": 760.0, "magnetic_field": FIELD}
    sensors: Data = {
        "magnet": {"type": "magnetometer"}, "baro": {"type": "barometer"}, "gps": {"type": "gps"},
        "alti": {"type": "altimeter"}, "true": {"type": "pose"},
    }  # fmt: skip
    pose = placed(rng)
    body = one_body(sensors={name: {"link": "body", **one} for name, one in sensors.items()})
    velocity = [3.0, -1.0, 0.5]
    run = run_of(body, pose=pose, world={**WEIGHTLESS, "earth": earth}, velocity=velocity)
    turned, height = attitude(*pose[3:]), 760.0 + pose[2]
    why = "A rotation of 4.4e-5 T."
    yield worst(
        "magnetometer: the field in its axes [T]", run.of("magnet/field") - turned.T @ FIELD, 20 * EPS * 5e-5, why
    )
    # ISO 2533, by its integral: p = p₀ exp(−∫ g/(R T) dh) with T = 288.15 − 0.0065 h, by Simpson's rule.
    h = np.linspace(0.0, height, 2001)
    f = 9.80665 / (287.05287 * (288.15 - 0.0065 * h))
    integral = float((f[0] + f[-1] + 4.0 * f[1::2].sum() + 2.0 * f[2:-1:2].sum()) * (h[1] - h[0]) / 3.0)
    why = "Simpson's rule in 1000 parts on a function that hardly bends: roundings of 101,325 Pa."
    yield close(
        "barometer: the standard atmosphere [Pa]", 101325.0 * np.exp(-integral), run.of("baro/pressure"), 1e-8, why
    )
    yield close(
        "barometer: at 11 km, by the tables [Pa]", 22632.0, at_height(11000.0), 0.5, "Of printed tables' digits."
    )
    # Places on WGS 84 by its Cartesian coordinates: the step east and north is that of the metres.
    here, there = cartesian(-23.5, -46.6, 760.0), cartesian(*run.of("gps/position"))
    east = np.array([-sin(radians(-46.6)), cos(radians(-46.6)), 0.0])
    up = np.array(
        [cos(radians(-23.5)) * cos(radians(-46.6)), cos(radians(-23.5)) * sin(radians(-46.6)), sin(radians(-23.5))]
    )
    north = np.cross(up, east)
    found = np.array([(there - here) @ axis for axis in (east, north, up)])
    # Of second order: d²/R of 5 m on 6.4e6 m, 4e-6 m; roundings of 6.4e6 m.
    why = "Distances on the ellipsoid's tangent: d²/R = 4e-6 m, and roundings of the earth's radius."
    yield worst("GPS: metres east, north and up [m]", found - pose[:3], 1e-5, why)
    yield worst("GPS: velocity [m/s]", run.of("gps/velocity") - velocity, 20 * EPS * 3.0, "As it is.")
    yield close("altimeter: height [m]", pose[2], run.of("alti/height"), 4 * EPS * 5.0, "As it is.")
    yield close("altimeter: rate [m/s]", 0.5, run.of("alti/rate"), 20 * EPS, "As it is.")
    yield worst("pose sensor: place [m]", run.of("true/pose")[:3] - pose[:3], 4 * EPS * 5.0, "As it is.")
    yield worst(
        "pose sensor: velocity in its axes [m/s]",
        run.of("true/twist")[:3] - turned.T @ velocity,
        50 * EPS * 3.0,
        "A rotation.",
    )
    yield worst(
        "root link: velocity in its axes [m/s]",
        run.of("twist")[:3] - turned.T @ velocity,
        50 * EPS * 3.0,
        "A rotation.",
    )
    yield worst("root link: attitude as angles [rad]", run.of("attitude") - pose[3:], 50 * EPS, "There and back.")


def at_height(height: float) -> float:
    run = run_of(held({"type": "barometer"}), pose={"z": height})
    return float(run.of("s/pressure"))


def cartesian(latitude: float, longitude: float, height: float) -> np.ndarray:
    """Of a place on WGS 84 [m]."""
    a, flat = 6378137.0, 1.0 / 298.257223563
    e2 = flat * (2.0 - flat)
    lat, lon = radians(latitude), radians(longitude)
    n = a / sqrt(1.0 - e2 * sin(lat) ** 2)
    return np.array([
        (n + height) * cos(lat) * cos(lon), (n + height) * cos(lat) * sin(lon), (n * (1.0 - e2) + height) * sin(lat),
    ])  # fmt: skip


def range_finder(samples: int) -> Iterator[Check]:
    """Along its x: z/sin of the angle downwards to the ground, to a ball √(…) and to a box's face; its reach where
    nothing is."""
    del samples
    sensor = {"type": "range", "reach": 20.0}
    obstacles = {
        "ball": {"type": "sphere", "radius": 0.5, "pose": [6.0, 0.2, 2.0, 0.0, 0.0, 0.0]},
        "wall": {"type": "box", "size": [0.4, 4.0, 4.0], "pose": [-5.0, 0.0, 2.0, 0.0, 0.0, 0.0]},
    }
    wrong = []
    for down in (90.0, 60.0, 35.0):
        run = run_of(held(sensor), pose=[0.0, 0.0, 2.0, 0.0, radians(down), 0.0], world={"obstacles": {}})
        wrong.append(float(run.of("s/range")) - 2.0 / sin(radians(down)))
    why = "MuJoCo's ray on a plane: rounding of a few metres."
    yield worst("range finder: to the ground [m]", wrong, 1e-12, why)
    run = run_of(held(sensor), pose={"z": 2.0}, world={"obstacles": obstacles})
    why = "By Pythagoras: 6 − √(0.5² − 0.2²)."
    yield close("range finder: to a ball [m]", 6.0 - sqrt(0.25 - 0.04), run.of("s/range"), 1e-12, why)
    run = run_of(held(sensor), pose=[0.0, 0.0, 2.0, 0.0, 0.0, pi], world={"obstacles": obstacles})
    yield close("range finder: to a wall [m]", 4.8, run.of("s/range"), 1e-12, "Its near face.")
    run = run_of(held(sensor), pose=[0.0, 0.0, 2.0, 0.0, 0.0, 1.0], world={"obstacles": obstacles})
    yield close("range finder: its reach where nothing is [m]", 20.0, run.of("s/range"), 0.0, "By definition.")


def contact_sensor(samples: int) -> Iterator[Check]:
    """What stands is carried: the contact's force is the weight, upwards; in the air there is none."""
    del samples
    box = {"type": "box", "size": [0.4, 0.3, 0.2]}
    body = one_body(3.0, [0.03, 0.05, 0.06], sensors={"s": {"type": "contact", "link": "body", "threshold": 1.0}})
    body["links"]["body"]["shapes"] = [box]
    run = run_of(body, step=1e-3, pose={"z": 0.1}, world={"ground": True}).run(3.0)
    why = "At rest after 3 s; the solver ends at changes of 1e-8 of the whole's."
    force = run.of("s/force")
    yield worst("contact sensor: the weight of what stands [N]", force - [0.0, 0.0, 3.0 * GRAVITY], 1e-5, why)
    yield close("contact sensor: touches", 1.0, run.of("s/touching"), 0.0, "Above its threshold.")
    run = run_of(body, step=1e-3, pose={"z": 5.0}, world={"ground": True}).run(0.1)
    yield worst(
        "contact sensor: nothing in the air [N]", [*run.of("s/force"), run.of("s/touching")], 1e-9, "Free fall."
    )
    flying = lophorina(sensors={"feet": {"type": "contact", "link": "body"}})
    run = run_of(flying, pose={"z": 0.05}, world={"ground": True}).run(1.5)
    why = "Arms and propellers hang on the body: it carries all of them; servos and contacts have settled."
    yield worst(
        "contact sensor: Lophorina on its box [N]", run.of("feet/force") - [0.0, 0.0, 2.132 * GRAVITY], 1e-4, why
    )


def noise(samples: int) -> Iterator[Check]:
    """White noise of density n read at a rate f has the variance n² f; a bias that walks with density w grows by the
    variance w²/f from reading to reading, each apart from the others."""
    rate, step = 1000.0, 1e-3
    seconds = min(max(samples / 15.0, 2.0), 200.0)
    gyro, accel = 2e-3, 3e-2
    run = run_of(
        held({"type": "imu", "rate": rate, "gyro_noise": gyro, "accel_noise": accel}),
        step=step,
        world=WEIGHTLESS,
        seed=3,
    )
    rows = run.record(seconds)
    n = len(rows)
    spread = 5.0 * sqrt(2.0 / n)
    why = f"Chi-square of {n} readings: five standard deviations, √(2/n) each."
    for name, density in (("angular_velocity", gyro), ("linear_acceleration", accel)):
        values = run.of(f"s/{name}", rows)
        yield worst(
            f"IMU noise, {name.replace('_', ' ')}: variance by n² f, less 1",
            (values**2).mean(axis=0) / (density**2 * rate) - 1.0,
            spread,
            why,
        )
        alike = (values[1:] * values[:-1]).mean(axis=0) / (density**2 * rate)
        yield worst(
            f"IMU noise, {name.replace('_', ' ')}: readings are alike",
            alike,
            5.0 / sqrt(n),
            "Correlations of white noise: five times 1/√n.",
        )
    walk = {"type": "imu", "rate": rate, "gyro_bias_walk": 1e-3, "accel_bias_walk": 2e-2}
    run = run_of(held(walk), step=step, world=WEIGHTLESS, seed=4)
    rows = run.record(seconds)
    for name, density in (("angular_velocity", 1e-3), ("linear_acceleration", 2e-2)):
        values = run.of(f"s/{name}", rows)
        steps = np.diff(values, axis=0)
        yield worst(
            f"IMU bias, {name.replace('_', ' ')}: variance of a step by w²/f, less 1",
            (steps**2).mean(axis=0) / (density**2 / rate) - 1.0,
            spread,
            why,
        )
        apart = 100
        long = values[apart::apart] - values[:-apart:apart]
        yield worst(
            f"IMU bias, {name.replace('_', ' ')}: variance in 0.1 s by w² t, less 1",
            (long**2).mean(axis=0) / (density**2 * apart / rate) - 1.0,
            5.0 * sqrt(2.0 / len(long)),
            "Chi-square of steps that do not overlap.",
        )
    slow = run_of(held({"type": "imu", "rate": 50.0, "gyro_noise": gyro}), step=step, world=WEIGHTLESS, seed=5)
    values = slow.of("s/angular_velocity", slow.record(2.0))
    changes = int((np.diff(values[:, 0]) != 0.0).sum())
    yield same("IMU: new readings in 2 s at 50 Hz", "100", str(changes), "One at each 20th step.")


FUNCTIONS = (inertial_sensor, other_sensors, range_finder, contact_sensor, noise)
