"""Vehicles with sprung wheels on any ground: the robot and scenario schema of the engine `vehicle`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from botz.scenario.links import RunLinks, with_endpoints
from botz.scenario.misfits import Misfits, Path
from botz.scenario.names import closest
from botz.scenario.schema import Controller, Name, ScenarioBase, Strict, TimeSettings, controllers_of, with_common_parts
from botz.scenario.terrain import FlatTerrain, Terrain
from botz.scenario.units import (
    Amperes,
    Kilograms,
    Metres,
    MetresPerSecond,
    NewtonMetres,
    Number,
    Quantity,
    Radians,
    RadiansPerSecond,
    Seconds,
    Volts,
)
from botz.scenario.vehicle.tyre import Tyre

LARGEST = 1e20
"""Products of a few of a vehicle's numbers must stay finite."""

Vector3 = Annotated[list[Metres], Field(min_length=3, max_length=3)]
Inertia = Annotated[float, Quantity("kg*m^2")]
Stiffness = Annotated[float, Quantity("N/m")]
Damping = Annotated[float, Quantity("N*s/m")]
Ohms = Annotated[float, Quantity("ohm")]


class CornerContact(Strict):
    """What happens where a corner of the chassis meets the ground."""

    stiffness: Stiffness = Field(default=1e5, gt=0)
    """Force per depth [N/m]."""
    damping_ratio: Number = Field(default=0.3, ge=0, le=2)
    """Of a quarter of the chassis on that stiffness; 1 does not bounce."""
    friction: Number = Field(default=0.5, ge=0)
    """Coefficient of Coulomb friction."""


class Chassis(Strict):
    """A rigid box about the centre of mass. The masses of wheels and motors are part of it."""

    mass: Kilograms = Field(gt=0)
    """Mass of the whole vehicle [kg]."""
    front: Metres = Field(gt=0)
    """From the centre of mass to the front [m] ([virtualbotz] l_1)."""
    rear: Metres = Field(gt=0)
    """To the rear [m] (l_2)."""
    left: Metres = Field(gt=0)
    """To the left side [m] (w_1)."""
    right: Metres = Field(gt=0)
    """To the right side [m] (w_2)."""
    top: Metres = Field(gt=0)
    """To the roof [m] (h_topo)."""
    bottom: Metres = Field(gt=0)
    """To the floor [m] (h_base)."""
    inertia: Annotated[list[Inertia], Field(min_length=3, max_length=6)] | None = None
    """Ixx, Iyy, Izz, or with Ixy, Ixz, Iyz behind them, about the centre of mass [kg·m²]; null: of the box."""
    corners: CornerContact = CornerContact()
    """Where its corners meet the ground."""

    @model_validator(mode="after")
    def _possible_inertia(self) -> Chassis:
        if self.inertia is not None and len(self.inertia) not in (3, 6):
            raise Misfits([(("inertia",), f"needs 3 numbers (xx, yy, zz) or 6, not {len(self.inertia)}")])
        xx, yy, zz, xy, xz, yz = self.inertia_tensor
        minors = xx, xx * yy - xy * xy, xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
        if min(minors) <= 0 or max(xx, yy, zz) > (xx + yy + zz) / 2 * (1 + 1e-9):
            why = "no body has it: each of xx, yy, zz is positive and at most the sum of the other two"
            raise Misfits([(("inertia",), why)])
        return self

    @property
    def inertia_tensor(self) -> tuple[float, float, float, float, float, float]:
        """xx, yy, zz, xy, xz, yz (the entries of the matrix) about the centre of mass: given, or of the box.

        A box of even density has its centre of mass in its middle; where it lies elsewhere, the box's own tensor is
        the best guess there is, and it is taken about the middle.
        """
        if self.inertia is not None:
            values = [*self.inertia, 0.0, 0.0, 0.0][:6]
            return values[0], values[1], values[2], values[3], values[4], values[5]
        a, b, c = self.front + self.rear, self.left + self.right, self.top + self.bottom
        m = self.mass / 12.0
        return m * (b * b + c * c), m * (a * a + c * c), m * (a * a + b * b), 0.0, 0.0, 0.0


