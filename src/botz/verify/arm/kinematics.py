"""Forward kinematics and Jacobians of serial arms against products of elementary transforms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.verify.arm.rig import SUMS, Case, Errors, States, by_state, cases, largest, shipped, still
from botz.verify.checks import Check, close, same, worst

WIDE = 0.5
"""Half of the way over which differences are taken [rad, m]."""


def frames_by_products(samples: int) -> Iterator[Check]:
    """Eqs. 3-1 and 3-2: T = T_base Π R_z(θ) T_z(d) T_x(a) R_x(α) T_tool, every link's frame."""
    rng = np.random.default_rng(1)

    def compare(case: Case, states: States) -> Errors:
        arm, expected = case.arm, case.chain.frames(states.q)[:, 1:]
        reach = np.full(len(states.q), case.chain.reach)
        return {
            "axes": np.abs(arm.frames(states.q) - expected)[..., :3, :3].max(axis=(1, 2, 3)),
            "places by the reach": by_state(arm.frames(states.q)[..., :3, 3], expected[..., :3, 3], reach),
            "the tool alone": by_state(arm.forward(states.q), expected[:, -1]),
        }

    for name, several in cases(rng):
        for what, error in largest(samples, rng, several, compare).items():
            why = "Products of some thirty matrices: roundings of ε each."
            yield worst(f"frames, {name}: {what}", [error], SUMS, why)


def jacobian_by_complex_steps(samples: int) -> Iterator[Check]:
    """Eq. 3-20: columns of J are ∂p/∂q and, from Ṙ Rᵀ = [ω]×, ∂R/∂q; Im T(q + ih)/h has no error of difference."""
    rng = np.random.default_rng(2)

    def compare(case: Case, states: States) -> Errors:
        return {"relative": by_state(case.arm.jacobian(states.q), case.chain.jacobian(states.q))}

    for name, several in cases(rng):
        for what, error in largest(samples, rng, several, compare).items():
            yield worst(f"Jacobian of the tool, {name}: {what}", [error], SUMS, "Sums of products, rounded.")


def jacobian_by_differences(samples: int) -> Iterator[Check]:
    """[T(q + h) − T(q − h)]/2 of one joint is the Jacobian's column times sin h (a turn) or h (a slide), for any h:
    T is a sine of each angle."""
    rng = np.random.default_rng(3)

    def compare(case: Case, states: States) -> Errors:
        arm, q = case.arm, states.q
        found, turn = arm.jacobian(q), arm.forward(q)[:, :3, :3]
        moved, turned = [], []
        for k, joint in enumerate(arm.robot.joints.values()):
            way = WIDE * np.eye(case.n)[k]
            slope = (arm.forward(q + way) - arm.forward(q - way)) / (2.0 * np.sin(WIDE))
            if joint.type == "prismatic":
                slope *= np.sin(WIDE) / WIDE
            crossed = slope[:, :3, :3] @ turn.swapaxes(1, 2)
            spin = np.stack([crossed[:, 2, 1] - crossed[:, 1, 2], crossed[:, 0, 2] - crossed[:, 2, 0]], axis=1)
            last = crossed[:, 1, 0] - crossed[:, 0, 1]
            expected = 0.5 * np.concatenate([spin, last[:, None]], axis=1)
            moved.append(by_state(found[:, :3, k], slope[:, :3, 3], np.full(len(q), case.chain.reach)))
            turned.append(np.abs(found[:, 3:, k] - expected).max(axis=1))
        return {"places by the reach": np.max(moved, axis=0), "turns": np.max(turned, axis=0)}

    for name, several in cases(rng):
        for what, error in largest(samples, rng, several, compare).items():
            why = "Differences of poses half a radian apart each way: roundings only."
            yield worst(f"Jacobian by wide differences, {name}: {what}", [error], SUMS, why)


