"""Pictures of recordings: they are made, in the format asked for, of what was asked for."""

from __future__ import annotations

import threading
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from recorded_runs import PLANAR, circle

from botz.channels import Channel
from botz.errors import InputError
from botz.view import plots
from botz.view.plots import plot_recording
from botz.view.selection import choose, headings, thin
from botz.view.style import save as write_picture

MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture
def drawn(monkeypatch):
    """The figure that a plot saves, beside the file."""
    figures = []

    def keep(figure, path):
        figures.append(figure)
        return write_picture(figure, path)

    monkeypatch.setattr(plots, "save", keep)
    return figures


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize("ending", MAGIC)
def test_the_ending_chooses_the_format(record, tmp_path, ending):
    path = plot_recording(record(circle(200)), path=tmp_path / "new" / f"picture.{ending}")
    assert path.read_bytes().startswith(MAGIC[ending])
    assert path.stat().st_size > 2000


@pytest.mark.parametrize("name", ["picture.gif", "picture", "picture.png.txt"])
def test_an_unknown_format_names_the_choices(record, tmp_path, name):
    with pytest.raises(InputError, match=r"choose from: \.png, \.svg, \.pdf"):
        plot_recording(record(circle(20)), path=tmp_path / name)
    assert not (tmp_path / name).exists()


