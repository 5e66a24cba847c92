"""An endpoint of another package: whoever sends it a packet hears over UDP where a robot is."""

from __future__ import annotations

import json
import socket
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from botz.endpoints.udp_port import bound, packets
from botz.scenario.links import Address, Endpoint
from botz.sim.attached import AttachedRun


class BeaconEndpoint(Endpoint):
    """Where a robot is, told to whoever asks."""

    opens: ClassVar[str] = "botz_extras.beacon:Beacon"
    families: ClassVar[tuple[str, ...]] = ("kinematics",)
    listen: Address = "127.0.0.1:20100"
    """Where questions are taken."""
    digits: int = Field(default=3, ge=0, le=15)
    """Digits after the point."""


class Beacon:
    def __init__(self, run: AttachedRun, settings: BeaconEndpoint):
        self.run, self.settings = run, settings
        self.socket = bound(settings.listen, "links.beacon.listen")
        self.answered = 0

    @property
    def addresses(self) -> dict[str, str]:
        return {"beacon": "{}:{}".format(*self.socket.getsockname())}

    @property
    def sockets(self) -> list[socket.socket]:
        return [self.socket]

    def receive(self) -> None:
        for packet in packets(self.socket, longest=64, most=16, seconds=0.002, clock=lambda: self.run.time):
            if isinstance(packet, tuple) and packet[0] is not None:
                robot = packet[0].decode("utf-8", "replace")
                place = [round(value, self.settings.digits) for value in np.ravel(self.run[f"{robot}/pose"])]
                self.socket.sendto(json.dumps({"t": self.run.time, "pose": place}).encode(), packet[1])
                self.answered += 1

    def next_due(self) -> None:
        return None

    def send_if_due(self, now: float) -> None:
        pass

    def counters(self) -> dict[str, Any]:
        return {"answered": self.answered}

    def close(self) -> None:
        self.socket.close()
