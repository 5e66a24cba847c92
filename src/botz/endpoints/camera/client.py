"""Watching a match through its camera: NumPy and the standard library alone.

>>> with CameraClient("127.0.0.1:21013") as camera:
...     for frame in camera:
...         u, v = find_the_ball(frame.image)
...         x, y = camera.pixel_to_field(u, v, height=camera.ball_radius)
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from botz.endpoints.camera.protocol import (
    EMPTY,
    GREETING,
    HEAD,
    HELLO,
    LONGEST_LINE,
    REFUSAL,
    ProtocolError,
    image_shape,
    read_head,
    rebuild,
)
from botz.errors import BotzError
from botz.scenario.ports import CAMERA
from botz.scene.lens import Lens

READ_AT_ONCE = 1 << 18
RETRY_SECONDS = 0.1
MOST_SKIPPED = 10_000
"""Images that `newest` passes over in one go."""


class CameraGone(BotzError):
    """The server has closed the connection: the match is over, or this client was dropped."""


@dataclass(frozen=True)
class Frame:
    number: int
    """How many periods of the camera have passed since the start; numbers left out are frames that were skipped."""
    step: int
    """Of the simulation that it shows."""
    time: float
    """The same in seconds of simulated time."""
    image: np.ndarray
    """(rows, columns, 3) red, green, blue; yours to keep and to write on."""


@dataclass(frozen=True)
class CameraRobot:
    """A robot and how to recognise it: the patch of its team lies on the front half of its top, two patches that tell
    its number on the rear half."""

    name: str
    team: str
    id: int
    side: float
    """Edge of the cube [m]; its top, which is what is seen, is that high."""
    code: tuple[str, str]
    """Colours of the patches of its number, left and right; see `CameraClient.colours`."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> CameraRobot:
        left, right = data["code"]
        return cls(str(data["name"]), str(data["team"]), int(data["id"]), float(data["side"]), (str(left), str(right)))


