"""From a force element of a scenario or a model file to one that the loop can call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, assert_never

from botz.engines.multibody.elements.aero import PROPELLER, SURFACE, propeller_numbers, surface_numbers
from botz.engines.multibody.elements.base import BuiltElement, ElementKind, packed, parameters_from
from botz.engines.multibody.elements.joints import DC_MOTOR, JOINT_FRICTION, friction_numbers, motor_numbers
from botz.engines.multibody.elements.user import check_compiles, user_kind
from botz.errors import InputError, Problem
from botz.models.robot_model import ModelJoint
from botz.scenario.multibody.elements import (
    AnyElement,
    DcMotorElement,
    LiftDrag,
    LugreElement,
    Propeller,
    UserElement,
    VehicleWheels,
)
from botz.scenario.names import closest

TURNING = ("revolute", "continuous")
MOVING = (*TURNING, "prismatic")


class Robot(NamedTuple):
    """What of a robot its elements refer to by name."""

    links: Collection[str]
    joints: Mapping[str, ModelJoint]


def built(
    name: str,
    spec: AnyElement,
    robot: str,
    links: Collection[str],
    joints: Mapping[str, ModelJoint],
    *,
    allow_user_code: bool = True,
) -> BuiltElement:
    """The element `name` of the robot of that name, whose links and joints are given.

    Raises InputError at `robots.ROBOT.elements.NAME…` where it refers to what is not there, or where a user's element
    cannot be had. A user's file is imported only with `allow_user_code`.
    """
    key = f"robots.{robot}.elements.{name}"
    whole = Robot(links, joints)
    match spec:
        case Propeller():
            joint = _joint(whole, spec.joint, TURNING, f"{key}.joint")
            return _built_in(name, PROPELLER, propeller_numbers(spec), key, joint.child, joint.name)
        case LiftDrag():
            link = _link(whole, spec.link, f"{key}.link")
            flap = spec.control_joint
            if flap is not None:
                _joint(whole, flap, MOVING, f"{key}.control_joint")
            return _built_in(name, SURFACE, surface_numbers(spec), key, link, flap or "")
        case DcMotorElement():
            joint = _joint(whole, spec.joint, TURNING, f"{key}.joint")
            return _built_in(name, DC_MOTOR, motor_numbers(spec), key, joint.child, joint.name)
        case LugreElement():
            joint = _joint(whole, spec.joint, MOVING, f"{key}.joint")
            return _built_in(name, JOINT_FRICTION, friction_numbers(spec), key, joint.child, joint.name)
        case VehicleWheels():
            _link(whole, spec.link, f"{key}.link")
            from botz.engines.multibody.elements.wheels import built_wheels

            return built_wheels(name, spec, key)
        case UserElement():
            return _users(name, spec, whole, key, allow_user_code)
        case _:
            assert_never(spec)


def _built_in(name: str, kind: ElementKind, numbers: Any, key: str, link: str, joint: str) -> BuiltElement:
    return BuiltElement(name, kind, packed(numbers, key), link, joint, input_owner=joint or name)


def _link(robot: Robot, name: str, key: str) -> str:
    if name not in robot.links:
        raise InputError(Problem(f"no link {name!r}{closest(name, robot.links)}", key=key))
    return name


def _joint(robot: Robot, name: str, kinds: tuple[str, ...], key: str) -> ModelJoint:
    fitting = [one for one, joint in robot.joints.items() if joint.kind in kinds]
    what = "turns" if kinds == TURNING else "moves"
    if name not in robot.joints:
        raise InputError(Problem(f"no joint {name!r} that {what}{closest(name, fitting)}", key=key))
    joint = robot.joints[name]
    if joint.kind not in kinds:
        message = f"joint {name!r} is {joint.kind}; needs one that {what}{closest('', fitting)}"
        raise InputError(Problem(message, key=key))
    return joint


def _users(name: str, spec: UserElement, robot: Robot, key: str, allowed: bool) -> BuiltElement:
    joint = None if spec.joint is None else _joint(robot, spec.joint, MOVING, f"{key}.joint")
    link = joint.child if joint is not None else ""
    if spec.link is not None:
        link = _link(robot, spec.link, f"{key}.link")
    kind = user_kind(spec.type, key=f"{key}.type", allowed=allowed)
    below = f"{key}.parameters"
    parameters = packed(parameters_from(kind, spec.parameters, below), below)
    check_compiles(kind, parameters.dtype, name, key=f"{key}.type")
    return BuiltElement(name, kind, parameters, link, "" if joint is None else joint.name, input_owner=name)
