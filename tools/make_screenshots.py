"""Makes the pictures of the lab in the documentation: each shipped scenario in motion, a phone, a comparison.

    python tools/make_screenshots.py [NAME …]

Writes docs/pictures/lab/NAME.png, all of them or those named. Needs the extra `test` and a Chromium; with software
graphics all of them take some minutes.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from scipy.spatial import cKDTree

from botz.bench.lab.suite import BROWSER_FLAGS, FLAT_PAGES, browser_path
from botz.scenario import library

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures" / "lab"
FLAGS = [*BROWSER_FLAGS, FLAT_PAGES, "--force-color-profile=srgb", "--hide-scrollbars"]
LAPTOP = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}
PATIENCE = 300.0
SLOWLY = 0.05
"""How fast a run goes while its page is being loaded, and nearly so when its moment comes."""
LAYERS = {
    "vehicle": ["normal", "traction", "lateral"],
    "multibody": ["thrust", "velocity"],
    "kinematics": ["velocity", "icr"],
    "arm": ["frames"],
    "soccer": ["velocity"],
}
"""What is switched on beside shadows and the path."""
COLOURS = 256
"""At most."""
APART = 6.0
"""How much colours of a picture differ at least, of 255."""
Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Shot:
    """How a scenario is shown: the moment [s] where it lasts long enough; the eye and what it looks at, from the place
    of a robot or, without one, in the world; without an eye the page's own, so many times as far away, and shifted;
    curves beside it, as channel#component."""

    moment: float = 4.0
    eye: Vector | None = None
    target: Vector = (0.0, 0.0, 0.0)
    robot: str | None = None
    zoom: float = 1.0
    shift: Vector = (0.0, 0.0, 0.0)
    plots: tuple[tuple[str, ...], ...] = ()


def of_lophorina(moment: float, eye: Vector, *plots: tuple[str, ...], target: Vector = (0.0, 0.0, 0.0)) -> Shot:
    curves = tuple(tuple(f"lophorina/{one}" for one in plot) for plot in plots)
    return Shot(moment, eye, target, "lophorina", plots=curves)


SHOTS = {
    "ackermann-park": Shot(6.0, zoom=1.2, shift=(-0.3, -0.8, 0.0)),
    "castor-tractrix": Shot(6.5, zoom=0.6),
    "differential-circle": Shot(8.0, zoom=0.75),
    "differential-odometry": Shot(16.0, zoom=0.85),
    "drop-test": Shot(0.2, zoom=0.55, shift=(0.0, 0.0, 0.2)),
    "fixed-wing-cruise": Shot(6.0, (-2.8, -3.6, 1.3), robot="plane"),
    "fixed-wing-glide": Shot(4.0, (3.2, -3.6, 0.8), robot="plane"),
    "go-to-pose-all": Shot(7.0, (-2.3, -9.6, 5.0), (0.0, -0.3, 0.0)),
    "hexarotor-wind": Shot(10.8, zoom=0.85),
    "lophorina-hover": of_lophorina(
        12.0, (-1.2, -1.9, 0.9), ("pose#2",), ("rotor_front_left/thrust#0",), target=(0.3, -0.2, -0.05)
    ),
    "lophorina-manoeuvres": of_lophorina(
        8.4, (-0.5, -1.4, 2.2), ("attitude#2",), ("rotor_front_left/thrust#0", "rotor_front_right/thrust#0"),
        target=(0.4, -0.1, 0.0),
    ),
    "lophorina-tilt": of_lophorina(6.6, (-0.4, -2.5, 0.4), target=(-0.3, 0.0, -0.1)),
    "lophorina-tilt-control": of_lophorina(
        6.6, (-0.8, -2.2, 0.6), ("pose#0",), ("tilt_front_left/position#0", "attitude#1"), target=(0.4, 0.0, -0.1)
    ),
    "lophorina-waypoints": Shot(26.0, (-0.3, 5.4, 3.1), (1.7, 1.5, 1.2)),
    "lophorina-yaw": of_lophorina(6.0, (-1.0, -1.6, 1.6), ("attitude#2",), ("twist#5",), target=(0.3, -0.2, 0.0)),
    "lophorina-yaw-control": of_lophorina(
        6.6, (1.5, -1.5, 1.1), ("attitude#2",), ("tilt_front_left/position#0", "tilt_front_right/position#0"),
        target=(0.25, 0.25, 0.0),
    ),
    "omni-eight": Shot(16.0),
    "puma-wave": Shot(5.0, zoom=1.3, shift=(0.0, 0.0, 0.25)),
    "quadrotor-square": Shot(19.0, (-1.2, 6.4, 3.5), (2.0, 2.3, 1.4)),
    "rollover": Shot(1.4, (-1.6, -2.4, 1.2), robot="vivi"),
    "skid-circle": Shot(8.0, (-1.6, -4.6, 2.7), (-0.2, 0.8, 0.0)),
    "skid-steer-slip": Shot(5.0, zoom=0.7),
    "soccer": Shot(1.0),
    "soccer-five": Shot(5.0),
    "soccer-match": Shot(8.0),
    "soccer-wall": Shot(1.0),
    "synchro-waypoints": Shot(14.0),
    "titan4-line": Shot(9.0),
    "titan4-pick": Shot(7.0),
    "titan4-teleop": Shot(8.0),
    "vivi-half-pipe": Shot(5.0, (-2.8, -0.6, 1.5), robot="vivi"),
    "vivi-multibody": Shot(6.0, zoom=0.8),
    "vivi-ramp": Shot(5.0, (-1.5, -2.8, 0.9), robot="vivi"),
    "vivi-rough": Shot(9.0, (-1.6, -2.3, 1.3), robot="vivi"),
    "vivi-step": Shot(4.0, (-1.4, -2.3, 0.9), robot="vivi"),
    "wheeled-parade": Shot(8.0, (-2.0, -9.8, 5.9), (0.0, -0.8, 0.0)),
}  # fmt: skip


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


