"""Sensors that feel motion and the earth's field: inertial units and magnetometers."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from botz.channels import Channel
from botz.engines.multibody.sensing import XYZ, noisy, sensor
from botz.scenario.multibody.sensors import Imu
from botz.scenario.multibody.world import MultibodyWorld


def imu_numbers(spec: Imu, period: float, world: MultibodyWorld) -> Mapping[str, float]:
    """White noise of density n, averaged over a period T, has the deviation n/√T; a walk adds w √T each time."""
    return {
        "gyro_noise": spec.gyro_noise / sqrt(period),
        "accel_noise": spec.accel_noise / sqrt(period),
        "gyro_walk": spec.gyro_bias_walk * sqrt(period),
        "accel_walk": spec.accel_bias_walk * sqrt(period),
    }


@sensor(
    Channel("angular_velocity", "rad/s", "measured, in the sensor's axes", XYZ),
    Channel("linear_acceleration", "m/s²", "measured, against free fall", XYZ),
    true=("gyro", "accelerometer"),
    random=12,
    numbers=imu_numbers,
    message="Imu",
)
def imu(p, s):
    for k in range(3):
        s.bias[k] += p.gyro_walk * s.random[6 + k]
        s.bias[3 + k] += p.accel_walk * s.random[9 + k]
        s.angular_velocity[k] = noisy(s.gyro[k], p.gyro_noise, s.random[k], s.bias[k])
        s.linear_acceleration[k] = noisy(s.accelerometer[k], p.accel_noise, s.random[3 + k], s.bias[3 + k])


@sensor(
    Channel("field", "T", "measured, in the sensor's axes", XYZ),
    true=("magnetometer",),
    random=3,
    message="MagneticField",
)
def magnetometer(p, s):
    for k in range(3):
        s.field[k] = noisy(s.magnetometer[k], p.noise, s.random[k])
