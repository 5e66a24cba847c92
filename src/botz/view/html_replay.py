"""A recording as one HTML file: the lab's page with the recording inside. It needs no server and no network.

The page's scripts and styles stand in the file as they are. The recording is base64 of a stream by zlib, which
`web/src/embedded.ts` reads: the length of a JSON header, the header, the scene as GLB, points that arms reach, and rows
of numbers, the last ones once for each display image and in single precision.
"""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any

from botz.errors import BotzError, InputError, Problem, RecordingError
from botz.record.plain_json import finite
from botz.record.reader import Recording
from botz.record.whole_file import whole_file
from botz.scene.build import scene_of
from botz.scene.glb import write_glb
from botz.scene.world_scene import ArmPosture
from botz.view.lab.client import client_folder
from botz.view.lab.recordings import details_of, first_time, rows_of, scenario_of
from botz.view.lab.solutions import Arms
from botz.view.packing import differences, differences_of_glb

ENDINGS = (".html", ".htm")
DISPLAY_RATE = 60.0
"""Rows a second: more cannot be seen."""
MOST_VALUES = 4_000_000
"""Numbers in one file; of a longer recording fewer rows a second are kept."""
SCRIPT = re.compile(r'<script type="module"[^>]*\bsrc="([^"]+)"[^>]*></script>')
STYLE = re.compile(r'<link rel="stylesheet"[^>]*\bhref="([^"]+)"[^>]*>')
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "connect-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
"""The file asks nobody for anything, and the browser sees to that."""


def write_html(recording: Recording, path: str | Path, *, rate: float = DISPLAY_RATE) -> Path:
    """Write a recording as a page that replays it; returns the file, whose name ends in .html.

    `rate` is how many rows a second the file keeps. A file that is there already is replaced, as by other exports.
    """
    path = Path(path)
    target = path if path.suffix.lower() in ENDINGS else path.with_name(path.name + ENDINGS[0])
    page = replay_page(recording, rate=rate)
    try:
        with whole_file(target) as unfinished:
            unfinished.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise RecordingError(f"{target}: cannot write: {error.strerror or error}") from error
    return target


def replay_page(recording: Recording, *, rate: float = DISPLAY_RATE) -> str:
    """The text of the file."""
    if not 0.0 < rate < float("inf"):
        raise InputError(Problem(f"{rate:g} is no rate; take one above 0, such as {DISPLAY_RATE:g}", key="rate"))
    if not len(recording.channels) or not len(recording.time()):
        raise InputError(Problem("nothing was recorded, so there is nothing to show", file=recording.file))
    data = base64.b64encode(zlib.compress(packed(recording, rate), 9)).decode("ascii")
    page = whole_page(client_folder())
    title = f"<title>{html.escape(recording.header.scenario_name)} · Botz</title>"
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}" />'
    page = re.sub(r"<title>.*?</title>", lambda _: f"{policy}\n    {title}", page, count=1, flags=re.DOTALL)
    body, end = page.rsplit("</body>", 1)
    return f'{body}  <script type="text/plain" id="recording">{data}</script>\n  </body>{end}'


def whole_page(client: Path) -> str:
    """The built page with its scripts and styles inside."""

    def script(found: re.Match[str]) -> str:
        # What would end the element or begin a comment stands in strings only, where an escape means the same.
        code = built(client, found[1]).replace("</script", r"<\/script").replace("<!--", r"\x3C!--")
        return f'<script type="module">{code}</script>'

    def style(found: re.Match[str]) -> str:
        return f"<style>{built(client, found[1])}</style>"

    page = STYLE.sub(style, SCRIPT.sub(script, built(client, "index.html")))
    if re.search(r'<(?:script|link)\b[^>]*\b(?:src|href)="\./', page):
        raise BotzError("the lab's page is built of more than a script and a style sheet; one file cannot hold it")
    return page


def built(client: Path, name: str) -> str:
    try:
        return (client / name).read_text(encoding="utf-8")
    except OSError as error:
        raise BotzError(f"the lab's page is not whole: {client / name}: {error.strerror or error}") from error


def called(recording: Recording) -> str:
    """By its folder or file; one in memory by its scenario."""
    file = recording.file
    return recording.header.scenario_name if file is None else file.parent.name or file.stem


def packed(recording: Recording, rate: float) -> bytes:
    """All that the page would ask a lab for."""
    spec: Any = scenario_of(recording).spec
    scene = scene_of(spec)
    glb = differences_of_glb(write_glb(scene, small=True))
    arms = Arms()
    reached = {
        one.robot: arms.workspace(recording.label, spec, one.robot)
        for one in scene.indicators
        if isinstance(one, ArmPosture)
    }
    names = list(recording.channels.slices)
    begin, end = first_time(recording), recording.duration
    most = MOST_VALUES / (1 + recording.channels.width) / max(end - begin, 1e-9)
    rows, columns = rows_of(recording, names, begin, end, min(rate, most))
    header = {
        "details": details_of(recording, called(recording)),
        "scene": len(glb),
        "workspaces": {robot: len(points) for robot, points in reached.items()},
        "columns": columns,
    }
    text = json.dumps(finite(header), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, glb, *reached.values(), differences(rows, columns, size=4)])
