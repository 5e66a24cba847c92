"""Ctrl-C and a polite kill: the run ends, its recording is whole, the exit code says so."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from common import PATIENCE, BotzProcess, ScenarioFile

import botz as botz_package
from botz import AttachedRun, read
from botz.replay import replay_recording

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_real_time_run_keeps_its_recording(
    number: signal.Signals, scenario_file: ScenarioFile, start_botz: Callable[..., BotzProcess], tmp_path
):
    file = scenario_file({"time": {"duration": 1e6}})
    process = start_botz("run", file, "--realtime", "--publish", "--json", "--out", "run")
    run = AttachedRun(process.run_id())
    process.wait_for(lambda: run.time > 0.1, "the first steps")
    process.signal(number)
    answer = process.finish()
    assert answer.code == 130, answer.err
    assert "Traceback" not in answer.err
    summary = json.loads(answer.out)
    assert summary["status"] == "interrupted" and summary["steps"] > 100 and summary["lateness_ticks"] > 0
    rec = read(tmp_path / "run")
    assert rec.complete and rec.summary["status"] == "interrupted"
    assert rec.steps().tolist() == list(range(0, summary["steps"] + 1, 10))
    assert replay_recording(rec).identical


@pytest.mark.parametrize("options", [[], ["--realtime"]])
def test_a_second_interrupt_does_not_wait(
    options: list[str],
    scenario_file: ScenarioFile,
    start_botz: Callable[..., BotzProcess],
    user_controller,
    tmp_path,
):
    # A controller that never comes back: the polite way does not end this run.
    marker = tmp_path / "stuck"
    text = f"""
import time
class Mine:
    def reset(self, setup): pass
    def update(self, t, measured):
        if t > 0.2:
            open({str(marker)!r}, "w").close()
            while True:
                time.sleep(0.01)
"""
    process = start_botz("run", scenario_file(user_controller(text)), "--out", "run", *options)
    process.wait_for(marker.exists, "the controller to hang")
    process.signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.process.poll() is None, "the first one is polite"
    for _ in range(60):
        process.signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.process.wait(timeout=2.0)
            break
    answer = process.finish()
    assert answer.code == 130
    assert "Traceback" not in answer.err
    rec = read(tmp_path / "run")
    assert rec.complete and rec.summary["status"] == "interrupted"
    assert len(rec.steps()) > 1


def test_one_interrupt_more_while_python_shuts_down_changes_nothing():
    # Sent by the process to itself, at its very end.
    text = """
import atexit, os, signal, time
from botz.cli import main as command
def interrupted(*arguments, **options):
    raise KeyboardInterrupt
def again():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.1)
command.app = interrupted
atexit.register(again)
command.main([])
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == ""


@pytest.mark.parametrize(
    "where",
    ["ctypes.CFUNCTYPE(None)(interrupt)()", "weakref.finalize(Some(), interrupt)"],
    ids=["callback", "finalizer"],
)
def test_an_interrupt_where_nothing_can_be_raised_is_not_lost(where: str):
    """Numba's compiler calls back into Python, which reports an error there and goes on."""
    text = f"""
import ctypes, signal, sys, time, weakref
sys.argv = ["botz"]
from botz.cli import main as command
class Some:
    pass
def interrupt():
    signal.raise_signal(signal.SIGINT)
    time.sleep(0.0)
def work(*arguments, **options):
    {where}
    time.sleep({PATIENCE})
    print("went on")
command.app = work
command.main([])
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["run", "no-such"], 2)], ids=["good", "mistake"])
def test_an_interrupt_after_the_command_is_over_changes_nothing(words: list[str], code: int):
    """Python still takes its modules apart then, and has given the signal back to the system."""
    text = f"""
import os, signal, sys
sys.argv = ["botz", *{words!r}]
from botz.cli.main import main
class Late:
    def __init__(self):
        self.kill, self.number = os.kill, signal.SIGINT
        self.pid = os.getpid()
    def __del__(self):
        print("taken apart", flush=True)
        self.kill(self.pid, self.number)
late = Late()
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert "taken apart" in done.stdout
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def slow_module(folder: Path, name: str, *, as_text: bool) -> Path:
    """A module that is imported for ever in place of another one; returns the file that shows it has begun. `as_text`:
    what lasts is a text that is executed, as dataclasses do it."""
    marker = folder / f"{name}-begun"
    folder.mkdir()
    code = f"import time\nopen({str(marker)!r}, 'w').close()\ntime.sleep(1000)\n"
    (folder / f"{name}.py").write_text(f"exec({code!r})\n" if as_text else code)
    return marker


@pytest.mark.parametrize("as_text", [False, True], ids=["module", "text"])
@pytest.mark.parametrize("module", ["tempfile", "typer", "pydantic", "numba"])
@pytest.mark.parametrize("way", ["python -m botz", "script"])
def test_an_interrupt_while_modules_are_imported_is_quiet(module: str, way: str, as_text: bool, tmp_path: Path):
    """From the first import of the package to those of a command that runs."""
    marker = slow_module(tmp_path / "slow", module, as_text=as_text)
    script = tmp_path / "botz"
    script.write_text("import sys\nfrom botz.cli.main import main\nsys.exit(main())\n")
    path = os.pathsep.join([str(tmp_path / "slow"), str(Path(botz_package.__file__).parent.parent)])
    process = subprocess.Popen(
        [sys.executable, *(["-m", "botz"] if way != "script" else [script]), "run", "differential-circle"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not marker.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert marker.exists(), output
    assert (process.returncode, output) == (130, "")


def test_a_program_that_uses_botz_keeps_its_interrupts(tmp_path: Path):
    code = "import signal, botz; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "True"
