"""Robots as MJCF files: explicit masses, joints and geoms, and what MJCF has no word for as JSON in <custom>."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from botz.errors import InputError, Problem
from botz.models.meshes.files import MESHES, binary_stl, copied_meshes, kept_beside
from botz.models.mjcf.reader import ACTUATOR, ELEMENT, ENDLESS, SENSOR, SPEED, WORLD, convertible
from botz.models.robot_model import Inertial, ModelActuator, ModelJoint, ModelLink, ModelShape, RobotModel
from botz.models.tree import body_chains, frames_in_body, lumped
from botz.models.written import write_text
from botz.models.xml_tree import XmlNode, shown, xml_text
from botz.scenario.multibody.elements import UserElement
from botz.transforms import quaternion_of

FREQUENCY = 50.0
"""How fast written servos let errors decay, as Botz' own do by default [rad/s]."""
KNOWN_MESHES = (".obj", ".stl", ".msh")
"""What MuJoCo reads; of STL only the binary form. Copies of .msh are STL by then."""
MOST_STL_FACES = 200_000
"""What MuJoCo takes in an STL file; in other formats it takes more."""
INTEGRATORS = {"rk4": "RK4", "euler": "Euler", "implicit": "implicit", "implicit-fast": "implicitfast"}
"""By the names of 'time.method'."""
SLIDING = 0.005, 0.0001
"""MuJoCo's default torsional and rolling friction."""


def write_mjcf(model: RobotModel, path: Path) -> list[Problem]:
    """Write the file and its meshes beside it; gives what MJCF could not hold."""
    path = Path(path)
    model = convertible(model)
    model = lumped(model)
    touched = {shape.file for link in model.links.values() for shape in link.shapes if shape.collision}
    meshes: dict[Path, str] = {}
    lost: list[Problem] = []
    for file, place in copied_meshes(model, path).items():
        try:
            meshes[file] = _readable(file, place, path)
        except _UnreadableError as error:
            if file in touched:
                raise InputError(error.problems) from None
            lost += [replace(one, message=f"{one.message}; it is only seen, and left out") for one in error.problems]
    writing = _Writing(model, meshes)
    write_text(path, xml_text(writing.tree()))
    return [*lost, *writing.lost]


def moved_inertia(model: RobotModel, joint: ModelJoint) -> float:
    """Mass that a slide moves, or moment about the axis that a turn does, with all joints at 0 [kg, kg·m²]."""
    axis = np.array(joint.axis)
    found = joint.armature
    waiting = [(joint.child, np.eye(4))]
    while waiting:
        link, pose = waiting.pop()
        inertial = model.links[link].inertial
        if inertial is not None:
            along = pose[:3, :3].T @ axis
            arm = np.cross(axis, pose[:3, :3] @ inertial.centre + pose[:3, 3])
            turned = float(along @ inertial.inertia @ along) + inertial.mass * float(arm @ arm)
            found += inertial.mass if joint.kind == "prismatic" else turned
        waiting += [(below.child, pose @ below.pose) for below in model.children(link)]
    return found


class _UnreadableError(InputError):
    """Of a mesh that cannot be read."""


def _readable(file: Path, place: str, path: Path) -> str:
    """The mesh as MuJoCo can read it: as it is, or beside it as a binary STL, or as OBJ if it is too large."""
    if file.suffix.lower() in KNOWN_MESHES and not _is_text_stl(file) and not _is_large_stl(file):
        return place
    from trimesh.exchange.obj import export_obj

    from botz.models.meshes.mesh import load_mesh

    try:
        mesh = load_mesh(file)
    except InputError as error:
        raise _UnreadableError(error.problems) from None
    ending = "stl" if len(mesh.faces) <= MOST_STL_FACES else "obj"
    name = f"{Path(place).stem}-{file.suffix[1:].lower()}.{ending}"
    if ending == "stl":
        content = binary_stl(mesh)
    else:
        content = export_obj(mesh, include_normals=False, include_color=False, include_texture=False).encode()
    wanted = path.parent / MESHES / name
    try:
        written = kept_beside(wanted, content, file, {})
    except OSError as error:
        raise InputError(Problem(f"cannot be written: {error.strerror or error}", file=wanted)) from None
    return f"{MESHES}/{written.name}"


def _is_large_stl(file: Path) -> bool:
    return file.suffix.lower() == ".stl" and file.stat().st_size > 84 + 50 * MOST_STL_FACES


