"""Rigid bodies against closed forms: free fall, momentum, a top, a double pendulum, and the order of the methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import cos, log2, sin, sqrt

import numpy as np

from botz.scenario import library
from botz.scenario.load import load
from botz.verify.checks import EPS, FAST, Check, close, worst
from botz.verify.multibody.rig import (
    CORNERS,
    GRAVITY,
    WEIGHTLESS,
    Data,
    Run,
    joint,
    link,
    lophorina,
    one_body,
    run_of,
    spins,
)

FASTEST = sqrt(14.0593 / 2.0032092e-5)
"""Speed of Lophorina's propellers at their greatest thrust [rad/s]."""
SPIN_INERTIA = 4 * 3.4773e-5
"""Of its four propellers about their axles: the sources of momentum [kg·m²]."""


def free_fall(samples: int) -> Iterator[Check]:
    """z = z₀ + v t − ½ g t², whatever the body's turning: Runge-Kutta's method is exact for a constant acceleration."""
    del samples
    step, time = 1e-3, 2.0
    fall = 20.0 + 3.0 * time - 0.5 * GRAVITY * time**2
    run = run_of(
        one_body(2.0, [0.01, 0.02, 0.025]),
        step=step,
        pose={"z": 20.0},
        velocity=[1.0, -2.0, 3.0],
        angular_velocity=[3.0, 0.2, 4.0],
    ).run(time)
    wrong = run.of("pose")[:3] - [time, -2.0 * time, fall]
    why = "Each of 2000 steps adds to numbers of up to 21 m: 2000 roundings of half of eps each."
    yield worst("free fall of a turning body: place after 2 s [m]", wrong, 2000 * EPS * 21.0, why)
    for method in ("euler", "implicit"):
        run = run_of(one_body(2.0), step=step, method=method, pose={"z": 20.0}, velocity=[0.0, 0.0, 3.0]).run(time)
        lag = -0.5 * GRAVITY * step * time
        why = "z falls by the speed at the end of each step: ½ g h t lower, by the sum of an arithmetic series."
        name = f"free fall by {method}: height after 2 s [m]"
        yield close(name, fall + lag, run.of("pose")[2], 2000 * EPS * 21.0, why)
    flying = run_of(lophorina(thrust=False), start_speed=spins(510.9)).command(
        {f"{name}/speed": speed for name, speed in spins(510.9).items()}
    )
    start = flying.centre()
    why = "Balanced propellers leave it level; their products of inertia shake it by 1e-7 rad, and 4000 roundings."
    wrong = flying.run(1.0).centre() - start - [0.0, 0.0, -0.5 * GRAVITY]
    yield worst("free fall of Lophorina with spinning propellers: centre after 1 s [m]", wrong, 1e-9, why)


def tumbling(step: float, *, alike: bool, method: str = "rk4") -> Run:
    """Lophorina with propellers at full speed, tumbling in empty space, servos as they are shipped."""
    speeds = spins(FASTEST, alike=alike)
    return run_of(
        lophorina(thrust=False), step=step, method=method, world=WEIGHTLESS, start_speed=speeds,
        angular_velocity=[1.0, 1.0, 1.0],
    ).command({f"{name}/speed": speed for name, speed in speeds.items()})  # fmt: skip


def lost_momentum(run: Run, seconds: float) -> float:
    """Largest error of the angular momentum, by ΣJ_p|ω|, looked at each tenth of a second."""
    start, found = run.momentum(), 0.0
    for _ in range(round(10 * seconds)):
        found = max(found, float(np.linalg.norm(run.run(0.1).momentum() - start)))
    return found / (SPIN_INERTIA * FASTEST)


def longest_shipped_step() -> tuple[float, str]:
    """Step and method of the shipped flight of Lophorina that takes the longest steps."""
    times = [load(name).spec.time for name in library.names("scenario") if name.startswith("lophorina-")]
    longest = max(times, key=lambda time: time.step)
    return longest.step, str(getattr(longest, "method", ""))


