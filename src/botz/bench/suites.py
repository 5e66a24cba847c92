"""What `botz bench` can be asked for: the benchmarks of families and of what else a record names."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from botz.bench.results import Result
from botz.registry import imported
from botz.scenario.families import capabilities


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
