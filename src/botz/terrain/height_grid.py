"""The ground as a grid of heights, and how one is made of what a user wrote."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import assert_never

import numpy as np

from botz.errors import InputError, Problem
from botz.scenario.terrain import (
    FARTHEST,
    BumpsTerrain,
    FlatTerrain,
    FormulaTerrain,
    HalfPipeTerrain,
    ImageTerrain,
    MatrixTerrain,
    PlaneTerrain,
    RampTerrain,
    RoughTerrain,
    StepTerrain,
    Terrain,
)
from botz.terrain import generators
from botz.terrain.height_image import read_image
from botz.terrain.matrix_file import read_matrix
from botz.terrain.roughness import rough_heights

KEY = "world.terrain"
"""Where a scenario holds its terrain; the place that mistakes are reported at."""


@dataclass(frozen=True, eq=False)
class HeightGrid:
    """Heights on a regular grid: `heights[i, j]` is at x_min + i dx, y_min + j dy ([virtualbotz] eqs. 3.1-3.2)."""

    heights: np.ndarray
    """Heights (n_x, n_y), float64, in C order [m]."""
    x_min: float
    x_max: float
    y_min: float
    y_max: float
    outside: str = "edge"
    """`edge`: the height at the edge goes on outside; `mirror`: mirror images of the grid do; `end`: the run ends when
    a wheel leaves the grid."""
    texture_file: Path | None = None
    """Image on the ground, for viewers."""
    texture_scale: float = 1.0
    """Length that one repeat of the image covers [m]."""

    @property
    def dx(self) -> float:
        """Spacing along x [m]."""
        return (self.x_max - self.x_min) / (self.heights.shape[0] - 1)

    @property
    def dy(self) -> float:
        """Spacing along y [m]."""
        return (self.y_max - self.y_min) / (self.heights.shape[1] - 1)

    @property
    def x(self) -> np.ndarray:
        """Coordinates of the rows [m]."""
        return np.linspace(self.x_min, self.x_max, self.heights.shape[0])

    @property
    def y(self) -> np.ndarray:
        """Coordinates of the columns [m]."""
        return np.linspace(self.y_min, self.y_max, self.heights.shape[1])

    def contains(self, x: np.ndarray | float, y: np.ndarray | float) -> np.ndarray:
        """Whether points lie on the grid, its edges included."""
        x, y = np.asarray(x), np.asarray(y)
        return (x >= self.x_min) & (x <= self.x_max) & (y >= self.y_min) & (y <= self.y_max)

    def height(self, x: np.ndarray | float, y: np.ndarray | float) -> np.ndarray:
        """Height at any points: bilinear between the grid's ([virtualbotz] eqs. 3.3-3.5), outside that of the nearest
        point on the edge, or of the mirror image. Where x or y is not a number, neither is the height.

        This is the plain form that the compiled one is checked against.
        """
        m = self.heights
        i, s = _cell_and_fraction(x, self.x_min, self.dx, m.shape[0], self.outside == "mirror")
        j, t = _cell_and_fraction(y, self.y_min, self.dy, m.shape[1], self.outside == "mirror")
        z_1 = m[i + 1, j] * s + m[i, j] * (1 - s)
        z_2 = m[i + 1, j + 1] * s + m[i, j + 1] * (1 - s)
        return np.asarray(z_2 * t + z_1 * (1 - t))


def _cell_and_fraction(
    value: np.ndarray | float, start: float, spacing: float, n: int, mirrored: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The cell (the last one for its far edge) and the place in it, from 0 to 1."""
    place = (np.asarray(value, np.float64) - start) / spacing
    if mirrored:
        period = 2.0 * (n - 1.0)
        place = place - period * np.floor(place / period)
        place = np.minimum(place, period - place)
    place = np.clip(place, 0.0, n - 1.0)
    cell = np.minimum(np.nan_to_num(place).astype(np.intp), n - 2)
    return cell, place - cell


Grids = dict[str, HeightGrid]
"""By the terrain that each was made of."""
MOST_KEPT = 2
_kept: Grids = {}
_making = Lock()


