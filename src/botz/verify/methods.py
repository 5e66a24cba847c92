"""The methods of an engine integrate one model: on every shipped scenario, with its controllers, they approach one
trajectory. Engine `vehicle` has a file of its own.

If x_A(h) = x* + a h^p + … and x_B(h) = x* + b h^q + … with p ≤ q, then D(h) = |x_A − x_B| is C h^p, and
p = ½ log₂ D(h)/D(h/4). Two models whose solutions are δ apart have D → δ, and p → 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from botz.scenario import library
from botz.scenario.load import load
from botz.sim.simulation import Simulation
from botz.verify.checks import EPS, FAST, Check, close, worst
from botz.verify.kinematics import robots

FINER = 4
"""How many times shorter the steps of the second pair of runs are."""
SMOOTH, EVENTS = 0.1, 0.25
"""Tolerances of the order: the next term of the error; and what happens at once, whose place within a step changes."""

KINDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "kinematics": {"pose": ("pose",), "steering": ("steering",)},
    "soccer": {"poses": ("pose",)},
    "arm": {"joints": ("position",), "objects": ("pose",)},
    "multibody": {"pose": ("pose", "attitude"), "joints": ("position",)},
}
"""Last words of the channels that are compared, together as far as their units go together."""


def spec_of(name: str) -> Any:
    return load(name).spec


def scenarios(engine: str) -> list[str]:
    return [name for name in library.names("scenario") if spec_of(name).engine == engine]


@lru_cache(maxsize=256)
def ends(name: str, method: str, step: float, seconds: float, changes: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Where everything is after a run of a shipped scenario, by kind."""
    changed = (f"time.step={step!r}", f"time.method={method}", f"time.duration={10.0 * seconds!r}", *changes)
    simulation = Simulation(load(name, overrides=changed))
    simulation.reset()
    voltages = {"left/voltage": 3.0, "right/voltage": 4.0}
    alone = simulation.spec.engine == "soccer" and not simulation.spec.controllers
    driven = dict.fromkeys(simulation.spec.robots, voltages) if alone else None
    values = simulation.step(driven, n=round(seconds / step))
    found: dict[str, np.ndarray] = {}
    for kind, words in KINDS[simulation.spec.engine].items():
        chosen = [value for key, value in values.items() if key.split("/")[-1] in words and "odometry" not in key]
        if chosen:
            found[kind] = np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in chosen])
    return found


def apart(name: str, methods: tuple[str, str], step: float, seconds: float, *changes: str) -> dict[str, float]:
    """D, the largest difference between two methods, by kind."""
    one, other = (ends(name, method, step, seconds, changes) for method in methods)
    gaps = {kind: one[kind] - other[kind] for kind in one}
    # Headings may be a turn apart; lengths never are as many metres.
    return {kind: float(np.max(np.abs((gap + np.pi) % (2.0 * np.pi) - np.pi))) for kind, gap in gaps.items()}


def order_checks(
    name: str, methods: tuple[str, str], order: int, seconds: float, tolerance: float, why: str, *changes: str
) -> Iterator[Check]:
    step = spec_of(name).time.step
    coarse, fine = (apart(name, methods, step / k, seconds, *changes) for k in (1, FINER))
    for kind, size in coarse.items():
        if max(size, fine[kind]) < 1e-12:
            continue  # nothing of it moves, or both are exact: another check's
        p = float(np.log2(size / fine[kind]) / np.log2(FINER)) if size and fine[kind] else np.nan
        case = f"{name}, {' and '.join(methods)} after {seconds:g} s, {kind}"
        why = f"D = {size:.1e} at {step:g} s. {why}"
        if tolerance == SMOOTH:
            yield close(f"{case}: order of their difference", order, p, tolerance, why)
        else:  # a long step in which much happens may be worse than its order says: p is larger then
            yield worst(f"{case}: order of their difference below {order}", [max(order - p, 0.0)], tolerance, why)


# --- kinematics ------------------------------------------------------------------------------------------------------

ARCS = ("differential-circle", "differential-odometry", "omni-eight", "skid-steer-slip")
"""Scenarios of nothing but arcs, on which the one method is exact and the other as good."""
ROLLED = 2.0
"""Duration [s]."""


def wheeled_methods(samples: int) -> Iterator[Check]:
    """Arcs and rk4 on every shipped scenario: D = C h², the midpoint rule of castors and of moving steering."""
    ends.cache_clear()
    del samples
    for name in scenarios("kinematics"):
        if name in ARCS:
            step = spec_of(name).time.step
            gaps = apart(name, ("arc", "rk4"), step, ROLLED)
            # Turning by at most 2 rad/s at 1 m/s: Simpson's rule, v T (ω h)⁴/2880; and a rounding per step.
            tolerance = ROLLED * (2.0 * step) ** 4 / 2880.0 + ROLLED / step * EPS * 10.0
            why = "Arcs are exact; Simpson's rule is wrong by v T (ω h)⁴/2880, and a rounding per step of up to 10 m."
            yield worst(f"{name}, arc and rk4 after {ROLLED:g} s: pose [m, rad]", gaps.values(), tolerance, why)
            continue
        why = "The next term is smaller by h times the rates of castors and steering, 10/s; targets reached in a step."
        yield from order_checks(name, ("arc", "rk4"), 2, ROLLED, SMOOTH, why)


STRAIGHT = ("driven_ball",)
"""Robots that never turn: both methods are exact."""


