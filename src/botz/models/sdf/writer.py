"""Robots as SDF 1.9 files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from botz.errors import Problem
from botz.models.meshes.files import copied_meshes
from botz.models.plugin_blocks import actuator_block, element_block, sensor_block
from botz.models.robot_model import Inertial, ModelJoint, ModelLink, ModelShape, RobotModel
from botz.models.sdf.frames import WORLD
from botz.models.sdf.reader import ARMATURE
from botz.models.written import write_text
from botz.models.xml_tree import XmlNode, shown, xml_text
from botz.scenario.multibody.elements import UserElement
from botz.scenario.multibody.sensors import Altimeter, Barometer, ContactSensor, Gps, Imu, Magnetometer
from botz.transforms import quaternion_of

VERSION = "1.9"
NAMESPACE = "https://botz.invalid/sdf"
"""For the one word that SDF lacks; nothing ever asks this address."""
JOINT_TAGS = ("joint", "joint_name", "jointName", "control_joint", "control_joint_name")
"""Elements that declare or name a joint."""
GEOMETRIES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"),
              "capsule": ("radius", "length"), "ellipsoid": ("radii",)}  # fmt: skip


def write_sdf(model: RobotModel, path: Path) -> list[Problem]:
    """Write the file and its meshes beside it; gives what SDF could not hold."""
    path = Path(path)
    if model.native is not None:
        from botz.models.mjcf.reader import convertible  # loads MuJoCo

        model = convertible(model)
    meshes = copied_meshes(model, path)
    root = XmlNode("sdf", {"version": VERSION})
    if any(joint.armature for joint in model.joints.values()):
        root.attributes["xmlns:botz"] = NAMESPACE
    top = root.add("model", name=model.name)
    parts = _Writing(model, meshes)
    parts.fill(top)
    parts.flatten(root)
    write_text(path, xml_text(root))
    return parts.lost


class _Writing:
    def __init__(self, model: RobotModel, meshes: Mapping[Path, str]):
        self.model = model
        self.meshes = meshes
        self.lost: list[Problem] = []
        self.world = WORLD if WORLD in model.links else ""
        """The link that stands for the world: SDF has the name for itself."""

    def fill(self, top: XmlNode) -> None:
        model = self.model
        above = {joint.child: joint for joint in model.joints.values()}
        for link in model.links.values():
            if link.name == self.world:
                if link.inertial is not None or link.shapes:
                    self.lost.append(link.place.problem("shapes and mass of the link 'world' have no place in SDF"))
                continue
            self._link(top.add("link", name=link.name), link, above.get(link.name))
        for joint in model.joints.values():
            self._joint(top.add("joint", name=joint.name, type=joint.kind), joint)
        if model.fixed_base and not self.world:
            tie = top.add("joint", name="fixed_to_world", type="fixed")
            tie.add("parent", WORLD)
            tie.add("child", model.root)
        driven = set()
        for name, element in model.elements.items():
            if isinstance(element, UserElement):
                self.lost.append(Problem(f"element {name!r} is a function of yours; say it in the scenario"))
                continue
            block = element_block(name, element, model.joints, model.actuators)
            driven.add(block.value("jointName"))  # a motor model says how its joint is driven, too
            top.children.append(block)
        top.children += [actuator_block(one) for joint, one in model.actuators.items() if joint not in driven]
        top.children += [sensor_block(name, one) for name, one in model.sensors.items() if not _is_plain(one)]

    def flatten(self, root: XmlNode) -> None:
        """In SDF no name may hold `::`, as those of nested models do, and a joint none that is a link's."""
        links = {name: name.replace("::", "__") for name in self.model.links}
        taken = set(links.values())
        joints: dict[str, str] = {}
        for name in self.model.joints:
            plain = name.replace("::", "__")
            while plain in taken:
                plain += "_joint"
            taken.add(plain)
            joints[name] = plain
        changed = [f"{old} as {new}" for old, new in [*links.items(), *joints.items()] if old != new]
        if not changed:
            return
        self.lost.append(Problem(f"names that SDF does not allow are written otherwise: {', '.join(changed)}"))
        waiting = [root]
        while waiting:
            node = waiting.pop()
            waiting += node.children
            named = joints if node.tag in JOINT_TAGS else links
            node.text = named.get(node.text) or node.text
            if node.tag in ("link", "joint") and (given := node.get("name")) is not None:
                node.attributes["name"] = named.get(given) or given
            if "relative_to" in node.attributes:
                node.attributes["relative_to"] = links[node.attributes["relative_to"]]

    def _link(self, node: XmlNode, link: ModelLink, joint: ModelJoint | None) -> None:
        if joint is not None:
            _pose(node, joint.pose, "" if joint.parent == self.world else joint.parent)
        # Without <inertial> a link of SDF has 1 kg.
        _inertial(node.add("inertial"), link.inertial)
        for k, shape in enumerate(link.shapes):
            for seen in (True, False):
                if shape.visual if seen else shape.collision:
                    tag = "visual" if seen else "collision"
                    self._shape(node.add(tag, name=f"{link.name}_{tag}_{k}"), shape, seen)
        for name, sensor in self.model.sensors.items():
            if sensor.link == link.name and _is_plain(sensor):
                _sensor(node.add("sensor", name=name, type=SENSORS[type(sensor)]), sensor)

    def _shape(self, node: XmlNode, shape: ModelShape, seen: bool) -> None:
        _pose(node, shape.pose)
        what = node.add("geometry").add(shape.kind)
        if shape.kind == "mesh":
            assert shape.file is not None
            what.add("uri", self.meshes[shape.file])
            if shape.scale != (1.0, 1.0, 1.0):
                what.add("scale", shown(*shape.scale))
        elif shape.kind == "plane":
            what.add("normal", "0 0 1")
            what.add("size", "1000 1000")
        else:
            tags = GEOMETRIES[shape.kind]
            values = [shape.size] if len(tags) == 1 else [(one,) for one in shape.size]
            for tag, value in zip(tags, values, strict=True):
                what.add(tag, shown(*value))
        if seen and shape.colour is not None:
            material = node.add("material")
            for tag in ("ambient", "diffuse"):
                material.add(tag, shown(*shape.colour))
        if not seen:
            node.add("surface").add("friction").add("ode").add("mu", shown(shape.friction))

    def _joint(self, node: XmlNode, joint: ModelJoint) -> None:
        node.add("parent", WORLD if joint.parent == self.world else joint.parent)
        node.add("child", joint.child)
        if joint.kind == "fixed":
            return
        axis = node.add("axis")
        axis.add("xyz", shown(*joint.axis))
        limits = {"lower": joint.lower, "upper": joint.upper, "effort": joint.effort, "velocity": joint.speed}
        if any(value is not None for value in limits.values()):
            limit = axis.add("limit")
            for tag, value in limits.items():
                if value is not None:
                    limit.add(tag, shown(value))
        dynamics = {
            "damping": joint.damping,
            "friction": joint.friction,
            "spring_stiffness": joint.stiffness,
            "spring_reference": joint.rest,
            ARMATURE: joint.armature,
        }
        if any(dynamics.values()):
            below = axis.add("dynamics")
            for tag, value in dynamics.items():
                if value:
                    below.add(tag, shown(value))


