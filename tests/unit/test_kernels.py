"""What compiled code is made of: few arguments, `math` and plain numbers, and no more than a thread of a GPU has."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import botz

ROOT = Path(botz.__file__).parent
MOST = 12
DECORATORS = {"compiled", "inlined", "on_lanes", "of_lane", "njit"}
PLAIN = [
    "physics", "engines/kinematics", "engines/vehicle", "engines/soccer", "engines/arm", "kernels.py", "rotations.py"
]  # fmt: skip
"""Where functions may be called by any thread. Elements and sensors of `multibody` call MuJoCo by addresses."""
TYPES = {"int64", "uint64", "float64"}
ROUNDING = {"floor", "ceil"}
"""Of NumPy in the choice of an arm's solutions, no stage of a step: those of `math` go to an integer and back."""


def is_compiled(function: ast.FunctionDef) -> bool:
    """Whether it is decorated by one of these, with or without options."""
    for decorator in function.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) in DECORATORS:
            return True
    return False


def kernels_in(file: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and is_compiled(node):
            yield node


def files_in(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def arguments(function: ast.FunctionDef) -> int:
    given = function.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def what_is_not_plain(function: ast.FunctionDef, arrays: set[str], allowed: set[str]) -> Iterator[str]:
    for node in (node for statement in function.body for node in ast.walk(statement)):
        match node:
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if name not in allowed:
                yield f"np.{name}"
            case ast.Attribute(attr="ctypes" | "data" as name):
                yield f".{name}"
            case ast.Name(id=name) if name in arrays or name in {"carray", "farray"}:
                yield name
            case ast.Raise() | ast.Try() | ast.Assert() | ast.With() | ast.Yield():
                yield type(node).__name__.lower()
            case ast.List() | ast.ListComp() | ast.Dict() | ast.Set():
                yield "a list, a mapping or a set"


def arrays_of(file: Path) -> set[str]:
    """Names of a module that are arrays."""
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
    return {name for name, value in vars(module).items() if isinstance(value, np.ndarray)}


def test_no_compiled_function_takes_more_than_a_dozen_arguments():
    counts = {
        f"{file.relative_to(ROOT).as_posix()}:{kernel.name}": arguments(kernel)
        for file in files_in(ROOT)
        for kernel in kernels_in(file)
    }
    assert len(counts) > 300, "the decorators have other names by now"
    assert {name: count for name, count in counts.items() if count > MOST} == {}


@pytest.mark.parametrize("place", PLAIN)
def test_kernels_use_plain_numbers_and_math(place: str):
    wrong = {
        f"{file.relative_to(ROOT).as_posix()}:{kernel.name}": found
        for file in files_in(ROOT / place)
        for kernel in kernels_in(file)
        if (found := sorted(set(what_is_not_plain(kernel, arrays_of(file), allowed_in(file)))))
    }
    assert wrong == {}


def allowed_in(file: Path) -> set[str]:
    return TYPES | (ROUNDING if file.parent.name == "ik" else set())


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return np.sin(x)", ["np.sin"]),
        ("return x.ctypes.data", [".ctypes", ".data"]),
        ("return TABLE[0] * x", ["TABLE"]),
        ("if x < 0.0:\n        raise ValueError", ["raise"]),
        ("return sum([x, x])", ["a list, a mapping or a set"]),
        ("return sin(np.float64(x))", []),
    ],
)
def test_what_is_not_plain_is_seen(body: str, told: list[str]):
    function = ast.parse(f"@compiled\ndef f(x):\n    {body}\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert sorted(what_is_not_plain(function, {"TABLE"}, TYPES)) == told
