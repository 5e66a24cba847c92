"""From an arm of a scenario to the records that compiled code reads."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin

import numpy as np

from botz.physics.arm.dh import ARM, LINK, PRISMATIC, REVOLUTE
from botz.scenario.arm.schema import Arm, Body
from botz.scenario.arm.world import Water
from botz.transforms import posed, rotation_from_attitude

GRAVITY = (0.0, 0.0, -9.80665)
Mass = tuple[float, np.ndarray, np.ndarray]
"""Mass, centre and inertia about it."""


def transform(pose: Sequence[float]) -> np.ndarray:
    """4 × 4 of a pose x, y, z, roll, pitch, yaw."""
    return posed(rotation_from_attitude(*pose[3:]), np.array(pose[:3]))


def mass_of(body: Body) -> Mass:
    ixx, iyy, izz, ixy, ixz, iyz = [*body.inertia, 0.0, 0.0, 0.0][:6]
    return body.mass, np.array(body.centre), np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def joined(one: Mass, other: Mass) -> Mass:
    """Two bodies as one: Steiner's theorem for both about the common centre."""
    mass = one[0] + other[0]
    if mass == 0.0:
        return one
    centre = (one[0] * one[1] + other[0] * other[1]) / mass
    inertia = np.zeros((3, 3))
    for own, place, own_inertia in (one, other):
        r = place - centre
        inertia += own_inertia + own * (r @ r * np.eye(3) - np.outer(r, r))
    return mass, centre, inertia


def moved(body: Mass, pose: np.ndarray) -> Mass:
    """A body of a frame, seen from the frame in which that one has `pose`."""
    turn = pose[:3, :3]
    return body[0], turn @ body[1] + pose[:3, 3], turn @ body[2] @ turn.T


def scaled(body: Mass, scale: float) -> Mass:
    return scale * body[0], body[1], scale * body[2]


def fill_mass(link: np.record, body: Mass) -> None:
    link.mass = body[0]
    link.cx, link.cy, link.cz = body[1]
    link.ixx, link.iyy, link.izz = np.diag(body[2])
    link.ixy, link.ixz, link.iyz = body[2][0, 1], body[2][0, 2], body[2][1, 2]


def exact_cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine, with right angles exact: a table's 90° is not meant as 89.999999999999996°."""
    c, s = cos(angle), sin(angle)
    for value in (-1.0, 0.0, 1.0):
        c = value if abs(c - value) < 1e-15 else c
        s = value if abs(s - value) < 1e-15 else s
    return c, s


def tool_transform(robot: Arm) -> np.ndarray:
    return transform([*robot.tool.position, *robot.tool.attitude])


def link_records(robot: Arm, *, payload: bool = True, scale: float = 1.0) -> np.ndarray:
    """The links with their masses times `scale`, the last one with the payload."""
    links = np.zeros(len(robot.joints), dtype=LINK)
    for own, joint in zip(links, robot.joints.values(), strict=True):
        own.kind = REVOLUTE if joint.type == "revolute" else PRISMATIC
        own.ca, own.sa = exact_cos_sin(joint.alpha)
        own.a, own.d, own.theta = joint.a, joint.d, joint.theta
        own.lower, own.upper = joint.range or (-np.inf, np.inf)
        fill_mass(own, scaled(mass_of(joint), scale))
        own.rotor = joint.rotor_inertia
        own.viscous, own.coulomb = joint.friction.viscous, joint.friction.coulomb
        own.smoothing = joint.friction.smoothing
        own.volume = joint.water.volume
        own.bx, own.by, own.bz = joint.water.centre
        own.drag_x, own.drag_y, own.drag_z = joint.water.drag_area
    if payload:
        last = mass_of(list(robot.joints.values())[-1])
        fill_mass(links[-1], scaled(joined(last, moved(mass_of(robot.payload), tool_transform(robot))), scale))
    return links


def arm_record(
    robot: Arm, base: np.ndarray, gravity: Sequence[float] = GRAVITY, water: Water | None = None
) -> np.ndarray:
    """Where the arm stands and in what: one record, in an array."""
    found = np.zeros(1, dtype=ARM)
    own = found[0]
    own.gx, own.gy, own.gz = base[:3, :3].T @ np.asarray(gravity, dtype=float)
    if water is not None:
        own.density = water.density
        own.ux, own.uy, own.uz = base[:3, :3].T @ np.array(water.current)
    for name, pose in (("base", base), ("tool", tool_transform(robot))):
        for column, axis in enumerate("xyz"):
            for row, part in enumerate("xyz"):
                own[f"{name}_{part}{axis}"] = pose[row, column]
            own[f"{name}_{axis}"] = pose[column, 3]
    return found
