"""What `botz verify` can be asked for: the checks of families and of what else a record names."""

from __future__ import annotations

from collections.abc import Callable

from botz.errors import InputError, Problem
from botz.registry import imported
from botz.scenario.families import capabilities
from botz.scenario.names import closest
from botz.verify.checks import FAST, FULL, Check


def verified() -> list[str]:
    """What can be verified, by name: families, then capabilities."""
    return [name for name, capability in capabilities().items() if capability.checks]


def run(name: str, full: bool = False) -> list[Check]:
    """All checks of a family or capability; `full` takes 100,000 random samples instead of a few hundred."""
    if name not in verified():
        raise InputError(Problem(f"unknown family {name!r}{closest(name, verified())}"))
    suite: Callable[[int], list[Check]] = imported(capabilities()[name].checks or "")
    return suite(FULL if full else FAST)
