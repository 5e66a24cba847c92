"""The compiled loop of the engine `soccer`: speeds, impacts, ways, and a check that nothing overlaps afterwards."""

from __future__ import annotations

from math import atan2, cos, isfinite, sin, sqrt

from numba import njit

from botz.engines.soccer_contacts import (
    ball_at_walls,
    ball_meets,
    clear_of_walls,
    find_neighbours,
    look_closer,
    note_near,
    pair_gap,
    robot_at_walls,
    robots_meet,
)
from botz.engines.soccer_records import CONTINUE, EULER, KICK_OFF, SPHERES
from botz.engines.soccer_rows import observe_row
from botz.frames import UNCOUNTED, compiled
from botz.physics.impact import (
    WALL,
    coupling,
    face_impact,
    friction_impulse,
    gap_rate,
    normal_speed,
    predicted_gap,
    push_apart,
    resting_impulses,
    rigid_impact,
    sphere_impact,
)
from botz.physics.planar_drive import (
    acceleration,
    applied_voltages,
    drag_force,
    kinetic_energy,
    motor_force,
    place,
    turned,
)

ROUNDING = 1e-12
"""An overlap below this is the rounding of coordinates [m]."""
TOGETHER = 1e-7
"""Two points of a face that come this close to touching at the same time are one impact [m]."""
NUDGE = 0.018
"""Largest overlap that is undone by moving a body, as a share of the distance within which bodies are near. Overlaps
come from the curvature of ways within a step and are far smaller; above it the body stays where it was for the step."""
ATTEMPTS = 8
CLEARANCE = 1e-9
"""By which a nudge goes beyond touching [m]; four times as far with every attempt, since in a chain of bodies each
nudge pushes the next one back."""
FINEST = 1e-10
"""Approach speeds below this count as none [m/s]."""
MOST_LOOKS = 3
"""At the moment of one contact, whose normal turns: each look is as good as a step of Newton's method."""
MOST_PARTS = 400
"""Parts of a step; a body so fast that it needs more has no physical meaning."""


@compiled
def total_energy(field, robots, bodies):
    """Kinetic energy of all that is in play [J]."""
    ball = bodies[len(robots)]
    total = 0.5 * field.ball_mass * (ball.u0 * ball.u0 + ball.u1 * ball.u1)
    for i in range(len(robots)):
        total += kinetic_energy(robots[i], bodies[i].u0, bodies[i].u1)
    return total


# --- free motion ---------------------------------------------------------------------------------------------------


@compiled
def drive_euler(robot, body, match, inputs, at, h):
    """Eq. 8 by Euler's method; the pose then follows at the new speeds."""
    v, w = body.u0, body.u1
    e_left, e_right = applied_voltages(
        robot, inputs[at], inputs[at + 1], inputs[at + 2], inputs[at + 3], inputs[at + 4], v, w
    )
    force, torque = motor_force(robot, e_left, e_right)
    drag, drag_torque = drag_force(robot, v, w)
    dv, dw = acceleration(robot, force - drag, torque - drag_torque)
    body.u0, body.u1 = v + h * dv, w + h * dw
    mean_v, mean_w = 0.5 * (v + body.u0), 0.5 * (w + body.u1)
    match.motors += h * (force * mean_v + torque * mean_w)
    match.friction += h * (drag * mean_v + drag_torque * mean_w)
    body.rate0, body.rate1 = body.u0, body.u1


