"""Dynamics of serial arms: the matrices and parts of eqs. 3-21 and 3-22 against energies, oracles and closed forms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.verify.arm.oracles import ask, missing
from botz.verify.arm.reference import derivative, gradient
from botz.verify.arm.rig import SUMS, Case, Errors, States, by_state, cases, largest
from botz.verify.checks import EPS, Check, close, skip, worst

SHOWN = {
    "frames": "forward kinematics of every link",
    "jacobian": "Jacobian of the tool",
    "inertia": "H",
    "bias": "bias forces C q̇ + G",
    "torques": "inverse dynamics with a wrench at the tool",
    "accelerations": "forward dynamics with a wrench at the tool",
}


def times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Matrix by vector, state by state."""
    return np.asarray(np.einsum("nij,nj->ni", matrices, vectors))


def torque_size(case: Case, states: States) -> np.ndarray:
    """Largest torque of all parts: what their sum is rounded by."""
    parts = case.arm.parts(states.q, states.qd, states.qdd)
    return np.asarray(sum(np.abs(part).max(axis=1) for part in parts.values()))


# --- oracles ---------------------------------------------------------------------------------------------------------


def _against(samples: int, name: str) -> Iterator[Check]:
    if (reason := missing(name)) is not None:
        yield skip(f"{name}: an arm built from the same parameters", reason)
        return
    rng = np.random.default_rng(10)
    stiffest = 0.0

    def compare(case: Case, states: States) -> Errors:
        nonlocal stiffest
        arm, q, qd, wrench = case.arm, states.q, states.qd, states.wrench
        torque = 100.0 * rng.normal(size=q.shape)
        expected = ask(name, case.chain, (q, qd, states.qdd, torque, wrench))
        found = {
            "frames": arm.frames(q),
            "jacobian": arm.jacobian(q),
            "inertia": arm.inertia(q),
            "bias": arm.torques(q, qd, np.zeros_like(q)),
            "torques": arm.torques(q, qd, states.qdd, wrench=wrench),
            "accelerations": arm.accelerations(q, qd, torque, wrench=wrench),
        }
        stiffest = max(stiffest, float(np.linalg.cond(found["inertia"]).max()))
        errors = {what: by_state(values, getattr(expected, what)) for what, values in found.items()}
        if case.n < 6:
            # The parts of one or two torques cancel now and then, and the largest of them is then no measure.
            size = torque_size(case, states) + (1.0 + case.chain.reach) * np.abs(wrench).max(axis=1)
            for what in ("bias", "torques"):
                errors[what] = by_state(found[what], getattr(expected, what), size)
        return errors

    for label, several in cases(rng):
        stiffest = 0.0
        for what, error in largest(samples, rng, several, compare).items():
            tolerance, why = SUMS, "Two orders of the same sums: 1000 ε of the largest entry."
            if what == "accelerations":
                tolerance, why = SUMS * stiffest, "1000 ε, by the condition of H, whose inverse lifts every rounding."
            elif what in ("bias", "torques"):
                tolerance, why = 10.0 * SUMS, "1000 ε of the largest torque, of parts ten times as large that cancel."
            yield worst(f"{name}, {label}: {SHOWN[what]}, relative", [error], tolerance, why)


def against_pinocchio(samples: int) -> Iterator[Check]:
    """Pinocchio's recursions of the same arm: base, gravity, tool and payload anywhere, rotors as armature."""
    yield from _against(samples, "Pinocchio")


def against_mujoco(samples: int) -> Iterator[Check]:
    """MuJoCo's recursions of the same arm: base, gravity, tool and payload anywhere, rotors as armature."""
    yield from _against(samples, "MuJoCo")


# --- matrices --------------------------------------------------------------------------------------------------------


