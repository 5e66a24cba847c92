"""A serial arm to compute with: forward and inverse kinematics, Jacobian, dynamics, for one position or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from botz.errors import InputError, Problem
from botz.physics.arm.dh import SCRATCH
from botz.robots import arm_calls as calls
from botz.robots.arm_inverse import Cost, Solutions, SolutionsOfMany, solver_of
from botz.robots.arm_records import GRAVITY, arm_record, link_records, transform
from botz.scenario.arm.schema import Arm, PlacedArm
from botz.scenario.arm.world import Water
from botz.scenario.names import closest

Method = Literal["composite-body", "newton-euler"]
PARTS = ("inertial", "coriolis", "gravity", "friction", "drag")


class SerialArm:
    """An arm of the library or of a scenario.

    >>> arm = SerialArm.of("titan4")
    >>> pose = arm.forward([0.3, 0.5, -0.8, 0.2, 0.1, 0.4])
    >>> arm.inverse(pose).joints

    Joint vectors are (n) or (N, n), poses (4, 4) or (N, 4, 4) in the world; what comes out has as many dimensions.
    """

    def __init__(
        self,
        robot: Arm,
        *,
        gravity: Sequence[float] = GRAVITY,
        water: Water | Mapping[str, Any] | None = None,
        payload: bool = True,
        scale: float = 1.0,
    ):
        if len(gravity) != 3 or not np.isfinite(np.asarray(gravity, dtype=float)).all():
            raise InputError(Problem(f"needs three finite numbers [m/s²], not {gravity!r}", key="gravity"))
        if water is not None and not isinstance(water, Water):
            water = Water.model_validate(water)
        self.robot = robot
        self.names = tuple(robot.joints)
        self.n = len(self.names)
        base = transform(robot.pose) if isinstance(robot, PlacedArm) else np.eye(4)
        self.arm = arm_record(robot, base, gravity, water)
        self.links = link_records(robot, payload=payload, scale=scale)
        self.lower, self.upper = self.links["lower"].copy(), self.links["upper"].copy()
        self.speed = np.array([joint.speed or np.inf for joint in robot.joints.values()])
        self.acceleration = np.array(
            [joint.acceleration or 2.0 * (joint.speed or np.inf) for joint in robot.joints.values()]
        )
        n = self.n
        self._scratch = np.zeros(n, dtype=SCRATCH)
        self._frames = np.zeros((n + 1, 12))
        self._room = np.zeros((n + 3, n))
        self._none = np.zeros((0, 6))
        self.solver = solver_of(self.links)
        """How poses are solved for joints: in one of the closed forms, or numerically."""

    @classmethod
    def of(cls, name: str | Path, **options: Any) -> SerialArm:
        """An arm of the library by its name, or of a robot file."""
        from botz.scenario.load import load_robot

        if not isinstance(name, str | Path):
            raise InputError(Problem(f"needs the name of a robot or the path of its file, not {name!r}"))
        robot = load_robot(name).spec
        if not isinstance(robot, Arm):
            raise InputError(Problem(f"{name!r} is a robot of engine {getattr(robot, 'engine', '')!r}, not an arm"))
        return cls(robot, **options)

    def __repr__(self) -> str:
        return f"<SerialArm: {', '.join(self.names)}; inverse kinematics: {self.solver.kind}>"

    @cached_property
    def middle(self) -> np.ndarray:
        """Middles of the joints' ranges; 0 of a joint without limits."""
        bounded = np.isfinite(self.lower) & np.isfinite(self.upper)
        return np.where(bounded, 0.5 * (np.where(bounded, self.lower, 0.0) + np.where(bounded, self.upper, 0.0)), 0.0)

    @cached_property
    def reach(self) -> float:
        """The links' lengths one after the other: no point of the arm is further from its base but by sliding [m]."""
        return max(float(np.abs(self.links["a"]).sum() + np.abs(self.links["d"]).sum()), 1e-9)

    def within(self, q: Any, slack: float = 0.0) -> np.ndarray:
        """Whether joint vectors are inside the ranges, by up to `slack`."""
        q, many = self._joints(q)
        q = q if many else q[0]
        return np.all((q >= self.lower - slack) & (q <= self.upper + slack), axis=-1)

    # --- kinematics ------------------------------------------------------------------------------------------

    def forward(self, q: Any) -> np.ndarray:
        """The tool's pose."""
        q, many = self._joints(q)
        poses = np.zeros((len(q), 4, 4))
        poses[:, 3, 3] = 1.0
        calls.tool_poses(self.arm, self.links, q, self._scratch, self._frames, poses)
        return poses if many else poses[0]

    def frames(self, q: Any) -> np.ndarray:
        """Poses of all links' frames and, last, of the tool: (n + 1, 4, 4)."""
        q, many = self._joints(q)
        poses = np.zeros((len(q), self.n + 1, 4, 4))
        poses[:, :, 3, 3] = 1.0
        calls.all_frames(self.arm, self.links, q, self._scratch, self._frames, poses)
        return poses if many else poses[0]

    def jacobian(self, q: Any) -> np.ndarray:
        """Velocity of the tool's point and its angular velocity, world axes, by joint speeds: (6, n)."""
        q, many = self._joints(q)
        found = np.zeros((len(q), 6, self.n))
        calls.tool_jacobians(self.arm, self.links, q, self._scratch, self._frames, found)
        return found if many else found[0]

    def manipulability(self, q: Any) -> Any:
        """Yoshikawa's √det(J Jᵀ): 0 at a singularity."""
        q, many = self._joints(q)
        out, room = np.zeros(len(q)), np.zeros((6, self.n))
        calls.manipulabilities(self.arm, self.links, q, self._scratch, self._frames, room, np.zeros((6, 6)), out)
        return out if many else float(out[0])

    def singular_directions(self, q: Any, tolerance: float = 1e-6) -> np.ndarray:
        """Directions d of unit length that the tool's velocity (v, ω) has no part in, dᵀ J = 0: (6, k), none where
        nothing is singular. What is nearly 0 is judged with turns counted by the arm's reach, so that metres and
        radians compare."""
        weights = np.array([1.0, 1.0, 1.0, self.reach, self.reach, self.reach])
        jacobian = self.jacobian(q)
        if jacobian.ndim != 2:
            raise InputError(Problem("one position at a time", key="q"))
        left, sizes, _ = np.linalg.svd(weights[:, None] * jacobian)
        lost = np.zeros(6, dtype=bool)
        lost[: len(sizes)] = sizes <= tolerance * sizes[0]
        lost[len(sizes) :] = True
        found = left[:, lost] * weights[:, None]
        return found / np.linalg.norm(found, axis=0)

    def inverse(
        self,
        pose: Any,
        *,
        present: Any = None,
        cost: Cost = "nearest",
        weights: Any = None,
        limits: bool = True,
        every: bool = True,
    ) -> Solutions:
        """The joint vectors that bring the tool to `pose`, the cheapest first, and why there are none.

        All of them where a closed form fits the arm (`complete` is true). The numeric solver searches until no more are
        expected and may still miss some; `every=False` stops it once it has one and has made a few starts.

        `cost`: "nearest" to `present` (by default the middle of the ranges), or nearest to the "middle" of the
        ranges; each joint's squared difference counts by its weight. Angles are continued past ±180° where the range
        allows. `limits=False` leaves the ranges out of it.
        """
        found = self._numbers(pose, "pose")
        if found.shape != (4, 4):
            more = "; inverse_many takes many" if found.ndim == 3 else ""
            raise InputError(Problem(f"needs a pose (4, 4), not {found.shape}{more}", key="pose"))
        return self.inverse_many(found[None], present=present, cost=cost, weights=weights, limits=limits, every=every)[
            0
        ]

    def inverse_many(
        self,
        poses: Any,
        *,
        present: Any = None,
        cost: Cost = "nearest",
        weights: Any = None,
        limits: bool = True,
        every: bool = True,
    ) -> SolutionsOfMany:
        """The same of many poses (N, 4, 4) in one compiled call; `present` is (n) or (N, n)."""
        if cost not in ("nearest", "middle"):
            raise InputError(Problem(f"unknown cost {cost!r}{closest(cost, ('nearest', 'middle'))}", key="cost"))
        wanted = self.middle if present is None or cost == "middle" else present
        return self.solver(self, poses, wanted=wanted, weights=weights, limits=limits, every=every)

    # --- dynamics --------------------------------------------------------------------------------------------

    def torques(self, q: Any, qd: Any, qdd: Any, *, wrench: Any = None) -> np.ndarray:
        """Inverse dynamics: the torques that these accelerations need, with friction, water and, where given, a force
        and moment (6) on the tool in world axes."""
        q, many = self._joints(q)
        qd, qdd = self._alike(qd, q, "qd"), self._alike(qdd, q, "qdd")
        out = np.zeros_like(q)
        calls.inverse_dynamics_many(
            self.arm, self.links, q, qd, qdd, self._wrenches(wrench, len(q)), self._scratch, self._frames, out
        )
        return out if many else out[0]

    def accelerations(
        self, q: Any, qd: Any, torque: Any, *, wrench: Any = None, method: Method = "composite-body"
    ) -> np.ndarray:
        """Forward dynamics, by Walker and Orin's method 3 (composite-body) or 1 (newton-euler)."""
        q, many = self._joints(q)
        qd, torque = self._alike(qd, q, "qd"), self._alike(torque, q, "torque")
        out = np.zeros_like(q)
        known = ("composite-body", "newton-euler")
        if method not in known:
            raise InputError(Problem(f"unknown method {method!r}{closest(method, known)}", key="method"))
        number = calls.COMPOSITE if method == "composite-body" else calls.BY_COLUMNS
        good = calls.forward_dynamics_many(
            self.arm, self.links, q, qd, torque, self._wrenches(wrench, len(q)), number, self._scratch, self._frames,
            self._room, out,
        )  # fmt: skip
        if not good:
            raise InputError(Problem("the inertia matrix is not positive: some joint moves nothing that has mass"))
        return out if many else out[0]

    def parts(self, q: Any, qd: Any, qdd: Any) -> dict[str, np.ndarray]:
        """[titan4] eq. 3-21: the torques' inertial, Coriolis, gravity (with buoyancy), friction and drag parts."""
        q, many = self._joints(q)
        found = np.zeros((len(q), len(PARTS), self.n))
        calls.dynamics_parts(
            self.arm, self.links, q, self._alike(qd, q, "qd"), self._alike(qdd, q, "qdd"), self._scratch, self._frames,
            self._room, found,
        )  # fmt: skip
        return {name: found[:, k] if many else found[0, k] for k, name in enumerate(PARTS)}

    def inertia(self, q: Any) -> np.ndarray:
        """H(q) of eq. 3-22: (n, n), rotors included."""
        q, many = self._joints(q)
        found = np.zeros((len(q), self.n, self.n))
        calls.inertia_matrices(self.links, q, self._scratch, found)
        return found if many else found[0]

    def coriolis(self, q: Any, qd: Any) -> np.ndarray:
        """C(q, q̇) of eq. 3-22 by Christoffel's symbols: (n, n); Ḣ − 2C is skew-symmetric."""
        q, many = self._joints(q)
        found = np.zeros((len(q), self.n, self.n))
        calls.coriolis_matrices(self.links, q, self._alike(qd, q, "qd"), self._scratch, self._room, found)
        return found if many else found[0]

    def gravity(self, q: Any) -> np.ndarray:
        """G(q) of eq. 3-22, buoyancy included: (n)."""
        zero = np.zeros_like(np.asarray(q, dtype=float))
        return self.parts(q, zero, zero)["gravity"]

    def energy(self, q: Any, qd: Any) -> np.ndarray:
        """Kinetic and potential energy [J]: (2)."""
        q, many = self._joints(q)
        found = np.zeros((len(q), 2))
        calls.energies(
            self.arm, self.links, q, self._alike(qd, q, "qd"), self._scratch, self._frames, self._room, found
        )
        return found if many else found[0]

    # --- arguments -------------------------------------------------------------------------------------------

    def _joints(self, q: Any) -> tuple[np.ndarray, bool]:
        found = self._numbers(q, "q")
        many = found.ndim == 2
        if found.ndim not in (1, 2) or found.shape[-1] != self.n:
            raise InputError(Problem(f"needs {self.n} joint variables, or an array (N, {self.n}), not {found.shape}"))
        return found if many else found[None], many

    def _alike(self, values: Any, q: np.ndarray, name: str) -> np.ndarray:
        found = self._numbers(values, name)
        if found.shape == q.shape:
            return found
        if found.ndim == 1 and len(q) == 1 and found.shape[0] == q.shape[1]:
            return found[None]
        try:
            return np.ascontiguousarray(np.broadcast_to(found, q.shape))
        except ValueError:
            raise InputError(Problem(f"has the shape {found.shape}, the joints {q.shape}", key=name)) from None

    def _numbers(self, values: Any, name: str) -> np.ndarray:
        try:
            if values is None:
                raise TypeError
            found = np.ascontiguousarray(values, dtype=float)
        except (TypeError, ValueError):
            raise InputError(Problem(f"needs numbers, not {values!r}", key=name)) from None
        if not np.isfinite(found).all():
            raise InputError(Problem("needs finite numbers; some are NaN or infinite", key=name))
        return found

    def _wrenches(self, wrench: Any, count: int) -> np.ndarray:
        if wrench is None:
            return self._none
        found = self._numbers(wrench, "wrench")
        if found.shape not in ((6,), (count, 6)):
            raise InputError(Problem(f"needs a force and a moment, 6 numbers, not {found.shape}", key="wrench"))
        return np.ascontiguousarray(np.broadcast_to(found, (count, 6)))
