"""The benchmark of serial arms: that all ways of calling do the same work, what peers get, and what is reported."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from botz.bench import peers, suites
from botz.bench.arm import functions, simulation
from botz.bench.arm import suite as bench
from botz.bench.results import Result
from botz.errors import BotzError
from botz.robots.serial_arm import SerialArm

KEYS = {"metric", "value", "unit", "target", "met", "peer", "peer_value", "ratio"}
SCRIPTS = Path(peers.__file__).parent / "peer_scripts"


@pytest.fixture
def in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("CALLS", 4), ("BATCH", 20), ("ROUND", 1e-4), ("REPEATS", 2)):
        monkeypatch.setattr(functions, name, value)
    monkeypatch.setattr(simulation, "SECONDS", 0.3)
    monkeypatch.setattr(simulation, "REPEATS", 2)


# --- functions ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_small")
@pytest.mark.parametrize("robot", ["titan4", "puma560"])
def test_compiled_calls_do_the_work_of_the_methods(robot: str, monkeypatch: pytest.MonkeyPatch):
    """What the calls leave in the arrays that they were given is what SerialArm's methods return."""
    arm = SerialArm.of(robot)
    seen: dict[str, list[tuple[Any, ...]]] = {}

    def keep(call: Any, arguments: Any) -> Any:
        ready = list(arguments)
        seen[call.__name__] = ready
        return functions_each(call, ready)

    functions_each = functions.each
    monkeypatch.setattr(functions, "each", keep)
    works = functions.single_works(arm)
    q, qd, qdd = functions.states(arm, 4)
    for work in works.values():
        work()
    last = {name: calls[-1][-1] for name, calls in seen.items()}
    assert np.array_equal(last["tool_poses"], arm.forward(q[-1]))
    assert np.array_equal(last["jacobians"], arm.jacobian(q[-1]))
    assert np.array_equal(last["inverse_dynamics"], arm.torques(q[-1], qd[-1], qdd[-1]))
    assert np.array_equal(last["forward_dynamics"], arm.accelerations(q[-1], qd[-1], qdd[-1]))
    solved = next(calls for name, calls in seen.items() if name.startswith("solve"))
    counts = [int(one[-1][0]) for one in solved]
    assert counts == [len(arm.inverse(pose).joints) for pose in arm.forward(q)] and min(counts) > 0


@pytest.mark.usefixtures("in_small")
def test_all_functions_are_timed_in_all_ways():
    times = functions.times_of(SerialArm.of("titan4"))
    assert len(times) == 19 and all(0.0 < value < 1e6 for value in times.values())


def test_the_time_is_of_one_item(monkeypatch: pytest.MonkeyPatch):
    now = [0.0]

    def work() -> None:
        now[0] += 0.01

    monkeypatch.setattr(functions, "CLOCK", lambda: now[0])
    assert functions.microseconds(work, 100) == pytest.approx(100.0)


# --- peers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["titan4", "puma560"])
def test_the_peers_get_the_same_arm(robot: str):
    arm = SerialArm.of(robot)
    case = json.loads(json.dumps(functions.peer_case(arm)))
    assert len(json.dumps(case)) < 8_000  # a command line
    q = np.array(case["probe"])
    turned = np.eye(4)
    for alpha, a, d, theta in zip(case["alpha"], case["a"], case["d"], np.array(case["theta"]) + q, strict=True):
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        turned = turned @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    assert turned @ case["tool"] == pytest.approx(np.array(case["pose"]), abs=1e-12)
    frictionless = arm.torques(q, q, q) - arm.parts(q, q, q)["friction"]
    assert case["torques"] == pytest.approx(frictionless)
    assert np.isfinite(case["low"]).all() and np.isfinite(case["high"]).all()


def test_peers_scripts_look_whether_they_have_the_same_arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With a stand-in for EAIK: one whose forward kinematics agree, and one of another arm."""
    stand_in = """
import numpy as np
class DhRobot:
    def __init__(self, alpha, a, d):
        self.rows = alpha, a, d
    def fwdKin(self, q):
        found = np.eye(4)
        for alpha, a, d, t in zip(*self.rows, q):
            c, s, ca, sa = np.cos(t), np.sin(t), np.cos(alpha), np.sin(alpha)
            found = found @ [[c, -s*ca, s*sa, a*c], [s, c*ca, -c*sa, a*s], [0, sa, ca, d + EXTRA], [0, 0, 0, 1]]
        return found
    def IK(self, pose):
        return type("Found", (), {"Q": [0]})()
    def IK_batched(self, poses, threads):
        assert threads == 1
