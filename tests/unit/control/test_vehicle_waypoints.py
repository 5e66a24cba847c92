"""Waypoints of a vehicle with tank steering: it comes there, slows down, stops, and survives falling over."""

from __future__ import annotations

from itertools import pairwise
from math import cos, hypot, isfinite, pi, sin

import numpy as np
import pytest
from vehicle_plant import Drive, Plant, controller_of, setup_for, vehicle

from botz.control.wheeled.polyline import Polyline
from botz.control.wheeled.vehicle_waypoints import planar_pose
from botz.errors import InputError
from botz.sim.simulation import Simulation

PATH = [[2.0, 0.0], [3.0, 1.5], [5.0, 1.5]]


def follow(points, *, longest=40.0, heading=0.0, grip=0.6, **more) -> Drive:
    plant = Plant(vehicle(), grip=grip)
    plant.heading = heading
    drive = Drive(controller_of(type="waypoints", points=points, **more), plant)
    while drive.controller.stage != "arrived" and drive.t < longest:
        drive.run(0.25)
    return drive


@pytest.mark.parametrize("grip", [1.0, 0.6, 0.35])
def test_it_follows_the_polyline_and_stops_at_its_end(grip):
    drive = follow(PATH, grip=grip, lookahead=0.5)
    assert drive.controller.stage == "arrived"
    drive.run(2.0)
    assert hypot(drive.plant.x - 5.0, drive.plant.y - 1.5) < 0.1
    assert abs(drive.plant.forward) < 1e-3
    path = Polyline((0.0, 0.0), [(x, y) for x, y in PATH], loop=False)
    line = np.array([path.point(s) for s in np.arange(0.0, path.length, 0.02)])
    track = np.array(drive.track)[:, :2]
    assert np.hypot(*(track[:, None] - line[None]).transpose(2, 0, 1)).min(axis=1).max() < 0.2
    for x, y in PATH:
        assert drive.nearest(x, y) < 0.2


def test_speeds_stay_within_their_limits_and_fall_in_turns_and_at_the_end():
    limits = {"speed": 1.0, "turn_rate": 1.0}
    drive = follow([[3.0, 0.0], [3.0, 3.0]], limits=limits)
    x, y, forward, yaw_rate = np.array(drive.track).T
    assert forward.max() < 1.05
    assert np.abs(yaw_rate).max() < 1.05
    assert forward[(x > 1.5) & (x < 2.0)].min() > 0.9
    corner = np.hypot(x - 3.0, y) < 0.4
    assert forward[corner].min() < 0.8
    assert forward[np.hypot(x - 3.0, y - 3.0) < 0.12].max() < 0.35


@pytest.mark.parametrize("point", [[-2.0, 0.0], [-2.0, 0.3], [0.0, 1.0], [-0.3, -0.3]])
def test_a_point_behind_is_reached_by_turning_on_the_spot(point):
    # Half a turn at 1.5 rad/s less the skid, 2 m at 0.8 m/s and the approach: no dithering straight behind either.
    drive = follow([point], longest=10.0)
    assert drive.controller.stage == "arrived"
    drive.run(1.0)
    assert hypot(drive.plant.x - point[0], drive.plant.y - point[1]) < 0.1
    # It never drives away from the point on a wide curve.
    farthest = max(hypot(x - point[0], y - point[1]) for x, y, _, _ in drive.track)
    assert farthest < hypot(*point) + 0.1


def test_a_loop_goes_on_and_passes_every_point_again():
    corners = [[2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]]
    drive = follow(corners, loop=True, longest=45.0)
    assert drive.controller.stage == "follow"
    track = np.array(drive.track)
    for x, y in corners:
        near = np.hypot(track[:, 0] - x, track[:, 1] - y) < 0.35
        assert np.count_nonzero(np.diff(near.astype(int)) == 1) >= 2


def test_a_path_that_ends_where_it_began_is_driven_all_the_way():
    drive = follow([[2.0, 0.0], [2.0, 2.0], [0.0, 0.0]])
    assert drive.controller.stage == "arrived"
    assert drive.nearest(2.0, 2.0) < 0.35
    assert follow([[0.5, 0.2], [0.5, 0.2]], loop=True, longest=15).controller.stage == "arrived"


def test_a_vehicle_at_its_goal_does_not_move():
    drive = follow([[0.05, 0.0]], longest=1.0)
    assert drive.controller.stage == "arrived"
    assert {value for command in drive.commands for value in command.values()} == {0.0}


def test_arrived_it_stays_at_rest_even_where_it_is_pushed_away():
    drive = follow([[1.0, 0.0]])
    drive.run(2.0)
    drive.plant.x -= 0.5
    drive.run(1.0)
    assert drive.controller.stage == "arrived"
    assert abs(drive.plant.forward) < 1e-3


def test_yaw_gain_gives_back_yaw_that_skidding_takes():
    def turn(yaw_gain: float) -> float:
        drive = follow([[-3.0, 0.1]], longest=0.5, grip=0.5, yaw_gain=yaw_gain)
        return abs(drive.plant.yaw_rate)

    # yaw = grip (1 + gain) / (1 + gain grip) of the wanted rate, 1.5 rad/s behind it, when the wheels have their speed.
    assert turn(0.0) < 0.8
    assert turn(2.0) > 1.35 * turn(0.0)


