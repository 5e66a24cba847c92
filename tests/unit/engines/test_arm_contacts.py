"""What arms touch, push, grip and carry in engine `arm`: closed forms of rest, sliding, holding and slipping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arm_rig import G, Rig, arm, slider

K = 2e5
"""Stiffness of a point of contact where nothing else is written and the step can follow it [N/m]."""
FLOOR: dict[str, Any] = {"planes": {"floor": {}}}
TORQUE = {"type": "torque"}
FREE = [0.0, 0.0, 0.0]


def far() -> dict[str, Any]:
    """An arm that touches nothing, since every world has one."""
    return {"one": {**slider(), "pose": [50.0, 0.0, 0.0, 0.0, 0.0, 0.0]}}


def thing(**changes: Any) -> dict[str, Any]:
    return {"size": [0.1, 0.1, 0.1], "mass": 5.0, "pose": [0.0, 0.0, 0.05, 0.0, 0.0, 0.0], **changes}


def ball(axis: str = "z", mass: float = 5.0, **changes: Any) -> dict[str, Any]:
    """A slider with a ball of 5 cm at its tool's point."""
    joint = {"mass": mass, **changes.pop("joint", {})}
    return slider(axis, joint=joint, tool={"points": [[0.0, 0.0, 0.0]], "radius": 0.05, "friction": 0.5}, **changes)


def gripper(name: str = "z", **changes: Any) -> dict[str, Any]:
    """Two jaws that close along the world's y and move along x or z."""
    jaws = {"opening": 0.15, "force": 500.0, "speed": 0.2, "pads": [0.04, 0.04], **changes.pop("jaws", {})}
    lift = {"type": "prismatic", "mass": 5.0, "range": [-1.0, 1.0]}
    tool = {"friction": 0.5, **changes.pop("tool", {})}
    servo = {"type": "computed-torque", **changes.pop("servo", {})}
    return {"joints": {name: lift}, "gripper": jaws, "tool": tool, "servo": servo, "start": [0.05], **changes}


def raised(rig: Rig, height: float = 0.2, seconds: float = 1.0, robot: str = "one") -> Rig:
    """Lifted evenly: a cubic that starts and ends at rest, at 100 Hz."""
    start = float(rig[f"{robot}/reference/position"][0])
    for k in range(round(100 * seconds)):
        s = k / (100 * seconds)
        rig.command(
            robot, position=[start + height * s * s * (3 - 2 * s)], speed=[height / seconds * 6 * s * (1 - s)]
        ).steps(10)
    return rig.command(robot, position=[start + height])


# --- the tool ------------------------------------------------------------------------------------------------------


def test_a_ball_rests_on_a_plane_with_its_weight():
    rig = Rig({"one": ball(start=[0.05], servo=TORQUE)}, FLOOR).seconds(2.0)
    assert rig["one/tool/wrench"] == pytest.approx([0.0, 0.0, 5.0 * G, 0.0, 0.0, 0.0], abs=1e-6)
    assert rig["one/position"] == pytest.approx([0.05 - 5.0 * G / K], abs=1e-10)


def test_a_ball_rests_on_a_box_as_on_a_plane():
    boxes = {"boxes": {"table": {"size": [0.4, 0.4, 0.2], "pose": [0.05, 0.03, -0.1, 0.0, 0.0, 0.3]}}}
    rig = Rig({"one": ball(start=[0.05], servo=TORQUE)}, boxes).seconds(2.0)
    assert rig["one/tool/wrench"] == pytest.approx([0.0, 0.0, 5.0 * G, 0.0, 0.0, 0.0], abs=1e-6)


def test_the_wrench_is_about_the_tools_point():
    robot = ball(start=[0.05], servo=TORQUE)
    robot["tool"] = {"position": [0.0, 0.0, 0.1], "points": [[0.2, 0.3, -0.1]], "radius": 0.05}
    rig = Rig({"one": robot}, FLOOR).seconds(2.0)
    weight = 5.0 * G
    assert rig["one/tool/wrench"] == pytest.approx([0.0, 0.0, weight, 0.3 * weight, -0.2 * weight, 0.0], abs=1e-5)


