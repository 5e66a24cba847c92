"""Scenes of the engine `multibody`: robots by their models, with propellers and wheels, on a floor or on terrain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from botz.models.files import loaded
from botz.models.robot_model import ModelJoint, ModelLink, ModelShape, RobotModel
from botz.models.yaml_model import model_of, shape_of
from botz.scenario.load import load_robot
from botz.scenario.multibody.elements import Element, Propeller, VehicleWheels
from botz.scenario.multibody.flight import FixedWingController
from botz.scenario.multibody.schema import MultibodyScenario, PlacedMultibody
from botz.scenario.vehicle.schema import Vehicle
from botz.scene.ground import ground_plate, terrain_mesh
from botz.scene.multibody.landing_places import landing_pad, runway
from botz.scene.multibody.link_shapes import COLOURED, blades, colour_material, extent, is_bar, place_of, shapes_of
from botz.scene.parts import ROBOT_PAINTS, arrow, facing, palette, placed, wheel_shapes
from botz.scene.primitives import common_solids
from botz.scene.robot_description import RobotDescription, add_nodes
from botz.scene.world_scene import (
    HERE,
    Actor,
    Camera,
    Follows,
    Hands,
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
from botz.terrain.height_grid import build_grid
from botz.transforms import inverse, rotation_from_quaternion, transform

LOOK_AHEAD = (0.5, 0.5, -0.5, -0.5)
"""quat_wxyz of a camera that looks along x with z up."""
SAME_PLACE = 0.05
"""A drawn wheel nearer than this to one of the vehicle's is the same [m]."""
NEAR_GROUND = 1.0
"""Height below which a start is a start from the ground [m]."""


def build(spec: MultibodyScenario, seen: Sequence[tuple[float, float]] = ()) -> Scene:
    scene = Scene(materials={**palette(), "concrete": Material((0.62, 0.62, 0.60, 1.0), 0.9)})
    models = {name: model_for(robot, name) for name, robot in spec.robots.items()}
    for name, shape in spec.world.obstacles.items():
        obstacle = shape_of(shape, f"world.obstacles.{name}")
        if obstacle.visual:
            shapes = tuple(shapes_of(obstacle, scene.materials, "concrete"))
            scene.nodes.append(Node(f"obstacle/{name}", shapes=shapes))
    for name, robot in spec.robots.items():
        _add_robot(scene, spec, name, robot, models[name])
    _frame(scene, spec)
    scene.nodes[:0] = _ground(scene, spec, seen)
    return scene


def model_for(robot: PlacedMultibody, name: str) -> RobotModel:
    """The robot's links and joints. An MJCF file's are put into frames that its joints go through; where links and
    joints cannot say how it moves, they stand as the file draws them."""
    return _at_joints(model_of(robot, name, f"robots.{name}") if robot.file is None else loaded(robot))


def _at_joints(model: RobotModel) -> RobotModel:
    if model.native is not None:
        from botz.models.mjcf.reader import convertible, unsayable

        if not unsayable(model):
            return convertible(model)
    return model


# --- robots as a recording describes them --------------------------------------------------------------------


def described(spec: MultibodyScenario) -> list[RobotDescription]:
    """The links of the models, the wheels of vehicles, and the frames of sensors."""
    return [_described(name, robot) for name, robot in spec.robots.items()]


def _described(name: str, robot: PlacedMultibody) -> RobotDescription:
    written = model_of(robot, name, f"robots.{name}") if robot.file is None else loaded(robot)
    model = _at_joints(written)
    frames = {link: name if link == model.root else f"{name}/{link}" for link in model.links}
    elements: dict[str, Element] = {**model.elements, **robot.elements}
    wheels = {key: one for key, one in elements.items() if isinstance(one, VehicleWheels)}
    drawn, looks, paints = _drawn(model, wheels), _looks(model), palette()
    # Where links and joints cannot say how a model moves, only its root is known to stand where it is drawn.
    known = set(model.links) if model.native is None else {model.root}
    links = {}
    for link in model.links:
        if link in known:
            shapes = _solids(model.links[link].shapes, drawn[link], paints[looks[link]])
            links[frames[link]] = ModelLink(frames[link], model.links[link].inertial, shapes)
    joints = {
        joint.name: replace(joint, parent=frames[joint.parent], child=frames[joint.child])
        for joint in model.joints.values()
        if joint.parent in known and joint.child in known
    }
    motions = {key: motion for key, joint in joints.items() if (motion := _motion(name, joint)) is not None}
    found = RobotDescription(RobotModel(name, links, joints), motions, Follows(f"{name}/pose"))
    extra = Scene(materials=paints)
    for key, element in wheels.items():
        _add_wheels(extra, f"{name}/{key}", frames[element.link], element)
    # A scenario's sensors are in the frames that the file has, which an MJCF file need not have at its joints.
    before, after = _at_rest(written), _at_rest(model)
    for key, sensor in {**model.sensors, **robot.sensors}.items():
        place = transform(*sensor.pose)
        if key in robot.sensors:
            place = inverse(after[sensor.link]) @ before[sensor.link] @ place
        extra.nodes.append(Node(f"{name}/{key}/sensor", frames[sensor.link], place_of(place)))
    add_nodes(found, extra.nodes, paints)
    return found


