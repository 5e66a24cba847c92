"""The picture of a comparison: paths over each other, and below how far they lie apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from botz.record.compare import Comparison, Difference, ErrorSeries
from botz.view.paths import Path2D, draw_paths, fit_paths, path_height
from botz.view.selection import thin
from botz.view.style import (
    LINE_STYLES,
    PALETTE,
    dress,
    new_figure,
    picture_format,
    save,
    set_title,
    settle,
    side_legend,
)

WIDTH = 9.0
ROW_HEIGHT = 2.0
REFERENCE = "#B4BCC4"
"""Colour of the reference; the others take the palette's."""


def plot_comparison(comparison: Comparison, path: Path) -> Path:
    """Draw a comparison into `path` (.png, .svg or .pdf) and return it.

    The paths where there are positions, and one axis for each kind of error with RMS and maximum in its legend."""
    path = Path(path)
    picture_format(path)
    tracks = _tracks(comparison)
    rows: dict[tuple[str, str, bool], list[tuple[int, Difference, ErrorSeries]]] = {}
    for number, difference in enumerate(comparison.differences):
        for error in difference.errors:
            key = error.label, error.unit, difference.time is not None
            rows.setdefault(key, []).append((number, difference, error))
    heights = [path_height(tracks, WIDTH)] if tracks else []
    heights += [max(ROW_HEIGHT, 0.5 * len(row) + 0.7) for row in rows.values()]
    figure = new_figure(WIDTH, sum(heights) + 0.8)
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    if tracks:
        colours = {str(number): _colour(number - 1) for number in range(len(tracks))}
        draw_paths(figure.add_subplot(grid[0]), tracks, colours, labels=[track.label for track in tracks])
    for number, ((label, unit, timed), row) in enumerate(rows.items(), len(heights) - len(rows)):
        axes = figure.add_subplot(grid[number])
        kind = "" if unit == "1" else f" [{unit}]"
        dress(axes, x_label="time [s]" if timed else "sample", y_label=f"{label} error{kind}", ticks=6)
        _draw_errors(axes, row)
    figure.align_ylabels()
    heading = set_title(figure, f"compared to {comparison.reference}", note=_note(comparison))
    settle(figure, heading)
    if tracks:
        fit_paths(figure.axes[0], tracks)
    return save(figure, path)


def _tracks(comparison: Comparison) -> list[Path2D]:
    """The reference, then the others; none where what is compared has no place in the plane."""
    if not all(d.errors and d.errors[0].label == "distance" for d in comparison.differences):
        return []
    named = [(comparison.reference, comparison.points)] + [(d.name, d.points) for d in comparison.differences]
    # The number stands for the robot: two runs of the same name still get two colours.
    return [
        Path2D(label, str(number), points[:, :2], reference=number == 0) for number, (label, points) in enumerate(named)
    ]


def _colour(number: int) -> str:
    return REFERENCE if number < 0 else PALETTE[number % (len(PALETTE) - 1)]


def _draw_errors(axes: Axes, row: list[tuple[int, Difference, ErrorSeries]]) -> None:
    handles: list[Line2D] = []
    for number, difference, error in row:
        at = difference.time if difference.time is not None else np.arange(len(error.values))
        keep = thin(error.values)
        label = f"{difference.name}\nRMS {error.rms:.3g}, max {error.max:.3g}{_unit(error)}"
        style = LINE_STYLES[number // (len(PALETTE) - 1) % len(LINE_STYLES)]
        look: dict[str, Any] = {"color": _colour(number), "linestyle": style, "linewidth": 1.5, "label": label}
        handles += axes.plot(at[keep], error.values[keep], **look)
        axes.plot(at[error.worst], error.max, marker="o", markersize=5, color=_colour(number), markerfacecolor="white")
    axes.margins(x=0.01, y=0.1)
    axes.set_ylim(bottom=0.0)
    side_legend(axes, handles=handles, labelspacing=0.7)


def _unit(error: ErrorSeries) -> str:
    return "" if error.unit == "1" else f" {error.unit}"


def _note(comparison: Comparison) -> str:
    by_time = {difference.by_time for difference in comparison.differences}
    how = {
        frozenset({True}): "at equal times",
        frozenset({False}): "distance to the nearest place of the path",
        frozenset({True, False}): "at equal times; to a plain path, distance to its nearest place",
    }.get(frozenset(by_time), "")
    return ", ".join(part for part in (comparison.channel, how) if part)
