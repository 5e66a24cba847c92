"""What a run leaves: its folder, its recording with header and streams, and how it ended."""

from __future__ import annotations

import fnmatch
import json
import logging
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

from botz.channels import ChannelTable, RosView
from botz.errors import BotzError, DivergedError, InputError, Problem, printable
from botz.record.streams import RecordingHeader, StreamSpec, column_names
from botz.record.writer import RecordingWriter
from botz.scenario.load import LoadedScenario
from botz.scenario.names import closest
from botz.scene.build import descriptions_of
from botz.sim.snapshots import decode

RECORDING = "recording.mcap"
LINKS = "links.json"
BAG_METADATA = "metadata.yaml"
"""Makes the folder a bag of rosbag2."""
LAST_STATES = "diverged.csv"
WRITTEN = (RECORDING, BAG_METADATA, LINKS, LAST_STATES)
"""What a run may write into its folder: none of these may be there before."""
TOLD_OF_LINKS = ("received", "ignored", "clients")
"""Counters of the links that are in a run's summary; all of them are in its links.json."""
SYNC_SECONDS = 1.0
"""Wall time between two moments at which the recording is forced to the disk [s]."""
logger = logging.getLogger("botz")
Progress = Callable[[int, int], None]
"""Called now and then with the step reached and the last one."""


class Recorder(RecordingWriter):
    """The recording of a run; its warnings and news also reach the user at once."""

    def write_log(self, step: int, level: str, text: str) -> None:
        super().write_log(step, level, text)
        if level == "warning":
            logger.warning("botz: %s", printable(text))
        elif level == "info":
            logger.warning("botz: %.3f s: %s", step * self._step_ns * 1e-9, printable(text))


@dataclass
class Outcome:
    """How a run ended."""

    folder: Path
    status: str
    """finished, interrupted, failed"""
    error: BotzError | None = None
    summary: dict[str, str] = field(default_factory=dict)
    first_step: int = 0
    """0, but of a run that started in a state of another one."""

    @property
    def exit_code(self) -> int:
        if self.status == "interrupted":
            return 130
        return self.error.exit_code if self.error is not None else 0

    @property
    def path(self) -> Path:
        return self.folder / RECORDING


class Recorded(Protocol):
    """What a recording says of a world: of an engine, or of a run that goes on in another process."""

    channels: ChannelTable
    inputs_table: ChannelTable
    views: tuple[RosView, ...]


def check_folder(out: str | Path | None) -> None:
    """Mistakes in --out."""
    if out is None:
        return
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(Problem(f"{str(folder)!r} is a file; --out needs a folder"))
    for name in WRITTEN:
        if os.path.lexists(folder / name):  # the user's own, perhaps, or a link that leads elsewhere
            raise InputError(Problem(f"{folder / name} exists already; choose another folder or remove it"))


def new_folder(out: str | Path | None, name: str) -> Path:
    """The folder of a run: the one told, or a new one named after scenario and time."""
    check_folder(out)
    named = f"{name or 'run'}-{datetime.now():%Y%m%d-%H%M%S}"
    folder = Path(out) if out is not None else Path("runs") / named
    stem, number = folder.name, 2
    try:
        # A name that another run has taken, perhaps just now, is left to it.
        while True:
            try:
                folder.mkdir(parents=True, exist_ok=out is not None)
                break
            except FileExistsError:
                folder, number = folder.with_name(f"{stem}-{number}"), number + 1
    except OSError as error:
        raise InputError(
            Problem(f"cannot make the folder {folder}: {error.strerror}; choose another with --out")
        ) from error
    return folder


