"""A serial arm to compute with: forward and inverse kinematics, Jacobian, dynamics, for one position or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from botz.errors import InputError, Problem
from botz.robots import arm_calls as calls
from botz.robots.arm_arguments import finite_numbers, joint_vectors
from botz.robots.arm_inverse import Cost, SolutionsOfMany, solver_of
from botz.robots.arm_memory import arm_memory, arm_of, links_of
from botz.robots.arm_methods import long_way, of_motion, of_position, of_state
from botz.robots.arm_records import GRAVITY, arm_record, link_records, transform
from botz.scenario.arm.schema import Arm, PlacedArm
from botz.scenario.arm.world import Water
from botz.scenario.names import closest

Method = Literal["composite-body", "newton-euler"]
Out = np.ndarray | None
PARTS = ("inertial", "coriolis", "gravity", "friction", "drag")


class SerialArm:
    """An arm of the library or of a scenario, to compute with: `SerialArm.of("titan4")`.

    - `robot`: the description of an arm, for example `load("puma-wave").spec.robots["puma"]`
    - `gravity`: in the world [m/s²]
    - `water`: density and drag, as in a scenario; None for none
    - `payload`: whether the payload of the robot counts
    - `scale`: factor of all masses and inertias

    Joint vectors are (…, n) [rad; m of sliding joints], poses (…, 4, 4) in the world [m]: what comes out has the same
    dimensions in front. Many in one call cost a fraction of as many calls. Arguments of one call are broadcast to each
    other as NumPy does it. Results are new arrays, or `out`. Numbers that are not finite, or too few, raise InputError.

    >>> arm = botz.SerialArm.of("titan4")
    >>> q = np.random.default_rng(1).uniform(-0.5, 0.5, (10, arm.n))
    >>> poses = arm.forward(q)
    >>> poses.shape, arm.inverse(poses).joints.shape
    ((10, 4, 4), (10, 8, 6))
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
        """The description of the arm, in SI."""
        self.names = tuple(robot.joints)
        """Names of the joints, from the base to the tool."""
        self.n = len(self.names)
        base = transform(robot.pose) if isinstance(robot, PlacedArm) else np.eye(4)
        links = link_records(robot, payload=payload, scale=scale)
        self._memory = arm_memory(arm_record(robot, base, gravity, water), links)
        self.lower, self.upper = self.links["lower"].copy(), self.links["upper"].copy()
        """Ranges of the joints [rad, m]; infinite without limits."""
        self.speed = np.array([joint.speed or np.inf for joint in robot.joints.values()])
        """Largest speeds of the joints [rad/s, m/s]; infinite without a limit."""
        self.acceleration = np.array(
            [joint.acceleration or 2.0 * (joint.speed or np.inf) for joint in robot.joints.values()]
        )
        """Largest accelerations of the joints [rad/s², m/s²]; twice the speed's number where none is given."""
        n = self.n
        """How many joints there are."""
        self._shapes = {
            "number": (1,),
            "pose": (4, 4),
            "frames": (n + 1, 4, 4),
            "jacobian": (6, n),
            "vector": (n,),
            "matrix": (n, n),
            "parts": (len(PARTS), n),
            "energy": (2,),
        }
        """Of results for one position."""
        self._ones = np.ones(n)
        self.solver = solver_of(self.links)
        """How poses are solved for joints: in one of the closed forms, or numerically."""

    @classmethod
    def of(cls, name: str | Path, **options: Any) -> SerialArm:
        """An arm of the library by its name, or of a robot file. `options` are those of the class. Raises InputError
        for what is no arm.

        >>> botz.SerialArm.of("puma560")
        <SerialArm: ...; inverse kinematics: wrist>
        """
        from botz.scenario.load import load_robot

        if not isinstance(name, str | Path):
            raise InputError(Problem(f"needs the name of a robot or the path of its file, not {name!r}"))
        robot = load_robot(name).spec
        if not isinstance(robot, Arm):
            raise InputError(Problem(f"{name!r} is a robot of engine {getattr(robot, 'engine', '')!r}, not an arm"))
        return cls(robot, **options)

    def __repr__(self) -> str:
        return f"<SerialArm: {', '.join(self.names)}; inverse kinematics: {self.solver.kind}>"

    @property
    def arm(self) -> np.ndarray:
        """Where it stands and in what: one record, in an array."""
        return arm_of(self._memory)

    @property
    def links(self) -> np.ndarray:
        """A record of each joint and its link."""
        return links_of(self._memory)

    @cached_property
    def middle(self) -> np.ndarray:
        """Middles of the joints' ranges; 0 of a joint without limits."""
        bounded = np.isfinite(self.lower) & np.isfinite(self.upper)
        return np.where(bounded, 0.5 * (np.where(bounded, self.lower, 0.0) + np.where(bounded, self.upper, 0.0)), 0.0)

    @cached_property
    def reach(self) -> float:
        """The links' lengths one after the other [m]: no point of the arm is further from its base but by sliding."""
        return max(float(np.abs(self.links["a"]).sum() + np.abs(self.links["d"]).sum()), 1e-9)

    def within(self, q: Any, slack: float = 0.0) -> np.ndarray:
        """Whether joint vectors are inside the ranges, by up to `slack` [rad, m].

        >>> bool(arm.within(arm.middle))
        True
        """
        q = joint_vectors(finite_numbers(q, "q"), self.n)
        return np.all((q >= self.lower - slack) & (q <= self.upper + slack), axis=-1)

    # --- kinematics ------------------------------------------------------------------------------------------

    @of_position(calls.tool_poses, "pose")
    def forward(self, q: Any, *, out: Out = None) -> np.ndarray:
        """The tool's poses: (…, 4, 4), positions in [m].

        >>> arm.forward(np.zeros(6)).shape, arm.forward(np.zeros((5, 6))).shape
        ((4, 4), (5, 4, 4))
        """
        raise NotImplementedError

    @of_position(calls.all_frames, "frames")
    def frames(self, q: Any, *, out: Out = None) -> np.ndarray:
        """Poses of all links' frames and, last, of the tool: (…, n + 1, 4, 4).

        >>> arm.frames(np.zeros(6)).shape
        (7, 4, 4)
        """
        raise NotImplementedError

    @of_position(calls.jacobians, "jacobian")
    def jacobian(self, q: Any, *, out: Out = None) -> np.ndarray:
        """Velocity of the tool's point and its angular velocity, world axes, by joint speeds: (…, 6, n).

        >>> (arm.jacobian(arm.middle) @ np.ones(6)).shape
        (6,)
        """
        raise NotImplementedError

    def manipulability(self, q: Any) -> Any:
        """Yoshikawa's √det(J Jᵀ): 0 at a singularity. A number for each position.

        >>> arm.manipulability(arm.middle) > 0.0
        True
        """
        found = self._manipulability(q)
        return float(found[0]) if found.ndim == 1 else found[..., 0]

    @of_position(calls.manipulabilities, "number")
    def _manipulability(self, q: Any, *, out: Out = None) -> np.ndarray:
        raise NotImplementedError

    def singular_directions(self, q: Any, tolerance: float = 1e-6) -> np.ndarray:
        """Directions d of unit length that the tool's velocity (v, ω) has no part in, dᵀ J = 0: (6, k), none where
        nothing is singular. What is nearly 0 is judged with turns counted by the arm's reach, so that metres and
        radians compare. Takes one position; more raise InputError.

        >>> puma = botz.SerialArm.of("puma560")
        >>> puma.singular_directions(np.zeros(6)).shape
        (6, 1)
        """
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
    ) -> Any:
        """The joint vectors that bring the tool to each pose (…, 4, 4), the cheapest first, and why there are none:
        `Solutions` of one pose, `SolutionsOfMany` of more.

        All of them where a closed form fits the arm (`complete` is true). The numeric solver searches until no more are
        expected and may still miss some; `every=False` stops it once it has one and has made a few starts.

        `cost`: "nearest" to `present` (by default the middle of the ranges), or nearest to the "middle" of the ranges;
        each joint's squared difference counts by its weight. Angles are continued past ±180° where the range allows.
        `limits=False` leaves the ranges out of it. `present` is (n), or one for each pose. Raises InputError for what
        is no rigid transformation.

        >>> q = np.array([0.3, 0.4, -0.5, 0.2, 0.3, 0.1])
        >>> solutions = arm.inverse(arm.forward(q), present=q)
        >>> solutions.status, np.allclose(solutions.best, q)
        ('solved', True)
        """
        if cost not in ("nearest", "middle"):
            raise InputError(Problem(f"unknown cost {cost!r}{closest(cost, ('nearest', 'middle'))}", key="cost"))
        wanted = self.middle if present is None or cost == "middle" else present
        return self.solver(self, pose, wanted=wanted, weights=weights, limits=limits, every=every)

    def inverse_many(self, poses: Any, **options: Any) -> SolutionsOfMany:
        """`inverse` of many poses (…, N, 4, 4), for code whose types are checked. Raises InputError for one pose.

        >>> arm.inverse_many(arm.forward(np.zeros((3, 6)))).counts.shape
        (3,)
        """
        found = self.inverse(poses, **options)
        if not isinstance(found, SolutionsOfMany):
            raise InputError(Problem(f"many poses are an array (N, 4, 4), not {np.shape(poses)}", key="pose"))
        return found

    # --- dynamics --------------------------------------------------------------------------------------------

    @of_motion(calls.inverse_dynamics, "vector")
    def torques(self, q: Any, qd: Any, qdd: Any, *, wrench: Any = None, out: Out = None) -> np.ndarray:
        """Inverse dynamics: the torques [N·m; N of sliding joints] that these accelerations need, with friction, water
        and, where given, a force and moment (…, 6) on the tool in world axes [N, N·m].

        >>> q, rest = arm.middle, np.zeros(6)
        >>> np.allclose(arm.torques(q, rest, rest), arm.gravity(q))
        True
        """
        raise NotImplementedError

    def accelerations(
        self,
        q: Any,
        qd: Any,
        torque: Any,
        *,
        wrench: Any = None,
        method: Method = "composite-body",
        out: Out = None,
    ) -> np.ndarray:
        """Forward dynamics: accelerations [rad/s², m/s²] under these torques, by Walker and Orin's method 3
        (composite-body) or 1 (newton-euler). Raises InputError for another method.

        >>> q, rest = arm.middle, np.zeros(6)
        >>> np.allclose(arm.accelerations(q, rest, arm.gravity(q)), 0.0, atol=1e-9)
        True
        """
        if method == "composite-body":
            return self._by_composite_bodies(q, qd, torque, wrench=wrench, out=out)
        if method == "newton-euler":
            return self._by_newton_euler(q, qd, torque, wrench=wrench, out=out)
        known = ("composite-body", "newton-euler")
        raise InputError(Problem(f"unknown method {method!r}{closest(method, known)}", key="method"))

    @of_motion(calls.forward_dynamics, "vector")
    def _by_composite_bodies(self, q: Any, qd: Any, torque: Any, *, wrench: Any, out: Out) -> np.ndarray:
        raise NotImplementedError

    @of_motion(calls.forward_dynamics_by_columns, "vector")
    def _by_newton_euler(self, q: Any, qd: Any, torque: Any, *, wrench: Any, out: Out) -> np.ndarray:
        raise NotImplementedError

    def parts(self, q: Any, qd: Any, qdd: Any) -> dict[str, np.ndarray]:
        """[titan4] eq. 3-21: the torques' inertial, Coriolis, gravity (with buoyancy), friction and drag parts.

        >>> q, rest = arm.middle, np.zeros(6)
        >>> list(arm.parts(q, rest, rest))
        ['inertial', 'coriolis', 'gravity', 'friction', 'drag']
        """
        found = long_way(self, calls.dynamics_parts, ("q", "qd", "qdd"), (q, qd, qdd), "parts", None)
        return {name: found[..., k, :] for k, name in enumerate(PARTS)}

    @of_position(calls.inertia_matrices, "matrix")
    def inertia(self, q: Any, *, out: Out = None) -> np.ndarray:
        """H(q) of eq. 3-22: (…, n, n), rotors included [kg·m²].

        >>> H = arm.inertia(arm.middle)
        >>> H.shape, np.allclose(H, H.T)
        ((6, 6), True)
        """
        raise NotImplementedError

    @of_state(calls.coriolis_matrices, "matrix")
    def coriolis(self, q: Any, qd: Any, *, out: Out = None) -> np.ndarray:
        """C(q, q̇) of eq. 3-22 by Christoffel's symbols: (…, n, n); Ḣ − 2C is skew-symmetric.

        >>> arm.coriolis(arm.middle, np.ones(6)).shape
        (6, 6)
        """
        raise NotImplementedError

    @of_position(calls.gravity_torques, "vector")
    def gravity(self, q: Any, *, out: Out = None) -> np.ndarray:
        """G(q) of eq. 3-22, buoyancy included: (…, n) [N·m, N].

        >>> arm.gravity(arm.middle).shape
        (6,)
        """
        raise NotImplementedError

    @of_state(calls.energies, "energy")
    def energy(self, q: Any, qd: Any, *, out: Out = None) -> np.ndarray:
        """Kinetic and potential energy [J]: (…, 2).

        >>> kinetic, potential = arm.energy(arm.middle, np.zeros(6))
        >>> print(kinetic)
        0.0
        """
        raise NotImplementedError
