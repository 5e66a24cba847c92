"""The record of the family `kinematics`."""

from __future__ import annotations

from botz.scenario.families import Family

FAMILY = Family(
    name="kinematics",
    title="wheeled robots, kinematics",
    place=0,
    scenario_type="botz.scenario.kinematics.schema:KinematicsScenario",
    robot_type="botz.scenario.kinematics.schema:WheeledRobot",
    engine_type="botz.engines.kinematics.engine:KinematicsEngine",
    scene_module="botz.scene.kinematics.scene",
    driving="botz.view.kinematics.driving:driving",
    keywords="wheel mobile robot roda robô móvel cinemática",
    checks="botz.verify.kinematics.suite:kinematics_checks",
    benchmark="botz.bench.kinematics.suite:run",
    docs="wheeled-robots.md",
)
