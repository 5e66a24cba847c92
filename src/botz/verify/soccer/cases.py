"""Impacts computed by hand, through the whole engine: where bodies are and how they move some time after they met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import cos, pi, radians, sin, sqrt

import numpy as np

from botz.verify.checks import Check, close, worst
from botz.verify.soccer.overlaps import deepest_overlap
from botz.verify.soccer.rig import ELASTIC, Data, Rig, free_robot, match, shipped

BALL: Data = {"friction": 0.0, "mass": 0.046, "radius": 0.0215}
RADIUS, HALF = 0.0215, 0.0375
BALL_MASS = 0.046
MASS = 0.12 + 2 * 0.015 + 2 * 0.5 * 0.015
"""M₁₁ of the shipped robot: body and wheels, and the wheels' turning, ½ m r²/r² each [kg]."""
INERTIA = 0.12 * 0.075**2 / 6 + 2 * 0.015 * 0.0325**2 + 2 * 0.5 * 0.015 * 0.0325**2
"""M₂₂: a cube, the wheels at their places and their turning [kg·m²]."""
EXACT = "Straight ways and impacts at their own times within a step: rounding of places."
TINY = 1e-12


def free_match(restitution: float = 1.0, robots: int = 1, step: float = 1e-3) -> Rig:
    """Shipped robots on motors that do nothing, a ball without friction; every pair with the same restitution."""
    pairs = dict.fromkeys(ELASTIC, (restitution, 0.0))
    return match([free_robot() for _ in range(robots)], step=step, ball=BALL, pairs=pairs).ball(0.0, 0.0)


def at_rest_elsewhere(rig: Rig) -> Rig:
    """The ball where it disturbs nobody."""
    return rig.ball(-0.6, 0.5)


def moved(
    name: str, rig: Rig, expected: Mapping[str, Sequence[float]], tolerance: float = TINY, why: str = EXACT
) -> Check:
    """One check of all numbers: places and speeds by channel."""
    errors = []
    for channel, numbers in expected.items():
        found = rig.value(channel)
        found = found[[0, 2]] if channel.endswith("twist") else found[: len(numbers)]
        error = np.asarray(found) - np.asarray(numbers)
        if channel.endswith("pose") and len(numbers) == 3:
            error[2] = np.angle(np.exp(1j * error[2]))
        errors += list(error)
    return worst(name, errors, tolerance, why)


# --- walls -----------------------------------------------------------------------------------------------------------


def ball_on_walls(samples: int) -> Iterator[Check]:
    """A ball without friction: it flies to the wall, parts at e times its normal speed, and keeps the other one."""
    del samples
    e = 0.7
    rig = free_match(e).ball(0.1, 0.5, 0.3, 2.0).run(0.1)
    hit = (0.65 - RADIUS - 0.5) / 2.0
    y = 0.65 - RADIUS - e * 2.0 * (0.1 - hit)
    yield moved("ball on the side wall", rig, {"ball/pose": (0.13, y), "ball/velocity": (0.3, -e * 2.0)})
    rig = free_match(e).ball(-0.5, 0.4, -3.0, 0.5).run(0.1)
    hit = (0.75 - RADIUS - 0.5) / 3.0
    x = -0.75 + RADIUS + e * 3.0 * (0.1 - hit)
    yield moved("ball on the end wall", rig, {"ball/pose": (x, 0.45), "ball/velocity": (e * 3.0, 0.5)})
    rig = free_match(e).ball(0.7, 0.05, 3.0, 0.0).run(0.1)
    hit = (0.85 - RADIUS - 0.7) / 3.0
    x = 0.85 - RADIUS - e * 3.0 * (0.1 - hit)
    yield moved("ball on the back of the goal", rig, {"ball/pose": (x, 0.05), "ball/velocity": (-e * 3.0, 0.0)})
    rig = free_match(e).ball(0.8, 0.1, 0.0, -3.0).run(0.1)
    hit = (0.1 + 0.2 - RADIUS) / 3.0
    y = -0.2 + RADIUS + e * 3.0 * (0.1 - hit)
    yield moved("ball on the side of the goal", rig, {"ball/pose": (0.8, y), "ball/velocity": (0.0, e * 3.0)})
    # The triangle x + y = 1.33 turns a ball that comes along x into one along −y, if elastic.
    rig = free_match(1.0).ball(0.5, 0.6, 2.0, 0.0)
    hit = (1.33 - RADIUS * sqrt(2.0) - 0.6 - 0.5) / 2.0
    rig.run(0.15)
    there = (0.5 + 2.0 * hit, 0.6 - 2.0 * (0.15 - hit))
    yield moved("ball on a corner's triangle", rig, {"ball/pose": there, "ball/velocity": (0.0, -2.0)})
    # At the post the normal points from its tip to the ball: here at 30° from −x.
    angle = radians(30.0)
    normal = np.array([-cos(angle), -sin(angle)])
    step = 1e-4
    rig = free_match(e, step=step).ball(0.5, 0.2 - RADIUS * sin(angle), 2.0, 0.0)
    hit = (0.75 - RADIUS * cos(angle) - 0.5) / 2.0
    after = np.array([2.0, 0.0]) - (1.0 + e) * (2.0 * normal[0]) * normal
    there = np.array([0.75, 0.2]) + RADIUS * normal + after * (0.15 - hit)
    rig.run(0.15)
    why = "The normal is that of the step's beginning, up to v h away: it differs by v h/r, and v' by twice that."
    tolerance = 2.0 * (1.0 + e) * 2.0 * (2.0 * step) / RADIUS
    yield moved("ball on a post", rig, {"ball/pose": there, "ball/velocity": after}, tolerance, why)


