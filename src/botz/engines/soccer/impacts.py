"""Impacts within a step of engine `soccer`: in the order of their times, what leans on something all at once."""

from __future__ import annotations

from botz.engines.soccer.contacts import look_closer
from botz.engines.soccer.model import SPHERES
from botz.engines.soccer.motion import total_energy
from botz.engines.soccer.work import MOST_RESTING, bodies_of
from botz.kernels import compiled, inlined
from botz.physics.soccer.impact import (
    STILL,
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

ROUNDING = 1e-12
"""An overlap below this is the rounding of coordinates [m]."""
TOGETHER = 1e-7
"""Two points of a face that come this close to touching at the same time are one impact [m]."""
SAME_TIME = 1e-9
"""Contacts that close within this fraction of a step close together."""
MOST_LOOKS = 3
"""At the moment of one contact, whose normal turns: each look is as good as a step of Newton's method."""


@compiled
def impact(model, state, work, k, time):
    """The impact of contact `k`, together with its mate where both are touching."""
    contact, match, bodies = work.contacts[k], state.match[0], bodies_of(model, state, work)
    if normal_speed(bodies, contact) < -contact.resting:
        match.impacts += 1.0
    if model.field[0].impact_model == SPHERES:
        before = total_energy(model, state.speeds)
        sphere_impact(state.robots, bodies, contact, time)
        match.lost += before - total_energy(model, state.speeds)
        return
    if contact.mate >= 0:
        mate = work.contacts[contact.mate]
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
def mark_leaning(bodies, contacts, count, first, now, h):
    """The bodies that lean on each other from a contact on, walls not counted: they are no part of any chain."""
    motion = bodies.motion
    for i in range(len(motion)):
        motion[i].leaning = 0
    motion[contacts[first].first].leaning = 1
    growing = True
    while growing:
        growing = False
        for k in range(count):
            contact = contacts[k]
            if contact.second == WALL or motion[contact.first].leaning == motion[contact.second].leaning:
                continue
            if is_resting(bodies, contact, now, h):
                motion[contact.first].leaning = motion[contact.second].leaning = 1
                growing = True


@compiled
def comes_before(one, other):
    """The order of two contacts that approach alike, by what a mirror about the long axis leaves as it is."""
    if one.gap != other.gap:
        return one.gap < other.gap
    if one.arm1_x != other.arm1_x:
        return one.arm1_x < other.arm1_x
    return one.normal_x < other.normal_x


@inlined
def lean(robots, motion, i, x, y):
    """The part of an impulse that a robot's wheels have to take sideways."""
    if i < len(robots):
        motion[i].side += robots[i].cosine * y - robots[i].sine * x


@compiled
def settle(model, state, work, first, now, h):
    """Contacts that hardly approach, all of a chain at once: bodies that lean on each other come to rest together.

    No contact may close more than its gap in the rest of the step, v_n ≥ −gap/τ; the impulses that this takes lower the
    energy, since gaps are not negative. Friction follows from them and moves the bodies along their faces, after which
    the normal impulses are put right once more.
    """
    bodies, contacts, chain, match = bodies_of(model, state, work), work.contacts, work.chain[0], state.match[0]
    speeds, impulses, numbers, couplings = chain.speeds, chain.impulses, chain.numbers, chain.couplings
    left = h - now
    mark_leaning(bodies, contacts, work.counts[0].contacts, first, now, h)
    count = gather_chain(bodies, contacts, work.counts[0].contacts, speeds, numbers, now, h)
    for a in range(count):
        one = contacts[numbers[a]]
        couplings[a, a] = one.inverse_mass
        for b in range(a):
            couplings[a, b] = couplings[b, a] = coupling(bodies, one, contacts[numbers[b]])
    for turn in range(2):
        for a in range(count):
            contact = contacts[numbers[a]]
            gap = max(predicted_gap(bodies, contact, now), 0.0)
            speeds[a] = normal_speed(bodies, contact) + gap / left
        resting_impulses(count, couplings, speeds, impulses, chain.pushing, chain.factors, STILL)
        for a in range(count):
            impulse = impulses[a]
            if impulse <= 0.0:
                continue
            contact = contacts[numbers[a]]
            before = normal_speed(bodies, contact)
            push_apart(bodies, contact, impulse, now, False, True)
            match.lost -= 0.5 * impulse * (before + normal_speed(bodies, contact))
            x, y = impulse * contact.normal_x, impulse * contact.normal_y
            lean(state.robots, work.motion, contact.first, x, y)
            if contact.second != WALL:
                lean(state.robots, work.motion, contact.second, -x, -y)
        # Only now: the normal impulses lower the energy as a whole, and friction between them would spoil that.
        for a in range(count if turn == 0 else 0):
            if impulses[a] > 0.0:
                match.lost += friction_impulse(bodies, contacts[numbers[a]], impulses[a], now)


@compiled
def gather_chain(bodies, contacts, total, speeds, numbers, now, h):  # -> how many
    """The contacts that rest between bodies that lean on each other, in the order of their speeds and not of their
    numbers: sums then come out alike in a mirrored match."""
    count, left = 0, h - now
    for k in range(total):
        contact = contacts[k]
        if count == MOST_RESTING or bodies.motion[contact.first].leaning == 0:
            continue
        if not is_resting(bodies, contact, now, h):
            continue
        speed = normal_speed(bodies, contact) + max(predicted_gap(bodies, contact, now), 0.0) / left
        at = count
        while at > 0 and (
            speeds[at - 1] > speed or (speeds[at - 1] == speed and comes_before(contact, contacts[numbers[at - 1]]))
        ):
            speeds[at], numbers[at] = speeds[at - 1], numbers[at - 1]
            at -= 1
        speeds[at], numbers[at] = speed, k
        count += 1
    return count


@compiled
def resolve(model, state, work, h):
    """Impacts in the order of their times, with the geometry of the step's beginning (the ball's: of the moment).

    Bodies move at their old speeds until they touch and at the new ones afterwards. The order depends on times and
    speeds, and on a contact's number only where these are equal: a mirrored match stays mirrored.
    """
    bodies, contacts, count, motion = bodies_of(model, state, work), work.contacts, work.counts[0].contacts, work.motion
    now = 0.0
    for k in range(count):
        foresee(bodies, contacts[k], now, h)
    for _ in range(32 + 8 * count):
        when = h
        for k in range(count):
            when = min(when, contacts[k].due)
        if when >= h:
            return
        # Of those that close at the same time, the fastest: rounding must not decide between them.
        chosen, fastest = -1, 0.0
        for k in range(count):
            if contacts[k].due <= when + SAME_TIME * h and contacts[k].due < h and contacts[k].rate < fastest:
                chosen, fastest = k, contacts[k].rate
        now = max(now, when)
        contact = contacts[chosen]
        if contact.round == 1 and contact.looks < MOST_LOOKS:
            contact.looks += 1
            look_closer(model, state, work, contact, now)
            foresee(bodies, contact, now, h)
            if contact.due > now:
                continue  # not yet: it comes up again at its time
        approach = normal_speed(bodies, contact)
        if contact.inverse_mass <= 0.0:
            contact.due = h  # neither can give way: what is left to do, the check afterwards does
            continue
        if -contact.resting <= approach < -STILL and model.field[0].impact_model != SPHERES:
            settle(model, state, work, chosen, now, h)
        elif approach < -STILL:
            impact(model, state, work, chosen, now)
        rate = gap_rate(bodies, contact)
        if rate * (h - now) < -ROUNDING and normal_speed(bodies, contact) >= -STILL:
            # The speeds part already, the mean of the step does not: only the path is corrected.
            push_apart(bodies, contact, -rate / contact.inverse_mass, now, False, False)
        for k in range(count):
            contact = contacts[k]
            if motion[contact.first].since == now or (contact.second != WALL and motion[contact.second].since == now):
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
