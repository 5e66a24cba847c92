"""An arm and an aircraft driven in a real browser, by keys and by a stick on the screen. Recordings are the judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml
from browser_rig import BrowserLab, LabPage

import botz

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOMY = {"width": 480, "height": 420}
"""As much as the sticks need."""
ARM: dict[str, Any] = {
    "engine": "arm",
    "description": "Nobody moves it but the hands.",
    "time": {"step": "1 ms", "duration": 3600.0},
    "robots": {"puma": {"extends": "puma560", "start": [0, "60 deg", "-150 deg", 0, "45 deg", 0]}},
}
FLIGHT: dict[str, Any] = {
    "engine": "multibody",
    "description": "Rises and hovers, until hands fly it.",
    "time": {"step": "400 us", "duration": 3600.0},
    "record": {"rate": 100.0},
    "robots": {"lophorina": {"extends": "lophorina", "pose": {"z": 0.05}}},
    "controllers": {
        "pilot": {"type": "tilt-quadrotor", "robot": "lophorina", "rate": 125, "setpoints": [{"at": 0, "z": 1.0}]}
    },
}
TOOL, JOINTS = "puma/tool/pose", "puma/reference/speed"
POSE, TWIST, ATTITUDE = "lophorina/pose", "lophorina/twist", "lophorina/attitude"


@pytest.fixture(scope="module")
def stage(browser: Browser, browser_lab: BrowserLab) -> Iterator[LabPage]:
    """One for all, in a lab that has these scenarios too, beside those that are under its root already."""
    arguments = list(browser_lab.process.process.args)
    root = Path(str(arguments[arguments.index("--root") + 1]))
    for name, scenario in (("arm", ARM), ("flight", FLIGHT)):
        (root / f"{name}.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    page = LabPage(browser, browser_lab, viewport=ROOMY).open()
    page.js("botzLab.lab.store.set({ library: false })")
    yield page
    page.close()
    assert page.errors == []


@pytest.fixture
def page(stage: LabPage) -> Iterator[LabPage]:
    """After a test no key is down and nothing runs, however it ended."""
    yield stage
    for key in ("KeyA", "KeyC", "KeyQ"):
        stage.let_go(key)
    stage.page.mouse.up()
    if stage.js("botzLab.state.mode") == "live":
        stage.stop()


def until(page: LabPage, channel: str, condition: str, what: str) -> float:
    """Until the numbers `v` of a channel are told to be so; the time of the frame that tells it, at the latest."""
    page.wish(channel)
    seen = f"(name) => {{ const v = botzLab.value(name); return v && ({condition}) && [botzLab.lastFrame.time]; }}"
    return float(page.until(seen, what, channel)[0])


def longer(page: LabPage, seconds: float) -> float:
    """Until the run has gone on for so long; its time then."""
    page.until("(time) => botzLab.lastFrame.time > time", "time to pass", page.time + seconds)
    return page.time


def lose_focus(page: LabPage) -> None:
    seen = page.events()
    page.js("window.dispatchEvent(new Event('blur'))")
    assert page.event("hands-lost", after=seen) == "toast.handsFocus"
    assert page.js("botzLab.state.driving") is False


def part(rec: botz.Recording, channel: str, start: float, end: float = np.inf) -> np.ndarray:
    time = rec.time(channel)
    rows = rec[channel][(time >= start) & (time <= end)]
    assert len(rows) > 5, f"too little of {channel} from {start} to {end} s to tell"
    return rows


def test_keys_move_an_arm_along_the_axis_asked_for_and_only_while_the_clutch_is_held(page: LabPage):
    page.start("arm.yaml")
    stands = "v.every((one) => one === 0)"
    until(page, JOINTS, stands, "the arm to stand")

    seen = page.events()
    page.press("KeyA")  # to the left, without the clutch
    assert page.event("drive", after=seen)["axes"]["y"] == 1
    free = longer(page, 0.4)
    page.press("KeyC")
    until(page, JOINTS, "v.some((one) => Math.abs(one) > 0.01)", "the arm to move")
    moved = longer(page, 0.5)
    page.let_go("KeyC")  # A is held on
    let_go = until(page, JOINTS, stands, "the arm to stand without its clutch")
    held = longer(page, 0.4)

    page.press("KeyC")
    until(page, JOINTS, "v.some((one) => Math.abs(one) > 0.01)", "the arm to move again")
    longer(page, 0.2)
    lose_focus(page)
    rest = until(page, JOINTS, stands, "the arm to stop")
    page.press("KeyA")  # both are held on: the keyboard repeats them
    page.press("KeyC")
    end = longer(page, 0.5)
    rec = page.lab.recording(page.stop())

    for since, until_ in ((0.0, free), (let_go, held), (rest, end)):
        assert np.abs(part(rec, JOINTS, since, until_)).max() == 0.0, f"it moved from {since} to {until_} s"
    # By the numbers of the tool: 0.12 of its reach a second to the left, and neither aside nor turned.
    before, after = part(rec, TOOL, 0.0, free)[-1], part(rec, TOOL, let_go, held)[-1]
    way = after[:3] - before[:3]
    assert way[1] > 0.04 and np.abs(way[[0, 2]]).max() < 0.1 * way[1], way
    assert 2.0 * np.arccos(min(1.0, abs(before[3:] @ after[3:]))) < 0.05
    assert part(rec, TOOL, 0.0, moved)[-1][1] <= after[1] + 1e-3
    assert part(rec, TOOL, rest)[-1][1] > after[1] + 0.01, "with the clutch it goes on from there"
    assert np.ptp(part(rec, TOOL, rest + 0.2)[:, :3], axis=0).max() < 1e-3, "it holds where it was"


def test_a_stick_flies_an_aircraft_forward_a_key_turns_it_and_without_the_focus_it_hovers(page: LabPage):
    page.start("flight.yaml")
    page.js("botzLab.lab.store.set({ sticks: true })")
    until(page, POSE, "v[2] > 0.4", "the aircraft to rise")
    stick = page.page.locator(".stick-right")
    stick.wait_for()
    box = stick.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    began = page.time
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x, y - 0.5 * box["height"])  # all the way ahead
    until(page, TWIST, "v[0] > 0.5", "the aircraft to fly ahead")
    longer(page, 0.5)
    page.page.mouse.up()
    until(page, TWIST, "Math.abs(v[0]) < 0.15", "the aircraft to stop")
    ahead = page.time

    page.press("KeyQ")
    until(page, TWIST, "v[5] > 0.3", "the aircraft to turn left")
    longer(page, 0.5)
    page.page.mouse.down()  # and ahead again, with the stick
    page.page.mouse.move(x, y - 0.4 * box["height"])
    until(page, TWIST, "v[0] > 0.3", "the aircraft to fly ahead again")
    turned = page.time
    lose_focus(page)
    page.page.mouse.move(x, y - 0.5 * box["height"])  # the finger is still there
    page.press("KeyQ")
    hovers = until(page, TWIST, "v.every((one) => Math.abs(one) < 0.1)", "the aircraft to hover")
    longer(page, 1.0)
    rec = page.lab.recording(page.stop())

    flown = part(rec, POSE, began, ahead)
    way = flown[-1, :3] - flown[0, :3]
    assert way[0] > 0.5 and abs(way[1]) < 0.1 * way[0], way
    assert (
        np.abs(part(rec, ATTITUDE, began, ahead)[:, 2]).max() < 0.05 < 0.2 < part(rec, ATTITUDE, ahead, turned)[-1, 2]
    )
    after = part(rec, POSE, hovers)
    assert np.ptp(after[:, :3], axis=0).max() < 0.3, "it stays where it is"
    assert np.abs(part(rec, TWIST, hovers)).max() < 0.2
    assert np.ptp(part(rec, ATTITUDE, hovers)[:, 2]) < 0.1
    assert after[:, 2].min() > 0.3, "in the air"
