"""The benchmark of robot soccer: the same match each time, crowds of one density, what is sent and what is reported."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from botz.bench import peers, suites
from botz.bench.results import Result
from botz.bench.soccer import flood as soccer_flood
from botz.bench.soccer import suite as soccer
from botz.errors import BotzError

KEYS = {"metric", "value", "unit", "target", "met", "peer", "peer_value", "ratio"}


# --- the matches -------------------------------------------------------------------------------------


@pytest.fixture
def in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soccer, "SECONDS", 0.6)
    monkeypatch.setattr(soccer, "REPEATS", 2)
    monkeypatch.setattr(soccer, "PIECE", 7)
    monkeypatch.setattr(soccer, "CROWD_SECONDS", 0.12)
    monkeypatch.setattr(soccer, "CROWDS", (10, 40))
    monkeypatch.setattr(soccer, "RECORDED_SECONDS", 0.5)


@pytest.mark.usefixtures("in_small")
def test_the_table_plays_the_match_that_was_played():
    """The commands of the players, replayed without them, move robots and ball in exactly the same way."""
    loaded, speeds = soccer.played_match()
    assert speeds.shape == (20, 6, 2) and np.abs(speeds).max() > 5.0
    game = soccer.Simulation(loaded)
    for _ in range(20):
        game.step(n=soccer.PERIOD)
    match = soccer.Played(loaded, speeds)
    for _ in range(2):
        pieces = match.play()
        assert len(pieces) == 3 and (pieces > 0).all()
        assert np.array_equal(match.latest()[1], [*np.concatenate([np.atleast_1d(v) for v in game.values().values()])])
    assert match.seconds_per_step() > 0


def test_random_commands_are_the_same_each_time_and_change_every_30_ms():
    loaded = soccer.three_a_side()
    speeds = soccer.random_speeds(loaded, 60.0)
    assert speeds.shape == (2000, 6, 2) and np.array_equal(speeds, soccer.random_speeds(loaded, 60.0))
    robot = loaded.spec.robots["blue0"]
    rims = speeds * robot.wheels.left.radius
    v, w = rims.mean(axis=2), (rims[..., 1] - rims[..., 0]) / robot.track
    assert v.std() == pytest.approx(soccer.SPEED, rel=0.15) and w.std() == pytest.approx(soccer.TURN, rel=0.15)
    assert (np.diff(speeds, axis=0) != 0).all()


@pytest.mark.parametrize("robots", [10, 25, 50, 100, 200])
def test_crowds_have_one_density(robots: int):
    spec: Any = soccer.crowd(robots).spec
    assert len(spec.robots) == robots
    field = spec.world.field
    assert field.length * field.width / robots == pytest.approx(soccer.AREA)
    teams = [robot.team for robot in spec.robots.values()]
    assert abs(teams.count("blue") - teams.count("yellow")) <= 0.25 * robots
    soccer.build_engine(spec)  # refuses robots that overlap


@pytest.mark.usefixtures("in_small")
def test_pair_tests_are_counted_and_few():
    counts = []
    for robots in (25, 100):
        loaded = soccer.crowd(robots)
        match = soccer.Played(loaded, soccer.random_speeds(loaded, 0.3))
        match.play()
        counts.append(match.tests_per_step / robots)
    assert all(1.0 <= count < 3.0 for count in counts)  # each robot and the ball, and what is near; not n/2
    assert counts[1] < 1.5 * counts[0]


@pytest.mark.usefixtures("in_small")
def test_an_image_is_taken_with_every_command(monkeypatch: pytest.MonkeyPatch):
    taken = []
    message = soccer.Pictures.message

    def counted(self: Any, moment: Any) -> bytes:
        taken.append(moment.number)
        return message(self, moment)

    monkeypatch.setattr(soccer.Pictures, "message", counted)
    match = soccer.Played(*soccer.played_match())
    assert soccer.watched_seconds_per_step(match) > 0
    assert taken[-20:] == list(range(1, 21))


@pytest.mark.usefixtures("in_small")
def test_a_whole_run_is_recorded():
    assert soccer.recorded_match_factor() > 0


def test_a_divergence_is_told():
    match = soccer.Played(soccer.three_a_side(), np.zeros((2, 6, 2)))
    match.engine.advance = lambda *arguments: False  # type: ignore[method-assign]
    with pytest.raises(BotzError, match="the benchmark's match diverged"):
        match.play()


# --- the peer ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("control_ms", [1, 25])
def test_the_peer_gets_the_same_match(control_ms: int):
    case = json.loads(json.dumps(soccer.peer_case(soccer.three_a_side(), control_ms)))
    assert case["blue"][0] == pytest.approx([-0.675, 0.0, 0.0]) and case["yellow"][0] == pytest.approx([0.675, 0, 180])
    assert len(case["blue"]) == len(case["yellow"]) == 3 and case["ball"] == [0.0, 0.0]
    assert np.shape(case["speeds"])[1:] == (6, 2) and case["period_ms"] == 30 and case["control_ms"] == control_ms
    assert len(json.dumps(case)) < 30_000  # what every system takes in a command line


def test_the_peers_script_times_a_match_and_looks_at_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With a stand-in for the package: one whose robots drive, and one whose robots stay."""
    stand_in = """
class VSS:
    def __init__(self, field, blue, yellow, step_ms, ball, places, others):
        assert (field, blue, yellow, step_ms) == (0, 3, 3, 25) and len(ball) == 4
        self.step_s, self.x = step_ms / 1000, 0.0
    def step(self, commands):
        assert len(commands) == 6 and all(len(command) == 2 for command in commands)
        self.x += DRIVES * self.step_s
    def get_state(self):
        return [0.0] * 5 + [self.x, 0.0, 0.0, 0.0, 0.0, 0.0] * 6
"""
    monkeypatch.setattr(peers, "interpreter", lambda: Path(sys.executable))
    case = soccer.peer_case(soccer.three_a_side(), 25)
    script = Path(peers.__file__).parent / "peer_scripts" / "rc_robosim_match.py"
    for drives, reason in (("1.0", ""), ("0.0", "failed: RuntimeError: no robot has moved")):
        folder = tmp_path / drives
        folder.mkdir()
        (folder / "robosim.py").write_text(stand_in.replace("DRIVES", drives), encoding="utf-8")
        (folder / "match.py").write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
        value, why = peers.measure(str(folder / "match.py"), case)
        assert why == reason and (value is None) == bool(reason)


