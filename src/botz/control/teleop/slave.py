"""The slave: from a master's messages to an arm's reference. Without sockets and clocks; times are passed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from botz.control.teleop.messages import VERSION, Drive, Hello, packed, read_from_master
from botz.control.teleop.motion import Motion
from botz.control.teleop.sessions import REFUSALS, Sessions
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.motion import Teleoperation

State = Literal["waiting", "following", "limited", "clutch open", "stopped", "silent"]
Verdict = Literal["greeted", "accepted", "malformed", "unknown_session", "old", "late", "busy", "too_often"]

AGREEMENT = 0.01
"""Where a master's angles are the slave's within this, they count as they are, without an offset [rad, m]."""
INTERVAL, LEAST_INTERVAL, MOST_INTERVAL = 0.02, 0.002, 0.1
"""Between two messages: assumed at first, and the bounds of what is believed [s]."""
BRIDGED = 3.0
"""Intervals over which a message is followed. With three, the reference goes on evenly while messages come evenly, and
also when two in a row are lost or late by two intervals."""
LONGEST_GAP = 0.1
"""After so long without an update the reference is taken from the arm: it has not gone on alone [s]."""
DIGITS = 9
"""Decimals of the numbers in answers."""


@dataclass(frozen=True)
class Seen:
    """What the slave measures of its arm."""

    time: float
    """Simulated time [s]."""
    joints: np.ndarray
    reference: np.ndarray
    """What the arm's servo has at the moment."""
    tool: np.ndarray
    """Pose of the tool in the world: x, y, z, qw, qx, qy, qz."""
    wrench: np.ndarray
    """What the world does to the tool: force and moment in world axes."""
    opening: float | None = None
    """Of the gripper [m]."""


