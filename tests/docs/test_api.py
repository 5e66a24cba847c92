"""The reference of the Python interface: complete, made by its tool, and its examples run."""

from __future__ import annotations

import doctest
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doc_pages import ROOT

import botz
from botz.sim.attached import describe_world
from botz.sim.shared_memory import Segment

TOOLS = str(ROOT / "tools")
sys.path.insert(0, TOOLS)
try:
    import make_api
finally:
    sys.path.remove(TOOLS)

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ENTRIES = list(make_api.everything())


@pytest.fixture(scope="module")
def prepared() -> dict[str, Any]:
    """The names that all examples start from."""
    names: dict[str, Any] = {}
    exec(make_api.SETUP, names)
    return names


@pytest.fixture
def attached(prepared: dict[str, Any]) -> Iterator[botz.AttachedRun]:
    """What a run in another process shows before its first step."""
    sim = prepared["sim"]
    sim.reset()
    row = np.empty(sim.channels.width)
    sim.engine.observe(row)
    layout = sim.command_layout("rover")
    segment = Segment.create(
        describe_world(sim), width=len(row), robots=1, command_width=sum(size for _, size in layout)
    )
    segment.publish(0, row)
    yield botz.AttachedRun(segment.run_id)
    segment.unlink()


def failures(text: str, names: dict[str, Any]) -> str:
    """What doctest reports of the examples in a text; empty where they are right."""
    test = doctest.DocTest(doctest.DocTestParser().get_examples(text), names, "example", None, 0, text)
    report = io.StringIO()
    doctest.DocTestRunner(optionflags=OPTIONS, verbose=False).run(test, out=report.write)
    return report.getvalue()


def examples_of(entry: make_api.Entry) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(entry.text)


def test_the_page_is_what_the_tool_makes() -> None:
    shown = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert shown == make_api.page(), "docs/api.md is out of date; run python tools/make_api.py"


def test_every_public_name_is_on_the_page() -> None:
    shown = {entry.title for entry in ENTRIES}
    assert {f"botz.{name}" for name in botz.__all__} - shown == set()


def test_everything_has_a_text_and_an_example() -> None:
    without_text = [entry.title for entry in ENTRIES if not entry.text]
    without_example = [entry.title for entry in ENTRIES if not examples_of(entry)]
    unsaid = [f"{entry.title}.{one.name}" for entry in ENTRIES for one in entry.attributes if not one.text.strip()]
    assert not without_text, f"no docstring: {', '.join(without_text)}"
    assert not without_example, f"no example in the docstring: {', '.join(without_example)}"
    assert not unsaid, f"no docstring: {', '.join(unsaid)}"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)
def test_examples_run(
    entry: make_api.Entry,
    prepared: dict[str, Any],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    names = dict(prepared)
    names["sim"].reset()
    if "AttachedRun" in entry.title:
        names["run"] = request.getfixturevalue("attached")
    if report := failures(entry.text, names):
        pytest.fail(f"{entry.title}:\n{report}", pytrace=False)


def test_a_wrong_example_is_found() -> None:
    assert not failures(">>> 1 + 1\n2", {})
    assert failures(">>> 1 + 1\n3", {})
    assert failures(">>> 1 / 0", {})
