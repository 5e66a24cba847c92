"""Recordings in the lab: named, told apart by what was changed, taken home, deleted; and why a controller failed."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from common import PATIENCE
from lab_rig import Page, RunningLab

import botz
from botz.view.lab import exports
from botz.view.lab.recordings import differences


@pytest.fixture(scope="module")
def recorded(lab: RunningLab) -> str:
    """A short run with a setting changed."""
    page = Page(lab)
    run = page.start("below/small.yaml", set={"seed": 77}, factor=0.0)
    ended = page.run(run["id"], lambda one: one["status"] == "finished")
    page.close()
    return str(ended["recording"])


def entry(lab: RunningLab, key: str) -> dict[str, Any]:
    return next(one for one in lab.json("/api/recordings") if one["id"] == key)


def delete(lab: RunningLab, path: str) -> httpx.Response:
    headers = {"origin": lab.origin, **lab.bearer}
    return httpx.delete(lab.origin + path, headers=headers, timeout=PATIENCE, trust_env=False)


def test_what_was_changed_is_told(lab: RunningLab, recorded: str):
    changes = entry(lab, recorded)["changes"]
    assert [(key, now) for key, _, now in changes] == [("seed", 77)]
    assert lab.json(f"/api/recordings/{recorded}/info")["changes"] == changes


def test_a_recording_takes_a_name(lab: RunningLab, recorded: str):
    path = f"/api/recordings/{recorded}/name"
    assert lab.post(path, {"name": "  a  good\nrun "}).json() == {"name": "a good run"}
    assert entry(lab, recorded)["name"] == "a good run" == lab.json(f"/api/recordings/{recorded}/info")["name"]
    assert lab.post(path, {"name": 5}).status_code == 422
    assert lab.post("/api/recordings/none/name", {"name": "x"}).status_code == 404
    assert lab.post(path, {"name": ""}).status_code == 200 and entry(lab, recorded)["name"] == ""


def test_settings_in_lists_are_told_one_by_one():
    there = {"seed": 1, "robot": {"pose": [0, 0, 0], "wheels": [{"radius": 0.1}, {"radius": 0.1}]}, "name": "a"}
    here = {"seed": 1, "robot": {"pose": [0, 1, 0], "wheels": [{"radius": 0.1}, {"radius": 0.2}]}, "name": None}
    found = differences(there, here)
    assert found == [("robot.pose", "[0, 0, 0]", "[0, 1, 0]"), ("robot.wheels.1.radius", 0.1, 0.2), ("name", "a", None)]
    long = differences({"a": "x" * 500 + "y"}, {"a": "x" * 500 + "z"})
    assert [len(one) for one in long[0]] == [1, 120, 120]


def test_a_recording_is_taken_home(lab: RunningLab, recorded: str, tmp_path: Path):
    answer = lab.get(f"/api/recordings/{recorded}/recording.mcap")
    assert "attachment" in answer.headers["content-disposition"]
    (tmp_path / "copy.mcap").write_bytes(answer.content)
    copy = botz.read(tmp_path / "copy.mcap")
    table = lab.get(f"/api/recordings/{recorded}/recording.csv")
    rows = list(csv.reader(io.StringIO(table.text)))
    assert len(rows) == 1 + len(copy.time()) and rows[0][0].startswith("time")
    assert lab.get("/api/recordings/none/recording.csv").status_code == 404
    lab.post(f"/api/recordings/{recorded}/name", {"name": "my best: run/2"})
    for kind in ("mcap", "csv"):
        named = lab.get(f"/api/recordings/{recorded}/recording.{kind}").headers["content-disposition"]
        assert f'"my-best-run-2.{kind}"' in named


def test_deleting_removes_what_a_run_left_and_nothing_else(lab: RunningLab, recorded: str, tmp_path: Path):
    runs = lab.server.lab.recordings.folder
    data = (runs / recorded / "recording.mcap").read_bytes()
    for name, content in (("bare", data), ("with-notes", data), ("foreign", b"my own file")):
        (runs / name).mkdir()
        (runs / name / "recording.mcap").write_bytes(content)
    (runs / "with-notes" / "notes.txt").write_text("mine")
    (tmp_path / "recording.mcap").write_bytes(data)
    assert lab.server.lab.recordings.id_of(tmp_path) == tmp_path.name
    stranger = httpx.delete(f"{lab.origin}/api/recordings/bare", headers=lab.bearer, timeout=PATIENCE, trust_env=False)
    assert stranger.status_code == 403 and (runs / "bare").exists()  # no page of the lab's asks
    assert delete(lab, "/api/recordings/bare").status_code == 200 and not (runs / "bare").exists()
    assert delete(lab, "/api/recordings/bare").status_code == 404
    assert delete(lab, "/api/recordings/with-notes").status_code == 200
    assert [one.name for one in (runs / "with-notes").iterdir()] == ["notes.txt"]
    assert delete(lab, "/api/recordings/foreign").status_code == 422
    assert (runs / "foreign" / "recording.mcap").read_bytes() == b"my own file"
    assert delete(lab, f"/api/recordings/{tmp_path.name}").status_code == 422 and (tmp_path / "recording.mcap").exists()
    assert delete(lab, "/api/recordings/..%2f..%2fx").status_code in (404, 405)


def test_a_recording_that_a_run_writes_stays(lab: RunningLab, page: Page):
    run = page.start(set={"time.duration": 1e6}, factor=1.0)
    assert delete(lab, f"/api/recordings/{run['recording']}").status_code == 422
    assert lab.get(f"/api/recordings/{run['recording']}/recording.mcap").status_code == 422
    page.stop(run["id"])
    assert delete(lab, f"/api/recordings/{run['recording']}").status_code == 200


def test_a_failing_controller_shows_its_traceback(lab: RunningLab, page: Page):
    run = page.start("fails.yaml", factor=0.0)
    ended = page.run(run["id"], lambda one: one["status"] == "failed")
    assert "had enough" in ended["error"]
    for words in ("fails.py", "line 8", "raise ValueError"):
        assert words in ended["error_details"]
        logs = lab.json(f"/api/recordings/{ended['recording']}/info")["logs"]
        assert [text for _, level, text in logs if level == "error" and words in text]


def test_an_export_is_cancelled_and_tells_the_time_left(lab: RunningLab, recorded: str):
    """A film that would take minutes: its process ends, nothing is left, and the next one has its turn."""
    body = {"format": "mp4", "size": [1920, 1080], "fps": 120.0}
    first = lab.post(f"/api/recordings/{recorded}/export", body).json()["job"]
    second = lab.post(f"/api/recordings/{recorded}/export", {"format": "glb"}).json()["job"]
    deadline = time.monotonic() + PATIENCE
    while not (status := lab.json(f"/api/exports/{first}"))["progress"]:
        assert status["status"] in ("waiting", "running") and status["left"] is None and time.monotonic() < deadline
        time.sleep(0.05)
    assert delete(lab, f"/api/exports/{first}").json()["status"] == "cancelled"
    assert lab.json(f"/api/exports/{first}")["status"] == "cancelled"
    assert lab.get(f"/api/exports/{first}/file").status_code == 422
    while (status := lab.json(f"/api/exports/{second}"))["status"] not in ("done", "failed"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert status["status"] == "done", status
    assert delete(lab, "/api/exports/none").status_code == 404


def test_the_time_left_follows_the_speed_so_far(monkeypatch: pytest.MonkeyPatch):
    now = 100.0
    monkeypatch.setattr(exports, "time", SimpleNamespace(monotonic=lambda: now))
    job = exports.Job("a", "b", exports.Wanted(format="mp4"), Path("c"), Path("d"), status="running")
    assert job.left is None
    job.note_progress(0.1)
    assert job.left is None
    now = 102.0
    job.note_progress(0.3)
    assert job.left == pytest.approx(7.0)
    now = 103.0
    assert job.left == pytest.approx(6.0)
