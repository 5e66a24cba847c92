"""A recording in one HTML file, in a real browser: opened by `file://` without a network, it moves, can be scrubbed and
plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from browser_rig import LabPage, colours, missing

import botz
from botz.errors import BotzError
from botz.view.html_replay import replay_page, write_html
from botz.view.replay_view import ReplayView

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OpenFile = Callable[..., LabPage]

FAMILIES = [
    ("differential-circle", "rover/pose", 1.0),
    ("vivi-rough", "vivi/pose", 1.0),
    ("soccer-wall", "runner/pose", 0.8),
    ("puma-wave", "puma/tool/pose", 1.0),
    ("lophorina-hover", "lophorina/pose", 1.0),
]
"""A scenario of each, what moves in it, and for how long it runs [s]."""
WIDE = {"width": 1100, "height": 620}


@pytest.fixture
def open_file(browser: Browser, tmp_path: Path) -> Iterator[OpenFile]:
    """Writes recordings and opens them; no browser may have complained."""
    opened: list[LabPage] = []

    def open_one(recording: botz.Recording, **options: Any) -> LabPage:
        try:
            file = write_html(recording, tmp_path / "replay.html")
        except BotzError as error:
            missing(str(error))
        opened.append(LabPage(browser, None, **options))
        return opened[-1].open_file(file)

    yield open_one
    for page in opened:
        page.close()
    assert [error for page in opened for error in page.errors] == []


def show(page: LabPage, recording: botz.Recording, channel: str, row: int) -> None:
    """A moment, once the page has the numbers of it."""
    page.wish(channel)
    seek = "(t) => { const { playback } = botzLab.lab.replay; playback.playing = false; playback.seek(t); }"
    page.js(seek, float(recording.time(channel)[row]))
    shown(page, channel, recording[channel][row], 1e-5)


def shown(page: LabPage, channel: str, values: np.ndarray, near: float) -> None:
    arrived = """([name, values, near]) => {
      const now = botzLab.value(name);
      return now && values.every((value, k) => Math.abs(now[k] - value) < near);
    }"""
    page.until(arrived, f"{channel} = {values}", [channel, values.tolist(), near])


@pytest.mark.parametrize(("scenario", "channel", "seconds"), FAMILIES, ids=[family[0] for family in FAMILIES])
def test_every_family_is_drawn_and_moves(
    scenario: str, channel: str, seconds: float, open_file: OpenFile, tmp_path: Path
):
    recording = botz.simulate(scenario, duration=seconds, out=tmp_path / "run")
    page = open_file(recording)
    pictures = []
    for row in (0, -1):
        show(page, recording, channel, row)
        pictures.append(page.picture().astype(int))
    assert all(colours(picture.astype(np.uint8)) > 40 for picture in pictures)
    assert np.abs(recording[channel][-1] - recording[channel][0]).max() > 1e-3, "the test needs motion"
    changed = (np.abs(pictures[1] - pictures[0]).max(axis=2) > 24).mean()
    assert changed > 0.0005, f"only {100 * changed:.3f} % of the picture changed"


def test_it_plays_is_scrubbed_and_plotted_and_has_nothing_that_needs_a_lab(open_file: OpenFile, tmp_path: Path):
    recording = botz.simulate("differential-circle", duration=60.0, out=tmp_path / "run")
    page = open_file(recording, viewport=WIDE)
    assert page.page.title() == "differential-circle · Botz"
    # It plays from the beginning.
    page.until("botzLab.lab.replay.playback.playing && botzLab.state.time > 0.3", "motion")
    page.page.locator(".replay-row .icon-button.big").click()
    assert page.js("botzLab.lab.replay.playback.playing") is False
    # The time line.
    box = page.page.locator("input.scrub").bounding_box()
    assert box is not None
    page.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2)
    moment = float(page.until("botzLab.state.time > 20 && [botzLab.state.time]", "the moment")[0])
    assert moment == pytest.approx(30.0, abs=2.0)
    there = recording["rover/pose"][round(moment * recording.rates["rover/pose"])]
    page.wish("rover/pose")
    shown(page, "rover/pose", there[:2], 0.02)
    # Speed and plots, whose curves have a colour of their own.
    page.page.select_option(".replay-row select.speed", "4")
    assert page.js("botzLab.lab.replay.playback.speed") == 4
    page.page.click("#tab-plots")
    coloured = """() => [...document.querySelectorAll(".plots canvas")].map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let k = 0; k < data.length; k += 4) {
        const rgb = data.subarray(k, k + 3);
        if (data[k + 3] > 200 && Math.max(...rgb) - Math.min(...rgb) > 60) count += 1;
      }
      return count;
    })"""
    page.until(f"({coloured})().length >= 2 && ({coloured})().every((count) => count > 100)", "two plots")
    # Beside a plot are the values of the moment.
    chip = page.page.locator(".chip", has_text="rover/pose · x").locator("b")
    assert float(chip.inner_text().split()[0].replace("−", "-")) == pytest.approx(there[0], abs=0.02)
    # What needs a lab is not there, and keys for it do nothing.
    tabs = page.js("[...document.querySelectorAll('[data-tab]')].map((one) => one.dataset.tab)")
    assert tabs == ["numbers", "plots", "layers", "cameras", "export"]
    assert page.js("document.querySelectorAll('.library, .topbar .link, .welcome, .replay-row .accent').length") == 0
    for key in ("KeyL", "KeyT", "KeyB"):
        page.press(key)
        page.let_go(key)
    assert page.js("[botzLab.state.library, botzLab.state.tab]") == [False, "plots"]
    page.page.select_option("select.language", "pt-BR")
    page.page.get_by_role("tab", name="Gráficos").wait_for()


def test_a_notebook_shows_it_in_a_frame(browser: Browser, tmp_path: Path):
    recording = botz.simulate("differential-circle", duration=1.0, out=tmp_path / "run")
    try:
        shown = ReplayView(replay_page(recording))
    except BotzError as error:
        missing(str(error))
    page = LabPage(browser, None, scripts=())
    page.context.set_offline(True)
    page.page.set_content(f"<!doctype html><title>notebook</title>{shown._repr_html_()}")
    [frame] = page.page.frames[1:]
    for _ in range(3000):
        if frame.evaluate("window.botzLab?.state.mode === 'replay' && botzLab.world.stats().drawn > 1"):
            break
        page.page.wait_for_timeout(40)
    assert frame.evaluate("botzLab.state.details.scenario") == "differential-circle"
    page.close()
    assert page.errors == []


def test_a_damaged_file_says_so(browser: Browser, tmp_path: Path):
    recording = botz.simulate("differential-circle", duration=0.2, out=tmp_path / "run")
    try:
        file = write_html(recording, tmp_path / "replay.html")
    except BotzError as error:
        missing(str(error))
    text = file.read_text(encoding="utf-8")
    at = text.index('id="recording">') + 1000
    file.write_text(text[:at] + "AAAA" * 30 + text[at + 120 :], encoding="utf-8")
    page = LabPage(browser, None)
    page.page.goto(file.as_uri())
    page.page.locator(".no-view").wait_for()
    assert page.page.locator(".no-view").inner_text() == "The recording in this file is damaged."
    page.close()
