"""A match that stands still: what the links for teams see of a run, and what they ask of it."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from botz.channels import Channel, ChannelTable
from botz.endpoints.soccer.league_messages import Packet
from botz.errors import BotzError
from botz.scenario.soccer.schema import PlayingField

PATIENCE = 30.0
"""How long a test waits for a packet that must arrive [s]."""


NUMBERS = {"ada": ("blue", 0), "bob": ("blue", 7), "cleo": ("yellow", 0), "dan": ("yellow", 2)}
"""Two a side; not every number is there."""


class FakeMatch:
    finished = False

    def __init__(self, step_ns: int = 1_000_000):
        self.step_ns = step_ns
        self.step = 0
        self.about: dict[str, Any] = {
            "field": PlayingField().model_dump(),
            "ball": {"radius": 0.0215},
            "robots": {
                name: {"team": team, "id": number, "side": 0.075, "max_voltage": 6.0, "max_speed": 46.0}
                for name, (team, number) in NUMBERS.items()
            },
        }
        channels = []
        for name in NUMBERS:
            channels += [
                Channel(f"{name}/pose", "m, m, rad", "", ("x", "y", "heading")),
                Channel(f"{name}/twist", "m/s, m/s, rad/s", "", ("vx", "vy", "yaw_rate")),
                Channel(f"{name}/playing", "", ""),
            ]
        channels += [
            Channel("ball/pose", "m, m, rad", "", ("x", "y", "heading")),
            Channel("ball/velocity", "m/s", "", ("vx", "vy")),
            Channel("match/score", "", "", ("blue", "yellow")),
        ]
        self.channels = ChannelTable(channels)
        self.row = np.zeros(self.channels.width)
        for name in NUMBERS:
            self[f"{name}/playing"] = 1.0
        self.commands: list[tuple[str, dict[str, Any]]] = []
        self.taken = True
        self.refuses: BotzError | None = None

    def __setitem__(self, channel: str, value: Any) -> None:
        self.row[self.channels.slices[channel]] = value

    def latest(self) -> tuple[int, np.ndarray]:
        return self.step, self.row.copy()

    def command(self, actor: str, command: Mapping[str, Any]) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.commands.append((actor, dict(command)))

    def command_taken(self, actor: str) -> bool:
        return self.taken


def deliver(link: Any, *packets: bytes) -> None:
    """Send packets to a link over its socket and have it take them all."""
    host, port = link.address.split(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for packet in packets:
            before = link.counters()["received"]
            sender.sendto(packet, (host, int(port)))
            while link.counters()["received"] == before:
                assert select.select([link], [], [], PATIENCE)[0], "the packet did not arrive"
                link.receive()


def stopped_clock(patch: pytest.MonkeyPatch, *modules: Any) -> SimpleNamespace:
    """Time that passes in these modules when a test says so."""
    clock = SimpleNamespace(now=1000.0)
    clock.perf_counter = lambda: clock.now
    for module in modules:
        patch.setattr(module, "time", clock)
    return clock


def wheels(*commands: tuple[int, bool, float, float]) -> bytes:
    packet = Packet()
    for robot_id, yellow, left, right in commands:
        packet.cmd.robot_commands.add(id=robot_id, yellowteam=yellow, wheel_left=left, wheel_right=right)
    return packet.SerializeToString()


def replacement(*robots: dict[str, Any], ball: dict[str, float] | None = None) -> bytes:
    packet = Packet()
    packet.replace.SetInParent()
    if ball is not None:
        packet.replace.ball.SetInParent()
        for name, value in ball.items():
            setattr(packet.replace.ball, name, value)
    for robot in robots:
        entry = packet.replace.robots.add(yellowteam=robot.get("yellowteam", False), turnon=robot.get("turnon", True))
        entry.position.SetInParent()
        for name in robot.keys() - {"yellowteam", "turnon"}:
            setattr(entry.position, name, robot[name])
    return packet.SerializeToString()


def ignored(link: Any) -> dict[str, int]:
    """How much a link has ignored, by reason."""
    return {
        reason: count for reason, count in link.counters().items()
        if count and reason not in ("received", "passed_on", "sent", "ignored")
    }  # fmt: skip


# --- protobuf's wire format by hand ----------------------------------------------------------------------


def varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def number(field: int, value: int) -> bytes:
    """Wire type 0."""
    return varint(field << 3 | 0) + varint(value)


def double(field: int, value: float) -> bytes:
    """Wire type 1."""
    return varint(field << 3 | 1) + struct.pack("<d", value)


def nested(field: int, *parts: bytes) -> bytes:
    """Wire type 2."""
    inside = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(inside)) + inside


def single(field: int, value: float) -> bytes:
    """Wire type 5."""
    return varint(field << 3 | 5) + struct.pack("<f", value)
