"""Serial arms: the robot and scenario schema of the engine `arm`."""

from __future__ import annotations

from math import nan, pi
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from botz.scenario.arm.links import ArmLinks
from botz.scenario.arm.motion import ArmController, JointValue
from botz.scenario.arm.world import ArmWorld, Vector
from botz.scenario.misfits import Misfits, Path
from botz.scenario.names import closest
from botz.scenario.rigid_body import Body
from botz.scenario.schema import Name, ScenarioBase, Strict, TimeSettings, with_common_parts
from botz.scenario.units import (
    Metres,
    MetresPerSecond,
    Newtons,
    Number,
    Pose,
    Quantity,
    Radians,
    Seconds,
    as_written,
    doubt,
    show,
    unit_misfits,
)

Gain = Annotated[JointValue, Field(ge=0)]
Frequency = Annotated[float, Quantity("rad/s")]
MASTER_COLUMNS = ("time", "clutch", "stop", "reset", "opening", "vx", "vy", "vz", "wx", "wy", "wz")
"""What a master's script has beside the joints."""


class Actuator(Strict):
    """What turns a joint: a hydraulic motor behind a servo valve, or an ideal one where nothing is given."""

    torque: JointValue | None = Field(default=None, gt=0, le=1e9)
    """Largest torque (force of a prismatic joint); null: without limit [N·m, N]."""
    torque_rate: JointValue | None = Field(default=None, gt=0, le=1e12)
    """How fast the torque can change: the valve's pressure rate; null: at once [N·m/s, N/s]."""
    lag: Seconds = Field(default=0.0, ge=0, le=10)
    """Time constant with which the torque follows its command: the valve's lag; 0: none [s]."""
    flow_speed: JointValue | None = Field(default=None, gt=0, le=1e6)
    """Speed at which the flow is used up and the torque in the direction of motion is gone: it falls as
    1 − (speed/flow_speed)², as behind an orifice; null: never [rad/s, m/s]."""

    @model_validator(mode="after")
    def _flow_of_something(self) -> Actuator:
        if self.flow_speed is not None and self.torque is None:
            raise Misfits([(("flow_speed",), "is where the torque is gone; it needs 'torque', the one at rest")])
        return self


class JointFriction(Strict):
    viscous: JointValue = Field(default=0.0, ge=0, le=1e9)
    """Torque per speed [N·m·s/rad, N·s/m]."""
    coulomb: JointValue = Field(default=0.0, ge=0, le=1e9)
    """Torque of sliding friction [N·m, N]."""
    smoothing: JointValue = Field(default=0.01, gt=0, le=10)
    """Speed w of the smoothed sign q̇/√(q̇² + w²): Coulomb's friction is 71 % of its value there [rad/s, m/s]."""


class Submerged(Strict):
    """What water does to a link; it counts where the world has water."""

    volume: Annotated[float, Quantity("m^3")] = Field(default=0.0, ge=0, le=1e3)
    """Water that the link displaces [m³]."""
    centre: Annotated[list[Metres], Field(min_length=3, max_length=3)] = Field(default=[0.0, 0.0, 0.0])
    """Where buoyancy and drag act, in the link's frame [m]."""
    drag_area: Annotated[list[Annotated[float, Quantity("m^2")]], Field(min_length=3, max_length=3)] = Field(
        default=[0.0, 0.0, 0.0]
    )
    """Drag coefficient times area along the link's x, y and z: each gives −½ ρ C_d A |v| v of its component [m²]."""


def si(value: Any) -> float:
    """A joint's value from a file, radians or metres; NaN for what is none, which its own check reports."""
    try:
        return Quantity(None).convert(value)
    except ValueError:
        return nan


