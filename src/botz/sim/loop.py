"""The loop: from one event to the next, in compiled steps.

Events are controllers that are due, outside commands, recorded complete states and, in real time, the ticks of the
clock. The loop knows its recorder only as a `Sink` and its readers not at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from botz.errors import DivergedError, StoppedError
from botz.sim.clock import RealTimeClock
from botz.sim.simulation import Simulation, common_stride
from botz.sim.snapshots import encode

CHUNK_SECONDS = 0.1
"""Aim for calls of this length when nothing else ends them, so that Ctrl-C and progress stay lively."""
BUFFER_BYTES = 2 << 20
"""Recorded rows are gathered and handed on together: a message costs its recorder far less in a block."""
BUFFER_SECONDS = 0.05
"""But no later than this, so that what is on disk stays close behind."""


class Sink(Protocol):
    """Where a run's results go: a recording, or a ring that leads to one."""

    def write_rows(self, stream: int, steps: np.ndarray, rows: np.ndarray) -> None: ...
    def write_command(self, step: int, robot: str, values: np.ndarray, source: str) -> None: ...
    def write_snapshot(self, step: int, data: bytes) -> None: ...
    def write_log(self, step: int, level: str, text: str) -> None: ...
    def write_clock(self, step: int, wall_ns: int, lateness_s: float) -> None: ...


@dataclass
class LoopHooks:
    """What goes on beside the physics; each is called between two compiled calls."""

    should_stop: Callable[[], bool] = lambda: False
    should_pause: Callable[[], bool] = lambda: False
    single_steps: Callable[[], int] = lambda: 0
    """How many steps a paused run may take all the same."""
    chunk_seconds: float | None = None
    """Length of a compiled call [s], where it is not the usual one."""
    before_call: Callable[[], None] = lambda: None
    """Before each turn: what has changed since, as the speed that is asked for."""
    take_commands: Callable[[Simulation], int] | None = None
    """Applies what has arrived; returns the steps until something that has arrived takes effect."""
    publish: Callable[[int], None] | None = None
    progress: Callable[[int], None] | None = None


def run_loop(
    simulation: Simulation,
    *,
    until: int,
    strides: Sequence[int],
    sink: Sink,
    snapshot_every: int = 0,
    clock: RealTimeClock | None = None,
    hooks: LoopHooks | None = None,
) -> bool:
    """Run to step `until`, or to where the world ends; returns False where it was asked to stop before."""
    hooks = hooks or LoopHooks()
    simulation.on_command = sink.write_command
    rows = RowBuffer(simulation, strides, sink)
    longest = 1000
    began_at = simulation.step_number
    rows.add_present()
    for text in simulation.engine.notes:
        sink.write_log(simulation.step_number, "warning", text)
    if clock is not None:
        clock.start(simulation.step_number)
    next_clock_note = 0.0
    try:
        while simulation.step_number < until:
            step = simulation.step_number
            if hooks.should_stop():
                return False
            hooks.before_call()
            allowed = 1 << 40
            if hooks.should_pause() and (allowed := hooks.single_steps()) <= 0:
                rows.write()
                wait_while_paused(simulation, hooks, clock)
                continue
            if step == began_at or (snapshot_every and step % snapshot_every == 0):
                sink.write_snapshot(step, encode(simulation.snapshot()))
            to_command = hooks.take_commands(simulation) if hooks.take_commands is not None else longest
            simulation.expire_commands()
            simulation.update_controllers()

            n = min(until - step, simulation.steps_to_update(), to_command, longest, allowed, rows.most_steps())
            if snapshot_every:
                n = min(n, snapshot_every - step % snapshot_every)
            if clock is not None:
                n = min(n, clock.tick_steps)
            began = time.perf_counter()
            rows.advance(n)
            now = time.perf_counter()
            if n == longest:
                longest = max(
                    1, min(1 << 22, int(n * min(4.0, (hooks.chunk_seconds or CHUNK_SECONDS) / max(now - began, 1e-6))))
                )
            rows.write_if_due(now)
            for text in simulation.engine.news:
                sink.write_log(simulation.step_number, "info", text)
            if simulation.ended:
                rows.add_last()
                sink.write_log(simulation.step_number, "warning", f"the run ends here: {simulation.ended}")
                return True

            late = clock.wait_for(simulation.step_number) if clock is not None else 0.0
            if hooks.publish is not None:
                hooks.publish(simulation.step_number)
            if hooks.progress is not None:
                hooks.progress(simulation.step_number)
            if clock is not None and clock.factor and now >= next_clock_note:
                sink.write_clock(simulation.step_number, time.time_ns(), late)
                next_clock_note = now + 1.0
    finally:
        rows.write()
    return True


