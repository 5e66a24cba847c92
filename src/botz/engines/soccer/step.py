"""A step of the engine `soccer`: speeds, impacts, displacements, and a check that nothing overlaps afterwards."""

from __future__ import annotations

from math import atan2, cos, isfinite, sin, sqrt

from numba import njit

from botz.engines.soccer.contacts import collect, find_neighbours, pair_gap
from botz.engines.soccer.impacts import ROUNDING, resolve
from botz.engines.soccer.model import CONTINUE, END, EULER, KICK_OFF, TOO_FAR
from botz.engines.soccer.motion import drive_euler, drive_rk4, roll_ball, total_energy
from botz.engines.soccer.rows import observe_row
from botz.engines.soccer.separation import ATTEMPTS, NUDGE, near_all, separate
from botz.kernels import UNCOUNTED, compiled, inlined
from botz.physics.soccer.planar_drive import place, turned

FASTEST_SLIDE = 0.2
"""At which a robot slides aside [m/s]."""
MOST_PARTS = 400
"""Parts of a step; a body so fast that it needs more has no physical meaning."""


@njit(cache=True, error_model="numpy", nogil=True, **UNCOUNTED)
def advance(model, state, work, inputs, dt, number, n, record_every, rows):
    """`n` steps from step `number`: -> steps taken, whether all is finite, and the scorer of a goal that ended it."""
    row = 0
    for k in range(n):
        taken, scorer = step(model, state, work, inputs, dt)
        if not taken:
            return k, False, 0
        if record_every > 0 and (number + k + 1) % record_every == 0:
            observe_row(model, state, inputs, rows[row])
            row += 1
        if scorer > 0 and model.field[0].after_goal == END:
            return k + 1, True, scorer
    fastest, _ = fastest_point(model, state)
    return n, isfinite(fastest), 0


@inlined
def step(model, state, work, inputs, dt):  # -> whether it could be taken, the scorer of a goal (1 blue, 2 yellow) or 0
    """In as many parts as the fastest body needs."""
    field, match, ball = model.field[0], state.match[0], state.speeds[len(model.robots)]
    fastest, _ = fastest_point(model, state)
    if not fastest * dt < MOST_PARTS * field.feature:
        return False, 0
    parts = int(fastest * dt / field.feature) + 1
    scorer = done = 0
    while done < parts:
        if parts > MOST_PARTS:
            return False, 0
        if not step_part(model, state, work, inputs, dt / parts):
            done, parts = 2 * done, 2 * parts
            continue
        done += 1
        # A fast ball may be in the goal and out again within a step.
        scorer = max(scorer, keep_score(model, state))
        if scorer > 0 and field.after_goal != CONTINUE:
            break
    if ball.u0 != 0.0 or ball.u1 != 0.0:
        match.ball_heading = atan2(ball.u1, ball.u0)
    return True, scorer


@inlined
def step_part(model, state, work, inputs, h):
    """-> whether it was taken: False where motors make a body so fast that the step wants more parts."""
    field, match, counts = model.field[0], state.match[0], work.counts[0]
    motors, friction = match.motors, match.friction
    begin(state, work)
    accelerate(model, state, work, inputs, h)
    fastest, of_robots = fastest_point(model, state)
    if h * fastest > TOO_FAR * field.feature:
        take_back(state, work)
        match.motors, match.friction = motors, friction
        return False
    # Two bodies come at most 2 h S closer; light ones leave an impact faster than heavy ones came, up to 1.4 S each
    # (more is looked for below), and nudges take the rest.
    within = 4.0 * h * fastest + 1e-6
    if 2.0 * match.drift + within > field.margin:
        find_neighbours(model, state, work, max(field.margin, within))
    collect(model, state, work, within)
    if counts.contacts > 0:
        resolve(model, state, work, h)
    move(model, state, work, h)
    if counts.near > 0:
        after, of_robots = longest_path(model, state, work, h)
        if after > 0.35 * within or counts.overflow == 1:
            near_all(state, work)
        separate(model, state, work, h, within)
        match.drift += of_robots + ATTEMPTS * NUDGE * within
    else:
        match.drift += h * of_robots
    slide_aside(model, state, work, h)
    return True


