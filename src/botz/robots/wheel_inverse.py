"""From a wanted motion of the body to the inputs that give it, or a clear reason why this robot cannot do it."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, degrees, hypot, inf, pi
from typing import NamedTuple

import numpy as np
from numba import njit

from botz.physics.wheels.constraints import ackermann_angle, constraint_rows, half_turn, pseudo_inverse3
from botz.robots.wheeled_robot import ACKERMANN, WheeledRobotModel


@dataclass(frozen=True)
class InverseResult:
    inputs: np.ndarray
    """Inputs of the nearest motion that the robot can do; the wanted one where `reason` is empty."""
    twist: np.ndarray
    """The motion that these inputs give."""
    reason: str
    """Empty, or why the wanted motion is impossible."""


@njit(cache=True, error_model="numpy")
def steering_for(
    # parameters of a steering group: the virtual wheel in its middle, its limit
    mid, limit,
    # in: the wanted twist, the present angle, the size of the motion
    vx, vy, turn, present, size,
):  # -> angle, how far it would have to go beyond the limit  # fmt: skip
    """Angle with which the group's middle moves along the twist: within its limit, nearest to the present one.

    A wheel can roll forwards or backwards, so angles that differ by 180° serve alike.
    """
    middle_vx, middle_vy = vx - turn * mid[1], vy + turn * mid[0]
    if hypot(middle_vx, middle_vy) <= 1e-12 * size or size == 0.0:
        return present, 0.0
    angle = atan2(middle_vy, middle_vx) - mid[2]
    if limit == inf:
        return angle + pi * round((present - angle) / pi), 0.0
    nearest = half_turn(angle)
    best, best_gap = 0.0, inf
    for k in range(-1, 2):  # a limit is at most 180°
        choice = nearest + k * pi
        # Of two equally near ones the smaller angle; a difference of rounding is none.
        gap = round(abs(choice - present), 9) + 1e-10 * abs(choice)
        if abs(choice) <= limit + 1e-12 and gap < best_gap:
            best, best_gap = choice, gap
    if best_gap == inf:
        best = nearest
    excess = max(0.0, abs(best) - limit)
    if excess <= 1e-12:
        excess = 0.0
    return min(max(best, -limit), limit), excess


class Matrices(NamedTuple):
    """Of a WheeledRobotModel, what its inverse kinematics needs."""

    x: np.ndarray
    y: np.ndarray
    heading: np.ndarray
    roller_angle: np.ndarray
    offset: np.ndarray
    group_of_wheel: np.ndarray
    group_coupling: np.ndarray
    group_limit: np.ndarray
    group_mid: np.ndarray
    axle: np.ndarray
    select: np.ndarray
    factors: np.ndarray
    length: float


class Answer(NamedTuple):
    """The motion that the inputs give, shape_problem of every equation [m/s], excess of every steering angle [rad]."""

    twist: np.ndarray
    shape_problem: np.ndarray
    excess: np.ndarray


class Work(NamedTuple):
    """Scratch, with a row or column per wheel or equation."""

    psi: np.ndarray
    rows: np.ndarray
    system: np.ndarray
    scratch: np.ndarray
    inverse: np.ndarray


@njit(error_model="numpy")
def point_wheels(robot, steering, castor, psi):
    """Headings of all wheels in the body's frame."""
    axle, mid = robot.axle, robot.group_mid
    for i in range(robot.x.size):
        psi[i] = robot.heading[i] + castor[i]
        g = robot.group_of_wheel[i]
        if g >= 0:
            delta = steering[g]
            if robot.group_coupling[g] == ACKERMANN:
                delta = ackermann_angle(
                    axle[0], axle[1], axle[2], mid[g, 0], mid[g, 1], mid[g, 2],
                    robot.x[i], robot.y[i], robot.heading[i], delta,
                )  # fmt: skip
            psi[i] = robot.heading[i] + delta


@njit(error_model="numpy")
def equation_of(select, rows, m, equation):
    """Row m of A: the wheels' rows that it selects, with their weights."""
    for axis in range(3):
        total = 0.0
        for c in range(select.shape[1]):
            if select[m, c] != 0.0:
                total += select[m, c] * rows[c, axis]
        equation[axis] = total


