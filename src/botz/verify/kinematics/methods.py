"""Arcs and rk4 integrate one model of wheeled robots."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.verify import methods
from botz.verify.checks import EPS, Check, close, worst
from botz.verify.kinematics import robots

COMPARED = methods.Comparison((("pose", ("pose",)), ("steering", ("steering",))))

ARCS = ("differential-circle", "differential-odometry", "omni-eight", "skid-steer-slip")
"""Scenarios of nothing but arcs, on which the one method is exact and the other as good."""
ROLLED = 2.0
"""Duration [s]."""


def wheeled_methods(samples: int) -> Iterator[Check]:
    """Arcs and rk4 on every shipped scenario: D = C h², the midpoint rule of castors and of moving steering."""
    methods.ends.cache_clear()
    del samples
    for name in methods.scenarios("kinematics"):
        if name in ARCS:
            step = methods.spec_of(name).time.step
            gaps = COMPARED.apart(name, ("arc", "rk4"), step, ROLLED)
            # Turning by at most 2 rad/s at 1 m/s: Simpson's rule, v T (ω h)⁴/2880; and a rounding per step.
            tolerance = ROLLED * (2.0 * step) ** 4 / 2880.0 + ROLLED / step * EPS * 10.0
            why = "Arcs are exact; Simpson's rule is wrong by v T (ω h)⁴/2880, and a rounding per step of up to 10 m."
            yield worst(f"{name}, arc and rk4 after {ROLLED:g} s: pose [m, rad]", gaps.values(), tolerance, why)
            continue
        why = "The next term is smaller by h times the rates of castors and steering, 10/s; targets reached in a step."
        yield from COMPARED.order_checks(name, ("arc", "rk4"), 2, ROLLED, methods.SMOOTH, why)


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
        for n in (steps, methods.FINER * steps):
            h, poses = round(seconds / n, 6), []
            for method in ("arc", "rk4"):
                engine = robots.engine_of(spec, step=h, method=method, odometry_rate=1.0 / h)
                engine.inputs[:] = inputs
                poses.append(robots.value(engine, robots.rollout(engine, n), "r/pose")[0])
            found.append(float(np.max(np.abs(poses[0] - poses[1]))))
        if name in STRAIGHT:
            why = "A straight line: a rounding per step."
            yield worst(f"{name}, arc and rk4: pose [m]", found, methods.FINER * steps * EPS, why)
            continue
        p = float(np.log2(found[0] / found[1]) / np.log2(methods.FINER)) if min(found) > 0.0 else np.nan
        why = f"D = {found[0]:.1e} at {seconds / steps:g} s; the next term is smaller by h times the robot's rates."
        yield close(f"{name}, arc and rk4: order of their difference", order, p, methods.SMOOTH, why)


FUNCTIONS = (wheeled_methods, wheeled_robots_by_both_methods)
