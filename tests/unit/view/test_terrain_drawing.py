"""Maps of the ground: below recorded paths, and by themselves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from PIL import Image

from botz.channels import Channel
from botz.scenario.load import load
from botz.scenario.vehicle.schema import VehicleScenario
from botz.terrain.height_grid import HeightGrid, build_grid
from botz.view import ground_map, plots
from botz.view.ground_map import is_level, paint_ground, relief
from botz.view.plots import plot_recording
from botz.view.silhouettes import silhouettes_of
from botz.view.terrain_drawing import draw_terrain, steepest_slope, terrain_report
from botz.view.vehicle.ground_plot import recorded_ground

POSE = Channel("vivi/pose", "m, m, m, 1, 1, 1, 1", "Pose", ("x", "y", "z", "qw", "qx", "qy", "qz"))


def grid_of(heights: Any, size: float = 4.0, **more: Any) -> HeightGrid:
    return HeightGrid(np.asarray(heights, dtype=float), -size / 2, size / 2, -size / 2, size / 2, **more)


def scenario_data(terrain: dict[str, Any]) -> dict[str, Any]:
    overrides = {"world.terrain": terrain}
    return load("vivi-rough", overrides=overrides).data


@pytest.fixture
def drawn(record: Any) -> Any:
    """A recorded drive straight ahead on a terrain."""

    def make(terrain: dict[str, Any]) -> Any:
        rows = np.zeros((40, 7))
        rows[:, 0] = np.linspace(-1.0, 1.0, len(rows))
        rows[:, 3] = 1.0
        return record(rows, [POSE], name="drive", scenario=scenario_data(terrain))

    return make


def spy_on_figures(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[Figure]:
    kept: list[Figure] = []
    original = module.save
    monkeypatch.setattr(module, "save", lambda figure, path: kept.append(figure) or original(figure, path))
    return kept


# --- slopes and report ---------------------------------------------------------------------------------


def test_steepest_slope_of_a_plane_is_its_own():
    x = np.linspace(-2, 2, 9)
    grid = grid_of(0.3 * x[:, None] + 0.4 * x[None, :])
    assert steepest_slope(grid) == pytest.approx(0.5, rel=1e-12)


def test_steepest_slope_is_found_where_two_steep_edges_meet():
    """Brute force: the gradient in many points of every bilinear cell, corners included."""
    rng = np.random.default_rng(3)
    grid = grid_of(rng.normal(size=(6, 5)))
    m, fractions = grid.heights, np.linspace(0.0, 1.0, 11)
    best = 0.0
    for i in range(5):
        for j in range(4):
            for s in fractions:
                for t in fractions:
                    f_x = ((m[i + 1, j] - m[i, j]) * (1 - t) + (m[i + 1, j + 1] - m[i, j + 1]) * t) / grid.dx
                    f_y = ((m[i, j + 1] - m[i, j]) * (1 - s) + (m[i + 1, j + 1] - m[i + 1, j]) * s) / grid.dy
                    best = max(best, math.hypot(f_x, f_y))
    assert steepest_slope(grid) == pytest.approx(best, rel=1e-12)


def test_slopes_across_the_seams_of_blocks_count(monkeypatch: pytest.MonkeyPatch):
    heights = np.zeros((7, 4))
    heights[4:] = 1.0
    whole = steepest_slope(grid_of(heights))
    monkeypatch.setattr("botz.view.terrain_drawing.BLOCK", 4)
    assert steepest_slope(grid_of(heights)) == whole > 0


def test_report_of_a_ramp():
    spec = load("vivi-ramp").spec
    assert isinstance(spec, VehicleScenario)
    report = terrain_report(build_grid(spec.world.terrain, spec.seed), spec.robots)
    assert report["steepest_deg"] == pytest.approx(20.0, abs=1e-6)
    assert report["highest_m"] == pytest.approx(6 * math.tan(math.radians(20)), rel=1e-9)
    assert report["starts"]["vivi"] == {"position_m": [-1.0, 0.0], "yaw_deg": 0.0, "ground_m": 0.0}


# --- the map -------------------------------------------------------------------------------------------


def test_slopes_towards_the_light_are_lighter():
    x = y = np.linspace(-1, 1, 21)
    key = ScalarMappable(cmap=ground_map.HEIGHTS)
    key.set_clim(-1, 1)
    facing = relief(x, y, 0.3 * (x[:, None] - y[None, :]), key)  # falls to the upper left, where the light is
    turned_away = relief(x, y, -0.3 * (x[:, None] - y[None, :]), key)
    assert facing[10, 10].sum() > turned_away[10, 10].sum()
    assert facing.min() >= 0.0 and facing.max() <= 1.0


def painted(grid: HeightGrid) -> tuple[Axes, np.ndarray]:
    """Axes a margin wider than the terrain, and the image in them by rows of y."""
    axes = Figure().add_subplot()
    axes.set_xlim(-3, 3)
    axes.set_ylim(-3, 3)
    key = ScalarMappable(cmap=ground_map.HEIGHTS)
    paint_ground(axes, grid, key)
    assert axes.get_xlim() == (-3, 3) and axes.get_ylim() == (-3, 3)
    return axes, np.asarray(axes.images[0].get_array())


def test_beyond_the_edge_the_map_is_paler_or_empty():
    heights = np.linspace(0.0, 1.0, 5)[:, None] * np.ones((5, 5))
    continued = painted(grid_of(heights))[1]
    ended = painted(grid_of(heights, outside="end"))[1]
    middle = continued.shape[0] // 2
    assert np.all(continued[middle, -10] > continued[middle, -140])
    assert np.all(continued[middle, -10] < 1.0)
    assert np.all(ended[middle, -10] == 1.0)
    assert np.array_equal(ended[middle, middle], continued[middle, middle])


def test_high_ground_lies_where_it_is():
    """The grid's first index is x; an image's first one is y."""
    heights = np.zeros((5, 5))
    heights[4, :] = 1.0
    axes, image = painted(grid_of(heights))
    high = np.array(ground_map.HEIGHTS(1.0)[:3])
    across = np.abs(image - high).sum(axis=2)
    row = image.shape[0] // 2
    at_right, at_left = across[row, int(image.shape[1] * 4.9 / 6)], across[row, int(image.shape[1] * 1.1 / 6)]
    assert at_right < at_left
    assert axes.images[0].get_extent() == [-3, 3, -3, 3] and axes.images[0].origin == "lower"


def test_large_grids_are_thinned():
    grid = grid_of(np.random.default_rng(0).normal(size=(2000, 1500)))
    image = painted(grid)[1]
    assert max(image.shape) <= ground_map.SAMPLES


# --- below recorded paths ------------------------------------------------------------------------------


def test_paths_are_drawn_over_their_ground(drawn: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    figures = spy_on_figures(monkeypatch, plots)
    plot_recording(drawn({"type": "half-pipe", "resolution": 0.1}), path=tmp_path / "a.png")
    axes = figures[0].axes[0]
    assert len(axes.images) == 1
    assert axes.images[0].get_zorder() < min(line.get_zorder() for line in axes.lines)
    assert any("ground" in child.get_ylabel() for child in axes.child_axes)


def test_level_ground_needs_no_map(drawn: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    figures = spy_on_figures(monkeypatch, plots)
    plot_recording(drawn({"type": "flat", "height": 0.3}), path=tmp_path / "a.png")
    axes = figures[0].axes[0]
    assert not axes.images and not axes.child_axes
    assert not axes.get_title(loc="left")


def test_lost_ground_is_said(drawn: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    figures = spy_on_figures(monkeypatch, plots)
    matrix = tmp_path / "hills.csv"
    matrix.write_text("0,1\n0,1\n")
    recording = drawn({"type": "matrix", "file": str(matrix)})
    plot_recording(recording, path=tmp_path / "with.png")
    matrix.unlink()
    plot_recording(recording, path=tmp_path / "without.png")
    assert len(figures[0].axes[0].images) == 1
    assert not figures[1].axes[0].images
    assert "hills.csv" in figures[1].axes[0].get_title(loc="left").replace("\n", "")


def test_scenarios_without_terrain_have_no_ground():
    assert recorded_ground({"name": "x"}) == (None, "")
    assert recorded_ground({"world": {"size": [1, 1]}}) == (None, "")
    assert recorded_ground(load("differential-circle").data) == (None, "")


def test_recorded_ground_is_that_of_the_run():
    data = load("vivi-rough", overrides={"seed": 5}).data
    ground, note = recorded_ground(data)
    spec = load("vivi-rough", overrides={"seed": 5}).spec
    assert isinstance(spec, VehicleScenario)
    assert ground is not None and note == ""
    assert np.array_equal(ground.heights, build_grid(spec.world.terrain, 5).heights)
    assert not is_level(ground)


# --- the picture of a terrain --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vivi-rough", "vivi-half-pipe", "drop-test"])
def test_pictures_of_shipped_terrains(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from botz.view import terrain_drawing

    figures = spy_on_figures(monkeypatch, terrain_drawing)
    spec = load(name).spec
    assert isinstance(spec, VehicleScenario)
    picture = draw_terrain(
        build_grid(spec.world.terrain, spec.seed), spec.robots, silhouettes_of(spec), tmp_path / "t.png", title=name
    )
    above, along_x, along_y = figures[0].axes[:3]
    (x_low, x_high), (y_low, y_high) = above.get_xlim(), above.get_ylim()
    box = above.get_window_extent()
    assert box.width / (x_high - x_low) == pytest.approx(box.height / (y_high - y_low), rel=1e-6), "equal scales"
    assert x_low <= spec.world.terrain.x[0] and y_high >= spec.world.terrain.y[1]
    assert along_x.get_xlim() == tuple(spec.world.terrain.x) and along_y.get_xlim() == tuple(spec.world.terrain.y)
    assert Image.open(picture).width == 1350


def test_cuts_show_the_ground_through_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from botz.view import terrain_drawing

    figures = spy_on_figures(monkeypatch, terrain_drawing)
    spec = load("vivi-half-pipe", overrides={"robots.vivi.position": [1.0, 0.3]}).spec
    assert isinstance(spec, VehicleScenario)
    grid = build_grid(spec.world.terrain, spec.seed)
    draw_terrain(grid, spec.robots, silhouettes_of(spec), tmp_path / "t.svg")
    _, along_x, along_y = figures[0].axes[:3]
    for axes, heights in ((along_x, grid.height(grid.x, 0.3)), (along_y, grid.height(1.0, grid.y))):
        assert np.allclose(axes.lines[0].get_ydata(), heights)
    assert along_y.lines[1].get_xdata()[0] == 0.3
