"""The source's control ([costa2022] section 3.9): the height's PID gives all propellers one speed, and nothing holds
the attitude. Manoeuvres add to it what the source's experiments do."""

from __future__ import annotations

from botz.control.base import Command, ControllerSetup, Measured
from botz.control.rotors import airframe_of
from botz.control.setpoints import SmoothAxis
from botz.errors import InputError, Problem
from botz.scenario.flight import HoverController, Manoeuvre
from botz.scenario.names import closest


class Hover:
    def __init__(self, spec: HoverController):
        self._spec = spec

    def reset(self, setup: ControllerSetup) -> None:
        spec = self._spec
        self._airframe = airframe_of(setup.engine, setup.robot)
        self._period = setup.period
        self._check(setup)
        rotors = self._airframe.rotors
        # Σ c ω² = m g at hover; near it d²z/dt² = (2 Σ c ω₀/m) δω, so these gains put all three poles at −frequency.
        self._hover_speed = self._level_speed()
        slope = sum(rotor.thrust(self._hover_speed + 1.0) - rotor.thrust(self._hover_speed - 1.0) for rotor in rotors)
        gain = 2.0 * self._airframe.mass / slope
        if spec.gains is not None:
            self._gains = (spec.gains.proportional, spec.gains.integral, spec.gains.derivative)
        else:
            w = spec.frequency
            self._gains = (3.0 * gain * w * w, gain * w**3, 3.0 * gain * w)
        self._integral = 0.0
        self._goal = spec.height
        self._target = SmoothAxis(0.0, spec.climb_rate, spec.climb_rate)
        self._begun = [False] * len(spec.manoeuvres)
        self._landing = False
        self._landed = False
        self._floor = 0.0
        self._first = True
        self._last_set: dict[str, float] = {}

    def _level_speed(self) -> float:
        """Speed of all propellers at which they carry the weight, by bisection on the sum of their thrusts."""
        weight = self._airframe.mass * self._airframe.gravity
        low, high = 0.0, min(rotor.fastest for rotor in self._airframe.rotors)
        if sum(rotor.thrust(high) for rotor in self._airframe.rotors) < weight:
            raise InputError(Problem(f"its propellers cannot carry its weight of {weight:.4g} N", key="robot"))
        for _ in range(100):
            middle = 0.5 * (low + high)
            if sum(rotor.thrust(middle) for rotor in self._airframe.rotors) < weight:
                low = middle
            else:
                high = middle
        return 0.5 * (low + high)

    def _check(self, setup: ControllerSetup) -> None:
        rotors = [rotor.name for rotor in self._airframe.rotors]
        commands = [channel.local_name for channel in setup.inputs]
        problems = []
        for k, one in enumerate(self._spec.manoeuvres):
            problems += [
                Problem(f"no propeller {name!r}{closest(name, rotors)}", key=f"manoeuvres.{k}.add.{name}")
                for name in one.add
                if name not in rotors
            ]
            problems += [
                Problem(f"unknown command {name!r}{closest(name, commands)}", key=f"manoeuvres.{k}.set.{name}")
                for name in one.set
                if name not in commands
            ]
        if problems:
            raise InputError(problems)

    def update(self, t: float, measured: Measured) -> Command:
        height = float(measured["pose"][2])
        climb = self._climb(measured)
        if self._first:
            self._floor, self._first = height, False
            self._target.value = height
        active = self._active(t)
        self._target.go_on(self._goal, self._period)
        # A landing aims below the ground; the rotors stop when the robot has stayed behind on it.
        if self._landing and height < self._floor + 0.05 and self._target.value < self._floor - 0.1:
            self._landed = True
        speed = 0.0 if self._landed else self._speed(height, climb)
        command: dict[str, float] = {}
        for rotor in self._airframe.rotors:
            own = speed + sum(one.add.get(rotor.name, 0.0) for one in active)
            command[rotor.command] = rotor.sense * min(max(own, 0.0), rotor.fastest) if not self._landed else 0.0
        # What a manoeuvre set goes back to 0 when it ends.
        wanted = dict.fromkeys(self._last_set, 0.0)
        for one in active:
            wanted.update(one.set)
        self._last_set = wanted
        return command | wanted

    def _climb(self, measured: Measured) -> float:
        """Vertical speed from the twist, which is in the body's axes: third row of the rotation."""
        w, x, y, z = measured["pose"][3:7]
        vx, vy, vz = measured["twist"][:3]
        return float(2 * (x * z - w * y) * vx + 2 * (y * z + w * x) * vy + (1 - 2 * (x * x + y * y)) * vz)

    def _active(self, t: float) -> list[Manoeuvre]:
        found = []
        for k, one in enumerate(self._spec.manoeuvres):
            if t < one.at - 1e-9:
                continue
            if not self._begun[k]:
                self._begun[k] = True
                if one.height is not None:
                    self._goal = one.height
                if one.land:
                    self._landing = True
                    self._goal = self._floor - 1.0
                    self._target = SmoothAxis.at(self._target, self._spec.sink_rate)
            if one.until is None or t < one.until - 1e-9:
                found.append(one)
        return found

    def _speed(self, height: float, climb: float) -> float:
        p, i, d = self._gains
        error = self._target.value - height
        speed = self._hover_speed + p * error + self._integral + d * (self._target.rate - climb)
        limited = min(max(speed, 0.0), min(rotor.fastest for rotor in self._airframe.rotors))
        # At its limits the integral waits.
        if limited == speed:
            self._integral += i * error * self._period
        return limited
