"""Runs of vehicles: the same bits however they are run and recorded, replayed and continued exactly, to every end."""

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
from recordings import bits

from botz import AttachedRun, Simulation, load, read, simulate
from botz.errors import DivergedError, InputError
from botz.record.reader import Recording
from botz.replay import replay_recording
from botz.run import run_scenario
from botz.sim.snapshots import decode, encode
from botz.transforms import rotation_of_unit

WHEEL = {
    "radius": 0.1,
    "inertia": 0.01,
    "suspension": {"stiffness": 6000.0, "damping": 200.0, "travel": 0.05},
    "tyre": {"type": "coulomb", "static": 0.8, "dynamic": 0.7},
}
MOTOR = {
    "voltage": 24.0,
    "torque_constant": 0.03,
    "speed_constant": 30.0,
    "resistance": 0.5,
    "gear_ratio": 20.0,
    "no_load_current": 0.2,
}
FOUR = {"fl": [0.2, 0.2, -0.05], "fr": [0.2, -0.2, -0.05], "rl": [-0.2, 0.2, -0.05], "rr": [-0.2, -0.2, -0.05]}
SIX = {**FOUR, "ml": [0.0, 0.25, -0.05], "mr": [0.0, -0.25, -0.05]}


def vehicle(places: dict[str, list[float]], **changes: Any) -> dict[str, Any]:
    box = {"mass": 40.0, "front": 0.3, "rear": 0.3, "left": 0.2, "right": 0.2, "top": 0.1, "bottom": 0.08}
    return {
        "chassis": box,
        "wheel": WHEEL,
        "wheels": {name: {"position": place} for name, place in places.items()},
        "motor": MOTOR,
        "motors": {name: {"wheels": [name]} for name in places},
        **changes,
    }


BASE: dict[str, Any] = {
    "engine": "vehicle",
    "seed": 3,
    "time": {"step": 1e-4, "duration": 0.3},
    "record": {"rate": 1000.0, "snapshots": 0.1},
    "world": {"terrain": {"type": "flat", "x": [-1.0, 1.0], "y": [-1.0, 1.0]}},
    "robots": {"ant": vehicle(FOUR, velocity=[0.5, 0.1, 0.0])},
    "controllers": {"drive": {"type": "constant", "robot": "ant", "rate": 100.0, "command": {"drive": [0.4, 0.2]}}},
}
ROUGH: dict[str, Any] = {
    "world": {"terrain": {"type": "rough", "iso_class": "F", "x": [-1.5, 1.5], "y": [-1.5, 1.5]}},
}
PAIR: dict[str, Any] = {
    "robots": {
        "bee": vehicle(
            SIX,
            wheel={**WHEEL, "tyre": {"type": "magic-formula"}},
            battery={"voltage": 20.0, "resistance": 0.05},
            position=[-0.5, 0.6],
            attitude=[0.0, 0.0, 1.0],
        )
    },
    "controllers": {
        "steer": {"type": "wheel-speed", "robot": "bee", "rate": 50.0, "forward": 0.4, "yaw_rate": -0.3},
    },
}
ENDS: dict[str, Any] = {
    "record": {"rate": 10_000.0},
    "world": {"terrain": {"outside": "end"}},
    "robots": {"bee": vehicle(SIX, position=[0.6, 0.2], attitude=[0.0, 0.0, 0.2], velocity=[2.0, 0.0, 0.0])},
}
"""`bee` leaves the ground after some 0.09 s; `ant` stays on it."""
WILD_DRIVER = """
class Mine:
    def reset(self, setup):
        self.rng = setup.rng

    def update(self, t, measured):
        share = self.rng.uniform(-1, 1)
        return {"tank": (share, -share), "fl/voltage": 10 * measured["pose"][0] + self.rng.normal()}
"""
BREAKER = """
class Mine:
    def __init__(self, field="v", value=float("nan")):
        self.field, self.value = field, value

    def reset(self, setup):
        self.engine = setup.engine

    def update(self, t, measured):
        if t >= 0.05:
            self.engine.state.robots[self.field][0][0] = self.value
        return {"tank": (0.1, 0.1)}
"""

VehicleFile = Callable[..., Path]


@pytest.fixture
def vehicle_file(tmp_path: Path) -> VehicleFile:
    """Writes a scenario: the base with changes laid over it, one after the other; `code` is a driver of `ant`."""

    def write(*changes: dict[str, Any], code: str = "", name: str = "vehicles.yaml", **parameters: Any) -> Path:
        data = BASE
        for change in changes:
            data = merged(data, change)
        if code:
            (tmp_path / "mine.py").write_text(code, encoding="utf-8")
            mine = {"type": "mine.py:Mine", "robot": "ant", "rate": 100.0, "parameters": parameters}
            data = merged(data, {"controllers": {"drive": None, "mine": mine}})
        path = tmp_path / name
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return path

    return write


