"""Scenes of the engine `arm`: arms by their joints' table, what stands around them, and what they carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from botz.scenario.arm.schema import ArmScenario, PlacedArm
from botz.scenario.arm.world import Plane
from botz.scene.arm import body as arm_body
from botz.scene.arm.body import Look
from botz.scene.ground import ground_plate
from botz.scene.multibody.link_shapes import box as chamfered
from botz.scene.multibody.link_shapes import place_of
from botz.scene.parts import ROBOT_PAINTS, facing, palette
from botz.scene.robot_description import RobotDescription, described_scene
from botz.scene.world_scene import (
    HERE,
    Actor,
    ArmPosture,
    Camera,
    Follows,
    Material,
    Node,
    PointForce,
    Scene,
    Shape,
    Slides,
    Turns,
    Velocity,
    node_poses,
)
from botz.transforms import transform

AXIS = (0.0, 0.0, 1.0)
UPRIGHT = 0.99
"""Of the z of a plane's normal or of a base: beyond it, it counts as level."""
WATER = np.array([0.16, 0.42, 0.52])
"""What colours go over into under water, and how far."""
MURK = 0.34
FIXED, LOOSE = "fixed-box", ("paint-2", "paint-4", "paint-6", "paint-3", "paint-5", "paint-7")
AHEAD = (0.0, 1.0, 0.0, 0.0)
"""Half a turn about x: a camera's −z becomes the tool's z."""


def build(spec: ArmScenario, seen: Sequence[tuple[float, float]] = ()) -> Scene:
    del seen  # no terrain to thin
    scene = Scene(materials=materials(), indoors=True)
    bases = [transform(*robot.pose)[:3, 3] for robot in spec.robots.values()]
    reaches = [arm_body.reach_of(robot) for robot in spec.robots.values()]
    middle = np.mean(bases, axis=0)
    spread = max(float(np.linalg.norm(base - middle)) + reach for base, reach in zip(bases, reaches, strict=True))
    ground, is_plane = _ground_height(spec)
    _add_surroundings(scene, spec, middle, spread, None if is_plane else ground)
    add_robots(scene, spec)
    _frame(scene, spec, ground, spread)
    if spec.world.water is not None:
        scene.materials = {name: _under_water(material) for name, material in scene.materials.items()}
    return scene


def add_robots(scene: Scene, spec: ArmScenario) -> None:
    """Arms, and what they can carry."""
    ground, _ = _ground_height(spec)
    for number, (name, robot) in enumerate(spec.robots.items()):
        base = transform(*robot.pose)
        stands = base[2, 2] > UPRIGHT and base[2, 3] - ground > 0.0
        height = float(base[2, 3] - ground) if stands else 1.6 * arm_body.reach_of(robot) * arm_body.THICK
        _add_arm(scene, name, robot, base, height, _look(robot, number))
    for number, (name, box) in enumerate(spec.world.objects.items()):
        shape = chamfered(box.size, LOOSE[number % len(LOOSE)], chamfer=0.06)
        scene.nodes.append(Node(name, shapes=(shape,), motion=Follows(f"{name}/pose")))


def described(spec: ArmScenario) -> list[RobotDescription]:
    """Arms and loose objects as a recording describes them, with the ranges of the joints."""
    scene = Scene(materials=materials())
    add_robots(scene, spec)
    found = described_scene(scene)
    for one in found:
        if one.name not in spec.robots:
            continue
        for name, joint in spec.robots[one.name].joints.items():
            if joint.range is not None:
                one.model.joints[name] = replace(one.model.joints[name], lower=joint.range[0], upper=joint.range[1])
    return found


def _ground_height(spec: ArmScenario) -> tuple[float, bool]:
    """Of the highest level plane, or of the floor that is drawn where there is none; and whether it is a plane."""
    if floors := [plane.point[2] for plane in spec.world.planes.values() if _level(plane)]:
        return max(floors), True
    robots = spec.robots.values()
    return float(min(robot.pose[2] - arm_body.PEDESTAL * arm_body.reach_of(robot) for robot in robots)), False


def _frame(scene: Scene, spec: ArmScenario, ground: float, spread: float) -> None:
    """What is worth seeing: the arms as they start, down to their feet, and what lies about."""
    start: dict[str, np.ndarray] = {}
    for name, robot in spec.robots.items():
        start[f"{name}/position"] = np.array(robot.start_joints)
    for name, box in spec.world.objects.items():
        start[f"{name}/pose"] = np.array(place_of(transform(*box.pose)))
    points = [pose[:3] for name, pose in node_poses(scene, start).items() if not name.startswith(("world/", "ground"))]
    points += [np.array([*robot.pose[:2], ground]) for robot in spec.robots.values()]
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    x, y, z = (float(value) for value in 0.5 * (low + high))
    scene.centre = (x, y, z)
    scene.radius = max(0.5 * float(np.linalg.norm(high - low)) + 0.15 * spread, 0.6 * spread)


def materials() -> dict[str, Material]:
    return {
        **palette(),
        "arm-yellow": Material((0.95, 0.70, 0.10, 1.0), 0.42),
        "arm-black": Material((0.13, 0.14, 0.16, 1.0), 0.5, 0.2),
        FIXED: Material((0.60, 0.58, 0.54, 1.0), 0.85),
        "wall": Material((0.72, 0.76, 0.80, 0.55), 0.9, two_sided=True),
    }


