"""Which bodies of a match may touch within a step, and where: the lists that the impacts are worked out on."""

from __future__ import annotations

from math import sqrt

from botz.engines.soccer.model import BALL_WALL, ROBOT_BALL, ROBOT_ROBOT, ROBOT_WALL
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
def find_neighbours(field, robots, match, pairs, cells, margin):
    """Pairs of robots within reach of each other plus a margin, in order of their numbers.

    Robots are sorted into cells as wide as that, so that each looks at the nine cells around it and not at all others.
    """
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
                        reach = one.reach + other.reach + margin
                        if dx * dx + dy * dy < reach * reach and found < len(pairs):
                            # Sorted in, so that the list does not depend on the cells.
                            k = found
                            while k > first and pairs[k - 1, 1] > j:
                                pairs[k, 0], pairs[k, 1] = pairs[k - 1, 0], pairs[k - 1, 1]
                                k -= 1
                            pairs[k, 0], pairs[k, 1] = i, j
                            found += 1
                    j = cells[heads + j]
    match.pairs = found
    match.drift = 0.0


@inlined
def cell_of(field, x, y):
    column = min(max(int((x + field.back) / field.cell), 0), field.columns - 1)
    row = min(max(int((y + field.side) / field.cell), 0), field.rows - 1)
    return row * field.columns + column


@compiled
def note_near(match, near, i, j):
    if match.near < len(near):
        near[match.near, 0], near[match.near, 1] = i, j
        match.near += 1
    else:
        match.overflow = 1


@compiled
def add_contact(robots, bodies, match, contacts, coefficients, resting, i, j, kind, nx, ny, px, py, qx, qy, gap):
    """A contact of body `i` with `j`: normal towards `i`, point (px, py) from i's middle and (qx, qy) from j's."""
    if match.contacts >= len(contacts):
        match.overflow = 1
        return
    contact = contacts[match.contacts]
    match.contacts += 1
    contact.first, contact.second, contact.mate, contact.round, contact.looks = i, j, -1, 0, 0
    contact.normal_x, contact.normal_y, contact.gap = nx, ny, gap
    contact.arm1_x, contact.arm1_y, contact.arm2_x, contact.arm2_y = px, py, qx, qy
    contact.restitution, contact.friction = coefficients[kind].restitution, coefficients[kind].friction
    contact.resting = resting[i]
    contact.g10, contact.g11 = response(robots, i, nx, ny, px, py)
    contact.t10, contact.t11 = response(robots, i, -ny, nx, px, py)
    contact.inverse_mass = mobility(bodies[i], contact.g10, contact.g11)
    contact.tangent_inverse = mobility(bodies[i], contact.t10, contact.t11)
    contact.g20 = contact.g21 = contact.t20 = contact.t21 = 0.0
    if j != WALL:
        contact.resting = max(contact.resting, resting[j])
        contact.g20, contact.g21 = response(robots, j, nx, ny, qx, qy)
        contact.t20, contact.t21 = response(robots, j, -ny, nx, qx, qy)
        contact.inverse_mass += mobility(bodies[j], contact.g20, contact.g21)
        contact.tangent_inverse += mobility(bodies[j], contact.t20, contact.t21)


@inlined
def response(robots, i, nx, ny, px, py):
    """g of a body: how its two speeds move its point (px, py) along n."""
    if i == len(robots):
        return nx, ny
    return robots[i].cosine * nx + robots[i].sine * ny, px * ny - py * nx


@compiled
def join(match, contacts, before):
    """The last two contacts belong to the same two faces."""
    if match.contacts - before == 2:
        contacts[before].mate = before + 1
        contacts[before + 1].mate = before


@compiled
def turns(match, contacts):
    """The normal of the last contact changes while the ball moves round a corner."""
    if match.contacts > 0:
        contacts[match.contacts - 1].round = 1


@compiled
def look_closer(field, robots, bodies, match, contact, now):
    """A contact of the ball with the geometry of the moment at which it closes: round a corner or a post the normal
    turns by about v h/r in a step, far more than at a straight wall."""
    ball = bodies[len(robots)]
    ahead = now - ball.since
    x = match.ball_x + (ball.way0 + ball.rate0 * ahead)
    y = match.ball_y + (ball.way1 + ball.rate1 * ahead)
    if contact.second == WALL:
        mx, my = (1.0 if x >= 0.0 else -1.0), (1.0 if y >= 0.0 else -1.0)
        nx, ny, gap = ball_at_goal_wall(field.end, field.post, mx * x, my * y, field.radius)
        nx, ny = mx * nx, my * ny
    else:
        robot, body = robots[contact.second], bodies[contact.second]
        ahead = now - body.since
        along, turn = body.way0 + body.rate0 * ahead, body.way1 + body.rate1 * ahead
        c, s = turned(robot.cosine, robot.sine, robot.heading, turn)
        dx = x - (robot.x + along * 0.5 * (robot.cosine + c))
        dy = y - (robot.y + along * 0.5 * (robot.sine + s))
        nx, ny, px, py, gap = ball_square(field.radius, robot.half, c, s, dx, dy)
        contact.arm2_x, contact.arm2_y = px, py
        contact.g20, contact.g21 = c * nx + s * ny, px * ny - py * nx
        contact.t20, contact.t21 = s * nx - c * ny, px * nx + py * ny
    contact.normal_x, contact.normal_y = nx, ny
    contact.g10, contact.g11, contact.t10, contact.t11 = nx, ny, -ny, nx
    contact.inverse_mass = mobility(ball, nx, ny)
    contact.tangent_inverse = mobility(ball, -ny, nx)
    if contact.second != WALL:
        contact.inverse_mass += mobility(bodies[contact.second], contact.g20, contact.g21)
        contact.tangent_inverse += mobility(bodies[contact.second], contact.t20, contact.t21)
    # So that the gap foreseen for this moment is the true one.
    contact.gap = 0.0
    contact.gap = gap - predicted_gap(bodies, contact, now)


