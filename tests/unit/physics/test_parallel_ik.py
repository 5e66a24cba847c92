"""All inverse-kinematic solutions of arms with three parallel axes: a UR5e and others, regular and singular.

Also runs with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest
from numba import config

from botz.robots.arm_inverse import CompiledSolver, solver_of
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import Arm

POSES = 3 if config.DISABLE_JIT else 60
UR5E = {
    "d": (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996),
    "a": (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0),
    "alpha": (pi / 2, 0.0, 0.0, pi / 2, -pi / 2, 0.0),
}
compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="thousands of starts take minutes uncompiled")


def made(table: dict[str, Any] = UR5E, **common: Any) -> SerialArm:
    rows = {f"j{k}": {"mass": 1.0, **common} | {key: float(table[key][k]) for key in table} for k in range(6)}
    return SerialArm(Arm.model_validate({"engine": "arm", "joints": rows}))


def changed(key: str, row: int, value: float) -> SerialArm:
    return made(UR5E | {key: tuple(value if k == row else old for k, old in enumerate(UR5E[key]))})


def apart(one: np.ndarray, other: np.ndarray) -> Any:
    """Largest difference of the joints' directions."""
    return np.abs(np.exp(1j * one) - np.exp(1j * other)).max(axis=-1)


def test_which_arms_have_this_closed_form():
    assert made().solver.kind == "parallel"
    assert changed("alpha", 1, pi).solver.kind == "parallel"
    assert changed("a", 0, 0.2).solver.kind == "parallel"
    assert changed("d", 2, 0.1).solver.kind == "parallel"
    assert changed("alpha", 2, 0.01).solver.kind == "numeric"
    assert changed("a", 4, 0.05).solver.kind == "numeric"
    assert changed("a", 2, 0.0).solver.kind == "numeric"
    assert solver_of(SerialArm.of("titan4").links).kind == "titan4"


def test_a_pose_of_a_ur5e_has_eight_solutions():
    arm = made()
    q = np.array([0.4, -1.2, 1.5, -0.8, 1.1, 0.3])
    found = arm.inverse(arm.forward(q), present=q)
    assert len(found) == 8 and found.complete and found.status == "solved" and not found.singular
    assert np.abs(found.best - q).max() < 1e-12
    assert np.abs(arm.forward(found.joints) - arm.forward(q)).max() < 1e-12
    assert len(set(found.branches)) == 8
    forward = [joints for joints, name in zip(found.joints, found.branches, strict=True) if name.startswith("forward")]
    assert len({round(float(joints[0]), 9) for joints in forward}) == 1


def frames(q: np.ndarray) -> np.ndarray:
    """Denavit and Hartenberg's transforms of a UR5e one by one, in plain NumPy: the tool's."""
    tool = np.eye(4)
    for k, angle in enumerate(q):
        tool = tool @ joint(k, angle)
    return tool


def number_of_solutions(tool: np.ndarray) -> int:
    """Of a UR5e, by the geometry of its shoulder (θ₁), wrist (θ₅) and elbow (θ₃), each of which has two answers or
    none; all joints turn all the way round."""
    d, a = UR5E["d"], UR5E["a"]
    place, wrist, count = tool[:3, 3], tool[:3, 3] - d[5] * tool[:3, 2], 0
    if np.hypot(wrist[0], wrist[1]) < d[3]:
        return 0
    for side in (1.0, -1.0):
        first = np.arctan2(wrist[1], wrist[0]) + side * np.arccos(d[3] / np.hypot(wrist[0], wrist[1])) + pi / 2
        s1, c1 = np.sin(first), np.cos(first)
        cosine = (place[0] * s1 - place[1] * c1 - d[3]) / d[5]
        if abs(cosine) > 1.0:
            continue
        for bend in (1.0, -1.0):
            fifth = bend * np.arccos(cosine)
            # θ₆ from the tool's axes seen across the plane of the arm, then frame 4 and the triangle of both links.
            across = np.array([s1, -c1, 0.0]) @ tool[:3, :2] / np.sin(fifth)
            sixth = np.arctan2(-across[1], across[0])
            last = np.linalg.inv(joint(4, fifth) @ joint(5, sixth))
            fourth = np.linalg.inv(joint(0, first)) @ tool @ last
            elbow = fourth[:3, 3] - d[3] * np.array([0.0, 0.0, 1.0])
            reach = (elbow @ elbow - a[1] ** 2 - a[2] ** 2) / (2.0 * a[1] * a[2])
            count += 2 if abs(reach) <= 1.0 else 0
    return count


def joint(k: int, angle: float) -> np.ndarray:
    c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(UR5E["alpha"][k]), np.sin(UR5E["alpha"][k])
    a, d = UR5E["a"][k], UR5E["d"][k]
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])


def test_many_poses_of_a_ur5e_by_its_geometry():
    arm, rng, counts = made(), np.random.default_rng(9), set()
    for q in rng.uniform(-pi, pi, (5 * POSES, 6)):
        found, tool = arm.inverse(arm.forward(q)), frames(q)
        assert found.complete
        assert len(found) == number_of_solutions(tool)
        assert max(np.abs(frames(joints) - tool).max() for joints in found.joints) < 1e-9
        assert apart(found.joints, q).min() < 1e-6
        counts.add(len(found))
    assert config.DISABLE_JIT or {4, 8} <= counts


