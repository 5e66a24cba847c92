"""Checks of the physics against closed forms and independent computations: what `botz verify` shows.

A check compares one number (or word) with what an equation says it must be. Its tolerance is derived, from the
arithmetic (n · eps · size) or from the order of a method (C · h^p), and `why` says how.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

EPS = 2.0**-52
"""Distance from 1 to the next float64: every rounding is at most half of it, relatively."""

FAST, FULL = 300, 100_000
"""Random samples of a check, as a user waits for it and as `--full` asks for."""


@dataclass(frozen=True)
class Check:
    """One line of the table."""

    name: str
    expected: float | str
    measured: float | str
    tolerance: float | None
    passed: bool | None
    """None where the check was skipped."""
    skipped: str | None = None
    """Why the check could not be made, as an oracle that is not installed."""
    why: str = ""
    """The equation, and where the tolerance comes from."""


Result = Check | Iterable[Check]


def close(name: str, expected: float, measured: float, tolerance: float, why: str) -> Check:
    """Passes when the two numbers differ by no more than the tolerance; a NaN never passes."""
    expected, measured = float(expected), float(measured)
    return Check(name, expected, measured, float(tolerance), bool(abs(measured - expected) <= tolerance), None, why)


def worst(name: str, errors: Iterable[float], tolerance: float, why: str) -> Check:
    """Passes when none of the errors exceeds the tolerance; the largest one is shown, a NaN before all others."""
    sizes = [abs(float(error)) for error in errors]
    if not sizes:
        return Check(name, 0.0, "nothing was compared", float(tolerance), False, None, why)
    largest = math.nan if any(math.isnan(size) for size in sizes) else max(sizes)
    return close(name, 0.0, largest, tolerance, why)


def same(name: str, expected: str, measured: str, why: str) -> Check:
    """Passes when both words are equal."""
    return Check(name, expected, measured, None, expected == measured, None, why)


def skip(name: str, reason: str, why: str = "") -> Check:
    return Check(name, "", "", None, None, reason, why)


def make(function: Callable[[int], Result], samples: int) -> list[Check]:
    """The checks of one function, whose docstring is the equation that they share.

    Whatever goes wrong inside becomes a check that failed and says so: it never stops the others.
    """
    equation = inspect.getdoc(function) or ""
    found: list[Check] = []
    try:
        result = function(samples)
        for check in [result] if isinstance(result, Check) else result:
            found.append(replace(check, why=f"{equation} {check.why}".strip()))
    except Exception as error:
        name = f"{function.__name__.replace('_', ' ')}: completes"
        found.append(Check(name, "completes", f"{type(error).__name__}: {error}", None, False, None, equation))
    return found


def to_json(family: str, checks: Iterable[Check]) -> dict[str, Any]:
    """The machine's form of the table."""

    def value(number: float | str | None) -> float | str | None:
        # JSON has no NaN and no infinity; as words they stay readable.
        return str(number) if isinstance(number, float) and not math.isfinite(number) else number

    return {
        "family": family,
        "checks": [
            {
                "name": check.name,
                "expected": value(check.expected),
                "measured": value(check.measured),
                "tolerance": value(check.tolerance),
                "passed": check.passed,
                "skipped": check.skipped,
            }
            for check in checks
        ],
    }
