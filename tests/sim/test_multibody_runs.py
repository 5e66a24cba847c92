"""Runs of multibody robots: replayed bit for bit, and whole recordings however a run ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from common import Answer, merged
from recordings import bits

from botz import Simulation, read, simulate
from botz.errors import BotzError, DivergedError
from botz.record.reader import Recording
from botz.replay import replay_recording

BASE: dict[str, Any] = {
    "engine": "multibody",
    "seed": 4,
    "time": {"step": 0.001, "duration": 1.0, "method": "rk4"},
    "record": {"rate": 500.0, "snapshots": 0.25},
    "world": {"wind": {"steady": [2, 0, 0], "turbulence": {"intensity": [1, 1, 1]}}},
    "robots": {
        "bot": {
            "links": {
                "body": {"mass": 1.0, "shapes": [{"type": "box", "size": [0.3, 0.2, 0.1]}]},
                "rotor": {"mass": 0.05, "inertia": [1e-4, 1e-4, 2e-4]},
            },
            "joints": {"spin": {"type": "continuous", "parent": "body", "child": "rotor", "pose": {"z": 0.1}}},
            "actuators": {"spin": {"kind": "velocity"}},
            "elements": {"prop": {"type": "propeller", "joint": "spin", "coefficient": 1e-4, "lag_up": 0.05,
                                  "rotor_drag": 1e-4}},
            "sensors": {"imu": {"type": "imu", "link": "body", "gyro_noise": 0.01, "accel_bias_walk": 0.1}},
            "pose": {"z": 0.2},
        }
    },
    "controllers": {
        "go": {"type": "constant", "robot": "bot", "rate": 100.0, "command": {"spin/speed": 330.0}},
    },
}  # fmt: skip
PILE: dict[str, Any] = {
    "engine": "multibody",
    "time": {"step": 0.001, "duration": 2.0},
    "record": {"rate": 100.0, "snapshots": 0},
    "robots": {
        f"box{k}": {
            "links": {"box": {"mass": 1.0, "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]}},
            "pose": {"x": 0.06 * k, "z": 0.6 + 0.25 * k},
        }
        for k in range(8)
    },
}
"""Boxes that have not met yet when the run begins, and lie on each other later."""
TIME_BOMB = """
from dataclasses import dataclass

from botz import force_element

@dataclass
class At:
    time: float

@force_element(At)
def bomb(p, frame):
    frame.force[0] = 0.0 if frame.time < p.time else (frame.time - frame.time) / (frame.time - frame.time)

@force_element(At)
def raises(p, frame):
    if frame.time >= p.time:
        raise ValueError("too late")

@force_element(At)
def overrun(p, frame):
    number = 0 if frame.time < p.time else 7
    frame.force[number] += 0.0
"""
MultibodyFile = Callable[..., Path]


def written(folder: Path, *changes: dict[str, Any], base: dict[str, Any] = BASE, name: str = "bot.yaml") -> Path:
    data = base
    for change in changes:
        data = merged(data, change)
    path = folder / name
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


@pytest.fixture
def multibody_file(tmp_path: Path) -> MultibodyFile:
    (tmp_path / "bomb.py").write_text(TIME_BOMB, encoding="utf-8")
    return partial(written, tmp_path)


@pytest.fixture(scope="module")
def base_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Recording]:
    """The base scenario's file and its run, with which several tests compare theirs."""
    folder = tmp_path_factory.mktemp("base")
    file = written(folder)
    return file, simulate(file, out=folder / "run")


@pytest.mark.parametrize("method", ["rk4", "euler", "implicit", "implicit-fast"])
def test_a_replay_is_identical_bit_for_bit(method: str, base_run: tuple[Path, Recording], tmp_path: Path):
    changed = {"time": {"method": method}}
    rec = base_run[1] if merged(BASE, changed) == BASE else simulate(written(tmp_path, changed), out=tmp_path / "run")
    assert rec["bot/pose"][:, 2].min() < 0.15 and rec["bot/prop/thrust"].max() > 5.0
    assert replay_recording(rec).identical


def test_the_same_run_twice_and_recorded_at_another_rate(base_run: tuple[Path, Recording], tmp_path: Path):
    file, one = base_run
    assert bits(one) == bits(simulate(file, out=tmp_path / "two"))
    slow = simulate(written(tmp_path, {"record": {"rate": 100.0}}), out=tmp_path / "slow")
    for channel in one.channels:
        assert slow[channel.name].tobytes() == one[channel.name][::5].tobytes(), channel.name


