"""Robots and a ball that meet nobody, in closed form: steady states, step responses, circles, decay, speed control."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from botz.verify.checks import EPS, Check, close, worst
from botz.verify.soccer.rig import HUGE, Data, Model, Rig, free_robot, match, model_of, random_robot, shipped

METHODS = {"euler": 1, "rk4": 4}
"""And their orders."""
MOST = 400
"""Robots beyond which nothing new shows."""
SMALL = 1e-3
"""Share of its limits at which a robot moves so slowly that even long steps are taken whole: fast bodies take theirs in
parts. The model is linear, so that nothing else changes."""
SETTLED = 40.0
"""Time constants after which e⁻⁴⁰ of a start is left: less than rounding."""


def step_of(rate: float, share: float) -> float:
    """A step of `share` time constants, in whole nanoseconds [s]."""
    return max(round(share / rate * 1e9), 1) * 1e-9


def alone(robot: Mapping[str, Any], step: float, method: str = "euler", **ball: Any) -> Rig:
    """One robot on a field without end; the ball lies far away."""
    rig = match([robot], step=step, method=method, field=HUGE, ball=ball)
    return rig.robot(0, [0.0, 0.0, 0.3]).ball(300.0, 300.0)


def settled(robot: Mapping[str, Any], model: Model, method: str, gain: float = 0.0) -> tuple[Rig, int]:
    """A robot in the middle, and the steps after which nothing changes any more."""
    rates = model.rates(gain)
    step = step_of(rates.max(), 0.5)
    return alone(robot, step, method), int(SETTLED / (rates.min() * step)) + 1


def stiffness(model: Model) -> float:
    """λ_max/λ_min of M⁻¹B."""
    rates = model.rates()
    return float(rates.max() / rates.min())


def limits_of(robot: Mapping[str, Any]) -> np.ndarray:
    return np.array([robot["wheels"][side]["motor"]["voltage"] for side in ("left", "right")])


# --- steady motion ---------------------------------------------------------------------------------------------------


def steady_states(samples: int) -> Iterator[Check]:
    """Constant voltages: (v, ω) = B⁻¹K e, for robots whose two wheels and motors have nothing in common."""
    rng = np.random.default_rng(1)
    for method in METHODS:
        speed, turn, current, power = [], [], [], []
        for _ in range(min(max(samples // 10, 2), MOST)):
            robot = random_robot(rng)
            model, volts = model_of(robot), SMALL * limits_of(robot) * rng.uniform(-1.0, 1.0, 2)
            rig, n = settled(robot, model, method)
            ratio = stiffness(model)
            rig.voltages(0, *volts).steps(n)
            expected = model.steady(volts)
            # Terms that cancel count as large as they are.
            scale = (np.abs(np.linalg.inv(model.drag)) @ np.abs(model.push) @ np.abs(volts)) * ratio
            error = (rig.speeds(0) - expected) / scale
            speed.append(error[0])
            turn.append(error[1])
            wheels = model.to_wheels @ expected
            # K/R = push · r, and i = (e − K ω)/R.
            conductance = np.linalg.solve(model.to_wheels.T, model.push).diagonal() / model.constants
            now = np.array([rig.value(f"r0/{side}/current") for side in ("left", "right")])
            unit = conductance * (np.abs(volts) + np.abs(model.constants) * (np.abs(model.to_wheels) @ scale))
            current += list((now - conductance * (volts - model.constants * wheels)) / unit)
            before = rig.value("match/energy")[1]
            gained = rig.steps(100).value("match/energy")[1] - before
            watts = conductance * model.constants * volts * wheels
            total = rig.engine.dt * 100 * np.abs(watts).sum() + EPS * abs(before) / 1e-10
            power.append((gained - rig.engine.dt * 100 * watts.sum()) / total)
        why = "What a step adds is lost below the last digit: ε/hλ_min with hλ_max = ½, and a handful of roundings."
        yield worst(f"steady state, {method}: v by λ_max/λ_min, relative", speed, 20 * EPS, why)
        yield worst(f"steady state, {method}: ω by λ_max/λ_min, relative", turn, 20 * EPS, why)
        yield worst(f"steady state, {method}: i = (e − K ω)/R, relative", current, 20 * EPS, why)
        why = "Σ e K ω/R over 100 steps; a difference of sums that are longer by orders."
        yield worst(f"steady state, {method}: work of the voltages, relative", power, 1e-9, why)


def straight_lines(samples: int) -> Iterator[Check]:
    """e = K⁻¹B (v, 0) drives straight on at v, also on unequal wheels; equal motors give v = e K_m/R/r · 2/B₁₁."""
    rng = np.random.default_rng(2)
    speed, turn, ways, aside = [], [], [], []
    for _ in range(min(max(samples // 10, 2), MOST)):
        robot = random_robot(rng)
        model = model_of(robot)
        rig, n = settled(robot, model, "rk4")
        volts = np.linalg.solve(model.push, model.drag @ [1.0, 0.0])
        volts *= SMALL * rng.uniform(0.2, 1.0) * np.min(limits_of(robot) / np.abs(volts))
        expected, ratio = model.steady(volts)[0], stiffness(model)
        rig.robot(0, [0.0, 0.0, 0.0], v=expected).voltages(0, *volts).steps(n)
        found = rig.speeds(0)
        speed.append((found[0] / expected - 1.0) / ratio)
        turn.append(found[1] * robot["track"] / expected / ratio)
        pose, way = rig.value("r0/pose"), expected * n * rig.engine.dt
        ways.append((pose[0] / way - 1.0) / (n + ratio))
        # A turn of ω t aside, as large as the rounding of ω lets it become.
        aside.append(pose[1] / way / (ratio * max(abs(way) / robot["track"], 1.0)))
    why = "Rounding, as for steady states: relative to λ_max/λ_min."
    yield worst("straight line: v, relative", speed, 20 * EPS, why)
    yield worst("straight line: ω b/v", turn, 100 * EPS, why)
    yield worst("straight line: the way v t by the number of steps, relative", ways, 20 * EPS, "A sum of all steps.")
    yield worst("straight line: aside, by way and way/b", aside, 100 * EPS, "Rounding of ω, summed up over the way.")
    why = "Rounding, as for steady states."
    robot = shipped()
    motor, radius = robot["wheels"]["left"]["motor"], robot["wheels"]["left"]["radius"]
    robot["speed_control"]["gain"] = 0.0
    rig, n = settled(robot, model_of(robot), "euler")
    rig.voltages(0, 4.5, 4.5).steps(n)
    # Without friction of its own the wheel turns as fast as the motor without load.
    expected = 4.5 / motor["voltage"] * motor["no_load_speed"] * radius
    yield close("the shipped robot at 4.5 V: ω₀ r · 4.5/6 [m/s]", expected, rig.speeds(0)[0], 1e-12, why)


def turns_on_the_spot(samples: int) -> Iterator[Check]:
    """e = K⁻¹B (0, ω): the robot turns at ω and stays where it is; the wheels' angles are ∓ω t b/2r."""
    rng = np.random.default_rng(3)
    turn, moved, wheels = [], [], []
    for _ in range(min(max(samples // 10, 2), MOST)):
        robot = random_robot(rng)
        model = model_of(robot)
        rig, n = settled(robot, model, "euler")
        volts = np.linalg.solve(model.push, model.drag @ [0.0, 1.0])
        volts *= SMALL * rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 1.0) * np.min(limits_of(robot) / np.abs(volts))
        expected, ratio = model.steady(volts), stiffness(model)
        rig.robot(0, [0.0, 0.0, 0.0], w=expected[1]).voltages(0, *volts).steps(n)
        turn.append((rig.speeds(0)[1] / expected[1] - 1.0) / ratio)
        time = n * rig.engine.dt
        moved += list(rig.value("r0/pose")[:2] / (abs(expected[1]) * time * robot["track"] * ratio))
        angles = np.array([rig.value(f"r0/{side}/angle") for side in ("left", "right")])
        wheels += list((angles / (model.to_wheels @ [0.0, expected[1] * time]) - 1.0) / (n + ratio))
    why = "Rounding, as for steady states: relative to λ_max/λ_min."
    yield worst("turning on the spot: ω, relative", turn, 20 * EPS, why)
    yield worst("turning on the spot: moved, parts of ω t b", moved, 100 * EPS, why)
    why = "A sum of all steps."
    yield worst("turning on the spot: angles of the wheels by the number of steps, relative", wheels, 20 * EPS, why)


# --- step response ---------------------------------------------------------------------------------------------------


def response_error(
    robot: Mapping[str, Any], start: np.ndarray, volts: np.ndarray, time: float, n: int, m: str
) -> float:
    """Of (v, ω) after `n` steps against the exact solution, in the norm of the energy, relative to the step."""
    model = model_of(robot)
    rig = alone(robot, round(time / n * 1e9) * 1e-9, m)
    rig.robot(0, [0.0, 0.0, 0.0], *start).voltages(0, *volts).steps(n)
    error = rig.speeds(0) - model.after(start, list(volts), n * rig.engine.dt)
    return float(np.sqrt(model.energy(error) / model.energy(start - model.steady(volts))))


def step_response(samples: int) -> Iterator[Check]:
    """v(t) = v_∞ + exp(−M⁻¹B t)(v₀ − v_∞), by eigenvalues. A method of order p is wrong by about n (hλ)^(p+1)/(p+1)!,
    and 2^p times less with half the step."""
    rng = np.random.default_rng(4)
    for method, order in METHODS.items():
        bound, orders = [], []
        for _ in range(min(max(samples // 15, 2), MOST)):
            robot = random_robot(rng)
            model = model_of(robot)
            start = SMALL * np.array([rng.normal(0.0, 1.0), rng.normal(0.0, 10.0)])
            volts = SMALL * limits_of(robot) * rng.uniform(-1.0, 1.0, 2)
            rate = model.rates().max()
            # One time constant of the fastest motion, so that both still move.
            steps = (40, 80) if method == "euler" else (20, 40)
            coarse, fine = (response_error(robot, start, volts, 1.0 / rate, n, method) for n in steps)
            orders.append(np.log2(coarse / fine))
            factorial = 2.0 if method == "euler" else 120.0
            bound += [coarse * steps[0] ** order * factorial, fine * steps[1] ** order * factorial]
        why = "e^-λt ≤ 1 in the norm of the energy, where M⁻¹B is symmetric: n local errors of (hλ)^(p+1)/(p+1)!."
        yield close(f"step response, {method}: error in parts of its bound", 0.5, max(bound), 0.5, why)
        why = "What the next order adds: hλ/2 of the error and less."
        yield close(f"step response, {method}: mean order", order, float(np.mean(orders)), 0.1, why)
        yield worst(f"step response, {method}: orders of single runs", np.array(orders) - order, 0.25, why)


def the_shipped_step(samples: int) -> Iterator[Check]:
    """The shipped robot from rest at 6 V, after 50 ms with steps of 1 ms: v = v_∞ (1 − e^(−t B₁₁/M₁₁))."""
    del samples
    robot = shipped()
    model = model_of(robot)
    rate = model.drag[0, 0] / model.mass[0, 0]
    final = model.steady([6.0, 6.0])[0]
    for method, order in METHODS.items():
        rig = alone(robot, 1e-3, method).voltages(0, 6.0, 6.0).steps(50)
        expected = final * (1.0 - np.exp(-0.05 * rate))
        tolerance = final * 0.05 * rate * (1e-3 * rate) ** order / (2.0 if order == 1 else 120.0) + 1e-14
        why = "t λ (hλ)^p/(p+1)! of the final speed."
        yield close(f"the shipped robot at 6 V after 50 ms, {method} [m/s]", expected, rig.speeds(0)[0], tolerance, why)


def circles(samples: int) -> Iterator[Check]:
    """At constant speeds x = x₀ + R (sin(θ₀ + ωt) − sin θ₀), R = v/ω. Per step of δ = ωh Euler's trapezoid makes the
    circle smaller by (δ/2)/tan(δ/2), and Simpson's rule larger by δ⁴/2880."""
    rng = np.random.default_rng(5)
    exact: dict[str, list[float]] = {"euler": [], "rk4": []}
    headings = []
    for _ in range(min(max(samples // 10, 2), MOST)):
        robot = random_robot(rng)
        model, volts = model_of(robot), limits_of(robot) * rng.uniform(-1.0, 1.0, 2)
        v, w = model.steady(volts)
        heading, n = rng.uniform(-np.pi, np.pi), int(rng.integers(5, 400))
        for method in METHODS:
            # Short of 5 mm a step, which would be taken in parts.
            quick = (abs(v) + abs(w) * robot["side"]) / 5e-2
            rig = alone(robot, step_of(max(model.rates().max(), abs(w), quick), 0.1), method)
            rig.robot(0, [1.0, 2.0, heading], v, w).voltages(0, *volts).steps(n)
            delta = w * rig.engine.dt
            if method == "euler":
                factor = 0.5 * delta / np.tan(0.5 * delta)
            else:
                factor = (4.0 + 2.0 * np.cos(0.5 * delta)) / 6.0 * 0.5 * delta / np.sin(0.5 * delta)
            radius, end = v / w * factor, heading + n * delta
            place = [1.0 + radius * (np.sin(end) - np.sin(heading)), 2.0 - radius * (np.cos(end) - np.cos(heading))]
            pose = rig.value("r0/pose")
            exact[method] += list((pose[:2] - place) / (abs(v / w) + 3.0))
            headings.append(np.angle(np.exp(1j * (pose[2] - end))))
    why = "Rounding of up to 400 steps, and of a speed that B⁻¹ magnifies."
    for method in METHODS:
        yield worst(f"circle, {method}: x and y, parts of R + 3 m", exact[method], 1e-11, why)
    yield worst("circle: heading [rad]", headings, 1e-10, why)


# --- ball ------------------------------------------------------------------------------------------------------------


def rolling_ball(samples: int) -> Iterator[Check]:
    """Eq. 9: v = v₀ e^(−βt/m), way v₀ m/β (1 − e^(−βt/m)); with `rolling` 7/5 m for m. Euler has (1 − βh/m)^n."""
    rng = np.random.default_rng(6)
    robot = free_robot()
    power: list[float] = []
    straight: list[float] = []
    found: dict[str, list[np.ndarray]] = {"euler": [], "rk4": []}
    ways: dict[str, list[float]] = {"euler": [], "rk4": []}
    for _ in range(min(max(samples // 10, 2), MOST)):
        mass, friction = float(rng.uniform(0.01, 0.3)), float(10.0 ** rng.uniform(-1.0, 0.0))
        rolling = bool(rng.random() < 0.5)
        inertial = 1.4 * mass if rolling else mass
        rate, start = friction / inertial, SMALL * rng.normal(0.0, 2.0, 2)
        for method, order in METHODS.items():
            errors, off = [], []
            for n in (20, 40):
                ball: Data = {"mass": mass, "friction": friction, "rolling": rolling, "radius": 0.01}
                rig = alone(robot, step_of(rate, 1.0 / n), method, **ball)
                rig.robot(0, [-300.0, 0.0, 0.0]).ball(0.0, 0.0, *start).steps(n)
                time, speed = n * rig.engine.dt, rig.value("ball/velocity")
                factor = np.exp(-rate * time)
                errors.append(np.linalg.norm(speed - factor * start) / np.linalg.norm(start))
                way = rig.value("ball/pose")[:2]
                off.append(np.linalg.norm(way - start / rate * (1.0 - factor)) * rate / np.linalg.norm(start))
                straight.append((speed[0] * start[1] - speed[1] * start[0]) / (start @ start))
                if method == "euler":
                    expected = (1.0 - rate * rig.engine.dt) ** n * start
                    power.append(float(np.linalg.norm(speed - expected) / np.linalg.norm(start)))
            found[method].append(np.array([np.log2(errors[0] / errors[1]), errors[1] * 40**order]))
            ways[method].append(np.log2(off[0] / off[1]))
    yield worst("ball, Euler: (1 − βh/m)^n, relative", power, 40 * EPS, "One rounding in each of 40 steps.")
    yield worst("ball: keeps its direction", straight, 40 * EPS, "One rounding in each of 40 steps.")
    for method, order in METHODS.items():
        orders, sizes = np.array(found[method]).T
        why = "What the next order adds: h β/m of the error; one time constant in 20 and 40 steps."
        yield worst(f"ball, {method}: order of the speed's error", orders - order, 0.1, why)
        yield worst(f"ball, {method}: order of the way's error", np.array(ways[method]) - order, 0.1, why)
        why = "n local errors of (hβ/m)^(p+1)/(p+1)! each."
        bound = 0.5 if order == 1 else 1.0 / 120.0
        yield worst(f"ball, {method}: error by (hβ/m)^{order}", sizes, bound, why)


# --- speed control ---------------------------------------------------------------------------------------------------


def speed_control(samples: int) -> Iterator[Check]:
    """Wheels reach the speeds commanded, by themselves or as (v, ω), wherever the motors' voltages allow it; beyond,
    the voltages stay at their limits and the robot at B⁻¹K e."""
    rng = np.random.default_rng(7)
    reached: list[float] = []
    twists: list[float] = []
    saturated, beyond = [], []
    for case in range(min(max(samples // 10, 2), 150)):
        gain = float(rng.uniform(0.0, 10.0))
        robot = random_robot(rng, gain=gain)
        model = model_of(robot)
        limits = limits_of(robot)
        rates = model.rates(gain)
        step = step_of(rates.max(), 0.5)
        n = int(2.0 * SETTLED / (min(rates.min(), model.rates().min()) * step)) + 1
        rig = alone(robot, step)
        volts = limits * rng.uniform(-0.9, 0.9, 2)
        wanted = model.to_wheels @ model.steady(volts)
        if case % 2:
            rig.command("r0", twist=model.steady(volts))
        else:
            rig.wheel_speeds(0, *wanted)
        rig.steps(n)
        found = np.array([rig.value(f"r0/{side}/speed") for side in ("left", "right")])
        (twists if case % 2 else reached).extend((found - wanted) / np.abs(wanted).max())
        rows = rig.wheel_speeds(0, *(1e3 * np.sign(wanted))).steps(n).row()
        expected = model.steady(limits * np.sign(wanted))
        saturated += list((rig.speeds(0) - expected) / (np.abs(expected) + 1e-3 * np.abs(expected).max()))
        applied = np.array([rig.value(f"r0/{side}/voltage", rows) for side in ("left", "right")])
        beyond += list(np.abs(applied) / limits - 1.0)
    why = "Settled; rounding, magnified by K⁻¹, M⁻¹ and B⁻¹."
    yield worst("speed control: wheel speeds, relative", reached, 1e-11, why)
    yield worst("speed control: commanded as (v, ω), relative", twists, 1e-11, why)
    yield worst("speed control: too fast, B⁻¹K e of the limits, relative", saturated, 1e-9, why)
    yield worst("speed control: too fast, voltages at their limits", beyond, 0.0, "min and max do not round.")


FUNCTIONS = (
    steady_states,
    straight_lines,
    turns_on_the_spot,
    step_response,
    the_shipped_step,
    circles,
    rolling_ball,
    speed_control,
)
