"""Plugin blocks of URDF and SDF that Botz knows, as force elements and actuators.

Recognised are the thrust plugin of [costa2022] section 3.8, Gazebo's motor model (gz-sim and classic), its lift-drag
plugin (both), gz-sim's joint controllers, and Botz' own blocks, which hold every other element and sensor. Defaults are
those of the plugins, so that a file means here what it means there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from botz.models.robot_model import GAINS, ModelActuator, ModelJoint
from botz.models.xml_tree import OWN, XmlNode, XmlReading
from botz.scenario.misfits import Misfits
from botz.scenario.multibody.elements import Element, UserElement
from botz.scenario.multibody.schema import ActuatorSpec, AnyElement, AnySensor
from botz.scenario.multibody.sensors import Sensor
from botz.scenario.names import closest

SOURCE_COEFFICIENT = 2.0032092e-5
"""K of the thrust plugin's propeller [N·s²/rad²]. Source: [costa2022] section 3.8, Σf / Σω² of its table 2."""
UNKNOWN = "unknown plugin"
"""Key of the notes on plugins that Botz does not know; in a scenario they are errors unless it says otherwise."""
OWN_ELEMENT, OWN_SENSOR = "botz-element", "botz-sensor"
"""`filename` of blocks that are Botz' own."""
OWN_GAINS = "actuator"
"""Gains of the servo that turns a propeller, in what a motor's block has of ours."""

HELD = "what does not move cannot be commanded: make it continuous, revolute or prismatic, or take this out"
"""Of a joint that an actuator is given to."""
MOTOR = {
    "motorConstant": ("coefficient", 8.54858e-6),
    "momentConstant": ("drag_torque", 0.016),
    "rotorDragCoefficient": ("rotor_drag", 1e-4),
    "rollingMomentCoefficient": ("rolling_moment", 1e-6),
}
"""Parameters of the motor model: the element's field and the plugin's default."""
_MOTOR_SPEED, _MOTOR_UP, _MOTOR_DOWN = 838.0, 1 / 80, 1 / 40
_MOTOR_SILENT = {
    "robotNamespace", "commandSubTopic", "motorSpeedPubTopic", "motorNumber", "actuator_number", "windSpeedSubTopic",
    "motorPositionPubTopic", "motorForcePubTopic", "joint_control_pid", "useActuatorMsgs",
}  # fmt: skip
SURFACE = {
    "a0": 0.0, "cla": 1.0, "cda": 0.01, "cma": 0.0, "alpha_stall": 0.5 * np.pi, "cla_stall": 0.0, "cda_stall": 1.0,
    "cma_stall": 0.0, "area": 1.0,
}  # fmt: skip
"""Of the lift-drag plugin; it computes no moment where `cma` is not given, whatever its own default says."""
_SURFACE_DENSITY, _SURFACE_SLOPE = 1.2041, 4.0
_SURFACE_SILENT = {"robotNamespace", "topic_name", "windSubTopic"}
_CONTROLLERS = {"JointPositionController": "position", "JointController": "velocity", "ApplyJointForce": "effort"}
_THRUST_COEFFICIENTS = ("k", "K", "thrust_coefficient")
_NOT_NEEDED = {
    "gazebo_ros_control": "joints are commanded by their transmissions",
    "gazebo_ros2_control": "joints are commanded by <ros2_control>",
    "gz_ros2_control-system": "joints are commanded by <ros2_control>",
    "gazebo_ros_joint_state_publisher": "every joint has its channels",
    "joint-state-publisher-system": "every joint has its channels",
    "pose-publisher-system": "every robot has its channels",
    "gazebo_ros_p3d": "every robot has its channels; a sensor of type 'pose' shows any link",
}
_KINDS = {
    "MulticopterMotorModel": "motor", "multicopter-motor-model-system": "motor", "gazebo_motor_model": "motor",
    "rotors_gazebo_motor_model": "motor", "LiftDrag": "surface", "lift-drag-system": "surface",
    "LiftDragPlugin": "surface", "helice_push": "thrust", OWN_ELEMENT: "element", OWN_SENSOR: "sensor",
}  # fmt: skip


