"""Runs shipped scenarios and hashes what they record: the part of tools/compare_bits.py that runs in either version.

Of Botz it uses `botz.load`, `botz.simulate` and `botz.BotzError`; recordings are read as plain MCAP files.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import platform
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import yaml
from versions import NoResult, Worker, checked, environment_of, serve

SECONDS = 20.0
"""How long scenarios run at most [s]: until each of them has shown what it is about."""
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    # Nobody drives it but teams over their links.
    "soccer": {
        f"controllers.{robot}": {"type": "constant", "robot": robot, "command": command}
        for robot, command in {
            "blue0": {"twist": [0.4, 1.0]},
            "blue1": {"left/voltage": 5.0, "right/voltage": 5.0},
            "blue2": {"left/speed": 12.0, "right/speed": 20.0},
            "yellow0": {"left/voltage": -5.0, "right/voltage": -5.5},
            "yellow1": {"left/voltage": 4.0, "right/voltage": 2.0},
            "yellow2": {"twist": [-0.5, 2.0]},
        }.items()
    },
}
EVERYTHING: Mapping[str, Any] = {"record.channels": ["*"]}
WALL = {"wall_s", "realtime_factor", "paused_s"}
"""Lines of the summary that tell of wall time, as the clock's topic does."""
PARTS = 16
"""Hashes of so many equal parts tell from when on values differ."""
LAST = 6
"""Numbers of the last sample that are kept, to tell how large a difference is."""

ERROR = "error"


# --- one recording ---------------------------------------------------------------------------------------------------


class Bits(NamedTuple):
    """Times and values of one channel, or of anything else that is recorded."""

    hash: str
    form: str
    """Type and shape of the values."""
    parts: list[str]
    """Hashes of equal parts, one after the other in time."""
    last: list[float]
    """The last sample's first numbers."""


def bits_of(times: Iterable[int], values: Any) -> Bits:
    """Of samples (k) or (k, n) at times (k) [ns]."""
    import numpy as np

    values = np.ascontiguousarray(values)
    stamps = np.asarray(list(times), "<u8")
    whole = hashlib.sha256(f"{values.dtype.str} {values.shape}".encode())
    whole.update(stamps.tobytes())
    whole.update(values.tobytes())
    parts = []
    for part in np.array_split(np.arange(len(values)), PARTS):
        parts.append(hashlib.sha256(stamps[part].tobytes() + values[part].tobytes()).hexdigest()[:8])
    last = np.ravel(values[-1])[:LAST].tolist() if len(values) and values.dtype.kind == "f" else []
    return Bits(whole.hexdigest(), f"{values.dtype.str} {'x'.join(map(str, values.shape))}", parts, last)


def bits_of_bytes(messages: list[tuple[int, bytes]]) -> Bits:
    """Of messages of any length: each is replaced by its hash."""
    import numpy as np

    digests = b"".join(hashlib.sha256(data).digest() for _, data in messages)
    found = bits_of((stamp for stamp, _ in messages), np.frombuffer(digests, "u1").reshape(len(messages), 32))
    return found._replace(form=f"{len(messages)} messages")


def hashes_of(recording: Path, source: Path) -> dict[str, Bits]:
    """Everything in a recording that does not tell of wall time, or of the folder that Botz ran from."""
    from mcap.reader import make_reader

    messages: dict[int, list[tuple[int, bytes]]] = {}
    with recording.open("rb") as file:
        reader = make_reader(file)
        for _, channel, message in reader.iter_messages(log_time_order=False):
            messages.setdefault(channel.id, []).append((message.log_time, message.data))
        summary = reader.get_summary()
        if summary is None:
            raise NoResult(f"{recording} has no summary: the run did not close it")
        about: dict[str, str] = next((one.metadata for one in reader.iter_metadata() if one.name == "botz/summary"), {})
    found = {
        f"summary: {name}": bits_of_bytes([(0, text.encode())]) for name, text in about.items() if name not in WALL
    }
    for number, channel in summary.channels.items():
        taken = messages.get(number, [])
        told = json.loads(channel.metadata.get("botz", "{}"))
        match told.get("role"):
            case "clock":
                continue
            case "stream":
                ending = "" if told["stream"] == "state" else f" (stream {told['stream']})"
                for name, bits in columns(channel.topic, told["fields"], taken):
                    found[f"{name}{ending}"] = bits
            case "command":
                for name, bits in columns(channel.topic, told["fields"], taken):
                    found[f"command: {name}"] = bits
                sources = [(stamp, data[FIRST + 8 * width_of(told["fields"]) :]) for stamp, data in taken]
                found[f"command: {told['robot']} (source)"] = bits_of_bytes(sources)
            case "snapshot":
                found |= state_hashes(taken)
            case _:
                found[channel.topic] = bits_of_bytes([(stamp, placeless(data, source)) for stamp, data in taken])
    return found


