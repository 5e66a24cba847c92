"""The rules that the soccer engine keeps: kick-offs, goals, and replacing robots and ball while it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from soccer_game import BALL_RADIUS, HALF, NAMES, POSES, Game, robot

from botz.engines.soccer.state import put
from botz.errors import InputError

LONELY = {"ann": {"team": "blue", "pose": [0.0, -0.5, 0.0]}}
"""A robot out of the ball's way."""


def pose(game: Game, name: str) -> list[float]:
    return [round(float(number), 12) for number in game[f"{name}/pose"]]


def at_places(kicking: str) -> dict[str, list[float]]:
    return {
        name: own["kick_off_pose"] if own["team"] == kicking and "kick_off_pose" in own else own["pose"]
        for name, own in POSES.items()
    }


def placed(game: Game) -> dict[str, list[float]]:
    return {name: pose(game, name) for name in NAMES}


# --- kick-off ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("team", ["blue", "yellow"])
def test_the_first_kick_off_is_that_of_the_team_named(team: str):
    game = Game(match={"first_kick_off": team})
    assert placed(game) == at_places(team)
    game.drive(np.random.default_rng(0)).steps(300)
    assert placed(game) != at_places(team)
    game.engine.reset(np.random.default_rng(0))
    assert placed(game) == at_places(team)


@pytest.mark.parametrize(("number", "team"), [(1, "blue"), (2, "yellow")])
def test_a_kick_off_by_command_puts_all_at_their_places_at_rest(number: int, team: str):
    game = Game(world={"ball": {"position": [0.0, 0.1], "velocity": [0.3, 0.0], "radius": BALL_RADIUS}})
    game.drive(np.random.default_rng(4)).steps(500)
    for name in NAMES:
        game.command(name, left__voltage=0.0, right__voltage=0.0)
    game.match({"kick_off": number}).steps(1)
    assert placed(game) == at_places(team)
    assert game["ball/pose"][:2].tolist() == [0.0, 0.1] and game["ball/velocity"].tolist() == [0.0, 0.0]
    assert all(game[f"{name}/twist"].tolist() == [0.0, 0.0, 0.0] for name in NAMES)
    assert game["match/score"].tolist() == [0.0, 0.0], "the score stays"


def test_a_kick_off_leaves_who_is_out_out():
    game = Game().match({"bob/place": [5.0, 5.0, 0.0, 0]}).steps(10)
    game.match({"kick_off": 2}).steps(1)
    assert game["bob/playing"] == 0.0 and game["ann/playing"] == 1.0
    assert pose(game, "ann") == at_places("yellow")["ann"]


def test_a_kick_off_may_differ_for_single_bodies():
    game = Game().match({"kick_off": 2, "bob/place": [0.0, 0.5, 1.0, 1], "ball/place": [0.0, -0.5, 0.0, 0.0]}).steps(1)
    assert placed(game) == {**at_places("yellow"), "bob": [0.0, 0.5, 1.0]}
    assert game["ball/pose"][:2].tolist() == [0.0, -0.5]


# --- goals ---------------------------------------------------------------------------------------------------------


def shot(
    sign: float = 1.0, after: str = "kick-off", speed: float = 1.0, x: float = 0.70, bounce: float | None = None
) -> Game:
    impacts = {} if bounce is None else {"impacts": {"ball_wall": {"restitution": bounce}}}
    ball = {"position": [sign * x, 0.0], "velocity": [sign * speed, 0.0], "radius": BALL_RADIUS, "friction": 0.0}
    return Game(LONELY, {"ball": ball, **impacts}, match={"after_goal": after})


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_goal_counts_when_the_whole_ball_is_over_the_line(sign: float):
    game = shot(sign, "continue")
    mine, theirs = (0, 1) if sign > 0 else (1, 0)
    while sign * game["ball/pose"][0] <= 0.75 + BALL_RADIUS:
        assert game["match/score"].tolist() == [0.0, 0.0], f"not yet at {game['ball/pose'][0]}"
        game.steps(1)
    score = game["match/score"]
    assert (score[mine], score[theirs]) == (1.0, 0.0)
    assert sign * game["ball/pose"][0] < 0.75 + BALL_RADIUS + 2e-3, "in the very step in which it crossed"


def test_a_ball_half_over_the_line_that_comes_back_is_no_goal():
    game = shot(after="continue", speed=0.0, x=0.765)
    assert game.steps(100)["match/score"].tolist() == [0.0, 0.0]
    game.match({"ball/place": [0.765, 0.0, -0.5, 0.0]}).steps(200)
    assert game["ball/pose"][0] < 0.75 and game["match/score"].tolist() == [0.0, 0.0]


