"""Numeric inverse kinematics of any serial arm: with few joints and many, turning and sliding, inside its ranges.

Also runs with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest
from numba import config

from botz.physics.arm.dh import SCRATCH
from botz.physics.ik import choice
from botz.physics.ik.numeric import (
    UNSEEN,
    damped_step,
    next_prime,
    numeric_solutions,
    rotation_left,
    seen_enough,
    start_at,
)
from botz.robots.arm_inverse import CompiledSolver
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import Arm

POSES = 2 if config.DISABLE_JIT else 200
UP, DOWN = pi / 2, -pi / 2


def made(*rows: dict[str, Any]) -> SerialArm:
    joints = {f"joint{k}": {"mass": 1.0, **row} for k, row in enumerate(rows, start=1)}
    return SerialArm(Arm.model_validate({"engine": "arm", "joints": joints}))


def wide(**row: Any) -> dict[str, Any]:
    return {"range": [-2.9, 2.9], **row}


def narrow(**row: Any) -> dict[str, Any]:
    return {"range": [-2.0, 2.0], **row}


def sliding(**row: Any) -> dict[str, Any]:
    return {"type": "prismatic", "range": [0.0, 0.5], **row}


def arm_of(name: str) -> SerialArm:
    """An arm that is solved numerically, whatever its geometry."""
    match name:
        case "seven joints":
            arm = made(
                wide(alpha=DOWN, d=0.34), narrow(alpha=UP), wide(alpha=UP, d=0.4), narrow(alpha=DOWN),
                wide(alpha=DOWN, d=0.4), narrow(alpha=UP), wide(d=0.126),
            )  # fmt: skip
        case "scara":
            arm = made(narrow(a=0.4), narrow(a=0.3, alpha=pi), sliding(), wide())
        case "three in a plane":
            arm = made(narrow(a=0.4), narrow(a=0.3), narrow(a=0.2))
        case "one joint":
            arm = made(wide(a=0.4))
        case "gantry":
            arm = made(
                sliding(alpha=UP, theta=UP), sliding(alpha=UP, theta=UP), sliding(), wide(alpha=UP), narrow(alpha=DOWN),
                wide(),
            )  # fmt: skip
        case "no ranges":
            arm = made(
                {"alpha": UP, "a": 0.1, "d": 0.3}, {"a": 0.4, "alpha": 0.3}, {"alpha": DOWN, "a": 0.1, "d": 0.1},
                {"alpha": UP, "d": 0.4, "a": 0.05}, {"alpha": DOWN, "d": 0.1, "a": 0.02}, {"d": 0.1},
            )  # fmt: skip
        case "twelve joints":
            arm = made(*({"alpha": UP if k % 2 else DOWN, "a": 0.1, "range": [-1.2, 1.2]} for k in range(12)))
        case _:
            arm = SerialArm.of(name)
    arm.solver = CompiledSolver("numeric")
    return arm


ARMS = [
    "titan4", "puma560", "seven joints", "scara", "three in a plane", "one joint", "gantry", "no ranges",
    "twelve joints",
]  # fmt: skip


def ranges(arm: SerialArm) -> tuple[np.ndarray, np.ndarray]:
    return np.where(np.isfinite(arm.lower), arm.lower, -3.0), np.where(np.isfinite(arm.upper), arm.upper, 3.0)


def positions(arm: SerialArm, rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.uniform(*ranges(arm), (count, arm.n))


def errors(arm: SerialArm, found: Any, poses: np.ndarray) -> np.ndarray:
    """Largest error of each pose's solutions; infinite where there are none."""
    return np.array(
        [
            np.abs(arm.forward(own.joints) - pose).max() if own else np.inf
            for own, pose in zip(found, poses, strict=True)
        ]
    )


@pytest.mark.parametrize("name", ARMS)
def test_poses_are_found_from_the_middle_of_the_ranges(name: str):
    arm = arm_of(name)
    poses = arm.forward(positions(arm, np.random.default_rng(1), POSES))
    found = arm.inverse_many(poses, every=False)
    left = errors(arm, found, poses)
    assert (left < 1e-9).mean() >= 0.99
    assert left[np.isfinite(left)].max() < 1e-9
    for own in found:
        assert arm.within(own.joints).all()
        assert own.status == ("solved" if own else "not found from any of the starts")
        for k, joints in enumerate(own.joints):
            for other in own.joints[:k]:
                off = np.where(arm.links["kind"] == 0, (joints - other + pi) % (2 * pi) - pi, joints - other)
                assert np.abs(off).max() > 1e-6


@pytest.mark.parametrize("name", [name for name in ARMS if name not in ("seven joints", "twelve joints")])
def test_the_position_nearby_is_the_best(name: str):
    arm, rng = arm_of(name), np.random.default_rng(2)
    q = 0.9 * positions(arm, rng, POSES)
    q = np.clip(q, arm.lower, arm.upper)
    found = arm.inverse_many(arm.forward(q), present=q + rng.uniform(-0.01, 0.01, q.shape), every=False)
    best = np.array([own.best for own in found])
    # Near a singularity the nearest solution may be another one.
    assert (np.abs(best - q).max(axis=1) < 1e-5).mean() > (0.4 if config.DISABLE_JIT else 0.95)


