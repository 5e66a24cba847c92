"""The league's referee and replacer over real sockets: what the match is told, and what does no harm."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from math import nan, pi
from typing import Any

import pytest
from fake_match import PATIENCE, FakeMatch, ignored, number, single, stopped_clock

from botz import Simulation
from botz.endpoints import udp_port
from botz.endpoints.soccer import placements
from botz.endpoints.soccer import referee as referee_link
from botz.endpoints.soccer import team as team_link
from botz.endpoints.soccer.league_messages import ENUMERATIONS, Placement, RefereeCall
from botz.endpoints.soccer.referee import RefereeLink
from botz.scenario.soccer.links import RefereeLink as Settings

FOULS = ENUMERATIONS["Foul"]
BLUE, YELLOW, NONE = 0, 1, 2


@pytest.fixture
def match() -> FakeMatch:
    match = FakeMatch()
    for index, name in enumerate(("ada", "bob", "cleo", "dan")):
        match[f"{name}/pose"] = (-0.6 + 0.4 * index, 0.0, 0.0)
    return match


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    return stopped_clock(monkeypatch, team_link, referee_link)


@pytest.fixture
def link(match: FakeMatch, clock: Any) -> Iterator[RefereeLink]:
    opened = RefereeLink(match, Settings(listen="127.0.0.1:0", replacer="127.0.0.1:0"))  # type: ignore[arg-type]
    yield opened
    opened.close()


def send(link: RefereeLink, clock: Any, data: bytes, *, replacer: bool = False) -> None:
    """Have a packet arrive, and all that follows from it."""
    host, port = (link.replacer_address if replacer else link.address).split(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        before = link.counters()["received"]
        sender.sendto(data, (host, int(port)))
        while link.counters()["received"] == before:
            assert select.select(link.sockets, [], [], PATIENCE)[0], "the packet did not arrive"
            link.receive()
    for _ in range(4):
        clock.now += placements.PLACING_PERIOD
        link.send_if_due(clock.now)


def call(foul: str, team: int = NONE, quadrant: int = 0, timestamp: float = 12.5, half: int = 1) -> bytes:
    message = RefereeCall(foul=FOULS.index(foul), teamcolor=team, foulQuadrant=quadrant, timestamp=timestamp)
    message.gameHalf = half
    return message.SerializeToString()


def placement(team: int, *robots: tuple[int, float, float, float]) -> bytes:
    message = Placement()
    message.world.teamColor = team
    for robot, x, y, degrees in robots:
        message.world.robots.add(robot_id=robot, x=x, y=y, orientation=degrees)
    return message.SerializeToString()


def test_a_call_on_the_wire_has_the_leagues_numbers():
    assert call("HALT", YELLOW, 3, 2.0, 2) == number(1, 7) + number(2, 1) + number(3, 3) + bytes.fromhex(
        "210000000000000040"
    ) + number(5, 2)


@pytest.mark.parametrize("foul", ["HALT", "STOP"])
def test_a_halt_stops_the_robots_until_the_game_is_on(match, link, clock, foul):
    send(link, clock, call(foul))
    assert match.commands == [("match", {"referee": (FOULS.index(foul), NONE, 0, 12.5, 1), "halt": 1.0})]
    send(link, clock, call("GAME_ON", timestamp=13.0))
    assert match.commands[1] == ("match", {"referee": (6, NONE, 0, 13.0, 1), "halt": 0.0})
    assert ignored(link) == {}


def test_a_call_that_is_repeated_counts_once(match, link, clock):
    for second in range(5):
        send(link, clock, call("HALT", timestamp=second))
    assert len(match.commands) == 1


@pytest.mark.parametrize(("team", "kicks"), [(BLUE, 1.0), (YELLOW, 2.0), (NONE, 1.0)])
def test_a_kick_off_puts_everybody_in_place(match, link, clock, team, kicks):
    send(link, clock, call("KICKOFF", team))
    assert [command.get("halt") for _, command in match.commands] == [1.0, None]
    assert match.commands[1] == ("match", {"kick_off": kicks})


@pytest.mark.parametrize(
    ("foul", "team", "quadrant", "place"),
    [
        ("FREE_BALL", NONE, 1, (0.375, 0.4)),
        ("FREE_BALL", NONE, 2, (-0.375, 0.4)),
        ("FREE_BALL", NONE, 3, (-0.375, -0.4)),
        ("FREE_BALL", NONE, 4, (0.375, -0.4)),
        ("PENALTY_KICK", BLUE, 0, (0.375, 0.0)),
        ("PENALTY_KICK", YELLOW, 0, (-0.375, 0.0)),
        ("FREE_KICK", BLUE, 0, (0.375, 0.0)),
        ("GOAL_KICK", BLUE, 0, (-0.6, 0.3285)),
        ("GOAL_KICK", YELLOW, 0, (0.6, 0.3285)),
    ],
)
def test_a_foul_puts_the_ball_on_its_mark(match, link, clock, foul, team, quadrant, place):
    send(link, clock, call(foul, team, quadrant))
    assert match.commands[0][1]["halt"] == 1.0
    assert match.commands[1] == ("match", {"ball/place": pytest.approx((*place, 0.0, 0.0))})


def test_the_ball_waits_for_a_robot_on_its_mark(match, link, clock):
    match["cleo/pose"] = (0.38, 0.01, 0.3)
    send(link, clock, call("PENALTY_KICK", BLUE))
    assert len(match.commands) == 1, "halted, and the ball where it was"
    match["cleo/pose"] = (0.7, 0.0, 0.0)
    for _ in range(2):
        clock.now += 0.01
        link.send_if_due(clock.now)
    assert match.commands[1] == ("match", {"ball/place": (0.375, 0.0, 0.0, 0.0)})


def test_teams_place_their_robots(match, link, clock):
    send(link, clock, call("HALT"))
    send(link, clock, placement(YELLOW, (0, 0.7, 0.0, 180.0), (2, 0.2, -0.1, -90.0), (5, 0.0, 0.0, 0.0)), replacer=True)
    assert match.commands[1] == (
        "match", {"cleo/place": (0.7, 0.0, pytest.approx(pi), 1.0), "dan/place": (0.2, -0.1, -pi / 2, 1.0)},
    )  # fmt: skip
    assert ignored(link) == {"unknown_robot": 1}


def test_without_a_referee_a_placement_counts_and_while_the_game_is_on_it_does_not(match, link, clock):
    send(link, clock, placement(BLUE, (7, 0.1, 0.2, 0.0)), replacer=True)
    assert match.commands == [("match", {"bob/place": (0.1, 0.2, 0.0, 1.0)})]
    send(link, clock, call("GAME_ON"))
    send(link, clock, placement(BLUE, (7, -0.1, 0.2, 0.0)), replacer=True)
    assert len(match.commands) == 2
    assert ignored(link) == {"in_play": 1}


@pytest.mark.parametrize(
    ("data", "replacer", "reason"),
    [
        (b"", False, "malformed"),
        (b"\xff" * 40, False, "malformed"),
        (call("HALT") + single(4, 1.0), False, "malformed"),
        (number(1, 99), False, "malformed"),
        (call("HALT", timestamp=nan), False, "out_of_range"),
        (call("HALT", timestamp=-1.0), False, "out_of_range"),
        (b"\xff" * 2000, False, "too_long"),
        (b"", True, "malformed"),
        (placement(NONE, (0, 0.0, 0.0, 0.0)), True, "malformed"),
        (placement(BLUE, (0, 9.0, 0.0, 0.0)), True, "out_of_range"),
        (placement(BLUE, (0, nan, 0.0, 0.0)), True, "out_of_range"),
        (placement(BLUE, *[(0, 0.0, 0.0, 0.0)] * 65), True, "too_long"),
    ],
)
def test_what_is_no_call_and_no_placement_is_ignored(match, link, clock, data, replacer, reason):
    send(link, clock, data, replacer=replacer)
    assert (match.commands, ignored(link)) == ([], {reason: 1})


def test_who_is_on_another_machine_is_known_by_its_address():
    local = udp_port.OnlyLocal()
    assert "127.0.0.1" in local
    assert "192.0.2.77" not in local


# --- the match -----------------------------------------------------------------------------------------------


def driven() -> Simulation:
    simulation = Simulation("soccer", with_controllers=False)
    simulation.step({"blue0": {"left/speed": 20.0, "right/speed": 20.0}}, n=300)
    return simulation


def test_halted_robots_brake_and_go_on_as_they_are_commanded_when_the_game_is_on():
    simulation = driven()
    assert simulation.step(n=1)["blue0/twist"][0] > 0.3
    halted = simulation.step({"match": {"halt": 1, "referee": (7, 2, 0, 1.0, 1)}}, n=300)
    assert abs(halted["blue0/twist"][0]) < 1e-3
    still = simulation.step({"blue0": {"left/speed": 20.0, "right/speed": 20.0}}, n=200)
    assert abs(still["blue0/twist"][0]) < 1e-3, "what is commanded meanwhile does not move it"
    assert simulation.step({"match": {"halt": 0}}, n=300)["blue0/twist"][0] > 0.3


def test_a_halt_is_no_replacement_and_a_replacement_keeps_it():
    simulation = driven()
    before = simulation.step({"match": {"halt": 1}}, n=300)["blue0/pose"]
    after = simulation.step({"match": {"ball/place": (0.0, 0.4, 0.0, 0.0)}}, n=10)
    assert after["ball/pose"][:2] == pytest.approx((0.0, 0.4))
    assert after["blue0/pose"] == pytest.approx(before, abs=1e-4)
    again = simulation.step({"match": {"halt": 1}}, n=10)
    assert again["ball/pose"][:2] == pytest.approx((0.0, 0.4))


def test_a_halted_match_is_kept_with_its_state():
    simulation = driven()
    simulation.step({"match": {"halt": 1}}, n=5)
    saved = simulation.engine.snapshot()
    simulation.step({"match": {"halt": 0}}, n=5)
    simulation.engine.restore(saved)
    assert simulation.engine.inputs[-2] == 1.0


def test_a_call_is_told_once():
    simulation = driven()
    engine = simulation.engine
    simulation.step({"match": {"halt": 1, "referee": (1, 1, 0, 1.0, 1)}}, n=1)
    assert engine.news == ("referee: penalty kick for yellow",)
    simulation.step(n=1)
    assert engine.news == ()
