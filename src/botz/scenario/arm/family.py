"""The record of the family `arm`."""

from __future__ import annotations

from botz.scenario.families import Family

FAMILY = Family(
    name="arm",
    title="serial arms",
    place=3,
    scenario_type="botz.scenario.arm.schema:ArmScenario",
    robot_type="botz.scenario.arm.schema:Arm",
    engine_type="botz.engines.arm.engine:ArmEngine",
    scene_module="botz.scene.arm.scene",
    checks="botz.verify.arm.suite:arm_checks",
    benchmark="botz.bench.arm.suite:run",
    docs="arms.md",
)
