"""How multibody robots start: the state, and what must not be so in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import mujoco
import numpy as np

from botz.engines.multibody_parts import RobotParts
from botz.errors import InputError, Problem
from botz.scene.mj_world import GROUND

DEEPEST = 0.01
"""What overlaps by more at the start would be thrown apart [m]; what stands or lies gives way by far less."""


def start_state(model: mujoco.MjModel, robots: Mapping[str, RobotParts]) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities at the start, MuJoCo's layout."""
    positions, velocities = model.qpos0.copy(), np.zeros(model.nv)
    for name, robot in robots.items():
        root = model.body(f"{name}/{robot.model.root}")
        if root.jntnum[0] and model.jnt_type[root.jntadr[0]] == int(mujoco.mjtJoint.mjJNT_FREE):
            at = model.jnt_dofadr[root.jntadr[0]]
            velocities[at : at + 3] = robot.spec.velocity
            velocities[at + 3 : at + 6] = robot.spec.angular_velocity
        for joint, spec in robot.joints.items():
            number = model.joint(f"{name}/{joint}").id
            value, limits = 0.0, None
            if spec.kind != "continuous" and spec.lower is not None and spec.upper is not None:
                limits = spec.lower, spec.upper
                value = min(max(0.0, spec.lower), spec.upper)
            if robot.model.native is not None:
                value = float(model.qpos0[model.jnt_qposadr[number]])
            value = robot.spec.start.get(joint, value)
            if limits is not None and not limits[0] <= value <= limits[1]:
                message = f"{value:g} is outside the range, {limits[0]:g} to {limits[1]:g}"
                raise InputError(Problem(message, key=f"robots.{name}.start.{joint}"))
            positions[model.jnt_qposadr[number]] = value
            velocities[model.jnt_dofadr[number]] = robot.spec.start_speed.get(joint, 0.0)
    return positions, velocities


@dataclass(frozen=True)
class _Thing:
    """What a geom belongs to."""

    robot: str
    """Empty: it is part of the world."""
    words: str


def check_apart(model: mujoco.MjModel, data: mujoco.MjData, robots: Mapping[str, RobotParts]) -> None:
    """Refuse robots that begin inside the ground, an obstacle or each other. Links of one robot may overlap, as those
    of many models do. `data` holds the contacts of the start."""
    found: dict[tuple[str, str], tuple[float, Problem]] = {}
    for contact in data.contact:
        depth = -float(contact.dist)
        if depth <= DEEPEST:
            continue
        things = [_thing(model, int(geom), robots) for geom in contact.geom]
        # The robot comes first, and of two robots the one that is written later, which was put onto the other.
        one, other = sorted(things, key=lambda thing: -1 if not thing.robot else list(robots).index(thing.robot))[::-1]
        pair = one.robot, other.robot or other.words
        if one.robot == other.robot or (pair in found and found[pair][0] >= depth):
            continue
        remedy = "move it away"
        if other.words == "the ground":
            # Depths are along the ground's normal, heights along z.
            steepness = max(abs(float(contact.frame[2])), 0.1)
            least = ceil(1e3 * (robots[one.robot].spec.pose[2] + depth / steepness) - 1e-6) / 1e3
            remedy = f"raise its z to {least:g} or more"
        message = f"{one.words} starts {depth:.2g} m inside {other.words}; {remedy}"
        found[pair] = depth, Problem(message, key=f"robots.{one.robot}.pose")
    if found:
        raise InputError([problem for _, problem in found.values()])


def _thing(model: mujoco.MjModel, geom: int, robots: Mapping[str, RobotParts]) -> _Thing:
    body = int(model.geom_bodyid[geom])
    if body > 0:
        name = str(model.body(body).name)
        return _Thing(name.split("/")[0], repr(name))
    name = str(model.geom(geom).name)
    if name == GROUND:
        return _Thing("", "the ground")
    kind, _, rest = name.partition("/")
    return _Thing("", f"the obstacle {rest!r}" if kind == "obstacle" and kind not in robots else repr(name))
