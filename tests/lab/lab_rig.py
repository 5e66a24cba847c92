"""A lab to test with: a real server on a free port of loopback, in a thread, and pages that talk to it."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import msgpack
import numpy as np
from common import PATIENCE
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from botz.view.lab.server import LabServer, LabSettings

SCENARIO = "differential-circle"
ROBOT = "rover"


class Page:
    """One page: sends messages, and keeps all that it has been told."""

    def __init__(self, lab: RunningLab, *, name: str = "test", token: str | None = None, hello: bool = True):
        self.lab = lab
        self.told: list[dict[str, Any]] = []
        self.started: list[str] = []
        # Without a bound on what waits to be heard: a page that a test leaves alone for a while goes on reading.
        self._context: Any = connect(lab.ws, origin=lab.origin, max_size=None, compression=None, max_queue=None)  # type: ignore[arg-type]
        self.socket: ClientConnection = self._context.__enter__()
        self.viewer = ""
        if hello:
            self.say(t="hello", token=lab.token if token is None else token, name=name)
            self.viewer = self.wait_for(lambda m: m["t"] == "welcome", "welcome")["viewer"]
            self.wait_for(lambda m: m["t"] == "runs", "the list of runs")

    def say(self, **message: Any) -> None:
        if "from_" in message:
            message["from"] = message.pop("from_")
        self.socket.send(msgpack.packb(message))

    def hear(self, timeout: float = 0.0) -> dict[str, Any] | None:
        try:
            data = self.socket.recv(timeout=timeout)
        except TimeoutError:
            return None
        assert isinstance(data, bytes)
        message: dict[str, Any] = msgpack.unpackb(data)
        if message["t"] == "frame":
            message["v"] = np.frombuffer(message["v"], dtype="<f4")
        self.told.append(message)
        return message

    def wait_for(self, fits: Callable[[dict[str, Any]], Any], what: str = "a message") -> dict[str, Any]:
        """The next message that fits."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            message = self.hear(1.0)
            if message is not None and fits(message):
                return message
        raise AssertionError(f"waited too long for {what}; told last: {str(self.told[-5:])[:2000]}")

    def run(self, key: str, fits: Callable[[dict[str, Any]], Any], what: str = "the run") -> dict[str, Any]:
        """What is known of a run, once it fits: from now on, or the last word of it so far."""
        found: dict[str, Any] = {}

        def look(message: dict[str, Any]) -> bool:
            for one in message["runs"] if message["t"] == "runs" else []:
                if one["id"] == key and fits(one):
                    found.update(one)
            return bool(found)

        last = next((m for m in reversed(self.told) if m["t"] == "runs"), None)
        if last is None or not look(last):
            self.wait_for(look, what)
        return found

    def start(self, scenario: str = SCENARIO, **more: Any) -> dict[str, Any]:
        """A run, as soon as it is going on (or has failed)."""
        before = {one["id"] for m in self.told if m["t"] == "runs" for one in m["runs"]}
        self.say(t="start", scenario=scenario, **more)
        found: dict[str, Any] = {}

        def begun(message: dict[str, Any]) -> bool:
            assert message["t"] != "error", message
            for one in message["runs"] if message["t"] == "runs" else []:
                if one["id"] not in before and one["status"] != "starting":
                    found.update(one)
            return bool(found)

        self.wait_for(begun, "the run's beginning")
        self.started.append(found["id"])
        return found

    def error(self) -> str:
        return str(self.wait_for(lambda m: m["t"] == "error", "an error")["text"])

    def frame(self, fits: Callable[[dict[str, Any]], Any] = lambda frame: True) -> dict[str, Any]:
        return self.wait_for(lambda m: m["t"] == "frame" and fits(m), "a frame")

    def stop(self, key: str) -> dict[str, Any]:
        self.say(t="stop", run=key)
        return self.run(key, lambda run: run["status"] in ("finished", "interrupted", "failed"), "the run's end")

    def closed(self) -> tuple[int, str]:
        """Code and reason, once the server has closed the connection."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                self.hear(1.0)
            except ConnectionClosed as error:
                return (error.rcvd.code, error.rcvd.reason) if error.rcvd is not None else (1006, "")
        raise AssertionError("the connection is still open")

    def close(self) -> None:
        """Leave; what it has started and still drives ends."""
        with suppress(ConnectionClosed):
            for key in self.started:
                self.say(t="stop", run=key)
        self.socket.close()

    def vanish(self) -> None:
        """Gone without a word, as a browser that crashes."""
        self.socket.socket.close()


class RunningLab:
    def __init__(self, settings: LabSettings):
        self.server = LabServer(settings)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        self.pages: list[Page] = []
        deadline = time.monotonic() + PATIENCE
        while not self.server.started:
            assert self.thread.is_alive() and time.monotonic() < deadline, "the lab did not start"
            time.sleep(0.01)

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return self.server.token

    @property
    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    @property
    def ws(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws"

    def page(self, **more: Any) -> Page:
        self.pages.append(Page(self, **more))
        return self.pages[-1]

    def get(self, path: str, **headers: str) -> httpx.Response:
        """With the token, unless `authorization` says otherwise."""
        return httpx.get(self.origin + path, headers={**self.bearer, **headers}, timeout=PATIENCE, trust_env=False)

    def json(self, path: str) -> Any:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any) -> httpx.Response:
        headers = {"origin": self.origin, **self.bearer}
        return httpx.post(self.origin + path, json=body, headers=headers, timeout=PATIENCE, trust_env=False)

    def table(self, recording: str, channels: str, query: str = "&rate=1000") -> np.ndarray:
        answer = self.get(f"/api/recordings/{recording}/data?channels={channels}{query}")
        assert answer.status_code == 200, answer.text
        return np.frombuffer(answer.content, dtype="<f4").reshape(-1, int(answer.headers["x-botz-columns"]))

    def leave(self) -> None:
        """All pages gone."""
        for page in self.pages:
            page.close()
        self.pages.clear()

    def stop(self) -> None:
        self.leave()
        self.server.stop()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive(), f"the lab did not end; its threads:\n{where_threads_are()}"


def where_threads_are() -> str:
    names = {one.ident: one.name for one in threading.enumerate()}
    stacks = {names.get(key, key): traceback.format_stack(frame) for key, frame in sys._current_frames().items()}
    return "\n".join(f"{name}:\n{''.join(stack)}" for name, stack in stacks.items())


@contextmanager
def lab_at(folder: Path, **settings: Any) -> Iterator[RunningLab]:
    lab = RunningLab(LabSettings(port=0, runs=folder, **settings))
    try:
        yield lab
    finally:
        lab.stop()
