"""Position, height and heading of a multicopter with any number of fixed rotors.

Outer loop: the acceleration wanted in the world, limited by how far it may lean. Its direction, with gravity, is where
the thrust must point; that and the heading make the attitude. Inner loop: the moment that brings the attitude there.
Both become thrusts by the pseudo-inverse of the rotors' geometry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import cos, hypot, sin, tan
from typing import Any

import numpy as np

from botz.control.base import Command, ControllerSetup, Measured
from botz.control.rotors import airframe_of
from botz.control.setpoints import Course, turned
from botz.errors import InputError, Problem
from botz.scenario.flight import SetpointController


def rotation_of_pose(pose: np.ndarray) -> np.ndarray:
    w, x, y, z = pose[3:7]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def attitude_error(wanted: np.ndarray, present: np.ndarray) -> np.ndarray:
    """The turn from the present attitude to the wanted one as a vector in the present axes: sine of the angle times
    the axis, and its full length beyond a quarter turn, so that it does not grow weak again."""
    difference = present.T @ wanted
    vector = 0.5 * np.array(
        [
            difference[2, 1] - difference[1, 2],
            difference[0, 2] - difference[2, 0],
            difference[1, 0] - difference[0, 1],
        ]
    )
    size = float(np.linalg.norm(vector))
    if np.trace(difference) < 1.0 and size > 1e-9:
        vector /= size
    return vector


class SetpointFlight(ABC):
    """The common part of what follows setpoints: state, references and the two loops' gains."""

    rotors_needed = 4

    def __init__(self, spec: SetpointController):
        self._spec = spec

    def reset(self, setup: ControllerSetup) -> None:
        self._airframe = airframe_of(setup.engine, setup.robot, needed=self.rotors_needed)
        self._period = setup.period
        self._course: Course | None = None
        self._integral = np.zeros(3)
        self._smoothing = 4.0 * self._spec.gains.position
        weight = self._airframe.mass * self._airframe.gravity
        if sum(rotor.largest * rotor.axis[2] for rotor in self._airframe.rotors) <= weight:
            raise InputError(Problem(f"its propellers cannot carry its weight of {weight:.4g} N", key="robot"))
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
        pose = measured["pose"]
        present = rotation_of_pose(pose)
        velocity = present @ measured["twist"][:3]
        return self._fly(self._course, pose[:3], velocity, present, measured)

    @abstractmethod
    def _fly(self, course: Course, position, velocity, present, measured: Measured) -> Command:
        """The commands that bring it from where it is to the course's references."""

    def _wanted_acceleration(self, course: Course, position, velocity) -> np.ndarray:
        """a = a_ref + 2 ζ ω (v_ref − v) + ω² e + k ∫e, e = x_ref − x, each axis; within what the limits allow.

        With k = 0.2 ω³ the integral takes out what the wind does in some 5/ω and leaves the other two poles about where
        they are.
        """
        gains, found = self._spec.gains, np.zeros(3)
        for k, axis in enumerate("xyz"):
            w = gains.height if axis == "z" else gains.position
            reference = course[axis]
            error = reference.value - position[k]
            most = 0.3 * self._airframe.gravity
            self._integral[k] = min(max(self._integral[k] + 0.2 * w**3 * error * self._period, -most), most)
            found[k] = (
                reference.change
                + 2.0 * gains.damping_ratio * w * (reference.rate - velocity[k])
                + w * w * error
                + self._integral[k]
            )
        largest = self._airframe.gravity * tan(self._spec.limits.lean)
        size = hypot(found[0], found[1])
        if size > largest:
            found[:2] *= largest / size
        found[2] = min(max(found[2], -0.6 * self._airframe.gravity), self._airframe.gravity)
        return found

    def _moment(self, wanted: np.ndarray, present: np.ndarray, rates: np.ndarray, yaw_rate: float) -> np.ndarray:
        """M = J (ω² e + 2 ζ ω (Ω_ref − Ω)), by axis, in the body's axes."""
        gains = self._spec.gains
        w = np.array([gains.attitude, gains.attitude, gains.heading])
        error = attitude_error(wanted, present)
        reference = present.T @ np.array([0.0, 0.0, yaw_rate])
        return self._airframe.inertia @ (w * w * error + 2.0 * gains.damping_ratio * w * (reference - rates))

    def snapshot(self) -> dict[str, Any]:
        return {
            "course": None if self._course is None else self._course.plain(),
            "integral": [float(one) for one in self._integral],
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._integral = np.array(state["integral"])
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

    def _fly(self, course: Course, position, velocity, present, measured: Measured) -> Command:
        airframe = self._airframe
        force = self._wanted_acceleration(course, position, velocity)
        force[2] += airframe.gravity
        up = force / np.linalg.norm(force)
        yaw = turned(course["yaw"].value)
        left = np.cross(up, [cos(yaw), sin(yaw), 0.0])
        left /= np.linalg.norm(left)
        wanted = np.column_stack([np.cross(left, up), left, up])
        moment = self._moment(wanted, present, measured["twist"][3:], course["yaw"].rate)
        # Along the body's own z: what the force wanted has of it, so that leaning does not push it aside.
        lift = airframe.mass * float(force @ present[:, 2])
        thrusts = self._inverse @ np.array([max(lift, 0.0), *moment])
        return {
            rotor.command: rotor.sense * rotor.speed(float(thrust))
            for rotor, thrust in zip(airframe.rotors, thrusts, strict=True)
        }
