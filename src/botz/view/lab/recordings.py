"""Recordings that the page may open: folders below the lab's that hold one, found by listing and never by path."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import tempfile
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from botz.errors import BotzError, InputError
from botz.record.reader import Recording, read
from botz.record.writer import RECORDING
from botz.scenario.load import LoadedScenario, load_data
from botz.view.lab.sentences import LabError, Sentence, told

MOST_OPEN = 4
"""Recordings whose numbers are kept in memory."""
MOST_LISTED = 1000
MOST_VALUES = 1 << 24
"""Numbers in one answer."""
MOST_LOGS = 2000
NAME_FILE = "name.txt"
"""In a run's folder: what its user calls it."""
LONGEST_NAME = 100
OURS = (RECORDING, NAME_FILE, "links.json", "diverged.csv", "metadata.yaml", "plot.png", "video.mp4")
"""What a run leaves in its folder. Deleting a recording removes these and nothing else."""
MAGIC = b"\x89MCAP0\r\n"
MOST_CHANGES = 40
LONGEST_VALUE = 120
UNTOLD = ("time.realtime", "description")
"""Settings that are no changes of a scenario: how fast it is watched, what is said of it."""

Base = Callable[[str], Mapping[str, Any] | None]
"""The scenario of a name as it is now; None where there is none."""


@dataclass(frozen=True)
class Stamp:
    """Tells a file from what it was before."""

    path: Path
    changed: int
    size: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        about = path.stat()
        return cls(path, about.st_mtime_ns, about.st_size)


