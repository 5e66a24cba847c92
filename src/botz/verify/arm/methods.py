"""The semi-implicit method and rk4 integrate one model of arms."""

from __future__ import annotations

from collections.abc import Iterator

from botz.verify import methods
from botz.verify.checks import FAST, Check

COMPARED = methods.Comparison((("joints", ("position",)), ("objects", ("pose",))))

MOVED = {"titan4-teleop": 2.0}
"""Duration where it is not 0.4 s: the operator's first message has a delay [s]."""
MOVED_LONG = {"puma-wave": 2.0, "titan4-line": 6.0, "titan4-pick": 6.0, "titan4-teleop": 6.0}
"""Durations of the full form: until after the block is lifted and the tool pressed on the deck [s]."""


def arm_methods(samples: int) -> Iterator[Check]:
    """The semi-implicit method and rk4 on every shipped scenario of arms: D = C h."""
    methods.ends.cache_clear()
    durations = MOVED_LONG if samples > FAST else MOVED
    why = "Servos act once per step in both; the next term is smaller by h times the arm's rates, about 50/s."
    touching = "What lies and is gripped settles by contacts that open and close within steps."
    for name in methods.scenarios("arm"):
        rests = bool(methods.spec_of(name).world.objects)
        case = (methods.EVENTS, touching) if rests else (methods.SMOOTH, why)
        yield from COMPARED.order_checks(name, ("semi-implicit", "rk4"), 1, durations.get(name, 0.4), *case)


FUNCTIONS = (arm_methods,)
