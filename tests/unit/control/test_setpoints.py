"""References on the way to setpoints: within their limits, there in time, and the short way round."""

from __future__ import annotations

from math import e, pi, radians, sqrt
from typing import Any

import numpy as np
import pytest

from botz.control.flight.setpoints import AXES, Course, SmoothAxis, SoftAxis, short_way, turned
from botz.scenario.multibody.flight import FlightLimits, Setpoint

DT = 0.004


def way(axis: SmoothAxis, goal: float, duration: float, dt: float = DT) -> np.ndarray:
    """Rows of value, rate and acceleration."""
    rows = []
    for _ in range(round(duration / dt)):
        axis.go_on(goal, dt)
        rows.append(axis.plain()[:3])
    return np.array(rows)


def course(*setpoints: dict[str, float], smoothing: float = 50.0, **start: float) -> Course:
    begin = dict.fromkeys(AXES, 0.0) | start
    return Course([Setpoint.model_validate(one) for one in setpoints], FlightLimits(), begin, smoothing)


def fly(one: Course, duration: float, since: float = 0.0) -> Course:
    for k in range(round(duration / DT)):
        one.go_on(since + k * DT, DT)
    return one


# --- one axis --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way_m", "duration"),
    [(4.0, 4.0 / 2.0 + 2.0 / 1.0), (1.0, 2.0 * sqrt(1.0 / 1.0)), (-9.0, 9.0 / 2.0 + 2.0)],
    ids=["trapezium", "triangle", "backwards"],
)
def test_a_way_takes_as_long_as_its_trapezium(way_m: float, duration: float):
    """d/v + v/a with v = 2 and a = 1 where it gets that fast, 2 √(d/a) where it does not; a step more at each end."""
    rows = way(SmoothAxis(0.0, 2.0, 1.0), way_m, duration + 1.0)
    arrived = (1 + int(np.argmax(rows[:, 0] == way_m))) * DT
    assert arrived == pytest.approx(duration, abs=2.5 * DT)
    assert (rows[rows[:, 0] == way_m, 1][1:] == 0.0).all()


def test_it_turns_round_for_another_goal_and_passes_none():
    axis = SmoothAxis(0.0, 2.0, 1.0)
    way(axis, 10.0, 2.0)
    assert axis.rate == pytest.approx(2.0)
    rows = way(axis, 0.0, 8.0)
    # From 2 m/s it needs 2 m to turn.
    assert rows[:, 0].max() == pytest.approx(2.0 + 2.0, abs=2.0 * DT * 2.0)
    assert axis.value == 0.0 and axis.rate == 0.0 and rows[:, 0].min() > -1e-15


def test_other_limits_hold_from_then_on():
    axis = SmoothAxis(0.0, 2.0, 1.0)
    way(axis, 100.0, 5.0)
    axis.limit(0.5, 4.0)
    assert axis.limits == [0.5, 4.0]
    rows = way(axis, 100.0, 2.0)
    assert rows[-1, 1] == 0.5 and rows[:, 2].min() == pytest.approx(-4.0)


def test_soft_accelerations_change_as_fast_as_is_said():
    w, a = 5.0, 1.0
    rows = way(SoftAxis(0.0, 2.0, a, w), 30.0, 6.0, dt=1e-4)
    jerk = np.diff(rows[:, 2]) / 1e-4
    # One step Δ = a of the acceleration: w Δ/e, at 1/w after it.
    assert jerk[:10000].max() == pytest.approx(w * a / e, rel=2e-3)
    assert np.argmax(jerk[:10000]) * 1e-4 == pytest.approx(1.0 / w, abs=2e-3)
    # In steady motion it is 2/w behind.
    assert 30.0 - rows[-1, 0] > 0.0 and rows[-1, 1] == pytest.approx(2.0, rel=1e-6)
    assert rows[-1, 0] == pytest.approx(2.0 * (6.0 - 1.0) - 2.0 * 2.0 / w, abs=1e-3)


def test_a_shifted_axis_goes_on_smoothly_from_there():
    axis = SoftAxis(0.0, 2.0, 1.0, 5.0)
    way(axis, 3.0, 1.0)
    axis.shift(1.0 - axis.value, 0.4 - axis.rate)
    assert (axis.value, axis.rate) == (pytest.approx(1.0), pytest.approx(0.4))
    rows = way(axis, 3.0, 8.0)
    assert abs(rows[0, 1] - 0.4) < 2.0 * DT and rows[-1, 0] == pytest.approx(3.0, abs=1e-9)
    assert np.abs(rows[:, 2]).max() < 1.5


