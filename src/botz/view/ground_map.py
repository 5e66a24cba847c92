"""The ground from above, below paths and vehicles: shaded relief in quiet colours, with a key of heights."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from botz.terrain.height_grid import HeightGrid
from botz.view.style import FRAME, INK, SMALL_SIZE, SOFT_INK

SAMPLES = 600
"""Points of the map along its longer side: as many as a picture shows, however fine the ground is."""
HEIGHTS = LinearSegmentedColormap.from_list("ground", ["#B4C8CA", "#D3DED2", "#F3EEDD", "#E6D2B2", "#D2B58F"])
"""From low to high. Pale, so that the palette's lines stay in front; its ends differ in hue and not only in light."""
SUN = np.array([-0.5, 0.5, 0.7071])
"""Towards the light: from the upper left, where readers of maps expect it."""
SHADE = 0.25
"""How strongly slopes darken or lighten."""
LIT_SLOPE = 0.5
"""Slope that the steeper parts of a map are drawn with: gentle ground is exaggerated until it shows."""
MOST_EXAGGERATION = 10.0
LEVEL = 1e-9
"""Ground whose heights differ by less is level and needs no map [m]."""
LEVELS = 8
"""Steps of height between contours, at most."""


def height_range(grid: HeightGrid, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Lowest and highest ground between two corners."""
    heights = _sampled(grid, low, high)[2]
    return float(heights.min()), float(heights.max())


def is_level(grid: HeightGrid) -> bool:
    return float(np.ptp(grid.heights)) < LEVEL


def add_height_key(axes: Axes, grid: HeightGrid, low: np.ndarray, high: np.ndarray) -> ScalarMappable:
    """A colour bar right of the axes, below their legend. `paint_ground` fits it to what is shown in the end."""
    key = ScalarMappable(Normalize(*height_range(grid, low, high)), HEIGHTS)
    place = axes.inset_axes((1.02, 0.03, 0.018, 0.5))
    figure = axes.get_figure()
    assert figure is not None
    bar = figure.colorbar(key, cax=place, ticks=MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    bar.set_label("ground [m]", fontsize=SMALL_SIZE, color=INK)
    bar.ax.tick_params(labelsize=SMALL_SIZE, colors=SOFT_INK, length=2.5, width=0.8)
    bar.outline.set_edgecolor(FRAME)
    bar.outline.set_linewidth(0.8)
    return key


def paint_ground(axes: Axes, grid: HeightGrid, key: ScalarMappable | None, *, contours: bool = False) -> None:
    """The ground in the axes' final limits, the terrain's edge, and beyond it what the robots would meet there:
    the continued height in paler colours, or nothing where the run ends."""
    low, high = (np.array(pair) for pair in zip(axes.get_xlim(), axes.get_ylim(), strict=True))
    if key is not None:
        x, y, heights = _sampled(grid, low, high)
        lowest, highest = float(heights.min()), float(heights.max())
        if highest - lowest < LEVEL:  # a level part of ground that is not
            lowest, highest = lowest - 0.5, highest + 0.5
        key.set_clim(lowest, highest)
        inside = grid.contains(x[:, None], y[None, :])
        colours = relief(x, y, heights, key)
        pale = 1.0 if grid.outside == "end" else 0.6
        colours[~inside] += pale * (1.0 - colours[~inside])
        extent = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
        axes.imshow(
            colours.transpose(1, 0, 2),
            origin="lower",
            extent=extent,
            aspect="auto",
            interpolation="bilinear",
            zorder=0.2,
        )
        if contours:
            shown = np.where(inside, heights, np.nan)
            levels = MaxNLocator(LEVELS, steps=[1, 2, 2.5, 5, 10]).tick_values(lowest, highest)
            axes.contour(x, y, shown.T, levels=levels, colors=SOFT_INK, linewidths=0.45, alpha=0.45, zorder=0.6)
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
    if key is not None or grid.outside == "end":  # level ground that goes on level has no edge to see
        _draw_edge(axes, grid)


def relief(x: np.ndarray, y: np.ndarray, heights: np.ndarray, key: ScalarMappable) -> np.ndarray:
    """Colours (n_x, n_y, 3): those of the heights, lit from the side."""
    colours = np.asarray(key.to_rgba(heights))[..., :3]
    slope_x, slope_y = np.gradient(heights, x, y)
    steep = float(np.quantile(np.hypot(slope_x, slope_y), 0.95))
    more = min(LIT_SLOPE / steep, MOST_EXAGGERATION) if steep > 1e-6 else 1.0
    normals = np.stack([-more * slope_x, -more * slope_y, np.ones_like(heights)], axis=-1)
    light = (normals @ SUN) / np.linalg.norm(normals, axis=-1) / SUN[2] - 1.0
    return np.clip(colours * (1.0 + SHADE * np.clip(light, -1.0, 0.6))[..., None], 0.0, 1.0)


def _sampled(grid: HeightGrid, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Heights in the middles of the map's pixels between two corners."""
    sides = np.asarray(high, dtype=float) - low
    counts = np.maximum(2, np.ceil(SAMPLES * sides / sides.max())).astype(int)
    x, y = (low[k] + (np.arange(counts[k]) + 0.5) * sides[k] / counts[k] for k in (0, 1))
    return x, y, grid.height(x[:, None], y[None, :])


def _draw_edge(axes: Axes, grid: HeightGrid) -> None:
    ends = grid.outside == "end"
    axes.add_patch(
        Rectangle(
            (grid.x_min, grid.y_min),
            grid.x_max - grid.x_min,
            grid.y_max - grid.y_min,
            fill=False,
            edgecolor=INK if ends else SOFT_INK,
            linewidth=1.4 if ends else 0.9,
            linestyle="-" if ends else (0, (4, 2)),
            zorder=0.8,
        )
    )
