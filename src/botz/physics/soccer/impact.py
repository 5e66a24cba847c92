"""Impacts between rolling robots, a ball and walls.

Every body has two generalised speeds u and a 2 × 2 inverse mass: a robot (v, ω) with M⁻¹, since its wheels let it move
along its heading only, the ball (v_x, v_y) with 1/m. A contact along the unit normal n, which points from the second
body to the first, has g = [e_θ·n, (k×d)·n]ᵀ for a robot and g = n for the ball; the bodies part at g₁·u₁ − g₂·u₂.
The rigid impulse P = −(1+e) v_n/(w₁+w₂) with w = gᵀM⁻¹g changes the energy by exactly −½(1−e²) v_n²/(w₁+w₂).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from botz.kernels import compiled, inlined, record, words

MOST_TOGETHER = 16
"""Resting contacts up to which solving for all of them is cheaper than going from one to the next."""
STILL = 1e-10
"""Below this speed a contact rests: rounding must not decide whether it parts or approaches [m/s]."""
WALL = -1
"""In place of a second body."""

INERTIA = record(**dict.fromkeys(words("inverse_11 inverse_12 inverse_22 mass resting"), np.float64))
"""Parameters of a body: its inverse mass matrix, its mass, and the approach speed below which it does not bounce."""
SPEEDS = record(u0=np.float64, u1=np.float64)
MOTION = record(
    **dict.fromkeys(words("before0 before1 rate0 rate1 path0 path1 since side"), np.float64),
    held=np.int64,
    leaning=np.int64,
)
"""Of a body in this step: its speeds before it; its displacement `path` until the time `since`, then at `rate`; `side`:
the sideways impulse that it leans with; `held`: its motion was taken back; `leaning`: it belongs to the bodies that are
being worked out together."""


class Bodies(NamedTuple):
    """All bodies by number: the robots, then the ball."""

    inertia: np.ndarray
    speeds: np.ndarray
    motion: np.ndarray


def free_standing(count: int) -> Bodies:
    """Bodies without an engine, all zero."""
    return Bodies(np.zeros(count, INERTIA), np.zeros(count, SPEEDS), np.zeros(count, MOTION))


CONTACT = record(
    first=np.int64, second=np.int64, mate=np.int64, round=np.int64, looks=np.int64,
    **dict.fromkeys(words(
        "normal_x normal_y gap arm1_x arm1_y arm2_x arm2_y g10 g11 g20 g21 t10 t11 t20 t21 "
        "inverse_mass tangent_inverse restitution friction resting due rate"
    ), np.float64),
)  # fmt: skip
"""Two bodies (the second may be WALL), the other contact of the same two faces (−1: none), whether its
normal turns while the ball moves (1: at a robot or a post) and how often that was looked at, normal and gap, the arms
from the bodies' middles, g along normal and tangent of each, w₁+w₂ along both, and the coefficients of the pair; below
the approach speed `resting` nothing bounces. `due`: when it closes in this step, at the present `rate`."""


@inlined
def velocity_change(inertia, g0, g1):  # -> M⁻¹ g
    return inertia.inverse_11 * g0 + inertia.inverse_12 * g1, inertia.inverse_12 * g0 + inertia.inverse_22 * g1


@inlined
def mobility(inertia, g0, g1):
    """w = gᵀ M⁻¹ g: how easily the body gives way along g."""
    return inertia.inverse_11 * g0 * g0 + 2.0 * inertia.inverse_12 * g0 * g1 + inertia.inverse_22 * g1 * g1


@inlined
def normal_speed(bodies, contact):
    """At which the two bodies part; negative while they approach."""
    body = bodies.speeds[contact.first]
    speed = contact.g10 * body.u0 + contact.g11 * body.u1
    if contact.second != WALL:
        body = bodies.speeds[contact.second]
        speed -= contact.g20 * body.u0 + contact.g21 * body.u1
    return speed


@inlined
def tangent_speed(bodies, contact):
    body = bodies.speeds[contact.first]
    speed = contact.t10 * body.u0 + contact.t11 * body.u1
    if contact.second != WALL:
        body = bodies.speeds[contact.second]
        speed -= contact.t20 * body.u0 + contact.t21 * body.u1
    return speed


@inlined
def displacement(motion, g0, g1, time):
    """Along g, from the step's beginning to a time of it."""
    ahead = time - motion.since
    return g0 * (motion.path0 + motion.rate0 * ahead), g1 * (motion.path1 + motion.rate1 * ahead)


@inlined
def predicted_gap(bodies, contact, time):
    """Distance at a time of this step, with the geometry of its beginning."""
    along0, along1 = displacement(bodies.motion[contact.first], contact.g10, contact.g11, time)
    gap = contact.gap + along0 + along1
    if contact.second != WALL:
        along0, along1 = displacement(bodies.motion[contact.second], contact.g20, contact.g21, time)
        gap -= along0 + along1
    return gap


@inlined
def gap_rate(bodies, contact):
    motion = bodies.motion[contact.first]
    rate = contact.g10 * motion.rate0 + contact.g11 * motion.rate1
    if contact.second != WALL:
        motion = bodies.motion[contact.second]
        rate -= contact.g20 * motion.rate0 + contact.g21 * motion.rate1
    return rate


