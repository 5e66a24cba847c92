"""Pictures of one recording: paths in the plane and quantities over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from botz.channels import Channel
from botz.errors import InputError, Problem
from botz.record.reader import Recording
from botz.registry import imported
from botz.scenario.families import FAMILIES, Family
from botz.scenario.names import closest
from botz.view.path_plot import PathPlot
from botz.view.paths import Path2D
from botz.view.selection import Column, choose, columns_of, is_pose, planar, thin
from botz.view.silhouettes import recorded_silhouettes
from botz.view.style import (
    LINE_STYLES,
    PALETTE,
    dress,
    line_look,
    new_figure,
    picture_format,
    save,
    set_title,
    settle,
    side_legend,
)

WIDTH = 9.0
"""Width of a picture [inches]."""
ROW_HEIGHT = 1.75
MOST_IN_ROW = 8
"""Lines with the same unit share a row up to here; more are split by quantity."""
MOST_NAMED = 16
"""Lines of a row that its legend names."""
FAR = 1e4
"""A centre of rotation beyond this is as good as infinitely far and would flatten all else [m]."""
QUANTITIES = {
    "m": "position",
    "rad": "angle",
    "m/s": "velocity",
    "rad/s": "angular velocity",
    "m/s²": "acceleration",
    "rad/s²": "angular acceleration",
    "N": "force",
    "N·m": "torque",
    "V": "voltage",
    "A": "current",
    "W": "power",
    "J": "energy",
}


@dataclass(frozen=True)
class Row:
    """One time axis: columns of one unit."""

    label: str
    columns: tuple[Column, ...]


def plot_recording(
    recording: Recording, channels: Sequence[str] = (), *, path: Path, trajectory: bool | None = None, title: str = ""
) -> Path:
    """Draw a recording into `path` (.png, .svg or .pdf) and return it.

    Without `channels`: the overview of the family, or the paths of all robots and their velocities. Otherwise the named
    ones: `vivi/pose`, `vivi/pose.x`, `vivi/*/speed`; poses become paths in the plane, all else is drawn over
    time, one axis a unit.
    `trajectory` True draws every channel that has x and y as a path, False draws everything over time.
    """
    path = Path(path)
    picture_format(path)
    name = title or recording.header.scenario_name
    family = FAMILIES.get(str(recording.scenario.get("engine")))
    if family is not None and family.overview and not channels and trajectory is None:
        figure = imported(family.overview)(recording, title=name, warning=_incomplete(recording))
        if figure is not None:
            return save(figure, path)
    plot = _path_plot(family, recording)
    if channels:
        places, columns = _split(recording, channels, trajectory)
    else:
        places, columns = _overview(recording, trajectory)
        if trajectory is None:
            columns = plot.columns(columns)
    if not any(len(recording.time(name)) for name in {c.name for c in places} | {c.channel.name for c in columns}):
        raise InputError(Problem("holds no samples to plot", file=recording.path))
    colours = plot.colours(robot_colours(places, columns)) if not channels else {}
    paths = [plot.path(_path_of(recording, place), place) for place in places]
    _draw(recording, paths, _rows(columns), colours, path, name, plot)
    return path


def _path_plot(family: Family | None, recording: Recording) -> PathPlot:
    own: PathPlot | None = imported(family.path_plot)(recording) if family is not None and family.path_plot else None
    return own or PathPlot()


# --- what to draw --------------------------------------------------------------------------------------


def _overview(recording: Recording, trajectory: bool | None) -> tuple[list[Channel], list[Column]]:
    """Every robot's path (beside it where its odometry believes to be) and its velocity."""
    poses = [channel for channel in recording.channels if is_pose(channel)]
    main = [channel for channel in poses if channel.local_name in ("pose", "position")]
    if trajectory is True and not poses:
        raise InputError(Problem("no robot in the recording has a pose; choose channels to plot", file=recording.path))
    columns = [
        column
        for channel in recording.channels
        if channel.local_name == "twist"
        for column in columns_of(channel)
        if column.index == 0 or np.any(np.abs(column.values(recording)) > 1e-9)
    ]
    heights = [column for channel in main for column in columns_of(channel) if column.quantity == "z"]
    if trajectory is False:
        return [], [column for channel in main for column in columns_of(channel)] + columns
    if trajectory is True:
        return poses, []
    poses = [channel for channel in poses if channel in main or _strays(recording, channel)]
    if not poses and not columns:
        columns = [column for channel in recording.channels for column in columns_of(channel)][:MOST_IN_ROW]
    return poses, heights + columns


def _strays(recording: Recording, estimate: Channel) -> bool:
    """Whether an estimated pose leaves its robot's true one far enough to be seen beside it."""
    truth, axes = f"{estimate.robot}/pose", planar(estimate)
    if truth not in recording or axes is None or planar(recording.channels[truth]) is None:
        return True
    true_axes = planar(recording.channels[truth])
    ours, theirs = recording[estimate.name][:, axes], recording[truth][:, true_axes]
    count = min(len(ours), len(theirs))
    extent = np.nanmax(np.ptp(theirs, axis=0), initial=0.0) if count else 0.0
    return bool(np.nanmax(np.abs(ours[:count] - theirs[:count]), initial=0.0) > 0.005 * extent)


