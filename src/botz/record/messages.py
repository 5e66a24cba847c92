"""Messages of Botz's own, gathered chunk by chunk and put together as arrays."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from botz.channels import Channel
from botz.record.cdr import LENGTH_BEFORE_PAYLOAD, RECORD_HEAD, Layout, stepped_layout
from botz.record.mcap_scan import records_at


@dataclass
class OwnTopic:
    """Stamp, step and float64 numbers in messages of one size."""

    role: str
    channels: tuple[Channel, ...] = ()
    robot: str = ""
    stream: str = ""
    every: int = 1

    def __post_init__(self) -> None:
        self.columns: dict[str, slice] = {}
        at = 0
        for channel in self.channels:
            self.columns[channel.name] = slice(at, at + channel.size)
            at += channel.size
        self.dtype = self._layout(at).record_dtype()
        self.steps = np.zeros(0, np.int64)
        self.values = np.zeros((0, at))
        self._steps: list[np.ndarray] = []
        self._values: list[np.ndarray] = []

    def _layout(self, values: int) -> Layout:
        return stepped_layout(values)

    def take(self, data: bytes, offsets: np.ndarray) -> None:
        """Messages of one unpacked chunk; those that are too short for the topic are left out."""
        self._take_fixed(data, self._long_enough(data, offsets))

    def _long_enough(self, data: bytes, offsets: np.ndarray) -> np.ndarray:
        return offsets[_lengths(data, offsets) + 9 >= self.dtype.itemsize]

    def _take_fixed(self, data: bytes, offsets: np.ndarray) -> None:
        records = records_at(data, offsets, self.dtype)
        self._steps.append(records["step"].astype(np.int64))
        if self.channels:
            self._values.append(records["values"].astype(np.float64))

    def finish(self) -> None:
        """All chunks are in: one array of each."""
        if self._steps:
            self.steps = np.concatenate(self._steps)
        if self._values:
            self.values = np.concatenate(self._values)
        self._steps, self._values = [], []


@dataclass
class CommandTopic(OwnTopic):
    """The same with a string at the end."""

    sources: list[str] = field(default_factory=list)

    def take(self, data: bytes, offsets: np.ndarray) -> None:
        offsets = self._long_enough(data, offsets)
        self._take_fixed(data, offsets)
        sources = np.empty(len(offsets), object)
        lengths = _lengths(data, offsets)
        # Few commanders give most commands: equal lengths are read together, equal bytes decoded once.
        for length in np.unique(lengths):
            chosen = np.flatnonzero(lengths == length)
            size = int(length) + 9 - self.dtype.itemsize
            if size <= 5:
                sources[chosen] = ""
                continue
            tails = records_at(data, offsets[chosen] + self.dtype.itemsize, np.dtype(f"V{size}"))
            distinct, which = np.unique(tails, return_inverse=True)
            names = np.array([tail.tobytes()[4:-1].decode("utf-8", "replace") for tail in distinct], object)
            sources[chosen] = names[which]
        self.sources += sources.tolist()


@dataclass
class ClockTopic(OwnTopic):
    """Wall-clock time and lateness of steps."""

    role: str = "clock"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.wall = np.zeros(0, np.int64)
        self.lateness = np.zeros(0)
        self._records: list[np.ndarray] = []

    def _layout(self, values: int) -> Layout:
        return stepped_layout(values).field("wall", "<i8").field("lateness", "<f8")

    def _take_fixed(self, data: bytes, offsets: np.ndarray) -> None:
        super()._take_fixed(data, offsets)
        self._records.append(records_at(data, offsets, self.dtype))

    def finish(self) -> None:
        super().finish()
        if self._records:
            records = np.concatenate(self._records)
            self.wall, self.lateness = records["wall"].astype(np.int64), records["lateness"].astype(np.float64)
        self._records = []


@dataclass
class ByteTopic(OwnTopic):
    """Messages whose payload is kept as bytes."""

    payloads: list[tuple[int, bytes]] = field(default_factory=list)
    """Time [ns] and payload."""

    def take(self, data: bytes, offsets: np.ndarray) -> None:
        for at, length in zip(offsets.tolist(), _lengths(data, offsets).tolist(), strict=True):
            payload = data[at + RECORD_HEAD.size : at + 9 + length]
            self.payloads.append((int.from_bytes(data[at + 15 : at + 23], "little"), payload))
            if self.role == "snapshot" and len(payload) >= 20:
                self._steps.append(np.frombuffer(payload, "<u8", 1, 12).astype(np.int64))


def _lengths(data: bytes, offsets: np.ndarray) -> np.ndarray:
    heads = np.dtype({"names": ["length"], "formats": ["<u8"], "offsets": [1], "itemsize": 9})
    lengths = records_at(data, offsets, heads)["length"].astype(np.int64)
    return np.maximum(lengths, LENGTH_BEFORE_PAYLOAD)


def parse_logs(payloads: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, int, str]]:
    """Time [ns], level and text of rcl_interfaces/Log messages; damaged ones are left out."""
    for time_ns, payload in payloads:
        try:
            [level] = struct.unpack_from("<B", payload, 12)
            at = 16
            [size] = struct.unpack_from("<I", payload, at)
            at += 4 + size
            at += -at % 4
            [size] = struct.unpack_from("<I", payload, at)
            text = payload[at + 4 : at + 4 + size - 1].decode("utf-8", "replace")
        except struct.error:
            continue
        yield time_ns, level, text
