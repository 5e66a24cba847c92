"""The lab's server: one process that serves the page and reads along with the runs that it has started."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from botz.errors import InputError, Problem
from botz.view.lab.app import LabApp
from botz.view.lab.catalogue import Catalogue
from botz.view.lab.children import Spawner
from botz.view.lab.guard import Guard
from botz.view.lab.lab import InitialRun, Lab
from botz.view.lab.messages import LARGEST_MESSAGE
from botz.view.lab.places import HEAD_BYTES
from botz.view.lab.protocols import LabHttp, LabWebSocket

PORT = 8470
NICENESS = 5
"""The server steps back behind the physics where both want a core."""
PING_SECONDS, PONG_SECONDS = 5.0, 10.0
PARTING_SECONDS = 3
"""How long pages have to take their leave when the lab ends [s]."""
SHORTEST_TOKEN = 16
"""Letters of a token that is told by hand."""


@dataclass(frozen=True)
class LabSettings:
    host: str = "127.0.0.1"
    port: int = PORT
    """0 takes any that is free."""
    root: Path | None = None
    """Scenario files below it may be started, with the code that they name."""
    runs: Path = Path("runs")
    """Where runs are recorded and recordings are found."""
    token: str | None = None
    """What pages must know; made where none is given."""
    client: Path | None = None
    """The built page; None: only the interface behind it."""
    initial: InitialRun | None = None
    """A run to begin with."""


class LabServer:
    """A lab with its address: made, then run until it is told to end.

    >>> server = LabServer(LabSettings(port=0))
    >>> server.run()
    """

    def __init__(self, settings: LabSettings):
        self._socket = listening(settings.host, settings.port)
        self.port: int = self._socket.getsockname()[1]
        self.host = settings.host
        self.spawner = Spawner()
        try:
            guard = Guard(settings.host, self.port, checked_token(settings.token))
            self.token = guard.token
            self.lab = Lab(guard, Catalogue(settings.root), settings.runs, self.spawner)
        except BaseException:
            self._socket.close()
            raise
        config = uvicorn.Config(
            LabApp(self.lab, settings.client, settings.initial),
            http=LabHttp,
            ws=LabWebSocket,
            ws_max_size=LARGEST_MESSAGE,
            ws_ping_interval=PING_SECONDS,
            ws_ping_timeout=PONG_SECONDS,
            ws_per_message_deflate=False,
            lifespan="on",
            loop="asyncio",
            interface="asgi3",
            access_log=False,
            log_config=None,
            server_header=False,
            h11_max_incomplete_event_size=HEAD_BYTES,
            proxy_headers=False,
            timeout_graceful_shutdown=PARTING_SECONDS,
        )
        self._server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        """To open in a browser. The page that it opens gets a cookie in place of the token."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "") else "[::1]" if self.host == "::" else self.host
        if ":" in host and not host.startswith("["):
            host = f"[{host}]"
        return f"http://{host}:{self.port}/?token={self.token}"

    @property
    def started(self) -> bool:
        return self._server.started

    def run(self) -> None:
        """Serve until `stop` or a signal; runs are stopped then and their recordings kept."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self.spawner.close()

    def stop(self) -> None:
        self._server.should_exit = True


def serve_lab(settings: LabSettings, *, on_address: Callable[[str], None] | None = None) -> None:
    """Serve the lab until Ctrl-C; the address goes to `on_address`, by default to standard error."""
    quiet_libraries()
    server = LabServer(settings)
    step_back()
    tell = on_address or (lambda address: print(f"botz: lab at {address}", file=sys.stderr, flush=True))
    tell(server.address)
    with ended_by_signals(server):
        server.run()


def step_back() -> None:
    """Give way to the physics. Only on Linux can this process do so without its children, which the physics is."""
    if sys.platform == "linux" and threading.current_thread() is threading.main_thread():
        os.nice(NICENESS)


@contextmanager
def ended_by_signals(server: LabServer) -> Iterator[None]:
    """Ctrl-C, a polite kill and a closed terminal end the lab in order; that is how it is meant to end, so it is no
    failure. The web server catches the first two, tidies up, and raises them again for whoever listened before."""

    def end(number: int, frame: Any) -> None:
        server.stop()

    numbers = [signal.SIGTERM] + ([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])
    in_main = threading.current_thread() is threading.main_thread()
    before = [signal.signal(number, end) for number in numbers] if in_main else []
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        for number, old in zip(numbers, before, strict=False):
            signal.signal(number, old)


def quiet_libraries() -> None:
    """What the web server says of itself is for its own developers; of the lab, warnings are told."""
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)


def checked_token(token: str | None) -> str | None:
    """A token that somebody has chosen; None where one is to be made."""
    if token is not None and (
        len(token) < SHORTEST_TOKEN
        or not token.isascii()
        or not all(letter.isalnum() or letter in "-._~" for letter in token)
    ):
        problem = f"needs at least {SHORTEST_TOKEN} letters, digits or any of -._~; without --token one is made"
        raise InputError(Problem(problem, key="--token"))
    return token


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at this address and no other."""
    if not 0 <= port <= 65535:
        raise InputError(Problem(f"needs a number from 0 to 65535, not {port}", key="--port"))
    try:
        kind, _, _, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise InputError(Problem(f"{host!r} is not an address of this machine ({error})", key="--host")) from None
    listener = socket.socket(kind, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # on Windows SO_REUSEADDR would share the port with another program
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(64)
    except OSError as error:
        listener.close()
        why = error.strerror or str(error)
        raise InputError(Problem(f"cannot listen at {host}:{port}: {why}; choose another", key="--port")) from None
    return listener