def test_a_ball_that_stays_in_the_goal_counts_once_and_again_when_it_has_been_out():
    game = shot(after="continue").steps(1000)
    assert game["match/score"].tolist() == [1.0, 0.0], "it bounces off the back and out"
    assert game["ball/pose"][0] < 0.75
    game.match({"ball/place": [0.70, 0.1, 1.0, 0.0]}).steps(90)
    assert game["match/score"].tolist() == [2.0, 0.0]
    still = shot(after="continue", speed=0.75, x=0.7, bounce=0.0).steps(3000)
    assert still["ball/pose"][0] > 0.77 and still["match/score"].tolist() == [1.0, 0.0]


def test_a_ball_put_on_the_line_scores_when_it_rolls_in():
    game = Game(LONELY, match={"after_goal": "continue"})
    game.match({"ball/place": [0.76, 0.0, 1.0, 0.0]}).steps(30)
    assert game["ball/pose"][0] > 0.78 and game["match/score"].tolist() == [1.0, 0.0]


def test_a_ball_put_into_the_goal_is_no_goal():
    game = Game(LONELY, match={"after_goal": "continue"})
    game.match({"ball/place": [-0.80, 0.0, 0.0, 0.0]}).steps(200)
    assert game["match/score"].tolist() == [0.0, 0.0]
    game.match({"ball/place": [-0.72, 0.0, -1.0, 0.0]}).steps(70)
    assert game["match/score"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("after", ["kick-off", "continue"])
def test_a_ball_that_starts_in_a_goal_does_not_score_with_every_step(after: str):
    """A scenario like this may also be refused."""
    try:
        game = shot(after=after, speed=0.0, x=0.8)
    except InputError:
        return
    assert game.steps(50)["match/score"].sum() <= 1.0


@pytest.mark.parametrize(("sign", "kicks"), [(1.0, "yellow"), (-1.0, "blue")])
def test_after_a_goal_the_team_that_conceded_kicks_off(sign: float, kicks: str):
    game = Game(match={"first_kick_off": "yellow" if kicks == "blue" else "blue"})
    out = {f"{name}/place": [3.0, 3.0, 0.0, 0] for name in ("bob",)}
    game.match({**out, "ball/place": [sign * 0.74, 0.0, sign * 1.0, 0.0]})
    game.command("ann", twist=[0.0, 5.0]).steps(25)
    assert game["match/score"].sum() == 0.0 and game["ann/twist"][2] > 1.0
    game.command("ann", twist=[0.0, 0.0])
    while game["match/score"].sum() == 0.0:
        game.steps(1)
    assert game["match/score"].tolist() == ([1.0, 0.0] if sign > 0 else [0.0, 1.0])
    expected = at_places(kicks)
    assert {name: pose(game, name) for name in NAMES if name != "bob"} == {
        name: place for name, place in expected.items() if name != "bob"
    }
    assert game["bob/playing"] == 0.0
    assert game["ball/pose"][:2].tolist() == [0.0, 0.0] and game["ball/velocity"].tolist() == [0.0, 0.0]
    assert game["ann/twist"].tolist() == [0.0, 0.0, 0.0]
    assert game.overlapping() == 0 and abs(game.balance()) < 1e-12
    game.steps(200)
    assert game["match/score"].sum() == 1.0


@pytest.mark.parametrize(("sign", "scorer"), [(1.0, "blue"), (-1.0, "yellow")])
def test_a_goal_may_end_the_run(sign: float, scorer: str):
    game = shot(sign, "end")
    rows = np.full((200, game.engine.channels.width), np.nan)
    assert game.engine.advance(0, 200, 1, rows)
    steps = game.engine.steps_taken
    assert game.engine.ended == f"goal for {scorer}" and steps in (70, 71, 72)
    assert np.isfinite(rows[:steps]).all() and np.isnan(rows[steps:]).all()
    assert abs(game["ball/pose"][0]) > 0.75 + BALL_RADIUS
    game.engine.reset(np.random.default_rng(0))
    assert game.engine.ended == ""
    game.engine.keep()
    game.steps(steps - 1)
    assert game.engine.ended == ""
    game.engine.advance(steps - 1, 5, 0, np.empty((0, 0)))
    assert game.engine.ended == f"goal for {scorer}" and game.engine.steps_taken == 1
    game.engine.go_back()
    assert game.engine.ended == ""


# --- replacing -----------------------------------------------------------------------------------------------------


def test_ball_and_robots_are_put_where_the_command_says():
    game = Game().drive(np.random.default_rng(6)).steps(200)
    before = placed(game)
    for name in NAMES:
        game.command(name, left__voltage=0.0, right__voltage=0.0)
    game.match({"ball/place": [-0.2, 0.55, 0.0, 0.0], "dan/place": [0.3, 0.5, -2.0, 1]})
    assert placed(game) == before, "at the next step, not at once"
    game.steps(1)
    assert pose(game, "dan") == [0.3, 0.5, -2.0] and game["dan/twist"].tolist() == [0.0, 0.0, 0.0]
    assert game["ball/pose"][:2].tolist() == [-0.2, 0.55]
    assert np.abs(np.subtract(pose(game, "ann"), before["ann"])).max() < 0.01, "the others go on"
    game.steps(100)
    assert pose(game, "dan") == [0.3, 0.5, -2.0], "it is done once"


def test_a_ball_is_put_into_play_with_its_velocity():
    game = Game(LONELY, {"ball": {"friction": 0.0, "radius": BALL_RADIUS}})
    game.match({"ball/place": [0.1, 0.2, -0.6, 0.8]}).steps(100)
    assert game["ball/pose"].tolist() == pytest.approx([0.04, 0.28, np.arctan2(0.8, -0.6)])
    assert game["ball/velocity"].tolist() == pytest.approx([-0.6, 0.8])


def test_two_robots_change_places_in_one_command():
    game = Game()
    ann, bob = pose(game, "ann"), pose(game, "bob")
    game.match({"ann/place": [*bob, 1], "bob/place": [*ann, 1]}).steps(1)
    assert (pose(game, "ann"), pose(game, "bob")) == (bob, ann)
    told = game.refusal("match", {"ann/place": [*ann, 1]})
    assert any("ann" in text and "bob" in text and "overlaps" in text for text in told), told


def test_commands_of_one_step_boundary_are_one_replacement():
    game = Game().match({"ann/place": [0.0, 0.4, 0.0, 1]}).match({"ball/place": [0.3, 0.4, 0.0, 0.0]})
    assert len(game.refusal("match", {"bob/place": [0.05, 0.4, 0.0, 1]})) == 1, "where ann will be, not where it is"
    game.match({"bob/place": [-0.1, 0.0, 0.0, 1]})  # where ann still is
    game.match({"ball/place": [0.3, 0.5, 0.0, 0.0]}).steps(1)
    assert (pose(game, "ann")[:2], pose(game, "bob")[:2]) == ([0.0, 0.4], [-0.1, 0.0])
    assert game["ball/pose"][:2].tolist() == [0.3, 0.5], "the later one counts"
    assert pose(game, "cid") == POSES["cid"]["pose"]
    game.command("ann", twist=[0.3, 0.0]).steps(100)
    there = pose(game, "ann")
    game.match({"dan/place": [0.0, -0.5, 0.0, 1]}).steps(1)
    assert pose(game, "ann")[0] >= there[0] > 0.01, "the next replacement does not repeat the last"


def test_a_robot_that_is_out_meets_nobody_and_does_not_move():
    game = Game(LONELY, {"ball": {"friction": 0.0, "radius": BALL_RADIUS}})
    game.match({"ann/place": [0.2, 0.0, 0.0, 0], "ball/place": [0.0, 0.0, 1.0, 0.0]})
    game.command("ann", left__voltage=6.0, right__voltage=6.0).steps(400)
    assert game["ann/playing"] == 0.0 and pose(game, "ann") == [0.2, 0.0, 0.0]
    assert game["ann/left/voltage"] == 0.0 and game["ann/left/current"] == 0.0
    assert game["ball/pose"][0] == pytest.approx(0.4) and game["match/impacts"] == 0.0, "the ball went through"
    game.match({"ann/place": [0.55, 0.0, 0.0, 1]})
    game.command("ann", left__voltage=0.0, right__voltage=0.0).steps(300)
    assert game["ann/playing"] == 1.0 and game["match/impacts"] > 0.0 and game["ball/pose"][0] < 0.55 - HALF


def test_who_is_out_may_stand_anywhere_and_comes_back_only_where_there_is_room():
    game = Game().match({"bob/place": [50.0, 50.0, 0.0, 0]}).steps(1)
    ann = pose(game, "ann")
    game.match({"bob/place": [*ann, 0]}).steps(5)
    (told,) = game.refusal("match", {"bob/place": [*ann, 1]})
    assert "ann" in told and "bob" in told
    game.match({"bob/place": [*ann, 1], "ann/place": [50.0, 50.0, 0.0, 0]}).steps(1)
    assert (game["bob/playing"], game["ann/playing"]) == (1.0, 0.0)


# --- what is not feasible ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            {"bob/place": [-0.5, 0.05, 0.0, 1], "ann/place": [-0.5, 0.0, 0.0, 1]},
            ["bob at (-0.5, 0.05)", "overlaps ann"],
        ),
        ({"bob/place": [-0.5 + 2 * HALF - 1e-6, 0.0, 0.0, 1]}, ["bob at (-0.420001, 0)", "overlaps ann at (-0.5, 0)"]),
        ({"ball/place": [-0.45, 0.31, 0.0, 0.0]}, ["the ball at (-0.45, 0.31)", "overlaps bob at (-0.5, 0.3)"]),
        ({"bob/place": [0.0, 0.62, 0.0, 1]}, ["bob at (0, 0.62)", "not inside the field"]),
        ({"bob/place": [0.0, 0.60, 0.7, 1]}, ["bob at (0, 0.6)", "not inside the field"]),
        ({"bob/place": [0.0, 7.0, 0.0, 1]}, ["bob at (0, 7)", "not inside the field"]),
        ({"bob/place": [-1e300, 0.0, 0.0, 1]}, ["match", "beyond the field"]),
        ({"bob/place": [0.72, -0.2, 0.0, 1]}, ["bob at (0.72, -0.2)", "not inside the field"]),
        ({"bob/place": [0.82, 0.0, 0.0, 1]}, ["bob at (0.82, 0)", "not inside the field"]),
        ({"bob/place": [0.67, 0.59, 0.0, 1]}, ["bob at (0.67, 0.59)", "not inside the field"]),
        ({"ball/place": [0.76, 0.19, 0.0, 0.0]}, ["the ball at (0.76, 0.19)", "not inside the field"]),
        ({"ball/place": [0.75, 0.185, 0.0, 0.0]}, ["the ball at (0.75, 0.185)", "not inside the field"]),
        ({"ball/place": [0.71, -0.60, 0.0, 0.0]}, ["the ball at (0.71, -0.6)", "not inside the field"]),
        ({"ball/place": [0.0, 0.4, 80.0, -80.0]}, ["match/ball/place", "113.1", "100 m/s"]),
        ({"kick_off": 0}, ["match/kick_off", "1 for blue or 2 for yellow", "not 0"]),
        ({"kick_off": 1, "cid/place": [-0.1, 0.05, 0.0, 1]}, ["cid at (-0.1, 0.05)", "overlaps ann at (-0.1, 0)"]),
        ({"ball/place": [0.0, 0.4]}, ["match/ball/place (x, y, vx, vy)", "4 finite numbers", "[0.0, 0.4]"]),
        ({"bob/place": [0.0, 0.4, 0.0]}, ["match/bob/place (x, y, heading, playing)", "4 finite numbers"]),
        ({"bob/place": [0.0, float("nan"), 0.0, 1]}, ["match/bob/place", "4 finite numbers", "nan"]),
        ({"eve/place": [0.0, 0.4, 0.0, 1]}, ["match: ", "unknown command 'eve/place'", "bob/place"]),
        ({"ball/pose": [0.0, 0.4, 0.0, 0.0]}, ["match: ", "'ball/pose'", "did you mean 'ball/place'?"]),
        ({"left/voltage": 1.0}, ["match: ", "unknown command 'left/voltage'"]),
    ],
)
def test_what_cannot_be_placed_is_refused_with_names_and_places(command: dict[str, Any], words: list[str]):
    game = Game(match={"first_kick_off": "blue"}).match({"kick_off": 2}).steps(1)
    (told,) = game.refusal("match", command)
    assert told.startswith("match") and all(word in told for word in words), told
    assert placed(game.steps(1)) == at_places("yellow")