class Suspension(Strict):
    """A spring and a damper along the chassis' vertical axis. It pushes and never pulls."""

    stiffness: Stiffness = Field(gt=0)
    """Spring rate k up to `travel` [N/m]."""
    damping: Damping = Field(ge=0)
    """Damper rate [N·s/m]."""
    travel: Metres = Field(gt=0)
    """Deflection h_sat up to which it is linear [m]."""
    progression: Annotated[float, Quantity("N/m^2")] = Field(default=0.0, ge=0)
    """k₂ of the force k h + k₂ (h − travel)² beyond it [N/m²]."""


class AxleFriction(Strict):
    """LuGre friction of an axle ([virtualbotz] eqs. 3.39-3.44)."""

    form: Literal["plain", "continuous"] = "plain"
    """plain: with break-away, it can park; continuous: the source's smooth form, which creeps under a constant load."""
    coulomb: NewtonMetres = Field(ge=0)
    """F_c, friction while turning slowly [N·m], at the wheel."""
    static: NewtonMetres = Field(ge=0)
    """F_s, largest friction at rest [N·m]."""
    stribeck_speed: RadiansPerSecond = Field(default=0.1, gt=0)
    """Speed at which it has fallen from static to Coulomb [rad/s]."""
    stiffness: Annotated[float, Quantity("N*m/rad")] = Field(gt=0)
    """σ_0, of the bristles [N·m/rad]."""
    damping: Annotated[float, Quantity("N*m*s/rad")] = Field(default=0.0, ge=0)
    """σ_1, of the bristles [N·m·s/rad]."""
    viscous: Annotated[float, Quantity("N*m*s/rad")] = Field(default=0.0, ge=0)
    """σ_2 [N·m·s/rad]."""
    steepness: Annotated[float, Quantity("s/rad")] = Field(default=1000.0, gt=0)
    """k_v of the continuous form: how steeply it passes through zero speed [s/rad]."""

    @model_validator(mode="after")
    def _static_is_more(self) -> AxleFriction:
        if self.static < self.coulomb:
            raise Misfits([(("static",), f"{self.static:g} is less than coulomb, {self.coulomb:g}")])
        if self.static == 0:
            raise Misfits([(("static",), "0 is no friction; leave the whole 'friction' out")])
        return self


class VehicleWheel(Strict):
    """A wheel without mass on a suspension of its own; its moment of inertia counts."""

    position: Vector3
    """Its centre with the suspension at rest, from the centre of mass: x forward, y left, z up [m]."""
    radius: Metres = Field(gt=0)
    """Radius [m]."""
    width: Metres = Field(default=0.05, gt=0)
    """Width [m]."""
    rims: Literal[1, 2] = 2
    """Where it touches the ground: at both edges of its width, or at one circle in its middle."""
    inertia: Inertia = Field(gt=0)
    """Moment of inertia about its axle [kg·m²]."""
    suspension: Suspension
    """Its spring and damper."""
    tyre: Tyre
    """How it grips the ground."""
    friction: AxleFriction | None = None
    """Friction of its bearing, for a wheel without motor; that of a driven one is its motor's."""
    locked: bool = False
    """Held fast to the chassis."""


class Motor(Strict):
    """A DC motor by its data sheet, with its gear."""

    wheels: list[Name] = Field(min_length=1)
    """The wheels that it turns, all alike."""
    voltage: Volts = Field(gt=0)
    """Nominal voltage, and the largest that can be commanded [V]."""
    torque_constant: Annotated[float, Quantity("N*m/A")] = Field(gt=0)
    """K_t [N·m/A]."""
    speed_constant: Annotated[float, Quantity("rad/s/V")] = Field(gt=0)
    """K_v: no-load speed per volt, as "254 rpm/V" [rad/s/V]."""
    resistance: Ohms = Field(gt=0)
    """Of the winding [ohm]."""
    no_load_current: Amperes = Field(default=0.0, ge=0)
    """I_0: what it takes to turn freely; K_t I_0 is its friction [A]."""
    rotor_inertia: Inertia = Field(default=0.0, ge=0)
    """Moment of inertia of the rotor [kg·m²]."""
    gear_ratio: Number = Field(default=1.0, gt=0)
    """Turns of the motor for one turn of the wheel."""
    efficiency: Number = Field(default=1.0, gt=0, le=1)
    """Part of the power that passes the gear, either way."""
    current_limit: Amperes | None = Field(default=None, gt=0)
    """Largest current that its driver lets through; null: none [A]."""
    friction: AxleFriction | None = None
    """LuGre friction of the axle, at the wheel, in place of the friction K_t I_0; null: K_t I_0 in the plain form."""


