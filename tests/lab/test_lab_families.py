"""Every family driven through the lab: what the hands do is seen in the numbers, and let go it stops or flies level."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import pytest
from common import PATIENCE
from lab_rig import Page

Seen = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class Family:
    scenario: str
    hands: str
    robot: str
    axes: dict[str, float]
    channel: str
    moved: Seen
    """What the axes do, and the scenario's own controller does not."""
    let_go: Seen
    buttons: dict[str, bool] = field(default_factory=dict)


FAMILIES = [
    # Its controller drives in a circle, ahead.
    Family(
        "skid-circle", "tank", "four", {"forward": -0.6}, "four/front_left/speed", lambda v: v[0] < -1.0,
        lambda v: v[0] > -0.3,
    ),
    Family(
        "soccer", "soccer", "blue0", {"forward": 0.5}, "blue0/twist", lambda v: v[0] > 0.1,
        lambda v: np.abs(v).max() < 0.01,
    ),
    Family(
        "puma-wave", "arm", "puma", {"z": 1.0}, "puma/speed", lambda v: np.abs(v).max() > 0.03,
        lambda v: np.abs(v).max() < 0.005, {"clutch": True},
    ),
    # Its waypoints lead straight ahead for the first 18 s.
    Family(
        "lophorina-waypoints", "flight", "lophorina", {"side": 1.0, "up": 0.5}, "lophorina/twist", lambda v: v[1] > 0.3,
        lambda v: np.abs(v[:3]).max() < 0.1,
    ),
    # Its course lies to the left.
    Family(
        "fixed-wing-cruise", "plane", "plane", {"roll": 0.6}, "plane/attitude", lambda v: v[0] > 0.15,
        lambda v: abs(v[0]) < 0.1,
    ),
]  # fmt: skip


def drive_until(page: Page, key: str, family: Family, seen: Seen, buttons: dict[str, bool], numbers: Any) -> None:
    """Hold the axes, told again with every frame, until it is seen."""
    deadline = time.monotonic() + PATIENCE
    last = None
    while time.monotonic() < deadline:
        seq = next(numbers)
        page.say(t="drive", run=key, robot=family.robot, mode=None, axes=family.axes, buttons=buttons, seq=seq)
        frame = page.frame()
        last = frame["v"]
        if frame["a"] >= 0 and seen(last):
            return
    raise AssertionError(f"{family.scenario}: {family.channel} is {last}")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.scenario)
def test_hands_move_it_and_let_go_it_stops(page: Page, family: Family):
    run = page.start(family.scenario, set={"time.duration": 600.0}, factor=1.0)
    key = run["id"]
    assert run["status"] == "running", run["error"]
    assert {one["name"]: one["hands"] for one in run["robots"]}[family.robot] == family.hands
    page.say(t="watch", run=key, channels=[family.channel], rate=20)
    page.frame()
    numbers = count()
    if family.buttons:  # without its clutch an arm stands, whatever the axes say
        drive_until(page, key, family, family.let_go, {}, numbers)
    drive_until(page, key, family, family.moved, family.buttons, numbers)
    page.say(t="release", run=key)
    page.frame(lambda frame: family.let_go(frame["v"]))
    ended = page.stop(key)
    assert ended["status"] == "interrupted", ended["error"]
    assert ended["channels"] == [] and ended["robots"] == []  # its recording tells them
