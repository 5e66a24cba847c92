"""Those who watch a camera over TCP. Nobody who connects can hold anything up.

A client that reads slowly misses whole frames, one that takes nothing is dropped, one that says nothing is dropped, and
what a client sends after its first line is thrown away. Who has not said yet what it wants waits apart from those who
have, so that strangers take nobody's place. The same port answers browsers that ask for a still image.
"""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from enum import Enum, auto

from botz.endpoints.camera.protocol import HELLO, REFUSAL, VERSION
from botz.endpoints.listening import (
    ACCEPTED_AT_ONCE,
    LARGEST_INPUT,
    SEND_BUFFER,
    STALLED_SECONDS,
    YIELDING_SECONDS,
    listening,
)

MOST_CLIENTS, MOST_PER_ADDRESS = 32, 24
"""Those who watch or wait for a still, in all and from one address: others have room kept."""
MOST_VISITORS = 64
"""Those who have not said yet what they want, or have their answer; a further one takes the place of the first."""
SILENT_SECONDS = 5.0
"""A client that has not said by then what it wants is dropped; a still that cannot be made by then is refused."""
LEAVING_SECONDS = 1.0
"""How long a client may take to hang up after its answer."""
LONGEST_HELLO = 256
LONGEST_REQUEST = 8192
READ_AT_ONCE = 4096
REQUEST = re.compile(rb"([A-Z]{1,10}) (\S{1,200}) HTTP/1\.[01]")
USAGE = f"begin with the line {HELLO.decode().strip()!r}, or ask for /frame.png, /frame.jpg or /empty.png"
TEXTS = {400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable", 200: "OK"}


class State(Enum):
    STRANGER = auto()
    """Has not said yet what it wants."""
    WATCHING = auto()
    STILL = auto()
    """Waits for one image."""
    LEAVING = auto()
    """Has its answer, or gets the rest of it."""


class Connection:
    """One client and what it has not taken yet."""

    def __init__(self, sock: socket.socket, host: str, now: float):
        self.sock = sock
        self.host = host
        self.arrived = now
        self.state = State.STRANGER
        self.path = ""
        self.still: Future[bytes] | None = None
        """Name of the still that it waits for, and the still once it is being made."""
        self.said = bytearray()
        self.received = 0
        self.outgoing: list[memoryview] = []
        self.deadline = now + SILENT_SECONDS
        """When it is dropped; moves on while it does its part."""
        self._finished = False
        self.heard_all = False
        """It has closed its side after a request, and waits for the answer."""

    def greet(self, *messages: bytes) -> None:
        self.state = State.WATCHING
        self.outgoing = [memoryview(part) for part in messages]

    def offer(self, frame: bytes, now: float) -> bool:
        """A frame, unless the last one is still on its way; whether it was taken."""
        if self.outgoing:
            return False
        self.outgoing = [memoryview(frame)]
        self.deadline = now + STALLED_SECONDS
        self.flush(now)
        return True

    def answer(self, data: bytes, now: float) -> None:
        """The last words to this client."""
        self.state = State.LEAVING
        self.outgoing = [memoryview(data)]
        self.deadline = now + STALLED_SECONDS
        self.flush(now)

    def respond(self, status: int, body: bytes, kind: str, now: float) -> None:
        head = (
            f"HTTP/1.1 {status} {TEXTS[status]}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        )
        self.answer(head.encode() + body, now)

    def flush(self, now: float) -> bool:
        """Send what the system takes; False when the client is gone."""
        try:
            while self.outgoing:
                sent = self.sock.send(self.outgoing[0])
                self.deadline = now + STALLED_SECONDS
                if sent < len(self.outgoing[0]):
                    self.outgoing[0] = self.outgoing[0][sent:]
                    return True
                self.outgoing.pop(0)
            if self.state is State.LEAVING and not self._finished:
                # Closing at once while something unread lies here would reset the connection and lose the answer.
                self._finished = True
                self.deadline = now + LEAVING_SECONDS
                self.sock.shutdown(socket.SHUT_WR)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            self.outgoing.clear()
            return False
        return True

    def hear(self) -> bool:
        """Take what has come; False when the client is gone or says too much."""
        try:
            data = self.sock.recv(READ_AT_ONCE)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
        if not data and self.state in (State.STILL, State.LEAVING) and not self._finished:
            self.heard_all = True
            return True
        self.received += len(data)
        if self.state is State.STRANGER:
            self.said += data
        return bool(data) and self.received <= LARGEST_INPUT

    @property
    def seated(self) -> bool:
        return self.state in (State.WATCHING, State.STILL)

    def yields(self, now: float) -> bool:
        """Whether it has taken nothing for a while."""
        taken = self.deadline - STALLED_SECONDS
        return self.state is State.WATCHING and bool(self.outgoing) and now - taken > YIELDING_SECONDS

    def overdue(self, now: float) -> bool:
        idle = self.state is State.WATCHING and not self.outgoing
        return not idle and now > self.deadline


class Connections:
    """The listening socket and its clients, in one selector. No call waits but `turn`."""

    def __init__(self, host: str, port: int, *, greeting: bytes):
        self._greeting = greeting
        self._clients: dict[socket.socket, Connection] = {}
        self.watched = self.refused = self.dropped = self.skipped = self.sent = 0
        """Clients that came to watch, were refused or dropped; frames skipped for slow ones and sent."""
        self.bytes = 0
        self._listening = listening(host, port)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self.address = "{}:{}".format(*self._listening.getsockname())

    def close(self) -> None:
        for client in list(self._clients.values()):
            self._forget(client)
        self._selector.close()
        self._listening.close()

    @property
    def anyone_ready(self) -> bool:
        """Whether a frame would be taken by somebody."""
        return any(client.state is State.WATCHING and not client.outgoing for client in self._clients.values())

    @property
    def anyone_busy(self) -> bool:
        return any(client.outgoing for client in self._clients.values())

    def waiting_for_stills(self) -> Iterator[Connection]:
        return (client for client in list(self._clients.values()) if client.state is State.STILL)

    def skip(self) -> None:
        """Count a frame that nobody could take."""
        self.skipped += sum(client.state is State.WATCHING for client in self._clients.values())

    def show(self, frame: bytes) -> None:
        """Send a frame to all who have taken the last one."""
        now = time.monotonic()
        for client in list(self._clients.values()):
            if client.state is not State.WATCHING:
                continue
            if client.offer(frame, now):
                self.sent += 1
                self.bytes += len(frame)
            else:
                self.skipped += 1
            self.watch(client)

    def turn(self, wait: float) -> None:
        """Accept, listen and send for at most `wait` seconds, or until something has happened."""
        events = self._selector.select(wait)
        now = time.monotonic()
        for key, mask in events:
            client = self._clients.get(key.fileobj)  # type: ignore[call-overload]
            if client is None:
                continue
            here = client.hear() if mask & selectors.EVENT_READ else True
            if here and client.state is State.STRANGER:
                self._understand(client, now)
            if here and mask & selectors.EVENT_WRITE:
                here = client.flush(now)
            if here:
                self.watch(client)
            else:
                self._forget(client)
        # After all others were heard: who comes may cost the place of one who has said nothing until now.
        if any(key.fileobj is self._listening for key, _ in events):
            self._accept(now)
        for client in [client for client in self._clients.values() if client.overdue(now)]:
            if client.state is State.STILL:
                client.respond(503, b"no image yet\n", "text/plain", now)
                self.watch(client)
            else:
                self.dropped += client.state is not State.LEAVING
                self._forget(client)

    def _accept(self, now: float) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                sock, (host, _) = self._listening.accept()
            except OSError:  # none left, or one that has gone again
                return
            sock.setblocking(False)
            visitors = [client for client in self._clients.values() if not client.seated]
            if len(visitors) >= MOST_VISITORS:
                self.dropped += 1
                self._forget(min(visitors, key=lambda client: client.arrived))
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._clients[sock] = Connection(sock, host, now)
            self._selector.register(sock, selectors.EVENT_READ)

    def _has_seat(self, client: Connection, now: float) -> bool:
        """Whether there is a place for one more; who has taken nothing for longest makes room."""
        seated = [other for other in self._clients.values() if other.seated]
        from_there = [other for other in seated if other.host == client.host]
        for others, most in ((from_there, MOST_PER_ADDRESS), (seated, MOST_CLIENTS)):
            if len(others) >= most:
                idle = [other for other in others if other.yields(now)]
                if not idle:
                    return False
                self.dropped += 1
                gone = min(idle, key=lambda other: other.deadline)
                self._forget(gone)
                seated.remove(gone)
        return True

    def _understand(self, client: Connection, now: float) -> None:
        line, end, rest = bytes(client.said[:LONGEST_REQUEST]).partition(b"\n")
        request = REQUEST.fullmatch(line.rstrip(b"\r"))
        if end and line.rstrip(b"\r") == HELLO.rstrip():
            if not self._has_seat(client, now):
                self.refused += 1
                client.answer(REFUSAL + b"too many clients\n", now)
                return
            self.watched += 1
            client.greet(self._greeting)
            client.deadline = now + STALLED_SECONDS
            client.flush(now)
        elif end and request:
            if rest.startswith((b"\n", b"\r\n")) or b"\n\n" in rest or b"\n\r\n" in rest:
                self._request(client, request[1].decode(), request[2].decode("latin-1"), now)
            elif len(client.said) >= LONGEST_REQUEST:
                self.refused += 1
                client.respond(400, b"a request of so many bytes\n", "text/plain", now)
        elif end or len(client.said) > LONGEST_HELLO:
            self.refused += 1
            if re.match(rb"[A-Z]{1,10} .*HTTP/", line):
                client.respond(400, f"{USAGE}\n".encode(), "text/plain", now)
            else:
                other = line.startswith(b"botz-camera ")
                text = f"this server speaks version {VERSION}" if other else USAGE
                client.answer(REFUSAL + text.encode() + b"\n", now)

    def _request(self, client: Connection, method: str, path: str, now: float) -> None:
        path = path.partition("?")[0]
        if method != "GET":
            self.refused += 1
            client.respond(405, b"only GET\n", "text/plain", now)
        elif path not in ("/frame.png", "/frame.jpg", "/empty.png"):
            self.refused += 1
            client.respond(404, f"{USAGE}\n".encode(), "text/plain", now)
        elif not self._has_seat(client, now):
            self.refused += 1
            client.respond(503, b"too many clients\n", "text/plain", now)
        else:
            client.state, client.path = State.STILL, path
            client.deadline = now + SILENT_SECONDS

    def watch(self, client: Connection) -> None:
        """Wait for room to send only where there is something to send."""
        if client.sock not in self._clients:
            return
        wanted = 0 if client.heard_all else selectors.EVENT_READ
        wanted |= selectors.EVENT_WRITE if client.outgoing else 0
        known = client.sock in self._selector.get_map()
        if not wanted:
            if known:
                self._selector.unregister(client.sock)  # until its answer is there
        elif not known:
            self._selector.register(client.sock, wanted)
        elif self._selector.get_key(client.sock).events != wanted:
            self._selector.modify(client.sock, wanted)

    def _forget(self, client: Connection) -> None:
        self._clients.pop(client.sock, None)
        with suppress(KeyError, ValueError):
            self._selector.unregister(client.sock)
        client.sock.close()
