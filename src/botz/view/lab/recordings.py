"""Recordings that the page may open: folders below the lab's that hold one, found by listing and never by path."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from botz.errors import BotzError, InputError
from botz.record.reader import RECORDING_NAME, Recording, read
from botz.scenario.load import LoadedScenario, load_data
from botz.view.lab.sentences import LabError, Sentence, told

MOST_OPEN = 4
"""Recordings whose numbers are kept in memory."""
MOST_LISTED = 1000
MOST_VALUES = 1 << 24
"""Numbers in one answer."""
MOST_LOGS = 2000


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
    def __init__(self, folder: Path):
        self.folder = folder
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
            path = folder / RECORDING_NAME
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
            self._beside.get(name, folder / RECORDING_NAME) != folder / RECORDING_NAME
            or (self.folder / name / RECORDING_NAME).exists()
        ):
            name, number = f"{folder.name}-{number}", number + 1
        self._beside[name] = folder / RECORDING_NAME
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
        for key, path in self.files().items():
            try:
                stamp = Stamp.of(path)
            except OSError:
                continue
            listed[stamp] = known[stamp] if stamp in known else _entry(path)
            entries.append({"id": key, **listed[stamp]})
        self._listed = listed
        return entries

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
        step = recording.step_ns * 1e-9
        logs = recording.logs()[-MOST_LOGS:]
        return {
            "id": key,
            "scenario": recording.header.scenario_name,
            "engine": recording.header.engine,
            "duration": recording.duration,
            "step_ns": recording.step_ns,
            "channels": [[c.name, c.unit, c.description, list(c.components)] for c in recording.channels],
            "rates": recording.rates,
            "logs": [[number * step, level, text] for number, level, text in logs],
            "seed": recording.seed,
            "started_at": first_time(recording),
            "status": recording.summary.get("status", "incomplete"),
            "problem": recording.problem,
        }

    async def data(self, key: str, channels: list[str], start: float, end: float, rate: float) -> tuple[bytes, int]:
        recording = await self.open(key)
        return await asyncio.to_thread(rows_of, recording, channels, start, end, rate)


def scenario_of(recording: Recording) -> LoadedScenario:
    return load_data(recording.scenario, str(recording.path))


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


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _entry(path: Path) -> dict[str, Any]:
    """Of a recording's description, without reading its numbers."""
    try:
        recording = read(path)
    except (BotzError, OSError) as error:
        why = told(Sentence("unreadable.recording", why=str(error)), "status")
        return {"scenario": "", "engine": "", "started": "", "duration": 0.0, **why}
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
    }
