"""Force elements: what puts forces on bodies and joints of a multibody robot, where they arise.

Each kind is a class of `Element` that names its function. The union of all kinds is in `schema.py`, so that the file of
another package may import `Element` while that union is made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from botz.scenario.misfits import Misfits, Path
from botz.scenario.schema import USER_PATTERN, Strict
from botz.scenario.units import (
    Amperes,
    Metres,
    NewtonMetres,
    Newtons,
    Number,
    Quantity,
    Radians,
    RadiansPerSecond,
    Seconds,
    Volts,
)

Direction = Annotated[list[Number], Field(min_length=3, max_length=3)]
Vector = Annotated[list[Metres], Field(min_length=3, max_length=3)]
ThrustPerSpeedSquared = Annotated[float, Quantity("N*s^2/rad^2")]
DEFAULT_DENSITY = 1.225
"""Air at sea level, 15 °C, by the standard atmosphere [kg/m³]."""


@dataclass(frozen=True)
class NamesPart:
    """Marks a key that names a link of the robot, or a joint; looked up where the world is built."""

    joints: tuple[str, ...] = ()
    """Types of joints that fit; empty: it names a link."""


LinkName = Annotated[str, NamesPart()]
"""The link that an element acts on."""
TurningJoint = Annotated[str, NamesPart(("revolute", "continuous"))]
"""The joint that an element acts on, and with it the link that the joint moves where no link is named."""
MovingJoint = Annotated[str, NamesPart(("revolute", "continuous", "prismatic"))]
"""The same for an element that takes joints which slide as well."""


class Element(Strict):
    """Common part of all force elements: each is one record, told apart by its `type`."""

    implementation: ClassVar[str] = ""
    """What acts, as `module:name`: what `@force_element` makes of a function; or, where commands and reports depend on
    what the record says, a function of the record and its place in the document that gives such a thing."""
    docs: ClassVar[str] = "multibody.md"
    """Page and section of the documentation; without a section, that of its type."""

    type: str

    def moved(self, origin: Sequence[float]) -> Self:
        """The same, in a frame of its link whose origin is at `origin` in the frame before."""
        del origin
        return self

    def holds(self) -> tuple[float, float]:
        """Damping and stiffness that its joint feels, from which checks of models tell steps that are too long."""
        return 0.0, 0.0


class Propeller(Element):
    """Thrust along the axle of a propeller that really spins, by its speed: f = K ω², or a + b ω + c ω².

    ω counts positive in the propeller's own sense of rotation, and the thrust points along the joint's axis. Turning
    the other way it pushes backwards by the same law.
    """

    implementation: ClassVar[str] = "botz.engines.multibody.elements.aero:propeller"
    type: Literal["propeller"]
    joint: TurningJoint
    """The joint about which it spins; the force acts on the link that the joint moves, at the joint."""
    coefficient: ThrustPerSpeedSquared | None = Field(default=None, ge=0)
    """K of f = K ω² [N·s²/rad²]."""
    curve: Annotated[list[float], Field(min_length=3, max_length=3)] | None = None
    """a, b, c of f = a + b ω + c ω², in place of `coefficient`; a grows from 0 within the first rad/s, and where f is
    negative it counts as 0 [N, N·s/rad, N·s²/rad²]."""
    sense: Literal["ccw", "cw"] = "ccw"
    """Sense of rotation seen against the thrust, from above where it lifts: ccw turns about +axis, cw about −axis."""
    max_force: Newtons | None = Field(default=None, gt=0)
    """Largest thrust; null: none [N]."""
    lag_up: Seconds = Field(default=0.0, ge=0, le=10)
    """Time constant with which the thrust follows the speed upwards; 0: at once. A propeller that turns at the start
    has its thrust from the start [s]."""
    lag_down: Seconds = Field(default=0.0, ge=0, le=10)
    """The same downwards [s]."""
    drag_torque: Metres = Field(default=0.0, ge=0, le=1)
    """Torque of the air against the rotation, by the thrust of the speed alone: c of τ = c f; 0 leaves it out, as the
    source does [m]."""
    rotor_drag: Annotated[float, Quantity("kg/rad")] = Field(default=0.0, ge=0)
    """Force against the motion across the axle, by speed and spin: F = −c |ω| v⊥ [N·s²/(rad·m)]."""
    rolling_moment: Annotated[float, Quantity("kg*m/rad")] = Field(default=0.0, ge=0)
    """Moment by motion across the axle: M = −c |ω| v⊥, about v⊥ [N·s²/rad]."""
    inflow_loss: Annotated[float, Quantity("s/m")] = Field(default=0.0, ge=0, le=10)
    """Share of the thrust that is lost per speed along the axle, in the thrust's direction: f (1 − c v∥); sinking air
    gains, up to twice the thrust [s/m]."""
    radius: Metres | None = Field(default=None, gt=0, le=100)
    """Of the propeller: where it is given, the ground below adds thrust, f / (1 − (R / 4z)²), at most a third; z is the
    way to the ground along the thrust [m]."""

    @model_validator(mode="after")
    def _one_law(self) -> Propeller:
        found: list[tuple[Path, str]] = []
        if (self.coefficient is None) == (self.curve is None):
            found.append(((), "give either 'coefficient' (f = K ω²) or 'curve' (f = a + b ω + c ω²)"))
        if found:
            raise Misfits(found)
        return self


class LiftDrag(Element):
    """Lift, drag and pitching moment of a surface by its angle of attack, straight lines before and after the stall."""

    implementation: ClassVar[str] = "botz.engines.multibody.elements.aero:surface"
    type: Literal["lift-drag"]
    link: LinkName
    """The link that it is part of."""
    area: Annotated[float, Quantity("m^2")] = Field(gt=0)
    """Area of the surface [m²]."""
    a0: Radians = 0.0
    """Zero-lift offset: the angle of attack is counted from −a0, so that the lift at angle 0 is cla·a0 [rad]."""
    cla: float = 1.0
    """Slope of the lift coefficient before the stall [1/rad]."""
    cda: float = 0.01
    """Slope of the drag coefficient before the stall [1/rad]."""
    cma: float = 0.0
    """Slope of the moment coefficient before the stall; positive lifts the nose, with a lever of 1 m [1/rad]."""
    alpha_stall: Radians = Field(default=1.5707963267948966, gt=0)
    """Angle of attack at which it stalls [rad]."""
    cla_stall: float = 0.0
    """Slope of the lift coefficient after the stall [1/rad]."""
    cda_stall: float = 1.0
    """Slope of the drag coefficient after the stall [1/rad]."""
    cma_stall: float = 0.0
    """Slope of the moment coefficient after the stall [1/rad]."""
    cd0: float = Field(default=0.0, ge=0)
    """Drag coefficient without lift, added to the source's law."""
    cp: Vector = Field(default=[0.0, 0.0, 0.0])
    """Centre of pressure in the link's frame: where the forces act [m]."""
    forward: Direction = Field(default=[1.0, 0.0, 0.0])
    """Direction of forward motion in the link's frame."""
    upward: Direction = Field(default=[0.0, 0.0, 1.0])
    """Direction of lift in the link's frame; what of it is along `forward` does not count."""
    air_density: Annotated[float, Quantity("kg/m^3")] | None = Field(default=None, ge=0)
    """Density of the air; null: the world's [kg/m³]."""
    radial_symmetry: bool = False
    """The surface is a body of revolution about `forward`: lift points away from the wind wherever that comes from."""
    control_joint: MovingJoint | None = None
    """Joint of a flap whose angle adds lift; null: none."""
    control_slope: float = 0.0
    """Lift coefficient per angle of that joint [1/rad]."""

    @model_validator(mode="after")
    def _two_directions(self) -> LiftDrag:
        from numpy import cross
        from numpy.linalg import norm

        found: list[tuple[Path, str]] = []
        for key in ("forward", "upward"):
            if not 1e-6 < norm(getattr(self, key)) < 1e6:
                found.append(((key,), "needs a direction, as [1, 0, 0]"))
        if not found and norm(cross(self.forward, self.upward)) < 1e-6 * norm(self.forward) * norm(self.upward):
            found.append((("upward",), "is along 'forward'; lift needs a direction of its own"))
        if found:
            raise Misfits(found)
        return self

    def moved(self, origin: Sequence[float]) -> Self:
        return self.model_copy(update={"cp": [at - zero for at, zero in zip(self.cp, origin, strict=True)]})


