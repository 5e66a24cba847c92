"""A master, a line and a slave on a bench: an arm that is always where its reference is."""

from __future__ import annotations

from typing import Any

import numpy as np

from botz.control.teleop.line import DelayLine
from botz.control.teleop.master import MasterEnd
from botz.control.teleop.slave import Seen, Slave
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.motion import Teleoperation

ARM = SerialArm.of("titan4")
START = np.array([0.2, 0.9, -1.6, 0.5, 0.3, 0.4])
PERIOD, RATE = 0.01, 50.0
EVERY = round(1.0 / (RATE * PERIOD))


class Rig:
    """A master, both ways of the line, the slave, and an arm that is always where its reference is."""

    def __init__(self, *, rng: int = 1, **options: Any):
        self.settings = Teleoperation.model_validate(options)
        self.rng = np.random.default_rng(rng)
        self.slave = Slave(ARM, self.settings, name="titan", period=PERIOD)
        self.master = MasterEnd(4711)
        self.there = DelayLine(self.settings.line, self.rng)
        self.back = DelayLine(self.settings.line, self.rng)
        self.ticks = 0
        self.q = START.copy()
        self.v = np.zeros(6)
        self.wrench = np.zeros(6)
        self.opening = 0.05
        self.sent: list[str] = []
        """All that the master has sent."""
        self.cut = False
        self.verdicts: list[str] = []
        self.path: list[np.ndarray] = [self.q]

    @property
    def t(self) -> float:
        return self.ticks * PERIOD

    def seen(self) -> Seen:
        tool = np.array([*ARM.forward(self.q)[:3, 3], 1.0, 0.0, 0.0, 0.0])
        return Seen(self.t, self.q, self.q, tool, self.wrench, self.opening)

    def say(self, **what: Any) -> None:
        self.sent.append(self.master.drive(self.t, **what))
        if not self.cut:
            self.there.put(self.sent[-1], self.t)

    def tick(self, sender: str = "master") -> dict[str, Any] | None:
        accepted = False
        for data in self.there.arrived(self.t):
            verdict, reply, _ = self.slave.take(data, sender, self.t, f"session-{self.ticks}")
            self.verdicts.append(verdict)
            accepted |= verdict == "accepted"
            if reply is not None:
                self.back.put(reply, self.t)
        command = self.slave.command(self.t, self.seen())
        if accepted:
            self.back.put(self.slave.feedback(self.t, self.seen()), self.t)
        for data in self.back.arrived(self.t):
            self.master.take(data)
        if command is not None:
            assert np.allclose(command["position"], self.q, atol=1e-12), "the reference jumped"
            self.v = command["speed"]
            self.q = self.q + PERIOD * self.v
        self.path.append(self.q)
        self.ticks += 1
        return command

    def greet(self) -> None:
        while not self.master.session:
            if self.ticks % 50 == 0:
                self.there.put(self.master.hello(), self.t)
            self.tick()

    def drive(self, seconds: float, hands: Any) -> None:
        """`hands` is what the master says, or a function of the time since now."""
        began = self.ticks
        while self.ticks < began + round(seconds / PERIOD):
            if (self.ticks - began) % EVERY == 0:
                self.say(**(hands((self.ticks - began) * PERIOD) if callable(hands) else hands))
            self.tick()

    def tool(self) -> np.ndarray:
        return ARM.forward(self.q)[:3, 3]


def connected(**options: Any) -> Rig:
    rig = Rig(**options)
    rig.greet()
    return rig


def largest_speed(rig: Rig) -> np.ndarray:
    return np.max(np.abs(np.diff(rig.path, axis=0)), axis=0) / PERIOD


def slow(t: float) -> np.ndarray:
    """A master's sweep from the slave's start, at most 0.2 rad/s."""
    return START + 0.2 * np.array([1, -0.5, 0.8, 0.5, -1, 1]) * (1.0 - np.cos(t))
