"""The plain link: motor voltages as JSON, and what may be sent there without harm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fake_match import NUMBERS, FakeMatch, deliver, ignored
from hypothesis import given
from hypothesis import strategies as st

from botz.endpoints.soccer import team as team_link
from botz.endpoints.soccer.voltage import VoltageLink
from botz.errors import BotzError, InputError
from botz.scenario.soccer.links import VoltageLink as Settings


@pytest.fixture
def match() -> FakeMatch:
    return FakeMatch()


@pytest.fixture
def link(match: FakeMatch) -> Iterator[VoltageLink]:
    opened = VoltageLink(match, Settings(listen="127.0.0.1:0"))
    yield opened
    opened.close()


def volts(team: Any, robots: Any, **more: Any) -> bytes:
    return json.dumps({"team": team, "robots": robots, **more}).encode()


def test_voltages_reach_the_robots_of_the_team(match, link):
    deliver(link, volts("blue", {"0": [6.0, -6], "7": [0.5, 0]}), volts("yellow", {"0": [1, 2]}))
    assert match.commands == [
        ("ada", {"left/voltage": 6.0, "right/voltage": -6.0}),
        ("bob", {"left/voltage": 0.5, "right/voltage": 0.0}),
        ("cleo", {"left/voltage": 1.0, "right/voltage": 2.0}),
    ]
    assert link.counters()["passed_on"] == 3
    assert not ignored(link)


@pytest.mark.parametrize(
    ("robot", "reason"),
    [
        ('"5": [1, 1]', "unknown_robot"),
        ('"00": [1, 1]', "unknown_robot"),
        ('"٧": [1, 1]', "unknown_robot"),
        ('"ada": [1, 1]', "unknown_robot"),
        ('"": [1, 1]', "unknown_robot"),
        ('"0": [NaN, 1]', "out_of_range"),
        ('"0": [1, -Infinity]', "out_of_range"),
        ('"0": [1e999, 0]', "out_of_range"),
        ('"0": [601, 0]', "out_of_range"),
        ('"0": [0, -1e17]', "out_of_range"),
        (f'"0": [{"9" * 400}, 0]', "out_of_range"),
    ],
)
def test_one_bad_robot_does_not_spoil_the_others(match, link, robot, reason):
    deliver(link, f'{{"team": "blue", "robots": {{{robot}, "7": [1, 2]}}}}'.encode())
    assert match.commands == [("bob", {"left/voltage": 1.0, "right/voltage": 2.0})]
    assert ignored(link) == {reason: 1}


GOOD = volts("blue", {"0": [1.0, 2.0], "7": [3.0, 4.0]})
HOSTILE = {
    "nothing": (b"", "malformed"),
    "a word": (b"hello", "malformed"),
    "bytes that are no text": (b"\xff\xfe\x00\x80", "malformed"),
    "another encoding": (GOOD.decode().encode("utf-16"), "malformed"),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD, "malformed"),
    "null": (b"null", "malformed"),
    "a list": (b"[]", "malformed"),
    "a team that does not play": (volts("red", {"0": [1, 1]}), "malformed"),
    "a team that is a list": (volts(["blue"], {"0": [1, 1]}), "malformed"),
    "no team": (b'{"robots": {"0": [1, 1]}}', "malformed"),
    "no robots": (b'{"team": "blue"}', "malformed"),
    "a key too many": (volts("blue", {"0": [1, 1]}, speed=3), "malformed"),
    "robots in a list": (volts("blue", [[1, 1]]), "malformed"),
    "one voltage": (volts("blue", {"0": [1]}), "malformed"),
    "three voltages": (volts("blue", {"0": [1, 2, 3]}), "malformed"),
    "a voltage that is no pair": (volts("blue", {"0": 1}), "malformed"),
    "voltages as text": (volts("blue", {"0": ["1", "2"]}), "malformed"),
    "voltages that are true": (volts("blue", {"0": [True, True]}), "malformed"),
    "a pair as text": (volts("blue", {"0": "12"}), "malformed"),
    "a good robot beside a bad one": (volts("blue", {"0": [1, 2], "7": None}), "malformed"),
    "a robot twice": (b'{"team": "blue", "robots": {"0": [1, 1], "0": [2, 2]}}', "malformed"),
    "a team twice": (b'{"team": "blue", "team": "blue", "robots": {"0": [1, 1]}}', "malformed"),
    "two messages": (GOOD + GOOD, "malformed"),
    "very deep lists": (b"[" * 1400, "malformed"),
    "very deep objects": (b'{"a":' * 280, "malformed"),
    "many robots": (volts("blue", {str(n): [1, 1] for n in range(90)}), "too_long"),
    "a packet of more than a frame": (GOOD.ljust(team_link.SMALLEST_LIMIT + 1), "too_long"),
    "the longest packet that UDP has": (GOOD + b" " * (65507 - len(GOOD)), "too_long"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_packets_are_counted_and_ignored(match, link, name):
    data, reason = HOSTILE[name]
    deliver(link, data)
    assert match.commands == []
    assert ignored(link) == {reason: 1}
    deliver(link, GOOD)
    assert [actor for actor, _ in match.commands] == ["ada", "bob"]


def test_the_longest_packet_is_taken(match, link):
    deliver(link, GOOD.ljust(team_link.SMALLEST_LIMIT))
    assert [actor for actor, _ in match.commands] == ["ada", "bob"]


def test_a_packet_cut_off_anywhere_does_nothing(match, link):
    deliver(link, *[GOOD[:length] for length in range(len(GOOD))])
    assert match.commands == []
    assert ignored(link) == {"malformed": len(GOOD)}


@pytest.mark.parametrize("error", [InputError("not now"), BotzError("this run has ended")])
def test_a_command_that_the_run_refuses_does_not_end_the_link(match, link, error):
    match.refuses = error
    deliver(link, GOOD)
    assert ignored(link) == {"refused": 2}
    match.refuses = None
    deliver(link, GOOD)
    assert len(match.commands) == 2


def test_it_has_something_to_do_only_while_a_log_line_waits(link, caplog):
    assert link.next_due() is None
    deliver(link, b"junk")
    assert link.next_due() is None  # said at once
    deliver(link, b"junk")
    due = link.next_due()
    assert due is not None
    link.send_if_due(due - 0.5 * team_link.LOG_PERIOD)
    assert len(caplog.records) == 1
    link.send_if_due(due)
    assert len(caplog.records) == 2
    assert link.next_due() is None


def test_what_a_stranger_writes_is_not_logged_at_length(link, caplog):
    deliver(link, volts("blue", {"\x1b[31m\n" + "x" * 1000: [1, 1]}))
    [record] = caplog.records
    assert record.getMessage().isprintable()
    assert len(record.getMessage()) < 300


@pytest.fixture(scope="module")
def lasting() -> Iterator[tuple[FakeMatch, VoltageLink]]:
    """A link for many examples."""
    match = FakeMatch()
    link = VoltageLink(match, Settings(listen="127.0.0.1:0"))
    yield match, link
    link.close()


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["0", "7", "a"]), inner, max_size=3),
    max_leaves=8,
)
ALMOST = st.fixed_dictionaries({"team": st.sampled_from(["blue", "yellow"]) | ANYTHING, "robots": ANYTHING})


@given(data=st.binary(max_size=100) | ALMOST.map(lambda message: json.dumps(message).encode()))
def test_random_packets_never_end_the_link(lasting, data):
    match, link = lasting
    match.commands.clear()
    link.take(data)
    link.receive()  # ends the turn: what was taken is passed on
    for actor, command in match.commands:
        assert actor in NUMBERS
        assert np.isfinite(list(command.values())).all()
