"""A match that a test moves by hand, its camera served from a thread, and what its images must be."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from botz.channels import Channel, ChannelTable
from botz.endpoints.camera.stream import serve_camera
from botz.scenario.soccer.links import CameraLink
from botz.scenario.soccer.schema import PlayingField
from botz.scene.soccer.camera import SoccerCamera

SEED = 11
SIDE, RADIUS = 0.075, 0.0215
WAIT = 20.0
"""Seconds after which a test gives up: none of them comes near it."""


class HandMovedMatch:
    """As an AttachedRun, but its steps are those that a test has taken."""

    step_ns = 1_000_000
    scenario = "hand-moved"

    def __init__(self, robots: int = 6):
        names = [f"{('blue', 'yellow')[k % 2]}{k // 2}" for k in range(robots)]
        self.about = {
            "field": PlayingField().model_dump(),
            "ball": {"radius": RADIUS},
            "robots": {name: {"team": name[:-1], "id": int(name[-1]), "side": SIDE} for name in names},
        }
        channels = [Channel("match/score", "1", "", ("blue", "yellow"))]
        for name in names:
            channels.append(Channel(f"{name}/pose", "m", "", ("x", "y", "heading")))
            channels.append(Channel(f"{name}/playing", "1", ""))
        self.channels = ChannelTable([*channels, Channel("ball/pose", "m", "", ("x", "y", "heading"))])
        self.step = 0
        self.finished = False
        self.out: set[str] = set()

    def advance(self, steps: int = 30) -> None:
        self.step += steps

    def latest(self) -> tuple[int, np.ndarray]:
        step = self.step
        return step, self.row(step)

    def row(self, step: int) -> np.ndarray:
        row, t = np.zeros(self.channels.width), 1e-3 * step
        for k, name in enumerate(self.about["robots"]):
            row[self.channels.slices[f"{name}/pose"]] = self.pose(k, t)
            row[self.channels.slices[f"{name}/playing"]] = name not in self.out
        row[self.channels.slices["ball/pose"]] = (0.4 * np.sin(t), 0.3 * np.cos(2.0 * t), 0.0)
        return row

    def pose(self, k: int, t: float) -> tuple[float, float, float]:
        return -0.55 + 0.2 * k + 0.05 * np.sin(t + k), 0.4 * np.sin(1.7 * t + 2.0 * k), 3.0 * t + k


class Served:
    """A camera that is being served, and the images that it must send."""

    def __init__(self, run: HandMovedMatch, settings: CameraLink):
        self.run, self.settings = run, settings
        self.camera = SoccerCamera(settings, run.about, seed=SEED)
        self.address = ""
        self.counters: dict[str, Any] = {}

    @property
    def place(self) -> tuple[str, int]:
        host, port = self.address.split(":")
        return host, int(port)

    def expected(self, step: int) -> np.ndarray:
        row = self.run.row(step)
        poses = np.array([self.run.channels.value(row, f"{robot.name}/pose") for robot in self.camera.robots])
        for k, robot in enumerate(self.camera.robots):
            if robot.name in self.run.out:
                poses[k] = np.nan
        ball = self.run.channels.value(row, "ball/pose")[:2]
        number = step * self.run.step_ns // round(self.settings.period * 1e9)
        return self.camera.draw(poses, ball, number=number, time=1e-3 * step)

    def is_exact(self, frame: Any) -> bool:
        return frame.image.tobytes() == self.expected(frame.step).tobytes()


@contextmanager
def served(**settings: Any) -> Iterator[Served]:
    """A served camera of a small image; the counters are there after the end."""
    link = CameraLink(**{"listen": "127.0.0.1:0", "size": [320, 240], **settings})
    match = Served(HandMovedMatch(), link)
    ready, failed = threading.Event(), []

    def tell(address: str) -> None:
        match.address = address
        ready.set()

    def serve() -> None:
        try:
            match.counters.update(serve_camera(match.run, link, SEED, ready=tell, should_stop=lambda: False))
        except BaseException as error:
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        assert ready.wait(60.0)
        if not failed:
            yield match
    finally:
        match.run.finished = True
        thread.join(WAIT)
        assert not thread.is_alive()
    if failed:
        raise failed[0]


def ask(place: tuple[str, int], data: bytes) -> bytes:
    """All that a server answers to these bytes, until it hangs up."""
    with socket.create_connection(place, timeout=WAIT) as sock:
        sock.sendall(data)
        return read_all(sock)


def read_all(sock: socket.socket) -> bytes:
    found = bytearray()
    while data := sock.recv(1 << 16):
        found += data
    return bytes(found)


def until(condition: Any) -> None:
    """Wait for something that another thread does."""
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.002)
