"""A UDP port that anybody may send anything to: opened, and read a bounded amount at a time."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterator

from botz.errors import InputError, Problem
from botz.scenario.links import host_and_port

Address = tuple[str, int]
NOBODY: Address = ("", 0)


def bound(listen: str, key: str) -> socket.socket:
    """A socket that listens there and never waits; `key` is where a user wrote the address."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # without it, on Windows, another program may take the port over
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        opened.setblocking(False)
        opened.bind(host_and_port(listen))
    except OSError as error:
        opened.close()
        remedy = "choose an address of this machine and a free port; port 0 takes any"
        problem = f"cannot listen at {listen} ({error.strerror or error}); {remedy}"
        raise InputError(Problem(problem, key=key)) from error
    return opened


def packets(
    opened: socket.socket, *, longest: int, most: int, seconds: float, clock: Callable[[], float]
) -> Iterator[tuple[bytes | None, Address] | OSError]:
    """What has arrived, up to `most` packets or `seconds`, whichever ends first; more is left for the next turn.

    Each with its sender, None in place of what is longer than `longest` bytes. An error of the system comes last.
    """
    until = clock() + seconds
    for _ in range(most):
        try:
            data, sender = opened.recvfrom(longest + 1)
            yield (None if len(data) > longest else data), sender
        except BlockingIOError:
            return
        except ConnectionResetError:
            pass  # Windows tells here that somebody to whom something was sent has gone
        except OSError as error:
            if error.errno != errno.EMSGSIZE:  # the interface went away, or the like
                yield error
                return
            yield None, NOBODY  # Windows raises it where others cut the packet off
        if clock() >= until:
            return
