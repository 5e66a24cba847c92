"""After the run, in a real browser: the time line, another start from any moment, ghosts, and files to take home."""

from __future__ import annotations

import io
import json
import os
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from browser_rig import LabPage
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Download

OpenPage = Callable[..., LabPage]

ROBOT = "duo"
POSE, TWIST = f"{ROBOT}/pose", f"{ROBOT}/twist"
WIDE = {"width": 900, "height": 520}
CIRCLE = "circle.yaml"
"""Drives by itself, for a second."""


def recorded(page: LabPage, **settings: Any) -> str:
    """A whole run as fast as it goes; the id of its recording, which is shown."""
    page.start(CIRCLE, settings, 0.0)
    return page.replayed()


def test_the_time_line_shows_any_moment_and_a_run_starts_again_from_it(open_page: OpenPage):
    page = open_page(viewport=WIDE)
    first = page.lab.recording(recorded(page))
    page.js("botzLab.lab.store.set({ library: false })")
    page.wish(POSE)
    box = page.page.locator("input.scrub").bounding_box()
    assert box is not None
    page.page.mouse.click(box["x"] + 0.37 * box["width"], box["y"] + box["height"] / 2)
    moment = float(page.until("[botzLab.lab.replay.time]", "the moment")[0])
    assert moment == pytest.approx(0.37 * first.duration, abs=0.05 * first.duration)
    step = round(moment * 1e9 / first.step_ns)
    there = first[POSE][step]
    assert first.steps(POSE)[step] == step
    arrived = "([name, x]) => Math.abs((botzLab.value(name)?.[0] ?? Infinity) - x) < 2e-3"
    page.until(arrived, "the picture of that moment", [POSE, float(there[0])])
    np.testing.assert_allclose(page.value(POSE), there, atol=2e-3)

    # Playing goes on from there, faster where it is asked for.
    page.page.select_option(".replay-row select.speed", "0.25")
    page.page.click('[data-tip="timeline.play"]')
    page.until("(moment) => botzLab.lab.replay.time > moment", "playing", moment)
    page.page.click('[data-tip="timeline.pause"]')
    page.js("(moment) => botzLab.lab.replay.playback.seek(moment)", moment)

    page.page.click('.replay-row [data-t="timeline.restart"]')
    page.begun()
    again = page.lab.recording(page.stop())
    assert again.path != first.path
    assert again.steps(POSE)[0] == step
    for channel in first:
        if channel in again and first.steps(channel)[0] == 0 and len(first.steps(channel)) == len(first.steps(POSE)):
            np.testing.assert_array_equal(again[channel][0], first[channel][step], err_msg=channel)
    # And it goes on as it did.
    both = min(len(again[POSE]), len(first[POSE]) - step)
    assert both > 10
    np.testing.assert_array_equal(again[POSE][:both], first[POSE][step : step + both])


def test_two_recordings_are_compared_as_ghosts_and_by_their_difference(open_page: OpenPage):
    page = open_page(viewport=WIDE)
    other = recorded(page, **{f"robots.{ROBOT}.pose.1": 0.5})
    shown = recorded(page)
    assert shown != other
    page.js("botzLab.lab.store.set({ library: false })")
    page.page.click("#tab-compare")
    choice = page.page.locator(f'label:has([data-ghost="{other}"])')
    assert "0.5" in choice.locator(".changes").inner_text()  # told apart by what was changed
    page.page.locator(f'[data-ghost="{other}"]').check()
    assert page.event("ghost")["id"] == other
    page.until("botzLab.state.ghosts.length === 1", "the ghost")
    mine, theirs = page.lab.recording(shown), page.lab.recording(other)
    # The same drive, half a metre to the left; wheel speeds, which the picture does not need, are fetched for this.
    np.testing.assert_allclose(theirs[POSE][:, 1] - mine[POSE][:, 1], 0.5, atol=1e-9)
    for channel, component, rms in [(TWIST, 0, 0.0), (POSE, 1, 0.5)]:
        page.page.select_option(".compare-results select", f"{channel}#{component}")
        page.until(
            """([channel, component]) => botzLab.events.some((one) => one.kind === "difference"
                 && one.detail.channel === channel && one.detail.component === component)""",
            f"the difference of {channel}",
            [channel, component],
        )
        row = page.page.locator(f'[data-difference="{other}"]')
        found = [float(word) for word in re.findall(r"\d+(?:\.\d+)?(?= m)", row.inner_text())]
        assert found == pytest.approx([rms, rms], abs=1e-4), row.inner_text()  # of all, and the largest
    assert page.page.locator(".compare-results canvas").count() == 2
    page.page.locator(f'[data-ghost="{other}"]').uncheck()
    page.until("botzLab.state.ghosts.length === 0", "the ghost to be gone")


# --- files -------------------------------------------------------------------------------------------------------


def saved(download: Download, folder: Path) -> bytes:
    path = folder / download.suggested_filename
    download.save_as(path)
    return path.read_bytes()


