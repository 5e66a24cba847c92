"""Report and drawing of wheeled robots."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from robots_to_draw import ROBOTS, model_of

from botz.errors import InputError
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics.schema import WheeledRobot
from botz.view.wheel_drawing import draw_robot
from botz.view.wheel_example import example_inputs, settled_pivots
from botz.view.wheel_report import print_wheel_report, wheel_report

CORNERS = [("front", "left"), ("front", "right"), ("rear", "left"), ("rear", "right")]


def printed(report: dict, width: int = 80) -> str:
    console = Console(file=StringIO(), width=width, color_system=None)
    print_wheel_report(report, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_differential_drive_of_the_source():
    """b = 0.4 m, r = 0.1 m: J_q [1 0 ±b/2], C_q [0 1 0], v = r (ω_D + ω_E) / 2, θ' = r (ω_D − ω_E) / b."""
    report = wheel_report(model_of("differential"), np.array([6.0, 2.0]))
    assert report["J_q"] == {"rows": ["right", "left"], "matrix": [[1, 0, 0.2], [1, 0, -0.2]]}
    np.testing.assert_allclose(report["C_q"]["matrix"], [[0, 1, 0], [0, 1, 0]], atol=1e-15)
    assert (report["mobility"], report["steerability"], report["manoeuvrability"]) == (2, 0, 2)
    np.testing.assert_allclose(report["forward"]["K"], [[0.05, 0.05], [0, 0], [0.25, -0.25]], atol=1e-15)
    np.testing.assert_allclose(report["forward"]["twist"], [0.4, 0.0, 1.0], atol=1e-14)
    assert report["icr"]["at"] == "point"
    np.testing.assert_allclose([report["icr"]["x"], report["icr"]["y"]], [0.0, 0.4], atol=1e-14)
    right, left = report["wheels"]
    degrees = np.degrees([right["phi"], right["alpha"], left["phi"], left["alpha"]])
    np.testing.assert_allclose(degrees, [-90.0, 180.0, 90.0, 0.0], atol=1e-12)
    assert right["l"] == left["l"] == pytest.approx(0.2)
    forward, sideways, turning = report["inverse"]
    assert forward["inputs"] == {"right/speed": pytest.approx(10.0), "left/speed": pytest.approx(10.0)}
    assert turning["inputs"] == {"right/speed": pytest.approx(2.0), "left/speed": pytest.approx(-2.0)}
    assert sideways["inputs"] is None and "slip sideways" in sideways["reason"]


