"""Wheel encoders, odometry, slip and noise: bounds and statistics in closed form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.scenario.kinematics.schema import CastorWheel, WheeledRobot
from botz.verify.checks import EPS, Check, close, worst
from botz.verify.kinematics import robots

SIGMAS = 5.0
"""Width of statistical bounds: a normal variable is outside with probability 6e-7; the seed is fixed besides."""


def readings_of(samples: int) -> int:
    """Encoder readings for statistics: more of them narrow the bounds."""
    return min(200_000, 60 * samples)


def odometry_within_quantisation(samples: int) -> Iterator[Check]:
    """|error| ≤ r τ (1 + |Θ| + S/b): each wheel's angle is known to one tick τ, and errors never add up."""
    rng = np.random.default_rng(60)
    b, r, time = 0.4, 0.05, 4.0
    for ticks in (10**9, 4096, 32):
        ratios, headings = [], []
        for _ in range(min(samples, 60)):
            spec = robots.differential(track=b, radius=(r, r), encoder={"ticks": ticks})
            engine = robots.engine_of(spec, pose=tuple(rng.uniform(-1, 1, 3)), odometry_rate=50.0)
            right, left = rng.uniform(-8, 8, 2)
            engine.inputs[:] = [right if "right" in c.name else left for c in engine.inputs_table]
            row = robots.rollout(engine, round(time / 0.001))
            gap = (robots.value(engine, row, "r/odometry/pose") - robots.value(engine, row, "r/pose"))[0]
            tick = 2 * np.pi / ticks
            turned, path = abs(right - left) * r * time / b, (abs(right) + abs(left)) / 2 * r * time
            rounding = time / 0.001 * EPS * 10
            ratios.append(np.hypot(gap[0], gap[1]) / (r * tick * (1 + turned + path / b) + rounding))
            headings.append(abs(gap[2]) / (r * tick / b + rounding))
        why = "Shown as a part of the bound: at most 1."
        yield worst(f"odometry, {ticks} ticks a turn: position error / bound", ratios, 1.0, why)
        yield worst(
            f"odometry, {ticks} ticks a turn: heading error / bound", headings, 1.0, "|error| ≤ r τ / b. At most 1."
        )


def odometry_gap(spec: WheeledRobot, rng: np.random.Generator, *, odometry_rate: float = 100.0):
    """Largest error of the odometry after half a second, without slip and with 10⁹ ticks; and the engine."""
    plain = spec.model_dump()
    for wheel in plain["wheels"].values():
        wheel["encoder"], wheel["slip"] = {"ticks": 10**9}, {}
    engine = robots.engine_of(
        robots.robot(plain["wheels"], drives=plain["drives"], steering=plain["steering"]),
        step=0.001,
        odometry_rate=odometry_rate,
    )
    model = next(iter(engine.robots.values()))
    engine.inputs[:] = engine.resolve_command("r", {"twist": robots.random_admissible_twist(rng, model)})
    # The steering is already where it is commanded: odometry knows its angle only at its own readings.
    groups = engine.state.groups
    groups["steering"] = groups["odometry_steering"] = engine.inputs[model.n_rates :]
    row = robots.rollout(engine, 500)
    gap = (robots.value(engine, row, "r/odometry/pose") - robots.value(engine, row, "r/pose"))[0]
    return float(np.abs(gap).max()), engine


def has_driven_castors(spec: WheeledRobot) -> bool:
    return any(isinstance(wheel, CastorWheel) and wheel.driven for wheel in spec.wheels.values())


def odometry_of_shipped_robots(samples: int) -> Iterator[Check]:
    """Without slip and with 10⁹ ticks the odometry is the truth, for every robot that holds its steering."""
    del samples
    rng = np.random.default_rng(61)
    for name, spec in robots.shipped_robots().items():
        if has_driven_castors(spec):
            continue  # their pivots turn between two readings: odometry_of_driven_castors
        gap, engine = odometry_gap(spec, rng)
        model = next(iter(engine.robots.values()))
        gain = (
            np.abs(model.inverse_matrix(model.wheel_headings(engine.state.groups["steering"]))[0]).sum()
            * model.radius.max()
        )
        tolerance = 1e-9 * 2 * np.pi * gain * 10 + 500 * EPS * 10
        why = "One tick through the gain of the wheels, ten times for the path's turn."
        yield close(f"odometry equals truth: {name}", 0.0, gap, tolerance, why)