def kept_grids() -> Grids:
    """The last grids that this process has made, for one that is started and needs the same ground."""
    return dict(_kept)


def keep_grids(grids: Grids) -> None:
    """Take over what `kept_grids` has given to another process."""
    _kept.update(grids)


def build_grid(spec: Terrain, seed: int = 0) -> HeightGrid:
    """The grid of a terrain, as `make_grid` makes it; one that was made just now is not made again. Nobody writes into
    it: an engine and a picture may have the same."""
    stamp = ""
    with suppress(OSError):
        about = Path(getattr(spec, "file", "")).stat()
        stamp = f"{about.st_mtime_ns} {about.st_size}"
    key = f"{spec.model_dump_json()} {seed} {stamp}"
    with _making:
        grid = _kept.pop(key, None) or make_grid(spec, seed)
        while len(_kept) >= MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = grid
    return grid


def make_grid(spec: Terrain, seed: int = 0) -> HeightGrid:
    """The grid of a terrain; `seed` is the scenario's, for what has none of its own. Same terrain and seed, same bits.

    Raises InputError with the key, and for a matrix or image its file and line.
    """
    heights = _bare_heights(spec, seed)
    roughness = spec if isinstance(spec, RoughTerrain) else spec.roughness
    if roughness is not None:
        key = KEY if isinstance(spec, RoughTerrain) else f"{KEY}.roughness"
        lengths = (spec.x[1] - spec.x[0], spec.y[1] - spec.y[0])
        heights += rough_heights(roughness, heights.shape, lengths, seed=seed, key=key)
    texture = spec.texture
    grid = HeightGrid(
        np.ascontiguousarray(heights, dtype=np.float64),
        x_min=spec.x[0],
        x_max=spec.x[1],
        y_min=spec.y[0],
        y_max=spec.y[1],
        outside=spec.outside,
        texture_file=None if texture is None else Path(texture.file),
        texture_scale=1.0 if texture is None else texture.scale,
    )
    _refuse_odd_heights(spec, grid)
    return grid


def _bare_heights(spec: Terrain, seed: int) -> np.ndarray:
    """Heights without roughness; nobody else holds the array."""
    match spec:
        case MatrixTerrain():
            return read_matrix(Path(spec.file), f"{KEY}.file")
        case ImageTerrain():
            return read_image(spec, KEY)
        case FormulaTerrain():
            return generators.formula(spec)
        case FlatTerrain():
            return np.full(spec.shape, spec.height)
        case PlaneTerrain():
            return generators.plane(spec)
        case RampTerrain():
            return generators.ramp(spec)
        case StepTerrain():
            return generators.step(spec)
        case BumpsTerrain():
            return generators.bumps(spec, seed, KEY)
        case HalfPipeTerrain():
            return generators.half_pipe(spec)
        case RoughTerrain():
            return np.zeros(spec.shape)
        case _:
            assert_never(spec)


def _refuse_odd_heights(spec: Terrain, grid: HeightGrid) -> None:
    """NaN and infinity, and heights so great that forces and distances lose their meaning."""
    heights = grid.heights
    if heights.min() >= -FARTHEST and heights.max() <= FARTHEST:  # false for NaN
        return
    odd = np.argwhere(~(np.abs(heights) <= FARTHEST))
    i, j = odd[0]
    more = f" (and so at {len(odd) - 1} more points)" if len(odd) > 1 else ""
    message = (
        f"the height at x = {grid.x[i]:.6g} m, y = {grid.y[j]:.6g} m is {heights[i, j]:.6g}{more}; "
        f"it must be between -{FARTHEST:g} m and {FARTHEST:g} m on the whole grid"
    )
    match spec:
        case FormulaTerrain():
            raise InputError(Problem(message, key=f"{KEY}.expression"))
        case MatrixTerrain() | ImageTerrain():
            raise InputError(Problem(message, key=f"{KEY}.file", file=Path(spec.file)))
        case _:
            raise InputError(Problem(message, key=KEY))
