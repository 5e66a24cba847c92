"""The lab as a program: its address, Ctrl-C, and what is left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from common import PATIENCE, Answer, BotzProcess
from lab_rig import Page

import botz
from botz.errors import BotzError, InputError
from botz.view.lab.server import LabServer, LabSettings, listening

SERVE = """
from pathlib import Path
from botz.scenario.load import load
from botz.view.lab.lab import InitialRun
from botz.view.lab.server import LabSettings, serve_lab
initial = InitialRun(load("differential-circle", overrides=["time.duration=1000"]), out=Path("here"))
serve_lab(LabSettings(port=0, runs=Path("runs"), initial=initial), on_address=lambda text: print(text, flush=True))
print("ended in order", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_lab_and_keeps_its_runs(tmp_path: Path, number: signal.Signals):
    process = subprocess.Popen([sys.executable, "-c", SERVE], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        recording = tmp_path / "here" / "recording.mcap"
        deadline = time.monotonic() + PATIENCE
        address, _, token = address.partition("?token=")
        while httpx.get(address + "api/health", trust_env=False).json()["runs"] == 0 or not recording.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        if sys.platform == "linux":
            # The server gives way to the physics, whose process is two below.
            own = os.getpriority(os.PRIO_PROCESS, 0)
            assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, own + 5)
            nices = []
            for child in children(process.pid):
                with suppress(ProcessLookupError):  # it may have ended meanwhile
                    nices.append(os.getpriority(os.PRIO_PROCESS, child))
            assert nices and set(nices) == {own}
        page = Page(SimpleNamespace(origin=address.rstrip("/"), ws=f"ws{address[4:]}ws", token=token))  # type: ignore[arg-type]
        (run,) = next(m for m in reversed(page.told) if m["t"] == "runs")["runs"]
        page.run(run["id"], lambda one: one["status"] == "running")  # one that has not begun leaves nothing
        page.say(t="watch", run=run["id"], channels=["rover/pose"], rate=20)
        page.frame(lambda frame: frame["s"] > 300)
        page.socket.close()
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0 and "ended in order" in out
    finally:
        process.kill()
        process.wait()
    rec = botz.read(tmp_path / "here")
    assert rec.complete and rec.summary["status"] == "interrupted"


def test_a_run_in_the_lab_serves_its_links_too(own_shared_memory: None, tmp_path: Path):
    from botz.view.lab.client import client_folder

    try:
        client_folder()
    except BotzError as error:
        pytest.skip(str(error))
    words = ["run", "differential-circle", "--lab", "--serve", "--set", "links.poses.listen=127.0.0.1:0"]
    process = BotzProcess(words, tmp_path, {})
    try:
        process.wait_for(lambda: "?token=" in process.out, "the lab's address")
        line = process.wait_for(
            lambda: next((one for one in process.err.splitlines() if one.split()[:1] == ["poses"]), None),
            "the poses' address",
        )
        host, _, port = line.split()[-1].rpartition("/")[2].rpartition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as viewer:
            assert viewer.recv(1)
        process.process.terminate()
        assert process.process.wait(PATIENCE) == 0
    finally:
        process.end()


def test_the_demo_waits_for_a_page_lasts_and_its_ground_goes_on(own_shared_memory: None, tmp_path: Path):
    from botz.view.lab.client import client_folder

    try:
        client_folder()
    except BotzError as error:
        pytest.skip(str(error))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = BotzProcess(["demo", "--port", str(port), "--out", "demo"], tmp_path, {})
    try:
        process.wait_for(lambda: "?token=" in process.out and process.out.endswith("\n"), "the lab's address")
        address = next(line.split()[-1] for line in process.out.splitlines() if "?token=" in line)
        assert address.startswith(f"http://127.0.0.1:{port}/")
        origin, _, token = address.partition("/?token=")
        page = Page(SimpleNamespace(origin=origin, ws=f"ws{origin[4:]}/ws", token=token))  # type: ignore[arg-type]
        listed = next(m for m in reversed(page.told) if m["t"] == "runs")
        if not listed["runs"]:  # its picture is still being made
            listed = page.wait_for(lambda m: m["t"] == "runs" and m["runs"], "the run")
        (run,) = listed["runs"]
        # It stands at its beginning, and has no end, until a page shows it.
        waiting = page.run(run["id"], lambda one: one["status"] != "starting")
        assert waiting["status"] == "paused" and waiting["time"] == 0.0 and waiting["duration"] is None
        assert waiting["driver"] == page.viewer
        pose = next(name for name, *_ in waiting["channels"] if name.endswith("/pose"))
        page.say(t="watch", run=run["id"], channels=[pose], rate=20)
        page.run(run["id"], lambda one: one["status"] == "running")
        page.frame(lambda frame: frame["s"] > 0)
        page.socket.close()
        process.process.send_signal(signal.SIGINT)
        assert process.process.wait(PATIENCE) == 0
        assert "Traceback" not in process.err
    finally:
        process.end()
    rec = botz.read(tmp_path / "demo")
    assert rec.complete and rec.summary["status"] == "interrupted" and rec.duration > 0.0
    scenario = rec.scenario
    assert scenario["time"]["duration"] >= 86400 and scenario["world"]["terrain"]["outside"] == "mirror"
    assert scenario["controllers"]["tour"]["loop"] is True


def children(pid: int) -> list[int]:
    """Processes that a process has started, and those that these have."""
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):  # processes and threads come and go
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                for child in (task / "children").read_text().split():
                    found += [int(child), *children(int(child))]
    return found


def test_a_port_in_use_and_odd_addresses_are_told():
    taken = listening("127.0.0.1", 0)
    with pytest.raises(InputError, match="--port: cannot listen"):
        LabServer(LabSettings(port=taken.getsockname()[1]))
    taken.close()
    with pytest.raises(InputError, match="--host"):
        listening("no such host.example", 0)
    with pytest.raises(InputError, match="65535"):
        listening("127.0.0.1", 70000)
    with pytest.raises(InputError, match="--root"):
        LabServer(LabSettings(port=0, root=Path("nowhere")))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "seed=1"], "--set"),
        (["no-such-scenario"], "no scenario"),
        (["differential-circle", "--set", "seed=x"], "seed"),
    ],
)
def test_mistakes_on_the_command_line_are_told(botz: Callable[..., Answer], arguments: list[Any], told: str):
    answer = botz("lab", *arguments)
    assert answer.code == 2 and told in answer.err and "Traceback" not in answer.err
