"""Hostile input to the lab: refused, told in the log, and the run that is going on does not notice."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import msgpack
import pytest
from common import PATIENCE
from lab_rig import SCENARIO, Page, RunningLab, lab_at
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from botz.view.lab.clients import Allowance
from botz.view.lab.guard import MOST_WAITING, Guard
from botz.view.lab.places import Limited

TOKEN = "a-token-of-the-tests"
POSE = "rover/pose"


@pytest.fixture(scope="module")
def watcher(lab: RunningLab) -> Iterator[Page]:
    """A well-behaved page with a run that goes on all the time."""
    page = Page(lab, name="watcher")
    run = page.start(set={"time.duration": 1e6}, factor=1.0)
    page.say(t="watch", run=run["id"], channels=[POSE], rate=20)
    yield page
    page.close()


@pytest.fixture(autouse=True)
def run_unharmed(watcher: Page, lab: RunningLab) -> Iterator[None]:
    """After each test the same run goes on, and pages are still welcome."""
    yield
    lab.leave()
    while watcher.hear() is not None:
        pass
    first = watcher.frame()
    watcher.frame(lambda frame: frame["s"] > first["s"] + 100)
    assert lab.get("/api/health").json()["status"] == "ok"
    deadline = time.monotonic() + PATIENCE
    while len(lab.server.lab.clients) > 1:  # whoever was here has gone
        assert time.monotonic() < deadline
        time.sleep(0.02)
    lab.page()
    lab.leave()


def refused(lab: RunningLab, kind: str) -> int:
    return lab.server.lab.guard.refusals.counts.get(kind, 0)


# --- who it is -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def locked(own_shared_memory: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    """A lab with a token."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botz.view.lab.guard.WRONG_TOKEN_SECONDS", 0.02)
        with lab_at(tmp_path_factory.mktemp("locked"), token=TOKEN) as running:
            yield running


@pytest.mark.parametrize("token", [None, "", "a-token-of-the-test", TOKEN + "s", TOKEN.upper(), "ä" * 20])
def test_a_wrong_token_opens_nothing(locked: RunningLab, token: str | None, caplog: pytest.LogCaptureFixture):
    before = refused(locked, "wrong token")
    page = Page(locked, hello=False)
    page.say(t="hello", token=token, name="x")
    assert page.closed()[0] == 4401
    assert not [m for m in page.told if m["t"] == "welcome"]
    assert locked.get("/api/scenarios", authorization="").status_code == 401
    if token and token.isascii():
        assert locked.get("/api/recordings", authorization=f"Bearer {token}").status_code == 401
        assert locked.get("/api/recordings", authorization="", cookie=f"{cookie(locked)}={token}").status_code == 401
        assert "set-cookie" not in locked.get(f"/?token={token}", authorization="").headers
    assert token is None or refused(locked, "wrong token") > before


def test_the_right_token_opens_and_the_page_itself_needs_none(locked: RunningLab):
    page = Page(locked, token=TOKEN)
    page.close()
    assert locked.get("/api/scenarios", authorization=f"Bearer {TOKEN}").status_code == 200
    # An address stands in logs and histories: only the printed one may hold the token, and it buys a cookie.
    assert locked.get(f"/api/scenarios?token={TOKEN}", authorization="").status_code == 401
    assert locked.get("/api/health", authorization="").status_code == 200
    assert locked.server.address == f"{locked.origin}/?token={TOKEN}"


def cookie(lab: RunningLab) -> str:
    return f"botz-lab-{lab.port}"


def test_on_loopback_too_nothing_is_answered_without_the_token(lab: RunningLab):
    """Other users of the machine reach loopback; a scenario that they start runs the owner's Python."""
    assert len(lab.token) >= 24
    assert lab.get("/api/scenarios", authorization="").status_code == 401
    headers = {"origin": lab.origin}
    answer = httpx.post(f"{lab.origin}/api/recordings/x/export", json={}, headers=headers, trust_env=False)
    assert answer.status_code == 401 and "terminal" in answer.json()["error"]
    before = [run.id for run in lab.server.lab.runs]
    page = Page(lab, hello=False)
    page.say(t="hello", token=None, name="another user")
    with suppress(ConnectionClosed):
        page.say(t="start", scenario=SCENARIO)
    assert page.closed()[0] == 4401
    assert [run.id for run in lab.server.lab.runs] == before


