"""A controller of another package: back to the place where the run began, and stay there."""

from __future__ import annotations

from math import atan2, hypot
from typing import ClassVar, Literal

from pydantic import Field

from botz.control.base import Command, ControllerSetup, Measured
from botz.scenario.schema import Controller
from botz.scenario.units import MetresPerSecond, PlanarPose


class HomingController(Controller):
    """Drive home, and turn towards it first."""

    implementation: ClassVar[str] = "botz_extras.homing:Homing"
    families: ClassVar[tuple[str, ...]] = ("kinematics",)
    type: Literal["homing"]
    home: PlanarPose = (0.0, 0.0, 0.0)
    """Where it goes: x, y [m] and heading [rad]."""
    speed: MetresPerSecond = Field(default=0.3, gt=0)
    """How fast [m/s]."""

    def places(self) -> list[tuple[float, float]]:
        return [self.home[:2]]


class Homing:
    def __init__(self, spec: HomingController):
        self.spec = spec

    def reset(self, setup: ControllerSetup) -> None:
        self.arrived = False

    def update(self, t: float, measured: Measured) -> Command:
        x, y, heading = measured["pose"]
        ahead, aside = self.spec.home[0] - x, self.spec.home[1] - y
        self.arrived |= hypot(ahead, aside) < 0.02
        error = (atan2(aside, ahead) - heading + 3.0 * 3.141592653589793) % (
            2.0 * 3.141592653589793
        ) - 3.141592653589793
        moving = 0.0 if self.arrived or abs(error) > 0.3 else self.spec.speed
        return {"twist": (moving, 0.0, 0.0 if self.arrived else 2.0 * error)}
