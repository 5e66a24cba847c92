"""Reading YAML with marks, and laying one document over another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from botz.errors import InputError
from botz.scenario import reading
from botz.scenario.reading import parse, read, scalar
from botz.scenario.tree import SET, Node, Place, from_plain, merge

FILE = Path("/somewhere/a.yaml")


def tree(text: str) -> Node:
    return parse(text, FILE)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E5", 1e5),
        ("-.5", -0.5),
        ("3.", 3.0),
        ("007", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("-.inf", float("-inf")),
        ("1_000", "1_000"),
    ],
)
def test_plain_scalars_follow_yaml_1_2(text: str, value: Any) -> None:
    found = scalar(text)
    assert found == value
    assert type(found) is type(value)


def test_quoted_scalars_are_text() -> None:
    assert tree("a: '1'\nb: \"true\"\nc: |\n  5\n").plain() == {"a": "1", "b": "true", "c": "5\n"}


def test_each_value_knows_its_line() -> None:
    node = tree("a: 1\nb:\n  c: 2\n  d:\n    - 3\n    - {e: 4}\n")
    lines = {path: found.place.line for path, found in node.walk()}
    assert lines == {
        (): 1,
        ("a",): 1,
        ("b",): 2,
        ("b", "c"): 3,
        ("b", "d"): 4,
        ("b", "d", 0): 5,
        ("b", "d", 1): 6,
        ("b", "d", 1, "e"): 6,
    }
    assert node.nearest(("b", "d", 7, "x")).place.line == 4
    assert node.at(("b", "d", 7)) is None


def test_aliases_are_values() -> None:
    node = tree("a: &x {p: [1, 2]}\nb: *x\nc:\n  d: *x\n")
    assert node.plain() == {"a": {"p": [1, 2]}, "b": {"p": [1, 2]}, "c": {"d": {"p": [1, 2]}}}
    assert node.value["b"].place.line == 2


def test_nesting_through_aliases_counts() -> None:
    text = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 60))
    with pytest.raises(InputError, match="nested deeper"):
        tree(text)


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    assert read(path).plain() == {"a": 1, "b": 2}


def test_both_parsers_of_yaml_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# x\na: {b: [1, 'two', 3.0]}\nc: |\n  text\nd: &x [~]\ne: *x\n"
    fast = list(tree(text).walk())
    monkeypatch.setattr(reading, "_FAST_LOADER", yaml.SafeLoader)
    slow = list(tree(text).walk())
    assert [(path, node.plain(), node.place) for path, node in fast] == [
        (path, node.plain(), node.place) for path, node in slow
    ]


@pytest.mark.parametrize(
    ("base", "over", "merged"),
    [
        ("a: 1\nb: {c: 2, d: 3}", "b: {c: 5}", {"a": 1, "b": {"c": 5, "d": 3}}),
        ("a: [1, 2, 3]", "a: [4]", {"a": [4]}),
        ("a: {b: 1}", "a: 2", {"a": 2}),
        ("a: 2", "a: {b: 1}", {"a": {"b": 1}}),
        ("a: 1\nb: 2", "a: null", {"b": 2}),
        ("b: 2", "a: null", {"b": 2, "a": None}),
        ("a: {type: x, p: 1}", "a: {type: y, q: 2}", {"a": {"type": "y", "q": 2}}),
        ("a: {type: x, p: 1}", "a: {type: x, q: 2}", {"a": {"type": "x", "p": 1, "q": 2}}),
        ("a: {type: x, p: 1}", "a: {q: 2}", {"a": {"type": "x", "p": 1, "q": 2}}),
        ("a: [1, 2, 3]", 'a: {"1": 9}', {"a": [1, 9, 3]}),
        ("a: [{p: 1, q: 2}]", 'a: {"0": {p: 9}}', {"a": [{"p": 9, "q": 2}]}),
        ("a: [1, 2, 3]", "a: {x: 9}", {"a": {"x": 9}}),
    ],
)
def test_merging(base: str, over: str, merged: Any) -> None:
    assert merge(tree(base), tree(over)).plain() == merged


def test_what_was_removed_stays_removed_from_a_lower_layer() -> None:
    robot, below, above = (
        tree("w: {left: {r: 1}, right: {r: 1}}"),
        tree("w: {left: {r: 2}}"),
        tree("w: {left: null}"),
    )
    assert merge(robot, merge(below, above)).plain() == {"w": {"right": {"r": 1}}}


def test_marks_follow_the_merged_values() -> None:
    over = parse("b:\n  c: 5\n", Path("/somewhere/b.yaml"))
    merged = merge(tree("a: 1\nb:\n\n  c: 2\n  d: 3\n"), over)
    assert merged.nearest(("b", "c")).place == Place(Path("/somewhere/b.yaml"), 2)
    assert merged.nearest(("b", "d")).place == Place(FILE, 5)
    set_one = merge(merged, from_plain({"b": {"c": 7}}, SET))
    assert set_one.nearest(("b", "c")).place == SET
    assert set_one.nearest(("b",)).place == Place(Path("/somewhere/b.yaml"), 1)


def test_from_plain_takes_numpy_and_refuses_objects() -> None:
    np = pytest.importorskip("numpy")
    assert from_plain({"a": np.arange(2.0), "b": np.float64(3), "c": (1,)}, SET).plain() == {
        "a": [0.0, 1.0],
        "b": 3.0,
        "c": [1],
    }
    with pytest.raises(InputError, match="type set"):
        from_plain({"a": {1, 2}}, SET)
    with pytest.raises(InputError, match="is not text"):
        from_plain({1: 2}, SET)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InputError, match="nested deeper"):
        from_plain(endless, SET)


# Trees in which a key always holds the same kind of value, as it does in documents of one schema.
_scalars = st.integers() | st.booleans() | st.text(max_size=3)
_trees = st.recursive(
    st.fixed_dictionaries({}, optional={"s": _scalars, "t": st.lists(_scalars, max_size=2)}),
    lambda inner: st.fixed_dictionaries({}, optional={"s": _scalars, "m": inner, "n": inner}),
    max_leaves=8,
)


@given(_trees, _trees, _trees)
def test_merging_is_associative_and_idempotent(a: Any, b: Any, c: Any) -> None:
    x, y, z = (from_plain(data, Place(FILE, 1)) for data in (a, b, c))
    assert merge(merge(x, y), z).plain() == merge(x, merge(y, z)).plain()
    assert merge(x, x).plain() == a
    assert merge(x, from_plain({}, Place(FILE, 1))).plain() == a


@given(st.binary(max_size=200))
def test_random_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        parse(content, FILE)
    except InputError as error:
        assert str(error)


_marks = [
    *list("ab1[]{}'\">#~é|\n\t\x00\x85\ufeff"),
    ": ",
    "- ",
    ", ",
    "? ",
    "  ",
    "&x ",
    "*x",
    "!!t ",
    "<<",
    "-.inf",
]
_escapes = ["\\u", "\\UFFFFFFFF", "\\x9b", "%YAML 1.2\n", "---\n", "...\n"]
_pieces = st.sampled_from([*_marks, *_escapes])


@given(st.lists(_pieces, max_size=40).map("".join))
def test_random_yaml_is_read_or_refused(text: str) -> None:
    try:
        tree(text).plain()
    except InputError as error:
        assert str(error)
