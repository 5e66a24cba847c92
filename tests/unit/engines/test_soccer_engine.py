"""The soccer engine as the loop sees it: channels, commands, what it refuses, its way back, its step and its energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from soccer_game import HALF, NAMES, NO_LOAD, POSES, RADIUS, VOLTS, Game, robot

from botz.errors import InputError

PER_ROBOT = ["pose", "twist", "playing"] + [
    f"{wheel}/{quantity}" for wheel in ("left", "right") for quantity in ("angle", "speed", "voltage", "current")
]
METHODS = ["euler", "rk4"]


@pytest.fixture(scope="module")
def game() -> Game:
    """Never moved: `resolve_command` only looks."""
    return Game()


# --- channels ------------------------------------------------------------------------------------------------------


def test_channels_and_commands_in_their_order(game: Game):
    engine = game.engine
    expected = [f"{name}/{channel}" for name in NAMES for channel in PER_ROBOT]
    expected += ["ball/pose", "ball/velocity", "match/score", "match/energy", "match/impacts"]
    assert [channel.name for channel in engine.channels] == expected
    assert engine.channels.width == 4 * 15 + 3 + 2 + 2 + 5 + 1
    assert engine.actors == (*NAMES, "match")
    sizes = [("left/voltage", 1), ("right/voltage", 1), ("left/speed", 1), ("right/speed", 1), ("twist", 2)]
    assert engine.command_layout("dan") == sizes
    assert engine.command_layout("match") == [
        ("ball/place", 4),
        *((f"{n}/place", 4) for n in NAMES),
        ("kick_off", 1),
        ("halt", 1),
        ("referee", 5),
    ]


def test_every_channel_shows_what_its_name_says():
    """Each quantity of each body is made another number, so that none can stand in the place of another."""
    game = Game(world={"ball": {"position": [0.0, 0.2], "velocity": [0.3, -0.4], "radius": 0.02}})
    for index, name in enumerate(NAMES):
        game.command(name, left__voltage=1.0 + index, right__voltage=-0.5 - index)
    game.steps(40)
    row = game.row()
    channels = game.engine.channels
    for index, (name, own) in enumerate(zip(NAMES, game.engine.state.robots, strict=True)):
        v, vy, w = channels.value(row, f"{name}/twist")
        left, right = (channels.value(row, f"{name}/{side}/speed") for side in ("left", "right"))
        assert vy == 0.0
        assert (v, w) == pytest.approx((RADIUS * (left + right) / 2, RADIUS * (right - left) / 0.06), rel=1e-12)
        x, y, heading = channels.value(row, f"{name}/pose")
        assert (x, y) == (own.x, own.y) and heading == pytest.approx(np.angle(np.exp(1j * own.heading)))
        assert channels.value(row, f"{name}/playing") == 1.0
        constant, resistance = VOLTS / NO_LOAD, VOLTS**2 / NO_LOAD / 0.06
        for side, volts, speed in (("left", 1.0 + index, left), ("right", -0.5 - index, right)):
            assert channels.value(row, f"{name}/{side}/voltage") == volts
            current = (volts - constant * speed) / resistance
            assert channels.value(row, f"{name}/{side}/current") == pytest.approx(current)
            assert np.sign(channels.value(row, f"{name}/{side}/angle")) == np.sign(volts)
    velocity, place = channels.value(row, "ball/velocity"), channels.value(row, "ball/pose")
    assert velocity[1] / velocity[0] == pytest.approx(-4 / 3) and 0.0 < velocity[0] < 0.3
    assert place[2] == pytest.approx(np.arctan2(-4, 3)) and 0.0 < place[0] < 0.012 and 0.184 < place[1] < 0.2
    kinetic = 0.5 * 0.046 * velocity @ velocity
    assert channels.value(row, "match/energy")[0] > kinetic > 0.0
    assert channels.value(row, "match/score").tolist() == [0.0, 0.0] and channels.value(row, "match/impacts") == 0.0


def test_what_a_reader_in_another_process_is_told(game: Game):
    about = game.engine.about()
    assert about["field"]["length"] == 1.5 and about["ball"] == {"radius": 0.02}
    assert about["robots"]["dan"] == {
        "team": "yellow",
        "id": 1,
        "side": pytest.approx(2 * HALF),
        "max_voltage": VOLTS,
        "max_speed": pytest.approx(NO_LOAD),
    }


def test_rows_are_those_of_the_steps_that_are_recorded():
    one, other = Game().drive(np.random.default_rng(0)), Game().drive(np.random.default_rng(0))
    rows = np.full((4, one.engine.channels.width), np.nan)
    one.engine.advance(5, 40, 10, rows)
    other.steps(5)
    for row in rows:
        assert row.tobytes() == other.row().tobytes()
        other.steps(10)


# --- commands of a robot -------------------------------------------------------------------------------------------


def inputs(game: Game, command: dict[str, Any], name: str = "bob") -> list[float]:
    return game.engine.resolve_command(name, command).tolist()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ({"left/voltage": 3.0, "right/voltage": -9.0}, [3.0, -9.0, 0.0, 0.0, 0.0]),
        ({"right/voltage": [2.5]}, [0.0, 2.5, 0.0, 0.0, 0.0]),
        ({"left/speed": 7.0}, [0.0, 0.0, 7.0, 0.0, 1.0]),
        ({"left/speed": 7.0, "right/speed": -8}, [0.0, 0.0, 7.0, -8.0, 1.0]),
        ({"twist": (0.5, 0.0)}, [0.0, 0.0, 20.0, 20.0, 1.0]),
        ({"twist": [0.0, 1.0]}, [0.0, 0.0, -1.2, 1.2, 1.0]),
        ({"twist": [0.5, 1.0], "right/speed": 3.0}, [0.0, 0.0, 18.8, 3.0, 1.0]),
        ({"right/speed": 3.0, "twist": [0.5, 1.0]}, [0.0, 0.0, 18.8, 3.0, 1.0]),
        ({}, [0.0] * 5),
    ],
)
def test_voltages_speeds_and_twists(game: Game, command: dict[str, Any], expected: list[float]):
    assert inputs(game, command) == pytest.approx(expected)


def test_what_a_command_does_not_name_stays_and_naming_one_kind_switches_to_it():
    game = Game().command("bob", left__voltage=1.0, right__voltage=2.0)
    assert inputs(game, {"left/voltage": 5.0}) == [5.0, 2.0, 0.0, 0.0, 0.0]
    game.command("bob", left__speed=4.0, right__speed=-4.0)
    assert inputs(game, {}) == [1.0, 2.0, 4.0, -4.0, 1.0], "an empty command changes nothing"
    assert inputs(game, {"right/speed": 1.0}) == [1.0, 2.0, 4.0, 1.0, 1.0]
    assert inputs(game, {"left/voltage": 3.0}) == [3.0, 2.0, 4.0, -4.0, 0.0]
    assert inputs(game, {}, "ann") == [0.0] * 5, "of one robot alone"
    assert game.engine.rest_inputs("bob").tolist() == [0.0] * 5


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ({"left/speed": 1.0, "right/voltage": 1.0}, ["bob: ", "'left/speed'", "'right/voltage'", "or voltages"]),
        ({"twist": [1.0, 0.0], "left/voltage": 1.0}, ["bob: ", "'twist'", "'left/voltage'"]),
        ({"left/volts": 1.0}, ["bob: ", "'left/volts'", "did you mean 'left/voltage'?"]),
        ({"pose": [0.0, 0.0, 0.0]}, ["'pose'", "left/speed", "twist"]),
        ({"kick_off": 1}, ["bob: ", "unknown command 'kick_off'"]),
        ({"by_speed": 1.0}, ["unknown command 'by_speed'"]),
        ({"twist": [1.0, 0.0, 0.0]}, ["bob/twist (v, yaw_rate)", "2 finite numbers", "[1.0, 0.0, 0.0]"]),
        ({"twist": 1.0}, ["bob/twist", "2 finite numbers"]),
        ({"twist": [float("inf"), 0.0]}, ["bob/twist", "2 finite numbers", "inf"]),
        ({"left/voltage": float("nan")}, ["bob/left/voltage", "one finite number", "nan"]),
        ({"right/speed": [1.0, 2.0]}, ["bob/right/speed", "one finite number"]),
        ({"right/speed": "fast"}, ["bob/right/speed", "one finite number", "'fast'"]),
        ({"right/speed": None}, ["bob/right/speed", "one finite number"]),
    ],
)
def test_wrong_commands_are_told(game: Game, command: dict[str, Any], words: list[str]):
    (told,) = game.refusal("bob", command)
    assert all(word in told for word in words), told


def test_a_voltage_is_limited_at_the_motor():
    game = Game().command("ann", left__voltage=1e9, right__voltage=-1e9).command("bob", left__voltage=6.0)
    game.command("bob", right__voltage=-6.0).steps(50)
    assert (game["ann/left/voltage"], game["ann/right/voltage"]) == (VOLTS, -VOLTS)
    assert game["ann/twist"].tolist() == game["bob/twist"].tolist(), "more than the limit is the limit"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("v", "w"), [(0.5, 0.0), (0.0, 6.0), (-0.4, -3.0)])
def test_speed_control_reaches_its_target_and_holds_it(method: str, v: float, w: float):
    game = Game({"bob": {**POSES["bob"], "pose": [0.0, 0.5, 0.0]}}, method=method)
    game.command("bob", twist=[v, w]).steps(200)
    now = game["bob/twist"]
    assert (now[0], now[2]) == pytest.approx((v, w), abs=1e-3)
    assert game["bob/left/speed"] == pytest.approx((v - 0.03 * w) / RADIUS, abs=0.05)
    assert abs(game["bob/left/voltage"]) < VOLTS


def test_speed_control_stays_within_the_voltage():
    game = Game().command("dan", left__speed=400.0, right__speed=400.0).steps(30)
    assert (game["dan/left/voltage"], game["dan/right/voltage"]) == (VOLTS, VOLTS)
    assert game["dan/left/speed"] < NO_LOAD


@pytest.mark.parametrize(
    "command",
    [
        {"twist": [1e308, 1e308]},
        {"twist": [1e308, -1e308]},
        {"left/speed": 1e308, "right/speed": -1e308},
        {"left/speed": -1.7e308, "right/speed": -1.7e308},
        {"left/voltage": 1.7e308, "right/voltage": -1.7e308},
    ],
)
@pytest.mark.filterwarnings("error")
def test_no_command_brings_numbers_into_the_match_that_are_none(command: dict[str, Any]):
    """It may be refused; what is taken is followed as far as the motors go."""
    game = Game()
    try:
        values = game.engine.resolve_command("bob", command)
    except InputError:
        return
    game.engine.inputs[game.engine.robot_inputs("bob")] = values
    game.steps(100)
    assert np.isfinite(game.row()).all()


@pytest.mark.parametrize("body", [0, -1], ids=["robot", "ball"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("method", METHODS)
def test_numbers_that_are_none_are_told(method: str, value: float, body: int):
    engine = Game(method=method).engine
    assert engine.advance(0, 10, 0, np.empty((0, 0)))
    engine.state.speeds[body].u0 = value
    assert not engine.advance(10, 10, 0, np.empty((0, 0)))


@pytest.mark.parametrize("speed", [1e4, 1e9, 1e20, 1e80, 1e300])
def test_speeds_without_meaning_are_told_and_never_freeze_the_match(speed: float):
    engine = Game().engine
    engine.state.speeds[-1].u0 = speed
    assert not engine.advance(0, 10, 0, np.empty((0, 0)))


# --- back and forth ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_snapshot_continues_bit_for_bit_with_placements(method: str):
    rng = np.random.default_rng(3)
    game = Game(method=method).drive(rng).steps(300)
    game.match({"bob/place": [0.0, 0.5, 1.0, 1], "ball/place": [0.0, 0.3, 0.5, -2.0], "cid/place": [9.0, 9.0, 0.0, 0]})
    for pending in (True, False):
        if not pending:
            game.steps(120)
        saved, state, row = game.engine.snapshot(), game.state(), game.row()
        future = game.steps(700).row()
        assert game["cid/playing"] == 0.0 and game["match/impacts"] > 0.0
        other = Game(method=method)
        other.drive(rng).steps(77)
        for again in (game, other):
            again.engine.restore(saved)
            assert again.state() == state and again.row().tobytes() == row.tobytes()
            again.steps(300).steps(400)
            assert again.row().tobytes() == future.tobytes(), "and in pieces"
            again.engine.restore(saved)


def test_going_back_takes_back_a_placement_and_repeats_it():
    game = Game().drive(np.random.default_rng(1)).steps(200)
    game.match({"bob/place": [0.0, 0.5, 1.0, 1]})
    before, row = game.state(), game.row()
    game.engine.keep()
    future = game.steps(300).row()
    for _ in range(2):
        game.engine.go_back()
        assert game.state() == before and game.row().tobytes() == row.tobytes()
        assert game.steps(300).row().tobytes() == future.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_reset_forgets_everything(method: str):
    game = Game(method=method)
    start, row = game.state(), game.row()
    game.drive(np.random.default_rng(5)).steps(1500)
    game.match({"ball/place": [0.74, 0.0, 1.0, 0.0], "dan/place": [5.0, 5.0, 0.0, 0]}).steps(400)
    assert game["match/score"].tolist() != [0.0, 0.0] and game["dan/playing"] == 0.0
    game.engine.reset(np.random.default_rng(0))
    assert game.state() == start and game.row().tobytes() == row.tobytes()
    fresh = Game(method=method).drive(np.random.default_rng(8)).steps(800)
    assert game.drive(np.random.default_rng(8)).steps(800).row().tobytes() == fresh.row().tobytes()


# --- the step and the energy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"robots": {"bob": {**POSES["bob"], "speed_control": {"gain": 500.0}}}}, "motors of bob"),
        (
            {"robots": {**POSES, "cid": {**POSES["cid"], **robot(mass=0.01, motor={"stall_torque": 6.0})}}},
            "motors of cid",
        ),
        ({"world": {"ball": {"friction": 200.0}}}, "ball's friction"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_too_long_a_step_is_told_with_the_part_it_is_too_long_for(changes: dict[str, Any], part: str, method: str):
    with pytest.raises(InputError) as caught:
        Game(**changes, method=method)
    (problem,) = caught.value.problems
    assert problem.key == "time.step" and f"0.001 s is too long for the {part}" in problem.message
    limit = float(problem.message.split("at most ")[1].split(" s")[0])
    within = Game(**changes, method=method, step=round(0.9 * limit, 9)).engine
    assert within.fastest_motion()[1] == part and part in within.stability_hint()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", ["rigid", "equivalent-sphere"])
def test_energy_is_accounted_for(method: str, model: str):
    """Kinetic energy is what the voltages gave less what friction and impacts took, and what placing added."""
    game, rng = Game(method=method, world={"impacts": {"model": model}}), np.random.default_rng(11)
    for turn in range(8):
        game.drive(rng).steps(150)
        if turn == 3:
            game.match({"ball/place": [0.0, 0.5, 1.0, -4.0]})
        total = np.abs(game["match/energy"]).sum()
        assert abs(game.balance()) < 1e-11 * (1.0 + total)
        assert game.overlapping() == 0
    kinetic, motors, friction, impacts, placed = game["match/energy"]
    assert min(kinetic, motors, friction) > 0.0 and placed != 0.0 and game["match/impacts"] > 0
    if model == "rigid":
        assert impacts > 0.0


def test_placing_accounts_for_the_motion_that_it_ends_and_begins():
    game = Game().command("ann", twist=[0.5, 0.0]).steps(100)
    kinetic = game["match/energy"][0]
    game.command("ann").match({"ann/place": [-0.3, -0.4, 0.0, 1], "ball/place": [0.0, 0.3, 2.0, 0.0]})
    game.engine._replace()
    assert game["match/energy"][0] == pytest.approx(0.5 * 0.05 * 4.0)
    assert game["match/energy"][4] == pytest.approx(0.5 * 0.05 * 4.0 - kinetic) and abs(game.balance()) < 1e-15


def test_equivalent_spheres_that_gain_without_bound_are_told_as_such():
    elastic = {name: {"restitution": 1.0} for name in ("ball_wall", "robot_wall", "robot_ball", "robot_robot")}
    robots = {f"r{i}": {"team": "blue", "pose": [-0.6 + 0.13 * i, 0.0, 0.4 * i]} for i in range(9)}
    ball = {"position": [0.0, 0.4], "radius": 0.02}
    game = Game(robots, {"impacts": {"model": "equivalent-sphere", **elastic}, "ball": ball})
    rng, engine = np.random.default_rng(2), game.engine
    for turn in range(100):
        game.drive(rng)
        if not engine.advance(500 * turn, 500, 0, np.empty((0, 0))):
            break
        assert game["match/energy"][0] < 1e6, "a match at such speeds has no meaning and must have been told"
    else:
        pytest.fail("the spheres did not gain")
    assert "equivalent spheres gain energy" in engine.stability_hint()
    assert "rigid does not" in engine.stability_hint()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [0, 3, 4, 37])
def test_impacts_and_leaning_with_much_friction_never_give_energy(seed: int, method: str):
    """Four robots with unlike wheels in a corridor: they lean on each other, on walls and on the ball."""
    rng = np.random.default_rng(seed)

    def wheel(alike: dict[str, Any]) -> dict[str, Any]:
        return {**alike, "radius": rng.uniform(0.012, 0.04), "mass": rng.uniform(0.005, 0.03)}

    robots = {}
    for index in range(4):
        own = robot(motor={"no_load_speed": 100.0})
        alike = own["wheels"]["left"]
        robots[f"r{index}"] = {
            **own,
            "wheels": {"left": wheel(alike), "right": wheel(alike)},
            "team": "blue",
            "pose": [-0.3 + 0.2 * index, rng.uniform(-0.05, 0.05), rng.uniform(-3.0, 3.0)],
            "side": rng.uniform(0.03, 0.1),
            "mass": np.exp(rng.uniform(-3.0, 0.0)),
        }
    pair = {"restitution": 0.3, "friction": 5.0}
    world = {
        "field": {"length": 0.9, "width": 0.3, "goal_width": 0.1, "corner": 0.0},
        "ball": {"radius": 0.015, "mass": 0.1, "position": [0.39, 0.1], "velocity": [-3.0, 1.0]},
        "impacts": dict.fromkeys(("ball_wall", "robot_wall", "robot_ball", "robot_robot"), pair),
    }
    game, lost = Game(robots, world, method=method, step=0.004, match={"after_goal": "continue"}), 0.0
    start = game.balance()
    for turn in range(800):
        if turn % 100 == 0:
            game.drive(rng)
        before, lost = lost, game.steps(1)["match/energy"][3]
        assert lost >= before - 1e-12, f"{before - lost:.3g} J gained in step {turn + 1}"
        assert game.overlapping() == 0
    assert lost > 0.1 and abs(game.balance() - start) < 1e-10
