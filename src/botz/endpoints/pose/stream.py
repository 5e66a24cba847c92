"""The one pose stream: where everything is, over TCP, for viewers on any machine. Read-only.

Nobody who connects can hold anything up. A viewer that reads slowly misses whole frames, one that stops reading is
dropped, and what a viewer sends is thrown away but for its first line: one who says hello has its place kept, one who
says nothing keeps it until others come who say nothing.
"""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import cos, sin

import numpy as np

from botz.endpoints.listening import (
    ACCEPTED_AT_ONCE,
    LARGEST_INPUT,
    SEND_BUFFER,
    STALLED_SECONDS,
    YIELDING_SECONDS,
    listening,
)
from botz.endpoints.pose.client import HELLO, MAGIC, NUMBERS_PER_POSE, PREFIX, STEP, VERSION
from botz.errors import BotzError
from botz.scenario.links import PoseLink, host_and_port
from botz.sim.attached import AttachedRun

EXTRAS = ("match/score", "*/playing")
"""Channels that a viewer wants beside the poses, where an engine has them."""
MOST_CLIENTS, MOST_PER_ADDRESS = 16, 12
"""Viewers that have said hello, in all and from one address: others have room kept."""
MOST_SILENT = 16
"""Those that have not; a further one takes the place of the first."""
PARTING_SECONDS = 1.0
"""How long the end of a run waits for slow viewers [s]."""
RETRY_SECONDS = 0.02
"""When a message that was taken only in part is tried again, at low rates."""


@dataclass
class Viewer:
    """One connection and what it has not taken yet."""

    socket: socket.socket
    rest: memoryview
    moved: float
    """When it last took something [s]."""
    host: str = ""
    received: int = 0
    said: bytes = b""
    """The beginning of what it has sent."""
    greeted: bool = False


@dataclass
class Layout:
    """Where poses and extra numbers lie in a row of channels."""

    poses: list[tuple[int, int]] = field(default_factory=list)
    """First index and number of components of each pose."""
    extras: list[slice] = field(default_factory=list)

    @property
    def frame_bytes(self) -> int:
        extras = sum(part.stop - part.start for part in self.extras)
        return STEP.size + 8 * (1 + NUMBERS_PER_POSE * len(self.poses) + extras)

    def numbers(self, seconds: float, row: np.ndarray) -> np.ndarray:
        """A frame's floats: the time, seven numbers a pose, the extras."""
        values = [seconds]
        for start, size in self.poses:
            if size == 3:  # on the plane: lifted to z = 0, turned about z
                x, y, heading = (float(value) for value in row[start : start + 3])
                values += [x, y, 0.0, cos(0.5 * heading), 0.0, 0.0, sin(0.5 * heading)]
            else:
                values += row[start : start + NUMBERS_PER_POSE].tolist()
        for part in self.extras:
            values += row[part].tolist()
        return np.array(values, dtype="<f8")


