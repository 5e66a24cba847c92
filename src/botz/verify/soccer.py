"""`botz verify soccer`: all checks of robot soccer, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from botz.verify import methods
from botz.verify import soccer_cases as cases
from botz.verify import soccer_crowds as crowds
from botz.verify import soccer_drive as drive
from botz.verify import soccer_impacts as impacts
from botz.verify import soccer_match as match
from botz.verify import soccer_neighbours as neighbours
from botz.verify.checks import Check, Result, make

FUNCTIONS: tuple[Callable[[int], Result], ...] = (
    *drive.FUNCTIONS,
    *impacts.FUNCTIONS,
    *cases.FUNCTIONS,
    *match.FUNCTIONS,
    *crowds.FUNCTIONS,
    *neighbours.FUNCTIONS,
    *methods.SOCCER,
)
"""Each takes the number of random samples and gives one check or several."""


def soccer_checks(samples: int) -> list[Check]:
    return [check for function in FUNCTIONS for check in make(function, samples)]