class Battery(Strict):
    """One battery for all motors."""

    voltage: Volts = Field(gt=0)
    """Without load [V]."""
    resistance: Ohms = Field(default=0.0, ge=0)
    """Inner resistance [ohm]."""


class Sides(Strict):
    """The motors of each side."""

    left: list[Name] = Field(min_length=1)
    """Names of the motors on the left."""
    right: list[Name] = Field(min_length=1)
    """Names of the motors on the right."""


class Vehicle(Strict):
    """A robot file of engine `vehicle`."""

    engine: Literal["vehicle"] = "vehicle"
    """The engine that it is made for."""
    description: str = ""
    """What it is, for people."""
    source: str = ""
    """Where its numbers come from, and which are assumptions."""
    chassis: Chassis
    """The rigid body."""
    wheel: dict[str, Any] = Field(default={})
    """What all wheels have in common; each of `wheels` is laid over it."""
    wheels: dict[Name, VehicleWheel] = Field(min_length=1, max_length=64)
    """The wheels by name."""
    motor: dict[str, Any] = Field(default={})
    """What all motors have in common; each of `motors` is laid over it."""
    motors: dict[Name, Motor] = Field(default={})
    """The motors by name; each is a command `NAME/voltage`."""
    battery: Battery | None = None
    """The battery of all motors; null: each motor gets the voltage that is commanded."""
    sides: Sides | None = None
    """Motors of the left and right side for tank steering; null: by the places of their wheels."""

    @model_validator(mode="before")
    @classmethod
    def _common_parts(cls, data: Any) -> Any:
        return with_common_parts(data)

    @model_validator(mode="after")
    def _numbers_in_reach(self) -> Vehicle:
        found = [
            (path, f"{value:g} is beyond {LARGEST:g}, the largest number that a vehicle's file takes")
            for path, value in _numbers(self.model_dump(exclude={"wheel", "motor"}), ())
            if abs(value) > LARGEST
        ]
        if found:
            raise Misfits(found)
        return self

    @model_validator(mode="after")
    def _motors_name_wheels(self) -> Vehicle:
        found = [*self._motor_misfits(), *self._side_misfits()]
        for kind, names in (("wheels", self.wheels), ("motors", self.motors)):
            taken = "the vehicle's own channels begin with this name; choose another"
            found += [((kind, name), taken) for name in names if name in ("battery", "energy")]
        for name, wheel in self.wheels.items():
            if wheel.friction is not None and any(name in motor.wheels for motor in self.motors.values()):
                found.append((("wheels", name, "friction"), "this wheel has a motor; give the motor the friction"))
        if found:
            raise Misfits(found)
        return self

    def _motor_misfits(self) -> Iterator[tuple[Path, str]]:
        taken: dict[str, str] = {}
        for motor_name, motor in self.motors.items():
            known = all(name in self.wheels for name in motor.wheels)
            if motor_name in self.wheels and known and motor.wheels != [motor_name]:
                yield (
                    ("motors", motor_name),
                    "a wheel has this name, and it does not turn that one alone; choose another",
                )
            for index, name in enumerate(motor.wheels):
                place = ("motors", motor_name, "wheels", index)
                if name not in self.wheels:
                    yield place, f"no wheel {name!r}{closest(name, self.wheels)}"
                elif name in taken:
                    where = "twice here" if taken[name] == motor_name else f"turned by motor {taken[name]!r} already"
                    yield place, f"wheel {name!r} is {where}"
                elif self.wheels[name].locked:
                    yield place, f"wheel {name!r} is locked"
                taken.setdefault(name, motor_name)

    def _side_misfits(self) -> Iterator[tuple[Path, str]]:
        taken: set[str] = set()
        for side, names in self.sides or ():
            for index, name in enumerate(names):
                if name not in self.motors:
                    yield ("sides", side, index), f"no motor {name!r}{closest(name, self.motors)}"
                elif name in taken:
                    yield ("sides", side, index), f"motor {name!r} is on a side already"
                taken.add(name)

    def motors_of_side(self, side: Literal["left", "right"]) -> list[str]:
        """Motors whose wheels all stand on that side of the centre of mass, or those that the file names."""
        if self.sides is not None:
            return self.sides.left if side == "left" else self.sides.right
        sign = 1.0 if side == "left" else -1.0
        return [
            name
            for name, motor in self.motors.items()
            if all(self.wheels[wheel].position[1] * sign > 0 for wheel in motor.wheels)
        ]


