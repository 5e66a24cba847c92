"""The neutral model of a robot that is written out in a scenario or robot file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, assert_never

import numpy as np

from botz.errors import InputError, Problem
from botz.models.robot_model import Inertial, ModelJoint, ModelLink, ModelShape, RobotModel
from botz.models.tree import bodiless, moving_groups
from botz.scenario.multibody.schema import JointSpec, LinkSpec, MultibodyRobot
from botz.scenario.shapes import AnyShape, BoxShape, CapsuleShape, CylinderShape, MeshShape, SphereShape
from botz.transforms import transform


def model_of(robot: MultibodyRobot, name: str, key: str, *, check_inertia: bool = True) -> RobotModel:
    """The model of the robot's `links` and `joints`; `key` is the robot's place in its document, for messages.

    With `check_inertia` what moves must have a mass.
    """
    problems = list(_tree_problems(robot, key))
    if problems:
        raise InputError(problems)
    model = RobotModel(
        name=name,
        links={link: _link(link, spec, f"{key}.links.{link}") for link, spec in robot.links.items()},
        joints={joint: _joint(joint, spec, f"{key}.joints.{joint}") for joint, spec in robot.joints.items()},
        fixed_base=robot.base == "fixed",
        format="yaml",
    )
    if check_inertia and (problems := list(_massless(model, key))):
        raise InputError(problems)
    return model


def _massless(model: RobotModel, key: str) -> Iterator[Problem]:
    left_out = bodiless(model)
    for group in moving_groups(model):
        if group[0] not in left_out and all(model.links[link].inertial is None for link in group):
            how = "fix its joint" if group[0] != model.root else "say 'base: fixed'"
            yield Problem(f"moves, but has no mass; give it one, or {how}", key=f"{key}.links.{group[0]}.mass")


def _tree_problems(robot: MultibodyRobot, key: str) -> list[Problem]:
    """Every link but one hangs on exactly one joint, and no joint hangs on itself."""
    found = []
    carrier: dict[str, str] = {}
    for name, joint in robot.joints.items():
        if joint.child in carrier:
            message = f"link {joint.child!r} already hangs on joint {carrier[joint.child]!r}; a link hangs on one"
            found.append(Problem(message, key=f"{key}.joints.{name}.child"))
        carrier[joint.child] = name
    roots = [link for link in robot.links if link not in carrier]
    if len(roots) > 1:
        message = f"{', '.join(roots)} hang on no joint; only one root may, the others need a joint that carries them"
        found.append(Problem(message, key=f"{key}.links"))
    reached = set(roots[:1])
    while True:
        more = {joint.child for joint in robot.joints.values() if joint.parent in reached} - reached
        if not more:
            break
        reached |= more
    circle = [name for name, joint in robot.joints.items() if joint.child not in reached]
    if circle and len(roots) <= 1:
        message = "goes round in a circle: following the parents never leads to a root"
        found.append(Problem(message, key=f"{key}.joints.{circle[0]}"))
    return found


def _joint(name: str, spec: JointSpec, key: str) -> ModelJoint:
    axis = np.asarray(spec.axis)
    length = float(np.linalg.norm(axis))
    if not 1e-9 < length < 1e9:
        raise InputError(Problem(f"needs a direction, as [0, 0, 1]; this is {length:g} long", key=f"{key}.axis"))
    if spec.range is not None and spec.range[0] > spec.range[1]:
        raise InputError(Problem(f"begins at {spec.range[0]:g}, after its end {spec.range[1]:g}", key=f"{key}.range"))
    if spec.type == "revolute" and spec.range is None:
        raise InputError(Problem("a revolute joint has a range; without one it is 'continuous'", key=f"{key}.range"))
    x, y, z = (float(one) for one in axis / length)
    lower, upper = spec.range or (None, None)
    return ModelJoint(
        name, spec.type, spec.parent, spec.child, transform(*spec.pose), (x, y, z), lower, upper,
        spec.speed, spec.effort, spec.damping, spec.friction, spec.armature,
    )  # fmt: skip


def _link(name: str, spec: LinkSpec, key: str) -> ModelLink:
    shapes = tuple(shape_of(shape, f"{key}.shapes.{k}") for k, shape in enumerate(spec.shapes))
    return ModelLink(name, _inertial(spec, shapes, key), shapes)


def _inertial(spec: LinkSpec, shapes: tuple[ModelShape, ...], key: str) -> Inertial | None:
    if spec.mass == 0.0:
        return None
    centre = np.asarray(spec.centre, dtype=float)
    if spec.inertia is not None:
        ixx, iyy, izz, ixy, ixz, iyz = [*spec.inertia, 0.0, 0.0, 0.0][:6]
        tensor = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        if not np.linalg.eigvalsh(tensor)[0] > 0.0:
            message = "a link with mass has three positive moments; leave it out to take the shapes' own"
            raise InputError(Problem(message, key=f"{key}.inertia"))
        return Inertial(spec.mass, centre, tensor)
    if not shapes:
        message = f"a mass of {spec.mass:g} kg needs an inertia, or a shape to take it from"
        raise InputError(Problem(message, key=f"{key}.inertia"))
    from botz.models.meshes.mesh import shapes_properties

    try:
        found = shapes_properties(shapes, spec.mass)
    except InputError as error:
        raise InputError([replace(one, key=f"{key}.shapes") for one in error.problems]) from None
    if "centre" in spec.model_fields_set:
        # The tensor is about the shapes' own centre; about another one the parallel-axis theorem adds m d².
        d = centre - found.centre
        return Inertial(spec.mass, centre, found.inertia + spec.mass * (d @ d * np.eye(3) - np.outer(d, d)))
    return found


def shape_of(shape: AnyShape, key: str) -> ModelShape:
    """The neutral shape of one that a user wrote."""
    colour = None
    if shape.colour is not None:
        red, green, blue, alpha = [*shape.colour, 1.0][:4]
        colour = (red, green, blue, alpha)
    common: dict[str, Any] = {
        "pose": transform(*shape.pose),
        "visual": shape.role != "collision",
        "collision": shape.role != "visual",
        "colour": colour,
        "friction": shape.friction,
    }
    match shape:
        case BoxShape():
            return ModelShape("box", tuple(shape.size), **common)
        case SphereShape():
            return ModelShape("sphere", (shape.radius,), **common)
        case CylinderShape():
            return ModelShape("cylinder", (shape.radius, shape.length), **common)
        case CapsuleShape():
            return ModelShape("capsule", (shape.radius, shape.length), **common)
        case MeshShape():
            sx, sy, sz = shape.scale
            if 0.0 in (sx, sy, sz):
                message = f"a scale of 0 leaves nothing of the mesh, as {list(shape.scale)}; needs numbers other than 0"
                raise InputError(Problem(message, key=f"{key}.scale"))
            return ModelShape("mesh", (), file=Path(shape.file), scale=(sx, sy, sz), **common)
        case _:
            assert_never(shape)
