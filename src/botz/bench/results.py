"""What a benchmark reports: rates and times, their targets, and ratios to peers measured in the same run."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from botz.registry import imported
from botz.scenario.families import capabilities


@dataclass(frozen=True)
class Result:
    metric: str
    value: float
    unit: str
    target: float | None = None
    met: bool | None = None
    peer: str | None = None
    peer_value: float | None = None
    ratio: float | None = None
    """Above 1: Botz is faster."""


def rate(metric: str, value: float, unit: str, *, target: float | None = None, peer: str | None = None,
         peer_value: float | None = None) -> Result:  # fmt: skip
    """A number of which more is better."""
    ratio = value / peer_value if peer_value else None
    return Result(metric, value, unit, target, None if target is None else value >= target, peer, peer_value, ratio)


def duration(metric: str, value: float, unit: str, *, target: float | None = None, peer: str | None = None,
             peer_value: float | None = None) -> Result:  # fmt: skip
    """A time or a cost, of which less is better."""
    ratio = peer_value / value if peer_value else None
    return Result(metric, value, unit, target, None if target is None else value <= target, peer, peer_value, ratio)


def benches() -> dict[str, Callable[[], list[Result]]]:
    """What can be measured, by name: families and capabilities."""
    return {name: imported(one.benchmark) for name, one in sorted(capabilities().items()) if one.benchmark}


def run(name: str) -> dict[str, Any]:
    return {"bench": name, "machine": machine(), "results": [asdict(result) for result in benches()[name]()]}


def machine() -> str:
    """Processor, cores and system, without anything that names the owner."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