@compiled
def drive_rk4(robot, body, match, inputs, at, h):
    """Eq. 8, speeds and pose, by the classical Runge-Kutta method."""
    v0, w0 = body.u0, body.u1
    v, w, c, s = v0, w0, robot.cosine, robot.sine
    sum_v = sum_w = sum_x = sum_y = sum_dv = sum_dw = 0.0
    force_sum = torque_sum = drag_sum = drag_torque_sum = 0.0
    for stage in range(4):
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        e_left, e_right = applied_voltages(
            robot, inputs[at], inputs[at + 1], inputs[at + 2], inputs[at + 3], inputs[at + 4], v, w
        )
        force, torque = motor_force(robot, e_left, e_right)
        drag, drag_torque = drag_force(robot, v, w)
        dv, dw = acceleration(robot, force - drag, torque - drag_torque)
        sum_v, sum_w = sum_v + weight * v, sum_w + weight * w
        sum_x, sum_y = sum_x + weight * v * c, sum_y + weight * v * s
        sum_dv, sum_dw = sum_dv + weight * dv, sum_dw + weight * dw
        force_sum, torque_sum = force_sum + weight * force, torque_sum + weight * torque
        drag_sum, drag_torque_sum = drag_sum + weight * drag, drag_torque_sum + weight * drag_torque
        if stage < 3:
            ahead = h if stage == 2 else 0.5 * h
            c, s = turned(robot.cosine, robot.sine, robot.heading, ahead * w)
            v, w = v0 + ahead * dv, w0 + ahead * dw
    body.u0, body.u1 = v0 + h * sum_dv, w0 + h * sum_dw
    mean_v, mean_w = 0.5 * (v0 + body.u0), 0.5 * (w0 + body.u1)
    match.motors += h * (force_sum * mean_v + torque_sum * mean_w)
    match.friction += h * (drag_sum * mean_v + drag_torque_sum * mean_w)
    body.rate0, body.rate1 = sum_v, sum_w
    robot.way_x, robot.way_y, robot.way_along = h * sum_x, h * sum_y, h * sum_v


@compiled
def roll_ball(field, body, match, method, h):
    """Eq. 9: v̇ = −(β/m) v (the source leaves out the sign and the mass)."""
    decay = field.ball_friction / field.ball_mass * h
    if method == EULER:
        share, way = 1.0 - decay, 1.0 - decay
    else:
        share = 1.0 - decay * (1.0 - decay / 2.0 * (1.0 - decay / 3.0 * (1.0 - decay / 4.0)))
        way = 1.0 - decay / 2.0 * (1.0 - decay / 3.0 * (1.0 - decay / 4.0))
    before = body.u0 * body.u0 + body.u1 * body.u1
    body.rate0, body.rate1 = way * body.u0, way * body.u1
    body.u0, body.u1 = share * body.u0, share * body.u1
    match.friction += 0.5 * field.ball_mass * (before - (body.u0 * body.u0 + body.u1 * body.u1))


# --- impacts -------------------------------------------------------------------------------------------------------


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


@compiled
def impact(field, robots, bodies, match, contacts, k, time):
    """The impact of contact `k`, together with its mate where both are touching."""
    contact = contacts[k]
    if normal_speed(bodies, contact) < -contact.resting:
        match.impacts += 1.0
    if field.model == SPHERES:
        before = total_energy(field, robots, bodies)
        sphere_impact(robots, bodies, contact, time)
        match.lost += before - total_energy(field, robots, bodies)
        return
    if contact.mate >= 0:
        mate = contacts[contact.mate]
        if predicted_gap(bodies, mate, time) <= TOGETHER:
            lost = face_impact(bodies, contact, mate, time)
            if lost >= 0.0:
                match.lost += lost
                return
    match.lost += rigid_impact(bodies, contact, time)


@compiled
def is_resting(bodies, contact, now, h):
    """Whether a contact may close in the rest of the step, and slowly."""
    if contact.inverse_mass <= 0.0 or normal_speed(bodies, contact) < -contact.resting:
        return False
    return predicted_gap(bodies, contact, now) <= contact.resting * (h - now)


@compiled
def mark_leaning(bodies, match, contacts, first, now, h):
    """The bodies that lean on each other from a contact on, walls not counted: they are no part of any chain."""
    for i in range(len(bodies)):
        bodies[i].leaning = 0
    bodies[contacts[first].first].leaning = 1
    growing = True
    while growing:
        growing = False
        for k in range(match.contacts):
            contact = contacts[k]
            if contact.second == WALL or bodies[contact.first].leaning == bodies[contact.second].leaning:
                continue
            if is_resting(bodies, contact, now, h):
                bodies[contact.first].leaning = bodies[contact.second].leaning = 1
                growing = True


