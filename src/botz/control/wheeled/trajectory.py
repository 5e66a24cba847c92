"""Follow a trajectory in time."""

from __future__ import annotations

from math import copysign, cos, hypot, inf, pi, sin, sqrt
from typing import Any, assert_never

from botz.control.base import ControllerSetup, Measured
from botz.control.planar import Pose, relative, rotate, wrap
from botz.control.wheeled.capability import Motion, Twist
from botz.control.wheeled.drive import PoseController, towards
from botz.control.wheeled.reference import Moment, Reference, reference_of
from botz.errors import InputError, Problem
from botz.scenario.schema import TrajectoryController

CURVATURE_SAMPLES = 720
DECAY_LENGTH = 0.25
"""Shortest length over which lateral errors decay, in lengths of the robot."""


class Trajectory(PoseController):
    """Where the robot moves in every direction, the origin of its body follows the trajectory.

    A robot with an axle follows with the middle of its axle, heading along the path; where a file gives headings
    they are the body's, and its axle goes where the body has it.
    """

    kind = "trajectory"
    state = ("kept_heading", "started", "pursuing")

    def __init__(self, spec: TrajectoryController):
        super().__init__(spec.measured)
        self.spec = spec
        self.reference: Reference = reference_of(spec)

    def reset(self, setup: ControllerSetup) -> None:
        super().reset(setup)
        self.started = False
        self.pursuing = False
        """A car that is on its way to the trajectory."""
        self.kept_heading = 0.0
        """The heading at the first update, for robots that keep it."""
        self._check_curvature()

    def _check_curvature(self) -> None:
        """A named curve that is tighter than a car can turn is refused; a file's is cut where it is too tight."""
        if self.capability.motion is not Motion.CAR or self.spec.curve is None:
            return
        moments = [self.reference.at(k * self.spec.period / CURVATURE_SAMPLES) for k in range(CURVATURE_SAMPLES)]
        tightest = max(abs(m.turn) / m.speed if m.speed > 0.0 else 0.0 for m in moments)
        if tightest > self.capability.curvature:
            raise InputError(
                Problem(
                    f"robot {self.robot!r} cannot follow this {self.spec.curve}: it turns within "
                    f"{1.0 / tightest:.3g} m, the robot within {1.0 / self.capability.curvature:.3g} m at best; "
                    f"raise 'size' to at least {self.spec.size * tightest / self.capability.curvature:.3g} m",
                    key=f"robots.{self.robot}",
                )
            )

    def update(self, t: float, measured: Measured) -> dict[str, Any]:
        pose = self.pose(measured)
        if not self.started:
            self.started = True
            self.kept_heading = pose[2]
            self._check_heading(pose)
        # Errors are those of this moment; velocities are those of the middle of the period that they are held for.
        now, ahead = self.reference.at(t), self.reference.at(t + 0.5 * self.period)
        match self.capability.motion:
            case Motion.HOLONOMIC | Motion.TRANSLATE:
                twist = self._with_body(pose, now, ahead)
            case Motion.UNICYCLE | Motion.CAR:
                twist = self._with_axle(self.capability.frame_pose(pose), self._of_axle(now), self._of_axle(ahead))
            case _:
                assert_never(self.capability.motion)
        return self.command(twist, measured)

    def _check_heading(self, pose: Pose) -> None:
        wanted = self.reference.heading_range
        if self.capability.motion is not Motion.TRANSLATE or wanted is None:
            return
        if max(abs(wrap(heading - pose[2])) for heading in wanted) > 0.01:
            raise InputError(
                Problem(
                    f"the trajectory has headings from {wanted[0]:.4g} to {wanted[1]:.4g} rad, but robot "
                    f"{self.robot!r} stays at {pose[2]:.4g} rad: nothing controls its heading; leave out the "
                    f"column 'heading'",
                    key=f"robots.{self.robot}",
                )
            )

    # --- robots that move in every direction ---------------------------------------------------------------

    def _with_body(self, pose: Pose, now: Moment, ahead: Moment) -> Twist:
        """Velocity of the trajectory plus a part of the error, both of the position and of the heading."""
        gain = self.gain(self.spec.gain)
        dx, dy = now.x - pose[0], now.y - pose[1]
        correction = self._bounded(gain * hypot(dx, dy)) / max(hypot(dx, dy), 1e-300)
        velocity = ahead.vx + correction * dx, ahead.vy + correction * dy
        turn = 0.0
        if self.capability.motion is Motion.HOLONOMIC:
            if self.spec.heading == "path" or self.reference.heading_range is not None:
                turn = ahead.turn + gain * wrap(now.heading - pose[2])
            else:
                turn = gain * wrap(self.kept_heading - pose[2])
        return towards(pose, velocity, turn, self.period)

    def _bounded(self, speed: float) -> float:
        """The speed of catching up: no more than the trajectory itself asks for at its fastest."""
        fastest = max(self.reference.fastest, 0.05)
        return min(max(speed, -fastest), fastest)

    # --- robots with an axle -------------------------------------------------------------------------------

    def _of_axle(self, moment: Moment) -> Moment:
        """The same moment for the frame D on the axle."""
        if self.reference.heading_range is None:
            return moment
        x, y, heading = self.capability.frame_pose((moment.x, moment.y, moment.heading))
        dx, dy = rotate(self.capability.frame[0], self.capability.frame[1], moment.heading)
        return Moment(x, y, moment.vx - moment.turn * dy, moment.vy + moment.turn * dx, heading, moment.turn)

    def _with_axle(self, pose: Pose, now: Moment, ahead: Moment) -> Twist:
        """Tracking after Samson: the errors e_x, e_y, e_θ of the robot's own frame go to zero while it moves.

        With v = v_r cos e_θ + g e_x and ω = ω_r + k e_y sin(e_θ)/e_θ + 2 w e_θ, small lateral errors follow
        e_y'' + 2 w e_y' + k v_r e_y = 0, critically damped for k v_r = w². The rate w is the gain g at full speed
        and falls with the speed, so that errors decay over a length of the robot's own and not ever more sharply.
        """
        gain = self.gain(self.spec.gain)
        ex, ey, angle = relative(pose, (now.x, now.y, now.heading))
        speed_r = ahead.vx * cos(ahead.heading) + ahead.vy * sin(ahead.heading)
        if self.capability.motion is Motion.CAR and self._is_far(hypot(ex, ey), angle, speed_r):
            return self._pursue(pose, now, speed_r, hypot(ex, ey))
        slow = gain * DECAY_LENGTH * self.model.length
        lateral = gain * gain * speed_r / (speed_r * speed_r + slow * slow)
        rate = max(sqrt(lateral * speed_r), 0.25 * gain)
        ratio = sin(angle) / angle if abs(angle) > 1e-6 else 1.0
        # Far from the trajectory the lateral term may not swing the robot round and round.
        sideways = min(max(lateral * ey * ratio, -2.0 * rate), 2.0 * rate)
        speed = speed_r * cos(angle) + self._bounded(gain * ex)
        turn = ahead.turn + sideways + 2.0 * rate * angle
        if self.capability.motion is Motion.CAR:
            largest = self.capability.curvature * abs(speed)
            turn = min(max(turn, -largest), largest)
        return self.capability.twist(speed, turn)

    def _is_far(self, distance: float, angle: float, speed_r: float) -> bool:
        """Whether a car must first get to its trajectory: it cannot turn towards it where it stands."""
        radius = 1.0 / self.capability.curvature
        if abs(speed_r) < 0.05 * self.reference.fastest:
            self.pursuing = False
        elif self.pursuing:
            self.pursuing = distance > 0.5 * radius or abs(angle) > 0.8
        else:
            self.pursuing = distance > radius or abs(angle) > 0.5 * pi
        return self.pursuing

    def _pursue(self, pose: Pose, now: Moment, speed_r: float, distance: float) -> Twist:
        """Towards a point before the trajectory's own, faster than that one moves."""
        radius = 1.0 / self.capability.curvature
        way = copysign(1.0, speed_r)
        lead = way * radius
        target = (now.x + lead * cos(now.heading), now.y + lead * sin(now.heading), 0.0)
        x, y, _ = relative(pose, target)
        curvature = 2.0 * y / max(x * x + y * y, 1e-12)
        if way * x < 0.0:
            curvature = copysign(inf, y)
        curvature = min(max(curvature, -self.capability.curvature), self.capability.curvature)
        speed = way * (abs(speed_r) + self._bounded(self.gain(self.spec.gain) * distance))
        return self.capability.twist(speed, curvature * speed)
