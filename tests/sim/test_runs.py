"""From a scenario to a recording: the same bits however it is run, replayed exactly, and kept when it fails."""

from __future__ import annotations

import csv
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from common import NOISY, PATIENCE, ScenarioFile, UserController
from recordings import bits

from botz import AttachedRun, load, read, simulate
from botz.errors import ControllerError, DivergedError, InputError
from botz.record.reader import Recording
from botz.replay import replay_recording
from botz.run import Outcome, Place, run_scenario

RANDOM_DRIVER = """
class Mine:
    def reset(self, setup):
        self.rng = setup.rng

    def update(self, t, measured):
        return {"left/speed": 2 + self.rng.normal(), "right/speed": 2 + measured["odometry/pose"][2]}
"""
FAILING = """
class Mine:
    def reset(self, setup):
        pass

    def update(self, t, measured):
        if t >= 0.5:
            self.deeper(measured)
        return {"left/speed": 1.0, "right/speed": 2.0}

    def deeper(self, measured):
        raise RuntimeError("lost the map")
"""
RUNAWAY = """
class Mine:
    def reset(self, setup):
        pass

    def update(self, t, measured):
        return {"left/speed": 1e308 if t >= 0.5 else 1e-10, "right/speed": 1e-10}
"""
GIANT = {"robots": {"duo": {"wheels": {"left": {"radius": 1e10}, "right": {"radius": 1e10}}}}}


def run_with_reader(file: Path, out: Path, read_along: Callable[[str], None], **options: Any) -> Outcome:
    """A run in a process of its own, with a reader in a thread of this one."""
    readers: list[threading.Thread] = []

    def start(run_id: str) -> None:
        readers.append(threading.Thread(target=read_along, args=(run_id,)))
        readers[0].start()

    outcome = run_scenario(load(file), out=out, shared=True, on_ready=start, **options)
    readers[0].join(timeout=PATIENCE)
    assert not readers[0].is_alive()
    return outcome


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.001)


def test_the_same_run_however_it_is_run(scenario_file: ScenarioFile, user_controller: UserController, tmp_path: Path):
    file = scenario_file(NOISY, user_controller(RANDOM_DRIVER))
    here = simulate(file, out=tmp_path / "here")
    expected = bits(here)
    assert bits(simulate(file, out=tmp_path / "again")) == expected
    in_real_time = simulate(file, out=tmp_path / "realtime", realtime=20.0)
    assert bits(in_real_time) == expected
    assert in_real_time.summary["dropped_frames"] == "0" and int(in_real_time.summary["lateness_ticks"]) > 0
    seen: list[np.ndarray] = []

    def read_along(run_id: str) -> None:
        run = AttachedRun(run_id)
        wait_until(lambda: seen.append(run["duo/pose"]) or run.finished)

    outcome = run_with_reader(file, tmp_path / "read", read_along)
    assert (outcome.status, outcome.exit_code) == ("finished", 0)
    assert seen[-1].tobytes() == here["duo/pose"][-1].tobytes(), "the last state is published"
    assert bits(read(outcome.path)) == expected
    for folder in ("here", "realtime", "read"):
        rec = read(tmp_path / folder)
        assert rec.complete and rec.snapshots() == here.snapshots()
        assert [part.tolist() for part in rec.commands("duo")[:2]] == [p.tolist() for p in here.commands("duo")[:2]]
        result = replay_recording(rec)
        assert result.identical and result.rows == 101, result.sentence()
    assert bits(simulate(file, out=tmp_path / "other", seed=6)) != expected


def test_another_seed_is_written_down(scenario_file: ScenarioFile, tmp_path: Path):
    rec = simulate(scenario_file(NOISY), out=tmp_path / "run", seed=77, duration=0.2)
    assert rec.seed == 77 and rec.scenario["seed"] == 77 and rec.duration == pytest.approx(0.2)
    assert replay_recording(rec).identical


