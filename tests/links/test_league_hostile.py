"""What anybody may send to the league's link without harm, and how much of it is taken at once and logged."""

from __future__ import annotations

import json
import logging
import math
import random
import socket
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from fake_match import (
    NUMBERS,
    FakeMatch,
    deliver,
    double,
    ignored,
    nested,
    number,
    replacement,
    single,
    stopped_clock,
    wheels,
)
from hypothesis import given
from hypothesis import strategies as st

from botz.endpoints.soccer import league as league_link
from botz.endpoints.soccer import team as team_link
from botz.endpoints.soccer.league import LeagueLink
from botz.scenario.soccer.links import LeagueLink as Settings


@pytest.fixture
def match() -> FakeMatch:
    return FakeMatch()


@pytest.fixture
def link(match: FakeMatch) -> Iterator[LeagueLink]:
    opened = LeagueLink(match, Settings(listen="127.0.0.1:0", vision="127.0.0.1:9"))
    yield opened
    opened.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    return stopped_clock(monkeypatch, team_link, league_link)


# --- hostile packets -----------------------------------------------------------------------------------------

GOOD = wheels((0, False, 1.5, -0.25), (2, True, 3.0, 4.0)) + replacement(
    {"robot_id": 0, "x": 0.3, "orientation": 45.0}, ball={"x": 0.1, "vy": 1.0}
)
BLUE_0 = nested(1, nested(1, double(6, 1.0)))
HOSTILE = {
    "a text": (b"hello, simulator", "malformed"),
    "a JSON text": (json.dumps({"team": "blue"}).encode(), "malformed"),
    "zeros": (bytes(100), "malformed"),
    "ones": (b"\xff" * 100, "malformed"),
    "a length beyond the end": (bytes.fromhex("0A FF 01 0A 00"), "malformed"),
    "an enormous length": (bytes.fromhex("0A FF FF FF FF 0F 0A 00"), "malformed"),
    "a varint without end": (b"\x08" + b"\x80" * 20, "malformed"),
    "a group that never ends": (b"\x0b" * 50, "malformed"),
    "groups within groups": (b"\x23" * 700 + b"\x24" * 700, "malformed"),
    "a field number of zero": (bytes.fromhex("02 00"), "malformed"),
    "wheel speeds as float": (nested(1, nested(1, single(6, 1.0))), "malformed"),
    "wheel speeds as integers": (nested(1, nested(1, number(6, 1))), "malformed"),
    "commands as a number": (number(1, 5), "malformed"),
    "a replacement without a position": (nested(2, nested(2, number(6, 1))), "malformed"),
    "a hundred commands": (nested(1, nested(1) * 100), "too_long"),
    "a hundred replacements": (nested(2, nested(2) * 100), "too_long"),
    "a thousand commands": (nested(1, nested(1) * 1000), "too_long"),
    "the longest packet that UDP has": (nested(1, nested(1) * 32_750)[:65507].ljust(65507, b"\x00"), "too_long"),
    "much of nothing": (bytes(65507), "too_long"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_packets_are_counted_and_ignored(match, link, name):
    data, reason = HOSTILE[name]
    deliver(link, data)
    assert match.commands == []
    assert ignored(link) == {reason: 1}
    deliver(link, BLUE_0)
    assert match.commands == [("ada", {"left/speed": 1.0, "right/speed": 0.0})]


def test_a_packet_cut_off_anywhere_does_nothing_that_it_did_not_say(match, link):
    command_part = len(wheels((0, False, 1.5, -0.25), (2, True, 3.0, 4.0)))
    whole = {0, command_part, len(GOOD)}  # what ends between two fields of Packet is a packet of its own
    deliver(link, *[GOOD[:length] for length in range(len(GOOD) + 1)])
    assert ignored(link) == {"malformed": len(GOOD) + 1 - len(whole)}
    steered = [command for command in match.commands if command[0] != "match"]
    assert sorted(steered, key=lambda command: command[0]) == sorted(
        [("ada", {"left/speed": 1.5, "right/speed": -0.25}), ("dan", {"left/speed": 3.0, "right/speed": 4.0})] * 2,
        key=lambda command: command[0],
    )
    assert [command for command in match.commands if command[0] == "match"] == [
        ("match", {"ball/place": (0.1, 0.0, 0.0, 1.0), "ada/place": (0.3, 0.0, math.radians(45.0), 1.0)})
    ]


def test_an_empty_packet_says_nothing(match, link):
    deliver(link, b"")
    assert (match.commands, ignored(link), link.counters()["received"]) == ([], {}, 1)


def assert_only_sound_commands(match: FakeMatch) -> None:
    """Whatever was passed on, the engine could be given."""
    for actor, command in match.commands:
        assert actor == "match" or actor in NUMBERS
        for value in command.values():
            assert np.isfinite(value).all()


@pytest.fixture(scope="module")
def lasting() -> Iterator[tuple[FakeMatch, LeagueLink]]:
    """A link for many examples."""
    match = FakeMatch()
    link = LeagueLink(match, Settings(listen="127.0.0.1:0", vision="127.0.0.1:9"))
    yield match, link
    link.close()


@given(data=st.binary(max_size=200))
def test_random_bytes_never_end_the_link(lasting, data):
    match, link = lasting
    match.commands.clear()
    link.take(data)
    link.receive()  # ends the turn: what was taken is passed on
    assert_only_sound_commands(match)


@given(seed=st.integers(0, 2**32), changes=st.integers(1, 6))
def test_spoilt_packets_never_end_the_link(lasting, seed, changes):
    match, link = lasting
    match.commands.clear()
    rng = random.Random(seed)
    data = bytearray(GOOD)
    for _ in range(changes):
        at = rng.randrange(len(data))
        match rng.randrange(3):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randrange(1, 9)]
            case _:
                data[at:at] = rng.randbytes(rng.randrange(1, 9))
        data = data or bytearray(GOOD)
    link.take(bytes(data))
    link.receive()
    assert_only_sound_commands(lasting[0])


# --- bounds ---------------------------------------------------------------------------------------------------


def flood(link: LeagueLink, count: int) -> None:
    host, port = link.address.split(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(count):
            sender.sendto(b"junk", (host, int(port)))


def test_a_turn_takes_a_bounded_number_of_packets(link, monkeypatch):
    monkeypatch.setattr(team_link, "PACKETS_A_TURN", 10)
    monkeypatch.setattr(team_link, "SECONDS_A_TURN", 3600.0)
    flood(link, 25)
    link.receive()
    assert link.counters()["received"] == 10


def test_a_turn_takes_a_bounded_time(link, monkeypatch):
    monkeypatch.setattr(team_link, "SECONDS_A_TURN", 0.0)
    flood(link, 25)
    link.receive()
    assert link.counters()["received"] == 1


def test_a_flood_is_logged_once_a_second_and_nothing_is_left_out(clock, link, caplog):
    caplog.set_level(logging.WARNING, logger="botz")
    for _ in range(1000):
        clock.now += 0.003
        link.take(b"junk")
        link.take(wheels((99, True, 0.0, 0.0)))
    lines = [record.getMessage() for record in caplog.records]
    assert 3 <= len(lines) <= 4  # 3 s
    assert "1 malformed" in lines[0]
    link.close()
    lines = [record.getMessage() for record in caplog.records]
    assert 4 <= len(lines) <= 5
    assert sum(int(line.split(" malformed")[0].split()[-1]) for line in lines) == 1000
    assert sum(int(line.split(" unknown_robot")[0].split()[-1]) for line in lines if "unknown_robot" in line) == 1000


def test_what_was_not_logged_yet_is_said_when_the_second_is_over(clock, link, caplog):
    link.take(b"junk")
    link.take(b"junk")
    assert len(caplog.records) == 1
    clock.now += team_link.LOG_PERIOD
    assert link.next_due() <= clock.now
    link.send_if_due(clock.now)
    assert len(caplog.records) == 2
    assert "1 malformed" in caplog.records[1].getMessage()
    clock.now += 10.0
    link.send_if_due(clock.now)
    assert len(caplog.records) == 2


def test_a_log_line_says_who_sent_it(link, caplog):
    deliver(link, b"junk")
    assert "league link at 127.0.0.1:" in caplog.text
    assert "(from 127.0.0.1:" in caplog.text
