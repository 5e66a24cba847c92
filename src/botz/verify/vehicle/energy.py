"""Energy of vehicles with their motors off: springs, treads and bristles give back what they took, and no more."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.scenario.vehicle.tyre import CoulombTyre, MagicFormulaTyre
from botz.verify.checks import EPS, FAST, Check, close
from botz.verify.vehicle.rig import GRAVITY, NAMES, Data, Rig, rig, vivi

WALL: Data = {"type": "step", "at": 1.0, "height": 1.0, "resolution": 0.01, "x": [-2.0, 2.0], "y": [-2.0, 2.0]}
SLIPPERY: Data = {"type": "coulomb", "static": 0.0, "dynamic": 0.0}
COULOMB: Data = {"type": "coulomb", "static": 0.9, "dynamic": 0.7}
MAGIC: Data = {"type": "magic-formula"}
PARTS = ("energy/kinetic", "energy/potential", "energy/springs")
STEPS = (1e-4, 5e-5, 2.5e-5, 1.25e-5)
"""Of the runs that show how an error shrinks [s]."""
STARTS: dict[str, Data] = {
    "rolling": {"velocity": [1.0, 0.0, 0.0]},
    "sliding": {"velocity": [1.0, 1.0, 0.0], "angular_velocity": [0.0, 0.0, 2.0]},
    "bouncing": {"position": [0.0, 0.0, 0.2], "attitude": [0.03, 0.05, 0.0], "velocity": [0.5, 0.3, 0.0]},
}


class Watched:
    """A run with the states that no channel shows: what the treads and the bristles hold, `every` steps."""

    def __init__(self, made: Rig, seconds: float, every: int):
        states = made.engine.state_arrays()
        rows, u, z = [], [], []
        for k in range(round(seconds / made.engine.dt) // every + 1):
            if k:
                made.steps(every)
            rows.append(made.row())
            u.append((states["wheels/u_x"].ravel()[:4].copy(), states["wheels/u_y"].ravel()[:4].copy()))
            z.append(states["axles/z"].ravel().copy())
        self.made, self.rows = made, np.array(rows)
        self.u, self.z = np.array(u).transpose(1, 2, 0), np.array(z)

    def each(self, name: str) -> np.ndarray:
        """A channel of all wheels: (wheels, samples, …)."""
        return np.array([self.made.value(f"{wheel}/{name}", self.rows) for wheel in NAMES])

    @property
    def body(self) -> np.ndarray:
        """Kinetic and potential energy and that of the suspension."""
        return np.sum([self.made.value(part, self.rows) for part in PARTS], axis=0)

    @property
    def bristles(self) -> np.ndarray:
        """½ σ₀ z² of LuGre's model on all axles."""
        stiffness = self.made.engine.model.axles["sigma0"].ravel()
        return 0.5 * np.sum(stiffness * self.z**2, axis=1)

    @property
    def power(self) -> float:
        """Largest power that springs, weight and friction exchange at one moment [W]."""
        slip, force = self.each("slip_speed"), self.each("force")
        through_wheels = np.abs(self.each("suspension_force") * self.each("deflection_rate"))
        through_treads = np.linalg.norm(force, axis=2) * np.linalg.norm(slip, axis=2)
        mass = self.made.engine.scenario.robots["r"].chassis.mass
        up = upwards(self.made.value("pose", self.rows)[:, 3:])
        falling = mass * GRAVITY * np.abs(np.sum(up * self.made.value("twist", self.rows)[:, :3], axis=1))
        return float(np.max(np.sum(through_wheels + through_treads, axis=0) + falling))


def upwards(quat: np.ndarray) -> np.ndarray:
    """The world's z axis in the body's axes, of attitudes w, x, y, z."""
    w, x, y, z = np.moveaxis(quat, -1, 0)
    return np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=-1)


def largest_rise(energy: np.ndarray) -> float:
    """By how much it stands above an earlier value at most."""
    return float(np.max(energy - np.minimum.accumulate(energy)))


def energy_of_coulomb_treads(run: Watched) -> np.ndarray:
    tyre = next(iter(run.made.engine.scenario.robots["r"].wheels.values())).tyre
    assert isinstance(tyre, CoulombTyre)
    return np.asarray(0.5 * tyre.stiffness * np.sum(run.u**2, axis=(0, 1)))