"""
    monkeypatch.setattr(peers, "interpreter", lambda: Path(sys.executable))
    for name, value in (("CALLS", 4), ("BATCH", 40), ("ROUND", 1e-4), ("REPEATS", 2)):
        monkeypatch.setattr(functions, name, value)
    case = functions.peer_case(SerialArm.of("puma560"))
    for extra, reason in (("0.0", ""), ("0.1", "failed: RuntimeError: the last frame differs by")):
        folder = tmp_path / extra
        (folder / "eaik").mkdir(parents=True)
        (folder / "eaik" / "__init__.py").touch()
        (folder / "eaik" / "IK_DH.py").write_text(stand_in.replace("EXTRA", extra), encoding="utf-8")
        for script in ("arm_case.py", "arm_eaik.py"):
            (folder / script).write_text((SCRIPTS / script).read_text(encoding="utf-8"), encoding="utf-8")
        found, why = peers.measure_many(str(folder / "arm_eaik.py"), case)
        assert why.startswith(reason) and bool(why) == bool(reason)
        assert set(found) == (set() if reason else {"all inverse solutions", "all inverse solutions, batched"})


def test_one_number_is_no_mapping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = tmp_path / "script.py"
    script.write_text("print('{\"value\": 3.0}')", encoding="utf-8")
    monkeypatch.setattr(peers, "interpreter", lambda: Path(sys.executable))
    assert peers.measure(str(script)) == (3.0, "")
    assert peers.measure_many(str(script)) == ({}, "failed: no output")
    script.write_text('print(\'{"value": {"a": 3}}\')', encoding="utf-8")
    assert peers.measure_many(str(script)) == ({"a": 3.0}, "")
    assert peers.measure(str(script))[0] is None


# --- simulation --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_small")
def test_the_arm_follows_the_reference_and_every_repeat_is_the_same():
    moving = simulation.Moving(simulation.scenario(method="semi-implicit"))
    assert moving.seconds_per_step() > 0
    ended = moving.joints
    t = simulation.SECONDS
    wanted = simulation.START + simulation.SWING * (1.0 - np.cos(simulation.RATES * t))
    assert ended == pytest.approx(wanted, abs=0.02) and np.abs(ended - simulation.START).max() > 0.02


@pytest.mark.usefixtures("in_small")
def test_the_block_is_held_to_the_end():
    moving = simulation.holding("semi-implicit")
    moving.seconds_per_step(0.2 * simulation.SWING)
    assert moving.engine.state.tools["held"][0] > 0
    block = moving.engine.state.poses[-1]
    tool = moving.engine.arms[simulation.ARM].forward(moving.joints)[:3, 3]
    assert block[:3] == pytest.approx(tool, abs=0.02) and block[2] > -0.1


def test_a_divergence_is_told():
    moving = simulation.Moving(simulation.scenario(method="semi-implicit"))
    moving.engine.advance = lambda *arguments: False  # type: ignore[method-assign]
    with pytest.raises(BotzError, match="the benchmark's arm diverged"):
        moving.advance(10)


# --- what it reports ---------------------------------------------------------------------------------


def test_rows_targets_and_ratios(monkeypatch: pytest.MonkeyPatch):
    """The whole benchmark with stand-ins for all times: Pinocchio is there, EAIK is not."""
    ways = (functions.SINGLE, functions.METHOD, functions.BATCHED)
    names = (functions.FORWARD, functions.JACOBIAN, functions.INVERSE, functions.TORQUES, functions.ACCELERATIONS)
    times = {(name, way): 0.5 if way == functions.BATCHED else 2.0 for name in names for way in ways}
    monkeypatch.setattr(functions, "times_of", lambda arm: times)
    monkeypatch.setattr(simulation, "rows", lambda: [Result("simulated", 1.0, "µs")])

    def measure(script: str, case: dict[str, Any]) -> tuple[dict[str, float], str]:
        assert (SCRIPTS / script).is_file() and len(case["alpha"]) == 6
        if script == "arm_eaik.py":
            return {}, "not there"
        value = {functions.TORQUES: 1.0, functions.ACCELERATIONS: 3.0}
        return {**dict.fromkeys(names, 4.0), "tool's pose": 1.0, **value}, ""

    monkeypatch.setattr(peers, "measure_many", measure)
    report = json.loads(json.dumps(suites.run("arm")))
    assert report["bench"] == "arm" and all(set(row) == KEYS for row in report["results"])
    rows = {row["metric"]: row for row in report["results"]}
    assert len(rows) == len(report["results"]) and rows["simulated"]["value"] == 1.0
    for robot in bench.ROBOTS:
        single = rows[f"{robot}: Newton-Euler, single call"]
        assert (single["target"], single["met"], single["ratio"]) == (1.0, False, 0.5)
        assert rows[f"{robot}: forward dynamics, single call"]["met"] is True
        assert rows[f"{robot}: forward dynamics, batched"]["target"] is None  # the peer did not tell it
        inverse = rows[f"{robot}: all inverse solutions, batched"]
        assert (inverse["target"], inverse["met"], inverse["ratio"]) == (functions.MOST_INVERSE, True, None)
        assert inverse["peer"] == "EAIK (skipped: not there)"


@pytest.mark.usefixtures("in_small")
def test_simulated_rows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(simulation.Moving, "seconds_per_step", lambda self, swing=None: 2e-6)
    monkeypatch.setattr(simulation, "recorded_factor", lambda name: 100.0)
    monkeypatch.setattr(simulation, "RECORDED", ("titan4-line", "no-such-run"))
    rows = {row.metric: row for row in simulation.rows()}
    speed = rows["titan4 under water, rk4: speed"]
    assert (speed.value, speed.target, speed.met) == (pytest.approx(500.0), 300.0, True)
    assert len(rows) == 13 and rows["titan4-line, whole run recorded"].met is False