def _pose(node: XmlNode, pose: np.ndarray, relative_to: str = "") -> None:
    """As a quaternion: roll, pitch and yaw lose digits where the pitch is near 90°."""
    if np.array_equal(pose, np.eye(4)) and not relative_to:
        return
    turn = pose[:3, :3]
    if np.array_equal(turn, np.eye(3)):
        child = node.add("pose", f"{shown(*pose[:3, 3])} 0 0 0")
    else:
        w, x, y, z = quaternion_of(turn)
        child = node.add("pose", shown(*pose[:3, 3], x, y, z, w), rotation_format="quat_xyzw")
    if relative_to:
        child.attributes["relative_to"] = relative_to


def _inertial(node: XmlNode, inertial: Inertial | None) -> None:
    mass = 0.0 if inertial is None else inertial.mass
    tensor = np.zeros((3, 3)) if inertial is None else inertial.inertia
    if inertial is not None and inertial.centre.any():
        node.add("pose", f"{shown(*inertial.centre)} 0 0 0")
    node.add("mass", shown(mass))
    below = node.add("inertia")
    for tag, (i, j) in {
        "ixx": (0, 0),
        "ixy": (0, 1),
        "ixz": (0, 2),
        "iyy": (1, 1),
        "iyz": (1, 2),
        "izz": (2, 2),
    }.items():
        below.add(tag, shown(tensor[i, j]))


# --- sensors ---------------------------------------------------------------------------------------------------

SENSORS: dict[type, str] = {
    Imu: "imu", Gps: "navsat", Magnetometer: "magnetometer", Altimeter: "altimeter", Barometer: "air_pressure",
    ContactSensor: "contact",
}  # fmt: skip
"""Words of SDF for our sensors."""


def _is_plain(sensor: Any) -> bool:
    """SDF's own sensor says all of it; others are written as a plugin of ours."""
    if isinstance(sensor, Barometer) and sensor.drift:
        return False
    if isinstance(sensor, Gps) and any(noise[0] != noise[1] for noise in (sensor.noise, sensor.velocity_noise)):
        return False
    return type(sensor) in SENSORS and not (isinstance(sensor, ContactSensor) and sensor.threshold)


def _noise(node: XmlNode, spread: float, walk: float = 0.0) -> None:
    if spread or walk:
        noise = node.add("noise", type="gaussian")
        noise.add("mean", "0")
        noise.add("stddev", shown(spread))
        if walk:
            noise.add("dynamic_bias_stddev", shown(walk))


def _sensor(node: XmlNode, sensor: Any) -> None:
    if any(sensor.pose):
        node.add("pose", shown(*sensor.pose))
    node.add("update_rate", shown(sensor.rate))
    below = node.add(SENSORS[type(sensor)])
    match sensor:
        case Imu():
            root = sensor.rate**0.5
            for tag, density, walk in (
                ("angular_velocity", sensor.gyro_noise, sensor.gyro_bias_walk),
                ("linear_acceleration", sensor.accel_noise, sensor.accel_bias_walk),
            ):
                part = below.add(tag)
                for axis in "xyz":
                    _noise(part.add(axis), density * root, walk)
        case Magnetometer():
            for axis in "xyz":
                _noise(below.add(axis), sensor.noise)
        case Gps():
            for tag, noise in (("position_sensing", sensor.noise), ("velocity_sensing", sensor.velocity_noise)):
                part = below.add(tag)
                _noise(part.add("horizontal"), noise[0])
                _noise(part.add("vertical"), noise[2])
        case Altimeter():
            _noise(below.add("vertical_position"), sensor.noise)
        case Barometer():
            _noise(below.add("pressure"), sensor.noise)
        case ContactSensor():
            below.add("collision", f"{sensor.link}_collision_0")
