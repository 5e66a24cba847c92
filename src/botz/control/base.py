"""What a controller is: anything with `reset(setup)` and `update(t, measured) -> command`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from botz.channels import Channel, Measured
from botz.engines.base import Engine


@dataclass(frozen=True)
class ControllerSetup:
    """What a controller learns when a run starts."""

    robot: str
    """Name of the robot it drives."""
    period: float
    """Time between two updates [s]."""
    rng: np.random.Generator
    """Source of randomness of its own, seeded by the scenario."""
    inputs: tuple[Channel, ...]
    """The raw commands of its robot; the keys of a command are their local names."""
    engine: Engine
    """The world, for controllers that know its family (its models, its channel table)."""


@runtime_checkable
class Steerable(Protocol):
    """A controller that people steer while it keeps flying: what comes from outside goes to it, not past it."""

    steering: tuple[tuple[str, int], ...]
    """Names and sizes of what it can be told, as (("velocity", 4),)."""

    def steer(self, command: Mapping[str, Any] | None) -> None:
        """What it is told, held until something else is; None when nobody steers any more."""


Command = Mapping[str, Any]
"""Local input names and values, as {"left/speed": 2.0}; families add their own, as {"twist": (vx, vy, yaw_rate)}."""


class Controller(Protocol):
    """Built-in and user controllers look alike.

    State that must survive a snapshot lives in plain attributes (numbers, strings, lists, dicts, NumPy arrays); a
    controller with more may offer `snapshot() -> dict` and `restore(dict)` of its own.
    """

    def reset(self, setup: ControllerSetup) -> None:
        """Called before the first update of every run."""

    def update(self, t: float, measured: Measured) -> Command | None:
        """Called at the scenario's rate with the time [s]; returns a command, or None to leave things as they are."""
