"""Random roughness: the spectrum of its cuts by ISO 8608, the same in all directions, and its seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from botz.errors import InputError
from botz.scenario.terrain import Roughness, Terrain
from botz.terrain.height_grid import HeightGrid, make_grid
from botz.terrain.roughness import _wave_powers

TERRAIN: TypeAdapter[Any] = TypeAdapter(Terrain)
SQUARE = {"type": "rough", "iso_class": "D", "x": [0, 12.7], "y": [0, 12.7], "resolution": 0.1}
DENSITY = 1024e-6


def grid(scenario_seed: int = 0, **keys: Any) -> HeightGrid:
    return make_grid(TERRAIN.validate_python({**SQUARE, **keys}), scenario_seed)


def told(**keys: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        grid(**keys)
    return [str(problem) for problem in caught.value.problems]


def cut_density(heights: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Spatial frequencies and the one-sided periodogram [m³] of cuts along the first axis, averaged over the cuts."""
    points = heights.shape[0]
    waves = np.fft.rfft(heights, axis=0)
    density = 2 * spacing / points * (np.abs(waves) ** 2).mean(axis=1)
    return np.fft.rfftfreq(points, spacing)[1:-1], density[1:-1]


def expected(n: np.ndarray, shortest: float) -> np.ndarray:
    """G_d(n0) (n/n0)⁻², less what the waves shorter than `shortest` would have added to a cut."""
    return DENSITY * (n / 0.1) ** -2.0 * np.sqrt(np.clip(1 - (n * shortest) ** 2, 0, None))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("width", [12.7, 3.1])
def test_cuts_have_the_density_of_iso_8608(axis: int, width: float):
    """Also where one side is much longer than the other. Each of the 64 grids gives at least one independent cut, so
    the mean over a third of an octave of waves, at least 3 of them, has a standard error below 1/√(64·3) = 7 %; the
    bands higher up hold more waves. Four of those are allowed."""
    sides = {"x": [0, 12.7], "y": [0, width]} if axis == 0 else {"x": [0, width], "y": [0, 12.7]}
    cuts = [np.moveaxis(grid(seed, **sides).heights, axis, 0) for seed in range(64)]
    n, density = cut_density(np.concatenate(cuts, axis=1), 0.1)
    held = n < 1 / 0.4
    ratio = density[held] / expected(n[held], 0.4)
    for low in 2 ** np.arange(1.0, 5.0, 1 / 3):
        chosen = slice(int(low), int(low) + max(3, int(low * 0.26)))
        standard_error = 1 / np.sqrt(64 * (chosen.stop - chosen.start))
        assert ratio[chosen].mean() == pytest.approx(1.0, abs=4 * standard_error)
    # And over the whole band, against the plain law where the cut-off does not count.
    plain = density[2:10] / (DENSITY * (n[2:10] / 0.1) ** -2)
    assert plain.mean() == pytest.approx(1.0, abs=4 / np.sqrt(64 * 8))


@pytest.mark.parametrize(
    ("shape", "spacing"), [((512, 512), (0.1, 0.1)), ((512, 32), (0.1, 0.1)), ((64, 256), (1, 0.05))]
)
def test_the_mean_power_of_cuts_is_exact(shape: tuple[int, int], spacing: tuple[float, float]):
    """All waves that a cut along x sees at one n, summed: G_d(n)/2 per frequency and side of the spectrum."""
    shortest = 4 * max(spacing)
    power = DENSITY * _wave_powers(shape, list(spacing), shortest, 1e9)
    both_sides = power[:, 0] + 2 * power[:, 1:].sum(axis=1)
    d_n = 1 / (shape[0] * spacing[0])
    i = np.arange(2, int(0.6 / shortest / d_n))
    found = 2 * both_sides[i] / d_n
    np.testing.assert_allclose(found, expected(i * d_n, shortest), rtol=0.08)
    smooth = i[(i >= 4) & (i * d_n * shortest < 0.4)]
    np.testing.assert_allclose(2 * both_sides[smooth] / d_n, expected(smooth * d_n, shortest), rtol=0.03)


def test_all_directions_are_alike():
    """The mean square difference over a distance of 0.5 m: along x, along y, and along (3, 4)/5 and (4, -3)/5."""
    found = {}
    for i, j in ((5, 0), (0, 5), (3, 4), (4, -3)):
        squares = [
            np.mean((h - np.roll(h, (i, j), axis=(0, 1))) ** 2) for h in (grid(seed).heights for seed in range(24))
        ]
        found[i, j] = np.mean(squares)
    assert list(found.values()) == pytest.approx([np.mean(list(found.values()))] * 4, rel=0.05)


