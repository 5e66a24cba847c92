"""The physics in a process of its own, started by `botz.run`.

A fresh interpreter, so no state of the parent's leaks in and the parent's main module is not run again. When standard
input closes, the parent is gone: the run ends and its segment is removed.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from typing import Any

import numpy as np

from botz.child import take_orders
from botz.errors import BotzError, ControllerError, DivergedError, InputError
from botz.sim.attached import describe_world, take_commands
from botz.sim.clock import RealTimeClock, settle_process
from botz.sim.frames import RingSink
from botz.sim.loop import LoopHooks, run_loop
from botz.sim.shared_memory import FINISHED, RUNNING, W_PAUSE, W_STATUS, W_STEP, W_STEP_UNTIL, W_STOP, Segment
from botz.sim.simulation import Simulation
from botz.terrain.height_grid import keep_grids

PUBLISH_SECONDS = 0.004
"""Between two published states of a run as fast as possible [s]; in real time every tick is published, so that a
camera finds each of its moments."""
CHUNK_SECONDS = 0.015
"""Length of a compiled call of a run as fast as possible [s]: one that is watched has a state for every image."""
GRACE_SECONDS = 5.0
"""How long the loop has to end by itself once the parent is gone; a controller that hangs must not outlive it."""
RECORDER_WAIT = 3600.0
"""How long a run as fast as possible waits for its recorder [s]."""
REFUSALS_LOGGED = 20
"""Commands that cannot be followed are all counted; the first few are written into the recording's log."""


def main() -> None:
    orders, tell = take_orders()
    keep_grids(orders["grids"])
    parent_gone = threading.Event()
    segments: list[Segment] = []
    threading.Thread(target=watch_parent, args=(parent_gone, segments), daemon=True).start()
    segment: Segment | None = None
    try:
        simulation = Simulation(orders["scenario"])
        if orders["start"]:
            simulation.restore(orders["start"])
        sizes = [sum(size for _, size in simulation.command_layout(one)) for one in simulation.engine.actors]
        segment = Segment.create(
            describe_world(simulation),
            width=simulation.channels.width,
            robots=max(1, len(sizes)),
            command_width=max([1, *sizes]),
        )
        segments.append(segment)
        segment.words[W_PAUSE] = 1  # until there is somebody who records
        segment.factor = orders["factor"] or 0.0
        tell({"event": "ready", "run_id": segment.run_id})
        outcome = physics(simulation, segment, orders, parent_gone)
    except BotzError as error:
        outcome = failure(error)
    if segment is not None:
        segment.words[W_STATUS] = FINISHED
        if parent_gone.is_set():
            segment.unlink()
    tell({"event": "finished", **outcome})


def watch_parent(gone: threading.Event, segments: list[Segment]) -> None:
    sys.stdin.read()
    gone.set()
    time.sleep(GRACE_SECONDS)
    for segment in segments:
        segment.unlink()
    os._exit(1)


def physics(
    simulation: Simulation, segment: Segment, orders: dict[str, Any], parent_gone: threading.Event
) -> dict[str, Any]:
    sink = RingSink(segment, wait=RECORDER_WAIT)
    for refused in settle_process(orders["cpu"], orders["priority"]):
        sink.write_log(0, "warning", refused)
    words = segment.words

    def should_stop() -> bool:
        return bool(words[W_STOP]) or parent_gone.is_set()

    own_core = orders["cpu"] is not None
    clock = RealTimeClock(0.0, simulation.step_ns * 1e-9, should_stop=should_stop, own_core=own_core)
    row = np.empty(simulation.channels.width)
    last_published = 0.0

    def follow_speed() -> None:
        """The factor of real time is whatever a reader has asked for last."""
        factor = segment.factor
        if factor != clock.factor and 0.0 <= factor < math.inf:
            clock.set_factor(factor, simulation.step_number)
            # In real time a full ring drops rows and counts them; otherwise the physics waits for the recorder.
            sink.wait = 0.0 if factor else RECORDER_WAIT

    def publish(step: int) -> None:
        nonlocal last_published
        now = time.perf_counter()
        words[W_STEP] = step
        if clock.factor or now - last_published >= PUBLISH_SECONDS:
            last_published = now
            simulation.engine.observe(row)
            segment.publish(step, row)

    refusals = 0

    def refuse(text: str) -> None:
        nonlocal refusals
        refusals += 1
        if refusals <= REFUSALS_LOGGED:
            sink.write_log(simulation.step_number, "warning", f"command refused: {text}")

    seen = np.zeros(len(segment.slot_words), dtype=np.int64)  # a reader may have sent something already
    hooks = LoopHooks(
        should_stop=should_stop,
        should_pause=lambda: bool(words[W_PAUSE]),
        single_steps=lambda: int(words[W_STEP_UNTIL]) - simulation.step_number,
        chunk_seconds=CHUNK_SECONDS,
        before_call=follow_speed,
        take_commands=take_commands(segment, seen, refuse, clock),
        publish=publish,
    )
    words[W_STEP] = simulation.step_number
    words[W_STATUS] = RUNNING
    result: dict[str, Any] = {}
    try:
        finished = run_loop(
            simulation,
            until=orders["until"],
            strides=orders["strides"],
            sink=sink,
            snapshot_every=orders["snapshot_every"],
            clock=clock,
            hooks=hooks,
        )
        result["status"] = "finished" if finished else "interrupted"
    except BotzError as error:
        result = failure(error)
    last_published = 0.0
    publish(simulation.step_number)
    result["step"] = simulation.step_number
    result["refused_commands"] = refusals
    result["results"] = simulation.engine.results()
    if clock.lateness.ticks:
        result["lateness"] = clock.lateness.summary()
    return result


def failure(error: BotzError) -> dict[str, Any]:
    result: dict[str, Any] = {"status": "failed", "kind": type(error).__name__, "message": str(error)}
    match error:
        case ControllerError():
            result["details"] = error.details
        case DivergedError():
            result["diverged_step"] = error.step
            result["last_rows"] = [[repr(float(v)) for v in row] for row in error.last_rows]
        case InputError():
            result["problems"] = [[p.message, p.key, str(p.file) if p.file else None, p.line] for p in error.problems]
    return result
