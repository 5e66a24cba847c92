"""The compiled ground against HeightGrid and finite differences. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from vehicle_parts import EPS, grid_of, rough_ground

from botz.physics.contact.terrain import cell_of, height, height_and_slope, is_inside

NEAR = 16 * EPS


@pytest.fixture
def ground():
    return rough_ground(np.random.default_rng(5), roughness=1.0)


@pytest.fixture
def grid(ground):
    return grid_of(ground)


def points(ground, n, beyond=0.0, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.uniform(ground.x_min - beyond, ground.x_max + beyond, n)
    y = rng.uniform(ground.y_min - beyond, ground.y_max + beyond, n)
    return list(zip(x.tolist(), y.tolist(), strict=True))


def test_heights_are_those_of_the_grid_inside_and_outside(ground, grid):
    """Within rounding: a coordinate of 2 m has an error of 2 m eps, which slopes of at most 20 turn into height."""
    for x, y in points(ground, 300, beyond=1.5):
        assert height(ground.heights, grid, x, y) == pytest.approx(ground.height(x, y), abs=40 * NEAR)


def test_heights_at_the_grids_own_points(ground, grid):
    for i in (0, 1, 17, 40):
        for j in (0, 1, 12, 30):
            found = height(ground.heights, grid, float(ground.x[i]), float(ground.y[j]))
            assert found == pytest.approx(ground.heights[i, j], abs=40 * NEAR)


def test_all_three_forms_agree(ground, grid):
    for x, y in points(ground, 300, beyond=0.5, seed=2):
        expected = height(ground.heights, grid, x, y)
        with_slope, fx, fy = height_and_slope(ground.heights, grid, x, y)
        assert with_slope == pytest.approx(expected, abs=NEAR)
        i, j, corner, rise_x, rise_y, twist = cell_of(ground.heights, grid, x, y)
        assert corner == ground.heights[int(i), int(j)]
        if is_inside(grid, x, y):
            u, v = (x - ground.x_min) / ground.dx - i, (y - ground.y_min) / ground.dy - j
            assert -1e-12 <= u <= 1 + 1e-12
            assert -1e-12 <= v <= 1 + 1e-12
            assert corner + rise_x * u + rise_y * v + twist * u * v == pytest.approx(expected, abs=40 * NEAR)
            assert fx == pytest.approx((rise_x + twist * v) / ground.dx, abs=1e-11)
            assert fy == pytest.approx((rise_y + twist * u) / ground.dy, abs=1e-11)


def test_slopes_are_derivatives(ground, grid):
    """A cell is linear along x and along y: differences within it are exact but for rounding, eps/step."""
    rng = np.random.default_rng(3)
    step = 0.05 * ground.dx
    for _ in range(100):
        i, j = rng.integers(0, 40), rng.integers(0, 30)
        x, y = (
            ground.x_min + (i + rng.uniform(0.1, 0.9)) * ground.dx,
            ground.y_min + (j + rng.uniform(0.1, 0.9)) * ground.dy,
        )
        _, fx, fy = height_and_slope(ground.heights, grid, x, y)
        assert fx == pytest.approx((ground.height(x + step, y) - ground.height(x - step, y)) / (2 * step), abs=1e-11)
        assert fy == pytest.approx((ground.height(x, y + step) - ground.height(x, y - step)) / (2 * step), abs=1e-11)


def test_outside_the_height_does_not_change_across_the_edge(ground, grid):
    y = 0.333
    inside, _, along = height_and_slope(ground.heights, grid, ground.x_max, y)
    for beyond in (1e-9, 0.5, 1e6):
        found, fx, fy = height_and_slope(ground.heights, grid, ground.x_max + beyond, y)
        assert found == pytest.approx(inside, abs=40 * NEAR)
        assert fx == 0.0
        assert fy == pytest.approx(along, abs=1e-11)
    _, fx, fy = height_and_slope(ground.heights, grid, 0.111, ground.y_min - 2.0)
    assert fy == 0.0
    assert fx != 0.0
    corner, fx, fy = height_and_slope(ground.heights, grid, 1e9, -1e9)
    assert (corner, fx, fy) == (ground.heights[-1, 0], 0.0, 0.0)


def test_inside_is_what_the_grid_contains(ground, grid):
    found = [is_inside(grid, x, y) for x, y in points(ground, 200, beyond=1.0, seed=4)]
    assert found == [bool(ground.contains(x, y)) for x, y in points(ground, 200, beyond=1.0, seed=4)]
    assert 20 < sum(found) < 180


def test_mirror_images_go_on_without_end(ground):
    """Heights, slopes and cells far outside are those of the plain form, which are those of the grid, mirrored."""
    mirrored = replace(ground, outside="mirror")
    grid = grid_of(mirrored)
    for x, y in points(ground, 300, beyond=25.0, seed=7):
        expected = float(mirrored.height(x, y))
        found, fx, fy = height_and_slope(ground.heights, grid, x, y)
        assert height(ground.heights, grid, x, y) == found == pytest.approx(expected, abs=1e-11)
        i, j, corner, rise_x, rise_y, twist = cell_of(ground.heights, grid, x, y)
        u, v = (x - ground.x_min) / ground.dx - i, (y - ground.y_min) / ground.dy - j
        assert -1e-9 <= u <= 1 + 1e-9
        assert -1e-9 <= v <= 1 + 1e-9
        assert corner + rise_x * u + rise_y * v + twist * u * v == pytest.approx(expected, abs=1e-11)
        assert fx == pytest.approx((rise_x + twist * v) / ground.dx, abs=1e-9)
        assert fy == pytest.approx((rise_y + twist * u) / ground.dy, abs=1e-9)
    inside = points(ground, 50, seed=8)
    width, depth = ground.x_max - ground.x_min, ground.y_max - ground.y_min
    for x, y in inside:
        here = ground.height(x, y)
        assert mirrored.height(2 * ground.x_max - x, y) == pytest.approx(here, abs=1e-12)
        assert mirrored.height(x - 6 * width, y + 4 * depth) == pytest.approx(here, abs=1e-11)
