"""The robot families that a scenario can name: one line each."""

from __future__ import annotations

from dataclasses import dataclass

from botz.scenario.arm.schema import Arm, ArmScenario
from botz.scenario.kinematics.schema import KinematicsScenario, WheeledRobot
from botz.scenario.multibody.schema import MultibodyRobot, MultibodyScenario
from botz.scenario.schema import ScenarioBase, Strict
from botz.scenario.soccer.schema import SoccerRobot, SoccerScenario
from botz.scenario.vehicle.schema import Vehicle, VehicleScenario


@dataclass(frozen=True)
class Family:
    scenario: type[ScenarioBase]
    robot: type[Strict]
    title: str
    own_process: bool = False
    """Its engine calls a library whose fatal errors end the process; the recorder must be in another one."""


FAMILIES: dict[str, Family] = {
    "kinematics": Family(KinematicsScenario, WheeledRobot, "wheeled robots, kinematics"),
    "vehicle": Family(VehicleScenario, Vehicle, "vehicles on rough ground"),
    "soccer": Family(SoccerScenario, SoccerRobot, "robot soccer"),
    "arm": Family(ArmScenario, Arm, "serial arms"),
    "multibody": Family(MultibodyScenario, MultibodyRobot, "multibody robots", own_process=True),
}
"""By engine name: one name for family, engine, verification and benchmark."""
