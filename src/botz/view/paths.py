"""Paths in the plane: lines with start and end, and the robot itself drawn along them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from botz.channels import Channel
from botz.view.selection import headings, planar, thin
from botz.view.silhouettes import Silhouette
from botz.view.style import LABEL_SIZE, LINE_STYLES, PALETTE, SOFT_INK, dress, fit_equal, halo, side_legend

BODIES = 9
"""Outlines of a robot along its path."""


@dataclass(frozen=True)
class Path2D:
    """One line in the plane."""

    label: str
    robot: str
    points: np.ndarray
    """(k, 2) [m]."""
    heading: np.ndarray | None = None
    """(k) [rad]."""
    seen: Silhouette | None = None
    """The robot from above."""
    estimate: bool = False
    """What the robot believes: drawn dashed."""
    reference: bool = False
    """What others are compared to: drawn broad, so that it shows below them."""

    @staticmethod
    def of_channel(channel: Channel, values: np.ndarray, seen: Silhouette | None = None) -> Path2D:
        axes = planar(channel)
        assert axes is not None
        estimate = channel.local_name not in ("pose", "position")
        label = channel.robot if not estimate else channel.name.removesuffix("/pose")
        return Path2D(label, channel.robot, values[:, axes], headings(channel, values), seen, estimate)

    @property
    def finite(self) -> np.ndarray:
        return self.points[np.isfinite(self.points).all(axis=1)]


def bounds(paths: Sequence[Path2D]) -> tuple[np.ndarray, np.ndarray]:
    """Lower left and upper right corner of everything drawn."""
    points = [path.finite for path in paths if len(path.finite)]
    if not points:
        return np.full(2, -0.5), np.full(2, 0.5)
    reach = [float(np.hypot(*path.seen.body.T).max()) if path.seen is not None else 0.0 for path in paths]
    every = np.concatenate(points)
    low, high = every.min(axis=0), every.max(axis=0)
    span = max(float((high - low).max()), 1e-6)
    margin = 0.06 * span + min(max(reach, default=0.0), span)
    return low - margin, high + margin


def path_height(paths: Sequence[Path2D], width: float) -> float:
    """Height of axes that suit the paths' shape [inches]."""
    low, high = bounds(paths)
    ratio = float((high[1] - low[1]) / (high[0] - low[0]))
    return float(np.clip(ratio * 0.8 * width, 0.36 * width, 0.6 * width))