class Joint(Body):
    """A joint and the link that it moves: a row of Denavit and Hartenberg's table, and the link's mass properties in
    the frame at its far end."""

    type: Literal["revolute", "prismatic"] = "revolute"
    """What it does: turn, or slide."""
    alpha: Radians = 0.0
    """Turn from z of the frame before to z of its own, about its x [rad]."""
    a: Metres = 0.0
    """Distance between the two z axes, along x [m]."""
    d: Metres = 0.0
    """Distance between the two x axes, along z of the frame before; of a prismatic joint, added to its variable [m]."""
    theta: Radians = 0.0
    """Turn between the two x axes; of a revolute joint, added to its variable [rad]."""
    range: Annotated[list[JointValue], Field(min_length=2, max_length=2)] | None = None
    """Least and greatest value of the variable, where the stops are; null: none [rad, m]."""
    speed: JointValue | None = Field(default=None, gt=0, le=1e6)
    """Largest speed that is asked of it; null: any [rad/s, m/s]."""
    acceleration: JointValue | None = Field(default=None, gt=0, le=1e9)
    """Largest acceleration that paths ask of it; null: twice its speed in a second [rad/s², m/s²]."""
    rotor_inertia: JointValue = Field(default=0.0, ge=0, le=1e6)
    """Inertia of the motor's rotor seen at the joint: gear ratio squared times its own [kg·m², kg]."""
    friction: JointFriction = JointFriction()
    """Friction of the joint."""
    actuator: Actuator = Actuator()
    """What drives it."""
    stop_frequency: Frequency = Field(default=60.0, gt=0, le=1e5)
    """How fast a joint that runs into a stop is brought back to the end of its range, critically damped, whatever
    pushes it and however much hangs on it [rad/s]."""
    water: Submerged = Submerged()
    """Buoyancy and drag of its link."""

    @model_validator(mode="before")
    @classmethod
    def _units_of_its_kind(cls, data: Any) -> Any:
        """Radians of a joint that turns, metres of one that slides; afterwards all are plain numbers."""
        if not isinstance(data, dict):
            return data
        slides = data.get("type") == "prismatic"
        wanted: dict[Path, str] = {
            ("range",): "m" if slides else "rad",
            ("speed",): "m/s" if slides else "rad/s",
            ("acceleration",): "m/s^2" if slides else "rad/s^2",
            ("rotor_inertia",): "kg" if slides else "kg*m^2",
            ("friction", "coulomb"): "N" if slides else "Nm",
            ("friction", "smoothing"): "m/s" if slides else "rad/s",
            ("actuator", "torque"): "N" if slides else "Nm",
            ("actuator", "flow_speed"): "m/s" if slides else "rad/s",
        }
        found: list[tuple[Path, str]] = []
        for path, unit in wanted.items():
            value: Any = data
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            found += unit_misfits(value, unit, path)
        ends = data.get("range")
        if not found and isinstance(ends, list) and len(ends) == 2 and si(ends[0]) >= si(ends[1]):
            found.append((("range",), f"{show(ends[0])} is not below {show(ends[1])}"))
        if found:
            raise Misfits(found)
        return data


class Tool(Strict):
    """The tool's frame on the last link, and what of it touches the world."""

    position: Vector = Field(default=[0.0, 0.0, 0.0])
    """Of the tool's point in the last link's frame [m]."""
    attitude: Annotated[list[Radians], Field(min_length=3, max_length=3)] = Field(default=[0.0, 0.0, 0.0])
    """Roll, pitch and yaw of the tool's frame in the last link's; yaw first [rad]."""
    points: list[Vector] = Field(default=[], max_length=32)
    """Centres of the balls that touch planes, boxes and objects, in the tool's frame [m]."""
    radius: Metres = Field(default=0.0, ge=0, le=10)
    """Radius of these balls [m]."""
    friction: Number = Field(default=0.5, ge=0, le=10)
    """Coulomb's coefficient of tool and pads; with another surface the geometric mean of both counts."""


class Gripper(Strict):
    """Two jaws that close along the tool's y, with flat pads before its x-z plane."""

    opening: Metres = Field(gt=0, le=10)
    """Greatest distance between the pads [m]."""
    force: Newtons = Field(gt=0, le=1e7)
    """Greatest force of a jaw [N]."""
    speed: MetresPerSecond = Field(gt=0, le=100)
    """Speed at which the distance between the pads changes with nothing in the way [m/s]."""
    pads: Annotated[list[Metres], Field(min_length=2, max_length=2)]
    """Size of a pad along the tool's x and z [m]."""
    start: Metres | None = Field(default=None, ge=0)
    """Distance between the pads at the start; null: open [m]."""

    @model_validator(mode="after")
    def _sizes(self) -> Gripper:
        found: list[tuple[Path, str]] = []
        if self.start is not None and self.start > self.opening:
            found.append((("start",), f"{self.start:g} m is more than the opening of {self.opening:g} m"))
        found += [(("pads", k), f"{size:g} m; needs more than 0") for k, size in enumerate(self.pads) if size <= 0]
        if found:
            raise Misfits(found)
        return self


