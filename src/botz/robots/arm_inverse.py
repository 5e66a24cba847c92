"""Inverse kinematics of any serial arm: which solver fits its geometry, and what it found, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from botz.errors import InputError, Problem
from botz.physics.arm.dh import SCRATCH
from botz.physics.ik import choice
from botz.physics.ik.numeric import MOST_NUMERIC
from botz.physics.ik.parallel import fits as fits_parallel
from botz.physics.ik.titan4 import fits as fits_titan4
from botz.physics.ik.wrist import fits as fits_wrist
from botz.robots import arm_inverse_calls as calls

if TYPE_CHECKING:
    from botz.robots.serial_arm import SerialArm

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


@dataclass(frozen=True)
class Solutions:
    """What brings a tool to one pose."""

    joints: np.ndarray
    """(k, n), the cheapest first; k = 0 where there are none."""
    branches: tuple[str, ...]
    """Shoulder, elbow and wrist of each; empty words of numeric solutions."""
    codes: np.ndarray
    """The same as numbers (physics/ik/choice.py)."""
    costs: np.ndarray
    """Of each: the mean square of its joints' weighted differences from what was wanted."""
    status: str
    """solved, out of reach, outside the joints' ranges, or not found from any of the starts."""
    singular: tuple[str, ...]
    """Where the pose is singular: a free joint was set where the cost is least."""
    complete: bool
    """Whether these are all: a closed form finds all of them, a numeric search may miss some, and with a free joint
    there are infinitely many."""

    def __len__(self) -> int:
        return len(self.joints)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.joints)

    @property
    def best(self) -> np.ndarray:
        if not self:
            raise InputError(Problem(f"no joint positions reach this pose: {self.status}"))
        return self.joints[0]


@dataclass(frozen=True)
class SolutionsOfMany(Sequence[Solutions]):
    """What brings a tool to each of many poses; unused rows are 0."""

    joints: np.ndarray
    """(N, 8, n); of the numeric solver with up to six joints (N, 16, n)."""
    counts: np.ndarray
    """(N)."""
    codes: np.ndarray
    """Branches, (N, 8) or (N, 16)."""
    costs: np.ndarray
    """As many."""
    status: np.ndarray
    """(N), numbers of physics/ik/choice.py with the flags of singular poses."""
    complete: bool
    """Whether a closed form found them: these are all, but where a joint is free, and their branches have names."""

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, k: Any) -> Any:
        count = int(self.counts[k])
        flags = int(self.status[k])
        codes = self.codes[k, :count]
        kind, joints = flags % choice.FREE_SHOULDER, self.joints.shape[2]
        few = f"; {joints} joints reach only some attitudes" if kind == choice.NOT_CONVERGED and joints < 6 else ""
        return Solutions(
            joints=self.joints[k, :count],
            branches=tuple(branch_name(int(code)) if self.complete else "" for code in codes),
            codes=codes,
            costs=self.costs[k, :count],
            status=STATUS[kind] + few,
            singular=tuple(word for flag, word in SINGULAR.items() if flags & flag),
            complete=self.complete and not flags & FREE,
        )

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


@dataclass(frozen=True)
class CompiledSolver:
    kind: Kind

    def __call__(
        self, arm: SerialArm, poses: Any, *, wanted: Any, weights: Any, limits: bool, every: bool = True
    ) -> SolutionsOfMany:
        poses = checked_poses(poses)
        count, n = len(poses), arm.n
        wanted = per_pose(wanted, count, n, "present")
        weights = per_pose(np.ones(n) if weights is None else weights, 1, n, "weights")[0]
        if (weights < 0).any():
            raise InputError(Problem("none can be negative", key="weights"))
        most = MOST_NUMERIC if self.kind == "numeric" and n <= 6 else choice.MOST
        found = SolutionsOfMany(
            joints=np.zeros((count, most, n)),
            counts=np.zeros(count, dtype=np.int64),
            codes=np.zeros((count, most), dtype=np.int64),
            costs=np.zeros((count, most)),
            status=np.zeros(count, dtype=np.int64),
            complete=self.kind != "numeric",
        )
        out = (found.joints, found.codes, found.costs, found.counts, found.status)
        common = (arm.arm, arm.links, poses, wanted, weights, limits)
        match self.kind:
            case "titan4":
                calls.solve_titan4(*common, np.zeros(12), *out)
            case "wrist":
                calls.solve_wrist(*common, np.zeros(12), *out)
            case "parallel":
                calls.solve_parallel(*common, np.zeros(12), *out)
            case "numeric":
                scratch, frames = np.zeros(n, dtype=SCRATCH), np.zeros((n + 1, 12))
                calls.solve_numeric(*common, np.zeros(12), every, scratch, frames, np.zeros((6 + n, 8 + n)), *out)
        return found


def checked_poses(poses: Any) -> np.ndarray:
    """(N, 4, 4), finite, and with axes that are orthogonal and right-handed."""
    found = compiled_kind(poses)
    if found.ndim != 3 or found.shape[1:] != (4, 4):
        raise InputError(Problem(f"many poses are an array (N, 4, 4), not {found.shape}", key="pose"))
    if (k := calls.first_bad_pose(found)) >= 0:
        which = f" number {k}" if len(found) > 1 else ""
        message = (
            f"pose{which} is not a rigid transformation: the columns of its upper left 3 × 3 must be unit vectors at "
            "right angles, right-handed, and its last row 0, 0, 0, 1"
        )
        raise InputError(Problem(message, key="pose"))
    return found


def compiled_kind(values: Any) -> np.ndarray:
    """Rows one after the other and writable, as a copy where they are not: other kinds would be compiled for anew."""
    return np.require(values, dtype=float, requirements=["C", "W"])


def per_pose(values: Any, count: int, n: int, name: str) -> np.ndarray:
    found = np.asarray(values, dtype=float)
    if not np.isfinite(found).all():
        raise InputError(Problem(f"needs finite numbers, got {found.ravel().tolist()[:8]}", key=name))
    try:
        return compiled_kind(np.broadcast_to(found, (count, n)))
    except ValueError:
        raise InputError(Problem(f"needs {n} numbers, or ({count}, {n}); got {found.shape}", key=name)) from None
