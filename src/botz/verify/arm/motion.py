"""Arms in motion: energy, the order of the integrators, pendulums, servos, actuators, stops, friction and water."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import exp, log2, pi, sin, sqrt, tanh

import numpy as np

from botz.robots.tool_rates import SINGULAR
from botz.verify.arm.loads import SEA, bar
from botz.verify.arm.rig import GRAVITY, SHIPPED, floats, random_arm
from botz.verify.arm.runs import WEIGHTLESS, Run, bare, ideal, run_of, slider, wheel
from botz.verify.checks import EPS, Check, close, same, worst

LIMP = {"type": "torque"}
ORDERS = {"rk4": 4, "semi-implicit": 1}
STARTS = {
    "titan4": ([0.3, 0.5, -0.8, 0.9, 0.4, 0.6], [0.8, -0.5, 0.9, -1.2, 0.7, 1.0]),
    "puma560": ([0.3, 0.5, -0.8, 0.9, 0.4, 0.6], [0.8, -0.5, 0.9, -1.2, 0.7, 1.0]),
}

STEPS = {"titan4": [1e-3, 5e-4, 2.5e-4], "puma560": [2e-3, 1e-3, 5e-4]}
"""Of Runge-Kutta's method: short against the arm's motion, and long enough to stay above rounding [s]."""

SWING, HELD = 1000, 500
"""Steps of a pendulum's period, and of a pose that is held."""
BESIDE = 0.2
"""How long both forward dynamics run beside each other [s]."""


def free(name: str, step: float, method: str) -> Run:
    """A limp arm without friction, flung into the air on its base."""
    q, qd = STARTS[name]
    return run_of(bare(name, LIMP), step=step, method=method, start=q, start_speed=qd)


def energy_and_order(samples: int) -> Iterator[Check]:
    """Without friction and torques T + U stays. Halving the step divides the error of energy by 2^p at least, and the
    change of the end state, q(h) − q(h/2), by 2^p: p = 4 of Runge-Kutta, p = 1 of the semi-implicit method."""
    del samples
    for name in SHIPPED:
        for method, order in ORDERS.items():
            steps = STEPS[name] if method == "rk4" else [2e-4, 1e-4, 5e-5]
            ends, errors = [], []
            for step in steps:
                made = free(name, step, method)
                start = float(np.sum(made.value("r/energy")))
                made.run(0.4)
                errors.append(abs(float(np.sum(made.value("r/energy"))) - start))
                ends.append(made.value("r/position"))
            changes = [np.abs(one - two).max() for one, two in pairwise(ends)]
            found = log2(changes[-2] / changes[-1])
            why = "The next term is smaller by h times the arm's rates, about 50/s at its wrist, and halves with h."
            yield close(f"{name}, {method}: order of the end state", float(order), found, 0.1, why)
            kept = log2(errors[-2] / errors[-1])
            lowest = max(0.0, order - 0.1 - kept)
            why = "Or better: terms of energy's own error may cancel."
            yield worst(f"{name}, {method}: order of the energy below {order}", [lowest], 0.0, why)
            scale = float(made.value("r/energy")[0])
            shown = f"{name}, {method}: energy lost in 0.4 s at h = {steps[-1]:g} s by that at twice the step"
            bound = errors[-2] * 2.0 ** (0.1 - order)
            yield close(f"{shown} [J of {scale:.0f}]", 0.0, errors[-1], bound, "Less by 2^p, to a tenth of its order.")


def both_forward_dynamics(samples: int) -> Iterator[Check]:
    """Runs by Walker and Orin's methods 1 and 3 stay together."""
    del samples
    robots = {name: bare(name, LIMP) for name in SHIPPED}
    robots["slides and turns"] = ideal(random_arm(np.random.default_rng(51), "RPRPRR"), LIMP)
    q, qd = STARTS["puma560"]
    for name, robot in robots.items():
        ends = [
            run_of(robot, dynamics=method, start=q, start_speed=qd).run(BESIDE).value("r/position")
            for method in ("composite-body", "newton-euler")
        ]
        why = "Roundings of 200 steps, by the condition of H, 1e3, and what the motion makes of them in 0.2 s: 1e-10."
        shown = f"{name}: methods 1 and 3 after {BESIDE:g} s [rad, m]"
        yield worst(shown, np.abs(ends[0] - ends[1]), 1e-10, why)


