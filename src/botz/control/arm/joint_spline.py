"""Paths of joints through points without stopping: splines of fifth degree with the least jerk."""

from __future__ import annotations

from typing import Any

import numpy as np

from botz.control.arm.joint_path import (
    DEGREE,
    SAME,
    SHARE_OF_RAMPS,
    SLACK,
    JointPath,
    Limits,
    derivative,
    hermite_coefficients,
    quintic,
    timed,
    value,
)
from botz.errors import InputError, Problem
from botz.scenario.units import in_both_units

EFFORT = 40_000
"""How many pieces of splines are computed in the search for the best times between points."""
SHORTEST = 1e-5
"""Of the times between points by their mean."""


def through_points(points: Any, limits: Limits, duration: float | None = None) -> JointPath:
    """From the first to the last without stopping in between, from rest to rest: the spline of fifth degree with the
    least ∫ jerk² dt, continuous up to the fourth derivative; the times between the points are chosen such that it ends
    soon, and stretched until all limits are kept."""
    points = np.asarray(points, dtype=float)
    points = points[np.concatenate([[True], np.abs(np.diff(points, axis=0)).max(axis=1) > SAME])]
    if len(points) <= 2:
        return quintic(points[0], points[-1], limits, duration)
    h = _allotted(points, limits)
    h = np.maximum(h / h.mean(), SHORTEST)
    path = JointPath(np.concatenate([[0.0], np.cumsum(h)]), np.moveaxis(_spline(points, h[None])[:, 0], 0, 1))
    return within_range(timed(path, limits, duration), limits)


def _allotted(points: np.ndarray, limits: Limits) -> np.ndarray:
    """Times between the points that let the spline end soon: from the best of some guesses, the best of all changes of
    one time, and of shifts between two neighbours, again and again by smaller steps."""
    ways = np.abs(np.diff(points, axis=0))
    fast, strong = (ways / limits.speed).max(axis=1), np.sqrt(ways / limits.acceleration).max(axis=1)
    guesses = np.array([
        guess
        for guess in (strong, np.maximum(fast, strong), *(_with_ramps(fast, ramp) for ramp in (0.0, 0.05, 0.2, 0.5)))
        if guess.all()
    ])  # fmt: skip
    if not len(guesses):
        return _with_ramps(np.sqrt((ways**2).sum(axis=1)), SHARE_OF_RAMPS)
    guesses = np.maximum(guesses / guesses.mean(axis=1, keepdims=True), SHORTEST)
    needed = _least_time(points, guesses, limits)
    h, least = guesses[needed.argmin()], needed.min()
    one = np.eye(len(h))
    changes = np.concatenate([one, -one, np.diff(one, axis=0), -np.diff(one, axis=0)])
    step, tries = 0.4, EFFORT // changes.size
    while step > 0.01 and tries > 0:
        tries -= 1
        trials = np.maximum(h * np.exp(step * changes), SHORTEST)
        needed = _least_time(points, trials, limits)
        k = int(needed.argmin())
        if needed[k] < least * (1.0 - 1e-6):
            h, least = trials[k] / trials[k].mean(), needed[k]
        else:
            step *= 0.5
    return h


def _with_ramps(ways: np.ndarray, ramp: float) -> np.ndarray:
    """Times of ways that are passed one after the other by a trapezoid of speed with such a share of ramps."""
    s = np.concatenate([[0.0], np.cumsum(ways)]) / max(float(ways.sum()), 1e-300)
    early = np.minimum(s, 1.0 - s)
    rising = early < 0.5 * ramp / (1.0 - ramp)
    t = np.where(rising, np.sqrt(np.maximum(2.0 * ramp * (1.0 - ramp) * early, 0.0)), 0.5 * ramp + (1.0 - ramp) * early)
    return np.diff(np.where(s > 0.5, 1.0 - t, t))


