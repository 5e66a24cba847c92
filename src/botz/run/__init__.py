"""From a scenario to a recording: the physics, here or in a process of its own, and the recorder behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from botz.errors import BotzError, InputError
from botz.record.reader import Recording, read
from botz.run.outputs import (
    Outcome,
    Progress,
    conclude,
    open_run,
    snapshot_stride,
    span_of,
    stop_on_signals,
    streams_of,
)
from botz.run.own_process import Servers, run_in_own_process
from botz.scenario.families import FAMILIES
from botz.scenario.load import LoadedScenario, load, load_data
from botz.sim.loop import LoopHooks, run_loop
from botz.sim.simulation import Simulation

__all__ = ["Outcome", "Progress", "Servers", "run_scenario", "simulate", "streams_of"]


def simulate(
    scenario: str | Path | LoadedScenario,
    *,
    duration: float | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    realtime: float | bool | None = None,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    progress: Progress | None = None,
) -> Recording:
    """Run a scenario to its end and return its recording.

    The recording is written to `out`, a folder, by default `runs/NAME-TIME`. The physics runs in this process, or in
    one of its own when the run is in real time or the scenario asks for a core. A run that fails raises its error after
    the recording up to there has been kept; Ctrl-C keeps it too and raises KeyboardInterrupt.
    """
    loaded = scenario if isinstance(scenario, LoadedScenario) else load(scenario, overrides=overrides)
    outcome = run_scenario(loaded, duration=duration, out=out, seed=seed, realtime=realtime, progress=progress)
    if outcome.error is not None:
        raise outcome.error
    if outcome.status == "interrupted":
        raise KeyboardInterrupt
    return read(outcome.path)


def run_scenario(
    scenario: LoadedScenario,
    *,
    duration: float | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    realtime: float | bool | None = None,
    progress: Progress | None = None,
    shared: bool = False,
    on_ready: Callable[[str], None] | None = None,
    servers: Servers | None = None,
    start: bytes | None = None,
    paused: bool = False,
) -> Outcome:
    """Run a scenario; mistakes in it raise InputError before anything is written, later failures are in the outcome.

    `shared` publishes the state to shared memory for readers even when the run is not in real time; `on_ready` is then
    called with the run's id. `servers` are started before the first step, which waits for them, and ended after the
    last. `start` is a complete state to start from (`botz.replay.state_at`, `rec.snapshots()`); the run then lasts the
    scenario's duration from there. `paused` lets a shared run wait before its first step until a reader says otherwise.
    """
    changes: dict[str, Any] = {}
    if duration is not None:
        changes["time.duration"] = duration
    if realtime is not None:
        changes["time.realtime"] = realtime
    if seed is not None:
        changes["seed"] = seed
    if changes:
        scenario = with_changes(scenario, changes)
    try:
        return _run(scenario, out, progress, shared, on_ready, servers, start, paused)
    except InputError as error:
        raise scenario.with_places(error) from error


def _run(
    scenario: LoadedScenario,
    out: str | Path | None,
    progress: Progress | None,
    shared: bool,
    on_ready: Callable[[str], None] | None,
    servers: Servers | None,
    start: bytes | None,
    paused: bool,
) -> Outcome:
    spec: Any = scenario.spec
    own_process = (
        FAMILIES[scenario.engine].own_process
        or shared
        or servers is not None
        or spec.time.factor is not None
        or spec.process.cpu is not None
        or spec.process.priority == "high"
    )
    if own_process:
        return run_in_own_process(scenario, out, progress, on_ready, servers, start, paused)
    return run_here(scenario, out, progress, start)


def with_changes(scenario: LoadedScenario, changes: Mapping[str, Any]) -> LoadedScenario:
    """The same scenario with some settings changed, checked again."""
    changed = load_data(scenario.data, str(scenario.file or scenario.name), overrides=changes)
    return replace(
        changed, file=scenario.file, folder=scenario.folder, user_code=scenario.user_code, tree=scenario.tree
    )


def run_here(
    scenario: LoadedScenario, out: str | Path | None, progress: Progress | None, start: bytes | None = None
) -> Outcome:
    spec: Any = scenario.spec
    first, until = span_of(spec, start)
    simulation = Simulation(scenario)
    if start:
        simulation.restore(start)
    outcome, writer, streams = open_run(scenario, out, simulation.engine, first)
    began = time.perf_counter()
    try:
        with stop_on_signals() as stopped:

            def turn(step: int) -> None:
                writer.flush_if_due()  # where rows are few, nothing else would
                if progress is not None:
                    progress(step, until)

            finished = run_loop(
                simulation,
                until=until,
                strides=[stream.every for stream in streams],
                sink=writer,
                snapshot_every=snapshot_stride(spec),
                hooks=LoopHooks(should_stop=stopped.is_set, progress=turn),
            )
        outcome.status = "finished" if finished else "interrupted"
    except BotzError as error:
        outcome.error = error
    except KeyboardInterrupt:
        outcome.status = "interrupted"
        raise
    finally:
        wall = time.perf_counter() - began
        more = simulation.engine.results()
        conclude(outcome, scenario, writer, simulation.step_number, wall, more, simulation.channels)
    return outcome
