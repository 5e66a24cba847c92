"""Robots as links and joints that a recording can name: each link is a frame, each joint moves by a channel.

Links are called as the scene's nodes, `vivi` and `vivi/left`; joints as in the robot's joint states, `left`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from botz.models.robot_model import ModelJoint, ModelLink, ModelShape, RobotModel, identity
from botz.models.urdf.links import WORLD
from botz.models.urdf.writer import urdf_text
from botz.scene.primitives import common_solids, enclosing
from botz.scene.world_scene import Follows, Material, Node, Place, Scene, Shape, Slides, Turns
from botz.transforms import posed, rotation_from_quaternion


@dataclass(frozen=True, eq=False)
class RobotDescription:
    """A robot, or a loose object, with what moves it."""

    model: RobotModel
    """Its name is the robot's; its links have the names of frames."""
    motions: dict[str, Turns | Slides] = field(default_factory=dict)
    """By joint: the position is `scale` times a number of a channel plus `offset`."""
    base: Follows | None = None
    """What moves the root in the world; None: it stands."""
    place: np.ndarray = field(default_factory=identity)
    """Of the root in the world, or behind the pose of `base` (4, 4)."""
    is_robot: bool = True
    nodes: tuple[Node, ...] = ()
    """What the scene shows of it, the root first; empty where links are all that is known."""

    @property
    def name(self) -> str:
        return self.model.name

    def urdf(self) -> str:
        return urdf_text(self.model)


def urdf_of_all(descriptions: Sequence[RobotDescription]) -> str:
    """One tree under the link `world`, so that a viewer shows everything at once; joints have their robot's name in
    front."""
    links = {WORLD: ModelLink(WORLD)}
    joints: dict[str, ModelJoint] = {}
    for one in descriptions:
        links |= one.model.links
        kind = "fixed" if one.base is None else "floating"
        pose = one.place if one.base is None else np.eye(4)
        joints[one.name] = ModelJoint(one.name, kind, WORLD, one.model.root, pose)
        for joint in one.model.joints.values():
            name = f"{one.name}/{joint.name}"
            joints[name] = replace(joint, name=name)
    return urdf_text(RobotModel(WORLD, links, joints))


def matrix_of(place: Place) -> np.ndarray:
    return posed(rotation_from_quaternion(*place[3:]), np.array(place[:3]))


def described_scene(scene: Scene) -> list[RobotDescription]:
    """Each robot and each loose object of a scene. What stands still and is no robot is no part of it, nor what shows
    where odometry believes a robot to be, nor what only comes and goes."""
    robots = {actor.name for actor in scene.actors}
    found = []
    for root in scene.nodes:
        if root.parent is not None or "/" in root.name or (root.motion is None and root.name not in robots):
            continue
        below = [node for node in scene.nodes if node.name.startswith(f"{root.name}/")]
        description = RobotDescription(
            RobotModel(root.name, {root.name: link_of(root, scene.materials)}, {}),
            base=root.motion if isinstance(root.motion, Follows) else None,
            place=matrix_of(root.place),
            is_robot=root.name in robots,
            nodes=(root, *below),
        )
        add_nodes(description, below, scene.materials)
        found.append(description)
    return found


def add_nodes(description: RobotDescription, nodes: Iterable[Node], materials: Mapping[str, Material]) -> None:
    """Hang nodes on links that are there, parents first."""
    model = description.model
    for node in nodes:
        if node.parent not in model.links or (node.shown_by is not None and node.motion is None):
            continue
        name = node.name.removeprefix(f"{model.name}/").replace("/", "_")
        while name in model.joints:
            name += "_"
        kind, axis = "fixed", (0.0, 0.0, 1.0)
        if isinstance(node.motion, Turns | Slides):
            kind = "revolute" if isinstance(node.motion, Turns) else "prismatic"
            axis = node.motion.axis
            description.motions[name] = node.motion
        model.links[node.name] = link_of(node, materials)
        model.joints[name] = ModelJoint(name, kind, node.parent, node.name, matrix_of(node.place), axis)


def link_of(node: Node, materials: Mapping[str, Material]) -> ModelLink:
    return ModelLink(node.name, shapes=tuple(solid for one in node.shapes for solid in solids_of(one, materials)))


def solids_of(shape: Shape, materials: Mapping[str, Material]) -> list[ModelShape]:
    """A mesh becomes the smallest solid around it: no file has to travel with a recording."""
    pose = matrix_of(shape.place)
    if shape.mesh is not None:
        solid = enclosing(shape.mesh)
        solid = replace(solid, pose=pose @ solid.pose)
    else:
        solid = ModelShape(shape.kind, shape.size, pose)
    colour = materials[shape.material].colour if shape.material in materials else None
    return list(common_solids(replace(solid, colour=colour, collision=False)))