def open_run(
    scenario: LoadedScenario, out: str | Path | None, world: Recorded, first_step: int = 0
) -> tuple[Outcome, Recorder, list[StreamSpec]]:
    """The folder of a run and its recording, begun. Mistakes in what is to be recorded show before that."""
    streams = streams_of(scenario.spec, world.channels)
    outcome = Outcome(new_folder(out, scenario.name), "failed", first_step=first_step)
    spec: Any = scenario.spec
    recorder = Recorder(
        outcome.path,
        header_of(scenario),
        world.channels,
        world.inputs_table,
        streams,
        world.views,
        descriptions_of(spec),
        sync_seconds=SYNC_SECONDS if spec.record.sync else None,
    )
    return outcome, recorder, streams


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

    chosen = [("state", select(spec.record.channels, "record.channels"))]
    for name, stream in spec.record.streams.items():
        chosen.append((name, select(stream.channels, f"record.streams.{name}.channels")))
    streams = [StreamSpec(name, every, own) for (name, own), every in zip(chosen, strides_of(spec), strict=True)]
    if problems:
        raise InputError(problems)
    return streams


def strides_of(spec: Any) -> list[int]:
    """Steps between two rows of each stream."""
    return [spec.time.steps_between(stream.rate) for stream in (spec.record, *spec.record.streams.values())]


def header_of(scenario: LoadedScenario) -> RecordingHeader:
    spec: Any = scenario.spec
    info = {"started": datetime.now().astimezone().isoformat(timespec="seconds"), "python": platform.python_version()}
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


def span_of(spec: Any, start: bytes | None) -> tuple[int, int]:
    """First and last step of a run: it takes the scenario's duration from the state in which it starts."""
    first = decode(start).step if start else 0
    return first, first + int(spec.time.steps)


def snapshot_stride(spec: Any) -> int:
    return round(spec.record.snapshots * 1e9 / spec.time.step_ns)


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
        logger.warning("botz: stopping, what was recorded is kept; Ctrl-C again ends at once")

    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):
        numbers.append(signal.SIGHUP)  # the terminal was closed
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
    steps = max(0, step - outcome.first_step)
    simulated = steps * step_ns * 1e-9
    if outcome.first_step:
        more = {"started_at_s": f"{outcome.first_step * step_ns * 1e-9:.9g}", **more}
    outcome.summary = {
        "status": outcome.status,
        "steps": str(steps),
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
            outcome.summary["last_states"] = LAST_STATES
    try:
        if outcome.error is not None:
            details = getattr(outcome.error, "details", "")  # a controller's own traceback, with file and line
            writer.write_log(step, "error", f"{outcome.error}\n{details}".strip())
        writer.close(outcome.summary)
        (outcome.folder / BAG_METADATA).write_text(writer.bag_metadata(), encoding="utf-8")
    except BotzError as error:
        outcome.error = outcome.error or error
        outcome.status = "failed"
    except OSError as error:
        logger.warning("botz: cannot write %s: %s", outcome.folder / BAG_METADATA, error.strerror)
    if isinstance(outcome.error, DivergedError):
        # After the recording is closed: what cannot be written here must not cost that.
        try:
            write_last_states(outcome.folder / LAST_STATES, outcome.error, channels, step_ns)
        except OSError as error:
            logger.warning("botz: cannot write %s: %s", outcome.folder / LAST_STATES, error.strerror)


def write_counters(folder: Path, counters: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Write what the links of a run have counted; returns the part that belongs in its summary."""
    try:
        (folder / LINKS).write_text(json.dumps(counters, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        logger.warning("botz: cannot write %s: %s", folder / LINKS, error.strerror)
    return {
        f"{link}_{name}": str(counts[name])
        for link, counts in counters.items()
        for name in TOLD_OF_LINKS
        if name in counts
    }


def write_last_states(path: Path, error: DivergedError, channels: ChannelTable, step_ns: int) -> None:
    names = [name for channel in channels for name in column_names(channel)]
    first = error.step - len(error.last_rows) + 1
    lines = [",".join(["step", "time", *names])]
    for offset, row in enumerate(error.last_rows):
        step = first + offset
        lines.append(",".join([str(step), repr(step * step_ns * 1e-9), *(repr(float(value)) for value in row)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