def _at_rest(model: RobotModel) -> dict[str, np.ndarray]:
    """Poses (4, 4) of all links in the root's frame with all joints at 0."""
    found = {model.root: np.eye(4)}
    waiting = [model.root]
    while waiting:
        link = waiting.pop()
        for joint in model.children(link):
            found[joint.child] = found[link] @ joint.pose
            waiting.append(joint.child)
    return found


def _solids(shapes: Sequence[ModelShape], drawn: Sequence[ModelShape], look: Material) -> tuple[ModelShape, ...]:
    """The shapes of a link as every viewer draws them; those without a colour, of their own or of their file, get the
    scene's."""
    found: list[ModelShape] = []
    for shape in shapes:
        visual = any(shape is one for one in drawn)
        if not (visual or shape.collision):
            continue
        tells = shape.file is not None and shape.file.suffix.lower() in COLOURED
        colour = shape.colour or (None if tells else look.colour)
        found += common_solids(replace(shape, visual=visual, colour=colour))
    return tuple(found)


# --- robots --------------------------------------------------------------------------------------------------


def _add_robot(scene: Scene, spec: MultibodyScenario, name: str, robot: PlacedMultibody, model: RobotModel) -> None:
    elements: dict[str, Element] = {**model.elements, **robot.elements}
    propellers = {one.joint: (key, one) for key, one in elements.items() if isinstance(one, Propeller)}
    wheels = {key: one for key, one in elements.items() if isinstance(one, VehicleWheels)}
    drawn = _drawn(model, wheels)
    nodes = {model.root: name}
    looks = _looks(model)
    root = _shapes(scene, drawn[model.root], looks[model.root])
    scene.nodes.append(Node(name, shapes=tuple(root), motion=Follows(f"{name}/pose")))
    waiting = [model.root]
    while waiting:
        link = waiting.pop(0)
        for joint in model.children(link):
            child = nodes[joint.child] = f"{name}/{joint.child}"
            motion = _motion(name, joint)
            key, propeller = propellers.get(joint.name, ("", None))
            if propeller is None:
                shapes = _shapes(scene, drawn[joint.child], looks[joint.child])
                scene.nodes.append(Node(child, nodes[link], place_of(joint.pose), tuple(shapes), motion))
            else:
                shapes = _propeller_shapes(scene, drawn[joint.child], joint, propeller, looks[joint.child])
                scene.nodes.append(Node(child, nodes[link], place_of(joint.pose), tuple(shapes), motion))
                scene.nodes.append(_disc(scene, f"{name}/{key}", child, shapes, joint, propeller))
                scene.indicators.append(PointForce(name, child, f"{name}/{key}/force"))
            waiting.append(joint.child)
    for key, element in wheels.items():
        _add_wheels(scene, f"{name}/{key}", nodes[element.link], element)
        if element.link == model.root and root:
            _add_front(scene, name, root)
    scene.indicators.append(Velocity(name, name, f"{name}/twist"))
    low, high = _bounds(scene, name)
    size = float(np.linalg.norm(np.maximum(np.abs(low), np.abs(high))))
    scene.actors.append(Actor(name, name, max(size, 0.01), _hands(spec, name, bool(wheels))))
    nose = (float(high[0]) + 0.02 * size, 0.0, float(0.6 * high[2]), *LOOK_AHEAD)
    scene.cameras.append(Camera(f"{name} board", nose, name, vertical_view=1.1))


