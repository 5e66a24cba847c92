"""Imports go downward only, physics knows nothing of ours but frames, and the command line starts without NumPy."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import botz
from botz.kernel_cache import ROOMS_WITHOUT_KERNELS

PACKAGE = Path(botz.__file__).parent
LEVELS = {
    "errors": 0, "interrupts": 0, "private_folder": 0, "kernel_files": 0, "kernel_cache": 1, "scenario": 1,
    "frames": 2, "physics": 3, "scene": 4, "engines": 5, "control": 6, "sim": 7, "record": 8, "run": 9, "replay": 10,
    "__init__": 11, "links": 12, "view": 13, "verify": 14, "bench": 14, "cli": 15, "__main__": 16,
}  # fmt: skip
"""A room may import rooms of a lower level, and itself. `import botz` is the level of `__init__`."""
HEAVY = ("numpy", "numba", "matplotlib", "pydantic", "scipy", "yaml", "pyarrow", "pint")


def room_of(module: str) -> str:
    """`physics` of `botz.physics.dh`; `__init__` of `botz` itself and of the names it offers."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(file: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every import of ours in a file, at its top or inside a function. Those for type checkers
    alone count as well: they are part of what a reader must know."""
    module = ".".join(["botz", *file.relative_to(PACKAGE).with_suffix("").parts])
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "botz":
                    yield node.lineno, room_of(name.name)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                source = ".".join([*module.split(".")[: -node.level], *filter(None, [source])])
            if source == "botz":
                for name in node.names:
                    yield node.lineno, name.name if name.name in LEVELS else "__init__"
            elif source.startswith("botz."):
                yield node.lineno, room_of(source)


SOURCES = sorted(PACKAGE.rglob("*.py"))


def test_every_room_has_a_level():
    rooms = {file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in SOURCES}
    assert rooms <= set(LEVELS), rooms - set(LEVELS)


@pytest.mark.parametrize("room", sorted(LEVELS))
def test_imports_go_downward(room: str):
    if room == "__init__":
        # It offers names of lower rooms and imports them when they are asked for.
        assert all(LEVELS[other] < LEVELS["__init__"] for _, other in imports_of(PACKAGE / "__init__.py"))
        return
    files = [file for file in SOURCES if file.relative_to(PACKAGE).parts[0].removesuffix(".py") == room]
    upward = [
        f"{file.relative_to(PACKAGE)}:{line} imports {other}"
        for file in files
        for line, other in imports_of(file)
        if other != room and LEVELS[other] >= LEVELS[room]
    ]
    assert upward == []


def test_physics_imports_nothing_of_ours_but_frames():
    found = {other for file in (PACKAGE / "physics").rglob("*.py") for _, other in imports_of(file)}
    assert found <= {"physics", "frames"}


def test_the_rule_sees_what_it_should(monkeypatch: pytest.MonkeyPatch):
    file = PACKAGE / "physics" / "invented.py"
    text = (
        "from botz import run\nimport botz.view.plots\ndef f():\n    from ..sim import loop\n    from botz import load"
    )
    monkeypatch.setattr(Path, "read_text", lambda self, encoding=None: text)
    assert [room for _, room in imports_of(file)] == ["run", "view", "sim", "__init__"]


def test_rooms_without_kernels_have_none():
    with_kernels = [
        str(file.relative_to(PACKAGE))
        for file in SOURCES
        if file.relative_to(PACKAGE).parts[0] in ROOMS_WITHOUT_KERNELS
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(name.split(".")[0] == "numba" for name in imported(node))
    ]
    assert with_kernels == []
    assert any("njit" in file.read_text(encoding="utf-8") for file in (PACKAGE / "physics").rglob("*.py"))


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [name.name for name in node.names] if isinstance(node, ast.Import) else [node.module or ""]


@pytest.mark.parametrize(
    "code", ["import botz", "from botz.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass"]
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str):
    report = f"{code}\nimport json, sys\nprint(json.dumps([m for m in {HEAVY!r} if m in sys.modules]), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    assert json.loads(done.stderr.splitlines()[-1]) == []


def test_the_api_is_small_and_complete():
    assert set(botz.__all__) == set(dir(botz))
    for name in botz.__all__:
        assert getattr(botz, name) is not None
    assert {"load", "simulate", "Simulation", "read", "Recording"} <= set(botz.__all__)
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = botz.simulat  # type: ignore[attr-defined]
