"""Heights by formula and by shape, on the grid that a terrain asks for. Rows along x, columns along y."""

from __future__ import annotations

import math

import numpy as np

from botz.errors import InputError, Problem
from botz.scenario.formula import parse
from botz.scenario.terrain import (
    BumpsTerrain,
    FormulaTerrain,
    GridTerrain,
    HalfPipeTerrain,
    PlaneTerrain,
    RampTerrain,
    StepTerrain,
)

BLOCK = 1 << 20
"""Points that a formula is evaluated on at a time: its intermediate results stay small."""
BUMPS_STREAM = 1
"""Tells the random numbers of bumps from those of roughness, where both have the scenario's seed."""
TRIES = 1000
"""Places that are drawn for a bump before there seems to be no room."""


def axes(spec: GridTerrain) -> tuple[np.ndarray, np.ndarray]:
    """x as a column and y as a row: what is made of them has the grid's shape."""
    n_x, n_y = spec.shape
    return np.linspace(spec.x[0], spec.x[1], n_x)[:, None], np.linspace(spec.y[0], spec.y[1], n_y)[None, :]


def along(spec: GridTerrain, direction: float) -> np.ndarray:
    """Distance u from the origin along a direction. Along the axes nothing of the other coordinate may leak in, as
    the cosine of a rounded π/2 would let it."""
    x, y = axes(spec)
    c, s = math.cos(direction), math.sin(direction)
    c, s = (round(c), round(s)) if min(abs(c), abs(s)) < 1e-12 else (c, s)
    return c * x + s * y


def formula(spec: FormulaTerrain) -> np.ndarray:
    function = parse(spec.expression)
    x, y = axes(spec)
    heights = np.empty(spec.shape)
    rows = max(1, BLOCK // heights.shape[1])
    for start in range(0, heights.shape[0], rows):
        heights[start : start + rows] = function(x[start : start + rows], y)
    return heights


def plane(spec: PlaneTerrain) -> np.ndarray:
    return spec.height + math.tan(spec.slope) * along(spec, spec.direction)


def ramp(spec: RampTerrain) -> np.ndarray:
    """The slope is switched on at one end and off at the other; `blend` switches it gradually, so that both edges
    become parabolas while the straight part and the upper level stay where they are."""
    u = along(spec, spec.direction)
    u -= spec.start
    heights = _rise(u, spec.blend)
    u -= spec.length
    heights -= _rise(u, spec.blend)
    heights *= spec.steepness
    return heights


def _rise(u: np.ndarray, blend: float) -> np.ndarray:
    """max(u, 0) averaged over a window of width `blend`: (u + b/2)²/(2b) for |u| < b/2."""
    bent = np.maximum(u, 0.0)
    if blend > 0:
        inside = np.abs(u) < blend / 2
        bent[inside] = (u[inside] + blend / 2) ** 2 / (2 * blend)
    return bent


def step(spec: StepTerrain) -> np.ndarray:
    """A straight rise from one level to the other, which a shift of the grid by rounding errors hardly changes."""
    u = along(spec, spec.direction)
    edge = spec.resolution if spec.edge is None else spec.edge
    return spec.height * np.clip((u - spec.at) / edge, 0.0, 1.0)


def half_pipe(spec: HalfPipeTerrain) -> np.ndarray:
    """Circle up to the wall angle, its tangent from there on."""
    across = np.abs(along(spec, spec.direction + math.pi / 2))
    r, end = spec.radius, spec.radius * math.sin(spec.wall)
    round_part = np.minimum(across, end)
    heights = r - np.sqrt(r * r - round_part * round_part)
    heights += math.tan(spec.wall) * (across - round_part)
    return heights


def bumps(spec: BumpsTerrain, seed: int, key: str) -> np.ndarray:
    """h (1 + cos(πd/r))/2 at the distance d from the middle of a bump: level at the top and all around its foot."""
    rng = np.random.default_rng([BUMPS_STREAM, seed if spec.seed is None else spec.seed])
    x, y = (axis.ravel() for axis in axes(spec))
    heights = np.zeros(spec.shape)
    for _ in range(spec.count):
        r, h = _drawn(spec.radius, rng), _drawn(spec.height, rng)
        x_0, y_0 = _free_place(spec, r, rng, key)
        rows = slice(*np.searchsorted(x, [x_0 - r, x_0 + r]))
        columns = slice(*np.searchsorted(y, [y_0 - r, y_0 + r]))
        distance = np.hypot((x[rows] - x_0)[:, None], (y[columns] - y_0)[None, :])
        heights[rows, columns] += h / 2 * (1 + np.cos(np.minimum(distance / r, 1.0) * math.pi))
    return heights


def _drawn(between: list[float], rng: np.random.Generator) -> float:
    return float(rng.uniform(between[0], between[1]))


def _free_place(spec: BumpsTerrain, r: float, rng: np.random.Generator, key: str) -> tuple[float, float]:
    for _ in range(TRIES):
        x_0, y_0 = _drawn(spec.x, rng), _drawn(spec.y, rng)
        if math.hypot(x_0, y_0) >= spec.clear + r:
            return x_0, y_0
    none = f"no room for a bump of radius {r:.3g} m farther than {spec.clear:g} m from the origin; make it less"
    raise InputError(Problem(none, key=f"{key}.clear"))
