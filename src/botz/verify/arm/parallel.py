"""Arms with three parallel axes: their closed form, another solver, and the numeric search beside it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.robots.arm_inverse import CompiledSolver
from botz.verify.arm.inverse import NEAR, STANDING, Solved, beside_eaik, closed_form_of_many, many_of, reachable
from botz.verify.arm.oracles import missing
from botz.verify.arm.rig import Case, Data, case, put_anywhere, random_arm
from botz.verify.checks import Check, close, same, skip, worst

HALF = np.pi / 2.0
UR5E = {
    "d": (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996),
    "a": (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0),
    "alpha": (HALF, 0.0, 0.0, HALF, -HALF, 0.0),
}
"""Denavit and Hartenberg's table that Universal Robots publish."""
COMPARED = 200


def ur5e() -> Data:
    rows = {f"j{k}": {"mass": 1.0} | {key: values[k] for key, values in UR5E.items()} for k in range(6)}
    return {"engine": "arm", "joints": rows}


def parallel_arm(rng: np.random.Generator) -> Data:
    """Axes 2, 3 and 4 parallel or antiparallel, axes 5 and 6 meet, at right angles in every third arm."""
    data = random_arm(rng, "RRRRRR")
    right = rng.uniform() < 1.0 / 3.0
    for k, joint in enumerate(data["joints"].values()):
        joint["alpha"] = float(rng.choice([-1.0, 1.0]) * (HALF if right else rng.uniform(0.6, 2.4)))
        if k in (1, 2):
            joint |= {"alpha": float(rng.choice([0.0, np.pi])), "a": float(rng.choice([-1.0, 1.0]) * 0.4)}
        if k == 4:
            joint["a"] = 0.0
        joint["range"] = [-2.5, 2.5]
    return data


def three_parallel_axes(samples: int) -> Iterator[Check]:
    """Each solution gives the pose again, the joints that a pose was made of are among them, none is there twice."""
    yield from closed_form_of_many(np.random.default_rng(60), "three parallel axes", "parallel", parallel_arm, samples)


def parallel_by_eaik(samples: int) -> Iterator[Check]:
    """Another solver finds as many solutions of a UR5e, and the same."""
    if (reason := missing("EAIK")) is not None:
        yield skip("EAIK, UR5e: as many solutions", reason)
        return
    rng = np.random.default_rng(61)
    several = [case(put_anywhere(rng, ur5e()), STANDING) for _ in range(2)]
    compared, different, apart = beside_eaik(rng, several, many_of(samples))
    why = f"Where every solution's J has singular values above {NEAR:g}."
    yield close(f"EAIK, UR5e, {compared} poses: another number of solutions", 0.0, float(different), 0.0, why)
    why = "Errors of both poses, 1e-12 of a reach of metres, by the smallest singular value: 1e-9."
    yield worst(f"EAIK, UR5e, {compared} poses: their solutions to ours [rad]", apart, 1e-9, why)


def searched(data: Data) -> Case:
    """The same arm as if no closed form fitted it."""
    other = case(data, STANDING)
    other.arm.solver = CompiledSolver("numeric")
    return other


def numeric_search_is_complete(samples: int) -> Iterator[Check]:
    """The numeric search ends when fewer than 0.05 solutions are expected beyond those found: of 200 poses one may be
    incomplete, of a UR5e and of arms of random lengths with the same structure."""
    rng = np.random.default_rng(62)
    count = min(max(samples // 10, 20), COMPARED)
    several = {"a UR5e": [ur5e()], "random arms": [parallel_arm(rng) for _ in range(5)]}
    for name, arms in several.items():
        incomplete, total, compared, claimed = 0, 0, 0, False
        for data in arms:
            one = case(data, STANDING)
            _, poses = reachable(rng, one, count // len(arms))
            exact, numeric = Solved.of(one, poses, limits=False), Solved.of(searched(data), poses, limits=False)
            regular = exact.smallest_value() > NEAR
            incomplete += int(np.sum(regular & (exact.found.counts != numeric.found.counts)))
            total += int(exact.found.counts[regular].sum())
            compared += int(regular.sum())
            claimed |= numeric.found.complete or not exact.found.complete
        of = f"numeric search, {name}, {compared} poses with {total} solutions"
        why = "Stated: at least 199 of 200 poses complete. Counted by the closed form, away from singular poses."
        yield close(f"{of}: incomplete", 0.0, float(incomplete), float(count // COMPARED), why)
        yield same(f"numeric search, {name}: says that it may be incomplete", "True", str(not claimed), "")


FUNCTIONS = (three_parallel_axes, parallel_by_eaik, numeric_search_is_complete)
