"""The ground as a regular grid of heights ([virtualbotz] section 3.2)."""

from __future__ import annotations

import numpy as np

from botz.frames import inlined, record

GRID = record(
    # where the grid lies; cells per metre; the last row and column
    x_min=np.float64, y_min=np.float64, cells_x=np.float64, cells_y=np.float64, last_x=np.int64, last_y=np.int64,
)  # fmt: skip


@inlined
def height(heights, grid, x, y):
    """[virtualbotz] eqs. 3.3-3.5: linear along x at both neighbours in y, then linear along y.

    Outside the grid the height at its edge goes on. A place that is not a number is one of the grid's too.
    """
    u = min(max((x - grid.x_min) * grid.cells_x, 0.0), float(grid.last_x))
    v = min(max((y - grid.y_min) * grid.cells_y, 0.0), float(grid.last_y))
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
    """The same with its gradient; outside, the height does not change across the edge."""
    a = (x - grid.x_min) * grid.cells_x
    b = (y - grid.y_min) * grid.cells_y
    u = min(max(a, 0.0), float(grid.last_x))
    v = min(max(b, 0.0), float(grid.last_y))
    i = min(max(int(u), 0), grid.last_x - 1)
    j = min(max(int(v), 0), grid.last_y - 1)
    inside_x = 1.0 if a == u else 0.0
    inside_y = 1.0 if b == v else 0.0
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
    u = min(max((x - grid.x_min) * grid.cells_x, 0.0), float(grid.last_x))
    v = min(max((y - grid.y_min) * grid.cells_y, 0.0), float(grid.last_y))
    i = min(max(int(u), 0), grid.last_x - 1)
    j = min(max(int(v), 0), grid.last_y - 1)
    corner = heights[i, j]
    rise_x, rise_y = heights[i + 1, j] - corner, heights[i, j + 1] - corner
    return float(i), float(j), corner, rise_x, rise_y, heights[i + 1, j + 1] - corner - rise_x - rise_y


@inlined
def is_inside(grid, x, y):
    u = (x - grid.x_min) * grid.cells_x
    v = (y - grid.y_min) * grid.cells_y
    return 0.0 <= u <= grid.last_x and 0.0 <= v <= grid.last_y
