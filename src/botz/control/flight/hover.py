"""The source's control ([costa2022] section 3.9): the height's PID gives all propellers one speed, and nothing holds
the attitude. Manoeuvres add to it what the source's experiments do."""

from __future__ import annotations

from typing import Any

from botz.control.base import Command, ControllerSetup, Measured
from botz.control.flight.rotors import airframe_of, flying_world
from botz.control.flight.setpoints import SmoothAxis
from botz.errors import InputError, Problem
from botz.scenario.multibody.flight import HoverController, Manoeuvre
from botz.scenario.names import closest

GROUND_LIFT, STILL, GROUND_TIME = 0.7, 0.1, 0.25
"""Share of the weight, speed [m/s] and time [s]: 0.3 g for 0.25 s are 0.7 m/s, far more than from −0.1 to 0.1 m/s."""
FAR_BELOW = -1e6
"""Goal of a landing [m]: below any ground."""
STATE = ("_integral", "_goal", "_begun", "_landing", "_landed", "_carried", "_first", "_last_set")
"""What changes in flight, besides the reference."""


class Hover:
    def __init__(self, spec: HoverController):
        self._spec = spec

    def reset(self, setup: ControllerSetup) -> None:
        spec = self._spec
        self._airframe = airframe_of(setup.engine, setup.robot)
        self._period = setup.period
        self._check(setup)
        for one in spec.manoeuvres:
            told = {name: (value,) for name, value in one.set.items()}
            flying_world(setup.engine).note_commands(setup.robot, f"set by the manoeuvre at {one.at:g} s", told)
        # Where the first of them is at its largest thrust, faster ones would turn the robot.
        self._fastest = min(rotor.speed(rotor.largest) for rotor in self._airframe.rotors)
        # Σ c ω² = m g at hover; near it d²z/dt² = (2 Σ c ω₀/m) δω, so these gains put all three poles at −frequency.
        self._hover_speed = self._level_speed()
        slope = (self._lift(self._hover_speed + 1.0) - self._lift(self._hover_speed - 1.0)) / 2.0
        gain = self._airframe.mass / slope
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
        self._carried = 0.0
        self._first = True
        self._last_set: dict[str, float] = {}

    def _lift(self, speed: float) -> float:
        """What all propellers at a speed give upwards, the body being level."""
        return sum(rotor.thrust(speed) * float(rotor.axis[2]) for rotor in self._airframe.rotors)

    def _level_speed(self) -> float:
        """Speed of all propellers at which they carry the weight, by bisection on the sum of their thrusts."""
        weight = self._airframe.weight
        low, high = 0.0, self._fastest
        self._airframe.check_lift(self._lift(high))
        for _ in range(100):
            middle = 0.5 * (low + high)
            if self._lift(middle) < weight:
                low = middle
            else:
                high = middle
        return 0.5 * (low + high)

    def _check(self, setup: ControllerSetup) -> None:
        rotors = [rotor.name for rotor in self._airframe.rotors]
        commands = {channel.local_name: channel.unit for channel in setup.inputs}
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
            problems += [
                Problem(misfit, key=f"manoeuvres.{k}.set.{name}")
                for name in one.set
                if name in commands and (misfit := one.unit_misfit("set", name, commands[name]))
            ]
        if problems:
            raise InputError(problems)

    def update(self, t: float, measured: Measured) -> Command:
        height = float(measured["pose"][2])
        climb = self._climb(measured)
        if self._first:
            self._first = False
            self._target.value = height
        active = self._active(t, height)
        self._target.go_on(self._goal, self._period)
        if self._landing:
            self._feel_the_ground(climb, measured)
        speed = 0.0 if self._landed else self._speed(height, climb)
        command: dict[str, float] = {}
        for rotor in self._airframe.rotors:
            own = speed + sum(one.add.get(rotor.name, 0.0) for one in active)
            command[rotor.command] = rotor.sense * min(max(own, 0.0), rotor.fastest) if not self._landed else 0.0
        # What a manoeuvre set goes back to 0 when it ends, and to the controller's command where it has one.
        self._last_set |= {name: 0.0 for one in active for name in one.set}
        command = self._last_set | command
        for one in active:
            command |= one.set
        return command

    def _feel_the_ground(self, climb: float, measured: Measured) -> None:
        """The reference sinks on and on, and the rotors push less and less when the robot has stayed behind on the
        ground. With GROUND_LIFT of its weight it would fall faster than STILL, up or down, before GROUND_TIME is over:
        where it does not, the ground carries it, at whatever height that is, and the rotors stop."""
        lift = sum(measured[f"{rotor.name}/thrust"] for rotor in self._airframe.rotors)
        carried = abs(climb) < STILL and lift < GROUND_LIFT * self._airframe.weight
        self._carried = self._carried + self._period if carried else 0.0
        self._landed = self._landed or self._carried > GROUND_TIME

    def _climb(self, measured: Measured) -> float:
        """Vertical speed from the twist, which is in the body's axes: third row of the rotation."""
        w, x, y, z = measured["pose"][3:7]
        vx, vy, vz = measured["twist"][:3]
        return float(2 * (x * z - w * y) * vx + 2 * (y * z + w * x) * vy + (1 - 2 * (x * x + y * y)) * vz)

    def _active(self, t: float, height: float) -> list[Manoeuvre]:
        found = []
        for k, one in enumerate(self._spec.manoeuvres):
            if t < one.at - 1e-9:
                continue
            if not self._begun[k]:
                self._begun[k] = True
                if one.height is not None:
                    self._climb_to(one.height, height)
                if one.land:
                    self._landing, self._goal = True, FAR_BELOW
                    # However fast it was, it turns round within a second.
                    rate = self._spec.sink_rate
                    self._target.limit(rate, max(rate, abs(self._target.rate)))
            if one.until is None or t < one.until - 1e-9:
                found.append(one)
        return found

    def _climb_to(self, goal: float, height: float) -> None:
        """Also out of a landing, and from the ground."""
        if self._landed:
            self._target.take([height, 0.0, 0.0])
            self._integral = 0.0
        self._landing = self._landed = False
        self._carried = 0.0
        self._goal = goal
        self._target.limit(self._spec.climb_rate, self._spec.climb_rate)

    def _speed(self, height: float, climb: float) -> float:
        p, i, d = self._gains
        error = self._target.value - height
        speed = self._hover_speed + p * error + self._integral + d * (self._target.rate - climb)
        limited = min(max(speed, 0.0), self._fastest)
        # At its limits the integral waits.
        if limited == speed:
            self._integral += i * error * self._period
        return limited

    def snapshot(self) -> dict[str, Any]:
        kept: dict[str, Any] = {name: getattr(self, name) for name in STATE}
        return kept | {"_target": self._target.plain(), "_limits": self._target.limits}

    def restore(self, state: dict[str, Any]) -> None:
        for name in STATE:
            setattr(self, name, state[name])
        self._target.take(state["_target"])
        self._target.limit(*state["_limits"])
