"""Runs as scripts and notebooks make them: mappings, changed scenarios, controllers in Python, recordings in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import botz
from botz.replay import replay_recording

ROVER = {
    "engine": "kinematics",
    "time": {"step": "1 ms", "duration": "0.4 s"},
    "robots": {"rover": {"extends": "differential-castor-rear"}},
}
DRIVEN = ROVER | {"controllers": {"go": {"robot": "rover", "type": "constant", "command": {"twist": [0.1, 0, 0]}}}}
SHORT = {
    "differential-circle": "rover",
    "vivi-rough": "vivi",
    "soccer": "blue0",
    "puma-wave": "puma",
    "quadrotor-square": "quad",
}


class Turning:
    """A controller with a rate and a memory."""

    rate = 50.0

    def __init__(self) -> None:
        self.calls = 0

    def reset(self, setup: Any) -> None:
        self.calls = 0
        self.period = setup.period

    def update(self, t: float, measured: Mapping[str, Any]) -> dict[str, Any]:
        self.calls += 1
        return {"twist": (0.2, 0.0, 0.01 * self.calls)}


# --- scenarios -----------------------------------------------------------------------------------------------


def test_a_mapping_is_a_scenario():
    loaded = botz.load(ROVER)
    assert (loaded.name, loaded.engine, loaded.file) == ("scenario", "kinematics", None)
    assert loaded.spec.time.steps == 400
    assert botz.load({"extends": "differential-circle", "seed": 4}).spec.seed == 4
    assert botz.load(ROVER | {"name": "mine"}, overrides={"seed": np.int64(3)}).spec.seed == 3


def test_mistakes_in_a_mapping_are_told_by_their_keys():
    wrong = ROVER | {"seed": -1, "robots": {"rover": {"extends": "differential-castor-reer"}}, "controller": {}}
    with pytest.raises(botz.InputError) as caught:
        botz.load(wrong)
    text = str(caught.value)
    assert "seed: must be at least 0, not -1" in text
    assert "robots.rover.extends: no robot 'differential-castor-reer' in the library; did you mean" in text
    assert "controller: unknown key; did you mean 'controllers'" in text


def test_a_loaded_scenario_is_changed_by_the_same_keys(scenario_file: Any):
    loaded = botz.load(ROVER)
    other = loaded.with_({"robots.rover.pose.0": 1.5}, seed=3, time={"duration": "2 s"})
    assert (other.spec.robots["rover"].pose[0], other.spec.seed, other.spec.time.steps) == (1.5, 3, 2000)
    assert other.spec.time.step_ns == loaded.spec.time.step_ns
    assert (loaded.spec.seed, loaded.spec.time.steps) == (0, 400)
    two = loaded.with_(robots={"scout": {"extends": "differential-castor-rear", "pose": [2, 0, 0]}})
    assert list(two.spec.robots) == ["rover", "scout"]
    assert list(two.with_({"robots.scout": None}).spec.robots) == ["rover"]
    # Rates that nobody wrote fit themselves to another step, those that were written do not.
    assert botz.load(DRIVEN).with_({"time.step": "3 ms"}).spec.controllers["go"].rate == pytest.approx(1000 / 9)
    with pytest.raises(botz.InputError, match=r"controllers\.go\.rate: 100 Hz has a period"):
        botz.load(DRIVEN).with_({"controllers.go.rate": 100}).with_({"time.step": "3 ms"})
    from_file = botz.load(scenario_file())
    assert from_file.with_(seed=9).file == from_file.file


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time.duration": "1 kg"}, 'time.duration: "1 kg" is a mass'),
        ({"robots.rover.poes": [0, 0, 0]}, "robots.rover.poes: unknown key; did you mean 'pose'"),
        ({"robots.rover.pose.7": 1}, "there is no entry 7"),
        ({"robots": {"b": {"extends": "vivi"}}}, "is for engine 'vehicle'"),
        ({"controllers": {"c": {"robot": "rover", "type": "gone.py:C"}}}, "no such file: "),
    ],
)
def test_what_is_changed_is_checked(changes: dict[str, Any], words: str):
    with pytest.raises(botz.InputError) as caught:
        botz.load(ROVER).with_(changes)
    assert words in str(caught.value) and "--" not in str(caught.value)


# --- recordings in memory -------------------------------------------------------------------------------------


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    rec = botz.simulate(DRIVEN)
    assert list(tmp_path.iterdir()) == []
    assert rec.complete and rec.file is None and "in memory" in repr(rec)
    assert rec["rover/pose"][-1] == pytest.approx([0.04, 0.0, 0.0], abs=1e-9)
    assert replay_recording(rec).identical
    with pytest.raises(botz.InputError, match=r"in memory only; write it with save\(FOLDER\) first"):
        rec.path  # noqa: B018
    again = botz.simulate(DRIVEN)
    assert botz.compare(rec, [again]).differences[0].max == 0.0


def test_a_notebook_shows_summary_and_plot():
    shown = botz.simulate(DRIVEN | {"name": "mine"})._repr_html_()
    assert "<td>mine</td>" in shown and "<td>rover</td>" in shown and "<td>in memory</td>" in shown
    assert 'src="data:image/png;base64,' in shown and len(shown) < 200_000
    hostile = DRIVEN | {"record": {"channels": ["rover/left/slip"]}, "robots": ROVER["robots"]}
    assert "<table" in botz.simulate(hostile)._repr_html_()


def test_a_saved_recording_is_the_one_that_a_run_leaves(tmp_path: Path):
    rec = botz.simulate(DRIVEN)
    kept = botz.simulate(DRIVEN, out=tmp_path / "kept")
    for file in (rec.save(tmp_path / "saved"), rec.save(tmp_path / "one" / "file.mcap"), kept.save(tmp_path / "copy")):
        other = botz.read(file)
        assert list(other) == list(kept)
        assert all(np.array_equal(other[name], kept[name], equal_nan=True) for name in kept)
    names = [sorted(path.name for path in (tmp_path / folder).iterdir()) for folder in ("kept", "saved", "copy", "one")]
    assert names == [["metadata.yaml", "recording.mcap"]] * 3 + [["file.mcap"]]
    with pytest.raises(botz.InputError, match="exists already; choose another place, or say overwrite=True"):
        rec.save(tmp_path / "saved")
    assert rec.save(tmp_path / "saved", overwrite=True) == tmp_path / "saved" / "recording.mcap"


def test_a_cell_that_is_run_again_overwrites_on_request_alone(tmp_path: Path):
    botz.simulate(ROVER, out=tmp_path / "run")
    with pytest.raises(botz.InputError, match="exists already") as caught:
        botz.simulate(DRIVEN, out=tmp_path / "run")
    assert "--" not in str(caught.value)
    rec = botz.simulate(DRIVEN, out=tmp_path / "run", overwrite=True)
    assert rec["rover/pose"][-1, 0] > 0.03
    # What is no run of ours stays.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "metadata.yaml").write_text("mine")
    with pytest.raises(botz.InputError, match="exists already"):
        botz.simulate(DRIVEN, out=tmp_path / "other", overwrite=True)
    assert (tmp_path / "other" / "metadata.yaml").read_text() == "mine"


@pytest.mark.parametrize("name", SHORT)
def test_runs_of_every_family_are_in_memory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    rec = botz.simulate(name, duration=0.1)
    assert rec.complete and rec.time()[-1] == pytest.approx(0.1)
    state = botz.state_at(rec, 0.02)
    assert botz.simulate(name, duration=0.08, start=state).time()[-1] == pytest.approx(0.1)
    poses = rec.pose(SHORT[name])
    assert poses.position.shape == (len(rec.time()), 3) and poses.quat_wxyz.shape == (len(rec.time()), 4)
    assert np.linalg.norm(poses.quat_wxyz, axis=1) == pytest.approx(1.0, abs=1e-9)
    assert poses.rotation @ np.swapaxes(poses.rotation, 1, 2) == pytest.approx(
        np.broadcast_to(np.eye(3), (len(poses.time), 3, 3)), abs=1e-9
    )
    assert list(tmp_path.iterdir()) == []


def test_a_pose_in_the_plane_has_height_zero_and_turns_about_z():
    rec = botz.simulate(ROVER, controllers={"rover": lambda t, measured: {"twist": (0.3, 0.0, 0.7)}})
    poses, planar = rec.pose("rover"), rec["rover/pose"]
    assert np.array_equal(poses.position[:, :2], planar[:, :2]) and not poses.position[:, 2].any()
    assert poses.heading == pytest.approx(planar[:, 2])
    assert rec.pose("rover/odometry/pose").position == pytest.approx(poses.position, abs=0.002)
    with pytest.raises(botz.InputError, match="no robot or pose 'rovr'; did you mean 'rover"):
        rec.pose("rovr")


# --- controllers ----------------------------------------------------------------------------------------------


def test_a_function_drives_a_robot():
    times: list[float] = []

    def ahead(t: float, measured: Mapping[str, Any]) -> dict[str, Any]:
        times.append(t)
        return {"twist": (0.2 if measured["pose"][0] < 0.03 else 0.0, 0.0, 0.0)}

    rec = botz.simulate(DRIVEN, controllers={"rover": ahead})
    assert np.diff(times) == pytest.approx(0.01) and len(times) == 40
    assert rec["rover/pose"][-1, 0] == pytest.approx(0.03, abs=0.2 * 0.01)
    assert set(rec.commands("rover")[2]) == {"python:rover"}
    # The recording has what was commanded, and needs no program.
    assert rec.scenario["controllers"] == {}
    assert replay_recording(rec).identical
    on = botz.simulate(DRIVEN, controllers={"rover": ahead}, start=botz.state_at(rec, 0.2), duration=0.1)
    assert on["rover/pose"][-1].tobytes() == rec["rover/pose"][np.searchsorted(rec.time(), 0.3)].tobytes()


def test_an_object_drives_a_robot_at_its_own_rate():
    turning = Turning()
    sim = botz.Simulation(ROVER, controllers={"rover": turning})
    sim.step(n=100)
    assert turning.calls == 5 and turning.period == pytest.approx(0.02)
    saved = sim.snapshot()
    first = sim.step(n=100)["rover/pose"]
    sim.restore(saved)
    assert turning.calls == 5
    assert sim.step(n=100)["rover/pose"].tobytes() == first.tobytes()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rovr": print}, "no robot 'rovr'; did you mean 'rover'"),
        ({"rover": 3}, "the controller of 'rover' is 3; give a function"),
        ({"rover": Turning}, "the controller of 'rover' is a class, Turning, not an object"),
        ({"rover": type("A", (), {"update": print})()}, "has update but no reset"),
        ({"rover": type("A", (Turning,), {"rate": -1})()}, "the rate of the controller of 'rover' is -1"),
        ({"rover": type("A", (Turning,), {"rate": 300.0})()}, "300 Hz has a period of"),
    ],
)
def test_what_cannot_drive_is_refused(given: dict[str, Any], words: str):
    with pytest.raises(botz.InputError) as caught:
        botz.Simulation(ROVER, controllers=given)
    assert words in str(caught.value)


def test_a_function_that_fails_or_commands_wrongly_is_told_with_its_traceback():
    def fails(t: float, measured: Mapping[str, Any]) -> dict[str, Any]:
        raise ZeroDivisionError("here")

    with pytest.raises(botz.ControllerError, match="the controller given for 'rover' failed at t = 0 s") as caught:
        botz.simulate(ROVER, controllers={"rover": fails})
    assert "in fails" in caught.value.details and "simulation.py" not in caught.value.details
    with pytest.raises(botz.ControllerError, match=r"given for 'rover' gave a wrong command.*left/sped"):
        botz.simulate(ROVER, controllers={"rover": lambda t, measured: {"left/sped": 1.0}})


# --- steps ----------------------------------------------------------------------------------------------------


def test_reset_and_step_return_the_same_mapping():
    sim = botz.Simulation(DRIVEN)
    start, now = sim.reset(), sim.step(n=10)
    assert list(start) == list(now) == [channel.name for channel in sim.channels]
    assert isinstance(now["rover/left/speed"], float) and now["rover/pose"].shape == (3,)
    now["rover/pose"][:] = 7.0
    assert now["rover/pose"][0] < 1.0  # what is given away is a copy
    assert now.of("rover")["pose"].tolist() == now["rover/pose"].tolist()
    kept = now["rover/pose"].tolist()
    sim.step(n=10)
    assert now["rover/pose"].tolist() == kept
    with pytest.raises(KeyError, match="no channel 'rover/posse'; did you mean 'rover/pose'"):
        now["rover/posse"]
    assert "'rover/pose'" in repr(now)


def test_films_speak_of_arguments(tmp_path: Path):
    rec = botz.simulate(DRIVEN, duration=0.01)
    for argument, value in (("fps", 1000.0), ("speed", 0.0), ("size", (3, 3)), ("start", 9.0), ("camera", "nose")):
        with pytest.raises(botz.InputError) as caught:
            botz.render_video(rec, tmp_path / "film.mp4", **{argument: value})
        assert str(caught.value).startswith(f"{argument}: ") and "--" not in str(caught.value)
