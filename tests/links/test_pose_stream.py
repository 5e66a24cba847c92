"""The pose stream and its client over real sockets of this machine: exact numbers, and guests who misbehave."""

from __future__ import annotations

import json
import math
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from botz.channels import Channel, ChannelTable
from botz.endpoints.pose.client import HELLO, LARGEST_HEADER, MAGIC, PREFIX, VERSION, PoseClient, PoseStreamError
from botz.endpoints.pose.stream import LARGEST_INPUT, MOST_PER_ADDRESS, MOST_SILENT, STALLED_SECONDS, PoseStream
from botz.errors import BotzError
from botz.scenario.links import PoseLink

PLANAR, SPATIAL = ("x", "y", "heading"), ("x", "y", "z", "qw", "qx", "qy", "qz")
ANY = "127.0.0.1:0"


class FakeRun:
    """As much of an attached run as the stream looks at."""

    def __init__(self, more: int = 0):
        self.scenario, self.step_ns = "invented", 2_000_000
        self.engine = "soccer"
        self.channels = ChannelTable(
            [
                Channel("rover/pose", "m", "", PLANAR),
                Channel("rover/playing", "1", ""),
                Channel("rover/twist", "m/s", "", PLANAR),
                Channel("match/score", "1", "", ("blue", "yellow")),
                Channel("flyer/pose", "m", "", SPATIAL),
                *(Channel(f"crowd{index}/pose", "m", "", SPATIAL) for index in range(more)),
            ]
        )
        self.poses = [(name.split("/")[0], name) for name in self.channels.slices if name.endswith("/pose")]
        self.about = {"ball": {"radius": 0.02}}
        self.row = np.arange(1.0, self.channels.width + 1)
        self.step = 0
        self.broken = False

    def latest(self) -> tuple[int, np.ndarray]:
        if self.broken:
            raise BotzError("the run ended while it wrote its state")
        return self.step, self.row.copy()


class Served:
    """A stream that a test turns by hand, at times of its own."""

    def __init__(self, run: FakeRun, **settings: Any):
        self.run = run
        self.stream = PoseStream(run, PoseLink(listen=ANY, **settings))  # type: ignore[arg-type]
        self.now = self.stream.next_due()
        self.clients: list[Any] = []

    def client(self, **options: Any) -> PoseClient:
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(PoseClient, self.stream.address, **options)
            while not coming.done():
                self.stream.receive()
        self.clients.append(coming.result())
        return self.clients[-1]

    def plain_client(self) -> socket.socket:
        """One that reads nothing unless the test does; it is let in."""
        before = len(self.stream.sockets)
        self.clients.append(socket.create_connection(self.address))
        self.until(lambda: len(self.stream.sockets) > before)
        return self.clients[-1]

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.stream.address.split(":")
        return host, int(port)

    def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(200_000):
            self.stream.receive()
            if condition():
                return
        raise AssertionError("waited in vain")

    def send(self) -> None:
        """One frame of the next step."""
        self.run.step += 1
        self.now += 0.02
        self.stream.send_if_due(self.now)

    def counted(self, name: str) -> int:
        return self.stream.counters()[name]


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    served: list[Served] = []

    def make(run: FakeRun | None = None, **settings: Any) -> Served:
        served.append(Served(run or FakeRun(), **{"rate": 50.0, **settings}))
        return served[-1]

    yield make
    for one in served:
        for client in one.clients:
            client.close()
        one.stream.close()


# --- what a viewer gets -----------------------------------------------------------------------------------


def test_the_description_says_what_the_numbers_are(serve):
    client = serve().client()
    assert (client.scenario, client.engine, client.step_ns, client.rate) == ("invented", "soccer", 2_000_000, 50.0)
    assert client.frames == ("rover", "flyer")
    assert client.extras == {"rover/playing": (), "match/score": ("blue", "yellow")}
    assert client.about == {"ball": {"radius": 0.02}}


def test_poses_on_the_plane_are_lifted_and_others_pass_as_they_are(serve):
    served = serve()
    client = served.client()
    served.run.row[:3] = 0.1, -2.0, 2.5
    served.send()
    frame = client.next()
    assert frame is not None and (frame.step, frame.time) == (1, 0.002)
    assert list(frame.poses) == ["rover", "flyer"]
    assert frame.poses["rover"].tolist() == [0.1, -2.0, 0.0, math.cos(1.25), 0.0, 0.0, math.sin(1.25)]
    assert frame.poses["flyer"].tolist() == served.run.row[9:16].tolist()
    assert frame.extras["rover/playing"].tolist() == [4.0]
    assert frame.extras["match/score"].tolist() == [8.0, 9.0]


