"""Vehicles with sprung wheels on their terrain."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

import numpy as np

from botz.scenario.terrain import FlatTerrain
from botz.scenario.vehicle.schema import PlacedVehicle, VehicleScenario, VehicleWheel
from botz.scene.ground import ground_plate, terrain_mesh
from botz.scene.parts import ROBOT_PAINTS, antenna, arrow, chassis_box, facing, palette, placed, wheel_shapes
from botz.scene.robot_description import RobotDescription, described_scene
from botz.scene.shapes import moved, prism
from botz.scene.world_scene import (
    Actor,
    Follows,
    Node,
    Repeats,
    Scene,
    Shape,
    Slides,
    TriangleMesh,
    Turns,
    Velocity,
    WheelContact,
)
from botz.terrain.height_grid import HeightGrid, build_grid

LENGTHS_SEEN = 4.0
"""Radius of the view at the start, in lengths of a vehicle."""
LENGTHS_BESIDE = 2.4
"""Of that, what is seen beside the outermost of several vehicles."""


def build(spec: VehicleScenario, seen: Sequence[tuple[float, float]] = ()) -> Scene:
    scene = Scene(materials=palette())
    grid = build_grid(spec.world.terrain, spec.seed)
    scene.nodes.append(Node("ground", shapes=ground_shapes(spec, grid, scene, seen)))
    add_robots(scene, spec)
    if grid.outside == "mirror" and len(scene.nodes[0].shapes) > 1:
        lines = kept_shape(scene.nodes[0].shapes[0])
        scene.repeats = Repeats("ground", (grid.x_min, grid.x_max), (grid.y_min, grid.y_max), lines)
    scene.centre, scene.radius = start_view(spec, grid)
    return scene


def described(spec: VehicleScenario) -> list[RobotDescription]:
    """Robots and loose objects as a recording describes them."""
    scene = Scene(materials=palette())
    add_robots(scene, spec)
    return described_scene(scene)


def add_robots(scene: Scene, spec: VehicleScenario) -> None:
    for number, (name, robot) in enumerate(spec.robots.items()):
        paint = ROBOT_PAINTS[(number + 1) % len(ROBOT_PAINTS)]
        scene.nodes.append(Node(name, shapes=body_shapes(robot, paint), motion=Follows(f"{name}/pose")))
        for wheel_name, wheel in robot.wheels.items():
            scene.nodes += wheel_nodes(name, wheel_name, wheel, robot)
            part = f"{name}/{wheel_name}"
            scene.indicators.append(
                WheelContact(name, name, f"{part}/contact", f"{part}/normal", f"{part}/load", f"{part}/force")
            )
        scene.indicators.append(Velocity(name, name, f"{name}/twist"))
        driven = bool(robot.motors_of_side("left")) and bool(robot.motors_of_side("right"))
        scene.actors.append(Actor(name, name, size_of(robot), "tank" if driven else "none"))


def ground_shapes(
    spec: VehicleScenario, grid: HeightGrid, scene: Scene, seen: Sequence[tuple[float, float]]
) -> tuple[Shape, ...]:
    """Tiles for level ground, which show motion better than grass; else the terrain."""
    terrain = spec.world.terrain
    if isinstance(terrain, FlatTerrain) and terrain.roughness is None and terrain.texture is None:
        sides = (grid.x_max - grid.x_min, grid.y_max - grid.y_min)
        middle = (0.5 * (grid.x_min + grid.x_max), 0.5 * (grid.y_min + grid.y_max))
        beyond = {"end": 1.0, "edge": 3.0, "mirror": 40.0}[grid.outside]
        return (ground_plate(scene.materials, (beyond * sides[0], beyond * sides[1]), centre=middle, z=terrain.height),)
    focus = [*((robot.position[0], robot.position[1]) for robot in spec.robots.values()), *seen]
    for controller in spec.controllers.values():
        focus += controller.places() or ()
    return terrain_mesh(scene.materials, grid, focus=focus)


def kept_shape(surface: Shape) -> tuple[int, int]:
    """Lines along x and y of a terrain's mesh."""
    assert surface.mesh is not None
    columns = len(np.unique(surface.mesh.vertices[:, 1]))
    return len(surface.mesh.vertices) // columns, columns


def size_of(robot: PlacedVehicle) -> float:
    """Radius of a ball round the centre of mass."""
    body = robot.chassis
    found = [hypot(max(body.front, body.rear), max(body.left, body.right))]
    found += [float(np.linalg.norm(wheel.position)) + wheel.radius for wheel in robot.wheels.values()]
    return max(found)


def length_of(robot: PlacedVehicle) -> float:
    ends = [robot.chassis.front, -robot.chassis.rear]
    ends += [wheel.position[0] + side * wheel.radius for wheel in robot.wheels.values() for side in (-1, 1)]
    return max(ends) - min(ends)


def start_view(spec: VehicleScenario, grid: HeightGrid) -> tuple[tuple[float, float, float], float]:
    """About the vehicles, wide enough to see where they drive."""
    places = np.array([robot.position[:2] for robot in spec.robots.values()])
    x, y = 0.5 * (places.min(axis=0) + places.max(axis=0))
    apart = 0.5 * float(np.ptp(places, axis=0).max())
    length = max(length_of(robot) for robot in spec.robots.values())
    radius = max(LENGTHS_SEEN * length, LENGTHS_BESIDE * length + apart)
    return (float(x), float(y), float(grid.height(x, y))), radius


