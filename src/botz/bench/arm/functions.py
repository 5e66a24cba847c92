"""Microseconds of an arm's functions: one call from Python, the same by `SerialArm`, and one of many in one call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from botz.bench import peers
from botz.bench.results import Result, duration
from botz.physics.ik.choice import MOST
from botz.robots import arm_calls as calls
from botz.robots.arm_inverse import ENTRIES
from botz.robots.serial_arm import SerialArm

FORWARD, JACOBIAN, INVERSE = "forward kinematics", "Jacobian", "all inverse solutions"
TORQUES, ACCELERATIONS = "Newton-Euler", "forward dynamics"
MASS, GRAVITY, CORIOLIS, ENERGY = "mass matrix", "gravity torques", "Coriolis matrix", "energy"
SINGLE, METHOD, BATCHED = "single call", "method of SerialArm", "batched"
CALLS = 200
"""Different states that single calls go through."""
BATCH = 100_000
ROUND = 0.02
"""Least time of a timed round [s]."""
REPEATS = 15
MOST_INVERSE = 1.0
"""Target: all solutions of one pose of many [µs]."""
# The time of this thread alone, so that others on the machine count little; where it is counted in ticks, all time.
CLOCK = time.perf_counter if time.get_clock_info("thread_time").resolution > 1e-5 else time.thread_time

Work = Callable[[], object]
Times = dict[tuple[str, str], float]
"""By function and way of calling [µs]."""


def microseconds(work: Work, count: int) -> float:
    """Of one of the `count` items that `work` does; the best of several rounds."""
    work()  # once to compile
    began = CLOCK()
    work()
    times = max(1, round(ROUND / max(CLOCK() - began, 1e-6)))
    found = []
    for _ in range(REPEATS):
        began = CLOCK()
        for _ in range(times):
            work()
        found.append((CLOCK() - began) / times)
    return 1e6 * min(found) / count


def each(call: Callable[..., object], arguments: Iterable[tuple[Any, ...]]) -> Work:
    ready = list(arguments)

    def work() -> None:
        for one in ready:
            call(*one)

    return work


def ranges(arm: SerialArm) -> tuple[np.ndarray, np.ndarray]:
    """Of the joints; a turn of those without limits."""
    return np.maximum(arm.lower, -np.pi), np.minimum(arm.upper, np.pi)


def states(arm: SerialArm, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random positions within the ranges, speeds and accelerations, the same each time."""
    rng = np.random.default_rng(5)
    q = rng.uniform(*ranges(arm), (count, arm.n))
    return q, rng.uniform(-1.0, 1.0, q.shape), rng.uniform(-1.0, 1.0, q.shape)


def solving(arm: SerialArm, poses: np.ndarray) -> tuple[Any, ...]:
    """Arguments of the compiled solver for one pose or many: nearest to the middle of the ranges, within them."""
    wanted = np.empty((*poses.shape[:-2], arm.n))
    wanted[...] = arm.middle
    out = [np.zeros((*poses.shape[:-2], *shape)) for shape in ((MOST, arm.n), (MOST,), (MOST,), (2,))]
    joints, codes, costs, outcome = out[0], out[1].astype(np.int64), out[2], out[3].astype(np.int64)
    return arm._memory, poses, wanted, np.ones(arm.n), True, True, joints, codes, costs, outcome


def single_works(arm: SerialArm) -> dict[str, Work]:
    """Compiled calls of one state each, with arrays made outside."""
    memory, n = arm._memory, arm.n
    q, qd, qdd = states(arm, CALLS)
    pose, jacobian, none, torque, found = np.eye(4), np.zeros((6, n)), np.zeros(0), np.zeros(n), np.zeros(n)
    full = list(zip(q, qd, qdd, strict=True))
    solve = ENTRIES[arm.solver.kind]
    return {
        FORWARD: each(calls.tool_poses, ((memory, a, pose) for a in q)),
        JACOBIAN: each(calls.jacobians, ((memory, a, jacobian) for a in q)),
        INVERSE: each(solve, (solving(arm, pose) for pose in arm.forward(q))),
        TORQUES: each(calls.inverse_dynamics, ((memory, *state, none, torque) for state in full)),
        ACCELERATIONS: each(calls.forward_dynamics, ((memory, *state, none, found) for state in full)),
    }


def method_works(arm: SerialArm) -> dict[str, Work]:
    """What a user calls: arguments are looked at, results are arrays of their own."""
    q, qd, qdd = states(arm, CALLS)
    pairs = list(zip(q, qd, strict=True))
    return {
        FORWARD: each(arm.forward, ((a,) for a in q)),
        JACOBIAN: each(arm.jacobian, ((a,) for a in q)),
        INVERSE: each(arm.inverse, ((pose,) for pose in arm.forward(q))),
        TORQUES: each(arm.torques, zip(q, qd, qdd, strict=True)),
        ACCELERATIONS: each(arm.accelerations, zip(q, qd, qdd, strict=True)),
        MASS: each(arm.inertia, ((a,) for a in q)),
        GRAVITY: each(arm.gravity, ((a,) for a in q)),
        CORIOLIS: each(arm.coriolis, pairs),
        ENERGY: each(arm.energy, pairs),
    }


def batched_works(arm: SerialArm) -> dict[str, Work]:
    """The same methods with many states in one call."""
    q, qd, qdd = states(arm, BATCH)
    poses, jacobians, found = arm.forward(q), np.empty((BATCH, 6, arm.n)), np.empty_like(q)
    solve, task = ENTRIES[arm.solver.kind], solving(arm, poses)
    return {
        FORWARD: lambda: arm.forward(q, out=poses),
        JACOBIAN: lambda: arm.jacobian(q, out=jacobians),
        INVERSE: lambda: solve(*task),
        TORQUES: lambda: arm.torques(q, qd, qdd, out=found),
        ACCELERATIONS: lambda: arm.accelerations(q, qd, qdd, out=found),
    }


