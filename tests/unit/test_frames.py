"""Rotations and quaternions as plain numbers, against NumPy. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.kernels import compensated_sum, record
from botz.rotations import cross, dot, quaternion_of_axes, quaternion_rate, rotation_of
from botz.transforms import quaternion_from_attitude

angles = st.floats(-3.1, 3.1)
attitudes = st.tuples(angles, st.floats(-1.5, 1.5), angles)
many = settings(deadline=None, max_examples=100)


def product(p, q):
    """p ⊗ q."""
    w1, v1, w2, v2 = p[0], np.array(p[1:]), q[0], np.array(q[1:])
    return np.array([w1 * w2 - v1 @ v2, *(w1 * v2 + w2 * v1 + np.cross(v1, v2))])


def matrix(quat):
    """Columns n, t, b."""
    return np.array(rotation_of(*quat)).reshape(3, 3).T


def about(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    turned = np.array([[c, -s], [s, c]])
    found = np.eye(3)
    rest = [(axis + 1) % 3, (axis + 2) % 3]
    found[np.ix_(rest, rest)] = turned
    return found


def test_cross_and_dot():
    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b = rng.normal(size=(2, 3))
        assert cross(*a, *b) == pytest.approx(np.cross(a, b))
        assert dot(*a, *b) == pytest.approx(a @ b)


@many
@given(attitudes)
def test_a_rotation_keeps_lengths_and_handedness(attitude):
    turned = matrix(quaternion_from_attitude(*attitude))
    assert turned.T @ turned == pytest.approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(turned) == pytest.approx(1.0, abs=1e-14)


@many
@given(attitudes)
def test_a_quaternion_turns_as_q_v_q_conjugate(attitude):
    q = np.array(quaternion_from_attitude(*attitude))
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    conjugate = q * [1, -1, -1, -1]
    for v in np.eye(3):
        assert product(product(q, [0.0, *v]), conjugate)[1:] == pytest.approx(matrix(q) @ v, abs=1e-14)


@many
@given(attitudes, attitudes)
def test_products_of_quaternions_are_products_of_rotations(first, second):
    p, q = quaternion_from_attitude(*first), quaternion_from_attitude(*second)
    assert matrix(product(p, q)) == pytest.approx(matrix(p) @ matrix(q), abs=1e-13)
    assert matrix([-one for one in p]) == pytest.approx(matrix(p), abs=1e-15)


@many
@given(attitudes)
def test_attitude_is_yaw_then_pitch_then_roll(attitude):
    roll, pitch, yaw = attitude
    expected = about(2, yaw) @ about(1, pitch) @ about(0, roll)
    assert matrix(quaternion_from_attitude(*attitude)) == pytest.approx(expected, abs=1e-14)


@many
@given(st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_a_quaternion_comes_back_from_its_axes(numbers):
    q = np.array(numbers) / np.linalg.norm(numbers)
    found = np.array(quaternion_of_axes(*rotation_of(*q)))
    assert found[0] >= 0.0 and np.linalg.norm(found) == pytest.approx(1.0, abs=1e-14)
    assert matrix(found) == pytest.approx(matrix(q), abs=1e-14)
    if abs(q[0]) > 1e-6:
        assert found == pytest.approx(np.sign(q[0]) * q, abs=1e-14)


@pytest.mark.parametrize(
    "axis", np.vstack([np.eye(3), np.ones((1, 3)), [[0.0, -0.6, 0.8], [-1.0, 1e-9, 0.0]]]).tolist()
)
@pytest.mark.parametrize("missing", [0.0, 1e-9, -1e-9, 1e-4])
def test_nothing_is_lost_near_half_turns(axis, missing):
    """There w is nearly 0, and a formula that divides by it gives none of the digits."""
    axis = np.array(axis) / np.linalg.norm(axis)
    angle = math.pi - missing
    x, y, z = axis
    cross_matrix = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turned = np.eye(3) + math.sin(angle) * cross_matrix + (1 - math.cos(angle)) * cross_matrix @ cross_matrix
    found = np.array(quaternion_of_axes(*turned.T.ravel()))
    assert matrix(found) == pytest.approx(turned, abs=1e-14)
    assert abs(found[1:] @ axis) == pytest.approx(1.0, abs=1e-8)


def test_axes_that_are_not_turned_give_the_unit_quaternion():
    assert quaternion_of_axes(*np.eye(3).ravel()) == (1.0, 0.0, 0.0, 0.0)


def test_rate_of_a_quaternion_is_half_its_product_with_the_angular_velocity():
    rng = np.random.default_rng(2)
    for _ in range(20):
        q, angular = rng.normal(size=4), rng.normal(size=3)
        q /= np.linalg.norm(q)
        rate = np.array(quaternion_rate(*q, *angular))
        assert rate == pytest.approx(0.5 * product(q, [0.0, *angular]), abs=1e-15)
        assert rate @ q == pytest.approx(0.0, abs=1e-15)


def test_rate_of_a_quaternion_turns_the_axes_with_the_bodys_angular_velocity():
    """Ṙ = R [Ω]×, by central differences of second order."""
    q, angular, h = np.array(quaternion_from_attitude(0.3, -0.4, 1.1)), np.array([0.7, -1.2, 0.4]), 1e-5
    rate = np.array(quaternion_rate(*q, *angular))
    change = (matrix(q + h * rate) - matrix(q - h * rate)) / (2 * h)
    x, y, z = angular
    assert change == pytest.approx(matrix(q) @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), abs=1e-9)


@many
@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=200))
def test_a_compensated_sum_is_the_exact_one_to_a_rounding(terms):
    start = 100.0
    total, lost = start, 0.0
    for term in terms:
        total, lost = compensated_sum(total, lost, term)
    exact = math.fsum([start, *terms])
    assert abs(total - exact) <= np.spacing(max(abs(exact), 1.0) * 4)


def test_a_hundred_thousand_small_steps_lose_nothing_where_a_plain_sum_does():
    step, total, lost, plain = 1e-7 / 3, 100.0, 0.0, 100.0
    for _ in range(100_000):
        total, lost = compensated_sum(total, lost, step)
        plain += step
    exact = math.fsum([100.0, *[step] * 100_000])
    assert abs(total - exact) <= np.spacing(100.0)
    assert abs(plain - exact) > 100 * np.spacing(100.0)


def test_records_give_their_fields_as_attributes():
    one = np.zeros(2, record(height=np.float64, axis=(np.float64, 3), count=np.int64))[1]
    one.height, one.count = 2.5, 7
    one.axis[1] = 4.0
    assert (one.height, one.count, one["axis"].tolist()) == (2.5, 7, [0.0, 4.0, 0.0])
