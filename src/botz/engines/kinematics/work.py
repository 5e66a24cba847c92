"""Scratch of the engine `kinematics`: written before it is read in every call, and never saved.

What depends on steering angles and slip only, the rows of the wheels and K(β) with ξ = K u, is found once in a call and
again when an angle has changed: a robot that holds its steering then costs a small product and one arc per step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from botz.engines.kinematics.model import FLAG, REAL, VECTOR, Model
from botz.kernels import record

ROBOT_WORK = record(valid=FLAG)
"""Whether gains and rows belong to the cached angles; false as a call begins."""

WHEEL_WORK = record(
    # heading and rows at `cached_second`; rates at `stage_second`; sums of a Runge-Kutta step
    cached_second=REAL, psi=REAL, rolling=VECTOR, lateral=VECTOR,
    stage_second=REAL, rate=REAL, second_rate=REAL, sum_rate=REAL, sum_second=REAL,
)  # fmt: skip

GROUP_WORK = record(cached_steering=REAL, stage_steering=REAL)

MOTOR_WORK = record(gain=VECTOR, nominal_gain=VECTOR, measured=REAL, measured_norm=REAL)
"""A motor's column of K, with slip and without; the speed that the encoders saw."""

EQUATION_WORK = record(measured=REAL, weight=REAL, slipping_weight=REAL)
"""What the encoders say of an equation's left side; sums of its weights, as they are and over 1 − slip."""


class Work(NamedTuple):
    """Records in the order of those of the model."""

    robots: np.ndarray
    wheels: np.ndarray
    groups: np.ndarray
    motors: np.ndarray
    equations: np.ndarray
    matrices: np.ndarray
    """Three square ones, for A of the robot at hand and its inversion: as large as the largest robot needs."""


def new_work(model: Model) -> Work:
    kinds = (ROBOT_WORK, WHEEL_WORK, GROUP_WORK, MOTOR_WORK, EQUATION_WORK)
    most = max(3, int((model.robots["equation_stop"] - model.robots["equation_start"]).max()))
    records = [np.zeros(own.size, kind) for own, kind in zip(model, kinds, strict=True)]
    return Work._make([*records, np.zeros((3, most, most))])
