"""`botz verify vehicle`: all checks of the rough-terrain vehicle, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from botz.verify.checks import Check, Result, make
from botz.verify.vehicle import contact, drive, energy, methods, motion, searches, statics, tyres

FUNCTIONS: tuple[Callable[[int], Result], ...] = (
    *statics.FUNCTIONS,
    *drive.FUNCTIONS,
    *tyres.FUNCTIONS,
    *contact.FUNCTIONS,
    *searches.FUNCTIONS,
    *motion.FUNCTIONS,
    *methods.FUNCTIONS,
    *energy.FUNCTIONS,
)
"""Each takes the number of random samples and gives one check or several."""


def vehicle_checks(samples: int) -> list[Check]:
    return [check for function in FUNCTIONS for check in make(function, samples)]
