"""Waypoints for vehicles with tank steering: pure pursuit, feedback of the yaw rate, PI control of the wheels."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, copysign, cos, hypot, inf, pi, sin
from typing import Any

from botz.control.base import ControllerSetup, Measured
from botz.control.planar import Pose, relative
from botz.control.wheeled.drive import limited
from botz.control.wheeled.polyline import Point, Polyline
from botz.control.wheeled.wheel_speed import SpeedLoop, motor_drives, vehicle_of
from botz.errors import InputError, Problem
from botz.scenario.vehicle.schema import FollowWaypointsController

APPROACH = 2.0
"""Rate at which the last distance decays [1/s]."""
STEERING = 4.0
"""Largest yaw rate per sine of the target's bearing [1/s]; a target close by must not make it swing."""
USABLE = 0.9
"""Part of a motor's top speed that is asked of it: at the whole of it nothing would be left to steer with."""

FOLLOW, REACH, ARRIVED = "follow", "reach", "arrived"
REST = (0.0, 0.0)


class VehicleWaypoints:
    """The path begins where the vehicle stands; its centre of mass follows it, and cuts corners.

    The path lies in the plane of the map: what the ground does in between is left to the wheels.
    """

    def __init__(self, spec: FollowWaypointsController):
        self.spec = spec
        self.points = [(float(x), float(y)) for x, y in spec.points]
        self.loop = spec.loop and len(set(self.points)) > 1

    def reset(self, setup: ControllerSetup) -> None:
        vehicle = vehicle_of(setup, self.spec.type)
        self.wheels = SpeedLoop(motor_drives(vehicle), self.spec.gains, setup.period)
        if not _can_turn([drive.lateral for drive in self.wheels.drives]):
            message = f"{self.spec.type!r} steers by the speeds of both sides; this vehicle has motors on one side only"
            raise InputError(Problem(message, key=setup.robot))
        # Feedback no faster than sampling allows.
        self._approach = min(APPROACH, 0.5 / setup.period)
        self._steering = min(STEERING, 0.5 / setup.period)
        # With wheels that follow within one period the missing yaw rate changes by the factor 1 − smoothing (1 + gain)
        # from one update to the next: a half does not swing at any rate, and leaves room for wheels that lag.
        self._smoothing = 0.5 / (1.0 + self.spec.yaw_gain)
        self.start: list[float] = []
        """Where it stood at the first update."""
        self.progress = 0.0
        """How far along the path it has come [m]."""
        self.stage = FOLLOW
        self.missing = 0.0
        """Yaw rate that the vehicle falls short of, smoothed [rad/s]."""
        self._path: Polyline | None = None

    def update(self, t: float, measured: Measured) -> dict[str, float]:
        pose, upright = planar_pose(measured["pose"])
        # On its roof or side the wheels would spin for nothing, and its left and right are exchanged.
        forward, yaw_rate = self._pursue(pose) if upright else REST
        if (forward, yaw_rate) == REST:
            self.missing = 0.0
        else:
            # Skidding wheels turn the vehicle less than rolling ones would: ask for more by what is missing.
            self.missing += self._smoothing * (yaw_rate - float(measured["twist"][5]) - self.missing)
            forward, yaw_rate = self._within_reach(forward, yaw_rate + self.spec.yaw_gain * self.missing)
        wanted = [drive.speed_for(forward, yaw_rate) for drive in self.wheels.drives]
        return self.wheels.voltages(wanted, measured)

    def snapshot(self) -> dict[str, Any]:
        return {
            "start": list(self.start),
            "progress": self.progress,
            "stage": self.stage,
            "missing": self.missing,
            "integrals": self.wheels.snapshot(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.start = list(saved["start"])
        self.progress = saved["progress"]
        self.stage = saved["stage"]
        self.missing = saved["missing"]
        self.wheels.restore(saved["integrals"])
        self._path = None

    # --- where to ------------------------------------------------------------------------------------------

    def _pursue(self, pose: Pose) -> tuple[float, float]:
        """Forward speed [m/s] and yaw rate [rad/s]."""
        if not self.start:
            self.start = [pose[0], pose[1]]
        if self._path is None:
            self._path = Polyline((self.start[0], self.start[1]), self.points, loop=self.loop)
        if self.stage == FOLLOW:
            path, lookahead = self._path, self.spec.lookahead
            self.progress = path.on_loop(path.nearest(pose[0], pose[1], self.progress, 2.0 * lookahead))
            remaining = inf if path.loop else path.length - self.progress
            # Only here: a path may pass its last point before it ends there.
            if remaining > self.spec.tolerance:
                return self._aim(pose, path.point(self.progress + lookahead), remaining)
            self.stage = REACH
        return self._reach(pose)

    def _reach(self, pose: Pose) -> tuple[float, float]:
        """The path has ended: stop at the last point, or go for the point itself where it was missed."""
        x, y = self.points[-1]
        distance = hypot(x - pose[0], y - pose[1])
        if self.stage == ARRIVED or distance <= self.spec.tolerance:
            self.stage = ARRIVED
            return REST
        return self._aim(pose, (x, y), distance)

    def _aim(self, pose: Pose, target: Point, remaining: float) -> tuple[float, float]:
        """Along the circle that touches the heading and passes through the target.

        A target to the side slows the vehicle down, one behind it turns it on the spot.
        """
        limits = self.spec.limits
        x, y, _ = relative(pose, (target[0], target[1], 0.0))
        distance, bearing = max(hypot(x, y), 1e-9), atan2(y, x)
        turning = copysign(1.0, bearing) if abs(bearing) > 0.5 * pi else sin(bearing)
        yaw_rate = turning * min(2.0 * limits.speed / distance, self._steering)
        forward = min(limits.speed, self._approach * remaining) * max(0.0, cos(bearing)) ** 2
        return limited(forward, yaw_rate, limits.speed, limits.turn_rate)

    def _within_reach(self, forward: float, yaw_rate: float) -> tuple[float, float]:
        """What the motors can do: where both are too much, steering goes before speed."""
        for drive in self.wheels.drives:
            most = USABLE * drive.top_speed * drive.radius
            if abs(yaw_rate * drive.lateral) > most:
                yaw_rate = copysign(most / abs(drive.lateral), yaw_rate)
        for drive in self.wheels.drives:
            most = USABLE * drive.top_speed * drive.radius - abs(yaw_rate * drive.lateral)
            forward = min(forward, max(0.0, most))
        return forward, yaw_rate


def planar_pose(pose: Sequence[float]) -> tuple[Pose, bool]:
    """Place and heading of a body in space (x, y, z, quat_wxyz), and whether its z axis points upwards.

    The heading is that of the x axis seen from above; of a body that stands on end it is 0 and not undefined.
    """
    x, y, _, qw, qx, qy, qz = (float(value) for value in pose)
    heading = atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
    return (x, y, heading), qx * qx + qy * qy < 0.5


def _can_turn(laterals: Sequence[float]) -> bool:
    return min(laterals) < 0.0 < max(laterals)