def lab_page(browser: Browser, address: str, query: str = "&lang=en", **options: Any) -> Page:
    context = browser.new_context(**options)
    context.add_init_script("localStorage.setItem('botz.plots.window', '0')")  # curves of all of a run
    page = context.new_page()
    page.goto(address + query)
    until(page, "window.botzLab && botzLab.state.link === 'connected'")
    page.evaluate("botzLab.lab.store.set({ library: false })")
    return page


def start(page: Page, name: str, shot: Shot, settings: dict[str, Any] | None = None) -> None:
    """A run, paused at the moment or, where it is shorter, shown at its end."""
    before = page.evaluate("botzLab.state.run")
    curves = json.dumps([[curve(one) for one in plot] for plot in shot.plots])
    page.evaluate("([name, plots]) => localStorage.setItem(`botz.plots.${name}`, plots)", [name, curves])
    page.evaluate("(tab) => botzLab.lab.store.set({ tab })", "plots" if shot.plots else None)
    page.evaluate("([name, set, slowly]) => botzLab.lab.start(name, set, slowly)", [name, settings or {}, SLOWLY])
    until(page, "(before) => botzLab.state.run && botzLab.state.run !== before && !botzLab.state.loading", before)
    layers = LAYERS.get(page.evaluate("botzLab.lab.store.currentRun.engine"), [])
    page.evaluate("(on) => { for (const one of botzLab.world.layers) botzLab.lab.setLayer(one, on.includes(one)); }",
                  ["shadows", "trail", *layers])  # fmt: skip
    for speed, ahead in ((1.0, 0.6), (4.0 * SLOWLY, 0.05)):
        page.evaluate("(speed) => { if (botzLab.state.mode === 'live') botzLab.lab.setFactor(speed); }", speed)
        until(page, "(time) => botzLab.state.mode === 'replay' || botzLab.lastFrame?.time >= time", shot.moment - ahead)
    page.evaluate("() => { if (botzLab.state.mode === 'live') { botzLab.lab.pause(); botzLab.lab.setFactor(1); } }")
    until(page, "botzLab.state.mode === 'replay' || botzLab.lab.store.currentRun.status === 'paused'")
    page.wait_for_timeout(500)
    look(page, shot)


def curve(words: str) -> dict[str, Any]:
    channel, component = words.split("#")
    return {"channel": channel, "component": int(component)}


