"""Commands of an arm: positions, speeds, Cartesian rates, torques and halts, and what is told of the wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arm_rig import Rig, arm

from botz.scenario.load import load_robot

FREE = {"gravity": [0.0, 0.0, 0.0]}
GRIPPER = {"opening": 0.1, "force": 300.0, "speed": 0.2, "pads": [0.04, 0.04]}


@pytest.fixture(scope="module")
def still() -> Rig:
    """Never moved: `resolve_command` only looks."""
    return Rig({"one": arm(2, gripper=GRIPPER)})


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ({"positon": [0, 0]}, ["one: ", "unknown command 'positon'", "did you mean 'position'?"]),
        ({"number": 3}, ["one: ", "unknown command 'number'"]),
        ({"position": [0.0]}, ["one/position", "2 finite numbers", "[0.0]"]),
        ({"position": 1.0}, ["one/position", "2 finite numbers"]),
        ({"position": [0.0, float("nan")]}, ["one/position", "2 finite numbers", "nan"]),
        ({"speed": [0.0, float("inf")]}, ["one/speed", "2 finite numbers"]),
        ({"speed": "fast"}, ["one/speed", "2 finite numbers", "'fast'"]),
        ({"torque": None}, ["one/torque", "2 finite numbers"]),
        ({"twist": [0.0] * 3}, ["one/twist", "6 finite numbers"]),
        ({"twist": [0.0] * 6, "position": [0.0, 0.0]}, ["one: ", "'twist' and joints together"]),
        ({"twist": [0.0] * 6, "speed": [0.0, 0.0]}, ["one: ", "'twist' and joints together"]),
        ({"acceleration": [1.0, 1.0]}, ["one: ", "'acceleration' needs the 'speed'"]),
        ({"position": [0, 0], "acceleration": [1.0, 1.0]}, ["one: ", "'acceleration' needs the 'speed'"]),
        ({"halt": 2.0}, ["one/halt", "1 to halt, not 2"]),
        ({"gripper/opening": [0.1, 0.1]}, ["one/gripper/opening", "one finite number"]),
        ({"gripper/force": float("nan")}, ["one/gripper/force", "one finite number"]),
    ],
)
def test_wrong_commands_are_told(still: Rig, command: dict[str, Any], words: list[str]):
    (told,) = still.refusal(command)
    assert all(word in told for word in words), told


def test_an_arm_without_a_gripper_takes_no_commands_for_one():
    (told,) = Rig().refusal({"gripper/opening": 0.1})
    assert "unknown command 'gripper/opening'" in told


def test_an_empty_command_changes_nothing(still: Rig):
    before = still.engine.inputs[still.engine.robot_inputs("one")]
    assert still.engine.resolve_command("one", {}).tobytes() == before.tobytes()
    halt = still.engine.resolve_command("one", {"halt": 0.0})
    assert halt.tobytes() == before.tobytes(), "and halt 0 is no halt"


def test_a_position_that_moves_on_by_itself():
    rig = (
        Rig({"one": arm(2)}, FREE).command(position=[0.1, 0.2], speed=[0.5, -0.5], acceleration=[2.0, 1.0]).steps(1000)
    )
    assert rig["one/reference/position"] == pytest.approx([0.1 + 0.5 + 1.0, 0.2 - 0.5 + 0.5])
    assert rig["one/reference/speed"] == pytest.approx([2.5, 0.5])
    rig.command(position=[0.3, 0.4]).steps(10)
    assert rig["one/reference/position"].tolist() == [0.3, 0.4], "without a speed it stays"
    assert rig["one/reference/speed"].tolist() == [0.0, 0.0]


def test_speeds_alone_go_on_from_where_the_reference_is():
    rig = Rig({"one": arm(2)}, FREE).command(position=[0.3, 0.4]).steps(10)
    rig.command(speed=[1.0, -1.0]).steps(100)
    assert rig["one/reference/position"] == pytest.approx([0.4, 0.3])
    rig.command(speed=[0.0, 0.0]).steps(100)
    assert rig["one/reference/position"] == pytest.approx([0.4, 0.3])


def test_a_reference_stays_in_the_range_and_below_the_speed():
    rig = Rig({"one": arm(1, {"range": [-0.5, 0.5], "speed": 2.0})}, FREE)
    rig.command(position=[0.0], speed=[100.0]).steps(100)
    assert (rig["one/reference/position"], rig["one/reference/speed"]) == (pytest.approx([0.2]), pytest.approx([2.0]))
    rig.steps(300)
    assert (rig["one/reference/position"], rig["one/reference/speed"]) == ([0.5], [0.0])
    rig.command(speed=[-1.0]).steps(100)
    assert rig["one/reference/position"] == pytest.approx([0.4]), "it leaves the end of its range at once"
    rig.command(position=[-7.0]).steps(5)
    assert rig["one/reference/position"] == [-0.5]


def test_under_rate_control_the_reference_leads_by_no_more_than_the_actuator_can_pull():
    """A joint that is too slow: k_p times the lead is the actuator's torque, and turning back begins at once."""
    own = {"actuator": {"torque": 50.0}, "friction": {"viscous": 200.0}}
    rig = Rig({"one": arm(1, own, servo={"frequency": 10.0})}, FREE)
    kp = float(rig.engine.model.joints["kp"][0])
    rig.command(speed=[1.0]).seconds(8.0)
    assert rig["one/speed"] == pytest.approx([0.25], rel=1e-6)
    ahead = rig["one/reference/position"] - rig["one/position"]
    assert ahead == pytest.approx([50.0 / kp], rel=1e-3)
    rig.command(speed=[-1.0]).steps(10)
    assert rig["one/speed"] < 0.25