def times_of(arm: SerialArm) -> Times:
    found = {(name, SINGLE): microseconds(work, CALLS) for name, work in single_works(arm).items()}
    found |= {(name, METHOD): microseconds(work, CALLS) for name, work in method_works(arm).items()}
    return found | {(name, BATCHED): microseconds(work, BATCH) for name, work in batched_works(arm).items()}


# --- peers -------------------------------------------------------------------------------------------


def peer_case(arm: SerialArm) -> dict[str, Any]:
    """The arm as the peers' scripts get it, and numbers by which they see that they have the same one."""
    links = arm.links
    low, high = ranges(arm)
    probe = low + (high - low) * np.linspace(0.3, 0.6, arm.n)
    parts = arm.parts(probe, probe, probe)
    case: dict[str, Any] = {name: links[name] for name in ("a", "d", "theta", "mass", "rotor")}
    case |= {
        "alpha": np.arctan2(links["sa"], links["ca"]),
        "centre": np.stack([links[f"c{axis}"] for axis in "xyz"], axis=1),
        "inertia": np.stack([links[f"i{pair}"] for pair in ("xx", "yy", "zz", "xy", "xz", "yz")], axis=1),
        "gravity": np.array([arm.arm[0].gx, arm.arm[0].gy, arm.arm[0].gz]),
        "tool": np.linalg.inv(arm.frames(probe)[-2]) @ arm.forward(probe),
        "low": low,
        "high": high,
        "probe": probe,
        "pose": arm.forward(probe),
        "torques": parts["inertial"] + parts["coriolis"] + parts["gravity"],
        "inertia_matrix": arm.inertia(probe),
        "gravity_torques": parts["gravity"],
        "coriolis_torques": parts["coriolis"],
        "kinetic_energy": arm.energy(probe, probe)[0],
    }
    plain = {name: value.tolist() for name, value in case.items()}
    return {**plain, "calls": CALLS, "batch": BATCH, "round": ROUND, "repeats": REPEATS}


class Peer:
    """A program that was measured, or why it was not."""

    def __init__(self, name: str, script: str, case: dict[str, Any]):
        self.name = name
        self.found, self.missing = peers.measure_many(script, case)

    def against(self, what: str, how: str) -> dict[str, Any]:
        """`what` is its key, `how` the name of the function that was called."""
        if self.missing:
            return {"peer": f"{self.name} (skipped: {self.missing})"}
        return {"peer": f"{self.name}, {how}", "peer_value": self.found.get(what)}


def rows_of(robot: str) -> list[Result]:
    arm = SerialArm.of(robot)
    times, case = times_of(arm), peer_case(arm)
    pinocchio = Peer("Pinocchio", "arm_pinocchio.py", case)
    eaik = Peer("EAIK", "arm_eaik.py", case)
    toolbox = Peer("Robotics Toolbox", "arm_robotics_toolbox.py", case)

    def row(function: str, way: str, note: str = "", *, target: float | None = None, **peer: Any) -> Result:
        metric = f"{robot}: {function}, {way}{note}"
        return duration(metric, times[function, way], "µs", target=target, **peer)

    # What Pinocchio computes stays in its data or is copied from there; results of SerialArm's methods are new arrays.
    of_one: dict[str, dict[str, Any]] = {
        FORWARD: pinocchio.against("tool's pose", "framesForwardKinematics and the tool's matrix"),
        JACOBIAN: pinocchio.against(JACOBIAN, "computeFrameJacobian"),
        INVERSE: eaik.against(INVERSE, "IK"),
        TORQUES: pinocchio.against(TORQUES, "rnea"),
        ACCELERATIONS: pinocchio.against(ACCELERATIONS, "aba"),
        MASS: pinocchio.against(MASS, "crba, which fills its upper half"),
        GRAVITY: pinocchio.against(GRAVITY, "computeGeneralizedGravity"),
        CORIOLIS: pinocchio.against(CORIOLIS, "computeCoriolisMatrix"),
        ENERGY: pinocchio.against(ENERGY, "computeKineticEnergy and computePotentialEnergy"),
    }
    rows = []
    for way in (SINGLE, METHOD):
        for function, peer in of_one.items():
            if (function, way) in times:
                rows.append(row(function, way, target=peer.get("peer_value"), **peer))
    rows += [
        row(FORWARD, SINGLE, ", against frames alone", **pinocchio.against(FORWARD, "forwardKinematics")),
        row(FORWARD, BATCHED, **pinocchio.against(FORWARD, "forwardKinematics, one by one")),
        row(JACOBIAN, BATCHED, **pinocchio.against(JACOBIAN, "computeFrameJacobian, one by one")),
        row(INVERSE, BATCHED, target=MOST_INVERSE, **eaik.against(f"{INVERSE}, batched", "IK_batched, one thread")),
    ]
    for function, name in ((TORQUES, "rneaInParallel"), (ACCELERATIONS, "abaInParallel")):
        many = f"{function}, batched"
        peer = pinocchio.against(many, f"{name}, one thread")
        rows.append(row(function, BATCHED, target=pinocchio.found.get(many), **peer))
    against = ", against the Robotics Toolbox"
    for function, key, how in (
        (FORWARD, FORWARD, "fkine"),
        (JACOBIAN, JACOBIAN, "jacob0"),
        (INVERSE, "one inverse solution", "ik_LM, which finds one"),
        (TORQUES, TORQUES, "rne"),
        (ACCELERATIONS, ACCELERATIONS, "accel"),
    ):
        rows.append(row(function, METHOD, against, **toolbox.against(key, how)))
    return rows
