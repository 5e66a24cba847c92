"""Full control of a quadrotor whose rotors tilt about y: x, z, roll, pitch and yaw, each on its own.

A rotor with thrust f tilted by τ gives u = f sin τ forwards and w = f cos τ upwards in the body's axes. Its force goes
through the tilting axis whatever τ is, so with r the point of that axis below the rotor all of

    Fx = Σ u,  Fz = Σ w,  Mx = Σ r_y w,  My = Σ (r_z u − r_x w),  Mz = −Σ r_y u

are linear in the eight numbers u, w, and so is the propellers' drag torque. The smallest of them that give the five
wanted are the pseudo-inverse's, and f = |(u, w)|, τ = atan2(u, w). Nothing gives Fy: to go sideways it rolls.

Tilts turn at half a radian a second, rotors answer within hundredths. So tilts are sent where the solution wants them,
and thrusts are computed for the tilts that are there: lift, roll and pitch as wanted, forward force and yaw as near as
they then can be.
"""

from __future__ import annotations

from math import atan2, copysign, cos, e, hypot, sin

import numpy as np

from botz.control.base import Command, Measured
from botz.control.flight.multicopter import Rows, SetpointFlight, Vector
from botz.control.flight.rotors import Rotor
from botz.control.flight.setpoints import Course, turned
from botz.errors import InputError, Problem
from botz.transforms import rotation_from_rpy

SLOW_WEIGHT = 0.1
"""Of forward force and yaw where the tilts of the moment cannot give them with all the others."""

STAY = 0.1
"""Weight of staying at the ideal thrusts. Without it small tilts, which give next to no yaw, would be made to give
it by enormous differences of thrust."""

LEAST_AREA = 0.1
"""Least area that the body's forward and upward directions span in the plane of flight, for the division by it."""
MARGIN = 0.09
"""Of the tilts' range that is left for control when a pitch is held [rad]."""


