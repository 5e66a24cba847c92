"""Every other command: its JSON, its exit codes, and that it runs no code of the user's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from common import Answer, ScenarioFile, UserController

from botz import simulate
from botz.scenario.families import FAMILIES

Botz = Callable[..., Answer]


@pytest.fixture
def recorded(scenario_file: ScenarioFile, tmp_path: Path) -> Path:
    """The folder of a short run."""
    return simulate(scenario_file({"time": {"duration": 0.2}}), out=tmp_path / "run").path.parent


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "no-such-thing"],
        ["check", "missing.yaml"],
        ["show", "no-such-thing"],
        ["show", "missing.yaml"],
        ["show", "small.yaml", "--set", "seed=x"],
        ["new", "small.yaml"],
        ["new", "small.yaml/below"],
        ["new", "."],
        ["info", "missing.mcap"],
        ["info", "."],
        ["info", "small.yaml"],
        ["export", "run"],
        ["export", "missing.mcap", "--csv"],
        ["export", "run", "--csv", "--mat", "--out", "x.csv"],
        ["export", "run", "--nonsense"],
        ["plot", "missing.mcap"],
        ["plot", "run", "duo/posse"],
        ["plot", "run", "--out", "plot.docx"],
        ["compare", "run"],
        ["compare", "run", "missing.mcap"],
        ["compare", "run", "small.yaml"],
        ["compare", "run", "run", "--channel", "duo/posse"],
        ["replay", "missing.mcap"],
        ["replay", "small.yaml"],
        ["wheels", "no-such-robot"],
        ["wheels", "missing.yaml"],
        ["wheels", "vivi"],
        ["verify", "no-such-family"],
        ["bench", "no-such-bench"],
        ["no-such-command"],
        ["check"],
    ],
    ids=" ".join,
)
def test_mistakes_end_with_two_and_a_message(
    arguments: list[str], botz: Botz, scenario_file: ScenarioFile, recorded: Path
):
    answer = botz(*arguments)
    assert answer.code == 2, answer.err
    assert answer.err.strip() and "Traceback" not in answer.err
    assert answer.out == ""


@pytest.mark.parametrize(
    ("arguments", "choice"),
    [
        (["show", "diferential-circle"], "differential-circle"),
        (["verify", "kinematic"], "kinematics"),
        (["bench", "kinematik"], "kinematics"),
        (["wheels", "diferential"], "differential"),
        (["plot", "run", "duo/posse"], "duo/pose"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_names_get_the_nearest(arguments: list[str], choice: str, botz: Botz, recorded: Path):
    answer = botz(*arguments)
    assert answer.code == 2 and choice in answer.err


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["list", "--json"], "scenarios"),
        (["check", "small.yaml", "--json"], "good"),
        (["show", "small.yaml", "--json"], "robots"),
        (["show", "differential", "--json"], "wheels"),
        (["schema"], "properties"),
        (["schema", "--robot"], "properties"),
        (["info", "run", "--json"], "channels"),
        (["compare", "run", "run", "--json"], "comparisons"),
        (["replay", "run", "--json"], "identical"),
        (["run", "small.yaml", "--json", "--out", "other"], "status"),
        (["wheels", "differential", "--json"], "drawing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_json_is_all_that_is_printed(arguments: list[str], key: str, botz: Botz, recorded: Path):
    answer = botz(*arguments)
    assert answer.code == 0, answer.err
    data = json.loads(answer.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    assert data[key] or data[key] == 0


def test_check_finds_all_mistakes_and_gives_them_as_json(botz: Botz, scenario_file: ScenarioFile):
    assert botz("check", scenario_file()).code == 0
    scenario_file({"seed": -1, "time": {"step": "1 kg"}, "controllers": {"drive": {"robot": "nobody"}}})
    answer = botz("check", "small.yaml", "--json")
    assert answer.code == 2
    data = json.loads(answer.out)
    assert data["good"] is False
    assert {"seed", "time.step", "controllers.drive.robot"} <= {problem["key"] for problem in data["problems"]}
    assert all(problem["file"] == "small.yaml" and problem["line"] > 0 for problem in data["problems"])
    assert len(answer.err.splitlines()) == len(data["problems"])


def test_check_finds_all_mistakes_of_a_file_that_extends_a_scenario(botz: Botz, tmp_path: Path):
    """It is never read as a robot's file, in which fewer mistakes would be found."""
    file = tmp_path / "mine.yaml"
    wrong = {"extends": "differential-circle", "seed": -1, "robots": {"rover": {"wheels": {"left": {"radius": -1}}}}}
    file.write_text(yaml.safe_dump(wrong))
    (tmp_path / "below.yaml").write_text("extends: mine.yaml\nname: below\n")
    for name in ("mine.yaml", "below.yaml"):
        answer = botz("check", name)
        assert answer.code == 2
        assert len(answer.err.splitlines()) == 2
        assert "seed" in answer.err and "robots.rover.wheels.left.radius" in answer.err


