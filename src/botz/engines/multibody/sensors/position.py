"""Sensors that tell where they are: the true pose, satellite navigation, heights and air pressure."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

from botz.channels import Channel
from botz.engines.multibody.sensing import XYZ, noisy, sensor
from botz.physics.earth import place_on_earth, standard_pressure
from botz.scenario.multibody.sensors import Barometer, Gps
from botz.scenario.multibody.world import MultibodyWorld


@sensor(
    Channel("pose", "m, m, m, 1, 1, 1, 1", "of the sensor's frame in the world", (*XYZ, "qw", "qx", "qy", "qz")),
    Channel(
        "twist", "m/s, m/s, m/s, rad/s, rad/s, rad/s", "in the sensor's axes", ("vx", "vy", "vz", "wx", "wy", "wz")
    ),
    true=("framepos", "framequat", "velocimeter", "gyro"),
)
def pose(p, s):
    for k in range(3):
        s.pose[k], s.twist[k], s.twist[3 + k] = s.framepos[k], s.velocimeter[k], s.gyro[k]
    for k in range(4):
        s.pose[3 + k] = s.framequat[k]


def barometer_numbers(spec: Barometer, period: float, world: MultibodyWorld) -> Mapping[str, float]:
    return {"noise": spec.noise, "walk": spec.drift * sqrt(period), "origin": world.earth.height}


@sensor(
    Channel("pressure", "Pa", "measured"),
    true=("framepos",),
    random=2,
    numbers=barometer_numbers,
    message="FluidPressure",
)
def barometer(p, s):
    s.bias[0] += p.walk * s.random[1]
    s.pressure = noisy(standard_pressure(p.origin + s.framepos[2]), p.noise, s.random[0], s.bias[0])


def gps_numbers(spec: Gps, period: float, world: MultibodyWorld) -> Mapping[str, Any]:
    earth = world.earth
    origin = earth.latitude, earth.longitude, earth.height
    return {"noise": spec.noise, "velocity_noise": spec.velocity_noise, "origin": origin}


@sensor(
    Channel("position", "deg, deg, m", "measured", ("latitude", "longitude", "height")),
    Channel("velocity", "m/s", "measured", ("east", "north", "up")),
    true=("framepos", "framelinvel"),
    random=6,
    numbers=gps_numbers,
    message="NavSatFix",
)
def gps(p, s):
    east = s.framepos[0] + p.noise[0] * s.random[0]
    north = s.framepos[1] + p.noise[1] * s.random[1]
    up = s.framepos[2] + p.noise[2] * s.random[2]
    place = place_on_earth(p.origin[0], p.origin[1], p.origin[2], east, north, up)
    s.position[0], s.position[1], s.position[2] = place
    for k in range(3):
        s.velocity[k] = noisy(s.framelinvel[k], p.velocity_noise[k], s.random[3 + k])


@sensor(
    Channel("height", "m", "measured, above the world's origin"),
    Channel("rate", "m/s", "of that height"),
    true=("framepos", "framelinvel"),
    random=1,
)
def altimeter(p, s):
    s.height, s.rate = noisy(s.framepos[2], p.noise, s.random[0]), s.framelinvel[2]
