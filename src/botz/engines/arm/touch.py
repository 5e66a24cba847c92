"""What the tool of an arm and its pads touch in engine `arm`: their points against every surface, side by side.

One record holds the same quantity of many points in one vector; the loops over its lanes have no branches, so that the
compiler makes vector code of them. Surfaces that the tool cannot reach cost one comparison.
"""

from __future__ import annotations

from math import sqrt

from botz.engines.arm.boxes import forget
from botz.engines.arm.contacts import base_to_world, beside, damping_between, tool_motion, world_to_base
from botz.engines.arm.model import LANES
from botz.kernels import compiled
from botz.physics.arm.dh import add_force, combined
from botz.physics.contact.box import ball_in_box
from botz.physics.contact.penalty import penalty_force
from botz.rotations import cross, dot

HELD = 1.0
"""Force of each pad from which an object between them counts as held [N]."""


@compiled
def place_points(block, ax, ay, az, bx, by, bz, cx, cy, cz, vx, vy, vz, wx, wy, wz, opening, jaw_rate):
    """Points from the tool's point, and their velocities, in the world's axes; pads stand apart along the tool's y."""
    for i in range(LANES):
        apart = 0.5 * block.jaw[i]
        y = block.y[i] + apart * opening
        rx, ry, rz = combined(ax, ay, az, bx, by, bz, cx, cy, cz, block.x[i], y, block.z[i])
        tx, ty, tz = cross(wx, wy, wz, rx, ry, rz)
        slide = apart * jaw_rate
        block.rx[i], block.ry[i], block.rz[i] = rx, ry, rz
        block.vx[i], block.vy[i], block.vz[i] = vx + tx + slide * bx, vy + ty + slide * by, vz + tz + slide * bz


@compiled
def meet_plane(block, plane, px, py, pz):
    """Depth in a plane, its normal, and the velocity against it; p: the tool's point."""
    for i in range(LANES):
        x, y, z = px + block.rx[i], py + block.ry[i], pz + block.rz[i]
        block.depth[i] = plane.offset - dot(plane.nx, plane.ny, plane.nz, x, y, z) + block.radius[i]
        block.nx[i], block.ny[i], block.nz[i] = plane.nx, plane.ny, plane.nz
        block.sx[i], block.sy[i], block.sz[i] = block.vx[i], block.vy[i], block.vz[i]


@compiled
def meet_box(block, box, pose, axes, dx, dy, dz):
    """The same of a box; d: from its middle to the tool's point."""
    ax, ay, az, bx, by, bz, cx, cy, cz = (
        axes[0], axes[1], axes[2], axes[3], axes[4], axes[5], axes[6], axes[7], axes[8]
    )  # fmt: skip
    wx, wy, wz = combined(ax, ay, az, bx, by, bz, cx, cy, cz, pose[10], pose[11], pose[12])
    vx, vy, vz = pose[7], pose[8], pose[9]
    hx, hy, hz = box.hx, box.hy, box.hz
    for i in range(LANES):
        x, y, z = dx + block.rx[i], dy + block.ry[i], dz + block.rz[i]
        depth, nx, ny, nz = ball_in_box(
            hx, hy, hz, dot(ax, ay, az, x, y, z), dot(bx, by, bz, x, y, z), dot(cx, cy, cz, x, y, z), block.radius[i]
        )
        tx, ty, tz = cross(wx, wy, wz, x, y, z)
        block.depth[i] = depth
        block.nx[i], block.ny[i], block.nz[i] = combined(ax, ay, az, bx, by, bz, cx, cy, cz, nx, ny, nz)
        block.sx[i], block.sy[i], block.sz[i] = block.vx[i] - vx - tx, block.vy[i] - vy - ty, block.vz[i] - vz - tz


@compiled
def press_points(block, bristles, at, stiffness, damping, friction, dt):
    """Forces on the points. With dt > 0 their friction moves on; what does not touch sticks anew when it does."""
    for i in range(LANES):
        block.ux[i], block.uy[i], block.uz[i] = bristles[at + i, 0], bristles[at + i, 1], bristles[at + i, 2]
    for i in range(LANES):
        share = block.share[i]
        fx, fy, fz, ux, uy, uz = penalty_force(
            (share * stiffness, share * damping, friction), block.depth[i], (block.nx[i], block.ny[i], block.nz[i]),
            (block.sx[i], block.sy[i], block.sz[i]), (block.ux[i], block.uy[i], block.uz[i]), dt,
        )  # fmt: skip
        touches = block.depth[i] > 0.0
        block.fx[i], block.fy[i], block.fz[i] = fx if touches else 0.0, fy if touches else 0.0, fz if touches else 0.0
        block.ux[i], block.uy[i], block.uz[i] = ux if touches else 0.0, uy if touches else 0.0, uz if touches else 0.0
    if dt > 0.0:
        for i in range(LANES):
            bristles[at + i, 0], bristles[at + i, 1], bristles[at + i, 2] = block.ux[i], block.uy[i], block.uz[i]


