"""Where objects, boxes and planes meet in engine `arm`: compliant contact, point by point; tools in touch.py.

Every pair of a point and a surface has a place of its own among the `bristles`, in the order in which the loops below
come by, so that its friction remembers where it sticks. Forces are in the world's axes.
"""

from __future__ import annotations

from math import sqrt

from botz.engines.arm.boxes import PATCH, Body, corner, forget, load_at, press_boxes, velocity_at
from botz.engines.arm.model import CORNERS
from botz.kernels import compiled, inlined
from botz.physics.arm.dh import REVOLUTE, joint_axis
from botz.physics.contact.penalty import penalty_force
from botz.rotations import cross, dot


@compiled
def damping_between(world, one, other):
    """c = ζ √(k m) of a point between two masses (0: one that does not move): a body on four points is then damped by
    the ratio ζ. m is what the two swing against each other with."""
    if one == 0.0 or other == 0.0:
        mass = one + other
    else:
        mass = one * other / (one + other)
    return world.damping * sqrt(world.stiffness * mass)


@compiled
def press(surface, bristle, depth, normal, velocity, dt):  # -> force on the point
    """A point at `depth` in a surface (stiffness, damping, friction), moving against it. With dt > 0 its friction moves
    on."""
    if depth <= 0.0:
        if dt > 0.0:
            bristle[0] = bristle[1] = bristle[2] = 0.0
        return 0.0, 0.0, 0.0
    (stiffness, damping, friction), (nx, ny, nz), (vx, vy, vz) = surface, normal, velocity
    fx, fy, fz, ux, uy, uz = penalty_force(
        (stiffness, damping, friction), depth, (nx, ny, nz), (vx, vy, vz), (bristle[0], bristle[1], bristle[2]), dt
    )
    if dt > 0.0:
        bristle[0], bristle[1], bristle[2] = ux, uy, uz
    return fx, fy, fz


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
def press_on_plane(plane, world, body, bristles, dt):
    """The corners of a box on a plane."""
    friction, damping = sqrt(plane.friction * body.box.friction), damping_between(world, body.box.mass, 0.0)
    for k in range(CORNERS):
        x, y, z = corner(body, k)
        depth = plane.offset - dot(plane.nx, plane.ny, plane.nz, x, y, z)
        fx, fy, fz = press(
            (world.stiffness, damping, friction), bristles[k], depth, (plane.nx, plane.ny, plane.nz),
            velocity_at(body, x, y, z), dt,
        )  # fmt: skip
        load_at(body, x, y, z, fx, fy, fz)


@inlined
def press_objects(model, state, work, dt):
    """Objects on planes, on boxes that do not move, and on each other. With dt > 0 friction moves on."""
    world, planes, boxes, bristles = model.world[0], model.planes, model.boxes, state.bristles
    fixed, slot = len(model.fixed_poses), world.first_bristle
    for b in range(fixed, len(boxes)):
        pose, axes = state.poses[b - fixed], work.axes[b - fixed]
        body = Body(boxes[b], pose, axes, work.loads[b])
        for p in range(len(planes)):
            height = dot(planes[p].nx, planes[p].ny, planes[p].nz, pose[0], pose[1], pose[2]) - planes[p].offset
            if height < boxes[b].radius:
                press_on_plane(planes[p], world, body, bristles[slot : slot + CORNERS], dt)
            elif dt > 0.0:
                forget(bristles, slot, CORNERS)
            slot += CORNERS
        for k in range(b):
            place = model.fixed_poses[k] if k < fixed else state.poses[k - fixed]
            turn = model.fixed_axes[k] if k < fixed else work.axes[k - fixed]
            if not beside(boxes[k], turn, pose[0] - place[0], pose[1] - place[1], pose[2] - place[2], boxes[b].radius):
                other = Body(boxes[k], place, turn, work.loads[k])
                damping = damping_between(world, boxes[b].mass, boxes[k].mass)
                press_boxes(other, body, world.stiffness, damping, dt, work.patch, bristles[slot : slot + PATCH])
            elif dt > 0.0:
                forget(bristles, slot, PATCH)
            slot += PATCH
