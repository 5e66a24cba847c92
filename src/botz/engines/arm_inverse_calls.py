"""Inverse kinematics of many poses in one compiled call, by each of the solvers."""

from __future__ import annotations

from numba import njit

from botz.frames import UNCOUNTED
from botz.physics.dh import flange_target
from botz.physics.ik_choice import chosen
from botz.physics.numeric_ik import numeric_solutions
from botz.physics.titan4_ik import titan4_solutions
from botz.physics.wrist_ik import wrist_solutions

entry = njit(cache=True, error_model="numpy", **UNCOUNTED)


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
def solve_numeric(
    arm, links, poses, wanted, weights, limits, flange, scratch, frames, room, joints, branch, cost, counts, status
):
    """`room` is (6 + n, 8 + n)."""
    for k in range(len(poses)):
        flange_target(arm[0], poses[k], flange)
        count, found = numeric_solutions(links, flange, wanted[k], limits, scratch, frames, room, joints[k])
        counts[k], status[k] = chosen(links, wanted[k], weights, limits, count, found, joints[k], branch[k], cost[k])