def library_name(filename: str) -> str:
    """`LiftDragPlugin` of `libLiftDragPlugin.so`, `lift-drag-system` of `gz-sim8-lift-drag-system`."""
    stem = re.sub(r"\.(so|dylib|dll)[.\d]*$", "", re.split(r"[/\\]", filename.strip())[-1])
    return re.sub(r"^(gz-sim|ignition-gazebo)\d*-", "", stem.removeprefix("lib"))


def clean_name(name: str) -> str:
    """A plugin's name as the name of an element: lower-case letters, digits and _."""
    found = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
    return found if found[:1].isalpha() else f"element_{found}".rstrip("_")


class PluginReading(XmlReading):
    """Takes <plugin> blocks one after the other; `elements`, `actuators`, `sensors`, `notes` and `problems` grow."""

    def __init__(self, links: Collection[str], joints: Mapping[str, ModelJoint]):
        super().__init__()
        self.links = links
        self.joints = joints
        self.elements: dict[str, Element] = {}
        self.actuators: dict[str, ModelActuator] = {}
        self.sensors: dict[str, Sensor] = {}

    def take(self, node: XmlNode) -> None:
        library, given = library_name(node.get("filename") or ""), (node.get("name") or "").strip()
        system = given.rpartition("::")[2] if "::" in given else ""
        kind = _KINDS.get(library) or _KINDS.get(system) or ("thrust" if _is_thrust(node) else "")
        controlled = _CONTROLLERS.get(system)
        if controlled is None and library.endswith("-system"):
            controlled = _CONTROLLERS.get("".join(word.title() for word in library.split("-")[:-1]))
        if kind == "motor":
            self._motor(node, given)
        elif kind == "surface":
            self._surface(node, given)
        elif kind == "thrust":
            self._thrust(node, given)
        elif kind == "element":
            self._own(node, given, self.elements, AnyElement)
        elif kind == "sensor":
            self._own(node, given, self.sensors, AnySensor)
        elif controlled is not None:
            self._controller(node, controlled)
        elif library in _NOT_NEEDED:
            self.note(node, f"plugin {given!r} ({library}) is not needed here: {_NOT_NEEDED[library]}")
        else:
            known = "the motor models, the lift-drag plugins, the thrust plugin with link_name, force and dir"
            message = f"plugin {given!r} ({node.get('filename') or 'no file'}) is not recognised and has no effect"
            self.note(node, f"{message}; recognised are {known}; say what it does by 'elements' or 'sensors'", UNKNOWN)

    # --- the kinds ---------------------------------------------------------------------------------------------

    def _motor(self, node: XmlNode, given: str) -> None:
        joint = self._joint(node, "jointName")
        if joint is None or self._is_held(node.first("jointName") or node, joint):
            return
        link = node.first("linkName")
        if link is not None and self._known(link.text, self.links) not in (None, joint.child):
            self.wrong(
                link, f"is {link.text!r}, yet joint {joint.name!r} moves link {joint.child!r}; name that", "linkName"
            )
        kind = (node.value("motorType") or "velocity").lower()
        if kind != "velocity":
            if kind not in ("position", "force"):
                self.wrong(node, f"unknown {kind!r}{closest(kind, ('velocity', 'position', 'force'))}", "motorType")
                return
            self.note(node, f"motorType {kind!r} makes no thrust, as in Gazebo: only the joint is commanded")
            found = ModelActuator(joint.name, "position" if kind == "position" else "effort", node.place)
            self.actuators[joint.name] = found
            return
        up = self._positive(node, "timeConstantUp", _MOTOR_UP)
        down = self._positive(node, "timeConstantDown", _MOTOR_DOWN)
        speed = self._positive(node, "maxRotVelocity", _MOTOR_SPEED)
        own = (node.first(OWN) or XmlNode(OWN)).first(OWN_GAINS)
        gains = gains_of(self, own or XmlNode(OWN_GAINS))
        found = ModelActuator(joint.name, "velocity", node.place, speed or None, up, down, gains)
        tags = {"speed": "maxRotVelocity", "lag": "timeConstantUp", "lag_down": "timeConstantDown"}
        for field, message in actuator_misfits(found):
            self._at(node, [field], message, tags)
        self.actuators[joint.name] = found
        self._undo_slowdown(node, joint)
        values: dict[str, Any] = {"type": "propeller", "joint": joint.name, "sense": self._turning(node)}
        for tag, (name, default) in MOTOR.items():
            values[name] = self.child_number(node, tag, default)
        self._along_z(node, joint)
        self._rest(node, {*MOTOR, *_MOTOR_SILENT, "jointName", "linkName", "turningDirection", "timeConstantUp",
                          "timeConstantDown", "maxRotVelocity", "rotorVelocitySlowdownSim", "motorType"})  # fmt: skip
        self._add(node, _own_name(given, joint.child), values, {name: tag for tag, (name, _) in MOTOR.items()})

    def _undo_slowdown(self, node: XmlNode, joint: ModelJoint) -> None:
        slowdown = node.first("rotorVelocitySlowdownSim")
        factor = 1.0 if slowdown is None else self.text_numbers(slowdown, 1)[0]
        if slowdown is not None and factor != 1.0:
            there = f"in Gazebo the propeller of {joint.name!r} turns {factor:g} times too slowly"
            here = "here it turns at full speed and has all of its spin: see that its inertia is the true one"
            message = f"{factor:g} is undone: {there}; {here}"
            self.note(slowdown, message, "rotorVelocitySlowdownSim")

    def _turning(self, node: XmlNode) -> str:
        turning = node.first("turningDirection")
        if turning is None:
            self.wrong(node, "<plugin> needs <turningDirection>, cw or ccw")
        elif turning.text.lower() in ("cw", "ccw"):
            return turning.text.lower()
        else:
            self.wrong(turning, f"needs cw or ccw, not {turning.text!r}", "turningDirection")
        return "ccw"

    def _surface(self, node: XmlNode, given: str) -> None:
        link = self._link(node, "link_name")
        if link is None:
            return
        values: dict[str, Any] = {"type": "lift-drag", "link": link}
        for tag, default in SURFACE.items():
            values[tag] = self.child_number(node, tag, default)
        for tag, direction in (("cp", (0, 0, 0)), ("forward", (1, 0, 0)), ("upward", (0, 0, 1))):
            values[tag] = list(self.child_numbers(node, tag, 3, direction))
        values["air_density"] = self.child_number(node, "air_density", _SURFACE_DENSITY)
        values["radial_symmetry"] = (node.value("radial_symmetry") or "false").lower() in ("true", "1")
        if node.first("control_joint_name") is not None:
            joint = self._joint(node, "control_joint_name")
            if joint is not None:
                values["control_joint"] = joint.name
                values["control_slope"] = self.child_number(node, "control_joint_rad_to_cl", _SURFACE_SLOPE)
        self._rest(node, {*SURFACE, *_SURFACE_SILENT, "cp", "forward", "upward", "air_density", "radial_symmetry",
                          "link_name", "control_joint_name", "control_joint_rad_to_cl"})  # fmt: skip
        self._add(node, _own_name(given, link), values, {})

    def _thrust(self, node: XmlNode, given: str) -> None:
        """The source's plugin: K, the greatest force and the sense of rotation, which is clockwise if not given."""
        link = self._link(node, "link_name")
        if link is None:
            return
        joint = next((one for one in self.joints.values() if one.child == link), None)
        if joint is None or joint.kind == "fixed":
            self.wrong(
                node, f"link {link!r} does not turn on a joint, so there is no speed; name a propeller", "link_name"
            )
            return
        sense = {"1": "ccw", "+1": "ccw", "-1": "cw"}.get(turn := (node.value("dir") or "cw").lower(), turn)
        if sense not in ("cw", "ccw"):
            self.wrong(node.first("dir") or node, f"needs cw or ccw (or -1, 1), not {turn!r}", "dir")
            return
        values: dict[str, Any] = {"type": "propeller", "joint": joint.name, "sense": sense}
        tag = next((one for one in _THRUST_COEFFICIENTS if node.first(one) is not None), "k")
        values["coefficient"] = self.child_number(node, tag, SOURCE_COEFFICIENT)
        if node.first("force") is not None:
            values["max_force"] = self.child_number(node, "force")
        self._along_z(node, joint)
        self._rest(node, {"link_name", "force", "dir", *_THRUST_COEFFICIENTS})
        self._add(node, _own_name(given, link), values, {"max_force": "force", "coefficient": tag})

    def _controller(self, node: XmlNode, kind: str) -> None:
        """A controller of gz-sim: what it commands is an actuator's kind; the servo has gains of its own."""
        names = [self._name_of(child, self.joints.keys(), "joint") for child in node.all("joint_name")]
        if not names:
            self.wrong(node, "<plugin> needs <joint_name>, the name of a joint")
        own = node.first(OWN) or XmlNode(OWN)
        lag_down = self.child_number(own, "lag_down") if own.first("lag_down") else None
        speed = self.child_number(own, "speed") if own.first("speed") else None
        lag = self.child_number(own, "lag", 0.0)
        gains = gains_of(self, own)
        for joint in filter(None, names):
            found = ModelActuator(joint, kind, node.place, speed, lag, lag_down, gains)
            for field, message in actuator_misfits(found):
                self.wrong(own.first(field) or node, message, field)
            if not self._is_held(node, self.joints[joint]):
                self.actuators[joint] = found
        self._rest(node, {"joint_name", "joint_index", "topic", "sub_topic", "use_force_commands"})

    def _own(self, node: XmlNode, given: str, into: dict[str, Any], model: Any) -> None:
        self._validate(node, clean_name(given), _own_fields(node), {}, into, model)

    # --- what they share ---------------------------------------------------------------------------------------

    def _known(self, name: str, names: Collection[str]) -> str | None:
        """The name without the scope of a model (`cessna::wing`), where that is one of `names`."""
        parts = name.strip().split("::")
        return next((found for k in range(len(parts)) if (found := "::".join(parts[k:])) in names), None)

    def _named(self, node: XmlNode, tag: str, names: Collection[str], what: str) -> str | None:
        child = node.first(tag)
        if child is None:
            self.wrong(node, f"<plugin> needs <{tag}>, the name of a {what}")
            return None
        return self._name_of(child, names, what)

    def _name_of(self, node: XmlNode, names: Collection[str], what: str) -> str | None:
        found = self._known(node.text, names)
        if found is None:
            self.wrong(node, f"there is no {what} {node.text!r}{closest(node.text, names)}", node.tag)
        return found

    def _joint(self, node: XmlNode, tag: str) -> ModelJoint | None:
        name = self._named(node, tag, self.joints.keys(), "joint")
        return None if name is None else self.joints[name]

    def _is_held(self, node: XmlNode, joint: ModelJoint) -> bool:
        """Whether a joint cannot be commanded, as it does not move; told as a problem."""
        held = joint.kind in ("fixed", "floating")
        if held:
            self.wrong(node, f"joint {joint.name!r} is {joint.kind}; {HELD}", node.tag)
        return held

    def _link(self, node: XmlNode, tag: str) -> str | None:
        return self._named(node, tag, self.links, "link")

    def _positive(self, node: XmlNode, tag: str, default: float) -> float:
        value = self.child_number(node, tag, default)
        if value < 0:
            self.wrong(node.first(tag) or node, f"must not be negative, as {value:g} is", tag)
        return abs(value)

    def _along_z(self, node: XmlNode, joint: ModelJoint) -> None:
        """These plugins push along z of the link; here thrust goes along the joint's axis, so the two must agree."""
        if joint.axis[2] < 0.9999:
            axis = " ".join(f"{value:g}" for value in joint.axis)
            message = f"pushes along z of link {joint.child!r}, but joint {joint.name!r} turns about {axis}"
            self.wrong(node, f"{message}; turn the link's frame so that the axis is 0 0 1")

    def _rest(self, node: XmlNode, known: Collection[str]) -> None:
        for child in node.children:
            if child.tag not in known and child.tag != OWN:
                self.note(child, f"parameter <{child.tag}> of plugin {node.get('name')!r} has no effect here")

    def _add(self, node: XmlNode, name: str, values: dict[str, Any], tags: Mapping[str, str]) -> None:
        own = node.first(OWN)
        if own is not None:
            name = own.value("name") or name
            values |= {key: value for key, value in _own_fields(own).items() if key not in ("name", OWN_GAINS)}
        name, number = clean_name(name), 1
        while f"{name}_{number}" in self.elements or (number == 1 and name in self.elements):
            number += 1
        self._validate(node, name if number == 1 else f"{name}_{number}", values, tags, self.elements, AnyElement)

    def _validate(
        self,
        node: XmlNode,
        name: str,
        values: dict[str, Any],
        tags: Mapping[str, str],
        into: dict[str, Any],
        model: Any,
    ) -> None:
        if name in into:
            self.wrong(node, f"the name {name!r} is taken; give each plugin a name of its own")
            return
        try:
            found = TypeAdapter(model).validate_python(values)
        except ValidationError as error:
            for entry in error.errors(include_url=False):
                path = [str(part) for part in entry["loc"] if part != values.get("type")]
                cause = entry.get("ctx", {}).get("error")
                if isinstance(cause, Misfits):
                    for below, message in cause.found:
                        self._at(node, [*path, *(str(part) for part in below)], message, tags)
                else:
                    self._at(node, path, _complaint(entry["type"], entry["msg"], entry["input"]), tags)
            return
        if isinstance(found, UserElement):
            # Model files come from anywhere, and reading one must never run what it names.
            message = f"names a function of a user, {found.type!r}, which a model file may not; say it in the scenario"
            self.wrong(node, message, "type")
            return
        for key, names, what in (("link", self.links, "link"), ("joint", self.joints, "joint")):
            meant = getattr(found, key, None)
            if meant is not None and meant not in names:
                self._at(node, [key], f"there is no {what} {meant!r}{closest(meant, names)}", tags)
                return
            if key == "joint" and meant is not None and self._is_held(node.first("joint") or node, self.joints[meant]):
                return
        into[name] = found

    def _at(self, node: XmlNode, path: list[str], message: str, tags: Mapping[str, str]) -> None:
        tag = tags.get(path[0], path[0]) if path else ""
        self.wrong(node.first(tag) or node, message, ".".join([tag, *path[1:]]))