# --- a course --------------------------------------------------------------------------------------------------------


def test_setpoints_need_not_be_in_order_and_keep_what_they_leave_out():
    one = course({"at": 2.0, "x": 5.0}, {"at": 1.0, "x": 3.0, "z": 1.0})
    fly(one, 1.0)
    assert one.goal["x"] == 0.0 and one["x"].value == 0.0 and not one.given
    fly(one, 0.5, since=1.0)
    assert (one.goal["x"], one.goal["z"]) == (3.0, 1.0)
    fly(one, 5.0, since=1.5)
    assert (one.goal["x"], one.goal["z"]) == (5.0, 1.0) and one.given == {"x", "z"}
    assert (one["x"].value, one["z"].value) == (pytest.approx(5.0, abs=1e-3), pytest.approx(1.0, abs=1e-9))


def test_of_y_and_roll_the_last_one_counts():
    one = course({"at": 0, "y": 1.0}, {"at": 1, "roll": 0.1}, {"at": 2, "y": 0.0})
    assert fly(one, 0.5).given == {"y"}
    assert fly(one, 1.0, since=0.5).given == {"roll"}
    assert fly(one, 1.0, since=1.5).given == {"y"}


@pytest.mark.parametrize(
    ("start", "wanted", "end"),
    [(170, -170, 190), (-170, 170, -190), (0, 180, 180), (0, -180, -180), (10, 270, -90), (0, 360, 0), (90, 180, 180)],
)
def test_yaw_goes_the_short_way_and_half_a_turn_as_it_is_written(start: float, wanted: float, end: float):
    one = fly(course({"at": 0, "yaw": radians(wanted)}, yaw=radians(start)), 10.0)
    assert one["yaw"].value == pytest.approx(radians(end), abs=1e-9)


def test_yaw_turns_on_through_all_of_a_square():
    one = course(*({"at": 5.0 * k, "yaw": radians(90 * k % 360)} for k in range(1, 6)))
    assert fly(one, 32.0)["yaw"].value == pytest.approx(radians(450), abs=1e-9)


def test_turns():
    assert short_way(pi) == pi and short_way(-pi) == -pi
    assert short_way(1.5 * pi) == pytest.approx(-0.5 * pi) and short_way(-2.0 * pi) == pytest.approx(0.0)
    assert turned(7.0) == pytest.approx(7.0 - 2.0 * pi) and turned(-4.0) == pytest.approx(2.0 * pi - 4.0)


def test_let_go_across_a_heading_leaves_the_way_along_it():
    one = fly(course({"at": 0, "x": 2.0, "y": 1.0}), 1.0)
    x, y, rate = one["x"].value, one["y"].value, one["x"].rate
    heading = radians(30.0)
    side = (-np.sin(heading), np.cos(heading))
    position, velocity = (5.0, -3.0), (0.2, 0.7)
    one.let_go(side, position, velocity)
    along = np.array([np.cos(heading), np.sin(heading)])
    now, speed = np.array([one["x"].value, one["y"].value]), np.array([one["x"].rate, one["y"].rate])
    assert now @ side == pytest.approx(np.dot(position, side)) and speed @ side == pytest.approx(np.dot(velocity, side))
    assert now @ along == pytest.approx(along @ [x, y]) and speed @ along == pytest.approx(rate * along.sum())
    plain: Any = one.plain()
    assert all(type(value) is float for values in plain["axes"].values() for value in values)


def test_a_course_goes_on_from_its_plain_state_bit_for_bit():
    points: list[dict[str, float]] = [
        {"at": 0.3, "x": 2.0, "yaw": 3.0}, {"at": 1.0, "y": -1.0}, {"at": 1.5, "roll": 0.2},
    ]  # fmt: skip
    one = fly(course(*points, yaw=0.4), 1.2)
    other = course(*points)
    other.take(one.plain())
    for same in (one, other):
        fly(same, 1.0, since=1.2)
    assert other.plain() == one.plain() and other["x"].value != 0.0
