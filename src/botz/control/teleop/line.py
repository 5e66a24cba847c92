"""A line that takes its time and loses some of what it carries."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import Any

import numpy as np

from botz.scenario.arm.motion import Line

MOST_UNDERWAY = 4096
"""Messages in the line at once; more are lost, so that a flood costs a bounded amount of memory."""


class DelayLine:
    """One way of the line between master and slave. Each message takes the delay and a jitter of its own, so one may
    overtake another. Times are the caller's; the messages are anything that a snapshot can hold."""

    def __init__(self, line: Line, rng: np.random.Generator):
        self._line = line
        self._rng = rng
        self.underway: list[list[Any]] = []
        """When each arrives, its number (those that arrive together keep their order), and what: a heap, so that the
        next one is always in front."""
        self.sent = 0
        self.lost = 0

    def put(self, message: Any, t: float) -> None:
        self.sent += 1
        line = self._line
        # Both are drawn whatever happens: another loss then does not change the jitter of all that follow.
        luck, late = self._rng.random(2).tolist()
        if luck < line.loss or len(self.underway) >= MOST_UNDERWAY:
            self.lost += 1
            return
        heappush(self.underway, [t + line.delay + line.jitter * late, self.sent, message])

    def arrived(self, t: float) -> list[Any]:
        """What has arrived by now, in the order of arrival. A nanosecond of tolerance: times are sums of steps."""
        here = []
        while self.underway and self.underway[0][0] <= t + 1e-9:
            here.append(heappop(self.underway)[2])
        return here

    def next_arrival(self) -> float:
        return float(self.underway[0][0]) if self.underway else inf

    def snapshot(self) -> dict[str, Any]:
        return {"underway": [list(one) for one in self.underway], "sent": self.sent, "lost": self.lost}

    def restore(self, saved: dict[str, Any]) -> None:
        self.underway = [list(one) for one in saved["underway"]]
        self.sent, self.lost = saved["sent"], saved["lost"]