def momentum_at_full_speed(samples: int) -> Iterator[Check]:
    """Nothing acts from outside: angular momentum about the centre of mass stays, however servos and gyroscopic
    moments push the parts about."""
    whole = samples > FAST
    step, method = longest_shipped_step()
    for alike, name in ((True, "all about +z"), (False, "crossed")):
        seconds = 10.0 if whole or alike else 2.0
        why = "What the shipped step and method must hold: 0.1 % of ΣJ_p|ω|, tumbling at 1.7 rad/s."
        lost = lost_momentum(tumbling(step, alike=alike, method=method), seconds)
        named = f"momentum of Lophorina at {step * 1e6:g} µs, propellers {name}, {seconds:g} s: lost share"
        yield close(named, 0.0, lost, 1e-3, why)
    coarse, fine = (lost_momentum(tumbling(step, alike=True), 1.0) for step in (5e-4, 2.5e-4))
    # (1 + 2^-4 c)/(1 + …): the next order's share is about 2ωh/5 = 0.17 of the step's error at 5e-4 s.
    why = "Fourth order; the next one's share, 2ωh/5 of it at 0.5 ms, moves the quotient by a quarter of an order."
    yield close("momentum: order of Runge and Kutta's loss", 4.0, log2(coarse / fine), 0.25, why)
    if whole:
        why = "Semi-implicit methods lose in first order: ten times what is allowed, within a second."
        lost = lost_momentum(tumbling(1e-3, alike=True, method="implicit"), 1.0)
        yield close("momentum by the implicit method at 1 ms: more than 1 % lost", 1.0, float(lost > 0.01), 0.0, why)


def exchanged_momentum(samples: int) -> Iterator[Check]:
    """Propellers that change speed turn the body the other way: J_zz Ω + Σ J_p ω = 0, and L = 0 throughout."""
    del samples
    run = run_of(lophorina(thrust=False), world=WEIGHTLESS)
    whole = total_inertia(run)[2, 2]
    spin = [propeller_inertia(run, corner) for corner in CORNERS]
    lost: list[float] = []
    for speeds in ([300.0, 300.0, 300.0, 300.0], [-500.0, 200.0, 400.0, 100.0], [0.0, 800.0, 800.0, 0.0]):
        run.command({f"spin_{corner}/speed": speed for corner, speed in zip(CORNERS, speeds, strict=True)})
        for _ in range(5):
            lost.append(float(np.linalg.norm(run.run(0.1).momentum())) / (sum(spin) * 800.0))
    found = [float(run.of(f"spin_{corner}/speed")) for corner in CORNERS]
    rate = -sum(j * w for j, w in zip(spin, found, strict=True)) / whole
    why = "Runge-Kutta's share of 0.1 % in 10 s, as demanded at full speed."
    yield worst("momentum while propellers change speed: share of ΣJ_p|ω|", lost, 1e-3, why)
    # A propeller's I_xz turns with it and shakes its arm, moment I about the tilt axis, by I_xz/I, far above the
    # servo's frequency; the arms' I_yz put their rates into the momentum about z.
    arm, product, shaken = 8.5e-5, 4.43e-5, 1.52e-8
    rate_of_arms = 800.0 * shaken / arm
    why = "Unbalanced propellers shake the arms at ω I_xz/I_arm, whose products of inertia take momentum about z."
    wrong = 4.0 * product * rate_of_arms / whole
    yield close("yaw rate of the body by exchange of momentum [rad/s]", rate, run.of("twist")[5], wrong, why)
    why = "After 0.5 s servos have lost e^-25; arms that shake at 0.14 rad/s push a bar-like propeller by its square."
    speeds_left = np.array(found) - [0.0, 800.0, 800.0, 0.0]
    yield worst("speeds follow their commands [rad/s]", speeds_left, rate_of_arms**2 / 50.0, why)


def total_inertia(run: Run) -> np.ndarray:
    """Of the robot as it stands, all joints locked, about its centre of mass in the world's axes (3, 3): by plain sums
    over the bodies' own tensors."""
    run.row()
    model, data = run.engine.model, run.engine.data
    centre = run.centre()
    found = np.zeros((3, 3))
    for b in range(1, model.nbody):
        axes, d = data.ximat[b].reshape(3, 3), data.xipos[b] - centre
        found += axes @ np.diag(model.body_inertia[b]) @ axes.T
        found += model.body_mass[b] * (d @ d * np.eye(3) - np.outer(d, d))
    return found


