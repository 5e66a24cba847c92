"""Forward after inverse kinematics is the identity, for any arm whose last three axes meet, wherever it is."""

from __future__ import annotations

from math import pi

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import Arm

PUMA = SerialArm.of("puma560")
SPECIAL = [0.0, pi / 2, -pi / 2, pi, -pi]
TINY = [0.0, *(sign * 10.0**-k for k in range(5, 17) for sign in (1, -1))]

angles = st.floats(-pi, pi) | st.sampled_from(SPECIAL)
near_special = st.builds(lambda value, small: value + small, st.sampled_from(SPECIAL), st.sampled_from(TINY))
joint_vectors = st.lists(angles | near_special, min_size=6, max_size=6).map(np.array)
lengths = st.sampled_from([0.0, 0.1, 0.4, -0.4, 0.5]) | st.floats(0.05, 0.6)
twists = st.sampled_from([0.0, pi / 2, -pi / 2, pi]) | st.floats(0.2, 1.4)


@st.composite
def arms(draw) -> SerialArm:
    """Round and odd numbers alike, so that axes meet, are parallel, or neither."""
    rows = {}
    for k in range(1, 7):
        row = {"mass": 1.0, "a": draw(lengths), "d": draw(lengths), "alpha": draw(twists)}
        if k in (4, 5):
            row |= {"a": 0.0, "alpha": draw(st.sampled_from([pi / 2, -pi / 2]) | st.floats(0.3, 1.2))}
        if k == 5:
            row["d"] = 0.0
        rows[f"joint{k}"] = row
    return SerialArm(Arm.model_validate({"engine": "arm", "joints": rows}))


def check_all(arm: SerialArm, q: np.ndarray, present: np.ndarray, limits: bool):
    pose = arm.forward(q)
    found = arm.inverse(pose, present=present, limits=limits)
    assert np.isfinite(found.joints).all() and np.isfinite(found.costs).all()
    if len(found.joints):
        assert np.abs(arm.forward(found.joints) - pose).max() < 1e-9
    for k, one in enumerate(found.joints):
        for other in found.joints[:k]:
            assert np.abs((one - other + pi) % (2 * pi) - pi).max() > 1e-6
    assert (np.diff(found.costs) >= 0).all()
    return found


@given(joint_vectors, joint_vectors)
@settings(max_examples=400, deadline=None)
def test_every_solution_of_the_puma_reproduces_the_pose(q: np.ndarray, present: np.ndarray):
    assert check_all(PUMA, q, present, False).status == "solved"


@given(joint_vectors, joint_vectors)
@settings(max_examples=200, deadline=None)
def test_with_limits_too_and_inside_them(q: np.ndarray, present: np.ndarray):
    found = check_all(PUMA, q, present, True)
    assert PUMA.within(found.joints, 1e-8).all()
    if PUMA.within(q):
        assert found.status == "solved"


@given(arms(), joint_vectors, joint_vectors)
@settings(max_examples=500, deadline=None)
def test_every_solution_of_any_arm_reproduces_the_pose(arm: SerialArm, q: np.ndarray, present: np.ndarray):
    if arm.solver.kind == "wrist":
        assert check_all(arm, q, present, False).status == "solved"


@given(arms(), st.lists(st.floats(-pi, pi), min_size=6, max_size=6).map(np.array))
@settings(max_examples=200, deadline=None)
def test_an_arm_that_is_there_may_stay(arm: SerialArm, q: np.ndarray):
    """Away from singular poses, where joints are not known to 1e-6 from a pose."""
    if arm.solver.kind != "wrist" or arm.manipulability(q) < 1e-4:
        return
    found = check_all(arm, q, q, False)
    assert np.abs(found.best - q).max() < 1e-6
