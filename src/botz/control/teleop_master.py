"""A master's end of the line, without a socket or a clock: what it says, and what it learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from botz.control.teleop_messages import VERSION, packed, unpacked


class MasterEnd:
    """Asks for a session, numbers its messages, and keeps the newest feedback.

    `nonce` is any whole number below 2^53 that the slave's answers cannot have held before.
    """

    state = ("nonce", "session", "number", "greeting", "feedback", "refusal", "_newest")

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
        """Why the slave refuses, where it said so after its last feedback."""
        self._newest = -1

    def hello(self) -> str:
        return packed({"hello": VERSION, "nonce": self.nonce})

    def drive(
        self,
        t: float,
        *,
        joints: Sequence[float] | None = None,
        twist: Sequence[float] | None = None,
        clutch: bool = True,
        stop: bool = False,
        reset: bool = False,
        release: bool = False,
        opening: float | None = None,
    ) -> str:
        """The next message of the session."""
        self.number += 1
        message: dict[str, Any] = {"session": self.session, "number": self.number, "time": float(t)}
        if joints is not None:
            message["joints"] = [float(value) for value in joints]
        if twist is not None:
            message["twist"] = [float(value) for value in twist]
        if opening is not None:
            message["opening"] = float(opening)
        flags = {"clutch": bool(clutch), "stop": bool(stop), "reset": bool(reset), "release": bool(release)}
        return packed(message | {name: on for name, on in flags.items() if on != (name == "clutch")})

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
            self.session, self.greeting, self.refusal = session, message, ""
            return "greeting"
        if not session or session != self.session:
            return ""
        if isinstance(message.get("refused"), str):
            self.refusal = message["refused"]
            return "refused"
        if "state" not in message or type(number) is not int or number <= self._newest:
            return ""
        self._newest, self.feedback, self.refusal = number, message, ""
        return "feedback"

    def begin_again(self, nonce: int) -> None:
        """Forget the session: the next is asked for with another nonce. What was last heard stays."""
        self.nonce, self.session, self.number, self._newest = nonce, "", -1, -1

    def snapshot(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.state}

    def restore(self, saved: dict[str, Any]) -> None:
        for name in self.state:
            setattr(self, name, saved[name])
