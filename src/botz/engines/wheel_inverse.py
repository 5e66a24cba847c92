"""From a wanted motion of the body to the inputs that give it, or a clear reason why this robot cannot do it."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, degrees, hypot, pi

import numpy as np

from botz.engines.wheeled_robot import WheeledRobotModel


@dataclass(frozen=True)
class InverseResult:
    inputs: np.ndarray
    """Inputs of the nearest motion that the robot can do; the wanted one where `reason` is empty."""
    twist: np.ndarray
    """The motion that these inputs give."""
    reason: str
    """Empty, or why the wanted motion is impossible."""


def inverse_kinematics(
    model: WheeledRobotModel, twist: np.ndarray, present: np.ndarray, castor: np.ndarray | None = None
) -> InverseResult:
    """Inputs for the body's twist (v_x, v_y, θ'). Steering stays where the twist leaves it open, and of a wheel's two
    directions (rolling forwards or backwards) the one nearer to its present angle is taken.

    A u ↦ ξ exists where the equations A(β) ξ = B u have a solution: each input is read off its own equations, and
    what does not fit is the reason that is given.
    """
    twist = np.asarray(twist, dtype=float)
    inputs = np.array(present, dtype=float)
    reasons: list[str] = []
    steering = inputs[model.n_rates :]
    size = hypot(twist[0], twist[1]) + abs(twist[2]) * model.length
    for group in range(model.n_steering):
        angle, reason = steering_for(model, group, twist, float(steering[group]), size)
        steering[group] = angle
        if reason:
            reasons.append(reason)
    psi = model.wheel_headings(steering, castor)
    system = model.system(psi)
    velocities = system @ twist
    norms = (model.factors**2).sum(axis=0)
    inputs[: model.n_rates] = model.factors.T @ velocities / np.where(norms > 0, norms, 1.0)
    misfit = velocities - model.factors @ inputs[: model.n_rates]
    possible, _ = model.forward(inputs, castor)
    tolerance = 1e-9 * size
    if not reasons:
        for name, velocity in zip(model.row_names, misfit, strict=True):
            if abs(velocity) > tolerance:
                wheel, direction = name.split(" ")
                reasons.append(f"{wheel} would slip {'sideways' if direction == 'lateral' else 'in rolling'} at {velocity:.3g} m/s")
    if not reasons and np.abs((possible - twist) * [1.0, 1.0, model.length]).max(initial=0.0) > tolerance:
        reasons.append("no motor and no axle sets " + free_motion(model, twist - possible))
    return InverseResult(inputs, possible, "; ".join(reasons))


def steering_for(
    model: WheeledRobotModel, group: int, twist: np.ndarray, present: float, size: float
) -> tuple[float, str]:
    """Angle of a steering group whose middle moves with the twist: within its limits, nearest to the present one."""
    x, y, heading = model.group_mid[group]
    vx, vy = twist[0] - twist[2] * y, twist[1] + twist[2] * x
    if hypot(vx, vy) <= 1e-12 * size or size == 0.0:
        return present, ""
    angle = atan2(vy, vx) - heading
    limit = float(model.group_limit[group])
    choices = [angle + k * pi for k in range(-4, 5) if abs(angle + k * pi) <= limit + 1e-12]
    if choices:
        best = min(choices, key=lambda choice: (round(abs(choice - present), 9), abs(choice)))
        return max(-limit, min(limit, best)), ""
    nearest = min((angle + k * pi for k in range(-4, 5)), key=abs)
    reason = f"{model.steering_names[group]} would steer {degrees(nearest):.1f}°, its limit is {degrees(limit):.1f}°"
    return max(-limit, min(limit, nearest)), reason


def free_motion(model: WheeledRobotModel, difference: np.ndarray) -> str:
    """Names the part of a motion that nothing determines."""
    parts = np.abs(difference * [1.0, 1.0, model.length])
    names = ("its forward motion", "its sideways motion", "its rotation")
    return names[int(parts.argmax())]
