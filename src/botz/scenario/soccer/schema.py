"""Robot soccer: the robot and scenario schema of the engine `soccer`."""

from __future__ import annotations

from math import hypot
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from botz.scenario.misfits import Misfits, Path
from botz.scenario.schema import Controller, Name, ScenarioBase, Strict, TimeSettings, controllers_of, with_common_parts
from botz.scenario.soccer.links import SoccerLinks
from botz.scenario.units import (
    Kilograms,
    Metres,
    MetresPerSecond,
    NewtonMetres,
    Number,
    PlanarPose,
    Quantity,
    RadiansPerSecond,
    Volts,
)

Team = Literal["blue", "yellow"]
Inertia = Annotated[float, Quantity("kg*m^2")]
LinearFriction = Annotated[float, Quantity("N*s/m")]
TurningFriction = Annotated[float, Quantity("Nm*s/rad")]
FASTEST = 100.0
"""Largest speed at which a ball may be put into play [m/s]; shots of the league reach about 5 m/s."""
RESERVED = ("ball", "match")
"""Names of channels and commands that are not a robot's."""


class SoccerMotor(Strict):
    """A DC motor that turns its wheel directly, by its data sheet: K = V/ω₀ and R = K V/τ_stall."""

    voltage: Volts = Field(gt=0, le=1e3)
    """Voltage of the data sheet, and the largest that the driver gives [V]."""
    no_load_speed: RadiansPerSecond = Field(gt=0, le=1e5)
    """Speed of the wheel at that voltage without load [rad/s]."""
    stall_torque: NewtonMetres = Field(gt=0, le=1e4)
    """Torque at that voltage while it stands [N·m]."""
    rotor_inertia: Inertia = Field(default=0.0, ge=0, le=1e3)
    """Inertia of the rotor, seen at the wheel [kg·m²]."""
    friction: TurningFriction = Field(default=0.0, ge=0, le=1e3)
    """Viscous friction of motor and wheel [N·m·s/rad]."""


class SoccerWheel(Strict):
    radius: Metres = Field(gt=0, le=10)
    """Radius of the wheel [m]."""
    mass: Kilograms = Field(default=0.0, ge=0, le=1e3)
    """Mass of the wheel: a disc whose inertia is ½ m r² [kg]."""
    motor: SoccerMotor
    """The motor that turns it."""

    @property
    def inertia(self) -> float:
        """Of wheel and rotor about the axle [kg·m²]."""
        return 0.5 * self.mass * self.radius**2 + self.motor.rotor_inertia


class SoccerWheels(Strict):
    left: SoccerWheel
    """The left wheel."""
    right: SoccerWheel
    """The right wheel."""


class SpeedControl(Strict):
    """How a commanded wheel speed becomes a voltage, in the robot itself: what the speed needs without load, plus a
    gain on its error."""

    gain: Number = Field(default=4.0, ge=0, le=1e4)
    """Volts per rad/s of error, in units of the motor's constant K."""


class SoccerRobot(Strict):
    """A robot file of engine `soccer`: a cube on two wheels."""

    engine: Literal["soccer"] = "soccer"
    """The engine that it is made for."""
    description: str = ""
    """What it is, for people."""
    source: str = ""
    """Where its numbers come from, and which are assumptions."""
    side: Metres = Field(gt=0.005, le=10)
    """Edge of the cube [m]."""
    mass: Kilograms = Field(gt=0, le=1e4)
    """Mass of the body without its wheels [kg]."""
    inertia: Inertia | None = Field(default=None, gt=0, le=1e6)
    """Of the robot about the vertical through its middle; null: a cube's m a²/6 and the wheels at their places
    [kg·m²]."""
    track: Metres = Field(gt=0, le=10)
    """Distance between the two wheels [m]."""
    wheel: dict[str, Any] = Field(default={})
    """What both wheels have in common; each of `wheels` is laid over it."""
    wheels: SoccerWheels
    """The two wheels."""
    linear_friction: LinearFriction = Field(default=0.0, ge=0, le=1e4)
    """Viscous friction along the heading [N·s/m]."""
    turning_friction: TurningFriction = Field(default=0.0, ge=0, le=1e4)
    """Viscous friction of turning [N·m·s/rad]."""
    grip: Number | None = Field(default=0.8, ge=0, le=100)
    """Sideways force by weight above which a robot that leans on something slides aside; null: never, as in the
    source."""
    speed_control: SpeedControl = SpeedControl()
    """How wheel speeds are followed."""

    @model_validator(mode="before")
    @classmethod
    def _common_wheel(cls, data: Any) -> Any:
        return with_common_parts(data)

    @property
    def total_mass(self) -> float:
        """Of body and wheels [kg]."""
        return self.mass + (self.wheels.left.mass + self.wheels.right.mass)

    @property
    def turning_inertia(self) -> float:
        """About the vertical through the middle [kg·m²]."""
        if self.inertia is not None:
            return self.inertia
        wheels = (self.wheels.left.mass + self.wheels.right.mass) * (0.5 * self.track) ** 2
        return self.mass * self.side**2 / 6.0 + wheels