def test_a_viewer_may_join_late_and_iterate_to_the_end(serve):
    served = serve()
    for _ in range(3):
        served.send()
    with served.client() as client:
        served.send()
        served.send()
        served.run.step = 100
        served.stream.close()
        assert [frame.step for frame in client] == [4, 5, 100], "the last state is the last frame"
        assert client.next() is None


def test_a_run_that_broke_off_still_closes(serve):
    served = serve()
    client = served.client()
    served.run.broken = True
    served.stream.close()
    assert client.next() is None


def test_frames_are_sent_when_due_and_missed_ones_are_not_made_up_for(serve):
    served = serve(rate=10.0)
    served.client()
    start = served.stream.next_due()
    served.stream.send_if_due(start - 0.01)
    assert served.counted("sent") == 0
    served.stream.send_if_due(start)
    served.stream.send_if_due(start + 0.05)
    assert served.counted("sent") == 1
    assert served.stream.next_due() == pytest.approx(start + 0.1)
    served.stream.send_if_due(start + 7.03)
    served.stream.send_if_due(start + 7.04)
    assert served.counted("sent") == 2
    assert served.stream.next_due() == pytest.approx(start + 7.13)


# --- guests who misbehave ---------------------------------------------------------------------------------


def test_a_slow_viewer_misses_whole_frames_and_nobody_else_any(serve):
    served = serve(FakeRun(more=2000))
    slow, quick = served.client(), served.client()

    def sent_and_read() -> int:
        served.send()
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(quick.next)
            while not coming.done():
                served.stream.send_if_due(served.now)  # a frame that was taken in part goes on
        return coming.result().step

    quick_steps = [sent_and_read() for _ in range(200)]
    assert quick_steps == list(range(1, 201))
    assert served.counted("skipped") > 0 and served.counted("dropped") == 0
    with ThreadPoolExecutor(1) as pool:
        # It reads again: the rest of the frame that it took in part comes before any newer one.
        reading = pool.submit(lambda: [(frame.step, frame.poses["crowd1999"].tolist()) for frame in slow])
        served.until(lambda: not served.stream.send_if_due(served.now) and not served.stream.unsent)
        served.run.step = 1000
        served.stream.close()
        slow_frames = reading.result(timeout=60)
    steps = [step for step, _ in slow_frames]
    assert steps == sorted(set(steps)) and len(steps) < 200 and steps[-1] == 1000
    assert all(pose == served.run.row[-7:].tolist() for _, pose in slow_frames), "no frame is mixed with another"


def test_a_viewer_that_stops_reading_is_dropped(serve):
    served = serve(FakeRun(more=2000))
    served.plain_client()
    while not served.counted("skipped"):
        served.send()
    served.now += STALLED_SECONDS + 1
    served.send()
    assert served.counted("dropped") == 1 and len(served.stream.sockets) == 1


def test_a_viewer_that_goes_away_is_forgotten(serve):
    served = serve()
    client, other = served.client(), served.client()
    client.close()
    served.until(lambda: len(served.stream.sockets) == 2)
    served.send()
    assert other.next().step == 1


def test_a_viewer_killed_with_a_reset_is_forgotten(serve):
    served = serve()
    client = served.plain_client()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    served.until(lambda: len(served.stream.sockets) == 1)
    served.send()


def test_what_a_viewer_says_is_ignored_and_bounded(serve):
    served = serve()
    client = served.client()
    client._socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
    for _ in range(100):
        served.stream.receive()
    served.send()
    assert client.next().step == 1

    def talk() -> None:
        with suppress(OSError):
            client._socket.sendall(bytes(4 * LARGEST_INPUT))

    thread = threading.Thread(target=talk)
    thread.start()
    served.until(lambda: len(served.stream.sockets) == 1)
    thread.join()
    assert served.counted("dropped") == 1


def test_there_is_an_end_to_the_number_of_viewers(serve):
    served = serve()
    clients = [served.client() for _ in range(MOST_PER_ADDRESS)]
    served.until(lambda: sum(viewer.greeted for viewer in served.stream._viewers) == MOST_PER_ADDRESS)
    one_more = socket.create_connection(served.address)
    served.clients.append(one_more)
    one_more.sendall(HELLO)
    served.until(lambda: served.counted("refused") == 1)
    assert len(served.stream.sockets) == MOST_PER_ADDRESS + 1
    clients[0].close()
    served.until(lambda: len(served.stream.sockets) == MOST_PER_ADDRESS)
    assert served.client().scenario == "invented"