def placeless(message: bytes, source: Path) -> bytes:
    """A message whose text names files below `source`, as meshes of a robot: without that folder, and without the
    text's length, which stands before it."""
    places = [str(place).encode() for place in (source, source.resolve(), quote(str(source)))]
    if not any(place in message for place in places):
        return message
    for place in places:
        message = message.replace(place, b"")
    return message[8:]


FIRST = 4 + 8 + 8
"""Bytes of a message before its numbers: encapsulation, stamp, step."""


def width_of(fields: Mapping[str, Any]) -> int:
    return sum(max(1, len(one["components"])) for one in fields.values())


def columns(topic: str, fields: Mapping[str, Any], messages: list[tuple[int, bytes]]) -> Iterator[tuple[str, Bits]]:
    """The channels of one of Botz's own topics."""
    import numpy as np

    width = width_of(fields)
    end = FIRST + 8 * width
    if any(len(data) < end for _, data in messages):
        raise NoResult(f"messages of {topic} have another layout than this tool knows; adapt columns() in {__file__}")
    numbers = np.frombuffer(b"".join(data[FIRST:end] for _, data in messages), "<f8").reshape(len(messages), width)
    times = [stamp for stamp, _ in messages]
    at = 0
    for one in fields.values():
        size = len(one["components"])
        yield one["channel"], bits_of(times, numbers[:, at : at + size] if size else numbers[:, at])
        at += max(1, size)


def state_hashes(messages: list[tuple[int, bytes]]) -> dict[str, Bits]:
    """Complete states, as far as they are JSON objects: each part by its name."""
    found: dict[str, list[tuple[int, bytes]]] = {}
    for stamp, data in messages:
        for name, text in leaves(json.loads(data[FIRST + 4 :])):
            found.setdefault(f"state: {name}", []).append((stamp, text))
    return {name: bits_of_bytes(texts) for name, texts in found.items()}


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, bytes]]:
    """Names and texts of what objects hold; lists and arrays stay whole."""
    if isinstance(value, dict) and list(value) == ["dict"]:
        value = value["dict"]
    if isinstance(value, dict) and not {"array", "scalar", "tuple", "float", "generator"} & set(value):
        for key, item in value.items():
            yield from leaves(item, f"{name}/{key}" if name else key)
    else:
        yield name, json.dumps(value, sort_keys=True).encode()


# --- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    scenario: str
    engine: str
    method: str
    settings: Mapping[str, Any]
    seconds: float | None
    """The longest that it may last; None for its own duration."""


def work(source: Path) -> None:
    """A process that runs what it is asked for."""

    def answer(botz: Any, task: dict[str, Any]) -> dict[str, Any]:
        began = time.perf_counter()
        try:
            found = run(botz, source, Task(**task))
        except Exception as error:
            found = error_of(f"{type(error).__name__}: {error}")  # one that fails must not end the others
        return {"bits": found, "seconds": time.perf_counter() - began}

    serve(source, answer)


def error_of(text: str) -> dict[str, Bits]:
    return {ERROR: bits_of_bytes([(0, text.encode())])._replace(form=text)}


def run(botz: Any, source: Path, task: Task) -> dict[str, Bits]:
    changes: dict[str, Any] = {**EVERYTHING, **task.settings, "time.method": task.method}
    with tempfile.TemporaryDirectory(prefix="botz-bits-") as folder:
        found: dict[str, Bits] = {}
        try:
            loaded = botz.load(task.scenario, overrides=changes)
            if task.seconds is not None and task.seconds < loaded.data["time"]["duration"]:
                loaded = botz.load(task.scenario, overrides={**changes, "time.duration": task.seconds})
            botz.simulate(loaded, out=folder)
        except botz.BotzError as error:
            found = error_of(str(error).replace(folder, "").replace(str(source), ""))
        recording = Path(folder) / "recording.mcap"
        if recording.exists():
            found |= hashes_of(recording, source)
    return found


# --- all runs of a package -------------------------------------------------------------------------------------------


