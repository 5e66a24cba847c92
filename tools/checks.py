"""Every check of the project: `./botz test`. With `--fast`, those that answer within minutes; with other arguments,
only pytest with these.

Checks that use one core run side by side, the output of each in one piece when it is done, with the time that it took;
pytest comes last and uses all that there is, so that its closing line is the last of the output. All checks run even
when one fails. The exit code is 1 when any check failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Check(NamedTuple):
    name: str
    arguments: tuple[str, ...]
    """Of the Python that runs this."""
    compiled: bool = True

    @property
    def command(self) -> list[str]:
        return [sys.executable, *self.arguments]

    @property
    def environ(self) -> dict[str, str]:
        return os.environ | ({} if self.compiled else {"NUMBA_DISABLE_JIT": "1"})

    def run(self) -> int:
        return subprocess.run(self.command, cwd=ROOT, env=self.environ, check=False).returncode

    def start(self) -> subprocess.Popen[str]:
        pipe, both = subprocess.PIPE, subprocess.STDOUT
        return subprocess.Popen(
            self.command, cwd=ROOT, env=self.environ, stdout=pipe, stderr=both, encoding="utf-8", errors="replace"
        )


STYLE_AND_TYPES = (
    Check("ruff check", ("-m", "ruff", "check", ".")),
    Check("ruff format", ("-m", "ruff", "format", "--check", ".")),
    Check("mypy", ("-m", "mypy")),
)
LANES: tuple[tuple[Check, ...], ...] = (
    (*STYLE_AND_TYPES, Check("the lab's page", ("tools/build_web.py", "--check"))),
    # Two processes of pytest that need the same kernel at the same time would both compile it.
    (Check("kernels compile", ("tools/compile_kernels.py",)),),
    # Without the compiler the equations run as the plain Python they are written in, with real tracebacks.
    (Check("pytest, physics uncompiled", ("-m", "pytest", "-q", "tests/unit/physics"), compiled=False),),
)
LONG = ("browser", "verification", "docs", "lab", "sim", "links")
"""Tests that take longest come first: the many short ones then fill the end evenly."""
PROCESSES = str(max(3, os.cpu_count() or 1))
"""One more than small machines have cores, for many tests wait for another process, or for time to pass; with two more,
those that need their own time get in each other's way."""
PYTEST = ("-m", "pytest", "-n", PROCESSES, "--dist", "loadfile", "--no-loadscope-reorder")
LAST = Check("pytest", (*PYTEST, *(f"tests/{folder}" for folder in LONG), "tests"))
FAST = Check("pytest", (*PYTEST, "-m", "not slow", *(f"--ignore=tests/{folder}" for folder in LONG), "tests"))
"""Without the folders of long tests, and without those that are marked `slow` elsewhere."""


class Lanes:
    """Lanes side by side, in each of them one check after the other."""

    def __init__(self, lanes: Sequence[Sequence[Check]]) -> None:
        self.lanes = lanes
        self.failed: list[str] = []
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False
        self._lock = Lock()

    def run(self) -> None:
        with ThreadPoolExecutor(len(self.lanes)) as threads:
            try:
                for done in [threads.submit(self._run_lane, lane) for lane in self.lanes]:
                    done.result()
            except KeyboardInterrupt:
                self._stop()
                raise

    def _run_lane(self, lane: Sequence[Check]) -> None:
        for check in lane:
            started = time.monotonic()
            with self._lock:
                if self._stopped:
                    return
                child = check.start()
                self._running.add(child)
            output, _ = child.communicate()
            with self._lock:
                self._running.discard(child)
                print(f"\n== {check.name} ({time.monotonic() - started:.0f} s)\n{output}", end="", flush=True)
                if child.returncode != 0:
                    self.failed.append(check.name)

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for child in self._running:
                child.terminate()


def run_all(side_by_side: Sequence[Sequence[Check]], last: Check) -> int:
    lanes = Lanes(side_by_side)
    lanes.run()
    so_far = f"   (failed so far: {', '.join(lanes.failed)})" if lanes.failed else ""
    print(f"\n== {last.name}{so_far}", flush=True)
    return 1 if last.run() != 0 or lanes.failed else 0


def main(arguments: list[str]) -> int:
    try:
        if arguments == ["--fast"]:
            return run_all((STYLE_AND_TYPES,), FAST)
        return Check("pytest", ("-m", "pytest", *arguments)).run() if arguments else run_all(LANES, LAST)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
