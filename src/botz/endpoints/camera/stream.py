"""The camera of a match as a TCP server: an image every so often of simulated time, sent as what changed.

Runs in a process of its own and reads the match from shared memory, so the physics never waits for it. Images are drawn
only while somebody watches.
"""

from __future__ import annotations

import io
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from PIL import Image

from botz import kernel_cache
from botz.channels import ChannelTable
from botz.endpoints.camera.connections import Connections
from botz.endpoints.camera.protocol import VERSION, empty_message, frame_message, greeting
from botz.scenario.links import host_and_port
from botz.scenario.soccer.links import CameraLink
from botz.scene.soccer.camera import SoccerCamera

SHORTEST_WAIT, LONGEST_WAIT = 0.0005, 0.02
"""Between two looks at the match [s]: it publishes no faster than its step, and ends without notice."""
LAST_WORDS_SECONDS = 0.5
"""How long clients have after the end to take the rest of their last frame."""
JPEG_QUALITY = 92


class Match(Protocol):
    """What of an AttachedRun the camera reads."""

    @property
    def about(self) -> dict[str, Any]: ...
    @property
    def channels(self) -> ChannelTable: ...
    @property
    def step_ns(self) -> int: ...
    @property
    def scenario(self) -> str: ...
    @property
    def finished(self) -> bool: ...
    def latest(self) -> tuple[int, np.ndarray]: ...


@dataclass(frozen=True)
class Moment:
    """What one image shows."""

    number: int
    """How many periods have passed since the start of the match."""
    step: int
    row: np.ndarray


class Moments:
    """When images are taken, which of them are lost, and when they are due to be sent, all in simulated time."""

    def __init__(self, run: Match, settings: CameraLink, seed: int):
        self._run = run
        self._period_ns = max(1, round(settings.period * 1e9))
        self._latency_ns = round(settings.latency * 1e9)
        self._drop, self._seed = settings.drop, seed
        self._pending: deque[Moment] = deque()
        self._last = -1
        self._now_ns = 0
        self.lost = 0
        """Images that `drop` has taken."""

    def next(self) -> Moment | None:
        """The next image that is due, if one is."""
        step, row = self._run.latest()
        self._now_ns = step * self._run.step_ns
        number = self._now_ns // self._period_ns
        if number < self._last:  # the match was put back
            self._pending.clear()
        if number != self._last:
            self._last = number
            if self._is_lost(number):
                self.lost += 1
            else:
                self._pending.append(Moment(number, step, row))
        if self._pending and self._due_in_ns(self._pending[0]) <= 0:
            return self._pending.popleft()
        return None

    def wait(self) -> float:
        """How long nothing is due, if the match keeps its pace [s]."""
        ahead = (self._last + 1) * self._period_ns - self._now_ns
        if self._pending:
            ahead = min(ahead, self._due_in_ns(self._pending[0]))
        return min(max(ahead * 1e-9, SHORTEST_WAIT), LONGEST_WAIT)

    def _due_in_ns(self, moment: Moment) -> int:
        return moment.step * self._run.step_ns + self._latency_ns - self._now_ns

    def _is_lost(self, number: int) -> bool:
        if self._drop <= 0:
            return False
        return bool(np.random.default_rng([self._seed, 0xD209, number]).uniform() < self._drop)


