"""The record of the family `soccer`."""

from __future__ import annotations

from botz.scenario.families import Family

FAMILY = Family(
    name="soccer",
    title="robot soccer",
    place=2,
    scenario_type="botz.scenario.soccer.schema:SoccerScenario",
    robot_type="botz.scenario.soccer.schema:SoccerRobot",
    engine_type="botz.engines.soccer.engine:SoccerEngine",
    scene_module="botz.scene.soccer.scene",
    path_plot="botz.view.soccer.field_plot:path_plot",
    driving="botz.view.soccer.driving:driving",
    keywords="football ball match vsss futebol bola jogo robô",
    checks="botz.verify.soccer.suite:soccer_checks",
    benchmark="botz.bench.soccer.suite:run",
    docs="soccer.md",
)
