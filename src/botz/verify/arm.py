"""`botz verify arm`: all checks of serial arms, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from botz.verify import arm_contact as contact
from botz.verify import arm_dynamics as dynamics
from botz.verify import arm_inverse as inverse
from botz.verify import arm_kinematics as kinematics
from botz.verify import arm_loads as loads
from botz.verify import arm_motion as motion
from botz.verify import arm_parallel as parallel
from botz.verify import arm_singular as singular
from botz.verify import arm_teleoperation as teleoperation
from botz.verify import methods
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
    *methods.ARM,
)
"""Each takes the number of random samples and gives one check or several."""


def arm_checks(samples: int) -> list[Check]:
    return [check for function in FUNCTIONS for check in make(function, samples)]
