"""What the tool of an arm and its pads touch in engine `arm`: their points against every surface, side by side.

One record holds the same quantity of many points in one vector (POINTS: their places, TOUCH: work); the loops over its
lanes have no branches, so that the compiler makes vector code of them. Surfaces that the tool cannot reach cost one
comparison.
"""

from __future__ import annotations

from math import sqrt

from botz.engines.arm.boxes import forget
from botz.engines.arm.contacts import base_to_world, beside, damping_between, tool_motion, world_to_base
from botz.engines.arm.model import LANES
from botz.kernels import compiled, inlined, on_lanes
from botz.physics.arm.dh import add_force, combined
from botz.physics.contact.box import ball_in_box
from botz.physics.contact.penalty import penalty_force
from botz.rotations import cross, dot

HELD = 1.0
"""Force of each pad from which an object between them counts as held [N]."""


@on_lanes
def place_points(points, touch, axes, motion, opening, jaw_rate):
    """Points from the tool's point, and their velocities, in the world's axes; pads stand apart along the tool's y.
    `axes` of the tool (9), `motion`: velocity of its point and angular velocity (6)."""
    ax, ay, az, bx, by, bz, cx, cy, cz = axes
    vx, vy, vz, wx, wy, wz = motion
    for i in range(LANES):
        apart = 0.5 * points.jaw[i]
        y = points.y[i] + apart * opening
        rx, ry, rz = combined(ax, ay, az, bx, by, bz, cx, cy, cz, points.x[i], y, points.z[i])
        tx, ty, tz = cross(wx, wy, wz, rx, ry, rz)
        slide = apart * jaw_rate
        touch.rx[i], touch.ry[i], touch.rz[i] = rx, ry, rz
        touch.vx[i], touch.vy[i], touch.vz[i] = vx + tx + slide * bx, vy + ty + slide * by, vz + tz + slide * bz


@on_lanes
def meet_plane(points, touch, plane, px, py, pz):
    """Depth in a plane, its normal, and the velocity against it; p: the tool's point."""
    for i in range(LANES):
        x, y, z = px + touch.rx[i], py + touch.ry[i], pz + touch.rz[i]
        touch.depth[i] = plane.offset - dot(plane.nx, plane.ny, plane.nz, x, y, z) + points.radius[i]
        touch.nx[i], touch.ny[i], touch.nz[i] = plane.nx, plane.ny, plane.nz
        touch.sx[i], touch.sy[i], touch.sz[i] = touch.vx[i], touch.vy[i], touch.vz[i]


@on_lanes
def meet_box(points, touch, box, pose, axes, dx, dy, dz):
    """The same of a box; d: from its middle to the tool's point."""
    ax, ay, az, bx, by, bz, cx, cy, cz = (
        axes[0], axes[1], axes[2], axes[3], axes[4], axes[5], axes[6], axes[7], axes[8]
    )  # fmt: skip
    wx, wy, wz = combined(ax, ay, az, bx, by, bz, cx, cy, cz, pose[10], pose[11], pose[12])
    vx, vy, vz = pose[7], pose[8], pose[9]
    hx, hy, hz = box.hx, box.hy, box.hz
    for i in range(LANES):
        x, y, z = dx + touch.rx[i], dy + touch.ry[i], dz + touch.rz[i]
        depth, nx, ny, nz = ball_in_box(
            hx, hy, hz, dot(ax, ay, az, x, y, z), dot(bx, by, bz, x, y, z), dot(cx, cy, cz, x, y, z), points.radius[i]
        )
        tx, ty, tz = cross(wx, wy, wz, x, y, z)
        touch.depth[i] = depth
        touch.nx[i], touch.ny[i], touch.nz[i] = combined(ax, ay, az, bx, by, bz, cx, cy, cz, nx, ny, nz)
        touch.sx[i], touch.sy[i], touch.sz[i] = touch.vx[i] - vx - tx, touch.vy[i] - vy - ty, touch.vz[i] - vz - tz


@compiled
def press_points(points, touch, bristles, stiffness, damping, friction, dt):
    """Forces on the points. With dt > 0 their friction moves on; what does not touch sticks anew when it does."""
    for i in range(LANES):
        touch.ux[i], touch.uy[i], touch.uz[i] = bristles[i, 0], bristles[i, 1], bristles[i, 2]
    for i in range(LANES):
        fraction = points.fraction[i]
        fx, fy, fz, ux, uy, uz = penalty_force(
            (fraction * stiffness, fraction * damping, friction), touch.depth[i],
            (touch.nx[i], touch.ny[i], touch.nz[i]),
            (touch.sx[i], touch.sy[i], touch.sz[i]), (touch.ux[i], touch.uy[i], touch.uz[i]), dt,
        )  # fmt: skip
        touches = touch.depth[i] > 0.0
        touch.fx[i], touch.fy[i], touch.fz[i] = fx if touches else 0.0, fy if touches else 0.0, fz if touches else 0.0
        touch.ux[i], touch.uy[i], touch.uz[i] = ux if touches else 0.0, uy if touches else 0.0, uz if touches else 0.0
    if dt > 0.0:
        for i in range(LANES):
            bristles[i, 0], bristles[i, 1], bristles[i, 2] = touch.ux[i], touch.uy[i], touch.uz[i]


@compiled
def sum_points(touch):  # -> force and moment about the tool's point
    fx = fy = fz = mx = my = mz = 0.0
    for i in range(LANES):
        tx, ty, tz = cross(touch.rx[i], touch.ry[i], touch.rz[i], touch.fx[i], touch.fy[i], touch.fz[i])
        fx, fy, fz = fx + touch.fx[i], fy + touch.fy[i], fz + touch.fz[i]
        mx, my, mz = mx + tx, my + ty, mz + tz
    return fx, fy, fz, mx, my, mz


