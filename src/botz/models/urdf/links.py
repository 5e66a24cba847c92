"""Links of URDF files: masses, shapes and colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from botz.models.meshes.files import MeshFinding
from botz.models.robot_model import Inertial, ModelJoint, ModelLink, ModelShape, turned_to
from botz.models.xml_tree import OWN, XmlNode, XmlReading
from botz.scenario.names import closest
from botz.transforms import transform

Colour = tuple[float, float, float, float]
WORLD = "world"
"""A link of this name is the world, to which its joints tie the robot."""
UNLIMITED = 1e9
"""Limits from here on are none."""


class UrdfLinks(XmlReading):
    """Reads links one after the other; `links` grows."""

    def __init__(self, file: Path | None, meshes: MeshFinding):
        super().__init__()
        self.file = file
        self.meshes = meshes
        self.links: dict[str, ModelLink] = {}
        self.materials: dict[str, Colour] = {}

    def read_materials(self, root: XmlNode) -> None:
        for node in root.all("material"):
            name, colour = self.attribute(node, "name"), node.first("color")
            if name is not None and colour is not None:
                self.materials[name] = self._colour(colour)

    def _colour(self, node: XmlNode) -> Colour:
        red, green, blue, alpha = self.numbers(node, "rgba", 4)
        return red, green, blue, alpha

    def origin(self, node: XmlNode) -> np.ndarray:
        origin = node.first("origin")
        if origin is None:
            return np.eye(4)
        return transform(*self.numbers(origin, "xyz", 3, (0, 0, 0)), *self.numbers(origin, "rpy", 3, (0, 0, 0)))

    def foreign(self, node: XmlNode, *known: str) -> None:
        for child in node.children:
            if child.tag not in known:
                hint = "; URDF places things by <origin xyz rpy>" if child.tag == "pose" else ""
                self.note(child, f"<{child.tag}> in <{node.tag}> is not read{hint}")

    def own_name(self, node: XmlNode, taken: Mapping[str, ModelLink] | Mapping[str, ModelJoint]) -> str | None:
        name = self.attribute(node, "name")
        if name is not None and name in taken:
            line = taken[name].place.line
            where = "" if line is None else f" (line {line})"
            self.wrong(node, f"the name is used twice{where}; give each {node.tag} its own", f"{node.tag} {name}")
            return None
        return name

    def read_link(self, node: XmlNode) -> None:
        name = self.own_name(node, self.links)
        inertial = node.first("inertial")
        shapes = [self._shape(child, name or "") for child in node.all("visual", "collision")]
        self.foreign(node, "inertial", "visual", "collision", "contact")
        body = None if inertial is None else self._inertial(inertial, name or "")
        if name is not None:
            self.links[name] = ModelLink(name, body, tuple(shape for shape in shapes if shape), node.place)

    def _inertial(self, node: XmlNode, link: str) -> Inertial | None:
        self.foreign(node, "origin", "mass", "inertia")
        pose, mass, inertia = self.origin(node), node.first("mass"), node.first("inertia")
        if mass is None:
            self.wrong(node, "<inertial> needs <mass value>", f"link {link}")
            return None
        kilograms = self.number(mass, "value")
        tensor = np.zeros((3, 3))
        if inertia is not None:
            ixx, iyy, izz = (self.number(inertia, name) for name in ("ixx", "iyy", "izz"))
            ixy, ixz, iyz = (self.number(inertia, name, 0.0) for name in ("ixy", "ixz", "iyz"))
            tensor = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        if kilograms == 0.0:
            if np.any(tensor):
                self.note(node, "has the mass 0, so that its inertia is not read", f"link {link}")
            return None
        turn = pose[:3, :3]
        return Inertial(kilograms, pose[:3, 3].copy(), turn @ tensor @ turn.T, (inertia or node).place)

    def _shape(self, node: XmlNode, link: str) -> ModelShape | None:
        self.foreign(node, "origin", "geometry", "material", "verbose", OWN)
        pose, geometry = self.origin(node), node.first("geometry")
        one = None if geometry is None else geometry.first("box", "cylinder", "sphere", "capsule", "mesh", "plane")
        if one is None:
            kinds = [child.tag for child in geometry.children] if geometry is not None else []
            got = f", not <{kinds[0]}>" if kinds else ""
            message = f"<{node.tag}> needs <geometry> with box, cylinder, sphere, capsule or mesh{got}"
            self.wrong(geometry or node, message, f"link {link}")
            return None
        own = node.first(OWN)
        shape = ModelShape(
            kind=one.tag,
            pose=pose,
            visual=node.tag == "visual",
            collision=node.tag == "collision",
            colour=self._material(node),
            place=node.place,
        )
        if own is not None and own.first("friction") is not None:
            shape = replace(shape, friction=self.child_number(own, "friction"))
        if one.tag == "mesh":
            sx, sy, sz = self.numbers(one, "scale", 3, (1, 1, 1))
            if 0.0 in (sx, sy, sz):
                self.wrong(one, f"a scale of 0 leaves nothing of the mesh, as {one.get('scale')!r}", "mesh.scale")
            mesh = self._mesh(one, link, shape.visual)
            return None if mesh is None else replace(shape, file=mesh, scale=(sx, sy, sz))
        if one.tag == "plane":  # not in URDF's own list, but PyBullet's grounds are made of it
            return replace(shape, pose=pose @ turned_to(self.numbers(one, "normal", 3, (0, 0, 1))))
        before = len(self.problems)
        if one.tag == "box":
            size = self.numbers(one, "size", 3)
        elif one.tag == "sphere":
            size = (self.number(one, "radius"),)
        else:
            size = (self.number(one, "radius"), self.number(one, "length"))
        if min(size) <= 0.0 and len(self.problems) == before:
            if shape.visual and min(size) == 0.0:
                self.note(one, "a size of 0 leaves nothing to see; it is left out", f"link {link}")
                return None
            self.wrong(one, f"sizes must be positive, not {' '.join(f'{value:g}' for value in size)}", f"link {link}")
        return replace(shape, size=size)

    def _mesh(self, node: XmlNode, link: str, seen: bool) -> Path | None:
        reference = self.attribute(node, "filename")
        if reference is None:
            return None
        return self.meshes.find(self, node, reference, self.file, seen=seen, key=f"link {link}")

    def _material(self, node: XmlNode) -> Colour | None:
        material = node.first("material")
        if material is None:
            return None
        colour = material.first("color")
        if colour is not None:
            return self._colour(colour)
        name = (material.get("name") or "").strip()
        if name in self.materials or material.first("texture") is not None:
            return self.materials.get(name)
        if name:
            self.note(material, f"there is no material {name!r}{closest(name, self.materials)}")
        return None
