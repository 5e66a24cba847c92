"""Writing a recording: rows of numbers, commands, snapshots, logs and clock into one MCAP file."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from botz.channels import Channel, ChannelTable, RosView
from botz.errors import RecordingError
from botz.record.bag_metadata import LATCHED, QOS_KEY, BagTopic, bag_metadata
from botz.record.cdr import (
    ENCAPSULATION,
    LENGTH_BEFORE_PAYLOAD,
    MESSAGE_OPCODE,
    NS,
    RECORD_HEAD,
    Layout,
    Topic,
    stamps_of,
    stepped_layout,
    string_bytes,
)
from botz.record.mcap_file import CHUNK_BYTES, LARGEST_CHUNK, McapFile
from botz.record.ros_types import DEFINITIONS, LOG_LEVELS, channel_lines, full_name, schema_text
from botz.record.ros_views import LatchedTopic, StandardTopic, latched_topics, standard_topics
from botz.record.streams import RecordingHeader, StreamSpec, field_name, unique_names
from botz.scene.robot_description import RobotDescription

RECORDING = "recording.mcap"
"""The file in the folder of a run."""
FORMAT = "1"
"""Layout of Botz's own messages and metadata; readers refuse a later one."""
HEADER_RECORD = "botz/header"
SUMMARY_RECORD = "botz/summary"
ROLE_KEY = "botz"
"""Key in a channel's metadata: JSON that says what the channel is and what its fields mean."""
RESERVED_FIELDS = ("stamp", "step", "source")
SNAPSHOT_TOPIC, CLOCK_TOPIC, LOG_TOPIC, TF_TOPIC = "/botz/snapshot", "/botz/clock", "/rosout", "/tf"
FIXED_TOPICS = ("/tf_static", "/robot_description")


