"""A soccer match from above: the field in quiet colours, the ways of robots and ball, and the robots where they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, PathPatch, Polygon, Rectangle
from matplotlib.path import Path as Outline

from botz.engines.base import Channel
from botz.errors import InputError
from botz.record.reader import Recording
from botz.scenario.load import load_data
from botz.scenario.soccer import Field_, SoccerScenario
from botz.view.paths import Path2D
from botz.view.selection import Column, columns_of, thin
from botz.view.style import SMALL_SIZE, SOFT_INK, dress, side_legend

BALL, MATCH = "ball", "match"
SCORE = "match/score"
BLUES = ("#12479E", "#3F87DB", "#0A2A66", "#6AA9EC", "#2B5FC4")
YELLOWS = ("#8F5E00", "#CC8A00", "#5E3D00", "#E3AA2E", "#AD7A12")
"""Shades of the teams; yellow itself would not show on white."""
BALL_COLOUR = "#E8490F"
SURFACE, WALL, MARKING = "#F4F7F3", "#D5DBDE", "#C3CCC5"
MOST_NAMED = 12
"""Robots that are named one by one; of more, the teams."""
FADED, PIECES = 0.12, 40
"""Ways begin this pale and are drawn in this many pieces, so that the end of a long match stands out."""
QUICK = 1.25
"""A body that goes this many times as far as its speed allows was put somewhere else."""
UNKNOWN_SPEED = 5.0
"""Of a ball whose velocity was not recorded [m/s]."""


def recorded_match(scenario: Mapping[str, Any]) -> SoccerScenario | None:
    """The match of a recorded scenario; None for other families and for one that can no longer be read."""
    if scenario.get("engine") != "soccer":
        return None
    try:
        spec = load_data(scenario).spec
    except InputError:
        return None
    return spec if isinstance(spec, SoccerScenario) else None


# --- what to draw --------------------------------------------------------------------------------------


def match_columns(recording: Recording, spec: SoccerScenario) -> list[Column]:
    """Over time: where the ball is between the goals, and the score; of few robots their velocities."""
    found: list[Column] = []
    if len(spec.robots) <= 2:
        twists = [channel for channel in recording.channels if channel.local_name == "twist"]
        found = [column for channel in twists for column in columns_of(channel) if column.quantity != "vy"]
    elif "ball/pose" in recording:
        found.append(Column(recording.channels["ball/pose"], 0))
    if SCORE in recording and (len(spec.robots) > 2 or np.any(recording[SCORE])):
        found += columns_of(recording.channels[SCORE])
    return found


def match_colours(spec: SoccerScenario) -> dict[str, str]:
    """Each robot in a shade of its team, and the ball."""
    shades = {"blue": BLUES, "yellow": YELLOWS}
    following = {"blue": 0, "yellow": 0}
    colours = {BALL: BALL_COLOUR}
    for name, robot in spec.robots.items():
        colours[name] = shades[robot.team][following[robot.team] % len(BLUES)]
        following[robot.team] += 1
    return colours


def team_of(column: Column) -> str | None:
    """The colour of a column that counts a team's goals."""
    shades = {"blue": BLUES[0], "yellow": YELLOWS[1]}
    return shades.get(column.quantity) if column.channel.name == SCORE else None


def in_play(path: Path2D, channel: Channel, recording: Recording, spec: SoccerScenario) -> Path2D:
    """A path with gaps where the body was out of play, and where it was put somewhere else."""
    points = np.array(path.points, dtype=float)
    playing = f"{channel.robot}/playing"
    if playing in recording and len(recording[playing]) == len(points):
        points[recording[playing] == 0.0] = np.nan
    jumps = _jumps(points, recording.time(channel.name), *_speed_and_size(channel.robot, recording, spec, len(points)))
    # A gap needs a sample without a place; the last one before the jump is drawn twice for it.
    at = np.flatnonzero(jumps) + 1
    points = np.insert(points, at, np.nan, axis=0)
    heading = None if path.heading is None else np.insert(path.heading, at, np.nan)
    return replace(path, points=points, heading=heading)


