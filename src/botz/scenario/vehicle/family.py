"""The record of the family `vehicle`."""

from __future__ import annotations

from botz.scenario.families import Family

FAMILY = Family(
    name="vehicle",
    title="vehicles on rough ground",
    place=1,
    scenario_type="botz.scenario.vehicle.schema:VehicleScenario",
    robot_type="botz.scenario.vehicle.schema:Vehicle",
    engine_type="botz.engines.vehicle.engine:VehicleEngine",
    scene_module="botz.scene.vehicle.scene",
    checks="botz.verify.vehicle.suite:vehicle_checks",
    benchmark="botz.bench.vehicle.suite:run",
    docs="vehicles.md",
)