def test_outside_commands_and_their_timeouts_are_replayed(scenario_file: ScenarioFile, tmp_path: Path):
    file = scenario_file(NOISY, {"time": {"realtime": 4.0, "duration": 1000.0}, "inputs": {"timeout": 0.3}})

    def send(run_id: str) -> None:
        # Three senders: what one sends twice in quick succession replaces what it sent before.
        run, second, third = AttachedRun(run_id), AttachedRun(run_id), AttachedRun(run_id)
        wait_until(lambda: run.time >= 0.3)
        run.command("duo", {"left/speed": 7.0, "right/speed": -3.0})
        wait_until(lambda: run.time >= 0.5)
        second.command("duo", {"twist": (0.0, 5.0, 0.0)})
        third.command("duo", {"twist": (0.5, 0.0, 2.0)})
        sent = run.time
        wait_until(lambda: run.time >= sent + 1.0)
        run.stop()

    rec = read(run_with_reader(file, tmp_path / "run", send).path)
    steps, values, sources = rec.commands("duo")
    names = [source.split()[0] for source in sources]
    assert names[:2] == ["drive", "outside"] and names[-2:] == ["timeout", "drive"], sources
    assert names.count("outside") == 2, sources
    assert values[names.index("outside")].tolist() == [7.0, -3.0]
    assert values[names.index("timeout")].tolist() == [0.0, 0.0]
    assert (np.diff(steps) >= 0).all()
    last = len(names) - 1 - names[::-1].index("outside")
    assert names[last + 1] == "timeout" and steps[last + 1] == steps[last] + 300
    # The impossible one is refused and told, and the run goes on.
    assert rec.summary["refused_commands"] == "1"
    assert any(level == "warning" and "cannot move" in text for _, level, text in rec.logs())
    result = replay_recording(rec)
    assert result.identical and result.rows == len(rec.steps()) > 130, result.sentence()


def test_a_reader_can_pause_and_stop_a_run(scenario_file: ScenarioFile, tmp_path: Path):
    paused: list[int] = []
    moments: list[float] = []

    def steer(run_id: str) -> None:
        moments.append(time.monotonic())
        run = AttachedRun(run_id)
        wait_until(lambda: run.time >= 0.1)
        run.pause()
        moments.append(time.monotonic())

        def stands_still() -> bool:
            paused.append(run.latest()[0])
            time.sleep(0.1)
            return run.latest()[0] == paused[-1]

        wait_until(stands_still)
        time.sleep(1.0)
        moments.append(time.monotonic())
        run.pause(False)
        wait_until(lambda: run.latest()[0] > paused[-1])
        run.stop()

    file = scenario_file({"time": {"realtime": True, "duration": 1000.0}})
    outcome = run_with_reader(file, tmp_path / "run", steer)
    whole, held = time.monotonic() - moments[0], moments[2] - moments[1]
    assert (outcome.status, outcome.exit_code) == ("interrupted", 130)
    rec = read(outcome.path)
    assert rec.complete and rec.summary["status"] == "interrupted"
    # A run that waited for somebody was not slow: pauses are no part of its wall time.
    assert float(rec.summary["paused_s"]) > 0.5 * held
    assert float(rec.summary["wall_s"]) < whole - 0.5 * held
    assert paused and int(rec.summary["steps"]) > paused[-1]
    assert rec.steps().tolist() == list(range(0, int(rec.summary["steps"]) + 1, 10))
    assert replay_recording(rec).identical


def test_replay_runs_no_code_of_the_user(scenario_file: ScenarioFile, user_controller: UserController, tmp_path: Path):
    marker = tmp_path / "executed"
    text = f"open({str(marker)!r}, 'w').close()\n" + RANDOM_DRIVER
    rec = simulate(scenario_file(NOISY, user_controller(text)), out=tmp_path / "run")
    assert marker.exists()
    marker.unlink()
    assert replay_recording(read(rec.path)).identical
    (tmp_path / "mine.py").unlink()
    assert replay_recording(read(rec.path)).identical
    assert not marker.exists()


