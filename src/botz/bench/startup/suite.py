"""How long a user waits for a command, its interpreter included, once kernels are compiled."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from botz.bench.results import Result, duration
from botz.bench.timing import best

RUNS = {"kinematics": ("differential-circle", 0.8), "vehicle": ("vivi-ramp", 1.2)}
"""By family: what runs to its end, and the target [s]."""


def seconds(*arguments: str, repeats: int = 5) -> float:
    """Of a Python process of its own."""

    def measure() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        return time.perf_counter() - began

    return best(measure, repeats)


def run_seconds(scenario: str) -> float:
    """Of a whole `botz run` that is recorded; one run before it compiles what is not compiled yet."""
    with tempfile.TemporaryDirectory() as folder:

        def measure() -> float:
            out = str(Path(folder) / str(time.time_ns()))
            return seconds("-m", "botz", "run", scenario, "--out", out, repeats=1)

        measure()
        return best(measure, 5)


def run() -> list[Result]:
    bare, libraries = seconds("-c", "pass"), seconds("-c", "import numba, yaml, pydantic")
    results = [
        duration("botz --help", seconds("-m", "botz", "--help"), "s", target=0.2, peer="bare Python", peer_value=bare),
        duration("import botz", seconds("-c", "import botz"), "s", peer="bare Python", peer_value=bare),
    ]
    for scenario, target in RUNS.values():
        metric = f"warm botz run {scenario}, to its end"
        peer = "import numba, yaml, pydantic"
        results.append(duration(metric, run_seconds(scenario), "s", target=target, peer=peer, peer_value=libraries))
    return results
