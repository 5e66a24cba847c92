"""Model, state and work of the soccer engine: what a step writes and what it does not, and the state of one robot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from soccer_game import HALF, NAMES, POSES, RADIUS, Game, robot

from botz.engines.soccer.work import Work
from botz.errors import InputError

METHODS = ["euler", "rk4"]
MODELS = ["rigid", "equivalent-sphere"]


def crowded(method: str, model: str = "rigid", **changes: Any) -> Game:
    """Robots in a corridor, which lean on each other, on walls and on the ball."""
    rng = np.random.default_rng(5)
    robots = {
        f"r{k}": {**robot(side=0.06 + 0.01 * k), "team": "blue", "pose": [-0.3 + 0.2 * k, 0.0, rng.uniform(-3.0, 3.0)]}
        for k in range(4)
    }
    world = {
        "field": {"length": 0.9, "width": 0.3, "goal_width": 0.1, "corner": 0.05},
        "ball": {"radius": 0.015, "position": [0.36, 0.05], "velocity": [-2.0, 1.0]},
        "impacts": {"model": model, "robot_robot": {"friction": 0.5}},
    }
    return Game(robots, world, method=method, step=0.003, **changes)


def soil(work: Work, rng: np.random.Generator) -> None:
    """Numbers that no step can use: NaN, and integers far outside every list."""
    for part in work:
        for name in part.dtype.names or (None,):
            values = part if name is None else part[name]
            values[...] = np.nan if values.dtype.kind == "f" else rng.integers(-(2**62), 2**62, values.shape)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", MODELS)
def test_nothing_in_work_is_read_before_it_is_written(method: str, model: str):
    one, other = crowded(method, model), crowded(method, model)
    rng = np.random.default_rng(0)
    for turn in range(400):
        if turn % 50 == 0:
            for name in one.engine.names:
                left, right = rng.uniform(-6.0, 6.0, 2)
                for game in (one, other):
                    game.command(name, left__voltage=left, right__voltage=right)
        if turn == 200:
            for game in (one, other):
                game.match({"r0/place": [0.0, 9.0, 0.0, 0]})
        soil(other.engine.work, rng)
        one.steps(1), other.steps(1)
        soil(other.engine.work, rng)
        assert one.row().tobytes() == other.row().tobytes(), f"step {turn + 1}"
    assert one["match/impacts"] > 10 and one.state() == other.state()


@pytest.mark.parametrize("method", METHODS)
def test_no_step_writes_the_model(method: str):
    game = crowded(method)
    assert not any(part.flags.writeable for part in game.engine.model)
    before = [part.tobytes() for part in game.engine.model]
    game.drive(np.random.default_rng(1)).steps(300)
    game.match({"kick_off": 1}).steps(100)
    assert [part.tobytes() for part in game.engine.model] == before


def test_a_snapshot_holds_the_state_and_the_inputs_and_nothing_else():
    engine = Game().engine
    fields = [name for part in engine.state for name in part.dtype.names or ("neighbours",)]
    assert sorted(name.split("/")[-1] for name in engine.state_arrays()) == sorted([*fields, "inputs"])
    for name, array in engine.state_arrays().items():
        parts = (engine.inputs, *engine.state)
        assert any(np.shares_memory(array, part) for part in parts), f"{name} is a view"


def test_a_row_is_as_wide_as_its_channels_and_in_their_order():
    """Each field of the state has a number of its own, and is found where its channel says."""
    game = Game()
    engine, state = game.engine, game.engine.state
    numbers = iter(range(1, 1000))
    for own, speeds in zip(state.robots, state.speeds, strict=False):
        for record in (own, speeds):
            for name in record.dtype.names:
                record[name] = 0.001 * next(numbers)
    for name in ("u0", "u1"):
        state.speeds[-1][name] = 0.001 * next(numbers)
    for name in state.match.dtype.names:
        state.match[name] = next(numbers)
    row = np.full(engine.channels.width + 1, np.nan)
    engine.observe(row[:-1])
    assert np.isfinite(row[:-1]).all() and np.isnan(row[-1])
    match, ball = state.match[0], state.speeds[-1]
    expected = {
        "ball/pose": [match.ball_x, match.ball_y, match.ball_heading],
        "ball/velocity": [ball.u0, ball.u1],
        "match/score": [match.score_blue, match.score_yellow],
        "match/impacts": match.impacts,
    }
    for index, name in enumerate(NAMES):
        own, speeds, model = state.robots[index], state.speeds[index], engine.model.robots[index]
        expected |= {
            f"{name}/pose": [own.x, own.y, np.arctan2(own.sine, own.cosine)],
            f"{name}/twist": [speeds.u0, own.slide, speeds.u1],
            f"{name}/playing": own.playing,
        }
        for side, sign in (("left", -1.0), ("right", 1.0)):
            speed = (speeds.u0 + sign * 0.5 * model.track * speeds.u1) / RADIUS
            current = -model[f"constant_{side}"] * speed * model[f"conductance_{side}"]
            expected |= {f"{name}/{side}/angle": own[f"angle_{side}"], f"{name}/{side}/voltage": 0.0}
            expected |= {f"{name}/{side}/speed": speed, f"{name}/{side}/current": current}
    for name, value in expected.items():
        assert game[name] == pytest.approx(value, rel=1e-13), name
    energy = game["match/energy"][1:].tolist()
    assert energy == [match.motors, match.friction, match.lost, match.placed]
    assert set(expected) | {"match/energy"} == {channel.name for channel in engine.channels}


# --- the state of one robot ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_setting_what_one_gets_changes_nothing_that_follows(method: str):
    """Also of one that leans on a wall and slides aside."""
    poses = {**POSES, "bob": {**POSES["bob"], "pose": [0.0, 0.65 - HALF, 0.0]}}
    game, other = (Game(poses, method=method).drive(np.random.default_rng(7)) for _ in range(2))
    for each in (game, other):
        each.command("bob", twist=[0.0, 15.0])
        while each["bob/twist"][1] == 0.0:
            each.steps(1)
    for name in game.engine.names:
        state = game.engine.get_state(name)
        assert state.pose.tobytes() == game[f"{name}/pose"].tobytes()
        assert state.twist.tobytes() == game[f"{name}/twist"].tobytes()
        for side in ("left", "right"):
            assert state.joints[side] == (game[f"{name}/{side}/angle"], game[f"{name}/{side}/speed"])
        game.engine.set_state(name, pose=state.pose, twist=state.twist, joints=state.joints)
        game.engine.set_state(name)
    for _ in range(200):
        assert game.row().tobytes() == other.row().tobytes()
        game.steps(1), other.steps(1)


def test_a_pose_moves_that_robot_alone():
    game = Game().drive(np.random.default_rng(2)).steps(300)
    row = game.row()
    game.engine.set_state("bob", pose=[0.0, 0.45, 2.0])
    assert game["bob/pose"].tolist() == [0.0, 0.45, 2.0]
    changed = np.flatnonzero(game.row() != row)
    pose = game.engine.channels.slices["bob/pose"]
    assert changed.tolist() == list(range(pose.start, pose.stop))
    assert game.steps(500).overlapping() == 0 and game.balance() == pytest.approx(0.0, abs=1e-12)


def test_a_robot_that_is_set_beside_another_runs_into_it():
    """Who its neighbours are is looked for again."""
    game = Game()
    game.engine.set_state("ann", pose=[0.5 - 2.2 * HALF, 0.0, 0.0], twist=[1.0, 0.0, 0.0])
    assert game.steps(50)["match/impacts"] > 0 and game.overlapping() == 0


def test_the_energy_account_knows_a_velocity_that_was_set():
    game = Game().drive(np.random.default_rng(3)).steps(100)
    game.engine.set_state("cid", twist=[0.5, 0.0, -3.0])
    assert game["cid/twist"].tolist() == [0.5, 0.0, -3.0]
    assert game["cid/left/speed"] == pytest.approx((0.5 + 0.03 * 3.0) / RADIUS)
    assert game.balance() == pytest.approx(0.0, abs=1e-14)


def test_wheels_take_angles_and_their_speeds_make_the_velocity():
    game = Game()
    game.engine.set_state("dan", joints={"left": 3.0, "right": (-4.0, 20.0)})
    assert (game["dan/left/angle"], game["dan/right/angle"]) == (3.0, -4.0)
    assert (game["dan/left/speed"], game["dan/right/speed"]) == pytest.approx((0.0, 20.0), abs=1e-14)
    assert game["dan/twist"] == pytest.approx([0.25, 0.0, 0.5 / 0.06])
    game.engine.set_state("dan", twist=[1.0, 0.0, 0.0], joints={"left": (0.0, 40.0)})
    assert game["dan/twist"].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"pose": [0.0, 0.0]}, ["bob/pose (x, y, heading)", "3 finite numbers"]),
        ({"pose": [0.0, np.nan, 0.0]}, ["bob/pose", "3 finite numbers", "nan"]),
        ({"pose": [0.0, 0.0, 1e9]}, ["bob/pose", "beyond the field"]),
        ({"pose": [0.0, 0.64, 0.0]}, ["bob at (0, 0.64) is not inside the field"]),
        ({"pose": [-0.1, 0.05, 0.0]}, ["bob at (-0.1, 0.05) overlaps ann at (-0.1, 0)"]),
        ({"pose": [0.01, 0.0, 0.0]}, ["the ball at (0, 0) overlaps bob at (0.01, 0)"]),
        ({"twist": [1.0, 0.0]}, ["bob/twist (vx, vy, yaw_rate)", "3 finite numbers"]),
        ({"twist": [np.inf, 0.0, 0.0]}, ["bob/twist", "inf"]),
        ({"twist": [0.0, 0.3, 0.0]}, ["bob/twist", "vy is 0.3 m/s", "0.2 m/s at most"]),
        ({"twist": [0.0, 0.0, 1e4]}, ["bob/twist", "beyond 100 m/s"]),
        ({"joints": {"left": np.nan}}, ["bob/left", "finite number"]),
        ({"joints": {"left": (0.0, 1.0, 2.0)}}, ["bob/left", "2 finite numbers"]),
        ({"joints": {"middle": 0.0}}, ["no joint 'middle'", "left", "right"]),
        ({"joints": {"left": (0.0, 1e6), "right": (0.0, 1e6)}}, ["bob/twist", "beyond 100 m/s"]),
        ({"twist": [1.0, 0.0, 0.0], "joints": {"left": (0.0, 0.0)}}, ["bob", "0 and 40 rad/s would slip", "40 and 40"]),
    ],
)
def test_states_that_are_not_admissible_change_nothing(state: dict[str, Any], words: list[str]):
    game = Game()
    before = game.state()
    with pytest.raises(InputError) as caught:
        game.engine.set_state("bob", **{"joints": {"left": 1.0}, **state})
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert game.state() == before


def test_who_is_out_of_play_may_stand_anywhere_but_does_not_move():
    game = Game().match({"bob/place": [5.0, 5.0, 0.0, 0]}).steps(1)
    game.engine.set_state("bob", pose=[0.5, 0.0, 0.0])
    assert game["bob/pose"].tolist() == [0.5, 0.0, 0.0] and game.overlapping() == 0
    with pytest.raises(InputError, match="out of play does not move"):
        game.engine.set_state("bob", twist=[0.1, 0.0, 0.0])


def test_robots_whose_wheels_never_slip_have_no_velocity_aside():
    game = Game({"ann": {**POSES["ann"], "grip": None}})
    with pytest.raises(InputError, match="slide aside at 0 m/s at most"):
        game.engine.set_state("ann", twist=[0.0, 0.01, 0.0])


@pytest.mark.parametrize("name", ["bobb", "match", "ball", ""])
def test_a_robot_that_is_not_there(name: str):
    engine = Game().engine
    for call in (engine.get_state, engine.set_state):
        with pytest.raises(InputError, match=f"no robot '{name}'"):
            call(name)
