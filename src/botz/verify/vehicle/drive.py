"""Checks of the drive: DC motor, gear, battery, LuGre friction of the axle, top speed and coast-down."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, pi, sin
from typing import Any

import numpy as np

from botz.physics.wheels.lugre import lugre
from botz.verify.checks import EPS, Check, close, same, worst
from botz.verify.vehicle.rig import GRAVITY, NAMES, Data, Rig, four_wheeler, plane, rig, vivi

VOLTAGE, K_T, K_V, RESISTANCE, IDLE = 24.0, 0.03757, 254.0 * pi / 30.0, 0.064, 3.4
"""[virtualbotz] table 6, Magmotor S28-150, in SI."""
GEAR = 30.0
MAGMOTOR = {"voltage": VOLTAGE, "torque_constant": K_T, "speed_constant": K_V, "resistance": RESISTANCE}
"""Without its no-load current and gear."""


def in_the_air(robot: Data, **more: Any) -> Rig:
    """A vehicle that floats: its wheels turn and meet nothing."""
    return rig(robot, gravity=0.0, position=[0.0, 0.0, 5.0], **more)


def now(run: Rig, voltages: float | list[float] | np.ndarray) -> Rig:
    """The forces of the present state under these voltages, without a step."""
    run.command(voltages=voltages)
    return run.steps(0)


def no_load_point(samples: int) -> Iterator[Check]:
    """Turning freely the motor draws I_0 and runs at ω = K_v (V − I_0 R), through a gear of any efficiency."""
    del samples
    for efficiency in (1.0, 0.85):
        motor = {**MAGMOTOR, "no_load_current": IDLE, "gear_ratio": GEAR, "efficiency": efficiency}
        run = in_the_air(four_wheeler(motor=motor))
        run.command(voltages=[24.0, 12.0, -24.0, 3.0]).run(0.5)
        volts = np.array([24.0, 12.0, -24.0, 3.0])
        speed = K_V * (volts - np.sign(volts) * IDLE * RESISTANCE) / GEAR
        # Time constant I R η/(G² K_t K_e) < 1 ms: after 0.5 s only rounding is left, and e^{-(v/v_s)²} of LuGre.
        why = "After 500 time constants: rounding, carried by R/K over some ten operations."
        case = f"no load, gear efficiency {efficiency:g}"
        yield worst(f"{case}: speed at 24, 12, −24, 3 V, relative", run.each("speed") / speed - 1.0, 1e-9, why)
        yield worst(f"{case}: current [A]", run.each("current") - np.sign(volts) * IDLE, 1e-7, why)
    why = "254 rpm/V · (24 V − 3.4 A · 0.064 Ω), a gear of 30 and an efficiency of 0.85."
    yield close(
        "no load at 24 V [rpm]", 254.0 * (24.0 - IDLE * RESISTANCE), run.each("speed")[0] * GEAR * 30 / pi, 1e-4, why
    )


def stall_point(samples: int) -> Iterator[Check]:
    """Held fast, the motor draws V/R and gives K_t V/R, times the gear ratio at the wheel: no power flows, and the gear
    takes none. An axle whose friction is stronger than that stays where it is, with the same torque against it."""
    del samples
    current = VOLTAGE / RESISTANCE
    torque = GEAR * K_T * current
    holding = {"coulomb": 2.0 * torque, "static": 2.0 * torque, "stiffness": 1e5, "damping": 50.0}
    motor = {**MAGMOTOR, "gear_ratio": GEAR, "friction": holding}
    run = in_the_air(four_wheeler(motor=motor)).command(voltages=VOLTAGE).run(1.0)
    why = "Bristles of 1e5 N·m/rad with 50 N·m·s/rad have settled (e^-2000): rounding of some ten operations."
    yield worst("stall: current of V/R = 375 A [A]", run.each("current") - current, 100 * EPS * current, why)
    yield worst("stall: torque of G K_t V/R [N·m]", run.each("torque") - torque, 100 * EPS * torque, why)
    yield worst("stall: friction holds against it [N·m]", run.each("friction") - torque, 1e-9 * torque, why)
    angle = run.each("angle")
    gone = run.run(1.0).each("angle") - angle
    yield worst("stall: turns in a second [rad]", gone, 1e-12, why)
    run = now(in_the_air(four_wheeler(motor={**MAGMOTOR, "gear_ratio": GEAR, "efficiency": 0.85})), VOLTAGE)
    yield worst(
        "stall, gear efficiency 0.85: torque at rest [N·m]", run.each("torque") - torque, 100 * EPS * torque, why
    )


def power_maximum(samples: int) -> Iterator[Check]:
    """P = K_t (I − I_0) K_v (V − I R) is largest at I = (V/R + I_0)/2: K_t K_v R (V/R − I_0)²/4. By friction K_t
    I_0 + b ω of the axle with that load in b, and with less and more of it."""
    del samples
    stall = VOLTAGE / RESISTANCE
    current = 0.5 * (stall + IDLE)
    power = K_T * K_V * RESISTANCE * (stall - IDLE) ** 2 / 4.0
    speed = K_V * (VOLTAGE - current * RESISTANCE)
    load = K_T * (current - IDLE) / speed
    robot = four_wheeler(motor=MAGMOTOR)
    factors = np.array([1.0, 0.7, 1.4, 1.1])
    for name, factor in zip(NAMES, factors, strict=True):
        robot["motors"][name]["friction"] = {
            "coulomb": K_T * IDLE, "static": K_T * IDLE, "stiffness": 10.0, "viscous": load * factor,
        }  # fmt: skip
    run = in_the_air(robot, step=1e-3).command(voltages=VOLTAGE).run(15.0)
    given = load * factors * run.each("speed") ** 2
    why = "After 15 s, some sixty time constants I/(K_t K_e/R + b): rounding."
    yield close("motor's largest power [W]", power, given[0], 1e-9 * power, why)
    yield close("current there [A]", current, run.each("current")[0], 1e-9 * current, why)
    # P falls as a parabola in I: P/P_max = 1 − (I − I*)²/(I* − I_0)².
    away = (run.each("current") - current) / (current - IDLE)
    why = "P/P_max = 1 − (I − I*)²/(I* − I_0)² at loads of 0.7, 1.1 and 1.4 of it."
    yield worst("power beside its maximum, relative", given / power - 1.0 + away**2, 1e-9, why)
    why = "The table's other values with K_t = 1/K_v; its own K_t K_v is 0.9993, and the page's number is rounded."
    yield close(
        "motor's largest power, as the corrected table 6 has it [W]",
        2209.0,
        given[0],
        (1 - K_T * K_V) * 2209 + 0.5,
        why,
    )


def current_limit(samples: int) -> Iterator[Check]:
    """|I| ≤ I_max: at rest and at any speed I = (V − K_e ω)/R within it, both ways."""
    rng = np.random.default_rng(51)
    wrong = []
    limit = 40.0
    motor = {**MAGMOTOR, "gear_ratio": GEAR, "current_limit": limit}
    run = in_the_air(four_wheeler(motor=motor))
    axles, block = run.engine.model.axles[0], run.engine.state.axles[0]
    for _ in range(min(samples, 1000)):
        speeds, volts = rng.uniform(-25.0, 25.0, 4), rng.uniform(-24.0, 24.0, 4)
        block.p[:] = speeds / axles.inverse_inertia
        now(run, volts)
        # The axles' momenta turn the floating chassis: what counts is the speed against it.
        free = (volts - GEAR / K_V * run.each("speed")) / RESISTANCE
        wrong += list(run.each("current") - np.clip(free, -limit, limit))
    why = "(V − K_e ω)/R of up to 750 A: rounding."
    yield worst("current within its limit [A]", wrong, 1e-11, why)


def battery_sag(samples: int) -> Iterator[Check]:
    """V_bus = (E + R Σ d K ω/R_k)/(1 + R Σ d²/R_k) with the shares d of it that the motors get, and Kirchhoff's law
    with the currents: V_bus = E − R Σ d i."""
    rng = np.random.default_rng(52)
    inner, battery = 0.02, 24.0
    closed, kirchhoff, given = [], [], []
    # Motors of 12 V on the same battery get half of it at most, whatever is commanded.
    for largest in (24.0, 12.0):
        motor = {**MAGMOTOR, "gear_ratio": GEAR, "voltage": largest}
        run = in_the_air(four_wheeler(motor=motor, battery={"voltage": battery, "resistance": inner}))
        axles, block = run.engine.model.axles[0], run.engine.state.axles[0]
        for _ in range(min(samples, 1000)):
            block.p[:] = rng.uniform(-25.0, 25.0, 4) / axles.inverse_inertia
            volts = rng.uniform(-24.0, 24.0, 4)
            now(run, volts)
            d, back = np.clip(volts, -largest, largest) / battery, GEAR / K_V * run.each("speed")
            bus = (battery + inner * (d * back / RESISTANCE).sum()) / (1.0 + inner * (d * d / RESISTANCE).sum())
            closed.append(run.value("battery/voltage") - bus)
            kirchhoff.append(run.value("battery/voltage") - battery + inner * (d * run.each("current")).sum())
            given += list(run.each("voltage") - d * bus)
    why = "Sums of four currents of up to 750 A: rounding."
    yield worst("battery: voltage under load [V]", closed, 1e-12, why)
    yield worst("battery: E − V_bus is R times the current drawn [V]", kirchhoff, 1e-11, why)
    yield worst("battery: motors get their shares of it [V]", given, 1e-12, why)


def gear_efficiency(samples: int) -> Iterator[Check]:
    """Steady climbing and braking on a slope β, with F = m g sin β/4 at each wheel: driving G η K_t I = r F + T,
    and driven G K_t I/η = T − r F, with the axle's friction T; ω = K_v (V − I R)/G and v = r ω for tyres that
    stick."""
    del samples
    slope, friction, radius = 0.3, 1.0, 0.1
    force = 10.0 * GRAVITY * sin(slope)
    for efficiency in (0.5, 0.85):
        motor = {
            **MAGMOTOR, "gear_ratio": GEAR, "efficiency": efficiency,
            "friction": {"coulomb": friction, "static": friction, "stiffness": 200.0, "damping": 1.0},
        }  # fmt: skip
        for volts, name in ((12.0, "climbing"), (-12.0, "held back downhill")):
            driving = volts > 0.0
            torque = radius * force + (friction if driving else -friction)
            current = torque / (GEAR * K_T) * (1.0 / efficiency if driving else efficiency)
            speed = K_V * (volts - current * RESISTANCE) / GEAR
            run = rig(four_wheeler(motor=motor), terrain=plane(slope), attitude=[0.0, -slope, 0.0], step=2e-4)
            run.command(voltages=volts).run(5.0)
            why = "After 5 s, when the springs (e^-40) and the speed (e^-600) have settled."
            case = f"{name}, gear efficiency {efficiency:g}"
            yield worst(f"{case}: current [A]", run.each("current") - current, 1e-6, why)
            velocity = run.value("twist")
            along = np.copysign(np.hypot(velocity[0], velocity[2]), velocity[0])
            yield close(f"{case}: speed [m/s]", radius * speed, along, 1e-7, why)


def top_speed(samples: int) -> Iterator[Check]:
    """On the flat nothing but K_t I_0 brakes: v = r K_v (E − I_0 (R + 4 R_b))/G with four motors on one battery. With
    friction F_c + σ₂ ω at the axle: ω = (G η K_t V/R − F_c)/(G² η K_t K_e/R + σ₂)."""
    del samples
    robot = vivi()
    wheel, motor, battery = robot["wheels"]["front_left"], robot["motors"]["front_left"], robot["battery"]
    idle, inner = motor["no_load_current"], motor["resistance"] + 4.0 * battery["resistance"]
    wanted = wheel["radius"] * motor["speed_constant"] * (battery["voltage"] - idle * inner) / motor["gear_ratio"]
    run = rig(robot).command(tank=[1.0, 1.0]).run(4.0)
    why = "After 4 s: springs have lost e^-40 of a start that shakes the speed by 0.1 m/s; then rounding."
    yield close("top speed of VIVI [m/s]", wanted, run.value("twist")[0], 1e-8, why)
    yield worst("top speed of VIVI: the current is I_0 [A]", run.each("current") - idle, 1e-6, why)
    coulomb, viscous, efficiency = 2.0, 0.4, 0.8
    motor = {
        **MAGMOTOR, "gear_ratio": GEAR, "efficiency": efficiency,
        "friction": {
            "coulomb": coulomb, "static": 1.5 * coulomb, "stiffness": 200.0, "damping": 1.0, "viscous": viscous,
        },
    }  # fmt: skip
    gain = GEAR * efficiency * K_T / RESISTANCE
    for volts in (18.0, -9.0):
        omega = (gain * abs(volts) - coulomb) / (gain * GEAR / K_V + viscous)
        run = rig(four_wheeler(motor=motor)).command(voltages=volts).run(4.0)
        wanted = np.copysign(0.1 * omega, volts)
        yield close(f"top speed with friction at {volts:g} V [m/s]", wanted, run.value("twist")[0], 1e-8, why)


def coast_down(samples: int) -> Iterator[Check]:
    """(m + ΣI/r²) v̇ = −4 (F_c + σ₂ v/r)/r: v + v_c falls as e^{−t/τ} with v_c = r F_c/σ₂ and τ = (m r² +
    4I)/(4σ₂); with σ₂ = 0 the speed falls evenly. A vehicle that has stopped stays."""
    del samples
    radius, mass, inertia, coulomb, time = 0.1, 40.0, 0.01, 0.4, 2.0
    whole = mass * radius**2 + 4.0 * inertia
    for viscous in (0.0, 0.02):
        friction = {"coulomb": coulomb, "static": coulomb, "stiffness": 100.0, "damping": 0.5, "viscous": viscous}
        run = rig(four_wheeler(wheel={"friction": friction}), velocity=[3.0, 0.0, 0.0]).run(2.0)
        first = float(np.linalg.norm(run.value("twist")[:3]))
        last = float(np.linalg.norm(run.run(time).value("twist")[:3]))
        if viscous == 0.0:
            wanted, tolerance = first - time * 4.0 * coulomb * radius / whole, 1e-10
            why = "A constant force: rounding, and e^-30 of the first nod."
        else:
            v_c, tau = radius * coulomb / viscous, whole / (4.0 * viscous)
            wanted = (first + v_c) * exp(-time / tau) - v_c
            # The chassis leans by m a H/(4k x²); while that fades at the rate 1/τ, the bearings turn that much slower.
            nod = mass * (first + v_c) / tau * 0.134 / (24000.0 * 0.22**2) / tau
            tolerance = 0.5e-4 * time * (first + v_c) / tau**2 + 2.0 * nod * radius * time / tau
            why = "Semi-implicit Euler: h T (v + v_c)/2τ²; and the chassis nods back while the deceleration fades."
        case = f"coast-down, σ₂ = {viscous:g} N·m·s"
        yield close(f"{case}: speed after {time:g} s [m/s]", wanted, last, tolerance, why)
        stopped = run.run(6.0).value("pose")[:3].copy()
        gone = float(np.linalg.norm(run.run(2.0).value("pose")[:3] - stopped))
        why = "Plain LuGre friction holds; what remains of the bristles' swing after a second at rest."
        yield close(f"{case}: moves on, once stopped [m]", 0.0, gone, 1e-6, why)


BRISTLES = {"coulomb": 2.0, "static": 3.0, "stribeck_speed": 0.5, "stiffness": 3000.0, "damping": 16.0, "viscous": 0.3}
"""Damped beyond 2√(σ₀ I) = 11, so that a torque that is put on at once does not overshoot."""


def stribeck_curve(v: np.ndarray, continuous: bool, steepness: float) -> np.ndarray:
    """Steady friction of `BRISTLES` at the speeds v, by NumPy."""
    smooth = 2.0 / pi * np.arctan(steepness * v) if continuous else np.sign(v)
    return smooth * (2.0 + 1.0 * np.exp(-((v / 0.5) ** 2))) + 0.3 * v


def stribeck_by_equation(samples: int) -> Iterator[Check]:
    """LuGre at a constant speed settles at S_0(v)[F_c + (F_s − F_c) e^{−(v/v_s)²}] + σ₂ v, S_0 = (2/π) arctan(k_v
    v) in the continuous form and sgn v in the plain one, whatever the step."""
    rng = np.random.default_rng(53)
    for continuous, name in ((0.0, "plain"), (1.0, "continuous")):
        wrong = []
        for _ in range(min(samples, 200)):
            v = float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-2.5, 1.0))
            dt = 0.5 / (300.0 * abs(v))
            z = 0.0
            for _ in range(150):
                force, rate = lugre(300.0, 2.0, 0.3, 2.0, 3.0, 0.5, 1000.0, continuous, z, v, dt)
                z += dt * rate
            force, rate = lugre(300.0, 2.0, 0.3, 2.0, 3.0, 0.5, 1000.0, continuous, z, v, 0.0)
            wrong.append(force - stribeck_curve(np.array(v), continuous > 0.5, 1000.0))
        # One step leaves 1/(1 + dt decay) of the way; decay dt = 0.5/F_s or more with S_0 > 0.8.
        why = "150 steps each leave at most 0.9 of the way to the steady bristles: e^-16 of 3 N·m, times 1 + σ₁ v/z."
        yield worst(f"LuGre, {name}: Stribeck curve by the equation [N·m]", wrong, 1e-5, why)


def stribeck_in_the_engine(samples: int) -> Iterator[Check]:
    """A motor that turns an axle in the air at a steady speed: torque = friction = the Stribeck curve at that speed."""
    del samples
    for form in ("plain", "continuous"):
        motor = {**MAGMOTOR, "gear_ratio": GEAR, "friction": {**BRISTLES, "form": form}}
        run = in_the_air(four_wheeler(motor=motor))
        wrong: list[float] = []
        for volts in ([0.2, 0.4, -0.3, 0.6], [1.0, 2.0, -4.0, -0.25], [8.0, -1.5, 0.8, 0.5]):
            run.command(voltages=volts).run(2.0)
            curve = stribeck_curve(run.each("speed"), form == "continuous", 1000.0)
            wrong += [*(run.each("torque") - curve), *(run.each("friction") - curve)]
        why = "After 2 s at every voltage: bristles settle over an angle of F_s/σ₀, e^-50 at the slowest, 0.03 rad/s."
        yield worst(f"LuGre, {form}: Stribeck curve of a turning axle [N·m]", wrong, 1e-9, why)


def break_away(samples: int) -> Iterator[Check]:
    """Under a constant torque τ the plain form holds as long as τ < F_s, bent by τ/σ₀ …, and breaks away above it. The
    continuous form creeps at v ≈ tan(π τ/2F_s)/k_v under any."""
    del samples
    static, stiffness = 3.0, 3000.0
    robot = four_wheeler(motor={**MAGMOTOR, "friction": BRISTLES})

    def loaded(shares: np.ndarray) -> Rig:
        # Slowly: at speed, the friction that a torque has to overcome is less than F_s.
        run = in_the_air(robot)
        for part in np.linspace(0.0, 1.0, 201):
            run.command(voltages=part * shares * static * RESISTANCE / K_T).run(0.02)
        return run.run(1.0)

    shares = np.array([0.5, 0.9, 0.99, -0.99])
    run = loaded(shares)
    before = run.each("angle")
    moved = run.run(5.0).each("angle") - before
    why = "From a second after 0.5, 0.9 and ±0.99 of F_s are on, five more: the bristles lose e^-20 and more a second."
    yield worst("break-away, plain: turns below F_s [rad]", moved, 1e-9, why)
    # dz = (1 − σ₀ z/F_s) dθ while v is far below v_s.
    bent = -static / stiffness * np.log(1.0 - shares[:2])
    why = "θ = −(F_s/σ₀) ln(1 − τ/F_s) while |v| < 0.01 rad/s, where F_s holds to 2e-4; small swings at every step up."
    yield worst("break-away, plain: angle by which it bends, relative", before[:2] / bent - 1.0, 4e-3, why)
    run = loaded(np.full(4, 1.01))
    gone = float(run.each("angle").min())
    motion = "breaks away" if gone > 1.0 else f"{gone:g} rad"
    yield same("break-away, plain: at 1.01 of F_s", "breaks away", motion, "More than 1 rad within a second.")
    steepness = 100.0
    friction = {**BRISTLES, "form": "continuous", "viscous": 0.0, "steepness": steepness, "stribeck_speed": 5.0}
    run = in_the_air(four_wheeler(motor={**MAGMOTOR, "friction": friction}), step=2e-4)
    run.command(voltages=np.array([0.2, 0.4, 0.5, 0.6]) * static * RESISTANCE / K_T).run(40.0)
    creep = np.tan(0.5 * pi * run.each("torque") / static) / steepness
    # The friction at v is below F_s by (F_s − F_c)(v/v_s)² < 3e-6 of it; tan(πs/2) moves by πs/sin(πs) < 2 of that.
    why = "The friction at v is F_s to (v/v_s)²/3 < 3e-6, which moves v by less than twice of that; 40 s are e^-26."
    yield worst("creep of the continuous form, relative", run.each("speed") / creep - 1.0, 6e-6, why)


def one_motor_for_two_wheels(samples: int) -> Iterator[Check]:
    """Two motors on one shaft are one motor of half the resistance and twice the I_0, limit and rotor: a pair of
    wheels on it, left and right, runs as with two motors; and so does, at top speed, a side of a tank."""
    del samples
    motor = {
        **MAGMOTOR,
        "no_load_current": IDLE,
        "gear_ratio": GEAR,
        "efficiency": 0.85,
        "current_limit": 40.0,
        "rotor_inertia": 1e-5,
    }
    double = {
        **motor,
        "resistance": RESISTANCE / 2,
        "no_load_current": 2 * IDLE,
        "current_limit": 80.0,
        "rotor_inertia": 2e-5,
    }
    ends = []
    for pairs in (None, {"front": NAMES[:2], "rear": NAMES[2:]}, {"left": NAMES[::2], "right": NAMES[1::2]}):
        robot = four_wheeler(motor=motor, wheel={"tyre": {"type": "magic-formula"}})
        if pairs is not None:
            robot["motors"] = {name: {**double, "wheels": list(wheels)} for name, wheels in pairs.items()}
        run = rig(robot).command(voltages=24.0).run(1.0)
        ends.append(run.value("pose").copy())
    why = "10,000 steps of a stable motion whose numbers differ in their last bits."
    yield worst("one motor for the wheels of an axle: pose after 1 s", ends[1] - ends[0], 1e4 * EPS, why)
    wanted = 0.1 * K_V * (24.0 - IDLE * RESISTANCE) / GEAR
    why = "After 4 s, as with a motor for each: the springs have lost e^-40 of the start."
    yield close(
        "one motor for the wheels of a side: top speed [m/s]", wanted, run.run(3.0).value("twist")[0], 1e-8, why
    )


FUNCTIONS = (
    no_load_point,
    stall_point,
    power_maximum,
    current_limit,
    battery_sag,
    gear_efficiency,
    top_speed,
    coast_down,
    stribeck_by_equation,
    stribeck_in_the_engine,
    break_away,
    one_motor_for_two_wheels,
)
