"""Reading and setting the state of multibody robots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from multibody_rig import FREE, Rig, body, box, limb

from botz.errors import InputError
from botz.transforms import rotation_from_quaternion

TERRAIN = {"terrain": {"type": "plane", "x": [-5, 5], "y": [-5, 5], "slope": 0.1}}
STAND = {"base": "fixed", "pose": {"z": 1.0}, **{k: limb()[k] for k in ("links", "joints", "actuators")}}


def rig(world: dict[str, Any] | None = None) -> Rig:
    """A limb in the air, one on a fixed base, a cube on the ground; commanded and in motion."""
    at = {"x": 3.0, "z": 2.0, "yaw": 0.4}
    many = {
        "limb": limb(pose=at, velocity=[0.3, 0.2, 0.1], angular_velocity=[0.5, 0.4, 0.3]),
        "stand": STAND,
        "cube": box(pose={"x": -2.0, "z": 0.5}),
    }
    one = Rig(many, TERRAIN if world is None else world)
    one.command("limb", {"tilt/position": 0.3, "spin/speed": 40.0, "slide/effort": 0.5})
    one.command("stand", {"tilt/position": -0.4})
    one.seconds(0.2)
    return one


def bits(one: Rig) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in one.engine.state_arrays().items()} | {"row": one.row().tobytes()}


def test_to_set_what_is_there_changes_no_bit():
    plain, placed = rig(), rig()
    before = bits(placed)
    for name in placed.engine.robots:
        state = placed.engine.get_state(name)
        placed.engine.set_state(name, pose=state.pose, twist=state.twist, joints=state.joints)
    assert bits(placed) == before
    assert plain.seconds(0.1).row().tobytes() == placed.seconds(0.1).row().tobytes()


def test_a_state_is_what_is_observed():
    one = rig()
    quat = np.array([0.6, 0.0, 0.8, 0.0]) * 3.0
    twist = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    one.engine.set_state("limb", pose=(1.0, -1.0, 3.0, *quat), twist=twist, joints={"tilt": (0.1, 0.7), "slide": 0.2})
    state = one.engine.get_state("limb")
    assert state.pose == pytest.approx([1.0, -1.0, 3.0, 0.6, 0.0, 0.8, 0.0], abs=1e-15)
    assert state.twist == pytest.approx(twist, abs=1e-14)
    assert state.joints["tilt"] == (0.1, 0.7) and state.joints["slide"][0] == 0.2
    assert one["limb/tilt/position"] == 0.1 and one["limb/pose"][:3].tolist() == [1.0, -1.0, 3.0]
    one.seconds(0.001)
    # Where its base goes within a step, in the world.
    moved = rotation_from_quaternion(0.6, 0.0, 0.8, 0.0) @ twist[:3] * one.engine.dt
    assert one["limb/pose"][:3] - [1.0, -1.0, 3.0] == pytest.approx(moved, abs=50 * one.engine.dt**2)


def test_a_pose_moves_that_robot_alone_and_its_twist_stays():
    one = rig()
    before = {name: one.engine.get_state(name) for name in one.engine.robots}
    one.engine.set_state("limb", pose=(0.0, 3.0, 2.5, 0.0, 0.0, 0.0, 1.0))
    for name, state in before.items():
        now = one.engine.get_state(name)
        assert now.joints == state.joints
        assert now.twist == pytest.approx(state.twist, abs=1e-14)
        if name != "limb":
            assert now.pose.tobytes() == state.pose.tobytes() and now.twist.tobytes() == state.twist.tobytes()


def test_joints_of_a_fixed_base_can_be_set():
    one = rig()
    one.engine.set_state("stand", joints={"tilt": (0.5, -1.0), "spin": 700.0})
    assert one.engine.get_state("stand").joints["tilt"] == (0.5, -1.0)
    assert one["stand/spin/position"] == 700.0


def test_what_is_taken_apart_in_time_is_the_same_as_from_the_start():
    """A state set on a world at its start is the world that starts with it."""
    fly = {"links": {"b": body(2.0)}, "pose": {"z": 1.0}}
    start = {**fly, "pose": {"x": 1.0, "z": 2.0}, "velocity": [0.0, 0.0, 1.0], "angular_velocity": [0.1, 0.2, 0.3]}
    one, other = Rig({"a": fly}, FREE), Rig({"a": start}, FREE)
    one.engine.set_state("a", pose=(1.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0), twist=(0.0, 0.0, 1.0, 0.1, 0.2, 0.3))
    assert one.seconds(0.2).row().tobytes() == other.seconds(0.2).row().tobytes()


UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("robot", "changes", "words"),
    [
        ("cube", {"pose": (0.0, 0.0, 1.0)}, r"cube/pose \(x, y, z, quat_wxyz\): needs 7 finite numbers"),
        ("cube", {"pose": (0.0, 0.0, np.nan, *UPRIGHT)}, "7 finite numbers"),
        ("cube", {"pose": (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)}, "cube/pose: the quaternion has no length"),
        ("cube", {"pose": (5.5, 0.0, 1.0, *UPRIGHT)}, r"\(5.5, 0\) is outside the terrain, x -5 to 5 m, y -5 to 5 m"),
        (
            "cube",
            {"pose": (0.0, 2.0, 0.0, *UPRIGHT)},
            r"'cube/box' is .* m inside the ground; raise its z to 0\.\d+ or more",
        ),
        ("cube", {"twist": (0.0, 0.0, 1.0)}, "6 finite numbers"),
        ("limb", {"joints": {"tilt": 0.9}}, r"limb/tilt: 0.9 rad .* is outside the range, -0.8 rad .* to 0.8 rad"),
        ("limb", {"joints": {"tlt": 0.9}}, "limb: no joint 'tlt'; did you mean 'tilt'"),
        ("limb", {"joints": {"tilt": (0.1, np.inf)}}, "2 finite numbers"),
        ("stand", {"pose": (1.0, 0.0, 1.0, *UPRIGHT)}, "stand/pose: its base is fixed; only its joints"),
        ("stand", {"twist": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)}, "stand/twist: its base is fixed"),
        ("cube", {"joints": {"tilt": 0.0}}, "cube: no joint 'tilt'; it has none"),
    ],
)
def test_a_state_that_is_not_admissible_changes_nothing(robot, changes, words):
    one = rig()
    before = bits(one)
    with pytest.raises(InputError, match=words):
        one.engine.set_state(robot, **changes)
    assert bits(one) == before


def test_a_robot_is_not_put_into_another_one():
    one = Rig({"a": box(pose={"z": 0.1}), "b": box(pose={"x": 1.0, "z": 0.1})}, {})
    before = bits(one)
    with pytest.raises(InputError, match="inside 'a/box'"):
        one.engine.set_state("b", pose=(0.1, 0.0, 0.1, *UPRIGHT))
    assert bits(one) == before
    one.engine.set_state("b", pose=(0.3, 0.0, 0.1, *UPRIGHT))
