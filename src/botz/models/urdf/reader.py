"""URDF files, and xacro files that expand to URDF, as neutral models."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np

from botz.errors import InputError, Problem
from botz.models.meshes.files import MeshFinding, MissingMeshes, package_folder
from botz.models.plugins import PluginReading, actuator_misfits, gains_of
from botz.models.robot_model import ModelActuator, ModelJoint, Place, RobotModel
from botz.models.tree import inertia_problems, tree_problems
from botz.models.urdf.links import UNLIMITED, WORLD, UrdfLinks
from botz.models.xml_tree import OWN, XmlNode, read_xml
from botz.scenario.names import closest

_INTERFACES = {
    "PositionJointInterface": "position", "VelocityJointInterface": "velocity", "EffortJointInterface": "effort",
    "position": "position", "velocity": "velocity", "effort": "effort",
}  # fmt: skip
_TYPES = ("fixed", "revolute", "continuous", "prismatic", "floating", "planar")
_LOOKS = {
    "material", "visual", "mu2", "kp", "kd", "minDepth", "maxVel", "maxContacts", "fdir1", "selfCollide",
    "dampingFactor", "implicitSpringDamper", "preserveFixedJoint", "disableFixedJointLumping", "stopCfm", "stopErp",
    "provideFeedback", "fudgeFactor", "cfmDamping", "laserRetro",
}  # fmt: skip
"""Children of <gazebo> about looks and the tuning of Gazebo's own contacts, which nobody misses here."""


def read_urdf(
    file: Path,
    packages: Mapping[str, str] | None = None,
    *,
    check_inertia: bool = True,
    fixed: bool = False,
    missing_meshes: MissingMeshes = "ignore-visual",
) -> RobotModel:
    """The model of a .urdf or .xacro file; raises InputError with all problems found.

    `packages` are folders by the names of package:// references and of xacro's $(find). With `check_inertia` what moves
    must have a mass and a tensor that bodies can have; without it such links are read as they are, for tools that
    report or fill them. With `fixed` the root is part of the world, whatever the file says, and needs no mass.
    """
    packages = packages or {}
    root = expanded_xacro(file, packages) if file.suffix.lower() == ".xacro" else read_xml(file)
    model = _UrdfReading(root, file, MeshFinding(packages, missing_meshes)).model()
    if check_inertia and (problems := inertia_problems(model, fixed=fixed)):
        raise InputError(problems)
    return model


def expanded_xacro(file: Path, packages: Mapping[str, str] | None = None) -> XmlNode:
    """The URDF that a xacro file expands to. Its elements have no lines, since those of the expansion mislead."""
    read_xml(file)  # the parser that xacro uses follows entities; ours refuses them
    try:
        import xacro  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        message = "needs the package xacro: `pip install botz[xacro]`; or expand it elsewhere and give the .urdf"
        raise InputError(Problem(message, file=file)) from None
    missing: list[str] = []
    try:
        with _ament_of(file, packages or {}, missing):
            text = xacro.process_file(str(file)).toxml()
    except Exception as error:  # of many kinds, none of which has a common base
        if missing:
            message = f"$(find {missing[0]}): no package {missing[0]!r} is found; give its folder under 'packages'"
            hint = f"(--package {missing[0]}=FOLDER on the command line)"
            raise InputError(Problem(f"{message} {hint}", file=file)) from None
        raise InputError(Problem(f"xacro refuses it: {' '.join(str(error).split())}", file=file)) from None
    root = read_xml(text, file)
    if root.tag == "robot" and root.first("link") is None:
        message = (
            "has no link after its macros are carried out; if it only defines macros, give the file that uses them"
        )
        raise InputError(Problem(message, file=file))
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.line = None
        waiting += node.children
    return root


_EXPANDING = threading.Lock()


@contextmanager
def _ament_of(file: Path, packages: Mapping[str, str], missing: list[str]) -> Iterator[None]:
    """ROS's index of packages, which xacro asks for $(find NAME), stands here for the time of an expansion: it looks
    where meshes are looked for. Names that it does not know are put into `missing`."""

    def folder(name: str) -> str:
        found = package_folder(name, file, packages)
        if found is None:
            missing.append(name)
            raise LookupError(name)
        return str(found.resolve())

    index, inner = ModuleType("ament_index_python"), ModuleType("ament_index_python.packages")
    vars(inner)["get_package_share_directory"] = folder
    vars(index)["packages"] = inner
    with _EXPANDING:
        ours = {one.__name__: one for one in (index, inner)}
        before = {name: sys.modules[name] for name in ours if name in sys.modules}
        sys.modules.update(ours)
        try:
            yield
        finally:
            for name in ours:
                del sys.modules[name]
            sys.modules.update(before)


