"""Which bodies of a match may touch within a step, and where: the lists that the impacts are worked out on."""

from __future__ import annotations

from math import sqrt

from botz.engines.soccer.model import BALL_WALL, ROBOT_BALL, ROBOT_ROBOT, ROBOT_WALL
from botz.engines.soccer.work import bodies_of
from botz.kernels import compiled, inlined
from botz.physics.soccer.impact import WALL, mobility, predicted_gap
from botz.physics.soccer.planar_drive import turned
from botz.physics.soccer.square_contact import (
    ball_at_goal_wall,
    ball_square,
    goal_wall_gap,
    half_extent,
    square_at_goal_wall,
    square_gap,
    square_square,
)

DIAGONAL = sqrt(0.5)


@compiled
def find_neighbours(model, state, work, margin):
    """Pairs of robots within reach of each other plus a margin, in order of their numbers.

    Robots are sorted into cells as wide as that, so that each looks at the nine cells around it and not at all others.
    """
    field, robots, match, pairs, cells = model.field[0], state.robots, state.match[0], state.neighbours, work.cells
    count, columns, rows = len(robots), field.columns, field.rows
    heads = columns * rows
    for k in range(heads):
        cells[k] = -1
    for i in range(count - 1, -1, -1):
        if robots[i].playing == 0.0:
            continue
        cell = cell_of(field, robots[i].x, robots[i].y)
        cells[heads + i] = cells[cell]
        cells[cell] = i
    found = 0
    for i in range(count):
        if robots[i].playing == 0.0:
            continue
        one = robots[i]
        first = found
        cell = cell_of(field, one.x, one.y)
        column, row = cell % columns, cell // columns
        for near_row in range(max(row - 1, 0), min(row + 2, rows)):
            for near_column in range(max(column - 1, 0), min(column + 2, columns)):
                j = cells[near_row * columns + near_column]
                while j >= 0:
                    if j > i:
                        match.tests += 1.0
                        other = robots[j]
                        dx, dy = other.x - one.x, other.y - one.y
                        reach = model.robots[i].reach + model.robots[j].reach + margin
                        if dx * dx + dy * dy < reach * reach and found < len(pairs):
                            # Sorted in, so that the list does not depend on the cells.
                            k = found
                            while k > first and pairs[k - 1, 1] > j:
                                pairs[k, 0], pairs[k, 1] = pairs[k - 1, 0], pairs[k - 1, 1]
                                k -= 1
                            pairs[k, 0], pairs[k, 1] = i, j
                            found += 1
                    j = cells[heads + j]
    match.neighbours = found
    match.drift = 0.0


@inlined
def cell_of(field, x, y):
    column = min(max(int((x + field.back) / field.cell), 0), field.columns - 1)
    row = min(max(int((y + field.side) / field.cell), 0), field.rows - 1)
    return row * field.columns + column


@inlined
def note_near(work, i, j):
    counts, near = work.counts[0], work.near
    if counts.near < len(near):
        near[counts.near, 0], near[counts.near, 1] = i, j
        counts.near += 1
    else:
        counts.overflow = 1


@compiled
def add_contact(model, state, work, i, j, kind, normal, arm1, arm2, gap):
    """A contact of body `i` with `j`: normal towards `i`, the point from i's middle and from j's."""
    counts = work.counts[0]
    if counts.contacts >= len(work.contacts):
        counts.overflow = 1
        return
    contact, pair, inertia = work.contacts[counts.contacts], model.pairs[kind], model.inertia[i]
    counts.contacts += 1
    nx, ny = normal
    contact.first, contact.second, contact.mate, contact.round, contact.looks = i, j, -1, 0, 0
    contact.normal_x, contact.normal_y, contact.gap = nx, ny, gap
    contact.arm1_x, contact.arm1_y = arm1
    contact.arm2_x, contact.arm2_y = arm2
    contact.restitution, contact.friction = pair.restitution, pair.friction
    contact.resting = inertia.resting
    contact.g10, contact.g11 = response(state.robots, i, nx, ny, arm1)
    contact.t10, contact.t11 = response(state.robots, i, -ny, nx, arm1)
    contact.inverse_mass = mobility(inertia, contact.g10, contact.g11)
    contact.tangent_inverse = mobility(inertia, contact.t10, contact.t11)
    contact.g20 = contact.g21 = contact.t20 = contact.t21 = 0.0
    if j != WALL:
        inertia = model.inertia[j]
        contact.resting = max(contact.resting, inertia.resting)
        contact.g20, contact.g21 = response(state.robots, j, nx, ny, arm2)
        contact.t20, contact.t21 = response(state.robots, j, -ny, nx, arm2)
        contact.inverse_mass += mobility(inertia, contact.g20, contact.g21)
        contact.tangent_inverse += mobility(inertia, contact.t20, contact.t21)


