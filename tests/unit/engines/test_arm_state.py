"""Model, state and work of engine `arm`, and reading and setting where its arms and objects are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arm_rig import Rig, arm
from test_arm_contacts import FLOOR, gripper, thing

from botz.engines.arm.model import axes_of_all
from botz.errors import InputError

METHODS = pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
TABLE = {"boxes": {"table": {"size": [0.6, 0.6, 0.1], "pose": [0.5, 0.0, -0.05, 0.0, 0.0, 0.2]}}}
LEANING = arm(2, start=[0.3, 0.1], tool={"points": [[0.0, 0.0, 0.0], [0.02, 0.01, 0.0]], "radius": 0.02})


def busy(**time: Any) -> Rig:
    """A gripper that holds a box on a floor, another that leans on a table in water, and a box that falls."""
    world = {
        **FLOOR,
        **TABLE,
        "water": {"density": 1000.0},
        "objects": {"box": thing(), "other": thing(mass=2.0, pose=[0.5, 0.0, 0.08, 0.1, 0.2, 0.3])},
    }
    robots = {"one": gripper(), "two": {**LEANING, "pose": [-0.2, 0.0, 0.3, np.pi / 2, 0.0, 0.0]}, "three": arm(10)}
    rig = Rig(robots, world, **time)
    rig.command(gripper__opening=0.0, gripper__force=200.0).command("two", position=[-0.4, 0.0])
    rig.command("three", position=[0.1] * 10)
    return rig


def spoil(rig: Rig) -> None:
    """NaN in all numbers of the work, −1 in all whole ones."""
    for array in rig.engine.work:
        array.reshape(-1).view(np.uint8)[:] = 255


@METHODS
@pytest.mark.parametrize("dynamics", ["composite-body", "newton-euler"])
def test_nothing_of_the_work_outlives_a_step(method: str, dynamics: str):
    clean, spoilt = (busy(method=method, forward_dynamics=dynamics) for _ in range(2))
    for _ in range(4):
        for _ in range(50):
            spoil(spoilt)
            spoilt.steps(1)
        clean.steps(50)
        spoil(spoilt)
        assert spoilt.row().tobytes() == clean.row().tobytes()
        assert spoilt.state() == clean.state()
        clean.steps(100), spoilt.steps(100)
    assert clean["one/gripper/held"] == 1.0 and clean["two/tool/wrench"].any(), "all of it was at work"


def test_no_step_changes_the_model():
    rig = busy()
    before = [array.tobytes() for array in rig.engine.model]
    rig.seconds(1.0)
    assert rig["one/gripper/held"] == 1.0
    rig.engine.reset(np.random.default_rng(0))
    assert [array.tobytes() for array in rig.engine.model] == before


def test_a_snapshot_holds_the_whole_state_and_nothing_else():
    rig = busy().steps(300)
    parts = rig.engine.state_arrays()
    own = [array.nbytes for name, array in parts.items() if name != "inputs"]
    assert sum(own) == sum(array.nbytes for array in rig.engine.state)
    assert all(
        any(np.shares_memory(part, array) for array in (*rig.engine.state, rig.engine.inputs))
        for part in parts.values()
    )


def test_channels_stand_in_the_row_where_the_table_says():
    rig = busy()
    model, state = rig.engine.model, rig.engine.state
    rng = np.random.default_rng(3)
    state.q[:], state.qd[:] = rng.uniform(-0.2, 0.2, (2, len(state.q)))
    for records in (state.joints, state.tools):
        for field in records.dtype.names:
            records[field] = rng.normal(size=len(records))
    state.tools["held"] = [2.0, 0.0, 0.0]
    state.poses[:] = rng.normal(size=state.poses.shape)
    state.poses[:, 3:7] /= np.linalg.norm(state.poses[:, 3:7], axis=1)[:, None]
    row = np.full(rig.engine.channels.width, np.nan)
    rig.engine.observe(row)
    assert np.isfinite(row).all(), "every number is written"
    for unit, tool, (name, serial) in zip(model.units, state.tools, rig.engine.arms.items(), strict=True):
        span = slice(unit.start, unit.start + unit.n)
        joints, pose = state.joints[span], serial.forward(state.q[span])
        assert rig[f"{name}/position"].tolist() == state.q[span].tolist()
        assert rig[f"{name}/speed"].tolist() == state.qd[span].tolist()
        assert rig[f"{name}/torque"].tolist() == joints["torque"].tolist()
        assert rig[f"{name}/reference/position"].tolist() == joints["reference"].tolist()
        assert rig[f"{name}/reference/speed"].tolist() == joints["reference_speed"].tolist()
        assert rig[f"{name}/tool/pose"][:3] == pytest.approx(pose[:3, 3])
        velocity = (serial.jacobian(state.q[span]) @ state.qd[span]).reshape(2, 3) @ pose[:3, :3]
        assert rig[f"{name}/tool/twist"] == pytest.approx(velocity.ravel())
        assert rig[f"{name}/tool/wrench"].tolist() == [tool[part] for part in ("fx", "fy", "fz", "mx", "my", "mz")]
        assert rig[f"{name}/energy"] == pytest.approx(serial.energy(state.q[span], state.qd[span]))
    tool = state.tools[0]
    assert (rig["one/gripper/opening"], rig["one/gripper/force"]) == (tool.opening, tool.pressed)
    assert rig["one/gripper/held"] == 1.0
    for name, pose, axes in zip(("box", "other"), state.poses, axes_of_all(state.poses), strict=True):
        assert rig[f"{name}/pose"].tolist() == pose[:7].tolist()
        assert rig[f"{name}/twist"][:3] == pytest.approx(axes.reshape(3, 3) @ pose[7:10])
        assert rig[f"{name}/twist"][3:].tolist() == pose[10:].tolist()


# --- reading and setting -------------------------------------------------------------------------------------------


@METHODS
def test_what_was_read_can_be_set_and_changes_nothing(method: str):
    """While the jaws hold, the tool leans and the box slides."""
    rig, other = busy(method=method).steps(700), busy(method=method).steps(700)
    before = rig.state()
    for name in ("one", "two", "three", "box", "other"):
        state = rig.engine.get_state(name)
        rig.engine.set_state(name, pose=state.pose, twist=state.twist, joints=state.joints)
        rig.engine.set_state(name)
    assert rig.state() == before
    assert rig.rows(100).tobytes() == other.rows(100).tobytes()


def test_what_is_read_is_what_the_channels_show():
    rig = busy().steps(700)
    for name in ("one", "two"):
        joints = rig.engine.get_state(name).joints
        serial = [joints[joint] for joint in rig.arm(name).names]
        assert [position for position, _ in serial] == rig[f"{name}/position"].tolist()
        assert [speed for _, speed in serial] == rig[f"{name}/speed"].tolist()
    assert rig.engine.get_state("one").joints["gripper/opening"][0] == rig["one/gripper/opening"]
    assert "gripper/opening" not in rig.engine.get_state("two").joints
    for name in ("box", "other"):
        state = rig.engine.get_state(name)
        assert state.pose.tolist() == rig[f"{name}/pose"].tolist() and not state.joints
        assert state.twist == pytest.approx(rig[f"{name}/twist"], abs=1e-15)
    base = rig.engine.get_state("two")
    assert base.pose == pytest.approx([-0.2, 0.0, 0.3, np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
    assert not base.twist.any()


def test_joints_that_are_set_move_one_arm_only():
    rig = busy().steps(700)
    before = rig.row()
    rig.engine.set_state("two", joints={"j1": 0.5, "j2": (0.2, -0.3)})
    after = rig.row()
    own = [rig.engine.channels.slices[channel.name] for channel in rig.engine.channels.of_robot("two")]
    mine = np.zeros(len(before), dtype=bool)
    for part in own:
        mine[part] = True
    assert after[~mine].tobytes() == before[~mine].tobytes()
    assert rig["two/position"].tolist() == [0.5, 0.2] and rig["two/speed"][1] == -0.3
    assert rig["two/reference/position"].tolist() == [-0.4, 0.0], "a command stays"
    assert not rig["two/tool/wrench"].any(), "it touches nothing there"
    rig.steps(10)


def test_an_object_that_is_set_alone_moves_and_flies_as_it_is_told():
    rig = busy().steps(700)
    others = {name: rig[f"{name}/position"].tolist() for name in ("one", "two", "three")}
    still = rig["box/pose"].tolist()
    half = np.sqrt(0.5)
    rig.engine.set_state("other", pose=[2.0, 1.0, 3.0, 2.0, 0.0, 0.0, 2.0], twist=[1.0, 0.0, 0.0, 0.0, 0.0, 0.5])
    assert rig["other/pose"] == pytest.approx([2.0, 1.0, 3.0, half, 0.0, 0.0, half])
    assert rig["other/twist"] == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0, 0.5])
    assert rig["box/pose"].tolist() == still
    assert {name: rig[f"{name}/position"].tolist() for name in others} == others
    assert rig.steps(100)["other/pose"][1] == pytest.approx(1.1, abs=0.01), "along its own x, the world's y"
    rig.engine.set_state("other", pose=[2.0, 1.0, 3.0, 1.0, 0.0, 0.0, 0.0])
    assert rig["other/twist"][3:] == pytest.approx([0.0, 0.0, 0.5]), "its twist stays, in its axes"


def test_an_object_taken_out_of_the_jaws_is_let_go():
    rig = busy().seconds(1.0)
    assert rig["one/gripper/held"] == 1.0
    rig.engine.set_state("box", pose=[3.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0])
    assert rig.steps(1)["one/gripper/held"] == 0.0 and rig.engine.news == ("one has let box go",)
    assert rig["one/gripper/force"] == 0.0


def test_what_is_put_down_anew_sticks_anew():
    """Nothing is left of the force with which it was rubbed."""
    rig = Rig({"one": gripper()}, {**FLOOR, "objects": {"box": thing(pose=[3.0, 0.0, 0.05, 0.0, 0.0, 0.0])}})
    rig.engine.set_state("box", twist=[0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    rig.steps(50)
    bristles = rig.engine.state.bristles
    assert bristles.any()
    rig.engine.set_state("box", pose=[4.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0], twist=[0.0] * 6)
    assert not bristles.any()


@pytest.mark.parametrize(
    ("robot", "given", "message"),
    [
        ("nobody", {}, "no robot or object 'nobody'"),
        ("one", {"joints": {"zz": 0.0}}, "no joint 'zz'"),
        ("one", {"joints": [0.0]}, "a mapping of joints"),
        ("one", {"joints": {"z": np.nan}}, "one/z: needs one finite number"),
        ("one", {"joints": {"z": "up"}}, "one/z: needs one finite number"),
        ("one", {"joints": {"z": (0.0, np.inf)}}, "one/z: needs 2 finite numbers"),
        ("one", {"joints": {"z": (0.0, 0.0, 0.0)}}, "one/z: needs 2 finite numbers"),
        ("one", {"joints": {"z": 1.5}}, "one/z: 1.5 is outside its range, -1 to 1"),
        ("one", {"joints": {"z": 0.3, "gripper/opening": 0.2}}, "0.2 is outside its range, 0 to 0.15"),
        ("one", {"joints": {"gripper/opening": (0.1, 5.0)}}, "a speed of 5 is too fast; at most 0.2"),
        ("two", {"joints": {"gripper/opening": 0.1}}, "no joint 'gripper/opening'"),
        ("one", {"joints": {"z": -0.5}}, "one: its tool would be"),
        ("two", {"joints": {"j1": -1.4}}, "inside"),
        ("one", {"pose": [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]}, "one/pose: its base stands at"),
        ("one", {"twist": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]}, "one/twist: its base does not move"),
        ("other", {"pose": [0.0, 0.0, 0.5]}, "other/pose: needs 7 finite numbers"),
        ("other", {"pose": [0.0, 0.0, np.nan, 1.0, 0.0, 0.0, 0.0]}, "other/pose: needs 7 finite numbers"),
        ("other", {"pose": [0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0]}, "a quaternion of length 0"),
        ("other", {"pose": [3.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]}, "would be 0.05 m inside floor"),
        ("other", {"pose": [0.6, 0.0, -0.02, 1.0, 0.0, 0.0, 0.0]}, "inside"),
        ("box", {"pose": [0.5, 0.0, 0.06, 1.0, 0.0, 0.0, 0.0]}, "inside other"),
        ("other", {"pose": [0.0, 0.07, 0.25, 1.0, 0.0, 0.0, 0.0], "twist": [0.0] * 5}, "other/twist: needs 6"),
        ("other", {"twist": [np.inf] * 6}, "other/twist: needs 6 finite numbers"),
        ("other", {"joints": {"z": 0.0}}, "other/z: an object has no joints"),
    ],
)
def test_a_state_that_is_not_admissible_is_refused_and_changes_nothing(robot: str, given: dict[str, Any], message: str):
    rig = busy()
    before = rig.state()
    with pytest.raises(InputError) as caught:
        rig.engine.set_state(robot, **given)
    assert message in str(caught.value)
    assert rig.state() == before


def test_an_object_is_not_put_into_a_tool():
    rig = busy().steps(10)
    tool = rig["two/tool/pose"][:3]
    rig.engine.set_state("other", pose=[2.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    with pytest.raises(InputError, match="the tool of two would be"):
        rig.engine.set_state("other", pose=[*tool, 1.0, 0.0, 0.0, 0.0])


def test_a_turned_quaternion_is_the_same_base():
    rig = busy()
    pose = rig.engine.get_state("two").pose
    rig.engine.set_state("two", pose=[*pose[:3], *(-3.0 * pose[3:])])