def by(method: str) -> dict[str, Any]:
    return {"time": {"method": method}}


def row_bytes(simulation: Simulation) -> bytes:
    return b"".join(np.asarray(value).tobytes() for value in simulation.values().values())


METHODS = ["semi-implicit", "rk4"]
GROUNDS = {"flat": [], "rough": [ROUGH], "pair": [PAIR], "rough pair": [ROUGH, PAIR]}


# --- the same bits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ground", GROUNDS)
def test_a_replay_is_identical_bit_for_bit(ground: str, method: str, vehicle_file: VehicleFile, tmp_path: Path):
    file = vehicle_file(*GROUNDS[ground], by(method), code=WILD_DRIVER)
    rec = simulate(file, out=tmp_path / "run")
    assert len(rec.commands("ant")[0]) > 20, "it is driven all the time"
    result = replay_recording(read(rec.path))
    assert result.identical and result.rows == 301, result.sentence()
    assert np.ptp(rec["ant/pose"][:, 0]) > 0.05 and np.isfinite(rec["ant/pose"]).all()


def test_a_replay_sees_another_last_bit_of_a_vehicle(vehicle_file: VehicleFile, tmp_path: Path):
    class Altered(Recording):
        def __getitem__(self, name: str) -> np.ndarray:
            values = super().__getitem__(name)
            if name == "bee/ml/load":
                values[200] = np.nextafter(values[200], np.inf)
            return values

    rec = simulate(vehicle_file(ROUGH, PAIR), out=tmp_path / "run")
    rec.__class__ = Altered
    result = replay_recording(rec)
    assert not result.identical
    assert (result.channel, result.first_difference_s) == ("bee/ml/load", pytest.approx(0.2))


def test_the_same_run_in_a_process_of_its_own(vehicle_file: VehicleFile, tmp_path: Path):
    file = vehicle_file(ROUGH, PAIR, code=WILD_DRIVER)
    here = simulate(file, out=tmp_path / "here")
    expected = bits(here)
    assert bits(simulate(file, out=tmp_path / "again")) == expected
    outcome = run_scenario(load(file), out=tmp_path / "shared", shared=True)
    assert (outcome.status, outcome.exit_code) == ("finished", 0)
    shared = read(outcome.path)
    assert bits(shared) == expected and shared.snapshots() == here.snapshots()
    in_real_time = simulate(file, out=tmp_path / "realtime", realtime=0.5)
    assert in_real_time.summary["dropped_frames"] == "0"
    assert bits(in_real_time) == expected
    assert replay_recording(in_real_time).identical
    assert bits(simulate(file, out=tmp_path / "other", seed=4)) != expected


@pytest.mark.parametrize("method", METHODS)
def test_how_often_is_recorded_does_not_change_the_way(method: str, vehicle_file: VehicleFile, tmp_path: Path):
    changes = ROUGH, PAIR, by(method)
    recs = {
        rate: simulate(
            vehicle_file(*changes, {"record": {"rate": rate, "snapshots": pause}}), out=tmp_path / f"{rate:g}"
        )
        for rate, pause in ((10_000.0, 0.0), (1000.0, 0.1), (100.0, 0.07))
    }
    finest = recs[10_000.0]
    assert finest.steps().tolist() == list(range(3001))
    for rec in recs.values():
        for channel in rec.channels:
            assert rec[channel.name].tobytes() == finest[channel.name][rec.steps()].tobytes(), channel.name


@pytest.mark.parametrize("method", METHODS)
def test_a_complete_state_continues_bit_for_bit(method: str, vehicle_file: VehicleFile):
    file = vehicle_file(ROUGH, PAIR, by(method), code=WILD_DRIVER)
    one = Simulation(file)
    one.step(n=1234)
    saved, there = one.snapshot(), row_bytes(one)
    one.step(n=999)
    expected = row_bytes(one)
    assert expected != there
    one.restore(saved)
    assert row_bytes(one) == there and one.step_number == 1234
    one.step(n=500)
    one.step(n=499)
    assert row_bytes(one) == expected
    fresh = Simulation(file)
    fresh.step(n=77)
    fresh.restore(decode(encode(saved)))
    fresh.step(n=999)
    assert row_bytes(fresh) == expected, "in another simulation, from the form in which it is kept"


