"""Engine `kinematics`: model, state and work are apart, rows agree with channels, and robots can be put elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from botz.engines.kinematics.engine import KinematicsEngine
from botz.errors import InputError
from botz.verify.kinematics import robots, symmetry

METHODS = ("arc", "rk4")
WHEELS: dict[str, dict[str, Any]] = {
    "fixed": {"type": "fixed", "position": [0.0, 0.2], "driven": True},
    "steered": {"type": "steered", "position": [0.4, 0.0], "rate": 0.5, "limit": 1.0},
    "castor": {"type": "castor", "position": [-0.3, 0.1], "offset": -0.03},
    "swedish": {"type": "swedish", "position": [0.0, 0.2], "roller_angle": 0.7},
    "ball": {"type": "spherical", "position": [0.2, 0.2]},
    "skid": {"type": "support", "position": [0.3, -0.2]},
}
"""One of each kind."""


def engine(method: str = "arc", seed: int = 4) -> KinematicsEngine:
    """All shipped robots, half of them with noise, and one with a wheel of each kind."""
    every = {**symmetry.noisy_robots(), "menagerie": robots.robot(WHEELS)}
    one = robots.engine_of(every, method=method, seed=seed)
    symmetry.commanded(one, seed)
    return one


def bits(one: KinematicsEngine) -> dict[str, bytes]:
    return symmetry.state_bytes(one)


def spoil(one: KinematicsEngine) -> None:
    for array in one.work:
        array.view(np.uint8)[...] = 0xA5  # flags and integers
        for name in array.dtype.names or ():
            if array[name].dtype == np.float64:
                array[name] = np.nan
        if array.dtype == np.float64:
            array[...] = np.nan


# --- model, state, work ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_work_is_written_before_it_is_read(method):
    plain, spoilt = engine(method), engine(method)
    for step in range(0, 120, 8):
        rows = [np.zeros((4, plain.channels.width)) for _ in range(2)]
        spoil(spoilt)
        for one, own in ((plain, rows[0]), (spoilt, rows[1])):
            one.advance(step, 8, 2, own)
        spoil(spoilt)
        assert rows[0].tobytes() == rows[1].tobytes()
        assert bits(plain) == bits(spoilt)


@pytest.mark.parametrize("method", METHODS)
def test_a_step_never_writes_the_model(method):
    one = engine(method)
    before = [array.tobytes() for array in one.model]
    robots.rollout(one, 50)
    assert [array.tobytes() for array in one.model] == before
    assert not any(array.flags.writeable for array in one.model)


def test_the_snapshot_is_the_state_and_the_commands():
    one = engine()
    sizes = {name: array.nbytes for name, array in one.state_arrays().items()}
    assert sizes.pop("inputs") == one.inputs.nbytes
    assert sum(sizes.values()) == sum(array.nbytes for array in one.state)


def test_channels_name_the_columns_that_are_written():
    one = robots.engine_of({"a": robots.differential(), "m": robots.robot(WHEELS)}, odometry_rate=1.0)
    one.inputs[:] = np.linspace(0.1, 0.3, one.inputs.size)
    for k, array in enumerate(one.state.fields().values()):
        array[...] = 0.01 * k + 1e-4 * np.arange(array.size).reshape(array.shape)
    row = np.full(one.channels.width + 1, 1e300)
    one.observe(row[:-1])
    assert row[-1] == 1e300 and not (row[:-1] == 1e300).any()
    state, names = one.state.fields(), [*WHEELS]
    wheels = {f"m/{name}": i for i, name in enumerate(names, 2)}
    for r, robot in enumerate(("a", "m")):
        assert robots.value(one, row[:-1], f"{robot}/pose").tolist() == state["pose"][r].tolist()
        for quantity in ("pose", "twist"):
            shown = robots.value(one, row[:-1], f"{robot}/odometry/{quantity}")
            assert shown.tolist() == state[f"odometry_{quantity}"][r].tolist()
    for channel, value in zip(one.inputs_table, one.inputs, strict=True):
        assert robots.value(one, row[:-1], f"{channel.name}_command") == value
    for name, i in wheels.items():
        if name == "m/skid":
            assert not [channel for channel in one.channels if channel.name.startswith("m/skid/")]
            continue
        assert robots.value(one, row[:-1], f"{name}/angle") == state["angle"][i]
        assert robots.value(one, row[:-1], f"{name}/ticks") == state["ticks"][i, 0]
    for name, quantity in (("castor", "steering"), ("swedish", "roller_angle"), ("ball", "side_angle")):
        assert robots.value(one, row[:-1], f"m/{name}/{quantity}") == state["second"][wheels[f"m/{name}"]]
    assert robots.value(one, row[:-1], "m/steered/steering") == pytest.approx(state["steering"][0], abs=1e-15)
    assert robots.value(one, row[:-1], "m/steered/steering_rate") == state["steering_rate"][0]


# --- the state of one robot --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_to_set_what_is_there_changes_no_bit(method):
    plain, placed = engine(method), engine(method)
    for one in (plain, placed):
        robots.rollout(one, 37)
    for name in placed.robots:
        state = placed.get_state(name)
        placed.set_state(name, pose=state.pose, twist=state.twist, joints=state.joints)
    assert bits(plain) == bits(placed)
    for one in (plain, placed):
        robots.rollout(one, 60, start=37)
    assert bits(plain) == bits(placed)


def test_a_pose_moves_that_robot_alone_and_not_its_odometry():
    one = engine()
    robots.rollout(one, 37)
    before = {name: array.copy() for name, array in one.state_arrays().items()}
    number = list(one.robots).index("three_omni")
    one.set_state("three_omni", pose=(1.0, -2.0, 0.5))
    assert one.get_state("three_omni").pose.tolist() == [1.0, -2.0, 0.5]
    before["pose"][number] = 1.0, -2.0, 0.5
    assert all(array.tobytes() == before[name].tobytes() for name, array in one.state_arrays().items())


def test_a_state_goes_over_to_another_world():
    rng, one, other = np.random.default_rng(8), engine(), engine(seed=9)
    robots.rollout(one, 80)
    for name, robot in one.robots.items():
        if one.model.robots["has_slip"][list(one.robots).index(name)]:  # which takes from any command
            continue
        one.set_state(name, twist=robots.random_admissible_twist(rng, robot))
        state = one.get_state(name)
        other.set_state(name, pose=state.pose, twist=state.twist, joints=state.joints)
        again = other.get_state(name)
        assert again.pose.tolist() == state.pose.tolist()
        assert again.twist == pytest.approx(state.twist, abs=1e-9)
        assert [*again.joints] == [*state.joints]
        for joint, (angle, rate) in state.joints.items():
            assert again.joints[joint] == pytest.approx((angle, rate), abs=1e-7), (name, joint)


def test_a_twist_is_what_the_robot_does_next():
    one = robots.engine_of(robots.ackermann())
    one.set_state("r", twist=(0.5, 0.0, 0.2))
    assert robots.value(one, robots.rollout(one, 1), "r/twist")[0] == pytest.approx([0.5, 0.0, 0.2], abs=1e-12)
    assert one.get_state("r").joints["front/steering"][0] == pytest.approx(np.arctan(0.2 / 0.5), abs=1e-12)


def test_encoders_see_no_motion_when_an_angle_is_set():
    plain, placed = (robots.engine_of(robots.robot(WHEELS)) for _ in range(2))
    for one in (plain, placed):
        one.inputs[:] = 3.0, 0.2
        robots.rollout(one, 40)
    angle = plain.get_state("r").joints["fixed"][0]
    tick = float(plain.model.wheels["tick_angle"][0])
    placed.set_state("r", joints={"fixed": angle + 700 * tick})
    ends = [robots.value(one, robots.rollout(one, 10, start=40), "r/odometry/pose")[0] for one in (plain, placed)]
    assert ends[1] == pytest.approx(ends[0], abs=2 * tick * 0.05)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pose": (1.0, 2.0)}, r"m/pose \(x, y, heading\): needs 3 finite numbers"),
        ({"pose": (1.0, 2.0, np.nan)}, "3 finite numbers"),
        ({"twist": (np.inf, 0.0, 0.0)}, r"m/twist .*3 finite numbers"),
        ({"twist": (0.0, 1.0, 0.0)}, r"m/twist: this robot cannot move with .*steered would steer 90.0°"),
        ({"joints": {"fixe": 1.0}}, "m: no joint 'fixe'; did you mean 'fixed'"),
        ({"joints": {"fixed": "fast"}}, "m/fixed: needs one finite number"),
        ({"joints": {"fixed": (1.0, 2.0, 3.0)}}, r"m/fixed \(position, velocity\): needs 2 finite numbers"),
        ({"joints": {"fixed": (1.0, 99.0)}}, "m/fixed: turns at .* not at 99; set the twist"),
        ({"joints": {"steered/steering": 1.2}}, r"m/steered/steering: 1.2 rad .* is outside its range, 1 rad"),
        ({"joints": {"steered/steering": (0.3, 0.7)}}, "0.7 rad/s is not possible: it steers at 0.5 rad/s at most"),
        ({"joints": {"steered/steering": 0.4}, "twist": (0.0, 0.0, 0.0), "pose": 3}, "3 finite numbers"),
        ({"joints": {"steered/steering": 0.4}, "twist": (0.1, 0.0, 0.0)}, "the twist needs an angle of 0 rad, not 0.4"),
        ({"joints": [1.0]}, "m: joints is a mapping"),
    ],
)
def test_a_state_that_is_not_admissible_changes_nothing(changes, words):
    # Without the Swedish wheel, which may not slip either.
    one = robots.engine_of({"m": robots.robot({k: v for k, v in WHEELS.items() if k != "swedish"})})
    one.inputs[:] = 2.0, 0.2
    robots.rollout(one, 30)
    before = bits(one)
    with pytest.raises(InputError, match=words):
        one.set_state("m", **{"pose": (5.0, 5.0, 0.0), **changes})
    assert bits(one) == before