def inertia_by_energy(samples: int) -> Iterator[Check]:
    """H = Σ m J_vᵀJ_v + J_ωᵀ I J_ω + rotors; T = ½ q̇ᵀH q̇; U = −Σ m g·p. H is symmetric and positive."""
    rng = np.random.default_rng(11)

    def compare(case: Case, states: States) -> Errors:
        arm, chain, q, qd = case.arm, case.chain, states.q, states.qd
        found, expected = arm.inertia(q), chain.inertia(q)
        kinetic = 0.5 * np.einsum("ni,nij,nj->n", qd, expected, qd)
        energy, potential = arm.energy(q, qd), chain.potential(q)
        # Potential energy counts from the base's origin.
        start = chain.base[:3, 3] @ chain.gravity * sum(body.mass for body in chain.bodies)
        size = np.linalg.norm(chain.gravity) * chain.reach * sum(body.mass for body in chain.bodies)
        return {
            "H, relative": by_state(found, expected),
            "H − Hᵀ": np.abs(found - found.swapaxes(1, 2)).max(axis=(1, 2)),
            "share of states where H is not positive": (np.linalg.eigvalsh(found)[:, 0] <= 0.0).astype(float),
            "kinetic energy, relative": np.abs(energy[:, 0] / kinetic - 1.0),
            "potential energy by m g reach": np.abs(energy[:, 1] - (potential + start)) / size,
        }

    for name, several in cases(rng):
        for what, error in largest(samples, rng, several, compare).items():
            exact = what.startswith(("H −", "share"))
            tolerance = 0.0 if exact else SUMS
            why = (
                "Exactly."
                if exact
                else "Sums of products, rounded; all terms of the energies have one sign or one size."
            )
            yield worst(f"inertia, {name}: {what}", [error], tolerance, why)


def coriolis_by_christoffel(samples: int) -> Iterator[Check]:
    """C_ij = ½ Σ_k (∂_k H_ij + ∂_j H_ik − ∂_i H_jk) q̇_k; then Ḣ − 2C is skew-symmetric, with Ḣ = Im H(q + ihq̇)/h, and
    C q̇ is what Newton and Euler's equations give of the speeds alone."""
    rng = np.random.default_rng(12)

    def compare(case: Case, states: States) -> Errors:
        arm, chain, q, qd = case.arm, case.chain, states.q, states.qd
        found, expected = arm.coriolis(q, qd), chain.coriolis(q, qd)
        rate = derivative(chain.inertia, q, qd)
        skew = rate - 2.0 * found
        # Products of speeds with the arm's inertia are what the entries are made of.
        size = np.abs(chain.inertia(q)).max(axis=(1, 2)) * np.abs(qd).max(axis=1)
        speeds = arm.parts(q, qd, states.qdd)["coriolis"]
        return {
            "C": by_state(found, expected, size),
            "Ḣ − 2C and its transpose": np.abs(skew + skew.swapaxes(1, 2)).max(axis=(1, 2)) / size,
            "C q̇ and Newton-Euler's part": by_state(times(found, qd), speeds, size * np.abs(qd).max(axis=1)),
        }

    for name, several in cases(rng):
        for what, error in largest(samples, rng, several, compare).items():
            why = "A difference of torques of speeds up to |q̇| + 1, rounded: 1000 ε of H |q̇|."
            yield worst(f"Coriolis, {name}: {what}, by H |q̇|", [error], SUMS, why)


def forward_dynamics(samples: int) -> Iterator[Check]:
    """Walker and Orin's methods 1 and 3 give the same q̈, and it is what the torque was computed from."""
    rng = np.random.default_rng(13)

    def compare(case: Case, states: States) -> Errors:
        arm, q, qd, qdd, wrench = case.arm, states.q, states.qd, states.qdd, states.wrench
        torque = arm.torques(q, qd, qdd, wrench=wrench)
        third = arm.accelerations(q, qd, torque, wrench=wrench, method="composite-body")
        first = arm.accelerations(q, qd, torque, wrench=wrench, method="newton-euler")
        values = np.linalg.eigvalsh(arm.inertia(q))
        # H⁻¹ lifts the rounding of the torques, which are as large as their parts.
        load = torque_size(case, states) + np.linalg.norm(wrench, axis=1) * (1.0 + case.chain.reach)
        size = load / values[:, 0]
        return {
            "methods 1 and 3": by_state(first, third, size),
            "q̈ → τ → q̈, method 3": by_state(third, qdd, size),
            "q̈ → τ → q̈, method 1": by_state(first, qdd, size),
        }

    for name, several in cases(rng, friction=True, water=True):
        for what, error in largest(samples, rng, several, compare).items():
            why = "20 ε of the torques' parts, by the smallest eigenvalue of H: the bound of a Cholesky solution."
            yield worst(f"forward dynamics, {name}: {what}, by τ/λ_min", [error], 20 * EPS, why)


