"""Inverse kinematics where poses are not singular: all solutions, none twice, inside the ranges, cheapest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from botz.robots.arm_inverse import CompiledSolver, SolutionsOfMany
from botz.verify.arm.oracles import EaikArm, missing
from botz.verify.arm.rig import MOST, PLACES, SHIPPED, Case, Data, case, put_anywhere, random_arm, shipped, still
from botz.verify.checks import EPS, FAST, Check, close, same, skip, worst

POSE = 1e-9
"""How exactly a solution reproduces its pose [m, and of unit vectors]."""
APART = 1e-6
"""Solutions that differ by less in all joints are one [rad]."""
STANDING: tuple[float, float, float] = (0.0, 0.0, -9.80665)
NEAR = 1e-3
"""Poses with a solution whose J has a singular value (of metres and radians) below this are near a singularity, where
another solver's tolerances decide what it finds."""


def many_of(samples: int) -> int:
    """Poses: 100,000 in full."""
    return samples if samples > FAST else 10 * samples


def wrapped(angles: np.ndarray) -> np.ndarray:
    """To −π … π."""
    return np.asarray((angles + np.pi) % (2.0 * np.pi) - np.pi)


def anywhere(rng: np.random.Generator, name: str) -> Case:
    return case(put_anywhere(rng, shipped(name)), STANDING)


