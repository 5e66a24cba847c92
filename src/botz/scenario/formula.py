"""Formulas in x and y, as `0.1*sin(2*pi*x/3)*cos(y)`: read by a whitelist, evaluated on arrays, never executed.

Python's parser makes the tree; only the nodes, names and functions listed here are taken from it, and the tree is
walked by our own code. All numbers are float64, so that `9**9**9` is infinite instead of endless.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from botz.scenario.names import closest
from botz.scenario.units import show

if TYPE_CHECKING:
    import numpy as np

MAX_LENGTH = 500
MAX_DEPTH = 100
"""Levels of the tree; a sum of n terms has n of them."""

VARIABLES = ("x", "y")
CONSTANTS = {"pi": math.pi, "e": math.e}
FUNCTIONS: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sqrt", "exp", "log", "abs", "sign"), (1, 1)),
    **dict.fromkeys(("floor", "ceil", "tanh", "step"), (1, 1)),
    **dict.fromkeys(("atan2", "hypot"), (2, 2)),
    **dict.fromkeys(("min", "max"), (2, None)),
    **dict.fromkeys(("where", "clip"), (3, 3)),
}
"""The functions and how many arguments each takes, at least and at most. `log` is the natural logarithm, `step(u)` is 1
for u >= 0 and 0 otherwise, `where(condition, a, b)` and `clip(u, low, high)` are those of NumPy."""

_NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "true_divide",
    ast.Pow: "power",
    ast.Mod: "mod",
    ast.UAdd: "positive",
    ast.USub: "negative",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}
_ODD_CHARACTER = re.compile(r"[^A-Za-z0-9_.,+\-*/%<>=!()\s]")
_ALLOWED = "numbers, x, y, pi, e, + - * / ** %, comparisons and functions such as sin(x)"


@dataclass(frozen=True)
class Formula:
    """A checked formula; calling it with arrays (or numbers) gives its values, which may not be finite."""

    text: str
    _tree: ast.expr

    def __call__(self, x: Any, y: Any) -> np.ndarray:
        """Values at x and y, broadcast against each other. A part that holds only one of them stays that small."""
        import numpy as np

        variables = {"x": np.asarray(x, np.float64), "y": np.asarray(y, np.float64)}
        with np.errstate(all="ignore"):
            value = _value(self._tree, variables)
            return np.asarray(value + np.zeros(np.broadcast_shapes(*(entry.shape for entry in variables.values()))))


def parse(text: str) -> Formula:
    """Raises ValueError with the place in the text, the value there and the choices."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a formula has at most {MAX_LENGTH} characters, not {len(text)}")
    odd = _ODD_CHARACTER.search(text)
    if odd:
        hint = "powers are written **" if odd[0] == "^" else f"allowed are {_ALLOWED}"
        _refuse(f"{odd[0]!r} has no meaning in a formula; {hint}", odd.start())
    flat = re.sub(r"\s", " ", text)
    start = len(flat) - len(flat.lstrip())
    if start == len(flat):
        raise ValueError("the formula is empty; write one in x and y such as 0.1*sin(2*pi*x/3)")
    end = len(flat.rstrip()) - 1
    if flat[end] in "+-*/%<>=!(,":
        _refuse(f"ends with {flat[end]!r}, where something must follow", end)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `1or x` and its like; the whitelist refuses them below
            tree = ast.parse(flat[start:], mode="eval").body
    except SyntaxError as error:
        place = min(start + max((error.offset or 1) - 1, 0), len(text))
        near = show(flat[place : place + 20].strip())
        where = f"near {near}" if flat[place:].strip() else "at its end"
        _refuse(f"cannot be understood {where}; check brackets, commas and operators (* is never left out)", place)
    except (ValueError, MemoryError, RecursionError):
        raise ValueError("the formula cannot be read; write a shorter one with fewer brackets") from None
    _check(tree, start, 0)
    return Formula(text, tree)


def _refuse(message: str, place: int) -> NoReturn:
    raise ValueError(f"{message} (character {place + 1})")