def _motion(name: str, joint: ModelJoint) -> Turns | Slides | None:
    match joint.kind:
        case "revolute" | "continuous":
            return Turns(f"{name}/{joint.name}/position", joint.axis)
        case "prismatic":
            return Slides(f"{name}/{joint.name}/position", joint.axis)
        case _:
            return None


def _hands(spec: MultibodyScenario, name: str, wheels: bool) -> Hands:
    for controller in spec.controllers.values():
        if controller.robot == name and controller.hands:
            return controller.hands
    return "tank" if wheels else "none"


def _drawn(model: RobotModel, wheels: dict[str, VehicleWheels]) -> dict[str, list[ModelShape]]:
    """Shapes of each link that are seen; those to touch with, where a model has no others."""
    seen = {link: [one for one in model.links[link].shapes if one.visual] for link in model.links}
    if not any(seen.values()):
        seen = {link: list(model.links[link].shapes) for link in model.links}
    for element in wheels.values():
        hubs = [np.array(wheel.position) for wheel in _vehicle(element).wheels.values()]
        seen[element.link] = [
            one
            for one in seen[element.link]
            if one.kind != "cylinder" or all(np.linalg.norm(one.pose[:3, 3] - hub) > SAME_PLACE for hub in hubs)
        ]
    return seen


def _looks(model: RobotModel) -> dict[str, str]:
    """Materials of links that say no colour: the root's is light, the others' go round."""
    others = [link for link in model.links if link != model.root]
    return {model.root: "body", **{link: ROBOT_PAINTS[k % len(ROBOT_PAINTS)] for k, link in enumerate(others)}}


def _shapes(scene: Scene, shapes: list[ModelShape], look: str) -> list[Shape]:
    return [one for shape in shapes for one in shapes_of(shape, scene.materials, look)]


