"""Messages of constant size in CDR, the wire format of ROS 2: laid out once, filled in bulk.

A `Layout` is the payload of one message as constant bytes (strings, counts, covariances) with numeric fields
at known offsets. `record_dtype` puts the MCAP message record in front, so that k messages are one NumPy array
whose bytes go into a chunk as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

ENCAPSULATION = b"\x00\x01\x00\x00"
"""CDR, little endian."""
MESSAGE_OPCODE = 5
RECORD_HEAD = struct.Struct("<BQHIQQ")
"""Opcode, length, channel id, sequence, log time, publish time: what precedes each payload."""
RECORD_FIELDS = {
    "opcode": ("u1", 0),
    "length": ("<u8", 1),
    "channel": ("<u2", 9),
    "sequence": ("<u4", 11),
    "log_time": ("<u8", 15),
    "publish_time": ("<u8", 23),
}
LENGTH_BEFORE_PAYLOAD = 22
"""Bytes that the record's length counts before the payload."""
NS = 1_000_000_000

Fill = Callable[[np.ndarray, np.ndarray], None]
"""Writes numbers of full channel rows (k, width) into message records (k)."""


class Layout:
    """The payload of a message whose size does not change."""

    def __init__(self) -> None:
        self.template = bytearray(ENCAPSULATION)
        self.fields: dict[str, tuple[str, int]] = {}
        self.stamps: list[str] = []

    def _align(self, size: int) -> None:
        self.template += bytes(-(len(self.template) - len(ENCAPSULATION)) % size)

    def constant(self, code: str, *values: float) -> Layout:
        """Numbers of one struct code (`I`, `d`, …) that never change."""
        for value in values:
            self._align(struct.calcsize("<" + code))
            self.template += struct.pack("<" + code, value)
        return self

    def string(self, text: str) -> Layout:
        data = text.encode("utf-8", "replace") + b"\0"
        self.constant("I", len(data))
        self.template += data
        return self

    def field(self, name: str, code: str, count: int = 0) -> Layout:
        """A field to be filled: a number, or `count` > 0 of them side by side."""
        dtype = np.dtype(code)
        self._align(dtype.itemsize)
        self.fields[name] = (f"({count},){code}" if count else code, len(self.template))
        self.template += bytes(dtype.itemsize * max(1, count))
        return self

    def stamp(self) -> Layout:
        """A builtin_interfaces/Time: seconds and nanoseconds, filled from the step."""
        name = f"stamp_{len(self.stamps)}"
        self._align(4)
        self.stamps.append(name)
        return self.field(name, "<u4", 2)

    def header(self, frame: str) -> Layout:
        """A std_msgs/Header."""
        return self.stamp().string(frame)

    def record_dtype(self) -> np.dtype:
        """The whole MCAP message record as a structured type."""
        shift = RECORD_HEAD.size
        fields = RECORD_FIELDS | {name: (code, shift + at) for name, (code, at) in self.fields.items()}
        return np.dtype(
            {
                "names": list(fields),
                "formats": [code for code, _ in fields.values()],
                "offsets": [at for _, at in fields.values()],
                "itemsize": shift + len(self.template),
            }
        )


def stepped_layout(values: int) -> Layout:
    """Stamp, step and float64 numbers: every message of Botz's own begins so, without any padding."""
    layout = Layout().stamp().field("step", "<u8")
    return layout.field("values", "<f8", values) if values else layout


def stamps_of(times_ns: np.ndarray) -> np.ndarray:
    """Seconds and nanoseconds (k, 2). Seconds have 32 bits in ROS: they start again after 68 years."""
    stamps = np.empty((len(times_ns), 2), "<u4")
    stamps[:, 0] = times_ns // NS & 0x7FFFFFFF
    stamps[:, 1] = times_ns % NS
    return stamps


class Topic:
    """A channel of the file whose messages all have one size, with the function that fills them."""

    def __init__(self, channel_id: int, layout: Layout, fill: Fill):
        self.channel_id = channel_id
        self.dtype = layout.record_dtype()
        self.size = self.dtype.itemsize
        self._layout = layout
        self._fill = fill
        self._sequence = 0
        length = LENGTH_BEFORE_PAYLOAD + len(layout.template)
        head = RECORD_HEAD.pack(MESSAGE_OPCODE, length, channel_id, 0, 0, 0)
        self._template = bytearray(head) + layout.template

    def compose(self, steps: np.ndarray, times_ns: np.ndarray, stamps: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The message records (k) of `rows`."""
        records = np.frombuffer(self._template * len(steps), self.dtype)
        records["sequence"] = np.arange(self._sequence, self._sequence + len(steps)) & 0xFFFFFFFF
        records["log_time"] = times_ns
        records["publish_time"] = times_ns
        for name in self._layout.stamps:
            records[name] = stamps
        if "step" in self._layout.fields:
            records["step"] = steps
        self._fill(records, rows)
        self._sequence += len(steps)
        return records


def string_bytes(text: str) -> bytes:
    """A CDR string that starts at a multiple of four bytes."""
    data = text.encode("utf-8", "replace") + b"\0"
    return struct.pack("<I", len(data)) + data
