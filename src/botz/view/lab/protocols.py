"""Connections below the application: how many there may be, how long a request may take to arrive, how much it may
send."""

from __future__ import annotations

import socket
from asyncio import TimerHandle
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from botz.view.lab.clients import Allowance
from botz.view.lab.guard import Guard
from botz.view.lab.places import HEAD_BYTES

HEAD_SECONDS, BODY_SECONDS = 10.0, 10.0
"""How long the head of a request, and then its body, may take to arrive whole [s]."""
SEND_BUFFER = 1 << 18
"""Asked of the system for each connection: small, so that a slow one sees the present and not a queue of the past."""
UNREAD_BYTES = 1 << 20
"""Answers that a connection leaves unread before it is cut off."""
BYTES_PER_SECOND = 2.0 * (1 << 20)
STRANGERS_BYTES = 1 << 12
"""What a WebSocket may send before its token was right: the first message."""
PINGS_PER_SECOND = 20.0


class LabHttp(H11Protocol):
    """HTTP, with places for connections and deadlines for requests."""

    _deadline: TimerHandle | None = None
    _waits_for: str = ""

    @property
    def guard(self) -> Guard:
        return self.config.app.guard  # type: ignore[union-attr]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            # asyncio does this only where a socket names its protocol. Without it a frame waits until the page has
            # acknowledged the one before, which takes systems up to 40 ms.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        cut_off = self.guard.places.enter(transport, self._address)
        if cut_off is not None:
            self.guard.refusals.note("too many connections without the token", self._address)
            cut_off.abort()
        self._wait_for("head", HEAD_SECONDS)

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else "unknown"

    def data_received(self, data: bytes) -> None:
        places = self.guard.places
        if self.transport.is_closing():
            return  # cut off; what was read before is of no use
        if not places.is_holder(self.transport):
            if places.shows_token(data if len(data) > HEAD_BYTES else self.conn.trailing_data[0][-HEAD_BYTES:] + data):
                if not places.admit(self.transport):
                    self.guard.refusals.note("too many connections", self._address)
                    self.transport.abort()
                    return
            elif not places.hears(self._address):
                self.guard.refusals.note("too many requests without the token", self._address)
                self.transport.abort()
                return
        super().data_received(data)
        self._look_at_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look_at_request()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._wait_for("", 0.0)
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for("", 0.0)
        self.guard.places.leave(self.transport)
        super().connection_lost(exc)

    def _look_at_request(self) -> None:
        """Which part of a request is on its way, and until when it has to be here."""
        state = self.conn.their_state
        if self not in self.connections:  # a WebSocket now
            self._wait_for("", 0.0)
        elif state is h11.SEND_BODY:
            self._wait_for("body", BODY_SECONDS)
        elif state is h11.IDLE and self.timeout_keep_alive_task is None:
            self._wait_for("head", HEAD_SECONDS)
        else:
            self._wait_for("", 0.0)

    def _wait_for(self, part: str, seconds: float) -> None:
        if part == self._waits_for:
            return  # each piece of it does not begin the time anew
        self._waits_for = part
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if part:
            self._deadline = self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        self.guard.refusals.note(f"the {self._waits_for} of a request took too long", self._address)
        self.transport.abort()


class LabWebSocket(WebSocketsSansIOProtocol):
    """WebSocket; the application sees the transport, to know how much waits to be sent and to cut off who reads
    nothing."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}
        self._bytes = Allowance(BYTES_PER_SECOND, 2.0)
        self._pings = Allowance(PINGS_PER_SECOND, 2.0)
        self._strangers_bytes = STRANGERS_BYTES
        self._opened = False

    @property
    def guard(self) -> Guard:
        return self.config.app.guard  # type: ignore[union-attr]

    def connection_lost(self, exc: Exception | None) -> None:
        self.guard.places.leave(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._opened and not self.guard.places.is_holder(self.transport):
            self._strangers_bytes -= len(data)
        self._opened = True  # the first is the request that was a WebSocket's
        if (
            self._strangers_bytes < 0
            or not self._bytes.spend(len(data))
            or self.transport.get_write_buffer_size() > UNREAD_BYTES
        ):
            self._cut_off()
            return
        if self.pong_timer is not None and self.ping_timeout is not None:
            # Whatever it says is a sign of life: a slow page finds our ping behind all that it has still to read.
            self.pong_timer.cancel()
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)
        super().data_received(data)

    def handle_ping(self) -> None:
        if self._pings.spend():
            super().handle_ping()
        else:
            self._cut_off()

    def _cut_off(self) -> None:
        """Whoever comes back at once from the same address has to wait."""
        if self.transport.is_closing():
            return  # the rest of what it has sent
        self.guard.places.drops(self.transport, self.client[0] if self.client else "unknown").spend()
        self.transport.abort()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # a page that answers nothing reads nothing either