def _bounds(scene: Scene, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a box around a robot as its file draws it, in its root's frame."""
    own = [node for node in scene.nodes if node.name == name or node.name.startswith(f"{name}/")]
    poses = node_poses(Scene(own), {})
    signs = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    corners = [np.zeros((1, 3))]
    for node in own:
        if node.shapes:
            low, high = extent(node.shapes)
            pose = poses[node.name]
            corners.append((low + signs * (high - low)) @ rotation_from_quaternion(*pose[3:]).T + pose[:3])
    everything = np.concatenate(corners)
    return everything.min(axis=0), everything.max(axis=0)


# --- propellers and wheels -----------------------------------------------------------------------------------


def _propeller_shapes(
    scene: Scene, shapes: list[ModelShape], joint: ModelJoint, element: Propeller, look: str
) -> list[Shape]:
    """The propeller as its model draws it; a mere bar becomes blades."""
    sense = 1.0 if element.sense == "ccw" else -1.0
    found = []
    for shape in shapes:
        if is_bar(shape):
            material = look if shape.colour is None else colour_material(scene.materials, shape.colour)
            found += blades(shape, joint.axis, sense, material)
        else:
            found += shapes_of(shape, scene.materials, look)
    return found


def _disc(scene: Scene, name: str, parent: str, shapes: list[Shape], joint: ModelJoint, element: Propeller) -> Node:
    """What the eye sees of a propeller that spins; it is there as long as there is thrust."""
    axis = np.array(joint.axis)
    radius = element.radius or 0.0
    middle = 0.0
    if shapes:
        low, high = extent(shapes)
        corners = np.maximum(np.abs(low), np.abs(high))
        radius = radius or float(np.max(corners - np.abs(axis) * corners))
        middle = float(0.5 * (low + high) @ axis)
    radius = radius or 0.1
    red, green, blue = scene.materials[shapes[0].material].colour[:3] if shapes else (0.5, 0.5, 0.5)
    material = colour_material(scene.materials, (red, green, blue, 0.16))
    scene.materials[material] = replace(scene.materials[material], two_sided=True, roughness=0.35)
    disc = Shape(
        "cylinder", (radius, 0.02 * radius), facing((middle * axis).tolist(), joint.axis), material, casts_shadow=False
    )
    return Node(f"{name}/disc", parent, shapes=(disc,), shown_by=f"{name}/thrust")


def _vehicle(element: VehicleWheels) -> Vehicle:
    robot = load_robot(element.vehicle).spec
    assert isinstance(robot, Vehicle)
    return robot


def _add_wheels(scene: Scene, name: str, parent: str, element: VehicleWheels) -> None:
    """Wheels of a vehicle's file under a link. Of many wheels the channels may be missing; then these stand still."""
    for wheel_name, wheel in _vehicle(element).wheels.items():
        part, (x, y, z) = f"{name}/{wheel_name}", wheel.position
        profile = "flat" if wheel.rims == 2 else "round"
        shapes = wheel_shapes(wheel.radius, wheel.width, profile=profile, tread="lugs")
        lifted, turning = Slides(f"{part}/deflection", (0.0, 0.0, 1.0)), Turns(f"{part}/angle", (0.0, 1.0, 0.0))
        scene.nodes.append(Node(f"{part}/carrier", parent, placed(x, y, z), motion=lifted))
        scene.nodes.append(Node(part, f"{part}/carrier", shapes=shapes, motion=turning))


def _add_front(scene: Scene, name: str, chassis: list[Shape]) -> None:
    """An arrow on top of a vehicle's body: boxes look the same from behind."""
    low, high = extent(chassis)
    long = 0.3 * float(high[0] - low[0])
    mark = arrow(float(high[0]) - 0.75 * long, 0.0, float(high[2]), long, "dark")
    scene.nodes.append(Node(f"{name}/front", name, shapes=(mark,)))


# --- surroundings --------------------------------------------------------------------------------------------


def _frame(scene: Scene, spec: MultibodyScenario) -> None:
    """What is worth seeing at the start: all robots with some room around them."""
    places = np.array([robot.pose[:3] for robot in spec.robots.values()])
    middle = places.mean(axis=0)
    sizes = [actor.size for actor in scene.actors]
    spread = max(float(np.linalg.norm(place - middle)) + 2.0 * size for place, size in zip(places, sizes, strict=True))
    scene.centre = (float(middle[0]), float(middle[1]), float(middle[2]))
    scene.radius = spread


def _flown(spec: MultibodyScenario) -> float:
    """How far from the origin robots are expected to go [m]."""
    found = [float(np.max(np.abs(robot.pose[:2]))) + 2.0 for robot in spec.robots.values()]
    for controller in spec.controllers.values():
        found += [abs(value) for place in controller.places() or () for value in place]
        if isinstance(controller, FixedWingController):
            found.append(controller.airspeed * spec.time.duration)
    for robot in spec.robots.values():
        found.append(float(np.linalg.norm(robot.velocity)) * min(spec.time.duration, 120.0))
    return max(found)


def _ground(scene: Scene, spec: MultibodyScenario, seen: Sequence[tuple[float, float]]) -> list[Node]:
    world = spec.world
    if world.terrain is not None:
        focus = [*((robot.pose[0], robot.pose[1]) for robot in spec.robots.values()), *seen]
        # Whatever a terrain says of its edges, there a run of this engine ends.
        grid = replace(build_grid(world.terrain, spec.seed), outside="end")
        return [Node("terrain", shapes=terrain_mesh(scene.materials, grid, focus=focus))]
    if not world.ground:
        return []
    far = _flown(spec)
    side = 2.4 * far + 16.0
    plate = ground_plate(scene.materials, (side, side), cell=1.0 if far < 60.0 else 10.0)
    found = [Node("ground", place=HERE, shapes=(plate,))]
    hands = {actor.name: actor for actor in scene.actors}
    for name, robot in spec.robots.items():
        x, y, z, *_, yaw = robot.pose
        flies = any(isinstance(one, PointForce) and one.robot == name for one in scene.indicators)
        if not flies:
            continue
        wide = hands[name].size
        if hands[name].hands == "plane" or z > 10.0:
            found.append(Node(f"{name} runway", place=_flat(x, y, yaw), shapes=runway(scene.materials, 16.0 * wide)))
        elif z < NEAR_GROUND:
            found.append(Node(f"{name} pad", place=_flat(x, y, yaw), shapes=landing_pad(scene.materials, 1.35 * wide)))
    return found


def _flat(x: float, y: float, yaw: float) -> tuple[float, float, float, float, float, float, float]:
    return place_of(transform(x, y, 0.0, 0.0, 0.0, yaw))