def slip_of_one_axle(samples: int) -> Iterator[Check]:
    """Four driven wheels, the front axle slips: least squares is the mean of what the wheels ask for, (1 − s/2) r ω."""
    del samples
    radius, speed = 0.1, 5.0
    for slip in (0.1, 0.5, 0.9):
        wheels = {
            f"{x_name}_{y_name}": {
                "type": "fixed", "position": [x, y], "radius": radius, "driven": True,
                "slip": {"mean": slip if x > 0 else 0.0},
            }
            for x_name, x in (("front", 0.2), ("rear", -0.2))
            for y_name, y in (("left", 0.15), ("right", -0.15))
        }  # fmt: skip
        engine = robots.engine_of(robots.robot(wheels))
        engine.inputs[:] = speed
        row = robots.rollout(engine, 10)
        expected = (1 - slip / 2) * radius * speed
        measured = float(robots.value(engine, row, "r/twist")[0, 0])
        yield close(
            f"slip of one axle of four driven wheels, s = {slip:g} [m/s]", expected, measured, 20 * EPS, "A mean."
        )


def odometry_of_driven_castors(samples: int) -> Iterator[Check]:
    """Pivots turn between two readings; odometry takes them halfway, which is the midpoint rule: error ∝ interval²."""
    del samples
    for name, spec in robots.shipped_robots().items():
        if not has_driven_castors(spec):
            continue
        errors = [odometry_gap(spec, np.random.default_rng(61), odometry_rate=rate)[0] for rate in (50.0, 100.0, 200.0)]
        for number, pair in enumerate((errors[:2], errors[1:])):
            order = float(np.log2(pair[0] / pair[1]))
            why = "Order 2; what is left of order 4 changes it by a few per cent at these intervals."
            yield close(f"odometry of driven castors: order, {name}, {50 * 2**number} Hz", 2.0, order, 0.1, why)


def slip_shortens_the_way(samples: int) -> Iterator[Check]:
    """With slip s on all wheels, true way / odometry's way = 1 − s, and the same for the angle turned."""
    rng = np.random.default_rng(62)
    ratio, angle = [], []
    for _ in range(min(samples, 100)):
        s, speed = rng.uniform(-0.5, 0.5), rng.uniform(2, 8)
        spec = robots.differential(encoder={"ticks": 10**9}, slip={"mean": s})
        engine = robots.engine_of(spec)
        engine.inputs[:] = speed
        row = robots.rollout(engine, 1000)
        ratio.append(
            robots.value(engine, row, "r/pose")[0, 0] / robots.value(engine, row, "r/odometry/pose")[0, 0] - (1 - s)
        )
        engine.reset(np.random.default_rng(0))
        engine.inputs[:] = [speed if "right" in c.name else -speed for c in engine.inputs_table]
        row = robots.rollout(engine, 1000)
        angle.append(
            robots.value(engine, row, "r/pose")[0, 2] / robots.value(engine, row, "r/odometry/pose")[0, 2] - (1 - s)
        )
    why = "A tick of 6e-9 rad in at least 2 rad, times 1 − s ≤ 1.5, and 1000 roundings."
    tolerance = 1.5 * 2 * np.pi * 1e-9 / 2 + 1000 * EPS
    yield worst("slip: true way / odometry's way = 1 − s", ratio, tolerance, why)
    yield worst("slip: true turn / odometry's turn = 1 − s", angle, tolerance, why)


def slip_of_one_wheel(samples: int) -> Iterator[Check]:
    """Slip s of the right wheel alone turns a straight drive: θ' = −s r ω / b; its slip channel reads −s r ω."""
    del samples
    s, speed, b, r = 0.1, 6.0, 0.4, 0.05
    plain = robots.differential(track=b, radius=(r, r)).model_dump()
    plain["wheels"]["right"]["slip"] = {"mean": s}
    engine = robots.engine_of(robots.robot(plain["wheels"]))
    engine.inputs[:] = speed
    row = robots.rollout(engine, 1000)
    why = "1000 additions of an angle below 1 rad."
    yield close(
        "slip of one wheel: yaw after 1 s [rad]",
        -s * r * speed / b,
        robots.value(engine, row, "r/pose")[0, 2],
        1000 * EPS,
        why,
    )
    yield close(
        "slip of one wheel: its channel [m/s]",
        -s * r * speed,
        robots.value(engine, row, "r/right/slip")[0, 0],
        50 * EPS,
        why,
    )


def slip_of_a_ball(samples: int) -> Iterator[Check]:
    """A ball slips alike in all directions: v = (1 − s) r (ω_1, ω_2)."""
    del samples
    s, r, forward, side = 0.2, 0.1, 3.0, -2.0
    ball = {"type": "spherical", "position": [0.0, 0.0], "radius": r, "driven": True, "slip": {"mean": s}}
    engine = robots.engine_of(robots.robot({"ball": ball}))
    engine.inputs[:] = [side if "side" in channel.name else forward for channel in engine.inputs_table]
    x, y, _ = robots.value(engine, robots.rollout(engine, 1000), "r/pose")[0]
    why = "1000 additions of a way below 1 m."
    yield close("slip of a ball: way forward [m]", (1 - s) * r * forward, x, 1000 * EPS, why)
    yield close("slip of a ball: way to the side [m]", (1 - s) * r * side, y, 1000 * EPS, why)


