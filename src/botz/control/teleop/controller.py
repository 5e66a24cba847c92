"""Teleoperation within a run: a scripted master, the line, and the slave, all in simulated time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from botz.control.base import ControllerSetup, Measured
from botz.control.teleop.line import DelayLine
from botz.control.teleop.master import MasterEnd
from botz.control.teleop.messages import LARGEST_NUMBER
from botz.control.teleop.script import read_table
from botz.control.teleop.slave import Seen, Slave
from botz.errors import InputError, Problem
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.motion import TeleoperationController
from botz.scenario.arm.schema import ArmScenario

MASTER = "script"
"""What the slave knows the master's address by."""
HELLO_PERIOD = 0.1
"""Between two hellos of a master that has not been greeted yet, beyond the way there and back [s]."""


class Teleoperated:
    """A master's motion from a file drives the arm through the same messages, line and slave as one at the socket.

    `slave` and `master` may be looked at: `master.feedback` is what the master knows of its arm.
    """

    def __init__(self, spec: TeleoperationController):
        self.spec = spec
        self._file = Path(spec.master.file)
        if self._file.suffix.lower() == ".mcap":
            message = "a recording cannot be the master inside a run; serve the run and play it with `botz master`"
            raise InputError(Problem(message, file=self._file))

    def reset(self, setup: ControllerSetup) -> None:
        scenario = getattr(setup.engine, "scenario", None)
        if not isinstance(scenario, ArmScenario):
            message = f"{self.spec.type!r} drives robots of engine 'arm', not of {setup.engine.name!r}"
            raise InputError(Problem(message, key=setup.robot))
        arm = SerialArm(scenario.robots[setup.robot])
        settings = self.spec.settings
        self._rng = setup.rng
        self._table = read_table(self._file, arm.names)
        self._has_gripper = arm.robot.gripper is not None
        self._between = 1.0 / self.spec.master.rate
        self._patience = 2.0 * (settings.line.delay + settings.line.jitter) + HELLO_PERIOD
        self.slave = Slave(arm, settings, name=setup.robot, period=setup.period)
        self.master = MasterEnd(self._whole_number())
        self.to_slave = DelayLine(settings.line, setup.rng)
        self.to_master = DelayLine(settings.line, setup.rng)
        self.messages = 0
        """Which are due since the master's first row."""
        self.next_hello = 0.0

    def update(self, t: float, measured: Measured) -> dict[str, Any] | None:
        self._master_speaks(t)
        seen = seen_of(t, measured, self._has_gripper)
        accepted = False
        for text in self.to_slave.arrived(t):
            token = f"{self._whole_number():014x}"
            verdict, reply, _ = self.slave.take(text, MASTER, t, token)
            accepted = accepted or verdict == "accepted"
            if reply is not None:
                self.to_master.put(reply, t)
        command = self.slave.command(t, seen)
        if accepted:
            self.to_master.put(self.slave.feedback(t, seen), t)
        for text in self.to_master.arrived(t):
            self.master.take(text)
        return command

    def _master_speaks(self, t: float) -> None:
        """Hello until it is greeted, then what its hands do, at its own rate."""
        while (due := self._table.start + self.messages * self._between) <= t + 1e-9:
            self.messages += 1
            if self.master.session:
                self.to_slave.put(self.master.drive(due, **self._table.at(due)), t)
            elif t >= self.next_hello:
                self.next_hello = t + self._patience
                self.to_slave.put(self.master.hello(), t)

    def _whole_number(self) -> int:
        return int(self._rng.integers(LARGEST_NUMBER))

    def snapshot(self) -> dict[str, Any]:
        return {
            "slave": self.slave.snapshot(),
            "master": self.master.snapshot(),
            "to_slave": self.to_slave.snapshot(),
            "to_master": self.to_master.snapshot(),
            "messages": self.messages,
            "next_hello": self.next_hello,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.slave.restore(saved["slave"])
        self.master.restore(saved["master"])
        self.to_slave.restore(saved["to_slave"])
        self.to_master.restore(saved["to_master"])
        self.messages, self.next_hello = saved["messages"], saved["next_hello"]


def seen_of(t: float, measured: Measured, has_gripper: bool) -> Seen:
    return Seen(
        time=t,
        joints=np.asarray(measured["position"]),
        reference=np.asarray(measured["reference/position"]),
        tool=np.asarray(measured["tool/pose"]),
        wrench=np.asarray(measured["tool/wrench"]),
        opening=measured["gripper/opening"] if has_gripper else None,
    )