# --- the body ----------------------------------------------------------------------------------------------


def body_shapes(robot: PlacedVehicle, paint: str) -> tuple[Shape, ...]:
    """The box that the physics knows, from bottom to top, with what shows where its front is within it; only the
    antenna reaches beyond it."""
    body = robot.chassis
    front, rear, left, right, top, bottom = body.front, -body.rear, body.left, -body.right, body.top, -body.bottom
    length, width, height = front - rear, left - right, top - bottom
    hood = bottom + 0.66 * height
    found = [
        # the hull, with a nose that slopes down to the front, and the cabin behind it
        Shape("mesh", material=paint, mesh=hull(rear, front, right, left, bottom, hood)),
        chassis_box((rear + 0.10 * length, right + 0.10 * width, hood),
                    (rear + 0.60 * length, left - 0.10 * width, top), "body", chamfer=0.14),
        # a skirt of the hull, darker
        chassis_box((rear + 0.04 * length, right - 0.001 * width, bottom + 0.10 * height),
                    (front - 0.12 * length, left + 0.001 * width, bottom + 0.28 * height), "trim"),
        # windscreen
        chassis_box((rear + 0.595 * length, right + 0.16 * width, hood + 0.05 * (top - hood)),
                    (rear + 0.612 * length, left - 0.16 * width, top - 0.14 * (top - hood)), "glass", chamfer=0.2),
    ]  # fmt: skip
    lamp = 0.055 * width
    for side in (-1.0, 1.0):
        y = 0.5 * (left + right) + side * 0.33 * width
        z = bottom + 0.36 * height
        found.append(Shape("cylinder", (lamp, 0.03 * length), facing((front - 0.02 * length, y, z), (1, 0, 0)), "lamp"))
        found.append(
            Shape("box", (0.012 * length, 0.16 * width, 0.10 * height), placed(rear, y, bottom + 0.48 * height), "tail")
        )
    found.append(arrow(rear + 0.35 * length, 0.5 * (left + right), top, 0.26 * min(length, width), paint))
    found += antenna(rear + 0.06 * length, left - 0.16 * width, hood, 0.55 * length)
    return tuple(found)


def hull(rear: float, front: float, right: float, left: float, bottom: float, hood: float) -> TriangleMesh:
    """A prism across the vehicle: flat below, rising at both ends, its nose lower than its hood."""
    length, height = front - rear, hood - bottom
    side = np.array(
        [
            [rear + 0.07 * length, bottom], [front - 0.10 * length, bottom], [front, bottom + 0.34 * height],
            [front, bottom + 0.62 * height], [front - 0.22 * length, hood], [rear + 0.03 * length, hood],
            [rear, bottom + 0.85 * height], [rear, bottom + 0.35 * height],
        ]
    )  # fmt: skip
    lying = prism(side, -left, -right, chamfer=0.05 * min(left - right, height))
    # x, y, z of the prism are x, z, −y of the vehicle.
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    return moved(lying, turn, (0.0, 0.0, 0.0))


# --- wheels ------------------------------------------------------------------------------------------------


def wheel_nodes(robot: str, name: str, wheel: VehicleWheel, spec: PlacedVehicle) -> list[Node]:
    """A carrier that the suspension lifts by its deflection along the chassis' z, and on it the wheel, which turns
    forwards about y by its angle. (physics/wheels/contact_search.py: a rim's centre is at arm + h b.)"""
    part = f"{robot}/{name}"
    x, y, z = wheel.position
    lifted = Slides(f"{part}/deflection", (0.0, 0.0, 1.0))
    turning = None if wheel.locked else Turns(f"{part}/angle", (0.0, 1.0, 0.0))
    wide = wheel.rims == 2
    look = wheel_shapes(
        wheel.radius, wheel.width, profile="flat" if wide else "round", tread="lugs" if wide else "plain"
    )
    return [
        Node(f"{part}/carrier", robot, placed(x, y, z), carrier(wheel, spec), lifted),
        Node(part, f"{part}/carrier", shapes=look, motion=turning),
    ]


def carrier(wheel: VehicleWheel, spec: PlacedVehicle) -> tuple[Shape, ...]:
    """The axle into the chassis, and the motor or bearing on it."""
    y, half, r = wheel.position[1], 0.5 * wheel.width, wheel.radius
    inward = -1.0 if y > 0.0 else 1.0
    reach = max(abs(y) - 0.5 * (spec.chassis.left + spec.chassis.right) * 0.5, half + 0.1 * r)
    axle = facing((0.0, 0.5 * inward * reach, 0.0), (0.0, 1.0, 0.0))
    hub = facing((0.0, inward * (half + 0.08 * r), 0.0), (0.0, 1.0, 0.0))
    return (Shape("cylinder", (0.11 * r, reach), axle, "steel"), Shape("cylinder", (0.26 * r, 0.16 * r), hub, "dark"))