@njit(cache=True, error_model="numpy")
def solve_inverse(robot, twist, castor, inputs, answer, work):
    """Solve A(β) ξ = B u for u: each input is read off its own equations; what does not fit is left in `shape_problem`.

    `inputs` are the present ones, then those found: rates, then steering angles. The three groups of arrays come as
    plain tuples, which Numba recognises faster than named ones.
    """
    robot, answer, work = Matrices(*robot), Answer(*answer), Work(*work)
    factors, shape_problem = robot.factors, answer.shape_problem
    rates, vx, vy, turn = factors.shape[1], twist[0], twist[1], twist[2]
    size = hypot(vx, vy) + abs(turn) * robot.length
    for g in range(robot.group_limit.size):
        inputs[rates + g], answer.excess[g] = steering_for(
            robot.group_mid[g], robot.group_limit[g], vx, vy, turn, inputs[rates + g], size
        )
    point_wheels(robot, inputs[rates:], castor, work.psi)
    constraint_rows(robot.x, robot.y, robot.roller_angle, robot.offset, work.psi, work.rows)
    for m in range(shape_problem.size):
        equation = work.system[m]
        equation_of(robot.select, work.rows, m, equation)
        shape_problem[m] = equation[0] * vx + equation[1] * vy + equation[2] * turn
    for j in range(rates):
        total, norm = 0.0, 0.0
        for m in range(shape_problem.size):
            total += factors[m, j] * shape_problem[m]
            norm += factors[m, j] * factors[m, j]
        inputs[j] = total / norm if norm > 0.0 else 0.0
    pseudo_inverse3(work.system, robot.length, work.scratch, work.inverse)
    for axis in range(3):
        answer.twist[axis] = 0.0
    for m in range(shape_problem.size):
        right = 0.0
        for j in range(rates):
            right += factors[m, j] * inputs[j]
        shape_problem[m] -= right
        for axis in range(3):
            answer.twist[axis] += work.inverse[axis, m] * right


def inverse_kinematics(
    model: WheeledRobotModel, twist: np.ndarray, present: np.ndarray, castor: np.ndarray | None = None
) -> InverseResult:
    """Inputs for the body's twist (v_x, v_y, θ'). Steering stays where the twist leaves it open, and of a wheel's two
    directions (rolling forwards or backwards) the one nearer to its present angle is taken. `castor` holds the pivot
    angle of each wheel; entries of other kinds of wheel do not count.
    """
    twist = np.asarray(twist, dtype=float)
    inputs = np.array(present, dtype=float)
    n, m = model.x.size, model.select.shape[0]
    pivots = np.zeros(n) if castor is None else np.where(model.is_castor, castor, 0.0)
    answer = possible, shape_problem, excess = np.empty(3), np.empty(m), np.empty(model.n_steering)
    matrices = (
        model.x, model.y, model.heading, model.roller_angle, model.offset, model.group_of_wheel, model.group_coupling,
        model.group_limit, model.group_mid, model.axle, model.select, model.factors, model.length,
    )  # fmt: skip
    work = np.empty(n), np.empty((2 * n, 3)), np.empty((m, 3)), np.empty((m, 3)), np.empty((3, m))
    solve_inverse(matrices, twist, pivots, inputs, answer, work)
    size = hypot(twist[0], twist[1]) + abs(twist[2]) * model.length
    tolerance = 1e-9 * size
    lost = np.abs((possible - twist) * [1.0, 1.0, model.length]).max()
    if not excess.any() and (m == 0 or np.abs(shape_problem).max() <= tolerance) and lost <= tolerance:
        return InverseResult(inputs, possible, "")
    return InverseResult(inputs, possible, reason_against(model, twist, possible, shape_problem, excess, tolerance))


def reason_against(
    model: WheeledRobotModel,
    twist: np.ndarray,
    possible: np.ndarray,
    shape_problem: np.ndarray,
    excess: np.ndarray,
    tolerance: float,
) -> str:
    """Why a robot cannot move like this, in words."""
    reasons = [
        f"{model.steering_names[g]} would steer {degrees(model.group_limit[g] + excess[g]):.1f}°, "
        f"its limit is {degrees(model.group_limit[g]):.1f}°"
        for g in np.flatnonzero(excess)
    ]
    if not reasons:
        for name, velocity in zip(model.row_names, shape_problem, strict=True):
            if abs(velocity) > tolerance:
                wheel, direction = name.split(" ")
                how = "sideways" if direction == "lateral" else "in rolling"
                reasons.append(f"{wheel} would slip {how} at {velocity:.3g} m/s")
    if not reasons:
        parts = np.abs((twist - possible) * [1.0, 1.0, model.length])
        motions = ("its forward motion", "its sideways motion", "its rotation")
        reasons.append(f"no motor and no axle sets {motions[int(parts.argmax())]}")
    return "; ".join(reasons)
