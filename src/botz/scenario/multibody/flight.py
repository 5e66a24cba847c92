"""What flies multibody robots: the source's hover, quadrotors, tilting quadrotors and fixed wings."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from botz.scenario.misfits import Misfits, Path
from botz.scenario.schema import LONGEST, Controller, StepRate, Strict, controllers_of
from botz.scenario.units import Metres, MetresPerSecond, Number, Quantity, Radians, RadiansPerSecond, Seconds
from botz.scenario.written import Written

JointNumber = Annotated[float, Quantity(None)]


class PidGains(Strict):
    proportional: float = Field(ge=0)
    """Per error."""
    integral: float = Field(default=0.0, ge=0)
    """Per error and second."""
    derivative: float = Field(default=0.0, ge=0)
    """Per rate of the error."""


class Manoeuvre(Written):
    """Something that begins at a time and lasts until the end, or until `until`."""

    by_name: ClassVar[tuple[str, ...]] = ("set",)

    at: Seconds = Field(ge=0, le=LONGEST)
    """When it begins [s]."""
    until: Seconds | None = Field(default=None, gt=0, le=LONGEST)
    """When it ends; null: never [s]."""
    height: Metres | None = None
    """Height to go to; it stays when the manoeuvre ends [m]."""
    land: bool = False
    """Sink at `sink_rate` and stop the rotors on the ground."""
    add: dict[str, RadiansPerSecond] = Field(default={})
    """By propeller element: speed in its own sense, added to what the controller commands: `rotor_front_left: 100`."""
    set: dict[str, JointNumber] = Field(default={})
    """Commands by local name in place of the controller's: `tilt_front_left/position: 5 deg`."""

    @model_validator(mode="after")
    def _ends_later(self) -> Manoeuvre:
        found: list[tuple[Path, str]] = []
        if self.until is not None and self.until <= self.at:
            found.append((("until",), f"{self.until:g} s is not after its begin at {self.at:g} s"))
        if self.land and self.height is not None:
            found.append((("height",), "cannot be gone to while landing; give 'height' or 'land'"))
        if not self.land and self.height is None and not self.add and not self.set:
            found.append(((), "does nothing; give 'height', 'land', 'add' or 'set'"))
        if found:
            raise Misfits(found)
        return self


class HoverController(Controller):
    """The source's control: one PID for the height gives all propellers the same speed; nothing holds the attitude."""

    implementation: ClassVar[str] = "botz.control.flight.hover:Hover"
    type: Literal["hover"]
    height: Metres = 1.0
    """Height of the root link at the start of the flight [m]."""
    gains: PidGains | None = None
    """Speed of the propellers by the error of the height [rad/s per m]; null: from mass and thrust, critically
    damped with `frequency`."""
    frequency: RadiansPerSecond = Field(default=2.0, gt=0, le=100)
    """Natural frequency of the height's error where `gains` are not given [rad/s]."""
    climb_rate: MetresPerSecond = Field(default=0.5, gt=0)
    """Of the way to another height [m/s]."""
    sink_rate: MetresPerSecond = Field(default=0.3, gt=0)
    """Of a landing [m/s]."""
    manoeuvres: list[Manoeuvre] = Field(default=[], max_length=1000)
    """What is done besides, in time."""


class Setpoint(Strict):
    """Where to be from a time on. What is not given stays as it was. Yaw goes the short way round."""

    at: Seconds = Field(ge=0, le=LONGEST)
    """When it begins to hold [s]."""
    x: Metres | None = None
    y: Metres | None = None
    z: Metres | None = None
    """Position of the root link in the world [m]."""
    roll: Radians | None = None
    pitch: Radians | None = None
    yaw: Radians | None = None
    """Attitude [rad]: of a quadrotor yaw only; of a tilting quadrotor pitch and yaw, and roll where y is left free."""


class AxisGains(Strict):
    """Natural frequencies and damping ratios of the errors' decay; gains follow from mass and inertia."""

    position: RadiansPerSecond = Field(default=1.5, gt=0, le=100)
    """Of x and y [rad/s]."""
    height: RadiansPerSecond = Field(default=2.5, gt=0, le=100)
    """Of z [rad/s]."""
    attitude: RadiansPerSecond = Field(default=8.0, gt=0, le=1000)
    """Of roll and pitch [rad/s]."""
    heading: RadiansPerSecond = Field(default=3.0, gt=0, le=1000)
    """Of yaw [rad/s]."""
    damping_ratio: Number = Field(default=1.0, gt=0, le=10)
    """Of all of them."""


class FlightLimits(Strict):
    speed: MetresPerSecond = Field(default=2.0, gt=0)
    """Along x, y and z on the way to a setpoint [m/s]."""
    acceleration: Annotated[float, Quantity("m/s^2")] = Field(default=1.0, gt=0)
    """On the way to a setpoint [m/s²]."""
    lean: Radians = Field(default=0.4, gt=0, le=1.2)
    """Largest roll and pitch that it takes to accelerate [rad]."""
    turn_rate: RadiansPerSecond = Field(default=1.0, gt=0)
    """Of yaw on the way to a setpoint [rad/s]."""