@inlined
def change_rate(motion, du0, du1, time):
    """From `time` on the body moves on at another rate."""
    ahead = time - motion.since
    motion.path0 += motion.rate0 * ahead
    motion.path1 += motion.rate1 * ahead
    motion.since = time
    motion.rate0 += du0
    motion.rate1 += du1


@compiled
def push_apart(bodies, contact, impulse, time, tangential, speeds):
    """Apply an impulse along the normal or the tangent; with `speeds` False only the path of this step changes."""
    for side in range(2):
        index = contact.first if side == 0 else contact.second
        if index == WALL:
            continue
        if side == 0:
            g0, g1, signed = contact.g10, contact.g11, impulse
            if tangential:
                g0, g1 = contact.t10, contact.t11
        else:
            g0, g1, signed = contact.g20, contact.g21, -impulse
            if tangential:
                g0, g1 = contact.t20, contact.t21
        du0, du1 = velocity_change(bodies.inertia[index], g0, g1)
        change_rate(bodies.motion[index], du0 * signed, du1 * signed, time)
        if speeds:
            body = bodies.speeds[index]
            body.u0 += du0 * signed
            body.u1 += du1 * signed


@inlined
def restitution_of(contact, approach):
    return contact.restitution if approach < -contact.resting else 0.0


@compiled
def friction_impulse(bodies, contact, normal_impulse, time):  # -> energy lost [J]
    """Coulomb friction after a normal impulse: it slows the sliding down, at most to rest, so it never adds energy."""
    if contact.friction == 0.0 or contact.tangent_inverse <= 0.0:
        return 0.0
    before = tangent_speed(bodies, contact)
    largest = contact.friction * normal_impulse
    impulse = min(max(-before / contact.tangent_inverse, -largest), largest)
    push_apart(bodies, contact, impulse, time, True, True)
    return -0.5 * impulse * (before + tangent_speed(bodies, contact))


@compiled
def rigid_impact(bodies, contact, time):  # -> energy lost [J]
    """One contact. Nothing happens where the bodies do not approach, or where neither can give way (w₁+w₂ = 0)."""
    approach = normal_speed(bodies, contact)
    if approach >= 0.0 or contact.inverse_mass <= 0.0:
        return 0.0
    impulse = -(1.0 + restitution_of(contact, approach)) * approach / contact.inverse_mass
    push_apart(bodies, contact, impulse, time, False, True)
    lost = -0.5 * impulse * (approach + normal_speed(bodies, contact))
    return lost + friction_impulse(bodies, contact, impulse, time)


@compiled
def coupling(bodies, one, other):
    """How much an impulse of one contact changes the parting speed of another: GᵀM⁻¹G over the bodies they share."""
    total = 0.0
    for side in range(2):
        index = one.first if side == 0 else one.second
        if index == WALL or (index != other.first and index != other.second):
            continue
        g0, g1 = (one.g10, one.g11) if side == 0 else (-one.g20, -one.g21)
        du0, du1 = velocity_change(bodies.inertia[index], g0, g1)
        if index == other.first:
            total += du0 * other.g10 + du1 * other.g11
        else:
            total -= du0 * other.g20 + du1 * other.g21
    return total


@compiled
def solve_active(count, couplings, speeds, impulses, active, factors):
    """Impulses of the active contacts that stop them all, A_aa P_a = −v_a, by Cholesky's method; others get none.

    Returns False where the couplings is singular to rounding.
    """
    for a in range(count):
        impulses[a] = 0.0
        if active[a] == 0.0:
            continue
        for b in range(a + 1):
            if active[b] == 0.0:
                continue
            total = couplings[a, b]
            for k in range(b):
                if active[k] != 0.0:
                    total -= factors[a, k] * factors[b, k]
            if a == b:
                if total <= 1e-7 * couplings[a, a]:
                    return False
                factors[a, a] = sqrt(total)
            else:
                factors[a, b] = total / factors[b, b]
        total = -speeds[a]
        for k in range(a):
            if active[k] != 0.0:
                total -= factors[a, k] * impulses[k]
        impulses[a] = total / factors[a, a]
    for a in range(count - 1, -1, -1):
        if active[a] == 0.0:
            continue
        total = impulses[a]
        for k in range(a + 1, count):
            if active[k] != 0.0:
                total -= factors[k, a] * impulses[k]
        impulses[a] = total / factors[a, a]
    return True


