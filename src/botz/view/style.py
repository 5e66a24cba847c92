"""One look for every picture, set on the figure itself: Matplotlib's global settings stay untouched, so that
pictures can be made in a thread, in a notebook and without a display."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from botz.errors import BotzError, InputError, Problem, printable
from botz.record.whole_file import whole_file

FORMATS = ("png", "svg", "pdf")
DPI = 150
"""Resolution of PNG files: sharp on dense screens, and still clear when shown at two thirds of its size."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#8A5BA6", "#E69F00", "#56B4E9", "#444444")
"""Colours after Okabe and Ito that stay apart for colour-blind eyes; without their yellow, too pale on white."""
LINE_STYLES = ("-", (0, (4, 1.6)), (0, (1, 1.3)), (0, (6, 1.5, 1, 1.5)))

INK = "#222222"
SOFT_INK = "#5B6570"
GRID = "#E4E8EC"
FRAME = "#AEB6BE"
WARNING = "#B3261E"

TITLE_SIZE, LABEL_SIZE, TICK_SIZE, SMALL_SIZE = 12.0, 10.0, 9.0, 8.5


def line_look(number: int) -> dict[str, Any]:
    """Colour and style of the n-th line of a picture: colours first, then the same colours in another style."""
    return {
        "color": PALETTE[number % len(PALETTE)],
        "linestyle": LINE_STYLES[number // len(PALETTE) % len(LINE_STYLES)],
    }


def picture_format(path: Path) -> str:
    """The format that the file's ending asks for, checked before any work is done."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        found = f"ending {path.suffix!r}" if path.suffix else "no ending"
        choices = ", ".join(f".{one}" for one in FORMATS)
        raise InputError(Problem(f"cannot tell the picture's format from {found}; choose from: {choices}", file=path))
    return ending


class PlainFigure(Figure):
    """A figure that shows names of a recording as they are: a `$` begins no formula, control characters are escapes."""

    def draw(self, renderer: RendererBase) -> None:
        for text in self.findobj(Text):
            text.set_parse_math(False)
            text.set_text(printable(text.get_text()))
        super().draw(renderer)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure [inches] whose layout leaves room for every label and outside legend."""
    layout = ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.07, hspace=0.02, wspace=0.02)
    return PlainFigure(figsize=(width, height), dpi=100, facecolor="white", layout=layout)


def dress(axes: Axes, *, x_label: str = "", y_label: str = "", ticks: int = 6) -> None:
    """Light grid behind the data, two quiet spines, readable numbers."""
    axes.set_facecolor("white")
    axes.grid(True, color=GRID, linewidth=0.8, linestyle="-")
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(FRAME)
        spine.set_linewidth(0.9)
    axes.tick_params(labelsize=TICK_SIZE, colors=SOFT_INK, length=3, width=0.8, direction="out")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
        axis.get_offset_text().set_fontsize(SMALL_SIZE)
    if x_label:
        axes.set_xlabel(x_label, fontsize=LABEL_SIZE, color=INK)
    if y_label:
        axes.set_ylabel(y_label, fontsize=LABEL_SIZE, color=INK)


def side_legend(axes: Axes, **options: Any) -> Legend:
    """A legend right of the axes, where it hides no data."""
    settings: dict[str, Any] = {
        "loc": "upper left",
        "bbox_to_anchor": (1.01, 1.0),
        "borderaxespad": 0.0,
        "frameon": False,
        "fontsize": SMALL_SIZE,
        "labelcolor": INK,
        "handlelength": 1.9,
        "labelspacing": 0.45,
    }
    return axes.legend(**(settings | options))


def halo(width: float = 2.5) -> list[withStroke]:
    """A white rim that keeps text and thin marks readable on top of lines."""
    return [withStroke(linewidth=width, foreground="white")]


def set_title(figure: Figure, title: str, *, note: str = "", warning: str = "") -> Text:
    """A title, and below it, above the first axes, a smaller note or a warning that catches the eye."""
    look: dict[str, Any] = {"fontsize": SMALL_SIZE, "color": SOFT_INK}
    if warning:
        look = {"fontsize": LABEL_SIZE, "color": WARNING, "fontweight": "bold"}
    if note or warning:
        figure.axes[0].set_title("\n".join(line for line in (warning, note) if line), loc="left", pad=7, **look)
    return figure.suptitle(title, fontsize=TITLE_SIZE, color=INK, fontweight="bold", horizontalalignment="left")


def settle(figure: Figure, title: Text) -> None:
    """Lay out once and keep it: the title goes above the first axes, and axes that need equal scales can be fitted
    to their final size."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    title.set_x(figure.axes[0].get_position().x0)


def fit_equal(axes: Axes, low: np.ndarray, high: np.ndarray) -> None:
    """Limits with equal scales that hold both corners and fill settled axes."""
    box = axes.get_window_extent()
    shape = np.array([box.width, box.height])
    half = 0.5 * shape * float(np.max((high - low) / shape))
    middle = 0.5 * (low + high)
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])


def save(figure: Figure, path: Path) -> Path:
    """Writes the picture; the same figure gives the same file, so no date is put inside."""
    kind = picture_format(path)
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished:
            figure.savefig(unfinished, format=kind, dpi=DPI, facecolor="white", metadata=metadata)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise BotzError(f"{path}: cannot be written: {error.strerror}") from error
        raise InputError(Problem(f"cannot be written: {error.strerror or error}", file=path)) from error
    return path
