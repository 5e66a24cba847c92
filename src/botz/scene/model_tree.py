"""Whether links and joints of a model file make a tree, and whether what moves has a mass that bodies can have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from botz.errors import Problem
from botz.scenario.names import closest
from botz.scenario.rigid_body import impossible_inertia
from botz.scene.robot_model import NOWHERE, Inertial, ModelJoint, ModelLink, Place, RobotModel

MOST_LINKS = 1000


def too_many(links: int) -> str:
    return f"has {links} links; a robot has {MOST_LINKS} at most: make several, or one of links that do not move"


def tree_problems(
    links: Mapping[str, ModelLink], joints: Mapping[str, ModelJoint], place: Place = NOWHERE
) -> list[Problem]:
    """Every joint joins two links that there are, every link but one hangs on exactly one joint, and none on itself."""
    if not links:
        return [place.problem("has no link; a robot needs one at least")]
    if len(links) > MOST_LINKS:
        return [place.problem(too_many(len(links)))]
    found = []
    carrier: dict[str, ModelJoint] = {}
    for joint in joints.values():
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                message = f"its {end} {link!r} is not a link of the model{closest(link, links)}"
                found.append(joint.place.problem(message, f"joint {joint.name}"))
        if joint.child in carrier:
            other = carrier[joint.child]
            where = "" if other.place.line is None else f" (line {other.place.line})"
            message = f"link {joint.child!r} has two parents: it already hangs on joint {other.name!r}{where}; keep one"
            found.append(joint.place.problem(message, f"joint {joint.name}"))
        else:
            carrier[joint.child] = joint
    if found:
        return found
    roots = [link for link in links if link not in carrier]
    for root in roots[1:]:
        message = f"hangs on no joint, as {roots[0]!r} does; only one link may, so join it by a joint or remove it"
        found.append(links[root].place.problem(message, f"link {root}"))
    circle = _circle(carrier)
    if circle:
        way = " → ".join([*(joint.name for joint in circle), circle[0].name])
        message = f"joints go round in a circle: {way}; a robot is a tree, so cut one of them"
        found.append(circle[0].place.problem(message, f"joint {circle[0].name}"))
    return found


def _circle(carrier: Mapping[str, ModelJoint]) -> list[ModelJoint]:
    """Joints of one cycle, from parent to child; empty where following the parents always ends."""
    safe: set[str] = set()
    for start in carrier:
        path: list[str] = []
        link = start
        while link in carrier and link not in safe:
            if link in path:
                circle = [carrier[one] for one in reversed(path[path.index(link) :])]
                first = min(range(len(circle)), key=lambda k: circle[k].place.line or 0)
                return circle[first:] + circle[:first]
            path.append(link)
            link = carrier[link].parent
        safe.update(path)
    return []


def rigid_groups(model: RobotModel) -> list[list[str]]:
    """Links that fixed joints make one body, each with the link nearest to the root first."""
    groups: list[list[str]] = []
    waiting = [model.root]
    while waiting:
        group = [waiting.pop()]
        for link in group:
            for joint in model.children(link):
                (group if joint.kind == "fixed" else waiting).append(joint.child)
        groups.append(group)
    return groups


def moving_groups(model: RobotModel, *, fixed: bool = False) -> list[list[str]]:
    """Groups of links that move: all but the root's where that is tied to the world, by the file or by `fixed`."""
    groups = rigid_groups(model)
    return groups[1:] if fixed or model.fixed_base else groups


def massless(model: RobotModel, links: Iterable[str]) -> bool:
    return all(model.links[link].inertial is None for link in links)


def tied_if_massless(model: RobotModel) -> RobotModel:
    """The model, tied to the world and with a note where its root has no mass: free it could not move."""
    root = rigid_groups(model)[0]
    if model.fixed_base or model.native is not None or not massless(model, root):
        return model
    message = "has no mass, so the robot is taken as fixed to the world: a scenario needs 'base: fixed'"
    note = model.links[root[0]].place.problem(message, f"link {root[0]}")
    return replace(model, fixed_base=True, notes=(*model.notes, note))


def wrong_inertia(inertial: Inertial) -> str | None:
    """What no body with this mass can have; None where one can."""
    tensor = inertial.inertia
    if not inertial.mass > 0.0:
        return f"has the mass {inertial.mass:g} kg; it must be positive"
    if not np.any(tensor):
        return "has mass, but a zero inertia tensor; give it, or fill it in by `botz model convert --fill-inertia`"
    ixx, iyy, izz = np.diag(tensor)
    if complaint := impossible_inertia([ixx, iyy, izz, tensor[0, 1], tensor[0, 2], tensor[1, 2]]):
        return f"{complaint}; compute it from the mesh by `botz mesh`, or by `botz model convert --fill-inertia`"
    if np.linalg.eigvalsh(tensor)[0] <= 0.0:
        return "has a moment of inertia of 0 about some axis; give a body of some thickness"
    return None


def inertia_problems(model: RobotModel, *, fixed: bool = False) -> list[Problem]:
    """Links that move and cannot, because of their masses; at the line where they stand."""
    found = []
    for group in moving_groups(model, fixed=fixed):
        heavy = [link for link in group if model.links[link].inertial is not None]
        if not heavy:
            remedy = "give the robot 'base: fixed'" if group[0] == model.root else "fix its joint"
            message = f"moves, but has no mass; give it an <inertial> with mass and inertia, or {remedy}"
            found.append(model.links[group[0]].place.problem(message, f"link {group[0]}"))
        found += list(_wrong(model, heavy))
    return found


def _wrong(model: RobotModel, links: Iterable[str]) -> Iterable[Problem]:
    for link in links:
        inertial = model.links[link].inertial
        if inertial is not None and (complaint := wrong_inertia(inertial)):
            place = inertial.place if inertial.place.line is not None else model.links[link].place
            yield place.problem(complaint, f"link {link}")
