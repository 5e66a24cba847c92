"""Actuators and joint elements against closed forms: servos for position and speed, plain efforts, lags, motors."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log

import numpy as np

from botz.verify.checks import EPS, Check, close, worst
from botz.verify.multibody.rig import WEIGHTLESS, Data, Run, run_of, turntable

INERTIA, STEP = 0.02, 1e-3


def table_run(actuator: Data, **jointed: object) -> Run:
    return run_of(turntable(INERTIA, actuator, **jointed), step=STEP, world=WEIGHTLESS)


def times(rows: np.ndarray) -> np.ndarray:
    return STEP * np.arange(1, len(rows) + 1)


def position_servo(samples: int) -> Iterator[Check]:
    """A position servo's reference goes to its command at the joint's speed, and the joint follows it without lag;
    against a step it answers as I φ'' + 2ζ I ω φ' + I ω² φ = I ω² φ_c."""
    del samples
    frequency, rate = 100.0, 0.5
    run = table_run({"kind": "position", "frequency": frequency}, speed=rate)
    rows = run.command({"turn/position": 1.0}).record(2.5)
    ramp = np.minimum(rate * times(rows), 1.0)
    position, speed = run.of("turn/position", rows), run.of("turn/speed", rows)
    # Damping against the reference's speed, not against rest, leaves no lag; a start fades as e^(−ωt).
    going = (times(rows) > 0.4) & (times(rows) < 1.95)
    why = "The way of each step, once e^-40 of the start is gone: 2500 roundings of 1 rad by 1 ms."
    yield worst("position servo: goes at its rate [rad/s]", np.diff(position[going]) / STEP - rate, 1e-10, why)
    # Within a step the reference stands still, so that the speed swings: by ω² r h²/12 at its ends.
    why = "The reference of a step stands still through it: the speed at its end is ω² r h²/12 less."
    swing = frequency**2 * rate * STEP**2 / 12.0
    why += " To (ωh)² of it, the next order."
    less = (frequency * STEP) ** 2 * swing
    yield worst("position servo: speed at the steps' ends [rad/s]", speed[going] - rate + swing, less, why)
    why = "The reference of a step holds through it, half a step's way ahead; its swings go ω r h³/12 to and fro."
    ahead = position[going] - ramp[going] - 0.5 * rate * STEP
    yield worst("position servo: follows the ramp half a step ahead [rad]", ahead, swing * STEP, why)
    why = "0.5 s at 100 rad/s: e^-50, and 2500 roundings."
    yield close("position servo: ends at its command [rad]", 1.0, position[-1], 2500 * EPS, why)
    run = table_run({"kind": "position", "frequency": frequency})
    rows = run.command({"turn/position": 0.3}).record(0.1)
    s = frequency * times(rows)
    expected = 0.3 * (1.0 - (1.0 + s) * np.exp(-s))
    # Runge-Kutta with ωh = 0.1: (ωh)⁴/120 of each time constant, six of them with the polynomial.
    why = "Runge-Kutta: (ωh)⁴/120 for each of 10 time constants, of 0.3 rad."
    wrong = run.of("turn/position", rows) - expected
    yield worst("position servo: answer to a step [rad]", wrong, 0.3 * 10 * 0.1**4 / 120, why)
    run = table_run({"kind": "position", "frequency": frequency, "integral_time": 0.1})
    # A spring pulls it back, which the proportional part alone would give way to.
    run.engine.model.jnt_stiffness[0] = 0.3 * float(run.engine.tables.actuators["proportional"][0])
    rows = run.command({"turn/position": 0.2}).record(2.0)
    slow = -np.roots([1.0, 2.0 * frequency, 1.3 * frequency**2, frequency**2 / 0.1]).real.max()
    yield close(
        "position servo with an integral part: ends at its command [rad]",
        0.2,
        run.of("turn/position", rows)[-1],
        0.2 * exp(-slow * 2.0),
        "Against a spring of 0.3 k_p: e^(−st) of it by the slowest pole of s³ + 2ω s² + 1.3 ω² s + ω²/T = 0; 2 s.",
    )
    run = table_run({"kind": "position", "frequency": frequency}, range=[-0.4, 0.6], speed=2.0)
    end = run.command({"turn/position": 3.0}).run(2.0).of("turn/position")
    yield close("position servo: commands end at the range [rad]", 0.6, end, 2000 * EPS, "The reference stops there.")


