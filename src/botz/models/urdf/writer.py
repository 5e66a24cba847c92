"""Neutral models as URDF files, such that reading them gives the same model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from botz.errors import Problem
from botz.models.meshes.files import copied_meshes
from botz.models.robot_model import ModelActuator, ModelJoint, ModelLink, ModelShape, RobotModel
from botz.models.urdf.links import UNLIMITED, WORLD
from botz.models.written import write_text
from botz.models.xml_tree import OWN, XmlNode, shown, xml_text
from botz.transforms import rpy_from_rotation

_INTERFACES = {kind: f"hardware_interface/{kind.title()}JointInterface" for kind in ("position", "velocity", "effort")}
_USUAL_FRICTION = ModelShape("box").friction


def write_urdf(model: RobotModel, path: Path) -> list[Problem]:
    """Write a model, and its meshes beside it; returns what URDF cannot hold and is left out."""
    path = Path(path)
    document = _Writing(model, copied_meshes(model, path))
    write_text(path, xml_text(document.robot()))
    return document.left_out


def urdf_text(model: RobotModel) -> str:
    """The document itself; its meshes stay where they are, as file:// addresses."""
    files = {shape.file for link in model.links.values() for shape in link.shapes if shape.file is not None}
    return xml_text(_Writing(model, {file: file.resolve().as_uri() for file in files}).robot())


class _Writing:
    def __init__(self, model: RobotModel, meshes: Mapping[Path, str]):
        self.model = model
        self.meshes = meshes
        self.left_out: list[Problem] = []

    def robot(self) -> XmlNode:
        model = self.model
        robot = XmlNode("robot", {"name": model.name})
        tied = model.fixed_base and WORLD not in model.links
        if tied:
            robot.add("link", name=WORLD)
        for link in model.links.values():
            self._link(robot, link)
        if tied:
            name = "world_joint"
            while name in model.joints:
                name += "_"
            self._joint(robot, ModelJoint(name, "fixed", WORLD, model.root))
        for joint in model.joints.values():
            self._joint(robot, joint)
        for actuator in model.actuators.values():
            _transmission(robot, actuator)
        for joint in model.joints.values():
            _spring(robot, joint)
        if model.elements or model.sensors:
            self._plugins(robot)
        return robot

    def _plugins(self, robot: XmlNode) -> None:
        from botz.models.plugin_blocks import element_block, sensor_block  # late: robots of other families have none
        from botz.scenario.multibody.elements import UserElement

        model = self.model
        for name, element in model.elements.items():
            if isinstance(element, UserElement):
                self.left_out.append(Problem(f"element {name!r} is a function of yours; say it in the scenario"))
                continue
            robot.add("gazebo").children.append(element_block(name, element, model.joints, model.actuators))
        for name, sensor in model.sensors.items():
            robot.add("gazebo").children.append(sensor_block(name, sensor))

    def _link(self, robot: XmlNode, link: ModelLink) -> None:
        node = robot.add("link", name=link.name)
        if link.inertial is not None:
            inertial = node.add("inertial")
            inertial.add("origin", xyz=shown(*link.inertial.centre), rpy="0 0 0")
            inertial.add("mass", value=shown(link.inertial.mass))
            tensor = link.inertial.inertia
            entries = {f"i{'xyz'[i]}{'xyz'[j]}": shown(tensor[i, j]) for i in range(3) for j in range(i, 3)}
            inertial.add("inertia", **entries)
        for shape in link.shapes:
            for tag, wanted in (("visual", shape.visual), ("collision", shape.collision)):
                if wanted:
                    self._shape(node, tag, shape, link.name)

    def _shape(self, link: XmlNode, tag: str, shape: ModelShape, name: str) -> None:
        if shape.kind in ("ellipsoid", "plane"):
            message = f"URDF has no {shape.kind}, so this {tag} shape is left out; write .sdf or .xml to keep it"
            self.left_out.append(shape.place.problem(message, f"link {name}"))
            return
        node = link.add(tag)
        _origin(node, shape.pose)
        geometry = node.add("geometry")
        match shape.kind:
            case "box":
                geometry.add("box", size=shown(*shape.size))
            case "sphere":
                geometry.add("sphere", radius=shown(*shape.size))
            case "cylinder" | "capsule":
                geometry.add(shape.kind, radius=shown(shape.size[0]), length=shown(shape.size[1]))
            case "mesh":
                assert shape.file is not None
                mesh = geometry.add("mesh", filename=self.meshes[shape.file])
                if shape.scale != (1.0, 1.0, 1.0):
                    mesh.attributes["scale"] = shown(*shape.scale)
        if tag == "visual" and shape.colour is not None:
            # A material needs a name; colours of one name must be the same everywhere.
            words = "_".join(f"{value:.6g}" for value in shape.colour)
            node.add("material", name=f"colour_{words}").add("color", rgba=shown(*shape.colour))
        if tag == "collision" and shape.friction != _USUAL_FRICTION:
            node.add(OWN).add("friction", shown(shape.friction))

    def _joint(self, robot: XmlNode, joint: ModelJoint) -> None:
        ranged = joint.lower is not None and joint.upper is not None
        kind = "continuous" if joint.kind == "revolute" and not ranged else joint.kind
        node = robot.add("joint", name=joint.name, type=kind)
        node.add("parent", link=joint.parent or WORLD)
        node.add("child", link=joint.child)
        _origin(node, joint.pose)
        if kind in ("fixed", "floating"):
            return
        node.add("axis", xyz=shown(*joint.axis))
        limit: dict[str, str] = {}
        if kind != "continuous":
            limit["lower"] = shown(-UNLIMITED if joint.lower is None else joint.lower)
            limit["upper"] = shown(UNLIMITED if joint.upper is None else joint.upper)
        # URDF wants both; a number that nothing reaches stands for none.
        limit["effort"] = shown(joint.effort or UNLIMITED)
        limit["velocity"] = shown(joint.speed or UNLIMITED)
        node.add("limit", **limit)
        if joint.damping or joint.friction:
            node.add("dynamics", damping=shown(joint.damping), friction=shown(joint.friction))


def _origin(node: XmlNode, pose: np.ndarray) -> None:
    if not np.array_equal(pose, np.eye(4)):
        node.add("origin", xyz=shown(*pose[:3, 3]), rpy=shown(*rpy_from_rotation(pose[:3, :3])))


def _transmission(robot: XmlNode, actuator: ModelActuator) -> None:
    node = robot.add("transmission", name=f"{actuator.joint}_transmission")
    node.add("type", "transmission_interface/SimpleTransmission")
    joint = node.add("joint", name=actuator.joint)
    joint.add("hardwareInterface", _INTERFACES[actuator.kind])
    more = {"speed": actuator.speed, "lag": actuator.lag or None, "lag_down": actuator.lag_down, **actuator.gains}
    said = {key: value for key, value in more.items() if value is not None}
    if said:
        own = joint.add(OWN)
        for key, value in said.items():
            own.add(key, shown(value))
    node.add("actuator", name=f"{actuator.joint}_motor").add("mechanicalReduction", "1")


def _spring(robot: XmlNode, joint: ModelJoint) -> None:
    """What URDF itself has no word for, as Gazebo's extension or ours."""
    if not (joint.stiffness or joint.rest or joint.armature):
        return
    node = robot.add("gazebo", reference=joint.name)
    if joint.stiffness or joint.rest:
        node.add("springStiffness", shown(joint.stiffness))
        node.add("springReference", shown(joint.rest))
    if joint.armature:
        node.add(OWN).add("armature", shown(joint.armature))
