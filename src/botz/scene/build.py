"""The neutral scene of a scenario, by the record of its family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from botz.scenario.families import FAMILIES
from botz.scene.robot_description import RobotDescription, described_scene
from botz.scene.world_scene import Scene


def scene_of(spec: Any, seen: Sequence[tuple[float, float]] = ()) -> Scene:
    """What a checked scenario (`LoadedScenario.spec`) looks like. Builders are imported when they are needed: some
    bring MuJoCo or meshes along. Terrain is thinned; `seen` are places (x, y) about which it is to be finest.

    >>> scene = scene_of(load_scenario("vivi-rough").spec)
    """
    scene: Scene = FAMILIES[spec.engine].scene.build(spec, seen)
    return scene


def descriptions_of(spec: Any) -> list[RobotDescription]:
    """The robots and loose objects of a checked scenario as links and joints, without their surroundings."""
    own = getattr(FAMILIES[spec.engine].scene, "described", None)
    described: list[RobotDescription] = own(spec) if own else described_scene(scene_of(spec))
    return described
