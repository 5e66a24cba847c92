"""A process beside this one: a fresh interpreter with its orders, its answers, and its end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

DEAF_TO_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
"""Where a terminal's Ctrl-C reaches all processes, this one decides what it means."""
Answers = Callable[[bool], list[dict[str, Any]]]
"""Messages that have arrived; with True all there will ever be, of a process that has ended."""


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


def how_it_ended(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