@dataclass
class Options:
    only: str = "*"
    seconds: float | None = None
    whole: bool = False
    settings: list[str] = field(default_factory=list)
    jobs: int = 2

    def key(self) -> str:
        """What hashes depend on beside the source, without `only`."""
        text = [Path(__file__).read_text("utf-8"), self.seconds, self.whole, self.settings, platform.platform()]
        text.append(os.environ.get("NUMBA_DISABLE_JIT"))
        for package in ("numpy", "numba", "scipy", "mujoco", "mcap"):
            try:
                text.append(version(package))
            except PackageNotFoundError:
                continue
        return hashlib.sha256(repr([sys.version, *text]).encode()).hexdigest()[:12]


def asked(environment: Mapping[str, str], *words: str) -> Any:
    """What a command of Botz answers, as data."""
    done = subprocess.run(
        [sys.executable, "-m", "botz", *words], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise NoResult(f"botz {' '.join(words)} ended with exit code {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def methods_of(schema: Mapping[str, Any]) -> dict[str, list[str]]:
    """By engine: a scenario's definition names its engine, and its `time` the methods."""
    found: dict[str, list[str]] = {}
    for one in schema["$defs"].values():
        own = one.get("properties", {})
        engine, when = own.get("engine", {}).get("const"), own.get("time", {})
        reference = when.get("$ref") or next((part["$ref"] for part in when.get("allOf", ()) if "$ref" in part), None)
        if engine is None or reference is None:
            continue
        method = schema["$defs"][reference.rsplit("/", 1)[1]]["properties"].get("method", {})
        for choice in (method, *method.get("anyOf", ())):
            if "enum" in choice:
                found[engine] = list(choice["enum"])
    return found


def tasks_of(environment: Mapping[str, str], options: Options) -> list[Task]:
    scenarios = asked(environment, "list", "--json")["scenarios"]
    methods = methods_of(asked(environment, "schema"))
    given = {key: yaml.safe_load(value) for key, value in (text.split("=", 1) for text in options.settings)}
    tasks = []
    for one in scenarios:
        name, engine = one["name"], one["engine"]
        if not fnmatch.fnmatch(name, options.only):
            continue
        if engine not in methods:
            raise NoResult(f"the schema names no methods of engine {engine!r}; adapt methods_of() in {__file__}")
        settings = {**SETTINGS.get(name, {}), **given}
        seconds = None if options.whole else options.seconds or SECONDS
        tasks += [Task(name, engine, method, settings, seconds) for method in methods[engine]]
    if not tasks:
        raise NoResult(f"no scenario is called {options.only!r}; botz list names them all")
    # Processes at either end of this list meet in the middle, so that few kernels are wanted by two at once.
    return sorted(tasks, key=lambda task: task.engine)


Runs = dict[str, dict[str, dict[str, Bits]]]
"""By scenario, method and name."""


def hashed(source: Path, options: Options, cache: Path | None = None) -> Runs:
    """All runs of the package in a folder."""
    source = checked(source)
    environment = environment_of(source, cache)
    waiting, lock = deque(tasks_of(environment, options)), threading.Lock()
    results: queue.Queue[tuple[Task, dict[str, Any]] | Exception] = queue.Queue()
    noise = tempfile.TemporaryDirectory(prefix="botz-bits-")
    workers = [
        Worker(__file__, source, environment, Path(noise.name) / f"worker-{number}")
        for number in range(max(1, min(options.jobs, len(waiting))))
    ]

    def drive(number: int) -> None:
        try:
            while True:
                with lock:
                    if not waiting:
                        return
                    task = waiting.pop() if number % 2 else waiting.popleft()
                results.put((task, workers[number].ask(f"{task.scenario} with {task.method}", vars(task))))
        except Exception as error:
            results.put(error)

    threads = [threading.Thread(target=drive, args=(number,), daemon=True) for number in range(len(workers))]
    runs: Runs = {}
    count = len(waiting)
    try:
        for thread in threads:
            thread.start()
        for number in range(1, count + 1):
            result = results.get()
            if isinstance(result, Exception):
                raise result
            task, answer = result
            found = {name: Bits(*bits) for name, bits in answer["bits"].items()}
            runs.setdefault(task.scenario, {})[task.method] = found
            text = f"{len(found)} hashes in {answer['seconds']:.1f} s"
            if ERROR in found:
                text = f"{text}, ended by an error: {found[ERROR].form}"
            print(f"{number:4d}/{count} {task.scenario}, {task.method}: {text}", file=sys.stderr, flush=True)
    finally:
        with lock:
            waiting.clear()
        for worker in workers:
            worker.end()
        noise.cleanup()
    return {scenario: dict(sorted(methods.items())) for scenario, methods in sorted(runs.items())}


if __name__ == "__main__":
    work(Path(sys.argv[1]))