def magic_forces(tyre: MagicFormulaTyre, kappa: np.ndarray, sine: np.ndarray, load: np.ndarray):
    """Eqs. 3.28-3.38 with NumPy's functions: F_x, F_y at a slip and a sine of the slip angle."""
    n = np.clip(load, 1e-3, tyre.largest_load) * 1e-3
    alpha = np.arcsin(np.clip(sine, -0.999999, 0.999999))
    x, y = tyre.longitudinal, tyre.lateral
    peak_x, peak_y = (x[0] * n + x[1]) * n, (y[0] * n + y[1]) * n
    stiff_x = (x[2] * n + x[3]) * n * np.exp(-x[4] * n)
    stiff_y = y[2] * np.sin(y[3] * np.arctan(y[4] * n))
    shapes = []
    for slip, peak, stiff, shape, a in (
        (100.0 * kappa, peak_x, stiff_x, tyre.shapes[0], x),
        (np.degrees(alpha), peak_y, stiff_y, tyre.shapes[1], y),
    ):
        curvature = (a[5] * n + a[6]) * n + a[7]
        b = stiff / (shape * peak) * slip
        shapes.append(np.sin(shape * np.arctan(b - curvature * (b - np.arctan(b)))))
    combined = tyre.combined
    b_x = combined.b_x[0] * np.cos(np.arctan(combined.b_x[1] * kappa))
    b_y = combined.b_y[0] * np.cos(np.arctan(combined.b_y[1] * alpha))
    f_x = shapes[0] * np.maximum(np.cos(combined.c_x * np.arctan(b_x * alpha)), 0.0)
    f_y = shapes[1] * np.maximum(np.cos(combined.c_y * np.arctan(b_y * kappa)), 0.0)
    excess = np.sqrt(np.maximum(f_x**2 + f_y**2, 1.0))
    return peak_x * f_x / excess, peak_y * f_y / excess


