"""From a scenario to a recording: the physics, here or in a process of its own, and the recorder behind it."""

from __future__ import annotations

import fnmatch
import json
import logging
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from botz.engines.base import Channel, ChannelTable, RosView
from botz.engines.registry import build_engine
from botz.errors import BotzError, ControllerError, DivergedError, InputError, Problem
from botz.record.reader import Recording, read
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.writer import RecordingWriter
from botz.scenario.load import LoadedScenario, load, load_data
from botz.scenario.names import closest
from botz.sim.frames import deliver
from botz.sim.loop import LoopHooks, run_loop
from botz.sim.shared_memory import W_DROPPED, W_STEP, W_STOP, Segment
from botz.sim.simulation import Simulation

RECORDING = "recording.mcap"
logger = logging.getLogger("botz")
Progress = Callable[[int, int], None]
"""Called now and then with the step reached and the last one."""


class Recorder(RecordingWriter):
    """The recording of a run; its warnings also reach the user at once."""

    def write_log(self, step: int, level: str, text: str) -> None:
        super().write_log(step, level, text)
        if level == "warning":
            logger.warning(text)


@dataclass
class Outcome:
    """How a run ended."""

    folder: Path
    status: str
    """finished, interrupted, failed"""
    error: BotzError | None = None
    summary: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        if self.status == "interrupted":
            return 130
        return self.error.exit_code if self.error is not None else 0

    @property
    def path(self) -> Path:
        return self.folder / RECORDING


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
) -> Outcome:
    """Run a scenario; mistakes in it raise InputError before anything is written, later failures are in the outcome.

    `shared` publishes the state to shared memory for readers even when the run is not in real time; `on_ready` is then
    called with the run's id.
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
        return _run(scenario, out, progress, shared, on_ready)
    except InputError as error:
        raise scenario.with_places(error) from error


def _run(
    scenario: LoadedScenario,
    out: str | Path | None,
    progress: Progress | None,
    shared: bool,
    on_ready: Callable[[str], None] | None,
) -> Outcome:
    spec: Any = scenario.spec
    own_process = (
        shared or spec.time.factor is not None or spec.process.cpu is not None or spec.process.priority == "high"
    )
    if own_process:
        return run_in_own_process(scenario, out, progress, on_ready)
    return run_here(scenario, out, progress)


def with_changes(scenario: LoadedScenario, changes: Mapping[str, Any]) -> LoadedScenario:
    """The same scenario with some settings changed, checked again."""
    changed = load_data(scenario.data, str(scenario.file or scenario.name), overrides=changes)
    return replace(
        changed, file=scenario.file, folder=scenario.folder, user_code=scenario.user_code, tree=scenario.tree
    )


def new_folder(out: str | Path | None, name: str) -> Path:
    """The folder of a run: the one told, or a new one named after scenario and time."""
    if out is not None:
        folder = Path(out)
        if folder.exists() and not folder.is_dir():
            raise InputError(Problem(f"{str(folder)!r} is a file; --out needs a folder"))
        if (folder / RECORDING).exists():
            raise InputError(Problem(f"{folder / RECORDING} exists already; choose another folder or remove it"))
    else:
        stem = f"{name or 'run'}-{datetime.now():%Y%m%d-%H%M%S}"
        folder = Path("runs") / stem
        number = 2
        while folder.exists():
            folder = Path("runs") / f"{stem}-{number}"
            number += 1
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            Problem(f"cannot make the folder {folder}: {error.strerror}; choose another with --out")
        ) from error
    return folder


def streams_of(spec: Any, channels: ChannelTable) -> list[StreamSpec]:
    """The scenario's record settings with their patterns resolved against what the engine offers."""
    problems: list[Problem] = []
    names = [channel.name for channel in channels]

    def select(patterns: Sequence[str], key: str) -> tuple[str, ...]:
        chosen: set[str] = set()
        for pattern in patterns:
            found = fnmatch.filter(names, pattern)
            if not found:
                problems.append(Problem(f"no channel matches {pattern!r}{closest(pattern, names)}", key=key))
            chosen.update(found)
        return tuple(name for name in names if name in chosen)

    streams = [
        StreamSpec(
            "state", spec.time.steps_between(spec.record.rate), select(spec.record.channels, "record.channels")
        )
    ]
    for name, stream in spec.record.streams.items():
        channels_of_stream = select(stream.channels, f"record.streams.{name}.channels")
        streams.append(StreamSpec(name, spec.time.steps_between(stream.rate), channels_of_stream))
    if problems:
        raise InputError(problems)
    return streams