def test_an_arm_leans_on_a_wall_with_the_torque_of_its_servo():
    """A bar of 0.5 m that is asked to turn into the floor: N L cos q = k_p e at rest, gravity being compensated."""
    robot = arm(1, start=[0.3], tool={"points": [[0, 0, 0]], "radius": 0.02, "friction": 0.0})
    rig = Rig({"one": robot}, {"planes": {"floor": {"point": [0.0, 0.0, 1.1]}}})
    rig.command(position=[-0.2]).seconds(4.0)
    q, kp = float(rig["one/position"][0]), float(rig.engine.model.joints["kp"][0])
    assert rig["one/tool/wrench"][2] * 0.5 * np.cos(q) == pytest.approx(kp * (q + 0.2), rel=1e-6)
    assert rig["one/tool/wrench"][2] > 5.0 and abs(rig["one/tool/wrench"][0]) < 1e-9


def test_a_ball_that_bounces_never_gains():
    rig = Rig({"one": ball(start=[0.5], servo=TORQUE)}, FLOOR)
    z = rig.history("one/position", 6000)[:, 0]
    peaks = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
    assert z.min() > 0.0 and np.all(np.diff(np.r_[0.5, peaks]) < 0.0)


def test_a_tool_away_from_everything_feels_nothing():
    rig = Rig({"one": ball(start=[0.5])}, {**FLOOR, "objects": {"box": thing(pose=[2.0, 0, 0.05, 0, 0, 0])}}).seconds(
        0.2
    )
    assert not rig["one/tool/wrench"].any()


def sled() -> dict[str, Any]:
    """A ball of 5 cm that goes up and down, and along x."""
    joints = {
        "z": {"type": "prismatic", "mass": 1.0, "alpha": np.pi / 2},
        "x": {"type": "prismatic", "mass": 1.0},
    }
    return {"joints": joints, "tool": {"points": [[0.0, 0.0, 0.0]], "radius": 0.05}, "servo": TORQUE}


