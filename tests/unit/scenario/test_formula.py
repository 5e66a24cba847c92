"""Formulas in x and y: what they mean, and that nothing else is ever done with a text."""

# ruff: noqa: E501 (messages are shown whole, as the user sees them)

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.scenario.formula import FUNCTIONS, MAX_DEPTH, MAX_LENGTH, parse

X, Y = 0.7, -1.9

MEANINGS = [
    ("0.1*sin(2*pi*x/3)*cos(y)", 0.1 * math.sin(2 * math.pi * X / 3) * math.cos(Y)),
    ("-x**2", -(X**2)),
    ("2**-x", 2**-X),
    ("2**3**2", 512.0),
    ("x - y - 1", X - Y - 1),
    ("7 % 3 + y % 2", 1 + Y % 2),
    ("e + pi", math.e + math.pi),
    ("asin(x) + acos(x) + atan(y)", math.pi / 2 + math.atan(Y)),
    ("atan2(y, x) + hypot(x, y)", math.atan2(Y, X) + math.hypot(X, Y)),
    ("tan(x) + tanh(y)", math.tan(X) + math.tanh(Y)),
    ("sqrt(x) + exp(y) + log(x)", math.sqrt(X) + math.exp(Y) + math.log(X)),
    ("abs(y) + sign(y) + floor(y) + ceil(y)", 1.9 - 1 - 2 - 1),
    ("min(x, y, 3) + max(1, x)", Y + 1),
    ("step(x) + 10*step(y) + 100*step(0)", 101.0),
    ("clip(y, -1, 1)", -1.0),
    ("where(x > y, 3, 4)", 3.0),
    ("(x < y) + 2*(x >= x) + 4*(x != y) + 8*(x == y) + 16*(y <= x)", 22.0),
    ("0 < x < 1", 1.0),
    ("0 < y < 1", 0.0),
    ("1e-3 + .5 + 1_000", 1000.501),
    ("\n x\n + 1 ", X + 1),
    ("4", 4.0),
]


@pytest.mark.parametrize(("text", "value"), MEANINGS)
def test_a_formula_means_what_it_says(text: str, value: float):
    assert float(parse(text)(X, Y)) == pytest.approx(value, rel=1e-14)


def test_every_function_is_tried_above():
    assert all(any(f"{name}(" in text for text, _ in MEANINGS) for name in FUNCTIONS)


def test_arrays_are_broadcast_and_constants_fill_them():
    x, y = np.linspace(0, 1, 5)[:, None], np.linspace(0, 2, 3)[None, :]
    for text, expected in (("x*y", x * y), ("x", x + 0 * y), ("y", 0 * x + y), ("3", np.full((5, 3), 3.0))):
        values = parse(text)(x, y)
        assert values.shape == (5, 3)
        assert values.dtype == np.float64
        np.testing.assert_array_equal(values, expected)


def test_whole_numbers_are_floats_too():
    assert parse("1/2")(0, 0) == 0.5
    assert parse("9**9**9")(0, 0) == math.inf
    assert math.isnan(parse("sqrt(0 - 1)")(0, 0))
    assert parse("1/x")(np.int64(0), 0) == math.inf


