"""The built-in soccer players: they score, keep the goal, get free, and continue from a snapshot bit for bit."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
import yaml

from botz import InputError, Simulation, load
from botz.control.base import ControllerSetup
from botz.control.registry import build
from botz.control.soccer.player import circle_into
from botz.scenario.soccer.schema import SoccerPlayer


@pytest.fixture
def match(tmp_path):
    """A match of few robots: name -> pose, and who drives them."""

    def made(robots: dict, players: dict, **settings) -> Simulation:
        data = {
            "engine": "soccer",
            "time": {"step": 0.001, "duration": 60},
            "match": {"after_goal": "end"},
            "robot": {"extends": "soccer-robot"},
            "robots": {name: {"team": name.rstrip("0123456789"), "pose": pose} for name, pose in robots.items()},
            "controllers": {f"c_{name}": {"type": kind, "robot": name} for name, kind in players.items()},
            **settings,
        }
        path = tmp_path / "match.yaml"
        path.write_text(yaml.safe_dump(data), encoding="utf-8")
        return Simulation(load(path))

    return made


def until_goal(sim: Simulation, seconds: float) -> list[float]:
    while sim.time < seconds and not sim.ended:
        values = sim.step(n=50)
    return values["match/score"].tolist()


@pytest.mark.parametrize("team", ["blue", "yellow"])
@pytest.mark.parametrize(
    "ball",
    [(0.0, 0.0), (-0.5, 0.3), (0.1, 0.62), (-0.2, -0.62), (-0.7, 0.58), (0.7, 0.58), (0.72, -0.4), (-0.72, 0.4)],
    ids=["middle", "behind", "wall", "other wall", "own corner", "corner", "end", "own end"],
)
def test_a_striker_scores_wherever_the_ball_lies(match, team, ball):
    sign = 1.0 if team == "blue" else -1.0
    place = [sign * ball[0], sign * ball[1]]
    sim = match({f"{team}0": [-sign * 0.3, 0.1, 1.0]}, {f"{team}0": "striker"}, world={"ball": {"position": place}})
    assert until_goal(sim, 60.0) == ([1, 0] if team == "blue" else [0, 1])


@pytest.mark.parametrize("kind", ["goalkeeper", "none"])
@pytest.mark.parametrize("aside", [-0.15, 0.0, 0.15])
def test_a_goalkeeper_stops_what_would_go_in(match, kind, aside):
    ball = {"position": [0.0, 0.3], "velocity": [-0.9, (aside - 0.3) / 0.75 * 0.9]}
    players = {"blue0": kind} if kind == "goalkeeper" else {}
    sim = match({"blue0": [-0.675, 0.0, pi / 2] if players else [0.5, 0.5, 0]}, players, world={"ball": ball})
    assert until_goal(sim, 3.0) == ([0, 0] if players else [0, 1])


@pytest.mark.parametrize(
    "pose", [[-0.68, 0.58, 2.356], [0.68, -0.58, -0.785], [0.0, 0.605, pi / 2], [-0.78, 0.15, pi], [0.78, -0.15, 0.0]]
)
def test_a_striker_gets_out_of_corners_off_walls_and_out_of_goals(match, pose):
    sim = match({"blue0": pose}, {"blue0": "striker"}, world={"ball": {"position": [-0.1, -0.3]}})
    assert until_goal(sim, 30.0) == [1, 0]


def test_two_of_a_team_do_not_chase_the_same_ball(match):
    robots = {"blue0": [-0.2, 0.0, 0.0], "blue1": [-0.5, 0.1, 0.0], "blue2": [-0.675, 0.0, pi / 2]}
    players = {"blue0": "striker", "blue1": "striker", "blue2": "goalkeeper"}
    sim = match(robots, players, world={"ball": {"position": [0.1, 0.0]}})
    values = sim.step(n=500)
    assert values["ball/velocity"][0] > 0.3, "the nearer one has struck it"
    assert values["blue1/pose"][0] < -0.2 and values["blue2/pose"][0] < -0.6, "the others wait behind"


def test_a_robot_taken_out_is_left_alone_and_a_ball_before_the_goal_is_the_keepers(match):
    robots = {"blue0": [-0.675, 0.0, pi / 2], "blue1": [-0.2, 0.3, 0.0]}
    players = {"blue0": "goalkeeper", "blue1": "striker"}
    sim = match(robots, players, world={"ball": {"position": [-0.58, 0.0]}})
    values = sim.step({"match": {"blue1/place": (-0.2, 0.3, 0.0, 0)}}, n=1500)
    assert values["blue1/pose"][:2].tolist() == [-0.2, 0.3]
    assert values["ball/pose"][0] > -0.5, "the keeper has struck it out"


def test_a_match_falls_both_ways_and_continues_from_a_snapshot_bit_for_bit():
    sim = Simulation("soccer-match")
    sim.step(n=7_777)
    saved = sim.snapshot()
    first = sim.step(n=5_000)
    sim.restore(saved)
    again = sim.step(n=5_000)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    blue, yellow = sim.step(n=107_000)["match/score"]
    assert blue > 0 and yellow > 0


def test_the_circle_into_a_point_arrives_in_the_wanted_direction():
    # Follow the heading in small steps: it must end at the origin, going along +x.
    for start in [(-0.5, 0.2), (-0.3, -0.3), (0.3, 0.1), (0.2, -0.4)]:
        x, y = start
        heading = 0.0
        for _ in range(100_000):
            if np.hypot(x, y) < 2e-3:
                break
            heading = circle_into((x, y), (0.0, 0.0), 0.0, 0.1)
            x, y = x + 2e-4 * np.cos(heading), y + 2e-4 * np.sin(heading)
        assert np.hypot(x, y) < 2e-3
        assert abs(np.arctan2(np.sin(heading), np.cos(heading))) < 0.3


def test_players_are_for_matches():
    sim = Simulation("differential-circle", with_controllers=False)
    robot = next(iter(sim.spec.robots))
    player = build(SoccerPlayer(type="striker", robot=robot), allow_user_code=False)
    with pytest.raises(InputError, match="'striker' drives robots of engine 'soccer', not of 'kinematics'"):
        player.reset(ControllerSetup(robot, 0.01, np.random.default_rng(0), (), sim.engine))
