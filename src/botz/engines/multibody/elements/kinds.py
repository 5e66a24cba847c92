"""From a force element of a scenario or a model file to one that the loop can call."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from botz.engines.multibody.elements.base import BuiltElement, ElementKind, packed, parameters_from, parameters_of
from botz.engines.multibody.elements.user import check_compiles, user_kind
from botz.errors import InputError, Problem
from botz.models.robot_model import ModelJoint
from botz.registry import imported
from botz.scenario.multibody.elements import Element, NamesPart, UserElement
from botz.scenario.names import closest
from botz.scenario.problems import field_type, metadata


def built(
    name: str,
    spec: Element,
    robot: str,
    links: Collection[str],
    joints: Mapping[str, ModelJoint],
    *,
    allow_user_code: bool = True,
) -> BuiltElement:
    """The element `name` of the robot of that name, whose links and joints are given.

    Raises InputError at `robots.ROBOT.elements.NAME…` where it refers to what is not there, or where its function
    cannot be had. A user's file is imported only with `allow_user_code`.
    """
    key = f"robots.{robot}.elements.{name}"
    link, joint = _acts_on(spec, links, joints, key)
    if isinstance(spec, UserElement):
        kind = user_kind(spec.type, key=f"{key}.type", allowed=allow_user_code)
        below = f"{key}.parameters"
        parameters = packed(parameters_from(kind, spec.parameters, below), below)
    else:
        kind = _kind_of(spec, key)
        parameters = packed(parameters_of(kind, spec, key), key)
    if not kind.cached:
        check_compiles(kind, parameters.dtype, name, key=f"{key}.type")
    return BuiltElement(name, kind, parameters, link, joint)


def _kind_of(spec: Element, key: str) -> ElementKind:
    found = imported(spec.implementation)
    kind: ElementKind = found if isinstance(found, ElementKind) else found(spec, key)
    return kind


def _acts_on(spec: Element, links: Collection[str], joints: Mapping[str, ModelJoint], key: str) -> tuple[str, str]:
    """The link and the joint, '' for none, that the keys of an element name: the first of each. Of a joint alone it is
    the link that the joint moves."""
    named: dict[bool, str] = {}
    problems: list[Problem] = []
    for part, mark, given in _parts_named(spec):
        message = _joint_misfit(given, joints, mark.joints) if mark.joints else _link_misfit(given, links)
        if message:
            problems.append(Problem(message, key=f"{key}.{part}"))
        named.setdefault(bool(mark.joints), given)
    if not named:
        problems.append(Problem("names no link and no joint of the robot", key=key))
    if problems:
        raise InputError(problems)
    joint = named.get(True, "")
    return named[False] if False in named else joints[joint].child, joint


def _parts_named(spec: Element) -> Iterator[tuple[str, NamesPart, str]]:
    for key, field in type(spec).model_fields.items():
        for mark in metadata(field_type(field)):
            if isinstance(mark, NamesPart) and getattr(spec, key) is not None:
                yield key, mark, getattr(spec, key)


def _link_misfit(name: str, links: Collection[str]) -> str:
    return "" if name in links else f"no link {name!r}{closest(name, links)}"


def _joint_misfit(name: str, joints: Mapping[str, ModelJoint], kinds: tuple[str, ...]) -> str:
    fitting = [one for one, joint in joints.items() if joint.kind in kinds]
    what = "moves" if "prismatic" in kinds else "turns"
    if name not in joints:
        return f"no joint {name!r} that {what}{closest(name, fitting)}"
    if joints[name].kind not in kinds:
        return f"joint {name!r} is {joints[name].kind}; needs one that {what}{closest('', fitting)}"
    return ""
