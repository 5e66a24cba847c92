"""Polynomials in place of libm, against libm. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, inf, nan, sin

import numpy as np
import pytest
from numba import config

from botz.physics.polynomials import HALF_PI, PI, atan_of, cos_of, cos_sin, exp_of, sin_of

POINTS = 10_000 if config.DISABLE_JIT else 1_000_000


def values(function: Callable[[float], float], points: np.ndarray) -> np.ndarray:
    return np.array([function(x) for x in points.tolist()])


def test_sine_up_to_three_quarter_turns():
    x = np.linspace(-1.5 * PI, 1.5 * PI, POINTS)
    assert np.abs(values(sin_of, x) - np.sin(x)).max() < 2e-15


def test_cosine_of_a_whole_turn():
    x = np.linspace(0.0, 2.0 * PI, POINTS)
    assert np.abs(values(cos_of, x) - np.cos(x)).max() < 2e-15


def both(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found = np.array([cos_sin(x) for x in points.tolist()])
    return found[:, 0], found[:, 1]


def test_cosine_and_sine_together():
    x = np.linspace(-20.0, 20.0, POINTS)
    cosine, sine = both(x)
    # Half a unit in the last place of libm's, and as much of the polynomials'.
    assert np.abs(cosine - np.cos(x)).max() < 2e-16 and np.abs(sine - np.sin(x)).max() < 2e-16
    assert np.abs(cosine**2 + sine**2 - 1.0).max() < 5e-16


def test_cosine_and_sine_up_to_a_million_quarter_turns():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1e6 * HALF_PI, 1e6 * HALF_PI, POINTS // 10)
    # Next to whole quarter turns, where all but the last digits of an angle go.
    near = HALF_PI * rng.integers(-1_000_000, 1_000_000, POINTS // 100) + 1e-9 * rng.normal(size=POINTS // 100)
    x = np.concatenate([x, near])
    cosine, sine = both(x)
    # One unit in the last place of a number next to 1.
    assert np.abs(cosine - np.cos(x)).max() < 2.3e-16 and np.abs(sine - np.sin(x)).max() < 2.3e-16


def test_cosine_and_sine_further_out_are_libms():
    for x in (1.6e6, -3e7, 1e15, -1e18):
        assert cos_sin(x) == (cos(x), sin(x))


def test_cosine_and_sine_of_whole_quarter_turns():
    for k in range(-8, 9):
        cosine, sine = cos_sin(k * HALF_PI)
        assert cosine == pytest.approx((1.0, 0.0, -1.0, 0.0)[k % 4], abs=2e-15)
        assert sine == pytest.approx((0.0, 1.0, 0.0, -1.0)[k % 4], abs=2e-15)
    assert cos_sin(0.0) == (1.0, 0.0)
    for x in np.linspace(0.0, 30.0, 501).tolist():
        assert cos_sin(-x) == (cos_sin(x)[0], -cos_sin(x)[1]), "even and odd, to the bit"


def test_arctangent_of_all_numbers():
    x = np.concatenate([np.linspace(-6.0, 6.0, POINTS), np.geomspace(1e-300, 1e300, 1000)])
    assert np.abs(values(atan_of, x) - np.arctan(x)).max() < 4e-16
    small = np.geomspace(1e-300, 0.1, 1000)
    assert np.abs(values(atan_of, small) / np.arctan(small) - 1.0).max() < 1e-15
    assert (atan_of(inf), atan_of(-inf)) == (HALF_PI, -HALF_PI)


def test_exponential_of_negative_numbers():
    x = np.linspace(-40.0, 0.0, POINTS)
    assert np.abs(values(exp_of, x) / np.exp(x) - 1.0).max() < 1e-13
    assert exp_of(0.0) == 1.0
    for far in (-41.0, -1e6, -inf):
        assert exp_of(far) == exp_of(-40.0)


@pytest.mark.parametrize("function", [sin_of, atan_of])
def test_odd_functions_are_odd_to_the_bit(function):
    for x in np.linspace(0.0, 4.7, 501).tolist():
        assert function(-x) == -function(x)


@pytest.mark.parametrize("function", [sin_of, cos_of, atan_of])
def test_nan_stays_nan(function):
    assert np.isnan(function(nan))
