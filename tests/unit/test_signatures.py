"""Compiled functions take few arguments: arrays come as records, plain numbers that belong together as tuples."""

from __future__ import annotations

import ast
from pathlib import Path

import botz

MOST = 12
DECORATORS = {"compiled", "inlined", "njit"}
NOT_YET = {
    "engines/arm/boxes.py:press_boxes",
    "engines/arm/contacts.py:press_on_plane",
    "engines/arm/rows.py:put_axes",
    "engines/arm/rows.py:observe_row",
    "engines/arm/servo.py:servo_torques",
    "engines/arm/step.py:arm_accelerations",
    "engines/arm/step.py:rates_of_all",
    "engines/arm/step.py:integrate",
    "engines/arm/step.py:advance_arms",
    "engines/arm/step.py:observe_arms",
    "engines/arm/touch.py:place_points",
    "engines/arm/touch.py:press_tool",
    "engines/kinematics/step.py:advance_robots",
    "engines/multibody/step.py:advance_world",
    "engines/multibody/step.py:observe_world",
    "engines/multibody/step.py:read_first",
    "engines/vehicle/forces.py:forces",
    "engines/vehicle/step.py:advance_vehicles",
    "engines/vehicle/step.py:repeat_stage",
    "physics/arm/dh.py:add_force",
    "physics/contact/ground.py:search_all",
    "physics/contact/ground.py:search_near",
    "physics/contact/penalty.py:penalty_force",
    "physics/contact/penalty.py:penalty_rates",
    "physics/wheels/contact_search.py:newton_in_cell",
    "robots/wheel_inverse.py:solve_inverse",
}
"""Functions that still take more. An entry goes when its function no longer needs it."""


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
    long = {name: count for name, count in counts.items() if count > MOST}
    assert {name: count for name, count in long.items() if name not in NOT_YET} == {}
    assert NOT_YET - long.keys() == set(), "no longer needed: take them off the list"
