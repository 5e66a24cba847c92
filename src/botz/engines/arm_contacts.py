"""Where tools, grippers, objects, boxes and planes meet in engine `arm`: compliant contact, point by point.

Every pair of a point and a surface has a place of its own among the `bristles`, in the order in which the loops below
come by, so that its friction remembers where it sticks. Forces are in the world's axes.
"""

from __future__ import annotations

from math import sqrt

from botz.engines.arm_boxes import corner, forget, load_at, press_boxes, velocity_at
from botz.engines.arm_units import CORNERS, PAD_POINTS, PAD_SHARE, PATCH
from botz.frames import compiled, cross, dot, inlined, rotation_of
from botz.physics.box_contact import ball_in_box
from botz.physics.dh import REVOLUTE, add_force, combined, joint_axis
from botz.physics.penalty import penalty_force

HELD = 1.0
"""Force of each pad from which an object between them counts as held [N]."""


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
        stiffness, damping, friction, depth, nx, ny, nz, vx, vy, vz, bristle[0], bristle[1], bristle[2], dt
    )
    if dt > 0.0:
        bristle[0], bristle[1], bristle[2] = ux, uy, uz
    return fx, fy, fz


@compiled
def press_on_plane(plane, bristle, stiffness, damping, friction, x, y, z, radius, vx, vy, vz, dt):
    depth = plane.offset - dot(plane.nx, plane.ny, plane.nz, x, y, z) + radius
    return press(bristle, stiffness, damping, friction, depth, plane.nx, plane.ny, plane.nz, vx, vy, vz, dt)


