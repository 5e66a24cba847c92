"""Waypoints: every robot reaches the last one, near the polyline."""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest
from driving import DRIVABLE, Drive, controller_of, world

from botz.control.wheeled.polyline import Polyline
from botz.errors import InputError

CARS = ("ackermann-front-drive", "ackermann-rear-drive", "bicycle", "tricycle-rear-drive")


def follow(robot, points, *, pose=(0.0, 0.0, 0.0), longest=60.0, **more) -> Drive:
    spec = {"type": "waypoints", "points": points, "rate": 50, **more}
    drive = Drive(world(robot, pose, step=0.02), controller_of(**spec), every=1)
    while drive.controller.stage != "arrived" and len(drive.times) * drive.period < longest:
        drive.run(0.5)
    return drive


def farthest(drive: Drive, path: Polyline) -> float:
    samples = np.array([path.point(s) for s in np.arange(0.0, path.length, 0.02)])
    poses = np.array(drive.poses)[::5, :2]
    return float(np.hypot(*(poses[:, None] - samples[None]).transpose(2, 0, 1)).min(axis=1).max())


@pytest.mark.parametrize("robot", DRIVABLE)
def test_every_robot_follows_the_polyline_and_stops_at_its_end(robot):
    points = [[2.0, 0.0], [3.5, 1.0], [5.0, 1.0]]
    lookahead = 0.8 if robot in CARS else 0.3
    drive = follow(robot, points, lookahead=lookahead)
    assert drive.controller.stage == "arrived"
    assert hypot(drive.pose[0] - 5.0, drive.pose[1] - 1.0) < 0.05 * lookahead + 1e-3
    drive.run(0.1)
    assert np.all(drive.twist == 0.0)
    assert farthest(drive, Polyline((0.0, 0.0), [(x, y) for x, y in points], loop=False)) < (
        0.2 if robot in CARS else 0.08
    )


@pytest.mark.parametrize("robot", ["differential", "ackermann-rear-drive", "bicycle", "tricycle-front-drive"])
@pytest.mark.parametrize("point", [[-1.5, 0.2], [0.0, 0.4], [0.3, -0.3]])
def test_a_point_behind_or_beside_is_reached_too(robot, point):
    drive = follow(robot, [point], longest=80)
    assert drive.controller.stage == "arrived"
    assert hypot(drive.pose[0] - point[0], drive.pose[1] - point[1]) < 0.02


@pytest.mark.parametrize("robot", ["three-omni", "synchro-drive"])
def test_robots_that_move_in_every_direction_keep_their_heading_and_hit_the_corners(robot):
    points = [[1.0, 0.0], [1.0, 1.0], [0.0, 0.5]]
    drive = follow(robot, points, pose=(0.0, 0.0, 0.7))
    poses = np.array(drive.poses)
    assert np.abs(poses[:, 2] - 0.7).max() < 1e-9
    for x, y in points:
        assert np.hypot(poses[:, 0] - x, poses[:, 1] - y).min() < 0.02


@pytest.mark.parametrize("robot", ["differential", "four-steer", "tricycle-rear-drive"])
def test_a_loop_goes_on(robot):
    points = [[1.0, 0.0], [3.0, 0.0], [3.0, 2.0], [1.0, 2.0]]
    drive = follow(robot, points, loop=True, longest=40)
    assert drive.controller.stage == "follow"
    poses = np.array(drive.poses)
    assert np.hypot(*np.diff(poses[:, :2], axis=0).T).sum() > 15
    for x, y in points:
        near = np.hypot(poses[:, 0] - x, poses[:, 1] - y) < 0.3
        assert np.count_nonzero(np.diff(near.astype(int)) == 1) >= 2
    assert farthest(drive, Polyline((0.0, 0.0), [(x, y) for x, y in points], loop=True)) < 0.3


def test_a_single_point_is_no_loop():
    for robot in ("three-omni", "differential"):
        assert follow(robot, [[0.5, 0.2], [0.5, 0.2]], loop=True, longest=15).controller.stage == "arrived"


def test_a_robot_that_cannot_turn_is_refused():
    with pytest.raises(InputError, match=r"'waypoints' cannot drive robot 'bot'"):
        follow("skid-steer", [[1, 0]])


def test_nearest_point_moves_on_where_a_path_comes_back_on_itself():
    path = Polyline((0.0, 0.0), [(2.0, 0.0), (0.0, 0.0)], loop=False)
    assert path.length == 4.0
    assert path.nearest(1.5, 0.1, 1.0, 5.0) == pytest.approx(1.5)
    assert path.nearest(1.5, 0.1, 1.8, 5.0) == pytest.approx(2.5)
    assert path.nearest(0.0, 0.0, 1.8, 0.6) == pytest.approx(2.4)


def test_distances_on_a_loop_come_round():
    path = Polyline((-1.0, 0.0), [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], loop=True)
    assert path.loop_from == 1.0
    assert path.length == 5.0
    assert path.point(5.5) == pytest.approx((0.5, 0.0))
    assert path.nearest(0.5, -0.1, 4.8, 1.0) == pytest.approx(5.5)
    assert path.on_loop(9.25) == pytest.approx(1.25)
