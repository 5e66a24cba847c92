"""Runs of matches: the same bits however they are driven, with commands and replacements, in real time or not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from common import PATIENCE, merged
from recordings import Kept, bits

from botz import AttachedRun, Simulation, load, read, simulate
from botz.errors import DivergedError, InputError
from botz.record.reader import Recording
from botz.replay import replay_recording
from botz.run import Outcome, run_scenario
from botz.sim.loop import LoopHooks, run_loop
from botz.sim.snapshots import decode, encode

MOTOR = {"voltage": 6.0, "no_load_speed": 50.0, "stall_torque": 0.06}
ROBOT = {
    "side": 0.08,
    "mass": 0.2,
    "track": 0.06,
    "wheel": {"radius": 0.025, "mass": 0.01, "motor": MOTOR},
    "wheels": {"left": {}, "right": {}},
}
BASE: dict[str, Any] = {
    "engine": "soccer",
    "seed": 3,
    "time": {"step": 0.001, "duration": 2.0},
    "record": {"rate": 1000.0, "snapshots": 0.5},
    "inputs": {"timeout": 0.2},
    "robot": ROBOT,
    "robots": {
        "ann": {"team": "blue", "pose": [-0.5, 0.0, 0.0], "kick_off_pose": [-0.1, 0.0, 0.0]},
        "bob": {"team": "blue", "pose": [-0.5, 0.3, 0.5]},
        "cid": {"team": "yellow", "pose": [0.5, 0.0, 3.0]},
        "dan": {"team": "yellow", "pose": [0.5, -0.3, 2.0]},
    },
}
NAMES = list(BASE["robots"])
WILD_DRIVER = """
class Mine:
    def reset(self, setup):
        self.rng = setup.rng

    def update(self, t, measured):
        if t < 0.3:
            return {"left/voltage": self.rng.uniform(-6, 6), "right/voltage": 6 * measured["pose"][2]}
        return {"twist": (self.rng.normal(), 3 * self.rng.normal())}
