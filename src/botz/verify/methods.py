"""The methods of an engine integrate one model: on every shipped scenario, with its controllers, they approach one
trajectory. What each family compares stands in its own folder.

If x_A(h) = x* + a h^p + … and x_B(h) = x* + b h^q + … with p ≤ q, then D(h) = |x_A − x_B| is C h^p, and
p = ½ log₂ D(h)/D(h/4). Two models whose solutions are δ apart have D → δ, and p → 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from botz.scenario import library
from botz.scenario.load import load
from botz.sim.simulation import Simulation
from botz.verify.checks import Check, close, worst

FINER = 4
"""How many times shorter the steps of the second pair of runs are."""
SMOOTH, EVENTS = 0.1, 0.25
"""Tolerances of the order: the next term of the error; and what happens at once, whose place within a step changes."""


def spec_of(name: str) -> Any:
    return load(name).spec


def scenarios(engine: str) -> list[str]:
    return [name for name in library.names("scenario") if spec_of(name).engine == engine]


@dataclass(frozen=True)
class Comparison:
    """What of an engine's runs is compared, and how."""

    kinds: tuple[tuple[str, tuple[str, ...]], ...]
    """Last words of the channels, together as far as their units go together."""
    undriven: tuple[tuple[str, float], ...] = ()
    """Command to all robots of a scenario that has no controllers."""

    def apart(
        self, name: str, methods: tuple[str, str], step: float, seconds: float, *changes: str
    ) -> dict[str, float]:
        """D, the largest difference between two methods, by kind."""
        one, other = (ends(self, name, method, step, seconds, changes) for method in methods)
        gaps = {kind: one[kind] - other[kind] for kind in one}
        # Headings may be a turn apart; lengths never are as many metres.
        return {kind: float(np.max(np.abs((gap + np.pi) % (2.0 * np.pi) - np.pi))) for kind, gap in gaps.items()}

    def order_checks(
        self, name: str, methods: tuple[str, str], order: int, seconds: float, tolerance: float, why: str, *changes: str
    ) -> Iterator[Check]:
        step = spec_of(name).time.step
        coarse, fine = (self.apart(name, methods, step / k, seconds, *changes) for k in (1, FINER))
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


@lru_cache(maxsize=256)
def ends(
    compared: Comparison, name: str, method: str, step: float, seconds: float, changes: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """Where everything is after a run of a shipped scenario, by kind."""
    changed = (f"time.step={step!r}", f"time.method={method}", f"time.duration={10.0 * seconds!r}", *changes)
    simulation = Simulation(load(name, overrides=changed))
    simulation.reset()
    alone = compared.undriven and not simulation.spec.controllers
    driven = {robot: dict(compared.undriven) for robot in simulation.spec.robots} if alone else None
    values = simulation.step(driven, n=round(seconds / step))
    found: dict[str, np.ndarray] = {}
    for kind, words in compared.kinds:
        chosen = [value for key, value in values.items() if key.split("/")[-1] in words and "odometry" not in key]
        if chosen:
            found[kind] = np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in chosen])
    return found
