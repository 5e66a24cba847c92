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
from botz.errors import ArgumentProblem, BotzError, DivergedError, InputError, Problem, printable
from botz.record.bag_metadata import BAG_METADATA
from botz.record.mcap_file import MAGIC
from botz.record.mcap_scan import scan
from botz.record.reader import Recording, read
from botz.record.streams import RecordingHeader, StreamSpec, column_names
from botz.record.writer import RECORDING, RecordingWriter
from botz.scenario.load import LoadedScenario
from botz.scenario.names import closest
from botz.scene.build import descriptions_of
from botz.sim.snapshots import decode

LINKS = "links.json"
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


@dataclass(frozen=True)
class Place:
    """Where the recording of a run goes."""

    out: Path | None = None
    """The folder; None for a new one, `runs/NAME-TIME`."""
    overwrite: bool = False
    """An earlier run in the folder is replaced."""


@dataclass
class Outcome:
    """How a run ended."""

    place: Path | None
    """The run's folder; None for one whose recording is in memory."""
    status: str
    """finished, interrupted, failed"""
    error: BotzError | None = None
    summary: dict[str, str] = field(default_factory=dict)
    first_step: int = 0
    """0, but of a run that started in a state of another one."""
    data: bytes = b""
    bag: str = ""
    """The recording and rosbag2's metadata, of a run in memory."""

    @property
    def exit_code(self) -> int:
        if self.status == "interrupted":
            return 130
        return self.error.exit_code if self.error is not None else 0

    @property
    def folder(self) -> Path:
        assert self.place is not None, "the recording is in memory"
        return self.place

    @property
    def path(self) -> Path:
        return self.folder / RECORDING

    def recording(self) -> Recording:
        """What was recorded."""
        if self.place is not None:
            return read(self.path)
        contents = scan(self.data)
        contents.bag = self.bag
        return Recording(contents)


class Recorded(Protocol):
    """What a recording says of a world: of an engine, or of a run that goes on in another process."""

    channels: ChannelTable
    inputs_table: ChannelTable
    views: tuple[RosView, ...]


def check_folder(place: Place | None) -> None:
    """Mistakes in where a run is to be kept."""
    if place is None or place.out is None:
        return
    folder = place.out
    if folder.exists() and not folder.is_dir():
        raise InputError(ArgumentProblem(f"{str(folder)!r} is a file; needs a folder", key="out"))
    if place.overwrite and is_run(folder):
        return
    for name in WRITTEN:
        if os.path.lexists(folder / name):  # the user's own, perhaps, or a link that leads elsewhere
            message = f"{folder / name} exists already; choose another folder or remove it"
            raise InputError(ArgumentProblem(message, key="out"))


def is_run(folder: Path) -> bool:
    """Whether a run was recorded here: nothing else may be overwritten."""
    file = folder / RECORDING
    try:
        with file.open("rb") as opened:
            return not file.is_symlink() and opened.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def new_folder(place: Place, name: str) -> Path:
    """The folder of a run: the one told, or a new one named after scenario and time."""
    check_folder(place)
    out = place.out
    named = f"{name or 'run'}-{datetime.now():%Y%m%d-%H%M%S}"
    folder = out if out is not None else Path("runs") / named
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
        message = f"cannot make the folder {folder}: {error.strerror}; choose another"
        raise InputError(ArgumentProblem(message, key="out")) from error
    if place.overwrite:
        for written in WRITTEN:
            (folder / written).unlink(missing_ok=True)
    return folder


def open_run(
    scenario: LoadedScenario, place: Place | None, world: Recorded, first_step: int = 0
) -> tuple[Outcome, Recorder, list[StreamSpec]]:
    """The folder of a run and its recording, begun; without a place the recording is in memory. Mistakes in what is to
    be recorded show before that."""
    streams = streams_of(scenario.spec, world.channels)
    folder = new_folder(place, scenario.name) if place is not None else None
    outcome = Outcome(folder, "failed", first_step=first_step)
    spec: Any = scenario.spec
    recorder = Recorder(
        outcome.path if folder is not None else None,
        header_of(scenario),
        world.channels,
        world.inputs_table,
        streams,
        world.views,
        descriptions_of(spec),
        sync_seconds=SYNC_SECONDS if spec.record.sync and folder is not None else None,
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
        if isinstance(outcome.error, DivergedError) and outcome.place is not None:
            outcome.summary["last_states"] = LAST_STATES
    try:
        if outcome.error is not None:
            details = getattr(outcome.error, "details", "")  # a controller's own traceback, with file and line
            writer.write_log(step, "error", f"{outcome.error}\n{details}".strip())
        writer.close(outcome.summary)
        outcome.data, outcome.bag = writer.data, writer.bag_metadata()
        if outcome.place is not None:
            (outcome.place / BAG_METADATA).write_text(outcome.bag, encoding="utf-8")
    except BotzError as error:
        outcome.error = outcome.error or error
        outcome.status = "failed"
    except OSError as error:
        logger.warning("botz: cannot write %s: %s", outcome.folder / BAG_METADATA, error.strerror)
    if isinstance(outcome.error, DivergedError) and outcome.place is not None:
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
