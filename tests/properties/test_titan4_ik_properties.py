"""Forward after inverse kinematics of the Titan IV is the identity, wherever the arm is."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.robots.serial_arm import SerialArm

TITAN = SerialArm.of("titan4")
SPECIAL = [0.0, pi / 2, -pi / 2, pi, -pi]
TINY = [0.0, *(sign * 10.0**-k for k in range(5, 17) for sign in (1, -1))]

angles = st.floats(-pi, pi) | st.sampled_from(SPECIAL)
near_special = st.builds(lambda value, small: value + small, st.sampled_from(SPECIAL), st.sampled_from(TINY))
joint_vectors = st.lists(angles | near_special, min_size=6, max_size=6).map(np.array)


def check_all(q: np.ndarray, present: np.ndarray, limits: bool):
    pose = TITAN.forward(q)
    found = TITAN.inverse(pose, present=present, limits=limits)
    assert np.isfinite(found.joints).all() and np.isfinite(found.costs).all()
    if len(found.joints):
        assert np.abs(TITAN.forward(found.joints) - pose).max() < 1e-9
    for k, one in enumerate(found.joints):
        for other in found.joints[:k]:
            assert np.abs((one - other + pi) % (2 * pi) - pi).max() > 1e-6
    assert (np.diff(found.costs) >= 0).all()
    return found


@given(joint_vectors, joint_vectors)
@settings(max_examples=400, deadline=None)
def test_every_solution_reproduces_the_pose(q: np.ndarray, present: np.ndarray):
    assert check_all(q, present, False).status == "solved"


@given(joint_vectors, joint_vectors)
@settings(max_examples=200, deadline=None)
def test_with_limits_too_and_inside_them(q: np.ndarray, present: np.ndarray):
    found = check_all(q, present, True)
    assert TITAN.within(found.joints, 1e-8).all()
    if TITAN.within(q):
        assert found.status == "solved"


exact = st.sampled_from([0.0, pi / 2, -pi / 2])


@given(st.lists(angles, min_size=6, max_size=6).map(np.array), st.sampled_from([0.0, pi]) | angles, exact | angles)
@settings(max_examples=300, deadline=None)
def test_joints_that_are_there_stay(q: np.ndarray, elbow: float, wrist: float):
    """The arm is at the pose already, singular or not: the nearest solution is to stay. Poses that are nearly, but not
    quite, singular do not hold their joints to 1e-6; they are left to the tests above."""
    q[2], q[4] = elbow, wrist
    a = TITAN.links["a"]
    radius = a[0] + a[1] * np.cos(q[1]) + a[2] * np.cos(q[1] + q[2]) + a[3] * np.cos(q[1:4].sum())
    bend = abs(np.sin(q[2]))
    if 0 < abs(np.cos(q[4])) < 1e-4 and wrist not in (pi / 2, -pi / 2):
        return
    if 1e-13 < abs(radius) < 1e-4 or 1e-15 < bend < 1e-5:
        return
    found = TITAN.inverse(TITAN.forward(q), present=q, limits=False)
    assert np.abs(found.best - q).max() < 1e-6


@given(angles, st.floats(0.2, 1.4), st.floats(-2.0, -1.2), st.booleans(), exact | angles, angles)
@settings(max_examples=200, deadline=None)
def test_on_the_axis_of_joint_1_too(q1: float, q2: float, q3: float, side: bool, q5: float, q6: float):
    a = TITAN.links["a"]
    cosine = -(a[0] + a[1] * np.cos(q2) + a[2] * np.cos(q2 + q3)) / a[3]
    if abs(cosine) > 1:
        return
    q = np.array([q1, q2, q3, (np.arccos(cosine) if side else -np.arccos(cosine)) - q2 - q3, q5, q6])
    found = check_all(q, q, False)
    assert "shoulder singular" in found.singular
    if 0 < abs(np.cos(q5)) < 1e-4 and q5 not in (pi / 2, -pi / 2):
        return
    assert np.abs(found.best - q).max() < 1e-6


small = st.builds(lambda power, share: share * 10.0**-power, st.integers(2, 17), st.floats(-1.0, 1.0))


@given(
    angles,
    st.floats(0.2, 1.4),
    st.floats(-2.0, -1.2),
    st.booleans(),
    st.sampled_from([pi / 2, -pi / 2]),
    angles,
    small,
    small,
)
@settings(max_examples=300, deadline=None)
def test_near_the_axis_and_near_ninety_degrees_an_arm_stays(
    q1: float, q2: float, q3: float, side: bool, q5: float, q6: float, off_axis: float, off_wrist: float
):
    """Both singularities at any distance from each: every φ may keep the pose to its rounding, the arm's own does."""
    a = TITAN.links["a"]
    cosine = -(a[0] + a[1] * np.cos(q2) + a[2] * np.cos(q2 + q3)) / a[3]
    if abs(cosine) > 1:
        return
    q = np.array([q1, q2, q3, (np.arccos(cosine) if side else -np.arccos(cosine)) - q2 - q3, q5 + off_wrist, q6])
    q[1] += off_axis
    found = check_all(q, q, False)
    assert found.status == "solved"
    assert np.abs(found.best - q).max() < 1e-6
    assert check_all(q, np.zeros(6), False).status == "solved"


@pytest.mark.parametrize("limits", [False, True])
def test_the_cost_of_the_best_is_no_more_than_of_joints_that_reach(limits: bool):
    """A singular pose has curves of solutions: what is cheapest for other wishes is no cheaper for this one."""
    rng = np.random.default_rng(17)
    for _ in range(40):
        q = rng.uniform(-1.2, 1.2, 6)
        q[4] = pi / 2
        present, weights = rng.uniform(-1.0, 1.0, 6), rng.uniform(0.0, 1.0, 6)
        pose = TITAN.forward(q)
        best = TITAN.inverse(pose, present=present, weights=weights, limits=limits)
        for other in np.linspace(-2.0, 2.0, 21):
            there = TITAN.inverse(pose, present=q + np.array([0, 0, 0, other, 0, 0]), limits=limits).joints
            for joints in there:
                turned = joints if limits else present + (joints - present + pi) % (2 * pi) - pi
                assert best.costs[0] <= (weights * (turned - present) ** 2).mean() + 1e-9