def test_stepping_oneself_gives_the_run(base_run: tuple[Path, Recording]):
    file, rec = base_run
    sim = Simulation(file)
    values = {}
    for n in (100, 7, 393, 500):
        values = sim.step(n=n)
    for channel in rec.channels:
        assert np.asarray(values[channel.name]).tobytes() == rec[channel.name][-1].tobytes(), channel.name


def test_another_seed_gives_other_noise(base_run: tuple[Path, Recording], tmp_path: Path):
    one, two = base_run[1], simulate(written(tmp_path, {"seed": 1}), out=tmp_path / "run")
    assert (one["bot/imu/angular_velocity"] != two["bot/imu/angular_velocity"]).mean() > 0.9
    assert (one["bot/pose"][-1] != two["bot/pose"][-1]).any(), "the turbulence too"


@pytest.mark.parametrize(
    ("kind", "did"),
    [
        ("bomb", "gave a force that is not finite"),
        ("raises", r"raised ValueError: too late \(.*bomb\.py:17\)"),
        ("overrun", r"raised IndexError: index is out of bounds \(.*bomb\.py:19\)"),
    ],
)
@pytest.mark.parametrize(("time", "kept"), [(0.4, 200), (0.401, 201)])
def test_an_element_that_fails_ends_the_run_and_all_before_is_kept(
    time: float, kept: int, kind: str, did: str, multibody_file: MultibodyFile, tmp_path: Path
):
    """First in the row of 0.4 s, which is not written; or in the step that begins half a row later.

    Each of both methods, with stages and without, meets every kind and every time once.
    """
    method = "rk4" if (kind == "raises") == (time > 0.4) else "euler"
    fails = {"type": f"bomb.py:{kind}", "link": "body", "parameters": {"time": time - 1e-9}}
    file = multibody_file({"time": {"method": method}, "robots": {"bot": {"elements": {"late": fails}}}})
    with pytest.raises(BotzError, match=rf"^the element 'late' of robot 'bot' {did}, at t = {time} s$") as caught:
        simulate(file, out=tmp_path / "run")
    assert not isinstance(caught.value, DivergedError)
    rec = read(tmp_path / "run")
    assert rec.time("bot/pose") == pytest.approx(0.002 * np.arange(kept))
    assert np.isfinite(rec["bot/pose"]).all() and np.isfinite(rec["bot/twist"]).all()


def test_an_element_that_fails_is_told_in_a_line_with_exit_code_1(
    multibody_file: MultibodyFile, tmp_path: Path, run_botz: Callable[..., Answer]
):
    fails = {"type": "bomb.py:raises", "link": "body", "parameters": {"time": 0.4}}
    file = multibody_file({"robots": {"bot": {"elements": {"late": fails}}}})
    answer = run_botz("run", file, "--out", tmp_path / "run")
    assert answer.code == 1 and "Traceback" not in answer.err
    assert answer.err.count("ValueError: too late") == 1 and "the element 'late' of robot 'bot'" in answer.err


def test_memory_that_becomes_too_small_stops_the_run_and_keeps_it(multibody_file: MultibodyFile, tmp_path: Path):
    """A bed of studs that all touch the floor at once, after 0.31 s of falling."""
    studs = [{"type": "sphere", "radius": 0.02, "pose": [0.05 * i, 0.05 * j, 0, 0, 0, 0]}
             for i in range(12) for j in range(12)]  # fmt: skip
    bed = {"links": {"bed": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1], "shapes": studs}}, "pose": {"z": 0.5}}
    file = multibody_file({"world": {"memory": 20_000}, "robots": {"bed": bed}}, base={**PILE, "robots": {}})
    with pytest.raises(BotzError, match=r"at t = 0\.313 s: Too many contacts.*; raise 'world.memory', or use fewer"):
        simulate(file, out=tmp_path / "run")
    rec = read(tmp_path / "run")
    assert rec.time("bed/pose") == pytest.approx(np.arange(32) * 0.01)
    assert rec["bed/pose"][-1, 2] == pytest.approx(0.5 - 0.5 * 9.81 * 0.31**2)


def test_a_fatal_error_inside_mujoco_leaves_a_whole_recording(
    multibody_file: MultibodyFile, tmp_path: Path, run_botz: Callable[..., Answer]
):
    """So little memory that it ends in the middle of a stage. MuJoCo cannot go on, and no log file is left about."""
    file = multibody_file({"world": {"memory": 60_000}}, base=PILE)
    answer = run_botz("run", file, "--out", tmp_path / "run")
    assert answer.code not in (0, 139, 134) and "Traceback" not in answer.err
    assert "raise 'world.memory'" in answer.err
    rec = read(tmp_path / "run")
    assert len(rec["box0/pose"]) > 5 and np.isfinite(rec["box0/pose"]).all()
    assert not list(tmp_path.rglob("MUJOCO_LOG*"))
