"""What arms show: their channels, and the row that they fill."""

from __future__ import annotations

from collections.abc import Mapping

from botz.channels import Channel, Columns, JointView, PoseView, RosView
from botz.engines.arm.contacts import base_to_world, tool_motion
from botz.kernels import compiled, inlined
from botz.physics.arm.composite_body import inertia_matrix
from botz.physics.arm.dh import chain_frames, potential_energy, set_joints, tool_frame
from botz.rotations import dot, quaternion_of_axes, rotation_of
from botz.scenario.arm.schema import ArmScenario, PlacedArm

POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


def by_joint(kinds: Mapping[str, str], revolute: str, prismatic: str) -> str:
    """The unit of all joints, or that of each."""
    found = [revolute if kind == "revolute" else prismatic for kind in kinds.values()]
    return found[0] if len(set(found)) == 1 else ", ".join(found)


TOOL = Columns(
    Channel("tool/pose", "m, m, m, 1, 1, 1, 1", "pose of the tool in the world", POSE),
    Channel(
        "tool/twist",
        "m/s, m/s, m/s, rad/s, rad/s, rad/s",
        "velocity of the tool's point and angular velocity, in the tool's axes",
        TWIST,
    ),
    Channel(
        "tool/wrench",
        "N, N, N, N·m, N·m, N·m",
        "force and moment of what the tool touches on it, in the world's axes, about the tool's point",
        WRENCH,
    ),
    Channel("energy", "J", "kinetic and potential energy of the arm", ("kinetic", "potential")),
)
GRIPPER = Columns(
    Channel("gripper/opening", "m", "distance between the pads"),
    Channel("gripper/force", "N", "force of a pad on what is between them"),
    Channel("gripper/held", "1", "which of the world's objects is held, from 1; 0: none"),
)
OBJECT = Columns(
    Channel("pose", "m, m, m, 1, 1, 1, 1", "pose of the object's middle in the world", POSE),
    Channel(
        "twist", "m/s, m/s, m/s, rad/s, rad/s, rad/s", "velocity and angular velocity, in the object's axes", TWIST
    ),
)
T, G, O = TOOL.at, GRIPPER.at, OBJECT.at


def joint_columns(robot: PlacedArm) -> Columns:
    kinds = {joint: spec.type for joint, spec in robot.joints.items()}
    names = tuple(kinds)
    angle, speed = by_joint(kinds, "rad", "m"), by_joint(kinds, "rad/s", "m/s")
    return Columns(
        Channel("position", angle, "joint variables", names),
        Channel("speed", speed, "joint speeds", names),
        Channel("torque", by_joint(kinds, "N·m", "N"), "torques of the actuators", names),
        Channel("reference/position", angle, "joint variables that the servo follows", names),
        Channel("reference/speed", speed, "joint speeds that the servo follows", names),
    )


def channels_of(scenario: ArmScenario) -> list[Channel]:
    """In the order in which `observe_row` writes them."""
    found = []
    for name, robot in scenario.robots.items():
        found += joint_columns(robot).of(name) + TOOL.of(name)
        found += GRIPPER.of(name) if robot.gripper is not None else []
    return found + [channel for name in scenario.world.objects for channel in OBJECT.of(name)]


def views_of(scenario: ArmScenario) -> tuple[RosView, ...]:
    found: list[RosView] = []
    for name, robot in scenario.robots.items():
        found.append(PoseView(name, f"{name}/tool", "odom", f"{name}/tool/pose", f"{name}/tool/twist"))
        found.append(
            JointView(
                name,
                names=tuple(robot.joints),
                position=(f"{name}/position",),
                velocity=(f"{name}/speed",),
                effort=(f"{name}/torque",),
            )
        )
    found += [PoseView(name, name, "odom", f"{name}/pose", f"{name}/twist") for name in scenario.world.objects]
    return tuple(found)


@compiled
def put_axes(row, at, axes, velocity):
    """A velocity in these axes (9)."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = axes
    vx, vy, vz = velocity
    row[at] = dot(xx, xy, xz, vx, vy, vz)
    row[at + 1] = dot(yx, yy, yz, vx, vy, vz)
    row[at + 2] = dot(zx, zy, zz, vx, vy, vz)


@inlined
def observe_row(model, state, work, row):
    """All channels of `channels_of`, in that order."""
    at = 0
    for u in range(len(model.units)):
        at = observe_arm(model, state, work, u, row, at)
    for b in range(len(state.poses)):
        at = observe_object(state.poses[b], row, at)


@inlined
def observe_arm(model, state, work, u, row, at):  # -> next place in the row
    arm, unit, tool = model.arms[u], model.units[u], state.tools[u]
    n, s, e = unit.n, unit.start, unit.start + unit.n
    links, scratch, frames, inertia = model.links[s:e], work.scratch[s:e], work.frames[s + u : e + u + 1], work.inertia
    q, qd, joints = state.q[s:e], state.qd[s:e], state.joints[s:e]
    for i in range(n):
        row[at + i], row[at + n + i], row[at + 2 * n + i] = q[i], qd[i], joints[i].torque
        row[at + 3 * n + i], row[at + 4 * n + i] = joints[i].reference, joints[i].reference_speed
    at += 5 * n
    set_joints(links, q, scratch)
    chain_frames(links, scratch, frames)
    tool_frame(arm, frames[n - 1], frames[n])
    f = frames[n]
    x, y, z = base_to_world(arm, f[9], f[10], f[11])
    p = at + T.tool_pose
    row[p], row[p + 1], row[p + 2] = x + arm.base_x, y + arm.base_y, z + arm.base_z
    xx, xy, xz = base_to_world(arm, f[0], f[1], f[2])
    yx, yy, yz = base_to_world(arm, f[3], f[4], f[5])
    zx, zy, zz = base_to_world(arm, f[6], f[7], f[8])
    row[p + 3], row[p + 4], row[p + 5], row[p + 6] = quaternion_of_axes(xx, xy, xz, yx, yy, yz, zx, zy, zz)
    vx, vy, vz, wx, wy, wz = tool_motion(links, frames, qd)
    axes = (f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8])
    put_axes(row, at + T.tool_twist, axes, (vx, vy, vz))
    put_axes(row, at + T.tool_twist + 3, axes, (wx, wy, wz))
    w = at + T.tool_wrench
    row[w], row[w + 1], row[w + 2] = tool.fx, tool.fy, tool.fz
    row[w + 3], row[w + 4], row[w + 5] = tool.mx, tool.my, tool.mz
    inertia_matrix(links, scratch, inertia)
    kinetic = potential = 0.0
    for i in range(n):
        for j in range(n):
            kinetic += 0.5 * qd[i] * inertia[i, j] * qd[j]
        potential += potential_energy(arm, links[i], frames[i])
    row[at + T.energy], row[at + T.energy + 1] = kinetic, potential
    at += T.end
    if unit.gripper:
        row[at + G.gripper_opening], row[at + G.gripper_force] = tool.opening, tool.pressed
        row[at + G.gripper_held] = tool.held - len(model.fixed_poses) if tool.held > 0.0 else 0.0
        at += G.end
    return at


@compiled
def observe_object(pose, row, at):  # -> next place in the row
    for k in range(7):
        row[at + O.pose + k] = pose[k]
    put_axes(row, at + O.twist, rotation_of(pose[3], pose[4], pose[5], pose[6]), (pose[7], pose[8], pose[9]))
    for k in range(3):
        row[at + O.twist + 3 + k] = pose[10 + k]
    return at + O.end