def robot_on_walls(samples: int) -> Iterator[Check]:
    """Frontal: v' = −e v without any turn. On one vertex: P = (1+e) v sin θ/w, w = sin²θ/M + (d_x)²/J."""
    del samples
    e = 0.3
    rig = at_rest_elsewhere(free_match(e)).robot(0, [0.5, 0.4, 0.0], v=1.0).run(0.4)
    hit = 0.75 - HALF - 0.5
    x = 0.75 - HALF - e * (0.4 - hit)
    yield moved("robot frontally on the end wall", rig, {"r0/pose": (x, 0.4, 0.0), "r0/twist": (-e, 0.0)})
    rig = at_rest_elsewhere(free_match(e)).robot(0, [0.2, 0.5, pi / 2.0], v=-2.0).run(0.6)
    hit = (0.5 + 0.65 - HALF) / 2.0
    y = -0.65 + HALF + e * 2.0 * (0.6 - hit)
    yield moved("robot backwards on the side wall", rig, {"r0/pose": (0.2, y, pi / 2), "r0/twist": (e * 2.0, 0.0)})
    # Towards the triangle at 45°, frontally.
    d = 1.0 / sqrt(2.0)
    rig = at_rest_elsewhere(free_match(e)).robot(0, [0.5, 0.4, pi / 4.0], v=1.0).run(0.3)
    hit = (1.33 - 0.9) * d - HALF
    way = hit - e * (0.3 - hit)
    there = (0.5 + way * d, 0.4 + way * d, pi / 4.0)
    yield moved("robot frontally on a corner's triangle", rig, {"r0/pose": there, "r0/twist": (-e, 0.0)})
    # Heading 60° against the side wall above: its left front vertex comes first.
    theta = radians(60.0)
    arm_x, arm_y = HALF * (cos(theta) - sin(theta)), HALF * (sin(theta) + cos(theta))
    rig = at_rest_elsewhere(free_match(e)).robot(0, [0.0, 0.5, theta], v=1.0)
    hit = (0.65 - 0.5 - arm_y) / sin(theta)
    # n = (0, −1), g = (−sin θ, −d_x).
    g = np.array([-sin(theta), -arm_x])
    w = g[0] ** 2 / MASS + g[1] ** 2 / INERTIA
    impulse = (1.0 + e) * sin(theta) / w
    v, turn = 1.0 + g[0] * impulse / MASS, g[1] * impulse / INERTIA
    n = int(hit / 1e-3)
    rig.steps(n)
    yield moved("robot on a vertex: before", rig, {"r0/twist": (1.0, 0.0)})
    rig.steps(1)
    yield moved("robot on a vertex: v and ω by hand", rig, {"r0/twist": (v, turn)})
    left = (n + 1) * 1e-3 - hit
    place = (cos(theta) * (hit + v * left), 0.5 + sin(theta) * (hit + v * left), theta + turn * left)
    why = "The rest of the step goes along the mean of two headings: v (ω h)²/2 at most, 1 m/s and 20 rad/s."
    yield moved("robot on a vertex: place", rig, {"r0/pose": place}, 1e-3 * abs(v) * abs(turn) * 1e-3, why)


