"""`botz verify arm`: all checks of serial arms, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from botz.verify.arm import (
    contact,
    dynamics,
    inverse,
    kinematics,
    loads,
    methods,
    motion,
    parallel,
    singular,
    teleoperation,
)
from botz.verify.checks import Check, Result, make

FUNCTIONS: tuple[Callable[[int], Result], ...] = (
    *kinematics.FUNCTIONS,
    *dynamics.FUNCTIONS,
    *loads.FUNCTIONS,
    *inverse.FUNCTIONS,
    *parallel.FUNCTIONS,
    *singular.FUNCTIONS,
    *motion.FUNCTIONS,
    *contact.FUNCTIONS,
    *teleoperation.FUNCTIONS,
    *methods.FUNCTIONS,
)
"""Each takes the number of random samples and gives one check or several."""


def arm_checks(samples: int) -> list[Check]:
    return [check for function in FUNCTIONS for check in make(function, samples)]