def pendulum(samples: int) -> Iterator[Check]:
    """A rod that swings from θ₀ at rest is back after T = 4 √(2l/3g) K(sin θ₀/2) = 2π √(2l/3g)/agm(1, cos θ₀/2)."""
    del samples
    length, theta0 = 0.8, 2.0
    one, other = 1.0, float(np.cos(0.5 * theta0))
    for _ in range(8):
        one, other = 0.5 * (one + other), sqrt(one * other)
    period = 2.0 * pi * sqrt(2.0 * length / (3.0 * GRAVITY)) / one
    for method, order in ORDERS.items():
        errors = []
        for count in (SWING, 2 * SWING):
            step = round(period / count * 1e9) * 1e-9
            made = run_of(bar(length, 3.0) | {"servo": LIMP}, step=step, method=method, start=[theta0])
            made.steps(count)
            # What is left of the period, or too much: the rod is at its turning point, where q̇ = q̈ (t − T).
            torque = 1.5 * GRAVITY / length * sin(theta0)
            errors.append(made.time - float(made.value("r/speed")[0]) / -torque - period)
        shown = f"pendulum, {method}: period {period:.6f} s, error at T/{2 * SWING} [s]"
        bound = 1.2 * abs(errors[0]) / 2.0**order + 1e-12
        why = f"Less than at T/{SWING} by 2^p; the third order of what is left of the period is far below."
        yield close(shown, 0.0, errors[1], bound, why)
        small = (2.0 * pi / SWING) ** order * period
        why = "(h ω)^p T with constants below 1."
        yield close(f"pendulum, {method}: error at T/{SWING} [s]", 0.0, errors[0], small, why)


# --- servos ----------------------------------------------------------------------------------------------------------


