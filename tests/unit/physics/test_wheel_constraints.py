"""Every function of physics/wheels/constraints.py against plain NumPy. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.wheels import constraints as wc

EPS = np.finfo(float).eps


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2024)


def heading(psi: float) -> np.ndarray:
    return np.array([np.cos(psi), np.sin(psi)])


def velocity_of(point: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """Velocity of a point of the body."""
    return np.array([twist[0] - twist[2] * point[1], twist[1] + twist[2] * point[0]])


def test_rolling_row_is_the_velocity_along_the_wheel(rng):
    for _ in range(50):
        x, y, psi = rng.uniform(-2, 2, 3)
        twist = rng.uniform(-1, 1, 3)
        row = np.array(wc.rolling_row(x, y, psi))
        assert row @ twist == pytest.approx(velocity_of(np.array([x, y]), twist) @ heading(psi), abs=20 * EPS)


def test_rows_are_those_of_the_source_in_polar_form(rng):
    for _ in range(50):
        l, phi, alpha = rng.uniform(0.1, 2), *rng.uniform(-np.pi, np.pi, 2)
        x, y, psi = l * np.cos(phi), l * np.sin(phi), phi + alpha - np.pi / 2
        rolling = [np.sin(phi + alpha), -np.cos(phi + alpha), -l * np.cos(alpha)]
        lateral = [np.cos(phi + alpha), np.sin(phi + alpha), l * np.sin(alpha)]
        assert wc.rolling_row(x, y, psi) == pytest.approx(rolling, abs=20 * EPS)
        assert wc.lateral_row(x, y, psi, 0.0) == pytest.approx(lateral, abs=20 * EPS)


def test_lateral_row_is_the_velocity_of_the_contact_along_the_axle(rng):
    for _ in range(50):
        x, y, psi, offset = rng.uniform(-2, 2, 4)
        twist = rng.uniform(-1, 1, 3)
        contact = np.array([x, y]) + offset * heading(psi)
        across = velocity_of(contact, twist) @ heading(psi + np.pi / 2)
        assert np.array(wc.lateral_row(x, y, psi, offset)) @ twist == pytest.approx(across, abs=40 * EPS)


def test_constraint_rows_fill_both_rows_of_every_wheel(rng):
    n = 7
    x, y, gamma, offset, psi = rng.uniform(-1, 1, (5, n))
    rows = np.full((2 * n, 3), np.nan)
    wc.constraint_rows(x, y, gamma, offset, psi, rows)
    u = np.stack([np.cos(psi + gamma), np.sin(psi + gamma)], axis=1)
    w = np.stack([-u[:, 1], u[:, 0]], axis=1)
    p = np.stack([x, y], axis=1)
    np.testing.assert_allclose(rows[0::2, :2], u, atol=4 * EPS)
    np.testing.assert_allclose(rows[0::2, 2], p[:, 0] * u[:, 1] - p[:, 1] * u[:, 0], atol=8 * EPS)
    np.testing.assert_allclose(rows[1::2, :2], w, atol=4 * EPS)
    np.testing.assert_allclose(rows[1::2, 2], p[:, 0] * w[:, 1] - p[:, 1] * w[:, 0] + offset, atol=8 * EPS)


def test_dot3(rng):
    row, twist = rng.normal(size=3), rng.normal(size=3)
    assert wc.dot3(row, *twist) == pytest.approx(row @ twist, abs=10 * EPS)


@pytest.mark.parametrize("kind", [wc.FIXED, wc.STEERED, wc.CASTOR, wc.SWEDISH, wc.SPHERICAL, wc.SUPPORT])
@pytest.mark.parametrize("driven", [False, True])
def test_wheel_rates(rng, kind, driven):
    for _ in range(20):
        radius, roller_radius = rng.uniform(0.05, 0.5), rng.uniform(0.01, 0.05)
        gamma = rng.uniform(-1.2, 1.2) if kind == wc.SWEDISH else 0.0
        offset = rng.uniform(0.05, 0.3) * rng.choice([-1, 1]) if kind == wc.CASTOR else 0.0
        rolling, lateral, twist = rng.uniform(-1, 1, (3, 3))
        motor = rng.uniform(-5, 5) if driven else np.nan
        grip = rng.uniform(0.5, 1.0)
        got = wc.wheel_rates(kind, radius, gamma, roller_radius, offset, grip, rolling, lateral, *twist, motor)
        speed = motor if driven else (rolling @ twist) / (grip * radius * np.cos(gamma))
        second = {
            wc.FIXED: 0.0,
            wc.STEERED: 0.0,
            wc.CASTOR: -(lateral @ twist) / offset if offset else 0.0,
            wc.SWEDISH: (lateral @ twist + radius * speed * np.sin(gamma)) / roller_radius,
            wc.SPHERICAL: (lateral @ twist) / (grip * radius),
            wc.SUPPORT: 0.0,
        }[kind]
        wanted = (0.0, 0.0) if kind == wc.SUPPORT else (speed, second)
        assert got == pytest.approx(wanted, rel=20 * EPS, abs=1e-12)


@pytest.mark.parametrize("delta", [0.0, 1e-9, -1e-9, 0.3, -0.3, 1.0, -1.2])
def test_ackermann_angle_points_every_wheel_round_one_centre(delta):
    base, track = 1.3, 0.8
    axle = wc.lateral_row(0.0, track / 2, 0.0, 0.0)
    for x, y in ((base, track / 2), (base, -track / 2), (base, 0.0), (2 * base, 0.1)):
        got = wc.ackermann_angle(*axle, base, 0.0, 0.0, x, y, 0.0, delta)
        # tan of the wheel's angle is x θ'/(v − y θ') with θ'/v = tan δ / L; no division by a radius.
        wanted = np.arctan(x * np.tan(delta) / (base - y * np.tan(delta)))
        assert np.tan(got - wanted) == pytest.approx(0.0, abs=20 * EPS)


def test_ackermann_angle_of_a_wheel_that_rests_is_the_command():
    axle = wc.lateral_row(0.0, 0.5, 0.0, 0.0)
    # At 90° the body turns about the point of the fixed axle behind the virtual wheel: a wheel there rests.
    assert wc.ackermann_angle(*axle, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2) == np.pi / 2


def test_half_turn_is_the_same_line(rng):
    for angle in [*rng.uniform(-20, 20, 50), 0.0, np.pi, -np.pi, 3.0, -3.0]:
        got = wc.half_turn(angle)
        assert abs(got) <= np.pi / 2 + 1e-15
        assert np.sin(got - angle) == pytest.approx(0.0, abs=50 * EPS)


def inverse_of(matrix: np.ndarray, length: float = 1.0) -> tuple[np.ndarray, int]:
    inverse, work = np.full((3, len(matrix)), np.nan), np.full(matrix.shape, np.nan)
    rank = wc.pseudo_inverse3(matrix, length, work, inverse)
    return inverse, rank


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_pseudo_inverse_against_numpy(rng, rows, rank):
    for scale in (1e-3, 1.0, 1e3):
        matrix = scale * rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, 3))
        inverse, found = inverse_of(matrix)
        wanted = np.linalg.pinv(matrix, rcond=1e-9)
        kept = min(rows, rank)
        singular = np.linalg.svd(matrix, compute_uv=False)[:kept]
        # Wedin's bound for two backward stable algorithms, with a backward error of 3 m eps.
        bound = 2 * np.sqrt(2) * 3 * rows * EPS * singular.max() / singular.min() ** 2
        assert found == kept
        assert np.abs(inverse - wanted).max() <= bound


def test_pseudo_inverse_scales_the_third_column(rng):
    """With a length L the least motion is the one with the smallest (v_x, v_y, L θ')."""
    length = 0.3
    matrix = rng.normal(size=(2, 3))
    inverse, rank = inverse_of(matrix, length)
    scaled = np.diag([1, 1, 1 / length]) @ np.linalg.pinv(matrix @ np.diag([1, 1, 1 / length]))
    assert rank == 2
    np.testing.assert_allclose(inverse, scaled, rtol=1e-12, atol=1e-13)


def test_pseudo_inverse_of_zero_is_zero():
    inverse, rank = inverse_of(np.zeros((4, 3)))
    assert rank == 0
    assert not inverse.any()


def test_pseudo_inverse_does_not_change_its_argument(rng):
    matrix = rng.normal(size=(5, 3))
    kept = matrix.copy()
    inverse_of(matrix, 0.7)
    assert (matrix == kept).all()


@pytest.mark.parametrize("turn", [0.0, 1e-12, 1e-7, 1.9e-4, 2.1e-4, -3e-3, 0.5, -2.0, 40.0])
def test_arc_displacement_is_the_integral_of_the_velocity(rng, turn):
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for _ in range(5):
        theta, vx, vy = rng.uniform(-3, 3, 3)
        dt = rng.uniform(0.1, 1.0)
        at = theta + turn * dt * (nodes + 1) / 2
        wanted_x = dt / 2 * weights @ (np.cos(at) * vx - np.sin(at) * vy)
        wanted_y = dt / 2 * weights @ (np.sin(at) * vx + np.cos(at) * vy)
        got = wc.arc_displacement(theta, vx, vy, turn, dt)
        assert got == pytest.approx((wanted_x, wanted_y), abs=1e-13)


def test_arc_displacement_has_no_step_where_its_series_begins():
    """Both branches at the border agree to rounding: |half| = 1e-4."""
    below = np.array(wc.arc_displacement(0.3, 1.0, 0.5, 2e-4 * (1 - 1e-12), 1.0))
    above = np.array(wc.arc_displacement(0.3, 1.0, 0.5, 2e-4 * (1 + 1e-12), 1.0))
    assert np.abs(below - above).max() <= 8 * EPS


@pytest.mark.parametrize("delta", [0.0, 0.3, -0.5, 1.2, -1.5])
def test_ackermann_ratio_is_the_derivative_of_the_angle(delta):
    base, track, step = 1.3, 0.8, 1e-5
    axle = wc.lateral_row(0.0, track / 2, 0.0, 0.0)
    for x, y in ((base, track / 2), (base, -track / 2), (2 * base, 0.1)):
        ahead, behind = (wc.ackermann_angle(*axle, base, 0.0, 0.0, x, y, 0.0, delta + h) for h in (step, -step))
        # Central difference: its error is step² times a third derivative of a few units, and rounding over the step.
        got = wc.ackermann_ratio(*axle, base, 0.0, 0.0, x, y, delta)
        assert got == pytest.approx((ahead - behind) / (2 * step), abs=1e-8)