def speed_servo(samples: int) -> Iterator[Check]:
    """k_p = I ω_c: the speed follows a step as 1 − e^{−ω_c t}; within the joint's effort it grows evenly, at τ/I."""
    del samples
    frequency = 40.0
    run = table_run({"kind": "velocity", "frequency": frequency})
    rows = run.command({"turn/speed": 7.0}).record(0.5)
    wrong = run.of("turn/speed", rows) - 7.0 * (1.0 - np.exp(-frequency * times(rows)))
    # Runge-Kutta's factor for e^(−z), z = ωh = 0.04, is wrong by z⁵/120 a step: ωt z⁴/120 e^(−ωt)
    # in all, at most at ωt = 1.
    why = "Runge-Kutta: ωt e^(−ωt) (ωh)⁴/120 of 7 rad/s at ωt = 1, e^(ωh) for the next order, and 500 roundings."
    yield worst(
        "speed servo: first order [rad/s]", wrong, 7.0 * 1.04 * exp(-1.0) * 0.04**4 / 120.0 + 500 * EPS * 7.0, why
    )
    run = table_run({"kind": "velocity", "frequency": frequency, "effort": 0.8})
    rows = run.command({"turn/speed": 50.0}).record(0.5)
    wrong = run.of("turn/speed", rows) - 0.8 / INERTIA * times(rows)
    yield worst("speed servo: at its greatest effort [rad/s]", wrong, 500 * EPS * 20.0, "A constant torque: roundings.")
    yield worst("speed servo: shows that effort [N·m]", run.of("turn/effort", rows) - 0.8, 4 * EPS, "As given.")
    run = table_run({"kind": "velocity", "frequency": frequency}, speed=5.0)
    end = run.command({"turn/speed": -20.0}).run(1.0).of("turn/speed")
    yield close("speed servo: commands end at the joint's speed [rad/s]", -5.0, end, 5.0 * exp(-40.0) + 1e-13, "e^-40.")


def effort_and_friction(samples: int) -> Iterator[Check]:
    """I φ'' = τ − d φ': without damping φ = ½ τ t²/I, with it the speed goes to τ/d with the time constant I/d."""
    del samples
    run = table_run({"kind": "effort"})
    rows = run.command({"turn/effort": 0.3}).record(1.0)
    wrong = run.of("turn/position", rows) - 0.5 * 0.3 / INERTIA * times(rows) ** 2
    yield worst("effort: ½ τ t²/I [rad]", wrong, 1000 * EPS * 7.5, "Runge-Kutta is exact here: 1000 roundings.")
    run = table_run({"kind": "effort"}, damping=0.05)
    rows = run.command({"turn/effort": 0.3}).record(1.0)
    wrong = run.of("turn/speed", rows) - 6.0 * (1.0 - np.exp(-2.5 * times(rows)))
    why = "Runge-Kutta: (h d/I)⁴/120 of 6 rad/s, and 1000 roundings."
    yield worst("effort against damping: speed [rad/s]", wrong, 6.0 * 0.0025**4 / 120 + 1000 * EPS * 6.0, why)
    run = table_run({"kind": "effort"}, effort=0.2)
    rows = run.command({"turn/effort": 5.0}).record(0.2)
    yield worst("effort: at most the joint's [N·m]", run.of("turn/effort", rows) - 0.2, 4 * EPS, "As given.")
    run = table_run({"kind": "effort"}, armature=0.03)
    speed = run.command({"turn/effort": 0.5}).run(1.0).of("turn/speed")
    yield close(
        "effort against an armature: speed [rad/s]", 0.5 / (INERTIA + 0.03), speed, 1000 * EPS * 10, "τ t/(I + a)."
    )


