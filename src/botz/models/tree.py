"""Whether links and joints of a model file make a tree, and whether what moves has a mass that bodies can have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from botz.errors import Problem
from botz.models.robot_model import NOWHERE, Inertial, ModelJoint, ModelLink, Place, RobotModel
from botz.scenario.names import closest
from botz.scenario.rigid_body import impossible_inertia
from botz.transforms import inverse

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


def bodiless(model: RobotModel) -> set[str]:
    """Links without mass between two joints that move, which need none: in MuJoCo those joints move one body.

    What touches something, feels forces or carries a sensor needs a body, and so do links where the way branches.
    """
    if model.native is not None:
        return {name for name in model.links if model.native.body(name) is None}
    needed = {getattr(one, "link", None) for one in (*model.elements.values(), *model.sensors.values())}
    found: set[str] = set()
    light: set[str] = set()
    for group in reversed(rigid_groups(model)[1:]):  # those below come first
        below = [joint.child for link in group for joint in model.children(link) if joint.kind != "fixed"]
        touched = any(shape.collision for link in group for shape in model.links[link].shapes)
        if not massless(model, group):
            continue
        if len(below) == 1 and below[0] not in light and not touched and not needed.intersection(group):
            found.update(group)
        else:
            light.add(group[0])
    return found


def body_chains(model: RobotModel) -> list[list[ModelJoint]]:
    """For each link with a body, but the root's: the joints from the next body above to it, outermost first. Bodies
    come after those that carry them."""
    left_out = bodiless(model)
    carrier = {joint.child: joint for joint in model.joints.values()}
    found = []
    waiting = [model.root]
    for link in waiting:
        for joint in model.children(link):
            waiting.append(joint.child)
            if joint.child not in left_out:
                chain = [joint]
                while chain[0].parent in left_out:
                    chain.insert(0, carrier[chain[0].parent])
                found.append(chain)
    return found


def frames_in_body(chain: Sequence[ModelJoint]) -> list[np.ndarray]:
    """Where the joints of a chain are in the frame of the body that they move (4, 4)."""
    found = [np.eye(4)]
    for joint in reversed(chain[1:]):
        found.insert(0, found[0] @ inverse(joint.pose))
    return found


def summed(model: RobotModel, group: Iterable[str]) -> Inertial | None:
    """Mass and inertia of links that fixed joints make one body, in the frame of the first; None without mass."""
    carrier = {joint.child: joint for joint in model.joints.values()}
    poses: dict[str, np.ndarray] = {}
    parts: list[tuple[float, np.ndarray, np.ndarray]] = []
    for link in group:  # parents come first
        pose = poses[carrier[link].parent] @ carrier[link].pose if poses else np.eye(4)
        poses[link] = pose
        if (one := model.links[link].inertial) is not None:
            turn = pose[:3, :3]
            parts.append((one.mass, turn @ one.centre + pose[:3, 3], turn @ one.inertia @ turn.T))
    mass = sum(part[0] for part in parts)
    if not mass > 0.0:
        return None
    centre = np.sum([part[0] * part[1] for part in parts], axis=0) / mass
    tensor = np.zeros((3, 3))
    for weight, where, inertia in parts:
        d = where - centre
        tensor += inertia + weight * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertial(mass, centre, (tensor + tensor.T) / 2)


def possible(model: RobotModel, group: Sequence[str]) -> bool:
    """Whether links that are one body have together a mass and a tensor that a body can have."""
    weights = [one.mass for link in group if (one := model.links[link].inertial) is not None]
    whole = summed(model, group)
    return min(weights, default=0.0) > 0.0 and whole is not None and wrong_inertia(whole) is None


def lumped(model: RobotModel, *, fixed: bool = False) -> RobotModel:
    """The model for solvers that look at every link: where a link has a tensor that no body can have, the first of the
    links that are one body with it holds the sum of all, which alone decides how they move. Of a base that is fixed
    nothing moves."""
    links = dict(model.links)
    moving = {group[0] for group in moving_groups(model, fixed=fixed)}
    for group in rigid_groups(model):
        wrong = [link for link in group if (one := links[link].inertial) is not None and wrong_inertia(one)]
        if not wrong:
            continue
        if group[0] not in moving:
            links |= {link: replace(links[link], inertial=None) for link in wrong}
        elif possible(model, group):
            whole = summed(model, group)
            links |= {link: replace(links[link], inertial=None) for link in group}
            links[group[0]] = replace(links[group[0]], inertial=whole)
    return replace(model, links=links)


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
    """Links that move and cannot, because of their masses; at the line where they stand. Of links that are one body
    only the sum counts."""
    found = []
    left_out = bodiless(model)
    for group in moving_groups(model, fixed=fixed):
        if group[0] in left_out:
            continue
        heavy = [link for link in group if model.links[link].inertial is not None]
        if not heavy:
            remedy = "give the robot 'base: fixed'" if group[0] == model.root else "fix its joint"
            message = f"moves, but has no mass; give it an <inertial> with mass and inertia, or {remedy}"
            found.append(model.links[group[0]].place.problem(message, f"link {group[0]}"))
        elif not possible(model, group):
            found += list(_wrong(model, heavy))
    return found


def _wrong(model: RobotModel, links: Iterable[str]) -> Iterable[Problem]:
    for link in links:
        inertial = model.links[link].inertial
        if inertial is not None and (complaint := wrong_inertia(inertial)):
            place = inertial.place if inertial.place.line is not None else model.links[link].place
            yield place.problem(complaint, f"link {link}")
