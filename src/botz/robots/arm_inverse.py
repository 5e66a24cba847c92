"""Inverse kinematics of any serial arm: which solver fits its geometry, and what it found, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from botz.errors import InputError, Problem
from botz.physics.ik import choice
from botz.physics.ik.numeric import MOST_NUMERIC
from botz.physics.ik.parallel import fits as fits_parallel
from botz.physics.ik.titan4 import fits as fits_titan4
from botz.physics.ik.wrist import fits as fits_wrist
from botz.robots import arm_inverse_calls as calls
from botz.robots.arm_arguments import Shape, broadcast, finite_numbers, numbers, taken_as_it_is
from botz.robots.arm_methods import OTHER_KINDS

if TYPE_CHECKING:
    from botz.robots.serial_arm import SerialArm

INT = np.dtype(np.int64)
Cost = Literal["nearest", "middle"]
STATUS = {
    choice.SOLVED: "solved",
    choice.OUT_OF_REACH: "out of reach",
    choice.OUTSIDE_LIMITS: "outside the joints' ranges",
    choice.NOT_CONVERGED: "not found from any of the starts",
}
SINGULAR = {
    choice.FREE_SHOULDER: "shoulder singular",
    choice.FREE_WRIST: "wrist singular",
    choice.STRAIGHT_ELBOW: "elbow straight",
    choice.SHOULDER_EDGE: "joint 1 at the edge of its reach",
}
FREE = choice.FREE_SHOULDER | choice.FREE_WRIST
Kind = Literal["titan4", "wrist", "parallel", "numeric"]


def branch_name(code: int) -> str:
    """Of a branch, in words: shoulder, elbow, wrist."""
    shoulder = "backward" if code & choice.BACKWARD else "forward"
    elbow = "elbow down" if code & choice.ELBOW_DOWN else "elbow up"
    return f"{shoulder}, {elbow}, {'flipped' if code & choice.FLIPPED else 'plain'}"


class Solutions:
    """What brings a tool to one pose: `SerialArm.inverse` makes it. It has a length and can be iterated over; without
    solutions it is false.

    >>> solutions = arm.inverse(arm.forward(np.full(6, 0.3)))
    >>> len(solutions) > 0, solutions.best.shape, solutions.complete
    (True, (6,), True)
    >>> far = np.eye(4)
    >>> far[0, 3] = 100.0
    >>> arm.inverse(far).status
    'out of reach'
    """

    __slots__ = ("_closed", "_codes", "_costs", "_joints", "_outcome")

    def __init__(self, joints: np.ndarray, codes: np.ndarray, costs: np.ndarray, outcome: np.ndarray, closed: bool):
        self._joints, self._codes, self._costs, self._outcome = joints, codes, costs, outcome
        self._closed = closed

    def __len__(self) -> int:
        return int(self._outcome[0])

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.joints)

    def __repr__(self) -> str:
        return f"<Solutions: {self.status}, {self.joints.tolist()}>"

    @property
    def joints(self) -> np.ndarray:
        """(k, n), the cheapest first; k = 0 where there are none."""
        return self._joints[: len(self)]

    @property
    def best(self) -> np.ndarray:
        """The cheapest, (n). Raises InputError where there is none."""
        if not self:
            raise InputError(Problem(f"no joint positions reach this pose: {self.status}"))
        return self._joints[0]

    @property
    def costs(self) -> np.ndarray:
        """Of each: the mean square of its joints' weighted differences from what was wanted."""
        return self._costs[: len(self)]

    @property
    def codes(self) -> np.ndarray:
        """Branches as numbers (physics/ik/choice.py)."""
        return self._codes[: len(self)]

    @property
    def branches(self) -> tuple[str, ...]:
        """Shoulder, elbow and wrist of each; empty words of numeric solutions."""
        return tuple(branch_name(int(code)) if self._closed else "" for code in self.codes)

    @property
    def status(self) -> str:
        """solved, out of reach, outside the joints' ranges, or not found from any of the starts."""
        kind, n = int(self._outcome[1]) % choice.FREE_SHOULDER, self._joints.shape[1]
        few = f"; {n} joints reach only some attitudes" if kind == choice.NOT_CONVERGED and n < 6 else ""
        return STATUS[kind] + few

    @property
    def singular(self) -> tuple[str, ...]:
        """Where the pose is singular: a free joint was set where the cost is least."""
        return tuple(word for flag, word in SINGULAR.items() if int(self._outcome[1]) & flag)

    @property
    def complete(self) -> bool:
        """Whether these are all: a closed form finds all of them, a numeric search may miss some, and with a free joint
        there are infinitely many."""
        return self._closed and not int(self._outcome[1]) & FREE


