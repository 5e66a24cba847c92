"""Sensors of multibody robots: what MuJoCo's true values become, with noise, drift and a rate of their own."""

from __future__ import annotations

from math import sqrt

import numpy as np

from botz.channels import Channel, ImuView, SensorView
from botz.kernels import compiled, record
from botz.physics.earth import place_on_earth, standard_pressure
from botz.scenario.multibody.sensors import (
    Altimeter,
    AnySensor,
    Barometer,
    ContactSensor,
    Gps,
    Imu,
    LinkSensor,
    Magnetometer,
    RangeFinder,
)
from botz.scenario.multibody.world import Earth

POSE, IMU, MAGNETOMETER, BAROMETER, GPS, ALTIMETER, RANGE, CONTACT = range(8)
MOST_READINGS = 13
XYZ = ("x", "y", "z")
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")

SENSOR = record(
    # what it is, every how many steps it reads, where MuJoCo has its true values, its body, its number of readings
    kind="i8", every="i8", source="i8", body="i8", readings="i8",
    # standard deviations of a reading, walks of its bias between two of them, other numbers
    noise=("f8", 6), walk=("f8", 6), numbers=("f8", 4),
    # state
    bias=("f8", 6), last=("f8", MOST_READINGS),
)  # fmt: skip

# Kind, MuJoCo's sensors whose values it is made of, readings, random numbers for each reading
PARTS = {
    LinkSensor: (POSE, ("framepos", "framequat", "velocimeter", "gyro"), 13, 0),
    Imu: (IMU, ("gyro", "accelerometer"), 6, 12),
    Magnetometer: (MAGNETOMETER, ("magnetometer",), 3, 3),
    Barometer: (BAROMETER, ("framepos",), 1, 2),
    Gps: (GPS, ("framepos", "framelinvel"), 6, 6),
    Altimeter: (ALTIMETER, ("framepos", "framelinvel"), 2, 1),
    RangeFinder: (RANGE, ("rangefinder",), 1, 1),
    ContactSensor: (CONTACT, (), 4, 0),
}


def record_of(sensor: AnySensor, every: int, earth: Earth) -> np.ndarray:
    """One SENSOR; where it reads in MuJoCo's data is filled in by who built the model."""
    found = np.zeros(1, SENSOR)
    one = found[0]
    one.kind, _, one.readings, _ = PARTS[type(sensor)]
    one.every = every
    period = 1.0 / sensor.rate
    match sensor:
        case Imu():
            # White noise of density n, averaged over a period T, has the deviation n/√T; a walk adds w √T each time.
            one.noise[:3] = sensor.gyro_noise / sqrt(period)
            one.noise[3:] = sensor.accel_noise / sqrt(period)
            one.walk[:3] = sensor.gyro_bias_walk * sqrt(period)
            one.walk[3:] = sensor.accel_bias_walk * sqrt(period)
        case Magnetometer():
            one.noise[:3] = sensor.noise
        case Barometer():
            one.noise[0] = sensor.noise
            one.walk[0] = sensor.drift * sqrt(period)
            one.numbers[0] = earth.height
        case Gps():
            one.noise[:3], one.noise[3:] = sensor.noise, sensor.velocity_noise
            one.numbers[:3] = earth.latitude, earth.longitude, earth.height
        case Altimeter():
            one.noise[0] = sensor.noise
        case RangeFinder():
            one.noise[0] = sensor.noise
            one.numbers[0] = sensor.reach
        case ContactSensor():
            one.numbers[0] = sensor.threshold
    return found