@compiled
def settle(bodies, match, contacts, system, first, now, h):
    """Contacts that hardly approach, all of a chain at once: bodies that lean on each other come to rest together.

    No contact may close more than its gap in the rest of the step, v_n ≥ −gap/τ; the impulses that this takes lower the
    energy, since gaps are not negative. Friction follows from them and moves the bodies along their faces, after which
    the normal impulses are put right once more.
    """
    most = system.shape[1]
    speeds, impulses, numbers = system[2 * most], system[2 * most + 1], system[2 * most + 2]
    left = h - now
    count = 0
    mark_leaning(bodies, match, contacts, first, now, h)
    for k in range(match.contacts):
        contact = contacts[k]
        if count == most or bodies[contact.first].leaning == 0 or not is_resting(bodies, contact, now, h):
            continue
        speed = normal_speed(bodies, contact) + max(predicted_gap(bodies, contact, now), 0.0) / left
        # In the order of their speeds, not of their numbers: sums then come out alike in a mirrored match.
        at = count
        while at > 0 and speeds[at - 1] > speed:
            speeds[at], numbers[at] = speeds[at - 1], numbers[at - 1]
            at -= 1
        speeds[at], numbers[at] = speed, k
        count += 1
    for a in range(count):
        one = contacts[int(numbers[a])]
        system[a, a] = one.inverse_mass
        for b in range(a):
            system[a, b] = system[b, a] = coupling(bodies, one, contacts[int(numbers[b])])
    for turn in range(2):
        for a in range(count):
            contact = contacts[int(numbers[a])]
            gap = max(predicted_gap(bodies, contact, now), 0.0)
            speeds[a] = normal_speed(bodies, contact) + gap / left
        resting_impulses(count, system, speeds, impulses, system[2 * most + 3], system[most:], FINEST)
        for a in range(count):
            impulse = impulses[a]
            if impulse <= 0.0:
                continue
            contact = contacts[int(numbers[a])]
            before = normal_speed(bodies, contact)
            push_apart(bodies, contact, impulse, now, False, True)
            match.lost -= 0.5 * impulse * (before + normal_speed(bodies, contact))
        # Only now: the normal impulses lower the energy as a whole, and friction between them would spoil that.
        for a in range(count if turn == 0 else 0):
            if impulses[a] > 0.0:
                match.lost += friction_impulse(bodies, contacts[int(numbers[a])], impulses[a], now)


@compiled
def resolve(field, robots, bodies, match, contacts, system, h):
    """Impacts in the order of their times, with the geometry of the step's beginning.

    Bodies move at their old speeds until they touch and at the new ones afterwards. The order depends on times and
    speeds, and on a contact's number only where these are equal: a mirrored match stays mirrored.
    """
    now = 0.0
    for k in range(match.contacts):
        foresee(bodies, contacts[k], now, h)
    for _ in range(32 + 8 * match.contacts):
        chosen, when, fastest = -1, h, 0.0
        for k in range(match.contacts):
            due = contacts[k].due
            if due < when or (due == when and contacts[k].rate < fastest and chosen >= 0):
                chosen, when, fastest = k, due, contacts[k].rate
        if chosen < 0:
            return
        now = max(now, when)
        contact = contacts[chosen]
        if contact.round == 1 and contact.looks < MOST_LOOKS:
            contact.looks += 1
            look_closer(field, robots, bodies, match, contact, now)
            foresee(bodies, contact, now, h)
            if contact.due > now:
                continue  # not yet: it comes up again at its time
        approach = normal_speed(bodies, contact)
        if contact.inverse_mass <= 0.0:
            contact.due = h  # neither can give way: what is left to do, the check afterwards does
            continue
        if -contact.resting <= approach < -FINEST and field.model != SPHERES:
            settle(bodies, match, contacts, system, chosen, now, h)
        elif approach < -FINEST:
            impact(field, robots, bodies, match, contacts, chosen, now)
        rate = gap_rate(bodies, contact)
        if rate * (h - now) < -ROUNDING and normal_speed(bodies, contact) >= -FINEST:
            # The speeds part already, the mean of the step does not: only the way is corrected.
            push_apart(bodies, contact, -rate / contact.inverse_mass, now, False, False)
        for k in range(match.contacts):
            contact = contacts[k]
            if bodies[contact.first].since == now or (contact.second != WALL and bodies[contact.second].since == now):
                foresee(bodies, contact, now, h)


@compiled
def foresee(bodies, contact, now, h):
    """When a contact closes, as things move now; h where it does not within the step."""
    rate = gap_rate(bodies, contact)
    contact.rate, contact.due = rate, h
    if rate < 0.0:
        gap = predicted_gap(bodies, contact, now)
        time = now if gap <= 0.0 else now - gap / rate
        if rate * (h - time) <= -ROUNDING:
            contact.due = time


# --- ways ----------------------------------------------------------------------------------------------------------