def reachable(rng: np.random.Generator, one: Case, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Joints inside their ranges (one turn of those without), and the tool's poses by products of transforms."""
    low = np.where(np.isfinite(one.arm.lower), one.arm.lower, -np.pi)
    high = np.where(np.isfinite(one.arm.upper), one.arm.upper, np.pi)
    q = rng.uniform(low, high, (count, one.n))
    return q, one.chain.frames(q)[:, -1]


@dataclass(frozen=True)
class Solved:
    """What was found for many poses, as plain arrays."""

    one: Case
    poses: np.ndarray
    found: SolutionsOfMany

    @classmethod
    def of(cls, one: Case, poses: np.ndarray, **options: Any) -> Solved:
        return cls(one, poses, one.arm.inverse_many(poses, **options))

    @property
    def there(self) -> np.ndarray:
        """Which rows are solutions: (N, 8)."""
        return np.asarray(np.arange(self.found.joints.shape[1])[None] < self.found.counts[:, None])

    @property
    def solutions(self) -> np.ndarray:
        return self.found.joints[self.there]

    @property
    def which(self) -> np.ndarray:
        """The pose of each solution."""
        return np.repeat(np.arange(len(self.poses)), self.found.counts)

    def misses(self) -> np.ndarray:
        """By how much each solution misses its pose: metres and parts of unit vectors."""
        if not len(self.solutions):
            return np.zeros(1)
        reached = self.one.chain.frames(self.solutions)[:, -1]
        return np.asarray(np.abs(reached - self.poses[self.which]).max(axis=(1, 2)))

    def nearest(self, q: np.ndarray) -> np.ndarray:
        """Distance from q to the nearest solution of each pose, turns aside [rad]."""
        apart = np.abs(wrapped(self.found.joints - q[:, None])).max(axis=2)
        return np.asarray(np.where(self.there, apart, np.inf).min(axis=1))

    def twice(self) -> int:
        """Pairs of solutions that are one."""
        count = self.found.joints.shape[1]
        total = 0
        for i in range(count):
            for j in range(i):
                apart = np.abs(wrapped(self.found.joints[:, i] - self.found.joints[:, j])).max(axis=1)
                total += int(np.sum(self.there[:, i] & self.there[:, j] & (apart < APART)))
        return total

    def smallest_value(self) -> np.ndarray:
        """Smallest singular value of J over the solutions of each pose: how far from singular it is."""
        values = np.linalg.svd(self.one.arm.jacobian(self.solutions), compute_uv=False)[:, -1]
        found = np.full(len(self.poses), np.inf)
        np.minimum.at(found, self.which, values)
        return found


def all_solutions(samples: int) -> Iterator[Check]:
    """Of joints inside their ranges the pose, of the pose all joints: each solution gives the pose again, those that it
    was made of are among them, and none is there twice."""
    rng = np.random.default_rng(30)
    for name in SHIPPED:
        misses, lost, off = [], [], []
        twice, count = 0, 0
        for _ in range(PLACES):
            one = anywhere(rng, name)
            q, poses = reachable(rng, one, many_of(samples) // PLACES)
            solved = Solved.of(one, poses)
            count += len(poses)
            misses.append(solved.misses().max())
            values = np.linalg.svd(one.arm.jacobian(q), compute_uv=False)[:, -1]
            lost.append(np.max(solved.nearest(q) * np.minimum(values, 1.0)))
            outside = np.maximum(solved.solutions - one.arm.upper, one.arm.lower - solved.solutions)
            off.append(max(0.0, float(np.max(outside))))
            twice += solved.twice()
        of = f"{name}, {count} poses"
        why = "Stated: 1e-9."
        yield worst(f"inverse, {of}: pose again [m, 1]", misses, POSE, why)
        why = "q is known from the pose to its error by the smallest singular value of J: 1e-9."
        yield worst(f"inverse, {of}: the joints it was made of, by J", lost, POSE, why)
        why = "Pairs whose joints all differ by less than 1e-6 rad."
        yield close(f"inverse, {of}: solutions there twice", 0.0, float(twice), 0.0, why)
        yield worst(f"inverse, {of}: outside the ranges [rad]", off, 1e-9, "Slack against rounding.")


def limits_filter(samples: int) -> Iterator[Check]:
    """Ranges leave out what is outside in every turn, and nothing else."""
    rng = np.random.default_rng(31)
    for name in SHIPPED:
        wrong, words = 0, 0
        for _ in range(PLACES):
            one = anywhere(rng, name)
            # Half of the poses are made of joints anywhere, so that some have no solution inside.
            _, poses = reachable(rng, one, max(many_of(samples) // 50, 20))
            free = one.chain.frames(rng.uniform(-np.pi, np.pi, (len(poses), one.n)))[:, -1]
            poses = np.concatenate([poses, free])
            everywhere, inside = Solved.of(one, poses, limits=False), Solved.of(one, poses)
            turns = 2.0 * np.pi * np.arange(-2, 3)[:, None, None]
            moved = everywhere.found.joints[None] + turns[..., None]
            allowed = ((moved >= one.arm.lower) & (moved <= one.arm.upper)).any(axis=0).all(axis=2) & everywhere.there
            expected = allowed.sum(axis=1)
            wrong += int(np.sum(expected != inside.found.counts))
            for k in range(len(poses)):
                status = inside.found[k].status
                words += status != ("solved" if expected[k] else "outside the joints' ranges")
        yield close(f"ranges of {name}: poses with another number of solutions", 0.0, float(wrong), 0.0, "Exactly.")
        yield close(f"ranges of {name}: poses with another word for it", 0.0, float(words), 0.0, "Exactly.")


def number_by_eaik(samples: int) -> Iterator[Check]:
    """Another solver, which decomposes the problem geometrically, finds as many solutions, and the same."""
    if (reason := missing("EAIK")) is not None:
        yield skip("EAIK: as many solutions", reason)
        return
    rng = np.random.default_rng(32)
    for name in SHIPPED:
        several = [anywhere(rng, name) for _ in range(PLACES)]
        compared, different, apart = beside_eaik(rng, several, many_of(samples))
        of = f"EAIK, {name}, {compared} poses"
        why = f"Where every solution's J has singular values above {NEAR:g}."
        yield close(f"{of}: another number of solutions", 0.0, float(different), 0.0, why)
        why = "Errors of both poses, 1e-12 of a reach of metres, by the smallest singular value: 1e-9."
        yield worst(f"{of}: their solutions to ours [rad]", apart, 1e-9, why)
    several = [case(put_anywhere(rng, wrist_arm(rng)), STANDING) for _ in range(20)]
    compared, _, apart = beside_eaik(rng, several, min(many_of(samples), MOST))
    # Its polynomials of arms in general lose solutions here and there; those that it has must be ours, too.
    why = "Its error of pose, up to 1e-8 for these, by the smallest singular value: 1e-5."
    yield worst(f"EAIK, arms whose wrist axes meet, {compared} poses: their solutions to ours [rad]", apart, 1e-5, why)


def beside_eaik(rng: np.random.Generator, several: list[Case], count: int) -> tuple[int, int, list[float]]:
    """Poses compared, those with another number of solutions, and how far each of EAIK's is from our nearest."""
    compared, different, apart = 0, 0, []
    for one in several:
        _, poses = reachable(rng, one, max(count // len(several), 1))
        solved = Solved.of(one, poses, limits=False)
        other = EaikArm(one.chain)
        for k in np.flatnonzero(solved.smallest_value() > NEAR):
            ours = solved.found.joints[k, : solved.found.counts[k]]
            theirs = other.exact(poses[k])
            if len(theirs) != len(ours):
                theirs = other.solutions(poses[k])
            different += len(theirs) != len(ours)
            compared += 1
            if len(theirs):
                away = np.abs(wrapped(ours[None] - theirs[:, None])).max(axis=2)
                apart.append(float(away.min(axis=1, initial=np.inf).max()))
    return compared, different, apart


def wrist_arm(rng: np.random.Generator) -> Data:
    """Three joints of random rows, then three whose axes meet at any angles."""
    data = random_arm(rng, "RRRRRR")
    for key in ("j3", "j4"):
        data["joints"][key] |= {"a": 0.0, "alpha": float(rng.choice([-1.0, 1.0]) * rng.uniform(0.6, 2.4))}
    data["joints"]["j4"]["d"] = 0.0
    return data


def closed_form_of_many(rng: np.random.Generator, what: str, kind: str, arm: Any, samples: int) -> Iterator[Check]:
    """Each solution gives the pose again, the joints that a pose was made of are among them, none is there twice:
    for 40 arms that `arm` makes at random."""
    misses, lost, twice, count, kinds = [], [], 0, 0, set()
    for _ in range(40):
        one = case(put_anywhere(rng, arm(rng)), STANDING)
        kinds.add(one.arm.solver.kind)
        q, poses = reachable(rng, one, max(many_of(samples) // 100, 10))
        solved = Solved.of(one, poses)
        count += len(poses)
        misses.append(solved.misses().max())
        values = np.linalg.svd(one.arm.jacobian(q), compute_uv=False)[:, -1]
        lost.append(np.max(solved.nearest(q) * np.minimum(values, 1.0)))
        twice += solved.twice()
    of = f"{what}, {count} poses of 40 arms"
    yield same(f"{what}: how they are solved", kind, ", ".join(sorted(kinds)), "In closed form.")
    yield worst(f"{of}: pose again [m, 1]", misses, POSE, "Stated: 1e-9.")
    why = "The pose's error by the smallest singular value."
    yield worst(f"{of}: the joints it was made of, by J", lost, POSE, why)
    yield close(f"{of}: solutions there twice", 0.0, float(twice), 0.0, "Pairs within 1e-6 rad.")


def wrists_that_meet(samples: int) -> Iterator[Check]:
    """All solutions of arms with any three joints and a wrist whose axes meet at any angles, not only right ones."""
    yield from closed_form_of_many(np.random.default_rng(33), "wrists that meet", "wrist", wrist_arm, samples)


def numeric_arms(rng: np.random.Generator) -> Iterator[tuple[str, list[Case]]]:
    """Arms of any rows, and the shipped ones as if no closed form fitted them."""
    for kinds in ("RRRRRR", "RPRRRR", "RRRRRRR", "RRR"):
        several = []
        for _ in range(5):
            data = put_anywhere(rng, random_arm(rng, kinds))
            for joint in data["joints"].values():
                joint["range"] = [-2.5, 2.5] if joint["type"] == "revolute" else [-0.5, 0.5]
            several.append(case(data, STANDING))
        yield kinds, several
    for name in SHIPPED:
        several = [anywhere(rng, name) for _ in range(PLACES)]
        for one in several:
            one.arm.solver = CompiledSolver("numeric")
        yield name, several


def numeric_solutions(samples: int) -> Iterator[Check]:
    """Arms of any rows, of turning and sliding joints, of more than six: damped least squares from many starts. Each
    solution gives the pose again, inside the ranges, and of every pose that was made of joints inside the ranges one is
    found."""
    rng = np.random.default_rng(36)
    for kinds, several in numeric_arms(rng):
        misses, off, none, twice, count = [], [], 0, 0, 0
        for one in several:
            _, poses = reachable(rng, one, max(min(samples // 30, 200), 4))
            # Whether the search for all is complete is another check (verify/arm/parallel.py).
            solved = Solved.of(one, poses, every=False)
            count += len(poses)
            misses.append(solved.misses().max())
            none += int(np.sum(solved.found.counts == 0))
            twice += solved.twice()
            outside = np.maximum(solved.solutions - one.arm.upper, one.arm.lower - solved.solutions)
            off.append(max(0.0, float(np.max(outside, initial=0.0))))
        of = f"numeric, {kinds}, {count} poses of {len(several)} arms"
        ways = sorted({one.arm.solver.kind for one in several})
        yield same(f"{of}: how they are solved", "numeric", ", ".join(ways), "No closed form fits, or none is used.")
        yield worst(f"{of}: pose again [m, 1]", misses, POSE, "Stated: 1e-9.")
        yield worst(f"{of}: outside the ranges [rad, m]", off, 1e-9, "Slack against rounding.")
        yield close(f"{of}: solutions there twice", 0.0, float(twice), 0.0, "Pairs within 1e-6.")
        yield close(f"{of}: poses not found", 0.0, float(none), 0.0, "All were made of joints inside the ranges.")


def costs_and_order(samples: int) -> Iterator[Check]:
    """[titan4] section 3.3.3: cost = Σ w (q − wanted)²/n from the present joints or the ranges' middles; the cheapest
    first. Each angle stands in the turn that is nearest to the one wanted inside its range."""
    rng = np.random.default_rng(34)
    for name in SHIPPED:
        one = anywhere(rng, name)
        arm = one.arm
        count = max(many_of(samples) // 30, 20)
        _, poses = reachable(rng, one, count)
        present, _ = reachable(rng, one, count)
        weights = rng.uniform(0.0, 3.0, 6)
        for label, wanted, share, options in (
            ("nearest to the present", present, np.ones(6), {"present": present}),
            ("nearest to the middle", np.broadcast_to(arm.middle, present.shape), np.ones(6), {"cost": "middle"}),
            ("weighted", present, weights, {"present": present, "weights": weights}),
        ):
            solved = Solved.of(one, poses, **options)
            away = solved.found.joints - wanted[:, None]
            expected = np.where(solved.there, (share * away**2).sum(axis=2) / 6.0, 0.0)
            error = np.abs(solved.found.costs - expected).max()
            both = solved.there[:, 1:] & solved.there[:, :-1]
            falls = int(np.sum(both & (np.diff(solved.found.costs, axis=1) < 0.0)))
            yield worst(f"{name}, {label}: cost [rad²]", [error], 1e3 * EPS, "Six squares of a few rad², rounded.")
            yield close(f"{name}, {label}: solutions that cost less than one before", 0.0, falls, 0.0, "Exactly.")
            better = 0
            for turn in (-2.0 * np.pi, 2.0 * np.pi):
                other = solved.found.joints + turn
                legal = (other >= arm.lower) & (other <= arm.upper) & solved.there[..., None]
                better += int(np.sum(legal & (np.abs(other - wanted[:, None]) < np.abs(away) - 1e-9)))
            yield close(f"{name}, {label}: angles with a nearer turn", 0.0, better, 0.0, "Exactly.")


def continued_angles(samples: int) -> Iterator[Check]:
    """A joint that turns on past ±180° stays continuous when each pose is solved nearest to the joints before."""
    del samples
    paths = {
        "titan4": (np.array([0.2, 0.3, -0.9, 0.4, 0.3]), np.linspace(-4.0 * np.pi, 4.0 * np.pi, 721)),
        "puma560": (np.array([0.4, 0.6, -0.7, 0.5, 0.6]), np.radians(np.linspace(-265.0, 265.0, 531))),
    }
    for name, (rest, turning) in paths.items():
        one = still(shipped(name))
        path = np.array([[*rest, angle] for angle in turning])
        poses, now, errors = one.chain.frames(path)[:, -1], path[0], []
        for pose, q in zip(poses, path, strict=True):
            now = one.arm.inverse(pose, present=now).best
            errors.append(np.abs(now - q).max())
        span = np.degrees(turning[-1] - turning[0])
        why = "Each angle itself, turns included; the pose's error by the smallest singular value."
        yield worst(f"{name} turns its tool by {span:.0f}°: joints [rad]", errors, POSE, why)


def one_pose_or_many(samples: int) -> Iterator[Check]:
    """Many poses in one call give what each gives alone, to the last bit."""
    rng = np.random.default_rng(35)
    for name in SHIPPED:
        one = anywhere(rng, name)
        _, poses = reachable(rng, one, min(samples, 200))
        many = one.arm.inverse_many(poses)
        alike = all(np.array_equal(one.arm.inverse(pose).joints, many[k].joints) for k, pose in enumerate(poses))
        yield same(f"{name}: one pose and many", "the same bits", "the same bits" if alike else "differ", "")


FUNCTIONS = (
    all_solutions,
    limits_filter,
    number_by_eaik,
    wrists_that_meet,
    numeric_solutions,
    costs_and_order,
    continued_angles,
    one_pose_or_many,
)
