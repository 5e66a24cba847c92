"""The league's link over real sockets: what a client sees and does, and what it may send without harm."""

from __future__ import annotations

import math
import select
import socket
from collections.abc import Callable, Iterator
from math import inf, nan, pi
from types import SimpleNamespace
from typing import Any

import pytest
from fake_match import PATIENCE, FakeMatch, deliver, ignored, nested, replacement, stopped_clock, wheels

from botz.endpoints.soccer import league as league_link
from botz.endpoints.soccer import placements
from botz.endpoints.soccer import team as team_link
from botz.endpoints.soccer.league import LeagueLink
from botz.endpoints.soccer.league_messages import Environment
from botz.errors import InputError, Problem
from botz.scenario.soccer.links import LeagueLink as Settings

Make = Callable[..., LeagueLink]


@pytest.fixture
def match() -> FakeMatch:
    return FakeMatch()


@pytest.fixture
def client() -> Iterator[socket.socket]:
    """A client that waits for vision."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.bind(("127.0.0.1", 0))
        opened.settimeout(PATIENCE)
        yield opened


@pytest.fixture
def make(match: FakeMatch, client: socket.socket) -> Iterator[Make]:
    links: list[LeagueLink] = []

    def make(**settings: Any) -> LeagueLink:
        there = {"listen": "127.0.0.1:0", "vision": f"127.0.0.1:{client.getsockname()[1]}"}
        links.append(LeagueLink(match, Settings(**{**there, **settings})))
        return links[-1]

    yield make
    for link in links:
        link.close()


@pytest.fixture
def link(make: Make) -> LeagueLink:
    return make()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    return stopped_clock(monkeypatch, team_link, league_link)


# --- vision ---------------------------------------------------------------------------------------------


def seen(link: LeagueLink, client: socket.socket) -> Any:
    link.send_if_due(link.next_due())
    return Environment.FromString(client.recv(65536))


def test_vision_tells_the_state_of_the_game(match, link, client):
    match.step = 12_345
    match["ada/pose"] = (0.1, -0.2, 0.5 * pi)
    match["ada/twist"] = (0.6, 0.0, -3.0)  # along its heading, which is +y
    match["dan/pose"] = (-0.3, 0.4, 2.0)
    match["dan/twist"] = (1.0, 0.0, 0.0)
    match["ball/pose"] = (0.05, 0.06, 1.0)
    match["ball/velocity"] = (-0.7, 0.8)
    match["match/score"] = (3, 1)
    vision = seen(link, client)

    assert (vision.step, vision.goals_blue, vision.goals_yellow) == (12_345, 3, 1)
    ball = vision.frame.ball
    assert (ball.x, ball.y, ball.z, ball.vx, ball.vy, ball.vz) == (0.05, 0.06, 0.0215, -0.7, 0.8, 0.0)
    assert [robot.robot_id for robot in vision.frame.robots_blue] == [0, 7]
    assert [robot.robot_id for robot in vision.frame.robots_yellow] == [0, 2]
    ada, dan = vision.frame.robots_blue[0], vision.frame.robots_yellow[1]
    assert (ada.x, ada.y, ada.orientation, ada.vorientation) == (0.1, -0.2, 0.5 * pi, -3.0)
    assert (ada.vx, ada.vy) == pytest.approx((0.0, 0.6), abs=1e-15)
    assert (dan.vx, dan.vy) == pytest.approx((math.cos(2.0), math.sin(2.0)), abs=1e-15)
    field = vision.field
    assert (field.length, field.width, field.goal_width, field.goal_depth) == (1.5, 1.3, 0.4, 0.1)
    assert (field.center_radius, field.penalty_width, field.penalty_depth) == (0.2, 0.7, 0.15)
    assert field.penalty_point == 0.375


def test_a_robot_out_of_play_is_not_seen(match, link, client):
    match["bob/playing"] = 0.0
    match["cleo/playing"] = 0.0
    frame = seen(link, client).frame
    assert [robot.robot_id for robot in frame.robots_blue] == [0]
    assert [robot.robot_id for robot in frame.robots_yellow] == [2]


def test_headings_are_told_within_half_a_turn(match, link, client):
    match["ada/pose"] = (0.0, 0.0, 7.0 * pi - 0.25)
    assert seen(link, client).frame.robots_blue[0].orientation == pytest.approx(pi - 0.25, abs=1e-12)


@pytest.mark.parametrize(
    ("step_ns", "step", "milliseconds"),
    [(250_000, 10, 2), (5_000_000, 10, 50), (1_000_000, 2**32 + 17, 17)],  # an unsigned number of 32 bits
)
def test_step_counts_simulated_milliseconds(match, make, client, step_ns, step, milliseconds):
    match.step_ns, match.step = step_ns, step
    assert seen(make(), client).step == milliseconds


def test_vision_keeps_its_rate_and_makes_up_for_nothing(clock, make):
    link = make(rate=50.0)
    start = clock.now
    assert link.next_due() == start
    for tick in range(10):
        link.send_if_due(link.next_due() + 0.001)  # a little late each time
        assert link.next_due() == pytest.approx(start + 0.02 * (tick + 1), abs=1e-9)
        link.send_if_due(link.next_due() - 0.001)
        assert link.counters()["sent"] == tick + 1
    link.send_if_due(start + 100.0)
    assert link.counters()["sent"] == 11
    assert link.next_due() == pytest.approx(start + 100.02, abs=1e-9)


def test_vision_that_cannot_be_sent_does_not_end_the_link(match, make, caplog):
    link = make(vision="255.255.255.255:10002")  # broadcasts are not permitted
    link.send_if_due(link.next_due())
    assert ignored(link) == {"unsent": 1}
    assert "255.255.255.255:10002" in caplog.text
    deliver(link, wheels((0, False, 1.0, 2.0)))
    assert match.commands == [("ada", {"left/speed": 1.0, "right/speed": 2.0})]


# --- commands ----------------------------------------------------------------------------------------------


def test_wheel_speeds_reach_the_robot_of_that_team_and_number(match, link):
    deliver(link, wheels((7, False, 1.5, -2.5), (0, True, 30.0, 31.0)))
    assert match.commands == [
        ("bob", {"left/speed": 1.5, "right/speed": -2.5}),
        ("cleo", {"left/speed": 30.0, "right/speed": 31.0}),
    ]
    assert link.counters()["passed_on"] == 2
    assert not ignored(link)


def test_a_packet_written_by_hand_is_understood(match, link):
    deliver(link, bytes.fromhex("0A 18 0A 16  08 02  10 01  31 000000000000F83F  39 000000000000D0BF"))
    assert match.commands == [("dan", {"left/speed": 1.5, "right/speed": -0.25})]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ((1, False, 1.0, 1.0), "unknown_robot"),
        ((2**32 - 1, True, 1.0, 1.0), "unknown_robot"),
        ((0, False, nan, 1.0), "out_of_range"),
        ((0, False, 1.0, inf), "out_of_range"),
        ((0, False, -inf, 1.0), "out_of_range"),
        ((0, False, 1e300, 0.0), "out_of_range"),
        ((0, False, 0.0, -5e3), "out_of_range"),
    ],
)
def test_one_bad_command_does_not_spoil_the_others(match, link, bad, reason):
    deliver(link, wheels((7, False, 1.0, 2.0), bad, (2, True, 3.0, 4.0)))
    assert [actor for actor, _ in match.commands] == ["bob", "dan"]
    assert ignored(link) == {reason: 1}


def test_more_than_the_motors_can_do_is_left_to_the_robot(match, link):
    deliver(link, wheels((0, False, 80.0, -80.0)))
    assert match.commands == [("ada", {"left/speed": 80.0, "right/speed": -80.0})]


def test_of_several_packets_in_a_turn_the_newest_counts(match, link):
    host, port = link.address.split(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((host, int(port)))
        for speed in range(5):
            sender.send(wheels((0, False, speed, speed)))
        sender.send(wheels((7, False, 9.0, 9.0)))
    while link.counters()["received"] < 6:
        assert select.select([link], [], [], PATIENCE)[0], "the packets did not arrive"
        link.receive()
    assert dict(match.commands)["ada"] == {"left/speed": 4.0, "right/speed": 4.0}
    assert dict(match.commands)["bob"] == {"left/speed": 9.0, "right/speed": 9.0}


def test_a_command_that_the_run_refuses_does_not_end_the_link(match, link):
    match.refuses = InputError(Problem("not now", key="ada"))
    deliver(link, wheels((0, False, 1.0, 1.0)))
    assert ignored(link) == {"refused": 1}
    match.refuses = None
    deliver(link, wheels((0, False, 2.0, 2.0)))
    assert match.commands == [("ada", {"left/speed": 2.0, "right/speed": 2.0})]


# --- replacements --------------------------------------------------------------------------------------------


def test_a_replacement_is_in_degrees_and_the_ball_moves(match, link):
    data = replacement(
        {"robot_id": 7, "x": 0.3, "y": -0.2, "orientation": 90.0},
        {"robot_id": 2, "x": -0.1, "y": 0.1, "orientation": -450.0, "yellowteam": True},
        ball={"x": 0.25, "y": 0.5, "vx": -1.0, "vy": 2.0},
    )
    deliver(link, data)
    [(actor, places)] = match.commands
    assert actor == "match"
    assert places == {
        "ball/place": (0.25, 0.5, -1.0, 2.0),
        "bob/place": pytest.approx((0.3, -0.2, 0.5 * pi, 1.0)),
        "dan/place": pytest.approx((-0.1, 0.1, -0.5 * pi, 1.0)),
    }


def test_turnon_absent_takes_the_robot_out(match, link):
    """Position of blue 0 at the centre, no further field: proto3 leaves out what is false."""
    deliver(link, nested(2, nested(2, nested(1, b""))))
    assert match.commands == [("match", {"ada/place": (0.0, 0.0, 0.0, 0.0)})]


def test_a_robot_may_leave_the_game_and_the_field(match, link):
    deliver(link, replacement({"robot_id": 0, "x": 50.0, "y": 50.0, "turnon": False}))
    assert match.commands == [("match", {"ada/place": (50.0, 50.0, 0.0, 0.0)})]


def test_two_robots_change_places_in_one_command(match, link):
    deliver(link, replacement({"robot_id": 0, "x": 0.3, "y": 0.0}, {"robot_id": 7, "x": -0.3, "y": 0.0}))
    assert match.commands == [("match", {"ada/place": (0.3, 0.0, 0.0, 1.0), "bob/place": (-0.3, 0.0, 0.0, 1.0)})]


def test_a_packet_may_command_and_replace(match, link):
    deliver(link, wheels((0, False, 1.0, 2.0)) + replacement(ball={"x": 0.1}))
    assert sorted(match.commands) == [
        ("ada", {"left/speed": 1.0, "right/speed": 2.0}),
        ("match", {"ball/place": (0.1, 0.0, 0.0, 0.0)}),
    ]


def test_an_unknown_robot_is_left_out_of_a_replacement(match, link):
    deliver(link, replacement({"robot_id": 5, "x": 0.3}, {"robot_id": 0, "x": 0.2}))
    assert match.commands == [("match", {"ada/place": (0.2, 0.0, 0.0, 1.0)})]
    assert ignored(link) == {"unknown_robot": 1}


@pytest.mark.parametrize(
    "bad",
    [
        {"robot_id": 7, "x": nan},
        {"robot_id": 7, "y": inf},
        {"robot_id": 7, "orientation": nan},
        {"robot_id": 7, "orientation": -inf},
        {"robot_id": 7, "x": 0.86},  # behind the goal
        {"robot_id": 7, "y": -0.66},
        {"robot_id": 7, "x": nan, "turnon": False},
        {"robot_id": 7, "y": -1e300, "turnon": False},
    ],
)
def test_a_replacement_out_of_range_is_ignored_as_a_whole(match, link, bad):
    deliver(link, replacement({"robot_id": 0, "x": 0.2}, bad, ball={"x": 0.1}))
    assert match.commands == []
    assert ignored(link) == {"out_of_range": 1}


@pytest.mark.parametrize(
    "ball", [{"x": nan}, {"y": 1e9}, {"vx": inf}, {"vy": nan}, {"vx": -101.0}, {"vx": 80.0, "vy": 80.0}]
)
def test_a_ball_out_of_range_is_ignored(match, link, ball):
    deliver(link, replacement({"robot_id": 0, "x": 0.2}, ball=ball))
    assert match.commands == []
    assert ignored(link) == {"out_of_range": 1}


def test_replacements_wait_until_the_physics_has_taken_the_one_before(clock, match, link):
    deliver(link, replacement(ball={"x": 0.1}))
    match.taken = False
    deliver(link, replacement(ball={"x": 0.2}), replacement(ball={"x": 0.3}))

    def placed() -> list[float]:
        return [command["ball/place"][0] for _, command in match.commands]

    def pass_by() -> None:
        clock.now = max(clock.now + 1e-3, link.next_due())
        link.send_if_due(clock.now)

    for _ in range(20):
        pass_by()
    assert placed() == [0.1]
    match.taken = True
    while len(placed()) < 2:
        pass_by()
    match.taken = False
    for _ in range(20):
        pass_by()
    assert placed() == [0.1, 0.2]
    match.taken = True
    while len(placed()) < 3:
        pass_by()
    assert placed() == [0.1, 0.2, 0.3]
    assert not ignored(link)


def test_only_so_many_replacements_wait(clock, match, link):
    match.taken = False
    deliver(link, *[replacement(ball={"x": 0.001 * index}) for index in range(placements.QUEUE + 5)])
    assert ignored(link) == {"overrun": 5}
    match.taken = True
    for _ in range(1000):
        clock.now = max(clock.now + 1e-3, link.next_due())
        link.send_if_due(clock.now)
    assert [command["ball/place"][0] for _, command in match.commands] == [
        0.001 * index for index in range(placements.QUEUE)
    ]


# --- opening -----------------------------------------------------------------------------------------------


def problem_of(make: Make, **settings: Any) -> Problem:
    with pytest.raises(InputError) as caught:
        make(**settings)
    [problem] = caught.value.problems
    return problem


def test_any_free_port_is_reported(make):
    first, second = make(), make()
    assert first.address != second.address
    assert not first.address.endswith(":0")
    assert [opened.fileno() for opened in first.sockets] == [first.fileno()]


def test_a_port_in_use_is_the_users_problem(make):
    problem = problem_of(make, listen=make().address)
    assert problem.key == "links.league.listen"
    assert "port 0 takes any" in problem.message


def test_an_address_of_another_machine_is_the_users_problem(make):
    assert problem_of(make, listen="192.0.2.1:20011").key == "links.league.listen"


def test_vision_needs_a_port(make):
    assert problem_of(make, vision="224.0.0.1:0").key == "links.league.vision"


def test_a_group_needs_an_interface_of_this_machine(make):
    problem = problem_of(make, vision="224.0.0.1:10002", interface="192.0.2.1")
    assert problem.key == "links.league.interface"
    assert "192.0.2.1" in problem.message


def test_a_closed_link_leaves_its_port(make):
    link = make()
    link.close()
    link.close()
    assert make(listen=link.address).address == link.address
