"""A master device drives an arm over UDP, and hears of it what it meets: the slave's end of the line."""

from __future__ import annotations

import secrets
import socket
import time
from math import inf

import numpy as np

from botz.control.teleop.line import DelayLine
from botz.control.teleop.messages import NO_CHECKSUM, checksum_fits
from botz.control.teleop.slave import Seen, Slave
from botz.endpoints.soccer.team import PACKETS_A_TURN, SECONDS_A_TURN, Complaints
from botz.endpoints.udp_port import NOBODY, Address, bound, packets
from botz.errors import BotzError, InputError, Problem
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.links import TeleoperationLink as Settings
from botz.scenario.arm.schema import PlacedArm
from botz.scenario.names import closest
from botz.sim.attached import AttachedRun

PERIOD = 0.01
"""Between two commands to the arm [s]."""
LONGEST_PACKET = 2048
"""Bytes: a message for an arm of 32 joints has half of it."""
REASONS = (
    "malformed", "unknown_session", "old", "late", "busy", "too_often", "too_long", "refused", "unread", "unsent"
)  # fmt: skip
"""Why something was ignored: it could not be read or its checksum did not fit; its session is over or never was; its
number came before; it was underway too long; another master drives; too many said hello in this second; it was too
long; the run would not take it; the system could not hand it over, or not send it."""