class TiltQuadrotor(SetpointFlight):
    def _allocate(self) -> None:
        airframe = self._airframe
        for rotor in airframe.rotors:
            if not rotor.tilt or rotor.tilt_axis is None or abs(abs(rotor.tilt_axis[1]) - 1.0) > 1e-6:
                message = f"propeller {rotor.name!r} does not hang on a joint that tilts it about y by position"
                raise InputError(Problem(message, key="robot"))
            assert rotor.tilt_point is not None
            tilt = self._sign(rotor) * rotor.tilt_start
            upright = np.array([sin(tilt), 0.0, cos(tilt)])
            beside = np.cross(rotor.position - rotor.tilt_point, upright)[1]
            if np.abs(rotor.axis - upright).max() > 1e-6 or abs(beside) > 1e-6:
                message = (
                    f"propeller {rotor.name!r} does not push up through the axis of {rotor.tilt!r} where that is 0"
                )
                raise InputError(Problem(message, key="robot"))
        # The point of the tilting axis that the thrust goes through: the rotor's own y, the axis' x and z.
        points = []
        for rotor in airframe.rotors:
            assert rotor.tilt_point is not None
            points.append([rotor.tilt_point[0], rotor.position[1], rotor.tilt_point[2]] - airframe.centre)
        x, y, z = np.array(points).T
        one, none = np.ones(len(x)), np.zeros(len(x))
        # The air's drag turns the body about the thrust's direction, against the spin.
        drag = np.array([rotor.sense * rotor.drag_torque for rotor in airframe.rotors])
        forward = np.array([one, none, -drag, z, -y])
        upward = np.array([none, one, y, -x, -drag])
        matrix = np.hstack([forward, upward])
        if np.linalg.matrix_rank(matrix, tol=1e-9) < 5:
            message = "its rotors cannot give forward force, lift, roll, pitch and yaw at once; they lie on one line"
            raise InputError(Problem(message, key="robot"))
        self._inverse = np.linalg.pinv(matrix)
        # A tilt that turns at rate r changes the forward acceleration by g r; a reference that goes over from the
        # acceleration a to −a asks for 2 a w/e at most.
        rate = min(rotor.tilt_rate for rotor in airframe.rotors)
        self._smoothing = e * airframe.gravity * rate / (2.0 * self._spec.limits.acceleration)
        # Forces count as they are; moments by a metre's arm, which is their size here too.
        self._stay = STAY * STAY * np.eye(len(airframe.rotors))
        self._largest = np.array([rotor.largest for rotor in airframe.rotors])
        self._check_pitch()
        self._weights = np.array([SLOW_WEIGHT, 1.0, 10.0, 10.0, SLOW_WEIGHT * 10.0])
        self._forward, self._upward = self._weights[:, None] * forward, self._weights[:, None] * upward
        self._signs = [self._sign(rotor) for rotor in airframe.rotors]
        self._least_lift = 0.05 * airframe.weight / len(airframe.rotors)

    def _check_pitch(self) -> None:
        """A body that is held at a pitch keeps its rotors upright by tilting them as far the other way."""
        reach = min(rotor.tilt_reach for rotor in self._airframe.rotors) - MARGIN
        most = f"its tilts can make up for {reach:.3g} rad at most"
        problems = [
            Problem(f"{one.pitch:.4g} rad is too much: {most}", key=f"setpoints.{k}.pitch")
            for k, one in enumerate(self._spec.setpoints)
            if one.pitch is not None and abs(one.pitch) > reach
        ]
        if problems:
            raise InputError(problems)

    @staticmethod
    def _sign(rotor: Rotor) -> float:
        """+1 where a positive angle of the tilting joint tips the thrust forwards."""
        assert rotor.tilt_axis is not None
        return 1.0 if rotor.tilt_axis[1] > 0.0 else -1.0

    def _fly(
        self, course: Course, position: Vector, velocity: Vector, present: Rows, rates: Vector, measured: Measured
    ) -> Command:
        yaw = turned(course["yaw"].value)
        cy, sy = cos(yaw), sin(yaw)
        rolls = "roll" in course.given
        if rolls:
            course.let_go((-sy, cy), position, velocity)
            integral = self._integral
            aside = cy * integral[1] - sy * integral[0]
            integral[0] += sy * aside
            integral[1] -= cy * aside
        x, y, up = self._wanted_acceleration(course, position, velocity)
        up += self._airframe.gravity
        # Sideways in the heading's own frame: what roll must make of the thrust.
        ahead, aside = cy * x + sy * y, cy * y - sy * x
        if rolls:
            roll = course["roll"].value
        else:
            limit = self._spec.limits.lean
            roll = min(max(atan2(-aside, up), -limit), limit)
        wanted = rotation_from_rpy(roll, course["pitch"].value, yaw).tolist()
        moment = self._moment(wanted, present, rates, course["yaw"].rate)
        # Forward and upward as wanted, by the two forces that the body has; what is aside then follows from roll.
        (xx, _, xz), (yx, _, yz), (up_x, _, up_z) = present
        ahead_x, ahead_z = cy * xx + sy * yx, cy * xz + sy * yz
        # Their two directions span the plane of flight but where it lies on its side; there the lift is what it can be.
        area = ahead_x * up_z - ahead_z * up_x
        scale = self._airframe.mass / (area if abs(area) > LEAST_AREA else copysign(LEAST_AREA, area))
        forward = scale * (ahead * up_z - up * ahead_z)
        lift = scale * (up * ahead_x - ahead * up_x)
        return self._commands(np.array([forward, lift, *moment]), measured)

    def _commands(self, wanted: np.ndarray, measured: Measured) -> Command:
        rotors = self._airframe.rotors
        shares = (self._inverse @ wanted).tolist()
        forwards, upwards = shares[: len(rotors)], shares[len(rotors) :]
        command: dict[str, float] = {}
        tilts = []
        for rotor, sign, forward, upward in zip(rotors, self._signs, forwards, upwards, strict=True):
            # A rotor that pushes almost nothing has no direction to take.
            command[rotor.tilt_command] = sign * atan2(forward, max(upward, self._least_lift))
            tilts.append(sign * measured[rotor.tilt_command])
        thrusts = self._thrusts(wanted, tilts, np.array(list(map(hypot, forwards, upwards)))).tolist()
        for rotor, thrust in zip(rotors, thrusts, strict=True):
            command[rotor.command] = rotor.sense * rotor.speed(thrust)
        return command

    def _thrusts(self, wanted: np.ndarray, tilts: Vector, ideal: np.ndarray) -> np.ndarray:
        """Thrusts at the tilts that are there: weighted least squares around the ideal ones."""
        weighted = self._forward * [*map(sin, tilts)] + self._upward * [*map(cos, tilts)]
        missing = self._weights * wanted - weighted @ ideal
        # STAY makes the normal equations' matrix regular, so that they can be solved as they are.
        found = ideal + np.linalg.solve(weighted.T @ weighted + self._stay, weighted.T @ missing)
        return np.minimum(np.maximum(found, 0.0), self._largest)
