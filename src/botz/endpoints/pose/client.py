"""A viewer's end of the pose stream: where everything is in a run on this or another machine.

    with PoseClient("127.0.0.1:20014") as client:
        for frame in client:
            print(frame.time, frame.poses["vivi"])

Needs NumPy and nothing else, so the file may be copied to where Botz is not installed. What the other end sends is
believed only within bounds: a size that no run has is an error, not an allocation.

On the wire: from the viewer the line `botz-poses 1`, which it may leave out; to the viewer the magic, the version and
the length of a JSON text (little endian, 32 bits each), that text, then frames of one fixed size until the run ends:
the step (64 bits), and as 64-bit floats the time [s], x y z [m] qw qx qy qz of every frame, and the numbers of the
extra channels.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

MAGIC = b"BOTZPOSE"
VERSION = 1
HELLO = b"botz-poses 1\n"
"""What a viewer says first, so that its place is kept."""
PREFIX = struct.Struct("<8sII")
"""Magic, version, length of the JSON text."""
STEP = struct.Struct("<q")
NUMBERS_PER_POSE = 7
LARGEST_HEADER = 4 << 20
"""Bytes of JSON; a description of a thousand robots needs a tenth of it."""
MOST_NUMBERS = 1 << 17
"""Numbers in one frame (1 MiB)."""


class PoseStreamError(ConnectionError):
    """The pose stream could not be reached, broke off, or sent what no pose stream sends."""


@dataclass(frozen=True)
class PoseFrame:
    """Where everything was at one step."""

    step: int
    time: float
    """Simulated time [s]."""
    poses: dict[str, np.ndarray]
    """For each frame x, y, z [m] and the quaternion w, x, y, z that turns its axes into the world's."""
    extras: dict[str, np.ndarray]
    """Further channels by name, as `match/score`; which there are is in the client's `extras`."""


class PoseClient:
    """A connection to a pose stream; `timeout` [s] bounds the wait for the connection and for each frame."""

    def __init__(self, address: str, *, timeout: float = 10.0):
        self.address = address
        self.timeout = timeout
        self._socket = _connected(address, timeout)
        try:
            self._say_hello()
            self._read_header()
        except BaseException:
            self.close()
            raise

    def _say_hello(self) -> None:
        try:
            self._socket.sendall(HELLO)
        except OSError as error:
            raise PoseStreamError(f"the connection to {self.address} broke off: {error}") from None

    def _read_header(self) -> None:
        deadline = time.monotonic() + self.timeout
        magic, version, length = PREFIX.unpack(self._exactly(PREFIX.size, deadline))
        if magic != MAGIC:
            raise PoseStreamError(f"what answers at {self.address} is not a pose stream")
        if version != VERSION:
            raise PoseStreamError(f"{self.address} speaks version {version} of the pose stream; this is {VERSION}")
        if length > LARGEST_HEADER:
            raise PoseStreamError(f"{self.address} announces {length} bytes of description; at most {LARGEST_HEADER}")
        try:
            header = json.loads(self._exactly(length, deadline))
            self.scenario = _text(header["scenario"])
            self.engine = _text(header["engine"])
            self.step_ns = int(header["step_ns"])
            self.rate = float(header["rate"])
            """Frames per second of real time."""
            self.frames = tuple(_text(name) for name in header["frames"])
            """Names of what moves, in the order of the stream."""
            self.extras = {
                _text(name): tuple(_text(component) for component in components)
                for name, components in header["extras"]
            }
            """Further channels and the names of their numbers."""
            self.about: dict[str, Any] = dict(header["about"])
            """What the engine says of its world beside the channels."""
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
            raise PoseStreamError(f"cannot read the description that {self.address} sent: {error!r}") from None
        self._sizes = [max(1, len(components)) for components in self.extras.values()]
        numbers = 1 + NUMBERS_PER_POSE * len(self.frames) + sum(self._sizes)
        if numbers > MOST_NUMBERS:
            raise PoseStreamError(f"{self.address} announces frames of {numbers} numbers; at most {MOST_NUMBERS}")
        self._frame_bytes = STEP.size + 8 * numbers

    def next(self) -> PoseFrame | None:
        """The next frame, waited for; None when the run has ended."""
        data = self._exactly(self._frame_bytes, time.monotonic() + self.timeout, may_end=True)
        if not data:
            return None
        values = np.frombuffer(data, dtype="<f8", offset=STEP.size).astype(np.float64)
        end = 1 + NUMBERS_PER_POSE * len(self.frames)
        poses = values[1:end].reshape(-1, NUMBERS_PER_POSE)
        extras = np.split(values[end:], np.cumsum(self._sizes)[:-1]) if self._sizes else []
        return PoseFrame(
            step=STEP.unpack_from(data)[0],
            time=float(values[0]),
            poses=dict(zip(self.frames, poses, strict=True)),
            extras=dict(zip(self.extras, extras, strict=True)),
        )

    def __iter__(self) -> Iterator[PoseFrame]:
        while (frame := self.next()) is not None:
            yield frame

    def __enter__(self) -> PoseClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, size: int, deadline: float, *, may_end: bool = False) -> bytes:
        """`size` bytes; nothing at all where the stream ends properly and may do so."""
        data = bytearray()
        while len(data) < size:
            try:
                self._socket.settimeout(max(1e-3, deadline - time.monotonic()))
                part = self._socket.recv(min(size - len(data), 1 << 16))
            except TimeoutError:
                raise PoseStreamError(f"nothing from {self.address} for {self.timeout:g} s") from None
            except OSError as error:
                raise PoseStreamError(f"the connection to {self.address} broke off: {error}") from None
            if not part:
                if may_end and not data:
                    return b""
                raise PoseStreamError(f"{self.address} closed the connection in the middle of a message")
            data += part
            if len(data) < size and time.monotonic() > deadline:
                raise PoseStreamError(f"{self.address} needs more than {self.timeout:g} s for one message")
        return bytes(data)


def _connected(address: str, timeout: float) -> socket.socket:
    host, colon, port = address.rpartition(":")
    if not colon or not host or not (port.isascii() and port.isdecimal()) or not 0 < int(port) < 65536:
        raise ValueError(f"needs an address and a port, as '127.0.0.1:20014', not {address!r}")
    try:
        connection = socket.create_connection((host, int(port)), timeout)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PoseStreamError(f"no pose stream answers at {address} ({reason}); is the run served there?") from None
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a name is text, not {type(value).__name__}")
    return value