def test_a_peer_that_cannot_be_built_is_left_out_with_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    asked: list[tuple[str, ...]] = []

    def pip(*arguments: str, settings: dict[str, str] | None = None) -> bool:
        asked.append(arguments)
        return settings is None

    (tmp_path / "python").touch()
    monkeypatch.setattr(peers, "folder", lambda: tmp_path)
    monkeypatch.setattr(peers, "interpreter", lambda: tmp_path / "python")
    monkeypatch.setattr(peers, "pip", pip)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: SimpleNamespace(stdout=f"{tmp_path}/cmake\n", returncode=0))
    peers.install()
    told = capsys.readouterr().err
    assert "rc-robosim could not be installed; it is left out (it is built here and needs" in told
    assert told.count("could not be installed") == 1
    assert ("--no-cache-dir", "rc-robosim==1.2") in asked and ("--only-binary=:all:", "mujoco==4.0.0") in asked
    assert "find_package(pybind11" in (tmp_path / "pybind11" / "CMakeLists.txt").read_text(encoding="utf-8")


# --- the flood ---------------------------------------------------------------------------------------


def test_the_flood_is_junk_of_all_lengths_and_the_same_each_time():
    packets = soccer_flood.junk()
    assert packets == soccer_flood.junk() and len(set(packets)) > 200
    assert min(map(len, packets)) < 5 and max(map(len, packets)) > 150


def test_the_flood_arrives_and_ends(monkeypatch: pytest.MonkeyPatch):
    stop, sent = threading.Event(), []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.settimeout(20.0)
        flood = threading.Thread(target=lambda: sent.append(soccer_flood.pour(taken.getsockname(), stop)))
        flood.start()
        try:
            received = [taken.recv(1000) for _ in range(50)]
        finally:
            stop.set()
            flood.join()
    assert set(received) <= set(soccer_flood.junk()) and sent[0] >= 50


# --- what it reports ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_small")
def test_rows_targets_and_ratios(monkeypatch: pytest.MonkeyPatch):
    """The whole benchmark in small, with stand-ins for other processes and for the loop's times."""
    monkeypatch.setattr(soccer, "camera_results", lambda: [Result("camera: a frame", 1.0, "ms")])
    monkeypatch.setattr(soccer, "flood_results", lambda: [Result("lateness", 1.0, "ms")])
    monkeypatch.setattr(soccer.Played, "seconds_per_step", lambda self, watch=None: 2e-6 if watch else 5e-7)
    seen = []

    def measure(script: str, case: dict[str, Any]) -> tuple[float | None, str]:
        seen.append((script, case["control_ms"]))
        return (0.5, "") if case["control_ms"] == 1 else (None, "not there")

    monkeypatch.setattr(peers, "measure", measure)
    report = json.loads(json.dumps(suites.run("soccer")))
    assert report["bench"] == "soccer" and all(set(row) == KEYS for row in report["results"])
    rows = {row["metric"]: row for row in report["results"]}
    assert len(rows) == len(report["results"])
    speed = rows["three a side: speed"]
    assert (speed["value"], speed["target"], speed["met"]) == (pytest.approx(2000.0), 1000.0, True)
    blind = "three a side, blind robots that push"
    assert rows["three a side: step"]["value"] == pytest.approx(500.0)
    assert rows["three a side with an image every 30 ms: speed"]["value"] == pytest.approx(500.0)
    assert rows[f"{blind}, against rc-robosim every 1 ms"]["ratio"] == pytest.approx(1000.0)
    missing = rows[f"{blind}, against rc-robosim every 25 ms"]
    assert missing["peer"] == "rc-robosim (skipped: not there)" and missing["ratio"] is None
    assert seen == [("rc_robosim_match.py", 1), ("rc_robosim_match.py", 25)]
    assert (Path(peers.__file__).parent / "peer_scripts" / seen[0][0]).is_file()
    assert {"camera: a frame", "lateness", "40 robots: pair tests of a robot"} <= set(rows)
    assert rows["three a side, whole run recorded at 100 Hz"]["value"] > 0
