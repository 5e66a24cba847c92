"""Sensors of multibody robots: what they measure, how often and how well.

Each kind is a class that names what reads it. The union of all kinds is in `schema.py`, so that the file of another
package may import `Sensor` while that union is made of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from botz.scenario.schema import StepRate, Strict
from botz.scenario.shapes import HERE
from botz.scenario.units import Metres, MetresPerSecond, Newtons, Pose, Quantity

Pascals = Annotated[float, Quantity("Pa")]
Tesla = Annotated[float, Quantity("T")]


class Sensor(Strict):
    """The common part of all sensors."""

    implementation: ClassVar[str] = ""
    """What `@sensor` makes of the function that reads it, as `module:name`."""
    docs: ClassVar[str] = "multibody.md#sensors"
    """Where it is described: `page.md#section` of these docs, or an address."""

    if TYPE_CHECKING:
        type: str  # that of each kind is its own name

    link: str
    """The link that it is fixed to."""
    pose: Pose = HERE
    """Of the sensor in the link's frame: x, y, z [m], roll, pitch, yaw [rad]."""
    rate: StepRate = Field(default=100.0, gt=0)
    """Readings per second; between them it shows the last one. The step must divide its period."""


class LinkSensor(Sensor):
    """True pose and twist of the sensor's frame, without noise."""

    implementation: ClassVar[str] = "botz.engines.multibody.sensors.position:pose"
    type: Literal["pose"]


class Imu(Sensor):
    """Gyroscope and accelerometer, in the sensor's axes. At rest the accelerometer shows +g upwards."""

    implementation: ClassVar[str] = "botz.engines.multibody.sensors.inertial:imu"
    type: Literal["imu"]
    gyro_noise: float = Field(default=0.0, ge=0)
    """Noise density of the gyroscope [rad/s/√Hz]."""
    gyro_bias_walk: float = Field(default=0.0, ge=0)
    """Random walk of its bias [rad/s²/√Hz]."""
    accel_noise: float = Field(default=0.0, ge=0)
    """Noise density of the accelerometer [m/s²/√Hz]."""
    accel_bias_walk: float = Field(default=0.0, ge=0)
    """Random walk of its bias [m/s³/√Hz]."""


class Magnetometer(Sensor):
    """The earth's magnetic field in the sensor's axes."""

    implementation: ClassVar[str] = "botz.engines.multibody.sensors.inertial:magnetometer"
    type: Literal["magnetometer"]
    noise: Tesla = Field(default=0.0, ge=0)
    """Standard deviation of a reading [T]."""


class Barometer(Sensor):
    """Pressure of the standard atmosphere at the sensor's height."""

    implementation: ClassVar[str] = "botz.engines.multibody.sensors.position:barometer"
    type: Literal["barometer"]
    noise: Pascals = Field(default=0.0, ge=0)
    """Standard deviation of a reading [Pa]."""
    drift: float = Field(default=0.0, ge=0)
    """Random walk of its zero: standard deviation after one second [Pa/√s]."""


class Gps(Sensor):
    """Latitude, longitude and height, and velocity east, north and up. The world's x points east, y north."""

    implementation: ClassVar[str] = "botz.engines.multibody.sensors.position:gps"
    type: Literal["gps"]
    rate: StepRate = Field(default=10.0, gt=0)
    """Readings per second; between them it shows the last one. The step must divide its period."""
    noise: Annotated[list[Metres], Field(min_length=3, max_length=3)] = Field(default=[0.0, 0.0, 0.0])
    """Standard deviations of a reading east, north and up [m]."""
    velocity_noise: Annotated[list[MetresPerSecond], Field(min_length=3, max_length=3)] = Field(default=[0.0, 0.0, 0.0])
    """Standard deviations of the velocity [m/s]."""


class Altimeter(Sensor):
    """Height above the world's origin, and its rate."""

    implementation: ClassVar[str] = "botz.engines.multibody.sensors.position:altimeter"
    type: Literal["altimeter"]
    noise: Metres = Field(default=0.0, ge=0)
    """Standard deviation of a reading [m]."""


class RangeFinder(Sensor):
    """Distance along the sensor's x to whatever is there."""

    implementation: ClassVar[str] = "botz.engines.multibody.sensors.proximity:range_finder"
    type: Literal["range"]
    reach: Metres = Field(default=10.0, gt=0)
    """Longest distance; it shows this where nothing is nearer [m]."""
    noise: Metres = Field(default=0.0, ge=0)
    """Standard deviation of a reading [m]."""


class ContactSensor(Sensor):
    """Force with which the link is touched, in the world's axes, and whether it is."""

    implementation: ClassVar[str] = "botz.engines.multibody.sensors.proximity:contact"
    type: Literal["contact"]
    threshold: Newtons = Field(default=0.0, ge=0)
    """Least force that counts as touch [N]."""


SENSORS = (LinkSensor, Imu, Magnetometer, Barometer, Gps, Altimeter, RangeFinder, ContactSensor)
"""All that are built in."""
