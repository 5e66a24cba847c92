"""Reading a recording back: NumPy arrays by channel name, whole or cut short. Reading never executes anything."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from botz.channels import Channel, ChannelTable
from botz.errors import BotzError, InputError, Problem
from botz.record.bag_metadata import BAG_METADATA
from botz.record.description import DAMAGE, fields_of, header_of, streams_of
from botz.record.mcap_scan import Contents, read_chunks, scan
from botz.record.messages import ByteTopic, ClockTopic, CommandTopic, OwnTopic, parse_logs
from botz.record.poses import Poses, poses_of
from botz.record.ros_types import LOG_LEVEL_NAMES
from botz.record.streams import DEFAULT_STREAM, StreamSpec, column_names, component_units
from botz.record.whole_file import whole_file
from botz.record.writer import RECORDING, ROLE_KEY, SUMMARY_RECORD
from botz.registry import imported
from botz.scenario import library
from botz.scenario.names import closest

if TYPE_CHECKING:
    import pandas
    import pyarrow

VIEWER = "botz.view.replay_view:show"
SUMMARY_VIEW = "botz.view.notebook:recording_html"
"""What shows a recording, and its summary in a notebook: names, since reading needs no viewer."""


def read(path: str | Path) -> Recording:
    """Open a recording: an .mcap file, or the folder of a run that holds `recording.mcap`.

    Raises InputError for what is not there or no recording. One that is cut short can be read up to there.

    >>> file = rec.save("run")
    >>> botz.read("run")
    <Recording run/recording.mcap of 'differential-circle', ... channels>
    """
    path = Path(path)
    if path.is_dir():
        if not (path / RECORDING).is_file():
            raise InputError(Problem(f"the folder holds no {RECORDING}", file=path))
        path = path / RECORDING
    elif path.suffix.lower() in (".yaml", ".yml") and path.is_file():
        raise InputError(Problem(f"is no recording but a scenario or a robot; {run_first(str(path))}", file=path))
    elif not path.exists():
        raise InputError(Problem(f"no such file{never_run(path)}", file=path))
    return Recording(scan(path))


def never_run(path: Path) -> str:
    """What to do where a scenario was named instead of a recording."""
    name = str(path)
    beside = next((f"{name}{suffix}" for suffix in (".yaml", ".yml") if Path(f"{name}{suffix}").is_file()), None)
    if beside is not None or name in library.names("scenario"):
        scenario = beside or name
        return f"; {scenario!r} is a scenario: {run_first(scenario)}"
    return ""


def run_first(scenario: str) -> str:
    return f"run it first (botz run {scenario} --out FOLDER), then name that folder"


class Recording:
    """A recorded run, from `simulate` or `read`. The description is read at once; numbers are read on first use and
    then kept.

    It is indexed by a channel's name: values are (k,) for a number and (k, components) for a vector, in SI. It can be
    iterated over, and `in` asks for a name. An unknown name raises InputError.

    >>> rec["rover/pose"].shape, "rover/pose" in rec, list(rec)[:2]
    ((101, 3), True, ['rover/pose', 'rover/twist'])
    >>> rec.duration, rec.rates["rover/pose"], rec.complete
    (1.0, 100.0, True)
    """

    def __init__(self, contents: Contents):
        self._contents = contents
        self.file = contents.file
        """Where it lies; None for one in memory."""
        self.summary: dict[str, str] = contents.metadata.get(SUMMARY_RECORD, {})
        """What the run came to, as text by name."""
        self.header = header_of(contents)
        """What the run was: scenario, seed, length of a step, versions."""
        try:
            self._describe()
        except DAMAGE as error:
            raise InputError(
                Problem("not a recording that Botz can read: damaged description", file=self.file)
            ) from error

    def _describe(self) -> None:
        self.streams: tuple[StreamSpec, ...] = streams_of(self._contents)
        """What was recorded together, at one rate."""
        self._topics: dict[int, OwnTopic] = {}
        self._commands: dict[str, CommandTopic] = {}
        self._bytes: dict[str, ByteTopic] = {}
        self._clock = ClockTopic()
        for channel_id, channel in self._contents.channels.items():
            about = json.loads(channel.metadata.get(ROLE_KEY, "{}"))
            match about.get("role"):
                case "stream":
                    stream_name, every = str(about["stream"]), max(1, int(about["every"]))
                    self._topics[channel_id] = OwnTopic(
                        "stream", fields_of(about), robot=str(about["robot"]), stream=stream_name, every=every
                    )
                case "command":
                    command = CommandTopic("command", fields_of(about), robot=str(about["robot"]))
                    self._topics[channel_id] = self._commands[command.robot] = command
                case "clock":
                    self._topics[channel_id] = self._clock
                case "snapshot" | "log" as role:
                    self._topics[channel_id] = self._bytes[role] = ByteTopic(role)
        self._by_stream = {
            stream.name: [t for t in self._topics.values() if t.role == "stream" and t.stream == stream.name]
            for stream in self.streams
        }
        # The fastest stream that has a channel speaks for it.
        self._home: dict[str, OwnTopic] = {}
        for stream in sorted(self.streams, key=lambda stream: stream.every):
            for topic in self._by_stream[stream.name]:
                for channel_ in topic.channels:
                    self._home.setdefault(channel_.name, topic)
        order = dict.fromkeys(c.name for s in self.streams for t in self._by_stream[s.name] for c in t.channels)
        tables = {channel_.name: channel_ for topic in self._home.values() for channel_ in topic.channels}
        self.channels = ChannelTable([tables[name] for name in order])
        """The recorded channels, with unit and description."""
        self.inputs = ChannelTable([channel_ for topic in self._commands.values() for channel_ in topic.channels])
        """The recorded raw commands."""

    # --- the description ------------------------------------------------------------------------------

    @property
    def scenario(self) -> dict[str, Any]:
        """The complete scenario as plain numbers, text, lists and mappings."""
        return self.header.scenario

    @property
    def seed(self) -> int:
        """The seed of the random numbers."""
        return self.header.seed

    @property
    def step_ns(self) -> int:
        """Length of a step [ns]."""
        return self.header.step_ns

    @property
    def rates(self) -> dict[str, float]:
        """Samples a simulated second [Hz], by channel."""
        return {name: 1e9 / (topic.every * self.step_ns) for name, topic in self._home.items()}

    @property
    def complete(self) -> bool:
        """Whether the run closed its recording and nothing in it is damaged."""
        return not self.problem

    @cached_property
    def problem(self) -> str:
        """Why the recording is incomplete, and up to when it could be read; empty when it is whole."""
        trouble = self._loaded
        if not trouble:
            return ""
        until = f"read up to t = {self.duration:.6g} s" if self._last_step >= 0 else "nothing was recorded before"
        return f"{trouble}; {until}"

    @property
    def duration(self) -> float:
        """Simulated time of the last thing recorded [s]; of a recording that is cut short, of its last state."""
        self._load()
        return max(0, self._last_step) * self.step_ns / 1e9

    # --- the numbers ----------------------------------------------------------------------------------

    @cached_property
    def _loaded(self) -> str:
        """Reads all chunks, once; what is wrong with the file."""

        def take(data: bytes, offsets: dict[int, np.ndarray]) -> None:
            for channel_id, places in offsets.items():
                if channel_id in self._topics:
                    self._topics[channel_id].take(data, places)

        try:
            trouble = read_chunks(self._contents, take)
        except OSError as error:
            raise InputError(Problem(f"cannot be read: {error.strerror or error}", file=self.file)) from error
        for topic in self._topics.values():
            topic.finish()
        return trouble

    def _load(self) -> None:
        self._loaded  # noqa: B018  reading it fills the topics

    @cached_property
    def _last_step(self) -> int:
        cut = bool(self._loaded)
        last = {"stream": -1}
        for topic in self._topics.values():
            if len(topic.steps):
                last[topic.role] = max(last.get(topic.role, -1), int(topic.steps.max()))
        if cut and last["stream"] >= 0:
            # Commands and complete states are written before the states of the same time.
            return last["stream"]
        return max([*last.values(), *(step for step, _, _ in self.logs())])

    def _topic(self, name: str | None) -> OwnTopic:
        self._load()
        if name is None:
            for topic in self._home.values():
                if topic.stream == (self.streams[0].name if self.streams else ""):
                    return topic
            raise InputError(Problem("the recording has no channels", file=self.file))
        if name not in self._home:
            raise InputError(Problem(f"unknown channel {name!r}{closest(name, self._home)}", file=self.file))
        return self._home[name]

    def __getitem__(self, name: str) -> np.ndarray:
        """Values of a channel: (k,) for a number, (k, components) for a vector."""
        topic = self._topic(name)
        columns = topic.values[:, topic.columns[name]]
        return columns.copy() if self.channels[name].components else columns[:, 0].copy()

    def __iter__(self) -> Iterator[str]:
        """Names of the recorded channels."""
        return iter(self.channels.slices)

    def __len__(self) -> int:
        return len(self.channels)

    def __contains__(self, name: object) -> bool:
        return name in self._home

    def __repr__(self) -> str:
        where = self.file or "in memory"
        return f"<Recording {where} of {self.header.scenario_name!r}, {len(self.channels)} channels>"

    @property
    def label(self) -> str:
        """What to call it in messages: its file, or the name of its scenario."""
        return str(self.file) if self.file is not None else f"the run of {self.header.scenario_name}"

    @property
    def path(self) -> Path:
        """The file of a recording that lies on the disk."""
        if self.file is None:
            raise InputError("this recording is in memory only; write it with save(FOLDER) first")
        return self.file

    def save(self, out: str | Path, *, overwrite: bool = False) -> Path:
        """Write it to a folder, as a run leaves it, or to a file that ends in `.mcap`; returns the file. Raises
        InputError where there is one already, unless `overwrite` is true, and where it cannot be written.

        >>> rec.save("circle.mcap").name
        'circle.mcap'
        """
        out = Path(out)
        single = out.suffix.lower() == ".mcap"
        file = out if single else out / RECORDING
        bag = self._contents.bag or self._bag_beside()
        beside = [] if single or not bag else [out / BAG_METADATA]
        for taken in [file, *beside] if not overwrite else ():
            if os.path.lexists(taken):
                raise InputError(f"{taken} exists already; choose another place, or say overwrite=True")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with self._contents.open() as source, whole_file(file) as unfinished, unfinished.open("wb") as target:
                shutil.copyfileobj(source, target)
            for path in beside:
                path.write_text(bag, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{file}: cannot be written: {error.strerror or error}") from error
        return file

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Its file, for other processes; one in memory gets a passing one. To be used by `with`.

        >>> with rec.on_disk() as file:
        ...     file.exists()
        True
        """
        if self.file is not None:
            yield self.file
            return
        with TemporaryDirectory(prefix="botz-") as folder:
            yield self.save(Path(folder) / RECORDING)

    def _bag_beside(self) -> str:
        """The metadata of rosbag2 in the run's folder."""
        try:
            return (self.path.parent / BAG_METADATA).read_text(encoding="utf-8") if self.file is not None else ""
        except (OSError, UnicodeDecodeError):
            return ""

    def pose(self, name: str) -> Poses:
        """Position and attitude of a robot (of an arm: of its tool) or of a channel that is a pose: one shape for all
        families. Raises InputError for an unknown name.

        >>> rec.pose("rover").position[-1].round(3)
        array([ 0.479, -0.878,  0.   ])
        """
        channels = [name, f"{name}/pose", f"{name}/tool/pose"]
        channel = next(
            (one for one in channels if one in self and self.channels[one].components[:2] == ("x", "y")), None
        )
        if channel is None:
            known = {one.robot for one in self.channels} | {
                one.name for one in self.channels if one.name.endswith("pose")
            }
            raise InputError(Problem(f"no robot or pose {name!r}{closest(name, known)}", file=self.file))
        return poses_of(self.time(channel), self[channel])

    def steps(self, name: str | None = None) -> np.ndarray:
        """Step numbers of a channel's samples; of the first stream's without a name. Raises InputError for an unknown
        name.

        >>> rec.steps("rover/pose")[:3]
        array([ 0, 10, 20])
        """
        return self._topic(name).steps.copy()

    def time(self, name: str | None = None) -> np.ndarray:
        """Simulated times of a channel's samples [s]; of the first stream's without a name. Raises InputError for an
        unknown name.

        >>> rec.time()[:3]
        array([0.  , 0.01, 0.02])
        """
        return self._topic(name).steps * self.step_ns / 1e9

    def commands(self, robot: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Raw inputs of a robot: steps (k), values (k, inputs), and who gave them. Raises InputError for an unknown
        robot.

        >>> steps, values, sources = rec.commands("rover")
        >>> steps, values.shape, sources
        (array([0]), (1, 2), ['circle'])
        """
        if robot not in self._commands:
            raise InputError(Problem(f"no commands of {robot!r}{closest(robot, self._commands)}", file=self.file))
        self._load()
        topic = self._commands[robot]
        return topic.steps.copy(), topic.values.copy(), list(topic.sources)

    def snapshots(self) -> list[tuple[int, bytes]]:
        """Step and complete state, in order, for `Simulation.restore` and `simulate(…, start=…)`.

        >>> step, state = rec.snapshots()[0]
        >>> step, type(state)
        (0, <class 'bytes'>)
        """
        self._load()
        found = []
        for _, payload in self._bytes["snapshot"].payloads if "snapshot" in self._bytes else []:
            step, size = int.from_bytes(payload[12:20], "little"), int.from_bytes(payload[20:24], "little")
            if len(payload) >= 24 + size:
                found.append((step, payload[24 : 24 + size]))
        return found

    def logs(self) -> list[tuple[int, str, str]]:
        """Step, level and text of each message, in order.

        >>> rec.logs()
        []
        """
        self._load()
        payloads = self._bytes["log"].payloads if "log" in self._bytes else []
        return [
            (time_ns // self.step_ns, LOG_LEVEL_NAMES.get(level, str(level)), text)
            for time_ns, level, text in parse_logs(payloads)
        ]

    def clock(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steps (k), wall-clock times (k) [ns since 1970] and lateness (k) [s].

        >>> steps, wall, lateness = rec.clock()
        >>> len(steps) == len(wall) == len(lateness)
        True
        """
        self._load()
        return self._clock.steps.copy(), self._clock.wall.copy(), self._clock.lateness.copy()

    # --- tables ---------------------------------------------------------------------------------------

    def table(self, stream: str = DEFAULT_STREAM) -> tuple[np.ndarray, list[tuple[Channel, np.ndarray]]]:
        """Times (k) [s] and, for each channel of a stream, its values (k, size). Raises InputError for an unknown
        stream.

        >>> times, columns = rec.table()
        >>> channel, values = columns[0]
        >>> channel.name, values.shape
        ('rover/pose', (101, 3))
        """
        if stream not in self._by_stream:
            raise InputError(Problem(f"unknown stream {stream!r}{closest(stream, self._by_stream)}", file=self.file))
        self._load()
        topics = self._by_stream[stream]
        count = min((len(topic.steps) for topic in topics), default=0)
        times = topics[0].steps[:count] * self.step_ns / 1e9 if topics else np.zeros(0)
        return times, [(c, topic.values[:count, topic.columns[c.name]]) for topic in topics for c in topic.channels]

    def to_arrow(self, stream: str = DEFAULT_STREAM) -> pyarrow.Table:
        """A stream as an Arrow table: `time` [s] and columns as `vivi/pose.x`, units in the fields' metadata. Raises
        InputError for an unknown stream.

        >>> rec.to_arrow().column_names[:3]
        ['time', 'rover/pose.x', 'rover/pose.y']
        """
        import pyarrow

        times, columns = self.table(stream)
        fields = [pyarrow.field("time", pyarrow.float64(), metadata={"unit": "s", "description": "simulated time"})]
        arrays = [pyarrow.array(times)]
        for channel, values in columns:
            for name, unit, column in zip(column_names(channel), component_units(channel), values.T, strict=True):
                about = {"unit": unit, "description": channel.description}
                fields.append(pyarrow.field(name, pyarrow.float64(), metadata=about))
                arrays.append(pyarrow.array(np.ascontiguousarray(column)))
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))

    def to_pandas(self, stream: str = DEFAULT_STREAM) -> pandas.DataFrame:
        """A stream as a data frame: index `time` [s], columns as `vivi/pose.x`. Raises InputError for an unknown
        stream, BotzError where pandas is not installed.

        >>> float(rec.to_pandas()["rover/pose.y"].iloc[0])
        -1.0
        """
        try:
            import pandas
        except ImportError:
            raise BotzError("to_pandas() needs pandas, which is not installed: pip install 'botz[pandas]'") from None
        times, columns = self.table(stream)
        data = {n: col for c, values in columns for n, col in zip(column_names(c), values.T, strict=True)}
        return pandas.DataFrame(data, index=pandas.Index(times, name="time"))

    # --- a look at it ---------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        text: str = imported(SUMMARY_VIEW)(self)
        return text

    def show(self, *, rate: float = 60.0, height: int = 520) -> Any:
        """Replay it in 3D: inline in a notebook, as the last line of a cell; otherwise in the browser, from a temporary
        file.

        `rate` is how many rows a second are shown, `height` that of the frame in a notebook [px]. Returns an object
        with the page's text as `page` and, outside of notebooks, its file as `path`.

        >>> shown = rec.show(rate=30.0)  # doctest: +SKIP
        """
        return imported(VIEWER)(self, rate=rate, height=height)
