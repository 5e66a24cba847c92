"""Compiled functions take few arguments: arrays come as records, plain numbers that belong together as tuples."""

from __future__ import annotations

import ast
from pathlib import Path

import botz

MOST = 12
DECORATORS = {"compiled", "inlined", "on_lanes", "of_lane", "njit"}


def is_compiled(function: ast.FunctionDef) -> bool:
    """Whether it is decorated by one of these, with or without options."""
    for decorator in function.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) in DECORATORS:
            return True
    return False


def arguments(function: ast.FunctionDef) -> int:
    given = function.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def test_no_compiled_function_takes_more_than_a_dozen_arguments():
    root = Path(botz.__file__).parent
    counts = {}
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and is_compiled(node):
                counts[f"{path.relative_to(root).as_posix()}:{node.name}"] = arguments(node)
    assert len(counts) > 300, "the decorators have other names by now"
    assert {name: count for name, count in counts.items() if count > MOST} == {}