def _numbers(data: Any, path: Path) -> Iterator[tuple[Path, float]]:
    """All numbers in a nest of mappings and lists, with their paths."""
    if isinstance(data, Mapping | list):
        for key, entry in data.items() if isinstance(data, Mapping) else enumerate(data):
            yield from _numbers(entry, (*path, key))
    elif isinstance(data, float):
        yield path, data


Attitude = Annotated[list[Radians], Field(min_length=3, max_length=3)]
TurnRates = Annotated[list[RadiansPerSecond], Field(min_length=3, max_length=3)]


class PlacedVehicle(Vehicle):
    """A vehicle in a scenario: a robot file by `extends`, changed where the scenario says so, and put somewhere."""

    position: Annotated[list[Metres], Field(min_length=2, max_length=3)] = Field(default=[0.0, 0.0])
    """x, y of the centre of mass at the start, and z; without z its springs carry it, in the attitude given [m]."""
    attitude: Attitude = Field(default=[0.0, 0.0, 0.0])
    """Roll, pitch and yaw at the start; yaw first, then pitch, then roll [rad]. Nose down is a positive pitch."""
    velocity: Annotated[list[MetresPerSecond], Field(min_length=3, max_length=3)] = Field(default=[0.0, 0.0, 0.0])
    """Velocity at the start in the vehicle's axes [m/s]; free wheels turn along with it."""
    angular_velocity: TurnRates = Field(default=[0.0, 0.0, 0.0])
    """Angular velocity at the start in the vehicle's axes [rad/s]."""


class ContactSettings(Strict):
    """The search for the contact of wheel and ground ([virtualbotz] 3.3.4)."""

    search: Literal["fast", "plain"] = "fast"
    """plain: every slice of every rim in every step; fast: the same contact, from the last one."""
    slices: int = Field(default=18, ge=2, le=720)
    """Parts into which the lower half of a rim is cut."""
    tolerance: Number = Field(default=1e-6, ge=1e-12, le=0.01)
    """Error of the deflection, as a part of the suspension's travel."""
    blocked_angle: Radians = Field(default=math.radians(80.0), gt=0.1, le=math.radians(89.0))
    """Between suspension and ground normal: from there on the ground is a wall, which blocks the wheel [rad]."""


class VehicleTime(TimeSettings):
    step: Seconds = Field(default=1e-4, gt=0, le=10)
    """Integration step [s], a whole number of nanoseconds."""
    method: Literal["semi-implicit", "rk4"] = "semi-implicit"
    """semi-implicit: Euler's method with the new velocities; rk4: Runge-Kutta of fourth order."""


class VehicleWorld(Strict):
    """The ground, and gravity. The vehicles do not meet each other."""

    terrain: Terrain = FlatTerrain(type="flat")
    """The ground."""
    gravity: Annotated[float, Quantity("m/s^2")] = Field(default=9.80665, ge=0, le=1e4)
    """Downwards [m/s²]."""
    contact: ContactSettings = ContactSettings()
    """How wheels find the ground."""