def propeller_inertia(run: Run, corner: str) -> float:
    """About its axle [kg·m²]."""
    inertial = run.engine.robots["r"].model.links[f"propeller_{corner}"].inertial
    assert inertial is not None
    return float(inertial.inertia[2, 2])


# --- a top -----------------------------------------------------------------------------------------------------------

MASS, LEVER, AXIAL, ACROSS = 0.5, 0.12, 6e-4, 4e-4
"""Of a rotor: mass, distance of its centre from the pivot, moments about and across its axle."""
RING = 1e-10
"""Moments of the gimbal's rings; a 1e-7 of the rotor's about the pivot."""


def top() -> Data:
    """A rotor on two rings: yaw about z, pitch about y, spin about its x, which points away from the pivot."""
    rings = {name: link(1e-6, [RING, RING, RING]) for name in ("outer", "inner")}
    return {
        "base": "fixed",
        "links": {"base": link(1.0), **rings, "rotor": link(MASS, [AXIAL, ACROSS, ACROSS], centre=[LEVER, 0.0, 0.0])},
        "joints": {
            "yaw": joint("continuous", "base", "outer"),
            "pitch": joint("continuous", "outer", "inner", axis=[0.0, 1.0, 0.0]),
            "spin": joint("continuous", "inner", "rotor", axis=[1.0, 0.0, 0.0]),
        },
    }


def precession(samples: int) -> Iterator[Check]:
    """A top on a fixed pivot with the axle at θ from upright precesses steadily at Ω where m g l = C ω₃ Ω − A Ω² cos θ;
    of the two roots the slow one, Ω ≈ m g l/(C ω₃)."""
    del samples
    across, load = ACROSS + MASS * LEVER**2, MASS * GRAVITY * LEVER
    for theta, speed in ((np.pi / 2, 400.0), (np.pi / 3, 400.0), (2.2, 250.0)):
        # ω₃ is the whole angular velocity along the axle: the joint's speed and Ω cos θ.
        omega = load / (AXIAL * speed)
        if abs(cos(theta)) > 1e-9:
            # With ω₃ given by the joint's speed s: load = C (s + Ω cos θ) Ω − A Ω² cos θ.
            a, b = (AXIAL - across) * cos(theta), AXIAL * speed
            omega = (-b + sqrt(b * b + 4.0 * a * load)) / (2.0 * a)
        run = run_of(
            top(), start={"pitch": theta - np.pi / 2}, start_speed={"yaw": omega, "spin": speed},
        ).run(1.0)  # fmt: skip
        case = f"top at {np.degrees(theta):.0f}°, {speed:g} rad/s"
        # Rings of 1e-7 of A change Ω² A cos θ, at most 0.3 of the load, by that share; nutation doubles it.
        why = "The gimbal's rings, 1e-7 of A, and Runge-Kutta's (Cω h/A)⁴/120 of what little they stir."
        yield close(f"{case}: precession in 1 s [rad]", omega, run.of("yaw/position"), 1e-6, why)
        leaned = float(run.of("pitch/position")) - (theta - np.pi / 2)
        yield close(f"{case}: leans further in 1 s [rad]", 0.0, leaned, 1e-6, why)
    # Let go at rest and level: A φ' (1 − u²) + C ω₃ u = 0 and ½ A φ'² (1 − u²) + m g l u = 0 where it turns back.
    inertial = (AXIAL * 400.0) ** 2 / (2.0 * across * load)
    lowest = 0.5 * (inertial - sqrt(inertial**2 + 4.0))
    rows = run_of(top(), start_speed={"spin": 400.0}).record(1.0)
    run = run_of(top())
    why = (
        "By energy and momentum about z and the axle, exactly; the greatest of samples misses by ν² h²/8 = 1e-5 of it."
    )
    angle, rate = -np.arcsin(lowest), -AXIAL * 400.0 * lowest / (across * (1.0 - lowest**2))
    leaned, fastest = run.of("pitch/position", rows).max(), run.of("yaw/speed", rows).max()
    yield close("top let go at rest: leans at most [rad]", angle, leaned, 1e-5 * angle, why)
    yield close("top let go at rest: turns at most [rad/s]", rate, fastest, 2e-5 * rate, why)