@pytest.mark.parametrize(
    "command",
    [
        {"bob/place": [0.0, 0.65 - HALF, 0.0, 1]},
        {"bob/place": [0.85 - HALF, 0.0, 0.0, 1]},
        {"bob/place": [0.8, 0.2 - HALF, 0.0, 1]},
        {"cid/place": [-0.5 + 2 * HALF, 0.0, 0.0, 1]},
        {"ball/place": [0.75, 0.2 - BALL_RADIUS, 0.0, 0.0]},
        {"ball/place": [0.0, -0.65 + BALL_RADIUS, 60.0, -80.0]},
        {"ball/place": [-0.5 + HALF + BALL_RADIUS, 0.0, 0.0, 0.0]},
    ],
)
def test_what_just_touches_may_be_placed(command: dict[str, Any]):
    game = Game().match({"kick_off": 2}).steps(1).match(command)
    game.steps(1)
    assert game.overlapping() == 0
    game.drive(np.random.default_rng(7)).steps(500)
    assert game.overlapping() == 0 and np.isfinite(game.row()).all()


def test_a_refused_command_leaves_the_one_before_it_standing():
    game = Game().match({"bob/place": [0.0, 0.4, 0.0, 1]})
    game.refusal("match", {"bob/place": [0.0, 9.0, 0.0, 1]})
    game.steps(1)
    assert pose(game, "bob") == [0.0, 0.4, 0.0]


