"""Vehicles in motion: free flight, symmetry, order of the methods, small steps, long runs, runs in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from botz.verify.checks import EPS, FAST, Check, close, same, worst
from botz.verify.vehicle.rig import GRAVITY, NAMES, Data, Rig, four_wheeler, plane, rig, vivi

METHODS = ("semi-implicit", "rk4")
COULOMB: Data = {"type": "coulomb", "static": 0.9, "dynamic": 0.7}

# --- free flight --------------------------------------------------------------------------------------------------

MASS, WHEEL_INERTIA, RADIUS, GEAR = 40.0, 0.05, 0.1, 5.0
INERTIA = np.array([[0.6, 0.05, -0.08], [0.05, 1.2, 0.03], [-0.08, 0.03, 1.5]])
THROWN: Data = {
    "position": [0.0, 0.0, 100.0], "velocity": [3.0, -1.0, 2.0],
    "angular_velocity": [2.0, 1.0, 3.0], "attitude": [0.3, -0.2, 0.5],
}  # fmt: skip


def thrown(method: str, step: float, rotor: float, drives: bool = False) -> Rig:
    """High above the ground, turning, its wheels spinning. A motor that lets no current through is a flywheel."""
    motor = {
        "voltage": 24.0, "torque_constant": 0.03757, "speed_constant": 26.6, "resistance": 0.064,
        "gear_ratio": GEAR, "rotor_inertia": rotor, "current_limit": None if drives else 1e-30,
    }  # fmt: skip
    j = INERTIA
    chassis = {"inertia": [j[0, 0], j[1, 1], j[2, 2], j[0, 1], j[0, 2], j[1, 2]]}
    robot = four_wheeler(chassis=chassis, wheel={"inertia": WHEEL_INERTIA, "radius": RADIUS}, motor=motor)
    made = rig(robot, step=step, method=method, **THROWN)
    return made.command(voltages=[24.0, -10.0, 5.0, 24.0] if drives else 0.0)


def rotation(quat: np.ndarray) -> np.ndarray:
    """Matrices (…, 3, 3) of quaternions w, x, y, z: by turning the three axes with q v q*."""
    w, v = quat[..., :1], quat[..., 1:]
    columns = []
    for axis in np.eye(3):
        crossed = np.cross(v, np.broadcast_to(axis, v.shape))
        columns.append(axis + 2.0 * (w * crossed + np.cross(v, crossed)))
    return np.stack(columns, axis=-1)


def angular_momentum(made: Rig, rows: np.ndarray, rotor: float) -> np.ndarray:
    """R [J Ω + Σ (I ω + J_r s) t] from recorded channels, s = G ω + (1 − G) Ω·t the rotor's absolute speed."""
    turning = made.value("angular_velocity", rows)
    inside = turning @ INERTIA.T
    for wheel in NAMES:
        omega = made.value(f"{wheel}/speed", rows) + turning[:, 1]
        inside[:, 1] += WHEEL_INERTIA * omega + rotor * (GEAR * omega + (1.0 - GEAR) * turning[:, 1])
    return np.asarray(np.einsum("kij,kj->ki", rotation(made.value("pose", rows)[:, 3:]), inside))


