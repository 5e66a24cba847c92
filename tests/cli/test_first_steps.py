"""What somebody new to the command line meets: help, lists, and answers to mistakes that beginners make."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
import yaml
from common import Answer, ScenarioFile

from botz.cli.main import GROUPS, app
from botz.private_folder import user_mark

Botz = Callable[..., Answer]


def commands() -> list[list[str]]:
    """Every command, those of groups as well."""
    root = typer.main.get_command(app)
    found = []
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        found += [[name, below] for below in command.commands] if hasattr(command, "commands") else [[name]]
    return found


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_help_shows_every_word_and_no_type_of_flags(botz: Botz, command: list[str]):
    root = typer.main.get_command(app)
    for name in command:
        root = root.commands[name]  # type: ignore[attr-defined]
    shown = " ".join(botz(*command, "--help").out.split())
    assert "<bool>" not in shown
    for parameter in root.params:
        if text := getattr(parameter, "help", None):
            assert "".join(text.split()) in "".join(shown.split())  # lines are also broken inside long words


def test_every_command_is_listed_under_a_heading(botz: Botz):
    shown = botz("--help").out
    below = shown[shown.index(f"{GROUPS[0]}:") :]
    for heading in GROUPS:
        assert f"\n{heading}:\n" in "\n" + below
    listed = {line.split()[0] for line in below.splitlines() if line.startswith("  ") and not line.startswith("   ")}
    assert {command[0] for command in commands()} <= listed


@pytest.mark.parametrize(
    "command",
    [
        ["run"],
        ["demo"],
        ["video"],
        ["plot"],
        ["export"],
        ["compare"],
        ["mesh"],
        ["wheels"],
        ["terrain"],
        ["thrust-fit"],
    ],
)
def test_outputs_have_one_spelling(botz: Botz, command: list[str]):
    shown = botz(*command, "--help").out
    assert "-o, --out" in shown
    assert "--output" not in shown


def test_list_by_engine_and_by_word(botz: Botz):
    vehicles = json.loads(botz("list", "vehicle", "--json").out)
    assert {entry["engine"] for kind in vehicles.values() for entry in kind} == {"vehicle"}
    quadrotors = json.loads(botz("list", "quadrotor", "--json").out)
    assert "quadrotor" in [entry["name"] for entry in quadrotors["robots"]]
    for words in ("drone", "Quadricoptero", "square quadrotor"):  # found as in the lab
        drones = json.loads(botz("list", words, "--json").out)
        assert "quadrotor-square" in [entry["name"] for entry in drones["scenarios"]], words
        assert {entry["engine"] for kind in drones.values() for entry in kind} == {"multibody"}, words
    nothing = botz("list", "vehicel")
    assert nothing.code == 2 and "did you mean 'vehicle'" in nothing.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "titan4"], "is a robot of engine 'arm'"),
        (["run", "robot.yaml"], "is a robot file"),
        (["run", "short.yaml"], "is a robot file"),
        (["lab", "short.yaml"], "is a robot file"),
        (["check", "timed.yaml"], "'differential' is a robot of engine 'kinematics'"),
        (["run", "arm.urdf"], "is a model file"),
        (["check", "arm.urdf"], "is a model file"),
        (["ik", "arm.urdf", "--pose", "1 0 0 0 0 0"], "a robot file of engine multibody names it"),
        (["run", "ran"], "is a recording; `botz replay ran` runs it again"),
        (["run", "ran/recording.mcap"], "is a recording"),
        (["run", "mine.py"], "is a Python program"),
        (["ik", "titan4-line", "--pose", "1 0 0 0 0 0"], "is a scenario"),
        (["plot", "vivi-rough"], "run it first (botz run vivi-rough"),
        (["plot", "robot.yaml"], "is no recording but a scenario or a robot; run it first (botz run robot.yaml --out"),
        (["plot", "robot"], "'robot.yaml' is a scenario: run it first (botz run robot.yaml --out FOLDER)"),
        (["info", "vivi-rough"], "run it first (botz run vivi-rough"),
        (["run", "differential-circle", "--duration", "2,5 s"], 'write a decimal point, "2.5 s"'),
        (["run", "differential-circle", "--open"], "add --lab"),
        (["demo", "--headless", "--open"], "is for the lab, which --headless leaves out"),
        (["demo", "--json", "--port", "8000"], "is for the lab, which --json leaves out"),
    ],
)
def test_mistakes_of_beginners_have_messages_of_their_own(botz: Botz, tmp_path: Path, arguments, words):
    (tmp_path / "robot.yaml").write_text("engine: kinematics\nextends: differential\nwheels: {left: {radius: 0.1}}\n")
    (tmp_path / "short.yaml").write_text("extends: differential\n")
    (tmp_path / "timed.yaml").write_text("engine: kinematics\nextends: differential\ntime: {duration: 1 s}\n")
    (tmp_path / "mine.py").write_text("print('never run')")
    (tmp_path / "arm.urdf").write_text("<robot name='arm'/>")
    (tmp_path / "ran").mkdir()
    (tmp_path / "ran" / "recording.mcap").write_bytes(b"\x89MCAP0\r\n")
    answer = botz(*arguments)
    assert answer.code == 2
    assert words in answer.err
    assert len(answer.err.splitlines()) == 1
    assert "never run" not in answer.out


@pytest.mark.parametrize(("rate", "step"), [(300, "1 ms"), (30, "1 ms"), (3, "1 ms"), (7, "0.7 ms"), (999, "10 us")])
def test_rates_that_are_offered_fit(botz: Botz, scenario_file: ScenarioFile, rate: float, step: str):
    file = scenario_file({"time": {"step": step, "duration": "0.7 s"}, "controllers": {"drive": {"rate": None}}})
    text = yaml.safe_load(file.read_text())
    text["controllers"] = {}
    file.write_text(yaml.safe_dump(text))
    refused = botz("check", file, "--set", f"record.rate={rate}")
    assert refused.code == 2 and "record.rate" in refused.err
    line = next(line for line in refused.err.splitlines() if "record.rate" in line)
    offered = [part.removesuffix(" Hz") for part in line.split("nearest: ")[1].split(" or ")]
    assert len(offered) == 2 and float(offered[0]) < rate < float(offered[1])
    for other in offered:
        assert "record.rate" not in botz("check", file, "--set", f"record.rate={other}").err


def test_angle_without_unit_that_looks_like_degrees_is_doubted(botz: Botz, scenario_file: ScenarioFile):
    file = scenario_file({"robots": {"duo": {"pose": [0, 0, 90]}}})
    answer = botz("check", file)
    assert answer.code == 0
    assert "warning: " in answer.err and 'write "90 deg" or "90 rad"' in answer.err
    for good in ('"90 deg"', '"90 rad"', "1.57"):
        assert "warning" not in botz("check", file, "--set", f"robots.duo.pose=[0,0,{good}]").err


def test_doubt_about_an_option(botz: Botz):
    assert 'write "90 deg"' in botz("wheels", "differential", "--heading", "90").err
    assert "warning" not in botz("wheels", "differential", "--heading", "90 deg").err


def test_doubt_about_a_pose_on_the_command_line(botz: Botz):
    pose = "0.6 0.2 0.3 {} 0 0"
    doubted = botz("ik", "puma560", "--pose", pose.format("90"), "--no-limits")
    assert "warning: --pose, value 4: 90 without a unit means 90 rad" in doubted.err
    assert "warning" not in botz("ik", "puma560", "--pose", pose.format("90deg"), "--no-limits").err


def test_heading_without_unit_in_a_pose_with_keys_is_doubted(botz: Botz, scenario_file: ScenarioFile):
    file = scenario_file({"robots": {"duo": {"pose": {"heading": 90}}}})
    assert "robots.duo.pose.heading: 90 without a unit means 90 rad" in botz("check", file).err


def test_arm_limits_answer_in_the_unit_that_was_written(botz: Botz):
    outside = botz("check", "puma-wave", "--set", 'robots.puma.start=["200 deg",0,0,0,0,0]')
    assert "'200 deg' is outside the range of" in outside.err
    assert "160 deg" in outside.err
    bare = botz("check", "puma-wave", "--set", "robots.puma.start=[90,0,0,0,0,0]")
    assert "90 is outside the range of waist, -2.79253 rad to 2.79253 rad; 90 without a unit" in bare.err
    order = botz("check", "puma-wave", "--set", 'robots.puma.joints.waist.range=["90 deg", "45 deg"]')
    assert "'90 deg' is not below '45 deg'" in order.err


def test_new_prints_commands_that_work(botz: Botz, tmp_path: Path):
    answer = botz("new", "mine")
    lines = [line.strip() for line in answer.out.splitlines() if line.startswith("  ")]
    assert len(lines) == 3
    for line in lines[:2]:
        done = subprocess.run(shlex.split(line), cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "path.png").is_file()


def test_new_without_an_installed_command_prints_pythons_way(
    botz: Botz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BOTZ_LAUNCHER", raising=False)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    lines = botz("new", "mine").out.splitlines()
    assert lines[1].split()[:4] == [str(tmp_path / "python"), "-m", "botz", "run"]


def test_doctor_finds_this_installation_good(botz: Botz):
    answer = botz("doctor", "--json")
    findings = {finding["part"]: finding for finding in json.loads(answer.out)}
    for part in ("python", "kernel cache", "physics", "shared memory", "loopback"):
        assert findings[part]["good"], findings[part]
    assert all(finding["good"] or finding["remedy"] for finding in findings.values())


def test_doctor_names_remedies(botz: Botz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUJOCO_GL", "no-such-backend")
    answer = botz("doctor")
    assert answer.code == 1
    assert "PROBLEM  films" in answer.out and "remedy: sudo apt install" in answer.out


@pytest.mark.skipif(os.name != "posix", reason="symbolic links need rights elsewhere")
def test_doctor_names_remedies_for_what_cannot_be_tried_at_all(
    botz: Botz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refused(*arguments: object, **options: object) -> None:
        raise PermissionError("Operation not permitted")

    (tmp_path / f"botz-{user_mark()}").symlink_to(tmp_path)
    monkeypatch.setenv("BOTZ_SHM_DIR", str(tmp_path))
    monkeypatch.setattr("socket.create_server", refused)
    findings = {finding["part"]: finding for finding in json.loads(botz("doctor", "--json").out)}
    assert "is a symbolic link" in findings["shared memory"]["text"]
    assert "BOTZ_SHM_DIR" in findings["shared memory"]["remedy"]
    assert findings["loopback"]["text"] == "Operation not permitted"
    assert "firewall" in findings["loopback"]["remedy"]
