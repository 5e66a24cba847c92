"""A lab to look at with a real browser: `botz lab` in a process of its own, and pages in Chromium.

Nothing here judges by painted frames: software draws few of them. What counts is what the page was told
(`window.botzLab`, described at the top of web/src/main.ts) and what the run has recorded.
"""

from __future__ import annotations

import base64
import io
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from common import PATIENCE, BotzProcess
from PIL import Image

import botz
from botz.bench.lab.suite import FEW_PICTURES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, CDPSession, ConsoleMessage, Page

SMALL = (320, 200)


def missing(reason: str) -> None:
    """A test that cannot run here: in CI that is a failure."""
    if os.environ.get("BOTZ_REQUIRE_CLIENT") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


NO_SHADOWS = """if (!localStorage.getItem("botz.layerChoices"))
  localStorage.setItem("botz.layerChoices", JSON.stringify({ shadows: false, grid: true }));"""
"""Half of what software needs for a picture goes into shadows; tests that do not look at it do without. What a page has
chosen since stays."""

PAD = """
const pad = {
  id: "Test Pad (STANDARD GAMEPAD)", index: 0, connected: true, mapping: "standard", timestamp: 0,
  axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 })),
};
window.testPad = { pad, plugged: false, axes: [0, 0, 0, 0], trembles: false };
let looks = 0;
navigator.getGamepads = () => {
  looks += 1;
  const off = testPad.trembles ? 0.002 * (looks % 20) : 0;
  pad.axes = testPad.axes.map((one) => (one ? one - off : 0));
  return testPad.plugged ? [pad, null, null, null] : [null, null, null, null];
};
"""
"""A gamepad that tests move; the hand on it may tremble, so that no two commands are the same."""


class BrowserLab:
    """The server: `botz lab` as a user starts it."""

    def __init__(self, folder: Path, root: Path, *more: str):
        self.runs = folder / "runs"
        arguments = ["lab", "--port", "0", "--runs", str(self.runs), "--root", str(root), *more]
        self.process = BotzProcess(arguments, folder, {})

        def printed() -> str | None:
            return next((line.split()[-1] for line in self.process.out.splitlines() if "http://" in line), None)

        self.address: str = self.process.wait_for(printed, "the lab's address")

    def recording(self, key: str) -> botz.Recording:
        return botz.read(self.runs / key)

    def stop(self) -> None:
        """In order, so that runs that are going on end too."""
        process = self.process.process
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE)
        self.process.end()


