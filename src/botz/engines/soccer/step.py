"""The compiled loop of the engine `soccer`: speeds, impacts, ways, and a check that nothing overlaps afterwards."""

from __future__ import annotations

from math import atan2, cos, isfinite, sin, sqrt

from numba import njit

from botz.engines.soccer.contacts import collect, find_neighbours, pair_gap
from botz.engines.soccer.impacts import ROUNDING, resolve
from botz.engines.soccer.model import CONTINUE, END, EULER, KICK_OFF
from botz.engines.soccer.motion import drive_euler, drive_rk4, roll_ball, total_energy
from botz.engines.soccer.rows import observe_row
from botz.engines.soccer.separation import ATTEMPTS, NUDGE, near_all, separate
from botz.kernels import UNCOUNTED, compiled
from botz.physics.soccer.planar_drive import place, turned

FASTEST_SLIDE = 0.2
"""At which a robot slides aside [m/s]."""
TOO_FAR = 1.4
"""How many times the smallest feature a body may go in one part of a step; neighbours are looked for four times as
far, which is as far as the list of them reaches."""
MOST_PARTS = 400
"""Parts of a step; a body so fast that it needs more has no physical meaning."""


# --- ways ----------------------------------------------------------------------------------------------------------


@compiled
def begin_step(robots, bodies, match):
    ball = len(robots)
    match.start_x, match.start_y = match.ball_x, match.ball_y
    for i in range(ball + 1):
        body = bodies[i]
        body.way0 = body.way1 = body.since = 0.0
        body.before0, body.before1 = body.u0, body.u1
        body.held = 0
        body.side = 0.0
    for i in range(ball):
        robot = robots[i]
        robot.start_x, robot.start_y, robot.start_heading = robot.x, robot.y, robot.heading
        robot.start_cosine, robot.start_sine = robot.cosine, robot.sine
        robot.start_left, robot.start_right = robot.angle_left, robot.angle_right


@compiled
def move(robots, bodies, match, method, h):
    """Every body along its way. A robot's heading changes on it: it goes along the mean of both headings."""
    ball = len(robots)
    for i in range(ball + 1):
        body = bodies[i]
        ahead = h - body.since
        body.way0 += body.rate0 * ahead
        body.way1 += body.rate1 * ahead
    body = bodies[ball]
    match.ball_x += body.way0
    match.ball_y += body.way1
    for i in range(ball):
        robot, body = robots[i], bodies[i]
        if robot.playing == 0.0:
            continue
        along, turn = body.way0, body.way1
        if robot.slide != 0.0:
            aside = h * robot.slide
            robot.x -= aside * robot.sine
            robot.y += aside * robot.cosine
        if along == 0.0 and turn == 0.0:
            continue
        side = 0.5 * robot.track * turn
        robot.angle_left += (along - side) * robot.per_radius_left
        robot.angle_right += (along + side) * robot.per_radius_right
        c, s = turned(robot.cosine, robot.sine, robot.heading, turn)
        if method == EULER:
            x, y = along * 0.5 * (robot.cosine + c), along * 0.5 * (robot.sine + s)
        else:
            extra = along - robot.way_along
            x = robot.way_x + extra * 0.5 * (robot.cosine + c)
            y = robot.way_y + extra * 0.5 * (robot.sine + s)
        place(robot, robot.x + x, robot.y + y, robot.heading + turn, c, s)


# --- a step --------------------------------------------------------------------------------------------------------


@compiled
def fastest_point(robots, bodies):
    """Bound on the speed of any point of any body, and of any robot's [m/s]."""
    ball = bodies[len(robots)]
    of_ball = sqrt(ball.u0 * ball.u0 + ball.u1 * ball.u1)
    of_robots, total = 0.0, of_ball
    for i in range(len(robots)):
        speed = abs(bodies[i].u0) + abs(bodies[i].u1) * robots[i].reach + abs(robots[i].slide)
        of_robots = max(of_robots, speed)
        total += speed
    if not isfinite(total):
        return total, total  # the largest of several may hide what is no number
    return max(of_robots, of_ball), of_robots


@compiled
def step_part(
    field, coefficients, robots, bodies, match, contacts, near, pairs, cells, system, resting, margin, method, inputs, h
):  # fmt: skip
    """-> whether it was taken: False where motors make a body so fast that the step wants more parts."""
    begin_step(robots, bodies, match)
    ball = len(robots)
    motors, friction = match.motors, match.friction
    for i in range(ball):
        if robots[i].playing == 0.0:
            continue
        if method == EULER:
            drive_euler(robots[i], bodies[i], match, inputs, 5 * i, h)
        else:
            drive_rk4(robots[i], bodies[i], match, inputs, 5 * i, h)
    roll_ball(field, bodies[ball], match, method, h)
    fastest, of_robots = fastest_point(robots, bodies)
    if h * fastest > TOO_FAR * field.feature:
        for i in range(ball + 1):
            bodies[i].u0, bodies[i].u1 = bodies[i].before0, bodies[i].before1
        match.motors, match.friction = motors, friction
        return False
    # Two bodies come at most 2 h S closer; light ones leave an impact faster than heavy ones came, up to 1.4 S each
    # (more is looked for below), and nudges take the rest.
    within = 4.0 * h * fastest + 1e-6
    if 2.0 * match.drift + within > margin:
        find_neighbours(field, robots, match, pairs, cells, max(margin, within))
    collect(field, coefficients, robots, bodies, match, contacts, near, pairs, resting, within)
    if match.contacts > 0:
        resolve(field, robots, bodies, match, contacts, system, h)
    move(robots, bodies, match, method, h)
    if match.near > 0:
        after, of_robots = fastest_way(robots, bodies, h)
        if after > 0.35 * within or match.overflow == 1:
            near_all(robots, match, near)
        separate(field, coefficients, robots, bodies, match, contacts, near, resting, h, within)
        match.drift += of_robots + ATTEMPTS * NUDGE * within
    else:
        match.drift += h * of_robots
    slide_aside(robots, bodies, h)
    return True