class PlacedSoccerRobot(SoccerRobot):
    """A robot in a scenario: a robot file by `extends`, changed where the scenario says so, and put somewhere."""

    team: Team
    """The team that it plays for: blue defends −x, yellow defends +x."""
    id: int | None = Field(default=None, ge=0, le=999)
    """Its number within the team; null: the lowest that is free, in the order of the file."""
    pose: PlanarPose
    """x, y [m] and heading [rad] at the start and at kick-offs."""
    kick_off_pose: PlanarPose | None = None
    """Where it stands when its own team kicks off; null: at `pose`."""


class PlayingField(Strict):
    """The field, about the origin: its length along x, from goal to goal. League sizes by default."""

    length: Metres = Field(default=1.50, gt=0, le=1e3)
    """From end wall to end wall [m]."""
    width: Metres = Field(default=1.30, gt=0, le=1e3)
    """From side wall to side wall [m]."""
    goal_width: Metres = Field(default=0.40, gt=0, le=1e3)
    """Opening of the goals [m]."""
    goal_depth: Metres = Field(default=0.10, gt=0, le=1e3)
    """From the end wall to the back of the goal [m]."""
    corner: Metres = Field(default=0.07, ge=0, le=1e3)
    """Legs of the triangles in the four corners; 0 for none [m]."""
    center_radius: Metres = Field(default=0.20, ge=0, le=1e3)
    """Of the circle in the middle, a marking [m]."""
    penalty_width: Metres = Field(default=0.70, ge=0, le=1e3)
    """Of the area before the goals along y, a marking [m]."""
    penalty_depth: Metres = Field(default=0.15, ge=0, le=1e3)
    """Of that area along x, a marking [m]."""
    penalty_point: Metres = Field(default=0.375, ge=0, le=1e3)
    """From the middle to the penalty marks, a marking [m]."""

    @model_validator(mode="after")
    def _goal_between_corners(self) -> PlayingField:
        if 2.0 * self.corner >= self.width:
            raise Misfits([(("corner",), f"{self.corner:g} m leaves nothing of a width of {self.width:g} m")])
        if self.goal_width > self.width - 2.0 * self.corner:
            room = self.width - 2.0 * self.corner
            wide = f"{self.goal_width:g} m is wider than the {room:g} m between the corners"
            raise Misfits([(("goal_width",), wide)])
        if self.corner > 0.5 * self.length:
            raise Misfits([(("corner",), f"{self.corner:g} m is more than half the length")])
        return self


class Ball(Strict):
    """The ball: [yamamoto2003] eq. 9, v̇ = −(β/m) v."""

    radius: Metres = Field(default=0.0215, gt=0.002, le=10)
    """Radius [m]."""
    mass: Kilograms = Field(default=0.046, gt=0, le=1e4)
    """Mass [kg]."""
    friction: LinearFriction = Field(default=0.02, ge=0, le=1e4)
    """Viscous friction β [N·s/m]; an assumption: the ball slows down to 1/e in 2.3 s."""
    rolling: bool = False
    """A ball that rolls has the inertia of 7/5 of its mass; false: 1, as the source has it."""
    position: Annotated[list[Metres], Field(min_length=2, max_length=2)] = Field(default=[0.0, 0.0])
    """x, y at the start and at kick-offs [m]."""
    velocity: Annotated[list[MetresPerSecond], Field(min_length=2, max_length=2)] = Field(default=[0.0, 0.0])
    """Velocity at the start [m/s]."""

    @property
    def inertial_mass(self) -> float:
        return self.mass * 7.0 / 5.0 if self.rolling else self.mass


class BallWall(Strict):
    restitution: Number = Field(default=0.7, ge=0, le=1)
    """Speed after the impact by speed before it, along the normal: 1 elastic, 0 plastic."""
    friction: Number = Field(default=0.0, ge=0, le=10)
    """Coulomb's coefficient of the impact."""


class RobotWall(BallWall):
    restitution: Number = Field(default=0.3, ge=0, le=1)
    """Speed after the impact by speed before it, along the normal: 1 elastic, 0 plastic."""
    friction: Number = Field(default=0.1, ge=0, le=10)
    """Coulomb's coefficient of the impact."""


