"""One run of the lab, in a process of its own: recorder here, physics in another one below.

When standard input closes, the lab is gone or wants it to end: the run stops as by Ctrl-C, and what it has recorded is
kept.
"""

from __future__ import annotations

import _thread
import logging
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from botz.child import Tell, take_orders
from botz.errors import BotzError, InputError, Problem
from botz.run import run_scenario
from botz.run.outputs import new_folder
from botz.scenario.load import LoadedScenario
from botz.terrain.height_grid import keep_grids

GRACE_SECONDS = 30.0
"""How long a run has to end once it is told to."""
ASK_SECONDS = 0.2
"""It is told again until it does: before its first step nobody listens yet."""
ATTACH_SECONDS = 5.0


class Teller(logging.Handler):
    """What a run's recorder tells its user goes to the pages."""

    def __init__(self, tell: Tell):
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        # The recorder puts the time before news, and nothing before warnings.
        news = isinstance(record.args, tuple) and bool(record.args) and isinstance(record.args[0], float)
        text = record.getMessage().removeprefix("botz: ")
        self._tell({"event": "log", "level": "info" if news else "warning", "text": text})


def main() -> None:
    orders, tell = take_orders()
    logger = logging.getLogger("botz")
    logger.addHandler(Teller(tell))
    logger.propagate = False
    attached = threading.Event()
    threading.Thread(target=listen, args=(attached,), daemon=True).start()
    try:
        ending = run(orders, tell, attached)
    except BotzError as error:
        ending = {"status": "failed", "error": str(error), "details": getattr(error, "details", "")}
    except KeyboardInterrupt:
        ending = {"status": "interrupted"}
    tell({"event": "finished", **ending})
    os._exit(0)  # a thread still waits for standard input; an orderly end could stumble over it


def listen(attached: threading.Event) -> None:
    """Lines are the lab's word that it reads along; their end is its wish that the run ends."""
    for _ in sys.stdin:
        attached.set()
    attached.set()
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline:
        _thread.interrupt_main(signal.SIGTERM)
        time.sleep(ASK_SECONDS)
    os._exit(1)


def run(orders: dict[str, Any], tell: Tell, attached: threading.Event) -> dict[str, Any]:
    loaded: LoadedScenario = orders["scenario"]
    keep_grids(orders["grids"])
    start = None
    if orders["from"] is not None:
        from botz.record.reader import read
        from botz.replay import state_at

        start = state_at(read(orders["from"]["recording"]), orders["from"]["time"])
    folder = folder_of(orders, loaded.name)

    def ready(run_id: str) -> None:
        tell({"event": "ready", "run_id": run_id, "folder": str(folder)})
        attached.wait(ATTACH_SECONDS)  # a run that ends at once must not be gone before the lab has seen it

    servers = None
    if orders["serve"]:
        from botz.endpoints.serving import Served, links_of

        spec: Any = loaded.spec
        servers = Served(links_of(spec), seed=spec.seed, tell=lambda table: tell_served(tell, table))
    try:
        outcome = run_scenario(
            loaded, out=folder, shared=True, on_ready=ready, servers=servers, start=start, paused=orders["paused"]
        )
    finally:
        with suppress(OSError):  # of a run that never began nothing is left
            folder.rmdir()
    error = str(outcome.error) if outcome.error is not None else None
    details = getattr(outcome.error, "details", "")
    return {"status": outcome.status, "error": error, "details": details, "summary": outcome.summary}


def tell_served(tell: Tell, table: str) -> None:
    """Where the links are: on the lab's terminal and in its pages."""
    print(table, file=sys.stderr, flush=True)
    tell({"event": "log", "level": "info", "text": table})


def folder_of(orders: dict[str, Any], name: str) -> Path:
    """The run's folder: the one told, the first time, or a new one below the lab's."""
    if orders["out"] is not None:
        folder = Path(orders["out"])
        if not (folder / "recording.mcap").exists():
            return new_folder(folder, name)
    base = Path(orders["runs"])
    stem = f"{name or 'run'}-{time.strftime('%Y%m%d-%H%M%S')}"
    for number in range(1, 10000):
        folder = base / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            continue
        except OSError as error:
            raise InputError(Problem(f"cannot make the folder {folder}: {error.strerror}", key="--runs")) from error
    raise InputError(Problem(f"too many runs called {stem}", key="--runs"))