# --- two bodies ------------------------------------------------------------------------------------------------------


def robot_on_ball(samples: int) -> Iterator[Check]:
    """Frontal: eq. 12 with restitution and M = m + Σ I/r². On a corner at 45°: w = ½/M + 1/m_b."""
    del samples
    e = 0.5
    rig = free_match(e).robot(0, [-0.3, 0.0, 0.0], v=1.0).ball(0.0, 0.0, -0.5, 0.0).run(0.3)
    hit = (0.3 - HALF - RADIUS) / 1.5
    p = (1.0 + e) * 1.5 / (1.0 / MASS + 1.0 / BALL_MASS)
    v, u = 1.0 - p / MASS, -0.5 + p / BALL_MASS
    expected = {
        "r0/pose": (-0.3 + hit + v * (0.3 - hit), 0.0, 0.0), "r0/twist": (v, 0.0),
        "ball/pose": (-0.5 * hit + u * (0.3 - hit), 0.0), "ball/velocity": (u, 0.0),
    }  # fmt: skip
    yield moved("robot frontally on the ball", rig, expected)
    # A robot that stands at 45°, its vertex towards the ball that comes along −x.
    rig = free_match(e).robot(0, [-0.2, 0.0, pi / 4.0]).ball(0.1, 0.0, -1.0, 0.0)
    gap = 0.3 - HALF * sqrt(2.0) - RADIUS
    n = int(gap / 1e-3) + 1
    rig.steps(n)
    p = (1.0 + e) / (0.5 / MASS + 1.0 / BALL_MASS)
    v, u = -p * sqrt(0.5) / MASS, -1.0 + p / BALL_MASS
    left = n * 1e-3 - gap
    expected = {
        "r0/pose": (-0.2 + v * left * sqrt(0.5), v * left * sqrt(0.5), pi / 4.0), "r0/twist": (v, 0.0),
        "ball/pose": (0.1 - gap + u * left, 0.0), "ball/velocity": (u, 0.0),
    }  # fmt: skip
    yield moved("ball on a robot's corner", rig, expected)
    # Abeam of a robot that stands: the wheels hold it where it is, and it turns unless the ball hits its middle.
    rig = free_match(1.0).robot(0, [0.0, -0.2, 0.0]).ball(0.0, 0.0, 0.0, -1.0).run(0.3)
    hit = 0.2 - HALF - RADIUS
    expected = {"r0/pose": (0.0, -0.2, 0.0), "r0/twist": (0.0, 0.0), "ball/pose": (0.0, -hit + 0.3 - hit)}
    yield moved("ball abeam on a robot's middle: as on a wall", rig, expected)
    rig = free_match(1.0).robot(0, [0.0, -0.2, 0.0]).ball(0.03, 0.0, 0.0, -1.0)
    n = int(hit / 1e-3) + 1
    rig.steps(n)
    p = 2.0 / (0.03**2 / INERTIA + 1.0 / BALL_MASS)
    expected = {"r0/twist": (0.0, -0.03 * p / INERTIA), "ball/velocity": (0.0, -1.0 + p / BALL_MASS)}
    yield moved("ball abeam on a robot, 3 cm ahead: it turns", rig, expected)


