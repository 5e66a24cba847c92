"""Connections below the application: how many there may be, how long one may say nothing, how much it may send."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from botz.view.lab.clients import Allowance

MOST_CONNECTIONS = 128
SILENT_SECONDS = 10.0
"""A connection that has not made a request by then is closed [s]."""
SEND_BUFFER = 1 << 18
"""Asked of the system for each connection: small, so that a slow one sees the present and not a queue of the past."""
UNREAD_BYTES = 1 << 20
"""Answers that a connection leaves unread before it is cut off."""
BYTES_PER_SECOND = 2.0 * (1 << 20)
PINGS_PER_SECOND = 20.0


class LabHttp(H11Protocol):
    """HTTP, with a bound on the number of connections and on their silence."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            # asyncio does this only where a socket names its protocol. Without it a frame waits until the page has
            # acknowledged the one before, which takes systems up to 40 ms.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if len(self.connections) > MOST_CONNECTIONS:
            guard = self.config.app.guard  # type: ignore[union-attr]
            guard.refusals.note("too many connections", str(self.client))
            transport.abort()
            return
        asyncio.get_running_loop().call_later(SILENT_SECONDS, self._close_silent)

    def _close_silent(self) -> None:
        if self in self.connections and self.cycle is None:
            self.transport.abort()


class LabWebSocket(WebSocketsSansIOProtocol):
    """WebSocket; the application sees the transport, to know how much waits to be sent and to cut off who reads
    nothing."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}
        self._bytes = Allowance(BYTES_PER_SECOND, 2.0)
        self._pings = Allowance(PINGS_PER_SECOND, 2.0)

    def data_received(self, data: bytes) -> None:
        if not self._bytes.spend(len(data)) or self.transport.get_write_buffer_size() > UNREAD_BYTES:
            self.transport.abort()
            return
        super().data_received(data)

    def handle_ping(self) -> None:
        if self._pings.spend():
            super().handle_ping()
        else:
            self.transport.abort()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # a page that answers nothing reads nothing either