class Recordings:
    def __init__(self, folder: Path, base: Base = lambda name: None):
        self.folder, self._base = folder, base
        self._beside: dict[str, Path] = {}
        """Recordings of this lab's runs that lie elsewhere."""
        self._open: OrderedDict[Stamp, Recording] = OrderedDict()
        self._listed: dict[Stamp, dict[str, Any]] = {}
        self._reading = asyncio.Lock()

    def files(self) -> dict[str, Path]:
        """Recordings by id, the newest first. A link that leads out of the folder is none of them."""
        found: dict[str, Path] = {}
        base = self.folder.resolve()
        try:
            folders = [one for one in self.folder.iterdir() if not one.name.startswith(".")]
        except OSError:
            folders = []
        for folder in folders:
            path = folder / RECORDING
            try:
                if path.is_file() and path.resolve().is_relative_to(base):
                    found[folder.name] = path
            except OSError:
                continue
        found |= {key: path for key, path in list(self._beside.items()) if path.is_file()}
        newest = sorted(found.items(), key=lambda item: -_changed(item[1]))
        return dict(newest[:MOST_LISTED])

    def id_of(self, folder: Path) -> str:
        """The id of a run's folder; one outside the lab's folder is listed from now on."""
        if folder.resolve().parent == self.folder.resolve():
            return folder.name
        name, number = folder.name or "run", 2
        while (
            self._beside.get(name, folder / RECORDING) != folder / RECORDING
            or (self.folder / name / RECORDING).exists()
        ):
            name, number = f"{folder.name}-{number}", number + 1
        self._beside[name] = folder / RECORDING
        return name

    def path_of(self, key: str) -> Path:
        path = self.files().get(key)
        if path is None:
            raise LabError(Sentence("none.recording", name=key[:100]))
        return path

    # --- the list ------------------------------------------------------------------------------------------

    def entries(self) -> list[dict[str, Any]]:
        # Several threads may be here at once: each reads the list there is, and puts its own in its place at the end.
        known, entries, listed = self._listed, [], {}
        bases: dict[str, Mapping[str, Any] | None] = {}

        def base(name: str) -> Mapping[str, Any] | None:
            if name not in bases:
                bases[name] = self._base(name)
            return bases[name]

        for key, path in self.files().items():
            try:
                stamp = Stamp.of(path)
            except OSError:
                continue
            listed[stamp] = known[stamp] if stamp in known else _entry(path, base)
            entries.append({"id": key, "name": name_of(path.parent), **listed[stamp]})
        self._listed = listed
        return entries

    # --- names, files, and their end -----------------------------------------------------------------------

    def rename(self, key: str, name: str) -> str:
        """Give a recording a name of its own, kept in its folder; an empty one takes it away."""
        folder = self.path_of(key).parent
        name = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())[:LONGEST_NAME]
        target = folder / NAME_FILE
        try:
            if not name:
                target.unlink(missing_ok=True)
                return name
            number, unfinished = tempfile.mkstemp(prefix=".name-", dir=folder)
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(name + "\n")
            Path(unfinished).replace(target)
        except OSError as error:
            raise LabError(Sentence("recording.unwritable", why=error.strerror or str(error))) from None
        return name

    def delete(self, key: str) -> None:
        """Remove a recording of the lab's folder with what belongs to it; files that are not of a run stay, and so does
        their folder."""
        path = self.path_of(key)
        folder = path.parent
        if key in self._beside or folder.is_symlink() or folder.resolve().parent != self.folder.resolve():
            raise LabError(Sentence("recording.elsewhere"))
        try:
            if not is_recording(path):
                raise LabError(Sentence("recording.foreign"))
            for name in OURS:
                with suppress(FileNotFoundError):
                    if stat.S_ISREG((folder / name).lstat().st_mode):
                        (folder / name).unlink()
        except OSError as error:
            raise LabError(Sentence("recording.unwritable", why=error.strerror or str(error))) from None
        with suppress(OSError):  # something else is in it
            folder.rmdir()

    async def table(self, key: str, folder: Path) -> Path:
        """The recording as CSV: one file, or, where it has several streams, an archive of them."""
        recording = await self.open(key)
        return await asyncio.to_thread(_write_table, recording, folder)

    # --- one of them ---------------------------------------------------------------------------------------

    async def open(self, key: str) -> Recording:
        """A recording with its numbers read; the last few stay open."""
        path = await asyncio.to_thread(self.path_of, key)
        async with self._reading:
            return await asyncio.to_thread(self._opened, path)

    def _opened(self, path: Path) -> Recording:
        stamp = Stamp.of(path)
        recording = self._open.get(stamp)
        if recording is None:
            for old in [one for one in self._open if one.path == path]:
                del self._open[old]
            recording = read(path)
            _ = recording.problem  # reads it whole
            self._open[stamp] = recording
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        self._open.move_to_end(stamp)
        return recording

    async def info(self, key: str) -> dict[str, Any]:
        recording = await self.open(key)
        details = details_of(recording, key)
        return {**details, "changes": await asyncio.to_thread(changes_of, recording, self._base)}

    async def data(self, key: str, channels: list[str], start: float, end: float, rate: float) -> tuple[bytes, int]:
        recording = await self.open(key)
        return await asyncio.to_thread(rows_of, recording, channels, start, end, rate)


def details_of(recording: Recording, key: str) -> dict[str, Any]:
    """What the page knows of a recording before it asks for its numbers."""
    step = recording.step_ns * 1e-9
    logs = recording.logs()[-MOST_LOGS:]
    return {
        "id": key,
        "scenario": recording.header.scenario_name,
        "engine": recording.header.engine,
        "duration": recording.duration,
        "step_ns": recording.step_ns,
        "channels": recording.channels.plain(),
        "rates": recording.rates,
        "logs": [[number * step, level, text] for number, level, text in logs],
        "seed": recording.seed,
        "started_at": first_time(recording),
        "status": recording.summary.get("status", "incomplete"),
        "problem": recording.problem,
        "name": name_of(recording.file.parent) if recording.file is not None else "",
    }


def scenario_of(recording: Recording) -> LoadedScenario:
    return load_data(recording.scenario, recording.label)


def first_time(recording: Recording) -> float:
    """When the first row was recorded [s]: not 0 where the run began in a state of another one."""
    try:
        times = recording.time()
    except InputError:
        return 0.0
    return float(times[0]) if times.size else 0.0


