"""Checks of the tyres: tables 4 and 5, the Magic Formula in the engine, combined slip, the ellipse, Coulomb's
limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, pi, radians, sin
from typing import Any

import numpy as np

from botz.physics.wheels import tyre
from botz.verify.checks import EPS, Check, close, worst
from botz.verify.vehicle.rig import GRAVITY, NAMES, Rig, four_wheeler, plane, rig

SHAPES = {"x": 1.69, "y": 1.19, "m": 2.40}
TABLE_5 = {
    "x": (-21.3, 1144.0, 49.6, 226.0, 0.069, -0.006, 0.056, 0.486),
    "y": (-22.1, 1011.0, 1078.0, 1.82, 0.208, 0.0, -0.354, 0.707),
    "m": (-2.72, -2.28, -1.86, -2.73, 0.110, -0.070, 0.643, -4.04),
}
"""[virtualbotz] table 5: a₁ … a₈ of F_x, F_y and M_z."""
TABLE_4: dict[str, dict[int, tuple[float, float, float, float, float]]] = {
    "x": {2: (0.178, 1.55, 2193.0, 0.432, 605.0), 4: (0.171, 1.69, 4236.0, 0.619, 1224.0),
          6: (0.210, 1.67, 6090.0, 0.686, 2136.0), 8: (0.214, 1.78, 7711.0, 0.783, 2937.0)},
    "y": {2: (0.244, 1.50, 1936.0, -0.132, 708.6), 4: (0.239, 1.19, 3650.0, -0.678, 1038.0),
          6: (0.164, 1.27, 5237.0, -1.61, 1091.0), 8: (0.112, 1.36, 6677.0, -2.16, 1017.0)},
    "m": {2: (0.247, 2.56, -15.53, -3.92, -9.820), 4: (0.234, 2.68, -48.56, -0.46, -30.45),
          6: (0.164, 2.46, -112.5, -2.04, -45.39), 8: (0.127, 2.41, -191.3, -3.21, -58.55)},
}  # fmt: skip
"""[virtualbotz] table 4: B, C, D, E, BCD at loads in kN. Corrected: BCD of F_y at 2 kN is 708.6 = 0.244 · 1.50 ·
1936, and table 5 gives 709; the source prints 780.6."""
EVALUATED: dict[str, dict[int, tuple[float, float, float, float]]] = {
    "x": {2: (2203, 567, 0.574, 0.152), 4: (4235, 1288, 0.614, 0.180), 6: (6097, 2077, 0.606, 0.202),
          8: (7789, 2869, 0.550, 0.218)},
    "y": {2: (1934, 709, -0.001, 0.308), 4: (3690, 1027, -0.709, 0.234), 6: (5270, 1076, -1.417, 0.172),
          8: (6674, 1029, -2.125, 0.130)},
}  # fmt: skip
"""D, BCD, E, B of table 5, computed by hand; rounded to whole newtons and to thousandths."""


@dataclass(frozen=True)
class Curve:
    """One Magic Formula at one load, by NumPy: D sin[C arctan{Bx − E(Bx − arctan Bx)}]."""

    b: float
    c: float
    d: float
    e: float

    @classmethod
    def at(cls, row: str, load: float) -> Curve:
        """Eqs. 3.31-3.35 at a load in kN."""
        a1, a2, a3, a4, a5, a6, a7, a8 = TABLE_5[row]
        c, d = SHAPES[row], a1 * load**2 + a2 * load
        if row == "y":
            bcd = a3 * np.sin(a4 * np.arctan(a5 * load))
        else:
            bcd = (a3 * load**2 + a4 * load) / np.exp(a5 * load)
        return cls(float(bcd / (c * d)), c, d, a6 * load**2 + a7 * load + a8)

    def __call__(self, x: Any) -> Any:
        bx = self.b * x
        return self.d * np.sin(self.c * np.arctan(bx - self.e * (bx - np.arctan(bx))))


def kernel_curve(row: str, load: float) -> tuple[float, float, float, float]:
    """D, BCD, E, B by the compiled functions."""
    a1, a2, a3, a4, a5, a6, a7, a8 = TABLE_5[row]
    peak = tyre.peak_of_load(a1, a2, load)
    stiffness = (tyre.lateral_stiffness if row == "y" else tyre.longitudinal_stiffness)(a3, a4, a5, load)
    return peak, stiffness, tyre.curvature_of_load(a6, a7, a8, load), stiffness / (SHAPES[row] * peak)


def table_5_evaluated(samples: int) -> Iterator[Check]:
    """Eqs. 3.31-3.35 with F_z in kN: D = a₁F² + a₂F, BCD = (a₃F² + a₄F) e^{−a₅F} or a₃ sin(a₄ arctan a₅F), E = a₆F²
    + a₇F + a₈, B = BCD/(C D)."""
    rng = np.random.default_rng(60)
    for row, name in (("x", "F_x"), ("y", "F_y")):
        for column, (what, unit) in enumerate((("D", 0.5), ("BCD", 0.5), ("E", 0.0005), ("B", 0.0005))):
            wrong = [kernel_curve(row, load)[column] - values[column] for load, values in EVALUATED[row].items()]
            why = "Half of the last digit of values computed by hand."
            yield worst(f"table 5, {name} at 2, 4, 6, 8 kN: {what}", wrong, unit * 1.001, why)
    wrong = []
    for load in rng.uniform(0.01, 20.0, min(samples, 2000)):
        for row in TABLE_5:
            curve = Curve.at(row, float(load))
            wanted = np.array([curve.d, curve.b * curve.c * curve.d, curve.e, curve.b])
            wrong += list((np.array(kernel_curve(row, float(load))) - wanted) / (np.abs(wanted) + 1e-3))
    why = "Polynomials in place of exp, sin and arctan: 1e-13 of their values, and rounding."
    yield worst("table 5 at random loads, also M_z, against NumPy: relative", wrong, 1e-11, why)


def table_5_against_table_4(samples: int) -> Iterator[Check]:
    """Table 5 is a smooth fit through the four loads of table 4, with one C for all: D, BCD and the curves themselves,
    without their shifts S_h and S_v, agree as well as that fit does."""
    del samples
    slips = {"x": np.linspace(0.0, 30.0, 121), "y": np.linspace(0.0, 15.0, 121), "m": np.linspace(0.0, 15.0, 121)}
    for row, name, d_fit, bcd_fit, curve_fit in (
        ("x", "F_x", 0.011, 0.064, 0.044),
        ("y", "F_y", 0.012, 0.014, 0.083),
        ("m", "M_z", 0.085, 0.14, 0.21),
    ):
        peaks, stiffnesses, curves = [], [], []
        for load, (b, c, d, e, bcd) in TABLE_4[row].items():
            fit = Curve.at(row, float(load))
            peaks.append(fit.d / d - 1.0)
            stiffnesses.append(fit.b * fit.c * fit.d / bcd - 1.0)
            curves += list((fit(slips[row]) - Curve(b, c, d, e)(slips[row])) / abs(d))
        why = "What the source's fit leaves, rounded up: nothing else may add to it."
        yield worst(f"table 5 against table 4, {name}: D, relative", peaks, d_fit, why)
        yield worst(f"table 5 against table 4, {name}: BCD, relative", stiffnesses, bcd_fit, why)
        yield worst(f"table 5 against table 4, {name}: curves, parts of D", curves, curve_fit, why)
    gaps = [b * c * d / bcd - 1.0 for rows in TABLE_4.values() for b, c, d, _, bcd in rows.values()]
    why = "Printed with four digits from those of B, C and D."
    yield worst("table 4 agrees with itself: BCD and B·C·D, relative", gaps, 5e-4, why)


# --- wheels that are towed -----------------------------------------------------------------------------------

HEAVY = 1e13
"""Mass of a vehicle that no tyre slows down, and wheels' inertia that none turns [kg, kg·m²]; gravity is as small."""
B_X, B_Y, C_X, C_Y = (12.35, -10.77), (6.461, 4.196), 1.092, 1.081
"""Combined slip of Pacejka's 205/60R15 set."""


