"""The short form of tools/fuzz.py: the same damaged inputs every time, into every reader."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
try:
    import fuzz
    import fuzz_targets
finally:
    sys.path.remove(str(TOOLS))

RUNS = {"scenario": 15, "mesh-stl": 15, "mjcf": 20, "recording": 30}
FEW = 40


@pytest.mark.parametrize("name", fuzz.BY_NAME)
def test_damaged_input_gives_the_readers_own_error(name: str):
    fault = fuzz.by_hypothesis(fuzz.BY_NAME[name], RUNS.get(name, FEW))
    assert fault is None, f"{fault}\n{fault.data!r}"


@pytest.mark.parametrize("name", [name for name in fuzz.BY_NAME if name not in ("scenario", "robot", "mjcf")])
def test_examples_are_read(name: str, tmp_path: Path):
    """Damage to what is refused at once would never come far."""
    target = fuzz.BY_NAME[name]
    target.read(next(iter(target.examples())), tmp_path)


def careless(data: bytes, _: Path) -> object:
    return json.loads(data)["robots"]["0"]


PLANTED = fuzz_targets.Target("planted", careless, lambda: [b'{"robots": {"0": 1}}'], (ValueError,))


def test_a_planted_fault_is_found_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    fault = fuzz.by_hypothesis(PLANTED, 200)
    assert isinstance(fault.error, KeyError | TypeError)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(fuzz.BY_NAME, "planted", PLANTED)
    assert fuzz.main(["planted", "--engine", "hypothesis", "--seconds", "20"]) == 1
    (kept,) = (tmp_path / "fuzz-found").iterdir()
    assert f"again: python tools/fuzz.py planted fuzz-found/{kept.name}" in capsys.readouterr().out
    assert fuzz.main(["planted", str(kept)]) == 1
    kept.write_bytes(b'{"robots": {"0": 2}}')
    assert fuzz.main(["planted", str(kept)]) == 0


def test_a_search_without_a_fault_ends_and_never_feeds_the_same_twice(monkeypatch: pytest.MonkeyPatch, capsys):
    fed: list[bytes] = []
    monkeypatch.setitem(fuzz.BY_NAME, "good", PLANTED._replace(read=lambda data, _: fed.append(data)))
    clock = iter((0.0, 5.0, 10.0))
    monkeypatch.setattr(fuzz, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(fuzz, "by_hypothesis", lambda target, runs, seed: target.read(b"%d of %d" % (seed, runs), None))
    assert fuzz.main(["good", "--engine", "hypothesis", "--seconds", "10", "--seed", "3"]) == 0
    assert fed == [b"3 of 100", b"4 of 100"]
    assert "no fault found" in capsys.readouterr().out


def test_the_rooms_that_are_led_by_coverage_are_there():
    assert all(importlib.util.find_spec(name) for name in fuzz.INSTRUMENTED)


def test_a_wrong_reader_is_named(capsys):
    with pytest.raises(SystemExit):
        fuzz.main(["urdff"])
    assert "no reader 'urdff'; choose from: scenario" in capsys.readouterr().err