@compiled
def resting_impulses(count, couplings, speeds, impulses, active, factors, finest):
    """P ≥ 0 so that no contact approaches any more and none pulls: v + A P ≥ 0, complementary.

    The contacts that push are guessed, those that would pull are let go and those that still approach are added, one at
    a time, the worst first. Where that does not end, impulses are set to their best one at a time. Either way the
    kinetic energy ½PᵀAP + vᵀP comes out lower: no energy is gained.
    """
    for a in range(count):
        active[a] = 1.0 if speeds[a] < 0.0 else 0.0
    for _ in range(3 * count + 2 if count <= MOST_TOGETHER else 0):
        if not solve_active(count, couplings, speeds, impulses, active, factors):
            break
        worst, least = -1, 0.0
        for a in range(count):
            if impulses[a] < least:
                worst, least = a, impulses[a]
        if worst >= 0:
            active[worst] = 0.0
            continue
        least = -finest
        for a in range(count):
            if active[a] != 0.0:
                continue
            after = speeds[a]
            for k in range(count):
                after += couplings[a, k] * impulses[k]
            if after < least:
                worst, least = a, after
        if worst < 0:
            return
        active[worst] = 1.0
    for a in range(count):
        impulses[a] = 0.0
    for _ in range(20 * count + 20):
        chosen, best = -1, finest
        for a in range(count):
            change = -speeds[a] if impulses[a] > 0.0 else max(-speeds[a], 0.0)
            if abs(change) > best:
                chosen, best = a, abs(change)
        if chosen < 0:
            return
        step = max(-speeds[chosen] / couplings[chosen, chosen], -impulses[chosen])
        impulses[chosen] += step
        for a in range(count):
            speeds[a] += couplings[a, chosen] * step


@compiled
def face_impact(bodies, one, other, time):  # -> energy lost [J], or −1 where the two cannot act together
    """Two contacts of the same two faces at the same time: both part at e times their approach.

    ΔE = −½(1−e²) vᵀA⁻¹v with A = GᵀM⁻¹G, which is never a gain.
    """
    v1, v2 = normal_speed(bodies, one), normal_speed(bodies, other)
    if v1 > STILL or v2 > STILL:
        return -1.0  # one of them parts; one that rests takes part, and rests on
    both = coupling(bodies, one, other)
    determinant = one.inverse_mass * other.inverse_mass - both * both
    if determinant <= 1e-9 * one.inverse_mass * other.inverse_mass:
        return -1.0
    bounce = 1.0 + restitution_of(one, min(v1, v2))
    p1 = -bounce * (other.inverse_mass * v1 - both * v2) / determinant
    p2 = -bounce * (one.inverse_mass * v2 - both * v1) / determinant
    if p1 < 0.0 or p2 < 0.0:
        return -1.0
    push_apart(bodies, one, p1, time, False, True)
    push_apart(bodies, other, p2, time, False, True)
    lost = -0.5 * (p1 * (v1 + normal_speed(bodies, one)) + p2 * (v2 + normal_speed(bodies, other)))
    lost += friction_impulse(bodies, one, p1, time)
    return lost + friction_impulse(bodies, other, p2, time)


@compiled
def sphere_exchange(mass1, mass2, wall, restitution, v1, v2):  # -> changes of v1 and v2
    """[yamamoto2003] eq. 12 along the line of centres, elastic for e = 1 (the text says inelastic)."""
    if wall:
        return -(1.0 + restitution) * (v1 - v2), 0.0
    total = mass1 + mass2
    return -(1.0 + restitution) * mass2 / total * (v1 - v2), (1.0 + restitution) * mass1 / total * (v1 - v2)


@compiled
def from_point_velocity(cosine, sine, arm_x, arm_y, vx, vy):  # -> v, ω
    """Decompose the velocity of a robot's point: v e_θ + ω k×d = V ([yamamoto2003] section 3.2).

    The two directions coincide for a point abeam; there each takes its own component.
    """
    determinant = cosine * arm_x + sine * arm_y
    length = arm_x * arm_x + arm_y * arm_y
    if determinant * determinant <= 1e-12 * length:
        return cosine * vx + sine * vy, (arm_x * vy - arm_y * vx) / length if length > 0.0 else 0.0
    return (arm_x * vx + arm_y * vy) / determinant, (cosine * vy - sine * vx) / determinant


@compiled
def sphere_impact(robots, bodies, contact, time):
    """The source's equivalent spheres. They gain energy for robots that turn or are hit off their axis."""
    approach = normal_speed(bodies, contact)
    if approach >= 0.0:
        return
    ball = len(robots)
    wall = contact.second == WALL
    mass = bodies.inertia[contact.first].mass
    other_mass = bodies.inertia[0 if wall else contact.second].mass
    restitution = restitution_of(contact, approach)
    change1, change2 = sphere_exchange(mass, other_mass, wall, restitution, approach, 0.0)
    for side in range(2):
        index = contact.first if side == 0 else contact.second
        if index == WALL:
            continue
        change = change1 if side == 0 else change2
        body = bodies.speeds[index]
        if index == ball:
            du0, du1 = change * contact.normal_x, change * contact.normal_y
        else:
            robot = robots[index]
            arm_x = contact.arm1_x if side == 0 else contact.arm2_x
            arm_y = contact.arm1_y if side == 0 else contact.arm2_y
            vx = robot.cosine * body.u0 - arm_y * body.u1 + change * contact.normal_x
            vy = robot.sine * body.u0 + arm_x * body.u1 + change * contact.normal_y
            v, w = from_point_velocity(robot.cosine, robot.sine, arm_x, arm_y, vx, vy)
            du0, du1 = v - body.u0, w - body.u1
        change_rate(bodies.motion[index], du0, du1, time)
        body.u0 += du0
        body.u1 += du1
