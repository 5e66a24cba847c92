"""The page itself in a real browser: its languages, a phone, and the door."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_rig import NO_SHADOWS, BrowserLab, LabPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OpenPage = Callable[..., LabPage]

ROBOT = "duo"
POSE, TWIST = f"{ROBOT}/pose", f"{ROBOT}/twist"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
TABS = ("numbers", "plots", "layers", "cameras", "hands", "people", "compare", "export")


def words(page: LabPage) -> dict[str, str]:
    """Visible texts by their keys."""
    found: dict[str, str] = page.js(
        """() => Object.fromEntries([...document.querySelectorAll("[data-t]")]
             .filter((one) => one.checkVisibility()).map((one) => [one.dataset.t, one.innerText.trim()]))"""
    )
    return found


def test_the_language_changes_every_visible_text_and_back(open_page: OpenPage):
    page = open_page(viewport={"width": 1200, "height": 500})
    assert page.js("document.documentElement.lang") == "en"
    page.page.click("#tab-layers")
    english = words(page)
    assert english["library.title"].lower() == "library" and len(english) > 8
    page.page.select_option("select.language", "pt-BR")
    page.until("document.documentElement.lang === 'pt-BR'", "the language")
    portuguese = words(page)
    assert portuguese.keys() == english.keys()
    same = [key for key in english if english[key] == portuguese[key]]
    assert len(same) <= len(english) // 10, same
    assert page.page.locator("#tab-layers").get_attribute("title") != "Layers (Y)"
    assert page.js("document.title") != ""
    # It is remembered.
    page.page.reload()
    page.until("window.botzLab && botzLab.state.link === 'connected'", "a link")
    assert page.js("botzLab.state.language") == "pt-BR"
    assert words(page)["library.title"] == portuguese["library.title"]
    page.page.select_option("select.language", "en")
    page.until("document.documentElement.lang === 'en'", "the language")
    assert words(page)["library.title"] == english["library.title"]


@pytest.mark.parametrize(("locale", "language"), [("pt-PT", "pt-BR"), ("de-DE", "en")])
def test_the_language_follows_the_browser(open_page: OpenPage, locale: str, language: str):
    assert open_page(locale=locale).js("botzLab.state.language") == language


# --- a phone -----------------------------------------------------------------------------------------------------


def assert_fits(page: LabPage, where: str) -> None:
    """Nothing stands out to the sides: neither the page nor a visible control."""
    wide = page.js("[document.documentElement.scrollWidth, document.body.scrollWidth]")
    assert max(wide) <= 390, where
    out = page.js(
        """() => [...document.querySelectorAll("button, select, input, h1, h2, h3, p")]
          .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
          .filter((one) => !scrolls(one)).filter((one) => {
            const box = one.getBoundingClientRect();
            return box.width > 0 && (box.left < -1 || box.right > innerWidth + 1);
          }).map((one) => `${one.tagName} ${one.className} ${one.dataset.tip ?? one.dataset.t ?? one.textContent}`);
          function scrolls(one) {
            for (let up = one.parentElement; up; up = up.parentElement)
              if (/auto|scroll/.test(getComputedStyle(up).overflowX) && up.scrollWidth > up.clientWidth) return true;
            return false;
          }"""
    )
    assert out == [], where


def test_a_phone_reaches_every_panel_and_drives_with_its_thumbs(open_page: OpenPage):
    page = open_page(**PHONE)
    tap = page.page.tap
    assert_fits(page, "library")
    tap('[data-scenario="still.yaml"]')
    page.page.locator('.setup-foot [data-t="library.start"]').wait_for()
    assert_fits(page, "form")
    tap('.setup-foot [data-t="library.start"]')
    page.begun()
    assert page.js("botzLab.state.library") is False
    assert_fits(page, "run")

    # The left thumb goes ahead, then the right one turns.
    page.wish(TWIST)
    touch = page.session()
    for side, by, component in [("left", (0, -40), 0), ("right", (-40, 0), 2)]:
        box = page.page.locator(f".stick-{side}").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + by[0], "y": y + by[1]}]})
        moved = "([name, k]) => (botzLab.value(name)?.[k] ?? 0) > 0.1"
        page.until(moved, f"the {side} stick", [TWIST, component])
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.until("(name) => botzLab.value(name)?.every((one) => one === 0)", "rest", TWIST)

    # A browser takes a tap right after the thumbs for part of their gesture.
    page.page.wait_for_timeout(500)
    for tab in TABS:
        tap(f"#tab-{tab}")
        page.until("(tab) => botzLab.state.tab === tab", tab, tab)
        panel = page.page.locator("#side-panel")
        panel.wait_for()
        box = panel.bounding_box()
        assert box is not None and box["height"] > 100, tab
        assert box["x"] >= -1 and box["x"] + box["width"] <= 391 and box["y"] + box["height"] <= 845, tab
        assert_fits(page, tab)
    tap("#side-panel .panel-head button")
    tap('[data-tip="transport.stop"]')
    rec = page.lab.recording(page.replayed())
    assert_fits(page, "replay")
    assert rec[POSE][-1, 0] > 0.0 and rec[POSE][-1, 2] > 0.0


# --- the door ----------------------------------------------------------------------------------------------------


@pytest.fixture
def locked_lab(own_shared_memory: None, tmp_path: Path) -> Iterator[BrowserLab]:
    lab = BrowserLab(tmp_path, tmp_path, "--token", "correct-horse-battery")
    yield lab
    lab.stop()


def test_the_printed_address_opens_a_lab_with_a_token_and_no_other_does(browser: Browser, locked_lab: BrowserLab):
    page = LabPage(browser, locked_lab, scripts=(NO_SHADOWS,)).open()
    assert "correct-horse" not in page.js("location.href + document.cookie")
    page.page.goto(locked_lab.address.partition("?")[0])  # the cookie is enough from now on
    page.until("window.botzLab && botzLab.state.link === 'connected'", "a link by the cookie")
    assert page.errors == []
    page.close()
    stranger = LabPage(browser, locked_lab, scripts=(NO_SHADOWS,))
    stranger.page.goto(locked_lab.address.partition("?")[0])
    stranger.until("window.botzLab && botzLab.state.link === 'refused'", "to be refused")
    assert stranger.js("botzLab.state.runs.length + botzLab.state.scenarios.length") == 0
    stranger.until("document.body.textContent.includes('printed on its terminal')", "where the token is found")
    stranger.close()


def test_what_the_server_refuses_is_said_at_its_field(open_page: OpenPage):
    """The page leaves units to the server; its answer comes back to where the words were typed."""
    page = open_page(viewport={"width": 900, "height": 700})
    view = page.page
    view.click('[data-scenario="still.yaml"]')
    view.fill("#field-time-duration", "30 kg")
    problem = view.locator("#field-time-duration-problem")
    assert problem.is_hidden()
    view.click('.setup-foot [data-t="library.start"]')
    problem.wait_for(state="visible")
    assert "is a mass, needs a time" in problem.inner_text()
    assert view.locator("#field-time-duration").get_attribute("aria-invalid") == "true"
    assert "--set" not in view.locator(".toasts").inner_text()
    view.fill("#field-time-duration", "2 min")
    assert problem.is_hidden()
    view.click('.setup-foot [data-t="library.start"]')
    page.begun()
    assert page.run["set"] == {"time.duration": "2 min"}
