"""Checks of the sprung vehicle at rest and in small oscillations: sinkage, load share, bounce, pitch, friction
angle."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan, cos, pi, radians, sin, sqrt, tan
from typing import Any

import numpy as np

from botz.verify.checks import Check, close, same, worst
from botz.verify.vehicle.rig import GRAVITY, NAMES, Rig, change_world, four_wheeler, plane, rig, vivi

EXACT = {"tolerance": 1e-12}
"""Contact search to 1e-12 of the suspension's travel: what is left is rounding."""
SETTLED = 4.0
"""Seconds after which what oscillates is gone: damping ratio 0.4 at 24 rad/s leaves e^-40."""
RADIUS, AXLE, HALF = 0.1, 0.05, 0.22
"""Of the four-wheeler: radius, depth of the axles below the centre of mass, half of its base and track."""


def static_sinkage(samples: int) -> Iterator[Check]:
    """h = m g / 4k on level ground; two rims that touch alike give h = h_rim + ε/4 with ε = 0.002 of the width, so that
    the centre of mass stands at z = r − z_w − h + ε/4."""
    del samples
    why = "At rest; what is left is the rounding of the contact search, 1e-12 of the travel, and of the sums."
    locked = {"locked": True}
    for name, robot, width in (
        ("one rim", four_wheeler(wheel=locked), 0.0),
        ("VIVI, two rims", vivi(wheel=locked, without_motors=True), 0.08),
    ):
        first = next(iter(robot["wheels"].values()))
        mass, k = robot["chassis"]["mass"], first["suspension"]["stiffness"]
        h = mass * GRAVITY / (4.0 * k)
        height = first["radius"] - first["position"][2] - h + 0.0005 * width
        run = rig(robot, step=5e-3, contact=EXACT, position=[0.0, 0.0, height + 0.01]).run(SETTLED)
        yield worst(f"sinkage, {name}: h − m g/4k [m]", run.each("deflection") - h, 1e-11, why)
        yield worst(f"sinkage, {name}: N − m g/4 [N]", run.each("load") - mass * GRAVITY / 4.0, 1e-11 * k, why)
        yield close(f"sinkage, {name}: height of the centre of mass [m]", height, run.value("pose")[2], 1e-11, why)
    beyond, k2 = 0.004, 5e6
    mass = 4.0 * (6000.0 * (0.05 + beyond) + k2 * beyond**2) / GRAVITY
    spring = {"progression": k2, "damping": 1000.0}
    robot = four_wheeler(chassis={"mass": mass}, wheel={**locked, "suspension": spring})
    run = rig(robot, step=5e-3, contact=EXACT, position=[0.0, 0.0, RADIUS + AXLE]).run(SETTLED)
    why += " The mass is chosen so that k h + k₂ (h − h_sat)² = m g/4 at h = h_sat + 4 mm."
    yield worst("sinkage beyond the travel: h − h_sat − 4 mm [m]", run.each("deflection") - 0.05 - beyond, 1e-11, why)


def spring_law(samples: int) -> Iterator[Check]:
    """F_susp = max(k h + k₂ (h − h_sat)² + c ḣ, 0), the square beyond h_sat only, h = r − z_w − z and ḣ = −ż: heights
    and vertical speeds at random, with the wheels in the air for some of them."""
    rng = np.random.default_rng(49)
    k, c, k2, travel = 6000.0, 200.0, 5e5, 0.05
    run = rig(four_wheeler(wheel={"suspension": {"progression": k2}}), contact=EXACT)
    own = run.engine.state.robots[0]
    wrong = []
    for _ in range(min(samples, 5000)):
        h, rate = rng.uniform(-0.02, 0.1), rng.uniform(-2.0, 2.0)
        own.x[2], own.v[2] = RADIUS + AXLE - h, -rate
        own.travelled += 1.0  # it was put elsewhere: what the search remembers is void
        run.steps(0)
        force = max(k * h + k2 * max(h - travel, 0.0) ** 2 + c * rate, 0.0) if h > 0.0 else 0.0
        wrong += list(run.each("suspension_force") - force)
    why = "The contact search to 1e-12 of the travel, on at most 56 kN/m."
    yield worst("suspension's force at random heights and speeds [N]", wrong, 1e-8, why)


