"""The way from one setpoint to the next: references that move no faster than a robot may."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, copysign, cos, pi, sin, sqrt

from botz.scenario.multibody.flight import FlightLimits, Setpoint

AXES = ("x", "y", "z", "roll", "pitch", "yaw")


class SmoothAxis:
    """A reference that goes to its goal with limited speed and acceleration and stops there."""

    def __init__(self, value: float, speed: float, acceleration: float):
        self.value = value
        self.rate = 0.0
        self.change = 0.0
        """Its acceleration."""
        self._speed, self._acceleration = speed, acceleration

    @property
    def limits(self) -> list[float]:
        return [self._speed, self._acceleration]

    def limit(self, speed: float, acceleration: float) -> None:
        """Go on with other limits."""
        self._speed, self._acceleration = speed, acceleration

    def go_on(self, goal: float, dt: float) -> None:
        left, most = goal - self.value, self._acceleration * dt
        # Slowing down by `most` in each of n steps from rate v on goes n v dt − most dt n (n − 1)/2: the least n that
        # suffices, and the v that then stops at the goal and not behind it.
        n = max(ceil(sqrt(0.25 + 2.0 * abs(left) / (most * dt)) - 0.5), 1)
        wanted = copysign(min(self._speed, abs(left) / (n * dt) + 0.5 * (n - 1) * most), left)
        rate = min(max(wanted, self.rate - most), self.rate + most)
        self.change = (rate - self.rate) / dt
        self.rate = rate
        self.value = goal if rate == left / dt else self.value + rate * dt

    def stopping_place(self) -> float:
        """Where it comes to rest when it slows down from now on."""
        return self.value + 0.5 * self.rate * abs(self.rate) / self._acceleration

    def shift(self, value: float, rate: float) -> None:
        """Go on from another place with another rate, by what is added to both."""
        self.value += value
        self.rate += rate

    def plain(self) -> list[float]:
        return [self.value, self.rate, self.change]

    def take(self, plain: list[float]) -> None:
        self.value, self.rate, self.change = plain


class SoftAxis(SmoothAxis):
    """The same followed by ÿ = w² (x − y) − 2 w ẏ, so that accelerations do not jump either: where that of x jumps by
    Δ, that of y goes there at w Δ/e at most. It is a mean of what x did, and keeps to the same limits."""

    def __init__(self, value: float, speed: float, acceleration: float, smoothing: float):
        super().__init__(value, speed, acceleration)
        self._lead = SmoothAxis(value, speed, acceleration)
        self._w = smoothing

    def go_on(self, goal: float, dt: float) -> None:
        lead = self._lead
        if self.value == goal == lead.value and self.rate == 0.0 == lead.rate:
            self.change = lead.change = 0.0  # it is there, as the axes that nothing moves are
            return
        lead.go_on(goal, dt)
        w = min(self._w, 0.5 / dt)
        self.change = w * w * (lead.value - self.value) - 2.0 * w * self.rate
        self.rate += self.change * dt
        self.value += self.rate * dt

    def stopping_place(self) -> float:
        return self._lead.stopping_place()

    def shift(self, value: float, rate: float) -> None:
        """The lead is where a steady rate lets it be, 2/w ahead."""
        super().shift(value, rate)
        self._lead.shift(value + 2.0 * rate / self._w, rate)

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
        self.steered: list[float] | None = None
        """Velocity that it is steered with: ahead, to the left, up [m/s], and a yaw rate [rad/s]."""
        self._fastest, self._fastest_turn = limits.speed, limits.turn_rate
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
                    self.goal[axis] = self.goal[axis] + short_way(value - self.goal[axis]) if axis == "yaw" else value
                    self.given.add(axis)
                    if axis == "roll":
                        self.given.discard("y")
                    if axis == "y":
                        self.given.discard("roll")
            self._next += 1
        if self.steered is not None:
            ahead, left, up, turn = self.steered
            heading = self.axes["yaw"].value
            self.goal["x"] += (ahead * cos(heading) - left * sin(heading)) * dt
            self.goal["y"] += (ahead * sin(heading) + left * cos(heading)) * dt
            self.goal["z"] += up * dt
            self.goal["yaw"] += turn * dt
        for axis, one in self.axes.items():
            one.go_on(self.goal[axis], dt)

    def steer(self, velocity: Sequence[float] | None) -> None:
        """Take a velocity from somebody's hands; none, or one of zero, stops where that can be. Who takes the sticks
        ends the programme: setpoints to come are left out, and the robot stays level."""
        still = velocity is None or not any(velocity)
        if velocity is not None:
            self._next = len(self._setpoints)
            self.given = {"x", "y", "z", "yaw"}
            self.goal["roll"] = self.goal["pitch"] = 0.0
        if (self.steered is None) != still or (velocity is not None and still):
            for axis in ("x", "y", "z", "yaw"):
                self.goal[axis] = self.axes[axis].stopping_place()
        if velocity is None or still:
            self.steered = None
            return
        ahead, left, up, turn = (float(one) for one in velocity)
        share = min(1.0, self._fastest / max(sqrt(ahead * ahead + left * left + up * up), 1e-9))
        turn = min(max(turn, -self._fastest_turn), self._fastest_turn)
        self.steered = [share * ahead, share * left, share * up, turn]

    def let_go(self, side: tuple[float, float], position: Sequence[float], velocity: Sequence[float]) -> None:
        """Along a direction in the plane nobody holds: there the references stay with the robot, so that it is taken on
        from where it is then."""
        x, y = self.axes["x"], self.axes["y"]
        away = side[0] * (position[0] - x.value) + side[1] * (position[1] - y.value)
        faster = side[0] * (velocity[0] - x.rate) + side[1] * (velocity[1] - y.rate)
        for axis, share in zip((x, y), side, strict=True):
            axis.shift(float(share * away), float(share * faster))

    def __getitem__(self, axis: str) -> SmoothAxis:
        return self.axes[axis]

    def plain(self) -> dict[str, object]:
        """State for a snapshot."""
        return {
            "next": self._next,
            "goal": dict(self.goal),
            "given": sorted(self.given),
            "axes": {axis: one.plain() for axis, one in self.axes.items()},
            "steered": self.steered,
        }

    def take(self, plain: dict) -> None:
        self._next, self.goal, self.given = plain["next"], dict(plain["goal"]), set(plain["given"])
        self.steered = plain.get("steered")
        for axis, values in plain["axes"].items():
            self.axes[axis].take(values)


def short_way(turn: float) -> float:
    """A turn by less than one around; of half a turn its sense stays."""
    return turn if abs(turn) <= pi + 1e-9 else turned(turn)


def turned(angle: float) -> float:
    """Between −π and π."""
    return (angle + pi) % (2.0 * pi) - pi
