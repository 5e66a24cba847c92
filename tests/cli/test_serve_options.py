"""botz run --serve: its options, and what a run without it does not pay for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from common import Answer, ScenarioFile

from botz import read

Botz = Callable[..., Answer]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--serve", "--headless"], "--serve: opens servers, --headless none"),
        (["--serve", "--set", "links.poses.listen=20014"], "links.poses.listen: needs an IPv4 address and a port"),
        (["--serve", "--set", "links.poses.listen=localhost:1"], "links.poses.listen: needs an IPv4 address"),
        (["--serve", "--set", "links.poses.listen=127.0.0.1:70000"], "links.poses.listen: needs an IPv4 address"),
        (["--serve", "--set", "links.poses=null"], "links: all are null"),
        (["--serve", "--realtime", "0"], "--realtime"),
    ],
)
def test_wrong_options_are_bad_input(
    botz: Botz, scenario_file: ScenarioFile, tmp_path: Path, arguments: list[str], words: str
):
    scenario_file()
    answer = botz("run", "small.yaml", *arguments)
    assert answer.code == 2 and answer.out == ""
    assert words in answer.err and "Traceback" not in answer.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("options", "factor"), [([], "1.0"), (["--realtime", "20"], "20.0")])
def test_a_served_run_is_in_real_time_unless_told_otherwise(
    botz: Botz, scenario_file: ScenarioFile, tmp_path: Path, options: list[str], factor: str
):
    answer = botz(
        "run",
        scenario_file(),
        "--serve",
        "--set",
        "links.poses.listen=127.0.0.1:0",
        "--duration",
        "0.4",
        "--out",
        "run",
        "--json",
        *options,
    )
    assert answer.code == 0, answer.err
    summary = json.loads(answer.out)
    assert summary["status"] == "finished" and summary["steps"] == 400 and summary["poses_clients"] == 0
    assert summary["lateness_ticks"] > 0
    assert read(tmp_path / "run").header.info["realtime"] == factor
    assert set(json.loads((tmp_path / "run" / "links.json").read_text())) == {"poses"}
    lines = answer.err.splitlines()
    assert any(line.startswith("botz: run ") for line in lines), "same-machine readers find it by its id"
    assert any(line.split()[:1] == ["poses"] for line in lines)


@pytest.mark.parametrize("options", [[], ["--realtime", "50"], ["--headless"]])
def test_a_run_that_is_not_served_imports_no_links(scenario_file: ScenarioFile, tmp_path: Path, options: list[str]):
    code = (
        "import sys\nfrom botz.cli.main import main\n"
        f"try: main(['run', {str(scenario_file())!r}, '--json', *{options!r}])\n"
        "except SystemExit as ending: assert not ending.code, ending.code\n"
        "print([name for name in sys.modules if name.startswith('botz.endpoints')], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"
    assert not list(tmp_path.rglob("links.json"))
