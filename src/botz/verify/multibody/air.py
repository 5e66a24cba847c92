"""What the air does: thrust along tilted axles, with all that may come with it, and the wind."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, exp, pi, sin, sqrt

import numpy as np

from botz.verify.checks import EPS, Check, close, worst
from botz.verify.multibody.rig import (
    CORNERS,
    DENSITY,
    GRAVITY,
    SENSES,
    WEIGHTLESS,
    Data,
    about,
    attitude,
    joint,
    link,
    lophorina,
    one_body,
    run_of,
)

K = 2.0032092e-5
"""Thrust of Lophorina's propellers [N·s²/rad²]."""
HEAVY = 1e6
"""Mass of what must keep its velocity whatever pushes it [kg]."""


# --- propellers ------------------------------------------------------------------------------------------------------


def hover_point(samples: int) -> Iterator[Check]:
    """4 K ω² = m g: with 2.132 kg 5.229 N and 510.9 rad/s each, at which Lophorina neither rises nor sinks."""
    del samples
    run = run_of(lophorina())
    mass = float(run.engine.model.body_mass.sum())
    thrust = mass * GRAVITY / 4.0
    speed = sqrt(thrust / K)
    why = "1.5 + 4 · 0.15 + 4 · 0.008."
    yield close("Lophorina's mass [kg]", 2.132, mass, 8 * EPS, why)
    yield close("hover: thrust of a propeller [N]", 5.229, thrust, 5e-4, "Of the page's digits.")
    yield close("hover: speed of a propeller [rad/s]", 510.9, speed, 0.05, "Of the page's digits.")
    turning = {f"spin_{corner}": SENSES[corner] * speed for corner in CORNERS}
    run = run_of(lophorina(), start_speed=turning, pose={"z": 1.0})
    run.command({f"{name}/speed": value for name, value in turning.items()})
    wrong = [run.of(f"rotor_{corner}/thrust") - thrust for corner in CORNERS]
    why = "K ω² of the root of f/K: three roundings."
    yield worst("hover: thrust that the element gives [N]", wrong, 4 * EPS * thrust, why)
    fallen = float(run.run(1.0).of("pose")[2]) - 1.0
    # Unbalanced propellers shake their arms at r = ω I_xz/I_arm, which pushes a bar-like propeller by r² against its
    # servo of 50 rad/s: it lags by r²/50, the thrust by twice that over ω, and the height by g t²/2 of it.
    shaken = speed * 1.52e-8 / 8.5e-5
    why = "Shaken arms make the propellers lag by r²/50 at r = ω I_xz/I_arm: g r²/(50 ω) in the first second."
    yield close("hover at that speed: height after 1 s [m]", 0.0, fallen, GRAVITY * shaken**2 / (50.0 * speed), why)


