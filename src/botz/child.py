"""A process beside this one: a fresh interpreter with its orders, its answers, and its end.

Orders are pickled into its standard input, so that a checked scenario arrives as it is; answers are JSON lines on its
standard output, and what else it prints goes to standard error. When its standard input closes, its parent is gone or
wants it to end.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any, cast

DEAF_TO_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
"""Where a terminal's Ctrl-C reaches all processes, this one decides what it means."""
Answers = Callable[[bool], list[dict[str, Any]]]
"""Messages that have arrived; with True all there will ever be, of a process that has ended."""
Tell = Callable[[dict[str, Any]], None]
"""The child's side: send a message. Where the parent has gone, nobody is left to tell."""


@contextmanager
def child_process(code: str, orders: Mapping[str, Any]) -> Iterator[tuple[subprocess.Popen[str], Answers]]:
    """A fresh interpreter that runs `code` and reads these orders; leaving the context closes its standard input, which
    ends it."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", DEAF_TO_INTERRUPTS + code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that a terminal's Ctrl-C does not reach it even before it could ignore it
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
            # Where modules are found comes first: what the orders hold is imported when they are read.
            cast(TextIOWrapper, child.stdin).buffer.write(pickle.dumps(sys.path) + pickle.dumps(orders))
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


def how_it_ended(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def take_orders() -> tuple[dict[str, Any], Tell]:
    """The child's side: what it is to do, and how it answers."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    sys.path += [folder for folder in pickle.load(sys.stdin.buffer) if folder not in sys.path]
    orders = pickle.load(sys.stdin.buffer)
    lock = threading.Lock()

    def tell(message: dict[str, Any]) -> None:
        with suppress(OSError), lock:
            print(json.dumps(message), file=answers, flush=True)

    return orders, tell


def end_with_parent() -> None:
    """The child's side: nobody wants the result of a child without a parent."""

    def watch() -> None:
        sys.stdin.read()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