def energy_of_magic_treads(tyre: MagicFormulaTyre, u: np.ndarray, load: np.ndarray) -> np.ndarray:
    """W = ∫ F·du from no deflection straight to u, at a constant load, of all wheels together."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    total = np.zeros(u.shape[1:])
    for node, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        f_x, f_y = magic_forces(tyre, node * u[0] / tyre.relaxation[0], node * u[1] / tyre.relaxation[1], load)
        total += weight * (f_x * u[0] + f_y * u[1])
    return np.asarray(np.sum(np.where(load > 0.0, total, 0.0), axis=0))


def energy_never_grows(samples: int) -> Iterator[Check]:
    """E = ½ m v² + ½ Ω·JΩ + ½ I ω² + m g z + springs + treads ∫F·du + bristles ½ σ₀ z² never grows on a plane while no
    motor drives: without motors, and with motors at 0 V."""
    h, every = 1e-5, 20
    seconds = 2.0 if samples > FAST else 0.25
    why = (
        "A step moves velocities first, places then: E swings by h/2 of the power P that is exchanged, either way: h P."
        " Roundings of the sums beside."
    )
    for motors in (False, True):
        for tyre_name, tyre in (("coulomb", COULOMB), ("magic-formula", MAGIC)):
            for start_name, start in STARTS.items():
                made = rig(vivi(without_motors=not motors, wheel={"tyre": tyre}), step=h, **start)
                run = Watched(made, seconds, every)
                energy = run.body + run.bristles
                if tyre is COULOMB:
                    energy += energy_of_coulomb_treads(run)
                else:
                    spec, load = made.engine.scenario.robots["r"].wheels["front_left"].tyre, run.each("load")
                    assert isinstance(spec, MagicFormulaTyre)
                    energy += energy_of_magic_treads(spec, run.u, load)
                driven = "motors at 0 V" if motors else "no motors"
                name = f"{start_name}, {tyre_name}, {driven}: energy rises by [J]"
                yield close(name, 0.0, largest_rise(energy), h * run.power + 1e3 * EPS * energy[0], why)


HELD = (*PARTS, "energy/treads", "energy/walls", "energy/corners", "energy/bristles")
"""All that a vehicle holds, as its channels show it."""


def shown_energy_never_grows(samples: int) -> Iterator[Check]:
    """Of the channels: what a vehicle holds (kinetic, potential, springs, treads, walls, corners, bristles) less the
    motors' work never grows, whether they drive, brake or are not there; and treads and bristles show ∫ F·du and
    ½ σ₀ z²."""
    seconds = 1.5 if samples > FAST else 0.5
    cases: dict[str, tuple[Data, float | None]] = {
        "sliding, no motors": (STARTS["sliding"], None),
        "rolling, motors at 0 V": (STARTS["rolling"], 0.0),
        "rolling, motors at 18 V": (STARTS["rolling"], 18.0),
        "dropped on its roof": ({"position": [0.0, 0.0, 0.25], "attitude": [3.0, 0.1, 0.0]}, None),
        "wheels into a wall": ({"terrain": WALL, "position": [0.6, 0.0], "velocity": [1.0, 0.2, 0.0]}, None),
    }
    for case, (start, volts) in cases.items():
        for method in ("semi-implicit", "rk4"):
            h = 5e-5
            made = rig(vivi(without_motors=volts is None, wheel={"tyre": MAGIC}), step=h, method=method, **start)
            if volts is not None:
                made.command(voltages=volts)
            run = Watched(made, seconds, 10)
            held = np.sum([made.value(part, run.rows) for part in HELD], axis=0)
            rest = held - made.value("energy/work", run.rows)
            speed = np.linalg.norm(made.value("twist", run.rows)[:, :3], axis=1)
            hitting = np.linalg.norm(made.value("chassis_force", run.rows), axis=1) * speed
            why = "First order: E swings by h/2 of the exchanged power, either way: h P, with that of the corners."
            tolerance = h * (run.power + 2.0 * float(np.max(hitting))) + 1e3 * EPS * abs(rest[0])
            name = f"{case}, {method}: shown energy less work rises by [J]"
            yield close(name, 0.0, largest_rise(rest), tolerance, why)
            if method == "semi-implicit" and "roof" not in case:
                tyre = made.engine.scenario.robots["r"].wheels["front_left"].tyre
                assert isinstance(tyre, MagicFormulaTyre)
                wanted = energy_of_magic_treads(tyre, run.u, run.each("load"))
                size = float(np.max(wanted))
                why = "The integral by eight points where the check takes 24, and coefficients of a load 1e-4 away."
                gap = float(np.max(np.abs(made.value("energy/treads", run.rows) - wanted)))
                yield close(f"{case}: energy of the treads by its channel [J]", 0.0, gap, 1e-3 * size, why)
                why = "The same product: roundings."
                gap = float(np.max(np.abs(made.value("energy/bristles", run.rows) - run.bristles)))
                yield close(f"{case}: energy of the bristles by its channel [J]", 0.0, gap, 1e-12, why)


def energy_with_rk4(samples: int) -> Iterator[Check]:
    """The same with Runge-Kutta steps, whose error is of fourth order between touchdowns and of first at them."""
    del samples
    h = 1e-4
    for start_name, start in STARTS.items():
        made = rig(vivi(without_motors=True, wheel={"tyre": COULOMB}), method="rk4", step=h, **start)
        run = Watched(made, 0.5, 5)
        energy = run.body + energy_of_coulomb_treads(run)
        fastest = np.max(np.abs(run.each("deflection_rate")))
        damping = made.engine.scenario.robots["r"].wheels["front_left"].suspension.damping
        why = "Four landings, each with h of a force c ḣ that jumps, at the speed ḣ: 4 c ḣ² h. Roundings beside."
        tolerance = 4 * damping * fastest**2 * h + 1e4 * EPS * energy[0]
        yield close(f"{start_name}, coulomb, rk4: energy rises by [J]", 0.0, largest_rise(energy), tolerance, why)


def energy_on_the_roof(samples: int) -> Iterator[Check]:
    """Corners that hit the ground and slide on it: E = ½ m v² + ½ Ω·JΩ + m g z + ½ k d² + ½ k u² never grows, with the
    depth d and the deflection u of each corner across the ground."""
    del samples
    h = 1e-5
    for method in ("semi-implicit", "rk4"):
        made = rig(
            vivi(without_motors=True), step=h, method=method,
            position=[0.0, 0.0, 0.2], attitude=[np.pi, 0.0, 0.0], velocity=[1.0, -1.0, 1.0],
        )  # fmt: skip
        fixed, own = made.engine.model.robots[0], made.engine.state.robots[0]
        energies, powers = [], []
        for _ in range(1500):
            made.steps(20)
            row = made.row()
            pose, force = made.value("pose", row), made.value("chassis_force", row)
            depth = np.minimum(pose[2] + fixed.corners @ upwards(pose[3:]), 0.0)
            held = 0.5 * fixed.corner_stiffness * (np.sum(depth**2) + np.sum(own.corner_u**2))
            energies.append(held + sum(made.value(part, row) for part in PARTS))
            twist = made.value("twist", row)
            speed = np.linalg.norm(twist[:3]) + fixed.reach * np.linalg.norm(twist[3:])
            powers.append(float(np.linalg.norm(force) * speed))
        why = "E swings by h/2 of the power of the corners' forces, |R| (|v| + |Ω| l), either way: h P."
        name = f"sliding on its roof, {method}: energy rises by [J]"
        yield close(name, 0.0, largest_rise(np.array(energies)), h * max(powers), why)


def rough_ground_keeps_energy(samples: int) -> Iterator[Check]:
    """Without friction and dampers E is constant on any ground: the force is −∇(½ k h²) of the deflection found.

    The rim's radius in place of the ground's normal gains 1.5 J of 11 J here."""
    seconds, classes = (4.0, "CDE") if samples > FAST else (1.5, "CE")
    wheel = {"tyre": SLIPPERY, "suspension": {"damping": 0.0, "progression": 0.0}}
    for iso_class in classes:
        for rims in (1, 2):
            terrain = {"type": "rough", "iso_class": iso_class, "x": [-6.0, 6.0], "y": [-6.0, 6.0], "resolution": 0.05}
            largest, drift, power = [], [], 0.0
            for h in STEPS:
                made = rig(
                    vivi(without_motors=True, wheel={**wheel, "rims": rims}),
                    terrain=terrain, step=h, velocity=[1.0, 0.2, 0.0], position=[-1.0, 0.0],
                )  # fmt: skip
                run = Watched(made, seconds, round(1e-3 / h))
                change = run.body - run.body[0]
                largest.append(float(np.max(np.abs(change))))
                drift.append(float(np.mean(change[-200:])))
                power = max(power, run.power)
            name = f"class {iso_class}, {rims} rim{'s' * (rims - 1)}"
            why = f"First order: E swings by h/2 of the exchanged power, here up to {power:.0f} W."
            yield close(f"{name}: energy changes by [J], h = 0.1 ms", 0.0, largest[0], 1e-4 * power, why)
            why = "First order over three halvings. Edges of cells shift a swing by a fifth: 0.2·√2/ln 8 of the slope."
            order = float(np.polyfit(np.log(STEPS), np.log(largest), 1)[0])
            yield close(f"{name}: order of the change", 1.0, order, 0.14, why)
            why = "No drift: the mean of the last 0.2 s lies within the swing of the first order."
            yield close(f"{name}: energy drifts by [J], h = 25 µs", 0.0, drift[2], 2.5e-5 * power, why)


def edges_keep_energy(samples: int) -> Iterator[Check]:
    """The same over sharp edges: a step of 2 cm that rises within 1 cm, at 1 m/s, its height below a rim's travel."""
    del samples
    wheel = {"tyre": SLIPPERY, "suspension": {"damping": 0.0, "progression": 0.0}}
    terrain = {"type": "step", "at": 0.6, "height": 0.02, "edge": 0.01, "resolution": 0.01, "x": [-2, 4], "y": [-1, 1]}
    changes, power = [], 0.0
    for h in (2e-5, 1e-5):
        made = rig(
            vivi(without_motors=True, wheel={**wheel, "rims": 1}), terrain=terrain, step=h, velocity=[1.0, 0.0, 0.0]
        )
        run = Watched(made, 1.5, round(1e-3 / h))
        changes.append(float(np.max(np.abs(run.body - run.body[0]))))
        power = max(power, run.power)
    why = f"First order: E swings by h/2 of the exchanged power, here up to {power:.0f} W; four wheels meet the edge."
    yield close(
        "over a step without friction: energy changes by [J], h = 20 µs", 0.0, changes[0], 4 * 2e-5 * power, why
    )
    yield close(
        "over a step without friction: energy changes by [J], h = 10 µs", 0.0, changes[1], 4 * 1e-5 * power, why
    )


