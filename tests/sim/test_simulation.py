"""The simulation in the caller's hands: reset, step, and complete states that continue bit for bit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from common import NOISY, ScenarioFile, UserController
from recordings import Kept

from botz import Simulation, simulate
from botz.errors import ControllerError, InputError
from botz.scenario.load import load_data
from botz.sim.loop import run_loop
from botz.sim.snapshots import decode, encode

PLAIN = """
import numpy as np

class Mine:
    def __init__(self, gain=1.0):
        self.gain = gain

    def reset(self, setup):
        self.setup, self.engine, self.rng = setup, setup.engine, setup.rng
        self.own = np.random.default_rng(3)
        self.tuple, self.history, self.table = (), [], {"turns": 0}
        self.sum, self.last = np.zeros(3), np.float64(0)

    def update(self, t, measured):
        self.history.append(t)
        self.table["turns"] += 1
        self.tuple = (t, None, True)
        self.sum += measured["odometry/pose"]
        self.last = measured["pose"][0]
        wobble = self.rng.normal() + self.own.normal() + 0.01 * len(self.history) + 0.1 * self.sum[2] + self.last
        wobble += self.table["turns"] * 0.01 + self.tuple[0] + self.setup.period
        return {"left/speed": 2 + self.gain * wobble, "right/speed": 3 - 0.5 * wobble}
"""
OWN_METHODS = """
class Mine:
    def reset(self, setup):
        self.seen, self.speed = set(), iter(range(10**6))
        self.count = -1

    def update(self, t, measured):
        self.seen.add(round(1000 * t))
        self.count = next(self.speed)
        return {"left/speed": 0.01 * self.count, "right/speed": 0.02 * len(self.seen)}

    def snapshot(self):
        return {"seen": sorted(self.seen), "count": self.count}

    def restore(self, saved):
        self.seen, self.count = set(saved["seen"]), saved["count"]
        self.speed = iter(range(self.count + 1, 10**6))
"""
FROZEN_STATE = """
from dataclasses import dataclass, replace

@dataclass(frozen=True)
class Settings:
    gain: float = 2.0

@dataclass(frozen=True)
class State:
    count: int = 0

class Mine:
    def reset(self, setup):
        self.settings, self.state = Settings(), State()

    def update(self, t, measured):
        self.state = replace(self.state, count=self.state.count + 1)
        return {"left/speed": self.settings.gain * self.state.count}