def test_a_class_is_four_times_the_density_of_the_one_before():
    a, b = grid(3, iso_class="A").heights, grid(3, iso_class="B").heights
    np.testing.assert_allclose(b, 2 * a, rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(grid(3, iso_class=None, phi=DENSITY).heights, grid(3).heights, rtol=1e-12, atol=1e-18)


def test_seeds():
    assert grid(1).heights.tobytes() == grid(1).heights.tobytes()
    assert not np.array_equal(grid(1).heights, grid(2).heights)
    assert np.array_equal(grid(1, seed=7).heights, grid(2, seed=7).heights)
    assert np.array_equal(grid(7).heights, grid(1, seed=7).heights)
    assert not np.array_equal(grid(2**63 - 1).heights, grid(0).heights)


def test_waves_outside_the_band_are_not_there():
    made = grid(shortest=1.0, longest=4.0)
    waves = np.abs(np.fft.fft2(made.heights))
    n = np.fft.fftfreq(128, 0.1)
    kappa = np.hypot(n[:, None], n[None, :])
    inside = (kappa >= 1 / 4.0) & (kappa <= 1.0)
    assert waves[~inside & ((kappa < 0.24) | (kappa > 1.0))].max() < 1e-9 * waves.max()
    assert waves[inside].min() > 1e-6 * waves.max()
    assert abs(made.heights.mean()) < 1e-15


def test_the_default_band_reaches_from_the_terrain_to_four_cells():
    waves = np.abs(np.fft.fft2(grid().heights))
    assert waves[1, 0] > 0.01 * waves.max()
    assert waves[32, 0] > 1e-6 * waves.max()
    assert waves[34:64, :].max() < 1e-9 * waves.max()


def test_roughness_lies_on_top_of_any_terrain(tmp_path: Path):
    np.save(tmp_path / "m.npy", np.arange(128.0 * 128).reshape(128, 128) / 1000)
    extent = {"x": [0, 12.7], "y": [0, 12.7]}
    rough = {"iso_class": "D", "seed": 5}
    for keys in (
        {"type": "plane", "slope": 0.1, "resolution": 0.1},
        {"type": "formula", "expression": "x*y", "resolution": 0.1},
        {"type": "matrix", "file": str(tmp_path / "m.npy")},
    ):
        bare = make_grid(TERRAIN.validate_python({**keys, **extent}))
        both = make_grid(TERRAIN.validate_python({**keys, **extent, "roughness": rough}))
        np.testing.assert_allclose(both.heights - bare.heights, grid(5).heights, rtol=0, atol=1e-13)


def test_bumps_and_roughness_draw_numbers_of_their_own():
    keys = {"type": "bumps", "x": [0, 12.7], "y": [0, 12.7], "resolution": 0.1}
    bare = make_grid(TERRAIN.validate_python(keys), 5)
    both = make_grid(TERRAIN.validate_python({**keys, "roughness": {"iso_class": "D"}}), 5)
    np.testing.assert_allclose(both.heights - bare.heights, grid(5).heights, rtol=0, atol=1e-13)


def test_a_density_of_zero_is_smooth():
    assert np.all(grid(iso_class=None, phi=0).heights == 0)


@pytest.mark.parametrize("shape", [(2, 2), (2, 50), (3, 7)])
def test_tiny_grids_hold_no_waves_but_do_not_fail(shape: tuple[int, int]):
    keys = {"x": [0, 0.1 * (shape[0] - 1)], "y": [0, 0.1 * (shape[1] - 1)], "shortest": 0.2, "longest": 9}
    assert np.isfinite(grid(**keys).heights).all()


def test_bands_that_no_grid_can_hold_are_refused():
    assert told(shortest=0.15) == [
        "world.terrain.shortest: 0.15 m is less than 2 cells of 0.1 m, which no grid can hold; at least 0.2 m"
    ]
    assert told(longest=0.3) == [
        "world.terrain.longest: the shortest wavelength, 0.4 m, must be less than the longest, 0.3 m"
    ]
    assert told(shortest=20.0) == [
        "world.terrain.shortest: the shortest wavelength, 20 m, must be less than the longest, 12.7 m"
    ]
    assert told(shortest=5.0, longest=5.5) == [
        "world.terrain: no wave between 5 m and 5.5 m long fits on this terrain; widen the band"
    ]
    plane = {"type": "plane", "x": [0, 1], "y": [0, 1], "roughness": {"iso_class": "C", "shortest": 0.01}}
    with pytest.raises(InputError, match=r"world\.terrain\.roughness\.shortest: 0\.01 m is less than 2 cells"):
        make_grid(TERRAIN.validate_python(plane))


def test_densities_come_from_the_schema():
    assert Roughness(iso_class="D").density == pytest.approx(DENSITY, rel=1e-15)
