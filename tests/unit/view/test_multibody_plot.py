"""The overview of multibody runs: what is shown of which robot, angles at half a turn, and moments of manoeuvres."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from botz.channels import Channel
from botz.scenario.multibody.schema import MultibodyScenario
from botz.view.multibody.plot import (
    drawn_angle,
    marks_of,
    multibody_figure,
    part_look,
    recorded_multibody,
    robot_panels,
)
from botz.view.plots import plot_recording

POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")
LINKS = {"body": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}}
COUNT = 200


def channels(robot: str) -> list[Channel]:
    return [
        Channel(f"{robot}/pose", "m, m, m, 1, 1, 1, 1", "", POSE),
        Channel(f"{robot}/attitude", "rad", "", ("roll", "pitch", "yaw")),
        Channel(f"{robot}/tilt/position", "rad", ""),
        Channel(f"{robot}/tilt/speed", "rad/s", ""),
        Channel(f"{robot}/spin/position", "rad", ""),
        Channel(f"{robot}/spin/speed", "rad/s", ""),
        Channel(f"{robot}/lift/position", "m", ""),
        Channel(f"{robot}/rotor/thrust", "N", ""),
    ]


def rows(forward: float = 2.0, yaw: float = 0.0) -> np.ndarray:
    t = np.linspace(0.0, 1.0, COUNT)
    zero, one = 0 * t, 1 + 0 * t
    angle = np.arctan2(np.sin(yaw * t), np.cos(yaw * t))
    pose = [forward * t, zero, 1 + 0.1 * t, one, zero, zero, zero]
    return np.column_stack([*pose, zero, 0.1 * t, angle, 0.2 * t, 0.2 * one, -400 * t, -400 * one, 0.3 * t, 5 * one])


def scenario(*robots: str, controllers: dict[str, Any] | None = None) -> dict[str, Any]:
    placed = {name: {"links": LINKS} for name in robots}
    return {"engine": "multibody", "name": "flight", "robots": placed, "controllers": controllers or {}}


def test_panels_of_a_robot_alone(record):
    recording = record(rows(0.4), channels("bot"), scenario=scenario("bot"))
    panels = robot_panels(recording, "bot", alone=True)
    labels = ["position [m]", "attitude [rad]", "|speed| [rad/s]", "thrust [N]", "joints [rad]", "joints [m]"]
    assert [panel.label for panel in panels] == labels
    named = [[line.label for line in panel.lines] for panel in panels]
    assert named == [["x", "y", "z"], ["roll", "pitch", "yaw"], ["spin"], ["rotor"], ["tilt"], ["lift"]]
    assert panels[2].lines[0].values == pytest.approx(np.full(COUNT, 400.0)), "without its sign"
    assert panels[0].lines[0].values[-1] == pytest.approx(0.4)


def test_a_long_way_does_not_press_the_height_flat(record):
    recording = record(rows(30.0), channels("bot"), scenario=scenario("bot"))
    panels = robot_panels(recording, "bot", alone=True)[:2]
    shown = [(panel.label, [line.label for line in panel.lines]) for panel in panels]
    assert shown == [("position [m]", ["x", "y"]), ("height [m]", ["z"])]


def test_of_several_robots_position_and_attitude(record):
    both = np.hstack([rows(), rows(1.0)])
    recording = record(both, channels("one") + channels("two"), scenario=scenario("one", "two"))
    spec = recorded_multibody(recording)
    assert spec is not None
    figure = multibody_figure(recording, spec, title="two")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["y [m]", "z [m]"] + [
        f"{n}: {w}" for n in ("one", "two") for w in ("position [m]", "attitude [rad]")
    ]


def test_views_only_of_what_goes_somewhere(record):
    still, away = (
        record(rows(forward), channels("bot"), name=f"go{forward:g}", scenario=scenario("bot"))
        for forward in (0.1, 2.0)
    )
    counts = []
    for recording in (still, away):
        spec = recorded_multibody(recording)
        assert spec is not None
        counts.append(len(multibody_figure(recording, spec, title="").axes))
    assert counts[1] == counts[0] + 3, "two views, and a panel for the height"
    # Both views have one scale.
    figure = multibody_figure(away, spec, title="")
    scales = []
    for axes in figure.axes[:2]:
        low, high = axes.get_xlim()
        box = axes.get_window_extent()
        bottom, top = axes.get_ylim()
        scales += [(high - low) / box.width, (top - bottom) / box.height]
    assert scales == pytest.approx([scales[0]] * 4)


def test_trembling_does_not_fill_an_axis(record):
    values = rows()
    values[:, 10] = 1e-6 * np.sin(np.arange(COUNT))  # the tilt
    recording = record(values, channels("bot"), scenario=scenario("bot"))
    spec = recorded_multibody(recording)
    assert spec is not None
    axes = next(a for a in multibody_figure(recording, spec, title="").axes if a.get_ylabel() == "joints [rad]")
    assert np.ptp(axes.get_ylim()) >= 0.02


def test_an_angle_that_turns_on_jumps_at_half_a_turn_with_a_gap():
    whole = np.linspace(0.0, -9.0, 901)
    shown = drawn_angle(np.arctan2(np.sin(whole), np.cos(whole)))
    gaps = np.flatnonzero(np.isnan(shown))
    assert whole[gaps] == pytest.approx([-np.pi], abs=0.011)
    assert np.nanmax(np.abs(shown)) <= np.pi + 1e-9


def test_an_angle_that_lingers_at_half_a_turn_stays_at_one_end():
    whole = np.concatenate([np.linspace(0.0, 3.3, 100), 3.1416 + 1e-3 * np.sin(np.arange(300.0))])
    shown = drawn_angle(np.arctan2(np.sin(whole), np.cos(whole)))
    assert shown == pytest.approx(whole)


def test_gaps_of_a_broken_recording_stay_gaps():
    angles = np.array([0.0, 0.1, np.nan, 0.3])
    assert np.isnan(drawn_angle(angles)).tolist() == [False, False, True, False]


def test_lines_on_each_other_stay_visible():
    values = [np.ones(5), np.ones(5), np.full(5, 2.0)]
    first, second, apart = (part_look(k, values) for k in range(3))
    assert first["linewidth"] > second["linewidth"] and second["zorder"] > first["zorder"]
    assert "linestyle" not in first and "linestyle" in second and "linestyle" not in apart


def test_moments_of_manoeuvres_and_setpoints():
    manoeuvres = [
        {"at": 5, "until": 7, "add": {"a": 100, "b": -100}},
        {"at": 7, "set": {"tilt_left/position": 0.1, "tilt_right/position": 0.1}},
        {"at": 9, "height": 2.0},
        {"at": 12, "land": True},
    ]
    hover = {"type": "hover", "robot": "bot", "manoeuvres": manoeuvres}
    spec = MultibodyScenario.model_validate(scenario("bot", controllers={"pilot": hover}))
    assert [(mark.time, mark.text) for mark in marks_of(spec)] == [
        (5.0, "±100 rad/s"), (7.0, "tilt 0.1"), (9.0, "z 2 m"), (12.0, "land"),
    ]  # fmt: skip
    points = [{"at": 0, "z": 1.5}, {"at": 4, "x": -3.0, "yaw": "-90 deg"}]
    tilting = {"type": "tilt-quadrotor", "robot": "bot", "setpoints": points}
    spec = MultibodyScenario.model_validate(scenario("bot", controllers={"pilot": tilting}))
    assert [mark.text for mark in marks_of(spec)] == ["z 1.5 m", "x −3 m\nyaw −90°"]


def test_plot_without_channels_is_the_overview(record, tmp_path: Path):
    controllers = {"pilot": {"type": "hover", "robot": "bot", "manoeuvres": [{"at": 0.5, "land": True}]}}
    recording = record(rows(yaw=7.0), channels("bot"), scenario=scenario("bot", controllers=controllers))
    picture = plot_recording(recording, path=tmp_path / "a.svg")
    text = picture.read_text(encoding="utf-8")
    assert "<svg" in text and len(text) > 10_000
    chosen = plot_recording(recording, ["bot/pose.z"], path=tmp_path / "b.svg")
    assert len(chosen.read_text(encoding="utf-8")) < len(text)


@pytest.mark.parametrize(
    "given", [{"engine": "kinematics"}, {"engine": "multibody"}, {"engine": "multibody", "robots": 3}]
)
def test_other_recordings_have_no_such_overview(record, given: dict[str, Any]):
    assert recorded_multibody(record(rows(), channels("bot"), scenario=given)) is None


def test_a_recording_without_poses_has_none(record):
    own = [Channel("bot/rotor/thrust", "N", "")]
    assert recorded_multibody(record(np.ones((5, 1)), own, scenario=scenario("bot"))) is None
