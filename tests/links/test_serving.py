"""Served runs for real: processes, sockets of this machine, Ctrl-C, and what is left afterwards."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from common import PATIENCE, BotzProcess, ScenarioFile

from botz import AttachedRun, InputError, load, read
from botz.endpoints.pose.client import PoseClient
from botz.endpoints.server_process import Connection, turn_until, watch
from botz.endpoints.serving import links_of
from botz.run import run_scenario
from botz.sim.shared_memory import process_birth, running

linux = pytest.mark.skipif(sys.platform != "linux", reason="signals processes and looks into /proc")
ADDRESS = re.compile(r"^  poses +(127\.0\.0\.1:\d+)$", re.MULTILINE)


@pytest.fixture
def served(
    start_botz: Callable[..., BotzProcess], shared_memory_folder: Path
) -> Iterator[tuple[BotzProcess, str, list[int]]]:
    """A run that would last for days, where its poses are, and its processes."""
    process = start_botz(
        "run",
        "differential-circle",
        "--serve",
        "--set",
        "links.poses.listen=127.0.0.1:0",
        "--set",
        "record.rate=1000",
        "--duration",
        "1e6",
        "--out",
        "run",
        "--json",
    )
    address = process.wait_for(lambda: ADDRESS.search(process.err), "the addresses")[1]
    children = children_of(process.process.pid)
    yield process, address, children
    for pid in children:
        if process_birth(pid) != -1:
            os.kill(pid, signal.SIGKILL)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + PATIENCE
    while any(process_birth(pid) != -1 for pid in pids):
        assert time.monotonic() < deadline, "a process lives on"
        time.sleep(0.01)


def links_process(children: list[int]) -> int:
    """The one that serves."""
    return next(pid for pid in children if b"server_process" in Path(f"/proc/{pid}/cmdline").read_bytes())


@linux
def test_viewers_see_the_run_and_ctrl_c_keeps_the_recording(served, shared_memory_folder: Path, tmp_path: Path):
    process, address, children = served
    assert len(children) == 2, "physics and links"
    with PoseClient(address, timeout=PATIENCE) as client, PoseClient(address, timeout=PATIENCE) as leaver:
        assert client.scenario == "differential-circle" and client.engine == "kinematics"
        first = leaver.next()
        leaver.close()
        robot = client.frames[0]
        frames = []
        for frame in client:
            frames.append(frame)
            if frame.time > first.time + 0.3:
                break
        for pid in children:
            os.kill(pid, signal.SIGINT)  # a terminal's Ctrl-C reaches them too; what it means is decided by the parent
        process.signal(signal.SIGINT)
        frames += list(client)
    assert np.linalg.norm(frames[-1].poses[robot][:3] - frames[0].poses[robot][:3]) > 0.01, "it drives"
    steps = [frame.step for frame in frames]
    assert steps == sorted(steps)
    answer = process.finish()
    assert answer.code == 130 and "Traceback" not in answer.err, answer.err
    wait_until_gone(children)
    assert list(shared_memory_folder.iterdir()) == [] and running() == []
    summary = json.loads(answer.out)
    assert summary["status"] == "interrupted" and summary["lateness_ticks"] > 0 and summary["poses_clients"] == 2
    assert steps[-1] == summary["steps"], "the last frame is the state in which the run ended"
    rec = read(tmp_path / "run")
    assert rec.complete and rec.summary["poses_clients"] == "2"
    counters = json.loads((tmp_path / "run" / "links.json").read_text())
    assert counters["poses"]["clients"] == 2 and counters["poses"]["sent"] > 0
    # What a viewer saw is what was recorded at that step.
    seen = {frame.step: frame.poses[robot] for frame in frames}
    rows = dict(zip(rec.steps().tolist(), rec[f"{robot}/pose"], strict=True))
    common = seen.keys() & rows.keys()
    assert common and all(seen[step][:2].tolist() == rows[step][:2].tolist() for step in common)


@linux
def test_a_links_process_that_dies_is_reported_and_the_run_goes_on(served, tmp_path: Path):
    process, address, children = served
    run = AttachedRun(running()[0])
    with PoseClient(address, timeout=PATIENCE) as client:
        client.next()
        os.kill(links_process(children), signal.SIGKILL)
        process.wait_for(lambda: "no longer served: poses (signal SIGKILL)" in process.err, "the warning")
    then = run.time
    process.wait_for(lambda: run.time > then + 0.1, "more steps")
    process.signal(signal.SIGINT)
    answer = process.finish()
    assert answer.code == 130 and "Traceback" not in answer.err
    assert answer.err.count("no longer served") == 1
    assert read(tmp_path / "run").complete
    assert json.loads((tmp_path / "run" / "links.json").read_text()) == {}


@linux
def test_nothing_outlives_a_killed_parent(served, shared_memory_folder: Path):
    process, _, children = served
    os.kill(process.process.pid, signal.SIGKILL)
    process.process.wait()
    wait_until_gone(children)
    assert list(shared_memory_folder.iterdir()) == []


def test_an_address_in_use_ends_the_run_before_it_begins(run_botz, shared_memory_folder: Path, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "{}:{}".format(*taken.getsockname())
        setting = f"links.poses.listen={address}"
        answer = run_botz("run", "differential-circle", "--serve", "--set", setting, "--out", "run", "--json")
    assert answer.code == 2 and answer.out == "" and "Traceback" not in answer.err
    assert f"links.poses.listen: cannot listen at {address}, in use by another program" in answer.err
    assert "--set links.poses.listen=127.0.0.1:0" in answer.err
    assert not (tmp_path / "run").exists()
    assert list(shared_memory_folder.iterdir()) == []


def test_a_link_of_the_scenario_names_its_setting(run_botz, shared_memory_folder: Path, tmp_path: Path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        address = "{}:{}".format(*taken.getsockname())
        settings = ["links.camera=null", "links.poses.listen=127.0.0.1:0", f"links.league.listen={address}"]
        answer = run_botz(
            "run", "soccer", "--serve", "--out", "run", *(word for s in settings for word in ("--set", s))
        )
    assert answer.code == 2 and answer.out == "" and "Traceback" not in answer.err
    assert f"links.league.listen: cannot listen at {address}, in use by another program" in answer.err
    assert "--set links.league.listen=127.0.0.1:0" in answer.err
    assert not (tmp_path / "run").exists()
    assert list(shared_memory_folder.iterdir()) == []


# --- the run's side, with servers of the test's own --------------------------------------------------------


class Watching:
    """Servers that note when they are called."""

    def __init__(self, waits: float = 0.0, stop: Callable[[], None] = lambda: None):
        self.calls: list[str] = []
        self.steps: list[int] = []
        self.waits, self.stop = waits, stop
        self.told = ["something has died"]

    def __enter__(self) -> Watching:
        self.calls.append("enter")
        return self

    def __exit__(self, *_: Any) -> None:
        self.calls.append("exit")

    def start(self, run_id: str, should_stop: Callable[[], bool]) -> None:
        self.calls.append("start")
        run = AttachedRun(run_id)
        self.stop()
        deadline = time.monotonic() + self.waits
        while time.monotonic() < deadline and not should_stop():
            time.sleep(0.01)
            self.steps.append(run.latest()[0])

    def look(self) -> list[str]:
        told, self.told = self.told, []
        return told

    def counters(self) -> dict[str, dict[str, Any]]:
        self.calls.append("counters")
        return {"league": {"received": 7, "ignored": 2, "odd": 1}, "camera": {"clients": 1}}


def test_the_run_waits_for_its_servers_and_keeps_what_they_counted(scenario_file: ScenarioFile, tmp_path: Path):
    servers = Watching(waits=0.7)
    loaded = load(scenario_file({"time": {"duration": 0.2}}))
    outcome = run_scenario(loaded, out=tmp_path / "run", realtime=True, servers=servers)
    assert outcome.status == "finished" and servers.calls == ["enter", "start", "exit", "counters"]
    assert len(set(servers.steps[len(servers.steps) // 2 :])) == 1, "the run stands still meanwhile"
    summary = outcome.summary
    assert float(summary["lateness_resynchronised_s"]) == 0.0, "the wait is no lateness"
    assert (summary["league_received"], summary["league_ignored"], summary["camera_clients"]) == ("7", "2", "1")
    assert json.loads((tmp_path / "run" / "links.json").read_text()) == {
        "league": {"received": 7, "ignored": 2, "odd": 1},
        "camera": {"clients": 1},
    }
    rec = read(tmp_path / "run")
    assert rec.steps().tolist() == list(range(0, 201, 10))
    assert any("something has died" in text for _, _, text in rec.logs())


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_an_interrupt_while_servers_start_leaves_nothing(
    scenario_file: ScenarioFile, tmp_path: Path, shared_memory_folder: Path
):
    servers = Watching(waits=PATIENCE, stop=lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run_scenario(load(scenario_file()), out=tmp_path / "run", realtime=True, servers=servers)
    assert servers.calls == ["enter", "start", "exit"]
    assert not (tmp_path / "run").exists() and list(shared_memory_folder.iterdir()) == []


# --- the loop of the links ---------------------------------------------------------------------------------


class Echo:
    """A link with one socket that counts what it hears, and fails when told."""

    address = "nowhere"

    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()
        self.heard = self.turns = 0
        self.fails = self.closed = False

    @property
    def sockets(self) -> list[socket.socket]:
        return [self.near]

    def receive(self) -> None:
        self.heard += len(self.near.recv(100))
        if self.fails:
            raise OSError("the network is down")

    def next_due(self) -> float | None:
        return None

    def send_if_due(self, now: float) -> None:
        self.turns += 1

    def counters(self) -> dict[str, Any]:
        return {"heard": self.heard}

    def close(self) -> None:
        self.closed = True
        self.near.close()
        self.far.close()


def test_a_link_that_fails_is_closed_and_the_others_go_on():
    good, bad = Echo(), Echo()
    links: dict[str, Connection] = {"good": good, "bad": bad}
    told: list[dict[str, Any]] = []
    bad.fails = True
    bad.far.send(b"x")

    def should_stop() -> bool:
        if told and not good.heard:
            good.far.send(b"yz")
        return good.heard > 0

    closed = turn_until(should_stop, links, told.append)
    assert list(closed) == ["bad"] and list(links) == ["good"] and bad.closed and not good.closed
    assert told == [{"event": "warning", "text": "the link 'bad' is closed: the network is down"}]
    assert good.heard == 2 and good.turns > 1
    good.close()


def test_sockets_may_come_and_go_under_the_same_number():
    link, other = Echo(), Echo()
    with selectors.DefaultSelector() as selector:
        watch(selector, {"a": link, "b": other})
        number = link.near.fileno()
        link.close()
        link.near, link.far = socket.socketpair()
        assert link.near.fileno() == number or os.name != "posix", "the system gives the lowest free number"
        watch(selector, {"a": link, "b": other})
        link.far.send(b"x")
        assert [key.data for key, _ in selector.select(PATIENCE)] == ["a"]
        link.close()
        watch(selector, {"b": other})
        assert [key.data for key in selector.get_map().values()] == ["b"]
    other.close()


# --- which links there are ---------------------------------------------------------------------------------


def test_a_match_has_all_its_links_and_other_families_the_poses(scenario_file: ScenarioFile):
    assert set(links_of(load("soccer").spec)) == {"league", "referee", "voltage", "camera", "poses"}
    chosen = links_of(load("soccer", overrides=["links.league=null", "links.camera.noise=3"]).spec)
    assert set(chosen) == {"referee", "voltage", "camera", "poses"} and chosen["camera"].noise == 3  # type: ignore[attr-defined]
    plain = links_of(load(scenario_file()).spec)
    assert set(plain) == {"poses"} and plain["poses"].listen == "127.0.0.1:20014"  # type: ignore[attr-defined]


def test_nothing_to_open_is_an_error():
    none = load(
        "soccer", overrides=[f"links.{name}=null" for name in ("league", "referee", "voltage", "camera", "poses")]
    ).spec
    with pytest.raises(InputError, match="nothing to open"):
        links_of(none)