@pytest.mark.parametrize("height", [0.0501, 0.2, 5.0])
@pytest.mark.parametrize("ground", [FLOOR, {"boxes": {"slab": {"size": [2, 2, 0.2], "pose": [0, 0, -0.1, 0, 0, 0]}}}])
def test_friction_is_forgotten_in_the_air(ground: dict[str, Any], height: float):
    """What touches anew sticks anew: nothing is left of the force with which it was rubbed."""
    rig = Rig({"one": sled()}, {"gravity": FREE, **ground})
    state = rig.engine.state
    state.q[0], state.qd[1] = 0.05 - 1e-4, 0.3
    rig.steps(5)
    assert np.abs(rig["one/tool/wrench"][:2]).max() > 1.0
    state.q[:], state.qd[:] = [height, 0.0], 0.0
    rig.steps(1)
    assert not state.bristles.any()
    state.q[:], state.qd[:] = [0.05 - 1e-4, 0.0], 0.0
    assert rig.steps(1)["one/tool/wrench"][:2] == pytest.approx([0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("mass", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_a_light_tool_dropped_on_a_floor_does_not_gain(mass: float, method: str):
    rig = Rig({"one": ball(mass=mass, start=[0.1], servo=TORQUE)}, FLOOR, method=method)
    z = rig.history("one/position", 2000)[:, 0]
    assert z.max() <= 0.1 + 1e-9 and 0.0 < z[-1] < 0.051


@pytest.mark.parametrize("part", range(7, 13))
def test_an_object_that_is_nowhere_is_noticed_in_every_axis(part: int):
    rig = Rig(far(), {"gravity": FREE, "objects": {"box": thing(pose=[5, 0, 0, 0, 0, 0])}})
    rig.engine.state.poses[0, part] = 1e308
    rig.engine.state.poses[0, part % 3] = 1.7e308
    assert not rig.advances(1000)


# --- objects by themselves -----------------------------------------------------------------------------------------


def test_an_object_rests_on_a_plane_on_its_four_corners():
    rig = Rig(far(), {**FLOOR, "objects": {"box": thing(pose=[0.3, 0.2, 0.05, 0.0, 0.0, 0.7])}}).seconds(2.0)
    assert rig["box/pose"][:3] == pytest.approx([0.3, 0.2, 0.05 - 5.0 * G / (4 * K)], abs=1e-9)
    assert np.abs(rig["box/twist"]).max() < 1e-9


def test_an_object_rests_on_a_box_and_on_another_object():
    world = {
        "boxes": {"table": {"size": [0.5, 0.5, 0.1], "pose": [0.0, 0.0, 0.0, 0.0, 0.0, 0.4]}},
        "objects": {
            "low": thing(size=[0.2, 0.2, 0.1], pose=[0.0, 0.0, 0.1, 0.0, 0.0, 0.0]),
            "top": thing(pose=[0.02, 0.01, 0.2, 0.0, 0.0, 0.3]),
        },
    }
    rig = Rig(far(), world).seconds(3.0)
    sunk = 5.0 * G / (4 * float(rig.engine.model.world[0].stiffness))
    assert rig["low/pose"][2] == pytest.approx(0.1 - 2 * sunk, abs=1e-6)
    assert rig["top/pose"] == pytest.approx(
        [0.02, 0.01, 0.2 - 3 * sunk, np.cos(0.15), 0.0, 0.0, np.sin(0.15)], abs=2e-4
    )


@pytest.mark.parametrize(("friction", "holds"), [(0.7, True), (0.45, False)])
def test_an_object_holds_on_a_slope_up_to_the_angle_of_friction(friction: float, holds: bool):
    """tan 30° = 0.577; sliding it goes with g (sin − μ cos). The geometric mean of both surfaces counts."""
    slope = np.radians(30.0)
    up = [0.0, -np.sin(slope), np.cos(slope)]
    world = {
        "planes": {"hill": {"normal": up, "friction": friction**2}},
        "objects": {"box": thing(size=[0.2, 0.2, 0.05], pose=[*(0.025 * np.array(up)), slope, 0, 0], friction=1.0)},
    }
    rig = Rig(far(), world).seconds(1.0)
    way = np.linalg.norm(rig["box/pose"][:3] - 0.025 * np.array(up))
    if holds:
        assert way < 1e-3
    else:
        expected = 0.5 * G * (np.sin(slope) - friction * np.cos(slope))
        assert way == pytest.approx(expected, rel=0.03)


def test_an_object_falls_tumbles_and_keeps_its_spin():
    rig = Rig(far(), {"objects": {"box": thing(size=[0.1, 0.2, 0.3], pose=[0, 0, 5, 0, 0, 0])}})
    rig.engine.state.poses[0, 10:13] = [0.1, 5.0, 0.2]
    inertia = 5.0 / 12.0 * np.array([0.13, 0.10, 0.05])
    energy = 0.5 * inertia @ np.array([0.1, 5.0, 0.2]) ** 2
    momentum = np.linalg.norm(inertia * [0.1, 5.0, 0.2])
    rig.seconds(1.0)
    spin = rig["box/twist"][3:]
    assert rig["box/pose"][2] == pytest.approx(5.0 - 0.5 * G)
    assert 0.5 * inertia @ spin**2 == pytest.approx(energy, rel=1e-9)
    assert np.linalg.norm(inertia * spin) == pytest.approx(momentum, rel=1e-9)
    assert np.linalg.norm(rig["box/pose"][3:]) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(
    ("floats", "density", "rate"), [(True, 2500.0, 0.5), (True, 5000.0, 0.0), (False, 2500.0, 1.0)]
)
def test_water_carries_an_object_by_its_volume(floats: bool, density: float, rate: float):
    world = {"water": {"density": density}, "objects": {"box": thing(pose=[0, 0, 5, 0, 0, 0], floats=floats)}}
    assert Rig(far(), world).seconds(1.0)["box/pose"][2] == pytest.approx(5.0 - 0.5 * G * rate)


def test_gravity_from_the_side_presses_an_object_to_a_wall():
    world = {
        "gravity": [9.0, 0.0, 0.0],
        "planes": {"wall": {"point": [1.0, 0.0, 0.0], "normal": [-2.0, 0.0, 0.0]}},
        "objects": {"box": thing(pose=[0.95, 0.0, 0.0, 0.0, 0.0, 0.0])},
    }
    rig = Rig(far(), world).seconds(2.0)
    assert rig["box/pose"][:3] == pytest.approx([0.95 + 45.0 / (4 * K), 0.0, 0.0], abs=1e-9)


def test_names_of_planes_do_not_matter_to_the_order_of_friction():
    """Objects far apart do not share their friction's memory: each rests as it would alone."""
    alike = {**FLOOR, "contact": {"stiffness": 1e5}}
    alone = Rig(far(), {**alike, "objects": {"b": thing(pose=[3, 0, 0.06, 0.1, 0, 0])}}).seconds(1.0)
    world = {
        **alike,
        "boxes": {"table": {"size": [0.1, 0.1, 0.1], "pose": [8, 0, 0, 0, 0, 0]}},
        "objects": {"a": thing(pose=[0, 0, 0.3, 0.3, 0.2, 0.1]), "b": thing(pose=[3, 0, 0.06, 0.1, 0, 0])},
    }
    both = Rig(far(), world).seconds(1.0)
    assert both["b/pose"].tobytes() == alone["b/pose"].tobytes()


# --- pushing -------------------------------------------------------------------------------------------------------


def test_a_pushed_object_slides_with_its_friction():
    """The ball pushes at the middle of a face: the wrench on the tool is −μ m g once it slides evenly."""
    robot = ball("x", start=[-0.15], joint={"mass": 20.0}, servo={"frequency": 50.0})
    robot["pose"] = [0.0, 0.0, 0.02, 0.0, np.pi / 2, 0.0]
    robot["tool"]["radius"] = 0.015
    world = {
        "planes": {"floor": {"friction": 0.3}},
        "objects": {"box": thing(size=[0.1, 0.1, 0.04], pose=[0.0, 0.0, 0.02, 0, 0, 0], friction=0.3)},
    }
    rig = Rig({"one": robot}, world)
    rig.command(position=[-0.15], speed=[0.2]).seconds(2.0)
    assert rig["box/twist"][0] == pytest.approx(0.2, rel=0.02)
    assert rig["one/tool/wrench"][0] == pytest.approx(-0.3 * 5.0 * G, rel=0.05)
    assert rig["box/pose"][0] - rig["one/tool/pose"][0] == pytest.approx(0.065, abs=1e-3)


def test_two_arms_press_the_same_object_from_both_sides():
    left, right = ball("x", start=[-0.2], servo=TORQUE), ball("x", start=[-0.2], servo=TORQUE)
    right["pose"] = [0.0, 0.0, 0.0, 0.0, -np.pi / 2, 0.0]
    world = {"gravity": FREE, "objects": {"box": thing(size=[0.2, 0.1, 0.1], pose=[0.0] * 6)}}
    rig = Rig({"left": left, "right": right}, world)
    rig.command("left", torque=[30.0]).command("right", torque=[30.0]).seconds(3.0)
    assert rig["left/tool/wrench"][0] == pytest.approx(-30.0, rel=1e-6)
    assert rig["right/tool/wrench"][0] == pytest.approx(30.0, rel=1e-6)
    assert rig["box/pose"][:3] == pytest.approx(FREE, abs=1e-9)
    rig.command("left", torque=[50.0]).seconds(0.5)
    assert rig["box/twist"][0] > 0.1, "the stronger one wins"


# --- the gripper ---------------------------------------------------------------------------------------------------


def test_jaws_open_and_close_at_their_speed():
    rig = Rig({"one": gripper()}, {"gravity": FREE})
    assert rig["one/gripper/opening"] == 0.15
    assert rig.command(gripper__opening=0.05).seconds(0.25)["one/gripper/opening"] == pytest.approx(0.10)
    assert rig.seconds(0.5)["one/gripper/opening"] == pytest.approx(0.05)
    assert rig.command(gripper__opening=9.0).seconds(0.25)["one/gripper/opening"] == pytest.approx(0.10)
    assert rig.seconds(1.0)["one/gripper/opening"] == pytest.approx(0.15), "no further than it goes"
    assert rig.command(gripper__opening=-9.0).seconds(2.0)["one/gripper/opening"] == pytest.approx(0.0, abs=1e-12)


def test_jaws_that_start_half_closed():
    rig = Rig({"one": gripper(jaws={"start": 0.06})}, {"gravity": FREE}).seconds(0.5)
    assert rig["one/gripper/opening"] == pytest.approx(0.06)


@pytest.fixture
def held() -> Rig:
    rig = Rig({"one": gripper()}, {**FLOOR, "objects": {"box": thing()}}).seconds(0.1)
    return rig.command(gripper__opening=0.0, gripper__force=200.0).seconds(1.0)


def test_jaws_press_with_the_force_that_is_wanted(held: Rig):
    assert held["one/gripper/force"] == pytest.approx(200.0, rel=1e-6)
    assert held["one/gripper/held"] == 1.0
    assert held["one/gripper/opening"] == pytest.approx(0.1 - 2 * 200.0 / (4 * K), abs=1e-6)
    held.command(gripper__force=9e9).seconds(1.0)
    assert held["one/gripper/force"] == pytest.approx(500.0, rel=1e-6), "no more than the gripper's"


def test_news_say_what_is_held_and_let_go():
    world = {
        "boxes": {"table": {"size": [0.1, 0.1, 0.1], "pose": [5, 0, 0, 0, 0, 0]}},
        "objects": {"nut": thing(pose=[9, 0, 0.05, 0, 0, 0]), "bolt": thing()},
        **FLOOR,
    }
    rig = Rig({"one": gripper()}, world).steps(100)
    assert rig.engine.news == ()
    rig.command(gripper__opening=0.0, gripper__force=200.0).seconds(1.0)
    assert rig.engine.news == ("one holds bolt",) and rig["one/gripper/held"] == 2.0
    assert rig.steps(1).engine.news == ()
    rig.command(gripper__opening=0.15).seconds(0.5)
    assert rig.engine.news == ("one has let bolt go",) and rig["one/gripper/held"] == 0.0


def test_a_held_object_is_lifted_carried_and_set_down(held: Rig):
    raised(held).seconds(1.0)
    assert held["box/pose"][2] == pytest.approx(0.25, abs=1e-3)
    assert held["one/tool/wrench"] == pytest.approx([0.0, 0.0, -5.0 * G, 0.0, 0.0, 0.0], abs=1e-3)
    assert held["one/position"] == pytest.approx([0.25], abs=1e-4), "the servo knows what it holds"
    raised(held, -0.2).seconds(0.3)
    held.command(gripper__opening=0.15).seconds(0.7)
    assert held["box/pose"] == pytest.approx([0.0, 0.0, 0.05 - 5.0 * G / (4 * K), 1.0, 0.0, 0.0, 0.0], abs=1e-3)
    assert held["one/gripper/held"] == 0.0 and held["one/gripper/force"] == 0.0


def test_a_held_object_stays_where_it_is_for_long(held: Rig):
    raised(held).seconds(3.0)
    before = held["box/pose"]
    assert held.seconds(10.0)["box/pose"] == pytest.approx(before, abs=1e-6)


@pytest.mark.parametrize("kind", ["pid", "computed-torque"])
@pytest.mark.parametrize("density", [1000.0, 4500.0])
def test_a_servo_knows_that_water_carries_what_it_holds(kind: str, density: float):
    world = {**FLOOR, "water": {"density": density}, "objects": {"box": thing()}}
    rig = Rig({"one": gripper(servo={"type": kind})}, world)
    rig.command(gripper__opening=0.0, gripper__force=300.0).seconds(1.0)
    raised(rig, 0.1).seconds(2.0)
    assert rig["box/pose"][2] == pytest.approx(0.15, abs=1e-3)
    assert rig["one/position"] == pytest.approx([0.15], abs=1e-4)
    weight = (5.0 - density * 1e-3) * G
    assert rig["one/tool/wrench"][2] == pytest.approx(-weight, abs=1e-2)


def test_a_very_strong_gripper_holds():
    rig = Rig({"one": gripper(jaws={"force": 1e5})}, {**FLOOR, "objects": {"box": thing()}})
    rig.command(gripper__opening=0.0, gripper__force=2000.0).seconds(1.0)
    assert rig["one/gripper/held"] == 1.0 and rig["one/gripper/force"] == pytest.approx(2000.0, rel=1e-6)


def test_a_servo_that_does_not_know_what_it_holds_sags():
    rig = Rig({"one": gripper(servo={"knows_payload": False})}, {**FLOOR, "objects": {"box": thing()}})
    rig.command(gripper__opening=0.0, gripper__force=200.0).seconds(1.0)
    raised(rig).seconds(2.0)
    sag = 5.0 * G / (5.0 * 400.0)
    assert rig["one/reference/position"] - rig["one/position"] == pytest.approx([sag], rel=1e-3)


@pytest.mark.parametrize(("force", "holds"), [(65.0, True), (40.0, False)])
def test_two_pads_hold_twice_their_friction(force: float, holds: bool):
    """2 μ F against m g = 49 N, μ = 0.5."""
    rig = Rig({"one": gripper()}, {**FLOOR, "objects": {"box": thing()}})
    rig.command(gripper__opening=0.0, gripper__force=force).seconds(1.0)
    raised(rig).seconds(1.0)
    lifted = rig["box/pose"][2] > 0.2
    assert lifted == holds and (rig["one/gripper/held"] == 1.0) == holds


def test_an_object_slips_when_the_force_is_taken_back(held: Rig):
    raised(held).seconds(0.3)
    held.command(gripper__force=45.0).seconds(0.3)
    assert -2.0 < held["box/twist"][2] < -0.02, "it slides between the pads, braked"
    assert held.seconds(3.0)["box/pose"][2] == pytest.approx(0.05, abs=1e-3)


def test_a_fixed_box_is_pressed_but_not_held():
    world = {"boxes": {"post": {"size": [0.1, 0.1, 0.1], "pose": [0.0, 0.0, 0.05, 0.0, 0.0, 0.0]}}}
    rig = Rig({"one": gripper()}, world).command(gripper__opening=0.0, gripper__force=100.0).seconds(1.0)
    assert rig["one/gripper/force"] == pytest.approx(100.0, rel=1e-6)
    assert rig["one/gripper/held"] == 0.0 and rig.engine.news == ()


def test_without_force_jaws_do_not_close():
    rig = Rig({"one": gripper()}, {"gravity": FREE}).command(gripper__opening=0.0, gripper__force=0.0).seconds(0.5)
    assert rig["one/gripper/opening"] == 0.15


def test_a_gripper_that_is_off_centre_moves_what_it_grips():
    rig = Rig({"one": gripper()}, {"gravity": FREE, "objects": {"box": thing(pose=[0, 0.02, 0.05, 0, 0, 0])}})
    rig.command(gripper__opening=0.0, gripper__force=100.0).seconds(1.0)
    assert rig["box/pose"][1] == pytest.approx(0.0, abs=1e-6) and rig["one/gripper/held"] == 1.0


def test_one_arm_hands_an_object_to_another():
    """Two grippers that come from two sides; the second closes, the first lets go."""
    other = gripper()
    other["tool"] = {"friction": 0.5, "attitude": [0.0, 0.0, np.pi / 2]}
    world = {**FLOOR, "objects": {"box": thing(size=[0.1, 0.1, 0.2], pose=[0, 0, 0.1, 0, 0, 0])}}
    rig = Rig({"one": gripper(start=[0.05]), "two": {**other, "start": [0.15]}}, world)
    rig.command("one", gripper__opening=0.0, gripper__force=200.0).seconds(0.8)
    raised(rig, 0.1)
    rig.command("two", gripper__opening=0.0, gripper__force=200.0).seconds(0.8)
    assert (rig["one/gripper/held"], rig["two/gripper/held"]) == (1.0, 1.0)
    rig.command("one", gripper__opening=0.15).seconds(0.8)
    assert rig.engine.news == ("one has let box go",)
    assert rig["box/pose"][2] > 0.19 and rig["two/gripper/held"] == 1.0


def test_a_tool_pressed_down_lifts_nothing_and_an_empty_grip_holds_nothing():
    rig = Rig({"one": gripper()}, {**FLOOR, "objects": {"box": thing(pose=[3, 0, 0.05, 0, 0, 0])}})
    rig.command(gripper__opening=0.0).seconds(1.0)
    assert rig["one/gripper/held"] == 0.0 and rig["one/gripper/force"] == 0.0


# --- back and forth while gripping ---------------------------------------------------------------------------------


def test_a_snapshot_while_gripping_continues_bit_for_bit(held: Rig):
    held.command(speed=[0.2]).steps(333)
    saved, state, row = held.engine.snapshot(), held.state(), held.row()
    future = held.steps(500).row()
    other = Rig({"one": gripper()}, {**FLOOR, "objects": {"box": thing()}}).steps(7)
    for again in (held, other):
        again.engine.restore(saved)
        assert again.state() == state and again.row().tobytes() == row.tobytes()
        again.steps(200)
        assert again.engine.news == (), "what was held before is no news"
        assert again.steps(300).row().tobytes() == future.tobytes()


def test_going_back_lets_an_object_be_gripped_again():
    rig = Rig({"one": gripper()}, {**FLOOR, "objects": {"box": thing()}}).steps(100)
    rig.command(gripper__opening=0.0, gripper__force=200.0)
    rig.engine.keep()
    future = rig.seconds(1.0).row()
    assert rig.engine.news == ("one holds box",)
    rig.engine.go_back()
    assert rig.seconds(1.0).row().tobytes() == future.tobytes() and rig.engine.news == ("one holds box",)


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_the_same_grip_twice_gives_the_same_bits(method: str):
    rows = []
    for _ in range(2):
        rig = Rig({"one": gripper()}, {**FLOOR, "objects": {"box": thing()}}, method=method)
        rig.command(gripper__opening=0.0, gripper__force=200.0).seconds(0.5)
        rows.append(rig.command(speed=[0.1]).rows(500).tobytes())
    assert rows[0] == rows[1]


def test_reset_puts_objects_back():
    rig = Rig({"one": gripper()}, {**FLOOR, "objects": {"box": thing()}})
    start, row = rig.state(), rig.row()
    rig.command(gripper__opening=0.0, gripper__force=200.0).seconds(1.0)
    rig.engine.reset(np.random.default_rng(0))
    assert rig.state() == start and rig.row().tobytes() == row.tobytes()
    assert rig.steps(10).engine.news == ()
