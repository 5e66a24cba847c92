"""Position, height and heading of a multicopter with any number of fixed rotors.

Outer loop: the acceleration wanted in the world, limited by how far it may lean. Its direction, with gravity, is where
the thrust must point; that and the heading make the attitude. Inner loop: the moment that brings the attitude there.
Both become thrusts by the pseudo-inverse of the rotors' geometry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import cos, hypot, sin, sqrt, tan
from typing import Any

import numpy as np

from botz.control.base import Command, ControllerSetup, Measured
from botz.control.flight.rotors import airframe_of
from botz.control.flight.setpoints import Course, turned
from botz.errors import InputError, Problem
from botz.scenario.multibody.flight import SetpointController
from botz.transforms import rotation_from_quaternion

Vector = Sequence[float]
Rows = Sequence[Sequence[float]]
"""The rows of a rotation from the body's axes to the world's. What is computed at every call is written out in plain
floats: with three numbers they are several times as fast as NumPy's arrays, and a flight is mostly such calls."""


def attitude_error(wanted: Rows, present: Rows) -> tuple[float, float, float]:
    """The turn from the present attitude to the wanted one as a vector in the present axes: sine of the angle times
    the axis, and its full length beyond a quarter turn, so that it does not grow weak again."""
    (axx, axy, axz), (ayx, ayy, ayz), (azx, azy, azz) = present
    (bxx, bxy, bxz), (byx, byy, byz), (bzx, bzy, bzz) = wanted
    # Of D, the present one's transpose times the wanted one: half of what D and its transpose differ by, and its trace.
    x = 0.5 * ((axz * bxy + ayz * byy + azz * bzy) - (axy * bxz + ayy * byz + azy * bzz))
    y = 0.5 * ((axx * bxz + ayx * byz + azx * bzz) - (axz * bxx + ayz * byx + azz * bzx))
    z = 0.5 * ((axy * bxx + ayy * byx + azy * bzx) - (axx * bxy + ayx * byy + azx * bzy))
    trace = axx * bxx + ayx * byx + azx * bzx + axy * bxy + ayy * byy + azy * bzy + axz * bxz + ayz * byz + azz * bzz
    size = sqrt(x * x + y * y + z * z)
    if trace < 1.0 and size > 1e-9:
        return x / size, y / size, z / size
    return x, y, z