# --- parts -----------------------------------------------------------------------------------------------------------


def split_of_the_torques(samples: int) -> Iterator[Check]:
    """Eq. 3-21: τ = H q̈ + C q̇ + ∂U/∂q + b q̇ + f q̇/√(q̇² + w²) + drag, each part alone and all together."""
    rng = np.random.default_rng(14)

    def compare(case: Case, states: States) -> Errors:
        arm, chain, q, qd, qdd = case.arm, case.chain, states.q, states.qd, states.qdd
        parts, size = arm.parts(q, qd, qdd), torque_size(case, states)
        joints = list(arm.robot.joints.values())
        viscous, coulomb, width = (
            np.array([getattr(joint.friction, key) for joint in joints]) for key in ("viscous", "coulomb", "smoothing")
        )
        lift = chain.density * sum(joint.water.volume for joint in joints)
        weight = (sum(body.mass for body in chain.bodies) + lift) * np.linalg.norm(chain.gravity) * chain.reach
        friction = viscous * qd + coulomb * qd / np.sqrt(qd**2 + width**2)
        return {
            "inertial = H q̈": by_state(parts["inertial"], times(chain.inertia(q), qdd)),
            "Coriolis = C q̇": by_state(parts["coriolis"], times(chain.coriolis(q, qd), qd), size),
            "gravity = ∂U/∂q, by m g reach": by_state(
                parts["gravity"], gradient(chain.potential, q), np.full(len(q), weight)
            ),
            "friction": np.abs(parts["friction"] - friction).max(axis=1) / (1.0 + np.abs(friction).max(axis=1)),
            "drag": by_state(parts["drag"], chain.drag(q, qd)),
            "sum": by_state(arm.torques(q, qd, qdd), np.sum(list(parts.values()), axis=0), size),
        }

    for name, several in cases(rng, friction=True, water=True):
        for what, error in largest(samples, rng, several, compare).items():
            why = "Sums over links and bodies, rounded, by the largest of what is added."
            yield worst(f"parts of the torque, {name}: {what}", [error], SUMS, why)


def wrench_at_the_tool(samples: int) -> Iterator[Check]:
    """A force and moment on the tool need −Jᵀ(F, M) of the joints, and the same work: F·v + M·ω = −τ·q̇."""
    rng = np.random.default_rng(15)

    def compare(case: Case, states: States) -> Errors:
        arm, q, qd, qdd, wrench = case.arm, states.q, states.qd, states.qdd, states.wrench
        change = arm.torques(q, qd, qdd, wrench=wrench) - arm.torques(q, qd, qdd)
        jacobian = case.chain.jacobian(q)
        size = torque_size(case, states) + np.abs(change).max(axis=1)
        work = np.einsum("ni,nij,nj->n", wrench, jacobian, qd)
        return {
            "−Jᵀ F": by_state(change, -np.einsum("nij,ni->nj", jacobian, wrench), size),
            "its power": np.abs(np.sum(change * qd, axis=1) + work) / (size * np.abs(qd).sum(axis=1)),
        }

    for name, several in cases(rng, friction=True):
        for what, error in largest(samples, rng, several, compare).items():
            why = "A difference of torques: 1000 ε of their parts."
            yield worst(f"wrench at the tool, {name}: {what}", [error], SUMS, why)