class Altered(Recording):
    """A recording with one number changed by its last bit."""

    def __getitem__(self, name: str) -> np.ndarray:
        values = super().__getitem__(name)
        if name == "duo/pose":
            values[57, 1] = np.nextafter(values[57, 1], np.inf)
        return values


def test_replay_sees_a_single_bit(scenario_file: ScenarioFile, tmp_path: Path):
    rec = simulate(scenario_file(NOISY), out=tmp_path / "run")
    rec.__class__ = Altered
    result = replay_recording(rec)
    assert not result.identical
    assert (result.channel, result.first_difference_s) == ("duo/pose", pytest.approx(0.57))
    assert result.largest_difference is not None and 0 < result.largest_difference < 1e-15
    assert "different" in result.sentence() and "duo/pose" in result.sentence()


# --- failing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("realtime", [None, 20.0])
def test_an_exception_in_a_controller_keeps_the_recording(
    realtime: float | None, scenario_file: ScenarioFile, user_controller: UserController, tmp_path: Path
):
    file = scenario_file(user_controller(FAILING))
    with pytest.raises(ControllerError, match=r"'mine'.*t = 0\.5 s.*RuntimeError: lost the map") as caught:
        simulate(file, out=tmp_path / "run", realtime=realtime)
    details = caught.value.details
    assert 'raise RuntimeError("lost the map")' in details and "self.deeper(measured)" in details
    assert "simulation.py" not in details, "frames of Botz are none of the user's business"
    rec = read(tmp_path / "run")
    assert rec.complete and rec.summary["status"] == "failed" and "lost the map" in rec.summary["error"]
    assert rec.steps().tolist() == list(range(0, 501, 10))
    assert any(level == "error" and "lost the map" in text for _, level, text in rec.logs())
    assert replay_recording(rec).identical


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('return {"left/sped": 1.0}', "left/sped.*left/speed"),
        ('return {"left/speed": float("nan")}', "finite"),
        ('return {"left/speed": "fast"}', "number"),
        ("return 3.0", "mapping"),
        ('return {"twist": (0, 1, 0)}', "cannot move"),
        ("import sys; sys.exit(0)", "SystemExit"),
        ("return measured.of('trio')", "no robot 'trio'"),
    ],
)
def test_wrong_commands_of_a_user_are_explained(
    body: str, words: str, scenario_file: ScenarioFile, user_controller: UserController, tmp_path: Path
):
    text = f"class Mine:\n    def reset(self, setup): pass\n    def update(self, t, measured):\n        {body}\n"
    outcome = run_scenario(load(scenario_file(user_controller(text))), out=tmp_path / "run")
    assert isinstance(outcome.error, ControllerError) and outcome.exit_code == 1
    with pytest.raises(ControllerError, match=f"(?s)'mine'.*t = 0 s.*{words}"):
        raise outcome.error
    assert read(outcome.path).complete


@pytest.mark.parametrize("realtime", [None, 20.0])
def test_a_built_in_controller_with_an_impossible_command_is_bad_input(
    realtime: float | None, scenario_file: ScenarioFile, tmp_path: Path
):
    file = scenario_file({"controllers": {"drive": {"command": {"twist": [0.1, 0.2, 0.0]}}}})
    out = tmp_path / "run"
    with pytest.raises(InputError, match=r"controllers\.drive: .*cannot move") as caught:
        simulate(file, out=out, realtime=realtime)
    assert caught.value.problems[0].file == file
    assert not out.exists(), "nothing ran, so the folder is free for the next try"


@pytest.mark.parametrize("realtime", [None, 20.0])
def test_code_that_cannot_be_imported_leaves_nothing_behind(
    realtime: float | None, scenario_file: ScenarioFile, user_controller: UserController, tmp_path: Path
):
    file = scenario_file(user_controller("import no_such_module_anywhere\nclass Mine: ..."))
    with pytest.raises(ControllerError, match="no_such_module_anywhere"):
        simulate(file, out=tmp_path / "run", realtime=realtime)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("realtime", [None, 20.0])
