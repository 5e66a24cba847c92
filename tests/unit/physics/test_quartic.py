"""Roots of quartic and trigonometric polynomials against NumPy. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.ik.quartic import quartic_roots, trigonometric_roots


def found_by(roots, *arguments):
    count, *values = roots(*arguments)
    return np.sort(values[:count])


@pytest.mark.parametrize(
    "expected",
    [[-2.0, -0.5, 0.25, 3.0], [1.0, 1.5, 1.75, 2.0], [-1e-3, 1e-3, -1.0, 1.0], [-40.0, -1e-6, 1e-6, 30.0]],
)
def test_four_real_roots(expected: list[float]):
    _, *coefficients = np.poly(expected)
    assert np.allclose(found_by(quartic_roots, *coefficients, 1e-14), np.sort(expected), atol=1e-9, rtol=1e-12)


def test_two_real_roots_and_a_pair_of_complex_ones():
    _, *coefficients = np.real(np.poly([0.5, -1.5, 0.3 + 2j, 0.3 - 2j]))
    assert np.allclose(found_by(quartic_roots, *coefficients, 1e-14), [-1.5, 0.5], atol=1e-13)


def test_no_real_root():
    assert quartic_roots(0.0, 2.0, 0.0, 1.0 + 1e-9, 1e-14)[0] == 0


def test_a_double_root_that_rounding_has_lifted_off_is_found():
    _, *coefficients = np.poly([0.7, 0.7, -1.0, 2.0])
    for shift in (-1e-13, 0.0, 1e-13):
        lifted = [*coefficients[:3], coefficients[3] + shift]
        found = found_by(quartic_roots, *lifted, 1e-11)
        assert np.abs(found - 0.7).min() < 1e-6
        assert np.allclose(found[[0, -1]], [-1.0, 2.0], atol=1e-9)


def test_trigonometric_roots_are_zeros_and_all_of_them():
    rng = np.random.default_rng(4)
    grid = np.linspace(-np.pi, np.pi, 4001)
    for _ in range(60):
        q = rng.uniform(-1.0, 1.0, 6)

        def value(x, q=q):
            c, s = np.cos(x), np.sin(x)
            return q[0] + q[1] * c + q[2] * s + q[3] * c * c + q[4] * c * s + q[5] * s * s

        found = found_by(trigonometric_roots, *q, 1e-14, 1e-14)
        assert np.abs(value(found)).max(initial=0.0) < 1e-13
        samples = value(grid)
        assert len(found) == (samples[1:] * samples[:-1] < 0).sum()


def test_where_every_angle_is_a_root():
    # c² + s² − 1
    assert trigonometric_roots(-1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1e-12, 1e-15)[0] == -1