def rows_of(recording: Recording, channels: list[str], start: float, end: float, rate: float) -> tuple[bytes, int]:
    """Rows of float32 [time, channels…] and their number of columns: at the samples of the channel that has the most,
    thinned to `rate` [1/s]; of the others the nearest earlier sample."""
    if not channels:
        raise LabError(Sentence("data.channels"))
    for name in channels:
        _ = recording.channels[name]  # tells an unknown one
    times = {name: recording.time(name) for name in channels}
    fastest = max(times.values(), key=len)
    chosen = fastest[(fastest >= start - 1e-9) & (fastest <= end + 1e-9)]
    chosen = thinned(chosen, rate)
    width = 1 + sum(recording.channels[name].size for name in channels)
    if len(chosen) * width > MOST_VALUES:
        raise LabError(Sentence("data.large", rows=len(chosen), width=width))
    table = np.empty((len(chosen), width), dtype="<f4")
    table[:, 0] = chosen
    column = 1
    for name in channels:
        values = recording[name].reshape(len(times[name]), -1)
        size = recording.channels[name].size
        if len(values):
            place = np.clip(np.searchsorted(times[name], chosen, side="right") - 1, 0, len(values) - 1)
            table[:, column : column + size] = values[place]
        else:
            table[:, column : column + size] = np.nan
        column += size
    return table.tobytes(), width


def thinned(times: np.ndarray, rate: float) -> np.ndarray:
    """The first sample of each period of `rate`, and the last of all."""
    if times.size < 2:
        return times
    period = np.floor((times - times[0]) * rate + 1e-6).astype(np.int64)
    keep = np.concatenate([[True], period[1:] != period[:-1]])
    keep[-1] = True
    return times[keep]


def name_of(folder: Path) -> str:
    try:
        with (folder / NAME_FILE).open(encoding="utf-8", errors="replace") as file:
            name = file.read(LONGEST_NAME + 1).partition("\n")[0]
    except OSError:
        return ""
    return "".join(letter for letter in name if letter.isprintable())


def is_recording(path: Path) -> bool:
    """Whether it is a file, no link, that begins as recordings do."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def changes_of(recording: Recording, base: Base) -> list[tuple[str, Any, Any]]:
    """What differs from the scenario of that name: key, value there, value here; None where it is not set."""
    scenario = base(recording.header.scenario_name)
    if scenario is None:
        return []
    return differences(scenario, recording.scenario)[:MOST_CHANGES]


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    there, here = leaves(before), leaves(after)
    return [
        (key, shown(there.get(key)), shown(here.get(key)))
        for key in [*there, *(key for key in here if key not in there)]
        if key not in UNTOLD and there.get(key) != here.get(key)
    ]


def leaves(tree: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Values by their key with dots; a list of plain values is one value."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{above}{key}"
        if isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            value = {str(number): one for number, one in enumerate(value)}
        if isinstance(value, Mapping):
            found |= leaves(value, f"{name}.")
        elif value is not None:
            found[name] = value
    return found


def shown(value: Any) -> str | float | bool | None:
    """A value as the page shows it."""
    if value is None or isinstance(value, bool | int | float):
        return value
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return words if len(words) <= LONGEST_VALUE else words[: LONGEST_VALUE - 1] + "…"


def _write_table(recording: Recording, folder: Path) -> Path:
    from botz.record.export import export

    files = export(recording, folder / "recording.csv", "csv")
    if len(files) == 1:
        return files[0]
    archive = folder / "recording.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as together:
        for file in files:
            together.write(file, file.name)
    return archive


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _entry(path: Path, base: Base) -> dict[str, Any]:
    """Of a recording's description, without reading its numbers."""
    try:
        recording = read(path)
    except (BotzError, OSError) as error:
        why = told(Sentence("unreadable.recording", why=str(error)), "status")
        return {"scenario": "", "engine": "", "started": "", "duration": 0.0, "changes": [], **why}
    summary = recording.summary
    try:
        duration = float(summary.get("started_at_s", 0.0)) + float(summary.get("simulated_s", 0.0))
    except ValueError:
        duration = 0.0
    return {
        "scenario": recording.header.scenario_name,
        "engine": recording.header.engine,
        "started": recording.header.info.get("started", ""),
        "duration": duration,
        "status": summary.get("status", "incomplete"),
        "changes": changes_of(recording, base),
    }