@pytest.mark.parametrize(
    ("robots", "ball", "key", "words"),
    [
        ({"bob": {"pose": [-0.45, 0.02, 0.0]}}, {}, "robots.bob.pose", ["bob", "overlaps ann"]),
        ({"bob": {"pose": [-0.15, 0.02, 0.0]}}, {}, "robots.bob.pose", ["overlaps ann", "kick-off of blue"]),
        ({"dan": {"pose": [0.5, -0.63, 0.0]}}, {}, "robots.dan.pose", ["(0.5, -0.63)", "not inside the field"]),
        ({"dan": {"kick_off_pose": [2.0, 0.0, 0.0]}}, {}, "robots.dan.kick_off_pose", ["(2, 0)", "kick-off of yellow"]),
        ({}, {"position": [-0.5, 0.05]}, "world.ball.position", ["the ball", "overlaps ann"]),
        ({}, {"position": [0.0, 3.0]}, "world.ball.position", ["the ball at (0, 3)", "not inside the field"]),
    ],
)
def test_a_start_that_is_not_feasible_is_refused_with_its_key(
    robots: dict[str, Any], ball: dict[str, Any], key: str, words: list[str]
):
    changed = {name: {**own, **robots.get(name, {})} for name, own in POSES.items()}
    with pytest.raises(InputError) as caught:
        Game(changed, {"ball": {"radius": BALL_RADIUS, **ball}})
    (problem,) = caught.value.problems
    assert problem.key == key and all(word in problem.message for word in words), str(problem)