def test_a_position_may_be_further_ahead_than_that():
    rig = Rig({"one": arm(1, {"actuator": {"torque": 50.0}}, servo={"frequency": 10.0})}, FREE)
    rig.command(position=[3.0]).steps(1)
    assert rig["one/reference/position"] == [3.0]


def test_a_halt_stays_where_the_arm_is():
    rig = Rig({"one": arm(2)}, FREE).command(position=[0.0, 0.0], speed=[1.0, 1.0]).seconds(0.5)
    here = rig["one/position"]
    rig.command(halt=1).steps(1)
    assert rig["one/reference/position"].tolist() == here.tolist() and not rig["one/reference/speed"].any()
    rig.seconds(3.0)
    assert rig["one/position"] == pytest.approx(here, abs=1e-6)
    rig.command(position=[0.0, 0.0]).seconds(3.0)
    assert rig["one/position"] == pytest.approx([0.0, 0.0], abs=1e-6), "and goes on after it"


def test_a_halt_goes_before_a_motion_in_the_same_command():
    rig = Rig({"one": arm(2)}, FREE).command(position=[1.0, 1.0], speed=[1.0, 1.0], halt=1).steps(50)
    assert not rig["one/reference/position"].any() and not rig["one/reference/speed"].any()


def test_rest_holds_the_place_and_the_grip():
    rig = Rig({"one": arm(2, gripper=GRIPPER)}, FREE)
    rig.command(speed=[0.5, 0.5], torque=[1.0, 1.0], gripper__opening=0.03, gripper__force=70.0).seconds(0.3)
    place = rig["one/reference/position"]
    rig.rest().seconds(3.0)
    assert rig["one/reference/position"].tolist() == place.tolist() and not rig["one/reference/speed"].any()
    assert rig["one/position"] == pytest.approx(place, abs=1e-6), "the torque that was added is gone, too"
    assert rig["one/gripper/opening"] == pytest.approx(0.03)
    assert rig.engine.inputs[-2:].tolist() == [0.03, 70.0]


def test_the_same_reference_again_is_a_new_one():
    rig = Rig({"one": arm(1)}, FREE)
    for _ in range(3):
        rig.command(position=[0.2], speed=[1.0]).steps(100)
        assert rig["one/reference/position"] == pytest.approx([0.3])


@pytest.mark.parametrize("command", ["position", "speed", "torque", "twist"])
@pytest.mark.parametrize("value", [1e308, -1e308])
@pytest.mark.filterwarnings("error")
def test_no_command_brings_numbers_into_the_world_that_are_none(command: str, value: float):
    """What is taken is followed as far as the actuators go."""
    own = {"range": [-2.0, 2.0], "speed": 2.0, "actuator": {"torque": 40.0}}
    rig = Rig({"one": arm(3, own)})
    rig.command(**{command: [value] * (6 if command == "twist" else 3)}).steps(500)
    assert np.isfinite(rig.row()).all()
    assert np.abs(rig["one/torque"]).max() <= 40.0