class RowBuffer:
    """Rows on their way to the recorder: filled by the compiled loop, split by stream, written in blocks."""

    def __init__(self, simulation: Simulation, strides: Sequence[int], sink: Sink):
        self.simulation = simulation
        self.strides = strides
        self.sink = sink
        self.every = common_stride(list(strides))
        width = simulation.channels.width
        self._rows = np.empty((max(2, BUFFER_BYTES // (8 * width)), width))
        self._steps = np.empty(len(self._rows), dtype=np.int64)
        self._count = 0
        self._written = time.perf_counter()

    def add_present(self) -> None:
        """The state in which a run starts is its first row, in every stream, wherever its rows would lie."""
        step = self.simulation.step_number
        self.simulation.engine.observe(self._rows[self._count])
        self._steps[self._count] = step
        self._write_between(step, self._rows[self._count : self._count + 1])
        self._count += 1

    def add_last(self) -> None:
        """The state in which a world ends, in every stream, wherever its rows would lie."""
        self.write()
        row = self._rows[:1]
        self.simulation.engine.observe(row[0])
        self._write_between(self.simulation.step_number, row)

    def _write_between(self, step: int, row: np.ndarray) -> None:
        """A row in the streams whose turn it is not."""
        for index, stride in enumerate(self.strides):
            if step % stride:
                self.sink.write_rows(index, np.array([step]), row)

    def most_steps(self) -> int:
        """Steps that may be taken before the buffer is full."""
        if not self.every:
            return 1 << 40
        if self._count == len(self._rows):
            self.write()
        return (
            (self.simulation.step_number // self.every + len(self._rows) - self._count + 1) * self.every
            - 1
            - (self.simulation.step_number)
        )

    def advance(self, n: int) -> None:
        """`n` steps of the simulation. What came before a divergence is kept."""
        step = self.simulation.step_number
        kept = (step + n) // self.every - step // self.every if self.every else 0
        end = self._count + kept
        if kept:
            first = (step // self.every + 1) * self.every
            self._steps[self._count : end] = np.arange(first, first + kept * self.every, self.every)
        self.simulation.engine.before_abort = self.rescue
        try:
            self.simulation.advance(n, self.every, self._rows[self._count : end])
            if self.simulation.ended:
                reached = self._steps[self._count : end] <= self.simulation.step_number
                end = self._count + int(reached.sum())
        except (DivergedError, StoppedError) as error:
            end = self._count + int((self._steps[self._count : end] < error.step).sum())
            raise
        finally:
            self._count = end

    def rescue(self) -> None:
        """Before a library ends the process in the middle of `advance`: what is there is written, with the rows that
        the compiled loop has filled so far."""
        self._count += self.simulation.engine.rows_filled()
        self.write()

    def write_if_due(self, now: float) -> None:
        if now - self._written > BUFFER_SECONDS:
            self.write()
            self._written = now

    def write(self) -> None:
        """Hand what is there to the streams whose turn each row is."""
        steps, rows = self._steps[: self._count], self._rows[: self._count]
        self._count = 0
        if not steps.size:
            return
        for index, stride in enumerate(self.strides):
            turn = steps % stride == 0
            if turn.all():
                self.sink.write_rows(index, steps, rows)
            elif turn.any():
                self.sink.write_rows(index, steps[turn], rows[turn])


def wait_while_paused(simulation: Simulation, hooks: LoopHooks, clock: RealTimeClock | None) -> None:
    while hooks.should_pause() and hooks.single_steps() <= 0 and not hooks.should_stop():
        time.sleep(0.005)
        if hooks.publish is not None:
            hooks.publish(simulation.step_number)
    if clock is not None:
        clock.start(simulation.step_number)