def test_a_path_that_cannot_be_written_is_an_input_error(record, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        plot_recording(record(circle(20)), path=tmp_path / "file" / "picture.png")


def test_the_overview_shows_path_and_velocities(record, tmp_path, drawn):
    plot_recording(record(circle(300)), path=tmp_path / "a.png", title="once around")
    path, linear, angular = drawn[0].axes
    assert (path.get_xlabel(), path.get_ylabel()) == ("x [m]", "y [m]")
    assert linear.get_ylabel() == "vx [m/s]" and texts(linear) == ["vivi/twist.vx"]
    assert angular.get_ylabel() == "yaw rate [rad/s]" and angular.get_xlabel() == "time [s]"
    assert drawn[0].get_suptitle() == "once around"


def test_paths_have_equal_scales_and_lie_inside(record, tmp_path, drawn):
    plot_recording(record(circle(300, radius=2.0)), path=tmp_path / "a.png", trajectory=True)
    (axes,) = drawn[0].axes
    box = axes.get_window_extent()
    across = np.ptp(axes.get_xlim()) / box.width
    assert np.ptp(axes.get_ylim()) / box.height == pytest.approx(across, rel=1e-9)
    assert axes.get_xlim()[0] < -2.0 and axes.get_xlim()[1] > 2.0
    assert axes.get_ylim()[0] < 0.0 and axes.get_ylim()[1] > 4.0


def test_trajectory_chooses_between_paths_and_time(record, tmp_path, drawn):
    run = record(circle(50))
    for trajectory in (None, True, False):
        plot_recording(run, ["vivi/pose", "vivi/left/speed"], path=tmp_path / "a.png", trajectory=trajectory)
    labels = [[axes.get_ylabel() for axes in figure.axes] for figure in drawn]
    assert labels[0] == labels[1] == ["y [m]", "speed [rad/s]"]
    assert labels[2] == ["position [m]", "heading [rad]", "speed [rad/s]"]


def test_a_component_is_drawn_over_time_and_as_a_path_only_with_both(record, tmp_path, drawn):
    run = record(circle(50))
    plot_recording(run, ["vivi/pose.x", "vivi/pose.y"], path=tmp_path / "a.png")
    plot_recording(run, ["vivi/pose.x", "vivi/pose.y"], path=tmp_path / "a.png", trajectory=True)
    assert [axes.get_ylabel() for axes in drawn[0].axes] == ["position [m]"]
    assert [axes.get_ylabel() for axes in drawn[1].axes] == ["y [m]"]
    with pytest.raises(InputError, match=r"nothing with both x and y.*vivi/pose"):
        plot_recording(run, ["vivi/pose.x"], path=tmp_path / "a.png", trajectory=True)


def test_patterns_choose_channels_and_components_once(record):
    run = record(circle(10))
    assert [c.name for c in choose(run, ["vivi/left/*", "*/speed"])] == ["vivi/left/speed", "vivi/left/ticks"]
    assert [c.name for c in choose(run, ["*.v?"])] == ["vivi/twist.vx", "vivi/twist.vy"]
    assert len(choose(run, ["*"])) == 8


def test_all_unknown_channels_are_named_with_the_closest(record, tmp_path):
    with pytest.raises(InputError) as caught:
        plot_recording(record(circle(10)), ["vivi/poze", "vivi/pose.q", "hugo/*"], path=tmp_path / "a.png")
    first, second, third = map(str, caught.value.problems)
    assert "unknown channel 'vivi/poze'; did you mean 'vivi/pose'?" in first
    assert "did you mean 'vivi/pose." in second
    assert "no channel matches 'hugo/*'" in third


def test_units_share_axes_until_they_are_crowded(record, tmp_path, drawn):
    channels = [Channel(f"r/w{k}/{name}", "rad/s", "") for k in range(5) for name in ("speed", "roller_speed")]
    plot_recording(record(np.zeros((5, 10)), channels), ["*"], path=tmp_path / "a.png")
    plot_recording(record(np.zeros((5, 10)), channels), ["r/w0/*"], path=tmp_path / "a.png")
    assert [axes.get_ylabel() for axes in drawn[0].axes] == ["speed [rad/s]", "roller speed [rad/s]"]
    assert [axes.get_ylabel() for axes in drawn[1].axes] == ["angular velocity [rad/s]"]


def test_a_long_legend_is_cut(record, tmp_path, drawn):
    channels = [Channel(f"r/w{k}/speed", "rad/s", "") for k in range(30)]
    plot_recording(record(np.zeros((3, 30)), channels), ["*"], path=tmp_path / "a.svg")
    assert texts(drawn[0].axes[0])[-1] == "… and 15 more"
    assert len(drawn[0].axes[0].get_lines()) == 30


def test_an_incomplete_recording_says_so(record, tmp_path, drawn):
    plot_recording(record(circle(2000), closed=False), path=tmp_path / "a.png")
    plot_recording(record(circle(200), name="whole"), path=tmp_path / "b.png")
    assert "incomplete" in drawn[0].axes[0].get_title(loc="left")
    assert drawn[1].axes[0].get_title(loc="left") == ""


def test_no_samples_is_an_input_error(record, tmp_path):
    with pytest.raises(InputError, match="no samples"):
        plot_recording(record(np.zeros((0, 8))), path=tmp_path / "a.png")


@pytest.mark.parametrize("count", [1, 2])
def test_very_short_runs_and_runs_at_rest_are_drawn(record, tmp_path, count):
    plot_recording(record(np.zeros((count, 8))), path=tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()


def test_gaps_and_infinities_are_left_out(record, tmp_path, drawn):
    rows = circle(100)
    rows[40:50, :3] = np.nan
    rows[60, 6] = np.inf
    plot_recording(record(rows), ["vivi/pose", "vivi/left/speed"], path=tmp_path / "a.png")
    assert np.isfinite(drawn[0].axes[0].get_xlim()).all()
    assert np.isfinite(drawn[0].axes[1].get_ylim()).all()


def test_poses_in_space_are_seen_from_above_with_their_height(record, tmp_path, drawn):
    names = ("x", "y", "z", "qw", "qx", "qy", "qz")
    rows = np.zeros((20, 7))
    rows[:, 0], rows[:, 2], rows[:, 3] = np.arange(20), np.arange(20) ** 2, 1.0
    plot_recording(record(rows, [Channel("kite/pose", "m, m, m, 1, 1, 1, 1", "", names)]), path=tmp_path / "a.png")
    assert [axes.get_ylabel() for axes in drawn[0].axes] == ["y [m]", "z [m]"]


def test_the_heading_of_a_quaternion_is_its_yaw():
    channel = Channel("kite/pose", "m, m, m, 1, 1, 1, 1", "", ("x", "y", "z", "qw", "qx", "qy", "qz"))
    yaw = np.array([-2.0, 0.3, 3.0])
    values = np.column_stack([np.zeros((3, 3)), np.cos(yaw / 2), np.zeros((3, 2)), np.sin(yaw / 2)])
    np.testing.assert_allclose(headings(channel, values), yaw, atol=1e-12)
    assert headings(Channel("a/place", "m", "", ("x", "y")), np.zeros((3, 2))) is None


def test_odometry_is_drawn_only_where_it_strays(record, tmp_path, drawn):
    channels = [*PLANAR, Channel("vivi/odometry/pose", "m, m, rad", "", ("x", "y", "heading"))]
    for shift in (0.0, 0.3):
        rows = circle(100)
        plot_recording(record(np.hstack([rows, rows[:, :3] + shift]), channels), path=tmp_path / "a.png")
    assert "vivi/odometry" not in texts(drawn[0].axes[0])
    assert "vivi/odometry" in texts(drawn[1].axes[0])


@pytest.mark.parametrize("body", [{"length": 0.4, "width": 0.2}, {"length": "far"}, [1, 2], {"outline": [[0, 0]]}])
def test_a_recording_with_any_body_can_be_drawn(record, tmp_path, body):
    scenario = {"robots": {"vivi": {"body": body}}}
    assert plot_recording(record(circle(60), scenario=scenario), path=tmp_path / "a.png").exists()


@pytest.mark.parametrize("width", [1, 2])
def test_thinning_keeps_ends_peaks_and_gaps(width):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(100_003, width))
    values[51_234, 0], values[77_777, -1] = 40.0, -50.0
    values[60_000, 0] = np.nan
    kept = thin(values, 1000)
    assert len(kept) <= 1000
    assert (np.diff(kept) > 0).all()
    assert {0, 100_002, 51_234, 77_777, 60_000} <= set(kept.tolist())


def test_short_series_are_not_thinned():
    np.testing.assert_array_equal(thin(np.arange(20_000.0)), np.arange(20_000))


def test_the_same_recording_gives_the_same_picture(record, tmp_path):
    run = record(circle(50))
    first = plot_recording(run, path=tmp_path / "a.png").read_bytes()
    assert plot_recording(run, path=tmp_path / "b.png").read_bytes() == first


def test_matplotlib_keeps_its_settings(record, tmp_path):
    before = dict(matplotlib.rcParams)
    run = record(circle(50))
    failures: list[BaseException] = []

    def draw(name: str) -> None:
        try:
            plot_recording(run, path=tmp_path / name)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=draw, args=(f"{k}.png",)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert dict(matplotlib.rcParams) == before
    assert len({Path(tmp_path / f"{k}.png").read_bytes() for k in range(3)}) == 1