class WheelSpeeds(Strict):
    """Gains of the wheel speed controller: volts per rad/s of the wheel, and per rad of its integral."""

    proportional: Annotated[float, Quantity("V*s/rad")] = Field(default=0.3, ge=0)
    """Voltage per error of speed [V·s/rad]."""
    integral: Annotated[float, Quantity("V/rad")] = Field(default=20.0, ge=0)
    """Voltage per integrated error [V/rad]; it stops growing at the voltage limit."""


class WheelSpeedController(Controller):
    """Hold the speeds of motors by PI control, or the vehicle's forward speed and yaw rate through them."""

    implementation: ClassVar[str] = "botz.control.wheeled.wheel_speed:WheelSpeed"
    docs: ClassVar[str] = "vehicles.md#commands"
    type: Literal["wheel-speed"]
    speeds: dict[Name, RadiansPerSecond] | None = None
    """Wheel speed wanted of each motor named [rad/s]."""
    forward: MetresPerSecond | None = None
    """Forward speed wanted, in place of `speeds` [m/s]."""
    yaw_rate: RadiansPerSecond = 0.0
    """Yaw rate wanted beside `forward`, as for rolling wheels without slip [rad/s]."""
    gains: WheelSpeeds = WheelSpeeds()
    """Of the PI control."""

    @model_validator(mode="after")
    def _one_target(self) -> WheelSpeedController:
        if (self.speeds is None) == (self.forward is None):
            raise ValueError("give either 'speeds' or 'forward'")
        return self


class DriveLimits(Strict):
    speed: MetresPerSecond = Field(default=0.8, gt=0)
    """Largest forward speed [m/s]."""
    turn_rate: RadiansPerSecond = Field(default=1.5, gt=0)
    """Largest yaw rate [rad/s]."""


class FollowWaypointsController(Controller):
    """Follow waypoints on the ground with tank steering: pure pursuit above wheel speed control."""

    implementation: ClassVar[str] = "botz.control.wheeled.vehicle_waypoints:VehicleWaypoints"
    docs: ClassVar[str] = "vehicles.md#commands"
    type: Literal["waypoints"]
    points: list[Annotated[list[Metres], Field(min_length=2, max_length=2)]] = Field(min_length=1)
    """Waypoints [x, y] in the world, in order [m]."""
    loop: bool = False
    """After the last point go on to the first one."""
    lookahead: Metres = Field(default=0.6, gt=0)
    """How far ahead on the path it aims [m]."""
    tolerance: Metres = Field(default=0.1, gt=0)
    """Distance to the last point at which it has arrived [m]."""
    limits: DriveLimits = DriveLimits()
    """Largest speed and yaw rate."""
    gains: WheelSpeeds = WheelSpeeds()
    """Of the wheel speed control."""
    yaw_gain: Number = Field(default=2.0, ge=0)
    """Skidding wheels turn less than rolling ones: how much of the missing yaw rate is added to the wheels' command."""

    def places(self) -> list[tuple[float, float]]:
        return [(x, y) for x, y in self.points]


VehicleController = Annotated[Controller, controllers_of("vehicle", WheelSpeedController, FollowWaypointsController)]


@with_endpoints("vehicle")
class VehicleLinks(RunLinks):
    """What `botz run --serve` opens; null leaves it out."""


class VehicleScenario(ScenarioBase):
    """Vehicles on rough ground."""

    engine: Literal["vehicle"]
    """What moves the robots."""
    time: VehicleTime = VehicleTime()
    """How time passes."""
    world: VehicleWorld = VehicleWorld()
    """The ground."""
    robots: dict[Name, PlacedVehicle] = Field(min_length=1)
    """The vehicles by name: each with `extends` and changes, or with all of its parts."""
    controllers: dict[Name, VehicleController] = Field(default={})
    """What drives the vehicles, by name."""
    links: VehicleLinks = VehicleLinks()
    """How viewers reach the run, with `botz run --serve`."""
