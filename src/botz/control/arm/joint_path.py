"""Paths of joints in time: quintic, trapezoidal, and splines through points, each within the joints' limits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np

from botz.errors import InputError, Problem
from botz.physics.arm.dh import REVOLUTE
from botz.robots.serial_arm import SerialArm

DEGREE = 5
HALVINGS = 36
"""Of an interval in which a root lies: what is left matters to the height of an extremum by its square."""
SAME = 1e-12
"""Joints that differ by less are where they are [rad, m]."""
SLACK = 1e-9
"""How far a limit may be passed, against rounding: a share of it, and of a range radians or metres."""
SHARE_OF_RAMPS = 1.0 / 3.0
"""Of a trapezoid whose accelerations nobody limits."""
Moment = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Positions, speeds and accelerations of the joints."""


@dataclass(frozen=True)
class Limits:
    """What paths may ask of the joints; infinite where nothing limits them."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    """rad or m."""
    speed: np.ndarray
    acceleration: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, arm: SerialArm) -> Limits:
        units = tuple("rad" if kind == REVOLUTE else "m" for kind in arm.links["kind"])
        return cls(arm.names, units, arm.speed, arm.acceleration, arm.lower, arm.upper)


class JointPath:
    """Polynomials of fifth degree, one after the other.

    Each is a polynomial of the share u = (t − t_k)/h_k of its own time, so that a path that is stretched in time keeps
    its coefficients. Before its start and from its end on a path rests.
    """

    def __init__(self, times: Any, coefficients: np.ndarray):
        self.times = np.asarray(times, dtype=float)
        """Where the pieces begin, and the end [s]: (m + 1)."""
        self.coefficients = np.ascontiguousarray(coefficients)
        """(m, 6, n)."""
        self.lengths = np.diff(self.times)
        self._times: list[float] = self.times.tolist()
        self.duration = self._times[-1]

    @classmethod
    def hermite(cls, times: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> JointPath:
        """Through positions with given speeds and accelerations, (m + 1, n) each: continuous in all three."""
        times = np.asarray(times, dtype=float)
        h = np.diff(times)[:, None]
        v0, v1, a0, a1 = v[:-1] * h, v[1:] * h, a[:-1] * h * h, a[1:] * h * h
        return cls(times, np.stack(hermite_coefficients(q[:-1], v0, a0, q[1:], v1, a1), axis=1))

    @classmethod
    def hold(cls, q: Any, duration: float) -> JointPath:
        q = np.asarray(q, dtype=float)
        coefficients = np.zeros((1, DEGREE + 1, len(q)))
        coefficients[0, 0] = q
        return cls([0.0, duration], coefficients)

    @classmethod
    def joined(cls, paths: Sequence[JointPath]) -> JointPath:
        """One after the other; those without length are left out."""
        long = [path for path in paths if path.duration > 0.0] or [paths[-1]]
        times, begin = [np.zeros(1)], 0.0
        for path in long:
            times.append(begin + path.times[1:])
            begin = float(times[-1][-1])
        return cls(np.concatenate(times), np.concatenate([path.coefficients for path in long]))

    @property
    def start(self) -> np.ndarray:
        return self.coefficients[0, 0].copy()

    @property
    def end(self) -> np.ndarray:
        return self.coefficients[-1].sum(axis=0)

    def stretched(self, factor: float) -> JointPath:
        """The same path in `factor` times the time."""
        return JointPath(self.times * factor, self.coefficients)

    def at(self, t: Any) -> Moment:
        """Positions, speeds and accelerations at a time: (n) each; at many times (N, n)."""
        if isinstance(t, np.ndarray):
            moving = ((t >= 0.0) & (t < self.duration))[:, None]
            q, v, a = self.sampled(np.clip(t, 0.0, self.duration))
            return q, np.where(moving, v, 0.0), np.where(moving, a, 0.0)
        if not 0.0 <= t < self.duration:
            q = self.start if t < 0.0 else self.end
            return q, np.zeros_like(q), np.zeros_like(q)
        k = bisect_right(self._times, t) - 1
        g = 1.0 / (self._times[k + 1] - self._times[k])
        u = (t - self._times[k]) * g
        u2, g2 = u * u, g * g
        u3, u4 = u2 * u, u2 * u2
        powers = np.array((
            1.0, u, u2, u3, u4, u4 * u,
            0.0, g, 2.0 * g * u, 3.0 * g * u2, 4.0 * g * u3, 5.0 * g * u4,
            0.0, 0.0, 2.0 * g2, 6.0 * g2 * u, 12.0 * g2 * u2, 20.0 * g2 * u3,
        )).reshape(3, 6)  # fmt: skip
        q, v, a = powers @ self.coefficients[k]
        return q, v, a

    def sampled(self, t: np.ndarray) -> Moment:
        """Of the polynomials themselves at many times from start to end, both included."""
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.lengths) - 1)
        h = _divisors(self.lengths[k])
        u = (t - self.times[k])[:, None] / h
        c = np.moveaxis(self.coefficients[k], 1, 0)
        first, second = derivative(c), derivative(derivative(c))
        return value(c, u), value(first, u) / h, value(second, u) / h**2

    def peaks(self) -> tuple[np.ndarray, np.ndarray]:
        """Greatest speed and acceleration of each joint in each piece, from the polynomials' extrema: (m, n) each."""
        c = np.moveaxis(self.coefficients, 1, 0)
        h = _divisors(self.lengths)
        first, second = derivative(c), derivative(derivative(c))
        return np.abs(_extrema(first)).max(axis=0) / h, np.abs(_extrema(second)).max(axis=0) / h**2

    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest position of each joint: (n) each."""
        found = _extrema(np.moveaxis(self.coefficients, 1, 0))
        return found.min(axis=(0, 1)), found.max(axis=(0, 1))

    def demand(self, limits: Limits) -> np.ndarray:
        """By how much each joint would have to stretch each piece to stay within its speed and acceleration: (m, n)."""
        speed, acceleration = self.peaks()
        return np.maximum(speed / limits.speed, np.sqrt(acceleration / limits.acceleration))


# --- profiles ----------------------------------------------------------------------------------------------------


def quintic(start: Any, end: Any, limits: Limits, duration: float | None = None) -> JointPath:
    """All joints by 10 u³ − 15 u⁴ + 6 u⁵: no speed and no acceleration at both ends; peaks 15/8 Δ/T and 10/√3 Δ/T²."""
    q = np.array([start, end], dtype=float)
    still = np.zeros_like(q)
    return timed(JointPath.hermite([0.0, 1.0], q, still, still), limits, duration)


def trapezoidal(start: Any, end: Any, limits: Limits, duration: float | None = None) -> JointPath:
    """All joints with the same phase: constant acceleration, constant speed, constant deceleration; without the middle
    where the way is too short for it. The joint whose speed, and the one whose acceleration allows least decide."""
    start, end = np.array(start, dtype=float), np.array(end, dtype=float)
    way = end - start
    with np.errstate(divide="ignore", over="ignore"):
        speed, acceleration = np.min(limits.speed / np.abs(way)), np.min(limits.acceleration / np.abs(way))
    ramp = SHARE_OF_RAMPS
    if isfinite(acceleration):
        ramp = 0.5 if speed >= acceleration / speed else 1.0 / (acceleration / speed / speed + 1.0)
    rise = ramp / (1.0 - ramp)
    # Share of the way by share of time: a parabola, a line of slope 1/(1 − ramp), a parabola.
    pieces = [[0.0, 0.0, 0.5 * rise], [0.5 * rise, (1.0 - 2.0 * ramp) / (1.0 - ramp), 0.0],
              [1.0 - 0.5 * rise, rise, -0.5 * rise]]  # fmt: skip
    times = [0.0, ramp, 1.0 - ramp, 1.0]
    if ramp == 0.5:
        del pieces[1], times[1]
    coefficients = np.zeros((len(pieces), DEGREE + 1, len(way)))
    for piece, shares in zip(coefficients, pieces, strict=True):
        piece[:3] = np.outer(shares, way)
        piece[0] += start
    return timed(JointPath(times, coefficients), limits, duration)


def timed(path: JointPath, limits: Limits, duration: float | None) -> JointPath:
    """The path stretched to `duration`, or to the least that the limits allow; InputError where these two differ."""
    ways = np.abs(path.coefficients[:, 1:]).max(axis=(0, 1))
    if ways.max() <= SAME:
        return JointPath.hold(path.start, duration or 0.0)
    demand = path.demand(limits).max(axis=0)
    least = float(demand.max()) * path.duration
    if least == 0.0 and duration is None:
        name = limits.names[int(ways.argmax())]
        message = f"nothing limits joint {name!r}: give how long it takes, or the joint's 'speed' in the robot"
        raise InputError(Problem(message, key="duration"))
    if duration is None:
        return path.stretched(least / path.duration)
    if duration < least * (1.0 - SLACK):
        i = int(demand.argmax())
        raise InputError(Problem(f"{duration:g} s are too short: {too_much(path, limits, i, duration)}; "
                                 f"the least is {rounded_up(least):g} s", key="duration"))  # fmt: skip
    return path.stretched(duration / path.duration)


def too_much(path: JointPath, limits: Limits, i: int, duration: float) -> str:
    """What joint i would have to do if the path took `duration`, and what it can."""
    factor = path.duration / duration
    speed, acceleration = (peak[:, i].max() for peak in path.peaks())
    needed, limit, unit = speed * factor, limits.speed[i], f"{limits.units[i]}/s"
    if np.sqrt(acceleration / limits.acceleration[i]) > speed / limits.speed[i]:
        needed, limit, unit = acceleration * factor**2, limits.acceleration[i], f"{limits.units[i]}/s²"
    return f"joint {limits.names[i]!r} would need {needed:.4g} {unit}, its limit is {limit:.4g} {unit}"


def rounded_up(value: float) -> float:
    """To four digits, never below: a user who writes what a message says must not be refused again."""
    step = 10.0 ** (floor(log10(value)) - 3)
    return float(f"{ceil(value / step - 1e-9) * step:.10g}")


# --- polynomials -------------------------------------------------------------------------------------------------


def hermite_coefficients(q0: Any, v0: Any, a0: Any, q1: Any, v1: Any, a1: Any) -> list[Any]:
    """Coefficients of u from values and derivatives by u at 0 and 1."""
    way = q1 - q0
    return [
        q0,
        v0,
        0.5 * a0,
        10.0 * way - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
        -15.0 * way + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
        6.0 * way - 3.0 * v0 - 3.0 * v1 - 0.5 * a0 + 0.5 * a1,
    ]


def _divisors(lengths: np.ndarray) -> np.ndarray:
    """Of derivatives by time, as a column; a piece without length holds its place, whatever it is divided by."""
    return np.where(lengths > 0.0, lengths, 1.0)[:, None]


def value(c: np.ndarray, u: np.ndarray) -> np.ndarray:
    found = c[-1] + np.zeros_like(u)
    for k in range(len(c) - 2, -1, -1):
        found = found * u + c[k]
    return found


def derivative(c: np.ndarray) -> np.ndarray:
    return c[1:] * np.arange(1, len(c)).reshape(-1, *(1,) * (c.ndim - 1))


def _extrema(c: np.ndarray) -> np.ndarray:
    """Values at both ends and at all turning points of many polynomials on 0 … 1: first axis."""
    return np.array([value(c, u) for u in _borders(derivative(c))])


def _borders(c: np.ndarray) -> np.ndarray:
    """Sorted points from 0 to 1 between which polynomials do not change their sign; those that have fewer roots than
    others repeat some. Between two turning points there is at most one root: found by halving."""
    if len(c) == 1:
        return np.stack([np.zeros(c.shape[1:]), np.ones(c.shape[1:])])
    borders = _borders(derivative(c))
    low, high = borders[:-1].copy(), borders[1:].copy()
    sign = np.sign(value(c[:, None], low))
    crossing = sign * np.sign(value(c[:, None], high)) < 0.0
    for _ in range(HALVINGS if crossing.any() else 0):
        middle = 0.5 * (low + high)
        before = crossing & (np.sign(value(c[:, None], middle)) == sign)
        low = np.where(before, middle, low)
        high = np.where(crossing & ~before, middle, high)
    return np.concatenate([borders[:1], high, borders[-1:]])