def free_flight(samples: int) -> Iterator[Check]:
    """In the air X = X₀ + V₀ t − ½ g t² ẑ and R [J Ω + Σ (I ω + J_r s) t] stays, whatever the motors do; without torque
    the energy of rotation stays as well."""
    del samples
    h = 1e-4
    for method in METHODS:
        for rotor in (0.0, 2e-3):
            for drives in (False, True):
                made = thrown(method, h, rotor, drives)
                first = made.row()[None]
                rows = np.concatenate([first, made.record(1.0, 100)])
                before, momentum = made.engine.state.robots["spin"][0], angular_momentum(made, rows, rotor)
                size = float(np.linalg.norm(momentum[0]))
                speed = float(np.max(np.linalg.norm(made.value("angular_velocity", rows), axis=1)))
                case = f"{method}, rotors of {rotor:g} kg·m², motors {'on' if drives else 'off'}"
                if method == "rk4":
                    tolerance = (speed * h) ** 4 * speed * size + 1e4 * EPS * size
                    why = "Fourth order, |L| Ω T (Ω h)⁴, and roundings."
                else:
                    tolerance, why = 1.5 * h * speed * size, "Speeds are of the attitude half a step ago: h |Ω × L|."
                gaps = np.linalg.norm(momentum - momentum[0], axis=1)
                yield worst(f"free flight, {case}: angular momentum changes by [N·m·s]", gaps, tolerance, why)
                yield worst(
                    f"free flight, {case}: the state's momentum against channels [N·m·s]",
                    before - momentum[0], 100 * EPS * size, "The state is that momentum: roundings of its sum.",
                )  # fmt: skip
                if drives:
                    continue
                moving = 0.5 * MASS * np.sum(made.value("twist", rows)[:, :3] ** 2, axis=1)
                turning = made.value("energy/kinetic", rows) - moving
                tolerance = tolerance / size * 2 * turning[0] + 1e4 * EPS * (turning[0] + np.max(moving))
                yield worst(
                    f"free flight, {case}: energy of rotation changes by [J]",
                    turning - turning[0], tolerance, "As the momentum, whose square it is.",
                )  # fmt: skip
        made = thrown(method, h, 0.0)
        start, velocity = made.value("pose")[:3], rotation(made.value("pose")[3:]) @ made.value("twist")[:3]
        rows = made.record(1.0, 100)
        t = 0.01 * np.arange(1, len(rows) + 1)[:, None]
        ahead = h if method == "semi-implicit" else 0.0
        path = start + velocity * t - 0.5 * GRAVITY * np.array([0.0, 0.0, 1.0]) * t * (t + ahead)
        why = "Exactly ½ g t (t + h) with new velocities, ½ g t² by rk4; compensated sums round twice at 100 m."
        gap = made.value("pose", rows)[:, :3] - path
        yield worst(f"free flight, {method}: distance from the parabola [m]", gap.ravel(), 8 * EPS * 100.0, why)


def gyrostat(rotor: float, time: float) -> tuple[np.ndarray, float]:
    """Attitude after `time` by DOP853 from Euler's equations, J Ω̇ + Ω×(J Ω + H t) + Ḣ t = 0, with H = Σ (I ω + J_r s)
    and no torque on the axles, (I + G² J_r) ω̇ + G (1 − G) J_r Ω̇·t = 0; and the largest |Ω̇| on the way."""
    from scipy.integrate import solve_ivp  # slow to import, and only this check needs it

    from botz.transforms import quaternion_from_attitude

    matrix = np.zeros((4, 4))
    matrix[:3, :3] = INERTIA
    matrix[1, 1] += 4 * (1.0 - GEAR) * rotor
    matrix[1, 3] = 4 * (WHEEL_INERTIA + GEAR * rotor)
    matrix[3] = 0.0, GEAR * (1.0 - GEAR) * rotor, 0.0, WHEEL_INERTIA + GEAR**2 * rotor

    def motion(_: float, state: np.ndarray) -> np.ndarray:
        turning, omega, quat = state[:3], state[3], state[4:]
        held = INERTIA @ turning
        held[1] += 4 * (WHEEL_INERTIA * omega + rotor * (GEAR * omega + (1.0 - GEAR) * turning[1]))
        rates = np.linalg.solve(matrix, [*-np.cross(turning, held), 0.0])
        scalar, vector = quat[0], quat[1:]
        return np.array([*rates, -0.5 * vector @ turning, *(0.5 * (scalar * turning + np.cross(vector, turning)))])

    start = [
        *THROWN["angular_velocity"], THROWN["angular_velocity"][1] + THROWN["velocity"][0] / RADIUS,
        *quaternion_from_attitude(*THROWN["attitude"]),
    ]  # fmt: skip
    solved = solve_ivp(motion, (0.0, time), start, method="DOP853", rtol=1e-13, atol=1e-13)
    fastest = max(float(np.linalg.norm(motion(0.0, state)[:3])) for state in solved.y.T)
    return solved.y[4:, -1], fastest


