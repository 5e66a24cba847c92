"""Impacts: free bodies by eq. 12, single contacts of every kind by the rigid impulse, and the source's spheres."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.physics.soccer.impact import CONTACT, free_standing, rigid_impact, sphere_exchange
from botz.verify.checks import EPS, Check, close, worst
from botz.verify.soccer.contacts import KINDS, Contact, Maker, makers

MOST = 20_000
"""Samples beyond which nothing new shows."""

# --- free bodies -----------------------------------------------------------------------------------------------------


def equation_12(m1: float, m2: float, v1: float, v2: float) -> tuple[float, float]:
    """As the source prints it: the elastic impact."""
    total = m1 + m2
    return ((m1 - m2) / total * v1 + 2.0 * m2 / total * v2, (m2 - m1) / total * v2 + 2.0 * m1 / total * v1)


def free_bodies(samples: int) -> Iterator[Check]:
    """Two free spheres: along the line of centres eq. 12, across it nothing; Σ m v is kept, and Σ ½ m v² as well, less
    ½(1−e²) v² m₁m₂/(m₁+m₂) for e < 1."""
    rng = np.random.default_rng(11)
    bodies, contacts = free_standing(2), np.zeros(1, CONTACT)
    contact = contacts[0]
    contact.second, contact.mate = 1, -1
    along, across, momentum, energy, plastic, spheres = [], [], [], [], [], []
    for case in range(min(samples, MOST)):
        masses, angle = 10.0 ** rng.uniform(-3.0, 3.0, 2), rng.uniform(-np.pi, np.pi)
        n = np.array([np.cos(angle), np.sin(angle)])
        t = np.array([-n[1], n[0]])
        before = rng.normal(0.0, 3.0, (2, 2))
        if (before[0] - before[1]) @ n > 0.0:
            before = before[::-1].copy()
        restitution = 1.0 if case % 2 == 0 else rng.uniform(0.0, 1.0)
        for body, speeds, mass, u in zip(bodies.inertia, bodies.speeds, masses, before, strict=True):
            speeds.u0, speeds.u1 = u
            body.inverse_11 = body.inverse_22 = 1.0 / mass
        contact.g10, contact.g11 = contact.g20, contact.g21 = n
        contact.inverse_mass, contact.restitution = (1.0 / masses).sum(), restitution
        lost = rigid_impact(bodies, contact, 0.0)
        after = np.array([[speeds.u0, speeds.u1] for speeds in bodies.speeds])
        speed, scale = (before[0] - before[1]) @ n, np.abs(before).max()
        across += list((after - before) @ t / scale)
        momentum.append(np.abs(masses @ (after - before)).max() / (masses @ np.abs(before)).sum())
        start, end = (0.5 * masses @ (one**2).sum(1) for one in (before, after))
        expected = 0.5 * (1.0 - restitution**2) * speed**2 / (1.0 / masses).sum()
        energy.append((start - end - expected) / start)
        plastic.append((lost - expected) / start)
        if restitution == 1.0:
            new = equation_12(*masses, *(before @ n))
            along += list((after @ n - new) / scale)
            change = sphere_exchange(*masses, False, 1.0, *(before @ n))
            spheres += [(before[k] @ n + change[k] - new[k]) / scale for k in range(2)]
    why = "A handful of roundings, of numbers up to the largest mass ratio, 1e6, times the smallest."
    yield worst("free bodies: eq. 12 along the line of centres, relative", along, 50 * EPS, why)
    yield worst("free bodies: the sphere's exchange is eq. 12, relative", spheres, 50 * EPS, why)
    yield worst("free bodies: nothing across, relative", across, 50 * EPS, why)
    yield worst("free bodies: momentum, relative", momentum, 20 * EPS, why)
    yield worst("free bodies: energy, relative", energy, 50 * EPS, why)
    yield worst("free bodies: energy said to be lost, relative", plastic, 50 * EPS, why)


# --- single contacts -------------------------------------------------------------------------------------------------


def scale_of(made: Contact) -> float:
    """Energy of the motion at which the rounding of a contact's speeds is measured."""
    return sum(0.5 * body.u @ body.mass @ body.u for body, _ in made.bodies)


