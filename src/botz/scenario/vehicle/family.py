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
    path_plot="botz.view.vehicle.ground_plot:path_plot",
    driving="botz.view.vehicle.driving:driving",
    keywords="car rover terrain suspension wheel carro veículo terreno suspensão roda",
    checks="botz.verify.vehicle.suite:vehicle_checks",
    benchmark="botz.bench.vehicle.suite:run",
    docs="vehicles.md",
)