def tilted_thrust(samples: int) -> Iterator[Check]:
    """A rotor tilted by τ pushes along R (sin τ, 0, cos τ), R the body's attitude, at its axle: L grows by Σ r × f."""
    rng = np.random.default_rng(61)
    forces, moments = [], []
    step = 1e-6
    for _ in range(max(min(samples, 200) // 20, 3)):
        tilts, speeds = rng.uniform(-0.78, 0.78, 4), rng.uniform(100.0, 800.0, 4)
        angles = rng.uniform(-1.2, 1.2, 3)
        turned = attitude(*angles)
        start = dict(zip((f"tilt_{corner}" for corner in CORNERS), tilts.tolist(), strict=True))
        turning = {f"spin_{c}": SENSES[c] * w for c, w in zip(CORNERS, speeds.tolist(), strict=True)}
        pose = [0.3, -0.2, 5.0, *angles.tolist()]
        run = run_of(lophorina(), step=step, world=WEIGHTLESS, pose=pose, start=start, start_speed=turning)
        run.command({f"{name}/speed": value for name, value in turning.items()})
        before, centre = run.momentum(), run.centre()
        growth = np.zeros(3)
        for corner, tilt, speed in zip(CORNERS, tilts, speeds, strict=True):
            force = turned @ (K * speed**2 * np.array([sin(tilt), 0.0, cos(tilt)]))
            forces.append(float(np.abs(run.of(f"rotor_{corner}/force") - force).max()))
            x, y = (1.0 if "front" in corner else -1.0), (1.0 if "left" in corner else -1.0)
            axle = np.array([x * 0.1825, y * 0.126, 0.025]) + about(1, tilt) @ [0.0, y * 0.138, 0.05]
            growth += np.cross(np.array(pose[:3]) + turned @ axle - centre, force)
        moments.append(float(np.abs((run.steps(1).momentum() - before) / step - growth).max()))
    why = "Products of three rotations on 12.8 N at most."
    yield worst("thrust of tilted rotors, any attitude [N]", forces, 100 * EPS * 12.8, why)
    # In a step of h the arms turn by less than h² 1e5/2, and L of 0.1 kg·m²/s is known to a few eps, divided by h.
    why = "Of a step of 1 µs: roundings of L, 0.1 · 100 eps/h, and arms and propellers that move on, 1e-4 of the lever."
    yield worst("moment of tilted rotors about the centre of mass [N·m]", moments, 1e-4, why)


def propeller_extras(samples: int) -> Iterator[Check]:
    """f = a + b ω + c ω² within max_force; drag torque c f against the spin; −c|ω| v⊥ across the axle; f (1 − c v∥);
    and the ground's f/(1 − (R/4z)²)."""
    del samples
    element: Data = {
        "type": "propeller", "joint": "spin", "curve": [0.2, 0.001, 2e-5], "sense": "cw", "drag_torque": 0.02,
        "rotor_drag": 1e-4, "rolling_moment": 2e-5, "inflow_loss": 0.03, "radius": 0.15,
    }  # fmt: skip
    robot = {
        "links": {"body": link(HEAVY), "propeller": link(0.1, [1e-3, 1e-3, 1e-3])},
        "joints": {"spin": joint("continuous", "body", "propeller")},
        "elements": {"rotor": element},
    }
    height, wind, speed = 0.2, np.array([3.0, -1.0, 0.5]), 400.0
    world = {"gravity": [0.0, 0.0, 0.0], "ground": True, "wind": {"steady": wind.tolist()}}
    run = run_of(robot, world=world, pose={"z": height}, start_speed={"spin": -speed})
    steady = 0.2 + 0.001 * speed + 2e-5 * speed**2
    thrust = steady * (1.0 + 0.03 * wind[2]) / (1.0 - (0.15 / (4.0 * height)) ** 2)
    across = np.array([-wind[0], -wind[1], 0.0])
    force = np.array([0.0, 0.0, thrust]) - 1e-4 * speed * across
    why = "A handful of products: rounding of 4 N."
    yield worst(
        "propeller: thrust and drag across in wind and ground effect [N]",
        run.of("rotor/force") - force,
        20 * EPS * 4.0,
        why,
    )
    # Turning against the clock's sense about −z: the air brakes it with a torque about +z.
    yield close(
        "propeller: torque of the air about the axle [N·m]", 0.02 * steady, run.of("rotor/torque"), 20 * EPS, why
    )
    before = run.momentum()
    moment = (run.steps(1).momentum() - before) / run.engine.dt
    wanted = np.array([0.0, 0.0, 0.02 * steady]) - 2e-5 * speed * across
    # The torque falls with the speed, by ½ h τ/J of it relatively; L about a centre that is the heavy body's.
    why = "Over a step of 0.25 ms: the spin falls by τ h/2J = 1e-2 rad/s of 400, and L = 0.4 is rounded."
    yield worst("propeller: moments of drag and rolling [N·m]", moment - wanted, 1e-5, why)
    capped = run_of(
        {**robot, "elements": {"rotor": {**element, "max_force": 2.5, "radius": None, "inflow_loss": 0.0}}},
        world=WEIGHTLESS,
        start_speed={"spin": -speed},
    )
    yield close("propeller: at most max_force [N]", 2.5, capped.of("rotor/thrust"), 4 * EPS, "By definition.")
    back = run_of(
        {**robot, "elements": {"rotor": {**element, "radius": None}}}, world=WEIGHTLESS, start_speed={"spin": speed}
    )
    yield close("propeller: pushes backwards, turning backwards [N]", -steady, back.of("rotor/thrust"), 20 * EPS, why)


def thrust_lag(samples: int) -> Iterator[Check]:
    """τ ḟ = K ω² − f with τ up or down: f = f₁ + (f₀ − f₁) e^{−t/τ} after a step of the speed."""
    del samples
    up, down, step = 0.05, 0.12, 1e-3
    robot = {
        "base": "fixed",
        "links": {"body": link(1.0), "propeller": link(0.1, [1e-3, 1e-3, 1e-3])},
        "joints": {"spin": joint("continuous", "body", "propeller")},
        "elements": {"rotor": {"type": "propeller", "joint": "spin", "coefficient": 1e-5, "lag_up": up,
                               "lag_down": down}},
    }  # fmt: skip
    run = run_of(robot, step=step, world=WEIGHTLESS, start_speed={"spin": 300.0})
    run.steps(1)
    wrong, start = [], 0.9
    for speed, lag in ((500.0, up), (200.0, down)):
        # Nothing turns the propeller but us: its speed is what it was set to.
        run.engine.data.qvel[0] = speed
        rows = run.record(0.3)
        goal = 1e-5 * speed**2
        times = step * np.arange(1, len(rows) + 1)
        expected = goal + (start - goal) * np.exp(-times / lag)
        wrong += list(run.of("rotor/thrust", rows) - expected)
        start = float(expected[-1])
    why = "Exact steps of the exponential: 600 roundings of 2.5 N."
    yield worst("lag of the thrust, up and down [N]", wrong, 600 * EPS * 2.5, why)


# --- wind ------------------------------------------------------------------------------------------------------------

BALL: Data = {
    "type": "lift-drag", "link": "body", "area": 0.05, "cla": 0.0, "cda": 0.0, "cda_stall": 0.0, "cd0": 0.5,
    "radial_symmetry": True,
}  # fmt: skip


def steady_wind(samples: int) -> Iterator[Check]:
    """A ball let go falls as v = v_t tanh(g t/v_t) to v_t = √(2 m g/ρ A c), and wind carries it: in air that moves it
    ends with the wind's velocity and v_t below it."""
    del samples
    mass, step = 0.3, 1e-3
    terminal = sqrt(2.0 * mass * GRAVITY / (DENSITY * BALL["area"] * BALL["cd0"]))
    robot = one_body(mass, elements={"air": BALL})
    run = run_of(robot, step=step)
    rows = run.record(2.0)
    times = step * np.arange(1, len(rows) + 1)
    wrong = run.of("twist", rows)[:, 2] + terminal * np.tanh(GRAVITY * times / terminal)
    # Fifth derivatives of v_t tanh(s) are below 16 v_t (g/v_t)⁵; h⁴/120 of that each second.
    why = "Runge-Kutta: h⁴ 16 v_t (g/v_t)⁵/120 a second, and 2000 roundings."
    bound = 2.0 * step**4 * 16.0 * terminal * (GRAVITY / terminal) ** 5 / 120.0 + 2000 * EPS * terminal
    yield worst("falling ball: speed by tanh over 2 s [m/s]", wrong, bound, why)
    wind = np.array([4.0, -2.0, 1.0])
    blown = run_of(robot, step=5e-3, world={"ground": False, "wind": {"steady": wind.tolist()}}).run(25.0)
    # Across, the speed against the air falls as e^(−g t/v_t) once it sinks steadily.
    why = "After 25 s at v_t/g = 1.4 s: e^-17 of 13 m/s, more than which is left across the fall."
    left = 13.0 * exp(-GRAVITY * 24.0 / terminal)
    yield worst("ball in wind: its last velocity [m/s]", blown.of("twist")[:3] - wind + [0.0, 0.0, terminal], left, why)


def blown_air(run, rows: np.ndarray) -> np.ndarray:
    """Velocity of the air by the drag on a ball that stands: F = ½ ρ A c |w| w."""
    force = run.of("air/force", rows)
    size = np.linalg.norm(force, axis=-1, keepdims=True)
    factor = 0.5 * DENSITY * BALL["area"] * BALL["cd0"]
    return np.where(size > 0.0, force / np.sqrt(np.where(size > 0.0, size * factor, 1.0)), 0.0)


def gusts(samples: int) -> Iterator[Check]:
    """A gust blows ½ (1 − cos 2π(t − t₀)/T) of its velocity from t₀ to t₀ + T, added to the steady wind."""
    del samples
    step, at, lasts = 5e-3, 0.3, 0.8
    peak, steady = np.array([5.0, -3.0, 2.0]), np.array([1.0, 0.5, 0.0])
    wind = {"steady": steady.tolist(), "gusts": [{"at": at, "duration": lasts, "velocity": peak.tolist()}]}
    run = run_of({**one_body(elements={"air": BALL}), "base": "fixed"}, step=step, world={**WEIGHTLESS, "wind": wind})
    rows = run.record(1.5)
    times = step * np.arange(1, len(rows) + 1)
    inside = (times > at) & (times < at + lasts)
    share = np.where(inside, 0.5 * (1.0 - np.cos(2.0 * pi * (times - at) / lasts)), 0.0)
    why = "The force's root: roundings of 8 m/s, and of the gust's phase."
    wrong = blown_air(run, rows) - steady - share[:, None] * peak
    yield worst("gust: velocity of the air over 1.5 s [m/s]", wrong.ravel(), 1e-13, why)


def turbulence(samples: int) -> Iterator[Check]:
    """For each axis a process of variance σ² and correlation e^{−τ/T}, T = length/speed."""
    step = 0.01
    sigma, time = np.array([1.5, 1.0, 0.6]), 0.05
    wind = {"turbulence": {"intensity": sigma.tolist(), "length": 1.0, "speed": 20.0}}
    run = run_of(
        {**one_body(elements={"air": BALL}), "base": "fixed"}, step=step, world={**WEIGHTLESS, "wind": wind}, seed=7
    )
    air = blown_air(run, run.record(min(max(samples / 1.5, 20.0), 2000.0)))
    kept = exp(-step / time)
    n = len(air)
    # Of an autoregressive series: Var s² = (2σ⁴/n)(1 + ρ²)/(1 − ρ²).
    spread = sqrt(2.0 / n * (1.0 + kept**2) / (1.0 - kept**2))
    why = f"Five standard deviations of the variance of {n} correlated samples, √(2/n (1 + ρ²)/(1 − ρ²))."
    yield worst("turbulence: variance by σ², less 1", (air**2).mean(axis=0) / sigma**2 - 1.0, 5.0 * spread, why)
    for lag in (1, 5, 10):
        found = (air[lag:] * air[:-lag]).mean(axis=0) / (air**2).mean(axis=0)
        rho = kept**lag
        # Bartlett's formula for an autoregressive process of first order.
        spread = sqrt(((1.0 + kept**2) * (1.0 - rho**2) / (1.0 - kept**2) - 2.0 * lag * rho**2) / n)
        why = "Five standard deviations by Bartlett's formula."
        name = f"turbulence: correlation after {lag * step:g} s"
        yield worst(f"{name}, less e^(−τ/T)", found - rho, 5.0 * spread, why)
    mean = air.mean(axis=0) / sigma
    why = "Five standard deviations of the mean: √((1 + ρ)/(1 − ρ)/n) of σ."
    yield worst("turbulence: mean by σ", mean, 5.0 * sqrt((1.0 + kept) / (1.0 - kept) / n), why)


FUNCTIONS = (hover_point, tilted_thrust, propeller_extras, thrust_lag, steady_wind, gusts, turbulence)
