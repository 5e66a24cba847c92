"""Real time: when a step is due, how late it was, and what the system allows a physics process."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

BINS_PER_DECADE = 20
LOWEST, DECADES = 1e-6, 8
"""Lateness is kept as a histogram from 1 µs to 100 s, so that a day-long run needs no more memory than a short one."""


@dataclass
class Lateness:
    """How late the steps of a real-time run were."""

    tick: float
    """Time between two looks at the clock [s]; a tick later than this counts as missed."""
    ticks: int = 0
    missed: int = 0
    largest: float = 0.0
    resynchronised: float = 0.0
    """Time given up because the run had fallen too far behind [s]."""
    histogram: np.ndarray = field(default_factory=lambda: np.zeros(BINS_PER_DECADE * DECADES + 1, dtype=np.int64))

    def add(self, late: float) -> None:
        self.ticks += 1
        if late > self.tick:
            self.missed += 1
        self.largest = max(self.largest, late)
        position = np.log10(max(late, LOWEST) / LOWEST) * BINS_PER_DECADE
        self.histogram[min(int(position), self.histogram.size - 1)] += 1

    def quantile(self, share: float) -> float:
        """Upper edge of the bin that holds this share of the ticks [s]."""
        if not self.ticks:
            return 0.0
        bin_index = int(np.searchsorted(np.cumsum(self.histogram), share * self.ticks))
        return min(self.largest, LOWEST * 10 ** ((bin_index + 1) / BINS_PER_DECADE))

    def summary(self) -> dict[str, str]:
        return {
            "lateness_ticks": str(self.ticks),
            "lateness_missed": str(self.missed),
            "lateness_p50_s": f"{self.quantile(0.5):.6g}",
            "lateness_p99_s": f"{self.quantile(0.99):.6g}",
            "lateness_max_s": f"{self.largest:.6g}",
            "lateness_resynchronised_s": f"{self.resynchronised:.6g}",
        }


class RealTimeClock:
    """Holds a run at a factor of real time, looking at the wall clock every few milliseconds. A factor of 0 holds
    nothing: the run goes as fast as it can."""

    TICK = 0.001
    """Time between two looks at the clock [s]: a command is taken no later than this after it has arrived."""
    NAP = 0.1
    """Longest sleep [s]: a slow factor of real time must not keep Ctrl-C waiting."""
    AWAKE = 0.0002
    """Before a step is due, a run that has a core to itself watches the clock for so long [s]: the system wakes a
    sleeper up to this much too late."""
    GIVE_UP = 0.5
    """Behind by more than this [s], the run does not try to catch up: it would race through its inputs."""

    def __init__(
        self, factor: float, step: float, *, should_stop: Callable[[], bool] = lambda: False, own_core: bool = False
    ):
        self._should_stop = should_stop
        self._awake = self.AWAKE if own_core else 0.0
        self._step = step
        self._start = 0.0
        self._first = 0
        self.lateness = Lateness(tick=self.TICK)
        self.set_factor(factor, 0)

    def set_factor(self, factor: float, now: int) -> None:
        """Another factor of real time from the present step `now` on."""
        self.factor = factor
        self.seconds_per_step = self._step / factor if factor else 0.0
        self.tick_steps = max(1, round(self.TICK / self.seconds_per_step)) if factor else 1 << 40
        if factor:
            self.lateness.tick = self.tick_steps * self.seconds_per_step
        self.start(now)

    def start(self, step: int) -> None:
        self._start, self._first = time.perf_counter(), step

    def first_step_after(self, stamp_ns: int) -> int:
        """The first step boundary at or after a time of the monotonic clock [ns]."""
        if not self.factor:
            return self._first
        passed = stamp_ns * 1e-9 - time.monotonic() + time.perf_counter() - self._start
        return self._first + max(0, math.ceil(passed / self.seconds_per_step))

    def wait_for(self, step: int) -> float:
        """Sleep until `step` is due or the run is to stop; returns how late it is [s]."""
        if not self.factor:
            return 0.0
        due = self._start + (step - self._first) * self.seconds_per_step
        while (remaining := due - time.perf_counter()) > 0 and not self._should_stop():
            if remaining > self._awake:
                time.sleep(min(remaining - self._awake, self.NAP))
        late = max(0.0, time.perf_counter() - due)
        self.lateness.add(late)
        if late > self.GIVE_UP:
            self.lateness.resynchronised += late
            self._start += late
        return late


def settle_process(cpu: int | None, priority: str) -> list[str]:
    """Pin this process to a core and raise its priority, where the system allows it; returns what it refused."""
    refused: list[str] = []
    if cpu is not None:
        if not hasattr(os, "sched_setaffinity"):
            refused.append(f"this system ({sys.platform}) cannot pin a process to core {cpu}")
        else:
            try:
                os.sched_setaffinity(0, {cpu})
            except OSError as error:
                cores = sorted(os.sched_getaffinity(0))
                refused.append(f"cannot pin to core {cpu} ({error.strerror}); cores here: {cores}")
    if priority == "high":
        try:
            if hasattr(os, "sched_setscheduler"):
                try:
                    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
                except OSError:
                    os.setpriority(os.PRIO_PROCESS, 0, -10)
            elif hasattr(os, "setpriority"):
                os.setpriority(os.PRIO_PROCESS, 0, -10)
            else:
                refused.append(f"this system ({sys.platform}) offers no priority call")
        except OSError as error:
            refused.append(f"cannot raise the priority ({error.strerror}); it needs a privilege of the system")
    return refused