def robot_on_robot(samples: int) -> Iterator[Check]:
    """Frontal and elastic: equal robots exchange their speeds. Edge on edge, shifted by half a side: both contacts
    share P = (1+e) v/(2/M + 2 y²/J) with y = a/4, and both turn alike."""
    del samples
    rig = at_rest_elsewhere(free_match(1.0, 2))
    rig.robot(0, [-0.3, 0.0, 0.0], v=1.0).robot(1, [0.3, 0.0, pi], v=0.5).run(0.5)
    hit = (0.6 - 2.0 * HALF) / 1.5
    expected = {
        "r0/pose": (-0.3 + hit - 0.5 * (0.5 - hit), 0.0, 0.0), "r0/twist": (-0.5, 0.0),
        "r1/pose": (0.3 - 0.5 * hit + 0.5 - hit, 0.0, pi), "r1/twist": (-1.0, 0.0),
    }  # fmt: skip
    tolerance = 1e-11
    why = "Two contacts, and sin π of 1e-16: what this turns within 0.1 s."
    yield moved("robots frontally: speeds are exchanged, nobody turns", rig, expected, tolerance, why)
    e = 0.4
    rig = at_rest_elsewhere(free_match(e, 2))
    rig.robot(0, [-0.2, 0.0, 0.0], v=1.0).robot(1, [0.2, HALF, pi], v=1.0)
    hit = (0.4 - 2.0 * HALF) / 2.0
    rig.steps(int(hit / 1e-3) + 1)
    y = 0.5 * HALF
    p = (1.0 + e) * 2.0 / (2.0 / MASS + 2.0 * y**2 / INERTIA)
    # The impulse pushes the first one back, above its middle: it turns to the left, and so does the other.
    expected = {"r0/twist": (1.0 - p / MASS, y * p / INERTIA), "r1/twist": (1.0 - p / MASS, y * p / INERTIA)}
    yield moved("robots edge on edge, half a side aside", rig, expected, 1e-6, "Ends of edges count up to 1 µm beyond.")
    # Vertex on the middle of a face: the one that comes slantwise at 45°, the other stands and is pushed back.
    rig = at_rest_elsewhere(free_match(e, 2))
    rig.robot(0, [0.0, 0.0, pi / 4.0], v=1.0).robot(1, [0.1, 0.1, -3.0 * pi / 4.0])
    rig.steps(int((0.1 * sqrt(2.0) - 2.0 * HALF) / 1e-3) + 1)
    p = (1.0 + e) / (2.0 / MASS)
    expected = {"r0/twist": (1.0 - p / MASS, 0.0), "r1/twist": (-p / MASS, 0.0)}
    yield moved("robots frontally at 45°", rig, expected, 1e-11, why)
    rig = at_rest_elsewhere(free_match(e, 2))
    rig.robot(0, [-0.2, 0.0, 0.0], v=1.0).robot(1, [0.0, 0.0, pi / 4.0])
    gap = 0.2 - HALF - HALF * sqrt(2.0)
    rig.steps(int(gap / 1e-3) + 1)
    p = (1.0 + e) / (1.0 / MASS + 0.5 / MASS)
    expected = {"r0/twist": (1.0 - p / MASS, 0.0), "r1/twist": (p * sqrt(0.5) / MASS, 0.0)}
    yield moved("vertex on the middle of a face", rig, expected)


def spheres_frontally(samples: int) -> Iterator[Check]:
    """The source's equivalent spheres where they are right, frontally and without a turn: eq. 12 with the masses of
    robot and ball, and exchanged speeds of equal robots."""
    del samples
    robots = [free_robot(), free_robot()]
    rig = match(robots, ball=BALL, pairs=ELASTIC, model="equivalent-sphere")
    rig.robot(0, [-0.3, 0.0, 0.0], v=1.0).ball(0.0, 0.0, -0.5, 0.0).run(0.3)
    m1, m2 = 0.12 + 2 * 0.015, BALL_MASS
    v = ((m1 - m2) * 1.0 + 2.0 * m2 * -0.5) / (m1 + m2)
    u = ((m2 - m1) * -0.5 + 2.0 * m1 * 1.0) / (m1 + m2)
    yield moved("spheres: robot frontally on the ball, eq. 12", rig, {"r0/twist": (v, 0.0), "ball/velocity": (u, 0.0)})
    rig = match(robots, ball=BALL, pairs=ELASTIC, model="equivalent-sphere").ball(0.3, 0.4, 0.0, 2.0).run(0.2)
    yield moved("spheres: ball on the side wall, eq. 12 with m₂ = ∞", rig, {"ball/velocity": (0.0, -2.0)})
    # A robot that comes slantwise onto the wall gets more than it had.
    rig = at_rest_elsewhere(match(robots, ball=BALL, pairs=ELASTIC, model="equivalent-sphere"))
    rig.robot(0, [0.0, 0.58, radians(60.0)], v=1.0).run(0.1)
    gained = rig.value("match/energy")[0] / (0.5 * MASS) - 1.0
    why = "The documented defect of the option: energy is gained, and counted as a loss that is negative."
    yield close(
        "spheres: a robot on a vertex gains energy", 1.0, float(gained > 0.01), 0.0, f"{why} Here {gained:.0%}."
    )