class RecordingWriter:
    """One recording under construction. Rows are full rows of the channel table; the writer picks columns."""

    def __init__(
        self,
        path: Path | None,
        header: RecordingHeader,
        channels: ChannelTable,
        inputs: ChannelTable,
        streams: Sequence[StreamSpec],
        views: Sequence[RosView] = (),
        descriptions: Sequence[RobotDescription] = (),
        *,
        flush_seconds: float = 0.2,
        sync_seconds: float | None = 1.0,
    ):
        """Without a path the recording is in memory: `data` is its file once it is closed. `flush_seconds` and
        `sync_seconds` are wall time; `sync_seconds` of None leaves it to the system when data reaches the disk."""
        self.path = path
        self._step_ns = header.step_ns
        self._width = channels.width
        self._flush_seconds = flush_seconds
        self._sync_seconds = sync_seconds
        self._flushed = self._synced = time.monotonic()
        self._closed = False
        self._sequences: dict[int, int] = {}
        self._topic_names = [SNAPSHOT_TOPIC, CLOCK_TOPIC, LOG_TOPIC, TF_TOPIC, *FIXED_TOPICS]
        self._type_names: list[str] = ["Snapshot", "Clock"]
        self._file = McapFile(self.path, profile="ros2", library=f"botz {botz_version()}")
        try:
            self._file.add_metadata(HEADER_RECORD, _header_metadata(header, streams))
            self._snapshots = self._add_plain(SNAPSHOT_TOPIC, "botz_msgs/Snapshot", "snapshot")
            self._clock = self._add_plain(CLOCK_TOPIC, "botz_msgs/Clock", "clock")
            self._logs = self._add_plain(LOG_TOPIC, "rcl_interfaces/Log", "log")
            self._commands = self._add_commands(inputs)
            first_robots = {name.split("/", 1)[0] for name in streams[0].channels} if streams else set()
            topics = standard_topics(views, channels, first_robots, descriptions)
            standard = [self._add_standard(topic) for topic in topics]
            self._latched = [
                (self._add_latched(one), one) for one in latched_topics(descriptions, channels, first_robots)
            ]
            self._streams = [self._add_stream(stream, channels) for stream in streams]
            if streams:
                self._streams[0] += standard
        except BaseException:
            self._file.abandon()
            raise

    # --- the topics -----------------------------------------------------------------------------------

    def _topic_name(self, wanted: str, otherwise: str = "") -> str:
        """A topic has one type, so a name is given once; a stream called `odom` becomes `odom_stream`."""
        if wanted in self._topic_names and otherwise:
            wanted = otherwise
        [name] = unique_names([wanted], self._topic_names)
        self._topic_names.append(name)
        return name

    def _own_type(self, *parts: str) -> str:
        camel = "".join(word.capitalize() for part in parts for word in field_name(part).split("_"))
        name, number = camel, 2
        while name in self._type_names:
            name, number = f"{camel}V{number}", number + 1
        self._type_names.append(name)
        return f"botz_msgs/{name}"

    def _add_plain(self, topic: str, kind: str, role: str) -> int:
        schema = self._file.add_schema(full_name(kind), schema_text(DEFINITIONS[kind]))
        return self._file.add_channel(topic, schema, {ROLE_KEY: json.dumps({"role": role})})

    def _add_standard(self, standard: StandardTopic) -> Topic:
        schema = self._file.add_schema(full_name(standard.kind), schema_text(DEFINITIONS[standard.kind]))
        topic = standard.topic
        topic = topic if topic == TF_TOPIC else self._topic_name(topic)
        channel = self._file.add_channel(topic, schema, {ROLE_KEY: json.dumps({"role": "view"})})
        return Topic(channel, standard.layout, standard.fill)

    def _add_latched(self, latched: LatchedTopic) -> int:
        schema = self._file.add_schema(full_name(latched.kind), schema_text(DEFINITIONS[latched.kind]))
        topic = latched.topic if latched.topic in FIXED_TOPICS else self._topic_name(latched.topic)
        return self._file.add_channel(topic, schema, {ROLE_KEY: json.dumps({"role": "view"}), QOS_KEY: LATCHED})

    def _add_stream(self, stream: StreamSpec, channels: ChannelTable) -> list[Topic]:
        by_robot: dict[str, list[Channel]] = {}
        for name in dict.fromkeys(stream.channels):
            channel = channels[name]
            by_robot.setdefault(channel.robot, []).append(channel)
        topics = []
        for robot, chosen in by_robot.items():
            role = {"role": "stream", "stream": stream.name, "robot": robot, "every": stream.every}
            title = f"{robot}: stream {stream.name}, every {stream.every} steps"
            local = f"/{robot}/{field_name(stream.name)}"
            channel_id = self._add_own(
                self._topic_name(local, f"{local}_stream"), self._own_type(robot, stream.name), chosen, role, title
            )
            columns = np.concatenate([np.arange(channels.width)[channels.slice_of(c.name)] for c in chosen])
            topics.append(_columns_topic(channel_id, stepped_layout(len(columns)), columns))
        return topics

    def _add_commands(self, inputs: ChannelTable) -> dict[str, tuple[int, int]]:
        """Channel id and number of raw inputs, by robot."""
        commands = {}
        for robot in dict.fromkeys(channel.robot for channel in inputs):
            own = inputs.of_robot(robot)
            title = f"{robot}: raw inputs, applied just before the step is taken"
            kind = self._own_type(robot, "command")
            topic = self._topic_name(f"/{robot}/command")
            extra = ["# who commanded", "string source"]
            channel_id = self._add_own(topic, kind, own, {"role": "command", "robot": robot}, title, extra)
            commands[robot] = (channel_id, sum(channel.size for channel in own))
        return commands

    def _add_own(
        self,
        topic: str,
        kind: str,
        chosen: Sequence[Channel],
        role: Mapping[str, object],
        title: str,
        extra: Sequence[str] = (),
    ) -> int:
        names = unique_names((field_name(channel.local_name) for channel in chosen), RESERVED_FIELDS)
        fields = {
            name: {
                "channel": channel.name,
                "unit": channel.unit,
                "components": list(channel.components),
                "description": channel.description,
            }
            for name, channel in zip(names, chosen, strict=True)
        }
        lines = channel_lines(list(zip(names, chosen, strict=True)), title) + list(extra)
        schema = self._file.add_schema(full_name(kind), schema_text(lines))
        return self._file.add_channel(topic, schema, {ROLE_KEY: json.dumps({**role, "fields": fields})})

    # --- what happens during a run --------------------------------------------------------------------

    def write_rows(self, stream: int, steps: np.ndarray, rows: np.ndarray) -> None:
        """Rows (k, channels.width) of stream number `stream`, taken after `steps` (k)."""
        steps = np.asarray(steps, np.int64)
        rows = np.asarray(rows, np.float64)
        if rows.shape != (len(steps), self._width):
            raise ValueError(f"rows have shape {rows.shape}, expected {(len(steps), self._width)}")
        topics = self._streams[stream]
        if not topics:
            return
        if self._latched and len(steps):
            self._write_latched(steps[:1])
        # Blocks of about one chunk keep a long batch in bounded memory and all topics near in time. All topics
        # of a block share a chunk, so that a file cut short has the same steps for every robot.
        block = max(1, CHUNK_BYTES // sum(topic.size for topic in topics))
        for start in range(0, len(steps), block):
            part = slice(start, start + block)
            times = steps[part] * self._step_ns
            stamps = stamps_of(times)
            for topic in topics:
                records = topic.compose(steps[part], times, stamps, rows[part])
                self._file.add_records(topic.channel_id, times, records)
            if self._file.pending >= CHUNK_BYTES:
                self.flush()
        self.flush_if_due()

    def _write_latched(self, first: np.ndarray) -> None:
        """Once, at the time of the first row."""
        times = first * self._step_ns
        for channel_id, latched in self._latched:
            topic = Topic(channel_id, latched.layout, lambda records, rows: None)
            records = topic.compose(first, times, stamps_of(times), np.empty((1, 0)))
            self._file.add_records(channel_id, times, records)
        self._latched = []

    def write_command(self, step: int, robot: str, values: np.ndarray, source: str) -> None:
        """Raw inputs of `robot`, applied just before step `step` is taken."""
        channel_id, width = self._commands[robot]
        values = np.asarray(values, "<f8")
        if values.shape != (width,):
            raise ValueError(f"inputs of {robot!r} have shape {values.shape}, expected {(width,)}")
        self._write_one(channel_id, step, struct.pack("<Q", step) + values.tobytes() + string_bytes(source))

    def write_snapshot(self, step: int, data: bytes) -> None:
        if len(data) > LARGEST_CHUNK // 2:
            raise RecordingError(f"{self.path or 'memory'}: a snapshot of {len(data)} bytes is too large to record")
        self._write_one(self._snapshots, step, struct.pack("<QI", step, len(data)) + data)

    def write_log(self, step: int, level: str, text: str) -> None:
        """A line of the run's log; levels are debug, info, warning, error and fatal."""
        layout = Layout().stamp().constant("B", LOG_LEVELS[level])
        layout.string("botz").string(text).string("").string("").constant("I", 0)
        self._write_one(self._logs, step, bytes(layout.template[len(ENCAPSULATION) + 8 :]))

    def write_clock(self, step: int, wall_ns: int, lateness_s: float) -> None:
        self._write_one(self._clock, step, struct.pack("<Qqd", step, wall_ns, lateness_s))

    def _write_one(self, channel_id: int, step: int, after_stamp: bytes) -> None:
        time_ns = int(step) * self._step_ns
        sequence = self._sequences.get(channel_id, 0)
        self._sequences[channel_id] = sequence + 1
        seconds, nanoseconds = divmod(time_ns, NS)
        payload = ENCAPSULATION + struct.pack("<II", seconds & 0x7FFFFFFF, nanoseconds) + after_stamp
        length = LENGTH_BEFORE_PAYLOAD + len(payload)
        head = RECORD_HEAD.pack(MESSAGE_OPCODE, length, channel_id, sequence & 0xFFFFFFFF, time_ns, time_ns)
        self._file.add_record(channel_id, time_ns, head + payload)
        if self._file.pending >= CHUNK_BYTES:
            self.flush()
        else:
            self.flush_if_due()

    # --- getting it to the disk -----------------------------------------------------------------------

    def flush_if_due(self) -> None:
        """Flush when the last flush is `flush_seconds` of wall time ago. Call it also when nothing is written."""
        if time.monotonic() - self._flushed >= self._flush_seconds:
            self.flush()

    def flush(self) -> None:
        """Everything given so far is readable even if the process is killed now; after a sync, once every
        `sync_seconds`, even if the power fails."""
        self._flushed = time.monotonic()
        self._file.close_chunk()
        if self._sync_seconds is not None and self._flushed - self._synced >= self._sync_seconds:
            self._synced = self._flushed
            self._file.sync()

    def bag_metadata(self) -> str:
        """The text of rosbag2's metadata.yaml, of everything flushed."""
        topics = [
            BagTopic(channel.topic, kind, messages, channel.metadata.get(QOS_KEY, ""))
            for channel, kind, messages in self._file.topics()
        ]
        return bag_metadata(self.path.name if self.path is not None else RECORDING, topics, *self._file.span_ns)

    @property
    def data(self) -> bytes:
        """The file of a recording in memory, once it is closed."""
        return self._file.data

    def close(self, summary: Mapping[str, str]) -> None:
        """Write the summary and the end of the file. After a write error it only closes the file."""
        if self._closed:
            return
        self._closed = True
        try:
            if not self._file.failure:
                self._file.add_metadata(SUMMARY_RECORD, summary)
                self._file.finish(sync=self._sync_seconds is not None)
        finally:
            self._file.abandon()


def botz_version() -> str:
    try:
        return version("botz")
    except PackageNotFoundError:
        return "unknown"


def _columns_topic(channel_id: int, layout: Layout, columns: np.ndarray) -> Topic:
    # A run of neighbouring columns is taken as a view.
    contiguous = bool(np.all(np.diff(columns) == 1))
    chosen = slice(int(columns[0]), int(columns[-1]) + 1) if contiguous else columns

    def fill(records: np.ndarray, rows: np.ndarray) -> None:
        records["values"] = rows[:, chosen]

    return Topic(channel_id, layout, fill)


def _header_metadata(header: RecordingHeader, streams: Sequence[StreamSpec]) -> dict[str, str]:
    return {
        "format": FORMAT,
        "scenario_name": header.scenario_name,
        "engine": header.engine,
        "seed": str(header.seed),
        "step_ns": str(header.step_ns),
        "info": json.dumps(header.info),
        "streams": json.dumps([{"name": s.name, "every": s.every, "channels": list(s.channels)} for s in streams]),
        "scenario": json.dumps(header.scenario),
    }
