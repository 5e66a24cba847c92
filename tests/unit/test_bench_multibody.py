"""The benchmark of multibody robots: that the loops which it compares do the same work, and what is reported."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from botz.bench import suites
from botz.bench.multibody import suite as bench
from botz.errors import BotzError

KEYS = {"metric", "value", "unit", "target", "met", "peer", "peer_value", "ratio"}
CASE = bench.Case(60e-6, "euler")


@pytest.fixture
def in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("STEPS", 300), ("REPEATS", 2), ("CALLS", 50)):
        monkeypatch.setattr(bench, name, value)


@pytest.fixture(scope="module")
def hovering() -> bench.Hovering:
    return bench.Hovering(CASE)


@pytest.mark.usefixtures("in_small")
def test_the_python_loop_flies_as_the_compiled_one_and_mujoco_alone_falls(hovering: bench.Hovering):
    """The peer does the same work: it differs only by forces whose direction is one step old."""
    start = hovering.fresh_data()
    hovering.compiled_loop()
    ours = hovering.engine.data.qpos.copy(), hovering.engine.data.qvel.copy()
    python, alone = hovering.fresh_data(), hovering.fresh_data()
    hovering.python_loop(python)
    hovering.mujoco_alone(alone)
    assert np.abs(ours[1][:6]).max() < 1.0, "it hovers"
    assert python.qpos == pytest.approx(ours[0], abs=1e-5) and python.qvel == pytest.approx(ours[1], abs=1e-3)
    assert np.abs(ours[0] - start.qpos).max() > 1.0, "its propellers turn"
    span = bench.STEPS * CASE.step
    assert alone.qvel[2] - start.qvel[2] == pytest.approx(-9.81 * span, rel=0.01)


@pytest.mark.usefixtures("in_small")
def test_every_repeat_begins_at_the_same_state(hovering: bench.Hovering):
    ends = []
    for _ in range(2):
        hovering.compiled_loop()
        ends.append(hovering.engine.data.qpos.tobytes())
    assert ends[0] == ends[1]
    assert all(0.0 < value < 1.0 for value in hovering.times())


def test_a_divergence_is_told(hovering: bench.Hovering, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hovering.engine, "advance", lambda *arguments: False)
    with pytest.raises(BotzError, match="the benchmark's robot diverged"):
        hovering.advance(10)


@pytest.mark.usefixtures("in_small")
def test_every_kind_of_element_is_timed():
    timed = bench.elements_timed()
    assert {kind.split(",")[0] for kind in timed} == {"propeller", "lift-drag", "dc-motor", "lugre", "vehicle-wheels"}
    for robot, element, height in timed.values():
        assert 0.0 < bench.seconds_per_call(robot, element, height) < 1.0


def test_rows_targets_and_ratios(monkeypatch: pytest.MonkeyPatch):
    """The whole benchmark with stand-ins for all times."""
    monkeypatch.setattr(bench.Hovering, "__init__", lambda self, case: None)
    monkeypatch.setattr(bench.Hovering, "times", lambda self: (20e-6, 30e-6, 15e-6))
    monkeypatch.setattr(bench, "seconds_per_call", lambda *timed: 25e-9)
    monkeypatch.setattr(bench, "recorded_factor", lambda name: 8.0)
    report: dict[str, Any] = json.loads(json.dumps(suites.run("multibody")))
    assert report["bench"] == "multibody" and all(set(row) == KEYS for row in report["results"])
    rows = {row["metric"]: row for row in report["results"]}
    assert len(rows) == len(report["results"])
    shipped = rows["lophorina at 400 µs, rk4: speed"]
    assert (shipped["value"], shipped["target"], shipped["met"]) == (pytest.approx(20.0), 10.0, True)
    assert shipped["ratio"] == pytest.approx(1.5)
    assert rows["lophorina at 60 µs, euler: speed"]["target"] is None
    assert rows["lophorina at 60 µs, euler: step"]["ratio"] == pytest.approx(1.5)
    assert rows["lophorina at 1 ms, implicit-fast: mj_step alone"]["value"] == pytest.approx(15.0)
    beside = rows["lophorina at 1 ms, implicit-fast: elements and loop beside mj_step"]
    assert beside["value"] == pytest.approx(5.0)
    assert rows["element propeller: a call"]["value"] == pytest.approx(25.0)
    assert rows["lophorina-hover, whole run recorded"]["met"] is False