def flight_against_dop853(samples: int) -> Iterator[Check]:
    """Attitude of a thrown vehicle with spinning wheels against Euler's equations of a gyrostat."""
    del samples
    for rotor in (0.0, 2e-3):
        wanted, fastest = gyrostat(rotor, 1.0)
        for method, order, h in (("semi-implicit", 2, 5e-4), ("rk4", 4, 4e-3)):

            def error(h: float, method: str = method, rotor: float = rotor, wanted: np.ndarray = wanted) -> float:
                return float(np.max(np.abs(thrown(method, h, rotor).run(1.0).value("pose")[3:] - wanted)))

            case = f"gyrostat, {method}, rotors of {rotor:g} kg·m²"
            yield order_of(f"{case}: order of the error", error, h, order, 0.1, "The next term is smaller by Ω h.")
            if method == "semi-implicit":
                why = f"Far below first order, ½ |Ω̇| h T with |Ω̇| = {fastest:.0f} rad/s²: mid-step speeds turn it."
                tolerance = 0.5 * fastest * 1e-4
            else:
                rate = fastest**0.5
                why, tolerance = f"T w (w h)⁴ with w = √|Ω̇| = {rate:.0f} /s.", rate * (rate * 1e-3) ** 4
            h_fine = 1e-4 if method == "semi-implicit" else 1e-3
            yield close(f"{case}: quaternion after 1 s, h = {h_fine:g} s", 0.0, error(h_fine), tolerance, why)


def order_of(name: str, error: Callable[[float], float], h: float, order: int, tolerance: float, why: str) -> Check:
    """p = log₂ e(h)/e(h/2)."""
    coarse, fine = error(h), error(0.5 * h)
    return close(name, order, np.log2(coarse / fine) if coarse > 0 and fine > 0 else np.nan, tolerance, why)


# --- symmetry -------------------------------------------------------------------------------------------------------

MIRROR = np.array([1, -1, 1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1])
"""Signs of position, quat_wxyz, velocity and angular velocity under y → −y."""


def pose_and_twist(made: Rig) -> np.ndarray:
    return np.concatenate([made.value("pose"), made.value("twist")])


def straight_run(samples: int) -> Iterator[Check]:
    """Equal voltages on level ground move a symmetric vehicle straight ahead: y = 0."""
    seconds = 60.0 if samples > FAST else 10.0
    for name, wheel, method in (
        ("magic-formula", {}, "semi-implicit"),
        ("coulomb", {"tyre": COULOMB}, "semi-implicit"),
        ("magic-formula", {}, "rk4"),
    ):
        step = 2e-4 if method == "rk4" else 1e-4
        made = rig(vivi(wheel=wheel), step=step, method=method).command(voltages=12.0).run(seconds)
        case = f"straight run of {seconds:g} s, {name}, {method}"
        why = "Left and right do the same sums; what is left of y is the order of four roundings. Stated: 1e-9 m."
        yield close(f"{case}: drift to the side [m]", 0.0, made.value("pose")[1], 1e-9, why)


def mirrored_run(samples: int) -> Iterator[Check]:
    """Mirrored commands from a mirrored place on mirrored ground: y → −y, roll → −roll, yaw → −yaw."""
    seconds = 3.0 if samples > FAST else 1.0
    wavy = "0.05*sin(2*x)*cos(1.5*({y})+0.4)+0.02*sin(7*({y})+x)"
    for ground in ("flat", "wavy"):
        for tyre_name, tyre in (("magic-formula", {"type": "magic-formula"}), ("coulomb", COULOMB)):
            for rims in (1, 2):
                ends = []
                for sign in (1, -1):
                    terrain = {
                        "type": "formula", "expression": wavy.format(y="y" if sign > 0 else "-y"),
                        "x": [-4.0, 4.0], "y": [-4.0, 4.0], "resolution": 0.05,
                    }  # fmt: skip
                    made = rig(
                        vivi(wheel={"tyre": tyre, "rims": rims}),
                        terrain=None if ground == "flat" else terrain, position=[0.0, 0.3 * sign],
                    )  # fmt: skip
                    made.command(tank=[0.8, 0.3] if sign > 0 else [0.3, 0.8]).run(seconds)
                    ends.append(pose_and_twist(made))
                why = (
                    "Same sums in another order: one rounding of each state a step, N eps, at twice the size; "
                    "tyres and dampers forget them."
                )
                tolerance = 2 * seconds / made.engine.dt * EPS
                case = f"mirrored run, {ground}, {tyre_name}, {rims} rim{'s' * (rims - 1)}"
                yield worst(f"{case}: pose and twist", ends[0] - MIRROR * ends[1], tolerance, why)


