"""`botz bench cartpole`: steps of one robot."""

from __future__ import annotations

from time import perf_counter

from botz.bench.results import Result, rate
from cartpole.suite import rig

STEPS = 100_000


def run() -> list[Result]:
    one = rig(1.0).steps(1)  # compiled
    start = perf_counter()
    one.steps(STEPS)
    return [rate("one robot", STEPS / (perf_counter() - start), "steps/s")]
