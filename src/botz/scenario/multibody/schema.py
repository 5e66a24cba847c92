"""Multibody robots: the robot and scenario schema of the engine `multibody`."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from botz.scenario.links import RunLinks, with_endpoints
from botz.scenario.misfits import Misfits, Path
from botz.scenario.multibody.elements import ELEMENTS, Direction, Element
from botz.scenario.multibody.flight import FlightController
from botz.scenario.multibody.sensors import SENSORS, Sensor
from botz.scenario.multibody.world import MultibodyWorld
from botz.scenario.names import closest
from botz.scenario.rigid_body import Body, Inertia
from botz.scenario.schema import Name, ScenarioBase, Strict, TimeSettings, by_type
from botz.scenario.shapes import HERE, AnyShape
from botz.scenario.units import MetresPerSecond, Number, Pose, Quantity, RadiansPerSecond, Seconds, unit_misfits
from botz.scenario.written import Written

AnyElement = Annotated[Element, by_type("botz.elements", *ELEMENTS, kind=Element)]
AnySensor = Annotated[Sensor, by_type("botz.sensors", *SENSORS, kind=Sensor)]

JointValue = Annotated[float, Quantity(None)]
"""Of a joint: in radians where it turns, in metres where it slides."""
TURNING = {
    "range": "rad", "speed": "rad/s", "effort": "N*m", "damping": "N*m*s/rad", "friction": "N*m", "armature": "kg*m^2",
}  # fmt: skip
SLIDING = {"range": "m", "speed": "m/s", "effort": "N", "damping": "N*s/m", "friction": "N", "armature": "kg"}
"""Units of a joint's values, by key."""


class LinkSpec(Body):
    """A rigid part of a robot."""

    inertia: Annotated[list[Inertia], Field(min_length=3, max_length=6)] | None = None  # type: ignore[assignment]
    """About the centre of mass, in the link's axes: Ixx, Iyy, Izz, and where they are not 0, Ixy, Ixz, Iyz (the
    entries of the matrix); null: of the shapes, filled evenly with the mass [kg·m²]."""
    shapes: list[AnyShape] = Field(default=[], max_length=1000)
    """What it looks like and touches with."""


class JointSpec(Strict):
    """How a link moves on another one."""

    type: Literal["revolute", "continuous", "prismatic", "fixed"]
    """revolute: turns within a range; continuous: turns without end; prismatic: slides; fixed: does not move."""
    parent: str
    """The link that carries it."""
    child: str
    """The link that it moves."""
    pose: Pose = HERE
    """Of the child's frame in the parent's, with the joint at 0: x, y, z [m], roll, pitch, yaw [rad]. The axis goes
    through its origin."""
    axis: Direction = Field(default=[0.0, 0.0, 1.0])
    """Direction of the axis in the child's frame."""
    range: Annotated[list[JointValue], Field(min_length=2, max_length=2)] | None = None
    """Least and greatest value; null: none [rad, m]."""
    speed: JointValue | None = Field(default=None, gt=0)
    """Largest speed that its actuator asks for; null: any [rad/s, m/s]."""
    effort: JointValue | None = Field(default=None, gt=0)
    """Largest torque or force of its actuator; null: any [N·m, N]."""
    damping: JointValue = Field(default=0.0, ge=0)
    """Viscous friction [N·m·s/rad, N·s/m]."""
    friction: JointValue = Field(default=0.0, ge=0)
    """Dry friction [N·m, N]."""
    armature: JointValue = Field(default=0.0, ge=0)
    """Inertia of a rotor behind a gear, seen at the joint [kg·m², kg]."""

    @model_validator(mode="before")
    @classmethod
    def _in_its_units(cls, data: Any) -> Any:
        """Radians of joints that turn, metres of those that slide."""
        if not isinstance(data, dict):
            return data
        units = SLIDING if data.get("type") == "prismatic" else TURNING
        found = [misfit for key, unit in units.items() for misfit in unit_misfits(data.get(key), unit, (key,))]
        if found:
            raise Misfits(found)
        return data

    @model_validator(mode="after")
    def _fits_its_type(self) -> JointSpec:
        found: list[tuple[Path, str]] = []
        if self.type == "continuous" and self.range is not None:
            found.append((("range",), "a continuous joint has none; one with a range is 'revolute'"))
        if self.type == "fixed":
            moving = ("range", "speed", "effort", "damping", "friction", "armature")
            found += [((key,), "a fixed joint does not move") for key in moving if getattr(self, key)]
        if found:
            raise Misfits(found)
        return self


