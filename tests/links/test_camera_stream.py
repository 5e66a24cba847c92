"""The camera's images over real sockets: exact, for many at once, whatever some of them do."""

from __future__ import annotations

import io
import socket
import struct
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from camera_rig import WAIT, HandMovedMatch, ask, read_all, served, until
from PIL import Image

from botz.endpoints.camera import connections as camera_connections
from botz.endpoints.camera.client import CameraClient, CameraGone
from botz.endpoints.camera.protocol import HELLO, REFUSAL
from botz.endpoints.camera.stream import Moments
from botz.scenario.soccer.links import CameraLink

# --- exact images --------------------------------------------------------------------------------------------------

NOISY: dict[str, dict[str, Any]] = {
    "clean": {},
    "full size": {"size": [640, 480]},
    "noise": {"noise": 6.0},
    "drift": {"drift": 0.3, "drift_rate": 2.0},
    "blur": {"blur": 1.2},
    "all": {"noise": 3.0, "drift": 0.2, "blur": 0.8, "distortion": -0.2, "turn": 0.5},
}


@pytest.mark.parametrize("kind", NOISY)
def test_every_image_is_rebuilt_bit_for_bit(kind: str):
    with served(**NOISY[kind]) as match, CameraClient(match.address, timeout=WAIT) as client:
        assert (client.empty == match.camera.empty()).all()
        for number in range(1, 13):
            match.run.advance()
            frame = client.next()
            while frame.number < number:  # the one that was there at the beginning
                frame = client.next()
            assert (frame.number, frame.step, frame.time) == (number, 30 * number, pytest.approx(0.03 * number))
            assert match.is_exact(frame)
            assert (client.image == frame.image).all() and (frame.image != client.empty).any()
    assert match.counters["clients"] == 1 and match.counters["skipped"] == 0
    if kind in ("clean", "full size"):
        assert match.counters["share"] < 0.02


def test_robots_that_are_taken_out_are_missing():
    with served() as match, CameraClient(match.address, timeout=WAIT) as client:
        match.run.out = {"blue0", "yellow2"}
        match.run.advance(60)
        frame = client.next()
        while frame.number < 2:
            frame = client.next()
        assert match.is_exact(frame)
        match.run.out = set()
        assert not match.is_exact(frame)


def test_a_client_knows_what_it_sees():
    with served(turn=0.3, distortion=-0.05) as match, CameraClient(match.address, timeout=WAIT) as client:
        robot = client.robots[3]
        assert (robot.name, robot.team, robot.id, robot.side) == ("yellow1", "yellow", 1, 0.075)
        assert all(colour in client.colours for colour in robot.code)
        assert (client.period, client.ball_radius) == (0.03, 0.0215)
        u, v = match.camera.lens.pixel(0.3, -0.2, 0.075)
        assert client.pixel_to_field(u, v, height=0.075) == pytest.approx((0.3, -0.2))
        assert client.field_to_pixel(0.3, -0.2, height=0.075) == pytest.approx((u, v))


# --- several clients -----------------------------------------------------------------------------------------------


def test_a_slow_client_misses_whole_frames_and_the_fast_one_none():
    with (
        served(noise=2.0) as match,
        CameraClient(match.address, timeout=WAIT) as fast,
        CameraClient(match.address, timeout=WAIT) as slow,
    ):
        for number in range(1, 61):
            match.run.advance()
            frame = fast.next()
            while frame.number < number:
                frame = fast.next()
            assert frame.number == number and match.is_exact(frame)
        seen = [-1]
        while seen[-1] <= 60:  # until it is back in the present
            try:
                frame = slow.next(timeout=0.5)
            except TimeoutError:
                match.run.advance()
                continue
            assert match.is_exact(frame)
            seen.append(frame.number)
        assert seen == sorted(set(seen)), "each at most once, in order"
        assert len(seen) < 60
    assert match.counters["skipped"] > 0


def test_the_newest_image_passes_over_a_queue():
    with (
        served() as match,
        CameraClient(match.address, timeout=WAIT) as watching,
        CameraClient(match.address, timeout=WAIT) as client,
    ):
        for number in range(1, 11):
            match.run.advance()
            while watching.next().number < number:
                pass
        frame = client.newest()
        assert frame.number > 5 and match.is_exact(frame)


def test_a_client_may_join_at_any_time():
    with served() as match, CameraClient(match.address, timeout=WAIT) as first:
        for _ in range(5):
            match.run.advance()
            first.next()
        with CameraClient(match.address, timeout=WAIT) as late:
            match.run.advance()
            frame = late.next()
            assert frame.number == 6 and match.is_exact(frame)