@compiled
def sum_points(block):  # -> force and moment about the tool's point
    fx = fy = fz = mx = my = mz = 0.0
    for i in range(LANES):
        tx, ty, tz = cross(block.rx[i], block.ry[i], block.rz[i], block.fx[i], block.fy[i], block.fz[i])
        fx, fy, fz = fx + block.fx[i], fy + block.fy[i], fz + block.fz[i]
        mx, my, mz = mx + tx, my + ty, mz + tz
    return fx, fy, fz, mx, my, mz


@compiled
def sum_pads(block, bx, by, bz):  # -> force of the left pad and of the right one, number of points that press
    """Along the tool's y, in which the jaws move."""
    left = right = 0.0
    count = 0
    for i in range(LANES):
        pushed = block.jaw[i] * dot(block.fx[i], block.fy[i], block.fz[i], bx, by, bz)
        if pushed > 0.0:
            count += 1
            if block.jaw[i] < 0.0:
                left += pushed
            else:
                right += pushed
    return left, right, count


@compiled
def press_tool(
    # parameters
    arm, unit, links, blocks, planes, boxes, world,
    # state in
    frames, qd, poses, axes, dt,
    # out: friction, loads on the boxes, joint torques; -> next place among the bristles
    bristles, slot, loads, torque,
):  # fmt: skip
    """All points of a tool and its pads on all surfaces. With dt > 0 also the wrench on the tool, what the jaws press
    and what they hold."""
    n = len(links)
    tip = frames[n]
    px, py, pz = base_to_world(arm, tip[9], tip[10], tip[11])
    px, py, pz = px + arm.base_x, py + arm.base_y, pz + arm.base_z
    bx, by, bz = base_to_world(arm, tip[3], tip[4], tip[5])
    sum_fx = sum_fy = sum_fz = sum_mx = sum_my = sum_mz = 0.0
    left = right = 0.0
    grip = damper = 0.0
    left_box = right_box = -1
    placed = False
    touching = LANES * unit.blocks
    surfaces = len(planes) + len(boxes)
    for s in range(surfaces):
        at, b = slot + s * touching, s - len(planes)
        dx = dy = dz = 0.0
        if b < 0:
            far = dot(planes[s].nx, planes[s].ny, planes[s].nz, px, py, pz) - planes[s].offset > unit.reach
        else:
            dx, dy, dz = px - poses[b, 0], py - poses[b, 1], pz - poses[b, 2]
            far = beside(boxes[b], axes[b], dx, dy, dz, unit.reach)
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
                    blocks[k], ax, ay, az, bx, by, bz, cx, cy, cz, vx, vy, vz, wx, wy, wz, unit.opening, unit.jaw_rate
                )
        damping = damping_between(world, unit.mass, boxes[b].mass if b >= 0 else 0.0)
        friction = sqrt(unit.friction * (boxes[b].friction if b >= 0 else planes[s].friction))
        for k in range(unit.blocks):
            block = blocks[k]
            if b < 0:
                meet_plane(block, planes[s], px, py, pz)
            else:
                meet_box(block, boxes[b], poses[b], axes[b], dx, dy, dz)
            press_points(block, bristles, at + LANES * k, world[3], damping, friction, dt)
            fx, fy, fz, mx, my, mz = sum_points(block)
            sum_fx, sum_fy, sum_fz = sum_fx + fx, sum_fy + fy, sum_fz + fz
            sum_mx, sum_my, sum_mz = sum_mx + mx, sum_my + my, sum_mz + mz
            if b >= 0:
                load = loads[b]
                tx, ty, tz = cross(dx, dy, dz, fx, fy, fz)
                load[0], load[1], load[2] = load[0] - fx, load[1] - fy, load[2] - fz
                load[3], load[4], load[5] = load[3] - mx - tx, load[4] - my - ty, load[5] - mz - tz
            if b >= 0 and dt > 0.0:
                by_left, by_right, count = sum_pads(block, bx, by, bz)
                left, right, grip = left + by_left, right + by_right, grip + 0.5 * count
                damper = damping if count > 0 else damper
                left_box = b if by_left > 0.0 else left_box
                right_box = b if by_right > 0.0 else right_box
    if placed:
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
