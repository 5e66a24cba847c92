"""A sensor of another package, all in one file: its keys, and the function that reads it."""

from __future__ import annotations

from math import atan2, pi, sqrt
from typing import ClassVar, Literal

from pydantic import Field

from botz import sensor
from botz.channels import Channel
from botz.scenario.multibody.sensors import Sensor
from botz.scenario.units import Radians


class Compass(Sensor):
    """Heading of the sensor's x, clockwise from north, and the part of the earth's field that is level."""

    implementation: ClassVar[str] = "botz_extras.compass:compass"
    type: Literal["compass"]
    declination: Radians = Field(default=0.0, ge=-pi, le=pi)
    """By how much the needle points east of north [rad]."""
    noise: Radians = Field(default=0.0, ge=0)
    """Standard deviation of a reading [rad]."""


@sensor(
    Channel("heading", "rad", "measured, clockwise from north"),
    Channel("field", "T", "level part, in the sensor's axes", ("x", "y")),
    true=("magnetometer", "framexaxis"),
    random=1,
)
def compass(p, s):
    east, north = s.framexaxis[0], s.framexaxis[1]
    if sqrt(east * east + north * north) < 1e-6:
        raise ValueError("points straight up or down")
    s.heading = atan2(east, north) - p.declination + p.noise * s.random[0]
    s.field[0], s.field[1] = s.magnetometer[0], s.magnetometer[1]