def test_the_printed_address_gives_a_cookie_that_opens_everything(lab: RunningLab):
    first = httpx.get(lab.server.address, trust_env=False)
    given = first.headers["set-cookie"]
    name, _, session = given.partition(";")[0].partition("=")
    assert name == cookie(lab) and lab.token not in given
    assert "HttpOnly" in given and "SameSite=Strict" in given and "Path=/" in given
    assert lab.get("/api/scenarios", authorization="", cookie=f"other=1; {name}={session}").status_code == 200
    headers = {"Cookie": f"{name}={session}"}
    with connect(lab.ws, origin=lab.origin, additional_headers=headers) as page:  # type: ignore[arg-type]
        page.send(msgpack.packb({"t": "hello", "token": None, "name": "x"}))
        assert msgpack.unpackb(page.recv(timeout=PATIENCE))["t"] == "welcome"
    assert "set-cookie" not in lab.get("/", authorization="").headers


def test_guesses_do_not_lock_out_who_has_a_made_token_or_the_cookie(
    lab: RunningLab, locked: RunningLab, monkeypatch: pytest.MonkeyPatch
):
    for one in (lab, locked):
        guard = one.server.lab.guard
        monkeypatch.setitem(guard._waiting, "127.0.0.1", MOST_WAITING)
        by_cookie = one.get("/api/scenarios", authorization="", cookie=f"{cookie(one)}={guard.session}")
        assert by_cookie.status_code == 200
        assert one.get("/api/scenarios").status_code == (429 if guard.chosen else 200)


def test_who_guesses_is_not_looked_at():
    async def guess() -> None:
        guard = Guard("192.168.1.7", 80, TOKEN)
        waiting = []
        for port in range(MOST_WAITING):
            assert not guard.is_guessing("192.168.1.8:999")
            waiting.append(asyncio.create_task(guard.wrong_token(f"192.168.1.8:{port}")))
            await asyncio.sleep(0)
        assert guard.is_guessing("192.168.1.8:999") and not guard.is_guessing("192.168.1.9:999")
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert not guard.is_guessing("192.168.1.8:999")

    asyncio.run(guess())


def test_a_token_is_always_made_and_a_short_one_refused():
    from botz.errors import InputError
    from botz.view.lab.server import LabServer, LabSettings

    for host in ("127.0.0.1", "0.0.0.0"):
        made = Guard(host, 80).token
        assert len(made) >= 24 and made != Guard(host, 80).token
    with pytest.raises(InputError, match="at least 16"):
        LabServer(LabSettings(port=0, token="secret"))


