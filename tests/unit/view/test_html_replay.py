"""A recording as one HTML file: what is in it, for every family, and what is said when it cannot be written."""

from __future__ import annotations

import base64
import json
import re
import struct
import sys
import webbrowser
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from common import Answer
from recorded_runs import circle

import botz
from botz.errors import BotzError, InputError, RecordingError
from botz.scene.build import scene_of
from botz.scene.glb import write_glb
from botz.view import html_replay
from botz.view.html_replay import replay_page, write_html
from botz.view.lab.client import client_folder
from botz.view.lab.recordings import rows_of, scenario_of
from botz.view.packing import COMPONENTS

FAMILIES = ["differential-circle", "vivi-rough", "soccer-wall", "puma-wave", "lophorina-hover"]
INDEX = """<!doctype html>
<html lang="en">
  <head>
    <title>Botz lab</title>
    <link rel="icon" href="data:," />
    <script type="module" crossorigin src="./assets/index-x.js"></script>
    <link rel="stylesheet" crossorigin href="./assets/index-y.css">
  </head>
  <body>
    <div id="root"></div>
  </body>
</html>
"""
Record = Callable[..., botz.Recording]


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small page, as Vite leaves it."""
    folder = tmp_path / "client"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "assets" / "index-x.js").write_text('const s = "</script><!--\\1";')
    (folder / "assets" / "index-y.css").write_text("b { color: red }")
    monkeypatch.setattr(html_replay, "client_folder", lambda: folder)
    return folder


@pytest.fixture(params=FAMILIES)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> botz.Recording:
    return botz.simulate(request.param, duration=0.3, out=tmp_path / request.param)


@pytest.fixture
def short(tmp_path: Path) -> botz.Recording:
    return botz.simulate("differential-circle", duration=0.2, out=tmp_path / "short")


# --- reading a file back -----------------------------------------------------------------------------------------


def sums(data: bytes, columns: int, size: int) -> bytes:
    """The other way round of `differences`."""
    planes = np.frombuffer(data, np.uint8).reshape(columns, size, -1).transpose(0, 2, 1)
    steps = np.ascontiguousarray(planes).view(f"<u{size}")[:, :, 0]
    return np.ascontiguousarray(np.cumsum(steps, axis=1, dtype=steps.dtype).T).tobytes()


def parts(page: str) -> tuple[dict[str, Any], bytes, bytes, np.ndarray]:
    """Header, scene as a GLB of differences, points that arms reach, rows."""
    found = re.search(r'<script type="text/plain" id="recording">([^<]*)</script>', page)
    assert found is not None
    data = zlib.decompress(base64.b64decode(found[1]))
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    glb, rest = data[4 + length :][: header["scene"]], data[4 + length + header["scene"] :]
    reach = sum(header["workspaces"].values())
    rows = np.frombuffer(sums(rest[reach:], header["columns"], 4), "<f4").reshape(-1, header["columns"])
    return header, glb, rest[:reach], rows


def arrays(glb: bytes, undo: bool) -> list[np.ndarray]:
    """All arrays of a GLB."""
    (length,) = struct.unpack_from("<I", glb, 12)
    document, start = json.loads(glb[20 : 20 + length]), 28 + length
    found = []
    for accessor in document["accessors"]:
        view = document["bufferViews"][accessor["bufferView"]]
        data = glb[start + view["byteOffset"] :][: view["byteLength"]]
        kind = np.dtype({5123: "<u2", 5125: "<u4", 5126: "<f4"}[accessor["componentType"]])
        if undo:
            data = sums(data, COMPONENTS[accessor["type"]], kind.itemsize)
        found.append(np.frombuffer(data, kind))
    return found


def test_a_file_holds_the_page_the_scene_and_the_numbers_of_every_family(run: botz.Recording, client: Path):
    written = write_html(run, run.path.with_name("replay"))
    assert written == run.path.with_name("replay.html")
    page = written.read_text(encoding="utf-8")
    header, glb, reach, rows = parts(page)
    assert header["details"]["scenario"] == run.header.scenario_name
    assert header["details"]["channels"] == run.channels.plain()
    expected, columns = rows_of(run, list(run.channels.slices), 0.0, run.duration, html_replay.DISPLAY_RATE)
    np.testing.assert_array_equal(rows, np.frombuffer(expected, "<f4").reshape(-1, columns))
    assert rows[-1, 0] == pytest.approx(run.duration)
    scene = scene_of(scenario_of(run).spec)
    for exact, stored in zip(arrays(write_glb(scene), False), arrays(glb, True), strict=True):
        np.testing.assert_allclose(stored, exact, atol=2e-3 * max(1.0, float(np.abs(exact).max(initial=0.0)) / 100))
    assert len(reach) == (6000 * 12 if run.header.engine == "arm" else 0)


def test_scripts_and_styles_are_inside_and_nothing_is_asked_for(short: botz.Recording, client: Path):
    page = replay_page(short)
    assert r'<script type="module">const s = "<\/script>\x3C!--\1";</script>' in page
    assert "<style>b { color: red }</style>" in page
    assert "default-src 'none'" in page
    assert "<title>differential-circle · Botz</title>" in page
    assert not re.search(r'(src|href)="(?!data:)', page)


def test_fewer_rows_are_kept_where_it_is_asked_and_of_long_runs(
    short: botz.Recording, client: Path, monkeypatch: pytest.MonkeyPatch
):
    assert [len(parts(replay_page(short, rate=rate))[3]) for rate in (60.0, 10.0)] == [13, 3]
    monkeypatch.setattr(html_replay, "MOST_VALUES", 5 * (1 + short.channels.width))
    assert len(parts(replay_page(short))[3]) <= 6


def test_what_a_scenario_is_called_is_text(record: Record, client: Path, monkeypatch: pytest.MonkeyPatch):
    recording = record(circle(20), name="a<b>&c", scenario=dict(botz.load("differential-circle").data))
    page = replay_page(recording)
    assert "<title>a&lt;b&gt;&amp;c · Botz</title>" in page
    assert parts(page)[0]["details"]["scenario"] == "a<b>&c"


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_a_rate_must_be_one(rate: float, short: botz.Recording, client: Path):
    with pytest.raises(InputError, match="rate"):
        replay_page(short, rate=rate)


def test_an_empty_recording_is_told(record: Record, client: Path):
    with pytest.raises(InputError, match="nothing was recorded"):
        replay_page(record(np.zeros((0, 8))))


def test_a_page_that_is_not_there_or_not_whole_is_told(short: botz.Recording, client: Path, monkeypatch: Any):
    (client / "assets" / "index-y.css").unlink()
    with pytest.raises(BotzError, match=r"not whole: .*index-y\.css"):
        replay_page(short)
    (client / "index.html").write_text(INDEX.replace("</head>", '<link rel="modulepreload" href="./assets/z.js">'))
    (client / "assets" / "index-y.css").write_text("")
    with pytest.raises(BotzError, match="one file cannot hold it"):
        replay_page(short)

    def missing() -> Path:
        raise BotzError("the lab's page is not installed")

    monkeypatch.setattr(html_replay, "client_folder", missing)
    with pytest.raises(BotzError, match="not installed"):
        replay_page(short)


def test_an_older_file_is_replaced_whole_and_stays_where_that_fails(
    short: botz.Recording, client: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    target = tmp_path / "old.HTM"
    target.write_text("old")
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(RecordingError, match="No space left"):
        write_html(short, target)
    monkeypatch.undo()
    assert target.read_text() == "old" and not list(tmp_path.glob(".old*"))
    monkeypatch.setattr(html_replay, "client_folder", lambda: client)
    assert write_html(short, target) == target
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(RecordingError, match="cannot write"):
        write_html(short, tmp_path / "none" / "x.html")


def test_the_command_writes_it_beside_the_recording_or_where_it_is_told(
    short: botz.Recording, client: Path, botz: Callable[..., Answer], tmp_path: Path
):
    answer = botz("export", "short", "--html", "--csv")
    assert answer.code == 0, answer.err
    assert answer.out.split() == ["short/recording.csv", "short/recording.html"]
    assert botz("export", "short", "--html", "-o", "x.html").out == "x.html\n"
    assert (tmp_path / "x.html").read_bytes() == (tmp_path / "short" / "recording.html").read_bytes()
    assert "--html" in botz("export", "short").err


def test_vivi_on_rough_ground_takes_less_than_3_mb(tmp_path: Path):
    try:
        client_folder()
    except BotzError as error:
        pytest.skip(str(error))
    recording = botz.simulate("vivi-rough", out=tmp_path / "run")
    assert write_html(recording, tmp_path / "vivi.html").stat().st_size < 3_000_000


# --- from Python -------------------------------------------------------------------------------------------------


def test_show_opens_the_browser_with_a_file(
    short: botz.Recording, client: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    opened: list[str] = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda address: not opened.append(address))
    shown = short.show()
    assert opened == [shown.path.as_uri()] and shown.path.parent == tmp_path
    assert shown.path.read_text(encoding="utf-8") == shown.page == replay_page(short)
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert f"the replay is in {short.show().path}" in capsys.readouterr().err.replace("\n", " ")


def test_show_is_a_frame_in_a_notebook_only(
    short: botz.Recording, client: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not opened.append(address))
    shell = SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    shown = short.show(height=300)
    assert shown.path is None and opened == []
    frame = shown._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!doctype html&gt;') and "height: 300px" in frame
    assert frame.count('"') == 6 and "<script" not in frame
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=SimpleNamespace))  # in a terminal
    assert short.show().path is not None and len(opened) == 1