def distance(made: Contact, found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """Of two sets of speeds, in the norm of the energy, relative to the motion before."""
    gaps = zip(made.bodies, found, expected, strict=True)
    error = sum(0.5 * (u - v) @ body.mass @ (u - v) for (body, _), u, v in gaps)
    return float(np.sqrt(error / scale_of(made)))


def impacts_without_friction(samples: int) -> Iterator[Check]:
    """Every kind of contact, through the engine: Δu = ± M⁻¹ g P with P = −(1+e) v/(w₁+w₂), and exactly ΔE =
    −½(1−e²) v²/(w₁+w₂); w = gᵀM⁻¹g by NumPy, for robots and balls of random parameters."""
    rng = np.random.default_rng(12)
    speeds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    energy: dict[str, list[float]] = {kind: [] for kind in KINDS}
    counted = []
    for maker, count in makers(rng, 4 * min(samples, MOST), 400, lambda: (float(rng.uniform(0.05, 1.0)), 0.0)):
        for _ in range(count):
            kind, made = maker.draw()
            expected, lost = made.after(maker.restitution, 0.0)
            start = maker.rig.value("match/energy")[0]
            maker.rig.steps(1)
            end, taken = maker.rig.value("match/energy")[[0, 3]]
            speeds[kind].append(distance(made, maker.found(made), expected))
            scale = scale_of(made)
            energy[kind] += [(start - end - lost) / scale, (taken - lost) / scale]
            counted.append(maker.rig.value("match/impacts") - 1.0)
    for kind in KINDS:
        why = f"Rounding of the bodies' places near 1 m, by arms of centimetres; {len(speeds[kind])} impacts."
        yield worst(f"{kind}: speeds after the impact, relative", speeds[kind], 1e-12, why)
        yield worst(f"{kind}: ΔE = −½(1−e²) v²/(w₁+w₂), relative", energy[kind], 1e-12, why)
    yield worst("single contacts: impacts counted beyond one", counted, 0.0, "One contact each, and parting bodies.")


def impacts_with_friction(samples: int) -> Iterator[Check]:
    """After the normal impulse P friction stops the sliding, as far as μ P does: it takes energy and gives none."""
    rng = np.random.default_rng(13)
    speeds, energy, rubbed, gained = [], [], [], []
    for maker, count in makers(
        rng, 2 * min(samples, MOST), 300, lambda: (rng.uniform(0.05, 1.0), rng.uniform(0.0, 1.5))
    ):
        for _ in range(count):
            _, made = maker.draw()
            expected, lost = made.after(maker.restitution, maker.friction)
            plain = made.after(maker.restitution, 0.0)[1]
            start = maker.rig.value("match/energy")[0]
            maker.rig.steps(1)
            end, taken = maker.rig.value("match/energy")[[0, 3]]
            scale = scale_of(made)
            gained.append(max(end - start, 0.0) / scale)
            rubbed.append(max(plain - taken, 0.0) / scale)
            energy.append((start - end - taken) / scale)
            parting = sum(sign * body.normal @ u for (body, sign), u in zip(made.bodies, expected, strict=True))
            if parting > 1e-3:  # else friction drives the bodies together again, and a second impact follows
                speeds += [distance(made, maker.found(made), expected), (taken - lost) / scale]
    why = "Rounding of the bodies' places near 1 m, by arms of centimetres."
    yield worst("impacts with friction: speeds and energy by hand, relative", speeds, 1e-12, why)
    yield worst("impacts with friction: the energy said to be lost is what is missing, relative", energy, 1e-12, why)
    yield worst("impacts with friction: less lost than without, relative", rubbed, 1e-12, why)
    yield worst("impacts with friction: energy gained, relative", gained, 1e-12, why)


def plastic_impacts(samples: int) -> Iterator[Check]:
    """e = 0: the bodies stay together, and ½ v²/(w₁+w₂) is lost."""
    rng = np.random.default_rng(14)
    energy, parting = [], []
    for maker, count in makers(rng, min(samples, MOST), 100, lambda: (0.0, 0.0)):
        for _ in range(count):
            _, made = maker.draw()
            _, lost = made.after(0.0, 0.0)
            maker.rig.steps(1)
            energy.append((maker.rig.value("match/energy")[3] - lost) / scale_of(made))
            found = zip(made.bodies, maker.found(made), strict=True)
            parting.append(sum(sign * body.normal @ u for (body, sign), u in found))
    why = "In the step of 1 µs a robot turns by 5e-5 rad, and its point by as much of its speed of some m/s."
    yield worst("plastic impacts: ½ v²/(w₁+w₂), relative", energy, 1e-3, why)
    yield worst("plastic impacts: speed of parting [m/s]", parting, 5e-3, why)


# --- the source's spheres --------------------------------------------------------------------------------------------


def sphere_speeds(made: Contact, masses: list[float], restitution: float) -> list[np.ndarray] | None:
    """Section 3.2 by NumPy: eq. 12 with the velocities of the points, which are then decomposed into v and ω."""
    points = []
    for body, _ in made.bodies:
        if body.index < 0:
            points.append(np.eye(2))
        else:
            ahead = [np.cos(body.heading), np.sin(body.heading)]
            points.append(np.array([[ahead[0], -body.arm[1]], [ahead[1], body.arm[0]]]))
    if any(abs(np.linalg.det(one)) < 0.2 * np.linalg.norm(one[:, 1]) for one in points):
        return None  # the point lies abeam, where v and ω move it the same way
    velocities = [point @ body.u for point, (body, _) in zip(points, made.bodies, strict=True)]
    along = [velocity @ made.n for velocity in velocities]
    if made.second is None:
        change = [-(1.0 + restitution) * along[0]]
    else:
        common = (masses[0] * along[0] + masses[1] * along[1]) / (masses[0] + masses[1])
        change = [(1.0 + restitution) * (common - one) for one in along]
    return [
        np.linalg.solve(point, velocity + part * made.n)
        for point, velocity, part in zip(points, velocities, change, strict=True)
    ]


def masses_of(maker: Maker, made: Contact) -> list[float]:
    totals = [robot["mass"] + sum(one["mass"] for one in robot["wheels"].values()) for robot in maker.robots]
    return [maker.ball_mass if body.index < 0 else totals[body.index] for body, _ in made.bodies]


def equivalent_spheres(samples: int) -> Iterator[Check]:
    """The option `equivalent-sphere`: the velocity of the contact's point by eq. 12 and the mass of the robot, then v
    and ω from it. Right for balls on walls; it gains energy where a robot turns or is hit off its axis."""
    rng = np.random.default_rng(15)
    errors, ball, gains, elastic = [], [], [], []
    for maker, count in makers(
        rng, min(samples, MOST), 300, lambda: (float(rng.uniform(0.3, 1.0)), 0.0), "equivalent-sphere"
    ):
        for _ in range(count):
            kind, made = maker.draw()
            expected = sphere_speeds(made, masses_of(maker, made), maker.restitution)
            if expected is None:
                continue
            rigid, _ = made.after(maker.restitution, 0.0)
            maker.rig.steps(1)
            found, scale = maker.found(made), scale_of(made)
            errors.append(
                distance(made, found, expected) / max(1.0, distance(made, expected, [u * 0 for u in expected]))
            )
            if kind == "ball on wall":
                ball.append(distance(made, found, rigid))
            else:
                gains.append(-maker.rig.value("match/energy")[3] / scale)
    for maker, count in makers(rng, max(min(samples, MOST) // 3, 100), 30, lambda: (1.0, 0.0), "equivalent-sphere"):
        for _ in range(count):
            kind, made = maker.draw()
            if kind == "ball on wall" or sphere_speeds(made, masses_of(maker, made), 1.0) is None:
                continue
            maker.rig.steps(1)
            elastic.append(-maker.rig.value("match/energy")[3] / scale_of(made))
    why = "Rounding, magnified by the decomposition into v and ω by up to 5."
    yield worst("equivalent spheres: v and ω by section 3.2, relative", errors, 1e-11, why)
    yield worst("equivalent spheres: a ball on a wall is as by the rigid impulse, relative", ball, 1e-12, why)
    share = float(np.mean(np.array(elastic) > 1e-9))
    why = f"{len(elastic)} elastic impacts of robots at random: a half to three quarters gain energy, and it is said."
    yield close("equivalent spheres: share of impacts that gain energy", 0.65, share, 0.15, why)
    largest = max([*gains, *elastic], default=np.nan)
    why = "Without a bound: here more than doubled by a single impact."
    yield close("equivalent spheres: energy after by before, at least 2", 1.0, float(largest > 1.0), 0.0, why)


FUNCTIONS = (free_bodies, impacts_without_friction, impacts_with_friction, plastic_impacts, equivalent_spheres)
