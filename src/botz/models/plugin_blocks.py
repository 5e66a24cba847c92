"""Force elements, sensors and actuators as plugin blocks, the way `plugins.py` reads them.

An element becomes the block of the Gazebo plugin that does the same, with what that does not know in a <botz> child,
which Gazebo passes over. Elements that Gazebo has no plugin for become blocks of Botz' own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from botz.models.plugins import MOTOR, OWN_ELEMENT, OWN_GAINS, OWN_SENSOR, SURFACE
from botz.models.robot_model import ModelActuator, ModelJoint
from botz.models.xml_tree import OWN, XmlNode, shown
from botz.scenario.multibody.elements import Element, LiftDrag, Propeller
from botz.scenario.multibody.sensors import Sensor

_SYSTEMS = {
    "position": ("gz-sim-joint-position-controller-system", "JointPositionController"),
    "velocity": ("gz-sim-joint-controller-system", "JointController"),
    "effort": ("gz-sim-apply-joint-force-system", "ApplyJointForce"),
}


def element_block(
    name: str, element: Element, joints: Mapping[str, ModelJoint], actuators: Mapping[str, ModelActuator]
) -> XmlNode:
    """The <plugin> of an element."""
    if isinstance(element, LiftDrag):
        return _surface(name, element)
    if isinstance(element, Propeller):
        actuator, joint = actuators.get(element.joint), joints[element.joint]
        speed = (actuator.speed or joint.speed) if actuator is not None and actuator.kind == "velocity" else None
        if actuator is not None and speed is not None and element.coefficient is not None and joint.axis[2] > 0.9999:
            return _motor(name, element, joint, actuator, speed)
    return _own(name, element, OWN_ELEMENT)


def sensor_block(name: str, sensor: Sensor) -> XmlNode:
    """The <plugin> of a sensor."""
    return _own(name, sensor, OWN_SENSOR)


def actuator_block(actuator: ModelActuator) -> XmlNode:
    """The <plugin> of an actuator, for files without transmissions."""
    filename, system = _SYSTEMS[actuator.kind]
    node = XmlNode("plugin", {"filename": filename, "name": f"gz::sim::systems::{system}"})
    node.add("joint_name", actuator.joint)
    more: dict[str, Any] = {}
    if actuator.speed is not None:
        more["speed"] = actuator.speed
    if actuator.lag:
        more["lag"] = actuator.lag
    if actuator.lag_down is not None:
        more["lag_down"] = actuator.lag_down
    more |= actuator.gains
    if more:
        _fields(node.add(OWN), more)
    return node


def _motor(name: str, element: Propeller, joint: ModelJoint, actuator: ModelActuator, speed: float) -> XmlNode:
    filename, system = "gz-sim-multicopter-motor-model-system", "gz::sim::systems::MulticopterMotorModel"
    node = XmlNode("plugin", {"filename": filename, "name": system})
    node.add("jointName", joint.name)
    node.add("linkName", joint.child)
    node.add("turningDirection", element.sense)
    node.add("motorType", "velocity")
    node.add("maxRotVelocity", shown(speed))
    node.add("timeConstantUp", shown(actuator.lag))
    node.add("timeConstantDown", shown(actuator.lag if actuator.lag_down is None else actuator.lag_down))
    for tag, (key, _) in MOTOR.items():
        node.add(tag, shown(getattr(element, key)))
    node.add("rotorVelocitySlowdownSim", "1")
    said = {"type", "joint", "sense", *(key for key, _ in MOTOR.values())}
    own = node.add(OWN)
    _fields(own, {"name": name, **_beyond(element, said)})
    if actuator.gains:
        _fields(own.add(OWN_GAINS), actuator.gains)
    return node


def _surface(name: str, element: LiftDrag) -> XmlNode:
    node = XmlNode("plugin", {"filename": "gz-sim-lift-drag-system", "name": "gz::sim::systems::LiftDrag"})
    node.add("link_name", element.link)
    for tag in SURFACE:
        node.add(tag, shown(getattr(element, tag)))
    for tag in ("cp", "forward", "upward"):
        node.add(tag, shown(*getattr(element, tag)))
    node.add("radial_symmetry", "true" if element.radial_symmetry else "false")
    more: dict[str, Any] = {"name": name}
    if element.air_density is None:
        more["air_density"] = None
    else:
        node.add("air_density", shown(element.air_density))
    if element.control_joint is not None:
        node.add("control_joint_name", element.control_joint)
        node.add("control_joint_rad_to_cl", shown(element.control_slope))
    said = {"type", "link", "cp", "forward", "upward", "radial_symmetry", "air_density", "control_joint", *SURFACE}
    if element.control_joint is not None:
        said.add("control_slope")
    _fields(node.add(OWN), more | _beyond(element, said))
    return node


def _own(name: str, thing: BaseModel, filename: str) -> XmlNode:
    node = XmlNode("plugin", {"name": name, "filename": filename})
    _fields(node, {"type": getattr(thing, "type"), **_beyond(thing, {"type"})})  # noqa: B009
    return node


def _beyond(thing: BaseModel, said: set[str]) -> dict[str, Any]:
    """What differs from the defaults and is not said yet."""
    return thing.model_dump(mode="json", exclude=said, exclude_defaults=True)


def _fields(node: XmlNode, values: Mapping[str, Any]) -> None:
    """Values as children: text as it is where it cannot be taken for JSON, all else as JSON."""
    for key, value in values.items():
        node.add(key, value if isinstance(value, str) and not _is_json(value) else json.dumps(value))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return text != text.strip() or not text
    return True
