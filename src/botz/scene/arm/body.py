"""What a serial arm looks like that is known by its joints alone: housings on the axes, tubes between them, a pedestal,
and a gripper or a pointer at its end. Sizes follow from the reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from botz.scenario.arm.schema import Arm, Gripper, Joint
from botz.scene.parts import facing, placed
from botz.scene.shapes import moved, prism
from botz.scene.tessellation import lathe
from botz.scene.world_scene import HERE, Place, Shape, TriangleMesh
from botz.transforms import posed, rotation_about, transform

THICK, THIN = 0.055, 0.027
"""Radius of the first and of the last joint's housing, by the reach."""
TUBE = 0.7
"""Radius of a tube by that of its housing."""
LONG = 5.0
"""An offset along the axis that is longer than this many radii is a link, a shorter one lengthens the housing."""
FINGER = 0.42
"""Thickness of a finger by the width of its pad."""
HAND = 2.3
"""Length of a gripper behind the middle of its pads, by their length."""
PEDESTAL = 0.62
"""Height of a pedestal that stands on nothing else, by the reach."""


def reach_of(robot: Arm) -> float:
    """Lengths of all links and the tool, slides at their longest [m]."""
    found = float(np.linalg.norm(robot.tool.position))
    for joint in robot.joints.values():
        slide = max(abs(end) for end in joint.range) if joint.type == "prismatic" and joint.range else 0.0
        found += abs(joint.a) + abs(joint.d) + slide
    return max(found, 1e-3)


def before_joint(joint: Joint) -> np.ndarray:
    """What of a row of Denavit and Hartenberg's table comes before the joint's own motion: the fixed angle."""
    return posed(rotation_about(np.array([0.0, 0.0, 1.0]), joint.theta), np.zeros(3))


def after_joint(joint: Joint) -> np.ndarray:
    """What comes after it: d along z, a along x, and the turn by α about x."""
    return posed(rotation_about(np.array([1.0, 0.0, 0.0]), joint.alpha), np.array([joint.a, 0.0, joint.d]))


def tool_of(robot: Arm) -> np.ndarray:
    x, y, z = robot.tool.position
    return transform(x, y, z, *robot.tool.attitude)


@dataclass(frozen=True)
class Look:
    """Names of materials."""

    paint: str
    joint: str
    accent: str


# --- solids --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def barrel(radius: float, low: float, high: float, edge: float) -> TriangleMesh:
    """A cylinder along z with rounded rims."""
    rim = [(edge * (1.0 - np.sin(a)), edge * (1.0 - np.cos(a))) for a in np.linspace(0.0, np.pi / 2, 5)]
    lower = [(radius - x, low + y) for x, y in rim]
    upper = [(radius - x, high - y) for x, y in reversed(rim)]
    return lathe([(0.0, low), *lower, *upper, (0.0, high)])


def tube(start: np.ndarray, end: np.ndarray, first: float, last: float, material: str) -> Shape:
    """A tapered tube from one point to another, closed by rounded ends."""
    way = end - start
    length = float(np.linalg.norm(way))
    angles = np.linspace(0.0, np.pi / 2, 6)
    lower = [(first * np.sin(a), -0.35 * first * np.cos(a)) for a in angles]
    upper = [(last * np.cos(a), length + 0.35 * last * np.sin(a)) for a in angles]
    mesh = lathe([(0.0, lower[0][1]), *lower[1:], *upper[:-1], (0.0, upper[-1][1])])
    return Shape("mesh", place=facing(start.tolist(), way.tolist()), material=material, mesh=mesh)


def ring(radius: float, middle: float, width: float, material: str) -> Shape:
    """A band about z."""
    mesh = barrel(radius, middle - width / 2, middle + width / 2, 0.2 * min(width, radius))
    return Shape("mesh", material=material, mesh=mesh)


# --- links ---------------------------------------------------------------------------------------------------


