"""What moves an arm: programs of paths and grips, and teleoperation."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from botz.scenario.arm.world import Vector
from botz.scenario.misfits import Misfits, Path
from botz.scenario.schema import ByType, Controller, Strict, controllers_of
from botz.scenario.units import Metres, MetresPerSecond, Newtons, Number, Pose, Quantity, RadiansPerSecond, Seconds

JointValue = Annotated[float, Quantity(None)]
"""Of a joint: in radians where it turns, in metres where it slides; which of them, the joint says."""


def _angle_or_length(value: Any) -> Any:
    """A place of a joint whose kind is not known here; what is neither of the two is refused."""
    if isinstance(value, str):
        try:
            return Quantity("rad").convert(value)
        except ValueError as error:
            try:
                return Quantity("m").convert(value)
            except ValueError:
                raise error from None
    return value


Joints = Annotated[list[Annotated[JointValue, BeforeValidator(_angle_or_length)]], Field(min_length=1, max_length=32)]


class Move(Strict):
    """The common part of all moves."""

    duration: Seconds | None = Field(default=None, gt=0, le=1e6)
    """How long it takes; null: as long as the limits ask for [s]."""


class JointMove(Move):
    """All joints from where they are to others, synchronised: they start and arrive together."""

    type: Literal["joints"]
    to: Joints | None = None
    """Joint variables at the end [rad, m]."""
    pose: Pose | None = None
    """The tool's pose at the end in the world, in place of `to`; the nearest solution is taken."""
    through: list[Joints] = Field(default=[], max_length=1000)
    """Joint variables that are passed without stopping, before the end [rad, m]."""
    profile: Literal["quintic", "trapezoidal"] = "quintic"
    """quintic: polynomials of fifth degree, smooth in acceleration; trapezoidal: the joints' greatest accelerations
    and speeds, in the shortest time."""

    @model_validator(mode="after")
    def _one_end(self) -> JointMove:
        if (self.to is None) == (self.pose is None):
            raise ValueError("give either 'to' or 'pose'")
        if self.through and self.profile == "trapezoidal":
            raise Misfits([(("through",), "points are passed by quintic paths only; leave `profile` out")])
        return self


class CartesianMove(Move):
    pose: Pose
    """The tool's pose at the end in the world: x, y, z [m], roll, pitch, yaw [rad]."""
    speed: MetresPerSecond = Field(default=0.2, gt=0, le=100)
    """Greatest speed along the path [m/s]."""
    turn_rate: RadiansPerSecond = Field(default=0.8, gt=0, le=100)
    """Greatest rate at which the tool turns [rad/s]."""


class LineMove(CartesianMove):
    """The tool along a straight line, its orientation turned about one axis meanwhile."""

    type: Literal["line"]


class ArcMove(CartesianMove):
    """The tool along a circle through a point, its orientation turned about one axis meanwhile."""

    type: Literal["arc"]
    through: Vector
    """A point of the circle between start and end [m]."""


class GripMove(Strict):
    """Open or close the gripper, and stay for a while."""

    type: Literal["gripper"]
    opening: Metres = Field(ge=0, le=10)
    """Distance between the pads that is wanted [m]; an object in between is held with `force`."""
    force: Newtons | None = Field(default=None, gt=0, le=1e7)
    """Greatest force of a jaw; null: the gripper's [N]."""
    duration: Seconds = Field(default=1.0, gt=0, le=1e6)
    """How long the arm waits meanwhile [s]."""


class WaitMove(Strict):
    """Stay where it is."""

    type: Literal["wait"]
    duration: Seconds = Field(gt=0, le=1e6)
    """How long [s]."""


ProgramStep = Annotated[JointMove | LineMove | ArcMove | GripMove | WaitMove, ByType()]


class ProgramController(Controller):
    """Moves and grips, one after the other. The whole program is planned before the first step: a path that leaves the
    workspace, passes a limit or would have to jump to another branch is refused by name."""

    implementation: ClassVar[str] = "botz.control.arm.program:ArmProgram"
    type: Literal["program"]
    steps: list[ProgramStep] = Field(min_length=1, max_length=10000)
    """What to do, in order."""
    loop: bool = False
    """After the last step begin again; the arm then goes back to its start by a joint move."""


class TeleoperationLimits(Strict):
    """What the slave never does, whatever the master asks."""

    joint_speed: Number = Field(default=1.0, gt=0, le=1)
    """Greatest joint speeds, as a share of the robot's own."""
    speed: MetresPerSecond = Field(default=0.5, gt=0, le=100)
    """Greatest speed of the tool in Cartesian mode [m/s]."""
    turn_rate: RadiansPerSecond = Field(default=1.0, gt=0, le=100)
    """Greatest turn rate of the tool in Cartesian mode [rad/s]."""
    low: Vector | None = None
    """Least x, y, z of the tool's workspace in the world; null: none [m]."""
    high: Vector | None = None
    """Greatest x, y, z of the tool's workspace in the world; null: none [m]."""

    @model_validator(mode="after")
    def _box_has_inside(self) -> TeleoperationLimits:
        if self.low is not None and self.high is not None:
            found: list[tuple[Path, str]] = [
                (("low", k), f"{low:g} m is not below {high:g} m of 'high'")
                for k, (low, high) in enumerate(zip(self.low, self.high, strict=True))
                if low >= high
            ]
            if found:
                raise Misfits(found)
        return self


class Line(Strict):
    """The line between master and slave, each way."""

    delay: Seconds = Field(default=0.0, ge=0, le=60)
    """Time that a message takes [s]."""
    jitter: Seconds = Field(default=0.0, ge=0, le=60)
    """Greatest time that it may take more, drawn anew for each [s]."""
    loss: Number = Field(default=0.0, ge=0, le=1)
    """Share of the messages that are lost."""


class Teleoperation(Strict):
    """How a master drives an arm."""

    scale: Number = Field(default=1.0, gt=0, le=1000)
    """The slave's joint angles or speeds by the master's."""
    limits: TeleoperationLimits = TeleoperationLimits()
    """What the slave never does."""
    line: Line = Line()
    """Delay and loss between the two."""
    timeout: Seconds = Field(default=0.5, ge=0.05, le=60)
    """Watchdog: silence after which the slave holds its place; 0.05 s at least [s]."""


class MasterScript(Strict):
    """A master in place of a device: what its hands do, from a file."""

    file: str
    """CSV with a column `time` [s] and those of the device: one of each joint's name [rad, m] (a miniature arm), or vx,
    vy, vz [m/s], wx, wy, wz [rad/s] (Cartesian rates); optionally `clutch`, `stop`, `reset` (1 or 0) and `opening` [m].
    The first message goes out when the slave has greeted the master, one round trip after the first row."""
    rate: Annotated[float, Quantity("Hz")] = Field(default=50.0, gt=0, le=1000)
    """Messages per second."""


class TeleoperationController(Controller):
    """A scripted master that drives the arm through the same messages, line and limits as one at the socket."""

    implementation: ClassVar[str] = "botz.control.teleop.controller:Teleoperated"
    type: Literal["teleoperation"]
    master: MasterScript
    """What the master does."""
    settings: Teleoperation = Teleoperation()
    """Scaling, limits and line."""


ArmController = Annotated[Controller, controllers_of("arm", ProgramController, TeleoperationController)]