def test_check_looks_at_what_only_the_engine_knows(botz: Botz, scenario_file: ScenarioFile):
    answer = botz("check", scenario_file({"record": {"channels": ["duo/posse"]}}))
    assert answer.code == 2 and "record.channels" in answer.err and "duo/pose" in answer.err
    assert botz("check", scenario_file(), "--set", "time.duration=2 min").code == 0
    assert botz("check", scenario_file(), "--set", "time.duration=2 kg").code == 2


def test_check_takes_robot_files(botz: Botz, tmp_path: Path):
    wheel = {"type": "fixed", "position": [0, 0.1], "driven": True}
    file = tmp_path / "robot.yaml"
    file.write_text(yaml.safe_dump({"engine": "kinematics", "wheels": {"one": wheel}}))
    assert botz("check", file).code == 0
    file.write_text(yaml.safe_dump({"engine": "kinematics", "wheels": {"one": {**wheel, "radius": -1}}}))
    answer = botz("check", file)
    assert answer.code == 2 and "wheels.one.radius" in answer.err


def test_what_show_prints_is_a_scenario(botz: Botz, scenario_file: ScenarioFile, tmp_path: Path):
    shown = botz("show", scenario_file(), "--set", "seed=8")
    assert shown.code == 0
    (tmp_path / "copy.yaml").write_text(shown.out, encoding="utf-8")
    again = botz("show", "copy.yaml")
    assert yaml.safe_load(again.out) == yaml.safe_load(shown.out) and yaml.safe_load(shown.out)["seed"] == 8


def test_the_library_is_listed_and_good(botz: Botz):
    found = json.loads(botz("list", "--json").out)
    names = [entry["name"] for entry in found["scenarios"]]
    assert "wheeled-parade" in names and len(found["robots"]) >= 14
    assert all(entry["description"] for entry in found["scenarios"] + found["robots"])
    for kind in ("scenarios", "robots"):
        assert {entry["engine"] for entry in found[kind]} == set(FAMILIES)
    for name in names:
        assert botz("check", name).code == 0, name


def test_wheels_of_another_engine_are_not_its_business(botz: Botz, tmp_path: Path):
    answer = botz("wheels", "vivi")
    assert answer.code == 2
    assert "'vivi' is for engine 'vehicle'; 'wheels' shows robots of engine 'kinematics'" in answer.err
    assert not (tmp_path / "vivi.png").exists()


def test_new_makes_no_second_project_in_a_folder(botz: Botz, tmp_path: Path):
    assert botz("new", "mine").code == 0
    (tmp_path / "mine" / "controller.py").write_text("mine")
    answer = botz("new", "mine")
    assert answer.code == 2 and "not an empty folder" in answer.err
    assert (tmp_path / "mine" / "controller.py").read_text() == "mine"


def test_results_land_where_they_are_asked(botz: Botz, recorded: Path, tmp_path: Path):
    assert botz("export", "run", "--csv", "--parquet", "--mat").code == 0
    assert {file.suffix for file in recorded.iterdir()} >= {".csv", ".parquet", ".mat"}
    for name, magic in (("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")):
        assert botz("plot", "run", "duo/pose", "--out", name).code == 0
        assert (tmp_path / name).read_bytes().startswith(magic)
    assert botz("compare", "run", "run", "--out", "c.png").code == 0
    assert (tmp_path / "c.png").is_file()


@pytest.mark.parametrize("command", [["export", "run", "--csv"], ["plot", "run"], ["compare", "run", "run"]])
def test_results_that_cannot_be_written_are_explained(command: list[str], botz: Botz, recorded: Path):
    answer = botz(*command, "--out", f"small.yaml/below.{'csv' if command[0] == 'export' else 'png'}")
    assert answer.code in (1, 2)
    assert "small.yaml" in answer.err and "Traceback" not in answer.err