@pytest.mark.parametrize("name", ["titan4", "puma560", "seven joints", "gantry"])
def test_joints_at_their_stops_are_found_and_kept(name: str):
    arm, rng = arm_of(name), np.random.default_rng(3)
    q = np.where(rng.uniform(size=(POSES // 2, arm.n)) < 0.5, *ranges(arm))
    poses = arm.forward(q)
    found = arm.inverse_many(poses, every=False)
    assert (errors(arm, found, poses) < 1e-9).mean() >= 0.97
    assert all(arm.within(own.joints).all() for own in found)


def test_a_start_outside_the_ranges_ends_inside():
    arm = arm_of("seven joints")
    q = np.full(7, 0.5)
    found = arm.inverse(arm.forward(q), present=np.full(7, 40.0))
    assert found
    assert arm.within(found.joints).all()


def test_without_limits_the_ranges_do_not_count():
    arm = arm_of("scara")
    q = np.array([0.3, 0.5, 0.9, 0.2])
    assert arm.inverse(arm.forward(q)).status.startswith("not found from any of the starts")
    found = arm.inverse(arm.forward(q), limits=False, every=False)
    assert np.abs(arm.forward(found.best) - arm.forward(q)).max() < 1e-9


# All 512 starts are gone through here: as plain Python that takes many seconds an arm and distance.
@pytest.mark.parametrize(
    "name", ["three in a plane"] if config.DISABLE_JIT else ["titan4", "three in a plane", "twelve joints"]
)
def test_out_of_reach_nothing_is_found(name: str):
    arm = arm_of(name)
    pose = arm.forward(np.full(arm.n, 0.3))
    for distance in (5.0,) if config.DISABLE_JIT else (5.0, 1e9, 1e200):
        pose[0, 3] = distance
        with np.errstate(all="ignore"):
            found = arm.inverse(pose)
        assert not found
        assert found.status.startswith("not found from any of the starts")


def test_a_pose_that_few_joints_cannot_make_is_not_found():
    arm = arm_of("three in a plane")
    pose = arm.forward(np.array([0.3, 0.4, 0.5]))
    pose[2, 3] += 1e-6
    assert not arm.inverse(pose)


def test_singular_poses_are_reached():
    for name in ("puma560", "titan4", "three in a plane"):
        arm = arm_of(name)
        pose = arm.forward(np.zeros(arm.n))
        found = arm.inverse(pose, present=np.full(arm.n, 0.4), every=False)
        assert np.abs(arm.forward(found.best) - pose).max() < 1e-9


def test_the_same_again_gives_the_same_bits():
    arm = arm_of("puma560")
    poses = arm.forward(positions(arm, np.random.default_rng(4), 3))
    one, other = arm.inverse_many(poses, every=False), arm.inverse_many(poses, every=False)
    assert one.joints.tobytes() == other.joints.tobytes()


def test_as_many_as_there_is_room_for():
    arm = arm_of("seven joints")
    flange = arm.frames(np.full(7, 0.5))[-2]
    numbers = np.concatenate([flange[:3, k] for k in range(4)])
    scratch, frames, room = np.zeros(7, SCRATCH), np.zeros((8, 12)), np.zeros((13, 15))
    joints = np.zeros((2, 7))
    count, status = numeric_solutions(arm.links, numbers, np.zeros(7), True, True, scratch, frames, room, joints)
    assert (count, status) == (2, choice.SOLVED)
    assert np.abs(arm.frames(joints)[:, -2] - flange).max() < 1e-9


def test_the_search_goes_on_until_no_more_are_expected():
    """Boender and Rinnooy Kan's estimate w (N − 1)/(N − w − 2) of the number of solutions, by itself."""
    for count in range(1, 17):
        enough = next(n for n in range(10_000) if seen_enough(count, n))
        assert count * (enough - 1) / (enough - count - 2) < count + UNSEEN + 1e-9
        assert count * (enough - 2) / (enough - count - 3) > count + UNSEEN - 1e-9


# --- parts ---------------------------------------------------------------------------------------------------


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 0.5, 2.0, 3.1, pi - 1e-9, pi])
def test_the_rotation_left_is_axis_times_angle(angle: float):
    rng = np.random.default_rng(5)
    for _ in range(20):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        now = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        goal = turned(axis, angle) @ now
        left = np.array(rotation_left(np.append(now.T.ravel(), [0.0] * 3), np.append(goal.T.ravel(), [0.0] * 3)))
        # Half a turn is the same about either end of its axis.
        sign = np.sign(left @ axis) if angle > pi - 1e-6 else 1.0
        assert np.abs(sign * left - angle * axis).max() < 1e-7 * max(angle, 1e-6)


def test_a_damped_step_is_that_of_the_normal_equations():
    rng = np.random.default_rng(6)
    for n in (2, 6, 9):
        room = np.zeros((6 + n, 8 + n))
        jacobian, error, held = rng.normal(size=(6, n)), rng.normal(size=6), rng.integers(0, 2, n)
        room[:6, :n], room[:6, n + 6], room[6:, 3] = jacobian, error, held
        damped_step(n, 0.3, room)
        free = jacobian * (1 - held)
        expected = np.linalg.solve(free.T @ free + 0.3 * np.eye(n), free.T @ error)
        assert np.abs(room[6:, 2] - expected).max() < 1e-10


def test_starts_are_spread_over_the_ranges():
    arm = arm_of("gantry")
    room = np.zeros((12, 14))
    room[6:, 4], room[6:, 5] = arm.lower, arm.upper
    wanted, seen = np.full(6, 0.1), []
    for number in range(64):
        start_at(arm.links, number, wanted, 1.0, room)
        seen.append(room[6:, 0].copy())
    assert (seen[0] == wanted).all()
    shares = (np.array(seen[1:]) - arm.lower) / (arm.upper - arm.lower)
    for k in range(6):
        assert (np.histogram(shares[:, k], bins=7, range=(0, 1))[0] >= 4).all()
    assert np.abs(np.corrcoef(shares.T) - np.eye(6)).max() < 0.4


def test_primes():
    number, found = 1, []
    for _ in range(8):
        number = next_prime(number)
        found.append(number)
    assert found == [2, 3, 5, 7, 11, 13, 17, 19]
