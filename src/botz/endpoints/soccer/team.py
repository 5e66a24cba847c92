"""What the links for teams share: a UDP socket that anybody may send anything to.

Whatever arrives, a turn does a bounded amount of work, nothing that a packet contains ends the link, and what is
ignored is counted and logged at most once a second.
"""

from __future__ import annotations

import logging
import math
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from botz.endpoints.admission import Admission
from botz.endpoints.udp_port import NOBODY, Address, bound, packets
from botz.errors import BotzError, printable
from botz.sim.attached import AttachedRun

PACKETS_A_TURN = 256
SECONDS_A_TURN = 0.002
"""A turn ends at whichever comes first, so that a flood leaves time for what is to be sent."""
LOG_PERIOD = 1.0
"""Shortest time between two log lines of a link [s]."""
SMALLEST_LIMIT = 1472
"""Bytes of a UDP packet in one Ethernet frame."""
BYTES_A_ROBOT = 128
"""A packet with more for each robot, and beyond one frame, says nothing useful: the league's longest entry has 68."""
WILD = 100.0
"""Times a robot's largest voltage or speed: what lies beyond is an error, not a wish for full power."""
REASONS = ("malformed", "too_long", "unknown_robot", "out_of_range", "refused", "unread", "unasked")
"""Why something was ignored: it could not be read; it was too long or named too many robots; it named none that plays
here; a number was not finite or beyond all bounds; the run would not take it; the system could not hand it over; it
was not read, because its sender or all strangers together sent too much."""

logger = logging.getLogger("botz")


class Player(NamedTuple):
    """A robot as the links see it."""

    name: str
    team: str
    number: int
    max_voltage: float
    max_speed: float


def players(run: AttachedRun) -> list[Player]:
    return [
        Player(name, about["team"], about["id"], about["max_voltage"], about["max_speed"])
        for name, about in run.about["robots"].items()
    ]


def within(value: float, bound: float) -> bool:
    """Whether −bound <= value <= bound; a NaN is not."""
    return -bound <= value <= bound


class Complaints:
    """Counts what was ignored and says so at a bounded rate, the newest case as the example."""

    def __init__(self, link: str, reasons: tuple[str, ...]):
        self.link = link
        self.counts = dict.fromkeys(reasons, 0)
        self._logged = dict(self.counts)
        self._next_line = -math.inf
        self._example: tuple[str, tuple[object, ...]] | None = None

    def add(self, reason: str, example: str, *details: object) -> None:
        """`example` is filled in with `details` only when a line is written: a flood costs no formatting."""
        self.counts[reason] += 1
        self._example = (example, details)
        self.log_if_due(time.perf_counter())

    def count(self, reason: str) -> None:
        """Without an example: as cheap as can be."""
        self.counts[reason] += 1

    def due(self) -> float | None:
        """When a line is to be written, if there is something to say."""
        return None if self._example is None else self._next_line

    def log_if_due(self, now: float, *, last: bool = False) -> None:
        if self._example is None or (now < self._next_line and not last):
            return
        new = [f"{count - self._logged[r]} {r}" for r, count in self.counts.items() if count > self._logged[r]]
        text, details = self._example
        example = printable(text % details if details else text)
        logger.warning("%s: ignored %s; the last: %s", self.link, ", ".join(new), example)
        self._logged = dict(self.counts)
        self._example = None
        self._next_line = now + LOG_PERIOD


class TeamLink(ABC):
    """A link that takes commands for robots as UDP packets.

    It is driven from outside: `receive()` when one of `sockets` is readable, `send_if_due(now)` at `next_due()`; times
    are those of `time.perf_counter()`. Neither ever waits.
    """

    kind: str
    """What it is called in messages and, under `links`, in a scenario."""

    def __init__(self, run: AttachedRun, listen: str, *, reasons: tuple[str, ...] = ()):
        self._run = run
        self.players = players(run)
        self._longest = max(SMALLEST_LIMIT, BYTES_A_ROBOT * len(self.players))
        self._socket = self.open_socket(listen)
        host, port = self._socket.getsockname()
        self.address = f"{host}:{port}"
        """Where it really listens."""
        self._complaints = Complaints(f"{self.kind} link at {self.address}", REASONS + reasons)
        self._received = 0
        self._passed_on = 0
        self._ignored = 0
        self._admission = Admission(time.perf_counter())
        self._sender: Address = NOBODY
        self._commands: dict[str, dict[str, float]] = {}
        """The newest command of each robot in this turn: the physics would see no other."""

    def open_socket(self, listen: str) -> socket.socket:
        return bound(listen, f"links.{self.kind}.listen")

    @property
    def addresses(self) -> dict[str, str]:
        """By what a user calls them."""
        return {self.kind: self.address}

    @property
    def sockets(self) -> list[socket.socket]:
        """To be watched for reading."""
        return [self._socket]

    def fileno(self) -> int:
        return self._socket.fileno()

    def receive(self) -> None:
        """Take what has arrived, up to the bounds of a turn; more is left for the next."""
        self.read(self._socket, self.take)
        for name, command in self._commands.items():
            self._pass_on(name, command)
        self._commands.clear()

    def read(self, opened: socket.socket, take: Callable[[bytes], None]) -> None:
        """Hand the packets of one socket to `take`."""
        for packet in packets(
            opened, longest=self._longest, most=PACKETS_A_TURN, seconds=SECONDS_A_TURN, clock=time.perf_counter
        ):
            if isinstance(packet, OSError):
                self._complaints.add("unread", "%s", packet)
                break
            data, self._sender = packet
            self._received += 1
            if not self._admission.admits(self._sender, time.perf_counter()):
                self._complaints.count("unasked")
                continue
            ignored = self._ignored
            if data is None:
                self.ignore("too_long", "more than %d bytes", self._longest)
            else:
                take(data)
            self._admission.judge(self._sender, good=self._ignored == ignored)

    @abstractmethod
    def take(self, data: bytes) -> None:
        """Understand one packet: `steer` robots, or `ignore` it. Raises nothing, whatever it contains."""

    def steer(self, player: Player, command: dict[str, float]) -> None:
        """Have a command passed on when the turn ends; it must have been checked."""
        self._commands[player.name] = command

    def _pass_on(self, actor: str, command: dict[str, Any]) -> None:
        try:
            self._run.command(actor, command)
            self._passed_on += 1
        except BotzError as error:
            if self._run.finished:
                return  # teams go on for a moment after the end
            self.ignore("refused", "%s: %s", actor, error)

    def ignore(self, reason: str, example: str, *details: object) -> None:
        self._ignored += 1
        self._complaints.add(reason, example + " (from %s:%d)", *details, *self._sender)

    def next_due(self) -> float | None:
        """When `send_if_due` has something to do; None while only a packet can change that."""
        return self._complaints.due()

    def send_if_due(self, now: float) -> None:
        self._complaints.log_if_due(now)

    def counters(self) -> dict[str, int]:
        """Packets received, commands passed on to the run, and what was ignored by reason."""
        ignored = sum(self._complaints.counts.values())
        return {"received": self._received, "passed_on": self._passed_on, "ignored": ignored, **self._complaints.counts}

    def close(self) -> None:
        self._complaints.log_if_due(time.perf_counter(), last=True)
        self._socket.close()