def _speed_and_size(
    name: str, recording: Recording, spec: SoccerScenario, count: int
) -> tuple[float | np.ndarray, float]:
    """How fast the body can have been after each sample [m/s], and its size [m]."""
    robot = spec.robots.get(name)
    if robot is not None:
        wheels = (robot.wheels.left, robot.wheels.right)
        return max(wheel.radius * wheel.motor.no_load_speed for wheel in wheels), robot.side
    velocity = recording["ball/velocity"] if "ball/velocity" in recording else np.full((count, 2), UNKNOWN_SPEED)
    speed = np.hypot(*velocity.T) if len(velocity) == count else np.full(count, UNKNOWN_SPEED)
    return np.maximum(speed[:-1], speed[1:]), 2.0 * spec.world.ball.radius


def _jumps(points: np.ndarray, times: np.ndarray, speed: float | np.ndarray, size: float) -> np.ndarray:
    """Whether a body was put somewhere else after each sample but the last."""
    gone = np.hypot(*np.diff(points, axis=0).T)
    with np.errstate(invalid="ignore"):
        return np.asarray(gone > QUICK * speed * np.diff(times) + 0.5 * size)


def final_score(recording: Recording) -> str:
    if SCORE not in recording or not len(recording[SCORE]):
        return ""
    blue, yellow = recording[SCORE][-1]
    return f"blue {blue:.0f} : {yellow:.0f} yellow"


# --- the field -----------------------------------------------------------------------------------------


def field_bounds(field: Field_) -> tuple[np.ndarray, np.ndarray]:
    """Lower left and upper right corner of the field with its goals and walls."""
    margin = 0.03 * field.length
    corner = np.array([0.5 * field.length + field.goal_depth, 0.5 * field.width]) + margin
    return -corner, corner


def field_height(field: Field_, width: float) -> float:
    """Height of axes that suit the field [inches]."""
    low, high = field_bounds(field)
    return float(np.clip((high[1] - low[1]) / (high[0] - low[0]) * 0.78 * width, 0.36 * width, 0.68 * width))


def field_corners(field: Field_) -> np.ndarray:
    """The inner edge of the walls, counter-clockwise (k, 2): goals with their depth, corners cut off."""
    end, side, post, cut = 0.5 * field.length, 0.5 * field.width, 0.5 * field.goal_width, field.corner
    back = end + field.goal_depth
    quarter = np.array([[back, 0.0], [back, post], [end, post], [end, side - cut], [end - cut, side]])
    right = np.concatenate([quarter[::-1] * [1, -1], quarter])
    return np.concatenate([right, right[::-1] * [-1, 1]])


def paint_field(axes: Axes, field: Field_) -> None:
    """Walls around, the playing surface, and its markings; below everything else."""
    end, side = 0.5 * field.length, 0.5 * field.width
    _, beyond = field_bounds(field)
    wall = 0.6 * (beyond[1] - side)
    corners = field_corners(field)
    # The walls as a frame: the surface is cut out of it, so that it has the same width beside the goals.
    outer = [(-end - wall, -side - wall), (end + wall, -side - wall), (end + wall, side + wall), (-end - wall, side + wall)]
    for x in (-1, 1):
        goal = Rectangle((x * end if x > 0 else -end - field.goal_depth - wall, -0.5 * field.goal_width - wall),
                         field.goal_depth + wall, field.goal_width + 2 * wall)  # fmt: skip
        goal.set(facecolor=WALL, linewidth=0, zorder=0.3)
        axes.add_patch(goal)
    axes.add_patch(Polygon(outer, facecolor=WALL, linewidth=0, zorder=0.3))
    axes.add_patch(PathPatch(Outline(corners, closed=False), facecolor=SURFACE, edgecolor=SOFT_INK, linewidth=0.9, zorder=0.4))
    _mark(axes, field)
    axes.grid(False)


def _mark(axes: Axes, field: Field_) -> None:
    end, side = 0.5 * field.length, 0.5 * field.width
    look: dict[str, Any] = {"color": MARKING, "linewidth": 1.1, "zorder": 0.5, "solid_capstyle": "butt"}
    axes.plot([0, 0], [-side, side], **look)
    if field.center_radius > 0:
        circle = Circle((0, 0), field.center_radius, fill=False, edgecolor=MARKING, linewidth=1.1, zorder=0.5)
        axes.add_patch(circle)
    half = 0.5 * field.penalty_width
    for x in (-1.0, 1.0):
        axes.plot([x * end] * 2, [-0.5 * field.goal_width, 0.5 * field.goal_width], **look)
        if field.penalty_depth > 0 and half > 0:
            front = x * (end - field.penalty_depth)
            axes.plot([x * end, front, front, x * end], [-half, -half, half, half], **look)
        if field.penalty_point > 0:
            axes.plot([x * field.penalty_point], [0], marker="+", markersize=5, color=MARKING, zorder=0.5)


