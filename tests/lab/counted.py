"""Counts, over a process and those that it starts for a run, how often a scenario is checked, an engine and a terrain
are made."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import botz.run.own_process
import botz.view.lab.runs
from botz.engines.base import Engine
from botz.scenario.schema import ScenarioBase
from botz.terrain import height_grid


def count(file: Path | str, patch: Callable[[Any, str, Any], None] = setattr) -> None:
    """From now on, each of them adds a line to the file."""

    def noting(word: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(descriptor, f"{word}\n".encode())
            os.close(descriptor)
            return call(*arguments, **named)

        return noted

    for owner, name, word in ((ScenarioBase, "model_validate", "check"), (Engine, "build", "engine")):
        patch(owner, name, classmethod(noting(word, getattr(owner, name).__func__)))
    patch(height_grid, "make_grid", noting("terrain", height_grid.make_grid))
    counting = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
    counting += f"from counted import count; count({str(file)!r}); "
    patch(botz.run.own_process, "PHYSICS", counting + botz.run.own_process.PHYSICS)
    patch(botz.view.lab.runs, "RUN", counting + botz.view.lab.runs.RUN)


def counts(file: Path) -> dict[str, int]:
    return dict(Counter(file.read_text().split()))
