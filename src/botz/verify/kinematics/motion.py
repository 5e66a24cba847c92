"""Wheeled kinematics in time: paths with a closed form, the order of both methods, an independent ODE solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from botz.verify.checks import EPS, Check, close, worst
from botz.verify.kinematics import robots

STEPS = 1000


def circle_closes(samples: int) -> Iterator[Check]:
    """After θ' T = 2π a robot stands where it started; halfway it is a diameter away."""
    del samples
    b, r, dt, v = 0.4, 0.05, 0.001, 0.5
    radius = v * STEPS * dt / (2 * np.pi)
    for method in ("arc", "rk4"):
        # N sums whose rounding is half an ulp of at most 2R and of an angle that moves the path by R.
        tolerance = STEPS * EPS * (2 + 2 * np.pi) * radius
        robot = circling(b, r, dt, v, STEPS, method)
        row = robots.rollout(robot, STEPS)
        x, y, theta = robots.value(robot, row, "r/pose")[0]
        why = f"{STEPS} steps, each rounding the position and the angle: N eps (2 + 2π) R."
        if method == "rk4":
            # Simpson's rule over a whole period of a sine has no error, so that rk4 closes the circle as well.
            why += " Simpson's rule over a whole period is exact."
        yield close(f"circle closes, {method}: distance from the start [m]", 0.0, np.hypot(x, y), tolerance, why)
        yield close(f"circle closes, {method}: heading [rad]", 2 * np.pi, theta, STEPS * EPS * 2 * np.pi, why)
    robot = circling(b, r, dt, v, STEPS, "arc")
    x, y, _ = robots.value(robot, robots.rollout(robot, STEPS // 2), "r/pose")[0]
    why = "Arcs are exact: rounding only."
    yield close("half a circle, arc: a diameter to the left [m]", 0.0, np.hypot(x, y - 2 * radius), tolerance, why)

    def half_circle_error(n: int) -> float:
        engine = circling(b, r, dt * STEPS / n, v, n, "rk4")
        x, y, _ = robots.value(engine, robots.rollout(engine, n // 2), "r/pose")[0]
        return float(np.hypot(x, y - 2 * radius))

    why = "rk4 with a constant turn rate is Simpson's rule: error R (θ'h)⁴/2880 · …, next term smaller by (θ'h)²."
    yield order_check("half a circle, rk4: order of the error", half_circle_error, (20, 40), 4, 0.05, why)


def circling(b: float, r: float, dt: float, v: float, steps: int, method: str):
    """A differential drive at speed v that turns once in `steps` steps."""
    engine = robots.engine_of(robots.differential(track=b, radius=(r, r)), step=dt, method=method, odometry_rate=1 / dt)
    turn = 2 * np.pi / (steps * dt)
    engine.inputs[:] = [
        (v + turn * b / 2) / r if "right" in channel.name else (v - turn * b / 2) / r for channel in engine.inputs_table
    ]
    return engine


def order_check(
    name: str, error: Callable[[int], float], steps: tuple[int, int], order: int, tolerance: float, why: str
) -> Check:
    """p = log₂ e(h)/e(h/2) from two runs, the second with half the step."""
    coarse, fine = error(steps[0]), error(steps[1])
    measured = np.log(coarse / fine) / np.log(steps[1] / steps[0]) if coarse > 0 and fine > 0 else np.nan
    return close(name, order, measured, tolerance, why)


def castor_follows_the_tractrix(samples: int) -> Iterator[Check]:
    """tan((χ−ψ)/2) = tan((χ−ψ₀)/2) e^{−vt/|d|} for a pivot that moves straight along χ."""
    del samples
    v, d, start, time = 0.4, 0.1, 2.5, 0.5

    def final_angle(n: int, method: str) -> float:
        dt = round(time / n, 9)
        spec = robots.differential(castor={"position": [0.3, 0.0], "offset": -d, "heading": start})
        engine = robots.engine_of(spec, step=dt, method=method, odometry_rate=1 / dt)
        engine.inputs[:] = v / 0.05
        return start + float(robots.value(engine, robots.rollout(engine, n), "r/castor/steering")[0])

    wanted = 2 * np.arctan(np.tan(start / 2) * np.exp(-v * time / d))
    for method, order, n in (("arc", 2, 40), ("rk4", 4, 20)):

        def error(n: int, method: str = method) -> float:
            return abs(final_angle(n, method) - wanted)

        why = f"The next term of the error is smaller by about v h/|d| = {v * time / n / d:.2f}."
        yield order_check(f"castor on a tractrix, {method}: order of the error", error, (n, 2 * n), order, 0.25, why)
    # Error constants: arc (midpoint) |ψ'''| h² T/24-like, rk4 h⁴ T/120-like, with rates v/|d| = 4 /s.
    rate, h = v / d, 1e-3
    for method, order in (("arc", 2), ("rk4", 4)):
        why = f"h = 1 ms; error at most (v h/|d|)^{order} · v T/|d|, and 500 roundings."
        tolerance = (rate * h) ** order * rate * time + 500 * EPS * start
        yield close(
            f"castor on a tractrix, {method}: final angle [rad]", wanted, final_angle(500, method), tolerance, why
        )


def castor_in_a_steady_turn(samples: int) -> Iterator[Check]:
    """In a steady turn a castor's axle points at the centre of rotation: sin(β) = −d / distance of the pivot."""
    del samples
    v, turn, d, reach = 0.3, 0.8, -0.08, 0.25
    spec = robots.differential(castor={"position": [reach, 0.0], "offset": d})
    engine = robots.engine_of(spec, step=0.01)
    engine.inputs[:] = [
        (v + turn * 0.2) / 0.05 if "right" in c.name else (v - turn * 0.2) / 0.05 for c in engine.inputs_table
    ]
    row = robots.rollout(engine, 2000)
    psi = float(robots.value(engine, row, "r/castor/steering")[0])
    # Wheel at pivot + d e, axle a = k×e, through the centre (0, v/θ'): (centre − pivot)·e = d.
    gap = float((0.0 - reach) * np.cos(psi) + v / turn * np.sin(psi) - d)
    why = "After 20 s the start is forgotten (e^-75); rounding of the pivot's rate remains."
    yield close("castor in a steady turn: distance of its axle from the centre [m]", 0.0, gap, 1e-12, why)


def steering_against_dop853(samples: int) -> Iterator[Check]:
    """A bicycle whose steering moves at its limit: x' = v cos θ, y' = v sin θ, θ' = v tan(ρ t)/L."""
    del samples
    from scipy.integrate import solve_ivp  # slow to import, and only this check needs it

    v, base, rate, time = 1.0, 1.0, 0.5, 2.0

    def motion(t: float, state: np.ndarray) -> list[float]:
        return [v * np.cos(state[2]), v * np.sin(state[2]), v * np.tan(rate * t) / base]

    solved = solve_ivp(motion, (0.0, time), [0.0, 0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]

    def final_pose(n: int, method: str) -> np.ndarray:
        dt = round(time / n, 9)
        engine = robots.engine_of(robots.bicycle(base=base, rate=rate), step=dt, method=method, odometry_rate=1 / dt)
        engine.inputs[:] = [v / 0.3, 1.5]  # the target angle lies beyond what the steering reaches in this time
        return robots.value(engine, robots.rollout(engine, n), "r/pose")[0]

    for method, order, n in (("arc", 2, 50), ("rk4", 4, 50)):

        def error(n: int, method: str = method) -> float:
            return float(np.hypot(*(final_pose(n, method) - solved)[:2]))

        why = "The next term is smaller by about (2 rad/s · h)."
        yield order_check(
            f"moving steering, {method} against DOP853: order of the error", error, (n, 2 * n), order, 0.2, why
        )
    # tan'' at the last angle is 2 tan δ (1 + tan² δ) ρ² < 3: error constants of midpoint and Simpson's rules.
    ends = {method: final_pose(500, method) for method in ("arc", "rk4")}
    h = time / 500
    for method, tolerance in (("arc", 3 * time / 24 * h**2 * 3), ("rk4", 20 * h**4 + 500 * EPS * 4)):
        gap = np.abs(ends[method] - solved).max()
        why = "h = 4 ms: arc C h² with C = T max|θ'''|/24 and its reach, rk4 20 h⁴."
        yield close(f"moving steering, {method} against DOP853: final pose", 0.0, gap, tolerance, why)
    heading = -v / (base * rate) * np.log(np.cos(rate * time))
    why = "θ = −v/(L ρ) ln cos(ρ t); rk4 is Simpson's rule: T h⁴/2880 times the fourth derivative of θ', below 30."
    tolerance = 30 * time / 2880 * h**4 + 500 * EPS * 4
    yield close("moving steering, rk4: heading in closed form [rad]", heading, ends["rk4"][2], tolerance, why)


def steering_reaches_its_target(samples: int) -> Iterator[Check]:
    """δ = min(ρ t, δ_f): θ = −v/(L ρ) ln cos δ_f + v tan δ_f (T − δ_f/ρ)/L."""
    del samples
    v, base, rate, target, time, dt = 1.0, 1.0, 0.5, 0.4003, 1.5, 0.001
    heading = -v / (base * rate) * np.log(np.cos(target)) + v * np.tan(target) * (time - target / rate) / base
    for method in ("arc", "rk4"):
        engine = robots.engine_of(robots.bicycle(base=base, rate=rate), step=dt, method=method)
        engine.inputs[:] = [v / 0.3, target]
        half = robots.value(engine, robots.rollout(engine, 400), "r/front/steering")[0]
        row = robots.rollout(engine, 1100, start=400)
        why = "400 additions of the angle."
        yield close(f"steering at its rate limit, {method}: angle on the way [rad]", rate * 0.4, half, 400 * EPS, why)
        why = "The target itself, no rounding."
        yield close(
            f"steering at its rate limit, {method}: angle at the end [rad]",
            target,
            robots.value(engine, row, "r/front/steering")[0],
            EPS,
            why,
        )
        # The step in which the target is reached is taken at the target: off by up to ρh; midpoints add h²/24.
        bound = v / base * rate * dt**2 / np.cos(target) ** 2 * (1 + time)
        why = "Its last step is taken at the target: v ρ h² / (L cos² δ_f)."
        yield close(
            f"steering at its rate limit, {method}: heading [rad]",
            heading,
            robots.value(engine, row, "r/pose")[0, 2],
            bound,
            why,
        )


def synchro_keeps_heading(samples: int) -> Iterator[Check]:
    """Three wheels that steer and drive together translate: θ' = 0 and the path is that of a point."""
    rng = np.random.default_rng(40)
    places = [(0.2 * np.cos(a), 0.2 * np.sin(a)) for a in (0.3, 2.4, 4.5)]
    wheels = {
        f"w{i}": {"type": "steered", "driven": True, "radius": 0.05, "position": list(place)}
        for i, place in enumerate(places)
    }
    names = list(wheels)
    spec = robots.robot(
        wheels, drives={"traction": {"wheels": names}}, steering={"all": {"wheels": names, "limit": np.pi}}
    )
    turned, moved = [], []
    for _ in range(min(samples, 300)):
        heading, angle, speed = rng.uniform(-3, 3, 3)
        engine = robots.engine_of(spec, pose=(0.0, 0.0, heading))
        engine.inputs[:] = speed, angle
        x, y, theta = robots.value(engine, robots.rollout(engine, 1000), "r/pose")[0]
        turned.append(theta - heading)
        moved.append(np.hypot(x - 0.05 * speed * np.cos(heading + angle), y - 0.05 * speed * np.sin(heading + angle)))
    why = "Residual yaw of a least-squares inverse: some 100 eps · 0.15 m/s / 0.2 m, for 1 s."
    yield worst("synchro drive keeps its heading [rad]", turned, 100 * EPS, why)
    why = "1000 additions of a path of at most 0.15 m."
    yield worst("synchro drive: path of a point [m]", moved, 1000 * EPS * 0.3, why)


def arcs_compose(samples: int) -> Iterator[Check]:
    """One arc of a second is a thousand arcs of a millisecond: exp(ξ) = exp(ξ/n)ⁿ."""
    rng = np.random.default_rng(41)
    errors = []
    for _ in range(min(samples, 300)):
        pose = tuple(rng.uniform(-2, 2, 3))
        speeds = rng.uniform(-10, 10, 2)
        ends = []
        for step, n in ((0.001, 1000), (1.0, 1)):
            engine = robots.engine_of(robots.differential(), step=step, pose=pose, odometry_rate=1.0)
            engine.inputs[:] = speeds
            ends.append(robots.value(engine, robots.rollout(engine, n), "r/pose")[0])
        errors.append(np.abs(ends[0] - ends[1]).max())
    why = "1000 additions of coordinates up to 4 m, whose angle error moves the path by 0.5 m."
    yield worst("one long arc equals a thousand short ones", errors, 1000 * EPS * 5, why)
