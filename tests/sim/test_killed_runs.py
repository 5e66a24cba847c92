"""`kill -9` in the middle of a run: what is recorded stays readable, and no shared memory is left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from common import PATIENCE, BotzProcess, ScenarioFile

from botz import AttachedRun, read
from botz.sim.shared_memory import W_PID, clean_up, process_birth, running

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="kills processes and looks into /proc"),
    pytest.mark.usefixtures("shared_memory_folder"),
]


@pytest.fixture
def long_run(scenario_file: ScenarioFile, start_botz: Callable[..., BotzProcess]):
    """A real-time run that would last for days, once its first second is on disk; and its physics process."""
    file = scenario_file({"time": {"duration": 1e6, "realtime": 5.0}})
    parent = start_botz("run", file, "--publish", "--out", "run")
    run = AttachedRun(parent.run_id())
    parent.wait_for(lambda: run.time > 8.0, "the first flush")
    child = int(run.segment.words[W_PID])
    assert child not in (0, parent.process.pid)
    yield parent, child
    if process_birth(child) != -1:
        os.kill(child, signal.SIGKILL)


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while process_birth(pid) != -1:
        assert time.monotonic() < deadline, "the process lives on"
        time.sleep(0.01)


def test_the_physics_ends_when_its_parent_is_killed(long_run, shared_memory_folder: Path, tmp_path: Path):
    parent, child = long_run
    os.kill(parent.process.pid, signal.SIGKILL)
    parent.process.wait()
    wait_until_gone(child)
    assert list(shared_memory_folder.iterdir()) == []
    rec = read(tmp_path / "run")
    assert not rec.complete and rec.problem
    assert len(rec.steps()) > 1 and rec.steps().tolist() == list(range(0, rec.steps()[-1] + 1, 10))


def test_the_parent_tells_when_the_physics_is_killed(long_run, shared_memory_folder: Path, tmp_path: Path):
    parent, child = long_run
    os.kill(child, signal.SIGKILL)
    answer = parent.finish()
    assert answer.code == 1
    assert "physics process ended unexpectedly (signal SIGKILL)" in answer.err and "Traceback" not in answer.err
    assert list(shared_memory_folder.iterdir()) == []
    rec = read(tmp_path / "run")
    assert rec.complete and rec.summary["status"] == "failed" and "SIGKILL" in rec.summary["error"]
    assert rec.steps()[-1] > 5000


def test_the_next_run_cleans_up_after_both(long_run, shared_memory_folder: Path):
    parent, child = long_run
    # Stopped first, so that neither can notice the other's end.
    for pid in (parent.process.pid, child):
        os.kill(pid, signal.SIGSTOP)
    for pid in (child, parent.process.pid):
        os.kill(pid, signal.SIGKILL)
    parent.process.wait()
    wait_until_gone(child)
    assert len(list(shared_memory_folder.iterdir())) == 1, "nobody was left to remove it"
    assert running() == []
    clean_up()
    assert list(shared_memory_folder.iterdir()) == []


def test_a_controller_that_hangs_does_not_outlive_the_parent(
    scenario_file: ScenarioFile, user_controller, start_botz: Callable[..., BotzProcess], shared_memory_folder: Path
):
    text = """
import time
class Mine:
    def reset(self, setup): pass
    def update(self, t, measured):
        if t > 0.1:
            time.sleep(10000)
"""
    file = scenario_file(user_controller(text), {"time": {"realtime": True}})
    parent = start_botz("run", file, "--publish", "--out", "run")
    run = AttachedRun(parent.run_id())
    parent.wait_for(lambda: run.time >= 0.1, "the controller to hang")
    child = int(run.segment.words[W_PID])
    try:
        os.kill(parent.process.pid, signal.SIGKILL)
        parent.process.wait()
        wait_until_gone(child)
    finally:
        if process_birth(child) != -1:
            os.kill(child, signal.SIGKILL)
    assert list(shared_memory_folder.iterdir()) == []