class PoseStream:
    """Serves the poses of a run at `settings.listen`, `settings.rate` times a second of real time.

    Driven from outside: `receive()` when one of `sockets` is readable, `send_if_due(now)` at `next_due()`; times are
    those of `time.perf_counter()`. Neither ever waits.
    """

    def __init__(self, run: AttachedRun, settings: PoseLink):
        self._run = run
        self._period = 1.0 / settings.rate
        self._due = time.perf_counter()
        self._viewers: list[Viewer] = []
        self._counts = dict.fromkeys(("clients", "refused", "dropped", "sent", "skipped"), 0)
        self._layout, self._header = described(run, settings)
        self._listener = listening(*host_and_port(settings.listen))
        host, port = self._listener.getsockname()
        self.address = f"{host}:{port}"

    @property
    def addresses(self) -> dict[str, str]:
        return {"poses": self.address}

    @property
    def sockets(self) -> list[socket.socket]:
        """To be watched for reading; changes as viewers come and go."""
        return [self._listener, *(viewer.socket for viewer in self._viewers)]

    def receive(self) -> None:
        """Take in new viewers, and throw away what those that are there have sent."""
        for viewer in list(self._viewers):
            try:
                data = viewer.socket.recv(1 << 14)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            viewer.received += len(data)
            viewer.said = (viewer.said + data)[: len(HELLO)]
            if not data:
                self._drop(viewer, counted=False)
            elif viewer.received > LARGEST_INPUT:
                self._drop(viewer)
            elif not viewer.greeted and viewer.said == HELLO:
                self._seat(viewer, time.perf_counter())
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, (host, _port) = self._listener.accept()
            except OSError:  # nobody waits any more, one left while it waited, or the system has no room for another
                return
            self._welcome(connection, host)

    def _seat(self, viewer: Viewer, now: float) -> None:
        """A viewer that has said hello; refused where all places are taken, unless one takes nothing any more."""
        greeted = [other for other in self._viewers if other.greeted]
        from_there = [other for other in greeted if other.host == viewer.host]
        for others, most in ((from_there, MOST_PER_ADDRESS), (greeted, MOST_CLIENTS)):
            if len(others) >= most:
                idle = [other for other in others if other.rest and now - other.moved > YIELDING_SECONDS]
                if not idle:
                    self._counts["refused"] += 1
                    self._drop(viewer, counted=False)
                    return
                gone = min(idle, key=lambda other: other.moved)
                self._drop(gone)
                greeted.remove(gone)
        viewer.greeted = True

    def _welcome(self, connection: socket.socket, host: str) -> None:
        silent = [viewer for viewer in self._viewers if not viewer.greeted]
        if len(silent) >= MOST_SILENT:
            self._drop(silent[0])
        self._counts["clients"] += 1
        connection.setblocking(False)
        viewer = Viewer(connection, memoryview(self._header), time.perf_counter(), host)
        self._viewers.append(viewer)
        try:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, max(SEND_BUFFER, 2 * self._layout.frame_bytes))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            self._drop(viewer, counted=False)
            return
        self._flush(viewer, viewer.moved)

    @property
    def unsent(self) -> bool:
        """Whether a viewer has taken a message only in part."""
        return any(viewer.rest for viewer in self._viewers)

    def next_due(self) -> float:
        """When `send_if_due` has something to do."""
        return min(self._due, time.perf_counter() + RETRY_SECONDS) if self.unsent else self._due

    def send_if_due(self, now: float) -> None:
        if now < self._due:
            for viewer in [viewer for viewer in self._viewers if viewer.rest]:
                self._flush(viewer, now)
            return
        self._due += self._period
        if self._due <= now:  # behind by more than a frame: go on from here, not through what was missed
            self._due = now + self._period
        if self._viewers:
            self._send(now)

    def _send(self, now: float) -> None:
        frame = self._frame()
        for viewer in list(self._viewers):
            if viewer.rest and not self._flush(viewer, now):
                continue
            if viewer.rest:
                self._counts["skipped"] += 1
                continue
            viewer.rest, viewer.moved = memoryview(frame), now
            if self._flush(viewer, now):
                self._counts["sent"] += 1

    def _frame(self) -> bytes:
        step, row = self._run.latest()
        return STEP.pack(step) + self._layout.numbers(step * self._run.step_ns * 1e-9, row).tobytes()

    def _flush(self, viewer: Viewer, now: float) -> bool:
        """Send what the system takes of a viewer's rest; False where the viewer has been dropped."""
        try:
            sent = viewer.socket.send(viewer.rest)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(viewer)
            return False
        if sent:
            viewer.rest = viewer.rest[sent:]
            viewer.moved = now
        elif now - viewer.moved > STALLED_SECONDS:
            self._drop(viewer)
            return False
        return True

    def _drop(self, viewer: Viewer, *, counted: bool = True) -> None:
        self._viewers.remove(viewer)
        viewer.socket.close()
        self._counts["dropped"] += counted

    def counters(self) -> dict[str, int]:
        """Viewers that came, were turned away and were dropped; frames sent, and skipped because one was slow."""
        return dict(self._counts)

    def close(self) -> None:
        """End, with the last state as the last frame; viewers have a moment to take what is on its way."""
        with suppress(BotzError):
            if self._viewers:
                self._send(time.perf_counter())
        deadline = time.perf_counter() + PARTING_SECONDS
        while self.unsent and (now := time.perf_counter()) < deadline:
            for viewer in [viewer for viewer in self._viewers if viewer.rest]:
                self._flush(viewer, now)
            time.sleep(0.001)
        for viewer in self._viewers:
            with suppress(OSError):
                viewer.socket.recv(LARGEST_INPUT)  # unread, it would reset the connection and lose the last frame
            viewer.socket.close()
        self._viewers.clear()
        self._listener.close()


def described(run: AttachedRun, settings: PoseLink) -> tuple[Layout, bytes]:
    """Where the stream's numbers come from, and the first message, which says what they are."""
    layout = Layout()
    for _, channel in run.poses:
        part = run.channels.slices[channel]
        layout.poses.append((part.start, part.stop - part.start))
    extras = [channel for channel in run.channels if any(fnmatchcase(channel.name, name) for name in EXTRAS)]
    layout.extras = [run.channels.slices[channel.name] for channel in extras]
    text = json.dumps(
        {
            "scenario": run.scenario,
            "engine": run.engine,
            "step_ns": run.step_ns,
            "rate": settings.rate,
            "frames": [frame for frame, _ in run.poses],
            "extras": [[channel.name, list(channel.components)] for channel in extras],
            "about": run.about,
        }
    ).encode()
    return layout, PREFIX.pack(MAGIC, VERSION, len(text)) + text
