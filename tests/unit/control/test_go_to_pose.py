"""Every robot arrives within the tolerance and stops, or is refused."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from driving import DRIVABLE, Drive, controller_of, pose_error, robot_data, world

from botz.errors import InputError

KEEPS_HEADING = ("driven-ball", "synchro-drive")


def arrive(robot, start, goal, *, longest=60.0, step=0.02, **more) -> Drive:
    drive = Drive(
        world(robot, start, step=step), controller_of(type="go-to-pose", goal=list(goal), rate=50, **more), every=1
    )
    while drive.controller.stage != "arrived" and len(drive.times) * drive.period < longest:
        drive.run(0.5)
    drive.run(0.2)
    return drive


def assert_arrived(drive, goal, distance=0.005, angle=0.01) -> None:
    assert drive.controller.stage == "arrived"
    error = pose_error(drive.pose, goal)
    assert error[0] <= distance
    assert error[1] <= angle
    assert np.all(drive.twist == 0.0)


@pytest.mark.parametrize("robot", DRIVABLE)
def test_every_robot_that_can_arrives_and_stops(robot):
    goal = (1.5, 1.0, 0.3 if robot in KEEPS_HEADING else 2.0)
    assert_arrived(arrive(robot, (0.2, -0.3, 0.3), goal), goal)


@pytest.mark.parametrize("robot", ["differential", "three-omni", "bicycle", "tricycle-front-drive", "four-steer"])
@pytest.mark.parametrize("place", [(1.2, 0.0), (-1.2, 0.0), (0.0, 1.2), (0.1, -0.05)])
def test_from_any_side(robot, place):
    for heading in (0.0, 3.0, -1.5):
        goal = (*place, heading)
        assert_arrived(arrive(robot, (0.0, 0.0, 0.0), goal), goal)


def test_goal_is_the_pose_of_the_body_also_where_the_axle_is_off_the_origin_and_turned():
    robot = robot_data("differential")
    robot["wheels"]["left"].update(position=[-0.2, 0.3], heading="90 deg")
    robot["wheels"]["right"].update(position=[0.1, 0.3], heading="-90 deg")
    for goal in ((1.0, -1.0, 2.0), (-0.5, 0.2, 0.0)):
        assert_arrived(arrive(robot, (0.0, 0.0, 0.5), goal), goal)


def test_a_car_backs_up_where_that_is_shorter_and_stays_within_its_steering():
    drive = arrive("ackermann-rear-drive", (0.0, 0.0, 0.0), (-2.0, 0.0, 0.0))
    assert_arrived(drive, (-2.0, 0.0, 0.0))
    assert np.array(drive.poses)[:, 0].max() < 1e-3
    assert np.abs(np.array(drive.commands)[:, 1]).max() <= np.radians(35) + 1e-9


def test_limits_of_speed_and_turning_hold():
    drive = Drive(
        world("differential", (0.0, 0.0, 2.0), step=0.02),
        controller_of(type="go-to-pose", goal=[2, 0, 0], rate=50, limits={"speed": 0.3, "turn_rate": 0.4}),
        every=1,
    )
    for _ in range(300):
        drive.run(0.02)
        vx, _, turn = drive.twist
        assert abs(vx) <= 0.3 + 1e-9
        assert abs(turn) <= 0.4 + 1e-9


def test_tolerances_can_be_tightened():
    goal = (0.5, -0.7, 1.0)
    for robot in ("differential", "three-omni", "bicycle"):
        drive = arrive(robot, (0.0, 0.0, 0.0), goal, tolerance=2e-4, heading_tolerance=1e-3, step=0.01, longest=90)
        assert_arrived(drive, goal, 2e-4, 1e-3)


def test_by_odometry_it_arrives_where_the_odometry_says():
    robot = robot_data("differential")
    robot["wheels"]["left"]["slip"] = {"mean": 0.05}
    drive = arrive(robot, (0.0, 0.0, 0.0), (1.0, 0.5, 0.0), measured="odometry")
    assert drive.controller.stage == "arrived"
    assert pose_error(drive.measured["odometry/pose"], (1.0, 0.5, 0.0))[0] < 0.01
    assert pose_error(drive.pose, (1.0, 0.5, 0.0))[0] > 0.02


@pytest.mark.parametrize("robot", KEEPS_HEADING)
def test_a_heading_that_nothing_controls_is_refused(robot):
    drive = Drive(world(robot), controller_of(type="go-to-pose", goal=[1, 0, pi / 2]))
    with pytest.raises(InputError, match="nothing controls its heading"):
        drive.run(0.1)


def test_a_robot_that_cannot_turn_is_refused():
    with pytest.raises(InputError, match=r"'go-to-pose' cannot drive robot 'bot'"):
        Drive(world("skid-steer"), controller_of(type="go-to-pose", goal=[1, 0, 0]))


@pytest.mark.parametrize("robot", ["differential", "bicycle", "four-steer"])
def test_a_snapshot_in_the_middle_continues_alike(robot):
    spec = {"type": "go-to-pose", "goal": [1.0, 1.0, 1.0]}
    first = Drive(world(robot), controller_of(**spec)).run(2.0)
    saved, state = first.controller.snapshot(), first.engine.snapshot()
    second = Drive(world(robot), controller_of(**spec))
    second.controller.restore(saved)
    second.engine.restore(state)
    second.step = first.step
    first.run(3.0)
    second.run(3.0)
    assert first.pose.tobytes() == second.pose.tobytes()
    assert np.array_equal(first.commands[-150:], second.commands)
