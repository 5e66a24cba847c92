"""Makes the pictures of the lab in the documentation: each shipped scenario in motion, a phone, a comparison.

    python tools/make_screenshots.py [NAME …]

Writes docs/pictures/lab/NAME.png, all of them or those named. Needs the extra `test` and a Chromium; with software
graphics all of them take some minutes.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from botz.bench.lab import BROWSER_FLAGS, browser_path
from botz.scenario import library

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures" / "lab"
FLAGS = [*BROWSER_FLAGS, "--force-color-profile=srgb", "--hide-scrollbars"]
LAPTOP = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}
PATIENCE = 300.0
MOMENT = 4.0
"""How far into a run its picture is taken [s], where it lasts long enough."""
MOMENTS = {
    "drop-test": 0.45, "rollover": 1.2, "soccer-wall": 1.0, "titan4-pick": 7.0, "vivi-rough": 6.0, "soccer-match": 8.0,
    "wheeled-parade": 6.0, "go-to-pose-all": 6.0, "lophorina-waypoints": 8.0, "quadrotor-square": 7.0,
}  # fmt: skip
LAYERS = {
    "vehicle": ["normal", "traction", "lateral"],
    "multibody": ["thrust", "velocity"],
    "kinematics": ["velocity", "icr"],
    "arm": ["frames"],
    "soccer": ["velocity"],
}
"""What is switched on beside shadows, grid and path."""
COLOURS = 256


@contextmanager
def running_lab(folder: Path) -> Iterator[str]:
    """`botz lab` in a process of its own; its address."""
    command = [sys.executable, "-m", "botz", "lab", "--port", "0", "--runs", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if "http" not in line:
                raise SystemExit("the lab did not start")
            yield line.split()[-1]
        finally:
            process.terminate()
            process.wait()


def until(page: Page, expression: str, argument: Any = None) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (result := page.evaluate(expression, argument)):
        if time.monotonic() > deadline:
            raise SystemExit(f"waited too long for {expression}")
        page.wait_for_timeout(50)
    return result


def lab_page(browser: Browser, address: str, query: str = "?lang=en", **options: Any) -> Page:
    page = browser.new_context(**options).new_page()
    page.goto(address + query)
    until(page, "window.botzLab && botzLab.state.link === 'connected'")
    page.evaluate("botzLab.lab.store.set({ library: false })")
    return page


def start(page: Page, name: str, moment: float, settings: dict[str, Any] | None = None) -> None:
    """A run, paused at the moment or, where it is shorter, shown at its end."""
    before = page.evaluate("botzLab.state.run")
    page.evaluate("([name, set]) => botzLab.lab.start(name, set, 1)", [name, settings or {}])
    until(page, "(before) => botzLab.state.run && botzLab.state.run !== before && !botzLab.state.loading", before)
    layers = LAYERS.get(page.evaluate("botzLab.lab.store.currentRun.engine"), [])
    page.evaluate("(on) => { for (const one of botzLab.world.layers) botzLab.lab.setLayer(one, on.includes(one)); }",
                  ["shadows", "grid", "trail", *layers])  # fmt: skip
    until(page, "(time) => botzLab.state.mode === 'replay' || botzLab.lastFrame?.time >= time", moment)
    page.evaluate("() => { if (botzLab.state.mode === 'live') botzLab.lab.pause(); }")
    until(page, "botzLab.state.mode === 'replay' || botzLab.lab.store.currentRun.status === 'paused'")


def end(page: Page) -> str:
    page.evaluate("() => { if (botzLab.state.mode === 'live') botzLab.lab.stop(); }")
    return str(until(page, "botzLab.state.mode === 'replay' && !botzLab.state.loading && botzLab.state.recording"))


def shoot(page: Page, name: str) -> None:
    """The page as it is, in the view's finest resolution, with few colours: small, and no worse to look at."""
    page.evaluate("botzLab.world.setFine(true)")
    until(page, "document.querySelectorAll('.toast-close').forEach((one) => one.click()) ?? true")
    page.wait_for_timeout(1500)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = PICTURES / f"{name}.png"
    # An octree: the noise of the ground's texture, which makes a file large, goes, and the few bright colours stay.
    image.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB", flush=True)
    page.evaluate("botzLab.world.setFine(false)")


# --- the pictures ------------------------------------------------------------------------------------------------


def scenario_pictures(browser: Browser, address: str, names: list[str]) -> None:
    page = lab_page(browser, address, viewport=LAPTOP)
    for name in names:
        start(page, name, MOMENTS.get(name, MOMENT))
        shoot(page, name)
        end(page)
    page.context.close()


def phone_picture(browser: Browser, address: str) -> None:
    """VIVI by thumbs."""
    page = lab_page(browser, address, viewport=PHONE, has_touch=True, is_mobile=True)
    start(page, "vivi-rough", 3.0)
    page.evaluate("botzLab.lab.setCamera('chase')")
    shoot(page, "phone")
    end(page)
    page.context.close()


def compare_picture(browser: Browser, address: str) -> None:
    """The same tour at two speeds: one as a ghost, and the difference."""
    page = lab_page(browser, address, viewport=LAPTOP)
    start(page, "vivi-rough", 8.0, {"controllers.tour.limits.speed": 0.5})
    slow = end(page)
    start(page, "vivi-rough", 8.0)
    end(page)
    page.click("#tab-compare")
    page.locator(f'[data-ghost="{slow}"]').check()
    until(page, "botzLab.events.some((one) => one.kind === 'difference' && one.detail.of.length)")
    page.evaluate("botzLab.lab.replay.playback.seek(2.5)")
    page.wait_for_timeout(1000)
    page.evaluate("botzLab.lab.setCamera('orbit', 'vivi')")
    shoot(page, "compare")
    page.context.close()


def portuguese_picture(browser: Browser, address: str) -> None:
    page = lab_page(browser, address, "?lang=pt-BR", viewport=LAPTOP)
    start(page, "titan4-pick", 5.0)
    page.click("#tab-layers")
    shoot(page, "pt")
    end(page)
    page.context.close()


OTHERS: dict[str, Callable[[Browser, str], None]] = {
    "compare": compare_picture,
    "phone": phone_picture,
    "pt": portuguese_picture,
}


def main(wanted: list[str]) -> int:
    shipped = list(library.names("scenario"))
    unknown = set(wanted) - set(shipped) - set(OTHERS)
    chromium = browser_path()
    if unknown or chromium is None:
        why = f"no scenario or picture {', '.join(sorted(unknown))}" if unknown else "no Chromium is installed"
        print(f"make_screenshots: {why}", file=sys.stderr)
        return 1
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running_lab(Path(folder)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, make in OTHERS.items():  # first, while there are few recordings to choose from
            if not wanted or name in wanted:
                make(browser, address)
        scenario_pictures(browser, address, [name for name in shipped if not wanted or name in wanted])
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
