"""What can be observed of multibody robots: the compiled function that writes the channels in their order."""

from __future__ import annotations

from math import atan2, sqrt

from botz.channels import Channel, Columns
from botz.kernels import compiled, record
from botz.rotations import cross

XYZ = ("x", "y", "z")

ROBOT = record(
    # its root body and the tree's root, and where its parts are in the tables of all robots
    body="i8", tree="i8", joint_start="i8", joint_stop="i8", element_start="i8", element_stop="i8",
    sensor_start="i8", sensor_stop="i8",
)  # fmt: skip
JOINT = record(position="i8", dof="i8")


ROOT = Columns(
    Channel("pose", "m, m, m, 1, 1, 1, 1", "of the root link in the world", (*XYZ, "qw", "qx", "qy", "qz")),
    Channel(
        "twist",
        "m/s, m/s, m/s, rad/s, rad/s, rad/s",
        "of the root link, in its own axes",
        ("vx", "vy", "vz", "wx", "wy", "wz"),
    ),
    Channel("attitude", "rad", "the same attitude as angles", ("roll", "pitch", "yaw")),
)
HINGE, SLIDE = (
    Columns(
        Channel("position", unit, "of the joint"),
        Channel("speed", f"{unit}/s", "of the joint"),
        Channel("effort", effort, "of its actuator and elements"),
    )
    for unit, effort in (("rad", "N·m"), ("m", "N"))
)
R, J = ROOT.at, HINGE.at


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
            row[at + J.position] = physics.qpos[joint.position]
            row[at + J.speed] = physics.qvel[joint.dof]
            row[at + J.effort] = effort
            at += J.end
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
    rot, cvel = physics.xmat[b], physics.cvel[b]
    dx = physics.xpos[b, 0] - physics.subtree_com[robot.tree, 0]
    dy = physics.xpos[b, 1] - physics.subtree_com[robot.tree, 1]
    dz = physics.xpos[b, 2] - physics.subtree_com[robot.tree, 2]
    cx, cy, cz = cross(cvel[0], cvel[1], cvel[2], dx, dy, dz)
    vx, vy, vz = cvel[3] + cx, cvel[4] + cy, cvel[5] + cz
    for k in range(3):
        row[at + R.pose + k] = physics.xpos[b, k]
    for k in range(4):
        row[at + R.pose + 3 + k] = physics.xquat[b, k]
    for k in range(3):
        # World to body: columns of the rotation.
        row[at + R.twist + k] = rot[k] * vx + rot[3 + k] * vy + rot[6 + k] * vz
        row[at + R.twist + 3 + k] = rot[k] * cvel[0] + rot[3 + k] * cvel[1] + rot[6 + k] * cvel[2]
    row[at + R.attitude] = atan2(rot[7], rot[8])
    row[at + R.attitude + 1] = atan2(-rot[6], sqrt(rot[0] * rot[0] + rot[3] * rot[3]))
    row[at + R.attitude + 2] = atan2(rot[3], rot[0])
    return at + R.end
