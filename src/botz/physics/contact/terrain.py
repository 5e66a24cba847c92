"""The ground as a regular grid of heights ([virtualbotz] section 3.2)."""

from __future__ import annotations

from math import floor
from typing import Any, NamedTuple

import numpy as np

from botz.kernels import inlined, record

GRID = record(
    # where the grid lies; cells per metre; the last row and column
    x_min=np.float64, y_min=np.float64, cells_x=np.float64, cells_y=np.float64, last_x=np.int64, last_y=np.int64,
    # 1: outside, the ground goes on as its mirror image; 0: the height at the edge goes on
    mirrored=np.int64,
)  # fmt: skip


class Ground(NamedTuple):
    """The ground as kernels take it."""

    heights: Any
    grid: Any
    """One GRID."""


@inlined
def folded(place, last, mirrored):  # -> the place on the grid, in cells, and 1, or -1 on a mirror image
    """Mirror images of the grid follow one another without end; only places outside pay for finding theirs."""
    if mirrored == 0 or 0.0 <= place <= last:
        return place, 1.0
    within = place - 2.0 * last * floor(place / (2.0 * last))
    if within <= last:
        return within, 1.0
    return 2.0 * last - within, -1.0


@inlined
def height(heights, grid, x, y):
    """[virtualbotz] eqs. 3.3-3.5: linear along x at both neighbours in y, then linear along y.

    Outside the grid its mirror image goes on, or the height at its edge. A place that is not a number is one of the
    grid's too.
    """
    a, _ = folded((x - grid.x_min) * grid.cells_x, float(grid.last_x), grid.mirrored)
    b, _ = folded((y - grid.y_min) * grid.cells_y, float(grid.last_y), grid.mirrored)
    u = min(max(a, 0.0), float(grid.last_x))
    v = min(max(b, 0.0), float(grid.last_y))
    i = min(max(int(u), 0), grid.last_x - 1)
    j = min(max(int(v), 0), grid.last_y - 1)
    u -= i
    v -= j
    # Numbers without sign, so that no test for negative indices (counted from the end) comes with each.
    i1, j1 = np.uint64(i + 1), np.uint64(j + 1)
    i0, j0 = np.uint64(i), np.uint64(j)
    z1 = heights[i0, j0] + (heights[i1, j0] - heights[i0, j0]) * u
    z2 = heights[i0, j1] + (heights[i1, j1] - heights[i0, j1]) * u
    return z1 + (z2 - z1) * v


@inlined
def height_and_slope(heights, grid, x, y):  # -> height, ∂f/∂x, ∂f/∂y
    """The same with its gradient; where the edge goes on outside, the height does not change across it."""
    a, sign_x = folded((x - grid.x_min) * grid.cells_x, float(grid.last_x), grid.mirrored)
    b, sign_y = folded((y - grid.y_min) * grid.cells_y, float(grid.last_y), grid.mirrored)
    u = min(max(a, 0.0), float(grid.last_x))
    v = min(max(b, 0.0), float(grid.last_y))
    i = min(max(int(u), 0), grid.last_x - 1)
    j = min(max(int(v), 0), grid.last_y - 1)
    inside_x = sign_x if a == u else 0.0
    inside_y = sign_y if b == v else 0.0
    u -= i
    v -= j
    i1, j1 = np.uint64(i + 1), np.uint64(j + 1)
    i0, j0 = np.uint64(i), np.uint64(j)
    z00 = heights[i0, j0]
    z01 = heights[i0, j1]
    rise_1 = heights[i1, j0] - z00
    rise_2 = heights[i1, j1] - z01
    z1 = z00 + rise_1 * u
    z2 = z01 + rise_2 * u
    fx = (rise_1 + (rise_2 - rise_1) * v) * grid.cells_x * inside_x
    fy = (z2 - z1) * grid.cells_y * inside_y
    return z1 + (z2 - z1) * v, fx, fy


@inlined
def cell_of(heights, grid, x, y):  # -> its numbers along x and y, f at its corner, rises along x and y, twist
    """The cell under a point: f = corner + rise_x u + rise_y v + twist u v, with u, v from 0 to 1 across it."""
    a, b = (x - grid.x_min) * grid.cells_x, (y - grid.y_min) * grid.cells_y
    on_x, sign_x = folded(a, float(grid.last_x), grid.mirrored)
    on_y, sign_y = folded(b, float(grid.last_y), grid.mirrored)
    i = min(max(int(min(max(on_x, 0.0), float(grid.last_x))), 0), grid.last_x - 1)
    j = min(max(int(min(max(on_y, 0.0), float(grid.last_y))), 0), grid.last_y - 1)
    # On a mirror image the cell begins where the grid's ends.
    i0, i1 = (i, i + 1) if sign_x > 0.0 else (i + 1, i)
    j0, j1 = (j, j + 1) if sign_y > 0.0 else (j + 1, j)
    corner = heights[i0, j0]
    rise_x, rise_y = heights[i1, j0] - corner, heights[i0, j1] - corner
    column = floor(a - sign_x * on_x + 0.5) + sign_x * i0
    row = floor(b - sign_y * on_y + 0.5) + sign_y * j0
    return column, row, corner, rise_x, rise_y, heights[i1, j1] - corner - rise_x - rise_y


@inlined
def is_inside(grid, x, y):
    u = (x - grid.x_min) * grid.cells_x
    v = (y - grid.y_min) * grid.cells_y
    return 0.0 <= u <= grid.last_x and 0.0 <= v <= grid.last_y
