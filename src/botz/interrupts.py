"""Ctrl-C where Python alone would not end quietly.

Before the command has begun, Python imports modules for a second, and an interrupt there would end with a traceback of
somebody else's module. Nothing has been started yet, so that the process can just end. Later, an interrupt inside
something that cannot raise is lost; it is given once more.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from _thread import interrupt_main
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""
AGAIN_SECONDS = 0.01
"""After which a lost interrupt is given once more [s]."""

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
        sys.unraisablehook = once_more_where_lost(sys.unraisablehook)


def once_more_where_lost(before: Callable[[Any], Any]) -> Callable[[Any], None]:
    """What Python calls with an error that cannot be raised, as one in a function that compiled code calls while a
    kernel is compiled, or in a finalizer: Python reports it and goes on, so that Ctrl-C had no effect there."""

    def look(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            before(unraisable)
            return
        later = threading.Timer(AGAIN_SECONDS, interrupt_main_thread)
        later.daemon = True
        with suppress(RuntimeError):  # Python is ending, and starts no more threads
            later.start()

    return look


def interrupt_main_thread() -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)  # ends waiting in the system, too
    else:
        interrupt_main()


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
