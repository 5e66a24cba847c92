"""The memory of the engine `kinematics`: one record for each robot, wheel, steering group, motor and equation.

Records are plain memory for compiled code: reading `wheel.radius` is one load, without counting references, and a
robot is handed over as one pointer. Each record holds parameters (fixed during a run), state (everything that a
continuation needs), and work (derived from the two at any time, kept to save time and allocations).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import pi
from typing import Any, NamedTuple

import numpy as np

from botz.physics.wheels import constraints as wc
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics.schema import PlacedWheeledRobot
from botz.scenario.schema import TimeSettings


def record(**fields: Any) -> np.dtype:
    """A record type whose elements give their fields as attributes, in compiled code and in Python alike."""
    return np.dtype((np.record, np.dtype(list(fields.items()), align=True)))


INDEX, REAL, FLAG, VECTOR = np.int64, np.float64, np.bool_, (np.float64, 3)

ROBOT = record(
    # parameters: which of the other records are its own, [start, stop)
    wheel_start=INDEX, wheel_stop=INDEX, group_start=INDEX, group_stop=INDEX, motor_start=INDEX, motor_stop=INDEX,
    equation_start=INDEX, equation_stop=INDEX, input_start=INDEX, input_stop=INDEX,
    odometry_every=INDEX, length=REAL, axle=VECTOR, has_castor=FLAG, has_slip=FLAG, has_noise=FLAG,
    # state
    pose=VECTOR, odometry_pose=VECTOR, odometry_twist=VECTOR,
    # work: whether gains and rows belong to the cached angles
    valid=FLAG,
)  # fmt: skip

WHEEL = record(
    # parameters; an index is -1 where there is none
    kind=INDEX, x=REAL, y=REAL, heading=REAL, radius=REAL, roller_angle=REAL, roller_radius=REAL, offset=REAL,
    group=INDEX, motor_input=INDEX, second_input=INDEX,
    rolling_equation=INDEX, rolling_weight=REAL, lateral_equation=INDEX, lateral_weight=REAL,
    tick_angle=REAL, encoder_noise=REAL, slip_mean=REAL, slip_noise=REAL,
    # state: `second` is the pivot of a castor, the rollers of a Swedish wheel, a ball's rotation to its left
    angle=REAL, second=REAL, slip=REAL, ticks=(REAL, 2), odometry_second=REAL,
    # work: heading and rows at `cached_second`; rates at `stage_second`; sums of a Runge-Kutta step
    cached_second=REAL, psi=REAL, rolling=VECTOR, lateral=VECTOR,
    stage_second=REAL, rate=REAL, second_rate=REAL, sum_rate=REAL, sum_second=REAL,
)  # fmt: skip

GROUP = record(
    # parameters of a steering group: `input` is its commanded angle, `mid` the virtual wheel in its middle
    input=INDEX, coupling=INDEX, limit=REAL, rate=REAL, mid=VECTOR,
    # state
    steering=REAL, steering_rate=REAL, odometry_steering=REAL,
    # work
    cached_steering=REAL, stage_steering=REAL,
)  # fmt: skip

MOTOR = record(
    # parameter: where its commanded speed lies
    input=INDEX,
    # work: its column of K, with slip and without; the speed that the encoders saw
    gain=VECTOR, nominal_gain=VECTOR, measured=REAL, measured_norm=REAL,
)  # fmt: skip

EQUATION = record(
    # parameters: the motor (-1: none) whose speed times `factor` is the right side of this row of A ξ = B u
    motor=INDEX, factor=REAL,
    # work: what the encoders say of its left side; sums of its weights, as they are and over 1 − slip
    measured=REAL, weight=REAL, slipping_weight=REAL,
)  # fmt: skip


class Records(NamedTuple):
    """All robots of a scenario side by side, in the order in which the kernels take them."""

    robots: np.ndarray
    wheels: np.ndarray
    groups: np.ndarray
    motors: np.ndarray
    equations: np.ndarray
    room: np.ndarray
    """Three square matrices, for A of the robot at hand and its inversion: as large as the largest robot needs."""


class State(NamedTuple):
    """Everything that a continuation needs but the inputs: one plain array a quantity, views of the records."""

    pose: np.ndarray
    steering: np.ndarray
    angle: np.ndarray
    second: np.ndarray
    slip: np.ndarray
    ticks: np.ndarray
    odometry_pose: np.ndarray
    odometry_twist: np.ndarray
    odometry_steering: np.ndarray
    odometry_second: np.ndarray
    steering_rate: np.ndarray


def state_of(records: Records) -> State:
    homes = (records.robots, records.wheels, records.groups)
    return State(*(next(home[name] for home in homes if name in (home.dtype.names or ())) for name in State._fields))


def build_records(
    models: Sequence[WheeledRobotModel], placed: Sequence[PlacedWheeledRobot], time: TimeSettings
) -> Records:
    """Records of these robots, parameters filled in."""
    rows = [model.select.shape[0] for model in models]
    records = Records(
        robots=np.zeros(len(models), ROBOT),
        wheels=np.zeros(sum(model.x.size for model in models), WHEEL),
        groups=np.zeros(sum(model.n_steering for model in models), GROUP),
        motors=np.zeros(sum(model.n_rates for model in models), MOTOR),
        equations=np.zeros(sum(rows), EQUATION),
        room=np.zeros((3, max(3, *rows), max(3, *rows))),
    )
    for part, counts in {
        "wheel": [model.x.size for model in models],
        "group": [model.n_steering for model in models],
        "motor": [model.n_rates for model in models],
        "equation": rows,
        "input": [len(model.inputs) for model in models],
    }.items():
        ends = list(accumulate(counts, initial=0))
        records.robots[f"{part}_start"], records.robots[f"{part}_stop"] = ends[:-1], ends[1:]
    for own, model, robot in zip(records.robots, models, placed, strict=True):
        own.length, own.axle = model.length, model.axle
        # At least 1 also for a model that was made without the checks of the loader.
        own.odometry_every = max(1, time.steps_between(robot.odometry_rate))
        wheels = records.wheels[own.wheel_start : own.wheel_stop]
        fill_wheels(wheels, model, robot, own)
        own.has_castor = (wheels["kind"] == wc.CASTOR).any()
        own.has_slip = wheels["slip_mean"].any() or wheels["slip_noise"].any()
        own.has_noise = wheels["slip_noise"].any() or wheels["encoder_noise"].any()
        groups = records.groups[own.group_start : own.group_stop]
        for name in ("coupling", "limit", "rate", "mid"):
            groups[name] = getattr(model, f"group_{name}")
        groups["input"] = own.input_start + model.n_rates + np.arange(model.n_steering)
        records.motors["input"][own.motor_start : own.motor_stop] = own.input_start + np.arange(model.n_rates)
        equations = records.equations[own.equation_start : own.equation_stop]
        # B: every equation has one motor on its right side, or none.
        motor, equations["factor"] = only_entries(model.factors)
        equations["motor"] = shifted(motor, own.motor_start)
    return records


def fill_wheels(wheels: np.ndarray, model: WheeledRobotModel, robot: PlacedWheeledRobot, own: Any) -> None:
    for name in ("kind", "x", "y", "heading", "radius", "roller_angle", "roller_radius", "offset"):
        wheels[name] = getattr(model, name)
    wheels["group"] = shifted(model.group_of_wheel, own.group_start)
    wheels["motor_input"] = shifted(model.motor_of_wheel, own.input_start)
    wheels["second_input"] = shifted(model.second_motor_of_wheel, own.input_start)
    # G: every row of a wheel enters one equation, or none.
    equation, weight = only_entries(model.select.T)
    wheels["rolling_equation"], wheels["rolling_weight"] = equation[0::2], weight[0::2]
    wheels["lateral_equation"], wheels["lateral_weight"] = equation[1::2], weight[1::2]
    specs = list(robot.wheels.values())
    wheels["tick_angle"] = [2 * pi / wheel.encoder.ticks for wheel in specs]
    wheels["encoder_noise"] = [wheel.encoder.noise for wheel in specs]
    wheels["slip_mean"] = [wheel.slip.mean for wheel in specs]
    wheels["slip_noise"] = [wheel.slip.noise for wheel in specs]


def only_entries(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Column and value of the one entry of each row; -1 and 0 for an empty row."""
    count = (matrix != 0.0).sum(axis=1)
    assert (count <= 1).all(), "a row with several entries needs a list of them"
    column = np.abs(matrix).argmax(axis=1) if matrix.shape[1] else np.zeros(matrix.shape[0], dtype=np.int64)
    value = matrix.sum(axis=1)
    return np.where(count == 1, column, -1), value


def shifted(local: np.ndarray, start: int) -> np.ndarray:
    """Indices among all robots' records from those of one robot; -1 stays."""
    return np.where(local >= 0, local + start, -1)