@compiled
def sum_pads(points, touch, bx, by, bz):  # -> force of the left pad and of the right one, number of points that press
    """Along the tool's y, in which the jaws move."""
    left = right = 0.0
    count = 0
    for i in range(LANES):
        pushed = points.jaw[i] * dot(touch.fx[i], touch.fy[i], touch.fz[i], bx, by, bz)
        if pushed > 0.0:
            count += 1
            if points.jaw[i] < 0.0:
                left += pushed
            else:
                right += pushed
    return left, right, count


@inlined
def press_tool(model, state, work, u, dt, torque):
    """All points of the tool of one arm and of its pads on all surfaces: loads on the boxes, joint torques. With dt > 0
    friction moves on; also the wrench on the tool, what the jaws press and what they hold."""
    arm, unit, tool = model.arms[u], model.units[u], state.tools[u]
    world, planes, boxes, bristles = model.world[0], model.planes, model.boxes, state.bristles
    s, e = unit.start, unit.start + unit.n
    links, frames, qd = model.links[s:e], work.frames[s + u : e + u + 1], state.qd[s:e]
    tip = frames[unit.n]
    px, py, pz = base_to_world(arm, tip[9], tip[10], tip[11])
    px, py, pz = px + arm.base_x, py + arm.base_y, pz + arm.base_z
    bx, by, bz = base_to_world(arm, tip[3], tip[4], tip[5])
    sum_fx = sum_fy = sum_fz = sum_mx = sum_my = sum_mz = 0.0
    left = right = 0.0
    grip = damper = 0.0
    left_box = right_box = -1
    placed = False
    touching, fixed = LANES * unit.blocks, len(model.fixed_poses)
    for surface in range(len(planes) + len(boxes)):
        at, b = unit.first_bristle + surface * touching, surface - len(planes)
        dx = dy = dz = 0.0
        if b < 0:
            plane = planes[surface]
            far = dot(plane.nx, plane.ny, plane.nz, px, py, pz) - plane.offset > unit.reach
        else:
            pose = model.fixed_poses[b] if b < fixed else state.poses[b - fixed]
            axes = model.fixed_axes[b] if b < fixed else work.axes[b - fixed]
            dx, dy, dz = px - pose[0], py - pose[1], pz - pose[2]
            far = beside(boxes[b], axes, dx, dy, dz, unit.reach)
        if far:
            if dt > 0.0:
                forget(bristles, at, touching)
            continue
        if not placed:
            placed = True
            ax, ay, az = base_to_world(arm, tip[0], tip[1], tip[2])
            cx, cy, cz = base_to_world(arm, tip[6], tip[7], tip[8])
            vx, vy, vz, wx, wy, wz = tool_motion(links, frames, qd)
            vx, vy, vz = base_to_world(arm, vx, vy, vz)
            wx, wy, wz = base_to_world(arm, wx, wy, wz)
            for k in range(unit.blocks):
                place_points(
                    model.points[unit.first_block + k], work.touch[k], (ax, ay, az, bx, by, bz, cx, cy, cz),
                    (vx, vy, vz, wx, wy, wz), tool.opening, tool.jaw_rate,
                )  # fmt: skip
        damping = damping_between(world, unit.mass, boxes[b].mass if b >= 0 else 0.0)
        friction = sqrt(unit.friction * (boxes[b].friction if b >= 0 else planes[surface].friction))
        for k in range(unit.blocks):
            points, touch = model.points[unit.first_block + k], work.touch[k]
            if b < 0:
                meet_plane(points, touch, planes[surface], px, py, pz)
            else:
                meet_box(points, touch, boxes[b], pose, axes, dx, dy, dz)
            press_points(points, touch, bristles[at + LANES * k :], world.stiffness, damping, friction, dt)
            fx, fy, fz, mx, my, mz = sum_points(touch)
            sum_fx, sum_fy, sum_fz = sum_fx + fx, sum_fy + fy, sum_fz + fz
            sum_mx, sum_my, sum_mz = sum_mx + mx, sum_my + my, sum_mz + mz
            if b >= 0:
                load = work.loads[b]
                tx, ty, tz = cross(dx, dy, dz, fx, fy, fz)
                load[0], load[1], load[2] = load[0] - fx, load[1] - fy, load[2] - fz
                load[3], load[4], load[5] = load[3] - mx - tx, load[4] - my - ty, load[5] - mz - tz
            if b >= 0 and dt > 0.0:
                by_left, by_right, count = sum_pads(points, touch, bx, by, bz)
                left, right, grip = left + by_left, right + by_right, grip + 0.5 * count
                damper = damping if count > 0 else damper
                left_box = b if by_left > 0.0 else left_box
                right_box = b if by_right > 0.0 else right_box
    if placed:
        force, moment = world_to_base(arm, sum_fx, sum_fy, sum_fz), world_to_base(arm, sum_mx, sum_my, sum_mz)
        add_force(links, frames, unit.n - 1, (tip[9], tip[10], tip[11]), force, moment, torque)
    if dt > 0.0:
        tool.fx, tool.fy, tool.fz, tool.mx, tool.my, tool.mz = sum_fx, sum_fy, sum_fz, sum_mx, sum_my, sum_mz
        tool.pressed = 0.5 * (left + right)
        tool.grip, tool.damper = grip, damper
        both = left > HELD and right > HELD and left_box == right_box
        tool.held = left_box + 1.0 if both and boxes[left_box].mass > 0.0 else 0.0
