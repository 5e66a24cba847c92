"""A soccer match from above: the field in quiet colours, ways of robots and ball, and the robots where they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon, Rectangle

from botz.channels import Channel
from botz.errors import InputError
from botz.record.reader import Recording
from botz.scenario.load import load_data
from botz.scenario.soccer.schema import PlayingField, SoccerScenario
from botz.view.path_plot import PathPlot
from botz.view.paths import Path2D, draw_bodies
from botz.view.selection import Column, columns_of, thin
from botz.view.style import LABEL_SIZE, SMALL_SIZE, SOFT_INK, dress, fit_equal, side_legend

BALL, MATCH = "ball", "match"
SCORE = "match/score"
BLUES = ("#12479E", "#3F87DB", "#0A2A66", "#6AA9EC", "#2B5FC4")
YELLOWS = ("#8F5E00", "#CC8A00", "#5E3D00", "#E3AA2E", "#AD7A12")
"""Shades of the teams; yellow itself would not show on white."""
BALL_COLOUR = "#E8490F"
SURFACE, WALL, MARKING = "#F4F7F3", "#D5DBDE", "#C3CCC5"
FEW = 2
"""Robots whose velocities are shown, and that are drawn along their way."""
MOST_NAMED = 12
"""Robots that are named one by one; of more, the teams."""
PIECES = 40
"""Of a way, each a little stronger than the one before, so that the end of a long match stands out."""
FAINTEST, STRONGEST = 0.08, 0.85
LONG_WAY = 4.0
"""A way of this many lengths of the field hides others and fades sooner."""
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


def path_plot(recording: Recording) -> MatchPlot | None:
    spec = recorded_match(recording.scenario)
    return None if spec is None else MatchPlot(recording, spec)


class MatchPlot(PathPlot):
    def __init__(self, recording: Recording, spec: SoccerScenario):
        self.recording, self.spec = recording, spec

    def columns(self, usual: list[Column]) -> list[Column]:
        del usual
        return match_columns(self.recording, self.spec)

    def colours(self, usual: Mapping[str, str]) -> Mapping[str, str]:
        return {**usual, **match_colours(self.spec)}

    def path(self, path: Path2D, channel: Channel) -> Path2D:
        return in_play(path, channel, self.recording, self.spec)

    def height(self, paths: Sequence[Path2D], width: float) -> float:
        del paths
        return field_height(self.spec.world.field, width)

    def draw(self, axes: Axes, paths: Sequence[Path2D], colours: Mapping[str, str]) -> str:
        del colours  # teams have theirs also where channels are named
        draw_match(axes, paths, match_colours(self.spec), self.spec)
        return final_score(self.recording, self.spec)

    def finish(self, axes: Axes, paths: Sequence[Path2D]) -> None:
        del paths
        fit_equal(axes, *field_bounds(self.spec.world.field))

    def look(self, column: Column) -> Mapping[str, Any]:
        return score_look(column) if column.channel.name == SCORE else {}

    def dress_row(self, axes: Axes, columns: Sequence[Column]) -> None:
        if all(column.channel.name == SCORE for column in columns):
            dress_score(axes)


# --- what to draw --------------------------------------------------------------------------------------


def match_columns(recording: Recording, spec: SoccerScenario) -> list[Column]:
    """Over time: where the ball is between the goals, and the score; of few robots their velocities."""
    found: list[Column] = []
    if len(spec.robots) <= FEW:
        twists = [channel for channel in recording.channels if channel.local_name == "twist"]
        found = [column for channel in twists for column in columns_of(channel) if column.quantity != "vy"]
    elif "ball/pose" in recording:
        found.append(Column(recording.channels["ball/pose"], 0))
    if SCORE in recording and (len(spec.robots) > FEW or np.any(recording[SCORE])):
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


def score_look(column: Column) -> dict[str, Any]:
    """Of the line that counts a team's goals; blue's is broad, so that it shows where both have as many."""
    blue = column.quantity == "blue"
    colour, width = (BLUES[1], 3.2) if blue else (YELLOWS[1], 1.6)
    return {"color": colour, "linewidth": width, "drawstyle": "steps-post"}


def dress_score(axes: Axes) -> None:
    """Whole goals, and room for one."""
    axes.set_ylabel("goals", fontsize=LABEL_SIZE)
    axes.yaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    axes.set_ylim(-0.15, max(1.0, axes.get_ylim()[1]) + 0.15)


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


def final_score(recording: Recording, spec: SoccerScenario) -> str:
    """In words; nothing where only one team plays."""
    teams = {robot.team for robot in spec.robots.values()}
    if SCORE not in recording or not len(recording[SCORE]) or len(teams) < 2:
        return ""
    blue, yellow = recording[SCORE][-1]
    return f"blue {blue:.0f} : {yellow:.0f} yellow"


# --- the field -----------------------------------------------------------------------------------------


def field_bounds(field: PlayingField) -> tuple[np.ndarray, np.ndarray]:
    """Lower left and upper right corner of the field with its goals and walls."""
    margin = 0.03 * field.length
    corner = np.array([0.5 * field.length + field.goal_depth, 0.5 * field.width]) + margin
    return -corner, corner


def field_height(field: PlayingField, width: float) -> float:
    """Height of axes that suit the field [inches]."""
    low, high = field_bounds(field)
    return float(np.clip((high[1] - low[1]) / (high[0] - low[0]) * 0.78 * width, 0.36 * width, 0.68 * width))


def field_corners(field: PlayingField) -> np.ndarray:
    """The inner edge of the walls, counter-clockwise (k, 2): goals with their depth, corners cut off."""
    end, side, post, cut = 0.5 * field.length, 0.5 * field.width, 0.5 * field.goal_width, field.corner
    back = end + field.goal_depth
    quarter = np.array([[back, 0.0], [back, post], [end, post], [end, side - cut], [end - cut, side]])
    right = np.concatenate([quarter[::-1] * [1, -1], quarter])
    return np.concatenate([right, right[::-1] * [-1, 1]])


def paint_field(axes: Axes, field: PlayingField) -> None:
    """Walls around, the playing surface, and its markings; below everything else."""
    end, side = 0.5 * field.length, 0.5 * field.width
    _, beyond = field_bounds(field)
    wall = 0.6 * (beyond[1] - side)
    # One slab under the field and one under both goals; the surface lies on them and leaves walls of equal width.
    for half_x, half_y in ((end, side), (end + field.goal_depth, 0.5 * field.goal_width)):
        half_x, half_y = half_x + wall, half_y + wall
        slab = Rectangle((-half_x, -half_y), 2 * half_x, 2 * half_y, facecolor=WALL, linewidth=0, zorder=0.3)
        axes.add_patch(slab)
    axes.add_patch(Polygon(field_corners(field), facecolor=SURFACE, edgecolor=SOFT_INK, linewidth=0.9, zorder=0.4))
    _mark(axes, field)
    axes.grid(False)


def _mark(axes: Axes, field: PlayingField) -> None:
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
        width = 1.5 if is_ball or not many else 0.9
        _draw_way(axes, path, colours[path.robot], width, order, LONG_WAY * spec.world.field.length)
        if not is_ball and len(spec.robots) <= FEW:
            draw_bodies(axes, path, colours[path.robot], spec.world.field.length)
        if len(path.finite) and np.isfinite(path.points[-1]).all():
            if is_ball:
                ball = Circle(path.points[-1], spec.world.ball.radius, facecolor=BALL_COLOUR, edgecolor="white")
                ball.set(linewidth=0.8, zorder=6)
                axes.add_patch(ball)
            else:
                _draw_robot(axes, path, colours[path.robot], "" if many else str(spec.players[path.robot][1]))
    side_legend(axes, handles=_legend(paths, colours, spec))


def _draw_way(axes: Axes, path: Path2D, colour: str, width: float, order: float, long_way: float) -> None:
    """Pieces of equal length, so that a robot that waits in the end keeps the way that led there."""
    points = path.points[thin(path.points)]
    if len(points) < 2:
        return
    step = np.hypot(*np.diff(points, axis=0).T)
    gone = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(step), step, 0.0))])
    marks = np.searchsorted(gone, np.linspace(0.0, gone[-1], PIECES + 1)[1:-1])
    cuts = np.unique(np.concatenate([[0], marks, [len(points) - 1]]))
    pieces = [points[first : last + 1] for first, last in pairwise(cuts)]
    share = np.linspace(0.0, 1.0, len(pieces) + 1)[1:] ** np.clip(gone[-1] / long_way, 0.5, 4.0)
    shades = [to_rgba(colour, alpha) for alpha in FAINTEST + (STRONGEST - FAINTEST) * share]
    ways = LineCollection(pieces, colors=shades, linewidths=width, zorder=order, capstyle="butt", label=path.label)
    axes.add_collection(ways, autolim=False)


def _draw_robot(axes: Axes, path: Path2D, colour: str, number: str) -> None:
    """The square, a notch of light at its front, and its number."""
    assert path.heading is not None and path.seen is not None
    c, s = np.cos(path.heading[-1]), np.sin(path.heading[-1])
    turn = np.array([[c, s], [-s, c]])
    corners = path.seen.body @ turn + path.points[-1]
    axes.add_patch(Polygon(corners, facecolor=colour, edgecolor="white", linewidth=0.8, zorder=5))
    half = float(path.seen.body[:, 0].max())
    front = np.array([[0.78, 0.6], [0.78, -0.6]]) * half @ turn + path.points[-1]
    axes.plot(*front.T, color="white", linewidth=1.3, alpha=0.9, zorder=5.1, solid_capstyle="butt")
    if number:
        x, y = path.points[-1]
        axes.text(x, y, number, color="white", fontsize=SMALL_SIZE - 1, fontweight="bold", zorder=5.2,
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