def test_viewers_that_say_nothing_keep_nobody_out(serve):
    served = serve()
    served.clients += [socket.create_connection(served.address) for _ in range(MOST_SILENT)]
    served.until(lambda: len(served.stream.sockets) == MOST_SILENT + 1)
    client = served.client()
    served.until(lambda: any(viewer.greeted for viewer in served.stream._viewers))
    served.clients += [socket.create_connection(served.address) for _ in range(MOST_SILENT + 3)]
    served.until(lambda: served.counted("clients") == 2 * MOST_SILENT + 4)
    assert len(served.stream.sockets) == MOST_SILENT + 2
    served.send()
    assert client.next().step == 1


def test_an_address_in_use_is_an_error(serve):
    taken = serve()
    with pytest.raises(OSError, match="in use"):
        PoseStream(FakeRun(), PoseLink(listen=taken.stream.address))  # type: ignore[arg-type]


# --- a client among strangers -----------------------------------------------------------------------------

GOOD = {
    "scenario": "s",
    "engine": "e",
    "step_ns": 1,
    "rate": 50,
    "frames": ["a"],
    "extras": [["m", ["x", "y"]]],
    "about": {},
}


def header(data: Any, *, magic: bytes = MAGIC, version: int = VERSION, length: int | None = None) -> bytes:
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    return PREFIX.pack(magic, version, len(text) if length is None else length) + text


@pytest.fixture
def stranger() -> Iterator[Callable[[bytes], str]]:
    """A server that says something and then closes, or waits."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        done = threading.Event()

        def answer(data: bytes, wait: bool) -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.recv(len(HELLO), socket.MSG_WAITALL)  # unread, it would reset the connection
                connection.sendall(data)
                if wait:
                    done.wait()

        def start(data: bytes, *, wait: bool = False) -> str:
            pool.submit(answer, data, wait)
            return "{}:{}".format(*listener.getsockname())

        yield start
        done.set()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "closed the connection"),
        (b"BOTZ", "closed the connection"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "not a pose stream"),
        (header(GOOD, version=7), "version 7"),
        (header(GOOD, length=LARGEST_HEADER + 1), "bytes of description"),
        (header(GOOD, length=1000), "closed the connection"),
        (header(b"{"), "description"),
        (header(b"\xff\xfe"), "description"),
        (header(b"[" * 100_000), "description"),
        (header([]), "description"),
        (header({**GOOD, "frames": 3}), "description"),
        (header({**GOOD, "frames": [3]}), "description"),
        (header({**GOOD, "frames": ["a"] * 200_000}), "frames of"),
        (header({**GOOD, "extras": [["m"]]}), "description"),
        (header({**GOOD, "extras": [["m", ["x"] * 200_000]]}), "frames of"),
        (header({**GOOD, "step_ns": "many"}), "description"),
        (header({**GOOD, "step_ns": math.inf}), "description"),
        (header({**GOOD, "about": 3}), "description"),
    ],
)
def test_what_is_no_pose_stream_is_a_clear_error(stranger, data: bytes, words: str):
    with pytest.raises(PoseStreamError, match=words):
        PoseClient(stranger(data))


def test_frames_of_a_good_stranger_are_read_and_a_broken_one_is_told(stranger):
    numbers = struct.pack("<q10d", 7, 0.5, *range(7), 8.0, 9.0)
    with PoseClient(stranger(header(GOOD) + numbers + numbers[:-1])) as client:
        frame = client.next()
        assert frame is not None and (frame.step, frame.time) == (7, 0.5)
        assert frame.poses["a"].tolist() == [0, 1, 2, 3, 4, 5, 6] and frame.extras["m"].tolist() == [8.0, 9.0]
        with pytest.raises(PoseStreamError, match="in the middle"):
            client.next()


@pytest.mark.parametrize("data", [b"BOT", header(GOOD) + b"\0"])
def test_a_silent_server_is_not_waited_for_forever(stranger, data: bytes):
    with (
        pytest.raises(PoseStreamError, match=r"nothing from 127\.0\.0\.1:\d+ for 0\.2 s"),
        PoseClient(stranger(data, wait=True), timeout=0.2) as client,
    ):
        client.next()


def test_nobody_there_and_no_address():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = "{}:{}".format(*listener.getsockname())
    with pytest.raises(PoseStreamError, match=rf"no pose stream answers at {address}"):
        PoseClient(address)
    for wrong in ("", "127.0.0.1", ":20014", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:99999", "a:b"):
        with pytest.raises(ValueError, match="needs an address and a port"):
            PoseClient(wrong)


def test_the_client_needs_numpy_and_nothing_else():
    code = (
        "import sys, botz.endpoints.pose.client as client\n"
        "heavy = ('numba', 'pydantic', 'scipy', 'yaml', 'botz.sim', 'botz.scenario', 'botz.engines')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
