"""Follow a polyline of waypoints: by pure pursuit, or directly where the robot moves in every direction."""

from __future__ import annotations

from math import atan2, copysign, cos, hypot, inf, pi, sin
from typing import Any

from botz.control.base import ControllerSetup, Measured
from botz.control.planar import Pose, relative
from botz.control.wheeled.capability import Motion, Twist
from botz.control.wheeled.drive import REST, PoseController, limited, towards
from botz.control.wheeled.polyline import Polyline
from botz.scenario.schema import WaypointsController

APPROACH = 2.0
"""Rate at which the last distance decays [1/s]."""
STOP = 1e-3
"""Distance along the path at which it ends [m]."""

FOLLOW, REACH, ARRIVED = "follow", "reach", "arrived"


class Waypoints(PoseController):
    """The path begins where the robot stands.

    A robot with an axle follows it with the middle of its axle and looks ahead, so it cuts corners. A robot that
    moves in every direction goes from point to point and keeps its heading.
    """

    kind = "waypoints"
    state = ("start", "progress", "stage", "next_point", "away")

    def __init__(self, spec: WaypointsController):
        super().__init__(spec.measured)
        self.spec = spec
        self.points = [(float(x), float(y)) for x, y in spec.points]
        self.loop = spec.loop and len(set(self.points)) > 1

    def reset(self, setup: ControllerSetup) -> None:
        super().reset(setup)
        self.start: list[float] = []
        """Where it stood at the first update."""
        self.progress = 0.0
        self.stage = FOLLOW
        self.next_point = 0
        self.away = False
        """A car that drives away from a point inside its turning circle."""
        self._path: Polyline | None = None

    def restore(self, saved: dict[str, Any]) -> None:
        super().restore(saved)
        self._path = None

    def update(self, t: float, measured: Measured) -> dict[str, Any]:
        if self.stage == ARRIVED:
            return {"twist": REST}
        body = self.pose(measured)
        if self.capability.motion in (Motion.HOLONOMIC, Motion.TRANSLATE):
            twist = self._from_point_to_point(body)
        else:
            twist = self._pursue(self.capability.frame_pose(body))
        return self.command(twist, measured)

    # --- robots that move in every direction ---------------------------------------------------------------

    def _from_point_to_point(self, pose: Pose) -> Twist:
        limits = self.spec.limits
        last = not self.loop and self.next_point == len(self.points) - 1
        x, y = self.points[self.next_point]
        distance = hypot(x - pose[0], y - pose[1])
        if distance <= (STOP if last else max(STOP, limits.speed * self.period)):
            if last:
                self.stage = ARRIVED
                return REST
            self.next_point = (self.next_point + 1) % len(self.points)
            x, y = self.points[self.next_point]
            distance = hypot(x - pose[0], y - pose[1])
            last = not self.loop and self.next_point == len(self.points) - 1
        if distance == 0.0:
            return REST
        speed = min(limits.speed, self.gain(APPROACH) * distance) if last else limits.speed
        return towards(pose, (speed * (x - pose[0]) / distance, speed * (y - pose[1]) / distance), 0.0, self.period)

    # --- robots with an axle -------------------------------------------------------------------------------

    def _pursue(self, pose: Pose) -> Twist:
        if not self.start:
            self.start = [pose[0], pose[1]]
        if self._path is None:
            self._path = Polyline((self.start[0], self.start[1]), self.points, loop=self.loop)
        path, lookahead = self._path, self.spec.lookahead
        if self.stage == FOLLOW:
            self.progress = path.on_loop(path.nearest(pose[0], pose[1], self.progress, 2.0 * lookahead))
            remaining = inf if path.loop else path.length - self.progress
            if remaining > STOP:
                return self._aim(pose, path.point(self.progress + lookahead), remaining)
            self.stage = REACH
        return self._reach(pose)

    def _aim(self, pose: Pose, target: tuple[float, float], remaining: float) -> Twist:
        """Along the circle that touches the robot's heading and passes through the target."""
        limits = self.spec.limits
        x, y, _ = relative(pose, (target[0], target[1], 0.0))
        distance, angle = max(hypot(x, y), 1e-9), atan2(y, x)
        speed = min(limits.speed, self.gain(APPROACH) * remaining)
        behind = abs(angle) > 0.5 * pi
        if self.capability.motion is Motion.UNICYCLE:
            # A target to the side slows it down, one behind it turns it on the spot.
            turning = copysign(1.0, angle) if behind else sin(angle)
            turn = turning * min(2.0 * limits.speed / distance, self.gain(4.0))
            forward = speed * max(0.0, cos(angle)) ** 2
            return self.capability.twist(*limited(forward, turn, limits.speed, limits.turn_rate))
        largest = self.capability.curvature
        curvature = copysign(largest, angle) if behind else 2.0 * y / distance**2
        curvature = min(max(curvature, -largest), largest)
        return self.capability.twist(*limited(speed, curvature * speed, limits.speed, limits.turn_rate))

    def _reach(self, pose: Pose) -> Twist:
        """The path has ended; where the last point was missed, go for the point itself.

        A car cannot reach a point inside its turning circle: it drives on straight until the point lies outside.
        """
        target = self.points[-1]
        x, y, _ = relative(pose, (target[0], target[1], 0.0))
        distance = hypot(x, y)
        if distance <= max(2.0 * STOP, 0.05 * self.spec.lookahead):
            self.stage = ARRIVED
            return REST
        if self.capability.motion is Motion.CAR:
            radius = 1.0 / self.capability.curvature
            clearance = hypot(x, abs(y) - radius) / radius
            self.away = clearance < (1.2 if self.away else 1.0)
            if self.away:
                return self.capability.twist(self.spec.limits.speed, 0.0)
        return self._aim(pose, target, max(distance, 0.01))
