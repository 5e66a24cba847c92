"""Ctrl-C before the command has begun: Python imports modules for a second, and an interrupt there would end with a
traceback of somebody else's module. Nothing has been started yet, so that the process can just end."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


_ended_by_one = False


def is_command() -> bool:
    """Whether this process is the `botz` command, by its script or by `python -m botz`, not a program that uses it."""
    script = Path(sys.argv[0]).name if sys.argv else ""
    # While Python looks for the module of -m, its first argument is "-m".
    return script in ("botz", "botz.exe") or (script == "-m" and "botz" in sys.orig_argv)


def end_at_once() -> None:
    """Until `as_usual`, Ctrl-C ends this process without a word."""
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)
        atexit.register(at_the_end)  # before all others, so that it is called after them


def as_usual() -> None:
    """From here on, Ctrl-C is a KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end(*_: object) -> None:
    os._exit(INTERRUPTED)


def ended_by_one() -> None:
    """The command ends because of Ctrl-C, which has been seen to; one more changes nothing."""
    global _ended_by_one
    _ended_by_one = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def at_the_end() -> None:
    """The command is over, and the exit code is its own. While Python takes its modules apart, a Ctrl-C would end it by
    the signal; and Python ends itself by the signal where one came during `exec` of a text, as dataclasses and named
    tuples use it when they are made, although that was seen to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _ended_by_one:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(INTERRUPTED)
