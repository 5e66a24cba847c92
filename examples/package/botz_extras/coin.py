"""A capability of another package: a coin, whose fairness can be verified and whose speed measured."""

from __future__ import annotations

import time

import numpy as np

from botz.bench.results import Result, rate
from botz.scenario.families import Capability
from botz.verify.checks import Check, make, worst

COIN = Capability(name="coin", checks="botz_extras.coin:checks", benchmark="botz_extras.coin:run")


def fairness(samples: int) -> Check:
    """Heads in half of all throws, to four standard deviations."""
    heads = int(np.random.default_rng(1).integers(0, 2, samples).sum())
    return worst("heads", [heads - samples / 2], 2.0 * samples**0.5, "σ = √n / 2.")


def checks(samples: int) -> list[Check]:
    return make(fairness, samples)


def run() -> list[Result]:
    began = time.perf_counter()
    np.random.default_rng(1).integers(0, 2, 1000)
    return [rate("throws", 1000 / (time.perf_counter() - began), "1/s", target=1.0)]
