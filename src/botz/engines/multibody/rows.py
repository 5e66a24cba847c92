"""What can be observed of multibody robots: the compiled function that writes the channels in their order."""

from __future__ import annotations

from math import atan2, sqrt

from botz.channels import Channel
from botz.kernels import compiled, record
from botz.rotations import cross

XYZ = ("x", "y", "z")

ROBOT = record(
    # its root body and the tree's root, and where its parts are in the tables of all robots
    body="i8", tree="i8", joint_start="i8", joint_stop="i8", element_start="i8", element_stop="i8",
    sensor_start="i8", sensor_stop="i8",
)  # fmt: skip
JOINT = record(position="i8", dof="i8")


def root_channels(name: str) -> list[Channel]:
    quat, twist = ("qw", "qx", "qy", "qz"), ("vx", "vy", "vz", "wx", "wy", "wz")
    return [
        Channel(f"{name}/pose", "m, m, m, 1, 1, 1, 1", "of the root link in the world", (*XYZ, *quat)),
        Channel(f"{name}/twist", "m/s, m/s, m/s, rad/s, rad/s, rad/s", "of the root link, in its own axes", twist),
        Channel(f"{name}/attitude", "rad", "the same attitude as angles", ("roll", "pitch", "yaw")),
    ]


def joint_channels(name: str, turns: bool) -> list[Channel]:
    angle, effort = ("rad", "N·m") if turns else ("m", "N")
    return [
        Channel(f"{name}/position", angle, "of the joint"),
        Channel(f"{name}/speed", f"{angle}/s", "of the joint"),
        Channel(f"{name}/effort", effort, "of its actuator and elements"),
    ]


@compiled
def observe_row(tables, physics, row):
    elements, frames = tables.elements, tables.frames
    at = 0
    for r in range(tables.robots.shape[0]):
        robot = tables.robots[r]
        at = observe_root(robot, physics, row, at)
        for j in range(robot.joint_start, robot.joint_stop):
            joint = tables.joints[j]
            effort = physics.joint_force[joint.dof] + physics.actuated[joint.dof]
            row[at], row[at + 1], row[at + 2] = physics.qpos[joint.position], physics.qvel[joint.dof], effort
            at += 3
        for e in range(robot.element_start, robot.element_stop):
            frame = frames[e]
            for k in range(elements[e].shown_forces):
                row[at + k] = frame.force[k]
            at += elements[e].shown_forces
            for k in range(elements[e].reports):
                row[at + k] = frame.reports[k]
            at += elements[e].reports
        for s in range(robot.sensor_start, robot.sensor_stop):
            for k in range(tables.sensors[s].readings):
                row[at + k] = tables.readings[s].last[k]
            at += tables.sensors[s].readings


@compiled
def observe_root(robot, physics, row, at):
    b = robot.body
    R, cvel = physics.xmat[b], physics.cvel[b]
    dx = physics.xpos[b, 0] - physics.subtree_com[robot.tree, 0]
    dy = physics.xpos[b, 1] - physics.subtree_com[robot.tree, 1]
    dz = physics.xpos[b, 2] - physics.subtree_com[robot.tree, 2]
    cx, cy, cz = cross(cvel[0], cvel[1], cvel[2], dx, dy, dz)
    vx, vy, vz = cvel[3] + cx, cvel[4] + cy, cvel[5] + cz
    for k in range(3):
        row[at + k] = physics.xpos[b, k]
    for k in range(4):
        row[at + 3 + k] = physics.xquat[b, k]
    for k in range(3):
        # World to body: columns of R.
        row[at + 7 + k] = R[k] * vx + R[3 + k] * vy + R[6 + k] * vz
        row[at + 10 + k] = R[k] * cvel[0] + R[3 + k] * cvel[1] + R[6 + k] * cvel[2]
    row[at + 13] = atan2(R[7], R[8])
    row[at + 14] = atan2(-R[6], sqrt(R[0] * R[0] + R[3] * R[3]))
    row[at + 15] = atan2(R[3], R[0])
    return at + 16