@pytest.mark.parametrize(("lag", "yaw_gain"), [(0.001, 20.0), (0.02, 20.0), (0.1, 2.0)])
def test_yaw_feedback_does_not_make_it_swing(lag, yaw_gain):
    plant = Plant(vehicle(), lag=lag, grip=1.0)
    drive = Drive(controller_of(type="waypoints", points=[[-3.0, 0.1]], yaw_gain=yaw_gain), plant).run(1.5)
    yaw_rate = np.array(drive.track)[50:, 3]
    assert np.abs(np.diff(yaw_rate)).max() < 0.1
    assert yaw_rate[-1] == pytest.approx(1.5, abs=0.1)


def test_the_shipped_vehicle_drives_to_a_corner_and_back_on_its_real_tyres(tmp_path):
    file = tmp_path / "there.yaml"
    points = "[[1.5, 0], [1.5, 1.5], [0, 0.5]]"
    file.write_text(
        "engine: vehicle\nrobots:\n  bot: {extends: vivi}\n"
        f"controllers:\n  drive: {{type: waypoints, robot: bot, points: {points}}}\n",
        encoding="utf-8",
    )
    simulation = Simulation(file)
    track = np.array([simulation.step(n=500)["bot/pose"][:2] for _ in range(240)])
    for point in ([1.5, 0.0], [1.5, 1.5]):
        assert np.hypot(*(track - point).T).min() < 0.25
    assert np.hypot(*(track[-1] - [0.0, 0.5])) < 0.1
    assert np.hypot(*simulation.values()["bot/twist"][:2]) < 1e-3


def test_more_speed_than_the_motors_have_leaves_room_for_steering():
    drive = follow([[6.0, 0.0], [9.0, 3.0], [14.0, 3.0]], limits={"speed": 20.0, "turn_rate": 1.5}, lookahead=1.5)
    assert drive.controller.stage == "arrived"
    top = drive.plant.top_speed("front_left") * 0.11
    assert 0.6 * top < max(forward for _, _, forward, _ in drive.track) < 0.95 * top


def test_a_snapshot_continues_bit_for_bit():
    spec = {"type": "waypoints", "points": PATH}
    drive = Drive(controller_of(**spec), Plant(vehicle())).run(3.0)
    saved = drive.controller.snapshot()
    again = Drive(controller_of(**spec), Plant(vehicle()))
    for name in ("speeds", "voltages"):
        setattr(again.plant, name, dict(getattr(drive.plant, name)))
    for name in ("x", "y", "heading", "forward", "yaw_rate"):
        setattr(again.plant, name, getattr(drive.plant, name))
    again.controller.restore(saved)
    drive.run(4.0)
    again.run(4.0)
    assert again.commands == drive.commands[-len(again.commands) :]
    assert again.controller.snapshot() == drive.controller.snapshot()


@pytest.mark.parametrize(
    "quat_wxyz",
    [
        (0, 1, 0, 0),
        (0, 0, 1, 0),
        (cos(pi / 4), sin(pi / 4), 0, 0),
        (cos(pi / 4), 0, sin(pi / 4), 0),
        (0.5, 0.5, 0.5, 0.5),
    ],
)
def test_fallen_over_it_commands_finite_voltages_and_lets_the_wheels_stop(quat_wxyz):
    controller = controller_of(type="waypoints", points=PATH)
    controller.reset(setup_for(vehicle()))
    measured = Plant(vehicle()).measured()
    measured["pose"] = np.array([0.0, 0.0, 0.1, *quat_wxyz])
    measured["twist"] = np.array([0.1, 0.2, 0.3, 3.0, -2.0, 5.0])
    for _ in range(50):
        command = controller.update(0.0, measured)
        assert len(command) == 4 and all(isfinite(value) for value in command.values())
    measured["pose"][3:] = (0, 1, 0, 0)
    controller.reset(setup_for(vehicle()))
    assert set(controller.update(0.0, measured).values()) == {0.0}
    # Back on its wheels it goes on.
    measured["pose"][3:] = (1, 0, 0, 0)
    assert max(controller.update(0.0, measured).values()) > 0.0


def test_heading_and_upright_of_a_tilted_body():
    def quat(roll, pitch, yaw):
        (cr, sr), (cp, sp), (cy, sy) = ((cos(a / 2), sin(a / 2)) for a in (roll, pitch, yaw))
        return (
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        )

    pose, upright = planar_pose([1.0, 2.0, 3.0, *quat(0.4, -0.3, 2.5)])
    assert pose == pytest.approx((1.0, 2.0, 2.5))
    assert upright
    assert planar_pose([0, 0, 0, *quat(1.5, 0.0, 1.0)])[1]
    assert not planar_pose([0, 0, 0, *quat(1.65, 0.0, 1.0)])[1]
    assert not planar_pose([0, 0, 0, *quat(0.0, 1.65, 1.0)])[1]


def test_a_vehicle_with_motors_on_one_side_is_refused():
    one_side = vehicle(motors={"front_left": {"wheels": ["front_left"]}})
    with pytest.raises(InputError, match="motors on one side only"):
        controller_of(type="waypoints", points=PATH).reset(setup_for(one_side))


def test_progress_never_goes_back():
    drive = Drive(controller_of(type="waypoints", points=PATH), Plant(vehicle()))
    seen = []
    for _ in range(100):
        drive.run(0.05)
        seen.append(drive.controller.progress)
    assert all(a <= b for a, b in pairwise(seen))
    assert seen[-1] > 2.0
