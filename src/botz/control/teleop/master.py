"""A master's end of the line, without a socket or a clock: what it says, and what it learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from botz.control.teleop.messages import VERSION, packed, unpacked


class Hands(TypedDict, total=False):
    """What a master says of its hands; see `Drive`."""

    joints: Sequence[float] | None
    twist: Sequence[float] | None
    clutch: bool
    stop: bool
    reset: bool
    release: bool
    opening: float | None


class MasterEnd:
    """Asks for a session, numbers its messages, and keeps the newest feedback.

    `nonce` is any whole number below 2^53 that the slave's answers cannot have held before.
    """

    state = ("nonce", "session", "number", "greeting", "feedback", "refusal", "reason", "_newest")

    def __init__(self, nonce: int):
        self.nonce = nonce
        self.session = ""
        """Given by the slave; empty until it has greeted."""
        self.number = -1
        """Of the last message."""
        self.greeting: dict[str, Any] = {}
        """What the slave said of its arm."""
        self.feedback: dict[str, Any] = {}
        """The newest."""
        self.refusal = ""
        """Why the slave refuses, for people, where it said so after its last feedback."""
        self.reason = ""
        """The same for programs: unknown_session or busy."""
        self._newest = -1

    def hello(self) -> str:
        return packed({"hello": VERSION, "nonce": self.nonce})

    def drive(self, t: float, **what: Unpack[Hands]) -> str:
        """The next message of the session; what is not named is left out, and then the clutch is closed."""
        if unknown := what.keys() - Hands.__annotations__.keys():
            raise TypeError(f"a master has no {min(unknown)!r}; it says {', '.join(Hands.__annotations__)}")
        self.number += 1
        message: dict[str, Any] = {"session": self.session, "number": self.number, "time": float(t)}
        if (joints := what.get("joints")) is not None:
            message["joints"] = [float(value) for value in joints]
        if (twist := what.get("twist")) is not None:
            message["twist"] = [float(value) for value in twist]
        if (opening := what.get("opening")) is not None:
            message["opening"] = float(opening)
        if not what.get("clutch", True):
            message["clutch"] = False
        for flag in ("stop", "reset", "release"):
            if what.get(flag):
                message[flag] = True
        return packed(message)

    def take(self, data: bytes | str) -> str:
        """Understand an answer: "greeting", "feedback", "refused", or "" for what is not meant for this master, is
        older than what is known, or cannot be read."""
        try:
            message = unpacked(data)
        except (ValueError, RecursionError):
            return ""
        session, number = message.get("session"), message.get("number")
        if message.get("greeting") == VERSION and message.get("nonce") == self.nonce and isinstance(session, str):
            if self.session:
                return ""
            self.session, self.greeting, self.refusal, self.reason = session, message, "", ""
            return "greeting"
        if not session or session != self.session:
            return ""
        if isinstance(message.get("refused"), str):
            self.refusal, self.reason = message["refused"], str(message.get("reason", ""))
            return "refused"
        if "state" not in message or type(number) is not int or number <= self._newest:
            return ""
        self._newest, self.feedback, self.refusal, self.reason = number, message, "", ""
        return "feedback"

    def begin_again(self, nonce: int) -> None:
        """Forget the session: the next is asked for with another nonce. What was last heard stays."""
        self.nonce, self.session, self.number, self._newest = nonce, "", -1, -1

    def snapshot(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.state}

    def restore(self, saved: dict[str, Any]) -> None:
        for name in self.state:
            setattr(self, name, saved[name])