def energy_is_a_law_of_the_dynamics(samples: int) -> Iterator[Check]:
    """dT/dt + dU/dt = q̇·τ without friction and water: q̇·(H q̈) + ½ q̇ᵀḢ q̇ + q̇·∂U/∂q."""
    rng = np.random.default_rng(16)

    def compare(case: Case, states: States) -> Errors:
        arm, chain, q, qd, qdd = case.arm, case.chain, states.q, states.qd, states.qdd
        power = np.sum(qd * arm.torques(q, qd, qdd), axis=1)
        rate = np.einsum("ni,nij,nj->n", qd, chain.inertia(q), qdd)
        rate = rate + 0.5 * np.einsum("ni,nij,nj->n", qd, derivative(chain.inertia, q, qd), qd)
        rate = rate + derivative(chain.potential, q, qd)
        weight = sum(body.mass for body in chain.bodies) * np.linalg.norm(chain.gravity) * chain.reach
        return {"power": np.abs(power - rate) / ((torque_size(case, states) + weight) * np.abs(qd).sum(axis=1))}

    for name, several in cases(rng):
        for what, error in largest(samples, rng, several, compare).items():
            yield worst(f"energy, {name}: {what}, by τ |q̇|", [error], SUMS, "Sums of products, rounded.")


def wrong_masses(samples: int) -> Iterator[Check]:
    """A model whose masses are those of the arm times s needs s times its torques, but for the rotors."""
    from botz.robots.serial_arm import SerialArm

    rng = np.random.default_rng(17)
    for name, several in cases(rng):
        arm = several[0].arm
        scaled = SerialArm(arm.robot, gravity=several[0].chain.gravity.tolist(), scale=1.7)
        states = States.random(rng, min(samples, 300), arm.n)
        rotors = states.qdd * arm.links["rotor"]
        expected = 1.7 * (arm.torques(states.q, states.qd, states.qdd) - rotors) + rotors
        error = by_state(scaled.torques(states.q, states.qd, states.qdd), expected, torque_size(several[0], states))
        yield worst(f"masses times 1.7, {name}: torques", [float(error.max())], SUMS, "Rounding of sums.")
        bare = SerialArm(arm.robot, gravity=several[0].chain.gravity.tolist(), payload=False)
        payload = several[0].chain.robot.payload
        torque = bare.gravity(states.q) - arm.gravity(states.q)
        frames = several[0].chain.frames(states.q)
        centre = frames[:, -1, :3, 3] + frames[:, -1, :3, :3] @ np.array(payload.centre)
        columns, _ = several[0].chain.columns(frames, arm.n + 1, centre)
        pull = np.einsum("nij,i->nj", columns, payload.mass * several[0].chain.gravity)
        size = np.abs(arm.gravity(states.q)).max(axis=1) + np.abs(pull).max(axis=1)
        error = by_state(torque, pull, size)
        yield worst(f"without its payload, {name}: gravity less by Jᵀ m g", [float(error.max())], SUMS, "Rounding.")


def h_of_all_states_is_finite(samples: int) -> Iterator[Check]:
    """H, C, G and q̈ are numbers at every position, also where the arm is singular: its inertia never is."""
    del samples
    rng = np.random.default_rng(18)
    angles = np.array([-np.pi, -np.pi / 2, 0.0, np.pi / 2, np.pi])
    for name, several in cases(rng, friction=True, water=True, chains=()):
        arm = several[0].arm
        q = rng.choice(angles, size=(300, arm.n))
        qd = 3.0 * rng.normal(size=q.shape)
        made = (arm.inertia(q), arm.coriolis(q, qd), arm.gravity(q), arm.accelerations(q, qd, 100.0 * qd))
        bad = sum(int((~np.isfinite(values)).sum()) for values in made)
        yield close(f"right angles everywhere, {name}: numbers that are none", 0.0, float(bad), 0.0, "Exactly.")


FUNCTIONS = (
    against_pinocchio,
    against_mujoco,
    inertia_by_energy,
    coriolis_by_christoffel,
    forward_dynamics,
    split_of_the_torques,
    wrench_at_the_tool,
    energy_is_a_law_of_the_dynamics,
    wrong_masses,
    h_of_all_states_is_finite,
)
