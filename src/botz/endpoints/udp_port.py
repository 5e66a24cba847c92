"""A UDP port that anybody may send anything to: opened, and read a bounded amount at a time."""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

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


def joined(listen: str, interface: str, key: str) -> socket.socket:
    """A socket that hears a multicast group, as `bound` for an address that is none. Others on this machine may hear
    the group too.

    Clients that choose no interface send out of the default one, and what they send comes back there. So with loopback
    that one is joined as well; `OnlyLocal` then tells who is on this machine.
    """
    host, port = host_and_port(listen)
    if not ipaddress.IPv4Address(host).is_multicast:
        return bound(listen, key)
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        opened.setblocking(False)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(("" if sys.platform == "win32" else host, port))  # to the group: what is sent elsewhere is not ours
        group = socket.inet_aton(host)
        opened.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + socket.inet_aton(interface))
        if ipaddress.IPv4Address(interface).is_loopback:
            with suppress(OSError):  # no default interface: a machine without a network
                opened.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + socket.inet_aton("0.0.0.0"))
    except OSError as error:
        opened.close()
        remedy = f"choose an address of this machine and a free port, or leave it out: {key.rpartition('.')[0]}: null"
        problem = f"cannot listen at {listen} on {interface} ({error.strerror or error}); {remedy}"
        raise InputError(Problem(problem, key=key)) from error
    return opened


class OnlyLocal:
    """Whether a sender is on this machine: only an address of this machine can be bound to."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    def __contains__(self, host: str) -> bool:
        if host not in self._known:
            if len(self._known) >= 256:
                self._known.clear()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                try:
                    probe.bind((host, 0))
                    self._known[host] = True
                except OSError:
                    self._known[host] = False
        return self._known[host]


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