@inlined
def response(robots, i, nx, ny, arm):
    """g of a body: how its two speeds move its point along n."""
    px, py = arm
    if i == len(robots):
        return nx, ny
    return robots[i].cosine * nx + robots[i].sine * ny, px * ny - py * nx


@inlined
def join(work, before):
    """The last two contacts belong to the same two faces."""
    if work.counts[0].contacts - before == 2:
        work.contacts[before].mate = before + 1
        work.contacts[before + 1].mate = before


@inlined
def turns(work):
    """The normal of the last contact changes while the ball moves round a corner."""
    if work.counts[0].contacts > 0:
        work.contacts[work.counts[0].contacts - 1].round = 1


@compiled
def look_closer(model, state, work, contact, now):
    """A contact of the ball with the geometry of the moment at which it closes: round a corner or a post the normal
    turns by about v h/r in a step, far more than at a straight wall."""
    field, match, ball = model.field[0], state.match[0], len(model.robots)
    motion = work.motion[ball]
    ahead = now - motion.since
    x = match.ball_x + (motion.path0 + motion.rate0 * ahead)
    y = match.ball_y + (motion.path1 + motion.rate1 * ahead)
    if contact.second == WALL:
        mx, my = (1.0 if x >= 0.0 else -1.0), (1.0 if y >= 0.0 else -1.0)
        nx, ny, gap = ball_at_goal_wall(field.end, field.post, mx * x, my * y, field.radius)
        nx, ny = mx * nx, my * ny
    else:
        robot, motion = state.robots[contact.second], work.motion[contact.second]
        ahead = now - motion.since
        along, turn = motion.path0 + motion.rate0 * ahead, motion.path1 + motion.rate1 * ahead
        c, s = turned(robot.cosine, robot.sine, robot.heading, turn)
        dx = x - (robot.x + along * 0.5 * (robot.cosine + c))
        dy = y - (robot.y + along * 0.5 * (robot.sine + s))
        nx, ny, px, py, gap = ball_square(field.radius, model.robots[contact.second].half, c, s, dx, dy)
        contact.arm2_x, contact.arm2_y = px, py
        contact.g20, contact.g21 = c * nx + s * ny, px * ny - py * nx
        contact.t20, contact.t21 = s * nx - c * ny, px * nx + py * ny
    contact.normal_x, contact.normal_y = nx, ny
    contact.g10, contact.g11, contact.t10, contact.t11 = nx, ny, -ny, nx
    contact.inverse_mass = mobility(model.inertia[ball], nx, ny)
    contact.tangent_inverse = mobility(model.inertia[ball], -ny, nx)
    if contact.second != WALL:
        contact.inverse_mass += mobility(model.inertia[contact.second], contact.g20, contact.g21)
        contact.tangent_inverse += mobility(model.inertia[contact.second], contact.t20, contact.t21)
    # So that the gap foreseen for this moment is the true one.
    contact.gap = 0.0
    contact.gap = gap - predicted_gap(bodies_of(model, state, work), contact, now)


# --- pairs -------------------------------------------------------------------------------------------------------


@inlined
def robots_meet(model, state, work, i, j, within):
    half1, half2, one, other = model.robots[i].half, model.robots[j].half, state.robots[i], state.robots[j]
    dx, dy = other.x - one.x, other.y - one.y
    count, nx, ny, px, py, gap_p, qx, qy, gap_q = square_square(
        half1, one.cosine, one.sine, half2, other.cosine, other.sine, dx, dy
    )
    before = work.counts[0].contacts
    if count == 0:
        return
    for k in range(2):
        x, y, gap = (px, py, gap_p) if k == 0 else (qx, qy, gap_q)
        if gap < within:
            add_contact(model, state, work, i, j, ROBOT_ROBOT, (nx, ny), (x, y), (x - dx, y - dy), gap)
    join(work, before)


