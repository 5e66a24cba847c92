"""From a wanted motion of the body to the inputs that give it, or a clear reason why this robot cannot do it."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, degrees, hypot, pi

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
    if limit == np.inf:
        return angle + pi * round((present - angle) / pi), 0.0
    nearest = half_turn(angle)
    best, best_gap = 0.0, np.inf
    for k in range(-1, 2):  # a limit is at most 180°
        choice = nearest + k * pi
        # Of two equally near ones the smaller angle; a difference of rounding is none.
        gap = round(abs(choice - present), 9) + 1e-10 * abs(choice)
        if abs(choice) <= limit + 1e-12 and gap < best_gap:
            best, best_gap = choice, gap
    if best_gap == np.inf:
        best = nearest
    excess = max(0.0, abs(best) - limit)
    if excess <= 1e-12:
        excess = 0.0
    return min(max(best, -limit), limit), excess


@njit(cache=True, error_model="numpy")
def solve_inverse(
    # parameters (see WheeledRobotModel)
    x, y, heading, roller_angle, offset, group_of_wheel, coupling, limit, mid, axle, select, factors, length,
    # in
    twist, castor,
    # in and out: present inputs, then the ones found (rates, then steering angles)
    inputs,
    # out: the motion these inputs give, misfit of every equation [m/s], excess of every steering angle [rad]
    possible, misfit, excess,
    # work
    psi, rows, system, scratch, inverse,
):  # fmt: skip
    """Solve A(β) ξ = B u for u: each input is read off its own equations; what does not fit is left in `misfit`."""
    rates = factors.shape[1]
    size = hypot(twist[0], twist[1]) + abs(twist[2]) * length
    for g in range(limit.size):
        inputs[rates + g], excess[g] = steering_for(
            mid[g], limit[g], twist[0], twist[1], twist[2], inputs[rates + g], size
        )
    for i in range(x.size):
        psi[i] = heading[i] + castor[i]
        g = group_of_wheel[i]
        if g >= 0:
            delta = inputs[rates + g]
            if coupling[g] == ACKERMANN:
                delta = ackermann_angle(
                    axle[0], axle[1], axle[2], mid[g, 0], mid[g, 1], mid[g, 2], x[i], y[i], heading[i], delta
                )
            psi[i] = heading[i] + delta
    constraint_rows(x, y, roller_angle, offset, psi, rows)
    for m in range(select.shape[0]):
        for axis in range(3):
            total = 0.0
            for c in range(select.shape[1]):
                if select[m, c] != 0.0:
                    total += select[m, c] * rows[c, axis]
            system[m, axis] = total
        misfit[m] = system[m, 0] * twist[0] + system[m, 1] * twist[1] + system[m, 2] * twist[2]
    for j in range(rates):
        total, norm = 0.0, 0.0
        for m in range(select.shape[0]):
            total += factors[m, j] * misfit[m]
            norm += factors[m, j] * factors[m, j]
        inputs[j] = total / norm if norm > 0.0 else 0.0
    pseudo_inverse3(system, length, scratch, inverse)
    for axis in range(3):
        possible[axis] = 0.0
    for m in range(select.shape[0]):
        right = 0.0
        for j in range(rates):
            right += factors[m, j] * inputs[j]
        misfit[m] -= right
        for axis in range(3):
            possible[axis] += inverse[axis, m] * right


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
    possible, misfit, excess = np.empty(3), np.empty(m), np.empty(model.n_steering)
    solve_inverse(
        model.x, model.y, model.heading, model.roller_angle, model.offset, model.group_of_wheel, model.group_coupling,
        model.group_limit, model.group_mid, model.axle, model.select, model.factors, model.length,
        twist, pivots, inputs, possible, misfit, excess,
        np.empty(n), np.empty((2 * n, 3)), np.empty((m, 3)), np.empty((m, 3)), np.empty((3, m)),
    )  # fmt: skip
    size = hypot(twist[0], twist[1]) + abs(twist[2]) * model.length
    tolerance = 1e-9 * size
    lost = np.abs((possible - twist) * [1.0, 1.0, model.length]).max()
    if not excess.any() and (m == 0 or np.abs(misfit).max() <= tolerance) and lost <= tolerance:
        return InverseResult(inputs, possible, "")
    return InverseResult(inputs, possible, reason_against(model, twist, possible, misfit, excess, tolerance))


def reason_against(
    model: WheeledRobotModel,
    twist: np.ndarray,
    possible: np.ndarray,
    misfit: np.ndarray,
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
        for name, velocity in zip(model.row_names, misfit, strict=True):
            if abs(velocity) > tolerance:
                wheel, direction = name.split(" ")
                how = "sideways" if direction == "lateral" else "in rolling"
                reasons.append(f"{wheel} would slip {how} at {velocity:.3g} m/s")
    if not reasons:
        parts = np.abs((twist - possible) * [1.0, 1.0, model.length])
        motions = ("its forward motion", "its sideways motion", "its rotation")
        reasons.append(f"no motor and no axle sets {motions[int(parts.argmax())]}")
    return "; ".join(reasons)