"""
BUILT_IN = {
    "go-to-pose": {"type": "go-to-pose", "goal": [0.5, 0.2, 1.0]},
    "waypoints": {"type": "waypoints", "points": [[0, 0], [0.4, 0.1], [0.2, 0.3]], "loop": True},
    "trajectory": {"type": "trajectory", "curve": "eight", "measured": "odometry"},
}


def trace(simulation: Simulation, calls: int = 30, n: int = 7) -> list[bytes]:
    """All channels after each of some calls of `step`, as bytes."""
    return [b"".join(np.asarray(v).tobytes() for v in simulation.step(n=n).values()) for _ in range(calls)]


def test_reset_starts_the_same_run_again_and_another_seed_another_one(scenario_file: ScenarioFile):
    simulation = Simulation(scenario_file(NOISY))
    first = trace(simulation)
    start = simulation.reset()
    assert simulation.step_number == 0 and simulation.time == 0.0
    assert start["duo/pose"].tolist() == [0.0, 0.0, 0.0]
    assert trace(simulation) == first
    simulation.reset(seed=6)
    other = trace(simulation)
    assert other != first
    assert trace(Simulation(scenario_file(NOISY), seed=6)) == other


def test_steps_of_any_size_are_the_same_run(scenario_file: ScenarioFile):
    one, other = Simulation(scenario_file(NOISY)), Simulation(scenario_file(NOISY))
    for n in (1, 2, 3, 94, 250, 150):
        last = one.step(n=n)
    expected = other.step(n=500)
    assert one.step_number == other.step_number == 500
    assert all(np.asarray(last[name]).tobytes() == np.asarray(expected[name]).tobytes() for name in expected)
    assert one.time == pytest.approx(0.5)


def test_a_robot_is_driven_by_hand_between_two_calls(scenario_file: ScenarioFile):
    simulation = Simulation(scenario_file())
    by_hand = {"duo": {"left/speed": 1.0, "right/speed": 1.0}}
    assert simulation.step(n=10)["duo/twist"].tolist() == pytest.approx([0.3, 0.0, 0.4])
    with pytest.raises(InputError, match=r"driven by controller '.*'; call take_control\('duo'\) first"):
        simulation.step(by_hand)
    simulation.take_control("duo")
    assert simulation.step(by_hand, n=200)["duo/twist"].tolist() == pytest.approx([0.05, 0.0, 0.0])
    simulation.release_control("duo")
    assert simulation.step(n=20)["duo/twist"].tolist() == pytest.approx([0.3, 0.0, 0.4])
    simulation.take_control("duo")
    simulation.reset()
    assert simulation.step(n=20)["duo/twist"].tolist() == pytest.approx([0.3, 0.0, 0.4])
    with pytest.raises(InputError, match="no robot 'trio'; choose from: duo"):
        simulation.take_control("trio")


@pytest.mark.parametrize(
    ("inputs", "n", "words"),
    [
        ({"dou": {"left/speed": 1.0}}, 1, "did you mean 'duo'"),
        ({"duo": {"left/sped": 1.0}}, 1, "left/speed"),
        ({"duo": {"left/speed": [1.0, 2.0]}}, 1, "one finite number"),
        ({"duo": {"left/speed": float("nan")}}, 1, "finite"),
        ({"duo": {"left/speed": "fast"}}, 1, "number"),
        ({"duo": {"twist": [[1.0], [2.0, 3.0]]}}, 1, "numbers"),
        ({"duo": 3.0}, 1, "mapping"),
        ({"duo": {"twist": (0.0, 1.0, 0.0)}}, 1, "cannot move"),
        (None, 0, "at least 1"),
        (None, 1.5, "whole number"),
    ],
)
def test_wrong_calls_are_explained_and_change_nothing(scenario_file: ScenarioFile, inputs, n, words):
    simulation = Simulation(scenario_file())
    simulation.take_control("duo")
    with pytest.raises(InputError, match=words):
        simulation.step(inputs, n=n)
    assert simulation.step_number == 0
    simulation.release_control("duo")
    assert simulation.step(n=5)["duo/twist"].tolist() == pytest.approx([0.3, 0.0, 0.4])


def test_measured_is_of_one_robot(scenario_file: ScenarioFile):
    simulation = Simulation(scenario_file())
    assert "pose" in simulation.measured("duo") and "duo/pose" not in simulation.measured("duo")
    with pytest.raises(InputError, match="duo"):
        simulation.measured("trio")
    with pytest.raises(KeyError, match="pose"):
        simulation.measured("duo")["posse"]


# --- complete states ---------------------------------------------------------------------------------------


def changes_for(kind: str, user_controller: UserController) -> dict:
    if kind == "constant":
        return {}
    if kind in BUILT_IN:
        return {"controllers": {"drive": {"command": None, **BUILT_IN[kind]}}}
    return user_controller({"plain": PLAIN, "own": OWN_METHODS}[kind], rate=50.0)


@pytest.mark.parametrize("kind", ["constant", *BUILT_IN, "plain", "own"])
def test_a_snapshot_continues_bit_for_bit(kind: str, scenario_file: ScenarioFile, user_controller: UserController):
    file = scenario_file(NOISY, changes_for(kind, user_controller))
    simulation = Simulation(file)
    simulation.step(n=137)
    saved = simulation.snapshot()
    expected = trace(simulation)
    simulation.restore(saved)
    assert simulation.step_number == 137
    assert trace(simulation) == expected
    # A second time from the same snapshot: the first continuation must not have touched it.
    simulation.reset(seed=99)
    simulation.step(n=20)
    simulation.restore(saved)
    assert simulation.seed == 5
    assert trace(simulation) == expected
    # In another simulation, and through bytes.
    fresh = Simulation(file, seed=1)
    fresh.restore(decode(encode(saved)))
    assert trace(fresh) == expected


def test_a_snapshot_keeps_who_drives(scenario_file: ScenarioFile):
    simulation = Simulation(scenario_file())
    simulation.take_control("duo")
    simulation.step({"duo": {"left/speed": 1.0, "right/speed": 1.0}}, n=50)
    saved = decode(encode(simulation.snapshot()))
    simulation.reset()
    simulation.restore(saved)
    assert simulation.step(n=100)["duo/twist"].tolist() == pytest.approx([0.05, 0.0, 0.0])


def test_a_snapshot_keeps_the_deadline_of_outside_commands(scenario_file: ScenarioFile):
    simulation = Simulation(scenario_file({"inputs": {"timeout": 0.1}}))
    simulation.step(n=30)
    simulation.apply_outside("duo", {"twist": (0.1, 0.0, 0.0)}, "test")
    simulation.step(n=40)
    simulation.restore(decode(encode(simulation.snapshot())))
    assert simulation.step(n=60)["duo/twist"].tolist() == pytest.approx([0.1, 0.0, 0.0])
    assert simulation.step(n=1)["duo/twist"].tolist() == pytest.approx([0.3, 0.0, 0.4])


def test_frozen_objects_that_are_replaced_are_state(scenario_file: ScenarioFile, user_controller: UserController):
    simulation = Simulation(scenario_file(user_controller(FROZEN_STATE)))
    simulation.step(n=137)
    saved = simulation.snapshot()
    expected = trace(simulation)
    simulation.restore(saved)
    assert trace(simulation) == expected
    # Bytes cannot hold a class of the user's: that is said, and not passed over.
    with pytest.raises(InputError, match=r"controller 'mine'.*snapshot\(\) and restore\(\)"):
        simulation.restore(decode(encode(saved)))


@pytest.mark.parametrize("kind", ["trajectory", "plain", "own"])
def test_a_recording_continues_from_any_of_its_snapshots(
    kind: str, scenario_file: ScenarioFile, user_controller: UserController, tmp_path: Path
):
    rec = simulate(scenario_file(NOISY, changes_for(kind, user_controller)), out=tmp_path / "run")
    found = rec.snapshots()
    assert [step for step, _ in found] == [0, 250, 500, 750]
    for step, data in found:
        simulation = Simulation(load_data(rec.scenario))
        simulation.restore(decode(data))
        kept = Kept()
        run_loop(simulation, until=1000, strides=[10], sink=kept)
        assert kept.steps().tolist() == list(range(step, 1001, 10))
        for channel in rec.channels:
            mine = simulation.channels.value(kept.rows(), channel.name)
            assert mine.tobytes() == rec[channel.name][rec.steps(channel.name) >= step].tobytes(), channel.name


def test_a_snapshot_of_another_scenario_is_refused(scenario_file: ScenarioFile, user_controller: UserController):
    simulation = Simulation(scenario_file())
    simulation.step(n=10)
    castor = {"type": "castor", "position": [0.2, 0], "offset": -0.03}
    three_wheels = Simulation(scenario_file({"robots": {"duo": {"wheels": {"castor": castor}}}}))
    other_controller = Simulation(scenario_file(user_controller(PLAIN)))
    for other in (three_wheels, other_controller):
        before = other.values()
        with pytest.raises(InputError, match="another scenario"):
            other.restore(simulation.snapshot())
        assert all(np.array_equal(before[name], value, equal_nan=True) for name, value in other.values().items())
        with pytest.raises(InputError):
            simulation.restore(other.snapshot())
    assert simulation.step_number == 10
    # Without controllers there is nothing of theirs to restore.
    without = Simulation(scenario_file(), with_controllers=False)
    without.restore(simulation.snapshot())
    assert without.step_number == 10


def test_a_failing_restore_of_a_user_is_reported_as_the_users(
    scenario_file: ScenarioFile, user_controller: UserController
):
    text = OWN_METHODS.replace('set(saved["seen"])', 'set(saved["gone"])')
    simulation = Simulation(scenario_file(user_controller(text)))
    simulation.step(n=10)
    with pytest.raises(ControllerError, match="gone"):
        simulation.restore(simulation.snapshot())


def hostile(change) -> bytes:
    """A snapshot of the base scenario after `change` has worked on its JSON."""
    from common import BASE

    plain = json.loads(encode(Simulation(load_data({**BASE, "name": "small"})).snapshot()))
    changed = change(plain)
    return json.dumps(plain if changed is None else changed).encode()


def set_at(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(plain):
        for key in keys:
            plain = plain[key]
        plain[last] = value

    return change


def array(data: str, dtype: str, shape: list[int]) -> dict:
    return {"array": data, "dtype": dtype, "shape": shape}


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: [],
        lambda plain: {},
        set_at("step", -1),
        set_at("step", "many"),
        set_at("step", 1e400),
        set_at("step", 10**40),
        set_at("seed", -3),
        set_at("arrays", []),
        set_at("arrays", {"dict": {}}),
        set_at("arrays", "dict", "pose", array("AAAA", "<f8", [1, 3])),
        set_at("arrays", "dict", "pose", array("!!!!", "<f8", [1, 3])),
        set_at("arrays", "dict", "pose", array("A" * 32, "|O", [1, 3])),
        set_at("arrays", "dict", "pose", array("A" * 32, "<U2", [1, 3])),
        set_at("arrays", "dict", "pose", array("A" * 32, "garbage", [1, 3])),
        set_at("arrays", "dict", "pose", array("A" * 32, "<f8", [10**12, 10**12])),
        set_at("arrays", "dict", "pose", {"float": "0x1p99999"}),
        set_at("arrays", "dict", "pose", {"generator": {"dict": {"bit_generator": "os.system"}}}),
        set_at("rng", {"dict": {"bit_generator": "PCG64", "state": 3}}),
        set_at("rng", []),
        set_at("controllers", []),
        set_at("controllers", {}),
        set_at("controller_rngs", {"dict": {}}),
        set_at("controller_rngs", {"dict": {"drive": {"dict": {}}}}),
        set_at("driven_by_hand", ["nobody"]),
        set_at("driven_by_hand", 3),
        set_at("deadlines", [["nobody", 3]]),
        set_at("deadlines", [["duo"]]),
    ],
)
def test_hostile_snapshots_are_bad_input(scenario_file: ScenarioFile, change):
    simulation = Simulation(scenario_file())
    with pytest.raises(InputError):
        simulation.restore(decode(hostile(change)))
    simulation.reset()
    simulation.step(n=3)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"{", b"[" * 100_000, b"null", b"NaN", b'"' + b"a" * 1000 + b'"'])
def test_bytes_that_are_no_snapshot_are_bad_input(data: bytes):
    with pytest.raises(InputError, match="not a snapshot"):
        decode(data)


def test_a_controller_with_an_open_file_runs_and_cannot_be_restored(scenario_file, user_controller):
    text = (
        "class Mine:\n"
        "    def reset(self, setup): self.log = open(__file__)\n"
        "    def update(self, t, measured): return {'left/speed': 1.0}\n"
    )
    sim = Simulation(scenario_file(user_controller(text)))
    sim.step(n=10)
    snapshot = sim.snapshot()
    assert snapshot.controllers == {"mine": None}
    with pytest.raises(InputError, match="snapshot"):
        sim.restore(snapshot)


@pytest.mark.parametrize("call", [lambda s: s.step([1]), lambda s: s.step(n="3"), lambda s: s.reset(seed=1.5)])
def test_arguments_of_a_wrong_kind_are_bad_input(scenario_file, call):
    with pytest.raises(InputError):
        call(Simulation(scenario_file()))


# --- the state of one robot --------------------------------------------------------------------------------


def test_a_robot_is_put_elsewhere_and_its_controller_goes_on(scenario_file: ScenarioFile):
    simulation = Simulation(scenario_file())
    told: list[tuple[int, str, str]] = []
    simulation.step(n=20)
    simulation.on_command = lambda step, robot, values, source: told.append((step, robot, source))
    simulation.set_state("duo", pose=(1.0, 2.0, 0.5))
    assert simulation.get_state("duo").pose.tolist() == [1.0, 2.0, 0.5] and not told
    assert simulation.step(n=30)["duo/twist"].tolist() == pytest.approx([0.3, 0.0, 0.4])
    simulation.set_state("duo", twist=(0.1, 0.0, 0.0))
    assert told == [(50, "duo", "set_state")]
    saved = simulation.snapshot()
    expected = trace(simulation)
    simulation.restore(saved)
    assert trace(simulation) == expected


def test_the_state_of_a_robot_that_is_not_there_is_bad_input(scenario_file: ScenarioFile):
    simulation = Simulation(scenario_file())
    with pytest.raises(InputError, match="no robot 'dou'; did you mean 'duo'"):
        simulation.get_state("dou")
    with pytest.raises(InputError, match="did you mean 'duo'"):
        simulation.set_state("dou", pose=(0.0, 0.0, 0.0))
