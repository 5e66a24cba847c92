"""The messages between a master and a slave: JSON with a checksum before it, one message a packet.

    bb4878fc {"session": "9f2c41d07be85a16", "number": 17, "time": 0.34, "joints": [0, 0.5, -0.8, 0, 0.3, 0]}

The first eight characters are the CRC-32 of what follows the space (that of zip files and Ethernet, in every language's
library), as hexadecimal digits. It keeps a digit that was damaged on the way from moving an arm; it keeps nobody out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from zlib import crc32

VERSION = 1
LARGEST_NUMBER = 2**53
"""Numbers of messages are whole in every language up to here."""
WILD = 1e3
"""Angles, lengths and speeds beyond are errors, not wishes [rad, m, rad/s, m/s]."""
LONGEST_TEXT = 64
"""Characters of a session's name."""
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
NO_CHECKSUM = "its checksum does not fit; needs the CRC-32 as 8 lower-case hex digits, a space, and JSON"
DRIVE_KEYS = frozenset(
    ("session", "number", "time", "joints", "twist", "clutch", "stop", "reset", "release", "opening")
)


@dataclass(frozen=True)
class Hello:
    """A master asks for a session; the answer carries the same nonce, so that nobody else's is believed."""

    nonce: int


@dataclass(frozen=True)
class Drive:
    """What a master's hands do."""

    session: str
    number: int
    """Grows with every message of a session."""
    time: float
    """Of the master's own clock, wherever that begins [s]."""
    joints: tuple[float, ...] | None
    """Angles of a miniature arm [rad, m]."""
    twist: tuple[float, ...] | None
    """Rates of the tool in the world's axes: v [m/s], ω [rad/s]."""
    clutch: bool
    """Closed: the slave follows. Open: it stays, and the master may move freely."""
    stop: bool
    reset: bool
    release: bool
    """The master leaves."""
    opening: float | None
    """Of the gripper [m]."""


def packed(message: dict[str, Any]) -> str:
    """A message as it is sent, in ASCII."""
    text = json.dumps(message, separators=(",", ":"), allow_nan=False)
    return f"{crc32(text.encode('ascii')):08x} {text}"


def checksum_fits(data: bytes) -> bool:
    """Whether it can be a message at all: cheap, for everything that arrives."""
    return data[:9] == f"{crc32(data[9:]):08x} ".encode()


def unpacked(data: bytes | str) -> dict[str, Any]:
    """A message that has arrived, or ValueError (RecursionError for what is nested too deeply)."""
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    if not checksum_fits(data):
        raise ValueError(NO_CHECKSUM)
    try:
        message = json.loads(data[9:].decode("utf-8"), object_pairs_hook=_without_repetition, parse_constant=_no_number)
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError("not JSON") from None
    if not isinstance(message, dict):
        raise ValueError("not a JSON object")
    return message


def read_from_master(data: bytes | str, joints: int) -> Hello | Drive:
    """What a master of an arm with so many joints says, or ValueError, or RecursionError."""
    message = unpacked(data)
    if "hello" in message:
        return _hello(message)
    if unknown := message.keys() - DRIVE_KEYS:
        raise ValueError(f"unknown key {ascii(min(unknown))[:40]}")
    session = message.get("session")
    if not isinstance(session, str) or not 0 < len(session) <= LONGEST_TEXT:
        raise ValueError('"session" is the text that the greeting gave')
    number = message.get("number")
    if type(number) is not int or not 0 <= number < LARGEST_NUMBER:
        raise ValueError('"number" is a whole number, at least 0')
    if message.get("joints") is not None and message.get("twist") is not None:
        raise ValueError('give "joints" or "twist", not both')
    opening = message.get("opening")
    return Drive(
        session=session,
        number=number,
        time=_number(message.get("time"), "time", 1e12),
        joints=_numbers(message.get("joints"), "joints", joints),
        twist=_numbers(message.get("twist"), "twist", len(TWIST)),
        clutch=_flag(message, "clutch", True),
        stop=_flag(message, "stop", False),
        reset=_flag(message, "reset", False),
        release=_flag(message, "release", False),
        opening=None if opening is None else _number(opening, "opening", WILD),
    )


def _hello(message: dict[str, Any]) -> Hello:
    if message.keys() != {"hello", "nonce"} or type(message["nonce"]) is not int:
        raise ValueError('a greeting is asked for by {"hello": 1, "nonce": any whole number}')
    if type(message["hello"]) is not int or message["hello"] != VERSION:
        raise ValueError(f"this slave speaks version {VERSION}")
    if not 0 <= message["nonce"] < LARGEST_NUMBER:
        raise ValueError('"nonce" is a whole number, at least 0 and below 2^53')
    return Hello(message["nonce"])


def _flag(message: dict[str, Any], key: str, default: bool) -> bool:
    value = message.get(key, default)
    if not isinstance(value, bool):
        raise ValueError(f'"{key}" is true or false')
    return value


def _number(value: Any, key: str, bound: float) -> float:
    if type(value) not in (int, float) or not -bound <= value <= bound:
        raise ValueError(f'"{key}" is a number of at most {bound:g}')
    return float(value)


def _numbers(value: Any, key: str, count: int) -> tuple[float, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != count:
        raise ValueError(f'"{key}" is a list of {count} numbers')
    return tuple(_number(one, key, WILD) for one in value)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a number")