@compiled
def begin_step(field, robots, bodies, match):
    ball = len(robots)
    match.start_x, match.start_y = match.ball_x, match.ball_y
    for i in range(ball + 1):
        body = bodies[i]
        body.way0 = body.way1 = body.since = 0.0
        body.held = 0
    for i in range(ball):
        robot = robots[i]
        robot.start_x, robot.start_y, robot.start_heading = robot.x, robot.y, robot.heading
        robot.start_cosine, robot.start_sine = robot.cosine, robot.sine


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


@compiled
def separate(field, coefficients, robots, bodies, match, contacts, near, resting, h, within):
    """Nothing may overlap after a step.

    The impacts worked with the geometry of the beginning; what a way's curvature leaves, and corners that met although
    no face faced them, is put right here: impacts where bodies approach still, a nudge along the normal, and where that
    does not help a body stays where it was. Since all places were free at the beginning, the last always helps. Poses
    have no energy in the plane, so none is gained.
    """
    ball = len(robots)
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


# --- a step --------------------------------------------------------------------------------------------------------


@compiled
def fastest_point(robots, bodies):
    """Bound on the speed of any point of any body, and of any robot's [m/s]."""
    ball = bodies[len(robots)]
    of_ball = sqrt(ball.u0 * ball.u0 + ball.u1 * ball.u1)
    of_robots, total = 0.0, of_ball
    for i in range(len(robots)):
        speed = abs(bodies[i].u0) + abs(bodies[i].u1) * robots[i].reach
        of_robots = max(of_robots, speed)
        total += speed
    if not isfinite(total):
        return total, total  # the largest of several may hide what is no number
    return max(of_robots, of_ball), of_robots


@compiled
def step_part(
    field, coefficients, robots, bodies, match, contacts, near, pairs, cells, system, resting, margin, method, inputs, h
):  # fmt: skip
    begin_step(field, robots, bodies, match)
    ball = len(robots)
    for i in range(ball):
        if robots[i].playing == 0.0:
            continue
        if method == EULER:
            drive_euler(robots[i], bodies[i], match, inputs, 5 * i, h)
        else:
            drive_rk4(robots[i], bodies[i], match, inputs, 5 * i, h)
    roll_ball(field, bodies[ball], match, method, h)
    fastest, of_robots = fastest_point(robots, bodies)
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
        after, of_robots = fastest_way(robots, bodies)
        if after > 0.35 * within or match.overflow == 1:
            near_all(robots, bodies, match, near)
        separate(field, coefficients, robots, bodies, match, contacts, near, resting, h, within)
        match.drift += of_robots + ATTEMPTS * NUDGE * within
    else:
        match.drift += h * of_robots


@compiled
def fastest_way(robots, bodies):
    """How far any point may have gone in this step, and any of a robot [m]."""
    ball = bodies[len(robots)]
    of_robots = 0.0
    for i in range(len(robots)):
        of_robots = max(of_robots, abs(bodies[i].way0) + abs(bodies[i].way1) * robots[i].reach)
    return max(of_robots, sqrt(ball.way0 * ball.way0 + ball.way1 * ball.way1)), of_robots


@compiled
def near_all(robots, bodies, match, near):
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


@compiled
def to_kick_off(field, robots, bodies, match, places, start, kicking):
    """Robots in play and the ball to their places, at rest."""
    before = total_energy(field, robots, bodies)
    for i in range(len(robots)):
        if robots[i].playing == 0.0:
            continue
        x, y, heading = places[kicking, i, 0], places[kicking, i, 1], places[kicking, i, 2]
        place(robots[i], x, y, heading, cos(heading), sin(heading))
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
        for _ in range(parts):
            step_part(field, coefficients, robots, bodies, match, contacts, near, pairs, cells, system, resting, margin,
                      method, inputs, dt / parts)  # fmt: skip
        scorer = keep_score(field, robots, bodies, match, places, start)
        ball = bodies[len(robots)]
        if ball.u0 != 0.0 or ball.u1 != 0.0:
            match.ball_heading = atan2(ball.u1, ball.u0)
        if record_every > 0 and (step + k + 1) % record_every == 0:
            observe_row(field, robots, bodies, match, inputs, rows[row])
            row += 1
        if scorer > 0 and field.after_goal != KICK_OFF and field.after_goal != CONTINUE:
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
