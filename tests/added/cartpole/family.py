"""The record of the family: an installed package names it in the entry-point group `botz.families`."""

from __future__ import annotations

from botz.scenario.families import Family

FAMILY = Family(
    name="cartpole",
    title="carts with a pendulum",
    place=100,
    scenario_type="cartpole.schema:CartPoleScenario",
    robot_type="cartpole.schema:CartPole",
    engine_type="cartpole.engine:CartPoleEngine",
    scene_module="cartpole.scene",
    checks="cartpole.suite:checks",
    benchmark="cartpole.bench:run",
    library="cartpole",
    keywords="pendulum balance pêndulo equilíbrio",
)
