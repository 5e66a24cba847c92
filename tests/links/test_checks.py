"""tools/checks.py, what `./botz test` runs, with stand-ins for the tools that it calls."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKS = Path(__file__).resolve().parents[2] / "tools" / "checks.py"

STAND_IN = """\
import os, sys
mode = "uncompiled" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "compiled"
told = " ".join([{name!r}, *sys.argv[1:], mode])
print(told, flush=True)
sys.exit(1 if os.environ["FAILING"] and told.startswith(os.environ["FAILING"]) else 0)
"""


def run_checks(tmp_path: Path, *args: str, failing: str = "") -> subprocess.CompletedProcess[str]:
    tools = tmp_path / "tools"
    tools.mkdir()
    shutil.copy(CHECKS, tools)
    for name in ("ruff", "mypy", "pytest", "tools/compile_kernels", "tools/build_web"):
        (tmp_path / f"{name}.py").write_text(STAND_IN.format(name=name))
    environ = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    return subprocess.run(
        [sys.executable, tools / "checks.py", *args],
        cwd=tmp_path,
        env=environ | {"PYTHONPATH": str(tmp_path), "FAILING": failing},
        capture_output=True,
        text=True,
        check=False,
    )


def calls(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if line and not line.startswith("==")]


def test_every_check_runs_and_pytest_is_last(tmp_path: Path):
    done = run_checks(tmp_path)
    assert done.returncode == 0, done.stderr
    first, last = calls(done)[:-1], calls(done)[-1]
    assert sorted(first) == [
        "mypy compiled",
        "pytest -q tests/unit/physics uncompiled",
        "ruff check . compiled",
        "ruff format --check . compiled",
        "tools/build_web --check compiled",
        "tools/compile_kernels compiled",
    ]
    assert re.match(r"pytest -n \d+ --dist loadfile ", last) and last.endswith(" tests compiled")
    assert done.stdout.endswith(f"{last}\n")


def test_what_runs_side_by_side_is_shown_check_by_check(tmp_path: Path):
    shown = [re.sub(r" \(\d+ s\)$", "", line) for line in run_checks(tmp_path).stdout.splitlines() if line]
    told = dict(zip(shown[::2], shown[1::2], strict=True))
    assert set(told) == {
        "== ruff check",
        "== ruff format",
        "== mypy",
        "== the lab's page",
        "== kernels compile",
        "== pytest, physics uncompiled",
        "== pytest",
    }
    assert told["== mypy"] == "mypy compiled"
    assert told["== pytest, physics uncompiled"].endswith("uncompiled")


@pytest.mark.parametrize(
    "failing", ["ruff check", "ruff format", "mypy", "tools/build", "tools/compile", "pytest -q", "pytest -n"]
)
def test_one_failure_fails_the_whole_but_stops_nothing(tmp_path: Path, failing: str):
    done = run_checks(tmp_path, failing=failing)
    assert done.returncode == 1
    assert len(calls(done)) == 7
    assert ("failed so far" in done.stdout) == (failing != "pytest -n")


def test_fast_leaves_long_tests_out(tmp_path: Path):
    done = run_checks(tmp_path, "--fast")
    assert done.returncode == 0, done.stderr
    *first, last = calls(done)
    assert first == ["ruff check . compiled", "ruff format --check . compiled", "mypy compiled"]
    assert "-m not slow" in last and "--ignore=tests/browser" in last and last.endswith(" tests compiled")


def test_with_arguments_only_pytest_runs(tmp_path: Path):
    assert calls(run_checks(tmp_path, "-k", "a b")) == ["pytest -k a b compiled"]


def test_pytests_exit_code_is_handed_on(tmp_path: Path):
    assert run_checks(tmp_path, "-x", failing="pytest").returncode == 1