class SetpointController(Controller):
    hands: ClassVar[Literal["", "flight", "plane"]] = "flight"

    rate: StepRate = Field(default=250.0, gt=0)
    """Calls per second; the step must divide its period."""
    setpoints: list[Setpoint] = Field(min_length=1, max_length=100000)
    """Where to be, in time; before the first one it stays where it is."""
    gains: AxisGains = AxisGains()
    """How fast errors decay."""
    limits: FlightLimits = FlightLimits()
    """How fast it may go."""

    def places(self) -> list[tuple[float, float]]:
        return [(one.x or 0.0, one.y or 0.0) for one in self.setpoints]


class MulticopterController(SetpointController):
    """Position, height and heading of a multicopter with any number of fixed rotors; it leans to accelerate."""

    implementation: ClassVar[str] = "botz.control.flight.multicopter:Multicopter"
    type: Literal["multicopter"]

    @model_validator(mode="after")
    def _leans_by_itself(self) -> MulticopterController:
        found: list[tuple[Path, str]] = [
            (("setpoints", k, key), "is the controller's own: it leans to accelerate; give x, y, z and yaw")
            for k, one in enumerate(self.setpoints)
            for key in ("roll", "pitch")
            if getattr(one, key) is not None
        ]
        if found:
            raise Misfits(found)
        return self


class TiltQuadrotorController(SetpointController):
    """All that a quadrotor with rotors tilting about y can do: x, z, roll, pitch and yaw each on its own, by thrusts
    and tilts; y follows roll, since no tilt gives a force to the side."""

    implementation: ClassVar[str] = "botz.control.flight.tilt_quadrotor:TiltQuadrotor"
    type: Literal["tilt-quadrotor"]

    @model_validator(mode="after")
    def _y_or_roll(self) -> TiltQuadrotorController:
        found: list[tuple[Path, str]] = [
            (("setpoints", k, "roll"), "and y cannot both be held, since it goes aside by roll; give one of them")
            for k, one in enumerate(self.setpoints)
            if one.roll is not None and one.y is not None
        ]
        if found:
            raise Misfits(found)
        return self


class WingGains(Strict):
    """Of the loops of an aircraft; the defaults suit small ones at some 15 m/s."""

    climb: float = Field(default=0.5, ge=0)
    """Climb wanted per error of the height [1/s]."""
    pitch: float = Field(default=1.0, ge=0)
    """Elevator per error of pitch [rad/rad]."""
    pitch_rate: float = Field(default=0.1, ge=0)
    """Elevator per pitch rate [s]."""
    turn: float = Field(default=0.4, ge=0)
    """Yaw rate wanted per error of the heading [1/s]."""
    roll: float = Field(default=0.4, ge=0)
    """Aileron per error of roll [rad/rad]."""
    roll_rate: float = Field(default=0.02, ge=0)
    """Aileron per roll rate [s]."""
    yaw_rate: float = Field(default=0.3, ge=0)
    """Rudder per error of the yaw rate [s]."""
    airspeed: float = Field(default=30.0, ge=0)
    """Propeller speed per error of the airspeed [rad/m]."""
    airspeed_integral: float = Field(default=15.0, ge=0)
    """The same per error and second [rad/(m·s)]."""


class FixedWingController(Controller):
    """Height, airspeed and heading of an aircraft with elevator, aileron, rudder and one propeller. Positive angles of
    its control joints turn the aircraft positively about its own y, x and z."""

    implementation: ClassVar[str] = "botz.control.flight.fixed_wing:FixedWing"
    hands: ClassVar[Literal["", "flight", "plane"]] = "plane"
    type: Literal["fixed-wing"]
    rate: StepRate = Field(default=100.0, gt=0)
    """Calls per second; the step must divide its period."""
    height: Metres = 50.0
    """Height to fly at [m]."""
    airspeed: MetresPerSecond = Field(default=15.0, gt=0)
    """Speed through the air [m/s]."""
    heading: Radians = 0.0
    """Direction of flight, from x towards y [rad]."""
    bank: Radians = Field(default=0.6, gt=0, le=1.4)
    """Largest roll in turns [rad]."""
    climb_rate: MetresPerSecond = Field(default=2.0, gt=0)
    """Largest climb and descent [m/s]."""
    gains: WingGains = WingGains()
    """Of its loops."""
    throttle: str = "spin"
    """Joint of the propeller."""
    elevator: str = "elevator"
    """Joint of the elevator."""
    aileron: str = "aileron"
    """Joint of the ailerons."""
    rudder: str = "rudder"
    """Joint of the rudder."""


FlightController = Annotated[
    Controller,
    controllers_of("multibody", HoverController, MulticopterController, TiltQuadrotorController, FixedWingController),
]
