"""What a step of the engine `kinematics` never changes: one record for each robot, wheel, steering group, motor and
equation, built from a scenario. Records are plain memory for compiled code: reading `wheel.radius` is one load.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import pi
from typing import Any, NamedTuple

import numpy as np

from botz.kernels import record
from botz.physics.wheels import constraints as wc
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics.schema import PlacedWheeledRobot
from botz.scenario.schema import TimeSettings

INDEX, REAL, FLAG, VECTOR = np.int64, np.float64, np.bool_, (np.float64, 3)

ROBOT = record(
    # which of the other model_ are its own, [start, stop)
    wheel_start=INDEX, wheel_stop=INDEX, group_start=INDEX, group_stop=INDEX, motor_start=INDEX, motor_stop=INDEX,
    equation_start=INDEX, equation_stop=INDEX, input_start=INDEX, input_stop=INDEX,
    odometry_every=INDEX, length=REAL, axle=VECTOR, has_castor=FLAG, has_slip=FLAG, has_noise=FLAG,
)  # fmt: skip

WHEEL = record(
    # an index is -1 where there is none
    kind=INDEX, x=REAL, y=REAL, heading=REAL, radius=REAL, roller_angle=REAL, roller_radius=REAL, offset=REAL,
    group=INDEX, motor_input=INDEX, second_input=INDEX,
    rolling_equation=INDEX, rolling_weight=REAL, lateral_equation=INDEX, lateral_weight=REAL,
    tick_angle=REAL, encoder_noise=REAL, slip_mean=REAL, slip_noise=REAL,
)  # fmt: skip

GROUP = record(input=INDEX, coupling=INDEX, limit=REAL, rate=REAL, mid=VECTOR)
"""A steering group: `input` is its commanded angle, `mid` the virtual wheel in its middle."""

MOTOR = record(input=INDEX)
"""Where its commanded speed lies."""

EQUATION = record(motor=INDEX, factor=REAL)
"""The motor (-1: none) whose speed times `factor` is the right side of this row of A ξ = B u."""


class Model(NamedTuple):
    """The parameters of all robots of a scenario, side by side; read-only."""

    robots: np.ndarray
    wheels: np.ndarray
    groups: np.ndarray
    motors: np.ndarray
    equations: np.ndarray


def build_model(robots: Sequence[WheeledRobotModel], placed: Sequence[PlacedWheeledRobot], time: TimeSettings) -> Model:
    rows = [robot.select.shape[0] for robot in robots]
    model = Model(
        robots=np.zeros(len(robots), ROBOT),
        wheels=np.zeros(sum(robot.x.size for robot in robots), WHEEL),
        groups=np.zeros(sum(robot.n_steering for robot in robots), GROUP),
        motors=np.zeros(sum(robot.n_rates for robot in robots), MOTOR),
        equations=np.zeros(sum(rows), EQUATION),
    )
    for part, counts in {
        "wheel": [robot.x.size for robot in robots],
        "group": [robot.n_steering for robot in robots],
        "motor": [robot.n_rates for robot in robots],
        "equation": rows,
        "input": [len(robot.inputs) for robot in robots],
    }.items():
        ends = list(accumulate(counts, initial=0))
        model.robots[f"{part}_start"], model.robots[f"{part}_stop"] = ends[:-1], ends[1:]
    for own, robot, spec in zip(model.robots, robots, placed, strict=True):
        own.length, own.axle = robot.length, robot.axle
        # At least 1 also for a model that was made without the checks of the loader.
        own.odometry_every = max(1, time.steps_between(spec.odometry_rate))
        wheels = model.wheels[own.wheel_start : own.wheel_stop]
        fill_wheels(wheels, robot, spec, own)
        own.has_castor = (wheels["kind"] == wc.CASTOR).any()
        own.has_slip = wheels["slip_mean"].any() or wheels["slip_noise"].any()
        own.has_noise = wheels["slip_noise"].any() or wheels["encoder_noise"].any()
        groups = model.groups[own.group_start : own.group_stop]
        for name in ("coupling", "limit", "rate", "mid"):
            groups[name] = getattr(robot, f"group_{name}")
        groups["input"] = own.input_start + robot.n_rates + np.arange(robot.n_steering)
        model.motors["input"][own.motor_start : own.motor_stop] = own.input_start + np.arange(robot.n_rates)
        equations = model.equations[own.equation_start : own.equation_stop]
        # B: every equation has one motor on its right side, or none.
        motor, equations["factor"] = only_entries(robot.factors)
        equations["motor"] = shifted(motor, own.motor_start)
    for array in model:
        array.flags.writeable = False
    return model


def fill_wheels(wheels: np.ndarray, robot: WheeledRobotModel, spec: PlacedWheeledRobot, own: Any) -> None:
    for name in ("kind", "x", "y", "heading", "radius", "roller_angle", "roller_radius", "offset"):
        wheels[name] = getattr(robot, name)
    wheels["group"] = shifted(robot.group_of_wheel, own.group_start)
    wheels["motor_input"] = shifted(robot.motor_of_wheel, own.input_start)
    wheels["second_input"] = shifted(robot.second_motor_of_wheel, own.input_start)
    # G: every row of a wheel enters one equation, or none.
    equation, weight = only_entries(robot.select.T)
    wheels["rolling_equation"], wheels["rolling_weight"] = equation[0::2], weight[0::2]
    wheels["lateral_equation"], wheels["lateral_weight"] = equation[1::2], weight[1::2]
    specs = list(spec.wheels.values())
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
