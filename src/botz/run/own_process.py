"""A run whose physics has a process of its own; this one records what comes out of the ring."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from pathlib import Path
from subprocess import Popen
from threading import Event
from typing import Any, Protocol

from botz.child import Answers, child_process, how_it_ended
from botz.errors import BotzError, ControllerError, DivergedError, InputError, Problem
from botz.record.bag_metadata import BAG_METADATA
from botz.record.writer import RecordingWriter
from botz.run.outputs import (
    Outcome,
    Place,
    Progress,
    check_folder,
    conclude,
    logger,
    open_run,
    snapshot_stride,
    span_of,
    stop_on_signals,
    strides_of,
    write_counters,
)
from botz.scenario.load import LoadedScenario
from botz.sim.attached import AttachedRun
from botz.sim.frames import deliver
from botz.sim.shared_memory import FINISHED, W_DROPPED, W_PAUSE, W_STATUS, W_STEP, W_STOP, Segment
from botz.terrain.height_grid import kept_grids

PHYSICS = "from botz.sim.physics_process import main; main()"
DRAIN_SECONDS = 0.05
"""How long the ring is emptied before Ctrl-C, progress and the child are looked at again [s]."""

PATIENCE = 5.0
"""How long the physics may take to stop before the user is told that it does not [s]."""
SILENT = (
    f"botz: the physics has not answered for {PATIENCE:g} s, as where a controller or an element never returns; "
    "Ctrl-C again stops it, keeping what was recorded"
)


class Servers(Protocol):
    """What reads along with a run and sends it commands, in processes of its own. Leaving the context ends them all."""

    def __enter__(self) -> Any: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any: ...

    def start(self, run_id: str, should_stop: Callable[[], bool]) -> None:
        """Returns once all are ready, or when `should_stop`; the run waits for that."""

    def look(self) -> list[str]:
        """What is to be told since the last look, as of a server that has died. Quick."""

    def counters(self) -> dict[str, dict[str, Any]]:
        """What each of the links has counted, once they have ended."""


def run_in_own_process(
    scenario: LoadedScenario,
    place: Place | None,
    progress: Progress | None,
    on_ready: Callable[[str], None] | None,
    servers: Servers | None = None,
    start: bytes | None = None,
    paused: bool = False,
) -> Outcome:
    check_folder(place)  # such mistakes show before a process is started
    spec: Any = scenario.spec
    first, until = span_of(spec, start)
    orders = {
        "scenario": scenario,
        "grids": kept_grids(),
        "factor": spec.time.factor,
        "cpu": spec.process.cpu,
        "priority": spec.process.priority,
        "until": until,
        "start": start,
        "strides": strides_of(spec),
        "snapshot_every": snapshot_stride(spec),
    }
    with stop_on_signals() as stopped, ExitStack() as processes:
        processes.enter_context(servers or nullcontext())
        child, answers = processes.enter_context(child_process(PHYSICS, orders))
        run, answer = when_ready(child, answers, stopped)
        outcome, writer, _ = open_run(scenario, place, run, first)
        segment, width = run.segment, run.channels.width
        began = seen = time.perf_counter()
        begun = False
        patience, held = PATIENCE, 0.0
        try:
            with processes.pop_all():
                if servers is None and not paused:
                    segment.words[W_PAUSE] = 0
                if on_ready is not None:
                    on_ready(segment.run_id)
                if servers is not None:
                    servers.start(segment.run_id, lambda: stopped.is_set() or child.poll() is not None)
                    if not paused:
                        segment.words[W_PAUSE] = 0
                began = seen = time.perf_counter()
                begun = servers is None or not stopped.is_set()
                while not answer:
                    ended = child.poll() is not None  # before its last words are taken, so that none is missed
                    answer = next(iter(answers(ended)), {})
                    if stopped.is_set():
                        segment.words[W_STOP] = 1
                        patience -= time.perf_counter() - seen
                        if patience < 0.0:
                            patience = math.inf
                            logger.warning(SILENT)
                    drain(segment, width, writer, seconds=DRAIN_SECONDS)
                    if progress is not None:
                        progress(int(segment.words[W_STEP]), until)
                    for warning in servers.look() if servers is not None else []:
                        writer.write_log(int(segment.words[W_STEP]), "warning", warning)
                    writer.flush_if_due()
                    if ended and not answer:
                        answer = crashed(child.returncode)
                    now = time.perf_counter()
                    if segment.words[W_PAUSE]:
                        held += now - seen
                    seen = now
                    time.sleep(0.002)
                drain(segment, width, writer)
            outcome.status = answer["status"]
            if outcome.status == "failed":
                outcome.error = rebuild_error(answer)
        except BotzError as error:
            outcome.error = error
        except KeyboardInterrupt:
            outcome.status = "interrupted"
            raise
        finally:
            wall = max(0.0, seen - began - held)
            more = {str(key): str(value) for key, value in answer.get("lateness", {}).items()}
            more |= answer.get("results", {})
            if held:
                more["paused_s"] = f"{held:.6g}"
            more["refused_commands"] = str(answer.get("refused_commands", 0))
            if servers is not None and begun and outcome.place is not None:
                more.update(write_counters(outcome.folder, servers.counters()))
            more["dropped_frames"] = str(int(segment.words[W_DROPPED]))
            step = max(first, int(answer.get("step", first)), int(segment.words[W_STEP]))
            segment.words[W_STATUS] = FINISHED  # a physics process that crashed could not say so
            segment.unlink()
            conclude(outcome, scenario, writer, step, wall, more, run.channels)
    if not begun:
        # It ended before the first step: as in this process, nothing is left behind.
        if outcome.place is not None:
            outcome.path.unlink(missing_ok=True)
            (outcome.place / BAG_METADATA).unlink(missing_ok=True)
            if not any(outcome.place.iterdir()):
                outcome.place.rmdir()
        raise outcome.error or KeyboardInterrupt
    return outcome


def when_ready(child: Popen[str], answers: Answers, stopped: Event) -> tuple[AttachedRun, dict[str, Any]]:
    """The run, once its physics stands and waits for a recorder, and how it has ended already. What keeps it from that
    is an error, of which nothing is left behind."""
    while not stopped.is_set():
        ended = child.poll() is not None
        first, last = (*answers(ended), {}, {})[:2]
        if first:
            if first["event"] != "ready":
                raise rebuild_error(first)
            return AttachedRun(first["run_id"]), last
        if ended:
            raise rebuild_error(crashed(child.returncode))
        time.sleep(0.002)
    raise KeyboardInterrupt


def drain(segment: Segment, width: int, writer: RecordingWriter, *, seconds: float = math.inf) -> None:
    """Record what is in the ring. Physics that is faster than the recorder fills it again at once: `seconds` bounds
    how long that may go on."""
    deadline = time.perf_counter() + seconds
    while (frame := segment.pop()) is not None:
        deliver(frame, width, writer)
        if time.perf_counter() >= deadline:
            return


def crashed(code: int) -> dict[str, Any]:
    return {
        "event": "finished",
        "status": "failed",
        "kind": "BotzError",
        "message": f"the physics process ended unexpectedly ({how_it_ended(code)}); the recording up to there is kept",
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