class CameraClient:
    """A connection to the camera of a match. Waits up to `timeout` seconds for the server to be there and for each
    image. The attributes hold what a vision program needs to know beforehand."""

    def __init__(self, address: str = CAMERA, *, timeout: float = 5.0):
        self.address = address
        self.timeout = timeout
        self._buffer = bytearray()
        self._socket = _connected(address, timeout)
        try:
            deadline = time.monotonic() + timeout
            self._socket.sendall(HELLO)
            self.about: dict[str, Any] = self._greeting(deadline)
            """All that the server said at the beginning."""
            self._shape = image_shape(self.about)
            self._understand()
            kind, body, _, _ = self._message(deadline)
            if kind != EMPTY:
                raise ProtocolError("a frame before the empty field")
            self.empty = rebuild(kind, body, None, self._shape)
            """The field without robots and ball."""
            self.image = self.empty.copy()
            """The latest image."""
        except ProtocolError as error:
            self.close()
            raise self._nonsense(error) from None
        except (OSError, BotzError) as error:
            self.close()
            if isinstance(error, TimeoutError):
                raise BotzError(f"{address} took the call but does not answer as a camera") from None
            raise error if isinstance(error, BotzError) else BotzError(f"{address}: {error}") from None

    def _understand(self) -> None:
        about = self.about
        try:
            self.lens = Lens.from_data(about["lens"])
            """Where the camera sees what."""
            self.robots = [CameraRobot.of(robot) for robot in about["robots"]]
            """The robots of the match."""
            self.colours = {str(name): (int(r), int(g), int(b)) for name, (r, g, b) in about["colours"].items()}
            """Red, green and blue of the colours by name."""
            self.field = {str(name): float(size) for name, size in about["field"].items()}
            """Sizes of the field [m]: length, width, goal_width and so on."""
            self.ball_radius = float(about["ball"]["radius"])
            """[m]; the ball's middle, which is what is seen, is that high."""
            self.period = float(about["period"])
            """Between two images [s]."""
            self._step_ns = int(about["step_ns"])
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
            raise ProtocolError("a greeting without what a camera says of itself") from None
        if (self.lens.rows, self.lens.width) != self._shape[:2]:
            raise ProtocolError("a lens for images of another size")
        if not 0 < self._step_ns < 10**12:
            raise ProtocolError(f"steps of {self._step_ns} ns")

    def next(self, timeout: float | None = None) -> Frame:
        """The next image. TimeoutError if none comes in time, as in a match that is paused; then it may be called
        again. CameraGone when the match is over."""
        return self._frame(*self._next_message(timeout))

    def newest(self, timeout: float | None = None) -> Frame:
        """The newest image that has arrived, or the next one: what a program wants that is slower than the camera."""
        found = self._next_message(timeout)
        with suppress(TimeoutError, CameraGone):  # the end of the match is told with the next call
            for _ in range(MOST_SKIPPED):
                found = self._next_message(0.0)
        return self._frame(*found)

    def __iter__(self) -> Iterator[Frame]:
        """All images until the match is over."""
        while True:
            try:
                frame = self.next()
            except CameraGone:
                return
            yield frame

    def pixel_to_field(self, u: Any, v: Any, height: Any = 0.0) -> tuple[Any, Any]:
        """x, y [m] on the field of what is seen in column u and row v (whole numbers are the middles of pixels), if it
        is `height` above the ground: the ball's radius for the ball, a robot's side for its patches. Numbers or
        arrays."""
        return self.lens.field(u, v, height)

    def field_to_pixel(self, x: Any, y: Any, height: Any = 0.0) -> tuple[Any, Any]:
        """Column u and row v where a point is seen."""
        return self.lens.pixel(x, y, height)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> CameraClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- messages ------------------------------------------------------------------------------------------

    def _next_message(self, timeout: float | None) -> tuple[int, bytes, int, int]:
        try:
            return self._message(time.monotonic() + (self.timeout if timeout is None else timeout))
        except ProtocolError as error:
            self.close()
            raise self._nonsense(error) from None

    def _frame(self, kind: int, body: bytes, number: int, step: int) -> Frame:
        try:
            if kind == EMPTY:
                raise ProtocolError("the empty field for a second time")
            self.image = rebuild(kind, body, self.empty, self._shape)
        except ProtocolError as error:
            self.close()
            raise self._nonsense(error) from None
        return Frame(number, step, step * self._step_ns * 1e-9, self.image)

    def _message(self, deadline: float) -> tuple[int, bytes, int, int]:
        size = self._shape[0] * self._shape[1] * self._shape[2]
        self._receive(HEAD.size, deadline)
        kind, length, number, step = read_head(bytes(self._buffer[: HEAD.size]), size)
        self._receive(HEAD.size + length, deadline)
        body = bytes(self._buffer[HEAD.size : HEAD.size + length])
        del self._buffer[: HEAD.size + length]
        return kind, body, number, step

    def _greeting(self, deadline: float) -> dict[str, Any]:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > LONGEST_LINE:
                raise ProtocolError(f"a first line of more than {LONGEST_LINE} bytes")
            self._receive(len(self._buffer) + 1, deadline)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        if line.startswith(REFUSAL):
            raise BotzError(f"{self.address} refuses: {line[len(REFUSAL) :][:200].decode(errors='replace')}")
        if not line.startswith(GREETING):
            raise ProtocolError(f"a first line that begins with {line[:40]!r}")
        try:
            about = json.loads(line[len(GREETING) :])
        except (ValueError, RecursionError):
            raise ProtocolError("a first line that is not JSON") from None
        if not isinstance(about, dict):
            raise ProtocolError("a first line that says nothing of the camera")
        return about

    def _receive(self, count: int, deadline: float) -> None:
        """Until `count` bytes are there. What has come stays when the time is over."""
        while len(self._buffer) < count:
            try:
                # Not 0, which would mean to wait for nothing: even late, what has arrived is taken.
                self._socket.settimeout(max(deadline - time.monotonic(), 1e-6))
                data = self._socket.recv(READ_AT_ONCE)
            except TimeoutError:
                raise TimeoutError(f"no image from {self.address} in time; is the match paused?") from None
            except OSError as error:
                raise CameraGone(f"the camera at {self.address} has gone ({error})") from None
            if not data:
                cut = " in the middle of an image" if self._buffer else ""
                raise CameraGone(f"the camera at {self.address} has closed the connection{cut}")
            self._buffer += data

    def _nonsense(self, error: ProtocolError) -> BotzError:
        return BotzError(f"{self.address} sends what is no camera's: {error}")


def _connected(address: str, timeout: float) -> socket.socket:
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isascii() and port.isdecimal() and int(port) < 65536):
        raise BotzError(f'an address has a host and a port, as "{CAMERA}", not {address!r}')
    deadline = time.monotonic() + timeout
    while True:
        try:
            return socket.create_connection((host, int(port)), timeout=max(deadline - time.monotonic(), 0.01))
        except OSError as error:
            # A team may be started before its match.
            if time.monotonic() + RETRY_SECONDS > deadline or not isinstance(error, ConnectionRefusedError):
                raise BotzError(
                    f"no camera at {address} ({error}); is the match served? botz run soccer --serve"
                ) from None
            time.sleep(RETRY_SECONDS)
