"""From a checked scenario to its engine. Each engine's module is imported only when it is used."""

from __future__ import annotations

from typing import Literal

import numpy as np

from botz import kernel_cache
from botz.engines.base import Engine
from botz.scenario.arm.schema import ArmScenario
from botz.scenario.kinematics.schema import KinematicsScenario
from botz.scenario.multibody.schema import MultibodyScenario
from botz.scenario.schema import ScenarioBase
from botz.scenario.soccer.schema import SoccerScenario
from botz.scenario.vehicle.schema import VehicleScenario

UserElements = Literal["run", "skip", "refuse"]
"""What happens to elements of a user's, which are programs: they run, are left out for a check, or are an error."""


def make_engine(scenario: ScenarioBase, user_elements: UserElements = "run") -> Engine:
    """The engine of a scenario; raises InputError for what only the engine can tell, as an impossible geometry."""
    match scenario:
        case KinematicsScenario():
            from botz.engines.kinematics.engine import KinematicsEngine

            return KinematicsEngine(scenario)
        case VehicleScenario():
            from botz.engines.vehicle.engine import VehicleEngine

            return VehicleEngine(scenario)
        case SoccerScenario():
            from botz.engines.soccer.engine import SoccerEngine

            return SoccerEngine(scenario)
        case ArmScenario():
            from botz.engines.arm.engine import ArmEngine

            return ArmEngine(scenario)
        case MultibodyScenario():
            from botz.engines.multibody.engine import MultibodyEngine

            return MultibodyEngine(scenario, user_elements)
        case _:
            raise TypeError(f"no engine for {type(scenario).__name__}")


def build_engine(scenario: ScenarioBase, user_elements: UserElements = "run") -> Engine:
    """An engine whose kernels are compiled, so that a real-time run starts on time."""
    name = str(getattr(scenario, "engine", ""))
    kernel_cache.announce(name)
    engine = make_engine(scenario, user_elements)
    start = engine.snapshot()
    engine.advance(0, 1, 1, np.empty((1, engine.channels.width)))
    engine.restore(start)
    kernel_cache.mark_ready(name)
    return engine
