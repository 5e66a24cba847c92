"""How long something takes: the shortest of a few runs, and whole recorded runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from botz.run import run_scenario
from botz.scenario.load import LoadedScenario


def best(measure: Callable[[], float], repeats: int = 3) -> float:
    """Shortest of a few runs: what the machine can do when nothing else gets in between."""
    return min(measure() for _ in range(repeats))


def recorded_factor(loaded: LoadedScenario) -> float:
    """Times real time of a whole run into a file: loop, control, rows, messages, compression, disk."""

    def measure() -> float:
        with tempfile.TemporaryDirectory() as folder:
            outcome = run_scenario(loaded, out=Path(folder) / "run")
            if outcome.error is not None:
                raise outcome.error
            return float(outcome.summary["wall_s"])

    return float(loaded.spec.time.duration) / best(measure)
