"""A run whose physics has a process of its own; this one records what comes out of the ring."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from botz.engines.registry import build_engine
from botz.errors import BotzError, ControllerError, DivergedError, InputError, Problem
from botz.record.writer import RecordingWriter
from botz.run.outputs import (
    Outcome,
    Progress,
    conclude,
    open_run,
    snapshot_stride,
    stop_on_signals,
)
from botz.scenario.load import LoadedScenario
from botz.sim.frames import deliver
from botz.sim.shared_memory import FINISHED, W_DROPPED, W_STATUS, W_STEP, W_STOP, Segment

DRAIN_SECONDS = 0.05
"""How long the ring is emptied before Ctrl-C, progress and the child are looked at again [s]."""


def run_in_own_process(
    scenario: LoadedScenario,
    out: str | Path | None,
    progress: Progress | None,
    on_ready: Callable[[str], None] | None,
) -> Outcome:
    spec: Any = scenario.spec
    engine = build_engine(spec)  # for its tables, and so that mistakes show before a process is started
    outcome, writer, streams = open_run(scenario, out, engine)
    channels = engine.channels
    del engine
    orders = {
        "scenario": scenario.data,
        "name": scenario.name,
        "path": sys.path,
        "seed": spec.seed,
        "factor": spec.time.factor,
        "cpu": spec.process.cpu,
        "priority": spec.process.priority,
        "until": spec.time.steps,
        "strides": [stream.every for stream in streams],
        "snapshot_every": snapshot_stride(spec),
    }
    began = seen = time.perf_counter()
    answer: dict[str, Any] = {}
    segment: Segment | None = None
    try:
        with stop_on_signals() as stopped, physics_child(orders) as (child, answers):
            while not answer:
                ended = child.poll() is not None  # before its last words are taken, so that none is missed
                for message in answers(ended):
                    if message["event"] == "ready":
                        segment = Segment.attach(message["run_id"])
                        began = time.perf_counter()
                        if on_ready is not None:
                            on_ready(message["run_id"])
                    else:
                        answer = message
                if segment is not None:
                    if stopped.is_set():
                        segment.words[W_STOP] = 1
                    drain(segment, channels.width, writer, seconds=DRAIN_SECONDS)
                    if progress is not None:
                        progress(int(segment.words[W_STEP]), spec.time.steps)
                elif stopped.is_set():
                    answer = {"status": "interrupted"}
                writer.flush_if_due()
                if ended and not answer:
                    answer = crashed(child.returncode)
                seen = time.perf_counter()
                time.sleep(0.002)
            if segment is not None:
                drain(segment, channels.width, writer)
        outcome.status = answer["status"]
        if outcome.status == "failed":
            outcome.error = rebuild_error(answer)
    except BotzError as error:
        outcome.error = error
    except KeyboardInterrupt:
        outcome.status = "interrupted"
        raise
    finally:
        wall = max(0.0, seen - began)
        more = {str(key): str(value) for key, value in answer.get("lateness", {}).items()}
        more["refused_commands"] = str(answer.get("refused_commands", 0))
        step = int(answer.get("step", 0))
        if segment is not None:
            more["dropped_frames"] = str(int(segment.words[W_DROPPED]))
            step = max(step, int(segment.words[W_STEP]))
            segment.words[W_STATUS] = FINISHED  # a physics process that crashed could not say so
            segment.unlink()
        conclude(outcome, scenario, writer, step, wall, more, channels)
    if segment is None:
        # It ended before the first step: as in this process, nothing is left behind.
        outcome.path.unlink(missing_ok=True)
        if not any(outcome.folder.iterdir()):
            outcome.folder.rmdir()
        raise outcome.error or KeyboardInterrupt
    return outcome


def drain(segment: Segment, width: int, writer: RecordingWriter, *, seconds: float = math.inf) -> None:
    """Record what is in the ring. Physics that is faster than the recorder fills it again at once: `seconds` bounds
    how long that may go on."""
    deadline = time.perf_counter() + seconds
    while (frame := segment.pop()) is not None:
        deliver(frame, width, writer)
        if time.perf_counter() >= deadline:
            return


PHYSICS = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "  # a terminal's Ctrl-C reaches both processes
    "from botz.sim.physics_process import main; main()"
)
Answers = Callable[[bool], list[dict[str, Any]]]
"""Messages that have arrived; with True all there will ever be, of a process that has ended."""


@contextmanager
def physics_child(orders: Mapping[str, Any]) -> Iterator[tuple[subprocess.Popen[str], Answers]]:
    """A fresh interpreter with the physics; leaving the context closes its standard input, which ends it."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", PHYSICS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None and child.stdout is not None
    messages: deque[dict[str, Any]] = deque()
    patience = 10.0

    def listen() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            messages.append(json.loads(line))

    def answers(ended: bool) -> list[dict[str, Any]]:
        if ended:
            listener.join(timeout=10)
        return [messages.popleft() for _ in range(len(messages))]

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        try:
            child.stdin.write(json.dumps(orders) + "\n")
            child.stdin.flush()
        except OSError:
            child.wait(timeout=10)  # it ended at once; the caller sees its exit code
        yield child, answers
    except KeyboardInterrupt:
        patience = 1.0
        raise
    finally:
        with suppress(OSError):
            child.stdin.close()
        try:
            child.wait(timeout=patience)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            child.kill()
            child.wait()
        listener.join(timeout=2)


def crashed(code: int) -> dict[str, Any]:
    reason = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return {
        "event": "finished",
        "status": "failed",
        "kind": "BotzError",
        "message": f"the physics process ended unexpectedly ({reason}); the recording up to there is kept",
    }


def rebuild_error(answer: Mapping[str, Any]) -> BotzError:
    """The error of the physics process, as it would have been raised here."""
    message = str(answer["message"])
    match answer["kind"]:
        case "InputError":
            return InputError(
                [Problem(m, key=k, file=Path(f) if f else None, line=line) for m, k, f, line in answer["problems"]]
            )
        case "ControllerError":
            return ControllerError(message, str(answer.get("details", "")))
        case "DivergedError":
            rows = [[float(value) for value in row] for row in answer["last_rows"]]
            return DivergedError(message, step=int(answer["diverged_step"]), last_rows=rows)
        case _:
            return BotzError(message)
