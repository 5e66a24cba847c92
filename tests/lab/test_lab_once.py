"""A run checks its scenario once and makes one engine and one terrain, however many processes work on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from common import Answer
from counted import count, counts
from lab_rig import lab_at

ONCE = {"check": 1, "engine": 1, "terrain": 1}


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("botz.terrain.height_grid._kept", {})
    count(tmp_path / "counts", monkeypatch.setattr)
    return tmp_path / "counts"


def test_a_lab_run(counter: Path, tmp_path: Path) -> None:
    with lab_at(tmp_path / "runs") as lab:
        page = lab.page()
        run = page.start("vivi-rough", factor=0.5)  # other than the scenario's own
        assert lab.get(f"/api/runs/{run['id']}/scene.glb").status_code == 200
        assert counts(counter) == ONCE
        # Once more, with a setting of its own: what came before the change is checked too, and the ground is the same.
        changed = page.start("vivi-rough", factor=0.5, set={"controllers.tour.limits.speed": 0.5})
        assert lab.get(f"/api/runs/{changed['id']}/scene.glb").status_code == 200
        assert counts(counter) == {"check": 3, "engine": 2, "terrain": 1}
        page.close()


@pytest.mark.parametrize("realtime", ["1000", "false"])
def test_botz_run(realtime: str, counter: Path, botz: Callable[..., Answer]) -> None:
    answer = botz(
        "run", "vivi-rough", "--set", "time.duration=0.1", "--set", f"time.realtime={realtime}", "--no-progress"
    )
    assert answer.code == 0, answer.err
    assert counts(counter) == ONCE