# --- a double pendulum -----------------------------------------------------------------------------------------------


def double_pendulum() -> Data:
    """Two rods that swing about y: masses 1.5 and 0.8 kg, 0.6 and 0.5 m long."""
    return {
        "base": "fixed",
        "links": {
            "base": link(1.0),
            "upper": link(1.5, [0.05, 0.05, 0.002], centre=[0.0, 0.0, -0.3]),
            "lower": link(0.8, [0.02, 0.02, 0.001], centre=[0.0, 0.0, -0.25]),
        },
        "joints": {
            "shoulder": joint("continuous", "base", "upper", axis=[0.0, 1.0, 0.0]),
            "elbow": joint("continuous", "upper", "lower", pose={"z": -0.6}, axis=[0.0, 1.0, 0.0]),
        },
    }


def pendulum_rates(state: np.ndarray) -> np.ndarray:
    """Lagrange's equations of `double_pendulum`, angles against the vertical."""
    a, b, u, v = state
    b, v = a + b, u + v  # the lower rod's own angle
    m1, m2, length, c1, c2 = 1.5, 0.8, 0.6, 0.3, 0.25
    coupling = m2 * length * c2
    matrix = np.array([
        [0.05 + m1 * c1**2 + m2 * length**2, coupling * cos(a - b)],
        [coupling * cos(a - b), 0.02 + m2 * c2**2],
    ])  # fmt: skip
    forces = np.array([
        -coupling * sin(a - b) * v * v - (m1 * c1 + m2 * length) * GRAVITY * sin(a),
        coupling * sin(a - b) * u * u - m2 * c2 * GRAVITY * sin(b),
    ])  # fmt: skip
    x, y = np.linalg.solve(matrix, forces)
    return np.array([u, v - u, x, y - x])


def runge_kutta(rates: Callable[[np.ndarray], np.ndarray], state: np.ndarray, step: float, count: int) -> np.ndarray:
    for _ in range(count):
        a = rates(state)
        b = rates(state + 0.5 * step * a)
        c = rates(state + 0.5 * step * b)
        d = rates(state + step * c)
        state = state + step / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return state


def swinging_rods(samples: int) -> Iterator[Check]:
    """A double pendulum keeps its energy, and follows Lagrange's equations; by Runge-Kutta's method both errors fall by
    16 when the step is halved."""
    del samples
    start = {"shoulder": 1.2, "elbow": -0.7}
    time = 1.6
    errors, ends = [], []
    for step in (2e-3, 1e-3, 5e-4, 2.5e-4):
        run = run_of(double_pendulum(), step=step, start=start)
        first = run.energy()
        run.run(time)
        errors.append(abs(run.energy() - first))
        ends.append(np.array([run.of("shoulder/position"), run.of("elbow/position")]))
    same = runge_kutta(pendulum_rates, np.array([1.2, -0.7, 0.0, 0.0]), 1e-3, round(time / 1e-3))
    why = "The same method with the same step on the same equations in other words: 1600 steps of roundings."
    yield worst("double pendulum: by Lagrange's equations after 1.6 s [rad]", ends[1] - same[:2], 1e5 * EPS, why)
    # Local errors of (ω h)⁵/120 with ω = √(g/l) = 6 rad/s at most, 1600 of them, of 9 J.
    why = "1600 steps of (ωh)⁵/120 of a swing of 9 J, ω up to 12 rad/s: the elbow's own and twice that in the energy."
    yield close("double pendulum: energy at 1 ms after 1.6 s [J]", 0.0, errors[1], 9.0 * 1600 * 0.012**5 / 120, why)
    gaps = [float(np.linalg.norm(a - b)) for a, b in pairwise(ends)]
    orders = [log2(a / b) for a, b in pairwise(gaps)]
    why = "Differences of halved steps, freed of the next order: twice the finer one's less the coarser one's, to h²."
    yield close("double pendulum: order of Runge-Kutta's method", 4.0, 2.0 * orders[1] - orders[0], 0.03, why)


FUNCTIONS = (free_fall, momentum_at_full_speed, exchanged_momentum, precession, swinging_rods)