HOSTS = ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1", "localhost.evil.example:{port}", "[::1]:1"]
HOSTS += [
    "127.0.0.1:{port}@evil.example",
    "evil.example#127.0.0.1:{port}",
    "user@127.0.0.1:{port}",
    "169.254.1.1:{port}",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_wrong_host_is_refused(lab: RunningLab, host: str):
    before = refused(lab, "wrong Host")
    host = host.format(port=lab.port)
    for path in ("/", "/api/scenarios", "/api/health"):
        assert lab.get(path, host=host).status_code in (400, 421)
    assert handshake(lab, host=host, origin=f"http://{host}").startswith((b"HTTP/1.1 421", b"HTTP/1.1 400"))
    assert refused(lab, "wrong Host") >= before + 1


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST:{port}"])
def test_names_of_loopback_are_this_server(lab: RunningLab, host: str):
    host = host.format(port=lab.port)
    assert lab.get("/api/health", host=host).status_code == 200
    assert handshake(lab, host=host, origin=f"http://{host}").startswith(b"HTTP/1.1 101")


def test_bound_to_all_addresses_any_address_is_right_and_foreign_names_are_not():
    guard = Guard("0.0.0.0", 80)
    assert guard.knows_host("192.168.1.7:80") and guard.knows_host("192.168.1.7") and guard.knows_host("[fe80::1]:80")
    assert not guard.knows_host("rebound.example:80")


ORIGINS = ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", "http://localhost:{port}"]
ORIGINS += ["http://127.0.0.1:{port}.evil.example", "file://", ""]


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_wrong_origin_is_refused(lab: RunningLab, origin: str):
    before = refused(lab, "wrong Origin")
    origin = origin.format(port=lab.port)
    with pytest.raises(InvalidStatus) as refusal, connect(lab.ws, origin=origin):  # type: ignore[arg-type]
        pass
    assert refusal.value.response.status_code == 403
    answer = httpx.post(f"{lab.origin}/api/recordings/x/export", json={}, headers={"origin": origin}, trust_env=False)
    assert answer.status_code == 403
    assert lab.get("/api/scenarios", origin=origin).status_code == 403
    assert refused(lab, "wrong Origin") == before + 3


def test_without_an_origin_nothing_acts(lab: RunningLab):
    with pytest.raises(InvalidStatus), connect(lab.ws):
        pass
    assert httpx.post(f"{lab.origin}/api/recordings/x/export", json={}, trust_env=False).status_code == 403
    assert lab.get("/api/scenarios", **{"sec-fetch-site": "cross-site"}).status_code == 403


def test_answers_carry_their_policy(lab: RunningLab):
    for path in ("/", "/api/health", "/api/recordings/none/info", "/nowhere"):
        headers = lab.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and "access-control-allow-origin" not in headers


def handshake(lab: RunningLab, *, host: str, origin: str) -> bytes:
    """The first line of the answer to a WebSocket's opening."""
    lines = ["GET /ws HTTP/1.1", f"Host: {host}", f"Origin: {origin}", "Connection: Upgrade", "Upgrade: websocket"]
    lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", ""]
    with socket.create_connection(("127.0.0.1", lab.port), timeout=PATIENCE) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return connection.recv(4096).split(b"\r\n")[0]


# --- what it says ----------------------------------------------------------------------------------------------


def test_an_oversized_message_ends_the_connection(lab: RunningLab):
    page = lab.page()
    with suppress(ConnectionClosed):
        page.socket.send(b"\xc4" + b"x" * (1 << 17))
    assert page.closed()[0] in (1009, 1006)
    body = {"format": "glb", "more": "x" * (1 << 17)}
    assert lab.post("/api/recordings/x/export", body).status_code == 413


DEEP = b"\x91" * 5000 + b"\xc0"
MALFORMED: list[Any] = [
    b"", b"\xc1", b"\xff" * 100, DEEP, b"{}", msgpack.packb(7), msgpack.packb([1, 2]), msgpack.packb({}), "text",
    msgpack.packb({"t": "nothing"}), msgpack.packb({"t": 5}), msgpack.packb({1: 2}), msgpack.packb({"t": "drive"}),
    msgpack.packb({"t": "watch", "run": "x", "channels": "all", "rate": 60}),
    msgpack.packb({"t": "watch", "run": "x", "channels": ["a"], "rate": float("nan")}),
    msgpack.packb({"t": "watch", "run": "x", "channels": ["a"], "rate": -1}),
    msgpack.packb({"t": "speed", "run": "x", "factor": float("inf")}),
    msgpack.packb({"t": "step", "run": "x", "n": 2**62}), msgpack.packb({"t": "step", "run": "x", "n": 0.5}),
    msgpack.packb({"t": "pause", "run": {"$ne": 1}, "on": True}), msgpack.packb({"t": "ping", "at": "now"}),
    msgpack.packb({"t": "start", "scenario": SCENARIO, "set": {"seed": [1]}}),
    msgpack.packb({"t": "start", "scenario": SCENARIO, "set": {str(k): 1 for k in range(2000)}}),
    msgpack.packb({"t": "start", "scenario": "x" * 5000}), msgpack.packb(msgpack.ExtType(5, b"abc")),
]  # fmt: skip


@pytest.mark.parametrize("data", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_message_is_told_and_the_connection_stays(lab: RunningLab, data: bytes | str):
    page = lab.page()
    page.socket.send(data)
    assert page.error()
    page.say(t="ping", at=1.0)
    page.wait_for(lambda m: m["t"] == "pong")


def test_a_page_of_nonsense_is_dropped(lab: RunningLab):
    page = lab.page()
    before = refused(lab, "page dropped")
    with suppress(ConnectionClosed):
        for _ in range(10):
            page.socket.send(os.urandom(50))
    assert page.closed()[0] == 1008
    assert refused(lab, "page dropped") == before + 1


def test_who_does_not_say_hello_is_dropped(lab: RunningLab):
    before = [run.id for run in lab.server.lab.runs]
    page = Page(lab, hello=False)
    page.say(t="start", scenario=SCENARIO)
    assert page.closed()[0] == 1008
    assert [run.id for run in lab.server.lab.runs] == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"axes": {"forward": 2.0}},
        {"axes": {"forward": float("nan")}},
        {"axes": {str(k): 0.0 for k in range(40)}},
        {"robot": "nobody"},
        {"mode": "rocket"},
        {"seq": -1},
        {"run": "nowhere"},
    ],
    ids=str,
)
def test_wrong_driving_moves_nothing(watcher: Page, wrong: dict[str, Any]):
    key = watcher.started[0]
    drive = {
        "t": "drive",
        "run": key,
        "robot": "rover",
        "mode": "drive",
        "axes": {"forward": 0.0},
        "seq": 4711,
        **wrong,
    }
    lab_page = watcher.lab.server.lab.clients[watcher.viewer]
    watcher.say(**drive)
    assert watcher.error()
    lab_page.mistakes = 0  # this page is to stay for the other tests
    assert watcher.frame()["a"] != 4711


