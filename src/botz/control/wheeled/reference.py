"""Trajectories in time: named curves, and points from a file."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin
from pathlib import Path
from typing import NamedTuple, Protocol, assert_never

import numpy as np

from botz.control.planar import wrap
from botz.control.table import read_columns
from botz.errors import InputError, Problem
from botz.scenario.schema import TrajectoryController

STANDING = 1e-6
"""Speed below which a trajectory has no direction of its own [m/s]."""


class Moment(NamedTuple):
    """A trajectory at one time: position, velocity, heading and its rate."""

    x: float
    y: float
    vx: float
    vy: float
    heading: float
    turn: float

    @property
    def speed(self) -> float:
        return hypot(self.vx, self.vy)


class Reference(Protocol):
    fastest: float
    """Largest speed [m/s]."""
    heading_range: tuple[float, float] | None
    """Least and largest heading of the body that it prescribes; None where the heading is the path's direction."""

    def at(self, t: float) -> Moment: ...


def reference_of(spec: TrajectoryController) -> Reference:
    cx, cy = spec.center
    match spec.curve:
        case "circle":
            return Circle(cx, cy, spec.size, spec.period)
        case "eight":
            return Eight(cx, cy, spec.size, spec.period)
        case "line":
            return Line(cx, cy, spec.size, spec.period)
        case None:
            assert spec.file is not None
            return Sampled(Path(spec.file))
        case _:
            assert_never(spec.curve)


class Circle:
    """Anticlockwise from (center + radius, center), at constant speed."""

    heading_range: tuple[float, float] | None = None

    def __init__(self, cx: float, cy: float, radius: float, period: float):
        self._center, self._radius, self._rate = (cx, cy), radius, 2.0 * pi / period
        self.fastest = radius * self._rate

    def at(self, t: float) -> Moment:
        phase = self._rate * t
        c, s = cos(phase), sin(phase)
        r, v = self._radius, self.fastest
        return Moment(self._center[0] + r * c, self._center[1] + r * s, -v * s, v * c, phase + 0.5 * pi, self._rate)


class Eight:
    """Gerono's lemniscate, x = a sin φ, y = a/2 sin 2φ: from the centre to the upper right."""

    heading_range: tuple[float, float] | None = None

    def __init__(self, cx: float, cy: float, size: float, period: float):
        self._center, self._size, self._rate = (cx, cy), size, 2.0 * pi / period
        # |p'|² = a²(cos² φ + cos² 2φ) is largest where it crosses itself.
        self.fastest = size * self._rate * 2.0**0.5

    def at(self, t: float) -> Moment:
        phase, a, w = self._rate * t, self._size, self._rate
        x1, y1 = a * w * cos(phase), a * w * cos(2.0 * phase)
        x2, y2 = -a * w * w * sin(phase), -2.0 * a * w * w * sin(2.0 * phase)
        turn = (x1 * y2 - y1 * x2) / (x1 * x1 + y1 * y1)
        x, y = self._center[0] + a * sin(phase), self._center[1] + 0.5 * a * sin(2.0 * phase)
        return Moment(x, y, x1, y1, atan2(y1, x1), turn)


class Line:
    """From the centre along x, starting and stopping smoothly; it stays at its end."""

    heading_range: tuple[float, float] | None = None

    def __init__(self, cx: float, cy: float, length: float, period: float):
        self._center, self._length, self._period = (cx, cy), length, period
        self.fastest = 2.0 * length / period

    def at(self, t: float) -> Moment:
        part = min(max(t / self._period, 0.0), 1.0)
        along = self._length * (part - sin(2.0 * pi * part) / (2.0 * pi))
        speed = self._length / self._period * (1.0 - cos(2.0 * pi * part))
        return Moment(self._center[0] + along, self._center[1], speed, 0.0, 0.0, 0.0)


class Sampled:
    """A file's points, joined by cubic splines; at rest at its first point before and at its last one after."""

    def __init__(self, file: Path):
        from scipy.interpolate import CubicSpline

        columns = read_columns(file, required=("time", "x", "y"), allowed=("heading",))
        time = columns["time"]
        if time.size < 2:
            raise InputError(Problem("a trajectory needs at least two rows", file=file))
        self._time = time
        self._position = CubicSpline(time, np.column_stack([columns["x"], columns["y"]]))
        self._velocity = self._position.derivative()
        self._acceleration = self._velocity.derivative()
        fine = np.linspace(time[0], time[-1], 4 * time.size)
        self.fastest = float(np.hypot(*self._velocity(fine).T).max())
        self.heading_range: tuple[float, float] | None = None
        if "heading" in columns:
            heading = np.unwrap(columns["heading"])
            self._heading = CubicSpline(time, heading)
            self._heading_rate = self._heading.derivative()
            self.heading_range = float(heading.min()), float(heading.max())
        self._directions = self._directions_at(time)

    def _directions_at(self, time: np.ndarray) -> np.ndarray:
        """Direction at every row; where it stands still the one it came with, or else the one it leaves with."""
        vx, vy = self._velocity(time).T
        moving = np.hypot(vx, vy) > STANDING
        last = np.maximum.accumulate(np.where(moving, np.arange(time.size), -1))
        first = int(np.argmax(moving)) if moving.any() else 0
        return np.arctan2(vy, vx)[np.where(last >= 0, last, first)]

    def at(self, t: float) -> Moment:
        inside = bool(self._time[0] <= t < self._time[-1])
        t = min(max(t, float(self._time[0])), float(self._time[-1]))
        x, y = self._position(t).tolist()
        vx, vy = self._velocity(t).tolist()
        if self.heading_range is not None:
            heading, turn = float(self._heading(t)), float(self._heading_rate(t))
        else:
            speed = hypot(vx, vy)
            if speed > STANDING:
                ax, ay = self._acceleration(t).tolist()
                heading, turn = atan2(vy, vx), (vx * ay - vy * ax) / (speed * speed)
            else:
                row = int(np.searchsorted(self._time, t, side="right")) - 1
                heading, turn = float(self._directions[row]), 0.0
        if not inside:
            vx = vy = turn = 0.0
        return Moment(x, y, vx, vy, wrap(heading), turn)
