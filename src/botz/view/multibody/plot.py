"""A recorded run of multibody robots in one picture: where they went, and position, attitude, rotors and joints over
time, with the moments at which their controllers were asked for something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import degrees, pi
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from botz.errors import InputError
from botz.record.reader import Recording
from botz.scenario.load import load_data
from botz.scenario.multibody.flight import HoverController, Manoeuvre, Setpoint, SetpointController
from botz.scenario.multibody.schema import MultibodyScenario
from botz.view.panels import Line, Panel, draw_panel
from botz.view.selection import thin
from botz.view.style import (
    FRAME,
    INK,
    LINE_STYLES,
    PALETTE,
    SMALL_SIZE,
    SOFT_INK,
    dress,
    fit_equal,
    new_figure,
    set_title,
    settle,
    side_legend,
)

WIDTH = 10.0
ROW_HEIGHT = 1.55
VIEW_HEIGHT = 3.0
MOST_ROBOTS = 4
"""Of which panels are shown."""
MOST_LINES = 8
"""Of one panel: more joints or rotors cannot be told apart."""
MOST_MARKS = 16
"""More moments would hide what happens at them."""
SPINS = 4.0 * pi
"""A joint that has turned further than this spins: its speed tells more than its angle [rad]."""
VIEWS = {"from above": (0, 1), "from the side": (0, 2)}
NOT_REPORTED = ("effort",)
"""Forces that joints show, and no element."""
GOES = 0.3
"""A robot that strays less than this from its vertical has no way to be seen from above [m]."""
FAR = 5.0
"""A robot that goes this many times farther than it rises has a panel for its height."""
LEAST_SPAN = {"position": 0.1, "height": 0.1, "attitude": 0.02, "joints": 0.02}
"""An axis never shows less than this, or trembling would look like motion [m, rad]."""
LINGERS = 0.35
"""An angle that goes past half a turn by less than this and comes back is drawn past it [rad]."""


@dataclass(frozen=True)
class Mark:
    """A moment, and what was asked for."""

    time: float
    text: str


def overview(recording: Recording, *, title: str, warning: str) -> Figure | None:
    spec = recorded_multibody(recording)
    return None if spec is None else multibody_figure(recording, spec, title=title, warning=warning)


def recorded_multibody(recording: Recording) -> MultibodyScenario | None:
    """What was recorded of multibody robots; None for other families, for a scenario that can no longer be read, and
    where no robot's pose is in the recording."""
    if recording.scenario.get("engine") != "multibody":
        return None
    try:
        spec = load_data(recording.scenario).spec
    except InputError:
        return None
    return spec if isinstance(spec, MultibodyScenario) and _shown_robots(recording, spec) else None


def _shown_robots(recording: Recording, spec: MultibodyScenario) -> list[str]:
    return [name for name in spec.robots if len(_samples(recording, f"{name}/pose"))]


def _samples(recording: Recording, name: str) -> np.ndarray:
    return recording[name] if name in recording else np.zeros(0)


def multibody_figure(recording: Recording, spec: MultibodyScenario, *, title: str, warning: str = "") -> Figure:
    robots = _shown_robots(recording, spec)
    panels = [panel for name in robots[:MOST_ROBOTS] for panel in robot_panels(recording, name, alone=len(robots) == 1)]
    ways = {name: recording[f"{name}/pose"][:, :3] for name in robots}
    views = list(VIEWS) if any(_goes(way) for way in ways.values()) else []
    heights = [VIEW_HEIGHT] * bool(views) + [ROW_HEIGHT] * len(panels)
    figure = new_figure(WIDTH, sum(heights) + 0.9)
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    flat: dict[str, Axes] = {}
    if views:
        top = grid[0].subgridspec(1, len(views))
        flat = {name: figure.add_subplot(top[0, k]) for k, name in enumerate(views)}
        draw_ways(flat, ways, ground=spec.world.ground and spec.world.terrain is None)
    rows: list[Axes] = []
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(grid[bool(views) + number], sharex=rows[0] if rows else None)
        rows.append(axes)
        draw_panel(axes, panel, last=number == len(panels) - 1)
        _widen(axes, panel)
    draw_marks(rows, marks_of(spec))
    figure.align_ylabels(rows)
    heading = set_title(figure, title, warning=warning)
    # Limits decide how wide the numbers beside an axis are, and these how much room is left for it.
    figure.draw_without_rendering()
    _fit_views(flat, ways)
    settle(figure, heading)
    heading.set_x(rows[0].get_position().x0)
    _fit_views(flat, ways)
    return figure