# --- order, small steps, long runs ------------------------------------------------------------------------------------

SMOOTH_FRICTION: Data = {
    "form": "continuous", "coulomb": 0.5, "static": 0.6, "stribeck_speed": 1.0,
    "stiffness": 50.0, "damping": 0.1, "viscous": 0.05, "steepness": 5.0,
}  # fmt: skip


def order_on_a_plane(samples: int) -> Iterator[Check]:
    """Error C h^p: p = ½ log₂ |y(h) − y(h/2)|/|y(h/4) − y(h/8)|, p = 1 for semi-implicit steps and 4 for rk4."""
    del samples
    tyres = {"magic-formula": {"type": "magic-formula"}, "coulomb": {"type": "coulomb", "static": 5.0, "dynamic": 5.0}}
    for tyre_name, tyre in tyres.items():
        for method, order, h in (("semi-implicit", 1, 2e-4), ("rk4", 4, 2e-3 if tyre_name != "coulomb" else 2.5e-4)):

            def state(h: float, method: str = method, tyre: Any = tyre) -> np.ndarray:
                # It bounces and pitches by less than half a slice and stays on the ground: no force jumps.
                wheel = {"tyre": tyre, "friction": SMOOTH_FRICTION, "suspension": {"damping": 100.0, "progression": 0}}
                made = rig(
                    vivi(without_motors=True, wheel=wheel), step=h, method=method, contact={"tolerance": 1e-12},
                    velocity=[1.0, 0.0, 0.1], attitude=[0.0, 0.02, 0.0], angular_velocity=[0.0, 0.3, 0.0],
                )  # fmt: skip
                return pose_and_twist(made.run(0.3))

            ends = [state(h / k) for k in (1, 2, 4, 8)]
            gaps = [float(np.max(np.abs(a - b))) for a, b in pairwise(ends)]
            why = "The next term is smaller by w h, with w = 220 /s of the tread on its wheel: up to log₂(1 + w h)/2."
            if tyre_name == "magic-formula":
                why += " (max(|ωr|, |V_x|) has a corner where the slip changes sign; it shows below 1e-10.)"
            measured = 0.5 * np.log2(gaps[0] / gaps[2])
            tolerance = max(0.1, 0.5 * np.log2(1 + 220 * h))
            yield close(f"bouncing and rolling, {tyre_name}, {method}: order", order, measured, tolerance, why)


def small_steps_converge(samples: int) -> Iterator[Check]:
    """Runs at 10 µs, 1 µs and 0.1 µs approach one trajectory: of first order, each is ten times nearer to the next."""
    seconds = 0.5 if samples > FAST else 0.1
    terrain = {"type": "rough", "iso_class": "C", "x": [-3.0, 3.0], "y": [-3.0, 3.0], "resolution": 0.05}
    ends = []
    for h in (1e-4, 1e-5, 1e-6, 1e-7):
        made = rig(vivi(), terrain=terrain, step=h, seed=1).command(tank=[0.75, 0.5]).run(seconds)
        ends.append(pose_and_twist(made))
    gaps = [np.abs(a - b) for a, b in pairwise(ends)]
    names = ("100 and 10 µs", "10 and 1 µs", "1 and 0.1 µs")
    for part, columns in (("pose", slice(0, 7)), ("twist", slice(7, 13))):
        sizes = [float(np.max(gap[columns])) for gap in gaps]
        for k in (1, 2):
            why = (
                "First order: a tenth; edges of cells and slices fall elsewhere in the steps, so between 1/20 and 1/5."
            )
            ratio = np.log10(sizes[k - 1] / sizes[k])
            yield close(f"{part}, {names[k]} apart: decades nearer than before", 1.0, ratio, np.log10(2.0), why)
    # Positions lag by h of a velocity at most, velocities by h of an acceleration; 20 m/s² at the start of the motors.
    largest = 2.0 * 1e-6 * max(1.0, 20.0 * seconds)
    why = "h of the way that a velocity wrong by h·20 m/s² makes, and its own lag: 2 h max(1, 20 T)."
    yield close("pose at 1 µs against 0.1 µs", 0.0, float(np.max(gaps[2][:7])), largest, why)


