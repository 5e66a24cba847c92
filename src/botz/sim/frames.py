"""How rows, commands and notes travel through the ring, from the physics process to the recorder."""

from __future__ import annotations

import json
import struct

import numpy as np

from botz.sim.loop import Sink
from botz.sim.shared_memory import Segment

ROWS, COMMAND, SNAPSHOT, LOG, CLOCK = range(5)
_HEAD = struct.Struct("<BIQ")
"""Kind, a number (stream, or length of the text in front), count or step."""


COMMAND_WAIT = 1.0
"""A run without one of its commands cannot be replayed: for those even a real-time run waits this long [s]."""

TOO_LARGE = (
    "complete states are no longer recorded: this one has {:.1f} MB, too much for the ring; a controller that keeps a "
    "history can leave it out with a snapshot() of its own"
)


class RingSink:
    """A sink that packs what it is given into the ring. `wait` is how long a full ring may hold up the physics [s]."""

    def __init__(self, segment: Segment, wait: float):
        self.segment = segment
        self.wait = wait
        self._too_large = False

    def write_rows(self, stream: int, steps: np.ndarray, rows: np.ndarray) -> None:
        # Half the ring at most, so that a long block does not need an empty one.
        most = max(1, self.segment.ring.size // 2 // (8 * (rows.shape[1] + 1)))
        for start in range(0, steps.size, most):
            part = slice(start, start + most)
            head = _HEAD.pack(ROWS, stream, steps[part].size)
            self.segment.push(head + steps[part].tobytes() + rows[part].tobytes(), wait=self.wait)

    def write_command(self, step: int, robot: str, values: np.ndarray, source: str) -> None:
        text = json.dumps([robot, source]).encode()
        frame = _HEAD.pack(COMMAND, len(text), step) + text + values.tobytes()
        self.segment.push(frame, wait=max(self.wait, COMMAND_WAIT))

    def write_snapshot(self, step: int, data: bytes) -> None:
        if len(data) > self.segment.ring.size // 2:
            if not self._too_large:
                self._too_large = True
                self.write_log(step, "warning", TOO_LARGE.format(len(data) / 1e6))
            return
        self.segment.push(_HEAD.pack(SNAPSHOT, 0, step) + data, wait=self.wait)

    def write_log(self, step: int, level: str, text: str) -> None:
        data = json.dumps([level, text]).encode()
        self.segment.push(_HEAD.pack(LOG, len(data), step) + data, wait=self.wait)

    def write_clock(self, step: int, wall_ns: int, lateness_s: float) -> None:
        self.segment.push(_HEAD.pack(CLOCK, 0, step) + struct.pack("<qd", wall_ns, lateness_s), wait=self.wait)


def deliver(frame: bytes, width: int, sink: Sink) -> None:
    """Unpack one frame and hand it to the recorder."""
    kind, number, count = _HEAD.unpack_from(frame)
    body = memoryview(frame)[_HEAD.size :]
    if kind == ROWS:
        steps = np.frombuffer(body[: 8 * count], dtype=np.int64)
        sink.write_rows(number, steps, np.frombuffer(body[8 * count :], dtype=np.float64).reshape(count, width))
    elif kind == COMMAND:
        robot, source = json.loads(bytes(body[:number]))
        sink.write_command(count, robot, np.frombuffer(body[number:], dtype=np.float64), source)
    elif kind == SNAPSHOT:
        sink.write_snapshot(count, bytes(body))
    elif kind == LOG:
        level, text = json.loads(bytes(body))
        sink.write_log(count, level, text)
    elif kind == CLOCK:
        wall_ns, lateness = struct.unpack("<qd", body)
        sink.write_clock(count, wall_ns, lateness)
