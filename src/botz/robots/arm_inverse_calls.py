"""Inverse kinematics of one pose or many in one compiled call, by each of the solvers.

`memory` is the arm (arm_memory.py). One pose is (4, 4), with what is wanted (n); many are (N, 4, 4) and (N, n). What
comes out: joints (8, n), branches (8), costs (8), and the number of solutions with the status (2), of each.
"""

from __future__ import annotations

from math import inf

from numba import njit

from botz.kernels import UNCOUNTED, compiled
from botz.physics.arm.dh import flange_target
from botz.physics.ik.choice import chosen
from botz.physics.ik.numeric import numeric_solutions
from botz.physics.ik.parallel import parallel_solutions
from botz.physics.ik.titan4 import titan4_solutions
from botz.physics.ik.wrist import wrist_solutions
from botz.robots.arm_calls import usable
from botz.robots.arm_memory import parts_of
from botz.rotations import cross

entry = njit(cache=True, error_model="numpy", **UNCOUNTED)


@compiled
def is_pose(t):
    """Whether a matrix is a rigid transformation. Six digits of a rotation are enough."""
    worst = abs(t[3, 0]) + abs(t[3, 1]) + abs(t[3, 2]) + abs(t[3, 3] - 1.0)
    for i in range(3):
        for j in range(3):
            along = t[0, i] * t[0, j] + t[1, i] * t[1, j] + t[2, i] * t[2, j]
            worst = max(worst, abs(along - (1.0 if i == j else 0.0)))
    x, y, z = cross(t[0, 0], t[1, 0], t[2, 0], t[0, 1], t[1, 1], t[2, 1])
    turned = x * t[0, 2] + y * t[1, 2] + z * t[2, 2]
    return worst < 1e-6 and turned > 0.0 and abs(t[0, 3]) + abs(t[1, 3]) + abs(t[2, 3]) < inf


@entry
def first_bad_pose(poses):
    """Number of the first that is no pose; −1: all are."""
    for k in range(len(poses)):
        if not is_pose(poses[k]):
            return k
    return -1


@compiled
def can_be_used(links, pose, wanted, weights):
    good = pose.shape == (4, 4) and usable(links, wanted) and usable(links, weights)
    for weight in weights:
        good &= weight >= 0.0
    return good and is_pose(pose)


@compiled
def one_titan4(parts, pose, wanted, weights, limits, every, joints, branches, costs, outcome):
    arm, links, _, _, flange = parts
    if not can_be_used(links, pose, wanted, weights):
        return False
    flange_target(arm[0], pose, flange)
    count, status = titan4_solutions(links, flange, wanted, weights, limits, joints, branches)
    outcome[0], outcome[1] = chosen(links, wanted, weights, limits, count, status, joints, branches, costs)
    return True


@entry
def solve_titan4(memory, poses, wanted, weights, limits, every, joints, branches, costs, outcome):
    """False: some pose is none, or a number of `wanted` or `weights` cannot be used."""
    parts = parts_of(memory)
    if poses.ndim == 2:
        return one_titan4(parts, poses, wanted, weights, limits, every, joints, branches, costs, outcome)
    good = True
    for k in range(len(poses)):
        good &= one_titan4(
            parts, poses[k], wanted[k], weights, limits, every, joints[k], branches[k], costs[k], outcome[k]
        )
    return good


@compiled
def one_wrist(parts, pose, wanted, weights, limits, every, joints, branches, costs, outcome):
    arm, links, _, _, flange = parts
    if not can_be_used(links, pose, wanted, weights):
        return False
    flange_target(arm[0], pose, flange)
    count, status = wrist_solutions(links, flange, wanted, weights, limits, joints, branches)
    outcome[0], outcome[1] = chosen(links, wanted, weights, limits, count, status, joints, branches, costs)
    return True


@entry
def solve_wrist(memory, poses, wanted, weights, limits, every, joints, branches, costs, outcome):
    """False: some pose is none, or a number of `wanted` or `weights` cannot be used."""
    parts = parts_of(memory)
    if poses.ndim == 2:
        return one_wrist(parts, poses, wanted, weights, limits, every, joints, branches, costs, outcome)
    good = True
    for k in range(len(poses)):
        good &= one_wrist(
            parts, poses[k], wanted[k], weights, limits, every, joints[k], branches[k], costs[k], outcome[k]
        )
    return good


@compiled
def one_parallel(parts, pose, wanted, weights, limits, every, joints, branches, costs, outcome):
    arm, links, _, _, flange = parts
    if not can_be_used(links, pose, wanted, weights):
        return False
    flange_target(arm[0], pose, flange)
    count, status = parallel_solutions(links, flange, wanted, weights, limits, joints, branches)
    outcome[0], outcome[1] = chosen(links, wanted, weights, limits, count, status, joints, branches, costs)
    return True


@entry
def solve_parallel(memory, poses, wanted, weights, limits, every, joints, branches, costs, outcome):
    """False: some pose is none, or a number of `wanted` or `weights` cannot be used."""
    parts = parts_of(memory)
    if poses.ndim == 2:
        return one_parallel(parts, poses, wanted, weights, limits, every, joints, branches, costs, outcome)
    good = True
    for k in range(len(poses)):
        good &= one_parallel(
            parts, poses[k], wanted[k], weights, limits, every, joints[k], branches[k], costs[k], outcome[k]
        )
    return good


@compiled
def one_numeric(parts, pose, wanted, weights, limits, every, joints, branches, costs, outcome):
    arm, links, scratch, frames, work = parts
    if not can_be_used(links, pose, wanted, weights):
        return False
    n = len(links)
    flange, room = work[:12], work[12 : 12 + (n + 6) * (n + 8)].reshape((n + 6, n + 8))
    flange_target(arm[0], pose, flange)
    count, status = numeric_solutions(links, flange, wanted, limits, every, scratch, frames, room, joints)
    outcome[0], outcome[1] = chosen(links, wanted, weights, limits, count, status, joints, branches, costs)
    return True


@entry
def solve_numeric(memory, poses, wanted, weights, limits, every, joints, branches, costs, outcome):
    """False: some pose is none, or a number of `wanted` or `weights` cannot be used."""
    parts = parts_of(memory)
    if poses.ndim == 2:
        return one_numeric(parts, poses, wanted, weights, limits, every, joints, branches, costs, outcome)
    good = True
    for k in range(len(poses)):
        good &= one_numeric(
            parts, poses[k], wanted[k], weights, limits, every, joints[k], branches[k], costs[k], outcome[k]
        )
    return good
