"""A scenario's ground: seen from above with contours and the robots where they start, and cut along x and y there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from botz.terrain.height_grid import HeightGrid
from botz.view.ground_map import add_height_key, is_level, paint_ground
from botz.view.silhouettes import Silhouette
from botz.view.style import (
    PALETTE,
    SMALL_SIZE,
    dress,
    fit_equal,
    new_figure,
    picture_format,
    save,
    set_title,
    settle,
    side_legend,
)

WIDTH = 9.0
CUT_HEIGHT = 1.7
MOST_CUTS = len(PALETTE)
"""Robots through whose start the ground is cut."""
MOST_POINTS = 4096
"""Of one cut: every point of the finest grid."""
SMALLEST = 0.03
"""Part of the map's width below which a robot's outline would be lost; it is drawn as an arrow then."""
BLOCK = 1 << 20
"""Cells whose slopes are looked at together."""

Robots = Mapping[str, Any]
"""Of a checked scenario."""


def start_of(robot: Any) -> tuple[float, float, float]:
    """x, y and yaw, of a robot that is put somewhere by `position` and `attitude`, or by a `pose` in plane or space."""
    place = robot.pose if hasattr(robot, "pose") else (*robot.position[:2], robot.attitude[2])
    return float(place[0]), float(place[1]), float(place[-1])


def terrain_report(grid: HeightGrid, robots: Robots) -> dict[str, Any]:
    """What `botz terrain` prints: sizes in metres, angles in degrees."""
    n_x, n_y = grid.heights.shape
    return {
        "x_m": [grid.x_min, grid.x_max],
        "y_m": [grid.y_min, grid.y_max],
        "points": [n_x, n_y],
        "resolution_m": [grid.dx, grid.dy],
        "lowest_m": float(grid.heights.min()),
        "highest_m": float(grid.heights.max()),
        "steepest_deg": math.degrees(math.atan(steepest_slope(grid))),
        "outside": grid.outside,
        "starts": {
            name: {"position_m": [x, y], "yaw_deg": math.degrees(yaw), "ground_m": float(grid.height(x, y))}
            for name, (x, y, yaw) in ((name, start_of(robot)) for name, robot in robots.items())
        },
    }


def steepest_slope(grid: HeightGrid) -> float:
    """Largest rise per horizontal length anywhere, in any direction.

    Between four points the ground rises along x as along the one or the other edge, or something between, and along
    y likewise: it is steepest at the corner where both steeper edges meet."""
    heights = grid.heights
    rows = max(1, BLOCK // heights.shape[1])
    steepest = 0.0
    for start in range(0, heights.shape[0] - 1, rows):
        block = heights[start : start + rows + 1]
        along_x = np.abs(np.diff(block, axis=0)) / grid.dx
        along_y = np.abs(np.diff(block, axis=1)) / grid.dy
        slope_x = np.maximum(along_x[:, :-1], along_x[:, 1:])
        slope_y = np.maximum(along_y[:-1], along_y[1:])
        steepest = max(steepest, float(np.hypot(slope_x, slope_y).max()))
    return steepest


def draw_terrain(
    grid: HeightGrid, robots: Robots, seen: Mapping[str, Silhouette], path: Path, *, title: str = ""
) -> Path:
    """Draw the ground into `path` (.png, .svg or .pdf), with the robots as they are seen where they start, and return
    it."""
    path = Path(path)
    picture_format(path)
    low, high = np.array([grid.x_min, grid.y_min]), np.array([grid.x_max, grid.y_max])
    sides = high - low
    map_height = float(np.clip(sides[1] / sides[0] * 0.78 * WIDTH, 0.24 * WIDTH, 0.72 * WIDTH))
    heights = [map_height + 0.3, CUT_HEIGHT, CUT_HEIGHT]
    figure = new_figure(WIDTH, sum(heights) + 0.9)
    layout = figure.add_gridspec(3, 1, height_ratios=heights)
    above, along_x, along_y = (figure.add_subplot(layout[row]) for row in range(3))
    dress(above, x_label="x [m]", y_label="y [m]", ticks=9)
    key = None if is_level(grid) else add_height_key(above, grid, low, high)
    extent = float(sides.max())
    colours = {name: PALETTE[number % len(PALETTE)] for number, name in enumerate(robots)}
    for name, robot in robots.items():
        _draw_start(above, robot, seen.get(name), colours[name], extent)
    starts = [Line2D([], [], color=colours[name], marker="s", linestyle="none", label=name) for name in robots]
    side_legend(above, handles=starts, title="start", title_fontsize=SMALL_SIZE, alignment="left")
    _draw_cuts(along_x, grid, robots, colours, axis=0)
    _draw_cuts(along_y, grid, robots, colours, axis=1)
    figure.align_ylabels()
    lowest, highest = float(grid.heights.min()), float(grid.heights.max())
    note = f"level at {lowest:.4g} m" if key is None else f"from {lowest:.4g} m to {highest:.4g} m"
    n_x, n_y = grid.heights.shape
    heading = set_title(figure, title, note=f"{n_x} × {n_y} points, {note}; outside: {grid.outside}")
    settle(figure, heading)
    for cut in (along_x, along_y):
        _say_exaggeration(cut)
    margin = 0.02 * extent
    fit_equal(above, low - margin, high + margin)
    paint_ground(above, grid, key, contours=True)
    return save(figure, path)


def _draw_start(axes: Axes, robot: Any, seen: Silhouette | None, colour: str, extent: float) -> None:
    """The robot from above where it begins, or an arrow where that would be too small to see."""
    x, y, yaw = start_of(robot)
    place, c, s = np.array([x, y]), math.cos(yaw), math.sin(yaw)
    turn = np.array([[c, s], [-s, c]])
    if seen is None or float(np.ptp(seen.body, axis=0).max()) < SMALLEST * extent:
        parts = [0.05 * extent * np.array([[0.6, 0.0], [-0.4, 0.36], [-0.2, 0.0], [-0.4, -0.36]])]
    else:
        parts = [seen.body, *seen.parts]
        nose = place + seen.body[:, 0].max() * np.array([c, s])
        axes.plot(*np.transpose([place, nose]), color=colour, linewidth=1.2, zorder=4.2)
    for part in parts:
        corners = part @ turn + place
        axes.add_patch(Polygon(corners, facecolor="white", edgecolor="none", alpha=0.55, zorder=4))
        axes.add_patch(Polygon(corners, facecolor=colour, edgecolor=colour, alpha=0.35, linewidth=0, zorder=4.1))
        axes.add_patch(Polygon(corners, fill=False, edgecolor=colour, linewidth=1.2, zorder=4.2))


def _draw_cuts(axes: Axes, grid: HeightGrid, robots: Robots, colours: Mapping[str, str], *, axis: int) -> None:
    """The ground along one axis of the world, through the start of every robot; equal cuts are drawn once."""
    name, other = ("x", "y") if axis == 0 else ("y", "x")
    dress(axes, x_label=f"{name} [m]", y_label="height [m]", ticks=5)
    axes.xaxis.get_major_locator().set_params(nbins=9)  # type: ignore[call-arg]
    low, high = (grid.x_min, grid.x_max) if axis == 0 else (grid.y_min, grid.y_max)
    along = np.linspace(low, high, min(MOST_POINTS, grid.heights.shape[axis]))
    seen: set[float] = set()
    every = []
    for robot_name, robot in list(robots.items())[:MOST_CUTS]:
        start = start_of(robot)
        at, across = start[axis], start[1 - axis]
        place = (along, across) if axis == 0 else (across, along)
        heights = grid.height(*place)
        if across not in seen:
            label = f"at {other} = {across:.4g} m"
            axes.plot(along, heights, color=colours[robot_name], linewidth=1.5, label=label)
            every.append(heights)
        seen.add(across)
        on = float(grid.height(*start[:2]))
        axes.plot(at, on, marker="v", markersize=8, color=colours[robot_name], markeredgecolor="white", zorder=5)
    axes.fill_between(along, np.min(every, axis=0), axes.get_ylim()[0] - 10.0, color="#E9E2D3", zorder=0.3, linewidth=0)
    low_z, high_z = float(np.min(every)), float(np.max(every))
    room = max(high_z - low_z, 0.006 * (high - low), 1e-6)
    axes.set_ylim(0.5 * (low_z + high_z) - 0.62 * room, 0.5 * (low_z + high_z) + 0.72 * room)
    axes.set_xlim(low, high)
    side_legend(axes, title="heights × 1", title_fontsize=SMALL_SIZE, alignment="left")


def _say_exaggeration(axes: Axes) -> None:
    """How much higher than long a cut is drawn, once its size stands."""
    box = axes.get_window_extent()
    (x_low, x_high), (y_low, y_high) = axes.get_xlim(), axes.get_ylim()
    factor = (box.height / (y_high - y_low)) / (box.width / (x_high - x_low))
    legend = axes.get_legend()
    assert legend is not None
    legend.get_title().set_text(f"heights × {factor:.2g}")