def _is_text_stl(file: Path) -> bool:
    if file.suffix.lower() != ".stl":
        return False
    size = file.stat().st_size
    with file.open("rb") as stream:
        head = stream.read(84)
    return size < 84 or size != 84 + 50 * int.from_bytes(head[80:84], "little")


class _Writing:
    def __init__(self, model: RobotModel, meshes: Mapping[Path, str]):
        self.model = model
        self.meshes = meshes
        self.lost: list[Problem] = []
        self.named: dict[tuple[Path, tuple[float, float, float]], str] = {}
        """Meshes of MJCF by file and scale."""
        self.chains: dict[str, list[list[ModelJoint]]] = {}
        """Joints to each body, by the link that carries it."""
        for chain in body_chains(model):
            self.chains.setdefault(chain[0].parent, []).append(chain)

    def tree(self) -> XmlNode:
        model = self.model
        root = XmlNode("mujoco", {"model": model.name})
        root.add("compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        if model.method is not None:
            root.add("option", integrator=INTEGRATORS[model.method])
        assets = XmlNode("asset")
        world = XmlNode("worldbody")
        top = model.root
        if model.fixed_base and top == WORLD:
            self._geoms(world, model.links[top])
            for chain in self.chains.get(top, []):
                self._body(world, chain)
        else:
            body = world.add("body", name=top)
            if not model.fixed_base:
                body.add("freejoint")
            self._fill(body, top)
        for (file, scale), name in self.named.items():
            # As a shell: masses never come from meshes, which may be open or flat.
            mesh = assets.add("mesh", name=name, file=self.meshes[file], inertia="shell")
            if scale != (1.0, 1.0, 1.0):
                mesh.attributes["scale"] = shown(*scale)
        root.children += [assets, world] if assets.children else [world]
        if model.actuators:
            below = root.add("actuator")
            for actuator in model.actuators.values():
                self._actuator(below, actuator)
        custom = self._custom()
        root.children += [custom] if custom.children else []
        return root

    def _body(self, parent: XmlNode, chain: list[ModelJoint]) -> None:
        """The body that joints move: one, or several with links without mass between them."""
        pose = np.linalg.multi_dot([np.eye(4), *(joint.pose for joint in chain)])
        body = parent.add("body", name=chain[-1].child)
        _place(body, pose)
        for joint, frame in zip(chain, frames_in_body(chain), strict=True):
            if joint.kind != "fixed":
                _add_joint(body, joint, frame)
            if joint is not chain[-1] and self.model.links[joint.child].shapes:
                message = f"link {joint.child!r} has no mass and lies between two joints: its shapes are left out"
                self.lost.append(Problem(message))
        self._fill(body, chain[-1].child)

    def _fill(self, body: XmlNode, link: str) -> None:
        if (inertial := self.model.links[link].inertial) is not None:
            _add_inertial(body, inertial)
        self._geoms(body, self.model.links[link])
        for chain in self.chains.get(link, []):
            self._body(body, chain)

    def _geoms(self, body: XmlNode, link: ModelLink) -> None:
        for shape in link.shapes:
            if shape.kind == "mesh" and shape.file not in self.meshes:
                continue
            geom = body.add("geom", type=shape.kind)
            if shape.kind == "mesh":
                assert shape.file is not None
                geom.attributes["mesh"] = self._mesh(shape.file, shape.scale)
            else:
                geom.attributes["size"] = shown(*_sizes(shape))
            _place(geom, shape.pose)
            if shape.colour is not None:
                geom.attributes["rgba"] = shown(*shape.colour)
            if shape.collision:
                geom.attributes["friction"] = shown(shape.friction, *SLIDING)
            else:
                geom.attributes |= {"contype": "0", "conaffinity": "0", "group": "2"}
            if not shape.visual:
                geom.attributes["group"] = "3"

    def _mesh(self, file: Path, scale: tuple[float, float, float]) -> str:
        if (file, scale) not in self.named:
            stem, number = Path(self.meshes[file]).stem, 1
            name = stem
            while name in self.named.values():
                number += 1
                name = f"{stem}-{number}"
            self.named[file, scale] = name
        return self.named[file, scale]

    def _actuator(self, node: XmlNode, actuator: ModelActuator) -> None:
        joint = self.model.joints[actuator.joint]
        inertia = moved_inertia(self.model, joint)
        tag = {"position": "position", "velocity": "velocity", "effort": "motor"}[actuator.kind]
        made = node.add(tag, name=joint.name, joint=joint.name)
        gains = actuator.gains
        frequency = gains.get("frequency", FREQUENCY)
        if actuator.kind == "position":
            damping = 2.0 * gains.get("damping_ratio", 1.0) * inertia * frequency
            made.attributes["kp"] = shown(gains.get("proportional", inertia * frequency**2))
            made.attributes["kv"] = shown(gains.get("derivative", damping))
            if joint.lower is not None and joint.upper is not None:
                made.attributes["ctrlrange"] = shown(joint.lower, joint.upper)
        elif actuator.kind == "velocity":
            made.attributes["kv"] = shown(gains.get("proportional", inertia * frequency))
            if speed := actuator.speed or joint.speed:
                made.attributes["ctrlrange"] = shown(-speed, speed)
        if (effort := gains.get("effort", joint.effort)) is not None:
            key = "ctrlrange" if actuator.kind == "effort" else "forcerange"
            made.attributes[key] = shown(-effort, effort)

    def _custom(self) -> XmlNode:
        custom = XmlNode("custom")
        for joint in self.model.joints.values():
            if joint.speed is not None and joint.kind != "fixed":
                custom.add("text", name=f"{SPEED}{joint.name}", data=repr(joint.speed))
        for actuator in self.model.actuators.values():
            said = {key: getattr(actuator, key) for key in ("kind", "speed", "lag", "lag_down")}
            if said["kind"] == "effort":
                said["speed"] = None  # a file may give one, which has no meaning
            data = json.dumps({key: value for key, value in said.items() if value} | dict(actuator.gains))
            custom.add("text", name=f"{ACTUATOR}{actuator.joint}", data=data)
        for start, things in ((ELEMENT, self.model.elements), (SENSOR, self.model.sensors)):
            for name, thing in things.items():
                if isinstance(thing, UserElement):
                    self.lost.append(Problem(f"element {name!r} is a function of yours; say it in the scenario"))
                    continue
                data = json.dumps(thing.model_dump(mode="json", exclude_unset=True) | {"type": thing.type})
                custom.add("text", name=f"{start}{name}", data=data)
        return custom


def _place(node: XmlNode, pose: np.ndarray) -> None:
    if pose[:3, 3].any():
        node.attributes["pos"] = shown(*pose[:3, 3])
    if not np.array_equal(pose[:3, :3], np.eye(3)):
        node.attributes["quat"] = shown(*quaternion_of(pose[:3, :3]))


def _add_joint(body: XmlNode, joint: ModelJoint, frame: np.ndarray) -> None:
    node = body.add("joint", name=joint.name, type="slide" if joint.kind == "prismatic" else "hinge")
    if frame[:3, 3].any():
        node.attributes["pos"] = shown(*frame[:3, 3])
    node.attributes["axis"] = shown(*(frame[:3, :3] @ np.array(joint.axis)))
    if joint.lower is not None or joint.upper is not None:
        lower = -ENDLESS if joint.lower is None else joint.lower
        node.attributes["range"] = shown(lower, ENDLESS if joint.upper is None else joint.upper)
    if joint.effort is not None:
        node.attributes["actuatorfrcrange"] = shown(-joint.effort, joint.effort)
    values = {"damping": joint.damping, "frictionloss": joint.friction, "armature": joint.armature,
              "stiffness": joint.stiffness, "springref": joint.rest}  # fmt: skip
    node.attributes |= {key: shown(value) for key, value in values.items() if value}


def _add_inertial(body: XmlNode, inertial: Inertial) -> None:
    tensor = inertial.inertia
    node = body.add("inertial", pos=shown(*inertial.centre), mass=shown(inertial.mass))
    moments, products = np.diag(tensor), (tensor[0, 1], tensor[0, 2], tensor[1, 2])
    if any(products):
        node.attributes["fullinertia"] = shown(*moments, *products)
    else:
        node.attributes["diaginertia"] = shown(*moments)


def _sizes(shape: ModelShape) -> tuple[float, ...]:
    match shape.kind:
        case "box":
            return tuple(one / 2 for one in shape.size)
        case "cylinder" | "capsule":
            return shape.size[0], shape.size[1] / 2
        case "plane":
            return 0.0, 0.0, 1.0
        case _:
            return shape.size