@inlined
def ball_meets(model, state, work, i, within):
    robot, match = state.robots[i], state.match[0]
    dx, dy = match.ball_x - robot.x, match.ball_y - robot.y
    nx, ny, px, py, gap = ball_square(model.field[0].radius, model.robots[i].half, robot.cosine, robot.sine, dx, dy)
    if gap < within:
        ball = len(model.robots)
        add_contact(model, state, work, ball, i, ROBOT_BALL, (nx, ny), (px - dx, py - dy), (px, py), gap)
        turns(work)


@inlined
def pair_gap(model, state, i, j):
    """Of two bodies, or of a body and the walls; negative where they overlap."""
    field, robots, match, ball = model.field[0], state.robots, state.match[0], len(model.robots)
    if j == WALL and i == ball:
        return ball_wall_gap(field, match.ball_x, match.ball_y)
    if j == WALL:
        return robot_wall_gap(field, model.robots[i].half, robots[i])
    other, half = robots[j], model.robots[j].half
    if i == ball:
        dx, dy = match.ball_x - other.x, match.ball_y - other.y
        return ball_square(field.radius, half, other.cosine, other.sine, dx, dy)[4]
    one = robots[i]
    dx, dy = other.x - one.x, other.y - one.y
    return square_gap(model.robots[i].half, one.cosine, one.sine, half, other.cosine, other.sine, dx, dy)


# --- walls -------------------------------------------------------------------------------------------------------


@compiled
def ball_wall_gap(field, x, y):
    x, y = abs(x), abs(y)
    _, _, gap = ball_at_goal_wall(field.end, field.post, x, y, field.radius)
    gap = min(gap, field.side - y - field.radius)
    gap = min(gap, field.back - x - field.radius)
    return min(gap, DIAGONAL * (field.corner - x - y) - field.radius)