def test_nothing_but_run_imports_a_users_code(
    botz: Botz, scenario_file: ScenarioFile, user_controller: UserController, tmp_path: Path
):
    marker = tmp_path / "executed"
    methods = "    def reset(self, setup): ...\n    def update(self, t, measured): ..."
    text = f"open({str(marker)!r}, 'w').close()\nclass Mine:\n{methods}"
    file = scenario_file(user_controller(text), {"time": {"duration": 0.1}})
    assert botz("run", file, "--out", "run").code == 0
    assert marker.exists(), "the marker works"
    marker.unlink()
    for arguments in [
        ["check", file], ["show", file], ["list"], ["info", "run"], ["info", "run", "--json"], ["replay", "run"],
        ["plot", "run"], ["export", "run", "--csv"], ["compare", "run", "run"],
    ]:  # fmt: skip
        answer = botz(*arguments)
        assert answer.code == 0, (arguments, answer.err)
        assert not marker.exists(), arguments


def test_a_robot_cannot_bring_code_along(botz: Botz, scenario_file: ScenarioFile, tmp_path: Path):
    marker = tmp_path / "executed"
    file = scenario_file()
    file.write_text(f"engine: !!python/object/apply:os.system ['touch {marker}']\n" + file.read_text())
    for command in ("check", "show", "run"):
        assert botz(command, file).code == 2
    assert not marker.exists()


def test_help_and_version(botz: Botz):
    answer = botz("--help")
    assert answer.code == 0
    for command in ("run", "demo", "replay", "list", "check", "show", "schema", "new", "info", "export", "plot",
                    "compare", "wheels", "verify", "bench"):  # fmt: skip
        assert command in answer.out
        assert botz(command, "--help").code == 0
    assert botz("--version").out.startswith("botz")
    assert botz().code in (0, 2)


def test_verify_gives_its_checks_as_json(botz: Botz, monkeypatch: pytest.MonkeyPatch):
    from botz.verify import checks, suites

    def found(*passed: bool | None):
        return lambda name, full=False: [
            checks.Check(f"check {k}", 1.0, float("nan") if one is False else 1.0, 0.0, one, None if one else "why")
            for k, one in enumerate(passed)
        ]

    monkeypatch.setattr(suites, "run", found(True, None))
    answer = botz("verify", "kinematics", "--json")
    data = json.loads(answer.out)
    assert answer.code == 0 and data["family"] == "kinematics" and len(data["checks"]) == 2
    assert set(data["checks"][0]) == {"name", "expected", "measured", "tolerance", "passed", "skipped"}
    assert isinstance(json.loads(botz("verify", "--json").out), list)
    monkeypatch.setattr(suites, "run", found(True, False))
    answer = botz("verify", "kinematics", "--json")
    assert answer.code == 1 and json.loads(answer.out)["checks"][1]["passed"] is False
    answer = botz("verify", "kinematics")
    assert answer.code == 1 and "FAIL" in answer.out and "1 of 2" in answer.out


def test_bench_gives_its_results_as_json(botz: Botz, monkeypatch: pytest.MonkeyPatch):
    from botz.bench import results, suites

    fake = [results.rate("steps", 3e6, "1/s", target=2e6), results.duration("start", 3.0, "s", target=2.0)]
    monkeypatch.setattr(suites, "benches", lambda: {"kinematics": lambda: fake})
    data = json.loads(botz("bench", "kinematics", "--json").out)
    assert data["bench"] == "kinematics" and data["machine"]
    assert [row["met"] for row in data["results"]] == [True, False]
    keys = {"metric", "value", "unit", "target", "met", "peer", "peer_value", "ratio"}
    assert all(set(row) == keys for row in data["results"])
    assert isinstance(json.loads(botz("bench", "--json").out), list)


@pytest.mark.parametrize(
    ("controller", "words"),
    [
        ({"type": "constant", "command": {"left/sped": 3.0}}, "left/speed"),
        ({"type": "constant", "command": {"twist": [1.0, 2.0, 0.0]}}, "would slip sideways"),
        ({"type": "table", "file": "empty.csv"}, "empty.csv"),
    ],
)
def test_check_asks_the_built_in_controllers(botz, scenario_file, tmp_path, controller, words):
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    path = scenario_file({"controllers": {"drive": None, "mine": {"robot": "duo", **controller}}})
    answer = botz("check", path)
    assert answer.code == 2 and answer.out == ""
    assert "controllers.mine" in answer.err and words in answer.err and "Traceback" not in answer.err


def test_a_robot_follows_one_controller(botz, scenario_file):
    second = {"type": "constant", "robot": "duo", "command": {"twist": [0.1, 0.0, 0.0]}}
    answer = botz("check", scenario_file({"controllers": {"second": second}}))
    assert answer.code == 2
    assert "robot 'duo' already follows controller 'drive'" in answer.err


def test_a_name_of_the_recording_is_no_robot(botz, scenario_file):
    answer = botz("check", scenario_file({"robots": {"world": {"extends": "differential"}}}))
    assert answer.code == 2
    assert "robots.world: the recording itself uses the name 'world'" in answer.err