def _widen(axes: Axes, panel: Panel) -> None:
    least = LEAST_SPAN.get(panel.label.rsplit(" [", 1)[0].rsplit(": ", 1)[-1], 0.0)
    low, high = axes.get_ylim()
    if high - low < least:
        middle = 0.5 * (low + high)
        axes.set_ylim(middle - 0.5 * least, middle + 0.5 * least)


# --- where it went -----------------------------------------------------------------------------------------


def _goes(way: np.ndarray) -> bool:
    return bool(np.nanmax(np.ptp(way[:, :2], axis=0), initial=0.0) > GOES)


def _extent(ways: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    every = np.concatenate(list(ways.values()))
    every = every[np.isfinite(every).all(axis=1)]
    low, high = (every.min(axis=0), every.max(axis=0)) if len(every) else (np.zeros(3), np.ones(3))
    margin = max(0.06 * float((high - low).max()), 0.01)
    return low - margin, high + margin


def _fit_views(flat: dict[str, Axes], ways: dict[str, np.ndarray]) -> None:
    """Equal scales, the same in all views."""
    low, high = _extent(ways)
    spans = {name: high[list(VIEWS[name])] - low[list(VIEWS[name])] for name in flat}
    shapes = {name: np.array([*axes.get_window_extent().size]) for name, axes in flat.items()}
    scale = max((float((spans[name] / shapes[name]).max()) for name in flat), default=1.0)
    for name, axes in flat.items():
        middle = 0.5 * (low + high)[list(VIEWS[name])]
        fit_equal(axes, middle - 0.5 * scale * shapes[name], middle + 0.5 * scale * shapes[name])


def draw_ways(flat: dict[str, Axes], ways: dict[str, np.ndarray], *, ground: bool) -> None:
    """Ways of the root links, each from an open circle to a square."""
    for view, axes in flat.items():
        x, y = VIEWS[view]
        dress(axes, x_label=f"{'xyz'[x]} [m]", y_label=f"{'xyz'[y]} [m]", ticks=6)
        axes.set_title(view, fontsize=SMALL_SIZE, color=SOFT_INK, loc="left", pad=4)
        if ground and y == 2:
            axes.axhline(0.0, color=FRAME, linewidth=1.4, zorder=1.5)
        for number, (name, way) in enumerate(ways.items()):
            colour = PALETTE[number % len(PALETTE)]
            keep = thin(way[:, [x, y]])
            axes.plot(way[keep, x], way[keep, y], color=colour, linewidth=1.5, label=name)
            mark: dict[str, Any] = {"color": colour, "markersize": 5.5, "markeredgewidth": 1.4, "linestyle": "none"}
            own = {"start": ("o", 0), "end": ("s", -1)}
            for label, (sign, at) in own.items():
                face: dict[str, Any] = {"markerfacecolor": "white"} if sign == "o" else {}
                shown = label if len(ways) == 1 else None
                axes.plot(way[at, x], way[at, y], marker=sign, label=shown, zorder=4, **mark, **face)
    side_legend(list(flat.values())[-1])


# --- over time -----------------------------------------------------------------------------------------


def robot_panels(recording: Recording, name: str, *, alone: bool) -> list[Panel]:
    """Position and attitude; of a robot alone also its rotors, joints and surfaces."""
    before = "" if alone else f"{name}: "
    pose, times = recording[f"{name}/pose"], recording.time(f"{name}/pose")
    looks = [{"color": PALETTE[k]} for k in range(3)]
    place = tuple(Line(axis, pose[:, k], looks[k]) for k, axis in enumerate("xyz"))
    panels = [Panel(f"{before}position [m]", times, place)]
    spans = (
        np.ptp(pose[np.isfinite(pose).all(axis=1), :3], axis=0) if np.isfinite(pose).all(axis=1).any() else np.ones(3)
    )
    if alone and max(spans[:2]) > FAR * spans[2] > 0:
        # The way would press the height flat.
        panels = [Panel("position [m]", times, place[:2]), Panel("height [m]", times, place[2:])]
    if len(attitude := _samples(recording, f"{name}/attitude")):
        angles = ("roll", "pitch", "yaw")
        lines = tuple(Line(angle, drawn_angle(attitude[:, k]), looks[k]) for k, angle in enumerate(angles))
        panels.append(Panel(f"{before}attitude [rad]", recording.time(f"{name}/attitude"), lines))
    if alone:
        panels += _part_panels(recording, name)
    return panels


def _part_panels(recording: Recording, name: str) -> Iterator[Panel]:
    joints = _parts(recording, name, "position", ("rad", "m"))
    spinning = [one for one in joints if _spins(recording, f"{name}/{one}")]
    still = [one for one in joints if one not in spinning]
    turning = [one for one in still if recording.channels[f"{name}/{one}/position"].unit == "rad"]
    sliding = [one for one in still if one not in turning]
    yield from _panel(recording, name, spinning, "speed", "speed [rad/s]", size_only=True)
    named = [channel.name.split("/") for channel in recording.channels]
    for report in dict.fromkeys(parts[-1] for parts in named if parts[1:-1] and parts[-1] not in NOT_REPORTED):
        label = f"{report.replace('_', ' ')} [N]"
        yield from _panel(recording, name, _parts(recording, name, report, ("N",)), report, label)
    yield from _panel(recording, name, turning, "position", "joints [rad]")
    yield from _panel(recording, name, sliding, "position", "joints [m]")


def _parts(recording: Recording, robot: str, quantity: str, units: Sequence[str]) -> list[str]:
    """Parts of a robot that have a channel of single numbers by this name."""
    found = []
    for channel in recording.channels:
        parts = channel.name.split("/")
        fits = len(parts) == 3 and (parts[0], parts[2]) == (robot, quantity) and not channel.components
        if fits and channel.unit in units and len(recording.time(channel.name)):
            found.append(parts[1])
    return found


def _spins(recording: Recording, part: str) -> bool:
    turned = np.nanmax(np.abs(recording[f"{part}/position"]), initial=0.0)
    return recording.channels[f"{part}/position"].unit == "rad" and turned > SPINS and f"{part}/speed" in recording


def _panel(
    recording: Recording, robot: str, parts: Sequence[str], quantity: str, label: str, *, size_only: bool = False
) -> Iterator[Panel]:
    """One time axis with a line a part. Speeds of rotors are shown without their sign, which only tells the sense of
    each: what they do together is seen in their size."""
    if not parts:
        return
    parts = parts[:MOST_LINES]
    names = [f"{robot}/{part}/{quantity}" for part in parts]
    values = [recording[name] for name in names]
    if size_only and all(_keeps_its_sense(one) for one in values):
        values, label = [np.abs(one) for one in values], f"|{label.split()[0]}| {label.split()[1]}"
    lines = tuple(Line(part.replace("_", " "), values[k], part_look(k, values)) for k, part in enumerate(parts))
    yield Panel(label, recording.time(names[0]), lines)


def _keeps_its_sense(speed: np.ndarray) -> bool:
    """Whether it turns one way, up to what a servo swings beyond when it stops."""
    one_way, other = np.nanmax(speed, initial=0.0), -np.nanmin(speed, initial=0.0)
    return bool(min(one_way, other) <= 0.02 * max(one_way, other))


def part_look(number: int, values: Sequence[np.ndarray]) -> dict[str, Any]:
    """Lines that lie on each other stay visible: the first of them broad, those after it narrower and dashed."""
    span = max(float(np.nanmax(np.abs(one), initial=0.0)) for one in values) or 1.0
    own = values[number]
    below = sum(1 for one in values[:number] if one.shape == own.shape and np.nanmean(np.abs(one - own)) < 0.01 * span)
    look: dict[str, Any] = {"color": PALETTE[number % len(PALETTE)], "zorder": 2.0 + 0.1 * below}
    if below:
        look |= {"linestyle": LINE_STYLES[min(below, 3)], "linewidth": 1.5}
    else:
        look["linewidth"] = 2.0
    return look


def drawn_angle(angles: np.ndarray) -> np.ndarray:
    """An angle within half a turn to either side, with a gap where it jumps from one end to the other.

    Where it only lingers at half a turn it does not jump: a robot that holds 180° would be drawn at both ends at once.
    """
    found = np.array(angles, dtype=float)
    finite = np.isfinite(found)
    whole = np.unwrap(found[finite])
    turns, start = np.zeros(len(whole)), 0
    while start < len(whole):
        own = whole[start:] - turns[start]
        gone = np.flatnonzero(np.abs(own) > pi + LINGERS)
        if not gone.size:
            break
        # Back to where it went past half a turn on its way there.
        inside = np.flatnonzero(np.abs(own[: gone[0]]) <= pi)
        start += int(inside[-1]) + 1 if inside.size else 0
        turns[start:] += 2.0 * pi * np.sign(whole[start] - turns[start])
    values = whole - turns
    values[1:][np.abs(np.diff(values)) > pi] = np.nan
    found[finite] = values
    return found


# --- what was asked for ------------------------------------------------------------------------------------


def marks_of(spec: MultibodyScenario) -> list[Mark]:
    """Moments at which controllers were asked for something new, in time."""
    found: dict[float, list[str]] = {}
    for controller in spec.controllers.values():
        if isinstance(controller, HoverController):
            for one in controller.manoeuvres:
                found.setdefault(one.at, []).extend(_asked(one))
                if one.until is not None:
                    found.setdefault(one.until, [])
        elif isinstance(controller, SetpointController):
            for point in controller.setpoints:
                found.setdefault(point.at, []).extend(_wanted(point))
    if len(found) > MOST_MARKS:
        return []
    return [Mark(time, "\n".join(dict.fromkeys(texts))) for time, texts in sorted(found.items())]


def _asked(one: Manoeuvre) -> Iterator[str]:
    if one.land:
        yield "land"
    if one.height is not None:
        yield f"z {one.height:g} m"
    if one.add:
        yield f"{_sizes(one.add.values())} rad/s"
    if one.set:
        what = ", ".join(dict.fromkeys(name.split("_")[0].split("/")[0] for name in one.set))
        yield f"{what} {_sizes(one.set.values())}"


def _sizes(values: Iterable[float]) -> str:
    """Numbers as 5, ±5 or 3/±5: which of them go which way is seen in the lines."""
    given = set(values)
    return "/".join(
        f"{'±' if -size in given and size in given and size else '−' if -size in given and size else ''}{size:.3g}"
        for size in sorted({abs(value) for value in given})
    )


def _wanted(point: Setpoint) -> Iterator[str]:
    for name in ("x", "y", "z"):
        if (value := getattr(point, name)) is not None:
            yield f"{name} {value:g} m".replace("-", "−")
    for name in ("roll", "pitch", "yaw"):
        if (value := getattr(point, name)) is not None:
            yield f"{name} {degrees(value):.3g}°".replace("-", "−")


def draw_marks(rows: Sequence[Axes], marks: Sequence[Mark]) -> None:
    """Thin lines through all time axes; what they mean above the first one, where it is read once."""
    low, high = rows[0].get_xlim()
    for mark in marks:
        if not low <= mark.time <= high:
            continue
        for axes in rows:
            axes.axvline(mark.time, color=SOFT_INK, linewidth=0.8, linestyle=(0, (2, 2)), alpha=0.7, zorder=1.4)
        if mark.text:
            rows[0].annotate(
                mark.text, (mark.time, 1.0), xycoords=("data", "axes fraction"), xytext=(2, 2),
                textcoords="offset points", fontsize=SMALL_SIZE - 1.0, color=INK, verticalalignment="bottom",
                linespacing=1.05, annotation_clip=False,
            )  # fmt: skip
