"""Height, airspeed and heading of an aircraft: the classical loops, one for each surface and the propeller.

In axes forward, left, up a positive pitch is nose down and a positive roll is to the right, while a positive yaw is to
the left: a turn to the left banks negatively.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import asin, atan, atan2, cos, dist, inf, tan
from typing import Any

import numpy as np

from botz.control.base import Command, ControllerSetup, Measured
from botz.control.flight.rotors import flying_world
from botz.control.flight.setpoints import turned
from botz.errors import InputError, Problem
from botz.scenario.multibody.elements import Propeller
from botz.scenario.multibody.flight import FixedWingController
from botz.scenario.names import closest
from botz.transforms import rotation_from_quaternion

FASTER = 0.25
"""By which share full throttle or none changes the airspeed that is held."""


class FixedWing:
    steering = (("steer", 3),)

    def __init__(self, spec: FixedWingController):
        self._spec = spec

    def reset(self, setup: ControllerSetup) -> None:
        engine = flying_world(setup.engine)
        commands = [channel.local_name for channel in setup.inputs]
        problems = []
        for key, kind in (
            ("throttle", "speed"),
            ("elevator", "position"),
            ("aileron", "position"),
            ("rudder", "position"),
        ):
            wanted = f"{getattr(self._spec, key)}/{kind}"
            if wanted not in commands:
                message = f"the robot has no command {wanted!r}{closest(wanted, commands)}"
                problems.append(Problem(message, key=key))
        if problems:
            raise InputError(problems)
        parts, joint = engine.robots[setup.robot], self._spec.throttle
        self._fastest = parts.actuators[joint].speed or parts.joints[joint].speed or inf
        propellers = [one for one in parts.element_specs.values() if isinstance(one, Propeller) and one.joint == joint]
        self._sense = -1.0 if any(one.sense == "cw" for one in propellers) else 1.0
        self._engine = engine
        self._period = setup.period
        self._gravity = float(np.linalg.norm(engine.model.opt.gravity))
        self._propeller: float | None = None
        self._height, self._heading = float(self._spec.height), float(self._spec.heading)
        self._steered: list[float] | None = None
        self._let_go = False

    def steer(self, command: Mapping[str, Any] | None) -> None:
        """By shares of full deflection: nose up, bank to the right, throttle. Let go, it flies on as it is: level, on
        the course that it has."""
        self._let_go = self._let_go or (command is None and self._steered is not None)
        self._steered = None if command is None else [min(max(float(one), -1.0), 1.0) for one in command["steer"]]

    def update(self, t: float, measured: Measured) -> Command:
        spec, gains = self._spec, self._spec.gains
        pose, attitude, twist = (measured[name].tolist() for name in ("pose", "attitude", "twist"))
        rates = twist[3:]
        velocity = rotation_from_quaternion(*pose[3:]) @ twist[:3]
        airspeed = max(dist(velocity, self._engine.wind_at(t)), 1.0)
        velocity = velocity.tolist()
        if self._propeller is None:
            # It takes over with the propeller as it turns.
            self._propeller = self._sense * float(measured[f"{spec.throttle}/speed"])

        course = atan2(velocity[1], velocity[0])
        if self._let_go:
            self._height, self._heading, self._let_go = pose[2], course, False
        up, right, throttle = self._steered or (0.0, 0.0, 0.0)
        if up:
            self._height = pose[2]  # held from where the stick comes back
        if right:
            self._heading = course

        # Height: climb, then pitch (positive down), then elevator.
        climb = min(max(gains.climb * (self._height - pose[2]), -spec.climb_rate), spec.climb_rate)
        climb += up * spec.climb_rate
        pitch = -asin(min(max(climb / airspeed, -0.5), 0.5))
        sink = -asin(min(max(velocity[2] / airspeed, -0.9), 0.9))
        # The path follows the nose; what it is behind is added, so that the climb comes out as wanted.
        wanted_pitch = pitch + (pitch - sink)
        elevator = gains.pitch * (wanted_pitch - attitude[1]) - gains.pitch_rate * rates[1]

        # Heading: yaw rate, then the bank that turns so without slipping, then aileron and rudder.
        turn = gains.turn * turned(self._heading - course)
        bank = min(max(-atan(turn * airspeed / self._gravity) + right * spec.bank, -spec.bank), spec.bank)
        aileron = gains.roll * (bank - attitude[0]) - gains.roll_rate * rates[0]
        coordinated = -self._gravity * tan(min(max(attitude[0], -1.2), 1.2)) / airspeed * cos(attitude[0])
        rudder = gains.yaw_rate * (coordinated - rates[2])

        error = spec.airspeed * (1.0 + FASTER * throttle) - airspeed
        # No further than the propeller goes, so that it comes back from there at once.
        more = gains.airspeed_integral * error * self._period
        self._propeller = min(max(self._propeller + more, 0.0), self._fastest)
        return {
            f"{spec.throttle}/speed": self._sense * max(self._propeller + gains.airspeed * error, 0.0),
            f"{spec.elevator}/position": elevator,
            f"{spec.aileron}/position": aileron,
            f"{spec.rudder}/position": rudder,
        }
