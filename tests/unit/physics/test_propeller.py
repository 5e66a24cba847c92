"""Propellers against plain NumPy and closed forms. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.aero.propeller import (
    MOST_INFLOW_GAIN,
    NEAREST,
    SLOW,
    across,
    across_drag,
    drag_torque,
    ground_factor,
    inflow_factor,
    lag_step,
    propeller_thrust,
)

K = 2.0032092e-5
SPEEDS = [-900.0, -510.9, -3.0, -SLOW, -0.4, 0.0, 1e-9, 0.4, SLOW, 17.0, 510.9, 837.75804]


def test_hover_speed_and_thrust_of_the_sources_robot():
    """2.132 kg on four propellers: 5.229 N and 510.9 rad/s each."""
    thrust = 2.132 * 9.81 / 4
    assert thrust == pytest.approx(5.229, abs=5e-4)
    assert propeller_thrust(0.0, 0.0, K, np.inf, np.sqrt(thrust / K)) == pytest.approx(thrust, rel=1e-14)
    assert np.sqrt(thrust / K) == pytest.approx(510.9, abs=0.05)


def test_the_square_law_has_the_sign_of_the_rotation():
    for omega in SPEEDS:
        assert propeller_thrust(0.0, 0.0, K, np.inf, omega) == pytest.approx(K * omega * abs(omega), rel=1e-14)


@pytest.mark.parametrize("curve", [(0.3, 2e-3, 1.8e-5), (0.0, -1e-4, 2e-5), (-0.2, 1e-3, 1.9e-5)])
def test_the_curve_is_odd_and_never_against_its_rotation(curve):
    a, b, c = curve
    for omega in SPEEDS:
        found = propeller_thrust(a, b, c, np.inf, omega)
        assert found == -propeller_thrust(a, b, c, np.inf, -omega)
        assert found * omega >= 0.0
        if abs(omega) >= SLOW:
            law = np.polyval([c, b, a], abs(omega))
            assert found == pytest.approx(np.sign(omega) * max(law, 0.0), rel=1e-13, abs=1e-16)


def test_a_constant_of_the_curve_does_not_jump_at_rest():
    omegas = np.linspace(-2.0, 2.0, 4001)
    found = np.array([propeller_thrust(0.3, 2e-3, 1.8e-5, np.inf, one) for one in omegas.tolist()])
    steepest = (0.3 / SLOW + 2e-3 + 2 * 1.8e-5 * 2.0) * (omegas[1] - omegas[0])
    assert np.abs(np.diff(found)).max() <= steepest * (1 + 1e-9)
    assert propeller_thrust(0.3, 2e-3, 1.8e-5, np.inf, 0.0) == 0.0


def test_the_largest_force_holds_both_ways():
    assert propeller_thrust(0.0, 0.0, K, 6.0, 2000.0) == 6.0
    assert propeller_thrust(0.0, 0.0, K, 6.0, -2000.0) == -6.0
    assert propeller_thrust(0.0, 0.0, K, 6.0, 100.0) == pytest.approx(K * 1e4, rel=1e-14)


@pytest.mark.parametrize(
    ("force", "target", "lag"),
    [(1.0, 4.0, 0.05), (4.0, 1.0, 0.2), (-1.0, -4.0, 0.05), (-4.0, 0.0, 0.2), (0.0, 2.0, 0.05), (3.0, -5.0, 0.2)],
)
def test_the_lag_is_the_exponential_up_and_down(force, target, lag):
    for dt in (1e-5, 0.01, 0.3, 10.0):
        expected = target + (force - target) * np.exp(-dt / lag)
        assert lag_step(0.05, 0.2, force, target, dt) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_any_number_of_lag_steps_comes_to_the_same():
    whole = lag_step(0.05, 0.2, 1.0, 4.0, 0.08)
    force = 1.0
    for _ in range(1000):
        force = lag_step(0.05, 0.2, force, 4.0, 0.08 / 1000)
    assert force == pytest.approx(whole, rel=1e-12)


def test_without_a_lag_the_thrust_follows_at_once():
    assert lag_step(0.0, 0.2, 1.0, 4.0, 1e-4) == 4.0
    assert lag_step(0.05, 0.0, 4.0, 1.0, 1e-4) == 1.0


def test_drag_torque_is_against_the_rotation():
    for omega in SPEEDS:
        thrust = propeller_thrust(0.0, 0.0, K, np.inf, omega)
        assert drag_torque(0.016, thrust) == -0.016 * thrust
        assert drag_torque(0.016, thrust) * omega <= 0.0


def test_inflow_takes_thrust_within_its_limits():
    assert inflow_factor(0.05, 0.0) == 1.0
    assert inflow_factor(0.05, 4.0) == pytest.approx(0.8)
    assert inflow_factor(0.05, -4.0) == pytest.approx(1.2)
    assert inflow_factor(0.05, 100.0) == 0.0
    assert inflow_factor(0.05, -100.0) == MOST_INFLOW_GAIN
    assert inflow_factor(0.0, 1e9) == 1.0


def test_the_ground_effect_is_that_of_cheeseman_and_bennett():
    radius = 0.15
    for height in (0.5 * radius, 0.1, radius, 1.0, 50.0):
        assert ground_factor(radius, height, 1.0) == pytest.approx(1 / (1 - (radius / (4 * height)) ** 2), rel=1e-14)
    # At a height of one radius the gain is 1/15.
    assert ground_factor(radius, radius, 1.0) == pytest.approx(16 / 15, rel=1e-14)


@pytest.mark.parametrize("height", [NEAREST * 0.15, 0.15 / 4, 1e-9, 0.0, -3.0])
def test_near_the_pole_and_below_the_ground_it_stays_at_four_thirds(height):
    assert ground_factor(0.15, height, 1.0) == pytest.approx(4 / 3, rel=1e-14)


def test_no_ground_no_effect():
    assert ground_factor(0.15, np.inf, 1.0) == 1.0
    assert ground_factor(0.0, 0.1, 1.0) == 1.0
    # A propeller that blows level or upwards.
    assert ground_factor(0.15, 0.1, 0.0) == 1.0
    assert ground_factor(0.15, 0.1, -1.0) == 1.0


def test_a_tilted_wake_has_the_longer_way():
    assert ground_factor(0.15, 0.2, 0.5) == pytest.approx(ground_factor(0.15, 0.4, 1.0), rel=1e-14)


def test_forces_across_the_axle():
    rng = np.random.default_rng(3)
    for _ in range(20):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        v = rng.normal(size=3)
        flat = np.array(across(*axis, *v))
        assert flat == pytest.approx((np.eye(3) - np.outer(axis, axis)) @ v, abs=1e-14)
        for omega in (-40.0, 0.0, 300.0):
            assert np.array(across_drag(8e-5, omega, *flat)) == pytest.approx(-8e-5 * abs(omega) * flat, abs=1e-16)