def manipulability(samples: int) -> Iterator[Check]:
    """Yoshikawa's measure is the product of the singular values of J; of fewer joints than six, of those there are."""
    rng = np.random.default_rng(4)

    def compare(case: Case, states: States) -> Errors:
        values = np.linalg.svd(case.chain.jacobian(states.q), compute_uv=False)
        product, size = values.prod(axis=1), values[:, 0] ** min(6, case.n)
        found = np.atleast_1d(case.arm.manipulability(states.q))
        # Near a singularity √det loses half of the digits; det itself does not.
        return {"its square": np.abs(found**2 - product**2) / size**2}

    for name, several in cases(rng):
        for what, error in largest(samples, rng, several, compare).items():
            why = "A Cholesky decomposition of J Jᵀ, by the largest singular value to the same power."
            yield worst(f"manipulability, {name}: {what}", [error], SUMS, why)


SINGULAR = {
    "titan4 with all joints at zero": ("titan4", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    "titan4 with a straight elbow": ("titan4", [0.3, 0.4, 0.0, 0.7, 0.2, 0.5]),
    "titan4 with its wrist at 90°": ("titan4", [0.3, 0.4, 0.8, 0.7, np.pi / 2, 0.5]),
    "puma560 with its wrist straight": ("puma560", [0.3, 0.4, 0.8, 0.7, 0.0, 0.5]),
    "puma560 with its elbow stretched": (
        "puma560",
        [0.3, 0.4, float(np.arctan2(0.0203, 0.4318)) - np.pi / 2, 0.7, 0.4, 0.5],
    ),
    "titan4 anywhere": ("titan4", [0.3, 0.4, 0.8, 0.7, 0.2, 0.5]),
    "puma560 anywhere": ("puma560", [0.3, 0.4, 0.8, 0.7, 0.2, 0.5]),
}


def singular_directions(samples: int) -> Iterator[Check]:
    """Directions u with uᵀJ = 0: as many as J has singular values of 0, each without any motion."""
    del samples
    for label, (name, joints) in SINGULAR.items():
        case = still(shipped(name))
        q = np.array(joints)
        jacobian = case.chain.jacobian(q[None])[0]
        lost = 6 - np.linalg.matrix_rank(jacobian, tol=1e-9)
        directions = case.arm.singular_directions(q)
        yield close(f"{label}: directions lost", float(lost), float(directions.shape[1]), 0.0, "By numpy's rank.")
        if lost:
            left = np.abs(directions.T @ jacobian).max()
            yield worst(f"{label}: motion along them", [left], SUMS, "uᵀ J of unit vectors, rounded.")


def one_and_many(samples: int) -> Iterator[Check]:
    """What is computed of many positions in one call is what is computed of each, to the last bit."""
    rng = np.random.default_rng(5)
    for name, several in cases(rng, friction=True, water=True, chains=()):
        arm, states = several[0].arm, States.random(rng, min(samples, 100), several[0].n)
        many = [
            arm.forward(states.q), arm.frames(states.q), arm.jacobian(states.q), arm.inertia(states.q),
            arm.coriolis(states.q, states.qd), arm.torques(states.q, states.qd, states.qdd, wrench=states.wrench),
            arm.accelerations(states.q, states.qd, states.qdd, wrench=states.wrench), arm.energy(states.q, states.qd),
        ]  # fmt: skip
        alike = all(
            np.array_equal(one, all_of_them[k])
            for k, (q, qd, qdd, wrench) in enumerate(
                zip(states.q, states.qd, states.qdd, states.wrench, strict=True)
            )
            for one, all_of_them in zip(
                (
                    arm.forward(q), arm.frames(q), arm.jacobian(q), arm.inertia(q), arm.coriolis(q, qd),
                    arm.torques(q, qd, qdd, wrench=wrench), arm.accelerations(q, qd, qdd, wrench=wrench),
                    arm.energy(q, qd),
                ),
                many,
                strict=True,
            )
        )  # fmt: skip
        yield same(f"one position and many, {name}", "the same bits", "the same bits" if alike else "differ", "")


FUNCTIONS = (
    frames_by_products,
    jacobian_by_complex_steps,
    jacobian_by_differences,
    manipulability,
    singular_directions,
    one_and_many,
)