def radii(robot: Arm) -> list[float]:
    """Of the joints' housings, from the base to the tool, and once more for the tool."""
    size, n = reach_of(robot), len(robot.joints)
    return [size * float(value) for value in np.linspace(THICK, THIN, n + 1)]


def link_shapes(joint: Joint, radius: float, following: float, look: Look, *, first: bool = False) -> list[Shape]:
    """A joint's housing and its link, in the frame that turns with it: z is the axis, and the link goes along z by d,
    then along x by a. `following` is the next housing's radius; the first joint's stands on the pedestal."""
    found: list[Shape] = []
    corner = np.array([0.0, 0.0, joint.d])
    end = np.array([joint.a, 0.0, joint.d])
    slides = joint.type == "prismatic"
    if abs(joint.d) > LONG * radius or slides:
        if abs(joint.d) > radius:
            found.append(tube(np.zeros(3), corner, TUBE * radius, TUBE * following, look.paint))
        side = 1.0 if joint.d >= 0.0 else -1.0
        found.append(ring(0.86 * radius, 1.5 * side * radius, 0.5 * radius, look.accent))
    else:
        low, high = min(0.0, joint.d) - 1.12 * radius, max(0.0, joint.d) + 1.12 * radius
        if first and abs(joint.a) < radius and abs(joint.d) < radius:
            # The next joint sits right upon it: its own upper half would be in the way.
            found.append(Shape("mesh", material=look.paint, mesh=barrel(radius, low, 0.3 * radius, 0.16 * radius)))
        else:
            found += housing(radius, low, high, look)
    if abs(joint.a) > 0.5 * radius:
        found.append(tube(corner, end, TUBE * radius, TUBE * following, look.paint))
        middle = facing(corner + 0.5 * (end - corner), (end - corner) / abs(joint.a))
        if abs(joint.a) > 4.0 * radius:
            band = barrel(0.5 * TUBE * (radius + following) * 1.03, -0.22 * radius, 0.22 * radius, 0.02 * radius)
            found.append(Shape("mesh", place=middle, material=look.accent, mesh=band))
    return found


def housing(radius: float, low: float, high: float, look: Look) -> list[Shape]:
    """A joint's motor along z, with lids at both ends."""
    body = Shape("mesh", material=look.paint, mesh=barrel(radius, low, high, 0.16 * radius))
    lids = [
        Shape("mesh", material=look.joint, mesh=barrel(0.8 * radius, end - t, end + t, 0.03 * radius))
        for end, t in ((low, 0.05 * radius), (high, 0.05 * radius))
    ]
    caps = [
        Shape("mesh", material=look.accent, mesh=barrel(0.34 * radius, end - t, end + t, 0.03 * radius))
        for end, t in ((low, 0.09 * radius), (high, 0.09 * radius))
    ]
    return [body, *lids, *caps]


def pedestal_shapes(radius: float, height: float, look: Look) -> list[Shape]:
    """A column below the first joint, from its housing down to what it stands on."""
    top, foot = -1.0 * radius, -height
    wide, slim = 2.1 * radius, 1.15 * radius
    plate = 0.3 * radius
    column = lathe(
        [
            (0.0, foot + plate), (1.5 * slim, foot + plate), (1.12 * slim, foot + plate + 0.8 * radius),
            (slim, foot + plate + 1.6 * radius), (slim, top), (0.0, top),
        ]
    )  # fmt: skip
    found = [Shape("mesh", material=look.joint, mesh=barrel(wide, foot, foot + plate, 0.08 * radius))]
    if height > 3.0 * radius:
        found.append(Shape("mesh", material=look.paint, mesh=column))
    elif height > 1.4 * radius:
        found.append(Shape("mesh", material=look.joint, mesh=barrel(slim, foot, top, 0.05 * radius)))
    found.append(ring(1.22 * radius, top, 0.34 * radius, look.joint))
    for k in range(8):
        x, y = 0.87 * wide * np.cos(k * np.pi / 4), 0.87 * wide * np.sin(k * np.pi / 4)
        found.append(
            Shape(
                "cylinder", (0.11 * radius, 0.12 * radius), placed(x, y, foot + plate), look.accent, casts_shadow=False
            )
        )
    return found