@pytest.mark.parametrize("torque", [50.0, 500.0])
def test_motors_of_any_strength_push_no_robot_into_another(torque: float):
    """From rest to many metres a second within a step: the speeds before it tell nothing of the way."""
    rng = np.random.default_rng(5)
    strong = robot({"no_load_speed": 1e5, "stall_torque": torque}, speed_control={"gain": 0.0})
    two = {name: {**strong, "team": "blue", "pose": [x, 0.0, 0.0]} for name, x in (("ann", -0.1), ("bob", 0.1))}
    game = Game(two, {"ball": {"radius": BALL_RADIUS, "position": [0.0, 0.5]}})
    tried = 0
    for _ in range(300):
        game.engine.reset(rng)
        put(game.engine.state.robots[1], *rng.uniform(-0.25, 0.25, 2), rng.uniform(-3.0, 3.0))
        if game.overlapping():
            continue
        tried += 1
        game.engine.inputs[:2], game.engine.inputs[5:7] = rng.uniform(-6.0, 6.0, 2), rng.uniform(-6.0, 6.0, 2)
        game.steps(3)
        assert game.overlapping() == 0
    assert tried > 100


def test_a_ball_that_is_in_the_goal_and_out_again_within_a_step_has_scored():
    ball = {"radius": BALL_RADIUS, "position": [0.7, 0.0], "velocity": [15.0, 0.0]}
    world = {"ball": ball, "impacts": {"ball_wall": {"restitution": 1.0}}}
    game = Game(LONELY, world, step=0.01, match={"after_goal": "continue"}).steps(4)
    assert game["ball/pose"][0] < 0.75, "it has come out again"
    assert game["match/score"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("grip", "leaves"), [(0.8, True), (None, False)])
@pytest.mark.parametrize("turn", [-15.0, 15.0])
def test_a_robot_flush_along_a_wall_turns_away_where_its_wheels_slip(grip: float | None, leaves: bool, turn: float):
    game = Game({"ann": {"team": "blue", "pose": [0.0, 0.65 - HALF, 0.0], "grip": grip}})
    game.command("ann", twist=[0.0, turn]).steps(1000)
    assert (abs(game["ann/pose"][2]) > 0.7) == leaves
    assert (game["ann/pose"][1] < 0.65 - HALF - 1e-3) == leaves and game.overlapping() == 0
    assert game.balance() == pytest.approx(0.0, abs=1e-12)