def test_what_is_seen_is_saved_as_picture_film_and_animated_model(open_page: OpenPage, tmp_path: Path):
    import av

    page = open_page(viewport=WIDE)
    recorded(page)
    page.js("botzLab.lab.store.set({ library: false })")
    page.page.click("#tab-export")

    with page.page.expect_download() as picture:
        page.page.click('.export [data-t="export.picture"]')
    assert picture.value.suggested_filename.endswith(".png")
    image = Image.open(io.BytesIO(saved(picture.value, tmp_path)))
    assert image.format == "PNG" and len(image.convert("RGB").getcolors(1 << 24) or []) > 100

    page.page.select_option("#export-format", "glb")
    with page.page.expect_download() as model:
        page.page.click('.export [data-t="export.start"]')
    data = saved(model.value, tmp_path)
    magic, version, length, size, kind = struct.unpack_from("<4sIIII", data)
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), 0x4E4F534A)
    gltf = json.loads(data[20 : 20 + size])
    names = {gltf["nodes"][one["target"]["node"]].get("name") for one in gltf["animations"][0]["channels"]}
    assert any(ROBOT in str(name) for name in names)

    page.page.select_option("#export-format", "mp4")
    page.page.select_option("#export-size", "640×360")
    page.page.select_option("#export-fps", "15")
    page.page.fill("#export-to", "0.4")
    page.page.locator("#export-to").blur()
    seen = page.events()
    failed = "(n) => botzLab.events.slice(n).find((one) => one.kind === 'failure' || one.kind === 'export')"
    downloads: list[Download] = []
    page.page.on("download", lambda one: downloads.append(one))
    page.page.click('.export [data-t="export.start"]')
    answer = page.until(failed, "the film", seen)
    if answer["kind"] == "failure" and "EGL" in answer["detail"] and os.environ.get("BOTZ_REQUIRE_CLIENT") != "1":
        pytest.skip(answer["detail"])
    assert answer["kind"] == "export", answer
    while not downloads:
        page.page.wait_for_timeout(20)
    film = saved(downloads[0], tmp_path)
    with av.open(io.BytesIO(film)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) in (6, 7) and frames[0].shape == (360, 640, 3)
    assert np.abs(frames[-1].astype(int) - frames[0]).max() > 30


# --- names, files, deletion, failures ----------------------------------------------------------------------------


def test_a_recording_is_named_told_apart_taken_home_and_deleted(open_page: OpenPage):
    page = open_page(viewport={"width": 1280, "height": 800})
    page.start("circle.yaml", {"seed": 77}, factor=0.0)
    key = page.replayed()
    view = page.page
    page.js("() => botzLab.lab.store.set({ library: true })")
    view.click('[data-page="recordings"]')
    row = view.locator(f'.recording-row:has([data-recording="{key}"])')
    row.locator(".changes", has_text="seed = 77").wait_for()
    row.locator('[data-tip="recording.rename"]').click()
    view.locator("dialog.naming input").fill("my best run")
    view.locator("dialog.naming input").press("Enter")
    row.locator("strong", has_text="my best run").wait_for()
    page.until("document.querySelector('.topbar .title').textContent === 'my best run'", "the name on top")
    view.fill("input.search", "RUN 77 ")
    assert row.is_visible()
    view.fill("input.search", "run 78")
    row.wait_for(state="detached")
    view.fill("input.search", "")
    assert (page.lab.runs / key / "name.txt").read_text(encoding="utf-8") == "my best run\n"
    with view.expect_download() as got:
        row.locator('[data-tip="recording.csv"]').click()
    assert Path(got.value.path()).read_text(encoding="utf-8").startswith('"time')
    row.locator('[data-tip="recording.delete"]').click()
    view.locator('dialog.sure [data-t="cancel"]').click()
    assert (page.lab.runs / key).exists()
    row.locator('[data-tip="recording.delete"]').click()
    assert "my best run" in view.locator("dialog.sure p").inner_text()
    view.locator('dialog.sure [data-t="recording.deleteNow"]').click()
    row.wait_for(state="detached")
    assert not (page.lab.runs / key).exists()
    page.until("botzLab.state.recording === null", "nothing to be shown")


def test_a_failing_controller_shows_its_traceback_in_the_page(open_page: OpenPage):
    page = open_page(viewport={"width": 1280, "height": 800})
    page.js("() => botzLab.lab.start('fails.yaml', {}, 0)")
    shown = page.page.locator("dialog.failure pre")
    shown.wait_for()
    assert "fails.py" in shown.inner_text() and "line 8" in shown.inner_text()
    page.page.locator("dialog.failure button").click()
    page.page.locator("dialog.failure").wait_for(state="detached")
    page.replayed()
    page.page.locator('[data-t="failure.why"]').click()
    assert "line 8" in shown.inner_text()


def test_an_export_is_cancelled(open_page: OpenPage):
    page = open_page(viewport={"width": 1280, "height": 800})
    page.start("circle.yaml", {"time.duration": 60.0}, factor=0.0)
    page.replayed()
    page.js("() => botzLab.lab.store.set({ tab: 'export' })")
    page.page.locator('[data-t="export.start"]').click()
    page.page.locator('.job [data-t="cancel"]').click()
    page.event("export-cancelled")
    page.page.locator(".job").wait_for(state="detached")
