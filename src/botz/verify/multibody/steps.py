"""What steps and repetitions may change and what not: convergence, methods, and the same numbers again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import cos, log, log2

import numpy as np

from botz.verify.checks import FAST, Check, close, same, worst
from botz.verify.multibody.air import K
from botz.verify.multibody.blades import HOVER, Arm
from botz.verify.multibody.flight import ABOVE, FORE, MASS, SERVO, TILT, Figures
from botz.verify.multibody.rig import CORNERS, SENSES, Data, Run, lophorina, run_of

FASTER, TILT_RATE, TILT_SERVO = 4.0, 0.5, 200.0
"""By which the rear propellers turn faster in the manoeuvre, how fast the tilts go, and their servos [rad/s]."""


def manoeuvring(step: float, method: str = "rk4") -> Run:
    """Lophorina at hover, all tilts sent to 5° and the rear pair to a greater speed."""
    turning = {f"spin_{corner}": SENSES[corner] * HOVER for corner in CORNERS}
    run = run_of(lophorina(), step=step, method=method, pose={"z": 1.0}, start_speed=turning)
    commands = {f"tilt_{corner}/position": TILT for corner in CORNERS}
    for corner in CORNERS:
        commands[f"spin_{corner}/speed"] = SENSES[corner] * (HOVER + (FASTER if "rear" in corner else 0.0))
    return run.command(commands)


def manoeuvre(step: float, seconds: float, method: str = "rk4") -> np.ndarray:
    """Place and attitude at its end."""
    run = manoeuvring(step, method).run(seconds)
    return np.concatenate([run.of("pose")[:3], run.of("attitude")])


IN_PLANE = {0: "x [m]", 2: "z [m]", 4: "pitch [rad]"}
"""Numbers of place and attitude that the manoeuvre is about."""


class Plane:
    """A true run of the manoeuvre in its plane, and what small errors do to it until its end."""

    def __init__(self, step: float, seconds: float, every: int) -> None:
        run = manoeuvring(step)
        rows = run.record(seconds, every=every)
        self.end = np.concatenate([run.of("pose", rows)[-1, :3], run.of("attitude", rows)[-1]])
        self.step, self.between = step, step * every
        self.figures, self.arm = Figures(), Arm()
        self.inertia = float(self.figures.inertia[1, 1])

        def shown(name: str, start: float) -> np.ndarray:
            return np.concatenate([[start], run.of(name, rows)])

        self.pitch = np.concatenate([[0.0], run.of("attitude", rows)[:, 1]])
        self.tilt = np.mean([shown(f"tilt_{corner}/position", 0.0) for corner in CORNERS], axis=0)
        thrust = {c: K * shown(f"spin_{c}/speed", SENSES[c] * HOVER) ** 2 for c in CORNERS}
        self.thrust = np.sum(list(thrust.values()), axis=0)
        self.behind = np.sum([f if "rear" in corner else -f for corner, f in thrust.items()], axis=0)
        """Of the rear pair, less that of the front pair [N]."""
        self.going = np.gradient(self.tilt, self.between)
        """Rate of the tilts [rad/s]."""

    def integral(self, values: np.ndarray) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum(0.5 * self.between * (values[1:] + values[:-1]))])

    def at_end(self, rate: np.ndarray, tilted: np.ndarray, more: np.ndarray) -> list[float]:
        """Errors of x, z and pitch at the end by errors of the pitch's rate, of the tilts and of the thrust in time."""
        # Tilted thrust turns the robot by its lever about the centre of mass, tilting arms by their recoil.
        lever = ABOVE - self.figures.centre + 0.032 * 0.05 / MASS
        turning = self.integral(self.thrust * np.cos(self.tilt) * lever / self.inertia * tilted)
        turned = self.integral(rate + turning) - 4.0 * self.arm.mean / self.inertia * tilted
        lean, off = self.pitch + self.tilt, turned + tilted
        forward = (self.thrust * np.cos(lean) * off + more * np.sin(lean)) / MASS
        upward = (more * np.cos(lean) - self.thrust * np.sin(lean) * off) / MASS
        x, z = (float(self.integral(self.integral(one))[-1]) for one in (forward, upward))
        # The pose is that of the body's origin, below the centre of mass.
        return [x - self.figures.centre * cos(self.pitch[-1]) * float(turned[-1]), z, float(turned[-1])]

    def early(self, time: float) -> list[float]:
        """By references of the tilts that are ahead while they go, which their servos answer as 1 − (1 + ωt) e^(−ωt);
        damping is against the reference's rate, which begins and ends on time."""
        times = self.between * np.arange(len(self.pitch))
        begun, ended = (TILT_SERVO * np.maximum(times - since, 0.0) for since in (0.0, TILT / TILT_RATE))
        answer = (1.0 + ended) * np.exp(-ended) - (1.0 + begun) * np.exp(-begun)
        return self.at_end(np.zeros_like(times), time * TILT_RATE * answer, np.zeros_like(times))


