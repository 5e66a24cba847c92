"""Runs of arms: the same bits again from a recording, commands from outside, and what happens when they stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from common import merged
from recordings import bits

from botz import Simulation, load, read, simulate
from botz.errors import DivergedError, InputError
from botz.replay import replay_recording

BASE: dict[str, Any] = {
    "engine": "arm",
    "time": {"step": 0.001, "duration": 2.0},
    "record": {"rate": 500.0, "snapshots": 0.5},
    "inputs": {"timeout": 0.2},
    "world": {
        "planes": {"floor": {}},
        "objects": {"nut": {"size": [0.1, 0.1, 0.1], "mass": 5.0, "pose": [0.0, 0.0, 0.05, 0.0, 0.0, 0.0]}},
    },
    "robots": {
        "hand": {
            "joints": {
                "lift": {"type": "prismatic", "mass": 5.0, "range": [-1.0, 1.0]},
                "turn": {"mass": 2.0, "inertia": [0.1, 0.1, 0.1], "speed": 2.0, "actuator": {"lag": 0.01}},
            },
            "gripper": {"opening": 0.15, "force": 500.0, "speed": 0.2, "pads": [0.04, 0.04]},
            "servo": {"type": "computed-torque"},
            "start": [0.05, 0.0],
        }
    },
}
PICK = """
class Mine:
    def reset(self, setup):
        pass

    def update(self, t, measured):
        if t < 0.5:
            return {"gripper/opening": 0.0, "gripper/force": 200.0}
        if t < 1.5:
            s = t - 0.5
            return {"position": [0.05 + 0.2 * s * s, s], "speed": [0.4 * s, 1.0], "acceleration": [0.4, 0.0]}
        return {"twist": [0.0, 0.0, 0.05, 0.0, 0.0, -0.3], "gripper/opening": 0.15 if t > 1.8 else 0.0}
"""
PICKING = {"controllers": {"pick": {"type": "mine.py:Mine", "robot": "hand", "rate": 100.0}}}
ArmFile = Callable[..., Path]


@pytest.fixture
def arm_file(tmp_path: Path) -> ArmFile:
    (tmp_path / "mine.py").write_text(PICK, encoding="utf-8")

    def write(*changes: dict[str, Any], name: str = "arm.yaml") -> Path:
        data = BASE
        for change in changes:
            data = merged(data, change)
        path = tmp_path / name
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_a_replay_is_identical_bit_for_bit(method: str, arm_file: ArmFile, tmp_path: Path):
    rec = simulate(arm_file(PICKING, {"time": {"method": method}}), out=tmp_path / "run")
    assert rec["nut/pose"][:, 2].max() > 0.15, "it was lifted"
    assert set(rec["hand/gripper/held"].tolist()) == {0.0, 1.0}
    assert replay_recording(rec).identical


def test_the_same_run_twice_gives_the_same_bits(arm_file: ArmFile, tmp_path: Path):
    first, second = (simulate(arm_file(PICKING), out=tmp_path / name) for name in ("a", "b"))
    assert bits(first) == bits(second)


def test_how_often_is_recorded_does_not_change_the_motion(arm_file: ArmFile, tmp_path: Path):
    often = simulate(arm_file(PICKING), out=tmp_path / "a")
    seldom = simulate(arm_file(PICKING, {"record": {"rate": 50.0}}), out=tmp_path / "b")
    assert often["nut/pose"][::10].tobytes() == seldom["nut/pose"].tobytes()


def test_news_of_a_run_are_told(arm_file: ArmFile, tmp_path: Path):
    rec = simulate(arm_file(PICKING), out=tmp_path / "run")
    told = [text for _, _, text in rec.logs()]
    assert told == ["hand holds nut", "hand has let nut go"]


def test_a_complete_state_continues_bit_for_bit_while_gripping(arm_file: ArmFile):
    one = Simulation(load(arm_file()))
    one.step({"hand": {"gripper/opening": 0.0, "gripper/force": 200.0}}, n=700)
    one.step({"hand": {"speed": [0.1, 0.3]}}, n=123)
    saved = one.snapshot()
    ends = []
    for simulation in (one, Simulation(load(arm_file()))):
        simulation.restore(saved)
        values = simulation.step({"hand": {"speed": [0.2, -0.3]}}, n=400)
        ends.append({name: np.asarray(value).tobytes() for name, value in values.items()})
    assert ends[0] == ends[1]


@pytest.mark.parametrize(("on_timeout", "moves"), [("stop", False), ("hold", True)])
def test_an_arm_holds_its_place_when_commands_from_outside_stop(arm_file: ArmFile, on_timeout: str, moves: bool):
    simulation = Simulation(load(arm_file({"inputs": {"on_timeout": on_timeout}})))
    simulation.apply_outside("hand", {"speed": [0.1, 0.5], "gripper/opening": 0.12}, "test")
    before = simulation.step(n=190)
    assert before["hand/reference/position"] == pytest.approx([0.05 + 0.019, 0.095])
    after = simulation.step(n=300)
    if moves:
        assert after["hand/reference/position"][1] == pytest.approx(0.245)
    else:
        assert after["hand/reference/position"] == pytest.approx([0.05 + 0.02, 0.1])
        assert not after["hand/reference/speed"].any()
    assert simulation.step(n=500)["hand/gripper/opening"] == pytest.approx(0.12), "its jaws go on"


def test_an_arm_that_diverges_is_told_with_what_came_before(arm_file: ArmFile, tmp_path: Path):
    wild = {"robots": {"hand": {"servo": {"gains": {"proportional": [1e9, 1e9], "derivative": [1.0, 1.0]}}}}}
    with pytest.raises(DivergedError, match=r"step of 0\.001 s must be short"):
        simulate(arm_file(PICKING, wild), out=tmp_path / "run")
    rec = read(tmp_path / "run")
    assert rec.complete and rec.summary["status"] == "failed"
    assert np.isfinite(rec["hand/position"]).all() and len(rec.steps()) > 1


def test_a_controller_whose_command_does_not_fit_is_told_before_the_first_step(arm_file: ArmFile, tmp_path: Path):
    hold = {"type": "constant", "robot": "hand", "command": {"position": [0.1]}}
    with pytest.raises(InputError, match="needs 2 finite numbers") as caught:
        simulate(arm_file({"controllers": {"hold": hold}}), out=tmp_path / "run")
    assert [problem.key for problem in caught.value.problems] == ["controllers.hold"]


@pytest.mark.parametrize(
    ("step", "key", "words"),
    [
        ({"type": "joints", "to": [5.0, 0.0]}, "to.0", "5 m is outside the range of lift, -1 m to 1 m"),
        ({"type": "joints", "to": [0.1, 0.1, 1.0]}, "to", "3 numbers for 2 joints"),
        ({"type": "joints", "to": [0.0, 0.0], "through": [[0.0, 0.0], [7.0, 0.0]]}, "through.1.0", "outside the range"),
    ],
)
def test_a_wrong_step_of_a_program_is_told_with_its_key(
    step: dict[str, Any], key: str, words: str, arm_file: ArmFile, tmp_path: Path
):
    moves = [{"type": "wait", "duration": 0.1}, {"type": "joints", "to": [0.1, 0.1]}, step]
    plan = {"type": "program", "robot": "hand", "steps": moves}
    with pytest.raises(InputError) as caught:
        simulate(arm_file({"controllers": {"plan": plan}}), out=tmp_path / "run")
    (problem,) = caught.value.problems
    assert problem.key == f"controllers.plan.steps.2.{key}" and words in problem.message
    assert "arm.yaml:" in str(problem)
