"""Crowded matches: random bodies packed closely and left to themselves, and what must never happen to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from botz.verify.checks import FAST, Check, close, worst
from botz.verify.soccer.overlaps import Walls, ball_overlap, deepest_overlap, square_overlap, vertices
from botz.verify.soccer.rig import KINDS, Data, Rig, match, random_robot, shipped

STEPS = 2000
"""Of a run: 2 s in steps of 1 ms."""
BATCH = 64
OVERLAP = 2e-12
"""Overlaps below are rounding [m]: the engine leaves up to 1e-12 m, and a heading's last digit moves a vertex by less
than 1e-16 m."""
FLUCTUATION = 1e-13
"""Of a kinetic energy that is summed up over some ten bodies, relatively."""


def free_places(
    rig: Rig, rng: np.random.Generator, middle: np.ndarray, size: float
) -> tuple[list[np.ndarray], np.ndarray]:
    """Poses of all robots and a place of the ball in a box about `middle`, which grows until all have room."""
    walls, radius = Walls.of(rig), rig.engine.scenario.world.ball.radius
    poses: list[np.ndarray] = []
    squares: list[np.ndarray] = []
    for name in rig.names:
        side = rig.engine.scenario.robots[name].side
        while True:
            tried = np.column_stack([middle + rng.uniform(-size, size, (BATCH, 2)), rng.uniform(-np.pi, np.pi, BATCH)])
            corners = vertices(tried, side)
            free = walls.square_overlap(corners) < 0.0
            for other in squares:
                free &= square_overlap(corners, np.broadcast_to(other, corners.shape)) < 0.0
            if free.any():
                chosen = int(np.argmax(free))
                poses.append(tried[chosen])
                squares.append(corners[chosen])
                break
            size *= 1.1
    while True:
        places = middle + rng.uniform(-size, size, (BATCH, 2))
        free = walls.ball_overlap(places, radius) < 0.0
        for square in squares:
            free &= ball_overlap(np.broadcast_to(square, (BATCH, 4, 2)), places, radius) < 0.0
        if free.any():
            return poses, places[int(np.argmax(free))]
        size *= 1.1


def place_crowd(rig: Rig, rng: np.random.Generator) -> Rig:
    """All bodies packed anywhere, also at walls, in corners and in goals, with random speeds."""
    walls = Walls.of(rig)
    middle = rng.uniform(-1.0, 1.0, 2) * [walls.end, walls.side]
    poses, ball = free_places(rig, rng, middle, rng.uniform(0.1, 0.5))
    rig.reset()
    for index, pose in enumerate(poses):
        rig.robot(index, pose, rng.normal(0.0, 1.0), rng.normal(0.0, 20.0))
    return rig.ball(*ball, *rng.normal(0.0, 3.0, 2))


def random_match(rng: np.random.Generator, a_side: int) -> Rig:
    """Robots that are all alike or all different, and coefficients between 0 and 1, with these included."""

    def share() -> float:
        return float(np.clip(rng.uniform(-0.15, 1.15), 0.0, 1.0))

    robots = [shipped()] * (2 * a_side) if rng.random() < 0.5 else [random_robot(rng) for _ in range(2 * a_side)]
    pairs = {kind: (share(), share() if rng.random() < 0.7 else 0.0) for kind in KINDS}
    size: Data = {"corner": 0.0} if rng.random() < 0.2 else {}
    method = "euler" if rng.random() < 0.5 else "rk4"
    return match(robots, method=method, field=size, ball={"rolling": bool(rng.random() < 0.5)}, pairs=pairs)


@dataclass
class Watch:
    """What was seen over many runs: the worst, and where."""

    overlap: float = -np.inf
    where: str = ""
    rise: float = 0.0
    rise_where: str = ""
    given: float = 0.0
    """Energy that impacts gave in one step instead of taking it, relative to what there was."""
    given_where: str = ""
    balance: float = 0.0
    balance_where: str = ""
    impacts: float = 0.0
    lost: int = 0
    """Runs with numbers that are not finite."""
    rows: dict[int, np.ndarray] = field(default_factory=dict)

    def run(self, rig: Rig, label: str, driven: bool) -> None:
        width = rig.engine.channels.width
        rows = self.rows.setdefault(width, np.empty((STEPS, width)))
        start = rig.value("match/energy")[0]
        rig.record(STEPS, rows)
        if not np.isfinite(rows).all():
            self.lost += 1
            return
        deepest = deepest_overlap(rig, rows)
        if deepest > self.overlap:
            self.overlap, self.where = deepest, label
        kinetic, motors, friction, lost, placed = rig.value("match/energy", rows).T
        scale = start + np.abs(motors).max() + kinetic.max()
        if not driven:
            rise = float(np.diff(kinetic, prepend=start).max()) / start
            if rise > self.rise:
                self.rise, self.rise_where = rise, label
        given = float(-np.diff(lost, prepend=0.0).min()) / scale
        if given > self.given:
            self.given, self.given_where = given, label
        error = kinetic - (start + motors - friction - lost + placed)
        balance = float(np.abs(error).max()) / scale
        if balance > self.balance:
            self.balance, self.balance_where = balance, label
        self.impacts += float(rig.value("match/impacts", rows[-1]))

    def checks(self, name: str, runs: int, driven: bool) -> Iterator[Check]:
        why = f"{runs} placements, {self.impacts:.0f} impacts; judged by the vertices alone, after every step."
        deepest = f"{why} Deepest in {self.where}."
        yield close(f"{name}: largest overlap [m]", 0.0, max(self.overlap, 0.0), OVERLAP, deepest)
        yield close(f"{name}: runs with a number that is not finite", 0, self.lost, 0, why)
        given = f"{why} Rounding of a difference of sums. Largest in {self.given_where or 'none'}."
        yield close(f"{name}: energy that impacts give in a step, relative", 0.0, self.given, FLUCTUATION, given)
        if not driven:
            rise = f"{why} Rounding of a sum over all bodies. Largest in {self.rise_where or 'none'}."
            yield close(
                f"{name}: largest gain of kinetic energy in a step, relative", 0.0, self.rise, FLUCTUATION, rise
            )
        why = f"Start + motors − friction − impacts + placed: some thousand terms. Largest in {self.balance_where}."
        yield close(f"{name}: kinetic energy by its balance, relative", 0.0, self.balance, 1e-10, why)


def crowd(samples: int, seed: int, driven: bool) -> tuple[Watch, int]:
    rng = np.random.default_rng(seed)
    watch, runs, number = Watch(), max(samples // 10, 2), 0
    each = 3 if samples <= FAST else 40
    while number < runs:
        # Every fifth set of parameters plays with other team sizes than three.
        rig = random_match(rng, 3 if (number // each) % 5 else int(rng.choice([1, 2, 5])))
        for _ in range(min(each, runs - number)):
            place_crowd(rig, rng)
            if driven:
                for index in range(len(rig.names)):
                    rig.voltages(index, *(rig.engine.model.robots[index].limit_left * rng.uniform(-1.2, 1.2, 2)))
            watch.run(rig, f"placement {number}", driven)
            number += 1
    return watch, runs


def crowds_without_voltage(samples: int) -> Iterator[Check]:
    """Crowded placements with random speeds, motors at 0 V, 2 s each: nothing overlaps after any step, no step gains
    kinetic energy, every number is finite. Robots and coefficients at random, both methods."""
    watch, runs = crowd(samples, 31, driven=False)
    yield from watch.checks("crowds at 0 V", runs, driven=False)


def crowds_at_random_voltages(samples: int) -> Iterator[Check]:
    """The same with a constant random voltage at every motor: nothing overlaps, and the energy is that of its start,
    of the motors, of friction and of impacts."""
    watch, runs = crowd(samples, 32, driven=True)
    yield from watch.checks("crowds at random voltages", runs, driven=True)


def leaning_bodies(samples: int) -> Iterator[Check]:
    """Slow bodies that lean on each other, one step each: robots that fell onto the side wall or onto those that lie
    there, often flat, and the ball upon them. All contacts act at once, and together they never give energy."""
    rng = np.random.default_rng(34)
    given, overlap, touching, stacks = [], [], 0, 100
    for _ in range(max(min(samples, 20_000) // 30, 2)):
        robots = [random_robot(rng) for _ in range(3)]
        pairs = {kind: (float(rng.uniform(0.0, 1.0)), float(rng.uniform(0.0, 1.0))) for kind in KINDS}
        rig = match(robots, pairs=pairs, ball={"friction": 0.0})
        poses, balls = stack(rig, rng, stacks)
        for k in range(stacks):
            rig.reset().ball(*balls[k], *rng.normal(0.0, 0.05, 2))
            for index in range(len(robots)):
                rig.robot(index, poses[index][k], rng.normal(0.0, 0.03), rng.normal(0.0, 0.6))
            start = rig.value("match/energy")[0]
            row = rig.record(1)
            taken = rig.value("match/energy", row)[0, 3]
            given.append(max(-taken, 0.0) / start)
            touching += int(taken > 0.0)
            overlap.append(max(deepest_overlap(rig, row), 0.0))
    why = f"Rounding; {touching} of {len(given)} steps took energy."
    yield worst("leaning bodies: energy that contacts give, relative", given, FLUCTUATION, why)
    yield worst("leaning bodies: overlap [m]", overlap, OVERLAP, why)


def stack(rig: Rig, rng: np.random.Generator, count: int) -> tuple[list[np.ndarray], np.ndarray]:
    """`count` times all robots one after the other, then the ball, as far down along −y as they go."""
    walls, radius = Walls.of(rig), rig.engine.scenario.world.ball.radius
    poses: list[np.ndarray] = []
    squares: list[np.ndarray] = []
    for name in rig.names:
        side = rig.engine.scenario.robots[name].side
        flat = rng.integers(4, size=count) * np.pi / 2.0
        heading = np.where(rng.random(count) < 0.7, flat, rng.uniform(-np.pi, np.pi, count))
        start = np.column_stack([rng.uniform(-0.1, 0.1, count), np.zeros(count), heading])

        def robot_touches(tried: np.ndarray, side: float = side) -> np.ndarray:
            corners = vertices(tried, side)
            found = walls.square_overlap(corners) > 0.0
            for other in squares:
                found |= square_overlap(corners, other) > 0.0
            return found

        poses.append(fallen(start, robot_touches))
        squares.append(vertices(poses[-1], side))

    def ball_touches(tried: np.ndarray) -> np.ndarray:
        found = walls.ball_overlap(tried, radius) > 0.0
        for other in squares:
            found |= ball_overlap(other, tried, radius) > 0.0
        return found

    return poses, fallen(np.column_stack([rng.uniform(-0.1, 0.1, count), np.full(count, 0.2)]), ball_touches)


def fallen(start: np.ndarray, touches: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Places lower by as much as they are free, by halving: the last digit decides."""
    free, blocked = np.zeros(len(start)), np.full(len(start), 2.0)

    def lower(by: np.ndarray) -> np.ndarray:
        moved = start.copy()
        moved[:, 1] -= by
        return moved

    for _ in range(55):
        middle = 0.5 * (free + blocked)
        hit = touches(lower(middle))
        free, blocked = np.where(hit, free, middle), np.where(hit, middle, blocked)
    return lower(free)


