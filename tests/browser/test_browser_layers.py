"""Layers in a real browser: the page lists and draws what the server sends, one of another package among them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import yaml
from browser_rig import BrowserLab, LabPage
from common import BASE, merged

sys.path.append(str(Path(__file__).parents[1] / "added"))
from packages import documented, install

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LAYERS = {"time": {"duration": 3600.0}}
DRAWN = "(name) => botzLab.world.drawnMarks(name)"


@pytest.fixture
def extended_lab(own_shared_memory: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BrowserLab]:
    package = install(tmp_path / "package", "tether_layer.py", documented("botz.layers"))
    monkeypatch.setenv("PYTHONPATH", package.environment["PYTHONPATH"])
    (tmp_path / "circle.yaml").write_text(yaml.safe_dump(merged(BASE, LAYERS)), encoding="utf-8")
    lab = BrowserLab(tmp_path / "lab", tmp_path)
    yield lab
    lab.stop()


def test_a_layer_of_another_package_is_listed_with_its_texts_and_drawn(browser: Browser, extended_lab: BrowserLab):
    page = LabPage(browser, extended_lab, viewport={"width": 900, "height": 600}).open()
    page.start("circle.yaml")
    page.page.click("#tab-layers")
    row = page.page.locator('label[for="layer-tether"]')
    assert row.inner_text().split("\n") == ["Tether", "a line to each robot"]
    page.page.select_option("select.language", "pt-BR")
    page.until("document.documentElement.lang === 'pt-BR'", "the language")
    assert row.inner_text().split("\n") == ["Corda", "uma linha até cada robô"]
    assert page.js(DRAWN, "tether") == 0
    page.js("botzLab.lab.pause()")
    page.status("paused")
    page.drawn()
    before = page.picture().astype(int)
    row.click()
    page.until(f"({DRAWN})('tether') === 4", "line, ring, text and arrow")
    assert np.count_nonzero(np.abs(page.picture() - before).max(axis=2) > 30) > 500
    page.until("document.querySelector('.world-legend').textContent.startsWith('Corda  1 m =')", "the legend")
    # It stays on in the next visit, and those that were never touched are as their records say.
    page.stop()
    page.page.reload()
    page.until("window.botzLab && botzLab.state.link === 'connected'", "a link")
    page.start("circle.yaml")
    page.until(f"({DRAWN})('tether') === 4", "the marks again")
    assert set(page.js("[...botzLab.state.layers]")) == {"tether", "trail", "grid"}
    row.click()  # the panel is open, as it was left
    page.until(f"({DRAWN})('tether') === 0", "none")
    page.stop()
    assert page.errors == []
    page.close()
