"""Drive to a pose and stop there."""

from __future__ import annotations

from math import atan2, cos, hypot, sin
from typing import Any, assert_never

from botz.control.base import ControllerSetup, Measured
from botz.control.planar import Pose, relative, reversed_pose, wrap
from botz.control.wheeled.capability import Motion, Twist
from botz.control.wheeled.drive import REST, PoseController, limited, towards
from botz.control.wheeled.dubins import shortest_path
from botz.control.wheeled.path_following import PathFollower
from botz.errors import InputError, Problem
from botz.scenario.schema import GoToPoseController

APPROACH = 2.0
"""Rate at which the last distance and angle decay [1/s]."""
CURVATURE_MARGIN = 0.85
"""Part of a car's curvature that its path uses; the rest is for correcting errors."""
MOST_PLANS = 4
"""A car that ends its path outside the tolerance plans anew, this often at most."""

DRIVE, ALIGN, ARRIVED = "drive", "align", "arrived"


class GoToPose(PoseController):
    kind = "go-to-pose"
    state = ("stage", "direction", "plans", "follower")

    def __init__(self, spec: GoToPoseController):
        super().__init__(spec.measured)
        self.spec = spec
        self.goal: Pose = spec.goal

    def reset(self, setup: ControllerSetup) -> None:
        super().reset(setup)
        self.stage = ""
        """Empty before the first update, then what it is doing."""
        self.direction = 1
        """−1: it drives backwards."""
        self.plans = 0
        self.follower: dict[str, Any] = {}
        """State of a car's way along its path."""
        self.goal_D = self.capability.frame_pose(self.goal)
        x, y, _ = self.capability.frame
        # The body's origin swings with D's heading: keep that within half of the tolerance too.
        self._near = 0.4 * self.spec.tolerance
        self._aligned = min(0.5 * self.spec.heading_tolerance, 0.4 * self.spec.tolerance / max(hypot(x, y), 1e-9))

    def update(self, t: float, measured: Measured) -> dict[str, Any]:
        if self.stage == ARRIVED:
            return {"twist": REST}
        pose = self.pose(measured)
        match self.capability.motion:
            case Motion.HOLONOMIC | Motion.TRANSLATE:
                twist = self._directly(pose)
            case Motion.UNICYCLE:
                twist = self._by_polar_law(self.capability.frame_pose(pose))
            case Motion.CAR:
                twist = self._along_path(pose, self.capability.frame_pose(pose))
            case _:
                assert_never(self.capability.motion)
        return self.command(twist, measured)

    # --- robots that move in every direction ---------------------------------------------------------------

    def _directly(self, pose: Pose) -> Twist:
        dx, dy = self.goal[0] - pose[0], self.goal[1] - pose[1]
        error = wrap(self.goal[2] - pose[2])
        if self.capability.motion is Motion.TRANSLATE:
            if not self.stage and abs(error) > self.spec.heading_tolerance:
                raise InputError(
                    Problem(
                        f"'go-to-pose' cannot turn robot {self.robot!r} from heading {pose[2]:.4g} rad to "
                        f"{self.goal[2]:.4g} rad: it moves in every direction but nothing controls its heading; "
                        f"give the goal the heading it starts with",
                        key=f"robots.{self.robot}",
                    )
                )
            error = 0.0
        self.stage = DRIVE
        distance = hypot(dx, dy)
        if distance <= self._near and abs(error) <= self._aligned:
            self.stage = ARRIVED
            return REST
        gain = self.gain(APPROACH)
        limits = self.spec.limits
        speed, turn = limited(gain * distance, gain * error, limits.speed, limits.turn_rate)
        scale = speed / distance if distance > 0.0 else 0.0
        return towards(pose, (scale * dx, scale * dy), turn, self.period)

    # --- robots with one axle that turn on the spot --------------------------------------------------------

    def _by_polar_law(self, pose: Pose) -> Twist:
        """The law of Aicardi, Casalino, Bicchi and Balestrino (1995) in polar coordinates, then a turn in place.

        With the distance ρ, the goal's bearing α from the robot's heading and φ from the goal's own heading, it
        makes ρ² + α² + k φ² fall all the way. Forwards or backwards is decided once, at the start.
        """
        ahead = relative(pose, self.goal_D)
        distance = hypot(ahead[0], ahead[1])
        if not self.stage:
            self.stage = DRIVE
            self.direction = 1 if ahead[0] >= 0.0 else -1
        if self.stage == DRIVE and distance <= self._near:
            self.stage = ALIGN
        limits = self.spec.limits
        if self.stage == ALIGN:
            if abs(ahead[2]) <= self._aligned:
                self.stage = ARRIVED
                return REST
            _, turn = limited(0.0, self.gain(APPROACH) * ahead[2], limits.speed, limits.turn_rate)
            return self.capability.twist(0.0, turn)
        goal = self.goal_D
        if self.direction < 0:
            pose, goal = reversed_pose(pose), reversed_pose(goal)
        bearing = atan2(goal[1] - pose[1], goal[0] - pose[0])
        alpha, phi = wrap(bearing - pose[2]), wrap(bearing - goal[2])
        k_distance, k_alpha, k_phi = self.gain(1.0), self.gain(3.0), 1.0
        ratio = sin(alpha) / alpha if abs(alpha) > 1e-6 else 1.0
        speed = k_distance * distance * cos(alpha)
        turn = k_alpha * alpha + k_distance * cos(alpha) * ratio * (alpha + k_phi * phi)
        if self._slow_groups and abs(speed) < 0.02 * abs(turn) * self.model.length:
            # A wheel steered to 90° must not swing to −90° and back when rounding changes the sign of the speed.
            speed = 0.0
        speed, turn = limited(speed, turn, limits.speed, limits.turn_rate)
        return self.capability.twist(self.direction * speed, turn)

    # --- robots that turn only while they move -------------------------------------------------------------

    def _along_path(self, body: Pose, pose: Pose) -> Twist:
        if not self.stage:
            self.stage = DRIVE
            self._plan(body, pose)
            if self.stage == ARRIVED:
                return REST
        limits = self.spec.limits
        path = PathFollower(self.follower, self.capability.curvature, self.period)
        virtual = pose if self.direction > 0 else reversed_pose(pose)
        speed, turn = path.step(virtual, limits.speed, limits.turn_rate, stop_within=0.1 * self.spec.tolerance)
        if path.finished:
            self._plan(body, pose)
            return REST
        return self.capability.twist(self.direction * speed, turn)

    def _plan(self, body: Pose, pose: Pose) -> None:
        """The shortest path there, forwards or backwards; none where it has arrived or has tried often enough."""
        error = relative(body, self.goal)
        arrived = hypot(error[0], error[1]) <= self.spec.tolerance and abs(error[2]) <= self.spec.heading_tolerance
        if arrived or self.plans == MOST_PLANS:
            self.stage = ARRIVED
            return
        self.plans += 1
        radius = 1.0 / (CURVATURE_MARGIN * self.capability.curvature)
        forwards = shortest_path(pose, self.goal_D, radius)
        backwards = shortest_path(reversed_pose(pose), reversed_pose(self.goal_D), radius)
        self.direction = 1 if forwards.length <= backwards.length else -1
        path = forwards if self.direction > 0 else backwards
        self.follower = PathFollower.begin(path.start, path.segments)