@compiled_only
def test_a_numeric_search_finds_the_same_and_says_that_it_may_not():
    arm, searching = made(), made()
    searching.solver = CompiledSolver("numeric")
    poses = arm.forward(np.random.default_rng(1).uniform(-pi, pi, (POSES, 6)))
    exact, searched = arm.inverse_many(poses), searching.inverse_many(poses)
    assert exact.complete and not searched.complete and not searched[0].complete
    assert (exact.counts == searched.counts).all()
    for one, other in zip(exact, searched, strict=True):
        assert max(apart(one.joints, q).min() for q in other) < 1e-6


@compiled_only
def test_a_search_for_one_solution_stops_early():
    arm = made()
    arm.solver = CompiledSolver("numeric")
    poses = arm.forward(np.random.default_rng(2).uniform(-pi, pi, (POSES, 6)))
    few, all_of_them = arm.inverse_many(poses, every=False), arm.inverse_many(poses)
    assert (few.counts >= 1).all() and few.counts.sum() < all_of_them.counts.sum()


@pytest.mark.parametrize("second", [0.0, pi])
@pytest.mark.parametrize("third", [0.0, -pi])
def test_axes_that_point_apart_offsets_and_ranges(second: float, third: float):
    rng = np.random.default_rng(3)
    table = {
        "alpha": (1.1, second, third, -0.9, 1.4, 0.7), "a": (0.1, 0.4, -0.3, 0.1, 0.0, 0.2),
        "d": (0.3, 0.1, -0.2, 0.1, 0.2, 0.1), "theta": rng.uniform(-3.0, 3.0, 6),
    }  # fmt: skip
    arm = made(table, range=[-2.5, 2.5])
    for q in rng.uniform(-2.5, 2.5, (POSES, 6)):
        found = arm.inverse(arm.forward(q))
        assert np.abs(arm.forward(found.joints) - arm.forward(q)).max() < 1e-12
        assert apart(found.joints, q).min() < 1e-9
        assert arm.within(found.joints, 1e-9).all()


@pytest.mark.parametrize("at", [[4], [2], [2, 4], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("beside", [0.0, 1e-12, 1e-9, 1e-7, 1e-4])
def test_straight_wrists_and_elbows_keep_their_pose(at: list[int], beside: float):
    arm, rng = made(range=[-2 * pi, 2 * pi]), np.random.default_rng(4)
    for q in rng.uniform(-pi, pi, (max(POSES // 10, 1), 6)):
        q[at] = beside
        pose = arm.forward(q)
        found = arm.inverse(pose, present=q)
        assert len(found), found.status
        assert np.abs(arm.forward(found.joints) - pose).max() < 1e-9
        if beside == 0.0 and 4 in at:
            assert "wrist singular" in found.singular
        if at in ([4], [2]):
            assert np.abs(found.best - q).max() < 1e-5


def test_a_free_wrist_is_set_where_the_cost_is_least():
    arm = made(range=[-2 * pi, 2 * pi])
    q = np.array([0.4, -1.2, 1.5, -0.8, 0.0, 0.3])
    pose = arm.forward(q)
    best = arm.inverse(pose, present=q + 0.05).best
    cost = np.sum((best - q - 0.05) ** 2)
    assert cost < np.sum(np.full(6, 0.05) ** 2)
    # Any other solution nearby costs more.
    for turn in np.linspace(-0.2, 0.2, 3 if config.DISABLE_JIT else 41):
        others = arm.inverse(pose, present=q + 0.05 + turn * np.array([0, 0, 0, 0, 0, 1.0]))
        assert all(np.sum((joints - q - 0.05) ** 2) > cost - 1e-9 for joints in others)


def test_a_first_joint_without_direction():
    """The wrist on axis 1 of an arm without offsets: joint 1 is free."""
    table = UR5E | {"d": (0.1625, 0.0, 0.0, 0.0, 0.0997, 0.0996), "a": (0.0, -0.425, -0.3922, 0.05, 0.0, 0.0)}
    arm = made(table)
    assert arm.solver.kind == "parallel"
    q = np.array([0.0, 0.0, 1.1, 0.3, 0.9, 0.2])
    x, _, z = arm.frames(q)[4][:3, 3]
    # Joint 2 turns the wrist until it is above joint 1.
    q[:2] = 0.4, 0.5 * pi - np.arctan2(z - UR5E["d"][0], x)
    found = arm.inverse(arm.forward(q), present=q)
    assert "shoulder singular" in found.singular
    assert np.abs(arm.forward(found.joints) - arm.forward(q)).max() < 1e-9
    assert np.abs(found.best - q).max() < 1e-6


def test_out_of_reach():
    arm = made()
    pose = arm.forward(np.full(6, 0.3))
    pose[0, 3] += 3.0
    assert arm.inverse(pose).status == "out of reach"
    # Inside the cylinder around axis 1 that the wrist cannot enter.
    pose[:3, 3] = [0.0, 0.0, 0.6]
    pose[:3, :3] = np.eye(3)
    assert arm.inverse(pose).status == "out of reach"