class DcMotorElement(Element):
    """A DC motor on a joint, by its data sheet, as those of vehicles. It takes a command, `JOINT/voltage`."""

    implementation: ClassVar[str] = "botz.engines.multibody.elements.joints:dc_motor"
    type: Literal["dc-motor"]
    joint: TurningJoint
    """The joint that it turns."""
    resistance: Annotated[float, Quantity("ohm")] = Field(gt=0)
    """Of the winding and what leads to it [Ω]."""
    torque_constant: Annotated[float, Quantity("N*m/A")] = Field(gt=0)
    """Torque per current [N·m/A]."""
    speed_constant: Annotated[float, Quantity("rad/(V*s)")] | None = Field(default=None, gt=0)
    """Speed per voltage; null: the inverse of the torque constant [rad/(V·s)]."""
    no_load_current: Amperes = Field(default=0.0, ge=0)
    """Current of the free motor: its friction [A]."""
    max_current: Amperes | None = Field(default=None, gt=0)
    """Limit of the driver; null: none [A]."""
    max_voltage: Volts = Field(default=12.0, gt=0)
    """Largest voltage that is commanded [V]."""
    gear_ratio: Number = Field(default=1.0, gt=0)
    """Turns of the motor per turn of the joint."""
    efficiency: Number = Field(default=1.0, gt=0, le=1)
    """Of the gear."""

    def holds(self) -> tuple[float, float]:
        """Back-emf brakes: d = k_t k_e n² / R, with k_e = 1 / speed constant."""
        emf = self.torque_constant if self.speed_constant is None else 1 / self.speed_constant
        return self.torque_constant * emf * self.gear_ratio**2 / self.resistance, 0.0


