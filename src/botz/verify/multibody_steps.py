"""What steps and repetitions may change and what not: convergence, methods, and the same numbers again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log2, pi, sqrt

import numpy as np

from botz.verify.checks import FAST, Check, close, same, worst
from botz.verify.multibody_air import K
from botz.verify.multibody_rig import CORNERS, GRAVITY, SENSES, Data, Run, lophorina, run_of

HOVER = sqrt(2.132 * GRAVITY / 4.0 / K)
"""Speed of Lophorina's propellers at hover [rad/s]."""


FASTER = 4.0
"""By which the rear propellers turn in the manoeuvre [rad/s]."""


def manoeuvre(step: float, seconds: float, method: str = "rk4") -> np.ndarray:
    """Place and attitude after all tilts are sent to 5° and the rear pair turns faster, from hover."""
    turning = {f"spin_{corner}": SENSES[corner] * HOVER for corner in CORNERS}
    run = run_of(lophorina(), step=step, method=method, pose={"z": 1.0}, start_speed=turning)
    commands = {f"tilt_{corner}/position": pi / 36.0 for corner in CORNERS}
    for corner in CORNERS:
        commands[f"spin_{corner}/speed"] = SENSES[corner] * (HOVER + (FASTER if "rear" in corner else 0.0))
    run.command(commands).run(seconds)
    return np.concatenate([run.of("pose")[:3], run.of("attitude")])


def step_halving(samples: int) -> Iterator[Check]:
    """From 60 µs to 7.5 µs each halving of the step halves what is missing: between steps Runge-Kutta is of fourth
    order, but a servo's reference stands still through each, which is of first order."""
    seconds = 0.12 if samples <= FAST else 0.6
    ends = [manoeuvre(step, seconds) for step in (60e-6, 30e-6, 15e-6, 7.5e-6)]
    gaps = [float(np.linalg.norm(a - b)) for a, b in pairwise(ends)]
    orders = [log2(a / b) for a, b in pairwise(gaps)]
    why = "Differences of halved steps while the tilts move; the second order's share is ω h/2 = 0.6 % of the first's."
    yield close("step halving, 60 to 15 µs: order", 1.0, orders[0], 0.02, why)
    yield close("step halving, 30 to 7.5 µs: order", 1.0, orders[1], 0.02, why)
    # A reference that is half a step ahead, at 0.5 rad/s: its tilts are h/4 rad/s off.
    tilt = 0.5 * 0.5 * 60e-6
    why = "What is missing at 60 µs, by the sum of the halvings: tilts half a step ahead on their way, times g t²/2."
    yield close("step halving: missing at 60 µs [m, rad]", 0.0, 2.0 * gaps[0], tilt * GRAVITY * seconds**2 + tilt, why)


def long_steps(samples: int) -> Iterator[Check]:
    """The implicit method flies the same manoeuvre with steps of 1 ms: of first order, so that twice its distance from
    the run of half the step is what is missing."""
    del samples
    seconds = 0.6
    true = manoeuvre(6e-5, seconds)
    for method in ("implicit", "implicit-fast"):
        long, half = (manoeuvre(step, seconds, method) for step in (1e-3, 5e-4))
        missing, gap = long - true, long - half
        # First order: e(h) = c h + d h², and 2 (e(h) − e(h/2)) = c h + 3/2 d h²; a quarter for d.
        why = "Twice the distance to half the step, by Richardson, and a quarter of it for the second order."
        yield worst(
            f"{method} at 1 ms: missing, by Richardson's estimate [m, rad]",
            missing - 2.0 * gap,
            0.25 * 2.0 * float(np.abs(gap).max()) + 1e-6,
            why,
        )
        # Besides half a step's way, propellers at full spin gain or lose momentum (see momentum at full speed).
        why = "What the estimate before says, 2.6e-3, rounded up: 2 % of the 0.15 m and 0.15 rad of the manoeuvre."
        yield worst(f"{method} at 1 ms: missing after 0.6 s [m, rad]", missing, 3e-3, why)


def noisy() -> Data:
    """Lophorina with every random number there is: turbulence comes with the world."""
    sensors = {
        "imu": {
            "type": "imu",
            "link": "body",
            "rate": 200.0,
            "gyro_noise": 1e-3,
            "accel_noise": 1e-2,
            "gyro_bias_walk": 1e-4,
        },
        "baro": {"type": "barometer", "link": "body", "rate": 50.0, "noise": 2.0, "drift": 0.1},
        "gps": {"type": "gps", "link": "body", "noise": [0.5, 0.5, 1.0]},
    }
    surface = {"type": "lift-drag", "link": "body", "area": 0.02, "cd0": 0.5, "cla": 0.0, "radial_symmetry": True}
    return lophorina(sensors=sensors, elements={"air": surface})


WINDY: Data = {"wind": {"steady": [1.0, 0.0, 0.0], "turbulence": {"intensity": [0.5, 0.5, 0.2], "length": 5.0}}}


def noisy_run(seed: int = 11) -> Run:
    turning = {f"spin_{corner}": SENSES[corner] * HOVER for corner in CORNERS}
    run = run_of(noisy(), pose={"z": 0.3}, start_speed=turning, world=WINDY, seed=seed)
    commands = {f"spin_{corner}/speed": 0.9 * SENSES[corner] * HOVER for corner in CORNERS}
    return run.command({**commands, "tilt_front_left/position": 0.3})


def again(samples: int) -> Iterator[Check]:
    """The same run gives the same bits: a second time, without rows, in other pieces, and from a snapshot on."""
    del samples
    seconds = 1.0
    first = noisy_run()
    rows = first.record(seconds, every=40)
    second = noisy_run().record(seconds, every=40)

    def alike(a: np.ndarray, b: np.ndarray) -> str:
        return "the same" if np.array_equal(a, b) else f"apart by {np.abs(a - b).max():.3g}"

    why = "Bit for bit; it sinks onto the ground and stands there, in turbulence, with noisy sensors."
    yield same("run twice", "the same", alike(rows, second), why)
    other = noisy_run(seed=12).record(seconds, every=40)
    yield same("run with another seed", "another", "another" if not np.array_equal(rows, other) else "the same", why)
    unseen = noisy_run().run(seconds)
    yield same("run without rows", "the same", alike(state(first), state(unseen)), why)
    pieces = noisy_run()
    for count in (1, 7, 392, 1600, 2000):
        pieces.steps(count)
    yield same("run in other pieces", "the same", alike(state(first), state(pieces)), why)
    looked = noisy_run()
    for _ in range(100):
        looked.steps(40).row()
    yield same("run that is looked at", "the same", alike(state(first), state(looked)), why)
    kept = noisy_run().run(0.4)
    snapshot, done = kept.engine.snapshot(), kept.done
    kept.run(0.5)
    kept.engine.restore(snapshot)
    kept.done = done
    kept.run(0.6)
    yield same("run from a snapshot on", "the same", alike(state(first), state(kept)), why)
    fresh = noisy_run(seed=99)
    fresh.engine.restore(snapshot)
    fresh.done = done
    yield same("run from a snapshot in another engine", "the same", alike(state(first), state(fresh.run(0.6))), why)


def state(run: Run) -> np.ndarray:
    """Everything that an engine remembers, and its next random number."""
    arrays = [np.ravel(one).astype(float) for one in run.engine.state_arrays().values()]
    ahead = np.random.default_rng(0)
    ahead.bit_generator.state = run.engine.rng.bit_generator.state
    return np.concatenate([*arrays, ahead.standard_normal(1)])


FUNCTIONS = (
    step_halving,
    long_steps,
    again,
)
