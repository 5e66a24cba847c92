"""A camera's client against servers that are none, or mean ill; and what it costs to import."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from botz.endpoints.camera.client import CameraClient, CameraGone
from botz.endpoints.camera.protocol import EMPTY, GREETING, HEAD, RAW, SPANS, WHOLE, empty_message, greeting, message
from botz.errors import BotzError

ROWS, WIDTH = 12, 16
PICTURE = np.arange(ROWS * WIDTH * 3, dtype=np.uint8).reshape(ROWS, WIDTH, 3)
ABOUT: dict[str, Any] = {
    "size": [WIDTH, ROWS],
    "field": {"length": 1.5},
    "lens": {"x": 0, "y": 0, "height": 2, "view": 2, "turn": 0, "distortion": 0, "width": WIDTH, "rows": ROWS},
    "robots": [{"name": "a", "team": "blue", "id": 0, "side": 0.1, "code": ["red", "red"]}],
    "colours": {"red": [255, 0, 0]},
    "ball": {"radius": 0.02},
    "period": 0.03,
    "step_ns": 1_000_000,
}
START = greeting(ABOUT) + empty_message(PICTURE)


@contextmanager
def server(data: bytes, *, hold: bool = False) -> Iterator[str]:
    """Sends these bytes to whoever comes, and hangs up, or holds the line until the end."""
    listening = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve() -> None:
        try:
            sock, _ = listening.accept()
        except OSError:
            return
        with sock:
            try:
                sock.recv(100)
                sock.sendall(data)
                if hold:
                    done.wait(20.0)
                else:
                    sock.shutdown(socket.SHUT_WR)
                    while sock.recv(1000):
                        pass
            except OSError:
                return

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
    finally:
        done.set()
        listening.close()
        thread.join(20.0)


def spans(*entries: tuple[int, int, int], pixels: bytes = b"", count: int | None = None) -> bytes:
    body = struct.pack("<I", len(entries) if count is None else count)
    body += b"".join(struct.pack("<3H", *entry) for entry in entries) + pixels
    return message(SPANS, zlib.compress(body), number=1, step=30)


def test_frames_of_all_kinds():
    other = PICTURE[::-1].copy()
    data = START + spans((0, 0, 2), (11, 15, 1), pixels=bytes(range(9)))
    data += message(WHOLE, zlib.compress(other.tobytes()), number=2, step=60)
    data += message(RAW, other.tobytes(), number=3, step=90) + spans()
    with server(data) as address, CameraClient(address) as client:
        frames = list(client)
    assert [frame.number for frame in frames] == [1, 2, 3, 1]
    expected = PICTURE.copy()
    expected[0, :2] = [[0, 1, 2], [3, 4, 5]]
    expected[11, 15] = [6, 7, 8]
    assert (frames[0].image == expected).all()
    assert (frames[1].image == other).all() and (frames[2].image == other).all()
    assert (frames[3].image == PICTURE).all()
    frames[0].image[:] = 0
    assert (client.empty == PICTURE).all(), "a frame is the user's own"


def about(**changes: Any) -> bytes:
    return greeting({**ABOUT, **changes}) + empty_message(PICTURE)


BEGINNINGS = {
    "HTTP": (b"HTTP/1.1 200 OK\r\n\r\n", "no camera's"),
    "no JSON": (GREETING + b"{{{\n", "not JSON"),
    "a list": (GREETING + b"[1]\n", "nothing of the camera"),
    "deep": (GREETING + 100_000 * b"[" + b"\n", "not JSON"),
    "endless line": (GREETING + bytes(3 << 20), "first line of more"),
    "no size": (GREETING + b"{}\n", "size"),
    "huge": (about(size=[100_000, 100_000]), "100000 x 100000"),
    "negative": (about(size=[-1, 5]), "-1 x 5"),
    "size of words": (about(size="ab"), "size"),
    "another lens": (about(lens={**ABOUT["lens"], "rows": 99}), "another size"),
    "lens of infinity": (about(lens={**ABOUT["lens"], "width": float("inf")}), "says of itself"),
    "robots of nothing": (about(robots=5), "says of itself"),
    "no step": (about(step_ns=0), "steps of 0"),
    "refusal": (b"botz-camera error: too many clients\n", "refuses: too many clients"),
    "no field": (greeting(ABOUT) + spans(), "before the empty field"),
    "small field": (greeting(ABOUT) + empty_message(PICTURE[:5]), "instead of"),
    "hung up": (START[:-5], "middle of an image"),
    "silence": (b"", "closed the connection"),
}


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_what_is_no_camera_is_told_so(kind: str):
    data, text = BEGINNINGS[kind]
    with server(data) as address, pytest.raises(BotzError, match=text):
        CameraClient(address)


BOMB = zlib.compress(bytes(50_000_000), 9)
FRAMES = {
    "no magic": (b"nonsense" * 8, "begins with"),
    "unknown kind": (message(9, b"", number=0, step=0), "kind 9"),
    "endless": (HEAD.pack(b"BZCF", RAW, 1 << 60, 0, 0), "bytes for images of"),
    "no zlib": (message(SPANS, b"abcdef", number=0, step=0), "zlib"),
    "bomb": (message(WHOLE, BOMB[:1500], number=0, step=0), "more than"),
    "bomb of spans": (message(SPANS, BOMB[:1500], number=0, step=0), "more than"),
    "cut off": (message(WHOLE, zlib.compress(PICTURE.tobytes())[:-8], number=0, step=0), "too early"),
    "short image": (message(RAW, b"abc", number=0, step=0), "instead of"),
    "empty body": (message(SPANS, zlib.compress(b""), number=0, step=0), "spans"),
    "more spans than bytes": (spans(count=1 << 31), "spans"),
    "below the image": (spans((ROWS, 0, 1), pixels=b"abc"), "outside"),
    "beside the image": (spans((0, WIDTH - 1, 2), pixels=b"abcdef"), "outside"),
    "far outside": (spans((65535, 65535, 65535)), "outside"),
    "too few pixels": (spans((0, 0, 2), pixels=b"abc"), "bytes of pixels"),
    "too many pixels": (spans((0, 0, 2), pixels=bytes(9)), "bytes of pixels"),
    "the field again": (message(EMPTY, zlib.compress(PICTURE.tobytes()), number=0, step=0), "second time"),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_nonsense_in_the_middle_is_told_so(kind: str):
    data, text = FRAMES[kind]
    with server(START + data) as address, CameraClient(address) as client, pytest.raises(BotzError, match=text):
        client.next()


def test_random_bytes_never_do_more_than_raise():
    rng = np.random.default_rng(6)
    good = START + spans((0, 0, 2), (11, 15, 1), pixels=bytes(range(9)))
    json_end = len(greeting(ABOUT))
    for _ in range(40):
        data = bytearray(good)
        for place in rng.integers(0, len(data), rng.integers(1, 6)):
            data[place] = rng.integers(0, 256)
        with server(bytes(data)) as address:
            try:
                with CameraClient(address, timeout=2.0) as client:
                    frames = list(client)
            except BotzError:
                continue
            assert all(frame.image.shape == (ROWS, WIDTH, 3) for frame in frames)
    assert json.loads(START[len(GREETING) : json_end]) == ABOUT


def test_a_server_that_goes_in_the_middle_of_a_frame():
    with server(START + spans() + spans()[:-3]) as address, CameraClient(address) as client:
        client.next()
        with pytest.raises(CameraGone, match="middle of an image"):
            client.next()


def test_a_server_that_says_nothing():
    with server(b"", hold=True) as address, pytest.raises(BotzError, match="does not answer as a camera"):
        CameraClient(address, timeout=0.2)


def test_no_server_and_no_address():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        free = f"127.0.0.1:{sock.getsockname()[1]}"
    with pytest.raises(BotzError, match=r"no camera at .*botz run soccer --serve"):
        CameraClient(free, timeout=0.3)
    for address in ("", "here", "127.0.0.1:", "127.0.0.1:camera", "127.0.0.1:70000", ":21013"):
        with pytest.raises(BotzError, match="a host and a port"):
            CameraClient(address)


def test_a_vision_program_loads_neither_numba_nor_pydantic():
    heavy = ("numba", "pydantic", "PIL", "scipy")
    code = f"import sys, botz.endpoints.camera.client; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
