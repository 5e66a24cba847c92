"""What tests may not put in another's place: a lab of other tests may be serving in a thread of the same process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCK_OF_ALL = re.compile(r"setattr\(\s*(\"[\w.]+\.time\.\w+\"|\"time\.\w+\"|([\w.]+\.)?time,)")
"""`module.time` is the one module that all share: an event loop that looks at a turned clock sleeps until that time.
A test that moves time gives its module another `time`."""


@pytest.mark.parametrize(
    ("line", "turns"),
    [
        ('setattr("botz.record.writer.time.monotonic", clock)', True),
        ('setattr(time, "sleep", nap)', True),
        ('setattr(\n    exports.time, "monotonic", clock)', True),
        ('setattr("botz.record.writer.time", clock)', False),
        ('setattr(module, "time", clock)', False),
        ('setattr(module, "timeout", 3)', False),
    ],
)
def test_turning_the_clock_of_all_is_recognised(line: str, turns: bool):
    assert bool(CLOCK_OF_ALL.search(f"monkeypatch.{line}")) == turns


def test_no_test_turns_the_clock_of_the_whole_process():
    found = [
        f"{file.relative_to(TESTS)}:{text.count(chr(10), 0, match.start()) + 1}"
        for file in sorted(TESTS.rglob("*.py"))
        if file.name != Path(__file__).name
        for text in [file.read_text(encoding="utf-8")]
        for match in CLOCK_OF_ALL.finditer(text)
    ]
    assert not found
