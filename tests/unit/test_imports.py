"""Imports go downward only, physics knows of ours only kernels and rotations, and help starts without NumPy."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import botz
from botz.kernel_cache import ROOMS_WITHOUT_KERNELS

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
try:
    from import_graph import LEVELS, PACKAGE, files_of, graph, imports_of
finally:
    sys.path.remove(str(TOOLS))

HEAVY = ("numpy", "numba", "matplotlib", "pydantic", "scipy", "yaml", "pyarrow", "pint")


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
    upward = [
        f"{file.relative_to(PACKAGE)}:{line} imports {other}"
        for file in files_of(room)
        for line, other in imports_of(file)
        if other != room and LEVELS[other] >= LEVELS[room]
    ]
    assert upward == []


def test_physics_imports_nothing_of_ours_but_kernels_and_rotations():
    found = {other for file in (PACKAGE / "physics").rglob("*.py") for _, other in imports_of(file)}
    assert found <= {"physics", "kernels", "rotations"}


def test_the_rule_sees_what_it_should(monkeypatch: pytest.MonkeyPatch):
    file = PACKAGE / "physics" / "invented.py"
    text = (
        "from botz import run\nimport botz.view.plots\ndef f():\n    from ..sim import loop\n    from botz import load"
    )
    monkeypatch.setattr(Path, "read_text", lambda self, encoding=None: text)
    assert [room for _, room in imports_of(file)] == ["run", "view", "sim", "__init__"]


def test_the_record_of_a_family_says_where_its_code_is():
    assert "engines" not in graph()["scenario"], "records name code of higher rooms as text only"


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


@pytest.mark.parametrize("scenario", ["castor-tractrix", "quadrotor-square", "soccer", "titan4-line", "vivi-rough"])
def test_a_scenario_brings_the_schema_of_its_own_family_only(scenario: str):
    code = f"import sys, botz; print(botz.load({scenario!r}).spec.engine, *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    family, *modules = done.stdout.split()
    schemas = {name for name in modules if re.fullmatch(r"botz\.scenario\.\w+\.schema", name)}
    assert schemas == {f"botz.scenario.{family}.schema"}


def test_the_api_is_small_and_complete():
    assert set(botz.__all__) == set(dir(botz))
    for name in botz.__all__:
        assert getattr(botz, name) is not None
    assert {"load", "simulate", "Simulation", "read", "Recording"} <= set(botz.__all__)
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = botz.simulat  # type: ignore[attr-defined]