class Pictures:
    """Draws moments of a match and makes messages of them."""

    def __init__(self, run: Match, settings: CameraLink, seed: int):
        kernel_cache.announce("camera")
        self.camera = SoccerCamera(settings, run.about, seed=seed)
        self._noisy = settings.noise > 0
        self._step_ns = run.step_ns
        slices = run.channels.slices
        names = [robot.name for robot in self.camera.robots]
        self._poses = np.array([np.arange(run.channels.width)[slices[f"{name}/pose"]] for name in names])
        self._playing = np.array([slices[f"{name}/playing"].start for name in names])
        self._ball = slices["ball/pose"].start
        self.made = 0
        self.share = 0.0
        """Sum of the messages' sizes by that of the image."""
        self.empty = self.camera.empty()
        about = {
            "version": VERSION, "size": settings.size, "period": settings.period, "step_ns": run.step_ns,
            "scenario": run.scenario, "camera": settings.model_dump(mode="json", exclude={"listen"}),
            **self.camera.look(),
        }  # fmt: skip
        self.greeting = greeting(about) + empty_message(self.empty)
        self.message(Moment(0, 0, np.zeros(run.channels.width)))
        self.made, self.share = 0, 0.0
        kernel_cache.mark_ready("camera")

    def image(self, moment: Moment) -> np.ndarray:
        row = moment.row
        poses = row[self._poses].copy()
        poses[row[self._playing] == 0.0] = np.nan
        ball = row[self._ball : self._ball + 2]
        return self.camera.draw(poses, ball, number=moment.number, time=moment.step * self._step_ns * 1e-9)

    def message(self, moment: Moment) -> bytes:
        image = self.image(moment)
        changes = self.camera.changes()
        data = frame_message(image, changes, noisy=self._noisy, number=moment.number, step=moment.step)
        self.made += 1
        self.share += len(data) / image.nbytes
        return data


class Stills:
    """Single images for those who ask. They are encoded in another thread, each once, so that the stream goes on."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1)
        self._made: dict[str, tuple[int, Future[bytes]]] = {}
        self.sent = 0

    def answer(self, connections: Connections, pictures: Pictures, moment: Moment | None) -> None:
        for client in connections.waiting_for_stills():
            if client.still is None:
                client.still = self._of(client.path, pictures, moment)
            if client.still is not None and client.still.done():
                kind = "image/jpeg" if client.path.endswith("jpg") else "image/png"
                client.respond(200, client.still.result(), kind, time.monotonic())
                connections.watch(client)
                self.sent += 1

    def _of(self, path: str, pictures: Pictures, moment: Moment | None) -> Future[bytes] | None:
        """The image of this moment, or one that is being made already; None where nothing has been seen yet."""
        if moment is None and path != "/empty.png":
            return None
        number = moment.number if moment and path != "/empty.png" else -1
        known = self._made.get(path)
        if known is None or (known[0] != number and known[1].done()):
            image = pictures.image(moment).copy() if moment and number >= 0 else pictures.empty
            known = self._made[path] = number, self._worker.submit(encoded, image, path[-3:])
        return known[1]

    def close(self) -> None:
        self._worker.shutdown(wait=True, cancel_futures=True)


def encoded(image: np.ndarray, ending: str) -> bytes:
    file = io.BytesIO()
    if ending == "jpg":
        Image.fromarray(image).save(file, "JPEG", quality=JPEG_QUALITY)
    else:
        Image.fromarray(image).save(file, "PNG", compress_level=1)
    return file.getvalue()


def serve_camera(
    run: Match, settings: CameraLink, seed: int, *, ready: Callable[[str], None], should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Serve until the run has finished or `should_stop`; calls `ready` with the address once it listens, and returns
    what it has counted. Raises OSError where it cannot listen."""
    pictures = Pictures(run, settings, seed)
    moments = Moments(run, settings, seed)
    stills = Stills()
    connections = Connections(*host_and_port(settings.listen), greeting=pictures.greeting)
    frames = 0
    newest: Moment | None = None
    try:
        ready(connections.address)
        while not (run.finished or should_stop()):
            moment = moments.next()
            if moment is not None:
                newest = moment
                frames += 1
                if connections.anyone_ready:
                    connections.show(pictures.message(moment))
                else:
                    connections.skip()
            stills.answer(connections, pictures, newest)
            connections.turn(moments.wait())
        deadline = time.monotonic() + LAST_WORDS_SECONDS
        while connections.anyone_busy and time.monotonic() < deadline:
            connections.turn(0.01)
    finally:
        connections.close()
        stills.close()
    return {
        "frames": frames,
        "made": pictures.made,
        "lost": moments.lost,
        "sent": connections.sent,
        "skipped": connections.skipped,
        "bytes": connections.bytes,
        "clients": connections.watched,
        "refused": connections.refused,
        "dropped": connections.dropped,
        "stills": stills.sent,
        "share": pictures.share / pictures.made if pictures.made else 0.0,
    }