def channels_of(name: str, sensor: AnySensor) -> list[Channel]:
    """The channels of a sensor called `ROBOT/SENSOR`, in the order of its readings."""
    match sensor:
        case LinkSensor():
            quat = ("qw", "qx", "qy", "qz")
            return [
                Channel(f"{name}/pose", "m, m, m, 1, 1, 1, 1", "of the sensor's frame in the world", (*XYZ, *quat)),
                Channel(f"{name}/twist", "m/s, m/s, m/s, rad/s, rad/s, rad/s", "in the sensor's axes", TWIST),
            ]
        case Imu():
            return [
                Channel(f"{name}/angular_velocity", "rad/s", "measured, in the sensor's axes", XYZ),
                Channel(f"{name}/linear_acceleration", "m/s²", "measured, against free fall", XYZ),
            ]
        case Magnetometer():
            return [Channel(f"{name}/field", "T", "measured, in the sensor's axes", XYZ)]
        case Barometer():
            return [Channel(f"{name}/pressure", "Pa", "measured")]
        case Gps():
            return [
                Channel(f"{name}/position", "deg, deg, m", "measured", ("latitude", "longitude", "height")),
                Channel(f"{name}/velocity", "m/s", "measured", ("east", "north", "up")),
            ]
        case Altimeter():
            return [
                Channel(f"{name}/height", "m", "measured, above the world's origin"),
                Channel(f"{name}/rate", "m/s", "of that height"),
            ]
        case RangeFinder():
            return [Channel(f"{name}/range", "m", "measured; the sensor's reach where nothing is nearer")]
        case ContactSensor():
            return [
                Channel(f"{name}/force", "N", "of everything that touches the link, in the world's axes", XYZ),
                Channel(f"{name}/touching", "1", "1 while the force is above the threshold, else 0"),
            ]


def views_of(robot: str, name: str, sensor: AnySensor) -> list[ImuView | SensorView]:
    part = f"{robot}/{name}"
    frame = f"{part}/sensor"
    match sensor:
        case Imu():
            return [ImuView(robot, name, None, f"{part}/angular_velocity", f"{part}/linear_acceleration", frame)]
        case Gps():
            return [SensorView(robot, name, "NavSatFix", f"{part}/position", frame)]
        case Magnetometer():
            return [SensorView(robot, name, "MagneticField", f"{part}/field", frame)]
        case Barometer():
            return [SensorView(robot, name, "FluidPressure", f"{part}/pressure", frame)]
        case _:
            return []


@compiled
def noisy(sensor, index, true, noise, used):
    """A true value with the sensor's bias and one random number."""
    return true + sensor.bias[index] + sensor.noise[index] * noise[used + index]


@compiled
def walk_bias(sensor, count, noise, used):
    for k in range(count):
        sensor.bias[k] += sensor.walk[k] * noise[used + k]


@compiled
def read_sensors(sensors, physics, now, noise, used):  # -> how many random numbers are used
    """The sensors that are due at step `now` take a reading of MuJoCo's values."""
    for s in range(sensors.shape[0]):
        one = sensors[s]
        if now % one.every != 0:
            continue
        true, last = physics.sensordata[one.source :], one.last
        if one.kind == POSE:
            for k in range(13):
                last[k] = true[k]
        elif one.kind == IMU:
            walk_bias(one, 6, noise, used + 6)
            for k in range(6):
                last[k] = noisy(one, k, true[k], noise, used)
            used += 12
        elif one.kind == MAGNETOMETER:
            for k in range(3):
                last[k] = noisy(one, k, true[k], noise, used)
            used += 3
        elif one.kind == BAROMETER:
            walk_bias(one, 1, noise, used + 1)
            last[0] = noisy(one, 0, standard_pressure(one.numbers[0] + true[2]), noise, used)
            used += 2
        elif one.kind == GPS:
            east, north, up = (
                true[0] + one.noise[0] * noise[used],
                true[1] + one.noise[1] * noise[used + 1],
                true[2] + one.noise[2] * noise[used + 2],
            )
            last[0], last[1], last[2] = place_on_earth(one.numbers[0], one.numbers[1], one.numbers[2], east, north, up)
            for k in range(3, 6):
                last[k] = noisy(one, k, true[k], noise, used)
            used += 6
        elif one.kind == ALTIMETER:
            last[0] = noisy(one, 0, true[2], noise, used)
            last[1] = true[5]
            used += 1
        elif one.kind == RANGE:
            # MuJoCo shows −1 where its ray meets nothing.
            reach = one.numbers[0]
            distance = reach if true[0] < 0.0 else true[0]
            last[0] = min(max(noisy(one, 0, distance, noise, used), 0.0), reach) if distance < reach else reach
            used += 1
        elif one.kind == CONTACT:
            size = 0.0
            for k in range(3):
                # All that acts on the link from outside, less what the elements do.
                last[k] = physics.outer_force[one.body, 3 + k] - physics.body_force[one.body, k]
                size += last[k] * last[k]
            last[3] = 1.0 if sqrt(size) > one.numbers[0] + 1e-9 else 0.0
    return used