def test_a_flood_of_messages_is_dropped(lab: RunningLab):
    before = refused(lab, "page dropped")
    page = lab.page()
    data = msgpack.packb({"t": "ping", "at": 0.0})
    with suppress(ConnectionClosed):
        for _ in range(20000):
            page.socket.send(data)
    assert page.closed()[0] in (1008, 1006)
    deadline = time.monotonic() + PATIENCE
    while refused(lab, "page dropped") == before:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_flood_of_pings_is_cut_off(lab: RunningLab):
    page = lab.page()
    with suppress(ConnectionClosed, OSError):
        for _ in range(5000):
            page.socket.ping()
    assert page.closed()[0] in (1008, 1006)


def test_a_page_that_stops_reading_costs_the_others_nothing(
    lab: RunningLab, watcher: Page, monkeypatch: pytest.MonkeyPatch
):
    """It asks for frames and takes none of them: it is dropped, and the watcher's come all the while."""
    monkeypatch.setattr("botz.view.lab.clients.STALLED_SECONDS", 0.5)
    # Little enough that a few seconds of frames fill it; the system has its own idea of the least.
    monkeypatch.setattr("botz.view.lab.clients.FULL_BYTES", 1000)
    monkeypatch.setattr("botz.view.lab.protocols.SEND_BUFFER", 1024)
    before = refused(lab, "page dropped")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    connection.connect(("127.0.0.1", lab.port))
    connect_by_hand(connection, lab)
    run = watcher.run(watcher.started[0], lambda run: True)
    channels = [channel[0] for channel in run["channels"]]
    send_by_hand(connection, {"t": "watch", "run": run["id"], "channels": channels, "rate": 60})
    deadline = time.monotonic() + PATIENCE
    while refused(lab, "page dropped") == before:
        watcher.frame()
        assert time.monotonic() < deadline
    connection.close()


def connect_by_hand(connection: socket.socket, lab: RunningLab) -> None:
    lines = ["GET /ws HTTP/1.1", f"Host: 127.0.0.1:{lab.port}", f"Origin: {lab.origin}", "Connection: Upgrade"]
    lines += ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", ""]
    connection.sendall("\r\n".join(lines).encode())
    assert connection.recv(4096).startswith(b"HTTP/1.1 101")
    send_by_hand(connection, {"t": "hello", "token": lab.token, "name": "stuck"})
    time.sleep(0.3)


def send_by_hand(connection: socket.socket, message: dict[str, Any]) -> None:
    data: bytes = msgpack.packb(message)
    size = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + len(data).to_bytes(2, "big")
    connection.sendall(b"\x82" + size + b"\0\0\0\0" + data)


# --- too many --------------------------------------------------------------------------------------------------


