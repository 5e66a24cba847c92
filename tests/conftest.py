"""What many tests need: small scenario files, users' controllers, and the command line in and out of this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

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


@pytest.fixture(autouse=True, scope="session")
def own_shared_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs of the tests are listed in a place of their own, so that they and a user's runs do not meet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOTZ_SHM_DIR", str(tmp_path_factory.mktemp("shm")))
        yield


@pytest.fixture
def shared_memory_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the segments of one test."""
    from botz.sim.shared_memory import segment_folder

    monkeypatch.setenv("BOTZ_SHM_DIR", str(tmp_path / "shm"))
    return segment_folder()


ScenarioFile = Callable[..., Path]


@pytest.fixture
def scenario_file(tmp_path: Path) -> ScenarioFile:
    """Writes a scenario: the base with changes laid over it, one after the other."""

    def write(*changes: Mapping[str, Any], name: str = "small.yaml") -> Path:
        data: dict[str, Any] = BASE
        for change in changes:
            data = merged(data, change)
        path = tmp_path / name
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return path

    return write


UserController = Callable[..., dict[str, Any]]


@pytest.fixture
def user_controller(tmp_path: Path) -> UserController:
    """Writes a user's controller file and returns the change of a scenario that names it."""

    def write(text: str, *, rate: float = 100.0, name: str = "mine", cls: str = "Mine", **parameters: Any):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        spec = {"type": f"{name}.py:{cls}", "robot": "duo", "rate": rate, "parameters": parameters}
        return {"controllers": {"drive": None, "mine": spec}}

    return write


class Answer(NamedTuple):
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def botz(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """The command line inside this process, in `tmp_path`: quick, and anything unforeseen fails the test."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: Any) -> Answer:
        from botz.cli.main import main

        capsys.readouterr()
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return call


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
            return next(
                (line.split()[-1] for line in self.err.splitlines() if line.startswith("botz: run ")), None
            )

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


@pytest.fixture
def start_botz(tmp_path: Path) -> Iterator[Callable[..., BotzProcess]]:
    """Starts `botz` commands in processes of their own and ends those that are left."""
    started: list[BotzProcess] = []

    def start(*arguments: Any, **environment: str) -> BotzProcess:
        started.append(BotzProcess([str(argument) for argument in arguments], tmp_path, environment))
        return started[-1]

    yield start
    for process in started:
        process.end()


@pytest.fixture
def run_botz(start_botz: Callable[..., BotzProcess]) -> Callable[..., Answer]:
    """A `botz` command in a process of its own, to its end."""
    return lambda *arguments, **environment: start_botz(*arguments, **environment).finish()