# fmt: off
REFUSED = [
    ("", "the formula is empty; write one in x and y such as 0.1*sin(2*pi*x/3)"),
    (" \n", "the formula is empty; write one in x and y such as 0.1*sin(2*pi*x/3)"),
    ("x^2", "'^' has no meaning in a formula; powers are written ** (character 2)"),
    ("x + 'a'", '"\'" has no meaning in a formula; allowed are numbers, x, y, pi, e, + - * / ** %, comparisons and functions '
                "such as sin(x) (character 5)"),
    ("[x]", "'[' has no meaning in a formula; allowed are numbers, x, y, pi, e, + - * / ** %, comparisons and functions "
            "such as sin(x) (character 1)"),
    ("x + z", "unknown name 'z'; choose from: abs, acos, asin, atan, atan2, ceil, clip, cos, e, exp, floor, hypot, log, "
              "max, min, pi, sign, sin, sqrt, step, tan, tanh, where, x, y (character 5)"),
    ("  1 + sinn(x)", "unknown function 'sinn'; did you mean 'sin'? (abs, acos, asin, atan, atan2, ceil, clip, cos, e, "
                      "exp, floor, hypot, log, max, min, pi, sign, sin, sqrt, step, tan, tanh, where, x, y) "
                      "(character 7)"),
    ("1 + sin", "'sin' is a function; write sin(…) (character 5)"),
    ("x(2)", "'x' is not a function; is an operator missing, as in x*(…)? (character 1)"),
    ("2(x)", "a bracket after this would call it as a function; is an operator missing, as in 2*(x)? (character 1)"),
    ("x + ", "ends with '+', where something must follow (character 3)"),
    ("x y", "cannot be understood near 'y'; check brackets, commas and operators (* is never left out) (character 3)"),
    ("sin()", "sin(…) takes 1 argument, not 0 (character 1)"),
    ("atan2(x)", "atan2(…) takes 2 arguments, not 1 (character 1)"),
    ("min(x)", "min(…) takes 2 or more arguments, not 1 (character 1)"),
    ("sin(x=1)", "sin(…) takes its arguments by place, without '=' (character 1)"),
    ("sin(*x)", "this has no meaning in a formula; allowed are numbers, x, y, pi, e, + - * / ** %, comparisons and "
                "functions such as sin(x) (character 5)"),
    ("1 + x.real", "'.' is allowed in numbers only (character 5)"),
    ("x if y else 1", "'if' is not there; write where(condition, a, b) (character 1)"),
    ("x and y", "'and', 'or', 'not' are not there; combine conditions by *, max(…) and 1 - … (character 1)"),
    ("not x", "'and', 'or', 'not' are not there; combine conditions by *, max(…) and 1 - … (character 1)"),
    ("1or x", "'and', 'or', 'not' are not there; combine conditions by *, max(…) and 1 - … (character 1)"),
    ("x // 2", "'//' is not there; write floor(a/b) (character 1)"),
    ("2*1j", "1j is not a real number (character 3)"),
    ("True", "True is not a real number (character 1)"),
    ("1e999", "this number is too large (character 1)"),
    ("1" * 400, "this number is too large (character 1)"),
    ("x" * 501, f"a formula has at most {MAX_LENGTH} characters, not 501"),
    ("-" * 400 + "x", f"is nested deeper than {MAX_DEPTH} levels (character 101)"),
    ("x" + "+x" * 200, f"is nested deeper than {MAX_DEPTH} levels (character 1)"),
    ("__import__(x)", "unknown function '__import__'"),
]
# fmt: on


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_what_is_refused_and_why(text: str, says: str):
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert str(caught.value).startswith(says)


def test_a_hundred_terms_are_not_too_many():
    assert parse("x" + "+x" * 98)(1, 0) == 99


@pytest.mark.filterwarnings("error")
@given(st.text(max_size=60) | st.text("xye()+-*/%<>=!.,0123456789 sincomalbd_", max_size=80))
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_formula_or_a_value_error(text: str):
    try:
        formula = parse(text)
    except ValueError as error:
        assert str(error)
        return
    assert formula(np.ones((2, 1)), np.ones((1, 3))).shape == (2, 3)


@pytest.mark.parametrize("text", ["__import__(chr(111))", "exec(x)", "eval(x)", "open(x)", "print(x)", "x.__class__"])
def test_nothing_of_python_can_be_reached(text: str):
    with pytest.raises(ValueError, match=r"unknown function|allowed in numbers only"):
        parse(text)


Pair = tuple[str, Callable[[float, float], float]]


def joined(parts: tuple[Pair, Pair, str]) -> Pair:
    (a, f), (b, g), op = parts
    calls: dict[str, Callable[[float, float], float]] = {
        "+": lambda u, v: u + v,
        "-": lambda u, v: u - v,
        "*": lambda u, v: u * v,
    }
    return f"({a}){op}({b})", lambda x, y: calls[op](f(x, y), g(x, y))


def applied(parts: tuple[Pair, str]) -> Pair:
    (a, f), name = parts
    call: Callable[[float], float] = {"sin": math.sin, "tanh": math.tanh, "abs": abs, "-": lambda u: -u}[name]
    return f"{name}({a})", lambda x, y: call(f(x, y))


LEAVES: st.SearchStrategy[Pair] = st.sampled_from(
    [("x", lambda x, y: x), ("y", lambda x, y: y), ("pi", lambda x, y: math.pi), ("0.5", lambda x, y: 0.5)]
)
FORMULAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.tuples(inner, inner, st.sampled_from("+-*")).map(joined)
        | st.tuples(inner, st.sampled_from(["sin", "tanh", "abs", "-"])).map(applied)
    ),
    max_leaves=12,
)


@given(FORMULAS, st.floats(-3, 3), st.floats(-3, 3))
@settings(max_examples=200, deadline=None)
def test_formulas_of_any_form_agree_with_plain_python(formula: Pair, x: float, y: float):
    text, function = formula
    if len(text) > MAX_LENGTH:
        return
    assert float(parse(text)(x, y)) == pytest.approx(function(x, y), rel=1e-9, abs=1e-9)