# --- its stages ----------------------------------------------------------------------------------------------------
# They are inlined: a call would hand over more than a hundred numbers that describe the arrays.


@inlined
def begin(state, work):
    ball = len(state.robots)
    for i in range(ball + 1):
        speeds, motion = state.speeds[i], work.motion[i]
        motion.path0 = motion.path1 = motion.since = 0.0
        motion.before0, motion.before1 = speeds.u0, speeds.u1
        motion.held = 0
        motion.side = 0.0
    for i in range(ball):
        robot, travel = state.robots[i], work.travel[i]
        travel.start_x, travel.start_y, travel.start_heading = robot.x, robot.y, robot.heading
        travel.start_cosine, travel.start_sine = robot.cosine, robot.sine
        travel.start_left, travel.start_right = robot.angle_left, robot.angle_right
    work.travel[ball].start_x, work.travel[ball].start_y = state.match[0].ball_x, state.match[0].ball_y


@inlined
def accelerate(model, state, work, inputs, h):
    """All bodies by motors and friction alone."""
    field, match, ball = model.field[0], state.match[0], len(model.robots)
    for i in range(ball):
        robot, speeds, motion = model.robots[i], state.speeds[i], work.motion[i]
        if state.robots[i].playing == 0.0:
            motion.rate0 = motion.rate1 = 0.0
        elif field.method == EULER:
            drive_euler(robot, speeds, motion, match, inputs, 5 * i, h)
        else:
            drive_rk4(robot, state.robots[i], work.travel[i], speeds, motion, match, inputs, 5 * i, h)
    roll_ball(field, state.speeds[ball], work.motion[ball], match, h)


@inlined
def take_back(state, work):
    """What `accelerate` did to the speeds."""
    for i in range(len(state.speeds)):
        state.speeds[i].u0, state.speeds[i].u1 = work.motion[i].before0, work.motion[i].before1


@inlined
def move(model, state, work, h):
    """Every body along its path."""
    ball, euler = len(model.robots), model.field[0].method == EULER
    for i in range(ball + 1):
        motion = work.motion[i]
        ahead = h - motion.since
        motion.path0 += motion.rate0 * ahead
        motion.path1 += motion.rate1 * ahead
    state.match[0].ball_x += work.motion[ball].path0
    state.match[0].ball_y += work.motion[ball].path1
    for i in range(ball):
        if state.robots[i].playing != 0.0:
            move_robot(model.robots[i], state.robots[i], work.travel[i], work.motion[i], euler, h)


@inlined
def move_robot(robot, pose, travel, motion, euler, h):
    """A robot's heading changes on its path: it goes along the mean of both headings."""
    along, turn = motion.path0, motion.path1
    if pose.slide != 0.0:
        aside = h * pose.slide
        pose.x -= aside * pose.sine
        pose.y += aside * pose.cosine
    if along == 0.0 and turn == 0.0:
        return
    side = 0.5 * robot.track * turn
    pose.angle_left += (along - side) * robot.per_radius_left
    pose.angle_right += (along + side) * robot.per_radius_right
    c, s = turned(pose.cosine, pose.sine, pose.heading, turn)
    if euler:
        x, y = along * 0.5 * (pose.cosine + c), along * 0.5 * (pose.sine + s)
    else:
        extra = along - travel.path_along
        x = travel.path_x + extra * 0.5 * (pose.cosine + c)
        y = travel.path_y + extra * 0.5 * (pose.sine + s)
    place(pose, pose.x + x, pose.y + y, pose.heading + turn, c, s)


