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

from botz.errors import DivergedError
from botz.sim.clock import RealTimeClock
from botz.sim.simulation import Simulation, common_stride
from botz.sim.snapshots import encode

CHUNK_SECONDS = 0.1
"""Aim for calls of this length when nothing else ends them, so that Ctrl-C and progress stay lively."""
CHUNK_BYTES = 4 << 20
"""Most that one call may fill with recorded rows."""


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
    take_commands: Callable[[Simulation], None] | None = None
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
    """Run to step `until`; returns False where it was asked to stop before."""
    hooks = hooks or LoopHooks()
    simulation.on_command = sink.write_command
    record_every = common_stride(list(strides))
    width = simulation.channels.width
    most_rows = max(1, CHUNK_BYTES // (8 * width))
    rows = np.empty((most_rows, width))
    longest = 1000
    record_present(simulation, strides, sink)
    if clock is not None:
        clock.start(simulation.step_number)
    next_clock_note = 0
    while simulation.step_number < until:
        step = simulation.step_number
        if hooks.should_stop():
            return False
        if hooks.should_pause():
            wait_while_paused(simulation, hooks, clock)
            continue
        if snapshot_every and step % snapshot_every == 0 or step == 0:
            sink.write_snapshot(step, encode(simulation.snapshot()))
        if hooks.take_commands is not None:
            hooks.take_commands(simulation)
        simulation.expire_commands()
        simulation.update_controllers()

        n = min(until - step, simulation.steps_to_update(), longest)
        if record_every:
            n = min(n, (step // record_every + most_rows) * record_every - step)
        if snapshot_every:
            n = min(n, snapshot_every - step % snapshot_every)
        if clock is not None:
            n = min(n, clock.tick_steps)
        began = time.perf_counter()
        advance_and_record(simulation, n, record_every, rows, strides, sink)
        spent = time.perf_counter() - began
        if n == longest:
            longest = max(1, min(1 << 22, int(n * min(4.0, CHUNK_SECONDS / max(spent, 1e-6)))))

        late = clock.wait_for(simulation.step_number) if clock is not None else 0.0
        if hooks.publish is not None:
            hooks.publish(simulation.step_number)
        if hooks.progress is not None:
            hooks.progress(simulation.step_number)
        now = time.time_ns()
        if clock is not None and now >= next_clock_note:
            sink.write_clock(simulation.step_number, now, late)
            next_clock_note = now + 1_000_000_000
    return True


def advance_and_record(
    simulation: Simulation, n: int, record_every: int, rows: np.ndarray, strides: Sequence[int], sink: Sink
) -> None:
    """`n` steps; the rows kept on the way go to the streams whose turn they are. What came before a divergence is kept."""
    step = simulation.step_number
    first = (step // record_every + 1) * record_every if record_every else 0
    steps = np.arange(first, step + n + 1, record_every, dtype=np.int64) if record_every else np.empty(0, np.int64)
    filled = rows[: steps.size]
    try:
        simulation.advance(n, record_every, filled)
    except DivergedError as error:
        good = steps < error.step
        write_streams(steps[good], filled[good], strides, sink)
        raise
    write_streams(steps, filled, strides, sink)


def write_streams(steps: np.ndarray, rows: np.ndarray, strides: Sequence[int], sink: Sink) -> None:
    if not steps.size:
        return
    for index, stride in enumerate(strides):
        turn = steps % stride == 0
        if turn.all():
            sink.write_rows(index, steps, rows)
        elif turn.any():
            sink.write_rows(index, steps[turn], rows[turn])


def record_present(simulation: Simulation, strides: Sequence[int], sink: Sink) -> None:
    """The state in which a run starts is its first row."""
    row = np.empty((1, simulation.channels.width))
    simulation.engine.observe(row[0])
    write_streams(np.array([simulation.step_number], dtype=np.int64), row, strides, sink)


def wait_while_paused(simulation: Simulation, hooks: LoopHooks, clock: RealTimeClock | None) -> None:
    while hooks.should_pause() and not hooks.should_stop():
        time.sleep(0.005)
        if hooks.publish is not None:
            hooks.publish(simulation.step_number)
    if clock is not None:
        clock.start(simulation.step_number)