def first_order(plane: Plane, step: float, method: str) -> np.ndarray:
    """Leading terms of an implicit method's error in x, z and pitch, a row each.

    A step's velocities come from accelerations at its begin and its positions from velocities at its end, which
    together shift nothing but the start: ½ h of the first acceleration stays as a speed. What else is of first order
    are wrong forces and moments: speeds behind their servos, tilts ahead of theirs, and the blades."""
    none = np.zeros_like(plane.pitch)
    # ω₊ = ω + h ω_c (command − ω₊): half a step late.
    late = plane.at_end(
        -0.5 * step * plane.behind * FORE / plane.inertia, none, -0.5 * step * np.gradient(plane.thrust, plane.between)
    )
    # A step's reference is that of its end, and explicit stiffness holds the tilt at it: a step early; the true run
    # is early by half a step of its own.
    early = plane.early(step - 0.5 * plane.step)
    # By the rate of the disc, pitch' + tilt', whose integral is the angle; the tilts' servos give way to it.
    torque = plane.arm.torque_per_rate(step, method)
    bent = torque / plane.arm.stiffness * (np.gradient(plane.pitch, plane.between) + plane.going)
    blades = plane.at_end(4.0 * torque / plane.inertia * (plane.pitch + plane.tilt), bent, none)
    # Blades that are not in their plane pull at standing arms when it starts: −Σ I_xz ω².
    start = plane.at_end(np.full_like(none, -0.5 * step * plane.arm.products * HOVER**2 / plane.inertia), none, none)
    return np.array([late, early, blades, start])


def step_halving(samples: int) -> Iterator[Check]:
    """From 60 µs to 7.5 µs each halving of the step halves what is missing: between steps Runge-Kutta is of fourth
    order, but a servo's reference stands still through each, half a step early, which is of first order."""
    seconds = 0.12 if samples <= FAST else 0.6
    steps = (60e-6, 30e-6, 15e-6, 7.5e-6)
    plane = Plane(steps[-1], seconds, 80)
    ends = [*(manoeuvre(step, seconds) for step in steps[:-1]), plane.end]
    gaps = [float(np.linalg.norm(a - b)) for a, b in pairwise(ends)]
    orders = [log2(a / b) for a, b in pairwise(gaps)]
    for name, order, step in (("60 to 15", orders[0], steps[0]), ("30 to 7.5", orders[1], steps[1])):
        # e = c h (1 + a h) has gaps c h/2 (1 + 3/2 a h) and c h/4 (1 + 3/4 a h): their ratio is 2 (1 + 3/4 a h).
        why = "The next order by the tilts' servos, a ≤ ω = 200 rad/s: ¾ ω h/ln 2 of the order."
        yield close(f"step halving, {name} µs: order", 1.0, order, 0.75 * TILT_SERVO * step / log(2.0), why)
    missing = ends[0] - ends[-1]
    for (k, name), wanted in zip(IN_PLANE.items(), plane.early(0.5 * (steps[0] - steps[-1])), strict=True):
        why = "Tilts half a step early while they go; each end of their ramp lasts 1/ω and meets the blades anywhere."
        tolerance = 2.0 / TILT_SERVO / min(TILT / TILT_RATE, seconds) * abs(wanted)
        yield close(f"step halving: missing at 60 µs in {name}", wanted, missing[k], tolerance, why)


def long_steps(samples: int) -> Iterator[Check]:
    """The implicit methods fly the same manoeuvre with steps of 1 ms: of first order, and their error by its theory:
    speeds half a step late, tilts a step early, the flat blades' inertia taken at the steps' begin, and the start."""
    del samples
    step = 1e-3
    plane = Plane(5e-5, 0.6, 20)
    # Next to the leading terms: the ramp's two ends, which last 1/ω of the tilts' servos each and meet the blades at
    # any angle; the body, which gives way to its arms; the next order of the speeds' servos.
    share = 2.0 / TILT_SERVO / (TILT / TILT_RATE) + 4.0 * plane.arm.mean / plane.inertia + 0.5 * SERVO * step
    for method in ("implicit", "implicit-fast"):
        missing = manoeuvre(step, 0.6, method) - plane.end
        terms = first_order(plane, step, method)
        expected, sizes = terms.sum(axis=0), np.abs(terms).sum(axis=0)
        why = f"The leading terms; next to them {share:.2g} of their sizes: ends of the ramp, arms' recoil, ω_c h/2."
        for (k, name), wanted, size in zip(IN_PLANE.items(), expected, sizes, strict=True):
            yield close(f"{method} at 1 ms: missing in {name}", wanted, missing[k], share * size, why)
        why = "The sum of the leading terms' sizes and what is next to them, in pitch, where they are largest."
        yield worst(f"{method} at 1 ms: missing after 0.6 s [m, rad]", missing, (1.0 + share) * float(sizes.max()), why)


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


FUNCTIONS = (step_halving, long_steps, again)