@pytest.mark.parametrize("method", METHODS)
def test_recorded_states_lead_to_the_same_end(method: str, vehicle_file: VehicleFile, tmp_path: Path):
    file = vehicle_file(ROUGH, PAIR, by(method), code=WILD_DRIVER)
    rec = simulate(file, out=tmp_path / "run")
    snapshots = rec.snapshots()
    assert [step for step, _ in snapshots] == [0, 1000, 2000]
    for step, data in snapshots:
        simulation = Simulation(file)
        simulation.restore(data)
        values = simulation.step(n=3000 - step)
        for name, value in values.items():
            assert np.asarray(value).tobytes() == rec[name][-1].tobytes(), (step, name)


def test_a_state_of_other_vehicles_is_refused(vehicle_file: VehicleFile):
    pair = Simulation(vehicle_file(PAIR)).snapshot()
    alone = Simulation(vehicle_file())
    before = row_bytes(alone)
    with pytest.raises(InputError, match="another scenario"):
        alone.restore(pair)
    assert row_bytes(alone) == before


# --- ground that ends ----------------------------------------------------------------------------------------------


def farthest_wheel(pose: np.ndarray) -> float:
    """The greatest x of a wheel of `bee`."""
    rotation = rotation_of_unit(*pose[3:])
    return max(pose[0] + float(rotation[0] @ place) for place in SIX.values())


@pytest.mark.parametrize("method", METHODS)
def test_a_run_ends_where_a_wheel_leaves_the_ground(method: str, vehicle_file: VehicleFile, tmp_path: Path):
    file = vehicle_file(ENDS, by(method))
    outcome = run_scenario(load(file), out=tmp_path / "run")
    assert (outcome.status, outcome.exit_code, outcome.error) == ("finished", 0, None)
    rec = read(outcome.path)
    last = int(rec.summary["steps"])
    assert rec.complete and rec.summary["status"] == "finished" and 500 < last < 1500
    assert float(rec.summary["simulated_s"]) == pytest.approx(last * 1e-4)
    assert rec.steps().tolist() == list(range(last + 1)), "no row beyond the end, and none missing"
    places = np.array([farthest_wheel(pose) for pose in rec["bee/pose"]])
    # A step leads 0.2 mm on; the attitude that counts may be that of one step before.
    assert places[-1] > 1.0 - 1e-6 and (places[:-1] < 1.0 + 1e-6).all()
    ends = [(step, level, text) for step, level, text in rec.logs() if "the run ends here" in text]
    assert ends == [(last, "warning", "the run ends here: bee left the terrain")]
    result = replay_recording(rec)
    assert result.identical and result.rows == last + 1, result.sentence()


def test_a_run_that_ends_is_the_same_in_a_process_of_its_own(vehicle_file: VehicleFile, tmp_path: Path):
    file = vehicle_file(ENDS)
    here = simulate(file, out=tmp_path / "here")
    seen: list[tuple[int, np.ndarray]] = []
    readers: list[threading.Thread] = []

    def read_along(run_id: str) -> None:
        run, deadline = AttachedRun(run_id), time.monotonic() + PATIENCE
        while not run.finished and time.monotonic() < deadline:
            time.sleep(0.001)
        seen.append((run.latest()[0], run["bee/pose"]))

    def start(run_id: str) -> None:
        readers.append(threading.Thread(target=read_along, args=(run_id,)))
        readers[0].start()

    outcome = run_scenario(load(file), out=tmp_path / "shared", shared=True, on_ready=start)
    readers[0].join(timeout=PATIENCE)
    assert (outcome.status, outcome.exit_code) == ("finished", 0)
    ((step, pose),) = seen
    assert step == int(here.summary["steps"]), "readers see where it ended"
    assert pose.tobytes() == here["bee/pose"][-1].tobytes()
    in_real_time = simulate(file, out=tmp_path / "realtime", realtime=0.5)
    for rec in (read(outcome.path), in_real_time):
        assert rec.complete and bits(rec) == bits(here)
        assert rec.summary["steps"] == here.summary["steps"] and rec.summary["status"] == "finished"
        assert (step, "warning", "the run ends here: bee left the terrain") in rec.logs()
        assert replay_recording(rec).identical


def test_a_coarser_recording_of_a_run_that_ends_has_the_rows_before_it(vehicle_file: VehicleFile, tmp_path: Path):
    fine = simulate(vehicle_file(ENDS), out=tmp_path / "fine")
    coarse = simulate(vehicle_file(ENDS, {"record": {"rate": 100.0}}), out=tmp_path / "coarse")
    last = int(fine.summary["steps"])
    assert coarse.summary["steps"] == fine.summary["steps"]
    kept = sorted({*range(0, last + 1, 100), last})
    assert coarse.steps().tolist() == kept, "also the state in which it ended"
    assert coarse["bee/pose"].tobytes() == fine["bee/pose"][kept].tobytes()
    assert replay_recording(coarse).identical