def encoder_noise_statistics(samples: int) -> Iterator[Check]:
    """Reading − angle has mean −τ/2 and variance σ² + τ²/12 for noise σ and ticks of τ, σ well above τ."""
    count = readings_of(samples)
    sigma, ticks = 0.05, 1024
    spec = robots.differential(encoder={"ticks": ticks, "noise": sigma})
    engine = robots.engine_of(spec, odometry_rate=1000.0, seed=7)
    engine.inputs[:] = 3.0
    rows = robots.rollout(engine, count, every=1)
    tick = 2 * np.pi / ticks
    gaps = np.concatenate(
        [
            robots.value(engine, rows, f"r/{w}/ticks") * tick - robots.value(engine, rows, f"r/{w}/angle")
            for w in ("left", "right")
        ]
    )
    deviation = np.sqrt(sigma**2 + tick**2 / 12)
    why = f"{2 * count} readings: {SIGMAS:g} standard errors, σ/√n and σ/√(2n)."
    n = 2 * count
    yield close("encoder noise: mean [rad]", -tick / 2, gaps.mean(), SIGMAS * deviation / np.sqrt(n), why)
    yield close(
        "encoder noise: standard deviation [rad]", deviation, gaps.std(), SIGMAS * deviation / np.sqrt(2 * n), why
    )
    lag = float(np.corrcoef(gaps[1:], gaps[:-1])[0, 1])
    yield close(
        "encoder noise: correlation of successive readings", 0.0, lag, SIGMAS / np.sqrt(n), "Independent: 1/√n."
    )


def slip_noise_statistics(samples: int) -> Iterator[Check]:
    """v_x = r ω (1 − (s_R + s_L)/2), θ' = r ω (s_L − s_R)/b: normal with σ/√2 and √2 σ, drawn at every reading."""
    count = readings_of(samples)
    sigma, mean, speed, b, r = 0.05, 0.1, 4.0, 0.4, 0.05
    spec = robots.differential(track=b, radius=(r, r), slip={"mean": mean, "noise": sigma})
    engine = robots.engine_of(spec, odometry_rate=1000.0, seed=8)
    engine.inputs[:] = speed
    twists = robots.value(engine, robots.rollout(engine, count, every=1), "r/twist")
    v, turn = r * speed * sigma / np.sqrt(2), r * speed * sigma * np.sqrt(2) / b
    why = f"{count} draws: {SIGMAS:g} standard errors."
    yield close(
        "slip noise: mean speed [m/s]", r * speed * (1 - mean), twists[:, 0].mean(), SIGMAS * v / np.sqrt(count), why
    )
    yield close(
        "slip noise: standard deviation of the speed [m/s]", v, twists[:, 0].std(), SIGMAS * v / np.sqrt(2 * count), why
    )
    yield close(
        "slip noise: standard deviation of the yaw rate [rad/s]",
        turn,
        twists[:, 2].std(),
        SIGMAS * turn / np.sqrt(2 * count),
        why,
    )


def slip_noise_random_walk(samples: int) -> Iterator[Check]:
    """Heading after N readings is a random walk: σ_θ = r ω Δt σ √(2 (N − 1)) / b; the first slip is the mean."""
    runs = min(4000, 50 * max(1, samples // 40))
    sigma, speed, b, r, readings = 0.1, 4.0, 0.4, 0.05, 20
    spec = robots.differential(track=b, radius=(r, r), slip={"noise": sigma})
    many = {f"r{i}": spec for i in range(50)}
    finals = []
    for seed in range(runs // 50):
        engine = robots.engine_of(many, step=0.01, odometry_rate=100.0, seed=seed)
        engine.inputs[:] = speed
        row = robots.rollout(engine, readings)
        finals += [float(robots.value(engine, row, f"{name}/pose")[0, 2]) for name in many]
    wanted = r * speed * 0.01 * sigma * np.sqrt(2 * (readings - 1)) / b
    why = f"{runs} robots: {SIGMAS:g} standard errors, σ/√(2n)."
    yield close(
        "slip noise: spread of headings after 20 readings [rad]",
        wanted,
        float(np.std(finals)),
        SIGMAS * wanted / np.sqrt(2 * runs),
        why,
    )