class _UrdfReading(UrdfLinks):
    def __init__(self, root: XmlNode, file: Path | None, meshes: MeshFinding):
        super().__init__(file, meshes)
        self.root = root
        self.joints: dict[str, ModelJoint] = {}
        self.actuators: dict[str, ModelActuator] = {}

    def model(self) -> RobotModel:
        if self.root.tag != "robot":
            other = {"sdf": "; it is SDF, name it .sdf", "mujoco": "; it is MJCF, name it .xml"}.get(self.root.tag, "")
            raise InputError(self.root.problem(f"a URDF file holds <robot>, not <{self.root.tag}>{other}"))
        self.read_materials(self.root)
        for node in self.root.children:
            self._top(node)
        plugins = PluginReading(self.links, self.joints)
        counts = Counter(node.tag for node in self.root.children)
        if (counts["link"], counts["joint"]) == (len(self.links), len(self.joints)):
            # Where a link or joint could not be read, what refers to it would only be told of in vain.
            for node in self.root.all("gazebo"):
                self._gazebo(node, plugins)
            self.problems += plugins.problems
            self.problems += tree_problems(self.links, self.joints, self.root.place)
            self._drop_held_actuators()
        self.finish()
        for joint, actuator in plugins.actuators.items():
            self._merge_actuator(joint, actuator)
        name = (self.root.get("name") or "").strip() or (self.file.stem if self.file else "robot")
        model = RobotModel(
            name=name,
            links=self.links,
            joints=self.joints,
            actuators=self.actuators,
            elements=plugins.elements,
            sensors=plugins.sensors,
            notes=(*self.notes, *plugins.notes),
            file=self.file,
            format="urdf",
        )
        return self._tied(model)

    def _drop_held_actuators(self) -> None:
        """Transmissions may stand before their joints, so whether these move is known at the end. Models whose joints
        were fixed keep theirs."""
        for name, one in list(self.actuators.items()):
            kind = self.joints[name].kind
            if kind in ("fixed", "floating"):
                self.notes.append(one.place.problem(f"is {kind}, so it gets no actuator", f"joint {name}"))
                del self.actuators[name]

    def _merge_actuator(self, joint: str, found: ModelActuator) -> None:
        before = self.actuators.get(joint)
        if before is not None and before.kind != found.kind:
            message = f"a transmission asks for {before.kind}, a plugin for {found.kind} (which is taken); keep one"
            self.notes.append(found.place.problem(message, f"joint {joint}"))
        self.actuators[joint] = found

    def _tied(self, model: RobotModel) -> RobotModel:
        """A root called `world` is the world; a floating joint below the root says that the robot is free."""
        root = model.root
        floating = [joint for joint in model.joints.values() if joint.kind == "floating"]
        for joint in floating:
            below = model.children(root)
            empty = model.links[root].inertial is None and not model.links[root].shapes
            if joint.parent != root or len(below) != 1 or not empty:
                message = "a floating joint can only tie the whole robot to an empty root, as 'world'; make two robots"
                self.problems.append(joint.place.problem(message, f"joint {joint.name}"))
        self.finish()
        if floating:
            links = {name: link for name, link in model.links.items() if name != root}
            joints = {name: joint for name, joint in model.joints.items() if joint.kind != "floating"}
            return replace(model, links=links, joints=joints)
        return replace(model, fixed_base=root == WORLD)

    # --- the parts of a robot ----------------------------------------------------------------------------------

    def _top(self, node: XmlNode) -> None:
        match node.tag:
            case "link":
                self.read_link(node)
            case "joint":
                self._joint(node)
            case "transmission":
                self._transmission(node)
            case "ros2_control":
                self._ros2_control(node)
            case "material" | "gazebo":
                pass
            case "plugin":
                self.note(
                    node, f"plugin {node.get('name')!r} stands outside of <gazebo>, where nothing reads it; move it"
                )
            case _ if node.tag.startswith("xacro:"):
                self.wrong(node, f"<{node.tag}> is xacro; name the file .urdf.xacro, or expand it first")
            case _:
                self.note(node, f"<{node.tag}> is not read")

    # --- joints ------------------------------------------------------------------------------------------------

    def _joint(self, node: XmlNode) -> None:
        name, kind = self.own_name(node, self.joints), self.attribute(node, "type")
        key = f"joint {name or '?'}"
        parent, child = (self._end(node, tag, key) for tag in ("parent", "child"))
        pose = self.origin(node)
        self.foreign(node, "parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "safety_controller",
                      "calibration")  # fmt: skip
        if kind is not None and kind not in _TYPES:
            self.wrong(node, f"unknown type {kind!r}{closest(kind, _TYPES)}", key)
            return
        if kind == "planar":
            self.wrong(
                node, "planar joints are not known; write two prismatic joints and a revolute one in its place", key
            )
            return
        axis = self._axis(node, key) if kind in ("revolute", "continuous", "prismatic") else (0.0, 0.0, 1.0)
        lower, upper, speed, effort = self._limit(node, kind or "", key)
        dynamics = node.first("dynamics") or XmlNode("dynamics")
        damping, friction = self.number(dynamics, "damping", 0.0), self.number(dynamics, "friction", 0.0)
        for word, value in (("damping", damping), ("friction", friction)):
            if value < 0:
                self.wrong(dynamics, f"{word} must not be negative, as {value:g} is: it would add energy", key)
        mimic = node.first("mimic")
        if mimic is not None:
            message = f"in URDF it follows joint {mimic.get('joint')!r}; here it moves on its own: command both alike"
            self.note(mimic, message, key)
        if name is not None and kind is not None and parent is not None and child is not None:
            self.joints[name] = ModelJoint(
                name, kind, parent, child, pose, axis, lower, upper, speed, effort, damping, friction, place=node.place
            )

    def _end(self, node: XmlNode, tag: str, key: str) -> str | None:
        end = node.first(tag)
        if end is None:
            self.wrong(node, f"needs <{tag} link>", key)
            return None
        return self.attribute(end, "link")

    def _axis(self, node: XmlNode, key: str) -> tuple[float, float, float]:
        axis = node.first("axis")
        if axis is None:
            return 1.0, 0.0, 0.0  # URDF's own default
        before = len(self.problems)
        given = np.asarray(self.numbers(axis, "xyz", 3))
        length = float(np.linalg.norm(given))
        if length < 1e-9:
            if len(self.problems) == before:
                self.wrong(axis, f"the axis {axis.get('xyz')!r} has no direction; write one as '0 0 1'", key)
            return 0.0, 0.0, 1.0
        x, y, z = (float(value) for value in given / length)
        return x, y, z

    def _limit(
        self, node: XmlNode, kind: str, key: str
    ) -> tuple[float | None, float | None, float | None, float | None]:
        """Lower, upper, speed and effort; None where there is none. A speed or effort of 0 is one nobody gave."""
        limit = node.first("limit")
        ranged = kind in ("revolute", "prismatic")
        if limit is None:
            if ranged:
                hint = " or is 'continuous'" if kind == "revolute" else ""
                self.wrong(node, f"a {kind} joint needs <limit lower upper>{hint}", key)
            return None, None, None, None
        before = len(self.problems)
        lower, upper, speed, effort = (self.number(limit, one, 0.0) for one in ("lower", "upper", "velocity", "effort"))
        if ranged and lower > upper:
            remedy = "swap them, or take both out where the joint has no limits"
            self.wrong(limit, f"leaves no range from lower {lower:g} to upper {upper:g}; {remedy}", key)
        if ranged and lower == upper and len(self.problems) == before:
            # Whoever gives efforts and speeds only gets 0 for both ends by URDF's defaults.
            message = f"lower and upper are both {lower:g}: read as a joint without limits, as MuJoCo and PyBullet do"
            self.note(limit, f"{message}; make it 'fixed' if it does not move", key)
            ranged = False
        for word, value in (("velocity", speed), ("effort", effort)):
            if value < 0:
                self.wrong(limit, f"{word} must not be negative, as {value:g} is", key)
        return (
            lower if ranged and lower > -UNLIMITED else None,
            upper if ranged and upper < UNLIMITED else None,
            speed if 0.0 < speed < UNLIMITED else None,
            effort if 0.0 < effort < UNLIMITED else None,
        )

    # --- actuators and Gazebo ----------------------------------------------------------------------------------

    def _transmission(self, node: XmlNode) -> None:
        for joint in node.all("joint"):
            name = self.attribute(joint, "name")
            said = [
                *joint.all("hardwareInterface"),
                *(one for a in node.all("actuator") for one in a.all("hardwareInterface")),
            ]
            kinds = list(dict.fromkeys(_INTERFACES.get(one.text.rpartition("/")[2], "") for one in said))
            if name is not None:
                self._actuator(joint, name, kinds, said[0].text if said else "")

    def _ros2_control(self, node: XmlNode) -> None:
        for joint in node.all("joint"):
            name = self.attribute(joint, "name")
            said = [one.get("name") or "" for one in joint.all("command_interface")]
            if name is not None and said:
                self._actuator(joint, name, [_INTERFACES.get(one, "") for one in said], said[0])

    def _actuator(self, node: XmlNode, joint: str, kinds: list[str], said: str) -> None:
        if joint not in self._joint_names:
            # Parts of a robot keep the transmissions of the whole.
            message = f"there is no joint {joint!r}{closest(joint, self._joint_names)}; it has no effect"
            self.note(node, message, "transmission")
            return
        known = [kind for kind in kinds if kind]
        if not known:
            what = f"interface {said!r} is not known" if said else "no interface is given"
            self.note(
                node,
                f"{what}, so the joint gets no actuator; known: {', '.join(list(_INTERFACES)[:3])}",
                f"joint {joint}",
            )
            return
        if len(known) > 1:
            self.note(
                node, f"of {', '.join(known)} the first is taken; an actuator has one kind of command", f"joint {joint}"
            )
        own = node.first(OWN) or XmlNode(OWN)
        found = ModelActuator(
            joint, known[0], node.place,
            speed=self.child_number(own, "speed") if own.first("speed") else None,
            lag=self.child_number(own, "lag", 0.0),
            lag_down=self.child_number(own, "lag_down") if own.first("lag_down") else None,
            gains=gains_of(self, own),
        )  # fmt: skip
        for field, message in actuator_misfits(found):
            self.wrong(own.first(field) or node, message, f"joint {joint}.{field}")
        self.actuators[joint] = found

    @property
    def _joint_names(self) -> set[str]:
        """Of the whole file: a transmission may stand before its joint."""
        return {name for node in self.root.all("joint") if (name := (node.get("name") or "").strip())}

    def _gazebo(self, node: XmlNode, plugins: PluginReading) -> None:
        reference = (node.get("reference") or "").strip()
        if reference and reference not in self.links and reference not in self.joints:
            self.note(node, f"<gazebo> refers to {reference!r}, which is neither link nor joint; it has no effect")
            return
        for child in node.children:
            match child.tag:
                case "plugin":
                    plugins.take(child)
                case "mu" | "mu1" if reference in self.links:
                    if (value := self._gazebo_number(child)) is not None:
                        self._friction(reference, value, child.place)
                case "springStiffness" if reference in self.joints:
                    if (value := self._gazebo_number(child)) is not None:
                        self.joints[reference] = replace(self.joints[reference], stiffness=value)
                case "springReference" if reference in self.joints:
                    if (value := self._gazebo_number(child)) is not None:
                        self.joints[reference] = replace(self.joints[reference], rest=value)
                case _ if child.tag == OWN and reference in self.joints:
                    armature = self.child_number(child, "armature", 0.0)
                    self.joints[reference] = replace(self.joints[reference], armature=armature)
                case "sensor":
                    message = f"sensor {child.get('name')!r} of type {child.get('type')!r} is not read"
                    self.note(child, f"{message}; give it under 'sensors' of the robot")
                case tag if tag in _LOOKS:
                    pass
                case _:
                    self.note(child, f"<{child.tag}> in <gazebo> is not read")

    def _gazebo_number(self, node: XmlNode) -> float | None:
        """Of <mu1>1.0</mu1> or <mu1 value="1.0"/>, both of which are about; None with a note where it says nothing."""
        if node.text:
            return self.text_numbers(node, 1)[0]
        if node.get("value") is not None:
            return self.number(node, "value")
        self.note(node, f"<{node.tag}> in <gazebo> has no value; write <{node.tag}>NUMBER</{node.tag}>")
        return None

    def _friction(self, link: str, friction: float, place: Place) -> None:
        if friction < 0:
            self.problems.append(place.problem(f"friction must not be negative, as {friction:g} is", f"link {link}"))
        shapes = tuple(replace(one, friction=friction) if one.collision else one for one in self.links[link].shapes)
        self.links[link] = replace(self.links[link], shapes=shapes)