class ServoGains(Strict):
    """Gains of each joint, in place of those that follow from the frequency."""

    proportional: list[Gain] = Field(min_length=1, max_length=32)
    """Torque per error [N·m/rad, N/m]; of computed torque, acceleration per error [1/s²]."""
    derivative: list[Gain] = Field(min_length=1, max_length=32)
    """Torque per error of speed; of computed torque [1/s]."""
    integral: list[Gain] = Field(default=[], max_length=32)
    """Torque per integrated error; of computed torque [1/s³]; none where it is empty."""


class Servo(Strict):
    """How the arm's own computer turns references into torques, once a step."""

    type: Literal["torque", "pid", "computed-torque"] = "pid"
    """torque: the torques commanded and nothing else; pid: PID control of each joint, with the model's gravity
    compensated; computed-torque: the model's whole dynamics linearised away."""
    frequency: Frequency = Field(default=20.0, gt=0, le=1e5)
    """Natural frequency of the error's decay: k_p = ω², times the joint's inertia for PID [rad/s]."""
    damping: Number = Field(default=1.0, ge=0, le=100)
    """Its damping ratio: k_d = 2 ζ ω."""
    integral_time: Seconds | None = Field(default=None, gt=0, le=1e6)
    """k_i = k_p / integral_time; null: no integral part. It gives at most a tenth of the actuator's torque [s]."""
    gains: ServoGains | None = None
    """Explicit gains in place of these three."""
    compensate_friction: bool = False
    """Add the model's viscous and Coulomb friction at the reference's speed."""
    knows_payload: bool = True
    """The model has the payload, and what the gripper holds."""
    model_scale: Number = Field(default=1.0, gt=0, le=100)
    """Masses of links and payload in the servo's model, by the true ones: to see what a wrong model does."""


class Arm(Strict):
    """A robot file of engine `arm`: a chain of joints and links by Denavit and Hartenberg's parameters."""

    engine: Literal["arm"] = "arm"
    """The engine that it is made for."""
    description: str = ""
    """What it is, for people."""
    source: str = ""
    """Where its numbers come from, and which are assumptions."""
    joint: dict[str, Any] = Field(default={})
    """What all joints have in common; each of `joints` is laid over it."""
    joints: dict[Name, Joint] = Field(min_length=1, max_length=32)
    """The joints from the base to the tool, by name, each with its link."""
    tool: Tool = Tool()
    """The tool."""
    gripper: Gripper | None = None
    """The gripper; null: none."""
    payload: Body = Body()
    """What is fixed to the tool, in the tool's frame."""
    servo: Servo = Servo()
    """How references become torques."""

    @model_validator(mode="before")
    @classmethod
    def _common_joint(cls, data: Any) -> Any:
        return with_common_parts(data)

    @model_validator(mode="after")
    def _gains_fit(self) -> Arm:
        found: list[tuple[Path, str]] = []
        count = len(self.joints)
        if (gains := self.servo.gains) is not None:
            for key in ("proportional", "derivative", "integral"):
                if (given := len(getattr(gains, key))) not in (count, 0):
                    found.append((("servo", "gains", key), f"{given} numbers for {count} joints"))
        for name in self.joints:
            if name in MASTER_COLUMNS:
                found.append((("joints", name), f"{name!r} is a column of a master's script; choose another name"))
        if found:
            raise Misfits(found)
        return self


