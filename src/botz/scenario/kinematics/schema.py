"""Wheeled robots as lists of wheels: the robot and scenario schema of the engine `kinematics`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from botz.scenario.links import RunLinks, with_endpoints
from botz.scenario.misfits import Misfits, Path
from botz.scenario.names import closest
from botz.scenario.schema import (
    Controller,
    GoToPoseController,
    Name,
    ScenarioBase,
    StepRate,
    Strict,
    TimeSettings,
    TrajectoryController,
    WaypointsController,
    controllers_of,
)
from botz.scenario.units import Metres, Number, PlanarPose, Radians, RadiansPerSecond

Vector2 = Annotated[list[Metres], Field(min_length=2, max_length=2)]


class Encoder(Strict):
    """Counts ticks of a wheel's rotation."""

    ticks: int = Field(default=1024, ge=1, le=10**9)
    """Ticks per revolution."""
    noise: Radians = Field(default=0.0, ge=0)
    """Standard deviation of the angle at each reading [rad]."""


class Slip(Strict):
    """How much of a driven wheel's rolling is lost: ground speed = (1 − slip) · radius · speed."""

    mean: Number = Field(default=0.0, ge=-0.99, le=0.99)
    """Part of the rolling that is lost: 0.05 or "5 %"."""
    noise: Number = Field(default=0.0, ge=0, lt=1)
    """Standard deviation about the mean, drawn anew at every encoder reading."""


class WheelBase(Strict):
    position: Vector2
    """Where the wheel (for a castor: its pivot) is attached, x forward and y left of the robot's origin [m]."""
    radius: Metres = Field(default=0.05, gt=0)
    """Radius of the wheel [m]."""
    width: Metres = Field(default=0.02, gt=0)
    """For drawings only."""
    encoder: Encoder = Encoder()
    """Encoder of its rotation."""
    slip: Slip = Slip()
    """How much of its rolling is lost."""


class FixedWheel(WheelBase):
    """A standard wheel whose axle is fixed to the body."""

    type: Literal["fixed"]
    heading: Radians = 0.0
    """Direction in which it rolls forward, from the robot's x axis [rad]."""
    driven: bool = False
    """Whether a motor turns it: command `speed`."""


class SteeredWheel(WheelBase):
    """A standard wheel that turns about a vertical axis through its contact point."""

    type: Literal["steered"]
    heading: Radians = 0.0
    """Rolling direction at steering angle zero [rad]."""
    driven: bool = False
    """Whether a motor turns it: command `speed`."""
    limit: Radians = Field(default=math.pi / 2, gt=0, le=math.pi)
    """Largest steering angle to either side; a steering group has its own [rad]."""
    endless: bool = False
    """The wheel turns round and round; `limit` does not count."""
    rate: RadiansPerSecond | None = Field(default=None, gt=0)
    """Largest steering rate; null: it follows at once [rad/s]."""


class CastorWheel(WheelBase):
    """A wheel on a pivot beside its contact point."""

    type: Literal["castor"]
    heading: Radians = 0.0
    """Rolling direction at the start [rad]."""
    offset: Metres
    """From the pivot to the contact point along the rolling direction; negative trails behind [m]."""
    driven: bool = False
    """Rolling and pivot are both motors: commands `speed` and `steering_rate`. Otherwise it follows freely."""

    @model_validator(mode="after")
    def _offset_not_zero(self) -> CastorWheel:
        if self.offset == 0:
            raise Misfits([(("offset",), "0 puts the contact under the pivot; use type: steered")])
        return self


class SwedishWheel(WheelBase):
    """A wheel with rollers on its rim (omnidirectional, mecanum)."""

    type: Literal["swedish"]
    heading: Radians = 0.0
    """Direction in which it rolls forward, from the robot's x axis [rad]."""
    roller_angle: Radians = Field(default=0.0, gt=-math.pi / 2, lt=math.pi / 2)
    """From the wheel's plane to the rollers' axis at the contact: 0 for an omni wheel, ±45° for mecanum [rad]."""
    roller_radius: Metres = Field(default=0.01, gt=0)
    """Radius of the rollers [m]."""
    driven: bool = False
    """Whether a motor turns it: command `speed`."""


class SphericalWheel(WheelBase):
    """A ball. Driven, it has two motors: commands `speed` (along its heading) and `side_speed`."""

    type: Literal["spherical"]
    heading: Radians = 0.0
    """Direction of `speed`, from the robot's x axis [rad]."""
    driven: bool = False
    """Two motors turn it; otherwise it follows freely."""


class Support(WheelBase):
    """A point that slides on the ground without friction."""

    type: Literal["support"]


Wheel = Annotated[
    FixedWheel | SteeredWheel | CastorWheel | SwedishWheel | SphericalWheel | Support, Field(discriminator="type")
]


class Drive(Strict):
    """One motor for several wheels."""

    wheels: list[Name] = Field(min_length=1)
    """Names of the wheels that it turns."""
    coupling: Literal["common", "differential"] = "common"
    """common: all turn alike (chain, belt); differential: their mean turns with the motor."""


