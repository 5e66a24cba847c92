"""Inverse kinematics of arms of six revolute joints whose last three axes meet in a point: all solutions, up to eight.

The point, the wrist's centre, depends on the first three joints alone: up to four positions (physics/pieper.py). For
each of them the last three joints turn the tool in two ways (physics/wrist_angles.py). Where the centre lies on the
axis of joint 1 or 2, that joint is free and set where the cost is least (physics/freed_joint.py); where it lies on
both, joint 2 is, with joint 1 as near to the angle wanted as its range allows. Where axes 4 and 6 coincide, their
joints share the turn they make together.
"""

from __future__ import annotations

from math import pi

import numpy as np

from botz.frames import compiled
from botz.physics.dh import REVOLUTE
from botz.physics.freed_joint import add_freed
from botz.physics.ik_choice import FREE_SHOULDER, OUT_OF_REACH, SOLVED
from botz.physics.pieper import FIRST_ROW, FREE_1, FREE_2, arm_positions, on_second_axis, polished, wrist_frame
from botz.physics.wrist_angles import TOGETHER, add_wrists, relative_axes

NEWTON_FROM = 1e-13
"""Distance of the wrist's centre from its target, as a share of the reach, above which a position is polished."""
LEFT_OVER = 1e-10
"""The same, above which a position is none."""


def fits(links: np.ndarray) -> bool:
    """Whether axes 4, 5 and 6 meet in one point, with different directions, and the first three joints move this point
    anywhere: not where they are all parallel, or all meet. Plain NumPy: no arm waits for a compiler to learn this."""
    if len(links) != 6 or (links["kind"] != REVOLUTE).any():
        return False
    reach = float(np.abs(links["a"]).sum() + np.abs(links["d"]).sum())
    offsets = max(abs(links["a"][3]), abs(links["a"][4]), abs(links["d"][4]))
    if reach == 0.0 or offsets > 1e-13 * reach or min(abs(links["sa"][3]), abs(links["sa"][4])) < 1e-6:
        return False
    volumes = [abs(volume_of_moves(links, (0.0, 2.0 - 0.7 * k, 0.4 + 1.1 * k))) for k in range(5)]
    return max(volumes) > 1e-7 * reach**3


def volume_of_moves(links: np.ndarray, angles: tuple[float, ...]) -> float:
    """Determinant of the wrist centre's derivatives by the first three joints."""
    turn, place = np.eye(3), np.zeros(3)
    axes, points = [], []
    for link, angle in zip(links[:3], angles, strict=True):
        axes.append(turn[:, 2])
        points.append(place)
        c, s = np.cos(angle), np.sin(angle)
        place = place + turn @ [link.a * c, link.a * s, link.d]
        turn = turn @ [[c, -s * link.ca, s * link.sa], [s, c * link.ca, -c * link.sa], [0.0, link.sa, link.ca]]
    centre = place + turn[:, 2] * links[3].d
    return float(np.linalg.det([np.cross(axis, centre - point) for axis, point in zip(axes, points, strict=True)]))


@compiled
def reach_of(links):
    total = 0.0
    for i in range(len(links)):
        total += abs(links[i].a) + abs(links[i].d)
    return total


@compiled
def without_twins(count, joints, branch):
    """Leave out what is there already, but for whole turns."""
    kept = 0
    for k in range(count):
        twin = False
        for other in range(kept):
            widest = 0.0
            for i in range(joints.shape[1]):
                apart = joints[k, i] - joints[other, i]
                widest = max(widest, abs(apart - 2.0 * pi * round(apart / (2.0 * pi))))
            twin |= widest < TOGETHER
        if not twin:
            for i in range(joints.shape[1]):
                joints[kept, i] = joints[k, i]
            branch[kept] = branch[k]
            kept += 1
    return kept


@compiled
def wrist_solutions(links, flange, wanted, weights, limits, joints, branch):  # -> count, status
    """All joints that bring frame 6 to `flange` (axes x, y, z and origin, base axes); `joints` (8, 6), `branch` (8)."""
    reach = reach_of(links)
    last = links[5]
    axis = (
        last.sa * flange[3] + last.ca * flange[6],
        last.sa * flange[4] + last.ca * flange[7],
        last.sa * flange[5] + last.ca * flange[8],
    )
    x = flange[9] - last.a * flange[0] - last.d * axis[0]
    y = flange[10] - last.a * flange[1] - last.d * axis[1]
    z = flange[11] - last.a * flange[2] - last.d * axis[2]
    end, flags = arm_positions(links, x, y, z, reach, wanted, joints, branch)
    count, asked = 0, wanted[0]
    if limits:
        asked = min(max(asked, links[0].lower), links[0].upper)
    for row in range(FIRST_ROW, end):
        q1, q2, q3, marks = joints[row, 0], joints[row, 1], joints[row, 2], branch[row]
        if marks & FREE_1:
            q1 = asked
        xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = wrist_frame(links, q1, q2, q3)
        left = abs(px - x) + abs(py - y) + abs(pz - z)
        if not left <= NEWTON_FROM * reach:
            q1, q2, q3, left = polished(links, x, y, z, q1, q2, q3)
            if not left <= LEFT_OVER * reach:
                continue
            xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = wrist_frame(links, q1, q2, q3)
        code = marks & 3
        second = marks & FREE_2 and on_second_axis(links, reach, q3)
        if second or marks & FREE_1:
            free = 1 if second else 0
            flags |= FREE_SHOULDER
            q1 = asked if marks & FREE_1 else q1  # the polish may have moved it: it moves nothing
            case = (links, flange, axis, wanted, weights, limits, free, q1, q2, q3)
            count = add_freed(case, code, count, joints, branch)
            continue
        mx, my, mz, nx, ny, nz = relative_axes(flange, axis, xx, xy, xz, yx, yy, yz, zx, zy, zz)
        joints[count, 0], joints[count, 1], joints[count, 2] = q1, q2, q3
        count, flag = add_wrists(
            links, wanted, weights, limits, mx, my, mz, nx, ny, nz, 0, 1, code, count, joints, branch
        )
        flags |= flag
    if flags:
        count = without_twins(count, joints, branch)
    return (count, SOLVED + flags) if count > 0 else (0, OUT_OF_REACH)
