"""The record of the family `multibody`."""

from __future__ import annotations

from botz.scenario.families import Family

FAMILY = Family(
    name="multibody",
    title="multibody robots",
    place=4,
    scenario_type="botz.scenario.multibody.schema:MultibodyScenario",
    robot_type="botz.scenario.multibody.schema:MultibodyRobot",
    engine_type="botz.engines.multibody.engine:MultibodyEngine",
    scene_module="botz.scene.multibody.scene",
    overview="botz.view.multibody.plot:overview",
    driving="botz.view.multibody.driving:driving",
    keywords="body joint corpo junta",
    checks="botz.verify.multibody.suite:multibody_checks",
    benchmark="botz.bench.multibody.suite:run",
    docs="multibody.md",
    own_process=True,
)
