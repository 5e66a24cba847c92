"""Starting again in any state of a recorded run, and a run whose speed is changed while it goes on."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from common import BASE, NOISY, PATIENCE, merged

from botz import AttachedRun, read
from botz.errors import InputError
from botz.replay import replay_recording, state_at
from botz.run import run_scenario
from botz.scenario.load import load_data


def scenario(**changes):
    return load_data(merged(merged(BASE, NOISY), {"name": "again", **changes}), "again")


def test_a_run_from_a_recorded_moment_goes_on_bit_for_bit(tmp_path):
    loaded = scenario()
    first = read(run_scenario(loaded, out=tmp_path / "first").path)
    outcome = run_scenario(loaded, out=tmp_path / "second", start=state_at(first, 0.617))
    second = read(outcome.path)
    assert outcome.summary["started_at_s"] == "0.617"
    assert second.steps()[0] == 617 and second.duration >= 1.61, "it lasts as long, from there"
    for name in first:
        common = np.intersect1d(first.steps(name), second.steps(name))
        assert len(common) > 30
        ours, theirs = (rec[name][np.isin(rec.steps(name), common)] for rec in (first, second))
        assert ours.tobytes() == theirs.tobytes(), name
    assert replay_recording(second).identical


def test_also_where_the_robot_was_driven_from_outside(tmp_path):
    """The state of the physics is the recorded one, whoever gave the commands."""
    loaded = scenario(time={"realtime": 2.0, "duration": 2.0})
    seen = threading.Event()

    def drive(run_id: str) -> None:
        def work() -> None:
            run = AttachedRun(run_id)
            for _ in range(20):
                run.command("duo", {"twist": (0.1, 0.0, -2.0)})
                time.sleep(0.02)
            run.close()
            seen.set()

        threading.Thread(target=work, daemon=True).start()

    first = read(run_scenario(loaded, out=tmp_path / "first", shared=True, on_ready=drive).path)
    assert seen.wait(PATIENCE)
    steps = first.steps("duo/pose")
    k = len(steps) // 3
    at = float(steps[k] * first.step_ns * 1e-9)
    second = read(run_scenario(scenario(), out=tmp_path / "second", start=state_at(first, at)).path)
    assert second["duo/pose"][0].tobytes() == first["duo/pose"][k].tobytes()


def test_moments_outside_a_recording_are_refused(tmp_path):
    rec = read(run_scenario(scenario(), out=tmp_path / "run").path)
    for moment in (-0.1, 1.5):
        with pytest.raises(InputError, match="outside"):
            state_at(rec, moment)


def watched(tmp_path, loaded, work):
    """A run in real time, and what `work` makes of it from outside."""
    found: list = []

    def begin(run_id: str) -> None:
        def go() -> None:
            run = AttachedRun(run_id)
            try:
                found.append(work(run))
            except BaseException as error:
                found.append(error)
            finally:
                run.stop()

        threading.Thread(target=go, daemon=True).start()

    outcome = run_scenario(loaded, out=tmp_path / "run", shared=True, on_ready=begin)
    if isinstance(found[0], BaseException):
        raise found[0]
    return outcome, found[0]


def until(fits, what):
    deadline = time.monotonic() + PATIENCE
    while not fits():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.005)


def test_a_paused_run_takes_single_steps(tmp_path):
    def work(run: AttachedRun):
        until(lambda: run.latest()[0] > 10, "a start")
        run.pause()
        time.sleep(0.1)
        stood = run.latest()[0]
        run.step(7)
        until(lambda: run.latest()[0] == stood + 7, "seven steps")
        time.sleep(0.1)
        assert run.latest()[0] == stood + 7 and run.paused
        run.pause(False)
        until(lambda: run.latest()[0] > stood + 20, "it to go on")
        return True

    _, done = watched(tmp_path, scenario(time={"realtime": 1.0, "duration": 600.0}), work)
    assert done


def test_its_speed_can_be_changed_while_it_goes_on(tmp_path):
    def work(run: AttachedRun):
        until(lambda: run.latest()[0] > 10, "a start")
        assert run.factor == 0.5
        run.set_speed(0.0)
        until(lambda: run.latest()[0] > 100_000, "a hundred seconds, as fast as it can")
        run.set_speed(2.0)
        return run.factor

    outcome, factor = watched(tmp_path, scenario(time={"realtime": 0.5, "duration": 5000.0}), work)
    assert factor == 2.0
    assert outcome.status == "interrupted" and outcome.error is None


def test_impossible_speeds_and_steps_are_refused(tmp_path):
    def work(run: AttachedRun):
        for wrong in (-1.0, float("nan"), float("inf")):
            with pytest.raises(InputError, match="factor"):
                run.set_speed(wrong)
        for wrong in (0, -3, 1.5):
            with pytest.raises(InputError, match="whole number"):
                run.step(wrong)  # type: ignore[arg-type]
        return True

    _, done = watched(tmp_path, scenario(time={"realtime": 1.0, "duration": 600.0}), work)
    assert done
