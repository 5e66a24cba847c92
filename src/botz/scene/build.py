"""The neutral scene of each family's scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from botz.scenario.arm.schema import ArmScenario
from botz.scenario.kinematics.schema import KinematicsScenario
from botz.scenario.multibody.schema import MultibodyScenario
from botz.scenario.soccer.schema import SoccerScenario
from botz.scenario.vehicle.schema import VehicleScenario
from botz.scene.robot_description import RobotDescription, described_scene
from botz.scene.world_scene import Scene


def scene_of(spec: Any, seen: Sequence[tuple[float, float]] = ()) -> Scene:
    """What a checked scenario (`LoadedScenario.spec`) looks like. Builders are imported when they are needed: some
    bring MuJoCo or meshes along. Terrain is thinned; `seen` are places (x, y) about which it is to be finest.

    >>> scene = scene_of(load_scenario("vivi-rough").spec)
    """
    match spec:
        case KinematicsScenario():
            from botz.scene.kinematics import scene as kinematics_scene

            return kinematics_scene.build(spec)
        case VehicleScenario():
            from botz.scene.vehicle import scene as vehicle_scene

            return vehicle_scene.build(spec, seen)
        case SoccerScenario():
            from botz.scene.soccer import scene as soccer_scene

            return soccer_scene.build(spec)
        case ArmScenario():
            from botz.scene.arm import scene as arm_scene

            return arm_scene.build(spec)
        case MultibodyScenario():
            from botz.scene.multibody import scene as multibody_scene

            return multibody_scene.build(spec, seen)
        case _:
            raise TypeError(f"no scene for a {type(spec).__name__}")


def descriptions_of(spec: Any) -> list[RobotDescription]:
    """The robots and loose objects of a checked scenario as links and joints, without their surroundings."""
    match spec:
        case KinematicsScenario():
            from botz.scene import parts
            from botz.scene.kinematics import scene as kinematics_scene

            scene = Scene(materials=parts.palette())
            kinematics_scene.add_robots(scene, spec)
            return described_scene(scene)
        case VehicleScenario():
            from botz.scene import parts
            from botz.scene.vehicle import scene as vehicle_scene

            scene = Scene(materials=parts.palette())
            vehicle_scene.add_robots(scene, spec)
            return described_scene(scene)
        case SoccerScenario():
            from botz.scene.soccer import scene as soccer_scene

            scene = Scene(materials=soccer_scene.materials())
            soccer_scene.add_robots(scene, spec)
            return described_scene(scene)
        case ArmScenario():
            from botz.scene.arm import scene as arm_scene

            return arm_scene.described(spec)
        case MultibodyScenario():
            from botz.scene.multibody import scene as multibody_scene

            return multibody_scene.described(spec)
        case _:
            raise TypeError(f"no description for a {type(spec).__name__}")
