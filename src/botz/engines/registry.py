"""From a checked scenario to its engine. Each engine's module is imported only when it is used."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from botz import kernel_cache
from botz.engines.base import Engine
from botz.scenario.families import FAMILIES

UserElements = Literal["run", "skip", "refuse"]
"""What happens to elements of a user's, which are programs: they run, are left out for a check, or are an error."""


def make_engine(scenario: Any, user_elements: UserElements = "run") -> Engine:
    """The engine of a scenario; raises InputError for what only the engine can tell, as an impossible geometry."""
    engine: Engine = FAMILIES[scenario.engine].engine.build(scenario, user_elements)
    return engine


def build_engine(scenario: Any, user_elements: UserElements = "run") -> Engine:
    """An engine whose kernels are compiled, so that a real-time run starts on time."""
    name = str(getattr(scenario, "engine", ""))
    kernel_cache.announce(name)
    engine = make_engine(scenario, user_elements)
    start = engine.snapshot()
    engine.advance(0, 1, 1, np.empty((1, engine.channels.width)))
    engine.restore(start)
    kernel_cache.mark_ready(name)
    return engine
