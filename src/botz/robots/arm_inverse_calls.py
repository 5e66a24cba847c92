"""Inverse kinematics of many poses in one compiled call, by each of the solvers."""

from __future__ import annotations

from math import inf

from numba import njit

from botz.kernels import UNCOUNTED
from botz.physics.arm.dh import flange_target
from botz.physics.ik.choice import chosen
from botz.physics.ik.numeric import numeric_solutions
from botz.physics.ik.parallel import parallel_solutions
from botz.physics.ik.titan4 import titan4_solutions
from botz.physics.ik.wrist import wrist_solutions
from botz.rotations import cross

entry = njit(cache=True, error_model="numpy", **UNCOUNTED)


@entry
def first_bad_pose(poses):
    """Number of the first that is no pose; −1: all are. Six digits of a rotation are enough."""
    for k in range(len(poses)):
        t = poses[k]
        worst = abs(t[3, 0]) + abs(t[3, 1]) + abs(t[3, 2]) + abs(t[3, 3] - 1.0)
        for i in range(3):
            for j in range(3):
                along = t[0, i] * t[0, j] + t[1, i] * t[1, j] + t[2, i] * t[2, j]
                worst = max(worst, abs(along - (1.0 if i == j else 0.0)))
        x, y, z = cross(t[0, 0], t[1, 0], t[2, 0], t[0, 1], t[1, 1], t[2, 1])
        turned = x * t[0, 2] + y * t[1, 2] + z * t[2, 2]
        if not (worst < 1e-6 and turned > 0.0 and abs(t[0, 3]) + abs(t[1, 3]) + abs(t[2, 3]) < inf):
            return k
    return -1


@entry
def solve_titan4(arm, links, poses, wanted, weights, limits, flange, joints, branch, cost, counts, status):
    """`flange` is room for 12 numbers; out: (N, 8, n), (N, 8), (N, 8), (N), (N)."""
    for k in range(len(poses)):
        flange_target(arm[0], poses[k], flange)
        count, found = titan4_solutions(links, flange, wanted[k], weights, limits, joints[k], branch[k])
        counts[k], status[k] = chosen(links, wanted[k], weights, limits, count, found, joints[k], branch[k], cost[k])


@entry
def solve_wrist(arm, links, poses, wanted, weights, limits, flange, joints, branch, cost, counts, status):
    for k in range(len(poses)):
        flange_target(arm[0], poses[k], flange)
        count, found = wrist_solutions(links, flange, wanted[k], weights, limits, joints[k], branch[k])
        counts[k], status[k] = chosen(links, wanted[k], weights, limits, count, found, joints[k], branch[k], cost[k])


@entry
def solve_parallel(arm, links, poses, wanted, weights, limits, flange, joints, branch, cost, counts, status):
    for k in range(len(poses)):
        flange_target(arm[0], poses[k], flange)
        count, found = parallel_solutions(links, flange, wanted[k], weights, limits, joints[k], branch[k])
        counts[k], status[k] = chosen(links, wanted[k], weights, limits, count, found, joints[k], branch[k], cost[k])


@entry
def solve_numeric(
    arm, links, poses, wanted, weights, limits, flange, every, scratch, frames, room, joints, branch, cost, counts,
    status,
):  # fmt: skip
    """`room` is (6 + n, 8 + n)."""
    for k in range(len(poses)):
        flange_target(arm[0], poses[k], flange)
        count, found = numeric_solutions(links, flange, wanted[k], limits, every, scratch, frames, room, joints[k])
        counts[k], status[k] = chosen(links, wanted[k], weights, limits, count, found, joints[k], branch[k], cost[k])