@compiled
def robot_wall_gap(field, half, robot):
    extent = half_extent(half, robot.cosine, robot.sine)
    gap = min(field.side - abs(robot.y), field.back - abs(robot.x)) - extent
    along, across = abs(robot.cosine + robot.sine), abs(robot.cosine - robot.sine)
    gap = min(gap, DIAGONAL * (field.corner - abs(robot.x) - abs(robot.y) - half * (along + across)))
    for k in range(4):
        mx, my = 1.0 - 2.0 * (k % 2), 1.0 - 2.0 * (k // 2)
        x, y = mx * robot.x, my * robot.y
        if max(field.end - x, field.post - y) - extent >= gap:
            continue  # it is at least that far from this wall
        wall, _, _, _ = goal_wall_gap(field.end, field.post, x, y, half, mx * robot.cosine, my * robot.sine)
        gap = min(gap, wall)
    return gap


@inlined
def clear_of_walls(field, x, y, extent, within):
    """Whether a body that reaches `extent` from (x, y) is far from every wall."""
    x, y = abs(x) + extent + within, abs(y) + extent + within
    return x < field.end and y < field.side and x + y < field.corner


@compiled
def ball_at_walls(model, state, work, within):
    field, match, ball = model.field[0], state.match[0], len(model.robots)
    radius = field.radius
    mx, my = (1.0 if match.ball_x >= 0.0 else -1.0), (1.0 if match.ball_y >= 0.0 else -1.0)
    x, y = mx * match.ball_x, my * match.ball_y
    nx, ny, gap = ball_at_goal_wall(field.end, field.post, x, y, radius)
    for k in range(4):
        if k == 1:
            nx, ny, gap = 0.0, -1.0, field.side - y - radius
        elif k == 2:
            nx, ny, gap = -1.0, 0.0, field.back - x - radius
        elif k == 3:
            nx, ny, gap = -DIAGONAL, -DIAGONAL, DIAGONAL * (field.corner - x - y) - radius
        if gap < within:
            wx, wy = mx * nx, my * ny
            arm = (-radius * wx, -radius * wy)
            add_contact(model, state, work, ball, WALL, BALL_WALL, (wx, wy), arm, (0.0, 0.0), gap)
            if k == 0:
                turns(work)
    # A ball in the goal may touch its other side as well.
    gap = field.post + y - radius
    if x > field.end and gap < within:
        add_contact(model, state, work, ball, WALL, BALL_WALL, (0.0, my), (0.0, -my * radius), (0.0, 0.0), gap)


@compiled
def robot_at_walls(model, state, work, i, within):
    """Side walls, backs of the goals, triangles, and the four walls beside the goals with their posts."""
    field, robot, half = model.field[0], state.robots[i], model.robots[i].half
    c, s = robot.cosine, robot.sine
    extent = half_extent(half, c, s)
    diagonal = half * (abs(c + s) + abs(c - s))
    for k in range(4):
        mx, my = 1.0 - 2.0 * (k % 2), 1.0 - 2.0 * (k // 2)
        x, y = mx * robot.x, my * robot.y
        if mx > 0.0 and field.side - y - extent < within:
            straight_wall(model, state, work, i, (0.0, -my), field.side - y, within)
        if my > 0.0 and field.back - x - extent < within:
            straight_wall(model, state, work, i, (-mx, 0.0), field.back - x, within)
        if DIAGONAL * (field.corner - x - y - diagonal) < within:
            normal = (-DIAGONAL * mx, -DIAGONAL * my)
            straight_wall(model, state, work, i, normal, DIAGONAL * (field.corner - x - y), within)
        if max(field.end - x, field.post - y) - extent >= within:
            continue
        gap, count, nx, ny, px, py, gap_p, qx, qy, gap_q = square_at_goal_wall(
            field.end, field.post, x, y, half, mx * c, my * s
        )
        if gap >= within:
            continue
        before = work.counts[0].contacts
        for point in range(count):
            ax, ay, at = (px, py, gap_p) if point == 0 else (qx, qy, gap_q)
            if at < within:
                normal, arm = (mx * nx, my * ny), (mx * ax, my * ay)
                add_contact(model, state, work, i, WALL, ROBOT_WALL, normal, arm, (0.0, 0.0), at)
        join(work, before)


@compiled
def straight_wall(model, state, work, i, normal, distance, within):
    """A wall with a normal towards the robot, `distance` from its middle: the vertices that come near."""
    robot, half = state.robots[i], model.robots[i].half
    c, s = robot.cosine, robot.sine
    nx, ny = normal
    before = work.counts[0].contacts
    for k in range(4):
        along, across = half * (1.0 - 2.0 * (k % 2)), half * (1.0 - 2.0 * (k // 2))
        px, py = along * c - across * s, along * s + across * c
        gap = distance + nx * px + ny * py
        if gap < within:
            add_contact(model, state, work, i, WALL, ROBOT_WALL, normal, (px, py), (0.0, 0.0), gap)
    join(work, before)


# --- all of them -------------------------------------------------------------------------------------------------


@inlined
def collect(model, state, work, within):
    """All bodies that may touch within this step, and the contacts that they may have."""
    counts, match, field, ball = work.counts[0], state.match[0], model.field[0], len(model.robots)
    counts.contacts = counts.near = counts.overflow = 0
    if not clear_of_walls(field, match.ball_x, match.ball_y, field.radius, within):
        note_near(work, ball, WALL)
        ball_at_walls(model, state, work, within)
    for i in range(ball):
        robot, own_reach = state.robots[i], model.robots[i].reach
        if robot.playing == 0.0:
            continue
        if not clear_of_walls(field, robot.x, robot.y, own_reach, within):
            note_near(work, i, WALL)
            robot_at_walls(model, state, work, i, within)
        dx, dy = match.ball_x - robot.x, match.ball_y - robot.y
        reach = own_reach + field.radius + within
        if dx * dx + dy * dy < reach * reach:
            note_near(work, ball, i)
            ball_meets(model, state, work, i, within)
    match.tests += ball + match.neighbours
    for k in range(match.neighbours):
        i, j = int(state.neighbours[k, 0]), int(state.neighbours[k, 1])
        one, other = state.robots[i], state.robots[j]
        dx, dy = other.x - one.x, other.y - one.y
        reach = model.robots[i].reach + model.robots[j].reach + within
        if dx * dx + dy * dy < reach * reach:
            note_near(work, i, j)
            robots_meet(model, state, work, i, j, within)
