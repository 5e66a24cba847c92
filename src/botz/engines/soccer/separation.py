"""After a step of engine `soccer`: nothing may overlap."""

from __future__ import annotations

from botz.engines.soccer.contacts import ball_at_walls, ball_meets, note_near, pair_gap, robot_at_walls, robots_meet
from botz.engines.soccer.impacts import ROUNDING, impact
from botz.kernels import compiled
from botz.physics.soccer.impact import WALL, normal_speed
from botz.physics.soccer.planar_drive import place

NUDGE = 0.018
"""Largest overlap that is undone by moving a body, as a share of the distance within which bodies are near. Overlaps
come from the curvature of ways within a step and are far smaller; above it the body stays where it was for the step."""
ATTEMPTS = 8
CLEARANCE = 1e-9
"""By which a nudge goes beyond touching [m]; four times as far with every attempt, since in a chain of bodies each
nudge pushes the next one back."""


@compiled
def shift(robots, match, i, dx, dy):
    if i == len(robots):
        match.ball_x += dx
        match.ball_y += dy
    else:
        robots[i].x += dx
        robots[i].y += dy


@compiled
def hold(robots, bodies, match, i):
    """Back to where the body was at the beginning of the step: there it touched nothing."""
    if i == WALL or bodies[i].held == 1:
        return
    bodies[i].held = 1
    if i == len(robots):
        match.ball_x, match.ball_y = match.start_x, match.start_y
    else:
        robot = robots[i]
        place(robot, robot.start_x, robot.start_y, robot.start_heading, robot.start_cosine, robot.start_sine)
        robot.angle_left, robot.angle_right = robot.start_left, robot.start_right


@compiled
def separate(field, coefficients, robots, bodies, match, contacts, near, resting, h, within):
    """Nothing may overlap after a step.

    The impacts worked with the geometry of the beginning; what a way's curvature leaves, and corners that met although
    no face faced them, is put right here: impacts where bodies approach still, a nudge along the normal, and where that
    does not help a body stays where it was. Since all places were free at the beginning, the last always helps. Poses
    have no energy in the plane, so none is gained.
    """
    ball = len(robots)
    for i in range(ball + 1):
        # The ways have been gone; what impacts change now concerns the speeds.
        bodies[i].way0 = bodies[i].way1 = 0.0
        bodies[i].since = h
    clearance = CLEARANCE
    for _ in range(ATTEMPTS):
        clear = True
        for k in range(match.near):
            i, j = near[k, 0], near[k, 1]
            if pair_gap(field, robots, match, i, j) >= -ROUNDING:
                continue
            clear = False
            match.contacts = 0
            if j == WALL:
                if i == ball:
                    ball_at_walls(field, robots, bodies, match, contacts, coefficients, resting, 0.0)
                else:
                    robot_at_walls(field, robots, bodies, match, contacts, coefficients, resting, i, 0.0)
            elif i == ball:
                ball_meets(field, robots, bodies, match, contacts, coefficients, resting, j, 0.0)
            else:
                robots_meet(robots, bodies, match, contacts, coefficients, resting, i, j, 0.0)
            deepest = deepest_contact(field, robots, bodies, match, contacts, h)
            if deepest < 0:
                # Corner to corner: no face faces the other. Both stay.
                hold(robots, bodies, match, i)
                hold(robots, bodies, match, j)
                continue
            contact = contacts[deepest]
            depth = -contact.gap
            if depth > NUDGE * within or bodies[i].held == 1 or (j != WALL and bodies[j].held == 1):
                hold(robots, bodies, match, i)
                hold(robots, bodies, match, j)
                continue
            # The ball is nudged rather than a robot, and of two robots each by half.
            share = 0.5 if j != WALL and i != ball else 1.0
            far = (depth + clearance) * share
            shift(robots, match, i, far * contact.normal_x, far * contact.normal_y)
            if share == 0.5:
                shift(robots, match, j, -far * contact.normal_x, -far * contact.normal_y)
        if clear:
            return
        clearance *= 4.0
    for _ in range(ball + 1):
        clear = True
        for k in range(match.near):
            i, j = near[k, 0], near[k, 1]
            if pair_gap(field, robots, match, i, j) < -ROUNDING:
                clear = False
                hold(robots, bodies, match, i)
                hold(robots, bodies, match, j)
        if clear:
            return


@compiled
def deepest_contact(field, robots, bodies, match, contacts, h):
    """Of those just collected, after an impact at the one that approaches fastest; −1 where there is none. What comes
    slowly is left to the next step."""
    chosen, fastest, deepest = -1, -1e-3, -1
    for k in range(match.contacts):
        speed = normal_speed(bodies, contacts[k])
        if contacts[k].gap < 0.0 and speed < fastest and contacts[k].inverse_mass > 0.0:
            chosen, fastest = k, speed
    if chosen >= 0:
        impact(field, robots, bodies, match, contacts, chosen, h)
    for k in range(match.contacts):
        if contacts[k].gap < 0.0 and (deepest < 0 or contacts[k].gap < contacts[deepest].gap):
            deepest = k
    return deepest


@compiled
def near_all(robots, match, near):
    """An impact gave a body more speed than was allowed for: every pair is looked at, as rare as that is."""
    ball = len(robots)
    match.near = 0
    for i in range(ball + 1):
        if i < ball and robots[i].playing == 0.0:
            continue
        note_near(match, near, i, WALL)
        for j in range(i):
            if robots[j].playing != 0.0:
                note_near(match, near, i, j)
