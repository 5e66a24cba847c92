"""tools/compare_speed.py: two versions of one speed are equal, and a slower one is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ONE = "kinematics: differential drive, arc"


def run(*words: str | Path, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [str(one) for one in (sys.executable, root / "tools" / "compare_speed.py", *words)]
    # Uncompiled: nothing has to be compiled for each version.
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=environment)


def test_slower_is_what_exceeds_three_per_cent_and_the_noise(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    from compare_speed import row_of, table
    from run_speed import cases

    case = next(case for case in cases() if case.name == ONE)
    quiet = row_of(case, [1.0e-6, 1.001e-6, 1.2e-6], [1.029e-6, 1.03e-6, 1.5e-6])
    assert not quiet.slower
    slower = row_of(case, [1.0e-6, 1.001e-6, 1.2e-6], [1.04e-6, 1.041e-6, 1.5e-6])
    assert slower.slower
    noisy = row_of(case, [1.0e-6, 1.001e-6, 1.2e-6], [1.04e-6, 1.07e-6, 1.5e-6])
    assert not noisy.slower
    assert table([slower]).splitlines()[2:] == [f"| {ONE} | 1 µs | 1.04 µs | 1.040 **slower** | 0.1 % |"]


def test_a_commit_and_a_slower_working_tree(own_checkout: Path, tmp_path: Path):
    changed = own_checkout / "src" / "botz" / "engines" / "kinematics" / "engine.py"
    text = changed.read_text("utf-8")
    begin = "    def advance(self, step: int, n: int, record_every: int, rows: np.ndarray) -> bool:\n"
    assert text.count(begin) == 1
    changed.write_text(text.replace(begin, f"{begin}        sum(range(300_000))\n"), encoding="utf-8")
    short = ("--only", ONE, "--seconds", "0.005", "--rounds", "1", "--processes", "1", "--keep", tmp_path / "kept")
    done = run("HEAD", *short, root=own_checkout)
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("**slower**") == 1
    assert "1 of 1 are slower" in done.stdout
    changed.write_text(text.replace(begin, f"{begin}        raise ValueError(1)\n"), encoding="utf-8")
    done = run("HEAD", *short, root=own_checkout)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert f"compare_speed.py: {ONE}, new: ValueError: 1" in done.stderr


def test_names_are_listed_and_wrong_ones_said():
    listed = run("--list").stdout.splitlines()
    assert ONE in listed
    assert {name.split(":")[0] for name in listed} == {"kinematics", "vehicle", "soccer", "arm", "multibody"}
    done = run("HEAD", "--only", "nothing-of-this-name")
    assert done.returncode == 2
    assert "--list names it all" in done.stderr
