"""Every shipped scenario in a real browser: it loads without a complaint, moves, and there is something to see."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from browser_rig import BrowserLab, LabPage, colours
from common import PATIENCE

import botz
from botz.scenario import library

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FACTOR = 2.0
SHADED = {"lophorina-hover", "omni-eight", "soccer", "titan4-pick", "vivi-rough"}
"""One of each engine: half of what software needs for a picture goes into its shadows."""


@pytest.fixture(scope="module")
def stage(browser: Browser, browser_lab: BrowserLab) -> Iterator[LabPage]:
    """One page for all, with all that the view can do."""
    page = LabPage(browser, browser_lab, scripts=()).open()
    page.js("botzLab.state.library && botzLab.lab.store.set({ library: false })")
    yield page
    page.close()


def poses(page: LabPage) -> dict[str, np.ndarray]:
    """All numbers that move something in the picture."""
    told = page.js(
        """Object.fromEntries(botzLab.state.scene.channels.map((name) => [name, botzLab.value(name)])
             .filter(([, values]) => values))"""
    )
    return {name: np.array(values) for name, values in told.items()}


def moves(page: LabPage) -> bool:
    """Whether anything does, while the run goes on or in its recording."""
    deadline = time.monotonic() + PATIENCE
    first = poses(page)
    while time.monotonic() < deadline:
        if page.js("botzLab.state.mode") == "replay":
            break
        if differ(first, poses(page)):
            return True
        page.page.wait_for_timeout(50)
    return any(differ(at(page, 0.0), at(page, share)) for share in (0.3, 0.6, 1.0))


def at(page: LabPage, share: float) -> dict[str, np.ndarray]:
    """All that moves at a share of the recording, once it is shown."""
    page.js("(share) => botzLab.lab.replay.playback.seek(share * botzLab.state.details.duration)", share)
    page.drawn()
    return poses(page)


def differ(first: dict[str, np.ndarray], now: dict[str, np.ndarray]) -> bool:
    return any(np.abs(values - first[name]).max() > 1e-3 for name, values in now.items() if name in first)


@pytest.mark.parametrize("name", library.names("scenario"))
def test_a_shipped_scenario_loads_moves_and_is_seen(stage: LabPage, name: str):
    seen, complaints = stage.events(), len(stage.errors)
    stage.js("(on) => botzLab.lab.setLayer('shadows', on)", name in SHADED)
    stage.start(name, factor=FACTOR)
    assert stage.js("botzLab.state.scene.nodes.length") > 1
    assert stage.js("botzLab.lab.store.currentRun.scenario") == name
    spec: Any = botz.load(name).spec
    by_hand = spec.engine == "soccer" and not spec.controllers  # teams play it over their links; here, somebody drives
    if by_hand:
        stage.press("KeyW")
    assert moves(stage)
    picture = stage.picture()
    if by_hand:
        stage.let_go("KeyW")
    stage.stop()
    assert stage.errors[complaints:] == []
    bad = "(n) => botzLab.events.slice(n).filter((one) => /^(error|failure)$/.test(one.kind))"
    assert stage.js(bad, seen) == []
    assert stage.run["status"] in ("interrupted", "finished"), stage.run["error"]
    # Ground, sky and robots, none of them all of the picture.
    assert colours(picture) > 60
    shares = np.unique(picture.reshape(-1, 3) >> 3, axis=0, return_counts=True)[1] / (
        picture.shape[0] * picture.shape[1]
    )
    assert shares.max() < 0.8
