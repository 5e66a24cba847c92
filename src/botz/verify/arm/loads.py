"""What loads an arm, in closed form: payloads, buoyancy, drag, and arms of one joint."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.scenario.arm.world import Water
from botz.verify.arm.reference import inertia_of, pose_matrix
from botz.verify.arm.rig import (
    GRAVITY,
    SHIPPED,
    SUMS,
    Data,
    States,
    by_state,
    case,
    cases,
    floats,
    in_water,
    put_anywhere,
    random_body,
    random_gravity,
    shipped,
    still,
)
from botz.verify.checks import EPS, Check, close, worst

SEA = 1025.0


def pseudo_inertia(body: Data) -> np.ndarray:
    """4 × 4 of second moments, first moments and mass: it moves with a frame as T J Tᵀ, and bodies just add."""
    from botz.scenario.rigid_body import Body

    known = Body.model_validate(body)
    about_centre = inertia_of(known)
    centre = np.append(known.centre, 1.0)
    found = known.mass * np.outer(centre, centre)
    found[:3, :3] += 0.5 * np.trace(about_centre) * np.eye(3) - about_centre
    return np.asarray(found)


def body_of(pseudo: np.ndarray) -> Data:
    mass = pseudo[3, 3]
    centre = pseudo[:3, 3] / mass
    second = pseudo[:3, :3] - mass * np.outer(centre, centre)
    inertia = np.trace(second) * np.eye(3) - second
    entries = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return {"mass": float(mass), "centre": floats(centre), "inertia": floats(entries)}


def payload_is_a_heavier_link(samples: int) -> Iterator[Check]:
    """A payload at the tool is a last link with the bodies' moments added: J_link + T J_payload Tᵀ."""
    rng = np.random.default_rng(20)
    for name in SHIPPED:
        errors = []
        for _ in range(5):
            data = put_anywhere(rng, shipped(name))
            gravity = random_gravity(rng)
            last = list(data["joints"])[-1]
            tool = pose_matrix([*data["tool"]["position"], *data["tool"]["attitude"]])
            heavier = shipped(name) | {"pose": data["pose"], "tool": data["tool"]}
            own = {key: heavier["joints"][last][key] for key in ("mass", "centre", "inertia")}
            heavier["joints"][last] |= body_of(pseudo_inertia(own) + tool @ pseudo_inertia(data["payload"]) @ tool.T)
            states = States.random(rng, max(min(samples, 1000) // 5, 3), 6)
            with_payload, with_link = (
                case(one, gravity).arm.torques(states.q, states.qd, states.qdd) for one in (data, heavier)
            )
            errors.append(by_state(with_payload, with_link).max())
        yield worst(f"payload or heavier link, {name}: torques, relative", errors, 10 * SUMS, "Rounding of sums.")


def neutral_buoyancy(samples: int) -> Iterator[Check]:
    """Links that displace their own mass at its centre carry no weight: ρ V = m, G = 0; and twice that turns G over."""
    rng = np.random.default_rng(21)
    for name in SHIPPED:
        floating, turned = [], []
        for _ in range(5):
            data = put_anywhere(rng, shipped(name))
            data["payload"] = {"mass": 0.0}
            gravity = random_gravity(rng)
            q = States.random(rng, max(min(samples, 1000) // 5, 3), 6).q
            for joint in data["joints"].values():
                joint["water"] = {"volume": joint["mass"] / SEA, "centre": joint["centre"]}
            dry = case(data, gravity).arm.gravity(q)
            chain = case(data, gravity).chain
            size = np.full(len(q), sum(b.mass for b in chain.bodies) * np.linalg.norm(gravity) * chain.reach)
            floating.append(by_state(case(data, gravity, Water(density=SEA)).arm.gravity(q), 0.0 * q, size).max())
            turned.append(by_state(case(data, gravity, Water(density=2.0 * SEA)).arm.gravity(q), -dry, size).max())
        why = "Two torques of m g l that cancel, rounded."
        yield worst(f"neutrally buoyant {name}: G by m g reach", floating, SUMS, why)
        yield worst(f"twice as buoyant {name}: G + G in air, by m g reach", turned, SUMS, why)


def drag_takes_energy(samples: int) -> Iterator[Check]:
    """In still water the power that overcomes drag is never negative, and drag grows with the square of all speeds."""
    rng = np.random.default_rng(22)
    for name in SHIPPED:
        negative, squared = [], []
        for _ in range(5):
            data = in_water(rng, put_anywhere(rng, shipped(name)))
            arm = case(data, random_gravity(rng), Water(density=SEA)).arm
            states = States.random(rng, max(min(samples, 10_000) // 5, 3), 6)
            drag = arm.parts(states.q, states.qd, states.qdd)["drag"]
            power = np.sum(drag * states.qd, axis=1)
            negative.append(np.max(-power / np.sum(np.abs(drag * states.qd), axis=1)))
            faster = arm.parts(states.q, -3.0 * states.qd, states.qdd)["drag"]
            # Drag is what is left of all the water's torques without buoyancy.
            size = np.abs(drag).max(axis=1) + np.abs(arm.gravity(states.q)).max(axis=1)
            squared.append(by_state(faster, -9.0 * drag, 9.0 * size).max())
        lost = max(0.0, float(np.max(negative)))
        yield worst(f"drag of {name}: power given back, relative", [lost], SUMS, "Never, but for rounding.")
        yield worst(f"drag of {name}: three times as fast and backwards, + 9 ×", squared, SUMS, "Rounding.")


def carried_by_the_current(samples: int) -> Iterator[Check]:
    """Drag counts against the water: an arm whose first joint slides along with the current has none."""
    del samples
    rng = np.random.default_rng(23)
    errors = []
    for _ in range(5):
        joint = {"type": "prismatic", "alpha": 0.4, "a": 0.3, "d": 0.2, **random_body(rng, 2.0, 0.2)}
        data = in_water(rng, {"engine": "arm", "joints": {"slide": joint}})
        data["pose"] = floats([*rng.normal(size=3), *rng.uniform(-1.0, 1.0, 3)])
        axis = pose_matrix(data["pose"])[:3, 2]
        arm = case(data, (0.0, 0.0, -GRAVITY), Water(density=SEA, current=floats(1.5 * axis))).arm
        with_it, against = (float(arm.parts([0.2], [speed], [0.0])["drag"][0]) for speed in (1.5, 0.0))
        errors.append(with_it / against)
    yield worst(
        "sliding with the current: drag by that at rest", errors, SUMS, "Differences of speeds, rounded, squared."
    )


def bar(length: float, mass: float, **changes: object) -> Data:
    """A joint about a level axis with a rod that hangs at q = 0, turning about y of the world; its frame at its end."""
    inertia = mass * length**2 / 12.0
    joint = {
        "a": length,
        "mass": mass,
        "centre": [-0.5 * length, 0.0, 0.0],
        "inertia": [0.0, inertia, inertia],
        **changes,
    }
    # The base's z along the world's −y, its x down.
    return {"engine": "arm", "joints": {"swing": joint}, "pose": [0.0, 0.0, 2.0, -np.pi / 2, np.pi / 2, 0.0]}


def one_joint(samples: int) -> Iterator[Check]:
    """A rod on a joint: τ = (m l²/3 + J) q̈ + (½ m − ρ V) g l sin q + b q̇ + f q̇/√(q̇² + w²) + ½ ρ C_d A |l q̇| l q̇ · l,
    volume and drag at its end."""
    rng = np.random.default_rng(24)
    errors = []
    for _ in range(max(min(samples, 1000) // 10, 3)):
        length, mass, rotor, area = (float(value) for value in rng.uniform(0.2, 2.0, 4))
        viscous, coulomb, width, volume = floats(rng.uniform(0.01, 1.0, 4) * [10.0, 10.0, 0.1, 1e-3])
        data = bar(
            length, mass, rotor_inertia=rotor,
            friction={"viscous": viscous, "coulomb": coulomb, "smoothing": width},
            water={"volume": volume, "centre": [0.0, 0.0, 0.0], "drag_area": [0.3, area, 0.2]},
        )  # fmt: skip
        made = still(data, water=Water(density=SEA))
        q, qd, qdd = rng.uniform(-np.pi, np.pi), *rng.normal(size=2)
        terms = np.array([
            (mass * length**2 / 3.0 + rotor) * qdd,
            0.5 * mass * GRAVITY * length * np.sin(q),
            viscous * qd,
            coulomb * qd / np.sqrt(qd**2 + width**2),
            0.5 * SEA * area * abs(length * qd) * length * qd * length,
            -SEA * volume * GRAVITY * length * np.sin(q),
        ])  # fmt: skip
        found = made.arm.torques([q], [qd], [qdd])[0]
        errors.append((found - terms.sum()) / np.abs(terms).sum())
    yield worst("a rod in water: torque by its terms", errors, 100 * EPS, "Six terms, a few products each.")
    hanging = still(bar(1.0, 3.0)).arm
    lowest, level = hanging.forward([0.0])[:3, 3], hanging.forward([np.pi / 2])[:3, 3]
    yield close("a rod that hangs: height of its end [m]", 1.0, lowest[2], 10 * EPS, "2 m − 1 m, rounded.")
    yield close("a rod held level: height of its end [m]", 2.0, level[2], 10 * EPS, "That of the joint.")


def gravity_turns_with_the_base(samples: int) -> Iterator[Check]:
    """Only gravity in the base's axes counts: an arm on a base turned by R feels g as one that stands feels Rᵀg."""
    rng = np.random.default_rng(25)
    for name, several in cases(rng, friction=True, chains=()):
        errors = []
        for one in several:
            data = one.arm.robot.model_dump() | {"pose": [0.0] * 6}
            turn = one.chain.base[:3, :3]
            upright = case(data, floats(turn.T @ one.chain.gravity)).arm
            states = States.random(rng, max(min(samples, 1000) // 5, 3), one.n)
            blocks = np.kron(np.eye(2), turn.T)
            found = one.arm.torques(states.q, states.qd, states.qdd, wrench=states.wrench)
            errors.append(
                by_state(found, upright.torques(states.q, states.qd, states.qdd, wrench=states.wrench @ blocks.T)).max()
            )
        yield worst(f"turned base, {name}: torques, relative", errors, 10 * SUMS, "Rounding of R and of sums.")


FUNCTIONS = (
    payload_is_a_heavier_link,
    neutral_buoyancy,
    drag_takes_energy,
    carried_by_the_current,
    one_joint,
    gravity_turns_with_the_base,
)