def lags(samples: int) -> Iterator[Check]:
    """With a lag the reference follows its command as e^{−t/τ}, with a τ of its own downwards, whatever the step."""
    del samples
    up, down = 0.1, 0.25
    wrong = []
    robot = turntable(INERTIA, {"kind": "effort", "lag": up, "lag_down": down})
    run = run_of(robot, step=STEP, world=WEIGHTLESS)
    start = 0.0
    for command, lag in ((2.0, up), (0.5, down), (-1.0, up), (0.0, down)):
        rows = run.command({"turn/effort": command}).record(0.3)
        expected = command + (start - command) * np.exp(-times(rows) / lag)
        if start * command >= 0.0:  # through 0 it is both
            wrong += list(run.of("turn/effort", rows) - expected)
        start = float(run.of("turn/effort", rows)[-1])
    why = "Exact steps of the exponential: 1200 roundings of 2 N·m."
    yield worst("lag of the reference, up and down [N·m]", wrong, 1200 * EPS * 2.0, why)


MOTOR: Data = {
    "type": "dc-motor", "joint": "turn", "resistance": 0.5, "torque_constant": 0.04, "gear_ratio": 5.0,
    "max_voltage": 24.0,
}  # fmt: skip


def dc_motor(samples: int) -> Iterator[Check]:
    """I φ'' = G K_t (V − G K_e φ')/R: the speed goes to V/(G K_e) with the time constant I R/(G² K_t K_e)."""
    del samples
    robot = turntable(INERTIA, {"kind": "effort"})
    robot = {**robot, "actuators": {}, "elements": {"motor": MOTOR}}
    run = run_of(robot, step=STEP, world=WEIGHTLESS)
    constant = 5.0 * 0.04
    rate = constant**2 / (0.5 * INERTIA)
    rows = run.command({"turn/voltage": 12.0}).record(1.0)
    wrong = run.of("turn/speed", rows) - 12.0 / constant * (1.0 - np.exp(-rate * times(rows)))
    why = "Runge-Kutta: (h/τ)⁴/120 of 60 rad/s, and 1000 roundings."
    bound = 60.0 * 0.37 * (rate * STEP) ** 4 / 120.0 + 1000 * EPS * 60.0
    yield worst("DC motor on a joint: speed after a step of voltage [rad/s]", wrong, bound, why)
    current = (12.0 - constant * run.of("turn/speed", rows)) / 0.5
    yield worst(
        "DC motor on a joint: current [A]", run.of("motor/current", rows) - current, 100 * EPS * 24.0, "(V − E)/R."
    )


def joint_friction(samples: int) -> Iterator[Check]:
    """LuGre friction holds a joint below its static torque; sliding far above Stribeck's speed it brakes with F_c, so
    that the speed falls evenly."""
    del samples
    robot = turntable(INERTIA, {"kind": "effort"})
    friction: Data = {
        "type": "lugre",
        "joint": "turn",
        "stiffness": 500.0,
        "damping": 4.0,
        "coulomb": 0.2,
        "static": 0.3,
    }
    robot = {**robot, "elements": {"friction": friction}}
    run = run_of(robot, step=STEP, world=WEIGHTLESS)
    # Slowly, so that it does not swing beyond.
    for part in np.linspace(0.0, 1.0, 101):
        run.command({"turn/effort": 0.15 * part}).run(0.02)
    moved = run.run(1.0).of("turn/position")
    # dz = (1 − σ₀ z/F_s) dφ: bent by −(F_s/σ₀) ln(1 − τ/F_s).
    bent = -0.3 / 500.0 * log(1.0 - 0.15 / 0.3)
    why = "dz = (1 − σ₀ z/F_s) dφ, loaded in steps of a hundredth, each of which swings by its own size at most."
    yield close("LuGre friction on a joint: bends under half of F_s [rad]", bent, moved, 0.01 * bent, why)
    gone = run.run(3.0).of("turn/position") - moved
    yield close("LuGre friction on a joint: holds [rad]", 0.0, gone, 1e-7, "At rest after 3 s: e^-20 of its swings.")
    run = run_of(robot, step=STEP, world=WEIGHTLESS, start_speed={"turn": 20.0}).run(0.3)
    first = float(run.of("turn/speed"))
    last = float(run.run(1.0).of("turn/speed"))
    why = "F_c t/I once the bristles are bent; e^(−(v/v_s)²) is nothing at 7 rad/s and more."
    yield close("LuGre friction on a joint: brakes by F_c [rad/s]", -0.2 / INERTIA, last - first, 1e-6, why)


FUNCTIONS = (position_servo, speed_servo, effort_and_friction, lags, dc_motor, joint_friction)