class TeleoperationLink:
    """Serves a master at `settings.listen`.

    Driven from outside: `receive()` when one of `sockets` is readable, `send_if_due(now)` at `next_due()`; times are
    those of `time.perf_counter()`. Neither ever waits, and nothing that a packet contains ends the link.
    """

    kind = "teleoperation"

    def __init__(self, run: AttachedRun, settings: Settings):
        self._run = run
        self.arm = driven_arm(run, settings)
        """Name of the arm."""
        arm = SerialArm(PlacedArm.model_validate(run.about["arms"][self.arm]["robot"]))
        arm.forward(arm.middle), arm.jacobian(arm.middle)  # compiled now, not at the first message
        self.slave = Slave(arm, settings, name=self.arm, period=PERIOD)
        names = ["position", "reference/position", "tool/pose", "tool/wrench"]
        self._channels = [run.channels.slice_of(f"{self.arm}/{name}") for name in names]
        self._opening = run.channels.slice_of(f"{self.arm}/gripper/opening") if arm.robot.gripper is not None else None
        rng = np.random.default_rng()
        self._to_slave, self._to_master = DelayLine(settings.line, rng), DelayLine(settings.line, rng)
        self._socket = bound(settings.listen, f"links.{self.kind}.listen")
        host, port = self._socket.getsockname()
        self.address = f"{host}:{port}"
        """Where it really listens."""
        self._complaints = Complaints(f"{self.kind} link at {self.address}", REASONS)
        self._counts = dict.fromkeys(("received", "accepted", "greeted", "passed_on", "sent"), 0)
        self._master: Address | None = None
        """Who drives, or drove last."""
        self._next_command = inf
        self._told_silence = True

    @property
    def addresses(self) -> dict[str, str]:
        return {"teleoperation": self.address}

    @property
    def sockets(self) -> list[socket.socket]:
        return [self._socket]

    def fileno(self) -> int:
        return self._socket.fileno()

    # --- in --------------------------------------------------------------------------------------------------

    def receive(self) -> None:
        """Put what has arrived into the line, up to the bounds of a turn; more is left for the next."""
        for packet in packets(
            self._socket, longest=LONGEST_PACKET, most=PACKETS_A_TURN, seconds=SECONDS_A_TURN, clock=time.perf_counter
        ):
            if isinstance(packet, OSError):
                self._complaints.add("unread", "%s", packet)
                break
            data, sender = packet
            self._counts["received"] += 1
            if data is None:
                self._ignore("too_long", f"more than {LONGEST_PACKET} bytes", sender)
            elif not checksum_fits(data):  # before it takes a place in the line
                self._ignore("malformed", NO_CHECKSUM, sender)
            else:
                self._to_slave.put((data, sender), time.perf_counter())
        self._listen(time.perf_counter())

    def _listen(self, now: float) -> None:
        """Have the slave understand what has come through the line; the master hears the newest state once a turn."""
        accepted, was_stopped = False, self.slave.stopped
        for data, sender in self._to_slave.arrived(now):
            verdict, reply, why = self.slave.take(data, f"{sender[0]}:{sender[1]}", now, secrets.token_hex(8))
            if verdict in self._counts:
                self._counts[verdict] += 1
            else:
                self._ignore(verdict, why, sender)
            if verdict == "accepted":
                accepted, self._master = True, sender
            if reply is not None:
                self._to_master.put((reply, sender), now)
        if accepted or self.slave.stopped != was_stopped:
            if self._next_command == inf or self.slave.stopped != was_stopped:
                self._command(now)
            if accepted:
                self._tell(now)
                self._told_silence = False
        self._send(now)

    def _ignore(self, reason: str, why: str, sender: Address) -> None:
        self._complaints.add(reason, "%.200s (from %s:%d)", why, *sender)

    # --- out -------------------------------------------------------------------------------------------------

    def _seen(self) -> Seen | None:
        """What the run last published; None before it has: a tool then has no attitude, and joints at 0 are no place to
        hold."""
        step, row = self._run.latest()
        joints, reference, tool, wrench = (row[part].copy() for part in self._channels)
        if not np.any(tool[3:]):
            return None
        opening = None if self._opening is None else float(row[self._opening.start])
        return Seen(step * self._run.step_ns * 1e-9, joints, reference, tool, wrench, opening)

    def _command(self, now: float) -> None:
        seen = self._seen()
        if seen is None:
            self._next_command = now + PERIOD
            return
        command = self.slave.command(now, seen)
        if command is None:
            self._next_command = inf
            return
        # From the time that was planned, so that the rate is kept; from now where it was missed by more.
        self._next_command = max(now, min(self._next_command, now) + PERIOD)
        try:
            self._run.command(self.arm, command)
            self._counts["passed_on"] += 1
        except BotzError as error:
            if not self._run.finished:
                self._ignore("refused", str(error), self._master or NOBODY)

    def _tell(self, now: float) -> None:
        seen = self._seen()
        if self._master is not None and seen is not None:
            self._to_master.put((self.slave.feedback(now, seen), self._master), now)

    def _send(self, now: float) -> None:
        for text, receiver in self._to_master.arrived(now):
            try:
                self._socket.sendto(text.encode("ascii"), receiver)
                self._counts["sent"] += 1
            except OSError as error:
                self._ignore("unsent", str(error), receiver)

    def next_due(self) -> float | None:
        """When `send_if_due` has something to do; None while only a packet can change that."""
        logged = self._complaints.due()
        arrivals = min(self._to_slave.next_arrival(), self._to_master.next_arrival())
        due = min(self._next_command, arrivals, inf if logged is None else logged)
        return None if due == inf else due

    def send_if_due(self, now: float) -> None:
        self._listen(now)
        if now >= self._next_command:
            self._command(now)
            if self.slave.situation(now) == "silent" and not self._told_silence:
                self._told_silence = True
                self._tell(now)
                self._send(now)
        self._complaints.log_if_due(now)

    def counters(self) -> dict[str, int]:
        """Packets received, accepted and sent, commands passed on to the run, and what was ignored by reason."""
        ignored = sum(self._complaints.counts.values())
        return {**self._counts, "ignored": ignored, **self._complaints.counts}

    def close(self) -> None:
        self._complaints.log_if_due(time.perf_counter(), last=True)
        self._socket.close()


def driven_arm(run: AttachedRun, settings: Settings) -> str:
    arms = list(run.about["arms"])
    name = arms[0] if settings.robot is None else settings.robot
    if name not in arms:
        raise InputError(Problem(f"no arm {name!r}{closest(name, arms)}", key="links.teleoperation.robot"))
    return name
