"""A master at the socket: drives an arm of a served run.

    with Master("127.0.0.1:20015") as master:
        while True:
            master.send(joints=miniature.angles())
            master.listen()
            print(master.feedback.get("state"), master.feedback.get("force"))
            time.sleep(0.02)

It asks for a session when it is made and asks anew whenever the slave no longer knows it, as after a restart. Sending
never waits; the messages are described in the guide, so that a master can be written in any language.
"""

from __future__ import annotations

import secrets
import select
import socket
import time
from typing import Any, Unpack

from botz.control.teleop.master import Hands, MasterEnd
from botz.control.teleop.messages import LARGEST_NUMBER
from botz.errors import BotzError, InputError, Problem

HELLO_PERIOD = 0.25
"""Between two hellos [s]."""
FORGOTTEN = 3.0
"""Silence of the slave after which a master asks for another session, at the least [s]."""
LARGEST_PACKET = 1 << 16
PACKETS_A_TURN = 256


class NoSlave(BotzError):
    """Nothing answers where the slave should be."""


class Master:
    """A connection to a teleoperated arm; `timeout` [s] bounds the wait for its greeting."""

    def __init__(self, address: str, *, timeout: float = 10.0):
        host, colon, port = address.rpartition(":")
        if not colon or not host or not (port.isascii() and port.isdecimal()) or not 0 < int(port) < 65536:
            raise InputError(Problem(f"needs an address and a port, as '127.0.0.1:20015', not {address!r}"))
        self.address = address
        self._end = MasterEnd(secrets.randbelow(LARGEST_NUMBER))
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            # Connected: the system then hands over only what comes from the slave.
            self._socket.connect((host, int(port)))
        except OSError as error:
            self._socket.close()
            raise NoSlave(f"cannot reach {address} ({error.strerror or error})") from None
        self._began = time.perf_counter()
        self._next_hello = self._began
        self._heard = self._began
        self._asked: float | None = None
        """When the first hello for this session went out."""
        self._way = 0.0
        """There and back at the most, as far as is known [s]."""
        self._measured = False
        """`_way` is from feedback; until then it is the time to the greeting, with all hellos that were lost."""
        self.round_trip: float | None = None
        """From a message to the feedback that knows of it, the time at the slave left out [s]."""
        self.sent = 0
        self.received = 0
        """Feedback that was new."""
        try:
            self._wait_for_greeting(timeout)
        except BaseException:
            self._socket.close()
            raise

    def _wait_for_greeting(self, timeout: float) -> None:
        deadline = self._began + timeout
        while not self._end.session:
            now = time.perf_counter()
            if now >= deadline:
                raise NoSlave(f"no slave answers at {self.address} within {timeout:g} s; is the run served there?")
            self._ask(now)
            select.select([self._socket], [], [], max(0.0, min(self._next_hello, deadline) - now))
            self.listen()

    # --- what is known ---------------------------------------------------------------------------------------

    @property
    def greeting(self) -> dict[str, Any]:
        """What the slave said of its arm: `arm`, `joints`, `lower`, `upper`, `speed`, `scale`, `timeout`, `widest`."""
        return self._end.greeting

    @property
    def joints(self) -> list[str]:
        """Names of the slave's joints."""
        return list(self.greeting["joints"])

    @property
    def feedback(self) -> dict[str, Any]:
        """The newest; empty before the first. A copy is not needed: the next one is another object."""
        return self._end.feedback

    @property
    def refusal(self) -> str:
        """Why the slave refuses, in its words; empty while it does not."""
        return self._end.refusal

    @property
    def reason(self) -> str:
        """The same for programs: `unknown_session` or `busy`."""
        return self._end.reason

    @property
    def patience(self) -> float:
        """Silence after which it asks for another session [s]: longer than an answer can take on this line."""
        timeout = float(self.greeting.get("timeout", 0.0))
        return max(FORGOTTEN, 2.0 * timeout, 2.0 * self._way + timeout)

    @property
    def time(self) -> float:
        """The master's own clock, from 0 [s]."""
        return time.perf_counter() - self._began

    # --- what it does ----------------------------------------------------------------------------------------

    def send(self, **what: Unpack[Hands]) -> bool:
        """Say what the master's hands do; False where there is no session at the moment. Call it at a steady rate, 20
        to 200 times a second: silence makes the slave hold its place."""
        now = time.perf_counter()
        if self._end.session and now - self._heard > self.patience:
            self._forget(now)
        if not self._end.session:
            self._ask(now)
            return False
        self._transmit(self._end.drive(self.time, **what))
        self.sent += 1
        return True

    def listen(self, wait: float = 0.0) -> bool:
        """Take in what has arrived, waiting up to `wait` seconds for it; whether there was feedback."""
        if wait > 0.0:
            select.select([self._socket], [], [], wait)
        new = False
        for _ in range(PACKETS_A_TURN):
            try:
                data = self._socket.recv(LARGEST_PACKET)
            except BlockingIOError:
                break
            except OSError:
                break  # nobody listens there at the moment
            match self._end.take(data):
                case "greeting":
                    self._heard = time.perf_counter()
                    self._way, self._measured = self._heard - (self._asked or self._heard), False
                case "feedback":
                    new = True
                    self.received += 1
                    self._heard = time.perf_counter()
                    self._note_round_trip()
                case "refused":
                    self._heard = time.perf_counter()
                    if self._end.reason == "unknown_session":
                        self._forget(self._heard)
        return new

    def close(self) -> None:
        """Release the arm and leave."""
        if self._end.session:
            self._transmit(self._end.drive(self.time, clutch=False, release=True))
        self._socket.close()

    def __enter__(self) -> Master:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, now: float) -> None:
        if now >= self._next_hello:
            self._next_hello = now + HELLO_PERIOD
            if self._asked is None:
                self._asked = now
            self._transmit(self._end.hello())

    def _forget(self, now: float) -> None:
        self._end.begin_again(secrets.randbelow(LARGEST_NUMBER))
        self._next_hello = self._heard = now
        self._asked = None

    def _note_round_trip(self) -> None:
        feedback = self._end.feedback
        try:
            self.round_trip = max(0.0, self.time - float(feedback["accepted_time"]) - float(feedback["age"]))
        except (KeyError, TypeError, ValueError):
            self.round_trip = None
            return
        self._way = max(self._way, self.round_trip) if self._measured else self.round_trip
        self._measured = True

    def _transmit(self, text: str) -> None:
        try:
            self._socket.send(text.encode("ascii"))
        except OSError:
            return  # the line is down; the slave holds its place, and feedback stays away
