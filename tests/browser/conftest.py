"""A browser for each file of tests, and one lab for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from browser_rig import BrowserLab, LabPage, missing
from common import BASE, merged

from botz.bench.lab.suite import BROWSER_FLAGS, FLAT_PAGES, browser_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OpenPage = Callable[..., LabPage]

STILL: dict[str, Any] = {
    "description": "Nobody drives but the hands.",
    "time": {"duration": 3600.0},
    "record": {"rate": 1000.0, "snapshots": 0.5},
    "controllers": None,
}


CIRCLE: dict[str, Any] = {"description": "Drives a second by itself.", "record": {"rate": 1000.0, "snapshots": 0.25}}


FAILS = """
class Fails:
    def reset(self, setup):
        pass

    def update(self, t, measured):
        if t > 0.05:
            raise ValueError("the controller has had enough")
"""


@pytest.fixture(scope="session")
def browser_lab(own_shared_memory: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserLab]:
    from botz.errors import BotzError
    from botz.view.lab.client import client_folder

    try:
        client_folder()
    except BotzError as error:
        missing(str(error))
    root = tmp_path_factory.mktemp("root")
    (root / "still.yaml").write_text(yaml.safe_dump(merged(BASE, STILL)), encoding="utf-8")
    (root / "circle.yaml").write_text(yaml.safe_dump(merged(BASE, CIRCLE)), encoding="utf-8")
    (root / "fails.py").write_text(FAILS, encoding="utf-8")
    failing = {"controllers": {"drive": {"type": "fails.py:Fails", "command": None}}}
    (root / "fails.yaml").write_text(yaml.safe_dump(merged(BASE, failing)), encoding="utf-8")
    lab = BrowserLab(tmp_path_factory.mktemp("browser"), root)
    yield lab
    lab.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for each file, not for all: while Playwright is at work, no other test could run an event loop."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        missing(f"no browser tests: {error}")
    path = browser_path()
    if path is None:
        missing("no Chromium is installed (on Debian: apt install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*BROWSER_FLAGS, FLAT_PAGES])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, browser_lab: BrowserLab) -> Iterator[OpenPage]:
    """Opens pages; those that are left are closed, their runs stopped, and no browser may have complained."""
    opened: list[LabPage] = []

    def open_one(query: str = "", **options: Any) -> LabPage:
        opened.append(LabPage(browser, browser_lab, **options))
        return opened[-1].open(query)

    yield open_one
    left = [page for page in opened if not page.page.is_closed()]
    for page in left:
        page.js("() => { if (botzLab.state.mode === 'live') botzLab.lab.stop(); }")
    for page in left[:1]:
        over = "botzLab.state.runs.every((run) => ['finished', 'interrupted', 'failed'].includes(run.status))"
        page.until(over, "the end of all runs")
    for page in left:
        page.close()
    assert [error for page in opened for error in page.errors] == []