class LugreElement(Element):
    """LuGre friction of a joint, as on the axles of vehicles."""

    implementation: ClassVar[str] = "botz.engines.multibody.elements.joints:joint_friction"
    type: Literal["lugre"]
    joint: MovingJoint
    """The joint that it brakes."""
    stiffness: Annotated[float, Quantity("N*m/rad")] = Field(ge=0)
    """σ₀ of the bristles [N·m/rad]."""
    damping: Annotated[float, Quantity("N*m*s/rad")] = Field(default=0.0, ge=0)
    """σ₁ of the bristles [N·m·s/rad]."""
    viscous: Annotated[float, Quantity("N*m*s/rad")] = Field(default=0.0, ge=0)
    """σ₂: viscous friction [N·m·s/rad]."""
    coulomb: NewtonMetres = Field(gt=0)
    """Friction of motion [N·m]."""
    static: NewtonMetres = Field(gt=0)
    """Friction at rest, at least that of motion [N·m]."""
    stribeck_speed: RadiansPerSecond = Field(default=0.1, gt=0)
    """Speed over which the one goes over into the other [rad/s]."""
    form: Literal["plain", "continuous"] = "plain"
    """plain: with break-away; continuous: the source's smooth form, which creeps."""
    steepness: Annotated[float, Quantity("s/rad")] = Field(default=100.0, gt=0)
    """k_v of the continuous form [s/rad]."""

    @model_validator(mode="after")
    def _holds_more_than_it_brakes(self) -> LugreElement:
        if self.static < self.coulomb:
            message = f"friction at rest must not be below that of motion, 'coulomb' = {self.coulomb:g} N·m"
            raise Misfits([(("static",), message)])
        return self

    def holds(self) -> tuple[float, float]:
        return self.damping + self.viscous, self.stiffness


class VehicleWheels(Element):
    """The wheels of a vehicle's robot file under a link: springs, tyres, motors and friction are those of the engine
    `vehicle`, and the link takes the chassis' place. Commands are `MOTOR/voltage`."""

    implementation: ClassVar[str] = "botz.engines.multibody.elements.wheels:kind_for"
    type: Literal["vehicle-wheels"]
    link: LinkName
    """The link that is the chassis; its mass and inertia are its own, and should be the vehicle's."""
    vehicle: str
    """Name of a vehicle of the library, or path of its robot file."""


class UserElement(Element):
    """A compiled function of the user's: `file.py:name` relative to the scenario file, or `module:name`."""

    docs: ClassVar[str] = "multibody.md#your-own"
    type: Annotated[str, StringConstraints(pattern=USER_PATTERN)]
    link: LinkName | None = None
    """The link that it acts on."""
    joint: MovingJoint | None = None
    """The joint that it acts on; its link is the one that the joint moves, where `link` is not given."""
    parameters: dict[str, Any] = Field(default={})
    """Parameters of the element's class."""

    @model_validator(mode="after")
    def _acts_on_something(self) -> UserElement:
        if self.link is None and self.joint is None:
            raise Misfits([((), "needs 'link' or 'joint': what it acts on")])
        return self


ELEMENTS = (Propeller, LiftDrag, DcMotorElement, LugreElement, VehicleWheels, UserElement)
"""All that are built in, and a user's own."""
