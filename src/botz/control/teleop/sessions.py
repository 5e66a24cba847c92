"""Whose messages a slave believes: one master's at a time, each message once, none that comes too late."""

from __future__ import annotations

from typing import Any

from botz.control.teleop.messages import Drive, Hello

MOST_GREETED = 16
"""Masters that may wait; a further one takes the place of the one that waits longest."""
MOST_GREETINGS, MOST_TO_ONE = 20, 5
"""Greetings in a second, to all and to one address. A greeting is ten times as long as a hello, whose sender may be
forged: without a bound a slave would multiply what somebody aims at a third."""
DRIFT = 1e-3
"""Seconds a second by which two clocks may run apart before messages seem late."""
REFUSALS = {
    "unknown_session": "this session is unknown or over; say hello again",
    "busy": "another master drives; it must be silent for the timeout, or release the arm",
}
"""What a master is told; the other reasons say nothing that it could act on."""


class Sessions:
    """Hands out sessions and admits messages.

    The slave chooses the session's name when it is asked for one, so what was recorded in an earlier session means
    nothing in this one; within a session the numbers must grow, so nothing counts twice; and a message that has been
    underway for `timeout` longer than the quickest is too old to act upon. A session belongs to the address that asked
    for it. Another takes over only when the present master has been silent for `timeout`, or has left.
    """

    def __init__(self, timeout: float):
        self._timeout = timeout
        self.greeted: list[dict[str, Any]] = []
        """Sessions that were handed out and are not over."""
        self.active = ""
        """The one that drives."""
        self.heard = 0.0
        """When its last message came [s]."""
        self.greetings: list[list[Any]] = []
        """Time and receiver of those of the last second."""

    def may_greet(self, sender: str, t: float) -> bool:
        """Whether a hello is answered now; one that is not may come again."""
        self.greetings = [one for one in self.greetings if t - one[0] < 1.0]
        to_sender = sum(one[1] == sender for one in self.greetings)
        if len(self.greetings) >= MOST_GREETINGS or to_sender >= MOST_TO_ONE:
            return False
        self.greetings.append([t, sender])
        return True

    def greet(self, hello: Hello, sender: str, t: float, token: str) -> str:
        """The session for a master: `token`, or where it asks again before it has said anything, the same as before."""
        for one in self.greeted:
            if one["sender"] == sender and one["nonce"] == hello.nonce and one["number"] < 0:
                return str(one["session"])
        waiting = [one for one in self.greeted if one["session"] != self.active]
        if len(waiting) >= MOST_GREETED:
            self.greeted.remove(waiting[0])
        self.greeted.append(
            {
                "session": token, "sender": sender, "nonce": hello.nonce, "number": -1, "reset": -1, "time": 0.0,
                "way": 0.0, "at": t,
            }
        )  # fmt: skip
        return token

    def note_reset(self) -> None:
        """What has been said until now stops the arm no more, should it come again."""
        for one in self.greeted:
            one["reset"] = one["number"]

    def may_stop(self, message: Drive, sender: str) -> bool:
        """Whether an emergency stop counts that is not admitted: overtaken, long underway, or of one who waits. Any
        master's does that was greeted, unless the stop was reset since."""
        return any(
            one["session"] == message.session and one["sender"] == sender and message.number > one["reset"]
            for one in self.greeted
        )

    def admit(self, message: Drive, sender: str, t: float) -> str:
        """Empty where the message counts, or the reason why not."""
        own = next((s for s in self.greeted if s["session"] == message.session and s["sender"] == sender), None)
        if own is None:
            return "unknown_session"
        first = own["number"] < 0
        if not first and (message.number <= own["number"] or message.time < own["time"]):
            return "old"
        # The clocks of master and slave begin anywhere; the quickest message so far tells how far they are apart.
        way = t - message.time
        quickest = way if first else min(way, own["way"] + DRIFT * (t - own["at"]))
        own.update(number=message.number, time=message.time, way=quickest, at=t)
        if way > quickest + self._timeout:
            return "late"
        if self.active not in ("", message.session):
            if not self.silent(t):
                return "busy"
            self.end(self.active)
        self.active, self.heard = message.session, t
        return ""

    def silent(self, t: float) -> bool:
        return t - self.heard > self._timeout

    def end(self, session: str) -> None:
        self.greeted = [one for one in self.greeted if one["session"] != session]
        if self.active == session:
            self.active = ""

    def snapshot(self) -> dict[str, Any]:
        return {
            "greeted": [dict(one) for one in self.greeted],
            "active": self.active,
            "heard": self.heard,
            "greetings": [list(one) for one in self.greetings],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.greeted = [dict(one) for one in saved["greeted"]]
        self.active, self.heard = saved["active"], saved["heard"]
        self.greetings = [list(one) for one in saved["greetings"]]
