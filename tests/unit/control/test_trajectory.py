"""Trajectories in time: how closely they are followed, and what is refused."""

from __future__ import annotations

from math import cos, hypot, pi, sin

import numpy as np
import pytest
from driving import DRIVABLE, Drive, controller_of, world

from botz.control.wheeled.reference import Circle, Eight, Line, Sampled
from botz.errors import InputError

NEEDS_TIME = (
    "ackermann-front-drive",
    "ackermann-rear-drive",
    "bicycle",
    "tricycle-front-drive",
    "tricycle-rear-drive",
)
"""Their steering stands straight at the start and is not on the circle at once."""


def errors(drive: Drive) -> np.ndarray:
    reference = drive.controller.reference
    moments = [reference.at(t) for t in drive.times]
    return np.array([hypot(p[0] - m.x, p[1] - m.y) for p, m in zip(drive.poses, moments, strict=True)])


def rms(values) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def circle(robot, offset=(0.0, 0.0, 0.0), *, rate=50, duration=20.0, **more) -> Drive:
    spec = {"type": "trajectory", "curve": "circle", "size": 2.0, "period": 30, "rate": rate, **more}
    start = (2.0 + offset[0], offset[1], pi / 2 + offset[2])
    return Drive(world(robot, start, step=1 / rate), controller_of(**spec), every=1).run(duration)


@pytest.mark.parametrize("robot", DRIVABLE)
def test_every_robot_follows_a_circle(robot):
    """From a consistent start the error is rounding, or what a wheel that must first be steered costs."""
    found = errors(circle(robot))
    assert found.max() < (0.05 if robot in NEEDS_TIME else 5e-3)
    assert rms(found[-250:]) < 1e-5


def test_a_synchro_drive_turns_its_wheels_without_end_and_keeps_its_heading():
    spec = {"type": "trajectory", "curve": "eight", "size": 1.0, "period": 30, "rate": 50}
    drive = Drive(world("synchro-drive", step=0.02), controller_of(**spec), every=1).run(40)
    found = errors(drive)
    assert rms(found[200:]) < 1e-3
    assert np.ptp(np.array(drive.poses)[:, 2]) < 1e-9


@pytest.mark.parametrize(
    "robot",
    ["differential", "three-omni", "driven-ball", "four-steer", "ackermann-rear-drive", "tricycle-front-drive"],
)
@pytest.mark.parametrize("offset", [(0.4, -0.3, 0.6), (-1.0, 0.5, 2.8)])
def test_an_error_at_the_start_decays(robot, offset):
    found = errors(circle(robot, offset, duration=40))
    assert found[0] == pytest.approx(hypot(*offset[:2]))
    assert rms(found[-250:]) < 1e-3


def test_the_error_shrinks_with_the_rate():
    """On an eight speed and curvature change within each period; held at their mean they leave errors of second
    order, so half the period leaves a quarter."""

    def worst(rate):
        spec = {"type": "trajectory", "curve": "eight", "size": 1.5, "period": 20, "rate": rate}
        drive = Drive(world("differential", (0, 0, pi / 4), step=1 / rate), controller_of(**spec), every=1)
        return errors(drive.run(20)).max()

    coarse, fine = worst(20), worst(40)
    assert coarse < 1e-4
    assert fine < coarse / 3


def test_heading_follows_the_path_or_is_kept():
    spec = {"type": "trajectory", "curve": "eight", "size": 1.0, "period": 20, "rate": 50}
    path = Drive(world("three-omni", (0, 0, pi / 4), step=0.02), controller_of(**spec), every=1).run(15)
    for pose, t in zip(path.poses, path.times, strict=True):
        assert cos(pose[2] - path.controller.reference.at(t).heading) > 1 - 1e-6
    keep = Drive(world("three-omni", (0, 0, 0.4), step=0.02), controller_of(**spec, heading="keep"), every=1).run(15)
    assert np.abs(np.array(keep.poses)[:, 2] - 0.4).max() < 1e-9
    assert errors(keep).max() < 1e-4


def test_a_line_ends_at_its_end():
    spec = {"type": "trajectory", "curve": "line", "size": 1.0, "period": 5, "rate": 50, "center": [0.5, 1.0]}
    for robot in ("differential", "bicycle", "four-mecanum"):
        drive = Drive(world(robot, (0.5, 1.0, 0.0), step=0.02), controller_of(**spec), every=1).run(7)
        assert drive.pose == pytest.approx([1.5, 1.0, 0.0], abs=1e-4)
        assert np.abs(drive.twist).max() < 1e-3


def test_by_odometry_the_odometry_follows_and_the_truth_drifts():
    wheels = {"left": {"type": "fixed", "position": [0, 0.15], "driven": True, "slip": {"mean": 0.02}}}
    wheels["right"] = {"type": "fixed", "position": [0, -0.15], "driven": True, "slip": {"mean": 0.0}}
    drive = circle({"wheels": wheels}, measured="odometry", duration=30)
    last = drive.controller.reference.at(30.0)
    assert hypot(drive.measured["odometry/pose"][0] - last.x, drive.measured["odometry/pose"][1] - last.y) < 0.02
    assert hypot(drive.pose[0] - last.x, drive.pose[1] - last.y) > 0.1


