"""Euler's method and rk4 integrate one match."""

from __future__ import annotations

from collections.abc import Iterator

from botz.verify import methods
from botz.verify.checks import Check

COMPARED = methods.Comparison((("poses", ("pose",)),), undriven=(("left/voltage", 3.0), ("right/voltage", 4.0)))

PLAYED = {"soccer": 0.1, "soccer-crowd": 0.2, "soccer-five": 0.3, "soccer-match": 0.2, "soccer-wall": 0.4}
"""Durations: `soccer` until before its first impact, `soccer-wall` until after it [s]. While a decision of a controller
or an impact falls into another update for longer steps, D is that of two decisions."""
MEETING = ("soccer-crowd", "soccer-five", "soccer-match")
"""Matches whose robots meet each other and the ball."""


def soccer_methods(samples: int) -> Iterator[Check]:
    """Euler's method and rk4 on every shipped match: D = C h of Euler's method, impacts included."""
    methods.ends.cache_clear()
    del samples
    crowded = "Impacts are found within a step that both divide otherwise, and change the order of single runs."
    alone = "The next term is smaller by h times the motors' rates, 20/s."
    for name in methods.scenarios("soccer"):
        why, tolerance = (crowded, methods.EVENTS) if name in MEETING else (alone, methods.SMOOTH)
        yield from COMPARED.order_checks(name, ("euler", "rk4"), 1, PLAYED.get(name, 0.1), tolerance, why)


FUNCTIONS = (soccer_methods,)
