"""The vehicle's state is all that goes on: work may hold anything before a step, the model never changes; and putting
a robot into another state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from botz.engines.vehicle.engine import VehicleEngine
from botz.errors import InputError
from botz.scenario.vehicle.schema import VehicleScenario
from botz.verify.vehicle.rig import NAMES, four_wheeler, laid_over, vivi

ROUGH = {"type": "rough", "iso_class": "E", "x": [-2.0, 2.0], "y": [-2.0, 2.0]}
WALL = {"type": "step", "at": 0.5, "height": 1.0, "edge": 0.02, "resolution": 0.02, "x": [-2.0, 2.0], "y": [-2.0, 2.0]}
COULOMB = {"type": "coulomb", "static": 0.9, "dynamic": 0.7}
MIXED = laid_over(vivi(), {"wheels": {"rear_left": {"tyre": COULOMB}, "front_right": {"rims": 1}}})
THREE = {**four_wheeler(), "wheels": dict(list(four_wheeler()["wheels"].items())[:3])}
SHIFTED = vivi(wheel={"tyre": {"type": "magic-formula", "combined": {"shift_x": 0.05, "e_x": 0.3}}})
WORLDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tyres of both kinds": ({"r": {**MIXED, "velocity": [1.0, 0.3, 0.0]}}, {"terrain": ROUGH}),
    "at a wall": ({"r": {**vivi(), "position": [0.12, 0.0], "velocity": [1.0, 0.0, 0.0]}}, {"terrain": WALL}),
    "exhaustive": (
        {"r": {**MIXED, "position": [0.1, 0.2]}, "t": THREE}, {"terrain": ROUGH, "contact": {"search": "plain"}},
    ),
    "on its roof": ({"r": {**vivi(), "position": [0.0, 0.0, 0.25], "attitude": [3.0, 0.2, 0.0]}}, {}),
    "absent wheels": ({"t": {**THREE, "velocity": [0.5, 0.2, 0.0]}, "s": SHIFTED}, {"terrain": ROUGH}),
}  # fmt: skip
METHODS = ["semi-implicit", "rk4"]


def built(name: str, method: str = "semi-implicit", **more: Any) -> VehicleEngine:
    robots, world = WORLDS[name]
    time = {"step": 1e-4, "method": method}
    data = {"engine": "vehicle", "seed": 2, "time": time, "world": world, "robots": {**robots, **more}}
    engine = VehicleEngine(VehicleScenario.model_validate(data))
    engine.inputs[:] = 8.0 + np.arange(engine.inputs.size)
    return engine


def advance(engine: VehicleEngine, n: int) -> None:
    assert engine.advance(0, n, 0, np.empty((0, 0)))


def row_of(engine: VehicleEngine) -> np.ndarray:
    row = np.empty(engine.channels.width)
    engine.observe(row)
    return row


def spoil(engine: VehicleEngine) -> None:
    for array in engine.work:
        array.view(np.float64)[...] = np.nan


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", WORLDS)
def test_work_may_hold_anything_before_each_step_and_each_look(name: str, method: str):
    clean, spoilt = built(name, method), built(name, method)
    for _ in range(10):
        advance(clean, 150)
        for _ in range(150):
            spoil(spoilt)
            advance(spoilt, 1)
        spoil(spoilt)
        assert row_of(spoilt).tobytes() == row_of(clean).tobytes()
        for one, other in zip(spoilt.state, clean.state, strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", WORLDS)
def test_what_is_observed_is_in_the_state(name: str, method: str):
    engine, other = built(name, method), built(name, method)
    advance(engine, 700)
    snapshot, row = engine.snapshot(), row_of(engine)
    advance(other, 10)
    other.restore(snapshot)
    spoil(other)
    assert row_of(other).tobytes() == row.tobytes()
    advance(engine, 100)
    advance(other, 100)
    assert row_of(other).tobytes() == row_of(engine).tobytes()


def test_a_step_never_writes_the_model():
    engine = built("at a wall", "rk4")
    before = [array.tobytes() for array in engine.model]
    advance(engine, 2000)
    assert [array.tobytes() for array in engine.model] == before
    for array in engine.model:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_snapshot_holds_the_state_and_the_inputs():
    engine = built("absent wheels")
    parts = zip(("robot", "wheels", "axles"), engine.state, strict=True)
    fields = {f"{part}/{field}" for part, array in parts for field in array.dtype.names or ()}
    assert set(engine.state_arrays()) == fields | {"inputs"}
    assert all(np.shares_memory(array, engine.state_arrays()["robot/x"]) is False for array in engine.model)


# --- reading and setting -----------------------------------------------------------------------------------------

PAIR = {"other": {**vivi(), "position": [-1.0, 1.0]}}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", WORLDS)
def test_setting_what_was_read_changes_no_bit(name: str, method: str):
    engine, left = built(name, method), built(name, method)
    for one in (engine, left):
        advance(one, 500)
    for robot in engine.scenario.robots:
        now = engine.get_state(robot)
        engine.set_state(robot, pose=now.pose, twist=now.twist, joints=now.joints)
    assert row_of(engine).tobytes() == row_of(left).tobytes()
    for one in (engine, left):
        advance(one, 300)
    assert row_of(engine).tobytes() == row_of(left).tobytes()


def test_a_state_is_in_the_words_of_the_channels():
    engine = built("tyres of both kinds")
    advance(engine, 300)
    row, now = row_of(engine), engine.get_state("r")
    assert now.pose.tolist() == engine.channels.value(row, "r/pose").tolist()
    assert now.twist.tolist() == engine.channels.value(row, "r/twist").tolist()
    for name in NAMES:
        assert now.joints[name] == tuple(engine.channels.value(row, f"r/{name}/{part}") for part in ("angle", "speed"))


def test_another_pose_moves_that_robot_alone_and_keeps_its_speeds():
    engine, left = built("tyres of both kinds", **PAIR), built("tyres of both kinds", **PAIR)
    for one in (engine, left):
        advance(one, 300)
    now, other = engine.get_state("r"), engine.get_state("other")
    engine.set_state("r", pose=[0.4, -0.3, 0.6, 2.0, 0.0, 0.0, 2.0])
    moved = engine.get_state("r")
    assert moved.pose == pytest.approx([0.4, -0.3, 0.6, np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], abs=1e-15)
    assert moved.twist == pytest.approx(now.twist, abs=1e-12)
    for name in NAMES:
        assert moved.joints[name] == pytest.approx(now.joints[name], abs=1e-12)
    load = engine.channels.value(row_of(engine), "r/front_left/load")
    assert load == 0.0, "what can be observed belongs to the new place"
    span = engine.channels.slices["other/pose"]
    assert engine.get_state("other").pose.tobytes() == other.pose.tobytes()
    for one in (engine, left):
        advance(one, 500)
    assert row_of(engine)[span].tobytes() == row_of(left)[span].tobytes()


def test_twist_and_joints_are_set_and_kept_apart():
    engine = built("on its roof")
    engine.set_state("r", pose=[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    engine.set_state("r", twist=[1.0, 0.2, -0.1, 0.3, -0.2, 0.1])
    engine.set_state("r", joints={"front_left": (0.5, 7.0), "rear_right": 1.5})
    now = engine.get_state("r")
    assert now.twist == pytest.approx([1.0, 0.2, -0.1, 0.3, -0.2, 0.1], abs=1e-12)
    assert now.joints["front_left"] == pytest.approx((0.5, 7.0), abs=1e-12)
    assert now.joints["rear_right"][0] == 1.5
    assert now.joints["rear_right"][1] == pytest.approx(0.0, abs=1e-12)
    advance(engine, 1)


def locked() -> dict[str, Any]:
    return four_wheeler(wheels={"rear_left": {"locked": True}})


LEVEL = {"type": "flat", "x": [-1.0, 1.0], "y": [-1.0, 1.0], "outside": "end"}
UPRIGHT = [1.0, 0.0, 0.0, 0.0]
BOTH = {"voltage": 24.0, "torque_constant": 0.03, "speed_constant": 30.0, "resistance": 0.5, "gear_ratio": 20.0}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pose": [0.0, 0.0, 1.0]}, ["r.pose", "7 finite numbers"]),
        ({"pose": "there"}, ["r.pose", "7 finite numbers", "'there'"]),
        ({"pose": [0.0, np.nan, 1.0, *UPRIGHT]}, ["r.pose", "7 finite numbers"]),
        ({"pose": [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]}, ["r.pose", "quaternion"]),
        ({"pose": [0.0, 0.0, 0.05, *UPRIGHT]}, ["r.pose", "z = 0.05 m", "inside the ground", "0.1 m at least"]),
        ({"pose": [0.79, 0.0, 1.0, *UPRIGHT]}, ["r.pose", "outside the terrain"]),
        ({"twist": [1.0, 0.0, 0.0]}, ["r.twist", "6 finite numbers"]),
        ({"twist": [1.0, 0.0, 0.0, np.inf, 0.0, 0.0]}, ["r.twist", "6 finite numbers"]),
        ({"joints": {"front_lef": 1.0}}, ["r.joints", "'front_lef'", "front_left"]),
        ({"joints": {"front_left": (1.0, 2.0, 3.0)}}, ["r.joints.front_left", "2 finite numbers"]),
        ({"joints": {"front_left": np.nan}}, ["r.joints.front_left", "1 finite"]),
        ({"joints": {"rear_left": (0.0, 1.0)}}, ["r.joints.rear_left", "locked"]),
        ({"joints": {"front_left": 1.0, "front_right": 2.0}}, ["r.joints.front_right", "'front_left'", "one motor"]),
    ],
)
def test_a_state_that_is_not_admissible_is_told_and_changes_nothing(change: dict[str, Any], words: list[str]):
    robot = {**locked(), "motors": {"front": {**BOTH, "wheels": ["front_left", "front_right"]}}}
    data = {"engine": "vehicle", "world": {"terrain": LEVEL}, "robots": {"r": robot}}
    engine = VehicleEngine(VehicleScenario.model_validate(data))
    before = [array.tobytes() for array in engine.state]
    full: dict[str, Any] = {"twist": [0.1] * 6, "pose": [0.0, 0.0, 0.5, *UPRIGHT], "joints": {"rear_right": 3.0}}
    with pytest.raises(InputError) as caught:
        engine.set_state("r", **{**full, **change})
    (problem,) = caught.value.problems
    assert all(word in str(problem) for word in words), str(problem)
    assert [array.tobytes() for array in engine.state] == before


def test_an_unknown_robot_is_told():
    engine = built("on its roof")
    for call in (engine.get_state, engine.set_state):
        with pytest.raises(InputError, match="no robot 'q'"):
            call("q")