def gains_of(reading: XmlReading, node: XmlNode) -> dict[str, float]:
    """Of a servo, in a block of our own."""
    return {key: reading.child_number(node, key) for key in GAINS if node.first(key) is not None}


def actuator_misfits(actuator: ModelActuator) -> list[tuple[str, str]]:
    """Values that no actuator has: the field and what is wrong with it."""
    given = {"kind": actuator.kind, "speed": actuator.speed, "lag": actuator.lag, "lag_down": actuator.lag_down}
    given |= actuator.gains
    try:
        ActuatorSpec.model_validate(given)
    except ValidationError as error:
        # A value without effect, which is a complaint about the whole, is no mistake in a file made for others.
        entries = [one for one in error.errors(include_url=False) if one["loc"]]
        return [(str(one["loc"][0]), _complaint(one["type"], one["msg"], one["input"])) for one in entries]
    return []


def _complaint(kind: str, message: str, value: Any) -> str:
    if kind == "missing":
        return "is missing; give it"
    if isinstance(value, dict) and kind.startswith("union_tag"):
        return f"unknown type {value.get('type')!r}; give that of an element or sensor of Botz"
    return f"{message.replace('Input should be', 'must be')}, not {value!r}"


def _is_thrust(node: XmlNode) -> bool:
    tags = {child.tag for child in node.children}
    return {"link_name", "force", "dir"} <= tags


def _own_name(given: str, instead: str) -> str:
    """gz-sim names plugins by their class, which tells none apart; then what it acts on names the element."""
    return instead if "::" in given or not given else given


def _own_fields(node: XmlNode) -> dict[str, Any]:
    """Children of a block of our own: numbers and lists as JSON, other words as they are."""
    found: dict[str, Any] = {}
    for child in node.children:
        try:
            found[child.tag] = json.loads(child.text)
        except ValueError:
            found[child.tag] = child.text
    return found
