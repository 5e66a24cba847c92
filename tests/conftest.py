"""What many tests need: small scenario files, users' controllers, and the command line in and out of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import yaml
from common import BASE, Answer, BotzProcess, ScenarioFile, UserController, merged

# How quickly examples are found says something of the machine, and of what else it does, not of the project.
hypothesis.settings.register_profile("any machine", suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("any machine")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The time of each part: of each folder, and of the files that took longest."""
    seconds: dict[str, float] = {}
    for reports in list(terminalreporter.stats.values()):
        for report in reports:
            if file := getattr(report, "fspath", ""):
                folder = "/".join(Path(file).parts[:2])
                for part in (folder, str(file)):
                    seconds[part] = seconds.get(part, 0.0) + getattr(report, "duration", 0.0)
    if len(seconds) < 10:
        return
    terminalreporter.section("time of each part")
    files = sorted((part for part in seconds if part.endswith(".py")), key=lambda part: -seconds[part])[:40]
    for part in [*sorted(part for part in seconds if not part.endswith(".py")), *files]:
        terminalreporter.line(f"{seconds[part]:8.1f} s  {part}")


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


@pytest.fixture
def user_controller(tmp_path: Path) -> UserController:
    """Writes a user's controller file and returns the change of a scenario that names it."""

    def write(text: str, *, rate: float = 100.0, name: str = "mine", cls: str = "Mine", **parameters: Any):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        spec = {"type": f"{name}.py:{cls}", "robot": "duo", "rate": rate, "parameters": parameters}
        return {"controllers": {"drive": None, "mine": spec}}

    return write


@pytest.fixture
def botz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
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