def many_robots(samples: int) -> Iterator[Check]:
    """25, 100 and 400 robots, equally dense: pair tests per robot and step stay what they are, where n² would make
    them 16 times as many. No overlap among 100 robots at random voltages, either."""
    rng = np.random.default_rng(33)
    tests = []
    for count in (25, 100, 400):
        length = 0.2 * np.sqrt(count)
        rig = match([shipped()] * count, field={"length": length, "width": length, "corner": 0.0}, spacing=1.05)
        cells = int(np.sqrt(count))
        for index in range(count):
            place = (np.array([index % cells, index // cells]) + 0.5) * (length / cells) - 0.5 * length
            rig.robot(index, [*place, rng.uniform(-np.pi, np.pi)]).voltages(index, *rng.uniform(-6.0, 6.0, 2))
        rig.ball(*(-0.5 * length + length / cells * np.array([1.0, 1.0])))
        rows = rig.record(300 if samples > FAST and count == 100 else 100)
        tests.append(float(rig.engine.state.match[0].tests) / (count * len(rows)))
        if count == 100:
            deepest = max(deepest_overlap(rig, rows), 0.0)
            yield close("100 robots: largest overlap [m]", 0.0, deepest, OVERLAP, "As for crowds; every step.")
            energy = rig.value("match/energy", rows)
            error = energy[:, 0] - energy[:, 1] + energy[:, 2] + energy[:, 3]
            yield worst("100 robots: balance of energy, relative", error / energy[:, 1].max(), 1e-10, "Rounding.")
    why = (
        f"Tests a robot and step: {', '.join(f'{one:.2f}' for one in tests)}. Robots at the edge have fewer neighbours."
    )
    yield close("400 robots by 25: pair tests per robot", 1.0, tests[2] / tests[0], 1.0, why)
    yield worst("pair tests per robot and step, of up to 400", tests, 8.0, "Itself, the ball and a few neighbours.")


FUNCTIONS = (crowds_without_voltage, crowds_at_random_voltages, leaning_bodies, many_robots)