def test_of_200_pages_only_so_many_are_let_in(lab: RunningLab):
    before = refused(lab, "too many pages") + refused(lab, "too many connections")
    opened, turned_away = [], 0
    for _ in range(200):
        try:
            opened.append(Page(lab))
        except Exception:  # refused by an answer, or cut off
            turned_away += 1
    assert len(opened) == 31 and turned_away == 169  # and the watcher
    assert refused(lab, "too many pages") + refused(lab, "too many connections") >= before + 169
    for page in opened:
        page.vanish()


HALVES = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1",
    "half a body": b"POST /api/recordings/x/export HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\n{",
}


@pytest.mark.parametrize("half", HALVES)
def test_half_sent_requests_keep_nobody_out(lab: RunningLab, half: str):
    """Also somebody without the token, since the page itself needs none."""
    data = HALVES[half].replace(b"{host}", f"127.0.0.1:{lab.port}".encode())
    stuck = []
    for _ in range(200):
        stuck.append(socket.create_connection(("127.0.0.1", lab.port)))
        with suppress(OSError):
            stuck[-1].sendall(data)
    assert lab.get("/api/scenarios").status_code == 200
    lab.page()
    for connection in stuck:
        connection.close()


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("again", [False, True])
def test_a_request_that_does_not_arrive_is_given_up(
    lab: RunningLab, monkeypatch: pytest.MonkeyPatch, half: str, again: bool
):
    """With the token too, and as the second request of a connection; pieces do not begin the time anew."""
    monkeypatch.setattr("botz.view.lab.protocols.HEAD_SECONDS", 0.4)
    monkeypatch.setattr("botz.view.lab.protocols.BODY_SECONDS", 0.4)
    host = f"127.0.0.1:{lab.port}".encode()
    bearer = b"\r\nOrigin: http://" + host + b"\r\nAuthorization: Bearer " + lab.token.encode()
    data = HALVES[half].replace(b"{host}", host + bearer)
    with socket.create_connection(("127.0.0.1", lab.port), timeout=PATIENCE) as connection:
        if again:
            connection.sendall(b"GET /api/health HTTP/1.1\r\nHost: " + host + bearer + b"\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(data)
        deadline = time.monotonic() + PATIENCE
        connection.settimeout(0.05)
        while True:
            assert time.monotonic() < deadline
            try:
                if connection.recv(65536) == b"":
                    break
            except TimeoutError:
                with suppress(OSError):
                    connection.sendall(b"x" if data else b"")
            except ConnectionError:
                break


def test_strangers_who_come_again_and_again_are_not_listened_to(lab: RunningLab, monkeypatch: pytest.MonkeyPatch):
    """Beyond an allowance they are cut off before anything is parsed, and those with the token notice nothing."""
    most = 50
    for allowance in ("_pieces", "_pieces_of"):  # as they are, but that no time fills them again
        kind: Any = Allowance if allowance == "_pieces" else Limited
        monkeypatch.setattr(lab.server.lab.guard.places, allowance, kind(1e-6, 1e6 * most))
    before = refused(lab, "too many requests without the token")
    request = f"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\nConnection: close\r\n\r\n".encode()
    answered = 0
    for _ in range(2 * most):
        with suppress(OSError), socket.create_connection(("127.0.0.1", lab.port), timeout=PATIENCE) as connection:
            connection.sendall(request)
            answered += connection.recv(65536).startswith(b"HTTP/1.1 200")
    assert answered == most and refused(lab, "too many requests without the token") == before + most
    assert lab.get("/api/scenarios").status_code == 200
    assert is_welcome(lab, "cookie") and is_welcome(lab, "header")


MOST_DROPS = 10


@pytest.fixture
def counting(own_shared_memory: None, tmp_path: Path) -> Iterator[RunningLab]:
    """A lab in which time makes no dropped page forgotten."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botz.view.lab.places.DROPS_PER_SECOND", 1e-6)
        patch.setattr("botz.view.lab.places.DROPS_BURST_SECONDS", 1e6 * MOST_DROPS)
        with lab_at(tmp_path) as lab:
            yield lab


def owners(lab: RunningLab, way: str) -> dict[str, str]:
    """What a page of somebody who has the token sends when it opens its WebSocket."""
    if way == "cookie":
        return {"Cookie": f"{cookie(lab)}={lab.server.lab.guard.session}"}
    return lab.bearer if way == "header" else {}


def is_welcome(lab: RunningLab, way: str) -> bool:
    with connect(lab.ws, origin=lab.origin, additional_headers=owners(lab, way)) as page:  # type: ignore[arg-type]
        page.send(msgpack.packb({"t": "hello", "token": lab.token, "name": "owner"}))
        return bool(msgpack.unpackb(page.recv(timeout=PATIENCE))["t"] == "welcome")


def end_of_a_bad_page(lab: RunningLab, way: str) -> int:
    """How one that sends nonsense ends: the code of its WebSocket, or of the answer that it gets instead."""
    try:
        with connect(lab.ws, origin=lab.origin, additional_headers=owners(lab, way)) as page:  # type: ignore[arg-type]
            page.send(msgpack.packb({"t": "hello", "token": lab.token, "name": "x"}))
            with suppress(ConnectionClosed):
                for _ in range(6):
                    page.send(b"nonsense")
            while True:
                page.recv(timeout=PATIENCE)
    except InvalidStatus as refusal:
        return refusal.response.status_code
    except ConnectionClosed as end:
        return end.rcvd.code if end.rcvd is not None else 1006


@pytest.mark.parametrize("way", ["cookie", "header", "hello"])
def test_an_address_whose_pages_are_dropped_has_to_wait(counting: RunningLab, way: str):
    """A page that misbehaves and comes back at once would have a fresh allowance each time."""
    stays = counting.page()
    ends = [end_of_a_bad_page(counting, way) for _ in range(MOST_DROPS + 3)]
    assert ends == [1008] * MOST_DROPS + [1013 if way == "hello" else 429] * 3
    stays.say(t="ping", at=1.0)
    stays.wait_for(lambda m: m["t"] == "pong")


@pytest.mark.parametrize("rubbish", [b"nonsense", b"x" * 5000])
def test_strangers_who_are_dropped_keep_out_nobody_with_the_token(counting: RunningLab, rubbish: bytes):
    """On loopback another user of the machine has the same address."""
    turned_away = 0
    for _ in range(MOST_DROPS + 3):
        try:
            with connect(counting.ws, origin=counting.origin) as page:  # type: ignore[arg-type]
                page.send(rubbish)
                with pytest.raises(ConnectionClosed):
                    page.recv(timeout=PATIENCE)
        except InvalidStatus as refusal:
            assert refusal.response.status_code == 429
            turned_away += 1
    assert turned_away == 3
    assert is_welcome(counting, "cookie") and is_welcome(counting, "header")


def test_pages_that_come_and_go_have_to_wait(lab: RunningLab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lab.server.lab.guard.places, "entries", Limited(1e-6, 3e6))
    for _ in range(3):
        lab.page().close()
    page = Page(lab, hello=False)
    page.say(t="hello", token=lab.token, name="x")
    assert page.closed()[0] == 1013


@pytest.mark.parametrize("half", [half for half in HALVES if half != "nothing"])
def test_an_aborted_request_is_not_told_as_a_failure(lab: RunningLab, caplog: pytest.LogCaptureFixture, half: str):
    host = f"127.0.0.1:{lab.port}\r\nOrigin: {lab.origin}\r\nAuthorization: Bearer {lab.token}".encode()
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", lab.port), timeout=PATIENCE) as connection:
            connection.sendall(HALVES[half].replace(b"{host}", host))
            time.sleep(0.05)
    # One that is answered in order comes after them.
    assert lab.get("/api/scenarios").status_code == 200
    assert not [record for record in caplog.records if record.exc_info or record.levelname in ("ERROR", "CRITICAL")]


# --- elsewhere on the disk -------------------------------------------------------------------------------------

PATHS = ["..", "../..", "../secret", "..%2fsecret", "%2e%2e%2fsecret", "%2e%2e/secret", "..%252fsecret", "..\\secret"]
PATHS += [
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "....//secret",
    "secret%00",
    "%c0%ae%c0%ae%2fsecret",
    "~root",
    "file:%2f%2f",
]
PATHS += ["link", "link%2frecording.mcap", ".", "%2e", "C:%5cWindows", "%2F..%2Fsecret"]


@pytest.fixture(scope="module")
def secret(lab: RunningLab) -> str:
    """A recording and a scenario beside the folders that are served, and links that lead to them."""
    runs, root = lab.server.lab.recordings.folder, lab.server.lab.catalogue.root
    assert root is not None
    for base in (runs, root):
        outside = base.parent / "secret"
        outside.mkdir(exist_ok=True)
        (outside / "recording.mcap").write_bytes(b"a secret")
        (outside / "secret.yaml").write_text("engine: kinematics\nrobots: {}\ndescription: a secret\n")
        with suppress(FileExistsError):
            (base / "link").symlink_to(outside)
        with suppress(FileExistsError):
            (base / "link.yaml").symlink_to(outside / "secret.yaml")
    return "a secret"


ROUTES = ["/api/recordings/{}/info", "/api/recordings/{}/scene.glb", "/api/recordings/{}/data?channels=a"]
ROUTES += ["/api/recordings/{}/workspace?robot=a", "/api/runs/{}/scene.glb", "/api/runs/{}/workspace?robot=a"]
ROUTES += ["/api/exports/{}", "/api/exports/{}/file", "/assets/{}", "/api/form?scenario={}", "/{}"]


@pytest.mark.parametrize("path", PATHS)
def test_no_name_leads_out_of_what_is_served(lab: RunningLab, secret: str, path: str):
    for route in ROUTES:
        answer = raw_get(lab, route.format(path))
        status = int(answer.split(b" ", 2)[1])
        assert status in (307, 400, 404, 405, 422) or (status in (200, 503) and path in (".", "%2e", "..", "../..")), (
            route
        )
        assert secret.encode() not in answer and b"root:" not in answer, route
    answer = raw_get(lab, f"/api/recordings/{path}/export", method="POST", body=b'{"format": "glb"}')
    assert answer.split(b" ", 2)[1] in (b"400", b"404", b"405")


def raw_get(lab: RunningLab, target: str, *, method: str = "GET", body: bytes = b"") -> bytes:
    """Without a library that would tidy up the path first."""
    head = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\nOrigin: {lab.origin}\r\nConnection: close\r\n"
    head += f"Authorization: Bearer {lab.token}\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", lab.port), timeout=PATIENCE) as connection:
        connection.sendall(head.encode() + body)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


NAMES = [
    "../secret/secret.yaml",
    "link/secret.yaml",
    "link.yaml",
    "below/../../secret/secret.yaml",
    "./below/small.yaml",
]
NAMES += ["/etc/passwd", "below", "notes.txt", "fails.py", "differential-circle.yaml", "", "below/small.yaml\0", "~"]


@pytest.mark.parametrize("name", NAMES)
def test_only_listed_scenarios_start(lab: RunningLab, secret: str, name: str):
    root = lab.server.lab.catalogue.root
    page = lab.page()
    for scenario in (name, f"{root}/{name}"):
        page.say(t="start", scenario=scenario[:190])
        assert "scenario" in page.error()
    listed = [one["name"] for one in lab.json("/api/scenarios")]
    assert "link.yaml" not in listed and not any(one.startswith("link/") for one in listed)


@pytest.mark.parametrize("path", ["../secret", "link", "/etc", "..", ""])
def test_only_listed_recordings_are_started_from(lab: RunningLab, secret: str, path: str):
    page = lab.page()
    page.say(t="start", from_={"recording": path, "time": 0.0})
    assert page.error()
    assert "link" not in [one["id"] for one in lab.json("/api/recordings")]


def test_a_recording_may_not_bring_code_along(lab: RunningLab, tmp_path: Path):
    """Its own would run with the lab's rights; that of a scenario under the root was put there by its user."""
    from dataclasses import replace

    from botz.errors import InputError
    from botz.scenario.load import load

    inner = lab.server.lab
    loaded = load(SCENARIO)
    root = inner.catalogue.root
    inner._check_code(loaded)
    inner._check_code(replace(loaded, user_code=(f"{root}/fails.py:Fails",)))
    for code in ("/tmp/evil.py:Evil", f"{root}/../evil.py:Evil", "os:system", "evil.py:Evil"):
        with pytest.raises(InputError, match="code of its own"):
            inner._check_code(replace(loaded, user_code=(code,)))