def tumbling_gains_nothing(samples: int) -> Iterator[Check]:
    """Thrown at random onto level ground, and into a wall with the chassis first: while nothing touches, E = ½ m v² +
    ½ Ω·JΩ + m g z is never above an earlier such moment; on the ground it comes to rest."""
    rng = np.random.default_rng(11)
    worst_rise, fastest = 0.0, 0.0
    for _ in range(12 if samples > FAST else 4):
        start = {"attitude": rng.uniform(-3, 3, 3).tolist(), "angular_velocity": rng.uniform(-8, 8, 3).tolist()}
        made = rig(vivi(), position=[0.0, 0.0, 1.0], velocity=rng.uniform(-3, 3, 3).tolist(), **start)
        worst_rise = max(worst_rise, rise_in_the_air(made.record(4.0, 20), made))
        made.run(2.0)
        fastest = max(fastest, float(np.max(np.abs(made.value("twist")))))
    why = "Turning by the middle of the step is of second order: some 1e-6 of 100 J at 10 rad/s. A hundred times that."
    yield close("tumbling: energy gained between two flights [J]", 0.0, worst_rise, 1e-2, why)
    why = "After 6 s all motion has been damped; LuGre's bristles at 0 V and the treads let wheels settle slowly."
    yield close("tumbling: speed at the end [m/s, rad/s]", 0.0, fastest, 1e-3, why)
    shape = {"mass": 25.0, "front": 0.3, "rear": 0.25, "left": 0.15, "right": 0.15, "top": 0.1, "bottom": 0.06}
    made = rig(vivi(without_motors=True, chassis=shape), terrain=WALL, velocity=[2.0, 0.0, 0.0])
    rows = made.record(2.0, 10)
    energy = np.sum([made.value(part, rows) for part in PARTS], axis=0)
    why = "It bounces back: the springs of corners and walls only return what they took, within h of their power."
    above = float(np.max(energy - energy[0]))
    yield close("into a wall, chassis first: energy above the start [J]", 0.0, above, 0.1, why)