def test_a_divergence_ends_the_run_with_when_where_and_why(
    realtime: float | None, scenario_file: ScenarioFile, user_controller: UserController, tmp_path: Path
):
    with pytest.raises(DivergedError) as caught:
        simulate(scenario_file(GIANT, user_controller(RUNAWAY, rate=2.0)), out=tmp_path / "run", realtime=realtime)
    step = caught.value.step
    assert step == 501
    assert "t = 0.501 s (step 501), first in duo/" in str(caught.value)
    assert "command that grows without bound" in str(caught.value)
    rec = read(tmp_path / "run")
    assert rec.complete and rec.summary["status"] == "failed" and rec.summary["last_states"] == "diverged.csv"
    assert rec.steps().tolist() == list(range(0, step, 10)), "rows up to the last finite state"
    assert np.isfinite(rec["duo/pose"]).all()
    with (tmp_path / "run" / "diverged.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert int(rows[-1]["step"]) == step and float(rows[-1]["time"]) == pytest.approx(step * 0.001)
    lost = [name for name in rows[-1] if np.isfinite(float(rows[-2][name])) and not np.isfinite(float(rows[-1][name]))]
    assert lost and lost[0].startswith("duo/")
    poses = [name for name in rows[0] if name.startswith("duo/pose")]
    assert len(poses) == 3 and all(np.isfinite(float(row[name])) for row in rows[:-1] for name in poses)


def test_a_run_does_not_write_over_another(scenario_file: ScenarioFile, tmp_path: Path):
    file = scenario_file({"time": {"duration": 0.1}})
    before = simulate(file, out=tmp_path / "run").path.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        simulate(file, out=tmp_path / "run")
    with pytest.raises(InputError, match="is a file"):
        simulate(file, out=file)
    with pytest.raises(InputError, match="cannot make the folder"):
        simulate(file, out=file / "below")
    assert (tmp_path / "run" / "recording.mcap").read_bytes() == before


@pytest.mark.parametrize("name", ["metadata.yaml", "links.json", "diverged.csv", "recording.mcap"])
def test_a_run_does_not_write_over_the_users_own_files(scenario_file: ScenarioFile, tmp_path: Path, name: str):
    """Nor remove them: a folder of another bag, say, has its own metadata.yaml. Links lead to files elsewhere."""
    file = scenario_file({"time": {"duration": 0.1}})
    mine, linked = tmp_path / "mine", tmp_path / "linked"
    mine.mkdir()
    (mine / name).write_text("two years of work", encoding="utf-8")
    linked.mkdir()
    (linked / name).symlink_to(tmp_path / "not-there-yet")
    for folder in (mine, linked):
        with pytest.raises(InputError, match=f"{name} exists already; choose another folder"):
            simulate(file, out=folder)
        assert [path.name for path in folder.iterdir()] == [name]
    assert (mine / name).read_text(encoding="utf-8") == "two years of work"
    assert not (tmp_path / "not-there-yet").exists()


def test_runs_of_no_named_folder_get_one_each(
    scenario_file: ScenarioFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    loaded = load(scenario_file({"time": {"duration": 0.01}}))
    folders = {run_scenario(loaded, out=Place()).folder.resolve() for _ in range(3)}
    assert len(folders) == 3
    assert all(folder.parent == tmp_path / "runs" and folder.name.startswith("small-") for folder in folders)


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_in_this_process_cleanly(
    number: signal.Signals, scenario_file: ScenarioFile, tmp_path: Path
):
    sent: list[int] = []

    def interrupt(step: int, last: int) -> None:
        if step >= 300 and not sent:
            sent.append(step)
            os.kill(os.getpid(), number)

    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    outcome = run_scenario(load(scenario_file()), out=tmp_path / "run", progress=interrupt)
    assert (outcome.status, outcome.exit_code) == ("interrupted", 130)
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
    rec = read(outcome.path)
    assert rec.complete and rec.steps().tolist() == list(range(0, sent[0] + 1, 10))
    with pytest.raises(KeyboardInterrupt):
        sent.clear()
        simulate(scenario_file(), out=tmp_path / "other", progress=interrupt)
    assert read(tmp_path / "other").complete
