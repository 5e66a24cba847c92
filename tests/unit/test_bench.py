"""Benchmarks: what they report, how ratios and targets are judged, and peers that are there or not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from botz.bench import peers, results, suites
from botz.bench.kinematics import suite as kinematics
from botz.bench.python import suite as python
from botz.bench.startup import suite as startup
from botz.errors import InputError
from botz.scenario.families import FAMILIES

KEYS = {"metric", "value", "unit", "target", "met", "peer", "peer_value", "ratio"}


def test_more_is_better_for_a_rate():
    good = results.rate("m", 30.0, "steps/s", target=20.0, peer="p", peer_value=10.0)
    assert (good.met, good.ratio) == (True, 3.0)
    assert results.rate("m", 10.0, "steps/s", target=20.0).met is False
    assert results.rate("m", 10.0, "steps/s").met is None


def test_less_is_better_for_a_duration():
    good = results.duration("m", 2.0, "s", target=3.0, peer="p", peer_value=8.0)
    assert (good.met, good.ratio) == (True, 4.0)
    assert results.duration("m", 4.0, "s", target=3.0).met is False
    assert results.duration("m", 4.0, "s", peer="p (skipped: not there)").ratio is None


def test_the_report_has_its_keys(monkeypatch: pytest.MonkeyPatch):
    """The whole benchmark in small: fewer steps, no commands in processes of their own, no peer."""
    monkeypatch.setattr(kinematics, "STEPS", 1000)
    small = kinematics.recorded_steps_per_second
    monkeypatch.setattr(kinematics, "recorded_steps_per_second", lambda rate_hz, seconds: small(rate_hz, 1.0))
    plain = kinematics.plain_python_steps_per_second
    monkeypatch.setattr(kinematics, "plain_python_steps_per_second", lambda: plain(1000))
    loop = kinematics.steps_per_second
    monkeypatch.setattr(
        kinematics,
        "steps_per_second",
        lambda data, *, record_every, steps=1000: loop(data, record_every=record_every, steps=1000),
    )
    monkeypatch.setattr(peers, "measure", lambda script: (None, "not there"))
    report = json.loads(json.dumps(suites.run("kinematics")))
    assert set(report) == {"bench", "machine", "results"}
    assert report["bench"] == "kinematics" and "cores" in report["machine"]
    assert all(set(row) == KEYS for row in report["results"])
    rows = {row["metric"]: row for row in report["results"]}
    whole = rows["whole run, recorded every 100th step"]
    assert whole["target"] == 2e6 and whole["peer"] == "ir-sim (skipped: not there)" and whole["ratio"] is None
    assert all(row["value"] > 0 for row in report["results"] if row["unit"] != "ns/step")


def test_starting_up_is_measured_by_commands_of_their_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(startup, "best", lambda measure, repeats=1: measure())
    monkeypatch.setattr(startup, "RUNS", {"kinematics": ("differential-circle", 0.8)})
    rows = {row["metric"]: row for row in suites.run("startup")["results"]}
    assert rows["botz --help"]["target"] == 0.2
    assert rows["warm botz run differential-circle, to its end"]["target"] == 0.8
    assert all(row["value"] > 0 for row in rows.values())


def test_what_a_script_pays_per_call_is_measured_for_every_family(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(python, "CALLS", 3)
    monkeypatch.setattr(python, "SHORT_RUNS", 2)
    monkeypatch.setattr(python, "best", lambda measure, repeats=1: measure())
    rows = {row["metric"]: row for row in suites.run("python")["results"]}
    for family in FAMILIES:
        assert rows[f"{family}: step(inputs) beside the physics"]["target"] == 20.0
        assert rows[f"{family}: reset"]["value"] > 0.0
    assert rows["2 short runs in a loop"]["target"] == 5.0
    assert all(row["ratio"] for row in rows.values())


def test_a_peer_that_is_not_installed_is_skipped_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BOTZ_CACHE_DIR", str(tmp_path / "kernels"))
    value, reason = peers.measure("ir_sim_differential.py")
    assert value is None and reason == "not installed; botz bench --peers installs it"


def test_peers_never_replace_a_folder_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BOTZ_CACHE_DIR", str(tmp_path / "v"))
    (tmp_path / "peers").mkdir()  # beside the chosen folder: none of ours
    assert peers.folder() == tmp_path / "v" / "botz-peers"
    peers.folder().mkdir(parents=True)
    (peers.folder() / "data.csv").write_text("1,2,3", encoding="utf-8")
    with pytest.raises(InputError, match="is not an environment for peers, and not empty"):
        peers.install()
    assert (peers.folder() / "data.csv").exists()


@pytest.mark.parametrize(
    ("script", "value", "reason"),
    [
        ("print('noise'); print('{\"value\": 42}')", 42.0, ""),
        ("raise SystemExit('no such world')", None, "failed: no such world"),
        ("print('all well')", None, "failed: no output"),
    ],
)
def test_what_a_peer_prints_is_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, value: float | None, reason: str
):
    (tmp_path / "peer.py").write_text(script, encoding="utf-8")
    monkeypatch.setattr(peers, "interpreter", lambda: Path(sys.executable))
    # An absolute path stands for itself when it is joined to the folder of scripts.
    assert peers.measure(str(tmp_path / "peer.py")) == (value, reason)