def quintic(start: np.ndarray, end: np.ndarray, duration: float, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, speed and acceleration of 10 s³ − 15 s⁴ + 6 s⁵ between two points."""
    s, way = t / duration, end - start
    return (
        start + way * s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
        way * 30.0 * s**2 * (1.0 - s) ** 2 / duration,
        way * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2,
    )


def followed(name: str, step: float, frequency: float) -> float:
    """Largest error of a joint on a quintic path of 1.2 s by computed torque, new references every step [rad]."""
    q, _ = STARTS[name]
    start, duration = np.array(q), 1.2
    end = start + np.array([0.9, -0.7, 1.1, -0.8, 0.6, 1.5])
    made = run_of(bare(name, {"type": "computed-torque", "frequency": frequency, "damping": 1.0}), step=step, start=q)
    largest = 0.0
    for k in range(round(duration / step)):
        position, speed, acceleration = quintic(start, end, duration, k * step)
        made.command(position=position, speed=speed, acceleration=acceleration).steps(1)
        expected = quintic(start, end, duration, (k + 1) * step)[0]
        largest = max(largest, float(np.abs(made.value("r/position") - expected).max()))
    return largest


def computed_torque(samples: int) -> Iterator[Check]:
    """Computed torque without error of the model, q̈ = q̈_r + k_d ė + k_p e: only the hold of the torque within a step is
    left, whose error is of the order h. Halving the step halves it."""
    del samples
    frequency = 25.0
    for name in SHIPPED:
        steps = (2e-3, 1e-3, 5e-4)
        errors = [followed(name, step, frequency) for step in steps]
        for (step, error), before in zip(list(zip(steps, errors, strict=True))[1:], errors, strict=False):
            shown = (
                f"computed torque, {name}, step {step * 1e3:g} ms, k_p = {frequency**2:g}/s², k_d = {2 * frequency:g}/s"
            )
            why = f"Half of {before:.3g} rad at twice the step; the next order is less by h ω = {step * frequency:.3g}."
            share = 2.0 * step * frequency
            yield close(f"{shown}: largest error [rad]", 0.5 * before, error, 0.5 * before * share, why)


def held_pose(samples: int) -> Iterator[Check]:
    """PID with the model's gravity compensated, and computed torque, hold a pose as it is; in water too."""
    del samples
    for name in SHIPPED:
        q, _ = STARTS[name]
        for servo in ("pid", "computed-torque"):
            for label, world in (("in air", {}), ("in water", {"water": {"density": SEA}})):
                made = run_of(bare(name, {"type": servo}), start=q, world=world).steps(HELD)
                why = "Exactly: the servo's torque is what the arm needs, by the same sums."
                shown = f"{name} held {label} by {servo}, {HELD} steps: drift [rad]"
                drift = np.abs(made.value("r/position") - q)
                # Under water both signs of the sums are turned over, which costs nothing; their order differs.
                yield worst(shown, drift, 0.0 if label == "in air" else 1e-13, why)


def unknown_payload(samples: int) -> Iterator[Check]:
    """A payload that the servo's model does not know bends PID control by e = ΔG/k_p; an integral part takes it off."""
    del samples
    for name in SHIPPED:
        q, _ = STARTS[name]
        shown = f"PID with gravity compensation, {name}"
        loaded = bare(name, {"type": "pid", "knows_payload": False})
        loaded["payload"] = {"mass": 2.0}
        made = run_of(loaded, start=q).run(3.0)
        now = made.value("r/position")
        known = run_of(bare(name, {"type": "pid"}), start=q).arm
        extra = made.arm.gravity(now) - known.gravity(now)
        stiffness = made.engine.model.joints["kp"]
        # Critically damped with ω = 20/s: after 3 s e⁻⁶⁰ of the start is left.
        why = "At rest to rounding: of torques of some 1e3 N·m, and of a decay to e⁻⁶⁰ · 60."
        error = np.abs(stiffness * (np.array(q) - now) - extra).max() / np.abs(extra).max()
        yield worst(f"{shown}, unknown payload: k_p e by ΔG", [error], 1e-9, why)
        loaded["servo"]["integral_time"] = 0.2
        settled = run_of(loaded, start=q).run(8.0)
        why = "The slowest of its three rates, above 4/s, for 8 s: e⁻³² = 1e-14 of a bend of 0.1 rad; and rounding."
        yield worst(f"{shown}, integral part: bend left [rad]", np.abs(settled.value("r/position") - q), 1e-10, why)


def tool_rates(samples: int) -> Iterator[Check]:
    """Cartesian rates become joint speeds by J⁻¹ away from singularities; near them they stay bounded."""
    rng = np.random.default_rng(50)
    for name in SHIPPED:
        made = run_of(bare(name, {"type": "computed-torque"}), start=STARTS[name][0])
        arm = made.arm
        largest, errors = 0.0, []
        for _ in range(min(samples, 300)):
            q = rng.uniform(-2.5, 2.5, 6)
            made.engine.state.q[:] = q
            twist = rng.normal(size=6)
            found = made.engine.joint_speeds("r", twist)
            if np.linalg.svd(arm.jacobian(q), compute_uv=False)[-1] > 0.15:
                errors.append(np.abs(arm.jacobian(q) @ found - twist).max())
            largest = max(largest, float(np.linalg.norm(found) / np.linalg.norm(twist)))
        yield worst(f"Cartesian rates, {name}: J q̇ − twist", errors, 1e-12, "A solution of six equations, rounded.")
        bound = max(1.0, 1.0 / arm.reach) / SINGULAR
        why = f"The damped inverse σ/max(σ, ε)² is at most 1/ε = 1/{SINGULAR}, in units of the arm's reach."
        yield close(f"Cartesian rates, {name}: largest |q̇|/|twist|", 0.0, largest, bound, why)


# --- actuators -------------------------------------------------------------------------------------------------------


def valves(samples: int) -> Iterator[Check]:
    """A step of torque through a valve: τ (1 − e^{−t/T}) with a lag, a ramp with a pressure rate, up to the limit; and
    behind an orifice the speed goes up as v tanh(τ t/(J v))."""
    del samples
    h, inertia = 1e-3, 2.0
    still = {"gravity": WEIGHTLESS}

    def pulled(asked: float, seconds: float, step: float = h, **actuator: float) -> tuple[Run, np.ndarray]:
        made = run_of(wheel(inertia, LIMP, actuator=actuator), step=step, world=still).command(torque=[asked])
        return made, made.record(seconds)

    made, rows = pulled(100.0, 0.1, lag=0.02)
    times = h * np.arange(1, len(rows) + 1)
    error = made.value("r/torque", rows)[:, 0] / (100.0 * (1.0 - np.exp(-times / 0.02))) - 1.0
    yield worst("valve's lag: τ (1 − e^{−t/T}), relative", error, 1e3 * EPS, "Exact from step to step; 100 roundings.")
    made, rows = pulled(100.0, 0.1, torque_rate=2000.0)
    error = made.value("r/torque", rows)[:, 0] - np.minimum(2000.0 * times, 100.0)
    yield worst("valve's pressure rate: a ramp [N·m]", error, 1e-11, "A sum of 50 steps of 2 N·m.")
    made, rows = pulled(100.0, 0.1, torque=60.0)
    yield worst("torque limit [N·m]", made.value("r/torque", rows)[:, 0] - 60.0, 0.0, "Exactly.")
    found = made.value("r/speed", rows)[-1, 0]
    yield close(
        "torque limit: speed τ t/J [rad/s]", 60.0 * 0.1 / inertia, found, 1e-12, "Constant: integrated exactly."
    )
    errors = []
    for step in (h, 0.5 * h):
        made, _ = pulled(100.0, 0.2, step, torque=60.0, flow_speed=3.0)
        errors.append(abs(made.value("r/speed")[0] - 3.0 * tanh(60.0 * 0.2 / (inertia * 3.0))))
    why = "The torque is held within a step: half of the error at twice the step, to a tenth."
    yield close("flow used up: v tanh(τ t/(J v)), error [rad/s]", 0.5 * errors[0], errors[1], 0.05 * errors[0], why)
    bound = 60.0 / inertia * h
    yield close("flow used up: error at 1 ms [rad/s]", 0.0, errors[0], bound, "One step of the greatest acceleration.")


def friction_in_motion(samples: int) -> Iterator[Check]:
    """A wheel that runs out: q̇₀ e^{−bt/J} by viscous friction, q̇₀ − f t/J by Coulomb's, far above its smoothing."""
    del samples
    still = {"gravity": WEIGHTLESS}
    made = run_of(wheel(2.0, LIMP, friction={"viscous": 5.0}), world=still, start_speed=[3.0]).run(0.5)
    expected = 3.0 * exp(-5.0 * 0.5 / 2.0)
    why = "Runge-Kutta: (h b/J)⁴ t b/J/120."
    yield close(
        "viscous friction [rad/s]", expected, made.value("r/speed")[0], 3.0 * 2.5e-3**4 * 1.25 / 120 + 1e-14, why
    )
    dry = {"coulomb": 4.0, "smoothing": 1e-3}
    made = run_of(wheel(2.0, LIMP, friction=dry), world=still, start_speed=[3.0]).run(0.5)
    expected = 3.0 - 4.0 * 0.5 / 2.0
    why = "Less friction by w²/2q̇² for q̇ from 3 to 2: f t/J · 1e-6/8."
    yield close("Coulomb's friction [rad/s]", expected, made.value("r/speed")[0], 1.0 * 1e-6 / 8, why)
    # Once it is slower than w, it stops as if the friction were viscous with f/w.
    made.run(3.0)
    why = "Within the smoothing the speed falls with the rate f/(w J) = 2000/s."
    yield close("Coulomb's friction: at rest [rad/s]", 0.0, made.value("r/speed")[0], 1e-12, why)


def joint_stops(samples: int) -> Iterator[Check]:
    """At a stop δ̈ = −ω² δ − 2 ω δ̇ as long as that pushes: a joint pressed on it rests at the end of its range, and one
    that runs into it, δ = v t e^{−ωt}, is let go at t = 2/ω with e⁻² of its speed."""
    del samples
    still, omega, inertia = {"gravity": WEIGHTLESS}, 60.0, 2.0
    joint = {"range": [-1.0, 0.5], "stop_frequency": omega}
    made = run_of(wheel(inertia, LIMP, **joint), world=still).command(torque=[30.0]).run(3.0)
    depth = made.value("r/position")[0] - 0.5
    why = "At rest: e^{−60 · 2} of the way is left. The stop is felt from 1e-9 rad before its end on."
    yield close("pressed on its stop: beyond the end of its range [rad]", 0.0, depth, 1e-9, why)
    yield close("pressed on its stop: speed [rad/s]", 0.0, made.value("r/speed")[0], 1e-9, "At rest, rounded.")
    for side, start in (("upper", 2.0), ("lower", -2.0)):
        h = 1e-5
        made = run_of(wheel(inertia, LIMP, **joint), step=h, world=still, start_speed=[start])
        rows = made.record(0.6)
        error = made.value("r/speed", rows)[-1, 0] + start * exp(-2.0)
        energy = made.value("r/energy", rows)[:, 0]
        # The stop is met and left within a step, whose force is then wrong by at most 2 J ω v.
        why = "What a step at the beginning and the end of contact can miss: 2 ω h v each."
        shown = f"{side} stop: speed with which it comes back, and e⁻² of that before [rad/s]"
        yield close(shown, 0.0, error, 4.0 * omega * h * abs(start), why)
        gained = float(np.max(energy) - 0.5 * inertia * start**2)
        yield worst(f"{side} stop: kinetic energy above the start's [J]", [max(0.0, gained)], 100 * EPS, "Never.")


# --- water -----------------------------------------------------------------------------------------------------------


def sinking(samples: int) -> Iterator[Check]:
    """A body that slides down in water: v_∞ tanh(t/T) with v_∞² = 2 (m − ρV) g/(ρ C_d A), T = m v_∞/((m − ρV) g)."""
    del samples
    mass, volume, area = 20.0, 0.008, 0.05
    water = {"volume": volume, "drag_area": [0.0, 0.0, area]}
    made = run_of(slider(mass, LIMP, joint={"water": water}), world={"water": {"density": SEA}})
    weight = (mass - SEA * volume) * GRAVITY
    fastest = sqrt(2.0 * weight / (SEA * area))
    made.run(0.5)
    expected = -fastest * tanh(0.5 * weight / (mass * fastest))
    rate = weight / (mass * fastest)
    why = "Runge-Kutta: v_∞ (h/T)⁴ t/T."
    yield close("sinking body [m/s]", expected, made.value("r/speed")[0], fastest * (1e-3 * rate) ** 4 + 1e-14, why)
    made.run(20.0)
    yield close("sinking body, in the end [m/s]", -fastest, made.value("r/speed")[0], 1e-12, "e⁻⁴⁰ is left.")


def same_again(samples: int) -> Iterator[Check]:
    """The state is complete: two runs, a run in pieces, and one restored half way end with the same bits."""
    del samples
    q, _ = STARTS["titan4"]
    robot = bare("titan4", {"type": "pid", "integral_time": 0.5})
    for joint in robot["joints"].values():
        joint["actuator"] = {"lag": 0.015, "torque": 3000.0, "torque_rate": 5e4}
    target = floats(np.array(q) + 0.3)

    def started() -> Run:
        return run_of(robot, start=q).command(position=target)

    whole, again = started().steps(400).row(), started().steps(400).row()
    pieces = started()
    for n in (1, 99, 50, 250):
        pieces.steps(n)
    first = started().steps(150)
    kept = first.engine.snapshot()
    second = started()
    second.engine.restore(kept)
    second.done = 150
    second.steps(250)
    for label, row in (("a second run", again), ("in pieces", pieces.row()), ("restored half way", second.row())):
        word = "the same bits" if np.array_equal(whole, row) else "differ"
        yield same(f"titan4 under PID, {label}", "the same bits", word, "")


FUNCTIONS = (
    energy_and_order,
    both_forward_dynamics,
    pendulum,
    computed_torque,
    held_pose,
    unknown_payload,
    tool_rates,
    valves,
    friction_in_motion,
    joint_stops,
    sinking,
    same_again,
)
