"""`botz verify arm`, and what it judges with."""

from __future__ import annotations

import numpy as np
import pytest
from verified_family import FamilyTests

from botz.verify import checks
from botz.verify.arm import oracles as arm_oracles
from botz.verify.arm.dynamics import against_mujoco, against_pinocchio
from botz.verify.arm.inverse import Solved, number_by_eaik
from botz.verify.arm.reference import about, along, derivative, pose_matrix
from botz.verify.arm.rig import shipped, still


class TestArm(FamilyTests):
    family = "arm"


@pytest.mark.parametrize(
    ("function", "name"), [(against_pinocchio, "Pinocchio"), (against_mujoco, "MuJoCo"), (number_by_eaik, "EAIK")]
)
def test_a_missing_oracle_is_skipped_with_its_reason(monkeypatch, function, name):
    def absent(module: str):
        raise ImportError(f"no module {module}")

    monkeypatch.setattr(arm_oracles.importlib, "import_module", absent)
    [check] = checks.make(function, 10)
    assert check.passed is None
    assert name in check.skipped and "not installed" in check.skipped


# --- the reference, by cases that are plain to see --------------------------------------------------------------------


def test_turns_and_shifts():
    assert about(2, np.pi / 2) @ [1, 0, 0, 1] == pytest.approx([0, 1, 0, 1], abs=1e-15)
    assert about(0, np.pi / 2) @ [0, 1, 0, 1] == pytest.approx([0, 0, 1, 1], abs=1e-15)
    assert about(1, np.pi / 2) @ [0, 0, 1, 1] == pytest.approx([1, 0, 0, 1], abs=1e-15)
    assert along(1, 0.5) @ [0, 0, 0, 1] == pytest.approx([0, 0.5, 0, 1])
    # Yaw first: the nose, turned left, then pitched down about the new y axis.
    assert pose_matrix([1, 2, 3, 0, np.pi / 2, np.pi / 2])[:3, 0] == pytest.approx([0, 0, -1], abs=1e-15)
    assert pose_matrix([1, 2, 3, 0, np.pi / 2, np.pi / 2])[:3, 3] == pytest.approx([1, 2, 3])


def test_derivatives_by_complex_steps():
    q, direction = np.array([[0.3, 0.7]]), np.array([[2.0, 0.0]])
    assert derivative(lambda at: np.sin(at[:, 0]) * at[:, 1], q, direction) == pytest.approx(2.0 * np.cos(0.3) * 0.7)


def test_quaternions_of_half_turns():
    for turn in (np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, 1.0, -1.0]), np.diag([-1.0, -1.0, 1.0]), np.eye(3)):
        w, x, y, z = arm_oracles.quat_wxyz(turn)
        assert [w * w + x * x - y * y - z * z, w * w - x * x + y * y - z * z] == pytest.approx(np.diag(turn)[:2])


def test_the_judge_of_solutions():
    """Solutions there twice, whole turns aside, and how far the nearest one is."""
    made = still(shipped("titan4"))
    q = np.array([[0.3, 0.5, -0.8, 0.9, 0.4, 0.6]])
    solved = Solved.of(made, made.chain.frames(q)[:, -1], limits=False)
    assert solved.twice() == 0
    assert solved.misses().max() < 1e-12 and solved.nearest(q + 2.0 * np.pi)[0] < 1e-12
    solved.found.joints[0, 1] = solved.found.joints[0, 0] + 2.0 * np.pi
    assert solved.twice() == 1
    solved.found.joints[0, :, 0] += 1e-3
    assert solved.misses().max() > 1e-4 and solved.nearest(q)[0] > 9e-4
