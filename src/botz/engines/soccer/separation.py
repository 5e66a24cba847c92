"""After a step of engine `soccer`: nothing may overlap."""

from __future__ import annotations

from botz.engines.soccer.contacts import ball_at_walls, ball_meets, note_near, pair_gap, robot_at_walls, robots_meet
from botz.engines.soccer.impacts import ROUNDING, impact
from botz.engines.soccer.work import bodies_of
from botz.kernels import compiled
from botz.physics.soccer.impact import WALL, normal_speed
from botz.physics.soccer.planar_drive import place

NUDGE = 0.018
"""Largest overlap that is undone by moving a body, as a fraction of the distance within which bodies are near. They
come from the curvature of paths within a step and are far smaller; above it the body stays where it was."""
ATTEMPTS = 8
CLEARANCE = 1e-9
"""By which a nudge goes beyond touching [m]; four times as far with every attempt, since in a chain of bodies each
nudge pushes the next one back."""


@compiled
def shift(state, i, dx, dy):
    if i == len(state.robots):
        state.match[0].ball_x += dx
        state.match[0].ball_y += dy
    else:
        state.robots[i].x += dx
        state.robots[i].y += dy


@compiled
def hold(state, work, i):
    """Back to where the body was at the beginning of the step: there it touched nothing."""
    if i == WALL or work.motion[i].held == 1:
        return
    work.motion[i].held = 1
    travel = work.travel[i]
    if i == len(state.robots):
        state.match[0].ball_x, state.match[0].ball_y = travel.start_x, travel.start_y
    else:
        robot = state.robots[i]
        place(robot, travel.start_x, travel.start_y, travel.start_heading, travel.start_cosine, travel.start_sine)
        robot.angle_left, robot.angle_right = travel.start_left, travel.start_right


@compiled
def separate(model, state, work, h, within):
    """Nothing may overlap after a step.

    The impacts worked with the geometry of the beginning; what a path's curvature leaves, and corners that met although
    no face faced them, is put right here: impacts where bodies approach still, a nudge along the normal, and where that
    does not help a body stays where it was. Since all places were free at the beginning, the last always helps. Poses
    have no energy in the plane, so none is gained.
    """
    motion, near, counts = work.motion, work.near, work.counts[0]
    for i in range(len(motion)):
        # The paths have been gone; what impacts change now concerns the speeds.
        motion[i].path0 = motion[i].path1 = 0.0
        motion[i].since = h
    clearance = CLEARANCE
    for _ in range(ATTEMPTS):
        clear = True
        for k in range(counts.near):
            i, j = near[k, 0], near[k, 1]
            if pair_gap(model, state, i, j) < -ROUNDING:
                clear = False
                set_apart(model, state, work, i, j, h, NUDGE * within, clearance)
        if clear:
            return
        clearance *= 4.0
    for _ in range(len(motion)):
        clear = True
        for k in range(counts.near):
            i, j = near[k, 0], near[k, 1]
            if pair_gap(model, state, i, j) < -ROUNDING:
                clear = False
                hold(state, work, i)
                hold(state, work, j)
        if clear:
            return


@compiled
def set_apart(model, state, work, i, j, h, furthest, clearance):
    """Two bodies that overlap, or a body and the walls: an impact, then a nudge, or both back to where they were."""
    ball, motion = len(model.robots), work.motion
    work.counts[0].contacts = 0
    if j == WALL:
        if i == ball:
            ball_at_walls(model, state, work, 0.0)
        else:
            robot_at_walls(model, state, work, i, 0.0)
    elif i == ball:
        ball_meets(model, state, work, j, 0.0)
    else:
        robots_meet(model, state, work, i, j, 0.0)
    deepest = deepest_contact(model, state, work, h)
    # Corner to corner no face faces the other: both stay.
    if (
        deepest < 0
        or -work.contacts[deepest].gap > furthest
        or motion[i].held == 1
        or (j != WALL and motion[j].held == 1)
    ):
        hold(state, work, i)
        hold(state, work, j)
        return
    contact = work.contacts[deepest]
    # The ball is nudged rather than a robot, and of two robots each by half.
    fraction = 0.5 if j != WALL and i != ball else 1.0
    far = (-contact.gap + clearance) * fraction
    shift(state, i, far * contact.normal_x, far * contact.normal_y)
    if fraction == 0.5:
        shift(state, j, -far * contact.normal_x, -far * contact.normal_y)


@compiled
def deepest_contact(model, state, work, h):
    """Of those just collected, after an impact at the one that approaches fastest; −1 where there is none. What comes
    slowly is left to the next step."""
    contacts, bodies = work.contacts, bodies_of(model, state, work)
    chosen, fastest, deepest = -1, -1e-3, -1
    for k in range(work.counts[0].contacts):
        speed = normal_speed(bodies, contacts[k])
        if contacts[k].gap < 0.0 and speed < fastest and contacts[k].inverse_mass > 0.0:
            chosen, fastest = k, speed
    if chosen >= 0:
        impact(model, state, work, chosen, h)
    for k in range(work.counts[0].contacts):
        if contacts[k].gap < 0.0 and (deepest < 0 or contacts[k].gap < contacts[deepest].gap):
            deepest = k
    return deepest


@compiled
def near_all(state, work):
    """An impact gave a body more speed than was allowed for: every pair is looked at, as rare as that is."""
    ball, robots = len(state.robots), state.robots
    work.counts[0].near = 0
    for i in range(ball + 1):
        if i < ball and robots[i].playing == 0.0:
            continue
        note_near(work, i, WALL)
        for j in range(i):
            if robots[j].playing != 0.0:
                note_near(work, i, j)
