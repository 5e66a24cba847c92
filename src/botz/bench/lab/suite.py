"""The lab: what its readers cost the physics, how long a key takes to move a robot, how much it sends.

The lab is a process of its own, as for a user; its pages are played by a third process, and by a real browser where
there is one. The physics is pinned to one core, the others to the rest.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgpack

from botz.bench.results import Result, duration
from botz.errors import BotzError
from botz.record.reader import read

SCENARIO, ROBOT = "vivi-rough", "vivi"
PINNED, DRIVEN = "pinned.yaml", "driven.yaml"
"""The same with its physics on a core of its own; and with nobody who drives but the hands."""
STILL, MOVED = 2e-5, 1e-4
"""Way in 0.2 s of a robot that stands, and by which it is seen to have moved [m]. Springs and friction let it creep by
1e-6 in that time; at full voltage it goes 1e-4 in some 6 ms."""
SECONDS = 8.0
"""Of each run whose lateness is measured."""
ROUNDS = 4
"""Runs with and without readers take turns, so that a machine that grows busy meets both."""
VIEWERS = 5
CHANNELS = 24
"""That each of them watches, at 60 Hz."""
KEYS = 25
WANTED_MS = 50.0
"""Target from a key to the changed pose, median."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
BROWSER_FLAGS = [
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
"""It draws in software, and asks nobody but the lab."""
FLAT_PAGES = "--disable-gpu-compositing"
"""Loads pages in a fifth of the time that software graphics need to put them together, but the page then waits for each
picture; for those who do not measure how quickly it answers."""
FEW_PICTURES = """
const draw = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (picture) => setTimeout(() => draw(picture), 800);
window.cancelAnimationFrame = (number) => clearTimeout(number);
"""
"""Software that draws as often as it can takes the cores from what is measured; hands and messages wait for none of
it."""
VIEWER_PROGRAM = """
import asyncio, sys
import msgpack
from websockets.asyncio.client import connect

address, run, viewers, stalled = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "stalled"
place, _, token = address.removeprefix("http://").partition("/?token=")

async def watch():
    async with connect(f"ws://{place}/ws", origin=f"http://{place}", max_size=None,
                       max_queue=1 if stalled else 16) as page:
        await page.send(msgpack.packb({"t": "hello", "token": token, "name": "bench"}))
        await page.send(msgpack.packb({"t": "watch", "run": run, "channels": sys.argv[5].split(","), "rate": 60}))
        if stalled:
            page.transport.pause_reading()
            await asyncio.sleep(3600)
        async for _ in page:
            pass

async def main():
    print("watching", flush=True)
    await asyncio.gather(*[watch() for _ in range(viewers)])

asyncio.run(main())
"""


class Page:
    """A page that can start, drive and stop a run."""

    def __init__(self, address: str):
        from websockets.sync.client import connect

        place, _, token = address.removeprefix("http://").partition("/?token=")
        origin: Any = f"http://{place}"
        self.socket = connect(f"ws://{place}/ws", origin=origin, max_size=None, compression=None)
        self.said = 0
        self.say(t="hello", token=token, name="bench")

    def say(self, **message: Any) -> None:
        self.socket.send(msgpack.packb(message))

    def wait_for(self, kind: str, fits: Any = lambda message: True, seconds: float = 180.0) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            with suppress(TimeoutError):
                message = msgpack.unpackb(self.socket.recv(timeout=left))
                if message["t"] == "error":
                    raise BotzError(f"the lab says: {message['text']}")
                if message["t"] == kind and fits(message):
                    return message
        raise BotzError(f"the lab gave no {kind!r} within {seconds:g} s")

    def start(self, **settings: Any) -> dict[str, Any]:
        self.say(t="start", scenario=PINNED, factor=1.0, set=settings)
        found: dict[str, Any] = {}

        def begun(message: dict[str, Any]) -> bool:
            going = [run for run in message["runs"] if run["status"] in ("running", "failed")]
            found.update(going[-1] if going else {})
            return bool(found)

        self.wait_for("runs", begun)
        if found["status"] == "failed":
            raise BotzError(f"the run failed: {found['error']}")
        return found

    def wait_until_finished(self, key: str) -> None:
        def ended(message: dict[str, Any]) -> bool:
            return any(run["id"] == key and run["status"] in ("finished", "interrupted") for run in message["runs"])

        self.wait_for("runs", ended)

    def close(self) -> None:
        self.socket.close()


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder, lab(Path(folder)) as address:
        results = lateness(address, Path(folder) / "runs")
        results += stream(address)
        results += in_browser(address)
    return results


@contextmanager
def lab(folder: Path) -> Iterator[str]:
    """A lab on a free port, in a process of its own; its address, with the token."""
    runs = folder / "runs"
    runs.mkdir()
    pinned = f"extends: {SCENARIO}\nprocess: {{cpu: {cores()[0]}}}\n"
    (folder / PINNED).write_text(pinned, encoding="utf-8")
    (folder / DRIVEN).write_text(f"{pinned}controllers: null\ntime: {{duration: 600 s}}\n", encoding="utf-8")
    command = [sys.executable, "-P", "-c", "from botz.cli.main import main; main()"]
    process = subprocess.Popen(
        [*command, "lab", "--port", "0", "--runs", str(runs), "--root", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if "http://" not in line:
            raise BotzError("the lab did not start; `botz lab` says why")
        keep_off(process.pid)
        yield line.split()[-1]
    finally:
        process.terminate()
        process.wait(timeout=30)


def cores() -> tuple[int, set[int]]:
    """The core of the physics, and those of the rest."""
    own = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    return own[-1], set(own[:-1] or own)


def keep_off(pid: int) -> None:
    """Keeps a process, with all threads that it has, off the core of the physics."""
    if not hasattr(os, "sched_setaffinity"):
        return
    tasks = Path(f"/proc/{pid}/task")
    for thread in [int(one.name) for one in tasks.iterdir()] if tasks.is_dir() else [pid]:
        with suppress(OSError):
            os.sched_setaffinity(thread, cores()[1])


@contextmanager
def viewers(address: str, run: str, count: int, channels: list[str], kind: str = "reading") -> Iterator[None]:
    program = subprocess.Popen(
        [sys.executable, "-c", VIEWER_PROGRAM, str(address), run, str(count), kind, ",".join(channels)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        keep_off(program.pid)
        assert program.stdout is not None
        program.stdout.readline()
        yield
    finally:
        program.terminate()
        program.wait(timeout=30)


# --- lateness ------------------------------------------------------------------------------------------------


def lateness(address: str, folder: Path) -> list[Result]:
    """Lateness of the physics with readers and without, in runs that take turns."""
    found: dict[str, list[dict[str, float]]] = {"no": [], "five": [], "stalled": []}
    settings: dict[str, Any] = {"time.duration": SECONDS}
    for turn in range(ROUNDS):
        for kind in ("no", "five", "stalled") if turn % 2 == 0 else ("stalled", "five", "no"):
            found[kind].append(run_with(address, folder, kind, settings))
    results = []
    for share in ("p50", "p99", "max"):
        measured = {kind: 1e3 * statistics.median(one[share] for one in runs) for kind, runs in found.items()}
        for kind, text in (("five", f"{VIEWERS} viewers"), ("stalled", f"{VIEWERS} viewers that stopped reading")):
            name = f"lateness {share} with {text}"
            results.append(duration(name, measured[kind], "ms", peer="without any", peer_value=measured["no"]))
    return results


def run_with(address: str, folder: Path, kind: str, settings: dict[str, Any]) -> dict[str, float]:
    page = Page(address)
    try:
        before = set(folder.iterdir())
        going = page.start(**settings)
        channels = [name for name, *_ in going["channels"]][:CHANNELS]
        if kind == "no":
            page.wait_until_finished(going["id"])
        else:
            with viewers(address, going["id"], VIEWERS, channels, "stalled" if kind == "stalled" else "reading"):
                page.wait_until_finished(going["id"])
    finally:
        page.close()
    (made,) = set(folder.iterdir()) - before
    summary = read(made).summary
    return {share: float(summary[f"lateness_{share}_s"]) for share in ("p50", "p99", "max")}


# --- the stream and the page -----------------------------------------------------------------------------------


def stream(address: str) -> list[Result]:
    """From a message of the driver's to the frame that shows the changed pose, without a browser; and bytes sent."""
    page = Page(address)
    try:
        going = page.start(**{"time.duration": 600})
        page.say(t="watch", run=going["id"], channels=[f"{ROBOT}/pose", f"{ROBOT}/front_left/voltage"], rate=60)
        page.wait_for("frame")
        delays = []
        for k in range(KEYS):
            began = time.perf_counter()
            page.say(t="drive", run=going["id"], robot=ROBOT, mode="drive", axes={"forward": 0.5 * (k % 2)}, seq=k + 1)
            page.wait_for("frame", lambda frame, k=k: frame["a"] >= k + 1)
            delays.append(1e3 * (time.perf_counter() - began))
            time.sleep(0.05)
        channels = [name for name, *_ in going["channels"]]
        sizes = {len(names): bytes_per_second(page, going["id"], names) for names in (channels[:CHANNELS], channels)}
        page.say(t="stop", run=going["id"])
        page.wait_until_finished(going["id"])
    finally:
        page.close()
    results = [duration("drive message to the frame with its effect, median", statistics.median(delays), "ms")]
    for count, rate in sizes.items():
        results.append(duration(f"sent to a page that watches {count} channels", rate, "bytes/s"))
    return results


def bytes_per_second(page: Page, run: str, channels: list[str]) -> float:
    page.say(t="watch", run=run, channels=channels, rate=60)
    page.wait_for("watching")
    page.wait_for("frame")
    began, received = time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < 2.0:
        with suppress(TimeoutError):
            received += len(page.socket.recv(timeout=2.0 - passed))
    return received / passed


def browser_path() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def wait_until_still(page: Any) -> None:
    """Until the robot stands, so that what moves it is the key."""
    before = float("nan")
    for _ in range(100):
        now = float(page.evaluate(f"window.botzLab.value('{ROBOT}/pose')[0]"))
        if abs(now - before) < STILL:
            return
        before = now
        page.wait_for_timeout(200)
    raise BotzError("the robot did not come to rest")


def in_browser(address: str) -> list[Result]:
    """From a key in a real page to the changed pose arriving there, and how long the page draws."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("botz: skipped in a browser: playwright is not installed", file=sys.stderr)
        return []
    path = browser_path()
    if path is None:
        print("botz: skipped in a browser: no Chromium on this machine", file=sys.stderr)
        return []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=BROWSER_FLAGS)
        try:
            delays, received = keys_to_motion(browser, address)
            frame = drawing(browser, address)
        finally:
            browser.close()
    return [
        duration("key in the page to motion arriving there, median", statistics.median(delays), "ms", target=WANTED_MS),
        duration("key in the page to motion arriving there, worst", max(delays), "ms"),
        duration("received by the page", received, "bytes/s"),
        duration("frame of the page, 480 x 320, software rendering", frame, "ms"),
    ]


def keys_to_motion(browser: Any, address: str) -> tuple[list[float], float]:
    """From keys to the changed pose [ms], and what the page receives [bytes/s]. Where a graphics card draws, drawing
    takes nothing from this; software would, so that this page draws little."""
    page = browser.new_page(viewport={"width": 320, "height": 200})
    page.add_init_script(FEW_PICTURES)
    open_run(page, address)
    delays = []
    for k in range(KEYS):
        wait_until_still(page)
        key = "KeyS" if k % 2 else "KeyW"  # to and fro
        delays.append(
            float(page.evaluate(f"window.botzLab.measure.inputToMotion('{ROBOT}/pose', 0, {MOVED}, '{key}', 5000)"))
        )
    received = float(page.evaluate("window.botzLab.measure.stats()")["bytesPerSecond"])
    page.close()
    return delays, received


def drawing(browser: Any, address: str) -> float:
    """How long a picture of the page takes, as many as it can [ms]."""
    page = browser.new_page(viewport={"width": 480, "height": 320})
    open_run(page, address)
    page.wait_for_timeout(5000)
    frame = float(page.evaluate("window.botzLab.measure.stats()")["frameMs"])
    page.close()
    return frame


def open_run(page: Any, address: str) -> None:
    """A page with a run of its own, once its frames come."""
    page.goto(f"{address}&scenario={DRIVEN}&autostart=1")
    # The page's own rules keep Playwright's waiting, which evaluates text in it, out.
    for _ in range(1800):
        if page.evaluate("window.botzLab?.lastFrame?.step > 0"):
            break
        page.wait_for_timeout(100)
    else:
        raise BotzError("the page showed no frame within 180 s")
    page.evaluate(f"window.botzLab.wish(['{ROBOT}/pose'])")
    page.wait_for_timeout(3000)
