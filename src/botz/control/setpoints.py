"""The way from one setpoint to the next: references that move no faster than a robot may."""

from __future__ import annotations

from math import copysign, pi, sqrt

from botz.scenario.flight import FlightLimits, Setpoint

AXES = ("x", "y", "z", "roll", "pitch", "yaw")


class SmoothAxis:
    """A reference that goes to its goal with limited speed and acceleration and stops there."""

    def __init__(self, value: float, speed: float, acceleration: float):
        self.value = value
        self.rate = 0.0
        self.change = 0.0
        """Its acceleration."""
        self._speed, self._acceleration = speed, acceleration

    @classmethod
    def at(cls, other: SmoothAxis, speed: float) -> SmoothAxis:
        """One that goes on from another with a new limit."""
        found = cls(other.value, speed, speed)
        found.rate = other.rate
        return found

    def go_on(self, goal: float, dt: float) -> None:
        left = goal - self.value
        # As fast as still lets it stop at the goal; within the last step's reach it is there.
        if abs(left) <= self._acceleration * dt * dt and abs(self.rate) <= self._acceleration * dt:
            self.value, self.rate, self.change = goal, 0.0, 0.0
            return
        wanted = copysign(min(self._speed, sqrt(2.0 * self._acceleration * abs(left))), left)
        wanted = copysign(min(abs(wanted), abs(left) / dt), wanted)
        step = self._acceleration * dt
        rate = self.rate + min(max(wanted - self.rate, -step), step)
        self.change = (rate - self.rate) / dt
        self.rate = rate
        self.value += rate * dt

    def plain(self) -> list[float]:
        return [self.value, self.rate, self.change]

    def take(self, plain: list[float]) -> None:
        self.value, self.rate, self.change = plain


class SoftAxis(SmoothAxis):
    """The same followed by ÿ = w² (x − y) + 2 w (ẋ − ẏ), so that accelerations do not jump either."""

    def __init__(self, value: float, speed: float, acceleration: float, smoothing: float):
        super().__init__(value, speed, acceleration)
        self._lead = SmoothAxis(value, speed, acceleration)
        self._w = smoothing

    def go_on(self, goal: float, dt: float) -> None:
        self._lead.go_on(goal, dt)
        w = min(self._w, 0.5 / dt)
        self.change = w * w * (self._lead.value - self.value) + 2.0 * w * (self._lead.rate - self.rate)
        self.rate += self.change * dt
        self.value += self.rate * dt

    def plain(self) -> list[float]:
        return [*super().plain(), *self._lead.plain()]

    def take(self, plain: list[float]) -> None:
        super().take(plain[:3])
        self._lead.take(plain[3:])


class Course:
    """All axes of a list of setpoints in time."""

    def __init__(self, setpoints: list[Setpoint], limits: FlightLimits, start: dict[str, float], smoothing: float):
        self._setpoints = sorted(setpoints, key=lambda one: one.at)
        self._next = 0
        self.goal = dict(start)
        self.given: set[str] = set()
        """Axes that a setpoint has named so far."""
        turn = limits.turn_rate
        self.axes = {
            axis: SoftAxis(start[axis], limits.speed, limits.acceleration, smoothing)
            if axis in "xyz"
            else SoftAxis(start[axis], turn, 2.0 * turn, 2.0 * smoothing)
            for axis in AXES
        }

    def go_on(self, t: float, dt: float) -> None:
        while self._next < len(self._setpoints) and self._setpoints[self._next].at <= t + 1e-9:
            for axis in AXES:
                value = getattr(self._setpoints[self._next], axis)
                if value is not None:
                    self.goal[axis] = value
                    self.given.add(axis)
                    if axis == "roll":
                        self.given.discard("y")
                    if axis == "y":
                        self.given.discard("roll")
            self._next += 1
        for axis, one in self.axes.items():
            one.go_on(self.goal[axis], dt)

    def __getitem__(self, axis: str) -> SmoothAxis:
        return self.axes[axis]

    def plain(self) -> dict[str, object]:
        """State for a snapshot."""
        return {
            "next": self._next,
            "goal": dict(self.goal),
            "given": sorted(self.given),
            "axes": {axis: one.plain() for axis, one in self.axes.items()},
        }

    def take(self, plain: dict) -> None:
        self._next, self.goal, self.given = plain["next"], dict(plain["goal"]), set(plain["given"])
        for axis, values in plain["axes"].items():
            self.axes[axis].take(values)


def turned(angle: float) -> float:
    """Between −π and π."""
    return (angle + pi) % (2.0 * pi) - pi
