"""What an image of a soccer match costs: drawing, encoding and sending it over the loopback interface."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median
from typing import Any

import numpy as np

from botz.bench.results import Result, duration
from botz.channels import Channel, ChannelTable
from botz.endpoints.camera.connections import Connections
from botz.endpoints.camera.stream import Moment, Pictures
from botz.scenario.load import load

FRAMES, GROUP = 600, 100
"""How many are sent, and how many make a group: the best group's median tells what the machine does when nothing else
gets in between."""
PAUSE = 0.002
"""Between two frames [s], in which the client takes the last one."""
PERIOD = 30
"""Steps between two frames."""
CLIENT = """
import sys
from botz.endpoints.camera.client import CameraClient
for frame in CameraClient(sys.argv[1], timeout=60.0):
    pass
"""


class MovingMatch:
    """The robots of the scenario `soccer`, each on its circle, as a camera reads them."""

    finished = False
    scenario = "soccer"

    def __init__(self, spec: Any):
        self.step_ns = round(spec.time.step * 1e9)
        players = spec.players.items()
        self.about: dict[str, Any] = {
            "field": spec.world.field.model_dump(),
            "ball": {"radius": spec.world.ball.radius},
            "robots": {name: {"team": team, "id": id, "side": spec.robots[name].side} for name, (team, id) in players},
        }
        self._starts = np.array([robot.pose for robot in spec.robots.values()])
        channels = [Channel(f"{name}/pose", "m", "", ("x", "y", "heading")) for name in spec.robots]
        channels += [Channel(f"{name}/playing", "1", "") for name in spec.robots]
        self.channels = ChannelTable([*channels, Channel("ball/pose", "m", "", ("x", "y", "heading"))])

    def latest(self) -> tuple[int, np.ndarray]:
        return 0, self.row(0)

    def row(self, step: int) -> np.ndarray:
        t = step * self.step_ns * 1e-9
        turned = t + np.arange(len(self._starts))
        poses = self._starts + np.column_stack([0.04 * np.sin(turned), 0.04 * np.cos(turned), 3.0 * turned])
        return np.concatenate([poses.ravel(), np.ones(len(poses)), [0.3 * np.sin(t), 0.2 * np.cos(t), 0.0]])


def measured(overrides: list[str]) -> tuple[float, float]:
    """Seconds for each frame, and its size as a share of the whole image; a client in another process reads along."""
    spec: Any = load("soccer", overrides=overrides).spec
    match = MovingMatch(spec)
    pictures = Pictures(match, spec.links.camera, spec.seed)
    connections = Connections("127.0.0.1", 0, greeting=pictures.greeting)
    client = subprocess.Popen([sys.executable, "-c", CLIENT, connections.address])
    try:
        deadline = time.monotonic() + 60.0
        while not connections.anyone_ready:
            connections.turn(0.01)
            if time.monotonic() > deadline or client.poll() is not None:
                raise RuntimeError("the client of the benchmark did not come")
        times = []
        for number in range(FRAMES):
            moment = Moment(number, PERIOD * number, match.row(PERIOD * number))
            began = time.perf_counter()
            connections.show(pictures.message(moment))
            while connections.anyone_busy:
                connections.turn(PAUSE)
            times.append(time.perf_counter() - began)
            time.sleep(PAUSE)
        if connections.sent != FRAMES:
            raise RuntimeError(f"the client of the benchmark took {connections.sent} of {FRAMES} frames")
    finally:
        connections.close()
        client.wait(10.0)
    groups = [median(times[first : first + GROUP]) for first in range(0, FRAMES, GROUP)]
    return min(groups), pictures.share / pictures.made


def camera_results() -> list[Result]:
    seconds, share = measured([])
    noisy, _ = measured(["links.camera.noise=3"])
    frame = "640 x 480, three a side"
    return [
        duration(f"camera: draw, encode, send a frame, {frame}", 1e3 * seconds, "ms", target=1.5),
        duration(f"camera: size of a frame, {frame}", 100.0 * share, "% of the image", target=2.0),
        duration(f"camera: draw, encode, send a frame with noise, {frame}", 1e3 * noisy, "ms"),
    ]