def test_the_matrices_turn_with_the_robot():
    report = wheel_report(model_of("differential"), np.array([1.0, 1.0]), theta=np.pi / 2)
    np.testing.assert_allclose(report["J_q"]["matrix"], [[0, 1, 0.2], [0, 1, -0.2]], atol=1e-15)
    np.testing.assert_allclose(report["C_q"]["matrix"], [[-1, 0, 0], [-1, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(report["forward"]["world_velocity"], [0.0, 0.1, 0.0], atol=1e-15)


def test_the_bicycle_turns_about_the_meeting_of_its_axles():
    """ICR at (0, L / tan δ); the front wheel rolls L / (r sin δ) times as fast as the body turns."""
    delta = np.radians(30.0)
    report = wheel_report(model_of("bicycle"), np.array([2.0, delta]))
    turn = 0.3 * 2.0 * np.tan(delta)
    np.testing.assert_allclose([report["icr"]["x"], report["icr"]["y"]], [0.0, 1.0 / np.tan(delta)], atol=1e-12)
    rates = {rate["wheel"]: rate for rate in report["rates"]}
    assert rates["front"]["rotation"] == pytest.approx(turn / np.sin(delta) / 0.3)
    assert not rates["front"]["set_by_motor"] and rates["rear"]["set_by_motor"]
    assert (report["mobility"], report["steerability"], report["manoeuvrability"]) == (1, 1, 2)


def test_what_nothing_determines_is_named():
    report = wheel_report(model_of("ball"))
    np.testing.assert_allclose(np.abs(report["free_directions"]), [[0, 0, 1]], atol=1e-12)
    assert report["forward"]["rank"] == 2
    assert "rotation" in report["inverse"][2]["reason"]
    assert report["icr"] == {"at": "infinity", "x": None, "y": None}
    assert wheel_report(model_of("differential"))["free_directions"] == []


def test_wheels_that_disagree_slip():
    """Two wheels of a side, driven alike: turning on the spot tears all four sideways."""
    report = wheel_report(model_of("skid-steer"), np.array([-1.0, 1.0]))
    slip = {one["row"]: one["velocity"] for one in report["forward"]["slip"]}
    turn = report["forward"]["twist"][2]
    assert slip["left_front lateral"] == pytest.approx(0.2 * turn) and abs(turn) > 0.01
    assert report["forward"]["largest_slip"] >= abs(0.2 * turn) - 1e-12
    assert "disagree" in printed(report)


def test_a_settled_castor_trails_without_sliding():
    """Its lateral velocity vanishes, and a small swing from there dies out."""
    model = model_of("castor")
    for twist in ([0.5, 0.0, 0.8], [-0.5, 0.0, 0.8], [0.3, 0.0, -2.0]):
        settled = settled_pivots(model, np.array(twist))

        def rate(swing: float, settled=settled, twist=twist) -> float:
            psi = model.wheel_headings(castor=settled + swing)
            lateral = model.rows(psi)[5]
            return -float(lateral @ twist) / model.offset[2]

        assert rate(0.0) == pytest.approx(0.0, abs=1e-12)
        assert rate(1e-4) < 0.0 < rate(-1e-4)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_has_an_example_and_a_report_in_json(name):
    model = model_of(name)
    inputs = example_inputs(model)
    twist, slip = model.forward(inputs)
    assert np.abs(twist).max() > 0.01
    if name != "skid-steer":
        assert np.abs(slip).max() < 1e-9
    report = wheel_report(model)
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert [one["value"] for one in report["inputs"]] == pytest.approx(inputs.tolist())


def test_long_names_are_not_cut():
    specs = ROBOTS["mecanum"]["wheels"].values()
    wheels = {f"{end}_{side}_wheel": spec for (end, side), spec in zip(CORNERS, specs, strict=True)}
    model = WheeledRobotModel(WheeledRobot.model_validate({"wheels": wheels}))
    text = printed(wheel_report(model))
    assert "…" not in text and "front_right_wheel/speed" in text


@pytest.mark.parametrize("name", ROBOTS)
def test_every_report_prints_within_eighty_columns(name):
    text = printed(wheel_report(model_of(name)))
    assert max(len(line) for line in text.splitlines()) <= 80
    for part in ("x [m]", "α [°]", "J_q", "C_q", "Mobility", "Forward kinematics", "Inverse kinematics"):
        assert part in text
    assert "…" not in text


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_is_drawn(name, tmp_path):
    path = draw_robot(model_of(name), tmp_path / f"{name}.png", title=name)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 10_000


@pytest.mark.parametrize("ending, magic", [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_drawings_in_other_formats(tmp_path, ending, magic):
    assert draw_robot(model_of("castor"), tmp_path / f"a.{ending}").read_bytes().startswith(magic)


@pytest.mark.parametrize("inputs", [[0.0, 0.0], [1.0, 1.0], [1.0, -1.0], [1.0, 1.0001], [-1.0, -2.0]])
def test_any_motion_can_be_drawn(tmp_path, inputs):
    """At rest, straight, on the spot, about a point far away, backwards."""
    assert draw_robot(model_of("castor"), tmp_path / "a.png", inputs=np.array(inputs)).exists()
    report = wheel_report(model_of("castor"), np.array(inputs))
    at = "nowhere" if inputs == [0.0, 0.0] else "infinity" if inputs == [1.0, 1.0] else "point"
    assert report["icr"]["at"] == at


@pytest.mark.parametrize("inputs", [[1.0], [1.0, 2.0, 3.0], [1.0, np.nan]])
def test_wrong_inputs_are_input_errors(tmp_path, inputs):
    with pytest.raises(InputError, match=r"needs 2 finite numbers .*right/speed"):
        wheel_report(model_of("differential"), np.array(inputs))
    with pytest.raises(InputError, match="inputs"):
        draw_robot(model_of("differential"), tmp_path / "a.png", inputs=np.array(inputs))


def test_an_unknown_format_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="choose from"):
        draw_robot(model_of("differential"), tmp_path / "a.jpg")
