"""The picture of a thrust table: measurements with the fitted curves, and below what each fit leaves over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from botz.models.thrust_fit import ThrustFit, ThrustTable
from botz.view.style import (
    INK,
    LINE_STYLES,
    PALETTE,
    SMALL_SIZE,
    SOFT_INK,
    dress,
    new_figure,
    picture_format,
    save,
    set_title,
    settle,
    side_legend,
)

STYLES: dict[str, Any] = {"sums": LINE_STYLES[0], "least-squares": LINE_STYLES[1], "curve": LINE_STYLES[2]}
MARKS = {"sums": "o", "least-squares": "s", "curve": "^"}


def draw_thrust(table: ThrustTable, fits: Sequence[Sequence[ThrustFit]], path: Path) -> Path:
    """Draw data and fits into `path` (.png, .svg or .pdf) and return it."""
    path = Path(path)
    picture_format(path)
    figure = new_figure(9.0, 6.6)
    layout = figure.add_gridspec(2, 1, height_ratios=[2.3, 1.0])
    above = figure.add_subplot(layout[0])
    below = figure.add_subplot(layout[1], sharex=above)
    dress(above, y_label="thrust [N]")
    top = max(float(np.abs(fit.largest)) for row in fits for fit in row)
    factor, unit = (1000.0, "mN") if top < 0.1 else (1.0, "N")
    dress(below, x_label="speed [rad/s]", y_label=f"data − fit [{unit}]", ticks=4)
    above.xaxis.get_major_locator().set_params(nbins=9)  # type: ignore[call-arg]
    fine = np.linspace(0.0, 1.04 * float(table.speed.max()), 300)
    handles: list[Line2D] = []
    for k, (column, row) in enumerate(zip(table.columns, fits, strict=True)):
        colour = PALETTE[k % len(PALETTE)]
        handles.append(Line2D([], [], color=colour, marker="o", markersize=6, linestyle="none", label=column.name))
        for fit in row:
            look: dict[str, Any] = {"color": colour, "linestyle": STYLES[fit.method], "linewidth": 1.6}
            above.plot(fine, fit.thrust(fine), **look, zorder=2)
            rest = factor * (column.force - fit.thrust(table.speed))
            order = np.argsort(table.speed, kind="stable")
            below.plot(
                table.speed[order], rest[order], **{**look, "linewidth": 1.1}, marker=MARKS[fit.method], markersize=3.8
            )
            handles.append(Line2D([], [], **look, label=_law(fit)))
        above.plot(
            table.speed, column.force, linestyle="none", marker="o", markersize=6.5, color=colour,
            markeredgecolor="white", markeredgewidth=0.9, zorder=3,
        )  # fmt: skip
    below.axhline(0.0, color=SOFT_INK, linewidth=0.9, zorder=1)
    above.tick_params(labelbottom=False)
    above.set_xlim(0.0, float(fine[-1]))
    above.set_ylim(bottom=min(0.0, *(float(column.force.min()) for column in table.columns)))
    side_legend(above, handles=handles)
    marks = [
        Line2D([], [], color=INK, linestyle=STYLES[name], marker=MARKS[name], markersize=4, linewidth=1.1, label=words)
        for name, words in (
            ("sums", "K = Σf / Σω²"),
            ("least-squares", "K by least squares"),
            ("curve", "a + b ω + c ω²"),
        )
        if any(fit.method == name for row in fits for fit in row)
    ]
    side_legend(below, handles=marks, fontsize=SMALL_SIZE)
    figure.align_ylabels()
    title = set_title(figure, f"Thrust of a propeller: {table.file.name}", note=f"{len(table.speed)} rows")
    settle(figure, title)
    return save(figure, path)


def _law(fit: ThrustFit) -> str:
    if fit.coefficient is not None:
        return f"{fit.coefficient:.7g} ω²"
    a, b, c = fit.curve
    return f"{a:.3g} {'−' if b < 0 else '+'} {abs(b):.3g} ω\n{'−' if c < 0 else '+'} {abs(c):.5g} ω²"