# --- the end of the arm --------------------------------------------------------------------------------------


def end_shapes(robot: Arm, radius: float, look: Look) -> list[Shape]:
    """The last housing and link up to the hand, in the last joint's frame."""
    joint = list(robot.joints.values())[-1]
    tool = after_joint(joint) @ tool_of(robot)
    back = HAND * robot.gripper.pads[1] if robot.gripper is not None else 0.0
    hand = tool[:3, 3] - back * tool[:3, 2]
    corners = [np.zeros(3), np.array([0.0, 0.0, joint.d]), np.array([joint.a, 0.0, joint.d])]
    way = [corners[0]]
    for corner in corners[1:]:
        if np.linalg.norm(corner - way[-1]) > 1e-9:
            way.append(corner)
    # A hand that reaches back over the end of the last link takes the place of its end.
    if len(way) > 1 and float((hand - way[-1]) @ (way[-1] - way[-2])) < 0.0:
        way.pop()
    way.append(hand)
    found: list[Shape] = []
    if abs(joint.d) <= LONG * radius:
        found += housing(radius, min(0.0, joint.d) - 1.1 * radius, max(0.0, joint.d) + 1.1 * radius, look)
    slim = TUBE * radius
    for start, end in pairwise(way):
        if np.linalg.norm(end - start) > 0.3 * radius:
            last = slim if robot.gripper is not None or end is not hand else 0.3 * slim
            found.append(tube(start, end, slim, last, look.paint if robot.gripper is not None else look.joint))
    if abs(joint.d) > LONG * radius:
        found.append(ring(0.95 * radius, 0.42 * joint.d, 0.4 * radius, look.accent))
    return found


def tool_shapes(robot: Arm, radius: float, look: Look) -> list[Shape]:
    """What the tool's frame carries and does not move in it."""
    gripper = robot.gripper
    if gripper is None:
        return [Shape("sphere", (0.24 * radius,), material=look.accent)]
    x, z = gripper.pads
    thick = FINGER * x
    wide = gripper.opening + 4.0 * thick
    outline = np.array([[-0.5, -1.45], [-0.3, -HAND], [0.3, -HAND], [0.5, -1.45]]) * [wide, z]
    palm = prism(outline, -0.62 * x, 0.62 * x, chamfer=0.06 * x)
    return [
        Shape("mesh", material=look.paint, mesh=_upright(palm)),
        Shape("box", (0.5 * x, 0.96 * wide, 0.1 * z), placed(0.0, 0.0, -1.42 * z), look.joint),
    ]


def finger_shapes(gripper: Gripper, look: Look) -> list[Shape]:
    """One finger; y = 0 is the face of its pad and y points away from the other finger."""
    x, z = gripper.pads
    thick = FINGER * x
    outline = np.array(
        [[0.25, -1.5], [1.5, -1.5], [1.6, -0.7], [1.15, 0.0], [0.75, 0.62], [0.25, 0.62]],
    ) * [thick, z]  # fmt: skip
    body = prism(outline, -0.4 * x, 0.4 * x)
    return [
        Shape("mesh", material=look.joint, mesh=_upright(body)),
        Shape("box", (x, 0.25 * thick, z), placed(0.0, 0.125 * thick, 0.0), look.accent),
    ]


def _upright(mesh: TriangleMesh) -> TriangleMesh:
    """A prism drawn in the plane y, z, along x."""
    turn = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return moved(mesh, turn, (0.0, 0.0, 0.0))


def fingers(gripper: Gripper, look: Look) -> Sequence[tuple[str, Place, tuple[Shape, ...]]]:
    """Name, place with the pads together, and shapes of both fingers; each slides along its own y."""
    shapes = tuple(finger_shapes(gripper, look))
    return (("left_finger", HERE, shapes), ("right_finger", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), shapes))