def test_a_client_killed_in_the_middle_of_a_frame_harms_nobody():
    with served(noise=2.0) as match, CameraClient(match.address, timeout=WAIT) as client:
        for number in range(1, 25):
            doomed = socket.create_connection(match.place, timeout=WAIT)
            doomed.sendall(HELLO)
            assert doomed.recv(100)
            match.run.advance()
            frame = client.next()
            while frame.number < number:
                frame = client.next()
            assert match.is_exact(frame)
            if number % 2:
                # Closed without a word: the server hears of it by an error in the middle of its sending.
                doomed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            doomed.close()
    assert match.counters["clients"] == 25


def test_one_that_takes_nothing_is_dropped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(camera_connections, "STALLED_SECONDS", 0.3)
    with served(noise=2.0) as match, socket.create_connection(match.place, timeout=WAIT) as sock:
        sock.sendall(HELLO)
        sock.recv(10)

        def dropped() -> bool:
            match.run.advance()
            try:
                sock.send(b"x")
            except OSError:
                return True
            return False

        until(dropped)
    assert match.counters["dropped"] == 1


def test_without_watchers_nothing_is_drawn():
    with served() as match:
        for _ in range(5):
            seen = match.run.step
            match.run.advance()
            ask(match.place, b"GET /nothing HTTP/1.1\r\n\r\n")  # so that the server has turned
            assert match.run.step > seen
    assert match.counters["made"] == 0 and match.counters["frames"] > 0


# --- latency and loss ----------------------------------------------------------------------------------------------


def test_images_come_as_late_as_the_scenario_says():
    with served(latency=0.1) as match, CameraClient(match.address, timeout=WAIT) as client:
        for number in range(1, 8):
            match.run.advance()
            if number < 4:  # the first was taken at 0 and is due at 0.1 s
                with pytest.raises(TimeoutError):
                    client.next(timeout=0.1)
            else:
                frame = client.next()
                assert frame.number == number - 4 and match.is_exact(frame)


def moments(steps: int = 90, **settings: Any) -> list[tuple[int, int]]:
    """Numbers of the images that are due, each with the step at which it is."""
    run = HandMovedMatch()
    source, found = Moments(run, CameraLink(**settings), seed=5), []
    for _ in range(steps):
        while (moment := source.next()) is not None:
            found.append((moment.number, run.step))
        run.advance(10)
    return found


def test_an_image_is_due_in_each_period_of_simulated_time():
    assert moments(10) == [(0, 0), (1, 30), (2, 60), (3, 90)]
    assert moments(9, period=0.025) == [(0, 0), (1, 30), (2, 50), (3, 80)]
    assert moments(5, period=0.001) == [(0, 0), (10, 10), (20, 20), (30, 30), (40, 40)], "no more than are published"
    assert moments(10, latency=0.035) == [(0, 40), (1, 70)]


def test_a_match_that_is_put_back_is_followed():
    run = HandMovedMatch()
    source = Moments(run, CameraLink(latency=0.05), seed=5)
    run.step = 3000
    assert source.next() is None
    run.step = 0
    assert source.next() is None
    run.step = 50
    moment = source.next()
    assert moment is not None and moment.number == 0


def test_lost_images_are_the_same_in_every_run():
    found = moments(3000, drop=0.3)
    assert len(found) / 1000 == pytest.approx(0.7, abs=0.06)  # four deviations of √(0.3 · 0.7 / 1000)
    assert found == moments(3000, drop=0.3)
    assert moments(drop=1.0) == []


# --- stills --------------------------------------------------------------------------------------------------------


def get(place: tuple[str, int], path: str) -> tuple[int, str, bytes]:
    answer = ask(place, f"GET {path} HTTP/1.1\r\nHost: here\r\nUser-Agent: test\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    fields = dict(line.split(": ") for line in lines[1:])
    assert int(fields["Content-Length"]) == len(body)
    return int(lines[0].split()[1]), fields["Content-Type"], body


def pixels(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def test_stills_on_request():
    with served() as match, CameraClient(match.address, timeout=WAIT) as client:
        match.run.advance()
        while client.next().number < 1:
            pass
        status, kind, body = get(match.place, "/frame.png")
        assert (status, kind) == (200, "image/png") and (pixels(body) == match.expected(30)).all()
        status, kind, body = get(match.place, "/frame.jpg?size=any")
        assert (status, kind) == (200, "image/jpeg")
        assert np.abs(pixels(body).astype(int) - match.expected(30)).mean() < 4
        status, _, body = get(match.place, "/empty.png")
        assert status == 200 and (pixels(body) == match.camera.empty()).all()
        match.run.advance()
        frame = client.next()
        assert match.is_exact(frame), "drawing a still does not disturb the stream"
        status, _, body = get(match.place, "/frame.png")
        assert (pixels(body) == match.expected(60)).all(), "the new one, not the one that was kept"
    assert match.counters["stills"] == 4


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 404),
        (b"GET /../../etc/passwd HTTP/1.0\r\n\r\n", 404),
        (b"GET /frame.png\xff HTTP/1.1\r\n\r\n", 404),
        (b"POST /frame.png HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 405),
        (b"GET /frame.png HTTP/9\r\n\r\n", 400),
        (b"GET  HTTP/1.1\r\n\r\n", 400),
        (b"GET /" + 300 * b"a" + b" HTTP/1.1\r\n\r\n", 400),
        (b"GET /frame.png HTTP/1.1\r\n" + 3000 * b"a: b\r\n", 400),
    ],
)
def test_requests_that_cannot_be_answered(request_bytes: bytes, status: int):
    with served() as match:
        assert ask(match.place, request_bytes).startswith(f"HTTP/1.1 {status} ".encode())
    assert match.counters["refused"] == 1


