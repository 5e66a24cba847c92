"""How multibody robots start: the state, and what must not be so in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, inf

import mujoco
import numpy as np

from botz.engines.multibody.parts import RobotParts
from botz.errors import InputError, Problem
from botz.models.mj_world import GROUND
from botz.models.robot_model import ModelJoint
from botz.scenario.units import in_both_units

DIRECT, SUM = int(mujoco.mjtDyn.mjDYN_NONE), int(mujoco.mjtDyn.mjDYN_INTEGRATOR)
FILTERS = int(mujoco.mjtDyn.mjDYN_FILTER), int(mujoco.mjtDyn.mjDYN_FILTEREXACT)
"""What stands between an actuator's control and its set point."""
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
            lower, upper = joint_range(spec)
            # 0, or in MJCF the joint's `ref`; where that is outside the range, the nearest end.
            value = min(max(float(model.qpos0[model.jnt_qposadr[number]]), lower), upper)
            value = robot.spec.start.get(joint, value)
            if not lower <= value <= upper:
                unit = "m" if spec.kind == "prismatic" else "rad"
                shown = [in_both_units(one, unit) for one in (value, lower, upper)]
                message = f"{shown[0]} is outside the range, {shown[1]} to {shown[2]}"
                raise InputError(Problem(message, key=f"robots.{name}.start.{joint}"))
            positions[model.jnt_qposadr[number]] = value
            velocities[model.jnt_dofadr[number]] = robot.spec.start_speed.get(joint, 0.0)
    return positions, velocities


def held_controls(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Controls and activations with which the position servos of MJCF files hold what they move where it starts, and
    which controls these are. `data` has the start's positions."""
    ctrl, act, holding = np.zeros(model.nu), np.zeros(model.na), np.zeros(model.nu, dtype=bool)
    for k in range(model.nu):
        proportional = model.actuator_gainprm[k, 0]
        servo = (
            model.actuator_gaintype[k] == int(mujoco.mjtGain.mjGAIN_FIXED)
            and model.actuator_biastype[k] == int(mujoco.mjtBias.mjBIAS_AFFINE)
            and proportional > 0.0
            and np.isclose(model.actuator_biasprm[k, 1], -proportional)
        )
        dynamics = int(model.actuator_dyntype[k])
        if not servo or dynamics not in (DIRECT, SUM, *FILTERS):
            continue
        length, at = float(data.actuator_length[k]), int(model.actuator_actadr[k])
        if dynamics != SUM:
            holding[k] = True
            ctrl[k] = np.clip(length, *model.actuator_ctrlrange[k]) if model.actuator_ctrllimited[k] else length
        if at >= 0:
            act[at] = np.clip(length, *model.actuator_actrange[k]) if model.actuator_actlimited[k] else length
    return ctrl, act, holding


@dataclass(frozen=True)
class _Thing:
    """What a geom belongs to."""

    robot: str
    """Empty: it is part of the world."""
    words: str


def joint_range(joint: ModelJoint) -> tuple[float, float]:
    limited = joint.kind != "continuous"
    lower = joint.lower if limited and joint.lower is not None else -inf
    upper = joint.upper if limited and joint.upper is not None else inf
    return lower, upper


def check_apart(model: mujoco.MjModel, data: mujoco.MjData, robots: Mapping[str, RobotParts], moved: str = "") -> None:
    """Refuse robots that begin inside the ground, an obstacle or each other; of a robot that was moved, what it is in.
    Links of one robot may overlap, as those of many models do. `data` holds the contacts."""
    found: dict[tuple[str, str], tuple[float, Problem]] = {}
    for contact in data.contact:
        depth = -float(contact.dist)
        if depth <= DEEPEST:
            continue
        things = [_thing(model, int(geom), robots) for geom in contact.geom]
        # The robot comes first, and of two robots the one that is written later, which was put onto the other.
        one, other = sorted(things, key=lambda thing: -1 if not thing.robot else list(robots).index(thing.robot))[::-1]
        pair = one.robot, other.robot or other.words
        if moved and moved not in (one.robot, other.robot):
            continue
        if one.robot == other.robot or (pair in found and found[pair][0] >= depth):
            continue
        remedy = "move it away"
        if other.words == "the ground":
            # Depths are along the ground's normal, heights along z.
            steepness = max(abs(float(contact.frame[2])), 0.1)
            z = data.body(f"{moved}/{robots[moved].model.root}").xpos[2] if moved else robots[one.robot].spec.pose[2]
            least = ceil(1e3 * (z + depth / steepness) - 1e-6) / 1e3
            remedy = f"raise its z to {least:g} or more"
        message = f"{one.words} {'is' if moved else 'starts'} {depth:.2g} m inside {other.words}; {remedy}"
        found[pair] = depth, Problem(message, key=f"{moved}/pose" if moved else f"robots.{one.robot}.pose")
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
    if kind in robots:
        # A floor or wall in the robot's own file, which overlaps with it as its author drew it.
        return _Thing(kind, repr(name))
    return _Thing("", f"the obstacle {rest!r}" if kind == "obstacle" else repr(name))
