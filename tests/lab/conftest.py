"""A lab that many tests share, with a folder of recordings of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from common import BASE, merged
from lab_rig import Page, RunningLab, lab_at

FAILS = """
class Fails:
    def reset(self, setup):
        pass

    def update(self, t, measured):
        if t > 0.05:
            raise ValueError("the controller has had enough")
"""


@pytest.fixture(scope="session")
def lab(own_shared_memory: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    """A server with scenario files under its root."""
    root = tmp_path_factory.mktemp("root")
    (root / "below").mkdir()
    (root / "below" / "small.yaml").write_text(yaml.safe_dump(BASE), encoding="utf-8")
    (root / "fails.py").write_text(FAILS, encoding="utf-8")
    failing = {"controllers": {"drive": {"type": "fails.py:Fails", "command": None}}}
    (root / "fails.yaml").write_text(yaml.safe_dump(merged(BASE, failing)), encoding="utf-8")
    (root / "notes.yaml").write_text("shopping: [nuts, bolts]\n", encoding="utf-8")
    with lab_at(tmp_path_factory.mktemp("runs"), root=root) as running:
        yield running


@pytest.fixture
def page(lab: RunningLab) -> Iterator[Page]:
    """A page; all that a test has opened are gone after it."""
    yield lab.page()
    lab.leave()