class Steering(Strict):
    """One steering input for several wheels."""

    wheels: list[Name] = Field(min_length=1)
    """Names of the wheels that it steers."""
    coupling: Literal["parallel", "ackermann"] = "parallel"
    """parallel: the same angle; ackermann: all axles meet on the axle of the fixed wheels. The input is then the
    angle of a wheel in the middle of the group."""
    limit: Radians = Field(default=math.pi / 2, gt=0, le=math.pi)
    """Largest angle to either side [rad]."""
    endless: bool = False
    """The wheels turn round and round; `limit` does not count."""
    rate: RadiansPerSecond | None = Field(default=None, gt=0)
    """Largest steering rate; null: it follows at once [rad/s]."""


class Body(Strict):
    """Outline for drawings: a rectangle about the origin, or a polygon."""

    length: Metres = Field(default=0.4, gt=0)
    """Length along x [m]."""
    width: Metres = Field(default=0.3, gt=0)
    """Width along y [m]."""
    center: Vector2 = Field(default=[0.0, 0.0])
    """Middle of the rectangle [m]."""
    outline: list[Vector2] | None = Field(default=None, min_length=3)
    """Corners [x, y] of a polygon instead [m]."""


class WheeledRobot(Strict):
    """A robot file of engine `kinematics`."""

    engine: Literal["kinematics"] = "kinematics"
    """The engine that it is made for."""
    description: str = ""
    """What it is, for people."""
    source: str = ""
    """Where its configuration and numbers come from."""
    wheels: dict[Name, Wheel] = Field(min_length=1, max_length=64)
    """The wheels by name."""
    drives: dict[Name, Drive] = Field(default={})
    """Motors that turn several wheels."""
    steering: dict[Name, Steering] = Field(default={})
    """Steering inputs that turn several wheels."""
    body: Body = Body()
    """Outline for drawings."""

    @model_validator(mode="after")
    def _groups_name_wheels(self) -> WheeledRobot:
        found = [*self._misfits("drives", self.drives), *self._misfits("steering", self.steering)]
        for name in sorted(set(self.drives) & set(self.steering)):
            found.append((("steering", name), "a group of 'drives' has this name already; choose another"))
        if found:
            raise Misfits(found)
        return self

    def _misfits(self, kind: str, groups: Mapping[str, Drive | Steering]) -> Iterator[tuple[Path, str]]:
        taken: dict[str, str] = {}
        for group_name, group in groups.items():
            if group_name in self.wheels:
                yield (kind, group_name), "a wheel has this name already; choose another"
            for index, name in enumerate(group.wheels):
                place = (kind, group_name, "wheels", index)
                wheel = self.wheels.get(name)
                if wheel is None:
                    yield place, f"no wheel {name!r}{closest(name, self.wheels)}"
                elif name in taken:
                    where = "twice here" if taken[name] == group_name else f"in {kind}.{taken[name]} already"
                    yield place, f"wheel {name!r} is {where}"
                elif kind == "drives" and not (isinstance(wheel, FixedWheel | SteeredWheel) and wheel.driven):
                    yield place, f"{name!r} must be a fixed or steered wheel with driven: true"
                elif kind == "steering" and not isinstance(wheel, SteeredWheel):
                    yield place, f"wheel {name!r} is {wheel.type}, not steered"
                taken.setdefault(name, group_name)


class PlacedWheeledRobot(WheeledRobot):
    """A robot in a scenario: a robot file by `extends`, changed where the scenario says so, and put somewhere."""

    pose: PlanarPose = (0.0, 0.0, 0.0)
    """x, y [m] and heading [rad] at the start."""
    odometry_rate: StepRate = Field(default=100.0, gt=0)
    """Encoder readings per second; the step must divide the period."""


class KinematicsTime(TimeSettings):
    method: Literal["arc", "rk4"] = "arc"
    """arc: exact circular arcs, the steering taken in the middle of the step; rk4: Runge-Kutta of fourth order."""


class KinematicsWorld(Strict):
    """The plane. Its size is for drawings; the robots do not meet each other."""

    size: Vector2 = Field(default=[10.0, 10.0])
    """Length along x and y, about the origin [m]."""


KinematicsController = Annotated[
    Controller, controllers_of("kinematics", GoToPoseController, WaypointsController, TrajectoryController)
]


@with_endpoints("kinematics")
class KinematicsLinks(RunLinks):
    """What `botz run --serve` opens; null leaves it out."""


class KinematicsScenario(ScenarioBase):
    """Wheeled robots rolling without dynamics."""

    engine: Literal["kinematics"]
    """What moves the robots."""
    time: KinematicsTime = KinematicsTime()
    """How time passes."""
    world: KinematicsWorld = KinematicsWorld()
    """The plane."""
    robots: dict[Name, PlacedWheeledRobot] = Field(min_length=1)
    """The robots by name: each with `extends` and changes, or with all of its wheels."""
    controllers: dict[Name, KinematicsController] = Field(default={})
    """What drives the robots, by name."""
    links: KinematicsLinks = KinematicsLinks()
    """How viewers reach the run, with `botz run --serve`."""
