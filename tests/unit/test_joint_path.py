"""Paths of joints: closed forms of their times and peaks, synchrony, splines, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from botz.control.arm.joint_path import JointPath, Limits, quintic, rounded_up, trapezoidal
from botz.control.arm.joint_spline import through_points
from botz.errors import InputError

UNLIMITED = np.inf


def limits_of(speed, acceleration, lower=-UNLIMITED, upper=UNLIMITED, units=None) -> Limits:
    n = len(speed)
    return Limits(
        names=("base", "arm", "hand")[:n],
        units=units or ("rad",) * n,
        speed=np.array(speed, dtype=float),
        acceleration=np.array(acceleration, dtype=float),
        lower=np.broadcast_to(lower, n).astype(float),
        upper=np.broadcast_to(upper, n).astype(float),
    )


def dense(path: JointPath, count: int = 20001):
    t = np.linspace(0.0, path.duration, count)
    return t, *path.sampled(t)


def assert_consistent(path: JointPath, *, rtol: float = 1e-5):
    """Speeds are the derivatives of positions, and accelerations those of speeds; central differences away from the
    joints of the pieces, where the next derivative may jump."""
    t, q, v, a = dense(path)
    h = t[1]
    inside = np.array([np.abs(path.times - moment).min() > 2.0 * h for moment in t[1:-1]])
    for value, rate in ((q, v), (v, a)):
        difference = (value[2:] - value[:-2]) / (2.0 * h)
        assert difference[inside] == pytest.approx(rate[1:-1][inside], abs=rtol * np.abs(rate).max() + 1e-9)


# --- quintic ---------------------------------------------------------------------------------------------------------


def test_a_quintic_limited_by_speed_takes_15_8_of_the_time_at_full_speed():
    path = quintic([0.0, 1.0], [1.5, 0.9], limits_of([0.5, 0.5], [100.0, 100.0]))
    assert path.duration == pytest.approx(15.0 / 8.0 * 1.5 / 0.5)
    speed, acceleration = (peak.max(axis=0) for peak in path.peaks())
    assert speed == pytest.approx([0.5, 0.5 * 0.1 / 1.5])
    # 10/√3 Δ/T²
    assert acceleration == pytest.approx(10.0 / sqrt(3.0) * np.array([1.5, 0.1]) / path.duration**2)


def test_a_quintic_limited_by_acceleration():
    path = quintic([0.0, 1.0], [0.1, 3.0], limits_of([100.0, 100.0], [2.0, 8.0]))
    assert path.duration == pytest.approx(sqrt(10.0 / sqrt(3.0) * 2.0 / 8.0))
    assert path.peaks()[1].max(axis=0) == pytest.approx([8.0 * 0.1 / 2.0, 8.0])


def test_a_quintic_rests_at_both_ends_and_is_its_own_derivative():
    path = quintic([0.3, -1.0], [1.1, 2.0], limits_of([1.0, 1.0], [2.0, 2.0]))
    _, q, v, a = dense(path)
    assert (q[0], q[-1]) == (pytest.approx([0.3, -1.0]), pytest.approx([1.1, 2.0]))
    assert np.abs([v[0], v[-1], a[0], a[-1]]).max() < 1e-12
    assert_consistent(path)
    # Half of the way at half of the time, at 15/8 of the mean speed.
    q, v, a = path.at(0.5 * path.duration)
    assert q == pytest.approx([0.7, 0.5])
    assert v == pytest.approx(15.0 / 8.0 * np.array([0.8, 3.0]) / path.duration)
    assert a == pytest.approx([0.0, 0.0], abs=1e-12)


# --- trapezoidal -----------------------------------------------------------------------------------------------------


def test_a_trapezoid_takes_the_way_by_the_speed_and_once_more_the_ramp():
    path = trapezoidal([0.0], [2.0], limits_of([0.5], [1.0]))
    assert path.duration == pytest.approx(2.0 / 0.5 + 0.5 / 1.0)
    assert path.times == pytest.approx([0.0, 0.5, 4.0, 4.5])
    for t, expected in ((0.25, (0.03125, 0.25, 1.0)), (2.0, (0.875, 0.5, 0.0)), (4.25, (2.0 - 0.03125, 0.25, -1.0))):
        assert [float(value[0]) for value in path.at(t)] == pytest.approx(expected)


def test_a_short_way_is_a_triangle():
    path = trapezoidal([0.0], [-0.09], limits_of([0.5], [1.0]))
    assert path.duration == pytest.approx(2.0 * sqrt(0.09 / 1.0))
    assert len(path.lengths) == 2
    assert path.peaks()[0].max() == pytest.approx(0.3)
    # At v²/a the middle is just gone.
    assert len(trapezoidal([0.0], [0.2499], limits_of([0.5], [1.0])).lengths) == 2
    assert len(trapezoidal([0.0], [0.2501], limits_of([0.5], [1.0])).lengths) == 3


def test_joints_of_a_trapezoid_keep_the_same_phase():
    """One joint allows the least speed of the phase, another the least acceleration: T = 1/V + V/A."""
    limits = limits_of([0.5, 2.0, 1.0], [10.0, 0.5, 10.0])
    path = trapezoidal([0.0, 1.0, 5.0], [2.0, 0.0, 5.0], limits)
    v, a = min(0.5 / 2.0, 2.0 / 1.0), min(10.0 / 2.0, 0.5 / 1.0)
    assert path.duration == pytest.approx(1.0 / v + v / a)
    _, q, _, _ = dense(path)
    assert q[:, 0] / 2.0 == pytest.approx(1.0 - q[:, 1], abs=1e-12)
    assert q[:, 2] == pytest.approx(np.full(len(q), 5.0))
    speed, acceleration = (peak.max(axis=0) for peak in path.peaks())
    assert (speed[0], acceleration[1]) == pytest.approx((0.5, 0.5))
    assert_consistent(path)


# --- durations -------------------------------------------------------------------------------------------------------

PROFILES = [quintic, trapezoidal, lambda a, b, *rest: through_points([a, [0.3, 0.9], b], *rest)]


@pytest.mark.parametrize("profile", PROFILES, ids=["quintic", "trapezoidal", "spline"])
def test_more_time_slows_the_same_path_down(profile):
    limits = limits_of([0.5, 0.5], [1.0, 1.0])
    fast = profile([0.0, 1.0], [1.5, 0.9], limits, None)
    slow = profile([0.0, 1.0], [1.5, 0.9], limits, 3.0 * fast.duration)
    assert slow.duration == pytest.approx(3.0 * fast.duration)
    for t in np.linspace(0.0, 0.99, 12) * fast.duration:
        q, v, a = fast.at(t)
        found = slow.at(3.0 * t)
        assert found[0] == pytest.approx(q)
        assert found[1] == pytest.approx(v / 3.0, abs=1e-9)
        assert found[2] == pytest.approx(a / 9.0, abs=1e-9)


@pytest.mark.parametrize("profile", PROFILES, ids=["quintic", "trapezoidal", "spline"])
def test_too_little_time_is_refused_and_the_least_named_is_enough(profile):
    limits = limits_of([0.5, 0.5], [1.0, 1.0])
    least = profile([0.0, 1.0], [1.5, 0.9], limits, None).duration
    with pytest.raises(InputError, match="joint 'base' would need") as caught:
        profile([0.0, 1.0], [1.5, 0.9], limits, 0.9 * least)
    (problem,) = caught.value.problems
    assert problem.key == "duration"
    named = float(problem.message.split("the least is ")[1].split(" s")[0])
    assert least * (1.0 - 1e-12) <= named < 1.001 * least
    assert profile([0.0, 1.0], [1.5, 0.9], limits, named).duration == named


def test_the_refusal_names_what_decides():
    with pytest.raises(InputError) as caught:
        quintic([0.0, 0.0], [1.0, 0.1], limits_of([0.5, 0.5], [100.0, 100.0]), 1.0)
    assert str(caught.value) == (
        "duration: 1 s are too short: joint 'base' would need 1.875 rad/s, its limit is 0.5 rad/s; the least is 3.75 s"
    )
    with pytest.raises(InputError, match=r"joint 'arm' would need 5\.774 m/s², its limit is 0\.01 m/s²"):
        quintic([0.0, 0.0], [0.0, 1.0], limits_of([0.5, 50.0], [1.0, 0.01], units=("rad", "m")), 1.0)


def test_the_least_is_rounded_up():
    assert [rounded_up(value) for value in (2.34375, 0.0123401, 98765.4, 3.75, 1.0)] == [
        2.344, 0.01235, 98770.0, 3.75, 1.0,
    ]  # fmt: skip


def test_joints_without_limits_need_a_duration():
    free = limits_of([UNLIMITED] * 2, [UNLIMITED] * 2)
    for profile in PROFILES:
        with pytest.raises(InputError, match="nothing limits joint 'base'"):
            profile([0.0, 0.8], [1.0, 1.0], free, None)
        path = profile([0.0, 0.8], [1.0, 1.0], free, 2.0)
        assert path.duration == pytest.approx(2.0)
        assert path.end == pytest.approx([1.0, 1.0])
        assert_consistent(path)


@pytest.mark.parametrize("profile", [quintic, trapezoidal])
def test_nowhere_to_go_takes_no_time_or_the_one_that_is_given(profile):
    limits = limits_of([0.5, 0.5], [1.0, 1.0])
    none = profile([0.2, 0.3], [0.2, 0.3], limits)
    assert none.duration == 0.0
    assert [value.tolist() for value in none.at(0.0)] == [[0.2, 0.3], [0.0, 0.0], [0.0, 0.0]]
    waiting = profile([0.2, 0.3], [0.2, 0.3], limits, 2.0)
    assert waiting.duration == 2.0
    assert waiting.at(1.3)[0] == pytest.approx([0.2, 0.3])


# --- splines ---------------------------------------------------------------------------------------------------------

POINTS = np.array([[0.0, 0.0, 0.0], [1.0, 0.4, -0.2], [0.5, 0.9, 0.1], [0.6, 1.0, 0.1], [0.0, 0.2, 1.0]])
USUAL = limits_of([0.8, 1.0, 1.5], [1.6, 2.0, 3.0])


def test_a_spline_is_the_one_that_is_continuous_up_to_the_fourth_derivative():
    path = through_points(POINTS, USUAL)
    rest = [(1, np.zeros(3)), (2, np.zeros(3))]
    oracle = make_interp_spline(path.times, POINTS, k=5, bc_type=(rest, rest))
    t, q, v, a = dense(path)
    for order, found in enumerate((q, v, a)):
        assert found == pytest.approx(oracle.derivative(order)(t) if order else oracle(t), abs=1e-9)
    assert_consistent(path)


def test_a_spline_passes_its_points_without_stopping_and_sooner_than_with_stops():
    path = through_points(POINTS, USUAL)
    q, v, _ = path.sampled(path.times)
    assert q == pytest.approx(POINTS, abs=1e-12)
    assert np.abs(v[1:-1]).max(axis=1).min() > 0.05
    assert np.abs(v[[0, -1]]).max() < 1e-12


def test_a_spline_through_points_of_a_curve_hardly_costs_more_than_the_curve():
    """Half a turn of radius 1 at 1 rad/s at best and at most 2 rad/s²; its points are spaced unevenly."""
    phase = np.pi * np.sort(np.random.default_rng(3).uniform(size=60))
    points = np.column_stack([np.cos(phase), np.sin(phase)])
    limits = limits_of([1.0, 1.0], [2.0, 2.0])
    path = through_points(points, limits)
    stops = sum(quintic(a, b, limits).duration for a, b in pairwise(points))
    assert path.duration < 5.0
    assert path.duration < 0.5 * stops
    q = path.sampled(np.linspace(0.0, path.duration, 2001))[0]
    assert np.linalg.norm(q, axis=1) == pytest.approx(np.ones(len(q)), abs=2e-3)


def test_a_spline_keeps_the_limits_and_reaches_one():
    path = through_points(POINTS, USUAL)
    _, _, v, a = dense(path)
    speed, acceleration = np.abs(v) / USUAL.speed, np.abs(a) / USUAL.acceleration
    assert max(speed.max(), acceleration.max()) == pytest.approx(1.0, abs=1e-6)


def test_peaks_are_those_of_the_polynomials():
    path = through_points(POINTS, USUAL)
    _, q, v, a = dense(path, 200001)
    speed, acceleration = (peak.max(axis=0) for peak in path.peaks())
    assert speed == pytest.approx(np.abs(v).max(axis=0), rel=1e-7)
    assert acceleration == pytest.approx(np.abs(a).max(axis=0), rel=1e-7)
    low, high = path.extent()
    assert (low, high) == (pytest.approx(q.min(axis=0), abs=1e-8), pytest.approx(q.max(axis=0), abs=1e-8))


def test_a_point_that_is_there_twice_is_passed_once():
    twice = np.concatenate([POINTS[:2], POINTS[1:]])
    assert through_points(twice, USUAL).duration == through_points(POINTS, USUAL).duration


def test_a_spline_that_swings_out_of_a_range_is_refused():
    points = [[0.0], [1.0], [1.0 + 1e-3], [0.0]]
    with pytest.raises(
        InputError,
        match=r"joint 'base' swings to 1\.\d+ rad \(57\.\d+ deg\), outside its range, -1 rad .* to 1\.001 rad",
    ) as caught:
        through_points(points, limits_of([1.0], [2.0], -1.0, 1.001))
    assert caught.value.problems[0].key == "through"
    assert through_points(points, limits_of([1.0], [2.0], -1.0, 1.5)).extent()[1] > 1.001


# --- pieces ----------------------------------------------------------------------------------------------------------


def test_paths_are_joined_and_rest_before_and_after():
    one = quintic([0.0], [1.0], limits_of([1.0], [2.0]))
    path = JointPath.joined([one, JointPath.hold([1.0], 0.0), JointPath.hold([1.0], 0.5), one.stretched(2.0)])
    assert path.duration == pytest.approx(3.0 * one.duration + 0.5)
    assert path.at(one.duration + 0.2)[0] == pytest.approx([1.0])
    for t, q in ((-1.0, 0.0), (path.duration, 1.0), (path.duration + 9.0, 1.0)):
        assert [float(value[0]) for value in path.at(t)] == pytest.approx([q, 0.0, 0.0])


def test_many_times_at_once_are_each_of_them():
    path = JointPath.joined([trapezoidal(POINTS[0], POINTS[1], USUAL), through_points(POINTS[1:], USUAL)])
    t = np.linspace(-0.5, path.duration + 0.5, 117)
    many = path.at(t)
    for k, moment in enumerate(t):
        for order, one in enumerate(path.at(float(moment))):
            assert many[order][k] == pytest.approx(one, abs=1e-12)
