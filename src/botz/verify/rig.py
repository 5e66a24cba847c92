"""An engine that is advanced by hand, to verify with: no controllers, no recorder, no clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np

from botz.engines.base import Engine

E = TypeVar("E", bound=Engine)


@dataclass
class EngineRig(Generic[E]):
    engine: E
    done: int = 0
    """Steps taken."""

    @property
    def time(self) -> float:
        return self.done * self.engine.dt

    def steps(self, n: int) -> Self:
        """`n` steps with the present inputs."""
        self._advance(n, 0, np.empty((0, self.engine.channels.width)))
        return self

    def run(self, seconds: float) -> Self:
        """As many steps as come nearest to `seconds`."""
        return self.steps(round(seconds / self.engine.dt))

    def _advance(self, n: int, every: int, rows: np.ndarray) -> None:
        if not self.engine.advance(self.done, n, every, rows):
            raise ArithmeticError("the state is not finite any more")
        self.done += n

    def row(self) -> np.ndarray:
        """All channels, now."""
        row = np.full(self.engine.channels.width, np.nan)
        self.engine.observe(row)
        return row

    def value(self, name: str, rows: np.ndarray | None = None) -> Any:
        """A channel, now or of recorded rows."""
        return self.engine.channels.value(self.row() if rows is None else rows, name)


class SoloRig(EngineRig[E]):
    """One robot, called `r`, and its engine."""

    def record(self, seconds: float, every: int = 1) -> np.ndarray:
        """Runs on and keeps a row of all channels after each `every` steps."""
        n = round(seconds / self.engine.dt)
        rows = np.full(((self.done + n) // every - self.done // every, self.engine.channels.width), np.nan)
        self._advance(n, every, rows)
        return rows
