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
    overview="botz.view.arm.plot:overview",
    driving="botz.view.arm.driving:driving",
    postures="botz.robots.serial_arm:SerialArm",
    keywords="robot arm manipulator joint gripper braço manipulador junta garra",
    checks="botz.verify.arm.suite:arm_checks",
    benchmark="botz.bench.arm.suite:run",
    docs="arms.md",
)