def _split(
    recording: Recording, patterns: Sequence[str], trajectory: bool | None
) -> tuple[list[Channel], list[Column]]:
    """The chosen columns as channels to draw as paths and columns to draw over time."""
    chosen = choose(recording, patterns)
    if trajectory is False:
        return [], chosen
    indices: dict[str, set[int]] = {}
    for column in chosen:
        indices.setdefault(column.channel.name, set()).add(column.index)
    places = []
    for name, components in indices.items():
        channel = recording.channels[name]
        axes = planar(channel)
        whole = len(components) == channel.size
        if axes and set(axes) <= components and (trajectory is True or (whole and is_pose(channel))):
            places.append(channel)
    if trajectory is True and not places:
        known = [channel.name for channel in recording.channels if planar(channel)]
        wanted = ", ".join(repr(pattern) for pattern in patterns)
        raise InputError(
            Problem(f"{wanted}: nothing with both x and y to draw as a path{closest('', known)}", file=recording.path)
        )
    names = {channel.name for channel in places}
    return places, [column for column in chosen if column.channel.name not in names]


def _rows(columns: Sequence[Column]) -> list[Row]:
    """One row a unit; a crowded one is split by quantity."""
    by_unit: dict[str, list[Column]] = {}
    for column in columns:
        by_unit.setdefault(column.unit, []).append(column)
    rows = []
    for unit, group in by_unit.items():
        parts: dict[str, list[Column]] = {"": group}
        if len(group) > MOST_IN_ROW:
            parts = {}
            for column in group:
                parts.setdefault(column.quantity, []).append(column)
        rows += [Row(_row_label(unit, part), tuple(part)) for part in parts.values()]
    return rows


def _row_label(unit: str, columns: Sequence[Column]) -> str:
    quantities = {column.quantity for column in columns}
    name = quantities.pop().replace("_", " ") if len(quantities) == 1 else QUANTITIES.get(unit, "")
    return f"{name} [{unit}]".strip() if unit != "1" else name or "value"


def _path_of(recording: Recording, channel: Channel) -> Path2D:
    seen = recorded_silhouettes(recording.scenario).get(channel.robot) if channel.local_name == "pose" else None
    return Path2D.of_channel(channel, recording[channel.name], seen)


# --- drawing -------------------------------------------------------------------------------------------


def robot_colours(places: Sequence[Channel], columns: Sequence[Column]) -> dict[str, str]:
    """One colour a robot, the same in all axes of a picture."""
    names = dict.fromkeys([channel.robot for channel in places] + [column.channel.robot for column in columns])
    return {name: PALETTE[number % len(PALETTE)] for number, name in enumerate(names)}


def _draw(
    recording: Recording,
    paths: Sequence[Path2D],
    rows: Sequence[Row],
    colours: Mapping[str, str],
    path: Path,
    title: str,
    plot: PathPlot,
) -> None:
    heights = [plot.height(paths, WIDTH)] if paths else []
    heights += [ROW_HEIGHT + 0.17 * max(0, min(len(row.columns), MOST_NAMED) - 7) for row in rows]
    figure = new_figure(WIDTH, sum(heights) + 0.8)
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    first = len(paths[:1])
    note = plot.draw(figure.add_subplot(grid[0]), paths, colours) if paths else ""
    shared: Axes | None = None
    for number, row in enumerate(rows):
        axes = figure.add_subplot(grid[first + number], sharex=shared)
        shared = shared or axes
        last = number == len(rows) - 1
        dress(axes, x_label="time [s]" if last else "", y_label=row.label, ticks=5)
        axes.xaxis.get_major_locator().set_params(nbins=9)  # type: ignore[call-arg]
        axes.tick_params(labelbottom=last)
        _draw_row(axes, recording, row, colours, plot)
        plot.dress_row(axes, row.columns)
    if rows:
        figure.align_ylabels(figure.axes[first:])
    heading = set_title(figure, title, note=fill(note, 110), warning=_incomplete(recording))
    settle(figure, heading)
    if paths:
        plot.finish(figure.axes[0], paths)
    save(figure, path)


def _draw_row(axes: Axes, recording: Recording, row: Row, colours: Mapping[str, str], plot: PathPlot) -> None:
    styles: dict[str, int] = {}
    for number, column in enumerate(row.columns):
        times, values = recording.time(column.channel.name), column.values(recording)
        if not len(times):
            continue
        keep = thin(values)
        look: dict[str, Any] = line_look(number)
        if colours:
            # A robot keeps its colour; its components differ by their lines.
            style = styles.setdefault(column.quantity, len(styles))
            look = {"color": colours[column.channel.robot], "linestyle": LINE_STYLES[style % len(LINE_STYLES)]}
        look = dict(plot.look(column)) or look
        shown = np.where(np.isfinite(values[keep]), values[keep], np.nan)
        if column.channel.local_name == "icr":
            shown[np.abs(shown) > FAR] = np.nan
        single: dict[str, Any] = {"marker": "o", "markersize": 4} if len(times) == 1 else {}
        look = {"linewidth": 1.5, "label": column.name, **look, **single}
        axes.plot(times[keep], shown, **look)
    axes.margins(x=0.01, y=0.08)
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > MOST_NAMED:
        labels[MOST_NAMED - 1] = f"… and {len(labels) - MOST_NAMED + 1} more"
        handles, labels = handles[:MOST_NAMED], labels[:MOST_NAMED]
    if labels:
        side_legend(axes, handles=handles, labels=labels)


def _incomplete(recording: Recording) -> str:
    return fill(f"incomplete recording: {recording.problem}", 90) if recording.problem else ""