def header_of(scenario: LoadedScenario) -> RecordingHeader:
    spec: Any = scenario.spec
    info = {
        "started": datetime.now().astimezone().isoformat(timespec="seconds"),
        "python": platform.python_version(),
    }
    for package in ("botz", "numpy", "numba"):
        try:
            info[package] = version(package)
        except PackageNotFoundError:
            info[package] = "unknown"
    info["machine"] = f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores"
    info["realtime"] = str(spec.time.factor or "as fast as possible")
    return RecordingHeader(
        scenario=scenario.data,
        scenario_name=scenario.name,
        engine=scenario.engine,
        seed=spec.seed,
        step_ns=spec.time.step_ns,
        info=info,
    )


def snapshot_stride(spec: Any) -> int:
    return round(spec.record.snapshots * 1e9 / spec.time.step_ns)


# --- in this process ---------------------------------------------------------------------------------------


def run_here(scenario: LoadedScenario, out: str | Path | None, progress: Progress | None) -> Outcome:
    spec: Any = scenario.spec
    simulation = Simulation(scenario)
    streams = streams_of(spec, simulation.channels)
    folder = new_folder(out, scenario.name)
    writer = Recorder(
        folder / RECORDING,
        header_of(scenario),
        simulation.channels,
        simulation.inputs,
        streams,
        simulation.engine.views,
    )
    outcome = Outcome(folder, "failed")
    until = spec.time.steps
    began = time.perf_counter()
    try:
        with stop_on_signals() as stopped:
            hooks = LoopHooks(should_stop=stopped.is_set)
            if progress is not None:
                hooks.progress = lambda step: progress(step, until)
            finished = run_loop(
                simulation,
                until=until,
                strides=[stream.every for stream in streams],
                sink=writer,
                snapshot_every=snapshot_stride(spec),
                hooks=hooks,
            )
        outcome.status = "finished" if finished else "interrupted"
    except BotzError as error:
        outcome.error = error
    except KeyboardInterrupt:
        outcome.status = "interrupted"
        raise
    finally:
        wall = time.perf_counter() - began
        conclude(outcome, scenario, writer, simulation.step_number, wall, {}, simulation.channels)
    return outcome


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Ctrl-C and a polite kill set the event instead of interrupting; a second Ctrl-C interrupts after all."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: Any) -> None:
        if stopped.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stopped.set()

    numbers = [signal.SIGINT, signal.SIGTERM]
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield stopped
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)


def conclude(
    outcome: Outcome,
    scenario: LoadedScenario,
    writer: RecordingWriter,
    step: int,
    wall: float,
    more: Mapping[str, str],
    channels: ChannelTable,
) -> None:
    """Write the summary and close the recording; what went wrong is in it too."""
    spec: Any = scenario.spec
    step_ns = spec.time.step_ns
    simulated = step * step_ns * 1e-9
    outcome.summary = {
        "status": outcome.status,
        "steps": str(step),
        "simulated_s": f"{simulated:.9g}",
        "wall_s": f"{wall:.6g}",
        "realtime_factor": f"{simulated / wall if wall > 0 else 0:.6g}",
        **more,
    }
    if isinstance(outcome.error, InputError):
        outcome.error = scenario.with_places(outcome.error)
    if outcome.error is not None:
        outcome.summary["error"] = str(outcome.error)
        if isinstance(outcome.error, DivergedError):
            outcome.summary["last_states"] = "diverged.csv"
            write_last_states(outcome.folder / "diverged.csv", outcome.error, channels, step_ns)
    try:
        if outcome.error is not None:
            writer.write_log(step, "error", str(outcome.error))
        writer.close(outcome.summary)
    except BotzError as error:
        outcome.error = outcome.error or error
        outcome.status = "failed"