class LabPage:
    """One window with the lab in it; `errors` are what the browser has complained about."""

    def __init__(
        self, browser: Browser, lab: BrowserLab | None, *, scripts: tuple[str, ...] = (NO_SHADOWS,), **options: Any
    ):
        options.setdefault("viewport", {"width": SMALL[0], "height": SMALL[1]})
        options.setdefault("locale", "en-US")
        self._lab = lab
        self.context: BrowserContext = browser.new_context(**options)
        self.context.set_default_timeout(1000 * PATIENCE)
        for script in (FEW_PICTURES, *scripts):
            self.context.add_init_script(script)
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))

    @property
    def lab(self) -> BrowserLab:
        assert self._lab is not None, "the page is a file"
        return self._lab

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def open(self, query: str = "") -> LabPage:
        self.page.goto(self.lab.address + query.replace("?", "&", 1))  # the token is in the address already
        self.until(
            "window.botzLab && botzLab.state.link === 'connected' && botzLab.state.scenarios.length > 0", "a link"
        )
        return self

    def open_file(self, file: Path) -> LabPage:
        """A recording in one file, opened as by a double click on a machine without a network."""
        self.context.set_offline(True)
        self.page.goto(file.as_uri())
        self.until("window.botzLab && botzLab.state.mode === 'replay' && !botzLab.state.loading", "the recording")
        return self

    def close(self) -> None:
        self.context.close()

    # --- asking the page -------------------------------------------------------------------------------------

    def js(self, expression: str, argument: Any = None) -> Any:
        return self.page.evaluate(expression, argument)

    def until(self, expression: str, what: str, argument: Any = None) -> Any:
        """Until an expression gives something true. Asked from outside: the page's policy forbids what Playwright's
        own waiting does inside."""
        deadline = time.monotonic() + PATIENCE
        while not (result := self.js(expression, argument)):
            assert time.monotonic() < deadline, f"waited too long for {what}; the page: {self.told()}"
            self.page.wait_for_timeout(40)
        return result

    def told(self) -> str:
        """What a failed test wants to know."""
        words = self.js(
            """() => JSON.stringify({ ...Object.fromEntries(["mode", "run", "recording", "loading", "link", "time"]
                 .map((key) => [key, botzLab.state[key]])), run: botzLab.lab.store.currentRun?.status,
                 log: botzLab.state.log.slice(-3), events: botzLab.events.slice(-8) })"""
        )
        lab = f"; lab: {self._lab.process.err[-1500:]}" if self._lab is not None else ""
        return f"{words[:2500]}; errors: {self.errors}{lab}"

    def event(self, kind: str, *, after: int = 0) -> Any:
        """Detail of the first event of a kind, once there is one after so many events."""
        found = "([kind, n]) => botzLab.events.slice(n).filter((e) => e.kind === kind).map((e) => [e.detail])[0]"
        return self.until(found, f"an event {kind!r}", [kind, after])[0]

    def events(self) -> int:
        return int(self.js("botzLab.events.length"))

    def value(self, channel: str) -> np.ndarray:
        self.wish(channel)
        return np.array(self.until("(name) => botzLab.value(name)", f"numbers of {channel}", channel))

    def wish(self, *channels: str) -> None:
        self.js("(names) => botzLab.wish(names)", list(channels))

    @property
    def time(self) -> float:
        """Simulated time of the newest frame."""
        return float(self.until("botzLab.lastFrame && [botzLab.lastFrame.time]", "a frame")[0])

    @property
    def run(self) -> dict[str, Any]:
        return dict(self.js("botzLab.lab.store.currentRun"))

    # --- runs ------------------------------------------------------------------------------------------------

    def start(self, scenario: str, settings: dict[str, Any] | None = None, factor: float | None = None) -> str:
        """A run by the page's own command, once its frames come; its id."""
        before = self.js("botzLab.state.run")
        self.js(
            "([name, set, factor]) => botzLab.lab.start(name, set, factor ?? undefined)",
            [scenario, settings or {}, factor],
        )
        return self.begun(before)

    def begun(self, before: str | None = None) -> str:
        """The id of the run that the page shows, once its frames come (or it is over already)."""
        ready = """(before) => {
          const { run, mode, loading } = botzLab.state;
          if (!run || run === before || loading) return null;
          return mode === "replay" || (mode === "live" && botzLab.lastFrame) ? run : null;
        }"""
        return str(self.until(ready, "the run", before))

    def status(self, *wanted: str) -> None:
        self.until(
            "(wanted) => wanted.includes(botzLab.lab.store.currentRun?.status)", f"status {wanted}", list(wanted)
        )

    def stop(self) -> str:
        """Ends the run that is shown; the id of its recording, once that is shown."""
        self.js("() => { if (botzLab.state.mode === 'live') botzLab.lab.stop(); }")
        return self.replayed()

    def replayed(self) -> str:
        return str(
            self.until(
                "botzLab.state.mode === 'replay' && !botzLab.state.loading && botzLab.state.recording", "its recording"
            )
        )

    # --- pictures --------------------------------------------------------------------------------------------

    def drawn(self) -> None:
        """Once the 3D view shows what it was given last."""
        drawn = self.js("botzLab.world.stats().drawn")
        self.until(f"botzLab.world.stats().drawn >= {drawn + 2}", "two more pictures")

    def picture(self) -> np.ndarray:
        """What the 3D view shows, as rows of RGB, once it has drawn what it was given last."""
        self.drawn()
        data = self.js(
            """async () => {
              const bytes = new Uint8Array(await (await botzLab.world.screenshot()).arrayBuffer());
              let text = "";
              for (const one of bytes) text += String.fromCharCode(one);
              return btoa(text);
            }"""
        )
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))

    # --- hands -----------------------------------------------------------------------------------------------

    def press(self, code: str) -> None:
        self.page.keyboard.down(code)

    def let_go(self, code: str) -> None:
        self.page.keyboard.up(code)

    def pad(self, *, plugged: bool = True, axes: tuple[float, ...] = (0.0,) * 4, trembles: bool = False) -> None:
        self.js("(now) => Object.assign(testPad, now)", {"plugged": plugged, "axes": list(axes), "trembles": trembles})

    def session(self) -> CDPSession:
        return self.context.new_cdp_session(self.page)


def colours(picture: np.ndarray) -> int:
    """How many different ones, to five bits each: noise of a coder is no colour."""
    five = (picture >> 3).astype(np.uint32)
    return len(np.unique((five[..., 0] << 10) | (five[..., 1] << 5) | five[..., 2]))
