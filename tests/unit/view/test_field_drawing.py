"""Pictures of soccer matches: the whole field, teams in their colours, gaps where a body was put somewhere else."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from recorded_runs import PLANAR, circle

from botz.channels import Channel
from botz.scenario.load import load_robot
from botz.scenario.soccer.schema import PlayingField
from botz.view import plots
from botz.view.plots import plot_recording
from botz.view.soccer import field_plot
from botz.view.style import save as write_picture

RADIUS = 0.0215
POSE = ("x", "y", "heading")


@pytest.fixture
def drawn(monkeypatch) -> list[Figure]:
    figures: list[Figure] = []

    def keep(figure, path):
        figures.append(figure)
        return write_picture(figure, path)

    monkeypatch.setattr(plots, "save", keep)
    return figures


def match(blue: int = 1, yellow: int = 1, **field: float) -> dict:
    """A recorded scenario: robots in two columns."""
    robot = load_robot("soccer-robot").data
    robots = {f"blue{k}": {**robot, "team": "blue", "pose": [-0.3, 0.1 * k - 0.5, 0.0]} for k in range(blue)}
    robots |= {f"yellow{k}": {**robot, "team": "yellow", "pose": [0.3, 0.1 * k - 0.5, 0.0]} for k in range(yellow)}
    return {"engine": "soccer", "name": "match", "world": {"field": field}, "robots": robots}


def channels_of(scenario: dict) -> list[Channel]:
    found = []
    for name in scenario["robots"]:
        found += [
            Channel(f"{name}/pose", "m, m, rad", "", POSE),
            Channel(f"{name}/twist", "m/s, m/s, rad/s", "", ("vx", "vy", "yaw_rate")),
            Channel(f"{name}/playing", "1", ""),
        ]
    return [
        *found,
        Channel("ball/pose", "m, m, rad", "", POSE),
        Channel("ball/velocity", "m/s", "", ("vx", "vy")),
        Channel("match/score", "1", "", ("blue", "yellow")),
    ]


def standing(scenario: dict, count: int = 60) -> np.ndarray:
    """Rows in which everything stays where it starts: per robot 7 columns, then 7 of ball and score."""
    row = [value for robot in scenario["robots"].values() for value in (*robot["pose"], 0.0, 0.0, 0.0, 1.0)]
    return np.tile([*row, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], (count, 1))


def squares(axes) -> list[Polygon]:
    """Robots where they ended."""
    return [patch for patch in axes.patches if isinstance(patch, Polygon) and patch.get_zorder() == 5]


def ways(axes) -> dict[str, LineCollection]:
    return {str(one.get_label()): one for one in axes.collections if isinstance(one, LineCollection)}


def vertices(axes, name: str) -> list[np.ndarray]:
    """Of the pieces of a way, with their gaps."""
    return [np.asarray(path.vertices) for path in ways(axes)[name].get_paths()]


def legend(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def kicked_off(scenario: dict) -> np.ndarray:
    """The ball rolls into the goal at 1 m/s; then it lies in the middle again and the robot stands at its place."""
    rows = standing(scenario)
    half = len(rows) // 2
    rows[:half, 0] = np.linspace(-0.3, 0.0, half)
    rows[:half, 3] = 1.0
    rows[:half, -7] = 0.78 - 0.01 * np.arange(half)[::-1]
    rows[:half, -4] = 1.0
    rows[half:, -2] = 1.0
    return rows


def test_the_whole_field_is_shown_however_short_the_ways_are(record, tmp_path, drawn):
    scenario = match(3, 3)
    plot_recording(record(standing(scenario), channels_of(scenario), scenario=scenario), path=tmp_path / "a.png")
    axes = drawn[0].axes[0]
    assert axes.get_xlim()[0] < -0.85 and axes.get_xlim()[1] > 0.85
    assert axes.get_ylim()[0] < -0.65 and axes.get_ylim()[1] > 0.65
    box = axes.get_window_extent()
    across = np.ptp(axes.get_xlim()) / box.width
    assert np.ptp(axes.get_ylim()) / box.height == pytest.approx(across, rel=1e-9)


def test_walls_have_goals_and_cut_corners():
    field = PlayingField()
    corners = field_plot.field_corners(field)
    x, y = corners.T
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    assert area == pytest.approx(1.5 * 1.3 + 2 * 0.4 * 0.1 - 4 * 0.5 * 0.07**2, rel=1e-12)
    assert corners.max(axis=0) == pytest.approx([0.85, 0.65])
    assert {tuple(np.round(corner, 9)) for corner in -corners} == {tuple(np.round(corner, 9)) for corner in corners}


def test_teams_have_their_colours_and_the_ball_its_own(record, tmp_path, drawn):
    scenario = match(3, 3)
    plot_recording(record(standing(scenario), channels_of(scenario), scenario=scenario), path=tmp_path / "a.png")
    axes = drawn[0].axes[0]
    shown = [to_hex(square.get_facecolor()).upper() for square in squares(axes)]
    assert shown == [*field_plot.BLUES[:3], *field_plot.YELLOWS[:3]]
    side = scenario["robots"]["blue0"]["side"]
    for square in squares(axes):
        assert np.ptp(square.get_xy(), axis=0) == pytest.approx([side, side])
    (ball,) = [patch for patch in axes.patches if isinstance(patch, Circle) and patch.get_fill()]
    assert ball.radius == RADIUS and to_hex(ball.get_facecolor()).upper() == field_plot.BALL_COLOUR
    assert legend(axes) == ["blue0", "blue1", "blue2", "yellow0", "yellow1", "yellow2", "ball", "end"]


def test_a_crowd_is_named_by_its_teams(record, tmp_path, drawn):
    scenario = match(9, 8)
    plot_recording(record(standing(scenario), channels_of(scenario), scenario=scenario), path=tmp_path / "a.png")
    axes = drawn[0].axes[0]
    assert legend(axes) == ["blue, 9 robots", "yellow, 8 robots", "ball", "end"]
    assert len(squares(axes)) == 17 and not axes.texts


def test_a_kick_off_leaves_a_gap_in_the_ways(record, tmp_path, drawn):
    scenario = match(2, 2)
    run = record(kicked_off(scenario), channels_of(scenario), scenario=scenario)
    plot_recording(run, path=tmp_path / "a.png")
    for name, largest in (("ball", 0.011), ("blue0", 0.02)):
        pieces = [np.hypot(*np.diff(piece, axis=0).T) for piece in vertices(drawn[0].axes[0], name)]
        steps = np.concatenate(pieces)
        assert np.nanmax(steps) < largest
        assert 0 < np.isnan(steps).sum() <= 4


def test_a_fast_ball_leaves_none():
    times = 0.01 * np.arange(50)
    points = np.column_stack([4.0 * times, np.zeros(50)])
    assert not field_plot._jumps(points, times, np.full(49, 4.0), 2 * RADIUS).any()
    points[30:] = 0.0
    assert np.flatnonzero(field_plot._jumps(points, times, np.full(49, 4.0), 2 * RADIUS)).tolist() == [29]


def test_a_robot_out_of_play_is_not_drawn(record, tmp_path, drawn):
    scenario = match(3, 0)
    rows = standing(scenario)
    rows[20:, 6] = 0.0
    rows[20:, 0] = 5.0  # where it was put meanwhile is of no interest
    plot_recording(record(rows, channels_of(scenario), scenario=scenario), path=tmp_path / "a.png")
    axes = drawn[0].axes[0]
    assert len(squares(axes)) == 2
    drawn_places = np.concatenate(vertices(axes, "blue0"))
    assert np.nanmax(drawn_places[:, 0]) < 0.0 and np.isnan(drawn_places).any()


def test_the_score_is_told_and_steps(record, tmp_path, drawn):
    scenario = match(2, 2)
    plot_recording(
        record(kicked_off(scenario), channels_of(scenario), scenario=scenario), path=tmp_path / "a.png", title="final"
    )
    field, ball, goals = drawn[0].axes
    assert field.get_title(loc="left") == "blue 1 : 0 yellow" and drawn[0].get_suptitle() == "final"
    assert ball.get_ylabel() == "x [m]" and goals.get_ylabel() == "goals" and goals.get_xlabel() == "time [s]"
    blue, yellow = goals.lines
    assert blue.get_drawstyle() == yellow.get_drawstyle() == "steps-post"
    assert (blue.get_ydata()[0], blue.get_ydata()[-1], yellow.get_ydata()[-1]) == (0.0, 1.0, 0.0)
    assert goals.get_ylim()[1] > 1.0


def test_few_robots_show_their_velocities_and_no_score_without_goals(record, tmp_path, drawn):
    scenario = match(1, 0)
    plot_recording(record(standing(scenario), channels_of(scenario), scenario=scenario), path=tmp_path / "a.png")
    assert [axes.get_ylabel() for axes in drawn[0].axes] == ["y [m]", "vx [m/s]", "yaw rate [rad/s]"]
    assert drawn[0].axes[0].get_title(loc="left") == ""


def test_chosen_channels_lie_on_the_field_too(record, tmp_path, drawn):
    scenario = match(3, 3)
    run = record(standing(scenario), channels_of(scenario), scenario=scenario)
    plot_recording(run, ["ball/pose", "blue1/pose", "match/score"], path=tmp_path / "a.png")
    assert sorted(ways(drawn[0].axes[0])) == ["ball", "blue1"]
    assert drawn[0].axes[1].get_ylabel() == "goals"
    plot_recording(run, ["*/twist"], path=tmp_path / "a.png")
    assert drawn[1].axes[0].get_ylabel() == "vx [m/s]"


def test_markings_of_size_zero_are_left_out(record, tmp_path, drawn):
    scenario = match(1, 1, center_radius=0.0, penalty_depth=0.0, penalty_point=0.0, corner=0.0)
    plot_recording(record(standing(scenario), channels_of(scenario), scenario=scenario), path=tmp_path / "a.png")
    axes = drawn[0].axes[0]
    assert not [patch for patch in axes.patches if isinstance(patch, Circle) and not patch.get_fill()]
    quiet = [line for line in axes.lines if line.get_color() == field_plot.MARKING]
    assert len(quiet) == 3  # the middle and the two goal lines


def test_other_families_have_no_field(record, tmp_path, drawn):
    plot_recording(record(circle(50), PLANAR), path=tmp_path / "a.png")
    assert not ways(drawn[0].axes[0]) and legend(drawn[0].axes[0]) == ["start", "end"]
    assert field_plot.recorded_match({"engine": "soccer", "robots": "lost"}) is None
