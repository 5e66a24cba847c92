"""Axes over time with what the lines should follow, and with a second unit at the right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from botz.view.selection import thin
from botz.view.style import SOFT_INK, dress, side_legend


@dataclass(frozen=True)
class Line:
    label: str
    values: np.ndarray
    look: Mapping[str, Any]


@dataclass(frozen=True)
class Panel:
    """One time axis."""

    label: str
    times: np.ndarray
    lines: tuple[Line, ...]
    below: tuple[np.ndarray, ...] = ()
    """What the lines should follow: drawn broad and pale behind them, in the same order."""
    second: tuple[str, Line] | None = None
    """A line of another unit, with its own axis at the right, and that axis's label."""


def draw_panel(axes: Axes, panel: Panel, *, last: bool) -> None:
    dress(axes, x_label="time [s]" if last else "", y_label=panel.label, ticks=5)
    axes.xaxis.get_major_locator().set_params(nbins=9)  # type: ignore[call-arg]
    axes.tick_params(labelbottom=last)
    for values, line in zip(panel.below, panel.lines, strict=False):
        pale = {**line.look, "linestyle": "-", "linewidth": 4.6, "alpha": 0.28, "solid_capstyle": "butt"}
        keep = thin(values)
        axes.plot(panel.times[keep], values[keep], zorder=1.8, **pale)
    for line in panel.lines:
        _plot(axes, panel.times, line)
    handles = list(axes.get_legend_handles_labels()[0])
    if panel.below:
        handles.append(Line2D([], [], color=SOFT_INK, linewidth=4.6, alpha=0.28, label="reference"))
    axes.margins(x=0.01, y=0.1)
    offset = 1.01
    if panel.second is not None:
        label, line = panel.second
        right = axes.twinx()
        dress(right, y_label=label, ticks=5)
        right.grid(False)
        right.spines["right"].set(visible=True, color=line.look["color"])
        right.spines["left"].set_visible(False)
        right.yaxis.set_label_position("right")
        right.yaxis.tick_right()
        _plot(right, panel.times, line)
        right.margins(x=0.01, y=0.1)
        handles += right.get_legend_handles_labels()[0]
        offset = 1.1
    side_legend(axes, handles=handles, bbox_to_anchor=(offset, 1.04), labelspacing=0.25)


def _plot(axes: Axes, times: np.ndarray, line: Line) -> None:
    keep = thin(line.values)
    single: dict[str, Any] = {"marker": "o", "markersize": 4} if len(times) == 1 else {}
    shown = np.where(np.isfinite(line.values[keep]), line.values[keep], np.nan)
    axes.plot(times[keep], shown, **{"linewidth": 1.4, "label": line.label, **line.look, **single})