class SetpointFlight(ABC):
    """The common part of what follows setpoints: state, references and the two loops' gains."""

    rotors_needed = 4
    steering = (("velocity", 4),)

    def __init__(self, spec: SetpointController):
        self._spec = spec

    def reset(self, setup: ControllerSetup) -> None:
        self._airframe = airframe_of(setup.engine, setup.robot, needed=self.rotors_needed)
        self._period = setup.period
        self._course: Course | None = None
        self._integral = [0.0, 0.0, 0.0]
        airframe, gains = self._airframe, self._spec.gains
        self._smoothing = 4.0 * gains.position
        airframe.check_lift(sum(rotor.largest * float(rotor.axis[2]) for rotor in airframe.rotors))
        self._outer = [
            (axis, w * w, 2.0 * gains.damping_ratio * w, 0.2 * w**3 * self._period)
            for axis, w in (("x", gains.position), ("y", gains.position), ("z", gains.height))
        ]
        self._inner = [(w * w, 2.0 * gains.damping_ratio * w) for w in (gains.attitude, gains.attitude, gains.heading)]
        self._inertia = airframe.inertia.tolist()
        self._most_integral = 0.3 * airframe.gravity
        self._most_aside = airframe.gravity * tan(self._spec.limits.lean)
        self._allocate()

    @abstractmethod
    def _allocate(self) -> None:
        """Prepare what turns forces and moments into commands; raises InputError for rotors that cannot."""

    def _begin(self, measured: Measured) -> Course:
        x, y, z = (float(one) for one in measured["pose"][:3])
        yaw = float(measured["attitude"][2])
        start = {"x": x, "y": y, "z": z, "roll": 0.0, "pitch": 0.0, "yaw": yaw}
        return Course(self._spec.setpoints, self._spec.limits, start, self._smoothing)

    def update(self, t: float, measured: Measured) -> Command:
        if self._course is None:
            self._course = self._begin(measured)
        self._course.go_on(t, self._period)
        pose, twist = measured["pose"].tolist(), measured["twist"].tolist()
        present = rotation_from_quaternion(*pose[3:]).tolist()
        u, v, w = twist[:3]
        velocity = [x * u + y * v + z * w for x, y, z in present]
        return self._fly(self._course, pose[:3], velocity, present, twist[3:], measured)

    def steer(self, command: Mapping[str, Any] | None) -> None:
        """By a velocity ahead, to the left and up, and a yaw rate."""
        if self._course is not None:
            self._course.steer(None if command is None else command["velocity"])

    @abstractmethod
    def _fly(
        self, course: Course, position: Vector, velocity: Vector, present: Rows, rates: Vector, measured: Measured
    ) -> Command:
        """The commands that bring it from where it is to the course's references. Position and velocity are in the
        world, rates in the body's axes."""

    def _wanted_acceleration(self, course: Course, position: Vector, velocity: Vector) -> list[float]:
        """a = a_ref + 2 ζ ω (v_ref − v) + ω² e + k ∫e, e = x_ref − x, each axis; within what the limits allow.

        With k = 0.2 ω³ the integral takes out what the wind does in some 5/ω and leaves the other two poles about where
        they are.
        """
        integral, most, found = self._integral, self._most_integral, []
        for k, (axis, stiffness, damping, gained) in enumerate(self._outer):
            reference = course[axis]
            error = reference.value - position[k]
            integral[k] = min(max(integral[k] + gained * error, -most), most)
            found.append(reference.change + damping * (reference.rate - velocity[k]) + stiffness * error + integral[k])
        x, y, z = found
        size = hypot(x, y)
        if size > self._most_aside:
            share = self._most_aside / size
            x, y = share * x, share * y
        gravity = self._airframe.gravity
        return [x, y, min(max(z, -0.6 * gravity), gravity)]

    def _moment(self, wanted: Rows, present: Rows, rates: Vector, yaw_rate: float) -> list[float]:
        """M = J (ω² e + 2 ζ ω (Ω_ref − Ω)), by axis, in the body's axes."""
        x, y, z = (
            stiffness * error + damping * (yaw_rate * up - rate)
            for (stiffness, damping), error, up, rate in zip(
                self._inner, attitude_error(wanted, present), present[2], rates, strict=True
            )
        )
        return [jx * x + jy * y + jz * z for jx, jy, jz in self._inertia]

    def snapshot(self) -> dict[str, Any]:
        return {"course": None if self._course is None else self._course.plain(), "integral": list(self._integral)}

    def restore(self, state: dict[str, Any]) -> None:
        self._integral = list(state["integral"])
        plain = state["course"]
        if plain is None:
            self._course = None
            return
        start = dict.fromkeys(("x", "y", "z", "roll", "pitch", "yaw"), 0.0)
        self._course = Course(self._spec.setpoints, self._spec.limits, start, self._smoothing)
        self._course.take(plain)


class Multicopter(SetpointFlight):
    def _allocate(self) -> None:
        """Fz, Mx, My, Mz by thrusts: each gives r × n, and its drag turns the body against its spin."""
        columns = []
        for rotor in self._airframe.rotors:
            moment = np.cross(rotor.position - self._airframe.centre, rotor.axis)
            moment = moment - rotor.sense * rotor.drag_torque * rotor.axis
            columns.append([rotor.axis[2], *moment])
        matrix = np.array(columns).T
        if np.linalg.matrix_rank(matrix, tol=1e-9) < 4:
            message = "its rotors cannot turn it about all axes; yaw needs 'drag_torque' and both senses of rotation"
            raise InputError(Problem(message, key="robot"))
        self._inverse = np.linalg.pinv(matrix)

    def _fly(
        self, course: Course, position: Vector, velocity: Vector, present: Rows, rates: Vector, measured: Measured
    ) -> Command:
        airframe = self._airframe
        x, y, z = self._wanted_acceleration(course, position, velocity)
        z += airframe.gravity
        size = sqrt(x * x + y * y + z * z)
        ux, uy, uz = x / size, y / size, z / size
        yaw = turned(course["yaw"].value)
        # Left is up × heading, ahead is left × up.
        lx, ly, lz = -uz * sin(yaw), uz * cos(yaw), ux * sin(yaw) - uy * cos(yaw)
        size = sqrt(lx * lx + ly * ly + lz * lz)
        lx, ly, lz = lx / size, ly / size, lz / size
        wanted = ((ly * uz - lz * uy, lx, ux), (lz * ux - lx * uz, ly, uy), (lx * uy - ly * ux, lz, uz))
        moment = self._moment(wanted, present, rates, course["yaw"].rate)
        # Along the body's own z: what the force wanted has of it, so that leaning does not push it aside.
        lift = airframe.mass * (x * present[0][2] + y * present[1][2] + z * present[2][2])
        thrusts = (self._inverse @ [max(lift, 0.0), *moment]).tolist()
        return {
            rotor.command: rotor.sense * rotor.speed(thrust)
            for rotor, thrust in zip(airframe.rotors, thrusts, strict=True)
        }