def draw_paths(
    axes: Axes,
    paths: Sequence[Path2D],
    colours: Mapping[str, str] | None = None,
    *,
    labels: Sequence[str] | None = None,
) -> None:
    """Lines, a circle where they start and a square where they end, robots along them.

    Paths are named at their ends where the names have room, else in a legend beside the axes. `fit_paths` gives
    them equal scales once the layout stands."""
    dress(axes, x_label="x [m]", y_label="y [m]", ticks=9)
    low, high = bounds(paths)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    handles: list[Line2D] = []
    robots = list(dict.fromkeys(path.robot for path in paths))
    for number, path in enumerate(paths):
        # Where the colours begin anew, another line style keeps the robots apart.
        style = LINE_STYLES[robots.index(path.robot) // len(PALETTE) % len(LINE_STYLES)]
        colour = (colours or {}).get(path.robot, PALETTE[number % len(PALETTE)])
        label = labels[number] if labels else path.label
        handles.append(_draw_path(axes, path, colour, style, label, float(max(high - low)), 3 + 0.01 * number))
    marks: dict[str, Any] = {"color": SOFT_INK, "linestyle": "none", "markersize": 6}
    ends = [
        Line2D([], [], marker="o", markerfacecolor="white", label="start", **marks),
        Line2D([], [], marker="s", label="end", **marks),
    ]
    if labels is None and _ends_apart(paths, float(max(high - low))):
        for path, handle in zip(paths, handles, strict=True):
            _name_at_end(axes, path, str(handle.get_color()))
        handles = []
    side_legend(axes, handles=handles + ends)


def fit_paths(axes: Axes, paths: Sequence[Path2D]) -> None:
    fit_equal(axes, *bounds(paths))


def _draw_path(axes: Axes, path: Path2D, colour: str, style: Any, label: str, extent: float, order: float) -> Line2D:
    keep = thin(path.points)
    points = np.where(np.isfinite(path.points[keep]), path.points[keep], np.nan)
    look: dict[str, Any] = {"linewidth": 4.2 if path.reference else 1.9, "linestyle": style}
    if path.estimate:
        look = {"linewidth": 1.4, "linestyle": (0, (3, 2)), "alpha": 0.9}
    (line,) = axes.plot(*points.T, color=colour, label=label, zorder=order, solid_capstyle="round", **look)
    finite = path.finite
    if not len(finite):
        return line
    if path.heading is not None and not path.estimate:
        draw_bodies(axes, path, colour, extent)
    mark: dict[str, Any] = {"color": colour, "markersize": 6.5, "zorder": order + 1, "markeredgewidth": 1.6}
    axes.plot(*finite[0], marker="o", markerfacecolor="white", **mark)
    axes.plot(*finite[-1], marker="s", **mark)
    return line


def draw_bodies(axes: Axes, path: Path2D, colour: str, extent: float) -> None:
    """The robot at equal distances along its path: its outline where it is large enough to see, else an arrow."""
    assert path.heading is not None
    step = np.hypot(*np.diff(path.points, axis=0).T) if len(path.points) > 1 else np.zeros(0)
    travelled = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(step), step, 0.0))])
    seen = path.seen
    size = float(np.ptp(seen.body, axis=0).max()) if seen is not None else 0.0
    arrow = seen is None or size < 0.025 * extent
    if seen is None or arrow:
        size = 0.035 * extent
        seen = Silhouette(size * np.array([[0.6, 0.0], [-0.4, 0.32], [-0.22, 0.0], [-0.4, -0.32]]))
    count = int(np.clip(travelled[-1] / (1.6 * size), 1, BODIES))
    places = np.searchsorted(travelled, np.linspace(0.0, travelled[-1], count + 1))
    for index in dict.fromkeys(places.clip(0, len(travelled) - 1)):
        if not np.isfinite([*path.points[index], path.heading[index]]).all():
            continue
        c, s = np.cos(path.heading[index]), np.sin(path.heading[index])
        turn = np.array([[c, s], [-s, c]])
        nose = path.points[index] + seen.body[:, 0].max() * np.array([c, s])
        for part, line in ((seen.body, 0.9), *((part, 0.4) for part in seen.parts)):
            corners = part @ turn + path.points[index]
            axes.add_patch(Polygon(corners, facecolor=colour, edgecolor=colour, alpha=0.16, linewidth=0, zorder=2))
            axes.add_patch(Polygon(corners, fill=False, edgecolor=colour, alpha=0.55, linewidth=line, zorder=2.1))
        if not arrow:
            axes.plot(*np.transpose([path.points[index], nose]), color=colour, alpha=0.55, linewidth=0.9, zorder=2.1)


def _ends_apart(paths: Sequence[Path2D], extent: float) -> bool:
    """Whether every path can carry its name at its end."""
    if not 1 <= len(paths) <= 5 or any(path.estimate for path in paths):
        return False
    ends = [path.finite[-1] for path in paths if len(path.finite)]
    return len(ends) == len(paths) and all(np.hypot(*(a - b)) > 0.12 * extent for a, b in combinations(ends, 2))


def _name_at_end(axes: Axes, path: Path2D, colour: str) -> None:
    """The name ahead of the end, where the path does not come from."""
    points = path.finite
    ahead = points[-1] - points[max(0, len(points) - 1 - len(points) // 25)]
    length = float(np.hypot(*ahead))
    ahead = ahead / length if length > 1e-9 else np.array([0.7, 0.7])
    side = "left" if ahead[0] > -0.4 else "right"
    axes.annotate(
        path.label, points[-1], xytext=(9 if side == "left" else -9, 11 * float(ahead[1])),
        textcoords="offset points", horizontalalignment=side, verticalalignment="center", color=colour,
        fontsize=LABEL_SIZE, fontweight="bold", path_effects=halo(3), zorder=9,
    )  # fmt: skip
