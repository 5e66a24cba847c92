"""`botz verify multibody`: all checks of multibody robots, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from botz.verify import methods
from botz.verify import multibody_air as air
from botz.verify import multibody_drives as drives
from botz.verify import multibody_flight as flight
from botz.verify import multibody_full_control as full_control
from botz.verify import multibody_landing as landing
from botz.verify import multibody_models as models
from botz.verify import multibody_motion as motion
from botz.verify import multibody_sensors as sensors
from botz.verify import multibody_steps as steps
from botz.verify import multibody_vehicle as vehicle
from botz.verify import multibody_wing as wing
from botz.verify.checks import Check, Result, make

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
    *methods.MULTIBODY,
)
"""Each takes the number of random samples and gives one check or several."""


def multibody_checks(samples: int) -> list[Check]:
    return [check for function in FUNCTIONS for check in make(function, samples)]