@inlined
def slide_aside(model, state, work, h):
    """Wheels do not slip, except where a robot leans on something harder than they grip: then it slides aside.

    Without that a robot flush along a wall could never leave it again: whichever way it turns, a corner is in the way.
    """
    for i in range(len(model.robots)):
        robot, side = state.robots[i], work.motion[i].side
        if side == 0.0 and robot.slide == 0.0:
            continue
        slide = robot.slide + side / model.inertia[i].mass
        kept = max(abs(slide) - model.robots[i].grip * h, 0.0)
        robot.slide = min(kept, FASTEST_SLIDE) if slide > 0.0 else -min(kept, FASTEST_SLIDE)


@inlined
def fastest_point(model, state):
    """Bound on the speed of any point of any body, and of any robot's [m/s]."""
    speeds = state.speeds
    ball = speeds[len(model.robots)]
    of_ball = sqrt(ball.u0 * ball.u0 + ball.u1 * ball.u1)
    of_robots, total = 0.0, of_ball
    for i in range(len(model.robots)):
        speed = abs(speeds[i].u0) + abs(speeds[i].u1) * model.robots[i].reach + abs(state.robots[i].slide)
        of_robots = max(of_robots, speed)
        total += speed
    if not isfinite(total):
        return total, total  # the largest of several may hide a NaN
    return max(of_robots, of_ball), of_robots


@inlined
def longest_path(model, state, work, h):
    """How far any point may have gone in this step, and any of a robot [m]."""
    motion = work.motion
    ball = motion[len(model.robots)]
    of_robots = 0.0
    for i in range(len(model.robots)):
        turn = abs(motion[i].path1) * model.robots[i].reach
        of_robots = max(of_robots, abs(motion[i].path0) + turn + h * abs(state.robots[i].slide))
    return max(of_robots, sqrt(ball.path0 * ball.path0 + ball.path1 * ball.path1)), of_robots


# --- the rules -----------------------------------------------------------------------------------------------------


@inlined
def keep_score(model, state):  # -> 1 or 2 for a goal of blue or yellow, else 0
    """A goal counts once the whole ball has crossed the line: yellow's goal is at +x."""
    field, match = model.field[0], state.match[0]
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
        to_kick_off(model, state, 1 if scorer == 1 else 0)
    return scorer


@compiled
def to_kick_off(model, state, kicking):
    """Robots in play and the ball to their places, at rest."""
    field, match, speeds = model.field[0], state.match[0], state.speeds
    before = total_energy(model, speeds)
    for i in range(len(model.robots)):
        robot = state.robots[i]
        if robot.playing == 0.0:
            continue
        x, y, heading = model.places[kicking, i, 0], model.places[kicking, i, 1], model.places[kicking, i, 2]
        place(robot, x, y, heading, cos(heading), sin(heading))
        robot.slide = 0.0
        speeds[i].u0 = speeds[i].u1 = 0.0
    ball = speeds[len(model.robots)]
    ball.u0 = ball.u1 = 0.0
    match.ball_x, match.ball_y = field.ball_x, field.ball_y
    match.in_goal = 0.0
    match.drift = 1e9
    match.placed += total_energy(model, speeds) - before


# --- what the engine asks for --------------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def observe(model, state, inputs, row):
    observe_row(model, state, inputs, row)


@njit(cache=True, error_model="numpy", **UNCOUNTED)
def overlaps(model, state, pairs):
    """Pairs of bodies in play that overlap, and bodies in walls: into `pairs` (k, 2); returns how many."""
    robots = state.robots
    count, ball = 0, len(robots)
    for i in range(ball + 1):
        if i < ball and robots[i].playing == 0.0:
            continue
        for j in range(-1, i):
            if j >= 0 and robots[j].playing == 0.0:
                continue
            if pair_gap(model, state, i, j) < -ROUNDING:
                if count < len(pairs):
                    pairs[count, 0], pairs[count, 1] = i, j
                count += 1
    return count
