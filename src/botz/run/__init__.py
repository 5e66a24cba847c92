"""From a scenario to a recording: the physics, here or in a process of its own, and the recorder behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from botz.errors import BotzError, InputError
from botz.record.reader import Recording
from botz.run.outputs import (
    Outcome,
    Place,
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
from botz.scenario.load import LoadedScenario, ScenarioSource, load
from botz.sim.clock import RealTimeClock
from botz.sim.loop import LoopHooks, run_loop
from botz.sim.simulation import Simulation

__all__ = ["Outcome", "Place", "Progress", "Servers", "run_scenario", "simulate", "streams_of"]


def simulate(
    scenario: ScenarioSource,
    *,
    duration: float | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    seed: int | None = None,
    realtime: float | bool | None = None,
    controllers: Mapping[str, Any] | None = None,
    start: bytes | None = None,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    progress: Progress | None = None,
) -> Recording:
    """Run a scenario to its end and return its recording.

    - `scenario`: a name of the library, a file, a mapping with the same keys, or what `load` returned
    - `duration`: simulated time [s]; that of the scenario by default
    - `out`: a folder for the recording; without it, the recording is in memory
    - `overwrite`: replace an earlier run in `out`
    - `seed`: of the random numbers
    - `realtime`: True or a factor of real time; False runs as fast as possible
    - `controllers`: robots and functions `(t, measured) -> command`, or objects with `reset` and `update`, which take
      the place of the scenario's; the run is then in this process
    - `start`: a state to go on from (`state_at`)
    - `overrides`: changes of the scenario, as in `load`
    - `progress`: called with the present and the last step

    Mistakes in the scenario raise InputError before anything is written. A run that fails raises its error
    (DivergedError, ControllerError, RecordingError) after the recording up to there has been kept in `out`; Ctrl-C
    keeps it too and raises KeyboardInterrupt.

    >>> short = botz.simulate("differential-circle", duration=0.5)
    >>> short["rover/pose"].shape
    (51, 3)
    >>> def forward(t, measured):
    ...     return {"twist": (0.2, 0.0, 0.0)}
    >>> driven = botz.simulate("differential-circle", duration=0.5, controllers={"rover": forward})
    >>> driven["rover/pose"][-1].round(3)
    array([ 0.1, -1. ,  0. ])
    """
    if isinstance(scenario, LoadedScenario):
        loaded = scenario.with_overrides(overrides) if overrides else scenario
    else:
        loaded = load(scenario, overrides=overrides)
    outcome = run_scenario(
        loaded,
        duration=duration,
        out=Place(Path(out), overwrite) if out is not None else None,
        seed=seed,
        realtime=realtime,
        controllers=controllers,
        start=start,
        progress=progress,
    )
    if outcome.error is not None:
        raise outcome.error
    if outcome.status == "interrupted":
        raise KeyboardInterrupt
    return outcome.recording()


def run_scenario(
    scenario: LoadedScenario,
    *,
    duration: float | None = None,
    out: str | Path | Place | None = None,
    seed: int | None = None,
    realtime: float | bool | None = None,
    controllers: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    shared: bool = False,
    on_ready: Callable[[str], None] | None = None,
    servers: Servers | None = None,
    start: bytes | None = None,
    paused: bool = False,
) -> Outcome:
    """Run a scenario; mistakes in it raise InputError before anything is written, later failures are in the outcome.

    `out` says where the recording goes; without it, it is in memory. `shared` publishes the state to shared memory
    for readers even when the run is not in real time; `on_ready` is then called with the run's id. `servers` are
    started before the first step, which waits for them, and ended after the last. `start` is a complete state to start
    from (`botz.state_at`, `rec.snapshots()`); the run then lasts the scenario's duration from there. `paused` lets a
    shared run wait before its first step until a reader says otherwise. `controllers` are as those of `Simulation`.
    """
    place = out if out is None or isinstance(out, Place) else Place(Path(out))
    changes = {"time.duration": duration, "time.realtime": realtime, "seed": seed}
    changes = {key: value for key, value in changes.items() if value is not None}
    for name, spec in getattr(scenario.spec, "controllers", {}).items():
        if spec.robot in (controllers or {}):
            changes[f"controllers.{name}"] = None  # a replay of the recording has the commands, not the program
    if changes:
        scenario = scenario.with_(changes)
    try:
        if controllers:
            return run_here(scenario, place, progress, start, controllers)
        if shared or servers is not None or wants_process(scenario):
            return run_in_own_process(scenario, place, progress, on_ready, servers, start, paused)
        return run_here(scenario, place, progress, start)
    except InputError as error:
        raise scenario.with_places(error) from error


def wants_process(scenario: LoadedScenario) -> bool:
    spec: Any = scenario.spec
    return bool(
        FAMILIES[scenario.engine].own_process
        or spec.time.factor is not None
        or spec.process.cpu is not None
        or spec.process.priority == "high"
    )


def run_here(
    scenario: LoadedScenario,
    place: Place | None,
    progress: Progress | None,
    start: bytes | None = None,
    controllers: Mapping[str, Any] | None = None,
) -> Outcome:
    spec: Any = scenario.spec
    first, until = span_of(spec, start)
    simulation = Simulation(scenario, controllers=controllers)
    if start:
        simulation.restore(start)
    outcome, writer, streams = open_run(scenario, place, simulation.engine, first)
    began = time.perf_counter()
    try:
        with stop_on_signals() as stopped:

            def turn(step: int) -> None:
                writer.flush_if_due()  # where rows are few, nothing else would
                if progress is not None:
                    progress(step, until)

            factor = spec.time.factor
            clock = RealTimeClock(factor, simulation.step_ns * 1e-9, should_stop=stopped.is_set) if factor else None
            finished = run_loop(
                simulation,
                until=until,
                strides=[stream.every for stream in streams],
                sink=writer,
                snapshot_every=snapshot_stride(spec),
                clock=clock,
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