def test_a_curve_too_tight_for_a_car_is_refused_with_the_size_it_needs():
    with pytest.raises(InputError, match=r"cannot follow this circle: it turns within 0\.5 m.*at least 1\.02 m"):
        Drive(world("bicycle"), controller_of(type="trajectory", curve="circle", size=0.5))


# --- files ---------------------------------------------------------------------------------------------------


def write(folder, lines) -> str:
    file = folder / "path.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file)


def test_a_file_of_points_is_followed(tmp_path):
    rows = [f"{t:.2f},{2 * sin(0.2 * t):.9f},{2 - 2 * cos(0.2 * t):.9f}" for t in np.arange(0, 20.01, 0.25)]
    spec = {"type": "trajectory", "file": write(tmp_path, ["time,x,y", *rows]), "rate": 50}
    for robot in ("differential", "tricycle-rear-drive", "three-omni"):
        drive = Drive(world(robot, step=0.02), controller_of(**spec), every=1).run(22)
        assert rms(errors(drive)[500:900]) < 1e-4
        assert hypot(drive.pose[0] - 2 * sin(4.0), drive.pose[1] - 2 + 2 * cos(4.0)) < 0.01


def test_headings_of_a_file_turn_an_omnidirectional_robot(tmp_path):
    rows = [f"{t:g},{0.1 * t:.6f},0,{0.3 * t:.6f}" for t in range(11)]
    spec = {"type": "trajectory", "file": write(tmp_path, ["time,x,y,heading", *rows]), "rate": 50}
    drive = Drive(world("four-mecanum", step=0.02), controller_of(**spec), every=1).run(8)
    assert drive.pose == pytest.approx([0.8, 0.0, 2.4], abs=1e-4)
    fixed = Drive(world("driven-ball"), controller_of(**spec))
    with pytest.raises(InputError, match="nothing controls its heading"):
        fixed.run(0.1)


def test_headings_of_a_file_are_the_bodys_where_the_axle_is_off_the_origin(tmp_path):
    """The body's origin is 0.2 m ahead of an axle that follows a circle of radius 1."""
    rows = []
    for t in np.arange(0, 10.01, 0.1):
        a = 0.3 * t
        x, y = sin(a) + 0.2 * cos(a), 1 - cos(a) + 0.2 * sin(a)
        rows.append(f"{t:.1f},{x:.9f},{y:.9f},{a:.9f}")
    robot = {
        "wheels": {n: {"type": "fixed", "position": [-0.2, y], "driven": True} for n, y in (("l", 0.1), ("r", -0.1))}
    }
    spec = {"type": "trajectory", "file": write(tmp_path, ["time,x,y,heading", *rows]), "rate": 50}
    drive = Drive(world(robot, (0.2, 0.0, 0.0), step=0.02), controller_of(**spec), every=1).run(9)
    assert errors(drive).max() < 1e-4


def test_a_file_waits_before_its_first_row_and_has_a_direction_while_it_stands(tmp_path):
    rows = ["1,0,0", "2,0,0", "3,0,1", "4,0,2", "5,0,2", "6,0,2"]
    reference = Sampled(tmp_path / write(tmp_path, ["time,x,y", *rows]))
    before = reference.at(0.0)
    assert (before.x, before.y, before.speed) == (0.0, 0.0, 0.0)
    assert reference.at(3.0).heading == pytest.approx(pi / 2)
    after = reference.at(9.0)
    assert (after.x, after.y, after.speed) == (0.0, 2.0, 0.0)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["time,x", "0,0", "1,1"], "no column 'y'"),
        (["time,x,y,z", "0,0,0,0", "1,1,1,1"], "unknown column 'z'"),
        (["time,x,y", "0,0,0"], "at least two rows"),
        (["time,x,y", "1,0,0", "0,1,1"], r"path\.csv:3: time: 0 s does not come after 1 s"),
    ],
)
def test_broken_files(tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        controller_of(type="trajectory", file=write(tmp_path, lines))


@pytest.mark.parametrize("curve", [Circle(0.3, -1, 1.3, 11), Eight(0.3, -1, 1.3, 11), Line(0.3, -1, 1.3, 11)])
def test_velocities_and_turn_rates_are_derivatives(curve):
    h = 1e-6
    for t in np.linspace(0.1, 10.9, 23):
        before, now, after = curve.at(t - h), curve.at(t), curve.at(t + h)
        assert now.vx == pytest.approx((after.x - before.x) / (2 * h), abs=1e-7)
        assert now.vy == pytest.approx((after.y - before.y) / (2 * h), abs=1e-7)
        turn = (after.heading - before.heading + pi) % (2 * pi) - pi
        assert now.turn == pytest.approx(turn / (2 * h), abs=1e-6)
        assert now.speed <= curve.fastest + 1e-12
        if now.speed > 0:
            assert cos(now.heading) == pytest.approx(now.vx / now.speed, abs=1e-9)
