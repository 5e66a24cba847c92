"""Frames: the watched numbers of a run as it is now, read from shared memory. Reading never delays the physics."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from botz.channels import ChannelTable
from botz.sim.shared_memory import W_SEQUENCE, W_STATE_STEP, Segment, fence
from botz.view.lab.messages import FASTEST_FRAMES, packed

if TYPE_CHECKING:
    from botz.view.lab.runs import LabRun

TRIES = 20
"""A state is written within microseconds; where it is being written now, it is read again at once this many times."""
IDLE_SECONDS = 0.5
"""Between frames of a run in which nothing changes."""


def read_row(segment: Segment) -> tuple[int, np.ndarray] | None:
    """The latest state; None where there is none yet or it is being written. Never waits."""
    words = segment.words
    for _ in range(TRIES):
        before = int(words[W_SEQUENCE])
        if before == 0:
            return None
        fence()
        step, row = int(words[W_STATE_STEP]), segment.row.copy()
        fence()
        if before % 2 == 0 and before == int(words[W_SEQUENCE]):
            return step, row
    return None


@dataclass
class Subscription:
    """What one page watches of one run."""

    run: LabRun
    number: int
    channels: list[str]
    rate: float
    due: float = 0.0
    columns: np.ndarray | None = None
    """Where the channels lie in a row; None until the run is ready."""
    _table: ChannelTable | None = None
    _last: tuple[int, int] = (-2, -2)
    _sent_at: float = field(default=0.0)

    @property
    def period(self) -> float:
        return 1.0 / min(self.rate, FASTEST_FRAMES)

    def resolve(self) -> bool:
        """Find the channels in the run's table, new after a reset; whether that changed anything."""
        table = self.run.channels
        if table is None or table is self._table:
            return False
        self._table = table
        self.channels = [name for name in self.channels if name in table.slices]
        spans = [table.slices[name] for name in self.channels]
        parts = [np.arange(span.start, span.stop) for span in spans]
        self.columns = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        self._last = (-2, -2)
        return True

    def watching(self) -> dict[str, object]:
        return {"t": "watching", "run": self.run.id, "k": self.number, "channels": self.channels}

    def frame(self, now: float) -> bytes | None:
        """The frame that is due, packed; None where there is nothing new."""
        self.due = max(self.due + self.period, now)  # a slow line misses frames, it does not catch up on them
        if self.columns is None or not self.columns.size:
            return None
        state = self.run.state()
        if state is None:
            return None
        step, row = state
        taken = self.run.taken_sequence()
        if (step, taken) == self._last and now - self._sent_at < IDLE_SECONDS:
            return None
        self._last, self._sent_at = (step, taken), now
        return packed(
            {
                "t": "frame",
                "run": self.run.id,
                "k": self.number,
                "s": step,
                "x": time.monotonic(),
                "v": row[self.columns].astype("<f4").tobytes(),
                "a": taken,
            }
        )
