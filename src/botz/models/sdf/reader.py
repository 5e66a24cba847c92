"""Robots from SDF files, versions 1.4 to 1.12.

SDF places joints anywhere in the child link. Here a joint's frame is that of its child, so a link that turns about a
point beside its origin gets its frame moved there; its axes stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from botz.errors import InputError
from botz.models.meshes.files import MeshFinding, MissingMeshes
from botz.models.plugins import PluginReading
from botz.models.robot_model import ModelJoint, ModelLink, RobotModel
from botz.models.sdf.frames import MODEL, WORLD, Frame, truth
from botz.models.sdf.parts import read_inertial, read_sensor, read_shapes
from botz.models.sdf.scopes import Part, Scope, SdfParts
from botz.models.tree import inertia_problems, tree_problems
from botz.models.xml_tree import XmlNode, parsed_numbers
from botz.scenario.multibody.elements import Element
from botz.scenario.names import closest
from botz.transforms import inverse

ENDLESS = 1e15
"""Limits as large as this are none: SDF writes ±1e16 for no limit."""
AT_ONE_PLACE = 1e-12
"""[m]"""
ARMATURE = "botz:armature"
"""What SDF has no word for, in <dynamics>."""
OTHER_JOINTS = {
    "ball": "three revolute joints one after another, with light links between",
    "universal": "two revolute joints one after another, with a light link between",
    "revolute2": "two revolute joints one after another, with a light link between",
    "screw": "a prismatic joint, or a revolute one",
    "gearbox": "two revolute joints, and command both",
}
NAMING = frozenset({"jointName", "linkName", "link_name", "joint_name", "control_joint_name", "link", "joint"})
"""Children of plugins that name links and joints."""


@dataclass(frozen=True)
class _Choice:
    """A model of a file, and where it comes from."""

    node: XmlNode
    name: str
    version: tuple[int, int]
    chain: tuple[Path, ...]
    static: bool
    plugins: tuple[XmlNode, ...] = ()


def read_sdf(
    path: Path,
    packages: Mapping[str, str] | None = None,
    model: str | None = None,
    *,
    check_inertia: bool = True,
    fixed: bool = False,
    missing_meshes: MissingMeshes = "ignore-visual",
) -> RobotModel:
    """The model of a file; `model` names it where a file has several. Raises InputError with all problems.

    With `check_inertia` what moves must have a mass and a tensor that bodies can have; with `fixed` the root is part of
    the world, whatever the file says, and needs none.
    """
    path = Path(path)
    # Folders of packages are relative to the file that is read, not to those that it includes.
    parts = SdfParts({name: str(path.parent / folder) for name, folder in (packages or {}).items()})
    choice = _chosen(parts, path, model)
    scope = Scope("", MODEL, choice.version)
    parts.add_model(choice.node, scope, Frame(choice.node, np.eye(4), None, None), choice.chain)
    parts.frames.by_name.setdefault(MODEL, Frame(choice.node, np.eye(4), None, None)).placement = None
    parts.plugins += [Part(node, node.get("name") or "", scope) for node in choice.plugins]
    parts.frames.check(parts)
    if not parts.links and not parts.problems:
        parts.wrong(choice.node, f"model {choice.name!r} has no links; a robot needs at least one <link>")
    if not parts.links:
        parts.finish()
    found = _Assembly(parts, choice, MeshFinding(parts.packages, missing_meshes)).model(path)
    if check_inertia and (problems := inertia_problems(found, fixed=fixed)):
        raise InputError(problems)
    return found


def _chosen(parts: SdfParts, path: Path, wanted: str | None) -> _Choice:
    root, version = parts.opened(path)
    choices: list[_Choice] = []
    here = (path.resolve(),)
    for holder in (root, *root.all("world")):
        for node in holder.children:
            if node.tag == "model":
                choices.append(_Choice(node, node.get("name") or "", version, here, truth(node.value("static"))))
            elif node.tag == "include":
                found = parts.included(node, here)
                if found is not None:
                    model, inner, file = found
                    name = node.value("name") or model.get("name") or ""
                    static = truth(node.value("static") or model.value("static"))
                    choices.append(_Choice(model, name, inner, (*here, file), static, tuple(node.all("plugin"))))
    names = [one.name for one in choices]
    if wanted is not None:
        choices = [one for one in choices if one.name == wanted]
        if not choices:
            raise InputError([*parts.problems, root.problem(f"there is no model {wanted!r}{closest(wanted, names)}")])
        if len(choices) > 1:
            message = f"holds {len(choices)} models called {wanted!r}; give each a name of its own"
            raise InputError([*parts.problems, root.problem(message)])
    # A world's ground and walls are static: the robot is what else there is.
    moving = [one for one in choices if not one.static] or choices
    if len(moving) != 1:
        if not moving:
            problem = root.problem("holds no <model>; a robot needs one")
            raise InputError(parts.problems or problem)
        if len({one.name for one in moving}) < len(moving):
            message = f"holds {len(moving)} models, of which several are called {moving[0].name!r}"
            raise InputError([*parts.problems, root.problem(f"{message}; give each a name of its own")])
        message = (
            f"holds several models ({', '.join(one.name for one in moving)}); name one by 'model: {moving[0].name}' of "
            "the robot (--model on the command line); for more of them make one robot per model"
        )
        raise InputError([*parts.problems, root.problem(message)])
    # What else the world holds may be missing: it is not this robot.
    parts.notes, parts.problems = [*parts.notes, *parts.problems], []
    others = [name for name in names if name != moving[0].name]
    if others:
        parts.note(root, f"only the model {moving[0].name!r} is read; left out: {', '.join(others)}")
    return moving[0]


class _Assembly:
    """From parts whose frames are known to links and joints."""

    def __init__(self, parts: SdfParts, choice: _Choice, meshes: MeshFinding):
        self.parts = parts
        self.meshes = meshes
        self.choice = choice
        self.frames = parts.frames
        self.offsets: dict[str, np.ndarray] = {}
        """Where a link's frame is moved to, in its frame as the file has it."""
        self.sensors: dict[str, Any] = {}

    def model(self, path: Path) -> RobotModel:
        parts, choice = self.parts, self.choice
        pose = choice.node.first("pose")
        if pose is not None and any(word.strip("+-0.") for word in pose.text.split()):
            parts.note(pose, "the model's own pose is not read: the scenario places the robot")
        joints = [joint for part in parts.joints.values() if (joint := self._joint(part)) is not None]
        links = {name: self._link(part) for name, part in parts.links.items()}
        parts.finish()
        tied = any(joint.parent == WORLD for joint in joints)
        if tied:
            links = {WORLD: ModelLink(WORLD, place=choice.node.place), **links}
        placed = {joint.name: replace(joint, pose=self._between(joint.parent, joint.child)) for joint in joints}
        if choice.static:
            placed = self._held(links, placed)
        parts.problems += tree_problems(links, placed, choice.node.place)
        parts.finish()
        placed = _without_plain_tie(links, placed)
        plugins = PluginReading(links.keys(), placed)
        for part in parts.plugins:
            plugins.take(_with_full_names(part, links, placed))
        parts.problems.extend(plugins.problems)
        for name in plugins.sensors.keys() & self.sensors.keys():
            parts.wrong(choice.node, f"two sensors have the name {name!r}; give one another", "sensor")
        parts.finish()
        return RobotModel(
            name=choice.name or path.stem,
            links=links,
            joints=placed,
            actuators=plugins.actuators,
            elements={name: self._moved(element) for name, element in plugins.elements.items()},
            sensors={**self.sensors, **plugins.sensors},
            fixed_base=tied or choice.static,
            notes=(*parts.notes, *plugins.notes),
            file=path,
            format="sdf",
        )

    # --- links ---

    def _shift(self, link: str) -> np.ndarray:
        """From the link's frame as the file has it to the one it gets."""
        found = np.eye(4)
        if link in self.offsets:
            found[:3, 3] = -self.offsets[link]
        return found

    def _between(self, parent: str, child: str) -> np.ndarray:
        above = np.eye(4) if parent == WORLD else self.frames.pose(parent) @ inverse(self._shift(parent))
        return inverse(above) @ self.frames.pose(child) @ inverse(self._shift(child))

    def _link(self, part: Part) -> ModelLink:
        parts, node = self.parts, part.node
        shift = self._shift(part.name)

        def posing(one: XmlNode) -> np.ndarray:
            return shift @ parts.posed(one, part.scope, part.name)

        inertial = None if self.choice.static and not node.first("inertial") else read_inertial(parts, node, posing)
        shapes = read_shapes(parts, node, posing, self._mesh)
        for sensor in node.all("sensor"):
            name = parts.attribute(sensor, "name")
            found = read_sensor(parts, sensor, part.name, posing) if name else None
            if name and found is not None:
                # Names are unique in a link only.
                self.sensors[name if name not in self.sensors else f"{part.name}_{name}"] = found
        return ModelLink(part.name, inertial, shapes, node.place)

    def _mesh(self, node: XmlNode, uri: str, seen: bool) -> Path | None:
        return self.meshes.find(self.parts, node, uri, node.file, seen=seen, key="mesh")

    def _moved(self, element: Element) -> Element:
        """An element whose place is said in a link's frame that was moved."""
        link = getattr(element, "link", None)
        return element.moved(self.offsets[link].tolist()) if link in self.offsets else element

    # --- joints ---

    def _joint(self, part: Part) -> ModelJoint | None:
        parts, node = self.parts, part.node
        kind = node.get("type") or ""
        if kind in OTHER_JOINTS:
            remedy = f"replace it by {OTHER_JOINTS[kind]}, or use MJCF, which is kept as it is"
            parts.wrong(node, f"joint {part.name!r} is of type {kind!r}, which cannot be read; {remedy}", "type")
            return None
        if kind not in ("revolute", "continuous", "prismatic", "fixed"):
            choices = closest(kind, ("revolute", "continuous", "prismatic", "fixed"))
            parts.wrong(node, f"joint {part.name!r}: unknown type {kind!r}{choices}", "type")
            return None
        ends = [self._end(part, tag) for tag in ("parent", "child")]
        if not all(ends):
            return None
        parent, child = ends
        for sensor in node.all("sensor"):
            parts.note(sensor, f"sensor {sensor.get('name')!r} of a joint is not read, and left out")
        found = ModelJoint(part.name, kind, parent, child, place=node.place)
        if kind == "fixed":
            return found
        if kind != "prismatic":
            offset = self.frames.between(child, part.name)[:3, 3]
            if np.linalg.norm(offset) > AT_ONE_PLACE:
                self.offsets.setdefault(child, offset)
        axis = node.first("axis")
        if axis is None:
            parts.wrong(node, f"joint {part.name!r} needs <axis>, as <axis><xyz>0 0 1</xyz></axis>")
            return None
        return self._with_axis(found, part, axis)

    def _end(self, part: Part, tag: str) -> str:
        """The link at one end of a joint; '' with a problem."""
        node = part.node.first(tag)
        assert node is not None
        if node.text == WORLD:
            return WORLD
        full = part.scope.full(node.text)
        if full not in self.frames.by_name:
            message = f"joint {part.name!r}: there is no link {full!r}{closest(full, self.parts.links)}"
            self.parts.wrong(node, message, tag)
            return ""
        link = self.frames.link(full)
        if not link:
            self.parts.wrong(node, f"joint {part.name!r}: the frame {full!r} is on no link; attach it to one", tag)
        return link

    def _with_axis(self, joint: ModelJoint, part: Part, node: XmlNode) -> ModelJoint:
        parts, scope = self.parts, part.scope
        xyz = node.first("xyz")
        direction = np.array(parts.child_numbers(node, "xyz", 3, (0.0, 0.0, 1.0)))
        length = float(np.linalg.norm(direction))
        if not 1e-9 < length < 1e9:
            parts.wrong(
                xyz or node, f"joint {joint.name!r} needs a direction, as 0 0 1; this is {length:g} long", "xyz"
            )
            return joint
        base = part.name
        said = (xyz.get("expressed_in") or "").strip() if xyz is not None else ""
        flag = node.value("use_parent_model_frame")
        # Until 1.4 an axis was said in the model's frame; since 1.5 in the joint's unless the flag is set.
        if truth(flag) or (flag is None and scope.version < (1, 5)):
            base = scope.frame
        if said and self.frames.known(parts, xyz or node, scope.full(said), "expressed_in"):
            base = scope.full(said)
        x, y, z = (float(one) for one in self.frames.between(joint.child, base)[:3, :3] @ (direction / length))
        limit = node.first("limit") or XmlNode("limit")
        dynamics = node.first("dynamics") or XmlNode("dynamics")
        lower, upper = self._limit(limit, "lower"), self._limit(limit, "upper")
        if lower is not None and upper is not None and lower > upper:
            parts.wrong(limit, f"joint {joint.name!r}: begins at {lower:g}, after its end {upper:g}", "limit")
        kind = joint.kind
        if kind == "continuous" or (kind == "revolute" and lower is None and upper is None):
            kind, lower, upper = "continuous", None, None
        if node.first("mimic") is not None:
            parts.note(node, f"joint {joint.name!r}: <mimic> is not read, the joint moves on its own", "mimic")
        speed, effort = self._limit(limit, "velocity"), self._limit(limit, "effort")
        return replace(
            joint,
            kind=kind,
            axis=(x, y, z),
            lower=lower,
            upper=upper,
            speed=speed if speed is not None and speed > 0.0 else None,
            effort=effort if effort is not None and effort > 0.0 else None,
            damping=self._not_negative(dynamics, "damping"),
            friction=self._not_negative(dynamics, "friction"),
            armature=self._not_negative(dynamics, ARMATURE),
            stiffness=self._not_negative(dynamics, "spring_stiffness"),
            rest=parts.child_number(dynamics, "spring_reference", 0.0),
        )

    def _limit(self, node: XmlNode, tag: str) -> float | None:
        """A limit; None where there is none, however the file says so."""
        child = node.first(tag)
        if child is None or not child.text or child.text.lstrip("+-").lower() in ("inf", "infinity"):
            return None
        found = parsed_numbers(child.text, 1)
        if isinstance(found, str):
            self.parts.wrong(child, found, tag)
            return None
        return found[0] if abs(found[0]) < ENDLESS else None

    def _not_negative(self, node: XmlNode, tag: str) -> float:
        found = self.parts.child_number(node, tag, 0.0)
        if found < 0.0:
            self.parts.wrong(node.first(tag) or node, f"is not negative, this is {found:g}", tag)
        return found

    # --- the tree ---

    def _held(self, links: dict[str, ModelLink], joints: dict[str, ModelJoint]) -> dict[str, ModelJoint]:
        """Of a static model: nothing moves, and what hangs on no joint is held all the same."""
        stiff = {name: replace(joint, kind="fixed") for name, joint in joints.items()}
        if any(joint.kind != "fixed" for joint in joints.values()):
            self.parts.note(self.choice.node, "the model is static: its joints do not move")
        carried = {joint.child for joint in joints.values()}
        roots = [name for name in links if name not in carried]
        for link in roots[1:]:
            root = roots[0]
            stiff[f"{link}_held"] = ModelJoint(f"{link}_held", "fixed", root, link, self._between(root, link))
        return stiff


def _without_plain_tie(links: dict[str, ModelLink], joints: dict[str, ModelJoint]) -> dict[str, ModelJoint]:
    """Without the link 'world' where it only holds the root at its own place, which `fixed_base` says as well."""
    ties = [joint for joint in joints.values() if joint.parent == WORLD]
    if len(ties) != 1 or ties[0].kind != "fixed" or np.abs(ties[0].pose - np.eye(4)).max() > AT_ONE_PLACE:
        return joints
    del links[WORLD]
    return {name: joint for name, joint in joints.items() if joint is not ties[0]}


def _with_full_names(part: Part, links: Mapping[str, Any], joints: Mapping[str, Any]) -> XmlNode:
    """A plugin of a nested model with the names of the whole one."""
    if not part.scope.prefix:
        return part.node
    children = []
    for child in part.node.children:
        full = part.scope.full(child.text)
        named = child.tag in NAMING and (full in links or full in joints)
        children.append(replace(child, text=full) if named else child)
    return replace(part.node, children=children)
