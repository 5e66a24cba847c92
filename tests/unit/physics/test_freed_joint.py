"""Free joints of arms whose last three axes meet: inside their ranges where these count, else as if they had none."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest
from numba import config

from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import Arm

ROWS: list[dict[str, Any]] = [
    {"alpha": pi / 2},
    {"a": 0.4},
    {"alpha": -pi / 2},
    {"alpha": pi / 2, "d": 0.4},
    {"alpha": -pi / 2},
    {},
]
"""Without offsets and with equal links: the wrist reaches the axes of joints 1 and 2."""
POSES = 2 if config.DISABLE_JIT else 12
"""Of each test; as plain Python a pose takes half a second."""


def plain(half: float = np.inf) -> SerialArm:
    """The arm, all ranges from −half to half."""
    joints = {f"joint{k}": {"mass": 1.0, **row} for k, row in enumerate(ROWS, start=1)}
    arm = SerialArm(Arm.model_validate({"engine": "arm", "joints": joints}))
    arm.links["lower"], arm.links["upper"] = -half, half
    return arm


def on_axis_1(rng: np.random.Generator) -> np.ndarray:
    q = rng.uniform(-1.5, 1.5, 6)
    q[1] = rng.uniform(0.3, 1.3)
    q[2] = float(np.arcsin(np.cos(q[1]))) - q[1]  # 0.4 cos θ₂ = 0.4 sin(θ₂ + θ₃)
    return q


def on_both_axes(rng: np.random.Generator) -> np.ndarray:
    q = rng.uniform(-1.5, 1.5, 6)
    q[2] = pi / 2
    assert np.linalg.norm(plain().frames(q)[3, :3, 3]) < 1e-12
    return q


@pytest.mark.parametrize("shape", [on_axis_1, on_both_axes])
@pytest.mark.parametrize("half", [0.3, 1.0, 2.5])
def test_ranges_that_do_not_count_change_nothing(shape: Any, half: float):
    rng = np.random.default_rng(21)
    for _ in range(POSES):
        q, present = shape(rng), rng.uniform(-3.0, 3.0, 6)
        pose = plain().forward(q)
        found = plain(half).inverse(pose, present=present, limits=False)
        without = plain().inverse(pose, present=present)
        assert np.array_equal(found.joints, without.joints)
        assert np.array_equal(found.costs, without.costs)


@pytest.mark.parametrize("shape", [on_axis_1, on_both_axes])
def test_a_straightened_wrist_too(shape: Any):
    rng = np.random.default_rng(22)
    for _ in range(POSES):
        q, present = shape(rng), rng.uniform(-3.0, 3.0, 6)
        q[4] = 0.0
        pose = plain().forward(q)
        found = plain(1.0).inverse(pose, present=present, limits=False)
        assert np.array_equal(found.joints, plain().inverse(pose, present=present).joints)


@pytest.mark.parametrize("beyond", [0.1, 1.0, -0.5])
def test_joint_1_keeps_to_its_range_where_joint_2_is_free_as_well(beyond: float):
    """The arm stands outside the range of joint 1, where the target holds neither joint 1 nor joint 2."""
    rng = np.random.default_rng(23)
    for _ in range(POSES):
        arm, q = plain(), on_both_axes(rng)
        end = 1.0 if beyond > 0 else -1.0
        arm.links["lower"][0], arm.links["upper"][0] = -1.0, 1.0
        present = q.copy()
        present[0] = end + beyond
        pose = arm.forward(q)
        found = arm.inverse(pose, present=present)
        assert found.status == "solved"
        assert np.abs(arm.forward(found.joints) - pose).max() < 1e-9
        assert arm.within(found.joints, 1e-8).all()
        assert found.best[0] == pytest.approx(end)