# --- strangers -----------------------------------------------------------------------------------------------------

STRANGERS = {
    "another version": (b"botz-camera 2\n", b"version 1"),
    "a word": (b"hello\n", b"begin with"),
    "an empty line": (b"\n", b"begin with"),
    "zeros": (bytes(300), b"begin with"),
    "no end": (1000 * b"x", b"begin with"),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", b"begin with"),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_strangers_are_told_what_to_say(kind: str):
    sent, expected = STRANGERS[kind]
    with served() as match:
        answer = ask(match.place, sent)
        assert answer.startswith(REFUSAL) and expected in answer and answer.endswith(b"\n")
        with CameraClient(match.address, timeout=WAIT) as client:
            match.run.advance()
            assert match.is_exact(client.next())


def test_a_hello_may_come_in_pieces():
    with served() as match, socket.create_connection(match.place, timeout=WAIT) as sock:
        for byte in HELLO:
            sock.sendall(bytes([byte]))
        assert sock.recv(13) == b"botz-camera 1"


def test_those_who_say_nothing_are_dropped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(camera_connections, "SILENT_SECONDS", 0.2)
    with served() as match:
        assert ask(match.place, b"") == b""
        assert ask(match.place, b"botz-cam") == b""
    assert match.counters["dropped"] == 2


def test_those_who_talk_on_are_dropped():
    with served() as match, socket.create_connection(match.place, timeout=WAIT) as sock:
        sock.sendall(HELLO)

        def dropped() -> bool:
            try:
                sock.sendall(bytes(10_000))
            except OSError:
                return True
            return False

        until(dropped)
        with CameraClient(match.address, timeout=WAIT) as client:
            match.run.advance()
            assert match.is_exact(client.next())


def test_there_is_an_end_to_the_number_of_clients(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(camera_connections, "MOST_CLIENTS", 3)
    with served() as match:
        clients = [CameraClient(match.address, timeout=WAIT) for _ in range(2)]
        clients.append(CameraClient(match.address, timeout=WAIT))
        with socket.create_connection(match.place, timeout=WAIT) as one_more:
            one_more.sendall(b"botz-camera 1\n")
            assert b"too many" in read_all(one_more)
        match.run.advance()
        for client in clients:
            frame = client.next()
            assert match.is_exact(frame)
            client.close()
    assert match.counters["refused"] == 1 and match.counters["clients"] == 3


def test_an_address_has_not_all_the_places(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(camera_connections, "MOST_PER_ADDRESS", 1)
    with served() as match, CameraClient(match.address, timeout=WAIT), ExitStack() as stack:
        one_more = stack.enter_context(socket.create_connection(match.place, timeout=WAIT))
        one_more.sendall(b"botz-camera 1\n")
        assert b"too many" in read_all(one_more)


def test_junk_connections_keep_nobody_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(camera_connections, "MOST_VISITORS", 8)
    monkeypatch.setattr(camera_connections, "MOST_CLIENTS", 3)
    with served() as match, ExitStack() as stack:
        junk = [stack.enter_context(socket.create_connection(match.place, timeout=WAIT)) for _ in range(24)]
        client = stack.enter_context(CameraClient(match.address, timeout=WAIT))
        junk += [stack.enter_context(socket.create_connection(match.place, timeout=WAIT)) for _ in range(24)]
        assert read_all(junk[0]) == b"", "the first that said nothing made room"
        match.run.advance()
        assert match.is_exact(client.next())
    assert match.counters["clients"] == 1 and match.counters["dropped"] >= 16


def test_an_address_that_is_taken():
    with served() as match, pytest.raises(OSError), served(listen=match.address):
        pass


# --- the end -------------------------------------------------------------------------------------------------------


def test_the_end_of_the_match_ends_the_iteration():
    with served() as match, CameraClient(match.address, timeout=WAIT) as client:
        match.run.advance()
        seen = []
        for frame in client:
            seen.append(frame.number)
            match.run.finished = True
        assert seen and seen[-1] <= 1
        with pytest.raises(CameraGone, match="closed the connection"):
            client.next()


def test_a_pause_is_no_end():
    with served() as match, CameraClient(match.address, timeout=WAIT) as client:
        match.run.advance()
        while client.next().number < 1:
            pass
        with pytest.raises(TimeoutError, match="paused"):
            client.next(timeout=0.05)
        match.run.advance()
        assert client.next().number == 2