class ActuatorSpec(Strict):
    """What moves a joint: a servo for its position or speed, or a plain effort."""

    kind: Literal["position", "velocity", "effort"]
    """What is commanded: `JOINT/position`, `JOINT/speed` or `JOINT/effort`."""
    frequency: RadiansPerSecond = Field(default=50.0, gt=0, le=1e5)
    """How fast errors decay: k_p = I ω², k_d = 2 ζ I ω of a position servo, k_p = I ω of a speed servo, I the inertia
    that the joint moves at the start [rad/s]."""
    damping_ratio: Number = Field(default=1.0, ge=0, le=100)
    """ζ of a position servo."""
    integral_time: Seconds | None = Field(default=None, gt=0, le=1e6)
    """k_i = k_p / integral_time; null: no integral part [s]."""
    proportional: JointValue | None = Field(default=None, ge=0)
    """k_p by hand [effort per error]."""
    integral: JointValue | None = Field(default=None, ge=0)
    """k_i by hand [effort per error and second]."""
    derivative: JointValue | None = Field(default=None, ge=0)
    """k_d of a position servo by hand [effort per speed]."""
    effort: JointValue | None = Field(default=None, gt=0)
    """Largest torque or force; null: the joint's [N·m, N]."""
    speed: JointValue | None = Field(default=None, gt=0)
    """Largest speed of a position's reference, and of a speed commanded; null: the joint's [rad/s, m/s]."""
    lag: Seconds = Field(default=0.0, ge=0, le=100)
    """Time constant with which the reference follows its command; 0: at once [s]."""
    lag_down: Seconds | None = Field(default=None, ge=0, le=100)
    """The same where the command's size falls; null: as `lag` [s]."""

    @model_validator(mode="after")
    def _used(self) -> ActuatorSpec:
        """What a kind of actuator does not have must not be given as if it did something."""
        servo = {"frequency", "integral_time", "proportional", "integral"}
        unused = {
            "position": set(),
            "velocity": {"damping_ratio", "derivative"},
            "effort": servo | {"damping_ratio", "derivative", "speed"},
        }[self.kind]
        # A complete document, as a recording holds it, gives defaults too.
        given = {key for key, one in type(self).model_fields.items() if getattr(self, key) != one.default}
        found: list[tuple[Path, str]] = [
            ((key,), f"has no effect on an actuator of kind {self.kind!r}") for key in sorted(unused & given)
        ]
        if {"integral", "integral_time"} <= given:
            found.append((("integral_time",), "and 'integral' say the same; give one of them"))
        if found:
            raise Misfits(found)
        return self


class MultibodyRobot(Strict):
    """A robot file of engine `multibody`: links and joints, from a URDF, SDF or MJCF file or written here, with
    actuators, force elements and sensors."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["file"]}, {"required": ["links"]}]})

    engine: Literal["multibody"] = "multibody"
    """The engine that it is made for."""
    description: str = ""
    """What it is, for people."""
    source: str = ""
    """Where its numbers come from, and which are assumptions."""
    file: str | None = None
    """A model file: .urdf, .xacro, .sdf or .xml (MJCF); null: `links` and `joints` are given here."""
    model: str | None = None
    """Which model of an SDF file that holds several; null: the only one that is not static."""
    packages: dict[str, str] = Field(default={})
    """Folders, relative to the file, of packages named by package:// in it or by $(find) of xacro; others are looked
    for above the file and where ROS has them."""
    missing_meshes: Literal["refuse", "ignore-visual", "ignore"] = "ignore-visual"
    """Meshes of a URDF or SDF file that are not there: an error; left out with a note where they are only seen; left
    out with a note in any case."""
    unknown_plugins: Literal["refuse", "ignore"] = "refuse"
    """Plugins in the file that Botz does not know: an error, or left out and told."""
    base: Literal["floating", "fixed"] = "floating"
    """floating: the root link moves freely; fixed: it is part of the world."""
    links: dict[Name, LinkSpec] = Field(default={}, max_length=1000)
    """The rigid parts by name."""
    joints: dict[Name, JointSpec] = Field(default={}, max_length=1000)
    """How they hang together, by name."""
    actuators: dict[str, ActuatorSpec] = Field(default={})
    """By joint; laid over those that the file's transmissions ask for."""
    elements: dict[Name, AnyElement] = Field(default={}, max_length=1000)
    """Force elements by name, beside those of the file's plugins."""
    sensors: dict[Name, AnySensor] = Field(default={}, max_length=1000)
    """Sensors by name."""

    @model_validator(mode="after")
    def _one_source(self) -> MultibodyRobot:
        found: list[tuple[Path, str]] = []
        if self.file is None and not self.links:
            found.append((("links",), "needs links, or a model file by 'file'"))
        if self.file is not None:
            for key in ("links", "joints"):
                if getattr(self, key):
                    found.append(((key,), "are those of the model file; give 'file' or these"))
        if self.file is None and self.model is not None:
            found.append((("model",), "names one of several in an SDF file; give that by 'file'"))
        for name, joint in self.joints.items():
            for key in ("parent", "child"):
                link = getattr(joint, key)
                if link not in self.links:
                    found.append((("joints", name, key), f"no link {link!r}{closest(link, self.links)}"))
        if found:
            raise Misfits(found)
        return self