# --- the match -----------------------------------------------------------------------------------------


def draw_match(axes: Axes, paths: Sequence[Path2D], colours: Mapping[str, str], spec: SoccerScenario) -> None:
    """The field, ways that fade into the past, and robots and ball where they were last."""
    dress(axes, x_label="x [m]", y_label="y [m]", ticks=9)
    paint_field(axes, spec.world.field)
    many = len(paths) > MOST_NAMED + 1
    for path in paths:
        is_ball = path.robot == BALL
        order = 4.0 if is_ball else 3.0
        _draw_way(axes, path, colours[path.robot], 1.5 if is_ball or not many else 0.9, order)
        if len(path.finite) and np.isfinite(path.points[-1]).all():
            if is_ball:
                ball = Circle(path.points[-1], spec.world.ball.radius, facecolor=BALL_COLOUR, edgecolor="white")
                ball.set(linewidth=0.8, zorder=6)
                axes.add_patch(ball)
            else:
                _draw_robot(axes, path, colours[path.robot], "" if many else str(spec.players[path.robot][1]))
    side_legend(axes, handles=_legend(paths, colours, spec))


def _draw_way(axes: Axes, path: Path2D, colour: str, width: float, order: float) -> None:
    keep = thin(path.points)
    points = path.points[keep]
    cuts = np.linspace(0, len(points) - 1, min(PIECES, max(2, len(points))), dtype=int)
    pieces = [points[first : last + 1] for first, last in zip(cuts[:-1], cuts[1:], strict=True)]
    shades = [to_rgba(colour, alpha) for alpha in np.linspace(FADED, 0.85, len(pieces))]
    ways = LineCollection(pieces, colors=shades, linewidths=width, zorder=order, capstyle="butt", label=path.label)
    axes.add_collection(ways, autolim=False)


def _draw_robot(axes: Axes, path: Path2D, colour: str, number: str) -> None:
    """The square, a notch of light at its front, and its number."""
    assert path.heading is not None and path.outline is not None
    c, s = np.cos(path.heading[-1]), np.sin(path.heading[-1])
    turn = np.array([[c, s], [-s, c]])
    corners = path.outline @ turn + path.points[-1]
    axes.add_patch(Polygon(corners, facecolor=colour, edgecolor="white", linewidth=0.8, zorder=5))
    half = float(path.outline[:, 0].max())
    front = np.array([[0.78, 0.6], [0.78, -0.6]]) * half @ turn + path.points[-1]
    axes.plot(*front.T, color="white", linewidth=1.3, alpha=0.9, zorder=5.1, solid_capstyle="butt")
    if number:
        axes.text(*path.points[-1], number, color="white", fontsize=SMALL_SIZE - 1, fontweight="bold", zorder=5.2,
                  horizontalalignment="center", verticalalignment="center_baseline", clip_on=True)  # fmt: skip


def _legend(paths: Sequence[Path2D], colours: Mapping[str, str], spec: SoccerScenario) -> list[Line2D]:
    drawn = {path.robot: path for path in paths}
    shown = [(name, colours[name]) for name in spec.robots if name in drawn]
    if len(shown) > MOST_NAMED:
        teams = [spec.robots[name].team for name, _ in shown]
        shown = [(f"{team}, {teams.count(team)} robots", shade) for team, shade in
                 (("blue", BLUES[0]), ("yellow", YELLOWS[1])) if team in teams]  # fmt: skip
    handles = [Line2D([], [], color=colour, linewidth=2.2, label=name) for name, colour in shown]
    if BALL in drawn:
        handles.append(Line2D([], [], color=BALL_COLOUR, linewidth=2.2, label="ball"))
    mark: dict[str, Any] = {"color": SOFT_INK, "linestyle": "none", "markersize": 7}
    return [*handles, Line2D([], [], marker="s", label="end", **mark)]
