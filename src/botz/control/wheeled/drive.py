"""What the controllers of wheeled robots share: what the robot can do, where it is, and how fast it may go."""

from __future__ import annotations

from copy import deepcopy
from math import hypot
from typing import Any, ClassVar

import numpy as np

from botz.control.base import ControllerSetup, Measured
from botz.control.planar import Pose, wrap
from botz.control.wheeled.capability import Capability, Twist, required_capability
from botz.errors import InputError, Problem
from botz.robots.wheel_inverse import steering_for
from botz.robots.wheeled_robot import WheeledRobotModel

REST: Twist = (0.0, 0.0, 0.0)
STILL = 1e-9
"""Speed below which a command is none [m/s]: rounding must not turn steered wheels about."""
STEERING_ERROR = 0.2
"""Error of a steering angle at which the robot waits [rad]; below, it slows down in proportion."""
CREEP = 1e-6
"""What is left of the speed while it waits: steering takes its angles from the direction of the twist."""


class PoseController:
    """Base of the controllers that steer a wheeled robot by its pose.

    `state` names the attributes that change during a run; a snapshot holds these and nothing else, so that a long
    table is not written out with every one of them.
    """

    kind: ClassVar[str]
    state: ClassVar[tuple[str, ...]] = ()

    def __init__(self, measured: str):
        self._pose_channel = "pose" if measured == "pose" else "odometry/pose"

    def reset(self, setup: ControllerSetup) -> None:
        self.robot = setup.robot
        self.period = setup.period
        self.model = wheeled_model(setup, self.kind)
        self.capability: Capability = required_capability(self.model, self.kind, setup.robot)
        self._slow_groups = np.flatnonzero(np.isfinite(self.model.group_rate)).tolist()

    def pose(self, measured: Measured) -> Pose:
        x, y, heading = measured[self._pose_channel]
        return float(x), float(y), float(heading)

    def gain(self, wanted: float) -> float:
        """A feedback gain [1/s] no higher than sampling allows."""
        return min(wanted, 0.5 / self.period)

    def command(self, twist: Twist, measured: Measured) -> dict[str, Any]:
        """The command for a twist, slowed down while the steering is still on its way."""
        if hypot(twist[0], twist[1]) + abs(twist[2]) * self.model.length < STILL:
            return {"twist": REST}
        factor = self._steering_pace(twist, measured) if self._slow_groups else 1.0
        return {"twist": (factor * twist[0], factor * twist[1], factor * twist[2])}

    def _steering_pace(self, twist: Twist, measured: Measured) -> float:
        """1 when the wheels stand as the twist needs them, nearly 0 when they are far from it."""
        model = self.model
        wanted = np.array([measured[f"{name}/steering_command"] for name in model.steering_names])
        size = hypot(twist[0], twist[1]) + abs(twist[2]) * model.length
        for group in range(model.n_steering):
            middle, limit = model.group_mid[group], model.group_limit[group]
            wanted[group] = steering_for(middle, limit, *twist, wanted[group], size)[0]
        worst = 0.0
        for wheel, group in enumerate(model.group_of_wheel.tolist()):
            if group in self._slow_groups:
                target = model.steering_angle(wheel, float(wanted[group]))
                error = abs(target - measured[f"{model.wheel_names[wheel]}/steering"])
                # What the wheel turns until the next update is no delay.
                worst = max(worst, error - float(model.group_rate[group]) * self.period)
        return max(CREEP, 1.0 - worst / STEERING_ERROR)

    def snapshot(self) -> dict[str, Any]:
        return {name: deepcopy(getattr(self, name)) for name in self.state}

    def restore(self, saved: dict[str, Any]) -> None:
        for name in self.state:
            setattr(self, name, deepcopy(saved[name]))


def wheeled_model(setup: ControllerSetup, kind: str) -> WheeledRobotModel:
    model = getattr(setup.engine, "robots", {}).get(setup.robot)
    if not isinstance(model, WheeledRobotModel):
        message = f"{kind!r} drives robots of engine 'kinematics', not of {setup.engine.name!r}"
        raise InputError(Problem(message, key=setup.robot))
    return model


def limited(speed: float, turn: float, largest_speed: float, largest_turn: float) -> tuple[float, float]:
    """Speed and turn rate within both limits, on the same curve: one factor for both."""
    excess = max(1.0, abs(speed) / largest_speed, abs(turn) / largest_turn)
    return speed / excess, turn / excess


def towards(pose: Pose, velocity: tuple[float, float], turn: float, period: float) -> Twist:
    """Twist of a body that moves with a velocity of the world while it turns.

    The command is held for a period in which the body turns on; in the mean it moves as wanted if its axes are
    taken as they will stand in the middle of that period.
    """
    heading = wrap(pose[2] + 0.5 * turn * period)
    c, s = float(np.cos(heading)), float(np.sin(heading))
    return c * velocity[0] + s * velocity[1], -s * velocity[0] + c * velocity[1], turn
