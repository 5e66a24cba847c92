"""botz run, demo and replay: options, exit codes, and what goes to which stream."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from common import NOISY, Answer, ScenarioFile, UserController

from botz import read
from botz.cli.main import with_realtime_factor

Botz = Callable[..., Answer]

TALKATIVE = """
import sys
print("imported")

class Mine:
    def reset(self, setup):
        print("reset")

    def update(self, t, measured):
        print("update", file=sys.stdout)
        return {"left/speed": 1.0}
"""
FAILING = """
class Mine:
    def reset(self, setup):
        pass

    def update(self, t, measured):
        if t >= 0.5:
            raise RuntimeError("lost the map")
"""


def test_a_run_prints_a_summary_and_keeps_its_recording(botz: Botz, scenario_file: ScenarioFile, tmp_path: Path):
    answer = botz("run", scenario_file(), "--out", "run", "--headless")
    assert answer.code == 0, answer.err
    assert "finished" in answer.out and "run/recording.mcap" in answer.out
    assert read(tmp_path / "run").duration == pytest.approx(1.0)
    answer = botz("run", scenario_file())
    assert answer.code == 0 and len(list((tmp_path / "runs").glob("small-*/recording.mcap"))) == 1


def test_options_change_the_run(botz: Botz, scenario_file: ScenarioFile, tmp_path: Path):
    answer = botz(
        "run", scenario_file(NOISY), "--out", "run", "--json", "--duration", "0.02 min", "--seed", 11,
        "--set", "robots.duo.wheels.left.radius=0.2", "--set", "record.rate=50 Hz", "--set", "time.step=2 ms",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    summary = json.loads(answer.out)
    assert (summary["status"], summary["simulated_s"], summary["steps"]) == ("finished", 1.2, 600)
    rec = read(tmp_path / "run")
    assert rec.seed == 11 and rec.step_ns == 2_000_000 and len(rec.steps()) == 61
    assert rec.scenario["robots"]["duo"]["wheels"]["left"]["radius"] == 0.2
    assert summary["recording"] == "run/recording.mcap"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--duration", "5 kg"], "--duration"),
        (["--duration", "-1"], "--duration"),
        (["--duration", ""], "--duration"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "many"], "--seed"),
        (["--set", "robots.duo.wheels.left.raduis=1"], "radius"),
        (["--set", "nonsense"], "nonsense"),
        (["--set", "record.channels=[duo/posse]"], "duo/pose"),
        (["--realtime", "0"], "--realtime"),
        (["--realtime", "nan"], "realtime"),
        (["--realtime=-2"], "--realtime"),
        (["--nonsense"], "--nonsense"),
        (["--out", "small.yaml"], "is a file"),
        (["--out", "small.yaml/below"], "cannot make"),
    ],
)
def test_wrong_options_are_bad_input(botz: Botz, scenario_file: ScenarioFile, arguments: list[str], words: str):
    scenario_file()
    answer = botz("run", "small.yaml", *arguments)
    assert answer.code == 2
    assert words in answer.err and "Traceback" not in answer.err
    assert answer.out == ""


@pytest.mark.parametrize("name", ["no-such-scenario", "no/such/file.yaml", "", "broken.yaml", "folder.yaml"])
def test_wrong_names_are_bad_input(botz: Botz, name: str, tmp_path: Path):
    (tmp_path / "broken.yaml").write_text("engine: kinematics\nrobots: {a: {wheels: [1}\n")
    (tmp_path / "folder.yaml").mkdir()
    answer = botz("run", name)
    assert answer.code == 2 and answer.err and "Traceback" not in answer.err
    assert not (tmp_path / "runs").exists()


def test_a_recording_is_not_written_over(botz: Botz, scenario_file: ScenarioFile, tmp_path: Path):
    assert botz("run", scenario_file(), "--out", "run").code == 0
    before = (tmp_path / "run" / "recording.mcap").read_bytes()
    answer = botz("run", scenario_file(), "--out", "run", "--json")
    assert answer.code == 2 and "exists already" in answer.err and answer.out == ""
    assert (tmp_path / "run" / "recording.mcap").read_bytes() == before


def test_real_time_takes_a_factor_or_none(botz: Botz, scenario_file: ScenarioFile):
    fast = botz("run", scenario_file(), "--realtime", "20", "--json")
    assert fast.code == 0, fast.err
    assert json.loads(fast.out)["lateness_ticks"] > 0 and json.loads(fast.out)["dropped_frames"] == 0
    plain = botz("run", "--duration", "0.1", "--realtime", scenario_file(), "--json")
    assert plain.code == 0, plain.err
    assert json.loads(plain.out)["simulated_s"] == 0.1 and json.loads(plain.out)["lateness_ticks"] >= 50


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["run", "x", "--realtime"], ["run", "x", "--realtime=1"]),
        (["run", "--realtime", "x.yaml"], ["run", "--realtime=1", "x.yaml"]),
        (["run", "--realtime", "2.5", "x"], ["run", "--realtime", "2.5", "x"]),
        (["run", "--realtime", "1e3", "x"], ["run", "--realtime", "1e3", "x"]),
        (["run", "--realtime=3", "x"], ["run", "--realtime=3", "x"]),
        (["run", "--realtime", "--json"], ["run", "--realtime=1", "--json"]),
        (["run", "--", "--realtime", "x"], ["run", "--", "--realtime", "x"]),
    ],
)
def test_the_factor_is_told_from_what_follows(given: list[str], expected: list[str]):
    assert with_realtime_factor(given) == expected


def test_progress_goes_to_standard_error(botz: Botz, scenario_file: ScenarioFile):
    answer = botz("run", scenario_file(), "--progress", "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["status"] == "finished"
    assert "100 %" in answer.err and "real time" in answer.err
    assert "real time" not in botz("run", scenario_file(), "--no-progress", "--json").err


@pytest.mark.parametrize("options", [[], ["--realtime", "20"]])
def test_what_a_controller_prints_stays_off_standard_output(
    options: list[str], run_botz: Botz, scenario_file: ScenarioFile, user_controller: UserController
):
    answer = run_botz("run", scenario_file(user_controller(TALKATIVE)), "--json", *options)
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["status"] == "finished"
    assert all(word in answer.err for word in ("imported", "reset", "update"))


@pytest.mark.parametrize("options", [[], ["--realtime", "20"]])
def test_a_failing_controller_shows_its_own_traceback(
    options: list[str],
    run_botz: Botz,
    scenario_file: ScenarioFile,
    user_controller: UserController,
    tmp_path: Path,
):
    answer = run_botz("run", scenario_file(user_controller(FAILING)), "--out", "run", "--json", *options)
    assert answer.code == 1
    summary = json.loads(answer.out)
    assert summary["status"] == "failed" and "lost the map" in summary["error"]
    assert f'{tmp_path / "mine.py"}", line 8, in update' in answer.err
    assert 'raise RuntimeError("lost the map")' in answer.err
    assert "controller 'mine'" in answer.err and "t = 0.5 s" in answer.err
    assert answer.err.count("File ") == 1, "only the user's own frames"
    rec = read(tmp_path / "run")
    assert rec.complete and rec.steps()[-1] == 500


def test_a_divergence_is_exit_code_one(botz: Botz, scenario_file: ScenarioFile, tmp_path: Path):
    wheel = {"radius": 1e10}
    changes = {
        "robots": {"duo": {"wheels": {"left": wheel, "right": wheel}}},
        "controllers": {"drive": {"command": {"twist": None, "left/speed": 1e308, "right/speed": -1e308}}},
    }
    answer = botz("run", scenario_file(changes), "--out", "run", "--json")
    assert answer.code == 1
    assert json.loads(answer.out)["status"] == "failed"
    assert "stopped being finite at t = 0.001 s" in answer.err and "duo/" in answer.err and "command" in answer.err
    assert (tmp_path / "run" / "diverged.csv").read_text().startswith("step,time,duo/pose.x")


def test_an_impossible_command_names_its_controller_and_line(botz: Botz, scenario_file: ScenarioFile, tmp_path: Path):
    file = scenario_file({"controllers": {"drive": {"command": {"twist": [0.0, 1.0, 0.0]}}}})
    answer = botz("run", file, "--out", "run")
    assert answer.code == 2 and "Traceback" not in answer.err
    assert re.match(r"small\.yaml:\d+: controllers\.drive: .*cannot move", answer.err)
    assert not (tmp_path / "run").exists()


# --- replay ------------------------------------------------------------------------------------------------


def test_replay_says_whether_it_is_identical(botz: Botz, scenario_file: ScenarioFile, tmp_path: Path):
    assert botz("run", scenario_file(NOISY), "--out", "run").code == 0
    answer = botz("replay", "run")
    assert answer.code == 0 and answer.out.startswith("identical: 101 recorded rows")
    result = json.loads(botz("replay", "run", "--json").out)
    assert result["identical"] is True and result["rows"] == 101


def test_replay_of_an_altered_recording_is_exit_code_one(botz: Botz, scenario_file: ScenarioFile, tmp_path: Path):
    from botz.record.reader import Recording
    from botz.record.writer import RecordingWriter

    assert botz("run", scenario_file(NOISY), "--out", "run").code == 0
    rec: Recording = read(tmp_path / "run")
    writer = RecordingWriter(tmp_path / "altered.mcap", rec.header, rec.channels, rec.inputs, rec.streams)
    rows = np.hstack([rec[c.name].reshape(len(rec.steps()), -1) for c in rec.channels])
    rows[50, 0] += 1e-9
    writer.write_rows(0, rec.steps(), rows)
    for step, values, source in zip(*rec.commands("duo"), strict=True):
        writer.write_command(int(step), "duo", values, source)
    writer.close({})
    answer = botz("replay", "altered.mcap")
    assert answer.code == 1 and "different: first at t = 0.5 s in duo/pose" in answer.out
    result = json.loads(botz("replay", "altered.mcap", "--json").out)
    assert result["identical"] is False and result["largest_difference"] == pytest.approx(1e-9)


# --- what the library offers --------------------------------------------------------------------------------


def test_the_demo_runs_and_draws(run_botz: Botz, tmp_path: Path):
    answer = run_botz("demo", "--json", "--out", "demo")
    assert answer.code == 0, answer.err
    result = json.loads(answer.out)
    assert result["status"] == "finished"
    assert (tmp_path / "demo" / "recording.mcap").is_file()
    assert (tmp_path / result["plot"]).read_bytes().startswith(b"\x89PNG")
    if "no film" not in answer.err:  # a machine without graphics still gets the rest
        assert (tmp_path / result["video"]).stat().st_size > 10_000


def test_a_new_project_runs(run_botz: Botz, botz: Botz, tmp_path: Path):
    answer = botz("new", "mine")
    assert answer.code == 0
    commands = [line.split() for line in answer.out.splitlines() if line.startswith("  ")]
    assert [command[1] for command in commands] == ["run", "mine/plot.py", "run"]
    assert botz("check", "mine/scenario.yaml").code == 0
    answer = run_botz(*commands[0][1:])
    assert answer.code == 0, answer.err
    plotted = subprocess.run([sys.executable, *commands[1][1:]], cwd=tmp_path, capture_output=True, text=True)
    assert plotted.returncode == 0, plotted.stderr
    assert any(file.suffix == ".png" for file in tmp_path.rglob("*"))