# --- pairs -------------------------------------------------------------------------------------------------------


@compiled
def robots_meet(robots, bodies, match, contacts, coefficients, resting, i, j, within):
    one, other = robots[i], robots[j]
    dx, dy = other.x - one.x, other.y - one.y
    count, nx, ny, px, py, gap_p, qx, qy, gap_q = square_square(
        one.half, one.cosine, one.sine, other.half, other.cosine, other.sine, dx, dy
    )
    before = match.contacts
    if count == 0:
        return
    for k in range(2):
        x, y, gap = (px, py, gap_p) if k == 0 else (qx, qy, gap_q)
        if gap < within:
            add_contact(robots, bodies, match, contacts, coefficients, resting, i, j, ROBOT_ROBOT, nx, ny, x, y,
                        x - dx, y - dy, gap)  # fmt: skip
    join(match, contacts, before)


@compiled
def ball_meets(field, robots, bodies, match, contacts, coefficients, resting, i, within):
    robot = robots[i]
    ball = len(robots)
    dx, dy = match.ball_x - robot.x, match.ball_y - robot.y
    nx, ny, px, py, gap = ball_square(field.radius, robot.half, robot.cosine, robot.sine, dx, dy)
    if gap < within:
        add_contact(robots, bodies, match, contacts, coefficients, resting, ball, i, ROBOT_BALL, nx, ny, px - dx,
                    py - dy, px, py, gap)  # fmt: skip
        turns(match, contacts)


@compiled
def pair_gap(field, robots, match, i, j):
    """Of two bodies, or of a body and the walls; negative where they overlap."""
    ball = len(robots)
    if j == WALL:
        return ball_wall_gap(field, match.ball_x, match.ball_y) if i == ball else robot_wall_gap(field, robots[i])
    if i == ball:
        robot = robots[j]
        return ball_square(
            field.radius, robot.half, robot.cosine, robot.sine, match.ball_x - robot.x, match.ball_y - robot.y
        )[4]
    one, other = robots[i], robots[j]
    return square_gap(
        one.half, one.cosine, one.sine, other.half, other.cosine, other.sine, other.x - one.x, other.y - one.y
    )


# --- walls -------------------------------------------------------------------------------------------------------


@compiled
def ball_wall_gap(field, x, y):
    x, y = abs(x), abs(y)
    _, _, gap = ball_at_goal_wall(field.end, field.post, x, y, field.radius)
    gap = min(gap, field.side - y - field.radius)
    gap = min(gap, field.back - x - field.radius)
    return min(gap, DIAGONAL * (field.corner - x - y) - field.radius)