class Slave:
    """Follows a master.

    Three calls: `take` for each packet that arrives, `command` once a period, `feedback` whenever the master is to
    hear something. `t` is the time by which silence is judged [s]; how far the reference moves follows from the
    simulated time in what is `seen`, so a run that is slower than real time or pauses stays consistent.
    """

    state = (
        "mode", "wish", "clutch", "stopped", "stop_held", "opening", "anchored", "master_anchor", "slave_anchor",
        "reference", "speed", "target", "moved_at", "interval", "last_number", "last_time", "answers", "limits",
        "counts",
    )  # fmt: skip

    def __init__(self, arm: SerialArm, settings: Teleoperation, *, name: str = "arm", period: float = 0.01):
        self._arm = arm
        self._name = name
        self._settings = settings
        self._motion = Motion(arm, settings.limits, period)
        self._gap = max(LONGEST_GAP, 3.0 * period)
        gripper = arm.robot.gripper
        self._widest = None if gripper is None else gripper.opening
        self.sessions = Sessions(settings.timeout)
        self.mode = ""
        """"joints" or "twist"."""
        self.wish = np.zeros(0)
        """What the master's hands are at, as it was sent."""
        self.clutch = False
        self.stopped = False
        self.stop_held = False
        """The reference was brought to where the arm stopped, and that of the jaws to where they did."""
        self.opening: float | None = None
        self.anchored = False
        """The clutch has closed, and these two belong together."""
        self.master_anchor = np.zeros(arm.n)
        self.slave_anchor = np.zeros(arm.n)
        self.reference = np.zeros(arm.n)
        self.speed = np.zeros(arm.n)
        self.target = np.zeros(arm.n)
        """Where the master wants the joints, without any limit."""
        self.moved_at: float | None = None
        """Simulated time of `reference`; None while it is not in use [s]."""
        self.interval = INTERVAL
        self.last_number = -1
        self.last_time = 0.0
        self.answers = 0
        self.limits: list[str] = []
        """What held the master back in the last period: speed, range, box, lead."""
        self.counts: dict[str, int] = {}
        """How many packets of each verdict."""

    # --- what comes in ---------------------------------------------------------------------------------------

    def take(self, data: bytes | str, sender: str, t: float, token: str) -> tuple[Verdict, str | None, str]:
        """Understand one packet: the verdict, an answer to be sent back at once, and for people why it was ignored.

        `token` is a name for a new session that nobody can guess and that was never used. Raises nothing.
        """
        reply, why = None, ""
        try:
            message = read_from_master(data, self._arm.n)
            if isinstance(message, Drive) and message.opening is not None and self._widest is None:
                raise ValueError("this arm has no gripper to open")
        except (ValueError, RecursionError) as error:
            verdict: Verdict = "malformed"
            why = str(error)
        else:
            if isinstance(message, Hello):
                verdict = "greeted" if self.sessions.may_greet(sender, t) else "too_often"
                if verdict == "greeted":
                    reply = self._greeting(message, sender, t, token)
                else:
                    why = "a hello; no more greetings in this second"
            else:
                verdict = self._drive(message, sender, t)
                if verdict in REFUSALS:
                    why = REFUSALS[verdict]
                    reply = packed({"session": message.session, "reason": verdict, "refused": why})
                elif verdict != "accepted":
                    why = f"number {message.number}"
        self.counts[verdict] = self.counts.get(verdict, 0) + 1
        return verdict, reply, why

    def _drive(self, message: Drive, sender: str, t: float) -> Verdict:
        before, was_silent = self.sessions.active, self.sessions.silent(t)
        refused = self.sessions.admit(message, sender, t)
        if refused:
            if message.stop and self.sessions.may_stop(message, sender):
                self.stopped = True
            return refused  # type: ignore[return-value]
        if message.session != before or was_silent:
            self.anchored = False
            if message.session != before:
                self.last_number = -1
        if self.last_number >= 0:
            between = (message.time - self.last_time) / (message.number - self.last_number)
            self.interval += 0.2 * (min(max(between, LEAST_INTERVAL), MOST_INTERVAL) - self.interval)
        self.last_number, self.last_time = message.number, message.time
        self._listen(message)
        if message.release:
            self.sessions.end(message.session)
        return "accepted"

    def _listen(self, message: Drive) -> None:
        if message.stop:
            self.stopped = True
        elif message.reset and not message.clutch:
            self.stopped = False
            self.sessions.note_reset()
        mode, wish = ("joints", message.joints) if message.joints is not None else ("twist", message.twist)
        self.clutch = message.clutch and wish is not None
        if not self.clutch or mode != self.mode:
            self.anchored = False
        if wish is not None:
            self.mode, self.wish = mode, np.array(wish)
        if message.opening is not None and self._widest is not None and not self.stopped:
            self.opening = min(max(message.opening, 0.0), self._widest)

    # --- what goes out ---------------------------------------------------------------------------------------

    def situation(self, t: float) -> State:
        if self.stopped:
            return "stopped"
        if not self.sessions.active:
            return "waiting"
        if self.sessions.silent(t):
            return "silent"
        if not self.clutch:
            return "clutch open"
        return "limited" if self.limits else "following"

    def command(self, t: float, seen: Seen) -> dict[str, Any] | None:
        """The arm's command for the next period; None while nobody drives it. Whoever leaves leaves it at rest: a last
        command holds it where its reference is."""
        situation = self.situation(t)
        if situation == "waiting" and self.moved_at is None:
            return None
        self._catch_up(seen)
        found: set[str] = set()
        match situation:
            case "stopped":
                if not self.stop_held:
                    self.reference = np.array(seen.joints, dtype=float)
                    self.opening = seen.opening
                self._hold()
            case "silent":
                self._hold()
            case "waiting":
                self._hold()
                self.moved_at = None
            case "clutch open":
                self.anchored = False
                self.speed = self._motion.bounded(self.reference, self._motion.braked(self.speed), seen.joints, found)
                found.clear()
            case _:
                self._follow(t, seen, found)
        self.stop_held = situation == "stopped"
        self.limits = sorted(found)
        command: dict[str, Any] = {"position": self.reference.copy(), "speed": self.speed.copy()}
        if self.opening is not None:
            command["gripper/opening"] = self.opening
        return command

    def _catch_up(self, seen: Seen) -> None:
        """Where the reference has gone by itself since the last command."""
        gone = np.inf if self.moved_at is None else seen.time - self.moved_at
        if 0.0 <= gone <= self._gap:
            self.reference = self.reference + gone * self.speed
        else:
            self.reference = np.array(seen.reference, dtype=float)
            self._hold()
        self.moved_at = seen.time

    def _hold(self) -> None:
        self.speed = np.zeros(self._arm.n)
        self.anchored = False

    def _follow(self, t: float, seen: Seen, found: set[str]) -> None:
        scale, motion = self._settings.scale, self._motion
        if self.mode == "twist":
            v = motion.by_rates(self.reference, self.speed, scale * self.wish, found)
        else:
            if not self.anchored:
                self._close_clutch()
            self.target = self.slave_anchor + scale * (self.wish - self.master_anchor)
            time = self.sessions.heard + BRIDGED * self.interval - t
            v = motion.towards(self.reference, self.speed, self.target, time, found)
        self.speed = motion.bounded(self.reference, v, seen.joints, found)

    def _close_clutch(self) -> None:
        """From now on the master's motion counts from where it is, unless it is where the slave is anyway."""
        self.anchored = True
        if np.all(np.abs(self._settings.scale * self.wish - self.reference) <= AGREEMENT):
            self.master_anchor = self.slave_anchor = np.zeros(self._arm.n)
        else:
            self.master_anchor, self.slave_anchor = self.wish.copy(), self.reference.copy()

    def _greeting(self, hello: Hello, sender: str, t: float, token: str) -> str:
        arm = self._arm
        return packed(
            {
                "greeting": VERSION,
                "nonce": hello.nonce,
                "session": self.sessions.greet(hello, sender, t, token),
                "arm": self._name,
                "joints": list(arm.names),
                "lower": _plain(arm.lower),
                "upper": _plain(arm.upper),
                "speed": _plain(np.where(np.isfinite(arm.speed), self._motion.speed, np.inf)),
                "scale": self._settings.scale,
                "timeout": self._settings.timeout,
                "widest": self._widest,
            }
        )

    def feedback(self, t: float, seen: Seen) -> str:
        """What the master hears of its arm."""
        self.answers += 1
        aim = self.target if self.mode == "joints" and self.anchored else self.reference
        moved = self.moved_at is not None
        reference = self.reference if moved else seen.reference
        return packed(
            {
                "session": self.sessions.active,
                "number": self.answers,
                "time": round(seen.time, DIGITS),
                "accepted": self.last_number,
                "accepted_time": self.last_time,
                "age": round(max(0.0, t - self.sessions.heard), DIGITS),
                "state": self.situation(t),
                "limits": list(self.limits),
                "joints": _plain(seen.joints),
                "reference": _plain(reference),
                "error": _plain((aim if moved else reference) - seen.joints),
                "tool": _plain(seen.tool),
                "wrench": _plain(seen.wrench),
                "force": round(float(np.linalg.norm(seen.wrench[:3])), DIGITS),
                "opening": None if seen.opening is None else round(seen.opening, DIGITS),
            }
        )

    def snapshot(self) -> dict[str, Any]:
        return {"sessions": self.sessions.snapshot(), **{name: _copied(getattr(self, name)) for name in self.state}}

    def restore(self, saved: dict[str, Any]) -> None:
        self.sessions.restore(saved["sessions"])
        for name in self.state:
            setattr(self, name, _copied(saved[name]))


def _plain(values: np.ndarray) -> list[float | None]:
    """Numbers as JSON has them; null for a limit that does not exist."""
    return [round(float(value), DIGITS) if np.isfinite(value) else None for value in values]


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray | list | dict) else value
