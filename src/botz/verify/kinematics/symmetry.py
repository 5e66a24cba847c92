"""Wheeled kinematics does not know where it is, which side is left, or how a run was cut into calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from botz.engines.kinematics.engine import KinematicsEngine
from botz.scenario.kinematics.schema import WheeledRobot
from botz.verify.checks import EPS, Check, close, worst
from botz.verify.kinematics import robots

STEPS = 300


def commanded(engine: KinematicsEngine, seed: int) -> None:
    """Random commands for every robot, small enough that a third of a second stays within a few metres."""
    rng = np.random.default_rng(seed)
    for name, model in engine.robots.items():
        engine.inputs[engine.robot_inputs(name)] = robots.random_inputs(rng, model)


def runs_of(samples: int) -> int:
    """A run of every shipped robot counts as 30 samples."""
    return min(100, 1 + samples // 30)


def frame_invariance(samples: int) -> Iterator[Check]:
    """Starting elsewhere, turned by θ₀, moves the whole run: p = p₀ + R(θ₀) p', θ = θ₀ + θ'."""
    rng = np.random.default_rng(80)
    for method in ("arc", "rk4"):
        errors: dict[str, float] = {}
        shipped = robots.shipped_robots()
        for number in range(runs_of(samples)):
            pose = tuple(rng.uniform(-3, 3, 3))
            rows = []
            for start in ((0.0, 0.0, 0.0), pose):
                engine = robots.engine_of(shipped, method=method, pose=start)
                commanded(engine, number)
                rows.append(robots.rollout(engine, STEPS))
            c, s = np.cos(pose[2]), np.sin(pose[2])
            for name in shipped:
                plain, moved = (robots.value(engine, row, f"{name}/pose")[0] for row in rows)
                turned = [
                    c * plain[0] - s * plain[1] + pose[0],
                    s * plain[0] + c * plain[1] + pose[1],
                    plain[2] + pose[2],
                ]
                errors[name] = max(errors.get(name, 0.0), float(np.abs(moved - turned).max()))
        why = f"{STEPS} additions of coordinates up to 10 m and of an angle that turns them."
        yield named_worst(f"frame invariance, {method}", errors, STEPS * EPS * 20, why)


def mirrored_robot(spec: WheeledRobot) -> WheeledRobot:
    """The robot in a mirror along its x axis: left is right, and every angle changes its sign."""
    plain: dict[str, Any] = spec.model_dump(exclude_unset=True)
    for wheel in plain["wheels"].values():
        wheel["position"] = [wheel["position"][0], -wheel["position"][1]]
        for key in ("heading", "roller_angle"):
            if key in wheel:
                wheel[key] = -wheel[key]
    return WheeledRobot.model_validate(plain)


def mirrored_inputs(engine: KinematicsEngine, inputs: np.ndarray) -> np.ndarray:
    flips = ("/steering", "/steering_rate", "/side_speed")
    signs = [-1.0 if channel.name.endswith(flips) else 1.0 for channel in engine.inputs_table]
    return inputs * signs


def mirrored_run(samples: int) -> Iterator[Check]:
    """A mirrored robot with mirrored commands runs the mirrored path: (x, y, θ) ↦ (x, −y, −θ)."""
    shipped = robots.shipped_robots()
    mirrored = {name: mirrored_robot(spec) for name, spec in shipped.items()}
    errors: dict[str, float] = {}
    for number in range(runs_of(samples)):
        original, mirror = robots.engine_of(shipped), robots.engine_of(mirrored)
        commanded(original, number)
        mirror.inputs[:] = mirrored_inputs(original, original.inputs)
        row, other = robots.rollout(original, STEPS), robots.rollout(mirror, STEPS)
        for name in shipped:
            gap = robots.value(original, row, f"{name}/pose")[0] - robots.value(mirror, other, f"{name}/pose")[0] * [
                1,
                -1,
                -1,
            ]
            errors[name] = max(errors.get(name, 0.0), float(np.abs(gap).max()))
    why = "Rounding to nearest is symmetric and the sums run in the same order; a few eps for sums of other order."
    yield named_worst("mirrored robot, mirrored run", errors, 8 * EPS, why)


def named_worst(name: str, errors: dict[str, float], tolerance: float, why: str) -> Check:
    """The largest error of several robots; where it is too large, the name of the check says whose it is."""
    late = [robot for robot, error in errors.items() if not error <= tolerance]
    return worst(
        f"{name} ({', '.join(late)})" if late else f"{name}, every shipped robot", errors.values(), tolerance, why
    )


def noisy_robots() -> dict[str, WheeledRobot]:
    """All shipped robots, every wheel of every second one with noise on its encoder and slip."""
    found = {}
    for number, (name, spec) in enumerate(robots.shipped_robots().items()):
        plain = spec.model_dump(exclude_unset=True)
        if number % 2:
            for wheel in plain["wheels"].values():
                wheel["encoder"], wheel["slip"] = {"noise": 0.01}, {"mean": 0.02, "noise": 0.03}
        found[name] = WheeledRobot.model_validate(plain)
    return found


def chunks_give_the_same_bits(samples: int) -> Iterator[Check]:
    """A run cut into calls of other lengths is the same run, also with noise: the difference is 0 bytes."""
    del samples
    for method in ("arc", "rk4"):
        final = []
        uneven = np.diff(np.round(np.array([0.0, 0.03, 0.07, 0.2, 0.37, 0.7, 1.0]) * STEPS).astype(int)).tolist()
        for sizes in ([STEPS], [1] * STEPS, uneven):
            engine = robots.engine_of(noisy_robots(), method=method, seed=5)
            commanded(engine, 1)
            step = 0
            for size in sizes:
                robots.rollout(engine, size, start=step, every=10 if size > 10 else 0)
                step += size
            final.append(state_bytes(engine))
        why = "Bits are compared: no tolerance."
        yield close(f"cut into single steps, {method}: states that differ", 0, differing(final[0], final[1]), 0, why)
        yield close(f"cut into uneven pieces, {method}: states that differ", 0, differing(final[0], final[2]), 0, why)


def restored_run_continues(samples: int) -> Iterator[Check]:
    """A snapshot restored into a new engine continues with the same bits, also with noise."""
    del samples
    engine = robots.engine_of(noisy_robots(), seed=6)
    commanded(engine, 2)
    first, rest = STEPS // 2 - 3, STEPS // 2 + 3
    robots.rollout(engine, first)
    snapshot = engine.snapshot()
    robots.rollout(engine, rest, start=first)
    other = robots.engine_of(noisy_robots(), seed=99)
    robots.rollout(other, 11)
    other.restore(snapshot)
    robots.rollout(other, rest, start=first)
    count = differing(state_bytes(engine), state_bytes(other))
    yield close("restored snapshot: states that differ", 0, count, 0, "")
    engine.restore(snapshot)
    robots.rollout(engine, rest, start=first)
    again = differing(state_bytes(engine), state_bytes(other))
    yield close("snapshot restored where it was taken: states that differ", 0, again, 0, "")


def state_bytes(engine: KinematicsEngine) -> dict[str, bytes]:
    row = np.zeros(engine.channels.width)
    engine.observe(row)
    arrays = {name: array.tobytes() for name, array in engine.state_arrays().items()}
    return arrays | {"observed": row.tobytes(), "random": repr(engine.rng.bit_generator.state).encode()}


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> int:
    return sum(one[name] != other[name] for name in one)