"""
WILD: dict[str, Any] = {
    "controllers": {f"drive_{name}": {"type": "mine.py:Mine", "robot": name, "rate": 100.0} for name in NAMES}
}
LONG: dict[str, Any] = {"time": {"realtime": 2.0, "duration": 1000.0}}
METHODS = ["euler", "rk4"]

MatchFile = Callable[..., Path]
Commands = list[tuple[int, str, np.ndarray]]


@pytest.fixture
def match_file(tmp_path: Path) -> MatchFile:
    """Writes a scenario: the base with changes laid over it, one after the other."""
    (tmp_path / "mine.py").write_text(WILD_DRIVER, encoding="utf-8")

    def write(*changes: dict[str, Any], method: str = "euler", name: str = "match.yaml") -> Path:
        data = merged(BASE, {"time": {"method": method}})
        for change in changes:
            data = merged(data, change)
        path = tmp_path / name
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return path

    return write


def run_with_reader(file: Path, out: Path, read_along: Callable[[AttachedRun], None], **options: Any) -> Outcome:
    """A run in a process of its own, with a reader in a thread of this one that also ends it."""
    readers: list[threading.Thread] = []
    failures: list[BaseException] = []

    def read_and_stop(run_id: str) -> None:
        run = AttachedRun(run_id)
        try:
            read_along(run)
        except BaseException as error:  # an assertion that fails must not leave the run going on
            failures.append(error)
        run.stop()

    def start(run_id: str) -> None:
        readers.append(threading.Thread(target=read_and_stop, args=(run_id,)))
        readers[0].start()

    outcome = run_scenario(load(file), out=out, shared=True, on_ready=start, **options)
    readers[0].join(timeout=PATIENCE)
    assert not readers[0].is_alive()
    if failures:
        raise failures[0]
    return outcome


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.001)


def send(run: AttachedRun, actor: str, command: dict[str, Any]) -> int:
    """Send, wait until the physics has it, and return a step that is not before that."""
    run.command(actor, command)
    wait_until(lambda: run.command_taken(actor))
    return run.latest()[0]


def wait_for_step(run: AttachedRun, step: int) -> None:
    wait_until(lambda: run.latest()[0] >= step)


def row_bytes(simulation: Simulation) -> bytes:
    return b"".join(np.asarray(value).tobytes() for value in simulation.values().values())


def commands_of(rec: Recording) -> Commands:
    """All commands of a recording in the order of their steps; those of one step act together."""
    found = [
        (int(step), actor, value)
        for actor in (*NAMES, "match")
        for step, value in zip(*rec.commands(actor)[:2], strict=True)
    ]
    return sorted(found, key=lambda command: command[0])


def driven_again(simulation: Simulation, commands: Commands, until: int) -> Simulation:
    """On with recorded commands, as fast as possible."""
    for step, actor, values in commands:
        if simulation.step_number < step <= until:
            simulation.step(n=step - simulation.step_number)
        if step >= simulation.step_number:
            simulation.apply_raw(actor, values, "again")
    simulation.step(n=until - simulation.step_number)
    return simulation


def by_hand(simulation: Simulation, turns: int = 30) -> Commands:
    """Random voltages, speeds and replacements; some of them cannot be and are refused."""
    commands: Commands = []
    simulation.on_command = lambda step, actor, values, _: commands.append((step, actor, values.copy()))
    rng = np.random.default_rng(9)
    refused = 0
    for turn in range(turns):
        one, other = rng.choice(NAMES, 2, replace=False)
        command: dict[str, Any] = {
            str(one): {"twist": rng.normal(size=2) * (0.6, 5.0)},
            str(other): {"left/voltage": rng.uniform(-8, 8), "right/voltage": rng.uniform(-8, 8)},
        }
        if turn % 3 == 1:
            place = [rng.uniform(-0.9, 0.9), rng.uniform(-0.7, 0.7), rng.uniform(-4, 4), float(turn % 4 != 1)]
            command["match"] = {f"{one}/place": place}
        if turn % 10 == 7:
            command["match"] = {"kick_off": 1 + turn % 2, "ball/place": [0.0, 0.3, *rng.normal(size=2)]}
        try:
            simulation.step(command, n=int(rng.integers(20, 90)))
        except InputError:
            refused += 1
            simulation.step(n=30)
    assert refused, "some places are taken"
    return commands


# --- driven by hand ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_match_driven_by_hand_comes_out_the_same_from_its_commands(method: str, match_file: MatchFile):
    file = match_file(method=method)
    first = Simulation(file)
    commands = by_hand(first)
    assert {actor for _, actor, _ in commands} == {*NAMES, "match"}
    values = first.values()
    assert values["match/impacts"] > 0 and np.isfinite(np.concatenate([np.ravel(v) for v in values.values()])).all()
    again = driven_again(Simulation(file), commands, first.step_number)
    assert row_bytes(again) == row_bytes(first)
    assert again.engine.snapshot().arrays["inputs"].tobytes() == first.engine.snapshot().arrays["inputs"].tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_a_complete_state_continues_bit_for_bit_with_replacements(method: str, match_file: MatchFile):
    file = match_file(WILD, method=method)
    one = Simulation(file)
    one.step({"match": {"bob/place": [0.0, 0.5, 1.0, 0], "ball/place": [0.2, 0.4, 1.0, -1.0]}}, n=413)
    one.apply("match", {"ann/place": [0.0, 0.0, 2.0, 1], "ball/place": [0.1, 0.0, 0.0, 1.0]}, "test")
    saved, there = one.snapshot(), row_bytes(one)
    one.step(n=700)
    expected = row_bytes(one)
    assert one.values()["bob/playing"] == 0.0
    one.restore(saved)
    assert row_bytes(one) == there and one.step_number == 413
    one.step(n=300)
    one.step(n=400)
    assert row_bytes(one) == expected, "the replacement that was still to come is part of the state"
    fresh = Simulation(file)
    fresh.step(n=77)
    fresh.restore(decode(encode(saved)))
    fresh.step(n=700)
    assert row_bytes(fresh) == expected


def test_a_state_of_another_match_is_refused(match_file: MatchFile):
    fewer = Simulation(match_file({"robots": {"dan": None}})).snapshot()
    whole = Simulation(match_file())
    before = row_bytes(whole)
    with pytest.raises(InputError, match="another scenario"):
        whole.restore(fewer)
    assert row_bytes(whole) == before


# --- the same bits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_replay_is_identical_bit_for_bit(method: str, match_file: MatchFile, tmp_path: Path):
    rec = simulate(match_file(WILD, method=method), out=tmp_path / "run")
    assert rec["match/impacts"][-1] > 0 and len(rec.commands("dan")[0]) > 100
    result = replay_recording(read(rec.path))
    assert result.identical and result.rows == 2001, result.sentence()


def test_the_same_run_in_a_process_of_its_own_and_in_real_time(match_file: MatchFile, tmp_path: Path):
    file = match_file(WILD)
    here = simulate(file, out=tmp_path / "here")
    expected = bits(here)
    assert bits(simulate(file, out=tmp_path / "again")) == expected, "same seed, same bits"
    outcome = run_scenario(load(file), out=tmp_path / "shared", shared=True)
    assert (outcome.status, outcome.exit_code) == ("finished", 0)
    shared = read(outcome.path)
    assert bits(shared) == expected and shared.snapshots() == here.snapshots()
    in_real_time = simulate(file, out=tmp_path / "realtime", realtime=4.0)
    assert in_real_time.summary["dropped_frames"] == "0" and bits(in_real_time) == expected
    assert bits(simulate(file, out=tmp_path / "other", seed=4)) != expected


def test_how_often_is_recorded_does_not_change_the_match(match_file: MatchFile, tmp_path: Path):
    recs = [
        simulate(match_file(WILD, {"record": {"rate": rate, "snapshots": pause}}), out=tmp_path / f"{rate:g}")
        for rate, pause in ((1000.0, 0.0), (100.0, 0.1), (8.0, 0.037))
    ]
    for rec in recs[1:]:
        for channel in rec.channels:
            assert rec[channel.name].tobytes() == recs[0][channel.name][rec.steps()].tobytes(), channel.name


@pytest.mark.parametrize("method", METHODS)
def test_recorded_states_lead_to_the_same_end(method: str, match_file: MatchFile, tmp_path: Path):
    file = match_file(WILD, method=method)
    rec = simulate(file, out=tmp_path / "run")
    snapshots = rec.snapshots()
    assert [step for step, _ in snapshots] == [0, 500, 1000, 1500]
    for step, data in snapshots:
        simulation = Simulation(file)
        simulation.restore(data)
        for name, value in simulation.step(n=2000 - step).items():
            assert np.asarray(value).tobytes() == rec[name][-1].tobytes(), (step, name)


# --- commands from outside -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("factor", [2.0, None], ids=["real-time", "as-fast-as-possible"])
def test_commands_from_outside_are_recorded_with_their_step_and_replayed(
    factor: float | None, method: str, match_file: MatchFile, tmp_path: Path
):
    file = match_file(LONG, {"time": {"realtime": factor or False}, "record": {"rate": 100.0}}, method=method)

    def play(run: AttachedRun) -> None:
        assert run.robots == [*NAMES, "match"]
        with pytest.raises(InputError, match="no robot 'ball'"):
            run.command("ball", {"place": [0.0] * 4})
        with pytest.raises(InputError, match="unknown command 'eve/place'"):
            run.command("match", {"eve/place": [0.0] * 4})
        send(run, "ann", {"twist": (0.6, 0.0)})
        send(run, "bob", {"left/voltage": 5.0, "right/voltage": 4.0})
        send(run, "match", {"cid/place": [0.0, -0.5, 0.5, 1], "dan/place": [0.0, 9.0, 0.0, 0]})
        for turn in range(12):
            send(run, "ann", {"left/speed": 20.0 - turn, "right/speed": 10.0 + turn})
            send(run, "cid", {"twist": (0.5, 4.0 - turn)})
            wait_for_step(run, run.latest()[0] + 30)
        send(run, "match", {"cid/place": [0.0, 5.0, 0.0, 1]})  # outside the field
        step = send(run, "match", {"kick_off": 2, "dan/place": [0.5, -0.3, 2.0, 1]})
        wait_for_step(run, step + 600)

    outcome = run_with_reader(file, tmp_path / "run", play)
    assert outcome.status == "interrupted"
    rec = read(outcome.path)
    steps, values, sources = rec.commands("match")
    assert len(steps) == 2 and values[:, -1].tolist() == [1.0, 2.0]
    assert all(source.startswith("outside") for source in sources), "a replacement does not run out"
    assert rec.summary["refused_commands"] == "1"
    (refusal,) = [text for _, level, text in rec.logs() if level == "warning" and "refused" in text]
    assert "cid at (0, 5)" in refusal and "not inside the field" in refusal
    assert len([source for source in rec.commands("ann")[2] if source.startswith("outside")]) >= 10
    result = replay_recording(rec)
    assert result.identical and result.rows == len(rec.steps()), result.sentence()
    # And once more by hand, without a clock, a recorder or another process; from the start and from a snapshot.
    last = int(rec.steps()[-1])
    commands = [command for command in commands_of(rec) if command[0] < last]
    step, data = [kept for kept in rec.snapshots() if kept[0] < last][-1]
    assert step > 0
    for state in (None, data):
        simulation = Simulation(file, with_controllers=False)
        if state is not None:
            simulation.restore(state)
            simulation._deadlines.clear()  # timeouts are among the recorded commands
        driven_again(simulation, commands, last)
        for name, value in simulation.values().items():
            assert np.asarray(value).tobytes() == rec[name][-1].tobytes(), (state is None, name)


def test_a_command_takes_effect_from_its_step_on(match_file: MatchFile, tmp_path: Path):
    def play(run: AttachedRun) -> None:
        send(run, "ann", {"left/voltage": 3.0, "right/voltage": 2.0})
        wait_for_step(run, send(run, "match", {"bob/place": [0.3, 0.5, 1.25, 1]}) + 50)

    rec = read(run_with_reader(match_file(LONG), tmp_path / "run", play).path)
    steps, values, _ = rec.commands("ann")
    step = int(steps[0])
    assert values[0].tolist() == [3.0, 2.0, 0.0, 0.0, 0.0]
    voltage, speed = rec["ann/left/voltage"], rec["ann/twist"][:, 0]
    assert voltage[step] == 0.0 and voltage[step + 1] == 3.0
    assert speed[step] == 0.0 and speed[step + 1] > 0.0
    step = int(rec.commands("match")[0][0])
    poses = rec["bob/pose"]
    assert poses[step].tolist() == [-0.5, 0.3, 0.5] and poses[step + 1].tolist() == [0.3, 0.5, 1.25]


def test_a_team_that_stops_sending_comes_to_rest_after_the_timeout(match_file: MatchFile, tmp_path: Path):
    file = match_file(LONG, {"inputs": {"timeout": 0.3}})

    def play(run: AttachedRun) -> None:
        send(run, "match", {"ball/place": [0.0, -0.55, 0.0, 0.0]})
        sent = send(run, "cid", {"twist": (0.0, 8.0)})
        for turn in range(12):
            sent = send(run, "bob", {"twist": (0.0, 5.0 + 0.1 * turn)})
            wait_for_step(run, sent + 50)
        wait_for_step(run, sent + 1500)

    rec = read(run_with_reader(file, tmp_path / "run", play).path)
    for name in ("bob", "cid"):
        steps, values, sources = rec.commands(name)
        assert sources[-1] == "timeout" and values[-1].tolist() == [0.0] * 5
        assert "timeout" not in sources[:-1]
        assert steps[-1] == steps[-2] + 300, "that long after the last command"
        turning = np.abs(rec[f"{name}/twist"][:, 2])
        assert turning[steps[-1]] > 3.0 and turning[-1] < 1e-3 * turning.max()
        assert np.abs(rec[f"{name}/left/voltage"][steps[-1] + 1 :]).max() == 0.0
    assert "timeout" not in rec.commands("match")[2] and rec["ball/pose"][-1, 1] == -0.55
    assert replay_recording(rec).identical


def test_what_is_sent_again_keeps_a_robot_going(match_file: MatchFile):
    simulation = Simulation(match_file())
    simulation.apply_outside("bob", {"twist": (0.0, 5.0)}, "team")
    simulation.step(n=150)
    simulation.apply_outside("bob", {"twist": (0.0, 5.0)}, "team")
    assert simulation.step(n=199)["bob/twist"][2] == pytest.approx(5.0, abs=0.05)
    assert simulation.step(n=400)["bob/twist"][2] == pytest.approx(0.0, abs=0.05)
    held = Simulation(match_file({"inputs": {"on_timeout": "hold"}}))
    held.apply_outside("bob", {"twist": (0.0, 5.0)}, "team")
    assert held.step(n=900)["bob/twist"][2] == pytest.approx(5.0, abs=0.05)


# --- ends ----------------------------------------------------------------------------------------------------------


def test_a_match_that_ends_with_a_goal(match_file: MatchFile, tmp_path: Path):
    shot = {
        "world": {"ball": {"position": [0.65, 0.1], "velocity": [1.0, 0.0], "friction": 0.0}},
        "match": {"after_goal": "end"},
    }
    file = match_file(shot)
    here = simulate(file, out=tmp_path / "here")
    last = int(here.summary["steps"])
    assert here.steps().tolist() == list(range(last + 1)) and last in range(121, 124)
    assert here["match/score"][-2:].tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert (last, "warning", "the run ends here: goal for blue") in here.logs()
    assert replay_recording(here).identical
    shared = read(run_scenario(load(file), out=tmp_path / "shared", shared=True).path)
    assert bits(shared) == bits(here) and shared.summary["status"] == "finished"


def test_a_diverging_match_keeps_what_came_before(tmp_path: Path):
    """Equivalent spheres of elastic robots gain energy without bound."""
    pairs = [f"world.impacts.{name}.restitution=1" for name in ("ball_wall", "robot_wall", "robot_ball", "robot_robot")]
    settings = ["world.impacts.model=equivalent-sphere", "record.rate=100", *pairs]
    with pytest.raises(DivergedError, match=r"equivalent spheres gain energy in impacts; .*rigid does not"):
        simulate("soccer-crowd", out=tmp_path / "run", overrides=settings)
    rec = read(tmp_path / "run")
    assert rec.complete and rec.summary["status"] == "failed" and len(rec.steps()) > 10
    assert all(np.isfinite(rec[channel.name]).all() for channel in rec.channels)


# --- many ----------------------------------------------------------------------------------------------------------


def test_a_hundred_robots_play(match_file: MatchFile, tmp_path: Path):
    crowd = {
        f"r{k}": {"team": "blue" if k < 50 else "yellow", "pose": [-2.0 + 0.42 * (k % 10), -1.8 + 0.4 * (k // 10), k]}
        for k in range(100)
    }
    changes = {
        "time": {"duration": 1.0},
        "record": {"rate": 100.0},
        "world": {"field": {"length": 5.0, "width": 4.4}, "ball": {"position": [0.2, 0.05], "velocity": [2.0, 1.0]}},
        "robots": {**dict.fromkeys(NAMES), **crowd},
        "controllers": {
            f"d{k}": {"type": "constant", "robot": f"r{k}", "command": {"left/voltage": 6.0, "right/voltage": 5.0}}
            for k in range(100)
        },
    }
    file = match_file(changes)
    rec = simulate(file, out=tmp_path / "run")
    assert rec["match/impacts"][-1] > 50
    moved = [np.ptp(rec[f"r{k}/pose"][:, :2], axis=0).max() for k in range(100)]
    assert min(moved) > 0.05
    assert replay_recording(rec).identical
    simulation = Simulation(file)
    places = {f"r{k}/place": [2.0 - 0.42 * (k % 10), 1.8 - 0.4 * (k // 10), 0.0, 1] for k in range(100)}
    assert simulation.step({"match": places})["r99/pose"][:2] == pytest.approx((-1.78, -1.8), abs=1e-3)


def test_rows_of_a_match_are_those_of_the_loop(match_file: MatchFile):
    """Cutting the loop into other pieces changes nothing, replacements included."""
    results = []
    for every in (1, 7):
        kept = Kept()
        simulation = Simulation(match_file(WILD))

        def place(simulation: Simulation) -> int:
            if simulation.step_number == 210:
                simulation.apply("match", {"kick_off": 2, "bob/place": [0.0, 0.5, 0.0, 1]}, "test")
            return 210 - simulation.step_number if simulation.step_number < 210 else 1 << 40

        assert run_loop(simulation, until=700, strides=(every,), sink=kept, hooks=LoopHooks(take_commands=place))
        results.append(dict(zip(kept.steps().tolist(), (row.tobytes() for row in kept.rows()), strict=True)))
    fine, coarse = results
    assert len(fine) == 701 and len(coarse) == 101
    assert all(fine[step] == row for step, row in coarse.items())


def test_the_state_in_which_a_run_ends_is_recorded(tmp_path: Path):
    """Whatever the rate of recording: the goal that ended the match is the last that a reader wants to know."""
    settings = ["match.after_goal=end", "record.rate=1", "world.ball.velocity=[2.0, 0.0]", "robots.yellow0=null"]
    rec = simulate("soccer", out=tmp_path / "run", overrides=[*settings, "robots.blue1.kick_off_pose=null"])
    assert rec["match/score"][-1].tolist() == [1.0, 0.0]
    assert int(rec.steps("match/score")[-1]) == int(rec.summary["steps"])
    assert replay_recording(rec).identical
