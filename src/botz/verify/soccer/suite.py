"""`botz verify soccer`: all checks of robot soccer, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from botz.verify.checks import Check, Result, make
from botz.verify.soccer import cases, crowds, drive, impacts, match, methods, neighbours

FUNCTIONS: tuple[Callable[[int], Result], ...] = (
    *drive.FUNCTIONS,
    *impacts.FUNCTIONS,
    *cases.FUNCTIONS,
    *match.FUNCTIONS,
    *crowds.FUNCTIONS,
    *neighbours.FUNCTIONS,
    *methods.FUNCTIONS,
)
"""Each takes the number of random samples and gives one check or several."""


def soccer_checks(samples: int) -> list[Check]:
    return [check for function in FUNCTIONS for check in make(function, samples)]