class SolutionsOfMany(Sequence[Solutions]):
    """What brings a tool to each of many poses; unused rows are 0. Indexed by a pose, its `Solutions`.

    >>> many = arm.inverse(arm.forward(np.full((3, 6), 0.3)))
    >>> len(many), many[0].status
    (3, 'solved')
    """

    def __init__(self, joints: np.ndarray, codes: np.ndarray, costs: np.ndarray, outcome: np.ndarray, complete: bool):
        self.joints = joints
        """(…, 8, n); of the numeric solver with up to six joints (…, 16, n)."""
        self.codes = codes
        """Branches, (…, 8) or (…, 16)."""
        self.costs = costs
        """As many."""
        self.counts = outcome[..., 0]
        """(…)."""
        self.status = outcome[..., 1]
        """(…), numbers of physics/ik/choice.py with the flags of singular poses."""
        self.complete = complete
        """Whether a closed form found them: these are all, but where a joint is free, and their branches have names."""
        self._outcome = outcome

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, k: Any) -> Any:
        outcome = self._outcome[k]
        kind = Solutions if outcome.ndim == 1 else SolutionsOfMany
        return kind(self.joints[k], self.codes[k], self.costs[k], outcome, self.complete)

    def __iter__(self) -> Iterator[Solutions]:
        return (self[k] for k in range(len(self)))


def solver_of(links: np.ndarray) -> CompiledSolver:
    """Closed form where the geometry is that of the Titan IV, where the last three axes meet, or where axes 2, 3 and 4
    are parallel and axes 5 and 6 meet; else numeric."""
    if fits_titan4(links):
        return CompiledSolver("titan4")
    if fits_wrist(links):
        return CompiledSolver("wrist")
    return CompiledSolver("parallel" if fits_parallel(links) else "numeric")


ENTRIES = {
    "titan4": calls.solve_titan4,
    "wrist": calls.solve_wrist,
    "parallel": calls.solve_parallel,
    "numeric": calls.solve_numeric,
}


@dataclass(frozen=True)
class CompiledSolver:
    kind: Kind

    def __call__(
        self, arm: SerialArm, poses: Any, *, wanted: Any, weights: Any, limits: bool, every: bool = True
    ) -> Solutions | SolutionsOfMany:
        """One pose in arrays goes straight into compiled code, as in the other methods (arm_methods.py)."""
        given = (poses, wanted, arm._ones if weights is None else weights)
        try:
            straight = taken_as_it_is(given[0], 2) and taken_as_it_is(given[1], 1) and taken_as_it_is(given[2], 1)
            found = self._solve(arm, (), given, limits, every) if straight else None
            if found is not None:
                return found
        except OTHER_KINDS:
            pass
        lead, ready = of_poses(*given, arm.n)
        found = self._solve(arm, lead, ready, limits, every)
        if found is None:
            raise InputError(what_is_wrong(*ready))
        return found

    def _solve(
        self, arm: SerialArm, lead: Shape, given: Sequence[np.ndarray], limits: bool, every: bool
    ) -> Solutions | SolutionsOfMany | None:
        """None where compiled code refuses a number."""
        n, closed = arm.n, self.kind != "numeric"
        most = choice.MOST if closed or n > 6 else MOST_NUMERIC
        count = (prod(lead),) if lead else ()
        joints, costs = np.empty((*count, most, n)), np.empty((*count, most))
        codes, outcome = np.empty((*count, most), INT), np.empty((*count, 2), INT)
        if not ENTRIES[self.kind](arm._memory, *given, bool(limits), bool(every), joints, codes, costs, outcome):
            return None
        if not lead:
            return Solutions(joints, codes, costs, outcome, closed)
        joints, codes = joints.reshape((*lead, most, n)), codes.reshape((*lead, most))
        return SolutionsOfMany(joints, codes, costs.reshape(codes.shape), outcome.reshape((*lead, 2)), closed)


def of_poses(poses: Any, wanted: Any, weights: Any, n: int) -> tuple[Shape, tuple[np.ndarray, ...]]:
    """Leading dimensions of the poses; and poses, what is wanted of each, and weights: one or (N, …) of each."""
    found = numbers(poses, "pose")
    if found.shape[-2:] != (4, 4):
        raise InputError(Problem(f"needs a pose (4, 4), or an array (…, 4, 4), not {found.shape}", key="pose"))
    lead = found.shape[:-2]
    count = (prod(lead),) if lead else ()
    wanted = of_joints(wanted, (*lead, n), "present").reshape((*count, n))
    return lead, (found.reshape((*count, 4, 4)), wanted, of_joints(weights, (n,), "weights"))


def of_joints(values: Any, shape: Shape, name: str) -> np.ndarray:
    found = numbers(values, name)
    try:
        return broadcast(found, shape)
    except ValueError:
        more = f", or {shape}" if len(shape) > 1 else ""
        raise InputError(Problem(f"needs {shape[-1]} numbers{more}; got {found.shape}", key=name)) from None


def what_is_wrong(poses: np.ndarray, wanted: np.ndarray, weights: np.ndarray) -> Problem:
    """With numbers that compiled code has refused."""
    for values, name in ((poses, "pose"), (wanted, "present"), (weights, "weights")):
        finite_numbers(values, name)
    if (weights < 0).any():
        return Problem("none can be negative", key="weights")
    many = poses.reshape((-1, 4, 4))
    which = f" number {calls.first_bad_pose(many)}" if len(many) > 1 else ""
    message = (
        f"pose{which} is not a rigid transformation: the columns of its upper left 3 × 3 must be unit vectors at "
        "right angles, right-handed, and its last row 0, 0, 0, 1"
    )
    return Problem(message, key="pose")
