"""tools/compare_bits.py: nothing differs where nothing was changed, and whatever was changed is found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHORT = ("--only", "castor-tractrix", "--duration", "0.05", "--jobs", "1")


def run(*words: str | Path, root: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(one) for one in (sys.executable, root / "tools" / "compare_bits.py", *words)]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=False, env={**os.environ, **environment}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hashes of a scenario, twice, and of the same one with another parameter."""
    folder = tmp_path_factory.mktemp("bits")
    for name, changes in (("one", ()), ("two", ()), ("other", ("--set", "robots.cart.wheels.castor.offset=-0.061"))):
        done = run("hash", *SHORT, *changes, "-o", folder / f"{name}.json")
        assert done.returncode == 0, done.stderr
    return folder


def test_the_same_source_twice_has_the_same_bits(folder: Path):
    done = run("compare", folder / "one.json", folder / "two.json")
    assert (done.returncode, done.stdout) == (0, "no difference in 2 runs\n"), done.stderr
    runs = json.loads((folder / "one.json").read_text("utf-8"))
    assert list(runs) == ["castor-tractrix"]
    assert set(runs["castor-tractrix"]) == {"arc", "rk4"}
    for found in runs["castor-tractrix"].values():
        assert found["cart/pose"][1] == "<f8 11x3"
        assert {"command: cart/left/speed", "/tf", "state: rng/state/state", "summary: steps"} <= set(found)
        assert "summary: wall_s" not in found
    assert runs["castor-tractrix"]["arc"] != runs["castor-tractrix"]["rk4"]


def test_a_changed_parameter_is_found(folder: Path):
    done = run("compare", folder / "one.json", folder / "other.json")
    assert done.returncode == 1, done.stderr
    assert "castor-tractrix, arc: " in done.stdout
    assert "castor-tractrix, rk4: " in done.stdout
    assert "different  cart/castor/steering" in done.stdout
    assert "the last sample is off by" in done.stdout
    assert "2 of 2 runs differ" in done.stdout
    assert run("compare", folder / "one.json", folder / "other.json", "--ignore", "*").returncode == 0


def test_renamed_channels_are_mapped(folder: Path):
    runs = json.loads((folder / "one.json").read_text("utf-8"))
    for found in runs["castor-tractrix"].values():
        found["cart/place"] = found.pop("cart/pose")
        found["cart/novel"] = found["cart/place"]
        del found["/tf"]
    runs["castor-tractrix"]["exact"] = runs["castor-tractrix"].pop("arc")
    new, names = folder / "renamed.json", folder / "map.json"
    new.write_text(json.dumps(runs), encoding="utf-8")
    done = run("compare", folder / "one.json", new)
    assert done.returncode == 1
    assert "castor-tractrix, arc: 1 missing\n    missing    (the whole run)" in done.stdout
    assert "castor-tractrix, exact: 1 added" in done.stdout
    assert "missing    cart/pose   cart/place is new and has the same bits" in done.stdout
    assert '{\n  "*/pose": "*/place"\n}' in done.stdout
    given = {"channels": {"*/pose": "*/place", "/tf": None}, "methods": {"arc": "exact"}, "added": ["*/novel"]}
    names.write_text(json.dumps(given), encoding="utf-8")
    assert run("compare", folder / "one.json", new, "--renamed", names).stdout == "no difference in 2 runs\n"


def test_a_run_that_fails_alike_in_both_is_no_success(tmp_path: Path):
    done = run("hash", *SHORT, "--set", "robots.cart.pose=nowhere", "-o", tmp_path / "failed.json")
    assert "ended by an error" in done.stderr
    done = run("compare", tmp_path / "failed.json", tmp_path / "failed.json")
    assert done.returncode == 1
    assert "failed     error  " in done.stdout
    assert "robots.cart.pose" in done.stdout


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("compare", "nowhere.json", "nowhere.json"), "nowhere.json cannot be read"),
        (("compare", __file__, __file__), "does not hold hashes; make it by: compare_bits.py hash -o"),
        (("hash", "-o", "x.json", "--only", "nothing-of-this-name"), "botz list names them all"),
        (("hash", "-o", "x.json", "--set", "seed"), "--set seed: write KEY=VALUE"),
        (("hash", "-o", "x.json", "--source", "nowhere"), "nowhere holds no package botz"),
    ],
)
def test_mistakes_are_said(words: tuple[str, ...], remedy: str):
    done = run(*words)
    assert done.returncode == 2
    assert remedy in done.stderr
    assert "Traceback" not in done.stderr


def test_a_commit_and_the_working_tree_after_it(own_checkout: Path, tmp_path: Path):
    """In a repository of its own, uncompiled: a changed constant is found, and hashes of commits are kept."""

    def compare() -> subprocess.CompletedProcess[str]:
        words = ("commits", "HEAD", *SHORT, "--keep", tmp_path / "kept")
        return run(*words, root=own_checkout, NUMBA_DISABLE_JIT="1")

    done = compare()
    assert (done.returncode, done.stdout) == (0, "no difference in 2 runs\n"), done.stderr
    changed = own_checkout / "src" / "botz" / "physics" / "wheels" / "constraints.py"
    text = changed.read_text("utf-8")
    assert text.count("-across / offset") == 1
    changed.write_text(text.replace("-across / offset", "-across / offset * 1.0000001"), encoding="utf-8")
    done = compare()
    assert done.returncode == 1, done.stderr
    assert "different  cart/castor/steering" in done.stdout
    assert ", kept" in done.stderr