def rise_in_the_air(rows: np.ndarray, made: Rig) -> float:
    """By how much kinetic and potential energy stand above an earlier value, of moments without any contact."""
    touching = np.linalg.norm(made.value("chassis_force", rows), axis=1)
    for wheel in NAMES:
        touching = touching + made.value(f"{wheel}/load", rows)
        touching = touching + np.linalg.norm(made.value(f"{wheel}/wall_force", rows), axis=1)
    energy = np.sum([made.value(part, rows) for part in PARTS[:2]], axis=0)[touching == 0.0]
    return largest_rise(energy)


def damped_bounce_stays_below(samples: int) -> Check:
    """A tread that is bent while it is light and let go while it is pressed would give back more than it took, did not
    the tread that comes in with the load come in unstretched: the sum of all energies stays below where it began."""
    del samples
    made = rig(vivi(without_motors=True, wheel={"tyre": MAGIC}), **STARTS["bouncing"])
    run = Watched(made, 1.0, 5)
    tyre, load = MagicFormulaTyre(**MAGIC), run.each("load")
    energy = run.body + energy_of_magic_treads(tyre, run.u, load)
    above = float(np.max(energy - energy[0]))
    return close("bouncing: energy above that of the start [J]", 0.0, max(above, 0.0), 1e-4 * run.power, "h P.")


FUNCTIONS = (
    energy_never_grows,
    shown_energy_never_grows,
    energy_with_rk4,
    energy_on_the_roof,
    rough_ground_keeps_energy,
    edges_keep_energy,
    tumbling_gains_nothing,
    damped_bounce_stays_below,
)