def towed(tyre: dict[str, Any], load: float, v_x: float, v_y: float, wheel_speeds: np.ndarray) -> Rig:
    """Four wheels under `load` [N] each that roll, slip and are dragged sideways as told, until the treads have
    settled.

    Neither speeds nor sinkage change: forces of some kN on 10¹³ kg, whose bounce takes hours, as does its precession.
    """
    stiffness = load / 0.02
    robot = four_wheeler(
        chassis={"mass": HEAVY, "inertia": [1e5 * HEAVY] * 3},
        wheel={"inertia": HEAVY, "suspension": {"stiffness": stiffness, "damping": 0.0}, "tyre": tyre},
    )
    run = rig(robot, step=1e-2, gravity=4.0 * load / HEAVY, velocity=[v_x, v_y, 0.0], contact={"tolerance": 1e-12})
    run.engine.state.axles[0].p[:] = wheel_speeds / run.engine.model.axles[0].inverse_inertia
    # The robot's angular momentum holds that of its wheels.
    run.engine.state.robots[0].spin[:] = [0.0, HEAVY * wheel_speeds.sum(), 0.0]
    return run.run(60.0 * 0.1 / max(abs(v_x), abs(v_y)) + 0.5)


def expected_forces(
    load: float, v_x: float, v_y: float, rolling: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """F_x, F_y, M_z of eqs. 3.25-3.38 with combined slip, and by how much the ellipse was left before it was scaled."""
    kappa = (rolling - v_x) / np.maximum(np.abs(rolling), abs(v_x))
    alpha = np.full_like(rolling, -np.arctan2(v_y, abs(v_x)))
    curve_x, curve_y, curve_m = (Curve.at(row, load / 1000.0) for row in "xym")
    weight_x = np.cos(C_X * np.arctan(B_X[0] * np.cos(np.arctan(B_X[1] * kappa)) * alpha))
    weight_y = np.cos(C_Y * np.arctan(B_Y[0] * np.cos(np.arctan(B_Y[1] * alpha)) * kappa))
    weight_x, weight_y = np.maximum(weight_x, 0.0), np.maximum(weight_y, 0.0)
    force_x = curve_x(100.0 * kappa) * weight_x
    force_y = curve_y(np.degrees(alpha)) * weight_y
    excess = np.maximum(np.hypot(force_x / curve_x.d, force_y / curve_y.d), 1.0)
    moment = curve_m(np.degrees(alpha)) * weight_y * v_x / (abs(v_x) + 0.1)
    return force_x / excess, force_y / excess, moment, excess


def steady_slip(samples: int) -> Iterator[Check]:
    """A wheel towed at a constant slip: F_x = D_x sin(…100 κ) G_xα and F_y = D_y sin(…α°) G_yκ on or within the
    friction ellipse, κ = (ωr − V_x)/max(|ωr|, |V_x|), α = −arctan(V_y/|V_x|), and M_z, against NumPy."""
    rng = np.random.default_rng(61)
    wrong_x, wrong_y, wrong_m, outside, left = [], [], [], [], []
    for case in range(min(max(samples // 6, 3), 500)):
        load = 1000.0 * 10.0 ** rng.uniform(-1.3, 1.3)
        v_x, v_y = rng.choice([-1.0, 1.0]) * rng.uniform(3.0, 10.0), rng.normal(0.0, 2.0)
        if case % 3 == 0:
            v_y = 0.0
        rolling = v_x * rng.uniform(0.0, 2.0, 4) if case % 3 != 1 else np.full(4, v_x)
        run = towed({"type": "magic-formula"}, load, v_x, v_y, rolling / 0.1)
        force_x, force_y, moment, excess = expected_forces(load, v_x, v_y, rolling)
        forces = run.each("force")
        wrong_x += list((forces[:, 0] - force_x) / load)
        wrong_y += list((forces[:, 1] - force_y) / load)
        # The moment may not drive the yawing: here nothing yaws, so that it is whole.
        wrong_m += list((run.each("aligning_moment") - moment) / load)
        peaks = Curve.at("x", load / 1000.0).d, Curve.at("y", load / 1000.0).d
        outside += list(np.hypot(forces[:, 0] / peaks[0], forces[:, 1] / peaks[1]) - 1.0)
        left += list(excess)
    why = "Treads have rolled over 60 relaxation lengths; the load of springs of 20 mm is right to 1e-9; kN are exact."
    yield worst("towed wheel: F_x by the Magic Formula, parts of the load", wrong_x, 1e-7, why)
    yield worst("towed wheel: F_y by the Magic Formula, parts of the load", wrong_y, 1e-7, why)
    yield worst("towed wheel: M_z by the Magic Formula, metres times load", wrong_m, 1e-7, why)
    why = f"√((F_x/D_x)² + (F_y/D_y)²) ≤ 1; without scaling it would reach {max(left):.3f} here."
    yield worst("towed wheel: beyond the friction ellipse", np.maximum(outside, 0.0), 1e-9, why)


def friction_ellipse(samples: int) -> Iterator[Check]:
    """√((F_x/D_x)² + (F_y/D_y)²) ≤ 1 in any state: random deflections of the tread, speeds, spins and loads, also
    at rest, where the tread is a damped spring. For Coulomb tyres √(F_x² + F_y²) ≤ μ N."""
    rng = np.random.default_rng(62)
    for kind, spec in (
        ("Magic Formula", {"type": "magic-formula"}),
        ("Coulomb", {"type": "coulomb", "static": 0.9, "dynamic": 0.7}),
    ):
        outside = []
        robot = four_wheeler(wheel={"tyre": spec, "suspension": {"stiffness": 5e4, "damping": 0.0, "travel": 0.1}})
        run = rig(robot)
        model, state = run.engine.model, run.engine.state
        wheels, axles, own = state.wheels[0], state.axles[0], state.robots[0]
        for _ in range(min(samples, 20_000)):
            own.x[2] = 0.15 - 10.0 ** rng.uniform(-4.0, -1.0)
            own.v[:] = rng.normal(0.0, 1.0, 3) * 10.0 ** rng.uniform(-3.0, 1.0)
            own.travelled += 1.0  # it was put elsewhere: what the search remembers is void
            axles.p[:] = rng.normal(0.0, 30.0, 4) / model.axles[0].inverse_inertia
            own.spin[:] = [0.0, (axles.p * model.axles[0].spin_share).sum(), 0.0]
            wheels.u_x[:], wheels.u_y[:] = rng.normal(0.0, 0.02, 4), rng.normal(0.0, 0.03, 4)
            wheels.sliding[:] = rng.integers(0, 2, 4)
            run.steps(0)
            forces, loads = run.each("force"), run.each("load")
            if kind == "Coulomb":
                outside += list(np.hypot(*forces.T) / (0.9 * loads) - 1.0)
            else:
                thousands = np.minimum(loads, 20e3) / 1000.0
                peaks = [(a[0] * thousands + a[1]) * thousands for a in (TABLE_5["x"], TABLE_5["y"])]
                outside += list(np.hypot(forces[:, 0] / peaks[0], forces[:, 1] / peaks[1]) - 1.0)
        why = "Rounding of a square root and two quotients."
        yield worst(f"friction limit in random states, {kind}: beyond it", np.maximum(outside, 0.0), 20 * EPS, why)


def combined_weights(samples: int) -> Iterator[Check]:
    """G = cos[C arctan{B(x + S) − E(…)}]/cos[C arctan{B S − E(…)}] ≥ 0 with B_xα = 12.35 cos(arctan(−10.77 κ)) and
    B_yκ = 6.461 cos(arctan(4.196 α)); G = 1 where the other slip is nothing."""
    rng = np.random.default_rng(63)
    slopes, plain, shifted, least, raw = [], [], [], [], []
    for _ in range(min(samples, 5000)):
        kappa, alpha = rng.uniform(-1.0, 1.0), rng.uniform(-1.5, 1.5)
        b = tyre.weight_slope(*B_X, kappa)
        slopes.append(b / (B_X[0] * cos(float(np.arctan(B_X[1] * kappa)))) - 1.0)
        formula = cos(C_X * float(np.arctan(b * alpha)))
        raw.append(formula)
        weight = tyre.simple_weight(b, C_X, alpha)
        plain.append(weight - max(formula, 0.0))
        e, shift = rng.uniform(-1.0, 0.9), rng.uniform(-0.02, 0.02)

        def part(x: float, b: float = b, e: float = e) -> float:
            return cos(C_X * float(np.arctan(b * x - e * (b * x - np.arctan(b * x)))))

        with_shift = tyre.combined_weight(b, C_X, e, shift, alpha)
        shifted.append(with_shift - max(part(alpha + shift) / part(shift), 0.0))
        least += [weight, with_shift]
    why = "Polynomials for arctan and cos: 2e-15; b₁/√(1 + b₂²x²) for b₁ cos(arctan(b₂ x))."
    yield worst("combined slip: B of the weights, relative", slopes, 1e-14, why)
    yield worst("combined slip: G without shift, against NumPy", plain, 1e-14, why)
    yield worst("combined slip: G with shift and curvature, against NumPy", shifted, 1e-13, why)
    why = f"The formula itself falls to {min(raw):.3f}, which would drive the slip."
    yield close("combined slip: least G", 0.0, min(0.0, *least), 0.0, why)
    yield close(
        "combined slip: G without the other slip",
        1.0,
        tyre.simple_weight(12.35, C_X, 0.0),
        1e-14,
        "cos 0, by a polynomial.",
    )


# --- Coulomb tyres -------------------------------------------------------------------------------------------


def coulomb_sticks(samples: int) -> Iterator[Check]:
    """A wheel that sticks, under a constant torque τ: V̇ = 4τ/r/(m + 4I/r²), F_x = (τ − I V̇/r)/r and V_x = ω r."""
    del samples
    torque, inertia, radius, mass = 3.0, 0.2, 0.1, 40.0
    motor = {"voltage": 1e3, "torque_constant": 0.5, "speed_constant": 2.0, "resistance": 1.0, "current_limit": 6.0}
    run = rig(four_wheeler(motor=motor, wheel={"inertia": inertia}))
    run.command(voltages=1e3).run(3.0)
    acceleration = 4.0 * torque / radius / (mass + 4.0 * inertia / radius**2)
    force = (torque - inertia * acceleration / radius) / radius
    why = "A constant force once the chassis has nodded back (e^-30): rounding, grown by the tread's stiffness."
    yield worst("Coulomb, sticking: F_x of (τ − I V̇/r)/r [N]", run.each("force")[:, 0] - force, 1e-6, why)
    before = float(np.linalg.norm(run.value("twist")[:3]))
    gained = float(np.linalg.norm(run.run(1.0).value("twist")[:3])) - before
    yield close("Coulomb, sticking: acceleration [m/s²]", acceleration, gained, 1e-9, why)
    yield worst("Coulomb, sticking: V_x − ω r [m/s]", run.each("slip_speed")[:, 0], 1e-8, why)


def coulomb_slides(samples: int) -> Iterator[Check]:
    """A wheel that slides: μ* N against its slip, √(F_x² + F_y²) = μ* N, whatever the direction; locked wheels slow
    a vehicle down by μ* g."""
    rng = np.random.default_rng(64)
    size, turned = [], []
    for _ in range(min(max(samples // 20, 3), 200)):
        load, (v_x, v_y) = rng.uniform(50.0, 5000.0), rng.uniform(-5.0, 5.0, 2)
        rolling = rng.uniform(-5.0, 5.0, 4)
        tread = {"type": "coulomb", "static": 0.9, "dynamic": 0.6, "stiffness": 1e6}
        run = towed(tread, load, v_x, v_y, rolling / 0.1)
        force = run.each("force")
        slip = np.array([[v_x - one, v_y] for one in rolling])
        size += list(np.hypot(*force.T) / (0.6 * load) - 1.0)
        turned += list((force * slip).sum(axis=1) / (np.hypot(*force.T) * np.hypot(*slip.T)) + 1.0)
    why = "Sinkage of 20 mm right to 1e-9 of it."
    yield worst("Coulomb, sliding: μ* N, relative", size, 1e-7, why)
    yield worst("Coulomb, sliding: 1 + cosine of force and slip", turned, 1e-9, why)
    run = rig(four_wheeler(wheel={"locked": True}), velocity=[9.0, 0.0, 0.0]).run(0.7)
    first = float(np.hypot(*run.value("twist")[[0, 2]]))
    last = float(np.hypot(*run.run(0.3).value("twist")[[0, 2]]))
    why = "From 0.7 to 1 s, when e^-7 of a start is left that shakes the load by a few percent: 1e-3 of it over 0.3 s."
    yield close("Coulomb, locked wheels: deceleration of μ* g [m/s²]", 0.7 * GRAVITY, (first - last) / 0.3, 0.01, why)


def held_by_friction(samples: int) -> Iterator[Check]:
    """γ = 60°, μ = 0.8, F_susp = 100 N and a traction of 150 N asked for: N (cos γ + μ sin γ) = F_susp, so N = 83.8
    N and F_x = μ N = 67.0 N. The source's case 1 would lift the wheel. Asked for less, it sticks: N = (F_susp − F_x
    sin γ)/cos γ."""
    del samples
    slope, k, radius, tread = radians(60.0), 5000.0, 0.1, 5e4
    box = {"front": 0.01, "rear": 0.01, "left": 0.01, "right": 0.01, "top": 0.01, "bottom": 0.01, "mass": 10.0}
    robot = four_wheeler(chassis=box)
    robot["wheels"] = {
        "only": {
            **robot["wheels"][NAMES[0]],
            "position": [0.0, 0.0, 0.0],
            "suspension": {"stiffness": k, "damping": 0.0, "travel": 0.05},
            "tyre": {"type": "coulomb", "static": 0.8, "dynamic": 0.8, "stiffness": tread},
        }
    }
    place = [0.0, 0.0, radius / cos(slope) - 100.0 / k]
    run = rig(robot, terrain=plane(slope), position=place, contact={"tolerance": 1e-12})
    wheels = run.engine.state.wheels[0]
    why = "One balance of forces: rounding of the contact search."
    for asked in (150.0, 30.0, -150.0):
        wheels.u_x[0], wheels.sliding[0] = asked / tread, 0.0
        run.steps(0)
        force, load = asked, (100.0 - asked * sin(slope)) / cos(slope)
        if asked > 0.8 * load:
            load = 100.0 / (cos(slope) + 0.8 * sin(slope))
            force = 0.8 * load
        found = run.value("only/load"), run.value("only/force")[0]
        case = f"wheel at γ = 60°, {asked:g} N asked for"
        yield close(f"{case}: N [N]", load, found[0], 1e-7, why)
        yield close(f"{case}: F_x [N]", force, found[1], 1e-7, why)
        if asked == 150.0:
            why_page = "As computed by hand, rounded to newtons."
            yield close(f"{case}: N, by hand [N]", 84.0, found[0], 0.5, why_page)
            yield close(f"{case}: F_x, by hand [N]", 67.0, found[1], 0.5, why_page)
    yield close(
        "wheel at γ = 60°: contact angle [rad]",
        pi / 3.0,
        run.value("only/contact_angle"),
        1e-12,
        "A slice's own angle.",
    )


FUNCTIONS = (
    table_5_evaluated,
    table_5_against_table_4,
    steady_slip,
    friction_ellipse,
    combined_weights,
    coulomb_sticks,
    coulomb_slides,
    held_by_friction,
)