def wheeled_robots_by_both_methods(samples: int) -> Iterator[Check]:
    """Every shipped robot with constant speeds, its steering on the way to a limit: D = C h² of the pose with steering
    and with driven castors, D = C h⁴ where arcs are exact."""
    del samples
    rng = np.random.default_rng(15)
    for name, spec in robots.shipped_robots().items():
        model = robots.engine_of(spec).robots["r"]
        inputs = robots.random_inputs(rng, model)
        limits = np.minimum(model.group_limit, np.pi)
        inputs[model.n_rates :] = np.copysign(limits, inputs[model.n_rates :])
        # Half of the time that the steering needs, so that no target is reached, or 2 s.
        seconds = float(np.min(0.5 * limits / model.group_rate, initial=2.0))
        seconds = seconds if seconds > 0.0 else 2.0
        castor = any(wheel.type == "castor" and wheel.driven for wheel in spec.wheels.values())
        order = 2 if castor or np.isfinite(model.group_rate).any() else 4
        found, steps = [], 25
        for n in (steps, FINER * steps):
            h, poses = round(seconds / n, 6), []
            for method in ("arc", "rk4"):
                engine = robots.engine_of(spec, step=h, method=method, odometry_rate=1.0 / h)
                engine.inputs[:] = inputs
                poses.append(robots.value(engine, robots.rollout(engine, n), "r/pose")[0])
            found.append(float(np.max(np.abs(poses[0] - poses[1]))))
        if name in STRAIGHT:
            why = "A straight line: a rounding per step."
            yield worst(f"{name}, arc and rk4: pose [m]", found, FINER * steps * EPS, why)
            continue
        p = float(np.log2(found[0] / found[1]) / np.log2(FINER)) if min(found) > 0.0 else np.nan
        why = f"D = {found[0]:.1e} at {seconds / steps:g} s; the next term is smaller by h times the robot's rates."
        yield close(f"{name}, arc and rk4: order of their difference", order, p, SMOOTH, why)


# --- soccer, arm, multibody ------------------------------------------------------------------------------------------

PLAYED = {"soccer": 0.1, "soccer-crowd": 0.2, "soccer-five": 0.3, "soccer-match": 0.2, "soccer-wall": 0.4}
"""Durations: `soccer` until before its first impact, `soccer-wall` until after it [s]. While a decision of a controller
or an impact falls into another update for longer steps, D is that of two decisions."""
MEETING = ("soccer-crowd", "soccer-five", "soccer-match")
"""Matches whose robots meet each other and the ball."""


def soccer_methods(samples: int) -> Iterator[Check]:
    """Euler's method and rk4 on every shipped match: D = C h of Euler's method, impacts included."""
    ends.cache_clear()
    del samples
    crowded = "Impacts are found within a step that both divide otherwise, and change the order of single runs."
    alone = "The next term is smaller by h times the motors' rates, 20/s."
    for name in scenarios("soccer"):
        why, tolerance = (crowded, EVENTS) if name in MEETING else (alone, SMOOTH)
        yield from order_checks(name, ("euler", "rk4"), 1, PLAYED.get(name, 0.1), tolerance, why)


MOVED = {"titan4-teleop": 2.0}
"""Duration where it is not 0.4 s: the operator's first message has a delay [s]."""
MOVED_LONG = {"puma-wave": 2.0, "titan4-line": 6.0, "titan4-pick": 6.0, "titan4-teleop": 6.0}
"""Durations of the full form: until after the block is lifted and the tool pressed on the deck [s]."""


def arm_methods(samples: int) -> Iterator[Check]:
    """The semi-implicit method and rk4 on every shipped scenario of arms: D = C h."""
    ends.cache_clear()
    durations = MOVED_LONG if samples > FAST else MOVED
    why = "Servos act once per step in both; the next term is smaller by h times the arm's rates, about 50/s."
    touching = "What lies and is gripped settles by contacts that open and close within steps."
    for name in scenarios("arm"):
        rests = bool(spec_of(name).world.objects)
        case = (EVENTS, touching) if rests else (SMOOTH, why)
        yield from order_checks(name, ("semi-implicit", "rk4"), 1, durations.get(name, 0.4), *case)


FLOWN = {"vivi-multibody": 0.15}
"""Duration where it is not 0.3 s [s]."""
CALM: dict[str, tuple[str, ...]] = {"hexarotor-wind": ("world.wind.turbulence=null",)}
"""Turbulence draws its numbers per step, so that each step has an air of its own."""


def multibody_methods(samples: int) -> Iterator[Check]:
    """Semi-implicit and implicit methods against rk4 on every shipped scenario: D = C h of each of them."""
    ends.cache_clear()
    del samples
    smooth = "The next term is smaller by h times the servos' rates, about 100/s."
    events = {
        "quadrotor-square": "Motors that slow down have another time constant, and some turn round within a step.",
        "hexarotor-wind": "Motors that slow down have another time constant, and some turn round within a step.",
        "vivi-multibody": "Edges of cells and slices of rims fall elsewhere in the steps.",
    }
    for name in scenarios("multibody"):
        for method in ("euler", "implicit", "implicit-fast"):
            tolerance = EVENTS if name in events else SMOOTH
            seconds, changes = FLOWN.get(name, 0.3), CALM.get(name, ())
            why = events.get(name, smooth)
            yield from order_checks(name, (method, "rk4"), 1, seconds, tolerance, why, *changes)


KINEMATICS: tuple[Any, ...] = (wheeled_methods, wheeled_robots_by_both_methods)
SOCCER: tuple[Any, ...] = (soccer_methods,)
ARM: tuple[Any, ...] = (arm_methods,)
MULTIBODY: tuple[Any, ...] = (multibody_methods,)
