"""A folder to write scenario files in, and a small library of robots and scenarios beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from botz.scenario import library

DUO = """\
engine: kinematics
description: two driven wheels
wheels:
  left: {type: fixed, position: [0, 0.1], radius: 0.05, driven: true}
  right: {type: fixed, position: [0, -0.1], radius: 0.05, driven: true}
"""
TRIKE = """\
engine: kinematics
extends: duo
description: two driven wheels and a castor
wheels:
  castor: {type: castor, position: [0.2, 0], offset: -0.03}
drives:
  axle: {wheels: [left, right]}
"""
SWIMMER = """\
engine: fluid
fins: 3
"""
CIRCLE = """\
engine: kinematics
description: >
  drives
  in circles
name: round
time: {step: 0.01, duration: 20}
robots:
  vivi: {extends: duo}
controllers:
  drive: {type: constant, robot: vivi, rate: 50, command: {twist: [0.2, 0, 0.1]}}
"""
SLOW_CIRCLE = """\
extends: circle
description: drives slowly
time: {duration: 40}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a library next to it that does not depend on what Botz ships."""
    shelf = tmp_path / "library"
    (shelf / "robots").mkdir(parents=True)
    (shelf / "scenarios").mkdir()
    for name, text in {"duo": DUO, "trike": TRIKE, "swimmer": SWIMMER}.items():
        (shelf / "robots" / f"{name}.yaml").write_text(text, encoding="utf-8")
    for name, text in {"circle": CIRCLE, "slow-circle": SLOW_CIRCLE}.items():
        (shelf / "scenarios" / f"{name}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(library, "library_folder", lambda: shelf)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    yield work


@pytest.fixture
def write(folder: Path) -> Callable[..., Path]:
    def _write(text: str | bytes, name: str = "s.yaml") -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return path

    return _write
