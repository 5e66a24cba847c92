"""What many tests need: a small scenario, and the command line in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

PATIENCE = 120.0
"""How long a test waits for something that must happen [s]: long enough for a busy machine that compiles kernels."""

BASE: dict[str, Any] = {
    "engine": "kinematics",
    "seed": 5,
    "time": {"step": 0.001, "duration": 1.0},
    "record": {"rate": 100.0, "snapshots": 0.25},
    "robots": {
        "duo": {
            "wheels": {
                "left": {"type": "fixed", "position": [0, 0.1], "radius": 0.05, "driven": True},
                "right": {"type": "fixed", "position": [0, -0.1], "radius": 0.05, "driven": True},
            }
        }
    },
    "controllers": {
        "drive": {"type": "constant", "robot": "duo", "rate": 100.0, "command": {"twist": [0.3, 0.0, 0.4]}}
    },
}
NOISE: dict[str, Any] = {"slip": {"mean": 0.05, "noise": 0.1}, "encoder": {"noise": 0.01}}
NOISY: dict[str, Any] = {"robots": {"duo": {"wheels": {"left": NOISE, "right": NOISE}}}}
"""Slip and encoder noise: every encoder reading draws random numbers."""


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes` laid over it by name; None takes a key away."""
    result = dict(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


ScenarioFile = Callable[..., Path]
UserController = Callable[..., dict[str, Any]]


class Answer(NamedTuple):
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


class BotzProcess:
    """A `botz` command in a process of its own, which a test watches, signals and always ends."""

    def __init__(self, arguments: list[str], folder: Path, environment: Mapping[str, str]):
        folder.mkdir(exist_ok=True)
        # Files, not pipes: nobody needs to read along for the process to go on.
        self.paths = [folder / f"stdout-{time.monotonic_ns()}", folder / f"stderr-{time.monotonic_ns()}"]
        self.files = [path.open("wb") for path in self.paths]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "botz", *arguments],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=self.files[0],
            stderr=self.files[1],
        )

    @property
    def out(self) -> str:
        return self.paths[0].read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self.paths[1].read_text(encoding="utf-8")

    def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        """Until `condition` gives something; fails where the process ends first."""
        deadline = time.monotonic() + PATIENCE
        while not (result := condition()):
            assert self.process.poll() is None, f"ended before {what}: {self.process.returncode}\n{self.err}"
            assert time.monotonic() < deadline, f"waited too long for {what}\n{self.err}"
            time.sleep(0.01)
        return result

    def run_id(self) -> str:
        """The id of a run started with --publish."""

        def found() -> str | None:
            return next((line.split()[-1] for line in self.err.splitlines() if line.startswith("botz: run ")), None)

        return str(self.wait_for(found, "the run's id"))

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def finish(self) -> Answer:
        code = self.process.wait(timeout=PATIENCE)
        return Answer(code, self.out, self.err)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for file in self.files:
            file.close()
