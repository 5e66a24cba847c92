"""Whose packets are read when a port is flooded. Time passes only as the tests say."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from fake_match import FakeMatch, deliver, ignored, stopped_clock

from botz.endpoints import admission
from botz.endpoints.admission import Admission
from botz.endpoints.soccer import team as team_link
from botz.endpoints.soccer import voltage as voltage_link
from botz.endpoints.soccer.voltage import VoltageLink
from botz.scenario.soccer.links import VoltageLink as Settings

JUNK, TEAM = ("127.0.0.1", 1), ("127.0.0.1", 2)


def test_one_that_sends_rubbish_is_read_no_more_for_the_rest_of_a_second():
    gate = Admission(0.0)
    read = 0
    for index in range(10_000):
        now = index * 1e-4
        if gate.admits(JUNK, now):
            read += 1
            gate.judge(JUNK, good=False)
    assert read == admission.MOST_BAD
    assert gate.admits(JUNK, 1.0), "a second later it may try again"


def test_a_flood_from_everywhere_leaves_room_for_those_who_play():
    gate = Admission(0.0)
    assert gate.admits(TEAM, 0.0)
    gate.judge(TEAM, good=True)
    strangers = 0
    for index in range(10_000):
        now = index * 1e-4
        if gate.admits(("10.0.0.1", index), now):
            strangers += 1
            gate.judge(("10.0.0.1", index), good=False)
        if index % 100 == 0:
            assert gate.admits(TEAM, now)
    assert strangers <= admission.STRANGERS_BURST + admission.STRANGERS_RATE
    assert strangers >= admission.STRANGERS_RATE, "a newcomer among them would be read sooner or later"


def test_the_number_of_those_with_room_is_bounded():
    gate = Admission(0.0)
    for index in range(1000):
        gate.judge(("10.0.0.1", index), good=True)
    assert len(gate._known) == admission.MOST_KNOWN


@pytest.mark.parametrize("bad", [b"[" * 1400, b'{"a":' * 200, b"\x93" * 60])
def test_a_flooded_link_parses_no_json_of_it_and_hears_the_team(monkeypatch: pytest.MonkeyPatch, bad: bytes):
    clock = stopped_clock(monkeypatch, team_link)
    parsed: list[Any] = []
    monkeypatch.setattr(voltage_link, "json", _Counting(parsed))
    match = FakeMatch()
    link = VoltageLink(match, Settings(listen="127.0.0.1:0"))  # type: ignore[arg-type]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        host, port = link.address.split(":")
        for _ in range(20):
            for _ in range(50):
                sender.sendto(bad, (host, int(port)))
            link.receive()
            clock.now += 0.005
    deliver(link, json.dumps({"team": "blue", "robots": {"0": [1.0, 2.0]}}).encode())
    assert match.commands[-1] == ("ada", {"left/voltage": 1.0, "right/voltage": 2.0})
    assert len(parsed) == 1, "only the team's"
    counts = ignored(link)
    assert counts["malformed"] == admission.MOST_BAD and counts["unasked"] > 0
    link.close()


class _Counting:
    """`json` that notes what it parses."""

    JSONDecodeError = json.JSONDecodeError

    def __init__(self, parsed: list[Any]):
        self._parsed = parsed

    def loads(self, *arguments: Any, **more: Any) -> Any:
        self._parsed.append(arguments)
        return json.loads(*arguments, **more)