class RobotBall(RobotWall):
    restitution: Number = Field(default=0.5, ge=0, le=1)
    """Speed after the impact by speed before it, along the normal: 1 elastic, 0 plastic."""


class RobotRobot(RobotWall):
    """As robots on walls, until a scenario says otherwise."""


class Impacts(Strict):
    """What happens when bodies meet. The coefficients are assumptions."""

    model: Literal["rigid", "equivalent-sphere"] = "rigid"
    """rigid: the impulse between rigid bodies, which never gains energy; equivalent-sphere: the source's, which does
    for robots that turn or are hit off their axis."""
    ball_wall: BallWall = BallWall()
    """Ball on walls."""
    robot_wall: RobotWall = RobotWall()
    """Robots on walls."""
    robot_ball: RobotBall = RobotBall()
    """Robots on the ball."""
    robot_robot: RobotRobot = RobotRobot()
    """Robots on robots."""


class SoccerWorld(Strict):
    field: PlayingField = PlayingField()
    """The field, its goals and markings."""
    ball: Ball = Ball()
    """The ball."""
    impacts: Impacts = Impacts()
    """What happens when bodies meet."""


class Match(Strict):
    """The rules that the simulator keeps."""

    after_goal: Literal["kick-off", "continue", "end"] = "kick-off"
    """kick-off: all go back to their places and the team that conceded kicks off; continue: the ball stays where it
    is; end: the run ends."""
    first_kick_off: Team = "blue"
    """The team that kicks off at the start."""


class SoccerTime(TimeSettings):
    method: Literal["euler", "rk4"] = "euler"
    """euler: Euler's method for the speeds, then the poses by the new speeds; rk4: Runge-Kutta of fourth order."""


class SoccerPlayer(Controller):
    """A simple player, so that a match can be watched without teams of one's own."""

    implementation: ClassVar[str] = "botz.control.soccer.player:SoccerPlayer"
    docs: ClassVar[str] = "controllers.md#striker-and-goalkeeper"
    type: Literal["striker", "goalkeeper"]
    speed: MetresPerSecond = Field(default=0.8, gt=0, le=100)
    """Largest speed [m/s]."""


SoccerController = Annotated[Controller, controllers_of("soccer", SoccerPlayer)]


class SoccerScenario(ScenarioBase):
    """Robot soccer."""

    engine: Literal["soccer"]
    """What moves the robots."""
    time: SoccerTime = SoccerTime()
    """How time passes."""
    world: SoccerWorld = SoccerWorld()
    """Field, ball and impacts."""
    match: Match = Match()
    """The rules that the simulator keeps."""
    robots: dict[Name, PlacedSoccerRobot] = Field(min_length=1, max_length=1000)
    """The robots by name: each with `extends` and changes, or with all of its parts."""
    controllers: dict[Name, SoccerController] = Field(default={})
    """What drives the robots where no team does, by name."""
    links: SoccerLinks = SoccerLinks()
    """How teams and viewers reach the match, with `botz run --serve`."""

    @model_validator(mode="after")
    def _numbers_are_free(self) -> SoccerScenario:
        found: list[tuple[Path, str]] = []
        taken: dict[tuple[str, int], str] = {}
        for name, (team, number) in self.players.items():
            if name in RESERVED:
                found.append((("robots", name), f"{name!r} is not a robot's name in a match; choose another"))
            if (other := taken.setdefault((team, number), name)) != name:
                found.append((("robots", name, "id"), f"robot {other!r} is number {number} of {team} already"))
        ball, field = self.world.ball, self.world.field
        for key in ("goal_width", "goal_depth"):
            if (opening := getattr(field, key)) <= 2.0 * ball.radius:
                found.append((("world", "field", key), f"{opening:g} m; a ball of {2.0 * ball.radius:g} m needs more"))
        speed = hypot(*ball.velocity)
        if speed > FASTEST:
            found.append((("world", "ball", "velocity"), f"{speed:g} m/s is beyond {FASTEST:g} m/s"))
        if found:
            raise Misfits(found)
        return self

    @property
    def players(self) -> dict[str, tuple[Team, int]]:
        """Team and number of each robot; those without a number get the lowest free ones in order."""
        given = {(robot.team, robot.id) for robot in self.robots.values()}
        following: dict[str, int] = {"blue": 0, "yellow": 0}
        found: dict[str, tuple[Team, int]] = {}
        for name, robot in self.robots.items():
            number = robot.id
            if number is None:
                while (robot.team, following[robot.team]) in given:
                    following[robot.team] += 1
                number = following[robot.team]
                following[robot.team] += 1
            found[name] = (robot.team, number)
        return found
