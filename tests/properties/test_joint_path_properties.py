"""What holds of any path of joints: limits kept and one of them reached, all joints in phase, rates consistent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.control.arm.joint_path import JointPath, Limits, quintic, trapezoidal
from botz.control.arm.joint_spline import through_points

many = settings(deadline=None, max_examples=200)
some = settings(deadline=None, max_examples=50)
positions = st.floats(-10.0, 10.0)
positive = st.floats(0.05, 20.0)


@st.composite
def moves(draw, least=2, most=2):
    n = draw(st.integers(1, 4))
    count = draw(st.integers(least, most))
    points = np.array([[draw(positions) for _ in range(n)] for _ in range(count)])
    limits = Limits(
        names=tuple("abcd"[:n]), units=("rad",) * n,
        speed=np.array([draw(positive) for _ in range(n)]), acceleration=np.array([draw(positive) for _ in range(n)]),
        lower=np.full(n, -np.inf), upper=np.full(n, np.inf),
    )  # fmt: skip
    return points, limits


def demands(path: JointPath, limits: Limits, count: int = 4001) -> tuple[float, float]:
    """Greatest share of a speed and of an acceleration that is used, by sampling."""
    _, v, a = path.sampled(np.linspace(0.0, path.duration, count))
    return float((np.abs(v) / limits.speed).max()), float((np.abs(a) / limits.acceleration).max())


@many
@given(moves())
def test_a_move_keeps_the_limits_reaches_one_and_all_joints_are_in_phase(made):
    (start, end), limits = made
    if np.abs(end - start).max() < 1e-6:
        return
    for profile in (quintic, trapezoidal):
        path = profile(start, end, limits)
        share = demands(path, limits)
        assert max(share) <= 1.0 + 1e-9
        assert max(share) >= 1.0 - 1e-3
        q, _, _ = path.at(np.linspace(0.0, path.duration, 50))
        phase = (q - start) / np.where(end == start, 1.0, end - start)
        lead = int(np.abs(end - start).argmax())
        for i in range(len(start)):
            tolerance = 1e-12 + 1e-14 / max(abs(end[i] - start[i]), 1e-12)
            if end[i] != start[i]:
                assert phase[:, i] == pytest.approx(phase[:, lead], abs=tolerance)
        assert path.end == pytest.approx(end, abs=1e-12)


@many
@given(moves())
def test_no_quintic_is_sooner_than_the_trapezoid(made):
    """The trapezoid is the fastest of all motions along the straight way within the limits."""
    (start, end), limits = made
    assert trapezoidal(start, end, limits).duration <= quintic(start, end, limits).duration * (1.0 + 1e-12)


@some
@given(moves(3, 7))
def test_a_spline_keeps_the_limits_and_its_rates_are_its_derivatives(made):
    points, limits = made
    path = through_points(points, limits)
    if path.duration == 0.0:
        assert np.abs(np.diff(points, axis=0)).max() < 1e-9
        return
    assert max(demands(path, limits)) <= 1.0 + 1e-9
    q, v, a = path.sampled(path.times)
    # Continuous over the points: what comes from the left is what goes on to the right.
    left = path.coefficients
    h = path.lengths[:, None]
    powers = np.arange(6)
    assert left.sum(axis=1) == pytest.approx(q[1:], abs=1e-9)
    assert (left * powers[None, :, None]).sum(axis=1) / h == pytest.approx(v[1:], abs=1e-7 * np.abs(v).max() + 1e-9)
    second = (left * (powers * (powers - 1))[None, :, None]).sum(axis=1) / h**2
    assert second == pytest.approx(a[1:], abs=1e-6 * np.abs(a).max() + 1e-9)
    assert np.abs(v[[0, -1]]).max() < 1e-6 * np.abs(v).max() + 1e-9
    # Speeds integrate to the way: Gauss's rule with three points is exact for polynomials of fourth degree.
    for k in range(len(path.lengths)):
        nodes, weights = np.polynomial.legendre.leggauss(3)
        t = path.times[k] + path.lengths[k] * 0.5 * (1.0 + nodes * (1.0 - 1e-12))
        way = 0.5 * path.lengths[k] * weights @ path.sampled(t)[1]
        assert way == pytest.approx(q[k + 1] - q[k], abs=1e-6 * (1.0 + np.abs(q).max()))


@many
@given(st.lists(st.floats(-5.0, 5.0), min_size=6, max_size=6))
def test_no_sample_is_beyond_the_extrema(numbers):
    path = JointPath([0.0, 2.0], np.array(numbers).reshape(1, 6, 1))
    q, v, a = path.sampled(np.linspace(0.0, 2.0, 999))
    speed, acceleration = path.peaks()
    low, high = path.extent()
    assert np.abs(v).max() <= speed.max() + 1e-9
    assert np.abs(a).max() <= acceleration.max() + 1e-9
    assert q.min() >= low.min() - 1e-9
    assert q.max() <= high.max() + 1e-9
    # And they are reached, as far as samples can tell.
    assert np.abs(v).max() >= speed.max() - 1e-3
    assert np.abs(a).max() >= acceleration.max() - 1e-2
