"""What the servers over TCP share: how they listen, and how much a client may ask of them."""

from __future__ import annotations

import socket

ACCEPTED_AT_ONCE = 8
LARGEST_INPUT = 1 << 16
"""Bytes that a client may send in all before it is dropped: it has nothing to say."""
SEND_BUFFER = 1 << 17
"""Asked of the system for each client: small, so that a slow one sees the present and not a long queue of the past, but
twice the largest segment of the loopback interface; below that, each part of a large message waits for a delayed
acknowledgement."""
YIELDING_SECONDS = 2.0
"""A client that has taken nothing of what is due to it for so long makes room where room is needed."""
STALLED_SECONDS = 10.0
"""A client that takes nothing of what is due to it for so long is dropped."""


def listening(host: str, port: int) -> socket.socket:
    """A TCP socket that listens and never waits."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # on Windows SO_REUSEADDR would share the port with another program
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