def _look(robot: PlacedArm, number: int) -> Look:
    """Arms that are made for water are yellow, as such are; others white with a colour of their own."""
    if any(joint.water.volume > 0.0 for joint in robot.joints.values()):
        return Look("arm-yellow", "arm-black", "steel")
    return Look("body", "trim", ROBOT_PAINTS[number % len(ROBOT_PAINTS)])


def _under_water(material: Material) -> Material:
    red, green, blue = (float(c) for c in (1.0 - MURK) * np.array(material.colour[:3]) + MURK * WATER)
    return replace(material, colour=(red, green, blue, material.colour[3]))


# --- arms ----------------------------------------------------------------------------------------------------


def _add_arm(scene: Scene, name: str, robot: PlacedArm, base: np.ndarray, height: float, look: Look) -> None:
    """A node for each joint, in the frame that it moves; the fixed parts of the table's rows are in their places."""
    sizes = arm_body.radii(robot)
    foot = tuple(arm_body.pedestal_shapes(sizes[0], height, look))
    scene.nodes.append(Node(name, place=place_of(base), shapes=foot))
    above, done = name, np.eye(4)
    joints = list(robot.joints.items())
    moving = []
    for k, (joint_name, joint) in enumerate(joints):
        motion = Turns(f"{name}/position", AXIS, k) if joint.type == "revolute" else Slides(f"{name}/position", AXIS, k)
        last = k == len(joints) - 1
        shapes = (
            arm_body.end_shapes(robot, sizes[k], look)
            if last
            else arm_body.link_shapes(joint, sizes[k], sizes[k + 1], look, first=k == 0)
        )
        node = Node(f"{name}/{joint_name}", above, place_of(done @ arm_body.before_joint(joint)), tuple(shapes), motion)
        scene.nodes.append(node)
        moving.append(node.name)
        if joint.type == "prismatic":
            scene.nodes.append(_rod(node, done, joint.range, sizes[k], look))
        above, done = node.name, arm_body.after_joint(joint)
    tool = _free(scene, f"{name}/tool")
    shapes = arm_body.tool_shapes(robot, sizes[-1], look)
    scene.nodes.append(Node(tool, above, place_of(done @ arm_body.tool_of(robot)), tuple(shapes)))
    if robot.gripper is not None:
        for finger, place, parts in arm_body.fingers(robot.gripper, look):
            slide = Slides(f"{name}/gripper/opening", (0.0, 1.0, 0.0), scale=0.5)
            scene.nodes.append(Node(_free(scene, f"{name}/{finger}"), tool, place, parts, slide))
    reach = arm_body.reach_of(robot)
    scene.actors.append(Actor(name, name, reach, "arm"))
    scene.indicators += [
        ArmPosture(name, f"{name}/position", tuple(moving), tool),
        Velocity(name, tool, f"{name}/tool/twist"),
        PointForce(name, tool, f"{name}/tool/wrench", "contact-force"),
    ]
    eye = (0.0, 0.12 * reach, -0.22 * reach, *AHEAD)
    scene.cameras.append(Camera(f"{name} tool", eye, tool, vertical_view=1.0))


def _rod(node: Node, done: np.ndarray, span: list[float] | None, radius: float, look: Look) -> Node:
    """The rail that a prismatic joint slides on; it stays with the link before."""
    low, high = span or (-4.0 * radius, 4.0 * radius)
    place = place_of(done)
    mesh = arm_body.barrel(0.45 * radius, min(0.0, low) - radius, max(0.0, high) + radius, 0.05 * radius)
    return Node(f"{node.name}/rail", node.parent, place, (Shape("mesh", material=look.joint, mesh=mesh),))


def _free(scene: Scene, name: str) -> str:
    """A name that no node has: a joint may be called `tool`."""
    taken = {node.name for node in scene.nodes}
    while name in taken:
        name += "_"
    return name


# --- surroundings --------------------------------------------------------------------------------------------


def _level(plane: Plane) -> bool:
    return plane.normal[2] > UPRIGHT * float(np.linalg.norm(plane.normal))


def _add_surroundings(scene: Scene, spec: ArmScenario, middle: np.ndarray, spread: float, ground: float | None) -> None:
    """Planes and boxes; where a world has no floor, one to stand on, which nothing touches."""
    size = 7.0 * spread
    centre = (float(middle[0]), float(middle[1]))
    cell = 0.5 if spread < 4.0 else 1.0
    if ground is not None:
        plate = ground_plate(scene.materials, (size, size), centre=centre, z=ground, cell=cell)
        scene.nodes.append(Node("ground", shapes=(plate,)))
    for name, plane in spec.world.planes.items():
        node = f"world/{name}"
        if _level(plane):
            plate = ground_plate(
                scene.materials, (size, size), centre=centre, z=plane.point[2], cell=cell, name=f"ground-{name}"
            )
            scene.nodes.append(Node(node, shapes=(plate,)))
            continue
        normal = np.array(plane.normal) / np.linalg.norm(plane.normal)
        at = middle - normal * float(normal @ (middle - np.array(plane.point)))
        wall = Shape("box", (3.0 * spread, 3.0 * spread, 0.01 * spread), material="wall", casts_shadow=False)
        wall = replace(wall, place=(0.0, 0.0, -0.005 * spread, *HERE[3:]))
        scene.nodes.append(Node(node, place=facing(at, normal), shapes=(wall,)))
    for name, box in spec.world.boxes.items():
        shape = chamfered(box.size, FIXED, chamfer=0.03)
        scene.nodes.append(Node(f"world/{name}", place=place_of(transform(*box.pose)), shapes=(shape,)))