class PlacedMultibody(MultibodyRobot, Written):
    """A robot in a scenario: a robot file by `extends`, changed where the scenario says so, and put somewhere."""

    by_name: ClassVar[tuple[str, ...]] = ("start", "start_speed")

    pose: Pose = HERE
    """Of the root link: x, y, z [m], roll, pitch, yaw [rad]."""
    velocity: Annotated[list[MetresPerSecond], Field(min_length=3, max_length=3)] = Field(default=[0.0, 0.0, 0.0])
    """Of the root link at the start, in the world [m/s]."""
    angular_velocity: Annotated[list[RadiansPerSecond], Field(min_length=3, max_length=3)] = Field(
        default=[0.0, 0.0, 0.0]
    )
    """Of the root link at the start, in its own axes [rad/s]."""
    start: dict[str, JointValue] = Field(default={})
    """Joint positions at the start, by joint; others begin at 0, or at the end of the range that is nearest to it."""
    start_speed: dict[str, JointValue] = Field(default={})
    """Joint speeds at the start, by joint; others at rest."""

    @model_validator(mode="after")
    def _fixed_stays(self) -> PlacedMultibody:
        keys = ("velocity", "angular_velocity") if self.base == "fixed" else ()
        found: list[tuple[Path, str]] = [
            ((key,), "a robot whose base is fixed does not move off") for key in keys if any(getattr(self, key))
        ]
        if found:
            raise Misfits(found)
        return self


class MultibodyTime(TimeSettings):
    step: Seconds = Field(default=0.00025, gt=0, le=10)
    """Integration step [s], a whole number of nanoseconds."""
    method: Literal["auto", "rk4", "euler", "implicit", "implicit-fast"] = "auto"
    """auto: the integrator that an MJCF file names, else rk4, or implicit-fast where servos and dampers are too fast
    for rk4; rk4: Runge-Kutta of fourth order, which keeps the momentum of spinning rotors; euler: semi-implicit, a
    third of the work; implicit and implicit-fast: velocities at the end of the step, for stiff joints and long
    steps."""


@with_endpoints("multibody")
class MultibodyLinks(RunLinks):
    """What `botz run --serve` opens; null leaves it out."""


class MultibodyScenario(ScenarioBase):
    """Multibody robots: aircraft, arms, legs and wheels on MuJoCo, with force elements."""

    engine: Literal["multibody"]
    """What moves the robots."""
    time: MultibodyTime = MultibodyTime()
    """How time passes."""
    world: MultibodyWorld = MultibodyWorld()
    """Ground, obstacles, air and wind."""
    robots: dict[Name, PlacedMultibody] = Field(min_length=1, max_length=100)
    """The robots by name: each with `extends` and changes, or with all of its parts."""
    controllers: dict[Name, FlightController] = Field(default={})
    """What moves the robots, by name."""
    links: MultibodyLinks = MultibodyLinks()
    """How viewers reach the run, with `botz run --serve`."""