def squeezed_ball(samples: int) -> Iterator[Check]:
    """Two robots at full voltage, the ball between them: it comes to rest, nothing overlaps, nothing is gained."""
    del samples
    for name, method, shift in (("middle", "euler", 0.0), ("aside", "euler", 0.01), ("middle, rk4", "rk4", 0.0)):
        rig = match([shipped(), shipped()], method=method).ball(0.0, shift)
        rig.robot(0, [-0.2, 0.0, 0.0]).robot(1, [0.2, 0.0, pi]).voltages(0, 6.0, 6.0).voltages(1, 6.0, 6.0)
        rows = rig.record(2000)
        why = "Coordinates below 1 m, after an engine that undoes overlaps beyond 1e-12 m."
        yield close(f"squeezed ball, {name}: overlap [m]", 0.0, max(deepest_overlap(rig, rows), 0.0), 2e-12, why)
        energy = rig.value("match/energy", rows)
        balance = energy[:, 0] - energy[:, 1] + energy[:, 2] + energy[:, 3]
        yield worst(f"squeezed ball, {name}: kinetic = motors − friction − impacts [J]", balance, 1e-12, "Rounding.")
        speeds = [
            np.abs(rig.value(channel, rows[-200:])).max() for channel in ("ball/velocity", "r0/twist", "r1/twist")
        ]
        if shift:
            continue  # there the robots turn about the ball and pass each other
        still = "After 2 s all lean on each other; a step of 6 V is 0.03 m/s."
        yield worst(f"squeezed ball, {name}: speeds at last [m/s]", speeds, 0.03, still)


def fast_ball(samples: int) -> Iterator[Check]:
    """A ball at 50 m/s goes 5 cm in a step: it neither leaves the field nor passes a robot. On a robot that is too
    heavy to move its way is reflected: v' = v − (1+e)(v·n) n, at the time of the impact."""
    rng = np.random.default_rng(21)
    outside, speed = [], []
    count = min(max(samples // 10, 3), 2000)
    for _ in range(count):
        rig = free_match(1.0)
        angle = rng.uniform(-pi, pi)
        rig.ball(rng.uniform(-0.6, 0.6), rng.uniform(-0.4, 0.4), 50.0 * cos(angle), 50.0 * sin(angle))
        rows = rig.record(100)
        outside.append(max(deepest_overlap(rig, rows), 0.0))
        speed.append(float(np.linalg.norm(rig.value("ball/velocity"))) / 50.0 - 1.0)
    yield worst("ball at 50 m/s: beyond a wall [m]", outside, 2e-12, "Coordinates below 1 m: rounding.")
    yield worst("ball at 50 m/s: elastic on walls, speed, relative", speed, 1e-12, "Up to 10 impacts, a rounding each.")
    heavy = free_robot(mass=1e4, inertia=1e4)
    rig = match([heavy], ball=BALL, pairs=ELASTIC)
    place, velocity = [], []
    for _ in range(count * 5):
        heading, side = rng.uniform(-pi, pi), rng.integers(4) * pi / 2.0
        out = np.array([cos(heading + side), sin(heading + side)])
        along = np.array([-out[1], out[0]])
        middle, target = rng.uniform(-0.1, 0.1, 2), rng.uniform(-0.8, 0.8) * HALF
        slant = rng.uniform(-1.0, 1.0)
        start = -50.0 * (cos(slant) * out + sin(slant) * along)
        hit = middle + (HALF + RADIUS) * out + target * along
        before = rng.uniform(1e-4, 3e-3)
        rig.reset().robot(0, [*middle, heading]).ball(*(hit - before * start), *start).steps(5)
        after = start + 100.0 * cos(slant) * out
        velocity += list((rig.value("ball/velocity") - after) / 50.0)
        place += list(rig.value("ball/pose")[:2] - hit - after * (5e-3 - before))
    why = "The robot gives way by 1e-5 of the ball's speed, m_b/m."
    yield worst("ball at 50 m/s on a robot: velocity, relative", velocity, 2e-5, why)
    yield worst("ball at 50 m/s on a robot: place [m]", place, 2e-5 * 50.0 * 5e-3, why)


FUNCTIONS = (ball_on_walls, robot_on_walls, robot_on_ball, robot_on_robot, spheres_frontally, squeezed_ball, fast_ball)