def look(page: Page, shot: Shot) -> None:
    page.evaluate(
        """([eye, target, robot, zoom, shift]) => {
            const pose = (robot && botzLab.value(`${robot}/pose`)) || [0, 0, 0];
            const at = [pose[0], pose[1], pose.length >= 7 ? pose[2] : 0];
            const sum = (a, b, times = 1) => a.map((one, k) => one + times * b[k]);
            if (eye) return botzLab.world.lookFrom(sum(eye, at), sum(target, at));
            if (zoom === 1) return;
            const seen = botzLab.world.view();
            const middle = sum(seen.along ? seen.target : botzLab.state.scene.centre, shift);
            botzLab.world.lookFrom(sum(middle, sum(seen.eye, seen.target, -1), zoom), middle);
        }""",
        [shot.eye, shot.target, shot.robot, shot.zoom, shot.shift],
    )


def end(page: Page) -> str:
    page.evaluate("() => { if (botzLab.state.mode === 'live') botzLab.lab.stop(); }")
    return str(until(page, "botzLab.state.mode === 'replay' && !botzLab.state.loading && botzLab.state.recording"))


def shoot(page: Page, name: str) -> None:
    """The page as it is, in the view's finest resolution, with few colours: small, and no worse to look at."""
    page.evaluate("botzLab.world.setFine(true)")
    until(page, "document.querySelectorAll('.toast-close').forEach((one) => one.click()) ?? true")
    page.wait_for_timeout(800)
    until(page, "(drawn) => botzLab.world.stats().drawn > drawn + 2", page.evaluate("botzLab.world.stats().drawn"))
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = PICTURES / f"{name}.png"
    compact(image).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB", flush=True)
    page.evaluate("botzLab.world.setFine(false)")


def compact(image: Image.Image) -> Image.Image:
    """In few colours: first by how much of the picture they fill, then those that an octree finds, which keeps small
    bright parts, arrows and buttons. No two are alike, so that the noise of the ground's texture, which makes a file
    large, goes."""
    found: list[np.ndarray] = []
    for method in (Image.Quantize.MEDIANCUT, Image.Quantize.FASTOCTREE):
        few = image.quantize(COLOURS // 2, method=method)
        for colour in np.array(few.getpalette()).reshape(-1, 3)[: COLOURS // 2]:
            if all(np.linalg.norm(colour - one) >= APART for one in found):
                found.append(colour)
    # Pillow's own way from a palette to a picture takes colours that are near, not the nearest.
    colours, where = np.unique(np.asarray(image).reshape(-1, 3), axis=0, return_inverse=True)
    nearest = np.asarray(cKDTree(found).query(colours)[1], dtype=np.uint8)
    picture = Image.fromarray(nearest[where].reshape(image.height, image.width), "P")
    picture.putpalette([int(value) for colour in found for value in colour])
    return picture


# --- the pictures ------------------------------------------------------------------------------------------------


def scenario_pictures(browser: Browser, address: str, names: list[str]) -> None:
    page = lab_page(browser, address, viewport=LAPTOP)
    for name in names:
        start(page, name, SHOTS.get(name, Shot()))
        shoot(page, name)
        end(page)
    page.context.close()


def phone_picture(browser: Browser, address: str) -> None:
    """VIVI by thumbs."""
    page = lab_page(browser, address, viewport=PHONE, has_touch=True, is_mobile=True)
    start(page, "vivi-rough", Shot(3.0))
    page.evaluate("botzLab.lab.setCamera('chase')")
    shoot(page, "phone")
    end(page)
    page.context.close()


def compare_picture(browser: Browser, address: str) -> None:
    """The same tour at two speeds: one as a ghost, and the difference."""
    page = lab_page(browser, address, viewport=LAPTOP)
    start(page, "vivi-rough", Shot(8.0), {"controllers.tour.limits.speed": 0.5})
    slow = end(page)
    start(page, "vivi-rough", Shot(8.0))
    end(page)
    page.click("#tab-compare")
    page.locator(f'[data-ghost="{slow}"]').dispatch_event("click")  # its row is drawn anew meanwhile
    until(page, "botzLab.events.some((one) => one.kind === 'difference' && one.detail.of.length)")
    page.evaluate("botzLab.lab.replay.playback.seek(2.5)")
    page.wait_for_timeout(1000)
    look(page, Shot(eye=(-1.5, -2.3, 1.4), target=(0.25, -0.35, 0.0), robot="vivi"))
    shoot(page, "compare")
    page.context.close()


def portuguese_picture(browser: Browser, address: str) -> None:
    page = lab_page(browser, address, "&lang=pt-BR", viewport=LAPTOP)
    start(page, "titan4-pick", Shot(5.0))
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