def load_share(samples: int) -> Iterator[Check]:
    """A mass off the middle: N_front = m g b/(a + b), N_left = m g d/(c + d), each wheel with the product of its
    shares. Springs in the ratio of the loads keep the chassis level."""
    rng = np.random.default_rng(50)
    wrong, tilts = [], []
    for _ in range(min(max(samples // 10, 1), 100)):
        front, rear, left, right = rng.uniform(0.12, 0.4, 4)
        shares = {
            name: (rear if "front" in name else front) * (right if "left" in name else left)
            / ((front + rear) * (left + right))
            for name in NAMES
        }  # fmt: skip
        wheels = {
            name: {
                "position": [front if "front" in name else -rear, left if "left" in name else -right, -AXLE],
                "suspension": {"stiffness": 24000.0 * share, "damping": 800.0 * share},
            }
            for name, share in shares.items()
        }
        run = rig(four_wheeler(wheels=wheels), step=1e-3, contact=EXACT, position=[0.0, 0.0, 0.14]).run(8.0)
        wrong += list(run.each("load") / (40.0 * GRAVITY) - np.array(list(shares.values())))
        tilts += list(run.value("attitude")[:2])
    why = "After 8 s the slowest mode (roll or pitch on the shortest base) has lost e^-30 of 1 cm; then rounding."
    yield worst("load share of a mass off the middle: parts of the weight", wrong, 1e-9, why)
    yield worst("load share: springs in its ratio keep the chassis level [rad]", tilts, 1e-9, why)


def tilted_by_equal_springs(samples: int) -> Iterator[Check]:
    """A mass off the middle on equal springs: Σ N = m g, Σ N x_cp = 0 with N cos θ = k h, and h, x_cp by the tilt θ of
    the chassis, solved for height and tilt by SciPy. Free wheels push along the ground with nothing."""
    del samples
    from scipy.optimize import fsolve

    front, rear, k = 0.25, 0.19, 6000.0
    x = np.array([front, -rear])

    def balance(unknown: np.ndarray) -> tuple[float, float]:
        loads, places = pressed(unknown)
        return 2.0 * loads.sum() / (40.0 * GRAVITY) - 1.0, float((loads * places).sum()) / (40.0 * GRAVITY)

    def pressed(unknown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z, theta = unknown
        h = (x * sin(theta) - z) / cos(theta) + RADIUS + AXLE
        return k * h / cos(theta), x * cos(theta) + (h - RADIUS - AXLE) * sin(theta)

    solved = fsolve(balance, [0.134, 0.0], xtol=1e-13)
    loads = pressed(solved)[0]
    wheels = {
        name: {"position": [front if "front" in name else -rear, 0.22 if "left" in name else -0.22, -AXLE]}
        for name in NAMES
    }
    run = rig(four_wheeler(wheels=wheels), step=1e-3, contact=EXACT).run(SETTLED)
    why = "At rest; solver and contact search to 1e-12 of the travel."
    yield close("mass off the middle, equal springs: pitch [rad]", solved[1], run.value("attitude")[1], 1e-9, why)
    yield worst("mass off the middle, equal springs: loads [N]", run.each("load") - np.repeat(loads, 2), 1e-6, why)


def on_a_slope(robot: dict[str, Any], slope: float, across: bool, com_height: float, **more: Any) -> Rig:
    """A vehicle that stands parallel to a slope, nose up it or with its left side up, `com_height` from the ground."""
    attitude = [slope, 0.0, 0.0] if across else [0.0, -slope, 0.0]
    ground = plane(slope, 0.5 * pi if across else 0.0)
    place = [0.0, 0.0, com_height / cos(slope)]
    return rig(robot, terrain=ground, position=place, attitude=attitude, **more)


def load_transfer_on_a_slope(samples: int) -> Iterator[Check]:
    """On a slope β the upper pair carries m g (cos β/2 − sin β H/L), the lower one m g (cos β/2 + sin β H/L). With
    locked wheels and springs in that ratio the chassis stands parallel to the ground, N = F_susp and
    Σ F = m g sin β."""
    del samples
    h = 0.015
    lever = (RADIUS + AXLE - h) / (2.0 * HALF)
    for slope in (radians(10.0), radians(25.0)):
        for across, name in ((False, "nose up"), (True, "left side up")):
            half, transfer = 10.0 * GRAVITY * cos(slope), 20.0 * GRAVITY * sin(slope) * lever
            above = "left" if across else "front"
            loads = {one: half - transfer if above in one else half + transfer for one in NAMES}
            wheels = {
                one: {"suspension": {"stiffness": load / h, "damping": load / h / 30.0}} for one, load in loads.items()
            }
            robot = four_wheeler(wheel={"locked": True}, wheels=wheels)
            run = on_a_slope(robot, slope, across, lever * 2.0 * HALF + 0.004, step=1e-3, contact=EXACT).run(SETTLED)
            case = f"slope of {np.degrees(slope):.0f}°, {name}"
            why = "At rest: the rounding of the contact search and what 4 s leave of the start."
            wrong = run.each("load") - np.array(list(loads.values()))
            yield worst(f"{case}: load transfer [N]", wrong, 1e-6, why)
            tilt = run.value("attitude")[0 if across else 1] * (1.0 if across else -1.0)
            yield close(f"{case}: parallel to the ground [rad]", slope, tilt, 1e-8, why)
            held = run.each("force")[:, 1 if across else 0].sum()
            yield close(f"{case}: friction holds m g sin β [N]", 40.0 * GRAVITY * sin(slope), held, 1e-6, why)


def damped_mode(y: np.ndarray, spacing: float, lag: int) -> tuple[float, float]:
    """Decay σ and frequency ω_d of an oscillation: y(t + 2τ) = 2 e^{−στ} cos(ω_d τ) y(t + τ) − e^{−2στ} y(t)."""
    columns = np.column_stack([y[lag:-lag], -y[: -2 * lag]])
    (p, q), *_ = np.linalg.lstsq(columns, y[2 * lag :], rcond=None)
    tau = lag * spacing
    return -0.5 * np.log(q) / tau, float(np.arccos(0.5 * p / sqrt(q))) / tau


def bounce_and_pitch(samples: int) -> Iterator[Check]:
    """Heave: ω² = 4k/m, 2σ = 4c/m. Pitch: ω² = (Σ k x² − m g H)/I_yy, 2σ = Σ c x²/I_yy, and roll the same with y and
    I_xx: without friction the weight stands on the springs as a pendulum upside down of height H. ω_d² = ω² − σ²."""
    del samples
    k, c, mass = 6000.0, 25.0, 40.0
    robot = four_wheeler(
        chassis={"inertia": [1.5, 2.0, 3.0]},
        wheel={"suspension": {"damping": c}, "tyre": {"static": 0.0, "dynamic": 0.0}},
    )
    height = RADIUS + AXLE - mass * GRAVITY / (4.0 * k)
    tipping = 4.0 * k * HALF**2 - mass * GRAVITY * height
    cases = {
        "bounce": ([0.005, 0.0, 0.0], 4.0 * k / mass, 4.0 * c / mass),
        "roll": ([0.0, 1e-3, 0.0], tipping / 1.5, 4.0 * c * HALF**2 / 1.5),
        "pitch": ([0.0, 0.0, 1e-3], tipping / 2.0, 4.0 * c * HALF**2 / 2.0),
    }
    for method, dt in (("rk4", 1e-3), ("semi-implicit", 1e-4)):
        for name, ((lift, roll, pitch), square, twice_decay) in cases.items():
            run = rig(
                robot,
                step=dt,
                method=method,
                contact=EXACT,
                position=[0.0, 0.0, height + lift],
                attitude=[roll, pitch, 0.0],
            )
            rows = run.record(1.0, every=round(1e-3 / dt))
            mode = {
                "bounce": run.value("pose", rows)[:, 2] - height,
                "roll": run.value("attitude", rows)[:, 0],
                "pitch": run.value("attitude", rows)[:, 1],
            }[name]
            omega, sigma = sqrt(square), 0.5 * twice_decay
            found_sigma, found_omega = damped_mode(mode, 1e-3, max(1, round(0.5 * pi / omega / 1e-3)))
            if method == "rk4":
                # Local error (ω h)⁵/120 of a turn of ω h; tilts of 1e-3 rad change the springs' lever by their square.
                relative = (omega * dt) ** 4 / 120.0 + (1e-5 if lift == 0.0 else 1e-9)
                why = "RK4: (ω h)⁴/120; angles of 1e-3 rad are linear to 1e-5."
            else:
                # v' = v − h(ω² x + 2σ v), x' = x + h v': the determinant 1 − 2σh gives the decay, the trace the turn.
                relative = 2.0 * sigma * dt + (omega * dt) ** 2 + 1e-5
                why = "Semi-implicit Euler: 2σh + (ω h)²; angles of 1e-3 rad are linear to 1e-5."
            damped = sqrt(square - sigma**2)
            yield close(f"{name}, {method}: frequency [rad/s]", damped, found_omega, relative * omega, why)
            yield close(
                f"{name}, {method}: damping ratio",
                sigma / omega,
                found_sigma / omega,
                relative * sigma / omega * 20,
                why,
            )


def friction_angle_coulomb(samples: int) -> Iterator[Check]:
    """Locked wheels hold on a slope as long as tan β < μ and slide above it with g (sin β − μ* cos β)."""
    del samples
    for across, name in ((False, "along"), (True, "across")):
        robot = four_wheeler(wheel={"locked": True, "tyre": {"static": 0.6, "dynamic": 0.6}})
        yield from parks_and_slides(f"Coulomb, {name}", robot, 0.6, 0.6, across)
    # With μ* < μ all wheels must let go at once: the mass stands so far up the slope that all carry the same, and the
    # tread is damped so that it does not overshoot when the vehicle is set down.
    limit = atan(0.8)
    shift = 0.1337 * tan(limit)
    wheels = {
        name: {"position": [(HALF if "front" in name else -HALF) - shift, 0.22 if "left" in name else -0.22, -AXLE]}
        for name in NAMES
    }
    tyre = {"static": 0.8, "dynamic": 0.7, "damping_ratio": 3.0}
    yield from parks_and_slides(
        "Coulomb, static above dynamic",
        four_wheeler(wheel={"locked": True, "tyre": tyre}, wheels=wheels),
        0.8,
        0.7,
        False,
    )


def parks_and_slides(
    name: str, robot: dict[str, Any], mu: float, dynamic: float | None, across: bool
) -> Iterator[Check]:
    """1° below arctan μ and 1° above; without a `dynamic` coefficient it only has to get faster there."""
    first = next(iter(robot["wheels"].values()))
    limit = atan(mu)
    clear = first["radius"] - first["position"][2]

    def standing(slope: float) -> Rig:
        height = clear - 10.0 * GRAVITY * cos(slope) / first["suspension"]["stiffness"]
        return on_a_slope(robot, slope, across, height, step=1e-3)

    slope = limit - radians(1.0)
    run = standing(slope).run(5.0) if dynamic is not None else set_down(robot, slope, across, clear)
    before = run.value("pose")[:3].copy()
    crept = float(np.linalg.norm(run.run(60.0).value("pose")[:3] - before))
    why = f"1° below arctan μ = {np.degrees(limit):.2f}°, once it stands: less than 1 mm in a minute."
    yield close(f"{name}: creeps in a minute, parked [m]", 0.0, crept, 1e-3, why)
    slope = limit + radians(1.0)
    run = standing(slope).run(1.0)
    rows = run.record(1.0, every=100)
    speed = np.linalg.norm(run.value("twist", rows)[:, :3], axis=1)
    if dynamic is None:
        way = float(np.linalg.norm(run.value("pose", rows)[-1, :3] - run.value("pose", rows)[0, :3]))
        motion = "slides" if way > 0.05 and speed[-1] > speed[0] else f"{way:g} m in a second"
        yield same(f"{name}: 1° above", "slides", motion, "Faster and faster, over 5 cm in the second second.")
        return
    acceleration = (speed[-1] - speed[0]) / 0.9
    wanted = GRAVITY * (sin(slope) - dynamic * cos(slope))
    why = "In the second second, when e^-10 of a start that shakes the load by a tenth is left: 1e-4 g and less."
    yield close(f"{name}: acceleration 1° above [m/s²]", wanted, acceleration, 1e-4 * GRAVITY, why)


def set_down(robot: dict[str, Any], slope: float, across: bool, clear: float) -> Rig:
    """A vehicle with its springs unloaded; gravity grows from a fiftieth to its whole within 8 s.

    Friction angles do not depend on gravity; but treads that begin unstretched give way first, by up to a centimetre,
    and in full gravity a vehicle near its limit would gain more speed on that way than sliding friction takes back.
    """
    run = on_a_slope(robot, slope, across, clear, step=1e-3)
    for tenth in range(130):
        change_world(run.engine, gravity=GRAVITY * min(1.0, 0.02 + max(tenth - 30, 0) / 50.0))
        run.run(0.1)
    return run


def friction_angle_magic(samples: int) -> Iterator[Check]:
    """The Magic Formula's friction angle is that of its peak: tan β = D/N = (a₁ F_z + a₂)/1000 at F_z = m g cos β/4
    in kN, by the rows of F_x up the slope and of F_y across it."""
    del samples
    for across, (a1, a2), name in ((False, (-21.3, 1144.0), "along"), (True, (-22.1, 1011.0), "across")):
        mu = 1.0
        for _ in range(20):
            mu = (a1 * 0.01 * GRAVITY * cos(atan(mu)) + a2) / 1000.0
        robot = vivi(without_motors=True, wheel={"locked": True})
        yield from parks_and_slides(f"Magic Formula, {name}", robot, mu, None, across)


FUNCTIONS = (
    static_sinkage,
    spring_law,
    load_share,
    tilted_by_equal_springs,
    load_transfer_on_a_slope,
    bounce_and_pitch,
    friction_angle_coulomb,
    friction_angle_magic,
)