def _check(node: ast.expr, start: int, depth: int) -> None:
    """Everything in the tree is on the list; `start` is the place of the tree's first character in the text."""
    place = start + node.col_offset
    if depth >= MAX_DEPTH:
        _refuse(f"is nested deeper than {MAX_DEPTH} levels", place)
    match node:
        case ast.Constant(value=value):
            _check_number(value, place)
        case ast.Name(id=name):
            if name in FUNCTIONS:
                _refuse(f"{name!r} is a function; write {name}(…)", place)
            if name not in VARIABLES and name not in CONSTANTS:
                _refuse(f"unknown name {name!r}{_choices(name)}", place)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            _check(operand, start, depth + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left, start, depth + 1)
            _check(right, start, depth + 1)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _OPERATORS for op in ops):
            for part in (left, *others):
                _check(part, start, depth + 1)
        case ast.Call():
            _check_call(node, place)
            for part in node.args:
                _check(part, start, depth + 1)
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            _refuse("'and', 'or', 'not' are not there; combine conditions by *, max(…) and 1 - …", place)
        case ast.IfExp():
            _refuse("'if' is not there; write where(condition, a, b)", place)
        case ast.Attribute():
            _refuse("'.' is allowed in numbers only", place)
        case ast.BinOp(op=ast.FloorDiv()):
            _refuse("'//' is not there; write floor(a/b)", place)
        case _:
            _refuse(f"this has no meaning in a formula; allowed are {_ALLOWED}", place)


def _check_number(value: Any, place: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        _refuse(f"{value!r} is not a real number", place)
    try:
        if math.isfinite(float(value)):
            return
    except OverflowError:
        pass
    _refuse("this number is too large", place)


def _check_call(node: ast.Call, place: int) -> None:
    if not isinstance(node.func, ast.Name):
        _refuse("a bracket after this would call it as a function; is an operator missing, as in 2*(x)?", place)
    name = node.func.id
    if name not in FUNCTIONS:
        if name in VARIABLES or name in CONSTANTS:
            _refuse(f"{name!r} is not a function; is an operator missing, as in {name}*(…)?", place)
        _refuse(f"unknown function {name!r}{_choices(name)}", place)
    if node.keywords:
        _refuse(f"{name}(…) takes its arguments by place, without '='", place)
    least, most = FUNCTIONS[name]
    if len(node.args) < least or (most is not None and len(node.args) > most):
        count = f"{least} or more arguments" if most is None else f"{least} argument{'s' if least > 1 else ''}"
        _refuse(f"{name}(…) takes {count}, not {len(node.args)}", place)


def _choices(name: str) -> str:
    return closest(name, [*VARIABLES, *CONSTANTS, *FUNCTIONS], show=40)


def _value(node: ast.expr, variables: dict[str, Any]) -> Any:
    """Only trees that `_check` has passed get here. Conditions are the numbers 0 and 1."""
    import numpy as np

    match node:
        case ast.Constant(value=value):
            return np.float64(value)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return variables[name] if name in variables else np.float64(CONSTANTS[name])
        case ast.UnaryOp(op=op, operand=operand):
            return _operator(op)(_value(operand, variables))
        case ast.BinOp(left=left, op=op, right=right):
            return _operator(op)(_value(left, variables), _value(right, variables))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_value(part, variables) for part in (left, *others)]
            links = [
                np.asarray(_operator(op)(a, b), np.float64)
                for op, a, b in zip(ops, values[:-1], values[1:], strict=True)
            ]
            return reduce(np.multiply, links)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, [_value(part, variables) for part in arguments])
    raise AssertionError(ast.dump(node))


def _operator(op: ast.AST) -> Callable[..., Any]:
    import numpy as np

    return getattr(np, _OPERATORS[type(op)])


def _call(name: str, values: list[Any]) -> Any:
    import numpy as np

    match name:
        case "min":
            return reduce(np.minimum, values)
        case "max":
            return reduce(np.maximum, values)
        case "where":
            return np.where(values[0] != 0, values[1], values[2])
        case "clip":
            return np.minimum(np.maximum(values[0], values[1]), values[2])
        case "step":
            return np.heaviside(values[0], 1.0)
    return getattr(np, _NUMPY_NAMES.get(name, name))(*values)
