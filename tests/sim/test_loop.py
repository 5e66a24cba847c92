"""The loop: what is recorded when, who is called when, and that cutting it into other pieces changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from common import NOISY, ScenarioFile, UserController
from recordings import Kept

from botz import Simulation, simulate
from botz.sim import loop
from botz.sim.attached import take_commands
from botz.sim.clock import Lateness, RealTimeClock
from botz.sim.loop import LoopHooks, run_loop
from botz.sim.shared_memory import Segment
from botz.sim.snapshots import decode

COUNTER = """
class Mine:
    def reset(self, setup):
        self.count = 0

    def update(self, t, measured):
        self.count += 1
        with open({file!r}, "a") as file:
            file.write(f"{{t!r}} {{self.count}}\\n")
        return {{"left/speed": float(self.count // 3)}}
"""


def run(file: Path, until: int = 1000, strides: tuple[int, ...] = (10,), **options: Any) -> Kept:
    kept = Kept()
    assert run_loop(Simulation(file), until=until, strides=strides, sink=kept, **options)
    return kept


def test_streams_record_exactly_their_multiples(scenario_file: ScenarioFile, tmp_path: Path):
    streams = {"fast": {"rate": 500.0, "channels": ["duo/pose"]}, "slow": {"rate": 8.0, "channels": ["*/ticks"]}}
    rec = simulate(scenario_file({"record": {"rate": 100.0, "streams": streams}}), out=tmp_path / "run")
    assert rec.steps("duo/pose").tolist() == list(range(0, 1001, 2))
    assert rec.steps("duo/twist").tolist() == list(range(0, 1001, 10))
    assert [len(rec.table(name)[0]) for name in ("state", "fast", "slow")] == [101, 501, 9]
    assert rec.table("slow")[0].tolist() == pytest.approx(np.arange(9) / 8)
    # The same moment is the same row in each of them.
    times, columns = rec.table("state")
    pose = next(values for channel, values in columns if channel.name == "duo/pose")
    assert pose.tobytes() == rec["duo/pose"][::5].tobytes()
    assert times[0] == 0.0 and times[-1] == 1.0


def test_rows_and_snapshots_lie_where_they_should(scenario_file: ScenarioFile):
    kept = run(scenario_file(), until=77, strides=(7, 3), snapshot_every=20)
    assert kept.steps(0).tolist() == list(range(0, 78, 7))
    assert kept.steps(1).tolist() == list(range(0, 78, 3))
    assert [step for step, _ in kept.snapshots] == [0, 20, 40, 60]
    assert [decode(data).step for _, data in kept.snapshots] == [0, 20, 40, 60]
    assert [step for step, _ in run(scenario_file(), until=77, snapshot_every=0).snapshots] == [0]


def test_without_streams_the_loop_still_runs(scenario_file: ScenarioFile):
    kept = run(scenario_file(), strides=())
    assert kept.blocks == {}
    assert [command[0] for command in kept.commands] == [0]


@pytest.mark.parametrize(("buffer_bytes", "buffer_seconds"), [(1, 1e9), (2000, 1e9), (2 << 20, 0.0)])
def test_how_rows_are_gathered_has_no_effect(
    scenario_file: ScenarioFile, monkeypatch: pytest.MonkeyPatch, buffer_bytes: int, buffer_seconds: float
):
    file = scenario_file(NOISY)
    expected = run(file, strides=(10, 3), snapshot_every=250)
    monkeypatch.setattr(loop, "BUFFER_BYTES", buffer_bytes)
    monkeypatch.setattr(loop, "BUFFER_SECONDS", buffer_seconds)
    kept = run(file, strides=(10, 3), snapshot_every=250)
    assert len(kept.blocks[0]) > len(expected.blocks[0])
    assert kept.as_bytes() == expected.as_bytes()


@pytest.mark.parametrize("chunk_seconds", [1e-9, 10.0])
def test_the_length_of_compiled_calls_has_no_effect(
    scenario_file: ScenarioFile, monkeypatch: pytest.MonkeyPatch, chunk_seconds: float
):
    file = scenario_file(NOISY, {"controllers": {"drive": {"rate": 0.5}}})
    expected = run(file, until=5000)
    monkeypatch.setattr(loop, "CHUNK_SECONDS", chunk_seconds)
    lengths: list[int] = []
    taken = [0]

    def note(step: int) -> None:
        lengths.append(step - taken[-1])
        taken.append(step)

    assert run(file, until=5000, hooks=LoopHooks(progress=note)).as_bytes() == expected.as_bytes()
    assert sum(lengths) == 5000
    assert (min(lengths) == 1) == (chunk_seconds < 1.0), "the setting did not reach the loop"


def test_a_real_time_clock_has_no_effect_on_states(scenario_file: ScenarioFile):
    file = scenario_file(NOISY)
    clock = RealTimeClock(50.0, 0.001)
    kept = run(file, clock=clock)
    assert kept.as_bytes() == run(file).as_bytes()
    assert clock.lateness.ticks >= 1000 / clock.tick_steps
    assert kept.clock


def test_stopping_keeps_what_was_done(scenario_file: ScenarioFile):
    simulation, kept = Simulation(scenario_file()), Kept()
    hooks = LoopHooks(should_stop=lambda: simulation.step_number >= 300)
    assert not run_loop(simulation, until=1000, strides=[10], sink=kept, hooks=hooks)
    assert simulation.step_number == 300
    assert kept.steps().tolist() == list(range(0, 301, 10))


def test_pausing_holds_time_and_hands_over_what_is_there(scenario_file: ScenarioFile):
    file = scenario_file(NOISY)
    simulation, kept = Simulation(file), Kept()
    looks: list[tuple[int, int]] = []

    def should_pause() -> bool:
        if simulation.step_number == 500 and len(looks) < 5:
            looks.append((simulation.step_number, sum(len(steps) for steps, _ in kept.blocks.get(0, []))))
            return True
        return False

    published: list[int] = []
    hooks = LoopHooks(should_pause=should_pause, publish=published.append)
    assert run_loop(simulation, until=1000, strides=[10], sink=kept, snapshot_every=250, hooks=hooks)
    assert looks[-1] == (500, 51)
    assert published.count(500) > 1
    assert kept.as_bytes() == run(file, snapshot_every=250).as_bytes()


def test_a_paused_run_can_be_stopped(scenario_file: ScenarioFile):
    looks: list[int] = []

    def should_stop() -> bool:
        looks.append(1)
        return len(looks) > 4

    hooks = LoopHooks(should_pause=lambda: True, should_stop=should_stop)
    assert not run_loop(Simulation(scenario_file()), until=1000, strides=[10], sink=Kept(), hooks=hooks)


# --- controllers and commands ------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [1000.0, 40.0, 2.0])
def test_a_controller_is_called_exactly_at_its_rate(
    rate: float, scenario_file: ScenarioFile, user_controller: UserController, tmp_path: Path
):
    log = tmp_path / "calls.txt"
    file = scenario_file(user_controller(COUNTER.format(file=str(log)), rate=rate))
    kept = run(file, snapshot_every=250)
    calls = [line.split() for line in log.read_text().splitlines()]
    assert [float(t) for t, _ in calls] == pytest.approx(np.arange(0, 1, 1 / rate).tolist(), abs=1e-12)
    assert [int(count) for _, count in calls] == list(range(1, round(rate) + 1))
    # Recorded once a change, at the step at which it took effect. The first command, 0, changes nothing.
    every = round(1000 / rate)
    changes = [k for k in range(2, round(rate)) if (k + 1) % 3 == 0]
    assert [(step, values[0]) for step, _, values, _ in kept.commands] == [(k * every, (k + 1) // 3) for k in changes]
    assert {(robot, source) for _, robot, _, source in kept.commands} <= {("duo", "mine")}


def outside(*moments: tuple[int, dict[str, Any]]) -> Callable[[Simulation], int]:
    """Commands from outside at certain steps."""
    waiting = list(moments)

    def take(simulation: Simulation) -> int:
        while waiting and simulation.step_number >= waiting[0][0]:
            simulation.apply_outside("duo", waiting.pop(0)[1], "test")
        return 1 << 40

    return take


class Ticks(RealTimeClock):
    """Cuts the run into short pieces and waits for nothing, so that commands from outside are looked at often."""

    def __init__(self) -> None:
        super().__init__(1.0, 0.001)
        self.tick_steps = 5

    def wait_for(self, step: int) -> float:
        return 0.0


AHEAD = {"left/speed": 4.0, "right/speed": 4.0}


def test_an_outside_command_holds_until_its_deadline_then_stops(scenario_file: ScenarioFile):
    file = scenario_file({"controllers": None, "inputs": {"timeout": 0.1}})
    kept = run(file, hooks=LoopHooks(take_commands=outside((200, AHEAD))), clock=Ticks())
    [(step, robot, values, source), (end, _, rest, why)] = kept.commands
    assert (robot, values, source) == ("duo", [4.0, 4.0], "test")
    assert (end - step, rest, why) == (100, [0.0, 0.0], "timeout")
    assert 200 <= step < 210


def test_an_outside_command_may_be_held(scenario_file: ScenarioFile):
    file = scenario_file({"controllers": None, "inputs": {"timeout": 0.1, "on_timeout": "hold"}})
    kept = run(file, hooks=LoopHooks(take_commands=outside((0, AHEAD))))
    assert [values for _, _, values, _ in kept.commands] == [[4.0, 4.0]]
    assert kept.rows()[-1][0] == pytest.approx(0.2)


def test_the_controller_takes_over_after_the_deadline(scenario_file: ScenarioFile):
    file = scenario_file({"inputs": {"timeout": 0.1}, "controllers": {"drive": {"rate": 10.0}}})
    hooks = LoopHooks(take_commands=outside((0, AHEAD), (50, {"left/speed": 1.0})))
    kept = run(file, hooks=hooks, clock=Ticks())
    sources = [(step, source) for step, _, _, source in kept.commands]
    assert [source for _, source in sources] == ["test", "test", "timeout", "drive"]
    second, stopped, taken = (step for step, _ in sources[1:])
    assert 50 <= second < 60 and stopped == second + 100 and taken == 200


def test_an_outside_command_again_renews_the_deadline_without_another_record(scenario_file: ScenarioFile):
    file = scenario_file({"controllers": None, "inputs": {"timeout": 0.1}})
    hooks = LoopHooks(take_commands=outside(*((step, AHEAD) for step in range(0, 500, 50))))
    kept = run(file, hooks=hooks, clock=Ticks())
    assert [source for _, _, _, source in kept.commands] == ["test", "timeout"]
    assert 550 <= kept.commands[1][0] < 560


# --- the clock ---------------------------------------------------------------------------------------------


def test_lateness_is_summed_up():
    lateness = Lateness(tick=0.002)
    for late in [0.0] * 90 + [0.001] * 8 + [0.004, 0.1]:
        lateness.add(late)
    summary = {key: float(value) for key, value in lateness.summary().items()}
    assert (summary["lateness_ticks"], summary["lateness_missed"], summary["lateness_max_s"]) == (100, 2, 0.1)
    assert summary["lateness_p50_s"] <= 2e-6
    assert 0.004 <= summary["lateness_p99_s"] <= 0.005
    assert Lateness(tick=1.0).quantile(0.5) == 0.0


def test_a_clock_that_fell_far_behind_does_not_race(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr("botz.sim.clock.time", SimpleNamespace(perf_counter=lambda: now[0], sleep=sleep))
    clock = RealTimeClock(2.0, 0.001)
    clock.start(0)
    assert clock.wait_for(1000) == 0.0 and now[0] == pytest.approx(100.5)
    now[0] += 0.1
    assert clock.wait_for(1000) == pytest.approx(0.1)
    assert clock.wait_for(1400) == 0.0 and now[0] == pytest.approx(100.7), "a small delay is caught up"
    now[0] += 3.0
    assert clock.wait_for(1400) == pytest.approx(3.0)
    assert clock.wait_for(1600) == 0.0 and now[0] == pytest.approx(103.8), "a long one is given up"
    assert clock.lateness.resynchronised == pytest.approx(3.0)


@pytest.mark.parametrize(("own_core", "late"), [(False, 1.5e-4), (True, 0.0)])
def test_on_a_core_of_its_own_a_run_does_not_wait_to_be_woken(
    monkeypatch: pytest.MonkeyPatch, own_core: bool, late: float
):
    now, looks = [100.0], [0]

    def look() -> float:
        looks[0] += 1
        now[0] += 1e-7
        return now[0]

    def sleep(seconds: float) -> None:
        now[0] += seconds + 1.5e-4  # as late as systems are

    monkeypatch.setattr("botz.sim.clock.time", SimpleNamespace(perf_counter=look, sleep=sleep))
    clock = RealTimeClock(1.0, 0.001, own_core=own_core)
    clock.start(0)
    assert clock.wait_for(1) == pytest.approx(late, abs=1e-6)
    assert (looks[0] > 100) == own_core


def test_in_real_time_a_command_takes_effect_at_the_first_step_after_it_arrived():
    clock = RealTimeClock(1.0, 0.01)
    clock.start(100)
    now, offset = time.monotonic(), time.monotonic() - time.perf_counter()
    began = clock._start + offset
    assert clock.first_step_after(int((began + 0.0501) * 1e9)) == 106
    assert clock.first_step_after(int((began + 0.0499) * 1e9)) == 105
    assert clock.first_step_after(int((now - 10.0) * 1e9)) == 100, "what came during a pause acts at once"


def test_a_command_that_came_later_than_the_present_step_waits_for_its_own(scenario_file: ScenarioFile):
    """A run that is behind must not let commands act before they were given."""
    simulation = Simulation(scenario_file())
    width = sum(size for _, size in simulation.engine.command_layout("duo"))
    segment = Segment.create({}, width=1, robots=1, command_width=width)
    try:
        clock = RealTimeClock(1.0, simulation.step_ns * 1e-9)
        clock.start(0)
        clock._start -= 0.5  # half a second behind
        seen = np.zeros(len(segment.slot_words), dtype=np.int64)
        refused: list[str] = []
        take = take_commands(segment, seen, refused.append, clock)
        segment.send(segment.claim_slot(0), np.array([1.0, 2.0]))
        ahead = take(simulation)
        due = clock.first_step_after(int(segment.slot_words[0, 2]))
        assert ahead == due >= 500
        simulation.step(n=due)
        before = simulation.engine.inputs.tolist()
        take(simulation)
        assert simulation.engine.inputs[:2].tolist() == [1.0, 2.0] != before[:2] and not refused
    finally:
        segment.unlink()