@compiled
def robot_wall_gap(field, robot):
    extent = half_extent(robot.half, robot.cosine, robot.sine)
    gap = min(field.side - abs(robot.y), field.back - abs(robot.x)) - extent
    along, across = abs(robot.cosine + robot.sine), abs(robot.cosine - robot.sine)
    gap = min(gap, DIAGONAL * (field.corner - abs(robot.x) - abs(robot.y) - robot.half * (along + across)))
    for k in range(4):
        mx, my = 1.0 - 2.0 * (k % 2), 1.0 - 2.0 * (k // 2)
        x, y = mx * robot.x, my * robot.y
        if max(field.end - x, field.post - y) - extent >= gap:
            continue  # it is at least that far from this wall
        wall, _, _, _ = goal_wall_gap(field.end, field.post, x, y, robot.half, mx * robot.cosine, my * robot.sine)
        gap = min(gap, wall)
    return gap


@inlined
def clear_of_walls(field, x, y, extent, within):
    """Whether a body that reaches `extent` from (x, y) is far from every wall."""
    x, y = abs(x) + extent + within, abs(y) + extent + within
    return x < field.end and y < field.side and x + y < field.corner


@compiled
def ball_at_walls(field, robots, bodies, match, contacts, coefficients, resting, within):
    ball, radius = len(robots), field.radius
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
            add_contact(robots, bodies, match, contacts, coefficients, resting, ball, WALL, BALL_WALL, wx, wy,
                        -radius * wx, -radius * wy, 0.0, 0.0, gap)  # fmt: skip
            if k == 0:
                turns(match, contacts)
    # A ball in the goal may touch its other side as well.
    if x > field.end and field.post + y - radius < within:
        add_contact(robots, bodies, match, contacts, coefficients, resting, ball, WALL, BALL_WALL, 0.0, my,
                    0.0, -my * radius, 0.0, 0.0, field.post + y - radius)  # fmt: skip


@compiled
def robot_at_walls(field, robots, bodies, match, contacts, coefficients, resting, i, within):
    """Side walls, backs of the goals, triangles, and the four walls beside the goals with their posts."""
    robot = robots[i]
    c, s, half = robot.cosine, robot.sine, robot.half
    extent = half_extent(half, c, s)
    diagonal = half * (abs(c + s) + abs(c - s))
    for k in range(4):
        mx, my = 1.0 - 2.0 * (k % 2), 1.0 - 2.0 * (k // 2)
        x, y = mx * robot.x, my * robot.y
        if mx > 0.0 and field.side - y - extent < within:
            plane(robots, bodies, match, contacts, coefficients, resting, i, 0.0, -my, field.side - y, within)
        if my > 0.0 and field.back - x - extent < within:
            plane(robots, bodies, match, contacts, coefficients, resting, i, -mx, 0.0, field.back - x, within)
        if DIAGONAL * (field.corner - x - y - diagonal) < within:
            plane(robots, bodies, match, contacts, coefficients, resting, i, -DIAGONAL * mx, -DIAGONAL * my,
                  DIAGONAL * (field.corner - x - y), within)  # fmt: skip
        if max(field.end - x, field.post - y) - extent >= within:
            continue
        gap, count, nx, ny, px, py, gap_p, qx, qy, gap_q = square_at_goal_wall(
            field.end, field.post, x, y, half, mx * c, my * s
        )
        if gap >= within:
            continue
        before = match.contacts
        for point in range(count):
            ax, ay, at = (px, py, gap_p) if point == 0 else (qx, qy, gap_q)
            if at < within:
                add_contact(robots, bodies, match, contacts, coefficients, resting, i, WALL, ROBOT_WALL, mx * nx,
                            my * ny, mx * ax, my * ay, 0.0, 0.0, at)  # fmt: skip
        join(match, contacts, before)


@compiled
def plane(robots, bodies, match, contacts, coefficients, resting, i, nx, ny, distance, within):
    """A straight wall with normal n towards the robot, `distance` from its middle: the vertices that come near."""
    robot = robots[i]
    c, s, half = robot.cosine, robot.sine, robot.half
    before = match.contacts
    for k in range(4):
        along, across = half * (1.0 - 2.0 * (k % 2)), half * (1.0 - 2.0 * (k // 2))
        px, py = along * c - across * s, along * s + across * c
        gap = distance + nx * px + ny * py
        if gap < within:
            add_contact(robots, bodies, match, contacts, coefficients, resting, i, WALL, ROBOT_WALL, nx, ny, px, py,
                        0.0, 0.0, gap)  # fmt: skip
    join(match, contacts, before)


# --- all of them -------------------------------------------------------------------------------------------------


@compiled
def collect(field, coefficients, robots, bodies, match, contacts, near, pairs, resting, within):
    """All bodies that may touch within this step, and the contacts that they may have."""
    match.contacts = match.near = match.overflow = 0
    ball = len(robots)
    if not clear_of_walls(field, match.ball_x, match.ball_y, field.radius, within):
        note_near(match, near, ball, WALL)
        ball_at_walls(field, robots, bodies, match, contacts, coefficients, resting, within)
    for i in range(ball):
        robot = robots[i]
        if robot.playing == 0.0:
            continue
        if not clear_of_walls(field, robot.x, robot.y, robot.reach, within):
            note_near(match, near, i, WALL)
            robot_at_walls(field, robots, bodies, match, contacts, coefficients, resting, i, within)
        dx, dy = match.ball_x - robot.x, match.ball_y - robot.y
        reach = robot.reach + field.radius + within
        if dx * dx + dy * dy < reach * reach:
            note_near(match, near, ball, i)
            ball_meets(field, robots, bodies, match, contacts, coefficients, resting, i, within)
    match.tests += ball + match.pairs
    for k in range(match.pairs):
        i, j = pairs[k, 0], pairs[k, 1]
        one, other = robots[i], robots[j]
        dx, dy = other.x - one.x, other.y - one.y
        reach = one.reach + other.reach + within
        if dx * dx + dy * dy < reach * reach:
            note_near(match, near, i, j)
            robots_meet(robots, bodies, match, contacts, coefficients, resting, i, j, within)
