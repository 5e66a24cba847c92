"""Paths in the plane above quantities over time: how a recording is drawn where its family says nothing of its own.

A family whose ground or rules show in such a picture changes parts of it in a subclass; its record names a function
`path_plot(recording)` that gives one, or None where the recording does not hold what it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from botz.channels import Channel
from botz.view.paths import Path2D, draw_paths, fit_paths, path_height
from botz.view.selection import Column


class PathPlot:
    def columns(self, usual: list[Column]) -> list[Column]:
        """What is drawn over time where no channels are named."""
        return usual

    def colours(self, usual: Mapping[str, str]) -> Mapping[str, str]:
        """By robot, where no channels are named."""
        return usual

    def path(self, path: Path2D, channel: Channel) -> Path2D:
        """A path as it is drawn."""
        del channel
        return path

    def height(self, paths: Sequence[Path2D], width: float) -> float:
        """Height of axes that suit the paths [inches]."""
        return path_height(paths, width)

    def draw(self, axes: Axes, paths: Sequence[Path2D], colours: Mapping[str, str]) -> str:
        """Draw the paths; returns a note for the picture's head."""
        draw_paths(axes, paths, colours)
        return ""

    def finish(self, axes: Axes, paths: Sequence[Path2D]) -> None:
        """Once the axes have their size: their limits, and what fills these."""
        fit_paths(axes, paths)

    def look(self, column: Column) -> Mapping[str, Any]:
        """Of a line over time; empty: as of any robot."""
        del column
        return {}

    def dress_row(self, axes: Axes, columns: Sequence[Column]) -> None:
        """A time axis with its lines."""