@compiled
def slide_aside(robots, bodies, h):
    """Wheels do not slip, except where a robot leans on something harder than they grip: then it slides aside.

    Without that a robot flush along a wall could never leave it again: whichever way it turns, a corner is in the way.
    """
    for i in range(len(robots)):
        robot, body = robots[i], bodies[i]
        if body.side == 0.0 and robot.slide == 0.0:
            continue
        slide = robot.slide + body.side / body.mass
        kept = max(abs(slide) - robot.grip * h, 0.0)
        robot.slide = min(kept, FASTEST_SLIDE) if slide > 0.0 else -min(kept, FASTEST_SLIDE)


@compiled
def fastest_way(robots, bodies, h):
    """How far any point may have gone in this step, and any of a robot [m]."""
    ball = bodies[len(robots)]
    of_robots = 0.0
    for i in range(len(robots)):
        way = abs(bodies[i].way0) + abs(bodies[i].way1) * robots[i].reach + h * abs(robots[i].slide)
        of_robots = max(of_robots, way)
    return max(of_robots, sqrt(ball.way0 * ball.way0 + ball.way1 * ball.way1)), of_robots


@compiled
def to_kick_off(field, robots, bodies, match, places, start, kicking):
    """Robots in play and the ball to their places, at rest."""
    before = total_energy(field, robots, bodies)
    for i in range(len(robots)):
        if robots[i].playing == 0.0:
            continue
        x, y, heading = places[kicking, i, 0], places[kicking, i, 1], places[kicking, i, 2]
        place(robots[i], x, y, heading, cos(heading), sin(heading))
        robots[i].slide = 0.0
        bodies[i].u0 = bodies[i].u1 = 0.0
    ball = bodies[len(robots)]
    ball.u0 = ball.u1 = 0.0
    match.ball_x, match.ball_y = start[0], start[1]
    match.in_goal = 0.0
    match.drift = 1e9
    match.placed += total_energy(field, robots, bodies) - before


@compiled
def keep_score(field, robots, bodies, match, places, start):  # -> 1 or 2 for a goal of blue or yellow, else 0
    """A goal counts once the whole ball has crossed the line: yellow's goal is at +x."""
    if abs(match.ball_x) <= field.end + field.radius:
        if abs(match.ball_x) < field.end:
            match.in_goal = 0.0
        return 0
    if match.in_goal != 0.0:
        return 0
    match.in_goal = 1.0
    scorer = 1 if match.ball_x > 0.0 else 2
    if scorer == 1:
        match.score_blue += 1.0
    else:
        match.score_yellow += 1.0
    if field.after_goal == KICK_OFF:
        to_kick_off(field, robots, bodies, match, places, start, 1 if scorer == 1 else 0)
    return scorer


@njit(cache=True, nogil=True, **UNCOUNTED)
def advance_match(
    fields, coefficients, robots, bodies, matches, contacts, near, pairs, cells, places, system, resting,
    start, margin, method, dt, inputs, step, n, record_every, rows,
):  # fmt: skip
    """-> steps taken, whether all is finite, and the scorer of a goal that ended the run."""
    field, match = fields[0], matches[0]
    row = 0
    for k in range(n):
        fastest, _ = fastest_point(robots, bodies)
        if not fastest * dt < MOST_PARTS * field.feature:
            return k, False, 0
        parts = int(fastest * dt / field.feature) + 1
        scorer = taken = 0
        while taken < parts:
            if parts > MOST_PARTS:
                return k, False, 0
            if not step_part(
                field, coefficients, robots, bodies, match, contacts, near, pairs, cells, system, resting, margin,
                method, inputs, dt / parts,
            ):  # fmt: skip
                taken, parts = 2 * taken, 2 * parts
                continue
            taken += 1
            # A fast ball may be in the goal and out again within a step.
            scorer = max(scorer, keep_score(field, robots, bodies, match, places, start))
            if scorer > 0 and field.after_goal != CONTINUE:
                break
        ball = bodies[len(robots)]
        if ball.u0 != 0.0 or ball.u1 != 0.0:
            match.ball_heading = atan2(ball.u1, ball.u0)
        if record_every > 0 and (step + k + 1) % record_every == 0:
            observe_row(field, robots, bodies, match, inputs, rows[row])
            row += 1
        if scorer > 0 and field.after_goal == END:
            return k + 1, True, scorer
    fastest, _ = fastest_point(robots, bodies)
    return n, isfinite(fastest), 0


@njit(cache=True)
def observe_match(fields, robots, bodies, matches, inputs, row):
    observe_row(fields[0], robots, bodies, matches[0], inputs, row)


@njit(cache=True)
def overlaps(fields, robots, matches, found):
    """Pairs of bodies in play that overlap, and bodies in walls: into `found` (k, 2); returns how many."""
    field, match = fields[0], matches[0]
    count, ball = 0, len(robots)
    for i in range(ball + 1):
        if i < ball and robots[i].playing == 0.0:
            continue
        for j in range(-1, i):
            if j >= 0 and robots[j].playing == 0.0:
                continue
            if pair_gap(field, robots, match, i, j) < -ROUNDING:
                if count < len(found):
                    found[count, 0], found[count, 1] = i, j
                count += 1
    return count