def test_stepping_stops_where_the_ground_ends(vehicle_file: VehicleFile, tmp_path: Path):
    file = vehicle_file(ENDS)
    last = int(simulate(file, out=tmp_path / "run").summary["steps"])
    simulation = Simulation(file)
    simulation.step(n=last - 1)
    assert simulation.ended == "" and simulation.step_number == last - 1
    before = simulation.snapshot()
    simulation.step(n=5000)
    assert simulation.ended == "bee left the terrain" and simulation.step_number == last
    there = row_bytes(simulation)
    simulation.step(n=10)
    assert simulation.step_number == last and row_bytes(simulation) == there, "there is nowhere to go on to"
    simulation.restore(before)
    assert simulation.ended == "" and simulation.step_number == last - 1
    simulation.step()
    assert simulation.ended == "bee left the terrain" and row_bytes(simulation) == there
    simulation.reset()
    assert simulation.ended == "" and simulation.step_number == 0
    simulation.step(n=last - 1)
    assert simulation.ended == ""


def test_ground_that_goes_on_ends_nothing(vehicle_file: VehicleFile, tmp_path: Path):
    rec = simulate(vehicle_file(ENDS, {"world": {"terrain": {"outside": "edge"}}}), out=tmp_path / "run")
    assert rec.summary["steps"] == "3000" and farthest_wheel(rec["bee/pose"][-1]) > 1.1
    assert not [text for _, _, text in rec.logs() if "ends" in text]
    assert replay_recording(rec).identical


# --- failing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outside", ["edge", "end"])
@pytest.mark.parametrize(
    ("field", "value"),
    [("v", np.nan), ("v", np.inf), ("x", np.nan), ("x", -np.inf), ("spin", np.nan), ("quat", np.nan)],
)
@pytest.mark.parametrize("method", METHODS)
def test_numbers_that_are_none_are_a_divergence_and_no_end(
    method: str, field: str, value: float, outside: str, vehicle_file: VehicleFile
):
    simulation = Simulation(vehicle_file(PAIR, by(method), {"world": {"terrain": {"outside": outside}}}))
    simulation.step(n=123)
    assert simulation.ended == ""
    simulation.engine.state.robots[field][0][0] = value  # type: ignore[attr-defined]
    with pytest.raises(
        DivergedError, match=r"stopped being finite at t = 0\.0124 s \(step 124\), first in .*without bound"
    ) as caught:
        simulation.step(n=50)
    assert caught.value.step == 124 and simulation.ended == ""
    assert not np.isfinite(caught.value.last_rows[-1]).all()
    simulation.reset()
    assert np.isfinite(simulation.step(n=50)["ant/pose"]).all(), "a new start forgets it"


def test_a_start_that_no_step_can_follow_is_a_divergence(vehicle_file: VehicleFile, tmp_path: Path):
    spinning = {"robots": {"ant": {"angular_velocity": [0.0, 0.0, 1e20]}}}
    with pytest.raises(DivergedError, match=r"stopped being finite at t = 0\.000\d s .* first in ant/.*without bound"):
        simulate(vehicle_file(spinning), out=tmp_path / "run")
    assert read(tmp_path / "run").summary["status"] == "failed"


@pytest.mark.parametrize("realtime", [None, 0.5])
@pytest.mark.parametrize("outside", ["edge", "end"])
def test_a_diverging_run_keeps_what_came_before(
    outside: str, realtime: float | None, vehicle_file: VehicleFile, tmp_path: Path
):
    file = vehicle_file(ROUGH, PAIR, {"world": {"terrain": {"outside": outside}}}, code=BREAKER)
    with pytest.raises(DivergedError) as caught:
        simulate(file, out=tmp_path / "run", realtime=realtime)
    assert caught.value.step == 501 and "first in ant/pose" in str(caught.value)
    assert "without bound" in str(caught.value), "no part of it was too fast for the step"
    rec = read(tmp_path / "run")
    assert rec.complete and rec.summary["status"] == "failed" and rec.summary["last_states"] == "diverged.csv"
    assert rec.steps().tolist() == list(range(0, 501, 10))
    assert all(np.isfinite(rec[channel.name]).all() for channel in rec.channels)
    assert not any("left the terrain" in text for _, _, text in rec.logs())
    assert replay_recording(rec).identical