@pytest.mark.parametrize(
    ("own", "command"),
    [
        ({"range": [-1, 1], "speed": 1.0}, {"position": [1e9]}),
        ({"range": [-1, 1], "speed": 1.0}, {"position": [1e9], "speed": [1e9], "acceleration": [1e9]}),
        ({"speed": 1.0}, {"position": [0.0], "speed": [1e9]}),
        ({"speed": 1.0}, {"speed": [-1e9], "acceleration": [-1e9]}),
    ],
)
@pytest.mark.parametrize("kind", ["pid", "computed-torque"])
def test_a_reference_is_cut_before_the_servo_sees_it(own: dict[str, Any], command: dict[str, Any], kind: str):
    """k_p of a radian and k_d of a radian a second are all that is asked in the first step."""
    rig = Rig({"one": arm(1, own, servo={"type": kind})}, FREE).command(**command)
    inertia = float(rig.arm().inertia([0.0])[0, 0])
    assert np.abs(rig.history("one/torque", 5)).max() <= 1.001 * inertia * (400.0 + 40.0)


@pytest.mark.parametrize("own", [{"range": [-1.0, 1.0], "speed": 1.0}, {"speed": 1.0}, {"range": [-1.0, 1.0]}])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_reference_that_is_cut_accelerates_no_more(own: dict[str, Any], sign: float):
    rig = Rig({"one": arm(1, own, servo={"type": "computed-torque"})}, FREE)
    rig.command(position=[0.9 * sign], speed=[0.5 * sign], acceleration=[100.0 * sign]).seconds(2.0)
    assert rig["one/position"] == pytest.approx(rig["one/reference/position"], abs=1e-3)
    assert not rig.engine.state.joints["reference_acceleration"].any()


def test_what_turns_a_cut_reference_back_still_counts():
    rig = Rig({"one": arm(1, {"range": [-1.0, 1.0], "speed": 2.0})}, FREE)
    rig.command(position=[1.0], speed=[1.0], acceleration=[-4.0]).steps(500)
    assert rig["one/reference/position"] == pytest.approx([1.0 - 0.5 * 4.0 * 0.25], rel=1e-6)


# --- Cartesian rates -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def titan() -> Rig:
    return Rig({"one": load_robot("titan4").data}, {"gravity": [0.0, 0.0, 0.0]})


def at(rig: Rig, q: list[float]) -> Rig:
    rig.engine.state.q[:] = q
    return rig


def test_a_twist_gives_the_joint_speeds_of_the_jacobian(titan: Rig):
    q = [0.3, 0.5, -0.8, 0.4, 0.3, 0.2]
    twist = np.array([0.02, -0.03, 0.01, 0.02, 0.01, -0.02])
    speeds = at(titan, q).engine.joint_speeds("one", twist)
    assert titan.arm().jacobian(q) @ speeds == pytest.approx(twist, abs=1e-12)


def test_a_twist_that_is_too_fast_is_slowed_down_as_a_whole(titan: Rig):
    q = [0.3, 0.5, -0.8, 0.4, 0.3, 0.2]
    twist = np.array([2.0, -3.0, 1.0, 2.0, 1.0, -2.0])
    speeds = at(titan, q).engine.joint_speeds("one", twist)
    assert np.max(np.abs(speeds) / titan.arm().speed) == pytest.approx(1.0)
    got = titan.arm().jacobian(q) @ speeds
    assert got / np.linalg.norm(got) == pytest.approx(twist / np.linalg.norm(twist), abs=1e-12)


@pytest.mark.parametrize("q", [[0.0] * 6, [0.2, 0.3, 0.0, 0.0, 0.0, 0.0], [0.1, 0.6, -0.9, 0.2, np.pi / 2, 0.3]])
@pytest.mark.parametrize("away", [0.0, 1e-9, 1e-4, 1e-2])
@pytest.mark.filterwarnings("error")
def test_near_singularities_twists_stay_bounded(titan: Rig, q: list[float], away: float):
    near = np.array(q) + away * np.array([0.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    for twist in np.eye(6):
        speeds = at(titan, near.tolist()).engine.joint_speeds("one", 0.01 * twist)
        assert np.isfinite(speeds).all() and np.abs(speeds).max() < 0.01 * np.pi / 0.03
        assert twist @ titan.arm().jacobian(near) @ speeds >= -1e-12, "never against what is asked"


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.filterwarnings("error")
def test_twists_of_arms_with_fewer_or_more_joints_than_six(n: int):
    rig = Rig({"one": arm(n, start=[0.4] * n, servo={"type": "computed-torque"})}, FREE)
    rig.command(twist=[0.1, 0.0, -0.05, 0.0, 0.0, 0.0]).seconds(0.2)
    assert np.isfinite(rig.row()).all() and np.abs(rig["one/speed"]).max() > 1e-3
