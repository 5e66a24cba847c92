"""All methods of MuJoCo integrate one model."""

from __future__ import annotations

from collections.abc import Iterator

from botz.verify import methods
from botz.verify.checks import Check

COMPARED = methods.Comparison((("pose", ("pose", "attitude")), ("joints", ("position",))))

FLOWN = {"vivi-multibody": 0.15}
"""Duration where it is not 0.3 s [s]."""
CALM: dict[str, tuple[str, ...]] = {"hexarotor-wind": ("world.wind.turbulence=null",)}
"""Turbulence draws its numbers per step, so that each step has an air of its own."""


def multibody_methods(samples: int) -> Iterator[Check]:
    """Semi-implicit and implicit methods against rk4 on every shipped scenario: D = C h of each of them."""
    methods.ends.cache_clear()
    del samples
    smooth = "The next term is smaller by h times the servos' rates, about 100/s."
    events = {
        "quadrotor-square": "Motors that slow down have another time constant, and some turn round within a step.",
        "hexarotor-wind": "Motors that slow down have another time constant, and some turn round within a step.",
        "vivi-multibody": "Edges of cells and slices of rims fall elsewhere in the steps.",
    }
    for name in methods.scenarios("multibody"):
        for method in ("euler", "implicit", "implicit-fast"):
            tolerance = methods.EVENTS if name in events else methods.SMOOTH
            seconds, changes = FLOWN.get(name, 0.3), CALM.get(name, ())
            why = events.get(name, smooth)
            yield from COMPARED.order_checks(name, (method, "rk4"), 1, seconds, tolerance, why, *changes)


FUNCTIONS = (multibody_methods,)