def long_run_keeps_its_place(samples: int) -> Iterator[Check]:
    """Without friction x = x₀ + v n h exactly, at h = 100 ns and x = 100 m, where a step is 1e-9 of x."""
    steps = 100_000_000 if samples > FAST else 1_000_000
    h, x0 = 1e-7, 100.0
    robot = four_wheeler(wheel={"tyre": {"type": "coulomb", "static": 0.0, "dynamic": 0.0}})
    ground = plane(0.0, half_size=500.0)
    made = rig(robot, terrain=ground, step=h, position=[x0, 0.0], velocity=[1.0, 0.0, 0.0]).steps(steps)
    few = min(steps, 1_000_000)
    naive = float(np.add.accumulate(np.concatenate([[x0], np.full(few, h)]))[-1]) - (x0 + few * h)
    exact = x0 + steps * h
    why = (
        f"Compensated, the sum is right to 2 eps x, and its terms v h to eps each: 2 eps x + eps v T. Rounded in every "
        f"step it may be off by n eps x/2 = {steps * EPS * x0 / 2:.1e} m; a plain sum of {few} is by {naive:.1e} m."
    )
    tolerance = 2 * EPS * exact + EPS * steps * h
    yield close(f"place after {steps:g} steps of 100 ns [m]", exact, made.value("pose")[0], tolerance, why)
    why = (
        "The spring's force and the weight round at eps of m g in each step; n of them, h apart, move it by n h eps g."
    )
    yield close("its speed meanwhile [m/s]", 1.0, made.engine.state.robots["v"][0, 0], 4 * EPS, "No force along x.")
    drift = abs(made.value("twist")[2])
    yield close("its speed upwards [m/s]", 0.0, drift, 1e-6 * GRAVITY * h * 1e3 + steps * h * EPS * GRAVITY, why)


# --- pieces -----------------------------------------------------------------------------------------------------------


def pieces_give_the_same_bits(samples: int) -> Iterator[Check]:
    """One call, calls of any length, a restored snapshot, any recording: the same bits."""
    del samples
    rng = np.random.default_rng(5)
    terrain = {"type": "rough", "iso_class": "D", "x": [-3.0, 3.0], "y": [-3.0, 3.0], "resolution": 0.05}
    for method in METHODS:
        for search in ("fast", "plain"):

            def start(method: str = method, search: str = search) -> Rig:
                return rig(vivi(), terrain=terrain, method=method, contact={"search": search}).command(tank=[1.0, 0.4])

            whole = start().steps(3000)
            pieces = start()
            for n in rng.multinomial(3000, np.full(40, 1 / 40)):
                pieces.steps(int(n))
            recorded = start()
            recorded.record(0.3, 7)
            kept = start().steps(1100)
            state = kept.engine.snapshot()
            kept.steps(500)
            kept.engine.restore(state)
            kept.done = 1100
            kept.steps(1900)
            for what, other in (("in 40 pieces", pieces), ("recorded", recorded), ("restored", kept)):
                apart = [
                    name
                    for name, array in whole.engine.state_arrays().items()
                    if array.tobytes() != other.engine.state_arrays()[name].tobytes()
                ]
                measured = f"apart in {', '.join(apart)}" if apart else "the same bits"
                yield same(f"{method}, {search} search, {what}: all states", "the same bits", measured, "Equal bytes.")


FUNCTIONS = (
    free_flight,
    flight_against_dop853,
    straight_run,
    mirrored_run,
    order_on_a_plane,
    small_steps_converge,
    long_run_keeps_its_place,
    pieces_give_the_same_bits,
)