@compiled
def press_on_box(box, pose, axes, load, bristle, stiffness, damping, friction, x, y, z, radius, vx, vy, vz, dt):
    """The same on a box; what it takes is added to its `load`."""
    dx, dy, dz = x - pose[0], y - pose[1], z - pose[2]
    lx = dot(axes[0], axes[1], axes[2], dx, dy, dz)
    ly = dot(axes[3], axes[4], axes[5], dx, dy, dz)
    lz = dot(axes[6], axes[7], axes[8], dx, dy, dz)
    depth, nx, ny, nz = ball_in_box(box.hx, box.hy, box.hz, lx, ly, lz, radius)
    if depth <= 0.0:
        return press(bristle, stiffness, damping, friction, depth, nx, ny, nz, vx, vy, vz, dt)
    nx, ny, nz = combined(axes[0], axes[1], axes[2], axes[3], axes[4], axes[5], axes[6], axes[7], axes[8], nx, ny, nz)
    if box.mass > 0.0:
        wx, wy, wz = combined(
            axes[0], axes[1], axes[2], axes[3], axes[4], axes[5], axes[6], axes[7], axes[8], pose[10], pose[11],
            pose[12],
        )  # fmt: skip
        tx, ty, tz = cross(wx, wy, wz, dx, dy, dz)
        vx, vy, vz = vx - pose[7] - tx, vy - pose[8] - ty, vz - pose[9] - tz
    fx, fy, fz = press(bristle, stiffness, damping, friction, depth, nx, ny, nz, vx, vy, vz, dt)
    tx, ty, tz = cross(dx, dy, dz, fx, fy, fz)
    load[0], load[1], load[2] = load[0] - fx, load[1] - fy, load[2] - fz
    load[3], load[4], load[5] = load[3] - tx, load[4] - ty, load[5] - tz
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
def press_tool(
    # parameters
    arm, unit, links, points, planes, boxes, world,
    # state in
    frames, qd, poses, axes, dt,
    # out: friction, loads on the boxes, joint torques; -> next place among the bristles
    bristles, slot, loads, torque,
):  # fmt: skip
    """All points of a tool and its pads on all surfaces. With dt > 0 also the wrench on the tool, what the jaws press
    and what they hold."""
    n = len(links)
    tip = frames[n]
    ax, ay, az = base_to_world(arm, tip[0], tip[1], tip[2])
    bx, by, bz = base_to_world(arm, tip[3], tip[4], tip[5])
    cx, cy, cz = base_to_world(arm, tip[6], tip[7], tip[8])
    px, py, pz = base_to_world(arm, tip[9], tip[10], tip[11])
    px, py, pz = px + arm.base_x, py + arm.base_y, pz + arm.base_z
    vx, vy, vz, wx, wy, wz = tool_motion(links, frames, qd)
    vx, vy, vz = base_to_world(arm, vx, vy, vz)
    wx, wy, wz = base_to_world(arm, wx, wy, wz)
    sum_fx = sum_fy = sum_fz = sum_mx = sum_my = sum_mz = 0.0
    left = right = 0.0
    grip = damper = 0.0
    left_box = right_box = -1
    touching = unit.points + (2 * PAD_POINTS if unit.gripper else 0)
    surfaces = len(planes) + len(boxes)
    for s in range(surfaces):
        at = slot + s * touching
        if s < len(planes):
            far = dot(planes[s].nx, planes[s].ny, planes[s].nz, px, py, pz) - planes[s].offset > unit.reach
            friction, damping = sqrt(unit.friction * planes[s].friction), damping_between(world, unit.mass, 0.0)
        else:
            b = s - len(planes)
            box = boxes[b]
            dx, dy, dz = px - poses[b, 0], py - poses[b, 1], pz - poses[b, 2]
            far = beside(box, axes[b], dx, dy, dz, unit.reach)
            friction = sqrt(unit.friction * box.friction)
            damping = damping_between(world, unit.mass, box.mass)
        if far:
            if dt > 0.0:
                forget(bristles, at, touching)
            continue
        for k in range(touching):
            pad = k - unit.points
            jaw, share = 0.0, 1.0
            if pad < 0:
                x, y, z = points[k, 0], points[k, 1], points[k, 2]
                radius = unit.radius
            else:
                jaw = -1.0 if pad < PAD_POINTS else 1.0
                place = pad % PAD_POINTS
                x, z = (place % 3 - 1) * unit.pad_x, (place // 3 - 1) * unit.pad_z
                y = 0.5 * jaw * unit.opening
                radius, share = 0.0, PAD_SHARE
            rx, ry, rz = combined(ax, ay, az, bx, by, bz, cx, cy, cz, x, y, z)
            tx, ty, tz = cross(wx, wy, wz, rx, ry, rz)
            slide = 0.5 * jaw * unit.jaw_rate
            tx, ty, tz = vx + tx + slide * bx, vy + ty + slide * by, vz + tz + slide * bz
            x, y, z = px + rx, py + ry, pz + rz
            if s < len(planes):
                fx, fy, fz = press_on_plane(
                    planes[s], bristles[at + k], share * world[3], share * damping, friction, x, y, z, radius, tx, ty,
                    tz, dt,
                )  # fmt: skip
            else:
                b = s - len(planes)
                fx, fy, fz = press_on_box(
                    boxes[b], poses[b], axes[b], loads[b], bristles[at + k], share * world[3], share * damping,
                    friction, x, y, z, radius, tx, ty, tz, dt,
                )  # fmt: skip
            sum_fx, sum_fy, sum_fz = sum_fx + fx, sum_fy + fy, sum_fz + fz
            tx, ty, tz = cross(rx, ry, rz, fx, fy, fz)
            sum_mx, sum_my, sum_mz = sum_mx + tx, sum_my + ty, sum_mz + tz
            pushed = jaw * dot(fx, fy, fz, bx, by, bz)
            if pushed > 0.0 and s >= len(planes):
                grip, damper = grip + 0.5, damping
                if jaw < 0.0:
                    left, left_box = left + pushed, s - len(planes)
                else:
                    right, right_box = right + pushed, s - len(planes)
    fx, fy, fz = world_to_base(arm, sum_fx, sum_fy, sum_fz)
    mx, my, mz = world_to_base(arm, sum_mx, sum_my, sum_mz)
    add_force(links, frames, n - 1, tip[9], tip[10], tip[11], fx, fy, fz, mx, my, mz, torque)
    if dt > 0.0:
        unit.fx, unit.fy, unit.fz, unit.mx, unit.my, unit.mz = sum_fx, sum_fy, sum_fz, sum_mx, sum_my, sum_mz
        unit.pressed = 0.5 * (left + right)
        unit.grip, unit.damper = grip, damper
        both = left > HELD and right > HELD and left_box == right_box
        unit.held = left_box + 1.0 if both and boxes[left_box].mass > 0.0 else 0.0
    return slot + surfaces * touching


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
