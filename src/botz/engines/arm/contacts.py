"""Where objects, boxes and planes meet in engine `arm`: compliant contact, point by point; tools in touch.py.

Every pair of a point and a surface has a place of its own among the `bristles`, in the order in which the loops below
come by, so that its friction remembers where it sticks. Forces are in the world's axes.
"""

from __future__ import annotations

from math import sqrt

from botz.engines.arm.boxes import corner, forget, load_at, press_boxes, velocity_at
from botz.engines.arm.model import CORNERS, PATCH
from botz.kernels import compiled, inlined
from botz.physics.arm.dh import REVOLUTE, joint_axis
from botz.physics.contact.penalty import penalty_force
from botz.rotations import cross, dot, rotation_of


@compiled
def damping_between(world, one, other):
    """c = ζ √(k m) of a point between two masses (0: one that does not move): a body on four points is then damped by
    the ratio ζ. m is what the two swing against each other with."""
    if one == 0.0 or other == 0.0:
        mass = one + other
    else:
        mass = one * other / (one + other)
    return world[5] * sqrt(world[3] * mass)


@compiled
def turn_boxes(poses, first, axes):
    """Axes of the boxes `first` and on, from their quaternions."""
    for b in range(first, len(poses)):
        p, a = poses[b], axes[b]
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8] = rotation_of(p[3], p[4], p[5], p[6])


@compiled
def press(bristle, stiffness, damping, friction, depth, nx, ny, nz, vx, vy, vz, dt):  # -> force on the point
    """A point at `depth` in a surface, moving against it with v. With dt > 0 its friction moves on."""
    if depth <= 0.0:
        if dt > 0.0:
            bristle[0] = bristle[1] = bristle[2] = 0.0
        return 0.0, 0.0, 0.0
    fx, fy, fz, ux, uy, uz = penalty_force(
        (stiffness, damping, friction), depth, (nx, ny, nz), (vx, vy, vz), (bristle[0], bristle[1], bristle[2]), dt
    )
    if dt > 0.0:
        bristle[0], bristle[1], bristle[2] = ux, uy, uz
    return fx, fy, fz


@compiled
def press_on_plane(plane, bristle, stiffness, damping, friction, x, y, z, radius, vx, vy, vz, dt):
    depth = plane.offset - dot(plane.nx, plane.ny, plane.nz, x, y, z) + radius
    return press(bristle, stiffness, damping, friction, depth, plane.nx, plane.ny, plane.nz, vx, vy, vz, dt)


@compiled
def tool_motion(links, frames, qd):  # -> velocity of the tool's point and angular velocity, base axes
    n = len(links)
    tip = frames[n]
    vx = vy = vz = wx = wy = wz = 0.0
    for i in range(n):
        zx, zy, zz, ox, oy, oz = joint_axis(frames, i)
        if links[i].kind == REVOLUTE:
            tx, ty, tz = cross(zx, zy, zz, tip[9] - ox, tip[10] - oy, tip[11] - oz)
            vx, vy, vz = vx + qd[i] * tx, vy + qd[i] * ty, vz + qd[i] * tz
            wx, wy, wz = wx + qd[i] * zx, wy + qd[i] * zy, wz + qd[i] * zz
        else:
            vx, vy, vz = vx + qd[i] * zx, vy + qd[i] * zy, vz + qd[i] * zz
    return vx, vy, vz, wx, wy, wz


@compiled
def base_to_world(arm, x, y, z):
    return (
        arm.base_xx * x + arm.base_xy * y + arm.base_xz * z,
        arm.base_yx * x + arm.base_yy * y + arm.base_yz * z,
        arm.base_zx * x + arm.base_zy * y + arm.base_zz * z,
    )


@compiled
def world_to_base(arm, x, y, z):
    return (
        arm.base_xx * x + arm.base_yx * y + arm.base_zx * z,
        arm.base_xy * x + arm.base_yy * y + arm.base_zy * z,
        arm.base_xz * x + arm.base_yz * y + arm.base_zz * z,
    )


@inlined
def beside(box, axes, dx, dy, dz, radius):
    """Whether a ball at d from the box's middle is beyond one of its faces."""
    return (
        abs(dot(axes[0], axes[1], axes[2], dx, dy, dz)) > box.hx + radius
        or abs(dot(axes[3], axes[4], axes[5], dx, dy, dz)) > box.hy + radius
        or abs(dot(axes[6], axes[7], axes[8], dx, dy, dz)) > box.hz + radius
    )


@compiled
def corners_on_plane(plane, box, pose, axes, world, bristles, slot, load, dt):
    friction, damping = sqrt(plane.friction * box.friction), damping_between(world, box.mass, 0.0)
    for k in range(CORNERS):
        x, y, z = corner(box, pose, axes, k)
        vx, vy, vz = velocity_at(box, pose, axes, x, y, z)
        fx, fy, fz = press_on_plane(
            plane, bristles[slot + k], world[3], damping, friction, x, y, z, 0.0, vx, vy, vz, dt
        )
        load_at(load, pose, x, y, z, fx, fy, fz)


@compiled
def press_objects(planes, boxes, first, world, poses, axes, dt, bristles, slot, patch, loads):
    """Objects (the boxes from `first` on) on planes, on fixed boxes and on each other."""
    for b in range(first, len(boxes)):
        box, pose = boxes[b], poses[b]
        for p in range(len(planes)):
            height = dot(planes[p].nx, planes[p].ny, planes[p].nz, pose[0], pose[1], pose[2]) - planes[p].offset
            if height < box.radius:
                corners_on_plane(planes[p], box, pose, axes[b], world, bristles, slot, loads[b], dt)
            elif dt > 0.0:
                forget(bristles, slot, CORNERS)
            slot += CORNERS
        for other in range(b):
            dx, dy, dz = pose[0] - poses[other, 0], pose[1] - poses[other, 1], pose[2] - poses[other, 2]
            if not beside(boxes[other], axes[other], dx, dy, dz, box.radius):
                damping = damping_between(world, box.mass, boxes[other].mass)
                press_boxes(
                    boxes[other], box, poses[other], pose, axes[other], axes[b], world[3], damping, dt, patch, bristles,
                    slot, loads[other], loads[b],
                )  # fmt: skip
            elif dt > 0.0:
                forget(bristles, slot, PATCH)
            slot += PATCH