class PlacedArm(Arm):
    """An arm in a scenario: a robot file by `extends`, changed where the scenario says so, and put somewhere."""

    pose: Pose = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """Of the base: x, y, z [m], roll, pitch, yaw [rad]."""
    start: list[JointValue] | None = None
    """Joint variables at the start; null: 0, or the end of the range that is nearest to it [rad, m]."""
    start_speed: list[JointValue] | None = None
    """Joint speeds at the start; null: at rest [rad/s, m/s]."""

    @model_validator(mode="before")
    @classmethod
    def _start_in_units(cls, data: Any) -> Any:
        """Radians of joints that turn, metres of those that slide."""
        joints = data.get("joints") if isinstance(data, dict) else None
        if not isinstance(joints, dict):
            return data
        kinds = [isinstance(joint, dict) and joint.get("type") == "prismatic" for joint in joints.values()]
        found: list[tuple[Path, str]] = []
        for key, turned, slid in (("start", "rad", "m"), ("start_speed", "rad/s", "m/s")):
            values = data.get(key)
            if isinstance(values, list) and len(values) == len(kinds):
                for k, (value, slides) in enumerate(zip(values, kinds, strict=True)):
                    found += unit_misfits(value, slid if slides else turned, (key, k))
        start = data.get("start")
        if not found and isinstance(start, list) and len(start) == len(kinds):
            for k, (value, (name, joint)) in enumerate(zip(start, joints.items(), strict=True)):
                ends = joint.get("range") if isinstance(joint, dict) else None
                unit = "m" if kinds[k] else "rad"
                if not isinstance(ends, list) or len(ends) != 2 or unit_misfits(ends, unit, ()):
                    continue  # reported by the joint's own check
                low, high = map(si, ends)
                if low < high and not low <= si(value) <= high:
                    shown = f"{as_written(low, value, unit)} to {as_written(high, value, unit)}"
                    said = f"{show(value)} is outside the range of {name}, {shown}"
                    # 90 at a joint that turns by less than that many radians was meant as degrees.
                    doubted = unit == "rad" and not isinstance(value, str) and abs(si(value)) > 2.0 * pi
                    found.append((("start", k), f"{said}; {doubt(si(value))}" if doubted else said))
        if found:
            raise Misfits(found)
        return data

    @model_validator(mode="after")
    def _start_fits(self) -> PlacedArm:
        found: list[tuple[Path, str]] = []
        for key in ("start", "start_speed"):
            values = getattr(self, key)
            if values is not None and len(values) != len(self.joints):
                found.append(((key,), f"{len(values)} numbers for {len(self.joints)} joints"))
        if found:
            raise Misfits(found)
        return self

    @property
    def start_joints(self) -> list[float]:
        if self.start is not None:
            return list(self.start)
        ranges = [joint.range or [-pi, pi] for joint in self.joints.values()]
        return [min(max(0.0, low), high) for low, high in ranges]


class ArmTime(TimeSettings):
    method: Literal["rk4", "semi-implicit"] = "rk4"
    """rk4: Runge-Kutta of fourth order, the torques held within a step; semi-implicit: Euler's method with the new
    velocities, a fourth of the work."""
    forward_dynamics: Literal["composite-body", "newton-euler"] = "composite-body"
    """Walker and Orin's method 3, or their method 1; both give the same accelerations, the first sooner."""


class ArmScenario(ScenarioBase):
    """Serial arms."""

    engine: Literal["arm"]
    """What moves the robots."""
    time: ArmTime = ArmTime()
    """How time passes."""
    world: ArmWorld = ArmWorld()
    """Gravity, water, and what the tools meet."""
    robots: dict[Name, PlacedArm] = Field(min_length=1, max_length=100)
    """The arms by name: each with `extends` and changes, or with all of its parts."""
    controllers: dict[Name, ArmController] = Field(default={})
    """What moves the arms, by name."""
    links: ArmLinks = ArmLinks()
    """How masters and viewers reach the run, with `botz run --serve`."""

    @model_validator(mode="after")
    def _names_are_free(self) -> ArmScenario:
        found: list[tuple[Path, str]] = []
        for name in self.robots:
            if name in self.world.objects:
                found.append((("robots", name), f"one of the objects is called {name!r} too; choose another name"))
        link = self.links.teleoperation
        if link is not None and link.robot is not None and link.robot not in self.robots:
            hint = closest(link.robot, self.robots)
            found.append((("links", "teleoperation", "robot"), f"no robot {link.robot!r}{hint}"))
        if found:
            raise Misfits(found)
        return self