def write_last_states(path: Path, error: DivergedError, channels: ChannelTable, step_ns: int) -> None:
    from botz.record.streams import column_names

    names = [name for channel in channels for name in column_names(channel)]
    first = error.step - len(error.last_rows) + 1
    lines = [",".join(["step", "time", *names])]
    for offset, row in enumerate(error.last_rows):
        step = first + offset
        lines.append(",".join([str(step), repr(step * step_ns * 1e-9), *(repr(float(value)) for value in row)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# --- in a process of its own -------------------------------------------------------------------------------


def run_in_own_process(
    scenario: LoadedScenario,
    out: str | Path | None,
    progress: Progress | None,
    on_ready: Callable[[str], None] | None,
) -> Outcome:
    spec: Any = scenario.spec
    engine = build_engine(spec)  # for its tables, and so that mistakes show before a process is started
    streams = streams_of(spec, engine.channels)
    views: tuple[RosView, ...] = engine.views
    channels, inputs = engine.channels, engine.inputs_table
    del engine
    folder = new_folder(out, scenario.name)
    writer = Recorder(folder / RECORDING, header_of(scenario), channels, inputs, streams, views)
    outcome = Outcome(folder, "failed")
    orders = {
        "scenario": scenario.data,
        "name": scenario.name,
        "seed": spec.seed,
        "factor": spec.time.factor,
        "cpu": spec.process.cpu,
        "priority": spec.process.priority,
        "until": spec.time.steps,
        "strides": [stream.every for stream in streams],
        "snapshot_every": snapshot_stride(spec),
    }
    began = seen = time.perf_counter()
    answer: dict[str, Any] = {}
    segment: Segment | None = None
    try:
        with stop_on_signals() as stopped, physics_child(orders) as (child, answers):
            while not answer:
                ended = child.poll() is not None  # before its last words are taken, so that none is missed
                for message in answers(ended):
                    if message["event"] == "ready":
                        segment = Segment.attach(message["run_id"])
                        began = time.perf_counter()
                        if on_ready is not None:
                            on_ready(message["run_id"])
                    else:
                        answer = message
                if segment is not None:
                    if stopped.is_set():
                        segment.words[W_STOP] = 1
                    drain(segment, channels.width, writer)
                    if progress is not None:
                        progress(int(segment.words[W_STEP]), spec.time.steps)
                elif stopped.is_set():
                    answer = {"status": "interrupted"}
                writer.flush_if_due()
                if ended and not answer:
                    answer = crashed(child.returncode)
                seen = time.perf_counter()
                time.sleep(0.002)
            if segment is not None:
                drain(segment, channels.width, writer)
        outcome.status = answer["status"]
        if outcome.status == "failed":
            outcome.error = rebuild_error(answer)
    except BotzError as error:
        outcome.error = error
    except KeyboardInterrupt:
        outcome.status = "interrupted"
        raise
    finally:
        wall = max(0.0, seen - began)
        more = {str(key): str(value) for key, value in answer.get("lateness", {}).items()}
        more["refused_commands"] = str(answer.get("refused_commands", 0))
        step = int(answer.get("step", 0))
        if segment is not None:
            more["dropped_frames"] = str(int(segment.words[W_DROPPED]))
            step = max(step, int(segment.words[W_STEP]))
            segment.unlink()
        conclude(outcome, scenario, writer, step, wall, more, channels)
    if segment is None:
        # It ended before the first step: as in this process, nothing is left behind.
        outcome.path.unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
        raise outcome.error or KeyboardInterrupt
    return outcome


def drain(segment: Segment, width: int, writer: RecordingWriter) -> None:
    while (frame := segment.pop()) is not None:
        deliver(frame, width, writer)


PHYSICS = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "  # a terminal's Ctrl-C reaches both processes
    "from botz.sim.physics_process import main; main()"
)
Answers = Callable[[bool], list[dict[str, Any]]]
"""Messages that have arrived; with True all there will ever be, of a process that has ended."""


@contextmanager
def physics_child(orders: Mapping[str, Any]) -> Iterator[tuple[subprocess.Popen[str], Answers]]:
    """A fresh interpreter with the physics; leaving the context closes its standard input, which ends it."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", PHYSICS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None and child.stdout is not None
    messages: deque[dict[str, Any]] = deque()
    patience = 10.0

    def listen() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            messages.append(json.loads(line))

    def answers(ended: bool) -> list[dict[str, Any]]:
        if ended:
            listener.join(timeout=10)
        return [messages.popleft() for _ in range(len(messages))]

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        try:
            child.stdin.write(json.dumps(orders) + "\n")
            child.stdin.flush()
        except OSError:
            child.wait(timeout=10)  # it ended at once; the caller sees its exit code
        yield child, answers
    except KeyboardInterrupt:
        patience = 1.0
        raise
    finally:
        with suppress(OSError):
            child.stdin.close()
        try:
            child.wait(timeout=patience)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            child.kill()
            child.wait()
        listener.join(timeout=2)


def crashed(code: int) -> dict[str, Any]:
    reason = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return {
        "event": "finished",
        "status": "failed",
        "kind": "BotzError",
        "message": f"the physics process ended unexpectedly ({reason}); the recording up to there is kept",
    }


def rebuild_error(answer: Mapping[str, Any]) -> BotzError:
    """The error of the physics process, as it would have been raised here."""
    message = str(answer["message"])
    match answer["kind"]:
        case "InputError":
            return InputError(
                [Problem(m, key=k, file=Path(f) if f else None, line=line) for m, k, f, line in answer["problems"]]
            )
        case "ControllerError":
            return ControllerError(message, str(answer.get("details", "")))
        case "DivergedError":
            rows = [[float(value) for value in row] for row in answer["last_rows"]]
            return DivergedError(message, step=int(answer["diverged_step"]), last_rows=rows)
        case _:
            return BotzError(message)


__all__ = ["Channel", "Outcome", "run_scenario", "simulate"]
