"""`botz verify multibody`: all checks of multibody robots, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from botz.verify.checks import Check, Result, make
from botz.verify.multibody import (
    air,
    drives,
    flight,
    full_control,
    landing,
    methods,
    models,
    motion,
    sensors,
    steps,
    vehicle,
    wing,
)

FUNCTIONS: tuple[Callable[[int], Result], ...] = (
    *models.FUNCTIONS,
    *motion.FUNCTIONS,
    *air.FUNCTIONS,
    *wing.FUNCTIONS,
    *drives.FUNCTIONS,
    *sensors.FUNCTIONS,
    *flight.FUNCTIONS,
    *landing.FUNCTIONS,
    *full_control.FUNCTIONS,
    *steps.FUNCTIONS,
    *vehicle.FUNCTIONS,
    *methods.FUNCTIONS,
)
"""Each takes the number of random samples and gives one check or several."""


def multibody_checks(samples: int) -> list[Check]:
    return [check for function in FUNCTIONS for check in make(function, samples)]