def _least_time(points: np.ndarray, h: np.ndarray, limits: Limits) -> np.ndarray:
    """How long splines with these times (N, m) take when they are stretched to the limits, by samples: (N)."""
    c = _spline(points, h)
    h = h[:, :, None]
    u = np.linspace(0.0, 1.0, 9)[:, None, None, None]
    speed = np.abs(value(derivative(c)[:, None], u)).max(axis=0) / h / limits.speed
    acceleration = np.abs(value(derivative(derivative(c))[:, None], u)).max(axis=0) / h**2 / limits.acceleration
    return np.maximum(speed, np.sqrt(acceleration)).max(axis=(1, 2)) * h.sum(axis=(1, 2))


def within_range(path: JointPath, limits: Limits) -> JointPath:
    """The path itself; InputError where it swings out of a joint's range between its points."""
    low, high = path.extent()
    problems = []
    for i, name in enumerate(limits.names):
        if low[i] < limits.lower[i] - SLACK or high[i] > limits.upper[i] + SLACK:
            where = low[i] if low[i] < limits.lower[i] - SLACK else high[i]
            shown = [in_both_units(entry, limits.units[i]) for entry in (where, limits.lower[i], limits.upper[i])]
            text = (
                f"between the points joint {name!r} swings to {shown[0]}, outside its range, {shown[1]} to {shown[2]}"
            )
            problems.append(Problem(f"{text}; add points, or stop on the way", key="through"))
    if problems:
        raise InputError(problems)
    return path


def _jerk_form() -> np.ndarray:
    """K of ∫ (d³q/du³)² du = xᵀ K x with x = (q₀, v₀, a₀, q₁, v₁, a₁)."""
    cubic = np.array(hermite_coefficients(*np.eye(DEGREE + 1)))[3:] * np.array([6.0, 24.0, 60.0])[:, None]
    moments = 1.0 / (np.arange(3)[:, None] + np.arange(3) + 1.0)
    return cubic.T @ moments @ cubic


JERK_FORM = _jerk_form()


def _spline(points: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Coefficients (6, N, m, n) of the splines through the points (m + 1, n) with N choices of the times between them.

    ∫ jerk² dt = Σ h⁻⁵ xᵀ S K S x with S = diag(1, h, h², 1, h, h²) is least for the speeds and accelerations at the
    inner points that solve a positive definite system of 2 × 2 blocks in three diagonals.
    """
    scale = np.stack([np.ones_like(h), h, h * h] * 2, axis=-1)
    form = JERK_FORM * scale[..., :, None] * scale[..., None, :] / h[..., None, None] ** 5
    after, before = slice(1, 3), slice(4, 6)
    own = form[:, :-1, before, before] + form[:, 1:, after, after]
    couple = form[:, :, after, before]
    right = -(
        form[:, :-1, before, 0, None] * points[:-2, None]
        + (form[:, :-1, before, 3, None] + form[:, 1:, after, 0, None]) * points[1:-1, None]
        + form[:, 1:, after, 3, None] * points[2:, None]
    )
    count = own.shape[1]
    for k in range(1, count):
        factor = np.swapaxes(np.linalg.solve(own[:, k - 1], couple[:, k]), 1, 2)
        own[:, k] -= factor @ couple[:, k]
        right[:, k] -= factor @ right[:, k - 1]
    inner = np.zeros((len(h), count + 2, 2, points.shape[1]))
    for k in range(count - 1, -1, -1):
        inner[:, k + 1] = np.linalg.solve(own[:, k], right[:, k] - couple[:, k + 1] @ inner[:, k + 2])
    v, a, h = inner[:, :, 0], inner[:, :, 1], h[:, :, None]
    ends = (points[:-1], v[:, :-1] * h, a[:, :-1] * h * h, points[1:], v[:, 1:] * h, a[:, 1:] * h * h)
    return np.array(np.broadcast_arrays(*hermite_coefficients(*ends)))
